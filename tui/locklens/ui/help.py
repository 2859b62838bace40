"""The help of the review's keys, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.reports.words import SIGN_MEANINGS
from locklens.ui.keys import GROUPS, UNSUPPORTED
from locklens.ui.spans import Line, Role, Span, line

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDTH = 18


def help_lines() -> Iterator[Line]:
    """All keys by group, then the signs and the filter's words."""
    for group in GROUPS:
        yield line(Span(group.title.upper(), Role.HEADING))
        if group is UNSUPPORTED:
            yield line(
                Span("  These keys answer that they are not supported yet. Upper case will plan a write.", Role.DIM),
                hanging=2,
            )
        for key in group.keys:
            yield line("  ", Span(key.shown.ljust(_WIDTH), Role.STRONG), key.words, hanging=_WIDTH + 2)
        yield line()
    yield line(Span("MOUSE", Role.HEADING))
    for what, words in (
        ("click", "a row, its fold sign, its mark, a tab, a key below"),
        ("double click", "open the detail"),
    ):
        yield line("  ", Span(what.ljust(_WIDTH), Role.STRONG), words, hanging=_WIDTH + 2)
    yield line()
    yield line(Span("SIGNS", Role.HEADING))
    others = {
        "?": "a finding about the root itself",
        "<": "a conflict that git left",
        "✓": "reviewed",
        "·": "not reviewed yet",
        "-": "removed; as a mark: some of the roots are reviewed",
    }
    for symbol, meaning in {**SIGN_MEANINGS, **others}.items():
        yield line("  ", Span(symbol.ljust(_WIDTH), Role.STRONG), meaning, hanging=_WIDTH + 2)
    yield line()
    yield line(Span("FILTER", Role.HEADING))
    grammar = (
        ("text", "in provider, root, version, finding, file or hash"),
        ("sev>=warn", "warnings and worse; also sev:block, sev<=info, sev:ok"),
        ("kind:upgrade", "and the other kinds: downgrade, new, removed, moved, constraints, replaced"),
        ("root:prod", "the root's path has this in it"),
        ("provider:aws", "the provider's address has this in it"),
        ("rule:LK005", "has a finding of this rule"),
        ("unreviewed", "not marked yet; reviewed is the opposite"),
        ("-word", "anything but that"),
    )
    for word, meaning in grammar:
        yield line("  ", Span(word.ljust(_WIDTH), Role.STRONG), meaning, hanging=_WIDTH + 2)
