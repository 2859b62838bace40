"""What `git diff` shows of a lock file: another digest for each other set of `zh`."""

from __future__ import annotations

import re

import pytest

from locklens.addresses import ProviderAddress
from locklens.lockfile import LockEntry, LockFile
from locklens.lockfile.render import summary
from locklens.versions import Version


def shown(*hashes: str) -> list[str]:
    entry = LockEntry(ProviderAddress("a.com", "x", "y"), Version.parse("1.0.0"), "", hashes, 1)
    return list(summary(LockFile("lock.hcl", b"x", exists=True, writer=None, entries=(entry,))))


def test_a_digest_is_long_enough_that_nobody_finds_another_set_with_it() -> None:
    (line,) = (line for line in shown("zh:" + "a" * 64, "zh:" + "b" * 64, "h1:x") if "digest" in line)
    assert re.fullmatch("  zh           2, digest [0-9a-f]{32}", line)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("zh:a", "zh:b"), ("zh:a", "zh:c")),
        (("zh:a\nzh:b", "zh:c"), ("zh:a", "zh:b\nzh:c")),
        (("zh:\ud800",), ("zh:?",)),
    ],
    ids=["exchanged", "line feed", "surrogate"],
)
def test_other_hashes_are_another_digest(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert shown(*one) == shown(*reversed(one))
    assert shown(*one) != shown(*other)
