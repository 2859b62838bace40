"""Diagnoses errors of `init`: reads files, git and registries, and finds remedies.

Here is the request: a log, corrections of its facts, and a package of the failing run.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from locklens.operations.comparison import RootSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from locklens.doctor.model import PackagePath, StartingPoint
    from locklens.releases import NetworkSettings


def version_problem(text: str) -> str:
    """Return why a text names no version of a tool; "" if it does, or is empty."""
    from locklens.versions import Version

    try:
        if text:
            Version.parse(text)
    except ValueError:
        return f"invalid version {text!r}: one is such as 1.11.4"
    return ""


class DoctorRequest(RootSettings, frozen=True):
    """A diagnosis to make; its tool is the one that failed, None to read it from the log, or else from the root.

    Attributes:
        log: The bytes of a log; None to examine the roots without one.
        folder: The current folder.
        environ: The tools' settings.
        roots: Folders relative to `folder`; () for those that have the failing entry, or without a log the folder.
        tool_version: "" to read it from the log.
        platform: OS_ARCH of the failing machine; "" to read it from the log.
        path: The origin of the package; None to read it from the message and the CLI configuration.
        package: A folder, a zip file, or a hash of the failing package; "" if there is none.
        mirrors: Folders of mirrors to look in besides those of the CLI configuration.
        cache: The plugin cache; "" for that of the settings.
        provider: Without a log, the only provider to examine, as typed; "" for all of the root.
        started_from: The finding or the failed plan behind it; None without one.
        network: None to ask no registry and use no cache.
        prove: The `h1` hashes to prove by downloads.
        logged: The time of the log, ISO 8601 in UTC, or a later one; "" if none is known.
    """

    log: bytes | None
    folder: Path
    environ: Mapping[str, str]
    roots: tuple[str, ...] = ()
    tool_version: str = ""
    platform: str = ""
    path: PackagePath | None = None
    package: str = ""
    mirrors: tuple[str, ...] = ()
    network: NetworkSettings | None = None
    prove: Literal["none", "changed", "all"] = "none"
    cache: str = ""
    provider: str = ""
    started_from: StartingPoint | None = None
    logged: str = ""


def changed_at(path: Path) -> str:
    """Return the time at which a file was changed, ISO 8601 in UTC; "" where it is not known."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="microseconds")
    except (OSError, ValueError):
        return ""
