"""A version: its text, its identity, its precedence."""

from __future__ import annotations

import re
from functools import cmp_to_key, lru_cache

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_CANONICAL = re.compile(r"(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})\Z")
NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_IDENTIFIERS = re.compile(r"[0-9A-Za-z.-]+")
WHITESPACE = " \t\n\r\f\v"
_MAX_NUMBER = 2**64 - 1
MAX_TEXT = 4096
_OPERATORS = ("<=", ">=", "!=", "~>", "<", ">", "=")


class VersionSyntaxError(ValueError):
    """A text is no version; str() is the phrase of the real tools."""


class Version(Struct, frozen=True):
    """A provider version. Equality is identity (metadata counts), order is precedence (it does not)."""

    major: int
    minor: int
    patch: int
    prerelease: str = ""
    metadata: str = ""

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += "-" + self.prerelease
        return f"{text}+{self.metadata}" if self.metadata else text

    @property
    def numbers(self) -> tuple[int, int, int]:
        """Major, minor and patch."""
        return self.major, self.minor, self.patch

    @property
    def is_unspecified(self) -> bool:
        """True if it is 0.0.0, which the tools never select; with build metadata it is a version like any other."""
        return self == _UNSPECIFIED

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read a version as lock files and registries write it; missing numbers are 0, `1.2.3-` is 1.2.3.

        Raises:
            VersionSyntaxError: With the real tools' phrase.
        """
        return _parse_version(text)

    def compare(self, other: Version) -> int:
        """Return a number below, equal to or above 0 as this version's precedence is to `other`'s."""
        if self.numbers != other.numbers:
            return -1 if self.numbers < other.numbers else 1
        if not self.prerelease or not other.prerelease:
            return bool(other.prerelease) - bool(self.prerelease)
        return compare_identifiers(self.prerelease, other.prerelease)


_UNSPECIFIED = Version(0, 0, 0)

precedence: Callable[[Version], Any] = cmp_to_key(Version.compare)
"""Sort key: the order of precedence."""


def compare_identifiers(left: str, right: str) -> int:
    """Compare two pre-releases (or metadata) part by part, the shorter chain first whatever its parts are."""
    while True:
        left_part, left_dot, left = left.partition(".")
        right_part, right_dot, right = right.partition(".")
        if left_dot != right_dot:
            return 1 if left_dot else -1
        if left_part != right_part:
            return -1 if _identifier_key(left_part) < _identifier_key(right_part) else 1
        if not left_dot:
            return 0


def _identifier_key(part: str) -> tuple[bool, int, str]:
    """Numbers sort below words; among numbers the shorter text is lower, then the text decides."""
    is_word = not part.isdigit()
    return is_word, 0 if is_word else len(part), part


@lru_cache(maxsize=8192)
def _parse_version(text: str) -> Version:
    match = _CANONICAL.match(text)
    if match:
        return Version(int(match[1]), int(match[2]), int(match[3]))
    if not text:
        raise VersionSyntaxError("empty specification")
    if text[0] in WHITESPACE:
        raise VersionSyntaxError("extraneous spaces at start of specification")
    if text[-1] in WHITESPACE:
        raise VersionSyntaxError("extraneous spaces at end of specification")
    operator = re.match(r"[^0-9A-Za-z.*\s]*", text)
    if operator and operator[0]:
        raise VersionSyntaxError(
            f'can\'t use constraint operator "{operator[0]}"; an exact version is required'
            if operator[0] in _OPERATORS
            else f"invalid sequence {quoted(operator[0])}"
        )
    if text[:1] in {"v", "V"}:
        raise VersionSyntaxError('a "v" prefix should not be used')
    if "," in text:
        raise VersionSyntaxError("can't specify multiple versions; a single version is required")
    if " - " in text:
        raise VersionSyntaxError("can't specify version range; a single version is required")
    version, _, end = scan_version(text, 0)
    if end != len(text):
        raise VersionSyntaxError(f"invalid characters {quoted(text[end:])}")
    return version


def scan_version(text: str, start: int) -> tuple[Version, int, int]:
    """Read a version at `start`.

    Returns:
        The version, how many numbers were written, and where reading stopped.

    Raises:
        VersionSyntaxError: With the real tools' phrase.
    """
    match = NUMBERS.match(text, start)
    if len(text) - start > MAX_TEXT:
        raise VersionSyntaxError("the text is too long for a version")
    if match is None:
        wildcard = text[start : start + 1] in {"*", "x", "X"}
        raise VersionSyntaxError(
            "can't use wildcard for major number; an exact version is required"
            if wildcard
            else "invalid specification; required format is three positive integers separated by periods"
        )
    numbers = [int(number) for number in match[0].split(".")]
    position = match.end()
    rest = text[position : position + 2]
    if rest[:1] == "." and rest[1:2] in {"*", "x", "X"} and len(numbers) < 3:
        name = ("major", "minor", "patch")[len(numbers)]
        raise VersionSyntaxError(f"can't use wildcard for {name} number; an exact version is required")
    if len(numbers) > 3:
        raise VersionSyntaxError("too many numbered portions; only three are allowed (major, minor, patch)")
    if max(numbers) > _MAX_NUMBER:
        raise VersionSyntaxError("a number is above 18446744073709551615")
    if rest[:1] == ".":
        position += 1
    prerelease, position = _scan_identifiers(text, position, "-")
    metadata, position = _scan_identifiers(text, position, "+")
    major, minor, patch = (*numbers, 0, 0)[:3]
    return Version(major, minor, patch, prerelease, metadata), len(numbers), position


def _scan_identifiers(text: str, position: int, lead: str) -> tuple[str, int]:
    """Read `-` or `+` and what follows; the lead with nothing behind it is swallowed, as the tools do."""
    if text[position : position + 1] != lead:
        return "", position
    match = _IDENTIFIERS.match(text, position + 1)
    return (match[0], match.end()) if match else ("", position + 1)


def quoted(text: str) -> str:
    """Render a text as the tools quote it in their messages."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    for character, name in (("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        escaped = escaped.replace(character, name)
    return f'"{escaped}"'


def newest(versions: Iterable[Version]) -> Version | None:
    """The version of the highest precedence; among equals the text decides, so that the answer is always the same."""
    return max(versions, key=lambda version: (precedence(version), str(version)), default=None)


def neighbour(versions: Iterable[Version], version: Version) -> Version | None:
    """The release before a version, or else the one after it; None where there is no other."""
    releases = [one for one in versions if not one.prerelease]
    later = sorted((one for one in releases if one.compare(version) > 0), key=precedence)
    return newest(one for one in releases if one.compare(version) < 0) or next(iter(later), None)
