"""Runs locklens for the suite: each command in a process of its own, forked from one that has loaded it already.

Loading takes longer than most commands. What a command leaves in memory goes with its process, as in earnest.
"""

from __future__ import annotations

import atexit
import faulthandler
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from conformance.case import Tool
from conformance.running import Finished, Invocation, Run
from preloading import load

_TESTS = Path(__file__).parent.parent
_FORKS = hasattr(os, "fork")
"""Without it, a command that is run to its end is a program that loads everything itself."""


class Locklens:
    """Takes commands from any thread, until it is closed."""

    def __init__(self) -> None:
        if not _FORKS:
            return
        self._lock = threading.Lock()
        self._server = subprocess.Popen(
            [sys.executable, "-m", "conformance.forking"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=_TESTS, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(_TESTS), os.environ.get("PYTHONPATH"))))},
        )  # fmt: skip

    def close(self) -> None:
        """Ends the server; commands that still run go on."""
        if not _FORKS:
            return
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()

    def of(self, tool: Tool, *, seconds: float | None = None) -> Run:
        """Returns what takes commands in a tool's spelling, and kills them after a while where `seconds` says so."""

        def run(invocation: Invocation) -> Finished:
            words = [*invocation.words, "--tool", tool.name]
            with tempfile.TemporaryDirectory(prefix="run-") as folder:
                said, done = Path(folder) / "said", Path(folder) / "done"
                os.mkfifo(done)
                wanted = {
                    "words": words, "folder": str(invocation.folder), "environment": invocation.environment,
                    "said": str(said), "done": str(done), "seconds": seconds,
                }  # fmt: skip
                self._ask(json.dumps(wanted))
                status = int(done.read_text())
                return Finished(status, said.read_bytes().decode(errors="replace") if said.exists() else "")

        return run

    def finish(
        self, words: Sequence[str], folder: Path, environment: Mapping[str, str], *, limit: int = 120
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end, or kills it after `limit` seconds; what it says on each of its two outputs apart."""
        if not _FORKS:
            command = [sys.executable, "-m", "locklens", *words]
            return subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=limit, check=False
            )
        with tempfile.TemporaryDirectory(prefix="run-") as place:
            said, complained, done = (Path(place) / name for name in ("said", "complained", "done"))
            os.mkfifo(done)
            wanted = {
                "words": words, "folder": str(folder), "environment": dict(environment), "said": str(said),
                "complained": str(complained), "done": str(done), "seconds": None, "limit": limit,
            }  # fmt: skip
            self._ask(json.dumps(wanted))
            status = int(done.read_text())
            return subprocess.CompletedProcess(words, status, said.read_text("utf-8"), complained.read_text("utf-8"))

    def _ask(self, line: str) -> None:
        assert self._server.stdin is not None
        with self._lock:
            self._server.stdin.write(line + "\n")
            self._server.stdin.flush()


@cache
def shared() -> Locklens:
    """Returns the one that all modules of this process may use, and which ends with it: to load takes a second."""
    running = Locklens()
    atexit.register(running.close)
    return running


def _serve() -> None:
    """Starts a command for each line, and says how each ended; one process for all, because every fork costs."""
    load()
    ended, ending = os.pipe()
    os.set_blocking(ending, False)
    signal.set_wakeup_fd(ending)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, dict[str, Any]] = {}
    asked = b""
    while True:
        limits = [wanted["until"] for wanted in running.values() if wanted["until"] is not None]
        patience = max(0.0, min(limits) - time.monotonic()) if limits else None
        ready, _, _ = select.select([sys.stdin, ended], [], [], patience)
        if sys.stdin in ready:
            more = os.read(sys.stdin.fileno(), 65536)
            if not more:
                return
            *lines, asked = (asked + more).split(b"\n")
            for line in lines:
                wanted = json.loads(line)
                wanted["until"] = None if wanted["seconds"] is None else time.monotonic() + wanted["seconds"]
                child = os.fork()
                if child == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    _work(wanted)
                running[child] = wanted
        if ended in ready:
            os.read(ended, 65536)
        _bury(running)


def _bury(running: dict[int, dict[str, Any]]) -> None:
    """Kills the commands whose time is over, and says how those ended that did."""
    for child, wanted in list(running.items()):
        if wanted["until"] is not None and time.monotonic() >= wanted["until"]:
            os.kill(child, signal.SIGKILL)
            wanted["until"] = None
        gone, status = os.waitpid(child, os.WNOHANG)
        if gone:
            del running[child]
            Path(wanted["done"]).write_text(str(os.waitstatus_to_exitcode(status)))


def _work(wanted: dict[str, Any]) -> None:
    """Runs a command, and ends the process."""
    status = 99
    try:
        said = os.open(wanted["said"], os.O_WRONLY | os.O_CREAT)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(said, 1)
        os.dup2(os.open(wanted["complained"], os.O_WRONLY | os.O_CREAT) if "complained" in wanted else said, 2)
        signal.alarm(wanted.get("limit", 0))
        os.environ.clear()
        os.environ.update(wanted["environment"])
        tempfile.tempdir = None
        os.chdir(wanted["folder"])
        from locklens.cli.main import main

        faulthandler.enable()
        status = main(wanted["words"], lambda *_: 0)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:  # noqa: BLE001 - whatever it is, the test has to hear of it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve()
