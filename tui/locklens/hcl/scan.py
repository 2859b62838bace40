"""The places of arguments and blocks of a file in HCL's native syntax, without evaluating expressions.

In this part of the syntax python-hcl2 is more lenient than HCL: line ends between items, strings over several lines,
arguments set twice, interpolated labels. A more lenient reader sees other items than the tools do. For every valid file
the items are those that HCL finds; expressions are only followed to their end.
"""

from __future__ import annotations

import re

from msgspec import Struct, field

from locklens.hcl.strings import Template, TextSpan, read_heredoc, read_quoted
from locklens.hcl.values import MAX_DEPTH, NAME, STRAY, SourceText, SyntaxProblem, SyntaxProblemError, bad_encoding

_COMMENT = r"(?:(?:\#|//)[^\n]*+)?"
_WORD = r"[A-Za-z0-9_-]|[^\x00-\x7f]"
# Whole lines as nearly all are written. What does not fit is read token by token.
_LINE = re.compile(
    rf"""[ \t]*+(?:
      (?P<blank>{_COMMENT}\r?\n)
    | (?P<name>{NAME})[ \t]*+=[ \t]*+
        (?P<value>"[^"\\$%\r\n{STRAY}]*+"|[A-Za-z0-9_.-]++)[ \t]*+{_COMMENT}\r?\n
    | (?P<type>{NAME})(?P<labels>(?:[ \t]++"[^"\\$%\r\n{STRAY}]*+")*+)[ \t]*+\{{[ \t]*+{_COMMENT}\r?\n
    | (?P<close>\}})[ \t]*+{_COMMENT}\r?\n
    )""",
    re.VERBOSE,
)
_LABEL = re.compile(r'"[^"]*+"')
# Possessive loops of groups end with an alternative that matches nothing: Python before 3.11.5 would keep the text of a
# last repetition that failed halfway (https://github.com/python/cpython/issues/106052).
_BLANK = r"[ \t]|/\*(?s:.*?)\*/"
_SPACE = re.compile(rf"(?:{_BLANK}|)*+")
_LINES = re.compile(rf"(?:{_BLANK}|(?:\#|//)[^\n]*+|\r?\n|)*+")
_LINE_END = re.compile(rf"(?:{_BLANK}|)*+{_COMMENT}(?:\r?\n|\Z)")
_IDENTIFIER = re.compile(rf"(?=[A-Za-z_]|[^\x00-\x7f{STRAY}])(?:{_WORD})++")
_PLAIN = rf'[^"\r\n\#/<{{}}()\[\]{STRAY}]|/(?![/*])|<(?!<-?(?:{_WORD})++\r?\n)'
_EXPRESSION = re.compile(
    rf"""
    (?P<plain>(?:{_PLAIN})(?:{_PLAIN}|)*+)
  | (?P<comment>(?:\#|//)[^\n]*+|/\*(?s:.*?)\*/)
  | (?P<heredoc><<-?(?:{_WORD})++\r?\n)
  | (?P<quote>")
  | (?P<open>[{{(\[])
  | (?P<close>[}})\]])
  | (?P<newline>\r?\n)
    """,
    re.VERBOSE,
)
_CLOSERS = {"{": "}", "(": ")", "[": "]"}
_REQUIRED = "An argument or block definition is required here."


class ArgumentSpan(Struct, frozen=True):
    """An argument: its name with its offset, and the range of its expression."""

    name: str
    start: int
    value: TextSpan


class BlockExtent(Struct, frozen=True):
    """A block: its type with its offset, its labels with the ranges of their quoted texts, its body, and its end."""

    type: str
    start: int
    labels: tuple[str, ...]
    label_spans: tuple[TextSpan, ...]
    body: BodySpan
    end: int


class BodySpan(Struct, frozen=True):
    """The items of a file or a block in its order; if an argument is set twice, the first one."""

    arguments: dict[str, ArgumentSpan] = field(default_factory=dict)
    blocks: list[BlockExtent] = field(default_factory=list)


class Scanner:
    """Finds the items of a text.

    Attributes:
        problems: Problems that do not end the reading.
    """

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.problems: list[SyntaxProblem] = []
        self._text = source.text
        self._at = source.origin
        self._depth = 0

    def expression_end(self, start: int, *, in_line: bool) -> int:
        """Return the end of the expression at an offset: a closing bracket, or in a line a line end out of brackets.

        Raises:
            SyntaxProblemError: Brackets or strings in it do not end.
        """
        text, match_token = self._text, _EXPRESSION.match
        at = end = start
        open_at: list[int] = []
        while token := match_token(text, at):
            kind, begin, at = token.lastgroup, at, token.end()
            if kind == "plain":
                end = begin + len(token[0].rstrip(" \t"))
                continue
            if kind == "newline":
                if in_line and not open_at:
                    break
                continue
            if kind == "comment":
                continue
            if kind == "close":
                if not open_at:
                    break
                if token[0] != _CLOSERS[text[open_at[-1]]]:
                    raise _unbalanced(open_at[-1])
                open_at.pop()
                self._depth -= 1
            elif kind == "open":
                open_at.append(begin)
                self._enter(begin)
            else:
                at = self.template(begin).end
            end = at
        if open_at:
            raise bad_encoding(at) if _is_stray(text, at) else _unbalanced(open_at[-1])
        if token is None and at < len(text):
            raise bad_encoding(at) if _is_stray(text, at) else _invalid(at)
        return end

    def template(self, start: int) -> Template:
        """Read the quoted string or the heredoc at an offset.

        Raises:
            SyntaxProblemError: There is none, or it does not end.
        """
        if self._text[start] == '"':
            return read_quoted(self._text, start, self._sequence_end)
        token = _EXPRESSION.match(self._text, start)
        introduction = token["heredoc"] if token is not None else ""
        return read_heredoc(self._text, start, introduction or "", self._sequence_end)

    def _sequence_end(self, start: int) -> int:
        self._enter(start)
        end = _LINES.match(self._text, self.expression_end(start, in_line=False)).end()  # type: ignore[union-attr]
        self._depth -= 1
        if self._text[end : end + 1] != "}":
            detail = "There is no closing brace for this sequence before the end of the file."
            raise SyntaxProblemError(start - 2, "Unclosed template interpolation sequence", detail)
        return end + 1

    def _enter(self, start: int) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise SyntaxProblemError(start, "Nested too deeply", f"More than {MAX_DEPTH} levels are not read.")

    def body(self, opening: int | None = None) -> BodySpan:
        """Read items, of the file or after an opening brace down to the closing one.

        Raises:
            SyntaxProblemError: They are not HCL.
        """
        body = BodySpan()
        text, match_line = self._text, _LINE.match
        while True:
            line = match_line(text, self._at)
            kind = line.lastgroup if line is not None else None
            if line is None or (kind == "close" and opening is None):
                if not self._item(opening, body):
                    return body
                continue
            if kind == "close":
                self._at = line.end("close")
                return body
            self._at = line.end()
            if kind == "value":
                self._add(body, ArgumentSpan(line["name"], line.start("name"), TextSpan(*line.span("value"))))
            elif kind == "labels":
                spans = [TextSpan(*found.span()) for found in _LABEL.finditer(text, *line.span("labels"))]
                labels = [text[span.start + 1 : span.end - 1] for span in spans]
                start = line.start("type")
                body.blocks.append(self._rest_of_block(line["type"], start, labels, spans, line.end("labels")))
                self._line_end("block", "A block definition must end with a newline.")

    def _item(self, opening: int | None, body: BodySpan) -> bool:
        """Read one item token by token; return False if the body ended instead, and move after its end."""
        start = self._skip(_LINES)
        character = self._text[start : start + 1]
        if character == ("" if opening is None else "}"):
            self._at = start + 1
            return False
        if not character:
            detail = "There is no closing brace for this block before the end of the file."
            raise SyntaxProblemError(opening or 0, "Unclosed configuration block", detail)
        name = self._name()
        if not name:
            if character == '"':
                raise SyntaxProblemError(start, "Invalid argument name", "Argument names must not be quoted.")
            raise bad_encoding(start) if _is_stray(self._text, start) else _missing(start)
        if self._text.startswith("=", self._skip(_SPACE)):
            self._add(body, self._argument(name, start))
            self._line_end("argument", "An argument definition must end with a newline.")
        else:
            body.blocks.append(self._block(name, start))
            self._line_end("block", "A block definition must end with a newline.")
        return True

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match is not None else self._at
        return self._at

    def _name(self) -> str:
        """Read an identifier; return "" if there is none."""
        match = _IDENTIFIER.match(self._text, self._at)
        word = match[0] if match is not None else ""
        length = 1 if word[:1].isidentifier() else 0
        if word.isascii() and length:
            length = len(word)
        while 0 < length < len(word) and (word[length] == "-" or ("a" + word[length]).isidentifier()):
            length += 1
        self._at += length
        return word[:length]

    def _add(self, body: BodySpan, argument: ArgumentSpan) -> None:
        existing = body.arguments.setdefault(argument.name, argument)
        if existing is argument:
            return
        line = self.source.line_and_column(existing.start)[0]
        detail = f'The argument "{argument.name}" was already set at line {line}. Each argument may be set only once.'
        self.problems.append(self.source.problem(argument.start, "Attribute redefined", detail))

    def _argument(self, name: str, start: int) -> ArgumentSpan:
        """Read the rest of an argument, from its equals sign on."""
        self._at += 1
        value = self._skip(_SPACE)
        end = self.expression_end(value, in_line=True)
        if end == value:
            raise SyntaxProblemError(value, "Invalid expression", "Expected the start of an expression.")
        self._at = end
        return ArgumentSpan(name, start, TextSpan(value, end))

    def _line_end(self, what: str, detail: str) -> None:
        match = _LINE_END.match(self._text, self._at)
        if match is None:
            raise SyntaxProblemError(self._skip(_SPACE), f"Missing newline after {what}", detail)
        self._at = match.end()

    def _block(self, kind: str, start: int) -> BlockExtent:
        """Read the rest of a block, from after its type on."""
        labels: list[str] = []
        spans: list[TextSpan] = []
        while (character := self._text[self._skip(_SPACE) : self._at + 1]) != "{":
            at = self._at
            if character == '"':
                labels.append(self._label())
            elif name := self._name():
                labels.append(name)
            else:
                raise self._bad_header(character, start, has_labels=bool(labels))
            spans.append(TextSpan(at, self._at))
        return self._rest_of_block(kind, start, labels, spans, self._at)

    def _label(self) -> str:
        """Read a quoted label, which may have escapes but no templates."""
        template = read_quoted(self._text, self._at, self._sequence_end)
        texts = [part for part in template.parts if isinstance(part, str)]
        if len(texts) < len(template.parts):
            detail = "Template sequences are not allowed in this string: double the sign before the brace to escape it."
            raise SyntaxProblemError(self._at, "Invalid string literal", detail)
        self._at = template.end
        return "".join(texts)

    def _bad_header(self, seen: str, start: int, *, has_labels: bool) -> SyntaxProblemError:
        if not has_labels:
            detail = f'{_REQUIRED} To set an argument, use the equals sign "=" to introduce the argument value.'
            return SyntaxProblemError(start, "Argument or block definition required", detail)
        detail = 'Either a quoted string block label or an opening brace ("{") is expected here.'
        if seen == "=":
            detail = 'The equals sign "=" indicates an argument definition, and must not be used when defining a block.'
        elif seen in ("\n", "\r"):
            detail = 'A block definition must have block content delimited by "{" and "}", starting on the same line.'
        return SyntaxProblemError(self._at, "Invalid block definition", detail)

    def _rest_of_block(self, kind: str, start: int, labels: list[str], spans: list[TextSpan], at: int) -> BlockExtent:
        """Read a block's body, from its opening brace or somewhere before it."""
        opening = self._text.index("{", at)
        self._enter(opening)
        self._at = opening + 1
        if _LINE_END.match(self._text, self._at) or self._text[self._skip(_SPACE) : self._at + 1] == "}":
            body = self.body(opening)
        else:
            body = self._one_line_body()
        self._depth -= 1
        return BlockExtent(kind, start, tuple(labels), tuple(spans), body, self._at)

    def _one_line_body(self) -> BodySpan:
        """Read `NAME = VALUE }`: a block in one line has at most one argument, and no block."""
        start = self._at
        name = self._name()
        if not name or self._text[self._skip(_SPACE) : self._at + 1] != "=":
            if name and self._text[self._at : self._at + 1] in ('"', "{"):
                detail = "A single-line block definition can contain only a single argument."
                raise SyntaxProblemError(start, "Argument definition required", detail)
            raise _missing(start)
        argument = self._argument(name, start)
        if self._text[self._skip(_SPACE) : self._at + 1] != "}":
            detail = "A single-line block definition must end with a closing brace immediately after its argument."
            raise SyntaxProblemError(self._at, "Invalid single-argument block definition", detail)
        self._at += 1
        body = BodySpan()
        self._add(body, argument)
        return body


def _is_stray(text: str, at: int) -> bool:
    return "\udc80" <= text[at : at + 1] <= "\udcff"


def _unbalanced(opening: int) -> SyntaxProblemError:
    detail = "There is no corresponding closing bracket before the end of the file."
    return SyntaxProblemError(opening, "Unbalanced brackets", detail)


def _invalid(at: int) -> SyntaxProblemError:
    return SyntaxProblemError(at, "Invalid character", "This character is not used within the language.")


def _missing(at: int) -> SyntaxProblemError:
    return SyntaxProblemError(at, "Argument or block definition required", _REQUIRED)
