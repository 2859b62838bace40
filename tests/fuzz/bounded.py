"""What any input may cost, counted in calls of functions and not in seconds; and what may be printed of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from locklens.errors import LockLensError
from locklens.hcl.expressions import _parser
from locklens.text import visible

FREE_CALLS = 60_000
CALLS_PER_BYTE = 400
"""Of Python's own functions. Reading a configuration takes some hundred for each of its bytes: grammar, tokens, places."""


class TooManyCallsError(BaseException):
    """A reader does more than its input is worth. No Exception: nothing on the way takes it for a bad input."""


@contextmanager
def few_calls(size: int) -> Iterator[None]:
    """Fails where more functions are called than an input of that many bytes may cost."""
    _parser()  # Once on a machine it is built from its grammar, which no input asks for.
    left = FREE_CALLS + CALLS_PER_BYTE * size
    before = sys.getprofile()

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal left
        if event == "call":
            left -= 1
            if left < 0:
                sys.setprofile(before)
                raise TooManyCallsError(f"more calls than {size} bytes are worth")

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)


def is_printable(text: str) -> bool:
    """True if an output has no character that acts on a terminal, line feeds aside."""
    return all(visible(line) == line for line in text.split("\n"))


def has_sentence(error: LockLensError) -> bool:
    """True if an error says something, within a screen."""
    return 8 < len(str(error)) < 4000
