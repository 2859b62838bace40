"""The current folder of a run, and that of the user's shell, which `-C` leaves: printed commands start there."""

from __future__ import annotations

import os

_changed: tuple[str, str] | None = None
"""The current folder as `work_in` made it, and the folder of the shell."""


def work_in(folder: str) -> None:
    """Change the current folder; "." is the shell's own.

    Raises:
        OSError: It cannot be entered, or the current folder is gone.
    """
    global _changed  # noqa: PLW0603  # the current folder is of the process too
    if folder == ".":
        _changed = None
        return
    shell = shell_folder()
    os.chdir(folder)
    _changed = (os.getcwd(), shell)  # noqa: PTH109  # pathlib is loaded late


def shell_folder() -> str:
    """Return the folder that the user's shell is in."""
    here = os.getcwd()  # noqa: PTH109
    return _changed[1] if _changed is not None and _changed[0] == here else here


def path_from_shell(folder: str | os.PathLike[str]) -> str:
    """Return a folder as commands can name it: relative where it is below the shell's, "." for that."""
    real = os.path.realpath(folder)
    below = os.path.relpath(real, os.path.realpath(shell_folder()))
    return real if below.partition(os.sep)[0] == ".." else below
