"""Looks into packages: kept facts first, then packages of this machine that are as locked, then downloads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import Platform
from locklens.errors import ConfigurationError, LockLensError, RunCancelledError, SourceError, TrustError
from locklens.hashes import hashes_of_zips, packages_of
from locklens.install.context import InstallContext
from locklens.install.fetching import admitted, inspected
from locklens.install.mirroring import read_stored_package
from locklens.operations.comparison import RootSettings
from locklens.operations.inspection import versions_to_inspect
from locklens.operations.review.inside import advisories_of_inspection
from locklens.operations.review.prove import download_pool, finished
from locklens.operations.review.request import ProvingPlanned
from locklens.operations.root_modules import RootOptions, RootReader
from locklens.operations.verification.places import PlaceFinder
from locklens.packages.inspecting import PackageInspector, inspect_folder, keep_facts, kept_facts
from locklens.project.clifiles import this_platform
from locklens.project.tree import FileSystem
from locklens.releases.session import ReleaseSession
from locklens.review.inspection import InspectedPackage, Inspection
from locklens.review.platform_agreement import platform_of
from locklens.sources.http import moment
from locklens.text import listing, reason_of

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from locklens.dialect import Dialect
    from locklens.install.context import InstallEvent
    from locklens.operations.inspection import InspectedVersion
    from locklens.operations.verification import PackagePlace
    from locklens.packages.inspecting import PackageFacts
    from locklens.releases import NetworkSettings
    from locklens.releases.authentication import AuthenticatedRelease
    from locklens.sources.metadata import PackageMetadata

KEPT = "the cache"
"""The source of facts that were kept when the package was read, in this run or an earlier one."""


class InspectionRequest(RootSettings, frozen=True):
    """What to look into.

    Attributes:
        provider: TYPE, NAMESPACE/TYPE or HOST/NAMESPACE/TYPE.
        old: A version or a revision; see `versions_to_inspect`.
        new: A version or a revision.
        roots: Folders of root modules, relative to `folder`; () for all of the repository.
        platforms: () for that of this machine, None for all that the registry lists.
        old_hashes: Those that lock `old` where it is a version; a package that is not among them is refused.
        new_hashes: The same of `new`.
        is_planned: True if a plan is to lock `new`, and nothing locks it so yet.
    """

    provider: str
    folder: Path
    old: str | None = None
    new: str | None = None
    roots: tuple[str, ...] = ()
    platforms: tuple[Platform, ...] | None = ()
    old_hashes: frozenset[str] = frozenset()
    new_hashes: frozenset[str] = frozenset()
    is_planned: bool = False


def inspect_files(paths: Sequence[Path]) -> Inspection:
    """Look into packages on the disk: zip files or unpacked folders, one, or an older and a newer one.

    Raises:
        ConfigurationError: There is no such file or folder.
    """
    packages = tuple((_of_path(path),) for path in paths)
    return _with_advisories(Inspection(packages, moment(), is_offline=True))


def _with_advisories(found: Inspection) -> Inspection:
    advisories, problem = advisories_of_inspection(found)
    return replace(found, advisories=advisories, notes=(*found.notes, *filter(None, [problem])))


def _of_path(path: Path) -> InspectedPackage:
    if not path.exists():
        raise ConfigurationError("no such file or folder", path=str(path))
    found = InspectedPackage(None, None, None, str(path))
    try:
        return replace(found, facts=_read(path, None))
    except LockLensError as error:
        return replace(found, problem=str(error))
    except (OSError, ValueError) as error:
        return replace(found, problem=f"it cannot be read: {reason_of(error)}")


def _read(path: Path, cancel: threading.Event | None) -> PackageFacts:
    """Look into a package on the disk.

    Raises PackageError for a file that the tools could not unpack, and ValueError for what is beyond a bound.
    """
    if path.is_dir():
        return inspect_folder(path, cancel=cancel)
    inspector = PackageInspector()
    return inspector.facts(read_stored_package(path, cancel, new=inspector.content))


def inspect_provider(
    request: InspectionRequest,
    settings: NetworkSettings,
    hosts: Iterable[str],
    *,
    confirm: Callable[[ProvingPlanned], bool] = lambda _: True,
    on_event: Callable[[InstallEvent], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> Inspection:
    """Look into packages of a provider, of one version or of two.

    The hosts are those that the base vouches for; see `ReleaseSession`. `confirm` is called before anything is
    downloaded, if anything is; False downloads nothing. `on_event` is called with the progress of downloads, from any
    thread, but never concurrently.

    Raises:
        ConfigurationError: The provider is invalid, ambiguous or not found.
        RepositoryError: There is no such revision, or git failed.
        RunCancelledError: The run was cancelled.
    """
    sides = versions_to_inspect(
        request.provider,
        request.old,
        request.new,
        folder=request.folder,
        roots=request.roots,
        tool=request.tool,
        hashes=(request.old_hashes, request.new_hashes),
        is_planned=request.is_planned,
    )
    with ReleaseSession(settings, hosts, cancel) as session:
        inspecting = _Inspecting(session, request, settings, on_event)
        platforms = inspecting.platforms(sides)
        wanted = [_Wanted(side, platform) for side in sides for platform in platforms]
        found = inspecting.run(wanted, confirm)
        packages = tuple(
            tuple(found[number * len(platforms) : (number + 1) * len(platforms)]) for number in range(len(sides))
        )
        notes = (*session.notes, *inspecting.notes)
        return _with_advisories(Inspection(packages, moment(), settings.is_offline, notes, session.log))


class _Wanted(Struct, frozen=True):
    """A package to look into."""

    of: InspectedVersion
    platform: Platform

    @property
    def label(self) -> str:
        return f"{self.of.address.type} {self.of.version} {self.platform}"

    def found(self, source: str, facts: PackageFacts | None = None, problem: str = "") -> InspectedPackage:
        of = self.of
        return InspectedPackage(of.address, of.version, self.platform, source, facts, problem, of.state)


class _Download(Struct, frozen=True):
    """A package to download, its size if that is known, and what an earlier run has kept of it without an advisory."""

    wanted: _Wanted
    metadata: PackageMetadata
    release: AuthenticatedRelease
    size: int | None
    kept: PackageFacts | None = None


class _Inspecting:
    def __init__(
        self,
        session: ReleaseSession,
        request: InspectionRequest,
        settings: NetworkSettings,
        on_event: Callable[[InstallEvent], None],
    ) -> None:
        self.notes: list[str] = []
        self._session = session
        self._request = request
        self._settings = settings
        self._on_event = on_event
        self._contexts: dict[str, InstallContext] = {}
        self._sides: Collection[InspectedVersion] = ()
        self._places: Mapping[tuple[object, ...], list[PackagePlace]] = {}
        self._names: dict[str, str] = {}

    def platforms(self, sides: Sequence[InspectedVersion]) -> tuple[Platform, ...]:
        """Return the platforms to look into, that of this machine first."""
        here = Platform.parse(this_platform())
        asked = self._request.platforms
        if asked is None:
            listed: set[Platform] = set()
            address = sides[-1].address
            try:
                offered = self._context(sides[-1].tool).source(address).versions(address).versions
                versions = {side.version for side in sides}
                listed = {platform for one in offered if one.version in versions for platform in one.platforms}
                if listed <= {here}:
                    other = f"no other platform than {here}" if listed else "no platform"
                    shown = listing(sorted(map(str, versions)))
                    self.notes.append(f"{address.host} lists {other} of {address} {shown}")
            except SourceError as error:
                self.notes.append(f"the platforms of {address} are not known: {error}")
            asked = tuple(sorted(listed)) or (here,)
        return tuple(sorted(asked or (here,), key=lambda platform: platform != here))

    def run(self, wanted: Sequence[_Wanted], confirm: Callable[[ProvingPlanned], bool]) -> list[InspectedPackage]:
        """Look into packages concurrently; the results are in their order."""
        for tool in dict.fromkeys(one.of.tool for one in wanted):
            self._context(tool)  # Made before threads ask for it.
        self._sides = {one.of for one in wanted}
        self._places = self._on_this_machine(wanted)
        looked = list(self._session.map(self._look, wanted))
        downloads = [one for one in looked if isinstance(one, _Download)]
        results = {download.wanted: self._instead(download, "it was not downloaded") for download in downloads}
        if downloads and confirm(_planned(downloads)):
            results |= self._downloaded(downloads)
        return [results[one.wanted] if isinstance(one, _Download) else one for one in looked]

    def _context(self, tool: Dialect) -> InstallContext:
        if tool.name not in self._contexts:
            self._contexts[tool.name] = InstallContext(self._session, tool, self._on_event)
        return self._contexts[tool.name]

    def _look(self, wanted: _Wanted) -> InspectedPackage | _Download:
        """Return what is known about a package or this machine; otherwise what to download."""
        of = wanted.of
        try:
            metadata, release = admitted(self._context(of.tool), of.address, of.version, wanted.platform)
            _check_locked(of, metadata)
        except LockLensError as error:
            if isinstance(error, RunCancelledError):
                raise
            return self._locked_before(wanted, str(error))
        kept = kept_facts(self._session.cache, metadata.zh) if metadata.zh else None
        if kept is not None and not kept.lacks_functions:
            return self._vouched(wanted, KEPT, release, kept)
        if (local := self._local(wanted, metadata.zh)) is not None:
            return local
        # What newer advisories name is worth no second download, but without any database nothing was kept for them.
        if kept is not None and (kept.is_for_advisories or self._settings.is_offline):
            return self._vouched(wanted, KEPT, release, kept)
        if self._settings.is_offline:
            return wanted.found("", problem="it is not on this machine, and is not downloaded offline")
        return _Download(wanted, metadata, release, self._size(of, metadata), kept)

    def _locked_before(self, wanted: _Wanted, problem: str) -> InspectedPackage:
        """Look into a package that the registry does not have: on this machine, or by what an earlier run kept."""
        for other in self._sides:
            if other.version != wanted.of.version and not packages_of(other.hashes).isdisjoint(wanted.of.hashes):
                # They are packages of one of both versions at most: nothing tells what is in the other.
                return wanted.found("", problem=f"{problem}; {wanted.of.by} packages are those of {other.version}")
        if (local := self._local(wanted, "")) is not None:
            return local
        locked = packages_of(wanted.of.hashes)
        for facts in filter(None, (kept_facts(self._session.cache, zh) for zh in sorted(locked))):
            if platform_of(facts) == wanted.platform:
                return wanted.found(f"{KEPT}, as {wanted.of.by}", self._sharing(facts))
        if locked:
            problem += f"; the {wanted.of.by} package is not on this machine, and was not inspected before"
        return wanted.found("", problem=problem)

    def _size(self, of: InspectedVersion, metadata: PackageMetadata) -> int | None:
        try:
            return self._context(of.tool).source(of.address).package_size(metadata)
        except SourceError:
            return None  # An error is reported by the download.

    def _local(self, wanted: _Wanted, zh: str) -> InspectedPackage | None:
        """Look into a package of this machine that is as locked, or as signed; its `zh` is "" if unknown."""
        of = wanted.of
        expected = set(of.hashes)
        known = self._session.cache.package(zh) if zh else None
        expected |= known.hashes if known is not None else {zh} if zh else set()
        for place in self._places.get((of.address, of.version, wanted.platform), ()):
            if place.path is None or (place.is_folder and not any(text.startswith("h1:") for text in expected)):
                continue
            try:
                facts = _read(place.path, self._session.cancel)
            except (LockLensError, OSError, ValueError) as error:
                if isinstance(error, RunCancelledError):
                    raise
                continue
            if expected.isdisjoint({facts.h1, facts.zh}):
                continue
            if known is not None and facts.h1 == known.h1:
                facts = replace(facts, zh=zh)
            keep_facts(self._session.cache, facts)
            return wanted.found(place.shown, self._sharing(facts))
        return None

    def _sharing(self, facts: PackageFacts) -> PackageFacts:
        """Return facts with the names of functions that the facts of other platforms have: most are the same."""
        program, names = facts.executable, self._names
        if program is None or program.functions is None:
            return facts
        functions = tuple(map(names.setdefault, program.functions, program.functions))
        return replace(facts, executable=replace(program, functions=functions))

    def _on_this_machine(self, wanted: Sequence[_Wanted]) -> dict[tuple[object, ...], list[PackagePlace]]:
        """Find the packages on this machine, by provider, version and platform."""
        request = self._request
        options = RootOptions(
            request.folder, self._settings.environ, tool=request.tool, test_directory=request.test_directory
        )
        finder = PlaceFinder(options, Platform.parse(this_platform()))
        tree = FileSystem(request.folder)
        reader = RootReader(request, environ=self._settings.environ)
        builds = {(one.of.address, one.of.version, one.platform) for one in wanted}
        found: dict[tuple[object, ...], list[PackagePlace]] = {}
        roots = [root for name in request.roots or (".",) if (root := reader.read(tree, tree.join("", name) or ""))]
        tools = dict.fromkeys(one.of.tool for one in wanted)
        places = [place for root in roots for place in finder.installed(root)]
        places += [place for tool in tools for place in finder.shared(self._session.registries(tool).config, roots)]
        for place in places:
            key = (place.address, place.version, place.platform)
            if key in builds and place.path is not None and os.path.exists(place.path):  # noqa: PTH110
                found.setdefault(key, []).append(place)
        return found

    def _downloaded(self, downloads: Sequence[_Download]) -> dict[_Wanted, InspectedPackage]:
        """Download packages, a few at a time, in their order."""
        results: dict[_Wanted, InspectedPackage] = {}
        with download_pool(self._session.cancel) as pool:
            working = {pool.submit(self._download, download): download.wanted for download in downloads}
            for done in finished(working, self._session.cancel, "inspecting"):
                results |= {working[future]: future.result() for future in done}
        return results

    def _instead(self, download: _Download, problem: str) -> InspectedPackage:
        """Return what is known about a package that is not downloaded."""
        if download.kept is not None:
            return self._vouched(download.wanted, KEPT, download.release, download.kept)
        return download.wanted.found("", problem=problem)

    def _download(self, download: _Download) -> InspectedPackage:
        wanted, release = download.wanted, download.release
        try:
            facts = inspected(self._context(wanted.of.tool), download.metadata, release)
        except LockLensError as error:
            if isinstance(error, RunCancelledError):
                raise
            return self._instead(download, str(error))
        return self._vouched(wanted, str(wanted.of.address.host), release, facts)

    def _vouched(
        self, wanted: _Wanted, place: str, release: AuthenticatedRelease, facts: PackageFacts
    ) -> InspectedPackage:
        """Return a package of the release, with where it was read and what vouches for it."""
        is_among = not wanted.of.hashes.isdisjoint({facts.h1, facts.zh or ""})
        if is_among and (wanted.of.by == "locked" or not release.signed):
            words = f"as {wanted.of.by}"
        else:
            words = f"signed by {release.signer}" if release.signed else "not signed"
        return wanted.found(f"{place}, {words}", self._sharing(facts))


def _check_locked(of: InspectedVersion, metadata: PackageMetadata) -> None:
    """Refuse another package than the locked one: what is inside says nothing of what is installed."""
    locked = hashes_of_zips(of.hashes)
    if locked and metadata.zh and metadata.zh not in locked:
        words = f"the package that {of.address.host} has today is not among the {of.by} ones"
        raise TrustError(words, hint="`locklens review` says more")


def _planned(downloads: Sequence[_Download]) -> ProvingPlanned:
    sizes = [download.size for download in downloads if download.size is not None]
    size = sum(sizes) if len(sizes) == len(downloads) else None
    labels = tuple(download.wanted.label for download in downloads)
    return ProvingPlanned(hashes=0, likely=len(downloads), likely_bytes=size, at_most=len(downloads), labels=labels)
