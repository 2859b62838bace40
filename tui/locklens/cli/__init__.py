"""The command line: arguments, stdout and stderr discipline, exit statuses. It adds no logic of its own.

Every print, and every report to a file, passes here. The result goes to stdout or a file, everything else to stderr.
Only printable text is accepted: see `locklens.text`. The exit statuses are a contract.
"""

from __future__ import annotations

import io
import os
import sys
import time
from contextlib import contextmanager

from locklens.errors import ConfigurationError, LockLensError
from locklens.text import Printable, json_text, one_line, page, size_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TextIO

    from locklens.operations.plan import PlannedFile

_WIDEST = 110
_REDRAW_SECONDS = 0.1
_HELD_BACK = 1 << 20
DONE, FINDINGS, UNUSABLE, INTERRUPTED = 0, 1, 2, 130
NOT_WRITTEN = "dry run: nothing was written"


def put(text: Printable) -> int:
    """Write the result to stdout; see `deliver`."""
    return deliver([text])


def put_event(type_: str, /, **fields: object) -> int:
    """Write one line of JSON as a part of the result: an object that is named by its `type`."""
    return put(json_text({"type": type_, **fields}, indent=None))


def dry_run_words(top: str | os.PathLike[str] | None) -> list[str]:
    """Return what ends a dry run, whose diff names files from a top folder; None without a diff.

    In another folder, `git apply` drops those outside of it silently.
    """
    from locklens.machine import path_from_shell
    from locklens.text import shell_words

    place = path_from_shell(top) if top is not None else "."
    applying = shell_words(["git", "-C", place, "apply"])
    return [NOT_WRITTEN, *([f"note: the diff is from {place}: {applying} takes it"] if place != "." else [])]


def put_patch(files: Iterable[PlannedFile]) -> int:
    """Write the changes of files as the result: exact for `git apply`, printable on a terminal.

    Raises:
        ConfigurationError: Standard output cannot be written.
    """
    if is_terminal(sys.stdout):
        return put(page(line for file in files for line in file.diff_lines()))
    with _writing() as stream:
        patch = "".join(file.diff() for file in files).encode()
        # Text streams of Windows would write every line feed as CRLF.
        stream.flush()
        stream.buffer.write(patch)
        stream.buffer.flush()
    return DONE


@contextmanager
def _writing() -> Iterator[TextIO]:
    if sys.stdout is None:
        raise ConfigurationError("standard output is closed", hint="name a file with --output")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        forget_output()
        raise ConfigurationError(f"standard output cannot be written: {error.strerror}") from error


def forget_output() -> None:
    """Keep Python from writing the rest of the output again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def deliver(pieces: Iterable[Printable], output: str | None = None) -> int:
    """Write the result to a file, or to stdout without one; pieces beyond the first mebibyte as they are made.

    On stdout, characters outside of the terminal's encoding are escaped. An error while the pieces are made leaves the
    file as it was, and nothing of a small result on stdout.

    Raises:
        ConfigurationError: It cannot be written.
    """
    if output is None:
        with _writing() as stream:
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
            stream.writelines(_held_back(pieces))
        return DONE
    from pathlib import Path

    from locklens.storage.files import write_atomically

    write_atomically(Path(output), (piece.encode() for piece in pieces))
    return DONE


def _held_back(pieces: Iterable[Printable]) -> Iterator[Printable]:
    """Yield pieces, the first when a mebibyte of them or all are made."""
    rest = iter(pieces)
    held, size = [], 0
    for piece in rest:
        held.append(piece)
        size += len(piece)
        if size >= _HELD_BACK:
            break
    yield from held
    yield from rest


def tell(lines: Iterable[str]) -> None:
    """Write lines other than the result to stderr."""
    if sys.stderr is not None:
        sys.stderr.write(page(lines))


class LiveLine:
    """The last line on a terminal's stderr, redrawn during work below permanent lines; only those elsewhere.

    It shows what is under way, each by its label.
    """

    def __init__(self) -> None:
        self._is_live = is_terminal(sys.stderr)
        self._shown: dict[str, Callable[[float], str]] = {}
        self._began: dict[str, tuple[float, int]] = {}
        self._columns = 0
        self._last = float("-inf")

    def say(self, *lines: str) -> None:
        """Write permanent lines."""
        self.wipe()
        tell(lines)

    def show(self, label: str, words: Callable[[float], str]) -> None:
        """Show something under way until it is dropped; `words` gets the monotonic time at which it is drawn."""
        now = time.monotonic()
        self._shown[label] = words
        if self._is_live and now - self._last >= _REDRAW_SECONDS:
            self._last = now
            self._redraw("; ".join(words(now) for words in self._shown.values()))

    def show_download(self, label: str, received: int, size: int | None) -> None:
        """Show the bytes of a download, the rate since they were first shown, and for a known size the time left."""
        began, first = self._began.setdefault(label, (time.monotonic(), received))

        def words(now: float) -> str:
            rate = (received - first) / (now - began) if now > began else 0.0
            speed = f", {size_words(int(rate))}/s" if rate else ""
            if not size:
                return f"{label} {size_words(received)}{speed}"
            rest = f", {max(0, size - received) / rate:.0f} s" if rate else ""
            return f"{label} {bar(received, size, 10)} of {size_words(size)}{speed}{rest}"

        self.show(label, words)

    def drop(self, label: str) -> None:
        """Show something no longer, and all else whose label begins with the same words.

        The line is redrawn with the next that is shown.
        """
        for known in [known for known in self._shown if f"{known} ".startswith(f"{label} ")]:
            del self._shown[known]
            self._began.pop(known, None)

    def end(self) -> None:
        """Show nothing any more."""
        self._shown.clear()
        self._began.clear()
        self.wipe()

    def wipe(self) -> None:
        """Remove the line until it is redrawn."""
        if self._columns:
            self._redraw("")

    def _redraw(self, text: str) -> None:
        shown = one_line(text)[:_WIDEST]
        if self._columns:
            sys.stderr.write(f"\r{' ' * self._columns}\r")
        sys.stderr.write(shown)
        sys.stderr.flush()
        self._columns = len(shown)


def bar(done: int, total: int, width: int) -> str:
    """Return a bar of `width` characters for the share of a total that is done."""
    filled = min(width, width * done // max(1, total))
    return f"[{'#' * filled}{'.' * (width - filled)}]"


def complain(error: LockLensError) -> None:
    """Write an error and its hint to stderr."""
    tell([f"error: {error}", *([f"hint: {error.hint}"] if error.hint else [])])


def has_terminal() -> bool:
    """True if all three standard streams are a terminal that can draw, as a user interface needs."""
    return is_watched() and _can_draw()


def is_watched() -> bool:
    """True if all three standard streams are a terminal, whatever it can draw: a person reads warnings there."""
    return all(map(is_terminal, (sys.stdin, sys.stdout, sys.stderr)))


def no_terminal() -> ConfigurationError:
    """Return the error for a user interface that is asked for without such a terminal."""
    reason = "" if _can_draw() else f" that can draw: TERM is {os.environ.get('TERM') or 'not set'}"
    return ConfigurationError(f"the terminal UI needs a terminal{reason}", hint="use --format text or json")


def takes_colour(output: str | None) -> bool:
    """True if a report is coloured: it goes to a terminal that can draw, and the user has nothing against it."""
    return not output and is_terminal(sys.stdout) and _can_draw() and not os.environ.get("NO_COLOR")


def is_terminal(stream: TextIO | None) -> bool:
    """True if a standard stream, None where the caller closed it, is a terminal."""
    return stream is not None and stream.isatty()


def _can_draw() -> bool:
    """True unless TERM says that escape sequences are shown as text, as in an editor's shell; Windows has no TERM."""
    return os.environ.get("TERM", "" if os.name == "posix" else "windows") not in {"", "dumb", "unknown"}
