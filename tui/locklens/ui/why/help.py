"""Help of the Why dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.shell.help import key_help
from locklens.ui.why.keys import WHY_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.lines import Line


def why_help() -> Iterator[Line]:
    """The keys of the Why dialog."""
    yield from key_help(WHY_KEYS)
