"""Text with semantic roles instead of colours: the lines that reports print and screens show.

A span's role is a meaning (a warning, an added line), never a look: the theme of the screens maps roles to styles,
`text.page` some of them to the colours of a terminal, and `plain_lines` leaves them out. No markup is parsed, and
nothing of the domain is known here.
"""

from __future__ import annotations

import re
from enum import StrEnum
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from locklens.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LABEL_WIDTH = 13
"""Columns of the label before a line; the longest labels are CONSTRAINTS and REQUIRED BY."""

_WIDTH = 120
"""Columns of a text report, beyond which lines are folded."""

_GROUPED = re.compile(r"\b(?:[0-9A-F]{4} ){9}[0-9A-F]{4}\b")
"""A fingerprint in groups of four digits; plain text has it in one word, which can be searched for and pasted."""

_ASCII_TREE = str.maketrans({"├": "|", "│": "|", "└": "`", "─": "-"})


class Role(StrEnum):
    """The meaning of a piece of text; the theme has a style for each."""

    PLAIN = "plain"
    DIM = "dim"
    STRONG = "strong"
    HEADING = "heading"
    BLOCK = "block"
    WARN = "warn"
    INFO = "info"
    GOOD = "good"
    ADDED = "added"
    REMOVED = "removed"
    PLACE = "place"
    TREE = "tree"
    """The branches of a drawn tree. Plain text has them in ASCII: a report is also read where no encoding is known."""


class Span(NamedTuple):
    """A piece of one line."""

    text: str
    role: Role = Role.PLAIN


class FilePlace(NamedTuple):
    """A line of a file of the reviewed tree; `file` is relative to the repository's top."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def seen_from(self, folder: str) -> str:
        """The place relative to a root's folder, if the file is in it."""
        return seen_from(str(self), folder)


class Line(Struct, frozen=True):
    """One line before it is wrapped.

    Attributes:
        hanging: Columns that continuation lines are indented by.
        copied: The text for the clipboard; "" for a line that the cursor skips.
        place: The place that the edit key opens.
    """

    spans: tuple[Span, ...] = ()
    hanging: int = 0
    copied: str = ""
    place: FilePlace | None = None

    @property
    def text(self) -> str:
        """The line without its roles."""
        return "".join(span.text for span in self.spans)


def line(*spans: Span | str, hanging: int = 0, copied: str = "", place: FilePlace | None = None) -> Line:
    """Build a line; plain strings are plain spans."""
    return Line(tuple(Span(span) if isinstance(span, str) else span for span in spans), hanging, copied, place)


def labelled(
    label: str,
    *spans: Span | str,
    width: int = LABEL_WIDTH,
    hanging: int = 0,
    copied: str = "",
    place: FilePlace | None = None,
) -> Line:
    """Build a line with a label before it.

    Args:
        label: The label.
        *spans: The rest of the line; plain strings are plain spans.
        width: Columns of the label.
        hanging: Columns that continuation lines are indented by; 0 for those of the label.
        copied: The text for the clipboard.
        place: The place that the edit key opens.
    """
    return line(Span(label.ljust(width), Role.HEADING), *spans, hanging=hanging or width, copied=copied, place=place)


def seen_from(path: str, folder: str) -> str:
    """A path relative to a root's folder, with `./`, if it is inside."""
    inside = path.removeprefix(f"{folder}/") if folder else path
    return path if inside == path else f"./{inside}"


def words_seen_from(words: str, folder: str) -> str:
    """Words with the folder of a root, where it begins a path in them, as `./`."""
    return re.sub(rf"(?<![\w./-]){re.escape(folder)}/", "./", words) if folder else words


def plain_lines(lines: Iterable[Line], *, indent: str = "") -> Iterator[str]:
    """Yield lines without roles, folded to a report's width; fingerprints and words longer than a line stay whole."""
    for each in lines:
        shown = [visible(text.translate(_ASCII_TREE) if role is Role.TREE else text) for text, role in each.spans]
        # No fold separates a label, or a place's indent, from the text beside it.
        lead = shown.pop(0) if len(shown) > 1 and (not shown[0] or shown[0].endswith(" ")) else ""
        rest = _GROUPED.sub(lambda found: found[0].replace(" ", ""), "".join(shown))
        lead += rest[: len(rest) - len(rest.lstrip(" "))]
        yield from wrap(
            rest.strip(" "), _WIDTH, initial_indent=indent + lead, subsequent_indent=indent + " " * each.hanging,
            break_long_words=False, break_on_hyphens=False, replace_whitespace=False,
        ) or [""]  # fmt: skip


def heading(text: str) -> Iterator[Line]:
    """An empty line and a heading."""
    yield Line()
    yield line(Span(text, Role.HEADING))
