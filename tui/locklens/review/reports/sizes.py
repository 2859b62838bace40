"""Sizes in words."""

from __future__ import annotations

_STEP = 1024.0


def size_words(size: int) -> str:
    """A number of bytes as people read it: `512 bytes`, `21.4 MiB`."""
    if size < _STEP:
        return f"{size} byte{'' if size == 1 else 's'}"
    amount, units = size / _STEP, ["KiB", "MiB", "GiB"]
    while amount >= _STEP and len(units) > 1:
        amount, units = amount / _STEP, units[1:]
    return f"{amount:.1f} {units[0]}"
