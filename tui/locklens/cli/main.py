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
from locklens.errors import ConfigurationError, ExhaustedError, LockLensError, RunCancelledError
from locklens.text import page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from locklens.cli.reading import OpenUi

_RUN = {
    "review": "reading:run_review_command",
    "hashes": "reading:run_locked",
    "keys": "reading:run_locked",
    "keys trust": "writing:run_write",
    "keys drop": "writing:run_write",
    "accept": "writing:run_write",
    "policy": "policy_commands:run_policy",
    "health": "health:run_health",
    "why": "reading:run_why",
    "doctor": "doctoring:run_doctor",
    "init": "installing:run_init",
    "lock": "installing:run_lock",
    "mirror": "mirroring:run_mirror",
    "backfill": "backfilling:run_backfill",
    "verify": "verifying:run_verify",
    "upgrade": "writing:run_write",
    "prune": "writing:run_write",
    "restore": "writing:run_write",
    "format": "writing:run_write",
    "stage": "writing:run_write",
    "undo": "writing:run_write",
    "merge": "merging:run_merge",
    "textconv": "merging:run_textconv",
    "git": "merging:run_git",
    "explain": "explaining:run_explain",
    "demo": "sample:run_demo",
    "completion": "completion:run_completion",
    "cache": "cache:run_cache",
    "version": "main:print_version",
}
"""The function that runs each command with its options, by its module in `cli`: imported when it is run."""

_HAS_SCREEN = frozenset({"review", "hashes", "keys", "health", "demo"})
"""Commands whose function is also given what opens the terminal UI."""

_RECOVERS = frozenset(
    {"policy", "health", "why", "init", "lock"} | {name for name, run in _RUN.items() if run == "writing:run_write"}
)
"""Commands that complete or revert interrupted writes first. Those with a screen report them with their result."""


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
    except (MemoryError, RecursionError) as error:
        complain(ExhaustedError(error))
        return UNUSABLE


def _run(argv: Sequence[str], open_ui: OpenUi) -> int:
    invocation = arguments.split(argv)
    if invocation.arguments[:1] == ["--version"]:
        return print_version()
    if invocation.command == "help":
        return put(page(arguments.overview()))
    _work_in(invocation.folder)
    from locklens.cli import common_options, options

    parsed = options.read_options(invocation.command, invocation.arguments, invocation.operands)
    common_options.expand_roots(parsed)
    return _command(invocation.command, parsed, open_ui)


def print_version(options: Namespace | None = None) -> int:  # noqa: ARG001 - every command has options
    """Print the version."""
    from locklens import __version__

    return put(page([f"locklens {__version__}"]))


def _command(command: str, options: Namespace, open_ui: OpenUi) -> int:
    from importlib import import_module

    from locklens.cli.interrupts import interruptible

    with interruptible():
        if command in _RECOVERS:
            _recover(getattr(options, "root", []))
        module, _, name = _RUN[command].partition(":")
        run = getattr(import_module(f"locklens.cli.{module}"), name)
        status: int = run(options, open_ui) if command in _HAS_SCREEN else run(options)
        return status


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
