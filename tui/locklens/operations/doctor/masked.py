"""Providers whose names a CI system masked in a log, as far as what is locked here tells them. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from locklens.dialect import Dialect
    from locklens.doctor.messages import ReadLog, RecognisedError
    from locklens.lockfile import LockEntry

MASK = "***"
"""What CI systems write for a secret, wherever it stands."""


def unmasked(read: ReadLog, entries: Iterable[LockEntry], tool: Callable[[RecognisedError], Dialect | None]) -> ReadLog:
    """Return a log with the providers whose names were masked, as far as one locked entry fits.

    The entries are read only where a name was masked; `tool` returns that of an error's run, None for unknown.
    """
    if any(MASK in name for error in read.errors for name in (error.provider, *error.reused, *error.searched)):
        locked = list(entries)
        read = replace(read, errors=tuple(_unmasked(error, locked, tool(error)) for error in read.errors))
    return read


def _unmasked(error: RecognisedError, entries: Sequence[LockEntry], tool: Dialect | None) -> RecognisedError:
    """Return an error with the providers that its masked names stand for, where a single locked one fits."""
    default = tool.default_host if tool is not None else ""
    every = {str(one.address) for one in entries}
    of_version = {str(one.address) for one in entries if error.version in {"", str(one.version)}}
    return replace(
        error,
        provider=_named(error.provider, of_version, default),
        reused=tuple(_named(name, every, default) for name in error.reused),
        searched=tuple(_named(name, every, default) for name in error.searched),
        selected=tuple(name for name in error.selected if MASK not in name),
    )


def _named(name: str, known: Iterable[str], default: str) -> str:
    """Return the address that a masked name stands for; the name where not exactly one fits.

    The name is as the log has it, without the default host of the tool, "" for unknown.
    """
    if MASK not in name:
        return name
    host = "" if name.count("/") > 1 else f"{default}/" if default else "***/"
    pattern = re.compile(r"[^/]+".join(map(re.escape, re.split(r"\*{3,}", host + name))))
    fitting = [one for one in known if pattern.fullmatch(one)]
    return fitting[0] if len(fitting) == 1 else name
