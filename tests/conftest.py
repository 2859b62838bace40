"""What all tests share: a home that is nobody's, and random tests that are the same in every run."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps every test away from the settings and the data of whoever runs it."""
    home = tmp_path_factory.mktemp("home")
    for name in ("HOME", "USERPROFILE", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "NO_COLOR", "TF_DATA_DIR", "TF_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
