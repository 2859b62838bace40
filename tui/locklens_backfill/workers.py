"""Measures packages in threads of this machine, or on the workers of a Dask cluster; the one door to `distributed`.

If a worker of a cluster dies, another one gets its task; after several such deaths the task fails
(`distributed.scheduler.allowed-failures`, 3). Only tasks and results go over the network.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol

from locklens import __version__
from locklens.errors import ConfigurationError, UnavailableError
from locklens.text import counted
from locklens_backfill.measuring import Division, FetchSettings, Measured, Meter, PackageTask, measure_in_process

if TYPE_CHECKING:
    from collections.abc import Callable


CONNECT_SECONDS = 20
"""Time limit for the scheduler's first answer."""

ALONE_SECONDS = 120.0
"""Seconds without any worker after which the run ends; a cluster that replaces its machines is without for a while."""

_LOGGERS = ("distributed", "tornado", "asyncio")


class Workers(Protocol):
    """Measures packages. An error of a future concerns its package alone.

    Attributes:
        size: Number of packages that are measured at once.
        notes: Sentences for the report about how the work is shared.
    """

    size: int
    notes: tuple[str, ...]

    def submit(self, task: PackageTask) -> Future[Measured]:
        """Begin a package."""

    def check(self) -> None:
        """Check that the workers are still there; raises UnavailableError if there was none for a while."""

    def close(self) -> None:
        """Stop, including packages that have begun."""


class Threads:
    """Threads of this machine; `on_bytes` is called with the number of bytes that arrived, in any of them."""

    def __init__(self, size: int, settings: FetchSettings, on_bytes: Callable[[int], None]) -> None:
        self.size = size
        self.notes: tuple[str, ...] = ()
        self._cancel = threading.Event()
        self._meter = Meter(settings, os.environ, cancel=self._cancel, on_bytes=on_bytes)
        self._pool = ThreadPoolExecutor(size, "locklens-backfill")

    def submit(self, task: PackageTask) -> Future[Measured]:
        """Begin a package."""
        return self._pool.submit(self._meter.measure, task)

    def check(self) -> None:
        """Do nothing: threads do not get lost."""

    def close(self) -> None:
        """Stop, including packages that have begun."""
        self._cancel.set()
        self._pool.shutdown(cancel_futures=True)
        self._meter.close()


def start_workers(jobs: int, scheduler: str, settings: FetchSettings, on_bytes: Callable[[int], None]) -> Workers:
    """Return the workers of a run: threads of this machine, or those of a Dask scheduler, if there is an address.

    `on_bytes` is called with the number of bytes that arrived on this machine, in any thread.

    Raises:
        ConfigurationError: The extra `dask` is not installed, or the scheduler has no usable workers.
        UnavailableError: The scheduler does not answer.
    """
    return DaskWorkers(scheduler, settings) if scheduler else Threads(jobs, settings, on_bytes)


class DaskWorkers:
    """The workers of a Dask cluster, at an address of its scheduler such as tcp://10.0.0.5:8786.

    The rates and the number of downloads from one host are divided by the number of workers, and divided again when
    workers come or go.

    Raises:
        ConfigurationError: Dask is not installed, or there are no workers with this version of locklens.
        UnavailableError: The scheduler does not answer.
    """

    def __init__(self, address: str, settings: FetchSettings) -> None:
        _silence()
        try:
            from distributed import Client
        except ImportError as error:
            words = f"--scheduler needs Dask, which is not installed: {error}"
            hint = "pip install 'locklens[dask]', here and where the workers run"
            raise ConfigurationError(words, hint=hint) from error
        try:
            # Its types are incomplete.
            self._client: Any = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # A server that is not a scheduler raises errors of any kind, such as MemoryError.
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
        """Check that there is still a worker, and divide the limits again if the number of workers changed.

        Raises:
            UnavailableError: There was none for ALONE_SECONDS.
        """
        threads = dict(self._client.nthreads()) if self._client.status == "running" else {}
        if threads:
            self._seen = time.monotonic()
            if len(threads) != self._division.workers or sum(threads.values()) != self.size:
                self._divide(threads)
        elif time.monotonic() - self._seen > ALONE_SECONDS:
            words = f"there has been no Dask worker for {ALONE_SECONDS:.0f} seconds"
            raise UnavailableError(words, hint="start workers, and run it again: what is done is kept")

    def close(self) -> None:
        """Cancel what has not begun, and leave the cluster; packages that have begun are finished there."""
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
    """Keep these libraries' logs off stderr: with tracebacks, they repeat what the report says about lost workers."""
    for name in (*_LOGGERS, *logging.root.manager.loggerDict):
        if name.partition(".")[0] in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _version_here() -> str:
    return __version__


def _sharing_words(division: Division) -> str:
    share, whole = division.share, division.whole
    each = f"each with {share.per_host} of {whole.per_host} downloads from one host at once"
    workers = counted(division.workers, "Dask worker")
    return f"{workers}, {each}, and its part of --max-rate and --max-requests, divided again when workers come or go"
