"""The requirements of providers in one module, and the providers of its local names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens import hcl
from locklens.addresses import normalise_part
from locklens.project.configuration import ConfigurationProblem, Contributor, Requirement
from locklens.versions import Constraints

if TYPE_CHECKING:
    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.project.declared import Import, ProviderConfiguration, Resource
    from locklens.project.merging import Module, Placed

_KINDS = {
    "managed": Contributor.RESOURCE,
    "data": Contributor.DATA,
    "ephemeral": Contributor.EPHEMERAL,
    "action": Contributor.ACTION,
}


class LocalNames:
    """A module's table of local names. Each module has its own: a child does not see its caller's."""

    def __init__(self, module: Module, dialect: Dialect) -> None:
        self._table = {one.item.name: one.item.address for one in module.required}
        self._dialect = dialect

    def provider(self, name: str) -> ProviderAddress:
        """Return what a local name stands for."""
        return self._table.get(name) or self._dialect.default_provider(name)

    def of_type(self, kind: str) -> ProviderAddress:
        """Return the provider that a resource type implies.

        Raises:
            ValueError: The type's first word is no local name; str() says why.
        """
        word = kind.partition("_")[0]
        try:
            return self.provider(normalise_part(word))
        except ValueError as error:
            raise ValueError(f'"{word}" is an invalid implied provider local name: {error}') from error


def contributions(module: Module, key: str, dialect: Dialect) -> tuple[list[Requirement], list[ConfigurationProblem]]:
    """Return what a module by itself requires, and what keeps something from being known.

    Of the resources of one kind that use one provider the first is listed, with their number.

    Args:
        module: The module.
        key: The path of its call, "" for the root module.
        dialect: The tool.
    """
    gathering = _Gathering(module, key, dialect)
    gathering.add_required()
    for provider in module.providers:
        gathering.add_provider(provider)
    for resource in module.resources:
        gathering.add_resource(resource)
    for block in module.imports:
        gathering.add_import(block)
    return gathering.counted(), gathering.problems


def provider_subject(name: str, alias: str) -> str:
    """Return how a provider configuration is named to the user."""
    return f'provider "{name}" ({alias})' if alias else f'provider "{name}"'


class _Gathering:
    """Requirements of one module, as far as they were gathered."""

    def __init__(self, module: Module, key: str, dialect: Dialect) -> None:
        self.requirements: list[Requirement] = []
        self.problems: list[ConfigurationProblem] = []
        self._module = module
        self._key = key
        self._dialect = dialect
        self._names = LocalNames(module, dialect)
        self._used: dict[tuple[Contributor, ProviderAddress], int] = {}
        self._counts: dict[int, int] = {}
        self._resources = {
            (one.item.type, one.item.name): one.item for one in module.resources if one.item.mode == "managed"
        }

    def counted(self) -> list[Requirement]:
        """Return what was gathered."""
        for position, count in self._counts.items():
            self.requirements[position] = replace(self.requirements[position], count=count)
        return self.requirements

    def add_required(self) -> None:
        """Take the required_providers entries, used or not."""
        seen: dict[ProviderAddress, str] = {}
        for one in self._module.required:
            entry = one.item
            if entry.address in seen:
                both = f'"{seen[entry.address]}" and "{entry.name}"'
                detail = f"Provider {entry.address} is required under the local names {both}."
                self._note(one, "Duplicate required provider", detail, is_error=False)
            seen.setdefault(entry.address, entry.name)
            self.requirements.append(
                Requirement(
                    address=entry.address,
                    constraint=entry.constraint,
                    constraints=entry.constraints,
                    file=one.file,
                    line=entry.line,
                    module=self._key,
                    contributor=Contributor.REQUIRED_PROVIDERS,
                    subject=entry.name,
                    overrides=one.hidden,
                )
            )

    def add_provider(self, one: Placed[ProviderConfiguration]) -> None:
        """Take a provider configuration, with the constraint that old ones have."""
        block = one.item
        self.requirements.append(
            Requirement(
                address=self._names.provider(block.name),
                constraint=block.constraint if block.constraints is not None else "",
                constraints=block.constraints or Constraints(),
                file=one.file,
                line=block.line,
                module=self._key,
                contributor=Contributor.PROVIDER,
                subject=provider_subject(block.name, block.alias),
                overrides=one.hidden,
            )
        )

    def add_resource(self, one: Placed[Resource]) -> None:
        """Take a resource of any mode."""
        resource = one.item
        self._add(one, resource.provider, resource.type, _KINDS[resource.mode], resource.address)

    def add_import(self, one: Placed[Import]) -> None:
        """Take an import block. The tools differ in whether one with a resource block beside it counts.

        Terraform reads those of child modules from 1.16 on, OpenTofu does not.
        """
        block = one.item
        if self._key and self._dialect.name == "opentofu":
            detail = f"An import block was detected in {self._key}. Import blocks are only allowed in the root module."
            self._note(one, "Invalid import configuration", detail)
            return
        kind, name, is_in_module = _target(block.target)
        if kind is None:
            return
        existing = None if is_in_module else self._resources.get((kind, name))
        if block.provider and (is_in_module or (existing is not None and existing.provider != block.provider)):
            detail = "The provider argument can only be specified on a resource, or equal to the resource's own."
            self._note(one, "Invalid import provider argument", detail)
        if self._dialect.name == "terraform" and (is_in_module or existing is not None):
            return
        # OpenTofu takes the import's own provider even where the resource's is another.
        self._add(one, block.provider if not is_in_module else "", kind, Contributor.IMPORT, f"import of {kind}.{name}")

    def _add(
        self,
        one: Placed[Resource] | Placed[Import],
        provider: str | None,
        kind: str,
        contributor: Contributor,
        subject: str,
    ) -> None:
        """Add an unconstrained requirement, unless its provider cannot be told."""
        if provider is None:
            return
        try:
            address = self._names.provider(provider) if provider else self._names.of_type(kind)
        except ValueError as error:
            self._note(one, "Invalid provider local name", str(error))
            return
        position = self._used.setdefault((contributor, address), len(self.requirements))
        if position < len(self.requirements):
            self._counts[position] = self._counts.get(position, 1) + 1
            return
        self.requirements.append(
            Requirement(
                address=address,
                constraint="",
                constraints=Constraints(),
                file=one.file,
                line=one.item.line,
                module=self._key,
                contributor=contributor,
                subject=subject,
                overrides=one.hidden,
            )
        )

    def _note(self, one: Placed[object], summary: str, detail: str, *, is_error: bool = True) -> None:
        line, column = getattr(one.item, "line", None), getattr(one.item, "column", None)
        self.problems.append(ConfigurationProblem(one.file, line, column, summary, detail, is_error))


def _target(parts: tuple[str | int, ...]) -> tuple[str | None, str, bool]:
    """Return type and name of an import's target, and whether it is in a module; None for no managed resource."""
    position = 0
    while parts[position : position + 1] == ("module",) and not isinstance(parts[position], hcl.IndexStep):
        position += 2
        if position < len(parts) and isinstance(parts[position], int | hcl.IndexStep):
            position += 1
    rest = parts[position:]
    if len(rest) < 2 or rest[0] == "data" or not isinstance(rest[0], str) or not isinstance(rest[1], str):
        return None, "", position > 0
    return rest[0], rest[1], position > 0
