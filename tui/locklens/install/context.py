"""The context of one tool's installer: its session, rules and names of providers; requests, results and events.

Events inform, and have no effect.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, field

from locklens.diagnostics import Diagnostic, DiagnosticSeverity, NextStep
from locklens.dialect import OPENTOFU
from locklens.errors import LockLensError, ProviderNotFoundError, TrustError
from locklens.hashes import is_known_scheme
from locklens.install import PluginCache
from locklens.policy import Policy
from locklens.project.configuration import is_source_implied, source_places
from locklens.text import listing, shell_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from locklens.addresses import Platform, ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile import LockEntry
    from locklens.lockfile.update import Tracking
    from locklens.project.cliconfig import CliConfig
    from locklens.project.configuration import Requirement
    from locklens.releases.authentication import ReleaseAuthenticator
    from locklens.releases.session import ReleaseSession
    from locklens.sources import Source
    from locklens.versions import Version


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class ProviderRequirement(Struct, frozen=True):
    """A provider that a configuration requires.

    Attributes:
        first: The platform whose package is looked up first, None while that is unknown.
        twin: The entry of its name in the other tool's registry.
    """

    address: ProviderAddress
    requirements: tuple[Requirement, ...]
    prior: LockEntry | None
    first: Platform | None = None
    twin: LockEntry | None = None

    @property
    def locked(self) -> Version | None:
        """The version in the lock file."""
        return self.prior.version if self.prior is not None else None

    def locked_hashes(self, version: Version) -> frozenset[str]:
        """The locked hashes that the tools compare, if it is the locked version; empty otherwise."""
        prior = self.prior
        return frozenset(filter(is_known_scheme, prior.hashes)) if prior and prior.version == version else frozenset()

    def hint_after(self, error: LockLensError) -> str:
        """Return the edit of a source that helps where the registry lacks a provider; "" if none is known.

        It names a source that is only implied, or keeps the entry of Terraform's registry, where OpenTofu's lacks it.
        """
        if not isinstance(error, ProviderNotFoundError):
            return ""
        if is_source_implied(self.requirements):
            where = listing([f"{one.file}:{one.line}" for one in self.requirements], 3)
            words = "name the source of the provider there, in required_providers of the module"
            return f"{where} requires it, and no required_providers names its source: {words}"
        places = source_places(self.requirements)
        if error.source != OPENTOFU.default_host or self.twin is None or not places:
            return ""
        where = listing(list(map(str, places)), 3)
        return f'{self.twin.address} is locked: source = "{self.twin.address}" at {where} keeps it, with its hashes'

    @property
    def pinned(self) -> Version | None:
        """The version of an exact constraint; None if there is none, or several."""
        terms = [term for requirement in self.requirements for term in requirement.constraints.terms]
        versions = {term.version for term in terms if term.is_pin}
        return versions.pop() if len(versions) == 1 else None


class LockRequest(Struct, frozen=True):
    """A version of a provider to lock.

    Attributes:
        requirements: Those of the configuration, whose combined constraints the entry gets.
        accepts_republished: True if a locked package may be missing from the signed release.
        adds_reported: False to leave out what a registry reports of platforms that are not requested.
        policy: No version that it holds back is proposed in place of this one.
    """

    address: ProviderAddress
    version: Version
    platforms: tuple[Platform, ...]
    requirements: tuple[Requirement, ...]
    prior: LockEntry | None = None
    accepts_republished: bool = False
    adds_reported: bool = True
    policy: Policy = Policy()


class Settled(Struct, frozen=True):
    """The results for all providers of a run.

    Attributes:
        incomplete: Providers whose entry covers this platform only.
    """

    entries: Mapping[ProviderAddress, LockEntry] = field(default_factory=dict)
    failures: tuple[Diagnostic, ...] = ()
    incomplete: tuple[ProviderAddress, ...] = ()


class InstallContext:
    """The context of installing and locking by one tool's rules. Thread-safe.

    The session is one that is made for installing. `on_event` is called from any thread, but never concurrently.
    Without a source, providers come from the registries that the session asks.
    """

    def __init__(
        self,
        session: ReleaseSession,
        dialect: Dialect,
        on_event: Callable[[InstallEvent], None] = lambda _: None,
        *,
        source: Source | None = None,
    ) -> None:
        self.session = session
        self.dialect = dialect
        self.authenticator: ReleaseAuthenticator = session.authenticator(dialect)
        """Judges releases by the tool's rules."""
        self._on_event = on_event
        self._source = source
        self._events = threading.Lock()

    @property
    def plugin_cache(self) -> PluginCache | None:
        """The plugin cache of the user's settings, None if there is none."""
        return PluginCache.of(self.config)

    @property
    def config(self) -> CliConfig:
        """The user's settings of the tool."""
        return self.session.registries(self.dialect).config

    def source(self, address: ProviderAddress) -> Source:
        """Return a provider's source.

        Raises:
            SourceError: It may not be contacted.
        """
        return self._source or self.session.source(address, self.dialect)

    def name(self, address: ProviderAddress) -> str:
        """The tool's name of a provider."""
        return address.short(self.dialect.default_host)

    def emit(self, event: InstallEvent) -> None:
        """Emit an event."""
        with self._events:
            self._on_event(event)

    def failed(
        self, address: ProviderAddress, summary: str, words: str, hint: str = "", *, next_step: NextStep | None = None
    ) -> Diagnostic:
        """Emit the event of a provider that failed, and return its diagnostic."""
        name = self.name(address)
        self.emit(ProviderFailed(name, summary, words, hint))
        return Diagnostic(DiagnosticSeverity.ERROR, summary, words, name, hint=hint, next_step=next_step)

    def map(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Return the results of work that runs concurrently, in the items' order; see `ReleaseSession.map`.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        return list(self.session.map(work, items))

    def prefetch(self, address: ProviderAddress, version: Version | None, platform: Platform) -> None:
        """Request the package of the version that will most likely be selected, without waiting for the answer.

        The source sends no second request when that package is wanted.
        """
        if version is not None:
            self.session.pool.submit(lambda: self.source(address).package(address, version, platform))


class _Of(Struct, frozen=True):
    """An event about one provider.

    Attributes:
        provider: The tool's name of the provider: without its default host.
    """

    provider: str


class QueryStarted(_Of, frozen=True):
    """A version is being selected; `constraints` is "" where there are none."""

    constraints: str
    is_locked: bool


class RegistryWarned(_Of, frozen=True):
    """The registry's warnings about the provider, verbatim."""

    words: tuple[str, ...]


class AlreadyInstalled(_Of, frozen=True):
    """The package in the data folder has a locked hash, and is not fetched."""

    version: Version


class LinkedFromCache(_Of, frozen=True):
    """The plugin cache has the package, and the data folder has a link to it."""

    version: Version


class CacheBusy(_Of, frozen=True):
    """Another process is installing the package in the plugin cache, and is waited for."""

    version: Version


class FetchStarted(_Of, frozen=True):
    """A download begins; `platform` is None if the package is to be installed."""

    version: Version
    platform: Platform | None


class PackageArriving(_Of, frozen=True):
    """Progress of a download, in bytes; `size` is None if the server gives none."""

    version: Version
    platform: Platform
    received: int
    size: int | None


class PackageLeaving(_Of, frozen=True):
    """Progress of a push to a registry, in bytes."""

    version: Version
    platform: Platform
    sent: int
    size: int


class FolderDiffers(_Of, frozen=True):
    """A package's folder does not match the package, and is replaced next; `found` is "" where it cannot be read."""

    version: Version
    folder: str
    found: str


class ProviderInstalled(_Of, frozen=True):
    """A package was installed; `signed` is the tool's description of its signature."""

    version: Version
    signed: str
    size: int


class PackageHashed(_Of, frozen=True):
    """The hashes of a package for the lock file are known.

    Attributes:
        was_remembered: True if it was hashed in an earlier run.
        is_reported: True if it was not hashed: the registry reports its `h1`.
    """

    version: Version
    platform: Platform
    signed: str
    was_remembered: bool
    is_reported: bool = False


class PackageMirrored(_Of, frozen=True):
    """A package is in the mirror; `was_there` is True for one that was before."""

    version: Version
    platform: Platform
    signed: str
    was_there: bool


class ReleaseTagged(_Of, frozen=True):
    """All packages of a version are in a registry, and its tag names them.

    Attributes:
        place: The repository and the tag.
        digest: The digest of the index; "" in a dry run.
    """

    version: Version
    place: str
    digest: str


class HashesObtained(_Of, frozen=True):
    """The hashes of one platform, and whether they are new to the lock file."""

    platform: Platform
    tracking: Tracking


class ReleaseWarned(_Of, frozen=True):
    """A warning about a release.

    Attributes:
        words: A sentence without its full stop.
        rule: The rule of a review that finds the same, or "".
    """

    version: Version
    words: str
    rule: str = ""


class ProviderFailed(_Of, frozen=True):
    """A provider could not be installed or locked.

    Attributes:
        summary: The tool's title of such an error.
        words: A sentence without its full stop.
        hint: The next step, or "".
    """

    summary: str
    words: str
    hint: str


InstallEvent = (
    QueryStarted
    | RegistryWarned
    | AlreadyInstalled
    | LinkedFromCache
    | CacheBusy
    | FetchStarted
    | PackageArriving
    | PackageLeaving
    | FolderDiffers
    | ProviderInstalled
    | PackageHashed
    | PackageMirrored
    | ReleaseTagged
    | HashesObtained
    | ReleaseWarned
    | ProviderFailed
)


def hashes_command(root: str) -> str:
    """Return the command that compares the locked hashes of a root with the signed releases."""
    return _command("hashes", root)


def next_step(error: LockLensError, root: str = ".") -> str:
    """Return the hint of an error; for a checksum or a signature, with the command that tests a root's causes."""
    if not isinstance(error, TrustError):
        return error.hint
    words = f"`{_command('doctor', root)}` tests the causes"
    return f"{error.hint}; {words}" if error.hint else words


def _command(name: str, root: str) -> str:
    return f"locklens {name}" if root == "." else f"locklens {name} -- {shell_word(root)}"
