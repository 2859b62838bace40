"""A backfill on a Dask cluster: a scheduler and three workers, each a process of its own on this machine."""

from __future__ import annotations

import itertools
import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from kit.backfilling import Registry
from kit.loopback import Handler, Server, serving
from kit.waiting import LIMIT, until
from msgspec.structs import replace

from locklens import __version__
from locklens.errors import ConfigurationError, UnavailableError
from locklens_backfill import measuring, workers
from locklens_backfill.measuring import Division, FetchSettings, Measured, Meter, PackageTask
from locklens_backfill.run import BackfillEvent, BackfillRequest, Connecting, PackageMeasured, backfill

THREADS = 2
LOOPBACK = FetchSettings(allows_loopback=True)


@contextmanager
def process(folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{len(list(folder.iterdir()))}.log").open("wb") as log:
        command = [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]]
        with subprocess.Popen(command, stdout=log, stderr=log, cwd=folder) as started:
            try:
                yield started
            finally:
                started.kill()


@contextmanager
def scheduler(folder: Path) -> Iterator[str]:
    """The address of a scheduler without workers."""
    folder.mkdir()
    file = folder / "scheduler.json"
    words = "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"
    with process(folder, *words, "--scheduler-file", str(file)):
        until(lambda: file.exists() and file.read_text().endswith("}"))
        yield str(json.loads(file.read_text())["address"])


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as opened:
        yield opened


def test_a_lost_worker_costs_nothing_and_the_files_are_those_of_threads(tmp_path: Path, server: Server) -> None:
    registry = Registry(tmp_path / "registry", server)
    paths = [registry.provider(f"acme/demo{number}", ["1.0.0", "1.1.0"]) for number in range(4)]
    gone = "/acme/demo1/1.1.0/terraform-provider-demo1_1.1.0_linux_amd64.zip"
    server.gives(gone, b"gone", status=404)
    other = tmp_path / "other"
    shutil.copytree(registry.folder, other)
    threads = backfill(BackfillRequest((other,), jobs=2, fetching=LOOPBACK))
    before = len(server.asked)
    assert len(threads.failures) == 1

    held, answers = threading.Event(), dict(server.routes)

    def hold(handler: Handler) -> None:
        held.wait(LIMIT)
        answers[handler.path](handler)

    for where in answers:
        server.on(where, hold)
    with ExitStack() as stack:
        address = stack.enter_context(scheduler(tmp_path / "dask"))
        request = BackfillRequest((registry.folder,), scheduler=address, fetching=LOOPBACK)
        with pytest.raises(ConfigurationError, match="the Dask scheduler has no workers"):
            backfill(request)
        words = "dask_worker", address, "--no-nanny", "--no-dashboard", "--nthreads", str(THREADS)
        workers = [stack.enter_context(process(tmp_path / "dask", *words)) for _ in range(3)]
        until(lambda: len(nthreads(address)) == 3)

        def kill_one() -> None:
            try:
                until(lambda: len(server.asked) - before >= 3 * THREADS)
                workers[0].kill()
                workers[0].wait()
            finally:
                held.set()

        killing = threading.Thread(target=kill_one)
        killing.start()
        events: list[BackfillEvent] = []
        found = backfill(request, on_event=events.append)
        killing.join()
        assert [one.poll() is None for one in workers] == [False, True, True]

    assert len(server.asked) - before == 24 + THREADS
    assert {str(path.relative_to(registry.folder)): path.read_bytes() for path in paths} == {
        str(path.relative_to(registry.folder)): (other / path.relative_to(registry.folder)).read_bytes()
        for path in paths
    }
    assert [replace(one, path="") for one in found.failures] == [replace(one, path="") for one in threads.failures]
    assert found.size == threads.size
    assert sum(isinstance(event, PackageMeasured) for event in events) == 24
    assert found.notes == (
        (
            "3 Dask workers, each with 2 of 8 downloads from one host at once, and its part of "
            "--max-rate and --max-requests, divided again when workers come or go"
        ),
    )


def nthreads(address: str) -> dict[str, int]:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        return dict(client.nthreads())


def test_a_scheduler_that_does_not_answer(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry(tmp_path / "registry", server)
    registry.provider("acme/demo")
    monkeypatch.setattr("locklens_backfill.workers.CONNECT_SECONDS", 0.2)
    request = BackfillRequest((registry.folder,), scheduler="tcp://127.0.0.1:1", fetching=LOOPBACK)
    events: list[BackfillEvent] = []
    with pytest.raises(UnavailableError, match=r"the Dask scheduler tcp://127\.0\.0\.1:1 does not answer"):
        backfill(request, on_event=events.append)
    assert events == [Connecting("tcp://127.0.0.1:1")], "nothing else says whom a silent run waits for"
    with pytest.raises(UnavailableError, match="the Dask scheduler nonsense"):
        backfill(replace(request, scheduler="nonsense://x"))
    assert server.asked == []


def test_a_server_that_is_no_scheduler(tmp_path: Path, server: Server) -> None:
    registry = Registry(tmp_path / "registry", server)
    registry.provider("acme/demo")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        def answer() -> None:
            with suppress(OSError):
                while True:
                    listening.accept()[0].sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        command = [sys.executable, "-m", "locklens", "backfill", "--scheduler", f"tcp://127.0.0.1:{port}"]
        said = subprocess.run([*command, str(registry.folder)], capture_output=True, text=True, timeout=LIMIT)
    assert said.stderr.splitlines()[0] == f"connecting to the Dask scheduler tcp://127.0.0.1:{port}"
    assert said.stderr.splitlines()[1].startswith(f"error: the Dask scheduler tcp://127.0.0.1:{port} does not answer: ")
    assert (said.returncode, "Traceback" in said.stderr) == (2, False)


class Cluster:
    """A scheduler's client, whose workers come and go; what is submitted is kept."""

    status = "running"

    def __init__(self, *arguments: object, **options: object) -> None:
        self.submitted: list[Division] = []

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(WORKERS, THREADS)

    def run(self, function: object, on_error: str) -> dict[str, str]:
        return dict.fromkeys(WORKERS, __version__)

    def get_executor(self, *, pure: bool) -> Cluster:
        return self

    def submit(self, function: object, division: Division, task: object) -> None:
        self.submitted.append(division)


WORKERS: list[str] = []


def test_rates_and_places_are_divided_anew_when_workers_come_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed  # Dask's own modules take half a second in every process

    monkeypatch.setattr(distributed, "Client", Cluster)
    clock = SimpleNamespace(time=itertools.count(1.0).__next__, monotonic=time.monotonic)
    monkeypatch.setattr(workers, "time", clock)
    monkeypatch.setattr(sys.modules[__name__], "WORKERS", ["a", "b", "c"])
    whole = FetchSettings(8, 40e6, 3.0)
    crew = workers.DaskWorkers("tcp://x", whole)
    task = PackageTask("https://example.com/p.zip", "")
    sizes = []
    for change in (lambda: None, WORKERS.pop, lambda: WORKERS.extend("xy"), WORKERS.clear):
        change()
        crew.check()
        crew.submit(task)
        sizes.append(crew.size)
    divisions = crew._client.submitted
    assert [one.workers for one in divisions] == [3, 2, 4, 4], "without any worker, the last ones may come back"
    assert sizes == [6, 4, 8, 8]
    assert [one.share.bytes_rate for one in divisions[:3]] == [40e6 / 3, 20e6, 10e6]
    assert divisions[0].at < divisions[1].at < divisions[2].at == divisions[3].at


def test_the_rates_of_a_host_are_shared_by_the_workers() -> None:
    whole = FetchSettings(8, 3e6, 1.5)
    assert Division(whole, 3, 0.0).share == FetchSettings(2, 1e6, 0.5)
    assert Division(whole, 12, 0.0).share.per_host == 1


def test_a_worker_goes_by_the_latest_division(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_METERS", {})
    made: list[Meter] = []

    def measure(meter: Meter, task: PackageTask) -> Measured:
        made.append(meter)
        return Measured(size=int(meter._pace._settings.bytes_rate))

    monkeypatch.setattr(Meter, "measure", measure)
    whole, task = FetchSettings(8, 12e6), PackageTask("https://example.com/p.zip", "")
    divisions = [Division(whole, 3, 1.0), Division(whole, 2, 5.0), Division(whole, 3, 1.0), Division(whole, 4, 9.0)]
    sizes = [measuring.measure_in_process(one, task).size for one in divisions]
    assert sizes == [4_000_000, 6_000_000, 6_000_000, 3_000_000], "one that was sent before comes after another"
    assert len(set(map(id, made))) == 1, "two paces of one process would add up"
    for meter in set(made):
        meter.close()
