"""What surrounds the list and the detail of the Review screen: keys, help, head, status line, facts, placeholder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.lines import Line, Role, Span, line
from locklens.policy import POLICY_FILE
from locklens.review import reports
from locklens.review.model import ChangeKind, Review
from locklens.review.reports import SEVERITY_ROLES, SIGN_MEANINGS, claimed_word, hashes_of_review
from locklens.review.reports.evidence_lines import PROOFS
from locklens.review.reports.lock_lines import TIER_MEANINGS
from locklens.text import counted
from locklens.ui.phrases import (
    MEANINGS,
    compared_words,
    configuration_read,
    is_unanswered,
    nothing_changed,
    registries_in_short,
    reviewed_words,
    verdict,
)
from locklens.ui.review.outline import Grouping, Sort
from locklens.ui.review.rows import BOTH, PENDING, STAGED
from locklens.ui.shell import keys
from locklens.ui.shell.bars import (
    fact_line,
    head_line,
    joined_parts,
    note_lines,
    registry_lines,
    restricted_parts,
    status_line,
)
from locklens.ui.shell.keys import Key, KeyGroup, KeyTable
from locklens.ui.views import REVIEW, VIEWS
from locklens.ui.widgets import BarLayout, Piece

if TYPE_CHECKING:
    from locklens.operations.review.request import Progress

MOVING = KeyGroup(
    "Moving",
    keys.ROWS,
    keys.ENDS,
    Key("h l, left right", "", "fold and unfold; h on a row without a fold goes to its section", "fold"),
    keys.PANE,
    Key("enter", "", "open the detail; full screen on narrow terminals", "open"),
    Key("n", "finding(1)", "next finding: the next warning or block that is not reviewed", "next finding"),
    Key("N", "finding(-1)", "previous finding: the previous warning or block that is not reviewed"),
    Key("u", "unreviewed", "next unreviewed row: of any severity", "unreviewed"),
    Key("[", "section(-1)", "previous section"),
    Key("]", "section(1)", "next section"),
    Key("esc", "back", "back: from the detail to the list, from a filter to all rows", "back"),
)

REVIEWING = KeyGroup(
    "Reviewing",
    Key(
        "space",
        "mark",
        "mark reviewed: the changes and findings of the row; again to unmark; kept for later runs",
        "reviewed",
    ),
    Key("a", "mark_shown", "mark all shown: every row that the filter shows; again to unmark; Z marks them as before"),
    keys.FILTER,
    Key("s", "sort", "change order: by severity, provider, release date (the latest first) or root", "sort"),
    Key("b", "group", "change grouping: by root, by provider, by severity", "group"),
    Key("d", "diff", "show diff: of the row's blocks, as their tool writes them, or of the root's lock file", "diff"),
    Key("w", "why", "why this version: requirements of the provider, and the holds on newer versions", "why"),
    keys.INSIDE,
    keys.DIAGNOSE,
    Key("x", "expand", "show full hashes: also unchanged ones, and the explanation of each rule", "expand"),
    Key(
        "y",
        "copy",
        "copy: row or Markdown, without paths and safe to paste in public; provider, finding, fingerprint, hash",
        "copy",
    ),
    Key("e", "edit", "edit file: at the highlighted line, in $VISUAL or $EDITOR", "edit"),
    Key("o", "open_page", "open release page: on the registry; copies the URL without a browser"),
    Key(
        "v",
        "prove",
        "verify by download: the h1 of the row, group or section, with the signed packages; shows the size first",
        "verify",
    ),
    Key("U", "upgrade", "upgrade this provider: on the Upgrade screen", "upgrade"),
    keys.RELOAD,
)

DECIDING = KeyGroup(
    "Opens a Preview: nothing is written before enter",
    Key("R", "restore", "restore from base: the change of the row, or all of the group or section", "restore"),
    Key("P", "prune", "prune orphans: the highlighted one, or all in the row's root", "prune"),
    Key(
        "L",
        "lock",
        "lock missing platforms: the required ones, or those you name where the policy requires none",
        "lock",
    ),
    Key(
        "A",
        "accept",
        "accept finding: of the row's change, with a reason and an optional date, in locklens.toml",
        "accept",
    ),
    Key(
        "M",
        "merge",
        "merge lock file: that git left in conflict, by block; a side for each provider that both changed",
        "merge",
    ),
    Key("F", "format", "format lock file: of the row's root, as its tool writes it", "format"),
    Key("S", "stage", "stage marked changes: of every root, as git add -p would; the others remain unstaged", "stage"),
    Key("Z", "undo", "undo or redo: list of applied writes; right after unmarking, marks again", "undo"),
)

PROGRAM = KeyGroup("Program", keys.SIDES, *keys.EVERYWHERE, keys.QUIT)

REVIEW_KEYS = KeyTable(
    MOVING,
    REVIEWING,
    DECIDING,
    PROGRAM,
    keys.elsewhere("L", "U", "R", "P", "F", "M", "S", "A"),
    in_list="?|q ctrl+c|space|n|enter|/|v|z|S|d|b|i|s|u|R|P|A|M|x|w|:|y|e|tab|r|j k",
    in_detail="?|esc|j k|y|e|x|v|z|i|space|R|d|w|n|tab|q ctrl+c|:|r",
)


_OTHER_SIGNS = {
    "?": "root-level finding; in place of a severity: not all is known",
    "<": "unresolved git conflict",
    "✓": "reviewed",
    "·": "not reviewed yet",
    "-": "removed; as a mark: reviewed in some of the roots",
    STAGED: "staged: git's index has this block, for the next commit",
    PENDING: f"accepted in {POLICY_FILE}, which counts once it is committed on the base",
    "s a": "the same in some of the roots",
    BOTH: "staged, and accepted",
}
_DECIDING = {
    "R P F L M A": "apply to the highlighted row, group, root or section, regardless of marks",
    "S": "applies to the marked changes, regardless of the cursor: a mark means reviewed",
}

REVIEW_TERMS = (
    ("UPPER-CASE KEYS", _DECIDING),
    ("SIGNS", {**SIGN_MEANINGS, **_OTHER_SIGNS}),
    ("HASHES NOT VERIFIED, the last column", MEANINGS),
    ("PROOF OF A HASH", PROOFS),
    ("SIGNED BY", TIER_MEANINGS),
)

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
        return head_line("review")
    sides = " -> ".join(map(reports.side_words, (review.base, review.head)))
    roots, changes = counted(len(review.roots), "root"), counted(len(review.changes), "change")
    so_far = [Piece(" so far", Role.DIM)] if is_asking else []
    found = (*_severity_counts(review), *so_far, Piece(" "))
    counts = (Piece(f"  {roots}  {changes}", Role.PLAIN), *found)
    name = Piece(" locklens  ", Role.STRONG)
    brief = (Piece(f"  {changes}"), *found)
    return (
        BarLayout((name, Piece("review  ", Role.DIM), Piece(sides)), counts),
        BarLayout((name, Piece(sides)), counts),
        BarLayout((name, Piece(sides)), brief),
        BarLayout((name, Piece(_brief_sides(review))), brief),
    )


def _brief_sides(review: Review) -> str:
    """The sides without their revisions; a fork point as git writes it."""
    base, head = (reports.side_words(replace(side, revision=None, fork_of="")) for side in (review.base, review.head))
    return f"{review.base.fork_of}...{head}" if review.base.fork_of else f"{base} -> {head}"


def _severity_counts(review: Review) -> list[Piece]:
    pieces = []
    for severity, number in review.severity_counts.items():
        action = f"only('sev:{severity.value}')" if number else ""
        role = SEVERITY_ROLES[severity] if number else Role.DIM
        pieces.append(Piece(f"  {number} {severity.value.upper()}", role, action))
    return pieces


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """The facts of the status line."""

    review: Review | None
    marks: frozenset[str]
    progress: Progress | None
    grouping: Grouping
    narrowed: str
    fail_on: str | None
    message: str = ""
    sort: Sort = Sort.SEVERITY
    is_ordered: bool = True
    is_dated: bool = True


_SORTS_ANEW = Piece("s sorts anew", Role.INFO, "sort")


def review_status(facts: StatusFacts) -> tuple[BarLayout, ...]:
    """The status line: the message if there is one, else the state of the review."""
    whole = _state(facts, is_brief=False)
    if facts.message:
        return status_line(whole, message=facts.message, first=None if facts.is_ordered else _SORTS_ANEW)
    brief = _state(facts, is_brief=True)
    shorter = [part for part in brief if part.role is not Role.DIM]
    shortest = [part for part in shorter if not part.text.endswith(" reviewed")]
    fewer = (shortest[:number] for number in range(len(shortest), 0, -1))
    return tuple(BarLayout((Piece(" "), *joined_parts(parts))) for parts in (whole, brief, shorter, *fewer))


def _state(facts: StatusFacts, *, is_brief: bool) -> list[Piece]:
    parts: list[Piece] = []
    if facts.review is not None:
        status, sentence = verdict(facts.review, facts.fail_on, is_asking=facts.progress is not None, is_brief=is_brief)
        hashes = facts.review.hashes
        is_doubtful = bool(hashes.unverified) or is_unanswered(facts.review)
        role = Role.BLOCK if status else Role.INFO if status is None else Role.WARN if is_doubtful else Role.GOOD
        parts.append(Piece(sentence, role))
        if not facts.is_ordered:
            parts.append(_SORTS_ANEW)
        parts += restricted_parts(facts.review)
        parts.append(Piece(f"{reviewed_words(facts.review, facts.marks)} reviewed"))
        if hashes.unverified:
            brief = f"{hashes.unverified} not verified"
            parts.append(Piece(brief if is_brief else hashes_of_review(facts.review), Role.WARN))
    if facts.narrowed:
        parts.append(Piece("filtered", Role.WARN))
    if facts.progress is not None:
        parts.append(Piece(facts.progress.words, Role.INFO))
    elif facts.review is not None and (problem := registries_in_short(facts.review)):
        parts.append(Piece(problem, Role.WARN))
    if facts.review is not None and not facts.review.fails(facts.fail_on):
        # Where findings fail the review, the panel counts these configurations.
        parts += [Piece(words, Role.WARN) for words in [reports.unread_configurations(facts.review)] if words]
    if facts.review is not None and facts.review.notes:
        parts.append(Piece(counted(len(facts.review.notes), "note"), Role.WARN))
    if facts.grouping is not Grouping.ROOT:
        parts.append(Piece(f"by {facts.grouping}", Role.DIM))
    if facts.sort is not Sort.SEVERITY:
        is_undated = facts.sort is Sort.AGE and not facts.is_dated
        parts.append(Piece("no release date known" if is_undated else f"sorted by {facts.sort.words}", Role.DIM))
    return parts


def review_facts(review: Review, marks: frozenset[str], progress: Progress | None) -> tuple[Line, ...]:
    """The panel below the list: counts, registries, notes, and the legend."""
    hashes = review.hashes
    facts = [
        *([("lock files compared", compared_words(review))] if review.left_out else []),
        ("hashes not verified", f"{hashes.unverified} of {hashes.total} {claimed_word(review.changes)}"),
        ("changes reviewed", reviewed_words(review, marks, findings=False)),
        ("configurations read", configuration_read(review)),
    ]
    if review.own_findings or any(root.findings for root in review.roots):
        facts.insert(-1, ("other findings reviewed", reviewed_words(review, marks, changes=False)))
    lines = [fact_line(name, Span(text)) for name, text in facts]
    signs = [(reports.kind_sign(kind), meaning) for kind, meaning in _LEGEND] + [
        ("?", "root or unknown"),
        ("<", "git conflict"),
        ("✓", "reviewed"),
        (STAGED, "staged"),
        (PENDING, "accepted"),
    ]
    cells = [(Span(f" {symbol:<2} ", Role.STRONG), Span(meaning.ljust(15), Role.DIM)) for symbol, meaning in signs]
    legend = [line(*(span for cell in cells[start : start + 3] for span in cell)) for start in range(0, len(cells), 3)]
    # Notes come last: what the panel has no room for is then the longest text, which the status line counts.
    return (*lines, *registry_lines(review, progress), line(), *legend, *note_lines(review))


_OTHER_SIDES = "  B selects another base or head, also since their common ancestor, as a pull request compares."


def nothing_to_review(review: Review) -> tuple[Line, ...]:
    """Return the compared sides, and pointers to the other views and commands."""
    if review.lock_files:
        limit = "; the run is restricted to the named roots" if review.left_out else ""
        sentence = f"{compared_words(review)} compared, no findings{limit}."
    else:
        sentence = (
            "No lock file here that git does not ignore: `terraform init`, `tofu init` and `locklens lock` write one."
        )
    is_watched = review.head.kind in {"worktree", "index"}
    reload = "reloads when files change; r reloads now" if is_watched else "r reloads"
    others = [view for view in VIEWS if view != REVIEW and review.lock_files]
    return (
        line(),
        line(Span(f"  {nothing_changed(review)}", Role.STRONG), hanging=2),
        line(),
        line(f"  {sentence}", hanging=2),
        line(),
        *(line(Span(f"  {view.key}  ", Role.INFO), view.about, hanging=5) for view in others),
        *([line()] if others else []),
        *([] if review.head.kind == "file" else [line(_OTHER_SIDES, hanging=2)]),
        line(Span(f"  {reload}, q quits, ? lists the keys", Role.DIM), hanging=2),
    )
