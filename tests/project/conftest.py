"""A repository without commits."""

from __future__ import annotations

from pathlib import Path

import pytest
from kit.git import git


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder
