"""What may be typed: commands, options, and the spellings of Terraform and OpenTofu users.

Only the parser of the command that was typed is made, because making all of them takes longer than a small review.
"""

from __future__ import annotations

import argparse
import re

from locklens.errors import ConfigurationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

COMMANDS = {
    "review": "compare lock files: work tree, index, revisions, or two files",
    "explain": "what a finding means, why it matters, what to do",
    "demo": "open the review of a sample repository",
}

NOT_YET = {
    "hashes": "which hashes are explained",
    "keys": "who signed what is locked",
    "health": "all lock files of the repository",
    "verify": "check what is locked",
    "why": "who requires a provider, and what holds it back",
    "doctor": "diagnose an error of init",
    "cache": "the store under the user's cache folder",
    "init": "install providers and write the lock file",
    "lock": "write the hashes of several platforms",
    "upgrade": "move chosen providers",
    "mirror": "download packages into a folder",
    "prune": "remove what nothing requires",
    "restore": "take an entry from a revision",
    "format": "write the canonical format",
    "providers": "as typed for the real tools: providers lock, providers mirror",
}

_NOT_YET_OPTIONS = {
    "pr": "--pr",
    "remote": "--remote",
    "ask_host": "--ask-host",
    "policy": "--policy",
    "no_cache": "--no-cache",
}
_SINGLE_DASH = re.compile(r"-[A-Za-z][A-Za-z-]+(?:=|\Z)")


class UsageError(ConfigurationError):
    """The command line cannot be understood."""


class NotSupportedYetError(UsageError):
    """A word of the contract that is not built yet."""

    def __init__(self, word: str) -> None:
        super().__init__(f"{word} is not supported yet")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"see {self.prog} --help")


class Invocation:
    """A command line, split: the folder to work in, the command, its arguments, and what stands behind `--`."""

    def __init__(self, folder: str, command: str, arguments: list[str], operands: list[str]) -> None:
        self.folder = folder
        self.command = command
        self.arguments = arguments
        self.operands = operands


def split(argv: Sequence[str]) -> Invocation:
    """Splits a command line and puts single-dash spellings into the double-dash form.

    Raises:
        UsageError: There is no such command, or `-C` has no folder.
    """
    words = list(argv)
    operands: list[str] = []
    if "--" in words:
        at = words.index("--")
        words, operands = words[:at], words[at + 1 :]
    words = ["-" + word if _SINGLE_DASH.match(word) else word for word in words]
    folder = "."
    while words and (words[0] == "-C" or words[0] == "--chdir" or words[0].startswith("--chdir=")):
        word = words.pop(0)
        if "=" in word:
            folder = word.partition("=")[2]
        elif words:
            folder = words.pop(0)
        else:
            raise UsageError(f"{word} needs a folder")
    if words and not words[0].startswith("-"):
        command = words.pop(0)
        if command not in COMMANDS and command not in NOT_YET and command != "help":
            raise UsageError(_unknown(command), hint="see locklens --help")
    else:
        command = "help" if words[:1] in (["-h"], ["--help"]) else "review"
    return Invocation(folder, command, words, operands)


def _unknown(command: str) -> str:
    import difflib

    near = difflib.get_close_matches(command, [*COMMANDS, *NOT_YET], 1)
    return f"there is no command {command!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def overview() -> str:
    """The text of `locklens --help`."""
    width = max(map(len, (*COMMANDS, *NOT_YET)))
    built = [f"  {name:{width}}  {text}" for name, text in COMMANDS.items()]
    planned = [f"  {name:{width}}  {text}" for name, text in NOT_YET.items()]
    return "\n".join(
        (
            "usage: locklens [-C DIR] [COMMAND] [OPTION...]",
            "",
            "Review and judge the dependency lock files of Terraform and OpenTofu.",
            "Without a command: opens the review of the current git repository.",
            "",
            "commands (locklens COMMAND --help says more):",
            *built,
            "",
            "not supported yet:",
            *planned,
            "",
            "exit status: 0 nothing at or above --fail-on, 1 findings, 2 bad usage or nothing could be read, 130 interrupted",
            "",
        )
    )


def parse_review(arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Reads the arguments of `review`; `roots` holds what stood behind `--`.

    Raises:
        UsageError: They cannot be understood, or contradict one another.
    """
    parser = _Parser(prog="locklens review", allow_abbrev=False, description="Compare lock files and judge what changed.")
    parser.usage = "locklens review [OPTION...] [BASE] [-- ROOT...]"
    parser.add_argument("base", nargs="?", metavar="BASE", help="revision to compare with (default: HEAD)")
    add = parser.add_argument_group("what is compared").add_argument
    add("--head", metavar="REV", help="compare two revisions instead of the work tree")
    add("--staged", action="store_true", help="compare the index instead of the work tree")
    add("--merge-base", action="store_true", help="compare with the common ancestor, as a pull request does")
    add("--pr", metavar="N", help="a pull request's head (not supported yet)")
    add("--remote", metavar="NAME", help="where pull requests are fetched from (not supported yet)")
    add("--old", metavar="FILE", help="a file, - for standard input, /dev/null, or REV:PATH")
    add("--new", metavar="FILE", help="likewise; with --old")
    add("--config", metavar="DIR", help="configuration of the new side (default: the folder of --new)")
    _add_reading_options(parser)
    found = parser.parse_args(arguments)
    found.roots = list(operands)
    _refuse_what_is_not_built(found)
    _check_sides(found)
    return found


def parse_demo(arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Reads the arguments of `demo`.

    Raises:
        UsageError: They cannot be understood.
    """
    parser = _Parser(prog="locklens demo", allow_abbrev=False, description="Open the review of a sample repository.")
    parser.add_argument("--serve", action="store_true", help="keep a sample registry up (not supported yet)")
    _add_reading_options(parser)
    found = parser.parse_args(arguments)
    if operands:
        raise UsageError(f"unexpected argument {operands[0]!r}", hint="see locklens demo --help")
    if found.serve:
        raise NotSupportedYetError("--serve")
    _refuse_what_is_not_built(found)
    return found


def parse_explain(arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Reads the arguments of `explain`.

    Raises:
        UsageError: They cannot be understood.
    """
    parser = _Parser(prog="locklens explain", allow_abbrev=False, description="Explain a finding; without RULE list them all.")
    parser.add_argument("rule", nargs="?", metavar="RULE", help="e.g. LK001")
    return parser.parse_args([*arguments, *operands])


def _add_reading_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("options of every reading command").add_argument
    add("--format", choices=["tui", "text", "json", "markdown", "sarif"], help="default: tui on a terminal, text otherwise")
    add("--output", metavar="FILE", help="write the result to a file")
    add("--all", action="store_true", help="list unchanged providers too")
    add("--fail-on", choices=["block", "warn", "info", "never"], default="block", help="exit 1 from here on (default: block)")
    add("--tool", choices=["terraform", "opentofu"], help="whose rules count (default: found out for each root)")
    add("--test-directory", metavar="DIR", default="tests", help="where test files are, in each root (default: tests)")
    add("--offline", action="store_true", help="ask no registry")
    add("--verbose", action="store_true", help="say what was done and how long it took")
    add("--ask-host", metavar="HOST", action="append", help="a registry that may be asked (not supported yet)")
    add("--prove", choices=["none", "changed", "all"], default="none", help="download packages (not supported yet)")
    add("--policy", metavar="FILE", help="another policy file (not supported yet)")
    add("--no-cache", action="store_true", help="remember nothing (not supported yet)")


def _refuse_what_is_not_built(found: argparse.Namespace) -> None:
    for name, word in _NOT_YET_OPTIONS.items():
        if getattr(found, name, None):
            raise NotSupportedYetError(word)
    if found.prove != "none":
        raise NotSupportedYetError(f"--prove {found.prove}")
    if found.format in {"markdown", "sarif"}:
        raise NotSupportedYetError(f"--format {found.format}")
    if found.format == "tui" and found.output:
        raise UsageError("--output needs --format text or json")


def _check_sides(found: argparse.Namespace) -> None:
    in_files = found.old is not None or found.new is not None
    if in_files and (found.old is None or found.new is None):
        raise UsageError("--old and --new go together", hint="an absent side is written /dev/null")
    if in_files and (found.base or found.head or found.staged or found.merge_base or found.roots):
        raise UsageError("--old and --new compare two files: no BASE, --head, --staged, --merge-base or ROOT")
    if found.config is not None and not in_files:
        raise UsageError("--config goes with --old and --new")
    if found.head and found.staged:
        raise UsageError("--head and --staged are two different sides")
    if found.format == "tui" and "-" in {found.old, found.new}:
        raise UsageError("the terminal UI needs standard input for its keys", hint="use --format text or json")
