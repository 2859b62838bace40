"""A position in a text of HCL's native syntax, and the tokens that begin there.

Nothing here knows what may follow what.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from locklens.hcl.values import ConfigurationProblem, SourcePlace

MAX_NESTING = 100
"""Brackets, blocks and templates inside each other. Real files have some ten."""

NAME = r"[A-Za-z_][A-Za-z0-9_-]*+"
STRAY = "\udc80-\udcff"
"""Bytes that are no UTF-8, as `decode` keeps them. HCL tolerates them in comments only."""

_WORD = r"[A-Za-z0-9_-]|[^\x00-\x7f]"
_COMMENT_LINE = r"(?:\#|//)[^\n]*+"
_COMMENT_INLINE = r"/\*(?s:.*?)\*/"
_TOKENS = rf"""
    (?P<name>{NAME})(?![^\x00-\x7f])
  | (?P<plain>"[^"\\$%\r\n{STRAY}]*+")
  | (?P<number>[0-9](?:(?:[0-9.]|[eE][+-]?[0-9])*(?:[0-9]|[eE][+-]?[0-9]))?)
  | (?P<heredoc><<-?(?:{_WORD})++\r?\n)
  | (?P<quote>")
  | (?P<symbol>==|!=|>=|<=|&&|\|\||::|\.\.\.|=>|~\}}|[\[\](){{}}.,*/%+\-=<>!?:])
  | (?P<end>\Z)
  | (?P<unicode>(?=[A-Za-z_]|[^\x00-\x7f])(?:{_WORD})++)
"""
_ANY = re.compile(rf"(?:[ \t]|\r?\n|{_COMMENT_LINE}|{_COMMENT_INLINE})*+(?:{_TOKENS})", re.VERBOSE)
_IN_LINE = re.compile(
    rf"(?:[ \t]|{_COMMENT_INLINE})*+(?:(?P<newline>(?:{_COMMENT_LINE})?\r?\n)"
    rf"|(?:{_COMMENT_LINE}\Z)?(?:{_TOKENS}))",
    re.VERBOSE,
)
_SPACE = re.compile(rf"(?:[ \t]|\r?\n|{_COMMENT_LINE}|{_COMMENT_INLINE})*+", re.VERBOSE)
_LINE_END = re.compile(r"\n")


class SyntaxProblemError(Exception):
    """The text is no HCL from here on; caught where a file's reading begins."""

    def __init__(self, start: int, summary: str, detail: str) -> None:
        super().__init__(summary)
        self.start = start
        self.summary = summary
        self.detail = detail


class Cursor:
    """A text and how far it has been read.

    Attributes:
        text: The file's text.
        position: Offset of what is read next.
        kind: Of the token that `peek` saw: "name", "plain", "quote", "number", "heredoc", "newline", "end", or the
            symbol itself.
        start: Offset of that token.
        end: Offset behind it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 1 if text.startswith("\ufeff") else 0
        self.kind = ""
        self.start = self.end = 0
        self.depth = 0
        self._origin = self.position
        self._lines: list[int] = []

    def peek(self, *, in_line: bool) -> str:
        """Looks at the next token without taking it, and returns its kind.

        Args:
            in_line: Whether a line's end is a token, as it is between arguments; else it is skipped, as it is inside
                brackets.

        Raises:
            SyntaxProblemError: No token begins here.
        """
        match = (_IN_LINE if in_line else _ANY).match(self.text, self.position)
        if match is None:
            raise self._no_token()
        kind = match.lastgroup or ""
        self.start = match.start(kind)
        self.end = match.end()
        if kind == "symbol":
            kind = self.text[self.start : self.end]
        elif kind == "unicode":
            kind = self._unicode_name()
        self.kind = kind
        return kind

    def take(self) -> str:
        """Takes the token that `peek` saw, and returns its text."""
        self.position = self.end
        return self.text[self.start : self.end]

    def place(self, start: int, end: int) -> SourcePlace:
        """Returns the place of a piece of the text."""
        line, column = self.line_and_column(start)
        return SourcePlace(line, column, start, end)

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Returns line and column, from 1, of an offset."""
        if not self._lines:
            self._lines = [self._origin, *(match.end() for match in _LINE_END.finditer(self.text))]
        line = bisect_right(self._lines, offset) or 1
        return line, offset - self._lines[line - 1] + 1

    def problem(self, start: int, summary: str, detail: str) -> ConfigurationProblem:
        """Returns a problem with what stands at an offset."""
        line, column = self.line_and_column(start)
        return ConfigurationProblem(line, column, summary, detail)

    def enter(self) -> None:
        """Counts one more level of nesting.

        Raises:
            SyntaxProblemError: There are too many.
        """
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise SyntaxProblemError(
                self.position, "Nested too deeply", f"More than {MAX_NESTING} levels are not read."
            )

    def leave(self) -> None:
        """Counts one level less."""
        self.depth -= 1

    def _unicode_name(self) -> str:
        word = self.text[self.start : self.end]
        length = 1 if word[0].isidentifier() else 0
        while 0 < length < len(word) and (word[length] == "-" or ("a" + word[length]).isidentifier()):
            length += 1
        if not length:
            raise self._no_token(self.start)
        self.end = self.start + length
        return "name"

    def _no_token(self, start: int = -1) -> SyntaxProblemError:
        if start < 0:
            match = _SPACE.match(self.text, self.position)
            start = match.end() if match is not None else self.position
        character = self.text[start : start + 1]
        if "\udc80" <= character <= "\udcff":
            return bad_encoding(start)
        detail = "This character is not used within the language."
        if character == "'":
            detail = 'Single quotes are not valid. Use double quotes (") to enclose strings.'
        elif character == ";":
            detail = "Use newlines to separate arguments and blocks, and commas to separate items in collection values."
        elif character in ("&", "|", "^", "~"):
            return SyntaxProblemError(start, "Unsupported operator", "Bitwise operators are not supported.")
        return SyntaxProblemError(start, "Invalid character", detail)


def bad_encoding(start: int) -> SyntaxProblemError:
    """The problem of bytes that are no UTF-8."""
    return SyntaxProblemError(start, "Invalid character encoding", "All input files must be UTF-8 encoded.")
