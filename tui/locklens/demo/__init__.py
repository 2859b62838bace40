"""A sample repository in which every kind of change and finding has a place, to be looked at and to be tested with.

Here are the packages of its releases, as zip files, as unpacked folders, and as lock files record them.

They are small real zip files, the same bytes everywhere: entries are stored, because deflated bytes depend on the
version of zlib. A release has a package for each of PLATFORMS and, as real ones do, a registry manifest whose hash many
releases share. What the programs are is in `locklens.demo.programs`.
"""

from __future__ import annotations

import io
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.demo.programs import changelog, program
from locklens.dialect import TERRAFORM, Dialect
from locklens.hashes import h1_of_digests, zh_of
from locklens.lockfile import LockEntry
from locklens.lockfile.render import render
from locklens.versions import Version

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST_JSON = b"""{
    "version": 1,
    "metadata": {
        "protocol_versions": ["5.0"]
    }
}"""
"""A registry manifest with nothing but protocol 5.0; thousands of real releases have the same."""

MANIFEST = zh_of(sha256(MANIFEST_JSON).hexdigest())
PLATFORMS = ("darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64")
LINUX = ("linux_amd64",)

_DATE = (2024, 6, 1, 0, 0, 0)
_UNIX = 3
_EXECUTABLE, _READABLE, _FOLDER, _LINK = 0o100755, 0o100644, 0o040755, 0o120777


class PackageEntry(Struct, frozen=True):
    """One entry of a package file; `mode` is the Unix mode, including the file type."""

    name: str
    content: bytes
    mode: int = _READABLE


def package_bytes(provider: str, version: str, platform: str, edition: str = "") -> bytes:
    """Return the bytes of a package file, for a full address and OS_ARCH.

    The edition is "" for the first publication; a name in `_contents` for a malformed package; any other text for a
    republished one.
    """
    if edition == "no-zip":
        return b"<!DOCTYPE html>\n<html><body>Not here.</body></html>\n"
    stream = io.BytesIO()
    with ZipFile(stream, "w", ZIP_STORED) as archive:
        for file in _entries(provider, version, platform, edition):
            entry = ZipInfo(file.name, _DATE)
            entry.create_system = _UNIX
            entry.external_attr = file.mode << 16
            archive.NameToInfo.clear()  # avoids a warning about two entries of one name, which one edition has
            archive.writestr(entry, file.content)
    return stream.getvalue()


@lru_cache(maxsize=4096)
def zh(provider: str, version: str, platform: str, edition: str = "") -> str:
    """Return the `zh` of a package. Arguments are those of `package_bytes`."""
    return zh_of(sha256(package_bytes(provider, version, platform, edition)).hexdigest())


@lru_cache(maxsize=4096)
def h1(provider: str, version: str, platform: str, edition: str = "") -> str:
    """Return the `h1` of a package. Arguments are those of `package_bytes`."""
    files = (file for file in _entries(provider, version, platform, edition) if not file.name.endswith("/"))
    return h1_of_digests((file.name.encode(), sha256(file.content).hexdigest()) for file in files)


def file_name(provider: str, version: str, suffix: str) -> str:
    """Return the name of a release's file; `suffix` is e.g. `linux_amd64.zip` or `SHA256SUMS`."""
    return f"terraform-provider-{provider.rpartition('/')[2]}_{version}_{suffix}"


def _entries(provider: str, version: str, platform: str, edition: str) -> list[PackageEntry]:
    suffix = ".exe" if platform.startswith("windows") else ""
    text = f"#!/bin/sh\n# A sample of locklens: {provider} {version} for {platform}"
    text += f", {edition}\n" if edition else "\n"
    name = f"terraform-provider-{provider.rpartition('/')[2]}_v{version}{suffix}"
    binary = program(provider, version, platform, edition) or (text + "exit 1\n").encode()
    license_text = PackageEntry("LICENSE", b"Nobody's: made by locklens to be looked at.\n")
    entries = _contents(edition, PackageEntry(name, binary, _EXECUTABLE), license_text)
    notes = changelog(provider, version, edition)
    return [PackageEntry("CHANGELOG.md", notes.encode()), *entries] if notes and entries else entries


def _contents(edition: str, program: PackageEntry, text: PackageEntry) -> list[PackageEntry]:
    """Return the entries of a package; the name of an edition describes how its package is malformed."""
    match edition:
        case "empty":
            return []
        case "no-program":
            return [text]
        case "program-in-folder":
            return [replace(program, name=f"bin/{program.name}"), text]
        case "no-mode-to-run":
            return [replace(program, mode=_READABLE), text]
        case "other-modes":
            return [program, text, PackageEntry("a", b"", 0o100600), PackageEntry("b", b"", 0o100711)]
        case "folders":
            return [PackageEntry("docs/", b"", _FOLDER), PackageEntry("docs/index.md", b"# Hi\n"), program, text]
        case "unclean":
            return [program, PackageEntry("./a", b"a"), PackageEntry("b//c", b"c"), PackageEntry("/d", b"d")]
        case "twice":
            return [program, text, PackageEntry("LICENSE", b"Another.\n")]
        case "link":
            return [program, PackageEntry("TEXT", b"LICENSE", _LINK), text]
        case "link-out":
            return [program, PackageEntry("out", b"../../../../../../../..", _LINK), text]
        case "link-to-write-through":
            return [program, PackageEntry("out", b"..", _LINK), PackageEntry("out/escaped.txt", b"out\n")]
        case "escaping":
            return [program, PackageEntry("../escaped.txt", b"out\n"), text]
        case _:
            return [program, text]


def write_unpacked(top: Path, provider: str, version: str, platform: str, edition: str = "") -> Path:
    """Write a package into HOST/NAMESPACE/TYPE/VERSION/OS_ARCH below a folder, and return its folder.

    Raises:
        OSError: It cannot be written.
    """
    place = top / provider / version / platform
    place.mkdir(parents=True)
    with ZipFile(io.BytesIO(package_bytes(provider, version, platform, edition))) as archive:
        archive.extractall(place)
    return place


class SampleLock(Struct, frozen=True):
    """One provider in a sample lock file.

    Attributes:
        provider: Full address.
        constraints: Canonical text, or "".
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
