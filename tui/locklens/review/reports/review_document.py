"""A review as the JSON document of schema 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection  # noqa: TC003  # evaluated by msgspec
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from locklens.review import EXPLAINED, VERIFIED
from locklens.review.model import Bump, Change, ChangeKind, LockStatus, Review, RootReview, Unverified
from locklens.review.reports import listed_counts
from locklens.review.reports.advisories import AdvisoriesJson
from locklens.review.reports.documents import (
    ConfigurationJson,
    Count,
    Each,
    EvidenceJson,
    FindingJson,
    FromOne,
    HashJson,
    JsonStruct,
    Reported,
    RequirementJson,
    ReviewVerdict,
    RunJson,
    SignerJson,
    ToolName,
    keyed_by,
    one_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.lockfile import Conflict, LockEntry
    from locklens.review.model import Severity

_LISTED = [kind for kind in ChangeKind if kind is not ChangeKind.UNCHANGED]
_FIRST = "Hashes that are locked for this release for the first time, also kept ones of another version, whose proof is"
Explained = Annotated[Count, Meta(description=f"{_FIRST} {EXPLAINED}.")]
NotVerified = Annotated[Count, Meta(description=f"{_FIRST} not {VERIFIED}.")]


class SideJson(JsonStruct, frozen=True):
    """A side of the comparison; revision is a full commit id."""

    kind: Annotated[str, one_of("git", "worktree", "index", "file", "empty")]
    name: str
    revision: str | None


class EntryJson(JsonStruct, frozen=True):
    """One provider's block of a lock file."""

    version: str
    constraints: str
    hashes: list[str]
    line: FromOne

    @classmethod
    def of(cls, entry: LockEntry | None) -> EntryJson | None:
        """Describe an entry; None if there is none."""
        if entry is None:
            return None
        return cls.like(entry, version=str(entry.version))


class LocatedEntryJson(JsonStruct, frozen=True):
    """An entry with its provider."""

    provider: str
    version: str
    constraints: str
    hashes: list[str]
    line: FromOne

    @classmethod
    def of(cls, entry: LockEntry) -> LocatedEntryJson:
        """Describe an entry."""
        return cls.like(entry, provider=str(entry.address), version=str(entry.version))


class MarkerJson(JsonStruct, frozen=True):
    """One conflict that git left in a lock file: its lines from 1, and what the markers call the sides."""

    line: Count
    separator_line: Count
    end_line: Count
    ours: str
    theirs: str


class ConflictJson(JsonStruct, frozen=True):
    """A lock file that is not merged, with the entries of either side; no markers if the index has the conflict."""

    markers: list[MarkerJson]
    ours: list[LocatedEntryJson]
    theirs: list[LocatedEntryJson]

    @classmethod
    def of(cls, conflict: Conflict | None) -> ConflictJson | None:
        """Describe a conflict; None if there is none."""
        if conflict is None:
            return None
        return cls(
            markers=[MarkerJson.like(one) for one in conflict.markers],
            ours=[LocatedEntryJson.of(entry) for entry in conflict.ours.entries],
            theirs=[LocatedEntryJson.of(entry) for entry in conflict.theirs.entries],
        )


class ChangedHashesJson(JsonStruct, frozen=True):
    """The hashes of a change; kept ones are counted."""

    added: list[HashJson]
    removed: list[HashJson]
    kept: Count
    explained: Explained
    reported: Reported
    unverified: NotVerified

    @classmethod
    def of(cls, change: Change) -> ChangedHashesJson:
        """Describe a change."""
        return cls(
            added=[HashJson.of(fact) for fact in change.added],
            removed=[HashJson.of(fact) for fact in change.removed],
            kept=len(change.kept),
            explained=change.hashes.explained,
            reported=change.hashes.reported,
            unverified=change.hashes.unverified,
        )


class SignersJson(JsonStruct, frozen=True):
    """The signers of both versions; null if unknown."""

    old: SignerJson | None
    new: SignerJson | None


class ChangeJson(JsonStruct, frozen=True):
    """The change of one provider; changes of several roots with one group bring the same packages."""

    id: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    group: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    provider: str
    kind: ChangeKind
    moved_from: str | None
    bump: Bump | None
    old: EntryJson | None
    new: EntryJson | None
    hashes: ChangedHashesJson
    signer: SignersJson
    evidence: EvidenceJson | None
    advisories: Annotated[
        AdvisoriesJson | None, Meta(description="From packages that were inspected before; null where none is known.")
    ]
    required_by: list[RequirementJson]
    findings: list[FindingJson]

    @classmethod
    def of(cls, change: Change) -> ChangeJson:
        """Describe a change."""
        return cls.like(
            change,
            provider=str(change.address),
            moved_from=str(change.moved_from) if change.moved_from else None,
            bump=change.bump if change.kind is not ChangeKind.UNCHANGED else None,
            old=EntryJson.of(change.old),
            new=EntryJson.of(change.new),
            hashes=ChangedHashesJson.of(change),
            signer=SignersJson(old=SignerJson.of(change.old_signer), new=SignerJson.of(change.new_signer)),
            evidence=EvidenceJson.of(change.evidence),
            advisories=AdvisoriesJson.of(change.advisories) if change.advisories is not None else None,
            required_by=[RequirementJson.of(requirement) for requirement in change.required_by],
            findings=[FindingJson.of(finding) for finding in change.findings],
        )


class RootJson(JsonStruct, frozen=True):
    """One root module's lock file, compared; findings are those that concern no single change."""

    path: str
    lock_file: str
    renamed_from: str | None
    tool: ToolName
    status: LockStatus
    format_only: bool
    configuration: ConfigurationJson
    conflict: ConflictJson | None
    changes: list[ChangeJson]
    findings: list[FindingJson]

    @classmethod
    def of(cls, root: RootReview) -> RootJson:
        """Describe a root."""
        return cls.like(
            root,
            tool=root.tool.name,
            configuration=ConfigurationJson.of(root.configuration),
            conflict=ConflictJson.of(root.new.conflict),
            changes=[ChangeJson.of(change) for change in root.changes],
            findings=[FindingJson.of(finding) for finding in root.findings],
        )


class AddedHashesJson(JsonStruct, frozen=True):
    """The number of added hashes of all changes."""

    added: Count
    explained: Explained
    reported: Reported
    unverified: NotVerified


class SeverityCountsJson(JsonStruct, frozen=True):
    """The number of findings of each severity, without accepted ones."""

    block: Count
    warn: Count
    info: Count

    @classmethod
    def of(cls, counts: Mapping[Severity, int]) -> SeverityCountsJson:
        """Describe counts of every severity."""
        return cls(**{severity.value: count for severity, count in counts.items()})


class ReviewSummaryJson(JsonStruct, frozen=True):
    """The whole review in numbers; changes are counted by kind, and a kind of none is left out."""

    changes: Annotated[dict[str, FromOne], keyed_by(_LISTED)]
    distinct_changes: Count
    hashes: AddedHashesJson
    findings: Annotated[
        SeverityCountsJson, Meta(description="Distinct findings: one about the same change in many roots counts once.")
    ]
    listed_findings: Annotated[
        SeverityCountsJson, Meta(description="All findings of this document, without accepted ones; SARIF has as many.")
    ]
    accepted: Count
    unverified: Unverified | None
    verdict: ReviewVerdict

    @classmethod
    def of(cls, review: Review) -> ReviewSummaryJson:
        """Count a review."""
        hashes = review.hashes
        return cls.like(
            review,
            changes=dict(Counter(change.kind.value for change in review.changes)),
            hashes=AddedHashesJson(hashes.total, hashes.explained, hashes.reported, hashes.unverified),
            findings=SeverityCountsJson.of(review.severity_counts),
            listed_findings=SeverityCountsJson.of(listed_counts(review)),
        )


class ReviewDocument(JsonStruct, frozen=True, tag_field="schema", tag=1):
    """A review: the changes of the lock files, judged. Findings are those that concern no root."""

    run: RunJson
    base: SideJson
    head: SideJson
    findings: list[FindingJson]
    roots: Collection[RootJson]
    summary: ReviewSummaryJson

    @classmethod
    def of(cls, review: Review) -> ReviewDocument:
        """Return the document of a review."""
        return cls(
            run=RunJson.of(review),
            base=SideJson.like(review.base),
            head=SideJson.like(review.head),
            findings=[FindingJson.of(finding) for finding in review.own_findings],
            roots=Each(RootJson.of, review.roots),
            summary=ReviewSummaryJson.of(review),
        )
