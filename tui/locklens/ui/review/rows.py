"""The list as rows: the outline with folds and marks applied, each row's texts ready. Knows no width, no cursor."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct

from locklens.hashes import Scheme
from locklens.review.model import Bump, Change, ChangeKind, Severity
from locklens.review.reports.words import kind_sign, phrase
from locklens.text import counted
from locklens.ui.review.tree import ConflictPair, Grouping, Node, NodeKind
from locklens.ui.text.evidence import explained_in_short
from locklens.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


class Mark(Enum):
    """Whether what a row stands for was reviewed; NONE_POSSIBLE where it holds no change."""

    NONE_POSSIBLE = " "
    OPEN = "·"
    SOME = "-"
    ALL = "✓"


_NOTHING = Span("")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list.

    Attributes:
        depth: 0 for a section.
        name: What tells the row from the others of its section; from outside.
        folded: None for what does not fold.
        what: Bump or kind, in words.
        where: The roots, where the section does not say it.
        tally: For sections: how many of their changes are reviewed.
        evidence: How far the hashes are explained.
    """

    node: Node
    depth: int
    folded: bool | None
    mark: Mark
    name: str
    sign: str = ""
    phrase: str = ""
    what: str = ""
    where: str = ""
    tally: str = ""
    evidence: Span = _NOTHING

    @property
    def key(self) -> str:
        """The node's."""
        return self.node.key

    @property
    def severity(self) -> Severity | None:
        """The node's."""
        return self.node.severity


def is_folded(node: Node, turned: Collection[str]) -> bool:
    """Whether a node that has children hides them: groups do and sections do not, unless they were turned."""
    return (node.kind is NodeKind.GROUP) != (node.key in turned)


class Setting(Struct, frozen=True):
    """What the rows depend on besides the review.

    Attributes:
        grouping: What the sections are, which decides what the rows need not repeat.
        turned: Keys of the nodes whose fold is not the one that they start with.
        marks: Ids of the reviewed changes.
        is_asking: Whether the review is still on its way.
        is_offline: Whether no registry is to be asked.
    """

    grouping: Grouping = Grouping.ROOT
    turned: Collection[str] = frozenset()
    marks: Collection[str] = frozenset()
    is_asking: bool = False
    is_offline: bool = False


def rows(outline: tuple[Node, ...], setting: Setting) -> tuple[Row, ...]:
    """Returns the visible rows of the sections."""
    return tuple(_visible(outline, 0, setting))


def _visible(nodes: tuple[Node, ...], depth: int, setting: Setting) -> Iterator[Row]:
    for node in nodes:
        folded = is_folded(node, setting.turned) if node.children else None
        yield _row(node, depth, folded, setting)
        if folded is False:
            yield from _visible(node.children, depth + 1, setting)


def mark_of(node: Node, marks: Collection[str]) -> Mark:
    """Whether all, some or none of a node's changes are marked."""
    if not node.subjects:
        return Mark.NONE_POSSIBLE
    reviewed = sum(subject.change.id in marks for subject in node.subjects)
    if not reviewed:
        return Mark.OPEN
    return Mark.ALL if reviewed == len(node.subjects) else Mark.SOME


def _row(node: Node, depth: int, folded: bool | None, setting: Setting) -> Row:
    mark = mark_of(node, setting.marks)
    where = _root_name(node) if setting.grouping is not Grouping.ROOT else ""
    match node.kind:
        case NodeKind.SECTION:
            total = len(node.subjects)
            reviewed = sum(subject.change.id in setting.marks for subject in node.subjects)
            return Row(
                node, depth, folded, mark, node.title, where=node.note, tally=f"✓ {reviewed}/{total}" if total else ""
            )
        case NodeKind.CHANGE | NodeKind.GROUP | NodeKind.MEMBER:
            return _change_row(node, depth, folded, setting)
        case NodeKind.FINDING:
            host = f"{node.root.tool.default_host}/" if node.root is not None else ""
            told = node.note.replace(host, "") if host else node.note
            return Row(node, depth, folded, mark, node.title, sign="?", what=told, where=where)
        case NodeKind.CONFLICT:
            return Row(
                node, depth, folded, mark, node.title, sign="<", phrase=_sides(node), what="conflict", where=where
            )
        case NodeKind.NOTE:
            return Row(node, depth, folded, mark, node.title, sign="=", what=node.note, where=where)
        case _:
            assert_never(node.kind)


def _change_row(node: Node, depth: int, folded: bool | None, setting: Setting) -> Row:
    change, mark = node.subjects[0].change, mark_of(node, setting.marks)
    evidence = explained_in_short(
        (subject.change for subject in node.subjects), is_asking=setting.is_asking, is_offline=setting.is_offline
    )
    if node.kind is NodeKind.MEMBER:  # its group says what happened
        what = rules_of(change)
        return Row(node, depth, folded, mark, node.title, kind_sign(change.kind), what=what, evidence=evidence)
    name, where = node.title, ""
    if node.kind is NodeKind.GROUP:
        where = counted(len(node.children), "root")
    elif setting.grouping is not Grouping.ROOT:
        where = _root_name(node)
    if setting.grouping is Grouping.PROVIDER:
        name, where = where, ""
    told = phrase(change), kind_in_short(change)
    return Row(node, depth, folded, mark, name, kind_sign(change.kind), *told, where, evidence=evidence)


def _root_name(node: Node) -> str:
    return "" if node.root is None else node.root.path or "."


def _sides(node: Node) -> str:
    pair = node.pair
    return "" if pair is None else f"{side_in_short(pair, 'ours')} | {side_in_short(pair, 'theirs')}"


def side_in_short(pair: ConflictPair, side: str) -> str:
    """A conflict side's version, or that it has none."""
    entry = pair.ours if side == "ours" else pair.theirs
    return "none" if entry is None else str(entry.version)


_BUMPS = {Bump.PRERELEASE: "pre-release", Bump.METADATA: "build only"}


def kind_in_short(change: Change) -> str:
    """One or two words for what happened; "" where the versions in short say it already."""
    match change.kind:
        case ChangeKind.UPGRADE if change.bump is not None:
            return _BUMPS.get(change.bump, change.bump.value)
        case ChangeKind.NEW_PROVIDER | ChangeKind.REMOVED:
            return ""
        case ChangeKind.CONSTRAINTS_ONLY:
            return "constraints"
        case ChangeKind.REPLACED_HASHES:
            return "replaced"
        case ChangeKind.CHANGED_HASHES:
            return f"+{len(change.added)} -{len(change.removed)}"
        case ChangeKind.NEW_HASHES:
            return f"+{len(change.added)}"
        case ChangeKind.REMOVED_HASHES:
            return f"-{len(change.removed)}"
        case ChangeKind.UPGRADE | ChangeKind.DOWNGRADE | ChangeKind.MOVED | ChangeKind.UNCHANGED:
            return change.kind.value


def rules_of(change: Change) -> str:
    """The rules that hit a change, which is what tells a group's members apart."""
    return ", ".join(finding.rule for finding in change.findings)


def row_differences(group: Node) -> tuple[str, ...]:
    """What the changes of a group do not have alike, in words."""
    changes = [subject.change for subject in group.subjects]
    constraints = {one.new.constraints if one.new else "" for one in changes}
    h1 = {one.new.with_scheme(Scheme.H1) if one.new else frozenset() for one in changes}
    return tuple(word for word, values in (("constraints differ", constraints), ("h1 differ", h1)) if len(values) > 1)
