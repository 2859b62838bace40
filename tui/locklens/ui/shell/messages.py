"""Messages from worker threads to the review loader, and from screens to the app.

Messages of a load carry its number, so that those of a replaced load are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.errors import LockLensError
    from locklens.operations.comparison import Base
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import Progress
    from locklens.operations.write.operation import Operation
    from locklens.project.folders import FileWatch
    from locklens.project.git.listings import Revision
    from locklens.review.model import Review, RootReview
    from locklens.ui.shell.examined import ExaminedProvider
    from locklens.ui.views import View


@dataclass
class ReviewDrafted(Message):
    """Comparison of the lock files, before configurations are read.

    Attributes:
        watch: The files that it depends on; None without any.
    """

    run: int
    review: Review
    top: Path | None
    repository: str
    marks: frozenset[str]
    watch: FileWatch | None


@dataclass
class RootsRead(Message):
    """Roots with more facts."""

    run: int
    roots: tuple[RootReview, ...]


@dataclass
class ProgressMade(Message):
    """Progress of the review."""

    run: int
    progress: Progress


@dataclass
class ReviewCompleted(Message):
    """The complete review, and the watch of the files that it depends on."""

    run: int
    review: Review
    watch: FileWatch | None


@dataclass
class ReviewFailed(Message):
    """The comparison could not be opened or finished."""

    run: int
    error: LockLensError


@dataclass
class FilesChanged(Message):
    """Watched files changed on disk since they were read."""

    run: int
    paths: tuple[str, ...]


@dataclass
class MarksNotKept(Message):
    """A notice of the store: a damaged file was set aside, or marks last for this run only."""

    notice: str


@dataclass
class ViewWanted(Message):
    """A request to show another screen.

    Attributes:
        folder: The folder under review; None if not on disk.
        provider: The row to highlight, as a root's folder and a provider; None for no particular row.
        examined: What Doctor is to examine; None for nothing.
    """

    view: View
    folder: Path | None
    provider: tuple[str, ProviderAddress] | None = None
    examined: ExaminedProvider | None = None


@dataclass
class RevisionsListed(Message):
    """The revisions that can be compared, or the error of listing them."""

    revisions: tuple[Revision, ...]
    error: LockLensError | None = None


@dataclass
class SidesWanted(Message):
    """A request to compare other sides, on all views.

    Attributes:
        folder: The folder under review; None if not on disk.
    """

    base: Base
    folder: Path | None


@dataclass
class PreferenceChanged(Message):
    """A preference that a key changed; see `locklens.storage.preferences.CHOICES`."""

    key: str
    value: str


@dataclass
class PreferenceNotSaved(Message):
    """The reason, as a sentence, why a preference lasts for this run only."""

    notice: str


@dataclass
class ViewShown(Message):
    """A view is on top again, or for the first time."""


@dataclass
class QuitWanted(Message):
    """A request to end the program."""


@dataclass
class PreviewWanted(Message):
    """A request to preview the plan of an operation.

    Attributes:
        review: The review on the screen; the policy of its base judges the plan.
    """

    source: LockLens
    operation: Operation
    review: Review | None
