"""Quoted strings and heredocs: escapes, interpolations, directives and the trimming of space.

A template whose parts are all constant is evaluated; any other is Dynamic, and is still checked.
"""

from __future__ import annotations

import re
from typing import Protocol

from locklens.hcl.cursor import STRAY, Cursor, SyntaxProblemError, bad_encoding
from locklens.hcl.values import Dynamic, Expression, Literal, SourcePlace
from locklens.nfc import CombiningSequenceError, nfc

# Go's unicode.IsSpace, which differs from str.isspace() in the separators U+001C to U+001F.
_SPACES = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
_SEQUENCE = r"(?P<escaped>\$\$\{|%%\{)|(?P<interpolation>\$\{~?)|(?P<directive>%\{~?)|(?P<lone>[$%])"
_QUOTED = re.compile(rf'(?P<chars>(?:[^"\\$%\r\n{STRAY}]|\\[^\r\n{STRAY}])++)|{_SEQUENCE}|(?P<close>")')
_HEREDOC = re.compile(rf"(?P<chars>[^$%\r\n{STRAY}]*+\r?\n|[^$%\r\n{STRAY}]++)|{_SEQUENCE}")
_LINE = re.compile(r"[^\r\n]*+\r?\n")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_MARKER = re.compile(r"<<(-?)([^\r\n]+)\r?\n")


class InterpolationReader(Protocol):
    """What reading an interpolation needs of the reader of expressions."""

    cursor: Cursor

    def expression(self, *, in_line: bool) -> Expression:
        """Reads an expression at the cursor."""


class _Part:
    """A piece of a template: constant text, or an expression, or (neither) a directive."""

    __slots__ = ("expression", "text")

    def __init__(self, text: str | None = None, expression: Expression | None = None) -> None:
        self.text = text
        self.expression = expression


def unescape(text: str, start: int) -> str:
    """Resolves the backslash sequences of a quoted string.

    Args:
        text: What is between the quotes.
        start: Its offset, for problems.

    Raises:
        SyntaxProblemError: A sequence is unknown or stands for no character.
    """

    def replace(match: re.Match[str]) -> str:
        short, long, other = match.groups()
        if other is not None:
            if other in _SIMPLE:
                return _SIMPLE[other]
            detail = f'The symbol "{other}" is not a valid escape sequence selector.'
            if other in "uU":
                digits = "four" if other == "u" else "eight"
                detail = f"The \\{other} escape sequence must be followed by {digits} hexadecimal digits."
            raise SyntaxProblemError(start + match.start(), "Invalid escape sequence", detail)
        number = int(short or long, 16)
        if 0xD800 <= number <= 0xDFFF or number > 0x10FFFF:
            detail = f"Cannot encode character U+{number:04x} in UTF-8."
            raise SyntaxProblemError(start + match.start(), "Invalid escape sequence", detail)
        return chr(number)

    return _ESCAPE.sub(replace, text) if "\\" in text else text


def normal(text: str, start: int) -> str:
    """The Unicode form (NFC) that HCL gives every string.

    Args:
        text: The string, its escapes resolved.
        start: Offset of what it is written as, for problems.

    Raises:
        SyntaxProblemError: The string has more combining characters in a row than are read.
    """
    try:
        return nfc(text)
    except CombiningSequenceError as error:
        raise SyntaxProblemError(start, "Too many combining characters", f"In this text {error}.") from error


def read_label(cursor: Cursor) -> str:
    """Reads a quoted label, which may hold escapes and no templates; the cursor stands behind its opening quote.

    Raises:
        SyntaxProblemError: It is none.
    """
    pieces: list[str] = []
    while True:
        start = cursor.position
        kind, text = _quoted_token(cursor)
        if kind == "close":
            return "".join(pieces)
        if kind in ("interpolation", "directive"):
            sign = text[0]
            detail = (
                f'Template sequences are not allowed in this string. To include a literal "{sign}", '
                f'double it (as "{sign}{sign}") to escape it.'
            )
            raise SyntaxProblemError(start, "Invalid string literal", detail)
        pieces.append(text[1:] if kind == "escaped" else unescape(text, start))


def read_quoted(reader: InterpolationReader) -> Expression:
    """Reads a quoted template; the cursor stands behind its opening quote.

    Raises:
        SyntaxProblemError: It is none.
    """
    cursor = reader.cursor
    start = cursor.position - 1
    parts = _Parts(reader)
    while True:
        at = cursor.position
        kind, text = _quoted_token(cursor)
        if kind == "close":
            return parts.value(cursor.place(start, cursor.position))
        if kind == "chars" and "\\" in text:
            text = unescape(text, at)
            parts.is_plain = False
        parts.add(kind, text, at)


def read_heredoc(reader: InterpolationReader, introduction: str) -> Expression:
    """Reads a heredoc, up to the line end behind its closing marker.

    Args:
        reader: Its cursor stands behind the first line's end.
        introduction: `<<MARKER` or `<<-MARKER` with its line end.

    Raises:
        SyntaxProblemError: It is none.
    """
    cursor = reader.cursor
    start = cursor.position - len(introduction)
    match = _MARKER.match(introduction)
    if match is None or not match[2].replace("-", "a").isidentifier() or match[2].startswith("-"):
        raise SyntaxProblemError(start, "Invalid expression", "Expected the start of an expression.")
    marker = match[2]
    parts = _Parts(reader, is_plain=False)
    at_line_start = True
    while True:
        at = cursor.position
        if at_line_start:
            line = _LINE.match(cursor.text, at)
            if line is not None and line[0].strip(_SPACES) == marker:
                cursor.position = line.end() - (2 if line[0].endswith("\r\n") else 1)
                if match[1]:
                    parts.remove_indent()
                return parts.value(cursor.place(start, cursor.position))
        token = _HEREDOC.match(cursor.text, at)
        if token is None:
            raise _broken_template(cursor, at)
        cursor.position = token.end()
        parts.add(token.lastgroup or "", token[0], at)
        at_line_start = token[0].endswith("\n")


def _quoted_token(cursor: Cursor) -> tuple[str, str]:
    token = _QUOTED.match(cursor.text, cursor.position)
    if token is None:
        raise _broken_template(cursor, cursor.position)
    cursor.position = token.end()
    return token.lastgroup or "", token[0]


def _broken_template(cursor: Cursor, at: int) -> SyntaxProblemError:
    character = cursor.text[at : at + 1]
    if character == "":
        return SyntaxProblemError(at, "Unterminated template string", "No closing marker was found for the string.")
    if character in ("\r", "\n"):
        return SyntaxProblemError(
            at, "Invalid multi-line string", "Quoted strings may not be split over multiple lines."
        )
    if character == "\\":
        return SyntaxProblemError(at, "Invalid escape sequence", "Backslash must be followed by a selector character.")
    return bad_encoding(at)


class _Parts:
    """The parts of one template, as far as it has been read."""

    def __init__(self, reader: InterpolationReader, *, is_plain: bool = True) -> None:
        self._reader = reader
        self._parts: list[_Part] = []
        self._open: list[str] = []
        self._trims_next = False
        self.is_plain = is_plain

    def add(self, kind: str, text: str, start: int) -> None:
        """Takes the token that was read; behind the opening of a sequence, reads the sequence."""
        trims = self._trims_next
        self._trims_next = False
        if kind in ("interpolation", "directive"):
            self.is_plain = False
            if text.endswith("~") and self._parts and self._parts[-1].text is not None:
                self._parts[-1].text = self._parts[-1].text.rstrip(_SPACES)
            if kind == "interpolation":
                self._parts.append(_Part(expression=self._interpolation()))
            else:
                self._directive(start)
                self._parts.append(_Part())
            return
        if kind == "escaped":
            text = text[1:]
            self.is_plain = False
        self._parts.append(_Part(text=normal(text.lstrip(_SPACES) if trims else text, start)))

    def remove_indent(self) -> None:
        """Removes the smallest indentation from all lines, as `<<-` asks for. Lines of spaces do not count."""
        at_line_start = True
        smallest = -1
        lines: list[_Part] = []
        for part in self._parts:
            if at_line_start:
                at_line_start = False
                if part.text is None:
                    smallest = 0
                elif part.text.strip(_SPACES) or not part.text.endswith("\n"):
                    indent = len(part.text) - len(part.text.lstrip(_SPACES))
                    smallest = indent if smallest < 0 else min(smallest, indent)
                    lines.append(part)
            if part.text is not None and part.text.endswith("\n"):
                at_line_start = True
        for part in lines:
            part.text = (part.text or "")[max(smallest, 0) :]

    def value(self, place: SourcePlace) -> Expression:
        """Returns what the whole template is.

        Raises:
            SyntaxProblemError: A directive was not closed.
        """
        if self._open:
            detail = f"The {self._open[-1]} directive is missing its corresponding end directive."
            raise SyntaxProblemError(place.end, "Unexpected end of template", detail)
        if len(self._parts) == 1 and (only := self._parts[0].expression) is not None:
            return _moved(only, place)
        texts: list[str] = []
        for part in self._parts:
            text = part.text
            if text is None and isinstance(part.expression, Literal):
                text = part.expression.text
            if text is None:
                return Dynamic(place)
            texts.append(text)
        return Literal(normal("".join(texts), place.start), place, self.is_plain)

    def _interpolation(self) -> Expression:
        self._reader.cursor.enter()
        value = self._reader.expression(in_line=False)
        self._close("interpolation expression", "Extra characters after interpolation expression")
        self._reader.cursor.leave()
        return value

    def _close(self, what: str, summary: str) -> None:
        cursor = self._reader.cursor
        kind = cursor.peek(in_line=False)
        if kind == "end":
            detail = f"There is no closing brace for this {what} before the end of the file."
            raise SyntaxProblemError(cursor.start, "Unclosed template interpolation sequence", detail)
        if kind not in ("}", "~}"):
            raise SyntaxProblemError(cursor.start, summary, f"Expected a closing brace to end the {what}.")
        self._trims_next = kind == "~}"
        cursor.take()

    def _directive(self, start: int) -> None:
        cursor = self._reader.cursor
        cursor.enter()
        if cursor.peek(in_line=False) != "name":
            detail = 'A template directive keyword ("if", "for", etc) is expected at the beginning of a %{ sequence.'
            raise SyntaxProblemError(cursor.start, "Invalid template directive", detail)
        word = cursor.take()
        if word in ("if", "for"):
            if word == "for":
                self._for_names()
            self._reader.expression(in_line=False)
            self._open.append(word)
        elif word in ("else", "endif", "endfor"):
            self._continue(word, start)
        else:
            detail = f'"{word}" is not a valid template control keyword.'
            raise SyntaxProblemError(start, "Invalid template control keyword", detail)
        self._close("sequence", f"Extra characters in {word} marker")
        cursor.leave()

    def _continue(self, word: str, start: int) -> None:
        """Follows an `else` or the end of a directive."""
        opener = self._open[-1] if self._open else ""
        expected = {"else": "if", "endif": "if", "endfor": "for"}[word]
        if opener != expected and (opener, word) != ("else", "endif"):
            detail = "The control directives within this template are unbalanced."
            raise SyntaxProblemError(start, f"Unexpected {word} directive", detail)
        self._open.pop()
        if word == "else":
            self._open.append("else")

    def _for_names(self) -> None:
        cursor = self._reader.cursor
        for _ in range(2):
            if cursor.peek(in_line=False) != "name":
                detail = "For directive requires variable name after 'for'."
                raise SyntaxProblemError(cursor.start, "Invalid 'for' directive", detail)
            cursor.take()
            if cursor.peek(in_line=False) != ",":
                break
            cursor.take()
        if cursor.peek(in_line=False) != "name" or cursor.take() != "in":
            detail = "For directive requires 'in' keyword after names."
            raise SyntaxProblemError(cursor.start, "Invalid 'for' directive", detail)


def _moved(value: Expression, place: SourcePlace) -> Expression:
    """An interpolation that is all of a template is the expression itself, not a string of it."""
    if isinstance(value, Literal):
        return Literal(value.value, place, is_plain=False)
    return Dynamic(place)
