"""`locklens health`: the checks of all root modules below a folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from locklens.cli.output import DONE, FINDINGS, deliver, is_terminal, tell

if TYPE_CHECKING:
    from argparse import Namespace


def run_health(options: Namespace) -> int:
    """Report the health of a folder."""
    from locklens.cli.reading import asking_of
    from locklens.dialect import DIALECTS
    from locklens.operations.health.request import HealthRequest
    from locklens.operations.health.scan import scan_health
    from locklens.operations.reports import render_report

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
    colour = not options.output and is_terminal(sys.stdout) and not os.environ.get("NO_COLOR")
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
