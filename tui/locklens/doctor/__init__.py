"""Recognises errors of `init` in logs, and judges their causes by facts that are handed in. No input or output.

Here are the facts as values: copies of packages, places, and entries of commits and of other lock files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from locklens.dialect import twin_of
from locklens.hashes import hashes_of_files, hashes_of_zips
from locklens.packages.installed import KEPT_ASIDE
from locklens.project.installation import InstallationMethod, MethodKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile import LockEntry, LockFile
    from locklens.project.configuration import Configuration, Requirement
    from locklens.versions import Version


class FoundPackage(Struct, frozen=True):
    """A package on disk, or one that was handed in.

    Attributes:
        kind: The kind of its place: installed, plugin-cache, mirror or given.
        path: Its path as the user knows it.
        platform: OS_ARCH; "" for unknown.
        hashes: One of each scheme, of a folder those of its files; none where it could not be hashed.
        problem: The reason why it could not be hashed.
        is_damaged: True if that is its own fault: it is not a zip file of a package.
        is_left: True if it was not hashed, since there are more copies than are.
        differing: Files that are added, missing or changed beside a copy that the lock file accepts, in words.
        is_of_root: True if it is installed in the examined root.
        place: The absolute path of a folder on disk; "" for others. Reports do not show it.
        aside: What its name gets at its end where it is moved aside: a name that is free.
        base: The repository, plugin cache or mirror that it is in, absolute.
        later: Files that were changed after the folder was made.
        is_of_run: True if the user named it, or its folder, as that of the failing run, or the message its path.
        cached: The path, as the user knows it, of the plugin cache's folder that it is a link to; "" for none.
        link: The absolute path that it leads to, where it is a link, and not to a folder of the plugin cache; else "".
        behind: The kind of the place that this machine's settings name before its mirror, and that gives the package: a
            folder with a copy of the platform, else a server, else the registry; None for none.
        is_new: True if it was put there later than the log.
        is_read: True if it is what a mirror on a server gave here, and the hashes are not those that this lists.
        types: The types of providers that its name, or those of its files, have, where it was handed in.
        misfit: What the program in a folder is, by its headers, where that is not of its platform; "" else, or unknown.
        lacks_program: True if a folder has no file that the tools take for a provider's program: no release is so.
    """

    kind: str
    path: str
    platform: str = ""
    hashes: frozenset[str] = frozenset()
    problem: str = ""
    is_damaged: bool = False
    is_left: bool = False
    differing: tuple[str, ...] = ()
    is_of_root: bool = False
    place: str = ""
    aside: str = KEPT_ASIDE
    base: str = ""
    later: tuple[str, ...] = ()
    is_of_run: bool = False
    cached: str = ""
    link: str = ""
    behind: MethodKind | None = None
    is_new: bool = False
    is_read: bool = False
    types: frozenset[str] = frozenset()
    misfit: str = ""
    lacks_program: bool = False

    @property
    def zh(self) -> str:
        """The hash of its zip file; "" for a folder."""
        return min(hashes_of_zips(self.hashes), default="")

    @property
    def of_files(self) -> frozenset[str]:
        """The hashes of its files; none where only a `zh` is known."""
        return hashes_of_files(self.hashes)

    def top(self, address: ProviderAddress | None) -> str:
        """The folder of the mirror or cache that it is in, as the user knows it."""
        return self.path.partition(f"/{address}")[0]

    @property
    def shown_hash(self) -> str:
        """The hash that sentences name: one of its files where it is known; "" where it could not be hashed."""
        return min(self.of_files or self.hashes, default="")


class OfferedPackage(Struct, frozen=True):
    """The registry's answer of now about the package that the failing run asked for.

    Attributes:
        url: That of the package, without a query, as the registry names it; "" where it names none.
        problem: Why there is no package, in a clause; "" where there is, as far as its file was asked for.
        is_absent: True if that is a 404.
    """

    url: str
    problem: str = ""
    is_absent: bool = False

    @property
    def host(self) -> str:
        """The host of the package, with its port; "" where the registry names none."""
        return urlsplit(self.url).netloc


def holding(found: tuple[FoundPackage, ...], entry: LockEntry) -> tuple[FoundPackage, ...]:
    """Return the copies that the lock file accepts."""
    return tuple(one for one in found if one.hashes & entry.accepted and one.kind != "given")


_LIKELIEST = (MethodKind.NETWORK, MethodKind.FILESYSTEM)


def likeliest_mirror(methods: Iterable[InstallationMethod]) -> InstallationMethod | None:
    """Return the mirror that packages most likely come from: on the web, else a folder, else another one."""
    return min(methods, key=lambda one: (*_LIKELIEST, one.kind).index(one.kind), default=None)


class InstalledPlace(Struct, frozen=True):
    """The folder of a root's installed packages.

    Attributes:
        place: It on disk, absolute.
        shown: It as reports show it.
        base: The folder that it must not lead out of.
        is_there: True if the root has been initialised here.
        setting: The value of TF_DATA_DIR that the log names, and this process does not have; "" for none.
        modules: The list of the installed modules beside it, as reports show it.
        has_new_call: True if that was written later than the log, and lists the call that the message shows.
        lacking: The calls of modules, as far as they are known, that it does not list as they are called, so that every
            command but init fails.
        is_of_run: False if the log may be of another machine, since another program printed it: the failing run may
            have a folder of its own there.
    """

    place: str
    shown: str
    base: str
    is_there: bool
    setting: str = ""
    modules: str = ""
    has_new_call: bool = False
    lacking: tuple[str, ...] = ()
    is_of_run: bool = True


class PastEntry(Struct, frozen=True):
    """A state of the entry, from one commit to the next; `entry` is None where it was not locked.

    Attributes:
        commit: "" for a state that was not committed.
        date: ISO 8601, of the commit; of a state that was not committed, of the write that ended it.
        last: The newest commit that still has it, as far as it was looked up; "" if it was not.
        borrowed_from: The version for which another commit, before all others, locks its packages; "" for its own.
        is_merged: True of such a state that a merge made.
    """

    commit: str
    date: str
    entry: LockEntry | None
    last: str = ""
    borrowed_from: str = ""
    is_merged: bool = False

    @property
    def accepted(self) -> frozenset[str]:
        """The locked hashes; none where it was not locked."""
        return self.entry.accepted if self.entry is not None else frozenset()

    def is_of(self, version: Version | str) -> bool:
        """True if it locks a version."""
        return self.entry is not None and str(self.entry.version) == str(version)


class FileOfTool(Struct, frozen=True):
    """The lock file of a commit that a tool wrote, by its name, with the entries."""

    commit: str
    tool: str
    entries: tuple[LockEntry, ...]


def locked_states(past: Iterable[PastEntry]) -> list[tuple[str, LockEntry]]:
    """Return the commits of those states that lock the provider, each with the entry."""
    return [(one.commit, one.entry) for one in past if one.entry is not None]


class ElsewhereEntry(Struct, frozen=True):
    """An entry of the provider in another lock file, by its path in the repository.

    Attributes:
        root: The folder of the lock file, as reports show it.
        requirements: What requires the provider there; () where the configuration was not read.
        since: The date of the first commit in which it is as it is, ISO 8601; "" if unknown or not committed so.
        shared: Those commits of earlier states, first or last, that have the examined root's entry in its file, too.
    """

    lock_file: str
    entry: LockEntry
    root: str = ""
    requirements: tuple[Requirement, ...] = ()
    since: str = ""
    shared: frozenset[str] = frozenset()


class EditedHash(Struct, frozen=True):
    """A hash as it is locked now, and as a commit locks it; the package at hand that has the earlier one."""

    now: str
    was: str
    commit: str
    package: str


def is_for_twin(address: ProviderAddress, lock: LockFile, configuration: Configuration) -> bool:
    """True if a root requires a locked provider in the other tool's registry, and does not lock it there."""
    required, twin = configuration.required(), twin_of(address)
    return address not in required and twin in required and lock.entry(twin) is None


def taken_over(address: ProviderAddress | None, lock: LockFile, tool: Dialect) -> LockEntry | None:
    """Return the entry, without hashes, that OpenTofu makes of one of Terraform's registry; None for none."""
    from locklens.lockfile.update import migrated

    return next(
        (one for one in migrated(lock.entries, tool).entries[len(lock.entries) :] if one.address == address), None
    )


def may_read(tool: Dialect, root: str, configuration: Configuration) -> bool:
    """False if the folder of a root has configuration files, and a tool reads none of them."""
    own = [file for file in configuration.files if file.rpartition("/")[0] == root]
    return not own or any(file.endswith(tool.file_suffixes) for file in own)
