"""What a review tells while it is made. Events inform, they never steer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from locklens.review.model import RootReview


class RootsKnown(Struct, frozen=True):
    """More is known of some roots."""

    roots: tuple[RootReview, ...]


class Progress(Struct, frozen=True):
    """How far it is: `done` of `total` roots' configurations, or changes traced to facts."""

    what: Literal["configuration", "evidence"]
    done: int
    total: int


class LookupProgress(Struct, frozen=True):
    """What was asked of whom, and how long it took: one line for each request."""

    log: tuple[str, ...]


class ProvingPlanned(Struct, frozen=True):
    """Packages are going to be downloaded.

    Attributes:
        hashes: How many `h1` are to be proven.
        likely: How many packages that should take.
        likely_bytes: Their size together, None where it is not known.
        at_most: How many packages it may take.
    """

    hashes: int
    likely: int
    likely_bytes: int | None
    at_most: int


class PackageDownloading(Struct, frozen=True):
    """A package is this far; `size` is None where nobody said it."""

    label: str
    received: int
    size: int | None


class PackageDone(Struct, frozen=True):
    """A package was hashed; `problem` says why not, where it was not."""

    label: str
    size: int
    problem: str = ""


ReviewEvent = RootsKnown | Progress | LookupProgress | ProvingPlanned | PackageDownloading | PackageDone
