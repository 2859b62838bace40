"""The rule about packages in the repository, which the tools install without a registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.identity import identity_of
from locklens.review.rules.verdict import Verdict
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from locklens.review.model import RootReview


def _brought(root: RootReview) -> Iterator[Verdict]:
    if files := root.context.vendored:
        words = f"the change adds or modifies packages in the repository: {files[0]} ({counted(len(files), 'file')})"
        yield Verdict(words, file=files[0], content=_content(root, files))


def _content(root: RootReview, files: Sequence[str]) -> str:
    """Return what stands for some of the files: each path with its content."""
    return identity_of(*(part for path in files for part in (path, root.context.contents.get(path, ""))))


CHECKS: Mapping[str, Callable[[RootReview], Iterator[Verdict]]] = {"LK036": _brought}
