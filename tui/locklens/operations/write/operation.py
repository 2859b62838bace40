"""Operations that the user can request. Each builds its own `Plan`; only `apply` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from locklens.operations.plan.model import Plan
    from locklens.operations.write.source import ProviderSource


def no_progress(_: str) -> None:
    """Ignores the roots that a plan comes to."""


class FileOperation(Protocol):
    """A write that is planned from files alone."""

    @property
    def needs_registry(self) -> Literal[False]:
        """Whether registries have to be asked."""

    @property
    def title(self) -> str:
        """What it is, in a few words, such as "Prune 2 roots"."""

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Finds out what is to be written.

        Args:
            on_root: Called with each root that it comes to.

        Raises:
            LockLensError: It cannot be found out for any root.
        """


class RegistryOperation(Protocol):
    """A write that takes versions and hashes from registries."""

    @property
    def needs_registry(self) -> Literal[True]:
        """Whether registries have to be asked."""

    @property
    def title(self) -> str:
        """What it is, in a few words, such as "Prune 2 roots"."""

    def plan(self, source: ProviderSource, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Finds out what is to be written.

        Args:
            source: Where versions and hashes are from.
            on_root: Called with each root that it comes to.

        Raises:
            LockLensError: It cannot be found out for any root.
            RunCancelledError: The run was cancelled.
        """


Operation = FileOperation | RegistryOperation
"""One write that the user requests, in one root or in many."""


def listed_providers(names: tuple[str, ...]) -> str:
    """Up to two names, else how many there are."""
    return " and ".join(names) if len(names) <= 2 else f"{len(names)} providers"


def listed_roots(roots: tuple[str, ...] | list[str]) -> str:
    """The root, or how many there are."""
    return (roots[0] if roots else ".") if len(roots) <= 1 else f"{len(roots)} roots"
