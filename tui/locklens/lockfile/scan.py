"""Reads lock files in exactly the layout that the tools write, line by line and with nothing imported.

Nearly every lock file is of that layout. Anything else is left to the HCL reader: that the scanner gives up says
nothing about a file's validity, and that it succeeds says nothing about its values, which `parse` judges. A review of
unchanged files needs no more than this module, so it loads nothing, not even regular expressions, and is as quick as
one.
"""

from __future__ import annotations

ScannedBlock = tuple[str, int, str, "str | None", list[str]]
"""Label, line of the block, version, constraints, hashes; [] stands for no `hashes` at all, as the layout has no
empty list.

The lines of a block follow from its own: version is one below, constraints two, the first hash three, or four with
constraints."""

_ALIGNED, _ALONE, _CONSTRAINTS = '  version     = "', '  version = "', '  constraints = "'
_SPECIAL = ('"', "\\", "$", "%")


def scan(data: bytes) -> list[ScannedBlock] | None:
    """Return the provider blocks of a lock file, or None where any byte is not as the tools write it.

    CRLF line ends and a byte order mark are looked through; empty lines and comments may stand between the blocks.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    blocks: list[ScannedBlock] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line or (line[0] == "#" and line.replace("\t", "").isprintable()):
            at += 1
            continue
        block = _block(lines, at)
        if block is None:
            return None
        blocks.append(block)
        # The brace stands behind `provider`, `version`, and what there is of `constraints` and of `hashes = [` ... `]`.
        at += 2 + (block[3] is not None) + (len(block[4]) + 2 if block[4] else 0)
        if lines[at : at + 1] != ["}"]:
            return None
        at += 1
    return blocks


def _block(lines: list[str], at: int) -> ScannedBlock | None:
    label = _between(lines[at], 'provider "', '" {')
    second = lines[at + 1] if at + 1 < len(lines) else ""
    constraints = None
    if second.startswith(_ALIGNED):
        version = _between(second, _ALIGNED, '"')
        constraints = _between(lines[at + 2], _CONSTRAINTS, '"') if at + 2 < len(lines) else None
        if constraints is None:
            return None
    else:
        version = _between(second, _ALONE, '"')
    if label is None or version is None:
        return None
    first_hash = at + (4 if constraints else 3)
    hashes: list[str] = []
    if lines[first_hash - 1 : first_hash] == ["  hashes = ["]:
        found = _hashes(lines, first_hash)
        if not found:
            return None
        hashes = found
    return label, at + 1, version, constraints, hashes


def _hashes(lines: list[str], start: int) -> list[str] | None:
    try:
        listed = lines[start : lines.index("  ]", start)]
    except ValueError:
        return None
    values = [line[5:-2] for line in listed if line.startswith('    "') and line.endswith('",')]
    return values if len(values) == len(listed) and all(values) and _is_plain("".join(values)) else None


def _between(line: str, before: str, after: str) -> str | None:
    """The plain text between the given ends of a line."""
    if len(line) <= len(before) + len(after) or not line.startswith(before) or not line.endswith(after):
        return None
    value = line[len(before) : -len(after)]
    return value if _is_plain(value) else None


def _is_plain(text: str) -> bool:
    """True if a quoted text is what it looks like: printable ASCII without escapes and templates."""
    return text.isascii() and text.isprintable() and not any(special in text for special in _SPECIAL)
