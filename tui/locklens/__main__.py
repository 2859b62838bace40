"""The entry point, and the only module that knows both front ends."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from locklens.operations.review.request import ReviewRequest

_LOADING, _SHOWING = 200_000, 50_000
"""Objects between two garbage collections, of a run and while screens are shown. A run has little garbage, and loading
modules alone makes more than 50,000 objects, none of which are garbage; a screen should not halt for long."""

_INTERRUPTED = 130
"""The same as `cli.INTERRUPTED`, which may not be loaded yet."""

_UNUSABLE = 2
"""The same as `cli.UNUSABLE`, for an error that nothing foresaw."""


def run() -> NoReturn:
    """Run the program with the process's arguments, and end the process with its exit status."""
    gc.set_threshold(_LOADING)
    try:
        from locklens.cli.main import main

        status = main(sys.argv[1:], _open_ui)
    except KeyboardInterrupt:  # While modules are loaded, or the second one, while the first is reported.
        status = _INTERRUPTED
    # A regular exit would wait for threads, and the one that reads a terminal that was closed never ends.
    except SystemExit as ended:  # By a signal that the sample handles.
        status = ended.code if isinstance(ended.code, int) else _UNUSABLE
    except Exception:  # noqa: BLE001
        sys.excepthook(*sys.exc_info())
        status = _UNUSABLE
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError):  # None if the caller closed it.
            stream.flush()
    # Everything is closed. A regular exit of Python would take 30 ms more.
    os._exit(status)


def _open_ui(request: ReviewRequest, view: str) -> int:
    from locklens.ui.app import run_app as run_ui

    gc.freeze()  # What was loaded stays: no collection looks at it again.
    gc.set_threshold(_SHOWING)
    return run_ui(request, view)


if __name__ == "__main__":
    run()
