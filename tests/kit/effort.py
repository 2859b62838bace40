"""How much the costly suites do: a sample in every run, all of it with LOCKLENS_TESTS=full in the environment.

What costs is counted in runs, mutants, kills and cases. Each suite names two numbers here, of which the smaller still has
every kind of case in it; the full run takes some twenty minutes, and a workflow makes it each night.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import product
from typing import TypeVar

import pytest

SETTING = "LOCKLENS_TESTS"
VALUES = ("sample", "full")

_value = os.environ.get(SETTING) or VALUES[0]
if _value not in VALUES:
    raise pytest.UsageError(f"{SETTING} is {_value!r}; it may be {' or '.join(VALUES)}")

IS_FULL = _value == "full"


_Amount = TypeVar("_Amount")


def effort(sample: _Amount, full: _Amount) -> _Amount:
    """What this run takes: a number, mostly, or of two texts the one that costs less."""
    return full if IS_FULL else sample


def some(cases: Iterable[_Amount], every: int) -> list[_Amount]:
    """Of cases of one kind, every which, from the first one on."""
    return list(cases)[:: effort(every, 1)]


DIAGONAL = pytest.mark.diagonal
"""Of a test with several parametrisations, a sample has each value of each, but not each with all values of the others."""


def off_diagonal(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The tests that a sample leaves out of those with this mark; a full run has all of them."""
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not IS_FULL and item.get_closest_marker(DIAGONAL.name):
            tables.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return [item for table in tables.values() for item in _off_diagonal_of(table)]


def _off_diagonal_of(table: list[pytest.Item]) -> list[pytest.Item]:
    sizes = [
        len(mark.args[1]) for mark in table[0].iter_markers("parametrize")
    ]  # in the order of the loops, the outer first
    cells = list(product(*map(range, sizes)))
    diagonal = {tuple(step % size for size in sizes) for step in range(max(sizes))}
    return [item for cell, item in zip(cells, table, strict=True) if cell not in diagonal]
