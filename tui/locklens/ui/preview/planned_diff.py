"""The diff of a planned file: runs of hashes are folded into one line each. No I/O."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.hashes import count_by_scheme
from locklens.lines import FilePlace, Line, Role, Span, line
from locklens.lockfile.parse import parse
from locklens.operations.plan import diffs
from locklens.project.roots import LOCK_FILE
from locklens.text import counted
from locklens.ui.text.diff import ROLES, block_of, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.operations.plan.model import PlannedFile

_HASH = re.compile(r'\s*"([a-z0-9]+:[^"\s]+)",?\s*')
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)")
_FOLD_FROM = 2


class _Row(Struct, frozen=True):
    """One line of a diff.

    Attributes:
        sign: "+", "-", " ", or "@" for a hunk's head.
        text: The text after the sign.
        old: Line number in the current file, from 1.
        new: Line number in the planned file, from 1.
    """

    sign: str
    text: str
    old: int
    new: int

    @property
    def hash(self) -> str:
        """The hash of a line with nothing else; "" for any other line."""
        match = _HASH.fullmatch(self.text) if self.sign != "@" else None
        return match[1] if match else ""


def planned_lines(file: PlannedFile, *, in_full: bool) -> Iterator[Line]:
    """Yield the diff of a planned file below its name.

    Args:
        file: The planned file.
        in_full: True to show each hash.
    """
    action = "to be added" if file.old is None else "to be removed" if file.new is None else "to be changed"
    place = FilePlace(file.path, 1) if file.old is not None else None
    yield line(Span(file.path, Role.PLACE), Span(f"  {action}", Role.DIM), hanging=2, copied=file.path, place=place)
    rows = _rows(file.old or b"", file.new or b"")
    is_lock = file.path.rpartition("/")[2] == LOCK_FILE
    if in_full or not is_lock:
        yield from (_shown(row, file) for row in rows)
        return
    versions = {"-": _versions(file.old, file.path), "+": _versions(file.new, file.path)}
    for run in _runs(_headed(rows)):
        if len(run) < _FOLD_FROM:
            yield from (_shown(row, file) for row in run)
        else:
            yield from _folded(run, file, versions)


def _rows(old_data: bytes, new_data: bytes) -> Iterator[_Row]:
    old, new = lines_of(old_data), lines_of(new_data)
    before = after = 0
    for text in diffs.hunks(old_data, new_data):
        if text.startswith("\\"):
            yield _Row("\\", text[2:], max(before - 1, 1), max(after - 1, 1))
            continue
        if hunk := _HUNK.match(text):
            before, after = int(hunk[1]), int(hunk[2])
            if old and new:
                yield _Row("@", block_of(text, old, new), before, after)
            continue
        yield _Row(text[:1], text[1:], max(before, 1), max(after, 1))
        before += text[:1] != "+"
        after += text[:1] != "-"


def _headed(rows: Iterable[_Row]) -> Iterator[_Row]:
    """Clear the text of hunk heads whose hunk already shows the first line of the block."""
    hunk: list[_Row] = []
    for row in (*rows, None):
        if row is None or row.sign == "@":
            yield from _with_short_head(hunk)
            hunk = []
        if row is not None:
            hunk.append(row)


def _with_short_head(hunk: list[_Row]) -> list[_Row]:
    before = itertools.takewhile(lambda row: row.sign in "@ ", hunk)
    if not any(row.sign == " " and row.text.startswith("provider ") for row in before):
        return hunk
    return [replace(row, text="") if row.sign == "@" else row for row in hunk]


def _runs(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    """Group consecutive hash lines; any other line is a group of its own."""
    run: list[_Row] = []
    for row in rows:
        if row.hash:
            run.append(row)
            continue
        if run:
            yield run
            run = []
        yield [row]
    if run:
        yield run


def _shown(row: _Row, file: PlannedFile) -> Line:
    place = FilePlace(file.path, row.old) if file.old is not None else None
    if row.sign == "@":
        return line(Span(f"@@ {row.text or f'line {row.old}'}", Role.INFO), hanging=3, place=place)
    role = ROLES.get(row.sign, Role.PLAIN)
    return line(Span(f"{row.sign} {row.text}", role), hanging=2, copied=row.hash or row.text.strip(), place=place)


def _folded(run: list[_Row], file: PlannedFile, versions: dict[str, list[tuple[int, str]]]) -> Iterator[Line]:
    for sign in "-+":
        hashes = [row for row in run if row.sign == sign]
        if not hashes:
            continue
        number = hashes[0].old if sign == "-" else hashes[0].new
        version = next((name for start, name in reversed(versions[sign]) if start <= number), "")
        text = counted(len(hashes), "hash", "hashes") + (f" of {version}" if version else "")
        place = FilePlace(file.path, hashes[0].old) if file.old is not None else None
        yield line(
            Span(f"{sign}     {text}", ROLES[sign]),
            Span(f"  {count_by_scheme(row.hash for row in hashes)}", Role.DIM),
            hanging=6,
            copied=text,
            place=place,
        )
    if any(row.sign == " " for row in run):
        yield line(Span("      … unchanged hashes", Role.DIM))


def _versions(data: bytes | None, path: str) -> list[tuple[int, str]]:
    """The first line of each entry with its version, in order."""
    return sorted((entry.line, str(entry.version)) for entry in parse(data or b"", path).entries)
