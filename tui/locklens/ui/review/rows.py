"""The rows of the Review screen, and the list that paints them.

A row is a node of the outline with its fold, its mark and its texts; the list gives it columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct
from rich.cells import cell_len

from locklens.hashes import hashes_of_files
from locklens.lines import Role, Span
from locklens.review.findings import Severity
from locklens.review.reports import SAME_VERSION, fate_words, kind_sign, phrase, severity_span, unread_note
from locklens.review.rules.catalogue import RULES, wording_of
from locklens.text import counted
from locklens.ui.phrases import CONFLICT, FINDING_MARK, changes_words, finding_mark, kind_in_short, unverified_of
from locklens.ui.review.outline import ConflictPair, Grouping, Node, NodeKind, RootChange
from locklens.ui.widgets import StyledPiece, fitted, fitted_end, fitted_name, fitted_step, harmless, least_step
from locklens.ui.widgets.row_list import Column, FoldingList, fold_marker

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from locklens.addresses import ProviderAddress
    from locklens.review.model import Change, RootReview


class Mark(Enum):
    """The review state of a row; NONE_POSSIBLE for a row without changes and findings."""

    NONE_POSSIBLE = " "
    OPEN = "·"
    SOME = "-"
    ALL = "✓"


_NOTHING = Span("")
_WIDTH_OF_SEVERITY = 5


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list.

    Attributes:
        depth: 0 for a section.
        name: The row's name within its section.
        folded: None for a row without a fold.
        summary: Bump, kind or message, in words.
        where: The roots, unless the section names them.
        tally: For sections: the count of reviewed changes and findings.
        evidence: The count of hashes that are not verified.
        standing: The sign of `Standing`.
        reason: The rule and title of a change's worst finding that counts.
        state: The severity, five columns wide; with "…" while more may be found, "?" if that was never settled.
    """

    node: Node
    depth: int
    folded: bool | None
    mark: Mark
    name: str
    sign: str = ""
    phrase: str = ""
    summary: str = ""
    where: str = ""
    tally: str = ""
    evidence: Span = _NOTHING
    state: Span = _NOTHING
    standing: str = ""
    reason: str = ""

    @property
    def key(self) -> str:
        """The key of the node."""
        return self.node.key


def is_folded(node: Node, turned: Collection[str]) -> bool:
    """True if a node hides its children: by default groups do and sections do not; turned nodes are inverted."""
    return (node.kind is NodeKind.GROUP) != (node.key in turned)


STAGED, PENDING, BOTH = "S", "A", "&"


class Standing(Struct, frozen=True):
    """How far decisions about changes have come on their way into a commit.

    Attributes:
        staged: The lock file and provider of each staged change.
        pending: Rule, provider and id of each finding that the new side's policy accepts, and the base's not.
    """

    staged: frozenset[tuple[str, ProviderAddress]] = frozenset()
    pending: frozenset[tuple[str, str, str]] = frozenset()

    def is_staged(self, subject: RootChange) -> bool:
        """True if the block of a change is in the index."""
        return subject.named in self.staged

    def is_pending(self, subject: RootChange) -> bool:
        """True if a finding about a change is accepted once the policy is committed."""
        change = subject.change
        keys = ((finding.rule, str(change.address), change.id) for finding in change.findings)
        return any(key in self.pending for key in keys)

    def sign(self, node: Node) -> str:
        """The sign of a row: staged, accepted, or both; in lower case where this is so in some of its roots."""
        if node.kind is NodeKind.SECTION or not node.subjects:
            return ""
        staged, pending = (sum(map(is_so, node.subjects)) for is_so in (self.is_staged, self.is_pending))
        found = {STAGED: staged, PENDING: pending}
        signs = [sign for sign, number in found.items() if number]
        if len(signs) > 1:
            return BOTH
        return "".join(sign if found[sign] == len(node.subjects) else sign.lower() for sign in signs)


class Setting(Struct, frozen=True):
    """Inputs of the rows besides the review.

    Attributes:
        grouping: The kind of the sections; rows do not repeat it.
        turned: Keys of the nodes whose fold differs from the default.
        marks: Ids of the reviewed changes and findings.
    """

    grouping: Grouping = Grouping.ROOT
    turned: Collection[str] = frozenset()
    marks: Collection[str] = frozenset()
    is_asking: bool = False
    standing: Standing = Standing()


class RowMaker:
    """Makes the rows of an outline, and keeps them: a fold or a moved cursor makes no other row of thousands anew."""

    def __init__(self) -> None:
        self._outline: tuple[Node, ...] = ()
        self._made_for: tuple[object, ...] = ()
        self._rows: dict[tuple[int, bool | None], Row] = {}
        """By the identity of the node, which the outline keeps, and its fold."""

    def rows(self, outline: tuple[Node, ...], setting: Setting) -> tuple[Row, ...]:
        """Return the visible rows of the sections."""
        made_for = setting.grouping, setting.marks, setting.is_asking, setting.standing
        if self._outline is not outline or self._made_for != made_for:
            self._outline, self._made_for, self._rows = outline, made_for, {}
        return tuple(self._visible(outline, 0, setting))

    def _visible(
        self, nodes: tuple[Node, ...], depth: int, setting: Setting, unlike: tuple[str, ...] = ()
    ) -> Iterator[Row]:
        for node in nodes:
            folded = is_folded(node, setting.turned) if node.children else None
            row = self._rows.get((id(node), folded))
            if row is None:
                row = _row(node, depth, folded, setting)
                if unlike:
                    row = replace(row, summary=own_words(node.subjects[0].change, unlike))
                state, sign = _state(node, is_asking=setting.is_asking), setting.standing.sign(node)
                row = self._rows[id(node), folded] = replace(row, state=state, standing=sign)
            yield row
            if folded is False:
                differing = row_differences(node) if node.kind is NodeKind.GROUP else ()
                yield from self._visible(node.children, depth + 1, setting, differing)


def _state(node: Node, *, is_asking: bool) -> Span:
    is_judged = all(_is_judged(one, is_asking=is_asking) for one in node.subjects)
    is_unknown = _is_unread(node) or any(one.change.lacks_facts for one in node.subjects)
    if node.severity is None and is_judged and is_unknown:
        return Span("?".ljust(_WIDTH_OF_SEVERITY), Role.WARN)  # it could not be checked, so it is not ok
    if node.kind is NodeKind.NOTE:
        return Span(" " * _WIDTH_OF_SEVERITY)
    if node.severity is Severity.BLOCK or is_judged:
        return severity_span(node.severity, width=_WIDTH_OF_SEVERITY)
    sign = "…" if is_asking else "?"
    if node.severity is None:
        return Span(sign.ljust(_WIDTH_OF_SEVERITY), Role.DIM if is_asking else Role.WARN)
    known = severity_span(node.severity)
    return Span(f"{known.text}{sign}", known.role)


def _is_unread(node: Node) -> bool:
    """True of a root, and of a section with a note about one, whose configuration was not read whole."""
    about_roots = (one.root for one in (node, *node.children) if one.kind in {NodeKind.SECTION, NodeKind.NOTE})
    return any(root is not None and bool(unread_note(root.configuration)) for root in about_roots)


def state_of_change(root: RootReview, change: Change, *, is_asking: bool) -> Span:
    """The severity of a change as its row has it: "…" or "?" where not all is known, instead of "ok"."""
    node = Node("", NodeKind.CHANGE, "", change.severity, (RootChange(root, change),))
    return _state(node, is_asking=is_asking)


def _is_judged(subject: RootChange, *, is_asking: bool) -> bool:
    """True if nothing more can be found about a change: its facts are known, and so is the configuration."""
    return subject.change.is_settled and not (is_asking and subject.root.configuration is None)


def mark_of(node: Node, marks: Collection[str]) -> Mark:
    """The mark of a node: all, some or none of its changes and findings are reviewed."""
    ids = node.mark_ids
    if not ids:
        return Mark.NONE_POSSIBLE
    reviewed = sum(one in marks for one in ids)
    if not reviewed:
        return Mark.OPEN
    return Mark.ALL if reviewed == len(ids) else Mark.SOME


def is_reviewed(node: Node, marks: Collection[str]) -> bool:
    """True if all of a node is marked; of a git conflict, if its root's findings are."""
    if node.kind is NodeKind.CONFLICT and node.root is not None:
        return all(finding_mark(node.root.path, finding) in marks for finding in node.root.findings)
    return mark_of(node, marks) is Mark.ALL


def marked_words(ids: Collection[str], roots: Collection[RootReview]) -> str:
    """Say what marks are about, e.g. "this change in 2 roots", "18 changes (11 distinct) and 1 finding".

    The same change has one mark in all roots, also in those that are not shown, and counts once, as in reports. So each
    id is there once, and the roots are those of the whole review.
    """
    findings = sum(one.startswith(FINDING_MARK) for one in ids)
    marked = [change for root in roots for change in root.changes if change.id in ids]
    if len({change.id for change in marked}) == 1 < len(marked) and not findings:
        return f"this change in {counted(len(marked), 'root')}"
    parts = (changes_words(marked), len(marked)), (counted(findings, "finding"), findings)
    return " and ".join(words for words, number in parts if number)


def _row(node: Node, depth: int, folded: bool | None, setting: Setting) -> Row:
    mark = mark_of(node, setting.marks)
    where = _root_name(node) if setting.grouping is not Grouping.ROOT else ""
    match node.kind:
        case NodeKind.SECTION:
            ids = node.mark_ids
            total, reviewed = len(ids), sum(one in setting.marks for one in ids)
            tally = f"✓ {reviewed}/{total}" if total else ""
            # A long path leaves room for a word: of "root deleted", "lock file deleted", "moved from live/eu".
            fate = fate_words(node.root).partition(" from ")[0] if node.note and node.root is not None else ""
            word, note = fate.rpartition(" ")[2], harmless(node.note)
            return Row(node, depth, folded, mark, node.title, phrase=word, where=note, tally=tally)
        case NodeKind.CHANGE | NodeKind.GROUP | NodeKind.MEMBER:
            return _change_row(node, depth, folded, setting)
        case NodeKind.FINDING:
            host = f"{node.root.tool.default_host}/" if node.root is not None else ""
            message = node.note.replace(host, "") if host else node.note
            return Row(node, depth, folded, mark, node.title, sign="?", summary=message, where=where)
        case NodeKind.CONFLICT:
            return Row(
                node, depth, folded, mark, node.title, sign="<", phrase=_sides(node), summary=CONFLICT, where=where
            )
        case NodeKind.NOTE:
            return Row(node, depth, folded, mark, node.title, sign="=", summary=node.note, where=where)
        case _:
            assert_never(node.kind)


def _change_row(node: Node, depth: int, folded: bool | None, setting: Setting) -> Row:
    change, mark = node.subjects[0].change, mark_of(node, setting.marks)
    evidence = unverified_of((subject.change for subject in node.subjects), is_asking=setting.is_asking)
    if node.kind is NodeKind.MEMBER:  # The row of its group has versions and kind.
        rules = rules_of(change)
        fate = fate_words(node.subjects[0].root).partition(" from ")[0]
        return Row(node, depth, folded, mark, node.title, kind_sign(change.kind), fate, rules, evidence=evidence)
    name, where = node.title, ""
    if node.kind is NodeKind.GROUP:
        where = counted(len(node.children), "root")
    elif setting.grouping is not Grouping.ROOT:
        where = _root_name(node)
    if setting.grouping is Grouping.PROVIDER:
        name, where = where, ""
    # Equal changes of many roots share what was traced.
    alike = {(id(one.added), id(one.removed)): one for one in (subject.change for subject in node.subjects)}
    texts = phrase(change), kind_in_short(change, *alike.values())
    sign, reason = kind_sign(change.kind), _worst_finding(node)
    return Row(node, depth, folded, mark, name, sign, *texts, where, evidence=evidence, reason=reason)


def _worst_finding(node: Node) -> str:
    """The worst finding that counts on a node's changes, else an accepted one; "" without, or if it has no title."""
    found = [one for subject in node.subjects for one in subject.change.findings if one.rule in RULES]
    counting = (one for one in found if one.severity is node.severity and one.accepted is None)
    if finding := next(counting, None):
        return f"{finding.rule} {wording_of(finding).title}"
    accepted = next((one for one in found if one.accepted is not None), None) if node.severity is None else None
    return f"accepted: {accepted.rule} {wording_of(accepted).title}" if accepted is not None else ""


def _root_name(node: Node) -> str:
    return "" if node.root is None else node.root.path or "."


def _sides(node: Node) -> str:
    pair = node.pair
    return "" if pair is None else f"{side_in_short(pair, 'ours')} | {side_in_short(pair, 'theirs')}"


def side_in_short(pair: ConflictPair, side: str) -> str:
    """The version on a side of a conflict, or "not locked"."""
    entry = pair.ours if side == "ours" else pair.theirs
    return "not locked" if entry is None else str(entry.version)


def rules_of(change: Change) -> str:
    """The rules with a finding on a change, which distinguish the members of a group."""
    return ", ".join(finding.rule for finding in change.findings)


_CONSTRAINTS, _H1 = "constraints", "h1"
_H1_SHOWN = 13


def row_differences(group: Node) -> tuple[str, ...]:
    """The differences between the changes of a group, in words."""
    changes = [subject.change for subject in group.subjects]
    h1 = {hashes_of_files(change.new.hashes) if change.new else frozenset() for change in changes}
    return tuple(
        name
        for name, values in ((_CONSTRAINTS, {constraints_of(change) for change in changes}), (_H1, h1))
        if len(values) > 1
    )


def constraints_of(change: Change) -> tuple[str, str]:
    """The locked constraints before and after; "-" where there is no entry."""
    before, after = ((side.constraints or "none") if side else "-" for side in (change.old, change.new))
    return before, after


def own_words(change: Change, unlike: tuple[str, ...]) -> str:
    """The rules of a member of a group, and its own values of what differs in the group."""
    words = [rules_of(change)]
    if _CONSTRAINTS in unlike:
        before, after = constraints_of(change)
        words.append(f"constraints {after if before in {after, '-'} else f'{before} -> {after}'}")
    if _H1 in unlike:
        words.append(_h1_words(change))
    return "  ".join(filter(None, words))


def _h1_words(change: Change) -> str:
    """The number of locked `h1`, and the beginning of the first, which tells variants apart."""
    found = sorted(hashes_of_files(change.new.hashes)) if change.new else []
    return f"{len(found)} h1, {found[0][:_H1_SHOWN]}…" if found else "no h1"


_LEAD = 15
"""Columns before the name: cursor, fold, mark, what is staged or accepted, severity, sign."""

_MARK_ROLES = {Mark.ALL: Role.GOOD, Mark.SOME: Role.GOOD, Mark.OPEN: Role.DIM, Mark.NONE_POSSIBLE: Role.DIM}


def _name(row: Row) -> Span:
    if row.node.kind is NodeKind.MEMBER:
        return Span(f"  {row.name}", Role.PLACE)
    return Span(row.name, Role.DIM if row.mark is Mark.ALL else Role.STRONG)


def _versions(row: Row) -> Span:
    return Span(row.phrase.replace(SAME_VERSION, " (same)"), Role.DIM if row.mark is Mark.ALL else Role.PLAIN)


def _what(row: Row) -> tuple[Span, ...]:
    """Roots and kind, the longest first; roots, which no other column names, are shortened and never left out."""
    if row.node.kind is NodeKind.GROUP:
        number = f"×{len(row.node.children)}"
        texts = [f"{row.where} {row.summary}", f"{number} {row.summary}", number]
    elif row.where:
        above, _, folder = row.where.rpartition("/")
        short = f"…/{folder}" if above else folder
        texts = [f"{row.where} {row.summary}", f"{short} {row.summary}", short]
        texts += [fitted_end(short, width) for width in _ROOT_WIDTHS]
    else:
        texts = [row.summary, row.summary, ""]
    return tuple(Span(text.strip(), Role.DIM) for text in texts)


def _reason(row: Row) -> tuple[Span, ...]:
    return Span(row.reason, Role.DIM), Span(row.reason.partition(" ")[0], Role.DIM)


_ROOT_WIDTHS = (20, 16, 12)
"""Columns of a root that is shortened further than to its folder."""
_WIDE = 100
"""The width from which a row names its worst finding."""
_WHAT = Column[Row](
    "roots, kind",
    _what,
    "the roots with the change, unless the section names them, and its kind: the step between the versions, or the"
    " number of hashes that were added and removed",
    most=24,
    from_width=_WIDE,
)

_COLUMNS: tuple[Column[Row], ...] = (
    Column("provider or root", _name, "the provider; below one in several roots, and grouped by provider, the root",
           fit=fitted_name),
    Column("version", _versions, "the locked version before and after the change, or the only one",
           fit=fitted_step, least=least_step),
    replace(_WHAT, narrow=replace(_WHAT, takes_rest=True, from_width=0)),
    Column("worst finding", lambda row: Span(row.reason, Role.DIM), "the worst finding that counts, or an accepted one;"
           " on wide screens", takes_rest=True, from_width=_WIDE),
    Column("unverified", lambda row: row.evidence, "how many of the added hashes are not verified, as below",
           is_at_end=True, is_optional=True, from_width=52),
)  # fmt: skip


def _with_place(text: str, node: Node, room: int) -> str:
    """The message of a finding about a root; where it is cut, the file and the line that it is about follow."""
    finding, shown = node.finding, fitted(text, room)
    if finding is None or finding.line is None or cell_len(harmless(text)) <= room:
        return shown
    root = f"{node.root.path}/" if node.root is not None and node.root.path else ""
    place = harmless(f"{finding.file.removeprefix(root)}:{finding.line}")
    taken = min(cell_len(place), room // 2)
    return shown if place in shown else f"{fitted(text, room - taken - 1)} {fitted_end(place, taken)}"


class ChangeList(FoldingList[Row]):
    """The rows of a review, one line each."""

    COLUMNS = _COLUMNS
    LEAD = _LEAD

    def is_heading(self, row: Row) -> bool:
        """True for a section whose changes are listed below it."""
        return row.depth == 0 and row.folded is False

    def has_cells(self, row: Row) -> bool:
        """True for changes, and for the two sides of a conflict."""
        return row.node.kind in {NodeKind.CHANGE, NodeKind.GROUP, NodeKind.CONFLICT}

    def painted(self, row: Row, width: int, *, cursor: bool) -> StyledPiece:
        """Paint a section or an entry."""
        return self._section(row, width, cursor=cursor) if row.depth == 0 else self._entry(row, width, cursor=cursor)

    def _lead(self, row: Row, *, cursor: bool) -> list[Span]:
        fold = fold_marker(folded=row.folded)
        return [Span(">" if cursor else " ", Role.STRONG), Span(" " * min(row.depth, 1) + fold + " ", Role.DIM)]

    def _section(self, row: Row, width: int, *, cursor: bool) -> StyledPiece:
        tail = [row.state, Span(f" {row.tally:>7} ", Role.DIM)]
        room = width - 3 - sum(len(span.text) for span in tail) - 1
        title = harmless(row.node.title)
        note = row.where if cell_len(title) + cell_len(row.where) + 2 <= room else row.phrase
        # The last folders of a path are more specific than the first.
        space = min(room - (len(note) + 2 if note else 0), cell_len(title))
        shown = (fitted if row.node.root is None else fitted_end)(title, space).rstrip()
        gap = room - cell_len(shown) - (cell_len(note) + 2 if note else 0)
        spans = [*self._lead(row, cursor=cursor), Span(shown, Role.HEADING)]
        return [*spans, Span(f"  {note}" if note else "", Role.DIM), Span(" " * (gap + 1)), *tail]

    def _entry(self, row: Row, width: int, *, cursor: bool) -> StyledPiece:
        spans = self._lead(row, cursor=cursor)
        mark = Span(row.mark.value, _MARK_ROLES[row.mark])
        spans += [mark, Span(row.standing or " ", Role.GOOD), row.state, Span(f" {row.sign:<2} ", row.state.role)]
        if row.node.kind not in {NodeKind.FINDING, NodeKind.NOTE}:
            return [*spans, *self.columns.painted(row)]
        name = f"{row.node.title} " if row.node.kind is NodeKind.FINDING else ""
        room = width - _LEAD - len(name)
        root = harmless(row.where)
        if len(root) + 2 + cell_len(harmless(row.summary)) > room:
            root = fitted_end(root, min(len(root), _ROOT_WIDTHS[0])).rstrip()
        message = _with_place(f"{root}: {row.summary}" if root else row.summary, row.node, room)
        return [*spans, Span(name, Role.STRONG), Span(message)]

    def can_mark(self, row: Row) -> bool:
        """True below a section."""
        return row.depth > 0 and row.mark is not Mark.NONE_POSSIBLE
