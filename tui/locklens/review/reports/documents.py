"""JSON documents as types: what all of them are made of, the run, and packages of this machine.

A document is a `JsonStruct` that its class method `of` makes from values of the domain. msgspec encodes its fields in
their order, and its JSON Schema is made of the same fields: see `operations/reports.py`. Its tag, `schema`, is raised
where a key changes its meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.review.model import HostState, Review


def one_of(*values: str) -> Meta:
    """Constrain a string to some values, for strings that are no enumeration in the program."""
    return Meta(extra_json_schema={"enum": list(values)})


def keyed_by(names: Iterable[str]) -> Meta:
    """Constrain the keys of an object."""
    return Meta(extra_json_schema={"propertyNames": {"enum": list(names)}})


Count = Annotated[int, Meta(ge=0)]
FromOne = Annotated[int, Meta(ge=1)]
Instant = Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]
RootPath = Annotated[str, Meta(description='Relative to the repository\'s top; "" for the top itself.')]
ToolName = Annotated[str, one_of("terraform", "opentofu")]


class JsonStruct(Struct, frozen=True, forbid_unknown_fields=True):
    """An object of a JSON document."""


class HostJson(JsonStruct, frozen=True):
    """The contact with a registry."""

    host: str
    asked: bool
    as_of: str | None
    error: str | None

    @classmethod
    def of(cls, host: HostState) -> HostJson:
        """Describe a host's state."""
        return cls(host=host.host, asked=host.asked, as_of=host.as_of, error=host.error)


class PolicyOriginJson(JsonStruct, frozen=True):
    """The policy that applied; file is null where there is none."""

    file: str | None
    side: Annotated[str, one_of("base", "head", "given", "none")]


class RunJson(JsonStruct, frozen=True):
    """The run itself."""

    at: Instant
    offline: bool
    policy: PolicyOriginJson
    hosts: list[HostJson]
    notes: list[str]

    @classmethod
    def of(cls, review: Review) -> RunJson:
        """Describe the run of a review."""
        return cls(
            at=review.at,
            offline=review.offline,
            policy=PolicyOriginJson(file=review.policy.file or None, side=review.policy_side.value),
            hosts=[HostJson.of(host) for host in review.hosts],
            notes=list(review.notes),
        )

    @classmethod
    def without_policy(
        cls, *, at: str, offline: bool, notes: Iterable[str], hosts: Iterable[HostState] = ()
    ) -> RunJson:
        """Describe a run that no policy applies to."""
        return cls(
            at=at,
            offline=offline,
            policy=PolicyOriginJson(file=None, side="none"),
            hosts=[HostJson.of(host) for host in hosts],
            notes=list(notes),
        )


class PackageFileJson(JsonStruct, frozen=True):
    """A file that is not as the publisher signed it."""

    name: str
    state: Annotated[str, one_of("added", "missing", "changed")]


class PackageJson(JsonStruct, frozen=True, kw_only=True):
    """A package of this machine, compared with the locked hashes; or a place that was not looked at, and why.

    A place has the verdict `not-compared`, and its keys are where, path, verdict and reason alone.
    """

    provider: str | UnsetType = UNSET
    version: str | UnsetType = UNSET
    platform: str | UnsetType = UNSET
    where: Annotated[str, one_of("installed", "plugin-cache", "mirror")]
    path: str
    h1: Annotated[str, Meta(pattern="^h1:")] | UnsetType | None = UNSET
    verdict: Annotated[str, one_of("matches", "differs", "unlocked", "missing", "unreadable", "not-compared")]
    reason: str | None
    files: list[PackageFileJson] | UnsetType = UNSET


# One type with keys that may be left out, and not two: msgspec has no union of structs without tags.
_OF_PACKAGE = {
    "required": list(PackageJson.__struct_fields__),
    "not": {"properties": {"verdict": {"const": "not-compared"}}},
}
_OF_PLACE = {"maxProperties": 4, "properties": {"verdict": {"const": "not-compared"}, "reason": {"type": "string"}}}
ComparedPackage = Annotated[PackageJson, Meta(extra_json_schema=_OF_PACKAGE)]
PackageOrPlace = Annotated[PackageJson, Meta(extra_json_schema={"anyOf": [_OF_PACKAGE, _OF_PLACE]})]
