"""Plans to add hashes to the lock files of any number of roots, as `providers lock` does for one.

All roots are read first; then each version that a root requires is looked up once, and each package is fetched once,
concurrently. A root with an error is left untouched, and has a diagnostic; the others continue. `LockMissing` locks
platforms that differ by root or provider.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Self

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress
from locklens.diagnostics import Diagnostic
from locklens.errors import LockLensError
from locklens.hashes import is_of_files
from locklens.install.context import LockRequest, ProviderRequirement
from locklens.lockfile.update import after_lock, difference, rewritten
from locklens.operations.plan import Plan, PlannedChange, RootResult, Scope, command_line, joined_plans
from locklens.operations.plan.builder import PlanBuilder, path_below, planned_changes, planned_lock
from locklens.operations.root_modules import Root, RootReader, enclosing, require_folder
from locklens.operations.write.apply import Operation, RegistryOperation, listed_roots, no_progress
from locklens.operations.write.diagnostics import (
    against_policy,
    comments_lost,
    named,
    no_root_here,
    orphans_kept,
    unreadable,
    untouched,
    warnings,
)
from locklens.policy import Policy
from locklens.project.tree import FileSystem
from locklens.review.coverage import LockedHashes, coverage
from locklens.review.health_remedies import LeftOut
from locklens.review.model import CONTRADICTED
from locklens.selection.choosing import combined
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from locklens.dialect import Dialect
    from locklens.lockfile import LockEntry
    from locklens.operations.write.registry_source import RegistrySource
    from locklens.review.model import Change, Review, RootReview
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Version


LOCKS_A_UNIT = "`terragrunt providers lock`, run there, locks it"
"""The way on where another tool generates the configuration."""


class Lock(RegistryOperation, frozen=True):
    """Adds the hashes of platforms' packages to lock files.

    Attributes:
        platforms: Platforms to lock; () for this machine's.
        providers: Names in the tool's syntax of sources; () for all that are required.
        accepts_republished: True if a locked package may be missing from the signed release.
        allows_missing: True if modules may be missing, whose requirements are then ignored.
        adds_reported: False to leave out hashes that a registry reports for platforms that are not locked. It may
            start to report them at any time, and that must not fail a check of the lock file.
        policy: Newly locked versions that it is against are a warning; no hint names one that it holds back.
    """

    where: Scope
    platforms: tuple[Platform, ...] = ()
    providers: tuple[str, ...] = ()
    accepts_republished: bool = False
    allows_missing: bool = False
    adds_reported: bool = True
    policy: Policy = Policy()

    @property
    def title(self) -> str:
        """A short title."""
        platforms = ", ".join(map(str, self.platforms)) or "this machine's platform"
        return f"Lock {platforms} in {listed_roots(self.where.roots)}"

    def without_missing_modules(self) -> Self:
        """Return the operation that ignores what unreadable modules require."""
        return replace(self, allows_missing=True)

    def plan(self, source: RegistrySource, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan the lock files of all roots.

        `on_root` is called once all is fetched, before the entries of a root: for each of the results, in their order.
        """
        return _Locking(self, source, on_root).run()


class _Work(Struct):
    """One root in progress: the providers to lock, then the versions; with a diagnostic it is left untouched."""

    root: Root
    required: list[ProviderRequirement]
    requests: list[LockRequest]
    diagnostics: list[Diagnostic]


class _Locking:
    def __init__(self, operation: Lock, source: RegistrySource, on_root: Callable[[str], None]) -> None:
        self._operation = operation
        self._source = source
        self._on_root = on_root
        where = operation.where
        self._tree = FileSystem(where.folder)
        self._reader = RootReader(where, for_locking=True)
        self._platforms = operation.platforms or (source.here,)

    def run(self) -> Plan:
        """Read the roots, select versions, fetch packages, and make the entries."""
        names = tuple(dict.fromkeys(self._operation.where.roots)) or ("",)
        read = {name: self._read(name) for name in names}
        works = [work for work in read.values() if isinstance(work, _Work)]
        for tool in dict.fromkeys(work.root.tool for work in works):
            same_tool = [work for work in works if work.root.tool is tool]
            self._select(same_tool, tool)
            self._source.locker(tool).fetch([request for work in same_tool for request in work.requests])
        folder = self._operation.where.folder
        draft = PlanBuilder(enclosing(folder, [folder / work.root.path for work in works]))
        draft.tool = self._operation.where.tool
        results: dict[str, RootResult | LockLensError] = {}
        for name, outcome in read.items():
            path = path_below(draft.top, folder / name)
            self._on_root(path)
            if isinstance(outcome, LockLensError):
                results[name] = outcome
                draft.fail(path, outcome)
            else:
                results[name] = self._settle(outcome, path, draft)
        failed = {name for name, result in results.items() if not isinstance(result, RootResult) or result.has_failed}
        plan = draft.plan(self._command(self._operation.where.without(failed)))
        return replace(plan, results={name: _with_ignored(result, plan) for name, result in results.items()})

    def _read(self, name: str) -> _Work | LockLensError:
        operation = self._operation
        try:
            root = self._reader.read_folder(self._tree, require_folder(self._tree, name))
        except LockLensError as error:
            return error
        diagnostics = unreadable(root, allows_missing=operation.allows_missing)
        required = root.wanted() if not diagnostics else []
        if not diagnostics and operation.providers:
            required, diagnostics = named(root, operation.providers, required)
        return _Work(root, [] if diagnostics else required, [], diagnostics)

    def _select(self, works: Sequence[_Work], tool: Dialect) -> None:
        """Select versions; a requirement that several roots share is looked up once."""
        alike: dict[tuple[ProviderAddress, str, Version | None], ProviderRequirement] = {}
        for work in works:
            for requirement in work.required:
                alike.setdefault(_question(requirement), replace(requirement, first=self._platforms[0]))
        versions = dict(zip(alike, self._source.locker(tool).choose(alike.values()), strict=True))
        for work in works:
            selected = [(requirement, versions[_question(requirement)]) for requirement in work.required]
            work.diagnostics += [version for _, version in selected if isinstance(version, Diagnostic)]
            if not work.diagnostics:
                work.requests = [
                    self._request(requirement, version)
                    for requirement, version in selected
                    if not isinstance(version, Diagnostic)
                ]

    def _request(self, requirement: ProviderRequirement, version: Version) -> LockRequest:
        return LockRequest(
            requirement.address,
            version,
            self._platforms,
            requirement.requirements,
            requirement.prior,
            accepts_republished=self._operation.accepts_republished,
            adds_reported=self._operation.adds_reported,
            policy=self._operation.policy,
        )

    def _settle(self, work: _Work, path: str, draft: PlanBuilder) -> RootResult:
        """Make the entries of one root, and plan its lock file; `path` is its folder in the plan."""
        root = work.root
        settled: list[LockEntry] = []
        for entry in self._source.locker(root.tool).entries(work.requests):
            if isinstance(entry, Diagnostic):
                work.diagnostics.append(entry)
            else:
                settled.append(entry)
        if work.diagnostics:
            result = untouched(root, work.diagnostics)
        else:
            before = root.migration.entries
            after = after_lock(before, settled)
            data = rewritten(root.lock, after, root.tool)
            left = {entry.address for entry in after} - {entry.address for entry in settled}
            is_unchecked = bool(after) and not settled
            checked = _checked(root, settled, left, self._platforms)
            result = RootResult(
                root.name,
                root.lock.path,
                root.tool,
                difference=difference(root.lock.entries, after),
                was_absent=not root.lock.entries,
                before=root.lock.data,
                after=data,
                planned=planned_lock(root, path, data) if data != root.lock.data else None,
                top=draft.top,
                checked=checked,
                is_unchecked=is_unchecked,
                is_generated=root.configuration.generator != "",
                diagnostics=(*warnings(root), *self._against_policy(root, settled)),
                notes=(
                    *([checked] if is_unchecked else []),
                    *no_root_here(root, self._operation.where.folder),
                    *orphans_kept(root, after, self._of_init(root, after)),
                    *comments_lost(root, data, "providers lock"),
                ),
            )
            if result.planned is not None:
                draft.put(result.planned)
                draft.changes += self._changes(root, path, after)
            elif not is_unchecked:
                draft.note(path, checked)
        draft.diagnostics += [replace(diagnostic, root=path) for diagnostic in result.diagnostics]
        for note in result.notes:
            draft.note(path, note)
        return result

    def _against_policy(self, root: Root, settled: Sequence[LockEntry]) -> list[Diagnostic]:
        def ages(address: ProviderAddress) -> Mapping[Version, int]:
            return self._source.ages([address], root.tool)[address]

        def listed(address: ProviderAddress) -> Sequence[ListedVersion]:
            answer = self._source.listed([address], root.tool)[address]
            return () if isinstance(answer, LockLensError) else answer

        release = partial(self._source.release, tool=root.tool)
        return against_policy(root, settled, self._operation.policy, ages, release, listed)

    def _of_init(self, root: Root, after: Sequence[LockEntry]) -> frozenset[ProviderAddress]:
        """Return the entries that `init` requires and this does not: the root is read whole only where that matters."""
        others = {entry.address for entry in after} - root.configuration.required()
        if not others:
            return frozenset()
        whole = RootReader(self._operation.where).read_folder(self._tree, root.path).configuration
        return frozenset(filter(whole.is_of_init, others))

    def _changes(self, root: Root, path: str, after: Sequence[LockEntry]) -> Iterable[PlannedChange]:
        """Yield the changes of providers, with the platforms whose hashes are added."""
        for change in planned_changes(root, path, after):
            if change.old is None or change.new is None or change.old.version != change.new.version:
                yield change
                continue
            fetched = self._source.locker(root.tool).package_hashes(change.address, change.new.version)
            fresh = [
                platform
                for platform in self._platforms
                if platform in fetched and fetched[platform].isdisjoint(change.old.hashes)
            ]
            yield replace(change, platforms=tuple(fresh))

    def _command(self, where: Scope) -> str:
        operation = self._operation
        words = [*operation.providers, *self._source.mirror_words]
        words += [word for platform in operation.platforms for word in ("--platform", str(platform))]
        words += ["--accept-republished"] if operation.accepts_republished else []
        words += ["--allow-missing-modules"] if operation.allows_missing else []
        return command_line("lock", where, words)


def _with_ignored(result: RootResult | LockLensError, plan: Plan) -> RootResult | LockLensError:
    """Return a result with a note where git ignores the planned lock file."""
    if not isinstance(result, RootResult) or result.planned is None or result.planned.path not in plan.ignored:
        return result
    return replace(result, notes=(*result.notes, plan.ignored[result.planned.path]))


def _checked(
    root: Root, settled: Sequence[LockEntry], left: Collection[ProviderAddress], platforms: Sequence[Platform]
) -> str:
    """Say which entries have the hashes of the platforms, and which were not compared."""
    if not settled:
        if left and not root.configuration.has_files:
            return f"nothing was locked or checked: {root.configuration.undeclared_reason}"
        hidden = "" if root.configuration.complete else ", as far as the configuration can be read"
        if left:
            return f"nothing was locked or checked: no provider is required here{hidden}"
        return f"no provider is required or locked here{hidden}"
    named = listing(list(map(str, platforms)), limit=3)
    if not left:
        return f"its hashes for {named} are complete"
    complete, unknown = (
        listing([root.name_of(address) for address in sorted(some)], limit=3)
        for some in ({entry.address for entry in settled}, left)
    )
    return f"the hashes of {complete} for {named} are complete; not checked: {unknown}"


def _question(requirement: ProviderRequirement) -> tuple[ProviderAddress, str, Version | None]:
    return requirement.address, str(combined(requirement.requirements)), requirement.locked


class LockMissing(RegistryOperation, frozen=True):
    """Locks platforms that differ by root or provider.

    Attributes:
        parts: No root is in two of them.
        left_out: What was selected and cannot be locked; the plan warns of it.
    """

    parts: tuple[Lock, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def title(self) -> str:
        """A short title."""
        platforms = {platform for part in self.parts for platform in part.platforms}
        roots = sum(len(part.where.roots) for part in self.parts)
        return f"Lock {', '.join(map(str, sorted(platforms)))} in {counted(roots, 'root')}"

    def without_missing_modules(self) -> Self:
        """Return the operation that ignores what unreadable modules require."""
        return replace(self, parts=tuple(part.without_missing_modules() for part in self.parts))

    def plan(self, source: RegistrySource, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan the parts in order; packages that were fetched for one are reused by the next."""
        plan = joined_plans([part.plan(source, on_root=on_root) for part in self.parts])
        return plan.with_left_out(self.left_out)


def lock_missing(
    review: Review,
    selected: Collection[tuple[str, ProviderAddress]],
    where: Callable[[Iterable[str]], Scope],
    chosen: Collection[Platform] = (),
) -> Operation:
    """Return the operation that locks what is missing of the required platforms, or of those that the user chose.

    A platform whose coverage is unknown is locked too: its package decides. Left out are an entry that contradicts its
    release, since it would keep its root from being locked, and roots that require nothing as they are. `review` is of
    all locked providers, by the policy that requires platforms, and `selected` names some by lock file and address;
    `where` makes a scope of roots relative to the repository's top. Raises LockLensError if there is nothing to lock.
    """
    groups: dict[tuple[tuple[str, ...], tuple[Platform, ...]], list[str]] = {}
    left_out: list[LeftOut] = []
    for root in review.roots:
        lacking = _lacking(root, selected, review.policy, chosen)
        contradicted = {
            change.address for change in root.changes if LockedHashes.of(change).contradicts_release
        } & lacking.keys()
        left_out += (LeftOut(root.path, address, CONTRADICTED) for address in sorted(contradicted))
        left_out += _not_offered(root, selected, chosen)
        lacking = {address: names for address, names in lacking.items() if address not in contradicted}
        if reason := _undeclared(root):
            left_out += (LeftOut(root.path, address, reason) for address in sorted(lacking))
        elif lacking:
            platforms = tuple(sorted({Platform.parse(name) for names in lacking.values() for name in names}))
            locked = {entry.address for entry in root.new.entries}
            names = () if lacking.keys() == locked else tuple(str(address) for address in sorted(lacking))
            groups.setdefault((names, platforms), []).append(root.path)
    parts = [Lock(where(roots), platforms, names) for (names, platforms), roots in groups.items()]
    if not parts and left_out:
        more = f", and {len(left_out) - 1} more" if len(left_out) > 1 else ""
        raise LockLensError(f"nothing to lock: {left_out[0].sentence}{more}")
    if not parts and chosen:
        words = f"each provider has an h1 of {listing(list(map(str, chosen)))} already"
        raise LockLensError(f"nothing to lock: {words}")
    if not parts:
        words = "nothing to lock: each required platform is covered, or has no package"
        raise LockLensError(words, hint="`locklens lock --platform` adds others")
    return parts[0] if len(parts) == 1 and not left_out else LockMissing(tuple(parts), tuple(left_out))


def lacks_required(review: Review, selected: Collection[tuple[str, ProviderAddress]]) -> bool:
    """True if `lock_missing` has a required platform to lock; the arguments are its own."""
    return any(
        change.address in lacking and not LockedHashes.of(change).contradicts_release
        for root in review.roots
        if (lacking := _lacking(root, selected, review.policy, ())) and not _undeclared(root)
        for change in root.changes
    )


def why_not_locked(review: Review, selected: Collection[tuple[str, ProviderAddress]]) -> str:
    """Return why no selected provider can be locked for any platform, in words; "" if one may be."""
    names = {lock_file for lock_file, _ in selected}
    reasons = [(root.path or ".", _undeclared(root)) for root in review.roots if root.lock_file in names]
    return ": ".join(reasons[0]) if reasons and all(reason for _, reason in reasons) else ""


def _undeclared(root: RootReview) -> str:
    """Return why a root requires nothing as it is on disk, so that a lock of it writes nothing; "" if it may."""
    configuration = root.configuration
    if configuration is None or configuration.has_files:
        return ""
    way_on = f"; {LOCKS_A_UNIT}" if configuration.generator else ""
    return f"{configuration.undeclared_reason}{way_on}"


def hashed_platforms(
    review: Review, selected: Collection[tuple[str, ProviderAddress]]
) -> tuple[dict[str, int], frozenset[str]]:
    """Return each platform's number of selected providers with an `h1` for it, and the usual platforms.

    The usual ones are those with an `h1` of any provider in the same lock files.
    """
    numbers: dict[str, int] = {}
    usual: set[str] = set()
    for root in review.roots:
        changes = [change for change in root.changes if (root.lock_file, change.address) in selected]
        for platform in (platform for change in changes for platform in _hashed(change)):
            numbers[platform] = numbers.get(platform, 0) + 1
        if changes:
            usual |= frozenset().union(*map(_hashed, root.changes))
    return dict(sorted(numbers.items())), frozenset(usual)


def _lacking(
    root: RootReview, selected: Collection[tuple[str, ProviderAddress]], policy: Policy, chosen: Collection[Platform]
) -> dict[ProviderAddress, tuple[str, ...]]:
    """Return the chosen or required platforms that each selected provider of a root does not certainly cover."""
    lacking = {}
    for change in root.changes:
        if (root.lock_file, change.address) not in selected or change.new is None:
            continue
        names = frozenset(map(str, chosen))
        platforms = _offered(change, names - _hashed(change)) if chosen else _not_covered(change, policy)
        if platforms:
            lacking[change.address] = platforms
    return lacking


def _not_offered(
    root: RootReview, selected: Collection[tuple[str, ProviderAddress]], chosen: Collection[Platform]
) -> Iterator[LeftOut]:
    """Yield the selected providers whose release has no package for some of the chosen platforms."""
    for change in root.changes:
        if (root.lock_file, change.address) not in selected or change.new is None:
            continue
        names = frozenset(map(str, chosen)) - _hashed(change)
        if absent := sorted(names.difference(_offered(change, names))):
            yield LeftOut(root.path, change.address, f"{change.new.version} has no package for {listing(absent)}")


def _not_covered(change: Change, policy: Policy) -> tuple[str, ...]:
    cover = coverage(change, policy)
    return _offered(change, (platform for platform in cover.platforms if platform not in cover.covered))


def _offered(change: Change, platforms: Iterable[str]) -> tuple[str, ...]:
    """Return the platforms that the release has a package for; all of them if that is unknown."""
    offered = change.evidence.offered if change.evidence is not None else None
    return tuple(sorted(platform for platform in platforms if offered is None or platform in offered))


def _hashed(change: Change) -> frozenset[str]:
    """Return the known platforms of a provider's `h1` hashes."""
    return frozenset(fact.platform for fact in change.locked if fact.platform and is_of_files(fact.hash))
