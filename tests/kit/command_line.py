"""locklens as a command: in the process of the test, or as a program of its own in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conformance.forking import shared

from locklens.cli.main import main

Run = Callable[..., tuple[int, str, str]]
"""Runs a command; returns its exit status, standard output and standard error."""


def no_screen(*_: object) -> int:
    """Fail: the command opens no screen."""
    pytest.fail("the terminal UI was opened")


def runner(captured: pytest.CaptureFixture[str], *lead: str) -> Run:
    """Return what runs commands in this process, with the words of `lead` before their own."""

    def run(*words: str) -> tuple[int, str, str]:
        captured.readouterr()
        status = main([*lead, *words], no_screen)
        found = captured.readouterr()
        return status, found.out, found.err

    return run


def locklens(folder: Path, *words: str, timeout: int = 120) -> tuple[int, str, str]:
    """Run a command; returns its exit status, standard output and standard error, which never hold a traceback."""
    done = shared().finish(words, folder, os.environ, limit=timeout)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr
