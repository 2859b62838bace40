"""Help of the Preview."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import Line, line
from locklens.review.reports.words import SIGN_MEANINGS
from locklens.ui.preview.keys import PREVIEW_KEYS
from locklens.ui.shell.help import help_section, key_help

if TYPE_CHECKING:
    from collections.abc import Iterator


def preview_help() -> Iterator[Line]:
    """The keys and the signs of the Preview."""
    yield line("Nothing is written before enter. Then each file is replaced atomically, all of them or none.")
    yield line(
        "Z on any other screen lists what was applied, also by earlier runs: undo, redo, copy the commit message."
    )
    yield line()
    yield from key_help(PREVIEW_KEYS)
    yield from help_section("STEPS", {"ok": "done", "..": "in progress", "--": "pending", "!!": "failed"})
    yield from help_section("SIGNS", SIGN_MEANINGS)
