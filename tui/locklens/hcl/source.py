"""A text of HCL with the lines and columns of its offsets, and the problem that ends its reading."""

from __future__ import annotations

import re
from bisect import bisect_right

from locklens.hcl.values import SourcePlace, SyntaxProblem

MAX_DEPTH = 100
"""Brackets, blocks and templates inside each other. Real files have some ten."""

NAME = r"[A-Za-z_][A-Za-z0-9_-]*+"
STRAY = "\udc80-\udcff"
"""Bytes that are no UTF-8, as `decode` keeps them. HCL tolerates them in comments only."""

_LINE_END = re.compile(r"\n")


class SyntaxProblemError(Exception):
    """The text is no HCL from here on; caught where a file's reading begins."""

    def __init__(self, start: int, summary: str, detail: str) -> None:
        super().__init__(summary)
        self.start = start
        self.summary = summary
        self.detail = detail


def bad_encoding(start: int) -> SyntaxProblemError:
    """The problem of bytes that are no UTF-8."""
    return SyntaxProblemError(start, "Invalid character encoding", "All input files must be UTF-8 encoded.")


class SourceText:
    """A file's text.

    Attributes:
        text: As `decode` gives it.
        origin: Offset of the first character behind a byte order mark.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.origin = 1 if text.startswith("\ufeff") else 0
        self._lines: list[int] = []

    def place(self, start: int, end: int) -> SourcePlace:
        """Return the place of a piece of the text."""
        line, column = self.line_and_column(start)
        return SourcePlace(line, column, start, end)

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return line and column, from 1, of an offset."""
        if not self._lines:
            self._lines = [self.origin, *(match.end() for match in _LINE_END.finditer(self.text))]
        line = bisect_right(self._lines, offset) or 1
        return line, offset - self._lines[line - 1] + 1

    def problem(self, start: int, summary: str, detail: str) -> SyntaxProblem:
        """Return a problem with what stands at an offset."""
        line, column = self.line_and_column(start)
        return SyntaxProblem(line, column, summary, detail)

    def problem_of(self, error: SyntaxProblemError) -> SyntaxProblem:
        """Return the problem that an error stands for."""
        return self.problem(error.start, error.summary, error.detail)
