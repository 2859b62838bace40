"""Commands of editors and browsers, addresses of release pages, and paths of files that can be opened."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.errors import LockLensError
from locklens.programs import find_program, safe_environment
from locklens.review.reports.evidence_lines import page_of_release
from locklens.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.addresses import ProviderAddress
    from locklens.lines import FilePlace
    from locklens.review.model import Review

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
_OPENERS = {"darwin": ("open",), "win32": ("explorer",)}
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
    """Return the full path of the program of an editor, or of a browser that is named as editors are.

    Raises:
        LockLensError: It is named by a relative path, or is in no absolute folder of PATH.
    """
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


def browser_command(environment: Mapping[str, str], url: str) -> list[str] | None:
    """Return the arguments that open a page in a browser, its program named in full; None without a browser.

    `BROWSER` names browsers as the system's own openers have it: between separators, with `%s` for the page.
    """
    for setting in environment.get("BROWSER", "").split(os.pathsep):
        try:
            words = shlex.split(setting, posix=os.name != "nt")
            program = _program(words[0]) if words else ""
        except (LockLensError, ValueError):
            continue
        if program:
            arguments = [word.replace("%s", url) for word in words[1:]]
            return [program, *arguments] if arguments != words[1:] else [program, *arguments, url]
    opener = find_program(*_OPENERS.get(sys.platform, ("xdg-open", "wslview", "x-www-browser")))
    return None if opener is None else [opener, url]


def open_page(command: list[str]) -> None:
    """Start a browser that outlives this program, far from the repository: it may look for files where it is started.

    Raises:
        OSError: It cannot be started.
    """
    import subprocess
    import threading

    none = subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=os.sep, env=safe_environment(), stdin=none, stdout=none, stderr=none, start_new_session=True
    )
    # Its end is taken note of where it comes first, and not waited for at the end of this program.
    threading.Thread(target=process.wait, daemon=True).start()


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
