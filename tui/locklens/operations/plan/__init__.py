"""A plan as a value: its scope, the changes of providers, the files to write, and the result for each root.

Nothing is on disk until `locklens.operations.write.apply` puts it there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress, display_host
from locklens.diagnostics import Diagnostic, DiagnosticSeverity
from locklens.lockfile.update import Difference
from locklens.machine import locklens_words, path_from_shell, shell_folder
from locklens.operations.comparison import RootSettings
from locklens.operations.plan import diffs
from locklens.project import LOCK_FILE
from locklens.project.tree import name_bytes
from locklens.storage.files import is_within
from locklens.storage.journal import WriteTarget
from locklens.text import shell_words, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from locklens.dialect import Dialect
    from locklens.errors import LockLensError
    from locklens.lockfile import LockEntry
    from locklens.project.constraint_edits import ConstraintEdit
    from locklens.review.health_remedies import LeftOut
    from locklens.storage.journal import MovedFolder


class Scope(RootSettings, frozen=True):
    """The roots of an operation: folders, relative to `folder`; () for `folder` itself."""

    folder: Path
    roots: tuple[str, ...] = ()

    @classmethod
    def at(cls, top: Path, roots: Iterable[str], settings: RootSettings) -> Scope:
        """Return the scope of roots given relative to a top, named as from the shell's folder where that is in it."""
        real, here = os.path.realpath(top), os.path.realpath(shell_folder())
        folder = here if is_within(real, here) else real
        names = (os.path.relpath(os.path.join(real, root), folder) for root in roots)  # noqa: PTH118
        named = tuple(name.replace(os.sep, "/") for name in names)
        return cls(Path(folder), named, tool=settings.tool, test_directory=settings.test_directory)

    def without(self, failed: Collection[str]) -> Scope:
        """Return the scope without some of its roots; the whole scope if no root would be left."""
        left = tuple(root for root in self.roots if root not in failed)
        return replace(self, roots=left) if left else self


class PlannedChange(Struct, frozen=True):
    """The change of one provider in one root.

    Attributes:
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
        difference: The tools' kind of difference between the entries before and after.
        was_absent: True if nothing was locked before.
        before: The lock file's bytes, b"" where there was none.
        after: The new bytes, written or not; None where the run failed before they were known.
        planned: The planned lock file; None where it is unchanged.
        top: The folder that its path is relative to; None where it is unchanged.
        checked: Which of its entries were compared with releases, as a clause; "" if the run failed.
        is_unchecked: True if it has entries and none of them was compared.
        is_generated: True if another tool generates its configuration, or a part of it.
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
    top: Path | None = None
    is_written: bool = False
    checked: str = ""
    is_unchecked: bool = False
    is_generated: bool = False
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

    @property
    def is_left(self) -> bool:
        """True if nothing was locked or checked, since only the tool that generates the configuration can read it."""
        return self.is_unchecked and self.is_generated and not self.would_change


class Plan(Struct, frozen=True):
    """The files that an operation would write, and its report.

    Attributes:
        diagnostics: Errors, warnings and notes of all roots; a root with an error is left untouched.
        results: For `lock`, the result of each root, as it was named; an error where it could not be read.
        dry_run_words: The lines of the proposal in the conditional, for a run that does not write.
        is_merge: True if lock files in conflict are merged, which on disk are neither side.
        restored_from: The revision whose entries the changes restore; "" for all other plans.
        ignored: The files that git ignores, so that no commit has them, each with a sentence that says so.
    """

    proposal: FileChanges
    changes: tuple[PlannedChange, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    results: Mapping[str, RootResult | LockLensError] = {}
    dry_run_words: tuple[str, ...] = ()
    is_merge: bool = False
    restored_from: str = ""
    ignored: Mapping[str, str] = {}

    def with_diagnostics(self, others: Iterable[Diagnostic]) -> Plan:
        """Return the same plan with further diagnostics in front."""
        return replace(self, diagnostics=(*others, *self.diagnostics))

    def with_left_out(self, left_out: Iterable[LeftOut]) -> Plan:
        """Return the same plan with a warning of each root and provider that was asked for and is left out.

        Where the rest failed, nothing that was asked for is written: each of them is then an error as well.
        """
        has_failed = bool(self.failures) and self.proposal.is_empty
        severity = DiagnosticSeverity.ERROR if has_failed else DiagnosticSeverity.WARNING
        return self.with_diagnostics(
            Diagnostic(severity, "", f"left out: {one.reason}", str(one.provider or ""), root=one.root)
            for one in left_out
        )

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
    # The command of a plan that failed as a whole would keep the next ones from running.
    commands = [plan.proposal.command for plan in plans if not (plan.failures and plan.proposal.is_empty)]
    command = " && ".join(commands or [proposal.command for proposal in proposals])
    return Plan(
        FileChanges(proposals[0].top, tuple(files), words, command, tool=proposals[0].tool),
        tuple(change for plan in plans for change in plan.changes),
        tuple(diagnostic for plan in plans for diagnostic in plan.diagnostics),
        {name: result for plan in plans for name, result in plan.results.items()},
        tuple(line for plan in plans for line in plan.dry_run_words),
        restored_from=plans[0].restored_from,
        ignored={path: words for plan in plans for path, words in plan.ignored.items()},
    )


def change_words(change: PlannedChange, *, is_dry_run: bool = False) -> str:
    """Describe a change in one line; in the conditional for a plan that is not going to be written."""
    is_, gets = ("would be", "would get") if is_dry_run else ("is", "gets")
    to, set_to = ("would become", "would be set to") if is_dry_run else ("->", "set to")
    lead = f"{change.root or '.'}: {change.name}"
    old = str(change.old.version) if change.old else ""
    if change.new is None:
        return f"{lead} {old} {is_} removed"
    new = str(change.new.version)
    if change.old is None:
        return f"{lead} {new} {is_} added"
    edits = "".join(f"; constraint in {edit.place} {set_to} {edit.new}" for edit in change.edits)
    major = "major" if change.new.version.major > change.old.version.major else ""
    remark = "downgrade" if change.new.version.compare(change.old.version) < 0 else major
    step = f" {to} {new}{f' ({remark})' if remark else ''}" if old != new else ""
    if change.moved_from is not None:
        hosts = f"{display_host(change.address.host)} instead of {display_host(change.moved_from.host)}"
        return f"{lead} {old}{f'{step} and' if step else ''} {is_} locked from {hosts}{edits}"
    if step:
        return f"{lead} {old}{step}{edits}"
    if change.platforms:
        return f"{lead} {old} {gets} hashes for {', '.join(map(str, change.platforms))}"
    what = "hashes" if set(change.old.hashes) != set(change.new.hashes) else "constraints"
    return f"{lead} {old} {gets} other {what}{edits}"


class PlannedFile(Struct, frozen=True):
    """One file to write.

    Attributes:
        path: Relative to the proposal's top.
        old: The bytes that the plan was made from, None where there was no such file.
        new: The new bytes, None where the file is removed.
        is_tools: True if it is written as the tools write their lock file: a link is replaced and its target left
            untouched, and the permissions are 0644. Otherwise links are followed, and permissions kept.
    """

    path: str
    old: bytes | None
    new: bytes | None
    is_tools: bool = False

    def diff(self) -> str:
        """Return the change as a diff that `git apply` takes; see `locklens.operations.plan.diffs.patch`."""
        return diffs.patch(self.path, self.old, self.new)

    def diff_lines(self) -> list[str]:
        """Return the change as the lines of a diff, to read."""
        return diffs.diff_lines(self.path, self.old, self.new)


class FileChanges(Struct, frozen=True):
    """Files to write, all of them or none.

    Attributes:
        top: The repository's top, or the folder that stands for it: no file outside of it is written.
        files: Those that change, configurations before lock files.
        command: The command line that does the same; where every root failed, the one that fails alike.
        undoes: Id of the write that this one reverts; "" for none.
        redoes: Id of the write that this one applies again; "" for none.
        message: The commit message for it; "" for none.
        folders: Folders of packages to replace; a proposal has files or folders.
        tool: The tool that was named for its roots, and judges the plan and its reversal; None: each root's own.
    """

    top: Path
    files: tuple[PlannedFile, ...]
    words: tuple[str, ...]
    command: str
    target: WriteTarget = WriteTarget.FILES
    undoes: str = ""
    redoes: str = ""
    message: str = ""
    folders: tuple[MovedFolder, ...] = ()
    tool: Dialect | None = None

    @property
    def is_empty(self) -> bool:
        """True if nothing would be written."""
        return not self.files and not self.folders

    def diff(self) -> str:
        """Return the change of every file as one unified diff, "" where nothing changes."""
        return "".join(file.diff() for file in self.files)


def file_order(path: str) -> tuple[bool, bytes]:
    """Return the sort key of a planned file: configurations before lock files, then by the bytes of the path."""
    return path.endswith(LOCK_FILE), name_bytes(path)


def command_line(command: str, request: Scope, words: Sequence[str]) -> str:
    """Return the command line of a plan, as a shell reads it; see `locklens.text.shell_words`."""
    start = locklens_words(path_from_shell(request.folder))
    # A separate word that begins with a dash would be an option.
    roots = [word for root in request.roots for word in ([f"--root={root}"] if root[:1] == "-" else ["--root", root])]
    settings = ["--tool", request.tool.name] if request.tool else []
    if request.test_directory != RootSettings().test_directory:
        settings += ["--test-directory", request.test_directory]
    return shell_words([*start, command, *words, *roots, *settings])


_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_SHOWN_DIGITS = 12


def shown_revision(revision: str) -> str:
    """Return a revision as titles and findings name it: of a full commit id, the first digits."""
    return revision[:_SHOWN_DIGITS] if _COMMIT.fullmatch(revision) else visible(revision)
