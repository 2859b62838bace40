"""Resolves typed names of providers, among those that roots require or have locked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import normalise_host, normalise_namespace, normalise_part
from locklens.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.addresses import ProviderAddress
    from locklens.operations.root_modules import Root


_NAMES_SHOWN = 8


def check_address(text: str) -> None:
    """Refuse an invalid provider address, before any file is read.

    Raises:
        ConfigurationError: It is invalid.
    """
    _Wanted.parse(text)


def resolve_providers(text: str, roots: Sequence[Root]) -> dict[str, tuple[ProviderAddress, ...]]:
    """Return the providers that a typed name stands for in each root, by the root's path; () for none.

    Args:
        text: TYPE, NAMESPACE/TYPE or HOST/NAMESPACE/TYPE.
        roots: The roots to search.

    Raises:
        ConfigurationError: It is invalid, ambiguous, or found in no root.
    """
    name = _Wanted.parse(text)
    matching = {root.path: name.among(root) for root in roots}
    _refuse_ambiguity(text, roots, matching)
    if not any(matching.values()):
        raise _not_found(text, roots)
    return matching


class _Wanted(Struct, frozen=True):
    """A typed provider in normal form; omitted parts are None."""

    host: str | None
    namespace: str | None
    type: str

    @classmethod
    def parse(cls, text: str) -> _Wanted:
        """Read TYPE, NAMESPACE/TYPE or HOST/NAMESPACE/TYPE."""
        parts = text.split("/")
        hint = "write it as aws, hashicorp/aws or registry.terraform.io/hashicorp/aws"
        if len(parts) > 3:
            raise ConfigurationError(f"invalid provider address {text!r}: more than three parts", hint=hint)
        try:
            host = normalise_host(parts[0]) if len(parts) == 3 else None
            names = [*map(normalise_namespace, parts[-2:-1]), normalise_part(parts[-1])]
        except ValueError as error:
            raise ConfigurationError(f"invalid provider address {text!r}: {error}", hint=hint) from error
        return cls(host, names[0] if len(names) == 2 else None, names[-1])

    def among(self, root: Root) -> tuple[ProviderAddress, ...]:
        """Return the root's matching providers; for a namespace without a host, the tool's own registry first."""
        matching = sorted(
            address
            for address in root.providers
            if address.type == self.type
            and self.namespace in {None, address.namespace}
            and self.host in {None, address.host}
        )
        if self.host is None:
            successors = dict(root.migration.moved)
            matching = [address for address in matching if successors.get(address) not in matching]
        preferred = [
            address for address in matching if self.namespace is not None and address.host == root.tool.default_host
        ]
        return tuple(preferred if self.host is None and preferred else matching)


def _refuse_ambiguity(text: str, roots: Sequence[Root], meant: dict[str, tuple[ProviderAddress, ...]]) -> None:
    addresses = {address for matching in meant.values() for address in matching}
    names = {root.name_of(address) for root in roots for address in meant[root.path]}
    if len(addresses) > 1 and len(names) > 1:
        raise ConfigurationError(
            f"ambiguous provider {text!r}: {_listing(sorted(names), 'or')}", hint="use one of these"
        )


def _not_found(text: str, roots: Sequence[Root]) -> ConfigurationError:
    import difflib

    names = sorted({root.name_of(address) for root in roots for address in root.providers})
    by_type = {name.rpartition("/")[2]: name for name in names}
    near = difflib.get_close_matches(text, names, 1) or difflib.get_close_matches(text.rpartition("/")[2], by_type, 1)
    if near:
        hint = f"did you mean {by_type.get(near[0], near[0])}?"
    elif names:
        hint = f"required or locked here: {_listing(names, 'and')}"
    else:
        hint = "no provider is required or locked here"
    unknown = next((reason for root in roots if (reason := root.configuration.unknown_reason)), "")
    unsure = f", as far as the configuration can be read ({unknown})" if unknown else ""
    place = "the root" if len(roots) == 1 else f"none of the {len(roots)} roots"
    verbs = "does not require or lock" if len(roots) == 1 else "requires or locks"
    return ConfigurationError(f"{place} {verbs} {text!r}{unsure}", hint=hint)


def _listing(names: Sequence[str], word: str) -> str:
    shown = list(names[:_NAMES_SHOWN])
    if len(names) > _NAMES_SHOWN:
        shown.append(f"{len(names) - _NAMES_SHOWN} more")
    return f"{', '.join(shown[:-1])} {word} {shown[-1]}" if len(shown) > 1 else shown[0]


def selected_by_root(providers: Sequence[str], roots: Sequence[Root]) -> dict[str, frozenset[ProviderAddress]]:
    """Return the named providers by root.

    Raises:
        ConfigurationError: One of them is invalid, ambiguous, or found in no root.
    """
    selected: dict[str, set[ProviderAddress]] = {root.path: set() for root in roots}
    for text in providers:
        for path, addresses in resolve_providers(text, roots).items():
            selected[path].update(addresses)
    return {path: frozenset(addresses) for path, addresses in selected.items()}
