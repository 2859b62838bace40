"""Constraints: the versions that satisfy them, and the relation of two of them."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from itertools import accumulate, combinations

from msgspec import Struct

from locklens.versions.terms import WRONG_SYNTAX, ConstraintSyntaxError, Term, is_plausible, scan_terms, term_key
from locklens.versions.version import MAX_TEXT, Version, newest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.ranges import VersionRange


_MAX_PAIRED = 100
"""Terms of which each pair is looked at; real configurations have some ten for a provider."""


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
        """The terms that the version does not meet."""
        return tuple(term for term in self.terms if not term.holds(version))

    @property
    def is_satisfiable(self) -> bool:
        """True if any version at all could meet the constraint."""
        return bool(self._pins()) or not self._released().is_empty

    def smallest_conflicts(self) -> tuple[tuple[Term, ...], ...]:
        """The smallest parts of an unsatisfiable constraint that are so by themselves; () where it is satisfiable.

        All single terms and, failing these, all pairs. It takes more only where `!=` closes the last gap: then one
        part is found that cannot be made smaller.
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
        """The terms without those that the others make superfluous: what all of them together come to."""
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
        """The pre-releases and builds with metadata that exact terms name and all terms admit."""
        named = {term.version for term in self.terms if term.is_pin}
        return frozenset(
            version for version in named if (version.prerelease or version.metadata) and self.admits(version)
        )

    def _released(self) -> VersionRange:
        from locklens.versions.ranges import released

        return released(self.terms)


class _Meeting(Struct, frozen=True):
    """The versions that satisfy all of some terms: released versions, and named ones that only an exact term opens.

    Attributes:
        term: The last of them.
    """

    term: Term
    released: VersionRange
    named: frozenset[Version]

    @classmethod
    def of(cls, term: Term, candidates: frozenset[Version]) -> _Meeting:
        """The versions that satisfy one term."""
        from locklens.versions.ranges import released

        return cls(term, released((term,)), frozenset(version for version in candidates if term.holds(version)))

    @property
    def is_empty(self) -> bool:
        """True if that is nothing."""
        return not self.named and self.released.is_empty

    def meet(self, other: _Meeting) -> _Meeting:
        """The versions that satisfy the other's terms too."""
        return _Meeting(other.term, self.released & other.released, self.named & other.named)


def _one_conflict(alone: list[_Meeting]) -> tuple[Term, ...]:
    """A part of terms that cannot all hold, from which no term can be left out.

    Terms are added until nothing is left: the last one is needed. That is repeated with what is needed at the front.
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
    """The version that the tools would select among those that exist."""
    return newest(version for version in versions if constraints.admits(version))


@lru_cache(maxsize=8192)
def canonical(text: str) -> str:
    """Return the canonical text of a recorded constraint.

    Raises:
        ConstraintSyntaxError: With the real tools' words.
    """
    return str(Constraints.parse_recorded(text))
