"""The dependency lock file as frozen values: its entries, and its provider blocks before anything in them is judged.

`scan` reads the layout that the tools write, line by line; nearly every lock file has it. All other files are read by
the HCL reader, with every comment, layout and escape that HCL allows: `BodyReader` knows which of HCL's constructs a
lock file may not hold. That `scan` gives up proves nothing about a file's validity. Reading is in `parse`, writing in
`render`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.hcl import Block, Body, Expression, ListExpr, Literal, SourcePlace, SyntaxProblem
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.versions import Version

    EntryContents = tuple[str, str, frozenset[str]]
    EntryPair = tuple[ProviderAddress, "LockEntry | None", "LockEntry | None"]
    """A provider, and its entry on either side."""

_ALIGNED, _ALONE, _CONSTRAINTS = '  version     = "', '  version = "', '  constraints = "'
_SPECIAL = ('"', "\\", "$", "%")
_MOST_KNOWN = 2048
_LONGEST_KNOWN = 1 << 14
"""Lock files of one repository repeat a few hundred blocks of some two KiB; so many of these take 32 MiB at most."""


class LockEntry(Struct, frozen=True, dict=True):
    """One provider's block.

    Attributes:
        constraints: Canonical text, or "". Recorded for display; the tools never select by it.
        hashes: In the file's order, with duplicates: the tools compare sequences when they decide whether to rewrite.
        line: Line of the block's `provider` keyword, from 1.
        hash_offsets: Line of each hash, counted from the block's, in the same order: equal for entries with one
            layout, wherever they are.
    """

    address: ProviderAddress
    version: Version
    constraints: str
    hashes: tuple[str, ...]
    line: int
    hash_offsets: Sequence[int] = ()

    @property
    def written(self) -> tuple[Version, str, tuple[str, ...]]:
        """Version, constraints and hashes as written, independent of the place in the file."""
        return self.version, self.constraints, self.hashes

    @property
    def contents(self) -> EntryContents:
        """Version, constraints and hashes, independent of the layout: equal for entries that mean the same."""
        return str(self.version), self.constraints, frozenset(self.hashes)

    @cached_property
    def accepted(self) -> frozenset[str]:
        """The hashes, one of which a package has to have."""
        return frozenset(self.hashes)

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """The first line of each hash, as far as known."""
        found: dict[str, int] = {}
        for text, offset in zip(self.hashes, self.hash_offsets, strict=False):
            found.setdefault(text, self.line + offset)
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
        base: The common ancestor; None where it is unknown, as the markers do not have it.
        is_staged: True if the sides are those of git's index; between the markers git merged other lines by itself.
        merge_commit: The merge that was committed with the markers, if the sides are those of its parents; else "".
        first_parent: The first parent of that merge; the markers call it HEAD, which is another commit now.
    """

    markers: tuple[ConflictMarker, ...]
    ours: LockFile
    theirs: LockFile
    base: LockFile | None = None
    is_staged: bool = False
    merge_commit: str = ""
    first_parent: str = ""

    @property
    def is_of_git(self) -> bool:
        """True if git has the sides as they were before the merge."""
        return self.is_staged or self.merge_commit != ""

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two sides, ours first."""
        if not self.markers:
            return "stage 2 (ours)", "stage 3 (theirs)"
        ours = f"commit {self.first_parent[:12]} (ours)" if self.first_parent else self.markers[0].ours
        return ours, self.markers[0].theirs

    @property
    def pairs(self) -> tuple[EntryPair, ...]:
        """The providers that both sides changed, each in its own way, with both entries; what one side left stands."""
        before = self.base.by_address if self.base is not None and self.base.is_complete else None

        def is_open(pair: EntryPair) -> bool:
            address, ours, theirs = pair
            sides = entry_contents(ours), entry_contents(theirs)
            return sides[0] != sides[1] and (before is None or entry_contents(before.get(address)) not in sides)

        return tuple(filter(is_open, differing(self.ours, self.theirs)))


def entry_contents(entry: LockEntry | None) -> EntryContents | None:
    """Return the contents of an entry; None for none."""
    return entry.contents if entry is not None else None


def pinned(entry: LockEntry | None) -> tuple[str, frozenset[str]] | None:
    """Return version and hashes of an entry, which alone decide what is installed; None for none."""
    return (str(entry.version), entry.accepted) if entry is not None else None


class LockFile(Struct, frozen=True, dict=True):
    """One lock file as it was read.

    Attributes:
        data: The bytes; b"" if the file is absent.
        writer: The tool whose header the file has; None for any other first line.
        entries: In the file's order. An entry with an error is included as far as it can be understood.
        problems: The errors for which the tools refuse the file; () for a valid one.
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

    def entry(self, address: ProviderAddress | None) -> LockEntry | None:
        """Return the entry of a provider, where one is known; None without one."""
        return self.by_address.get(address) if address is not None else None


def differing(old: LockFile, new: LockFile) -> Iterator[EntryPair]:
    """Yield each provider with differing entries, in order, with both entries."""
    before, after = old.by_address, new.by_address
    for address in sorted(before.keys() | after.keys()):
        one, other = before.get(address), after.get(address)
        if one is None or other is None or one.written != other.written:
            yield address, one, other


def unread_words(locks: Iterable[LockFile]) -> str:
    """Return e.g. "not read: 2 lock files in conflict, 1 with errors" of those that are not complete; "" for none."""
    unread = [lock.conflict is not None for lock in locks if not lock.is_complete]
    conflicts, others = sum(unread), len(unread) - sum(unread)
    if not unread:
        return ""
    parts = [f"{counted(conflicts, 'lock file')} in conflict"] if conflicts else []
    parts += [f"{others if conflicts else counted(others, 'lock file')} with errors"] if others else []
    return f"not read: {', '.join(parts)}"


class Text(Struct, frozen=True):
    """A text with the place of its value: its line, counted from that of its block, and its column from 1."""

    value: str
    offset: int
    column: int


class ProviderBlock(Struct, frozen=True):
    """A provider block whose attributes have the right types; an absent attribute is None, and `line` is from 1."""

    label: Text
    line: int
    version: Text | None
    constraints: Text | None
    hashes: Sequence[str] | None
    hash_offsets: Sequence[int]
    hash_columns: Sequence[int]


def scan(data: bytes) -> list[ProviderBlock] | None:
    """Return the provider blocks of a lock file in the tools' layout; None if it has any other layout.

    CRLF line ends and a byte order mark are accepted, and so are empty lines and comments between the blocks.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    blocks: list[ProviderBlock] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line or (line[0] == "#" and line.replace("\t", "").isprintable()):
            at += 1
            continue
        try:
            end = lines.index("}", at) + 1
        except ValueError:
            return None
        text = "\n".join(lines[at:end])
        known = _known.get(text)
        if known is None:
            known = _block(lines[at:end])
            if known is None:
                return None
            if len(text) <= _LONGEST_KNOWN:
                if len(_known) >= _MOST_KNOWN:
                    _known.clear()
                _known[text] = known
        blocks.append(replace(known, line=at + 1))
        at = end
    return blocks


_known: dict[str, ProviderBlock] = {}
"""The blocks that were read, each as at the top of a file, by their text: equal ones share their hashes."""


def _block(lines: list[str]) -> ProviderBlock | None:
    """Read a block from its lines, down to its closing brace."""
    label = _between(lines[0], 'provider "', '" {')
    second = lines[1] if len(lines) > 1 else ""
    start = _ALIGNED if second.startswith(_ALIGNED) else _ALONE
    version = _between(second, start, '"')
    if label is None or version is None:
        return None
    end = 2
    constraints = None
    if start == _ALIGNED:
        constraints = _between(lines[end], _CONSTRAINTS, '"')
        if constraints is None:
            return None
        end += 1
    hashes: tuple[str, ...] | None = None
    first_hash = end + 1  # after `hashes = [`
    if lines[end : end + 1] == ["  hashes = ["]:
        hashes = _hashes(lines, end + 1)
        if not hashes:
            return None
        end += len(hashes) + 2
    if end != len(lines) - 1:
        return None
    return ProviderBlock(
        label=Text(label, 0, len('provider "')),
        line=1,
        version=Text(version, 1, len(start)),
        constraints=None if constraints is None else Text(constraints, 2, len(_CONSTRAINTS)),
        hashes=hashes,
        hash_offsets=range(first_hash, first_hash + len(hashes or ())),
        hash_columns=(len('    "'),) * len(hashes or ()),
    )


def _hashes(lines: list[str], start: int) -> tuple[str, ...] | None:
    try:
        listed = lines[start : lines.index("  ]", start)]
    except ValueError:
        return None
    values = tuple([line[5:-2] for line in listed if line.startswith('    "') and line.endswith('",')])
    return values if len(values) == len(listed) and all(values) and _is_plain("".join(values)) else None


def _between(line: str, before: str, after: str) -> str | None:
    """Return the plain text between the given ends of a line; None if the line is another."""
    if len(line) <= len(before) + len(after) or not line.startswith(before) or not line.endswith(after):
        return None
    value = line[len(before) : -len(after)]
    return value if _is_plain(value) else None


def _is_plain(text: str) -> bool:
    """True for a quoted text of printable ASCII without escapes and templates, which is its own value."""
    return text.isascii() and text.isprintable() and not any(special in text for special in _SPECIAL)


_ARGUMENTS = frozenset({"version", "constraints", "hashes"})


class BodyReader:
    """Reads the provider blocks of an HCL tree, and what the tools would refuse or warn of."""

    def __init__(self) -> None:
        self.blocks: list[ProviderBlock] = []
        self.problems: list[SyntaxProblem] = []
        self.warnings: list[SyntaxProblem] = []

    def read(self, body: Body) -> None:
        """Read a file's top level."""
        for name, attribute in body.attributes.items():
            self._refuse(attribute.place, "Unsupported argument", f'An argument named "{name}" is not expected here.')
        modules = 0
        for block in body.all_blocks():
            if block.type == "provider":
                self._read_provider(block)
            elif block.type == "module":
                modules += self._has_one_label(block, "path")
                if modules == 1:
                    self._warn_of_modules(block)
            else:
                self._refuse(
                    block.place, "Unsupported block type", f'Blocks of type "{block.type}" are not expected here.'
                )

    def _refuse(self, place: SourcePlace, summary: str, detail: str) -> None:
        self.problems.append(place.problem(summary, detail))

    def _warn_of_modules(self, block: Block) -> None:
        summary = "Dependency locks for modules are not yet supported"
        detail = "the block is ignored and will be dropped when the file is rewritten"
        self.warnings.append(block.place.problem(summary, detail))

    def _has_one_label(self, block: Block, label: str) -> bool:
        if len(block.labels) == 1:
            return True
        if not block.labels:
            detail = f"All {block.type} blocks must have 1 label ({label})."
            self._refuse(block.place, f"Missing {label} for {block.type}", detail)
        else:
            self._refuse(
                block.label_places[1],
                f"Extraneous label for {block.type}",
                f"Only 1 label ({label}) is expected for {block.type} blocks.",
            )
        return False

    def _read_provider(self, block: Block) -> None:
        if not self._has_one_label(block, "source_addr"):
            return
        self.problems += block.body.misfits(_ARGUMENTS, {})
        version, constraints, hashes = map(block.body.attributes.get, ("version", "constraints", "hashes"))
        version_text, line = None, block.place.line
        if version is None:
            self._refuse(block.place, "Missing required argument", 'The argument "version" is required.')
        elif isinstance(version.value, Literal) and version.value.value is None:
            detail = 'A provider lock block must contain a "version" argument.'
            self._refuse(version.value.place, "Missing required argument", detail)
        else:
            version_text = self._text(version.value, line)
        constraints_text = self._text(constraints.value, line) if constraints else None
        hash_texts = self._hashes(hashes.value, line) if hashes else None
        label = Text(block.labels[0], block.label_places[0].line - line, block.label_places[0].column)
        self.blocks.append(
            ProviderBlock(
                label=label,
                line=line,
                version=version_text,
                constraints=constraints_text,
                hashes=None if hash_texts is None else [text.value for text in hash_texts],
                hash_offsets=tuple(text.offset for text in hash_texts or ()),
                hash_columns=[text.column for text in hash_texts or ()],
            )
        )

    def _text(self, value: Expression, line: int) -> Text | None:
        """Return a constant as the text that the tools convert it to; None, and a problem, for anything else."""
        text = value.text if isinstance(value, Literal) else None
        if text is None:
            is_null = isinstance(value, Literal) and value.value is None
            self._refuse(
                value.place,
                "Unsuitable value type" if is_null else "Invalid expression",
                "null value is not allowed" if is_null else "a literal string is required here",
            )
            return None
        return Text(text, value.place.line - line, value.place.column)

    def _hashes(self, value: Expression, line: int) -> list[Text] | None:
        if not isinstance(value, ListExpr):
            self._refuse(value.place, "Invalid expression", "A static list expression is required.")
            return None
        texts = [self._text(item, line) for item in value.items]
        return [text for text in texts if text is not None] if None not in texts else None
