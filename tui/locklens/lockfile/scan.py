"""Reads lock files in exactly the layout that the tools write, at the speed of one regular expression.

Nearly every lock file is of that layout. Anything else is left to the HCL reader: that the scanner gives up says nothing about
a file's validity, and that it succeeds says nothing about its values, which `parse` judges. This module stays free of imports that
cost start-up time, because a review of unchanged files needs no more than it.
"""

from __future__ import annotations

import re

# A quoted text without escapes and templates: printable ASCII but for the quote, the backslash, `$` and `%`.
_PLAIN = r"[ !#&-\[\]-~]"
_BLOCK = re.compile(
    rf'provider "({_PLAIN}+)" \{{\n'
    rf'(?:  version     = "({_PLAIN}+)"\n  constraints = "({_PLAIN}+)"\n|  version = "({_PLAIN}+)"\n)'
    rf'(?:  hashes = \[\n((?:    "{_PLAIN}+",\n)+)  \]\n)?'
    r"\}(?:\n|\Z)"
)
_BETWEEN = re.compile(r"(?:#[^\x00-\x08\x0b-\x1f\x7f\n]*\n|\n)*")
_HASH = re.compile(r'"([^"]+)"')

ScannedBlock = tuple[str, int, str, "str | None", list[str]]
"""Label, line of the block, version, constraints, hashes; [] stands for no `hashes` at all, as the layout has no empty list.

The lines of a block follow from its own: version is one below, constraints two, the first hash three, or four with constraints."""


def scan(data: bytes) -> list[ScannedBlock] | None:
    """Returns the provider blocks of a lock file, or None where any byte is not as the tools write it.

    CRLF line ends and a byte order mark are looked through.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    blocks: list[ScannedBlock] = []
    position, line = 0, 1
    while True:
        gap = _BETWEEN.match(text, position)
        end = gap.end() if gap else position
        line += text.count("\n", position, end)
        if end == len(text):
            return blocks
        match = _BLOCK.match(text, end)
        if match is None:
            return None
        label, aligned, constraints, alone, hashes = match.groups()
        blocks.append((label, line, aligned or alone, constraints, _HASH.findall(hashes) if hashes else []))
        position = match.end()
        line += text.count("\n", end, position)
