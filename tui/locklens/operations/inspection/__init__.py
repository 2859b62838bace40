"""`inspect`: which packages are meant, where they come from, and what is inside.

Here are the versions of a provider that are inspected: locked in a revision or in the work tree, or named.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import TERRAFORM
from locklens.errors import ConfigurationError, NoRepositoryError
from locklens.hashes import is_known_scheme, packages_of
from locklens.operations.comparison import within
from locklens.operations.root_modules import folders_with_locks, lock_path, read_lock, tool_of
from locklens.operations.typed_names import full_address, named_among
from locklens.project.tree import FileSystem
from locklens.text import listing
from locklens.versions import Version, VersionSyntaxError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile import LockEntry
    from locklens.project.git import Repository
    from locklens.project.tree import Tree

_STATES = "as locked before", "as locked now"
"""What tells two packages of one version apart."""
_STATES_OF_A_PLAN = "as locked now", "as planned"
"""The same where the newer one is not locked yet."""


class InspectedVersion(Struct, frozen=True):
    """A version of a provider to inspect.

    Attributes:
        hashes: The locked hashes of known schemes; empty for a version without known locked hashes.
        state: What tells it from another package of the same version; "" where there is none.
        by: "locked", or "planned" if a plan is to lock these hashes.
    """

    address: ProviderAddress
    version: Version
    tool: Dialect
    hashes: frozenset[str] = frozenset()
    state: str = ""
    by: Literal["locked", "planned"] = "locked"

    def is_republished_as(self, new: InspectedVersion) -> bool:
        """True if both are locked with packages, and have none in common."""
        old_packages, new_packages = packages_of(self.hashes), packages_of(new.hashes)
        return bool(old_packages and new_packages) and old_packages.isdisjoint(new_packages)


class _Locked(Struct, frozen=True):
    root: str
    tool: Dialect
    entry: LockEntry


def versions_to_inspect(
    provider: str,
    old: str | None,
    new: str | None,
    *,
    folder: Path,
    roots: Sequence[str] = (),
    tool: Dialect | None,
    hashes: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset()),
    is_planned: bool = False,
) -> tuple[InspectedVersion, ...]:
    """Return the older and the newer version, or one where both are the same and were not published again.

    The provider is TYPE, NAMESPACE/TYPE or HOST/NAMESPACE/TYPE; `old` and `new` are versions or revisions. None is the
    work tree, or as the old one HEAD unless the new one is a version. `roots` are relative to the current folder, ()
    for all of the repository. `hashes` lock the two versions where they are named as versions; `is_planned` is True if
    a plan is to lock the newer version, and nothing locks it so yet.

    Raises:
        ConfigurationError: The provider is invalid, ambiguous or not found, or locked in several versions.
        RepositoryError: There is no such revision, or git failed.
    """
    with ExitStack() as stack:
        reader = _Reader(folder, roots, tool, stack)
        fallback = (None if _version(new) is not None or not reader.has_head else "HEAD") if old is None else old
        texts = (fallback, new)
        found = [None if _version(text) is not None else reader.locked(text) for text in texts]
        locked = [one for side in found for one in side or ()]
        if full_address(provider, TERRAFORM.default_host) is None and all(side is None for side in found):
            locked = reader.locked(None)  # Only they say what a type alone stands for.
    address = _address(provider, locked, texts, tool)
    known = {one.entry.address: one.tool for one in locked}
    sides: list[InspectedVersion] = []
    for text, side, locking in zip(texts, found, hashes, strict=True):
        version = _version(text)
        if version is not None:
            by = known.get(address) or tool or TERRAFORM
            sides.append(InspectedVersion(address, version, by, frozenset(filter(is_known_scheme, locking))))
        elif side := [one for one in side or () if one.entry.address == address]:
            sides.append(_of_locked(address, side, text))
        elif text is not None or old is not None or not sides:
            if text == "HEAD" and old is None:
                continue  # A provider that is new in the work tree has no older version.
            where = "the work tree" if text is None else text
            raise ConfigurationError(f"{provider} is not locked in {where}", hint="name a version, or another revision")
    if is_planned:
        sides[-1] = replace(sides[-1], by="planned")
    if len(sides) < 2 or sides[0].version != sides[1].version:
        return tuple(sides)
    if not sides[0].is_republished_as(sides[1]):
        return (sides[1] if sides[1].hashes else sides[0],)  # What locks it says which package is meant.
    states = _STATES_OF_A_PLAN if is_planned else _STATES
    return tuple(replace(side, state=state) for side, state in zip(sides, states, strict=True))


class _Reader:
    """Reads the lock files of the work tree and of revisions."""

    def __init__(self, folder: Path, roots: Sequence[str], tool: Dialect | None, stack: ExitStack) -> None:
        from locklens.project.git import Repository

        self._folder, self._roots, self._tool = folder, roots, tool
        self._repository: Repository | None = None
        try:
            self._repository = stack.enter_context(Repository.discover(folder))
        except NoRepositoryError as error:
            self._refusal = error

    @property
    def has_head(self) -> bool:
        """True if there is a commit to compare with."""
        return self._repository is not None and not self._repository.is_unborn

    def locked(self, revision: str | None) -> list[_Locked]:
        """Return the entries of all lock files of a revision, None for the work tree."""
        from locklens.project.gittree import RevisionTree, SparseWorkTree

        tree: Tree
        repository = self._repository
        if repository is None:
            if revision is not None:
                raise self._refusal
            tree = FileSystem(self._folder)
            paths = [tree.join("", name) or "" for name in self._roots or (".",)]
        else:
            tree = (
                SparseWorkTree(repository)
                if revision is None
                else RevisionTree(repository, repository.resolve(revision))
            )
            paths = [within(repository, self._folder, name) for name in self._roots]
            paths = paths or folders_with_locks(repository, tree)
        return [one for path in paths for one in self._entries(tree, path)]

    def _entries(self, tree: Tree, path: str) -> Iterable[_Locked]:
        lock = read_lock(tree, lock_path(path), self._tool)
        tool = self._tool or tool_of(tree, path, lock)
        return (_Locked(path, tool, entry) for entry in lock.entries)


def _version(text: str | None) -> Version | None:
    try:
        return None if text is None else Version.parse(text)
    except VersionSyntaxError:
        return None


def _address(
    provider: str, locked: Sequence[_Locked], texts: Iterable[str | None], tool: Dialect | None
) -> ProviderAddress:
    """Return the one provider that a name stands for among the locked ones; a whole name also by itself."""
    by_root: dict[tuple[str, Dialect], set[ProviderAddress]] = {}
    for one in locked:
        by_root.setdefault((one.root, one.tool), set()).add(one.entry.address)
    found = named_among(provider, ((tool, named) for (_, tool), named in by_root.items()), is_single=True)
    if found:
        return found[0]
    if all(_version(text) is not None for text in texts) or not locked:
        alone = full_address(provider, (tool or TERRAFORM).default_host)
        if alone is not None:
            return alone
    names = sorted({str(one.entry.address) for one in locked})
    hint = f"locked here: {listing(names)}" if names else "write it as hashicorp/aws, with --from and --to versions"
    raise ConfigurationError(f"no lock file has {provider!r}", hint=hint)


def _of_locked(address: ProviderAddress, locked: Sequence[_Locked], text: str | None) -> InspectedVersion:
    versions: dict[Version, list[_Locked]] = {}
    for one in locked:
        versions.setdefault(one.entry.version, []).append(one)
    where = "the work tree" if text is None else text
    if len(versions) > 1:
        named = [f"{version} in {_roots(alike)}" for version, alike in versions.items()]
        words = f"{address} is locked in {len(versions)} versions in {where}: {listing(named)}"
        raise ConfigurationError(words, hint="select one of these roots alone, or name the version with --from or --to")
    ((version, alike),) = versions.items()
    first, *others = [one for one in alike if packages_of(one.entry.hashes)] or alike
    packages = packages_of(first.entry.hashes)
    if rivals := [one for one in others if packages.isdisjoint(packages_of(one.entry.hashes))]:
        same = [one for one in alike if one not in rivals]
        words = f"{address} {version} is locked with unlike packages in {where}"
        words += f": in {_roots(same)} and in {_roots(rivals)}"
        raise ConfigurationError(words, hint="select a root with --root DIR")
    hashes = frozenset(text for one in alike for text in one.entry.hashes if is_known_scheme(text))
    return InspectedVersion(address, version, alike[0].tool, hashes)


def _roots(locked: Iterable[_Locked]) -> str:
    return listing([one.root or "." for one in locked], 3)
