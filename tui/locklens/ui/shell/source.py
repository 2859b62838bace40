"""The port through which screens reach the operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.install.events import InstallEvent
    from locklens.operations.plan.files import FileChanges
    from locklens.operations.plan.model import Plan, Scope
    from locklens.operations.plan.review import PlanReview
    from locklens.operations.review.events import ProvingPlanned, ReviewEvent
    from locklens.operations.review.why import WhySubject
    from locklens.operations.upgrades.candidates import CandidateTable
    from locklens.operations.upgrades.download_estimate import KnownRelease
    from locklens.operations.write.operation import Operation
    from locklens.operations.write.upgrade import SelectedVersion
    from locklens.releases.facts import ReleaseId
    from locklens.review.keys import PastUse, SignerUses
    from locklens.review.model import Review, RootReview
    from locklens.review.why import Why


class OpenedReview(Protocol):
    """A comparison that is open."""

    @property
    def draft(self) -> Review:
        """The review from the lock files alone."""

    def complete(
        self,
        *,
        on_event: Callable[[ReviewEvent], None],
        cancel: threading.Event,
    ) -> Review:
        """Reads configurations, asks registries, and returns the final review.

        Args:
            on_event: Called in the caller's thread.
            cancel: Set by another thread to stop.

        Raises:
            LockLensError: It cannot be finished, or was cancelled.
        """

    def watched(self, review: Review) -> tuple[Path, ...]:
        """The files on disk that the review depends on."""

    @property
    def top(self) -> Path | None:
        """The folder that the review's paths are relative to, None where they are not on disk."""

    @property
    def repository(self) -> str:
        """What marks are remembered for: the same for the same repository in every run."""

    def close(self) -> None:
        """Gives back what the open comparison holds."""


class ReviewSource(Protocol):
    """Opens the comparison, again and again."""

    @property
    def fail_on(self) -> str:
        """From which severity on a report of the review would fail."""

    def open(self, *, is_fresh: bool = False) -> OpenedReview:
        """Opens it as it is now.

        Args:
            is_fresh: Whether registries are asked again, whatever is remembered.

        Raises:
            LockLensError: There is nothing to compare.
        """

    def of_view(self, view: str, folder: Path | None) -> ReviewSource:
        """Returns the source of another screen, with the same asking.

        Args:
            view: "review", "upgrade", "hashes" or "keys".
            folder: In the repository; None for the current one.
        """

    def prove(
        self,
        review: Review,
        chosen: Collection[tuple[str, ProviderAddress]],
        *,
        confirm: Callable[[ProvingPlanned], bool],
        on_event: Callable[[ReviewEvent], None],
        cancel: threading.Event,
    ) -> tuple[RootReview, ...]:
        """Proves `h1` hashes by downloads.

        Args:
            review: Whose changes they are.
            chosen: The changes, each by lock file and provider.
            confirm: Called in this thread before anything is downloaded; never where there is nothing to prove.
            on_event: Called in this thread.
            cancel: Set by another thread to stop.

        Returns:
            The roots of which more is known now.

        Raises:
            LockLensError: It was cancelled, or nobody is to be asked.
        """

    def where(self, top: Path, roots: Iterable[str]) -> Scope:
        """Returns what to write in, by the tool and the test folder that the reviews go by.

        Args:
            top: What the roots are relative to.
            roots: Folders, "" for the top itself.
        """

    def plan(
        self,
        intent: Operation,
        review: Review | None,
        *,
        on_root: Callable[[str], None],
        on_event: Callable[[InstallEvent], None],
        cancel: threading.Event,
    ) -> Plan:
        """Finds out what is to be written.

        Args:
            intent: What is wanted.
            review: What it was made from: registries that its base does not vouch for are not asked. None where
                nothing could be reviewed.
            on_root: Told of each root that it comes to, in this thread.
            on_event: Told of packages, from any thread, but never from two at once.
            cancel: Set by another thread to stop.

        Raises:
            LockLensError: It cannot be found out, or was cancelled.
        """

    def foresee(
        self, plan: Plan, review: Review, *, on_event: Callable[[ReviewEvent], None], cancel: threading.Event
    ) -> PlanReview:
        """Reviews what is planned.

        Args:
            plan: With files to write.
            review: What it was made from, whose base counts.
            on_event: Called in this thread.
            cancel: Set by another thread to stop.

        Raises:
            LockLensError: It cannot be reviewed, or was cancelled.
        """

    def apply(self, proposal: FileChanges) -> tuple[str, ...]:
        """Writes what is planned: all of it, or nothing.

        Returns:
            What limits it, in sentences.

        Raises:
            StaleLockFileError: A file changed on disk since the plan was made.
            LockLensError: It cannot be written.
        """

    def why(self, subject: WhySubject, *, is_asking: bool, is_fresh: bool, cancel: threading.Event) -> Why:
        """Explains why a provider is there, and what holds it back.

        Args:
            subject: The provider and the roots.
            is_asking: Whether its registry is asked which versions there are.
            is_fresh: Whether it is asked whatever is remembered.
            cancel: Set by another thread to stop.

        Raises:
            LockLensError: Nobody can say, or it was cancelled.
        """

    def history(
        self, signer: SignerUses, *, on_event: Callable[[ReviewEvent], None], cancel: threading.Event
    ) -> tuple[PastUse, ...]:
        """Looks up what was locked before of a signer's providers, the newest first.

        Args:
            signer: Whose providers they are.
            on_event: Called in this thread.
            cancel: Set by another thread to stop.

        Raises:
            LockLensError: There is no history, or it was cancelled.
        """

    def offers(
        self,
        review: Review,
        top: Path,
        *,
        on_known: Callable[[CandidateTable], None],
        cancel: threading.Event,
        is_fresh: bool,
    ) -> CandidateTable:
        """Finds out what the roots of a review could be upgraded to.

        Args:
            review: Whose configurations are read.
            top: What its paths are relative to.
            on_known: Called in this thread with what is known so far.
            cancel: Set by another thread to stop.
            is_fresh: Whether registries are asked again, whatever is remembered.

        Raises:
            LockLensError: It was cancelled.
        """

    def releases(
        self,
        review: Review,
        wanted: Sequence[ReleaseId],
        *,
        on_known: Callable[[KnownRelease], None],
        cancel: threading.Event,
    ) -> None:
        """Finds out who signed versions; arguments and errors as of `offers`.

        Args:
            review: Whose roots they may be for.
            wanted: Which.
            on_known: Called in this thread with each of them.
            cancel: Set by another thread to stop.
        """

    def upgrading(self, top: Path, picks: tuple[SelectedVersion, ...], *, allows_missing: bool) -> Operation:
        """Returns what it is to move providers to the versions that were picked.

        Args:
            top: The folder that the picks' roots are relative to.
            picks: At least one.
            allows_missing: Whether modules may be missing, whose constraints then do not count.
        """
