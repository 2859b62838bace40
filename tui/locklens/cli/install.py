"""`init`, `lock`, `mirror` and `verify`: the packages of what roots require, and their hashes.

The first three take the options of the real tools' commands that concern providers, and others.
"""

from __future__ import annotations

import argparse
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli import (
    DONE,
    FINDINGS,
    NOT_WRITTEN,
    UNUSABLE,
    complain,
    deliver,
    dry_run_words,
    put,
    put_event,
    put_patch,
    tell,
)
from locklens.cli.options import (
    check_source_options,
    given_tool,
    network_of,
    oci_template,
    platforms_of,
    source_methods,
)
from locklens.errors import LockLensError, UsageError
from locklens.operations.reports import formats_of, report_pages
from locklens.text import counted, page, shell_words, visible

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from locklens.cli.options import OptionGroup, Parser
    from locklens.cli.progress import InstallProgress, JsonProgress
    from locklens.install.context import InstallEvent
    from locklens.operations.plan import Plan, RootResult
    from locklens.operations.verification import PackageVerification

_OF_OTHERS = (
    "--backend", "--backend-config", "--compact-warnings", "--consolidate-errors", "--consolidate-warnings",
    "--force-copy", "--get", "--ignore-remote-version", "--input", "--lock", "--lock-timeout", "--migrate-state",
    "--no-color", "--reconfigure", "--var", "--var-file",
)  # fmt: skip
"""Options of the real `init` that do not concern providers: accepted, and without effect."""


def add_init_options(parser: Parser) -> None:
    """Add the options of `init`."""
    words = "Install the required providers, and update the lock file."
    parser.begin(words, "[OPTION...] [-- ROOT...]", _run_init)
    group = parser.group("operation")
    words = "select the newest versions that satisfy the constraints"
    group.add("--upgrade", nargs="?", const=True, default=False, type=_flag, metavar="BOOL", help=words)
    words = "readonly: exit 1 if the file would change; readonly-lenient: except for hashes alone (default: write)"
    group.add("--lockfile", default="", metavar="MODE", help=words)
    words = "folder of a mirror to install from alone; may be repeated (default: as configured)"
    group.add("--plugin-dir", action="append", metavar="DIR", help=words)
    for name in _OF_OTHERS:
        group.add(name, nargs="?", action="append", help=argparse.SUPPRESS)
    _add_shared(parser)


def add_lock_options(parser: Parser) -> None:
    """Add the options of `lock`."""
    words = "Add the hashes of providers' packages to the lock file, for any platforms."
    parser.begin(words, "[OPTION...] [PROVIDER...] [-- ROOT...]", _run_lock, check_source_options)
    words = "provider to lock (default: all required providers)"
    parser.add_argument("providers", nargs="*", metavar="PROVIDER", help=words)
    group = parser.group("operation")
    group.add_platforms("platform to lock", "those that the policy requires, else this machine's")
    group.flag("--check", "write nothing; exit 1 if the file would change")
    words = "add hashes even if a locked package is no longer in the signed release"
    group.flag("--accept-republished", words)
    group.add_sources()
    group.flag("--enable-plugin-cache", argparse.SUPPRESS)
    _add_others(group)
    _add_shared(parser)


def add_mirror_options(parser: Parser) -> None:
    """Add the options of `mirror`."""
    words = "Download the packages of the required providers into a folder that serves as a mirror, or push them."
    parser.begin(words, "[OPTION...] DIR [-- ROOT...]", _run_mirror, _check_mirror)
    words = "the mirror's folder, or oci://HOST/REPOSITORY with each provider's {hostname}, {namespace} and {type}"
    parser.add_argument("place", metavar="DIR", help=words)
    group = parser.group("operation")
    group.add_platforms("platform of the packages", "this machine's")
    group.flag("--prune", "remove packages from the folder that no root requires for these platforms")
    words = "in a registry, replace the index of a version that lacks platforms by one that has them too"
    group.flag("--add-platforms", words)
    words = "false: the newest versions in range, as without a lock file (default: true, the locked versions)"
    group.add("--lock-file", type=_flag, default=True, metavar="BOOL", help=words)
    _add_others(group)
    _add_shared(parser, "fetch and write nothing; print what would be fetched")


def add_verify_options(parser: Parser) -> None:
    """Add the options of `verify`."""
    words = "Verify that installed, cached and mirrored packages are what the lock files say."
    parser.begin(words, "[OPTION...] [-- ROOT...]", _run_verify)
    group = parser.group("scope and output")
    group.add_roots()
    group.add_output(formats_of("verify"))
    group.flag("--all", "list the packages that are as locked, and those that are not locked, too")
    group.add_tool()
    group.add_offline()


def _add_others(group: OptionGroup) -> None:
    """Add the options that the real tools' other commands take and that do not concern providers."""
    for name in ("--compact-warnings", "--consolidate-errors", "--consolidate-warnings", "--no-color"):
        group.flag(name, argparse.SUPPRESS)
    for name in ("--var", "--var-file"):
        group.add(name, action="append", help=argparse.SUPPRESS)


def _add_shared(parser: Parser, *dry_run: str) -> None:
    group = parser.group("scope and output")
    group.add_roots()
    group.add_tool()
    group.flag("--allow-missing-modules", "continue without modules that cannot be read")
    group.add_events(*dry_run)
    group.add_requests()


def _flag(text: str) -> bool:
    if text.lower() in {"1", "t", "true"}:
        return True
    if text.lower() in {"0", "f", "false"}:
        return False
    raise argparse.ArgumentTypeError(f"invalid value {text!r}: expected true or false")


def _run_init(options: Namespace) -> int:
    if options.upgrade and options.lockfile in {"readonly", "readonly-lenient"}:
        words = f"The -upgrade flag conflicts with -lockfile={options.lockfile}."
        complain(UsageError(words, hint="leave out one of them"))
        return FINDINGS  # The tools' exit status.
    if not options.plugin_dir:
        _greet(options, for_locking=False, upgrade=options.upgrade)
    from msgspec.structs import replace

    from locklens.cli.progress import ProgressWording, install_progress
    from locklens.operations.review.policy import policy_at
    from locklens.operations.root_modules import RootOptions
    from locklens.operations.write.diagnostics import Readonly
    from locklens.operations.write.init import Init
    from locklens.project.installation import InstallationMethod, MethodKind

    modes = {mode.value: mode for mode in Readonly}
    readonly = modes.get(options.lockfile, Readonly.NO)
    if options.lockfile not in modes:
        tell([f"warning: -lockfile={options.lockfile} has no effect, here as with the real tools"])
    root_options = RootOptions(
        Path.cwd(),
        os.environ,
        tool=given_tool(options),
        test_directory=options.test_directory,
        allow_missing_modules=options.allow_missing_modules,
        dry_run=options.dry_run,
    )
    policy = policy_at(Path.cwd()).policy
    network = replace(
        network_of(options, asks_all=True),
        methods=tuple(InstallationMethod(MethodKind.FILESYSTEM, place) for place in options.plugin_dir or ()) or None,
        reported_hashes=policy.reported_hashes,
    )
    roots = list(dict.fromkeys(options.root)) or [""]
    wording = ProgressWording.DRY_RUN if options.dry_run else ProgressWording.WRITE
    progress = install_progress(options, wording, is_alone=len(roots) == 1)
    statuses, written = [], list[str]()
    top: Path | None = None  # of a diff
    with (
        network.cache as cache,
        Init(root_options, network, policy=policy, on_event=progress.take, on_waiting=progress.wait) as installing,
    ):
        for root in roots:
            progress.begin(root or ".")
            try:
                outcome = installing.init(root, upgrade=options.upgrade, readonly=readonly)
            except LockLensError as error:
                progress.end()
                complain(error)
                statuses.append(UNUSABLE)
                continue
            except KeyboardInterrupt:
                progress.end()
                if written:
                    tell([f"note: written before the interruption, and kept: {', '.join(written)}"])
                raise
            if outcome.is_written:
                written.append(root or ".")
            statuses.append(_concluded(outcome, options, progress, _init_words))
            top = outcome.top or top
        tell(f"note: {words}" for words in (*installing.notes, *cache.take_notices()))
        if options.verbose:
            tell(installing.log)
    if options.dry_run and not options.json:
        tell(dry_run_words(top))
    return _exit_status(statuses)


def _greet(options: Namespace, *, for_locking: bool, upgrade: bool = False) -> None:
    """Have the registries asked while what comes next is loaded."""
    from locklens.operations.ahead import greet_registries
    from locklens.operations.comparison import RootSettings

    settings = RootSettings(tool=given_tool(options), test_directory=options.test_directory)
    greet_registries(Path.cwd(), options.root, settings, os.environ, for_locking=for_locking, upgrade=upgrade)


def _run_lock(options: Namespace) -> int:
    """Add hashes to the lock files of all roots, concurrently."""
    if not options.providers and source_methods(options) is None:
        _greet(options, for_locking=True)
    from locklens.cli.progress import ProgressByRoot, ProgressWording, install_progress
    from locklens.cli.write import plan_operation, scope_of
    from locklens.operations.review.policy import policy_at
    from locklens.operations.write.lock import Lock

    scope, effective = scope_of(options), policy_at(Path.cwd())
    tell(f"note: {words}" for words in effective.notes)
    operation = Lock(
        scope,
        platforms_of(options) or effective.policy.required,
        tuple(options.providers),
        accepts_republished=options.accept_republished,
        allows_missing=options.allow_missing_modules,
        adds_reported=not options.check,
        policy=effective.policy,
    )
    wording = ProgressWording.DRY_RUN if options.dry_run or options.check else ProgressWording.WRITE
    progress = install_progress(options, wording, is_alone=len(scope.roots) < 2)
    progress.begin(None if len(scope.roots) > 1 else (scope.roots or (".",))[0])
    planning = ProgressByRoot(progress)
    return _apply(plan_operation(operation, options, planning), planning.turns, options, progress)


def _apply(
    plan: Plan, turns: Sequence[Sequence[InstallEvent]], options: Namespace, progress: InstallProgress | JsonProgress
) -> int:
    """Write the plan of `lock`, report the events and the result of each root, and return the exit status."""
    from msgspec.structs import replace

    from locklens.cli.write import writer_of
    from locklens.install.context import HashesObtained
    from locklens.machine import command_on
    from locklens.operations.write.lock import LOCKS_A_UNIT

    writes = not (options.dry_run or options.check)
    notices: tuple[str, ...] = ()
    refusal = None
    try:
        notices = writer_of(options).apply(plan.proposal) if writes else ()
    except LockLensError as error:
        refusal = error
        complain(error)
    statuses = []
    has_changes = False
    unchecked = []
    ordered = list(zip(plan.results.items(), turns, strict=True))
    is_summed = options.check and not (options.json or options.dry_run) and len(ordered) > 1
    if is_summed:  # The last lines are what a reader sees first.
        ordered.sort(key=lambda turn: _check_result(turn[0][1]) is not _CheckResult.UNCHANGED)
    for (root, outcome), events in ordered:
        progress.begin(root or ".")
        is_left = isinstance(outcome, LockLensError) or outcome.has_failed or (refusal and outcome.would_change)
        is_left = is_left or (is_summed and _check_result(outcome) is _CheckResult.UNCHANGED)
        for event in events:
            if not (is_left and isinstance(event, HashesObtained)):  # None is tracked in a file that stays as it was.
                progress.take(event)
        if isinstance(outcome, LockLensError):
            complain(outcome)
            statuses.append(UNUSABLE)
        elif refusal is not None and outcome.would_change:
            statuses.append(UNUSABLE)
        else:
            if outcome.would_change and writes:
                outcome = replace(outcome, is_written=True, notes=(*outcome.notes, *notices))  # noqa: PLW2901
            status = _concluded(outcome, options, progress, _check_words if options.check else _lock_words)
            has_changes = has_changes or (outcome.would_change and not outcome.has_failed)
            if outcome.is_left:
                unchecked.append(root)
                continue  # Only its own tool can read it, which is no fault of the roots beside it.
            if options.check and not outcome.has_failed:
                status = FINDINGS if outcome.would_change else UNUSABLE if outcome.is_unchecked else DONE
            statuses.append(status)
    if is_summed:
        put(page(_summary(plan.results)))
    if options.dry_run and not options.json:
        tell(dry_run_words(plan.proposal.top if has_changes else None))
    if options.check and not options.json and has_changes:
        tell(["hint: without --check the same command writes it; with --dry-run it prints the difference"])
    if unchecked and not options.json:
        command = shell_words(command_on(Path.cwd(), "hashes", roots=unchecked[:1]))
        verifying = f"`{command}` verifies locked hashes without a configuration"
        locking = f"{visible(unchecked[0] or '.')}: {LOCKS_A_UNIT}"
        tell([f"hint: {verifying if options.check else locking}"])
    return _exit_status(statuses)


def _concluded(
    outcome: RootResult,
    options: Namespace,
    progress: InstallProgress | JsonProgress,
    words: Callable[[RootResult], str],
) -> int:
    """Report the result of a root, in words or as the diff of its lock file, and return its exit status."""
    progress.conclude(outcome)
    if not options.json and options.dry_run:
        put_patch([outcome.planned] if outcome.planned is not None else [])
    elif not options.json:
        put(page(words(outcome).splitlines()))
    return FINDINGS if outcome.has_failed else DONE


def _exit_status(statuses: Sequence[int]) -> int:
    if all(status == UNUSABLE for status in statuses):
        return UNUSABLE
    return FINDINGS if any(statuses) else DONE


def _init_words(outcome: RootResult) -> str:
    """Return the result of `init`, with the real tools' key phrases."""
    product, command = outcome.tool.product, outcome.tool.command
    if outcome.is_empty:
        return f"locklens initialized in an empty directory!\n\nThe directory has no {product} configuration files.\n"
    if outcome.has_failed:
        return ""
    if not outcome.is_written:
        return "Providers are installed; no change to the lock file.\n"
    if outcome.was_absent:
        return (
            "locklens has created a lock file .terraform.lock.hcl to record the provider\n"
            "selections it made above. Include this file in your version control repository\n"
            f'so that {product} can guarantee to make the same selections by default when\nyou run "{command} init" in '
            "the future.\n"
        )
    return (
        "locklens has made some changes to the provider dependency selections recorded\n"
        "in the .terraform.lock.hcl file. Review those changes and commit them to your\n"
        "version control system if they represent changes you intended to make.\n"
    )


def _lock_words(outcome: RootResult) -> str:
    """Return the result of `lock`, in the real tools' words."""
    if outcome.has_failed or (outcome.is_unchecked and not outcome.would_change):
        return ""  # What was not checked is a note.
    if outcome.would_change:
        from locklens.lockfile.update import Difference

        if not outcome.before and outcome.difference is Difference.NONE:  # as the tools do
            return f"Success! locklens has created the lock file: {outcome.checked}.\n"
        return (
            "Success! locklens has updated the lock file.\n\n"
            f"Review the changes in {visible(outcome.lock_file)} and then commit to your\n"
            "version control system to retain the new checksums.\n"
        )
    return f"Success! locklens has validated the lock file and found no need for changes: {outcome.checked}.\n"


def _check_words(outcome: RootResult) -> str:
    if outcome.has_failed:
        return ""
    from locklens.lockfile.update import Difference

    is_of_form = not outcome.was_absent and outcome.difference is Difference.NONE
    change = f"would change{', but no version or hash' if is_of_form else ''}"
    return f"{visible(outcome.lock_file)}: {change if outcome.would_change else outcome.checked}\n"


class _CheckResult(StrEnum):
    """The result of `lock --check` for a root; the serious ones last."""

    UNCHANGED = "unchanged"
    UNCHECKED = "not checked"
    CHANGE = "would change"
    FAILED = "failed"


def _check_result(outcome: RootResult | LockLensError) -> _CheckResult:
    if isinstance(outcome, LockLensError) or outcome.has_failed:
        return _CheckResult.FAILED
    if outcome.would_change:
        return _CheckResult.CHANGE
    return _CheckResult.UNCHECKED if outcome.is_unchecked else _CheckResult.UNCHANGED


def _summary(results: Mapping[str, RootResult | LockLensError]) -> Iterator[str]:
    """Yield the roots that need a look, by their results, and the number of each result."""
    found: dict[_CheckResult, list[str]] = {result: [] for result in _CheckResult}
    for root, outcome in results.items():
        found[_check_result(outcome)].append(visible(root or "."))
    for result, roots in found.items():
        if roots and result is not _CheckResult.UNCHANGED:
            yield f"{result}: {', '.join(roots)}"
    numbers = ", ".join(f"{len(roots)} {result}" for result, roots in found.items() if roots)
    yield f"{counted(len(results), 'root')}: {numbers}"


_OCI = "oci://"


def _check_mirror(options: Namespace) -> None:
    is_folder = not options.place.startswith(_OCI)
    if is_folder and options.add_platforms:
        raise UsageError("--add-platforms is for registries", hint="a folder takes further platforms anyway")
    if not is_folder and options.prune:
        raise UsageError("--prune is for folders", hint="remove tags with the registry's own tools")


def _run_mirror(options: Namespace) -> int:
    from locklens.cli.progress import ProgressWording, install_progress
    from locklens.cli.write import scope_of
    from locklens.operations.mirror import MirrorRequest, fill_mirror

    request = MirrorRequest(
        scope_of(options),
        oci_template(options.place) if options.place.startswith(_OCI) else Path(options.place).absolute(),
        platforms_of(options),
        prunes=options.prune,
        adds_platforms=options.add_platforms,
        is_dry=options.dry_run,
        allows_missing=options.allow_missing_modules,
        ignores_locks=not options.lock_file,
    )
    wording = ProgressWording.DRY_RUN if options.dry_run else ProgressWording.WRITE
    progress = install_progress(options, wording, is_alone=True)
    progress.begin(None)
    network = network_of(options, asks_all=True)
    with network.cache as cache:
        try:
            result = fill_mirror(request, network, on_event=progress.take, on_waiting=progress.wait)
        finally:
            progress.end()
        tell(f"note: {words}" for words in (*result.notes, *cache.take_notices()))
    if options.verbose:
        tell(result.log)
    for diagnostic in (*result.warnings, *result.failures):
        progress.begin(diagnostic.root or None)
        progress.report([diagnostic])
    if options.json:
        facts = {"packages": result.packages, "removed": list(result.removed), "failures": len(result.failures)}
        put_event("outcome", root=None, **facts)
        return FINDINGS if result.failures else DONE
    lead = "would remove" if options.dry_run else "removed"
    lines = [f"{lead} {visible(name)}" for name in result.removed]
    place = visible(options.place)
    there = f"{counted(result.packages, 'package')} of this run{' would be' if options.dry_run else ''} in {place}"
    if result.failures:
        lines.append(f"{there}; {counted(len(result.failures), 'error')}")
        if options.prune and not result.removed:
            lines[-1] += f"; nothing {'would be ' if options.dry_run else ''}removed"
    else:
        lines.append(f"{there}." if options.dry_run else f"Success! {there}.")
    put(page(lines))
    if options.dry_run:
        tell([NOT_WRITTEN])
    return FINDINGS if result.failures else DONE


def _run_verify(options: Namespace) -> int:
    from locklens.operations.root_modules import RootOptions
    from locklens.operations.verification.verify import verify

    root_options = RootOptions(Path.cwd(), os.environ, tool=given_tool(options), test_directory=options.test_directory)
    network = network_of(options)
    with network.cache as cache:
        found = verify(tuple(options.root), root_options, network.fresher(not options.offline))
        notices = cache.take_notices()
    tell(f"warning: {words}" for words in found.tracked)
    tell(f"note: {words}" for words in (*found.notes, *notices))
    tell(f"error: {failure.sentence}" for failure in found.failures)
    if options.verbose:
        tell(found.log)
    deliver(report_pages("verify", options.format, found, lists_all=options.all), options.output)
    if options.format == "text":
        tell(_next_step(found))
    if found.has_failed:
        return FINDINGS
    return UNUSABLE if found.is_vacuous else DONE


def _next_step(found: PackageVerification) -> Iterator[str]:
    """Return the command for the first package that differs, with a root that refuses it.

    It examines one provider of that root, or fetches the signed package where a server, which nothing here can change,
    lists another one.
    """
    from locklens.machine import command_on
    from locklens.operations.verification import PackageVerdict

    first = next((one for one in found.packages if one.verdict is PackageVerdict.DIFFERS), None)
    if first is None:
        return
    place, roots = first.place, [first.refusing or ""]
    if place.path is not None:
        command = shell_words(command_on(Path.cwd(), "doctor", "--provider", str(place.address), roots=roots))
        yield f"hint: `{command}` names the cause, and how to replace the package"
        return
    command = shell_words(command_on(Path.cwd(), "mirror", f"--platform={place.platform}", "DIR", roots=roots))
    yield f"hint: whoever fills the mirror has to replace the package: `{command}` writes the signed ones into DIR"
