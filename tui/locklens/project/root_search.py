"""Finds the root modules of two sides: changed and unchanged ones.

A root is a folder with a lock file. Its configuration is read no further than the local modules that it calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from locklens.errors import ConfigurationError, LockLensError, RepositoryError
from locklens.project import LOCK_FILE, RootEvidence, RootPair, is_lock_file, touched_roots
from locklens.project.effective_paths import (
    brought_packages,
    is_read,
    links_of,
    other_spellings,
    packages_by_folder,
    spellings_of_named,
    working_data,
)
from locklens.project.gittree import IndexTree, ListedTree, RevisionTree, SparseWorkTree, prefetch_listed
from locklens.project.moved_roots import OldFolder, find_moved_roots
from locklens.project.tree import (
    EntryKind,
    Tree,
    WorkTree,
    folder_of,
    is_at_or_below,
    name_bytes,
    normalise,
    path_in,
    upwards,
)
from locklens.text import listing, shell_word

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from locklens.project.git import Repository
    from locklens.project.git.listings import PathChange, SubmoduleChange

MAX_ROOTS = 50_000
"""Lock files of a side; a few tiny objects of git can stand for millions."""


_NO_ROOT = "without one, a root has a backend or a provider configuration, and no other folder calls it as a module"


class FoundRoots(Struct, frozen=True):
    """The roots of two sides.

    Attributes:
        pairs: Changed or not, in the order of their paths' bytes.
        left_out: The number of other roots with a lock file on either side, as the search is restricted.
    """

    pairs: tuple[RootPair, ...]
    left_out: int


def find_roots(
    repository: Repository,
    base_tree: Tree,
    head_tree: Tree,
    changes: Sequence[PathChange],
    *,
    submodules: Sequence[SubmoduleChange] = (),
    unlocked: Mapping[str, RootEvidence] = {},
    converted: Collection[str] = (),
    only: Sequence[str] = (),
) -> FoundRoots:
    """Return the roots of both sides.

    A root that a sparse checkout leaves out of the work tree is that of the index. A folder without a lock file is
    among them if the change brings what the tools would install, were they run in it, or if it is one of `unlocked`:
    those in which a configuration file changed, or that `only` names. `converted` are the files of the head side that
    git checks out with other bytes. The answer is restricted to the folders of `only`, if any, and packages below them:
    the tools may be run there too.

    Raises:
        ConfigurationError: A folder of `only` is not a root on either side.
        RepositoryError: Git cannot list a side, or one has more than MAX_ROOTS lock files.
    """
    touched = {change.path for change in changes}
    old, new, gone, moved_from = _paired(repository, base_tree, head_tree, changes)
    moved = {folder: old.folder for folder, old in moved_from.items()}
    anew = [
        *(change.path for change in changes if change.is_there),
        *(submodule.path for submodule in submodules if submodule.new),
    ]
    brought = brought_packages(base_tree, head_tree, anew)
    touched |= touched_roots.paths_through_links(touched, base_tree, head_tree)
    states = touched_roots.changed_states(head_tree, touched, converted)
    calls = touched_roots.LocalCalls(head_tree)
    tracked = _tracked(repository, head_tree)
    unnamed = {*links_of(head_tree, anew), *(submodule.path for submodule in submodules)}
    spelt = _spelt_otherwise(calls, tracked, anew, unnamed=unnamed, states=states, roots=[*new, *unlocked])
    known = [*new, *(gone.keys() - moved.values())]
    others = (brought.keys() | spelt.keys() | unlocked.keys()) - set(known)
    hint = "review the change in parts, or single files with --old FILE --new FILE"
    _require_few("the change concerns {} folders without a lock file", others, hint)
    folders = _restricted(known, moved, only, others, tracked, gone, head_tree)
    if only:
        others = _of_named(others, only, brought, spelt)
        # What another spelling stands for may be a part of any root.
        folders += [one for one in known if one in spelt and one not in folders]

    configured = touched_roots.with_changed_configuration(calls, touched, {*folders, *unlocked}, states)
    left = {folder for folder in folders if folder in gone}
    modules = touched_roots.called_modules(base_tree, head_tree, left, old.keys() & new.keys()) if left else set()
    callers = calls.callers([one for one in folders if one in new and one not in old and one not in moved], new)
    # The review of the roots reads these anyway.
    prefetch_listed(base_tree, (path for path in old.values() if path in touched))
    prefetch_listed(head_tree, (path for path in new.values() if path in touched))
    there = packages_by_folder(tracked)
    pairs = []
    for folder in sorted({*folders, *others}, key=name_bytes):
        was = moved_from.get(folder, OldFolder(folder, 0, ()))
        before, after = old.get(was.folder), new.get(folder)
        evidence = unlocked.get(folder) if before is None and after is None else None
        pairs.append(
            RootPair(
                path=folder,
                old_lock=before,
                new_lock=after,
                lock_changed=before != after or (before in touched and _differs(base_tree, head_tree, before, after)),
                configuration_changed=folder in configured,
                renamed_from=moved.get(folder),
                equals_before=was.equals,
                unlike_before=was.unlike,
                # Where nothing is locked and nothing says that the folder is a root, nothing has to be locked.
                is_module=folder in modules or (folder in others and evidence is None),
                vendored=brought.get(folder, ()),
                has_packages=not all(map(working_data, there.get(folder, ()))),
                unlocked=evidence,
                states=tuple(sorted(states)) if folder in configured else (),
                callers=callers.get(folder, 0),
                spellings=spelt.get(folder, {}),
            )
        )
    return FoundRoots(tuple(pairs), len(set(known).difference(pair.path for pair in pairs)))


class _PairedLocks(NamedTuple):
    """The lock files of two sides by folder, those of the old side that were deleted, and the roots that moved."""

    old: Mapping[str, str]
    new: Mapping[str, str]
    gone: Mapping[str, str]
    moved: Mapping[str, OldFolder]


def _paired(repository: Repository, base_tree: Tree, head_tree: Tree, changes: Sequence[PathChange]) -> _PairedLocks:
    touched = {change.path for change in changes}
    old = {folder_of(path): path for path in lock_paths(repository, base_tree)}
    # What neither the base has nor git calls changed was only announced to the index ("git add --intent-to-add").
    new = {
        folder_of(path): path for path in lock_paths(repository, head_tree) if path in touched or folder_of(path) in old
    }
    _require_few("the base has {} lock files", old, "review single ones with --old FILE --new FILE")
    _require_few("the head has {} lock files", new, "review single ones with --old FILE --new FILE")
    deleted = {change.path for change in changes if not change.is_there}
    gone = {folder: path for folder, path in old.items() if folder not in new and path in deleted}
    come = {folder: path for folder, path in new.items() if folder not in old}
    stay = {folder: path for folder, path in old.items() if folder in new}
    return _PairedLocks(old, new, gone, find_moved_roots(base_tree, head_tree, gone, come, stay))


def old_folders(
    repository: Repository, commit: str, locks: Collection[str], *, is_staged: bool = False
) -> dict[str, OldFolder]:
    """Return the folder in a commit of each root that has a lock file there, by that of the work tree, or of the index.

    They are paired as in a review against that commit.

    Raises:
        RepositoryError: Git cannot list or compare the sides.
    """
    from locklens.project.git import UncommittedSide

    found = {path: OldFolder(folder_of(path), 0, ()) for path in locks if repository.show(commit, path) is not None}
    if len(found) < len(locks):
        changes, _ = repository.compare(commit, UncommittedSide.INDEX if is_staged else UncommittedSide.WORK_TREE)
        now = IndexTree(repository) if is_staged else SparseWorkTree(repository)
        moved = _paired(repository, RevisionTree(repository, commit), now, changes).moved
        found |= {path: moved[folder_of(path)] for path in locks if path not in found and folder_of(path) in moved}
    return found


def _require_few(words: str, found: Collection[str], hint: str) -> None:
    """Refuse more than MAX_ROOTS folders; `words` has a place for their number."""
    if len(found) > MAX_ROOTS:
        raise RepositoryError(f"{words.format(len(found))}, and no more than {MAX_ROOTS} are reviewed", hint=hint)


def _of_named(
    others: AbstractSet[str], only: Sequence[str], brought: Collection[str], spelt: Collection[str]
) -> set[str]:
    """Return those of some folders without a lock file that concern the folders of `only`.

    Unlike packages, a root below another one is a subject of its own.
    """
    asked = [folder for name in only if (folder := _named(name)) is not None]
    return {
        one
        for one in others
        if one in asked or one in spelt or (one in brought and any(is_at_or_below(one, each) for each in asked))
    }


def _spelt_otherwise(
    calls: touched_roots.LocalCalls,
    tracked: Collection[str],
    anew: Sequence[str],
    *,
    unnamed: AbstractSet[str],
    states: AbstractSet[str],
    roots: Sequence[str],
) -> dict[str, dict[str, str]]:
    """Return the new side's other spellings of what is read, each with the usual one, by folder.

    Links and submodules, `unnamed`, count whatever their name is; the configuration of `roots` may name a place.
    """
    documents = {path for path in states if path.endswith(".json")}
    spelt = other_spellings(anew, tracked, unnamed | documents)
    rest = [path for path in anew if path not in spelt and (path in unnamed or path in states or is_read(path))]
    if rest:
        has_states = any(path in unnamed or path in states for path in rest)
        kept = touched_roots.named_states(calls.tree, roots) if has_states else ()
        spelt |= spellings_of_named(rest, touched_roots.named_modules(calls, roots), kept)
    found: dict[str, dict[str, str]] = {}
    for path, usual in spelt.items():
        found.setdefault(folder_of(path), {})[path] = usual
    return found


def _tracked(repository: Repository, tree: Tree) -> Collection[str]:
    """Return the path of every file, link and submodule that git has of a side."""
    if isinstance(tree, ListedTree):
        return tree.files
    return repository.tracked() if isinstance(tree, WorkTree) else ()


def lock_paths(repository: Repository, tree: Tree) -> tuple[str, ...]:
    """Return the path of every lock file of a side of the repository.

    What the tools downloaded into `.terraform` is not tracked, and left out; a root that is tracked there counts.

    Raises:
        RepositoryError: Git cannot list the side.
    """
    if isinstance(tree, ListedTree):
        return tuple(filter(is_lock_file, tree.paths()))
    if isinstance(tree, WorkTree):
        from locklens.project.git import UncommittedSide

        return repository.paths(UncommittedSide.WORK_TREE, named=LOCK_FILE)
    return ()


def _restricted(
    folders: list[str],
    moved: dict[str, str],
    only: Sequence[str],
    others: AbstractSet[str],
    tracked: Collection[str],
    gone: Collection[str],
    head_tree: Tree,
) -> list[str]:
    """Return the folders of `only`; `others` may be named too, and are left out. A hint names no folder of `gone`."""
    if not only:
        return folders
    chosen: dict[str, None] = {}
    by_old_folder = {before: after for after, before in moved.items()}
    for asked in only:
        folder = _named(asked)
        if folder is not None and folder not in folders:
            folder = by_old_folder.get(folder, folder)
        if folder in others:
            continue
        if folder not in folders:
            below = sorted(known for known in folders if folder is not None and is_at_or_below(known, folder))
            below = [known for known in below if known not in gone]
            hint = f"roots below: {listing(below)}; select with --root DIR or --all-roots" if below else _NO_ROOT
            words = f"no {LOCK_FILE} in this folder"
            if asked.startswith("-"):
                hint = "only roots follow --: name options before it"
            if above := {*upwards(folder_of(folder or ""))}.intersection(tracked):
                words += f", as {max(above)} is a submodule, a link or a file"
                hint = "-C DIR reads a submodule; of a link, name the folder that it leads to"
            elif folder and folder not in tracked and not head_tree.has_folder(folder):
                words, hint = "no such folder", question_of_folder(head_tree, folder)
            elif folder is not None and head_tree.read(path_in(folder, LOCK_FILE)) is not None:
                words = f"git ignores the {LOCK_FILE} in this folder"
                hint = f"`git check-ignore -v {shell_word(asked or '.')}/{LOCK_FILE}` names the pattern"
            raise ConfigurationError(words, path=asked or ".", hint=hint)
        chosen[folder] = None
    return list(chosen)


def question_of_folder(tree: Tree, path: str, named: str = "") -> str:
    """Return the question whether a folder like one that is not there was meant; "" if none is like it.

    It is asked by the path in the tree, or as the user named the folder: relative to one in the tree.
    """
    from difflib import get_close_matches

    found = ""
    for name in path.split("/"):
        try:
            known = [one.name for one in tree.list(found) if one.kind in {EntryKind.FOLDER, EntryKind.LINKED_FOLDER}]
        except LockLensError:
            return ""
        near = [name] if name in known else get_close_matches(name, known, 1)
        if not near:
            return ""
        found = path_in(found, near[0])
    lead = path.removesuffix(named) if named and path.endswith(f"/{named}") else ""
    return f"did you mean {found.removeprefix(lead)}?"


def _named(name: str) -> str | None:
    """Return the folder that the name of a folder or of its lock file stands for; None outside of the tree."""
    return normalise(name.removesuffix(LOCK_FILE) if is_lock_file(name) else name)


def _differs(base_tree: Tree, head_tree: Tree, before: str | None, after: str | None) -> bool:
    """True if two lock files have other bytes: git also names those whose mode alone differs."""
    if before is None or after is None:
        return True
    try:
        return base_tree.read(before) != head_tree.read(after)
    except ConfigurationError:
        return True  # reading the lock file reports the error
