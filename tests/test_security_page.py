"""The promises of SECURITY.md: each names tests, and every test it names exists."""

from __future__ import annotations

import re
from pathlib import Path

TOP = Path(__file__).parents[1]


def test_every_promise_is_held_by_tests_that_exist() -> None:
    page = (TOP / ".github/SECURITY.md").read_text(encoding="utf-8")
    promises = [row for row in page.splitlines() if row.startswith("| **")]
    defined = {
        name
        for file in (TOP / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8"))
    }
    assert len(promises) > 10
    for row in promises:
        named = re.findall(r"`(test_\w+)`", row)
        assert named, row
        assert not set(named) - defined, row
