"""What a plan for one or more roots is made of, and the draft in which the bytes of its files are gathered."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import display_host
from locklens.operations.plan.files import FileChanges, file_order
from locklens.storage.placing import is_within

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.dialect import Dialect
    from locklens.errors import LockLensError
    from locklens.lockfile.model import LockEntry
    from locklens.project.constraint_edits import ConstraintEdit


class Scope(Struct, frozen=True):
    """Where something is to be written.

    Attributes:
        folder: Where it is asked.
        roots: Folders, relative to `folder`; () for `folder` itself.
        tool: Whose rules count for every root; None: each root's own tool.
        test_directory: Where a root's test files are, relative to the root.
        is_elsewhere: Whether `folder` is not the current one, so that the command line has to name it.
    """

    folder: Path
    roots: tuple[str, ...] = ()
    tool: Dialect | None = None
    test_directory: str = "tests"
    is_elsewhere: bool = False

    @classmethod
    def at(cls, top: Path, roots: Iterable[str], *, tool: Dialect | None, test_directory: str) -> Scope:
        """Returns the request for roots that are known relative to a top, named as from the current folder."""
        here, real = os.getcwd(), os.path.realpath(top)  # noqa: PTH109
        if not is_within(real, here):
            return cls(top, tuple(root or "." for root in roots), tool, test_directory, is_elsewhere=True)
        names = (os.path.relpath(os.path.join(real, root), here) for root in roots)  # noqa: PTH118
        return cls(Path(here), tuple(name.replace(os.sep, "/") for name in names), tool, test_directory)


class PlannedChange(Struct, frozen=True):
    """What becomes of one provider of one root.

    Attributes:
        root: The root's folder.
        address: The provider.
        name: What it is called there.
        old: Its entry before, None where there was none.
        new: Its entry afterwards, None where it is removed.
        edits: The constraints that are rewritten for it.
        platforms: Those that it gets the hashes of, where it stays at its version.
        moved_from: The other registry's provider whose place it takes, and whose entry `old` is then.
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
        """In one word, such as "upgrade"."""
        if self.moved_from is not None:
            return "move"
        if self.old is None or self.new is None:
            return "remove" if self.new is None else "add"
        order = self.new.version.compare(self.old.version)
        if self.new.version == self.old.version:
            return "change"
        return "downgrade" if order < 0 else "upgrade"


class PlanNote(Struct, frozen=True):
    """What is to be said beside the changes, such as why a provider stays as it is; `name` is "" for a whole root."""

    root: str
    name: str
    words: str


class PlanFailure(Struct, frozen=True):
    """Why a root stays as it is although something was asked for; `name` is "" where it is no single provider."""

    root: str
    name: str
    error: LockLensError


class Plan(Struct, frozen=True):
    """What a command came to: what it would write, and what it has to say."""

    proposal: FileChanges
    changes: tuple[PlannedChange, ...]
    remarks: tuple[PlanNote, ...]
    failures: tuple[PlanFailure, ...]


def joined_plans(plans: Sequence[Plan]) -> Plan:
    """Returns several plans of one repository as one; none of them has a file of another."""
    proposals = [plan.proposal for plan in plans]
    files = sorted((file for one in proposals for file in one.files), key=lambda file: file_order(file.path))
    words = tuple(word for one in proposals for word in one.words)
    command = " && ".join(one.command for one in proposals)
    return Plan(
        FileChanges(proposals[0].top, tuple(files), words, command),
        tuple(change for plan in plans for change in plan.changes),
        tuple(remark for plan in plans for remark in plan.remarks),
        tuple(failed for plan in plans for failed in plan.failures),
    )


def change_words(change: PlannedChange) -> str:
    """Says in one line what becomes of a provider."""
    lead = f"{change.root or '.'}: {change.name}"
    old = str(change.old.version) if change.old else ""
    if change.new is None:
        return f"{lead} {old} is removed"
    new = str(change.new.version)
    if change.old is None:
        return f"{lead} {new} is added"
    edits = "".join(f"; {edit.file}:{edit.line} {edit.old} becomes {edit.new}" for edit in change.edits)
    if change.moved_from is not None:
        hosts = f"{display_host(change.address.host)} instead of {display_host(change.moved_from.host)}"
        return f"{lead} {old}{f' becomes {new} and' if old != new else ''} is locked from {hosts}{edits}"
    if old != new:
        return f"{lead} {old} becomes {new}{edits}"
    if change.platforms:
        return f"{lead} {old} gets hashes for {', '.join(map(str, change.platforms))}"
    return f"{lead} {old} gets another entry{edits}"
