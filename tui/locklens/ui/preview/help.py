"""Help of the Preview."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.reports.words import SIGN_MEANINGS
from locklens.ui.preview.keys import PREVIEW_KEYS
from locklens.ui.shell.help import help_section, key_help
from locklens.ui.text.spans import Line, line

if TYPE_CHECKING:
    from collections.abc import Iterator


def preview_help() -> Iterator[Line]:
    """The keys of the Preview, and its signs."""
    yield line("Nothing is on disk before enter. Then each file is replaced in one step, all of them or none,")
    yield line("and Z on any screen undoes it, also in a later run, as long as the files are still the ones written.")
    yield line()
    yield from key_help(PREVIEW_KEYS)
    yield from help_section("STEPS", {"ok": "done", "..": "going on", "--": "still to come", "!!": "failed"})
    yield from help_section("SIGNS", SIGN_MEANINGS)
