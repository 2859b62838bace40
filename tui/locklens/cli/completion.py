"""Shell completion: one script for bash, zsh or fish, made of the parsers that read the commands.

Commands, options and their values are in the script; revisions and providers are looked up by `completed_names`.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from locklens.cli.arguments import COMMANDS
from locklens.cli.completed_names import PREAMBLE, PROVIDERS, REVISIONS
from locklens.cli.options import read_options
from locklens.cli.output import put
from locklens.cli.parser import BUILD_ONLY, Parser, ParserBuiltError
from locklens.text import script_text

if TYPE_CHECKING:
    from locklens.text import Printable

SHELLS = ("bash", "zsh", "fish")

_FOLDERS = frozenset({"DIR"})


def run_completion(options: argparse.Namespace) -> int:
    """Print the script of a shell."""
    return put(_completion_script(options.shell))


def _completion_script(shell: str) -> Printable:
    """Return the script that completes command lines of locklens.

    Args:
        shell: One of `SHELLS`.
    """
    import shtab

    return script_text(shtab.complete(_whole_parser(), shell, preamble=PREAMBLE[shell]))


def _whole_parser() -> argparse.ArgumentParser:
    """Return one parser with every command, of the parsers that read each."""
    whole = argparse.ArgumentParser("locklens", description="Review and judge dependency lock files.")
    whole.add_argument("--version", action="store_true", help="print the version")
    _mark("", whole.add_argument("-C", metavar="DIR", help="work in another folder"))
    commands = whole.add_subparsers()
    for word in dict.fromkeys(name.partition(" ")[0] for name in COMMANDS):
        inner = [name for name in COMMANDS if name.startswith(f"{word} ")]
        own = [_marked(word, with_operands=not inner)] if word in COMMANDS else []
        about = COMMANDS.get(word, ", ".join(name.partition(" ")[2] for name in inner))
        parser = commands.add_parser(word, parents=own, help=about, add_help=False)
        if inner:
            seconds = parser.add_subparsers()
            for name in inner:
                second = name.partition(" ")[2]
                seconds.add_parser(second, parents=[_marked(name)], help=COMMANDS[name], add_help=False)
    return whole


def _parser_of(command: str) -> Parser:
    """Return the parser of a command: its table of options."""
    try:
        read_options(command, [BUILD_ONLY], [])
    except ParserBuiltError as built:
        return built.parser
    raise AssertionError(f"{command} has no parser")


def _marked(command: str, *, with_operands: bool = True) -> argparse.ArgumentParser:
    """Return the parser of a command, whose actions say what completes them."""
    parser = _parser_of(command)
    actions = parser._actions  # noqa: SLF001 - argparse has no other way to list them
    actions[:] = [action for action in actions if action.option_strings or with_operands]
    for action in actions:
        _mark(command, action)
    return parser


def _mark(command: str, action: argparse.Action) -> None:
    """Say what completes the value of an option of a command, or an operand."""
    import shtab

    from locklens.doctor.model import CauseId
    from locklens.review.rules.catalogue import RULES

    if action.metavar == "FILE" or (command == "merge" and not action.option_strings):
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    elif action.metavar in _FOLDERS:
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    elif action.metavar == "REV" or (action.metavar == "BASE" and command != "merge"):
        action.complete = REVISIONS  # type: ignore[attr-defined]
    elif action.metavar in {"PROVIDER", "PROVIDER[=VERSION]"}:
        action.complete = PROVIDERS  # type: ignore[attr-defined]
    elif action.metavar == "RULE":
        causes = tuple(sorted(cause.value for cause in CauseId)) if command == "explain" else ()
        action.choices = (*RULES, *causes)
    elif action.metavar == "CAUSE":
        action.choices = tuple(sorted(CauseId))
