"""What the bars of the screens say: head, tabs, status, keys. Builds layouts from values; draws nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from locklens.review.model import Kind, Review, Severity
from locklens.review.reports import words
from locklens.text import counted
from locklens.trust.model import Tier
from locklens.ui.keyboard import TABS, KeyTable
from locklens.ui.outline import Grouping
from locklens.ui.preview_lines import Stage
from locklens.ui.sentences import configuration_read, explained, host_in_short, registries_in_short, reviewed, verdict
from locklens.ui.spans import Line, Role, Span, line
from locklens.ui.widgets.bar import Layout, Piece

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from locklens.review.keys import SignerUses
    from locklens.ui.preview_lines import Standing

_ROLES = {Severity.BLOCK: Role.BLOCK, Severity.WARN: Role.WARN, Severity.INFO: Role.INFO}


_LEGEND = (
    (Kind.UPGRADE, "up"),
    (Kind.DOWNGRADE, "down"),
    (Kind.MOVED, "moved"),
    (Kind.NEW_PROVIDER, "new"),
    (Kind.REMOVED, "removed"),
    (Kind.CONSTRAINTS_ONLY, "constraints"),
    (Kind.NEW_HASHES, "hashes added"),
    (Kind.REMOVED_HASHES, "hashes removed"),
    (Kind.CHANGED_HASHES, "hashes changed"),
    (Kind.REPLACED_HASHES, "hashes replaced"),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """How far the reading or the asking is; `done` is None when nothing is going on."""

    done: int | None = None
    total: int = 0
    what: str = "configuration"

    @property
    def words(self) -> str:
        """What the status line says."""
        if self.done is None:
            return ""
        if self.what == "evidence":
            return f"asking registries, {self.done}/{self.total} changes settled"
        return f"reading configuration {self.done}/{self.total} roots" if self.total else "reading lock files"


def head(review: Review | None) -> tuple[Layout, ...]:
    """The first line: what is compared, and the counts."""
    if review is None:
        return (Layout((Piece(" locklens  ", Role.STRONG), Piece("review", Role.DIM))),)
    sides = " -> ".join(words.side(one.kind, one.name, one.revision) for one in (review.base, review.head))
    roots, changes = counted(len(review.roots), "root"), counted(len(review.changes), "change")
    counts = [Piece(f"  {roots}  {changes}", Role.PLAIN), *_severity_counts(review), Piece(" ")]
    name = Piece(" locklens  ", Role.STRONG)
    short = (Piece(f" {changes}"), *_severity_counts(review), Piece(" "))
    return (
        Layout((name, Piece("review  ", Role.DIM), Piece(sides)), tuple(counts)),
        Layout((Piece(" review  ", Role.DIM), Piece(sides)), tuple(counts)),
        Layout((Piece(f" {sides}"),), tuple(counts)),
        Layout((Piece(f" {sides}"),), short),
        Layout((*short, Piece(sides))),
    )


def _severity_counts(review: Review) -> list[Piece]:
    counts = words.severity_counts(review)
    pieces = []
    for severity, role in _ROLES.items():
        number = counts[severity]
        action = f"only('sev:{severity.value}')" if number else ""
        pieces.append(Piece(f"  {number} {severity.value.upper()}", role if number else Role.DIM, action))
    return pieces


def tabs(active: str) -> tuple[Layout, ...]:
    """The strip of the six screens; `active` is the view of the one that is shown."""

    def strip(gap: str) -> Layout:
        pieces = []
        for tab in TABS:
            shown = f"[{tab.key} {tab.title}]" if tab.view == active else f" {tab.key} {tab.title} "
            role = Role.STRONG if tab.view == active else Role.DIM
            pieces += [Piece(gap), Piece(shown, role, f"tab({tab.key!r})")]
        return Layout(tuple(pieces))

    return strip("  "), strip("")


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """What the status line is about."""

    review: Review | None
    marks: frozenset[str]
    progress: Reading
    grouping: Grouping
    narrowed: str
    fail_on: str
    message: str = ""


def status(facts: StatusFacts) -> tuple[Layout, ...]:
    """The line above the keys: a message while there is one, otherwise where the review stands."""
    parts: list[Piece] = []
    if facts.review is not None:
        code, told = verdict(facts.review, facts.fail_on)
        parts += [
            Piece(told, Role.BLOCK if code else Role.GOOD),
            Piece(f"{reviewed(facts.review, facts.marks)} reviewed"),
        ]
    if facts.progress.words:
        parts.append(Piece(facts.progress.words, Role.INFO))
    elif facts.review is not None and (told := registries_in_short(facts.review)):
        parts.append(Piece(told, Role.WARN))
    if facts.review is not None and facts.review.notes:
        parts.append(Piece(counted(len(facts.review.notes), "note"), Role.WARN))
    if facts.grouping is not Grouping.ROOT:
        parts.append(Piece(f"by {facts.grouping}", Role.DIM))
    if facts.narrowed:
        parts.append(Piece("filtered", Role.WARN))
    standing = joined(parts)
    if facts.message:
        message = Piece(f" {facts.message}", Role.STRONG)
        return Layout((message,), (Piece("  "), *standing, Piece(" "))), Layout((message,))
    if facts.review is not None:
        more = joined([*parts, Piece(f"{explained(facts.review)} hashes explained", Role.DIM)])
        return Layout((Piece(" "), *more)), Layout((Piece(" "), *standing))
    return (Layout((Piece(" "), *standing)),)


def joined(parts: list[Piece]) -> tuple[Piece, ...]:
    """The parts of a status line with what stands between them."""
    return tuple(piece for part in parts for piece in (Piece(" | ", Role.DIM), part))[1:]


def key_line(table: KeyTable, *, in_detail: bool) -> tuple[Layout, ...]:
    """The last line: the keys of the focused pane that are needed most, clickable; fewer of them on narrow screens."""
    known = {
        key.shown.split(",")[0].removesuffix(" ctrl+p"): key
        for group in table.groups
        for key in group.keys
        if key.short
    }
    urgent = table.in_detail if in_detail else table.in_list
    layouts = []
    for number in range(len(urgent), 0, -1):
        pieces = [Piece(" ")]
        for label in (one for one in known if one in urgent[:number]):
            key = known[label]
            pieces += [Piece(label, Role.INFO, key.action), Piece(f" {key.short}  ", Role.DIM, key.action)]
        layouts.append(Layout(tuple(pieces)))
    return tuple(layouts)


def signers_head(review: Review | None, found: Collection[SignerUses]) -> tuple[Layout, ...]:
    """The first line of the screen of keys: how much is locked, and how it is signed."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("keys", Role.DIM))
    if review is None:
        return (Layout(name),)
    releases = counted(sum(len(one.uses) for one in found), "locked release")
    counts = [Piece(f"  {counted(sum(one.key is not None for one in found), 'key')}")]
    for tier, word in ((Tier.UNSIGNED, "unsigned"), (Tier.UNKNOWN, "not known")):
        number = sum(len(one.uses) for one in found if one.tier is tier)
        counts.append(Piece(f"  {number} {word}", Role.WARN if number else Role.DIM))
    counts.append(Piece(" "))
    locks = counted(len(review.roots), "lock file")
    return (
        Layout((*name, Piece(f"  {releases} in {locks}")), tuple(counts)),
        Layout((Piece(" keys", Role.DIM), Piece(f"  {releases}")), tuple(counts)),
        Layout(tuple(counts)),
    )


def signers_status(
    review: Review | None, progress: Reading, *, is_narrowed: bool, message: str = ""
) -> tuple[Layout, ...]:
    """The line above the keys of the screen of keys."""
    parts: list[Piece] = []
    if progress.words:
        parts.append(Piece(progress.words, Role.INFO))
    elif review is not None:
        parts.append(Piece(registries_in_short(review) or "all registries answered", Role.DIM))
    if review is not None and review.notes:
        parts.append(Piece(counted(len(review.notes), "note"), Role.WARN))
    if is_narrowed:
        parts.append(Piece("filtered", Role.WARN))
    standing = joined(parts)
    if message:
        told = Piece(f" {message}", Role.STRONG)
        return Layout((told,), (Piece("  "), *standing, Piece(" "))), Layout((told,))
    return Layout((Piece(" "), *standing), (Piece("compare all 40 digits, not the last 16 ", Role.DIM),)), Layout(
        (Piece(" "), *standing)
    )


def preview_head(standing: Standing) -> tuple[Layout, ...]:
    """The first line of the Preview: what is wanted, and that nothing is written."""
    name = (Piece(" locklens  ", Role.STRONG), Piece("preview  ", Role.DIM))
    title = Piece(standing.title)
    done = standing.words.done
    state = f"being {done}" if standing.stage is Stage.WRITING else f"nothing {done} yet"
    right = (Piece(f" {state} ", Role.INFO),)
    return Layout((*name, title), right), Layout((Piece(" preview  ", Role.DIM), title), right), Layout((*right, title))


def preview_status(standing: Standing, reason: str, message: str) -> tuple[Layout, ...]:
    """The line above the keys of the Preview: a message, or whether it can be applied."""
    failed = len(standing.plan.failures) if standing.plan is not None else 0
    if message:
        told = Piece(f" {message}", Role.STRONG)
    elif reason:
        told = Piece(f" {reason}", Role.INFO if standing.stage in {Stage.PLANNING, Stage.REVIEWING} else Role.WARN)
    else:
        files = counted(len(standing.plan.proposal.files), "file") if standing.plan is not None else ""
        told = Piece(f" ready: enter {standing.words.third} {files}", Role.GOOD)
    right = (Piece(f"  {counted(failed, 'failure')} ", Role.BLOCK),) if failed else ()
    safe = (*right, Piece("  esc leaves nothing behind ", Role.DIM))
    return Layout((told,), safe), Layout((told,), right), Layout((told,))


_FACT = 26


def fact_lines(review: Review, marks: frozenset[str], progress: Reading) -> tuple[Line, ...]:
    """The panel below the list: what is known, of whom, what limits it, and the legend."""
    facts = (
        ("added hashes explained", explained(review)),
        ("changes reviewed", reviewed(review, marks)),
        ("configurations read", configuration_read(review)),
    )
    lines = [fact_line(name, Span(text)) for name, text in facts]
    signs = [(words.sign(kind), meaning) for kind, meaning in _LEGEND] + [("?", "about the root"), ("✓", "reviewed")]
    cells = [(Span(f" {symbol:<2} ", Role.STRONG), Span(meaning.ljust(15), Role.DIM)) for symbol, meaning in signs]
    legend = [line(*(span for cell in cells[start : start + 3] for span in cell)) for start in range(0, len(cells), 3)]
    return (*lines, *registry_lines(review, progress), line(), *legend)


def registry_lines(review: Review, progress: Reading) -> Iterator[Line]:
    """Each registry with what came of asking it, and what limits the whole review."""
    name = "registries"
    if progress.done is not None:
        yield fact_line(name, Span(progress.words, Role.INFO))
        name = ""
    for host in review.hosts:
        is_good = host.asked and host.error is None
        told = host_in_short(host, review)
        yield fact_line(name, Span(f"{host.host}  "), Span(told, Role.DIM if is_good else Role.WARN))
        name = ""
    if name:
        yield fact_line(name, Span("none asked"))
    for note in review.notes:
        yield fact_line("note", Span(note, Role.WARN))


def fact_line(name: str, *spans: Span) -> Line:
    """A line of the panel below the list."""
    return line(Span(f" {name}".ljust(_FACT), Role.DIM), *spans, hanging=_FACT)
