"""Why a provider is there, as a use case: finds the roots, reads each, and finds out which provider is meant."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import normalise_host, normalise_part
from locklens.errors import ConfigurationError, RepositoryError, SourceError
from locklens.project.configuration import Configuration
from locklens.project.files import configuration_files
from locklens.project.roots import LOCK_FILE, lock_paths
from locklens.project.tree import FileSystem, WorkTree, name_bytes
from locklens.review.findings import judge_file, judge_provider, unknown_reason
from locklens.review.why import NOT_ASKED, RootWhy, Unsure, Why
from locklens.selection import explain
from locklens.workspace.open import within
from locklens.workspace.roots import read_lock, tool_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockFile
    from locklens.project.git import Repository
    from locklens.project.tree import Tree
    from locklens.sources.metadata import ListedVersion

    Ask = Callable[[ProviderAddress], Sequence[ListedVersion] | None]

_NAMES_SHOWN = 8


class WhyRequest(Struct, frozen=True):
    """What is asked.

    Attributes:
        provider: As typed: TYPE, NAMESPACE/TYPE or HOST/NAMESPACE/TYPE.
        folder: Where it is asked.
        roots: Folders, relative to `folder`; () for every root of the repository.
        tool: Whose rules count for every root; None: each root's own tool.
        test_directory: Where a root's test files are, relative to the root.
    """

    provider: str
    folder: Path
    roots: tuple[str, ...] = ()
    tool: Dialect | None = None
    test_directory: str = "tests"


class _Root(Struct, frozen=True):
    """A root as it was read."""

    path: str
    tool: Dialect
    lock: LockFile
    configuration: Configuration

    @property
    def providers(self) -> frozenset[ProviderAddress]:
        """All that it requires or has locked."""
        required = {one.address for one in self.configuration.requirements}
        return frozenset(required | {entry.address for entry in self.lock.entries})

    def name_of(self, address: ProviderAddress) -> str:
        """What a provider is called here."""
        return address.short(self.tool.default_host)


def why(request: WhyRequest, ask: Ask = lambda _: None) -> Why:
    """Explains a provider in every root that requires it or has it locked.

    Args:
        request: What is asked.
        ask: Returns what a registry offers of a provider; None where it is not to be asked, SourceError where it has
            no answer.

    Raises:
        ConfigurationError: The text is no provider, stands for several, or for none; or a folder is no root.
        RepositoryError: Git failed.
    """
    wanted = _Wanted.parse(request.provider)
    roots = _read_roots(request)
    meant = {root.path: wanted.among(root) for root in roots}
    _refuse_ambiguity(request.provider, roots, meant)
    if not any(meant.values()):
        raise _not_found(request.provider, roots)
    answers = {address: _answer(address, ask) for addresses in meant.values() for address in addresses}
    found = [_explained(root, address, *answers[address]) for root in roots for address in meant[root.path]]
    rest = [(root.path, unknown_reason(root.configuration)) for root in roots if not meant[root.path]]
    unsure = tuple(Unsure(path, reason) for path, reason in rest if reason)
    return Why(request.provider, tuple(found), unsure, len(rest) - len(unsure))


def _answer(address: ProviderAddress, ask: Ask) -> tuple[Sequence[ListedVersion] | None, str]:
    """What a registry offers, and else why it says nothing."""
    try:
        offered = ask(address)
    except SourceError as error:
        return None, str(error)
    return offered, NOT_ASKED if offered is None else ""


def _explained(root: _Root, address: ProviderAddress, offered: Sequence[ListedVersion] | None, silence: str) -> RootWhy:
    findings = judge_file(root.lock, changed=False)
    return RootWhy(
        path=root.path,
        lock_file=root.lock.path if root.lock.exists else None,
        tool=root.tool,
        configuration=root.configuration,
        explanation=explain(address, root.configuration.of(address), root.lock.by_address.get(address), offered),
        findings=(*findings, *(judge_provider(address, root.lock, root.configuration) if root.lock.exists else ())),
        silence=silence,
    )


# Which provider is meant


class _Wanted(Struct, frozen=True):
    """A provider as a person typed it, in normal form; None is what was left out."""

    host: str | None
    namespace: str | None
    type: str

    @classmethod
    def parse(cls, text: str) -> _Wanted:
        """Reads TYPE, NAMESPACE/TYPE or HOST/NAMESPACE/TYPE."""
        parts = text.split("/")
        hint = "write it as aws, hashicorp/aws or registry.terraform.io/hashicorp/aws"
        if len(parts) > 3:
            raise ConfigurationError(f"{text!r} is no provider address: it has more than three parts", hint=hint)
        try:
            host = normalise_host(parts[0]) if len(parts) == 3 else None
            names = [normalise_part(part) for part in parts[-2:]]
        except ValueError as error:
            raise ConfigurationError(f"{text!r} is no provider address: {error}", hint=hint) from error
        return cls(host, names[0] if len(names) == 2 else None, names[-1])

    def among(self, root: _Root) -> tuple[ProviderAddress, ...]:
        """The root's providers that it may stand for: with a namespace and no host first of all the tool's own."""
        found = sorted(
            one
            for one in root.providers
            if one.type == self.type and self.namespace in {None, one.namespace} and self.host in {None, one.host}
        )
        own = [one for one in found if self.namespace is not None and one.host == root.tool.default_host]
        return tuple(own if self.host is None and own else found)


def _refuse_ambiguity(text: str, roots: Sequence[_Root], meant: dict[str, tuple[ProviderAddress, ...]]) -> None:
    addresses = {address for found in meant.values() for address in found}
    names = {root.name_of(address) for root in roots for address in meant[root.path]}
    if len(addresses) > 1 and len(names) > 1:
        raise ConfigurationError(f"{text!r} may be {_listing(sorted(names), 'or')}", hint="type one of these")


def _not_found(text: str, roots: Sequence[_Root]) -> ConfigurationError:
    import difflib

    names = sorted({root.name_of(address) for root in roots for address in root.providers})
    by_type = {name.rpartition("/")[2]: name for name in names}
    near = difflib.get_close_matches(text, names, 1) or difflib.get_close_matches(text.rpartition("/")[2], by_type, 1)
    if near:
        hint = f"did you mean {by_type.get(near[0], near[0])}?"
    elif names:
        hint = f"what is required or locked: {_listing(names, 'and')}"
    else:
        hint = "nothing is required or locked here at all"
    unknown = next((reason for root in roots if (reason := unknown_reason(root.configuration))), "")
    unsure = f", as far as can be told ({unknown})" if unknown else ""
    place = "the root" if len(roots) == 1 else f"none of the {len(roots)} roots"
    verbs = "does not require or lock" if len(roots) == 1 else "requires or locks"
    return ConfigurationError(f"{place} {verbs} {text!r}{unsure}", hint=hint)


def _listing(names: Sequence[str], word: str) -> str:
    shown = list(names[:_NAMES_SHOWN])
    if len(names) > _NAMES_SHOWN:
        shown.append(f"{len(names) - _NAMES_SHOWN} more")
    return f"{', '.join(shown[:-1])} {word} {shown[-1]}" if len(shown) > 1 else shown[0]


# The roots


def _read_roots(request: WhyRequest) -> list[_Root]:
    from locklens.project.git import Repository

    try:
        repository = Repository.discover(request.folder)
    except RepositoryError as error:
        files = FileSystem(request.folder)
        paths = [files.join("", path) or "" for path in request.roots or (".",)]
        return _read_all(request, files, paths, refusal=None if request.roots else error)
    try:
        tree = WorkTree(repository.top)
        here = within(repository, request.folder, ".")
        if request.roots:
            paths = [within(repository, request.folder, path) for path in request.roots]
        else:
            paths = [*_folders_with_locks(repository, tree), here]
        return _read_all(request, tree, paths, optional=frozenset() if request.roots else frozenset({here}))
    finally:
        repository.close()


def _folders_with_locks(repository: Repository, tree: WorkTree) -> list[str]:
    folders = {path.rpartition("/")[0] for path in lock_paths(repository, tree)}
    return sorted(folders, key=name_bytes)


def _read_all(
    request: WhyRequest,
    tree: Tree,
    paths: Iterable[str],
    *,
    optional: frozenset[str] = frozenset(),
    refusal: RepositoryError | None = None,
) -> list[_Root]:
    """Reads roots.

    Args:
        request: What is asked.
        tree: Where they are.
        paths: Their folders.
        optional: Folders that may be none.
        refusal: What to raise instead of an error of our own where a folder is none.
    """
    from locklens.project.modules import ModuleReader
    from locklens.project.requirements import read_configuration

    reader = ModuleReader()
    roots = []
    for path in dict.fromkeys(paths):
        lock = read_lock(tree, f"{path}/{LOCK_FILE}" if path else LOCK_FILE, request.tool)
        tool = request.tool or tool_of(tree, path, lock)
        configuration = Configuration.absent(path, tool)
        if configuration_files(tree.list(path), tool):
            configuration = read_configuration(
                tree,
                path,
                dialect=tool,
                worktree=tree,
                environ=os.environ,
                test_directory=request.test_directory,
                module_reader=reader,
            )
        if lock.exists or configuration.has_files:
            roots.append(_Root(path, tool, lock, configuration))
        elif path not in optional:
            raise refusal or ConfigurationError(f"neither {LOCK_FILE} nor a configuration is there", path=path or ".")
    if not roots:
        raise ConfigurationError(f"no {LOCK_FILE} in this repository, and no configuration in this folder")
    return roots
