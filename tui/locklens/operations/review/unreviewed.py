"""What a review of lock files does not see: submodules, links out of the repository, roots without a lock file.

Also files with errors, and files that git checks out with other bytes than the committed ones that are judged.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.errors import ConfigurationError
from locklens.lockfile import LockFile
from locklens.operations.root_modules import absence_of, lock_path, tool_of
from locklens.project import LOCK_FILE, RootEvidence, RootPair, has_generator, touched_roots
from locklens.project.configuration import LEADS_BACK, UNCOMPUTED, Configuration
from locklens.project.effective_paths import links_of
from locklens.project.folders import TooManyFoldersError, content_ids, walk
from locklens.project.gittree import ListedTree, SparseWorkTree, prefetch_listed
from locklens.project.tree import Tree, WorkTree, folder_of, is_at_or_below, name_bytes
from locklens.review.context import Absence, Unread, Unreviewed
from locklens.text import counted, identity_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from locklens.operations.comparison import Comparison
    from locklens.project.git import Repository
    from locklens.project.git.listings import PathChange, SubmoduleChange
    from locklens.project.modules import Module

_MAX_FOLDERS = 10_000
"""The most folders of a submodule that are searched for a lock file; a larger one, and one that cannot be read,
is assumed to have one."""

_MAX_SUMMARY = 200
"""Characters; a summary may name what the file names."""

_FETCHED = "/.terraform/"

_LINK_OUT = "a link that leads out of the repository, or behind one"


def unreviewed_submodules(
    repository: Repository, submodules: Sequence[SubmoduleChange], old_locks: Sequence[str]
) -> dict[str, Unreviewed]:
    """Return the changed submodules by path.

    One blocks where a root was at or below it, or is in its checked-out files; without these it is unknown, and a
    warning.
    """
    unreviewed: dict[str, Unreviewed] = {}
    for submodule in submodules:
        lay = any(path.startswith(f"{submodule.path}/") for path in old_locks)
        blocks = bool(submodule.new) and (lay or (not repository.is_bare and _has_root(repository, submodule.path)))
        unreviewed[submodule.path] = Unreviewed(
            f"a submodule ({_commit(submodule.old)} -> {_commit(submodule.new)})",
            blocks=blocks,
            content=identity_of(submodule.path, submodule.old, submodule.new),
        )
    return unreviewed


def submodules_of_roots(
    unreviewed: Mapping[str, Unreviewed], base: Tree, head: Tree, pairs: Sequence[RootPair], changed: Iterable[str]
) -> dict[str, Unreviewed]:
    """Return the submodules below some roots, and those that the roots may reach by a module call or a link."""
    before = base.links(even_to_nothing=True) if isinstance(base, ListedTree) else {}
    behind = set(links_of(head, {*before, *changed}).values())
    roots = [pair.path for pair in pairs]
    called = touched_roots.may_reach(head, roots, unreviewed)
    return {
        path: one
        for path, one in unreviewed.items()
        if path in called
        or any(is_at_or_below(path, root) for root in roots)
        or any(is_at_or_below(place, path) or is_at_or_below(path, place) for place in behind)
    }


def pairs_of_submodules(pairs: Sequence[RootPair], unreviewed: Mapping[str, Unreviewed]) -> tuple[RootPair, ...]:
    """Return the roots, and one without lock files for each submodule without a root at or below it.

    Its only finding is that it was not reviewed: its files are on no side of the comparison.
    """
    alone = [path for path in unreviewed if not any(is_at_or_below(pair.path, path) for pair in pairs)]
    made = (RootPair(path, None, None, False, True, None, is_module=True) for path in alone)
    return tuple(sorted((*pairs, *made), key=lambda pair: name_bytes(pair.path)))


def unreviewed_files(comparison: Comparison, configuration: Configuration) -> dict[str, Unreviewed]:
    """Return a configuration's files and module folders that a link leads out of the repository, by path.

    One blocks unless the old side has the same link.
    """
    base, head = comparison.base.tree, comparison.head.tree
    broken = {problem.file for problem in configuration.problems if problem.is_error and not problem.line}
    refused = [path for path in sorted(broken) if head.leads_out(path)]
    contents = content_ids(head, refused)
    return {
        path: Unreviewed(_LINK_OUT, blocks=not base.leads_out(path), content=identity_of(path, contents[path]))
        for path in refused
    }


def unread_files(
    comparison: Comparison,
    configuration: Configuration,
    read_before: Callable[[], Configuration],
    folder_before: str,
    states: Sequence[str],
    known: Container[str],
) -> dict[str, Unread]:
    """Return the files of a root whose requirements are not known, by path.

    Fetched modules and a state that git ignores are those of this machine, and left out. `states` are changed files
    that may be the state, where it is unknown which file is; `known` are reported as not read for another reason. The
    old side is read where it is needed, of the root's folder there.
    """
    faults = [one for one in _faults(configuration, comparison.head.tree) if one.file not in known]
    faults = [one for one in faults if _FETCHED not in f"/{one.file}"]
    before = _faults(read_before(), comparison.base.tree) if faults else ()
    old = {(_below(folder_before, one.file), one.words) for one in before}
    found: dict[str, Unread] = {}
    for one in faults:
        is_new = (_below(configuration.root, one.file), one.words) not in old
        if not is_new and one.is_told_by_others:
            continue
        if one.file not in found or (is_new and not found[one.file].is_new):
            found[one.file] = Unread(one.words, one.line, is_new)
    state = configuration.state
    last = state.outside.rpartition("/")[2]
    states = [path for path in states if not last or path.rpartition("/")[2] == last]
    if state.kind == "unreadable" and not state.file and states:
        others = f", or {counted(len(states) - 1, 'other changed file')}," if len(states) > 1 else ""
        words = f"it is unknown whether this{others} is the state ({state.detail[:_MAX_SUMMARY]})"
        found.setdefault(states[0], Unread(words, None, is_new=True))
    contents = content_ids(comparison.head.tree, found)
    return {path: replace(one, content=identity_of(path, contents[path])) for path, one in found.items()}


class _Fault(Struct, frozen=True):
    """Why requirements are unknown; `is_told_by_others` if it is not a finding by itself where the old side has it."""

    file: str
    line: int | None
    words: str
    is_told_by_others: bool = False


def _faults(configuration: Configuration, tree: Tree) -> Iterator[_Fault]:
    """Yield what keeps requirements of a side from being known."""
    for problem in configuration.problems:
        if problem.is_error:
            summary = problem.summary[:_MAX_SUMMARY]
            yield _Fault(problem.file, problem.line, f"the configuration has an error ({summary})")
    for module in configuration.missing_modules:
        if module.reason == UNCOMPUTED:
            words = f'it cannot be told from where module "{module.call[:_MAX_SUMMARY]}" is ({module.reason})'
            yield _Fault(module.file, module.line, words)
        elif module.reason == LEADS_BACK:
            words = f'module "{module.call[:_MAX_SUMMARY]}" is not read ({module.reason})'
            yield _Fault(module.file, module.line, words)
    if configuration.state.backend is not None:
        words = f"it is unknown which file is the state ({configuration.state.detail[:_MAX_SUMMARY]})"
        yield _Fault(*configuration.state.backend, words, is_told_by_others=True)
    for state in (configuration.state, *configuration.other_states):
        if state.kind == "unreadable" and state.file and _has_file(tree, state.file):
            yield _Fault(state.file, None, f"the state is not read ({state.detail[:_MAX_SUMMARY]})")


def _has_file(tree: Tree, path: str) -> bool:
    """True if a file, or what a link to it leads to, is of a side and not ignored by git."""
    if not isinstance(tree, ListedTree | SparseWorkTree):
        return False
    place = tree.resolve(path) or path
    return place in (tree.files if isinstance(tree, ListedTree) else tree.paths())


def _below(folder: str, path: str) -> str:
    """Return a path relative to a root, so that a moved one has the same; any other as it is."""
    return f"./{path[len(folder) :].lstrip('/')}" if is_at_or_below(path, folder) else path


def _has_root(repository: Repository, path: str) -> bool:
    """True if a lock file is in the checked-out files of a submodule, or may be; links are not followed."""
    if WorkTree(repository.top).leads_out(path):
        return True
    top = os.fspath(repository.top / path)
    if not os.path.lexists(top):
        return False  # not checked out
    try:
        listed = walk(top, most=_MAX_FOLDERS, enters=lambda _, name: name not in (".git", ".terraform"))
        return any(folder.error is not None or LOCK_FILE in folder.files for folder in listed)
    except TooManyFoldersError:
        return True


def _commit(object_id: str) -> str:
    if not object_id:
        return "nothing"
    return object_id[:12] if object_id.strip("0") else "what is checked out"


_PERHAPS = re.compile(rb"\b(?:backend|cloud|provider)\b")
"""Words without which a file is not evidence of a root; JSON may spell them otherwise, and is always read."""

_BACKEND = re.compile(rb"\b(?:backend|cloud)\b")


def evidence_of_root(module: Module, *, is_generated: bool) -> RootEvidence | None:
    """Return the reason to take a module without a lock file for a root; None if there is none.

    If units of Terragrunt may run it, they write the rest of a root themselves.
    """
    if module.backend is not None:
        return RootEvidence.BACKEND
    return RootEvidence.PROVIDER if module.providers and not is_generated else None


def unlocked_roots(
    repository: Repository,
    base: Tree,
    head: Tree,
    changes: Sequence[PathChange],
    locks: Iterable[str],
    named: AbstractSet[str],
) -> dict[str, RootEvidence]:
    """Return the roots without a lock file, on either side, in which a file differs that decides what they require.

    That is a configuration file, one of values, or a state; the answer is by folder. One with a backend counts too
    where the file is of a local module that it calls, or a state that its backend names. A folder with a mere provider
    configuration, or with a lock file that git ignores, counts if no other folder calls it as a module. Those that the
    user `named` are among them where nothing differs, too.
    """
    from locklens.project.modules import ModuleReader

    touched = {change.path for change in changes}
    locked = {folder_of(path) for path in locks}
    folders = touched_roots.folders_decided(touched).union(named) - locked
    files = _configuration_files(repository, head)
    of_folders: dict[str, list[str]] = {}
    for path in files:
        if folder_of(path) not in locked:
            of_folders.setdefault(folder_of(path), []).append(path)
    prefetch_listed(head, (path for paths in of_folders.values() for path in paths))
    perhaps = {folder for folder, paths in of_folders.items() if any(_may_have(_PERHAPS, head, path) for path in paths)}
    ignored = {one for one in folders & of_folders.keys() if absence_of(head, one) is Absence.IGNORED}
    touched |= touched_roots.paths_through_links(touched, base, head)
    callers = touched_roots.with_changed_configuration(
        touched_roots.LocalCalls(head), touched, perhaps - folders, touched_roots.changed_states(head, touched)
    )
    reader, found = ModuleReader(), dict[str, RootEvidence]()
    # Terragrunt's units of the base alone: the change may add one for the sake of this.
    is_generated = isinstance(base, ListedTree) and has_generator(base.files)
    for folder in (perhaps & (folders | callers)) | ignored:
        tool = tool_of(head, folder, LockFile.absent(lock_path(folder)))
        module = reader.read(head, folder, tool)
        evidence = evidence_of_root(module, is_generated=is_generated)
        evidence = evidence or evidence_of_unread(module, head, of_folders[folder])
        if evidence is None and folder in ignored:
            evidence = RootEvidence.PROVIDER  # init was run there
        # An example calls the module that it belongs to, and a change of the module is none of the example.
        if evidence is RootEvidence.BACKEND or (evidence is not None and folder in folders):
            found[folder] = evidence
    if RootEvidence.PROVIDER in found.values():
        called = touched_roots.folders_with_callers(head, files)
        found = {
            folder: evidence
            for folder, evidence in found.items()
            if evidence is RootEvidence.BACKEND or folder not in called
        }
    return found


def roots_without_locks(
    tree: Tree,
    configured: Iterable[str],
    locked: Iterable[str],
    modules: Callable[[str], Module],
    *,
    is_generated: bool,
) -> list[str]:
    """Return those of the configured folders, without a lock file, that are roots: no other folder calls them."""
    folders = list(configured)
    found = [folder for folder in folders if _is_root(tree, folder, modules(folder), is_generated=is_generated)]
    if not found:
        return found
    calls = ((folder, call.item.source.text or "") for folder in (*locked, *folders) for call in modules(folder).calls)
    called = {tree.join(folder, source) for folder, source in calls if source.startswith((".", "/"))}
    return [folder for folder in found if folder not in called]


def _is_root(tree: Tree, folder: str, module: Module, *, is_generated: bool) -> bool:
    if evidence_of_root(module, is_generated=is_generated) is not None:
        return True
    entries = tree.list(folder) if any(problem.is_error for problem in module.problems) else ()
    paths = (f"{folder}/{entry.name}".lstrip("/") for entry in entries if touched_roots.is_module_file(entry.name))
    return evidence_of_unread(module, tree, paths) is RootEvidence.BACKEND


def evidence_of_unread(module: Module, tree: Tree, paths: Iterable[str]) -> RootEvidence | None:
    """Return the evidence that the words of a module's files give, where an error keeps it from being read."""
    if not any(problem.is_error for problem in module.problems):
        return None
    has_backend = any(_may_have(_BACKEND, tree, path) for path in paths)
    return RootEvidence.BACKEND if has_backend else RootEvidence.PROVIDER


def _configuration_files(repository: Repository, tree: Tree) -> list[str]:
    paths: Iterable[str] = ()
    if isinstance(tree, ListedTree):
        paths = tree.paths()
    elif isinstance(tree, WorkTree):
        paths = repository.work_files(("",))
    return [path for path in paths if touched_roots.is_module_file(path)]


def _may_have(words: re.Pattern[bytes], tree: Tree, path: str) -> bool:
    """True if a file may have a block of one of some names, or cannot be read."""
    try:
        data = tree.read(path) or b""
    except ConfigurationError:
        return True  # reading the configuration reports the error
    return path.endswith(".json") or words.search(data) is not None
