"""Provider versions and version constraints as Terraform and OpenTofu read, order and print them.

The order is not SemVer's: a pre-release with fewer dot-separated parts sorts below one with more, whatever the parts
are, because the go-versions library that both tools use compares that first. Constraint texts in configurations pass
two parsers with different tastes one after the other; both are in `version`. Here are the versions that satisfy
constraints, the relation of two of them, and the rewriting of one. `packaging` does the algebra of ranges over released
versions, nothing else.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from itertools import accumulate, combinations

from msgspec import Struct

from locklens.versions.version import (
    MAX_TEXT,
    NUMBERS,
    WRONG_SYNTAX,
    ConstraintSyntaxError,
    Operator,
    Term,
    Version,
    VersionSyntaxError,
    is_plausible,
    neighbour,
    newest,
    precedence,
    scan_terms,
    term_key,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from packaging.ranges import VersionRange

__all__ = [
    "WRONG_SYNTAX",
    "ConstraintSyntaxError",
    "Constraints",
    "NotAdmissibleError",
    "Operator",
    "Relation",
    "Term",
    "Version",
    "VersionSyntaxError",
    "admitting",
    "canonical",
    "neighbour",
    "newest",
    "newest_matching",
    "precedence",
]

_MAX_PAIRED = 100
"""The most terms that are examined in pairs; real configurations have some ten for a provider."""

_PIECE = re.compile(r"(?P<lead>\s*(?:<=|>=|!=|~>|[<>=])?\s*)(?P<version>\S+)(?P<rest>\s*)\Z")


class Relation(Enum):
    """The relation of the releases that satisfy one constraint to those of another."""

    SAME = "same"
    WIDENED = "widened"
    NARROWED = "narrowed"
    SHIFTED = "shifted"
    DISJOINT = "disjoint"


class Constraints(Struct, frozen=True):
    """Terms that must all hold. Without terms any release satisfies."""

    terms: tuple[Term, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Constraints:
        """Read a constraint as a configuration has it, through both of the tools' parsers.

        Raises:
            ConstraintSyntaxError: With the real tools' words.
        """
        if len(text) > MAX_TEXT or not all(is_plausible(piece) for piece in text.split(",")):
            raise ConstraintSyntaxError(WRONG_SYNTAX)
        try:
            return cls.parse_recorded(text)
        except ConstraintSyntaxError as error:
            raise ConstraintSyntaxError(f"Incorrect version constraint syntax: {error.detail}") from error

    @classmethod
    def parse_recorded(cls, text: str) -> Constraints:
        """Read a constraint as a lock file has it, through the second parser alone.

        Raises:
            ConstraintSyntaxError: With the real tools' words.
        """
        return cls(scan_terms(text))

    def __str__(self) -> str:
        """The canonical text: without duplicates, in the tools' order, "" without terms."""
        return ", ".join(map(str, sorted(set(self.terms), key=term_key)))

    def __add__(self, other: Constraints) -> Constraints:
        return Constraints(self.terms + other.terms)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def admits(self, version: Version) -> bool:
        """True if the tools would select the version: all terms hold, and a pre-release is named by an exact term."""
        return self._opens(version) and all(term.holds(version) for term in self.terms)

    def _opens(self, version: Version) -> bool:
        if version.prerelease:
            return any(term.is_pin and term.version == version for term in self.terms)
        return not version.is_unspecified

    def excluded_by(self, version: Version) -> tuple[Term, ...]:
        """Return the terms that the version does not meet."""
        return tuple(term for term in self.terms if not term.holds(version))

    @property
    def is_satisfiable(self) -> bool:
        """True if any version at all could meet the constraint."""
        return bool(self._pins()) or not self._released().is_empty

    def smallest_conflicts(self) -> tuple[tuple[Term, ...], ...]:
        """Return the smallest unsatisfiable sets of terms; () if the constraint is satisfiable.

        They are all single terms or, if there are none, all pairs. A conflict of more terms exists only if `!=` closes
        the last gap; then one set is returned from which no term can be left out.
        """
        if self.is_satisfiable:
            return ()
        terms = list(dict.fromkeys(self.terms))
        candidates = frozenset(term.version for term in terms if term.is_pin and self._opens(term.version))
        alone = [_Meeting.of(term, candidates) for term in terms]
        if singles := tuple((one.term,) for one in alone if one.is_empty):
            return singles
        few = alone[:_MAX_PAIRED]
        if pairs := tuple((a.term, b.term) for a, b in combinations(few, 2) if a.meet(b).is_empty):
            return pairs
        return (_one_conflict(alone),)

    def essential(self) -> Constraints:
        """Return the constraint without the terms that the others imply."""
        kept = sorted(set(self.terms), key=term_key)
        for term in tuple(kept) if len(kept) <= _MAX_PAIRED else ():
            rest = [other for other in kept if other is not term]
            if Constraints(tuple(rest)).relation_to(self) is Relation.SAME:
                kept = rest
        return Constraints(tuple(kept))

    def relation_to(self, older: Constraints) -> Relation:
        """Return the relation of the versions that satisfy this constraint to those that satisfy `older`."""
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
        """Return the pre-releases and builds with metadata that exact terms name and all terms admit."""
        named = {term.version for term in self.terms if term.is_pin}
        return frozenset(
            version for version in named if (version.prerelease or version.metadata) and self.admits(version)
        )

    def _released(self) -> VersionRange:
        return _released_by(self.terms)


class _Meeting(Struct, frozen=True):
    """The versions that satisfy several terms.

    Attributes:
        term: The last of the terms.
        named: Pre-releases and other versions that only an exact term admits.
    """

    term: Term
    released: VersionRange
    named: frozenset[Version]

    @classmethod
    def of(cls, term: Term, candidates: frozenset[Version]) -> _Meeting:
        return cls(term, _released_by((term,)), frozenset(version for version in candidates if term.holds(version)))

    @property
    def is_empty(self) -> bool:
        """True if no version satisfies the terms."""
        return not self.named and self.released.is_empty

    def meet(self, other: _Meeting) -> _Meeting:
        return _Meeting(other.term, self.released & other.released, self.named & other.named)


def _one_conflict(alone: list[_Meeting]) -> tuple[Term, ...]:
    """Return terms that cannot all hold, although all but one of them can.

    Terms are added until no version is left, so the last one is needed. This is repeated with the needed terms first.
    """
    core: list[_Meeting] = []
    rest = alone
    while True:
        line = [*core, *rest]
        met = accumulate(line, _Meeting.meet)
        last = next(number for number, found in enumerate(met) if found.is_empty)
        if last < len(core):
            return tuple(one.term for one in core)
        rest = rest[: last - len(core)]
        core.insert(0, line[last])


def newest_matching(versions: Sequence[Version], constraints: Constraints) -> Version | None:
    """Return the version that the tools would select among those that exist, if any."""
    return newest(version for version in versions if constraints.admits(version))


@lru_cache(maxsize=8192)
def canonical(text: str) -> str:
    """Return the canonical text of a recorded constraint.

    Raises:
        ConstraintSyntaxError: With the real tools' words.
    """
    return str(Constraints.parse_recorded(text))


def _released_by(terms: Iterable[Term]) -> VersionRange:
    """Return the range of released versions that meet all terms; 0.0.0, which the tools never select, is not in it."""
    found = _at_least((0, 0, 1))
    for term in terms:
        found &= _range_of(term)
    return found


def _specifiers(text: str) -> VersionRange:
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(text, prereleases=False).to_range()


def _at_least(triple: tuple[int, int, int]) -> VersionRange:
    return _specifiers(">={}.{}.{}".format(*triple))


def _below(triple: tuple[int, int, int]) -> VersionRange:
    return _specifiers("<{}.{}.{}".format(*triple))


def _range_of(term: Term) -> VersionRange:
    """Return the released versions that meet a term.

    Each release X.Y.Z stands for the range [X.Y.Z, X.Y.Z+1), so that there are no gaps between two releases for
    packaging; a pre-release operand lies just below its release.
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


class NotAdmissibleError(ValueError):
    """The version satisfies no constraint with the same operators; str() is the reason."""


def admitting(text: str, version: Version) -> str:
    """Return a constraint that admits a version: the terms that exclude it get other versions.

    Operators, spaces, the other terms and, where that is enough, the number of parts stay: for 1.3.4, `~> 1.2` becomes
    `~> 1.3` and `1.2.3` becomes `1.3.4`. A bound above stays as far from the version as it is written: `< 1.0` becomes
    `< 2.0`, `< 1.3` becomes `< 1.4`. Whether a pre-release is selected at all is not judged: that takes an exact term.

    Raises:
        ConstraintSyntaxError: The text is not a constraint.
        NotAdmissibleError: A term excludes the version with any number, as `!=` does.
    """
    terms = Constraints.parse(text).terms
    pieces = text.split(",")
    assert len(terms) == len(pieces)  # a comma is between terms, and nowhere else
    changed = [
        piece if term.holds(version) else _changed(piece, term, version)
        for piece, term in zip(pieces, terms, strict=True)
    ]
    return ",".join(changed)


def _changed(piece: str, term: Term, version: Version) -> str:
    match = _PIECE.match(piece)
    assert match is not None  # it is a term
    written = NUMBERS.match(match["version"])
    parts = [int(number) for number in written[0].split(".")] if written else []
    for number in _candidates(term.operator, parts, version):
        if Constraints.parse(f"{term.operator.value} {number}").terms[0].holds(version):
            return f"{match['lead']}{number}{match['rest']}"
    is_ban = term.operator is Operator.NOT_EQUAL
    what = "excludes exactly this version" if is_ban else "has no other bound that allows it"
    raise NotAdmissibleError(f"{piece.strip()} {what}")


def _candidates(operator: Operator, parts: list[int], version: Version) -> Iterator[str]:
    """Yield the numbers that may replace those after an operator, the shortest first."""
    if operator is Operator.NOT_EQUAL:
        return
    if operator is Operator.LESS:
        yield _next_bound(parts, version)
        return
    yield ".".join(map(str, version.numbers[: len(parts)]))
    if operator is not Operator.PESSIMISTIC or len(parts) == len(version.numbers):
        yield str(version)


def _next_bound(parts: list[int], version: Version) -> str:
    """Return the lowest bound above a version that ends in as many zeros as the old bound."""
    last = max((place for place, number in enumerate(parts) if number), default=0)
    numbers = [*version.numbers[:last], version.numbers[last] + 1, *(0 for _ in parts[last + 1 :])]
    return ".".join(map(str, numbers))
