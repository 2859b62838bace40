"""Refusal and download estimate for candidate versions. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.dialect import OPENTOFU
from locklens.hashes import hashes_of_files
from locklens.releases.facts import ReleaseId
from locklens.trust.authentication import AuthenticationOutcome

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from locklens.addresses import Platform
    from locklens.hashes import HashedFiles
    from locklens.operations.upgrades.candidates import CandidateVersion, UpgradeCandidates
    from locklens.releases.facts import ReleaseFacts
    from locklens.versions import Version


class KnownRelease(Struct, frozen=True):
    """The facts of one release, and the hashes of its packages that were hashed here."""

    facts: ReleaseFacts
    hashed: HashedFiles


def is_refused(facts: ReleaseFacts | None) -> bool:
    """True if the tool is known to refuse a release."""
    judged = facts.authentication if facts is not None else None
    return judged is not None and judged.outcome is AuthenticationOutcome.REFUSED


class DownloadEstimate(Struct, frozen=True):
    """The downloads that locking the selected versions takes.

    Attributes:
        packages: Number of packages to download.
        size: Their total size in bytes; None if unknown.
        hashed: Number of packages that were hashed here before and need no download.
        is_sure: True if the numbers are exact, False for an estimate.
    """

    packages: int = 0
    size: int | None = 0
    hashed: int = 0
    is_sure: bool = True


def estimate_download(
    picks: Iterable[tuple[UpgradeCandidates, CandidateVersion]],
    known: Mapping[ReleaseId, KnownRelease],
    here: Platform,
    *,
    required: Collection[Platform] = (),
    believed: Collection[str] = (),
) -> DownloadEstimate:
    """Estimate the downloads for selected versions: each release once, for all platforms of its entries.

    Args:
        picks: The selected versions.
        known: Known releases, both locked and selected ones.
        here: The platform that is locked where an entry records no other.
        required: Platforms that the policy requires, which are locked beside those of the entries.
        believed: Registries whose reported hashes are locked without a download, by OpenTofu's rules.
    """
    needed: dict[ReleaseId, set[Platform]] = {}
    is_sure = True
    for offer, choice in picks:
        locked = platforms_to_lock(offer, known, here, required=required)
        needed.setdefault(release_id(offer, choice.version), set()).update(locked.platforms)
        is_sure = is_sure and not locked.unknown
    packages = hashed = 0
    size: int | None = 0
    for release, release_platforms in needed.items():
        entry = known.get(release)
        by_platform = {platform: zh for zh, platform in entry.facts.platforms.items()} if entry is not None else {}
        is_sure = is_sure and entry is not None
        is_believed = release.tool == OPENTOFU.name and release.address.host in believed
        reported = set(entry.facts.reported.values()) if entry is not None and is_believed else set()
        for platform in release_platforms:
            zh = by_platform.get(platform, "")
            if entry is not None and zh in entry.hashed:
                hashed += 1
                continue
            if platform in reported:
                continue
            packages += 1
            package_size = entry.facts.sizes.get(zh) if entry is not None else None
            size = None if size is None or package_size is None else size + package_size
    return DownloadEstimate(packages, size, hashed, is_sure)


class LockedPlatforms(Struct, frozen=True):
    """The platforms that an upgrade locks.

    Attributes:
        platforms: Those that are known.
        unknown: Number of locked `h1` hashes whose platform is found when the upgrade is planned.
    """

    platforms: frozenset[Platform]
    unknown: int = 0


def platforms_to_lock(
    offer: UpgradeCandidates,
    known: Mapping[ReleaseId, KnownRelease],
    here: Platform,
    *,
    required: Collection[Platform] = (),
) -> LockedPlatforms:
    """Return the required platforms, and those that an entry has an `h1` for; arguments as of the estimate."""
    locked = hashes_of_files(offer.entry.hashes) if offer.entry is not None else frozenset[str]()
    release = known.get(release_id(offer, offer.entry.version)) if offer.entry is not None else None
    known_ones: dict[str, Platform] = {}
    if release is not None:
        known_ones |= release.facts.reported
        for zh, platform in release.facts.platforms.items():
            known_ones |= dict.fromkeys(release.hashed.get(zh, ()), platform)
    platforms = frozenset(known_ones[text] for text in locked if text in known_ones) | frozenset(required)
    return LockedPlatforms(platforms or frozenset({here}), len(locked - known_ones.keys()))


def release_id(offer: UpgradeCandidates, version: Version) -> ReleaseId:
    """The release of a candidate version."""
    return ReleaseId(offer.tool.name, offer.address, version)
