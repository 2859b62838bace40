"""What all attacks share: settings of git that are nobody's; screens are waited for as in their own tests."""

from __future__ import annotations

import pytest
from ui.conftest import counted_waiting

__all__ = ["counted_waiting"]


@pytest.fixture(autouse=True)
def own_git_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    settings = tmp_path_factory.mktemp("git") / "gitconfig"
    settings.write_text("[user]\nname = Ann\nemail = ann@example.com\n[init]\ndefaultBranch = main\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
