"""Help of the Doctor screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.doctor.keys import DOCTOR_KEYS
from locklens.ui.doctor.rows import DOCTOR_GRAMMAR
from locklens.ui.shell.help import help_section, key_help

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.lines import Line

_VERDICTS = {
    "yes": "certain: a fact about the failing run",
    "likely": "probable; the needed fact is named",
    "?": "unknown; the needed fact is named with the way to it",
    "no": "ruled out, by evidence alone",
    "fix": "fixes; those that leave trust unchanged come first",
    "CONFIRMED": "a fact about the failing run makes a cause certain",
    "LIKELY": "evidence was found on this machine, or holds now",
    "CANNOT SAY": "several causes are possible; the missing facts are named",
    "FIXED": "what the log is about has changed since: run init again",
}


def doctor_help() -> Iterator[Line]:
    """The keys and the verdicts of the Doctor screen."""
    yield from key_help(DOCTOR_KEYS)
    yield from help_section("VERDICTS", _VERDICTS)
    yield from help_section("FILTER", DOCTOR_GRAMMAR.meanings)
