"""Plans that restore an earlier state: a write is reverted or applied again, and a package's folder is put back.

Undo and redo are writes like any other and open the same Preview. Of the applied writes of a repository, of this or an
earlier run, any can be undone whose files are still as it left them. A folder of a package that differs is replaced by
a copy that the lock file accepts, or moved aside.
"""

from __future__ import annotations

import os
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import DIALECTS
from locklens.errors import ConfigurationError, NoRepositoryError, RepositoryError, StaleLockFileError
from locklens.lockfile.parse import parse
from locklens.machine import git_words, shell_folder
from locklens.operations.comparison import RootSettings
from locklens.operations.plan import FileChanges, Plan, PlannedChange, PlannedFile, change_words
from locklens.operations.plan.builder import PlanBuilder, changes_between, warn_of_staged
from locklens.operations.write.apply import FileOperation, no_progress
from locklens.operations.write.recover import ABSENT, require_as_planned, reversed_folder, state_of
from locklens.operations.write.resolve import note_next_step, repository_at, unmerged
from locklens.packages.installed import MOST_ASIDE, differing_files, name_aside
from locklens.project import LOCK_FILE
from locklens.project.tree import FileSystem
from locklens.storage.files import is_within
from locklens.storage.journal import Journal, MovedFolder, Record, WriteTarget, WrittenFile, current
from locklens.text import listing, reason_of, shell_word, shell_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress

_NAMED = 3


_COMMAND_SHOWN = 100


_RESOLVED_AGAIN = "the conflict is resolved again"


class AppliedWrite(Struct, frozen=True):
    """A write that was applied in a repository.

    Attributes:
        record: Its files, time, command line and commit message.
        files: The files, relative to the repository's top.
        is_undone: True if it was reverted and not applied again.
        is_gone: True if its files are as before it for another reason, so that nothing of it is left to undo.
    """

    record: Record
    files: tuple[str, ...]
    is_undone: bool
    is_gone: bool = False

    @property
    def state(self) -> str:
        """What became of it since, with brackets; "" where it can be undone."""
        return "(undone)" if self.is_undone else "(reverted since)" if self.is_gone else ""

    @property
    def id(self) -> str:
        """The id, as `locklens undo` takes it."""
        return self.record.id

    @property
    def title(self) -> str:
        """What a sentence calls it: the beginning of `words`."""
        return _subject(self.record) or _short(self.record.shown)

    @property
    def words(self) -> str:
        """The first line of the commit message, else what it did to a folder, or the command line."""
        return _subject(self.record) or self.record.command

    @property
    def moment(self) -> str:
        """The time, to the minute."""
        return _moment(self.record)


class Recorded(NamedTuple):
    """What is recorded of a repository, or of a folder outside of one.

    Attributes:
        writes: Those that can be undone or redone; what was written, undone or applied again last is the first.
        damaged: A sentence for each record that was damaged when it was read, so that its write cannot be undone.
    """

    writes: tuple[AppliedWrite, ...]
    damaged: tuple[str, ...]


def recorded(folder: Path, *, journal: Journal | None = None) -> Recorded:
    """Return the writes that are recorded of the repository of a folder, or of the folder itself where there is none.

    Raises:
        ConfigurationError: The records cannot be trusted.
        RepositoryError: Git failed.
    """
    top = top_of(folder)
    journal = journal or Journal()
    writes = tuple(map(_with_gone, _applied(top, journal)))  # reading them sets the damaged ones aside
    words = "a record of a write here is damaged, so that this write cannot be undone; it was set aside"
    return Recorded(writes, tuple(f"{place}: {words}" for place in journal.damaged(top)))


def _applied(top: Path, journal: Journal) -> tuple[AppliedWrite, ...]:
    undone: dict[str, bool] = {}
    writes: dict[str, AppliedWrite] = {}
    for record in journal.writes(top):
        # The newest record about a write decides, be it its own or that of a reversal.
        undone.setdefault(record.undoes or record.redoes or record.id, bool(record.undoes))
        if not (record.undoes or record.redoes):
            names = (*_names(record, top).values(), *(_shown(folder.place, top) for folder in record.folders))
            writes[record.id] = AppliedWrite(record, names, undone[record.id])
    return tuple(writes[one] for one in undone if one in writes)


def _with_gone(write: AppliedWrite) -> AppliedWrite:
    files = () if write.is_undone or write.record.target.is_index else write.record.files
    try:
        return replace(write, is_gone=bool(files) and all(current(file) == file.old for file in files))
    except OSError:
        return write


def undo(folder: Path, *, write: str = "", is_redo: bool = False, journal: Journal | None = None) -> Plan:
    """Plan to restore the old bytes of a write, or the new ones again, if no file was changed since.

    The write is named by its id; "" for the one that was written or applied again last, or for a redo undone last.

    Raises:
        ConfigurationError: There is no such write here, or a file cannot be read.
        StaleLockFileError: Files changed since, which are named.
        RepositoryError: Git failed.
    """
    top = top_of(folder)
    writes = _applied(top, journal or Journal())
    record = _selected(writes, top, write, is_redo=is_redo)
    try:
        if record.folders:
            return _of_folders(record, top, write, is_redo=is_redo)
        return _of_files(record, writes, top, write, is_redo=is_redo)
    except StaleLockFileError as error:
        if not (write or is_redo) and any(each.record is not record and not each.is_undone for each in writes):
            earlier = "`locklens undo ID` undoes an earlier one, of those that `locklens undo --list` shows"
            error.hint = "; ".join(filter(None, (error.hint, earlier)))
        raise


def _of_files(record: Record, writes: Sequence[AppliedWrite], top: Path, write: str, *, is_redo: bool) -> Plan:
    """Plan to restore the files of a write, or to write them again."""
    names = _names(record, top)
    target = record.target
    before = {file: file.old if is_redo else file.new for file in record.files}
    title = _subject(record) or _short(record.shown)
    refusal = f"so that {title!r} of {_moment(record)} cannot be {'redone' if is_redo else 'undone'}"
    if target.is_index:
        changed = _changed_in_index(top, {names[file]: data for file, data in before.items()}, is_redo=is_redo)
    else:
        touched = [names[file] for file, data in before.items() if not _has_bytes(file, data, names[file])]
        later = () if is_redo or not touched else _later_writes(writes, record)
        if touched and not is_redo and all(_has_bytes(file, file.old, names[file]) for file in record.files):
            changed = _Changed(touched, "reverted since", _NOTHING_LEFT)
        elif later:
            changed = _Changed(
                touched, hint=f"undo what locklens wrote there since, from the newest on: {_listed(later)}"
            )
        else:
            changed = _Changed(touched, hint=_hint_on_disk(top, touched))
    if changed.paths:
        # What stands in the way of a redo is not its own change, and may be in no commit.
        hint = f"the same change of the files as they are now: {record.command}" if is_redo else changed.hint
        raise StaleLockFileError(f"{_listed(changed.paths)}: {changed.how}, {refusal}", hint=hint)
    draft = PlanBuilder(top, target, _describing(target, is_redo=is_redo))
    reverted: dict[str, list[ProviderAddress]] = {}
    for file, data in before.items():
        planned = PlannedFile(names[file], data, file.new if is_redo else file.old)
        draft.put(planned)
        changes = [*_changes(planned)]
        reverted[planned.path] = [change.address for change in changes]
        draft.changes += changes
        for words, dry_run in _of_conflicts(planned):
            draft.describe(f"{planned.path}: {words}", dry_run=f"{planned.path}: {dry_run}")
            if words == _RESOLVED_AGAIN and _is_unmerged(planned.path, top):
                note_next_step(draft, planned.path)
    if not target.is_index:
        warn_of_staged(draft, reverted)
    change = f"the change applied on {_moment(record)}: {_subject(record) or record.shown}"
    verbs = ("reapplies", "would reapply") if is_redo else ("reverts", "would revert")
    draft.describe(f"{verbs[0]} {change}", dry_run=f"{verbs[1]} {change}")
    plan = draft.plan(_command(top, write, is_redo=is_redo))
    reversal = {"redoes": record.id} if is_redo else {"undoes": record.id}
    return replace(plan, proposal=replace(plan.proposal, **reversal, tool=DIALECTS.get(record.tool)))


def _is_unmerged(path: str, top: Path) -> bool:
    """True if git's index still has both sides of a file."""
    with repository_at(top) as repository:
        return unmerged(path, repository) is not None


def _describing(target: WriteTarget, *, is_redo: bool) -> Callable[..., str]:
    """Return the function that describes a change: one of the index is no change of the provider's version."""
    if not target.is_index:
        return change_words
    from locklens.operations.write.stage import staged_words, unstaged_words

    return staged_words if is_redo else unstaged_words


def _of_folders(record: Record, top: Path, write: str, *, is_redo: bool) -> Plan:
    """Plan to put folders back, or to replace them again."""
    folders = record.folders if is_redo else tuple(map(reversed_folder, reversed(record.folders)))
    require_as_planned(folders)
    change = f"the change applied on {_moment(record)}: {_subject(record) or record.shown}"
    words = (f"{'reapplies' if is_redo else 'reverts'} {change}",)
    undoes, redoes = ("", record.id) if is_redo else (record.id, "")
    command = _command(top, write, is_redo=is_redo)
    changes = FileChanges(top, (), words, command, undoes=undoes, redoes=redoes, folders=folders)
    return Plan(changes, dry_run_words=words)


def _selected(writes: Sequence[AppliedWrite], top: Path, write: str, *, is_redo: bool) -> Record:
    """Return the record of the write to revert, or to apply again.

    Raises:
        ConfigurationError: There is none.
    """
    verb = "redo" if is_redo else "undo"
    listed = "locklens undo --list shows the applied writes"
    if write:
        found = next((each for each in writes if each.id == write), None)
        if found is None:
            raise ConfigurationError(f"no applied write {write!r} here", path=str(top), hint=listed)
        if found.is_undone is not is_redo:
            state = "undone already" if found.is_undone else "not undone"
            raise ConfigurationError(f"nothing to {verb}: the write {write} is {state}", path=str(top), hint=listed)
        return found.record
    candidates = [each for each in writes if each.is_undone is is_redo]
    if not candidates:
        hint = "locklens undo --redo applies an undone write again" if writes and not is_redo else ""
        raise ConfigurationError(f"nothing to {verb} here", path=str(top), hint=hint)
    return candidates[0].record


def _later_writes(writes: Sequence[AppliedWrite], record: Record) -> tuple[str, ...]:
    """Return the later writes, each with its time, that made all that changed in the files since a write; () else."""
    later = [each for each in takewhile(lambda each: each.id != record.id, writes) if not each.is_undone]
    undone: list[AppliedWrite] = []
    state = {file.place: current(file) for file in record.files}
    for each in later:
        files = [one for one in each.record.files if one.place in state and not each.record.target.is_index]
        if files and all(state[one.place] == one.new for one in files):
            state |= {one.place: one.old for one in files}
            undone.append(each)
    if state != {file.place: file.new for file in record.files}:
        return ()
    return tuple(f"{each.title!r} of {each.moment}" for each in undone)


def _names(record: Record, top: Path) -> dict[WrittenFile, str]:
    """Return the name of each file, relative to the repository's top."""
    real_top = os.path.realpath(top)
    return {file: os.path.relpath(file.path, real_top).replace(os.sep, "/") for file in record.files}


def _shown(place: str, top: Path) -> str:
    """Return a path relative to a top that it is below."""
    return os.path.relpath(place, os.path.realpath(top)) if is_within(os.path.realpath(top), place) else place


def _listed(paths: Sequence[str]) -> str:
    more = len(paths) - _NAMED
    return ", ".join(paths[:_NAMED]) + (f" and {more} more" if more > 0 else "")


_NOTHING_LEFT = "nothing of it is left to undo"


class _Changed(NamedTuple):
    """The files that are not as a write left them.

    Attributes:
        paths: Relative to the repository's top; none if all are as they were.
        how: What became of them since, a participle.
        hint: What to do instead.
    """

    paths: Sequence[str]
    how: str = "changed since"
    hint: str = ""


def _hint_on_disk(top: Path, touched: Sequence[str]) -> str:
    """Return what to do where files on disk changed: git reverts what it tracks, as far as it is not staged."""
    from locklens.project.git import Repository

    by_hand = "undo needs each file as the write left it: revert by hand what was changed since, and undo again"
    try:
        with Repository.discover(top) as repository:
            index, disk = repository.index, FileSystem(top)
            for path, staged in index.read(touched).items():
                now = disk.read(path)
                if staged.data is None or staged.data == (now and index.as_committed(now, staged.data, path)):
                    return by_hand
    except RepositoryError:  # also where there is none
        return by_hand
    return "git diff shows what is not staged; git restore reverts all of that, this write too unless it was staged"


def _changed_in_index(top: Path, staged: Mapping[str, bytes | None], *, is_redo: bool) -> _Changed:
    """Return the files, by path, whose content in the index is another one, or that were committed as they are there.

    Args:
        top: The repository's top.
        staged: What the write left in the index, or what a redo needs there.
        is_redo: True if what is committed does not matter.
    """
    from locklens.project.git import Repository
    from locklens.project.gittree import RevisionTree

    with Repository.discover(top) as repository:
        indexed = {path: one.data for path, one in repository.index.read(tuple(staged)).items()}
        head = None if repository.is_unborn else RevisionTree(repository, repository.resolve("HEAD"))
        kept = {path: head.read(path) if head is not None else None for path in staged}
    touched = [path for path, data in staged.items() if indexed[path] != data]
    if is_redo:
        return _Changed(touched)
    committed = [path for path, data in staged.items() if head is not None and kept[path] == data]
    left = [path for path in staged if path not in {*touched, *committed}]
    git = ("restore", "--staged") if head is not None else ("rm", "--cached")
    rest = f"{shell_words(git_words(top, *git, paths=left))} unstages the rest" if left else ""
    if committed:
        hint = f"git log -- {shell_word(committed[0])} names the commit, which git revert undoes"
        return _Changed(committed, "committed since", "; ".join(filter(None, (hint, rest))))
    if all(indexed[path] == kept[path] for path in touched):
        return _Changed(touched, "no longer staged", rest or _NOTHING_LEFT)
    return _Changed(touched, hint=f"git diff --cached shows what is staged; git {' '.join(git)} unstages all of a file")


def top_of(folder: Path) -> Path:
    """Return the top of a folder's repository, or the folder itself without one."""
    from locklens.project.git import Repository

    try:
        return Repository.top_of(folder)
    except NoRepositoryError:
        return Path(os.path.realpath(folder))


def _has_bytes(file: WrittenFile, data: bytes | None, name: str) -> bool:
    try:
        return current(file) == data
    except OSError as error:
        reason = reason_of(error)
        raise ConfigurationError(f"cannot be read: {reason}", path=name) from error


def _command(top: Path, write: str, *, is_redo: bool) -> str:
    from locklens.operations.plan import Scope, command_line

    words = [*([write] if write else []), *(["--redo"] if is_redo else [])]
    return command_line("undo", Scope.at(top, (), RootSettings()), words)


def _subject(record: Record) -> str:
    """Return the first line of the commit message, after "Stage" for what was staged, or what was done to a folder.

    What was staged without a message is named by its files. It is "" for any other write without a message.
    """
    for folder in record.folders:
        return _folder_title(_shown(folder.place, Path(os.fsdecode(record.top))), has_copy=folder.source != "")
    subject = record.message.partition("\n")[0]
    if not record.target.is_index:
        return subject
    names = _names(record, Path(os.fsdecode(record.top))).values()
    return f"Stage: {subject}" if subject else f"Stage changes of {listing(list(names), _NAMED)}"


def _folder_title(shown: str, *, has_copy: bool) -> str:
    """Return what a write does to a folder, in a few words."""
    return f"{'Replace' if has_copy else 'Move aside'} {shown}"


def _short(command: str) -> str:
    """Return the beginning of a command line that fits into a sentence."""
    return command if len(command) <= _COMMAND_SHOWN else f"{command[:_COMMAND_SHOWN]} …"


def _moment(record: Record) -> str:
    """Return the time of a write, to the minute."""
    day, _, time = record.at.partition("T")
    return f"{day} {time[:5]} UTC"


def _of_conflicts(file: PlannedFile) -> Iterator[tuple[str, str]]:
    """Yield what becomes of the conflict that a lock file has before or afterwards, also in the conditional."""
    if os.path.basename(file.path) != LOCK_FILE:  # noqa: PTH119
        return
    had, has = (parse(data or b"", file.path).conflict is not None for data in (file.old, file.new))
    if has and not had:
        yield "the conflict is back", "the conflict would be back"
    elif had and not has:
        yield _RESOLVED_AGAIN, "the conflict would be resolved again"


def _changes(file: PlannedFile) -> Iterator[PlannedChange]:
    """Yield the changes of providers in a lock file; none where a side cannot be read."""
    if os.path.basename(file.path) != LOCK_FILE:  # noqa: PTH119
        return
    old, new = (parse(data or b"", file.path) for data in (file.old, file.new))
    if not (old.is_valid and new.is_valid):
        return
    yield from changes_between(file.path.rpartition("/")[0], old, new, new.writer or old.writer)


class Undo(FileOperation, frozen=True):
    """Reverts a write in the repository of a folder, or applies it again; see `undo`.

    Attributes:
        named: The title of the write; "" where it is not known before it is looked up.
    """

    folder: Path
    write: str = ""
    is_redo: bool = False
    named: str = ""

    @property
    def title(self) -> str:
        """A short title."""
        verb = "Redo" if self.is_redo else "Undo"
        return f"{verb}: {self.named}" if self.named else f"{verb} {self.write or 'the newest write'}"

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:  # noqa: ARG002
        """Plan the reversal."""
        return undo(self.folder, write=self.write, is_redo=self.is_redo)


_FILES_NAMED = 8


class ReplaceFolder(FileOperation, frozen=True):
    """Puts a copy in the place of a package's folder; the old folder is kept aside.

    Attributes:
        here: The current folder.
        place: The folder of the package.
        base: The folder that it must not lead out of: the repository, the plugin cache or the mirror.
        source: The copy that the lock file accepts; "" to move the old folder aside alone.
        locked: The hashes of the lock file's entry: the copy has to have one of them.
        next_step: The command that fetches the package again where there is no copy.
    """

    here: Path
    place: str
    base: str
    source: str
    locked: tuple[str, ...]
    next_step: str = ""

    @property
    def title(self) -> str:
        """A short title."""
        return _folder_title(self._shown(self.place), has_copy=bool(self.source))

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan the replacement: nothing is moved before the hash and the differing files of what is there are noted.

        Raises:
            ConfigurationError: The copy is none that the lock file accepts, or there is nothing to do.
        """
        on_root(self._shown(self.place))
        old, new = state_of(self.place), state_of(self.source) if self.source else ABSENT
        if self.source and new not in self.locked:
            raise ConfigurationError(f"is no copy that the lock file accepts: {new}", path=self._shown(self.source))
        if old == new:
            raise ConfigurationError("is as it should be: nothing to replace", path=self._shown(self.place))
        aside = self._aside() if old != ABSENT else ""
        words = [*self._of_old(old, aside), *self._of_new(new)]
        folder = MovedFolder(self.place, old, new, self.base, aside, self.source)
        changes = FileChanges(top_of(self.here), (), tuple(words), self._command(aside), folders=(folder,))
        return Plan(changes, dry_run_words=tuple(words))

    def _of_old(self, old: str, aside: str) -> list[str]:
        if old == ABSENT:
            return []
        place = self._shown(self.place)
        link = f", a link to {os.readlink(self.place)}," if os.path.islink(self.place) else ""  # noqa: PTH114, PTH115
        is_locked = "is locked" if old in self.locked else "is not locked"
        words = [f"{place}{link} is moved aside to {self._shown(aside)}", f"it is {old}, which {is_locked}"]
        if self.source:
            differing = differing_files(Path(os.path.realpath(self.place)), Path(os.path.realpath(self.source)))
            if differing:
                words.append(f"compared with the accepted copy: {listing(list(differing), _FILES_NAMED)}")
        return words

    def _of_new(self, new: str) -> list[str]:
        if self.source:
            return [f"a copy of {self._shown(self.source)} takes its place: {new}, which is locked"]
        return [f"nothing is fetched here: {self.next_step} does that next"] if self.next_step else []

    def _aside(self) -> str:
        """Return a name beside the place that is free; the tools take no such name for a platform."""
        name = name_aside(self.place)
        if os.path.lexists(name):
            words, hint = f"{MOST_ASIDE} folders are kept aside already", "look at them, and remove those not needed"
            raise ConfigurationError(words, path=self._shown(self.place), hint=hint)
        return name

    def _command(self, aside: str) -> str:
        start = shell_folder()
        place = _below(start, self.place)
        moved = ["mv", "--", place, _below(start, aside)] if aside else ["mkdir", "-p", "--", str(Path(place).parent)]
        source = f"{_below(start, os.path.realpath(self.source))}/"
        copied = shell_words(["cp", "-R", "--", source, place]) if self.source else ""
        return " && ".join(filter(None, (shell_words(moved), copied)))

    def _shown(self, place: str) -> str:
        """Return a path relative to the current folder where it is below it."""
        return _below(self.here, place)


def _below(folder: str | os.PathLike[str], place: str) -> str:
    """Return a path relative to a folder where it is below it; else as it is."""
    below = os.path.relpath(place, folder)
    return place if below.startswith("..") else below.replace(os.sep, "/")
