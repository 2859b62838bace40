"""Damaged lock files: whatever is in them, there is a report with a place, and never a wrong "unchanged"."""

from __future__ import annotations

import random
from functools import cache

import pytest
from kit.effort import effort
from kit.real_material import shared_data
from msgspec.structs import replace

from locklens.dialect import TERRAFORM
from locklens.lockfile import LockEntry
from locklens.lockfile.parse import parse
from locklens.lockfile.render import render
from locklens.operations.comparison import Comparison, Side
from locklens.operations.reports import render_report
from locklens.operations.review.request import ReviewRequest
from locklens.operations.review.run import review
from locklens.project import RootPair
from locklens.project.tree import EmptyTree
from locklens.review.model import LockStatus, Review
from locklens.review.reports import text

MUTANTS = effort(400, 40_000)
SEEDS = 20


class OneFile(EmptyTree):
    """A tree with a lock file and nothing else."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, path: str) -> bytes | None:
        return self._data if path == "lock.hcl" else None


def reviewed(old: bytes, new: bytes) -> Review:
    pair = RootPair(
        path="",
        old_lock="lock.hcl",
        new_lock="lock.hcl",
        lock_changed=True,
        configuration_changed=False,
        renamed_from=None,
    )
    base, head = (Side("file", name, None, OneFile(data)) for name, data in (("old", old), ("new", new)))
    comparison = Comparison(base, head, (pair,), None, None, None, ("lock.hcl",))
    return review(ReviewRequest(lambda: comparison))


@cache
def sources() -> list[bytes]:
    return [path.read_bytes() for path in sorted(shared_data().rglob("*.hcl"))]


def mutated(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(7):
        case 0:
            flipped = bytearray(data)
            flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            return bytes(flipped)
        case 1:
            del lines[at]
        case 2:
            lines.insert(at, lines[other])
        case 3:
            lines[at], lines[other] = lines[other], lines[at]
        case 4:
            return data[: chance.randrange(len(data))]
        case 5:
            lines[at] += bytes([chance.randrange(256)])
        case _:
            changed = bytearray(data)
            changed.insert(chance.randrange(len(data)), chance.choice(b'"{}[]=,#$%\\\n\r/*<>\x00\xff'))
            return bytes(changed)
    return b"\n".join(lines)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_damage_is_reported_with_a_place(seed: int) -> None:
    chance = random.Random(seed)
    originals = sources()
    for _ in range(MUTANTS // SEEDS):
        old = chance.choice(originals)
        new = mutated(old, chance)
        review = reviewed(old, new)
        (root,) = review.roots
        render_report("review", "json", review)
        assert "\x1b" not in text.render(review)
        if root.status is LockStatus.INVALID:
            assert root.findings
            unread = [finding for finding in root.findings if finding.rule == "LK019"]
            assert all(one.line is not None or (one.case == "old side" and "(line " in one.message) for one in unread)
            continue
        assert (root.status is LockStatus.UNCHANGED) == (old == new)
        if root.format_only:
            first, second = parse(old, "a"), parse(new, "b")
            assert same(first.entries) == same(second.entries)


def same(entries: tuple[LockEntry, ...]) -> bytes:
    return render([replace(entry, hashes=tuple(dict.fromkeys(entry.hashes))) for entry in entries], TERRAFORM)
