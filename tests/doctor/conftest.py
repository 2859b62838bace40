"""Sample incidents with their registry, and the doctor that diagnoses them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kit.registries import Incidents
from kit.verified_once import verified_once

from locklens.cli.main import main

__all__ = ["verified_once"]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Incidents]:
    monkeypatch.chdir(tmp_path)
    with Incidents(tmp_path, monkeypatch) as incidents:
        yield incidents


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def call(folder: Path, *words: str) -> Any:
        form = () if "--format" in words else ("--format", "json")
        monkeypatch.chdir(folder)
        capsys.readouterr()
        main(["doctor", "--no-cache", *form, *words], lambda request, view: pytest.fail("screen"))
        out = capsys.readouterr().out
        return out if form == () else json.loads(out)

    return call
