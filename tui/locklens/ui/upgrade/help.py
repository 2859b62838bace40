"""Help of the Upgrade screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.shell.help import help_section, key_help
from locklens.ui.text.signers import TIER_MEANINGS
from locklens.ui.upgrade.keys import UPGRADE_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.ui.text.spans import Line


def upgrade_help() -> Iterator[Line]:
    """The keys of the screen of upgrades, and its words."""
    yield from key_help(UPGRADE_KEYS)
    yield from help_section("IN THE LIST", _UPGRADE_SIGNS)
    yield from help_section("SIGNER, against that of the locked version", _UPGRADE_SIGNERS)
    yield from help_section("SIGNED BY", TIER_MEANINGS)


_UPGRADE_SIGNS = {
    "[x] [ ] [-]": "chosen, not chosen, chosen in some of the roots",
    "-": "there is no version to choose: right steps to one that needs an edited constraint",
    "*": "the configuration excludes the version: its constraint is edited, which Preview shows",
    "in range": "the newest version that the constraints admit as they are: what init -upgrade would select",
    "newest": "the newest release there is",
    "age": "days since the release, as the registry says, unsigned; ? where it does not say",
    "held by": "what keeps it from the newest version: a constraint with its line, the cooldown, or how far it may go",
}


_UPGRADE_SIGNERS = {
    "partner =": "the same key",
    "NEW KEY": "another key; the detail has both",
    "NOT SIGNED": "nobody signed it, and somebody signed the locked version",
    "partner +": "signed, and the locked version was not",
    "REFUSED": "the tool would refuse it",
    "?": "not known; the detail says why",
}
