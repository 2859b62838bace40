"""Head, status line and facts of the Review screen."""

from __future__ import annotations

from dataclasses import dataclass

from locklens.lines import Line, Role, Span, line
from locklens.review.model import ChangeKind, Review, Severity
from locklens.review.reports import words
from locklens.review.reports.words import hashes_of_review
from locklens.text import counted
from locklens.ui.review.rows import PENDING, STAGED
from locklens.ui.review.sorting import Sort
from locklens.ui.review.tree import Grouping
from locklens.ui.shell.bars import Reading, fact_line, joined_parts, note_lines, registry_lines
from locklens.ui.text.phrases import (
    configuration_read,
    registries_in_short,
    reviewed_words,
    verdict,
)
from locklens.ui.widgets.bar import BarLayout, Piece

_ROLES = {Severity.BLOCK: Role.BLOCK, Severity.WARN: Role.WARN, Severity.INFO: Role.INFO}


_LEGEND = (
    (ChangeKind.UPGRADE, "up"),
    (ChangeKind.DOWNGRADE, "down"),
    (ChangeKind.MOVED, "moved"),
    (ChangeKind.NEW_PROVIDER, "new"),
    (ChangeKind.REMOVED, "removed"),
    (ChangeKind.CONSTRAINTS_ONLY, "constraints"),
    (ChangeKind.NEW_HASHES, "hashes added"),
    (ChangeKind.REMOVED_HASHES, "hashes removed"),
    (ChangeKind.CHANGED_HASHES, "hashes changed"),
    (ChangeKind.REPLACED_HASHES, "hashes replaced"),
)


def review_head(review: Review | None, *, is_asking: bool = False) -> tuple[BarLayout, ...]:
    """The head: the two sides of the comparison, and the counts, which may grow while registries are asked."""
    if review is None:
        return (BarLayout((Piece(" locklens  ", Role.STRONG), Piece("review", Role.DIM))),)
    sides = " -> ".join(words.side(tree.kind, tree.name, tree.revision) for tree in (review.base, review.head))
    roots, changes = counted(len(review.roots), "root"), counted(len(review.changes), "change")
    so_far = [Piece(" so far", Role.DIM)] if is_asking else []
    counts = [Piece(f"  {roots}  {changes}", Role.PLAIN), *_severity_counts(review), *so_far, Piece(" ")]
    name = Piece(" locklens  ", Role.STRONG)
    short = (Piece(f"  {changes}"), *_severity_counts(review), *so_far, Piece(" "))
    return (
        BarLayout((name, Piece("review  ", Role.DIM), Piece(sides)), tuple(counts)),
        BarLayout((name, Piece(sides)), tuple(counts)),
        BarLayout((name, Piece(sides)), short),
    )


def _severity_counts(review: Review) -> list[Piece]:
    counts = words.severity_counts(review)
    pieces = []
    for severity, role in _ROLES.items():
        number = counts[severity]
        action = f"only('sev:{severity.value}')" if number else ""
        pieces.append(Piece(f"  {number} {severity.value.upper()}", role if number else Role.DIM, action))
    return pieces


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """The facts of the status line."""

    review: Review | None
    marks: frozenset[str]
    progress: Reading
    grouping: Grouping
    narrowed: str
    fail_on: str | None
    message: str = ""
    sort: Sort = Sort.SEVERITY
    is_ordered: bool = True


def review_status(facts: StatusFacts) -> tuple[BarLayout, ...]:
    """The status line: the message if there is one, else the state of the review."""
    standing = joined_parts(_state(facts, is_brief=False))
    if facts.message:
        message = Piece(f" {facts.message}", Role.STRONG)
        return BarLayout((message,), (Piece("  "), *standing, Piece(" "))), BarLayout((message,))
    brief = _state(facts, is_brief=True)
    shorter = [part for part in brief if part.role is not Role.DIM]
    shortest = [part for part in shorter if not part.text.endswith(" reviewed")]
    layouts = standing, joined_parts(brief), joined_parts(shorter), joined_parts(shortest)
    return tuple(BarLayout((Piece(" "), *pieces)) for pieces in layouts)


def _state(facts: StatusFacts, *, is_brief: bool) -> list[Piece]:
    parts: list[Piece] = []
    if facts.review is not None:
        status, sentence = verdict(
            facts.review, facts.fail_on, is_asking=facts.progress.done is not None, is_brief=is_brief
        )
        hashes = facts.review.hashes
        role = Role.BLOCK if status else Role.INFO if status is None else Role.WARN if hashes.unverified else Role.GOOD
        parts.append(Piece(sentence, role))
        parts.append(Piece(f"{reviewed_words(facts.review, facts.marks)} reviewed"))
        if hashes.unverified:
            brief = f"{hashes.unverified} of {hashes.total} not verified"
            parts.append(Piece(brief if is_brief else hashes_of_review(facts.review), Role.WARN))
    if facts.progress.words:
        parts.append(Piece(facts.progress.words, Role.INFO))
    elif facts.review is not None and (problem := registries_in_short(facts.review)):
        parts.append(Piece(problem, Role.WARN))
    if facts.review is not None and facts.review.notes:
        parts.append(Piece(counted(len(facts.review.notes), "note"), Role.WARN))
    if facts.grouping is not Grouping.ROOT:
        parts.append(Piece(f"by {facts.grouping}", Role.DIM))
    if facts.sort is not Sort.SEVERITY:
        parts.append(Piece(f"sorted by {facts.sort}", Role.DIM))
    if not facts.is_ordered:
        parts.append(Piece("s sorts anew", Role.INFO, "sort"))
    if facts.narrowed:
        parts.append(Piece("filtered", Role.WARN))
    return parts


def review_facts(review: Review, marks: frozenset[str], progress: Reading) -> tuple[Line, ...]:
    """The panel below the list: counts, registries, notes, and the legend."""
    hashes = review.hashes
    facts = [
        ("added hashes not verified", f"{hashes.unverified} of {hashes.total}"),
        ("changes reviewed", reviewed_words(review, marks, findings=False)),
        ("configurations read", configuration_read(review)),
    ]
    if review.own_findings or any(root.findings for root in review.roots):
        facts.insert(2, ("other findings reviewed", reviewed_words(review, marks, changes=False)))
    lines = [fact_line(name, Span(text)) for name, text in facts]
    signs = [(words.kind_sign(kind), meaning) for kind, meaning in _LEGEND] + [
        ("?", "about the root"),
        ("✓", "reviewed"),
        (STAGED, "staged"),
        (PENDING, "accepted"),
    ]
    cells = [(Span(f" {symbol:<2} ", Role.STRONG), Span(meaning.ljust(15), Role.DIM)) for symbol, meaning in signs]
    legend = [line(*(span for cell in cells[start : start + 3] for span in cell)) for start in range(0, len(cells), 3)]
    # Notes come last: what the panel has no room for is then the longest text, which the status line counts.
    return (*lines, *registry_lines(review, progress), line(), *legend, *note_lines(review))
