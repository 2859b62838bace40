"""Output text: printable lines, the format of sizes, counts and lists of names, and digests that stand for texts.

Lock files, folders' names and registries' answers hold any character. Control characters, direction marks, invisible
characters and the log commands of CI systems are escaped. Every output is a `Printable`, and only this module makes
one: of lines, in which a line feed is an escape like any other control character, or of a JSON document. So no writer
can omit it, and no value can begin a new line.

This module is loaded by every run: it has no imports at its top.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol

_NAMES_SHOWN = 5
_KIB = 1024.0
_DAYS_OF_YEARS = 730
_COLOURS = {"strong": "1", "heading": "1", "dim": "2", "block": "31;1", "good": "32", "warn": "33", "info": "36"}
"""The SGR parameters of the roles that have a colour; none of them conceals text."""

_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
"""Characters of the name of a log command."""

_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
"""Invisible letters and marks: those of Unicode's Default_Ignorable_Code_Point, and the blank of Braille."""


class Printable(str):
    """Text of printable characters, line feeds and locklens' own colours; see the module."""

    __slots__ = ()


if TYPE_CHECKING:

    class Spans(Protocol):
        """A line as `lines.Line` has it: pieces of text, each with its role."""

        @property
        def spans(self) -> Sequence[tuple[str, str]]:
            """The pieces."""


def visible(text: str) -> str:
    """Return text with an escape for every character that is not printable, line feeds among them."""
    if text.isprintable() and (text.isascii() or _UNSEEN.isdisjoint(text)):
        return text
    return "".join(
        character if character.isprintable() and character not in _UNSEEN else _escape(character) for character in text
    )


def _escape(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def has_log_command(line: str) -> bool:
    """True if a line is, or contains, a log command of a CI system.

    GitHub: `::error::` at the line's beginning, after any white space, and `##[error]` anywhere. Azure Pipelines:
    `##vso[task.complete]` anywhere. TeamCity: `##teamcity[message]`.
    """
    if line.lstrip().startswith("::"):
        return True
    return "##" in line and any(piece.rstrip(_WORD).endswith("##") for piece in line.split("[")[:-1])


def _without_log_command(line: str) -> str:
    if not has_log_command(line):
        return line
    if line.lstrip().startswith("::"):
        line = line.replace(":", "\\x3a", 1)
    return line.replace("##", "#\\x23")


def page(lines: Iterable[str | Spans], *, colour: bool = False) -> Printable:
    """Return lines as an output, each with a line feed.

    Args:
        lines: One by one; a line feed in one of them is escaped.
        colour: True to colour the pieces whose roles have a colour.
    """
    return Printable("".join(f"{_line(line, colour=colour)}\n" for line in lines))


def _line(line: str | Spans, *, colour: bool) -> str:
    spans = [(line, "")] if isinstance(line, str) else line.spans
    shown = [visible(text) for text, _ in spans]
    if has_log_command("".join(shown)):
        return _without_log_command("".join(shown))
    if not colour:
        return "".join(shown)
    return "".join(
        f"\x1b[{_COLOURS[role]}m{text}\x1b[0m" if role in _COLOURS else text
        for text, (_, role) in zip(shown, spans, strict=True)
    )


def script_text(text: str) -> Printable:
    """Return a program's text as it is; tabs count in it.

    Raises:
        ValueError: It has another character that is not printable.
    """
    if not text.replace("\n", "").replace("\t", "").isprintable():
        raise ValueError("a script with characters that are not printable")
    return Printable(text if text.endswith("\n") else f"{text}\n")


def one_line(text: str) -> Printable:
    """Return text as one line without a line feed: for a status line, a notice, the clipboard."""
    return Printable(_line(text, colour=False))


def json_text(document: Any, *, indent: int | None = 2) -> Printable:
    """Return a JSON document of ASCII alone, with a line feed at its end.

    Args:
        document: A value that msgspec encodes.
        indent: None puts it on one line.
    """
    return plain_json(_ascii_json(document, 0 if indent is None else indent))


def json_pages(document: Any, lists: Mapping[str, Iterable[Any]]) -> Iterator[Printable]:
    """Yield a document as `json_text` returns it, in pieces: the items of some lists one by one, as they are made.

    Args:
        document: A struct with an empty list in the place of each of them.
        lists: The items by the name of their field, in the order of the fields.
    """
    rest = _ascii_json(document, 2)
    for name, items in lists.items():
        # No text in JSON has a line feed, so that the line of the field itself is the only one of this form.
        before, _, rest = rest.partition(f'\n  "{name}": []')
        yield _printable_json(f'{before}\n  "{name}": [')
        end = "]"
        for item in items:
            yield _printable_json(("," if end != "]" else "") + f"\n{_ascii_json(item, 2)}".replace("\n", "\n    "))
            end = "\n  ]"
        rest = end + rest
    yield plain_json(rest)


def joined(pages: Iterable[Printable]) -> Printable:
    """Return the pieces of an output as one."""
    return Printable("".join(pages))


def _ascii_json(document: Any, indent: int) -> str:
    """Return a document as JSON of ASCII alone; 0 puts it on one line."""
    import msgspec

    try:
        # One buffer of bytes: json's own encoder keeps each token of an indented document as an object. No name holds
        # one of the buffers while the next is made.
        text = msgspec.json.format(msgspec.json.encode(document), indent=indent).decode()
    except UnicodeEncodeError:
        import json

        return json.dumps(msgspec.to_builtins(document), indent=indent or None, ensure_ascii=True)
    if not text.isascii() or "\x7f" in text:
        import re

        text = re.sub(r"[^\x20-\x7e\n]", lambda match: _json_escape(match[0]), text)
    return text


def _json_escape(character: str) -> str:
    code = ord(character)
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def plain_json(text: str) -> Printable:
    """Return JSON of printable ASCII, with log commands escaped.

    Raises:
        ValueError: The text is not printable ASCII.
    """
    return _printable_json(text + "\n")


def _printable_json(text: str) -> Printable:
    import re

    if re.search(r"[^\x20-\x7e\n]", text) is not None:
        raise ValueError("JSON that is not written in ASCII")
    # "#" is in strings alone, and is the same character there.
    return Printable(text.replace("##", "#\\u0023"))


def shell_words(words: Iterable[str]) -> str:
    """Return words quoted for a shell, printable: an unprintable word is quoted as `$'...'`, with octal bytes."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """Return one word quoted for a shell; see `shell_words`."""
    import os
    import shlex

    if one_line(word) == word:
        return shlex.quote(word)
    pieces = []
    for character in word:
        if character in "'\\#:":
            pieces.append(f"\\{ord(character):03o}")
        elif visible(character) == character:
            pieces.append(character)
        else:
            pieces += [f"\\{byte:03o}" for byte in os.fsencode(character)]
    return f"$'{''.join(pieces)}'"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, e.g. "1 root", "2 roots"."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def size_words(size: int) -> str:
    """Return a number of bytes in readable units: `512 bytes`, `21.4 MiB`."""
    if size < _KIB:
        return counted(size, "byte")
    amount, units = size / _KIB, ["KiB", "MiB", "GiB"]
    while amount >= _KIB and len(units) > 1:
        amount, units = amount / _KIB, units[1:]
    return f"{amount:.1f} {units[0]}"


def age_words(days: int | None) -> str:
    """Return an age in short form: days, from two years on whole years; "?" if unknown."""
    if days is None:
        return "?"
    return f"{days}d" if days < _DAYS_OF_YEARS else f"{days // 365}y"


def shortened(text: str, limit: int) -> str:
    """Return text of at most `limit` characters; an ellipsis marks what was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def listing(names: Sequence[str], limit: int = _NAMES_SHOWN) -> str:
    """Return the first names of a list, and the number of the others."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def clauses(*words: str) -> str:
    """Return clauses as one, in order; empty ones are left out."""
    return "; ".join(filter(None, words))


def disk_advice(error: OSError) -> str:
    """Return the next step after a file or folder could not be written."""
    import errno

    number = error.errno
    if number in {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}:
        return "free some space on that disk"
    if number == errno.EROFS:
        return "that disk is mounted read-only: mount it for writing"
    if number in {errno.EACCES, errno.EPERM}:
        return "check the permissions there"
    if number in {errno.ENOTDIR, errno.EEXIST, errno.EISDIR}:
        return "a file is in the place of a folder, or the reverse: move it away"
    return "check the folder and its disk"


def reason_of(error: Exception) -> str:
    """Return the reason of an error, as the end of a sentence; of a system error without its file."""
    return (error.strerror or "unknown error").lower() if isinstance(error, OSError) else str(error)


ID_DIGITS = 32
"""The digits of an id that is shown and written to files: 128 bits, so that nobody can find two texts with one id."""


def identity_of(*parts: str) -> str:
    """Return 64 hex digits that stand for these parts in this order, and for no others.

    The length of each part is hashed before it: if parts were merely joined, one could contain the separator.
    """
    import hashlib

    whole = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        whole.update(b"%d:" % len(data))
        whole.update(data)
    return whole.hexdigest()
