"""Where words go: the result to stdout or a file, all else to stderr. And the exit statuses, which are a contract."""

from __future__ import annotations

import io
import os
import sys

from locklens.errors import ConfigurationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

    from locklens.errors import LockLensError

DONE, FINDINGS, UNUSABLE, INTERRUPTED = 0, 1, 2, 130


def put(text: str) -> int:
    """Writes the result; what the terminal's encoding cannot say is written as an escape.

    Raises:
        ConfigurationError: Standard output cannot be written.
    """
    if sys.stdout is None:
        raise ConfigurationError("standard output is closed", hint="name a file with --output")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        forget_output()
        raise ConfigurationError(f"standard output cannot be written: {error.strerror}") from error
    return DONE


def forget_output() -> None:
    """Keeps Python from writing at its end what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def deliver(text: str, output: str | None) -> int:
    """Writes the result to a file, or to stdout where none is named.

    Raises:
        ConfigurationError: It cannot be written.
    """
    if output is None:
        return put(text)
    from pathlib import Path

    from locklens.storage.files import write_atomically

    write_atomically(Path(output), text.encode("utf-8", "surrogateescape"))
    return DONE


def tell(lines: Iterable[str]) -> None:
    """Says on stderr what is no result."""
    from locklens.review.reports.visible import visible

    for line in lines:
        print(visible(line), file=sys.stderr)  # noqa: T201


def complain(error: LockLensError) -> None:
    """Says on stderr what went wrong and what to do."""
    tell([f"error: {error}", *([f"hint: {error.hint}"] if error.hint else [])])


def has_terminal() -> bool:
    """Whether all three standard streams are a terminal, as a user interface needs."""
    return all(map(is_terminal, (sys.stdin, sys.stdout, sys.stderr)))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream, which is None where the caller closed it, is a terminal."""
    return stream is not None and stream.isatty()
