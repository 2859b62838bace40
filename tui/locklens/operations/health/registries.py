"""Asks registries about the locked releases, and how far each is behind the newest in range."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from locklens.operations.review.hosts import host_states
from locklens.releases.facts import Listing, ListingId
from locklens.releases.session import ReleaseLookup, ReleaseSession
from locklens.review.case import settled_case
from locklens.review.inquiry import FactCollector
from locklens.review.rules.health import CHECKS, Behind, LockedState
from locklens.review.rules.heeding import heeded
from locklens.review.rules.verdict import finding_of
from locklens.versions import newest_matching

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.operations.health.entries import EntryGroup
    from locklens.operations.health.reading import ReadRoot
    from locklens.policy import Policy
    from locklens.releases.facts import NetworkSettings
    from locklens.review.model import Finding, HostState
    from locklens.sources.metadata import ReleaseDates
    from locklens.versions import Constraints, Version

    Available = Mapping[tuple[str, ProviderAddress], tuple[Listing, ReleaseDates]]


class HealthAnswers(Struct, frozen=True):
    """The answers of the registries.

    Attributes:
        available: The listed versions and their dates, by tool and provider.
        hosts: The contact with each registry.
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
    asking: NetworkSettings,
    hosts: Sequence[str],
    *,
    on_progress: Callable[[int, int], None],
    cancel: threading.Event | None,
) -> HealthAnswers:
    """Settle the facts about each group, which is modified, and return what else was answered.

    Args:
        groups: The locked releases.
        asking: Network settings.
        hosts: Hosts that the policy names and that may be asked, comparison form.
        on_progress: Called with the number of settled releases and of all.
        cancel: Set by another thread to stop.

    Raises:
        RunCancelledError: `cancel` was set.
    """
    with ReleaseSession(asking, hosts, cancel) as session:
        lookup = ReleaseLookup(session)
        collector = FactCollector(lookup.answer, _InThread() if asking.is_offline else session.pool)
        by_subject = {id(subject := group.subject): (group, subject) for group in groups}
        collector.start(subject for _, subject in by_subject.values())
        for subject in collector.settled(is_patient=True):
            group, _ = by_subject[id(subject)]
            group.case = settled_case(subject, collector.known, session.cache.hashes)
            on_progress(collector.done, collector.total)
        wanted = {(group.tool.name, group.change.address): group.tool for group in groups}
        dates = dict(session.map(lambda key: (key, lookup.release_dates(key[1], wanted[key])), wanted))
        available = {key: (_listing(collector, *key), dates[key]) for key in wanted}
        states = host_states(collector.known, is_offline=asking.is_offline)
        return HealthAnswers(available, states, session.notes, session.log)


def _listing(collector: FactCollector, tool: str, address: ProviderAddress) -> Listing:
    asked = ListingId(tool, address)
    fact = collector.known.get(ListingId(tool, address, is_fresh=True), collector.known[asked])
    assert isinstance(fact, Listing)
    return fact


class Distances:
    """How far locked releases are behind, computed once for each provider, version and constraints.

    Args:
        available: The answers of the registries.
        policy: The policy that applies.
    """

    def __init__(self, available: Available, policy: Policy) -> None:
        self._available = available
        self._policy = policy
        self._known: dict[object, Behind | bool] = {}

    def findings(self, root: ReadRoot) -> tuple[list[Finding], bool]:
        """Return the findings about the age of a root's releases, and True if some is unknown."""
        found: list[Finding] = []
        is_unknown = False
        lock_file, tool = root.review.lock_file, root.review.tool
        for entry in root.review.new.entries:
            behind = self._behind(tool, entry.address, entry.version, root.constraints[entry.address])
            is_unknown = is_unknown or behind is True
            if isinstance(behind, Behind):
                state = LockedState(tool, self._policy, entry=entry, behind=behind)
                verdicts = CHECKS["LK038"](state)
                found += (finding_of("LK038", one, lock_file, entry.line, entry.address) for one in verdicts)
        return list(heeded(found, self._policy)), is_unknown

    def _behind(
        self, tool: Dialect, address: ProviderAddress, locked: Version, constraints: Constraints
    ) -> Behind | bool:
        """Return the distance; False for none, True if it is unknown."""
        key = tool.name, address, str(locked), constraints.terms
        if key not in self._known:
            self._known[key] = self._computed(tool, address, locked, constraints)
        return self._known[key]

    def _computed(
        self, tool: Dialect, address: ProviderAddress, locked: Version, constraints: Constraints
    ) -> Behind | bool:
        found = self._available.get((tool.name, address))
        if found is None or found[0].trouble is not None:
            return True
        listing, dates = found
        versions = [one.version for one in listing.versions]
        newest = newest_matching(tuple(versions), constraints)
        if newest is None or newest.compare(locked) <= 0:
            return False
        old, new = dates.of(locked), dates.of(newest)
        if old is None or new is None:
            return True
        newer = [one for one in versions if one.compare(locked) > 0 and not one.prerelease and constraints.admits(one)]
        return Behind(newest, (new - old).days, len(newer))
