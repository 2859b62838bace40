"""`health`: the checks of all root modules below a folder."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from locklens.cli.options import Parser, given_tool, network_of
from locklens.cli.output import DONE, FINDINGS, deliver, has_terminal, no_terminal, takes_colour, tell
from locklens.cli.review import add_reading_options, check_reading, request_of, require_signatures
from locklens.errors import ConfigurationError, UsageError
from locklens.operations.reports import formats_of, render_report

if TYPE_CHECKING:
    from argparse import Namespace

    from locklens.cli.review import OpenUi


def add_health_options(parser: Parser) -> None:
    """Add the options of `health`."""
    parser.begin(
        "Check every root module below a folder, and count the roots that each check concerns.",
        "[OPTION...] [DIR] [-- ROOT...]",
        _run_health,
        _check_health,
    )
    words = "folder to search: the files that git does not ignore, or without git all"
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help=f"{words} (default: the current one)")
    add_reading_options(parser, ("tui", *formats_of("health")))


def _check_health(options: Namespace) -> None:
    if options.format == "tui" and options.root:
        raise UsageError("the screen shows all roots", hint="use --format text for some of them")
    check_reading(options)
    if options.prove != "none":
        raise UsageError("health downloads no packages", hint="locklens hashes --prove all hashes them")


def _run_health(options: Namespace, open_ui: OpenUi) -> int:
    """Open the screen, or report the health of a folder."""
    is_drawn = has_terminal() and not options.output and not options.root
    if options.format == "tui" or (options.format is None and is_drawn):
        return _open_screen(options, open_ui)
    from locklens.operations.health.scan import HealthRequest, scan_health

    require_signatures()
    started = perf_counter()
    network = network_of(options)
    log: list[str] = []
    with network.cache:
        request = HealthRequest(
            Path(options.folder),
            options.folder,
            roots=tuple(options.root),
            tool=given_tool(options),
            test_directory=options.test_directory,
            network=network,
            policy=Path(options.policy) if options.policy else None,
        )
        health = scan_health(request, on_log=log.extend)
    if options.verbose:
        tell([*log, f"scanned {len(health.review.roots)} roots in {perf_counter() - started:.3f} s"])
    text = render_report(
        "health",
        options.format or "text",
        health,
        colour=takes_colour(options.output),
        lists_roots=options.list_roots,
        fail_on=options.fail_on,
    )
    deliver(text, options.output)
    return FINDINGS if health.fails(options.fail_on) else DONE


def _open_screen(options: Namespace, open_ui: OpenUi) -> int:
    from locklens.operations.compare import open_locked
    from locklens.operations.comparison import Base

    if not has_terminal():
        raise no_terminal()
    try:
        os.chdir(options.folder)
    except OSError as error:
        raise ConfigurationError(f"cannot work in the folder: {error.strerror}", path=options.folder) from error
    base = Base()
    opened = partial(open_locked, Path.cwd(), base=base)
    return open_ui(request_of(options, opened, network_of(options), base), "health")
