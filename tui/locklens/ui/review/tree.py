"""The review as a tree of sections, changes and groups, without folds, cursor and widths.

The same change in several roots is one decision, so it is one node with a child for each root.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar, assert_never

from locklens.cycling import CyclicChoice
from locklens.policy import POLICY_FILE
from locklens.review.model import Change, ChangeKind, Finding, Review, RootReview, Severity, worst
from locklens.review.reports.words import file_note
from locklens.ui.review.filter import Candidate
from locklens.ui.shell.filtering import Filter
from locklens.ui.text.phrases import finding_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from locklens.addresses import ProviderAddress
    from locklens.lockfile.model import LockEntry

_RANK_OK = len(Severity)
_KIND_ORDER = {kind: order for order, kind in enumerate(ChangeKind)}
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Grouping(CyclicChoice):
    """The kind of the list's sections."""

    ROOT = "root"
    PROVIDER = "provider"
    SEVERITY = "severity"


class NodeKind(StrEnum):
    """The kind of a node."""

    SECTION = "section"
    CHANGE = "change"
    GROUP = "group"
    MEMBER = "member"
    FINDING = "finding"
    CONFLICT = "conflict"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class RootChange:
    """One change in one root."""

    root: RootReview
    change: Change


@dataclass(frozen=True, slots=True)
class ConflictPair:
    """A provider's entries on the two sides of a git conflict; None for a missing entry."""

    address: ProviderAddress
    ours: LockEntry | None
    theirs: LockEntry | None


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the list.

    Attributes:
        key: Stable across reloads, so that cursor and folds are kept.
        title: Untrusted text.
        severity: The severity of the worst finding.
        subjects: The changes of the node and its children.
        root: The root of all changes and findings of the node; None for several roots.
        note: The text of a node that is not a change.
        finding_mark: The id that marks a root-level finding; "" for other nodes.
    """

    key: str
    kind: NodeKind
    title: str
    severity: Severity | None = None
    subjects: tuple[RootChange, ...] = ()
    root: RootReview | None = None
    finding: Finding | None = None
    pair: ConflictPair | None = None
    note: str = ""
    children: tuple[Node, ...] = ()
    finding_mark: str = ""

    @property
    def mark_ids(self) -> list[str]:
        """Ids of the changes and root-level findings of the node and its children, which can be marked as reviewed."""
        findings = (node.finding_mark for node in (self, *self.children) if node.finding_mark)
        return [*(subject.change.id for subject in self.subjects), *findings]

    @property
    def change(self) -> Change | None:
        """The change, or the first one of a group; None for other kinds."""
        if self.kind in {NodeKind.CHANGE, NodeKind.GROUP, NodeKind.MEMBER}:
            return self.subjects[0].change
        return None

    @property
    def provider(self) -> ProviderAddress | None:
        """The provider of the node; None for several or none."""
        if self.change is not None:
            return self.change.address
        if self.pair is not None:
            return self.pair.address
        return self.finding.provider if self.finding is not None else None


def outline(
    review: Review, grouping: Grouping, *, narrowed: Filter | None = None, marks: Collection[str] = ()
) -> tuple[Node, ...]:
    """Return the sections, worst first, of the changes and findings that match the filter."""
    is_match = (narrowed or Filter()).is_match
    subjects = [
        RootChange(root, change)
        for root in review.roots
        for change in root.changes
        if is_match(Candidate(root, change, reviewed=change.id in marks))
    ]
    others = [node for root in review.roots for node in _root_nodes(root, is_match, marks)]
    own = _policy_nodes(review, is_match, marks)
    policy = [_section("policy", POLICY_FILE, own)] if own else []
    changes = _change_nodes(subjects)
    match grouping:
        case Grouping.ROOT:
            sections = [*_by_root(review, changes, others), *policy]
        case Grouping.PROVIDER:
            sections = [*_by_provider(changes, others), *policy]
        case Grouping.SEVERITY:
            sections = _by_severity(changes, [*others, *own])
        case _:
            assert_never(grouping)
    return tuple(sorted(sections, key=_rank))


def _rank(node: Node) -> int:
    return _RANK_OK if node.severity is None else node.severity.rank


def _worst(nodes: Iterable[Node]) -> Severity | None:
    return min((node.severity for node in nodes if node.severity is not None), key=attrgetter("rank"), default=None)


def _worst_first(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(sorted(nodes, key=severity_order))


def severity_order(node: Node) -> tuple[int, int, str, str]:
    """The key that sorts nodes worst first."""
    change = node.change
    return _rank(node), -1 if change is None else _KIND_ORDER[change.kind], node.title, node.key


def _collected(values: Iterable[_Value], key: Callable[[_Value], _Key]) -> dict[_Key, list[_Value]]:
    groups: dict[_Key, list[_Value]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups


def _change_nodes(subjects: list[RootChange]) -> list[Node]:
    """A node for each change; the same change in several roots is one node."""
    groups = _collected(subjects, lambda subject: (subject.change.group, subject.change.kind))
    return [_group_node(members) if len(members) > 1 else _change_node(members[0]) for members in groups.values()]


def provider_name(subject: RootChange) -> str:
    """The provider as named in messages: without the host of the tool's default registry."""
    return subject.change.address.short(subject.root.tool.default_host)


def _change_node(subject: RootChange) -> Node:
    key = f"change:{subject.root.path}:{subject.change.id}:{subject.change.address}"
    name = provider_name(subject)
    return Node(key, NodeKind.CHANGE, name, subject.change.severity, (subject,), subject.root)


def _group_node(members: list[RootChange]) -> Node:
    children = _worst_first(
        Node(
            f"member:{member.root.path}:{member.change.id}:{member.change.address}",
            NodeKind.MEMBER,
            member.root.path or ".",
            member.change.severity,
            (member,),
            member.root,
        )
        for member in members
    )
    worst_member = children[0].subjects[0]
    key = f"group:{worst_member.change.group}:{worst_member.change.kind}"
    ordered = tuple(subject for child in children for subject in child.subjects)
    return Node(key, NodeKind.GROUP, provider_name(worst_member), _worst(children), ordered, children=children)


def _policy_nodes(review: Review, is_match: Callable[[Candidate], bool], marks: Collection[str]) -> list[Node]:
    """The nodes of findings about a change of the policy itself, which is no root's."""
    nodes = [
        _finding_node(f"policy:{number}", None, finding, finding_mark("", finding))
        for number, finding in enumerate(review.own_findings)
    ]
    return [
        node for node in nodes if is_match(Candidate(None, finding=node.finding, reviewed=node.finding_mark in marks))
    ]


def _finding_node(key: str, root: RootReview | None, finding: Finding, mark: str) -> Node:
    return Node(
        f"finding:{key}:{finding.rule}",
        NodeKind.FINDING,
        finding.rule,
        finding.severity,
        (),
        root,
        finding,
        note=finding.message,
        finding_mark=mark,
    )


def _root_nodes(root: RootReview, is_match: Callable[[Candidate], bool], marks: Collection[str]) -> list[Node]:
    """The nodes of a root besides its changes: findings, conflicts, notes."""
    ids = [finding_mark(root.path, finding) for finding in root.findings]
    nodes = [
        _finding_node(f"{root.path}:{number}", root, finding, ids[number])
        for number, finding in enumerate(root.findings)
        if is_match(Candidate(root, finding=finding, reviewed=ids[number] in marks))
    ]
    if not is_match(Candidate(root)):
        return nodes
    nodes += [
        Node(
            f"conflict:{root.path}:{pair.address}",
            NodeKind.CONFLICT,
            pair.address.short(root.tool.default_host),
            worst(root.findings),
            (),
            root,
            pair=pair,
        )
        for pair in conflict_pairs(root)
    ]
    if not root.changes and not root.findings and (note := file_note(root)):
        nodes.append(Node(f"note:{root.path}", NodeKind.NOTE, note, None, (), root, note=note))
    return nodes


def conflict_pairs(root: RootReview) -> tuple[ConflictPair, ...]:
    """The providers whose entries differ between the two sides of a git conflict."""
    if root.new.conflict is None:
        return ()
    ours, theirs = root.new.conflict.ours.by_address, root.new.conflict.theirs.by_address
    pairs = (ConflictPair(address, ours.get(address), theirs.get(address)) for address in sorted({*ours, *theirs}))
    return tuple(pair for pair in pairs if _content(pair.ours) != _content(pair.theirs))


def _content(entry: LockEntry | None) -> tuple[str, str, frozenset[str]] | None:
    return None if entry is None else (str(entry.version), entry.constraints, frozenset(entry.hashes))


def _section(key: str, title: str, nodes: Iterable[Node], *, root: RootReview | None = None, note: str = "") -> Node:
    children = _worst_first(nodes)
    subjects = tuple(subject for child in children for subject in child.subjects)
    return Node(
        f"section:{key}", NodeKind.SECTION, title, _worst(children), subjects, root, note=note, children=children
    )


def _by_root(review: Review, changes: list[Node], others: list[Node]) -> list[Node]:
    shared = [node for node in changes if node.kind is NodeKind.GROUP]
    alone = _collected((*(node for node in changes if node.kind is not NodeKind.GROUP), *others), _path)
    elsewhere = {root.path: 0 for root in review.roots}
    for subject in (subject for node in shared for subject in node.subjects):
        elsewhere[subject.root.path] += 1
    roots = {root.path: root for root in review.roots}
    sections = [
        _section(
            f"root:{path}",
            path or ".",
            nodes,
            root=roots[path],
            note=f"+{elsewhere[path]} shared" if elsewhere[path] else "",
        )
        for path, nodes in alone.items()
    ]
    return [_section("shared", "in several roots", shared), *sections] if shared else sections


def _path(node: Node) -> str:
    return node.root.path if node.root is not None else ""


def _by_provider(changes: list[Node], others: list[Node]) -> list[Node]:
    by_address = _collected(changes, lambda node: node.subjects[0].change.address)
    pairs = [node for node in others if node.pair is not None]
    sections = [_section(f"provider:{address}", str(address), nodes) for address, nodes in sorted(by_address.items())]
    rest = [node for node in others if node.pair is None]
    if pairs:
        sections.append(_section("provider:conflicts", "conflicts", pairs))
    return (
        [
            *sections,
            _section(
                "provider:",
                "findings about roots and the policy"
                if any(node.root is None for node in rest)
                else "root-level findings",
                rest,
            ),
        ]
        if rest
        else sections
    )


def _by_severity(changes: list[Node], others: list[Node]) -> list[Node]:
    by_severity = _collected((*changes, *others), lambda node: node.severity)
    names = {severity: severity.value.upper() for severity in Severity}
    return [
        _section(f"severity:{severity}", "no findings" if severity is None else names[severity], nodes)
        for severity, nodes in by_severity.items()
    ]
