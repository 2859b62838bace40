"""The options of `doctor`."""

from __future__ import annotations

from locklens.cli.arguments import UsageError
from locklens.cli.parser import Parser
from locklens.cli.roots import ROOTS_USAGE, add_root_options, take_operands

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

INSTALL_PATHS = ("direct", "plugin-cache", "packed-mirror", "unpacked-mirror", "network-mirror", "installed")


def read_doctor_options(arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of the command.

    Raises:
        UsageError: They are invalid, or contradict one another.
    """
    parser = Parser(
        "doctor",
        "Find out why init or lock failed: read the log of the failing run, test each known cause, and name fixes. "
        "Without a log, examine the root in the current folder. Nothing is written.",
    )
    parser.usage = f"locklens doctor [OPTION...] [FILE|-] {ROOTS_USAGE}"
    parser.add_argument("log", nargs="?", metavar="FILE", help="log of the failing run; - for standard input")
    add = parser.add_argument_group("facts of the failing run").add_argument
    add("--platform", metavar="OS_ARCH", default="", help="its platform (default: as the log says)")
    add("--tool", choices=["terraform", "opentofu"], help="the tool (default: as the log or the root says)")
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
    add_root_options(
        parser.add_argument_group("scope").add_argument, "the current folder's, else those with the failing entry"
    )
    add = parser.add_argument_group("common options").add_argument
    add("--format", choices=["text", "json", "markdown"], default="text", help="format of the result (default: text)")
    add("--output", metavar="FILE", help="write the result to a file (default: standard output)")
    add("--test-directory", metavar="DIR", default="tests", help="folder of test files in each root (default: tests)")
    add("--offline", action="store_true", help="ask no registry; use cached answers only")
    add("--verbose", action="store_true", help="list each request, and the time that the run took")
    add(
        "--ask-host",
        metavar="HOST",
        action="append",
        default=[],
        help="another registry that may be asked; may be repeated (default: those of the settings)",
    )
    add(
        "--prove",
        choices=["none", "changed", "all"],
        default="none",
        help="download and hash packages of the release, to know their h1 (default: none)",
    )
    add("--no-cache", action="store_true", help="neither read nor write the cache")
    options = parser.parse_args(arguments)
    take_operands(options, operands)
    if options.platform:
        from locklens.addresses import Platform

        try:
            Platform.parse(options.platform)
        except ValueError as error:
            raise UsageError(f"--platform: {error}") from None
    return options
