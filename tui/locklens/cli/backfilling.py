"""`backfill` as a command: options to a request, and its result to a report and an exit status."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli.backfill_progress import BackfillProgress, failure_lines
from locklens.cli.output import DONE, FINDINGS, INTERRUPTED, deliver, tell
from locklens.operations.backfill.model import BackfillRequest, FetchSettings, Shard
from locklens.operations.backfill.run import backfill
from locklens.operations.reports import render_report

if TYPE_CHECKING:
    from argparse import Namespace

_LEAST_JOBS = 4


def run_backfill(options: Namespace) -> int:
    """Complete metadata files, and return the exit status."""
    request = BackfillRequest(
        tuple(Path(place) for place in options.places),
        Shard(*options.shard) if options.shard else None,
        options.size_key or "",
        options.jobs or max(_LEAST_JOBS, 2 * (os.cpu_count() or 1)),
        options.scheduler,
        FetchSettings(options.per_host, options.max_rate, options.max_requests, options.allow_loopback),
    )
    progress = BackfillProgress()
    try:
        found = backfill(request, is_dry_run=options.dry_run, on_event=progress.take)
    finally:
        progress.end()
    # Notes, and failures of packages, were reported as they occurred.
    tell(line for failure in found.failures if not failure.platform for line in failure_lines(failure))
    deliver(render_report("backfill", options.format, found), options.output)
    if found.is_interrupted:
        tell(["error: interrupted", "hint: run it again to continue: what is done is in the files"])
        return INTERRUPTED
    return FINDINGS if found.failures else DONE
