"""A CI log as plain lines: without colours, boxes, time stamps and prefixes of CI systems.

The log is hostile input. Its size, lines and their lengths are bounded, and no pattern here backtracks over more than a
bounded number of characters.
"""

from __future__ import annotations

import re

MOST_BYTES = 8 << 20
"""Bytes of a log that are read: its end, since errors stop a run."""

MOST_LINES = 200_000
"""Lines that are read: the last ones."""

LONGEST_LINE = 8_192
"""Characters of a line that are read; the tools wrap theirs near 78, and a JSON event has less."""

_ESCAPES = re.compile(
    r"\x1b\[[0-?]{0,32}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)?|\x1b[@-Z\\^_]"
    r"|\^?\[(?:\d{1,3}(?:;\d{1,3}){0,4})?m"
)
"""Control sequences, and colours whose escape character was lost in a copy."""

_MOMENT = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d"
_PREFIXES = tuple(
    map(
        re.compile,
        (
            r"[\w .()/-]{1,120}\t[\w .()/-]{1,120}\t",  # gh run view --log: job, step
            rf"\ufeff?\[?{_MOMENT}(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?\]?(?: \d\d[OE]\+?)?[ \t]{{1,4}}",
            r"\[?\d\d:\d\d:\d\d(?:[.,]\d{1,6})?\]?[ \t]{1,4}",
            r"section_(?:start|end):\d{1,12}:[\w-]{1,120}(?:\[[\w=,]{1,80}\])?[ \t]{0,4}",
            r"##\[(?:error|warning|group|endgroup|debug|section|command)\]",
            r"::(?:error|warning|notice|debug|group)(?: [^:\n]{0,200})?::",
            r"(?:STDOUT|STDERR|INFO|ERROR)[ \t]{1,4}(?:\[[^\]\n]{1,200}\][ \t]{1,4})?(?:terraform|tofu):[ \t]{0,4}",
            r"\[[\w./-]{1,200}\][ \t]{1,4}(?=\S)",
            r"[\w.-]{1,60}[ \t]{1,20}\|[ \t]{0,4}(?=\S)",  # docker compose
        ),
    )
)

_BOXES = "╷│╵┃╎|"
_GARBLED = ("â”‚", "â•·", "â•µ", "Γöé", "Γò╖", "Γò╡")
"""The characters of a box in UTF-8 that were read as Windows-1252 or code page 437."""

_BOX_END = ("╵", "â•µ", "Γò╡")
_MOST_PREFIXES = 6


class LogLine:
    """One cleaned line: its text, its number in the log from 1, and whether it ends a box."""

    __slots__ = ("ends_box", "number", "text")

    def __init__(self, text: str, number: int, *, ends_box: bool) -> None:
        self.text, self.number, self.ends_box = text, number, ends_box


def decoded_log(data: bytes) -> tuple[str, bool]:
    """Return the text of a log, and whether its beginning was left out; UTF-16 with a mark is read too."""
    is_cut = len(data) > MOST_BYTES
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data[: MOST_BYTES + 2].decode("utf-16", "replace"), is_cut
    return data[-MOST_BYTES:].decode("utf-8", "replace"), is_cut


def clean_lines(text: str) -> list[LogLine]:
    """Return the lines of a log without decoration; at most MOST_LINES, the last ones."""
    lines = text.split("\n")
    first = max(0, len(lines) - MOST_LINES)
    return [_clean(line, number) for number, line in enumerate(lines[first:], start=first + 1)]


def _clean(line: str, number: int) -> LogLine:
    line = line[:LONGEST_LINE].rstrip("\r")
    line = _ESCAPES.sub("", line)
    if "\r" in line:  # progress is drawn over; GitLab marks its sections that way
        line = line.rpartition("\r")[2]
    for _ in range(_MOST_PREFIXES):
        shorter = _without_prefix(line)
        if shorter == line:
            break
        line = shorter
    stripped = line.strip()
    ends_box = stripped.startswith(_BOX_END)
    for garbled in _GARBLED:
        stripped = stripped.removeprefix(garbled)
    stripped = stripped.lstrip(_BOXES).rstrip("│┃").strip()
    readable = "".join(character if character.isprintable() else " " for character in stripped)
    return LogLine(readable.replace("\u2019", "'").strip(), number, ends_box=ends_box)


def _without_prefix(line: str) -> str:
    for prefix in _PREFIXES:
        if match := prefix.match(line):
            return line[match.end() :]
    return line
