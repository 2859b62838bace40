"""Judges the locked providers of all roots, equal entries once, and asks registries about their releases, each once."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from locklens.hashes import packages_of
from locklens.lockfile import LockEntry, LockFile
from locklens.operations.review.answers import host_states
from locklens.policy import POLICY_FILE
from locklens.releases import Fact, FactRequest, Listing, ListingId, NetworkSettings
from locklens.releases.session import ReleaseLookup, ReleaseSession
from locklens.review import HashCount, HashFact
from locklens.review.case import Case, FactSubject, settled_case
from locklens.review.context import RootContext
from locklens.review.evidence import FactCollector, trace, unasked_case
from locklens.review.health import UNREAD, WITHOUT_PACKAGE, is_counted
from locklens.review.model import Change, ChangeKind, HostState, RootReview
from locklens.review.reports import trouble_words
from locklens.review.rules import heeded
from locklens.review.rules.agreement import LockedPackages
from locklens.review.rules.health import Behind, behind_newest, entry_findings, not_pinned
from locklens.review.rules.judge import judge_change
from locklens.selection.choosing import policy_holds
from locklens.sources.metadata import ReleaseDates
from locklens.versions import Constraints, Version, newest_matching

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.dialect import Dialect
    from locklens.operations.health.roots import ReadRoot
    from locklens.policy import Policy
    from locklens.review.findings import Finding
    from locklens.selection import Hold
    from locklens.storage.cache import Cache

    Available = Mapping[tuple[str, ProviderAddress], tuple[Listing, ReleaseDates]]


class EntryGroup(Struct):
    """Equal entries of several roots.

    Attributes:
        change: The first of them, as an unchanged provider, with the proofs of its hashes once they are known.
        members: The number of each root in the list of roots, and its entry.
        case: The facts about the release; None before they are known.
    """

    tool: Dialect
    change: Change
    members: list[tuple[int, LockEntry]] = field(default_factory=list)
    case: Case | None = None

    @property
    def is_inspected(self) -> bool:
        """True if one of its packages was inspected, so that the advisories of the modules inside are known."""
        return self.change.advisories is not None and bool(self.change.advisories.platform)

    def is_inspected_in_full(self, required: Collection[Platform]) -> bool:
        """True if every locked package was compared with the others; with required platforms, each package of those."""
        compared = self.change.builds.agreement.platforms if self.change.builds is not None else ()
        packages = packages_of(self.entry.hashes)
        known = self.case.new.platforms if self.case is not None else {}
        if packages <= known.keys() and (wanted := {known[zh] for zh in packages}.intersection(required)):
            return wanted.issubset(compared) and (len(compared) > 1 or len(packages) == 1)
        return len(compared) >= max(len(packages), 1)

    @property
    def unread(self) -> str:
        """Why no authenticated list of the release's packages is known, a clause; "" if one is."""
        if self.case is None:
            return REGISTRY_NOT_ASKED
        return "" if self.case.new.today is not None else trouble_words(self.case.trouble)

    @property
    def entry(self) -> LockEntry:
        """The first entry."""
        return self.members[0][1]

    @property
    def subject(self) -> FactSubject:
        """The release, as the subject of fact collection."""
        return FactSubject("", self.tool, self.change)


def group_entries(roots: Sequence[ReadRoot]) -> list[EntryGroup]:
    """Return the entries of all roots, equal ones in one group."""
    groups: dict[object, EntryGroup] = {}
    for number, root in enumerate(roots):
        tool = root.review.tool
        for entry in root.review.new.entries:
            # Findings name lines of hashes: entries of another layout are other ones.
            key = (tool.name, entry.address, str(entry.version), entry.hashes, entry.hash_offsets)
            group = groups.get(key)
            if group is None:
                group = groups[key] = EntryGroup(tool, _unchanged(entry))
            group.members.append((number, entry))
    return list(groups.values())


def look_inside(groups: Iterable[EntryGroup], cache: Cache, policy: Policy) -> tuple[bool, str]:
    """Take the builds and the advisories of what was inspected before into each group.

    Returns False where there is no database to look them up in, and why it cannot be read, or "".
    """
    from locklens.operations.review.inside import BuildLookup, advisory_lookup

    builds = BuildLookup(cache)
    lookup, problem = advisory_lookup(cache)
    for group in groups:
        advisories = lookup.of_change(group.change, policy.advisories) if lookup is not None else None
        group.change = replace(group.change, advisories=advisories, builds=builds.of_change(group.change))
    return lookup is not None, problem


def _unchanged(entry: LockEntry) -> Change:
    facts = tuple(map(HashFact, dict.fromkeys(entry.hashes)))
    kind = ChangeKind.UNCHANGED
    return Change("", "", entry.address, kind, None, None, entry, entry, added=(), removed=(), kept=facts)


def signers_of(groups: Iterable[EntryGroup], roots: Sequence[ReadRoot]) -> dict[tuple[str, ProviderAddress], str]:
    """Return the signer of each provider's locked version in words, by the root's path and the provider."""
    found = {}
    for group in groups:
        judged = group.case.new.authentication if group.case is not None else None
        if judged is None:
            continue
        key = judged.signed_by
        owner = f"  {key.user_ids[0]}" if key is not None and key.user_ids else ""
        words = f"{key.fingerprint}{owner}" if key is not None else f"no signer: {judged.tier}"
        for number, entry in group.members:
            found[roots[number].review.path, entry.address] = words
    return found


def judge_entries(groups: Iterable[EntryGroup], roots: Sequence[ReadRoot], policy: Policy) -> list[list[Finding]]:
    """Return the findings about the entries of each root, in the order of the roots."""
    packages = LockedPackages(root.review.new for root in roots)
    found: list[list[Finding]] = [[] for _ in roots]
    for group in groups:
        first = roots[group.members[0][0]].review
        findings = tuple(_findings(group, first, packages, policy))
        for number, entry in group.members:
            lock_file = roots[number].review.lock_file
            offset = entry.line - group.entry.line
            found[number] += (
                _at(finding, first.lock_file, lock_file, offset, is_other=entry is not group.entry)
                for finding in findings
            )
    return found


def locked_hashes(groups: Iterable[EntryGroup]) -> HashCount:
    """Count the locked hashes of all roots by their proofs, after `judge_entries`."""
    return HashCount.of(chain.from_iterable(group.change.locked * len(group.members) for group in groups))


def _findings(group: EntryGroup, first: RootReview, packages: LockedPackages, policy: Policy) -> Iterator[Finding]:
    rivals = packages.rivals_of(group.entry)
    few = packages.minority_of(group.entry) if rivals else None
    address = group.change.address
    minorities = {address: few} if few is not None else {}
    context = RootContext(policy, rivals={address: rivals} if rivals else {}, minorities=minorities)
    root = RootReview(
        path=first.path,
        lock_file=first.lock_file,
        tool=group.tool,
        old=LockFile.absent(first.lock_file),
        new=LockFile.absent(first.lock_file),
        context=context,
    )
    case = _telling_case(group, policy)
    if case is not None:
        group.change = trace(group.change, case)
    for finding in judge_change(group.change, root, case):
        if is_counted(finding):
            yield replace(finding, provider=address)
    if (signer := group.change.new_signer) is not None:
        verdicts = not_pinned(group.entry, signer, policy)
        yield from heeded(entry_findings("LK039", verdicts, group.entry, first.lock_file), policy)


def _telling_case(group: EntryGroup, policy: Policy) -> Case | None:
    """Return the facts about a release; None where they are unknown and no rule has anything to say without them."""
    case = group.case
    is_known = case is not None and (case.trouble is None or not case.trouble.is_offline)
    if is_known or not policy.platforms:
        return case if is_known else None
    return case or unasked_case(group.change, group.tool)


def _at(finding: Finding, first: str, lock_file: str, offset: int, *, is_other: bool) -> Finding:
    if not is_other or finding.file != first:
        return finding
    line = finding.line + offset if finding.line is not None else None
    return replace(finding, file=lock_file, line=line)


class HealthAnswers(Struct, frozen=True):
    """The answers of the registries.

    Attributes:
        available: The listed versions and their dates, by tool and provider.
        notes: Limits of the whole run, each a sentence.
        log: One line for each request.
    """

    available: Available
    hosts: tuple[HostState, ...] = ()
    notes: tuple[str, ...] = ()
    log: tuple[str, ...] = ()


class _InThread(Executor):
    """Runs work at once: offline no work waits."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run it."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def ask_registries(
    groups: Sequence[EntryGroup],
    roots: Iterable[ReadRoot],
    network: NetworkSettings,
    hosts: Sequence[str],
    *,
    on_progress: Callable[[int, int], None],
    cancel: threading.Event | None,
) -> HealthAnswers:
    """Settle the facts about each group, which is modified, and return what else was answered.

    The hosts, comparison form, may be asked besides those of the settings; `on_progress` is called with the number of
    settled releases and of all.
    """
    with ReleaseSession(network, hosts, cancel) as session:
        lookup = ReleaseLookup(session)
        collector = FactCollector(lookup.answer, _InThread() if network.is_offline else session.pool)
        by_subject = {id(subject := group.subject): (group, subject) for group in groups}
        collector.start(subject for _, subject in by_subject.values())
        for subject in collector.settled(is_patient=True):
            group, _ = by_subject[id(subject)]
            group.case = settled_case(subject, collector.known, session.cache)
            on_progress(collector.done, collector.total)
        wanted = {(group.tool.name, group.change.address): group.tool for group in groups}
        dates = dict(session.map(lambda key: (key, lookup.release_dates(key[1], wanted[key])), wanted))
        unlocked = {(root.review.tool.name, address) for root in roots for address in root.unlocked}
        questions = [ListingId(*key) for key in sorted(unlocked - wanted.keys(), key=str)]
        known = collector.known | dict(zip(questions, session.map(lookup.answer, questions), strict=True))
        available = {key: (_listing(known, *key), dates.get(key, ReleaseDates())) for key in unlocked | wanted.keys()}
        states = host_states(known, is_offline=network.is_offline)
        return HealthAnswers(available, states, session.notes, session.log)


def _listing(known: Mapping[FactRequest, Fact], tool: str, address: ProviderAddress) -> Listing:
    fact = known.get(ListingId(tool, address, is_fresh=True)) or known[ListingId(tool, address)]
    assert isinstance(fact, Listing)
    return fact


def unselectable(root: ReadRoot, available: Available, policy: Policy) -> dict[ProviderAddress, str]:
    """Return the providers of a root of which no release can be locked as wanted, each with the reason.

    The release that `lock` selects has to have packages for the platforms that the policy requires, and `upgrade`
    selects none that it holds back.
    """
    locked = {entry.address: entry.version for entry in root.review.new.entries}
    # What satisfies the constraints stays, whatever the registry lists.
    wanted = {one: its for one, its in root.reach.constraints.items() if one in locked and not its.admits(locked[one])}
    found = {}
    for address, constraints in (wanted | {**root.unlocked}).items():
        listing, dates = available[root.review.tool.name, address]
        if listing.trouble is not None or address in root.reach.unselectable:
            continue
        newest = newest_matching(tuple(one.version for one in listing.versions), constraints)
        if newest is None:
            that = f" that satisfies {constraints}" if constraints.terms else ""
            found[address] = f"its registry lists no version{that}"
        elif address in locked and (holds := _holds(listing, dates, constraints, policy)):
            found[address] = f"the policy holds each version in range back: {newest}: {holds[newest]}"
        elif address not in locked and (lacking := _without_package(listing, newest, policy.required)):
            found[address] = f"{newest}, which `lock` selects, has no package for {lacking}; {WITHOUT_PACKAGE}"
    return found


def _holds(listing: Listing, dates: ReleaseDates, constraints: Constraints, policy: Policy) -> Mapping[Version, Hold]:
    """Return the policy's hold on each version in range; empty where it does not hold all of them back."""
    holds = policy_holds(policy, listing.id.address, listing.versions, dates.ages(datetime.now(UTC)))
    in_range = [one.version for one in listing.versions if constraints.admits(one.version)]
    return {one: holds[one][0] for one in in_range} if all(one in holds for one in in_range) else {}


def _without_package(listing: Listing, version: Version, required: Iterable[Platform]) -> str:
    """Return the required platforms for which a listed version has no package, in words; "" if it has all of them."""
    offered = next((one.platforms for one in listing.versions if one.version == version), ())
    return ", ".join(str(one) for one in required if one not in offered) if offered else ""


REGISTRY_NOT_ASKED = "registry not asked"


UNDATED = "release date unknown"


class _Undated(Struct, frozen=True):
    """The newest release in range of a provider, where its date or that of the locked one is not known."""

    newest: Version
    versions: tuple[Version, ...]

    def __str__(self) -> str:
        undated = " and ".join(map(str, self.versions))
        ways = f'`locklens upgrade` to {self.newest} ends it, or [severity] LK038 = "off" in {POLICY_FILE}'
        return f"no release date of {undated} is known: {ways}"


class Distances:
    """How far locked releases are behind, computed once for each provider, version and constraints."""

    def __init__(self, available: Available, policy: Policy) -> None:
        self._available = available
        self._policy = policy
        self._known: dict[object, Behind | _Undated | str] = {}

    def findings(self, root: ReadRoot) -> tuple[list[Finding], set[str], dict[ProviderAddress, str]]:
        """Return the findings about the age of a root's releases, and why some are unknown, in clauses.

        The last are the providers without a date that is needed.
        """
        found: list[Finding] = []
        unknown: set[str] = set()
        undated: dict[ProviderAddress, str] = {}
        lock_file, tool = root.review.lock_file, root.review.tool
        for entry in root.review.new.entries:
            constraints = root.reach.constraints.get(entry.address, Constraints())
            behind = self._behind(tool, entry.address, entry.version, constraints)
            if isinstance(behind, str):
                unknown |= {behind} - {""}
            elif root.unconstrained:
                unknown.add(UNREAD)  # A constraint that is not read may exclude what is newer.
            elif isinstance(behind, _Undated):
                unknown.add(UNDATED)
                undated[entry.address] = str(behind)
            else:
                found += entry_findings("LK038", behind_newest(entry, behind), entry, lock_file)
        return list(heeded(found, self._policy)), unknown, undated

    def _behind(
        self, tool: Dialect, address: ProviderAddress, locked: Version, constraints: Constraints
    ) -> Behind | _Undated | str:
        """Return the distance; "" for none, or why it is unknown, a clause."""
        key = tool.name, address, str(locked), constraints.terms
        if key not in self._known:
            self._known[key] = self._computed(tool, address, locked, constraints)
        return self._known[key]

    def _computed(
        self, tool: Dialect, address: ProviderAddress, locked: Version, constraints: Constraints
    ) -> Behind | _Undated | str:
        listing, dates = self._available[tool.name, address]
        if listing.trouble is not None:
            return trouble_words(listing.trouble)
        versions = [one.version for one in listing.versions]
        newest = newest_matching(tuple(versions), constraints)
        if newest is None or newest.compare(locked) <= 0:
            return ""
        old, new = dates.of(locked), dates.of(newest)
        if old is None or new is None:
            undated = tuple(version for version, date in ((locked, old), (newest, new)) if date is None)
            return _Undated(newest, undated)
        newer = [one for one in versions if one.compare(locked) > 0 and not one.prerelease and constraints.admits(one)]
        return Behind(newest, (new - old).days, len(newer))
