"""Versions, and the terms of constraints that compare with them: their texts, their order, and the tools' parsers.

Two Go libraries read a constraint in a configuration, one after the other: hashicorp/go-version (`is_plausible`) and
go-versions (`scan_terms`), which alone reads versions and the constraints of lock files.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cmp_to_key, lru_cache

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_CANONICAL = re.compile(r"(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})\Z")
NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_IDENTIFIERS = re.compile(r"[0-9A-Za-z.-]+")
_WHITESPACE = " \t\n\r\f\v"
_OPERATOR_RUN = re.compile(r"[^0-9A-Za-z.*\s]+")
_SPACE_RUN = re.compile(r"\s+")
_MAX_NUMBER = 2**64 - 1
MAX_TEXT = 4096


class VersionSyntaxError(ValueError):
    """A text is not a version; str() is the phrase of the real tools."""


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

    @classmethod
    def find(cls, text: str) -> Version | None:
        """Return the version that a text is, as `parse` reads it; None if it is none."""
        try:
            return _parse_version(text)
        except VersionSyntaxError:
            return None

    def compare(self, other: Version) -> int:
        """Return a number below, equal to or above 0 as this version's precedence is to `other`'s."""
        if self.numbers != other.numbers:
            return -1 if self.numbers < other.numbers else 1
        if not self.prerelease or not other.prerelease:
            return bool(other.prerelease) - bool(self.prerelease)
        return _compare_identifiers(self.prerelease, other.prerelease)


_UNSPECIFIED = Version(0, 0, 0)

precedence: Callable[[Version], Any] = cmp_to_key(Version.compare)
"""Sort key: the order of precedence."""


def _compare_identifiers(left: str, right: str) -> int:
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
    if text[0] in _WHITESPACE:
        raise VersionSyntaxError("extraneous spaces at start of specification")
    if text[-1] in _WHITESPACE:
        raise VersionSyntaxError("extraneous spaces at end of specification")
    if operator := _operator(text):
        raise VersionSyntaxError(
            f'can\'t use constraint operator "{operator}"; an exact version is required'
            if operator in _OPERATORS
            else f"invalid sequence {_quoted(operator)}"
        )
    if text[:1] in {"v", "V"}:
        raise VersionSyntaxError('a "v" prefix should not be used')
    if "," in text:
        raise VersionSyntaxError("can't specify multiple versions; a single version is required")
    if " - " in text:
        raise VersionSyntaxError("can't specify version range; a single version is required")
    version, _, end = _scan_version(text, 0)
    if end != len(text):
        raise VersionSyntaxError(f"invalid characters {_quoted(text[end:])}")
    return version


def _scan_version(text: str, start: int) -> tuple[Version, int, int]:
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


def _operator(text: str) -> str:
    """Return the characters before a version that an operator, known or not, may have."""
    match = _OPERATOR_RUN.match(text)
    return match[0] if match else ""


def _scan_identifiers(text: str, position: int, lead: str) -> tuple[str, int]:
    """Read `-` or `+` and what follows; the lead with nothing after it is swallowed, as the tools do."""
    if text[position : position + 1] != lead:
        return "", position
    match = _IDENTIFIERS.match(text, position + 1)
    return (match[0], match.end()) if match else ("", position + 1)


def _quoted(text: str) -> str:
    """Render a text as the tools quote it in their messages."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    for character, name in (("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        escaped = escaped.replace(character, name)
    return f'"{escaped}"'


def newest(versions: Iterable[Version]) -> Version | None:
    """Return the version of the highest precedence, if any; among equals the greater text, so that it is definite."""
    return max(versions, key=lambda version: (precedence(version), str(version)), default=None)


def neighbour(versions: Iterable[Version], version: Version) -> Version | None:
    """Return the release before a version, or else the one after it; None if there is no other."""
    releases = [one for one in versions if not one.prerelease]
    later = sorted((one for one in releases if one.compare(version) > 0), key=precedence)
    return newest(one for one in releases if one.compare(version) < 0) or next(iter(later), None)


WRONG_SYNTAX = "This string does not use correct version constraint syntax."
"""The tools' message for a constraint that their first parser refuses."""


class ConstraintSyntaxError(ValueError):
    """A text is not a version constraint; `summary` and `detail` are the real tools' words."""

    summary = "Invalid version constraint"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Operator(Enum):
    """The operator of a term; the value is as it is written."""

    EQUAL = "="
    NOT_EQUAL = "!="
    GREATER = ">"
    GREATER_EQUAL = ">="
    LESS = "<"
    LESS_EQUAL = "<="
    PESSIMISTIC = "~>"


_OPERATORS = {operator.value for operator in Operator}
_RANK = {
    Operator.GREATER: 1,
    Operator.GREATER_EQUAL: 2,
    Operator.EQUAL: 3,
    Operator.PESSIMISTIC: 4,
    Operator.LESS_EQUAL: 6,
    Operator.LESS: 7,
    Operator.NOT_EQUAL: 8,
}


class Term(Struct, frozen=True):
    """One comparison of a constraint.

    Attributes:
        parts: 2 for `~>` with one or two numbers, which holds the major version alone; 3 otherwise.
    """

    operator: Operator
    version: Version
    parts: int = 3

    def __str__(self) -> str:
        """The canonical text: `=` is never written, missing numbers are, but with `~>` only up to the minor one."""
        if self.operator is Operator.EQUAL:
            return str(self.version)
        if self.operator is Operator.PESSIMISTIC and self.parts < 3:
            version = self.version
            text = f"{version.major}.{version.minor}"
            text += f"-{version.prerelease}" if version.prerelease else ""
            return f"~> {text}+{version.metadata}" if version.metadata else f"~> {text}"
        return f"{self.operator.value} {self.version}"

    @property
    def is_pin(self) -> bool:
        """True if it names exactly one version."""
        return self.operator is Operator.EQUAL

    @property
    def _rank(self) -> int:
        return 5 if self.parts < 3 else _RANK[self.operator]

    def holds(self, version: Version) -> bool:
        """True if a version meets this term; only `=` and `!=` compare metadata."""
        match self.operator:
            case Operator.EQUAL:
                return version == self.version
            case Operator.NOT_EQUAL:
                return version != self.version
            case Operator.GREATER:
                return version.compare(self.version) > 0
            case Operator.GREATER_EQUAL:
                return version.compare(self.version) >= 0
            case Operator.LESS:
                return version.compare(self.version) < 0
            case Operator.LESS_EQUAL:
                return version.compare(self.version) <= 0
            case Operator.PESSIMISTIC:
                return version.compare(self.version) >= 0 and version.compare(self.ceiling) < 0

    @property
    def ceiling(self) -> Version:
        """The release below which `~>` stays."""
        if self.parts == 3:
            return Version(self.version.major, self.version.minor + 1, 0)
        return Version(self.version.major + 1, 0, 0)


def _compare_terms(left: Term, right: Term) -> int:
    by_version = left.version.compare(right.version) or _compare_identifiers(
        left.version.metadata, right.version.metadata
    )
    return by_version or left._rank - right._rank  # noqa: SLF001


term_key = cmp_to_key(_compare_terms)


_LESS_NUMBERS = 2**63 - 1
_PLAUSIBLE = r"""[\t\n\f\r ]*(?:<=|>=|!=|~>|[<>=])?[\t\n\f\r ]*
    v?(?P<numbers>[0-9]+(?:\.[0-9]+)*)
    (?:-[0-9][0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*|-?[A-Za-z~-][0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*)?
    (?:\+[0-9A-Za-z~-]+(?:\.[0-9A-Za-z~-]+)*)?[\t\n\f\r ]*\Z"""


def is_plausible(piece: str) -> bool:
    """True if the first parser (that of hashicorp/go-version) accepts one comma-separated piece."""
    match = re.match(_PLAUSIBLE, piece, re.VERBOSE)
    return match is not None and all(int(number) <= _LESS_NUMBERS for number in match["numbers"].split("."))


@lru_cache(maxsize=8192)
def scan_terms(text: str) -> tuple[Term, ...]:
    """Read terms as the second parser (that of go-versions) does, one after another, separated by commas.

    Raises:
        ConstraintSyntaxError: With the real tools' words.
    """
    if len(text) > MAX_TEXT:
        raise ConstraintSyntaxError("the text is too long for a constraint.")
    terms: list[Term] = []
    rest = text.strip(_WHITESPACE)
    while rest:
        term, end = _scan_term(rest)
        terms.append(term)
        consumed, rest = rest[:end], rest[end:].strip(_WHITESPACE)
        if rest:
            if not rest.startswith(","):
                raise ConstraintSyntaxError(f"missing comma after {_quoted(consumed)}.")
            rest = rest[1:].strip(_WHITESPACE)
    return tuple(terms)


def _scan_term(text: str) -> tuple[Term, int]:
    operator = _operator(text)
    if operator and operator not in _OPERATORS:
        raise ConstraintSyntaxError(f"invalid sequence {_quoted(operator)}.")
    space_run = _SPACE_RUN.match(text, len(operator))
    space = space_run[0] if space_run else ""
    start = len(operator) + len(space)
    if text[start : start + 1] in {"v", "V"} and text[start + 1 : start + 2].isdigit() and space in {"", " "}:
        raise ConstraintSyntaxError('a "v" prefix should not be used.')
    number = NUMBERS.match(text, start)
    if space not in ({"", " "} if operator else {""}) or (
        operator and number is None and text[start : start + 1] != "*"
    ):
        shown = _quoted(text[: number.end() if number else start])
        raise ConstraintSyntaxError(
            f'invalid specification {shown}: only one space is expected after the operator "{operator}".'
        )
    if number is None and text[start : start + 1] != "*":
        raise ConstraintSyntaxError(f"missing comma after {_quoted(text[:start])}.")
    try:
        version, parts, end = _scan_version(text, start)
    except VersionSyntaxError as error:
        shown = _quoted(text[: number.end() if number else start + 1])
        raise ConstraintSyntaxError(f"invalid specification {shown}: {error}.") from error
    kind = Operator(operator or "=")
    return Term(kind, version, 2 if kind is Operator.PESSIMISTIC and parts < 3 else 3), end
