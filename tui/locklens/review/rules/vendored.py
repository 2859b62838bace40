"""The rule about packages that come with the change itself: the tools install them without a registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.rules.verdict import Verdict
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.review.model import RootReview


def _brought(root: RootReview) -> Iterator[Verdict]:
    if files := root.context.vendored:
        words = f"the change brings packages of its own: {files[0]} ({counted(len(files), 'file')})"
        yield Verdict(words, file=files[0])


CHECKS: Mapping[str, Callable[[RootReview], Iterator[Verdict]]] = {"LK036": _brought}
