"""Reads root modules: lock file, configuration, the tool whose rules apply, and the packages beside them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import DIALECTS, OPENTOFU, TERRAFORM, Dialect, twin_of
from locklens.errors import ConfigurationError, NoRepositoryError, RepositoryError, UnmergedFileError
from locklens.hcl import SyntaxProblem
from locklens.lockfile import Conflict, ConflictMarker, LockEntry, LockFile
from locklens.lockfile.parse import parse
from locklens.machine import CLASHES_NEED, merging_words
from locklens.operations.comparison import RootSettings
from locklens.operations.merge import committed_merge
from locklens.project import LOCK_FILE
from locklens.project.tree import EntryKind, OverlayTree, Tree, WorkTree, name_bytes, path_in
from locklens.review.context import Absence
from locklens.text import shell_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.install import DataFolder
    from locklens.install.context import ProviderRequirement
    from locklens.lockfile.update import Migration
    from locklens.project.configuration import Configuration, Requirement
    from locklens.project.git import Repository


class RootOptions(RootSettings, frozen=True):
    """Options of every root of a command.

    Attributes:
        folder: The folder that roots are relative to.
        allow_missing_modules: True to continue without modules that cannot be read.
        dry_run: True to write nothing.
    """

    folder: Path
    environ: Mapping[str, str]
    allow_missing_modules: bool = False
    dry_run: bool = False


class Root(Struct, frozen=True):
    """A root as it was read.

    Attributes:
        others: Further providers that may be named, such as those locked in a revision.
        top: The folder on disk that `path` is relative to; None for a root that is read elsewhere.
    """

    path: str
    tool: Dialect
    lock: LockFile
    configuration: Configuration
    others: frozenset[ProviderAddress] = frozenset()
    top: Path | None = None

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.path or "."

    @property
    def merging(self) -> str:
        """The next step for the conflict in its lock file; "" where there is none, or none on disk."""
        if self.lock.conflict is None or self.top is None:
            return ""
        return f"{shell_words(merging_words(self.top, self.path))} merges both sides; {CLASHES_NEED}"

    @property
    def migration(self) -> Migration:
        """The entries that its tool uses: with OpenTofu, also those migrated from Terraform's registry."""
        from locklens.lockfile.update import migrated

        return migrated(self.lock.entries, self.tool)

    @property
    def providers(self) -> frozenset[ProviderAddress]:
        """All required or locked providers."""
        required = {requirement.address for requirement in self.configuration.requirements}
        return frozenset(required | {entry.address for entry in self.lock.entries} | self.others)

    def requirements(self, address: ProviderAddress) -> tuple[Requirement, ...]:
        """Return the requirements that an upgrade of a provider is held to.

        Where the configuration is not known in full, the constraint that the lock file records counts too: the tool
        wrote it from the whole configuration. A record that lacks a known constraint is outdated, and does not count.
        """
        known = self.configuration.of(address)
        if not self.configuration.unknown_reason or (known and not self.configuration.undeclared_reason):
            return known
        entry = next((entry for entry in self.migration.entries if entry.address == address), None)
        recorded = recorded_requirement(entry, self.lock.path) if entry is not None else None
        if recorded is None:
            return known
        terms = {term for requirement in known for term in requirement.constraints.terms}
        return (*known, recorded) if terms <= set(recorded.constraints.terms) else known

    @property
    def by_record(self) -> frozenset[ProviderAddress]:
        """The locked providers of a folder that does not declare all that is required."""
        if not self.configuration.undeclared_reason:
            return frozenset()
        return frozenset(entry.address for entry in self.migration.entries)

    def wanted(self, skipped: frozenset[ProviderAddress] = frozenset()) -> list[ProviderRequirement]:
        """Return the required providers, in order."""
        from locklens.install.context import ProviderRequirement

        prior = {entry.address: entry for entry in reversed(self.migration.entries)}
        addresses = sorted(self.configuration.required() - skipped)
        return [
            ProviderRequirement(one, self.configuration.of(one), prior.get(one), twin=self.lock.entry(twin_of(one)))
            for one in addresses
        ]

    def name_of(self, address: ProviderAddress) -> str:
        """Return the root's name of a provider."""
        return address.short(self.tool.default_host)


def recorded_requirement(entry: LockEntry, lock_file: str) -> Requirement | None:
    """Return the constraint of a lock file's entry as a requirement; None if it is invalid."""
    from locklens.project.configuration import Contributor, Requirement
    from locklens.versions import Constraints, ConstraintSyntaxError

    try:
        constraints = Constraints.parse(entry.constraints) if entry.constraints.strip() else Constraints()
    except ConstraintSyntaxError:
        return None
    return Requirement(
        entry.address, entry.constraints, constraints, lock_file, max(entry.line, 1), "", Contributor.RECORDED,
        "the lock file", None,
    )  # fmt: skip


def recorded_words(requirements: Iterable[Requirement], reason: str) -> str:
    """Return what stands for a provider's requirements that cannot be read, by their record; "" where they can."""
    from locklens.project.configuration import Contributor

    recorded = [one for one in requirements if one.contributor is Contributor.RECORDED]
    if not recorded:
        return ""
    if any(one.constraint for one in recorded):
        return f"held to the constraint that the lock file records: {reason}"
    return f"held to no constraint: the lock file records none, and the configuration is not known whole ({reason})"


class RootReader:
    """Reads roots, and each file once.

    The tools' settings are those of this process unless given; `for_locking` is for `providers lock`, which reads
    neither test files nor the state.
    """

    def __init__(
        self, settings: RootSettings, *, environ: Mapping[str, str] | None = None, for_locking: bool = False
    ) -> None:
        from locklens.project.modules import ModuleReader

        self._settings = settings
        self._environ = os.environ if environ is None else environ
        self._for_locking = for_locking
        self._modules = ModuleReader()

    def read(self, tree: Tree, path: str) -> Root | None:
        """Read a root; None where there is neither a lock file nor a configuration."""
        root = self.read_folder(tree, path)
        return root if root.lock.exists or root.configuration.has_files else None

    def read_folder(self, tree: Tree, path: str) -> Root:
        """Read a folder as a root, even an empty one; the arguments are those of `read`."""
        from locklens.project.requirements import read_configuration

        lock = read_lock(tree, lock_path(path), self._settings.tool, is_replaced=True)
        tool = self._settings.tool or tool_of(tree, path, lock)
        if lock.writer is not tool:
            lock = read_lock(tree, lock.path, tool, is_replaced=True)
        configuration = read_configuration(
            tree,
            path,
            dialect=tool,
            worktree=tree,
            environ=self._environ,
            test_directory=self._settings.test_directory,
            module_reader=self._modules,
            for_locking=self._for_locking,
            has_workspaces=True,
        )
        under = tree.under if isinstance(tree, OverlayTree) else tree
        return Root(path, tool, lock, configuration, top=under.top if isinstance(under, WorkTree) else None)


def require_folder(tree: Tree, path: str) -> str:
    """Return the path of a named folder in a tree.

    Raises:
        ConfigurationError: No such folder.
    """
    folder = tree.join("", path) or ""
    if not tree.has_folder(folder):
        raise no_root(tree, folder, named=path)
    return folder


def enclosing(folder: Path, roots: Sequence[Path]) -> Path:
    """Return the top folder that may be written in for some roots: the repository of all of them.

    It is found without git, by its `.git`. Where there is none, the folder that has all of them and the one in which
    the user works stands for it.
    """
    from pathlib import Path

    here, places = os.path.realpath(folder), [os.path.realpath(root) for root in roots]
    common = Path(common_folder(places or [here]))
    outer = Path(common_folder([here, *places]))
    return next((top for top in (common, *common.parents) if os.path.lexists(top / ".git")), outer)


def common_folder(places: Sequence[str]) -> str:
    """Return the innermost folder that all places are in.

    Raises:
        ConfigurationError: The places are on several drives.
    """
    try:
        return os.path.commonpath(places)
    except ValueError as error:
        hint = "run the command once for each drive"
        raise ConfigurationError("roots on several drives cannot be written together", hint=hint) from error


def lock_path(path: str) -> str:
    """Return the path of a root's lock file."""
    return path_in(path, LOCK_FILE)


def absence_of(tree: Tree, path: str) -> Absence:
    """Return why git has no lock file of a root on a side: one that is in a work tree all the same is ignored."""
    is_there = isinstance(tree, WorkTree) and os.path.isfile(tree.top / lock_path(path))  # noqa: PTH113
    return Absence.IGNORED if is_there else Absence.MISSING


def no_root(tree: Tree, path: str, hint: str = "", *, named: str = "") -> ConfigurationError:
    """Return the error about a path that is not a root; the hint is the next step where there is such a folder."""
    named = named or path or "."
    if not tree.has_folder(path):
        from locklens.project.root_search import question_of_folder

        no_option = "this command has no such option: " if named.startswith("-") else ""
        hint = question_of_folder(tree, path, named) or f"{no_option}name the folder of a root module"
        return ConfigurationError("no such folder", path=named, hint=hint)
    return ConfigurationError("no configuration or lock file in this folder", path=named, hint=hint)


def folders_with_locks(repository: Repository, *trees: Tree) -> list[str]:
    """Return the folder of every lock file of some sides of a repository, in order."""
    from locklens.project.root_search import lock_paths

    folders = {path.rpartition("/")[0] for tree in trees for path in lock_paths(repository, tree)}
    return sorted(folders, key=name_bytes)


def locked_roots_from(folder: Path, repository: Repository, *trees: Tree) -> tuple[str, ...]:
    """Return what `folders_with_locks` does, relative to a folder of the repository."""
    from locklens.operations.comparison import within

    here = within(repository, folder, ".")
    paths = folders_with_locks(repository, *trees)
    return tuple(os.path.relpath(path or ".", here or ".").replace(os.sep, "/") for path in paths)


def read_lock(tree: Tree, path: str | None, tool: Dialect | None, *, is_replaced: bool = False) -> LockFile:
    """Read a lock file; one that is there and is not a file that can be read has a problem.

    A path of None is a file that does not exist; without a tool, the header names it. With `is_replaced`, a link that
    leads to no file in the repository is an absent file, as for the tools, which replace it; for a review it is a file
    that cannot be judged.

    Raises:
        RepositoryError: Git cannot read it: it is neither absent nor wrong.
    """
    try:
        data = tree.read(path) if path is not None else None
        if data is None and path is not None and tree.has_folder(path):
            raise ConfigurationError("is a folder", path=path)
        is_refused = path is not None and (not is_replaced or tree.leads_out(path))
        if data is None and path is not None and is_refused and _is_broken(tree, path):
            raise ConfigurationError("cannot be read: a link that leads to no file", path=path)
    except UnmergedFileError as error:
        return _unmerged(path or "", error, tool)
    except ConfigurationError as error:
        refused = SyntaxProblem(1, 1, "Failed to read file", error.message, _target(tree, path or ""))
        return LockFile(path or "", b"", exists=True, writer=None, entries=(), problems=(refused,), is_complete=False)
    return LockFile.absent(path or "") if data is None else parse(data, path or "", dialect=tool)


def as_committed(lock: LockFile, before: bytes | None, repository: Repository, tool: Dialect | None) -> LockFile:
    """Return a lock file of the work tree with the line ends that a commit would have.

    Args:
        lock: The file.
        before: The file as it is committed or staged; None for none.
        repository: The repository of the work tree.
        tool: The tool of the file; None to read it from the header.
    """
    data = repository.index.as_committed(lock.data, before, lock.path)
    return lock if data == lock.data else parse(data, lock.path, dialect=tool)


def with_sides_of_git(lock: LockFile, repository: Repository, tool: Dialect) -> LockFile:
    """Return a lock file in conflict with the two sides of git's index, or of a merge that was committed with markers.

    The text between the markers is not enough: outside of them git merged line by line, so that an entry may have the
    version of one side in both.
    """
    if lock.conflict is None:
        return lock
    from locklens.project.gittree import IndexTree

    try:
        IndexTree(repository).read(lock.path)
    except UnmergedFileError as error:
        return replace(lock, conflict=_staged(lock.path, error, tool, lock.conflict.markers))
    except ConfigurationError:
        return lock  # git has something other than a file there
    try:
        merged = committed_merge(repository, lock.path, lock.data)
    except RepositoryError:
        return lock  # a clone need not have the sides
    if merged is None:
        return lock
    sides = merged.sides
    base, ours, theirs = (parse(data, lock.path, dialect=tool) for data in (sides.base, sides.ours, sides.theirs))
    conflict = Conflict(
        lock.conflict.markers, ours, theirs, base, merge_commit=merged.commit, first_parent=merged.first_parent
    )
    return replace(lock, conflict=conflict)


def _staged(
    path: str, error: UnmergedFileError, tool: Dialect | None, markers: tuple[ConflictMarker, ...] = ()
) -> Conflict:
    sides = (error.ours, error.theirs, error.base)
    ours, theirs, base = (LockFile.absent(path) if data is None else parse(data, path, dialect=tool) for data in sides)
    return Conflict(markers, ours, theirs, base, is_staged=True)


def _target(tree: Tree, path: str) -> str:
    """Return what stands for the target of a link that is not a file that can be read; "" for what is no such link."""
    if not tree.leads_out(path) and not _is_broken(tree, path):
        return ""
    from locklens.project.folders import content_ids

    return content_ids(tree, (path,))[path]


def _unmerged(path: str, error: UnmergedFileError, tool: Dialect | None) -> LockFile:
    """Return a lock file of the index that is not merged, with both sides."""
    conflict = _staged(path, error, tool)
    problem = SyntaxProblem(1, 1, "Merge conflict", f"{error}: stage 2 (ours) and stage 3 (theirs); {error.hint}")
    return LockFile(
        path,
        b"",
        exists=True,
        writer=conflict.ours.writer or conflict.theirs.writer,
        entries=(),
        problems=(problem,),
        is_complete=False,
        conflict=conflict,
    )


def _is_broken(tree: Tree, path: str) -> bool:
    """True if a folder has the name, but no readable file of it."""
    folder, _, name = path.rpartition("/")
    return any(entry.name == name and entry.kind is EntryKind.BROKEN for entry in tree.list(folder))


def tool_of(tree: Tree, folder: str, lock: LockFile) -> Dialect:
    """Detect the tool of a root: by `.tofu` files, the lock's header, the hosts in it; else Terraform.

    Beside `.tf` files, which both read, the header counts before `.tofu` files.
    """
    return _detected_tool(tree, folder, lock) or TERRAFORM


def tool_before(tree: Tree, folder: str, lock: LockFile) -> Dialect | None:
    """Return the earlier tool of a root; None without a lock file or another sign."""
    return _detected_tool(tree, folder, lock) or (TERRAFORM if lock.exists else None)


def is_of_registry_of(tool: Dialect, lock: LockFile) -> bool:
    """True if a lock file has providers of one tool's own registry, and none of the other's.

    The tool writes these for sources without a host, and a changed comment cannot imitate them.
    """
    hosts = {entry.address.host for entry in lock.entries}
    defaults = {dialect.default_host for dialect in DIALECTS.values()}
    return hosts & defaults == {tool.default_host}


def _detected_tool(tree: Tree, folder: str, lock: LockFile) -> Dialect | None:
    try:
        names = [entry.name for entry in tree.list(folder) if entry.kind is EntryKind.FILE]
    except ConfigurationError:
        names = []  # reading the configuration reports the reason
    has_tofu = any(name.endswith((".tofu", ".tofu.json")) for name in names)
    if has_tofu and not any(name.endswith(TERRAFORM.file_suffixes) for name in names):
        return OPENTOFU
    if lock.writer is not None or has_tofu:
        return lock.writer or OPENTOFU
    return next((dialect for dialect in DIALECTS.values() if is_of_registry_of(dialect, lock)), None)


def tracked_packages_of(folder: Path, roots: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each root in which git tracks what the tools take for packages; () without a repository."""
    # Where there is nothing, git need not be started.
    asked = [root for root in roots if _may_have_packages(folder / root)]
    if not asked:
        return ()
    from locklens.operations.comparison import within
    from locklens.project.git import Repository

    try:
        with Repository.discover(folder) as repository:
            places = [within(repository, folder, root or ".") for root in asked]
            return packages_words(repository, places)
    except (NoRepositoryError, ConfigurationError):
        return ()  # A root outside of the repository is tracked by none.
    except RepositoryError as error:
        return (f"it is unknown whether git tracks packages that the tools would install: {error}",)


def _may_have_packages(folder: Path) -> bool:
    from locklens.project.effective_paths import packages_folder

    try:
        return any(packages_folder(name) is not None for name in os.listdir(folder))  # noqa: PTH208
    except OSError:
        return True  # git has to say


def packages_words(repository: Repository, roots: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each root, relative to the top, in which git tracks what the tools take for packages.

    Raises:
        RepositoryError: Git cannot list the index.
    """
    from locklens.project.effective_paths import packages_by_folder
    from locklens.review.rules.root import own_packages_words

    found = packages_by_folder(repository.listing(None))
    words = (own_packages_words(found.get(root, ())) for root in dict.fromkeys(roots))
    return tuple(filter(None, words))


def data_folder_of(root: Root, options: RootOptions) -> DataFolder:
    """Return a root's data folder."""
    from locklens.install import DataFolder
    from locklens.project.state import data_folder
    from locklens.project.tree import FileSystem

    folder = data_folder(FileSystem(options.folder), root.path, options.environ)
    return DataFolder.of(options.folder / root.path, options.folder / (folder or ".terraform"))
