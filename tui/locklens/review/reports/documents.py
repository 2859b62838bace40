"""JSON documents as types: what all of them are made of, and the objects that several of them have.

A document is a `JsonStruct` that its class method `of` makes from values of the domain; `like` takes those fields over
that a value has by the same name. msgspec encodes its fields in their order, and its JSON Schema is made of the same
fields: see `operations/reports.py`. Its tag, `schema`, is raised where a key changes its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, inspect
from msgspec.structs import replace

from locklens.project.configuration import constraint_place
from locklens.review import Proof  # noqa: TC001  # evaluated by msgspec
from locklens.review.findings import SHOWN_SEVERITIES, Severity
from locklens.text import json_pages
from locklens.trust import Tier  # noqa: TC001  # evaluated by msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Self

    from locklens.project.configuration import Configuration, Hidden, Requirement
    from locklens.review import HashFact
    from locklens.review.findings import Accepted
    from locklens.review.model import Evidence, HostState, Review
    from locklens.text import Printable
    from locklens.trust import SigningKey

_Item_co = TypeVar("_Item_co", covariant=True)
_Subject = TypeVar("_Subject")


def one_of(*values: str) -> Meta:
    """Constrain a string to some values, for strings that are not an enumeration in the program."""
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

    @classmethod
    def like(cls, subject: object, **others: Any) -> Self:
        """Describe a value: each field that is not given is its attribute of the same name.

        The field's type says how it is written: an address as its text, what is an object or a list as such.
        """
        makers = _makers(cls).items()
        return cls(**{name: make(others[name] if name in others else getattr(subject, name)) for name, make in makers})


@cache
def _makers(kind: type[JsonStruct]) -> dict[str, Callable[[Any], Any]]:
    """Return what makes each field of an object of its value."""
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    return {field.name: _maker(field.type) for field in described.fields}


def _maker(kind: inspect.Type) -> Callable[[Any], Any]:
    match kind:
        case inspect.Metadata():
            return _maker(kind.type)
        case inspect.UnionType():
            (maker,) = (_maker(one) for one in kind.types if not isinstance(one, inspect.NoneType))
            return lambda value: None if value is None else maker(value)
        case inspect.ListType():
            item = _maker(kind.item_type)
            return lambda values: list(map(item, values))
        case inspect.StructType():
            return partial(_object, kind.cls)
        case inspect.StrType():
            return str
        case _:
            return lambda value: value


def _object(kind: Any, value: object) -> object:
    """Return the object of a value, by its own `of` if it has one; an object stands for itself."""
    return value if isinstance(value, kind) else getattr(kind, "of", kind.like)(value)


class Each(Collection[_Item_co]):
    """A list of a document whose items are made when they are written: one of thousands of roots is never whole."""

    def __init__(self, make: Callable[[_Subject], _Item_co], subjects: Collection[_Subject]) -> None:
        self._items = partial(map, make, subjects)
        self._length = len(subjects)

    def __iter__(self) -> Iterator[_Item_co]:
        return self._items()

    def __len__(self) -> int:
        return self._length

    def __contains__(self, item: object) -> bool:
        return any(one == item for one in self)


def json_document(document: JsonStruct) -> Iterator[Printable]:
    """Yield a document as JSON, in pieces: the items of each `Each` of its fields one by one."""
    values = {name: getattr(document, name) for name in document.__struct_fields__}
    lists = {name: value for name, value in values.items() if isinstance(value, Each)}
    return json_pages(replace(document, **{name: [] for name in lists}), lists)


class HostJson(JsonStruct, frozen=True):
    """The contact with a registry."""

    host: str
    asked: bool
    as_of: str | None
    error: str | None


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
        return cls.like(review, policy=PolicyOriginJson(file=review.policy.file or None, side=review.policy_side))

    @classmethod
    def without_policy(
        cls, *, at: str, offline: bool, notes: Iterable[str], hosts: Iterable[HostState] = ()
    ) -> RunJson:
        """Describe a run that no policy applies to."""
        return cls(
            at=at,
            offline=offline,
            policy=PolicyOriginJson(file=None, side="none"),
            hosts=[HostJson.like(host) for host in hosts],
            notes=list(notes),
        )


class PackageFileJson(JsonStruct, frozen=True):
    """A file that is not as the publisher signed it."""

    name: str
    state: Annotated[str, one_of("added", "missing", "changed")]


PACKAGE_VERDICTS = {
    "differs": "not as locked",
    "missing": "missing",
    "unreadable": "unreadable",
    "unknown": "cannot be compared",
    "unlocked": "not locked",
    "matches": "as locked",
}
"""The verdicts on packages in words, those first for which a command has the exit status of a finding."""


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
    verdict: Annotated[str, one_of(*PACKAGE_VERDICTS, "not-compared")]
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

RuleId = Annotated[str, Meta(pattern="^LK[0-9]{3}$")]
ReviewVerdict = Annotated[str, one_of("block", "warn", "ok")]
SurveyVerdict = Annotated[str, one_of("block", "warn", "unknown", "ok")]
"""The verdict on all that there is: unknown where nothing was, or not all could be checked."""
ShownSeverity = Annotated[Severity, one_of(*SHOWN_SEVERITIES)]
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


class HashJson(JsonStruct, frozen=True):
    """A hash with its proof; platform is null where it is unknown."""

    hash: str
    platform: str | None
    proof: Proof

    @classmethod
    def of(cls, fact: HashFact) -> HashJson:
        """Describe a hash: field by field, as a document may have a hundred thousand of them."""
        return cls(fact.hash, fact.platform, fact.proof)


Reported = Annotated[
    Count,
    Meta(description="Those of both `explained` and `unverified` that the registry reports, which nobody signed."),
]


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
        return cls.like(key, created=key.created[:10], expires=key.expires[:10] if key.expires else None)


class SignerJson(JsonStruct, frozen=True):
    """The signer of a version."""

    version: str
    tier: Tier
    keys: list[KeyJson]


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
    def of(cls, evidence: Evidence) -> EvidenceJson:
        """Describe evidence."""
        return cls.like(evidence, to_prove=ToProveJson(packages=evidence.to_prove, bytes=evidence.to_prove_bytes))


class ConstrainedJson(JsonStruct, frozen=True):
    """The place of a requirement: the line is its constraint's, if it has one."""

    file: str
    line: FromOne

    @classmethod
    def of(cls, one: Requirement | Hidden) -> Self:
        """Describe a requirement."""
        return cls.like(one, line=constraint_place(one).line)


class OverriddenJson(ConstrainedJson, frozen=True):
    """A requirement that an override file replaced."""

    constraint: str


class RequirementJson(ConstrainedJson, frozen=True):
    """The place and the constraint of a requirement; module is "" for the root module."""

    module: str
    constraint: str
    overrides: OverriddenJson | None


class ConfigurationErrorJson(JsonStruct, frozen=True):
    """An error of the configuration."""

    file: str
    line: FromOne | None
    message: str


class ConfigurationJson(JsonStruct, frozen=True):
    """What is known about a configuration: all that requires a provider if complete is true.

    If lacks_state_alone is true, as with a remote backend, it is all but a state. The reason why it is unknown whether
    some providers are required is in unknown; "" if there is none, or if the configuration was not read.
    """

    complete: bool
    lacks_state_alone: bool
    unknown: str
    missing_modules: list[str]
    errors: list[ConfigurationErrorJson]

    @classmethod
    def of(cls, configuration: Configuration | None) -> ConfigurationJson:
        """Describe a configuration; of none if it was not read."""
        if configuration is None:
            return cls(complete=False, lacks_state_alone=False, unknown="", missing_modules=[], errors=[])
        return cls.like(
            configuration,
            unknown=configuration.unknown_reason,
            missing_modules=[module.call for module in configuration.missing_modules],
            errors=[
                ConfigurationErrorJson(problem.file, problem.line, f"{problem.summary}: {problem.detail}")
                for problem in configuration.problems
                if problem.is_error
            ],
        )
