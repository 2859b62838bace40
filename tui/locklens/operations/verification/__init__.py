"""`verify` as a use case: installed, cached and mirrored packages compared with the lock files.

Here are the values of a verification, the verdicts, and the report.

A verdict is on one package and one entry; the report is lines of text or the JSON document of schema 1. The judgement
is pure and the same for every front end. Mirrors on servers count by the hashes that they list: none of their packages
is downloaded.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import LockLensError, NotFoundError
from locklens.hashes import h1_in, hashes_of_files, hashes_of_zips, is_known_scheme
from locklens.project.installation import InstallationMethod, MethodKind
from locklens.review.reports.documents import PACKAGE_VERDICTS, ComparedPackage, Count, JsonStruct, PackageJson, RunJson
from locklens.sources.urls import url_for_log
from locklens.text import Printable, counted, page, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from locklens.addresses import Platform, ProviderAddress
    from locklens.diagnostics import Diagnostic
    from locklens.lockfile import LockEntry
    from locklens.sources import Source
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
    """No lock file has this version, or a hash for its platform."""
    MISSING = "missing"
    UNREADABLE = "unreadable"
    UNKNOWN = "unknown"
    """It is locked by hashes of another kind than those that are known for it: nothing can be said."""


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
        root: The folder of the root whose data folder it is in; None for a place that several roots share.
        is_here: True for a package of this machine's platform, which `init` would compare with the lock file.
    """

    address: ProviderAddress
    version: Version
    platform: Platform
    where: Where
    path: Path | None
    shown: str
    is_folder: bool
    root: str | None = None
    is_here: bool = False


class SearchedPlace(Struct, frozen=True):
    """A folder or a server that packages are, or could be, installed from.

    Attributes:
        shown: The path or URL.
        root: The same as in `PackagePlace`.
        problem: Why its packages were not compared, a clause; "" if they were.
        provider: The only provider that is installed from it; None for any.
    """

    where: Where
    shown: str
    root: str | None = None
    problem: str = ""
    provider: ProviderAddress | None = None


class VerifiedPackage(Struct, frozen=True):
    """A package, compared with the lock files.

    Attributes:
        shown_hashes: The hashes of its files; "" where none was computed.
        hashes: Those that can be compared with locked ones; for a package of a network mirror the listed ones.
        files: The differences from the signed package, if that could be fetched.
        reason: Reason for the verdict, or why the files could not be compared; "" without one.
        refusing: The folder of a root whose lock file refuses a package that differs; None for another verdict.
    """

    place: PackagePlace
    verdict: PackageVerdict
    shown_hashes: str = ""
    hashes: frozenset[str] = frozenset()
    files: tuple[FileDifference, ...] = ()
    reason: str = ""
    refusing: str | None = None


class PackageVerification(Struct, frozen=True):
    """The result of a run.

    Attributes:
        at: Its time, ISO 8601 in UTC.
        is_offline: True if the run was offline, so that no registry was asked.
        notes: The limits of the run, in sentences.
        log: The requests.
        searched: The places that were looked at, and those that were not.
        tracked: Sentences, each about packages that git tracks in a root; those are not copies of a release.
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

    @property
    def is_vacuous(self) -> bool:
        """True if no package could be compared, so that nothing is verified."""
        return all(package.verdict not in _COMPARED for package in self.packages)


_UNCOMPARED = frozenset({PackageVerdict.MISSING, PackageVerdict.UNREADABLE})


class EntryPackages(Struct, frozen=True):
    """The packages of one entry of a lock file, and the places that were searched for them.

    Attributes:
        hashes: The locked hashes that the packages were compared with.
        at: Time of the comparison, ISO 8601 in UTC.
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
    def is_vacuous(self) -> bool:
        """True if no package could be compared."""
        return all(package.verdict not in _COMPARED for package in self.packages)

    @property
    def worst(self) -> PackageVerdict | None:
        """The verdict that is most urgent; None without any package."""
        verdicts = {package.verdict for package in self.packages}
        return next((verdict for verdict in _BY_URGENCY if verdict in verdicts), None)


_BY_URGENCY = (
    PackageVerdict.DIFFERS,
    PackageVerdict.UNREADABLE,
    PackageVerdict.MISSING,
    PackageVerdict.UNKNOWN,
    PackageVerdict.MATCHES,
    PackageVerdict.UNLOCKED,
)


def verdict_of(place: PackagePlace, hashes: Collection[str], locked: Collection[str]) -> PackageVerdict:
    """Compare the hashes of a package, or those that a network mirror lists, with the locked ones of one entry."""
    if not frozenset(hashes).isdisjoint(locked):
        return PackageVerdict.MATCHES
    if place.path is None and place.where is Where.MIRROR and hashes_of_zips(locked) and not hashes_of_zips(hashes):
        return PackageVerdict.UNKNOWN  # The zip file behind a listed h1 may be one that is locked.
    # A lock file does not say which platform an h1 is for: that of another platform may simply not be locked.
    # For this one, both tools refuse a package without a locked hash (getproviders.PackageMatchesAnyHash).
    is_refused = place.where is not Where.MIRROR or place.is_here
    kinds = ((hashes_of_files, is_refused), (hashes_of_zips, not place.is_folder))
    if any(counts and select(hashes) and select(locked) for select, counts in kinds):
        return PackageVerdict.DIFFERS
    is_comparable = any(select(hashes) and select(locked) for select, _ in kinds)
    return PackageVerdict.UNKNOWN if locked and not is_comparable else PackageVerdict.UNLOCKED


def prevailing(verdicts: Iterable[PackageVerdict]) -> PackageVerdict:
    """Return the verdict of several entries of a version on one package, at least one: what is decided prevails."""
    return min(verdicts, key=_PREVAILING.index)


_PREVAILING = (PackageVerdict.DIFFERS, PackageVerdict.MATCHES, PackageVerdict.UNKNOWN, PackageVerdict.UNLOCKED)


def why_undecided(verdict: PackageVerdict) -> str:
    """Return the reason for a verdict of `verdict_of` that says nothing of the package; "" for any other."""
    words = "the lock file has no hash that can be compared with an unpacked package of this platform"
    return "" if verdict in _COMPARED else words


def packages_of_entry(found: PackageVerification, root: str, entry: LockEntry) -> EntryPackages:
    """Return the packages of an entry from a verification of its root, each compared with this entry alone.

    A package of several roots has one verdict in a report of all; beside an entry, only its own hashes count.
    """
    locked = frozenset(filter(is_known_scheme, entry.hashes))
    packages = tuple(
        _against(package, locked)
        for package in found.packages
        if (package.place.address, package.place.version) == (entry.address, entry.version)
        and package.place.root in {None, root}
    )
    searched = tuple(
        place for place in found.searched if place.root in {None, root} and place.provider in {None, entry.address}
    )
    return EntryPackages(entry.hashes, packages, searched, found.at)


def _against(package: VerifiedPackage, locked: frozenset[str]) -> VerifiedPackage:
    if package.verdict in _UNCOMPARED:
        return package
    verdict = verdict_of(package.place, package.hashes, locked)
    if verdict is package.verdict:
        return package
    return replace(package, verdict=verdict, reason=why_undecided(verdict), files=())


def mirror_name(method: InstallationMethod) -> str:
    """Return a mirror on a server as its users know it: by its URL, or the template of its repositories."""
    match method.kind:
        case MethodKind.NETWORK:
            return url_for_log(method.place)
        case MethodKind.OCI | MethodKind.FILESYSTEM | MethodKind.DIRECT:
            return method.place
        case _:
            assert_never(method.kind)


def listed_package(
    build: tuple[ProviderAddress, Version, Platform],
    method: InstallationMethod,
    source: Source,
    groups: Sequence[frozenset[str]],
) -> VerifiedPackage | None:
    """Compare the hashes that a mirror lists for a package with locked ones; None where the mirror does not have it.

    The package is of this machine's platform; the groups are the locked hashes of each root.
    """
    address, version, platform = build
    shown_place = f"{mirror_name(method)} {address}"
    place = PackagePlace(*build, Where.MIRROR, None, shown_place, is_folder=False, is_here=True)
    try:
        if all(one.version != version for one in source.versions(address).versions):
            return None
        found = frozenset(filter(is_known_scheme, source.package(address, version, platform).hashes))
    except NotFoundError:
        return None
    except LockLensError as error:
        return VerifiedPackage(place, PackageVerdict.UNREADABLE, reason=error.sentence)
    shown = min(hashes_of_files(found), default="")
    verdict = prevailing(verdict_of(place, found, group) for group in groups)
    words = f"the mirror lists no hash for {platform} that can be compared with the lock file"
    if hashes_of_files(found) and any(map(hashes_of_files, groups)):
        words = f"no h1 that the mirror lists for {platform} is locked; the package itself may be, by its zh"
    decided = {
        PackageVerdict.DIFFERS: "no hash that the mirror lists is locked",
        PackageVerdict.MATCHES: "the mirror lists a locked hash; the package itself was not read",
    }
    return VerifiedPackage(place, verdict, shown, found, reason=decided.get(verdict, words))


NOT_COMPARED = "not-compared"
"""The verdict on a place whose packages were not looked at."""


class VerifySummaryJson(JsonStruct, frozen=True):
    """The number of packages of each verdict."""

    matches: Count
    differs: Count
    unlocked: Count
    missing: Count
    unreadable: Count
    unknown: Count


class VerifyDocument(JsonStruct, frozen=True, tag_field="schema", tag=1):
    """The packages of this machine, compared with lock files; failures are roots that could not be read."""

    run: RunJson
    packages: list[ComparedPackage]
    failures: list[str]
    summary: VerifySummaryJson

    @classmethod
    def of(cls, found: PackageVerification) -> VerifyDocument:
        """Return the document of a verification."""
        return cls(
            run=RunJson.without_policy(at=found.at, offline=found.is_offline, notes=(*found.tracked, *found.notes)),
            packages=[_package(package) for package in found.packages],
            failures=[failure.sentence for failure in found.failures],
            summary=VerifySummaryJson(**{verdict.value: count for verdict, count in _counts(found).items()}),
        )


def _package(package: VerifiedPackage) -> PackageJson:
    place = package.place
    return PackageJson.like(
        place,
        provider=place.address,
        path=place.shown,
        h1=h1_in(package.shown_hashes.split()),
        verdict=package.verdict,
        reason=package.reason or None,
        files=package.files,
    )


def package_documents(
    known: Mapping[tuple[str, ProviderAddress], EntryPackages],
) -> dict[tuple[str, ProviderAddress], list[PackageJson]]:
    """Return the packages of each entry, and the places that were not looked at, for the reports of `hashes`."""
    return {
        named: [
            *map(_package, found.packages),
            *(
                PackageJson(where=place.where.value, path=place.shown, verdict=NOT_COMPARED, reason=place.problem)
                for place in found.searched
                if place.problem
            ),
        ]
        for named, found in known.items()
    }


def _counts(found: PackageVerification) -> dict[PackageVerdict, int]:
    counts = Counter(package.verdict for package in found.packages)
    return {verdict: counts[verdict] for verdict in PackageVerdict}


def verification_text(found: PackageVerification, *, lists_all: bool) -> Printable:
    """Return the packages that are not as locked, or all of them, and a summary."""
    lines = []
    for package in found.packages:
        if lists_all or package.verdict in FAILING or package.verdict is PackageVerdict.UNKNOWN:
            place = package.place
            name = f"{place.address} {place.version} {place.platform}"
            lines.append(f"{package.verdict:10}  {place.where:12}  {visible(name)}  {visible(place.shown)}")
            lines += [f"            {visible(package.reason)}"] if package.reason else []
            if package.verdict is PackageVerdict.DIFFERS and package.shown_hashes:
                lines.append(f"            {package.shown_hashes} is not locked")
            lines += [f"            {one.state:8}  {visible(one.name)}" for one in package.files]
    counts = _counts(found)
    said = {PackageVerdict(word): f"{counts[PackageVerdict(word)]} {words}" for word, words in PACKAGE_VERDICTS.items()}
    compared = [verdict for verdict in _COMPARED if counts[verdict]]
    total = counted(sum(counts[verdict] for verdict in compared), "package")
    parts = ", ".join(said[verdict] for verdict in compared)
    if listed := sum(one.place.path is None and one.verdict in compared for one in found.packages):
        parts += f" ({listed} by the hashes that a mirror lists, without reading the package)"
    rest = [words for verdict, words in said.items() if counts[verdict] and verdict not in _COMPARED]
    lines.append("; ".join([f"{total} compared: {parts}" if compared else "no package was compared", *rest]))
    return page(lines)


_COMPARED = (PackageVerdict.MATCHES, PackageVerdict.DIFFERS)
