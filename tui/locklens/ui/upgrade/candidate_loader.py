"""A screen that reads what could be upgraded, and who signed it. What it shows of that is up to the one built on it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import on, work
from textual.worker import get_current_worker

from locklens.errors import LockLensError
from locklens.operations.upgrades.download_estimate import release_id
from locklens.operations.upgrades.recommend import Eligibility
from locklens.operations.upgrades.selection import CandidateKey, UpgradeSelection, candidate_key
from locklens.text import counted
from locklens.ui.shell.messages import CandidatesFailed, CandidatesRead, ReleasesRead
from locklens.ui.shell.row_actions import RowActionsScreen

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from textual.timer import Timer

    from locklens.operations.upgrades.candidates import CandidateTable, UpgradeCandidates
    from locklens.operations.upgrades.download_estimate import KnownRelease
    from locklens.review.model import Review
    from locklens.review.releases import ReleaseId
    from locklens.ui.shell.marks import MarkKeeper
    from locklens.ui.shell.source import ReviewSource

_LOOK_UP_SECONDS = 0.25
"""After the cursor came to rest: signers are looked up for where one stays, not for what one passes."""

_AT_ONCE = 16
"""Releases that are asked about together, so that what is highlighted meanwhile need not wait for long."""

_LOOKED_UP = 60
"""Suggested upgrades whose signers are looked up without being highlighted or chosen."""


class CandidateLoadingScreen(RowActionsScreen):
    """Owns what is offered and picked, and the way it gets here."""

    def __init__(self, source: ReviewSource, keeper: MarkKeeper) -> None:
        super().__init__(source, keeper)
        self.picking = UpgradeSelection()
        self.has_offers = False
        """Whether all registries have answered once."""
        self.by_all: frozenset[CandidateKey] = frozenset()
        """What was chosen as safe, before all was known of it."""
        self.is_looking_up = False
        self._is_fresh = False
        self._is_offering = False
        self._has_terms = False
        """Whether the policy's cooldown is heeded or was done away with by the user."""
        self._tried: frozenset[ReleaseId] = frozenset()
        self._timer_of_releases: Timer | None = None

    @property
    @abstractmethod
    def highlighted(self) -> Iterable[UpgradeCandidates]:
        """What the highlighted row stands for; nothing where that is a whole section."""

    @property
    def asking_words(self) -> str:
        """What is being asked, "" for nothing."""
        if self.progress.words:
            return self.progress.words
        if self._is_offering:
            waiting = sum(not one.is_asked for one in self.picking.offers.providers)
            return f"asking registries, {counted(waiting, 'provider')} to go" if waiting else "asking registries again"
        return "looking up signers" if self.is_looking_up else ""

    # What is offered

    def reload(self, *, is_fresh: bool = False) -> None:
        """Reads everything again; what was chosen stays chosen."""
        self._is_fresh = self._is_fresh or is_fresh
        self._is_offering = False
        super().reload(is_fresh=is_fresh)

    def review_arrived(self) -> None:
        """Asks what there is once the configurations are read."""
        if self.review is not None and not self._has_terms:
            self._has_terms = True
            self.picking = self.picking.with_terms(replace(self.picking.terms, cooldown=self.review.policy.cooldown))
        if self.review is not None and not self.is_asking and not self._is_offering and self.error is None:
            self._is_offering = True
            if self._is_fresh:
                self._tried = frozenset()
            self._read_offers(self._run, self.review, self.top, is_fresh=self._is_fresh)
            self._is_fresh = False
        self.refresh_list()

    @work(thread=True, exclusive=True, group="offers")
    def _read_offers(self, run: int, review: Review, top: Path | None, *, is_fresh: bool) -> None:
        cancel = get_current_worker().cancelled_event

        def tell(offers: CandidateTable) -> None:
            self.post_message(CandidatesRead(run, offers))

        try:
            if top is None:
                raise LockLensError("what is shown is not on disk, so nothing can be upgraded there")
            offers = self.source.offers(review, top, on_known=tell, cancel=cancel, is_fresh=is_fresh)
        except LockLensError as error:
            if not cancel.is_set():
                self.post_message(CandidatesFailed(run, error))
        else:
            self.post_message(CandidatesRead(run, offers, is_final=True))

    @on(CandidatesRead)
    def _take_offers(self, event: CandidatesRead) -> None:
        # While all is asked once more, what was known stays on the screen.
        if event.run != self._run or not (event.is_final or not self.has_offers):
            return
        self.picking = self.picking.with_offers(event.offers)
        if event.is_final:
            self._is_offering, self.has_offers = False, True
            self._tell_notes(event.offers.notes)
        self.refresh_list()

    @on(CandidatesFailed)
    def _take_offers_failure(self, event: CandidatesFailed) -> None:
        if event.run == self._run:
            self._is_offering = False
            self.say(f"{event.error}; {event.error.hint}" if event.error.hint else str(event.error))

    # Who signed it

    def look_up_soon(self) -> None:
        """Looks up signers when the cursor stays where it is."""
        if self._timer_of_releases is not None:
            self._timer_of_releases.stop()
        self._timer_of_releases = self.set_timer(_LOOK_UP_SECONDS, self._look_up)

    def _look_up(self) -> None:
        if self.is_looking_up or self.review is None or not self.is_open:
            return
        wanted = self._wanted_releases()[:_AT_ONCE]
        if wanted:
            self.is_looking_up = True
            self._tried |= frozenset(wanted)
            self._read_releases(self._run, self.review, wanted)

    def _wanted_releases(self) -> list[ReleaseId]:
        """What is not known yet of versions that are highlighted, chosen or suggested, in this order."""
        picking = self.picking
        chosen = (offer for offer, _ in picking.choices)
        ready = [one for one in picking.offers.providers if picking.standing(one).state is Eligibility.READY][
            :_LOOKED_UP
        ]
        found: dict[ReleaseId, None] = {}
        for offer in (*self.highlighted, *chosen, *ready):
            choice = picking.picked(offer)
            if choice is not None:
                versions = (choice.version, *((offer.locked,) if offer.locked is not None else ()))
                found |= dict.fromkeys(release_id(offer, version) for version in versions)
        return [one for one in found if one not in self._tried]

    @work(thread=True, group="releases")
    def _read_releases(self, run: int, review: Review, wanted: list[ReleaseId]) -> None:
        cancel = get_current_worker().cancelled_event

        def tell(one: KnownRelease) -> None:
            self.post_message(ReleasesRead(run, (one,)))

        try:
            self.source.releases(review, wanted, on_known=tell, cancel=cancel)
        except LockLensError:
            pass  # Nothing is known of them then, as it says.
        finally:
            self.post_message(ReleasesRead(run, is_final=True))

    @on(ReleasesRead)
    def _take_releases(self, event: ReleasesRead) -> None:
        if event.releases:
            self.picking = self.picking.with_known(event.releases)
            self._take_suspects_back()
        if event.is_final:
            self.is_looking_up = False
            self._look_up()
            self.refresh_list()

    def _take_suspects_back(self) -> None:
        """Takes back what was chosen as safe, and is signed by somebody else, as is known now."""
        picking = self.picking
        found = [
            offer
            for offer, choice in picking.choices
            if candidate_key(offer) in self.by_all and picking.is_suspect(offer, choice)
        ]
        if found:
            keys = frozenset(map(candidate_key, found))
            self.by_all -= keys
            self.picking = replace(picking, chosen=picking.chosen - keys)
            names = ", ".join(sorted({one.name for one in found}))
            self.say(f"not chosen any more: {names} is signed otherwise than before")
