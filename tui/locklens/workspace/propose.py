"""Plans what needs no registry: prune, restore and format."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.errors import ConfigurationError
from locklens.lockfile.parse import parse
from locklens.lockfile.render import deviations, render
from locklens.lockfile.splice import splice
from locklens.review.findings import unknown_reason
from locklens.text import shell_words
from locklens.workspace.found import lock_path
from locklens.workspace.naming import meant
from locklens.workspace.planning import Change, Draft, Failed, Plan, Remark

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.lockfile.model import LockEntry, LockFile
    from locklens.project.constraint_edits import ConstraintEdit
    from locklens.workspace.found import Root
    from locklens.workspace.planning import WriteRequest

_NO_EDITS: Mapping[ProviderAddress, tuple[ConstraintEdit, ...]] = MappingProxyType({})
_NOT_MOVED: Mapping[ProviderAddress, ProviderAddress] = MappingProxyType({})


def _nobody(_: str) -> None:
    """Hears of roots where nobody wants to."""


def prune(request: WriteRequest, providers: Sequence[str] = (), *, on_root: Callable[[str], None] = _nobody) -> Plan:
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
    draft = Draft(request)
    chosen = chosen_by_root(providers, draft.roots)
    for root in draft.roots:
        on_root(root.path)
        with draft.attempt(root):
            require_sound(root)
            _prune_root(draft, root, chosen[root.path] if providers else None)
    return draft.plan(command_line("prune", request, providers))


def _prune_root(draft: Draft, root: Root, named: frozenset[ProviderAddress] | None) -> None:
    required = root.configuration.required()
    orphans = [entry for entry in root.lock.entries if entry.address not in required]
    reason = unknown_reason(root.configuration)
    going: dict[ProviderAddress, LockEntry | None] = {}
    if named is None:
        if not root.configuration.has_files:
            words, hint = "there is no configuration, so nothing is required", "name what is to be removed"
            raise ConfigurationError(words, path=root.path or ".", hint=hint)
        if reason:
            words = f"kept although nothing that can be read requires it: {reason}"
            draft.remarks += [Remark(root.path, root.name_of(one.address), words) for one in orphans]
        else:
            going = {entry.address: None for entry in orphans}
    else:
        refused = [_not_prunable(root, address) for address in sorted(named)]
        draft.failures += [failed for failed in refused if failed is not None]
        going = dict.fromkeys(named)
    put_entries(draft, root, going)
    if not going and not (named is None and orphans):
        draft.remarks.append(Remark(root.path, "", "nothing to prune"))


def _not_prunable(root: Root, address: ProviderAddress) -> Failed | None:
    """Why a provider that was named cannot be pruned."""
    name = root.name_of(address)
    requirements = root.configuration.of(address)
    if requirements:
        first = requirements[0]
        hint = "remove what requires it first"
        error = ConfigurationError(f"{name} is required here", path=first.file, line=first.line, hint=hint)
        return Failed(root.path, name, error)
    if address not in root.lock.by_address:
        return Failed(root.path, name, ConfigurationError(f"{name} is not locked", path=root.lock.path))
    return None


def restore(
    request: WriteRequest,
    providers: Sequence[str],
    revision: str = "HEAD",
    *,
    on_root: Callable[[str], None] = _nobody,
) -> Plan:
    """Plans to take entries from the lock file of a revision; what is not in it is removed.

    A lock file that is gone comes back with those entries.

    Args:
        request: Where; in a git repository.
        providers: Which, as typed.
        revision: Of git.
        on_root: Told of each root that it comes to.

    Raises:
        ConfigurationError: One of `providers` is none, or a folder is no root.
        RepositoryError: There is no repository, or no such revision.
    """
    from locklens.project.git import Repository, printable

    draft = Draft(request)
    with Repository.discover(request.folder) as repository:
        commit = repository.resolve(revision)
        before = {root.path: repository.show(commit, root.lock.path) for root in draft.roots}
    locks = {path: _lock_of(data, path, revision) for path, data in before.items() if data is not None}
    roots = [
        replace(root, others=frozenset(locks[root.path].by_address) if root.path in locks else frozenset())
        for root in draft.roots
    ]
    chosen = chosen_by_root(providers, roots)
    for root in roots:
        on_root(root.path)
        with draft.attempt(root):
            if root.lock.exists:
                require_sound(root)
            lock = locks.get(root.path)
            if lock is None:
                words = f"{printable(revision)} has no such file"
                raise ConfigurationError(words, path=root.lock.path, hint="name another revision with --from")
            _require_valid(lock)
            _restore_root(draft, root, lock, chosen[root.path])
    command = command_line("restore", request, [*providers, *(["--from", revision] if revision != "HEAD" else [])])
    return draft.plan(command)


def _lock_of(data: bytes, path: str, revision: str) -> LockFile:
    return parse(data, f"{revision}:{lock_path(path)}")


def _restore_root(draft: Draft, root: Root, lock: LockFile, chosen: frozenset[ProviderAddress]) -> None:
    going: dict[ProviderAddress, LockEntry | None] = {}
    now, then = root.lock.by_address, lock.by_address
    for address in sorted(chosen):
        name, entry = root.name_of(address), then.get(address)
        if address not in now and entry is None:
            words = f"{name} is locked neither now nor in {lock.path}"
            draft.failures.append(Failed(root.path, name, ConfigurationError(words, path=root.lock.path)))
        elif address in now and entry is not None and now[address].says == entry.says:
            draft.remarks.append(Remark(root.path, name, f"it is as in {lock.path} already"))
        else:
            going[address] = entry
            constraints = root.configuration.constraints(address)
            if entry is not None and root.configuration.of(address) and not constraints.admits(entry.version):
                words = f"the configuration does not admit {entry.version}: {constraints}"
                draft.remarks.append(Remark(root.path, name, words))
    put_entries(draft, root, going)


def format_locks(request: WriteRequest, *, on_root: Callable[[str], None] = _nobody) -> Plan:
    """Plans to write lock files as their tool would: order, spacing, line ends; comments are lost.

    Args:
        request: Where.
        on_root: Told of each root that it comes to.

    Raises:
        ConfigurationError: A folder is no root.
        RepositoryError: Git failed.
    """
    draft = Draft(request)
    for root in draft.roots:
        on_root(root.path)
        with draft.attempt(root):
            require_sound(root)
            data = render(root.lock.entries, root.lock.writer or root.tool)
            if data == root.lock.data:
                draft.remarks.append(Remark(root.path, "", "it is in the tool's format already"))
            else:
                draft.words.append(f"{root.path or '.'}: put right: {', '.join(deviations(root.lock))}")
            draft.write(root.lock.path, data, old=root.lock.data)
    return draft.plan(command_line("format", request, ()))


def put_entries(
    draft: Draft,
    root: Root,
    entries: Mapping[ProviderAddress, LockEntry | None],
    *,
    edits: Mapping[ProviderAddress, tuple[ConstraintEdit, ...]] = _NO_EDITS,
    moved: Mapping[ProviderAddress, ProviderAddress] = _NOT_MOVED,
) -> None:
    """Plans other entries for some providers of a root; every other byte of its lock file stays.

    Args:
        draft: What is planned.
        root: As it was read.
        entries: What becomes of each provider; None to remove it.
        edits: The constraints that are rewritten for each.
        moved: Providers that take the place of another one, whose entry goes.
    """
    if not entries:
        return
    going = dict.fromkeys(old for new, old in moved.items() if new in entries)
    data = splice(root.lock.data, {**entries, **going}, dialect=root.tool)
    draft.write(root.lock.path, data, old=root.lock.data if root.lock.exists else None)
    now = root.lock.by_address
    for address, entry in sorted(entries.items()):
        name = root.name_of(address)
        before = moved.get(address)
        old = now.get(before or address)
        draft.changes.append(Change(root.path, address, name, old, entry, edits.get(address, ()), moved_from=before))


def require_sound(root: Root) -> None:
    """Refuses a lock file that the tools would refuse.

    Raises:
        ConfigurationError: It is absent or broken.
    """
    if not root.lock.exists:
        hint = f"{root.tool.command} init writes one"
        raise ConfigurationError("there is no lock file", path=root.lock.path, hint=hint)
    _require_valid(root.lock)


def _require_valid(lock: LockFile) -> None:
    if lock.conflict is not None:
        marker = lock.conflict.markers[0]
        words = "git left a conflict in the lock file"
        raise ConfigurationError(words, path=lock.path, line=marker.line, hint="settle it first")
    if lock.problems:
        problem = lock.problems[0]
        words = f"{problem.summary}: {problem.detail}"
        raise ConfigurationError(words, path=lock.path, line=problem.line, hint="mend the file first")


def chosen_by_root(providers: Sequence[str], roots: Sequence[Root]) -> dict[str, frozenset[ProviderAddress]]:
    """Returns which providers were named, by root.

    Raises:
        ConfigurationError: One of them is none, stands for several, or is in no root.
    """
    found: dict[str, set[ProviderAddress]] = {root.path: set() for root in roots}
    for text in providers:
        for path, addresses in meant(text, roots).items():
            found[path].update(addresses)
    return {path: frozenset(addresses) for path, addresses in found.items()}


def command_line(command: str, request: WriteRequest, words: Sequence[str]) -> str:
    """Returns the command line of a plan, as a shell reads it; see `locklens.text.shell_words`."""
    start = ["locklens", *(["-C", str(request.folder)] if request.is_elsewhere else [])]
    # A word of its own that begins with a dash would be an option.
    roots = [word for root in request.roots for word in ([f"--root={root}"] if root[:1] == "-" else ["--root", root])]
    tool = ["--tool", request.tool.name] if request.tool else []
    return shell_words([*start, command, *words, *roots, *tool])
