"""Root modules as the commands that write work on them: what is there, what becomes of it, and how it is written."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.install.model import Wanted
from locklens.lockfile.update import Difference, migrated
from locklens.project.requirements import read_configuration
from locklens.project.roots import LOCK_FILE
from locklens.project.state import data_folder
from locklens.project.tree import FileSystem
from locklens.storage.files import write_atomically
from locklens.workspace.roots import read_lock, tool_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockEntry, LockFile
    from locklens.project.configuration import Configuration


class Readonly(StrEnum):
    """What `--lockfile` asks for."""

    NO = ""
    STRICT = "readonly"
    LENIENT = "readonly-lenient"


class Trouble(Struct, frozen=True):
    """Something that went wrong, or is worth a warning.

    Attributes:
        summary: A title, as the tool has it where it has one.
        words: A sentence without its full stop.
        hint: The next step, or "".
        is_warning: Whether it kept nothing from being done.
    """

    summary: str
    words: str
    hint: str = ""
    is_warning: bool = False


class Outcome(Struct, frozen=True):
    """What became of one root.

    Attributes:
        root: Its folder, as it was named.
        lock_file: Its lock file, likewise.
        tool: Whose rules held.
        is_empty: Whether there is no configuration in the folder.
        difference: Between the entries before and after, as the tools tell them apart.
        was_absent: Whether nothing was locked before.
        before: The lock file's bytes, b"" where there was none.
        after: What they are now, or would be; None where the run failed before that was known.
        is_written: Whether the file was written.
        troubles: What went wrong, and what was warned of.
        notes: What else there is to know, in sentences.
    """

    root: str
    lock_file: str
    tool: Dialect
    is_empty: bool = False
    difference: Difference = Difference.NONE
    was_absent: bool = False
    before: bytes = b""
    after: bytes | None = None
    is_written: bool = False
    troubles: tuple[Trouble, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Whether anything went wrong."""
        return any(not one.is_warning for one in self.troubles)

    @property
    def would_change(self) -> bool:
        """Whether the lock file's bytes are, or would be, other ones."""
        return self.after is not None and self.after != self.before


class Options(Struct, frozen=True):
    """What holds for every root of a command.

    Attributes:
        folder: From which roots are named.
        environ: The tools' settings.
        tool: Whose rules count for every root; None: each root's own tool.
        test_directory: Where a root's test files are, relative to the root.
        allow_missing_modules: Whether to work on the modules that are there.
        dry_run: Whether nothing is written.
    """

    folder: Path
    environ: Mapping[str, str]
    tool: Dialect | None = None
    test_directory: str = "tests"
    allow_missing_modules: bool = False
    dry_run: bool = False


class Root(Struct, frozen=True):
    """A root as it was read.

    Attributes:
        path: Its folder, as it was named; "" for the current one.
        entries: What is locked; with OpenTofu, also what it makes of Terraform's entries.
        moved: Old and new address of what it made.
    """

    path: str
    tool: Dialect
    lock: LockFile
    configuration: Configuration
    data: Path
    entries: tuple[LockEntry, ...]
    moved: tuple[tuple[ProviderAddress, ProviderAddress], ...] = ()

    @property
    def name(self) -> str:
        """For messages."""
        return self.path or "."

    def wanted(self, skipped: frozenset[ProviderAddress] = frozenset()) -> list[Wanted]:
        """The providers that it requires, in their order."""
        prior = {entry.address: entry for entry in reversed(self.entries)}
        found = sorted(self.configuration.required() - skipped)
        return [Wanted(address, self.configuration.of(address), prior.get(address)) for address in found]

    def outcome(self, troubles: Sequence[Trouble] = ()) -> Outcome:
        """An outcome in which nothing was done."""
        return Outcome(self.name, self.lock.path, self.tool, before=self.lock.data, troubles=tuple(troubles))


def read_root(path: str, options: Options, *, for_locking: bool) -> Root:
    """Reads a root's lock file and configuration.

    Raises:
        ConfigurationError: There is no such folder.
    """
    tree = FileSystem(options.folder)
    folder = tree.join("", path) or ""
    if not tree.has_folder(folder):
        raise ConfigurationError("there is no such folder", path=path, hint="name the folder of a root module")
    lock_file = f"{folder}/{LOCK_FILE}" if folder else LOCK_FILE
    lock = read_lock(tree, lock_file, options.tool)
    tool = options.tool or tool_of(tree, folder, lock)
    if lock.writer is not tool:
        lock = read_lock(tree, lock_file, tool)
    configuration = read_configuration(
        tree,
        folder,
        dialect=tool,
        worktree=tree,
        environ=options.environ,
        test_directory=options.test_directory,
        for_locking=for_locking,
    )
    place = data_folder(tree, folder, options.environ) or ".terraform"
    found = migrated(lock.entries, tool)
    return Root(folder, tool, lock, configuration, options.folder / place, found.entries, found.moved)


def write_lock(root: Root, data: bytes, options: Options) -> None:
    """Writes a root's lock file, unless it is no longer the one that was read.

    Raises:
        ConfigurationError: It changed meanwhile, or cannot be written.
    """
    current = read_lock(FileSystem(options.folder), root.lock.path, root.tool)
    if (current.exists, current.data) != (root.lock.exists, root.lock.data):
        words = "the lock file changed while this ran, so nothing was written"
        raise ConfigurationError(words, path=root.lock.path, hint="run it again")
    write_atomically(options.folder / root.lock.path, data)
