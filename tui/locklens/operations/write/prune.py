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
    """Removes what nothing requires; `providers` names those to remove, () for all orphans."""

    needs_registry: ClassVar[Literal[False]] = False

    where: Scope
    providers: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What it is."""
        return f"Prune {listed_providers(self.providers) or 'orphans'} in {listed_roots(self.where.roots)}"

    def plan(self, *, on_root: Callable[[str], None] = no_progress) -> Plan:
        """Plans to remove it."""
        return prune(self.where, self.providers, on_root=on_root)


def prune(request: Scope, providers: Sequence[str] = (), *, on_root: Callable[[str], None] = no_progress) -> Plan:
    """Plans to remove what nothing requires.

    Where something that may require a provider cannot be read (an unfetched module, a remote state), the provider is
    kept and named, unless it is one of `providers`.

    Args:
        request: Where.
        providers: Those to remove, as typed; () for all that nothing requires.
        on_root: Told of each root that it comes to.

    Raises:
        ConfigurationError: One of `providers` is none, or a folder is no root.
        RepositoryError: Git failed.
    """
    draft = ScopedPlanBuilder(request)
    chosen = selected_by_root(providers, draft.roots)
    for root in draft.roots:
        on_root(root.path)
        with draft.attempt(root.path):
            require_sound(root)
            _prune_root(draft, root, chosen[root.path] if providers else None)
    return draft.plan(command_line("prune", request, providers))


def _prune_root(draft: ScopedPlanBuilder, root: Root, named: frozenset[ProviderAddress] | None) -> None:
    required = root.configuration.required()
    orphans = [entry for entry in root.lock.entries if entry.address not in required]
    reason = root.configuration.unknown_reason
    going: dict[ProviderAddress, LockEntry | None] = {}
    if named is None:
        if not root.configuration.has_files:
            words, hint = "there is no configuration, so nothing is required", "name what is to be removed"
            raise ConfigurationError(words, path=root.path or ".", hint=hint)
        if reason:
            words = f"kept although nothing that can be read requires it: {reason}"
            for one in orphans:
                draft.note(root.path, words, address=root.name_of(one.address))
        else:
            going = {entry.address: None for entry in orphans}
    else:
        for address in sorted(named):
            if (error := _not_prunable(root, address)) is not None:
                draft.fail(root.path, error, address=root.name_of(address))
        going = dict.fromkeys(named)
    put_entries(draft, root, going)
    if not going and not (named is None and orphans):
        draft.note(root.path, "nothing to prune")


def _not_prunable(root: Root, address: ProviderAddress) -> ConfigurationError | None:
    """Why a provider that was named cannot be pruned."""
    name = root.name_of(address)
    requirements = root.configuration.of(address)
    if requirements:
        first = requirements[0]
        hint = "remove what requires it first"
        return ConfigurationError(f"{name} is required here", path=first.file, line=first.line, hint=hint)
    if address not in root.lock.by_address:
        return ConfigurationError(f"{name} is not locked", path=root.lock.path)
    return None
