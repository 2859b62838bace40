"""locklens as a program of its own, in a folder."""

from __future__ import annotations

import os
from pathlib import Path

from conformance.forking import shared


def locklens(folder: Path, *words: str, timeout: int = 120) -> tuple[int, str, str]:
    """Run a command; returns its exit status, standard output and standard error, which never hold a traceback."""
    done = shared().finish(words, folder, os.environ, limit=timeout)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr
