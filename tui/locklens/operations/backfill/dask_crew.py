"""The one door to `distributed`: the workers of a Dask cluster as a crew.

A task that was with a worker which dies is given to another worker, and is a failure of its own after that happened to
it several times (`distributed.scheduler.allowed-failures`, 3). Only tasks and results travel.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from distributed import Client

from locklens import __version__
from locklens.errors import ConfigurationError, UnavailableError
from locklens.operations.backfill.measuring import measure_in_process
from locklens.operations.backfill.model import Division
from locklens.text import counted

if TYPE_CHECKING:
    from concurrent.futures import Future

    from locklens.operations.backfill.model import FetchSettings, Measured, PackageTask

CONNECT_SECONDS = 20
"""Within which the scheduler must answer."""

ALONE_SECONDS = 120.0
"""Without any worker, after which the run ends: a cluster may exchange its machines meanwhile."""

_LOGGERS = ("distributed", "tornado", "asyncio")


class DaskWorkers:
    """A crew of Dask workers.

    Args:
        address: Of the scheduler, such as tcp://10.0.0.5:8786.
        settings: How to download. The rates and the number of downloads from one host are divided by the number of
            workers, and divided anew when workers come or go.

    Raises:
        ConfigurationError: There are no workers, or they have no locklens of this version.
        UnavailableError: The scheduler does not answer.
    """

    def __init__(self, address: str, settings: FetchSettings) -> None:
        _silence()
        try:
            # Its types are incomplete.
            self._client: Any = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # A server that is no scheduler raises errors of any kind, such as MemoryError.
            words = f"the Dask scheduler {address} does not answer: {str(error) or type(error).__name__}"
            raise UnavailableError(words, hint="give the address that `dask scheduler` printed") from error
        try:
            threads = self._workers()
            self._require_same_version()
        except BaseException:
            self._client.close()
            raise
        self._whole = settings
        self._divide(threads)
        self._executor = self._client.get_executor(pure=False)
        self._seen = time.monotonic()
        self.notes: tuple[str, ...] = (_sharing_words(self._division),)

    def submit(self, task: PackageTask) -> Future[Measured]:
        """Begin a package on any worker."""
        future: Future[Measured] = self._executor.submit(measure_in_process, self._division, task)
        return future

    def check(self) -> None:
        """Look whether there is still a worker, and divide the bounds anew where their number changed.

        Raises:
            UnavailableError: There was none for ALONE_SECONDS.
        """
        threads = dict(self._client.nthreads()) if self._client.status == "running" else {}
        if threads:
            self._seen = time.monotonic()
            if len(threads) != self._division.workers or sum(threads.values()) != self.size:
                self._divide(threads)
        elif time.monotonic() - self._seen > ALONE_SECONDS:
            words = f"no Dask worker was there for {ALONE_SECONDS:.0f} seconds"
            raise UnavailableError(words, hint="start workers, and run it again: what is done is kept")

    def close(self) -> None:
        """Take back what has not begun, and leave the cluster; a package in work ends there by itself."""
        self._executor.shutdown(wait=False)
        self._client.close()

    def _workers(self) -> dict[str, int]:
        """Return the number of threads of each worker."""
        threads: dict[str, int] = dict(self._client.nthreads())
        if not threads:
            raise ConfigurationError("the Dask scheduler has no workers", hint="start some with `dask worker ADDRESS`")
        return threads

    def _divide(self, threads: dict[str, int]) -> None:
        self.size = sum(threads.values())
        self._division = Division(self._whole, len(threads), time.time())

    def _require_same_version(self) -> None:
        """Require this version of locklens of every worker: hashes of others could differ."""
        hint = f"install locklens {__version__} where the workers run"
        found = self._client.run(_version_here, on_error="return")
        for worker, version in found.items():
            if isinstance(version, BaseException):
                raise ConfigurationError(f"the Dask worker {worker} has no locklens: {version}", hint=hint)
            if version != __version__:
                raise ConfigurationError(f"the Dask worker {worker} has locklens {version}", hint=hint)


def _silence() -> None:
    """Keep logs from stderr: with tracebacks, they repeat what the report says of lost workers."""
    for name in (*_LOGGERS, *logging.root.manager.loggerDict):
        if name.partition(".")[0] in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _version_here() -> str:
    return __version__


def _sharing_words(division: Division) -> str:
    share, whole = division.share, division.whole
    each = f"each with {share.per_host} of {whole.per_host} downloads from one host at once"
    workers = counted(division.workers, "Dask worker")
    return f"{workers}, {each}, and its part of --max-rate and --max-requests, divided anew when workers come or go"
