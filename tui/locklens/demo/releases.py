"""The sample providers' releases: packages that nobody made, whose hashes are digests of their names.

A release has a package for each of PLATFORMS and, as real ones do, a registry manifest whose hash many releases share.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.dialect import TERRAFORM, Dialect
from locklens.lockfile.model import LockEntry
from locklens.lockfile.render import render
from locklens.versions import Version

PLATFORMS = ("darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64")

MANIFEST = "zh:78d5eefdd9e494defcb3c68d282b8f96630502cac21d1ea161f53cfe9bb483b3"
"""A manifest that says nothing but protocol 5.0; thousands of real releases have the same."""

LINUX = ("linux_amd64",)


def zh(provider: str, version: str, platform: str, edition: str = "") -> str:
    """Returns the hash of a package file.

    Args:
        provider: Full address.
        version: Of the release.
        platform: OS_ARCH.
        edition: "" for the first publication; any other text for packages that took its place.
    """
    return "zh:" + sha256(f"package {provider} {version} {platform} {edition}".encode()).hexdigest()


def h1(provider: str, version: str, platform: str, edition: str = "") -> str:
    """Returns the hash of the unpacked package; arguments as of `zh`."""
    digest = sha256(f"folder {provider} {version} {platform} {edition}".encode()).digest()
    return "h1:" + b64encode(digest).decode()


class Locked(Struct, frozen=True):
    """One provider in a sample lock file.

    Attributes:
        provider: Full address.
        version: What the lock file says is selected.
        constraints: Canonical text, "" for none.
        unpacked: Platforms whose `h1` is recorded.
        packed: Platforms whose `zh` is recorded; with any, the manifest's is too.
        edition: Which publication of the release the hashes are of.
        hashes_of: The version that the hashes belong to; "" for that which is locked.
        more: Hashes that belong to no release.
    """

    provider: str
    version: str
    constraints: str = ""
    unpacked: tuple[str, ...] = LINUX
    packed: tuple[str, ...] = PLATFORMS
    edition: str = ""
    hashes_of: str = ""
    more: tuple[str, ...] = ()

    def at(self, version: str, constraints: str | None = None) -> Locked:
        """Returns the same with another version, and other constraints where they are given."""
        return replace(self, version=version, constraints=self.constraints if constraints is None else constraints)

    def hashes(self) -> tuple[str, ...]:
        """Returns the recorded hashes."""
        release = self.provider, self.hashes_of or self.version
        unpacked = (h1(*release, platform, self.edition) for platform in self.unpacked)
        packed = (zh(*release, platform, self.edition) for platform in self.packed)
        return (*unpacked, *packed, *((MANIFEST,) if self.packed else ()), *self.more)

    def entry(self) -> LockEntry:
        """Returns the block of the lock file."""
        address = ProviderAddress(*self.provider.split("/"))
        return LockEntry(address, Version.parse(self.version), self.constraints, self.hashes(), line=0)


def lock_file(*providers: Locked, dialect: Dialect = TERRAFORM) -> bytes:
    """Returns a lock file as the tool would have written it."""
    return render((provider.entry() for provider in providers), dialect)
