"""Plans an upgrade of selected providers alone, with edits of the constraints that hold them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from msgspec.structs import replace

from locklens.dialect import DIALECTS, twin_of
from locklens.errors import ConfigurationError, LockLensError
from locklens.operations.plan import Plan, PlannedFile, Scope, command_line
from locklens.operations.plan.builder import ScopedPlanBuilder
from locklens.operations.typed_names import selected_by_root
from locklens.operations.write.apply import RegistryOperation, listed_providers, listed_roots, no_progress
from locklens.operations.write.root_upgrade import OLDER_ACCEPTED, RootUpgrade, SelectedVersion, UpgradeRequest
from locklens.policy import Policy
from locklens.text import listing
from locklens.versions import Version, VersionSyntaxError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.operations.root_modules import Root
    from locklens.operations.write.registry_source import RegistrySource
    from locklens.review.health_remedies import LeftOut


class Upgrade(RegistryOperation, UpgradeRequest, frozen=True):
    """Upgrades the selected providers alone.

    Attributes:
        left_out: What was selected and cannot be upgraded; the plan warns of it.
    """

    left_out: tuple[LeftOut, ...] = ()

    @classmethod
    def of_picks(
        cls,
        picks: Sequence[SelectedVersion],
        where: Callable[[Iterable[str]], Scope],
        *,
        policy: Policy | None = None,
        allows_missing: bool = False,
        left_out: tuple[LeftOut, ...] = (),
    ) -> Self:
        """Return the upgrade to selected versions; constraints are edited for those alone which say so."""
        assert picks, "without picks everything would move"
        scope = where(dict.fromkeys(pick.root for pick in picks))
        return cls(
            scope,
            edits_constraints=any(pick.edits for pick in picks),
            allows_missing=allows_missing,
            picks=tuple(picks),
            policy=policy or Policy(),
            left_out=left_out,
        )

    @property
    def title(self) -> str:
        """A short title."""
        if not self.picks:
            names = tuple(name.rpartition("/")[2] for name in self.providers)
            what = "Look for upgrades of"
            if names and all("=" in name for name in names):  # a constraint may be all that changes
                what = "Allow and select" if self.edits_constraints else "Select"
                names = tuple(name.replace("=", " ", 1) for name in names)
            return f"{what} {listed_providers(names) or 'all providers'} in {listed_roots(self.where.roots)}"
        roots = {pick.root for pick in self.picks}
        where = f"in {self.picks[0].root or '.'}" if len(roots) == 1 else f"in {len(roots)} roots"
        addresses = {pick.address for pick in self.picks}
        if any(pick.version is None for pick in self.picks):
            return f"Look for upgrades of {listed_providers(tuple(sorted(one.type for one in addresses)))} {where}"
        # Which of them are above the locked versions is known once they are planned.
        if len(addresses) > 1:
            return f"Select versions of {len(addresses)} providers {where}"
        if len({pick.version for pick in self.picks}) > 1:
            return f"Select versions of {self.picks[0].address.type} {where}"
        return f"Select {self.picks[0].address.type} {self.picks[0].version} {where}"

    def without_missing_modules(self) -> Self:
        """Return the operation that ignores the constraints of unreadable modules."""
        return replace(self, allows_missing=True)

    def plan(self, source: RegistrySource, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan an upgrade of every root of the scope; a root with an error is left untouched.

        Three phases, so that many roots wait for registries as long as one: `RootUpgrade.resolve` lists versions and
        edits constraints, root by root, since roots may share a module; then the packages of all roots are fetched
        concurrently; then `RootUpgrade.put` plans the entries of each root. The edits of a root that fails in the last
        phase are dropped, so the roots after it are resolved again without them. `on_root` is called with a single root
        at the start, with each of several before its entries are made.

        Raises:
            ConfigurationError: A provider or version is invalid, or a folder is not a root.
            RepositoryError: Git failed.
            RunCancelledError: The run was cancelled.
        """
        draft = ScopedPlanBuilder(self.where)
        targets = _targets(self, draft.roots)
        is_single = len(draft.roots) == 1
        if is_single:
            on_root(draft.roots[0].path)
        else:
            _list_versions(self, draft.roots, targets, source)
        waiting = [root.path for root in draft.roots]
        accepted: dict[tuple[str, str], Version] = {}
        while waiting:
            upgrades, waiting = self._plan_roots(waiting, targets, draft, source, no_progress if is_single else on_root)
            accepted |= {(one.path, name): version for one in upgrades for name, version in one.accepted.items()}
        order = {root.path: number for number, root in enumerate(draft.roots)}
        draft.diagnostics.sort(key=lambda diagnostic: order[diagnostic.root])
        _note_left_behind(draft)
        _end_moves(self, draft)
        _name_accepted(self, draft, accepted, source.mirror_words)
        done = replace(self, where=draft.planned(self.where))
        plan = draft.plan(_commands_of_picks(done, draft) if self.picks else _command(done, source.mirror_words))
        return plan.with_left_out(self.left_out)

    def _plan_roots(
        self,
        paths: Sequence[str],
        targets: Mapping[str, Mapping[ProviderAddress, Version | None]],
        draft: ScopedPlanBuilder,
        source: RegistrySource,
        on_root: Callable[[str], None],
    ) -> tuple[list[RootUpgrade], list[str]]:
        """Plan roots until the entries of one fail; return their upgrades, and the roots after it, not planned."""
        resolved: list[tuple[RootUpgrade, dict[str, PlannedFile]]] = []
        for path in paths:
            before = dict(draft.files)
            # An earlier root may have edited a shared module.
            upgrade = RootUpgrade(self, source, draft, draft.root(path))
            with draft.attempt(path):
                upgrade.resolve(targets[path])
            resolved.append((upgrade, before))
        _fetch([upgrade for upgrade, _ in resolved if not draft.has_failed(upgrade.path)], source)
        done: dict[str, PlannedFile] = {}
        for number, (upgrade, before) in enumerate(resolved):
            on_root(upgrade.path)
            if draft.has_failed(upgrade.path):
                continue
            with draft.attempt(upgrade.path):
                upgrade.put()
            if draft.has_failed(upgrade.path):
                rest = list(paths[number + 1 :])
                if not upgrade.has_edits:
                    continue
                draft.files = {**before, **done}
                draft.diagnostics = [diagnostic for diagnostic in draft.diagnostics if diagnostic.root not in rest]
                return [one for one, _ in resolved[: number + 1]], rest
            if upgrade.lock_file in draft.files:
                done[upgrade.lock_file] = draft.files[upgrade.lock_file]
        return [one for one, _ in resolved], []


def _list_versions(
    request: Upgrade,
    roots: Sequence[Root],
    targets: Mapping[str, Mapping[ProviderAddress, Version | None]],
    source: RegistrySource,
) -> None:
    """List the versions of the providers of all roots, and their ages where those count, concurrently."""
    for tool in dict.fromkeys(root.tool for root in roots):
        wanted = [item for root in roots if root.tool is tool for item in targets[root.path].items()]
        source.listed(tuple(dict.fromkeys(address for address, _ in wanted)), tool)
        if aging := dict.fromkeys(address for address, version in wanted if request.asks_age(version)):
            source.ages(tuple(aging), tool)


def _fetch(upgrades: Sequence[RootUpgrade], source: RegistrySource) -> None:
    """Look up the platforms of entries, fetch the packages of all roots, and compare signers; each concurrently."""
    for tool in dict.fromkeys(upgrade.tool for upgrade in upgrades):
        same_tool = [upgrade for upgrade in upgrades if upgrade.tool is tool]
        priors = [prior for upgrade in same_tool for prior in upgrade.priors.values()]
        coverage = iter(source.coverage(priors, tool) if priors else ())
        for upgrade in same_tool:
            upgrade.select_platforms({address: next(coverage) for address in upgrade.priors})
        if requests := [request for upgrade in same_tool for request in upgrade.requests]:
            source.locker(tool).fetch(requests)
        compared = [one for upgrade in same_tool for one in upgrade.signer_comparisons]
        names = ((address, version) for address, *versions in compared for version in versions)
        releases = source.releases(names, tool)
        for upgrade in same_tool:
            upgrade.warn_of_signers(releases)


def _targets(request: Upgrade, roots: Sequence[Root]) -> dict[str, Mapping[ProviderAddress, Version | None]]:
    """Return the providers to upgrade in each root, each with its version, or None for the newest in range.

    Raises:
        ConfigurationError: A provider or version is invalid.
    """
    if request.picks:
        return {
            root.path: {pick.address: pick.version for pick in request.picks if pick.root == root.path}
            for root in roots
        }
    if not request.providers:
        return {root.path: dict.fromkeys(_required(root)) for root in roots}
    named = [_named(text) for text in request.providers]
    by_text = {text: selected_by_root([text], roots, is_of_upgrade=True) for text, _ in named}
    targets: dict[str, Mapping[ProviderAddress, Version | None]] = {}
    for root in roots:
        of_root: dict[ProviderAddress, Version | None] = {}
        targets[root.path] = of_root
        for text, version in named:
            for address in by_text[text][root.path]:
                if of_root.setdefault(address, version) != version:
                    both = " and ".join(str(one or "the newest in range") for one in (of_root[address], version))
                    words = f"{root.name_of(address)} is named twice, for {both}"
                    raise ConfigurationError(words, hint="name each provider once, for one version")
    return targets


def _required(root: Root) -> list[ProviderAddress]:
    """Return the providers that are locked and required, or may be, in the lock file's order."""
    required = root.configuration.required() | root.by_record
    return [entry.address for entry in root.migration.entries if entry.address in required]


def _named(text: str) -> tuple[str, Version | None]:
    name, equals, version = text.partition("=")
    if not equals and "@" in name:
        name, _, version = text.partition("@")
        raise ConfigurationError(f"invalid provider {text!r}", hint=_hint_of_version(name, version))
    if not equals:
        return name, None
    try:
        return name, Version.parse(version)
    except VersionSyntaxError as error:
        hint = _hint_of_version(name, version)
        raise ConfigurationError(f"invalid version in {text!r}: {error}", hint=hint) from error


def _hint_of_version(name: str, typed: str) -> str:
    try:
        version = str(Version.parse(typed.removeprefix("v")))
    except VersionSyntaxError:
        version = "1.2.3"
    return f"write it as {name}={version}"


def _commands_of_picks(request: Upgrade, draft: ScopedPlanBuilder) -> str:
    """Return the commands for the picks; roots with the same picks share one."""
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    roots = {root.path: root for root in draft.roots}
    for name in request.where.roots:
        root = roots[draft.paths[name]]
        picks = (pick for pick in request.picks if pick.root == root.path)
        words = tuple(
            f"{root.name_of(pick.address)}{f'={pick.version}' if pick.version is not None else ''}" for pick in picks
        )
        groups.setdefault(words, []).append((root.path, name))
    edited = {change.root for change in draft.changes if change.edits}
    commands = []
    for words, places in groups.items():
        where = replace(request.where, roots=tuple(name for _, name in places))
        is_edited = any(path in edited for path, _ in places)
        commands.append(_command(replace(request, where=where, providers=words, picks=(), edits_constraints=is_edited)))
    return " && ".join(commands)


def _command(request: Upgrade, mirror: Sequence[str] = ()) -> str:
    words = [*request.providers, *mirror]
    words += [word for platform in request.platforms for word in ("--platform", str(platform))]
    words += ["--edit-constraints"] if request.edits_constraints else []
    words += ["--ignore-cooldown"] if request.ignores_cooldown else []
    words += ["--allow-missing-modules"] if request.allows_missing else []
    return command_line("upgrade", request.where, words)


def _note_left_behind(draft: ScopedPlanBuilder) -> None:
    """Note the roots of the repository whose locked version an edited constraint excludes, or that record another one.

    `providers lock` rewrites what is recorded.
    """
    planned = {change.root for change in draft.changes}
    edited = sorted({(edit.place.file, change.address) for change in draft.changes for edit in change.edits})
    for path in draft.locked() if edited else ():
        try:
            root = draft.root(path)
        except LockLensError:
            continue
        for file, address in edited:
            if file not in root.configuration.files:
                continue
            entry, constraints = root.lock.by_address.get(address), root.configuration.constraints(address)
            if entry is not None and not constraints.admits(entry.version):
                words = f"still locked at {entry.version}, which the edited {file} excludes: upgrade it too"
                draft.note(path, words, address=root.name_of(address))
            elif entry is None or path in planned or root.configuration.unknown_constraints:
                continue
            elif entry.constraints != str(constraints):
                words = (
                    f'its lock file records "{entry.constraints}", and with the edited {file} that is "{constraints}"'
                )
                draft.note(path, f"{words}: lock it, too", address=root.name_of(address))


def _end_moves(request: Upgrade, draft: ScopedPlanBuilder) -> None:
    """Give a lock file that the plan moves to the other tool that tool's header, or warn of entries that are left.

    An upgrade moves the selected providers alone, and `init` all of them.
    """
    names = {path: name for name, path in draft.paths.items()}
    added = [change for change in draft.changes if change.kind in {"add", "move"}]
    for path in dict.fromkeys(change.root for change in added):
        root = draft.root(path)
        locked, required = root.lock.by_address, root.configuration.required() | root.by_record
        of_root = [change for change in added if change.root == path]
        if not any(change.moved_from is not None or twin_of(change.address) in locked for change in of_root):
            continue
        host = next(tool.default_host for tool in DIALECTS.values() if tool is not root.tool)
        left = [one.short(host) for one in sorted(locked) if one not in required and twin_of(one) in required]
        if left:
            words = f"still locked from {host}, which {root.tool.product} does not use here: {listing(left)}"
            command = command_line("init", replace(request.where, roots=(names[path],)), ())
            draft.warn(path, words, hint=f"`{command}` replaces all such entries, as {root.tool.command} init does")
        elif root.lock.writer is not None and root.lock.writer is not root.tool:
            data = root.lock.data.replace(root.lock.writer.header.encode(), root.tool.header.encode(), 1)
            draft.put_lock(root, data)


def _name_accepted(
    request: Upgrade, draft: ScopedPlanBuilder, accepted: Mapping[tuple[str, str], Version], mirror: Sequence[str]
) -> None:
    """Complete each hint of an older version by the command that selects it, in all roots where it is the same one.

    `accepted` has the versions by root and the root's name of the provider.
    """
    named = {path: name for name, path in draft.paths.items()}
    roots: dict[str, set[str]] = {}
    for (path, name), version in accepted.items():
        roots.setdefault(f"{name}={version}", set()).add(named[path])
    for number, one in enumerate(draft.diagnostics):
        if one.hint == OLDER_ACCEPTED:
            selected = f"{one.address}={accepted[one.root, one.address]}"
            where = request.where.without(set(request.where.roots) - roots[selected])
            command = command_line("upgrade", where, [selected, *mirror])
            draft.diagnostics[number] = replace(one, hint=f"`{command}` {one.hint}")
