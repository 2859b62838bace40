"""How much the costly suites do: a sample in every run, all of it with LOCKLENS_TESTS=full in the environment.

What costs is counted in runs, mutants, kills and cases. Each suite names two numbers here, of which the smaller still has
every kind of case in it; the full run takes some twenty minutes, and a workflow makes it each night.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
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
