"""The packages of the sample releases: real zip files, small, and the same bytes everywhere.

Entries are stored, not deflated: what a deflated entry looks like depends on the version of zlib.
"""

from __future__ import annotations

import io
from functools import lru_cache
from hashlib import sha256
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from msgspec import Struct
from msgspec.structs import replace

from locklens.hashes import h1_of_digests, zh_of

MANIFEST_JSON = b"""{
    "version": 1,
    "metadata": {
        "protocol_versions": ["5.0"]
    }
}"""
"""A registry manifest that says nothing but protocol 5.0; thousands of real releases have the same."""

_DATE = (2024, 6, 1, 0, 0, 0)
_UNIX = 3
_EXECUTABLE, _READABLE, _FOLDER, _LINK = 0o100755, 0o100644, 0o040755, 0o120777


class PackageEntry(Struct, frozen=True):
    """One entry of a package file; `mode` holds what Unix says of it, its kind too."""

    name: str
    content: bytes
    mode: int = _READABLE


def package_bytes(provider: str, version: str, platform: str, edition: str = "") -> bytes:
    """Returns the bytes of a package file.

    Args:
        provider: Full address.
        version: Of the release.
        platform: OS_ARCH.
        edition: "" for the first publication; one that `_contents` names for an odd package; any other text for
            packages that took the place of the first.
    """
    if edition == "no-zip":
        return b"<!DOCTYPE html>\n<html><body>Not here.</body></html>\n"
    stream = io.BytesIO()
    with ZipFile(stream, "w", ZIP_STORED) as archive:
        for one in _entries(provider, version, platform, edition):
            entry = ZipInfo(one.name, _DATE)
            entry.create_system = _UNIX
            entry.external_attr = one.mode << 16
            archive.NameToInfo.clear()  # or it would warn of two entries of one name, which is one of the oddities
            archive.writestr(entry, one.content)
    return stream.getvalue()


@lru_cache(maxsize=4096)
def zh(provider: str, version: str, platform: str, edition: str = "") -> str:
    """Returns the hash of a package file; arguments as of `package`."""
    return zh_of(sha256(package_bytes(provider, version, platform, edition)).hexdigest())


@lru_cache(maxsize=4096)
def h1(provider: str, version: str, platform: str, edition: str = "") -> str:
    """Returns the hash of the unpacked package; arguments as of `package`."""
    files = (one for one in _entries(provider, version, platform, edition) if not one.name.endswith("/"))
    return h1_of_digests((one.name.encode(), sha256(one.content).hexdigest()) for one in files)


def file_name(provider: str, version: str, what: str) -> str:
    """Returns what a file of a release is called; `what` is e.g. `linux_amd64.zip` or `SHA256SUMS`."""
    return f"terraform-provider-{provider.rpartition('/')[2]}_{version}_{what}"


def _entries(provider: str, version: str, platform: str, edition: str) -> list[PackageEntry]:
    suffix = ".exe" if platform.startswith("windows") else ""
    text = f"#!/bin/sh\n# A sample of locklens: {provider} {version} for {platform}"
    text += f", {edition}\n" if edition else "\n"
    name = f"terraform-provider-{provider.rpartition('/')[2]}_v{version}{suffix}"
    program = PackageEntry(name, (text + "exit 1\n").encode(), _EXECUTABLE)
    return _contents(edition, program, PackageEntry("LICENSE", b"Nobody's: made by locklens to be looked at.\n"))


def _contents(edition: str, program: PackageEntry, text: PackageEntry) -> list[PackageEntry]:
    """Returns what is in a package, and what is wrong with it where the edition is an odd one."""
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
