"""The options of `upgrade`, `prune`, `restore`, `format` and `undo`."""

from __future__ import annotations

from locklens.cli.arguments import UsageError
from locklens.cli.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

_ABOUT = {
    "upgrade": "Move the chosen providers, and leave every other block of the lock file as it is.",
    "prune": "Remove from the lock file what nothing requires.",
    "restore": "Take providers' blocks from the lock file of a revision.",
    "format": "Write the lock file as its tool does: order, spacing, line ends. Comments are lost.",
    "undo": "Take back what was written last in the repository: by any of these commands, or on the screen. Once more "
    "does it again. A file that changed since is named, and then nothing is taken back.",
}


def read_write_options(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Reads the arguments of a command.

    Raises:
        UsageError: They cannot be understood.
    """
    parser = Parser(command, _ABOUT[command])
    words = {
        "upgrade": " [PROVIDER[=VERSION]...]",
        "prune": " [PROVIDER...]",
        "restore": " PROVIDER...",
        "format": "",
        "undo": "",
    }
    parser.usage = f"locklens {command} [OPTION...]{words[command]}"
    if command == "upgrade":
        help_text = "e.g. aws or hashicorp/aws=5.2.0 (default: all that are locked and required)"
        parser.add_argument("providers", nargs="*", metavar="PROVIDER[=VERSION]", help=help_text)
        _add_upgrade(parser)
    elif command == "prune":
        help_text = "remove these, also where not all that may require them can be read (default: all orphans)"
        parser.add_argument("providers", nargs="*", metavar="PROVIDER", help=help_text)
    elif command == "restore":
        parser.add_argument("providers", nargs="+", metavar="PROVIDER", help="what is not locked there is removed")
        parser.add_argument("--from", dest="revision", default="HEAD", metavar="REV", help="default: HEAD")
    add = parser.add_argument_group("where, and how it is told").add_argument
    if command != "undo":
        add("--root", action="append", default=[], metavar="DIR", help="a root module; may be repeated (default: .)")
        add("--tool", choices=["opentofu", "terraform"], help="whose rules count (default: found out from the files)")
        add("--test-directory", default="tests", metavar="DIR", help="where test files are (default: tests)")
    add("--dry-run", action="store_true", help="write nothing, and print what would change as a diff")
    add("--json", action="store_true", help="print what happens as JSON, one event per line")
    found = parser.parse_args([*arguments, *operands])
    if command == "upgrade":
        _check_upgrade(found)
    return found


def _check_upgrade(found: argparse.Namespace) -> None:
    if found.safe and found.list:
        raise UsageError("--list writes nothing, and --safe writes", hint="use one of them")
    if (found.safe or found.list) and (found.providers or found.platform or found.edit_constraints):
        raise UsageError("--list and --safe go without PROVIDER, --platform and --edit-constraints")
    if found.format and not found.list:
        raise UsageError("--format goes with --list", hint="--json prints what happens as JSON")
    if found.list and (found.dry_run or found.json):
        raise UsageError("--list writes nothing: no --dry-run, no --json", hint="use --format json")
    if found.ignore_cooldown and not (found.safe or found.list):
        raise UsageError("--ignore-cooldown goes with --list and --safe")


def _add_upgrade(parser: Parser) -> None:
    add = parser.add_argument_group("what is done").add_argument
    add(
        "--platform",
        action="append",
        default=[],
        metavar="OS_ARCH",
        help="lock it for this platform; may be repeated (default: those that are locked now, as far as known)",
    )
    add("--list", action="store_true", help="write nothing, and list which versions there are, and what blocks them")
    add("--format", choices=["text", "json"], help="of --list (default: text)")
    add("--safe", action="store_true", help="move what is in range, old enough, and signed as what is locked")
    add("--ignore-cooldown", action="store_true", help="releases of any age, with --list and --safe")
    add("--edit-constraints", action="store_true", help="rewrite constraints of local modules that are in the way")
    add("--allow-missing-modules", action="store_true", help="work on the modules that are there")
    add("--no-cache", action="store_true", help="remember nothing of earlier runs, and nothing for later ones")
    add("--verbose", action="store_true", help="list each request")
