"""The options of each command.

Only the parser of the given command is built: building all takes longer than a small review.
"""

from __future__ import annotations

from locklens.cli.arguments import UsageError
from locklens.cli.common_options import (
    ROOTS_USAGE,
    add_offline_options,
    add_output_options,
    add_prove_option,
    add_report_option,
    add_root_options,
    add_tool_options,
    refuse_operands,
    take_operands,
)
from locklens.cli.parser import Parser
from locklens.operations.reports import formats_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    _Reader = Callable[[str, Sequence[str], Sequence[str]], argparse.Namespace]

_MAX_DIGITS = 18

_READERS = {
    "init": "install_options:read_install_options",
    "lock": "install_options:read_install_options",
    "mirror": "install_options:read_install_options",
    "verify": "install_options:read_install_options",
    "upgrade": "write_options:read_write_options",
    "prune": "write_options:read_write_options",
    "restore": "write_options:read_write_options",
    "format": "write_options:read_write_options",
    "stage": "write_options:read_write_options",
    "undo": "write_options:read_write_options",
    "policy": "policy_options:read_policy_options",
    "accept": "policy_options:read_policy_options",
    "keys trust": "policy_options:read_policy_options",
    "keys drop": "policy_options:read_policy_options",
    "merge": "merge_options:read_merge_options",
    "textconv": "merge_options:read_merge_options",
    "git": "merge_options:read_merge_options",
    "doctor": "doctor_options:read_doctor_options",
    "backfill": "backfill_options:read_backfill_options",
}
"""The function that reads the arguments of each command, by its module in `cli`; those of this module are in `_OWN`."""


def read_options(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of a command.

    Raises:
        UsageError: They are invalid, or contradict one another.
    """
    own = _OWN.get(command)
    if own is not None:
        return own(command, arguments, operands)
    from importlib import import_module

    module, _, name = _READERS[command].partition(":")
    read: _Reader = getattr(import_module(f"locklens.cli.{module}"), name)
    return read(command, arguments, operands)


_LOCKED = {
    "hashes": "List the hashes of each lock file, with the proof of each.",
    "keys": "List the signers of the locked releases.",
}


def _locked(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser(command, _LOCKED[command])
    parser.usage = f"locklens {command} [OPTION...] [BASE] {ROOTS_USAGE}"
    words = "revision whose policy applies, and whose lock files name registries that may be asked"
    parser.add_argument(
        "base",
        nargs="?",
        metavar="BASE",
        help=f"{words}, or A..B for what B locks (default: HEAD, for its policy alone)",
    )
    if command == "hashes":
        words = "compare the packages that are installed, cached and mirrored, as `verify` does, without a download"
        parser.add_argument("--verify", action="store_true", help=words)
    if command == "keys":
        words = "list earlier locked versions too, with their signers"
        parser.add_argument("--history", action="store_true", help=words)
    _add_roots(parser)
    _add_reading_options(parser, ("tui", *formats_of(command)))
    parser.set_defaults(head=None, staged=False, merge_base=False, pr=None)
    options = parser.parse_args(arguments)
    _take_roots(options, operands)
    _refuse_output_of_screen(options)
    _take_range(options)
    return options


def _review(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser(command, "Compare lock files and judge what changed.")
    parser.usage = f"locklens review [OPTION...] [BASE] {ROOTS_USAGE}"
    parser.add_argument(
        "base", nargs="?", metavar="BASE", help="revision to compare with, or two as A..B or A...B (default: HEAD)"
    )
    add = parser.add_argument_group("comparison").add_argument
    add("--head", metavar="REV", help="compare two revisions (default: the work tree)")
    add("--staged", action="store_true", help="compare the index instead of the work tree")
    add("--merge-base", action="store_true", help="compare with the common ancestor, as a pull request does")
    words = "fetch a pull or merge request, and compare it with its merge base with BASE"
    add("--pr", metavar="N", type=_number, help=f"{words} (default: the remote's default branch)")
    add("--remote", metavar="NAME", help="remote to fetch it from, also with --offline (default: origin)")
    add("--old", metavar="FILE", help="old lock file: a path, -, /dev/null, or REV:PATH (default: BASE)")
    add("--new", metavar="FILE", help="new lock file, named the same way; requires --old (default: none)")
    add("--config", metavar="DIR", help="configuration of the new side (default: the folder of --new)")
    _add_roots(parser)
    _add_reading_options(parser, ("tui", *formats_of("review")))
    add_report_option(parser.add_argument_group("reports").add_argument)
    options = parser.parse_args(arguments)
    _take_roots(options, operands)
    _refuse_output_of_screen(options)
    _check_sides(options)
    _take_range(options)
    return options


def _take_range(options: argparse.Namespace) -> None:
    """Take both sides out of a BASE that is a range, as git writes two revisions."""
    if options.base is None or ".." not in options.base:
        return
    from locklens.operations.comparison import Base

    sides = Base.of_range(options.base)
    if sides is None:
        raise UsageError(f"invalid BASE {options.base!r}", hint="a revision, or two as A..B or A...B")
    others = {
        "--head": options.head,
        "--staged": options.staged,
        "--merge-base": options.merge_base,
        "--pr": options.pr,
    }
    given = [name for name, value in others.items() if value]
    if given:
        hint = "A...B compares with the common ancestor" if "--merge-base" in given else "name one revision as BASE"
        raise UsageError(f"{options.base} names both sides: no {' or '.join(given)}", hint=hint)
    options.base, options.head, options.merge_base = sides.name, sides.head, bool(sides.fork_of)


def _demo(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    from locklens.doctor.model import CauseId

    parser = Parser(command, "Open the review of a sample repository.")
    parser.usage = "locklens demo [OPTION...]"
    add = parser.add_argument_group("sample registry").add_argument
    add("--serve", action="store_true", help="serve the registry, and print how to use it with any tool")
    add("--port", type=int, default=0, metavar="N", help="port to listen on; with --serve (default: any free port)")
    add("--delay", type=int, default=0, metavar="MS", help="milliseconds before each answer; with --serve (default: 0)")
    add(
        "--fault",
        action="append",
        metavar="FAULT[:STEP][=PROVIDER[@VERSION]]",
        help="fault to inject, such as slow:sums=acme/demo, or none; with --serve (default: the sample's own)",
    )
    words = "metadata files in the OpenTofu registry's layout to serve as that registry; with --serve (default: none)"
    add("--metadata", metavar="DIR", help=words)
    words = f"diagnose a sample incident, on the Doctor screen or as text: {', '.join(sorted(CauseId))} (default: none)"
    add("--incident", metavar="CAUSE", help=words)
    _add_reading_options(parser, ("tui", *formats_of("review")))
    options = parser.parse_args(arguments)
    refuse_operands(command, operands)
    if options.incident and options.serve:
        raise UsageError("--incident and --serve cannot be used together")
    if not options.serve and (options.port or options.delay or options.fault or options.metadata):
        raise UsageError("--port, --delay, --fault and --metadata require --serve")
    _refuse_output_of_screen(options)
    return options


def _why(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser(
        command, "List the requirements of a provider, the combined constraints, and the versions that they exclude."
    )
    parser.usage = f"locklens why [OPTION...] PROVIDER {ROOTS_USAGE}"
    parser.add_argument("provider", metavar="PROVIDER", help="such as aws, hashicorp/aws, or a full address")
    _add_roots(parser)
    _add_reading_options(parser, formats_of("why"), reviews=False)
    options = parser.parse_args(arguments)
    _take_roots(options, operands)
    _refuse_output_of_screen(options)
    return options


def _health(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser(command, "Check every root module below a folder, and count the roots that each check concerns.")
    parser.usage = f"locklens health [OPTION...] [DIR] {ROOTS_USAGE}"
    words = "folder to search: the files that git does not ignore, or without git all"
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help=f"{words} (default: the current one)")
    _add_roots(parser)
    _add_reading_options(parser, ("tui", *formats_of("health")))
    options = parser.parse_args(arguments)
    _take_roots(options, operands)
    if options.format == "tui" and options.root:
        raise UsageError("the screen shows all roots", hint="use --format text for some of them")
    _refuse_output_of_screen(options)
    if options.prove != "none":
        raise UsageError("health downloads no packages", hint="locklens hashes --prove all hashes them")
    return options


def _explain(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser(command, "Explain a rule, or a cause that doctor names; without RULE, list all rules.")
    parser.usage = "locklens explain [RULE]"
    parser.add_argument("rule", nargs="?", metavar="RULE", help="such as LK001, or h1-missing")
    return parser.parse_args([*arguments, *operands])


def _completion(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser(command, "Print the script that completes command lines of locklens in a shell.")
    parser.usage = "locklens completion bash|zsh|fish"
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="shell that reads the script")
    return parser.parse_args([*arguments, *operands])


def _version(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser(command, "Print the version of locklens.")
    parser.usage = "locklens version"
    return parser.parse_args([*arguments, *operands])


def _cache(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    parser = Parser(command, "Show or clear the cache of registry answers and package hashes; marks are kept.")
    parser.usage = "locklens cache info|clear"
    parser.add_argument("action", choices=["info", "clear"], help="show its size and contents, or clear it")
    return parser.parse_args([*arguments, *operands])


def _add_reading_options(parser: argparse.ArgumentParser, formats: Sequence[str], *, reviews: bool = True) -> None:
    """Add the options of commands that read; those that select changes and hashes where the command `reviews` any."""
    parser.set_defaults(report=[], all=False, prove="none")
    add = parser.add_argument_group("common options").add_argument
    add_output_options(add, formats, None if "tui" in formats else "text")
    if reviews:
        add("--all", action="store_true", help="list unchanged providers too")
    add(
        "--list-roots",
        action="store_true",
        help="name every root of a change that several roots have, not only the first eight",
    )
    add(
        "--fail-on",
        choices=["block", "warn", "info", "never"],
        help="lowest severity that sets exit status 1 (default: the policy's fail_on, else block)",
    )
    add_tool_options(add)
    if reviews:
        add_prove_option(add)
    add("--policy", metavar="FILE", help="policy file (default: the base's locklens.toml)")
    add_offline_options(add, "those of the base and of the settings")


def _add_roots(parser: argparse.ArgumentParser) -> None:
    add_root_options(parser.add_argument_group("scope").add_argument, "every root of the repository")


def _take_roots(options: argparse.Namespace, operands: Sequence[str]) -> None:
    take_operands(options, operands)
    options.all_roots = False  # The default, which has deleted lock files too.


def _refuse_output_of_screen(options: argparse.Namespace) -> None:
    if options.format == "tui" and options.output:
        raise UsageError("--output needs the --format of a report", hint="the terminal UI writes no file")
    if options.format == "tui" and options.report:
        raise UsageError("--report needs the --format of a report", hint="the terminal UI writes no file")


def _number(text: str) -> int:
    import argparse

    # ASCII alone: the number becomes a part of a reference's name.
    if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS and int(text)):
        raise argparse.ArgumentTypeError(f"invalid number {text!r}: expected that of a pull or merge request, as 12")
    return int(text)


def _check_sides(options: argparse.Namespace) -> None:
    if options.pr and (options.old is not None or options.new is not None or options.head or options.staged):
        raise UsageError("--pr compares a pull request with BASE: no --head, --staged, --old or --new")
    if options.remote is not None and not options.pr:
        raise UsageError("--remote requires --pr", hint="a branch of a remote is compared with --head REMOTE/BRANCH")
    in_files = options.old is not None or options.new is not None
    if in_files and (options.old is None or options.new is None):
        raise UsageError("--old and --new must be used together", hint="use /dev/null for an absent side")
    if in_files and (options.base or options.head or options.staged or options.merge_base or options.root):
        raise UsageError("--old and --new compare two files: no BASE, --head, --staged, --merge-base or ROOT")
    if options.config is not None and not in_files:
        raise UsageError("--config requires --old and --new")
    if options.head and options.staged:
        raise UsageError("--head and --staged cannot be used together")
    if options.format == "tui" and "-" in {options.old, options.new}:
        raise UsageError("the terminal UI needs standard input for its keys", hint="use --format text or json")


_OWN: dict[str, _Reader] = {
    "review": _review,
    "hashes": _locked,
    "keys": _locked,
    "health": _health,
    "why": _why,
    "demo": _demo,
    "explain": _explain,
    "completion": _completion,
    "cache": _cache,
    "version": _version,
}
"""The functions of this module that read the arguments of a command."""
