"""Packages on this machine, and how they compare with lock files, as values."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.addresses import Platform, ProviderAddress
    from locklens.diagnostics import Diagnostic
    from locklens.versions import Version


class Where(StrEnum):
    """The kinds of places that packages are in."""

    INSTALLED = "installed"
    PLUGIN_CACHE = "plugin-cache"
    MIRROR = "mirror"


class PackageVerdict(StrEnum):
    """The comparison of a package with the lock files."""

    MATCHES = "matches"
    DIFFERS = "differs"
    UNLOCKED = "unlocked"
    """No lock file has a hash that could be compared with it."""
    MISSING = "missing"
    UNREADABLE = "unreadable"


FAILING = frozenset({PackageVerdict.DIFFERS, PackageVerdict.MISSING, PackageVerdict.UNREADABLE})


class FileState(StrEnum):
    """The state of a file, compared with the signed package."""

    ADDED = "added"
    MISSING = "missing"
    CHANGED = "changed"


class FileDifference(Struct, frozen=True, order=True):
    """A file that is not as the publisher signed it; `name` is slash-separated."""

    name: str
    state: FileState


class PackagePlace(Struct, frozen=True):
    """A place where a package is, or should be.

    Attributes:
        path: A folder, or a zip file; None for a package of a network mirror.
        shown: The path as the user would name it.
        is_folder: True for an unpacked package.
        root: The folder of the root whose data folder it is in; None for a place of several roots.
    """

    address: ProviderAddress
    version: Version
    platform: Platform
    where: Where
    path: Path | None
    shown: str
    is_folder: bool
    root: str | None = None


class SearchedPlace(Struct, frozen=True):
    """A folder or a server that packages are, or could be, installed from.

    Attributes:
        shown: The path or URL.
        root: As of `PackagePlace`.
        problem: Why its packages were not compared, a clause; "" if they were.
    """

    where: Where
    shown: str
    root: str | None = None
    problem: str = ""


class VerifiedPackage(Struct, frozen=True):
    """A package, compared with the lock files.

    Attributes:
        shown: The hashes of its files; "" where none was computed.
        hashes: Those that can be compared with locked ones; for a package of a network mirror the listed ones.
        files: What differs from the signed package, as far as that could be had.
        reason: Of the verdict, or why the files could not be compared; "" for none.
    """

    place: PackagePlace
    verdict: PackageVerdict
    shown: str = ""
    hashes: frozenset[str] = frozenset()
    files: tuple[FileDifference, ...] = ()
    reason: str = ""


class PackageVerification(Struct, frozen=True):
    """The result of a run.

    Attributes:
        packages: By place and provider.
        failures: Roots that could not be read.
        at: When it was made, ISO 8601 in UTC.
        is_offline: True if no registry was to be asked.
        notes: The limits of the run, in sentences.
        log: The requests.
        searched: The places that were looked at, and those that were not.
        tracked: Sentences about packages that git tracks in the roots: those are no copies of a release.
    """

    packages: tuple[VerifiedPackage, ...]
    failures: tuple[Diagnostic, ...]
    at: str
    is_offline: bool
    notes: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    searched: tuple[SearchedPlace, ...] = ()
    tracked: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        """True if a package is not as locked, or a root could not be read."""
        return bool(self.failures) or any(package.verdict in FAILING for package in self.packages)
