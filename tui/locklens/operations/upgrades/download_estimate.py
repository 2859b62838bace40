"""What is known of versions that may be picked: who signed them, and what it takes to lock them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.hashes import Scheme
from locklens.releases.facts import ReleaseId
from locklens.trust.authentication import AuthenticationOutcome
from locklens.trust.continuity import judge_signer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.addresses import Platform
    from locklens.operations.upgrades.candidates import CandidateVersion, UpgradeCandidates
    from locklens.releases.facts import ReleaseFacts
    from locklens.trust.continuity import SignerChange
    from locklens.versions import Version


class KnownRelease(Struct, frozen=True):
    """What is known of one version, and the `h1` of its packages that were hashed here, by `zh`."""

    facts: ReleaseFacts
    hashed: Mapping[str, str]


def signer_change(old: ReleaseFacts | None, new: ReleaseFacts | None) -> SignerChange:
    """Compares who signed the locked version and another one; UNKNOWN unless the tool would take both."""
    keys, known = [], []
    for facts in (old, new):
        judged = facts.authentication if facts is not None else None
        known.append(
            judged is not None and judged.outcome in {AuthenticationOutcome.ACCEPTED, AuthenticationOutcome.SKIPPED}
        )
        keys.append(judged.key if judged is not None and judged.outcome is AuthenticationOutcome.ACCEPTED else None)
    return judge_signer(*keys, old_known=known[0], new_known=known[1])


def is_refused(facts: ReleaseFacts | None) -> bool:
    """Whether the tool would refuse a release, as far as that is known."""
    judged = facts.authentication if facts is not None else None
    return judged is not None and judged.outcome is AuthenticationOutcome.REFUSED


class DownloadEstimate(Struct, frozen=True):
    """What it takes to lock what was picked.

    Attributes:
        packages: How many have to be downloaded.
        size: Bytes of them together, None where that is not known.
        hashed: How many need not be, since they were hashed here before.
        is_sure: Whether that is known of every package, or only likely.
    """

    packages: int = 0
    size: int | None = 0
    hashed: int = 0
    is_sure: bool = True


def estimate_download(
    picks: Iterable[tuple[UpgradeCandidates, CandidateVersion]], known: Mapping[ReleaseId, KnownRelease], here: Platform
) -> DownloadEstimate:
    """Says what it takes to lock picks: each release once, for all platforms that an entry of it does for.

    Args:
        picks: What was picked.
        known: What is known of releases, of the locked ones and the picked ones.
        here: The platform that is locked where an entry tells of no other.
    """
    wanted: dict[ReleaseId, set[Platform]] = {}
    is_sure = True
    for offer, choice in picks:
        platforms, all_told = _platforms(offer, known, here)
        wanted.setdefault(release_id(offer, choice.version), set()).update(platforms)
        is_sure = is_sure and all_told
    packages = hashed = 0
    size: int | None = 0
    for release, needed in wanted.items():
        found = known.get(release)
        by_platform = {platform: zh for zh, platform in found.facts.platforms.items()} if found is not None else {}
        is_sure = is_sure and found is not None
        for platform in needed:
            zh = by_platform.get(platform, "")
            if found is not None and zh in found.hashed:
                hashed += 1
                continue
            packages += 1
            own = found.facts.sizes.get(zh) if found is not None else None
            size = None if size is None or own is None else size + own
    return DownloadEstimate(packages, size, hashed, is_sure)


def _platforms(
    offer: UpgradeCandidates, known: Mapping[ReleaseId, KnownRelease], here: Platform
) -> tuple[frozenset[Platform], bool]:
    """The platforms that an entry has an `h1` for, and whether all of its `h1` are told."""
    own = offer.entry.with_scheme(Scheme.H1) if offer.entry is not None else frozenset()
    found = known.get(release_id(offer, offer.entry.version)) if offer.entry is not None else None
    if found is None or not own:
        return frozenset({here}), not own
    of_zh = found.facts.platforms
    told = dict(found.facts.reported) | {h1: of_zh[zh] for zh, h1 in found.hashed.items() if zh in of_zh}
    return frozenset(told[h1] for h1 in own if h1 in told) or frozenset({here}), own <= told.keys()


def release_id(offer: UpgradeCandidates, version: Version) -> ReleaseId:
    """The question about a version of an offer."""
    return ReleaseId(offer.tool.name, offer.address, version)
