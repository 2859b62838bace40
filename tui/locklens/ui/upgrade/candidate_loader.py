"""Background lookup of upgrade candidates and their signers: an invisible child of the Upgrade screen."""

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
    from locklens.operations.upgrades.candidates import CandidateTable, KnownRelease
    from locklens.releases.facts import ReleaseId
    from locklens.review.model import Review

_BATCH = 16
"""Releases per lookup; small, so that a row highlighted meanwhile waits only briefly."""


class CandidateLoader(Widget):
    """Owns the threads that ask registries for versions and signers.

    Args:
        source: Performs the lookups.
    """

    DEFAULT_CSS = "CandidateLoader { display: none; }"

    @dataclass
    class Read(Message):
        """More candidates are known; `is_final` for the complete table."""

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
        """More releases are known; `is_final` if the lookup has ended."""

        releases: tuple[KnownRelease, ...] = ()
        is_final: bool = False

    def __init__(self, source: LockLens) -> None:
        super().__init__()
        self._source = source
        self.is_reading = False
        """True during a lookup of versions."""
        self.is_looking_up = False
        """True during a lookup of signers."""
        self._run = 0
        self._tried: frozenset[ReleaseId] = frozenset()

    def use(self, source: LockLens) -> None:
        """Look up by another source from now on."""
        self.stop()
        self._source = source
        self._tried = frozenset()

    def stop(self) -> None:
        """Discard further results of the running lookup."""
        self._run += 1
        self.is_reading = False

    def read(self, review: Review, top: Path | None, *, is_fresh: bool) -> None:
        """Start the lookup of candidates for a review's roots.

        Args:
            review: A review with configurations.
            top: The folder that its paths are relative to; None if they are not on disk.
            is_fresh: True to bypass the cache.
        """
        self._run += 1
        self.is_reading = True
        if is_fresh:
            self._tried = frozenset()
        self._read(self._run, review, top, is_fresh=is_fresh)

    @work(thread=True, exclusive=True, group="candidates")
    def _read(self, run: int, review: Review, top: Path | None, *, is_fresh: bool) -> None:
        cancel = get_current_worker().cancelled_event

        def post_partial(offers: CandidateTable) -> None:
            self.post_message(self.Read(run, offers))

        try:
            if top is None:
                raise LockLensError("upgrades need a work tree: the shown revision is not on disk")
            offers = self._source.candidates(review, top, on_known=post_partial, cancel=cancel, is_fresh=is_fresh)
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
        """Start the lookup of signers of releases not looked up before; one lookup at a time.

        Args:
            review: The review of their roots.
            wanted: Releases in order of priority.
        """
        if self.is_looking_up:
            return
        batch = [release for release in wanted if release not in self._tried][:_BATCH]
        if batch:
            self.is_looking_up = True
            self._tried |= frozenset(batch)
            self._look_up(review, batch)

    @work(thread=True, group="releases")
    def _look_up(self, review: Review, wanted: list[ReleaseId]) -> None:
        cancel = get_current_worker().cancelled_event

        def post_release(release: KnownRelease) -> None:
            self.post_message(self.SignersKnown((release,)))

        try:
            self._source.releases(review, wanted, on_known=post_release, cancel=cancel)
        except RunCancelledError:
            return
        except LockLensError:
            pass  # The releases then have no facts, and the rows show the signer as unknown.
        finally:
            self.post_message(self.SignersKnown(is_final=True))

    @on(SignersKnown)
    def _end_look_up(self, event: SignersKnown) -> None:
        if event.is_final:
            self.is_looking_up = False
