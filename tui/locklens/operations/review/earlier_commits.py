"""The hashes of changed entries in earlier commits, where those of the signed release alone do not explain a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.errors import RepositoryError
from locklens.hashes import packages_of
from locklens.lockfile.parse import parse
from locklens.review.context import CommittedVersion
from locklens.trust.continuity import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.lockfile import LockEntry
    from locklens.operations.comparison import Comparison, Side
    from locklens.review.case import Case
    from locklens.review.model import Change


class EarlierCommits:
    """Looks up what commits lock for the provider of a change; git is asked for what contradicts the release alone."""

    def __init__(self, comparison: Comparison) -> None:
        self._repository = comparison.repository
        self._base = _tips(comparison.base)[:1]
        self._head = _tips(comparison.head)

    def told(self, case: Case, old_path: str, new_path: str) -> Change:
        """Return a change with the commits that explain it, by the paths of its lock file on both sides.

        Packages are restored from the history of the base alone: the other commits of a branch under review are
        reviewed with it. That history also tells of which other version the old entry had the packages. A foreign hash
        may be of another version that any commit locks; its release tells.
        """
        change, packages, foreign = case.change, packages_of(case.entry.hashes), case.packages.foreign
        if case.packages.has(Origin.REPUBLISHED):
            past = [*self._entries(self._base, old_path, case)]
            same = (
                commit
                for commit, entry in past
                if entry.version == case.entry.version and packages_of(entry.hashes) == packages
            )
            restored_from, had = next(same, ""), packages_of(change.old.hashes) if change.old is not None else ()
            lenders = (
                CommittedVersion(commit, entry.version)
                for commit, entry in past
                if entry.version != case.entry.version and had and packages_of(entry.hashes).issuperset(had)
            )
            lender = None if restored_from else next(lenders, None)
            is_cut = not restored_from and lender is None and self._is_cut(old_path)
            change = replace(change, restored_from=restored_from, is_history_cut=is_cut, lender=lender)
        if foreign and case.lender is None:
            states = self._entries(self._head, new_path, case)
            others = (state for state in states if state[1].version != case.entry.version)
            commit, entry = max(
                others, key=lambda state: len(foreign.intersection(state[1].hashes)), default=("", None)
            )
            if entry is not None and not foreign.isdisjoint(entry.hashes):
                change = replace(change, lender=CommittedVersion(commit, entry.version))
        return change

    def _is_cut(self, path: str) -> bool:
        """True if the history of the base's lock file begins where that of a shallow clone does."""
        from locklens.project.lock_history import LockCommits

        repository = self._repository
        try:
            return repository is not None and any(
                repository.lacks_parents(one.commit)
                for tip in self._base
                for one in LockCommits(repository, tip).of(path)
                if not one.parents
            )
        except RepositoryError:
            return False

    def _entries(self, tips: tuple[str, ...], path: str, case: Case) -> Iterator[tuple[str, LockEntry]]:
        """Yield the entries of the provider in the commits up to some tips, the newest of each first."""
        from locklens.project.lock_history import LockCommits

        for tip in tips:
            if self._repository is None:
                return
            try:
                commits = LockCommits(self._repository, tip).of(path)
            except RepositoryError:
                continue  # No such commit, or a clone that lacks what is older.
            for one in commits:
                entry = parse(one.data or b"", one.path).entry(case.change.address)
                if entry is not None:
                    yield one.commit, entry


def _tips(side: Side) -> tuple[str, ...]:
    """Return the commits whose history a side has: before a merge is committed, those of both of its parents."""
    if side.revision is not None:
        return (side.revision,)
    return ("HEAD", "MERGE_HEAD") if side.kind in {"worktree", "index"} else ()
