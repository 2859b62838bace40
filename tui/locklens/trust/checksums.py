"""SHA256SUMS: what it lists, and what each tool would make of the same bytes.

The tools read the file twice, by two rules. To check a package they look for the first line whose second word is the
package's file name. To fill the lock file they collect the first word of every line, and one odd line is enough to
collect nothing, or to crash. locklens reads it by a third, tolerant rule, which skips odd lines and names them, so
that a review goes on where a tool would not; and says what the tools would do.

`foreign_words` checks that the signed packages are of the requested release, which the tools omit. To a tool the names
in SHA256SUMS are only keys: it takes the line with the name that the registry says, and locks every other line beside
it. The genuine, signed list of another version is then as good as this one's, and so is that of another provider of
the same signer. An attacker who controls a registry's answers can pass an old release off as a new one without any
key. Only the names say what a list is of, for they are signed too: registries publish packages as
`terraform-provider-TYPE_VERSION_OS_ARCH.zip`.

Two lists without a package of this release are two things:

- One that names packages of another version or type speaks of another release: nothing in it counts.
- One in which no name is of that form says nothing at all. Private registries may call their packages anything, and
  the tools install them; such a list is taken as it is, and its packages stay unknown to the review.

Nothing is verified here; see `locklens.trust.signature`.
"""

from __future__ import annotations

import posixpath
import re
from enum import StrEnum

from msgspec import Struct

from locklens.addresses import Platform
from locklens.hashes import zh_of
from locklens.versions import Version

MAX_CHECKSUMS_BYTES = 1 << 20
"""A release with packages for twenty platforms has a file of 3 KB."""

MAX_LINES = 10_000
"""Every line is a value here; releases list one file for each platform, the manifest, and at times an SBOM."""

_DIGEST_DIGITS = 64
_SCANNER_LIMIT = 64 * 1024
"""Go's line scanner stops, without an error that the tools check, before a line as long as this."""

_HEX_PAIRS = re.compile(rb"(?:[0-9a-fA-F]{2})*")
_DIGEST = re.compile(rb"[0-9a-fA-F]{64}\Z")
_GO_SPACE = re.compile("[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_PACKAGE = re.compile(
    r"terraform-provider-(?P<type>[^_/\\\s]+)_(?P<version>[^_/\\\s]+)_(?P<os>[a-z0-9]+)_(?P<arch>[a-z0-9]+)\.zip\Z"
)
_MANIFEST = re.compile(r"terraform-provider-[^_/\\\s]+_[^_/\\\s]+_manifest\.json\Z")

_NAMED = 3
"""The most files that a sentence names; a hostile list has thousands."""


class Content(StrEnum):
    """The kind of a listed file, by its name."""

    PACKAGE = "package"
    MANIFEST = "manifest"
    OTHER = "other"


class Oddity(StrEnum):
    """The reason why a line was skipped."""

    BLANK = "blank"
    NO_NAME = "no file name"
    NO_DIGEST = "no SHA-256 digest"
    TOO_LARGE = "too large a file"


class ListedPackage(Struct, frozen=True):
    """One line of the file.

    Attributes:
        line: Counts from 1.
        zh: The digest as the lock file has it, lower case.
        name: The base name of the normalized path, without the mark `*` of binary mode; hostile text. Two paths with
            one base name are two files of one name: each could be taken for the other.
        content: The kind of file, by its name.
        type: The package's provider type; "" for other files.
        version: The package's version, as its name has it.
    """

    line: int
    zh: str
    name: str
    content: Content = Content.OTHER
    platform: Platform | None = None
    type: str = ""
    version: str = ""


class OddLine(Struct, frozen=True):
    """A line that lists nothing; `line` counts from 1 and is 0 where it is about the whole file."""

    line: int
    why: Oddity


class Match(StrEnum):
    """The result of a tool's search for one file name, before the digest is compared."""

    FOUND = "found"
    ABSENT = "absent"
    NOT_HEX = "not hexadecimal"
    SHORT = "too short"
    CRASH = "crash"


class Matching(Struct, frozen=True):
    """The entry that a tool uses for a file name; `zh` is "" unless the digest is complete."""

    outcome: Match
    zh: str = ""


class Collected(Struct, frozen=True):
    """The hashes that a tool would write into the lock file.

    Attributes:
        hashes: Every `zh`, empty where the tool gives up.
        crashed_at: The blank line at which it crashes, or None.
    """

    hashes: frozenset[str] = frozenset()
    crashed_at: int | None = None


class Checksums(Struct, frozen=True):
    """A SHA256SUMS file: its bytes, which are signed, the files that it lists, and the lines that were skipped."""

    data: bytes
    files: tuple[ListedPackage, ...] = ()
    odd: tuple[OddLine, ...] = ()

    @property
    def hashes(self) -> frozenset[str]:
        """Every `zh` that is listed, the manifest's too."""
        return frozenset(file.zh for file in self.files)

    @property
    def manifests(self) -> frozenset[str]:
        """Every `zh` that is listed for registry manifests and for nothing else."""
        listed = frozenset(file.zh for file in self.files if file.content is Content.MANIFEST)
        return listed - frozenset(file.zh for file in self.files if file.content is not Content.MANIFEST)

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """The names that are listed for each `zh`, in the file's order."""
        found: dict[str, list[str]] = {}
        for file in self.files:
            found.setdefault(file.zh, []).append(file.name)
        return {zh: tuple(names) for zh, names in found.items()}

    def packages(self, provider_type: str, version: str) -> dict[Platform, frozenset[str]]:
        """Hashes of this release's packages; more than one for a platform means that the file contradicts itself."""
        found: dict[Platform, set[str]] = {}
        for file in self.files:
            if file.platform is not None and (file.type, file.version) == (provider_type, version):
                found.setdefault(file.platform, set()).add(file.zh)
        return {platform: frozenset(zhs) for platform, zhs in found.items()}

    def matching(self, filename: str) -> Matching:
        """Return the line that a tool uses to check one package: the first whose second word is the file name."""
        wanted = filename.encode("utf-8", "surrogateescape")
        if len(self.data) > MAX_CHECKSUMS_BYTES:
            return Matching(Match.ABSENT)
        for line in self.data.split(b"\n"):
            if wanted not in line:
                continue
            words = _words(line)
            if len(words) > 1 and words[1] == wanted:
                return _decoded(words[0])
        return Matching(Match.ABSENT)

    def collected(self) -> Collected:
        """Return the hashes that a tool writes into the lock file once the signature is good; see `Collected`."""
        hashes = set()
        if len(self.data) > MAX_CHECKSUMS_BYTES:
            return Collected()
        for number, line in enumerate(_scanned(self.data), start=1):
            if len(line) >= _SCANNER_LIMIT:
                break
            words = _words(line)
            if not words:
                return Collected(crashed_at=number)
            if len(words) < 2 or not _DIGEST.match(words[0]):
                return Collected()
            hashes.add(_zh(words[0]))
        return Collected(frozenset(hashes))


def read_checksums(data: bytes) -> Checksums:
    """Read a SHA256SUMS file; no bytes make it fail.

    A file above MAX_CHECKSUMS_BYTES or MAX_LINES lists nothing.
    """
    if len(data) > MAX_CHECKSUMS_BYTES or data.count(b"\n") > MAX_LINES:
        return Checksums(data, odd=(OddLine(0, Oddity.TOO_LARGE),))
    files, odd = [], []
    for number, line in enumerate(_scanned(data), start=1):
        words = line.split(maxsplit=2)
        if not words:
            odd.append(OddLine(number, Oddity.BLANK))
        elif not _DIGEST.match(words[0]):
            odd.append(OddLine(number, Oddity.NO_DIGEST))
        elif len(words) < 2:
            odd.append(OddLine(number, Oddity.NO_NAME))
        else:
            files.append(_listed(number, words[0], words[1].decode("utf-8", "surrogateescape")))
    return Checksums(data, tuple(files), tuple(odd))


def named_file(written: str) -> str:
    """Return the base name of a listed file, without the mark `*` of binary mode."""
    return posixpath.basename(posixpath.normpath(written.removeprefix("*")))


def _listed(number: int, digest: bytes, written: str) -> ListedPackage:
    name = named_file(written)
    if package := _PACKAGE.match(name):
        platform = Platform(package["os"], package["arch"])
        return ListedPackage(number, _zh(digest), name, Content.PACKAGE, platform, package["type"], package["version"])
    return ListedPackage(number, _zh(digest), name, Content.MANIFEST if _MANIFEST.match(name) else Content.OTHER)


def _scanned(data: bytes) -> list[bytes]:
    """The lines as Go's scanner gives them: what follows the last line feed is a line unless it is empty."""
    lines = data.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def _words(line: bytes) -> list[bytes]:
    """Split at white space as Go does, which knows more of it than bytes.split."""
    if line.isascii():
        return line.split()
    text = line.decode("utf-8", "surrogateescape")
    return [word.encode("utf-8", "surrogateescape") for word in _GO_SPACE.split(text) if word]


def _decoded(digest: bytes) -> Matching:
    """The result of the tools' decoding of a digest into 32 bytes, without a prior check of its length."""
    pairs = _HEX_PAIRS.match(digest)
    whole = pairs.end() if pairs else 0
    if whole > _DIGEST_DIGITS:
        return Matching(Match.CRASH)
    if whole != len(digest):
        return Matching(Match.NOT_HEX)
    return Matching(Match.FOUND, _zh(digest)) if whole == _DIGEST_DIGITS else Matching(Match.SHORT)


def _zh(digest: bytes) -> str:
    return zh_of(digest.decode("ascii").lower())


class Build(Struct, frozen=True):
    """One provider's version for one platform; `type` is normalised, as in an address."""

    type: str
    version: Version
    platform: Platform

    def __str__(self) -> str:
        return f"{self.type} {self.version} for {self.platform}"


def foreign_words(checksums: Checksums, filename: str, wanted: Build) -> str:
    """Describe the signed release if it is not the requested one.

    Returns a clause such as "the signed packages are of demo 1.0.0"; "" if it is of this release, or if unknown.
    """
    builds = {file.name: build for file in checksums.files if (build := _build(file)) is not None}
    if not builds:
        return ""
    own = [name for name, build in builds.items() if _is_release(build, wanted)]
    if not own:
        found = list(dict.fromkeys(f"{build.type} {build.version}" for build in builds.values()))
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        return f"the signed packages are of {', '.join(found[:_NAMED])}{more}"
    offered = named_file(filename)
    if offered in own and builds[offered].platform == wanted.platform:
        return ""
    if offered in builds:
        return f"the package that the registry offers is of {builds[offered]}"
    # A publisher may call the package of one platform otherwise, but not where the list has it by its usual name.
    is_listed = any(builds[name].platform == wanted.platform for name in own)
    return f"the registry offers a file other than the package of {wanted}" if is_listed else ""


def _build(file: ListedPackage) -> Build | None:
    """Return the build named by a listed file; None if it is not a package, or its version is invalid."""
    if file.content is not Content.PACKAGE or file.platform is None:
        return None
    version = Version.find(file.version.removeprefix("v"))
    return None if version is None else Build(file.type.lower(), version, file.platform)


def _is_release(build: Build, wanted: Build) -> bool:
    # Build metadata is often lost on the way: hosts of files do not take its `+`.
    versions = {wanted.version, Version(*wanted.version.numbers, wanted.version.prerelease)}
    return build.type == wanted.type and build.version in versions
