"""The options of `doctor`."""

from __future__ import annotations

from locklens.cli.arguments import UsageError
from locklens.cli.common_options import (
    ROOTS_USAGE,
    add_offline_options,
    add_output_options,
    add_prove_option,
    add_root_options,
    add_tool_options,
    platform_option,
    take_operands,
)
from locklens.cli.parser import Parser
from locklens.operations.reports import formats_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

INSTALL_PATHS = ("direct", "plugin-cache", "packed-mirror", "unpacked-mirror", "network-mirror", "installed")


def read_doctor_options(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of the command.

    Raises:
        UsageError: They are invalid, or contradict one another.
    """
    parser = Parser(
        command,
        "Find out why init or lock failed: read the log of the failing run, test each known cause, and name fixes. "
        "Without a log, examine the root in the current folder. Nothing is written.",
    )
    parser.usage = f"locklens doctor [OPTION...] [FILE|-] {ROOTS_USAGE}"
    parser.add_argument("log", nargs="?", metavar="FILE", help="log of the failing run; - for standard input")
    add = parser.add_argument_group("facts of the failing run").add_argument
    add("--platform", metavar="OS_ARCH", type=platform_option, help="its platform (default: as the log says)")
    add("--tool-version", metavar="VERSION", default="", help="its version (default: as the log says)")
    add("--install-path", choices=INSTALL_PATHS, help="the origin of the package (default: as the message says)")
    add(
        "--package",
        metavar="PATH|HASH",
        default="",
        help="its package: a folder, a zip file, or a hash (default: none)",
    )
    add(
        "--mirror",
        metavar="DIR",
        action="append",
        default=[],
        help="folder of a mirror to look in; may be repeated (default: the settings')",
    )
    add(
        "--plugin-cache",
        metavar="DIR",
        default="",
        help="the plugin cache to look in (default: the settings')",
    )
    add(
        "--provider",
        metavar="PROVIDER",
        default="",
        help="without a log, the only provider to examine (default: all of the root)",
    )
    add_root_options(
        parser.add_argument_group("scope").add_argument, "the current folder's, else those with the failing entry"
    )
    add = parser.add_argument_group("common options").add_argument
    add_output_options(add, formats_of(command), "text")
    add_tool_options(add, "as the log says, else detected for each root")
    add_prove_option(add)
    add_offline_options(add)
    options = parser.parse_args(arguments)
    take_operands(options, operands)
    if options.provider and options.log is not None:
        raise UsageError("--provider is for roots without a log: the log names its provider")
    return options
