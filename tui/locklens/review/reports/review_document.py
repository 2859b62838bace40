"""A review as the JSON document of schema 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection  # noqa: TC003  # evaluated by msgspec
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from locklens.review import EXPLAINED, VERIFIED
from locklens.review.model import Bump, Change, ChangeKind, LockStatus, Review, RootReview, Unverified
from locklens.review.reports import listed_counts
from locklens.review.reports.advisories import AdvisoriesJson  # noqa: TC001  # evaluated by msgspec
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
    from locklens.review.findings import Severity

_LISTED = [kind for kind in ChangeKind if kind is not ChangeKind.UNCHANGED]
_FIRST = "Hashes that the old side does not lock for this release, also kept ones of another version, whose proof is"
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
        return cls.like(entry, provider=entry.address)


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
    def of(cls, conflict: Conflict) -> ConflictJson:
        """Describe a conflict."""
        return cls.like(conflict, ours=conflict.ours.entries, theirs=conflict.theirs.entries)


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
        return cls.like(change.hashes, added=change.added, removed=change.removed, kept=len(change.kept))


class SignersJson(JsonStruct, frozen=True):
    """The signers of both versions, and of the release next to one that was published again; null if unknown."""

    old: SignerJson | None
    new: SignerJson | None
    neighbour: SignerJson | None

    @classmethod
    def of(cls, change: Change) -> SignersJson:
        """Describe those of a change."""
        return cls.like(change, old=change.old_signer, new=change.new_signer, neighbour=change.neighbour_signer)


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
            provider=change.address,
            bump=change.bump if change.kind is not ChangeKind.UNCHANGED else None,
            hashes=change,
            signer=change,
        )


class RootJson(JsonStruct, frozen=True):
    """One root module's lock file, compared; findings are those that concern no single change."""

    path: str
    lock_file: str
    renamed_from: str | None
    renamed_from_equals: Annotated[
        Count, Meta(description="Other old folders with equal lock files that the root may as well have been in.")
    ]
    renamed_from_unlike: Annotated[
        list[str], Meta(description="Old folders with other lock files that the root may as well have been in.")
    ]
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
            renamed_from_equals=root.context.equals_before,
            renamed_from_unlike=root.context.unlike_before,
            tool=root.tool.name,
            conflict=root.new.conflict,
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
        return cls.like(
            review,
            changes=dict(Counter(change.kind.value for change in review.changes)),
            hashes=AddedHashesJson.like(review.hashes, added=review.hashes.total),
            findings=review.severity_counts,
            listed_findings=listed_counts(review),
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
            findings=[FindingJson.like(finding) for finding in review.own_findings],
            roots=Each(RootJson.of, review.roots),
            summary=ReviewSummaryJson.of(review),
        )
