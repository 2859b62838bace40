"""The options of `init` and `lock`: those of the real tools that concern providers, and further ones."""

from __future__ import annotations

import argparse

from locklens.cli.arguments import NotSupportedYetError, UsageError
from locklens.cli.parser import Parser
from locklens.cli.roots import ROOTS_USAGE, add_root_options, take_operands
from locklens.dialect import DIALECTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_OF_OTHERS = (
    "--backend", "--backend-config", "--compact-warnings", "--force-copy", "--get", "--input", "--lock",
    "--lock-timeout", "--migrate-state", "--no-color", "--reconfigure", "--var", "--var-file",
)  # fmt: skip
"""Options of the real `init` that do not concern providers: accepted, and without effect."""


def read_install_options(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of a command.

    Raises:
        UsageError: They are invalid, or contradict one another.
    """
    options = (_init if command == "init" else _lock)(arguments)
    take_operands(options, operands)
    return options


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
        help="select the newest versions that satisfy the constraints",
    )
    add(
        "--lockfile",
        default="",
        metavar="MODE",
        help="readonly: exit 1 if the file would change; readonly-lenient: except for hashes alone (default: write)",
    )
    add("--plugin-dir", action="append", metavar="DIR", help="folder to install from (not supported yet)")
    add("--test-directory", default="tests", metavar="DIR", help="folder of test files (default: tests)")
    for name in _OF_OTHERS:
        add(name, nargs="?", action="append", help=argparse.SUPPRESS)
    _add_shared(parser)
    options = parser.parse_args(arguments)
    if options.plugin_dir:
        raise NotSupportedYetError("--plugin-dir")
    if options.upgrade and options.lockfile in {"readonly", "readonly-lenient"}:
        raise UsageError(
            f"The -upgrade flag conflicts with -lockfile={options.lockfile}.", hint="leave out one of them"
        )
    return options


def _lock(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser("lock", "Add the hashes of providers' packages to the lock file, for any platforms.")
    parser.usage = f"locklens lock [OPTION...] [PROVIDER...] {ROOTS_USAGE}"
    parser.add_argument("providers", nargs="*", metavar="PROVIDER", help="only these (default: all required providers)")
    add = parser.add_argument_group("operation").add_argument
    add(
        "--platform",
        action="append",
        default=[],
        type=_platform,
        metavar="OS_ARCH",
        help="platform to lock; may be repeated (default: those that the policy requires, else this machine's)",
    )
    add("--check", action="store_true", help="write nothing; exit 1 if the file would change")
    add(
        "--accept-republished",
        action="store_true",
        help="add hashes even if a locked package is no longer in the signed release",
    )
    add("--fs-mirror", metavar="DIR", help="use packages from a folder (not supported yet)")
    add("--net-mirror", metavar="URL", help="use packages from a network mirror (not supported yet)")
    add("--enable-plugin-cache", action="store_true", help=argparse.SUPPRESS)
    _add_shared(parser)
    options = parser.parse_args(arguments)
    options.test_directory = "tests"
    for name in ("fs_mirror", "net_mirror", "enable_plugin_cache"):
        if getattr(options, name):
            raise NotSupportedYetError("--" + name.replace("_", "-"))
    return options


def _add_shared(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("scope and output").add_argument
    add_root_options(add, ".")
    add("--tool", choices=sorted(DIALECTS), help="tool whose rules apply (default: detected from the files)")
    add("--allow-missing-modules", action="store_true", help="continue without modules that cannot be read")
    add("--dry-run", action="store_true", help="write nothing; print the changes as a diff")
    add("--json", action="store_true", help="print events as JSON, one per line")
    add("--no-cache", action="store_true", help="neither read nor write the cache")
    add("--verbose", action="store_true", help="list each request")


def _flag(text: str) -> bool:
    if text.lower() in {"1", "t", "true"}:
        return True
    if text.lower() in {"0", "f", "false"}:
        return False
    raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")


def _platform(text: str) -> str:
    from locklens.addresses import Platform

    try:
        return str(Platform.parse(text))
    except ValueError:
        words = f"invalid target platform {text!r}: must be two words separated by an underscore"
        raise argparse.ArgumentTypeError(words) from None
