"""The registries and mirrors of a run, put together from the user's settings: one client, one memory of answers.

Several sources act as one by the rules of `MultiSource` (internal/getproviders/multi_source.go): versions are those of
all sources together, a package is the first one's that has it, and only "does not have it" lets the next source answer.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

from locklens.dialect import TERRAFORM, Dialect
from locklens.errors import (
    ConfigurationError,
    LockLensError,
    NotFoundError,
    PlatformNotSupportedError,
    ProviderNotFoundError,
    UnavailableError,
)
from locklens.project.cliconfig import netrc_tokens, read_cli_config
from locklens.project.clifiles import find_helper, implied_folders
from locklens.project.installation import InstallationMethod, MethodKind, ProviderPattern
from locklens.sources.helpers import Helper
from locklens.sources.hosts import Access, Credentials, Discovery, NotAsked, asked_hosts
from locklens.sources.http import Exchange, Kinds, Transfer
from locklens.sources.http.client import Client, JoinedEvent
from locklens.sources.metadata import ListedVersion, PackageMetadata, RegistryVersions, ReleaseDates, SignedChecksums
from locklens.sources.mirrors import FilesystemMirror, NetworkMirror
from locklens.sources.registry import Registry
from locklens.sources.urls import url_for_log
from locklens.text import listing, shell_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

    from locklens.addresses import Platform, ProviderAddress
    from locklens.sources import Source
    from locklens.sources.oci import ConfiguredLogins
    from locklens.sources.oci_mirror import OciMirror
    from locklens.sources.oci_session import OciRegistries
    from locklens.storage.cache import Cache
    from locklens.versions import Version

    Mirror = FilesystemMirror | NetworkMirror | OciMirror

    _Build = tuple[ProviderAddress, Version, Platform]

_OCI_SECONDS = 60.0
"""The time limit of a request to an OCI registry; OpenTofu has no such limit."""


class Registries:
    """Hands out the registry of each host that may be asked. Any number of threads may use it."""

    def __init__(
        self,
        dialect: Dialect,
        environ: Mapping[str, str],
        *,
        base: Iterable[str] = (),
        given: Iterable[str] = (),
        asks_all: bool = False,
        memory: Cache | None = None,
        is_offline: bool = False,
        is_installing: bool = False,
        cancel: threading.Event | None = None,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        """Read the CLI configuration and the environment; send no request. Hosts are in comparison form.

        `base` are those of the base's lock files or policy, `given` those of the command line; with `asks_all` every
        host may be asked, as the tools do. To install, packages are fetched as the tool does: Terraform sends what
        `.netrc` has for a host. See `Client` for the rest.
        """
        config = read_cli_config(dialect, environ)
        program = find_helper(config.helper.name, dialect, environ) if config.helper else None
        helper = Helper(program, config.helper.arguments) if config.helper and program else None
        self._dialect = dialect
        self._credentials = Credentials(environ, config.credentials, helper)
        self.asked = asked_hosts(
            dialect, services=config.services, credentials=self._credentials.hosts, base=base, given=given
        )
        self.config = config
        self._asks_all = asks_all
        self._environ = environ
        self._client = partial(Client, environ, memory=memory, is_offline=is_offline, cancel=cancel, pause=pause)
        self._package_token = netrc_tokens(environ) if is_installing and dialect is TERRAFORM else lambda _: None
        self._lock = threading.Lock()
        self._opened: Access | None = None
        self._oci: OciRegistries | None = None
        self._logins: ConfiguredLogins | None = None
        self._oci_mirrors: dict[str, OciMirror] = {}
        self._folders: dict[str, FilesystemMirror] = {}

    def is_of(self, environ: Mapping[str, str]) -> bool:
        """True if these are the settings of an environment."""
        return self._environ == environ

    def load(self) -> None:
        """Load what speaks HTTP, before there is a request."""
        self._access().client.load()

    @property
    def problems(self) -> tuple[ConfigurationError, ...]:
        """What could not be used of the user's settings, so far."""
        return (*self.config.problems, *map(ConfigurationError, self._logins.problems if self._logins else ()))

    def of(self, host: str) -> Registry | NotAsked:
        """Return the registry of a host, in comparison form, or that the host is not asked."""
        verdict = None if self._asks_all else self.asked.judge(host)
        return verdict if isinstance(verdict, NotAsked) else self.registry(host)

    def registry(self, host: str, *, retries: int | None = None) -> Registry:
        """Return a host's registry, even for a host that nobody vouches for. The host is in comparison form.

        `retries` are attempts to download a package after the first; None stands for the usual number.
        """
        access = self._access()
        if retries is not None:
            access = replace(access, kinds=replace(access.kinds, package_retries=retries))
        return Registry(host, access)

    def installation(self, root: Path, methods: Sequence[InstallationMethod] | None = None) -> Source:
        """Return the source that the tool would install the providers of a root from.

        The methods are those of the command line; None for the CLI configuration's, or else for registries after the
        folders that the tool searches by default.

        Raises:
            ConfigurationError: The command line names OCI registries, which the tool does not install from.
        """
        is_of_command_line = methods is not None
        if methods is None and self.config.installation is not None:
            methods = self.config.installation.methods
        if methods is None:
            methods = self._implied(root)
        if any(method.kind is MethodKind.OCI for method in methods):
            from locklens.project.installation import require_oci

            require_oci(self._dialect)
            if is_of_command_line:
                self.oci().named_by = "the template of -oci-mirror"
        return SourceSelection([(method, self._source_of(method)) for method in methods])

    def mirrors(self, address: ProviderAddress) -> list[Mirror]:
        """Return the mirrors that the CLI configuration names for a provider, in its order.

        Folders that the tool searches by itself are none of them: the first is below the working directory.
        """
        methods = self.config.installation.methods if self.config.installation is not None else ()
        found = (self._mirror_of(method) for method in methods if method.accepts(address))
        return [mirror for mirror in found if mirror is not None]

    def _mirror_of(self, method: InstallationMethod) -> Mirror | None:
        """Return the mirror of a method; None for registries."""
        match method.kind:
            case MethodKind.FILESYSTEM:
                return self._folder(method.place)
            case MethodKind.NETWORK:
                return NetworkMirror(method, self._access())
            case MethodKind.OCI:
                from locklens.sources.oci_mirror import OciMirror

                made = OciMirror(method, self.oci(), None if self._asks_all else self.asked.judge)
                with self._lock:
                    return self._oci_mirrors.setdefault(method.place, made)
            case MethodKind.DIRECT:
                return None
            case _:
                assert_never(method.kind)

    def _implied(self, root: Path) -> list[InstallationMethod]:
        """Return the methods without a block: a provider of any of the folders is not installed from its registry."""
        local: list[InstallationMethod] = []
        found: set[ProviderAddress] = set()
        for folder in implied_folders(self._dialect, self._environ, root):
            with suppress(UnavailableError):  # The tools pass over what they cannot search.
                found |= self._folder(str(folder)).packages.keys()
                local.append(InstallationMethod(MethodKind.FILESYSTEM, str(folder)))
        own = tuple(ProviderPattern(address.host, address.namespace, address.type) for address in sorted(found))
        return [*local, InstallationMethod(MethodKind.DIRECT, exclude=own)]

    def _source_of(self, method: InstallationMethod) -> Callable[[ProviderAddress], Source]:
        """Return the function that finds the source of each provider under a method."""
        source = self._mirror_of(method)
        if source is None:
            return lambda address: self.registry(address.host, retries=method.retries)
        return lambda _: source

    def _folder(self, place: str) -> FilesystemMirror:
        with self._lock:
            return self._folders.setdefault(place, FilesystemMirror(Path(place).absolute(), place))

    def oci(self) -> OciRegistries:
        """Return the OCI registries, with the user's logins."""
        from locklens.sources.oci import ConfiguredLogins
        from locklens.sources.oci_session import OciRegistries

        access = self._access()
        with self._lock:
            if self._oci is None:
                seconds = max(_OCI_SECONDS, access.kinds.versions.seconds)
                self._logins = ConfiguredLogins(self.config.oci_credentials, self._environ)
                self._oci = OciRegistries(access.client, seconds, self._logins)
            return self._oci

    def _access(self) -> Access:
        """Make the client when it is first needed."""
        with self._lock:
            if self._opened is None:
                client = self._client()
                dialect, given, credentials = self._dialect, self.config.protocols, self._credentials
                kinds = Kinds.of(dialect, self._environ, seconds=given.seconds, retries=given.retries)
                discovery = Discovery(
                    client, kinds.discovery, dialect=dialect, given=self.config.services, credentials=credentials
                )
                self._opened = Access(client, kinds, dialect, credentials, discovery, self._package_token, self._advice)
            return self._opened

    def _advice(self, address: ProviderAddress) -> str:
        """Return how to read the mirrors that a provider is installed from; "" if it may be from its registry."""
        mirrors = self.config.installation.mirrors_alone(address) if self.config.installation is not None else ()
        if not mirrors:
            return ""
        places = [url_for_log(one.place) if one.kind is MethodKind.NETWORK else one.place for one in mirrors]
        option = f"`{mirrors[0].kind.option} {shell_word(places[0])}`"
        words = f"the CLI configuration installs this provider from {listing(places)} alone"
        name = address.short(self._dialect.default_host)
        return f"{words}: `lock {name}` and `upgrade {name}` read it with the option {option}"

    @property
    def log(self) -> tuple[Exchange, ...]:
        """The requests so far, with their times, and the cached answers used instead."""
        return tuple(self._opened.client.log) if self._opened else ()

    def forget(self) -> None:
        """Let everything be asked again, also what earlier runs were answered."""
        self._access().client.forget()
        with self._lock:
            self._oci_mirrors.clear()

    def close(self) -> None:
        """Close every connection."""
        if self._opened:
            self._opened.client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_AHEAD: dict[str, tuple[Registries, JoinedEvent]] = {}
"""Registries that are asked in this process already, by tool, until a run takes them over."""

_AHEAD_LOCK = threading.Lock()


def ask_ahead(
    dialect: Dialect,
    environ: Mapping[str, str],
    wanted: Mapping[ProviderAddress, Version | None],
    here: Platform | None = None,
) -> None:
    """Load what asks registries, begin to ask them for versions and packages to install, and return.

    Packages are asked for of wanted versions, if there is a platform.
    """
    cancel = JoinedEvent()
    environ = dict(environ)  # As it is now: the process may change it before a run takes the registries over.
    registries = Registries(dialect, environ, asks_all=True, is_installing=True, cancel=cancel)
    with _AHEAD_LOCK:
        unused = _AHEAD.get(dialect.name)
        _AHEAD[dialect.name] = registries, cancel
    if unused is not None:
        unused[1].set()
        unused[0].close()
    registries.load()

    def ask(host: str) -> None:
        registry = registries.registry(host)
        with suppress(LockLensError):  # The next caller gets the error.
            for address in (address for address in wanted if address.host == host):
                version = wanted[address]
                if here is not None and version is not None:
                    registry.begin_package(address, version, here)
                registry.begin_versions(address)

    for host in sorted({address.host for address in wanted}):  # Each may have to be asked first where its registry is.
        threading.Thread(target=ask, args=(host,), name="locklens-ahead", daemon=True).start()


def asked_ahead(dialect: Dialect, environ: Mapping[str, str], cancel: threading.Event) -> Registries | None:
    """Return the registries that were asked ahead for a run of a tool, once; None if there are none.

    The settings must be the same. The run's event ends the requests that were begun too.
    """
    with _AHEAD_LOCK:
        registries, event = _AHEAD.get(dialect.name, (None, None))
        if registries is None or event is None or not registries.is_of(environ):
            return None
        del _AHEAD[dialect.name]
    event.other = cancel
    return registries


class SourceSelection:
    """A source that is several others. Thread-safe.

    A route is a method, which says for which providers it is, with the function that finds a provider's source.
    """

    def __init__(self, routes: Sequence[tuple[InstallationMethod, Callable[[ProviderAddress], Source]]]) -> None:
        self._routes = tuple(routes)
        self._lock = threading.Lock()
        self._origins: dict[_Build, Source] = {}

    def versions(self, address: ProviderAddress, *, is_fresh: bool = False) -> RegistryVersions:
        """Return the versions of all matching sources; see `Source`."""
        if not self._routes:
            words = "no available releases match the given constraints: there is no place to install from"
            hint = "provider_installation in the CLI configuration needs a method that can be used, such as direct {}"
            raise UnavailableError(words, address=str(address), hint=hint)
        listed: dict[Version, ListedVersion] = {}
        warnings: list[str] = []
        moments: list[str] = []
        missing: NotFoundError | None = None
        for method, source in self._matching(address):
            try:
                found = source.versions(address, is_fresh=is_fresh)
            except NotFoundError as error:
                missing = error if method.kind is MethodKind.DIRECT else missing
                continue
            for one in found.versions:
                listed.setdefault(one.version, one)
            warnings += found.warnings
            moments += [found.as_of] if found.as_of else []
        if listed:
            return RegistryVersions(tuple(listed.values()), tuple(warnings), min(moments, default=""))
        if missing is not None:
            raise missing
        places = ", ".join(map(str, self._sources(address))) or "none of which is for this provider"
        words = f"provider {address} was not found in any of the search locations: {places}"
        hint = "check provider_installation in the CLI configuration"
        raise ProviderNotFoundError(words, address=str(address), hint=hint)

    def package(
        self, address: ProviderAddress, version: Version, platform: Platform, *, is_fresh: bool = False
    ) -> PackageMetadata:
        """Return a package of the first source that has it; see `Source`."""
        for source in self._sources(address):
            try:
                metadata = source.package(address, version, platform, is_fresh=is_fresh)
            except NotFoundError:
                continue
            with self._lock:
                self._origins[address, version, platform] = source
            return metadata
        words = f"provider {address} {version} does not have a package available for your current platform, {platform}"
        raise PlatformNotSupportedError(words, address=str(address))

    def begin_checksums(self, metadata: PackageMetadata, *, is_fresh: bool = False) -> None:
        """Start to fetch what `checksums` returns."""
        self._origin(metadata).begin_checksums(metadata, is_fresh=is_fresh)

    def checksums(self, metadata: PackageMetadata, *, is_fresh: bool = False) -> SignedChecksums | None:
        """Return the checksums that the package's source has; see `Source`."""
        return self._origin(metadata).checksums(metadata, is_fresh=is_fresh)

    def package_size(self, metadata: PackageMetadata) -> int | None:
        """Return the bytes of a package; see `Source`."""
        return self._origin(metadata).package_size(metadata)

    def open_package(self, metadata: PackageMetadata) -> AbstractContextManager[Transfer]:
        """Open a package at its source; see `Source`."""
        return self._origin(metadata).open_package(metadata)

    def release_dates(self, address: ProviderAddress) -> ReleaseDates:
        """Return the dates that the first source with any has."""
        found = (source.release_dates(address) for source in self._sources(address))
        return next((dates for dates in found if dates.moments), ReleaseDates())

    def _sources(self, address: ProviderAddress) -> list[Source]:
        return [source for _, source in self._matching(address)]

    def _matching(self, address: ProviderAddress) -> list[tuple[InstallationMethod, Source]]:
        return [(method, find(address)) for method, find in self._routes if method.accepts(address)]

    def _origin(self, metadata: PackageMetadata) -> Source:
        with self._lock:
            return self._origins[metadata.address, metadata.version, metadata.platform]
