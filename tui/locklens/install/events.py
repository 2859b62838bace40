"""Events of installing and locking providers, as values. They inform, and have no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from locklens.addresses import Platform
    from locklens.lockfile.update import Tracking
    from locklens.versions import Version


class _Of(Struct, frozen=True):
    """An event about one provider.

    Attributes:
        provider: The tool's name of the provider: without its default host.
    """

    provider: str


class QueryStarted(_Of, frozen=True):
    """A version is being selected; `constraints` is "" where there are none."""

    constraints: str
    is_locked: bool


class RegistryWarned(_Of, frozen=True):
    """The registry's warnings about the provider, verbatim."""

    words: tuple[str, ...]


class AlreadyInstalled(_Of, frozen=True):
    """The package in the data folder has a locked hash, so no registry was asked."""

    version: Version


class LinkedFromCache(_Of, frozen=True):
    """The plugin cache has the package, and the data folder has a link to it."""

    version: Version


class CacheBusy(_Of, frozen=True):
    """Another process is installing the package in the plugin cache, and is waited for."""

    version: Version


class FetchStarted(_Of, frozen=True):
    """A download begins; `platform` is None where the package is to be installed."""

    version: Version
    platform: Platform | None


class PackageArriving(_Of, frozen=True):
    """Progress of a download, in bytes; `size` is None where the server gives none."""

    version: Version
    platform: Platform
    received: int
    size: int | None


class FolderDiffers(_Of, frozen=True):
    """A package's folder does not match the package, and is replaced next; `found` is "" where it cannot be read."""

    version: Version
    folder: str
    found: str


class ProviderInstalled(_Of, frozen=True):
    """A package was installed; `signed` is the tool's description of its signature."""

    version: Version
    signed: str
    size: int


class PackageHashed(_Of, frozen=True):
    """The hashes of a package for the lock file are known.

    Attributes:
        was_remembered: True if it was hashed in an earlier run.
        is_reported: True if it was not hashed: the registry reports its `h1`.
    """

    version: Version
    platform: Platform
    signed: str
    was_remembered: bool
    is_reported: bool = False


class PackageMirrored(_Of, frozen=True):
    """A package is in the mirror's folder; `was_there` is True for one that was before."""

    version: Version
    platform: Platform
    signed: str
    was_there: bool


class HashesObtained(_Of, frozen=True):
    """The hashes of one platform, and whether they are new to the lock file."""

    platform: Platform
    tracking: Tracking


class ReleaseWarned(_Of, frozen=True):
    """A warning about a release.

    Attributes:
        words: A sentence without its full stop.
        rule: The rule of a review that finds the same; "" for none.
    """

    version: Version
    words: str
    rule: str = ""


class ProviderFailed(_Of, frozen=True):
    """A provider could not be installed or locked.

    Attributes:
        summary: The tool's title of such an error.
        words: A sentence without its full stop.
        hint: The next step, or "".
    """

    summary: str
    words: str
    hint: str


InstallEvent = (
    QueryStarted
    | RegistryWarned
    | AlreadyInstalled
    | LinkedFromCache
    | CacheBusy
    | FetchStarted
    | PackageArriving
    | FolderDiffers
    | ProviderInstalled
    | PackageHashed
    | PackageMirrored
    | HashesObtained
    | ReleaseWarned
    | ProviderFailed
)
