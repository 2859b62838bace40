"""Text with semantic roles instead of colours: the interface between view models and widgets.

A span's role is a meaning (a warning, an added line), never a look: the theme maps roles to styles. No markup is
parsed, and Textual is not imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from locklens.review.model import Severity
from locklens.review.reports.why_words import seen_from

if TYPE_CHECKING:
    from collections.abc import Iterator


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


@dataclass(frozen=True, slots=True)
class Line:
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


def heading(text: str) -> Iterator[Line]:
    """An empty line and a heading."""
    yield Line()
    yield line(Span(text, Role.HEADING))


_SEVERITY_ROLES = {
    Severity.BLOCK: Role.BLOCK,
    Severity.WARN: Role.WARN,
    Severity.INFO: Role.INFO,
    Severity.OFF: Role.DIM,
}


def severity_span(severity: Severity | None, *, width: int = 0) -> Span:
    """The severity as a word, readable without colour; "ok" without findings."""
    if severity is None:
        return Span("ok".ljust(width), Role.DIM)
    return Span(severity.value.upper().ljust(width), _SEVERITY_ROLES[severity])
