"""Download rows from the installer's events. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from locklens.install.context import (
    AlreadyInstalled,
    CacheBusy,
    FetchStarted,
    FolderDiffers,
    HashesObtained,
    LinkedFromCache,
    PackageArriving,
    PackageHashed,
    PackageMirrored,
    ProviderFailed,
    ProviderInstalled,
    QueryStarted,
    RegistryWarned,
    ReleaseWarned,
)

if TYPE_CHECKING:
    from locklens.install.context import InstallEvent
    from locklens.ui.text.downloads import Downloads


def take(downloads: Downloads, event: InstallEvent, now: float) -> None:
    """Record an event.

    Args:
        downloads: The downloads so far.
        event: The event.
        now: Seconds of a monotonic clock.
    """
    match event:
        case FetchStarted(provider, version, platform) if platform is not None:
            downloads.announce(f"{provider} {version} {platform}", "network", now)
        case PackageArriving(provider, version, platform, received, size):
            downloads.arrive(f"{provider} {version} {platform}", received, size, now)
        case PackageHashed(provider, version, platform, _, is_cached, is_reported):
            label, note = f"{provider} {version} {platform}", "in an earlier run" if is_cached else ""
            if is_reported:
                downloads.end(label, now, note="by the registry, not downloaded", outcome="reported")
            else:
                downloads.end(label, now, note=note)
        case ProviderFailed(provider, _, words, _):
            for label in _failed_packages(downloads, provider, words):
                downloads.end(label, now, problem=words)
        case (
            FetchStarted()
            | QueryStarted()
            | RegistryWarned()
            | AlreadyInstalled()
            | LinkedFromCache()
            | CacheBusy()
            | PackageMirrored()
            | FolderDiffers()
            | ProviderInstalled()
            | HashesObtained()
            | ReleaseWarned()
        ):
            pass
        case _:
            assert_never(event)


def _failed_packages(downloads: Downloads, provider: str, words: str) -> list[str]:
    """The packages of a failure: the named one, else all unfinished ones of the provider."""
    unfinished = [row.label for row in downloads.in_order if row.ended is None]
    candidates = [label for label in unfinished if label.startswith(f"{provider} ")]
    return [label for label in candidates if all(part in words for part in label.split(" "))] or candidates
