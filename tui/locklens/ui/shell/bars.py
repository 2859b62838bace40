"""The parts that all screens share: tabs, head, status line, key line, registries, placeholders for an empty list.

Makes layouts and lines of values; draws nothing. Everywhere `in_detail` is true if the detail has the focus, `without`
are the labels of keys that do nothing now, `counts` stand at the right, `least` are those for the narrowest terminals,
if they differ, and `progress` is that of reading files and asking registries, None when idle.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from locklens.lines import Line, Role, Span, heading, line
from locklens.lockfile import unread_words
from locklens.review.reports.evidence_lines import clock, host_words
from locklens.text import counted
from locklens.ui.dialogs import DialogKey, key_layout
from locklens.ui.phrases import compared_words, registries_in_short
from locklens.ui.shell.keys import keys_of_rows
from locklens.ui.views import REVIEW, UPGRADE, VIEWS, View
from locklens.ui.widgets import BarLayout, Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.errors import LockLensError
    from locklens.operations.review.request import Progress
    from locklens.review.model import Review
    from locklens.ui.shell.keys import KeyTable


def tabs(active: View) -> tuple[BarLayout, ...]:
    """The tab strip of all views, `active` in brackets."""

    def strip(gap: str) -> BarLayout:
        pieces = []
        for view in VIEWS:
            shown = f"[{view.key} {view.title}]" if view == active else f" {view.key} {view.title} "
            role = Role.STRONG if view == active else Role.DIM
            pieces += [Piece(gap), Piece(shown, role, f"view({view.key!r})")]
        return BarLayout(tuple(pieces))

    return strip("  "), strip("")


SAMPLE = (
    BarLayout((Piece(" Sample repository in a temporary folder: nothing of yours is touched.", Role.INFO),)),
    BarLayout((Piece(" Sample, temporary.", Role.INFO),)),
)
"""The line that says what the sample is, in full and in short."""


def demo_banner(
    table: KeyTable, view: View, *, in_detail: bool = False, without: frozenset[str] = frozenset()
) -> tuple[BarLayout, ...]:
    """The line that says what the sample is, and what to try first: the focused pane's first keys that act on rows."""
    of_rows = {key.label: key for key in keys_of_rows(table, is_narrowed=True) if key.label not in without}
    useful = [label for label in (table.in_detail if in_detail else table.in_list) if label in of_rows][:2]
    first = [key for label, key in of_rows.items() if label in useful]
    other = UPGRADE if view != UPGRADE else REVIEW
    rest = f"{other.key} {other.title}, ? keys, q quit"
    whole, short = (", ".join((*one, rest)) for one in ([f"{key.label} {key.short}" for key in first], useful))
    place, sample = (layout.left for layout in SAMPLE)
    return (
        BarLayout((*place, Piece(f" Try {whole}", Role.DIM))),
        BarLayout((*sample, Piece(f" Try {whole}", Role.DIM))),
        BarLayout((*sample, Piece(f" Try {short}", Role.DIM))),
        BarLayout((*sample, Piece(" Try ?, q", Role.DIM))),
    )


def joined_parts(parts: list[Piece]) -> tuple[Piece, ...]:
    """The parts of a status line with separators."""
    return tuple(piece for part in parts for piece in (Piece(" | ", Role.DIM), part))[1:]


def head_line(
    view: str,
    extent: str = "",
    *,
    brief: str = "",
    counts: Iterable[Piece] = (),
    least: tuple[Piece, ...] | None = None,
) -> tuple[BarLayout, ...]:
    """The head of a screen: its name, what it lists, and the counts.

    `extent` is what is listed, e.g. "4 providers in 2 lock files", "" before anything is read, to show only the name;
    `brief` is the same for narrow terminals.
    """
    program, name = Piece(" locklens  ", Role.STRONG), Piece(view, Role.DIM)
    if not extent:
        return (BarLayout((program, name)),)
    right = (*counts, Piece(" "))
    few = right if least is None else (*least, Piece(" "))
    return (
        BarLayout((program, name, Piece(f"  {extent}")), right),
        BarLayout((program, Piece(brief)), right),
        *(
            BarLayout(left, few)
            for left in ((program, Piece(f"{brief}  ")), (Piece(f" {brief}"),))
            if least is not None
        ),
        BarLayout((program,), few),
    )


def locked_head(
    view: str,
    locked: str,
    files: int,
    review: Review,
    *,
    counts: Iterable[Piece],
    least: tuple[Piece, ...] | None = None,
) -> tuple[BarLayout, ...]:
    """The head of a screen about locked entries: how many, in how many lock files, and how many files were not read.

    `locked` is what is locked, with its number, e.g. "4 entries"; `files` is the number of lock files.
    """
    unread = [root.new for root in review.roots if not root.new.is_complete]
    extent, brief = f"{locked} in {counted(files, 'lock file')}", f"{counted(len(unread), 'file')} not read"
    if not unread:
        return head_line(view, extent, brief=locked, counts=counts, least=least)
    *wider, narrowest = head_line(
        view, f"{extent}, {unread_words(unread)}", brief=f"{locked}, {brief}", counts=counts, least=least
    )
    return *wider, BarLayout((Piece(f" {brief}  ", Role.WARN),), narrowest.right), narrowest


def restricted_parts(review: Review) -> list[Piece]:
    """How many of the lock files a restricted run compares; nothing where it compares all."""
    return [Piece(f"only {compared_words(review)}", Role.WARN)] if review.left_out else []


def lookup_parts(
    review: Review | None, progress: Progress | None, *, is_narrowed: bool, verdict: Iterable[Piece] = ()
) -> list[Piece]:
    """The last parts of a status line: the progress, or else verdict and registries; the notes; an active filter."""
    parts = restricted_parts(review) if review is not None else []
    if progress is not None:
        parts.append(Piece(progress.words, Role.INFO))
    elif review is not None:
        moments = [host.as_of for host in review.hosts if host.as_of]
        # An answer that there is no such provider or version has no time.
        asked = "registries answered" if any(host.asked for host in review.hosts) else "no registry asked"
        asked = f"registries as of {clock(min(moments), review.at)}" if moments else asked
        parts += [*verdict, Piece(registries_in_short(review) or asked, Role.DIM)]
    if review is not None and review.notes:
        parts.append(Piece(counted(len(review.notes), "note"), Role.WARN))
    if is_narrowed:
        parts.append(Piece("filtered", Role.WARN))
    return parts


def status_line(
    parts: list[Piece], *, message: str = "", aside: str = "", first: Piece | None = None
) -> tuple[BarLayout, ...]:
    """The status line: the message and the parts; without a message the parts, and an aside at the right.

    The aside needs a wide terminal; `first` is the only part that is shown beside a message if there is no room for all
    of them.
    """
    state = joined_parts(parts)
    if message:
        shown = Piece(f" {message}", Role.STRONG)
        beside = [state, (first,)] if first is not None else [state]
        layouts = (BarLayout((shown,), (Piece("  "), *pieces, Piece(" "))) for pieces in beside)
        return *layouts, BarLayout((shown,), is_whole=True)
    alone = Piece(" "), *state
    return BarLayout(alone, (Piece(f"{aside} ", Role.DIM),)), BarLayout(alone)


def read_only_head(layouts: tuple[BarLayout, ...], side: str, *, is_named: bool) -> tuple[BarLayout, ...]:
    """The head's layouts with the compared side and "read only"; then layouts for narrow terminals.

    `side` is the new side's name, and `is_named` true if the head names it already.
    """
    words = Piece(f"  {side}, read only", Role.WARN)
    more = Piece("  read only", Role.WARN) if is_named else words
    program, counts = layouts[-1].left[:1], layouts[-1].right
    sides = Piece(" "), *layouts[-1].left[1:]
    return (
        *(BarLayout((*layout.left, more), layout.right) for layout in layouts),
        *((BarLayout((*sides, more), counts), BarLayout(sides, counts)) if is_named else ()),
        BarLayout((*program, words), counts),
        BarLayout((words,), counts),
        # Without the side, the counts would be read as those of the work tree.
        BarLayout((Piece(f"  {side}", Role.WARN),), counts),
        BarLayout((words,)),
    )


@lru_cache(maxsize=64)
def key_line(
    table: KeyTable, *, in_detail: bool, first: tuple[str, ...] = (), without: frozenset[str] = frozenset()
) -> tuple[BarLayout, ...]:
    """The key line: the most useful keys of the focused pane, clickable; fewer on narrow terminals.

    The labels of `first` are shown at any width. The result is cached, since it is needed at each move of the cursor,
    and most rows have the same keys.
    """
    shown = [DialogKey(key.label, key.short, key.action) for key in table.keys if key.short]
    ranked = dict.fromkeys((*first, *(table.in_detail if in_detail else table.in_list)))
    urgent = [label for label in ranked if label not in without]
    return tuple(
        key_layout(key for key in shown if key.label in urgent[:number]) for number in range(len(urgent), 0, -1)
    )


FACT_WIDTH = 28


def registry_lines(review: Review, progress: Progress | None) -> Iterator[Line]:
    """The registries with their answers, a line each."""
    name = "registries"
    if progress is not None:
        yield fact_line(name, Span(progress.words, Role.INFO))
        name = ""
    for host in review.hosts:
        is_good = host.asked and host.error is None
        state = host_words(host, is_offline=review.offline, now=review.at)
        yield fact_line(name, Span(f"{host.host}  "), Span(state, Role.DIM if is_good else Role.WARN))
        name = ""
    if name:
        yield fact_line(name, Span("none asked"))


def note_lines(review: Review) -> Iterator[Line]:
    """The notes of the review, a line each."""
    for note in review.notes:
        yield fact_line("note", Span(note, Role.WARN))


def note_section(notes: Iterable[str]) -> Iterator[Line]:
    """The notes that limit a whole screen, in a section of a detail; nothing without notes."""
    listed = tuple(notes)
    yield from heading("NOTES") if listed else ()
    for note in listed:
        yield line(Span("  ! ", Role.WARN), note, hanging=4, copied=note)


def fact_line(name: str, *spans: Span) -> Line:
    """A line of the panel below the list."""
    return line(Span(f" {name}".ljust(FACT_WIDTH), Role.DIM), *spans, hanging=FACT_WIDTH)


def loading(progress: Progress | None) -> tuple[Line, ...]:
    """Return the placeholder of a list during the first load."""
    words = progress.words if progress is not None else "reading lock files"
    return one_sentence(f"{words.capitalize()} …", is_final=False)


def one_sentence(words: str, *, is_final: bool = True) -> tuple[Line, ...]:
    """Return a placeholder of one sentence; dimmed while loading."""
    return line(), line(Span(f"  {words}", Role.STRONG if is_final else Role.DIM), hanging=2)


def unmatched(text: str) -> tuple[Line, ...]:
    """Return the placeholder of a list in which no row matches the filter."""
    return (
        line(),
        line(Span("  Nothing matches the filter.", Role.STRONG)),
        line(),
        line("  ", Span(text, Role.PLACE), hanging=2),
        line(),
        line(
            Span("  esc clears the filter, enter keeps it; then / edits it, and ? lists its fields", Role.DIM),
            hanging=2,
        ),
    )


def unread(error: LockLensError) -> tuple[Line, ...]:
    """Return the placeholder of a list that could not be loaded."""
    hint = (line("  ", Span(error.hint, Role.PLAIN), hanging=2), line()) if error.hint else ()
    return (
        line(),
        line("  ", Span("Nothing to review", Role.BLOCK)),
        line(),
        line(f"  {error}", hanging=2),
        line(),
        *hint,
        line(Span("  r tries again, q quits", Role.DIM)),
    )
