"""Events of a review. They inform, and have no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from locklens.review.model import RootReview


class RootsKnown(Struct, frozen=True):
    """Some roots were updated with facts."""

    roots: tuple[RootReview, ...]


class Progress(Struct, frozen=True):
    """Progress: `done` of `total` roots' configurations, or changes traced to facts."""

    what: Literal["configuration", "evidence"]
    done: int
    total: int


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
