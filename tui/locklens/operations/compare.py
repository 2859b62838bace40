"""Opens comparisons: two sides of a git repository (work tree, index, revision), or two named lock files.

A lock file is named by a path, `-` for standard input, or `REV:PATH`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError, NoRepositoryError, RepositoryError
from locklens.operations.comparison import USUAL_SIDES, Base, Comparison, Side, path_below_top, within
from locklens.operations.review.unreviewed import conversions
from locklens.project.roots import LOCK_FILE, RootPair, find_roots, lock_paths
from locklens.project.touched_roots import may_decide
from locklens.project.tree import MAX_FILE_BYTES, EmptyTree, FileSystem, OverlayTree, WorkTree, normalise
from locklens.review.model import PolicySide
from locklens.text import reason_of, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from locklens.project.git import Repository, UncommittedSide
    from locklens.project.roots import RootEvidence
    from locklens.project.tree import Tree


def open_git(folder: Path, base: Base = USUAL_SIDES, *, roots: Sequence[str] = ()) -> Comparison:
    """Compare a revision with the work tree, the index or another revision.

    In a repository without commits everything is new against HEAD.

    Args:
        folder: A folder in the repository.
        base: The named sides.
        roots: Root folders, relative to `folder`, to which the comparison is restricted.

    Raises:
        ConfigurationError: The arguments exclude each other, or one of `roots` is no root.
        RepositoryError: There is no repository or no such revision.
    """
    if base.is_staged and base.head is not None:
        raise ConfigurationError("--staged and --head cannot be used together")
    from locklens.project.git import Repository
    from locklens.project.git.listings import ChangeStatus, PathChange

    repository = Repository.discover(folder)
    try:
        only = [within(repository, folder, root) for root in roots]
        new, new_place = _head_side(repository, base.head, staged=base.is_staged)
        old, old_place = tip, _ = _base_side(repository, "HEAD" if base.name is None else base.name)
        old = tip = _titled(tip, base.titles)
        if base.fork_of and tip.revision is not None:
            old = _fork_point(repository, tip, base.fork_of, base.titles.get(base.fork_of, base.fork_of))
            old_place = str(old.revision)
        changes, submodules = repository.compare(old_place, new_place)
        converted = conversions(old.tree, new.tree)
        anew = (
            PathChange(ChangeStatus.MODIFIED, path, path) for path, conversion in converted.items() if conversion.is_new
        )
        all_locks, base_locks = lock_paths(repository, new.tree), lock_paths(repository, old.tree)
        unlocked: Mapping[str, RootEvidence] = {}
        if may_decide(new.tree, (path for each in changes for path in (each.old, each.new) if path is not None)):
            from locklens.operations.review.unreviewed import unlocked_roots

            unlocked = unlocked_roots(repository, old.tree, new.tree, changes, (*all_locks, *base_locks))
        pairs = find_roots(
            repository,
            old.tree,
            new.tree,
            (*changes, *anew),
            submodules=submodules,
            unlocked=unlocked,
            converted=converted,
            only=only,
        )
        unreviewed = {}
        if submodules:
            from locklens.operations.review.unreviewed import (
                pairs_of_submodules,
                submodules_of_roots,
                unreviewed_submodules,
            )

            unreviewed = unreviewed_submodules(repository, submodules, base_locks)
            told = unreviewed
            if only:
                changed = [change.new for change in changes if change.new is not None]
                told = submodules_of_roots(unreviewed, old.tree, new.tree, pairs, changed)
            pairs = pairs_of_submodules(pairs, told)
    except BaseException:
        repository.close()
        raise
    return Comparison(
        base=old,
        head=_titled(new, base.titles),
        roots=pairs,
        worktree=_worktree(repository, new),
        top=repository.top,
        repository=repository,
        all_locks=all_locks,
        policy_side=PolicySide.BASE,
        converted=converted,
        unreviewed=unreviewed,
        tip=tip if old is not tip else None,
        is_base_named=base.name is not None,
        base_locks=base_locks,
    )


def fetch_pull_request(folder: Path, number: int, *, remote: str, base: str | None = None) -> Base:
    """Fetch a pull or merge request, and return its head and its fork point as the sides of a comparison.

    The commits are named by id: no reference is written, and what the remote has later changes nothing in a run.

    Args:
        folder: A folder in the repository.
        number: Of the request.
        remote: The name of the remote that has it.
        base: The revision that it is to be merged into; None for the default branch of the remote, as it is there now.

    Raises:
        RepositoryError: There is no repository, remote, request or base, or the remote cannot be reached.
    """
    from locklens.project.git import Repository

    with Repository.discover(folder) as repository:
        if base is not None:
            repository.resolve_base(base)
        fetched = repository.fetch_request(number, remote, with_base=base is None)
    titles = {fetched.head: fetched.head_name} | ({} if base is not None else {fetched.base: fetched.base_name})
    return Base(fetched.base if base is None else base, fetched.head, fetched.head, titles=titles)


def open_locked(folder: Path, base: Base = USUAL_SIDES, *, roots: Sequence[str] = ()) -> Comparison:
    """Open all locked providers: the new side beside its base, or without git the lock file of one folder.

    Args:
        folder: A folder in the repository, or one with a lock file.
        base: The named sides.
        roots: Root folders, relative to `folder`, to which the comparison is restricted.

    Raises:
        ConfigurationError: One of `roots` is no root.
        RepositoryError: There is neither a repository nor a lock file.
    """
    try:
        return open_git(folder, base, roots=roots)
    except NoRepositoryError:
        place = folder / roots[0] if len(roots) == 1 else folder
        if len(roots) > 1 or base != USUAL_SIDES or not (place / LOCK_FILE).is_file():
            raise
        opened = open_files(LOCK_FILE, LOCK_FILE, config=None, cwd=place, stdin=bytes)
        return replace(opened, policy_side=PolicySide.HEAD, is_base_named=False)


def _head_side(repository: Repository, head: str | None, *, staged: bool) -> tuple[Side, str | UncommittedSide]:
    from locklens.project.git import UncommittedSide
    from locklens.project.gittree import IndexTree, RevisionTree, SparseWorkTree

    if head is not None:
        revision = repository.resolve(head)
        return Side("git", head, revision, RevisionTree(repository, revision)), revision
    if staged:
        return Side("index", "index", None, IndexTree(repository)), UncommittedSide.INDEX
    return Side("worktree", "worktree", None, SparseWorkTree(repository)), UncommittedSide.WORK_TREE


def _base_side(repository: Repository, base: str) -> tuple[Side, str | UncommittedSide]:
    from locklens.project.git import UncommittedSide
    from locklens.project.gittree import RevisionTree

    try:
        revision = repository.resolve_base(base)
    except RepositoryError:
        if base in ("HEAD", "@") and repository.is_unborn:
            return Side("empty", base, None, EmptyTree()), UncommittedSide.EMPTY
        raise
    return Side("git", base, revision, RevisionTree(repository, revision)), revision


def _worktree(repository: Repository, head: Side) -> Tree | None:
    if head.kind == "worktree" or repository.is_bare:
        return None if repository.is_bare else head.tree
    return WorkTree(repository.top)


def _titled(side: Side, titles: Mapping[str, str]) -> Side:
    return replace(side, name=titles[side.name]) if side.name in titles else side


def _fork_point(repository: Repository, tip: Side, fork_of: str, title: str) -> Side:
    from locklens.project.gittree import RevisionTree

    revision = repository.merge_base(str(tip.revision), repository.resolve(fork_of))
    return Side("git", f"{tip.name}...{title}", revision, RevisionTree(repository, revision))


STANDARD_INPUT = "-"


_ABSENT = ("/dev/null", "NUL", "nul")


# Two files
class _Named(Struct, frozen=True):
    """The side that one of the two names stands for.

    Attributes:
        side: Its tree has the lock file.
        lock: Path of the lock file in the tree, None for an absent one.
        data: Its bytes.
        top: Top of a tree on disk.
        repository: Repository of a revision.
    """

    side: Side
    lock: str | None
    data: bytes
    top: Path | None = None
    repository: Repository | None = None


def open_files(old: str, new: str, *, config: str | None, cwd: Path, stdin: Callable[[], bytes]) -> Comparison:
    """Compare two lock files, each a path, `-` (standard input), `/dev/null` (absent) or `REV:PATH` (through git).

    A name that is both a file on disk and a path in a revision is refused: the author of a change can add such a file.
    Files on disk keep their names relative to `cwd`.

    Args:
        old: The old lock file.
        new: The new lock file.
        config: Folder of the new side's configuration. None: that of `new`, or none at all for standard input.
        cwd: The folder of relative paths.
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
        converted=conversions(base.side.tree, head.side.tree),
        is_base_named=True,
    )


_STDIN_PATH = "<stdin>"


class _Opener:
    """Opens the sides of names, with one repository for all of them."""

    def __init__(self, cwd: Path, stdin: Callable[[], bytes]) -> None:
        self._cwd = cwd.absolute()
        self._stdin = stdin
        self.repository: Repository | None = None
        """The repository of the current folder, opened for the first revision."""

    def close(self) -> None:
        """Close the repository that was opened."""
        if self.repository is not None:
            self.repository.close()

    def named(self, name: str) -> _Named:
        """Return the side of a name."""
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
        """Refuse the name of a file that is valid for git too.

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
        hint = f"./{name} is the file; for the path in git, rename the file"
        raise ConfigurationError(f"ambiguous: both a file and a path in {where}", path=name, hint=hint)

    def beside(self, head: _Named, config: str) -> tuple[_Named, str]:
        """Return the head with the configuration of a folder on disk, and that folder's path in its tree."""
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
            raise ConfigurationError("is a folder", path=name, hint=f"name the {LOCK_FILE} in it")
        if not os.path.isfile(place):  # noqa: PTH113
            return self._stream(name, place)
        files = FileSystem(self._cwd)
        lock = files.join("", name) or name
        data = files.read(lock)
        if data is None:
            raise ConfigurationError("no such file", path=name)
        return _Named(Side("file", name, None, files), lock, data, self._cwd, self.repository)

    def _stream(self, name: str, place: str) -> _Named:
        """Read a pipe of the shell's `<(command)` to its end; the user names it, so it may block."""
        try:
            with open(place, "rb") as stream:  # noqa: PTH123
                data = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise ConfigurationError(f"cannot be read: {reason_of(error)}", path=name) from error
        if len(data) > MAX_FILE_BYTES:
            raise ConfigurationError(f"not read: larger than {MAX_FILE_BYTES // 1024**2} MiB", path=name)
        return _Named(Side("file", name, None, OverlayTree({name: data}, EmptyTree())), name, data)

    def _committed(self, name: str, revision: str, path: str) -> _Named:
        from locklens.project.git import Repository
        from locklens.project.gittree import IndexTree, RevisionTree

        try:
            repository = self.repository = self.repository or Repository.discover(self._cwd)
        except NoRepositoryError as error:
            raise ConfigurationError("no such file", path=name, hint=f"as a revision: {error}") from error
        if path.startswith(("./", "../")):
            below = path_below_top(os.path.realpath(repository.top), os.path.realpath(self._cwd))
            path = f"{below}/{path}" if below is not None else path
        lock = normalise(path)
        if lock is None:
            raise ConfigurationError("the path is outside of the repository", path=name)
        commit = repository.resolve(revision) if revision else None
        tree = IndexTree(repository) if commit is None else RevisionTree(repository, commit)
        data = tree.read(lock)
        if data is None:
            where = f"revision {revision!r}" if revision else "the index"
            raise ConfigurationError(f"no such file in {where}", path=name)
        return _Named(Side("git" if revision else "index", name, commit, tree), lock, data, None, repository)


def _split_revision(name: str) -> tuple[str | None, str]:
    """Split `REV:PATH` at the first colon outside of braces, as git does; (None, name) without one.

    An empty revision is the index. A path that begins with a slash, `./` or `../` is a file: no revision begins so.
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
