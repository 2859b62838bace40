"""The reasons for a provider and its version as the JSON document of schema 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta
from msgspec.structs import asdict

from locklens.project.configuration import Contributor  # noqa: TC001  # evaluated by msgspec
from locklens.review.reports.documents import (
    ConfigurationJson,
    Count,
    FindingJson,
    FromOne,
    JsonStruct,
    OverriddenJson,
    RequirementJson,
    ToolName,
)
from locklens.selection import Reason, Selection

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.project.configuration import Configuration, Requirement
    from locklens.review.why import RootWhy, Why
    from locklens.selection import (
        ConstraintConflict,
        Demand,
        Explanation,
        HeldBack,
        Hold,
        Newest,
        Unselectable,
        VersionChoices,
    )
    from locklens.versions import Version


class PlaceJson(JsonStruct, frozen=True):
    """The place of a requirement; module is "" for the root module."""

    file: str
    line: FromOne
    module: str


class NamedRequirementJson(RequirementJson, frozen=True):
    """A requirement and what requires it; `count` is the number of others like it in the module."""

    contributor: Contributor
    subject: str
    count: FromOne

    @classmethod
    def of(cls, requirement: Requirement) -> NamedRequirementJson:
        """Describe a requirement."""
        return cls.like(requirement, overrides=OverriddenJson.of(requirement))


class AskerJson(JsonStruct, frozen=True):
    """A module that requires the provider."""

    module: str
    declared: list[NamedRequirementJson]
    uses: list[NamedRequirementJson]


class DemandJson(JsonStruct, frozen=True):
    """One comparison of a constraint, with the requirements that contain it."""

    term: str
    required_by: list[PlaceJson]

    @classmethod
    def of(cls, demand: Demand) -> DemandJson:
        """Describe a demand."""
        return cls(str(demand.term), [PlaceJson.like(one) for one in demand.requirements])


class HoldJson(JsonStruct, frozen=True):
    """One thing that holds a version back; term and required_by are those of a constraint."""

    reason: Reason
    term: str | None
    required_by: list[PlaceJson]
    names: list[str]

    @classmethod
    def of(cls, hold: Hold) -> HoldJson:
        """Describe a hold."""
        demand = hold.demand
        return cls.like(
            hold,
            term=str(demand.term) if demand else None,
            required_by=[PlaceJson.like(one) for one in demand.requirements] if demand else [],
        )


class HeldJson(JsonStruct, frozen=True):
    """Versions with the same holds."""

    versions: Annotated[list[str], Meta(min_length=1)]
    held_by: list[HoldJson]

    @classmethod
    def of(cls, group: HeldBack) -> HeldJson:
        """Describe versions that are held back."""
        return cls([str(version) for version in group.versions], [HoldJson.of(hold) for hold in group.holds])


class OutcomeJson(JsonStruct, frozen=True):
    """The version that is selected, or why none can be, with the nearest ones."""

    version: str | None
    obstacle: str | None
    nearest: list[HeldJson]

    @classmethod
    def of(cls, outcome: Selection | Unselectable) -> OutcomeJson:
        """Describe the outcome of a selection."""
        if isinstance(outcome, Selection):
            return cls(version=str(outcome.version), obstacle=None, nearest=[])
        return cls(version=None, obstacle=outcome.obstacle.value, nearest=[HeldJson.of(one) for one in outcome.held])


class NewestJson(JsonStruct, frozen=True):
    """The newest offered versions of several kinds."""

    overall: str | None
    in_range: str | None
    same_major: str | None
    same_minor: str | None

    @classmethod
    def of(cls, newest: Newest) -> NewestJson:
        """Describe the newest versions."""
        return cls(*map(_text, (newest.overall, newest.in_range, newest.same_major, newest.same_minor)))


class OfferJson(JsonStruct, frozen=True):
    """What a registry offers: the selections of init, init -upgrade and upgrade, and the newer versions."""

    init: OutcomeJson
    upgrade: OutcomeJson
    recommended: str | None
    has_locked: bool
    newest: NewestJson
    newer: list[HeldJson]

    @classmethod
    def of(cls, offer: VersionChoices | None) -> OfferJson | None:
        """Describe a registry's list; None if it was not asked."""
        if offer is None:
            return None
        return cls.like(
            offer,
            init=OutcomeJson.of(offer.as_locked),
            upgrade=OutcomeJson.of(offer.upgraded),
            recommended=_text(offer.recommended),
            newest=NewestJson.of(offer.newest),
            newer=[HeldJson.of(one) for one in offer.newer],
        )


class LockedJson(JsonStruct, frozen=True):
    """The provider's entry; satisfies is null where nothing requires the provider."""

    version: str
    constraints: str
    line: FromOne
    satisfies: bool | None
    held_by: list[HoldJson]

    @classmethod
    def of(cls, explanation: Explanation) -> LockedJson | None:
        """Describe a provider's explanation; None where it is not locked."""
        entry, against = explanation.locked, explanation.against
        if entry is None:
            return None
        return cls.like(
            entry,
            version=str(entry.version),
            satisfies=against is None if explanation.requirements else None,
            held_by=[HoldJson.of(hold) for hold in against.holds] if against else [],
        )


class DoubtedConfigurationJson(ConfigurationJson, frozen=True):
    """A configuration, and why it is unknown whether providers are required; "" if it is known."""

    unknown: str

    @classmethod
    def of(cls, configuration: Configuration | None) -> DoubtedConfigurationJson:
        """Describe a configuration."""
        unknown = configuration.unknown_reason if configuration is not None else ""
        return cls(**asdict(ConfigurationJson.of(configuration)), unknown=unknown)


class WhyRootJson(JsonStruct, frozen=True):
    """The reasons in one root."""

    path: str
    lock_file: str | None
    tool: ToolName
    provider: str
    locked: LockedJson | None
    constraints: str
    in_effect: str | None
    conflicts: list[Annotated[list[DemandJson], Meta(min_length=1)]]
    required_by: list[AskerJson]
    configuration: DoubtedConfigurationJson
    registry: OfferJson | None
    registry_silent: str | None
    findings: list[FindingJson]

    @classmethod
    def of(cls, root: RootWhy) -> WhyRootJson:
        """Describe a root's answer."""
        explanation = root.explanation
        return cls.like(
            root,
            tool=root.tool.name,
            provider=str(explanation.address),
            locked=LockedJson.of(explanation),
            constraints=str(explanation.constraints),
            in_effect=None if explanation.conflicts else str(explanation.essential),
            conflicts=_conflicts(explanation.conflicts),
            required_by=[
                AskerJson(
                    module=asker.module,
                    declared=[NamedRequirementJson.of(one) for one in asker.declared],
                    uses=[NamedRequirementJson.of(one) for one in asker.uses],
                )
                for asker in explanation.askers
            ],
            configuration=DoubtedConfigurationJson.of(root.configuration),
            registry=OfferJson.of(explanation.offer),
            registry_silent=root.silence or None,
            findings=[FindingJson.of(finding) for finding in root.findings],
        )


class UnsureJson(JsonStruct, frozen=True):
    """A root that may require the provider, with the reason for the doubt."""

    path: str
    reason: str


class WhyDocument(JsonStruct, frozen=True, tag_field="schema", tag=1):
    """The reasons for a provider and its version; others is the number of the remaining roots."""

    asked: str
    roots: list[WhyRootJson]
    unsure: list[UnsureJson]
    others: Count

    @classmethod
    def of(cls, why: Why) -> WhyDocument:
        """Return the document of an answer."""
        return cls(
            asked=why.asked,
            roots=[WhyRootJson.of(root) for root in why.roots],
            unsure=[UnsureJson.like(one) for one in why.unsure],
            others=why.others,
        )


def _conflicts(conflicts: Iterable[ConstraintConflict]) -> list[list[DemandJson]]:
    return [[DemandJson.of(demand) for demand in conflict] for conflict in conflicts]


def _text(version: Version | None) -> str | None:
    return None if version is None else str(version)
