"""The plan of an operation: its scope, the changes of providers, and the result for each root."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import display_host
from locklens.lockfile.update import Difference
from locklens.operations.plan.files import FileChanges, file_order
from locklens.storage.files import is_within

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.diagnostics import Diagnostic
    from locklens.dialect import Dialect
    from locklens.errors import LockLensError
    from locklens.lockfile.model import LockEntry
    from locklens.operations.plan.files import PlannedFile
    from locklens.project.constraint_edits import ConstraintEdit


class Scope(Struct, frozen=True):
    """The roots of an operation.

    Attributes:
        folder: The folder that the roots are relative to.
        roots: Folders, relative to `folder`; () for `folder` itself.
        tool: The tool whose rules apply to every root; None: each root's own tool.
        test_directory: Folder of a root's test files, relative to the root.
        is_elsewhere: True if `folder` is not the current one, so that the command line has to name it.
    """

    folder: Path
    roots: tuple[str, ...] = ()
    tool: Dialect | None = None
    test_directory: str = "tests"
    is_elsewhere: bool = False

    @classmethod
    def at(cls, top: Path, roots: Iterable[str], *, tool: Dialect | None, test_directory: str) -> Scope:
        """Return the scope of roots given relative to a top, named as from the current folder."""
        here, real = os.getcwd(), os.path.realpath(top)  # noqa: PTH109
        if not is_within(real, here):
            return cls(top, tuple(root or "." for root in roots), tool, test_directory, is_elsewhere=True)
        names = (os.path.relpath(os.path.join(real, root), here) for root in roots)  # noqa: PTH118
        return cls(Path(here), tuple(name.replace(os.sep, "/") for name in names), tool, test_directory)


class PlannedChange(Struct, frozen=True):
    """The change of one provider in one root.

    Attributes:
        root: The root's folder.
        address: The provider.
        name: Its name in the root.
        old: Its entry before, None where there was none.
        new: Its entry afterwards, None where it is removed.
        edits: The constraints that are rewritten for it.
        platforms: Platforms that are locked; where the version is unchanged, those whose hashes are added.
        moved_from: The other registry's provider that it replaces, and whose entry is `old`.
    """

    root: str
    address: ProviderAddress
    name: str
    old: LockEntry | None
    new: LockEntry | None
    edits: tuple[ConstraintEdit, ...] = ()
    platforms: tuple[Platform, ...] = ()
    moved_from: ProviderAddress | None = None

    @property
    def kind(self) -> str:
        """The kind in one word, such as "upgrade"."""
        if self.moved_from is not None:
            return "move"
        if self.old is None or self.new is None:
            return "remove" if self.new is None else "add"
        order = self.new.version.compare(self.old.version)
        if self.new.version == self.old.version:
            return "change"
        return "downgrade" if order < 0 else "upgrade"


class RootResult(Struct, frozen=True):
    """The result of `init` or `lock` for one root.

    Attributes:
        root: Its folder, as it was named.
        lock_file: Its lock file, as it was named.
        tool: The tool whose rules were applied.
        is_empty: True if there is no configuration in the folder.
        difference: The tools' kind of difference between the entries before and after.
        was_absent: True if nothing was locked before.
        before: The lock file's bytes, b"" where there was none.
        after: The new bytes, written or not; None where the run failed before they were known.
        planned: The planned lock file; None where it is unchanged.
        is_written: True if the file was written.
        diagnostics: Errors and warnings.
        notes: Further sentences.
    """

    root: str
    lock_file: str
    tool: Dialect
    is_empty: bool = False
    difference: Difference = Difference.NONE
    was_absent: bool = False
    before: bytes = b""
    after: bytes | None = None
    planned: PlannedFile | None = None
    is_written: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        """True if there is an error."""
        return any(diagnostic.is_error for diagnostic in self.diagnostics)

    @property
    def would_change(self) -> bool:
        """True if the bytes of the lock file differ, written or not."""
        return self.after is not None and self.after != self.before


class Plan(Struct, frozen=True):
    """The files that an operation would write, and its report.

    Attributes:
        proposal: The files.
        changes: Changes of providers.
        diagnostics: Of all roots; a root with an error is left untouched.
        results: Of `lock`: the result for each root, as it was named; an error where it could not be read.
        dry_run_words: The lines of the proposal in the conditional, for a run that does not write.
        compared: Lock files by path that a review compares the planned ones with, where those on disk are half merged.
    """

    proposal: FileChanges
    changes: tuple[PlannedChange, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    results: Mapping[str, RootResult | LockLensError] = {}
    dry_run_words: tuple[str, ...] = ()
    compared: Mapping[str, bytes] = {}

    def with_diagnostics(self, others: Iterable[Diagnostic]) -> Plan:
        """Return the same plan with further diagnostics in front."""
        return replace(self, diagnostics=(*others, *self.diagnostics))

    @property
    def failures(self) -> tuple[Diagnostic, ...]:
        """The errors that leave roots untouched."""
        return tuple(diagnostic for diagnostic in self.diagnostics if diagnostic.is_error)

    @property
    def remarks(self) -> tuple[Diagnostic, ...]:
        """Warnings and notes."""
        return tuple(diagnostic for diagnostic in self.diagnostics if not diagnostic.is_error)


def joined_plans(plans: Sequence[Plan]) -> Plan:
    """Return several plans of one repository as one; no two have a file in common."""
    proposals = [plan.proposal for plan in plans]
    files = sorted((file for proposal in proposals for file in proposal.files), key=lambda file: file_order(file.path))
    words = tuple(word for proposal in proposals for word in proposal.words)
    command = " && ".join(proposal.command for proposal in proposals)
    return Plan(
        FileChanges(proposals[0].top, tuple(files), words, command),
        tuple(change for plan in plans for change in plan.changes),
        tuple(diagnostic for plan in plans for diagnostic in plan.diagnostics),
        {name: result for plan in plans for name, result in plan.results.items()},
        tuple(line for plan in plans for line in plan.dry_run_words),
    )


def change_words(change: PlannedChange, *, is_dry_run: bool = False) -> str:
    """Describe a change in one line.

    Args:
        change: A change of a plan.
        is_dry_run: True for a change that is not going to be written, which needs the conditional.
    """
    is_, gets = ("would be", "would get") if is_dry_run else ("is", "gets")
    to, set_to = ("would become", "would be set to") if is_dry_run else ("->", "set to")
    lead = f"{change.root or '.'}: {change.name}"
    old = str(change.old.version) if change.old else ""
    if change.new is None:
        return f"{lead} {old} {is_} removed"
    new = str(change.new.version)
    if change.old is None:
        return f"{lead} {new} {is_} added"
    edits = "".join(f"; constraint in {edit.file}:{edit.line} {set_to} {edit.new}" for edit in change.edits)
    if change.moved_from is not None:
        hosts = f"{display_host(change.address.host)} instead of {display_host(change.moved_from.host)}"
        return f"{lead} {old}{f' {to} {new} and' if old != new else ''} {is_} locked from {hosts}{edits}"
    if old != new:
        return f"{lead} {old} {to} {new}{edits}"
    if change.platforms:
        return f"{lead} {old} {gets} hashes for {', '.join(map(str, change.platforms))}"
    return f"{lead} {old} {gets} another entry{edits}"
