"""Commands of editors, addresses of release pages, and paths of files that can be opened."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.errors import LockLensError
from locklens.programs import find_program
from locklens.review.reports.release_lines import page_of_release
from locklens.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.addresses import ProviderAddress
    from locklens.review.model import Review
    from locklens.review.reports.lines import FilePlace

_PLUS_LINE = {
    "vi",
    "vim",
    "nvim",
    "view",
    "nano",
    "pico",
    "emacs",
    "emacsclient",
    "micro",
    "kak",
    "joe",
    "mg",
    "ne",
    "jed",
}
_COLON_LINE = {"hx", "helix", "subl", "zed"}
_GOTO = {"code", "codium", "code-insiders", "cursor"}


def editor_command(environment: Mapping[str, str], path: Path, number: int) -> list[str]:
    """Return the arguments that open a file at a line; the path is a separate argument, and no shell is involved.

    The editor is started in the repository under review, so that its program is named in full.

    Raises:
        LockLensError: No editor is set or found, or the setting cannot be split into words.
    """
    setting = environment.get("VISUAL") or environment.get("EDITOR") or ""
    try:
        words = shlex.split(setting, posix=os.name != "nt")
    except ValueError as error:
        raise LockLensError(f"EDITOR cannot be parsed: {error}", hint="close the quotes") from error
    if not words:
        raise LockLensError("no editor is set", hint="set EDITOR, for example to vim")
    words[0] = _program(words[0])
    name = Path(words[0]).name.removesuffix(".exe")
    file = os.fspath(path)
    if name in _PLUS_LINE:
        return [*words, f"+{number}", file]
    if name in _COLON_LINE:
        return [*words, f"{file}:{number}"]
    if name in _GOTO:
        return [*words, "--goto", f"{file}:{number}"]
    return [*words, file]


def _program(name: str) -> str:
    """Return the full path of an editor's program."""
    if os.path.isabs(name):  # noqa: PTH117
        return name
    if os.path.basename(name) != name:  # noqa: PTH119
        raise LockLensError(f"the editor {visible(name)} is a relative path", hint="set EDITOR to its full path")
    found = find_program(name)
    if found is None:
        raise LockLensError(f"the editor {visible(name)} is not on PATH", hint="set EDITOR to its full path")
    return found


def release_page(address: ProviderAddress, version: str) -> str:
    """Return the address of a release's page; known for the two default registries only.

    Raises:
        LockLensError: For any other host.
    """
    url = page_of_release(address, version)
    if not url:
        raise LockLensError(f"no release page known for {address.host}", hint="only default registries have one")
    return url


def has_browser(environment: Mapping[str, str]) -> bool:
    """True if a windowed browser can be expected: a terminal browser would write over the screen."""
    if sys.platform in {"win32", "darwin"}:
        return "SSH_CONNECTION" not in environment
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def work_tree_file(review: Review | None, top: Path | None, place: FilePlace | None) -> Path:
    """Return the path on disk of a place's file.

    Raises:
        LockLensError: The head of the review is not the work tree, or the file is no longer there.
    """
    if place is None or review is None:
        raise LockLensError("no line to open here")
    if top is None or review.head.kind not in {"worktree", "file"}:
        raise LockLensError("only work tree files can be opened", hint="this review is of a revision or the index")
    return file_below(top, place)


def file_below(top: Path, place: FilePlace) -> Path:
    """Return the path on disk of a place's file.

    Raises:
        LockLensError: The file is missing, or outside the top folder.
    """
    path = Path(os.path.normpath(top / place.file))
    if not path.is_relative_to(top) or not path.is_file():
        raise LockLensError(f"{place.file} is not in the work tree")
    return path
