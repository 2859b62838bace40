"""Runs a command: results on stdout, everything else on stderr, and an exit status."""

from __future__ import annotations

import os

from locklens.cli import FINDINGS, INTERRUPTED, UNUSABLE, commands, complain, forget_output, put, tell
from locklens.errors import ConfigurationError, ExhaustedError, LockLensError, RunCancelledError
from locklens.machine import work_in
from locklens.text import page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from locklens.cli.review import OpenUi


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
    invocation = commands.split(argv)
    if invocation.arguments[:1] == ["--version"]:
        from locklens.cli.about import print_version

        return print_version()
    if invocation.command == "help":
        return put(page(commands.overview()))
    _work_in(invocation.folder)
    options = commands.read_options(invocation.command, invocation.arguments, invocation.operands)
    return _run_command(commands.COMMANDS[invocation.command], options, open_ui)


def _run_command(command: commands.Subcommand, options: Namespace, open_ui: OpenUi) -> int:
    from locklens.cli.interrupts import interruptible
    from locklens.cli.options import expand_roots

    expand_roots(options)
    with interruptible():
        if command.recovers:
            _recover(getattr(options, "root", []))
        status: int = options.run(options, open_ui) if command.has_screen else options.run(options)
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
        work_in(folder)
    except OSError as error:
        raise ConfigurationError(f"cannot work in {folder}: {error.strerror}") from error
    try:
        os.getcwd()  # noqa: PTH109
    except OSError as error:
        raise ConfigurationError("the current folder no longer exists", hint="change to an existing one") from error
