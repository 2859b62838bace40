"""The rule about versions that several roots lock: one version has one set of packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.hashes import packages_of
from locklens.review.model import ChangeKind
from locklens.review.rules.verdict import Verdict
from locklens.text import listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.review.model import Change, RootReview


def _disagreeing(change: Change, root: RootReview) -> Iterator[Verdict]:
    own = packages_of(change.new.hashes) if change.new else frozenset[str]()
    if not change.new or not own or change.kind is ChangeKind.UNCHANGED:
        return
    rivals = [
        other
        for other in root.context.locked.get((change.address, str(change.new.version)), ())
        if other.root != root.path and not (own <= other.packages or other.packages <= own)
    ]
    if rivals:
        places = listing([f"{other.lock_file}:{other.line}" for other in rivals])
        yield Verdict(f"{change.address} {change.new.version} has other zh hashes in {places}", change.new.line)


CHECKS: Mapping[str, Callable[[Change, RootReview], Iterator[Verdict]]] = {"LK023": _disagreeing}
