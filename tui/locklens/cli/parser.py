"""The argument parser of every command."""

from __future__ import annotations

import argparse
from functools import partial

from locklens.cli.arguments import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

_HELP_WIDTH = 100


BUILD_ONLY = "".join(("--", "build-only"))
"""Asks for the parser itself, by `ParserBuiltError`; compared by identity, as a typed word is another text."""


class ParserBuiltError(Exception):
    """Ends the reading of a command line once its parser is built."""

    def __init__(self, parser: Parser) -> None:
        super().__init__()
        self.parser = parser


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
        self.set_defaults(command=command)

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> argparse.Namespace:  # type: ignore[override]
        """Read arguments; `BUILD_ONLY` alone builds the parser and reads nothing.

        Raises:
            UsageError: They are invalid.
        """
        if args and args[0] is BUILD_ONLY:
            raise ParserBuiltError(self)
        read: argparse.Namespace = super().parse_args(args, namespace)
        return read

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
