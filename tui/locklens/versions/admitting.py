"""The smallest rewrite of a constraint that a version satisfies."""

from __future__ import annotations

import re

from locklens.versions.constraints import Constraints
from locklens.versions.terms import Operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.versions.terms import Term
    from locklens.versions.version import Version

_PIECE = re.compile(r"(?P<lead>\s*(?:<=|>=|!=|~>|[<>=])?\s*)(?P<version>\S+)(?P<rest>\s*)\Z")
_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")


class NotAdmissibleError(ValueError):
    """The version satisfies no constraint with the same operators; str() is the reason."""


def admitting(text: str, version: Version) -> str:
    """Return a constraint with other versions in the terms that exclude a version, so that none does any more.

    Operators, spaces, the other terms and, where that is enough, the number of parts stay: for 1.3.4, `~> 1.2` becomes
    `~> 1.3` and `1.2.3` becomes `1.3.4`. A bound above stays as far from the version as it is written: `< 1.0` becomes
    `< 2.0`, `< 1.3` becomes `< 1.4`. Whether a pre-release is selected at all is not judged: that takes an exact term.

    Args:
        text: As it is written, and as both of the tools' parsers read it.
        version: The version that has to satisfy the result.

    Raises:
        ConstraintSyntaxError: The text is no constraint.
        NotAdmissibleError: A term excludes the version with any number, as `!=` does.
    """
    terms = Constraints.parse(text).terms
    pieces = text.split(",")
    assert len(terms) == len(pieces)  # a comma stands between terms, and nowhere else
    changed = [
        piece if term.holds(version) else _changed(piece, term, version)
        for piece, term in zip(pieces, terms, strict=True)
    ]
    return ",".join(changed)


def _changed(piece: str, term: Term, version: Version) -> str:
    match = _PIECE.match(piece)
    assert match is not None  # it is a term
    written = _NUMBERS.match(match["version"])
    parts = [int(number) for number in written[0].split(".")] if written else []
    for number in _candidates(term.operator, parts, version):
        if Constraints.parse(f"{term.operator.value} {number}").terms[0].holds(version):
            return f"{match['lead']}{number}{match['rest']}"
    is_ban = term.operator is Operator.NOT_EQUAL
    what = "excludes exactly this version" if is_ban else "has no other bound that allows it"
    raise NotAdmissibleError(f"{piece.strip()} {what}")


def _candidates(operator: Operator, parts: list[int], version: Version) -> Iterator[str]:
    """The numbers that may stand behind an operator instead, the shortest first."""
    if operator is Operator.NOT_EQUAL:
        return
    if operator is Operator.LESS:
        yield _next_bound(parts, version)
        return
    yield ".".join(map(str, version.numbers[: len(parts)]))
    if operator is not Operator.PESSIMISTIC or len(parts) == len(version.numbers):
        yield str(version)


def _next_bound(parts: list[int], version: Version) -> str:
    """The lowest bound above a version that ends in as many zeros as the old one."""
    last = max((place for place, number in enumerate(parts) if number), default=0)
    numbers = [*version.numbers[:last], version.numbers[last] + 1, *(0 for _ in parts[last + 1 :])]
    return ".".join(map(str, numbers))
