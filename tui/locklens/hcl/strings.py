"""Quoted strings and heredocs of HCL's native syntax: where they end, and their values.

Here python-hcl2 is both more lenient than HCL (it accepts unknown escapes and line ends inside quotes) and wrong (it
refuses or misreads some valid templates), so it only gets strings without templates.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from locklens.hcl.values import STRAY, Dynamic, Expression, Literal, SourcePlace, SyntaxProblemError, bad_encoding
from locklens.nfc import CombiningSequenceError, nfc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Go's unicode.IsSpace, which differs from str.isspace() in the separators U+001C to U+001F.
SPACES = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"

_SEQUENCE = r"(?P<escaped>\$\$\{|%%\{)|(?P<interpolation>\$\{)|(?P<directive>%\{)|(?P<lone>[$%])"
_QUOTED = re.compile(rf'(?P<chars>(?:[^"\\$%\r\n{STRAY}]|\\[^\r\n{STRAY}])++)|{_SEQUENCE}|(?P<close>")')
_HEREDOC = re.compile(rf"(?P<chars>[^$%\r\n{STRAY}]*+\r?\n|[^$%\r\n{STRAY}]++)|{_SEQUENCE}")
_LINE = re.compile(r"[^\r\n]*+\r?\n")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_MARKER = re.compile(r"<<(-?)([^\r\n]+)\r?\n")


class TextSpan(NamedTuple):
    """A range of the text, such as an interpolated expression without its braces."""

    start: int
    end: int


class Template(NamedTuple):
    """A quoted string or a heredoc in parts.

    Attributes:
        start: Offset of the opening quote, or of `<<`.
        end: Offset after the closing quote or marker.
        parts: Constant text with resolved escapes, and the spans of interpolations; None for a directive and for an
            interpolation that trims space.
        is_plain: True if the text between the quotes is the value itself.
    """

    start: int
    end: int
    parts: Sequence[str | TextSpan | None]
    is_plain: bool

    def value(self, place: SourcePlace, read: Callable[[TextSpan], Expression]) -> Expression:
        """Return the value of the template, Dynamic unless all parts are constant; `read` reads interpolated ones.

        Raises:
            SyntaxProblemError: An interpolation is not an expression, or too many combining characters follow each
                other.
        """
        found = [read(part) if isinstance(part, TextSpan) else part for part in self.parts]
        if len(found) == 1 and isinstance(found[0], Literal):
            return Literal(found[0].value, place, is_plain=False)
        texts = [part if isinstance(part, str) else part.text if isinstance(part, Literal) else None for part in found]
        known = [text for text in texts if text is not None]
        if len(known) < len(texts):
            return Dynamic(place)
        return Literal(normal("".join(known), self.start), place, self.is_plain)


def normal(text: str, start: int) -> str:
    """Return a string in the Unicode form that HCL gives every string, NFC; its offset is for problems.

    Raises:
        SyntaxProblemError: Too many combining characters follow each other.
    """
    try:
        return nfc(text)
    except CombiningSequenceError as error:
        raise SyntaxProblemError(start, "Too many combining characters", f"In this text {error}.") from error


def unescape(text: str, start: int) -> str:
    """Resolve the backslash sequences of a quoted string; its offset is for problems.

    Raises:
        SyntaxProblemError: A sequence is unknown, or its number stands for no character.
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


def read_quoted(text: str, start: int, skip: Callable[[int], int]) -> Template:
    """Read a quoted template, from its opening quote on.

    Given the offset after the opening of a sequence, `skip` returns the one after its closing brace.

    Raises:
        SyntaxProblemError: The string does not end, or HCL refuses it.
    """
    parts: list[str | TextSpan | None] = []
    is_plain = True
    at = start + 1
    while True:
        token = _QUOTED.match(text, at)
        if token is None:
            raise _broken(text, at)
        kind, word, end = token.lastgroup, token[0], token.end()
        if kind == "close":
            return Template(start, end, parts, is_plain)
        if kind in ("interpolation", "directive"):
            end = skip(end)
            parts.append(_sequence(text, at, end))
            is_plain = False
        else:
            is_plain = is_plain and kind != "escaped" and "\\" not in word
            parts.append(word[1:] if kind == "escaped" else unescape(word, at))
        at = end


def read_heredoc(text: str, start: int, introduction: str, skip: Callable[[int], int]) -> Template:
    """Read a heredoc, including the line end after its closing marker.

    Args:
        text: The file's text.
        start: Offset of `<<`.
        introduction: `<<MARKER` or `<<-MARKER` with its line end.
        skip: Same as for `read_quoted`.

    Raises:
        SyntaxProblemError: The marker is invalid, the heredoc does not end, or HCL refuses it.
    """
    match = _MARKER.match(introduction)
    if match is None or not match[2].replace("-", "a").isidentifier() or match[2].startswith("-"):
        raise SyntaxProblemError(start, "Invalid expression", "Expected the start of an expression.")
    marker = match[2]
    parts: list[str | TextSpan | None] = []
    at = start + len(introduction)
    at_line_start = True
    while True:
        line = _LINE.match(text, at) if at_line_start else None
        if line is not None and line[0].strip(SPACES) == marker:
            end = line.end() - (2 if line[0].endswith("\r\n") else 1)
            return Template(start, end, _unindented(parts) if match[1] else parts, is_plain=False)
        token = _HEREDOC.match(text, at)
        if token is None:
            raise _broken(text, at)
        kind, word, end = token.lastgroup, token[0], token.end()
        if kind in ("interpolation", "directive"):
            end = skip(end)
            parts.append(_sequence(text, at, end))
        else:
            parts.append(word[1:] if kind == "escaped" else word)
        at = end
        at_line_start = word.endswith("\n")


def _sequence(text: str, start: int, end: int) -> TextSpan | None:
    """Return the expression of `${` ... `}`; None if it trims space around it, and for `%{` ... `}`."""
    is_trimming = text[start + 2] == "~" or text[end - 2] == "~"
    return None if is_trimming or text[start] == "%" else TextSpan(start + 2, end - 1)


def _unindented(parts: Sequence[str | TextSpan | None]) -> list[str | TextSpan | None]:
    """Remove the smallest indentation from all lines of `<<-`; lines of nothing but spaces do not count."""
    at_line_start = True
    indents: dict[int, int] = {}
    for position, part in enumerate(parts):
        if at_line_start:
            if not isinstance(part, str):
                indents[position] = 0
            elif part.strip(SPACES) or not part.endswith("\n"):
                indents[position] = len(part) - len(part.lstrip(SPACES))
        at_line_start = isinstance(part, str) and part.endswith("\n")
    smallest = min(indents.values(), default=0)
    return [
        part[smallest:] if position in indents and isinstance(part, str) else part
        for position, part in enumerate(parts)
    ]


def _broken(text: str, at: int) -> SyntaxProblemError:
    character = text[at : at + 1]
    if character == "":
        return SyntaxProblemError(at, "Unterminated template string", "No closing marker was found for the string.")
    if character in ("\r", "\n"):
        return SyntaxProblemError(
            at, "Invalid multi-line string", "Quoted strings may not be split over multiple lines."
        )
    if character == "\\":
        return SyntaxProblemError(at, "Invalid escape sequence", "Backslash must be followed by a selector character.")
    return bad_encoding(at)
