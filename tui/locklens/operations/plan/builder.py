"""Collects planned files, changes and diagnostics, and makes one plan of them. Every plan is made here."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.diagnostics import Diagnostic, DiagnosticSeverity
from locklens.errors import LockLensError
from locklens.lockfile.model import differing
from locklens.operations.plan.files import FileChanges, PlannedFile, WriteTarget, file_order
from locklens.operations.plan.model import Plan, PlannedChange, change_words
from locklens.project.roots import LOCK_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from locklens.lockfile.model import LockEntry
    from locklens.operations.root_modules import Root


class PlanBuilder:
    """A plan under construction.

    Attributes:
        top: The folder that planned files are relative to.
        files: The planned file of each path.
        changes: Planned changes of providers.
        compared: As of `Plan`.
        diagnostics: Errors, warnings and notes.

    Args:
        top: No file outside of this folder is written.
        target: The place of the bytes.
        describe: Describes a change of a provider in one line.
    """

    def __init__(
        self,
        top: Path,
        target: WriteTarget = WriteTarget.FILES,
        describe: Callable[[PlannedChange], str] = change_words,
    ) -> None:
        self.top = top
        self._target = target
        self._describe = describe
        self.files: dict[str, PlannedFile] = {}
        self.changes: list[PlannedChange] = []
        self.compared: dict[str, bytes] = {}
        self.diagnostics: list[Diagnostic] = []
        self._lines: list[tuple[str, str]] = []

    def describe(self, line: str, *, dry_run: str) -> None:
        """Add a line about a write other than a change of a provider.

        Args:
            line: For a plan that is applied.
            dry_run: For one that is not, in the conditional.
        """
        self._lines.append((line, dry_run))

    def put(self, file: PlannedFile) -> None:
        """Plan a file; a second plan for a path keeps the old bytes of the first."""
        before = self.files.get(file.path)
        self.files[file.path] = file if before is None else replace(file, old=before.old)

    def note(self, root: str, detail: str, *, address: str = "") -> None:
        """Add a note, which prevents nothing.

        Args:
            root: The root's folder.
            detail: A sentence without its full stop.
            address: The provider as the root names it, "" for the whole root.
        """
        self.diagnostics.append(Diagnostic.note(detail, address=address, root=root))

    def warn(self, root: str, detail: str, *, address: str = "", hint: str = "") -> None:
        """Add a warning, which prevents nothing; arguments as of `note`, and the next step."""
        warning = Diagnostic(DiagnosticSeverity.WARNING, "", detail, address, hint=hint, root=root)
        self.diagnostics.append(warning)

    def fail(self, root: str, error: LockLensError, *, address: str = "") -> None:
        """Add the error that leaves a root untouched; arguments as of `note`."""
        self.diagnostics.append(Diagnostic.of(error, address=address, root=root))

    @contextmanager
    def attempt(self, root: str) -> Iterator[None]:
        """Plan one root: an error leaves the root untouched, and is added to the diagnostics."""
        files, number = dict(self.files), len(self.changes)
        had = sum(diagnostic.is_error for diagnostic in self.diagnostics)
        try:
            yield
        except LockLensError as error:
            self.fail(root, error)
        if sum(diagnostic.is_error for diagnostic in self.diagnostics) > had:
            self.files = files
            del self.changes[number:]

    def has_failed(self, root: str) -> bool:
        """True if an error leaves a root untouched."""
        return any(diagnostic.is_error and diagnostic.root == root for diagnostic in self.diagnostics)

    def plan(self, command: str) -> Plan:
        """Return the plan, without unchanged files.

        Args:
            command: The command line that does the same.
        """
        files = sorted(
            (file for file in self.files.values() if file.old != file.new), key=lambda file: file_order(file.path)
        )
        words = *map(self._describe, self.changes), *(line for line, _ in self._lines)
        changes = (change_words(change, is_dry_run=True) for change in self.changes)
        proposal = FileChanges(self.top, tuple(files), words, command, self._target)
        return Plan(
            proposal,
            tuple(self.changes),
            tuple(self.diagnostics),
            dry_run_words=(*changes, *(line for _, line in self._lines)),
            compared=dict(self.compared),
        )


def path_below(top: Path, folder: Path) -> str:
    """Return the path of a root's folder in a plan: relative to the top, "" for the top."""
    path = os.path.relpath(os.path.realpath(folder), top).replace(os.sep, "/")
    return "" if path == "." else path


def planned_lock(root: Root, path: str, data: bytes) -> PlannedFile:
    """Return the planned lock file of a root, written as the tools write it.

    Args:
        root: As it was read.
        path: Its folder in the plan.
        data: The new bytes.
    """
    name = f"{path}/{LOCK_FILE}" if path else LOCK_FILE
    return PlannedFile(name, root.lock.data if root.lock.exists else None, data, is_tools=True)


def planned_changes(root: Root, path: str, after: Sequence[LockEntry]) -> tuple[PlannedChange, ...]:
    """Return the changes of providers; arguments as of `planned_lock`."""
    before, left = root.lock.by_address, {entry.address for entry in after}
    moved = {new: old for old, new in root.migration.moved if new in left and old not in left}
    changes = []
    for address, old, new in differing(root.lock, replace(root.lock, entries=tuple(after))):
        if address in moved:
            source = moved[address]
            changes.append(PlannedChange(path, address, root.name_of(address), before[source], new, moved_from=source))
        elif address not in moved.values():
            changes.append(PlannedChange(path, address, root.name_of(address), old, new))
    return tuple(changes)
