"""Unified diffs: the bytes of a root's lock file, or the provider block of a change. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import Line, Role, Span, line
from locklens.lockfile.render import render_entry
from locklens.operations.plan import diffs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from locklens.lockfile.model import LockEntry


ROLES = {"+": Role.ADDED, "-": Role.REMOVED, "@": Role.INFO}


def _bytes(entries: Iterable[LockEntry | None]) -> bytes:
    present = sorted((entry for entry in entries if entry is not None), key=lambda entry: entry.address.sort_key)
    return "\n".join(render_entry(entry) for entry in present).encode("utf-8", "surrogateescape")


def file_diff_lines(path: str, old: bytes | None, new: bytes | None) -> Iterator[Line]:
    """Return the diff of a file's bytes; None for a missing file."""
    if old == new:
        return
    for head in diffs.header(path, old, new):
        yield line(Span(head, Role.STRONG), hanging=1)
    yield from _hunk_lines(old or b"", new or b"")


def lines_of(data: bytes) -> list[str]:
    """Return the lines without line feeds; other line ends remain visible."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return lines if lines[-1] else lines[:-1]


def _diff(path: str, old: bytes, new: bytes, *, sides: tuple[str, str] = ("a", "b")) -> Iterator[Line]:
    """The diff of a part of a file."""
    if old == new:
        return
    for sign, side, data in zip(("---", "+++"), sides, (old, new), strict=True):
        name = diffs.quoted_name(f"{side}/{path}") if data else "/dev/null"
        yield line(Span(f"{sign} {name}", Role.STRONG), hanging=1)
    yield from _hunk_lines(old, new)


def _hunk_lines(old: bytes, new: bytes) -> Iterator[Line]:
    before, after = lines_of(old), lines_of(new)
    for text in diffs.hunks(old, new):
        shown = f"{text} {block_of(text, before, after)}".rstrip() if text.startswith("@@ ") else text
        yield line(Span(shown, ROLES.get(text[:1], Role.PLAIN)), hanging=1)


def block_of(hunk: str, old: Sequence[str], new: Sequence[str]) -> str:
    """Return the first line of the block where a hunk begins, as git appends it to the hunk's numbers."""
    before, after = (max(0, -int(part.partition(",")[0])) for part in hunk.replace("+", "-").split(" ")[1:3])
    start, lines = (after, new) if new else (before, old)
    heads = [text for text in lines[: max(start, 1)] if text.startswith("provider ")]
    return heads[-1].removesuffix(" {") if heads else ""
