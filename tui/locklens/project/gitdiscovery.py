"""The repository of a folder, and git pinned to it, without the programs that the repository itself names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import NoRepositoryError, RepositoryError
from locklens.project.gitprocess import GitCommand, find_git, first_complaint, git_environment, with_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_GIT_FOLDER = ".git"
"""No commit can hold a file or folder of this name: git refuses to make one and to check one out."""

_USERS = frozenset({"system", "global", "command"})
"""Scopes of configuration that are not the repository's."""

_PROGRAMS = r"^(filter\..*\.(clean|smudge|process|required)|hook\..*\.(command|event))$"
"""Settings with a name of the repository's choice in their key, which start programs in commands that are used here."""


class FoundRepository(Struct, frozen=True):
    """A repository.

    Attributes:
        top: Of its work tree; the folder that was asked for where there is none.
        is_bare: True if there is no work tree.
        object_format: Such as "sha1".
        command: Git there, whatever else is above or below: neither other repositories nor own programs count.
        unsafe_filters: Names of the filters whose programs the repository's own configuration names.
    """

    top: str
    is_bare: bool
    object_format: str
    command: GitCommand
    unsafe_filters: frozenset[str]


def discover(folder: Path) -> FoundRepository:
    """Find the repository that a folder is in, as git does (`GIT_DIR` counts).

    Raises:
        NoRepositoryError: There is none, or no git.
        RepositoryError: Git is too old or cannot read it, or it is a folder of another repository.
    """
    executable = find_git()
    place = os.path.abspath(folder)  # noqa: PTH100
    if not os.path.isdir(place):  # noqa: PTH112
        raise RepositoryError(f"{folder} is not a folder")
    environment = git_environment(place)
    command = GitCommand(executable, place, environment)
    object_format, git_folder, top = _answers(command, folder)
    if not environment.get("GIT_DIR"):
        _require_no_pretence(os.path.realpath(place), git_folder)
    pinned = environment | {"GIT_DIR": git_folder} | ({} if top is None else {"GIT_WORK_TREE": top})
    command = GitCommand(executable, place if top is None else top, pinned)
    programs = _own_programs(command)
    return FoundRepository(
        top=place if top is None else top,
        is_bare=top is None,
        object_format=object_format,
        command=replace(command, environment=with_settings(pinned, programs)) if programs else command,
        unsafe_filters=frozenset(
            key.removeprefix("filter.").rpartition(".")[0] for key in programs if key.startswith("filter.")
        ),
    )


def _answers(command: GitCommand, folder: Path) -> tuple[str, str, str | None]:
    """Return the object format, the git directory, and the top of the work tree, None where there is none."""
    questions = ("--show-object-format", "--absolute-git-dir", "--show-toplevel")
    status, output, complaint = command.ask("rev-parse", *questions)
    lines = output.decode("utf-8", "surrogateescape").split("\n")
    has_top = status == 0
    if len(lines) < len(questions) or (not has_top and "must be run in a work tree" not in complaint):
        raise _unusable(folder, complaint)
    if len(lines) == len(questions) + has_top:
        return lines[0], lines[1], lines[2] if has_top else None
    # With a line break in a path, only an answer by itself can be told.
    own = [command.answer("rev-parse", question) for question in questions[1 : 2 + has_top]]
    paths = [answer.decode("utf-8", "surrogateescape").removesuffix("\n") for answer in own]
    return lines[0], paths[0], paths[1] if has_top else None


def _unusable(folder: Path, complaint: str) -> RepositoryError:
    if "not a git repository" in complaint:
        return NoRepositoryError(
            f"{folder} is not inside a git repository",
            hint="compare two files with --old FILE --new FILE, or name another folder with -C DIR",
        )
    dubious = "dubious ownership" in complaint
    hint = "it belongs to another user: git reads it once its setting safe.directory names it" if dubious else ""
    return RepositoryError(f"git cannot read the repository of {folder}: {first_complaint(complaint)}", hint=hint)


def _require_no_pretence(place: str, git_folder: str) -> None:
    """Refuse a git directory that may be made of files which another repository tracks.

    Git takes any folder with `HEAD`, `objects` and `refs` for a repository of its own, also one that was checked out.
    What lies in a folder `.git` cannot be tracked; a bare repository that is meant is no part of another's work tree.

    Args:
        place: The folder that was asked for, without links.
        git_folder: The git directory that git found from there.

    Raises:
        RepositoryError: It is such a folder.
    """
    if git_folder not in _upwards(place):
        return
    above = (one for one in _upwards(os.path.dirname(git_folder)) if _has_git_folder(one))  # noqa: PTH120
    outer = next(above, None)
    below = "" if outer is None else git_folder[len(outer) :]
    if outer is None or f"{os.sep}{_GIT_FOLDER}{os.sep}" in f"{os.sep}{below}{os.sep}":
        return
    raise RepositoryError(
        f"{git_folder} looks like a git repository and is a folder of the one in {outer}: neither is read",
        hint=f"work in another folder; where it is meant, set GIT_DIR={git_folder}",
    )


def _has_git_folder(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, _GIT_FOLDER))  # noqa: PTH118


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while (above := os.path.dirname(folder)) != folder:  # noqa: PTH120
        yield above
        folder = above


def _own_programs(command: GitCommand) -> dict[str, str]:
    """Return settings that switch off the programs which the repository's own configuration names.

    Comparing the work tree makes git run `filter.NAME.clean`, writing the index a hook. The user's own and the system's
    (Git LFS) stay.

    Raises:
        RepositoryError: Git cannot say which there are.
    """
    status, output, complaint = command.ask("config", "-z", "--show-scope", "--name-only", "--get-regexp", _PROGRAMS)
    if status == 1:
        return {}
    if status != 0:
        raise RepositoryError(
            f"git cannot say which programs the repository's configuration names: {first_complaint(complaint)}"
        )
    fields = output.decode("utf-8", "surrogateescape").split("\0")
    keys = {key for scope, key in zip(fields[::2], fields[1::2], strict=False) if scope not in _USERS}
    return dict(map(_switched_off, sorted(keys)))


def _switched_off(key: str) -> tuple[str, str]:
    name, _, variable = key.rpartition(".")
    if key.startswith("hook."):
        return f"{name}.enabled", "false"
    return key, "false" if variable == "required" else ""
