"""The policy file as a document: its types, the line of each key and element, and errors about values.

tomllib does not report lines. The types are the keys that the reader accepts, and the source of the JSON Schema for
editors.
"""

from __future__ import annotations

import re
import tomllib
from datetime import date  # noqa: TC003  # evaluated by msgspec
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from locklens.errors import ConfigurationError
from locklens.policy.model import AcceptFrom, InstallPath, SeverityName, Threshold
from locklens.text import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_SHOWN = 80
_PLACE = re.compile(r" - at `\$(?P<path>[^`]*)`\Z")
_STEP = re.compile(r"\.(?P<name>\w+)|\[(?P<index>[0-9]+)\]")


KeyPath = tuple[str | int, ...]
"""Names from the top of a document; a number is the index of an array element."""

# Possessive loops of groups end with an alternative that matches nothing: Python before 3.11.5 would keep the text of a
# last repetition that failed halfway (https://github.com/python/cpython/issues/106052).
_TOKEN = re.compile(
    r'''
    (?P<blank>[ \t\r]++|\#[^\n]*+)
  | (?P<newline>\n)
  | (?P<symbol>[\[\]{}=,.])
  | (?P<quoted>
        """(?:[^"\\]|\\.|"{1,2}(?!")|)*+(?:"{3,5}|\\?\Z)
      | \'\'\'(?:[^']|'{1,2}(?!')|)*+(?:'{3,5}|\Z)
      | "(?:[^"\\\n]|\\[^\n])*+"?
      | '[^'\n]*+'?
    )
  | (?P<bare>[^\s\#\[\]{}=,."']++|.)
    ''',
    re.VERBOSE | re.DOTALL,
)


class MarkedDocument:
    """The values of a document, with the line of each key and element."""

    def __init__(self, values: Mapping[str, object], lines: Mapping[KeyPath, int], path: str) -> None:
        self.values = values
        self.path = path
        self._lines = lines

    def line(self, *where: str | int) -> int:
        """Return the line of a key or element, or of the innermost one around it that has a line."""
        while where and where not in self._lines:
            where = where[:-1]
        return self._lines.get(where, 1)

    def refuse(self, message: str, *where: str | int, hint: str = "") -> NoReturn:
        """Raise an error about a key or element.

        Raises:
            ConfigurationError: Always, with path and line.
        """
        raise ConfigurationError(message, path=self.path, line=self.line(*where), hint=hint)

    def refuse_unknown(self, table: Mapping[str, object], known: Sequence[str], *where: str | int) -> None:
        """Refuse the first unknown key of a table.

        Raises:
            ConfigurationError: A key is unknown; the message has the nearest known one, and the hint the place of one
                that slipped into a table.
        """
        for key in table:
            if key not in known:
                hint = hint_of_slipped(key) if where else ""
                self.refuse(f"unknown key {in_quotes(key)}{nearest_key(key, known)}", *where, key, hint=hint)

    def convert(self, value: object, type_: Any, name: str, *where: str | int) -> Any:
        """Convert a value to a type of the policy's document; refuse the first unknown key if it is a table.

        Raises:
            ConfigurationError: The value is of another type, or beyond a bound; the error has the line of the part.
        """
        if isinstance(value, dict) and isinstance(type_, type) and issubclass(type_, Struct):
            self.refuse_unknown(value, type_.__struct_fields__, *where)
        try:
            return msgspec.convert(value, type_)
        except msgspec.ValidationError as error:
            words, steps = str(error), []
            if place := _PLACE.search(words):
                words = words[: place.start()]
                steps = [one["name"] or int(one["index"]) for one in _STEP.finditer(place["path"])]
            field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
            self.refuse(f"{name}{field}: {_plain(words)}", *where, *steps)

    def one_line(self, text: str, name: str, *where: str | int) -> str:
        """Return a text if it can be shown on one line.

        Raises:
            ConfigurationError: It has a character that is not printable.
        """
        if text and not text.isprintable():
            self.refuse(f"{name} must be one line of printable characters", *where)
        return text


def hint_of_slipped(name: str) -> str:
    """Return where a key of the document belongs that stands in a table; "" for a name that is none."""
    is_known = name in PolicyDocument.__struct_fields__
    return f'to set the key of that name, move "{name}" above the first table' if is_known else ""


def _plain(words: str) -> str:
    """Return a message of msgspec in the terms of TOML."""
    words = words.replace("`", '"').replace("Invalid RFC3339 encoded date", 'Expected "date"')
    for type_, plain in (
        ('"str"', "a string"),
        ('"int"', "a whole number"),
        ('"array"', "a list"),
        ('"object"', "a table"),
        ('"date"', "a date such as 2026-11-20"),
    ):
        words = words.replace(type_, plain)
    words = words.replace("Object missing required field", "lacks").replace("Expected", "expected")
    return shortened(words.replace("Invalid enum value", "unknown value"), MAX_SHOWN)


def in_quotes(text: str) -> str:
    """Return foreign text in quotes, shortened."""
    return f'"{shortened(text, MAX_SHOWN)}"'


_LIKENESS = 0.55
"""Below it, letters are alike by chance: "error" and "off", "none" and "info"."""


def nearest_key(text: str, names: Sequence[str]) -> str:
    """Return the end of a message that suggests the most similar of several names; "" where none is like the text."""
    from difflib import get_close_matches

    near = get_close_matches(text[:60], names, n=1, cutoff=_LIKENESS)
    return f'; did you mean "{near[0]}"?' if near else ""


class _Token(Struct, frozen=True):
    kind: str
    text: str
    line: int


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind != "blank":
            yield _Token(kind, match.group(), line)
        line += match.group().count("\n")


def line_nested_too_deep(text: str, limit: int) -> int | None:
    """Return the first line with more than `limit` nested brackets or parts of a dotted key; any text is allowed."""
    depth = dots = 0
    for token in _tokens(text):
        if token.kind == "symbol" and token.text == ".":
            dots += 1
        elif token.kind in ("symbol", "newline"):
            dots = 0
            depth = max(0, depth + (token.text in ("[", "{")) - (token.text in ("]", "}")))
        if max(depth, dots) > limit:
            return token.line
    return None


def lines_of_keys(text: str) -> dict[KeyPath, int]:
    """Return the line of every key and element of a valid document, from 1; for a repeated key, the first line."""
    return _Walk(text).lines


class _Walk:
    """One pass over a valid document, whose syntax is not checked again."""

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._elements: dict[KeyPath, int] = {}
        self._tokens = list(_tokens(text))
        self._tokens.append(_Token("end", "", self._tokens[-1].line if self._tokens else 1))
        self._next = 0
        table: KeyPath = ()
        while (token := self._peek()).kind != "end":
            if token.kind == "newline":
                self._next += 1
            elif token.text == "[":
                table = self._header()
            else:
                self._pair(table)

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _header(self) -> KeyPath:
        """Consume `[a.b]` or `[[a.b]]`; return the path of the table."""
        self._take()
        repeated = self._peek().text == "["
        if repeated:
            self._take()
        names = self._names("]")
        if repeated:
            self._take()
        path: KeyPath = ()
        for position, (name, line) in enumerate(names):
            path = self._note((*path, name), line)
            if repeated and position == len(names) - 1:
                path = self._element(path, line)
            elif path in self._elements:
                path = (*path, self._elements[path] - 1)
        return path

    def _names(self, closing: str) -> list[tuple[str, int]]:
        """Consume a dotted key and the closing symbol; return its names with their lines."""
        names = []
        while (token := self._take()).text != closing and token.kind != "end":
            if token.kind == "quoted":
                names.append((str(tomllib.loads(f"name = {token.text}")["name"]), token.line))
            elif token.text != ".":
                names.append((token.text, token.line))
        return names

    def _note(self, path: KeyPath, line: int) -> KeyPath:
        self.lines.setdefault(path, line)
        return path

    def _element(self, path: KeyPath, line: int) -> KeyPath:
        index = self._elements.get(path, 0)
        self._elements[path] = index + 1
        return self._note((*path, index), line)

    def _pair(self, table: KeyPath) -> None:
        path = table
        for name, line in self._names("="):
            path = self._note((*path, name), line)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        """Consume one value and nothing after it."""
        if self._peek().text not in ("[", "{") or self._peek().kind == "quoted":
            while self._peek().kind not in ("newline", "end") and self._peek().text not in (",", "]", "}"):
                self._take()
            return
        opening = self._take().text
        while (token := self._peek()).text not in ("]", "}") and token.kind != "end":
            if token.kind == "newline" or token.text == ",":
                self._take()
            elif opening == "[":
                self._value(self._element(path, token.line))
            else:
                self._pair(path)
        self._take()


MAX_PLATFORMS = 100
MAX_DAYS = 3650
MAX_REASON = 200
"""The most characters of a reason or a name: it is shown on one line."""
MAX_POLICY_ENTRIES = 1000
"""The most entries of one list: the file is about a page long."""

_PLATFORM = r"^[a-z0-9]{1,32}_[a-z0-9]{1,32}$"
FINGERPRINT = r"^([0-9A-F]{40}|[0-9A-F]{64})$"
_RULE = r"^LK[0-9]{3}$"
_ADVISORY = r"^[A-Za-z][A-Za-z0-9-]{2,63}$"
TOOLCHAIN = r"^(go)?1\.[0-9]{1,4}(\.[0-9]{1,4})?$"
_CHANGE = r"^([0-9a-f]{16}|[0-9a-f]{32})$"

_Text = Annotated[str, Meta(max_length=MAX_REASON)]
_PlatformName = Annotated[str, Meta(pattern=_PLATFORM)]
_Rule = Annotated[str, Meta(pattern=_RULE)]


class TrustTable(Struct, frozen=True, forbid_unknown_fields=True):
    """The keys that may sign the releases of a namespace; others block (LK010)."""

    keys: Annotated[
        list[Annotated[str, Meta(pattern=FINGERPRINT)]],
        Meta(min_length=1, max_length=8, description="full fingerprints, upper case; two during a rotation"),
    ]
    by: Annotated[_Text, Meta(description="who decided it")] = ""
    on: Annotated[date | UnsetType, Meta(description="when")] = UNSET
    why: Annotated[_Text, Meta(description="the reason")] = ""
    review_by: Annotated[date | UnsetType, Meta(description="the date to look at it again")] = UNSET


class AcceptTable(Struct, frozen=True, forbid_unknown_fields=True):
    """The acceptance of one rule's finding about exactly one change."""

    rule: Annotated[_Rule, Meta(description="the finding's rule")]
    provider: Annotated[_Text, Meta(description="the full address: host/namespace/type")]
    change: Annotated[
        str,
        Meta(pattern=_CHANGE, description="the change's id, 32 hex digits; an older id of 16 digits accepts nothing"),
    ]
    reason: Annotated[str, Meta(min_length=1, max_length=MAX_REASON, description="why it is accepted")]
    by: Annotated[_Text, Meta(description="who accepts it")]
    on: Annotated[date, Meta(description="when")]
    until: Annotated[date | UnsetType, Meta(description="the last day on which it holds")] = UNSET


class IgnoreTable(Struct, frozen=True, forbid_unknown_fields=True):
    """An advisory that raises no finding (LK042, LK043), and is counted as ignored."""

    id: Annotated[str, Meta(pattern=_ADVISORY, description="GO, CVE or GHSA id, in upper or lower case")]
    why: Annotated[str, Meta(min_length=1, max_length=MAX_REASON, description="the reason")]
    by: Annotated[_Text, Meta(description="who decided it")] = ""
    until: Annotated[date | UnsetType, Meta(description="the last day on which it holds")] = UNSET


class AdvisoriesTable(Struct, frozen=True, forbid_unknown_fields=True):
    """Settings for the advisories of the Go vulnerability database."""

    ignore: Annotated[
        list[IgnoreTable], Meta(max_length=MAX_POLICY_ENTRIES, description="advisories that raise no finding")
    ] = []


class PolicyDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of a repository for its lock files: locklens.toml at its top. Every key is optional."""

    fail_on: Annotated[
        Threshold | UnsetType,
        Meta(description="lowest severity at which a review exits 1, unless the command line says otherwise"),
    ] = UNSET
    cooldown: Annotated[
        Annotated[int, Meta(ge=0, le=MAX_DAYS)] | UnsetType, Meta(description="minimum age of a release, in days")
    ] = UNSET
    toolchain: Annotated[
        Annotated[str, Meta(pattern=TOOLCHAIN)] | UnsetType,
        Meta(description="least version of Go that a provider may be built with; anything older is LK045"),
    ] = UNSET
    hosts: Annotated[
        list[_Text], Meta(max_length=MAX_POLICY_ENTRIES, description="more registries that may be asked")
    ] = []
    reported_hashes: Annotated[
        Annotated[list[_Text], Meta(max_length=MAX_POLICY_ENTRIES)] | UnsetType,
        Meta(description="registries whose unsigned h1 are locked with OpenTofu; if unset, only its own registry"),
    ] = UNSET
    install_paths: Annotated[
        Annotated[list[InstallPath], Meta(min_length=1)] | UnsetType,
        Meta(description="where packages are installed from"),
    ] = UNSET
    allow: Annotated[
        Annotated[list[_Text], Meta(max_length=MAX_POLICY_ENTRIES)] | UnsetType,
        Meta(description="providers and version ranges; any other is LK022"),
    ] = UNSET
    accept_from: Annotated[
        AcceptFrom,
        Meta(description="side whose acceptances and pins count; head only where code owners guard this file"),
    ] = AcceptFrom.BASE
    platforms: Annotated[
        dict[_PlatformName, _Text] | list[_PlatformName], Meta(description="required platforms, each with the reason")
    ] = {}
    severity: Annotated[dict[_Rule, SeverityName], Meta(description="severity of rules")] = {}
    trust: Annotated[dict[_Text, TrustTable], Meta(description='keys by namespace, or by "host/namespace"')] = {}
    advisories: Annotated[AdvisoriesTable, Meta(description="advisories of the Go vulnerability database")] = (
        AdvisoriesTable()
    )
    accept: Annotated[list[AcceptTable], Meta(max_length=MAX_POLICY_ENTRIES, description="accepted findings")] = []


def policy_schema() -> dict[str, object]:
    """Return the JSON Schema of the file, for editors with TOML support."""
    from msgspec.json import schema

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "locklens.toml",
        **schema(PolicyDocument),
    }
