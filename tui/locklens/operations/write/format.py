"""Rewrites lock files in the format of their tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.lockfile.render import deviations, render
from locklens.operations.plan.builder import PlanBuilder, no_progress, require_sound
from locklens.operations.plan.command_line import command_line
from locklens.operations.plan.model import Plan, PlanNote, Scope
from locklens.operations.write.operation import listed_roots

if TYPE_CHECKING:
    from collections.abc import Callable

    from locklens.operations.write.source import ProviderSource


class Format(Struct, frozen=True):
    """Writes lock files as their tool does."""

    where: Scope

    @property
    def title(self) -> str:
        """What it is."""
        return f"Format the lock file of {listed_roots(self.where.roots)}"

    def plan(self, supply: ProviderSource, *, on_root: Callable[[str], None] = lambda _: None) -> Plan:  # noqa: ARG002
        """Plans to format them; nobody is asked."""
        from locklens.operations.write.format import format_locks

        return format_locks(self.where, on_root=on_root)


def format_locks(request: Scope, *, on_root: Callable[[str], None] = no_progress) -> Plan:
    """Plans to write lock files as their tool would: order, spacing, line ends; comments are lost.

    Args:
        request: Where.
        on_root: Told of each root that it comes to.

    Raises:
        ConfigurationError: A folder is no root.
        RepositoryError: Git failed.
    """
    draft = PlanBuilder(request)
    for root in draft.roots:
        on_root(root.path)
        with draft.attempt(root):
            require_sound(root)
            data = render(root.lock.entries, root.lock.writer or root.tool)
            if data == root.lock.data:
                draft.remarks.append(PlanNote(root.path, "", "it is in the tool's format already"))
            else:
                draft.words.append(f"{root.path or '.'}: put right: {', '.join(deviations(root.lock))}")
            draft.write(root.lock.path, data, old=root.lock.data)
    return draft.plan(command_line("format", request, ()))
