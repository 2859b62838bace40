"""Where programs are: git, gpg and the editor are found here, and nowhere by their bare names.

A repository under review may hold a file of any name. Windows looks for a program in the current folder before PATH,
and a relative folder of PATH, as an empty entry is one, lies in the current folder on every system.
"""

from __future__ import annotations

import os


def find_program(*names: str) -> str | None:
    """Return the path of the first of some programs in the absolute folders of PATH; None where there is none."""
    suffix = ".exe" if os.name == "nt" else ""
    for name in names:
        for folder in os.get_exec_path():
            if os.path.isabs(folder):  # noqa: PTH117
                candidate = os.path.join(folder, name.removesuffix(suffix) + suffix)  # noqa: PTH118
                if os.path.isfile(candidate) and os.access(candidate, os.X_OK):  # noqa: PTH113
                    return candidate
    return None
