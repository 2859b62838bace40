"""Files that are judged as committed, although git checks them out with other bytes, which the tools read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.project.gittree import ListedTree, SparseWorkTree
from locklens.review.context import Conversion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.project.tree import Tree


def conversions(base: Tree, head: Tree) -> dict[str, Conversion]:
    """Return the converted files of the new side, by path: a backend can name any of them as the state.

    Of those on disk, only the ones whose attribute is new: the tools read what is on disk, and so it is judged, but
    other checkouts have other bytes than those of the base had.

    Raises:
        RepositoryError: Git failed.
    """
    if not isinstance(head, ListedTree | SparseWorkTree):
        return {}
    attributes = head.converted(place for place in map(head.resolve, head.paths()) if place is not None)
    before = base.converted(attributes) if attributes and isinstance(base, ListedTree) else {}
    found = {path: Conversion(attribute, before.get(path) != attribute) for path, attribute in attributes.items()}
    if isinstance(head, SparseWorkTree):
        return {path: one for path, one in found.items() if one.is_new or not head.is_on_disk(path)}
    return found


def converted_of(tree: Tree, converted: Mapping[str, Conversion], paths: Iterable[str]) -> dict[str, Conversion]:
    """Return the converted ones of some files of the new side, by the path that they are read at."""
    if not converted or not isinstance(tree, ListedTree | SparseWorkTree):
        return {}
    found = ((path, converted.get(tree.resolve(path) or path)) for path in paths)
    return {path: conversion for path, conversion in found if conversion is not None}
