"""The command line as people and pipelines type it, beside a registry on loopback."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from locklens.cli.main import main
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import environment, write_cli_configuration

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], registry: DemoRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Run locklens against the registry of the module; exit status, standard output and standard error."""
    for name, value in environment(write_cli_configuration(registry, tmp_path)).items():
        monkeypatch.setenv(name, value)

    def call(*argv: str) -> tuple[int, str, str]:
        here = Path.cwd()
        status = main(argv, lambda request, view: pytest.fail("the terminal UI was opened"))
        os.chdir(here)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call
