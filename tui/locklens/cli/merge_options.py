"""The options of `merge`, `textconv` and `git`."""

from __future__ import annotations

from locklens.cli.arguments import UsageError
from locklens.cli.common_options import add_event_options, add_tool_options
from locklens.cli.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

_MARKER_SIZES = range(1, 101)
"""git's attribute conflict-marker-size is a small number; a huge one would only fill the file."""


def read_merge_options(command: str, arguments: Sequence[str], operands: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of one of the three commands.

    Raises:
        UsageError: They are invalid.
    """
    parser = {"merge": _merge, "textconv": _textconv, "git": _git}[command]()
    # A file's name may begin with a dash: behind `--` it is no option.
    options = parser.parse_args([*arguments, "--", *operands] if operands else arguments)
    if command == "merge":
        _check_merge(options)
    size = getattr(options, "marker_size", None)
    if size is not None and size not in _MARKER_SIZES:
        raise UsageError(f"invalid marker size {size}", hint=f"from {_MARKER_SIZES[0]} to {_MARKER_SIZES[-1]}")
    return options


def _merge() -> Parser:
    parser = Parser("merge", "Merge three lock files block by block, into the second: git's merge driver.")
    parser.usage = "locklens merge [OPTION...] BASE OURS THEIRS\n       locklens merge [OPTION...] --root DIR..."
    parser.add_argument("base", nargs="?", metavar="BASE", help="common ancestor; an empty file for none (git: %%O)")
    parser.add_argument("ours", nargs="?", metavar="OURS", help="side that receives the result (git: %%A)")
    parser.add_argument("theirs", nargs="?", metavar="THEIRS", help="other side (git: %%B)")
    parser.add_argument("--path", metavar="NAME", help="name of the file in messages (git: %%P; default: OURS)")
    parser.add_argument(
        "--marker-size", metavar="N", type=int, help="characters of a conflict marker (git: %%L; default: 7)"
    )
    words = (
        "entry to take where both sides changed it: that of a side, or of two versions the newer, if it satisfies the "
        "recorded constraints of both sides (default: conflict)"
    )
    parser.add_argument("--prefer", choices=["ours", "theirs", "newest"], help=words)
    for side, letter in (("ours", "X"), ("theirs", "Y")):
        words = (
            f"name of {side} in conflict markers (git since 2.44: %%{letter}; default: that of git merge, else {side})"
        )
        parser.add_argument(f"--{side}-name", metavar="NAME", default="", help=words)
    add = parser.add_argument_group("lock files that git left in conflict").add_argument
    add(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help="folder of the root module whose lock file to merge; may be repeated (default: none)",
    )
    add_tool_options(add)
    add_event_options(add)
    return parser


def _check_merge(options: argparse.Namespace) -> None:
    files = [options.base, options.ours, options.theirs]
    if options.root and (any(files) or options.path or options.marker_size is not None):
        raise UsageError("--root merges lock files of the work tree: no BASE, OURS, THEIRS, --path or --marker-size")
    if not options.root and None in files:
        missing = ", ".join(name for name in ("BASE", "OURS", "THEIRS") if getattr(options, name.lower()) is None)
        hint = "or --root for a lock file that git left in conflict"
        raise UsageError(f"the following arguments are required: {missing}", hint=hint)
    if not options.root and (options.dry_run or options.json or options.tool):
        raise UsageError("--dry-run, --json and --tool require --root")


def _textconv() -> Parser:
    parser = Parser("textconv", "Print a lock file in the form that git diff compares, with zh hashes folded.")
    parser.usage = "locklens textconv FILE"
    parser.add_argument("file", metavar="FILE", help="lock file")
    return parser


def _git() -> Parser:
    parser = Parser("git", "Set git up to merge and to show lock files with locklens, in this repository.")
    parser.usage = "locklens git install|uninstall [OPTION...]"
    parser.add_argument(
        "action", choices=["install", "uninstall"], metavar="install|uninstall", help="write the set-up, or remove it"
    )
    parser.add_argument("--private", action="store_true", help="attributes in .git/info, not in .gitattributes")
    parser.add_argument("--dry-run", action="store_true", help="list the changes, and write nothing")
    return parser
