"""The roots of a repository that a log fits: by the folders that it names, or by all that it tells of its run."""

from __future__ import annotations

import os
import posixpath
import re
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from locklens.addresses import AddressError, ProviderAddress
from locklens.dialect import DIALECTS, TERRAFORM, twin_of
from locklens.doctor import may_read, taken_over
from locklens.doctor.fixed import OF_HASHES, OF_REQUIREMENTS
from locklens.doctor.messages import LOCKLENS, MODULE_MISSING, OF_LACKING
from locklens.doctor.redacting import redacted
from locklens.lockfile.parse import parse
from locklens.operations.doctor import changed_at
from locklens.operations.doctor.history import LockHistory
from locklens.operations.doctor.later_writes import LaterWrites
from locklens.operations.doctor.masked import MASK, unmasked
from locklens.operations.root_modules import (
    Root,
    RootReader,
    folders_with_locks,
    lock_path,
    read_lock,
    with_sides_of_git,
)
from locklens.project.folders import TooManyFoldersError, walk
from locklens.project.gittree import RevisionTree
from locklens.project.lock_history import PAST_COMMITS
from locklens.project.tree import OverlayTree, folder_of
from locklens.versions import Constraints

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from locklens.dialect import Dialect
    from locklens.doctor.messages import ReadLog, RecognisedError
    from locklens.lockfile import LockEntry, LockFile
    from locklens.operations.doctor import DoctorRequest
    from locklens.operations.doctor.checkout import Checkout
    from locklens.project.tree import Tree

    class _Fits(Protocol):
        def __call__(self, path: str, error: RecognisedError, *, is_other: bool) -> bool: ...


_MOST_READ = 200
"""The most roots whose configuration is read to find the one that requires a provider that none locks."""

_OF_UNLOCKED = frozenset({"not-locked", "provider-unknown", "no-matching-release"})
"""Errors about a provider that the lock file does not have, or need not have."""

_RECENT_COMMITS = 10
"""The most commits before HEAD that are read for a requirement which no root has any more."""

_MOST_FOLDERS = 5_000
"""The most folders that are searched for roots without a lock file."""

_MOST_PARTS = 30
"""The most names of a path in a log that are compared with folders here, the last ones."""

_PLAIN_FOLDER = re.compile(r"[\w.][\w./-]*")
"""A relative path without variables."""


class LogRoots:
    """Finds the roots that the errors of a log are of; reads each root and each lock file once.

    Attributes:
        read: The log, with the names that a CI system masked as far as one locked provider fits.
        history: The lock files of earlier commits.
        writes: What locklens wrote into lock files later than the log.
    """

    def __init__(self, request: DoctorRequest, read: ReadLog, checkout: Checkout) -> None:
        self._request = request
        self._checkout = checkout
        self._tool = request.tool or DIALECTS.get(read.facts.tool)
        self._reader = RootReader(replace(request, tool=self._tool), environ=request.environ)
        self._roots: dict[str, Root] = {}
        self._locks: dict[str, LockFile] = {}
        self.history = LockHistory(checkout.repository)
        self.writes = LaterWrites(checkout.top, request.logged, self.history)
        self._fitting_roots: dict[RecognisedError, list[str]] = {}
        entries = (entry for path in checkout.locks for entry in self.lock(path).entries)
        self.read = unmasked(read, entries, self._tool_of)

    def _tool_of(self, error: RecognisedError) -> Dialect | None:
        """Return the tool that was named, else that of an error's run; None for unknown."""
        return self._tool or DIALECTS.get(error.tool)

    def root(self, path: str) -> Root:
        """Return the root in a folder, relative to the top, with its configuration; an empty one without files."""
        if path not in self._roots:
            root, repository = self._reader.read_folder(self._checkout.tree, path), self._checkout.repository
            if root.lock.conflict is not None and repository is not None:
                root = replace(root, lock=with_sides_of_git(root.lock, repository, root.tool))
            self._roots[path] = root
        return self._roots[path]

    def lock(self, path: str) -> LockFile:
        """Return the lock file of a folder, without its configuration."""
        if path not in self._locks:
            self._locks[path] = read_lock(self._checkout.tree, lock_path(path), self._tool, is_replaced=True)
        return self._locks[path]

    @cached_property
    def _deleted(self) -> dict[str, LockFile]:
        """The lock files that HEAD has and the work tree lacks, by the folder of a root that is still there."""
        repository = self._checkout.repository
        if repository is None or repository.is_unborn:
            return {}
        head = RevisionTree(repository, repository.resolve("HEAD"))
        gone = [path for path in folders_with_locks(repository, head) if path not in self._checkout.locks]
        return {path: read_lock(head, lock_path(path), self._tool) for path in gone if self.has_root(path)}

    @property
    def _lock_folders(self) -> tuple[str, ...]:
        """The roots with a lock file, and those whose lock file was deleted since the last commit."""
        return tuple(sorted((*self._checkout.locks, *self._deleted)))

    def has_root(self, path: str) -> bool:
        """True if a folder has a lock file or a configuration."""
        root = self.root(path)
        return root.lock.exists or root.configuration.has_files

    def of_folder(self, error: RecognisedError) -> list[str]:
        """Return the root whose folder the log names, if any: of a path on another machine, its end counts.

        Where what a prefix names is none here, such as a container, the folder of the command is.
        """
        named = next(iter(error.folders), "") if error.command == LOCKLENS else ""  # from the top
        if named and self.has_root(own := "" if named == "." else named):
            return [own]
        for name in map(_named_folder, error.folders):
            begins, ends = _ending_like(name, self._checkout.locks), self._at_end_of(name)
            if ends is not None or len(begins) == 1:
                return [ends] if ends is not None else begins
        file = folder_of(error.place)
        return [file] if file and file in self._checkout.locks else []

    def folder_elsewhere(self, error: RecognisedError) -> str:
        """Return the folder that the log names, where none here is or ends like it; "" for any other.

        A variable, a path from the top of another machine, or the name of the repository tells nothing.
        """
        name = os.path.normpath(error.folder).replace(os.sep, "/")
        parts, checkout = name.split("/"), self._checkout
        is_told = (
            _PLAIN_FOLDER.fullmatch(error.folder) and not {".", ".."} & {*parts} and parts[-1] != checkout.top.name
        )
        ends = ["/".join(parts[start:]) for start in range(len(parts))]
        if not is_told or any(
            checkout.tree.has_folder(f"{top}{end}") for end in ends for top in ("", f"{checkout.here}/")
        ):
            return ""
        return "" if any(path.endswith(f"/{name}") for path in self._candidates) else name

    def fitting(self, error: RecognisedError) -> list[str]:
        """Return the roots that an error fits, with all that the log tells of its run besides.

        Of several, those whose paths end with the folder that the log names, where there are any.
        """
        found = self._with_provider(error) if error.provider else self._without_provider(error)
        endings = (_ending_like(name, found) for name in map(_named_folder, error.folders))
        return next(filter(None, endings), found)

    def had_constraint(self, path: str, error: RecognisedError) -> bool:
        """True if a root had the constraints of the message in one of the last commits, or at the log."""
        return any(self._has_constraint(root, error) for root in self._earlier(path))

    def had_requirement(self, path: str, error: RecognisedError, name: str) -> bool:
        """True if a root required a provider, as an error's run names it, in one of the last commits, or at the log."""
        return any(self._requires(root, error, name) for root in self._earlier(path))

    def _earlier(self, path: str) -> Iterator[Root]:
        """Yield a root, with its modules, as it was at the log and in the last commits; equal neighbours once."""
        folders, before = {path}, None
        for tree in self._past_trees:
            revision = tree if isinstance(tree, RevisionTree) else None
            if revision is not None and before is not None and revision.listings(folders) == before:
                continue
            root = self._reader.read_folder(tree, path)
            read = root.configuration
            folders = {path, *map(folder_of, (*read.files, *read.value_files))}
            before = revision.listings(folders) if revision is not None and not read.has_faults else None
            yield root

    def address(self, error: RecognisedError, root: Root) -> ProviderAddress | None:
        """Return the provider of an error in a root, which may be that of the other tool's registry; None for none."""
        address = parsed(error.provider, self._parse_of(error, root))
        twin = twin_of(address)
        if address is None or twin is None:
            return address
        is_locked = error.kind == "plugin-missing" and address in root.lock.by_address  # it is named as it is locked
        is_of_run = is_locked or root.configuration.of(address)
        if error.kind in {"provider-unknown", "plugin-missing"} and not is_of_run:
            return twin if root.configuration.of(twin) else address
        # Terraform, and a run that lacks an entry, do not take the other tool's for their own.
        is_own = self._tool_of(error) is TERRAFORM or error.kind in OF_LACKING
        is_of_twin = address not in root.lock.by_address and twin in root.lock.by_address and not is_own
        return twin if is_of_twin and self.entry(error, root, address) is None else address

    def entry(self, error: RecognisedError, root: Root, address: ProviderAddress | None) -> LockEntry | None:
        """Return the entry that the failing run had of a provider, which OpenTofu may have taken over; None for none.

        Its init does so, without the hashes, which no package can miss then.
        """
        if (own := root.lock.entry(address)) is not None:
            return own
        is_unknown = error.kind == "provider-unknown" and may_read(TERRAFORM, root.path, root.configuration)
        is_taken = not is_unknown and error.kind not in OF_LACKING | OF_HASHES
        return taken_over(address, root.lock, root.tool) if is_taken else None

    def addresses(self, path: str, error: RecognisedError, names: Iterable[str]) -> set[ProviderAddress | None]:
        """Return providers as an error's run names them, else as the tool of a root reads their names."""
        return self._addresses(self.lock(path), error, names)

    def _addresses(self, lock: LockFile, error: RecognisedError, names: Iterable[str]) -> set[ProviderAddress | None]:
        """Return providers as an error's run names them, else as the tool of a lock file reads their names."""
        return {parsed(name, self._dialect(lock, error).parse_source) for name in names}

    def _dialect(self, lock: LockFile, error: RecognisedError) -> Dialect:
        """Return the tool whose spelling a lock file's providers have in an error's run, as far as that is known."""
        return self._tool_of(error) or lock.writer or TERRAFORM

    def _parse_of(self, error: RecognisedError, root: Root) -> Callable[[str], ProviderAddress]:
        """Return what reads the names of an error's run in a root."""
        return (self._tool_of(error) or root.tool).parse_source

    def _at_end_of(self, name: str) -> str | None:
        """Return the longest end of a path that is a root here; None without one."""
        parts = [part for part in name.split("/") if part not in {"", ".", ".."}]
        for start in range(max(0, len(parts) - _MOST_PARTS), len(parts)):
            end = "/".join(parts[start:])
            for path in dict.fromkeys((end, f"{self._checkout.here}/{end}".removeprefix("/"))):
                if path in self._checkout.locks or (self._checkout.tree.has_folder(path) and self.has_root(path)):
                    return path
        return None

    def _without_provider(self, error: RecognisedError) -> list[str]:
        """Return the roots that an error without a provider may be of: of the lock file, or of all that is required."""
        locks, here = list(self._lock_folders), self._checkout.here
        if error.kind == MODULE_MISSING and error.place and not posixpath.isabs(error.place):
            files = {path: posixpath.normpath(posixpath.join(path, error.place)) for path in self._candidates}
            trees = (self._checkout.tree, *self._trees_at_the_log)
            quoted = [path for path, file in files.items() if any(_quotes(tree, file, error) for tree in trees)]
            found = quoted or [path for path, file in files.items() if self._has_call(file, error)]
            return [path for path in found if files[path] in self.root(path).configuration.files] or found
        if not error.reused and not error.searched:
            locks += [here] if here not in locks and self.has_root(here) else []
            return [path for path in locks if self.lock(path).problems] or locks
        found = self._of_the_run(self._candidates, error)
        if any(self._is_listed(path, error) for path in found):
            return found
        reusing = self._reusing(error)
        having = reusing[:_MOST_READ] if error.searched else []
        having = [path for path in having if all(self.had_requirement(path, error, name) for name in error.searched)]
        requiring = [path for path in found if self._is_whole(path, error)]  # it may lock them since the run
        having += [path for path in requiring[:_MOST_READ] if having and self._once_lacked(path, error, error.searched)]
        return having or requiring or reusing or [path for path in found if self._may_have(path, error)]

    def _has_call(self, file: str, error: RecognisedError) -> bool:
        """True if a file has the call of the module that an error shows; any, where it shows none."""
        data = self._checkout.tree.read(file)
        return data is not None and (not error.call or f'module "{error.call}"'.encode() in data)

    def _once_lacked(self, path: str, error: RecognisedError, names: Iterable[str]) -> bool:
        """True if the lock file of a root had none of some providers in a commit, so that it may lock them since."""
        searched = self.addresses(path, error, names)
        lacked = lambda lock: lock.exists and lock.is_complete and not searched & set(lock.by_address)  # noqa: E731
        return self.history.last_where(lock_path(path), lacked) != ""

    def _may_have(self, path: str, error: RecognisedError) -> bool:
        """True if a root locks or requires all that the run took from its lock file, as far as is known."""
        root = self.root(path)
        known = {*root.lock.by_address, *root.configuration.required()}
        return not root.configuration.complete or self.addresses(path, error, error.reused) <= known

    def _with_provider(self, error: RecognisedError) -> list[str]:
        """Return the roots that an error about a provider fits, with all that the log tells of its run."""
        fitting, here = self._fitting(error), self._checkout.here
        if not fitting and self.has_root(here) and not self.root(here).configuration.complete:
            return [here]  # what it requires is not all known
        return self._of_the_run(self._of_other_errors(fitting, error), error)

    def _reusing(self, error: RecognisedError) -> list[str]:
        """Return the roots that lock what the run took from its lock file, and nothing that it lacked."""
        more, equal = list[str](), list[str]()
        for path in self._checkout.locks:
            reused, searched = (self.addresses(path, error, names) for names in (error.reused, error.searched))
            locked = set(self.lock(path).by_address)
            if reused <= locked and not searched & locked:
                more.append(path)
                equal += [path] if reused == locked else []
        return equal or more

    def _fitting(self, error: RecognisedError) -> list[str]:
        """Return the roots that have the entry that an error names, or that require the provider without it."""
        if error not in self._fitting_roots:
            self._fitting_roots[error] = self._found_fitting(error)
        return self._fitting_roots[error]

    def _found_fitting(self, error: RecognisedError) -> list[str]:
        locks = self._checkout.locks
        if error.kind == "lock-invalid" and (broken := [path for path in locks if self.lock(path).problems]):
            return [path for path in broken if self._fits(path, error)] or broken
        if error.kind in _OF_UNLOCKED or error.provider in error.searched:
            requiring = self._requiring(error)
            if error.constraint and (own := self._constrained(requiring[:_MOST_READ], error)):
                return own
            is_like = self._lacks_just_these if error.kind == "not-locked" else self._is_whole
            requiring = [path for path in requiring[:_MOST_READ] if is_like(path, error)] or requiring
            has_it = partial(self._has_release, error=error, name=error.provider, version=error.version)
            lacking = [path for path in requiring if not all(map(has_it, self._states(path)))]
            if error.kind == "not-locked" and requiring and not lacking:  # one that always locked it did not fail so
                once = [path for path in requiring[:_MOST_READ] if self._once_lacked(path, error, (error.provider,))]
                having = (
                    path
                    for path in self._having_required(error)
                    if self._lacks_just_these(path, error, is_reverted=True)
                )
                lacking = [*having, *once]
            return lacking or requiring
        if error.constraint and error.version:  # it may have locked another version since
            locking = self._locking(replace(error, version=""))
            if own := self._constrained(locking[:_MOST_READ], error):
                return [path for path in own if self._had_version(path, error)] or own
        fitting = self._at_the_run(error) or self._locking(error)
        if error.kind == "provider-not-available":  # of a root that does not lock it, or has not installed it
            fitting = list(dict.fromkeys((*fitting, *self._requiring(error))))
        if not fitting and error.version:
            fitting = self._locking(replace(error, version=""))
        return fitting or self._requiring(error) or [path for path in locks if self.lock(path).problems]

    def _lacks_just_these(self, path: str, error: RecognisedError, *, is_reverted: bool = False) -> bool:
        """True if a root requires all providers that the message lists, and lacks no other: it lists all of its root.

        With `is_reverted` it may have required them. A run of the other tool requires what its own registry has, which
        the root's tool did not lock.
        """
        root = self.root(path)
        required = root.configuration.required()
        if self._tool_of(error) not in {None, root.tool}:
            required = frozenset(twin_of(one) or one for one in required)
        names = [one.provider for one in self.read.errors if (one.run, one.kind) == (error.run, error.kind)]
        told, overridden = (self._parsed_names(path, error, each) for each in (names, error.overridden))
        if not root.configuration.complete:
            return True
        if not required - root.lock.by_address.keys() <= told | overridden:
            return False
        return told <= required or (is_reverted and all(self.had_requirement(path, error, name) for name in names))

    def _locking(self, error: RecognisedError) -> list[str]:
        """Return the roots that lock the provider of an error, else those that lock it in the other tool's registry."""
        return self._in_a_registry(error, self._lock_folders, self._fits)

    def _requiring(self, error: RecognisedError) -> list[str]:
        """Return the roots that require the provider of an error, else those that do of the other tool's registry."""

        def requires(path: str, error: RecognisedError, *, is_other: bool) -> bool:
            return self._requires(self.root(path), error, error.provider, is_other=is_other)

        found = self._in_a_registry(error, self._candidates, requires)
        return found or (self._having_required(error) if error.kind in OF_REQUIREMENTS else [])

    def _in_a_registry(self, error: RecognisedError, paths: Sequence[str], fits: _Fits) -> list[str]:
        """Return the roots that an error fits in its provider's registry, else those that it fits in the other tool's.

        Entries that OpenTofu moves are those of the other registry, unless it has written the file since.
        """
        order = (True, False) if error.kind == "entries-migrated" else (False, True)
        found = ([path for path in paths if fits(path, error, is_other=is_other)] for is_other in order)
        return next(filter(None, found), [])

    def _having_required(self, error: RecognisedError) -> list[str]:
        """Return the roots that required the provider of an error in one of the last commits, and do not lock it."""
        paths = [path for path in self._candidates[:_MOST_READ] if not self._fits(path, error)]
        return [path for path in paths if self.had_requirement(path, error, error.provider)]

    def _at_the_run(self, error: RecognisedError) -> list[str]:
        """Return the roots with a lock file that had all which the log tells of the run: here at its time, else ever.

        An entry that was changed since the log leaves the log with its root.
        """
        if own := self._in_a_registry(error, self._lock_folders, self._had_all):
            return own
        locking = self._locking(replace(error, version=""))[:_MOST_READ]
        had_all = partial(self._has_all, error=error)
        return [path for path in locking if self.history.last_where(lock_path(path), had_all)]

    def _had_version(self, path: str, error: RecognisedError) -> bool:
        """True if a lock file has the version of an error, had it before it was changed since, or in a commit."""
        has_it = partial(self._has_release, error=error, name=error.provider, version=error.version)
        return any(map(has_it, self._states(path))) or self.history.last_where(lock_path(path), has_it) != ""

    def _locked_all(self, path: str, error: RecognisedError, names: Collection[str]) -> bool:
        """True if some state of a lock file has just these providers, each as an error's run names it."""
        return any(self._addresses(lock, error, names) == {*lock.by_address} for lock in self._states(path))

    def _had_all(self, path: str, error: RecognisedError, *, is_other: bool = False) -> bool:
        """True if a lock file has all that the log tells of the run, or had it before it was changed since."""
        return any(self._has_all(lock, error, is_other=is_other) for lock in self._states(path))

    def _states(self, path: str) -> Iterator[LockFile]:
        """Yield the lock file of a root, then those that it had at the log, where it was changed or deleted since."""
        yield self.lock(path)
        yield from filter(None, (self._deleted.get(path),))
        name = lock_path(path)
        logged = self._request.logged
        if logged and changed_at(self._checkout.top / name) >= logged:
            yield from (parse(tree.read(name) or b"", name) for tree in self._trees_at_the_log)

    def _has_all(self, lock: LockFile, error: RecognisedError, *, is_other: bool = False) -> bool:
        """True if a lock file has what the run took from its own: the listed providers, and the versions told."""
        searched = self._addresses(lock, error, error.searched) - {None}
        told = [(name, "") for name in error.reused if MASK not in name]
        told += [(name, version) for name, _, version in (one.partition(" ") for one in error.selected)]
        told += [
            (one.provider, one.version)
            for one in self.read.errors
            if one.run == error.run and one.provider and one.kind not in _OF_UNLOCKED
        ]
        return all(
            self._addresses(lock, error, (name,)) <= searched
            or self._has_release(lock, error, name, version, is_other=is_other)
            for name, version in told
        )

    @cached_property
    def _trees_at_the_log(self) -> tuple[Tree, ...]:
        """The files before locklens wrote any later than the log, and those of the last commit before it."""
        tree, repository, logged = self._checkout.tree, self._checkout.repository, self._request.logged
        before = self.writes.files_before()
        trees: list[Tree] = [OverlayTree(before, tree)] if before else []
        if repository is not None:
            commits = repository.touching(".", PAST_COMMITS)
            last = next((one.commit for one in commits if one.date[:19] <= logged[:19]), "")
            trees += [RevisionTree(repository, last)] if last else []
        return tuple(trees)

    def _of_other_errors(self, paths: list[str], error: RecognisedError) -> list[str]:
        """Return those of some roots that other errors of the run fit too; all where these fit none."""
        for other in self.read.errors:
            if len(paths) > 1 and other.run == error.run and other.provider not in {"", error.provider}:
                fitting = set(self._fitting(other))
                paths = [path for path in paths if path in fitting] or paths
        return paths

    def _of_the_run(self, paths: list[str], error: RecognisedError) -> list[str]:
        """Return those of some roots that the lines before the error fit; all where these lines fit none."""
        if not 1 < len(paths) <= _MOST_READ:
            return paths  # of too many, none is ruled out without its configuration
        if error.constraint:
            paths = self._constrained(paths, error) or paths
        if error.kind == "plugin-missing":  # before init, each locked provider is
            missing = {one.provider for one in self.read.errors if (one.run, one.kind) == (error.run, error.kind)}
            paths = [path for path in paths if self._locked_all(path, error, missing)] or paths
        if error.reused or error.searched:
            paths = [path for path in paths if self._had_all(path, error)] or paths
            listed = [path for path in paths if self._is_listed(path, error)]
            paths = listed or [path for path in paths if self._is_whole(path, error)] or paths
        return paths

    def _constrained(self, paths: Sequence[str], error: RecognisedError) -> list[str]:
        """Return the roots with the constraints of the message: as they are, else before they were edited."""
        if own := [path for path in paths if self._has_constraint(self.root(path), error)]:
            return own
        return [path for path in paths if self.had_constraint(path, error)]

    @cached_property
    def _past_trees(self) -> tuple[Tree, ...]:
        """The files at the log, and those of HEAD and the last commits."""
        repository = self._checkout.repository
        if repository is None or repository.is_unborn:
            return self._trees_at_the_log
        last = (one.commit for one in repository.touching(".", 1 + _RECENT_COMMITS))
        commits = dict.fromkeys((repository.resolve("HEAD"), *last))
        return (*self._trees_at_the_log, *(RevisionTree(repository, one) for one in commits))

    def _has_constraint(self, root: Root, error: RecognisedError) -> bool:
        """True if a root has the constraints that the message names."""
        address = self.address(error, root)
        if address is None:
            return False
        try:
            wanted = frozenset(map(str, Constraints.parse(error.constraint).terms))
        except ValueError:
            return False
        return wanted == frozenset(map(str, root.configuration.constraints(address).terms))

    def _is_listed(self, path: str, error: RecognisedError) -> bool:
        """True if a root requires what the run listed, and no more, and does or did not lock what it searched for."""
        reused, searched = (self._parsed_names(path, error, names) for names in (error.reused, error.searched))
        states = (set(lock.by_address) for lock in self._states(path))
        return self._is_whole(path, error) and any(reused <= one and not searched & one for one in states)

    def _is_whole(self, path: str, error: RecognisedError) -> bool:
        """True if a root requires what the run listed, and no more, as far as its configuration can be read."""
        root = self.root(path)
        reused, searched = (self._parsed_names(path, error, names) for names in (error.reused, error.searched))
        is_known = root.configuration.complete
        required = set(root.configuration.required()) if is_known else searched.union(root.lock.by_address)
        return bool(reused or searched) and required == (reused | searched)

    def _parsed_names(self, path: str, error: RecognisedError, names: Iterable[str]) -> set[ProviderAddress | None]:
        """Return providers as an error's run names them, else as the tool of a root, with its files, reads them."""
        return {parsed(name, self._parse_of(error, self.root(path))) for name in names}

    @cached_property
    def _candidates(self) -> list[str]:
        """Return the roots of the repository: folders with a lock file, and those with a configuration of their own."""
        locks = list(self._checkout.locks)
        folders = self._configured_folders() if len(locks) < _MOST_READ else []
        called = {
            folder_of(one.file)
            for path in (*locks[:_MOST_READ], *folders)
            for one in self.root(path).configuration.requirements
            if one.module
        }
        own = [self._checkout.here] if self.has_root(self._checkout.here) else []
        return list(dict.fromkeys((*locks, *(path for path in folders if path not in called), *own)))

    def _configured_folders(self) -> list[str]:
        """Return folders with a configuration, as far as they are looked for."""
        found: list[str] = []
        is_entered = lambda _, name: not name.startswith(".") and name != "modules"  # noqa: E731
        with suppress(TooManyFoldersError):
            for folder in walk(os.fspath(self._checkout.top), most=_MOST_FOLDERS, enters=is_entered):
                if any(name.endswith((".tf", ".tofu", ".tf.json", ".tofu.json")) for name in folder.files):
                    found.append(folder.path)
                if len(found) >= _MOST_READ:
                    break
        return found

    def _requires(self, root: Root, error: RecognisedError, name: str, *, is_other: bool = False) -> bool:
        """True if the configuration of a root requires a provider, which its lock file may lack."""
        address = parsed(name, self._parse_of(error, root), is_other=is_other)
        return address is not None and bool(root.configuration.of(address))

    def _fits(self, path: str, error: RecognisedError, *, is_other: bool = False) -> bool:
        """True if a lock file has the provider and version of an error, in its registry or the other tool's.

        One that was deleted counts as the last commit has it.
        """
        lock = self._deleted.get(path) or self.lock(path)
        return self._has_release(lock, error, error.provider, error.version, is_other=is_other)

    def _has_release(
        self, lock: LockFile, error: RecognisedError, name: str, version: str, *, is_other: bool = False
    ) -> bool:
        """True if a lock file has a provider in a version, "" for any, in its registry or the other tool's."""
        entry = lock.entry(parsed(name, self._dialect(lock, error).parse_source, is_other=is_other))
        return entry is not None and version in {"", str(entry.version)}


def _named_folder(folder: str) -> str:
    """Return a folder as a log names it, without the way up from a folder that the log does not name."""
    name = os.path.normpath(folder.partition("/.terragrunt-cache/")[0]).replace(os.sep, "/")
    while name.startswith("../"):
        name = name.removeprefix("../")
    return name


def _quotes(tree: Tree, file: str, error: RecognisedError) -> bool:
    """True if a file has the line that an error quotes, at the number that it names."""
    lines, number = (tree.read(file) or b"").decode("utf-8", "replace").splitlines(), error.line_of_place
    line = " ".join(lines[number - 1].split()) if 0 < number <= len(lines) else ""
    return line != "" and f" {number}: {redacted(line)} " in f"{' '.join(error.text.split())} "


def _ending_like(name: str, roots: Iterable[str]) -> list[str]:
    return [path for path in roots if f"/{path}".endswith(f"/{name}")]


def parsed(text: str, parse: Callable[[str], ProviderAddress], *, is_other: bool = False) -> ProviderAddress | None:
    """Return a provider as a tool reads its name, or its twin in the other tool's registry; None if it is no name."""
    try:
        return twin_of(parse(text)) if is_other else parse(text)
    except (AddressError, ValueError):
        return None
