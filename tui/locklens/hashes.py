"""Package hashes: the schemes of the lock file and their properties, and the computation of an `h1`.

`zh:` is the SHA-256 of a package's zip file in lower-case hex; a publisher signs it. `h1:` is the digest of an
unpacked package (the Go module system's directory hash); it is never signed. Equality is equality of text, as it is for
the tools.

Whether a hash can be trusted is decided elsewhere.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache, lru_cache

from msgspec import Struct

from locklens.text import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Self

    HashedFiles = Mapping[str, frozenset[str]]
    """The hashes of the files of each package that was hashed here, by the `zh` of its zip file."""


class Scheme(StrEnum):
    """The schemes that the tools compare, in the order of reports; the value is the prefix of a hash, before its colon.

    All properties of a scheme are here, so that no other module needs to know which schemes there are.

    Attributes:
        digest: The pattern of the text after the colon.
        form: The same in words.
        is_of_files: True for the digest of a package's unpacked files; False for the digest of the zip file.
        is_signed: True if publishers sign a list of such hashes.
    """

    digest: str
    form: str
    is_of_files: bool
    is_signed: bool

    def __new__(cls, name: str, digest: str, form: str, is_of_files: bool, is_signed: bool) -> Self:
        """Return the member that is its prefix as text."""
        scheme = str.__new__(cls, name)
        scheme._value_ = name
        scheme.digest, scheme.form, scheme.is_of_files, scheme.is_signed = digest, form, is_of_files, is_signed
        return scheme

    ZH = "zh", "[0-9a-f]{64}", "64 lower-case hex digits", False, True
    H1 = "h1", "[0-9A-Za-z+/]{42}[AEIMQUYcgkosw048]=", "44 characters of base64", True, False

    @property
    def prefix(self) -> str:
        """The prefix of a hash of this scheme."""
        return f"{self}:"


_PREFIXES = tuple(scheme.prefix for scheme in Scheme)
_OF_FILES = tuple(scheme.prefix for scheme in Scheme if scheme.is_of_files)
_OF_ZIP = tuple(scheme.prefix for scheme in Scheme if not scheme.is_of_files)
_SIGNED = tuple(scheme.prefix for scheme in Scheme if scheme.is_signed)
_PLAIN = re.compile(r"[0-9A-Za-z]+:[0-9A-Za-z+/=]+\Z")
_WELL_FORMED = re.compile("|".join(rf"{scheme.prefix}{scheme.digest}\Z" for scheme in Scheme))


def is_of_files(text: str) -> bool:
    """True if a hash is the digest of a package's unpacked files."""
    return text.startswith(_OF_FILES)


def is_of_zip(text: str) -> bool:
    """True if a hash is the digest of a package's zip file."""
    return text.startswith(_OF_ZIP)


def is_of_signed_scheme(text: str) -> bool:
    """True if a hash is of a scheme that publishers sign, whether or not one signed this hash."""
    return text.startswith(_SIGNED)


def hashes_of_files(hashes: Iterable[str]) -> frozenset[str]:
    """Return the hashes that are digests of unpacked files."""
    return frozenset(text for text in hashes if text.startswith(_OF_FILES))


def h1_in(hashes: Iterable[str]) -> str | None:
    """Return the `h1` among the hashes of one package, if there is one."""
    return next((text for text in hashes if text.startswith(Scheme.H1.prefix)), None)


def hashes_of_zips(hashes: Iterable[str]) -> frozenset[str]:
    """Return the hashes that are digests of zip files."""
    return frozenset([text for text in hashes if text.startswith(_OF_ZIP)])  # A generator would take twice the time.


def repeats_a_scheme(hashes: Collection[str]) -> bool:
    """True if two of these distinct hashes share a scheme."""
    return len(set(map(scheme_of, hashes))) < len(hashes)


def digest_of(text: str) -> str:
    """Return the text after the first colon of a hash; "" without a colon."""
    return text.partition(":")[2]


def zh_of(digest: str) -> str:
    """Return the `zh` of a zip file's SHA-256 in lower-case hex."""
    return Scheme.ZH.prefix + digest


def scheme_of(text: str) -> str:
    """Return the scheme of a hash, the text before the first colon; "" for a text without a colon."""
    scheme, colon, _ = text.partition(":")
    return scheme if colon else ""


def is_known_scheme(text: str) -> bool:
    """True if the tools compare hashes of this scheme; they keep all others, but never match them."""
    return text.startswith(_PREFIXES)


@lru_cache(maxsize=1 << 16)
def is_well_formed(text: str) -> bool:
    """True if the digest of a hash has the form of its scheme; no other hash can match a package."""
    return _WELL_FORMED.match(text) is not None


def is_plain(text: str) -> bool:
    """True if a text has the form of a hash of any scheme: a name, a colon, and digits of hex or base64."""
    return _PLAIN.match(text) is not None


def pattern_of_hashes() -> str:
    """Return the pattern of a well-formed hash of any scheme, to find hashes in other text."""
    return "|".join(f"{scheme.prefix}{scheme.digest}" for scheme in Scheme)


def forms_in_words() -> str:
    """Return the form of a well-formed hash of each scheme, for the end of a sentence."""
    return "; ".join(f"{scheme.prefix} is followed by {scheme.form}" for scheme in Scheme)


def fault_in_words(text: str) -> str:
    """Return what is wrong with a malformed hash of a known scheme, in a clause without its whole digest."""
    scheme = next(one for one in Scheme if text.startswith(one.prefix))
    return f"{scheme.prefix} is followed by {counted(len(digest_of(text)), 'character')}, not by {scheme.form}"


def count_by_scheme(hashes: Iterable[str], *, sign: str = "") -> str:
    """Return numbers of hashes, "4 zh and 1 h1", with a sign "+4 zh +1 h1"; unknown schemes are counted together."""
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
    """Return the `zh` values that are registry manifests, not packages.

    A release's SHA256SUMS lists `terraform-provider-X_V_manifest.json` too, and that small file is the same in
    hundreds of versions of many providers, so its hash proves nothing about a package. Manifests seen in public lock
    files ship in registry_manifests.json, by digest.
    """
    import json
    from pathlib import Path

    known = json.loads(Path(__file__).with_name("registry_manifests.json").read_text("utf-8"))
    return frozenset(map(zh_of, known))


def packages_of(hashes: Iterable[str]) -> frozenset[str]:
    """Return the `zh` hashes of packages, without those of registry manifests."""
    return hashes_of_zips(hashes) - registry_manifests()


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

    @classmethod
    def of_digests(
        cls,
        digests: Iterable[tuple[bytes, str]],
        zh: str = "",
        *,
        size: int = 0,
        unpacked_size: int = 0,
        files: int = 0,
    ) -> Self:
        """Hash a package by every scheme; `digests` as for `h1_of_digests`, whose errors are raised; `zh` may be ""."""
        return cls(zh, h1_of_digests(digests), size, unpacked_size, files)

    @classmethod
    def of_hashes(cls, zh: str, of_files: Iterable[str]) -> Self | None:
        """Return a package of known hashes; None unless every scheme of unpacked files has a hash among them."""
        h1 = h1_in(of_files)
        return cls(zh, h1, 0, 0, 0) if h1 is not None else None

    @property
    def of_files(self) -> frozenset[str]:
        """The hashes of its unpacked files, one of each scheme, as the tools write them to a lock file."""
        return frozenset({self.h1})

    @property
    def hashes(self) -> frozenset[str]:
        """Every hash that a lock file may have for the package."""
        return self.of_files | {self.zh} if self.zh else self.of_files


def file_hashes_of(zhs: Iterable[str], hashed: HashedFiles) -> frozenset[str]:
    """Return the hashes of the files of those packages that were hashed here."""
    return frozenset[str]().union(*(hashed[zh] for zh in zhs if zh in hashed))


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
