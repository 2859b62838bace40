"""Resolves names that the user typed: of roots, and of providers that these roots require or have locked."""

from __future__ import annotations

import os
import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import ProviderAddress, from_ascii, normalise_host, normalise_namespace, normalise_part
from locklens.dialect import DIALECTS
from locklens.errors import ConfigurationError, RepositoryError
from locklens.lockfile import unread_words
from locklens.project import LOCK_FILE
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from locklens.dialect import Dialect
    from locklens.operations.root_modules import Root

_GLOB = re.compile(r"[*?\[]")


def select_roots(
    folder: Path, names: Sequence[str], *, selects_all: bool = False, sides: Callable[[], Sequence[str]] | None = None
) -> tuple[str, ...]:
    """Return the folders of roots, relative to a folder, each once.

    Names are folders, and globs of folders with a lock file: `*` and `?` stay within one folder name, `**` spans any
    number of folders. An existing folder is never read as a glob. `sides` returns the roots of the sides that are
    compared, relative to the folder; None for the work tree alone.

    Raises:
        ConfigurationError: A glob matches no root, or the repository has none.
        NoRepositoryError: `selects_all` or a glob is used outside of a git repository.
    """
    if selects_all:
        roots = repository_roots(folder)
        if not roots:
            raise ConfigurationError(f"no {LOCK_FILE} in this repository that git does not ignore", path=str(folder))
        return roots
    selected: dict[str, None] = {}
    for name in names:
        if not _GLOB.search(name) or (folder / name).exists():
            selected[name] = None
            continue
        roots = roots_below(folder) if sides is None else tuple(filter(_is_below, sides()))
        matching = [root for root in roots if _matches(name, root)]
        if not matching:
            raise ConfigurationError(f"no root matches {name!r}", hint=hint_of_roots(roots))
        selected |= dict.fromkeys(matching)
    return tuple(selected)


def roots_below(folder: Path) -> tuple[str, ...]:
    """Return those of `repository_roots` that are in or below the folder."""
    return tuple(filter(_is_below, repository_roots(folder)))


def _is_below(root: str) -> bool:
    return root != ".." and not root.startswith("../")


def repository_roots(folder: Path) -> tuple[str, ...]:
    """Return the folders with a lock file in the repository of a folder, relative to that folder, in order.

    Raises:
        NoRepositoryError: The folder is in no git repository.
        RepositoryError: Git failed.
    """
    from locklens.operations.root_modules import locked_roots_from
    from locklens.project.git import Repository
    from locklens.project.gittree import SparseWorkTree

    with Repository.discover(folder) as repository:
        return locked_roots_from(folder, repository, SparseWorkTree(repository))


def hint_of_roots(roots: Sequence[str]) -> str:
    """Return a hint with some roots and the options that select them; "" without roots."""
    if not roots:
        return ""
    return f"roots below: {listing(list(roots))}; select with --root DIR or --all-roots"


def hint_below(folder: Path) -> str:
    """Return a hint with the roots below a folder that is not a root; "" if there are none, or no repository.

    They are named from the current folder, as --root takes them.
    """
    try:
        return hint_of_roots([os.path.relpath(folder / root).replace(os.sep, "/") for root in roots_below(folder)])
    except (RepositoryError, ConfigurationError):
        return ""


def _matches(glob: str, root: str) -> bool:
    """True if a glob matches a whole path."""
    from fnmatch import fnmatchcase

    parts = [part for part in glob.split("/") if part not in {"", "."}]
    names = root.split("/") if root != "." else []
    # How many of the first names the parts so far can match; "**" matches any number of them.
    matched = {0}
    for part in parts:
        if part != "**":
            matched = {count + 1 for count in matched if count < len(names) and fnmatchcase(names[count], part)}
        elif matched:
            matched = set(range(min(matched), len(names) + 1))
    return len(names) in matched


_NAMES_SHOWN = 8
_REASONS_SHOWN = 4


def check_address(text: str) -> None:
    """Refuse an invalid provider address, before any file is read.

    Raises:
        ConfigurationError: It is invalid.
    """
    _Wanted.parse(text)


def resolve_providers(
    text: str, roots: Sequence[Root], *, is_of_upgrade: bool = False
) -> dict[str, tuple[ProviderAddress, ...]]:
    """Return what TYPE, NAMESPACE/TYPE or HOST/NAMESPACE/TYPE means in each root, by the root's path; () for none.

    An upgrade is of providers that a root requires, or may: of several that could be meant, it is one of these.

    Raises:
        ConfigurationError: It is invalid, ambiguous, or found in no root.
    """
    name = _Wanted.parse(text)
    matching = {root.path: name.among(root.providers, root.tool, replaced=dict(root.migration.moved)) for root in roots}
    tools = [root.tool for root in roots]
    if is_of_upgrade and _ambiguous(zip(tools, matching.values(), strict=True)):
        known = {root.path: root.configuration.required() | root.by_record for root in roots}
        required = {path: tuple(one for one in matching[path] if one in known[path]) for path in matching}
        matching = required if any(required.values()) else matching
    _refuse_ambiguous(text, zip(tools, matching.values(), strict=True))
    if not any(matching.values()):
        raise _not_found(text, roots)
    return matching


def named_among(
    text: str, by_root: Iterable[tuple[Dialect, Collection[ProviderAddress]]], *, is_single: bool = False
) -> tuple[ProviderAddress, ...]:
    """Return what a typed name means among the addresses of each root, with the root's tool; () for none.

    With `is_single` the name has to mean the same one in all of them.

    Raises:
        ConfigurationError: It is invalid, or ambiguous.
    """
    wanted = _Wanted.parse(text)
    found = [(tool, wanted.among(addresses, tool)) for tool, addresses in by_root]
    _refuse_ambiguous(text, found, is_single=is_single)
    return tuple(sorted({address for _, matching in found for address in matching}))


def full_address(text: str, default_host: str) -> ProviderAddress | None:
    """Return the address that a typed name spells; None if it is only a type. Errors as in `check_address`."""
    wanted = _Wanted.parse(text)
    if wanted.namespace is None:
        return None
    return ProviderAddress(wanted.host or default_host, wanted.namespace, wanted.type)


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
            namespace = [normalise_namespace(from_ascii(each)) for each in parts[-2:-1]]
            names = [*namespace, normalise_part(from_ascii(parts[-1]))]
        except ValueError as error:
            raise ConfigurationError(f"invalid provider address {text!r}: {error}", hint=hint) from error
        return cls(host, names[0] if len(names) == 2 else None, names[-1])

    def is_match(self, address: ProviderAddress) -> bool:
        """True if the typed name can mean an address."""
        return (
            address.type == self.type
            and self.namespace in {None, address.namespace}
            and self.host in {None, address.host}
        )

    def among(
        self,
        addresses: Iterable[ProviderAddress],
        tool: Dialect,
        *,
        replaced: Mapping[ProviderAddress, ProviderAddress] = MappingProxyType({}),
    ) -> tuple[ProviderAddress, ...]:
        """Return the matching addresses of a root, each once.

        Without a host, the provider of the tool's own registry is meant where the other tool's registry has one of its
        name, too; for NAMESPACE/TYPE, also where another host has one. `replaced` are those that the tool replaces by
        others.
        """
        matching = sorted(address for address in set(addresses) if self.is_match(address))
        if self.host is not None:
            return tuple(matching)
        matching = [address for address in matching if replaced.get(address) not in matching]
        hidden = {one.default_host for one in DIALECTS.values()} if self.namespace is None else None
        own = {_own(address) for address in matching if address.host == tool.default_host}
        return tuple(
            address
            for address in matching
            if address.host == tool.default_host
            or _own(address) not in own
            or (hidden is not None and address.host not in hidden)
        )


def _own(address: ProviderAddress) -> tuple[str, str]:
    """The name that a provider has in every registry."""
    return address.namespace, address.type


def _ambiguous(
    matching: Iterable[tuple[Dialect, Collection[ProviderAddress]]], *, is_single: bool = False
) -> list[str]:
    """Return names of several providers that could be meant, each of which means one alone; [] for one.

    One name of each root's own tool is one, unless `is_single`.
    """
    named: dict[tuple[str, str], set[tuple[ProviderAddress, str]]] = {}
    for tool, found in matching:
        for address in found:
            named.setdefault(_own(address), set()).add((address, address.short(tool.default_host)))
    shown: list[str] = []
    for alike in named.values():
        addresses, names = ({*each} for each in zip(*alike, strict=True))
        is_one = len(addresses) == 1 or (len(names) == 1 and not is_single)
        shown += [min(names)] if is_one else map(str, addresses)
    return sorted(shown) if len(shown) > 1 else []


def _refuse_ambiguous(
    text: str, matching: Iterable[tuple[Dialect, Collection[ProviderAddress]]], *, is_single: bool = False
) -> None:
    if names := _ambiguous(matching, is_single=is_single):
        raise ConfigurationError(f"ambiguous provider {text!r}: {_listing(names, 'or')}", hint="use one of these")


def _not_found(text: str, roots: Sequence[Root]) -> ConfigurationError:
    names = sorted({root.name_of(address) for root in roots for address in root.providers})
    near = meant(text, names)
    unread = [root for root in roots if not root.lock.is_complete]
    if unread:
        hint = _hint_of_unread(unread)
    elif near:
        hint = near
    elif names:
        hint = f"required or locked here: {_listing(names, 'and')}"
    else:
        hint = "no provider is required or locked here"
    unknown = [
        f"{root.name}: {reason}" if len(roots) > 1 else reason
        for root in roots
        if (reason := root.configuration.unknown_reason)
    ]
    reasons = [unread_words([root.lock for root in unread])] if unread else []
    reasons += unknown[:_REASONS_SHOWN]
    if len(unknown) > _REASONS_SHOWN:
        reasons.append(counted(len(unknown) - _REASONS_SHOWN, "more root"))
    extent = "as far as can be read" if unread else "as far as the configuration can be read"
    limits = f", {extent} ({'; '.join(reasons)})" if reasons else ""
    found = "the root does not require or lock"
    if len(roots) != 1:
        found = f"none of the {len(roots)} roots requires or locks"
    return ConfigurationError(f"{found} {text!r}{limits}", hint=hint)


def meant(text: str, names: Sequence[str]) -> str:
    """Return the question whether a name like the typed one was meant; "" if none is like it."""
    import difflib

    by_type = {name.rpartition("/")[2]: name for name in names}
    near = difflib.get_close_matches(text, names, 1) or difflib.get_close_matches(text.rpartition("/")[2], by_type, 1)
    return f"did you mean {by_type.get(near[0], near[0])}?" if near else ""


def _hint_of_unread(roots: Sequence[Root]) -> str:
    """Return the next step for lock files that cannot be read: for the first with a conflict, or else for the first."""
    if merging := next(filter(None, (root.merging for root in roots)), ""):
        return merging
    lock = roots[0].lock
    return "; ".join(f"{lock.path}:{one.line}: {one.summary}" for one in lock.problems[:1])


def _listing(names: Sequence[str], word: str) -> str:
    shown = list(names[:_NAMES_SHOWN])
    if len(names) > _NAMES_SHOWN:
        shown.append(f"{len(names) - _NAMES_SHOWN} more")
    return f"{', '.join(shown[:-1])} {word} {shown[-1]}" if len(shown) > 1 else shown[0]


def selected_by_root(
    providers: Sequence[str], roots: Sequence[Root], *, is_of_upgrade: bool = False
) -> dict[str, frozenset[ProviderAddress]]:
    """Return the named providers by root, as `resolve_providers` does.

    Raises:
        ConfigurationError: One of them is invalid, ambiguous, or found in no root.
    """
    selected: dict[str, set[ProviderAddress]] = {root.path: set() for root in roots}
    for text in providers:
        for path, addresses in resolve_providers(text, roots, is_of_upgrade=is_of_upgrade).items():
            selected[path].update(addresses)
    return {path: frozenset(addresses) for path, addresses in selected.items()}
