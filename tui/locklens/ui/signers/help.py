"""Help of the Signers screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.reports.keys import TIER_MEANINGS
from locklens.ui.shell.help import help_section, key_help
from locklens.ui.signers.keys import SIGNERS_KEYS
from locklens.ui.signers.rows import SIGNERS_GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.lines import Line


def signers_help() -> Iterator[Line]:
    """The keys and the tiers of the Signers screen."""
    yield from key_help(SIGNERS_KEYS)
    yield from help_section("SIGNED BY", TIER_MEANINGS)
    yield from help_section("FILTER", SIGNERS_GRAMMAR.meanings)
