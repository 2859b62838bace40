"""The roots of a repository that a log fits: by the folders that it names, or by all that it tells of its run."""

from __future__ import annotations

import os
import posixpath
import re
from functools import partial
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from locklens.dialect import DIALECTS, TERRAFORM, twin_of
from locklens.doctor import may_read, taken_over
from locklens.doctor.fixed import OF_HASHES, OF_REQUIREMENTS
from locklens.doctor.messages import LOCKLENS, MODULE_MISSING, OF_LACKING
from locklens.operations.doctor.log_paths import ending_like, named_folder, quotes_line
from locklens.operations.doctor.masked import MASK, unmasked
from locklens.operations.doctor.root_states import MOST_READ, RootStates
from locklens.operations.doctor.run_claims import Agreement, LockOfRun, RunClaim, locked_for, parsed, terms_of
from locklens.operations.doctor.run_modules import may_have_fetched, outdated
from locklens.operations.root_modules import lock_path, tool_before
from locklens.project.configuration import Contributor
from locklens.project.tree import folder_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.doctor.messages import ReadLog, RecognisedError
    from locklens.lockfile import LockEntry, LockFile
    from locklens.operations.doctor import DoctorRequest
    from locklens.operations.doctor.checkout import Checkout
    from locklens.operations.root_modules import Root
    from locklens.project.configuration import Configuration

    class _Fits(Protocol):
        def __call__(self, path: str, error: RecognisedError, *, is_other: bool) -> bool: ...


_OF_UNLOCKED = OF_LACKING | {"provider-unknown", "no-matching-release"}
"""Errors about a provider that the lock file does not have, or need not have."""

_MOST_PARTS = 30
"""The most names of a path in a log that are compared with folders here, the last ones."""

_PLAIN_FOLDER = re.compile(r"[\w.][\w./-]*")
"""A relative path without variables."""


class LogRoots(RootStates):
    """Finds the roots that the errors of a log are of.

    A run is of a root that requires just what the run listed, or missed, with its constraints. It need not have had the
    lock file that is here: in a job that has none, it searches for each provider, or misses each. A root of the other
    tool is one only where its whole list tells so, as that tool reads it.

    Attributes:
        read: The log, with the names that a CI system masked as far as one locked provider fits.
    """

    def __init__(self, request: DoctorRequest, read: ReadLog, checkout: Checkout) -> None:
        super().__init__(request, checkout, request.tool or DIALECTS.get(read.facts.tool))
        self._claims: dict[tuple[RecognisedError, Dialect], RunClaim | None] = {}
        self._of_claims: dict[tuple[int, str, str, bool], list[str]] = {}
        self._fitting_roots: dict[RecognisedError, list[str]] = {}
        self.read = read
        entries = (entry for path in checkout.locks for entry in self.lock(path).entries)
        self.read = unmasked(read, entries, self._tool_of)

    def _as_of_run(self, root: Root) -> Root:
        """Return a root without the modules that a run which may be its own fetched in a later state than lies here.

        Where all that the run tells is so with what lies here, that counts.
        """
        read = root.configuration
        for error in self.read.errors:
            older = outdated(read, error.modules, self.is_before_log) if error.modules else ()
            if older and may_have_fetched(read, error.modules) and not self._tells_the_same(root, error):
                return replace(root, configuration=read.without_modules(older))
        return root

    def _tells_the_same(self, root: Root, error: RecognisedError) -> bool:
        """True if a root requires all that an error's run listed, with all constraints that the message has."""
        names = {*error.reused, *error.searched, *filter(None, (error.provider,))}
        listed = {parsed(name, self._parse_of(error, root)) for name in names}
        said, address = error.constraints, self.address(error, root)
        known = {*root.configuration.constraints(address).terms} if address is not None else set()
        return listed <= root.configuration.required() and (said is None or {*said.terms} <= known)

    def _tool_of(self, error: RecognisedError) -> Dialect | None:
        """Return the tool that was named, else that of an error's run; None for unknown."""
        return self._tool or DIALECTS.get(error.tool)

    def of_folder(self, error: RecognisedError) -> list[str]:
        """Return the root whose folder the log names, if any: of a path on another machine, its end counts.

        Where what a prefix names is none here, such as a container, the folder of the command is.
        """
        named = next(iter(error.folders), "") if error.command == LOCKLENS else ""  # from the top
        if named and self.has_root(own := "" if named == "." else named):
            return [own]
        for name in map(named_folder, error.folders):
            begins, ends = ending_like(name, self._checkout.locks), self._at_end_of(name)
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
        return "" if any(path.endswith(f"/{name}") for path in self.candidates) else name

    def moved_from(self, folder: str) -> list[str]:
        """Return the roots whose lock file was in a folder, or in one that ends like it, before a move of the root."""
        end, paths = f"/{lock_path(folder)}", self._checkout.locks[:MOST_READ]
        before = {path: self.history.other_paths(self.lock(path)).values() for path in paths}
        return [path for path in paths if any(f"/{was}".endswith(end) for was in before[path])]

    def fitting(self, error: RecognisedError) -> list[str]:
        """Return the roots that an error fits, with all that the log tells of its run besides.

        Of several, those whose paths end with the folder that the log names, where there are any.
        """
        found = self._with_provider(error) if error.provider else self._without_provider(error)
        found = self.having_files(self._having_fetched(found, error), error.tests)
        endings = (ending_like(name, found) for name in map(named_folder, error.folders))
        return next(filter(None, endings), found)

    def first_had_constraint(self, path: str, error: RecognisedError, commit: str) -> bool:
        """True if a commit is known to have given a root the constraints of the message, so that none before had them.

        That is so in the history of the commit; a merge joins several, of which this says nothing.
        """
        repository = self._checkout.repository
        if repository is None or repository.commit(commit).parents != 1:
            return False
        if (after := self.at(path, commit)) is None or (before := self.at(path, f"{commit}^")) is None:
            return False
        has = (self._has_constraint(one, error) or self._may_have_constraint(one, error) for one in (after, before))
        return before.configuration.has_files and tuple(has) == (True, False)

    def _having_fetched(self, paths: Sequence[str], error: RecognisedError) -> list[str]:
        """Return those of some roots that call the modules which the run fetched, or did; all where none does."""
        if not error.modules or not 1 < len(paths) <= MOST_READ:
            return [*paths]

        def calls(path: str) -> bool:
            earlier = (one for one in self.earlier(path) if one.configuration.has_files)
            return any(may_have_fetched(one.configuration, error.modules) for one in (self.root(path), *earlier))

        return [*filter(calls, paths)] or [*paths]

    def had_constraint(self, path: str, error: RecognisedError) -> bool:
        """True if a root had the constraints of the message in one of the last commits, or at the log."""
        return any(self._has_constraint(root, error) for root in self.earlier(path))

    def had_requirement(self, path: str, error: RecognisedError, name: str) -> bool:
        """True if a root required a provider, as an error's run names it, in one of the last commits, or at the log."""
        return any(self._requires(root, error, name) for root in self.earlier(path))

    def address(self, error: RecognisedError, root: Root) -> ProviderAddress | None:
        """Return the provider of an error in a root, which may be that of the other tool's registry; None for none."""
        address = parsed(error.provider, self._parse_of(error, root))
        twin = twin_of(address)
        if address is None or twin is None:
            return address
        is_locked = error.kind == "plugin-missing" and address in root.lock.by_address  # it is named as it is locked
        is_of_run = is_locked or root.configuration.of(address)
        if error.kind in {"provider-unknown", "plugin-missing"} and not is_of_run:
            is_by_name = error.kind == "provider-unknown" and self.is_read_as_run(root, error)
            return twin if root.configuration.of(twin) and not is_by_name else address
        # Terraform, and a run that lacks an entry, do not take the other tool's for their own.
        is_own = self._tool_of(error) is TERRAFORM or error.kind in OF_LACKING
        is_of_twin = address not in root.lock.by_address and twin in root.lock.by_address and not is_own
        return twin if is_of_twin and self.entry(error, root, address) is None else address

    def is_read_as_run(self, root: Root, error: RecognisedError) -> bool:
        """True if a root is read as the tool of an error's run reads it, so that it requires what that run does."""
        return self._tool_of(error) is root.tool

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
        here = self._checkout.here
        locks = list(self.roots_of_all if error.kind == "readonly-changed" else self.lock_folders)
        if error.kind == MODULE_MISSING and error.place and not posixpath.isabs(error.place):
            files = {path: posixpath.normpath(posixpath.join(path, error.place)) for path in self.candidates}
            trees = (self._checkout.tree, *self._trees_at_the_log)
            quoted = [path for path, file in files.items() if any(quotes_line(tree, file, error) for tree in trees)]
            found = quoted or [path for path, file in files.items() if self._has_call(file, error)]
            found = [path for path in found if files[path] in self.root(path).configuration.files] or found
            return [path for path in found if not self._is_of_other_tool(path, error)] or found
        if not error.reused and not error.searched:
            locks += [here] if here not in locks and self.has_root(here) else []
            return [path for path in locks if self.lock(path).problems] or locks
        if whole := self._of_claim(error):
            return self._of_the_run(whole, error)
        may_be = self._reusing(error) or [path for path in self.candidates if self._may_have(path, error)]
        return self._of_the_run(self._of_own_tool(may_be, error), error)

    def _has_call(self, file: str, error: RecognisedError) -> bool:
        """True if a file has the call of the module that an error shows; any, where it shows none."""
        data = self._checkout.tree.read(file)
        return data is not None and (not error.call or f'module "{error.call}"'.encode() in data)

    def _may_have(self, path: str, error: RecognisedError) -> bool:
        """True if a root locks or requires all that the run took from its lock file, as far as is known."""
        root = self.root(path)
        known = {*root.lock.by_address, *root.configuration.required()}
        return not root.configuration.complete or self.addresses(path, error, error.reused) <= known

    def _with_provider(self, error: RecognisedError) -> list[str]:
        """Return the roots that an error about a provider fits, with all that the log tells of its run."""
        fitting, here = self._fitting(error), self._checkout.here
        if whole := self._of_claim(error):
            fitting = [path for path in fitting if path in whole and _is_of_entry(error)] or whole
        elif not _is_of_entry(error) and self._claim(error, self._tool_of(error) or TERRAFORM) is not None:
            fitting = self._of_own_tool(fitting, error)
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
        if error.is_of_state:
            return self._of_own_tool(
                [path for path in self.candidates[:MOST_READ] if self._may_store(path, error)], error
            )
        if error.kind in _OF_UNLOCKED or error.provider in error.searched:
            requiring = self._requiring(error)
            requiring = self._of_own_tool(requiring, error) or requiring
            if error.constraint and (own := self._constrained(requiring[:MOST_READ], error)):
                return own
            has_it = partial(self._has_release, error=error, name=error.provider, version=error.version)
            return [path for path in requiring if not all(map(has_it, self.locks_of(path)))] or requiring
        if error.constraint and error.version:  # it may have locked another version since
            locking = self._locking(replace(error, version=""))
            if own := self._constrained(locking[:MOST_READ], error):
                return [path for path in own if self._had_version(path, error)] or own
        fitting = self._at_the_run(error) or self._locking(error)
        if not fitting and error.version:
            fitting = self._locking(replace(error, version=""))
        return fitting or self._requiring(error) or [path for path in locks if self.lock(path).problems]

    def _may_store(self, path: str, error: RecognisedError) -> bool:
        """True if the state of a root has objects of the provider of an error, or cannot be read."""
        root = self.root(path)
        address, read = self.address(error, root), root.configuration
        required = read.of(address) if address is not None else ()
        if required:
            return all(one.contributor is Contributor.STATE for one in required)
        return read.state.kind not in {"none", "local"}

    def _of_claim(self, error: RecognisedError) -> list[str]:
        """Return the roots that are what the run of an error tells of its own; [] where none is, or it tells nothing.

        Of several, those with its constraints come before others, those that are known to require all before those of
        which not all is known, unless both call modules, of which only one has what it calls, and those whose lock file
        had what the run took from it before those that had none then.
        A root of the other tool is one only if it is all of this, and stands beside its own tool's that had none.
        """
        told = error.run, error.tool, error.kind if error.kind in OF_LACKING else "", _is_of_entry(error)
        if told not in self._of_claims:  # of each such error of the run the same
            self._of_claims[told] = self._of_each(error) if len(self.candidates) <= MOST_READ else []
        return self._of_claims[told]

    def _of_each(self, error: RecognisedError) -> list[str]:
        """Return the roots of a claim; where none is, or a command missed only some of what one requires, modules."""
        best, found = self._agreeing(error, self.candidates)
        if found and (best is None or best.lock is not LockOfRun.ELSEWHERE or error.kind not in OF_LACKING):
            return found
        of_module, modules = self._agreeing(error, self.module_folders, has_past=False)
        return modules if of_module is not None and (best is None or of_module < best) else found

    def _agreeing(
        self, error: RecognisedError, paths: Sequence[str], *, has_past: bool = True
    ) -> tuple[Agreement | None, list[str]]:
        best, found, candidates = None, list[str](), self._having_fetched(paths, error)
        for is_past in (False, True)[: 1 + has_past]:
            if best is not None and best == (False, False, LockOfRun.HERE) and not _is_of_entry(error):
                break  # commits tell nothing more
            agreed = {path: how for path in candidates if (how := self._agreement(path, error, is_past=is_past))}
            others = {path for path in agreed if self._is_of_other_tool(path, error)}
            best = min((how for path, how in agreed.items() if path not in others), default=None)
            found = [path for path, how in agreed.items() if how == best and path not in others]
            if best is not None and not best.is_guessed and not any(self._tells_itself(path, error) for path in found):
                guessed = best._replace(is_guessed=True)
                may_be = (path for path, how in agreed.items() if how == guessed and path not in others)
                found += [path for path in may_be if self.root(path).configuration.missing_modules]
            had_lock = [path for path in others if agreed[path].had_lock]
            if had_lock and (best is None or not best.had_lock):
                is_like = best is not None and not best.has_other_constraints
                found = [*(found if is_like else ()), *had_lock]
        return best, sorted(found, key=paths.index)

    def _agreement(self, path: str, error: RecognisedError, *, is_past: bool) -> Agreement | None:
        """Return how well a root agrees with what a run tells; None where it does not.

        With `is_past`, its states in commits count, too, and no less where the error is of an entry: a provider that
        came or went since does not end it.
        """
        tool = self._tool_of(error) or self.root(path).tool
        claim, is_read = self._claim(error, tool), self.root(path, tool).configuration.has_files
        if claim is None or (not is_read and self._is_of_other_tool(path, error)):
            return None
        of_init = not claim.missing
        now = [locked_for(lock, tool, of_init=of_init) for lock in self.locks_of(path)]
        earlier = (one.configuration for one in (self.earlier(path, tool) if is_past else ()))
        states = [self.root(path, tool).configuration, *filter(claim.is_exactly_of, earlier)]
        if not any(claim.may_be_of(read, now[0]) for read in states):
            return None  # whatever was locked in commits
        locks = self.history.lock_files(lock_path(path)) if is_past else ()
        past = [locked_for(lock, tool, of_init=of_init) for lock in locks]
        found = []
        for number, read in enumerate(states):
            lock = None
            if any(claim.is_of(read, each) for each in (*now, *past)):
                is_here = number == 0 and any(claim.is_of(read, each) for each in now)
                lock = LockOfRun.HERE if is_here or _is_of_entry(error) else LockOfRun.COMMITTED
            elif claim.is_of(read, frozenset()):
                lock = LockOfRun.NONE if self.history.lock_files(lock_path(path)) else LockOfRun.ABSENT
            elif claim.lists(read, now[0]):
                lock = LockOfRun.ELSEWHERE
            if lock is not None:
                found.append(Agreement(not claim.has_constraints_of(read), not claim.is_exactly_of(read), lock))
        return min(found, default=None)

    def _tells_itself(self, path: str, error: RecognisedError) -> bool:
        """True if a root requires what an error's run tells in its own files, without a module that was fetched."""
        root = self.root(path)
        claim = self._claim(error, self._tool_of(error) or root.tool)
        return claim is not None and claim.is_exactly_of(root.configuration.of_own_files)

    def knows(self, error: RecognisedError) -> bool:
        """True if some root locks or requires the provider of an error, whatever else its run tells."""
        return bool(self._fitting(error))

    def had_list(self, path: str, error: RecognisedError) -> bool:
        """True if a root required just what a run listed, when its lock file had more, and does not now."""
        claim = self._claim(error, self._tool_of(error) or self.root(path).tool) if error.reused else None
        if claim is None or claim.is_exactly_of(self.root(path).configuration):
            return False
        earlier = (one for one in self.earlier(path) if claim.is_exactly_of(one.configuration))
        return any(one.configuration.required() < {*one.lock.by_address} for one in earlier)

    def had_no_file(self, path: str, error: RecognisedError, *, is_in_no_clone: bool) -> bool:
        """True if a root agrees with what a run tells, but for its lock file: none of its states lacks all of that.

        One that is in no clone is none of them, whatever it had before it was written here.
        """
        is_of_file = error.kind in OF_LACKING | {"readonly-changed"}
        agreed = self._agreement(path, error, is_past=True) if is_of_file else None
        if agreed is None or agreed.is_guessed or not is_in_no_clone:
            return agreed is not None and not agreed.is_guessed and agreed.has_none
        claim = self._claim(error, self._tool_of(error) or self.root(path).tool)
        return claim is not None and claim.is_of(self.root(path).configuration, frozenset())

    def _claim(self, error: RecognisedError, tool: Dialect) -> RunClaim | None:
        """Return what the run of an error tells of its root, as a tool reads the names."""
        key = error, tool
        if key not in self._claims:
            self._claims[key] = RunClaim.of(error, self.read.errors, tool.parse_source)
        return self._claims[key]

    def _is_of_other_tool(self, path: str, error: RecognisedError) -> bool:
        """True if a root is not known to be of the tool that ran, but of the other one.

        One that the other tool made its own by the last change of the lock file may still be of the tool that ran.
        """
        *_, then = self.locks_of(path)
        tool, lock = self._tool_of(error), then if then.exists else self.lock(path)
        if tool is None or tool_before(self._checkout.tree, path, lock) in {None, tool}:
            return False
        before = self.history.before_tool(lock)
        return before is None or before.tool != tool.name

    def _of_own_tool(self, paths: Sequence[str], error: RecognisedError) -> list[str]:
        """Return those of some roots that are of the run's tool, or that it reads without all of what they call."""

        def is_read_in_part(configuration: Configuration) -> bool:
            return configuration.has_files and not configuration.complete

        return [
            path
            for path in paths
            if not self._is_of_other_tool(path, error) or is_read_in_part(self.root(path).configuration)
        ]

    def _locking(self, error: RecognisedError) -> list[str]:
        """Return the roots that lock the provider of an error, else those that lock it in the other tool's registry."""
        return self._in_a_registry(error, self.lock_folders, self._fits)

    def _requiring(self, error: RecognisedError) -> list[str]:
        """Return the roots that require the provider of an error, else those that do of the other tool's registry."""

        def requires(path: str, error: RecognisedError, *, is_other: bool) -> bool:
            return self._requires(self.root(path), error, error.provider, is_other=is_other)

        found = self._in_a_registry(error, self.candidates, requires)
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
        paths = [path for path in self.candidates[:MOST_READ] if not self._fits(path, error)]
        return [path for path in paths if self.had_requirement(path, error, error.provider)]

    def _at_the_run(self, error: RecognisedError) -> list[str]:
        """Return the roots with a lock file that had all which the log tells of the run: here at its time, else ever.

        An entry that was changed since the log leaves the log with its root.
        """
        if own := self._in_a_registry(error, self.lock_folders, self._had_all):
            return own
        locking = self._locking(replace(error, version=""))[:MOST_READ]
        had_all = partial(self._has_all, error=error)
        return [path for path in locking if self.history.last_where(lock_path(path), had_all)]

    def _had_version(self, path: str, error: RecognisedError) -> bool:
        """True if a lock file has the version of an error, had it before it was changed since, or in a commit."""
        has_it = partial(self._has_release, error=error, name=error.provider, version=error.version)
        return any(map(has_it, self.locks_of(path))) or self.history.last_where(lock_path(path), has_it) != ""

    def _locked_all(self, path: str, error: RecognisedError, names: Collection[str]) -> bool:
        """True if some state of a lock file has just these providers, each as an error's run names it."""
        return any(self._addresses(lock, error, names) == {*lock.by_address} for lock in self.locks_of(path))

    def _had_all(self, path: str, error: RecognisedError, *, is_other: bool = False) -> bool:
        """True if a lock file has all that the log tells of the run, or had it before it was changed since."""
        return any(self._has_all(lock, error, is_other=is_other) for lock in self.locks_of(path))

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

    def _of_other_errors(self, paths: list[str], error: RecognisedError) -> list[str]:
        """Return those of some roots that other errors of the run fit too; all where these fit none."""
        for other in self.read.errors:
            if len(paths) > 1 and other.run == error.run and other.provider not in {"", error.provider}:
                fitting = set(self._fitting(other))
                paths = [path for path in paths if path in fitting] or paths
        return paths

    def _of_the_run(self, paths: list[str], error: RecognisedError) -> list[str]:
        """Return those of some roots that the lines before the error fit; all where these lines fit none."""
        if not 1 < len(paths) <= MOST_READ:
            return paths  # of too many, none is ruled out without its configuration
        if error.constraint:
            paths = self._constrained(paths, error) or paths
        if error.kind == "plugin-missing":  # before init, each locked provider is
            missing = {one.provider for one in self.read.errors if (one.run, one.kind) == (error.run, error.kind)}
            paths = [path for path in paths if self._locked_all(path, error, missing)] or paths
        if error.reused or error.searched:
            paths = [path for path in paths if self._had_all(path, error)] or paths
        return paths

    def _constrained(self, paths: Sequence[str], error: RecognisedError) -> list[str]:
        """Return the roots with the constraints of the message: as they are, else before they were edited.

        With them come those that may have them, by what is not read of their configuration, unless the files of another
        root itself have all: a module that was fetched may be that of each.
        """
        paths = self._having_fetched(paths, error)
        open_to = {path for path in paths if self._may_have_constraint(self.root(path), error)}
        own = {path for path in paths if self._has_constraint(self.root(path), error)}
        alone = (replace(self.root(path), configuration=self.root(path).configuration.of_own_files) for path in own)
        open_to = set() if any(self._has_constraint(root, error) for root in alone) else open_to
        left = [path for path in paths if path not in own | open_to]
        had = {path for path in left if any(self._has_constraint(one, error) for one in self.at_the_log(path))}
        own = own | had if own else {path for path in left if self.had_constraint(path, error)}
        return [path for path in paths if path in own | open_to]

    def _has_constraint(self, root: Root, error: RecognisedError) -> bool:
        """True if a root has the constraints that the message names."""
        address, wanted = self.address(error, root), error.constraints
        if address is None or wanted is None:
            return False
        return terms_of(wanted) == terms_of(root.configuration.constraints(address))

    def _may_have_constraint(self, root: Root, error: RecognisedError) -> bool:
        """True if what is read of a root has some of the constraints that the message names, and not all is read."""
        address, wanted = self.address(error, root), error.constraints
        if address is None or wanted is None or not root.configuration.unknown_constraints:
            return False
        return terms_of(root.configuration.constraints(address)) < terms_of(wanted)

    def _requires(self, root: Root, error: RecognisedError, name: str, *, is_other: bool = False) -> bool:
        """True if a root requires a provider, which its lock file may lack, also by the state of another workspace."""
        address, read = parsed(name, self._parse_of(error, root), is_other=is_other), root.configuration
        return address is not None and (bool(read.of(address)) or read.workspace_of(address) != "")

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


def _is_of_entry(error: RecognisedError) -> bool:
    """True if an error is of a provider that was locked for its run."""
    return error.provider != "" and error.kind not in _OF_UNLOCKED and error.provider not in error.searched
