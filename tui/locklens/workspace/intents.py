"""What the user wants to write, before it is known what that comes to: each intent makes a plan of itself.

The command line and the terminal UI make the same intents; only `locklens.workspace.apply` writes what they planned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from locklens.workspace.planning import WriteRequest, joined

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from locklens.workspace.planning import Plan
    from locklens.workspace.supply import Supply


class Intent(Protocol):
    """One write that is wanted, in one root or in many."""

    @property
    def title(self) -> str:
        """What it is, in a few words, such as "Prune 2 roots"."""

    def plan(self, supply: Supply, *, on_root: Callable[[str], None] = lambda _: None) -> Plan:
        """Finds out what is to be written.

        Args:
            supply: Where versions and hashes are from.
            on_root: Told of each root that it comes to.

        Raises:
            LockLensError: It cannot be found out for any root.
        """


class PruneIntent(Struct, frozen=True):
    """Removes what nothing requires; `providers` names those to remove, () for all orphans."""

    where: WriteRequest
    providers: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What it is."""
        return f"Prune {_listed(self.providers) or 'orphans'} in {_places(self.where.roots)}"

    def plan(self, supply: Supply, *, on_root: Callable[[str], None] = lambda _: None) -> Plan:  # noqa: ARG002
        """Plans to remove it; nobody is asked."""
        from locklens.workspace.propose import prune

        return prune(self.where, self.providers, on_root=on_root)


class Restored(Struct, frozen=True):
    """Which providers are to be as they were, in which roots."""

    roots: tuple[str, ...]
    providers: tuple[str, ...]


class RestoreIntent(Struct, frozen=True):
    """Takes entries from the lock files of a revision.

    Attributes:
        where: The folder that the roots are relative to; its own roots do not count.
        restored: What; no root is in two of them.
        revision: Of git.
    """

    where: WriteRequest
    restored: tuple[Restored, ...]
    revision: str = "HEAD"

    @property
    def title(self) -> str:
        """What it is."""
        roots = [root for one in self.restored for root in one.roots]
        providers = tuple(dict.fromkeys(name for one in self.restored for name in one.providers))
        return f"Restore {_listed(providers)} from {self.revision} in {_places(roots)}"

    def plan(self, supply: Supply, *, on_root: Callable[[str], None] = lambda _: None) -> Plan:  # noqa: ARG002
        """Plans to restore it; nobody is asked."""
        from locklens.workspace.propose import restore

        return joined(
            [
                restore(replace(self.where, roots=one.roots), one.providers, self.revision, on_root=on_root)
                for one in self.restored
            ]
        )


class FormatIntent(Struct, frozen=True):
    """Writes lock files as their tool does."""

    where: WriteRequest

    @property
    def title(self) -> str:
        """What it is."""
        return f"Format the lock file of {_places(self.where.roots)}"

    def plan(self, supply: Supply, *, on_root: Callable[[str], None] = lambda _: None) -> Plan:  # noqa: ARG002
        """Plans to format them; nobody is asked."""
        from locklens.workspace.propose import format_locks

        return format_locks(self.where, on_root=on_root)


class UndoIntent(Struct, frozen=True):
    """Takes back what was applied last in the repository that a folder is in."""

    folder: Path

    @property
    def title(self) -> str:
        """What it is."""
        return "Undo the last apply"

    def plan(self, supply: Supply, *, on_root: Callable[[str], None] = lambda _: None) -> Plan:  # noqa: ARG002
        """Plans to take it back; nobody is asked."""
        from locklens.workspace.undo import undo

        return undo(self.folder)


def _listed(names: tuple[str, ...]) -> str:
    """Up to two names, else how many there are."""
    return " and ".join(names) if len(names) <= 2 else f"{len(names)} providers"


def _places(roots: tuple[str, ...] | list[str]) -> str:
    """The root, or how many there are."""
    return (roots[0] if roots else ".") if len(roots) <= 1 else f"{len(roots)} roots"
