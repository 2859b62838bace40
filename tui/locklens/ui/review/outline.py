"""The review as a tree of sections, changes and groups, filtered and sorted, without folds, cursor and widths.

The same change in several roots is one decision, so it is one node with a child for each root.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar, assert_never

from locklens.policy import POLICY_FILE
from locklens.project.tree import name_bytes
from locklens.review.findings import Finding, Severity, severity_rank, worst
from locklens.review.model import Change, ChangeKind, LockStatus, Review, RootReview
from locklens.review.reports import fate_words, root_note
from locklens.ui.phrases import CONFLICT, finding_mark, kind_in_short
from locklens.ui.shell.filtering import ALL, KIND, PROOF, PROVIDER, ROOT, RULE, SIGNER, Filter, Grammar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.lockfile import LockEntry

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Grouping(StrEnum):
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

    @property
    def named(self) -> tuple[str, ProviderAddress]:
        """The key of the provider in the root: lock file and address."""
        return self.root.lock_file, self.change.address


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
    def roots(self) -> tuple[RootReview, ...]:
        """The roots of the node and of those below it, each once."""
        nodes = (node.root for node in (self, *self.children))
        roots = *(root for root in nodes if root is not None), *(subject.root for subject in self.subjects)
        return tuple({root.path: root for root in roots}.values())

    @property
    def in_conflict(self) -> tuple[RootReview, ...]:
        """The roots whose lock file git left in conflict."""
        return tuple(root for root in self.roots if root.new.conflict is not None)

    @property
    def is_orphan(self) -> bool:
        """True if a provider of the node is known to be required by nothing."""
        of_changes = (finding for subject in self.subjects for finding in subject.change.findings)
        return any(one is not None and one.names_orphan for one in (self.finding, *of_changes))

    @property
    def provider(self) -> ProviderAddress | None:
        """The provider of the node; None for several or none."""
        if self.change is not None:
            return self.change.address
        if self.pair is not None:
            return self.pair.address
        return self.finding.provider if self.finding is not None else None


def outline(
    review: Review, grouping: Grouping, *, narrowed: Filter = ALL, marks: Collection[str] = ()
) -> tuple[Node, ...]:
    """Return the sections, worst first, of the changes and findings that match the filter."""
    subjects = [
        RootChange(root, change)
        for root in review.roots
        for change in root.changes
        if narrowed.is_match(Candidate(root, change, reviewed=change.id in marks))
    ]
    others = [node for root in review.roots for node in _root_nodes(root, narrowed, marks)]
    own = [*_finding_nodes(None, review.own_findings, narrowed, marks)]
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
    return tuple(sorted(sections, key=lambda node: severity_rank(node.severity)))


def _worst(nodes: Iterable[Node]) -> Severity | None:
    return min((node.severity for node in nodes), key=severity_rank, default=None)


def _worst_first(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(sorted(nodes, key=severity_order))


def severity_order(node: Node) -> tuple[object, ...]:
    """The key that sorts nodes worst first; of one severity, those of changes follow in the order of `Change.alarm`."""
    change = node.change
    return severity_rank(node.severity), change.alarm[1:] if change is not None else (), node.title, node.key


def collected(values: Iterable[_Value], key: Callable[[_Value], _Key]) -> dict[_Key, list[_Value]]:
    """Return values by what they have in common, all in the order in which they come."""
    groups: dict[_Key, list[_Value]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups


def _change_nodes(subjects: list[RootChange]) -> list[Node]:
    """A node for each change; the same change in several roots is one node."""
    groups = collected(subjects, lambda subject: (subject.change.group, subject.change.kind))
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


def _finding_nodes(
    root: RootReview | None, findings: Iterable[Finding], narrowed: Filter, marks: Collection[str]
) -> Iterator[Node]:
    """Yield the nodes of findings about a root as such; without one, about a change of the policy itself."""
    name, path = (root.path, root.path) if root is not None else ("policy", "")
    for number, finding in enumerate(findings):
        mark = finding_mark(path, finding)
        if narrowed.is_match(Candidate(root, finding=finding, reviewed=mark in marks)):
            yield Node(
                f"finding:{name}:{number}:{finding.rule}",
                NodeKind.FINDING,
                finding.rule,
                finding.severity,
                (),
                root,
                finding,
                note=finding.message,
                finding_mark=mark,
            )


def _root_nodes(root: RootReview, narrowed: Filter, marks: Collection[str]) -> list[Node]:
    """The nodes of a root besides its changes: findings, conflicts, notes."""
    nodes = [*_finding_nodes(root, root.findings, narrowed, marks)]
    conflict = root.new.conflict
    pairs = [ConflictPair(*pair) for pair in conflict.pairs] if conflict is not None else []
    nodes += [
        Node(
            f"conflict:{root.path}:{pair.address}",
            NodeKind.CONFLICT,
            pair.address.short(root.tool.default_host),
            candidate.severity,
            (),
            root,
            pair=pair,
        )
        for pair in pairs
        if narrowed.is_match(candidate := Candidate(root, pair=pair))
    ]
    has_rows = root.changes or root.findings
    if not has_rows and narrowed.is_match(Candidate(root)) and (note := root_note(root)):
        nodes.append(Node(f"note:{root.path}", NodeKind.NOTE, note, None, (), root, note=note))
    return nodes


def _section(key: str, title: str, nodes: Iterable[Node], *, root: RootReview | None = None, note: str = "") -> Node:
    children = _worst_first(nodes)
    subjects = tuple(subject for child in children for subject in child.subjects)
    return Node(
        f"section:{key}", NodeKind.SECTION, title, _worst(children), subjects, root, note=note, children=children
    )


def _by_root(review: Review, changes: list[Node], others: list[Node]) -> list[Node]:
    shared = [node for node in changes if node.kind is NodeKind.GROUP]
    alone = collected((*(node for node in changes if node.kind is not NodeKind.GROUP), *others), _path)
    elsewhere = Counter(subject.root.path for node in shared for subject in node.subjects)
    roots = {root.path: root for root in review.roots}
    sections = [
        _section(f"root:{path}", path or ".", nodes, root=roots[path], note=_note(roots[path], nodes, elsewhere[path]))
        for path, nodes in alone.items()
    ]
    return [_section("shared", "in several roots", shared), *sections] if shared else sections


def _note(root: RootReview, nodes: Iterable[Node], shared: int) -> str:
    """What became of a section's root, unless a row below says so, and how many of its changes other roots share."""
    fate = "" if any(node.kind is NodeKind.NOTE for node in nodes) else fate_words(root)
    return ", ".join(filter(None, (fate, f"+{shared} shared" if shared else "")))


def _path(node: Node) -> str:
    return node.root.path if node.root is not None else ""


def _by_provider(changes: list[Node], others: list[Node]) -> list[Node]:
    by_address = collected(changes, lambda node: node.subjects[0].change.address)
    sections = [_section(f"provider:{address}", str(address), nodes) for address, nodes in sorted(by_address.items())]
    if pairs := [node for node in others if node.pair is not None]:
        sections.append(_section("provider:conflicts", "conflicts", pairs))
    if rest := [node for node in others if node.pair is None]:
        has_policy = any(node.root is None for node in rest)
        title = "findings about roots and the policy" if has_policy else "root-level findings"
        sections.append(_section("provider:", title, rest))
    return sections


def _by_severity(changes: list[Node], others: list[Node]) -> list[Node]:
    by_severity = collected((*changes, *others), lambda node: node.severity)
    return [
        _section(
            f"severity:{severity}", _without_findings(nodes) if severity is None else severity.value.upper(), nodes
        )
        for severity, nodes in by_severity.items()
    ]


def _without_findings(nodes: Iterable[Node]) -> str:
    changes = (subject.change for node in nodes for subject in node.subjects)
    has_accepted = any(finding.accepted is not None for change in changes for finding in change.findings)
    return "no findings, or accepted ones" if has_accepted else "no findings"


REVIEW_GRAMMAR = Grammar(
    "provider, root, version, finding, file, hash or signer",
    (KIND, ROOT, PROVIDER, RULE, PROOF, SIGNER),
    {
        "unreviewed": "not marked yet",
        "reviewed": "marked",
        "moved": "of a moved root or provider",
        "deleted": "of a deleted root or lock file",
    },
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """The subject of a filter: a change of a root, a root-level finding, a conflict, or (none) the root itself.

    Without a root, it is a finding about the policy.
    """

    root: RootReview | None
    change: Change | None = None
    finding: Finding | None = None
    pair: ConflictPair | None = None
    reviewed: bool = False

    @property
    def providers(self) -> tuple[ProviderAddress, ...]:
        """The provider of the change or the conflict, or those that the finding is about."""
        named = self.change or self.pair
        return (named.address,) if named is not None else self.finding.providers if self.finding is not None else ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of the change or the conflict, and what its row says of it."""
        if self.change is not None:
            return self.change.kind.value, kind_in_short(self.change)
        return (CONFLICT,) if self.pair is not None else ()

    @property
    def sides(self) -> tuple[LockEntry, ...]:
        """The entries of the change or the conflict."""
        if self.change is not None:
            sides = self.change.old, self.change.new
        else:
            sides = (self.pair.ours, self.pair.theirs) if self.pair is not None else (None, None)
        return tuple(side for side in sides if side is not None)

    @property
    def signers(self) -> tuple[str, ...]:
        """The fingerprint and the names of each key that signed an entry of the change."""
        one = self.change
        signers = (one.old_signer, one.new_signer, one.neighbour_signer) if one is not None else ()
        keys = (key for signer in signers if signer is not None for key in signer.keys)
        return tuple(text for key in keys for text in (key.fingerprint, *key.user_ids))

    @property
    def can_be_reviewed(self) -> bool:
        """True for a change or a finding."""
        return self.change is not None or self.finding is not None

    @property
    def severity(self) -> Severity | None:
        """The severity of the change or the finding; of a conflict, that of its root's findings."""
        if self.finding is not None:
            return self.finding.severity
        if self.pair is not None and self.root is not None:
            return worst(self.root.findings)
        return self.change.severity if self.change is not None else None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The finding itself, or the findings of the change."""
        if self.finding is not None:
            return (self.finding,)
        return self.change.findings if self.change is not None else ()

    def values(self, field: str) -> Iterable[str]:
        """The values of a field of `REVIEW_GRAMMAR`."""
        match field:
            case ROOT.name:
                return [self.root.path or "."] if self.root is not None else []
            case RULE.name:
                return [finding.rule for finding in self.findings]
            case PROVIDER.name:
                return map(str, self.providers)
            case KIND.name:
                return self.kinds
            case SIGNER.name:
                return self.signers
            case PROOF.name:
                return _proofs(self.change) if self.change is not None and self.change.is_settled else []
            case _:
                raise AssertionError(f"the field {field} of the grammar has no values")

    def has(self, word: str) -> bool:
        """Whether a word of `REVIEW_GRAMMAR` is true of it."""
        match word:
            case "reviewed":
                return self.can_be_reviewed and self.reviewed
            case "unreviewed":
                return self.can_be_reviewed and not self.reviewed
            case "moved":
                is_root = self.root is not None and self.root.renamed_from is not None
                return is_root or (self.change is not None and self.change.kind is ChangeKind.MOVED)
            case "deleted":
                return self.root is not None and self.root.status is LockStatus.DELETED
            case _:
                raise AssertionError(f"the word {word} of the grammar has no meaning")

    @property
    def text(self) -> str:
        """The text that plain terms are searched in, in lower case."""
        parts = [self.root.path, self.root.lock_file, fate_words(self.root)] if self.root is not None else []
        parts += [f"{finding.rule} {finding.message} {finding.file}" for finding in self.findings]
        parts += (*map(str, self.providers), *self.kinds, *(str(side.version) for side in self.sides))
        if self.change is not None:
            parts += [fact.hash for fact in (*self.change.claimed, *self.change.removed)]
        parts += self.signers
        return "\n".join(parts).lower()


def _proofs(change: Change) -> Iterator[str]:
    """Yield the proofs of the locked hashes, and of removed ones those that only such hashes have."""
    yield from (fact.proof.value for fact in change.locked)
    yield from (fact.proof.value for fact in change.removed if fact.kind.was_locked)


class Sort(StrEnum):
    """The order of the rows."""

    SEVERITY = "severity"
    PROVIDER = "provider"
    AGE = "age"
    ROOT = "root"

    @property
    def words(self) -> str:
        """The order in words: by what the rows are sorted."""
        return "release date" if self is Sort.AGE else self.value


def sorted_outline(sections: Sequence[Node], sort: Sort, grouping: Grouping) -> tuple[Node, ...]:
    """Return the sections, which are worst first, with their rows in an order; equal rows are worst first.

    Sections follow their first row, except those of severities, which remain worst first. By age the latest release is
    first, and unknown dates are last.
    """
    if sort is Sort.SEVERITY:
        return tuple(sections)
    key = _KEYS[sort]

    def with_sorted_children(node: Node) -> Node:
        children = sorted(
            map(with_sorted_children, node.children), key=lambda child: (key(child), severity_order(child))
        )
        return replace(node, children=tuple(children)) if children else node

    done = [with_sorted_children(section) for section in sections]
    if grouping is Grouping.SEVERITY:
        return tuple(done)
    return tuple(sorted(done, key=lambda section: key(section.children[0] if section.children else section)))


def in_places_of(shown: Sequence[Node], ordered: Sequence[Node]) -> tuple[Node, ...]:
    """Return nodes in the places that they have among those shown; new ones follow, in their own order."""
    places = {node.key: (index, node) for index, node in enumerate(shown)}

    def kept(node: Node) -> Node:
        before = places.get(node.key)
        children = in_places_of(before[1].children, node.children) if before is not None else node.children
        return node if children == node.children else replace(node, children=children)

    def place(node: Node) -> int:
        return places[node.key][0] if node.key in places else len(places)

    return tuple(kept(node) for node in sorted(ordered, key=place))


def age(node: Node) -> float:
    """Days since the latest release among a node's changes; infinite if no date is known."""
    evidence = (subject.change.evidence for subject in node.subjects)
    return min((one.days for one in evidence if one is not None and one.days is not None), default=float("inf"))


def _provider(node: Node) -> tuple[bool, str]:
    return node.provider is None, str(node.provider or "")


def _root(node: Node) -> bytes:
    roots = [subject.root for subject in node.subjects] or ([node.root] if node.root is not None else [])
    return min((name_bytes(root.path) for root in roots), default=b"")


_KEYS: dict[Sort, Callable[[Node], tuple[bool, str] | float | bytes]] = {
    Sort.PROVIDER: _provider,
    Sort.AGE: age,
    Sort.ROOT: _root,
}
