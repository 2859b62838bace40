"""The findings of a review, and its distinct changes, worst first: what every report for pipelines is made of."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.model import Change, ChangeKind, Finding, RootReview, Severity
from locklens.text import shortened, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from locklens.lockfile.model import LockEntry
    from locklens.review.model import Review


class ReportedFinding(Struct, frozen=True):
    """A finding with its subject.

    Attributes:
        root: None for a finding about the whole review.
        change: None for a finding about the root.
        fingerprint: 64 hex digits over rule, change and root: equal in every run that finds the same again. Several
            findings of one rule on one subject are told apart by their order.
    """

    root: RootReview | None
    change: Change | None
    finding: Finding
    fingerprint: str

    @property
    def folder(self) -> str:
        """The root's folder; "" for the top, and for a finding about the whole review."""
        return self.root.path if self.root is not None else ""

    @property
    def is_counted(self) -> bool:
        """True unless it was accepted."""
        return self.finding.accepted is None


class DistinctChange(Struct, frozen=True):
    """The same change in one root or in several: one decision.

    Attributes:
        members: The roots and their changes, the worst first.
    """

    members: tuple[tuple[RootReview, Change], ...]

    @property
    def root(self) -> RootReview:
        """The root that the worst member is in."""
        return self.members[0][0]

    @property
    def change(self) -> Change:
        """The worst member."""
        return self.members[0][1]

    @property
    def has_several_constraints(self) -> bool:
        """True if the constraints are not the same in all roots."""
        return len({(_constraints(change.old), _constraints(change.new)) for _, change in self.members}) > 1

    @property
    def has_several_hashes(self) -> bool:
        """True if hashes other than `zh`, which the group shares, are not the same in all roots."""
        return len({change.id for _, change in self.members}) > 1


def _constraints(entry: LockEntry | None) -> str:
    return entry.constraints if entry is not None else ""


def reported_findings(review: Review) -> list[ReportedFinding]:
    """Return every finding, the worst first and accepted ones last; silenced rules have none."""
    found = [
        ReportedFinding(None, None, one, _digest(one.rule, _subject(None, one), ""))
        for one in review.own_findings
        if one.severity is not Severity.OFF
    ]
    for root in review.roots:
        repeated: Counter[tuple[str, ...]] = Counter()
        for change, finding in _findings_of(root):
            subject = (finding.rule, _subject(change, finding), root.path)
            repeated[subject] += 1
            found.append(ReportedFinding(root, change, finding, _digest(*subject, str(repeated[subject]))))
    return sorted(found, key=_order)


def _findings_of(root: RootReview) -> Iterator[tuple[Change | None, Finding]]:
    for finding in root.findings:
        if finding.severity is not Severity.OFF:
            yield None, finding
    for change in root.changes:
        for finding in change.findings:
            if finding.severity is not Severity.OFF:
                yield change, finding


def _subject(change: Change | None, finding: Finding) -> str:
    if change is not None:
        return change.id
    return f"{finding.provider or ''} {finding.file}"


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _order(one: ReportedFinding) -> tuple[object, ...]:
    finding = one.finding
    place = (one.folder, finding.file, finding.line or 0, finding.rule, one.fingerprint)
    return (not one.is_counted, finding.severity.rank, *place)


def distinct_changes(review: Review) -> list[DistinctChange]:
    """Return the changes, those of one group together, the worst first; unchanged providers only with findings."""
    groups: dict[str, list[tuple[RootReview, Change]]] = {}
    for root in review.roots:
        for change in root.changes:
            if change.kind is not ChangeKind.UNCHANGED or change.findings:
                groups.setdefault(change.group, []).append((root, change))
    for members in groups.values():
        members.sort(key=lambda member: (severity_rank(member[1].severity), member[0].path))
    distinct = [DistinctChange(tuple(members)) for members in groups.values()]
    return sorted(
        distinct, key=lambda one: (severity_rank(one.change.severity), str(one.change.address), one.change.group)
    )


def severity_rank(severity: Severity | None) -> int:
    """0 for the worst; no severity ranks last."""
    return severity.rank if severity is not None else len(Severity)


def bounded(text: str, limit: int) -> str:
    """Return text printable and of at most `limit` characters."""
    return shortened(visible(text[: limit + 1]), limit)


def fails_at(finding: Finding, threshold: str | None) -> bool:
    """True if a finding counts at a severity or above, as --fail-on has it; None stands for warn."""
    if finding.accepted is not None or threshold == "never":
        return False
    return finding.severity.rank <= Severity(threshold or Severity.WARN).rank


def names_of_roots(roots: Sequence[RootReview]) -> list[str]:
    """Return the folders of roots; "." for the top."""
    return [root.path or "." for root in roots]
