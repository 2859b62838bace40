"""The command line as people and pipelines type it, beside a registry on loopback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from kit.command_line import Run, runner
from kit.loopback import Server, serving
from kit.registries import lead_to
from kit.verified_once import verified_once

from locklens.demo.registry import DemoRegistry

__all__ = ["verified_once"]


@pytest.fixture(scope="module")
def registry() -> Iterator[DemoRegistry]:
    with DemoRegistry() as running:
        yield running


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], registry: DemoRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Run locklens against the registry of the module, and stay in the folder of the test."""
    lead_to(monkeypatch, registry, tmp_path)
    locklens = runner(capsys)

    def call(*words: str) -> tuple[int, str, str]:
        here = Path.cwd()
        try:
            return locklens(*words)
        finally:
            os.chdir(here)

    return call
