"""Finds out what roots could be upgraded to: registries are asked for versions and dates, and later for signatures."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import LockLensError
from locklens.lockfile.parse import parse
from locklens.project.constraint_edits import protection
from locklens.project.state import data_folder
from locklens.project.tree import FileSystem
from locklens.review.model import Status
from locklens.review.releases import Listing, ListingId, ReleaseFacts, ReleaseId
from locklens.workspace.asking import AskingRun
from locklens.workspace.found import Root
from locklens.workspace.offers import Offer, Offers, Refused, offer_before_asking, offer_of
from locklens.workspace.prospects import KnownRelease
from locklens.workspace.upgrading import require_upgradable

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.review.model import Review
    from locklens.sources.release_dates import ReleaseDates
    from locklens.versions import Version
    from locklens.workspace.review import Asking

BATCH_SECONDS = 0.1
"""What is known is passed on at most this often."""


class OfferRequest(Struct, frozen=True):
    """What is asked about.

    Attributes:
        top: What the roots' folders are relative to.
        roots: As they were read.
        asking: Whom to ask; None for nobody.
        base: Hosts that the base's lock files name, comparison form.
    """

    top: Path
    roots: tuple[Root, ...]
    asking: Asking | None
    base: frozenset[str] = frozenset()

    @classmethod
    def of_review(cls, review: Review, top: Path, asking: Asking | None) -> OfferRequest:
        """Asks about every root of a review whose configurations are read; those without a lock file are left out."""
        roots = (
            Root(root.path, root.tool, parse(root.new_data, root.lock_file, dialect=root.tool), root.configuration)
            for root in review.roots
            if root.status is not Status.DELETED and root.configuration is not None
        )
        return cls(top, tuple(roots), asking, review.base_hosts)


def offers(
    request: OfferRequest,
    *,
    on_known: Callable[[Offers], None] = lambda _: None,
    cancel: threading.Event | None = None,
    now: datetime | None = None,
) -> Offers:
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
        return Offers(tuple(unasked), drafted.refused)
    on_known(drafted)
    known = {(one.root, one.address): one for one in drafted.providers}
    waiting: dict[tuple[Dialect, ProviderAddress], list[Offer]] = {}
    for one in drafted.providers:
        waiting.setdefault((one.tool, one.address), []).append(one)
    moment, told = now or datetime.now(UTC), time.monotonic()
    with AskingRun(request.asking, request.base, cancel) as run:
        locked = {which: frozenset(one.locked for one in own if one.locked) for which, own in waiting.items()}
        for which, listing, dates in run.all(partial(_ask, run), locked.items()):
            for one in waiting[which]:
                known[one.root, one.address] = _answered(one, listing, dates, moment)
            if time.monotonic() - told >= BATCH_SECONDS:
                on_known(Offers(tuple(known.values()), drafted.refused))
                told = time.monotonic()
        return Offers(tuple(known.values()), drafted.refused, run.notes)


def _drafted(request: OfferRequest) -> Offers:
    """What is known without any registry."""
    found: list[Offer] = []
    refused: list[Refused] = []
    guards: dict[tuple[str, str | None], str] = {}
    tree = FileSystem(request.top)
    for root in request.roots:
        try:
            require_upgradable(root, allows_missing=True)
        except LockLensError as error:
            refused.append(Refused(root.path, root.lock.path, error))
            continue
        fetched = data_folder(tree, root.path, os.environ)
        own = {}
        for file in {one.file for one in root.configuration.requirements if one.constraint}:
            if (file, fetched) not in guards:
                guards[file, fetched] = protection(request.top, file, fetched)
            own[file] = guards[file, fetched]
        wanted = root.configuration.required() | frozenset(root.lock.by_address)
        found += [offer_before_asking(root, address, own) for address in sorted(wanted)]
    return Offers(tuple(found), tuple(refused))


def _ask(
    run: AskingRun, what: tuple[tuple[Dialect, ProviderAddress], frozenset[Version]]
) -> tuple[tuple[Dialect, ProviderAddress], Listing, ReleaseDates]:
    (tool, address), locked = what
    listing = run.asker.answer(ListingId(tool.name, address))
    assert isinstance(listing, Listing)
    if listing.is_known and not all(map(listing.has, locked)):
        # What is remembered may be older than a locked version.
        listing = run.asker.answer(ListingId(tool.name, address, is_fresh=True))
        assert isinstance(listing, Listing)
    return what[0], listing, run.release_dates(address, tool)


def _answered(offer: Offer, listing: Listing, dates: ReleaseDates, now: datetime) -> Offer:
    if listing.trouble is not None:
        return _unanswered(offer, listing.trouble.words, listing.trouble.hint)
    return offer_of(offer, listing.versions, dates, now=now, as_of=listing.as_of or "")


def _unanswered(offer: Offer, problem: str, hint: str = "") -> Offer:
    from msgspec.structs import replace

    return replace(offer, is_asked=True, problem=problem, hint=hint)


def releases(
    wanted: Sequence[ReleaseId],
    asking: Asking,
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
    with AskingRun(asking, base, cancel) as run:
        for facts in run.all(run.asker.answer, wanted):
            assert isinstance(facts, ReleaseFacts)
            yield KnownRelease(facts, run.hashed(facts.packages))
