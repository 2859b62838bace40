"""The health of roots as the JSON document of schema 1."""

from __future__ import annotations

from collections.abc import Collection  # noqa: TC003  # evaluated by msgspec
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from locklens.review.health_remedies import commands_text, remedy
from locklens.review.reports.documents import (
    Count,
    Each,
    FindingJson,
    FromOne,
    JsonStruct,
    RootPath,
    RuleId,
    RunJson,
    ShownSeverity,
    SurveyVerdict,
    ToolName,
)
from locklens.review.reports.review_document import SeverityCountsJson  # noqa: TC001  # evaluated by msgspec

if TYPE_CHECKING:
    from locklens.review.health import CheckResult, Health, Spread
    from locklens.review.model import RootReview


class ProviderFindingJson(FindingJson, frozen=True):
    """A finding, with the provider that it is about."""

    provider: Annotated[
        str | None, Meta(description="The provider that it is about; null for a finding about the file or the root.")
    ]


class HealthRootJson(JsonStruct, frozen=True):
    """A root with its findings."""

    path: RootPath
    lock_file: Annotated[str | None, Meta(description="Null if the root has no lock file.")]
    tool: ToolName
    unread: Annotated[
        str | None, Meta(description="Why not all that requires its providers can be read; null if it can.")
    ]
    findings: list[ProviderFindingJson]

    @classmethod
    def of(cls, root: RootReview, health: Health) -> HealthRootJson:
        """Describe a root."""
        return cls.like(
            root,
            lock_file=root.lock_file if root.new.exists else None,
            tool=root.tool.name,
            unread=health.reach[root.path].unread or None,
        )


class CheckJson(JsonStruct, frozen=True):
    """The roots that a check concerns."""

    id: Annotated[str, Meta(pattern="^[a-z-]+$")]
    title: str
    rules: Annotated[list[RuleId], Meta(min_length=1)]
    severity: Annotated[ShownSeverity | None, Meta(description="The worst of its findings.")]
    locks: Annotated[Count, Meta(description="The number of roots with a finding.")]
    providers: Annotated[
        Count, Meta(description="The number of providers in the findings; 0 where they are about files.")
    ]
    unknown: Annotated[Count, Meta(description="The number of roots for which the result of the check is unknown.")]
    reason: Annotated[str | None, Meta(description="Why the result is unknown, or why the check was not made.")]
    command: Annotated[
        str | None, Meta(description="One or more shell commands, joined by &&, that act on all roots of the check.")
    ]
    by_hand: Annotated[list[str], Meta(description="What has to be done by hand, in sentences.")]
    left_out: Annotated[
        list[str], Meta(description="The roots and providers that the command cannot fix yet, each with the reason.")
    ]

    @classmethod
    def of(cls, result: CheckResult, health: Health) -> CheckJson:
        """Describe a check's result."""
        found = remedy(result.check, health)
        return cls.like(
            result,
            id=result.check.id,
            title=result.check.title,
            rules=result.check.rules,
            locks=len(result.roots),
            providers=len(result.providers),
            reason=result.reason or None,
            command=commands_text(result.check, found, health) or None,
            by_hand=found.by_hand,
            left_out=[one.sentence for one in found.left_out],
        )


class VersionSpreadJson(JsonStruct, frozen=True):
    """A version, and the number of roots that lock it."""

    version: str
    roots: FromOne


class SpreadJson(JsonStruct, frozen=True):
    """The locked versions of a provider, the newest first."""

    provider: str
    versions: Annotated[list[VersionSpreadJson], Meta(min_length=1)]

    @classmethod
    def of(cls, spread: Spread) -> SpreadJson:
        """Describe a spread."""
        return cls.like(spread, versions=[VersionSpreadJson(str(version), roots) for version, roots in spread.versions])


class HealthSummaryJson(JsonStruct, frozen=True):
    """The numbers of all roots."""

    roots: Count
    ok: Annotated[
        Count,
        Meta(description="Roots without a warning or worse, for which no check is unknown (but of LK044 and LK046)."),
    ]
    unknown: Annotated[
        Count,
        Meta(description="Roots without a warning or worse, for which some check is unknown (but of LK044 and LK046)."),
    ]
    worse: Annotated[Count, Meta(description="All other roots: those with a warning or worse.")]
    locks: Annotated[Count, Meta(description="Lock files on disk.")]
    providers: Count
    versions: Annotated[Count, Meta(description="Distinct pairs of provider and version.")]
    hashes: Annotated[Count, Meta(description="Locked hashes of all roots.")]
    unverified_hashes: Annotated[
        Count,
        Meta(description="Those that are neither signed nor computed from a signed package; no check counts them."),
    ]
    findings: Annotated[
        SeverityCountsJson,
        Meta(description="Findings that the checks count; one that only calls something unknown counts as `unknown`."),
    ]
    verdict: SurveyVerdict


class HealthDocument(JsonStruct, frozen=True, tag_field="schema", tag=1):
    """The health of roots."""

    run: RunJson
    roots: Collection[HealthRootJson]
    checks: Annotated[list[CheckJson], Meta(description="One item for every check, in the order of the text report.")]
    spread: list[SpreadJson]
    summary: HealthSummaryJson

    @classmethod
    def of(cls, health: Health) -> HealthDocument:
        """Return the document of a scan."""
        review = health.review
        return cls(
            run=RunJson.of(review),
            roots=Each(lambda root: HealthRootJson.of(root, health), review.roots),
            checks=[CheckJson.of(result, health) for result in health.checks],
            spread=[SpreadJson.of(one) for one in health.spread],
            summary=HealthSummaryJson.like(
                health,
                roots=len(review.roots),
                locks=review.lock_files,
                providers=len(health.spread),
                versions=sum(len(one.versions) for one in health.spread),
                hashes=health.hashes.total,
                unverified_hashes=health.hashes.unverified,
                findings=health.counts,
            ),
        )
