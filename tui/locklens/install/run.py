"""What the installers of one run share: registries, gpg, what is remembered of packages, and threads."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Self, TypeVar

from locklens.errors import SourceError
from locklens.install.authentication import ReleaseAuthenticator
from locklens.sources.asked import NotAsked
from locklens.sources.registries import Registries
from locklens.trust.authentication import Enforcement
from locklens.trust.signature import Verifier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType

    from locklens.addresses import Platform, ProviderAddress
    from locklens.dialect import Dialect
    from locklens.install.events import InstallEvent
    from locklens.project.cliconfig import CliConfig
    from locklens.sources.registry import Registry
    from locklens.storage.cache import Cache
    from locklens.versions import Version

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_PATIENCE = 0.6
"""Seconds that work which looks at whether the run was cancelled gets to end. What does not end by then, such as a gpg
that is busy with a hostile key or a disk that does not answer, is left behind, and ends with the process."""

INSTALL_WORKERS = 24
"""Providers and platforms that are worked on at the same time; the limit for one host is the client's."""


class InstallRun:
    """One run of one tool; use it in a `with` statement.

    Answers of earlier runs do not count, since the tools would ask: what was verified and hashed before does.

    Args:
        dialect: The tool.
        environ: Its settings.
        cache: What is remembered of verifications and packages.
        hosts: Registries that may be asked beside those of the user's settings, comparison form; None: all.
        on_event: Told of what happens, from any thread, but never from two at once.
        cancel: Set by another thread to stop.
    """

    def __init__(
        self,
        dialect: Dialect,
        environ: Mapping[str, str],
        cache: Cache,
        *,
        hosts: frozenset[str] | None = None,
        on_event: Callable[[InstallEvent], None] = lambda _: None,
        cancel: threading.Event | None = None,
    ) -> None:
        self.dialect = dialect
        self.cache = cache
        self.cancel = cancel or threading.Event()
        self._on_event = on_event
        self._telling = threading.Lock()
        self._asks_all = hosts is None
        self._registries = Registries(dialect, environ, base=hosts or (), is_installing=True, cancel=self.cancel)
        self._verifier = Verifier(memory=cache)
        self._pool = ThreadPoolExecutor(INSTALL_WORKERS, "locklens-install")
        self._beside = ThreadPoolExecutor(INSTALL_WORKERS, "locklens-judge")
        self.gatekeeper = ReleaseAuthenticator(dialect, self._verifier, Enforcement.of(environ))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._close()
            return
        self.cancel.set()
        closing = threading.Thread(target=self._close, name="locklens-end", daemon=True)
        closing.start()
        closing.join(_PATIENCE)

    def _close(self) -> None:
        """Waits until no work is left, drops what has not begun, and puts everything away."""
        pools = self._pool, self._beside
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for pool in pools:
            pool.shutdown(wait=True)
        self._registries.close()
        self._verifier.close()
        self.cache.flush()

    @property
    def config(self) -> CliConfig:
        """What the user has set for the tool."""
        return self._registries.config

    @property
    def log(self) -> tuple[str, ...]:
        """What was asked of whom, and how long it took."""
        return tuple(map(str, self._registries.log))

    def registry(self, address: ProviderAddress) -> Registry:
        """Returns a provider's registry.

        Raises:
            SourceError: It may not be asked.
        """
        if self._asks_all:
            return self._registries.registry(address.host)
        found = self._registries.of(address.host)
        if isinstance(found, NotAsked):
            raise SourceError(str(found), source=found.host, hint=found.hint)
        return found

    def name(self, address: ProviderAddress) -> str:
        """What the tool calls a provider."""
        return address.short(self.dialect.default_host)

    def tell(self, event: InstallEvent) -> None:
        """Hands an event on."""
        with self._telling:
            self._on_event(event)

    def all(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Does work for every item at the same time, and returns the results in order. Not for the work itself to call.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        return list(self._pool.map(work, items))

    def beside(self, work: Callable[[], _Result]) -> Future[_Result]:
        """Does work beside the caller's, who waits for it in the end; the work waits for nothing else of this."""
        return self._beside.submit(work)

    def ahead(self, address: ProviderAddress, version: Version | None, platform: Platform) -> None:
        """Asks for the package of the version that will be chosen, most likely; whoever needs the answer finds it."""
        if version is not None:
            self._pool.submit(lambda: self.registry(address).package(address, version, platform))
