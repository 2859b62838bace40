"""Prints key tables and sections of a help text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.shell.key_table import UNSUPPORTED, KeyTable
from locklens.ui.text.spans import Line, Role, Span, heading, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_WIDTH = 18


def key_help(table: KeyTable) -> Iterator[Line]:
    """Yields every key of a table with its meaning, then the mouse."""
    for group in table.groups:
        yield line(Span(group.title.upper(), Role.HEADING))
        if group.title == UNSUPPORTED.title:
            yield line(
                Span("  These keys answer that they are not supported yet. Upper case will plan a write.", Role.DIM),
                hanging=2,
            )
        yield from (help_entry(key.shown, key.words) for key in group.keys)
        yield line()
    yield line(Span("MOUSE", Role.HEADING))
    yield help_entry("click", "a row, its fold sign, its mark, a tab, a key below")
    yield help_entry("double click", "open the detail")


def help_section(title: str, meanings: Mapping[str, str]) -> Iterator[Line]:
    """Yields a heading and one entry for each word."""
    yield from heading(title)
    yield from (help_entry(word, meaning) for word, meaning in meanings.items())


def help_entry(what: str, words: str) -> Line:
    """Returns one word in its column, with its meaning behind it."""
    return line("  ", Span(what.ljust(_WIDTH), Role.STRONG), words, hanging=_WIDTH + 2)
