"""The findings of a review, and its distinct changes, worst first: what every report for pipelines is made of."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.findings import Finding, Severity, severity_rank
from locklens.review.model import Change, ChangeKind, Review, RootReview
from locklens.review.reports import moved_from_words
from locklens.review.rules.catalogue import RuleWording, wording_of
from locklens.text import counted, identity_of, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from locklens.project.configuration import Requirement


_LINE = re.compile(r"(\.(?:hcl|json|tf|tofu|toml)):[0-9][0-9,-]*|\b(line )[0-9]+")
"""The lines that a message names, also after the name of a file: they move when something else in the file changes."""


class ReportedFinding(Struct, frozen=True):
    """A finding with its subject.

    Attributes:
        root: None for a finding about the whole review.
        change: None for a finding about the root.
        fingerprint: 64 hex digits over rule, root and change, or without a change over what the finding is about:
            equal in every run that finds the same again, and in no other. Several findings of one rule on one subject
            are told apart by their order.
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
    def words(self) -> str:
        """Title and message, and of a change in a root that was moved, the folder that it is compared with."""
        words = f"{wording_of(self.finding).title}: {self.finding.message}"
        moved = moved_from_words(self.root) if self.root is not None and self.change is not None else ""
        return f"{words}; root {moved}" if moved else words

    @property
    def is_counted(self) -> bool:
        """True unless it was accepted."""
        return self.finding.accepted is None


class DistinctChange(Struct, frozen=True):
    """The same change in one root or in several, the worst first: one decision."""

    members: tuple[tuple[RootReview, Change], ...]

    @property
    def root(self) -> RootReview:
        """The root that the worst member is in."""
        return self.members[0][0]

    @property
    def change(self) -> Change:
        """The worst member."""
        return self.members[0][1]


def requirements_in_roots(members: Iterable[tuple[RootReview, Change]]) -> tuple[Requirement, ...]:
    """Return the requirements of a change in all of its roots, each once."""
    return tuple(dict.fromkeys(requirement for _, change in members for requirement in change.required_by))


def share_words(members: Collection[tuple[RootReview, Change]], rule: str, message: str = "") -> str:
    """Return in how many of the roots of a change a rule has a finding, or one with a message; "" for all of them."""
    number = sum(
        any(one.rule == rule and message in {"", one.message} for one in change.findings) for _, change in members
    )
    return f"in {number} of {len(members)} roots" if number < len(members) else ""


def reported_findings(review: Review) -> list[ReportedFinding]:
    """Return every finding, the worst first and accepted ones last; silenced rules have none."""
    found: list[ReportedFinding] = []
    repeated: Counter[tuple[str, ...]] = Counter()
    for root, change, finding in _findings_of(review):
        if finding.severity is not Severity.OFF:
            where = ("root", root.path) if root is not None else ("review", "")
            subject = (finding.rule, *where, _subject(change, finding))
            repeated[subject] += 1
            found.append(ReportedFinding(root, change, finding, identity_of(*subject, str(repeated[subject]))))
    return sorted(found, key=_order)


class RuleAdvice(Struct, frozen=True):
    """What to do about the findings of a rule that are of one kind.

    Attributes:
        number: The number of those findings, counted as everywhere: once for the same change in many roots.
        is_partial: True if one of them is of another kind too, in other roots or for other platforms.
    """

    rule: str
    number: int
    is_partial: bool
    title: str
    words: str

    @property
    def count(self) -> str:
        """The number of its findings in words."""
        return f"{counted(self.number, 'finding')}{', in part' if self.is_partial else ''}"


def remedies(review: Review, fail_on: str | None) -> list[RuleAdvice]:
    """Return what to do about the findings that block, or that fail the review, by rule and title."""

    def is_counted(one: Finding) -> bool:
        return one.fails_at(Severity.BLOCK) or review.is_failing(one, fail_on)

    counts: Counter[tuple[str, RuleWording]] = Counter()
    partial: set[tuple[str, RuleWording]] = set()
    for alike in review.distinct_findings(is_counted):
        kinds = {(one.rule, wording_of(one)) for one in alike}
        counts.update(kinds)
        partial |= kinds if len(kinds) > 1 else set()
    listed = (
        RuleAdvice(rule, number, (rule, words) in partial, words.title, words.remedy)
        for (rule, words), number in counts.items()
    )
    return sorted(listed, key=lambda one: (one.rule, one.title))


def _findings_of(review: Review) -> Iterator[tuple[RootReview | None, Change | None, Finding]]:
    for finding in review.own_findings:
        yield None, None, finding
    for root in review.roots:
        for finding in root.findings:
            yield root, None, finding
        for change in root.changes:
            for finding in change.findings:
                yield root, change, finding


def _subject(change: Change | None, finding: Finding) -> str:
    if change is not None:
        return change.id
    about = finding.content or _LINE.sub(r"\1\2", finding.message)
    return identity_of(str(finding.provider or ""), finding.file, about)


def _order(one: ReportedFinding) -> tuple[object, ...]:
    finding = one.finding
    place = (one.folder, finding.file, finding.line or 0, finding.rule, one.fingerprint)
    return (not one.is_counted, finding.severity.rank, *place)


def distinct_changes(review: Review) -> list[DistinctChange]:
    """Return the distinct changes of a review; unchanged providers only with findings."""
    changes = ((root, change) for root in review.roots for change in root.changes)
    return distinct(one for one in changes if one[1].kind is not ChangeKind.UNCHANGED or one[1].findings)


def distinct(changes: Iterable[tuple[RootReview, Change]]) -> list[DistinctChange]:
    """Return changes, equal ones together, the worst first."""
    groups: dict[str, list[tuple[RootReview, Change]]] = {}
    for root, change in changes:
        groups.setdefault(change.id, []).append((root, change))
    for members in groups.values():
        members.sort(key=lambda member: (severity_rank(member[1].severity), member[0].path))
    found = [DistinctChange(tuple(members)) for members in groups.values()]
    return sorted(found, key=lambda one: (one.change.alarm, one.change.id))


def bounded(text: str, limit: int) -> str:
    """Return text printable and of at most `limit` characters."""
    return shortened(visible(text[: limit + 1]), limit)
