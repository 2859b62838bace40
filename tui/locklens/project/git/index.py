"""Git's index: what it has of files, staging, and questions that git answers with an index of its own.

The work tree is never written. What `git add` would make of a file (line ends, encodings, filters of the user's own) is
found out in a copy of the index, with a store for objects of its own.

A copy also serves to compare the work tree, as `git diff` writes into the index, and to look at files that git was told
not to look at (`--assume-unchanged`, `--skip-worktree`): the tools read them. And an index of nothing but a tree's
`.gitattributes` says which of its files git checks out with other bytes than those that are committed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError, RepositoryError, UnreadableObjectError
from locklens.machine import git_words
from locklens.project.git.listings import TreeFile, is_left_out
from locklens.project.git.objects import ObjectReader
from locklens.project.git.process import GitCommand, fields_of, first_complaint, with_settings
from locklens.text import reason_of, shell_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence


_REGULAR = ("100644", "100755")
_AT_ONCE = 200
"""The most paths for one run of git, so that no command line is too long."""

WHOLE = {"core.splitIndex": "false", "index.sparse": "false"}
"""Settings with which git writes an index as one file, with all paths in it."""

ATTRIBUTES_FILE = ".gitattributes"
_CONVERTING = ("working-tree-encoding", "ident", "filter")
"""Line ends (`text`, `eol`) are left out: for the tools both kinds are the same."""

_STATES = "set", "unset", "unspecified"
"""The output of `git check-attr` for an attribute without a value, and for a value that is spelled so."""

_SPELLED_STATE = re.compile(
    rb"(?<!\S)(" + "|".join(_CONVERTING).encode() + rb")=(" + "|".join(_STATES).encode() + rb")(?!\S)"
)


class IndexedFile(Struct, frozen=True):
    """The index entry of a file.

    Attributes:
        data: Its bytes; None if it has no bytes, also where git only knows that the file is to come.
        mode: Git's, as six octal digits; "" where the index does not know the path.
        object_id: The id of the bytes; "" where there are none or several.
        problem: Why it cannot be staged; None where it can.
    """

    data: bytes | None = None
    mode: str = ""
    object_id: str = ""
    problem: ConfigurationError | None = None


class GitIndex:
    """The index of one work tree, at whose top git is run.

    `object_format` is the hash of its objects, such as "sha1". Of filters whose programs the repository itself names,
    which are not run, `unsafe_filters` has the names.
    """

    def __init__(self, command: GitCommand, *, object_format: str, unsafe_filters: frozenset[str]) -> None:
        self._top = Path(command.folder)
        self._command = command
        self._object_format = object_format
        self._unsafe_filters = unsafe_filters

    def read(self, paths: Sequence[str]) -> dict[str, IndexedFile]:
        """Return what the index has of files, relative to the top, and whether they can be staged.

        Raises:
            RepositoryError: Git failed.
        """
        found = dict.fromkeys(paths, IndexedFile())
        for portion in _portions(paths):
            for tag, mode, object_id, stage, path in self._listed(portion):
                problem = self._not_stageable(path, tag, mode, stage)
                kept = object_id if stage == "0" and object_id != self._empty_blob else ""
                found[path] = IndexedFile(None, mode, kept, problem)
        data = self._contents(self._command, (one.object_id for one in found.values()))
        found = {path: replace(one, data=data.get(one.object_id)) for path, one in found.items()}
        for path, problem in self._obstacles(found):
            found[path] = replace(found[path], problem=found[path].problem or problem)
        return found

    def as_added(self, paths: Sequence[str]) -> dict[str, IndexedFile]:
        """Return what the index would have of files that are there after `git add`. Nothing is written.

        Raises:
            RepositoryError: Git failed, or refuses one of them.
        """
        with TemporaryDirectory(prefix="locklens-") as folder:
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

        By path, each has the entry that the index has now and the one that it gets; None for no entry.

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
            records.append(f"{mode} {object_id}\t{path}")
        status, _, complaint = self._command.ask("update-index", "-z", "--index-info", given=lines_of(records))
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

    def as_checked_out(self, revision: str, path: str) -> bytes:
        """Return a file of a commit as `git checkout` would write it, but for filters, which are programs.

        Raises:
            RepositoryError: Git failed.
        """
        settings = self._without_filters(path)
        return self._command.answer("cat-file", "--filters", f"{revision}:{path}", settings=settings)

    def as_committed(self, data: bytes, before: bytes | None, path: str) -> bytes:
        """Return a file of the work tree with the line ends that a commit has: LF where git converts them.

        One that has CRLF as it is committed, before, keeps them.

        Raises:
            RepositoryError: Git failed.
        """
        plain = data.replace(b"\r\n", b"\n")
        if data in (plain, before) or b"\r\n" in (before or b""):
            return data
        answer = self._command.answer(
            "hash-object", "--stdin", f"--path={path}", given=data, settings=self._without_filters(path)
        )
        return plain if answer.decode("ascii").strip() == self._id_of(plain) else data

    def ignored(self, paths: Sequence[str]) -> list[str]:
        """Return those of some files that are in the work tree, not in the index, and ignored by git.

        Raises:
            RepositoryError: Git failed.
        """
        options = ("--others", "--ignored", "--exclude-standard", "-z", "--full-name")
        asked = (self._command.answer("ls-files", *options, "--", *one, by_patterns=True) for one in _portions(paths))
        return [path for output in asked for path in fields_of(output) if path in paths]

    # How git is asked

    def _listed(
        self, paths: Sequence[str], command: GitCommand | None = None
    ) -> Iterator[tuple[str, str, str, str, str]]:
        """Yield tag, mode, object id, stage and path of every entry."""
        output = (command or self._command).answer("ls-files", "-s", "-v", "-z", "--full-name", "--", *paths)
        for record in fields_of(output):
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
        for path in files:
            if os.path.islink(self._top / path):  # noqa: PTH114
                yield path, _refusal(path, "it is a link", "stage the file that it leads to")
        for path in self.ignored([path for path, file in files.items() if not file.mode]):
            shown, added = self._words("check-ignore", "-v", path=path), self._words("add", "-f", path=path)
            yield path, _refusal(path, "it is git-ignored", f"{shown} shows the reason; {added} stages it anyway")
        if self._unsafe_filters:
            yield from self._filtered(tuple(files))

    def _filtered(self, paths: Sequence[str]) -> Iterator[tuple[str, ConfigurationError]]:
        """Yield the files that a filter program which the repository itself names would have to go through."""
        for path, _, name in _attributes_of(self._command, paths, ("--stdin", "filter")):
            if name in self._unsafe_filters:
                words = f"it goes through the filter {name}, which this repository's own configuration names"
                yield path, _refusal(path, words, self._words("add", "-p", path=path))

    def _words(self, *words: str, path: str) -> str:
        """Return a git command about a file, as the user's shell reads it."""
        return shell_words(git_words(self._top, *words, paths=[path]))

    def _not_stageable(self, path: str, tag: str, mode: str, stage: str) -> ConfigurationError | None:
        """The reason why git would refuse a change of an index entry, or apply another one."""
        if stage != "0":
            hint = f"{self._words('add', path=path)}, once its conflict is settled"
            return _refusal(path, "it is unmerged in the index", hint)
        if mode not in _REGULAR:
            return _refusal(path, "the index has no file there but a link or another repository", "")
        if tag.upper() == "S":
            hint = f"git sparse-checkout add, or {self._words('update-index', '--no-skip-worktree', path=path)}"
            return _refusal(path, "a sparse checkout leaves it out", hint)
        if tag.islower():
            words = "git was told to assume that it does not change"
            return _refusal(path, words, self._words("update-index", "--no-assume-unchanged", path=path))
        return None

    def _aside(self, folder: str) -> GitCommand:
        """Return git with a copy of the index, and with new objects in a folder of its own."""
        questions = ("--git-path", "index", "--git-path", "objects")
        answers = self._command.line("rev-parse", *questions).split("\n")
        index, objects = (os.path.join(self._top, answer) for answer in answers[:2])  # noqa: PTH118
        own = Path(folder, "objects")
        own.mkdir()
        aside = with_index(self._command, _copied(index, folder))
        others = [_quoted(objects), aside.environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "")]
        aside.environment["GIT_OBJECT_DIRECTORY"] = os.fspath(own)
        aside.environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.pathsep.join(filter(None, others))
        return aside

    def _without_filters(self, path: str) -> dict[str, str]:
        """Return settings with which git converts a file without any filter, which is a program."""
        off = {"smudge": "", "clean": "", "process": "", "required": "false"}
        names = {name for _, _, name in _attributes_of(self._command, [path], ("--stdin", "filter"))}
        return {f"filter.{name}.{key}": value for name in names for key, value in off.items()}

    @property
    def _empty_blob(self) -> str:
        return self._id_of(b"")

    def _id_of(self, data: bytes) -> str:
        return hashlib.new(self._object_format, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _refusal(path: str, words: str, hint: str) -> ConfigurationError:
    return ConfigurationError(f"{words}, so it is not staged", path=path, hint=hint)


def _portions(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(paths), _AT_ONCE):
        yield paths[start : start + _AT_ONCE]


def lines_of(records: Iterable[str]) -> bytes:
    """Return records as git reads them with `-z`."""
    return "".join(f"{record}\0" for record in records).encode("utf-8", "surrogateescape")


def with_index(command: GitCommand, index: str) -> GitCommand:
    """Return git with another file for its index."""
    return replace(command, environment={**command.environment, "GIT_INDEX_FILE": index})


def _copied(index: str, folder: str) -> str:
    """Copy an index, if there is one, into a folder, and return the place of the copy."""
    copy = os.path.join(folder, "index")  # noqa: PTH118
    try:
        # With its time: a file that is as young as the index may have changed since, and git compares it then.
        if os.path.exists(index):  # noqa: PTH110
            shutil.copy2(index, copy)
    except OSError as error:
        raise RepositoryError(f"the index cannot be read: {reason_of(error)}") from error
    return copy


def _quoted(path: str) -> str:
    """Return a path as git reads it in a list of paths, where the separator may be part of it."""
    if os.pathsep not in path and not path.startswith('"'):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def hidden(files: Iterable[tuple[str, str]], top: Path) -> list[str]:
    """Return the files whose state on disk git does not look at, though there is one, by tags of `git ls-files -v`."""
    found: list[str] = []
    folders: dict[str, bool] = {}
    for tag, path in files:
        if is_left_out(tag):
            # A sparse checkout leaves out whole folders, of many files each.
            folder = path.rpartition("/")[0]
            if folder not in folders:
                folders[folder] = os.path.isdir(os.path.join(top, folder))  # noqa: PTH112, PTH118
            if folders[folder] and os.path.lexists(os.path.join(top, path)):  # noqa: PTH118
                found.append(path)
        elif tag.islower():
            found.append(path)
    return found


@contextmanager
def apart(command: GitCommand, index: Path, hidden_files: Collection[str]) -> Iterator[GitCommand]:
    """Provide git with a copy of an index, in which it looks at all files on disk, also those that are `hidden`.

    `git diff` writes what it learns about files into the index, also without optional locks: that is not the user's.

    Raises:
        RepositoryError: Git failed, or the index cannot be read.
    """
    with TemporaryDirectory(prefix="locklens-") as folder:
        aside = with_index(command, _copied(os.fspath(index), folder))
        aside = replace(aside, environment=with_settings(aside.environment, WHOLE))
        for flag in ("--no-skip-worktree", "--no-assume-unchanged") if hidden_files else ():
            aside.answer("update-index", "-z", flag, "--stdin", given=lines_of(hidden_files))
        yield aside


def converted(
    command: GitCommand, attributes: Mapping[str, TreeFile] | None, texts: Iterable[bytes], paths: Iterable[str]
) -> dict[str, str]:
    """Return the attribute that has git change a file's bytes, such as `filter=lfs`, by path.

    `ident` is named where it is set; it changes what has `$Id` in it. The files of attributes are those of a tree, with
    what they say; None for those on disk, and those of the index where one is not there.

    Raises:
        RepositoryError: Git failed.
    """
    # Names of attributes are written without quotes: without one of them, git changes no bytes.
    telling = [text for text in texts if any(name.encode() in text for name in _CONVERTING)]
    if not telling:
        return {}
    # `filter=unset` names a filter that is called "unset". Which of both git means by what it prints is unknown, and it
    # counts as the value.
    found = (_SPELLED_STATE.findall(text) for text in telling)
    spelled = {(name.decode(), value.decode()) for each in found for name, value in each}
    if attributes is None:
        return _conversions(command, paths, spelled)
    entries = (f"{file.mode} {file.object_id}\t{path}" for path, file in attributes.items() if file.object_id)
    with TemporaryDirectory(prefix="locklens-") as folder:
        # `git check-attr` reads the files of a revision only since 2.40.
        aside = with_index(command, os.path.join(folder, "index"))  # noqa: PTH118
        aside.answer("update-index", "-z", "--index-info", given=lines_of(entries), settings=WHOLE)
        return _conversions(aside, paths, spelled, "--cached")


def _conversions(
    command: GitCommand, paths: Iterable[str], spelled: Collection[tuple[str, str]], *options: str
) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for path, name, value in _attributes_of(command, paths, (*options, "--stdin", *_CONVERTING)):
        found.setdefault(path, []).extend(_words(name, value, is_value=(name, value) in spelled))
    return {path: ", ".join(words) for path, words in found.items() if words}


def _attributes_of(
    command: GitCommand, paths: Iterable[str], question: Sequence[str]
) -> Iterator[tuple[str, str, str]]:
    """Return path, attribute and value of each answer of `git check-attr`."""
    fields = fields_of(command.answer("check-attr", "-z", *question, given=lines_of(paths), by_patterns=True))
    return zip(fields[::3], fields[1::3], fields[2::3], strict=False)


def _words(name: str, value: str, *, is_value: bool) -> Iterator[str]:
    if name == "ident":
        is_on = value == "set"  # with any value it is off
    else:
        is_on = is_value or value not in (_STATES if name == "filter" else _STATES[1:])
    if not is_on:
        return
    if name == "working-tree-encoding" and value.lower().replace("-", "") == "utf8":
        return
    yield name if name == "ident" else f"{name}={value}"
