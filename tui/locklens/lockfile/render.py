"""Lock files as text: as the tools write them, byte for byte, the deviations from that, and in short for `git diff`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from locklens.dialect import DIALECTS, MANUAL_EDITS_COMMENT
from locklens.hashes import hashes_of_zips
from locklens.nfc import nfc
from locklens.text import ID_DIGITS, identity_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.dialect import Dialect
    from locklens.lockfile import Conflict, LockEntry, LockFile

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_UNESCAPED = re.compile(r"[ !#&-\[\]-~]*")
"""Printable ASCII without quotes, backslashes, and the signs that may begin a template."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LAST_BASIC_PLANE = 0xFFFF


def render(entries: Iterable[LockEntry], dialect: Dialect) -> bytes:
    """Return the bytes that the tool would write: UTF-8, LF, providers and hashes in order, no duplicates."""
    blocks = [render_entry(entry) for entry in sorted(entries, key=lambda entry: entry.address.sort_key)]
    return "\n".join((dialect.preamble, *blocks)).encode()


def render_entry(entry: LockEntry) -> str:
    """Return one provider's block, ending in a line feed."""
    lines = [f"provider {_quoted(str(entry.address))} {{"]
    if entry.constraints:
        lines += [f"  version     = {_quoted(str(entry.version))}", f"  constraints = {_quoted(entry.constraints)}"]
    else:
        lines.append(f"  version = {_quoted(str(entry.version))}")
    if entry.hashes:
        ordered = sorted({nfc(text) for text in entry.hashes}, key=str.encode)
        lines += ["  hashes = [", *(f"    {_quoted(text)}," for text in ordered), "  ]"]
    return "\n".join((*lines, "}", ""))


def _quoted(text: str) -> str:
    if _UNESCAPED.fullmatch(text) is not None:
        return f'"{text}"'
    normal = nfc(text)
    return '"' + "".join(map(_escaped, normal, (*normal[1:], ""))) + '"'


def _escaped(character: str, following: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character in "$%":
        return character * 2 if following == "{" else character
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= _LAST_BASIC_PLANE else f"\\U{code:08x}"


def with_line_ends_of(model: bytes, data: bytes) -> bytes:
    """Return LF text with CRLF instead if most lines of another text, the model, end so."""
    ends = model.count(b"\n")
    return data.replace(b"\n", b"\r\n") if ends and model.count(b"\r\n") * 2 > ends else data


def is_canonical(lock: LockFile) -> bool:
    """True if the file is what the tool in its header would write."""
    return lock.is_valid and lock.writer is not None and render(lock.entries, lock.writer) == lock.data


def deviations(lock: LockFile) -> tuple[str, ...]:
    """Return the deviations of a valid file from the canonical format, in a few words each."""
    if not lock.exists or not lock.is_valid or is_canonical(lock):
        return ()
    if not lock.data.strip():
        return ("an empty file",)
    addresses = [entry.address for entry in lock.entries]
    found = []
    if lock.data.startswith(_BYTE_ORDER_MARK):
        found.append("byte order mark")
    if b"\r\n" in lock.data:
        mixed = lock.data.count(b"\n") != lock.data.count(b"\r\n")
        found.append("mixed line ends" if mixed else "CRLF line ends")
    if lock.writer is None:
        found.append("a different first line")
    if addresses != sorted(addresses):
        found.append("order of providers")
    if any(list(entry.hashes) != sorted(entry.hashes, key=str.encode) for entry in lock.entries):
        found.append("order of hashes")
    if any(len(set(entry.hashes)) != len(entry.hashes) for entry in lock.entries):
        found.append("repeated hashes")
    if lock.data and not lock.data.endswith(b"\n"):
        found.append("no line end at the end of the file")
    return (*found, *_layout(lock)) or ("spacing",)


def _layout(lock: LockFile) -> tuple[str, ...]:
    """Return the deviations that remain after order and encoding are normalized: comments, spacing."""
    lines = _lines(lock.data)
    lines = lines[not lock.writer and lines[0].startswith("#") :]  # a first line of nobody is told as that
    expected = {line for entry in lock.entries for line in render_entry(entry).split("\n")}
    expected |= {MANUAL_EDITS_COMMENT, lock.writer.header if lock.writer else ""}
    comments = {line for line in lines if _has_comment(line) and line not in expected}
    found = ["comments"] if comments else []
    if not set(lines) - comments <= expected:
        found.append("spacing")
    return tuple(found)


def lost_comments(before: bytes, after: bytes) -> set[str]:
    """Return the lines with comments that the file had before and does not have afterwards, but for a tool's header."""
    return set(filter(_has_comment, _lines(before))).difference(_lines(after), *map(_preamble_lines, DIALECTS.values()))


def _preamble_lines(dialect: Dialect) -> list[str]:
    return dialect.preamble.splitlines()


def _lines(data: bytes) -> list[str]:
    return data.removeprefix(_BYTE_ORDER_MARK).replace(b"\r\n", b"\n").decode("utf-8", "replace").split("\n")


def _has_comment(line: str) -> bool:
    """True if a line of a lock file has a comment: no entry has "#", but the base64 of a hash may have "//"."""
    return "#" in line or line.lstrip().startswith(("//", "/*"))


def summary(lock: LockFile) -> Iterator[str]:
    """Yield a lock file as lines for `git diff`; the `zh` hashes of an entry become a count and a digest."""
    for entry in sorted(lock.entries, key=lambda entry: entry.address.sort_key):
        yield from _summary_lines(entry)


def conflict_summary(conflict: Conflict) -> Iterator[str]:
    """Yield a lock file in conflict as lines for `git diff`: entries that differ are between git's markers."""
    ours, theirs = (
        {entry.address: [*_summary_lines(entry)] for entry in side.entries} for side in (conflict.ours, conflict.theirs)
    )
    for address in sorted({*ours, *theirs}, key=lambda address: address.sort_key):
        mine, other = ours.get(address, []), theirs.get(address, [])
        if mine == other:
            yield from mine
        else:
            yield from (f"<<<<<<< {conflict.names[0]}", *mine, "=======", *other, f">>>>>>> {conflict.names[1]}")


def _summary_lines(entry: LockEntry) -> Iterator[str]:
    yield f"provider {entry.address}"
    yield f"  version      {entry.version}"
    if entry.constraints:
        yield f"  constraints  {entry.constraints}"
    listed = sorted(hashes_of_zips(entry.hashes))
    if listed:
        yield f"  zh           {len(listed)}, digest {identity_of(*listed)[:ID_DIGITS]}"
    yield from (f"  {text}" for text in sorted(set(entry.hashes) - set(listed)))
