"""Progress of commands that install or lock: lines on stderr, the last one redrawn on a terminal, or JSON on stdout."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any, assert_never

from locklens.cli import LiveLine, put_event
from locklens.install import context as events
from locklens.lockfile.update import Tracking

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from locklens.diagnostics import Diagnostic
    from locklens.install.context import InstallEvent
    from locklens.operations.plan import RootResult


class ProgressWording(StrEnum):
    """The mood of progress lines: Terraform's own words are true only of a run that writes."""

    WRITE = "write"
    """The real tools' words."""
    DRY_RUN = "dry run"
    """Nothing is written."""
    PLAN = "plan"
    """Written once the plan is complete, or not at all."""


_WOULD_TRACK = {
    Tracking.NEW_PROVIDER: "This provider and its checksums for this platform would be added to the lock file",
    Tracking.NEW_VERSION: "This version and its checksums for this platform would replace those in the lock file",
    Tracking.NEW_HASHES: "Additional checksums for this platform would be added to the lock file",
    Tracking.KNOWN: "All checksums for this platform are already tracked in the lock file",
}
_TRACKED = {
    Tracking.NEW_PROVIDER: (
        "This was a new provider and the checksums for this platform are now tracked in the lock file"
    ),
    Tracking.NEW_VERSION: "This version and its checksums for this platform are now tracked in the lock file",
    Tracking.NEW_HASHES: "Additional checksums for this platform are now tracked in the lock file",
    Tracking.KNOWN: "All checksums for this platform were already tracked in the lock file",
}


class InstallProgress:
    """Progress on stderr; on a terminal with a last line, redrawn, for the packages that are being downloaded.

    A root that is alone need not be named.
    """

    def __init__(self, wording: ProgressWording, *, is_alone: bool) -> None:
        self._wording = wording
        self._is_alone = is_alone
        self._root: str | None = None
        self._named: str | None = None
        self._line = LiveLine()

    def begin(self, root: str | None) -> None:
        """Set the root of the events that follow; None for work that all roots share."""
        self._root = root

    def wait(self) -> None:
        """Report that another process holds the folder."""
        self._say("- Waiting for another locklens that installs into the same folder...")

    def end(self) -> None:
        """Remove the redrawn line."""
        self._line.end()

    def conclude(self, outcome: RootResult) -> None:
        """Report the diagnostics and notes of a root."""
        self.end()
        for note in outcome.notes:
            self._say(f"- {note}")
        self.report(outcome.diagnostics)

    def report(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Report errors and warnings."""
        for diagnostic in diagnostics:
            lead = "Error" if diagnostic.is_error else "Warning"
            self._say(
                "",
                f"{lead}: {diagnostic.summary}",
                "",
                diagnostic.words,
                *([f"hint: {diagnostic.hint}"] if diagnostic.hint else []),
            )

    def take(self, event: InstallEvent) -> None:
        """Report one event."""
        if isinstance(event, events.PackageArriving):
            label = f"{event.provider} {event.version} {event.platform}"
            self._line.show_download(label, event.received, event.size)
            return
        if isinstance(event, events.PackageLeaving):
            label = f"{event.provider} {event.version} {event.platform}"
            if not event.sent:
                self._line.drop(label)
            self._line.show_download(f"{label} to the registry", event.sent, event.size)
            return
        if isinstance(
            event, events.ProviderInstalled | events.PackageHashed | events.PackageMirrored | events.ProviderFailed
        ):
            self._line.drop(event.provider)
        lines = event_lines(event, self._wording)
        if lines:
            self._say(*lines)

    def _say(self, *lines: str) -> None:
        """Write lines below the name of their root."""
        if not self._is_alone and self._root not in {None, self._named}:
            self._line.say(f"{self._root}:")
        self._named = self._root
        self._line.say(*lines)


def event_lines(event: InstallEvent, wording: ProgressWording) -> list[str]:
    """Return the lines for an event; those of a run that writes are the real tools', where they have some."""
    is_dry_run = wording is ProgressWording.DRY_RUN
    match event:
        case events.QueryStarted(provider, _, True):
            return [f"- Reusing previous version of {provider} from the dependency lock file"]
        case events.QueryStarted(provider, "", _):
            return [f"- Finding latest version of {provider}..."]
        case events.QueryStarted(provider, constraints, _):
            return [f'- Finding {provider} versions matching "{constraints}"...']
        case events.RegistryWarned(provider, words):
            lines = [f"- {line}" for line in words]
            return [
                "",
                "Warning: Additional provider information from registry",
                "",
                f"The registry on {provider}:",
                *lines,
            ]
        case events.AlreadyInstalled(provider, version):
            return [f"- Using previously-installed {provider} v{version}"]
        case events.LinkedFromCache(provider, version):
            lead = "Would use" if is_dry_run else "Using"
            return [f"- {lead} {provider} v{version} from the shared cache directory"]
        case events.CacheBusy(provider, version):
            return [f"- Waiting for another process that is installing {provider} v{version} in the shared cache..."]
        case events.FetchStarted(provider, version, None):
            return [f"- {'Checking' if is_dry_run else 'Installing'} {provider} v{version}..."]
        case events.FetchStarted(provider, version, platform):
            return [f"- Fetching {provider} {version} for {platform}..."]
        case events.FolderDiffers(provider, version, folder, h1):
            lead = f"- {provider} v{version}: the package in {folder} does not match ({h1 or 'unreadable'})"
            return [f"{lead}; it {'would be' if is_dry_run else 'is'} replaced"]
        case events.ProviderInstalled(provider, version, "signing skipped", _):
            reason = "due to the registry not containing GPG keys for this provider"
            lead = "Would install" if is_dry_run else "Installed"
            return [f"- {lead} {provider} v{version}. Signature validation was skipped {reason}"]
        case events.ProviderInstalled(provider, version, signed, _):
            return [f"- {'Would install' if is_dry_run else 'Installed'} {provider} v{version} ({signed})"]
        case events.PackageHashed(provider, version, platform, signed, was_remembered, is_reported):
            package = f"{provider} {version} for {platform} ({signed})"
            if was_remembered:
                return [f"- Not downloaded: {package}; hashed before"]
            if is_reported:
                return [f"- Not downloaded: {package}; h1 reported by the registry"]
            return [f"- Retrieved {package}"]
        case events.PackageMirrored(provider, version, platform, signed, was_there):
            package = f"{provider} {version} for {platform} ({signed})"
            if is_dry_run:
                return [f"- {'Already there:' if was_there else 'Would mirror'} {package}"]
            return [f"- Mirrored {package}{'; already there' if was_there else ''}"]
        case events.ReleaseTagged(_, _, place, digest):
            return [f"- Tagged {place} ({digest})" if digest else f"- Would tag {place}"]
        case events.HashesObtained(provider, platform, tracking):
            if wording is ProgressWording.PLAN:
                return [f"- Obtained {provider} checksums for {platform}"]
            tracked = (_WOULD_TRACK if is_dry_run else _TRACKED)[tracking]
            return [f"- Obtained {provider} checksums for {platform}; {tracked}"]
        case events.ReleaseWarned(provider, version, words, ""):
            return [f"- {provider} {version}: {words}"]
        case events.ReleaseWarned(provider, version, words, rule):
            return ["", f"Warning: Release is not as it was locked ({rule})", "", f"{provider} {version}: {words}"]
        case events.ProviderFailed() | events.PackageArriving() | events.PackageLeaving():
            return []  # Failures are reported at the end, together.
        case _:
            assert_never(event)


class JsonProgress:
    """Progress on stdout, one JSON object per line, with the event's name as its `type`."""

    def __init__(self) -> None:
        self._root: str | None = "."

    def begin(self, root: str | None) -> None:
        """Set the root of the events that follow; None for work that all roots share."""
        self._root = root

    def wait(self) -> None:
        """Report that another process holds the folder."""
        self._put("waiting", {})

    def end(self) -> None:
        """Do nothing."""

    def take(self, event: InstallEvent) -> None:
        """Report one event."""
        fields = {name: _plain(getattr(event, name)) for name in event.__struct_fields__}
        self._put(re.sub("(?<!^)([A-Z])", r"_\1", type(event).__name__).lower(), fields)

    def conclude(self, outcome: RootResult) -> None:
        """Report the result of a root."""
        self.report(outcome.diagnostics)
        self._put(
            "outcome",
            {
                "lock_file": outcome.lock_file,
                "tool": outcome.tool.name,
                "failed": outcome.has_failed or outcome.is_left,
                "unchecked": outcome.is_unchecked,
                "difference": str(outcome.difference),
                "would_change": outcome.would_change,
                "written": outcome.is_written,
                "notes": list(outcome.notes),
            },
        )

    def report(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Report errors and warnings."""
        for diagnostic in diagnostics:
            fields = {
                "summary": diagnostic.summary,
                "words": diagnostic.words,
                "hint": diagnostic.hint,
                "is_warning": not diagnostic.is_error,
            }
            self._put("error" if diagnostic.is_error else "warning", fields)

    def _put(self, name: str, fields: dict[str, Any]) -> None:
        put_event(name, root=self._root, **fields)


class ProgressByRoot:
    """Progress of a plan that keeps the events of each root's turn, until it is known whether its lock file is written.

    The first turn begins once the work that all roots share is done. What arrives of a package is told at once.
    """

    def __init__(self, progress: InstallProgress | JsonProgress) -> None:
        self._progress = progress
        self.turns: list[list[InstallEvent]] = []

    def begin(self, _: str | None) -> None:
        """Begin the turn of the next root, whose name in the plan need not be that of the command line."""
        self.turns.append([])

    def end(self) -> None:
        """Remove the redrawn line."""
        self._progress.end()

    def take(self, event: InstallEvent) -> None:
        """Keep an event of a root's turn; report any other."""
        if self.turns and not isinstance(event, events.PackageArriving):
            self.turns[-1].append(event)
        else:
            self._progress.take(event)


def install_progress(options: Namespace, wording: ProgressWording, *, is_alone: bool) -> InstallProgress | JsonProgress:
    """Return the progress that the options of a command ask for: as JSON with --json."""
    return JsonProgress() if options.json else InstallProgress(wording, is_alone=is_alone)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    return [str(item) for item in value] if isinstance(value, tuple) else str(value)
