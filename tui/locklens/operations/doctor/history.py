"""The history of lock files: their entries in git commits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from locklens.dialect import twin_of
from locklens.doctor import FileOfTool, PastEntry
from locklens.doctor.history import SECONDS
from locklens.doctor.model import Onset
from locklens.hashes import count_by_scheme, packages_of
from locklens.lockfile import LockFile, pinned
from locklens.lockfile.parse import parse
from locklens.project import LOCK_FILE
from locklens.project.lock_history import PAST_COMMITS, LockCommits, ancestors, walked
from locklens.text import clauses

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.doctor import ElsewhereEntry
    from locklens.lines import FilePlace
    from locklens.lockfile import LockEntry
    from locklens.project.git import Repository
    from locklens.project.git.objects import BlamedLine, TouchingCommit

_MOST_MERGES = 200
"""The most merges among which the one is looked for that left an entry out."""

_MOST_SHARED = 5
"""The most states of an entry that are looked for in other lock files: a fix restores one of the newest."""


class _CommittedLock(NamedTuple):
    """A lock file in a commit that changed it."""

    commit: str
    date: str
    parents: tuple[str, ...]
    lock: LockFile


class LockHistory:
    """Reads the history of each lock file once; without git there is none.

    Paths are relative to the top of the repository, and each lock file is the one of the work tree. The methods raise
    `RepositoryError` where git cannot read the history.
    """

    def __init__(self, repository: Repository | None) -> None:
        self._git = repository
        self._commits = LockCommits(repository) if repository is not None else None
        self._read: dict[str, list[_CommittedLock]] = {}
        self._blames: dict[tuple[str, int], tuple[BlamedLine, ...]] = {}

    @property
    def _repository(self) -> Repository:
        assert self._git is not None  # only a commit leads to it
        return self._git

    def past(self, lock_path: str, address: ProviderAddress) -> tuple[PastEntry, ...]:
        """Return the states of an entry, the newest first; of equal neighbours only the oldest.

        The first is that of the commit that made the entry as it is, the second the one that this commit replaced.
        Other branches may have had states that a merge dropped; they come next. A commit whose file cannot be read
        whole says nothing about an entry.
        """
        locks = self._whole(lock_path)
        if not locks:
            return ()
        now = pinned(locks[0].lock.entry(address))
        maker = _maker(locks, lambda lock: pinned(lock.entry(address)) == now)
        assert maker is not None  # the newest lock file fits
        before = ancestors(locks, maker)
        of_line = [one for one in locks if one.commit in before]
        own = _states([maker, *sorted(of_line, key=lambda one: one.commit not in maker.parents[:1])], address)
        if len(own) > 1:
            known = {pinned(one.entry) for one in own}
            others = _states([one for one in locks if one.commit not in before], address)
            own[2:2] = [one for one in others if pinned(one.entry) not in known]
        elif own[0].entry is None:
            paths = dict.fromkeys((lock_path, *(one.lock.path for one in locks)))
            own = next(filter(None, (self._left_out(path, address) for path in paths)), own)
        return self._with_lenders(lock_path, own)

    def _left_out(self, lock_path: str, address: ProviderAddress) -> list[PastEntry]:
        """Return the state of an entry on a branch, after that of the merge which has the branch and not the entry.

        Git passes over such a branch: the lock file is what it was before the merge. [] where no merge left it out.
        """
        added = self._repository.touching_anywhere(lock_path, PAST_COMMITS)
        found = ((one, self._entry_in(one.commit, lock_path, address)) for one in added)
        branch, entry = next(((one, entry) for one, entry in found if entry is not None), (None, None))
        if branch is None:
            return []
        for merge in reversed(self._repository.merges_since(branch.commit, _MOST_MERGES)):
            if self._entry_in(merge.commit, lock_path, address) is None:
                if not any(self._entry_in(parent, lock_path, address) for parent in merge.parents):
                    return []  # the branch itself removed it
                return [PastEntry(merge.commit, merge.date, None), PastEntry(branch.commit, branch.date, entry)]
        return []

    def _entry_in(self, commit: str, lock_path: str, address: ProviderAddress) -> LockEntry | None:
        """Return the entry of a provider in a commit's lock file; None without one."""
        data = self._repository.show(commit, lock_path)
        return _entry_of(data, address) if data is not None else None

    def shared(
        self, lock_path: str, past: tuple[PastEntry, ...], others: Sequence[str]
    ) -> tuple[tuple[PastEntry, ...], dict[str, frozenset[str]]]:
        """Return the states of an entry with the last commit of each, and the commits that other files share.

        Only the newest states are looked up. The other files are lock files with the provider: each shares those of the
        states' first and last commits in which it has the same entry, also where its root was moved with this one.
        """
        if not others or self._commits is None:
            return past, {}
        found = list(past)
        held: dict[str, LockEntry] = {}
        for number, state in enumerate(past[:_MOST_SHARED]):
            if state.entry is None:
                continue
            ended = f"{past[number - 1].commit}^" if number else "HEAD"
            last = self._repository.resolve(ended) if self._repository.has_commit(ended) else ""
            there = self._commits.path_in(last, lock_path) if last else None
            last = last if there is not None and self._has(last, there, state.entry) else state.commit
            found[number] = replace(state, last=last)
            held.update(dict.fromkeys((state.commit, last), state.entry))
        paths = {path: self._commits.known_paths(path) for path in others}
        known = [*dict.fromkeys(one for those in paths.values() for one in those)]
        having = {commit: self._paths_with(commit, known, entry) for commit, entry in held.items()}
        return tuple(found), {
            path: frozenset(commit for commit, those in having.items() if those.intersection(paths[path]))
            for path in others
        }

    def _paths_with(self, commit: str, paths: Sequence[str], entry: LockEntry) -> frozenset[str]:
        """Return those of some lock files that have an entry with the same version and hashes in a commit.

        Equal files, as those of equal roots are, are read once.
        """
        files = {path: file.object_id for path, file in self._repository.files_at(commit, paths).items()}
        self._repository.prefetch(files.values())
        locked = {one: _entry_of(self._repository.blob(one), entry.address) for one in {*files.values()}}
        return frozenset(path for path, one in files.items() if pinned(locked[one]) == pinned(entry))

    def _has(self, commit: str, lock_path: str, entry: LockEntry) -> bool:
        """True if a lock file has an entry with the same version and hashes in a commit."""
        return pinned(self._entry_in(commit, lock_path, entry.address)) == pinned(entry)

    def since_of(self, other: ElsewhereEntry) -> str:
        """Return the date of the commit that made an entry as it is; "" if it is not committed so."""
        past = self.past(other.lock_file, other.entry.address)
        return past[0].date if past and pinned(past[0].entry) == pinned(other.entry) else ""

    def last_with(self, lock_path: str, address: ProviderAddress) -> tuple[str, int, LockFile]:
        """Return the newest commit whose lock file has a provider, "" for none, the number of later ones, and it."""
        states = enumerate(self._locks(lock_path))
        found = ((one.commit, later, one.lock) for later, one in states if address in one.lock.by_address)
        return next(found, ("", 0, LockFile.absent(lock_path)))

    def before_tool(self, lock: LockFile) -> FileOfTool | None:
        """Return a lock file before another tool wrote it in its last change, if one wrote it until then; else None."""
        locks = self._locks(lock.path)
        before = locks[1:] if locks and locks[0].lock.writer is lock.writer else locks
        writers = {one.lock.writer for one in before}
        if not before or lock.writer is None or len(writers) > 1 or (tool := writers.pop()) in {None, lock.writer}:
            return None
        return FileOfTool(before[0].commit, tool.name, before[0].lock.entries)

    def lock_files(self, lock_path: str) -> list[LockFile]:
        """Return a lock file as each of its commits has it, the newest first."""
        return [one.lock for one in self._locks(lock_path)]

    def last_where(self, lock_path: str, is_it: Callable[[LockFile], bool]) -> str:
        """Return the newest commit of a lock file whose contents fit; "" for none."""
        return next((one.commit for one in self._locks(lock_path) if is_it(one.lock)), "")

    def removed_by(self, lock_path: str, address: ProviderAddress) -> str:
        """Return the newest commit of a lock file, with its date and persons, if it removed an entry; else ""."""
        past = self.past(lock_path, address)
        if len(past) < 2 or past[0].entry is not None:
            return ""
        words = self._commit_words(past[0])
        return f"{words}, a merge," if self._repository.commit(past[0].commit).parents > 1 else words

    def added_by(self, path: str) -> str:
        """Return the commit that added a file, with date and persons; "" if it is not committed, or nothing tells."""
        first = next(iter(self._repository.touching(path, PAST_COMMITS)[-1:]), None)
        before = f"{first.commit}^" if first is not None else ""
        if first is None or not self._repository.has_commit(before) or self._repository.show(before, path) is not None:
            return ""
        return self._commit_words(first)

    def is_new(self, lock: LockFile, files: Iterable[str], logged: str) -> bool:
        """True if a lock file is not committed, or was added later than the log, to a root that was there before.

        One that was moved to the root counts as added there. `files` are those of the root's own configuration; what
        git ignores is committed nowhere, however old it is.
        """
        locks = self._locks(lock.path)
        first = next((one for one in reversed(locks) if one.lock.path == lock.path), None)
        is_late = first is None or (logged != "" and first.date[:SECONDS] >= logged[:SECONDS])
        if self._git is None or not lock.exists or not is_late or len(locks) >= PAST_COMMITS:
            return False
        before = f"{first.commit}^" if first is not None else "HEAD"
        if not self._git.has_commit(before) or self.is_ignored(lock.path):
            return False
        return any(self._git.show(before, file) is not None for file in files)

    def is_later(self, commit: str, than: str) -> bool:
        """True if a commit has another one before it; "" is what is not committed, which is later than all that is."""
        if not commit or not than:
            return than != ""
        return commit != than and self._repository.is_ancestor(than, commit)

    def is_ignored(self, path: str) -> bool:
        """True if git ignores a path, whether there is a file or not."""
        from locklens.project.git import UncommittedSide

        return self._git is not None and path in self._git.ignored(UncommittedSide.WORK_TREE, [path])

    def is_in_no_clone(self, path: str) -> bool:
        """True if git ignores a path, and the current commit does not have it."""
        is_committed = self._git is None or self._git.is_unborn or self._git.show("HEAD", path) is not None
        return not is_committed and self.is_ignored(path)

    def had(self, path: str, words: Sequence[re.Pattern[bytes]], *, is_new: bool = False) -> bool:
        """True if a file had all of some words in one of its commits; `is_new` where it was never committed."""
        commits = self._git.touching(path, PAST_COMMITS) if self._git is not None else ()
        states = (self._repository.show(one.commit, path) or b"" for one in commits)
        return any(all(word.search(data) for word in words) for data in states) if commits else is_new

    def had_file(self, path: str, data: bytes) -> bool:
        """True if a commit of any branch has a file with these bytes: what is staged alone was never another branch's.

        That git has the bytes at all is asked first.
        """
        if not self._repository.has_blob(data):
            return False
        commits = self._repository.touching_anywhere(path, PAST_COMMITS, "--all")
        return any(self._repository.show(one.commit, path) == data for one in commits)

    def since(self, lock: LockFile, part: Callable[[LockFile], object]) -> str:
        """Return the date of the commit that made a part of a lock file as it is; "" if it is not committed so."""
        maker = _maker(self._locks(lock.path), lambda old: part(old) == part(lock))
        return maker.date if maker is not None else ""

    def providers(self, lock_path: str, until: str) -> frozenset[ProviderAddress] | None:
        """Return the providers in the newest commit of a lock file, none if that removed it; None without a commit.

        The commit is no later than `until`, ISO 8601 in UTC; "" for any time.
        """
        states = ((one.date, frozenset(one.lock.by_address)) for one in self._locks(lock_path))
        return next((found for date, found in states if not until or date[:SECONDS] <= until[:SECONDS]), None)

    def had_other_providers(self, lock: LockFile) -> bool:
        """True if a lock file has other providers in one of its commits than it has now."""
        return any({*one.lock.by_address} != {*lock.by_address} for one in self._whole(lock.path))

    def was_other(self, lock: LockFile, address: ProviderAddress, until: str) -> bool:
        """True if the newest state of an entry in a commit until then is not the one that it has now."""
        then = next((one for one in self.past(lock.path, address) if one.date[:SECONDS] <= until[:SECONDS]), None)
        return then is not None and pinned(then.entry) != pinned(lock.entry(address))

    def newest_readable(self, lock_path: str) -> str:
        """Return the newest commit whose lock file can be read; "" if there is none."""
        return self.last_where(lock_path, lambda lock: lock.exists and lock.is_valid)

    def other_paths(self, lock: LockFile) -> dict[str, str]:
        """Return the path of a lock file in each of its commits from before a move of its root."""
        return {one.commit: one.lock.path for one in self._locks(lock.path) if one.lock.path != lock.path}

    def without_new_hashes(self, lock: LockFile) -> frozenset[str]:
        """Return the commits whose lock file has no hash that the one here and the newest readable commit lack."""
        states = {one.commit: _locked_hashes(one.lock) for one in self._locks(lock.path)}
        known = _locked_hashes(lock) | states.get(self.newest_readable(lock.path), set())
        return frozenset(commit for commit, hashes in states.items() if hashes <= known)

    def damage(self, lock: LockFile) -> tuple[str, str]:
        """Return the commit that made a lock file unreadable if it is a merge, and if it is none; "" for any other.

        It is no merge where its only parent is known to have a readable file.
        """
        maker = self._damage(lock)
        if maker is None:
            return "", ""
        parents = self._repository.commit(maker.commit).parents
        is_told = parents == 0 or {one.commit for one in self._locks(lock.path)}.issuperset(maker.parents)
        return (maker.commit, "") if parents > 1 else ("", maker.commit if is_told else "")

    def _damage(self, lock: LockFile) -> _CommittedLock | None:
        """Return the commit that made a lock file unreadable; None if it is not committed so."""
        locks = self._locks(lock.path)
        is_committed = locks and locks[0].lock.data == lock.data
        return _maker(locks, lambda old: not old.is_valid) if is_committed else None

    def made(self, lock: LockFile, past: Sequence[PastEntry], now: LockEntry | None) -> tuple[str, str]:
        """Return the commit that selected version and packages of an entry if it is a merge, and if it is none.

        "" is any other. A later commit may have changed the `h1`. It is no merge where it has no parent, or its only
        one has another known state; a merge where some parent has.
        """
        if now is None or not past or pinned(past[0].entry) != pinned(now):
            return "", ""
        maker, _ = self._selecting(lock.path, now)
        parents = self._repository.commit(maker.commit).parents
        if parents > 0 and not maker.parents:
            return "", ""  # what was before it is not known
        return (maker.commit, "") if parents > 1 else ("", maker.commit)

    def last_merge(self, past: Sequence[PastEntry], now: LockEntry | None) -> str:
        """Return the commit that made an entry as it is, if that is a merge; else ""."""
        if now is None or not past or pinned(past[0].entry) != pinned(now):
            return ""
        return past[0].commit if self._repository.commit(past[0].commit).parents > 1 else ""

    def _blamed(self, lock: LockFile, now: LockEntry) -> tuple[BlamedLine, ...]:
        """Return the commit of each line of an entry; git is asked once."""
        key = lock.path, now.line
        if key not in self._blames:
            last = now.line + max((0, *now.hash_offsets))
            self._blames[key] = self._repository.blamed(lock.path, lock.data, now.line, last)
        return self._blames[key]

    def _selecting(self, lock_path: str, now: LockEntry) -> tuple[_CommittedLock, LockEntry | None]:
        """Return the commit that selected version and packages of a committed entry, and the entry before it."""
        locks = self._whole(lock_path)
        maker = _maker(locks, lambda lock: _selected(lock.entry(now.address)) == _selected(now))
        assert maker is not None  # the newest lock file has the entry
        before = next((one for one in locks if one.commit in maker.parents[:1]), None)
        return maker, before.lock.entry(now.address) if before is not None else None

    def renamed_from(self, lock: LockFile, now: LockEntry | None, maker: str) -> LockEntry | None:
        """Return the entry of another provider, with the same version and hashes, that gave way to an entry.

        It did so in the commit that made the entry, or in an uncommitted change. The other tool's registry may have the
        same packages.
        """
        locks = {one.commit: one for one in self._whole(lock.path)}
        if now is None or not now.hashes or not locks:
            return None
        newest = next(iter(locks.values()))
        before = next(map(locks.get, locks[maker].parents), None) if maker in locks else newest
        after = locks[maker].lock if maker in locks else lock
        if before is None or now.address in before.lock.by_address:
            return None
        gone = (one for one in before.lock.entries if one.address not in after.by_address)
        return next((one for one in gone if pinned(one) == pinned(now) and one.address != twin_of(now.address)), None)

    def was_repaired(self, lock: LockFile) -> bool:
        """True if a lock file cannot be read in some commit, but can be read in the work tree."""
        return lock.exists and lock.is_valid and any(one.lock.problems for one in self._locks(lock.path))

    def before_loss(self, lock: LockFile) -> tuple[PastEntry, ...]:
        """Return the entries of the newest readable commit of a lock file, before the newest state that is not."""
        locks = self._locks(lock.path)
        broken = next((one for one in locks if one.lock.problems and not lock.problems), None)
        before = ancestors(locks, broken) if broken is not None else {one.commit for one in locks}
        found = next((one for one in locks if one.commit in before and one.lock.exists and one.lock.is_valid), None)
        if found is None:
            return ()
        return self._with_lenders(lock.path, (PastEntry(found.commit, found.date, one) for one in found.lock.entries))

    def has_hashes_of_others(self, lock: LockFile) -> bool:
        """True if an entry has hashes that commits have only, or before all others, for another version."""
        for now in lock.entries:
            states = (one.lock.entry(now.address) for one in self._locks(lock.path))
            versions = {one.version for one in states if one is not None and one.accepted == now.accepted}
            if versions and (now.version not in versions or self._lender(lock.path, now)):
                return True
        return False

    def first_with(self, lock_path: str, entry: LockEntry) -> PastEntry | None:
        """Return the state in which a commit locks all packages of an entry before every other that does.

        A later commit that has them for another version edited that version alone. None where no commit has them, or
        two branches each have them first.
        """
        packages = packages_of(entry.hashes)
        locks = self._locks(lock_path)
        states = ((one, one.lock.entry(entry.address)) for one in locks)
        having = [(one, was) for one, was in states if packages and was and packages <= packages_of(was.hashes)]
        if not having:
            return None
        first, was = having[-1]
        is_first = all(one is first or first.commit in ancestors(locks, one) for one, _ in having)
        return PastEntry(first.commit, first.date, was) if is_first else None

    def _with_lenders(self, lock_path: str, states: Iterable[PastEntry]) -> tuple[PastEntry, ...]:
        return tuple(self._with_lender(lock_path, one) for one in states)

    def _with_lender(self, lock_path: str, state: PastEntry) -> PastEntry:
        if not (lender := self._lender(lock_path, state.entry)):
            return state
        is_merged = self._repository.commit(state.commit).parents > 1
        return replace(state, borrowed_from=lender, is_merged=is_merged)

    def _lender(self, lock_path: str, entry: LockEntry | None) -> str:
        """Return the version whose packages an entry of another version has, by the first commit with them; else ""."""
        first = self.first_with(lock_path, entry) if entry is not None else None
        if entry is None or first is None or first.entry is None or first.is_of(entry.version):
            return ""
        return str(first.entry.version)

    def onset_of_damage(self, lock: LockFile, line: int) -> Onset | None:
        """Return the commit that made the lock file unreadable; None if neither it nor the line is known.

        Git is not asked for the line's commit: the line that a parser names need not be the damaged one.
        """
        maker = self._damage(lock)
        if maker is None:
            return Onset("", change=f"line {line}") if line else None
        is_oldest = not {one.commit for one in self._locks(lock.path)}.issuperset(maker.parents)
        return self._onset_at(maker, f"line {line}" if line else "", is_oldest=is_oldest)

    def onset_of_requirement(self, place: FilePlace, data: bytes) -> Onset | None:
        """Return the commit that git blames for a line of the configuration; None where git ignores the file."""
        if self._repository.is_unborn or self._repository.show("HEAD", place.file) is None:
            return None if self.is_ignored(place.file) else Onset("", entry=str(place), is_required=True)
        (blamed,) = self._repository.blamed(place.file, data, place.line, place.line)
        is_end = blamed.is_boundary and self._repository.commit(blamed.commit).parents > 0
        onset = self._onset_at(blamed, "", is_oldest=is_end) if blamed.commit else Onset("")
        return replace(onset, entry=str(place), is_required=True)

    def _onset_at(
        self, commit: _CommittedLock | PastEntry | BlamedLine, change: str, *, is_oldest: bool = False
    ) -> Onset:
        if is_oldest:  # an older one, whose author is not known, may have made it so
            return Onset(commit.commit, commit.date, change=change, is_oldest=True)
        facts = self._repository.commit(commit.commit)
        return Onset(commit.commit, commit.date, facts.by, facts.subject, change)

    def _commit_words(self, commit: _CommittedLock | PastEntry | TouchingCommit) -> str:
        """Return a commit in words, with its date and persons."""
        return f"commit {commit.commit[:12]} of {commit.date[:10]} {self._repository.commit(commit.commit).by}".rstrip()

    def _onset_by(self, maker: PastEntry, older: LockEntry | None, now: LockEntry) -> Onset:
        """Return the commit that made an entry of an older one; a merge changes it against each parent."""
        is_merge = self._repository.commit(maker.commit).parents > 1
        return self._onset_at(maker, "a merge" if is_merge else _change(older, now))

    def _whole(self, lock_path: str) -> list[_CommittedLock]:
        """Return the commits whose lock file could be read whole, each with those of them that are next before it."""
        locks = self._locks(lock_path)
        broken = {one.commit: one.parents for one in locks if not one.lock.is_complete}
        whole = (one for one in locks if one.commit not in broken)
        return [
            one._replace(parents=tuple(each for each in walked(one.parents, broken) if each not in broken))
            for one in whole
        ]

    def _locks(self, lock_path: str) -> list[_CommittedLock]:
        if lock_path not in self._read:
            self._read[lock_path] = [
                _CommittedLock(commit, date, parents, parse(data, path) if data is not None else LockFile.absent(path))
                for commit, date, parents, path, data in (
                    self._commits.of(lock_path) if self._commits is not None else ()
                )
            ]
        return self._read[lock_path]

    def onset(self, lock: LockFile, past: tuple[PastEntry, ...], now: LockEntry) -> Onset:
        """Return the commit that made the entry as it is.

        Where the file's history begins with the entry, that is the newest one which git blames for the entry's lines,
        unless the one with which the history begins is among them.
        """
        before = past[0].entry if past else None
        if before is None or pinned(before) != pinned(now):
            return Onset("", change=_change(before, now))
        blamed = self._blamed(lock, now)
        if not blamed or any(not one.commit for one in blamed):
            return Onset("", change="its lines differ from the committed ones")
        newest = max(blamed, key=lambda one: (one.commit == past[0].commit, one.date))
        older = past[1] if len(past) > 1 else None
        if older is not None:
            onset = self._onset_by(past[0], older.entry, now)
            return replace(onset, change=clauses(onset.change, self._selecting_words(lock.path, past[0].commit, now)))
        # A first commit is a boundary without parents.
        is_end = newest.is_boundary and self._repository.commit(newest.commit).parents > 0
        is_added = not is_end and len({one.commit for one in blamed}) == 1
        return self._onset_at(newest, _change(None, now) if is_added else "", is_oldest=is_end)

    def _selecting_words(self, lock_path: str, newest: str, now: LockEntry) -> str:
        """Return the clause about the commit that selected version and packages, if a later one changed the `h1`."""
        maker, before = self._selecting(lock_path, now)
        if maker.commit == newest or not maker.parents:
            return ""  # what the oldest known commit did is not known
        is_merge = self._repository.commit(maker.commit).parents > 1
        what = "merged" if is_merge else _change(before, maker.lock.entry(now.address) or now)
        return f"{what} by {self._commit_words(maker)}"


def _entry_of(data: bytes, address: ProviderAddress) -> LockEntry | None:
    """Return the entry of a provider in the bytes of a lock file; None without one."""
    return parse(data, LOCK_FILE).entry(address) if str(address).encode() in data else None


def _selected(entry: LockEntry | None) -> object:
    """Return what a change of `h1` alone leaves of an entry: version and packages; without any, all that is pinned."""
    packages = packages_of(entry.hashes) if entry is not None else frozenset[str]()
    return (entry.version, packages) if entry is not None and packages else pinned(entry)


def _maker(locks: Sequence[_CommittedLock], fits: Callable[[LockFile], bool]) -> _CommittedLock | None:
    """Return the commit from which on a lock file fits; None if the newest does not.

    It is looked for as `git blame` does, from each commit to a parent that fits: by their dates, commits of branches
    that a merge joined later stand between one another.
    """
    known = {one.commit: one for one in locks}
    found = None
    before = next((one for one in locks[:1] if fits(one.lock)), None)
    while before is not None:
        found = before
        parents = (known[parent] for parent in found.parents if parent in known)
        before = next((one for one in parents if fits(one.lock)), None)
    return found


def _states(locks: Sequence[_CommittedLock], address: ProviderAddress) -> list[PastEntry]:
    """Return the states of an entry in some commits; of equal neighbours the last one."""
    states: list[PastEntry] = []
    for one in locks:
        entry = one.lock.entry(address)
        if states and pinned(states[-1].entry) == pinned(entry):
            entry = states.pop().entry
        states.append(PastEntry(one.commit, one.date, entry))
    return states


def _locked_hashes(lock: LockFile) -> set[tuple[ProviderAddress, str, str]]:
    return {(entry.address, str(entry.version), text) for entry in lock.entries for text in entry.hashes}


def _change(before: LockEntry | None, now: LockEntry) -> str:
    """Return in words how the entry changed."""
    if before is None:
        return f"added {now.version}"
    versions = f"{before.version} to {now.version}" if before.version != now.version else ""
    added = [text for text in now.hashes if text not in before.hashes]
    removed = [text for text in before.hashes if text not in now.hashes]
    counts = " ".join(filter(None, (count_by_scheme(added, sign="+"), count_by_scheme(removed, sign="-"))))
    return ", ".join(filter(None, (versions, counts)))
