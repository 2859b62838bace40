"""Both ways to inflate, and a place to look for what was left behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from locklens.packages import contents


@pytest.fixture(params=["isal", "zlib"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Runs a test with isal, where there is one, and as if there were none."""
    if request.param == "isal":
        pytest.importorskip("isal")
    else:
        monkeypatch.setitem(sys.modules, "isal", None)
    contents.engine.cache_clear()
    yield request.param
    contents.engine.cache_clear()
