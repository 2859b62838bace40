"""Packages on their way, a line with a bar for each. Pure, but for the one value that two threads share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.text import size_words
from locklens.ui.text.spans import Line, Role, Span, line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_BAR = 10
_LABEL = 36


class DownloadRow(Struct, frozen=True):
    """One package on its way.

    Attributes:
        label: Provider, version and platform.
        began: When its first bytes came, in seconds of a clock that never goes back.
        received: Bytes so far.
        size: Bytes in all, None where nobody said it.
        ended: When it was hashed or given up; None before.
        problem: Why it was given up, "" where it was not.
        note: What to say of it instead of bytes, "" where those say it.
    """

    label: str
    began: float
    received: int = 0
    size: int | None = None
    ended: float | None = None
    problem: str = ""
    note: str = ""


class Downloads:
    """All packages of a run. A worker tells, the screen looks: each value is replaced whole."""

    def __init__(self) -> None:
        self._found: dict[str, DownloadRow] = {}

    @property
    def in_order(self) -> tuple[DownloadRow, ...]:
        """In the order in which they were heard of first."""
        return tuple(self._found.values())

    @property
    def has_failed(self) -> bool:
        """Whether one was given up."""
        return any(one.problem for one in self.in_order)

    @property
    def hashed(self) -> int:
        """How many are done."""
        return sum(one.ended is not None and not one.problem for one in self.in_order)

    def announce(self, label: str, note: str, now: float) -> None:
        """A package is going to come; what is known of it stays."""
        self._found.setdefault(label, DownloadRow(label, now, note=note))

    def arrive(self, label: str, received: int, size: int | None, now: float) -> None:
        """A package is this far."""
        known = self._found.get(label)
        began = known.began if known is not None and known.received else now
        self._found[label] = DownloadRow(label, began, received, size)

    def end(self, label: str, now: float, *, received: int = 0, problem: str = "", note: str = "") -> None:
        """A package was hashed, or given up."""
        known = self._found.get(label) or DownloadRow(label, now)
        size = received or known.received
        self._found[label] = replace(known, received=size, ended=now, problem=problem, note=note)


def download_lines(downloads: Collection[DownloadRow], now: float, *, indent: str = "") -> Iterator[Line]:
    """A line for each package, in the order in which they began."""
    width = min(max((len(one.label) for one in downloads), default=0), _LABEL)
    for one in downloads:
        yield line(*_spans(one, width, now, indent), hanging=2, copied=one.problem)


def _spans(one: DownloadRow, width: int, now: float, indent: str) -> Iterator[Span]:
    yield Span(f"{indent}{one.label:<{width}}  ", Role.STRONG)
    if one.problem:
        yield Span("FAILED  ", Role.BLOCK)
        yield Span(one.problem)
        return
    seconds = max((one.ended if one.ended is not None else now) - one.began, 0.001)
    rate = f"{size_words(int(one.received / seconds))}/s"
    if one.ended is not None:
        yield Span("hashed  ", Role.GOOD)
        yield Span(one.note or (f"{size_words(one.received)}  {rate}" if one.received else ""), Role.DIM)
    elif one.note:
        yield Span(one.note, Role.DIM)
    elif one.size:
        share = min(1.0, one.received / one.size)
        filled = int(share * _BAR)
        left = (one.size - one.received) * seconds / one.received if one.received else 0.0
        yield Span(f"{'#' * filled}{'.' * (_BAR - filled)} {int(share * 100):3} %  ", Role.INFO)
        yield Span(
            f"{size_words(one.received)} of {size_words(one.size)}  {rate}  {max(0, round(left))} s left", Role.DIM
        )
    else:
        yield Span(f"{size_words(one.received)}  {rate}", Role.DIM)
