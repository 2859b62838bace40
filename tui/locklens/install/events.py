"""What happens while providers are installed or locked, as values. They inform, and steer nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from locklens.addresses import Platform
    from locklens.lockfile.update import Tracking
    from locklens.versions import Version


class _Of(Struct, frozen=True):
    """Something about one provider.

    Attributes:
        provider: As the tool names it: without its own default host.
    """

    provider: str


class QueryStarted(_Of, frozen=True):
    """A version is looked for; `constraints` is "" where there are none."""

    constraints: str
    is_locked: bool


class RegistryWarned(_Of, frozen=True):
    """The registry has something to say of the provider, in its own words."""

    words: tuple[str, ...]


class AlreadyInstalled(_Of, frozen=True):
    """The package in the data folder has a locked hash, so nobody was asked."""

    version: Version


class FetchStarted(_Of, frozen=True):
    """A package begins to arrive; `platform` is None where it is to be installed."""

    version: Version
    platform: Platform | None


class PackageArriving(_Of, frozen=True):
    """How far a package is, in bytes; `size` is None where its server does not say."""

    version: Version
    platform: Platform
    received: int
    size: int | None


class FolderReplaced(_Of, frozen=True):
    """What lay in a package's folder was not that package: it was replaced as a whole."""

    version: Version
    folder: str


class ProviderInstalled(_Of, frozen=True):
    """A package was installed; `signed` is what the tool says of its signature."""

    version: Version
    signed: str
    size: int


class PackageHashed(_Of, frozen=True):
    """A package was hashed for the lock file; `was_remembered`: in an earlier run."""

    version: Version
    platform: Platform
    signed: str
    was_remembered: bool


class HashesObtained(_Of, frozen=True):
    """What of one platform's hashes is new to the lock file."""

    platform: Platform
    tracking: Tracking


class ReleaseWarned(_Of, frozen=True):
    """Something about a release is odd, and was got over; `words` is a sentence without its full stop."""

    version: Version
    words: str


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
    | FetchStarted
    | PackageArriving
    | FolderReplaced
    | ProviderInstalled
    | PackageHashed
    | HashesObtained
    | ReleaseWarned
    | ProviderFailed
)
