"""Locks missing platforms: one operation for any number of roots and providers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct

from locklens.addresses import Platform
from locklens.errors import LockLensError
from locklens.hashes import is_of_files
from locklens.operations.plan.model import Scope, joined_plans
from locklens.operations.write.lock import Lock
from locklens.operations.write.operation import no_progress
from locklens.review.coverage import coverage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from locklens.addresses import ProviderAddress
    from locklens.operations.plan.model import Plan
    from locklens.operations.write.operation import Operation
    from locklens.operations.write.source import ProviderSource
    from locklens.policy import Policy
    from locklens.review.model import Change, Review, RootReview


class LockMissing(Struct, frozen=True):
    """Locks platforms that differ by root or provider; no root is in two of the parts."""

    needs_registry: ClassVar[Literal[True]] = True

    parts: tuple[Lock, ...]

    @property
    def title(self) -> str:
        """A short title."""
        platforms = {platform for part in self.parts for platform in part.platforms}
        roots = sum(len(part.where.roots) for part in self.parts)
        return f"Lock {', '.join(map(str, sorted(platforms)))} in {roots} roots"

    def plan(self, source: ProviderSource, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan the parts in order; packages that were fetched for one are reused by the next."""
        return joined_plans([part.plan(source, on_root=on_root) for part in self.parts])


def lock_missing(
    review: Review, selected: Collection[tuple[str, ProviderAddress]], where: Callable[[Iterable[str]], Scope]
) -> Operation:
    """Return the operation that locks the missing ones of the required platforms.

    A platform of unknown coverage is locked too: its package decides. Without required platforms, those count for which
    other entries of the same file have an `h1`.

    Args:
        review: The review of all locked providers, by the policy that requires platforms.
        selected: The providers, each by lock file and address.
        where: Returns the scope of roots that are given relative to the repository's top.

    Raises:
        LockLensError: There is nothing to lock.
    """
    groups: dict[tuple[tuple[str, ...], tuple[Platform, ...]], list[str]] = {}
    for root in review.roots:
        if lacking := _lacking(root, selected, review.policy):
            platforms = tuple(sorted({Platform.parse(name) for names in lacking.values() for name in names}))
            locked = {entry.address for entry in root.new.entries}
            names = () if lacking.keys() == locked else tuple(str(address) for address in sorted(lacking))
            groups.setdefault((names, platforms), []).append(root.path)
    parts = [Lock(where(roots), platforms, names) for (names, platforms), roots in groups.items()]
    if not parts and review.policy.platforms:
        raise LockLensError("all required platforms are covered")
    if not parts:
        words = "no required platforms configured: list them in locklens.toml, and commit it"
        raise LockLensError(words, hint='[platforms] linux_amd64 = "CI"')
    return parts[0] if len(parts) == 1 else LockMissing(tuple(parts))


def _lacking(
    root: RootReview, selected: Collection[tuple[str, ProviderAddress]], policy: Policy
) -> dict[ProviderAddress, tuple[str, ...]]:
    """Return the required platforms that each selected provider of a root does not certainly cover."""
    lacking = {}
    usual = frozenset[str]() if policy.platforms else frozenset().union(*map(_hashed, root.changes))
    for change in root.changes:
        if (root.lock_file, change.address) not in selected or change.new is None:
            continue
        platforms = _not_covered(change, policy) if policy.platforms else _offered(change, usual - _hashed(change))
        if platforms:
            lacking[change.address] = platforms
    return lacking


def _not_covered(change: Change, policy: Policy) -> tuple[str, ...]:
    cover = coverage(change, policy)
    return _offered(change, (platform for platform in cover.platforms if platform not in cover.covered))


def _offered(change: Change, platforms: Iterable[str]) -> tuple[str, ...]:
    """Return the platforms, without those that the release has no package for."""
    offered = change.evidence.offered if change.evidence is not None else None
    return tuple(sorted(platform for platform in platforms if offered is None or platform in offered))


def _hashed(change: Change) -> frozenset[str]:
    """Return the known platforms of a provider's `h1` hashes."""
    return frozenset(fact.platform for fact in change.locked if fact.platform and is_of_files(fact.hash))
