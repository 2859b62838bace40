"""How long the terminal UI takes to show something: `python tests/benchmarks/painting.py [--rounds N] [--locklens PROGRAM]`.

Each program runs in a pseudo-terminal, in turns. Prints the medians until the first frame with a word of the screen, and until
the first row of the review, beside a Textual app that shows one word: the ratios are what to compare.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

from startup import repository

WORD = (
    "from textual.app import App\nfrom textual.widgets import Static\n"
    "class One(App):\n    def compose(self):\n        yield Static('the-word')\nOne().run()"
)
LIMIT = 60.0
"""Seconds; against a program that never shows the word."""

_STYLES = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]")


def seconds_until(command: list[str], words: tuple[bytes, ...], folder: Path) -> list[float]:
    """The times until each of the words is on the screen; the program is killed then.

    Raises:
        RuntimeError: A word did not come.
    """
    start = time.perf_counter()
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.environ |= {"TERM": "xterm-256color", "HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
        os.execv(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    shown, times = b"", []
    try:
        for word in words:
            while word not in _STYLES.sub(b"", shown):
                if time.perf_counter() - start > LIMIT:
                    raise RuntimeError(f"{word!r} did not come: {shown[-500:]!r}")
                shown += os.read(terminal, 65536)
            times.append(time.perf_counter() - start)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)
    return times


def main() -> None:
    """Prints a line for each moment."""
    parser = argparse.ArgumentParser(description="Measure the first frames of the terminal UI.")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--locklens", default=str(Path(sys.executable).with_name("locklens")))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        top = folder / "top"
        repository(top)
        lock = top / ".terraform.lock.hcl"
        lock.write_text(lock.read_text().replace("5.7.0", "5.8.0"))
        review = [options.locklens, "-C", str(top), "review", "--offline"]
        floor, first, row = [], [], []
        for _ in range(options.rounds):
            floor += seconds_until([sys.executable, "-c", WORD], (b"the-word",), folder)
            times = seconds_until(review, (b"Review", b"acme/p007"), folder)
            first.append(times[0])
            row.append(times[1])
    bare = statistics.median(floor)
    for name, taken in (("Textual, one word", floor), ("first frame", first), ("first row", row)):
        print(f"{name:18} {statistics.median(taken) * 1000:7.1f} ms  {statistics.median(taken) / bare:5.2f} x")


if __name__ == "__main__":
    main()
