"""The request for a review: the sides, the tool, the network settings; and the events that a review reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from locklens.operations.comparison import Base, Comparison, RootSettings
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from locklens.operations.doctor import DoctorRequest
    from locklens.releases import NetworkSettings
    from locklens.review.model import RootReview


Phase = Literal["lock files", "configuration", "evidence"]

_STEPS_TOLD = 200


class ReviewRequest(RootSettings, frozen=True):
    """A review to make, repeatable when a file changes.

    Attributes:
        open: Opens the comparison anew; raises LockLensError.
        fail_on: Lowest severity that sets the exit status of a report to 1; "never", or None for that of the policy.
        network: Network settings; None to ask no registry and use no cache.
        prove: The `h1` hashes to prove by downloads.
        policy: A file that replaces the base's policy.
        base: The named sides of the run. None where two files are compared: every screen compares those.
        folder: The folder that the comparison is opened in; None for the current folder.
        roots: Root folders to which every view of the run is restricted, absolute or relative to the current folder;
            () for all.
        diagnosed: The diagnosis that the Doctor screen opens with; None without one.
        is_survey: True if the subject is all that is locked: unchanged providers are judged like changed ones.
        is_demo: True for the sample repository, which the screens say.
    """

    open: Callable[[], Comparison]
    include_unchanged: bool = False
    fail_on: str | None = None
    network: NetworkSettings | None = None
    prove: Literal["none", "changed", "all"] = "none"
    policy: Path | None = None
    base: Base | None = None
    folder: Path | None = None
    roots: tuple[str, ...] = ()
    is_survey: bool = False
    diagnosed: DoctorRequest | None = None
    is_demo: bool = False


class RootsKnown(Struct, frozen=True):
    """Some roots were updated with facts."""

    roots: tuple[RootReview, ...]


class Progress(Struct, frozen=True):
    """Progress: `done` of `total` roots' lock files, of their configurations, or of the changes traced to facts.

    Of thousands of steps about two hundred are reported; see `is_told`.
    """

    what: Phase
    done: int
    total: int

    @property
    def words(self) -> str:
        """The progress as a clause, as commands and screens show it."""
        match self.what:
            case "evidence":
                return f"checking registries: {self.done} of {self.total} done"
            case "lock files" | "configuration" if not self.total:
                return "reading lock files"
            case "lock files":
                return f"reading lock files: {self.done} of {counted(self.total, 'root')}"
            case "configuration":
                return f"reading configurations: {self.done} of {counted(self.total, 'root')}"


def is_told(done: int, total: int) -> bool:
    """True for the steps of a count that are reported: all of a few, and the last."""
    return done == total or done % (total // _STEPS_TOLD + 1) == 0


class LookupProgress(Struct, frozen=True):
    """The requests with their durations, one line each."""

    log: tuple[str, ...]


class ProvingPlanned(Struct, frozen=True):
    """Packages are about to be downloaded.

    Attributes:
        hashes: Number of `h1` hashes to prove.
        likely: Expected number of packages.
        likely_bytes: Their total size, None where it is unknown.
        at_most: Largest possible number of packages.
        labels: The expected packages by name, version and platform.
    """

    hashes: int
    likely: int
    likely_bytes: int | None
    at_most: int
    labels: tuple[str, ...] = ()


class PackageDownloading(Struct, frozen=True):
    """Progress of a download in bytes; `size` is None where it is unknown."""

    label: str
    received: int
    size: int | None


class PackageDone(Struct, frozen=True):
    """A package was hashed; `problem` is the reason if it was not, else ""."""

    label: str
    size: int
    problem: str = ""


ReviewEvent = RootsKnown | Progress | LookupProgress | ProvingPlanned | PackageDownloading | PackageDone
