"""Opens the comparison of two named lock files: each a path, `-` for standard input, or `REV:PATH`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError, NoRepositoryError
from locklens.operations.comparison import Comparison, Side
from locklens.project import LOCK_FILE, RootPair
from locklens.project.revision_paths import path_from_top, split_revision
from locklens.project.tree import MAX_FILE_BYTES, EmptyTree, FileSystem, OverlayTree
from locklens.text import reason_of, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from locklens.project.git import Repository
    from locklens.project.gittree import Conversion

STANDARD_INPUT = "-"

_ABSENT = ("/dev/null", "NUL", "nul")


class _OpenedSide(Struct, frozen=True):
    """One of the two sides, opened by its name.

    Attributes:
        lock: Path of the lock file in the tree; None if it is absent.
        top: Top of the tree; None unless it is on disk.
        repository: Repository of the revision; None without one.
    """

    side: Side
    lock: str | None
    data: bytes
    top: Path | None = None
    repository: Repository | None = None


def open_files(old: str, new: str, *, config: str | None, cwd: Path, stdin: Callable[[], bytes]) -> Comparison:
    """Compare two lock files, each a path, `-` (standard input), `/dev/null` (absent) or `REV:PATH` (through git).

    A name that is both a file on disk and a path in a revision is refused: the author of a change can add such a file.
    Files on disk keep their names relative to `cwd`. The folder of the new side's configuration is `config`, or that of
    `new` if that is not standard input.

    Raises:
        ConfigurationError: No such file, no such folder, an ambiguous name, both absent, or standard input twice.
        RepositoryError: No such revision.
    """
    if old == new == STANDARD_INPUT:
        raise ConfigurationError("only one of --old and --new can be standard input")
    if old in _ABSENT and new in _ABSENT:
        raise ConfigurationError("both sides are absent: there is nothing to compare")
    opener = _Opener(cwd, stdin)
    try:
        base, head = opener.side(old), opener.side(new)
        folder = ((head.lock if head.lock != _STDIN_PATH else None) or base.lock or "").rpartition("/")[0]
        if config is not None:
            head, folder = opener.with_configuration(head, config)
        converted: Mapping[str, Conversion] = {}
        if opener.repository is not None:
            from locklens.project.gittree import conversions

            converted = conversions(base.side.tree, head.side.tree)
    except BaseException:
        opener.close()
        raise
    configured = config is not None or head.lock not in {None, _STDIN_PATH}
    pair = RootPair(
        path=folder,
        old_lock=base.lock,
        new_lock=head.lock,
        lock_changed=(base.lock is None) != (head.lock is None) or base.data != head.data,
        configuration_changed=configured,  # the old one is unknown
        renamed_from=None,
    )
    return Comparison(
        base=base.side,
        head=head.side,
        roots=(pair,),
        worktree=FileSystem(head.top) if head.top is not None else None,
        top=head.top,
        repository=opener.repository,
        all_locks=() if head.lock is None else (head.lock,),
        base_locks=() if base.lock is None else (base.lock,),
        converted=converted,
        is_base_named=True,
    )


_STDIN_PATH = "<stdin>"


class _Opener:
    """Opens sides by their names, with one repository for both."""

    def __init__(self, cwd: Path, stdin: Callable[[], bytes]) -> None:
        self._cwd = cwd.absolute()
        self._stdin = stdin
        self.repository: Repository | None = None
        """The repository of the current folder, opened for the first revision."""

    def close(self) -> None:
        """Close the repository that was opened."""
        if self.repository is not None:
            self.repository.close()

    def side(self, name: str) -> _OpenedSide:
        """Open the side with a name."""
        if name == STANDARD_INPUT:
            data = self._stdin()
            return _OpenedSide(
                Side("file", name, None, OverlayTree({_STDIN_PATH: data}, EmptyTree())), _STDIN_PATH, data
            )
        if name in _ABSENT:
            return _OpenedSide(Side("empty", "/dev/null", None, EmptyTree()), None, b"")
        place = os.path.join(self._cwd, name)  # noqa: PTH118
        revision, path = split_revision(name)
        is_file = os.path.lexists(place)
        if revision is None:
            if not is_file:
                raise ConfigurationError("no such file", path=name)
            return self._file(name, place)
        if not is_file:
            return self._committed(name, revision, path)
        self._require_no_revision(name, revision)
        return self._file(name, place)

    def _require_no_revision(self, name: str, revision: str) -> None:
        """Refuse the name of a file if git can read it as a path in a revision, too.

        Raises:
            ConfigurationError: The text before the colon is a revision.
            RepositoryError: Git failed.
        """
        from locklens.project.git import Repository

        try:
            repository = self.repository = self.repository or Repository.discover(self._cwd)
        except NoRepositoryError:
            return
        if revision and not repository.has_commit(revision):
            return
        where = f"the revision {visible(revision)}" if revision else "the index"
        hint = f"write ./{name} for the file; to compare the path in git, rename the file"
        raise ConfigurationError(f"ambiguous: both a file and a path in {where}", path=name, hint=hint)

    def with_configuration(self, head: _OpenedSide, config: str) -> tuple[_OpenedSide, str]:
        """Return the head with the configuration of a folder on disk, and that folder's path in its tree."""
        place = os.path.join(self._cwd, config)  # noqa: PTH118
        if not os.path.isdir(place):  # noqa: PTH112
            raise ConfigurationError("no such folder", path=config)
        files = FileSystem(self._cwd)
        folder = files.join("", config) or ""
        if head.lock is None:
            return _OpenedSide(
                Side("empty", head.side.name, None, files), None, b"", self._cwd, head.repository
            ), folder
        # A file that is not on disk is shown under the name that the user gave it.
        lock = head.side.name if head.top is None else head.lock
        lock = _STDIN_PATH if lock == STANDARD_INPUT else lock
        side = Side(head.side.kind, head.side.name, head.side.revision, OverlayTree({lock: head.data}, files))
        return _OpenedSide(side, lock, head.data, self._cwd, head.repository), folder

    def _file(self, name: str, place: str) -> _OpenedSide:
        if os.path.isdir(place):  # noqa: PTH112
            raise ConfigurationError("is a folder", path=name, hint=f"name the {LOCK_FILE} in it")
        if not os.path.isfile(place):  # noqa: PTH113
            return self._stream(name, place)
        files = FileSystem(self._cwd)
        lock = files.join("", name) or name
        data = files.read(lock)
        if data is None:
            raise ConfigurationError("no such file", path=name)
        return _OpenedSide(Side("file", name, None, files), lock, data, self._cwd, self.repository)

    def _stream(self, name: str, place: str) -> _OpenedSide:
        """Read a pipe, such as the shell's `<(command)`, to its end; it may block, since the user named it."""
        try:
            with open(place, "rb") as stream:  # noqa: PTH123
                data = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise ConfigurationError(f"cannot be read: {reason_of(error)}", path=name) from error
        if len(data) > MAX_FILE_BYTES:
            raise ConfigurationError(f"not read: larger than {MAX_FILE_BYTES // 1024**2} MiB", path=name)
        return _OpenedSide(Side("file", name, None, OverlayTree({name: data}, EmptyTree())), name, data)

    def _committed(self, name: str, revision: str, path: str) -> _OpenedSide:
        from locklens.project.git import Repository
        from locklens.project.gittree import IndexTree, RevisionTree

        try:
            repository = self.repository = self.repository or Repository.discover(self._cwd)
        except NoRepositoryError as error:
            raise ConfigurationError("no such file", path=name, hint=f"as a revision: {error}") from error
        path = path if revision else path.removeprefix("0:")  # git's name of the index, where nothing is in conflict
        lock = path_from_top(path, repository.top, self._cwd)
        if lock is None:
            raise ConfigurationError("the path is outside of the repository", path=name)
        commit = repository.resolve(revision) if revision else None
        tree = IndexTree(repository) if commit is None else RevisionTree(repository, commit)
        data = tree.read(lock)
        if data is None:
            where = f"revision {revision!r}" if revision else "the index"
            raise ConfigurationError(f"no such file in {where}", path=name)
        return _OpenedSide(Side("git" if revision else "index", name, commit, tree), lock, data, None, repository)
