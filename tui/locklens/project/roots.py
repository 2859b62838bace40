"""Root modules, and where their lock files are."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LOCK_FILE = ".terraform.lock.hcl"
"""The lock file's name, which no tool lets anyone change."""


class RootEvidence(StrEnum):
    """The reason to take a folder without a lock file for a root.

    A backend has no effect in a module; a provider configuration may be that of an example, which nobody runs.
    """

    BACKEND = "backend"
    PROVIDER = "provider"


class RootPair(Struct, frozen=True):
    """A root module on both sides.

    Attributes:
        path: Its folder on the head side, "" for the top; on the base side where the head does not have it.
        old_lock: Path of the base's lock file, or None.
        new_lock: Path of the head's lock file, or None.
        lock_changed: The lock file's bytes differ, or it was added, deleted or moved.
        configuration_changed: A configuration file of the folder changed, or one of a local module that it calls.
        renamed_from: The folder on the base side, where it is another.
        is_module: The lock file was deleted from a folder that other roots call as a module on both sides, or there
            was none and nothing says that it is a root. Nothing has to be locked in it then.
        vendored: What the change adds or changes that the tools, run in the folder, take for packages: paths of the
            head side, in the order of their bytes.
        spellings: Paths of the folder, which the change adds or changes, and what some disk takes each for.
        has_packages: True if the head side tracks such files, whether the change concerns them or not.
        unlocked: Set for a root without a lock file on either side, of which a configuration file changed.
        states: Files that the change adds or modifies and that may be a state, of whichever root.
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
