"""The rule about versions that several roots lock: one version has one set of packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.hashes import packages_of
from locklens.review.model import ChangeKind, LockedPlace
from locklens.review.rules.verdict import Verdict
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.lockfile.model import LockFile
    from locklens.review.model import Change, RootReview

    LockedPackages = Mapping[tuple[ProviderAddress, str], Mapping[frozenset[str], Sequence[LockedPlace]]]
    """The places that a set of packages (`zh`) is locked at, by provider and version."""


def locked_packages(locks: Iterable[LockFile]) -> LockedPackages:
    """Returns the packages that lock files have."""
    found: dict[tuple[ProviderAddress, str], dict[frozenset[str], list[LockedPlace]]] = {}
    for lock in locks:
        for entry in lock.entries:
            if packages := packages_of(entry.hashes):
                of_version = found.setdefault((entry.address, str(entry.version)), {})
                of_version.setdefault(packages, []).append(LockedPlace(lock.path, entry.line))
    return found


def rivals(changes: Iterable[Change], locked: LockedPackages) -> dict[ProviderAddress, tuple[LockedPlace, ...]]:
    """Returns where other packages are locked of the versions that changes bring, by provider.

    A set of packages that holds all of the other, or is in it, is no other: it is more or less complete.
    """
    found: dict[ProviderAddress, tuple[LockedPlace, ...]] = {}
    for change in changes:
        if change.new is None or change.kind is ChangeKind.UNCHANGED:
            continue
        of_version = locked.get((change.address, str(change.new.version)), {})
        own = packages_of(change.new.hashes) if len(of_version) > 1 else frozenset[str]()
        if own:
            others = (places for packages, places in of_version.items() if not (own <= packages or packages <= own))
            if places := tuple(place for those in others for place in those):
                found[change.address] = places
    return found


def _disagreeing(change: Change, root: RootReview) -> Iterator[Verdict]:
    if change.new is not None and (others := root.context.rivals.get(change.address, ())):
        places = listing([f"{other.lock_file}:{other.line}" for other in others])
        yield Verdict(f"{change.address} {change.new.version} has other zh hashes in {places}", change.new.line)


CHECKS: Mapping[str, Callable[[Change, RootReview], Iterator[Verdict]]] = {"LK023": _disagreeing}
