"""The commands that change what is locked: what was typed becomes a plan, the plan is told, and then applied."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from locklens.addresses import Platform
from locklens.cli.arguments import UsageError
from locklens.cli.output import DONE, FINDINGS, complain, put, put_patch, tell
from locklens.cli.planning import scope_of, writer_of
from locklens.diagnostics import Diagnostic
from locklens.errors import LockLensError
from locklens.operations.plan.model import change_words
from locklens.text import json_text, page

if TYPE_CHECKING:
    from argparse import Namespace

    from locklens.operations.plan.model import Plan
    from locklens.operations.write.operation import Operation


def run_write(command: str, found: Namespace) -> int:
    """Runs `upgrade`, `prune`, `restore`, `format` or `undo`."""
    if command == "upgrade" and (found.list or found.safe):
        from locklens.cli import surveying

        if found.list:
            return surveying.list_candidates(found)
        plan = surveying.plan_safe(found)
    else:
        plan = _planned(operation_of(command, found), found)
    telling = _Json() if found.json else _Text(found.dry_run)
    telling.planned(plan)
    status = FINDINGS if plan.failures else DONE
    if found.dry_run:
        telling.previewed(plan)
        return status
    try:
        notices = writer_of(found).apply(plan.proposal)
    except LockLensError as error:
        telling.failed(error)
        return FINDINGS
    telling.applied(plan, notices)
    return status


def operation_of(command: str, found: Namespace) -> Operation:
    """Returns the operation that was typed; the terminal UI makes the same ones.

    Raises:
        UsageError: A platform is none.
    """
    if command == "undo":
        from locklens.operations.write.undo import Undo

        return Undo(Path.cwd())
    scope = scope_of(found)
    if command == "upgrade":
        from locklens.operations.write.upgrade import Upgrade

        return Upgrade(
            scope,
            tuple(found.providers),
            _platforms(found.platform),
            edits_constraints=found.edit_constraints,
            allows_missing=found.allow_missing_modules,
        )
    if command == "prune":
        from locklens.operations.write.prune import Prune

        return Prune(scope, tuple(found.providers))
    if command == "restore":
        from locklens.operations.write.restore import Restore, RestoredProviders

        return Restore(scope, (RestoredProviders(scope.roots, tuple(found.providers)),), found.revision)
    from locklens.operations.write.format import Format

    return Format(scope)


def _planned(operation: Operation, found: Namespace) -> Plan:
    if operation.needs_registry is False:
        return writer_of(found).plan(operation)
    from locklens.cli.install_progress import InstallProgress, JsonProgress
    from locklens.cli.planning import plan_operation

    progress = JsonProgress() if found.json else InstallProgress(is_alone=len(found.root) < 2)
    if len(set(found.root)) > 1:
        progress.begin(None)
    return plan_operation(operation, found, progress)


def _platforms(texts: list[str]) -> tuple[Platform, ...]:
    try:
        return tuple(dict.fromkeys(map(Platform.parse, texts)))
    except ValueError as error:
        raise UsageError(f"--platform: {error}") from error


class _Text:
    """Tells of a plan in words: what was done on stdout, all else on stderr.

    Args:
        is_preview: Whether stdout is for the diff alone.
    """

    def __init__(self, is_preview: bool) -> None:
        self._is_preview = is_preview

    def planned(self, plan: Plan) -> None:
        """Tells what is planned, what is left, and what failed."""
        if self._is_preview:
            tell(plan.proposal.words)
        for remark in plan.remarks:
            tell([f"{_place(remark)}: {remark.sentence}"])
        for failed in plan.failures:
            tell(_complaint(failed))

    def previewed(self, plan: Plan) -> None:
        """Prints the diff."""
        put_patch(plan.proposal.files)

    def failed(self, error: LockLensError) -> None:
        """Tells why nothing was written."""
        complain(error)

    def applied(self, plan: Plan, notices: tuple[str, ...]) -> None:
        """Tells what was written."""
        lines = [*plan.proposal.words, *(f"wrote {file.path}" for file in plan.proposal.files)]
        put(page(lines or ["nothing was changed"]))
        tell(notices)


class _Json:
    """Tells of a plan on stdout, one JSON object per line; its `type` says what it is."""

    def planned(self, plan: Plan) -> None:
        """Tells what is planned, what is left, and what failed."""
        for change in plan.changes:
            self._put(
                "change",
                root=change.root or ".",
                provider=str(change.address),
                kind=change.kind,
                old=str(change.old.version) if change.old else None,
                new=str(change.new.version) if change.new else None,
                edits=[{"file": e.file, "line": e.line, "old": e.old, "new": e.new} for e in change.edits],
                words=change_words(change),
            )
        for remark in plan.remarks:
            self._put("note", root=remark.root or ".", provider=remark.address or None, words=remark.sentence)
        for failed in plan.failures:
            self._fail(failed, failed.root or ".")

    def previewed(self, plan: Plan) -> None:
        """Tells the diff of each file, and how to do it."""
        for file in plan.proposal.files:
            self._put("file", path=file.path, written=False, diff=file.diff())
        self._put("outcome", written=False, failed=bool(plan.failures), command=plan.proposal.command)

    def failed(self, error: LockLensError) -> None:
        """Tells why nothing was written."""
        self._fail(Diagnostic.of(error), None)
        self._put("outcome", written=False, failed=True)

    def applied(self, plan: Plan, notices: tuple[str, ...]) -> None:
        """Tells what was written."""
        for file in plan.proposal.files:
            self._put("file", path=file.path, written=True, diff=file.diff())
        is_written = bool(plan.proposal.files)
        failed = bool(plan.failures)
        self._put("outcome", written=is_written, failed=failed, command=plan.proposal.command, notices=list(notices))

    def _fail(self, failed: Diagnostic, root: str | None) -> None:
        file, line = failed.place or (None, None)
        name = failed.address or None
        self._put("error", root=root, provider=name, words=failed.words, hint=failed.hint, file=file, line=line)

    def _put(self, type_: str, /, **fields: Any) -> None:
        put(json_text({"type": type_, **fields}, indent=None))


def _place(one: Diagnostic) -> str:
    return f"{one.root or '.'}: {one.address}" if one.address else one.root or "."


def _complaint(failed: Diagnostic) -> list[str]:
    """An error with its root and provider before it, unless it names them itself, and its hint."""
    name = failed.address if failed.address not in failed.words else ""
    lead = name if failed.place is not None else f"{failed.root or '.'}: {name}" if name else failed.root or "."
    words = f"{lead}: {failed.words}" if lead else failed.words
    return [f"error: {words}", *([f"hint: {failed.hint}"] if failed.hint else [])]
