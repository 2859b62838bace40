"""HCL's native syntax: bodies, blocks and arguments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from locklens.hcl.cursor import NAME, STRAY, Cursor, SyntaxProblemError
from locklens.hcl.expressions import ExpressionReader
from locklens.hcl.templates import normal, read_label
from locklens.hcl.values import (
    Attribute,
    Block,
    ConfigurationProblem,
    Expression,
    Literal,
    Parsed,
    Reference,
    SourcePlace,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_COMMENT = r"(?:(?:\#|//)[^\n]*+)?"
# Whole lines as nearly all are written. What does not fit is read token by token.
_LINE = re.compile(
    rf"""[ \t]*+(?:
      (?P<blank>{_COMMENT}\r?\n)
    | (?P<name>{NAME})[ \t]*+=[ \t]*+
        (?:"(?P<text>[^"\\$%\r\n{STRAY}]*+)"|(?P<reference>{NAME}(?:\.{NAME})*+)(?![^\x00-\x7f]))[ \t]*+{_COMMENT}\r?\n
    | (?P<type>{NAME})(?P<labels>(?:[ \t]++"[^"\\$%\r\n{STRAY}]*+")*+)[ \t]*+\{{[ \t]*+{_COMMENT}\r?\n
    | (?P<close>\}})[ \t]*+{_COMMENT}\r?\n
    )""",
    re.VERBOSE,
)
_LABEL = re.compile(r'"([^"]*+)"')
_KEYWORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_REQUIRED = "An argument or block definition is required here."


class NativeBody:
    """The contents of a file or a block."""

    __slots__ = ("_blocks", "attributes")

    def __init__(self, attributes: Mapping[str, Attribute], blocks: Sequence[Block]) -> None:
        self.attributes = attributes
        self._blocks = blocks

    def blocks(self, kind: str, *, labels: int = 0) -> Sequence[Block]:
        """Returns the blocks of a type that have so many labels."""
        return [block for block in self._blocks if block.type == kind and len(block.labels) == labels]

    def all_blocks(self) -> Sequence[Block]:
        """Returns every block in the file's order."""
        return self._blocks

    def misfits(
        self, arguments: frozenset[str], blocks: Mapping[str, int], *, is_open: bool = False
    ) -> Sequence[ConfigurationProblem]:
        """Returns what does not fit a schema."""
        problems: list[ConfigurationProblem] = []
        for name, attribute in self.attributes.items():
            if name in arguments or (is_open and name not in blocks):
                continue
            detail = f'An argument named "{name}" is not expected here.'
            if name in blocks:
                detail += f' Did you mean to define a block of type "{name}"?'
            problems.append(
                ConfigurationProblem(attribute.place.line, attribute.place.column, "Unsupported argument", detail)
            )
        for block in self._blocks:
            place, expected = block.place, blocks.get(block.type)
            if expected is None:
                if not is_open or block.type in arguments:
                    detail = f'Blocks of type "{block.type}" are not expected here.'
                    problems.append(ConfigurationProblem(place.line, place.column, "Unsupported block type", detail))
            elif len(block.labels) != expected:
                word = "Missing" if len(block.labels) < expected else "Extraneous"
                place = block.label_places[expected] if len(block.labels) > expected else place
                detail = f"All {block.type} blocks must have {expected} label{'s' * (expected != 1)}."
                problems.append(
                    ConfigurationProblem(place.line, place.column, f"{word} label for {block.type}", detail)
                )
        return problems


def parse_native(text: str) -> Parsed:
    """Reads a file in native syntax. Never raises."""
    reader = _BodyReader(Cursor(text))
    try:
        body = reader.body(None)
    except SyntaxProblemError as error:
        found = [*reader.problems, reader.cursor.problem(error.start, error.summary, error.detail)]
        return Parsed(None, tuple(found))
    except RecursionError:
        detail = "Brackets or blocks are nested too deeply to be read."
        return Parsed(None, (reader.cursor.problem(reader.cursor.position, "Nested too deeply", detail),))
    return Parsed(body, tuple(reader.problems))


class _BodyReader(ExpressionReader):
    """Reads bodies at a cursor."""

    def __init__(self, cursor: Cursor) -> None:
        super().__init__(cursor)
        self.problems: list[ConfigurationProblem] = []

    def body(self, opening: int | None) -> NativeBody:
        """Reads items up to the closing brace, which is taken, or the end of the file.

        Args:
            opening: Offset of the opening brace, None for a file.
        """
        cursor = self.cursor
        attributes: dict[str, Attribute] = {}
        blocks: list[Block] = []
        text = cursor.text
        match_line = _LINE.match
        while True:
            line = match_line(text, cursor.position)
            kind = line.lastgroup if line is not None else None
            if line is None or (kind == "close" and opening is None):
                if not self._read_item(opening, attributes, blocks):
                    return NativeBody(attributes, blocks)
                continue
            if kind == "close":
                cursor.position = line.end("close")
                return NativeBody(attributes, blocks)
            cursor.position = line.end()
            if kind == "labels":
                blocks.append(self._block_of_line(line))
            elif kind != "blank":
                self._add(attributes, self._attribute_of_line(line))

    def _attribute_of_line(self, line: re.Match[str]) -> Attribute:
        cursor = self.cursor
        start, end = line.span("name")
        place = cursor.place(start, end)
        text = line["text"]
        if text is not None:
            begin, end = line.span("text")
            value_place = SourcePlace(place.line, place.column + begin - 1 - start, begin - 1, end + 1)
            return Attribute(line["name"], Literal(normal(text, begin), value_place), place)
        begin, end = line.span("reference")
        value_place = SourcePlace(place.line, place.column + begin - start, begin, end)
        word = line["reference"]
        value: Expression
        value = (
            Literal(_KEYWORDS[word], value_place)
            if word in _KEYWORDS
            else Reference(tuple(word.split(".")), value_place)
        )
        return Attribute(line["name"], value, place)

    def _block_of_line(self, line: re.Match[str]) -> Block:
        cursor = self.cursor
        start, end = line.span("type")
        place = cursor.place(start, end)
        labels: list[str] = []
        places: list[SourcePlace] = []
        for label in _LABEL.finditer(cursor.text, *line.span("labels")):
            labels.append(label[1])
            places.append(SourcePlace(place.line, place.column + label.start() - start, label.start(), label.end()))
        cursor.enter()
        body = self.body(end)
        cursor.leave()
        closed = cursor.position
        self._expect_line_end("Missing newline after block definition", "A block definition must end with a newline.")
        return Block(line["type"], tuple(labels), body, place, tuple(places), closed)

    def _add(self, attributes: dict[str, Attribute], attribute: Attribute) -> None:
        existing = attributes.get(attribute.name)
        if existing is None:
            attributes[attribute.name] = attribute
            return
        place = attribute.place
        detail = (
            f'The argument "{attribute.name}" was already set at line {existing.place.line}. '
            "Each argument may be set only once."
        )
        self.problems.append(ConfigurationProblem(place.line, place.column, "Attribute redefined", detail))

    def _read_item(self, opening: int | None, attributes: dict[str, Attribute], blocks: list[Block]) -> bool:
        """Reads one item token by token; False where the body ended, whose end is taken."""
        cursor = self.cursor
        kind = cursor.peek(in_line=True)
        if kind == "newline":
            cursor.take()
            return True
        if kind == ("end" if opening is None else "}"):
            cursor.take()
            return False
        if kind == "end":
            detail = "There is no closing brace for this block before the end of the file."
            raise SyntaxProblemError(opening or 0, "Unclosed configuration block", detail)
        if kind in ("plain", "quote"):
            raise SyntaxProblemError(cursor.start, "Invalid argument name", "Argument names must not be quoted.")
        if kind != "name":
            raise SyntaxProblemError(cursor.start, "Argument or block definition required", _REQUIRED)
        start = cursor.start
        name = cursor.take()
        if cursor.peek(in_line=True) == "=":
            self._add(attributes, self._attribute(name, start))
            self._expect_line_end("Missing newline after argument", "An argument definition must end with a newline.")
        else:
            blocks.append(self._block(name, start))
            self._expect_line_end(
                "Missing newline after block definition", "A block definition must end with a newline."
            )
        return True

    def _expect_line_end(self, summary: str, detail: str) -> None:
        cursor = self.cursor
        kind = cursor.peek(in_line=True)
        if kind == ",":
            summary = "Unexpected comma after argument"
        if kind not in ("newline", "end"):
            raise SyntaxProblemError(cursor.start, summary, detail)
        cursor.take()

    def _attribute(self, name: str, start: int) -> Attribute:
        """Reads the rest of an argument whose equals sign was just seen."""
        cursor = self.cursor
        place = cursor.place(start, cursor.position)
        cursor.take()
        return Attribute(name, self.expression(in_line=True), place)

    def _block(self, kind: str, start: int) -> Block:
        """Reads the rest of a block whose type was taken."""
        cursor = self.cursor
        place = cursor.place(start, cursor.position)
        labels: list[str] = []
        places: list[SourcePlace] = []
        while (kind_seen := cursor.peek(in_line=True)) != "{":
            at = cursor.start
            if kind_seen == "name":
                labels.append(cursor.take())
            elif kind_seen == "plain":
                labels.append(cursor.take()[1:-1])
            elif kind_seen == "quote":
                cursor.take()
                labels.append(read_label(cursor))
            else:
                raise self._bad_header(kind_seen, start, has_labels=bool(labels))
            places.append(cursor.place(at, cursor.position))
        opening = cursor.start
        cursor.take()
        cursor.enter()
        body = (
            self.body(opening) if cursor.peek(in_line=True) in ("newline", "end", "}") else self._one_line_body(opening)
        )
        cursor.leave()
        return Block(kind, tuple(labels), body, place, tuple(places), cursor.position)

    def _bad_header(self, seen: str, start: int, *, has_labels: bool) -> SyntaxProblemError:
        if not has_labels:
            detail = f'{_REQUIRED} To set an argument, use the equals sign "=" to introduce the argument value.'
            return SyntaxProblemError(start, "Argument or block definition required", detail)
        detail = 'Either a quoted string block label or an opening brace ("{") is expected here.'
        if seen == "=":
            detail = 'The equals sign "=" indicates an argument definition, and must not be used when defining a block.'
        elif seen == "newline":
            detail = 'A block definition must have block content delimited by "{" and "}", starting on the same line.'
        return SyntaxProblemError(self.cursor.start, "Invalid block definition", detail)

    def _one_line_body(self, opening: int) -> NativeBody:
        """Reads `NAME = VALUE }`: a block in one line holds one argument at most, and no block."""
        cursor = self.cursor
        start = cursor.start
        if cursor.kind != "name":
            raise SyntaxProblemError(start, "Argument or block definition required", _REQUIRED)
        name = cursor.take()
        kind = cursor.peek(in_line=True)
        if kind in ("plain", "quote", "{", "name"):
            detail = (
                "A single-line block definition can contain only a single argument. To define a nested block, "
                "place it on a line of its own within its parent block."
            )
            raise SyntaxProblemError(start, "Argument definition required", detail)
        if kind != "=":
            raise SyntaxProblemError(start, "Argument or block definition required", _REQUIRED)
        attribute = self._attribute(name, start)
        kind = cursor.peek(in_line=True)
        if kind == "end":
            detail = "There is no closing brace for this block before the end of the file."
            raise SyntaxProblemError(opening, "Unclosed configuration block", detail)
        if kind != "}":
            detail = (
                "A single-line block definition must end with a closing brace immediately after its single argument."
            )
            raise SyntaxProblemError(cursor.start, "Invalid single-argument block definition", detail)
        cursor.take()
        return NativeBody({name: attribute}, ())


__all__ = ["NativeBody", "parse_native"]
