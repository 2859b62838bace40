"""Expressions of configurations, parsed by python-hcl2: constants, lists, objects and references have a value here.

Only its parser is used: what python-hcl2 builds on top of the tree shares mutable state between threads. What it reads
otherwise than HCL does (strings with escapes and templates, heredocs, comments) is read here, and stands in the text
that it gets as a plain string of the same length, or as blanks. Nesting and lengths are bounded before it sees any.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from locklens.hcl import grammar
from locklens.hcl.constants import KEYWORDS, number
from locklens.hcl.plain import read_plain
from locklens.hcl.scan import Scanner
from locklens.hcl.source import SourceText, SyntaxProblemError
from locklens.hcl.strings import Template, TextSpan, normal
from locklens.hcl.values import Dynamic, Expression, IndexStep, ListExpr, Literal, ObjectExpr, Reference, SourcePlace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lark import Token, Tree

MAX_LENGTH = 64 * 1024
"""Characters of one expression that are parsed."""

MAX_TOTAL = 256 * 1024
"""Characters of all expressions of one file that are parsed: some two seconds. Real files have some thousands."""

_STRING = re.compile(r'"[^"\\$%]*+"\Z')
_ODD = re.compile(r"[\\$%#]|//|/\*|<<")
_ODD_STRING = re.compile(r"[\\$%]|\A<")
_COMMENT = re.compile(r"(?:#|//)[^\n]*+|/\*(?s:.*?)\*/")
_BETWEEN = re.compile(r'(?:[^"#/<]|/(?![/*])|<(?!<))++')


class Expressions:
    """Reads expressions of one text.

    Args:
        source: The text.
        known: Values of references, which take the place of these.
    """

    def __init__(self, source: SourceText, known: Mapping[tuple[str | int, ...], str] | None = None) -> None:
        self._source = source
        self._known = known or {}
        self._scanner = Scanner(source)
        self._templates: dict[int, Template] = {}
        self._length = 0

    def read(self, span: TextSpan) -> Expression:
        """Return the expression that a piece of the text is.

        Raises:
            SyntaxProblemError: It is none, or more than is read.
        """
        found = self._parsed(span)
        if self._known and isinstance(found, Reference) and (value := self._known.get(found.parts)) is not None:
            return Literal(value, found.place, is_plain=False)
        return found

    def _parsed(self, span: TextSpan) -> Expression:
        start, end = span
        self._length += end - start
        if end - start > MAX_LENGTH or self._length > MAX_TOTAL:
            detail = f"More than {MAX_LENGTH} characters of one expression, or {MAX_TOTAL} of one file, are not read."
            raise SyntaxProblemError(start, "Expression too long", detail)
        text = self._source.text[start:end]
        if _STRING.match(text):
            return self.string(start, end)
        if (plain := read_plain(self._source, start, end)) is not None:
            return plain
        if _ODD.search(text):
            text = self._masked(text, start)
        tree, read = grammar.parse(text, start)
        return _Values(self, read, start - grammar.OFFSET).value(tree)

    def place(self, start: int, end: int) -> SourcePlace:
        """Return the place of a piece of the text."""
        return self._source.place(start, end)

    def string(self, start: int, end: int) -> Expression:
        """Return what the quoted string or the heredoc is that stands between two offsets.

        Raises:
            SyntaxProblemError: It holds what is not read.
        """
        place = self._source.place(start, end)
        template = self._templates.get(start)
        if template is None:
            return Literal(normal(self._source.text[start + 1 : end - 1], start), place)
        return template.value(place, self._interpolated)

    def _interpolated(self, span: TextSpan) -> Expression:
        text = self._source.text[span.start : span.end]
        start = span.start + len(text) - len(text.lstrip())
        return self.read(TextSpan(start, start + len(text.strip())))

    def _masked(self, text: str, start: int) -> str:
        """Put plain text of the same length in the place of what python-hcl2 does not read as HCL does."""
        pieces: list[str] = []
        at = 0
        while at < len(text):
            if (kept := _BETWEEN.match(text, at)) is not None:
                pieces.append(kept[0])
            elif (comment := _COMMENT.match(text, at)) is not None:
                pieces.append(" " * len(comment[0]))
            else:
                template = self._scanner.template(start + at)
                string = text[at : template.end - start]
                if _ODD_STRING.search(string):
                    self._templates[template.start] = template
                    string = f'"{"_" * (len(string) - 2)}"'
                pieces.append(string)
            at += len(pieces[-1])
        return "".join(pieces)


class _Values:
    """Turns python-hcl2's tree of one expression into values."""

    def __init__(self, expressions: Expressions, text: str, base: int) -> None:
        """Turn nothing yet.

        Args:
            expressions: Knows places and strings.
            text: What python-hcl2 read.
            base: Offset in the file of its first character.
        """
        self._expressions = expressions
        self._text = text
        self._base = base

    def value(self, tree: Tree[Token]) -> Expression:
        """Return what a node of the tree is.

        Raises:
            SyntaxProblemError: It holds what is not read.
        """
        while tree.data == "expr_term" and len(tree.children) == 1:
            tree = _subtree(tree.children[0])
        start, end = self._base + tree.meta.start_pos, self._base + tree.meta.end_pos
        place = self._expressions.place(start, end)
        match tree.data:
            case "string":
                return self._expressions.string(start, end)
            case "literal_value":
                return Literal(KEYWORDS[str(tree.children[0])], place)
            case "int_lit" | "float_lit":
                text = str(tree.children[0])
                value = number(text)
                if value is None:
                    detail = "Failed to recognize the value of this number literal."
                    raise SyntaxProblemError(start, "Invalid number literal", detail)
                return Literal(value, place, is_plain=not text.startswith("-"))
            case "unary_op":
                operand = self.value(_subtree(tree.children[1]))
                if tree.children[0] == "-" and isinstance(operand, Literal) and type(operand.value) in (int, float):
                    return Literal(-operand.value, place, is_plain=False)  # type: ignore[operator]
                return Dynamic(place)
            case "expr_term":  # in parentheses
                return self.value(next(_subtrees(tree)))
            case "tuple":
                return ListExpr(tuple(self.value(item) for item in _subtrees(tree)), place)
            case "object":
                return ObjectExpr(tuple(self._items(tree)), place)
            case "identifier" | "get_attr_expr_term" | "index_expr_term":
                parts, is_whole = self._steps(tree)
                return Reference(parts, place) if is_whole else Dynamic(place, parts)
            case _:
                return Dynamic(place, is_call=tree.data == "function_call")

    def _items(self, tree: Tree[Token]) -> list[tuple[Expression, Expression]]:
        items: list[tuple[Expression, Expression]] = []
        for element in _subtrees(tree):
            start = element.meta.start_pos
            while self._text[start - 1] in " \t\r":
                start -= 1
            if self._text[start - 1] not in "{,\n":
                detail = "Expected a newline or comma to mark the beginning of the next attribute."
                raise SyntaxProblemError(self._base + start, "Missing attribute separator", detail)
            key, value = _subtrees(element)
            items.append((self._key(key), self.value(value)))
        return items

    def _key(self, tree: Tree[Token]) -> Expression:
        """An object's key: a bare word, even a keyword, stands for itself unless it is in parentheses."""
        inner = _subtree(tree.children[0])
        while inner.data == "expr_term" and len(inner.children) == 1:
            inner = _subtree(inner.children[0])
        if inner.data in ("identifier", "literal_value", "keyword"):
            place = self._expressions.place(self._base + inner.meta.start_pos, self._base + inner.meta.end_pos)
            return Literal(str(inner.children[0]), place)
        return self.value(inner)

    def _steps(self, tree: Tree[Token]) -> tuple[tuple[str | int, ...], bool]:
        """The constant steps that a reference begins with, and whether they are all of it; () for none.

        A keyword before a step is a name, as in `null.alias` (AsTraversal of hclsyntax's literal values).
        """
        steps: list[str | int | None] = []
        while tree.data not in ("identifier", "literal_value"):
            if tree.data == "expr_term" and len(tree.children) == 1:
                tree = _subtree(tree.children[0])
            elif tree.data in ("get_attr_expr_term", "index_expr_term"):
                steps.append(self._step(_subtree(tree.children[1])))
                tree = _subtree(tree.children[0])
            else:
                return (), False
        steps.append(str(tree.children[0]))
        steps.reverse()
        known: list[str | int] = []
        for step in steps:
            if step is None:
                return tuple(known), False
            known.append(step)
        return tuple(known), True

    def _step(self, tree: Tree[Token]) -> str | int | None:
        if tree.data == "get_attr":
            return str(_subtree(tree.children[1]).children[0])
        if tree.data == "short_index":
            return None
        index = self.value(next(_subtrees(tree)))
        if not isinstance(index, Literal) or isinstance(index.value, bool):
            return None
        if isinstance(index.value, str):
            return IndexStep(index.value) if index.is_plain else None
        return index.value if isinstance(index.value, int) and index.value >= 0 else None


def _subtree(node: Any) -> Tree[Token]:
    tree: Tree[Token] = node
    return tree


def _subtrees(tree: Tree[Token]) -> Any:
    """The children that are neither tokens nor line ends."""
    return (child for child in tree.children if getattr(child, "data", "new_line_or_comment") != "new_line_or_comment")


def parse_whole_expression(text: str) -> Expression | None:
    """Read a text that is one expression and nothing else; None for any other."""
    source = SourceText(text)
    try:
        end = Scanner(source).expression_end(0, in_line=True)
        return Expressions(source).read(TextSpan(0, end)) if end == len(text.rstrip(" \t")) else None
    except SyntaxProblemError:
        return None
