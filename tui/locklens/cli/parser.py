"""The argument parser of every command."""

from __future__ import annotations

import argparse
from functools import partial

from locklens.cli.arguments import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_HELP_WIDTH = 100


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError`, and whose help does not depend on the width of the terminal."""

    def __init__(self, command: str, description: str) -> None:
        formatter = partial(argparse.HelpFormatter, width=_HELP_WIDTH, max_help_position=28)
        super().__init__(
            prog=f"locklens {command}", description=description, allow_abbrev=False, formatter_class=formatter
        )

    def _print_message(self, message: str, file: object = None) -> None:  # noqa: ARG002
        from locklens.cli.output import put
        from locklens.text import page

        put(page(message.splitlines()))

    def error(self, message: str) -> NoReturn:
        """Raises the error that argparse would print.

        Raises:
            UsageError: Always.
        """
        roots = "; root folders stand behind --" if self.prog.endswith(("review", "why")) else ""
        raise UsageError(message, hint=f"see {self.prog} --help{roots}")
