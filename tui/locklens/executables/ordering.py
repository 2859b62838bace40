"""The order of Go's versions: of modules (https://go.dev/ref/mod#versions) and of toolchains (https://go.dev/doc/toolchain)."""

from __future__ import annotations

import re

_MODULE = re.compile(
    r"v(\d{1,18})\.(\d{1,18})\.(\d{1,18})(?:-([0-9A-Za-z.-]{1,200}))?(?:\+[0-9A-Za-z.-]{1,200})?\Z", re.ASCII
)
_TOOLCHAIN = re.compile(
    r"(?:devel )?go(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:(alpha|beta|rc)(\d{1,9}))?(?![0-9A-Za-z.])", re.ASCII
)
_STAGES = {"alpha": 0, "beta": 1, "rc": 2, None: 3}

OrderKey = tuple[object, ...]
"""Keys of one kind can be compared with each other."""


def module_key(version: str) -> OrderKey | None:
    """Return the sort key of a module's version, such as "v1.2.3-rc.1"; None for "(devel)" and what is no version."""
    match = _MODULE.match(version)
    if match is None:
        return None
    *numbers, prerelease = match.groups()
    # A release is above its pre-releases; numbers are below words.
    identifiers = [
        (0, int(part), "") if part.isdigit() and len(part) <= 18 else (1, 0, part)
        for part in (prerelease or "").split(".")
    ]
    return *map(int, numbers), prerelease is None, *identifiers


def toolchain_key(go: str) -> OrderKey | None:
    """Return the sort key of a toolchain, such as "go1.25.1" or "go1.26rc2 X:experiment"; None if it has none."""
    match = _TOOLCHAIN.match(go)
    if match is None:
        return None
    major, minor, patch, stage, number = match.groups()
    return int(major), int(minor), int(patch or 0), _STAGES[stage], int(number or 0)
