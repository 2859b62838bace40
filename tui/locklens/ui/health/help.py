"""Help of the Health screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.health.keys import HEALTH_KEYS
from locklens.ui.health.rows import HEALTH_GRAMMAR
from locklens.ui.shell.help import help_section, key_help

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.lines import Line


def health_help() -> Iterator[Line]:
    """The keys, the columns and the filter of the Health screen."""
    yield from key_help(HEALTH_KEYS)
    yield from help_section("COLUMNS", _COLUMNS)
    yield from help_section("FILTER", HEALTH_GRAMMAR.meanings)


_COLUMNS = {
    "12": "number of roots with a finding of the check",
    "30 ?": "number of roots of which the check cannot say; the detail has the reason",
    "> v": "folded and unfolded; enter lists the roots",
    "x": "marked for L U P F; - for some of a row's roots",
    "####": "roots that lock the provider; the detail has a bar for each version",
}
