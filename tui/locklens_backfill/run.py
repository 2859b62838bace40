"""Fills in the `h1` and the size of every package that registry metadata names without them.

A value that a file has is never looked up again, so the next run continues one that was stopped. Files are opened one
after the other, and their packages handed to workers; results arrive in any order and are written file by file, each
time in one step.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait

from msgspec import Struct

from locklens.errors import ConfigurationError, RunCancelledError, UnavailableError
from locklens.sources.http import moment
from locklens_backfill.files import Failure, FileCount, FileResult, OpenFile, Shard, provider_files, provider_of
from locklens_backfill.measuring import FetchSettings, Measured, PackageTask
from locklens_backfill.workers import Workers, start_workers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from locklens_backfill import Target

    _Item = tuple[OpenFile, Target, PackageTask]


class BackfillRequest(Struct, frozen=True):
    """The files to complete.

    Attributes:
        places: Folders, and metadata files.
        shard: The part of the providers, None for all.
        size_name: The name of a size, "" for the name that each file has already; see `SIZE_NAMES`.
        jobs: Packages in work at once on this machine.
        scheduler: Address of a Dask scheduler whose workers do it; "" for this machine.
    """

    places: tuple[Path, ...]
    shard: Shard | None = None
    size_name: str = ""
    jobs: int = 4
    scheduler: str = ""
    fetching: FetchSettings = FetchSettings()


class BackfillResult(Struct, frozen=True):
    """A finished run.

    Attributes:
        at: Its start, ISO 8601 in UTC.
        is_dry_run: True if nothing was downloaded and nothing written.
        is_interrupted: True if the user stopped it.
        counts: The gaps of each file that had some.
        complete: Number of files that lacked nothing.
        files: The results for the files that had gaps; () for a dry run.
        failures: In the order in which they occurred.
        size: Size of the measured packages, in bytes.
        notes: Sentences about the run itself.
    """

    at: str
    is_dry_run: bool
    is_interrupted: bool
    request: BackfillRequest
    counts: tuple[FileCount, ...]
    complete: int
    files: tuple[FileResult, ...]
    failures: tuple[Failure, ...]
    size: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class Connecting(Struct, frozen=True):
    """The run waits for a Dask scheduler, by its address."""

    scheduler: str


class Counted(Struct, frozen=True):
    """Event: the files were looked at, and this much is to be done.

    Attributes:
        files: Number of files that lack something.
        versions: Number of their versions that lack something.
        packages: Number of packages to download.
        likely_bytes: Estimated size of these; 0 if nothing is known.
        workers: Packages in work at once.
        notes: Sentences about who does it.
    """

    files: int
    versions: int
    packages: int
    likely_bytes: int
    workers: int
    notes: tuple[str, ...] = ()


class PackageMeasured(Struct, frozen=True):
    """Event: one package was measured, or failed."""

    size: int
    failure: Failure | None
    completes_version: bool


class FileDone(Struct, frozen=True):
    """Event: a file is finished."""

    result: FileResult


class BytesArrived(Struct, frozen=True):
    """Event: bytes of a package arrived on this machine."""

    count: int


BackfillEvent = Connecting | Counted | PackageMeasured | FileDone | BytesArrived


_GLANCE = 0.25
_CHECK_SECONDS = 10.0
_AHEAD = 2
"""Packages that are handed out for each place of the workers: no place waits for the next one."""

_AGAIN = "run it again: what is done is kept"


def backfill(
    request: BackfillRequest, *, is_dry_run: bool = False, on_event: Callable[[BackfillEvent], None] = lambda _: None
) -> BackfillResult:
    """Complete metadata files, or only look at them; events are told in this thread.

    An interrupt ends it early, and everything that was found out is written.

    Raises:
        ConfigurationError: There is nothing to read, or the Dask scheduler cannot be used.
        UnavailableError: The Dask scheduler does not answer.
    """
    run = _Run(request, on_event)
    try:
        run.survey(provider_files(request.places, request.shard))
        if not is_dry_run:
            run.work()
    except KeyboardInterrupt:
        run.is_interrupted = True
    return run.result(is_dry_run=is_dry_run)


def likely_bytes(counts: Sequence[FileCount]) -> int:
    """Return the bytes to download: sizes that are not known count as the average of their file, or of all files."""
    means = [count.mean_size for count in counts if count.mean_size]
    mean = sum(means) // len(means) if means else 0
    return sum(count.known_bytes + count.unsized * (count.mean_size or mean) for count in counts)


class _Run:
    def __init__(self, request: BackfillRequest, on_event: Callable[[BackfillEvent], None]) -> None:
        self.is_interrupted = False
        self._request, self._tell = request, on_event
        self._at, self._began = moment(), time.monotonic()
        self._lacking: list[tuple[Path, FileCount]] = []
        self._complete = self._size = 0
        self._results: list[FileResult] = []
        self._failures: list[Failure] = []
        self._notes: tuple[str, ...] = ()
        self._open: dict[OpenFile, None] = {}
        self._waiting: dict[Future[Measured], tuple[OpenFile, Target]] = {}
        self._lock = threading.Lock()
        self._arrived = 0

    def survey(self, files: tuple[Path, ...]) -> None:
        """Look at all files: what is to be done."""
        if not files and self._request.shard is None:
            places = ", ".join(str(place) for place in self._request.places)
            raise ConfigurationError("has no metadata files", path=places, hint="name a clone of a registry, or a file")
        for file in files:
            try:
                opened = OpenFile(file, self._request.size_name)
            except ConfigurationError as error:
                self._fail_file(file, error)
                continue
            if opened.is_complete:
                self._complete += 1
            else:
                self._lacking.append((file, opened.count()))
        if files and len(self._failures) == len(files):
            failure = self._failures[0]
            raise ConfigurationError(failure.reason, path=failure.path, line=failure.line, hint=failure.hint)

    def work(self) -> None:
        counts = [count for _, count in self._lacking]
        if not counts:
            return
        if self._request.scheduler:
            self._tell(Connecting(self._request.scheduler))
        request = self._request
        workers = start_workers(request.jobs, request.scheduler, request.fetching, self._count_bytes)
        self._notes = workers.notes
        packages, versions = sum(one.missing for one in counts), sum(one.versions for one in counts)
        self._tell(Counted(len(counts), versions, packages, likely_bytes(counts), workers.size, workers.notes))
        try:
            self._measure(workers)
        except KeyboardInterrupt:
            self.is_interrupted = True
        except UnavailableError as error:
            self._failures.append(Failure(error.message, error.hint))
        finally:
            workers.close()
            for future in [future for future in self._waiting if future.done() and not future.cancelled()]:
                self._take(future)
            for opened in list(self._open):
                self._save(opened)
                self._results.append(opened.result)

    def result(self, *, is_dry_run: bool) -> BackfillResult:
        return BackfillResult(
            self._at,
            is_dry_run,
            self.is_interrupted,
            self._request,
            tuple(count for _, count in self._lacking),
            self._complete,
            tuple(sorted(self._results, key=lambda result: result.path)),
            tuple(self._failures),
            self._size,
            time.monotonic() - self._began,
            self._notes,
        )

    def _measure(self, workers: Workers) -> None:
        items, checked = self._items(), time.monotonic()
        while True:
            while len(self._waiting) < workers.size * _AHEAD and (item := next(items, None)) is not None:
                opened, target, task = item
                self._waiting[workers.submit(task)] = opened, target
            if not self._waiting:
                return
            done, _ = wait(self._waiting, _GLANCE, FIRST_COMPLETED)
            self._tell_bytes()
            for future in done:
                self._take(future)
            for opened in list(self._open):
                if opened.is_due:
                    self._save(opened)
                self._close_if_done(opened)
            if time.monotonic() - checked > _CHECK_SECONDS:
                workers.check()
                checked = time.monotonic()

    def _items(self) -> Iterator[_Item]:
        """Yield the packages of one file after the other; a file that cannot be read any more is a failure."""
        for file, _ in self._lacking:
            try:
                opened = OpenFile(file, self._request.size_name)
            except ConfigurationError as error:
                self._fail_file(file, error)
                continue
            self._open[opened] = None
            for failure in opened.problems():
                self._failures.append(failure)
                self._tell(PackageMeasured(0, failure, completes_version=False))
            for target, task in opened.tasks():
                if opened.is_broken:
                    break
                yield opened, target, task
            self._close_if_done(opened)

    def _take(self, future: Future[Measured]) -> None:
        opened, target = self._waiting.pop(future)
        try:
            measured = future.result()
        except RunCancelledError:
            return
        except CancelledError:
            measured = Measured(problem="the Dask scheduler gave it up", hint=_AGAIN)
        except Exception as error:  # noqa: BLE001 - a lost worker raises errors of its own
            words = f"no worker could measure it: {str(error) or type(error).__name__}"
            measured = Measured(problem=words, hint=_AGAIN)
        is_version_done = opened.take(target, measured)
        self._size += measured.size
        failure = opened.failure(target, measured.problem, measured.hint) if measured.problem else None
        if failure is not None:
            self._failures.append(failure)
        self._tell(PackageMeasured(measured.size, failure, is_version_done))

    def _save(self, opened: OpenFile) -> None:
        """Write a file; one that cannot be written is given up."""
        if opened.is_broken:
            return
        try:
            opened.save()
        except ConfigurationError as error:
            opened.is_broken = True
            self._fail_file(opened.path, error)

    def _close_if_done(self, opened: OpenFile) -> None:
        is_done = not opened.pending or (
            opened.is_broken and all(one is not opened for one, _ in self._waiting.values())
        )
        if is_done and opened in self._open and (opened.is_broken or not opened.is_due):
            del self._open[opened]
            self._results.append(opened.result)
            self._tell(FileDone(opened.result))

    def _fail_file(self, path: Path, error: ConfigurationError) -> None:
        self._failures.append(Failure(error.message, error.hint, str(path), error.line, provider_of(path)))

    def _count_bytes(self, count: int) -> None:
        with self._lock:
            self._arrived += count

    def _tell_bytes(self) -> None:
        with self._lock:
            count, self._arrived = self._arrived, 0
        if count:
            self._tell(BytesArrived(count))
