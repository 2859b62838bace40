"""A commit as a value, read from its object: who made it and why. Starts nothing and reads nothing."""

from __future__ import annotations

from msgspec import Struct

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
