"""Diffs of files: for `git apply` and `patch -p1`, and as lines to read.

Only a line feed ends a line, as for git: a form feed, U+0085 and U+2028 are characters like any other. Names in headers
are quoted as git does (core.quotePath), so that none of them is a header or a hunk of its own.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.lines import Line, Role, Span, line
from locklens.lockfile.render import render_entry
from locklens.text import has_log_command, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from locklens.lockfile import LockEntry

CONTEXT = 3
"""Unchanged lines of a hunk before and after the difference."""

_COMPARED = 4_000_000
"""Pairs of lines that are compared at most: about a second, for 2,000 lines on both sides."""

_NO_LINE_END = "No newline at end of file"
_MODE = "100644"
_CARRIED = str.maketrans("", "", "\t\x0c\x85\u2028\u2029")
"""Control characters that a patch keeps: terminals and logs at most end a line there."""

_BINARY_LINE = 52
"""Bytes in a line of git's binary patches."""


class DiffRow(Struct, frozen=True):
    r"""One line of a hunk.

    Attributes:
        sign: "-", "+" or " "; "@" for the head of a hunk, "\" for a remark about the line before.
        text: The text after the sign; of a head the extents of both sides.
        old: Line number on the old side, from 1; of a head as it is written there.
        new: The same on the new side.
    """

    sign: str
    text: str
    old: int
    new: int

    @property
    def line(self) -> str:
        """The line of a unified diff, without its line feed."""
        match self.sign:
            case "@":
                return f"@@ {self.text} @@"
            case "\\":
                return f"\\ {self.text}"
            case _:
                return self.sign + self.text


def rows(old: bytes, new: bytes) -> Iterator[DiffRow]:
    """Yield the hunks of a unified diff, row by row; bytes that are not UTF-8 are surrogates."""
    before, after = _lines(old), _lines(new)
    for group in _grouped(before, after):
        first, last = group[0], group[-1]
        from_old, from_new = _extent(first[1], last[2]), _extent(first[3], last[4])
        at_old, at_new = from_old[0], from_new[0]
        yield DiffRow("@", f"-{from_old[1]} +{from_new[1]}", at_old, at_new)
        for tag, start_old, end_old, start_new, end_new in group:
            removed, added = before[start_old:end_old], after[start_new:end_new]
            for sign, lines in ((" ", removed),) if tag == "equal" else (("-", removed), ("+", added)):
                for text in lines:
                    yield DiffRow(sign, text.removesuffix("\n"), max(at_old, 1), max(at_new, 1))
                    at_old += sign != "+"
                    at_new += sign != "-"
                    if not text.endswith("\n"):
                        yield DiffRow("\\", _NO_LINE_END, max(at_old - 1, 1), max(at_new - 1, 1))


def hunks(old: bytes, new: bytes) -> Iterator[str]:
    """Yield the hunks of a unified diff, line by line without line feeds."""
    return (row.line for row in rows(old, new))


def _grouped(old: list[str], new: list[str]) -> Iterator[list[tuple[str, int, int, int, int]]]:
    """Yield the operations of each hunk, as `difflib` has them.

    Finding the smallest difference takes time that grows with the product of both lengths: the common lines at
    both ends are left out, and more than `_COMPARED` pairs of lines are one replacement.
    """
    from difflib import SequenceMatcher

    start = _common(old, new)
    end = min(_common(old[::-1], new[::-1]), len(old) - start, len(new) - start)
    old_end, new_end = len(old) - end, len(new) - end

    class Bounded(SequenceMatcher[str]):
        def get_opcodes(self) -> list[tuple[Any, int, int, int, int]]:
            opcodes: list[tuple[Any, int, int, int, int]] = [("equal", 0, start, 0, start)] if start else []
            if (old_end - start) * (new_end - start) > _COMPARED:
                opcodes.append(("replace", start, old_end, start, new_end))
            else:
                inner = SequenceMatcher(None, old[start:old_end], new[start:new_end]).get_opcodes()
                opcodes += [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in inner]
            if end:
                opcodes.append(("equal", old_end, len(old), new_end, len(new)))
            return opcodes

    if old != new:
        yield from Bounded().get_grouped_opcodes(CONTEXT)


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the number of lines that two texts share at their beginning."""
    return next(
        (place for place, (line, other) in enumerate(zip(old, new, strict=False)) if line != other),
        min(len(old), len(new)),
    )


def _extent(start: int, end: int) -> tuple[int, str]:
    """Return the first line of a hunk on one side, from 1, or from 0 where it has none, and its words in the head."""
    length = end - start
    first = start + 1 if length else start
    return first, str(first) if length == 1 else f"{first},{length}"


def diff_lines(path: str, old: bytes | None, new: bytes | None) -> list[str]:
    """Return the diff of a file as lines to read; the path is relative to the repository's top, and None is no file."""
    return [*header(path, old, new), *hunks(old or b"", new or b"")]


def patch(path: str, old: bytes | None, new: bytes | None) -> str:
    """Return the diff of a file for `git apply`, which ends with a line feed; the arguments are those of `diff_lines`.

    A patch has the bytes of a file as they are. Where some of them would act on a terminal or in a log, it is written
    as git writes that of a binary file, which `git apply` takes too, in repositories of SHA-1.
    """
    text = "".join(f"{line}\n" for line in diff_lines(path, old, new))
    if all(_is_harmless(line) for line in text.split("\n")):
        return text
    return "".join(f"{line}\n" for line in (*_extended_header(path, old, new), *_binary(old, new)))


def quoted_name(name: str) -> str:
    """Return a path with its side, such as "a/x", as git has it in headers: in quotes where it is not plain."""
    octal = set('"\\' + ("#" if has_log_command(name) else ""))
    if visible(name) == name and not octal & set(name):
        return name
    return (
        '"'
        + "".join(
            _quoted(character) if character in octal or visible(character) != character else character
            for character in name
        )
        + '"'
    )


def _quoted(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))


def header(path: str, old: bytes | None, new: bytes | None) -> list[str]:
    """Return the lines before the hunks; the arguments are those of `diff_lines`."""
    return [*_extended_header(path, old, new), *_names(path, old, new)]


def _extended_header(path: str, old: bytes | None, new: bytes | None) -> Iterator[str]:
    yield f"diff --git {quoted_name(f'a/{path}')} {quoted_name(f'b/{path}')}"
    if old is None:
        yield f"new file mode {_MODE}"
    if new is None:
        yield f"deleted file mode {_MODE}"


def _names(path: str, old: bytes | None, new: bytes | None) -> Iterator[str]:
    if not old and not new:
        return  # An empty file that is added or removed has no hunk either.
    for sign, side, data in (("---", "a", old), ("+++", "b", new)):
        name = quoted_name(f"{side}/{path}") if data is not None else "/dev/null"
        # Without it patch(1) reads text after a space as a date.
        end = "\t" if " " in name and name[0] != '"' else ""
        yield f"{sign} {name}{end}"


def _lines(data: bytes) -> list[str]:
    """The lines with their ends; only LF ends one."""
    pieces = data.decode("utf-8", "surrogateescape").split("\n")
    return [f"{piece}\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def _is_harmless(line: str) -> bool:
    carried = line.removesuffix("\r").translate(_CARRIED)
    return visible(carried) == carried and not has_log_command(line)


def _binary(old: bytes | None, new: bytes | None) -> Iterator[str]:
    end = f" {_MODE}" if old is not None and new is not None else ""
    yield f"index {_object_id(old)}..{_object_id(new)}{end}"
    yield "GIT binary patch"
    for data in (new or b"", old or b""):
        yield from _literal(data)
        yield ""


def _literal(data: bytes) -> Iterator[str]:
    import base64
    import zlib

    yield f"literal {len(data)}"
    packed = zlib.compress(data)
    for start in range(0, len(packed), _BINARY_LINE):
        piece = packed[start : start + _BINARY_LINE]
        size = chr(len(piece) + (64 if len(piece) <= 26 else 70))
        yield size + base64.b85encode(piece, pad=True).decode("ascii")


def _object_id(data: bytes | None) -> str:
    """Git's name of a file's bytes."""
    import hashlib

    if data is None:
        return "0" * 40
    return hashlib.sha1(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest()


ROLES = {"+": Role.ADDED, "-": Role.REMOVED, "@": Role.INFO}


def entries_bytes(entries: Iterable[LockEntry | None]) -> bytes:
    """Return entries as a lock file has them, in its order; None for an absent one."""
    present = sorted((entry for entry in entries if entry is not None), key=lambda entry: entry.address.sort_key)
    return "\n".join(render_entry(entry) for entry in present).encode("utf-8", "surrogateescape")


def file_diff_lines(path: str, old: bytes | None, new: bytes | None) -> Iterator[Line]:
    """Return the diff of a file's bytes; None for a missing file."""
    if old == new:
        return
    for head in header(path, old, new):
        yield line(Span(head, Role.STRONG), hanging=1)
    yield from _hunk_lines(old or b"", new or b"")


def part_diff_lines(names: tuple[str, str], old: bytes, new: bytes) -> Iterator[Line]:
    """Return the diff of blocks of a file; where they are in the file is not shown: its hunks have no numbers.

    The file's names are those of its sides, such as "a/infra/.terraform.lock.hcl"; "/dev/null" where a side lacks it.
    """
    if old == new:
        return
    for sign, name in zip(("---", "+++"), names, strict=True):
        yield line(Span(f"{sign} {quoted_name(name)}", Role.STRONG), hanging=1)
    yield from _hunk_lines(old, new, is_numbered=False)


def _hunk_lines(old: bytes, new: bytes, *, is_numbered: bool = True) -> Iterator[Line]:
    for row in rows(old, new):
        head = row.line if is_numbered else "@@ @@"
        shown = f"{head} {block_of(row, old, new)}".rstrip() if row.sign == "@" else row.line
        yield line(Span(shown, ROLES.get(row.sign, Role.PLAIN)), hanging=1)


def block_of(head: DiffRow, old: bytes, new: bytes) -> str:
    """Return the first line of the block where a hunk begins, as git appends it to the hunk's numbers."""
    start, data = (head.new, new) if new else (head.old, old)
    heads = [text for text in _lines(data)[: max(start, 1)] if text.startswith("provider ")]
    return heads[-1].removesuffix("\n").removesuffix(" {") if heads else ""
