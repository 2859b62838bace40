"""A diagnosis that can be shown to others: each of its texts redacted once, before any report wraps or fences it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from locklens.doctor.model import Cause, Remedy
from locklens.doctor.redacting import REMOVED, redacted

if TYPE_CHECKING:
    from locklens.doctor.model import Diagnosis, RemedyWrite

LEFT_OUT = "left out: it has a secret or the name of a home folder"
"""What reports have in the place of a command that nobody could run without what was removed from it."""


def shareable(diagnosis: Diagnosis, *, home: str = "") -> Diagnosis:
    """Return a diagnosis whose texts are redacted; commands that are not whole without a secret are "".

    Args:
        diagnosis: As it was found; what its remedies write is kept, and no report shows it.
        home: The user's home folder, which is shown as `~`; "" for none.
    """
    safe: Diagnosis = _safe(diagnosis, home)
    return safe


def _safe(value: Any, home: str) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return redacted(value, home=home)
    if isinstance(value, tuple):
        return tuple(_safe(one, home) for one in value)
    if not isinstance(value, Struct):
        return value
    changes = {name: _safe(getattr(value, name), home) for name in value.__struct_fields__}
    if isinstance(value, Cause | Remedy):
        changes["command"] = _runnable(value.command, home)
    if isinstance(value, Remedy):
        write: RemedyWrite | None = value.write
        changes["write"] = write
    return replace(value, **changes)


def _runnable(command: str, home: str) -> str:
    """Return a command line that means the same where secrets and home folders are removed; "" if there is none."""
    words = command.split(" ")
    if len(home) > 1:
        words = [f"~{word.removeprefix(home)}" if word.startswith(f"{home}/") else word for word in words]
    short = " ".join(words)
    safe = redacted(short, home=home)
    return safe if safe == short and REMOVED not in safe else ""
