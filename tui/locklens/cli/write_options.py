"""The options of `upgrade`, `prune`, `restore`, `format`, `stage` and `undo`."""

from __future__ import annotations

from locklens.cli.arguments import UsageError
from locklens.cli.common_options import (
    ROOTS_USAGE,
    add_event_options,
    add_platforms_option,
    add_request_options,
    add_root_options,
    add_tool_options,
    refuse_operands,
    take_operands,
)
from locklens.cli.mirror_options import add_mirror_options, check_mirror_options
from locklens.cli.parser import Parser
from locklens.operations.reports import formats_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

_ABOUT = {
    "upgrade": "Upgrade the selected providers; other entries of the lock file are left untouched.",
    "prune": "Remove orphans from the lock file: providers that nothing requires.",
    "restore": "Restore providers' entries from the lock file of a revision.",
    "format": "Write the lock file in its tool's format: order, spacing, line ends. Comments are lost.",
    "stage": "Stage the changed blocks of providers, as git add -p would; other changes stay in the work tree.",
    "undo": "Revert the last write in the repository, made by a command or on the screen; a second undo reverts the "
    "one before. --redo applies an undone write again. If a file changed since, it is named and nothing is reverted.",
}


def read_write_options(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of a command.

    Raises:
        UsageError: They are invalid.
    """
    parser = Parser(command, _ABOUT[command])
    words = {
        "upgrade": " [PROVIDER[=VERSION]...]",
        "prune": " [PROVIDER...]",
        "restore": " PROVIDER...",
        "format": "",
        "stage": " [PROVIDER...]",
        "undo": " [ID]",
    }
    roots = f" {ROOTS_USAGE}" if command != "undo" else ""
    parser.usage = f"locklens {command} [OPTION...]{words[command]}{roots}"
    if command == "upgrade":
        help_text = "such as aws or hashicorp/aws=5.2.0 (default: all locked providers that are required)"
        parser.add_argument("providers", nargs="*", metavar="PROVIDER[=VERSION]", help=help_text)
        _add_upgrade(parser)
    elif command == "prune":
        help_text = "provider to remove, even if part of the configuration cannot be read (default: all orphans)"
        parser.add_argument("providers", nargs="*", metavar="PROVIDER", help=help_text)
    elif command == "stage":
        help_text = "provider whose block to stage (default: every changed one)"
        parser.add_argument("providers", nargs="*", metavar="PROVIDER", help=help_text)
    elif command == "restore":
        parser.add_argument(
            "providers",
            nargs="+",
            metavar="PROVIDER",
            help="provider to restore; removed if it is not locked in the revision",
        )
        parser.add_argument_group("operation").add_argument(
            "--from", dest="revision", default="HEAD", metavar="REV", help="revision to restore from (default: HEAD)"
        )
    if command == "undo":
        parser.add_argument("write", nargs="?", default="", metavar="ID", help="write to revert (default: the last)")
        add = parser.add_argument_group("operation").add_argument
        add("--list", action="store_true", help="write nothing; list the applied writes with their time and files")
        add("--redo", action="store_true", help="apply an undone write again")
    add = parser.add_argument_group("scope and output").add_argument
    if command != "undo":
        add_root_options(add, "the current folder")
        add_tool_options(add)
    add_event_options(add)
    if command == "upgrade":
        add_request_options(add)
    options = parser.parse_args(arguments)
    if command == "undo":
        refuse_operands(command, operands)
    else:
        take_operands(options, operands)
    if command == "upgrade":
        _check_upgrade(options)
    return options


def _check_upgrade(options: argparse.Namespace) -> None:
    if options.safe and options.list:
        raise UsageError("--list and --safe cannot be used together", hint="--list writes nothing, --safe writes")
    if (options.safe or options.list) and (options.providers or options.platform or options.edit_constraints):
        raise UsageError("--list and --safe take no PROVIDER, --platform or --edit-constraints")
    check_mirror_options(options)
    if (options.safe or options.list) and (options.fs_mirror or options.net_mirror):
        raise UsageError("--list and --safe ask registries, and take no --fs-mirror or --net-mirror")
    if options.format and not options.list:
        raise UsageError("--format requires --list", hint="--json prints events as JSON")
    if options.list and (options.dry_run or options.json):
        raise UsageError("--list writes nothing, and takes no --dry-run or --json", hint="use --format json")
    if options.include_major and not (options.safe or options.list):
        raise UsageError("--include-major requires --list or --safe", hint="upgrade PROVIDER takes majors in range")


def _add_upgrade(parser: Parser) -> None:
    add = parser.add_argument_group("operation").add_argument
    add_platforms_option(add, "platform to lock", "those of the policy, and those locked now, where known")
    add("--list", action="store_true", help="write nothing; list the available versions, and what holds them back")
    add("--format", choices=formats_of("upgrade"), help="format of --list (default: text)")
    add(
        "--safe",
        action="store_true",
        help="upgrade what is eligible: in range, past the cooldown, no major version, and of the same signer",
    )
    add("--ignore-cooldown", action="store_true", help="select releases of any age, and say so")
    add("--include-major", action="store_true", help="with --list or --safe: major versions are eligible too")
    add_mirror_options(add)
    add("--edit-constraints", action="store_true", help="rewrite constraints of local modules that exclude the version")
    add("--allow-missing-modules", action="store_true", help="continue without modules that cannot be read")
