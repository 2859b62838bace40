"""The objects that several JSON documents of a review share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from locklens.review.model import Proof, Severity  # evaluated by msgspec
from locklens.review.reports.documents import Count, FromOne, Instant, JsonStruct, one_of
from locklens.trust import Tier  # noqa: TC001  # evaluated by msgspec

if TYPE_CHECKING:
    from locklens.project.configuration import Configuration, Requirement
    from locklens.review.model import Accepted, Evidence, Finding, HashCount, HashFact
    from locklens.trust import Signer, SigningKey

RuleId = Annotated[str, Meta(pattern="^LK[0-9]{3}$")]
ReviewVerdict = Annotated[str, one_of("block", "warn", "ok")]
ShownSeverity = Annotated[Severity, one_of("block", "warn", "info")]
"""The severity of a finding that a document has: one that is off is in none."""


class AcceptedJson(JsonStruct, frozen=True):
    """The acceptance of a finding, which then no longer counts."""

    reason: str
    by: str | None
    on: str | None
    until: str | None

    @classmethod
    def of(cls, accepted: Accepted) -> AcceptedJson:
        """Describe an acceptance."""
        return cls(reason=accepted.reason, by=accepted.by or None, on=accepted.on or None, until=accepted.until or None)


class FindingJson(JsonStruct, frozen=True):
    """One rule's verdict; line is null where it is about the whole file."""

    rule: RuleId
    severity: ShownSeverity
    message: str
    file: str
    line: FromOne | None
    column: FromOne | None
    accepted: AcceptedJson | None

    @classmethod
    def of(cls, finding: Finding) -> FindingJson:
        """Describe a finding."""
        return cls(
            rule=finding.rule,
            severity=finding.severity,
            message=finding.message,
            file=finding.file,
            line=finding.line,
            column=finding.column,
            accepted=AcceptedJson.of(finding.accepted) if finding.accepted is not None else None,
        )


class HashJson(JsonStruct, frozen=True):
    """A hash with its proof; platform is null where it is unknown."""

    hash: str
    platform: str | None
    proof: Proof

    @classmethod
    def of(cls, fact: HashFact) -> HashJson:
        """Describe a hash."""
        return cls(hash=fact.hash, platform=fact.platform, proof=fact.proof)


def explained(count: HashCount) -> int:
    """Return how many hashes are explained, if only by the registry's own report."""
    return count.total - count.unverified + count.reported


class KeyJson(JsonStruct, frozen=True):
    """A signing key; the names that it claims are not verified."""

    fingerprint: Annotated[str, Meta(pattern="^([0-9A-F]{40}|[0-9A-F]{64})$")]
    key_id: Annotated[str, Meta(pattern="^[0-9A-F]{16}$")]
    user_ids: list[str]
    algorithm: str
    created: str
    expires: str | None
    expired: bool
    revoked: bool

    @classmethod
    def of(cls, key: SigningKey) -> KeyJson:
        """Describe a key; times become days."""
        return cls(
            fingerprint=key.fingerprint,
            key_id=key.key_id,
            user_ids=list(key.user_ids),
            algorithm=key.algorithm,
            created=key.created[:10],
            expires=key.expires[:10] if key.expires else None,
            expired=key.expired,
            revoked=key.revoked,
        )


class SignerJson(JsonStruct, frozen=True):
    """The signer of a version."""

    version: str
    tier: Tier
    keys: list[KeyJson]

    @classmethod
    def of(cls, signer: Signer | None) -> SignerJson | None:
        """Describe a signer; None if it is unknown."""
        if signer is None:
            return None
        return cls(version=signer.version, tier=signer.tier, keys=[KeyJson.of(key) for key in signer.keys])


class ToProveJson(JsonStruct, frozen=True):
    """The packages to hash for what is not proven, at most, and their size in bytes; null if unknown."""

    packages: Count
    bytes: Count | None


class EvidenceJson(JsonStruct, frozen=True):
    """The state of the facts behind a change; hint is "" without a next step."""

    as_of: Instant | None
    problems: list[str]
    hint: str
    mirrors: list[str]
    to_prove: ToProveJson

    @classmethod
    def of(cls, evidence: Evidence | None) -> EvidenceJson | None:
        """Describe evidence; None until the facts are settled."""
        if evidence is None:
            return None
        return cls(
            as_of=evidence.as_of,
            problems=list(evidence.problems),
            hint=evidence.hint,
            mirrors=list(evidence.mirrors),
            to_prove=ToProveJson(packages=evidence.to_prove, bytes=evidence.to_prove_bytes),
        )


class OverriddenJson(JsonStruct, frozen=True):
    """A requirement that an override file replaced."""

    file: str
    line: FromOne
    constraint: str


class RequirementJson(JsonStruct, frozen=True):
    """The place and the constraint of a requirement; module is "" for the root module."""

    file: str
    line: FromOne
    module: str
    constraint: str
    overrides: OverriddenJson | None

    @classmethod
    def of(cls, requirement: Requirement) -> RequirementJson:
        """Describe a requirement."""
        hidden = requirement.overrides
        return cls(
            file=requirement.file,
            line=requirement.line,
            module=requirement.module,
            constraint=requirement.constraint,
            overrides=OverriddenJson(hidden.file, hidden.line, hidden.constraint) if hidden else None,
        )


class ConfigurationErrorJson(JsonStruct, frozen=True):
    """An error of the configuration."""

    file: str
    line: FromOne | None
    message: str


class ConfigurationJson(JsonStruct, frozen=True):
    """What is known of a configuration: all of it if complete is true."""

    complete: bool
    missing_modules: list[str]
    errors: list[ConfigurationErrorJson]

    @classmethod
    def of(cls, configuration: Configuration | None) -> ConfigurationJson:
        """Describe a configuration; of none if it was not read."""
        if configuration is None:
            return cls(complete=False, missing_modules=[], errors=[])
        return cls(
            complete=configuration.complete,
            missing_modules=[module.call for module in configuration.missing_modules],
            errors=[
                ConfigurationErrorJson(problem.file, problem.line, f"{problem.summary}: {problem.detail}")
                for problem in configuration.problems
                if problem.is_error
            ],
        )
