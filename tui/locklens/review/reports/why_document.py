"""The reasons for a provider and its version as the JSON document of schema 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from locklens.project.configuration import Contributor  # noqa: TC001  # evaluated by msgspec
from locklens.review.reports.documents import (
    ConfigurationJson,
    ConstrainedJson,
    Count,
    FindingJson,
    FromOne,
    JsonStruct,
    RequirementJson,
    ToolName,
)
from locklens.selection import Reason, Selection

if TYPE_CHECKING:
    from locklens.review.why import RootWhy, Why
    from locklens.selection import Demand, Explanation, HeldBack, Hold, Unselectable, VersionChoices


class PlaceJson(ConstrainedJson, frozen=True):
    """The place of a constraint; module is "" for the root module."""

    module: str


class NamedRequirementJson(RequirementJson, frozen=True):
    """A requirement and what requires it; `count` is the number of others like it in the module."""

    contributor: Contributor
    subject: str
    count: FromOne


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
        return cls.like(demand, required_by=demand.requirements)


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
        return cls.like(hold, term=demand.term if demand else None, required_by=demand.requirements if demand else ())


class HeldJson(JsonStruct, frozen=True):
    """Versions with the same holds."""

    versions: Annotated[list[str], Meta(min_length=1)]
    held_by: list[HoldJson]

    @classmethod
    def of(cls, group: HeldBack) -> HeldJson:
        """Describe versions that are held back."""
        return cls.like(group, held_by=group.holds)


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
        return cls(version=None, obstacle=outcome.obstacle.value, nearest=list(map(HeldJson.of, outcome.held)))


class NewestJson(JsonStruct, frozen=True):
    """The newest offered versions of several kinds."""

    overall: str | None
    in_range: str | None
    same_major: str | None
    same_minor: str | None


class OfferJson(JsonStruct, frozen=True):
    """What a registry offers: the selections of init, init -upgrade and upgrade, and the newer versions."""

    init: OutcomeJson
    upgrade: OutcomeJson
    recommended: str | None
    has_locked: bool
    newest: NewestJson
    newer: list[HeldJson]

    @classmethod
    def of(cls, offer: VersionChoices) -> OfferJson:
        """Describe a registry's list."""
        return cls.like(offer, init=offer.as_locked, upgrade=offer.upgraded)


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
            satisfies=against is None if explanation.requirements else None,
            held_by=against.holds if against else (),
        )


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
    configuration: ConfigurationJson
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
            provider=explanation.address,
            locked=LockedJson.of(explanation),
            constraints=explanation.constraints,
            in_effect=None if explanation.conflicts else explanation.essential,
            conflicts=explanation.conflicts,
            required_by=explanation.askers,
            registry=explanation.offer,
            registry_silent=root.silence or None,
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
        return cls.like(why)
