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
        constraints: Canonical text, or "". Recorded for display; the tools never select by it.
        hashes: In the file's order, with duplicates: the tools compare sequences when they decide whether to rewrite.
        line: Line of the block's `provider` keyword, from 1.
        hash_lines: Line of each hash, in the same order.
    """

    address: ProviderAddress
    version: Version
    constraints: str
    hashes: tuple[str, ...]
    line: int
    hash_lines: Sequence[int] = ()

    @property
    def written(self) -> tuple[Version, str, tuple[str, ...]]:
        """Version, constraints and hashes as written, independent of the place in the file."""
        return self.version, self.constraints, self.hashes

    @property
    def contents(self) -> EntryContents:
        """Version, constraints and hashes, independent of the layout: equal for entries that mean the same."""
        return str(self.version), self.constraints, frozenset(self.hashes)

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """The first line of each hash, as far as known."""
        found: dict[str, int] = {}
        for text, line in zip(self.hashes, self.hash_lines, strict=False):
            found.setdefault(text, line)
        return found

    def line_of(self, text: str) -> int:
        """Return the line of a hash, or the block's line if the hash is not in it."""
        return self.lines.get(text, self.line)


class ConflictMarker(Struct, frozen=True):
    """One conflict that git left in the file: the lines of its markers, from 1, and their labels for the sides."""

    line: int
    separator_line: int
    end_line: int
    ours: str
    theirs: str


class Conflict(Struct, frozen=True):
    """The two sides of a file with git's conflict markers, or of one that is unmerged in the index.

    Attributes:
        markers: The markers; () for the index.
        ours: The file as our side has it.
        theirs: The file as their side has it.
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
        path: The path in messages.
        data: The bytes; b"" if the file is absent.
        exists: True if there is a file.
        writer: The tool whose header the file has; None for any other first line.
        entries: In the file's order. An entry with an error is included as far as it can be understood.
        problems: The errors for which the tools refuse the file; () for a valid one.
        warnings: The tools' warnings.
        is_complete: True if all of the file could be read, so that a provider without an entry is not in the file.
        conflict: The two sides, if the file has git's conflict markers; `entries` is () then.
        unreadable: Providers with a block whose version cannot be understood.
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
        """Return a file that does not exist, which the tools treat as one without entries."""
        return cls(path, b"", exists=False, writer=None, entries=())

    @property
    def is_valid(self) -> bool:
        """True if the tools would read the file."""
        return not self.problems

    @cached_property
    def by_address(self) -> Mapping[ProviderAddress, LockEntry]:
        """The entries by address; the first one of a provider that is locked twice."""
        return {entry.address: entry for entry in reversed(self.entries)}


def differing(old: LockFile, new: LockFile) -> Iterator[tuple[ProviderAddress, LockEntry | None, LockEntry | None]]:
    """Yield each provider with differing entries, in order, with both entries."""
    before, after = old.by_address, new.by_address
    for address in sorted(before.keys() | after.keys()):
        one, other = before.get(address), after.get(address)
        if one is None or other is None or one.written != other.written:
            yield address, one, other
