"""The rule about files that git checks out with bytes other than the committed ones that are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.model import Severity
from locklens.review.rules.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.review.model import RootReview


def _read_otherwise(root: RootReview) -> Iterator[Verdict]:
    for path, conversion in root.context.converted.items():
        words = f"git would check it out with different bytes than were judged ({conversion.attribute})"
        yield Verdict(words, file=path, severity=None if conversion.is_new else Severity.WARN)
    for path, usual in root.context.spellings.items():
        words = f"where the disk takes its name for {usual}, the tools or git read it, and it was not judged"
        yield Verdict(words, file=path, content=root.context.contents.get(path, ""))


CHECKS: Mapping[str, Callable[[RootReview], Iterator[Verdict]]] = {"LK031": _read_otherwise}
