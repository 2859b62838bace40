"""The terms of a constraint, and the two parsers that a constraint in a configuration passes."""

from __future__ import annotations

import re
from enum import Enum
from functools import cmp_to_key, lru_cache

from msgspec import Struct

from locklens.versions.version import (
    MAX_TEXT,
    NUMBERS,
    WHITESPACE,
    Version,
    VersionSyntaxError,
    compare_identifiers,
    quoted,
    scan_version,
)

WRONG_SYNTAX = "This string does not use correct version constraint syntax."
"""The tools' message for a constraint that their first parser refuses."""


class ConstraintSyntaxError(ValueError):
    """A text is no version constraint; `summary` and `detail` are the real tools' words."""

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
        if self.operator is Operator.PESSIMISTIC:
            return 4 if self.parts == 3 else 5
        return _RANK[self.operator]

    def holds(self, version: Version) -> bool:
        """True if a version meets this term; only `=` and `!=` look at metadata."""
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
    by_version = left.version.compare(right.version) or compare_identifiers(
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
    """The first parser's verdict (that of hashicorp/go-version) on one comma-separated piece."""
    match = re.match(_PLAUSIBLE, piece, re.VERBOSE)
    return match is not None and all(int(number) <= _LESS_NUMBERS for number in match["numbers"].split("."))


_OPERATOR_RUN = re.compile(r"[^0-9A-Za-z.*\s]*")
_SPACE_RUN = re.compile(r"\s*")


@lru_cache(maxsize=8192)
def scan_terms(text: str) -> tuple[Term, ...]:
    """The second parser (that of go-versions): one term after another, separated by commas."""
    if len(text) > MAX_TEXT:
        raise ConstraintSyntaxError("the text is too long for a constraint.")
    terms: list[Term] = []
    rest = text.strip(WHITESPACE)
    while rest:
        term, end = _scan_term(rest)
        terms.append(term)
        consumed, rest = rest[:end], rest[end:].strip(WHITESPACE)
        if rest:
            if not rest.startswith(","):
                raise ConstraintSyntaxError(f"missing comma after {quoted(consumed)}.")
            rest = rest[1:].strip(WHITESPACE)
    return tuple(terms)


def _scan_term(text: str) -> tuple[Term, int]:
    run = _OPERATOR_RUN.match(text)
    operator = run[0] if run else ""
    if operator and operator not in _OPERATORS:
        raise ConstraintSyntaxError(f"invalid sequence {quoted(operator)}.")
    space_run = _SPACE_RUN.match(text, len(operator))
    space = space_run[0] if space_run else ""
    start = len(operator) + len(space)
    if text[start : start + 1] in {"v", "V"} and text[start + 1 : start + 2].isdigit() and space in {"", " "}:
        raise ConstraintSyntaxError('a "v" prefix should not be used.')
    number = NUMBERS.match(text, start)
    if space not in ({"", " "} if operator else {""}) or (
        operator and number is None and text[start : start + 1] != "*"
    ):
        shown = quoted(text[: number.end() if number else start])
        raise ConstraintSyntaxError(
            f'invalid specification {shown}: only one space is expected after the operator "{operator}".'
        )
    if number is None and text[start : start + 1] != "*":
        raise ConstraintSyntaxError(f"missing comma after {quoted(text[:start])}.")
    try:
        version, parts, end = scan_version(text, start)
    except VersionSyntaxError as error:
        shown = quoted(text[: number.end() if number else start + 1])
        raise ConstraintSyntaxError(f"invalid specification {shown}: {error}.") from error
    kind = Operator(operator or "=")
    return Term(kind, version, 2 if kind is Operator.PESSIMISTIC and parts < 3 else 3), end
