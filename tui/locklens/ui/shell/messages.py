"""What the workers tell the screen. Each message has its run's number, so that a replaced run is not heard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.errors import LockLensError
    from locklens.operations.review.events import Progress
    from locklens.operations.upgrades.candidates import CandidateTable
    from locklens.operations.upgrades.download_estimate import KnownRelease
    from locklens.review.model import Review, RootReview
    from locklens.ui.shell.file_watch import Stamps
    from locklens.ui.signers.detail import History


@dataclass
class ReviewDrafted(Message):
    """The lock files are compared; configurations are not read yet."""

    run: int
    review: Review
    top: Path | None
    repository: str
    marks: frozenset[str]
    stamps: Stamps


@dataclass
class RootsRead(Message):
    """More is known of some roots."""

    run: int
    roots: tuple[RootReview, ...]


@dataclass
class ProgressMade(Message):
    """The review is this far."""

    run: int
    progress: Progress


@dataclass
class ReviewCompleted(Message):
    """All is read. `stamps` are the watched files as they were at the start."""

    run: int
    review: Review
    stamps: Stamps


@dataclass
class ReviewFailed(Message):
    """The comparison could not be opened or finished."""

    run: int
    error: LockLensError


@dataclass
class FilesChanged(Message):
    """Watched files are not as they were."""

    run: int
    paths: tuple[Path, ...]


@dataclass
class MarksNotKept(Message):
    """The store had something to say: a damaged file was set aside, or marks last for this run alone."""

    notice: str


@dataclass
class Exported(Message):
    """A report was written, or was not (`error`)."""

    path: Path
    error: str = ""


@dataclass
class ViewWanted(Message):
    """The user wants another screen.

    Attributes:
        folder: What the one before is about, None where that is not on disk.
        provider: What is to be highlighted there: a root's folder and a provider of it; None for nothing in particular.
    """

    view: str
    folder: Path | None
    provider: tuple[str, ProviderAddress] | None = None


@dataclass
class CandidatesRead(Message):
    """More is known of what could be upgraded to; `is_final` with the last of it."""

    run: int
    offers: CandidateTable
    is_final: bool = False


@dataclass
class CandidatesFailed(Message):
    """It could not be found out what could be upgraded to."""

    run: int
    error: LockLensError


@dataclass
class ReleasesRead(Message):
    """More is known of versions that may be picked; `is_final` where nothing more is being asked."""

    run: int
    releases: tuple[KnownRelease, ...] = ()
    is_final: bool = False


@dataclass
class FilesWritten(Message):
    """A plan was applied: what the screens show is of before."""


@dataclass
class HistoryRead(Message):
    """What was locked before of a signer's providers; `key` is the signer's row's."""

    key: str
    history: History
