"""Runs a command: results on stdout, everything else on stderr, and an exit status."""

from __future__ import annotations

import os

from locklens.cli import arguments
from locklens.cli.output import (
    FINDINGS,
    INTERRUPTED,
    UNUSABLE,
    complain,
    forget_output,
    put,
    tell,
)
from locklens.errors import ConfigurationError, LockLensError, RunCancelledError
from locklens.text import page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from locklens.cli.reading import OpenUi

_READING = frozenset({"review", "hashes", "keys"})
"""Commands that report interrupted writes with their result: on the screen, or beside the report."""


def main(argv: Sequence[str], open_ui: OpenUi) -> int:
    """Run one command line.

    Args:
        argv: The arguments behind the program's name.
        open_ui: Opens the terminal UI and returns the exit status.

    Returns:
        The exit status.
    """
    try:
        return _run(argv, open_ui)
    except RunCancelledError as error:
        tell([f"error: {error}"])
        return INTERRUPTED
    except KeyboardInterrupt:
        tell(["error: interrupted"])
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has exited: no message can reach it.
        forget_output()
        return FINDINGS
    except LockLensError as error:
        complain(error)
        return UNUSABLE


def _run(argv: Sequence[str], open_ui: OpenUi) -> int:
    invocation = arguments.split(argv)
    if invocation.arguments[:1] == ["--version"]:
        from locklens import __version__

        return put(page([f"locklens {__version__}"]))
    if invocation.command == "help":
        return put(page(arguments.overview()))
    if invocation.command not in arguments.COMMANDS:
        raise arguments.NotSupportedYetError(f"locklens {invocation.command}")
    _work_in(invocation.folder)
    from locklens.cli import options, roots

    parsed = options.read_options(invocation.command, invocation.arguments, invocation.operands)
    roots.expand_roots(parsed)
    return _command(invocation.command, parsed, open_ui)


def _command(command: str, options: Namespace, open_ui: OpenUi) -> int:
    if command == "explain":
        return _explain(options)
    if command == "cache":
        from locklens.cli import cache

        return put(cache.clear() if options.action == "clear" else cache.info())
    if command == "completion":
        from locklens.cli import completion

        return put(completion.completion_script(options.shell))
    if command in {"merge", "textconv", "git"}:
        from locklens.cli import merging

        run = {"merge": merging.run_merge, "textconv": merging.run_textconv, "git": merging.run_git}[command]
        return run(options)
    if command == "demo":
        from locklens.cli import sample

        return sample.demo(options, open_ui)
    if command in _READING:
        from locklens.cli import reading

        return (
            reading.run_review_command(options, open_ui)
            if command == "review"
            else reading.run_locked(options, command, open_ui)
        )
    if command == "mirror":
        from locklens.cli import mirroring

        return mirroring.run_mirror(options)
    if command == "verify":
        from locklens.cli import verifying

        return verifying.run_verify(options)
    if command == "doctor":
        from locklens.cli import doctoring

        return doctoring.run_doctor(options)
    _recover(getattr(options, "root", []))
    if command == "health":
        from locklens.cli import health

        return health.run_health(options, open_ui)
    if command in {"init", "lock"}:
        from locklens.cli import installing

        return installing.run_init(options) if command == "init" else installing.run_lock(options)
    if command == "policy":
        from locklens.cli import policy_commands

        return policy_commands.run_policy(options)
    if command in {"upgrade", "prune", "restore", "format", "stage", "undo", "accept", "keys trust", "keys drop"}:
        from locklens.cli import writing

        return writing.run_write(command, options)
    from locklens.cli import reading

    return reading.run_why(options)


def _recover(roots: Sequence[str]) -> None:
    """Complete or revert interrupted writes, here and in the named roots, and report them."""
    from pathlib import Path

    from locklens.operations.write.recover import recover_at

    for folder in dict.fromkeys([".", *roots]):
        tell(f"note: {words}" for words in recover_at(Path(folder)))


def _work_in(folder: str) -> None:
    """Changes into the folder of `-C`."""
    try:
        if folder != ".":
            os.chdir(folder)
    except OSError as error:
        raise ConfigurationError(f"cannot work in {folder}: {error.strerror}") from error
    try:
        os.getcwd()  # noqa: PTH109
    except OSError as error:
        raise ConfigurationError("the current folder no longer exists", hint="change to an existing one") from error


def _explain(options: Namespace) -> int:
    from locklens.review.rules.catalogue import RULES, explain_rule

    if options.rule is None:
        return put(page(f"{rule.id}  {rule.severity:5}  {rule.title}" for rule in RULES.values()))
    rule = RULES.get(options.rule.upper())
    if rule is None:
        from locklens.doctor.explaining import explain_cause
        from locklens.doctor.model import CauseId

        if options.rule.lower() in {cause.value for cause in CauseId}:
            return put(page(explain_cause(CauseId(options.rule.lower()))))
        hint = "locklens explain lists all rules; causes are named as locklens doctor names them"
        raise arguments.UsageError(f"unknown rule {options.rule!r}", hint=hint)
    return put(page(explain_rule(rule).splitlines()))
