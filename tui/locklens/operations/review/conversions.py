"""Files that are judged as committed, and that git checks out with other bytes: the tools read those."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.project.gittree import ListedTree
from locklens.project.roots import LOCK_FILE, is_configuration
from locklens.review.model import Severity
from locklens.review.verdicts import Verdict, finding_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from locklens.project.tree import Tree
    from locklens.review.model import Finding


class Conversion(Struct, frozen=True):
    """What git does to a file on checkout.

    Attributes:
        attribute: What has git do it, such as `filter=lfs`.
        is_new: Whether the old side's attributes do not have it so.
    """

    attribute: str
    is_new: bool


def conversions(base: Tree, head: Tree) -> dict[str, Conversion]:
    """Returns which lock files and configurations of the new side are converted, by path; none on disk.

    Raises:
        RepositoryError: Git failed.
    """
    if not isinstance(head, ListedTree):
        return {}
    named = (path for path in head.paths() if path.rpartition("/")[2] == LOCK_FILE or is_configuration(path))
    found = head.converted(place for place in map(head.resolve, named) if place is not None)
    before = base.converted(found) if found and isinstance(base, ListedTree) else {}
    return {path: Conversion(attribute, before.get(path) != attribute) for path, attribute in found.items()}


def judge(tree: Tree, converted: Mapping[str, Conversion], paths: Iterable[str]) -> Iterator[Finding]:
    """Finds what of some files of the new side is converted; a warning where it was on the old side too."""
    if not converted or not isinstance(tree, ListedTree):
        return
    for path in paths:
        conversion = converted.get(tree.resolve(path) or path)
        if conversion is not None:
            words = f"git would check it out with other bytes than were judged ({conversion.attribute})"
            severity = None if conversion.is_new else Severity.WARN
            yield finding_of("LK031", Verdict(words, file=path, severity=severity), path, None)
