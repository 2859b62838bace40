"""The order of the sections and rows of a review."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from locklens.cycling import CyclicChoice
from locklens.project.tree import name_bytes
from locklens.ui.review.tree import Grouping, Node, severity_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LAST = float("inf")


class Sort(CyclicChoice):
    """The order of the rows."""

    SEVERITY = "severity"
    PROVIDER = "provider"
    AGE = "age"
    ROOT = "root"


def sorted_outline(sections: Sequence[Node], sort: Sort, grouping: Grouping) -> tuple[Node, ...]:
    """Return the sections with their rows in an order; equal rows are worst first.

    Sections follow their first row, except those of severities, which remain worst first.

    Args:
        sections: The outline, worst first.
        sort: The order. By age the latest release is first, and unknown dates are last.
        grouping: The kind of the sections.
    """
    if sort is Sort.SEVERITY:
        return tuple(sections)
    key = _KEYS[sort]

    def with_sorted_children(node: Node) -> Node:
        children = sorted(
            map(with_sorted_children, node.children), key=lambda child: (key(child), severity_order(child))
        )
        return replace(node, children=tuple(children)) if children else node

    done = [with_sorted_children(section) for section in sections]
    if grouping is Grouping.SEVERITY:
        return tuple(done)
    return tuple(sorted(done, key=lambda section: key(section.children[0] if section.children else section)))


def in_places_of(shown: Sequence[Node], ordered: Sequence[Node]) -> tuple[Node, ...]:
    """Return nodes in the places that they have among those shown; new ones follow, in their own order."""
    places = {node.key: (index, node) for index, node in enumerate(shown)}

    def kept(node: Node) -> Node:
        before = places.get(node.key)
        children = in_places_of(before[1].children, node.children) if before is not None else node.children
        return node if children == node.children else replace(node, children=children)

    def place(node: Node) -> int:
        return places[node.key][0] if node.key in places else len(places)

    return tuple(kept(node) for node in sorted(ordered, key=place))


def age(node: Node) -> float:
    """Days since the latest release among a node's changes; infinite if no date is known."""
    evidence = (subject.change.evidence for subject in node.subjects)
    return min((one.days for one in evidence if one is not None and one.days is not None), default=_LAST)


def _provider(node: Node) -> tuple[bool, str]:
    return node.provider is None, str(node.provider or "")


def _root(node: Node) -> bytes:
    roots = [subject.root for subject in node.subjects] or ([node.root] if node.root is not None else [])
    return min((name_bytes(root.path) for root in roots), default=b"")


_KEYS: dict[Sort, Callable[[Node], tuple[bool, str] | float | bytes]] = {
    Sort.PROVIDER: _provider,
    Sort.AGE: age,
    Sort.ROOT: _root,
}
