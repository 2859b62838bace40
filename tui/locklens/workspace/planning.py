"""What a plan for one or more roots is made of, and the draft in which the bytes of its files are gathered."""

from __future__ import annotations

import copy
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import display_host
from locklens.errors import ConfigurationError, LockLensError, NoRepositoryError, RunCancelledError
from locklens.project.roots import LOCK_FILE
from locklens.project.tree import FileSystem, OverlayTree, WorkTree, name_bytes
from locklens.storage.placing import is_within
from locklens.workspace.found import RootReader, common_folder, folders_with_locks, no_root
from locklens.workspace.open import within
from locklens.workspace.proposal import PlannedFile, Proposal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockEntry
    from locklens.project.constraint_edits import ConstraintEdit
    from locklens.project.tree import Tree
    from locklens.workspace.found import Root


class WriteRequest(Struct, frozen=True):
    """Where something is to be written.

    Attributes:
        folder: Where it is asked.
        roots: Folders, relative to `folder`; () for `folder` itself.
        tool: Whose rules count for every root; None: each root's own tool.
        test_directory: Where a root's test files are, relative to the root.
        is_elsewhere: Whether `folder` is not the current one, so that the command line has to name it.
    """

    folder: Path
    roots: tuple[str, ...] = ()
    tool: Dialect | None = None
    test_directory: str = "tests"
    is_elsewhere: bool = False

    @classmethod
    def at(cls, top: Path, roots: Iterable[str], *, tool: Dialect | None, test_directory: str) -> WriteRequest:
        """Returns the request for roots that are known relative to a top, named as from the current folder."""
        here, real = os.getcwd(), os.path.realpath(top)  # noqa: PTH109
        if not is_within(real, here):
            return cls(top, tuple(root or "." for root in roots), tool, test_directory, is_elsewhere=True)
        names = (os.path.relpath(os.path.join(real, root), here) for root in roots)  # noqa: PTH118
        return cls(Path(here), tuple(name.replace(os.sep, "/") for name in names), tool, test_directory)


class Change(Struct, frozen=True):
    """What becomes of one provider of one root.

    Attributes:
        root: The root's folder.
        address: The provider.
        name: What it is called there.
        old: Its entry before, None where there was none.
        new: Its entry afterwards, None where it is removed.
        edits: The constraints that are rewritten for it.
        platforms: Those that it gets the hashes of, where it stays at its version.
        moved_from: The other registry's provider whose place it takes, and whose entry `old` is then.
    """

    root: str
    address: ProviderAddress
    name: str
    old: LockEntry | None
    new: LockEntry | None
    edits: tuple[ConstraintEdit, ...] = ()
    platforms: tuple[Platform, ...] = ()
    moved_from: ProviderAddress | None = None

    @property
    def kind(self) -> str:
        """In one word, such as "upgrade"."""
        if self.moved_from is not None:
            return "move"
        if self.old is None or self.new is None:
            return "remove" if self.new is None else "add"
        order = self.new.version.compare(self.old.version)
        if self.new.version == self.old.version:
            return "change"
        return "downgrade" if order < 0 else "upgrade"


class Remark(Struct, frozen=True):
    """What is to be said beside the changes, such as why a provider stays as it is; `name` is "" for a whole root."""

    root: str
    name: str
    words: str


class Failed(Struct, frozen=True):
    """Why a root stays as it is although something was asked for; `name` is "" where it is no single provider."""

    root: str
    name: str
    error: LockLensError


class Plan(Struct, frozen=True):
    """What a command came to: what it would write, and what it has to say."""

    proposal: Proposal
    changes: tuple[Change, ...]
    remarks: tuple[Remark, ...]
    failures: tuple[Failed, ...]


def joined(plans: Sequence[Plan]) -> Plan:
    """Returns several plans of one repository as one; none of them has a file of another."""
    proposals = [plan.proposal for plan in plans]
    files = sorted((file for one in proposals for file in one.files), key=lambda file: _order(file.path))
    words = tuple(word for one in proposals for word in one.words)
    command = " && ".join(one.command for one in proposals)
    return Plan(
        Proposal(proposals[0].top, tuple(files), words, command),
        tuple(change for plan in plans for change in plan.changes),
        tuple(remark for plan in plans for remark in plan.remarks),
        tuple(failed for plan in plans for failed in plan.failures),
    )


class Draft:
    """The files of a plan while it is made: roots see what was planned for the roots before them.

    Attributes:
        words: What is done beside the changes, one line each.

    Args:
        request: Where.

    Raises:
        ConfigurationError: A folder is no root, or outside of the repository.
        RepositoryError: Git failed.
    """

    def __init__(self, request: WriteRequest) -> None:
        self._reader = RootReader(request.tool, request.test_directory)
        self.top, self.disk, paths = _ground(request)
        self._begin()
        self.roots = tuple(self.root(path) for path in dict.fromkeys(paths))

    def _begin(self) -> None:
        self.changes: list[Change] = []
        self.remarks: list[Remark] = []
        self.failures: list[Failed] = []
        self.words: list[str] = []
        self._old: dict[str, bytes | None] = {}
        self._new: dict[str, bytes] = {}

    def blank(self) -> Draft:
        """Returns another draft for the same roots, in which nothing is planned yet."""
        found = copy.copy(self)
        found._begin()  # noqa: SLF001
        return found

    def locked(self) -> list[str]:
        """Returns every folder of the repository that has a lock file, [] where there is none to be asked."""
        from locklens.project.git import Repository

        try:
            with Repository.discover(self.top) as repository:
                return folders_with_locks(repository, self.disk)
        except NoRepositoryError:
            return []

    @property
    def tree(self) -> Tree:
        """The files as they would be."""
        return OverlayTree(self._new, self.disk)

    def root(self, path: str) -> Root:
        """Reads a root as it would be.

        Raises:
            ConfigurationError: It is none.
        """
        found = self._reader.read(self.tree, path)
        if found is None:
            raise no_root(path)
        return found

    def read(self, path: str) -> bytes:
        """Returns a file's bytes as they would be.

        Raises:
            ConfigurationError: It is not there, or cannot be read.
        """
        data = self.tree.read(path)
        if data is None:
            raise ConfigurationError("no such file", path=path)
        return data

    def write(self, path: str, data: bytes, *, old: bytes | None) -> None:
        """Plans a file's new bytes.

        Args:
            path: Which.
            data: What is to be there.
            old: What the plan was made from; None where there was no file. What was planned before counts first.
        """
        self._old.setdefault(path, old)
        self._new[path] = data

    @contextmanager
    def attempt(self, root: Root) -> Iterator[None]:
        """Plans one root: where that fails, it stays as it is, and why is one of the failures."""
        before = dict(self._old), dict(self._new), len(self.changes)
        failed = len(self.failures)
        try:
            yield
        except RunCancelledError:
            raise
        except LockLensError as error:
            self.failures.append(Failed(root.path, "", error))
        if len(self.failures) > failed:
            self._old, self._new = before[:2]
            del self.changes[before[2] :]

    def has_failed(self, root: Root) -> bool:
        """Whether anything failed in a root, so that it stays as it is."""
        return any(failed.root == root.path for failed in self.failures)

    def plan(self, command: str) -> Plan:
        """Returns what was planned; files that would be what they are are none.

        Args:
            command: The command line that does it.
        """
        files = [PlannedFile(path, self._old[path], data) for path, data in self._new.items()]
        files = sorted((file for file in files if file.old != file.new), key=lambda file: _order(file.path))
        words = *map(change_words, self.changes), *self.words
        proposal = Proposal(self.top, tuple(files), words, command)
        return Plan(proposal, tuple(self.changes), tuple(self.remarks), tuple(self.failures))


def _order(path: str) -> tuple[bool, bytes]:
    return path.endswith(LOCK_FILE), name_bytes(path)


def change_words(change: Change) -> str:
    """Says in one line what becomes of a provider."""
    lead = f"{change.root or '.'}: {change.name}"
    old = str(change.old.version) if change.old else ""
    if change.new is None:
        return f"{lead} {old} is removed"
    new = str(change.new.version)
    if change.old is None:
        return f"{lead} {new} is added"
    edits = "".join(f"; {edit.file}:{edit.line} {edit.old} becomes {edit.new}" for edit in change.edits)
    if change.moved_from is not None:
        hosts = f"{display_host(change.address.host)} instead of {display_host(change.moved_from.host)}"
        return f"{lead} {old}{f' becomes {new} and' if old != new else ''} is locked from {hosts}{edits}"
    if old != new:
        return f"{lead} {old} becomes {new}{edits}"
    if change.platforms:
        return f"{lead} {old} gets hashes for {', '.join(map(str, change.platforms))}"
    return f"{lead} {old} gets another entry{edits}"


def _ground(request: WriteRequest) -> tuple[Path, Tree, Sequence[str]]:
    """Returns what may be written in, its files, and the roots' folders."""
    from locklens.project.git import Repository

    wanted = request.roots or (".",)
    try:
        repository = Repository.discover(request.folder)
    except NoRepositoryError:
        places = [os.path.realpath(request.folder / path) for path in wanted]
        top = common_folder([os.path.realpath(request.folder), *places])
        files = FileSystem(Path(top))
        return Path(top), files, [files.join("", os.path.relpath(place, top)) or "" for place in places]
    with repository:
        paths = [within(repository, request.folder, path) for path in wanted]
        return repository.top, WorkTree(repository.top), paths
