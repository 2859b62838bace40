"""The golden files: what a real tool did with every case, one case a line."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from conformance.case import HERE, Case, Tool
from conformance.outcome import DEEDS, Outcome, differences
from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FOLDER = Path(__file__).parent / "golden"


class Golden(Struct, frozen=True):
    """What was recorded from one tool.

    Attributes:
        tool: Its name.
        version: Of it.
        platform: On which it ran: what is installed, and which `h1` is locked, depend on it.
        locks: Texts of lock files by a digest, because many outcomes share one.
        cases: The outcome of each turn, by the case's key. In the file, `lock` is the digest of the text.
    """

    tool: str
    version: str
    platform: str
    locks: dict[str, str]
    cases: dict[str, tuple[Outcome, ...]]


def path_of(tool: Tool) -> Path:
    """Where a tool's golden file is."""
    return FOLDER / f"{tool.name}-{tool.version}.json"


@cache
def read(tool: Tool) -> Golden:
    """Reads a golden file; outcomes hold the texts of lock files then."""
    found = msgspec.json.decode(path_of(tool).read_bytes(), type=Golden)

    def whole(one: Outcome) -> Outcome:
        return replace(one, lock=found.locks[one.lock]) if one.lock else one

    return replace(found, cases={key: tuple(map(whole, outcomes)) for key, outcomes in found.cases.items()})


def judge(case: Case, tool: Tool, found: tuple[Outcome, ...], parts: Iterable[str] = DEEDS) -> list[str]:
    """Returns what differs from what the tool did; `parts` as of `differences`. Deviations are the caller's affair."""
    expected = read(tool).cases[case.key]
    assert len(found) == len(expected), f"{case.key} was recorded with other turns"
    parts = tuple(parts)
    return [
        f"{case.key}, {' '.join(turn.words)}: {difference}"
        for turn, one, other in zip(case.turns, expected, found, strict=True)
        for difference in differences(one, other, parts)
    ]


def text_of(tool: Tool, cases: dict[str, tuple[Outcome, ...]]) -> bytes:
    """Returns the bytes of a golden file: sorted, compact, and a case a line, so that a change is a line in a diff."""
    locks: dict[str, str] = {}

    def short(one: Outcome) -> Outcome:
        if one.lock is None:
            return one
        digest = sha256(one.lock.encode()).hexdigest()[:12]
        locks[digest] = one.lock
        return replace(one, lock=digest)

    outcomes = {key: [short(one) for one in cases[key]] for key in sorted(cases)}
    head = msgspec.json.encode({"tool": tool.name, "version": tool.version, "platform": HERE})
    return b"%b,\n%b,\n%b}\n" % (head[:-1], _member("locks", dict(sorted(locks.items()))), _member("cases", outcomes))


def _member(name: str, values: Mapping[str, object]) -> bytes:
    lines = (msgspec.json.encode(key) + b":" + msgspec.json.encode(value) for key, value in values.items())
    return b'"%b":{\n%b\n}' % (name.encode(), b",\n".join(lines))
