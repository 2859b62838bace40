"""Operations that the user can request. Each builds its own `Plan`; only `apply` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from locklens.operations.plan.model import Plan
    from locklens.operations.write.source import ProviderSource


class Operation(Protocol):
    """One write that is wanted, in one root or in many."""

    @property
    def title(self) -> str:
        """What it is, in a few words, such as "Prune 2 roots"."""

    def plan(self, supply: ProviderSource, *, on_root: Callable[[str], None] = lambda _: None) -> Plan:
        """Finds out what is to be written.

        Args:
            supply: Where versions and hashes are from.
            on_root: Told of each root that it comes to.

        Raises:
            LockLensError: It cannot be found out for any root.
        """


def listed_providers(names: tuple[str, ...]) -> str:
    """Up to two names, else how many there are."""
    return " and ".join(names) if len(names) <= 2 else f"{len(names)} providers"


def listed_roots(roots: tuple[str, ...] | list[str]) -> str:
    """The root, or how many there are."""
    return (roots[0] if roots else ".") if len(roots) <= 1 else f"{len(roots)} roots"
