"""The older HCL, in which CLI configuration files are written, as a tree of entries with their lines.

It differs from the HCL of configurations: argument names may be quoted, as everybody does in `dev_overrides`, commas
are optional, and a block is a value like another. A file that begins with `{` is JSON, whatever its name is.
"""

from __future__ import annotations

import re

from msgspec import Struct

from locklens import hcl

_MAX_DEPTH = 100
_TOKEN = re.compile(
    r"""
    (?P<skip>[ \t\r\n\ufeff]+|(?:\#|//)[^\n]*|/\*.*?\*/)
  | (?P<heredoc><<(?P<indent>-?)(?P<mark>[A-Za-z0-9_]+)\r?\n(?P<text>.*?)^[ \t]*(?P=mark)[ \t]*$)
  | (?P<string>"(?:[^"\\\n$]|\\.|\$(?!\{)|\$\{[^}]*\})*")
  | (?P<number>-?(?:0x[0-9A-Fa-f]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.-]))
  | (?P<word>[^\W\d][\w.:-]*)
  | (?P<mark_sign>[{}\[\]=,])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_ESCAPE = re.compile(r'\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}|[0-7]{3}|[abfnrtv\\"])|\\.', re.DOTALL)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"'}


class ObjectMember(Struct, frozen=True):
    """One member of an object.

    Attributes:
        keys: The name, and labels behind it.
        value: A constant, a list of values, or an object as a tuple of entries; None for what JSON calls null.
        line: Of the name.
        is_assigned: True if an equals sign, or JSON's colon, stands before the value.
    """

    keys: tuple[str, ...]
    value: Value
    line: int
    is_assigned: bool = False


Value = str | float | bool | list["Value"] | tuple[ObjectMember, ...] | None


class FormatError(ValueError):
    """The text is no CLI configuration."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def parse_cli_configuration(data: bytes) -> tuple[ObjectMember, ...]:
    """Read a file.

    Raises:
        FormatError: It is malformed; str() does not quote what may be a secret.
    """
    if len(data) > hcl.MAX_CONFIGURATION_BYTES:
        raise FormatError(f"the file has more than {hcl.MAX_CONFIGURATION_BYTES // 1024**2} MiB", 1)
    if data.lstrip().startswith(b"{"):
        return _parse_json(data)
    return _Native(data.decode("utf-8", "replace")).parse()


class _Token(Struct, frozen=True):
    kind: str
    text: str
    line: int


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise FormatError("this is neither an argument nor a block", line)
        kind = match.lastgroup or ""
        kind = next(name for name in ("skip", "heredoc", "string", "number", "word", "mark_sign") if match[name])
        if kind != "skip":
            tokens.append(_Token(kind, match["text"] if kind == "heredoc" else match[0], line))
        line += match[0].count("\n")
        position = match.end()
    tokens.append(_Token("end", "", line))
    return tokens


class _Native:
    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0

    def parse(self) -> tuple[ObjectMember, ...]:
        return self._object("", 0)

    def _next(self) -> _Token:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _object(self, closing: str, depth: int) -> tuple[ObjectMember, ...]:
        """Read entries up to a closing brace, or to the end of the file."""
        if depth > _MAX_DEPTH:
            raise FormatError("blocks are nested too deeply", self._tokens[self._at].line)
        entries: list[ObjectMember] = []
        while True:
            token = self._next()
            if token.kind == "end" or token.text == "}":
                if token.text != closing:
                    raise FormatError(
                        "a closing brace is missing" if closing else "a closing brace has no match", token.line
                    )
                return tuple(entries)
            if token.text == "," and entries:
                continue
            keys, line = [], token.line
            while token.kind in {"word", "string"}:
                keys.append(_unquoted(token))
                token = self._next()
            if not keys or token.text not in {"=", "{"} or (token.text == "=" and len(keys) > 1):
                raise FormatError("this is neither an argument nor a block", line)
            is_assigned = token.text == "="
            value = self._value(self._next(), depth + 1) if is_assigned else self._object("}", depth + 1)
            entries.append(ObjectMember(tuple(keys), value, line, is_assigned))

    def _value(self, token: _Token, depth: int) -> Value:
        if token.kind in {"string", "heredoc"}:
            return _unquoted(token)
        if token.kind == "number":
            return int(token.text, 16) if "0x" in token.text else float(token.text)
        if token.text in {"true", "false"}:
            return token.text == "true"
        if token.text == "{":
            return self._object("}", depth)
        if token.text != "[" or depth > _MAX_DEPTH:
            raise FormatError("a value is missing", token.line)
        items: list[Value] = []
        while (token := self._next()).text != "]":
            if token.text != ",":
                items.append(self._value(token, depth + 1))
        return items


def _unquoted(token: _Token) -> str:
    if token.kind != "string":
        return token.text
    return _ESCAPE.sub(lambda match: _unescaped(match, token.line), token.text[1:-1])


def _unescaped(match: re.Match[str], line: int) -> str:
    text = match[1]
    if text is None:
        raise FormatError("a string holds an unknown escape", line)
    if text in _SIMPLE:
        return _SIMPLE[text]
    code = int(text, 8) if text[0].isdigit() else int(text[1:], 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise FormatError("a string holds an unknown escape", line)
    return chr(code)


def _parse_json(data: bytes) -> tuple[ObjectMember, ...]:
    parsed = hcl.parse_json(data)
    if parsed.body is None:
        problem = parsed.problems[0] if parsed.problems else None
        raise FormatError("the file is malformed JSON", problem.line if problem else 1)
    return tuple(
        ObjectMember((name,), _constant(attribute.value), attribute.place.line, is_assigned=True)
        for name, attribute in parsed.body.attributes.items()
    )


def _constant(value: hcl.Expression) -> Value:
    if isinstance(value, hcl.Literal):
        return value.value
    if isinstance(value, hcl.ListExpr):
        return [_constant(item) for item in value.items]
    if isinstance(value, hcl.ObjectExpr):
        return tuple(
            ObjectMember((str(key.value),), _constant(member), key.place.line, is_assigned=True)
            for key, member in value.items
            if isinstance(key, hcl.Literal)
        )
    return None  # A template: nothing that is read here may hold one.


def objects(value: Value) -> list[tuple[ObjectMember, ...]]:
    """Return the bodies of a block: JSON may write one as an object or as a list of objects."""
    if isinstance(value, tuple):
        return [value]
    return [item for item in value if isinstance(item, tuple)] if isinstance(value, list) else []


def last(entries: tuple[ObjectMember, ...], name: str) -> ObjectMember | None:
    """Return the argument of a name, None where there is none; of several the last counts."""
    return next((entry for entry in reversed(entries) if entry.keys == (name,)), None)
