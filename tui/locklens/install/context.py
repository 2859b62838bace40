"""The context of one tool's installer: a session, the tool's rules and names of providers, and events."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from locklens.install.plugin_cache import PluginCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from locklens.addresses import Platform, ProviderAddress
    from locklens.dialect import Dialect
    from locklens.install.events import InstallEvent
    from locklens.project.cliconfig import CliConfig
    from locklens.releases.authentication import ReleaseAuthenticator
    from locklens.releases.session import ReleaseSession
    from locklens.sources.source import Source
    from locklens.versions import Version

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class InstallContext:
    """The context of installing and locking by one tool's rules. Thread-safe.

    Args:
        session: Connections, verifier and threads; one that is made for installing.
        dialect: The tool.
        on_event: Called with events, from any thread, but never concurrently.
        source: The source of every provider; None for the registries that the session asks.
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
        """The plugin cache of the user's settings, None where there is none."""
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

    def tell(self, event: InstallEvent) -> None:
        """Emit an event."""
        with self._events:
            self._on_event(event)

    def map(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Return the results of work that runs concurrently, in the items' order; as of `ReleaseSession.map`.

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
