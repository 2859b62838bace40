"""Registry-backed provider source for plans: lists versions and computes lock entries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from locklens.addresses import Platform
from locklens.errors import LockLensError
from locklens.install.context import InstallContext
from locklens.install.fetching import admitted
from locklens.install.lock import Locker
from locklens.operations.write.old_platforms import entry_platforms
from locklens.project.clifiles import this_platform
from locklens.releases.facts import NetworkSettings, ReleaseFacts, ReleaseId
from locklens.releases.session import ReleaseLookup, ReleaseSession

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.install.context import InstallEvent
    from locklens.lockfile.model import LockEntry
    from locklens.operations.write.source import EntryPlatforms
    from locklens.project.installation import InstallationMethod
    from locklens.sources.metadata import ListedVersion
    from locklens.storage.cache import Cache
    from locklens.versions import Version


class RegistrySource:
    """A provider source for one command; use it in a `with` statement.

    Args:
        environ: The tools' settings.
        cache: Cached verifications and packages.
        hosts: Registries that may be asked beside those of the user's settings, comparison form; None: all that the
            roots require, as the tools ask them.
        methods: Where packages are from instead of registries, as `--fs-mirror` and `--net-mirror` say.
        reported_hashes: As of `NetworkSettings`.
        on_event: Called with events, from any thread, but never concurrently.
        cancel: Set by another thread to stop.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        cache: Cache,
        *,
        hosts: frozenset[str] | None = None,
        methods: tuple[InstallationMethod, ...] | None = None,
        reported_hashes: tuple[str, ...] | None = None,
        on_event: Callable[[InstallEvent], None] = lambda _: None,
        cancel: threading.Event | None = None,
    ) -> None:
        self._on_event = on_event
        self._has_methods = methods is not None
        settings = NetworkSettings(environ, cache, methods=methods, reported_hashes=reported_hashes)
        self._session = ReleaseSession(settings, hosts, cancel, is_installing=True)
        self._contexts: dict[str, InstallContext] = {}
        self._lockers: dict[str, Locker] = {}
        self._ages: dict[str, dict[ProviderAddress, Mapping[Version, int]]] = {}
        self._listed: dict[str, dict[ProviderAddress, Sequence[ListedVersion] | LockLensError]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.__exit__(kind, error, trace)

    @property
    def here(self) -> Platform:
        """The platform of this machine."""
        return Platform.parse(this_platform())

    @property
    def log(self) -> tuple[str, ...]:
        """The requests of the run, with their durations."""
        return self._session.log

    @property
    def notes(self) -> tuple[str, ...]:
        """What cannot be used of the user's settings, in sentences: the run goes on without it, as with the tools."""
        return self._session.notes

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
        if self._has_methods:
            return {address: {} for address in addresses}  # A mirror has no dates, and registries are not to be asked.
        lookup, known = ReleaseLookup(self._session), self._ages.setdefault(tool.name, {})
        missing = [address for address in dict.fromkeys(addresses) if address not in known]
        answers = self._context(tool).map(lambda address: lookup.ages(address, tool), missing)
        known.update(zip(missing, answers, strict=True))
        return {address: known[address] for address in addresses}

    def release(self, address: ProviderAddress, version: Version, tool: Dialect) -> ReleaseFacts | None:
        """Return who signs a version and what is signed; None if that is unknown."""
        context = self._context(tool)
        listed = self.listed((address,), tool)[address]
        platforms = (
            ()
            if isinstance(listed, LockLensError)
            else next((one.platforms for one in listed if one.version == version), ())
        )
        platform = self.here if self.here in platforms or not platforms else platforms[0]
        try:
            _, release = admitted(context, address, version, platform)
        except LockLensError:
            return None  # Locking it reports the reason.
        name = ReleaseId(tool.name, address, version)
        return ReleaseFacts(name, checksums=release.checksums, authentication=release.authentication)

    def coverage(self, entries: Sequence[LockEntry], tool: Dialect) -> Sequence[EntryPlatforms]:
        """Return the platforms of each entry; see `locklens.operations.write.old_platforms`."""
        return entry_platforms(entries, self._context(tool), self.here)

    def locker(self, tool: Dialect) -> Locker:
        """Return what locks providers by a tool's rules: the same in the whole run."""
        if tool.name not in self._lockers:
            self._lockers[tool.name] = Locker(self._context(tool))
        return self._lockers[tool.name]

    def _context(self, tool: Dialect) -> InstallContext:
        if tool.name not in self._contexts:
            # Like `providers lock`, plans ask registries whatever provider_installation says.
            source = self._session.installation(tool, Path()) if self._has_methods else None
            self._contexts[tool.name] = InstallContext(self._session, tool, self._on_event, source=source)
        return self._contexts[tool.name]
