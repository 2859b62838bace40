"""Provider versions and version constraints as Terraform and OpenTofu read, order and print them.

The order is not SemVer's: a pre-release with fewer dot-separated parts sorts below one with more, whatever the parts
are, because the go-versions library that both tools use compares that first. Constraint texts in configurations pass
two parsers with different tastes one after the other; both are here. `packaging` does the algebra of ranges over
released versions, nothing else.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cmp_to_key, lru_cache

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from packaging.ranges import VersionRange

_CANONICAL = re.compile(r"(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})\Z")
_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_IDENTIFIERS = re.compile(r"[0-9A-Za-z.-]+")
_WHITESPACE = " \t\n\r\f\v"
_MAX_NUMBER = 2**64 - 1
_MAX_TEXT = 4096

WRONG_SYNTAX = "This string does not use correct version constraint syntax."
"""What the tools say of a constraint that their first parser refuses."""


class VersionSyntaxError(ValueError):
    """A text is no version; str() is the phrase of the real tools."""


class ConstraintSyntaxError(ValueError):
    """A text is no version constraint; `summary` and `detail` are the real tools' words."""

    summary = "Invalid version constraint"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


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

    @classmethod
    def parse(cls, text: str) -> Version:
        """Reads a version as lock files and registries write it; missing numbers are 0, `1.2.3-` is 1.2.3.

        Raises:
            VersionSyntaxError: With the real tools' phrase.
        """
        return _parse_version(text)

    def compare(self, other: Version) -> int:
        """Returns a number below, equal to or above 0 as this version's precedence is to `other`'s."""
        if self.numbers != other.numbers:
            return -1 if self.numbers < other.numbers else 1
        if not self.prerelease or not other.prerelease:
            return bool(other.prerelease) - bool(self.prerelease)
        return _compare_identifiers(self.prerelease, other.prerelease)


precedence: Callable[[Version], object] = cmp_to_key(Version.compare)
"""Sort key: the order of precedence."""


def _compare_identifiers(left: str, right: str) -> int:
    """Compares two pre-releases (or metadata) part by part, the shorter chain first whatever its parts are."""
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
    operator = re.match(r"[^0-9A-Za-z.*\s]*", text)
    if operator and operator[0]:
        raise VersionSyntaxError(
            f'can\'t use constraint operator "{operator[0]}"; an exact version is required'
            if operator[0] in _OPERATORS
            else f"invalid sequence {_quoted(operator[0])}"
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
    """Reads a version at `start`.

    Returns:
        The version, how many numbers were written, and where reading stopped.

    Raises:
        VersionSyntaxError: With the real tools' phrase.
    """
    match = _NUMBERS.match(text, start)
    if len(text) - start > _MAX_TEXT:
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
    """Reads `-` or `+` and what follows; the lead with nothing behind it is swallowed, as the tools do."""
    if text[position : position + 1] != lead:
        return "", position
    match = _IDENTIFIERS.match(text, position + 1)
    return (match[0], match.end()) if match else ("", position + 1)


def _quoted(text: str) -> str:
    """Renders a text as the tools quote it in their messages."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    for character, name in (("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        escaped = escaped.replace(character, name)
    return f'"{escaped}"'


class Operator(Enum):
    """What a term asks of a version; the value is as it is written."""

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
        """Whether it names exactly one version."""
        return self.operator is Operator.EQUAL

    @property
    def _rank(self) -> int:
        if self.operator is Operator.PESSIMISTIC:
            return 4 if self.parts == 3 else 5
        return _RANK[self.operator]

    def holds(self, version: Version) -> bool:
        """Whether a version meets this term; only `=` and `!=` look at metadata."""
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


_term_key = cmp_to_key(_compare_terms)


class Relation(Enum):
    """How the releases that one constraint admits relate to another's."""

    SAME = "same"
    WIDENED = "widened"
    NARROWED = "narrowed"
    SHIFTED = "shifted"
    DISJOINT = "disjoint"


class Constraints(Struct, frozen=True):
    """Terms that must all hold. Without terms any release is admitted."""

    terms: tuple[Term, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Constraints:
        """Reads a constraint as a configuration has it, through both of the tools' parsers.

        Raises:
            ConstraintSyntaxError: With the real tools' words.
        """
        if len(text) > _MAX_TEXT or not all(_is_plausible(piece) for piece in text.split(",")):
            raise ConstraintSyntaxError(WRONG_SYNTAX)
        try:
            return cls.parse_recorded(text)
        except ConstraintSyntaxError as error:
            raise ConstraintSyntaxError(f"Incorrect version constraint syntax: {error.detail}") from error

    @classmethod
    def parse_recorded(cls, text: str) -> Constraints:
        """Reads a constraint as a lock file has it, through the second parser alone.

        Raises:
            ConstraintSyntaxError: With the real tools' words.
        """
        return cls(_scan_terms(text))

    def __str__(self) -> str:
        """The canonical text: without duplicates, in the tools' order, "" without terms."""
        return ", ".join(map(str, sorted(set(self.terms), key=_term_key)))

    def __add__(self, other: Constraints) -> Constraints:
        return Constraints(self.terms + other.terms)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def admits(self, version: Version) -> bool:
        """Whether the tools would select the version: all terms hold, and a pre-release is named by an exact term."""
        return not self.excluded_by(version) and self._opens(version)

    def _opens(self, version: Version) -> bool:
        if version.numbers == (0, 0, 0) and not version.prerelease:
            return False
        return not version.prerelease or any(term.is_pin and term.version == version for term in self.terms)

    def excluded_by(self, version: Version) -> tuple[Term, ...]:
        """The terms that the version does not meet."""
        return tuple(term for term in self.terms if not term.holds(version))

    @property
    def is_satisfiable(self) -> bool:
        """Whether any version at all could meet the constraint."""
        return bool(self._pins()) or not self._released().is_empty

    def minimal_conflict(self) -> tuple[Term, ...]:
        """The smallest part of an unsatisfiable constraint that is so by itself; () where it is satisfiable."""
        if self.is_satisfiable:
            return ()
        kept = list(dict.fromkeys(self.terms))
        for term in tuple(kept):
            rest = [other for other in kept if other is not term]
            if not Constraints(tuple(rest)).is_satisfiable:
                kept = rest
        return tuple(kept)

    def relation_to(self, older: Constraints) -> Relation:
        """How the versions that this constraint admits relate to those that `older` admits."""
        new, old = self._released(), older._released()
        new_pins, old_pins = self._pins(), older._pins()
        within, contains = new.is_subset(old) and new_pins <= old_pins, old.is_subset(new) and old_pins <= new_pins
        if within and contains:
            return Relation.SAME
        if contains:
            return Relation.WIDENED
        if within:
            return Relation.NARROWED
        return Relation.DISJOINT if new.is_disjoint(old) and not new_pins & old_pins else Relation.SHIFTED

    def _pins(self) -> frozenset[Version]:
        """The pre-releases and builds with metadata that exact terms name and all terms admit."""
        named = {term.version for term in self.terms if term.is_pin}
        return frozenset(
            version for version in named if (version.prerelease or version.metadata) and self.admits(version)
        )

    def _released(self) -> VersionRange:
        released = _at_least((0, 0, 1))
        for term in self.terms:
            released &= _range_of(term)
        return released


def newest(versions: Iterable[Version]) -> Version | None:
    """The version of the highest precedence; among equals the text decides, so that the answer is always the same."""
    return max(versions, key=lambda version: (precedence(version), str(version)), default=None)


def newest_matching(versions: Sequence[Version], constraints: Constraints) -> Version | None:
    """The version that the tools would select among those that exist."""
    return newest(version for version in versions if constraints.admits(version))


_LESS_NUMBERS = 2**63 - 1
_PLAUSIBLE = r"""[\t\n\f\r ]*(?:<=|>=|!=|~>|[<>=])?[\t\n\f\r ]*
    v?(?P<numbers>[0-9]+(?:\.[0-9]+)*)
    (?:-[0-9][0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*|-?[A-Za-z~-][0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*)?
    (?:\+[0-9A-Za-z~-]+(?:\.[0-9A-Za-z~-]+)*)?[\t\n\f\r ]*\Z"""


def _is_plausible(piece: str) -> bool:
    """The first parser's verdict (that of hashicorp/go-version) on one comma-separated piece."""
    match = re.match(_PLAUSIBLE, piece, re.VERBOSE)
    return match is not None and all(int(number) <= _LESS_NUMBERS for number in match["numbers"].split("."))


@lru_cache(maxsize=8192)
def canonical(text: str) -> str:
    """Returns the canonical text of a recorded constraint.

    Raises:
        ConstraintSyntaxError: With the real tools' words.
    """
    return str(Constraints.parse_recorded(text))


_OPERATOR_RUN = re.compile(r"[^0-9A-Za-z.*\s]*")
_SPACE_RUN = re.compile(r"\s*")


@lru_cache(maxsize=8192)
def _scan_terms(text: str) -> tuple[Term, ...]:
    """The second parser (that of go-versions): one term after another, separated by commas."""
    if len(text) > _MAX_TEXT:
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
    run = _OPERATOR_RUN.match(text)
    operator = run[0] if run else ""
    if operator and operator not in _OPERATORS:
        raise ConstraintSyntaxError(f"invalid sequence {_quoted(operator)}.")
    space_run = _SPACE_RUN.match(text, len(operator))
    space = space_run[0] if space_run else ""
    start = len(operator) + len(space)
    if text[start : start + 1] in {"v", "V"} and text[start + 1 : start + 2].isdigit() and space in {"", " "}:
        raise ConstraintSyntaxError('a "v" prefix should not be used.')
    number = _NUMBERS.match(text, start)
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


Triple = tuple[int, int, int]


def _specifiers(text: str) -> VersionRange:
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(text, prereleases=False).to_range()


def _at_least(triple: Triple) -> VersionRange:
    return _specifiers(">={}.{}.{}".format(*triple))


def _below(triple: Triple) -> VersionRange:
    return _specifiers("<{}.{}.{}".format(*triple))


def _range_of(term: Term) -> VersionRange:
    """The released versions that meet a term.

    Each release X.Y.Z stands for all that lies in [X.Y.Z, X.Y.Z+1), so that the gaps that packaging sees between two
    releases are none; a pre-release operand lies just below its release.
    """
    triple = term.version.numbers
    after = (triple[0], triple[1], triple[2] + 1)
    is_release = not term.version.prerelease
    cell = _at_least(triple) & _below(after)
    match term.operator:
        case Operator.EQUAL:
            return cell if is_release and not term.version.metadata else cell - cell
        case Operator.NOT_EQUAL:
            return ~cell if is_release and not term.version.metadata else _at_least((0, 0, 0))
        case Operator.GREATER:
            return _at_least(after if is_release else triple)
        case Operator.GREATER_EQUAL:
            return _at_least(triple)
        case Operator.LESS:
            return _below(triple)
        case Operator.LESS_EQUAL:
            return _below(after if is_release else triple)
        case Operator.PESSIMISTIC:
            return _at_least(triple) & _below(term.ceiling.numbers)
