"""`mirror` as a command: options to a request, and its result to text and an exit status."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.addresses import Platform
from locklens.cli.install_progress import InstallProgress, JsonProgress, Wording
from locklens.cli.output import DONE, FINDINGS, put, tell
from locklens.cli.planning import scope_of
from locklens.operations.mirror import MirrorRequest, fill_mirror
from locklens.releases.facts import NetworkSettings
from locklens.storage.cache import Cache
from locklens.text import counted, json_text, page, visible

if TYPE_CHECKING:
    from argparse import Namespace


def run_mirror(options: Namespace) -> int:
    """Fill a mirror's folder, and return the exit status."""
    request = MirrorRequest(
        scope_of(options),
        Path(options.folder).absolute(),
        tuple(dict.fromkeys(map(Platform.parse, options.platform))),
        prunes=options.prune,
        allows_missing=options.allow_missing_modules,
        ignores_locks=not options.lock_file,
    )
    progress = JsonProgress() if options.json else InstallProgress(Wording.WRITE, is_alone=True)
    progress.begin(None)
    with Cache.in_memory() if options.no_cache else Cache() as cache:
        settings = NetworkSettings(os.environ, cache, asks_all=True)
        try:
            result = fill_mirror(request, settings, on_event=progress.take, on_waiting=progress.wait)
        finally:
            progress.end()
        tell(f"note: {words}" for words in (*result.notes, *cache.take_notices()))
    if options.verbose:
        tell(result.log)
    if options.json:
        facts = {"packages": result.packages, "removed": list(result.removed), "failures": len(result.failures)}
        put(json_text({"type": "outcome", "root": None, **facts}, indent=None))
    else:
        lines = [f"removed {visible(name)}" for name in result.removed]
        if not result.failures:
            lines.append(f"Success! {counted(result.packages, 'package')} in {visible(options.folder)}.")
        put(page(lines))
    progress.report(result.failures)
    return FINDINGS if result.failures else DONE
