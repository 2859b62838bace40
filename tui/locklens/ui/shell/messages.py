"""Messages from worker threads to the review loader, and from screens to the app.

Those of a reading carry its number, so that what a replaced reading still sends is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.errors import LockLensError
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.events import Progress
    from locklens.operations.write.operation import Operation
    from locklens.review.model import Review, RootReview
    from locklens.ui.shell.file_watch import Stamps
    from locklens.ui.views import View


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
class ViewWanted(Message):
    """The user wants another screen.

    Attributes:
        folder: What the one before is about, None where that is not on disk.
        provider: What is to be highlighted there: a root's folder and a provider of it; None for nothing in particular.
    """

    view: View
    folder: Path | None
    provider: tuple[str, ProviderAddress] | None = None


@dataclass
class PreviewWanted(Message):
    """The user wants to see an operation as a plan before anything is written.

    Attributes:
        review: The one that the operation was requested on, whose base judges the plan.
    """

    source: LockLens
    operation: Operation
    review: Review | None
