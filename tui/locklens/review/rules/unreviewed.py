"""The rule about files that the tools read and locklens does not: submodules, and links out of the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.model import Severity
from locklens.review.rules.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.review.model import RootReview


def _unreviewed(root: RootReview) -> Iterator[Verdict]:
    for path, one in root.context.unreviewed.items():
        severity = None if one.blocks else Severity.WARN
        yield Verdict(f"not reviewed: {path} is {one.what}", file=path, severity=severity, content=one.content)


CHECKS: Mapping[str, Callable[[RootReview], Iterator[Verdict]]] = {"LK035": _unreviewed}
