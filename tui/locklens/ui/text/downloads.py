"""Progress of package downloads: rows from the events of a run, and a line with a bar for each.

No I/O. A worker writes the rows while the screen reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.install.context import FetchStarted, InstallEvent, PackageArriving, PackageHashed, ProviderFailed
from locklens.lines import Line, Role, Span, line
from locklens.text import size_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


_BAR = 10
_LABEL = 36


class DownloadRow(Struct, frozen=True):
    """The download of one package.

    Attributes:
        label: Provider, version and platform.
        began: Time of the first bytes, in seconds of a monotonic clock.
        received: Bytes so far.
        size: Total bytes; None if unknown.
        ended: Time of completion or failure; None before.
        problem: The reason of a failure; "" without one.
        note: Text shown instead of bytes; "" to show bytes.
        outcome: The word for a completed download.
    """

    label: str
    began: float
    received: int = 0
    size: int | None = None
    ended: float | None = None
    problem: str = ""
    note: str = ""
    outcome: str = "hashed"


class Downloads:
    """All downloads of a run. Written by a worker, read by the screen: each value is replaced whole."""

    def __init__(self) -> None:
        self._by_label: dict[str, DownloadRow] = {}

    @property
    def in_order(self) -> tuple[DownloadRow, ...]:
        """All downloads in the order of announcement."""
        return tuple(self._by_label.values())

    @property
    def has_failed(self) -> bool:
        """True if a download failed."""
        return any(row.problem for row in self.in_order)

    @property
    def hashed(self) -> int:
        """The number of completed downloads."""
        return sum(row.ended is not None and not row.problem for row in self.in_order)

    def announce(self, label: str, note: str, now: float) -> None:
        """Add an expected package; a known one is unchanged."""
        self._by_label.setdefault(label, DownloadRow(label, now, note=note))

    def arrive(self, label: str, received: int, size: int | None, now: float) -> None:
        """Update the progress of a package."""
        known = self._by_label.get(label)
        began = known.began if known is not None and known.received else now
        self._by_label[label] = DownloadRow(label, began, received, size)

    def end(
        self, label: str, now: float, *, received: int = 0, problem: str = "", note: str = "", outcome: str = "hashed"
    ) -> None:
        """Complete a package, or let it fail."""
        known = self._by_label.get(label) or DownloadRow(label, now)
        size = received or known.received
        self._by_label[label] = replace(known, received=size, ended=now, problem=problem, note=note, outcome=outcome)


def download_lines(downloads: Collection[DownloadRow], now: float, *, indent: str = "") -> Iterator[Line]:
    """A line for each package, in the order of announcement."""
    width = min(max((len(row.label) for row in downloads), default=0), _LABEL)
    for row in downloads:
        yield line(*_spans(row, width, now, indent), hanging=2, copied=row.problem)


def _spans(row: DownloadRow, width: int, now: float, indent: str) -> Iterator[Span]:
    yield Span(f"{indent}{row.label:<{width}}  ", Role.STRONG)
    if row.problem:
        yield Span("FAILED  ", Role.BLOCK)
        yield Span(row.problem)
        return
    seconds = max((row.ended if row.ended is not None else now) - row.began, 0.001)
    rate = f"{size_words(int(row.received / seconds))}/s"
    if row.ended is not None:
        yield Span(f"{row.outcome}  ", Role.GOOD)
        yield Span(row.note or (f"{size_words(row.received)}  {rate}" if row.received else ""), Role.DIM)
    elif row.note:
        yield Span(row.note, Role.DIM)
    elif row.size:
        share = min(1.0, row.received / row.size)
        filled = int(share * _BAR)
        left = (row.size - row.received) * seconds / row.received if row.received else 0.0
        yield Span(f"{'#' * filled}{'.' * (_BAR - filled)} {int(share * 100):3} %  ", Role.INFO)
        yield Span(
            f"{size_words(row.received)} of {size_words(row.size)}  {rate}  {max(0, round(left))} s left", Role.DIM
        )
    else:
        yield Span(f"{size_words(row.received)}  {rate}", Role.DIM)


def take_event(downloads: Downloads, event: InstallEvent, now: float) -> None:
    """Record an event of a package's download; others are ignored.

    Args:
        downloads: The downloads so far.
        event: The event.
        now: Seconds of a monotonic clock.
    """
    match event:
        case FetchStarted(provider, version, platform) if platform is not None:
            downloads.announce(f"{provider} {version} {platform}", "asking", now)
        case PackageArriving(provider, version, platform, received, size):
            downloads.arrive(f"{provider} {version} {platform}", received, size, now)
        case PackageHashed(provider, version, platform, _, is_cached, is_reported):
            label, note = f"{provider} {version} {platform}", "in an earlier run" if is_cached else ""
            if is_reported:
                downloads.end(label, now, note="by the registry, not downloaded", outcome="reported")
            else:
                downloads.end(label, now, note=note)
        case ProviderFailed(provider, _, words, _):
            for label in _failed_packages(downloads, provider, words):
                downloads.end(label, now, problem=words)


def _failed_packages(downloads: Downloads, provider: str, words: str) -> list[str]:
    """The packages of a failure: the named one, else all unfinished ones of the provider."""
    unfinished = [row.label for row in downloads.in_order if row.ended is None]
    candidates = [label for label in unfinished if label.startswith(f"{provider} ")]
    return [label for label in candidates if all(part in words for part in label.split(" "))] or candidates
