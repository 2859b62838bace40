"""The argument parser of every command."""

from __future__ import annotations

import argparse
from functools import partial

from locklens.cli.arguments import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_HELP_WIDTH = 100


class _Formatter(argparse.HelpFormatter):
    """A formatter that keeps the lines of examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("examples:") else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError`, and whose help does not depend on the width of the terminal."""

    def __init__(self, command: str, description: str) -> None:
        formatter = partial(_Formatter, width=_HELP_WIDTH, max_help_position=28)
        super().__init__(
            prog=f"locklens {command}", description=description, allow_abbrev=False, formatter_class=formatter
        )
        self._command = command

    def format_help(self) -> str:
        """Return the help, which ends with examples."""
        from locklens.cli.examples import example_lines

        about = f"locklens -C DIR {self._command} ... works in another folder."
        self.epilog = "\n".join(("examples:", *example_lines(self._command), "", about))
        return super().format_help()

    def _print_message(self, message: str, file: object = None) -> None:  # noqa: ARG002
        from locklens.cli.output import put
        from locklens.text import page

        put(page(message.splitlines()))

    def error(self, message: str) -> NoReturn:
        """Raise the error that argparse would print.

        Raises:
            UsageError: Always.
        """
        roots = "; root folders stand behind --" if self.prog.endswith(("review", "why")) else ""
        raise UsageError(message, hint=f"see {self.prog} --help{roots}")
