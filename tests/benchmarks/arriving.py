"""Measures what it costs to show evidence that arrives change by change, beside showing the same review whole.

    python tests/benchmarks/arriving.py [--changes N] [--seconds S]

Ratios are what to compare; the times are those of this machine. It is no test: nothing fails for being slow.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parents[1]))

from ui.conftest import Samples, ServedReview, ServingSource, drafted

from locklens.operations.review.request import Progress, ReviewEvent, RootsKnown
from locklens.review import Proof
from locklens.review.model import Evidence, Review
from locklens.ui.app import LockLensApp
from locklens.ui.review import ReviewScreen

CHANGES_IN_A_ROOT = 10


class Arriving(ServedReview):
    """Settles one change after the other, evenly over some seconds."""

    seconds = 0.0

    def complete(self, *, on_event: Callable[[ReviewEvent], None], cancel: threading.Event) -> Review:
        total = sum(len(root.changes) for root in self.final.roots)
        began, done = time.monotonic(), 0
        drafts = {root.lock_file: root for root in self.draft.roots}
        for root in self.final.roots:
            shown = replace(drafts[root.lock_file], configuration=root.configuration)
            for number in range(len(root.changes)):
                changes = (*root.changes[: number + 1], *shown.changes[number + 1 :])
                on_event(RootsKnown((replace(shown, changes=changes),)))
                done += 1
                on_event(Progress("evidence", done, total))
                if cancel.wait(max(0.0, began + self.seconds * done / total - time.monotonic())):
                    return self.final
        return self.final


class ArrivingSource(ServingSource):
    """Serves such a review."""

    seconds = 0.0

    def open(self, *, is_fresh: bool = False, on_event: object = None) -> Arriving:
        del is_fresh
        assert self.served is not None
        served = Arriving(drafted(self.served), self.served)
        served.seconds = self.seconds
        return served


def sample(changes: int) -> Review:
    """Many roots, each change explained but for one hash."""
    samples, evidence = Samples(), Evidence("2026-11-21T14:02:09Z")

    def explained(number: int, one: int) -> object:
        change = samples.change(f"acme/own{number}-{one}", "1.0.0", "1.1.0")
        added = tuple(replace(fact, proof=Proof.SIGNED) for fact in change.added)
        return replace(change, added=added, evidence=evidence)

    return samples.review(
        *(
            samples.root(
                f"infra/team-{number:04}",
                [explained(number, one) for one in range(CHANGES_IN_A_ROOT)],  # type: ignore[misc]
                configuration=samples.configuration(),
            )
            for number in range(changes // CHANGES_IN_A_ROOT)
        )
    )


async def measure(review: Review, seconds: float) -> tuple[list[float], float]:
    """Shows a review that takes so long to arrive; returns how long each build took, and how long all of it."""
    source = ArrivingSource(review)
    source.seconds = seconds
    built: list[float] = []
    build = ReviewScreen.refresh_list

    def timed(self: ReviewScreen, *, cursor_key: str | None = None, is_ordered: bool = False) -> None:
        began = time.perf_counter()
        build(self, cursor_key=cursor_key, is_ordered=is_ordered)
        built.append(time.perf_counter() - began)

    ReviewScreen.refresh_list = timed  # type: ignore[method-assign]
    try:
        with tempfile.TemporaryDirectory() as folder:
            app = LockLensApp(source, store_path=Path(folder) / "store.sqlite3")
            began = time.perf_counter()
            async with app.run_test(size=(120, 40)) as pilot:
                await app.workers.wait_for_complete()
                await pilot.pause()
                return built, time.perf_counter() - began
    finally:
        ReviewScreen.refresh_list = build  # type: ignore[method-assign]


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="Measure the list while evidence arrives.")
    parser.add_argument("--changes", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=3.0)
    found = parser.parse_args()
    review = sample(found.changes)
    _, whole = asyncio.run(measure(review, 0.0))
    built, slow = asyncio.run(measure(review, found.seconds))
    print(f"{found.changes} changes, one by one over {found.seconds:g} s")
    print(f"  builds of the list      {len(built)}, {len(built) / slow:.1f} in a second")
    print(
        f"  one build               {1000 * sum(built) / len(built):.1f} ms on average, {1000 * max(built):.1f} at most"
    )
    print(f"  building, of all time   {sum(built) / slow:.0%}")
    print(f"  until all is shown      {slow:.2f} s; {whole:.2f} s where all arrives at once, x {slow / whole:.1f}")


if __name__ == "__main__":
    main()
