"""The comments of a lock file in a three-way merge: the tools ignore them, people wrote them for each other."""

from __future__ import annotations

import re

_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|(?P<comment>#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z))', re.DOTALL)


def comments_in(text: str) -> tuple[str, ...]:
    """Return the comments of a text in their order."""
    found = (match["comment"] for match in _STRING_OR_COMMENT.finditer(text))
    return tuple(comment.rstrip() for comment in found if comment is not None)


def split_comments(body: str) -> tuple[str, str]:
    """Return the lines of comments above a block, and the block."""
    lines = body.splitlines(keepends=True)
    above = 0
    while above < len(lines) and lines[above].lstrip("\ufeff \t").startswith(("#", "//")):
        above += 1
    return "".join(lines[:above]), "".join(lines[above:])


def merged_body(base: str, winner: str, other: str) -> str | None:
    """Return a block with the comments of both sides; None where they cannot be merged.

    Args:
        base: The block of the common ancestor; "" for none.
        winner: The block of the side that stands for what it says.
        other: The block of the other side. Its layout is dropped, its comments are not.
    """
    if comments_in(other) in (comments_in(base), comments_in(winner)):
        return winner
    (before, old), (above, block), (their_above, their_block) = map(split_comments, (base, winner, other))
    is_inner_kept = comments_in(their_block) in (comments_in(old), comments_in(block))
    return their_above + block if is_inner_kept and above == before else None


def merged_text(base: str, ours: str, theirs: str) -> str:
    """Return text that belongs to no block: of the side that changed it, or ours with the lines that theirs adds."""
    if theirs in (base, ours):
        return ours
    if ours == base:
        return theirs
    if "/*" in theirs:
        return _ended(ours) + theirs
    known = {line.strip() for text in (base, ours) for line in text.splitlines()}
    return _ended(ours) + "".join(line for line in theirs.splitlines(keepends=True) if line.strip() not in known | {""})


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
