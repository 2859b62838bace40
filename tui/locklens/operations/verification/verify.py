"""Verifies packages: hashes them now, each once and on all processors, and names the files that are not as signed."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import AddressError, Platform, ProviderAddress
from locklens.dialect import DIALECTS
from locklens.errors import LockLensError
from locklens.hashes import HashedPackage, is_known_scheme, packages_of
from locklens.install.context import InstallContext
from locklens.install.fetching import admitted, downloaded
from locklens.install.mirroring import read_stored_package
from locklens.machine import command_on
from locklens.operations.root_modules import Root, RootOptions, RootReader, require_folder, tracked_packages_of
from locklens.operations.verification import (
    EntryPackages,
    FileDifference,
    FileState,
    PackagePlace,
    PackageVerdict,
    PackageVerification,
    SearchedPlace,
    VerifiedPackage,
    Where,
    listed_package,
    mirror_name,
    packages_of_entry,
    prevailing,
    verdict_of,
    why_undecided,
)
from locklens.operations.verification.places import PlaceFinder, on_all_processors, same_packages
from locklens.operations.write.diagnostics import unreadable
from locklens.packages.installed import file_digests
from locklens.project.clifiles import this_platform
from locklens.project.tree import FileSystem, is_on_disk
from locklens.releases.session import ReleaseSession
from locklens.sources.http import moment
from locklens.sources.mirrors import MEND_MIRROR
from locklens.text import reason_of, shell_words

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import BinaryIO

    from locklens.dialect import Dialect
    from locklens.operations.review.request import ReviewRequest
    from locklens.packages.hashing import Passed
    from locklens.project.cliconfig import CliConfig
    from locklens.releases import NetworkSettings
    from locklens.review.model import Review
    from locklens.versions import Version

    _Build = tuple[ProviderAddress, Version, Platform]
    _Release = tuple[ProviderAddress, Version]


_ORDER = {where: place for place, where in enumerate(Where)}
_IN_MEMORY = 1 << 20


class _Contents(Struct, frozen=True):
    """The contents of a package: comparable hashes, those of the unpacked files, and the SHA-256 of each by name.

    Of a package that was downloaded, `listed` has the `zh` of all packages of its release.
    """

    hashes: frozenset[str]
    shown: str
    files: Mapping[bytes, str]
    listed: frozenset[str] = frozenset()


def verify(
    roots: Sequence[str],
    options: RootOptions,
    settings: NetworkSettings,
    *,
    only: Collection[tuple[str, ProviderAddress]] | None = None,
    downloads: bool = True,
    on_progress: Callable[[int, int], None] = lambda _, __: None,
    cancel: threading.Event | None = None,
) -> PackageVerification:
    """Verify the packages of roots, named by their folders; () for the current one.

    The settings name the registries to ask for signed packages to compare with: hosts that they vouch for. `only` are
    providers, each with the root that locks it; None for all. Without `downloads`, the files of a package that differs
    are named only where another place has the signed one. `on_progress` is called with the number of compared packages,
    and of all.

    Raises:
        ConfigurationError: There is no such folder.
        RunCancelledError: The run was cancelled.
    """
    reader, tree = RootReader(options, environ=options.environ), FileSystem(options.folder)
    read = [reader.read_folder(tree, require_folder(tree, name)) for name in dict.fromkeys(roots or [""])]
    failures = [one for root in read if root.lock.problems for one in unreadable(root, allows_missing=True)]
    with ReleaseSession(settings, (), cancel) as session:
        sound = [root for root in read if not root.lock.problems]
        verifying = _Verifying(session, sound, options, only, is_offline=settings.is_offline, downloads=downloads)
        packages, finder = verifying.run(on_progress), verifying.finder
        notes, searched = (*session.notes, *dict.fromkeys(finder.notes)), tuple(dict.fromkeys(finder.searched))
        tracked = tracked_packages_of(options.folder, [root.path for root in read])
        return PackageVerification(
            packages,
            tuple(one for one in failures if one.is_error),
            moment(),
            settings.is_offline,
            notes,
            session.log,
            searched,
            tracked,
        )


class _Locks:
    """The locked hashes of some roots: for each version the roots that lock it, each with its comparable hashes."""

    def __init__(self, roots: Sequence[Root]) -> None:
        self.roots = roots
        self.by_release: dict[_Release, list[tuple[Root, frozenset[str]]]] = {}
        for root in roots:
            for entry in root.lock.entries:
                hashes = frozenset(filter(is_known_scheme, entry.hashes))
                self.by_release.setdefault((entry.address, entry.version), []).append((root, hashes))


class _Work(Struct, frozen=True):
    """A package to compare, and the locked hashes of the roots that would install it from its place.

    They are of several tools where each has the place in its settings.
    """

    place: PackagePlace
    locks: tuple[_Locks, ...]

    @property
    def lockers(self) -> list[tuple[Root, frozenset[str]]]:
        """The roots that lock the version, each with its comparable hashes."""
        release = self.place.address, self.place.version
        return [one for locks in self.locks for one in locks.by_release.get(release, ())]

    @property
    def why_not_locked(self) -> str:
        """The reason for a version that is not locked, with the lock files that it was compared with."""
        read = [root.lock.path for locks in self.locks for root in locks.roots if root.lock.exists]
        if not read:
            return "no lock file was read"
        if len(read) == 1:
            return f"this version is not in {read[0]}"
        return f"this version is in none of the {len(read)} lock files that were read"


class _Verifying:
    def __init__(
        self,
        session: ReleaseSession,
        roots: list[Root],
        options: RootOptions,
        only: Collection[tuple[str, ProviderAddress]] | None,
        *,
        is_offline: bool,
        downloads: bool,
    ) -> None:
        self._session = session
        self._roots = roots
        self._only = only
        self._here = Platform.parse(this_platform())
        self._is_offline = is_offline
        self._downloads = downloads
        self._folder = options.folder
        self.finder = PlaceFinder(options, self._here)
        self._contexts = {name: InstallContext(session, tool) for name, tool in DIALECTS.items()}

    def _is_wanted(self, address: ProviderAddress, place: PackagePlace | None = None) -> bool:
        """True if packages of a provider are to be verified; with a place, those of its root."""
        return self._only is None or any(
            address == one and (place is None or place.root in {None, root}) for root, one in self._only
        )

    def run(self, on_progress: Callable[[int, int], None]) -> tuple[VerifiedPackage, ...]:
        """Verify all packages, concurrently."""
        works: dict[PackagePlace, _Work] = {}

        def add(places: Iterable[PackagePlace], locks: _Locks) -> None:
            for place in (place for place in places if self._is_wanted(place.address, place)):
                known = works[place].locks if place in works else ()
                works[place] = _Work(place, known if locks in known else (*known, locks))

        listed: list[VerifiedPackage] = []
        for root in self._roots:
            add(self.finder.installed(root), _Locks([root]))
        for name in {root.tool.name: None for root in self._roots}:
            same = [root for root in self._roots if root.tool.name == name]
            config, locks = self._session.registries(DIALECTS[name]).config, _Locks(same)
            for provider, folder in config.installation.dev_overrides if config.installation is not None else ():
                words = f"dev_overrides: {DIALECTS[name].command} runs {provider} from {folder}, which is not verified"
                self.finder.notes.append(words)
                with suppress(AddressError):
                    address = DIALECTS[name].parse_source(provider)
                    self.finder.searched.append(SearchedPlace(Where.INSTALLED, folder, None, words, address))
            listed += self._listed(config, name, locks)
            add(self.finder.shared(config, same), locks)
        packages = self._verified(list(works.values()), on_progress)
        wrong = [works[one.place] for one in packages if one.verdict is PackageVerdict.DIFFERS]
        builds = list({_build(work.place): work for work in wrong}.values())
        # One package of a build is enough for all of its places, such as a data folder and the plugin cache behind it.
        found = self._session.map(lambda work: self._signed(work, packages), builds)
        signed = dict(zip((_build(work.place) for work in builds), found, strict=True))
        compared = [
            self._compared(_refused(one, works[one.place].lockers), works[one.place], signed[_build(one.place)])
            if one.verdict is PackageVerdict.DIFFERS
            else one
            for one in packages
        ]
        return tuple(
            sorted((*compared, *listed), key=lambda one: (_ORDER[one.place.where], one.place.address, one.place.shown))
        )

    def _listed(self, config: CliConfig, tool: str, locks: _Locks) -> list[VerifiedPackage]:
        """Compare what mirrors on servers list of the locked versions, for this machine's platform."""
        methods = config.installation.methods if config.installation is not None else ()
        mirrors = [method for method in methods if method.kind.served]
        for one in mirrors:
            problem = f"{one.kind.served} are not asked offline" if self._is_offline else ""
            self.finder.searched.append(SearchedPlace(Where.MIRROR, mirror_name(one), problem=problem))
        if mirrors and self._is_offline:
            kinds = dict.fromkeys(one.kind.served for one in mirrors)
            self.finder.notes += [f"{words} are not verified offline" for words in kinds]
            return []
        registries = self._session.registries(DIALECTS[tool])
        works = [
            (build, method, registries.installation(Path(), [method]))
            for method in mirrors
            for build in locks.by_release
            if method.accepts(build[0]) and self._is_wanted(build[0])
        ]
        found = self._session.map(
            lambda work: listed_package(
                (*work[0], self._here), work[1], work[2], [hashes for _, hashes in locks.by_release[work[0]]]
            ),
            works,
        )
        pairs = zip(works, found, strict=True)
        return [_refused(package, locks.by_release[build]) for (build, *_), package in pairs if package is not None]

    def _verified(self, works: Sequence[_Work], on_progress: Callable[[int, int], None]) -> list[VerifiedPackage]:
        """Compare all packages; each is read once, however many links lead to it."""
        found: dict[int, VerifiedPackage] = {}
        groups = same_packages(work.place for work in works)

        def judge(group: list[int]) -> dict[int, VerifiedPackage]:
            contents = cache(lambda: self._contents(works[group[0]].place))
            return {number: self._judged(works[number], contents) for number in group}

        for judged in on_all_processors(judge, groups, self._session.cancel):
            found |= judged
            on_progress(len(found), len(works))
        return [found[number] for number in range(len(works))]

    def _judged(self, work: _Work, read: Callable[[], _Contents]) -> VerifiedPackage:
        """Compare one package with the hashes of every root that locks its version."""
        place, lockers = work.place, work.lockers
        if not lockers:
            return VerifiedPackage(place, PackageVerdict.UNLOCKED, reason=work.why_not_locked)
        if place.path is None or not is_on_disk(place.path, follows_links=True):
            return VerifiedPackage(place, PackageVerdict.MISSING, reason="it is locked, and not installed")
        try:
            contents = read()
        except LockLensError as error:
            return VerifiedPackage(place, PackageVerdict.UNREADABLE, reason=f"{error}; {_next_step(place, error.hint)}")
        except (OSError, ValueError) as error:
            words = f"it cannot be read: {reason_of(error)}; {_next_step(place)}"
            return VerifiedPackage(place, PackageVerdict.UNREADABLE, reason=words)
        verdict = prevailing(verdict_of(place, contents.hashes, hashes) for _, hashes in lockers)
        return VerifiedPackage(place, verdict, contents.shown, contents.hashes, reason=why_undecided(verdict))

    def _contents(self, place: PackagePlace) -> _Contents:
        cancel = self._session.cancel
        assert place.path is not None
        if not place.is_folder:
            return _of_zip(read_stored_package(place.path, cancel))
        digests = file_digests(place.path, cancel=cancel)
        hashes = HashedPackage.of_digests(digests).of_files
        return _Contents(hashes, " ".join(sorted(hashes)), dict(digests))

    def _signed(self, work: _Work, others: Iterable[VerifiedPackage]) -> _Contents | LockLensError | OSError | None:
        """Return the contents of the signed package: of another place where it is as locked, or downloaded."""
        good = (one.place for one in others if one.verdict is PackageVerdict.MATCHES and one.place.path is not None)
        spare = next((place for place in good if _build(place) == _build(work.place)), None)
        if spare is None and not self._downloads:
            return None
        try:
            return self._contents(spare) if spare is not None else self._downloaded(work.place, work.lockers[0][0].tool)
        except (LockLensError, OSError) as error:
            return error

    def _compared(
        self, package: VerifiedPackage, work: _Work, signed: _Contents | LockLensError | OSError | None
    ) -> VerifiedPackage:
        """Name the files of a package that are not as signed."""
        place = package.place
        if not isinstance(signed, _Contents):
            words = f"its files cannot be compared with the signed package: {signed}"
            if signed is None:
                # One root that refuses it is enough: each would have the same package downloaded.
                refusing = [root for root, _ in work.lockers if root.path == package.refusing]
                command = self._command(["verify"], refusing)
                words = f"its files were not compared with the signed package: `{command}` downloads it"
                words += ", and says whether this is the publisher's"
            # Only an installed package shows that this platform is locked.
            doubt = "; the locked hashes may be of other platforms only" if place.where is Where.MIRROR else ""
            return replace(package, reason=words + doubt)
        if all(signed.hashes.isdisjoint(hashes) for _, hashes in work.lockers):
            if not signed.hashes.isdisjoint(package.hashes):
                words = "it is the signed package, of which the lock file has no hash, so that `init` refuses it"
                return replace(package, reason=f"{words}{self._next_of_signed(work, signed)}")
            return replace(package, reason="the signed package of today is not as locked either")
        try:
            return replace(package, files=_differences(signed.files, self._contents(place).files))
        except (LockLensError, OSError, ValueError) as error:
            return replace(package, reason=f"its files cannot be read again: {error}")

    def _next_of_signed(self, work: _Work, signed: _Contents) -> str:
        """Return the next step for a signed package without a locked hash, a clause; "" where it is not known."""
        place, lockers = work.place, [root for root, _ in work.lockers]
        locked = [packages_of(root.lock.by_address[place.address].hashes) for root in lockers]
        if any(locked) and not signed.listed:
            return ""
        for root, packages in zip(lockers, locked, strict=True):
            if packages - signed.listed:
                return f"; {root.lock.path} has hashes that are not of this release, so that `lock` adds none"
        command = self._command(["lock", f"-platform={place.platform}", str(place.address)], lockers)
        return f"; `{command}` adds its hashes"

    def _command(self, words: Sequence[str], roots: Iterable[Root]) -> str:
        return shell_words(command_on(self._folder, *words, roots=sorted(root.path for root in roots)))

    def _downloaded(self, place: PackagePlace, tool: Dialect) -> _Contents:
        context = self._contexts[tool.name]
        metadata, release = admitted(context, place.address, place.version, place.platform)
        with tempfile.SpooledTemporaryFile(_IN_MEMORY, prefix="locklens-") as spool:
            found = _of_zip(downloaded(context, metadata, release, cast("BinaryIO", spool)))
            return replace(found, listed=release.hashes)


def _refused(package: VerifiedPackage, lockers: Iterable[tuple[Root, frozenset[str]]]) -> VerifiedPackage:
    """Return a package with the first root whose lock file refuses it, if any does."""
    if package.verdict is not PackageVerdict.DIFFERS:
        return package
    verdicts = ((root.path, verdict_of(package.place, package.hashes, hashes)) for root, hashes in lockers)
    return replace(package, refusing=next((root for root, verdict in verdicts if verdict is package.verdict), None))


def _next_step(place: PackagePlace, hint: str = "") -> str:
    """Return the next step where a package cannot be read."""
    if hint or place.where is Where.MIRROR:
        return hint or MEND_MIRROR
    return "remove it, and run `init` again"


def _build(place: PackagePlace) -> _Build:
    return place.address, place.version, place.platform


def _of_zip(package: Passed) -> _Contents:
    files = {name: digest.hex() for name, digest in package.digests.items()}
    hashes = HashedPackage.of_digests(files.items()).of_files
    return _Contents(package.archive_hashes | hashes, " ".join(sorted(hashes)), files)


def _differences(signed: Mapping[bytes, str], found: Mapping[bytes, str]) -> tuple[FileDifference, ...]:
    states = dict.fromkeys(found.keys() - signed.keys(), FileState.ADDED)
    states |= dict.fromkeys(signed.keys() - found.keys(), FileState.MISSING)
    states |= {name: FileState.CHANGED for name in signed.keys() & found.keys() if signed[name] != found[name]}
    return tuple(sorted(FileDifference(name.decode("utf-8", "replace"), state) for name, state in states.items()))


def verify_entries(
    review: Review,
    top: Path,
    chosen: Collection[tuple[str, ProviderAddress]],
    request: ReviewRequest,
    *,
    on_progress: Callable[[int, int], None],
    cancel: threading.Event | None,
) -> dict[tuple[str, ProviderAddress], EntryPackages]:
    """Return the packages of each entry, by lock file and provider; nothing is downloaded, and no registry is asked.

    The review is of the work tree, and `top` the folder of its relative paths. `on_progress` is called with the number
    of compared packages, and of all.
    """
    network = request.network
    if network is None:
        raise LockLensError("the CLI configuration is not known, so neither are the plugin cache and the mirrors")
    entries = {
        (root.lock_file, change.address): (root.path, change.new)
        for root in review.roots
        for change in root.changes
        if change.new is not None and (root.lock_file, change.address) in chosen
    }
    options = RootOptions(top, network.environ, tool=request.tool, test_directory=request.test_directory)
    only = {(path, address) for (_, address), (path, _) in entries.items()}
    roots = sorted({path for path, _ in only})
    network = replace(network, is_fresh=not network.is_offline)
    found = verify(roots, options, network, only=only, downloads=False, on_progress=on_progress, cancel=cancel)
    return {key: packages_of_entry(found, path, entry) for key, (path, entry) in entries.items()}
