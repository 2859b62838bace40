"""What screens ask for, and how fresh it is: the port to reviews and plans, the stamps of files. Knows no Textual."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from locklens.ui.explained import is_settled

if TYPE_CHECKING:
    import threading

    from locklens.addresses import ProviderAddress
    from locklens.install.events import Event as InstallEvent
    from locklens.review.keys import PastUse, SignerUses
    from locklens.review.model import Review, RootReview
    from locklens.review.releases import ReleaseId
    from locklens.review.why import Why
    from locklens.workspace.events import Event, ProvingPlanned
    from locklens.workspace.foresee import Foreseen
    from locklens.workspace.intents import Intent
    from locklens.workspace.offers import Offers
    from locklens.workspace.planning import Plan, WriteRequest
    from locklens.workspace.proposal import Proposal
    from locklens.workspace.prospects import KnownRelease
    from locklens.workspace.upgrading import Pick

Stamp = tuple[int, int, int] | None
Stamps = Mapping[Path, Stamp]


@dataclass(frozen=True, slots=True)
class WhySubject:
    """What is to be explained: a provider in roots of a review; `top` is what their paths are relative to."""

    review: Review
    top: Path | None
    roots: tuple[str, ...]
    address: ProviderAddress


class OpenedReview(Protocol):
    """A comparison that is open."""

    @property
    def draft(self) -> Review:
        """The review from the lock files alone."""

    def complete(
        self,
        *,
        on_event: Callable[[Event], None],
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
        on_event: Callable[[Event], None],
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

    def where(self, top: Path, roots: Iterable[str]) -> WriteRequest:
        """Returns what to write in, by the tool and the test folder that the reviews go by.

        Args:
            top: What the roots are relative to.
            roots: Folders, "" for the top itself.
        """

    def plan(
        self,
        intent: Intent,
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
        self, plan: Plan, review: Review, *, on_event: Callable[[Event], None], cancel: threading.Event
    ) -> Foreseen:
        """Reviews what is planned.

        Args:
            plan: With files to write.
            review: What it was made from, whose base counts.
            on_event: Called in this thread.
            cancel: Set by another thread to stop.

        Raises:
            LockLensError: It cannot be reviewed, or was cancelled.
        """

    def apply(self, proposal: Proposal) -> tuple[str, ...]:
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
        self, signer: SignerUses, *, on_event: Callable[[Event], None], cancel: threading.Event
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
        self, review: Review, top: Path, *, on_known: Callable[[Offers], None], cancel: threading.Event, is_fresh: bool
    ) -> Offers:
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

    def upgrading(self, top: Path, picks: tuple[Pick, ...], *, allows_missing: bool) -> Intent:
        """Returns what it is to move providers to the versions that were picked.

        Args:
            top: The folder that the picks' roots are relative to.
            picks: At least one.
            allows_missing: Whether modules may be missing, whose constraints then do not count.
        """


def stamps_of(paths: Iterable[Path]) -> dict[Path, Stamp]:
    """What tells a changed file: modification time, size and identity; None where there is no such file."""
    return {path: _stamp(path) for path in paths}


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def changed_since(stamps: Stamps) -> tuple[Path, ...]:
    """The files that are not as they were."""
    return tuple(path for path, stamp in stamps.items() if _stamp(path) != stamp)


def roots_of(paths: Iterable[Path], review: Review, top: Path | None) -> tuple[str, ...]:
    """What changed, in the review's words: a root where the file lies in one, else the file's name."""
    known = {root.path for root in review.roots}
    names = []
    for path in paths:
        folder = path.parent.relative_to(top).as_posix() if top is not None and path.is_relative_to(top) else None
        folder = "" if folder == "." else folder
        names.append((folder or ".") if folder in known else path.name)
    return tuple(dict.fromkeys(names))


def with_roots(review: Review, finished: Iterable[RootReview]) -> Review:
    """The review with some roots replaced by their finished selves, unless their files are others by now."""
    from msgspec.structs import replace

    by_file = {root.lock_file: root for root in finished}
    return replace(
        review,
        roots=tuple(
            found if (found := by_file.get(root.lock_file)) is not None and _is_of_same_files(root, found) else root
            for root in review.roots
        ),
    )


def renewed(shown: Review, draft: Review, known: Mapping[str, RootReview]) -> Review:
    """What to show while a review is on its way: never less of a root than is shown already.

    Args:
        shown: What is on the screen; the draft itself for the first review.
        draft: Of the review that is on its way.
        known: Its roots of which more is known by now, by lock file.
    """
    from msgspec.structs import replace

    before = {root.lock_file: root for root in shown.roots}

    def best(root: RootReview) -> RootReview:
        old, new = before.get(root.lock_file), known.get(root.lock_file)
        if old is None:
            return new or root
        if new is None:
            return old
        is_better = _is_settled(new) or not _is_settled(old) or not _is_of_same_files(old, new)
        return new if is_better else old

    return replace(draft, roots=tuple(map(best, draft.roots)), hosts=shown.hosts, notes=shown.notes)


def _is_settled(root: RootReview) -> bool:
    return root.configuration is not None and all(map(is_settled, root.changes))


def _is_of_same_files(one: RootReview, other: RootReview) -> bool:
    return (one.old_data, one.new_data) == (other.old_data, other.new_data)
