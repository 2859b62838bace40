"""The providers in roots that a diagnosis is about: those of a log's errors, or of a root without one. Reads files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import AddressError
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.doctor.catalogue import BY_KIND
from locklens.doctor.recognising import WARNINGS
from locklens.errors import ConfigurationError, NoRepositoryError
from locklens.operations.comparison import within
from locklens.operations.root_modules import RootReader, folders_with_locks, lock_path, no_root, read_lock
from locklens.project.git import Repository
from locklens.project.sparsetree import SparseWorkTree
from locklens.project.tree import WorkTree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import ExitStack

    from locklens.addresses import ProviderAddress
    from locklens.doctor.model import ReadLog, RecognisedError
    from locklens.lockfile.model import LockEntry, LockFile
    from locklens.operations.doctor.request import DoctorRequest
    from locklens.operations.root_modules import Root


_MOST_READ = 200
"""Roots whose configuration is read to find the one that requires a provider that none locks."""


_MOST_ENTRIES = 5
"""Different entries of one version that are examined: more tell nothing new about a log without a root."""


class Checkout(Struct, frozen=True):
    """The files on disk: the repository's, or those below one folder.

    Attributes:
        top: The folder that paths are relative to.
        here: The current folder, relative to it.
        repository: None without git.
        locks: Folders with a lock file.
    """

    top: Path
    here: str
    tree: WorkTree
    repository: Repository | None
    locks: tuple[str, ...]

    @classmethod
    def open(cls, folder: Path, stack: ExitStack) -> Checkout:
        """Open the repository of a folder, or the folder itself."""
        try:
            repository = stack.enter_context(Repository.discover(folder))
            if not repository.is_bare:
                files = SparseWorkTree(repository)
                here = within(repository, folder, ".")
                return cls(Path(repository.top), here, files, repository, tuple(folders_with_locks(repository, files)))
        except NoRepositoryError:
            pass
        tree = WorkTree(folder)
        locks = ("",) if tree.read(lock_path("")) is not None else ()
        return cls(folder, "", tree, None, locks)

    def path_of(self, folder: Path, root: str) -> str:
        """Return a root that was named relative to the current folder, relative to the top."""
        if self.repository is not None:
            return within(self.repository, folder, root)
        return "" if root in {"", "."} else os.path.normpath(root).replace(os.sep, "/")

    def shown(self, root: str) -> str:
        """Return a root relative to the current folder."""
        return os.path.relpath(root or ".", self.here or ".").replace(os.sep, "/")


class DoctorSubject(Struct, frozen=True):
    """A provider in a root, and the error about it; None for what is not known or not there."""

    error: RecognisedError | None
    root: Root
    address: ProviderAddress | None
    entry: LockEntry | None


class SubjectFinder:
    """Finds the subjects of a diagnosis; reads each root and each lock file once.

    Args:
        request: The roots and the tool.
        read: The log.
        checkout: The files on disk.
    """

    def __init__(self, request: DoctorRequest, read: ReadLog, checkout: Checkout) -> None:
        self._request = request
        self._read = read
        self._checkout = checkout
        self._reader = RootReader(request.tool, request.test_directory, environ=request.environ)
        self._roots: dict[str, Root] = {}
        self._locks: dict[str, LockFile] = {}

    def subjects(self) -> list[DoctorSubject]:
        """Return the subjects, those of the first error first.

        Raises:
            ConfigurationError: A root that was named is none, or does not know the provider that was named.
        """
        named = self._named_roots()
        if self._request.log is None and not self._read.errors:
            return self._of_provider(self._of_roots(named or self._here()))
        found = []
        stopping = [error for error in self._read.errors if error.kind not in WARNINGS]
        for error in stopping or self._read.errors:
            found += self._of_error(error, named)
        return found

    def with_same_entry(self, subject: DoctorSubject) -> tuple[str, ...]:
        """Return the root, and others with the same entry; relative to the current folder."""
        own = self._checkout.shown(subject.root.path)
        if subject.entry is None:
            return (own,)
        same = [
            path
            for path in self._checkout.locks
            if path != subject.root.path
            and (entry := self.lock(path).by_address.get(subject.entry.address)) is not None
            and (entry.version, frozenset(entry.hashes)) == (subject.entry.version, frozenset(subject.entry.hashes))
        ]
        return (own, *map(self._checkout.shown, same))

    def lock(self, path: str) -> LockFile:
        """Return the lock file of a folder, without its configuration."""
        if path not in self._locks:
            self._locks[path] = read_lock(self._checkout.tree, lock_path(path), self._request.tool, is_replaced=True)
        return self._locks[path]

    def _of_provider(self, subjects: list[DoctorSubject]) -> list[DoctorSubject]:
        """Return the subjects of the provider that was named; all of them without a name."""
        name = self._request.provider
        if not name:
            return subjects
        found = [
            one for one in subjects if one.address is None or one.address == _parsed(name, one.root.tool.parse_source)
        ]
        if not found:
            roots = ", ".join(dict.fromkeys(one.root.path or "." for one in subjects)) or "."
            hint = "name it as the lock file or the configuration does"
            raise ConfigurationError(f"{name[:200]}: neither locked nor required", path=roots, hint=hint)
        return found

    def _root(self, path: str) -> Root:
        if path not in self._roots:
            self._roots[path] = self._reader.read_folder(self._checkout.tree, path)
        return self._roots[path]

    def _named_roots(self) -> list[str]:
        paths = [self._checkout.path_of(self._request.folder, root) for root in self._request.roots]
        for path, name in zip(paths, self._request.roots, strict=True):
            root = self._root(path)
            if not root.lock.exists and not root.configuration.has_files:
                raise no_root(name)
        return paths

    def _here(self) -> list[str]:
        """Return the current folder's root, else every root of the repository."""
        here = self._checkout.here
        root = self._root(here)
        if root.lock.exists or root.configuration.has_files:
            return [here]
        if not self._checkout.locks:
            raise no_root(".", "name a root with -- ROOT, or hand a log in")
        return list(self._checkout.locks)

    def _of_roots(self, paths: Iterable[str]) -> list[DoctorSubject]:
        found = []
        for path in paths:
            root = self._root(path)
            if root.lock.problems:
                found.append(DoctorSubject(None, root, None, None))
                continue
            by_address = root.lock.by_address
            missing = [one for one in sorted(root.configuration.required()) if one not in by_address]
            if not root.lock.entries and not missing and root.configuration.unknown_reason:
                found.append(DoctorSubject(None, root, None, None))
            found += [DoctorSubject(None, root, one.address, one) for one in root.lock.entries]
            found += [DoctorSubject(None, root, address, None) for address in missing]
        return found

    def _of_error(self, error: RecognisedError, named: list[str]) -> list[DoctorSubject]:
        """Return the root that an error is of: the named ones, the current one, or those that have the entry."""
        here = self._checkout.here
        named = named or self._of_units(error)
        candidates = named or ([here] if self._has_root(here) else list(self._checkout.locks))
        if not candidates:
            candidates = [here]
        broken = [path for path in candidates if self.lock(path).problems]
        if not error.provider:
            chosen = named or broken or candidates
            return self._of_no_provider(error, chosen[: None if named else 1])
        fitting = [path for path in candidates if self._fits(path, error)] if not named else candidates
        if not fitting and not named and error.version:
            unversioned = replace(error, version="")
            fitting = [path for path in candidates if self._fits(path, unversioned)]
        if not fitting and not named:
            fitting = [path for path in candidates[:_MOST_READ] if self._requires(path, error)][:1]
        found = []
        for path in (fitting if named else self._of_each_entry(fitting, error)) or (broken or candidates)[:1]:
            root = self._root(path)
            address = self._address(error, root)
            found.append(DoctorSubject(error, root, address, root.lock.by_address.get(address) if address else None))
        return found

    def _of_no_provider(self, error: RecognisedError, paths: Iterable[str]) -> list[DoctorSubject]:
        """Return all providers of roots for an error that names none, such as that of a read-only lock file."""
        if {cause.value for cause in BY_KIND[error.kind].causes} <= {"lock-syntax", "bad-merge"}:
            return [DoctorSubject(error, self._root(path), None, None) for path in paths]
        found = [_with_error(one, error) for one in self._of_roots(paths)]
        return found or [DoctorSubject(error, self._root(path), None, None) for path in paths]

    def _has_root(self, path: str) -> bool:
        root = self._root(path)
        return root.lock.exists or root.configuration.has_files

    def _of_units(self, error: RecognisedError) -> list[str]:
        """Return the roots whose folders the log's prefixes name, such as Terragrunt's units."""
        found = []
        for unit in error.units:
            name = f"/{os.path.normpath(unit.partition('/.terragrunt-cache/')[0])}"
            ends = [path for path in self._checkout.locks if path and name.endswith(f"/{path}")]
            begins = [path for path in self._checkout.locks if f"/{path}".endswith(name)]
            found += [max(ends, key=len)] if ends else begins if len(begins) == 1 else []
        return list(dict.fromkeys(found))

    def _of_each_entry(self, paths: Iterable[str], error: RecognisedError) -> list[str]:
        """Return the first root of each different entry: the log does not say of which it is."""
        first: dict[object, str] = {}
        for path in paths:
            lock = self.lock(path)
            address = _parsed(error.provider, (self._request.tool or lock.writer or TERRAFORM).parse_source)
            entry = lock.by_address.get(address) if address is not None else None
            first.setdefault((str(entry.version), frozenset(entry.hashes)) if entry is not None else None, path)
        return list(first.values())[:_MOST_ENTRIES]

    def _requires(self, path: str, error: RecognisedError) -> bool:
        """True if the configuration of a root requires the provider, which its lock file may lack."""
        root = self._root(path)
        address = _parsed(error.provider, root.tool.parse_source)
        return address is not None and bool(root.configuration.of(address))

    def _fits(self, path: str, error: RecognisedError) -> bool:
        lock = self.lock(path)
        dialect = self._request.tool or lock.writer or TERRAFORM
        address = _parsed(error.provider, dialect.parse_source)
        entry = lock.by_address.get(address) if address is not None else None
        return entry is not None and (not error.version or str(entry.version) == error.version)

    def _address(self, error: RecognisedError, root: Root) -> ProviderAddress | None:
        address = _parsed(error.provider, root.tool.parse_source)
        if address is not None and address not in root.lock.by_address and error.provider.count("/") == 1:
            other = TERRAFORM if root.tool is OPENTOFU else OPENTOFU
            twin = _parsed(error.provider, other.parse_source)
            if twin in root.lock.by_address and twin is not None:
                return twin
        return address


def _with_error(subject: DoctorSubject, error: RecognisedError) -> DoctorSubject:
    """Return a subject of a root as that of an error."""
    return DoctorSubject(error, subject.root, subject.address, subject.entry)


def _parsed(text: str, parse: Callable[[str], ProviderAddress]) -> ProviderAddress | None:
    try:
        return parse(text)
    except (AddressError, ValueError):
        return None
