"""What the base of a branch has changed since the branch began, of the files that the reviewed roots read.

A review of a branch is of the branch's own files: what a merge makes of them and of the base's is not among these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.errors import RepositoryError
from locklens.project.configuration import is_fetched
from locklens.project.gittree import ListedTree
from locklens.project.touched_roots import MODULE_SUFFIXES
from locklens.project.tree import folder_of
from locklens.text import counted, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from locklens.operations.comparison import Comparison
    from locklens.project.configuration import Configuration
    from locklens.review.model import RootReview


def base_notes(
    comparison: Comparison, roots: Iterable[RootReview], read_before: Callable[[RootReview], Configuration]
) -> Iterator[str]:
    """Yield one sentence on all files of the reviewed roots that the base has changed since its fork point.

    A merge follows files that the branch moved: of such a root those count that it read before, which `read_before`
    tells. Where a path leads through a link, so does what is behind that.
    """
    fork, tip, repository = comparison.base.revision, comparison.tip, comparison.repository
    if tip is None or tip.revision is None or fork is None or repository is None or tip.revision == fork:
        return
    try:
        before, after = repository.listing(fork), repository.listing(tip.revision)
    except RepositoryError as error:
        yield f"what {tip.name} has changed since the branch began is unknown: {error}"
        return
    differing = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    modules = {path for path in differing if path.endswith(MODULE_SUFFIXES)}
    trees = [one for one in (comparison.base.tree, tip.tree, comparison.head.tree) if isinstance(one, ListedTree)]
    found, number = set[str](), 0
    for root in roots:
        files = root.configuration.files if root.configuration is not None else ()
        folders, locks = {root.path, *map(folder_of, files)}, [root.lock_file]
        if differing and any(path not in before and not is_fetched(path) for path in files):
            folder = root.path if root.renamed_from is None else folder_of(root.old.path)
            folders |= {folder, *map(folder_of, read_before(replace(root, path=folder)).files)}
            locks.append(root.old.path)
        if differing:
            folders |= _behind_links(trees, folders)
        behind = _behind_links(trees, (*files, *locks)) if differing else ()
        own = {path for path in modules if folder_of(path) in folders}.union(differing.intersection({*locks, *behind}))
        found |= own
        number += bool(own)
    if found:
        read = f"{counted(number, 'root')} here {'reads' if number == 1 else 'read'}"
        words = f"{tip.name} has changed {listing(sorted(found), 3)} since the branch began, which {read}"
        yield f"{words}: what a merge makes of both was not reviewed"


def _behind_links(trees: Iterable[ListedTree], paths: Iterable[str]) -> set[str]:
    """Return the files and folders to which links on some paths lead, in any of some trees."""
    known = [*paths]
    places = (tree.resolve(path) for tree in trees for path in known)
    return {place for place in places if place is not None}.difference(known)
