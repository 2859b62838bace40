"""Reads a lock file as the tools do: its entries, and every error that they would report, with line and column.

The rules are those of the tools' own lock file reader. A file with git's conflict markers is read twice, once for each
side.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from locklens.addresses import AddressError, ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect, dialect_of_header
from locklens.hcl import SyntaxProblem, decode, encode, parse_constants
from locklens.lockfile import BodyReader, Conflict, ConflictMarker, LockEntry, LockFile, ProviderBlock, Text, scan
from locklens.versions import ConstraintSyntaxError, Version, VersionSyntaxError, canonical

MAX_LOCK_FILE_BYTES = 1 << 20
"""A lock file above this size is not read: of 4,637 real ones the largest has 18,535 bytes."""

_START, _BASE, _MIDDLE, _END = "<" * 7, "|" * 7, "=" * 7, ">" * 7
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_ANY_MARKER = re.compile(rb"^(?:<{7} |>{7} |={7}\r?$)", re.MULTILINE)


def parse(data: bytes, path: str, *, dialect: Dialect | None = None) -> LockFile:
    """Read a lock file's bytes by the rules of a tool, without one by those of the tool that wrote it.

    Returns:
        The lock file, with the tools' errors as `problems`; nothing is raised.
    """
    if len(data) > MAX_LOCK_FILE_BYTES:
        problem = SyntaxProblem(
            1,
            1,
            "The file is too large",
            f"a lock file may have at most {MAX_LOCK_FILE_BYTES} bytes, this one has {len(data)}",
        )
        return LockFile(path, data, exists=True, writer=None, entries=(), problems=(problem,), is_complete=False)
    scanned = scan(data)
    writer = dialect_of_header(data.partition(b"\n")[0].decode("utf-8", "replace"))
    rules = dialect or writer or (OPENTOFU if b'"registry.opentofu.org/' in data else TERRAFORM)
    if scanned is not None:
        return _judged(path, data, writer, scanned, rules)
    conflicted = _with_conflicts(path, data, writer, rules) if _ANY_MARKER.search(data) else None
    if conflicted is not None:
        return conflicted
    parsed = parse_constants(data)
    reader = BodyReader()
    if parsed.body is not None:
        reader.read(parsed.body)
    lock = _judged(path, data, writer, reader.blocks, rules, tuple(parsed.problems) + tuple(reader.problems))
    return replace(lock, warnings=tuple(reader.warnings), is_complete=parsed.body is not None)


def _judged(
    path: str,
    data: bytes,
    writer: Dialect | None,
    blocks: list[ProviderBlock],
    rules: Dialect,
    problems: tuple[SyntaxProblem, ...] = (),
) -> LockFile:
    judge = _Judge(path, rules)
    entries = tuple(entry for entry in map(judge.entry, blocks) if entry is not None)
    found = sorted((*problems, *judge.problems), key=lambda problem: (problem.line, problem.column))
    return LockFile(
        path,
        data,
        exists=True,
        writer=writer,
        entries=entries,
        problems=tuple(dict.fromkeys(found)),
        unreadable=frozenset(judge.unreadable),
    )


class _Judge:
    """Turns blocks into entries, and collects the problems for which the tools refuse the file."""

    def __init__(self, path: str, rules: Dialect) -> None:
        self._path = path
        self._rules = rules
        self._line = 1
        self._seen: dict[ProviderAddress, int] = {}
        self.problems: list[SyntaxProblem] = []
        self.unreadable: set[ProviderAddress] = set()

    def entry(self, block: ProviderBlock) -> LockEntry | None:
        """Return the block's entry, also if the tools refuse it, as far as it can be understood.

        None if it has no valid address, or no valid version; in the second case the address is added to `unreadable`.
        """
        self._line = block.line
        address = self._address(block)
        version = self._version(block.version) if block.version else None
        constraints = self._constraints(block.constraints) if block.constraints else ""
        if block.hashes is not None:
            self._check_hashes(block)
        if address is None:
            return None
        if version is None:
            self.unreadable.add(address)
            return None
        return LockEntry(address, version, constraints, tuple(block.hashes or ()), block.line, block.hash_offsets)

    def _refuse(self, at: Text, summary: str, detail: str) -> None:
        self.problems.append(SyntaxProblem(self._line + at.offset, at.column, summary, detail))

    def _address(self, block: ProviderBlock) -> ProviderAddress | None:
        label = block.label
        summary = "Invalid provider source address"
        try:
            address = self._rules.parse_source(label.value)
        except AddressError as error:
            form = 'must be a valid, fully-qualified address of the form "hostname/namespace/type"'
            self._refuse(label, summary, f'"{label.value}" {form} ({error.summary}).')
            return None
        if self._rules.is_builtin(address):
            self._refuse(label, summary, f"Cannot lock a version for built-in provider {address}.")
        elif self._rules.is_legacy(address):
            self._refuse(
                label, summary, f"{address} is a special provider that is not eligible for dependency locking."
            )
        elif str(address) != label.value:
            self._refuse(
                label, "Non-normalized provider source address", f'"{label.value}" must be written as "{address}".'
            )
        elif address in self._seen:
            place = f"{self._path}:{self._seen[address]}"
            self._refuse(
                label,
                "Duplicate provider lock",
                f"This lockfile already declared a lock for provider {address} at {place}.",
            )
        else:
            self._seen[address] = block.line
            return address
        return None

    def _version(self, text: Text) -> Version | None:
        summary = "Invalid provider version number"
        try:
            version = Version.parse(text.value)
        except VersionSyntaxError as error:
            self._refuse(text, summary, f'the version number "{text.value}" is invalid: {error}.')
            return None
        if str(version) != text.value:
            self._refuse(text, summary, f'"{text.value}" must be written in normalized form: "{version}".')
        return version

    def _constraints(self, text: Text) -> str:
        summary = "Invalid provider version constraints"
        try:
            normal = canonical(text.value)
        except ConstraintSyntaxError as error:
            self._refuse(text, summary, f'the version constraints "{text.value}" are invalid: {error.detail}')
            return text.value
        if normal != text.value:
            self._refuse(text, summary, f'"{text.value}" must be written in normalized form: "{normal}".')
        return normal

    def _check_hashes(self, block: ProviderBlock) -> None:
        if not block.hashes:
            at = Text("", 0, 1)
            self._refuse(at, "Invalid provider hash set", "must either be omitted or contain at least one hash value.")
        for position, value in enumerate(block.hashes or ()):
            if value.find(":") < 1:
                at = Text(value, block.hash_offsets[position], block.hash_columns[position])
                words = "hash string must start with a scheme keyword followed by a colon"
                self._refuse(
                    at, "Invalid provider hash string", f'Cannot interpret "{value}" as a provider hash: {words}.'
                )


def _with_conflicts(path: str, data: bytes, writer: Dialect | None, rules: Dialect) -> LockFile | None:
    """Read a file with git's conflict markers, once as each side has it; None if it has none."""
    lines = _LINE.findall(decode(data))
    conflicts, problems = _conflicts(lines)
    for marker, _ in conflicts:
        ours_end, theirs_end = f"down to line {marker.separator_line}", f"down to line {marker.end_line}"
        detail = f"git left both sides here: {marker.ours} {ours_end}, {marker.theirs} {theirs_end}"
        problems.append(SyntaxProblem(marker.line, 1, "Conflict markers", detail))
    if not problems:
        return None
    conflict = None
    if conflicts:
        # Empty lines in place of the other side's keep the numbers of the lines.
        ours, theirs = (encode("".join(line or "\n" for line in side)) for side in _sides(lines, conflicts)[1:])
        markers = tuple(marker for marker, _ in conflicts)
        conflict = Conflict(markers, _without_markers(path, ours, rules), _without_markers(path, theirs, rules))
    return LockFile(
        path,
        data,
        exists=True,
        writer=writer,
        entries=(),
        problems=tuple(sorted(problems, key=lambda problem: problem.line)),
        is_complete=False,
        conflict=conflict,
    )


def conflict_sides(data: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Return base, ours and theirs of a file with git's conflict markers; None without any, or without a counterpart.

    The base is b"" unless every conflict has it between the markers. Lines that git merged by itself are in all three.
    """
    lines = _LINE.findall(decode(data))
    conflicts, problems = _conflicts(lines)
    if problems or not conflicts:
        return None
    base, ours, theirs = (encode("".join(line or "" for line in side)) for side in _sides(lines, conflicts))
    has_base = all(base_line != marker.separator_line for marker, base_line in conflicts)
    return base if has_base else b"", ours, theirs


def _sides(lines: list[str], conflicts: list[tuple[ConflictMarker, int]]) -> list[list[str | None]]:
    """Return base, ours and theirs as lists of the file's lines, with None for lines that a side does not have."""
    owners: dict[int, int] = {}
    for marker, base_line in conflicts:
        owners |= dict.fromkeys(range(marker.line, marker.end_line + 1), _NO_SIDE)
        owners |= dict.fromkeys(range(base_line + 1, marker.separator_line), 0)
        owners |= dict.fromkeys(range(marker.line + 1, base_line), 1)
        owners |= dict.fromkeys(range(marker.separator_line + 1, marker.end_line), 2)
    return [
        [line if owners.get(number, side) == side else None for number, line in enumerate(lines, 1)]
        for side in range(3)
    ]


_NO_SIDE = -1
"""The owner of a marker's own line."""


def _without_markers(path: str, data: bytes, rules: Dialect) -> LockFile:
    """Read one side, unless a broken marker is still in it."""
    if _ANY_MARKER.search(data):
        return LockFile(path, data, exists=True, writer=None, entries=(), is_complete=False)
    return parse(data, path, dialect=rules)


def _conflicts(lines: list[str]) -> tuple[list[tuple[ConflictMarker, int]], list[SyntaxProblem]]:
    """Return each conflict with the line at which ours ends, and a problem for each marker without a counterpart."""
    conflicts, stray = [], []
    start = base = middle = 0
    for number, line in enumerate(lines, 1):
        word = line.rstrip("\r\n")
        if word.startswith(_START + " "):
            stray += [start] if start else []
            start, base, middle = number, 0, 0
        elif word.startswith(_BASE) and start and not middle:
            base = number
        elif word == _MIDDLE and start and not middle:
            middle = number
        elif word.startswith(_END + " "):
            if middle:
                ours, theirs = _named(lines[start - 1][8:].strip(), "ours"), _named(word[8:].strip(), "theirs")
                conflicts.append((ConflictMarker(start, middle, number, ours, theirs), base or middle))
            else:
                stray.append(number)
            start = middle = 0
    stray += [start] if start else []
    words = "a marker stands here without its counterpart"
    return conflicts, [SyntaxProblem(number, 1, "Conflict markers", words) for number in stray]


def _named(label: str, side: str) -> str:
    """Return the name of a side with its label, which may be the same."""
    return side if label in {"", side} else f"{label} ({side})"
