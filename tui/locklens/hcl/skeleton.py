"""Expressions of more than one operand, as the sequence of their operators and brackets.

Every operand becomes an `x`, so that `a.b == "" ? [] : f(1)` is `x == x ? x : x ( x )`: few skeletons cover most of
what people write, and each is judged once.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol

from locklens.hcl import grammar
from locklens.hcl.cursor import Cursor, SyntaxProblemError
from locklens.hcl.values import Dynamic, Expression, Literal, Reference, SourcePlace

MAX_TOKENS = 20_000
"""Tokens of one expression that are read."""

_BINARY = frozenset(["==", "!=", "<", ">", "<=", ">=", "&&", "||", "+", "-", "*", "/", "%"])
CONTINUING = _BINARY | {"?", ".", "["}
"""Tokens that carry an expression on behind any operand."""
CALLING = frozenset(["(", "::"])
"""Tokens that carry an expression on behind a mere name."""

_INNER = frozenset([",", ":", "=>", "..."])
_CLOSERS = frozenset([")", "]", "}"])
# HCL has no splat inside an attribute-only splat.
_NESTED_SPLAT = re.compile(r"\.\*(?: \. [x0])* \.\*")


class ExpressionReader(Protocol):
    """What a skeleton needs of the reader of expressions."""

    cursor: Cursor

    def operand(self, kind: str) -> Expression:
        """Reads the operand whose first token the cursor has just seen."""


class _Bracket(NamedTuple):
    closer: str
    is_for: bool
    start: int


class Skeleton:
    """The tokens of one expression, as far as it has been read."""

    def __init__(self, reader: ExpressionReader, *, in_line: bool) -> None:
        self._reader = reader
        self._in_line = in_line
        self._pieces: list[str] = []
        self._starts: list[int] = []
        self._brackets: list[_Bracket] = []
        self._questions = 0
        self._has_operand = False
        self._is_callable = False
        self._first: Expression | None = None
        self._binary_at = -1

    def add(self, value: Expression, start: int, *, is_callable: bool) -> None:
        """Takes an operand that was read."""
        if self._first is None:
            self._first = value
        self._append("x", start, ends_operand=True)
        self._is_callable = is_callable

    def open_for(self, bracket: str, start: int) -> None:
        """Takes the bracket and the keyword of a `for`, which were read, and reads its names.

        Raises:
            SyntaxProblemError: Names or the keyword `in` are missing.
        """
        cursor = self._reader.cursor
        self._open(bracket, "]" if bracket == "[" else "}", start, is_for=True)
        self._append("for", start)
        for _ in range(2):
            if cursor.peek(in_line=False) != "name":
                detail = "For expression requires variable name after 'for'."
                raise SyntaxProblemError(cursor.start, "Invalid 'for' expression", detail)
            self._append("x", cursor.start)
            cursor.take()
            if cursor.peek(in_line=False) != ",":
                break
            self._append(",", cursor.start)
            cursor.take()
        if cursor.peek(in_line=False) != "name" or cursor.take() != "in":
            detail = "For expression requires the 'in' keyword after its name declarations."
            raise SyntaxProblemError(cursor.start, "Invalid 'for' expression", detail)
        self._append("in", cursor.start)

    def read(self, *, only_bracket: bool) -> None:
        """Reads up to the first token that cannot belong to the expression.

        Args:
            only_bracket: Whether to stop behind the bracket that is open already.

        Raises:
            SyntaxProblemError: It is no expression.
        """
        cursor = self._reader.cursor
        while True:
            kind = cursor.peek(in_line=self._in_line and not self._brackets)
            if not self._has_operand:
                self._read_operand(kind)
            elif (only_bracket and not self._brackets) or not self._read_operator(kind):
                break
        self._judge()

    def value(self, place: SourcePlace) -> Expression:
        """Returns a constant or what is in mere parentheses, and Dynamic for anything that needs an evaluation."""
        shape = "".join(self._pieces)
        if shape.strip("()") == "x" and self._first is not None:
            return self._first
        if shape == "-x" and isinstance(self._first, Literal):
            number = self._first.value
            if isinstance(number, int | float) and not isinstance(number, bool):
                return Literal(-number, place, is_plain=False)
        if self._pieces[1:2] == ["["] and isinstance(self._first, Reference):
            return Dynamic(place, self._first.parts)
        return Dynamic(place, is_call=self._pieces[:2] == ["x", "("])

    def _append(self, piece: str, start: int, *, ends_operand: bool = False) -> None:
        if len(self._pieces) >= MAX_TOKENS:
            raise SyntaxProblemError(start, "Expression too long", f"More than {MAX_TOKENS} tokens are not read.")
        self._pieces.append(piece)
        self._starts.append(start)
        self._has_operand = ends_operand
        self._is_callable = False

    def _open(self, bracket: str, closer: str, start: int, *, is_for: bool = False) -> None:
        self._append(bracket, start)
        self._brackets.append(_Bracket(closer, is_for, start))

    def _take(self, piece: str = "", *, ends_operand: bool = False) -> None:
        """Takes the token that was just seen."""
        start = self._reader.cursor.start
        text = self._reader.cursor.take()
        self._append(piece or text, start, ends_operand=ends_operand)

    def _read_operand(self, kind: str) -> None:
        cursor = self._reader.cursor
        start = cursor.start
        if kind in ("-", "!"):
            # The grammar knows one sign before an operand, HCL any number of them.
            if self._pieces and self._pieces[-1] in ("-", "!") and len(self._pieces) != self._binary_at:
                cursor.take()
            else:
                self._take()
        elif kind == "(":
            cursor.take()
            self._open("(", ")", start)
        elif kind == ")" and self._brackets and self._brackets[-1].closer == ")" and self._pieces[-1] in ("(", ","):
            self._take(ends_operand=True)
            self._brackets.pop()
        else:
            name_end = cursor.end if kind == "name" else -1
            value = self._reader.operand(kind)
            self.add(value, start, is_callable=cursor.position == name_end)

    def _read_operator(self, kind: str) -> bool:
        """Reads what may stand behind an operand; False where the expression has ended before it."""
        cursor = self._reader.cursor
        if kind in _BINARY:
            self._take()
            self._binary_at = len(self._pieces)
        elif kind == "?":
            self._questions += not self._brackets
            self._take()
        elif kind == ":" and not self._brackets and self._questions:
            self._questions -= 1
            self._take()
        elif kind == ".":
            self._read_step()
        elif kind == "[":
            self._read_index()
        elif kind == "::" and self._is_callable:
            self._read_namespaces()
        elif kind == "(" and self._is_callable:
            start = cursor.start
            cursor.take()
            self._open("(", ")", start)
        elif not self._brackets:
            return False
        else:
            self._read_inner(kind)
        return True

    def _read_inner(self, kind: str) -> None:
        """Reads a separator or closer inside brackets."""
        cursor = self._reader.cursor
        bracket = self._brackets[-1]
        if kind == bracket.closer:
            self._brackets.pop()
            self._take(ends_operand=True)
        elif kind == "name" and bracket.is_for and cursor.text[cursor.start : cursor.end] == "if":
            self._take("if")
        elif kind in _INNER:
            self._take(ends_operand=kind == "...")
        elif kind == "end":
            detail = "There is no corresponding closing bracket before the end of the file."
            raise SyntaxProblemError(bracket.start, "Unbalanced brackets", detail)
        elif bracket.is_for:
            detail = "Extra characters after the end of the 'for' expression."
            raise SyntaxProblemError(cursor.start, "Invalid 'for' expression", detail)
        elif bracket.closer == ")":
            detail = "Expected a comma or a closing parenthesis."
            raise SyntaxProblemError(cursor.start, "Unbalanced parentheses", detail)
        else:
            detail = 'The index operator must end with a closing bracket ("]").'
            raise SyntaxProblemError(cursor.start, "Missing close bracket on index", detail)

    def _read_step(self) -> None:
        cursor = self._reader.cursor
        in_line = self._in_line and not self._brackets
        dot = cursor.start
        cursor.take()
        kind = cursor.peek(in_line=in_line)
        if kind == "*":
            self._take(".*", ends_operand=True)
            return
        text = cursor.text[cursor.start : cursor.end]
        if kind == "number" and "." in text:
            detail = "When using the legacy index syntax, chaining two indexes together is not permitted."
            raise SyntaxProblemError(cursor.start, "Invalid legacy index syntax", detail)
        if kind not in ("name", "number"):
            raise SyntaxProblemError(
                cursor.start, "Invalid attribute name", "An attribute name is required after a dot."
            )
        self._append(".", dot)
        self._take("x" if kind == "name" else "0", ends_operand=True)

    def _read_index(self) -> None:
        cursor = self._reader.cursor
        in_line = self._in_line and not self._brackets
        start = cursor.start
        cursor.take()
        if cursor.peek(in_line=in_line) != "*":
            self._open("[", "]", start)
            return
        cursor.take()
        if cursor.peek(in_line=in_line) != "]":
            detail = 'The star for a full splat operator must be immediately followed by a closing bracket ("]").'
            raise SyntaxProblemError(cursor.start, "Missing close bracket on splat index", detail)
        self._take("[*]", ends_operand=True)

    def _read_namespaces(self) -> None:
        """Reads `::NAME` any number of times; a call must follow."""
        cursor = self._reader.cursor
        in_line = self._in_line and not self._brackets
        while cursor.peek(in_line=in_line) == "::":
            cursor.take()
            if cursor.peek(in_line=in_line) != "name":
                detail = "Function scope resolution symbol :: must be followed by a function name in this scope."
                raise SyntaxProblemError(cursor.start, "Missing function name", detail)
            cursor.take()
        if cursor.kind != "(":
            detail = "Function selector must be followed by an open parenthesis to begin the function call."
            raise SyntaxProblemError(cursor.start, "Missing open parenthesis", detail)

    def _judge(self) -> None:
        if self._questions:
            detail = "The conditional operator (...?...:...) requires a false expression, delimited by a colon."
            raise SyntaxProblemError(self._reader.cursor.start, "Missing false expression in conditional", detail)
        text = " ".join(self._pieces)
        fault = grammar.fault(text) if text.strip("( )") != "x" else None
        if fault is not None:
            start = self._starts[min(text.count(" ", 0, fault + 1), len(self._starts) - 1)]
            raise SyntaxProblemError(start, "Invalid expression", "Expected the start of an expression, or its end.")
        nested = _NESTED_SPLAT.search(text) if ".*" in text else None
        if nested is not None:
            detail = "A splat expression (*) cannot be used inside another attribute-only splat expression."
            raise SyntaxProblemError(self._starts[0], "Nested splat expression not allowed", detail)
