"""The packages of the sample releases: real zip files, small, and the same bytes everywhere.

Entries are stored, not deflated: what a deflated entry looks like depends on the version of zlib.
"""

from __future__ import annotations

import io
from functools import lru_cache
from hashlib import sha256
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from locklens.hashes import h1_of_digests

MANIFEST_JSON = b"""{
    "version": 1,
    "metadata": {
        "protocol_versions": ["5.0"]
    }
}"""
"""A registry manifest that says nothing but protocol 5.0; thousands of real releases have the same."""

_DATE = (2024, 6, 1, 0, 0, 0)
_UNIX = 3
_EXECUTABLE, _READABLE = 0o100755 << 16, 0o100644 << 16


def package(provider: str, version: str, platform: str, edition: str = "") -> bytes:
    """Returns the bytes of a package file.

    Args:
        provider: Full address.
        version: Of the release.
        platform: OS_ARCH.
        edition: "" for the first publication; any other text for packages that took its place.
    """
    stream = io.BytesIO()
    with ZipFile(stream, "w", ZIP_STORED) as archive:
        for name, content in _files(provider, version, platform, edition).items():
            entry = ZipInfo(name, _DATE)
            entry.create_system = _UNIX
            entry.external_attr = _EXECUTABLE if name.startswith("terraform-provider-") else _READABLE
            archive.writestr(entry, content)
    return stream.getvalue()


@lru_cache(maxsize=4096)
def zh(provider: str, version: str, platform: str, edition: str = "") -> str:
    """Returns the hash of a package file; arguments as of `package`."""
    return "zh:" + sha256(package(provider, version, platform, edition)).hexdigest()


@lru_cache(maxsize=4096)
def h1(provider: str, version: str, platform: str, edition: str = "") -> str:
    """Returns the hash of the unpacked package; arguments as of `package`."""
    files = _files(provider, version, platform, edition)
    return h1_of_digests((name.encode(), sha256(content).hexdigest()) for name, content in files.items())


def file_name(provider: str, version: str, what: str) -> str:
    """Returns what a file of a release is called; `what` is e.g. `linux_amd64.zip` or `SHA256SUMS`."""
    return f"terraform-provider-{provider.rpartition('/')[2]}_{version}_{what}"


def _files(provider: str, version: str, platform: str, edition: str) -> dict[str, bytes]:
    suffix = ".exe" if platform.startswith("windows") else ""
    program = f"#!/bin/sh\n# A sample of locklens: {provider} {version} for {platform}"
    program += f", {edition}\n" if edition else "\n"
    return {
        f"terraform-provider-{provider.rpartition('/')[2]}_v{version}{suffix}": (program + "exit 1\n").encode(),
        "LICENSE": b"Nobody's: made by locklens to be looked at.\n",
    }
