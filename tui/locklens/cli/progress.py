"""Progress of a review on stderr: plain lines, and on a terminal one that is redrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from locklens.cli.live import LiveLine
from locklens.operations.review.events import (
    LookupProgress,
    PackageDone,
    PackageDownloading,
    Progress,
    ProvingPlanned,
    RootsKnown,
)
from locklens.text import counted, size_words

if TYPE_CHECKING:
    from locklens.operations.review.events import ReviewEvent


class ReviewProgress:
    """Progress of a review.

    Args:
        is_verbose: True to list each request.
    """

    def __init__(self, *, is_verbose: bool) -> None:
        self._is_verbose = is_verbose
        self._line = LiveLine()
        self._arriving: dict[str, PackageDownloading] = {}

    def take(self, event: ReviewEvent) -> None:
        """Report one event."""
        match event:
            case LookupProgress():
                if self._is_verbose:
                    self._line.say(*event.log)
            case ProvingPlanned():
                self._line.say(planned_words(event))
            case PackageDownloading():
                self._arriving[event.label] = event
                self._line.draw(self._words)
            case PackageDone():
                self._arriving.pop(event.label, None)
                outcome = f"failed: {event.problem}" if event.problem else f"hashed, {size_words(event.size)}"
                self._line.say(f"{event.label}: {outcome}")
            case Progress() | RootsKnown():
                pass
            case _:
                assert_never(event)

    def _words(self) -> str:
        return "; ".join(f"{event.label} {arriving_words(event)}" for event in self._arriving.values())


def planned_words(plan: ProvingPlanned) -> str:
    """Return the number and size of the packages to download."""
    size = f", {size_words(plan.likely_bytes)}" if plan.likely_bytes is not None else ""
    if not plan.hashes:
        return f"to download {', '.join(plan.labels)}{size}, up to {plan.at_most} times"
    more = f" (at most {plan.at_most})" if plan.at_most > plan.likely else ""
    return f"to prove {plan.hashes} h1: {counted(plan.likely, 'package')}{size} to download{more}"


def arriving_words(event: PackageDownloading) -> str:
    """Return the progress of a package."""
    if not event.size:
        return size_words(event.received)
    return f"{min(100, 100 * event.received // event.size)} % of {size_words(event.size)}"
