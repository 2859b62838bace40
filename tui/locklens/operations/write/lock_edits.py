"""Edits of lock files that are planned from files alone: prune, format, and restore from a revision."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import twin_of
from locklens.errors import ConfigurationError
from locklens.lockfile.moves import moves_between
from locklens.lockfile.parse import parse
from locklens.lockfile.render import deviations, render
from locklens.operations.plan import Plan, Scope, command_line, joined_plans, shown_revision
from locklens.operations.plan.builder import (
    ScopedPlanBuilder,
    put_entries,
    require_sound,
    require_valid,
    warn_of_staged,
)
from locklens.operations.root_modules import lock_path
from locklens.operations.typed_names import selected_by_root
from locklens.operations.write.apply import FileOperation, listed_providers, listed_roots, no_progress
from locklens.project import LOCK_FILE, is_lock_file
from locklens.project.moved_roots import OldFolder
from locklens.project.revision_paths import path_from_top, split_revision
from locklens.project.root_search import old_folders
from locklens.project.tree import folder_of
from locklens.text import listing, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import LockEntry, LockFile
    from locklens.operations.root_modules import Root


class Prune(FileOperation, frozen=True):
    """Removes locked providers that nothing requires; `providers` are those to remove, () for all orphans."""

    where: Scope
    providers: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """A short title."""
        return f"Prune {listed_providers(self.providers) or 'orphans'} in {listed_roots(self.where.roots)}"

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan to remove the providers.

        Where part of the configuration cannot be read (an unfetched module, a remote state), a provider is
        kept and noted, unless it is one of `providers`.

        Raises:
            ConfigurationError: One of `providers` is invalid, or a folder is not a root.
            RepositoryError: Git failed.
        """
        draft = ScopedPlanBuilder(self.where)
        selected = selected_by_root(self.providers, draft.roots)
        for root in draft.roots:
            on_root(root.path)
            with draft.attempt(root.path):
                require_sound(root)
                _prune_root(draft, self.where, root, selected[root.path] if self.providers else None)
        return draft.plan(command_line("prune", draft.planned(self.where), self.providers))


def _prune_root(draft: ScopedPlanBuilder, where: Scope, root: Root, named: frozenset[ProviderAddress] | None) -> None:
    required = root.configuration.required()
    migrating = {old for old, new in root.migration.moved if new in required}
    orphans = [entry for entry in root.lock.entries if entry.address not in required | migrating]
    reason = root.configuration.unknown_reason
    entries: dict[ProviderAddress, LockEntry | None] = {}
    if named is None:
        if not root.configuration.has_files:
            words = f"could not determine what is required: {reason}"
            raise ConfigurationError(words, path=root.path or ".", hint="name the providers to remove")
        if reason:
            words = f"kept: not required by what could be read of the configuration ({reason})"
            for entry in orphans:
                name = root.name_of(entry.address)
                own = tuple(one for one in where.roots if draft.paths[one] == root.path)
                removing = command_line("prune", replace(where, roots=own[:1]), [name])
                draft.note(root.path, f"{words}; `{removing}`, which names it, removes it", address=name)
        else:
            entries = {entry.address: None for entry in orphans if not root.configuration.unknown_need(entry.address)}
            for entry in orphans:
                if words := root.configuration.unknown_need(entry.address):
                    draft.warn(root.path, f"kept: {words}", address=root.name_of(entry.address))
    else:
        for address in sorted(named):
            if (error := _not_prunable(root, address)) is not None:
                draft.fail(root.path, error, address=root.name_of(address))
            elif (words := root.configuration.unknown_need(address)) and not reason:
                hint = "a run in that workspace locks it again, and fails with -lockfile=readonly"
                draft.warn(root.path, words, address=root.name_of(address), hint=hint)
        entries = dict.fromkeys(named)
    put_entries(draft, root, entries)
    if not entries and not (named is None and orphans):
        draft.note(root.path, "nothing to prune")


def _not_prunable(root: Root, address: ProviderAddress) -> ConfigurationError | None:
    """Return why a named provider cannot be pruned; None if it can."""
    name = root.name_of(address)
    requirements = root.configuration.of(address)
    if requirements:
        first = requirements[0]
        hint = "remove the requirement first"
        return ConfigurationError(f"{name} is required here", path=first.file, line=first.line, hint=hint)
    if address not in root.lock.by_address:
        return ConfigurationError(f"{name} is not locked", path=root.lock.path)
    return None


class Format(FileOperation, frozen=True):
    """Rewrites lock files in the format of their tool."""

    where: Scope

    @property
    def title(self) -> str:
        """A short title."""
        return f"Format the lock file of {listed_roots(self.where.roots)}"

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan to write lock files in their tool's format: order, spacing, line ends; comments are lost.

        Raises:
            ConfigurationError: A folder is not a root.
            RepositoryError: Git failed.
        """
        draft = ScopedPlanBuilder(self.where)
        for root in draft.roots:
            on_root(root.path)
            with draft.attempt(root.path):
                require_sound(root)
                data = render(root.lock.entries, root.lock.writer or root.tool)
                if data == root.lock.data:
                    draft.note(root.path, "already in the tool's format")
                else:
                    name, fixed = root.path or ".", ", ".join(deviations(root.lock))
                    draft.describe(f"{name}: format fixed: {fixed}", dry_run=f"{name}: would fix the format: {fixed}")
                draft.put_lock(root, data)
        return draft.plan(command_line("format", draft.planned(self.where), ()))


_NAMED = 3
"""Lock files in a hint."""


class RestoredProviders(Struct, frozen=True):
    """Providers to restore, and their roots."""

    roots: tuple[str, ...]
    providers: tuple[str, ...]


class Restore(FileOperation, frozen=True):
    """Restores entries from the lock files of a revision.

    Attributes:
        where: The folder that the roots are relative to; `Scope.roots` is ignored.
        restored: The providers of each root; each root occurs once.
        revision: A revision of git, or a lock file in one, `REV:PATH`, for a single root.
    """

    where: Scope
    restored: tuple[RestoredProviders, ...]
    revision: str = "HEAD"

    @property
    def title(self) -> str:
        """A short title."""
        roots = [root for restored in self.restored for root in restored.roots]
        providers = tuple(dict.fromkeys(name for restored in self.restored for name in restored.providers))
        return f"Restore {listed_providers(providers)} from {shown_revision(self.revision)} in {listed_roots(roots)}"

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan the restoration."""
        return joined_plans(
            [
                restore(replace(self.where, roots=restored.roots), restored.providers, self.revision, on_root=on_root)
                for restored in self.restored
            ]
        )


def restore(
    where: Scope, providers: Sequence[str], revision: str = "HEAD", *, on_root: Callable[[str], None] = no_progress
) -> Plan:
    """Plan to restore entries from the lock file of a revision; entries that the revision lacks are removed.

    A provider that moved to another registry since is restored as the one that the revision has.
    It is the one that a review of the work tree compares with, for a root that was moved since, that of its old folder;
    where it is not known which of several that was, nothing is restored. `REV:PATH` names the lock file, for one root.
    A missing lock file is created with these entries. Where no entry differs from the revision's any more, the whole
    file is the revision's, with the line ends that git gives it on checkout. The roots must be in a git repository.

    Raises:
        ConfigurationError: One of `providers` is invalid, a folder is not a root, or a file is named for several roots.
        RepositoryError: There is no repository, or no such revision.
    """
    from locklens.project.git import Repository

    draft = ScopedPlanBuilder(where)
    with Repository.discover(where.folder) as repository:
        name, path = split_revision(revision)
        commit, index = repository.resolve_base(revision if name is None else name), repository.index
        if name is None:
            folders = old_folders(repository, commit, [root.lock.path for root in draft.roots])
        else:
            folders = _named_folder(draft, path_from_top(path, repository.top, where.folder), revision)
        before = {
            root.path: lock_path(folders[root.lock.path].folder) for root in draft.roots if root.lock.path in folders
        }
        files = {path: repository.show(commit, name) for path, name in before.items()}
        others = repository.paths(commit, named=LOCK_FILE) if len(before) < len(draft.roots) else ()
    at = visible(revision if name is None else name)
    locks = {path: parse(data, f"{at}:{before[path]}") for path, data in files.items() if data is not None}
    roots = [
        replace(root, others=frozenset(locks[root.path].by_address) if root.path in locks else frozenset())
        for root in draft.roots
    ]
    typed = selected_by_root(providers, roots)
    selected = {
        root.path: _paired(typed[root.path], locks[root.path], root.lock) for root in roots if root.path in locks
    }
    moved = [root for root in roots if before.get(root.path, root.lock.path) != root.lock.path]
    for root in roots:
        on_root(root.path)
        with draft.attempt(root.path):
            lock = locks.get(root.path)
            if lock is None:
                words = f"{visible(revision)} has no such file, so there is nothing to restore"
                hint = "delete the file to go back to no lock file, or name another revision with --from"
                if gone := [path for path in others if draft.disk.read(path) is None]:
                    named = f"{visible(revision)} has {listing(gone, _NAMED)}, not on disk any more"
                    hint = f"{named}: if the root was moved, name its file with --from {visible(revision)}:PATH"
                raise ConfigurationError(words, path=root.lock.path, hint=hint)
            path = before[root.path]
            if unlike := folders[root.lock.path].unlike:
                named = listing([path, *map(lock_path, unlike)], _NAMED)
                words = f"{visible(revision)} has {named}, and neither files nor names tell which was of this root"
                hint = f"name it with --from {visible(revision)}:PATH; git show {visible(revision)}:PATH prints each"
                raise ConfigurationError(words, path=root.lock.path, hint=hint)
            where_broken = f"the lock file is broken in {visible(revision)}, so nothing of it can be restored"
            require_valid(lock, hint=f"{where_broken}: name another revision with --from")
            if not _is_replaceable(root.lock, lock, selected[root.path]):
                require_valid(root.lock, hint=root.merging or (_WHOLE if root.lock.data else ""))
            if path != root.lock.path and name is None:
                # The same sentence of many roots is shown once.
                equal = ", or an equal one in another folder" if folders[root.lock.path].equals else ""
                place = f"at {path}{equal}, " if len(moved) <= _NAMED else "in the folder "
                draft.note(root.path, f"{visible(revision)} has its lock file {place}from where the root was moved")
            _restore_root(draft, root, lock, selected[root.path], partial(index.as_checked_out, commit, path))
    sound = [root for root in roots if not draft.has_failed(root.path)]
    chosen = {root.lock.path: selected[root.path] for root in sound if selected.get(root.path)}
    warn_of_staged(draft, {path: {*pairs, *pairs.values()} for path, pairs in chosen.items()})
    arguments = [*providers, *(["--from", revision] if revision != "HEAD" else [])]
    return replace(draft.plan(command_line("restore", draft.planned(where), arguments)), restored_from=revision)


def _named_folder(draft: ScopedPlanBuilder, path: str | None, revision: str) -> dict[str, OldFolder]:
    """Return the folder of the lock file that `REV:PATH` names, for the one root that is restored from it."""
    if path is None or not is_lock_file(path):
        raise ConfigurationError(f"names no {LOCK_FILE} of the repository", path=visible(revision))
    if len(draft.roots) > 1:
        hint = "restore one root at a time from a file, or name the revision alone"
        raise ConfigurationError("a lock file is of one root, and several are named", path=visible(revision), hint=hint)
    return {root.lock.path: OldFolder(folder_of(path), 0, ()) for root in draft.roots}


_WHOLE = "fix the file first, or name every provider of the revision's file, which is restored as a whole then"


_Selected = dict["ProviderAddress", "ProviderAddress"]
"""The providers to restore by their address in the revision: the address now, another one of those that moved since."""


def _paired(named: frozenset[ProviderAddress], then: LockFile, now: LockFile) -> _Selected:
    """Return the named providers; whichever address of one that moved was named, it is that one.

    One that is locked neither then nor now may be locked as that of the other tool's registry.
    """
    moved = moves_between(then, now)
    origins = {new: old for old, new in moved.items()}
    for address in named - then.by_address.keys() - now.by_address.keys():
        twin = twin_of(address)
        if twin is not None and twin in then.by_address:
            origins[address] = twin
    addresses = sorted(origins.get(address, address) for address in named)
    return {address: moved.get(address, address) for address in addresses}


def _is_replaceable(now: LockFile, then: LockFile, selected: _Selected) -> bool:
    """True for a file that cannot be parsed, where every entry of the revision is restored: that is the whole file."""
    return bool(now.problems and now.data) and now.conflict is None and selected.keys() >= then.by_address.keys()


def _restore_root(
    draft: ScopedPlanBuilder, root: Root, lock: LockFile, selected: _Selected, checked_out: Callable[[], bytes]
) -> None:
    entries: dict[ProviderAddress, LockEntry | None] = {}
    now, then = root.lock.by_address, lock.by_address
    problems, data = root.lock.problems, root.lock.data
    for address, current in selected.items():
        name, entry = root.name_of(address), then.get(address)
        if current not in now and entry is None:
            words = f"{name} is locked neither now nor in {lock.path}"
            draft.fail(root.path, ConfigurationError(words, path=root.lock.path), address=name)
        elif address in now and entry is not None and now[address].written == entry.written:
            if not problems:
                draft.note(root.path, f"already as in {lock.path}", address=name)
        else:
            entries[address] = entry
            constraints = root.configuration.constraints(address)
            if entry is not None and root.configuration.of(address) and not constraints.admits(entry.version):
                words = f"{entry.version} does not satisfy {constraints}"
                draft.note(root.path, words, address=name)
    moved = {address: current for address, current in selected.items() if current != address}
    if not problems:
        put_entries(draft, root, entries, moved=moved)
    after = {**now, **dict.fromkeys(moved.values()), **entries}
    left = {address: entry.written for address, entry in after.items() if entry is not None}
    if left == {address: entry.written for address, entry in then.items()}:
        # The header, which names the tool, and comments come back with the last entry.
        whole = checked_out()
        draft.put_lock(root, whole)
        name = root.path or "."
        if problems:
            line = f"{name}: the whole file is restored, since it could not be parsed"
            draft.describe(line, dry_run=line.replace("is restored", "would be restored"))
        elif not entries and whole != data:
            line = f"{name}: lines outside of the entries are restored"
            draft.describe(line, dry_run=line.replace("are", "would be"))
    if now.keys() - left.keys():
        _warn_of_unlocked(draft, root)


def _warn_of_unlocked(draft: ScopedPlanBuilder, before: Root) -> None:
    """Warn of required providers of a root that the plan leaves unlocked, and that were locked before."""
    after = draft.root(before.path)  # by the rules of the tool that the restored file names
    unlocked, already = (one.configuration.required() - one.lock.by_address.keys() for one in (after, before))
    for address in sorted(unlocked - already):
        first = after.configuration.of(address)[0]
        words = f"required at {first.file}:{first.line}, and not locked any more"
        draft.warn(before.path, words, address=after.name_of(address), hint="locklens lock locks what is required")
