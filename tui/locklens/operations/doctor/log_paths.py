"""Folders and lines as a log names them, beside those of a repository."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from locklens.doctor.redacting import redacted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.doctor.messages import RecognisedError
    from locklens.project.tree import Tree


def named_folder(folder: str) -> str:
    """Return a folder as a log names it, without the way up from a folder that the log does not name."""
    name = os.path.normpath(folder.partition("/.terragrunt-cache/")[0]).replace(os.sep, "/")
    while name.startswith("../"):
        name = name.removeprefix("../")
    return name


def quotes_line(tree: Tree, file: str, error: RecognisedError) -> bool:
    """True if a file has the line that an error quotes, at the number that it names."""
    lines, number = (tree.read(file) or b"").decode("utf-8", "replace").splitlines(), error.line_of_place
    line = " ".join(lines[number - 1].split()) if 0 < number <= len(lines) else ""
    return line != "" and f" {number}: {redacted(line)} " in f"{' '.join(error.text.split())} "


def ending_like(name: str, roots: Iterable[str]) -> list[str]:
    """Return the roots whose paths end with a name."""
    return [path for path in roots if f"/{path}".endswith(f"/{name}")]
