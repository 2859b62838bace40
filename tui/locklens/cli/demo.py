"""`demo`: the sample repository beside its own registry, or that registry alone."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli import DONE, put
from locklens.cli.commands import read_options
from locklens.cli.options import Parser, network_of
from locklens.cli.review import add_reading_options, check_reading, format_of, request_of, show
from locklens.errors import ConfigurationError, UsageError
from locklens.operations.reports import formats_of
from locklens.text import page

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from locklens.cli.review import OpenUi
    from locklens.demo.faults import FaultRule
    from locklens.demo.published import MetadataFolder
    from locklens.demo.registry import DemoRegistry
    from locklens.operations.doctor import DoctorRequest
    from locklens.operations.review.request import ReviewRequest
    from locklens.releases import NetworkSettings

_PREFIX = "locklens-demo-"
_REPOSITORY = "infrastructure"


def add_demo_options(parser: Parser) -> None:
    """Add the options of `demo`."""
    from locklens.demo.faults import Fault, Step
    from locklens.doctor.model import CauseId

    parser.begin("Open the review of a sample repository.", "[OPTION...]", _run_demo, _check_demo)
    group = parser.group("sample registry")
    group.flag("--serve", "serve the registry, and print how to use it with any tool")
    words = "port to listen on; with --serve (default: any free port)"
    group.add("--port", type=int, default=0, metavar="N", help=words)
    words = "milliseconds before each answer; with --serve (default: 0)"
    group.add("--delay", type=int, default=0, metavar="MS", help=words)
    words = "fault to inject, such as slow:sums=acme/demo, or none; with --serve (default: the sample's own)"
    words = f"{words}; FAULT: {', '.join(Fault)}; STEP: {', '.join(Step)}"
    group.add("--fault", action="append", metavar="FAULT[:STEP][=PROVIDER[@VERSION]]", help=words)
    words = "metadata files in the OpenTofu registry's layout to serve as that registry; with --serve (default: none)"
    group.add("--metadata", metavar="DIR", help=words)
    words = f"diagnose a sample incident, on the Doctor screen or as text: {', '.join(sorted(CauseId))} (default: none)"
    group.add("--incident", metavar="CAUSE", help=words)
    add_reading_options(parser, ("tui", *formats_of("review")), roots="")


def _check_demo(options: Namespace) -> None:
    if options.incident and options.serve:
        raise UsageError("--incident and --serve cannot be used together")
    if not options.serve and (options.port or options.delay or options.fault or options.metadata):
        raise UsageError("--port, --delay, --fault and --metadata require --serve")
    check_reading(options)


_PRINTED = frozenset({"json", "markdown"})
"""The formats of a review that a diagnosis has too; it is printed as text for the others."""


def _run_demo(options: Namespace, open_ui: OpenUi) -> int:
    """Review the sample repository, with the sample registry as its only one."""
    from locklens.demo.incidents import make_repository
    from locklens.demo.serving import (
        SAMPLE_RULES,
        environment,
        sample_advisories,
        write_cli_configuration,
        write_places,
    )

    if options.serve:
        return _serve(options)
    if options.incident:
        return _incident(options, open_ui)
    with _sample(SAMPLE_RULES) as (folder, registry):
        top = make_repository(folder / _REPOSITORY)
        configuration = write_cli_configuration(registry, folder, write_places(folder, top))
        network = network_of(options, {**os.environ, **environment(configuration)}, folder / "cache.sqlite3")
        with sample_advisories(folder):
            return show(_request(options, network, top), options, "review", open_ui)


def _incident(options: Namespace, open_ui: OpenUi) -> int:
    """Diagnose a sample incident, with its registry: on the Doctor screen, or as `locklens doctor` prints it."""
    from msgspec.structs import replace

    from locklens.cli.doctor import doctor_request, run_doctor
    from locklens.demo.incidents import incident_environment, make_incident, sample_incidents
    from locklens.demo.serving import environment, write_cli_configuration

    incidents = {incident.cause: incident for incident in reversed(sample_incidents())}
    if options.incident not in incidents:
        raise UsageError(f"unknown incident {options.incident!r}", hint=f"incidents: {', '.join(sorted(incidents))}")
    incident, before = incidents[options.incident], Path.cwd()
    form = format_of(options)
    with _sample(incident.rules) as (name, registry):
        folder = name.resolve()
        variables = environment(write_cli_configuration(registry, folder))
        top = make_incident(incident, folder / _REPOSITORY)
        variables |= incident_environment(incident, top)
        if form == "tui":
            told = read_options("doctor", [*incident.options, "ci.log"])
            environ = {**os.environ, **variables}
            network = network_of(options, environ, folder / "cache.sqlite3")
            diagnosed = doctor_request(told, (top / "ci.log").read_bytes(), top, environ, network)
            diagnosed = replace(diagnosed, prove="none")  # The screen downloads nothing before it said how much.
            return show(_request(options, network, top, diagnosed), options, "doctor", open_ui)
        os.environ.update(variables)
        os.chdir(top)
        try:
            words = ["--no-cache", "--format", form if form in _PRINTED else "text", *["--all"] * options.all]
            return run_doctor(read_options("doctor", [*incident.options, *words, "ci.log"]))
        finally:
            os.chdir(before)


def _request(
    options: Namespace, network: NetworkSettings, top: Path, diagnosed: DoctorRequest | None = None
) -> ReviewRequest:
    from msgspec.structs import replace

    from locklens.operations.compare import open_git
    from locklens.operations.comparison import Base

    request = request_of(options, partial(open_git, top), network, Base())
    return replace(request, folder=top, diagnosed=diagnosed, is_demo=True)


@contextmanager
def _sample(rules: tuple[FaultRule, ...]) -> Iterator[tuple[Path, DemoRegistry]]:
    """Make a folder for a sample repository, serve a registry with faults, and remove both at the end."""
    from locklens.demo.faults import Faults
    from locklens.demo.registry import DemoRegistry
    from locklens.storage.journal import Journal

    with _temporary_folder() as folder, DemoRegistry(faults=Faults(rules)) as registry:
        try:
            yield folder, registry
        finally:
            with suppress(OSError):
                Journal().forget(folder.resolve() / _REPOSITORY)  # It is deleted: its writes cannot be undone.


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Make a folder for a block that a closed terminal and a plain kill end like an exit, and delete it afterwards.

    Signals are ignored while it is deleted, which may take longer than the second after which `interruptible` sends
    another interrupt.
    """

    def end(number: int, _: object) -> None:
        for each in ends:
            signal.signal(each, signal.SIG_IGN)  # a second one must not stop what ends before the deletion
        raise SystemExit(128 + number)

    folder = tempfile.TemporaryDirectory(prefix=_PREFIX)
    is_main = threading.current_thread() is threading.main_thread()  # only the main thread may set handlers
    ends = [getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if is_main and hasattr(signal, name)]
    before = {each: signal.signal(each, end) for each in ends}
    try:
        yield Path(folder.name)
    finally:
        if is_main:
            before[signal.SIGINT] = signal.getsignal(signal.SIGINT)
        for each in before:
            signal.signal(each, signal.SIG_IGN)
        try:
            folder.cleanup()
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def _serve(options: Namespace) -> int:
    """Serve the sample registry until it is interrupted."""
    from locklens.demo.faults import Faults, parse_rule
    from locklens.demo.registry import DemoRegistry
    from locklens.demo.serving import SAMPLE_RULES, serving_lines, write_cli_configuration

    try:
        rules = tuple(parse_rule(fault) for fault in options.fault or () if fault != "none")
    except ValueError as error:
        raise UsageError(f"--fault: {error}") from error
    metadata = _metadata(Path(options.metadata)) if options.metadata else None
    if not options.fault and metadata is None:
        rules = SAMPLE_RULES  # Of metadata files there is an OpenTofu registry that answers.
    registry = DemoRegistry(faults=Faults(rules), delay=options.delay / 1000, metadata=metadata)
    with _temporary_folder() as folder:
        try:
            registry.start(options.port)
        except (OSError, OverflowError) as error:
            words = f"port {options.port} cannot be used: {error}"
            raise ConfigurationError(words, hint="name another --port") from error
        try:
            configuration = write_cli_configuration(registry, folder)
            put(page(serving_lines(registry, configuration, has_sample_faults=not options.fault)))
            threading.Event().wait()
        except KeyboardInterrupt:
            pass  # The usual end.
        finally:
            registry.stop()
    return DONE


def _metadata(folder: Path) -> MetadataFolder:
    from locklens.demo.published import MetadataFolder

    try:
        return MetadataFolder(folder)
    except OSError as error:
        words = "no metadata file providers/N/NAMESPACE/TYPE.json"
        hint = "name the folder of a clone of the registry"
        raise ConfigurationError(words, path=str(folder), hint=hint) from error
