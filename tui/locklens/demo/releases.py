"""The sample releases as lock files record them.

A release has a package for each of PLATFORMS and, as real ones do, a registry manifest whose hash many releases share.
The hashes are those of the packages that the demo registry serves; see `locklens.demo.packages`.
"""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.demo.packages import MANIFEST_JSON, h1, zh
from locklens.dialect import TERRAFORM, Dialect
from locklens.hashes import zh_of
from locklens.lockfile.model import LockEntry
from locklens.lockfile.render import render
from locklens.versions import Version

PLATFORMS = ("darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64")

MANIFEST = zh_of(sha256(MANIFEST_JSON).hexdigest())

LINUX = ("linux_amd64",)


class SampleLock(Struct, frozen=True):
    """One provider in a sample lock file.

    Attributes:
        provider: Full address.
        version: The selected version.
        constraints: Canonical text, "" for none.
        unpacked: Platforms whose `h1` is recorded.
        packed: Platforms whose `zh` is recorded; with any, the manifest's is too.
        edition: Edition of the release that the hashes belong to.
        hashes_of: Version that the hashes belong to; "" for the locked one.
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

    def at(self, version: str, constraints: str | None = None) -> SampleLock:
        """Return the same entry with another version, and with other constraints if given."""
        return replace(self, version=version, constraints=self.constraints if constraints is None else constraints)

    def hashes(self) -> tuple[str, ...]:
        """Return the recorded hashes."""
        release = self.provider, self.hashes_of or self.version
        unpacked = (h1(*release, platform, self.edition) for platform in self.unpacked)
        packed = (zh(*release, platform, self.edition) for platform in self.packed)
        return (*unpacked, *packed, *((MANIFEST,) if self.packed else ()), *self.more)

    def entry(self) -> LockEntry:
        """Return the block of the lock file."""
        address = ProviderAddress(*self.provider.split("/"))
        return LockEntry(address, Version.parse(self.version), self.constraints, self.hashes(), line=0)


def lock_file(*providers: SampleLock, dialect: Dialect = TERRAFORM) -> bytes:
    """Return a lock file as the tool writes it."""
    return render((provider.entry() for provider in providers), dialect)


__all__ = ["LINUX", "MANIFEST", "PLATFORMS", "SampleLock", "h1", "lock_file", "zh"]
