"""The released versions that satisfy terms, as ranges of `packaging`, which no other module imports."""

from __future__ import annotations

from packaging.specifiers import SpecifierSet

from locklens.versions.terms import Operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from packaging.ranges import VersionRange

    from locklens.versions.terms import Term

Triple = tuple[int, int, int]


def released(terms: Iterable[Term]) -> VersionRange:
    """Return the range of released versions that meet all terms; 0.0.0, which the tools never select, is not in it."""
    found = _at_least((0, 0, 1))
    for term in terms:
        found &= _range_of(term)
    return found


def _specifiers(text: str) -> VersionRange:
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
