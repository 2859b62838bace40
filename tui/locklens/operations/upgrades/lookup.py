"""Lookup of upgrade candidates: versions and release dates first, signatures on demand.

`survey_upgrades` also selects the eligible ones, for use without a screen.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError, LockLensError
from locklens.operations.review.inside import advisory_lookup
from locklens.operations.review.opened import open_review
from locklens.operations.root_modules import Root, no_root
from locklens.operations.typed_names import selected_by_root
from locklens.operations.upgrades import (
    CandidateTable,
    KnownRelease,
    RefusedRoot,
    UpgradeCandidates,
    candidates_before_lookup,
    candidates_of,
)
from locklens.operations.upgrades.recommending import UpgradePolicy
from locklens.operations.upgrades.selection import UpgradeSelection
from locklens.operations.write.root_upgrade import require_upgradable
from locklens.project.constraint_edits import oddly_written, protection
from locklens.project.state import data_folder
from locklens.project.tree import FileSystem, WorkTree
from locklens.releases import Listing, ListingId, NetworkSettings, ReleaseFacts, ReleaseId
from locklens.releases.session import ReleaseLookup, ReleaseSession
from locklens.review.model import LockStatus, Review

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.operations.review.request import ReviewRequest
    from locklens.project.configuration import Requirement, RequirementSite
    from locklens.project.tree import Tree
    from locklens.sources.metadata import ReleaseDates
    from locklens.versions import Version

LOOKUP_BATCH_SECONDS = 0.1
"""Shortest interval between two partial results."""


class CandidateRequest(Struct, frozen=True):
    """The roots of a lookup, and its network settings.

    Attributes:
        top: The folder that the roots' paths are relative to.
        network: Network settings; None for no requests.
        base: Hosts that the base's lock files name, comparison form.
        providers: Typed names of the providers to look up; () for all.
    """

    top: Path
    roots: tuple[Root, ...]
    network: NetworkSettings | None
    base: frozenset[str] = frozenset()
    providers: tuple[str, ...] = ()

    @classmethod
    def of_review(cls, review: Review, top: Path, network: NetworkSettings | None) -> CandidateRequest:
        """Make a request for the roots of a review with configurations.

        Folders with neither a configuration nor a lock file are left out: a review has deleted roots, and those to
        which packages were added.
        """
        roots = (
            Root(
                root.path, root.tool, root.new, root.configuration, top=top if review.head.kind == "worktree" else None
            )
            for root in review.roots
            if root.configuration is not None and (root.new.exists or root.configuration.has_files)
        )
        return cls(top, tuple(roots), network, hosts_of_roots(review, network))


def hosts_of_roots(review: Review, network: NetworkSettings | None) -> frozenset[str]:
    """Return the hosts that may be asked besides those of the settings: the base's, or all, as the tools do."""
    if network is None or not network.asks_all:
        return review.base_hosts
    required = (root.configuration.required() for root in review.roots if root.configuration is not None)
    addresses = {change.address for change in review.changes}.union(*required)
    return frozenset(address.host for address in addresses)


def look_up_candidates(
    request: CandidateRequest,
    *,
    on_known: Callable[[CandidateTable], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> CandidateTable:
    """Return the upgrade candidates of each provider of each root.

    `on_known` is called with partial results: first before any request, then at most every LOOKUP_BATCH_SECONDS.
    """
    drafted = _drafted(request)
    if request.network is None:
        reason = "the registry was not asked"
        unasked = (offer if offer.is_asked else _unanswered(offer, reason) for offer in drafted.providers)
        return CandidateTable(tuple(unasked), drafted.refused)
    on_known(drafted)
    known = {(offer.root, offer.address): offer for offer in drafted.providers}
    waiting: dict[tuple[Dialect, ProviderAddress], list[UpgradeCandidates]] = {}
    for offer in (offer for offer in drafted.providers if not offer.is_asked):
        waiting.setdefault((offer.tool, offer.address), []).append(offer)
    moment, reported_at = datetime.now(UTC), time.monotonic()
    with ReleaseSession(request.network, request.base, cancel) as session:
        lookup = ReleaseLookup(session)
        locked = {key: frozenset(offer.locked for offer in offers if offer.locked) for key, offers in waiting.items()}
        for key, listing, dates in session.map_unordered(partial(_ask, lookup), locked.items()):
            for offer in waiting[key]:
                known[offer.root, offer.address] = _answered(offer, listing, dates, moment)
            if time.monotonic() - reported_at >= LOOKUP_BATCH_SECONDS:
                on_known(CandidateTable(tuple(known.values()), drafted.refused))
                reported_at = time.monotonic()
        return CandidateTable(tuple(known.values()), drafted.refused, session.notes)


def _drafted(request: CandidateRequest) -> CandidateTable:
    """The candidates before any request."""
    drafts: list[UpgradeCandidates] = []
    refused: list[RefusedRoot] = []
    guards: dict[tuple[RequirementSite, str | None], str] = {}
    tree = FileSystem(request.top)
    named = selected_by_root(request.providers, request.roots, is_of_upgrade=True) if request.providers else {}
    for root in request.roots:
        try:
            require_upgradable(root, allows_missing=True)
        except LockLensError as error:
            refused.append(RefusedRoot(root.path, root.lock.path, error))
            continue
        fetched = data_folder(tree, root.path, os.environ)
        addresses = named.get(root.path, root.configuration.required() | frozenset(root.lock.by_address))
        guarded = {}
        for one in (one for address in addresses for one in root.requirements(address) if one.constraint):
            if (one.site, fetched) not in guards:
                guards[one.site, fetched] = protection(request.top, one.file, fetched) or _written_oddly(tree, one)
            guarded[one.site] = guards[one.site, fetched]
        drafts += [candidates_before_lookup(root, address, guarded) for address in sorted(addresses)]
    return CandidateTable(tuple(drafts), tuple(refused))


def _written_oddly(tree: Tree, requirement: Requirement) -> str:
    """The reason why a constraint is not rewritten; "" also for a missing file, which the plan reports."""
    try:
        data = tree.read(requirement.file)
    except ConfigurationError as error:
        return error.message
    return oddly_written(data, requirement) if data is not None else ""


def _ask(
    lookup: ReleaseLookup, request: tuple[tuple[Dialect, ProviderAddress], frozenset[Version]]
) -> tuple[tuple[Dialect, ProviderAddress], Listing, ReleaseDates]:
    (tool, address), locked = request
    listing = lookup.answer(ListingId(tool.name, address))
    assert isinstance(listing, Listing)
    if listing.is_known and not all(map(listing.has, locked)):
        # A cached list may be older than a locked version.
        listing = lookup.answer(ListingId(tool.name, address, is_fresh=True))
        assert isinstance(listing, Listing)
    return request[0], listing, lookup.release_dates(address, tool)


def _answered(offer: UpgradeCandidates, listing: Listing, dates: ReleaseDates, now: datetime) -> UpgradeCandidates:
    if listing.trouble is not None:
        return _unanswered(offer, listing.trouble.words, listing.trouble.hint, was_contacted=listing.trouble.was_asked)
    return candidates_of(offer, listing.versions, dates, now=now, as_of=listing.as_of or "")


def _unanswered(
    offer: UpgradeCandidates, problem: str, hint: str = "", *, was_contacted: bool = False
) -> UpgradeCandidates:
    return replace(offer, is_asked=True, was_contacted=was_contacted, problem=problem, hint=hint)


def look_up_releases(
    wanted: Sequence[ReleaseId], network: NetworkSettings, base: Iterable[str], *, cancel: threading.Event | None = None
) -> Iterator[KnownRelease]:
    """Look up the signers and packages of releases; yield each as soon as it is known.

    `base` has the hosts that the base's lock files name, comparison form.
    """
    with ReleaseSession(network, base, cancel) as session:
        lookup, _ = advisory_lookup(session.cache)
        for facts in session.map_unordered(ReleaseLookup(session).answer, wanted):
            assert isinstance(facts, ReleaseFacts)
            of, packages = facts.id, facts.packages
            advisories = lookup.of_release(of.address, str(of.version), packages) if lookup is not None else None
            yield KnownRelease(facts, session.cache.hashes(packages), advisories)


class UpgradeSurvey(Struct, frozen=True):
    """The upgrade candidates of a repository.

    Attributes:
        review: The review of all locked providers, from files alone.
        selection: The candidates; eligible upgrades are selected.
        dropped: The candidates that were eligible until their signers were looked up.
    """

    review: Review
    top: Path
    selection: UpgradeSelection
    dropped: tuple[UpgradeCandidates, ...] = ()


def survey_upgrades(
    request: ReviewRequest,
    providers: tuple[str, ...] = (),
    *,
    ignores_cooldown: bool = False,
    takes_majors: bool = False,
) -> UpgradeSurvey:
    """Look up upgrades, and select the eligible ones, like `a` on the screen, signers included.

    The providers are named as typed; () for all.

    Raises:
        LockLensError: There is nothing to upgrade on disk, a root is only on the base, or no root has a provider.
        RunCancelledError: The run was cancelled.
    """
    with closing(open_review(replace(request, network=None))) as opened:
        review, top = opened.complete(on_event=lambda _: None, cancel=threading.Event()), opened.top
    if top is None:
        raise LockLensError("the reviewed files are not on disk, so nothing can be upgraded")
    for root in review.roots:
        if root.status is LockStatus.DELETED and (root.configuration is None or not root.configuration.has_files):
            raise no_root(WorkTree(top), root.path)
    terms = UpgradePolicy(review.policy, takes_majors=takes_majors, ignores_cooldown=ignores_cooldown)
    candidates = replace(CandidateRequest.of_review(review, top, request.network), providers=providers)
    selection = UpgradeSelection(terms=terms).with_offers(look_up_candidates(candidates))
    selection = selection.with_safe(selection.safe)
    dropped: tuple[UpgradeCandidates, ...] = ()
    if candidates.network is not None:
        releases = selection.unknown_releases(selection.offers.providers)
        known = tuple(look_up_releases(releases, candidates.network, candidates.base))
        selection, dropped = selection.with_known(known).without_suspects()
    return UpgradeSurvey(review, top, selection, dropped)
