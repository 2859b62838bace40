"""Whose a folder or a file is: what this user alone could have written may be believed, and nothing else."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_euid: Callable[[], int] | None = getattr(os, "geteuid", None)
_OTHERS_WRITE = 0o022


def is_of_another(status: os.stat_result) -> bool:
    """Whether it belongs to another user than the one that this process acts for; never on Windows, which has none."""
    return _euid is not None and status.st_uid != _euid()


def is_open_to_others(status: os.stat_result) -> bool:
    """Whether its group or everybody may write to it; never on Windows, whose mode says nothing of that."""
    return _euid is not None and bool(status.st_mode & _OTHERS_WRITE)


def why_not_believed(status: os.stat_result) -> str:
    """Returns why it is not believed, "" where it is this user's alone."""
    if is_of_another(status):
        return "it belongs to another user"
    return "others may write to it" if is_open_to_others(status) else ""
