"""What it takes to lock platforms that are missing: one intent, however many roots and providers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct

from locklens.addresses import Platform
from locklens.errors import LockLensError
from locklens.hashes import Scheme, has_scheme
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
    """Locks other platforms or providers in some roots than in others; no root is in two of the parts."""

    needs_registry: ClassVar[Literal[True]] = True

    parts: tuple[Lock, ...]

    @property
    def title(self) -> str:
        """What it is."""
        platforms = {platform for one in self.parts for platform in one.platforms}
        roots = sum(len(one.where.roots) for one in self.parts)
        return f"Lock {', '.join(map(str, sorted(platforms)))} in {roots} roots"

    def plan(self, source: ProviderSource, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plans one part after the other; what was fetched for one is known to the next."""
        return joined_plans([one.plan(source, on_root=on_root) for one in self.parts])


def lock_missing(
    review: Review, chosen: Collection[tuple[str, ProviderAddress]], where: Callable[[Iterable[str]], Scope]
) -> Operation:
    """Returns the intent that locks what is missing of the wanted platforms.

    A platform of which nobody knows whether it is covered is locked too: its package tells. Without wanted ones it is
    about those that other entries of the same file have an `h1` for.

    Args:
        review: Of all that is locked, judged by the policy that wants platforms.
        chosen: The providers in question, each by lock file and address.
        where: Names roots that are known relative to the repository's top.

    Raises:
        LockLensError: There is nothing to lock.
    """
    wanted: dict[tuple[tuple[str, ...], tuple[Platform, ...]], list[str]] = {}
    for root in review.roots:
        if lacking := _lacking(root, chosen, review.policy):
            platforms = tuple(sorted({Platform.parse(one) for found in lacking.values() for one in found}))
            locked = {entry.address for entry in root.new.entries}
            names = () if lacking.keys() == locked else tuple(str(address) for address in sorted(lacking))
            wanted.setdefault((names, platforms), []).append(root.path)
    parts = [Lock(where(roots), platforms, names) for (names, platforms), roots in wanted.items()]
    if not parts and review.policy.platforms:
        raise LockLensError("all wanted platforms are covered here")
    if not parts:
        words = "no other platform is known here: name those that you want in locklens.toml, and commit it"
        raise LockLensError(words, hint='[platforms] linux_amd64 = "CI"')
    return parts[0] if len(parts) == 1 else LockMissing(tuple(parts))


def _lacking(
    root: RootReview, chosen: Collection[tuple[str, ProviderAddress]], policy: Policy
) -> dict[ProviderAddress, tuple[str, ...]]:
    """The wanted platforms that each chosen provider of a root is not surely good for."""
    found = {}
    usual = frozenset[str]() if policy.platforms else frozenset().union(*map(_hashed, root.changes))
    for change in root.changes:
        if (root.lock_file, change.address) not in chosen or change.new is None:
            continue
        platforms = _not_covered(change, policy) if policy.platforms else _offered(change, usual - _hashed(change))
        if platforms:
            found[change.address] = platforms
    return found


def _not_covered(change: Change, policy: Policy) -> tuple[str, ...]:
    cover = coverage(change, policy)
    return _offered(change, (one for one in cover.platforms if one not in cover.covered))


def _offered(change: Change, platforms: Iterable[str]) -> tuple[str, ...]:
    """Leaves out packages that the release does not have: they cannot be locked."""
    offered = change.evidence.offered if change.evidence is not None else None
    return tuple(sorted(one for one in platforms if offered is None or one in offered))


def _hashed(change: Change) -> frozenset[str]:
    """The platforms that a provider has an `h1` for, as far as anybody knows."""
    return frozenset(one.platform for one in change.locked if one.platform and has_scheme(one.hash, Scheme.H1))
