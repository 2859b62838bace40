"""`doctor`: turns the log and the options into a request, and the diagnosis into a report."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections import deque
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from locklens.cli import DONE, FINDINGS, deliver, takes_colour, tell
from locklens.cli.options import Parser, given_tool, network_of, platform_option
from locklens.errors import ConfigurationError, UsageError
from locklens.operations.reports import formats_of, report_pages
from locklens.text import reason_of

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import BinaryIO

    from locklens.operations.doctor import DoctorRequest
    from locklens.releases import NetworkSettings

_CHUNK = 1 << 20


def add_doctor_options(parser: Parser) -> None:
    """Add the options of `doctor`."""
    from locklens.doctor.model import PackagePath

    parser.begin(
        "Find out why init or lock failed: read the log of the failing run, test each known cause, and name fixes. "
        "Without a log, examine the root in the current folder, else each root of the repository. Nothing is written.",
        "[OPTION...] [FILE|-] [-- ROOT...]",
        run_doctor,
        _check_doctor,
    )
    parser.add_argument("log", nargs="?", metavar="FILE", help="log of the failing run; - for standard input")
    group = parser.group("facts of the failing run")
    words = "the failing run's platform (default: as the log says)"
    group.add("--platform", metavar="OS_ARCH", type=platform_option, help=words)
    words = "the failing tool's version (default: as the log says)"
    group.add("--tool-version", metavar="VERSION", type=_tool_version, default="", help=words)
    paths = [path.value for path in PackagePath]
    words = f"where the package came from: {', '.join(paths)} (default: as the message says)"
    group.add("--install-path", choices=paths, metavar="PATH", help=words)
    words = "the failing run's package: a folder, a zip file, or a hash (default: none)"
    group.add("--package", metavar="PATH|HASH", default="", help=words)
    words = "folder of a mirror to look in; may be repeated (default: the settings')"
    group.add("--mirror", metavar="DIR", action="append", default=[], help=words)
    words = "the plugin cache to look in (default: the settings')"
    group.add("--plugin-cache", metavar="DIR", default="", help=words)
    words = "without a log, the only provider to examine (default: all of the root)"
    group.add("--provider", metavar="PROVIDER", default="", help=words)
    parser.group("scope").add_roots("the log's, else the current folder's, else every root that fits")
    group = parser.group("common options")
    group.add_output(formats_of("doctor"))
    group.flag("--all", "give the evidence on each cause, also on those that are ruled out (JSON always does)")
    group.add_tool("as the log says, else detected for each root")
    group.add_prove()
    group.add_offline()


def _tool_version(text: str) -> str:
    """Return the version of a tool as it was given; "" for none.

    Raises:
        ArgumentTypeError: It is none.
    """
    from locklens.operations.doctor import version_problem

    if problem := version_problem(text):
        raise argparse.ArgumentTypeError(problem)
    return text


def _check_doctor(options: Namespace) -> None:
    if options.provider and options.log is not None:
        raise UsageError("--provider is for roots without a log: the log names its provider")


def run_doctor(options: Namespace) -> int:
    """Diagnose the errors of a log, or examine roots.

    Returns:
        FINDINGS where nothing was recognised, or a root examined without a log has a cause that is certain or
            probable.
    """
    from locklens.cli.review import ReviewProgress
    from locklens.doctor.report_words import NOTHING_RECOGNISED
    from locklens.operations.doctor.diagnose import diagnose

    started = perf_counter()
    log = _read(options.log)
    network = network_of(options)
    with network.cache:
        request = doctor_request(options, log, Path.cwd(), os.environ, network)
        with ReviewProgress(is_verbose=options.verbose) as progress:
            diagnosis = diagnose(request, on_event=progress.take)
        tell(f"note: {words}" for words in network.cache.take_notices())
    if options.verbose:
        tell((f"diagnosed in {perf_counter() - started:.3f} s",))
    home, colour = os.environ.get("HOME", ""), takes_colour(options.output)
    facts = {"home": home, "lists_all": options.all, "colour": colour}
    deliver(report_pages("doctor", options.format, diagnosis, **facts), options.output)
    if not diagnosis.is_recognised:
        if options.format == "json" or options.output:
            tell([NOTHING_RECOGNISED])
        wanted = (
            "the part of the log that has the error" if diagnosis.is_cut else "the whole output of the run that failed"
        )
        first = "" if diagnosis.has_other_error else f"pass {wanted}; "
        tell([f"hint: {first}without a log, doctor examines the root itself"])
        return FINDINGS
    return FINDINGS if log is None and diagnosis.has_cause else DONE


def doctor_request(
    options: Namespace, log: bytes | None, folder: Path, environ: Mapping[str, str], network: NetworkSettings
) -> DoctorRequest:
    """Return the diagnosis that the options ask for."""
    from locklens.doctor.model import PackagePath
    from locklens.operations.doctor import DoctorRequest, changed_at

    return DoctorRequest(
        log,
        folder,
        environ,
        tuple(dict.fromkeys(options.root)),
        options.tool_version,
        options.platform or "",
        PackagePath(options.install_path) if options.install_path else None,
        options.package,
        tuple(options.mirror),
        network,
        options.prove,
        options.plugin_cache,
        options.provider,
        logged=changed_at(folder / options.log) if log is not None and options.log != "-" else "",
        tool=given_tool(options),
        test_directory=options.test_directory,
    )


def _read(name: str | None) -> bytes | None:
    """Return at most the last MOST_BYTES + 1 bytes of the log, so that a cut is noticed; None without a log.

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
    from locklens.doctor.cleaning import MOST_BYTES

    kept: deque[bytes] = deque(maxlen=MOST_BYTES // _CHUNK + 2)
    while chunk := stream.read(_CHUNK):
        kept.append(chunk)
    return b"".join(kept)[-(MOST_BYTES + 1) :]


def _is_piped() -> bool:
    try:
        return sys.stdin is not None and stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode)
    except (OSError, ValueError):
        return False
