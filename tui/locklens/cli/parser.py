"""The argument parser that every command's options are added to."""

from __future__ import annotations

import argparse
from functools import partial

from locklens.cli.arguments import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_HELP_WIDTH = 100


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are our errors, and which does not ask the terminal for its width to say them."""

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
        """Raises what argparse would print.

        Raises:
            UsageError: Always.
        """
        roots = "; root folders stand behind --" if self.prog.endswith(("review", "why")) else ""
        raise UsageError(message, hint=f"see {self.prog} --help{roots}")
