"""What it takes to lock the wanted platforms that are missing: one intent, however many roots and providers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import Platform
from locklens.review.coverage import coverage
from locklens.workspace.locking import LockIntent
from locklens.workspace.planning import WriteRequest, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from locklens.addresses import ProviderAddress
    from locklens.policy import Policy
    from locklens.review.model import Change, Review, RootReview
    from locklens.workspace.intents import Intent
    from locklens.workspace.planning import Plan
    from locklens.workspace.upgrading import Supply


class LockMissingIntent(Struct, frozen=True):
    """Locks other platforms or providers in some roots than in others; no root is in two of the parts."""

    parts: tuple[LockIntent, ...]

    @property
    def title(self) -> str:
        """What it is."""
        platforms = {platform for one in self.parts for platform in one.platforms}
        roots = sum(len(one.where.roots) for one in self.parts)
        return f"Lock {', '.join(map(str, sorted(platforms)))} in {roots} roots"

    def plan(self, supply: Supply, *, on_root: Callable[[str], None] = lambda _: None) -> Plan:
        """Plans one part after the other; what was fetched for one is known to the next."""
        return joined([one.plan(supply, on_root=on_root) for one in self.parts])


def lock_missing(
    review: Review, chosen: Collection[tuple[str, ProviderAddress]], where: WriteRequest | None
) -> Intent | str:
    """Returns the intent that locks what is missing of the wanted platforms, or why there is nothing to lock.

    A platform of which nobody knows whether it is covered is locked too: its package tells.

    Args:
        review: Of all that is locked, judged by the policy that wants platforms.
        chosen: The providers in question, each by lock file and address.
        where: The repository's top; its own roots do not count. None where the lock files are not on disk.
    """
    if where is None:
        return "these lock files are not on disk"
    if not review.policy.platforms:
        return "no platform is wanted: name some in locklens.toml and commit it; ? shows how"
    wanted: dict[tuple[tuple[str, ...], tuple[Platform, ...]], list[str]] = {}
    for root in review.roots:
        if lacking := _lacking(root, chosen, review.policy):
            platforms = tuple(sorted({Platform.parse(one) for found in lacking.values() for one in found}))
            locked = {change.address for change in root.changes if change.new is not None}
            names = () if lacking.keys() == locked else tuple(str(address) for address in sorted(lacking))
            wanted.setdefault((names, platforms), []).append(root.path or ".")
    parts = [
        LockIntent(WriteRequest(where.folder, tuple(roots), where.tool, where.test_directory), platforms, names)
        for (names, platforms), roots in wanted.items()
    ]
    if not parts:
        return "all wanted platforms are covered here"
    return parts[0] if len(parts) == 1 else LockMissingIntent(tuple(parts))


def _lacking(
    root: RootReview, chosen: Collection[tuple[str, ProviderAddress]], policy: Policy
) -> dict[ProviderAddress, tuple[str, ...]]:
    """The wanted platforms that each chosen provider of a root is not surely good for."""
    found = {}
    for change in root.changes:
        if (root.lock_file, change.address) in chosen and (platforms := _not_covered(change, policy)):
            found[change.address] = platforms
    return found


def _not_covered(change: Change, policy: Policy) -> tuple[str, ...]:
    if change.new is None:
        return ()
    cover = coverage(change, policy)
    offered = change.evidence.offered if change.evidence is not None else None
    # A package that the release does not have cannot be locked.
    return tuple(one for one in cover.platforms if one not in cover.covered and (offered is None or one in offered))
