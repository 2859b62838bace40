"""Key tables and sections of a help text, as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.lines import Line, Role, Span, heading, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from locklens.ui.shell.key_table import KeyTable


_WIDTH = 18


def key_help(table: KeyTable) -> Iterator[Line]:
    """Yield every key of a table with its meaning, then the mouse."""
    for group in table.groups:
        yield line(Span(group.title.upper(), Role.HEADING))
        yield from (help_entry(key.shown, key.words) for key in group.keys)
        yield line()
    yield line(Span("MOUSE", Role.HEADING))
    yield help_entry("click", "a row, its fold marker, its mark, a tab, a key of the key line")
    yield help_entry("double click", "open the detail")


def help_section(title: str, meanings: Mapping[str, str]) -> Iterator[Line]:
    """Yield a heading and one entry for each term."""
    yield from heading(title)
    yield from (help_entry(term, meaning) for term, meaning in meanings.items())


def help_entry(term: str, meaning: str) -> Line:
    """Return a term in its column, and its meaning."""
    return line("  ", Span(term.ljust(_WIDTH), Role.STRONG), meaning, hanging=_WIDTH + 2)
