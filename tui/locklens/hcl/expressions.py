"""The expressions of configurations, parsed by python-hcl2: constants, lists, objects and references get values here.

Only its parser is used: what python-hcl2 builds on top of the tree shares mutable state between threads. Nesting and
lengths are bounded before it sees a text; strings and heredocs are found and evaluated by `locklens.hcl.strings`.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locklens.hcl.native import number, read_plain
from locklens.hcl.scan import Scanner
from locklens.hcl.strings import TextSpan, normal
from locklens.hcl.values import (
    KEYWORDS,
    Dynamic,
    Expression,
    IndexStep,
    ListExpr,
    Literal,
    ObjectExpr,
    Reference,
    SourcePlace,
    SourceText,
    SyntaxProblemError,
)
from locklens.machine import distrust_reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lark import Token, Tree

MAX_LENGTH = 64 * 1024
"""The most characters of one expression that are parsed."""

MAX_TOTAL = 256 * 1024
"""The most characters of all expressions of one file: some two seconds of parsing. Real files have some thousands."""

_PREFIX = "a = "
OFFSET = len(_PREFIX)
"""The offset of an expression in the parsed text: python-hcl2 reads arguments, not bare expressions."""

_BROKEN = "Expected the start of an expression, or its end."
_lock = threading.Lock()

_PLAIN_STRING = re.compile(r'"[^"\\$%]*+"')
_MASKED = re.compile(r"[$%]|\A<")
_COMMENT = re.compile(r"(?:#|//)[^\n]*+|/\*(?s:.*?)\*/")
_PLAIN = r'[^"#/<]|/(?![/*])|<(?!<)'
_BETWEEN = re.compile(rf"(?:{_PLAIN})(?:{_PLAIN}|)*+")  # The reason for the empty alternative is in `scan.py`.


class Expressions:
    """Reads expressions of one text; `known` values replace references, by the steps of the reference."""

    def __init__(self, source: SourceText, known: Mapping[tuple[str | int, ...], str] | None = None) -> None:
        self._source = source
        self._known = known or {}
        self._scanner = Scanner(source)
        self._length = 0

    def read(self, span: TextSpan) -> Expression:
        """Return the expression in a range of the text.

        Raises:
            SyntaxProblemError: There is none, or it is longer than is read.
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
        text = self._source.text
        if _PLAIN_STRING.fullmatch(text, start, end):
            return self.string(start, end)
        if (plain := read_plain(self._source, start, end)) is not None:
            return plain
        tree, read = syntax_tree(self._masked(text[start:end], start), start)
        return _Values(self, read, start - OFFSET).value(tree)

    def place(self, start: int, end: int) -> SourcePlace:
        """Return the place of a range of the text."""
        return self._source.place(start, end)

    def string(self, start: int, end: int) -> Expression:
        """Return the value of the quoted string or the heredoc between two offsets.

        Raises:
            SyntaxProblemError: An interpolation in it cannot be read.
        """
        text, place = self._source.text, self._source.place(start, end)
        if _PLAIN_STRING.fullmatch(text, start, end):
            return Literal(normal(text[start + 1 : end - 1], start), place)
        return self._scanner.template(start).value(place, self._interpolated)

    def _interpolated(self, span: TextSpan) -> Expression:
        text = self._source.text[span.start : span.end]
        start = span.start + len(text) - len(text.lstrip())
        return self.read(TextSpan(start, start + len(text.strip())))

    def _masked(self, text: str, start: int) -> str:
        """Replace what python-hcl2 does not read as HCL does by plain text of the same length.

        These cases, all valid HCL, need it (8.1.4):

        - Comments become blanks: `{ /* c */ a = 1 }`, `! /* c */ a` and `f /* c */ (a)` are refused, and the comment
          of `(1 + 2 # c` before a line end counts as a part of the sum.
        - Strings with `$` or `%` become underscores: `"$${"`, `"%%{"`, `"${~ a ~}"` and `"${ /* c */ a }"` are refused,
          and `["$${a", "b}"]` is read as one string.
        - Heredocs become strings of underscores: `<<_E`, a space after the closing marker, and an interpolation that
          holds a heredoc with the same marker are refused.
        """
        pieces: list[str] = []
        at = 0
        while at < len(text):
            if (kept := _BETWEEN.match(text, at)) is not None:
                pieces.append(kept[0])
            elif (comment := _COMMENT.match(text, at)) is not None:
                pieces.append(" " * len(comment[0]))
            else:
                string = text[at : self._scanner.template(start + at).end - start]
                pieces.append(f'"{"_" * (len(string) - 2)}"' if _MASKED.search(string) else string)
            at += len(pieces[-1])
        return "".join(pieces)


class _Values:
    """Turns python-hcl2's tree of one expression, which begins at the offset `base` of the file, into values."""

    def __init__(self, expressions: Expressions, text: str, base: int) -> None:
        self._expressions = expressions
        self._text = text
        self._base = base

    def value(self, tree: Tree[Token]) -> Expression:
        """Return the value of a node of the tree.

        Raises:
            SyntaxProblemError: The node holds something that HCL refuses, or that is not read.
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
        """Return an object's key: a bare word, even a keyword, is a text unless it is in parentheses."""
        inner = _subtree(tree.children[0])
        while inner.data == "expr_term" and len(inner.children) == 1:
            inner = _subtree(inner.children[0])
        if inner.data in ("identifier", "literal_value", "keyword"):
            place = self._expressions.place(self._base + inner.meta.start_pos, self._base + inner.meta.end_pos)
            return Literal(str(inner.children[0]), place)
        return self.value(inner)

    def _steps(self, tree: Tree[Token]) -> tuple[tuple[str | int, ...], bool]:
        """Return the constant steps at the start of a reference, and True if the reference has no other steps.

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
    """Return the children that are neither tokens nor line ends."""
    return (child for child in tree.children if getattr(child, "data", "new_line_or_comment") != "new_line_or_comment")


def parse_whole_expression(text: str) -> Expression | None:
    """Return the expression that a text is; None if it is none, or has more in it."""
    source = SourceText(text)
    try:
        end = Scanner(source).expression_end(0, in_line=True)
        return Expressions(source).read(TextSpan(0, end)) if end == len(text.rstrip(" \t")) else None
    except SyntaxProblemError:
        return None


def syntax_tree(text: str, start: int) -> tuple[Tree[Token], str]:
    """Return python-hcl2's tree of an expression, and the text that the tree's offsets refer to.

    The start is its offset in its file, for problems.

    Raises:
        SyntaxProblemError: It is not an expression.
    """
    from lark.exceptions import LarkError, UnexpectedInput

    whole = f"{_PREFIX}{text}\n"
    try:
        tree = _parser().parse(whole)
    except UnexpectedInput as error:
        position = error.pos_in_stream if isinstance(error.pos_in_stream, int) else 0
        at = start + min(max(position - OFFSET, 0), len(text))
        raise SyntaxProblemError(at, "Invalid expression", _BROKEN) from error
    except (LarkError, RecursionError) as error:
        raise SyntaxProblemError(start, "Invalid expression", _BROKEN) from error
    items = [item for item in tree.children[0].children if getattr(item, "data", "") in ("attribute", "block")]
    expression = items[0].children[2]
    if len(items) != 1 or expression.meta.end_pos < OFFSET + len(text.rstrip()):
        raise SyntaxProblemError(start, "Invalid expression", _BROKEN)
    return expression, whole


@lru_cache(maxsize=1)
def _parser() -> Any:
    """Return python-hcl2's parser; building it from the grammar takes a second, so python-hcl2 keeps it in a file."""
    import hcl2.parser

    with _lock:
        cache = Path(hcl2.parser.PARSER_FILE)
        if not cache.exists() and not os.access(cache.parent, os.W_OK):
            own = _cache_file()
            if own is not None:
                hcl2.parser.PARSER_FILE = own
        return hcl2.parser.parser()


def _cache_file() -> Path | None:
    """Return a path for the parser in a folder that only this user can write to, because the file is unpickled."""
    import sys
    from importlib.metadata import version

    import platformdirs

    folder = Path(platformdirs.user_cache_dir("locklens", appauthor=False))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        release = "{}.{}".format(*sys.version_info[:2])
        file = folder / f"python-hcl2-{version('python-hcl2')}-py{release}.bin"
        if distrust_reason(folder.stat()) or (os.path.lexists(file) and distrust_reason(file.stat())):
            return None
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        return None
    return file
