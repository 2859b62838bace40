"""`inspect`, `advisories` and `health`: what is inside packages, advisories about it, and the checks of all roots."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from locklens.cli import DONE, FINDINGS, UNUSABLE, deliver, has_terminal, no_terminal, takes_colour, tell
from locklens.cli.options import Parser, given_tool, network_of, platform_option, platforms_of
from locklens.cli.review import (
    ReviewProgress,
    add_reading_options,
    check_reading,
    format_of,
    request_of,
    require_signatures,
)
from locklens.errors import ConfigurationError, UsageError
from locklens.machine import work_in
from locklens.operations.reports import formats_of, report_pages
from locklens.text import counted, size_words

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from locklens.cli.review import OpenUi
    from locklens.operations.review.request import ProvingPlanned
    from locklens.review.inspection import Inspection

_ALL = "all"


def add_inspect_options(parser: Parser) -> None:
    """Add the options of `inspect`."""
    parser.begin(
        "Show what is inside the packages of a provider: the Go toolchain and its settings, the modules and notable "
        "packages that are linked, the files. With two versions, show what differs.",
        "[OPTION...] [PROVIDER...] [-- ROOT...]",
        _run_inspect,
        _check_inspect,
    )
    words = "such as aws, hashicorp/aws, or a full address; what several have in common is shown once"
    parser.add_argument("provider", nargs="*", metavar="PROVIDER", help=words)
    group = parser.group("packages")
    words = "older side, a version or a revision (default: HEAD, or what is locked now if --to is a version)"
    group.add("--from", dest="old", metavar="REV|VERSION", help=words)
    words = "newer side, a version or a revision (default: what is locked now)"
    group.add("--to", dest="new", metavar="REV|VERSION", help=words)
    words = "platform, or all; may be repeated (default: that of this machine)"
    group.add("--platform", metavar="OS_ARCH", action="append", default=[], type=_platform, help=words)
    words = "package on this machine, a zip file or a folder; twice for an older and a newer one (default: none)"
    group.add("--package", metavar="FILE", action="append", default=[], help=words)
    group = parser.group("scope and output")
    group.add_roots("every root of the repository")
    group.add_output(formats_of("inspect"))
    group.add_tool()
    group.add_offline("those of the base and of the settings")


def _platform(text: str) -> str:
    return text if text == _ALL else platform_option(text)


def _check_inspect(options: Namespace) -> None:
    if bool(options.package) == bool(options.provider):
        raise UsageError("inspect takes either a PROVIDER or --package", hint="see locklens inspect --help")
    if len(options.package) > 2:
        raise UsageError("--package can be given at most twice: for an older and a newer package")
    if options.package and (options.old or options.new or options.platform or options.root or options.all_roots):
        raise UsageError("--package takes no --from, --to, --platform or root")


def _run_inspect(options: Namespace) -> int:
    """Inspect packages; the exit status is 1 if one could not be inspected."""
    from locklens.review.inspection import Inspections

    inspections = (_inspect_files(options),) if options.package else _inspect_providers(options)
    notes = dict.fromkeys(note for one in inspections for note in (*_of_equal_sides(one, options), *one.notes))
    tell(f"note: {note}" for note in notes)
    if options.verbose:
        tell(line for one in inspections for line in one.log)
    shown = inspections[0] if len(inspections) == 1 else Inspections(inspections)
    deliver(report_pages("inspect", options.format, shown), options.output)
    return FINDINGS if any(one.has_failed for one in inspections) else DONE


def _of_equal_sides(inspection: Inspection, options: Namespace) -> Iterator[str]:
    """Say that what was to be compared is the same on both sides: the report is then of one side."""
    if options.old and len(inspection.packages) == 1:
        for one in inspection.packages[0][:1]:
            yield f"{one.address} has {one.version} on both sides: there is nothing to compare"


def _inspect_files(options: Namespace) -> Inspection:
    from locklens.operations.inspection.inspect import inspect_files

    return inspect_files([Path(name) for name in options.package])


def _inspect_providers(options: Namespace) -> tuple[Inspection, ...]:
    from locklens.cli.progress import InstallProgress, ProgressWording
    from locklens.operations.compare import open_locked
    from locklens.operations.inspection.inspect import InspectionRequest
    from locklens.operations.locklens import LockLens
    from locklens.operations.review.request import ReviewRequest

    network = network_of(options)
    roots = tuple(options.root)
    review = ReviewRequest(
        partial(open_locked, Path.cwd(), roots=roots),
        test_directory=options.test_directory,
        tool=given_tool(options),
        network=network,
    )
    requests = [
        InspectionRequest(
            provider,
            Path.cwd(),
            options.old,
            options.new,
            roots,
            None if _ALL in options.platform else platforms_of(options),
            tool=given_tool(options),
            test_directory=options.test_directory,
        )
        for provider in dict.fromkeys(options.provider)
    ]
    progress = InstallProgress(ProgressWording.PLAN, is_alone=True)
    with network.cache as cache:
        try:
            lens = LockLens(review)
            found = tuple(lens.inspect(one, confirm=_announce, on_event=progress.take) for one in requests)
        finally:
            progress.end()
        tell(f"note: {words}" for words in cache.take_notices())
    return found


def _announce(plan: ProvingPlanned) -> bool:
    """Name the packages that are downloaded next, with their size."""
    size = f", {size_words(plan.likely_bytes)}" if plan.likely_bytes is not None else ""
    tell([f"to download: {counted(plan.likely, 'package')}{size}: {', '.join(plan.labels)}"])
    return True


def add_advisories_options(parser: Parser) -> None:
    """Add the options of `advisories`."""
    words = "Show the database of advisories that inspect, review and health use; nothing is downloaded."
    parser.begin(words, "[OPTION...]", _run_advisories)
    parser.group("common options").add_output(formats_of("advisories"))


def add_advisories_update_options(parser: Parser) -> None:
    """Add the options of `advisories update`."""
    words = (
        "Read the Go vulnerability database, and keep it in one file, which replaces the earlier one. "
        "No other command downloads it."
    )
    parser.begin(words, "[FROM]", _run_update)
    default = "default: https://vuln.go.dev/vulndb.zip"
    words = "an address, a vulndb.zip, or a folder with its entries, such as data/osv of a clone of golang/vulndb"
    parser.add_argument("source", nargs="?", metavar="FROM", help=f"{words} ({default})")


def _run_advisories(options: Namespace) -> int:
    from locklens.operations.advisories import kept_advisories

    return deliver(report_pages("advisories", options.format, kept_advisories()), options.output)


def _run_update(options: Namespace) -> int:
    from locklens.operations.advisories import update_advisories

    kept = update_advisories(options.source, os.environ)
    return deliver(report_pages("advisories", "text", kept))


def add_health_options(parser: Parser) -> None:
    """Add the options of `health`."""
    parser.begin(
        "Check every root module below a folder, and count the roots that each check concerns.",
        "[OPTION...] [DIR] [-- ROOT...]",
        _run_health,
        _check_health,
    )
    words = "folder to search; in a git repository, without the files that git ignores"
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help=f"{words} (default: the current one)")
    add_reading_options(parser, ("tui", *formats_of("health")), roots="every root in or below DIR")


def _check_health(options: Namespace) -> None:
    check_reading(options)
    if options.prove != "none":
        raise UsageError("health downloads no packages", hint="locklens hashes --prove all hashes them")


def _run_health(options: Namespace, open_ui: OpenUi) -> int:
    """Open the screen, or report the health of a folder."""
    form = format_of(options)
    if form == "tui":
        return _open_screen(options, open_ui)
    from locklens.operations.health import HealthRequest, scan_health

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
        with ReviewProgress(is_verbose=False) as progress:
            health = scan_health(request, on_progress=partial(_tell_scanning, progress), on_log=log.extend)
    if options.verbose:
        tell([*log, f"scanned {len(health.review.roots)} roots in {perf_counter() - started:.3f} s"])
    report = report_pages(
        "health",
        form,
        health,
        colour=takes_colour(options.output),
        lists_roots=options.list_roots,
        fail_on=options.fail_on,
    )
    deliver(report, options.output)
    if health.fails(options.fail_on):
        return FINDINGS
    return DONE if health.review.roots else UNUSABLE


def _tell_scanning(progress: ReviewProgress, what: str, done: int, total: int) -> None:
    from locklens.operations.review.request import Progress

    progress.take(Progress("configuration" if what == "roots" else "evidence", done, total))


def _open_screen(options: Namespace, open_ui: OpenUi) -> int:
    from locklens.operations.compare import open_locked
    from locklens.operations.comparison import Base

    if not has_terminal():
        raise no_terminal()
    options.root = [os.path.abspath(root) for root in options.root]  # noqa: PTH100 - relative to the folder that is left
    try:
        work_in(options.folder)
    except OSError as error:
        raise ConfigurationError(f"cannot work in the folder: {error.strerror}", path=options.folder) from error
    base = Base()
    opened = partial(open_locked, Path.cwd(), base=base, roots=options.root)
    return open_ui(request_of(options, opened, network_of(options), base), "health")
