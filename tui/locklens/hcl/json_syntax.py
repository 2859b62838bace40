"""HCL's JSON syntax: strict JSON with places, and bodies in which only a schema tells arguments from blocks.

Strings are kept raw: whether `${` in one means anything depends on its place, so the caller decides.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NoReturn, TypeVar

from locklens.hcl.strings import normal
from locklens.hcl.values import (
    KEYWORDS,
    MAX_DEPTH,
    Attribute,
    Block,
    Body,
    Expression,
    ListExpr,
    Literal,
    ObjectExpr,
    Parsed,
    SourcePlace,
    SourceText,
    SyntaxProblem,
    SyntaxProblemError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_Item = TypeVar("_Item")

_TOKEN = re.compile(
    r"""[ \t\r\n]*+(?:
      (?P<string>"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*+")
    | (?P<number>[-+.0-9][-+.0-9eE]*+)
    | (?P<word>[A-Za-z][A-Za-z_]*+)
    | (?P<symbol>[{}\[\],:])
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)
_SPACE = re.compile(r"[ \t\r\n]*+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]{1,3})?\Z")
_MAX_DIGITS = 1000
_STRAY = re.compile("[\ud800-\udfff]")
_START = "A JSON value must start with a brace, a bracket, a number, a string, or a keyword."


def parse_json_body(text: str) -> Parsed:
    """Read a file in JSON syntax. Never raises."""
    reader = _Reader(text)
    try:
        value = reader.file()
    except SyntaxProblemError as error:
        return Parsed(None, (reader.source.problem_of(error),))
    return Parsed(JsonBody(value), ())


class _Reader:
    """Reads values, one token ahead."""

    def __init__(self, text: str) -> None:
        self.source = SourceText(text)
        self._text = text
        self._at = 0  # a byte order mark is not JSON
        self._start = 0
        self._depth = 0

    def file(self) -> Expression:
        kind = self._next()
        if kind not in ("{", "["):
            if kind == "end":
                self._fail("Missing value", "The JSON data ends prematurely.")
            self._value(kind)
            self._fail("Root value must be object", "The root value of a JSON-based configuration must be an object.")
        value = self._value(kind)
        if self._next() != "end":
            self._fail("Extraneous data after value", "Extra characters appear after the JSON value.")
        return value

    def _fail(self, summary: str, detail: str) -> NoReturn:
        raise SyntaxProblemError(self._start, summary, detail)

    def _next(self) -> str:
        """Read the next token and return its kind."""
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            self._start = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._text[self._start] == '"':
                self._fail("Invalid JSON string", "There is a syntax error in the given JSON string.")
            self._fail("Invalid start of value", _START)
        kind = match.lastgroup or ""
        self._start = match.start(kind)
        self._at = match.end()
        return match[kind] if kind == "symbol" else kind

    def _value(self, kind: str) -> Expression:
        """Read the value whose first token has been read."""
        start, end = self._start, self._at
        text = self._text[start:end]
        place = self.source.place
        match kind:
            case "string":
                value = normal(self._string(text), start)
                return Literal(value, place(start, end), is_plain="\\" not in text)
            case "number":
                return Literal(self._number(text), place(start, end))
            case "word":
                if text not in KEYWORDS:
                    self._fail("Invalid JSON keyword", f'"{text}" is not a valid JSON keyword.')
                return Literal(KEYWORDS[text], place(start, end))
            case "{" | "[":
                self._depth += 1
                if self._depth > MAX_DEPTH:
                    self._fail("Nested too deeply", f"More than {MAX_DEPTH} levels are not read.")
                read = self._object(start) if kind == "{" else self._array(start)
                self._depth -= 1
                return read
            case _:
                raise SyntaxProblemError(start, "Missing value" if kind == "end" else "Invalid start of value", _START)

    def _string(self, text: str) -> str:
        if "\\" not in text:
            return _STRAY.sub("\ufffd", text[1:-1])
        try:
            value = json.loads(text)
        except ValueError:
            self._fail("Invalid JSON string", "There is a syntax error in the given JSON string.")
        return _STRAY.sub("\ufffd", value)

    def _number(self, text: str) -> int | float:
        if not _NUMBER.match(text) or len(text) > _MAX_DIGITS:
            self._fail("Invalid JSON number", "There is a syntax error in the given JSON number.")
        value = float(text) if not text.lstrip("-").isdigit() else int(text)
        return int(value) if isinstance(value, float) and value.is_integer() else value

    def _object(self, start: int) -> Expression:
        items = tuple(self._items("}", self._property, "object", "property", "property definition"))
        return ObjectExpr(items, self.source.place(start, self._at))

    def _property(self, kind: str) -> tuple[Expression, Expression]:
        if kind == "end":
            self._fail("Unclosed object", "No closing brace was found for this JSON object.")
        if kind != "string":
            self._fail("Invalid object property name", "A JSON object property name must be a string.")
        name = self._string(self._text[self._start : self._at])
        key = Literal(name, self.source.place(self._start, self._at))
        if self._next() != ":":
            self._fail("Missing property value colon", "JSON uses a colon as its name/value delimiter.")
        return key, self._value(self._next())

    def _array(self, start: int) -> Expression:
        items = tuple(self._items("]", self._value, "array", "value", "value"))
        return ListExpr(items, self.source.place(start, self._at))

    def _items(
        self, closing: str, read: Callable[[str], _Item], collection: str, item: str, between: str
    ) -> Iterator[_Item]:
        """Yield the items between commas, down to the closing bracket; the last three words are for problems."""
        kind = self._next()
        while kind != closing:
            yield read(kind)
            kind = self._next()
            if kind == closing:
                return
            if kind == "end":
                self._fail(f"Unclosed {collection}", f"No closing bracket was found for this JSON {collection}.")
            if kind != ",":
                detail = f"A comma must appear between each {between} in an {collection}."
                self._fail("Missing attribute seperator comma", detail)
            kind = self._next()
            if kind == closing:
                detail = f"JSON does not permit a trailing comma after the final {item} in an {collection}."
                self._fail(f"Trailing comma in {collection}", detail)


class JsonBody:
    """The contents of a file or a block: an object, or an array of objects whose properties count together."""

    __slots__ = ("_problems", "_properties", "_value")

    def __init__(self, value: Expression) -> None:
        self._value = value
        self._problems: list[SyntaxProblem] = []
        self._properties = _properties(value, "to define arguments and child blocks", self._problems)

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """Every property by its name; if a name repeats, the first one."""
        found: dict[str, Attribute] = {}
        for name, place, value in self._properties:
            if name != "//" and name not in found:
                found[name] = Attribute(name, value, place)
        return found

    def blocks(self, kind: str, *, labels: int = 0) -> Sequence[Block]:
        """Return the blocks of a type; their labels are the names of properties at so many levels."""
        return self._unpack(kind, labels, [])

    def all_blocks(self) -> Sequence[Block]:
        """Return (): without a schema, blocks and arguments are indistinguishable."""
        return ()

    def misfits(self, arguments: frozenset[str], blocks: Mapping[str, int]) -> Sequence[SyntaxProblem]:
        """Return what does not fit a schema."""
        problems = list(self._problems)
        seen: set[str] = set()
        for name, place, _ in self._properties:
            if name == "//":
                continue
            if name in arguments:
                if name in seen:
                    detail = f'The argument "{name}" was already set.'
                    problems.append(place.problem("Duplicate argument", detail))
            elif name in blocks:
                if name not in seen:
                    self._unpack(name, blocks[name], problems)
            else:
                detail = f'No argument or block type is named "{name}".'
                problems.append(place.problem("Extraneous JSON object property", detail))
            seen.add(name)
        return problems

    def _unpack(self, kind: str, labels: int, problems: list[SyntaxProblem]) -> list[Block]:
        found: list[Block] = []
        for name, place, value in self._properties:
            if name == kind:
                _unpack(value, kind, place, labels, ((), ()), found, problems)
        return found


_Property = tuple[str, SourcePlace, Expression]


def _properties(value: Expression, purpose: str, problems: list[SyntaxProblem]) -> list[_Property]:
    """Return the properties of an object or of all objects in an array; null has none."""
    if isinstance(value, Literal) and value.value is None:
        return []
    found: list[_Property] = []
    for item in value.items if isinstance(value, ListExpr) else (value,):
        if isinstance(item, ObjectExpr):
            for key, inner in item.items:
                if isinstance(key, Literal) and isinstance(key.value, str):
                    found.append((key.value, key.place, inner))
        else:
            detail = f"A JSON object is required here, {purpose}."
            problems.append(item.place.problem("Incorrect JSON value type", detail))
    return found


def _unpack(
    value: Expression,
    kind: str,
    place: SourcePlace,
    labels_left: int,
    labels: tuple[tuple[str, ...], tuple[SourcePlace, ...]],
    found: list[Block],
    problems: list[SyntaxProblem],
) -> None:
    """Read one level of labels, or a value as the contents of one or more blocks."""
    if labels_left:
        before = len(problems)
        properties = _properties(value, "to specify labels for this block", problems)
        if not properties and len(problems) == before:
            detail = f"At least one object property is required, whose name represents a label of the {kind} block."
            problems.append(value.place.problem("Missing block label", detail))
        for name, at, inner in properties:
            _unpack(inner, kind, place, labels_left - 1, ((*labels[0], name), (*labels[1], at)), found, problems)
        return
    if isinstance(value, ObjectExpr | ListExpr):
        for content in value.items if isinstance(value, ListExpr) else (value,):
            body: Body = JsonBody(content)
            found.append(Block(kind, labels[0], body, place, labels[1]))
    elif not (isinstance(value, Literal) and value.value is None):
        what = f'representing the contents of one or more "{kind}" blocks'
        detail = f"Either a JSON object or a JSON array is required, {what}."
        problems.append(value.place.problem("Incorrect JSON value type", detail))
