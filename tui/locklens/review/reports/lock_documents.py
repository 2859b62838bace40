"""The JSON documents about locked entries, schema 1: the proof of each hash, and the signers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection  # noqa: TC003  # evaluated by msgspec
from functools import partial
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from locklens.policy.model import InstallPath  # noqa: TC001  # evaluated by msgspec
from locklens.review import EXPLAINED, VERIFIED, HashCount, Proof
from locklens.review.model import Unverified  # noqa: TC001  # evaluated by msgspec
from locklens.review.reports import survey_verdict
from locklens.review.reports.documents import (
    Count,
    Each,
    EvidenceJson,
    FindingJson,
    FromOne,
    HashJson,
    JsonStruct,
    KeyJson,
    PackageOrPlace,
    Reported,
    RootPath,
    RuleId,
    RunJson,
    SignerJson,
    SurveyVerdict,
    ToolName,
    keyed_by,
)
from locklens.trust import Tier  # noqa: TC001  # evaluated by msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.policy import Pin, Policy
    from locklens.review.coverage import PathCover, ProviderCoverage
    from locklens.review.keys import PastUse, SignerUses, Use
    from locklens.review.model import Change, Review, RootReview
    from locklens.review.reports.documents import PackageJson

    Packages = Mapping[tuple[str, ProviderAddress], Sequence[PackageJson]]
    Past = Mapping[str, Sequence[PastUse]]


class PathCoverJson(JsonStruct, frozen=True):
    """The platforms that have a hash which one install path accepts."""

    path: InstallPath
    covered: Annotated[list[str], Meta(description="Platforms with a locked hash that this path accepts.")]
    missing: Annotated[list[str], Meta(description="Platforms that cannot.")]
    unknown: Annotated[
        list[str], Meta(description="Platforms that may be covered by a locked hash whose platform is unknown.")
    ]

    @classmethod
    def of(cls, one: PathCover) -> PathCoverJson:
        """Describe the coverage of a path."""
        return cls.like(one, unknown=one.doubtful)


class CoverageJson(JsonStruct, frozen=True):
    """The platforms that a provider's locked hashes can install."""

    platforms: Annotated[
        list[str],
        Meta(description="The required platforms; if none are required, the known platforms of the locked hashes."),
    ]
    wanted: Annotated[bool, Meta(description="True if the policy requires the platforms.")]
    covered: Annotated[list[str], Meta(description="Platforms with a locked hash that every path accepts.")]
    paths: list[PathCoverJson]

    @classmethod
    def of(cls, provider: ProviderCoverage) -> CoverageJson:
        """Describe a provider's coverage."""
        return cls.like(provider, wanted=provider.is_wanted)


class LockedProviderJson(JsonStruct, frozen=True):
    """A locked provider with the proof of each of its hashes."""

    provider: str
    version: str
    line: FromOne
    explained: Annotated[Count, Meta(description=f"Locked hashes whose proof is {EXPLAINED}.")]
    reported: Reported
    unverified: Annotated[Count, Meta(description=f"Locked hashes whose proof is not {VERIFIED}.")]
    coverage: CoverageJson
    hashes: list[HashJson]
    packages: Annotated[
        list[PackageOrPlace] | None,
        Meta(
            description="With --verify: the packages of this machine, each compared with the locked hashes, "
            "and the places that were not looked at; otherwise null."
        ),
    ]
    signer: SignerJson | None
    evidence: EvidenceJson | None
    findings: list[FindingJson]

    @classmethod
    def of(cls, change: Change, policy: Policy, packages: Sequence[PackageJson] | None) -> LockedProviderJson:
        """Describe the new side of a change."""
        from locklens.review.coverage import coverage

        assert change.new is not None
        return cls.like(
            HashCount.of(change.locked),
            provider=change.address,
            version=change.new.version,
            line=change.new.line,
            coverage=coverage(change, policy),
            hashes=change.locked,
            packages=packages,
            signer=change.new_signer,
            evidence=change.evidence,
            findings=change.findings,
        )


class LockedRootJson(JsonStruct, frozen=True):
    """A lock file with all of its providers."""

    path: RootPath
    lock_file: str
    tool: ToolName
    providers: list[LockedProviderJson]
    findings: list[FindingJson]

    @classmethod
    def of(cls, root: RootReview, policy: Policy, packages: Packages | None) -> LockedRootJson:
        """Describe a root."""
        return cls.like(
            root,
            tool=root.tool.name,
            providers=[
                LockedProviderJson.of(
                    change, policy, packages.get((root.lock_file, change.address), []) if packages else None
                )
                for change in root.changes
                if change.new is not None
            ],
        )


class RequiredPlatformJson(JsonStruct, frozen=True):
    """A platform that the policy requires, and why."""

    platform: str
    why: str


class LocalPathsJson(JsonStruct, frozen=True):
    """Install paths of the CLI configuration: they apply to this machine's platform if the policy names none."""

    platform: str | None
    install_paths: list[InstallPath]

    @classmethod
    def of(cls, policy: Policy) -> LocalPathsJson:
        """Describe those of a policy."""
        return cls.like(policy, platform=policy.local_platform, install_paths=sorted(policy.local_paths))


class CoveragePolicyJson(JsonStruct, frozen=True):
    """What the policy requires of locked hashes."""

    platforms: list[RequiredPlatformJson]
    install_paths: list[InstallPath]
    local: LocalPathsJson

    @classmethod
    def of(cls, policy: Policy) -> CoveragePolicyJson:
        """Describe a policy."""
        return cls.like(policy, install_paths=policy.paths_in_order, local=policy)


class HashesSummaryJson(JsonStruct, frozen=True):
    """The numbers of all locked hashes."""

    hashes: Annotated[Count, Meta(description="Locked hashes of all roots.")]
    explained: Annotated[Count, Meta(description=f"Those whose proof is {EXPLAINED}.")]
    reported: Reported
    unverified_hashes: Annotated[Count, Meta(description=f"Those whose proof is not {VERIFIED}.")]
    proofs: Annotated[
        dict[str, FromOne],
        keyed_by(Proof),
        Meta(description="Locked hashes by proof; a proof that no hash has is left out."),
    ]
    unverified: Unverified | None
    verdict: SurveyVerdict


class HashesDocument(JsonStruct, frozen=True, tag_field="schema", tag=1):
    """The proof of each locked hash."""

    run: RunJson
    policy: CoveragePolicyJson
    roots: Collection[LockedRootJson]
    summary: HashesSummaryJson

    @classmethod
    def of(cls, review: Review, *, packages: Packages | None = None) -> HashesDocument:
        """Return the document of a review with unchanged providers; packages are None if they were not compared."""
        facts = [fact for root in review.roots for change in root.changes for fact in change.locked]
        counts = HashCount.of(facts)
        return cls(
            run=RunJson.of(review),
            policy=CoveragePolicyJson.of(review.policy),
            roots=Each(partial(LockedRootJson.of, policy=review.policy, packages=packages), review.roots),
            summary=HashesSummaryJson.like(
                counts,
                hashes=len(facts),
                unverified_hashes=counts.unverified,
                proofs=dict(Counter(fact.proof.value for fact in facts)),
                unverified=review.unverified,
                verdict=survey_verdict(review),
            ),
        )


class UseJson(JsonStruct, frozen=True):
    """A locked release that a signer signed."""

    provider: str
    version: str
    lock_files: list[str]
    as_of: str | None
    problem: Annotated[str | None, Meta(description="Why the signer is unknown; null if it is known.")]
    doubts: Annotated[
        list[RuleId],
        Meta(description="Rules whose findings say how the locked hashes differ from those of the signed release."),
    ]

    @classmethod
    def of(cls, use: Use) -> UseJson:
        """Describe a use."""
        doubts = list(dict.fromkeys(rule for _, rule, _ in use.doubts))
        return cls.like(use, provider=use.address, problem=use.problem or None, doubts=doubts)


class PastUseJson(JsonStruct, frozen=True):
    """A release that was locked before, with the last commit that wrote it to a lock file."""

    provider: str
    version: str
    commit: Annotated[str, Meta(pattern="^[0-9a-f]{40}([0-9a-f]{24})?$")]
    date: str
    tier: Tier
    key: KeyJson | None
    problem: str | None

    @classmethod
    def of(cls, use: PastUse) -> PastUseJson:
        """Describe an earlier use."""
        return cls.like(use, provider=use.address, problem=use.problem or None)


class PinJson(JsonStruct, frozen=True):
    """A pin of the policy in force that covers a release of a signer."""

    name: Annotated[str, Meta(description="A namespace, or HOST/NAMESPACE.")]
    by: str | None
    on: str | None
    why: str | None
    review_by: str | None
    line: int
    keys: Annotated[list[str], Meta(description="The full fingerprints of the keys that it permits.")]

    @classmethod
    def of(cls, pin: Pin) -> PinJson:
        """Describe a pin."""
        return cls.like(pin, by=pin.by or None, why=pin.why or None)


class SignerUsesJson(JsonStruct, frozen=True):
    """A signer with all locked releases that it signed."""

    tier: Tier
    key: Annotated[KeyJson | None, Meta(description="Null for unsigned releases and unknown signers.")]
    uses: Annotated[list[UseJson], Meta(min_length=1)]
    pins: Annotated[list[PinJson], Meta(description="Empty where the policy pins the key for none of these releases.")]
    rejecting: Annotated[
        list[PinJson],
        Meta(description="Pins that cover one of these releases and permit other keys alone, as LK010 says."),
    ]
    history: Annotated[
        list[PastUseJson] | None,
        Meta(description="Versions that were locked before; null without --history or without a key."),
    ]

    @classmethod
    def of(cls, signer: SignerUses, past: Past | None) -> SignerUsesJson:
        """Describe a signer; `KeysDocument.of` describes `past`."""
        before = past.get(signer.key.fingerprint, ()) if past is not None and signer.key is not None else None
        return cls.like(signer, history=before)


class KeysSummaryJson(JsonStruct, frozen=True):
    """The verdict of the review."""

    unverified: Unverified | None
    verdict: SurveyVerdict


class KeysDocument(JsonStruct, frozen=True, tag_field="schema", tag=1):
    """The signers of the locked releases."""

    run: RunJson
    signers: list[SignerUsesJson]
    summary: KeysSummaryJson

    @classmethod
    def of(cls, review: Review, past: Past | None = None) -> KeysDocument:
        """Return that of a review with unchanged providers; `past` has earlier releases by a key's fingerprint."""
        from locklens.review.keys import signers

        return cls(
            run=RunJson.of(review),
            signers=[SignerUsesJson.of(one, past) for one in signers(review)],
            summary=KeysSummaryJson(unverified=review.unverified, verdict=survey_verdict(review)),
        )
