"""The comparison of one package's hashes with one lock file entry: a pure judgement, the same for every front end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.hashes import hashes_of_files, hashes_of_zips, is_known_scheme
from locklens.operations.verification.model import FAILING, PackageVerdict, Where

if TYPE_CHECKING:
    from collections.abc import Collection

    from locklens.lockfile.model import LockEntry
    from locklens.operations.verification.model import (
        PackagePlace,
        PackageVerification,
        SearchedPlace,
        VerifiedPackage,
    )

NOT_COMPARABLE = "the lock file has no hash that can be compared with an unpacked package of this platform"

_UNCOMPARED = frozenset({PackageVerdict.MISSING, PackageVerdict.UNREADABLE})


class EntryPackages(Struct, frozen=True):
    """The packages of one entry of a lock file, and the places that were searched for them.

    Attributes:
        hashes: The locked hashes that the packages were compared with.
        packages: By place.
        searched: The places of the root and those of several roots.
        at: When they were compared, ISO 8601 in UTC.
    """

    hashes: tuple[str, ...]
    packages: tuple[VerifiedPackage, ...]
    searched: tuple[SearchedPlace, ...]
    at: str

    @property
    def failing(self) -> tuple[VerifiedPackage, ...]:
        """The packages that are not as locked."""
        return tuple(package for package in self.packages if package.verdict in FAILING)

    @property
    def worst(self) -> PackageVerdict | None:
        """The verdict that is most urgent; None without any package."""
        verdicts = {package.verdict for package in self.packages}
        return next((verdict for verdict in _BY_URGENCY if verdict in verdicts), None)


_BY_URGENCY = (
    PackageVerdict.DIFFERS,
    PackageVerdict.UNREADABLE,
    PackageVerdict.MISSING,
    PackageVerdict.MATCHES,
    PackageVerdict.UNLOCKED,
)


def verdict_of(place: PackagePlace, hashes: Collection[str], locked: Collection[str]) -> PackageVerdict:
    """Compare the hashes of a package with those of one entry.

    Args:
        place: The place of the package.
        hashes: The hashes of its contents, or those that a network mirror lists.
        locked: The entry's hashes.
    """
    if not frozenset(hashes).isdisjoint(locked):
        return PackageVerdict.MATCHES
    # Which platform a locked h1 is of is not written anywhere: only for an installed one it must be this one.
    is_known = place.where is not Where.MIRROR or not place.is_folder
    of_one_kind = hashes_of_files if place.is_folder else hashes_of_zips
    if is_known and of_one_kind(hashes) and of_one_kind(locked):
        return PackageVerdict.DIFFERS
    return PackageVerdict.UNLOCKED


def packages_of_entry(found: PackageVerification, root: str, entry: LockEntry) -> EntryPackages:
    """Return the packages of an entry, each compared with this entry alone.

    A package of several roots has one verdict in a report of all; beside an entry, only its own hashes count.

    Args:
        found: A verification of the root.
        root: The root's folder.
        entry: The entry of its lock file.
    """
    locked = frozenset(filter(is_known_scheme, entry.hashes))
    packages = tuple(
        _against(package, locked)
        for package in found.packages
        if (package.place.address, package.place.version) == (entry.address, entry.version)
        and package.place.root in {None, root}
    )
    searched = tuple(place for place in found.searched if place.root in {None, root})
    return EntryPackages(entry.hashes, packages, searched, found.at)


def _against(package: VerifiedPackage, locked: frozenset[str]) -> VerifiedPackage:
    if package.verdict in _UNCOMPARED:
        return package
    verdict = verdict_of(package.place, package.hashes, locked)
    if verdict is package.verdict:
        return package
    reason = NOT_COMPARABLE if verdict is PackageVerdict.UNLOCKED else ""
    return replace(package, verdict=verdict, reason=reason, files=())
