"""Commits as values, read from git's answers: who made them and why. Starts nothing and reads nothing."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from msgspec import Struct

_MOST_DIGITS = 12
_LONGEST = 200
"""Characters of a name or a subject: anyone can write any number into a commit."""


class CommitFacts(Struct, frozen=True):
    """The author's name without the address, and the first line of the message."""

    author: str = ""
    subject: str = ""
    parents: int = 0


def read_commit(data: bytes) -> CommitFacts:
    """Return the facts of a commit object; what is missing or malformed is empty."""
    head, _, message = data[:65_536].partition(b"\n\n")
    lines = head.decode("utf-8", "replace").split("\n")
    author = next((line.removeprefix("author ") for line in lines if line.startswith("author ")), "")
    first = message.decode("utf-8", "replace").strip().partition("\n")[0]
    parents = sum(line.startswith("parent ") for line in lines)
    return CommitFacts(author.partition(" <")[0].strip()[:_LONGEST], first.strip()[:_LONGEST], parents)


_BLAMED = re.compile(r"(?P<commit>[0-9a-f]{40,64}) \d{1,10} (?P<line>\d{1,10})(?: \d{1,10})?\Z")


class BlamedLine(Struct, frozen=True):
    """A line of a file and its commit.

    Attributes:
        line: From 1.
        commit: Its full id; "" for a line that is not committed.
        date: When it was committed, ISO 8601 in UTC.
        is_boundary: True if git reads no parent of the commit: it has none, or the clone has none of them.
    """

    line: int
    commit: str
    date: str
    is_boundary: bool


def read_blame(output: bytes) -> tuple[BlamedLine, ...]:
    """Return the lines of `git blame --porcelain`, which describes each commit once, at its first line."""
    found: list[tuple[int, str]] = []
    seconds: dict[str, int] = {}
    boundaries: set[str] = set()
    commit = ""
    for text in output.decode("utf-8", "replace").split("\n"):
        if text.startswith("\t"):
            continue
        if match := _BLAMED.match(text):
            commit = match["commit"]
            found.append((int(match["line"]), commit))
        elif text.startswith("committer-time "):
            number = text.removeprefix("committer-time ")
            seconds[commit] = int(number) if number.isdecimal() and len(number) < _MOST_DIGITS else 0
        elif text == "boundary":
            boundaries.add(commit)
    return tuple(
        BlamedLine(line, commit if commit.strip("0") else "", moment_of(seconds.get(commit, 0)), commit in boundaries)
        for line, commit in found
    )


def moment_of(seconds: int) -> str:
    """Return a time of git, in seconds since the epoch, as ISO 8601 in UTC; "" where it is none."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return ""  # The author of a commit can write any number into it.
