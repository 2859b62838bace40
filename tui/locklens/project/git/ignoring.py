"""The patterns by which git ignores files: those of the work tree, of the index, or of a revision.

Those of the work tree are all that git heeds there, the user's own too. A revision and the index have nothing but their
files `.gitignore`: git reads them from an index that has nothing else, beside an empty work tree.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.errors import RepositoryError
from locklens.project.git.index import WHOLE, lines_of, with_index
from locklens.project.git.process import fields_of, first_complaint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locklens.project.git.listings import TreeFile
    from locklens.project.git.process import GitCommand

_PATTERNS_FILE = ".gitignore"
_FIELDS = 4
"""Fields of an answer of `git check-ignore -v -z`: file of patterns, line, pattern, path."""

_NO_ANSWER = ("is beyond a symbolic link", "is in submodule")
"""The ends of git, in the middle of its answers, at a path of which it says nothing."""


def ignoring(command: GitCommand, paths: Sequence[str]) -> dict[str, str]:
    """Return the place of the pattern, `FILE:LINE`, by which git ignores each of some files, there or not.

    Files of the index, and those that it does not ignore, are left out.

    Raises:
        RepositoryError: Git failed.
    """
    found: dict[str, str] = {}
    left = list(paths)
    while left:
        options = ("--no-literal-pathspecs", "check-ignore", "--verbose", "--non-matching", "-z", "--stdin")
        # Without this lead, a path that begins with ":" would be one with "pathspec magic".
        asked = lines_of(f"./{path}" for path in left)
        status, output, complaint = command.ask(*options, given=asked, by_patterns=True)
        fields = fields_of(output)
        answers = list(zip(fields[::_FIELDS], fields[1::_FIELDS], fields[2::_FIELDS], strict=False))
        answers = answers[: len(fields) // _FIELDS]
        for path, (file, line, pattern) in zip(left, answers, strict=False):
            if pattern and not pattern.startswith("!"):
                # Git's own file of patterns is named by its whole path.
                found[path] = f"{file.removeprefix(f'{command.folder}/')}:{line}"
        if status not in (0, 1) and not any(words in complaint for words in _NO_ANSWER):
            raise RepositoryError(f"git cannot say what it ignores: {first_complaint(complaint)}")
        left = left[len(answers) + 1 :]
    return found


def ignoring_of(command: GitCommand, files: Mapping[str, TreeFile], paths: Sequence[str]) -> dict[str, str]:
    """Return the same by the patterns of a listing alone, whether or not it has the files.

    Raises:
        RepositoryError: Git failed.
    """
    folders = {path[:end] for path in paths for end, letter in enumerate(f"/{path}") if letter == "/"}
    places = [f"{folder}{_PATTERNS_FILE}" for folder in folders]
    # Links are not followed there, and of a file that is not merged nothing is known.
    patterns = {place: file for place in places if (file := files.get(place)) is not None and _is_read(file)}
    if not patterns:
        return {}
    with TemporaryDirectory(prefix="locklens-") as folder:
        nothing = Path(folder, "empty")
        nothing.mkdir()
        aside = with_index(replace(command, folder=os.fspath(nothing)), os.path.join(folder, "index"))  # noqa: PTH118
        aside.environment["GIT_WORK_TREE"] = aside.folder
        entries = (f"{file.mode} {file.object_id}\t{path}" for path, file in patterns.items())
        aside.answer("update-index", "-z", "--index-info", given=lines_of(entries), settings=WHOLE)
        aside.answer("update-index", "-z", "--skip-worktree", "--stdin", given=lines_of(patterns), settings=WHOLE)
        found = ignoring(aside, paths)
    return {path: place for path, place in found.items() if place.rpartition(":")[0] in patterns}


def _is_read(file: TreeFile) -> bool:
    return file.object_id != "" and not file.is_link and not file.is_submodule
