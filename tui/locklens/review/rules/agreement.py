"""The rule about versions that several lock files have: one version has one set of packages."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from locklens.hashes import packages_of
from locklens.review.model import ChangeKind, LockedPlace
from locklens.review.rules.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.lockfile.model import LockEntry, LockFile
    from locklens.review.model import Change, RootReview

    _Version = tuple[ProviderAddress, str]
    _Packages = frozenset[str]

MAX_SETS = 100
"""Sets of packages of one version that are compared. Of more, each counts as another than all the rest: no publisher
has so many, and each would have to be held against each."""

_PLACES_NAMED = 5


class LockedPackages:
    """Which sets of packages (`zh`) lock files have of each version, and where.

    Args:
        head: The lock files of the new side.
        base: Those of the old side, also of roots that are gone: they too say what a version is.
    """

    def __init__(self, head: Iterable[LockFile], base: Iterable[LockFile] = ()) -> None:
        self._places: dict[_Version, dict[_Packages, list[LockedPlace]]] = {}
        self._contrary: dict[tuple[_Version, _Packages], tuple[_Packages, ...]] = {}
        """What was found out of a set."""
        for locks, is_base in ((head, False), (base, True)):
            for lock in locks:
                self._enter(lock, is_base=is_base)

    def _enter(self, lock: LockFile, *, is_base: bool) -> None:
        for entry in lock.entries:
            if packages := packages_of(entry.hashes):
                of_version = self._places.setdefault(_version_of(entry), {})
                of_version.setdefault(packages, []).append(LockedPlace(lock.path, entry.line, is_base))

    def rivals(self, changes: Iterable[Change]) -> dict[ProviderAddress, tuple[LockedPlace, ...]]:
        """Returns where other packages are locked of the versions that changes bring, by provider: the first places.

        A set of packages that holds all of the other, or is in it, is no other: it is more or less complete. What the
        base has in the place of the entry itself is left out: what became of that, the rules about releases judge.
        """
        found: dict[ProviderAddress, tuple[LockedPlace, ...]] = {}
        for change in changes:
            if change.new is None or change.kind is ChangeKind.UNCHANGED:
                continue
            places = self._against(change.new, change.old)
            if first := tuple(islice(places, _PLACES_NAMED + 1)):
                found[change.address] = first
        return found

    def _against(self, new: LockEntry, old: LockEntry | None) -> Iterator[LockedPlace]:
        version = _version_of(new)
        of_version = self._places.get(version, {})
        own = packages_of(new.hashes) if len(of_version) > 1 else frozenset[str]()
        if not own:
            return
        is_replaced = old is not None and _version_of(old) == version
        replaced = packages_of(old.hashes) if is_replaced and old is not None else None
        for packages in self._contrary_to(version, own):
            for place in of_version[packages]:
                if place.is_base and packages == replaced:
                    break  # those of the base are the last
                yield place

    def _contrary_to(self, version: _Version, own: _Packages) -> Iterable[_Packages]:
        of_version = self._places[version]
        if len(of_version) > MAX_SETS:
            return (packages for packages in of_version if packages != own)
        known = self._contrary.get((version, own))
        if known is None:
            known = tuple(packages for packages in of_version if _contradict(own, packages))
            self._contrary[version, own] = known
        return known


def _version_of(entry: LockEntry) -> _Version:
    return entry.address, str(entry.version)


def _contradict(one: _Packages, other: _Packages) -> bool:
    return not (one <= other or other <= one)


def _disagreeing(change: Change, root: RootReview) -> Iterator[Verdict]:
    if change.new is not None and (others := root.context.rivals.get(change.address, ())):
        names = [f"{one.lock_file}:{one.line}{' of the base' if one.is_base else ''}" for one in others]
        places = ", ".join(names[:_PLACES_NAMED]) + (" and elsewhere" if len(names) > _PLACES_NAMED else "")
        yield Verdict(f"{change.address} {change.new.version} has other zh hashes in {places}", change.new.line)


CHECKS: Mapping[str, Callable[[Change, RootReview], Iterator[Verdict]]] = {"LK023": _disagreeing}
