"""Reads the roots of a layout, those of a large one in several processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import RunCancelledError
from locklens.operations.health.reading import RootsReader

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from locklens.operations.health.layout import Layout
    from locklens.operations.health.reading import ReadRoot, RootSettings

_BATCH = 50
"""Roots between two looks at `cancel`."""


def read_roots(
    layout: Layout,
    settings: RootSettings,
    *,
    on_progress: Callable[[int, int], None],
    cancel: threading.Event,
) -> list[ReadRoot]:
    """Return the roots of a layout, in the order of their folders.

    Args:
        layout: The folders.
        settings: The settings of reading.
        on_progress: Called with the number of read folders and of all.
        cancel: Set by another thread to stop.

    Raises:
        RunCancelledError: `cancel` was set.
    """
    reader = RootsReader(layout, settings)
    roots: list[ReadRoot] = []
    total = len(layout.locked)
    for start in range(0, total, _BATCH):
        if cancel.is_set():
            raise RunCancelledError("the scan was cancelled")
        roots += reader.read(layout.locked[start : start + _BATCH])
        on_progress(min(total, start + _BATCH), total)
    if layout.configured:
        called = reader.called([*layout.locked, *layout.configured])
        roots += reader.read_unlocked(layout.configured, called)
    return sorted(roots, key=lambda root: root.review.path)
