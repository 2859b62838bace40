"""Options that several commands have: each is defined here once, with the same words in every help text."""

from __future__ import annotations

from locklens.cli.arguments import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

ROOTS_USAGE = "[-- ROOT...]"

DETECTED = "detected for each root"
"""The default of --tool where nothing but the files tells the tool."""


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


def add_tool_options(add: Callable[..., object], default: str = DETECTED) -> None:
    """Add --tool and --test-directory; `default` describes the tool that is used without the first."""
    add("--tool", choices=["terraform", "opentofu"], help=f"tool whose rules apply (default: {default})")
    add("--test-directory", metavar="DIR", default="tests", help="folder of test files in each root (default: tests)")


def add_output_options(add: Callable[..., object], formats: Sequence[str], default: str | None = None) -> None:
    """Add --format and --output; without a `default`, a terminal gets the screen and anything else text."""
    words = default or "tui on a terminal, text otherwise"
    add("--format", choices=formats, default=default, help=f"format of the result (default: {words})")
    add("--output", metavar="FILE", help="write the result to a file (default: standard output)")


def add_report_option(add: Callable[..., object]) -> None:
    """Add --report: files of a review beside its result."""
    words = "write the report to a file too, also where nothing could be reviewed; may be repeated (default: none)"
    add("--report", metavar="FORMAT=FILE", action="append", default=[], type=_report, help=words)


def add_offline_options(add: Callable[..., object], hosts: str = "those of the settings") -> None:
    """Add --offline, --ask-host and the options of every request; `hosts` names those that may be asked anyway."""
    add("--offline", action="store_true", help="ask no registry; use cached answers only")
    add(
        "--ask-host",
        metavar="HOST",
        action="append",
        default=[],
        type=_host,
        help=f"another registry that may be asked; may be repeated (default: {hosts})",
    )
    add_request_options(add)


def add_request_options(add: Callable[..., object]) -> None:
    """Add --no-cache and --verbose."""
    add("--no-cache", action="store_true", help="neither read nor write the cache")
    add("--verbose", action="store_true", help="list each request, and how long it took")


def add_prove_option(add: Callable[..., object]) -> None:
    """Add --prove."""
    words = "download and hash packages, to verify h1 hashes"
    add("--prove", choices=["none", "changed", "all"], default="none", help=f"{words} (default: none)")


def add_platforms_option(add: Callable[..., object], words: str, default: str) -> None:
    """Add --platform, which may be repeated; `words` describe a platform's part, `default` those used without it."""
    add(
        "--platform",
        metavar="OS_ARCH",
        action="append",
        default=[],
        type=platform_option,
        help=f"{words}; may be repeated (default: {default})",
    )


def add_event_options(add: Callable[..., object], *, has_dry_run: bool = True) -> None:
    """Add --dry-run and --json, the options of every command that writes."""
    if has_dry_run:
        add("--dry-run", action="store_true", help="write nothing; print the changes as a diff")
    add("--json", action="store_true", help="print events as JSON, one per line")


def _report(text: str) -> tuple[str, str]:
    """Return the format and the file of a report.

    Raises:
        ArgumentTypeError: There is no such format, or no file.
    """
    import argparse

    from locklens.operations.reports import formats_of

    form, _, file = text.partition("=")
    known = formats_of("review")
    if form not in known or not file:
        raise argparse.ArgumentTypeError(f"invalid report {text!r}: expected FORMAT=FILE with {', '.join(known)}")
    return form, file


def _host(text: str) -> str:
    """Return a host in its canonical form.

    Raises:
        ArgumentTypeError: It is invalid.
    """
    import argparse

    from locklens.addresses import read_host

    try:
        return read_host(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"invalid host {text!r}: {error}, e.g. registry.example.com") from None


def platform_option(text: str) -> str:
    """Return a platform in its canonical form.

    Raises:
        ArgumentTypeError: It is invalid.
    """
    import argparse

    from locklens.addresses import Platform

    try:
        return str(Platform.parse(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def refuse_operands(command: str, operands: Sequence[str]) -> None:
    """Refuse words behind `--`, for a command without roots.

    Raises:
        UsageError: There is one.
    """
    if operands:
        raise UsageError(f"unexpected argument {operands[0]!r}", hint=f"see locklens {command} --help")


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
