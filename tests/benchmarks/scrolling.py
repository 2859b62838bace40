"""How long it takes to go through a list of upgrades, key by key: `python tests/benchmarks/scrolling.py`.

The keys come as fast as a terminal hands them over where one is held down. Prints seconds, and beside them those of as
many presses of a key that nothing is bound to, which is what Textual itself takes.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from msgspec.structs import replace
from operations.sample_candidates import offer
from textual.events import Key
from textual.pilot import Pilot
from ui.conftest import Samples, ServingSource

from locklens.operations.upgrades import CandidateTable
from locklens.ui.app import LockLensApp
from locklens.ui.upgrade import UpgradeScreen

PRESSES = 500
VERSIONS = 40


async def measure(folder: Path, providers: int) -> tuple[float, float]:
    """Returns the seconds of PRESSES presses of `down`, and of a key without a meaning."""
    offered = " ".join(f"1.{minor}.0:{400 - minor}" for minor in range(VERSIONS))
    one = offer(offered, "~> 1.0", ">= 0.5", "!= 1.7.0", root="a")
    many = (
        replace(one, address=replace(one.address, type=f"p{number:04}"), name=f"acme/p{number:04}")
        for number in range(providers)
    )
    samples, found = Samples(), CandidateTable(tuple(many))
    review = samples.review(samples.root("a", [samples.change()], configuration=samples.configuration()))
    source = ServingSource(review, top=folder, offering=lambda *_: found)
    app = LockLensApp(source, "upgrade", store_path=folder / "store.sqlite3")
    async with app.run_test(size=(110, 32)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert isinstance(app.screen, UpgradeScreen)
        idle = await pressed(app, pilot, "f12")
        taken = await pressed(app, pilot, "down")
        assert app.screen.left.cursor == min(PRESSES + 1, providers)
        return taken, idle


async def pressed(app: LockLensApp, pilot: Pilot[int], key: str) -> float:
    """Returns the seconds until PRESSES presses of a key are answered and shown."""
    began = time.perf_counter()
    for _ in range(PRESSES):
        app.post_message(Key(key, None))
    await pilot.pause()
    return time.perf_counter() - began


def main() -> None:
    """Measures lists of several lengths."""
    with tempfile.TemporaryDirectory() as folder:
        for number, providers in enumerate((PRESSES, 5 * PRESSES)):
            place = Path(folder) / str(number)
            place.mkdir()
            taken, idle = asyncio.run(measure(place, providers))
            print(f"{providers:5} providers, {PRESSES} presses of down: {taken:.2f} s; of no key: {idle:.2f} s")


if __name__ == "__main__":
    main()
