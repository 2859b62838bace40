"""Help of the Upgrade screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.reports.keys import TIER_MEANINGS
from locklens.ui.shell.help import help_section, key_help
from locklens.ui.upgrade.columns import COLUMNS
from locklens.ui.upgrade.keys import UPGRADE_KEYS
from locklens.ui.upgrade.rows import UPGRADE_GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.lines import Line


def upgrade_help() -> Iterator[Line]:
    """The keys and the terms of the Upgrade screen."""
    yield from key_help(UPGRADE_KEYS)
    yield from help_section("LIST", _UPGRADE_SIGNS | {column.title: column.meaning for column in COLUMNS})
    yield from help_section("SIGNER  compared with the locked version", _UPGRADE_SIGNERS)
    yield from help_section("SIGNED BY", TIER_MEANINGS)
    yield from help_section("FILTER", UPGRADE_GRAMMAR.meanings)


_UPGRADE_SIGNS = {
    "[x] [ ] [-]": "selected, not selected, selected in some roots",
    "-": "no version to select: right steps to one that needs an edited constraint",
    "*": "excluded by the configuration: the upgrade edits the constraint, as Preview shows",
}


_UPGRADE_SIGNERS = {
    "same key": "signed with the key of the locked version",
    "NEW KEY": "a different key; both are in the detail",
    "NOT SIGNED": "not signed, unlike the locked version",
    "now signed": "signed, unlike the locked version",
    "still unsigned": "not signed, like the locked version",
    "REFUSED": "the tool would refuse the release",
    "?": "unknown; the reason is in the detail",
}
