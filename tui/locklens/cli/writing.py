"""The commands that change lock files: options to a plan, which is reported and applied."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from locklens.addresses import Platform
from locklens.cli.output import DONE, FINDINGS, NOT_WRITTEN, complain, put, put_patch, tell
from locklens.cli.planning import heeded_policy, scope_of, writer_of
from locklens.diagnostics import Diagnostic, DiagnosticSeverity
from locklens.errors import LockLensError
from locklens.operations.plan.files import WriteTarget
from locklens.operations.plan.model import change_words
from locklens.text import json_text, page

if TYPE_CHECKING:
    from argparse import Namespace

    from locklens.operations.plan.model import Plan
    from locklens.operations.write.operation import Operation


def run_write(options: Namespace) -> int:
    """Run a command that writes files of the repository."""
    command: str = options.command
    if command == "undo" and options.list:
        return _list_writes(is_json=options.json)
    if command == "upgrade" and (options.list or options.safe):
        from locklens.cli import surveying

        if options.list:
            return surveying.list_candidates(options)
        plan = surveying.plan_safe(options)
    else:
        plan = _planned(operation_of(command, options), options)
    report = (
        _Json(is_dry_run=options.dry_run)
        if options.json
        else _Text(is_dry_run=options.dry_run, is_undo=command == "undo" and not options.redo)
    )
    report.planned(plan)
    status = FINDINGS if plan.failures else DONE
    if options.dry_run:
        report.previewed(plan)
        return status
    try:
        notices = writer_of(options).apply(plan.proposal)
    except LockLensError as error:
        report.failed(error)
        return FINDINGS
    report.applied(plan, notices)
    return status


def _list_writes(*, is_json: bool) -> int:
    """Print the applied writes, the newest first."""
    from locklens.operations.write.undo import applied_writes, damaged_records

    writes = applied_writes(Path.cwd())
    damaged = damaged_records(Path.cwd())
    for write in writes:
        record, files = write.record, list(write.files)
        if is_json:
            fields = {"id": write.id, "at": record.at, "undone": write.is_undone, "command": record.command}
            fields |= {"files": files, "message": record.message or None}
            put(json_text({"type": "write", **fields}, indent=None))
        else:
            undone = "  (undone)" if write.is_undone else ""
            put(page([f"{write.id}  {write.moment}  {record.command}{undone}", *(f"  {name}" for name in files)]))
    for words in damaged:
        put(json_text({"type": "note", "message": words}, indent=None) if is_json else page([f"note: {words}"]))
    if not writes and not damaged and not is_json:
        put(page(["no applied writes here"]))
    return DONE


def operation_of(command: str, options: Namespace) -> Operation:
    """Return the operation for the options; the terminal UI makes the same ones.

    Raises:
        UsageError: A platform is invalid.
    """
    if command == "undo":
        from locklens.operations.write.undo import Undo

        return Undo(Path.cwd(), options.write, options.redo)
    if command == "stage":
        return _staging(options)
    if command in {"accept", "keys trust", "keys drop"}:
        from locklens.cli.policy_commands import policy_operation

        return policy_operation(command, options)
    scope = scope_of(options)
    if command == "upgrade":
        from locklens.operations.review.policy import policy_at
        from locklens.operations.write.upgrade import Upgrade

        effective = policy_at(Path.cwd())
        tell(f"note: {words}" for words in effective.notes)
        return Upgrade(
            scope,
            tuple(options.providers),
            _platforms(options.platform),
            edits_constraints=options.edit_constraints,
            allows_missing=options.allow_missing_modules,
            policy=heeded_policy(effective.policy, options),
            ignores_cooldown=options.ignore_cooldown,
        )
    if command == "prune":
        from locklens.operations.write.prune import Prune

        return Prune(scope, tuple(options.providers))
    if command == "restore":
        from locklens.operations.write.restore import Restore, RestoredProviders

        return Restore(scope, (RestoredProviders(scope.roots, tuple(options.providers)),), options.revision)
    if command == "merge":
        from locklens.operations.merge import Preference
        from locklens.operations.write.resolve import ResolveConflicts

        return ResolveConflicts(scope, Preference(options.prefer) if options.prefer else None)
    from locklens.operations.write.format import Format

    return Format(scope)


def _staging(options: Namespace) -> Operation:
    """Return the operation that stages the changes of the roots since HEAD."""
    from functools import partial

    from locklens.dialect import DIALECTS
    from locklens.operations.compare_repository import open_git
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ReviewRequest
    from locklens.operations.write.stage import named_blocks
    from locklens.project.git import Repository

    opened = partial(open_git, Path.cwd(), roots=options.root or (".",))
    request = ReviewRequest(opened, tool=DIALECTS.get(options.tool), test_directory=options.test_directory)
    with Repository.discover(Path.cwd()) as repository:
        top = repository.top
    return named_blocks(LockLens(request).review(), top, options.providers)


def _planned(operation: Operation, options: Namespace) -> Plan:
    if operation.needs_registry is False:
        return writer_of(options).plan(operation)
    from locklens.cli.install_progress import InstallProgress, JsonProgress, Wording
    from locklens.cli.mirror_options import mirror_methods
    from locklens.cli.planning import plan_operation

    progress = JsonProgress() if options.json else InstallProgress(Wording.PLAN, is_alone=len(options.root) < 2)
    if len(set(options.root)) > 1:
        progress.begin(None)
    return plan_operation(operation, options, progress, methods=mirror_methods(options))


def _platforms(texts: list[str]) -> tuple[Platform, ...]:
    return tuple(dict.fromkeys(map(Platform.parse, texts)))


class _Text:
    """Reports a plan as text: the result on stdout, all else on stderr.

    Args:
        is_dry_run: True if stdout is for the diff alone.
        is_undo: True if the files get back the bytes that they had before.
    """

    def __init__(self, *, is_dry_run: bool, is_undo: bool) -> None:
        self._is_dry_run = is_dry_run
        self._is_undo = is_undo

    def planned(self, plan: Plan) -> None:
        """Reports changes, remarks and failures."""
        if self._is_dry_run:
            tell(plan.dry_run_words)
        for remark in plan.remarks:
            lead = "warning: " if remark.severity is DiagnosticSeverity.WARNING else ""
            tell([f"{lead}{_place(remark)}: {remark.sentence}"])
            tell([f"hint: {remark.hint}"] if remark.hint else [])
        for failed in plan.failures:
            tell(_complaint(failed))

    def previewed(self, plan: Plan) -> None:
        """Print the diff."""
        put_patch(plan.proposal.files)
        tell([NOT_WRITTEN])

    def failed(self, error: LockLensError) -> None:
        """Reports why nothing was written."""
        complain(error)

    def applied(self, plan: Plan, notices: tuple[str, ...]) -> None:
        """Report the files that were written."""
        where = " in the index" if plan.proposal.target is WriteTarget.INDEX else ""
        verbs = {file.path: "removed" if file.new is None else "restored" for file in plan.proposal.files}
        files = [f"{verbs[path] if self._is_undo else 'wrote'} {path}{where}" for path in verbs]
        files += [f"{'restored' if self._is_undo else 'replaced'} {one.place}" for one in plan.proposal.folders]
        lines = [*plan.proposal.words, *files]
        put(page(lines or ["nothing was changed"]))
        tell(notices)


class _Json:
    """Reports a plan on stdout, one JSON object per line, named by its `type`."""

    def __init__(self, *, is_dry_run: bool) -> None:
        self._is_dry_run = is_dry_run

    def planned(self, plan: Plan) -> None:
        """Reports changes, remarks and failures."""
        for change in plan.changes:
            self._put(
                "change",
                root=change.root or ".",
                provider=str(change.address),
                kind=change.kind,
                old=str(change.old.version) if change.old else None,
                new=str(change.new.version) if change.new else None,
                edits=[{"file": e.file, "line": e.line, "old": e.old, "new": e.new} for e in change.edits],
                platforms=[str(platform) for platform in change.platforms],
                words=change_words(change, is_dry_run=self._is_dry_run),
            )
        for remark in plan.remarks:
            root, provider = remark.root or ".", remark.address or None
            self._put(remark.severity.value, root=root, provider=provider, words=remark.sentence, hint=remark.hint)
        for failed in plan.failures:
            self._fail(failed, failed.root or ".")

    def previewed(self, plan: Plan) -> None:
        """Report the diff of each file, and the command that writes it."""
        for file in plan.proposal.files:
            self._put("file", path=file.path, written=False, diff=file.diff())
        self._put("outcome", written=False, failed=bool(plan.failures), command=plan.proposal.command)

    def failed(self, error: LockLensError) -> None:
        """Reports why nothing was written."""
        self._fail(Diagnostic.of(error), None)
        self._put("outcome", written=False, failed=True)

    def applied(self, plan: Plan, notices: tuple[str, ...]) -> None:
        """Report the files that were written."""
        for file in plan.proposal.files:
            self._put("file", path=file.path, written=True, diff=file.diff())
        is_written = not plan.proposal.is_empty
        failed = bool(plan.failures)
        self._put("outcome", written=is_written, failed=failed, command=plan.proposal.command, notices=list(notices))

    def _fail(self, failed: Diagnostic, root: str | None) -> None:
        file, line = failed.place or (None, None)
        name = failed.address or None
        self._put("error", root=root, provider=name, words=failed.words, hint=failed.hint, file=file, line=line)

    def _put(self, type_: str, /, **fields: Any) -> None:
        put(json_text({"type": type_, **fields}, indent=None))


def _place(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.root or '.'}: {diagnostic.address}" if diagnostic.address else diagnostic.root or "."


def _complaint(failed: Diagnostic) -> list[str]:
    """Return an error, with its root and provider in front unless the text has them, and its hint."""
    name = failed.address if failed.address not in failed.words else ""
    lead = name if failed.place is not None else f"{failed.root or '.'}: {name}" if name else failed.root or "."
    words = f"{lead}: {failed.words}" if lead else failed.words
    return [f"error: {words}", *([f"hint: {failed.hint}"] if failed.hint else [])]
