"""Expressions of HCL's native syntax: constants, lists, objects and references in full; of others if they are any.

An expression with operators, conditions, calls, parentheses or `for` is reduced to its skeleton, in which every
operand is an `x`, and python-hcl2's grammar says whether that is one. Operands (strings, numbers, lists, objects) are
read here, for there HCL is stricter.
"""

from __future__ import annotations

import re
from decimal import Decimal

from locklens.hcl.cursor import NAME, STRAY, Cursor, SyntaxProblemError
from locklens.hcl.skeleton import CALLING, CONTINUING, Skeleton
from locklens.hcl.templates import normal, read_heredoc, read_quoted
from locklens.hcl.values import Expression, IndexStep, ListExpr, Literal, ObjectExpr, Reference

_NUMBER = re.compile(r"[0-9]++(?:\.[0-9]*+)?(?:[eE]([+-]?[0-9]++))?\Z")
_MAX_EXPONENT = 300
_MAX_DIGITS = 1000
_STEP = re.compile(rf"\.({NAME})(?![^\x00-\x7f])")
_FIXED_INDEX = re.compile(rf'\[[ \t]*(?:"([^"\\$%\r\n{STRAY}]*+)"|([0-9]{{1,15}}))[ \t]*\]')
_KEYWORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


class ExpressionReader:
    """Reads expressions at a cursor."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor

    def expression(self, *, in_line: bool) -> Expression:
        """Reads one expression and leaves the cursor behind it.

        Args:
            in_line: Whether a line's end ends the expression; inside brackets it does not.

        Raises:
            SyntaxProblemError: There is none.
        """
        cursor = self.cursor
        kind = cursor.peek(in_line=in_line)
        start = cursor.start
        if kind in ("-", "!", "("):
            return self._compound(start, None, in_line=in_line)
        name_end = cursor.end if kind == "name" else -1
        operand = self.operand(kind)
        is_callable = cursor.position == name_end
        following = cursor.peek(in_line=in_line)
        if following in CONTINUING or (is_callable and following in CALLING):
            return self._compound(start, (operand, is_callable), in_line=in_line)
        return operand

    def operand(self, kind: str) -> Expression:
        """Reads the operand whose first token was just seen."""
        cursor = self.cursor
        start = cursor.start
        match kind:
            case "plain":
                text = cursor.take()
                return Literal(normal(text[1:-1], start), cursor.place(start, cursor.position))
            case "name":
                return self._named(cursor.take(), start)
            case "[" | "{":
                cursor.enter()
                cursor.take()
                value = self._list(start) if kind == "[" else self._object(start)
                cursor.leave()
                return value
            case "number":
                text = cursor.take()
                return Literal(_number(text, start), cursor.place(start, cursor.position))
            case "quote":
                cursor.take()
                return read_quoted(self)
            case "heredoc":
                return read_heredoc(self, cursor.take())
            case "end":
                raise SyntaxProblemError(
                    start, "Missing expression", "Expected the start of an expression, but found the end of the file."
                )
            case _:
                detail = "Expected the start of an expression, but found an invalid expression token."
                raise SyntaxProblemError(start, "Invalid expression", detail)

    def _named(self, name: str, start: int) -> Expression:
        """A keyword, or a name with the constant steps that follow it without a gap."""
        cursor = self.cursor
        if name in _KEYWORDS:
            return Literal(_KEYWORDS[name], cursor.place(start, cursor.position))
        parts: list[str | int] = [name]
        while True:
            step = _STEP.match(cursor.text, cursor.position)
            if step is not None:
                parts.append(step[1])
            else:
                step = _FIXED_INDEX.match(cursor.text, cursor.position)
                if step is None:
                    break
                parts.append(IndexStep(normal(step[1], step.start(1))) if step[1] is not None else int(step[2]))
            cursor.position = step.end()
        return Reference(tuple(parts), cursor.place(start, cursor.position))

    def _list(self, start: int) -> Expression:
        cursor = self.cursor
        items: list[Expression] = []
        if self._is_for():
            return self._compound(start, "[", in_line=False)
        while cursor.peek(in_line=False) != "]":
            items.append(self.expression(in_line=False))
            kind = cursor.peek(in_line=False)
            if kind == "]":
                break
            if kind == "end":
                detail = "There is no corresponding closing bracket before the end of the file."
                raise SyntaxProblemError(start, "Unterminated tuple constructor expression", detail)
            if kind != ",":
                detail = "Expected a comma to mark the beginning of the next item."
                raise SyntaxProblemError(cursor.start, "Missing item separator", detail)
            cursor.take()
        cursor.take()
        return ListExpr(tuple(items), cursor.place(start, cursor.position))

    def _object(self, start: int) -> Expression:
        cursor = self.cursor
        items: list[tuple[Expression, Expression]] = []
        if self._is_for():
            return self._compound(start, "{", in_line=False)
        while (kind := cursor.peek(in_line=True)) != "}":
            if kind == "newline":
                cursor.take()
                continue
            key = self._key(is_computed=kind == "(")
            kind = cursor.peek(in_line=True)
            if kind not in ("=", ":"):
                raise self._bad_object(kind, start, "Missing key/value separator", 'Expected an equals sign ("=").')
            cursor.take()
            items.append((key, self.expression(in_line=True)))
            kind = cursor.peek(in_line=True)
            if kind == "}":
                break
            if kind not in (",", "newline"):
                detail = "Expected a newline or comma to mark the beginning of the next attribute."
                raise self._bad_object(kind, start, "Missing attribute separator", detail)
            cursor.take()
        cursor.take()
        return ObjectExpr(tuple(items), cursor.place(start, cursor.position))

    def _key(self, *, is_computed: bool) -> Expression:
        """An object's key: a bare word, even a keyword, stands for itself unless it is in parentheses."""
        start = self.cursor.start
        key = self.expression(in_line=True)
        if not is_computed:
            if isinstance(key, Reference) and len(key.parts) == 1:
                return Literal(key.parts[0], key.place)
            if isinstance(key, Literal) and (word := self.cursor.text[start : key.place.end]) in _KEYWORDS:
                return Literal(word, key.place)
        return key

    def _bad_object(self, kind: str, start: int, summary: str, detail: str) -> SyntaxProblemError:
        if kind == "end":
            detail = "There is no corresponding closing brace before the end of the file."
            return SyntaxProblemError(start, "Unterminated object constructor expression", detail)
        if kind in (",", "newline"):
            summary = "Missing attribute value"
        return SyntaxProblemError(self.cursor.start, summary, detail)

    def _is_for(self) -> bool:
        cursor = self.cursor
        if cursor.peek(in_line=False) != "name" or cursor.text[cursor.start : cursor.end] != "for":
            return False
        cursor.take()
        return True

    def _compound(self, start: int, first: tuple[Expression, bool] | str | None, *, in_line: bool) -> Expression:
        """Reads on where an expression has more than one operand.

        Args:
            start: Where the expression begins.
            first: The operand that was read already, and whether it is a mere name; or the bracket of a `for` of which
                bracket and keyword were read; or None.
            in_line: Whether a line's end ends the expression.
        """
        self.cursor.enter()
        skeleton = Skeleton(self, in_line=in_line)
        if isinstance(first, str):
            skeleton.open_for(first, start)
        elif first is not None:
            skeleton.add(first[0], start, is_callable=first[1])
        skeleton.read(only_bracket=isinstance(first, str))
        self.cursor.leave()
        return skeleton.value(self.cursor.place(start, self.cursor.position))


def _number(text: str, start: int) -> int | float:
    match = _NUMBER.match(text)
    if match is None:
        detail = "Failed to recognize the value of this number literal."
        raise SyntaxProblemError(start, "Invalid number literal", detail)
    if len(text) > _MAX_DIGITS or (match[1] and abs(int(match[1][:6])) > _MAX_EXPONENT):
        return float(text)
    value = Decimal(text)
    return int(value) if value == value.to_integral_value() else float(value)


def parse_whole_expression(text: str) -> Expression | None:
    """Reads a text that is one expression and nothing else; None for any other."""
    reader = ExpressionReader(Cursor(text))
    try:
        value = reader.expression(in_line=True)
        return value if reader.cursor.peek(in_line=True) == "end" else None
    except (SyntaxProblemError, RecursionError):
        return None
