"""The configuration of root modules. Here: where their lock files are, and which files of a folder are configuration.

As the loaders of both tools decide it, by names alone: by the ending, without leftovers of editors, and OpenTofu lets
a `.tofu` file replace the `.tf` file of the same name.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from locklens.project.tree import EntryKind, FolderEntry, name_bytes, name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.dialect import Dialect

LOCK_FILE = ".terraform.lock.hcl"
"""The lock file's name, which no tool lets anyone change."""

GENERATORS = ("terragrunt.hcl", "terragrunt.hcl.json")
"""Files from which another tool generates configuration beside them, or in a folder of its own."""


class RootEvidence(StrEnum):
    """The reason to take a folder without a lock file for a root.

    A backend has no effect in a module; a provider configuration may be that of an example, which is never run.
    """

    BACKEND = "backend"
    PROVIDER = "provider"


class RootPair(Struct, frozen=True):
    """A root module on both sides.

    Attributes:
        path: Its folder on the head side, "" for the top; on the base side where the head does not have it.
        lock_changed: The lock file's bytes differ, or it was added, deleted or moved.
        configuration_changed: A configuration file of the folder changed, or one of a local module that it calls.
        renamed_from: The folder on the base side, where it is another.
        equals_before: The number of other folders that neither files nor names tell from that one, with equal locks.
        unlike_before: Such folders whose lock files differ from that one's.
        is_module: The lock file was deleted from a folder that other roots call as a module on both sides, or there
            was none and nothing says that it is a root. Nothing has to be locked in it then.
        vendored: What the change adds or changes that the tools, run in the folder, take for packages: paths of the
            head side, in the order of their bytes.
        spellings: Paths of the folder, which the change adds or changes, and what some file system takes each for.
        has_packages: True if the head side tracks such files, whether the change concerns them or not.
        unlocked: Set for a root without a lock file on either side, if a configuration file of it changed, or if the
            user named it.
        states: Files that the change adds or modifies and that may be a state, of whichever root.
        callers: The number of other roots that call the folder as a module, if the lock file was added.
    """

    path: str
    old_lock: str | None
    new_lock: str | None
    lock_changed: bool
    configuration_changed: bool
    renamed_from: str | None
    is_module: bool = False
    vendored: tuple[str, ...] = ()
    has_packages: bool = False
    unlocked: RootEvidence | None = None
    states: tuple[str, ...] = ()
    spellings: Mapping[str, str] = {}
    equals_before: int = 0
    unlike_before: tuple[str, ...] = ()
    callers: int = 0


class FolderFiles(Struct, frozen=True):
    """A module folder's configuration files, each list in the order of the names' bytes.

    Attributes:
        primary: Files that declare.
        overrides: Files that change what primary files declare.
    """

    primary: tuple[FolderEntry, ...]
    overrides: tuple[FolderEntry, ...]

    def __bool__(self) -> bool:
        return bool(self.primary or self.overrides)


def is_lock_file(path: str) -> bool:
    """True if a path has the name of a lock file."""
    return name_of(path) == LOCK_FILE


def configuration_files(entries: Iterable[FolderEntry], dialect: Dialect) -> FolderFiles:
    """Return the configuration files among a folder's entries, without those that OpenTofu skips for another one."""
    primary: list[FolderEntry] = []
    overrides: list[FolderEntry] = []
    for entry in _with_suffix(entries, dialect.file_suffixes):
        (overrides if is_override(entry.name, dialect) else primary).append(entry)
    return FolderFiles(_unshadowed(primary, dialect.file_suffixes), _unshadowed(overrides, dialect.file_suffixes))


def generator_among(entries: Iterable[FolderEntry]) -> str:
    """Return the name of the file from which another tool generates configuration; "" if there is no such file."""
    names = {entry.name for entry in entries if entry.kind is not EntryKind.LINKED_FOLDER}
    return next((name for name in GENERATORS if name in names), "")


def has_generator(paths: Iterable[str]) -> bool:
    """True if one of the paths is that of a file from which another tool generates configuration."""
    return any(name_of(path) in GENERATORS for path in paths)


def files_of_tests(entries: Iterable[FolderEntry], dialect: Dialect) -> tuple[FolderEntry, ...]:
    """Return the test files among a folder's entries. The naming of override files means nothing for them."""
    return _unshadowed(_with_suffix(entries, dialect.test_suffixes), dialect.test_suffixes)


def is_override(name: str, dialect: Dialect) -> bool:
    """True if a configuration file changes what others declare."""
    stem = name.removesuffix(_suffix(name, dialect.file_suffixes))
    return stem == "override" or stem.endswith("_override")


def is_json(name: str) -> bool:
    """True if a configuration file is in the JSON syntax."""
    return name.endswith(".json")


def _with_suffix(entries: Iterable[FolderEntry], suffixes: tuple[str, ...]) -> list[FolderEntry]:
    """Folders are not files whatever their name; a link to one is tried, and fails, as with the tools."""
    files = (entry for entry in entries if entry.kind is not EntryKind.FOLDER and not entry.name.startswith("."))
    return sorted((file for file in files if file.name.endswith(suffixes)), key=lambda file: name_bytes(file.name))


def _unshadowed(entries: list[FolderEntry], suffixes: tuple[str, ...]) -> tuple[FolderEntry, ...]:
    names = {entry.name for entry in entries}
    return tuple(entry for entry in entries if _rival(entry.name, suffixes) not in names)


def _rival(name: str, suffixes: tuple[str, ...]) -> str:
    """The name that takes this one's place where the same list has it; "" where no name does."""
    suffix = _suffix(name, suffixes)
    other = suffix.replace(".tf", ".tofu")
    return name.removesuffix(suffix) + other if other != suffix and other in suffixes else ""


def _suffix(name: str, suffixes: tuple[str, ...]) -> str:
    return next((suffix for suffix in suffixes if name.endswith(suffix)), "")
