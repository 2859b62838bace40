"""A lock file as lines for `git diff`: the publisher's list of `zh` folded to a count and a digest."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from locklens.hashes import hashes_of_zips

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.lockfile.model import LockFile

_DIGITS = 12
"""Of a digest. It only has to change when a hash does; the review compares the hashes themselves."""


def summary(lock: LockFile) -> Iterator[str]:
    """Yield the lines of a lock file that can be read: version, constraints, and the hashes of each provider."""
    for entry in sorted(lock.entries, key=lambda entry: entry.address.sort_key):
        yield f"provider {entry.address}"
        yield f"  version      {entry.version}"
        if entry.constraints:
            yield f"  constraints  {entry.constraints}"
        listed = sorted(hashes_of_zips(entry.hashes))
        if listed:
            digest = sha256("\n".join(listed).encode()).hexdigest()[:_DIGITS]
            yield f"  zh           {len(listed)}, digest {digest}"
        yield from (f"  {text}" for text in sorted(set(entry.hashes) - set(listed)))
