"""What an upper-case key means on a row of the review: the intent, or why there is none. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import LockLensError
from locklens.operations.write.format import Format
from locklens.operations.write.prune import Prune
from locklens.operations.write.restore import Restore, RestoredProviders
from locklens.project.roots import LOCK_FILE
from locklens.review.model import ChangeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.operations.plan.model import Scope
    from locklens.operations.write.operation import Operation
    from locklens.review.model import Review, RootReview
    from locklens.ui.review.tree import Node, RootChange

    Where = Callable[[Path, Iterable[str]], Scope]

_SHOWN_REVISION = 12


def writable(review: Review | None, top: Path | None) -> Path:
    """Returns the folder that can be written in.

    Raises:
        LockLensError: What is reviewed is not what is on disk.
    """
    if review is None:
        raise LockLensError("nothing is read yet")
    match review.head.kind:
        case "git":
            raise LockLensError("two revisions are compared, and only the work tree can be written")
        case "index":
            raise LockLensError("git's index is reviewed, and only the work tree can be written")
    if top is None or review.head.kind == "empty":
        raise LockLensError("what is reviewed is no file on disk")
    return top


def pruning(node: Node | None, review: Review | None, top: Path | None, where: Where) -> Prune:
    """Returns the intent to prune the highlighted orphan, or else the orphans of the row's roots.

    Raises:
        LockLensError: That cannot be done here.
    """
    folder = writable(review, top)
    roots = _roots(node)
    change = node.change if node is not None else None
    if change is not None and node is not None and change.new is not None:
        own = [one.change.findings for one in node.subjects]
        if all(any(finding.rule == "LK007" for finding in findings) for findings in own):
            return Prune(where(folder, _paths(roots)), (_name(node.subjects[0]),))
    return Prune(where(folder, _paths(roots)))


def formatting(node: Node | None, review: Review | None, top: Path | None, where: Where) -> Format:
    """Returns the intent to format the lock files of the row's roots.

    Raises:
        LockLensError: That cannot be done here.
    """
    folder = writable(review, top)
    return Format(where(folder, _paths(_roots(node))))


def locking(
    chosen: Collection[tuple[str, ProviderAddress]], review: Review | None, top: Path | None, where: Where
) -> Operation:
    """Returns the intent to lock the platforms that providers lack.

    Args:
        chosen: Each by lock file and address.
        review: What is shown.
        top: What its paths are relative to.
        where: Names roots.

    Raises:
        LockLensError: That cannot be done here, or nothing is lacking.
    """
    from locklens.operations.write.lock_missing import lock_missing

    folder = writable(review, top)
    assert review is not None
    if not chosen:
        raise LockLensError("choose a row with a provider that is locked")
    return lock_missing(review, chosen, lambda roots: where(folder, roots))


def restoring(node: Node | None, review: Review | None, top: Path | None, where: Where) -> Restore:
    """Returns the intent to have all that the row stands for as it is in the review's base.

    Raises:
        LockLensError: That cannot be done here.
    """
    folder = writable(review, top)
    assert review is not None
    base = review.base
    if base.kind != "git" or base.revision is None:
        told = "there is no commit yet" if review.head.kind == "worktree" else "two files are compared"
        raise LockLensError(f"{told}, so that there is no revision to restore from")
    subjects = [
        one for one in (node.subjects if node is not None else ()) if one.change.kind is not ChangeKind.UNCHANGED
    ]
    if not subjects:
        raise LockLensError("choose a row with a change")
    by_root: dict[str, list[str]] = {}
    for subject in subjects:
        names = by_root.setdefault(subject.root.path, [])
        names.append(_name(subject))
        if subject.change.moved_from is not None:
            names.append(subject.change.moved_from.short(subject.root.tool.default_host))
    alike: dict[tuple[str, ...], list[str]] = {}
    for path, names in by_root.items():
        alike.setdefault(tuple(sorted(names)), []).append(path)
    restored = tuple(RestoredProviders(where(folder, paths).roots, names) for names, paths in alike.items())
    # Of a common ancestor there is no name that git would take.
    revision = base.revision[:_SHOWN_REVISION] if "..." in base.name else base.name
    return Restore(where(folder, ()), restored, revision)


def _roots(node: Node | None) -> list[RootReview]:
    """The roots that a row is about."""
    if node is None:
        raise LockLensError("choose a row")
    roots = [node.root] if node.root is not None else [subject.root for subject in node.subjects]
    roots = list({root.path: root for root in [*roots, *(one.root for one in node.subjects)]}.values())
    if not roots:
        raise LockLensError("choose a row with a root")
    odd = next((root.lock_file for root in roots if root.lock_file.rpartition("/")[2] != LOCK_FILE), None)
    if odd is not None:
        raise LockLensError(f"{odd} is the lock file of no root: its name is another")
    return roots


def _paths(roots: Iterable[RootReview]) -> list[str]:
    return [root.path for root in roots]


def _name(subject: RootChange) -> str:
    return subject.change.address.short(subject.root.tool.default_host)
