"""No interrupt is lost, wherever the main thread is: in processes of their own, with real signals."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kit.waiting import LIMIT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals for threads")

IN_ANOTHER_THREAD = """
import signal, sys, threading
from locklens.cli.main import main

def interrupt():
    # As one that arrives just before the wait: the system call of the main thread does not return for it.
    sys.stdin.readline()
    while sys._current_frames()[threading.main_thread().ident].f_code is not threading.Condition.wait.__code__:
        pass
    signal.pthread_kill(threading.get_ident(), signal.{name})

threading.Thread(target=interrupt, daemon=True).start()
sys.exit(main(["demo", "--serve"], lambda *_: 0))
"""

IN_A_DESTRUCTOR = """
import signal, threading
from locklens.cli.interrupts import interruptible

class Dropped:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

with interruptible():
    try:
        Dropped()
        threading.Event().wait()
    except KeyboardInterrupt:
        print("interrupted")
"""

SWALLOWED = """
import signal, threading
from locklens.cli.interrupts import interruptible

with interruptible():
    try:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            pass
        threading.Event().wait()
    except KeyboardInterrupt:
        print("interrupted")
"""

AS_ANOTHER_ERROR = """
import signal, threading
from locklens.cli.interrupts import interruptible

class Named:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGINT)

class Lock:
    def __init__(self):
        self.lock = threading.Lock()
        self.release = self.lock.release

    def acquire(self, *given):
        if "interrupted" in globals():
            signal.raise_signal(signal.SIGINT)
        return self.lock.acquire(*given)

    __enter__ = acquire

    def __exit__(self, *_):
        self.release()

def make():
    class Owner:
        name = Named()

def wait():
    global interrupted
    condition = threading.Condition(Lock())
    with condition:
        interrupted = True
        condition.wait(0.01)

for work in (make, wait):
    try:
        with interruptible():
            work()
    except KeyboardInterrupt:
        print("interrupted")
try:
    with interruptible():
        raise RuntimeError("own")
except RuntimeError as error:
    print(error)
"""

EXIT_IN_A_DESTRUCTOR = """
import signal, threading
from locklens.cli.interrupts import interruptible

def end(number, frame):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise SystemExit(129)

class Dropped:
    def __del__(self):
        signal.raise_signal(signal.SIGHUP)

signal.signal(signal.SIGHUP, end)
try:
    with interruptible():
        Dropped()
        threading.Event().wait()
except KeyboardInterrupt:
    print("interrupted")
"""

WITH_OTHERS = """
import signal, sys, threading
from locklens.cli.interrupts import interruptible

class Faulty:
    def __del__(self):
        raise ValueError("of a destructor")

def state():
    wakeup = signal.set_wakeup_fd(-1)
    return wakeup, signal.getsignal(signal.SIGURG), sys.unraisablehook, threading.active_count()

before = state()
with interruptible():
    Faulty()
assert state() == before
signal.signal(signal.SIGINT, signal.SIG_IGN)
with interruptible():
    assert state() == before
"""

BEFORE_THE_COMMAND = """
import signal, sys

class Finder:
    def find_spec(self, name, *_):
        if name == "locklens.cli.main":
            signal.raise_signal(signal.SIGINT)

from locklens.__main__ import run
sys.meta_path.insert(0, Finder())
run()
"""

UNFORESEEN = """
import threading, time
import locklens.cli.main
from locklens.__main__ import run

def broken(*_):
    threading.Thread(target=time.sleep, args=(600,)).start()
    raise ZeroDivisionError("unforeseen")

locklens.cli.main.main = broken
run()
"""


ENDED = UNFORESEEN.replace('ZeroDivisionError("unforeseen")', "SystemExit(129)")


def finished(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 0), ("SIGTERM", 143)])
def test_a_signal_that_does_not_reach_the_main_threads_wait_ends_it(tmp_path: Path, name: str, status: int) -> None:
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", IN_ANOTHER_THREAD.format(name=name)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        first = process.stdout.readline()
        try:
            _, said = process.communicate("\n", timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail("it goes on although it was interrupted")
    assert first
    assert (process.returncode, said) == (status, "")
    assert not list(tmp_path.iterdir())


def test_an_interrupt_that_a_destructor_drops_is_raised_again() -> None:
    done = finished(IN_A_DESTRUCTOR)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_an_interrupt_that_something_swallows_is_raised_again() -> None:
    done = finished(SWALLOWED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_an_interrupt_that_the_interpreter_turns_into_another_error_is_one() -> None:
    done = finished(AS_ANOTHER_ERROR)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\ninterrupted\nown\n", "")


def test_an_exit_by_another_signal_that_a_destructor_drops_ends_it() -> None:
    done = finished(EXIT_IN_A_DESTRUCTOR)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_all_is_as_before_behind_the_block_and_where_interrupts_are_ignored() -> None:
    done = finished(WITH_OTHERS)
    assert done.returncode == 0, done.stderr
    assert "ValueError: of a destructor" in done.stderr


def test_an_interrupt_while_the_program_is_loaded_ends_it_without_a_trace() -> None:
    done = finished(BEFORE_THE_COMMAND)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_an_error_that_nothing_foresaw_ends_the_process_whatever_its_threads_do() -> None:
    """Textual's threads, which read and write the terminal, never end where it is gone."""
    assert finished(ENDED).returncode == 129, "as by a signal that the sample handles"
    done = finished(UNFORESEEN)
    assert done.returncode == 2
    assert "ZeroDivisionError: unforeseen" in done.stderr
