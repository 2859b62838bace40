"""What a run uses of this machine: its programs, files that no other user could have written, and the shell's folder.

A repository under review may hold a file of any name. Windows looks for a program in the current folder before PATH,
and a relative folder of PATH, as an empty entry is one, lies in the current folder on every system. So git, gpg,
editors and browsers are found here, and nowhere by their bare names.

After `-C` the current folder is not that of the user's shell, in which printed commands start.
"""

from __future__ import annotations

import os
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_euid: Callable[[], int] | None = getattr(os, "geteuid", None)
_OTHERS_WRITE = 0o022


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
    _changed = (current_folder(), shell)


_last = ""
"""The current folder, as it was last known."""


def current_folder() -> str:
    """Return the current folder; if it was removed, its path, whose folder is entered if there is one again.

    A repository can be deleted and cloned anew, or be replaced by another work tree, while its screens are open.

    Raises:
        OSError: It was gone from the start.
    """
    global _last  # noqa: PLW0603  # the current folder is of the process too
    try:
        _last = os.getcwd()  # noqa: PTH109  # pathlib is loaded late
    except OSError:
        if not _last:
            raise
        with suppress(OSError):
            os.chdir(_last)
    return _last


def shell_folder() -> str:
    """Return the folder that the user's shell is in."""
    here = current_folder()
    return _changed[1] if _changed is not None and _changed[0] == here else here


def path_from_shell(folder: str | os.PathLike[str]) -> str:
    """Return a folder as commands can name it: relative where it is below the shell's, "." for that."""
    real = os.path.realpath(folder)
    below = os.path.relpath(real, os.path.realpath(shell_folder()))
    return real if below.partition(os.sep)[0] == ".." else below


def locklens_words(place: str) -> list[str]:
    """Return the first words of a command that works in a folder, which is named as `path_from_shell` does."""
    return ["locklens", *(["-C", place] if place != "." else [])]


def command_on(top: str | os.PathLike[str], *words: str, roots: Iterable[str]) -> list[str]:
    """Return the words of a command on roots relative to a top, named as from the shell's folder where that is in it.

    Args:
        top: The folder that the roots are relative to.
        words: The command without its roots.
        roots: Their folders.
    """
    real, start = os.path.realpath(top), os.path.realpath(shell_folder())
    if os.path.relpath(start, real).partition(os.sep)[0] == "..":
        start = real
    named = (os.path.relpath(os.path.join(real, root), start) for root in roots)  # noqa: PTH118
    return [*locklens_words(path_from_shell(start)), *words, "--", *named]


CLASHES_NEED = "entries that clash need --prefer"
"""Said beside the command that merges a lock file: without that option it leaves one with such entries as it is."""


def merging_words(top: str | os.PathLike[str], root: str) -> list[str]:
    """Return the words of the command that merges the lock file of a root, which git left in conflict."""
    name = root or "."
    # A separate word that begins with a dash would be an option.
    named = [f"--root={name}"] if name[:1] == "-" else ["--root", name]
    return [*locklens_words(path_from_shell(top)), "merge", *named]


def git_words(top: str | os.PathLike[str], *words: str, paths: Iterable[str]) -> list[str]:
    """Return the words of a git command about files that are named relative to a repository's top."""
    real, here = os.path.realpath(top), os.path.realpath(shell_folder())
    if os.path.relpath(here, real).partition(os.sep)[0] == "..":
        return ["git", "-C", real, *words, "--", *paths]
    return ["git", *words, "--", *(os.path.relpath(os.path.join(real, path), here) for path in paths)]  # noqa: PTH118
