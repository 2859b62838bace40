"""`backfill` as a use case: fills in the `h1` and the size of every package that registry metadata names without them.

What a file has is done, so a run that was stopped is continued by the next one. Files are opened one after the other,
and their packages handed to a crew; results come back in any order and are written file by file, each time in one step.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import FIRST_COMPLETED, CancelledError, wait
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError, RunCancelledError, UnavailableError
from locklens.operations.backfill.crew import assemble
from locklens.operations.backfill.layout import provider_files
from locklens.operations.backfill.model import (
    BackfillResult,
    BytesArrived,
    Connecting,
    Counted,
    Failure,
    FileDone,
    Measured,
    PackageMeasured,
)
from locklens.operations.backfill.openfile import OpenFile
from locklens.sources.http import moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from locklens.operations.backfill.crew import Crew
    from locklens.operations.backfill.layout import ProviderFile
    from locklens.operations.backfill.metadata import Target
    from locklens.operations.backfill.model import BackfillEvent, BackfillRequest, FileCount, FileResult, PackageTask

    _Item = tuple[OpenFile, Target, PackageTask]

_GLANCE = 0.25
_CHECK_SECONDS = 10.0
_AHEAD = 2
"""Packages that are handed out for each place of the crew: no place waits for the next one."""

_AGAIN = "run it again: what is done is kept"


def backfill(
    request: BackfillRequest,
    *,
    is_dry_run: bool = False,
    on_event: Callable[[BackfillEvent], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> BackfillResult:
    """Complete metadata files. An interrupt ends it early, and everything that was found out is written.

    Args:
        request: Which, and how.
        is_dry_run: True to look at the files only.
        on_event: Called with events, in this thread.
        cancel: Set by another thread to stop; it counts as an interrupt.

    Raises:
        ConfigurationError: There is nothing to read, or the Dask scheduler cannot be used.
        UnavailableError: The Dask scheduler does not answer.
    """
    run = _Run(request, on_event, cancel or threading.Event())
    try:
        run.survey(provider_files(request.places, request.shard))
        if not is_dry_run:
            run.work()
    except (KeyboardInterrupt, RunCancelledError):
        run.is_interrupted = True
    return run.result(is_dry_run=is_dry_run)


def likely_bytes(counts: Sequence[FileCount]) -> int:
    """Return the bytes to download: sizes that are not known count as the average of their file, or of all files."""
    means = [count.mean_size for count in counts if count.mean_size]
    mean = sum(means) // len(means) if means else 0
    return sum(count.known_bytes + count.unsized * (count.mean_size or mean) for count in counts)


class _Run:
    def __init__(
        self, request: BackfillRequest, on_event: Callable[[BackfillEvent], None], cancel: threading.Event
    ) -> None:
        self.is_interrupted = False
        self._request, self._tell, self._cancel = request, on_event, cancel
        self._at, self._began = moment(), time.monotonic()
        self._lacking: list[tuple[ProviderFile, FileCount]] = []
        self._complete = self._versions = self._size = 0
        self._results: list[FileResult] = []
        self._failures: list[Failure] = []
        self._notes: tuple[str, ...] = ()
        self._open: dict[OpenFile, None] = {}
        self._waiting: dict[Future[Measured], tuple[OpenFile, Target]] = {}
        self._lock = threading.Lock()
        self._arrived = 0

    def survey(self, files: tuple[ProviderFile, ...]) -> None:
        """Look at all files: what is to be done.

        Raises:
            ConfigurationError: There is no file, or none that can be read.
        """
        if not files and self._request.shard is None:
            places = ", ".join(str(place) for place in self._request.places)
            raise ConfigurationError("has no metadata files", path=places, hint="name a clone of a registry, or a file")
        for file in files:
            self._stop_if_cancelled()
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
        """Measure and write.

        Raises:
            ConfigurationError: The Dask scheduler cannot be used.
            UnavailableError: It does not answer.
        """
        counts = [count for _, count in self._lacking]
        if not counts:
            return
        if self._request.scheduler:
            self._tell(Connecting(self._request.scheduler))
        crew = assemble(self._request, self._count_bytes)
        self._notes = crew.notes
        packages, versions = sum(one.missing for one in counts), sum(one.versions for one in counts)
        self._tell(Counted(len(counts), versions, packages, likely_bytes(counts), crew.size, crew.notes))
        try:
            self._measure(crew)
        except (KeyboardInterrupt, RunCancelledError):
            self.is_interrupted = True
        except UnavailableError as error:
            self._failures.append(Failure("", None, "", "", "", "", error.message, error.hint))
        finally:
            crew.close()
            for future in [future for future in self._waiting if future.done() and not future.cancelled()]:
                self._take(future)
            for opened in list(self._open):
                self._save(opened)
                self._results.append(opened.result)

    def result(self, *, is_dry_run: bool) -> BackfillResult:
        """Return what was done so far."""
        return BackfillResult(
            self._at,
            is_dry_run,
            self.is_interrupted,
            self._request,
            tuple(count for _, count in self._lacking),
            self._complete,
            tuple(sorted(self._results, key=lambda result: result.path)),
            tuple(self._failures),
            self._versions,
            self._size,
            time.monotonic() - self._began,
            self._notes,
        )

    def _measure(self, crew: Crew) -> None:
        items, checked = self._items(), time.monotonic()
        while True:
            self._stop_if_cancelled()
            while len(self._waiting) < crew.size * _AHEAD and (item := next(items, None)) is not None:
                opened, target, task = item
                self._waiting[crew.submit(task)] = opened, target
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
                crew.check()
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
                self._report(failure)
            for target, task in opened.tasks():
                if opened.is_broken:
                    break
                yield opened, target, task
            self._close_if_done(opened)

    def _take(self, future: Future[Measured]) -> None:
        """Keep the result of one package."""
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
        self._versions += is_version_done
        self._size += measured.size
        failure = opened.failure(target, measured.problem, measured.hint) if measured.problem else None
        if failure is not None:
            self._failures.append(failure)
        named = opened.provider, target.version, target.platform
        self._tell(PackageMeasured(*named, measured.size, failure, is_version_done))

    def _report(self, failure: Failure) -> None:
        self._failures.append(failure)
        self._tell(PackageMeasured(failure.provider, failure.version, failure.platform, 0, failure, False))

    def _save(self, opened: OpenFile) -> None:
        """Write a file; one that cannot be written is given up."""
        if opened.is_broken:
            return
        try:
            opened.save()
        except ConfigurationError as error:
            opened.is_broken = True
            self._failures.append(_file_failure(opened.shown, opened.provider, error))

    def _close_if_done(self, opened: OpenFile) -> None:
        is_done = not opened.pending or (
            opened.is_broken and all(one is not opened for one, _ in self._waiting.values())
        )
        if is_done and opened in self._open and (opened.is_broken or not opened.is_due):
            del self._open[opened]
            self._results.append(opened.result)
            self._tell(FileDone(opened.result))

    def _fail_file(self, file: ProviderFile, error: ConfigurationError) -> None:
        self._failures.append(_file_failure(str(file.path), file.provider, error))

    def _count_bytes(self, count: int) -> None:
        with self._lock:
            self._arrived += count

    def _tell_bytes(self) -> None:
        with self._lock:
            count, self._arrived = self._arrived, 0
        if count:
            self._tell(BytesArrived(count))

    def _stop_if_cancelled(self) -> None:
        if self._cancel.is_set():
            raise RunCancelledError("the run was cancelled")


def _file_failure(path: str, provider: str, error: ConfigurationError) -> Failure:
    return Failure(path, error.line, provider, "", "", "", error.message, error.hint)
