"""Constraints: which versions they admit, and how two of them relate."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from msgspec import Struct

from locklens.versions.terms import WRONG_SYNTAX, ConstraintSyntaxError, Term, is_plausible, scan_terms, term_key
from locklens.versions.version import MAX_TEXT, Version, newest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.ranges import VersionRange


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
        if len(text) > MAX_TEXT or not all(is_plausible(piece) for piece in text.split(",")):
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
        return cls(scan_terms(text))

    def __str__(self) -> str:
        """The canonical text: without duplicates, in the tools' order, "" without terms."""
        return ", ".join(map(str, sorted(set(self.terms), key=term_key)))

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
        from locklens.versions.ranges import released

        return released(self.terms)


def newest_matching(versions: Sequence[Version], constraints: Constraints) -> Version | None:
    """The version that the tools would select among those that exist."""
    return newest(version for version in versions if constraints.admits(version))


@lru_cache(maxsize=8192)
def canonical(text: str) -> str:
    """Returns the canonical text of a recorded constraint.

    Raises:
        ConstraintSyntaxError: With the real tools' words.
    """
    return str(Constraints.parse_recorded(text))
