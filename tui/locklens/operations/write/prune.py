"""Removes locked providers that nothing requires."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.operations.plan.command_line import command_line
from locklens.operations.plan.scoped import ScopedPlanBuilder, put_entries, require_sound
from locklens.operations.provider_names import selected_by_root
from locklens.operations.write.operation import listed_providers, listed_roots, no_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.lockfile.model import LockEntry
    from locklens.operations.plan.model import Plan, Scope
    from locklens.operations.root_modules import Root


class Prune(Struct, frozen=True):
    """Removes locked providers that nothing requires; `providers` are those to remove, () for all orphans."""

    needs_registry: ClassVar[Literal[False]] = False

    where: Scope
    providers: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """A short title."""
        return f"Prune {listed_providers(self.providers) or 'orphans'} in {listed_roots(self.where.roots)}"

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plan the removal."""
        return prune(self.where, self.providers, on_root=on_root)


def prune(request: Scope, providers: Sequence[str] = (), *, on_root: Callable[[str], None] = no_progress) -> Plan:
    """Plans to remove providers that nothing requires.

    Where part of the configuration cannot be read (an unfetched module, a remote state), a provider is
    kept and noted, unless it is one of `providers`.

    Args:
        request: The roots.
        providers: Those to remove, as typed; () for all that nothing requires.
        on_root: Called with each root when its turn begins.

    Raises:
        ConfigurationError: One of `providers` is invalid, or a folder is no root.
        RepositoryError: Git failed.
    """
    draft = ScopedPlanBuilder(request)
    selected = selected_by_root(providers, draft.roots)
    for root in draft.roots:
        on_root(root.path)
        with draft.attempt(root.path):
            require_sound(root)
            _prune_root(draft, root, selected[root.path] if providers else None)
    return draft.plan(command_line("prune", request, providers))


def _prune_root(draft: ScopedPlanBuilder, root: Root, named: frozenset[ProviderAddress] | None) -> None:
    required = root.configuration.required()
    migrating = {old for old, new in root.migration.moved if new in required}
    orphans = [entry for entry in root.lock.entries if entry.address not in required | migrating]
    reason = root.configuration.unknown_reason
    entries: dict[ProviderAddress, LockEntry | None] = {}
    if named is None:
        if not root.configuration.has_files:
            words = f"could not determine what is required: {reason}"
            raise ConfigurationError(words, path=root.path or ".", hint="name the providers to remove")
        if reason:
            words = f"kept, although not required as far as the configuration can be read: {reason}"
            for entry in orphans:
                draft.note(root.path, words, address=root.name_of(entry.address))
        else:
            entries = {entry.address: None for entry in orphans}
    else:
        for address in sorted(named):
            if (error := _not_prunable(root, address)) is not None:
                draft.fail(root.path, error, address=root.name_of(address))
        entries = dict.fromkeys(named)
    put_entries(draft, root, entries)
    if not entries and not (named is None and orphans):
        draft.note(root.path, "nothing to prune")


def _not_prunable(root: Root, address: ProviderAddress) -> ConfigurationError | None:
    """Return the error about a named provider that cannot be pruned."""
    name = root.name_of(address)
    requirements = root.configuration.of(address)
    if requirements:
        first = requirements[0]
        hint = "remove the requirement first"
        return ConfigurationError(f"{name} is required here", path=first.file, line=first.line, hint=hint)
    if address not in root.lock.by_address:
        return ConfigurationError(f"{name} is not locked", path=root.lock.path)
    return None
