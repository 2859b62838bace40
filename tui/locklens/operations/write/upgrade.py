"""Plans an upgrade: moves the selected providers and nothing else, and edits the constraints that hold them back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError, LockLensError, NotFoundError
from locklens.operations.plan.builder import PlanBuilder, put_entries, require_sound
from locklens.operations.plan.command_line import command_line
from locklens.operations.plan.model import Plan, PlanFailure, PlanNote, Scope
from locklens.operations.provider_names import selected_by_root
from locklens.operations.write.source import EntryPlatforms, VersionMove
from locklens.project.constraint_edits import ConstraintEdit, admit, protection
from locklens.project.state import data_folder
from locklens.selection import Unselectable, combined, explain_selection, select
from locklens.selection.reasons import holds_against, newest_of
from locklens.versions import Version, VersionSyntaxError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from locklens.addresses import Platform, ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockEntry
    from locklens.operations.root_modules import Root
    from locklens.operations.write.source import ProviderSource
    from locklens.project.configuration import Requirement
    from locklens.sources.metadata import ListedVersion


class SelectedUpgrade(Struct, frozen=True):
    """Moves what was picked and nothing else; a constraint that excludes a pick is edited.

    Attributes:
        top: The repository's top, or the folder that stands for it.
        picks: At least one.
        allows_missing: Whether modules may be missing, whose constraints then do not count.
        tool: Whose rules count for every root; None: each root's own tool.
        test_directory: Where a root's test files are, relative to the root.
    """

    top: Path
    picks: tuple[SelectedVersion, ...]
    allows_missing: bool = False
    tool: Dialect | None = None
    test_directory: str = "tests"

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        roots = {pick.root for pick in self.picks}
        where = f"in {self.picks[0].root or '.'}" if len(roots) == 1 else f"in {len(roots)} roots"
        addresses = {pick.address for pick in self.picks}
        if len(addresses) > 1:
            return f"Upgrade {len(addresses)} providers {where}"
        versions = {pick.version for pick in self.picks}
        target = f" to {self.picks[0].version}" if len(versions) == 1 else ""
        return f"Upgrade {self.picks[0].address.type}{target} {where}"

    def plan(self, supply: ProviderSource, *, on_root: Callable[[str], None] = lambda _: None) -> Plan:
        """Finds out what is to be written; arguments and errors as of `upgrade`."""
        roots = dict.fromkeys(pick.root for pick in self.picks)
        where = Scope.at(self.top, roots, tool=self.tool, test_directory=self.test_directory)
        request = UpgradeRequest(where, picks=self.picks, edits_constraints=True, allows_missing=self.allows_missing)
        return plan_upgrade(request, supply, on_root=on_root)


class SelectedVersion(Struct, frozen=True):
    """A version that was chosen for one provider of one root; `root` is its folder in the repository."""

    root: str
    address: ProviderAddress
    version: Version


class UpgradeRequest(Struct, frozen=True):
    """What is to be upgraded.

    Attributes:
        where: In which roots.
        providers: As typed, each with or without `=VERSION`; () for all that are locked and required.
        platforms: For which packages they are to be locked; () for those that each entry does for now.
        edits_constraints: Whether constraints may be rewritten for it.
        allows_missing: Whether modules may be missing, whose constraints then do not count.
        picks: Instead of `providers`: what was chosen in each root, where that is not the same in all.
    """

    where: Scope
    providers: tuple[str, ...] = ()
    platforms: tuple[Platform, ...] = ()
    edits_constraints: bool = False
    allows_missing: bool = False
    picks: tuple[SelectedVersion, ...] = ()


def plan_upgrade(
    request: UpgradeRequest, supply: ProviderSource, *, on_root: Callable[[str], None] = lambda _: None
) -> Plan:
    """Plans an upgrade of every root that is asked for; a root in which anything fails stays as it is.

    Args:
        request: What is to be upgraded.
        supply: Where versions and hashes are from.
        on_root: Told of each root that it comes to.

    Raises:
        ConfigurationError: A provider or version is none, or a folder is no root.
        RepositoryError: Git failed.
    """
    draft = PlanBuilder(request.where)
    chosen = _chosen(request, draft.roots)

    def plan_roots(draft: PlanBuilder, supply: ProviderSource, on_root: Callable[[str], None] = lambda _: None) -> None:
        for first in draft.roots:
            on_root(first.path)
            with draft.attempt(first):
                # Roots before this one may have edited a module of both.
                _Upgrade(request, supply, draft, draft.root(first.path)).run(chosen[first.path])

    if len(draft.roots) > 1:
        from locklens.operations.write.gathering import gather

        wanted = [(root.tool, chosen[root.path]) for root in draft.roots]
        gather(supply, wanted, lambda stand_in: plan_roots(draft.blank(), stand_in))
    plan_roots(draft, supply, on_root)
    draft.remarks += _left_behind(draft)
    return draft.plan(_picking_commands(request, draft) if request.picks else _command(request))


def _chosen(request: UpgradeRequest, roots: Sequence[Root]) -> dict[str, Mapping[ProviderAddress, Version | None]]:
    """Returns what is to move in each root: to a version, or to the newest that may be (None).

    Raises:
        ConfigurationError: A name is no provider, or a version none.
    """
    if request.picks:
        return {
            root.path: {pick.address: pick.version for pick in request.picks if pick.root == root.path}
            for root in roots
        }
    if not request.providers:
        return {root.path: dict.fromkeys(_required(root)) for root in roots}
    named = [_named(text) for text in request.providers]
    by_text = {text: selected_by_root([text], roots) for text, _ in named}
    return {
        root.path: {address: version for text, version in named for address in by_text[text][root.path]}
        for root in roots
    }


def _required(root: Root) -> list[ProviderAddress]:
    """What is locked and required, in the lock file's order."""
    required = root.configuration.required()
    return [entry.address for entry in root.migration.entries if entry.address in required]


def _named(text: str) -> tuple[str, Version | None]:
    name, equals, version = text.partition("=")
    if not equals:
        return name, None
    try:
        return name, Version.parse(version)
    except VersionSyntaxError as error:
        raise ConfigurationError(f"{text!r} names no version: {error}", hint=f"write it as {name}=1.2.3") from error


def _picking_commands(request: UpgradeRequest, draft: PlanBuilder) -> str:
    """The commands that do what was picked: roots in which the same was picked have one together."""
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for root, name in zip(draft.roots, request.where.roots, strict=True):
        own = (pick for pick in request.picks if pick.root == root.path)
        words = tuple(f"{root.name_of(pick.address)}={pick.version}" for pick in own)
        groups.setdefault(words, []).append((root.path, name))
    edited = {change.root for change in draft.changes if change.edits}
    commands = []
    for words, places in groups.items():
        where = replace(request.where, roots=tuple(name for _, name in places))
        is_edited = any(path in edited for path, _ in places)
        commands.append(_command(replace(request, where=where, providers=words, picks=(), edits_constraints=is_edited)))
    return " && ".join(commands)


def _command(request: UpgradeRequest) -> str:
    words = [*request.providers]
    words += [word for platform in request.platforms for word in ("--platform", str(platform))]
    words += ["--edit-constraints"] if request.edits_constraints else []
    words += ["--allow-missing-modules"] if request.allows_missing else []
    return command_line("upgrade", request.where, words)


def _left_behind(draft: PlanBuilder) -> list[PlanNote]:
    """Names the roots of the repository whose locked version an edited constraint excludes now."""
    edited = sorted({(edit.file, change.address) for change in draft.changes for edit in change.edits})
    found = []
    for path in draft.locked() if edited else ():
        try:
            root = draft.root(path)
        except LockLensError:
            continue
        for file, address in edited:
            if file not in root.configuration.files:
                continue
            entry = root.lock.by_address.get(address)
            if entry is not None and not root.configuration.constraints(address).admits(entry.version):
                words = f"it still locks {entry.version}, which {file} excludes then: upgrade it too"
                found.append(PlanNote(path, root.name_of(address), words))
    return found


def require_upgradable(root: Root, *, allows_missing: bool = False) -> None:
    """Refuses a root in which nothing can be upgraded.

    Args:
        root: As it was read.
        allows_missing: Whether modules may be missing.

    Raises:
        ConfigurationError: Its lock file is absent or broken, or not all of its constraints are known.
    """
    require_sound(root)
    configuration = root.configuration
    for problem in configuration.problems:
        if problem.is_error:
            words = f"{problem.summary}: {problem.detail}" if problem.detail else problem.summary
            raise ConfigurationError(words, path=problem.file, line=problem.line)
    if not configuration.missing_modules or allows_missing:
        return
    module = configuration.missing_modules[0]
    more = len(configuration.missing_modules) - 1
    also = f", nor can {more} more" if more else ""
    words = f"module {module.call} ({module.source}) cannot be read{also}: {module.reason}"
    hint = f"{root.tool.command} get fetches modules; --allow-missing-modules goes on without"
    raise ConfigurationError(words, path=module.file, line=module.line, hint=hint)


class _Upgrade:
    """Plans one root."""

    def __init__(self, request: UpgradeRequest, supply: ProviderSource, draft: PlanBuilder, root: Root) -> None:
        self._request = request
        self._supply = supply
        self._draft = draft
        self._root = root
        self._edits: dict[ProviderAddress, tuple[ConstraintEdit, ...]] = {}
        migration = root.migration
        self._locked = {entry.address: entry for entry in reversed(migration.entries)}
        self._migrated = {new: old for old, new in migration.moved}

    def run(self, wanted: Mapping[ProviderAddress, Version | None]) -> None:
        """Plans to move providers, each to a version, or to the newest that may be (None)."""
        require_upgradable(self._root, allows_missing=self._request.allows_missing)
        if missing := self._root.configuration.missing_modules:
            names = ", ".join(module.call for module in missing)
            words = f"constraints in modules that cannot be read do not count: {names}"
            self._draft.remarks.append(PlanNote(self._root.path, "", words))
        offered = self._supply.listed(tuple(wanted), self._root.tool)
        targets: dict[ProviderAddress, Version] = {}
        for address, version in wanted.items():
            try:
                target = self._target(address, version, offered[address])
            except LockLensError as error:
                self._fail(address, error)
                continue
            if target is not None:
                targets[address] = target
        if self._edits:
            self._root = self._reread(targets)
        entries = self._entries(targets)
        required = self._root.configuration.required()
        moved = {new: old for new, old in self._migrated.items() if new in entries and old not in required}
        put_entries(self._draft, self._root, entries, edits=self._edits, moved=moved)

    def _fail(self, address: ProviderAddress, error: LockLensError) -> None:
        self._draft.failures.append(PlanFailure(self._root.path, self._root.name_of(address), error))

    def _remark(self, address: ProviderAddress, words: str) -> None:
        self._draft.remarks.append(PlanNote(self._root.path, self._root.name_of(address), words))

    # The version

    def _target(
        self, address: ProviderAddress, version: Version | None, offered: Sequence[ListedVersion] | LockLensError
    ) -> Version | None:
        """Returns the version to move to, with constraints edited for it; None where nothing is to be done.

        Raises:
            LockLensError: There is none.
        """
        if isinstance(offered, LockLensError):
            raise offered
        requirements = self._root.configuration.of(address)
        entry = self._locked.get(address)
        if not requirements:
            hint = f"locklens prune {self._root.name_of(address)} removes it" if entry else ""
            raise ConfigurationError("nothing requires it", path=self._root.path or ".", hint=hint)
        if version is not None:
            return self._asked_for(address, version, offered)
        locked = entry.version if entry else None
        if self._request.edits_constraints:
            usable = [one for one in offered if one.has_supported_protocol]
            newest = newest_of(requirements, usable, locked).overall
            if newest is not None and (locked is None or newest.compare(locked) > 0):
                if combined(requirements).admits(newest):
                    return newest
                try:
                    self._edit(address, newest)
                except ConfigurationError as error:
                    if self._request.providers:
                        raise
                    self._remark(address, f"not moved to {newest}: {error}")
                else:
                    return newest
        selected = select(requirements, offered, locked, upgrade=True)
        if isinstance(selected, Unselectable):
            raise _unselectable(selected, address, self._root)
        if selected.version == locked and address not in self._migrated:
            self._remark(address, self._why_not_newer(address, offered))
            return None
        return selected.version

    def _asked_for(
        self, address: ProviderAddress, version: Version, offered: Sequence[ListedVersion]
    ) -> Version | None:
        requirements = self._root.configuration.of(address)
        entry = self._locked.get(address)
        if all(one.version != version for one in offered):
            newest = newest_of(requirements, offered, None).overall
            hint = f"the newest is {newest}" if newest else ""
            raise NotFoundError(f"the registry does not offer {version}", address=str(address), hint=hint)
        if not combined(requirements).admits(version):
            if not self._request.edits_constraints:
                holds = "; ".join(map(str, holds_against(version, requirements)))
                hint = "--edit-constraints rewrites a constraint where it stands"
                raise ConfigurationError(f"the configuration does not admit {version}: {holds}", hint=hint)
            self._edit(address, version)
        elif entry is not None and entry.version == version and address not in self._migrated:
            self._remark(address, f"{version} is locked already")
            return None
        return version

    def _why_not_newer(self, address: ProviderAddress, offered: Sequence[ListedVersion]) -> str:
        entry = self._locked[address]
        requirements = self._root.configuration.of(address)
        explained = explain_selection(address, requirements, entry, offered, platforms=self._request.platforms)
        newer = explained.offer.newer if explained.offer else ()
        held = [group for group in newer if group.holds]
        if not held:
            return f"{entry.version} is the newest"
        told = "; ".join(f"{group.newest}: {', '.join(map(str, group.holds))}" for group in held[:2])
        return f"stays at {entry.version}; not {told}"

    # Constraints

    def _edit(self, address: ProviderAddress, version: Version) -> None:
        """Plans to rewrite each constraint that excludes a version, where it stands.

        Raises:
            ConfigurationError: One of them is not ours to rewrite, and then none is.
        """
        requirements = self._root.configuration.of(address)
        if version.prerelease and not any(term.is_pin for term in combined(requirements).terms):
            words = f"{version} is a pre-release, which only an exact constraint selects"
            raise ConfigurationError(words, hint=f'write "{version}" as the constraint')
        fetched = data_folder(self._draft.disk, self._root.path, os.environ)
        found: dict[str, bytes] = {}
        planned: dict[str, bytes] = {}
        edits: list[ConstraintEdit] = []
        for one in _excluding(requirements, version):
            if reason := protection(self._draft.top, one.file, fetched):
                words = f"{one.constraint.strip()} excludes {version}, and is not rewritten: {reason}"
                raise ConfigurationError(words, path=one.file, line=one.line)
            if one.file not in planned:
                planned[one.file] = found[one.file] = self._draft.read(one.file)
            planned[one.file], edit = admit(planned[one.file], one, version)
            edits.append(edit)
        for file, data in planned.items():
            self._draft.write(file, data, old=found[file])
        self._edits[address] = tuple(edits)

    def _reread(self, targets: Mapping[ProviderAddress, Version]) -> Root:
        """Reads the root with its edits, and makes sure that they do what they are for, and nothing else.

        Raises:
            ConfigurationError: They do not.
        """
        after = self._draft.root(self._root.path)
        before, now = self._root.configuration, after.configuration
        for address in self._edits:
            if not now.constraints(address).admits(targets[address]):
                holds = "; ".join(map(str, holds_against(targets[address], now.of(address))))
                words = f"edited, the configuration still does not admit {targets[address]}: {holds}"
                raise ConfigurationError(f"{self._root.name_of(address)}: {words}")
        if list(map(_unedited, before.requirements)) != list(map(_unedited, now.requirements)):
            raise ConfigurationError("edited, the configuration requires something else", path=self._root.path or ".")
        return after

    # The entries

    def _entries(self, targets: Mapping[ProviderAddress, Version]) -> dict[ProviderAddress, LockEntry | None]:
        """Returns the new entry of each provider that moves or whose constraint is edited; failures are kept."""
        prior = self._locked
        constraints = {address: combined(self._root.configuration.of(address)) for address in targets}
        done: dict[ProviderAddress, LockEntry | None] = {}
        moving = []
        for address, version in targets.items():
            is_locked = address in prior and address not in self._migrated
            if is_locked and prior[address].version == version:
                done[address] = replace(prior[address], constraints=str(constraints[address]))
            else:
                moving.append(address)
        if self._draft.has_failed(self._root):
            return {}  # nothing of this root is written, so nothing is to be downloaded for it
        platforms = self._platforms(moving)
        moves = [
            VersionMove(address, targets[address], platforms[address], constraints[address], prior.get(address))
            for address in moving
        ]
        for address, found in self._supply.entries(moves, self._root.tool).items() if moves else ():
            if isinstance(found, LockLensError):
                self._fail(address, found)
            else:
                done[address] = replace(found, constraints=str(constraints[address]))
        return done

    def _platforms(self, addresses: Sequence[ProviderAddress]) -> dict[ProviderAddress, tuple[Platform, ...]]:
        """Returns for which platforms each provider is to be locked."""
        if self._request.platforms:
            return dict.fromkeys(addresses, self._request.platforms)
        # What another registry's entry does for, the one that takes its place has to do for too.
        locked = {one: self._locked.get(self._migrated.get(one, one)) for one in addresses}
        priors = {one: prior for one, prior in locked.items() if prior is not None}
        known = dict(zip(priors, self._supply.coverage(list(priors.values()), self._root.tool), strict=True))
        found = {}
        for address in addresses:
            covered = known.get(address, EntryPlatforms(()))
            found[address] = covered.platforms or (self._supply.here,)
            if covered.unknown:
                names = ", ".join(map(str, found[address]))
                words = f"for which platforms {covered.unknown} of the old version's h1 were is not known here"
                self._remark(address, f"locked for {names} alone; {words} (--platform names platforms)")
        return found


def _excluding(requirements: Iterable[Requirement], version: Version) -> list[Requirement]:
    """The requirements that exclude a version, of those that stand in the same place the first."""
    found: dict[tuple[str, int, str], Requirement] = {}
    for one in requirements:
        if one.constraints.excluded_by(version):
            found.setdefault((one.file, one.line, one.subject), one)
    return list(found.values())


def _unedited(one: Requirement) -> tuple[object, ...]:
    """All of a requirement but its constraint."""
    return one.address, one.file, one.line, one.module, one.contributor, one.subject


def _unselectable(found: Unselectable, address: ProviderAddress, root: Root) -> ConfigurationError:
    conflict = "; ".join(" against ".join(map(str, demands)) for demands in found.conflicts[:1])
    nearest = "; ".join(f"{held.newest}: {', '.join(map(str, held.holds))}" for held in found.held[:2])
    hint = f"these cannot hold together: {conflict}" if conflict else nearest and f"nearest: {nearest}"
    return ConfigurationError(found.words(address, root.tool), hint=hint)
