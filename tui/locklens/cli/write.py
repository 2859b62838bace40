"""`prune`, `restore`, `format`, `stage` and `undo`, and how every command that writes plans, reports and applies."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli import DONE, FINDINGS, complain, dry_run_words, put, put_event, put_patch, tell
from locklens.cli.options import Parser, given_tool, network_of, source_methods
from locklens.diagnostics import Diagnostic
from locklens.errors import LockLensError
from locklens.text import page

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Collection

    from locklens.cli.progress import InstallProgress, JsonProgress, ProgressByRoot
    from locklens.operations.locklens import LockLens
    from locklens.operations.plan import Plan, Scope
    from locklens.operations.write.apply import Operation
    from locklens.releases import NetworkSettings
    from locklens.review.findings import Finding
    from locklens.review.model import Review


def add_prune_options(parser: Parser) -> None:
    """Add the options of `prune`."""
    words = "Remove orphans from the lock file: providers that nothing requires."
    parser.begin(words, "[OPTION...] [PROVIDER...] [-- ROOT...]", run_write, operation=_prune)
    words = "provider to remove, even if part of the configuration cannot be read (default: all orphans)"
    parser.add_argument("providers", nargs="*", metavar="PROVIDER", help=words)
    _add_scope(parser)


def add_restore_options(parser: Parser) -> None:
    """Add the options of `restore`."""
    words = "Restore providers' entries from the lock file of a revision."
    parser.begin(words, "[OPTION...] PROVIDER... [-- ROOT...]", run_write, operation=_restore)
    words = "provider to restore; removed if it is not locked in the revision"
    parser.add_argument("providers", nargs="+", metavar="PROVIDER", help=words)
    group = parser.group("operation")
    words = "revision to restore from; REV:PATH names the lock file of a moved root in it (default: HEAD)"
    group.add("--from", dest="revision", default="HEAD", metavar="REV", help=words)
    _add_scope(parser)


def add_format_options(parser: Parser) -> None:
    """Add the options of `format`."""
    words = "Write the lock file in its tool's format: order, spacing, line ends. Comments are lost."
    parser.begin(words, "[OPTION...] [-- ROOT...]", run_write, operation=_format)
    _add_scope(parser)


def add_stage_options(parser: Parser) -> None:
    """Add the options of `stage`."""
    words = (
        "Stage the changed blocks of providers, as git add -p would; other changes stay in the work tree. "
        "The status is 1 where what this run stages has a finding that fails a review. No registry is asked: of hashes "
        "and signers, cached answers alone count."
    )
    parser.begin(words, "[OPTION...] [PROVIDER...] [-- ROOT...]", _run_stage)
    words = "provider whose block to stage (default: every changed one)"
    parser.add_argument("providers", nargs="*", metavar="PROVIDER", help=words)
    _add_scope(parser)


def add_undo_options(parser: Parser) -> None:
    """Add the options of `undo`."""
    parser.begin(
        "Revert the last write in the repository, made by a command or on the screen; a second undo reverts the "
        "one before. --redo applies the one again that was undone last. If a file changed since, it is named and "
        "nothing is reverted.",
        "[OPTION...] [ID]",
        _run_undo,
    )
    parser.add_argument(
        "write",
        nargs="?",
        default="",
        metavar="ID",
        help="write to revert (default: the last), or to apply again with --redo",
    )
    group = parser.group("operation")
    group.flag("--list", "write nothing; list the applied writes with their time and files")
    group.flag("--redo", "apply an undone write again (default: the one that was undone last)")
    parser.group("scope and output").add_events()


def _add_scope(parser: Parser) -> None:
    group = parser.group("scope and output")
    group.add_roots()
    group.add_tool()
    group.add_events()


def _prune(options: Namespace) -> Operation:
    from locklens.operations.write.lock_edits import Prune

    return Prune(scope_of(options), tuple(options.providers))


def _restore(options: Namespace) -> Operation:
    from locklens.operations.write.lock_edits import Restore, RestoredProviders

    scope = scope_of(options)
    return Restore(scope, (RestoredProviders(scope.roots, tuple(options.providers)),), options.revision)


def _format(options: Namespace) -> Operation:
    from locklens.operations.write.lock_edits import Format

    return Format(scope_of(options))


def _run_stage(options: Namespace) -> int:
    """Stage the changes of the roots since HEAD, and report the findings that the index has then."""
    from msgspec.structs import replace

    from locklens.operations.compare import open_git
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ReviewRequest
    from locklens.operations.write.stage import named_blocks
    from locklens.project.git import Repository

    opened = partial(open_git, Path.cwd(), roots=options.root or (".",))
    # A name is looked up in unchanged roots too: there it is no typing error.
    request = ReviewRequest(
        opened,
        include_unchanged=bool(options.providers),
        tool=given_tool(options),
        test_directory=options.test_directory,
        network=replace(network_of(options), is_offline=True),
    )
    top = Repository.top_of(Path.cwd())
    locklens = LockLens(request)
    review = locklens.review()
    plan = locklens.plan(named_blocks(review, top, options.providers), review)
    found = () if plan.proposal.is_empty else _known(locklens.review_plan(plan, review).review)
    for finding in found:
        place = f"{finding.file}:{finding.line}" if finding.line else finding.file
        if options.json:
            fields = {"severity": finding.severity, "rule": finding.rule, "words": finding.message}
            put_event("finding", **fields, file=finding.file, line=finding.line)
        else:
            tell([f"{finding.severity.value}: {finding.rule} {place}: {finding.message}"])
    if not plan.proposal.is_empty and not options.json:
        tell(["hint: no registry was asked: locklens review --staged checks hashes and signers"])
    status = apply_plan(plan, options)
    return FINDINGS if any(review.is_failing(finding) for finding in found) else status


def _known(review: Review) -> tuple[Finding, ...]:
    """Return the blocks and warnings of a staged plan, the worst first, but for those for want of an answer."""
    found = (one for one in review.findings if one.severity.is_serious and one.accepted is None and not one.is_doubt)
    return tuple(sorted(found, key=lambda finding: finding.severity.rank))


def _run_undo(options: Namespace) -> int:
    from locklens.operations.write.undo import Undo

    if options.list:
        return _list_writes(is_json=options.json)
    plan = writer_of(options).plan(Undo(Path.cwd(), options.write, options.redo))
    return apply_plan(plan, options, is_undo=not options.redo)


def _list_writes(*, is_json: bool) -> int:
    """Print the applied writes, the last one first."""
    from locklens.operations.write.undo import recorded

    writes, damaged = recorded(Path.cwd())
    for write in writes:
        record, files = write.record, list(write.files)
        if is_json:
            facts = {"id": write.id, "at": record.at, "undone": write.is_undone, "command": record.command}
            put_event("write", **facts, files=files, message=record.message or None)
        else:
            title = f"{write.id}  {write.moment}  {record.command}  {write.state}".rstrip()
            put(page([title, *(f"  {name}" for name in files)]))
    for words in damaged:
        if is_json:
            put_event("note", message=words)
        else:
            put(page([f"note: {words}"]))
    if not writes and not damaged and not is_json:
        put(page(["no applied writes here"]))
    return DONE


def run_write(options: Namespace) -> int:
    """Plan what the function `options.operation` returns for the options, report it and apply it."""
    from locklens.operations.write.apply import FileOperation

    operation: Operation = options.operation(options)
    if isinstance(operation, FileOperation):
        return apply_plan(writer_of(options).plan(operation), options)
    return apply_plan(plan_operation(operation, options, plan_progress(options, options.root)), options)


def plan_progress(options: Namespace, roots: Collection[str]) -> InstallProgress | JsonProgress:
    """Return the progress of a plan for some roots, which is written once it is complete."""
    from locklens.cli.progress import ProgressWording, install_progress

    progress = install_progress(options, ProgressWording.PLAN, is_alone=len(roots) < 2)
    if len(set(roots)) > 1:
        progress.begin(None)
    return progress


def scope_of(options: Namespace) -> Scope:
    """Return the scope of the named roots, relative to the current folder."""
    from locklens.operations.plan import Scope

    return Scope(
        Path.cwd(), tuple(dict.fromkeys(options.root)), tool=given_tool(options), test_directory=options.test_directory
    )


def writer_of(options: Namespace, network: NetworkSettings | None = None) -> LockLens:
    """Return the operations for a command that writes."""
    from locklens.operations.compare import open_git
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ReviewRequest

    opened, tests = partial(open_git, Path.cwd()), getattr(options, "test_directory", "tests")
    return LockLens(ReviewRequest(opened, tool=given_tool(options), test_directory=tests, network=network))


def plan_operation(
    operation: Operation, options: Namespace, progress: InstallProgress | JsonProgress | ProgressByRoot
) -> Plan:
    """Plan an operation that needs registries: all that the roots require are asked, as the tools do.

    Raises:
        LockLensError: There is no plan for any root, or the policy has a mistake.
        RunCancelledError: The run was cancelled.
    """
    from msgspec.structs import replace

    from locklens.operations.review.policy import policy_at

    believed, methods = policy_at(Path.cwd()).policy.reported_hashes, source_methods(options)
    network = replace(network_of(options, asks_all=True), reported_hashes=believed, methods=methods)
    with network.cache:
        return plan_with(writer_of(options, network), operation, options, progress)


def plan_with(
    locklens: LockLens,
    operation: Operation,
    options: Namespace,
    progress: InstallProgress | JsonProgress | ProgressByRoot,
    review: Review | None = None,
) -> Plan:
    """Plan with progress, and report problems of the CLI configuration, notices and the log of requests.

    Raises:
        LockLensError: There is no plan for any root.
        RunCancelledError: The run was cancelled.
    """
    log: list[str] = []
    notes: list[str] = []
    try:
        return locklens.plan(
            operation,
            review,
            on_notes=notes.extend,
            on_root=lambda root: progress.begin(root or "."),
            on_event=progress.take,
            on_log=log.extend,
        )
    finally:
        progress.end()
        network = locklens.request.network
        tell(f"note: {words}" for words in (*notes, *(network.cache.take_notices() if network is not None else ())))
        if options.verbose:
            tell(log)


def apply_plan(plan: Plan, options: Namespace, *, is_undo: bool = False) -> int:
    """Report a plan, apply it unless it is a dry run, and return the exit status; an undo restores earlier bytes."""
    is_dry_run = options.dry_run
    report = _Json(is_dry_run=is_dry_run) if options.json else _Text(is_dry_run=is_dry_run, is_undo=is_undo)
    report.planned(plan)
    if is_dry_run:
        report.previewed(plan)
    else:
        try:
            notices = writer_of(options).apply(plan.proposal)
        except LockLensError as error:
            report.failed(error)
            return FINDINGS
        report.applied(plan, notices)
    return FINDINGS if plan.failures else DONE


class _Text:
    """Reports a plan as text: the result on stdout, which is the diff alone in a dry run, all else on stderr."""

    def __init__(self, *, is_dry_run: bool, is_undo: bool) -> None:
        self._is_dry_run = is_dry_run
        self._is_undo = is_undo

    def planned(self, plan: Plan) -> None:
        if self._is_dry_run:
            tell(plan.dry_run_words)
        for diagnostics in (plan.remarks, plan.failures):
            last = {each.hint: number for number, each in enumerate(diagnostics)}  # A hint that several share.
            for number, each in enumerate(diagnostics):
                tell([each.line, *([f"hint: {each.hint}"] if each.hint and last[each.hint] == number else [])])

    def previewed(self, plan: Plan) -> None:
        put_patch(plan.proposal.files)
        tell(dry_run_words(plan.proposal.top if plan.proposal.files else None))

    def failed(self, error: LockLensError) -> None:
        complain(error)

    def applied(self, plan: Plan, notices: tuple[str, ...]) -> None:
        is_index, verb = plan.proposal.target.is_index, "restored" if self._is_undo else "wrote"
        files = [
            f"removed {file.path}{' from the index' if is_index else ''}"
            if file.new is None
            else f"{verb} {file.path}{' in the index' if is_index else ''}"
            for file in plan.proposal.files
        ]
        files += [f"{'restored' if self._is_undo else 'replaced'} {one.place}" for one in plan.proposal.folders]
        lines = [*plan.proposal.words, *files]
        put(page(lines or ["nothing was changed"]))
        tell(notices)


class _Json:
    """Reports a plan on stdout, one JSON object per line, named by its `type`."""

    def __init__(self, *, is_dry_run: bool) -> None:
        self._is_dry_run = is_dry_run

    def planned(self, plan: Plan) -> None:
        from locklens.operations.plan import change_words

        for change in plan.changes:
            put_event(
                "change",
                root=change.root or ".",
                provider=str(change.address),
                kind=change.kind,
                old=str(change.old.version) if change.old else None,
                new=str(change.new.version) if change.new else None,
                edits=[{"file": e.place.file, "line": e.place.line, "old": e.old, "new": e.new} for e in change.edits],
                platforms=[str(platform) for platform in change.platforms],
                words=change_words(change, is_dry_run=self._is_dry_run),
            )
        for remark in plan.remarks:
            root, provider = remark.root or ".", remark.address or None
            put_event(remark.severity.value, root=root, provider=provider, words=remark.sentence, hint=remark.hint)
        for failed in plan.failures:
            self._fail(failed, failed.root or ".")

    def previewed(self, plan: Plan) -> None:
        for file in plan.proposal.files:
            put_event("file", path=file.path, written=False, diff=file.diff())
        put_event("outcome", written=False, failed=bool(plan.failures), command=plan.proposal.command)

    def failed(self, error: LockLensError) -> None:
        self._fail(Diagnostic.of(error), None)
        put_event("outcome", written=False, failed=True)

    def applied(self, plan: Plan, notices: tuple[str, ...]) -> None:
        for file in plan.proposal.files:
            put_event("file", path=file.path, written=True, diff=file.diff())
        is_written = not plan.proposal.is_empty
        failed = bool(plan.failures)
        put_event("outcome", written=is_written, failed=failed, command=plan.proposal.command, notices=list(notices))

    def _fail(self, failed: Diagnostic, root: str | None) -> None:
        file, line = failed.place or (None, None)
        name = failed.address or None
        put_event("error", root=root, provider=name, words=failed.words, hint=failed.hint, file=file, line=line)
