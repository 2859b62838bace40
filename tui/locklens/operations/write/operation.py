"""Operations that the user can request. Each plans its own write; only `apply` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from locklens.operations.plan.model import Plan
    from locklens.operations.write.registry_source import RegistrySource


def no_progress(_: str) -> None:
    """Ignore the progress of a plan."""


class _Write(Struct, frozen=True):
    @property
    def title(self) -> str:
        """A short title, such as "Prune 2 roots"."""
        raise NotImplementedError

    def without_missing_modules(self) -> Self:
        """Return the operation that ignores what unreadable modules require; the same one where it needs none."""
        return self


class FileOperation(_Write, frozen=True):
    """A write that is planned from files alone."""

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan the write.

        Args:
            on_root: Called with each root when its turn begins.

        Raises:
            LockLensError: No root can be planned.
        """
        raise NotImplementedError


class RegistryOperation(_Write, frozen=True):
    """A write that needs versions and hashes from registries."""

    def plan(self, source: RegistrySource, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan the write.

        Args:
            source: The source of versions and hashes.
            on_root: Called with each root when its turn begins.

        Raises:
            LockLensError: No root can be planned.
            RunCancelledError: The run was cancelled.
        """
        raise NotImplementedError


Operation = FileOperation | RegistryOperation
"""One write that the user requests, in one root or in many."""


def listed_providers(names: tuple[str, ...]) -> str:
    """Return up to two names, else their number."""
    return " and ".join(names) if len(names) <= 2 else f"{len(names)} providers"


def listed_roots(roots: tuple[str, ...] | list[str]) -> str:
    """Return the root, or the number of roots."""
    return (roots[0] if roots else ".") if len(roots) <= 1 else f"{len(roots)} roots"
