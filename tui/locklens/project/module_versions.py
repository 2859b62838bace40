"""Versions of modules, which the tools compare otherwise than versions of providers: as hashicorp/go-version does.

Any number of numbers, an optional `v`, and a pre-release is admitted only where a term names one of the same release.
"""

from __future__ import annotations

import re

from msgspec import Struct

_MAX_TEXT = 1000
_VERSION = re.compile(
    r"v?(?P<numbers>[0-9]+(?:\.[0-9]+)*)"
    r"(?:-(?P<dashed>[0-9]+[0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*)|-?(?P<plain>[A-Za-z~-][0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*))?"
    r"(?:\+(?P<metadata>[0-9A-Za-z~-]+(?:\.[0-9A-Za-z~-]+)*))?\Z"
)
_TERM = re.compile(r"[ \t\n\f\r]*(<=|>=|!=|~>|<|>|=|)[ \t\n\f\r]*(.*?)[ \t\n\f\r]*\Z", re.DOTALL)


class ModuleVersion(Struct, frozen=True):
    """A version; compared by its `precedence`.

    Attributes:
        numbers: At least three; missing ones are 0.
        given: How many were written.
        prerelease: Without its dash.
    """

    numbers: tuple[int, ...]
    given: int
    prerelease: str

    @classmethod
    def parse(cls, text: str) -> ModuleVersion:
        """Read a version.

        Raises:
            ValueError: It is none.
        """
        match = _VERSION.match(text) if len(text) <= _MAX_TEXT else None
        if match is None:
            raise ValueError(f"malformed version: {text}")
        numbers = [int(part) for part in match["numbers"].split(".")]
        given = len(numbers)
        numbers += [0] * (3 - given)
        return cls(tuple(numbers), given, match["dashed"] or match["plain"] or "")

    @property
    def precedence(self) -> tuple[tuple[int, ...], bool, tuple[tuple[int, int, str], ...]]:
        """Numbers without trailing zeros, then releases above pre-releases, then their parts: numbers below words."""
        numbers = self.numbers
        while len(numbers) > 1 and numbers[-1] == 0:
            numbers = numbers[:-1]
        parts = self.prerelease.split(".") if self.prerelease else []
        return numbers, not parts, tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts)


def admits(constraint: str, version: str) -> bool:
    """True if a module call's version constraint admits a version.

    Raises:
        ValueError: Either cannot be read.
    """
    found = ModuleVersion.parse(version)
    return all(_holds(operator, bound, found) for operator, bound in _terms(constraint))


def check_constraint(constraint: str) -> None:
    """Do nothing for a text that is a module version constraint.

    Raises:
        ValueError: It is none.
    """
    _terms(constraint)


def _terms(constraint: str) -> list[tuple[str, ModuleVersion]]:
    terms = []
    for piece in constraint[: _MAX_TEXT * 10].split(","):
        match = _TERM.match(piece)
        if match is None:
            raise ValueError(f"malformed constraint: {piece}")
        terms.append((match[1] or "=", ModuleVersion.parse(match[2])))
    return terms


def _holds(operator: str, bound: ModuleVersion, version: ModuleVersion) -> bool:
    rank, limit = version.precedence, bound.precedence
    if operator == "=":
        return rank == limit
    if operator == "!=":
        return rank != limit
    if operator == "~>":
        return _is_pessimistic(bound, version)
    if version.prerelease and (not bound.prerelease or version.numbers != bound.numbers):
        return False
    return {">": rank > limit, ">=": rank >= limit, "<": rank < limit, "<=": rank <= limit}[operator]


def _is_pessimistic(bound: ModuleVersion, version: ModuleVersion) -> bool:
    """`~>`: not below, and equal in all numbers that were given but the last, so that `~> 1` has no upper bound."""
    if bool(version.prerelease) != bool(bound.prerelease) or (version.prerelease and version.numbers != bound.numbers):
        return False
    fixed = bound.given - 1
    return (
        version.precedence >= bound.precedence
        and len(bound.numbers) <= len(version.numbers)
        and version.numbers[:fixed] == bound.numbers[:fixed]
    )
