"""HCL templates over given names, as OpenTofu evaluates `repository_template` (hclsyntax.ParseTemplate).

Text, `${...}` and `%{ if }`; in them strings, numbers, operators, conditions, lists, objects and indices. Not
evaluated here: `for`, splats and heredocs. Functions are an error, as in OpenTofu, which offers none there. No I/O.
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.hcl.strings import unescape
from locklens.hcl.values import KEYWORDS, SyntaxProblemError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    _Value = str | int | float | bool | list["_Value"] | dict[str, "_Value"] | None
    _Node = Callable[[Mapping[str, str]], _Value]

MAX_TEMPLATE = 8192
"""The most characters of a template; real ones have some fifty."""

_MAX_DEPTH = 40
_TEXT = re.compile(r"(?:[^$%]|\$(?!\{|\$\{)|%(?!\{|%\{))+")
_QUOTED_TEXT = re.compile(r'(?:[^"\\$%\r\n]|\\[^\r\n]|\$(?!\{|\$\{)|%(?!\{|%\{))+')
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<name>[^\W\d][\w-]*)|(?P<quote>")
    |(?P<sign>==|!=|<=|>=|&&|\|\||=>|\.\.\.|<<|[-+*/%!<>?:()\[\]{},.=~]))""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")
_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))


class TemplateError(ValueError):
    """A template is malformed, or has no value; str() says why."""


class UnreadableTemplateError(TemplateError):
    """A template that OpenTofu may accept, and that is not evaluated here."""


class NameTemplate(Struct, frozen=True):
    """A template that was read: the names that it refers to, in order, and what evaluates it or raises an error."""

    names: tuple[str, ...]
    value: Callable[[Mapping[str, str]], str]


def read_template(text: str) -> NameTemplate:
    """Read a template.

    Raises:
        TemplateError: It is malformed, or calls a function.
        UnreadableTemplateError: It holds what is not evaluated here.
    """
    if len(text) > MAX_TEMPLATE:
        raise TemplateError(f"a template of more than {MAX_TEMPLATE} characters is not read")
    reading = _Parser(text)
    node = reading.template(quoted=False)
    return NameTemplate(tuple(dict.fromkeys(reading.names)), lambda names: _as_result(node(names)))


def _as_result(value: _Value) -> str:
    if value is None:
        raise TemplateError("template must not produce a null value")
    if isinstance(value, list | dict):
        raise TemplateError("template must produce a string value")
    return _text_of(value)


def _text_of(value: _Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, list | dict):
        raise TemplateError("Cannot include the given value in a string template: string required")
    return str(int(value)) if value == int(value) else repr(value)


class _Parser:
    """A template while it is read: each part becomes a function of the names."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self.names: list[str] = []

    def template(self, *, quoted: bool, ends: tuple[str, ...] = ()) -> _Node:
        """Read up to the end of the text, the closing quote, or a directive of `ends`, which is not consumed."""
        self._deeper()
        parts: list[str | _Node] = []
        trims = self._at > 0 and self._text[self._at - 2 : self._at] == "~}"
        while self._at < len(self._text):
            if quoted and self._text[self._at] == '"':
                break
            match = (_QUOTED_TEXT if quoted else _TEXT).match(self._text, self._at)
            if match is not None:
                text = self._unescaped(match[0]) if quoted else match[0]
                parts.append(text.lstrip() if trims else text)
                self._at, trims = match.end(), False
                continue
            opening = self._text[self._at : self._at + 3]
            if opening in {"$${", "%%{"}:
                parts.append(opening[1:])
                self._at += 3
                continue
            if opening[:2] not in {"${", "%{"}:
                raise TemplateError("Invalid multi-line string: quoted strings may not be split over multiple lines")
            if opening == f"{opening[:2]}~" and parts and isinstance(parts[-1], str):
                parts[-1] = parts[-1].rstrip()
            if opening[:2] == "%{" and self._directive() in ends:
                break
            self._at += 2 + (opening[2:] == "~")
            if opening[0] == "$":
                parts.append(self._expression())
                self._close()
            else:
                parts.append(self._condition(quoted=quoted))
            trims = self._text[self._at - 2 : self._at] == "~}"
        self._depth -= 1
        return _joined(parts)

    def _unescaped(self, text: str) -> str:
        try:
            return unescape(text, self._at)
        except SyntaxProblemError as error:
            raise TemplateError(f"{error.summary}: {error.detail}") from None

    def _directive(self) -> str:
        found = re.compile(r"%\{~?\s*(\w*)").match(self._text, self._at)
        return found[1] if found else ""

    def _close(self) -> None:
        self._accept("~")
        self._demand("}")

    def _condition(self, *, quoted: bool) -> _Node:
        word = self._next()
        if word == "for":
            raise UnreadableTemplateError("a template with %{ for } is not evaluated by locklens")
        if word != "if":
            raise TemplateError(f'Invalid template directive: "{word}" is not one')
        test = self._expression()
        self._close()
        yes = self.template(quoted=quoted, ends=("else", "endif"))
        no: _Node = lambda _: ""  # noqa: E731
        if self._directive() == "else":
            self._skip_directive()
            no = self.template(quoted=quoted, ends=("endif",))
        if self._directive() != "endif":
            raise TemplateError("Unexpected end of template: %{ if } has no %{ endif }")
        self._skip_directive()
        return lambda names: yes(names) if _truth(test(names)) else no(names)

    def _skip_directive(self) -> None:
        self._at += 2
        self._accept("~")
        self._next()
        self._close()

    def _expression(self) -> _Node:
        self._deeper()
        test = self._binary(0)
        if self._accept("?"):
            yes = self._expression()
            self._demand(":")
            no = self._expression()
            inner = test
            test = lambda names: yes(names) if _truth(inner(names)) else no(names)  # noqa: E731
        self._depth -= 1
        return test

    def _binary(self, level: int) -> _Node:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while (sign := self._peek()) in _LEVELS[level]:
            self._next()
            left = _operation(sign, left, self._binary(level + 1))
        return left

    def _unary(self) -> _Node:
        self._deeper()
        if self._accept("!"):
            operand = self._unary()
            found: _Node = lambda names: not _truth(operand(names))  # noqa: E731
        elif self._accept("-"):
            operand = self._unary()
            found = lambda names: -_number(operand(names))  # noqa: E731
        else:
            found = self._indexed(self._term())
        self._depth -= 1
        return found

    def _indexed(self, found: _Node) -> _Node:
        while True:
            if self._accept("["):
                if self._peek() == "*":
                    raise UnreadableTemplateError("a template with a splat is not evaluated by locklens")
                key = self._expression()
                self._demand("]")
                found = _index(found, key)
            elif self._accept("."):
                name = self._next()
                if name == "*":
                    raise UnreadableTemplateError("a template with a splat is not evaluated by locklens")
                found = _index(found, lambda _, name=name: name)  # type: ignore[misc]
            else:
                return found

    def _term(self) -> _Node:
        kind, text = self._token()
        if kind == "number":
            number = float(text) if "." in text else int(text)
            return lambda _: number
        if kind == "quote":
            node = self.template(quoted=True)
            self._demand('"')
            return node
        if kind == "name":
            if self._peek() == "(":
                raise TemplateError("Function calls not allowed: functions may not be called here")
            if text in KEYWORDS:
                constant = KEYWORDS[text]
                return lambda _: constant
            self.names.append(text)
            return lambda names: _named(names, text)
        if text == "(":
            node = self._expression()
            self._demand(")")
            return node
        if text in {"[", "{"}:
            if self._peek() == "for":
                raise UnreadableTemplateError("a template with a for expression is not evaluated by locklens")
            return self._list() if text == "[" else self._object()
        if text == "<<":
            raise UnreadableTemplateError("a template with a heredoc is not evaluated by locklens")
        raise TemplateError("Invalid expression: expected the start of an expression")

    def _list(self) -> _Node:
        items: list[_Node] = []
        while not self._accept("]"):
            items.append(self._expression())
            if self._peek() != "]":
                self._demand(",")
        return lambda names: [item(names) for item in items]

    def _object(self) -> _Node:
        pairs: list[tuple[_Node, _Node]] = []
        while not self._accept("}"):
            key = self._key()
            if not self._accept("="):
                self._demand(":")
            pairs.append((key, self._expression()))
            if self._peek() != "}":
                self._demand(",")
        return lambda names: {_text_of(key(names)): value(names) for key, value in pairs}

    def _key(self) -> _Node:
        before = self._at
        kind, text = self._token()
        if kind == "name" and self._peek() in {"=", ":"}:
            return lambda _: text
        self._at = before
        return self._expression()

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise TemplateError("the template is nested too deeply")

    def _token(self) -> tuple[str, str]:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            raise TemplateError("Invalid expression: expected the start of an expression")
        self._at = match.end()
        return str(match.lastgroup), match[str(match.lastgroup)]

    def _next(self) -> str:
        return self._token()[1]

    def _peek(self) -> str:
        match = _TOKEN.match(self._text, self._at)
        return match[str(match.lastgroup)] if match else ""

    def _accept(self, sign: str) -> bool:
        if self._peek() != sign:
            return False
        self._next()
        return True

    def _demand(self, sign: str) -> None:
        if sign == '"':
            # Space before a closing quote is text.
            if self._text[self._at : self._at + 1] != '"':
                raise TemplateError("Unterminated template string: no closing marker was found for the string")
            self._at += 1
        elif not self._accept(sign):
            raise TemplateError(f'Invalid expression: expected "{sign}"')


def _named(names: Mapping[str, str], name: str) -> str:
    if name not in names:
        raise TemplateError(f'Unknown variable: there is no variable named "{name}"')
    return names[name]


def _joined(parts: list[str | _Node]) -> _Node:
    if len(parts) == 1 and not isinstance(parts[0], str):
        return parts[0]
    return lambda names: "".join(part if isinstance(part, str) else _text_of(part(names)) for part in parts)


def _operation(sign: str, left: _Node, right: _Node) -> _Node:
    def value(names: Mapping[str, str]) -> _Value:
        one, other = left(names), right(names)
        if sign in {"==", "!="}:
            return (type(one) is type(other) and one == other) == (sign == "==")
        if sign in {"&&", "||"}:
            first, second = _truth(one), _truth(other)
            return (first and second) if sign == "&&" else (first or second)
        dividend, divisor = _number(one), _number(other)
        if sign in {"/", "%"} and not divisor:
            raise TemplateError("Division by zero")
        return _OF_NUMBERS[sign](dividend, divisor)

    return value


def _remainder(one: float, other: float) -> float:
    """Return the remainder, with the sign of the dividend, as Go does."""
    return abs(one) % abs(other) * (1 if one >= 0 else -1)


_OF_NUMBERS: dict[str, Callable[[float, float], _Value]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": _remainder,
}


def _truth(value: _Value) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in {"true", "false"}:
        return value == "true"
    raise TemplateError("Incorrect condition type: a bool is required")


def _number(value: _Value) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _NUMBER.match(value):
        return float(value) if set(value) & set(".eE") else int(value)
    raise TemplateError("Invalid operand: a number is required")


def _index(found: _Node, key: _Node) -> _Node:
    def value(names: Mapping[str, str]) -> _Value:
        collection, wanted = found(names), key(names)
        if isinstance(collection, dict):
            name = _text_of(wanted)
            if name in collection:
                return collection[name]
        elif isinstance(collection, list):
            number = _number(wanted)
            if number == int(number) and 0 <= number < len(collection):
                return collection[int(number)]
        else:
            raise TemplateError("Invalid index: This value does not have any indices")
        raise TemplateError("Invalid index: The given key does not identify an element in this collection value")

    return value
