"""The rule about versions in several lock files: a version has one set of packages."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.hashes import packages_of
from locklens.review.context import LockedElsewhere, LockedPlace, Minority
from locklens.review.model import Change, ChangeKind, RootReview
from locklens.review.rules import Verdict
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import LockEntry, LockFile

    _Version = tuple[ProviderAddress, str]
    _Packages = frozenset[str]

MAX_SETS = 100
"""Compared sets of packages of one version. Beyond it, all sets count as different: no publisher has so many, and the
number of comparisons is quadratic."""

_PLACES_NAMED = 5


class LockedPackages:
    """The sets of packages (`zh`) that lock files of both sides have for each version, with their places."""

    def __init__(self, head: Iterable[LockFile], base: Iterable[LockFile] = ()) -> None:
        self._places: dict[_Version, dict[_Packages, list[LockedPlace]]] = {}
        self._contrary: dict[tuple[_Version, _Packages], tuple[_Packages, ...]] = {}
        """The sets that contradict a set, cached."""
        self._minorities: dict[_Version, Minority | None] = {}
        for locks, is_base in ((head, False), (base, True)):
            for lock in locks:
                self._enter(lock, is_base=is_base)

    def _enter(self, lock: LockFile, *, is_base: bool) -> None:
        for entry in lock.entries:
            if packages := packages_of(entry.hashes):
                of_version = self._places.setdefault(_version_of(entry), {})
                of_version.setdefault(packages, []).append(LockedPlace(lock.path, entry.line, is_base))

    def rivals(self, changes: Iterable[Change]) -> dict[ProviderAddress, tuple[LockedPlace, ...]]:
        """Return the first places that lock contradicting packages for the versions of changes, by provider.

        A superset or subset does not contradict: it is more or less complete. The base's own entry is left out: the
        rules about releases judge it.
        """
        found: dict[ProviderAddress, tuple[LockedPlace, ...]] = {}
        for change in changes:
            if change.new is None or change.kind is ChangeKind.UNCHANGED:
                continue
            if first := self.rivals_of(change.new, change.old):
                found[change.address] = first
        return found

    def rivals_of(self, entry: LockEntry, old: LockEntry | None = None) -> tuple[LockedPlace, ...]:
        """Return the first places that lock contradicting packages for the version of an entry."""
        return tuple(islice(self._against(entry, old), _PLACES_NAMED + 1))

    def minority_of(self, entry: LockEntry) -> Minority | None:
        """Return the lock files of the new side that contradict most others on the version of an entry.

        None where they are not fewer than half: then none is the odd one.
        """
        version = _version_of(entry)
        if version not in self._minorities:
            self._minorities[version] = self._minority(version)
        return self._minorities[version]

    def _minority(self, version: _Version) -> Minority | None:
        of_version = self._places.get(version, {})
        places = {packages: [one for one in found if not one.is_base] for packages, found in of_version.items()}
        if len(places) <= 1:
            return None
        usual = max(places, key=lambda packages: len(places[packages]))
        odd = [place for packages in self._contrary_to(version, usual) for place in places[packages]]
        total = sum(map(len, places.values()))
        return Minority(len(odd), total, tuple(odd[: _PLACES_NAMED + 1])) if 0 < len(odd) < total / 2 else None

    def _against(self, new: LockEntry, old: LockEntry | None) -> Iterator[LockedPlace]:
        version = _version_of(new)
        of_version = self._places.get(version, {})
        locked = packages_of(new.hashes) if len(of_version) > 1 else frozenset[str]()
        if not locked:
            return
        is_replaced = old is not None and _version_of(old) == version
        replaced = packages_of(old.hashes) if is_replaced and old is not None else None
        contrary = dict.fromkeys(self._contrary_to(version, locked))
        alike = (places for packages, places in of_version.items() if packages not in contrary)
        agreeing = {one.lock_file for places in alike for one in places if not one.is_base}
        mended = []
        for packages in contrary:
            for place in of_version[packages]:
                if place.is_base and packages == replaced:
                    break  # those of the base are the last
                if place.is_base and place.lock_file in agreeing:
                    mended.append(place)
                else:
                    yield place
        yield from (replace(one, agrees_now=True) for one in mended)

    def _contrary_to(self, version: _Version, locked: _Packages) -> Iterable[_Packages]:
        of_version = self._places[version]
        if len(of_version) > MAX_SETS:
            return (packages for packages in of_version if packages != locked)
        known = self._contrary.get((version, locked))
        if known is None:
            known = tuple(packages for packages in of_version if _contradict(locked, packages))
            self._contrary[version, locked] = known
        return known


class BaseEntries:
    """The entries that the base's lock files have of the providers that changes bring to a root."""

    def __init__(self, changes: Iterable[Change]) -> None:
        self._wanted = frozenset(change.address for change in changes if change.kind is ChangeKind.NEW_PROVIDER)
        self._found: dict[ProviderAddress, list[tuple[LockEntry, str]]] = {}

    def enter(self, locks: Iterable[LockFile], only: Container[str] | None = None) -> Iterator[LockFile]:
        """Enter lock files of the base, by their paths `only` some; and pass all on."""
        for lock in locks:
            if self._wanted and (only is None or lock.path in only):
                for address in self._wanted & lock.by_address.keys():
                    self._found.setdefault(address, []).append((lock.by_address[address], lock.path))
            yield lock

    def elsewhere(self, change: Change) -> LockedElsewhere | None:
        """Return what they have of a provider that is new in a root; None for nothing, and for another change."""
        if change.kind is not ChangeKind.NEW_PROVIDER or change.new is None or change.address not in self._found:
            return None
        found, version = self._found[change.address], change.new.version
        ordered = sorted(found, key=cmp_to_key(_by_version))
        hashes = {text for entry, _ in found if entry.version == version for text in entry.hashes}
        return LockedElsewhere(*ordered[0], *ordered[-1], frozenset(hashes))


def _by_version(one: tuple[LockEntry, str], other: tuple[LockEntry, str]) -> int:
    return one[0].version.compare(other[0].version)


def _version_of(entry: LockEntry) -> _Version:
    return entry.address, str(entry.version)


def _contradict(first: _Packages, second: _Packages) -> bool:
    return not (first <= second or second <= first)


def _disagreeing(change: Change, root: RootReview) -> Iterator[Verdict]:
    """Check for roots with other packages; of packages that are all verified, not those that are replaced by them.

    That a version was published again is said of the root that had others (LK001); roots that were moved or deleted
    have no finding of their own.
    """
    others = root.context.rivals.get(change.address, ())
    if change.new is not None and packages_of(change.new.hashes) <= {
        one.hash for one in change.locked if one.is_verified
    }:
        others = tuple(place for place in others if not place.agrees_now)
    if change.new is not None and others:
        names = [f"{place.lock_file}:{place.line}{' of the base' if place.is_base else ''}" for place in others]
        places = ", ".join(names[:_PLACES_NAMED]) + (" and elsewhere" if len(names) > _PLACES_NAMED else "")
        message = f"{change.address} {change.new.version} has different zh hashes in {places}"
        if (few := root.context.minorities.get(change.address)) is not None:
            folders = listing([place.lock_file.rpartition("/")[0] or "." for place in few.places], _PLACES_NAMED)
            message += f"; {few.number} of {counted(few.total, 'root')} differ{'s' * (few.number == 1)}: {folders}"
        yield Verdict(message, change.new.line)


CHECKS: Mapping[str, Callable[[Change, RootReview], Iterator[Verdict]]] = {"LK023": _disagreeing}
