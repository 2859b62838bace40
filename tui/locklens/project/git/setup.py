"""Git set up: the repository of a folder without the programs that it names itself, and locklens as git's merge driver.

Git runs a merge driver and a textconv only if the user's own configuration names them: attributes alone, which a
repository brings along, start nothing. Files that cannot be merged by block are merged by lines, as git does it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError, NoRepositoryError, RepositoryError
from locklens.project.git.process import GitCommand, fields_of, first_complaint, text_of, with_settings
from locklens.storage.files import read_bounded, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_GIT_FOLDER = ".git"
"""No commit can hold a file or folder of this name: git refuses to make one and to check one out."""

_USERS = frozenset({"system", "global", "command"})
"""Scopes of configuration that are not the repository's."""

_PROGRAMS = r"^(filter\..*\.(clean|smudge|process|required)|hook\..*\.(command|event))$"
"""Settings with a name of the repository's choice in their key, which start programs in commands that are used here."""

ATTRIBUTES = ".terraform.lock.hcl merge=locklens diff=locklens"
_SECTIONS = ("merge.locklens", "diff.locklens")
# git is also started where `locklens` is not on PATH, or does not run: by an editor, after an upgrade. A driver that
# only fails leaves our side without markers, and the next "git add" drops theirs; a failing textconv ends "git diff".
_MERGE = "locklens merge --marker-size=%L --path=%P --ours-name=%X --theirs-name=%Y %O %A %B"
_MERGE_OF_LINES = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
_HAS_LOCKLENS = "command -v locklens >/dev/null"
_SETTINGS = {
    "merge.locklens.name": "locklens: lock files, block by block",
    "merge.locklens.driver": (
        f'if {_HAS_LOCKLENS}; then was=$(ls -i %A); {_MERGE} && exit; [ "$was" = "$(ls -i %A)" ] || exit 1; fi; '
        f"{_MERGE_OF_LINES}"
    ),
    "diff.locklens.textconv": f'f() {{ {_HAS_LOCKLENS} && locklens textconv -- "$1" || cat -- "$1"; }}; f',
}
"""Both commands are run by a shell: git appends the file to the second, as an argument of the function. A result that
locklens wrote is another file than before, also one that it leaves to a person; where it failed, it wrote none."""

_MAX_ATTRIBUTES_BYTES = 1 << 20
"""Limit of an attributes file that is edited: git itself reads at most 100 MiB, people write a few lines."""

_NO_KEY, _NO_SECTION = 1, 128
"""Exit statuses of `git config` for a key and a section that do not exist."""

_MOST_CONFLICTS = 127
"""`git merge-file` exits with the number of conflicts, at most this; above it stands a failure."""


class FoundRepository(Struct, frozen=True):
    """A repository.

    Attributes:
        object_format: The hash of its objects, such as "sha1".
        command: Git at the top of its work tree, or in the folder that was asked for if it is bare, whatever other
            repositories are above or below.
        unsafe_filters: Names of the filters whose programs the repository's own configuration names; none if they are
            not switched off.
    """

    is_bare: bool
    object_format: str
    command: GitCommand
    unsafe_filters: frozenset[str] = frozenset()


def discover(folder: Path) -> FoundRepository:
    """Find the repository that a folder is in, and switch off the programs that its own configuration names.

    Raises the same errors as `locate`, and RepositoryError where git cannot say which programs there are.
    """
    found = locate(folder)
    programs = _own_programs(found.command)
    if not programs:
        return found
    command = found.command
    return replace(
        found,
        command=replace(command, environment=with_settings(command.environment, programs)),
        unsafe_filters=frozenset(
            key.removeprefix("filter.").rpartition(".")[0] for key in programs if key.startswith("filter.")
        ),
    )


def locate(folder: Path) -> FoundRepository:
    """Find the repository that a folder is in, as git does (`GIT_DIR` counts), to ask where it is and nothing else.

    Raises:
        NoRepositoryError: There is none, or no git.
        RepositoryError: Git is too old or cannot read it, or it is a folder of another repository.
    """
    place = os.path.abspath(folder)  # noqa: PTH100
    command = GitCommand.at(place)
    if not os.path.isdir(place):  # noqa: PTH112
        raise RepositoryError(f"{folder} is not a folder")
    object_format, git_folder, top = _answers(command, folder)
    if not command.environment.get("GIT_DIR"):
        _require_no_pretence(os.path.realpath(place), git_folder)
    pinned = command.environment | {"GIT_DIR": git_folder} | ({} if top is None else {"GIT_WORK_TREE": top})
    return FoundRepository(top is None, object_format, replace(command, folder=top or place, environment=pinned))


def _answers(command: GitCommand, folder: Path) -> tuple[str, str, str | None]:
    """Return the object format, the git directory, and the top of the work tree, or None."""
    questions = ("--show-object-format", "--absolute-git-dir", "--show-toplevel")
    status, output, complaint = command.ask("rev-parse", *questions)
    lines = text_of(output).split("\n")
    has_top = status == 0
    if len(lines) < len(questions) or (not has_top and "must be run in a work tree" not in complaint):
        raise _unusable(folder, complaint)
    if len(lines) == len(questions) + has_top:
        return lines[0], lines[1], lines[2] if has_top else None
    # With a line break in a path, only a single answer can be read.
    paths = [command.line("rev-parse", question) for question in questions[1 : 2 + has_top]]
    return lines[0], paths[0], paths[1] if has_top else None


def _unusable(folder: Path, complaint: str) -> RepositoryError:
    if "not a git repository" in complaint:
        return NoRepositoryError(f"{folder} is not inside a git repository", hint="name another folder with -C DIR")
    dubious = "dubious ownership" in complaint
    hint = "it belongs to another user: git reads it once its setting safe.directory names it" if dubious else ""
    return RepositoryError(f"git cannot read the repository of {folder}: {first_complaint(complaint)}", hint=hint)


def _require_no_pretence(place: str, git_folder: str) -> None:
    """Refuse a git directory, found from a folder, that may be made of files which another repository tracks.

    Git takes any folder with `HEAD`, `objects` and `refs` for a repository of its own, also one that was checked out.
    What lies in a folder `.git` cannot be tracked; a bare repository that is meant is not part of another's work tree.
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
    """
    status, output, complaint = command.ask("config", "-z", "--show-scope", "--name-only", "--get-regexp", _PROGRAMS)
    if status == 1:
        return {}
    if status != 0:
        raise RepositoryError(
            f"git cannot say which programs the repository's configuration names: {first_complaint(complaint)}"
        )
    fields = fields_of(output)
    keys = {key for scope, key in zip(fields[::2], fields[1::2], strict=False) if scope not in _USERS}
    return dict(map(_switched_off, sorted(keys)))


def _switched_off(key: str) -> tuple[str, str]:
    name, _, variable = key.rpartition(".")
    if key.startswith("hook."):
        return f"{name}.enabled", "false"
    return key, "false" if variable == "required" else ""


def set_up(folder: Path, *, private: bool = False, is_dry_run: bool = False) -> tuple[str, ...]:
    """Make git use locklens for the lock files of a repository; return a line for each change.

    Private attributes are those in the repository's own folder, where they are not committed.

    Raises:
        RepositoryError: There is no repository, or git failed.
        ConfigurationError: The attributes cannot be read or written.
    """
    found = discover(folder)
    path = _attributes_file(found, private=private)
    text = _read(path)
    changes = []
    for key, value in _SETTINGS.items():
        if _setting(found, key) != value:
            changes.append(f"git config --local {key} {value!r}")
            if not is_dry_run:
                found.command.answer("config", "--local", key, value)
    if ATTRIBUTES not in text.splitlines():
        changes.append(f"{path}: added {ATTRIBUTES}")
        if not is_dry_run:
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, f"{_ended(text)}{ATTRIBUTES}\n".encode("utf-8", "surrogateescape"))
    return tuple(changes)


def take_down(folder: Path, *, is_dry_run: bool = False) -> tuple[str, ...]:
    """Remove all that `set_up` writes, from both places of attributes; other lines keep their bytes.

    A file of attributes without any other line is removed: `set_up` made it, or it was empty.

    Returns and raises as `set_up`.
    """
    found = discover(folder)
    files = [(path, _read(path)) for path in (_attributes_file(found, private=private) for private in (False, True))]
    changes = []
    for section in _SECTIONS:
        status, _, _ = found.command.ask("config", "--local", "--get-regexp", f"^{section.replace('.', '[.]')}[.]")
        if status == 0:
            changes.append(f"git config --local --remove-section {section}")
            if not is_dry_run:
                found.command.answer("config", "--local", "--remove-section", section)
    for path, text in files:
        kept = [line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") != ATTRIBUTES]
        if len(kept) < len(text.splitlines()):
            changes.append(f"{path}: removed {ATTRIBUTES}" if kept else f"{path}: removed, as nothing else is in it")
            if is_dry_run:
                continue
            if kept:
                write_atomically(path, "".join(kept).encode("utf-8", "surrogateescape"))
            else:
                _remove(path)
    return tuple(changes)


def _setting(found: FoundRepository, key: str) -> str | None:
    status, output, _ = found.command.ask("config", "--local", "--get", key)
    return None if status == _NO_KEY else output.decode("utf-8", "replace").rstrip("\n")


def _attributes_file(found: FoundRepository, *, private: bool) -> Path:
    from pathlib import Path

    if not private:
        return Path(found.command.folder, ".gitattributes")
    return Path(found.command.folder, found.command.line("rev-parse", "--git-common-dir"), "info", "attributes")


def _read(path: Path) -> str:
    if path.is_symlink():
        raise ConfigurationError("is a link, which is not edited", path=str(path), hint="add the line by hand")
    return read_bounded(path, _MAX_ATTRIBUTES_BYTES, missing=b"").decode("utf-8", "surrogateescape")


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigurationError(f"cannot be removed: {error.strerror}", path=str(path)) from error


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def merge_lines(ours: str, base: str, theirs: str, *, labels: tuple[str, str], marker_size: int) -> bytes:
    """Merge three files as `git merge-file -p` does; return the bytes, with or without conflicts.

    The labels are the names of both sides after the markers.

    Raises:
        RepositoryError: Git is missing, or cannot merge such files.
    """
    mine, other = labels
    status, output, complaint = GitCommand.at(".").ask(
        *("merge-file", "-p", f"--marker-size={marker_size}", "-L", mine, "-L", "base", "-L", other),
        *("--", ours, base, theirs),
    )
    if not 0 <= status <= _MOST_CONFLICTS:
        raise RepositoryError(f'"git merge-file" failed: {first_complaint(complaint)}')
    return output
