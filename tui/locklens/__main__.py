"""The entry point, and the only module that knows both front ends."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from locklens.workspace.review import ReviewRequest


def run() -> int:
    """Runs the program with the process's arguments and returns its exit status."""
    from locklens.cli.main import main

    return main(sys.argv[1:], _open_ui)


def _open_ui(request: ReviewRequest, view: str) -> int:
    from locklens.ui.app import run as run_ui

    return run_ui(request, view)


if __name__ == "__main__":
    sys.exit(run())
