"""The registries of a run, put together from the user's settings: one client, one discovery, one memory of answers."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from locklens.dialect import TERRAFORM
from locklens.project.cliconfig import read_cli_config
from locklens.project.clifiles import find_helper
from locklens.project.netrcfile import netrc_tokens
from locklens.sources.asked import NotAsked, asked_hosts
from locklens.sources.credentials import Credentials, Helper
from locklens.sources.discovery import Discovery
from locklens.sources.http import Kinds, open_client
from locklens.sources.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType
    from typing import Self

    from locklens.dialect import Dialect
    from locklens.errors import ConfigurationError
    from locklens.sources.http import Exchange
    from locklens.sources.http.client import Client
    from locklens.sources.http.memory import AnswerCache


class Registries:
    """Hands out the registry of each host that may be asked. Any number of threads may use it."""

    def __init__(
        self,
        dialect: Dialect,
        environ: Mapping[str, str],
        *,
        base: Iterable[str] = (),
        given: Iterable[str] = (),
        memory: AnswerCache | None = None,
        is_offline: bool = False,
        is_installing: bool = False,
        cancel: threading.Event | None = None,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        """Read the CLI configuration and the environment; send no request. Hosts are in comparison form.

        Args:
            dialect: The running tool.
            environ: Tokens, proxies, certificates and the place of the CLI configuration.
            base: Hosts that the base's lock files or policy name.
            given: Hosts of the command line.
            memory: What earlier runs were answered; None to remember nothing.
            is_installing: True if packages are got as the tool gets them: Terraform with what `.netrc` has for a host.
            is_offline: No request is sent: cached answers count, and all else is an OfflineError.
            cancel: Set by another thread to stop.
            pause: How to wait between two attempts; for tests.
        """
        config = read_cli_config(dialect, environ)
        program = find_helper(config.helper.name, dialect, environ) if config.helper else None
        helper = Helper(program, config.helper.arguments) if config.helper and program else None
        self.problems: tuple[ConfigurationError, ...] = config.problems
        self._dialect = dialect
        self._credentials = Credentials(environ, config.credentials, helper)
        self.asked = asked_hosts(
            dialect,
            services=config.services,
            credentials=self._credentials.hosts,
            base=base,
            given=given,
        )
        self.config = config
        self._environ = environ
        self._services = config.services
        self._memory = memory
        self._is_offline = is_offline
        self._package_token = netrc_tokens(environ) if is_installing and dialect is TERRAFORM else lambda _: None
        self._cancel = cancel
        self._pause = pause
        self._lock = threading.Lock()
        self._asking: tuple[Client, Kinds, Discovery] | None = None

    def of(self, host: str) -> Registry | NotAsked:
        """Return a host's registry, or that the host is not asked.

        Args:
            host: Comparison form.
        """
        verdict = self.asked.judge(host)
        if isinstance(verdict, NotAsked):
            return verdict
        return self.registry(host)

    def registry(self, host: str) -> Registry:
        """Return a host's registry, even for a host without a voucher; arguments as of `of`."""
        client, kinds, discovery = self._open()
        return Registry(
            host,
            client=client,
            kinds=kinds,
            dialect=self._dialect,
            discovery=discovery,
            credentials=self._credentials,
            package_token=self._package_token,
        )

    def _open(self) -> tuple[Client, Kinds, Discovery]:
        """Make what asks when it is first needed."""
        with self._lock:
            if self._asking is None:
                client = open_client(
                    self._environ,
                    memory=self._memory,
                    is_offline=self._is_offline,
                    cancel=self._cancel,
                    pause=self._pause,
                )
                given = self.config.protocols
                kinds = Kinds.of(self._dialect, self._environ, seconds=given.seconds, retries=given.retries)
                discovery = Discovery(
                    client,
                    kinds.discovery,
                    dialect=self._dialect,
                    given=self._services,
                    credentials=self._credentials,
                )
                self._asking = client, kinds, discovery
            return self._asking

    @property
    def log(self) -> tuple[Exchange, ...]:
        """The requests so far, with their times, and the cached answers used instead."""
        return tuple(self._asking[0].log) if self._asking else ()

    def forget(self) -> None:
        """Let everything be asked again, also what earlier runs were answered."""
        self._open()[0].forget()

    def close(self) -> None:
        """Close every connection."""
        if self._asking:
            self._asking[0].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
