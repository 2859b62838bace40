"""Who measures packages: threads of this machine, or workers of a Dask cluster, behind one protocol of futures."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol

from locklens.errors import ConfigurationError
from locklens.operations.backfill.measuring import Meter

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from locklens.operations.backfill.model import BackfillRequest, FetchSettings, Measured, PackageTask


class Crew(Protocol):
    """Measures packages. An error of a future is that of its package alone.

    Attributes:
        size: Packages in work at once.
        notes: Sentences about how it works.
    """

    size: int
    notes: tuple[str, ...]

    def submit(self, task: PackageTask) -> Future[Measured]:
        """Begin a package."""

    def check(self) -> None:
        """Look whether there is still someone at work.

        Raises:
            UnavailableError: No one is, and no one came back for a while.
        """

    def close(self) -> None:
        """End the work, also what has begun."""


class Threads:
    """A crew of threads.

    Args:
        size: Their number.
        settings: How to download.
        on_bytes: Is told of bytes that arrived, in any thread.
    """

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
        """End the work, also what has begun."""
        self._cancel.set()
        self._pool.shutdown(cancel_futures=True)
        self._meter.close()


def assemble(request: BackfillRequest, on_bytes: Callable[[int], None]) -> Crew:
    """Return the crew that a request asks for.

    Raises:
        ConfigurationError: The extra `dask` is not installed, or the scheduler has no usable workers.
        UnavailableError: The scheduler does not answer.
    """
    if not request.scheduler:
        return Threads(request.jobs, request.fetching, on_bytes)
    try:
        from locklens.operations.backfill.dask_crew import DaskWorkers
    except ImportError as error:
        words = f"--scheduler needs Dask, which is not installed: {error}"
        raise ConfigurationError(words, hint="pip install 'locklens[dask]', here and where the workers run") from error
    return DaskWorkers(request.scheduler, request.fetching)
