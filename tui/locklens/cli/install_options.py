"""The options of `init`, `lock`, `mirror` and `verify`: those of the real tools that concern providers, and others."""

from __future__ import annotations

import argparse
import os
import shlex

from locklens.cli.arguments import UsageError, with_two_dashes
from locklens.cli.common_options import (
    ROOTS_USAGE,
    add_event_options,
    add_offline_options,
    add_output_options,
    add_platforms_option,
    add_request_options,
    add_root_options,
    add_tool_options,
    take_operands,
)
from locklens.cli.mirror_options import add_mirror_options, check_mirror_options
from locklens.cli.parser import Parser
from locklens.operations.reports import formats_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_OF_OTHERS = (
    "--backend", "--backend-config", "--compact-warnings", "--consolidate-errors", "--consolidate-warnings",
    "--force-copy", "--get", "--ignore-remote-version", "--input", "--lock", "--lock-timeout", "--migrate-state",
    "--no-color", "--reconfigure", "--var", "--var-file",
)  # fmt: skip
"""Options of the real `init` that do not concern providers: accepted, and without effect."""


_TOOLS_NAMES = {"init": "init", "lock": "providers_lock", "mirror": "providers_mirror"}
"""The real tools' commands, as the variables for their arguments name them."""


def read_install_options(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of a command.

    Raises:
        UsageError: They are invalid, or contradict one another.
    """
    parse = {"init": _init, "lock": _lock, "mirror": _mirror, "verify": _verify}[command]
    options = parse([*environment_arguments(command, os.environ), *arguments])
    take_operands(options, operands)
    return options


def environment_arguments(command: str, environ: Mapping[str, str]) -> list[str]:
    """Return the arguments of TF_CLI_ARGS and of the command's own variable, which stand before those of the user.

    Raises:
        UsageError: One has a quotation mark without its counterpart.
    """
    found: list[str] = []
    if command not in _TOOLS_NAMES:
        return []
    for name in ("TF_CLI_ARGS", f"TF_CLI_ARGS_{_TOOLS_NAMES[command]}"):
        try:
            words = shlex.split(environ.get(name, ""))
        except ValueError as error:
            raise UsageError(f"{name} cannot be read: {error}") from error
        found += [with_two_dashes(word) for word in words]
    return found


def _init(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser("init", "Install the required providers, and update the lock file.")
    parser.usage = f"locklens init [OPTION...] {ROOTS_USAGE}"
    add = parser.add_argument_group("operation").add_argument
    add(
        "--upgrade",
        nargs="?",
        const=True,
        default=False,
        type=_flag,
        metavar="BOOL",
        help="select the newest versions that satisfy the constraints",
    )
    add(
        "--lockfile",
        default="",
        metavar="MODE",
        help="readonly: exit 1 if the file would change; readonly-lenient: except for hashes alone (default: write)",
    )
    add(
        "--plugin-dir",
        action="append",
        metavar="DIR",
        help="folder of a mirror to install from alone; may be repeated (default: as configured)",
    )
    for name in _OF_OTHERS:
        add(name, nargs="?", action="append", help=argparse.SUPPRESS)
    _add_shared(parser)
    options = parser.parse_args(arguments)
    if options.upgrade and options.lockfile in {"readonly", "readonly-lenient"}:
        raise UsageError(
            f"The -upgrade flag conflicts with -lockfile={options.lockfile}.", hint="leave out one of them"
        )
    return options


def _lock(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser("lock", "Add the hashes of providers' packages to the lock file, for any platforms.")
    parser.usage = f"locklens lock [OPTION...] [PROVIDER...] {ROOTS_USAGE}"
    parser.add_argument(
        "providers", nargs="*", metavar="PROVIDER", help="provider to lock (default: all required providers)"
    )
    add = parser.add_argument_group("operation").add_argument
    add_platforms_option(add, "platform to lock", "those that the policy requires, else this machine's")
    add("--check", action="store_true", help="write nothing; exit 1 if the file would change")
    add(
        "--accept-republished",
        action="store_true",
        help="add hashes even if a locked package is no longer in the signed release",
    )
    add_mirror_options(add)
    add("--enable-plugin-cache", action="store_true", help=argparse.SUPPRESS)
    _add_others(add)
    _add_shared(parser)
    options = parser.parse_args(arguments)
    check_mirror_options(options)
    return options


def _mirror(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser("mirror", "Download the packages of the required providers into a folder that serves as a mirror.")
    parser.usage = f"locklens mirror [OPTION...] DIR {ROOTS_USAGE}"
    parser.add_argument("folder", metavar="DIR", help="the mirror's folder")
    add = parser.add_argument_group("operation").add_argument
    add_platforms_option(add, "platform of the packages", "this machine's")
    add("--prune", action="store_true", help="remove packages that no root requires for these platforms")
    add(
        "--lock-file",
        type=_flag,
        default=True,
        metavar="BOOL",
        help="false: the newest versions that satisfy the constraints (default: true, the locked versions)",
    )
    _add_others(add)
    _add_shared(parser, has_dry_run=False)
    return parser.parse_args(arguments)


def _verify(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser("verify", "Verify that installed, cached and mirrored packages are what the lock files say.")
    parser.usage = f"locklens verify [OPTION...] {ROOTS_USAGE}"
    add = parser.add_argument_group("scope and output").add_argument
    add_root_options(add, "the current folder")
    add_output_options(add, formats_of("verify"), "text")
    add("--all", action="store_true", help="list the packages that are as locked, and those that are not locked, too")
    add_tool_options(add)
    add_offline_options(add)
    return parser.parse_args(arguments)


def _add_others(add: Callable[..., object]) -> None:
    """Add the options that the real tools' other commands take and that do not concern providers."""
    for name in ("--compact-warnings", "--consolidate-errors", "--consolidate-warnings", "--no-color"):
        add(name, action="store_true", help=argparse.SUPPRESS)
    for name in ("--var", "--var-file"):
        add(name, action="append", help=argparse.SUPPRESS)


def _add_shared(parser: argparse.ArgumentParser, *, has_dry_run: bool = True) -> None:
    add = parser.add_argument_group("scope and output").add_argument
    add_root_options(add, "the current folder")
    add_tool_options(add)
    add("--allow-missing-modules", action="store_true", help="continue without modules that cannot be read")
    add_event_options(add, has_dry_run=has_dry_run)
    add_request_options(add)


def _flag(text: str) -> bool:
    if text.lower() in {"1", "t", "true"}:
        return True
    if text.lower() in {"0", "f", "false"}:
        return False
    raise argparse.ArgumentTypeError(f"invalid value {text!r}: expected true or false")
