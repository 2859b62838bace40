"""The values of HCL: places, expressions, arguments, blocks and problems, and the text of a file."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


KEYWORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
"""The constants of both syntaxes that are words, by their text."""

MAX_DEPTH = 100
"""The most nested brackets, blocks and templates. Real files have some ten."""

NAME = r"[A-Za-z_][A-Za-z0-9_-]*+"
STRAY = "\udc80-\udcff"
"""Bytes that are not UTF-8, as `decode` keeps them. HCL accepts them in comments only."""

_LINE_END = re.compile(r"\n")


class SourcePlace(Struct, frozen=True):
    """A place in a file.

    Lines and columns count from 1. Offsets and columns count characters of the text that `decode` returns for the
    file's bytes. Offsets include a byte order mark, columns do not. So `text[:start] + new + text[end:]` replaces
    exactly this range, and `encode` returns the bytes.
    """

    line: int
    column: int
    start: int
    end: int

    def problem(self, summary: str, detail: str) -> SyntaxProblem:
        """Return a problem at the beginning of the place."""
        return SyntaxProblem(self.line, self.column, summary, detail)


class SyntaxProblem(Struct, frozen=True):
    """An error that the real tools report for a file, in their words.

    Attributes:
        content: A digest of what cannot be read, if the words do not identify it; otherwise "".
    """

    line: int
    column: int
    summary: str
    detail: str
    content: str = ""


class Literal(Struct, frozen=True):
    """A constant. Templates without variables have been evaluated. The place of a string includes its quotes.

    Attributes:
        value: None is the constant null. A whole number is an int, however it is written.
        is_plain: True if the text between the quotes is the value itself, without escapes and templates.
    """

    value: str | int | float | bool | None
    place: SourcePlace
    is_plain: bool = True

    @property
    def keyword(self) -> str:
        """The keyword of null and of a boolean, which may be meant as a name; "" for any other constant."""
        if self.value is None:
            return "null"
        return str(self.value).lower() if isinstance(self.value, bool) else ""

    @property
    def text(self) -> str | None:
        """The value converted to a string as the tools convert it; None for null."""
        if self.value is None or isinstance(self.value, str):
            return self.value
        if isinstance(self.value, bool):
            return "true" if self.value else "false"
        if isinstance(self.value, int):
            return str(self.value)
        text = repr(self.value)
        return f"{self.value:.20f}".rstrip("0") if "e" in text else text


class ListExpr(Struct, frozen=True):
    """A list in brackets."""

    items: tuple[Expression, ...]
    place: SourcePlace


class ObjectExpr(Struct, frozen=True):
    """An object in braces. A bare word as a key is a Literal, and keys may repeat."""

    items: tuple[tuple[Expression, Expression], ...]
    place: SourcePlace


class IndexStep(str):
    """A step of a reference in brackets, `["k"]`, as opposed to an attribute."""

    __slots__ = ()


class Reference(Struct, frozen=True):
    """A name and constant steps from it, such as `aws.east` or `a.b["k"]`."""

    parts: tuple[str | int, ...]
    place: SourcePlace


class Dynamic(Struct, frozen=True):
    """An expression that has no value without variables and functions, or that was not wanted.

    Attributes:
        prefix: The constant steps at its start, if it is a reference with a computed index; otherwise ().
        is_call: True for a function call.
    """

    place: SourcePlace
    prefix: tuple[str | int, ...] = ()
    is_call: bool = False


Expression = Literal | ListExpr | ObjectExpr | Reference | Dynamic


class Attribute(Struct, frozen=True):
    """An argument: its name, the expression after the equals sign, and the place of the name."""

    name: str
    value: Expression
    place: SourcePlace


class Block(Struct, frozen=True):
    """A nested block.

    Attributes:
        place: The place of the type, in JSON of the property's name.
        label_places: The place of each label with its quotes.
        end: Offset after the closing brace; 0 in JSON, where blocks have no text of their own.
    """

    type: str
    labels: tuple[str, ...]
    body: Body
    place: SourcePlace
    label_places: tuple[SourcePlace, ...]
    end: int = 0


class Wanted(Struct, frozen=True):
    """The arguments of a body to read, None for all, and those of nested blocks by type."""

    arguments: frozenset[str] | None = frozenset()
    blocks: dict[str, Wanted] = field(default_factory=dict)

    def admits(self, name: str) -> bool:
        """True if an argument is wanted."""
        return self.arguments is None or name in self.arguments


class Body(Protocol):
    """The contents of a file or a block, of either syntax."""

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The arguments by name; in JSON every property, because only a schema tells arguments from blocks."""

    def blocks(self, kind: str, *, labels: int = 0) -> Sequence[Block]:
        """Return the nested blocks of one type; native blocks with another number of labels are left out."""

    def all_blocks(self) -> Sequence[Block]:
        """Return every nested block in the file's order; () for JSON, in which only a schema identifies blocks."""

    def misfits(self, arguments: frozenset[str], blocks: Mapping[str, int]) -> Sequence[SyntaxProblem]:
        """Return a problem for all that a schema, names of arguments and numbers of labels by type, does not allow."""


class Parsed(Struct, frozen=True):
    """A file that was read.

    Attributes:
        body: None if the syntax is broken, because arguments may be missing then.
        problems: () for a file that the real tools read without an error.
    """

    body: Body | None
    problems: tuple[SyntaxProblem, ...]


def decode(data: bytes) -> str:
    """Return the text that places refer to: UTF-8, with stray bytes kept as lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text that `decode` returned."""
    return text.encode("utf-8", "surrogateescape")


class SyntaxProblemError(Exception):
    """The text is not HCL from an offset on; caught by the functions that read a file."""

    def __init__(self, start: int, summary: str, detail: str) -> None:
        super().__init__(summary)
        self.start = start
        self.summary = summary
        self.detail = detail


def bad_encoding(start: int) -> SyntaxProblemError:
    """Return the problem of bytes that are not UTF-8."""
    return SyntaxProblemError(start, "Invalid character encoding", "All input files must be UTF-8 encoded.")


class SourceText:
    """A file's text, with the lines and columns of its offsets.

    Attributes:
        origin: Offset of the first character after a byte order mark.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.origin = 1 if text.startswith("\ufeff") else 0
        self._lines: list[int] = []

    def place(self, start: int, end: int) -> SourcePlace:
        """Return the place of a range of the text."""
        line, column = self.line_and_column(start)
        return SourcePlace(line, column, start, end)

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return line and column, from 1, of an offset."""
        if not self._lines:
            self._lines = [self.origin, *(match.end() for match in _LINE_END.finditer(self.text))]
        line = bisect_right(self._lines, offset) or 1
        return line, offset - self._lines[line - 1] + 1

    def problem(self, start: int, summary: str, detail: str) -> SyntaxProblem:
        """Return a problem at an offset."""
        line, column = self.line_and_column(start)
        return SyntaxProblem(line, column, summary, detail)

    def problem_of(self, error: SyntaxProblemError) -> SyntaxProblem:
        """Return the problem of an error."""
        return self.problem(error.start, error.summary, error.detail)
