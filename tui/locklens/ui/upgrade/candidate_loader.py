"""Looks up upgrade candidates and their signers: a child of the Upgrade screen that draws nothing itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from locklens.errors import LockLensError, RunCancelledError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from locklens.operations.locklens import LockLens
    from locklens.operations.upgrades.candidates import CandidateTable
    from locklens.operations.upgrades.download_estimate import KnownRelease
    from locklens.releases.facts import ReleaseId
    from locklens.review.model import Review

_BATCH = 16
"""Releases looked up together, so that a row highlighted meanwhile need not wait for long."""


class CandidateLoader(Widget):
    """Owns the threads that ask registries for versions and signers.

    Args:
        source: Asks the registries.
    """

    DEFAULT_CSS = "CandidateLoader { display: none; }"

    @dataclass
    class Read(Message):
        """More candidates are known; `is_final` with the last of them."""

        run: int
        offers: CandidateTable
        is_final: bool = False

    @dataclass
    class Failed(Message):
        """The candidates could not be looked up."""

        run: int
        error: LockLensError

    @dataclass
    class SignersKnown(Message):
        """More is known of releases; `is_final` where the lookup has ended."""

        releases: tuple[KnownRelease, ...] = ()
        is_final: bool = False

    def __init__(self, source: LockLens) -> None:
        super().__init__()
        self._source = source
        self.is_reading = False
        """Whether registries are being asked for versions."""
        self.is_looking_up = False
        """Whether registries are being asked for signers."""
        self._run = 0
        self._tried: frozenset[ReleaseId] = frozenset()

    def stop(self) -> None:
        """Drops what the running lookup still sends."""
        self._run += 1
        self.is_reading = False

    def read(self, review: Review, top: Path | None, *, is_fresh: bool) -> None:
        """Starts to ask for the candidates of a review's roots.

        Args:
            review: With configurations.
            top: What its paths are relative to; None where they are not on disk.
            is_fresh: Whether registries are asked again, whatever is cached.
        """
        self._run += 1
        self.is_reading = True
        if is_fresh:
            self._tried = frozenset()
        self._read(self._run, review, top, is_fresh=is_fresh)

    @work(thread=True, exclusive=True, group="candidates")
    def _read(self, run: int, review: Review, top: Path | None, *, is_fresh: bool) -> None:
        cancel = get_current_worker().cancelled_event

        def tell(offers: CandidateTable) -> None:
            self.post_message(self.Read(run, offers))

        try:
            if top is None:
                raise LockLensError("what is shown is not on disk, so nothing can be upgraded there")
            offers = self._source.candidates(review, top, on_known=tell, cancel=cancel, is_fresh=is_fresh)
        except RunCancelledError:
            return
        except LockLensError as error:
            self.post_message(self.Failed(run, error))
        else:
            self.post_message(self.Read(run, offers, is_final=True))

    @on(Read)
    @on(Failed)
    def _drop_old(self, event: Read | Failed) -> None:
        if event.run != self._run:
            event.stop()
        elif isinstance(event, self.Failed) or event.is_final:
            self.is_reading = False

    def look_up(self, review: Review, wanted: Iterable[ReleaseId]) -> None:
        """Starts to ask who signed releases that were not asked for before; one lookup at a time.

        Args:
            review: Whose roots they are for.
            wanted: Releases, the most wanted first.
        """
        if self.is_looking_up:
            return
        batch = [one for one in wanted if one not in self._tried][:_BATCH]
        if batch:
            self.is_looking_up = True
            self._tried |= frozenset(batch)
            self._look_up(review, batch)

    @work(thread=True, group="releases")
    def _look_up(self, review: Review, wanted: list[ReleaseId]) -> None:
        cancel = get_current_worker().cancelled_event

        def tell(one: KnownRelease) -> None:
            self.post_message(self.SignersKnown((one,)))

        try:
            self._source.releases(review, wanted, on_known=tell, cancel=cancel)
        except RunCancelledError:
            return
        except LockLensError:
            pass  # The releases then have no facts, and the rows say that nothing is known.
        finally:
            self.post_message(self.SignersKnown(is_final=True))

    @on(SignersKnown)
    def _end_look_up(self, event: SignersKnown) -> None:
        if event.is_final:
            self.is_looking_up = False
