"""The options of each command.

Only the parser of the command that was typed is made, because making all of them takes longer than a small review.
"""

from __future__ import annotations

from locklens.cli.arguments import NotSupportedYetError, UsageError
from locklens.cli.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

_NOT_YET_OPTIONS = {
    "pr": "--pr",
    "remote": "--remote",
}


def read_options(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Reads the arguments of a command.

    Raises:
        UsageError: They cannot be understood, or contradict one another.
    """
    if command in {"init", "lock"}:
        from locklens.cli import install_options

        return install_options.read_install_options(command, arguments, operands)
    if command in {"upgrade", "prune", "restore", "format", "undo"}:
        from locklens.cli import write_options

        return write_options.read_write_options(command, arguments, operands)
    if command in {"hashes", "keys"}:
        return _locked(command, arguments, operands)
    return {"review": _review, "why": _why, "demo": _demo, "explain": _explain, "cache": _cache}[command](
        arguments, operands
    )


_LOCKED = {
    "hashes": "Say what is known of each hash of each lock file.",
    "keys": "Say who signed what the lock files name.",
}


def _locked(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser(command, _LOCKED[command])
    parser.usage = f"locklens {command} [OPTION...] [BASE] [-- ROOT...]"
    words = "revision that counts for what it is held against: its policy, and the registries of its lock files"
    parser.add_argument("base", nargs="?", metavar="BASE", help=f"{words} (default: HEAD, whose registries do not)")
    if command == "keys":
        words = "say too which versions were locked before, and who signed those"
        parser.add_argument("--history", action="store_true", help=words)
    _add_reading_options(parser)
    found = parser.parse_args(arguments)
    found.roots = list(operands)
    _refuse_what_is_not_built(found)
    return found


def _review(arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser("review", "Compare lock files and judge what changed.")
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


def _demo(arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser("demo", "Open the review of a sample repository.")
    add = parser.add_argument_group("the sample registry").add_argument
    add("--serve", action="store_true", help="keep the registry up, and say how to point any tool at it")
    add("--port", type=int, default=0, metavar="N", help="where it listens (default: any free port)")
    add("--delay", type=int, default=0, metavar="MS", help="milliseconds before each answer")
    add(
        "--fault",
        action="append",
        metavar="FAULT[:STEP][=PROVIDER[@VERSION]]",
        help="what goes wrong instead of the sample's own faults, e.g. slow:sums=acme/demo",
    )
    _add_reading_options(parser)
    found = parser.parse_args(arguments)
    if operands:
        raise UsageError(f"unexpected argument {operands[0]!r}", hint="see locklens demo --help")
    if not found.serve and (found.port or found.delay or found.fault):
        raise UsageError("--port, --delay and --fault go with --serve")
    _refuse_what_is_not_built(found)
    return found


def _why(arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser("why", "Say who requires a provider, what their constraints come to, and what they exclude.")
    parser.usage = "locklens why [OPTION...] PROVIDER [-- ROOT...]"
    parser.add_argument("provider", metavar="PROVIDER", help="e.g. aws, hashicorp/aws, or a full address")
    _add_reading_options(parser)
    found = parser.parse_args(arguments)
    found.roots = list(operands)
    _refuse_what_is_not_built(found)
    if found.policy:
        raise NotSupportedYetError("--policy of why")
    if found.format == "tui":
        raise UsageError("why is no screen of its own", hint="use --format text or json, or press w in the review")
    return found


def _explain(arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser("explain", "Explain a finding; without RULE list them all.")
    parser.add_argument("rule", nargs="?", metavar="RULE", help="e.g. LK001")
    return parser.parse_args([*arguments, *operands])


def _cache(arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser("cache", "Show or forget what is remembered of registries and packages; marks are kept.")
    parser.add_argument("action", choices=["info", "clear"], help="what to do with the file")
    return parser.parse_args([*arguments, *operands])


def _add_reading_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("options of every reading command").add_argument
    add(
        "--format",
        choices=["tui", "text", "json", "markdown", "sarif"],
        help="default: tui on a terminal, text otherwise",
    )
    add("--output", metavar="FILE", help="write the result to a file")
    add("--all", action="store_true", help="list unchanged providers too")
    add(
        "--fail-on",
        choices=["block", "warn", "info", "never"],
        default="block",
        help="exit 1 from here on (default: block)",
    )
    add("--tool", choices=["terraform", "opentofu"], help="whose rules count (default: found out for each root)")
    add("--test-directory", metavar="DIR", default="tests", help="where test files are, in each root (default: tests)")
    add("--offline", action="store_true", help="ask no registry; what is remembered of earlier answers counts")
    add("--verbose", action="store_true", help="say what was done and how long it took")
    add("--ask-host", metavar="HOST", action="append", default=[], help="a registry that may be asked too")
    add(
        "--prove",
        choices=["none", "changed", "all"],
        default="none",
        help="download packages and hash them, to prove h1 hashes",
    )
    add("--policy", metavar="FILE", help="judge by this file instead of the base's locklens.toml")
    add("--no-cache", action="store_true", help="use and keep nothing that is remembered between runs")


def _refuse_what_is_not_built(found: argparse.Namespace) -> None:
    for name, word in _NOT_YET_OPTIONS.items():
        if getattr(found, name, None):
            raise NotSupportedYetError(word)
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
