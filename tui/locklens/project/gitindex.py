"""Git's index, which the next commit is made of: what it has of a file, what `git add` would put there, and putting it.

The work tree is never written. What git would do to a file on its way into the index (line ends, encodings, filters of
the user's own) is found out with git itself, in a copy of the index and with a store for objects of its own.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError, RepositoryError, UnreadableObjectError
from locklens.project.gitobjects import ObjectReader
from locklens.project.gitprocess import first_complaint
from locklens.text import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from locklens.project.gitprocess import GitCommand

_REGULAR = ("100644", "100755")
_AT_ONCE = 200
"""Paths for one run of git, so that no command line is too long."""


class IndexedFile(Struct, frozen=True):
    """The index entry of a file.

    Attributes:
        data: Its bytes; None where it has none, also where git was only told that the file is to come.
        mode: Git's, as six octal digits; "" where the index does not know the path.
        object_id: Of the bytes, "" where there are none or several.
        problem: Why it cannot be staged; None where it can.
    """

    data: bytes | None = None
    mode: str = ""
    object_id: str = ""
    problem: ConfigurationError | None = None


class GitIndex:
    """The index of one work tree.

    Args:
        top: Of the work tree.
        command: Git there.
        object_format: Such as "sha1".
        unsafe_filters: Names of filters whose programs the repository itself names: they are not run.
    """

    def __init__(self, top: Path, command: GitCommand, *, object_format: str, unsafe_filters: frozenset[str]) -> None:
        self._top = top
        self._command = command
        self._object_format = object_format
        self._unsafe_filters = unsafe_filters

    def read(self, paths: Sequence[str]) -> dict[str, IndexedFile]:
        """Return what the index has of files, and whether they can be staged.

        Args:
            paths: Relative to the top.

        Raises:
            RepositoryError: Git failed.
        """
        found = dict.fromkeys(paths, IndexedFile())
        for portion in _portions(paths):
            for tag, mode, object_id, stage, path in self._listed(portion):
                problem = _not_stageable(path, tag, mode, stage)
                kept = object_id if stage == "0" and object_id != self._empty_blob else ""
                found[path] = IndexedFile(None, mode, kept, problem)
        data = self._contents(self._command, (one.object_id for one in found.values()))
        found = {path: replace(one, data=data.get(one.object_id)) for path, one in found.items()}
        for path, problem in self._obstacles(found):
            found[path] = replace(found[path], problem=found[path].problem or problem)
        return found

    def as_added(self, paths: Sequence[str]) -> dict[str, IndexedFile]:
        """Return what the index would have of files of the work tree after `git add`. Nothing is written.

        Args:
            paths: Relative to the top, of files that are there and can be staged.

        Raises:
            RepositoryError: Git failed, or refuses one of them.
        """
        import tempfile

        with tempfile.TemporaryDirectory(prefix="locklens-") as folder:
            aside = self._aside(folder)
            found: dict[str, IndexedFile] = {}
            for portion in _portions(paths):
                aside.answer("add", "--", *portion, settings={"core.splitIndex": "false"})
                for _, mode, object_id, _, path in self._listed(portion, aside):
                    found[path] = IndexedFile(None, mode, object_id)
            data = self._contents(aside, (one.object_id for one in found.values()))
            return {path: replace(one, data=data[one.object_id]) for path, one in found.items()}

    def put(self, files: Mapping[str, tuple[bytes | None, bytes | None]]) -> None:
        """Put files into the index, all in one step or none.

        Args:
            files: What the index has now and what it is to have, by path; None for nothing.

        Raises:
            ConfigurationError: It has something else by now, or a file cannot be staged.
            RepositoryError: Git failed, or another git is at work.
        """
        records = []
        before = self.read(tuple(files))
        for path, (old, new) in files.items():
            now = before[path]
            if now.problem is not None:
                raise now.problem
            if now.data != old:
                hint = "nothing was staged; run it again"
                raise ConfigurationError("the index has changed meanwhile", path=path, hint=hint)
            if new is None:
                mode, object_id = "0", "0" * len(self._empty_blob)
            else:
                mode = now.mode or self._mode_on_disk(path)
                answer = self._command.answer("hash-object", "-w", "--stdin", given=new)
                object_id = answer.decode("ascii").strip()
            records.append(f"{mode} {object_id}\t{path}\0")
        given = "".join(records).encode("utf-8", "surrogateescape")
        status, _, complaint = self._command.ask("update-index", "-z", "--index-info", given=given)
        if status != 0 and "index.lock': File exists" in complaint:
            hint = "try again when it has ended; where none is running, remove the index.lock that it left in .git"
            raise RepositoryError("another git process is using this repository", hint=hint)
        if status != 0:
            raise RepositoryError(f"git cannot stage: {first_complaint(complaint)}")

    def _mode_on_disk(self, path: str) -> str:
        """The mode that `git add` would give a new file."""
        status, answer, _ = self._command.ask("config", "--type=bool", "core.fileMode")
        is_executable = os.access(self._top / path, os.X_OK)
        return _REGULAR[is_executable and (status != 0 or answer.strip() == b"true")]

    # How git is asked

    def _listed(
        self, paths: Sequence[str], command: GitCommand | None = None
    ) -> Iterator[tuple[str, str, str, str, str]]:
        """Yield tag, mode, object id, stage and path of every entry."""
        output = (command or self._command).answer("ls-files", "-s", "-v", "-z", "--full-name", "--", *paths)
        for record in output.decode("utf-8", "surrogateescape").split("\0"):
            words, tab, path = record.partition("\t")
            if tab and path in paths:
                tag, mode, object_id, stage = words.split(" ")
                yield tag, mode, object_id, stage, path

    def _contents(self, command: GitCommand, object_ids: Iterator[str]) -> dict[str, bytes]:
        wanted = [one for one in dict.fromkeys(object_ids) if one]
        reader = ObjectReader(command)
        try:
            answers = reader.read(wanted)
        finally:
            reader.close()
        found: dict[str, bytes] = {}
        for object_id in wanted:
            answer = answers.get(object_id)
            if answer is None or answer.data is None:
                missing = UnreadableObjectError(f"object {object_id[:12]} is not in this clone")
                raise (answer and answer.problem) or missing
            found[object_id] = answer.data
        return found

    def _obstacles(self, files: Mapping[str, IndexedFile]) -> Iterator[tuple[str, ConfigurationError]]:
        """Yield what is in the way of files, by what they are on disk and what git is told of them."""
        new = [path for path, file in files.items() if not file.mode]
        for path in files:
            if os.path.islink(self._top / path):  # noqa: PTH114
                yield path, _refusal(path, "it is a link", "stage the file that it leads to")
        for portion in _portions(new):
            options = ("--others", "--ignored", "--exclude-standard", "-z", "--full-name")
            output = self._command.answer("ls-files", *options, "--", *portion, by_patterns=True)
            for path in output.decode("utf-8", "surrogateescape").split("\0"):
                if path in portion:
                    name = shlex.quote(path)
                    hint = f"git check-ignore -v -- {name} shows the reason; git add -f -- {name} stages it anyway"
                    yield path, _refusal(path, "it is git-ignored", hint)
        if self._unsafe_filters:
            yield from self._filtered(tuple(files))

    def _filtered(self, paths: Sequence[str]) -> Iterator[tuple[str, ConfigurationError]]:
        """Yield the files that a filter program which the repository itself names would have to go through."""
        output = self._command.answer("check-attr", "-z", "--stdin", "filter", given=_lines(paths), by_patterns=True)
        fields = output.decode("utf-8", "surrogateescape").split("\0")
        for path, name in zip(fields[::3], fields[2::3], strict=False):
            if name in self._unsafe_filters:
                words = f"it goes through the filter {name}, which this repository's own configuration names"
                yield path, _refusal(path, words, f"git add -p -- {shlex.quote(path)}")

    def _aside(self, folder: str) -> GitCommand:
        """Return git with a copy of the index, and with new objects in a folder of its own."""
        import shutil

        questions = ("--git-path", "index", "--git-path", "objects")
        answers = self._command.answer("rev-parse", *questions).decode("utf-8", "surrogateescape").split("\n")
        index, objects = (os.path.join(self._top, answer) for answer in answers[:2])  # noqa: PTH118
        copy, own = os.path.join(folder, "index"), os.path.join(folder, "objects")  # noqa: PTH118
        Path(own).mkdir()
        try:
            if os.path.exists(index):  # noqa: PTH110
                # With its time: a file that is as young as the index may have changed since, and git compares it then.
                shutil.copy2(index, copy)
        except OSError as error:
            raise RepositoryError(f"the index cannot be read: {reason_of(error)}") from error
        environment = dict(self._command.environment)
        others = [_quoted(objects), environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "")]
        environment["GIT_INDEX_FILE"] = copy
        environment["GIT_OBJECT_DIRECTORY"] = own
        environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.pathsep.join(filter(None, others))
        return replace(self._command, environment=environment)

    @property
    def _empty_blob(self) -> str:
        return hashlib.new(self._object_format, b"blob 0\0", usedforsecurity=False).hexdigest()


def _not_stageable(path: str, tag: str, mode: str, stage: str) -> ConfigurationError | None:
    """The reason why git would refuse a change of an index entry, or apply another one."""
    if stage != "0":
        hint = f"settle the conflict first, then git add -- {shlex.quote(path)}"
        return _refusal(path, "it is unmerged in the index", hint)
    if mode not in _REGULAR:
        return _refusal(path, "the index has no file there but a link or another repository", "")
    if tag.upper() == "S":
        hint = f"git sparse-checkout add, or git update-index --no-skip-worktree -- {shlex.quote(path)}"
        return _refusal(path, "a sparse checkout leaves it out", hint)
    if tag.islower():
        words = "git was told to assume that it does not change"
        return _refusal(path, words, f"git update-index --no-assume-unchanged -- {shlex.quote(path)}")
    return None


def _refusal(path: str, words: str, hint: str) -> ConfigurationError:
    return ConfigurationError(f"{words}, so it is not staged", path=path, hint=hint)


def _portions(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(paths), _AT_ONCE):
        yield paths[start : start + _AT_ONCE]


def _lines(paths: Sequence[str]) -> bytes:
    return "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")


def _quoted(path: str) -> str:
    """Return a path as git reads it in a list of paths, where the separator may be part of it."""
    if os.pathsep not in path and not path.startswith('"'):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
