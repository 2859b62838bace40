"""Real lock files from public repositories, where they are at hand: LOCKLENS_SHARED_DATA names their folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest


def shared_data() -> Path | None:
    """The folder with real lock files, or None where it is not at hand."""
    folder = os.environ.get("LOCKLENS_SHARED_DATA")
    return Path(folder) if folder else None


def real_cases(kind: str) -> list[Any]:
    """The real cases of one kind (pairs, derived, conflicts) as parameters; one that skips where there are none."""
    folder = shared_data()
    if folder is None:
        return [
            pytest.param(
                None, marks=pytest.mark.skip(reason="LOCKLENS_SHARED_DATA names no folder with real lock files")
            )
        ]
    return [pytest.param(case, id=case.name) for case in sorted((folder / kind).iterdir()) if case.is_dir()]


def meta(case: Path) -> dict[str, Any]:
    """What is known of a real case."""
    loaded: dict[str, Any] = json.loads((case / "meta.json").read_text("utf-8"))
    return loaded
