"""The ranges of advisories, which are written in Go's order of versions; a toolchain is a version of it too."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from locklens.advisories import VersionRange
from locklens.executables.ordering import module_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.executables.ordering import OrderKey

FIRST = "0"
"""The bound of a range that begins before every version."""

_TOOLCHAIN = re.compile(r"go([0-9]+\.[0-9]+)(\.[0-9]+)?(?:(beta|rc)([0-9]+))?", re.ASCII)
_MOST_TEXT = 256


@lru_cache(maxsize=16384)
def go_order(version: str) -> OrderKey:
    """Return the sort key of a version; "v" or "go" may stand before it, and what is no version sorts below all.

    Pseudo-versions and `+incompatible` need no case of their own: the former are pre-releases, the latter metadata.
    """
    return module_key(f"v{version.removeprefix('v').removeprefix('go')}") or ()


def is_go_version(version: str) -> bool:
    """True if a text is a version in Go's semantic form; "v" or "go" may stand before it."""
    return bool(go_order(version))


def toolchain_version(go: str) -> str | None:
    """Return the semantic version of a toolchain as an executable names it: "1.25.3" for "go1.25.3 X:nocoverage".

    Returns:
        None for one that is not of Go's releases, such as "devel go1.26-1a2b3c".
    """
    words = go.split()
    match = _TOOLCHAIN.fullmatch(words[0]) if words and len(words[0]) <= _MOST_TEXT else None
    if match is None:
        return None
    suffix = f"-{match[3]}.{match[4]}" if match[3] else ""
    return f"{match[1]}{match[2] or '.0'}{suffix}"


def ranges_of_events(events: Iterable[tuple[str, str]]) -> tuple[VersionRange, ...]:
    """Return the ranges of OSV's events, read as Go's own tool reads them.

    Args:
        events: "introduced" or "fixed", and a version.
    """
    in_order = sorted(events, key=lambda event: (event[1] != FIRST, go_order(event[1])))
    found: list[VersionRange] = []
    opened: str | None = None
    for kind, version in in_order:
        if kind == "introduced":
            opened = version if opened is None else opened
        elif opened is not None:
            found.append(VersionRange(opened, version))
            opened = None
    if opened is not None:
        found.append(VersionRange(opened))
    return tuple(found)


def range_of(ranges: Sequence[VersionRange], version: str) -> VersionRange | None:
    """Return the range that has a version; without any ranges that is one of all versions."""
    if not ranges:
        return VersionRange(FIRST)
    order = go_order(version)
    return next((each for each in ranges if _has(each, order)), None)


def _has(each: VersionRange, order: OrderKey) -> bool:
    is_above = each.introduced == FIRST or order >= go_order(each.introduced)
    return is_above and (not each.fixed or order < go_order(each.fixed))


def nearest_fix(ranges: Sequence[VersionRange], version: str) -> str | None:
    """Return the lowest later version that is in no range; None if there is none, or none is known."""
    current = range_of(ranges, version)
    seen = 0
    while current is not None and current.fixed and seen <= len(ranges):
        following = range_of(ranges, current.fixed)
        if following is None:
            return current.fixed
        current, seen = following, seen + 1
    return None
