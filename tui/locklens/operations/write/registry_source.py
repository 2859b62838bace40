"""The source through which plans reach registries: available versions, release dates, and lock entries.

It also tells the platforms of locked entries: by what is known about their release, or else by hashing some of its
packages.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from msgspec import Struct, field

from locklens.addresses import Platform, ProviderAddress
from locklens.errors import LockLensError
from locklens.hashes import hashes_of_files, hashes_of_zips
from locklens.install.context import FetchStarted, InstallContext, InstallEvent, PackageHashed
from locklens.install.fetching import admitted, hashed
from locklens.install.lock import Locker
from locklens.project.clifiles import this_platform
from locklens.releases import NetworkSettings, ReleaseFacts, ReleaseId
from locklens.releases.session import ReleaseLookup, ReleaseSession

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    from locklens.dialect import Dialect
    from locklens.lockfile import LockEntry
    from locklens.sources.metadata import ListedVersion
    from locklens.versions import Version


class EntryPlatforms(Struct, frozen=True):
    """The known platforms of an entry's `h1` hashes.

    Attributes:
        unknown: Number of its `h1` hashes of unknown platform.
    """

    platforms: tuple[Platform, ...]
    unknown: int = 0


class RegistryRun:
    """One command's session with registries; use it in a `with` statement.

    `hosts` may be asked besides those of the settings; None for all that are required.
    """

    def __init__(
        self, settings: NetworkSettings, hosts: frozenset[str] | None, cancel: threading.Event | None = None
    ) -> None:
        self._session = ReleaseSession(settings, hosts, cancel, is_installing=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.__exit__(kind, error, trace)

    @property
    def log(self) -> tuple[str, ...]:
        """The requests of the run, with their durations."""
        return self._session.log

    @property
    def notes(self) -> tuple[str, ...]:
        """The settings that cannot be used, in sentences: the run continues without them, as the tools do."""
        return self._session.notes


def _without_login(place: str) -> str:
    """Return a folder, or a URL without user and password."""
    parts = urlsplit(place)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl() if "@" in parts.netloc else place


class RegistrySource(RegistryRun):
    """The versions and hashes of one command; use it in a `with` statement. No request or download is repeated.

    The `methods` of the settings are used instead of registries. `hosts`, comparison form, may be asked besides those
    of the user's settings; None: all that the roots require, as the tools ask them. `on_event` is called from any
    thread, but never concurrently.
    """

    def __init__(
        self,
        settings: NetworkSettings,
        *,
        hosts: frozenset[str] | None = None,
        on_event: Callable[[InstallEvent], None] = lambda _: None,
        cancel: threading.Event | None = None,
    ) -> None:
        self._on_event = on_event
        self.is_of_mirrors = settings.methods is not None
        """True if versions and packages are those of given mirrors, which may lack some of a release."""
        places = [(one.kind.option, _without_login(one.place)) for one in settings.methods or ()]
        self.mirror_words = tuple(word for words in places for word in words)
        """The options of a command line that name these mirrors, to be recorded and shown."""
        super().__init__(settings, hosts, cancel)
        self._contexts: dict[str, InstallContext] = {}
        self._lockers: dict[str, Locker] = {}
        self._ages: dict[str, dict[ProviderAddress, Mapping[Version, int]]] = {}
        self._listed: dict[str, dict[ProviderAddress, Sequence[ListedVersion] | LockLensError]] = {}

    @property
    def here(self) -> Platform:
        """The platform of this machine."""
        return Platform.parse(this_platform())

    def listed(
        self, addresses: Sequence[ProviderAddress], tool: Dialect
    ) -> Mapping[ProviderAddress, Sequence[ListedVersion] | LockLensError]:
        """Return the available versions of each provider, or the error."""
        context, known = self._context(tool), self._listed.setdefault(tool.name, {})

        def ask(address: ProviderAddress) -> Sequence[ListedVersion] | LockLensError:
            try:
                return context.source(address).versions(address).versions
            except LockLensError as error:
                return error

        missing = [address for address in dict.fromkeys(addresses) if address not in known]
        known.update(zip(missing, context.map(ask, missing), strict=True))
        return {address: known[address] for address in addresses}

    def ages(
        self, addresses: Sequence[ProviderAddress], tool: Dialect
    ) -> Mapping[ProviderAddress, Mapping[Version, int]]:
        """Return the days since the release of each version of each provider; versions of unknown age are left out."""
        if self.is_of_mirrors:
            return {address: {} for address in addresses}  # A mirror has no dates, and registries may not be asked.
        lookup, known = ReleaseLookup(self._session), self._ages.setdefault(tool.name, {})
        missing = [address for address in dict.fromkeys(addresses) if address not in known]
        answers = self._context(tool).map(lambda address: lookup.ages(address, tool), missing)
        known.update(zip(missing, answers, strict=True))
        return {address: known[address] for address in addresses}

    def release(self, address: ProviderAddress, version: Version, tool: Dialect) -> ReleaseFacts | None:
        """Return who signs a version and what is signed; None if that is unknown."""
        return release_facts(self._context(tool), address, version)

    def releases(
        self, names: Iterable[tuple[ProviderAddress, Version]], tool: Dialect
    ) -> Mapping[tuple[ProviderAddress, Version], ReleaseFacts | None]:
        """Return the release of each version, as `release` does, concurrently."""
        wanted = list(dict.fromkeys(names))
        found = self._context(tool).map(lambda name: self.release(*name, tool), wanted)
        return dict(zip(wanted, found, strict=True))

    def coverage(self, entries: Sequence[LockEntry], tool: Dialect) -> Sequence[EntryPlatforms]:
        """Return the platforms of each entry; see `locklens.operations.write.registry_source`."""
        return entry_platforms(entries, self._context(tool), self.here)

    def locker(self, tool: Dialect) -> Locker:
        """Return what locks providers by a tool's rules: the same in the whole run."""
        if tool.name not in self._lockers:
            self._lockers[tool.name] = Locker(self._context(tool))
        return self._lockers[tool.name]

    def _context(self, tool: Dialect) -> InstallContext:
        if tool.name not in self._contexts:
            # Like `providers lock`, plans ask registries whatever provider_installation says.
            source = self._session.installation(tool, Path()) if self.is_of_mirrors else None
            self._contexts[tool.name] = InstallContext(self._session, tool, self._on_event, source=source)
        return self._contexts[tool.name]


_LIKELY = tuple(
    Platform.parse(name) for name in ("linux_amd64", "darwin_arm64", "linux_arm64", "windows_amd64", "darwin_amd64")
)
"""The platforms that most lock files are made for: their packages are hashed before others."""


class _Release(Struct):
    """One locked release, and what is known about its packages.

    Attributes:
        of_zh: The platform of each package, by `zh`; {} if unknown.
        of_h1: The platform of each known `h1`.
        tried: Platforms whose package was hashed here, or could not be.
    """

    address: ProviderAddress
    version: Version
    of_zh: dict[str, Platform] = field(default_factory=dict)
    of_h1: dict[str, Platform] = field(default_factory=dict)
    tried: set[Platform] = field(default_factory=set)


def entry_platforms(entries: Sequence[LockEntry], context: InstallContext, here: Platform) -> list[EntryPlatforms]:
    """Return the platforms of each entry.

    The registry's `zh` say which platforms an entry may cover, and which `h1` are known. Packages are downloaded and
    hashed only while an `h1` remains that no known package has, the likely platforms first.
    """
    releases: dict[tuple[ProviderAddress, Version], _Release] = {}
    for entry in entries:
        releases.setdefault((entry.address, entry.version), _Release(entry.address, entry.version))
    context.map(lambda release: _look_up(release, context, here), releases.values())
    by_entry = [(entry, releases[entry.address, entry.version]) for entry in entries]
    while works := _packages_to_hash(by_entry, here):
        context.map(lambda work: _hash(*work, context), works)
    return [_platforms(entry, release) for entry, release in by_entry]


def known_platforms(
    entry: LockEntry, of_zh: Mapping[str, Platform], of_h1: Mapping[str, Platform], here: Platform
) -> tuple[EntryPlatforms, tuple[Platform, ...]]:
    """Return the platforms of an entry before any download, and those whose packages are hashed first for the others.

    `of_zh` has the platform of each package of its release, `of_h1` that of each known `h1`.
    """
    release = _Release(entry.address, entry.version, dict(of_zh), dict(of_h1))
    works = _packages_to_hash([(entry, release)], here)
    return _platforms(entry, release), tuple(platform for _, platform in works)


def _look_up(release: _Release, context: InstallContext, here: Platform) -> None:
    try:
        platform = _some_platform(release.address, release.version, context, here)
        metadata, vouched = admitted(context, release.address, release.version, platform)
    except LockLensError:
        return
    listed = vouched.checksums.packages(release.address.type, str(release.version))
    release.of_zh = {zh: platform for platform, zhs in listed.items() for zh in zhs}
    for zh, of_files in context.session.cache.hashes(release.of_zh).items():
        release.of_h1 |= dict.fromkeys(of_files, release.of_zh[zh])
    release.of_h1 |= metadata.reported_h1s


def release_facts(context: InstallContext, address: ProviderAddress, version: Version) -> ReleaseFacts | None:
    """Return who signs a version and what is signed, by the release of one of its packages; None if that is unknown."""
    here = Platform.parse(this_platform())
    try:
        _, release = admitted(context, address, version, _some_platform(address, version, context, here))
    except LockLensError:
        return None  # Locking it reports the reason.
    name = ReleaseId(context.dialect.name, address, version)
    return ReleaseFacts(name, checksums=release.checksums, authentication=release.authentication)


def _some_platform(address: ProviderAddress, version: Version, context: InstallContext, here: Platform) -> Platform:
    """Return this machine's platform, or the first that the registry lists where it has no package for this one."""
    listed = context.source(address).versions(address).versions
    platforms = next((one.platforms for one in listed if one.version == version), ())
    return here if here in platforms or not platforms else platforms[0]


def _packages_to_hash(
    by_entry: Iterable[tuple[LockEntry, _Release]], here: Platform
) -> list[tuple[_Release, Platform]]:
    """Return the next packages to hash, as many of each release as it has unknown `h1`."""
    works: dict[tuple[ProviderAddress, Version, Platform], tuple[_Release, Platform]] = {}
    for entry, release in by_entry:
        unknown, candidates = _unknown(entry, release), _candidates(entry, release)
        if _zh_platforms(entry, release) is not None or _is_told_by_number(unknown, candidates, release):
            continue
        ordered = sorted(candidates, key=lambda platform: (platform != here, _rank(platform), str(platform)))
        for platform in ordered[: len(unknown)]:
            works[release.address, release.version, platform] = release, platform
    return list(works.values())


def _rank(platform: Platform) -> int:
    return _LIKELY.index(platform) if platform in _LIKELY else len(_LIKELY)


def _hash(release: _Release, platform: Platform, context: InstallContext) -> None:
    name = context.name(release.address)
    release.tried.add(platform)
    try:
        metadata, vouched = admitted(context, release.address, release.version, platform)
        context.emit(FetchStarted(name, release.version, platform))
        package = hashed(context, metadata, vouched).package
    except LockLensError:
        return
    signed = context.authenticator.words(vouched)
    context.emit(PackageHashed(name, release.version, platform, signed, was_remembered=False))
    for text in package.of_files:
        release.of_h1.setdefault(text, platform)


def _unknown(entry: LockEntry, release: _Release) -> frozenset[str]:
    return hashes_of_files(entry.hashes) - release.of_h1.keys()


def _candidates(entry: LockEntry, release: _Release) -> frozenset[Platform]:
    """Return the platforms that an unknown `h1` may be of: not hashed yet, and with a locked `zh` if there is any."""
    zhs = hashes_of_zips(entry.hashes)
    possible = frozenset(platform for zh, platform in release.of_zh.items() if not zhs or zh in zhs)
    return possible - frozenset(release.of_h1.values()) - release.tried


def _zh_platforms(entry: LockEntry, release: _Release) -> frozenset[Platform] | None:
    """Return the platforms of an entry that was made for some packages of its release; None for all or none of them."""
    zhs = hashes_of_zips(entry.hashes)
    locked = frozenset(platform for zh, platform in release.of_zh.items() if zh in zhs)
    is_part = locked and locked != frozenset(release.of_zh.values())
    return locked if is_part and len(hashes_of_files(entry.hashes)) <= len(locked) else None


def _is_told_by_number(unknown: frozenset[str], candidates: frozenset[Platform], release: _Release) -> bool:
    """True if there are as many unknown `h1` as packages; once some were hashed, the others are hashed too."""
    return bool(candidates) and len(unknown) >= len(candidates) and not release.tried


def _platforms(entry: LockEntry, release: _Release) -> EntryPlatforms:
    h1s = hashes_of_files(entry.hashes)
    known = frozenset(release.of_h1[h1] for h1 in h1s if h1 in release.of_h1)
    if (locked := _zh_platforms(entry, release)) is not None:
        return EntryPlatforms(tuple(sorted(locked | known)))
    unknown, candidates = _unknown(entry, release), _candidates(entry, release)
    if _is_told_by_number(unknown, candidates, release):
        return EntryPlatforms(tuple(sorted(known | candidates)), len(unknown) - len(candidates))
    return EntryPlatforms(tuple(sorted(known)), len(unknown))
