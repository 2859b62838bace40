"""HCL's native syntax: the contents of files and blocks, and the expressions that need no parser.

A lock file may hold only constants. References, and objects of plain strings, are nearly all that locklens reads of a
configuration. `locklens.hcl.expressions` reads any other expression.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from locklens.hcl.scan import ArgumentSpan, BlockExtent, BodySpan, Scanner
from locklens.hcl.strings import TextSpan, normal
from locklens.hcl.values import (
    KEYWORDS,
    MAX_DEPTH,
    NAME,
    STRAY,
    Attribute,
    Block,
    Dynamic,
    Expression,
    ListExpr,
    Literal,
    ObjectExpr,
    Parsed,
    Reference,
    SourceText,
    SyntaxProblem,
    SyntaxProblemError,
    Wanted,
)
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


_NOTHING = Wanted()


class NativeBody:
    """The contents of a file or a block."""

    __slots__ = ("_blocks", "attributes")

    def __init__(self, attributes: Mapping[str, Attribute], blocks: Sequence[Block]) -> None:
        self.attributes = attributes
        self._blocks = blocks

    def blocks(self, kind: str, *, labels: int = 0) -> Sequence[Block]:
        """Return the blocks of a type with that number of labels."""
        return [block for block in self._blocks if block.type == kind and len(block.labels) == labels]

    def all_blocks(self) -> Sequence[Block]:
        """Return every block in the file's order."""
        return self._blocks

    def misfits(self, arguments: frozenset[str], blocks: Mapping[str, int]) -> Sequence[SyntaxProblem]:
        """Return the arguments and blocks that a schema of names and numbers of labels does not have."""
        problems: list[SyntaxProblem] = []
        for name, attribute in self.attributes.items():
            if name in arguments:
                continue
            detail = f'An argument named "{name}" is not expected here.'
            if name in blocks:
                detail += f' Did you mean to define a block of type "{name}"?'
            problems.append(attribute.place.problem("Unsupported argument", detail))
        for block in self._blocks:
            place, expected = block.place, blocks.get(block.type)
            if expected is None:
                detail = f'Blocks of type "{block.type}" are not expected here.'
                problems.append(place.problem("Unsupported block type", detail))
            elif len(block.labels) != expected:
                word = "Missing" if len(block.labels) < expected else "Extraneous"
                place = block.label_places[expected] if len(block.labels) > expected else place
                detail = f"All {block.type} blocks must have {counted(expected, 'label')}."
                problems.append(place.problem(f"{word} label for {block.type}", detail))
        return problems


def parse_native(
    text: str, read: Callable[[SourceText], Callable[[TextSpan], Expression]], wanted: Wanted | None = None
) -> Parsed:
    """Read a file; never raises. `read` makes the reader of its expressions.

    An argument that is wanted and broken is left out with a problem; where all are wanted (None), it ends the reading
    of the file.
    """
    source = SourceText(text)
    scanner = Scanner(source)
    try:
        body = scanner.body()
        reading = _Reading(source, read(source))
        found = reading.body(body, wanted)
    except SyntaxProblemError as error:
        return Parsed(None, (*scanner.problems, source.problem_of(error)))
    return Parsed(found, (*scanner.problems, *reading.problems))


class _Reading:
    def __init__(self, source: SourceText, read: Callable[[TextSpan], Expression]) -> None:
        self.problems: list[SyntaxProblem] = []
        self._source = source
        self._read = read

    def body(self, body: BodySpan, wanted: Wanted | None) -> NativeBody:
        """Return a body's contents.

        Raises:
            SyntaxProblemError: All arguments are wanted (None), and one is broken.
        """
        attributes: dict[str, Attribute] = {}
        for argument in body.arguments.values():
            found = self._attribute(argument, wanted)
            if found is not None:
                attributes[found.name] = found
        return NativeBody(attributes, [self._block(block, wanted) for block in body.blocks])

    def _attribute(self, argument: ArgumentSpan, wanted: Wanted | None) -> Attribute | None:
        """Return an argument; None if its value is broken."""
        place = self._source.place(argument.start, argument.start + len(argument.name))
        if wanted is not None and not wanted.admits(argument.name):
            return Attribute(argument.name, Dynamic(self._source.place(*argument.value)), place)
        try:
            return Attribute(argument.name, self._read(argument.value), place)
        except SyntaxProblemError as error:
            if wanted is None:
                raise
            self.problems.append(self._source.problem_of(error))
            return None

    def _block(self, block: BlockExtent, wanted: Wanted | None) -> Block:
        place = self._source.place
        inner = None if wanted is None else wanted.blocks.get(block.type, _NOTHING)
        return Block(
            block.type,
            block.labels,
            self.body(block.body, inner),
            place(block.start, block.start + len(block.type)),
            tuple(place(*span) for span in block.label_spans),
            block.end,
        )


# The reason for the empty alternative is in `scan.py`.
_BETWEEN_VALUES = re.compile(r"(?:[ \t]|\r?\n|(?:\#|//)[^\n]*+|/\*(?s:.*?)\*/|)*+")
_TOKEN = re.compile(r'"|<<|\[|-?[0-9][0-9.eE+-]*+|[a-z]++')
_NUMBER = re.compile(r"-?[0-9]++(?:\.[0-9]++)?(?:[eE]([+-]?[0-9]++))?\Z")
_MAX_EXPONENT = 300
_TEMPLATE_DEPTH = MAX_DEPTH // 4
"""The levels that an interpolation counts for: its contents are read again for each template around it."""

_MAX_DIGITS = 1000


def number(text: str) -> int | float | None:
    """Return the value of a number literal, None for other text; a whole number is an int, however it is written."""
    match = _NUMBER.match(text)
    if match is None:
        return None
    if len(text) > _MAX_DIGITS or (match[1] and abs(int(match[1][:6])) > _MAX_EXPONENT):
        return float(text)
    value = Decimal(text)
    return int(value) if value == value.to_integral_value() else float(value)


class Constants:
    """Reads constants as strictly as HCL does: all that a lock file may hold."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._scanner = Scanner(source)

    def read(self, span: TextSpan) -> Expression:
        """Return the constant in a range of the text; Dynamic for any other expression.

        Raises:
            SyntaxProblemError: A string in it is broken.
        """
        return self._read(span, 0)

    def _read(self, span: TextSpan, depth: int) -> Expression:
        start = _skip(_BETWEEN_VALUES, self._source.text, span.start)
        value, at = self._value(start, depth)
        if value is not None and _skip(_BETWEEN_VALUES, self._source.text, at) >= span.end:
            return value
        return Dynamic(self._source.place(start, span.end))

    def _value(self, start: int, depth: int) -> tuple[Expression | None, int]:
        """Read the constant at an offset; return it, or None, with the offset after it."""
        text, place = self._source.text, self._source.place
        token = _TOKEN.match(text, start)
        word = token[0] if token is not None else ""
        if token is None or depth > MAX_DEPTH:
            return None, start
        if word == "[":
            return self._list(start, depth + 1)
        if word in ('"', "<<"):
            template = self._scanner.template(start)
            where = place(start, template.end)
            return template.value(where, lambda span: self._read(span, depth + _TEMPLATE_DEPTH)), template.end
        end = token.end()
        if word in KEYWORDS:
            return Literal(KEYWORDS[word], place(start, end)), end
        value = number(word)
        return (None if value is None else Literal(value, place(start, end), is_plain=word[0] != "-")), end

    def _list(self, start: int, depth: int) -> tuple[Expression | None, int]:
        text = self._source.text
        items: list[Expression] = []
        at = _skip(_BETWEEN_VALUES, text, start + 1)
        while text[at : at + 1] != "]":
            value, at = self._value(at, depth)
            if value is None:
                return None, at
            items.append(value)
            at = _skip(_BETWEEN_VALUES, text, at)
            if text[at : at + 1] == ",":
                at = _skip(_BETWEEN_VALUES, text, at + 1)
            elif text[at : at + 1] != "]":
                raise SyntaxProblemError(at, "Missing item separator", "Expected a comma to mark the next item.")
        return ListExpr(tuple(items), self._source.place(start, at + 1)), at + 1


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match is not None else at


_OPENING = re.compile(r"\{[ \t\n]*+")
_ITEM = re.compile(rf'({NAME})[ \t]*+=[ \t]*+("[^"\\$%\r\n{STRAY}]*+")[ \t]*+')
_SEPARATOR = re.compile(r"(?:,|\n)[ \t\n]*+")
_REFERENCE = re.compile(rf"{NAME}(?:\.{NAME})*+\Z")
_WORDS = frozenset({*KEYWORDS, "for", "if", "in", "else", "endif", "endfor"})
"""Words that are not a plain name in every place."""


def read_plain(source: SourceText, start: int, end: int) -> Expression | None:
    """Return the object of plain strings or the reference between two offsets; None for anything else, valid or not.

    Nearly all wanted expressions of configurations are of these kinds, and need no parser.
    """
    if source.text.startswith("{", start):
        return _object(source, start, end)
    match = _REFERENCE.match(source.text, start, end)
    parts = match[0].split(".") if match is not None else []
    if not parts or not _WORDS.isdisjoint(parts):
        return None
    return Reference(tuple(parts), source.place(start, end))


def _object(source: SourceText, start: int, end: int) -> ObjectExpr | None:
    text = source.text
    opening = _OPENING.match(text, start, end)
    at = opening.end() if opening is not None else end
    items: list[tuple[Expression, Expression]] = []
    while (item := _ITEM.match(text, at, end)) is not None:
        if item[1] in _WORDS:
            return None
        key = Literal(item[1], source.place(*item.span(1)))
        items.append((key, Literal(normal(item[2][1:-1], item.start(2)), source.place(*item.span(2)))))
        at = item.end()
        separator = _SEPARATOR.match(text, at, end)
        if separator is None:
            break
        at = separator.end()
    if at != end - 1 or text[at] != "}":
        return None
    return ObjectExpr(tuple(items), source.place(start, end))
