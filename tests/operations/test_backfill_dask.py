"""A backfill on a Dask cluster: a scheduler and three workers, each a process of its own on this machine."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from backfilling import Registry
from loopback import Handler, Server, serving
from msgspec.structs import replace
from waiting import LIMIT, until

from locklens.errors import ConfigurationError, UnavailableError
from locklens.operations.backfill.model import BackfillEvent, BackfillRequest, FetchSettings, PackageMeasured
from locklens.operations.backfill.run import backfill

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
    assert (found.versions, found.size) == (threads.versions, threads.size)
    assert sum(isinstance(event, PackageMeasured) for event in events) == 24
    assert found.notes == (
        (
            "3 Dask workers, each with 2 of 8 downloads from one host at once, and its part of "
            "--max-rate and --max-requests"
        ),
    )


def nthreads(address: str) -> dict[str, int]:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        return dict(client.nthreads())


def test_a_scheduler_that_does_not_answer(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry(tmp_path / "registry", server)
    registry.provider("acme/demo")
    monkeypatch.setattr("locklens.operations.backfill.dask_crew.CONNECT_SECONDS", 0.2)
    request = BackfillRequest((registry.folder,), scheduler="tcp://127.0.0.1:1", fetching=LOOPBACK)
    with pytest.raises(UnavailableError, match=r"the Dask scheduler tcp://127\.0\.0\.1:1 does not answer"):
        backfill(request)
    with pytest.raises(UnavailableError, match="the Dask scheduler nonsense"):
        backfill(replace(request, scheduler="nonsense://x"))
    assert server.asked == []


def test_the_rates_of_a_host_are_shared_by_the_workers() -> None:
    from locklens.operations.backfill import dask_crew  # Dask's own modules take half a second in every process

    whole = FetchSettings(8, 3e6, 1.5)
    assert dask_crew._share_of(whole, 3) == FetchSettings(2, 1e6, 0.5)
    assert dask_crew._share_of(whole, 12).per_host == 1
