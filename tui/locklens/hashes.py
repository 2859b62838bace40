"""Package hashes: the two schemes of the lock file, and what an `h1` is made of.

`zh:` is the SHA-256 of a package's zip file in lower-case hex; a publisher signs it. `h1:` is the digest of an
unpacked package (the Go module system's directory hash); it is never signed. Equality is equality of text, as it is for
the tools.

This module does not judge where a hash comes from.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_ZH = re.compile(r"zh:[0-9a-f]{64}\Z")
_H1 = re.compile(r"h1:[0-9A-Za-z+/]{42}[AEIMQUYcgkosw048]=\Z")


class Scheme(StrEnum):
    """The schemes that the tools compare; the value is the prefix of a hash, before its colon."""

    H1 = "h1"
    ZH = "zh"

    @property
    def prefix(self) -> str:
        """The prefix of a hash of this scheme."""
        return f"{self}:"


_PREFIXES = tuple(scheme.prefix for scheme in Scheme)


def has_scheme(text: str, scheme: Scheme) -> bool:
    """True if a hash is of a scheme."""
    return text.startswith(scheme.prefix)


def of_scheme(hashes: Iterable[str], scheme: Scheme) -> frozenset[str]:
    """The hashes of one scheme."""
    prefix = scheme.prefix
    return frozenset(text for text in hashes if text.startswith(prefix))


def zh_of(digest: str) -> str:
    """The `zh` of a zip file's SHA-256, lower-case hex."""
    return Scheme.ZH.prefix + digest


def scheme_of(text: str) -> str:
    """The scheme of a hash: what stands before the first colon; "" where there is none, so that it is no hash."""
    scheme, colon, _ = text.partition(":")
    return scheme if colon else ""


def is_known_scheme(text: str) -> bool:
    """True if the tools compare hashes of this scheme at all; they carry any other along and never match it."""
    return text.startswith(_PREFIXES)


def is_well_formed(text: str) -> bool:
    """True if a hash can match anything: `zh:` and 64 lower-case hex digits, or `h1:` and 32 bytes in base64."""
    return bool(_ZH.match(text) or _H1.match(text))


def count_by_scheme(hashes: Iterable[str], *, sign: str = "") -> str:
    """Counts hashes in words, e.g. "4 zh and 1 h1", with a sign "+4 zh +1 h1"; "" for none. Unknown schemes are one."""
    counts: dict[str, int] = {}
    for text in hashes:
        scheme = scheme_of(text) if is_known_scheme(text) else ""
        counts[scheme] = counts.get(scheme, 0) + 1
    separator = " " if sign else " and "
    return separator.join(
        f"{sign}{count} {scheme or 'of an unknown scheme'}" for scheme, count in sorted(counts.items(), reverse=True)
    )


@cache
def registry_manifests() -> frozenset[str]:
    """The `zh` values that are registry manifests, not packages.

    A release's SHA256SUMS lists `terraform-provider-X_V_manifest.json` too, and that small file is the same in
    hundreds of versions of many providers, so its hash proves nothing about a package. The texts of those seen in
    public lock files ship with the package.
    """
    import json
    from pathlib import Path

    known = json.loads(Path(__file__).with_name("registry_manifests.json").read_text("utf-8"))
    return frozenset(map(zh_of, known))


def packages_of(hashes: Iterable[str], scheme: Scheme = Scheme.ZH) -> frozenset[str]:
    """The hashes of one scheme that stand for packages: registry manifests are left out."""
    return of_scheme(hashes, scheme) - registry_manifests()


class HashedPackage(Struct, frozen=True):
    """A hashed package.

    Attributes:
        zh: Hash of the zip file.
        h1: Hash of the folder that the tools unpack it to, as they write it into lock files: the digest of
            the sorted list of its files' names and digests.
        size: Bytes of the zip file.
        unpacked_size: Bytes of the files.
        files: Number of files.
    """

    zh: str
    h1: str
    size: int
    unpacked_size: int
    files: int


def h1_of_digests(digests: Iterable[tuple[bytes, str]]) -> str:
    """Compute an `h1` from (slash-separated name, lower-case hex SHA-256 of the content) pairs in any order.

    Raises:
        ValueError: A name holds a line feed.
    """
    import base64
    import hashlib

    summary = hashlib.sha256()
    for name, digest in sorted(digests):
        if b"\n" in name:
            raise ValueError("a file name with a line feed cannot be hashed")
        summary.update(digest.encode() + b"  " + name + b"\n")
    return Scheme.H1.prefix + base64.b64encode(summary.digest()).decode()
