"""Where programs are: git, gpg, editors and browsers are found here, and nowhere by their bare names.

A repository under review may hold a file of any name. Windows looks for a program in the current folder before PATH,
and a relative folder of PATH, as an empty entry is one, lies in the current folder on every system.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def find_program(*names: str) -> str | None:
    """Return the path of the first of these programs in the absolute folders of PATH; None if there is none."""
    suffix = ".exe" if os.name == "nt" else ""
    for name in names:
        for folder in _absolute(os.get_exec_path()):
            candidate = os.path.join(folder, name.removesuffix(suffix) + suffix)  # noqa: PTH118
            if os.path.isfile(candidate) and os.access(candidate, os.X_OK):  # noqa: PTH113
                return candidate
    return None


def safe_environment() -> dict[str, str]:
    """Return the environment for a program: that of this process, with absolute folders on PATH only.

    Programs start others as well: git starts ssh and filters of the user's settings, an editor its tools.
    """
    environment = dict(os.environ)
    # An empty PATH is the current folder again: what the system has by default takes its place.
    folders = _absolute(os.get_exec_path()) or _absolute(os.defpath.split(os.pathsep))
    environment["PATH"] = os.pathsep.join(folders)
    return environment


def _absolute(folders: Iterable[str]) -> list[str]:
    return [folder for folder in folders if os.path.isabs(folder)]  # noqa: PTH117
