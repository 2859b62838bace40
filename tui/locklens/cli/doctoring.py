"""`locklens doctor`: the log and the options to a request, and the diagnosis to a report."""

from __future__ import annotations

import os
import stat
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.cli.output import DONE, FINDINGS, deliver, takes_colour, tell
from locklens.cli.reading import asking_of
from locklens.doctor.cleaning import MOST_BYTES
from locklens.doctor.report_words import NOTHING_RECOGNISED
from locklens.errors import ConfigurationError
from locklens.operations.reports import render_report
from locklens.text import reason_of

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import BinaryIO

    from locklens.doctor.model import Diagnosis
    from locklens.operations.doctor.request import DoctorRequest
    from locklens.releases.facts import NetworkSettings
    from locklens.text import Printable

_CHUNK = 1 << 20


def run_doctor(options: Namespace) -> int:
    """Diagnose the errors of a log, or examine roots.

    Returns:
        FINDINGS where nothing was recognised, or a root that was examined without a log has a cause for an error.
    """
    from time import perf_counter

    from locklens.cli.progress import ReviewProgress
    from locklens.operations.doctor.diagnose import diagnose

    started = perf_counter()
    log = _read(options.log)
    asking, telling = asking_of(options), ReviewProgress(is_verbose=options.verbose)
    with asking.cache:
        request = doctor_request(options, log, Path.cwd(), os.environ, asking)
        diagnosis = diagnose(request, on_event=telling.take)
        tell(f"note: {words}" for words in asking.cache.take_notices())
    if options.verbose:
        tell((f"diagnosed in {perf_counter() - started:.3f} s",))
    deliver(_rendered(diagnosis, options), options.output)
    if not diagnosis.is_recognised:
        if options.format == "json" or options.output:
            tell([NOTHING_RECOGNISED])
        tell(["hint: hand in the whole output of init; without a log, doctor examines the root itself"])
        return FINDINGS
    return FINDINGS if log is None and diagnosis.has_cause else DONE


def doctor_request(
    options: Namespace, log: bytes | None, folder: Path, environ: Mapping[str, str], asking: NetworkSettings
) -> DoctorRequest:
    """Return the diagnosis that the options ask for."""
    from locklens.dialect import DIALECTS
    from locklens.doctor.model import PackagePath
    from locklens.operations.doctor.request import DoctorRequest

    return DoctorRequest(
        log,
        folder,
        environ,
        tuple(dict.fromkeys(options.root)),
        DIALECTS.get(options.tool),
        options.tool_version,
        options.platform or "",
        PackagePath(options.install_path) if options.install_path else None,
        options.package,
        tuple(options.mirror),
        asking,
        options.prove,
        options.test_directory,
        options.plugin_cache,
        options.provider,
    )


def _rendered(diagnosis: Diagnosis, options: Namespace) -> Printable:
    colour = takes_colour(options.output)
    return render_report("doctor", options.format, diagnosis, home=os.environ.get("HOME", ""), colour=colour)


def _read(name: str | None) -> bytes | None:
    """Return the end of the log, within the bound and one byte more; None without one.

    Raises:
        ConfigurationError: It cannot be read.
    """
    if name is None:
        if _is_piped():
            tell(["note: standard input is not read: name it with -, as in terraform init 2>&1 | locklens doctor -"])
        return None
    try:
        if name == "-":
            return _tail(sys.stdin.buffer)
        with Path(name).open("rb") as file:
            return _tail(file)
    except OSError as error:
        hint = "name the file of a log, or - for standard input"
        raise ConfigurationError(f"cannot be read: {reason_of(error)}", path=name, hint=hint) from error


def _tail(stream: BinaryIO) -> bytes:
    kept: deque[bytes] = deque(maxlen=MOST_BYTES // _CHUNK + 2)
    while chunk := stream.read(_CHUNK):
        kept.append(chunk)
    return b"".join(kept)[-(MOST_BYTES + 1) :]


def _is_piped() -> bool:
    try:
        return sys.stdin is not None and stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode)
    except (OSError, ValueError):
        return False
