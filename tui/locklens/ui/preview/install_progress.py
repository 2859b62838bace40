"""What the installer tells, taken as packages on their way. Pure, but for the value that it is put into."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from locklens.install.events import (
    AlreadyInstalled,
    FetchStarted,
    FolderReplaced,
    HashesObtained,
    PackageArriving,
    PackageHashed,
    ProviderFailed,
    ProviderInstalled,
    QueryStarted,
    RegistryWarned,
    ReleaseWarned,
)

if TYPE_CHECKING:
    from locklens.install.events import InstallEvent
    from locklens.ui.text.downloads import Downloads


def take(downloads: Downloads, event: InstallEvent, now: float) -> None:
    """Takes an event.

    Args:
        downloads: The packages so far.
        event: What happened.
        now: Of a clock that never goes back.
    """
    match event:
        case FetchStarted(provider, version, platform) if platform is not None:
            downloads.announce(f"{provider} {version} {platform}", "asking", now)
        case PackageArriving(provider, version, platform, received, size):
            downloads.arrive(f"{provider} {version} {platform}", received, size, now)
        case PackageHashed(provider, version, platform, _, was_remembered):
            note = "in an earlier run" if was_remembered else ""
            downloads.end(f"{provider} {version} {platform}", now, note=note)
        case ProviderFailed(provider, _, words, _):
            for label in _meant(downloads, provider, words):
                downloads.end(label, now, problem=words)
        case (
            FetchStarted()
            | QueryStarted()
            | RegistryWarned()
            | AlreadyInstalled()
            | FolderReplaced()
            | ProviderInstalled()
            | HashesObtained()
            | ReleaseWarned()
        ):
            pass
        case _:
            assert_never(event)


def _meant(downloads: Downloads, provider: str, words: str) -> list[str]:
    """The packages that a failure is about: the one that it names, else all of the provider that are not done."""
    own = [one.label for one in downloads.in_order if one.ended is None and one.label.startswith(f"{provider} ")]
    return [label for label in own if all(part in words for part in label.split(" "))] or own
