"""`verify` as a command: options to a request, and its result to a report and an exit status."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli.output import DONE, FINDINGS, deliver, tell
from locklens.dialect import DIALECTS
from locklens.operations.reports import render_report
from locklens.operations.verification.model import PackageVerdict
from locklens.operations.verification.verify import verify
from locklens.operations.write.diagnostics import RootOptions
from locklens.releases.facts import NetworkSettings
from locklens.storage.cache import Cache

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from locklens.operations.verification.model import PackageVerification


def run_verify(options: Namespace) -> int:
    """Verify the packages of all roots, and return the exit status."""
    root_options = RootOptions(Path.cwd(), os.environ, DIALECTS.get(options.tool), options.test_directory)
    with Cache.in_memory() if options.no_cache else Cache() as cache:
        hosts, is_offline = tuple(options.ask_host), options.offline
        settings = NetworkSettings(os.environ, cache, hosts, is_offline=is_offline, is_fresh=not is_offline)
        found = verify(tuple(options.root), root_options, settings)
        notices = cache.take_notices()
    tell(f"warning: {words}" for words in found.tracked)
    tell(f"note: {words}" for words in (*found.notes, *notices))
    tell(f"error: {failure.sentence}" for failure in found.failures)
    if options.verbose:
        tell(found.log)
    deliver(render_report("verify", options.format, found, lists_all=options.all), options.output)
    if options.format == "text":
        tell(_next_step(found))
    return FINDINGS if found.has_failed else DONE


def _next_step(found: PackageVerification) -> Iterator[str]:
    """Return the command for the first package that differs; it examines one provider of one root."""
    first = next((one.place for one in found.packages if one.verdict is PackageVerdict.DIFFERS), None)
    if first is not None:
        root = f" -- {shlex.quote(first.root)}" if first.root not in {None, "", "."} else ""
        name = shlex.quote(str(first.address))
        yield f"hint: locklens doctor --provider {name}{root} names the cause, and how to replace the package"
