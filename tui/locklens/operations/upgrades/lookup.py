"""Finds out what roots could be upgraded to: registries are asked for versions and dates, and later for signatures."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import LockLensError
from locklens.operations.root_modules import Root
from locklens.operations.upgrades.candidates import (
    CandidateTable,
    RefusedRoot,
    UpgradeCandidates,
    candidates_before_lookup,
    candidates_of,
)
from locklens.operations.upgrades.download_estimate import KnownRelease
from locklens.operations.write.root_upgrade import require_upgradable
from locklens.project.constraint_edits import protection
from locklens.project.state import data_folder
from locklens.project.tree import FileSystem
from locklens.releases.facts import Listing, ListingId, ReleaseFacts, ReleaseId
from locklens.releases.lookup import ReleaseLookup
from locklens.releases.session import ReleaseSession
from locklens.review.model import LockStatus

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.releases.settings import NetworkSettings
    from locklens.review.model import Review
    from locklens.sources.release_dates import ReleaseDates
    from locklens.versions import Version

LOOKUP_BATCH_SECONDS = 0.1
"""What is known is passed on at most this often."""


class CandidateRequest(Struct, frozen=True):
    """What is asked about.

    Attributes:
        top: What the roots' folders are relative to.
        roots: As they were read.
        asking: Whom to ask; None for nobody.
        base: Hosts that the base's lock files name, comparison form.
    """

    top: Path
    roots: tuple[Root, ...]
    asking: NetworkSettings | None
    base: frozenset[str] = frozenset()

    @classmethod
    def of_review(cls, review: Review, top: Path, asking: NetworkSettings | None) -> CandidateRequest:
        """Asks about every root of a review whose configurations are read; those without a lock file are left out."""
        roots = (
            Root(root.path, root.tool, root.new, root.configuration)
            for root in review.roots
            if root.status is not LockStatus.DELETED and root.configuration is not None
        )
        return cls(top, tuple(roots), asking, review.base_hosts)


def look_up_candidates(
    request: CandidateRequest,
    *,
    on_known: Callable[[CandidateTable], None] = lambda _: None,
    cancel: threading.Event | None = None,
    now: datetime | None = None,
) -> CandidateTable:
    """Returns what each provider of each root could be upgraded to.

    Args:
        request: What is asked about.
        on_known: Called in this thread with what is known so far, first without any registry's word, and then at most
            every BATCH_SECONDS.
        cancel: Set by another thread to stop.
        now: The time, for ages.

    Raises:
        RunCancelledError: The run was cancelled.
    """
    drafted = _drafted(request)
    if request.asking is None:
        unasked = (_unanswered(one, "the registry was not asked") for one in drafted.providers)
        return CandidateTable(tuple(unasked), drafted.refused)
    on_known(drafted)
    known = {(one.root, one.address): one for one in drafted.providers}
    waiting: dict[tuple[Dialect, ProviderAddress], list[UpgradeCandidates]] = {}
    for one in drafted.providers:
        waiting.setdefault((one.tool, one.address), []).append(one)
    moment, told = now or datetime.now(UTC), time.monotonic()
    with ReleaseSession(request.asking, request.base, cancel) as session:
        lookup = ReleaseLookup(session)
        locked = {which: frozenset(one.locked for one in own if one.locked) for which, own in waiting.items()}
        for which, listing, dates in session.map_unordered(partial(_ask, lookup), locked.items()):
            for one in waiting[which]:
                known[one.root, one.address] = _answered(one, listing, dates, moment)
            if time.monotonic() - told >= LOOKUP_BATCH_SECONDS:
                on_known(CandidateTable(tuple(known.values()), drafted.refused))
                told = time.monotonic()
        return CandidateTable(tuple(known.values()), drafted.refused, session.notes)


def _drafted(request: CandidateRequest) -> CandidateTable:
    """What is known without any registry."""
    found: list[UpgradeCandidates] = []
    refused: list[RefusedRoot] = []
    guards: dict[tuple[str, str | None], str] = {}
    tree = FileSystem(request.top)
    for root in request.roots:
        try:
            require_upgradable(root, allows_missing=True)
        except LockLensError as error:
            refused.append(RefusedRoot(root.path, root.lock.path, error))
            continue
        fetched = data_folder(tree, root.path, os.environ)
        own = {}
        for file in {one.file for one in root.configuration.requirements if one.constraint}:
            if (file, fetched) not in guards:
                guards[file, fetched] = protection(request.top, file, fetched)
            own[file] = guards[file, fetched]
        wanted = root.configuration.required() | frozenset(root.lock.by_address)
        found += [candidates_before_lookup(root, address, own) for address in sorted(wanted)]
    return CandidateTable(tuple(found), tuple(refused))


def _ask(
    lookup: ReleaseLookup, what: tuple[tuple[Dialect, ProviderAddress], frozenset[Version]]
) -> tuple[tuple[Dialect, ProviderAddress], Listing, ReleaseDates]:
    (tool, address), locked = what
    listing = lookup.answer(ListingId(tool.name, address))
    assert isinstance(listing, Listing)
    if listing.is_known and not all(map(listing.has, locked)):
        # What is remembered may be older than a locked version.
        listing = lookup.answer(ListingId(tool.name, address, is_fresh=True))
        assert isinstance(listing, Listing)
    return what[0], listing, lookup.release_dates(address, tool)


def _answered(offer: UpgradeCandidates, listing: Listing, dates: ReleaseDates, now: datetime) -> UpgradeCandidates:
    if listing.trouble is not None:
        return _unanswered(offer, listing.trouble.words, listing.trouble.hint, was_contacted=listing.trouble.was_asked)
    return candidates_of(offer, listing.versions, dates, now=now, as_of=listing.as_of or "")


def _unanswered(
    offer: UpgradeCandidates, problem: str, hint: str = "", *, was_contacted: bool = False
) -> UpgradeCandidates:
    from msgspec.structs import replace

    return replace(offer, is_asked=True, was_contacted=was_contacted, problem=problem, hint=hint)


def look_up_releases(
    wanted: Sequence[ReleaseId],
    asking: NetworkSettings,
    base: Iterable[str],
    *,
    cancel: threading.Event | None = None,
) -> Iterator[KnownRelease]:
    """Finds out who signed versions, and what their packages are; yields each as soon as it is known.

    Args:
        wanted: Which.
        asking: Whom to ask.
        base: Hosts that the base's lock files name, comparison form.
        cancel: Set by another thread to stop.

    Raises:
        RunCancelledError: The run was cancelled.
    """
    with ReleaseSession(asking, base, cancel) as session:
        for facts in session.map_unordered(ReleaseLookup(session).answer, wanted):
            assert isinstance(facts, ReleaseFacts)
            yield KnownRelease(facts, session.cache.hashes(facts.packages))
