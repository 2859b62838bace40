"""The commands that change what is locked: what was typed becomes a plan, the plan is told, and then applied."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locklens.addresses import Platform
from locklens.cli.arguments import UsageError
from locklens.cli.output import DONE, FINDINGS, complain, put, put_patch, tell
from locklens.dialect import DIALECTS
from locklens.errors import LockLensError
from locklens.operations.plan.model import Scope, change_words
from locklens.text import json_text, page

if TYPE_CHECKING:
    from argparse import Namespace

    from locklens.operations.plan.model import Plan, PlanFailure


def run_write(command: str, found: Namespace) -> int:
    """Runs `upgrade`, `prune`, `restore`, `format` or `undo`."""
    plan = _planned(command, found)
    telling = _Json() if found.json else _Text(found.dry_run)
    telling.planned(plan)
    status = FINDINGS if plan.failures else DONE
    if found.dry_run:
        telling.previewed(plan)
        return status
    from locklens.operations.write.apply import apply

    try:
        notices = apply(plan.proposal)
    except LockLensError as error:
        telling.failed(error)
        return FINDINGS
    telling.applied(plan, notices)
    return status


def _planned(command: str, found: Namespace) -> Plan:
    if command == "undo":
        from locklens.operations.write.undo import undo

        return undo(Path.cwd())
    from locklens.operations.write.format import format_locks
    from locklens.operations.write.prune import prune
    from locklens.operations.write.restore import restore

    request = Scope(Path.cwd(), tuple(dict.fromkeys(found.root)), DIALECTS.get(found.tool), found.test_directory)
    if command == "upgrade":
        return _upgrade(request, found)
    if command == "prune":
        return prune(request, found.providers)
    if command == "restore":
        return restore(request, found.providers, found.revision)
    return format_locks(request)


def _upgrade(request: Scope, found: Namespace) -> Plan:
    from locklens.cli.install_progress import InstallProgress, JsonProgress
    from locklens.operations.write.registry_source import RegistrySource
    from locklens.operations.write.upgrade import UpgradeRequest, plan_upgrade
    from locklens.storage.cache import Cache

    wanted = UpgradeRequest(
        request,
        tuple(found.providers),
        _platforms(found.platform),
        edits_constraints=found.edit_constraints,
        allows_missing=found.allow_missing_modules,
    )
    telling = JsonProgress() if found.json else InstallProgress(is_alone=len(request.roots) < 2)
    if len(request.roots) > 1:
        telling.begin(None)
    with (
        Cache.in_memory() if found.no_cache else Cache() as cache,
        RegistrySource(os.environ, cache, on_event=telling.take) as supply,
    ):
        try:
            return plan_upgrade(wanted, supply, on_root=lambda root: telling.begin(root or "."))
        finally:
            telling.end()
            tell(f"note: {words}" for words in cache.take_notices())
            if found.verbose:
                tell(supply.log)


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
            tell([f"{_place(remark.root, remark.name)}: {remark.words}"])
        for failed in plan.failures:
            complain(_placed(failed))

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
            self._put("note", root=remark.root or ".", provider=remark.name or None, words=remark.words)
        for failed in plan.failures:
            self._fail(failed.error, failed.root or ".", failed.name or None)

    def previewed(self, plan: Plan) -> None:
        """Tells the diff of each file, and how to do it."""
        for file in plan.proposal.files:
            self._put("file", path=file.path, written=False, diff=file.diff())
        self._put("outcome", written=False, failed=bool(plan.failures), command=plan.proposal.command)

    def failed(self, error: LockLensError) -> None:
        """Tells why nothing was written."""
        self._fail(error, None, None)
        self._put("outcome", written=False, failed=True)

    def applied(self, plan: Plan, notices: tuple[str, ...]) -> None:
        """Tells what was written."""
        for file in plan.proposal.files:
            self._put("file", path=file.path, written=True, diff=file.diff())
        is_written = bool(plan.proposal.files)
        failed = bool(plan.failures)
        self._put("outcome", written=is_written, failed=failed, command=plan.proposal.command, notices=list(notices))

    def _fail(self, error: LockLensError, root: str | None, provider: str | None) -> None:
        path, line = getattr(error, "path", "") or None, getattr(error, "line", None)
        self._put("error", root=root, provider=provider, words=str(error), hint=error.hint, file=path, line=line)

    def _put(self, type_: str, /, **fields: Any) -> None:
        put(json_text({"type": type_, **fields}, indent=None))


def _place(root: str, name: str) -> str:
    return f"{root or '.'}: {name}" if name else root or "."


def _placed(failed: PlanFailure) -> LockLensError:
    """An error with its root and provider before it, unless it names them itself."""
    words = str(failed.error)
    name = failed.name if failed.name not in words else ""
    lead = [part for part in (name if getattr(failed.error, "path", "") else _place(failed.root, name),) if part]
    return LockLensError(": ".join((*lead, words)), hint=failed.error.hint)
