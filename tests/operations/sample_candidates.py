"""Offers in few words, without any registry."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from msgspec.structs import replace
from selection.making import LINUX, WINDOWS, requirement, version

from locklens.addresses import ProviderAddress
from locklens.dialect import TERRAFORM
from locklens.lockfile import LockEntry
from locklens.operations.upgrades import KnownRelease, UpgradeCandidates, candidates_of, release_id
from locklens.releases import ReleaseFacts
from locklens.sources.metadata import ListedVersion, ReleaseDates
from locklens.trust import SigningKey, Tier
from locklens.trust.authentication import Authentication, AuthenticationOutcome, Refusal
from locklens.versions import Version

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ALICE = SigningKey("7B1F0A9355E240CD9A1E88B42517E112C2EC7068", ("alice",), "RSA 4096", "2023-05-10", None, False, False)
MALLORY = SigningKey(
    "C4D06E1B0F7299A831BC5D07175D017BEC06E6BD", ("mallory",), "RSA 2048", "2026-11-20", None, False, False
)


def offer(
    offered: str,
    *constraints: str,
    locked: str | None = "1.0.0",
    root: str = "",
    name: str = "x",
    listed: Callable[[Version], ListedVersion] = lambda one: ListedVersion(one, ("5.0",), (LINUX, WINDOWS)),
) -> UpgradeCandidates:
    """An offer of versions with their ages, such as "1.0.0:90 1.1.0:3 2.0.0"; each constraint in a line of its own."""
    address = ProviderAddress("registry.terraform.io", "acme", name)
    file, lock_file = (f"{root}/{one}" if root else one for one in ("main.tf", ".terraform.lock.hcl"))
    dates: dict[Version, datetime] = {}
    versions = []
    for text in offered.split():
        number, _, days = text.partition(":")
        versions.append(listed(version(number)))
        if days:
            dates[version(number)] = NOW - timedelta(days=int(days), hours=1)
    requirements = tuple(
        replace(requirement(text, f"{file}:{line}"), address=address) for line, text in enumerate(constraints, start=1)
    )
    entry = LockEntry(address, version(locked), "", (), 4) if locked else None
    asked = UpgradeCandidates(root, lock_file, TERRAFORM, address, f"acme/{name}", entry, requirements)
    return candidates_of(asked, versions, ReleaseDates(MappingProxyType(dates), "x"), now=NOW)


def known(of: UpgradeCandidates, text: str, key: SigningKey | None, *, is_refused: bool = False) -> KnownRelease:
    """A version that a key signed, or nobody."""
    outcome = AuthenticationOutcome.ACCEPTED if key is not None else AuthenticationOutcome.SKIPPED
    judged = Authentication(outcome, Tier.SELF_SIGNED if key is not None else Tier.UNSIGNED, key)
    if is_refused:
        judged = replace(judged, outcome=AuthenticationOutcome.REFUSED, refusal=Refusal.BAD_SIGNATURE)
    return KnownRelease(ReleaseFacts(release_id(of, version(text)), authentication=judged), {})
