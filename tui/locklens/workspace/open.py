"""Opens the two sides of a comparison: in a git repository, or two files wherever they are.

What stands in the lock files is not read here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError, NoRepositoryError, RepositoryError
from locklens.project.roots import LOCK_FILE, RootPair, find_roots, lock_paths
from locklens.project.tree import (
    MAX_FILE_BYTES,
    EmptyTree,
    FileSystem,
    OverlayTree,
    WorkTree,
    normalise,
)
from locklens.review.model import PolicySide
from locklens.text import reason_of
from locklens.workspace.conversions import conversions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from locklens.project.git import Place, Repository
    from locklens.project.tree import Tree
    from locklens.workspace.conversions import Conversion

STANDARD_INPUT = "-"
_ABSENT = ("/dev/null", "NUL", "nul")

SideKind = Literal["git", "worktree", "index", "file", "empty"]


class Side(Struct, frozen=True):
    """One side of a comparison.

    Attributes:
        kind: Where it is from.
        name: As the user named it; of two revisions' common ancestor "BASE...HEAD", as git writes it.
        revision: The full commit id, None where it is no commit.
        tree: Its files.
    """

    kind: SideKind
    name: str
    revision: str | None
    tree: Tree


class Base(Struct, frozen=True):
    """The base that was named for a run; every command and screen of the run compares with it.

    Attributes:
        name: A revision. None: nobody named one, and the work tree is compared with HEAD.
        fork_of: The revision whose common ancestor with `name` is meant; "" for `name` itself.
    """

    name: str | None = None
    fork_of: str = ""


class Comparison(Struct, frozen=True):
    """Two sides and the roots that they have.

    Attributes:
        base: The old side.
        head: The new side.
        roots: Changed or not, in the order of their paths.
        worktree: The files on disk, for what git ignores (`.terraform`); None where there are none.
        top: What paths of the head side are relative to, None where it is not on disk.
        repository: The one that is asked, None without git. Whoever opened the comparison closes it.
        all_locks: Path of every lock file of the head side, also where `roots` is restricted.
        policy_side: Which side's top has the policy that counts, NONE where neither has.
        converted: Files of the head side that git checks out with other bytes, by path.
        is_base_named: Whether the user named the base. HEAD that stands in for a name may be the very branch that is
            looked at, so it vouches for what differs from it and for nothing else.
    """

    base: Side
    head: Side
    roots: tuple[RootPair, ...]
    worktree: Tree | None
    top: Path | None
    repository: Repository | None
    all_locks: tuple[str, ...]
    policy_side: PolicySide = PolicySide.NONE
    converted: Mapping[str, Conversion] = {}
    is_base_named: bool = False

    def close(self) -> None:
        """Ends the process that reads git's objects, if there is one."""
        if self.repository is not None:
            self.repository.close()


def open_git(
    folder: Path,
    *,
    base: str | None = None,
    head: str | None = None,
    staged: bool = False,
    merge_base: bool = False,
    fork_of: str = "",
    roots: Sequence[str] = (),
) -> Comparison:
    """Compares a revision with the work tree, the index or another revision.

    In a repository without commits everything is new against HEAD.

    Args:
        folder: A folder in the repository.
        base: The old revision; None where none was named, for HEAD.
        head: The new revision; None for the work tree or the index.
        staged: Whether the new side is the index.
        merge_base: Whether the old side is the common ancestor of `base` and `head` (HEAD without one).
        fork_of: The revision whose common ancestor with `base` is the old side, whatever the new one is; "" for none.
        roots: Root folders, relative to `folder`, to which the comparison is restricted.

    Raises:
        ConfigurationError: The arguments exclude each other, or one of `roots` is no root.
        RepositoryError: There is no repository or no such revision.
    """
    if staged and head is not None:
        raise ConfigurationError("--staged and --head cannot be used together")
    from locklens.project.git import Repository
    from locklens.project.gitoutput import ChangeStatus, PathChange

    fork_of = fork_of or ((head or "HEAD") if merge_base else "")
    repository = Repository.discover(folder)
    try:
        only = [within(repository, folder, root) for root in roots]
        new, new_place = _head_side(repository, head, staged=staged)
        old, old_place = _base_side(repository, "HEAD" if base is None else base, fork_of)
        changes = repository.changed(old_place, new_place)
        converted = conversions(old.tree, new.tree)
        anew = (PathChange(ChangeStatus.MODIFIED, path, path) for path, one in converted.items() if one.is_new)
        pairs = find_roots(repository, old.tree, new.tree, (*changes, *anew), only=only)
        all_locks = lock_paths(repository, new.tree)
    except BaseException:
        repository.close()
        raise
    return Comparison(
        base=old,
        head=new,
        roots=pairs,
        worktree=None if repository.is_bare else WorkTree(repository.top),
        top=repository.top,
        repository=repository,
        all_locks=all_locks,
        policy_side=PolicySide.BASE,
        converted=converted,
        is_base_named=base is not None,
    )


def open_locked(folder: Path, *, base: Base | None = None, roots: Sequence[str] = ()) -> Comparison:
    """Opens all that is locked: the work tree beside its base, or without git the folder's own lock file.

    Args:
        folder: A folder in the repository, or one with a lock file.
        base: What was named; None for nothing.
        roots: Root folders, relative to `folder`, to which it is restricted.

    Raises:
        ConfigurationError: One of `roots` is no root.
        RepositoryError: There is neither a repository nor a lock file.
    """
    base = base or Base()
    try:
        return open_git(folder, base=base.name, fork_of=base.fork_of, roots=roots)
    except NoRepositoryError:
        if roots or base.name is not None or not (folder / LOCK_FILE).is_file():
            raise
        opened = open_files(LOCK_FILE, LOCK_FILE, config=None, cwd=folder, stdin=bytes)
        return replace(opened, policy_side=PolicySide.HEAD, is_base_named=False)


def _head_side(repository: Repository, head: str | None, *, staged: bool) -> tuple[Side, str | Place]:
    from locklens.project.git import Place
    from locklens.project.gittree import IndexTree, RevisionTree

    if head is not None:
        revision = repository.resolve(head)
        return Side("git", head, revision, RevisionTree(repository, revision)), revision
    if staged:
        return Side("index", "index", None, IndexTree(repository)), Place.INDEX
    return Side("worktree", "worktree", None, WorkTree(repository.top)), Place.WORK_TREE


def _base_side(repository: Repository, base: str, fork_of: str) -> tuple[Side, str | Place]:
    from locklens.project.git import Place
    from locklens.project.gittree import RevisionTree

    try:
        revision = repository.resolve(base)
    except RepositoryError:
        if base in ("HEAD", "@") and repository.is_unborn:
            return Side("empty", base, None, EmptyTree()), Place.EMPTY
        raise
    name = base
    if fork_of:
        revision = repository.merge_base(revision, repository.resolve(fork_of))
        name = f"{base}...{fork_of}"
    return Side("git", name, revision, RevisionTree(repository, revision)), revision


def within(repository: Repository, folder: Path, path: str) -> str:
    """Returns a path, given relative to a folder, relative to the repository's top.

    Raises:
        ConfigurationError: It is outside.
    """
    top = os.path.realpath(repository.top)
    name = path.removesuffix(LOCK_FILE) if os.path.basename(path) == LOCK_FILE else path  # noqa: PTH119
    place = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118
    relative = _below(top, os.path.realpath(place))
    if relative is None:
        # What is no link on disk any more may still be a folder of the old side.
        relative = _below(top, os.path.normpath(place))
    if relative is None:
        raise ConfigurationError("outside of the repository", path=path, hint=f"the repository is {repository.top}")
    return relative


def _below(top: str, place: str) -> str | None:
    """Returns a POSIX path relative to a folder, None where the place is not in it."""
    if place == top:
        return ""
    prefix = top if top.endswith(os.sep) else top + os.sep
    return place[len(prefix) :].replace(os.sep, "/") if place.startswith(prefix) else None


# Two files


class _Named(Struct, frozen=True):
    """What one of the two names stands for.

    Attributes:
        side: With a tree that has the lock file.
        lock: Its path in that tree, None for an absent one.
        data: Its bytes.
        top: Of a tree on disk.
        repository: Where a revision is.
    """

    side: Side
    lock: str | None
    data: bytes
    top: Path | None = None
    repository: Repository | None = None


def open_files(old: str, new: str, *, config: str | None, cwd: Path, stdin: Callable[[], bytes]) -> Comparison:
    """Compares two lock files, each a path, `-` (standard input), `/dev/null` (absent) or `REV:PATH` (through git).

    What is both a file on disk and a path in a revision is refused: whoever proposes the change can add such a file.
    Files on disk keep the names that they have from `cwd`.

    Args:
        old: The old lock file.
        new: The new lock file.
        config: Folder of the new side's configuration. None: that of `new`, or none at all for standard input.
        cwd: What relative paths are relative to.
        stdin: Reads standard input to its end.

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
        base, head = opener.named(old), opener.named(new)
        folder = (head.lock or base.lock or "").rpartition("/")[0]
        if config is not None:
            head, folder = opener.beside(head, config)
    except BaseException:
        opener.close()
        raise
    configured = config is not None or head.lock not in {None, _STDIN_PATH}
    pair = RootPair(
        path=folder,
        old_lock=base.lock,
        new_lock=head.lock,
        lock_changed=(base.lock is None) != (head.lock is None) or base.data != head.data,
        configuration_changed=configured,  # nobody knows the old one
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
        converted=conversions(base.side.tree, head.side.tree),
        is_base_named=True,
    )


_STDIN_PATH = "<stdin>"


class _Opener:
    """Finds what names stand for, with one repository for each place that is looked at."""

    def __init__(self, cwd: Path, stdin: Callable[[], bytes]) -> None:
        self._cwd = cwd.absolute()
        self._stdin = stdin
        self.repository: Repository | None = None
        """That of the current folder, once a revision was named."""

    def close(self) -> None:
        """Closes the repository that was opened."""
        if self.repository is not None:
            self.repository.close()

    def named(self, name: str) -> _Named:
        """Returns what a name stands for."""
        if name == STANDARD_INPUT:
            data = self._stdin()
            return _Named(Side("file", name, None, OverlayTree({_STDIN_PATH: data}, EmptyTree())), _STDIN_PATH, data)
        if name in _ABSENT:
            return _Named(Side("empty", "/dev/null", None, EmptyTree()), None, b"")
        place = os.path.join(self._cwd, name)  # noqa: PTH118
        revision, path = _split_revision(name)
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
        """Refuses the name of a file that git would understand too.

        Raises:
            ConfigurationError: The text before the colon is a revision.
            RepositoryError: Git cannot say.
        """
        from locklens.project.git import Repository, printable

        try:
            repository = self.repository = self.repository or Repository.discover(self._cwd)
        except NoRepositoryError:
            return
        if revision and not repository.has_commit(revision):
            return
        where = f"the revision {printable(revision)}" if revision else "the index"
        hint = f"./{name} names the file; move it away, and {name} is read through git"
        raise ConfigurationError(f"it is both a file and a path in {where}", path=name, hint=hint)

    def beside(self, head: _Named, config: str) -> tuple[_Named, str]:
        """Returns the head with the configuration of a folder on disk, and that folder's path in its tree."""
        place = os.path.join(self._cwd, config)  # noqa: PTH118
        if not os.path.isdir(place):  # noqa: PTH112
            raise ConfigurationError("no such folder", path=config)
        files = FileSystem(self._cwd)
        folder = files.join("", config) or ""
        if head.lock is None:
            return _Named(Side("empty", head.side.name, None, files), None, b"", self._cwd, head.repository), folder
        # From another tree, the file is shown under the name that the user gave it.
        lock = head.lock if head.top is not None and head.lock is not None else head.side.name
        lock = _STDIN_PATH if lock == STANDARD_INPUT else lock
        side = Side(head.side.kind, head.side.name, head.side.revision, OverlayTree({lock: head.data}, files))
        return _Named(side, lock, head.data, self._cwd, head.repository), folder

    def _file(self, name: str, place: str) -> _Named:
        if os.path.isdir(place):  # noqa: PTH112
            raise ConfigurationError("it is a folder and no file", path=name, hint=f"name the file in it: {LOCK_FILE}")
        if not os.path.isfile(place):  # noqa: PTH113
            return self._stream(name, place)
        files = FileSystem(self._cwd)
        lock = files.join("", name) or name
        data = files.read(lock)
        if data is None:
            raise ConfigurationError("no such file", path=name)
        return _Named(Side("file", name, None, files), lock, data, self._cwd, self.repository)

    def _stream(self, name: str, place: str) -> _Named:
        """Reads what the shell's `<(command)` makes: the user names it, so waiting for its end is wanted."""
        try:
            with open(place, "rb") as stream:  # noqa: PTH123
                data = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise ConfigurationError(f"cannot be read: {reason_of(error)}", path=name) from error
        if len(data) > MAX_FILE_BYTES:
            raise ConfigurationError(f"not read: it is larger than {MAX_FILE_BYTES // 1024**2} MiB", path=name)
        return _Named(Side("file", name, None, OverlayTree({name: data}, EmptyTree())), name, data)

    def _committed(self, name: str, revision: str, path: str) -> _Named:
        from locklens.project.git import Repository, printable
        from locklens.project.gittree import IndexTree, RevisionTree

        try:
            repository = self.repository = self.repository or Repository.discover(self._cwd)
        except NoRepositoryError as error:
            raise ConfigurationError("no such file", path=name, hint=f"as a revision: {error}") from error
        if path.startswith(("./", "../")):
            below = _below(os.path.realpath(repository.top), os.path.realpath(self._cwd))
            path = f"{below}/{path}" if below is not None else path
        lock = normalise(path)
        if lock is None:
            raise ConfigurationError("the path is outside of the repository", path=name)
        commit = repository.resolve(revision) if revision else None
        tree = IndexTree(repository) if commit is None else RevisionTree(repository, commit)
        data = tree.read(lock)
        if data is None:
            where = f"revision {printable(revision)!r}" if revision else "the index"
            raise ConfigurationError(f"no such file in {where}", path=name)
        return _Named(Side("git" if revision else "index", name, commit, tree), lock, data, None, repository)


def _split_revision(name: str) -> tuple[str | None, str]:
    """Splits `REV:PATH` at the first colon outside of braces, as git does; (None, name) where there is none.

    An empty revision is the index. A path that begins with a slash, `./` or `../` is a file's: no revision does.
    """
    if name.startswith(("/", "./", "../")):
        return None, name
    if os.name == "nt" and name[1:2] == ":" and name[:1].isalpha():
        return None, name
    depth = 0
    for position, character in enumerate(name):
        depth += (character == "{") - (character == "}")
        if character == ":" and depth <= 0:
            return name[:position], name[position + 1 :]
    return None, name
