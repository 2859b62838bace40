"""Theme, grouping and order are kept between runs in the user's config.toml."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from ui.conftest import Driver, ServingSource, until

from locklens.operations.locklens import Reads
from locklens.storage.preferences import default_preferences_path
from locklens.ui.app import LockLensApp, run_app
from locklens.ui.review.outline import Grouping, Sort
from locklens.ui.upgrade import UpgradeScreen
from locklens.ui.upgrade.rows import By

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ui.conftest import Samples


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


@pytest.fixture
def app_with(samples: Samples, tmp_path: Path, path: Path) -> Callable[[], LockLensApp]:
    def build() -> LockLensApp:
        source = ServingSource(samples.full(), others={Reads.CANDIDATES: ServingSource(samples.full())})
        return LockLensApp(source, store_path=tmp_path / "store.sqlite3", preferences_path=path)

    return build


async def test_the_next_run_has_them(app_with: Callable[[], LockLensApp], path: Path) -> None:
    app = app_with()
    async with app.run_test(size=(120, 40)) as pilot:
        on = Driver(app, pilot)
        await on.settle()
        assert not path.exists()
        await on.press("b", "s", "s")
        on.screen.action_theme()
        await on.press("2")
        await on.settle()
        await on.press("b", "q")
    assert tomllib.loads(path.read_text()) == {
        "theme": "light",
        "review": {"group": "provider", "sort": "age"},
        "upgrade": {"group": "root"},
    }
    app = app_with()
    async with app.run_test(size=(120, 40)) as pilot:
        on = Driver(app, pilot)
        await on.settle()
        assert app.theme == "locklens-light"
        assert (on.screen.grouping, on.screen.sort) == (Grouping.PROVIDER, Sort.AGE)
        assert "by provider | no release date known" in on.lines[-2]
        await on.press("2")
        await on.settle()
        assert isinstance(app.screen, UpgradeScreen)
        assert app.screen.by is By.ROOT


async def test_a_broken_file_is_a_warning_and_remains(app_with: Callable[[], LockLensApp], path: Path) -> None:
    path.write_text('theme = "light"\n[review\n')
    app = app_with()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        on = Driver(app, pilot)
        await on.settle()
        assert app.theme == "locklens-dark"
        await until(on, lambda: any(f"{path}:2: not valid TOML" in note.message for note in app._notifications))
        await on.press("b")
        assert on.screen.grouping is Grouping.PROVIDER
        await until(on, lambda: any("not saved" in note.message for note in app._notifications))
    assert path.read_text() == 'theme = "light"\n[review\n'


def test_those_of_the_sample_are_beside_it(samples: Samples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample says that nothing of the user's is touched."""
    opened: list[tuple[Path, Path | None]] = []

    def run(app: LockLensApp) -> int:
        opened.append((app.preferences_path, app.store_path))
        return 0

    monkeypatch.setattr(LockLensApp, "run", run)
    request = replace(ServingSource(samples.full()).request, folder=tmp_path / "infrastructure")
    run_app(replace(request, is_demo=True))
    run_app(request)
    assert opened == [(tmp_path / "config.toml", tmp_path / "store.sqlite3"), (default_preferences_path(), None)]
