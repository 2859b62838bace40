"""git, as the tests call it: with an author, and loud where it fails."""

from __future__ import annotations

import subprocess
from pathlib import Path

_AUTHOR = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false")
_USUAL = ("-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always")


def git(folder: Path, *words: str, given: bytes = b"") -> str:
    """Run git in a folder.

    Args:
        folder: The work tree.
        words: The command and its arguments.
        given: Standard input.

    Returns:
        Standard output without the line ends at its end.
    """
    command = ["git", *_AUTHOR, *_USUAL, *words]
    done = subprocess.run(command, cwd=folder, input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout.decode().rstrip("\n")
