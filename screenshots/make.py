"""Makes the screenshots: runs the real app on a repository without a terminal and saves what it shows as PNG.

    python screenshots/make.py [FOLDER] [--output DIR] [--base REV]

Without FOLDER the demo repository is made and reviewed; the registry that is asked is the demo's in any case. The font
DejaVu Sans Mono must be installed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.events import Paste

from locklens.demo.faults import Faults
from locklens.demo.incidents import make_repository
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import SAMPLE_RULES, environment, sample_advisories, write_cli_configuration
from locklens.operations.compare import open_git
from locklens.operations.comparison import Base
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.releases import NetworkSettings
from locklens.storage.cache import Cache
from locklens.ui.app import LockLensApp
from locklens.ui.upgrade import UpgradeScreen
from locklens.ui.why import InsideDialog

if TYPE_CHECKING:
    from textual.pilot import Pilot

FONT = "DejaVu Sans Mono"


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture: name, size of the terminal, keys that lead to it, the theme, what is pasted then, and where."""

    name: str
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    theme: str = "locklens-dark"
    pasted: str = ""
    folder: str = ""


LOG = """\
Initializing provider plugins...
- Reusing previous version of acme/netbox from the dependency lock file
- Installing acme/netbox v3.10.0...

Error: Failed to install provider

Error while installing acme/netbox v3.10.0: the current package for registry.terraform.io/acme/netbox 3.10.0 doesn't
match any of the checksums previously recorded in the dependency lock file; for more information:
https://developer.hashicorp.com/terraform/language/files/dependency-lock#checksum-verification
"""

SCENES = (
    Scene("review", (120, 36), ("j",) * 4),
    Scene("review-80x24", (80, 24), ("j", "space", "j")),
    Scene("review-light", (120, 32), ("b", "n"), "locklens-light"),
    Scene("why", (110, 32), ("n", "n", "w")),
    Scene("hashes", (120, 32), ("3", "n", "n", "n")),
    Scene("signers", (120, 32), ("4",)),
    Scene("health", (120, 32), ("5", "j", "j")),
    Scene("doctor", (120, 32), ("6",), pasted=LOG, folder="infra/prod/dns"),
    Scene("upgrade", (120, 36), ("2", "j", "space", "j")),
    Scene("inside", (120, 36), ("2", *("j",) * 4, "z", "enter")),
    Scene("preview", (120, 36), ("2", "a", "U")),
    Scene("keys", (110, 40), ("question_mark",)),
)


async def settle(app: LockLensApp, pilot: Pilot[int]) -> None:
    """Waits for the work in progress; a dialog that asks before a download goes on only after its key."""
    await pilot.pause()
    while isinstance(app.screen, InsideDialog) and not app.screen.is_waiting:
        await pilot.pause(0.05)
    if not isinstance(app.screen, InsideDialog):
        await app.workers.wait_for_complete()
    while isinstance(app.screen, UpgradeScreen) and app.screen.asking_words:
        await pilot.pause(0.05)
    await pilot.pause()


async def picture(request: ReviewRequest, scene: Scene, store: Path) -> str:
    """Returns a scene as SVG."""
    app = LockLensApp(LockLens(request), store_path=store, preferences_path=store.with_name("config.toml"))
    async with app.run_test(size=scene.size, notifications=True) as pilot:
        app.theme = scene.theme
        await app.workers.wait_for_complete()
        await pilot.pause()
        for key in scene.keys:
            await pilot.press(key)
            await settle(app, pilot)
        if scene.pasted:
            app.screen.post_message(Paste(scene.pasted))
            await pilot.pause()
            await app.workers.wait_for_complete()
        await pilot.pause(0.3)
        return app.export_screenshot(title="locklens")


def png(svg: str) -> bytes:
    """Renders an SVG; fonts come from this machine, never from the network."""
    import resvg_py

    local = re.sub(r"@font-face\s*{[^}]*}", "", svg)
    return bytes(resvg_py.svg_to_bytes(svg_string=local, font_family=FONT, monospace_family=FONT))


def main() -> None:
    """Makes all scenes."""
    parser = argparse.ArgumentParser(description="Make screenshots of locklens.")
    parser.add_argument("folder", nargs="?", type=Path, help="a git repository (default: the demo)")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent, help="where the pictures go")
    parser.add_argument("--base", default="HEAD", help="the old revision (default: HEAD)")
    found = parser.parse_args()
    found.output.mkdir(parents=True, exist_ok=True)
    found.output = found.output.resolve()
    with ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory())
        folder = (found.folder or make_repository(Path(scratch) / "infrastructure")).resolve()
        stack.enter_context(sample_advisories(Path(scratch)))
        registry = stack.enter_context(DemoRegistry(faults=Faults(SAMPLE_RULES)))
        environ = {**os.environ, **environment(write_cli_configuration(registry, Path(scratch)))}
        network = NetworkSettings(environ, Cache(Path(scratch) / "cache.sqlite3"))
        request = ReviewRequest(partial(open_git, folder, Base(found.base)), network=network)
        for number, scene in enumerate(SCENES):
            os.chdir(folder / scene.folder)
            svg = asyncio.run(picture(request, scene, Path(scratch) / f"store-{number}.sqlite3"))
            (found.output / f"{scene.name}.png").write_bytes(png(svg))
            print(scene.name, "x".join(map(str, scene.size)))


if __name__ == "__main__":
    main()
