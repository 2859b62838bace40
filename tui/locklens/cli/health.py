"""`locklens health`: the checks of all root modules below a folder."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from locklens.cli.output import DONE, FINDINGS, deliver, has_terminal, no_terminal, takes_colour, tell
from locklens.errors import ConfigurationError

if TYPE_CHECKING:
    from argparse import Namespace

    from locklens.cli.reading import OpenUi


def _open_screen(options: Namespace, open_ui: OpenUi) -> int:
    from locklens.cli.reading import asking_of, request_of
    from locklens.operations.compare_repository import open_locked
    from locklens.operations.comparison import Base

    if not has_terminal():
        raise no_terminal()
    try:
        os.chdir(options.folder)
    except OSError as error:
        raise ConfigurationError(f"cannot work in the folder: {error.strerror}", path=options.folder) from error
    base = Base()
    opened = partial(open_locked, Path.cwd(), base=base)
    return open_ui(request_of(options, opened, asking_of(options), base), "health")


def run_health(options: Namespace, open_ui: OpenUi) -> int:
    """Open the screen, or report the health of a folder."""
    is_drawn = has_terminal() and not options.output and not options.root
    if options.format == "tui" or (options.format is None and is_drawn):
        return _open_screen(options, open_ui)
    from locklens.cli.reading import asking_of, require_signatures
    from locklens.dialect import DIALECTS
    from locklens.operations.health.request import HealthRequest
    from locklens.operations.health.scan import scan_health
    from locklens.operations.reports import render_report

    require_signatures()
    started = perf_counter()
    asking = asking_of(options)
    log: list[str] = []
    with asking.cache:
        request = HealthRequest(
            Path(options.folder),
            options.folder,
            roots=tuple(options.root),
            tool=DIALECTS.get(options.tool),
            test_directory=options.test_directory,
            asking=asking,
            policy=Path(options.policy) if options.policy else None,
        )
        health = scan_health(request, on_log=log.extend)
    if options.verbose:
        tell([*log, f"scanned {len(health.review.roots)} roots in {perf_counter() - started:.3f} s"])
    colour = takes_colour(options.output)
    text = render_report(
        "health",
        options.format or "text",
        health,
        colour=colour,
        lists_roots=options.list_roots,
        fail_on=options.fail_on,
    )
    deliver(text, options.output)
    return FINDINGS if health.fails(options.fail_on) else DONE
