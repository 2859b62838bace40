"""Digests that stand for a list of texts: the ids of changes, the fingerprints of findings."""

from __future__ import annotations

ID_DIGITS = 32
"""Of an id that is shown and written to files: 128 bits, so that nobody finds two texts with one id."""


def identity_of(*parts: str) -> str:
    """Return 64 hex digits that stand for these parts, in this order, and for no others.

    Each part goes in behind its length: of parts that are merely joined, one with the separator in it passes for two.
    """
    import hashlib

    whole = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        whole.update(b"%d:" % len(data))
        whole.update(data)
    return whole.hexdigest()
