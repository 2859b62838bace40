"""Rewrites lock files in the format of their tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct

from locklens.lockfile.render import deviations, render
from locklens.operations.plan.command_line import command_line
from locklens.operations.plan.scoped import ScopedPlanBuilder, require_sound
from locklens.operations.write.operation import listed_roots, no_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from locklens.operations.plan.model import Plan, Scope


class Format(Struct, frozen=True):
    """Rewrites lock files in the format of their tool."""

    needs_registry: ClassVar[Literal[False]] = False

    where: Scope

    @property
    def title(self) -> str:
        """A short title."""
        return f"Format the lock file of {listed_roots(self.where.roots)}"

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plans to format them."""
        return format_locks(self.where, on_root=on_root)


def format_locks(request: Scope, *, on_root: Callable[[str], None] = no_progress) -> Plan:
    """Plans to write lock files in their tool's format: order, spacing, line ends; comments are lost.

    Args:
        request: The roots.
        on_root: Called with each root when its turn begins.

    Raises:
        ConfigurationError: A folder is no root.
        RepositoryError: Git failed.
    """
    draft = ScopedPlanBuilder(request)
    for root in draft.roots:
        on_root(root.path)
        with draft.attempt(root.path):
            require_sound(root)
            data = render(root.lock.entries, root.lock.writer or root.tool)
            if data == root.lock.data:
                draft.note(root.path, "already in the tool's format")
            else:
                name, fixed = root.path or ".", ", ".join(deviations(root.lock))
                draft.describe(f"{name}: format fixed: {fixed}", dry_run=f"{name}: would fix the format: {fixed}")
            draft.put_lock(root, data)
    return draft.plan(command_line("format", request, ()))
