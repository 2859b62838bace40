"""The context that a root is judged in: what is known besides its own files and the facts about releases."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile import LockEntry
    from locklens.project.gittree import Conversion
    from locklens.versions import Version


class ToolChange(Struct, frozen=True):
    """A change of the tool; `has_migrated` if the providers, but for sources with another host, are of its registry."""

    before: Dialect
    now: Dialect
    has_migrated: bool


class Unreviewed(Struct, frozen=True):
    """A submodule or link in place of a repository file; it was not read.

    Attributes:
        what: The kind, such as "a submodule (A -> B)".
        blocks: True if the change puts it in place of a part of a root.
        content: Stands for what it leads to: the whole commit ids, or the link's target.
    """

    what: str
    blocks: bool
    content: str = ""


class Unread(Struct, frozen=True):
    """A file whose requirements are not known: a configuration, values of variables, or a state.

    Attributes:
        fault: The unknown fact and the reason, in a few words.
        line: From 1; None for the whole file.
        is_new: True if the old side does not have the fault.
        content: Stands for the content of the file.
    """

    fault: str
    line: int | None
    is_new: bool
    content: str = ""


class Absence(StrEnum):
    """The reason why a root's lock file is not in the repository."""

    MISSING = "missing"
    IGNORED = "ignored"
    DELETED = "deleted"


class UnlockedRoot(Struct, frozen=True):
    """A root without a lock file in the repository.

    It had none before either, and a configuration file changed or the user named it; or git ignores the lock file that
    was there.

    Attributes:
        has_backend: True if the configuration says where the state is kept.
        required_before: The providers that the old side's configuration requires.
        is_changed: True if the change concerns the root.
        pattern: The place of the pattern by which git ignores the lock file that the old side has, `FILE:LINE`.
    """

    has_backend: bool
    absence: Absence = Absence.MISSING
    required_before: frozenset[ProviderAddress] = frozenset()
    is_changed: bool = True
    pattern: str = ""


class LockedPlace(Struct, frozen=True):
    """A place of a locked version: lock file, line from 1; `is_base` for the old side's file.

    Attributes:
        agrees_now: True of one that contradicts an entry and is of the old side, if that file agrees now.
    """

    lock_file: str
    line: int
    is_base: bool = False
    agrees_now: bool = False


class LockedElsewhere(Struct, frozen=True):
    """What the base's lock files of other roots have of a provider that is new in a root: the lowest and highest entry.

    Attributes:
        hashes: All hashes that they lock for the version that is new in the root; none where none locks it.
    """

    lowest: LockEntry
    lowest_in: str
    highest: LockEntry
    highest_in: str
    hashes: frozenset[str]


class CommittedVersion(Struct, frozen=True):
    """A version of a provider that a commit locks, by full id."""

    commit: str
    version: Version


class Minority(Struct, frozen=True):
    """The few of all lock files that lock other packages for a version than most of them: their number and places."""

    number: int
    total: int
    places: tuple[LockedPlace, ...]


class RootContext(Struct, frozen=True):
    """The context that a root is judged in, besides its own files and the facts about releases.

    Attributes:
        converted: Its lock file, configuration, values and state that git converts on checkout, by path.
        unreviewed: Submodules and links in place of the root or its files, which were not read, by path.
        unread: Files of the configuration and states whose requirements are not known, by path.
        is_generation_noted: True if one note stands for all roots whose configuration another tool may generate.
        minorities: The lock files that differ from most others on one of those providers, if fewer than half do.
        rivals: The first places on either side that lock different packages for the version of a change, by provider.
        vendored: Paths of files of the change that the tools, run in the root, take for packages.
        spellings: Paths of files of the change, and what some disk takes each for.
        equals_before: The number of equal roots that neither files nor names tell from the one that it was moved from.
        unlike_before: The folders of such roots whose lock files differ from that one's.
        contents: Digests of the content of both sides' paths.
        has_packages: True if there are such files in the repository, of the change or not.
        unlocked: Set for a root without a lock file in the repository on either side, or whose file git ignores now.
        is_survey: True if the subject is all that is locked, so that unchanged providers are judged like changed ones.
        callers: The number of other roots that call the folder as a module, if the lock file was added.
    """

    policy: Policy = Policy()
    tool_change: ToolChange | None = None
    converted: Mapping[str, Conversion] = {}
    unreviewed: Mapping[str, Unreviewed] = {}
    unread: Mapping[str, Unread] = {}
    rivals: Mapping[ProviderAddress, Sequence[LockedPlace]] = {}
    is_generation_noted: bool = False
    minorities: Mapping[ProviderAddress, Minority] = {}
    vendored: tuple[str, ...] = ()
    contents: Mapping[str, str] = {}
    has_packages: bool = False
    unlocked: UnlockedRoot | None = None
    is_survey: bool = False
    spellings: Mapping[str, str] = {}
    equals_before: int = 0
    unlike_before: tuple[str, ...] = ()
    callers: int = 0
