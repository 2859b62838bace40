"""Leaving the UI for the editor or the browser: builds commands and addresses, and says why it cannot."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from locklens.errors import LockLensError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.addresses import ProviderAddress
    from locklens.review.model import Review
    from locklens.ui.text.spans import FilePlace

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
    """Returns the arguments that open a file at a line; the path is one argument of its own and no shell sees it.

    Raises:
        LockLensError: No editor is set, or the setting cannot be split into words.
    """
    setting = environment.get("VISUAL") or environment.get("EDITOR") or ""
    try:
        words = shlex.split(setting, posix=os.name != "nt")
    except ValueError as error:
        raise LockLensError(f"EDITOR cannot be read: {error}", hint="close the quotes in it") from error
    if not words:
        raise LockLensError("no editor is set", hint="set EDITOR, for example to vim")
    name = Path(words[0]).name.removesuffix(".exe")
    file = os.fspath(path)
    if name in _PLUS_LINE:
        return [*words, f"+{number}", file]
    if name in _COLON_LINE:
        return [*words, f"{file}:{number}"]
    if name in _GOTO:
        return [*words, "--goto", f"{file}:{number}"]
    return [*words, file]


def release_page(address: ProviderAddress, version: str) -> str:
    """Returns the address of a release's page; only the two default registries have pages that are known.

    Raises:
        LockLensError: For any other host.
    """
    namespace, kind, number = (quote(part, safe="") for part in (address.namespace, address.type, version))
    match address.host:
        case "registry.terraform.io":
            return f"https://registry.terraform.io/providers/{namespace}/{kind}/{number}"
        case "registry.opentofu.org":
            return f"https://search.opentofu.org/provider/{namespace}/{kind}/v{number}"
        case host:
            raise LockLensError(
                f"no page is known for providers of {host}", hint="only the two default registries have one"
            )


def has_browser(environment: Mapping[str, str]) -> bool:
    """Whether a browser with a window of its own can be expected: one in the terminal would write over the screen."""
    if sys.platform in {"win32", "darwin"}:
        return "SSH_CONNECTION" not in environment
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def work_tree_file(review: Review | None, top: Path | None, place: FilePlace | None) -> Path:
    """Returns the file on disk that a place is in.

    Raises:
        LockLensError: What is reviewed is not the work tree, or the file is not (or no longer) in it.
    """
    if place is None or review is None:
        raise LockLensError("no line to open here")
    if top is None or review.head.kind not in {"worktree", "file"}:
        raise LockLensError(
            "only files of the work tree can be opened", hint="what is reviewed is a revision or the index"
        )
    return file_below(top, place)


def file_below(top: Path, place: FilePlace) -> Path:
    """Returns the file on disk that a place is in.

    Raises:
        LockLensError: It is not there, or not below the top.
    """
    path = Path(os.path.normpath(top / place.file))
    if not path.is_relative_to(top) or not path.is_file():
        raise LockLensError(f"{place.file} is not in the work tree")
    return path
