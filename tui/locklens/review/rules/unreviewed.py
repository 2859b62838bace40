"""The rules about files that locklens does not read: submodules, links out of the repository, and those with errors."""

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


def _unread(root: RootReview) -> Iterator[Verdict]:
    for path, one in root.context.unread.items():
        severity = None if one.is_new else Severity.WARN
        yield Verdict(f"{one.fault}: what it requires is unknown", one.line, path, severity, content=one.content)


CHECKS: Mapping[str, Callable[[RootReview], Iterator[Verdict]]] = {"LK035": _unreviewed, "LK041": _unread}
