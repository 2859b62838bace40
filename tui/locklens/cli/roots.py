"""The options that select roots, alike for all commands."""

from __future__ import annotations

from locklens.cli.arguments import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

ROOTS_USAGE = "[-- ROOT...]"


def add_root_options(add: Callable[..., object], default: str) -> None:
    """Add --root and --all-roots to a group of options; `default` names the roots that are used without them."""
    add(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help=f"folder of a root module, or a glob such as 'live/*'; may be repeated, the same as -- ROOT (default: "
        f"{default})",
    )
    add("--all-roots", action="store_true", help="every folder of the repository with a lock file")


def take_operands(options: argparse.Namespace, operands: Sequence[str]) -> None:
    """Add the words behind `--` to the roots.

    Raises:
        UsageError: Roots are named beside --all-roots.
    """
    options.root = [*options.root, *operands]
    if options.all_roots and options.root:
        raise UsageError("--all-roots takes no --root and no ROOT")


def expand_roots(options: argparse.Namespace) -> None:
    """Replace globs, and --all-roots, by the roots that they select.

    Raises:
        ConfigurationError: A glob matches no root.
        RepositoryError: Globs and --all-roots need a git repository.
    """
    names, selects_all = getattr(options, "root", []), getattr(options, "all_roots", False)
    if not selects_all and not any(character in name for name in names for character in "*?["):
        return
    from pathlib import Path

    from locklens.operations.root_selection import select_roots

    options.root = list(select_roots(Path.cwd(), names, selects_all=selects_all))
