"""The commits of a lock file, also those of the folders from which its root was moved, and its path in any commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from locklens.project import LOCK_FILE, is_lock_file
from locklens.project.gittree import IndexTree, RevisionTree
from locklens.project.moved_roots import find_moved_roots
from locklens.project.tree import folder_of, path_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locklens.project.git import Repository

PAST_COMMITS = 100
"""The most commits of one lock file that are read: years of them, even with automated changes."""


class CommittedFile(NamedTuple):
    """A lock file in a commit that changed it.

    Attributes:
        commit: Its full id.
        date: ISO 8601 in UTC.
        parents: On each line of history before it, the next commit that changed the file.
        path: Its path there.
        data: Its bytes; None where the commit removed it.
    """

    commit: str
    date: str
    parents: tuple[str, ...]
    path: str
    data: bytes | None


class LockCommits:
    """Reads the commits of each lock file once, and follows it through the moves of its root.

    Paths are relative to the top of the repository, and each lock file is the one of the work tree, or of the commit
    that was given as the tip. The methods raise `RepositoryError` where git cannot read the history.
    """

    def __init__(self, repository: Repository, tip: str = "HEAD") -> None:
        self._repository = repository
        self._tip = tip
        self._read: dict[str, tuple[CommittedFile, ...]] = {}
        self._moves: dict[str, dict[str, str]] = {}

    def of(self, path: str) -> tuple[CommittedFile, ...]:
        """Return the commits up to the tip that made a lock file what it is, the newest first, at most PAST_COMMITS.

        The one that moved it to a path comes before those of the path that it had until then. A move that is staged
        counts, too, after HEAD.
        """
        if path not in self._read:
            self._read[path] = self._followed(path, PAST_COMMITS, self._tip)
        return self._read[path]

    def path_in(self, commit: str, path: str) -> str | None:
        """Return the path of a lock file in a commit, by full id; None where that has none.

        It is its own, or one from which the root was moved, unless that was before the commit: the path may be that of
        another root since.
        """
        if self._repository.show(commit, path) is not None:
            return path
        mover = ""
        for one in self.of(path):
            if one.path != path:
                if mover and self._repository.is_ancestor(mover, commit):
                    return None
                path = one.path
                if self._repository.show(commit, path) is not None:
                    return path
            mover = one.commit
        return None

    def known_paths(self, path: str) -> tuple[str, ...]:
        """Return the path of a lock file, and those from which it was moved by commits that were read for any file."""
        found = [path]
        for moved in self._moves.values():
            if (old := moved.get(folder_of(found[-1]))) is not None:
                found.append(path_in(old, LOCK_FILE))
        return tuple(found)

    def _followed(self, path: str, most: int, tip: str) -> tuple[CommittedFile, ...]:
        commits = [
            CommittedFile(one.commit, one.date, one.parents, path, self._repository.show(one.commit, path))
            for one in self._repository.touching(path, most, tip)
        ]
        is_lacking = tip == "HEAD" and (not commits or commits[0].data is None)
        if is_lacking and (old := self._moved_by("").get(folder_of(path))) is not None:
            return self._followed(path_in(old, LOCK_FILE), most, tip)
        having = {one.commit for one in commits if one.data is not None}
        added = (one for one in commits if one.commit in having and not having.intersection(one.parents))
        moves = ((one, self._moved_by(one.commit).get(folder_of(path))) for one in added)
        mover, old = next(((one, old) for one, old in moves if old is not None), (None, None))
        if mover is None or old is None:
            return tuple(commits)
        before = ancestors(commits, mover)
        kept = [one for one in commits if one is not mover and one.commit not in before]
        past = self._followed(path_in(old, LOCK_FILE), most - len(kept) - 1, f"{mover.commit}^")
        return (*kept, mover._replace(parents=tuple(one.commit for one in past[:1])), *past)

    def _moved_by(self, commit: str) -> dict[str, str]:
        """Return new folder -> old folder of the roots that a commit moved; "" for what is staged."""
        if commit not in self._moves:
            self._moves[commit] = self._moves_of(commit)
        return self._moves[commit]

    def _moves_of(self, commit: str) -> dict[str, str]:
        from locklens.project.git import UncommittedSide

        if commit:
            changes = self._repository.added_and_deleted(commit)
        elif self._repository.is_unborn or self._repository.is_bare:
            return {}
        else:
            changes, _ = self._repository.compare(self._repository.resolve("HEAD"), UncommittedSide.INDEX)
        gone = _by_folder(one.path for one in changes if not one.is_there)
        come = _by_folder(one.path for one in changes if not one.was_there)
        if not gone or not come:
            return {}
        base = self._repository.resolve(f"{commit}^" if commit else "HEAD")
        before = RevisionTree(self._repository, base)
        after = RevisionTree(self._repository, commit) if commit else IndexTree(self._repository)
        locks = _by_folder(self._repository.paths(base, named=LOCK_FILE))
        stay = {folder: path for folder, path in locks.items() if folder not in gone}
        return {new: old.folder for new, old in find_moved_roots(before, after, gone, come, stay).items()}


def _by_folder(paths: Iterable[str]) -> dict[str, str]:
    """Return the lock files among some paths, by folder."""
    return {folder_of(path): path for path in paths if is_lock_file(path)}


class _Commit(Protocol):
    @property
    def commit(self) -> str: ...
    @property
    def parents(self) -> tuple[str, ...]: ...


def ancestors(commits: Iterable[_Commit], commit: _Commit) -> set[str]:
    """Return the commits of a lock file that are before one of them."""
    return {*walked(commit.parents, {one.commit: one.parents for one in commits})}


def walked(commits: Sequence[str], parents: Mapping[str, Sequence[str]]) -> dict[str, None]:
    """Return commits, and those that are reached from them over parents that are known."""
    found, waiting = dict[str, None](), [*commits]
    while waiting:
        one = waiting.pop(0)
        if one not in found:
            found[one] = None
            waiting += parents.get(one, ())
    return found
