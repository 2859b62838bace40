"""A lock file as frozen values. Reading is in `parse`, writing in `render`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.hcl import SyntaxProblem
    from locklens.versions import Version

    EntryContents = tuple[str, str, frozenset[str]]


class LockEntry(Struct, frozen=True, dict=True):
    """One provider's block.

    Attributes:
        constraints: Canonical text, "" where there is none. Recorded for display; the tools never select by it.
        hashes: In the file's order, duplicates kept: the tools compare sequences when they decide whether to rewrite.
        line: Of the block's `provider` keyword, from 1.
        hash_lines: Of each hash, in the same order.
    """

    address: ProviderAddress
    version: Version
    constraints: str
    hashes: tuple[str, ...]
    line: int
    hash_lines: Sequence[int] = ()

    @property
    def says(self) -> tuple[Version, str, tuple[str, ...]]:
        """All that it says, wherever it stands."""
        return self.version, self.constraints, self.hashes

    @property
    def contents(self) -> EntryContents:
        """Version, constraints and hashes, independent of the layout: equal for entries that mean the same."""
        return str(self.version), self.constraints, frozenset(self.hashes)

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """The first line of each hash, where it is known."""
        found: dict[str, int] = {}
        for text, line in zip(self.hashes, self.hash_lines, strict=False):
            found.setdefault(text, line)
        return found

    def line_of(self, text: str) -> int:
        """The line of a hash, or the block's where the hash is not in it."""
        return self.lines.get(text, self.line)


class ConflictMarker(Struct, frozen=True):
    """One conflict that git left in the file: its lines from 1, and what the markers call the two sides."""

    line: int
    separator_line: int
    end_line: int
    ours: str
    theirs: str


class Conflict(Struct, frozen=True):
    """A file with git's conflict markers, or one that is not merged in the index: the file of either side.

    `markers` is empty for the index.
    """

    markers: tuple[ConflictMarker, ...]
    ours: LockFile
    theirs: LockFile

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two sides, ours first."""
        if not self.markers:
            return "stage 2 (ours)", "stage 3 (theirs)"
        return self.markers[0].ours, self.markers[0].theirs


class LockFile(Struct, frozen=True, dict=True):
    """One lock file as it was read.

    Attributes:
        path: As the user knows it, for messages.
        data: The bytes that were read; b"" where the file is absent.
        exists: True if there is a file at all.
        writer: The tool whose header the file has, None for any other first line.
        entries: In the file's order. Of an entry with an error in it, what could be understood.
        unreadable: Providers that are locked in a way of which not even the version can be understood.
        problems: What makes the tools refuse the file; empty for a valid one.
        warnings: What they merely warn of.
        is_complete: True if all of the file could be read, so that what is not among `entries` is not in the file.
        conflict: Set where the file holds git's conflict markers; `entries` is empty then.
    """

    path: str
    data: bytes
    exists: bool
    writer: Dialect | None
    entries: tuple[LockEntry, ...]
    problems: tuple[SyntaxProblem, ...] = ()
    warnings: tuple[SyntaxProblem, ...] = ()
    is_complete: bool = True
    conflict: Conflict | None = None
    unreadable: frozenset[ProviderAddress] = frozenset()

    @classmethod
    def absent(cls, path: str) -> LockFile:
        """A side that has no such file: for the tools that is a lock without entries."""
        return cls(path, b"", exists=False, writer=None, entries=())

    @property
    def is_valid(self) -> bool:
        """True if the tools would read the file."""
        return not self.problems

    @cached_property
    def by_address(self) -> Mapping[ProviderAddress, LockEntry]:
        """The entries by address; of a provider that is locked twice, the first."""
        return {entry.address: entry for entry in reversed(self.entries)}


def differing(old: LockFile, new: LockFile) -> Iterator[tuple[ProviderAddress, LockEntry | None, LockEntry | None]]:
    """Yield each provider whose entry says something else, in order, with both entries."""
    before, after = old.by_address, new.by_address
    for address in sorted(before.keys() | after.keys()):
        one, other = before.get(address), after.get(address)
        if one is None or other is None or one.says != other.says:
            yield address, one, other
