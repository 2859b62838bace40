"""`locklens demo`: the sample repository beside its own registry, or that registry alone."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.cli.arguments import UsageError
from locklens.cli.output import DONE, put
from locklens.cli.reading import asking_of, format_of, request_of, show
from locklens.demo.faults import Faults, parse_rule
from locklens.demo.published import MetadataFolder
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import SAMPLE_RULES, environment, serving_lines, write_cli_configuration
from locklens.errors import ConfigurationError
from locklens.storage.journal import Journal
from locklens.text import page

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from locklens.cli.reading import OpenUi

_PREFIX = "locklens-demo-"


def run_demo(options: Namespace, open_ui: OpenUi) -> int:
    """Review the sample repository, with the sample registry as its only one."""
    from locklens.demo.repository import make_repository
    from locklens.demo.serving import write_places
    from locklens.operations.compare_repository import open_git
    from locklens.operations.comparison import Base

    if options.serve:
        return _serve(options)
    if options.incident:
        return _incident(options, open_ui)
    options.old = options.new = None
    with (
        _ended_by_signals(),
        tempfile.TemporaryDirectory(prefix=_PREFIX) as name,
        DemoRegistry(faults=Faults(SAMPLE_RULES)) as registry,
    ):
        folder = Path(name)
        top = make_repository(folder / "infrastructure")
        configuration = write_cli_configuration(registry, folder, write_places(folder, top))
        environ = {**os.environ, **environment(configuration)}
        asking = asking_of(options, environ, folder / "cache.sqlite3")
        try:
            request = request_of(options, partial(open_git, top), asking, Base())
            request = replace(request, folder=top, is_demo=True)
            return show(request, options, "review", open_ui)
        finally:
            with suppress(OSError):
                Journal().forget(top)  # The repository is deleted: its writes cannot be undone.


def _incident(options: Namespace, open_ui: OpenUi) -> int:
    """Diagnose a sample incident, with its registry: on the Doctor screen, or as `locklens doctor` prints it."""
    from locklens.cli.doctor_options import read_doctor_options
    from locklens.cli.doctoring import doctor_request, run_doctor
    from locklens.demo.incidents import incident_environment, make_incident, sample_incidents
    from locklens.operations.compare_repository import open_git
    from locklens.operations.comparison import Base

    incidents = {incident.cause: incident for incident in reversed(sample_incidents())}
    if options.incident not in incidents:
        raise UsageError(f"unknown incident {options.incident!r}", hint=f"incidents: {', '.join(sorted(incidents))}")
    incident, before = incidents[options.incident], Path.cwd()
    options.old = options.new = None
    form = format_of(options)
    with (
        _ended_by_signals(),
        tempfile.TemporaryDirectory(prefix=_PREFIX) as name,
        DemoRegistry(faults=Faults(incident.rules)) as registry,
    ):
        folder = Path(name).resolve()
        variables = environment(write_cli_configuration(registry, folder))
        top = make_incident(incident, folder / "infrastructure")
        variables |= incident_environment(incident, top)
        if form == "tui":
            told = read_doctor_options("doctor", [*incident.options, "ci.log"], [])
            environ = {**os.environ, **variables}
            asking = asking_of(options, environ, folder / "cache.sqlite3")
            diagnosed = doctor_request(told, (top / "ci.log").read_bytes(), top, environ, asking)
            diagnosed = replace(diagnosed, prove="none")  # The screen downloads nothing before it said how much.
            try:
                request = request_of(options, partial(open_git, top), asking, Base())
                return show(replace(request, folder=top, diagnosed=diagnosed, is_demo=True), options, "doctor", open_ui)
            finally:
                with suppress(OSError):
                    Journal().forget(top)  # The repository is deleted: its writes cannot be undone.
        os.environ.update(variables)
        os.chdir(top)
        try:
            words = [*incident.options, "--no-cache", "--format", _PRINTED.get(form, "text"), "ci.log"]
            return run_doctor(read_doctor_options("doctor", words, []))
        finally:
            os.chdir(before)


_PRINTED = {form: form for form in ("json", "markdown")}
"""The formats that a diagnosis has too."""


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let a closed terminal and a plain kill end the block like an exit, so that its folder is deleted."""

    def end(number: int, _: object) -> None:
        for each in before:
            signal.signal(each, signal.SIG_IGN)  # a second one must not stop the deletion
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    ends = [getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
    before = {each: signal.signal(each, end) for each in ends}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _serve(options: Namespace) -> int:
    """Serve the sample registry until it is interrupted."""
    try:
        rules = tuple(parse_rule(fault) for fault in options.fault or () if fault != "none")
    except ValueError as error:
        raise UsageError(f"--fault: {error}") from error
    metadata = _metadata(Path(options.metadata)) if options.metadata else None
    if not options.fault and metadata is None:
        rules = SAMPLE_RULES  # Of metadata files there is an OpenTofu registry that answers.
    registry = DemoRegistry(faults=Faults(rules), delay=options.delay / 1000, metadata=metadata)
    with _ended_by_signals(), tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        try:
            registry.start(options.port)
        except (OSError, OverflowError) as error:
            words = f"port {options.port} cannot be used: {error}"
            raise ConfigurationError(words, hint="name another --port") from error
        try:
            configuration = write_cli_configuration(registry, Path(folder))
            put(page(serving_lines(registry, configuration, has_sample_faults=not options.fault)))
            threading.Event().wait()
        except KeyboardInterrupt:
            pass  # The usual end.
        finally:
            registry.stop()
    return DONE


def _metadata(folder: Path) -> MetadataFolder:
    try:
        return MetadataFolder(folder)
    except OSError as error:
        words = "no metadata file providers/N/NAMESPACE/TYPE.json"
        hint = "name the folder of a clone of the registry"
        raise ConfigurationError(words, path=str(folder), hint=hint) from error
