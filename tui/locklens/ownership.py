"""Ownership of files and folders: only content that no other user could have written is trusted."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_euid: Callable[[], int] | None = getattr(os, "geteuid", None)
_OTHERS_WRITE = 0o022


def is_of_another(status: os.stat_result) -> bool:
    """True for a file of a user other than that of this process; never on Windows, which has no user ids."""
    return _euid is not None and status.st_uid != _euid()


def is_open_to_others(status: os.stat_result) -> bool:
    """True for a file that its group or all users may write to; never on Windows, whose mode bits do not state it."""
    return _euid is not None and bool(status.st_mode & _OTHERS_WRITE)


def distrust_reason(status: os.stat_result) -> str:
    """Return the reason not to trust a file; "" if only this user can have written to it."""
    if is_of_another(status):
        return "it belongs to another user"
    return "others may write to it" if is_open_to_others(status) else ""
