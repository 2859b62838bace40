"""The policy file as types: the keys that the reader accepts, and what the JSON Schema for editors is made of."""

from __future__ import annotations

from datetime import date  # noqa: TC003  # evaluated by msgspec
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from locklens.policy.model import AcceptFrom, InstallPath, SeverityName, Threshold

MAX_PLATFORMS = 100
MAX_DAYS = 3650
MAX_REASON = 200
"""Characters of a reason or a name: they are shown on one line."""
MAX_POLICY_ENTRIES = 1000
"""Entries of one list: the file is about a page long."""

_PLATFORM = r"^[a-z0-9]{1,32}_[a-z0-9]{1,32}$"
_FINGERPRINT = r"^([0-9A-F]{40}|[0-9A-F]{64})$"
_RULE = r"^LK[0-9]{3}$"
_ADVISORY = r"^[A-Za-z][A-Za-z0-9-]{2,63}$"
TOOLCHAIN = r"^(go)?1\.[0-9]{1,4}(\.[0-9]{1,4})?$"
_CHANGE = r"^([0-9a-f]{16}|[0-9a-f]{32})$"

_Text = Annotated[str, Meta(max_length=MAX_REASON)]
_PlatformName = Annotated[str, Meta(pattern=_PLATFORM)]
_Rule = Annotated[str, Meta(pattern=_RULE)]


class TrustTable(Struct, frozen=True, forbid_unknown_fields=True):
    """The keys that may sign the releases of a namespace; others block (LK010)."""

    keys: Annotated[
        list[Annotated[str, Meta(pattern=_FINGERPRINT)]],
        Meta(min_length=1, max_length=8, description="full fingerprints, upper case; two during a rotation"),
    ]
    by: Annotated[_Text, Meta(description="who decided it")] = ""
    on: Annotated[date | UnsetType, Meta(description="when")] = UNSET
    why: Annotated[_Text, Meta(description="the reason")] = ""
    review_by: Annotated[date | UnsetType, Meta(description="the date to look at it again")] = UNSET


class AcceptTable(Struct, frozen=True, forbid_unknown_fields=True):
    """The acceptance of one rule's finding about exactly one change."""

    rule: Annotated[_Rule, Meta(description="the finding's rule")]
    provider: Annotated[_Text, Meta(description="the full address: host/namespace/type")]
    change: Annotated[
        str, Meta(pattern=_CHANGE, description="the change's id: 32 hex digits; one of 16 accepts nothing any more")
    ]
    reason: Annotated[str, Meta(min_length=1, max_length=MAX_REASON, description="why it is accepted")]
    by: Annotated[_Text, Meta(description="who accepts it")]
    on: Annotated[date, Meta(description="when")]
    until: Annotated[date | UnsetType, Meta(description="the last day on which it holds")] = UNSET


class IgnoreTable(Struct, frozen=True, forbid_unknown_fields=True):
    """An advisory that does not count (LK042, LK043); it is counted as ignored."""

    id: Annotated[str, Meta(pattern=_ADVISORY, description="GO, CVE or GHSA id, in whatever case")]
    why: Annotated[str, Meta(min_length=1, max_length=MAX_REASON, description="the reason")]
    by: Annotated[_Text, Meta(description="who decided it")] = ""
    until: Annotated[date | UnsetType, Meta(description="the last day on which it holds")] = UNSET


class AdvisoriesTable(Struct, frozen=True, forbid_unknown_fields=True):
    """Advisories of the Go vulnerability database about what is inside providers, and about providers."""

    ignore: Annotated[
        list[IgnoreTable], Meta(max_length=MAX_POLICY_ENTRIES, description="advisories that do not count")
    ] = []


class PolicyDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of a repository for its lock files: locklens.toml at its top. Every key is optional."""

    fail_on: Annotated[
        Threshold | UnsetType,
        Meta(description="lowest severity at which a review exits 1, unless the command line says otherwise"),
    ] = UNSET
    cooldown: Annotated[
        Annotated[int, Meta(ge=0, le=MAX_DAYS)] | UnsetType, Meta(description="days that a release must be old")
    ] = UNSET
    toolchain: Annotated[
        Annotated[str, Meta(pattern=TOOLCHAIN)] | UnsetType,
        Meta(description="least version of Go that a provider may be built with; anything older is LK045"),
    ] = UNSET
    hosts: Annotated[
        list[_Text], Meta(max_length=MAX_POLICY_ENTRIES, description="hosts of registries that may be asked too")
    ] = []
    reported_hashes: Annotated[
        Annotated[list[_Text], Meta(max_length=MAX_POLICY_ENTRIES)] | UnsetType,
        Meta(description="registries whose reported h1 are locked with OpenTofu, unsigned; unset: its own registry"),
    ] = UNSET
    install_paths: Annotated[
        Annotated[list[InstallPath], Meta(min_length=1)] | UnsetType,
        Meta(description="where packages are installed from"),
    ] = UNSET
    allow: Annotated[
        Annotated[list[_Text], Meta(max_length=MAX_POLICY_ENTRIES)] | UnsetType,
        Meta(description="providers and version ranges; any other is LK022"),
    ] = UNSET
    accept_from: Annotated[
        AcceptFrom, Meta(description="side whose acceptances and pins count: head where owners guard this file")
    ] = AcceptFrom.BASE
    platforms: Annotated[
        dict[_PlatformName, _Text] | list[_PlatformName], Meta(description="required platforms, each with the reason")
    ] = {}
    severity: Annotated[dict[_Rule, SeverityName], Meta(description="severity of rules")] = {}
    trust: Annotated[dict[_Text, TrustTable], Meta(description='keys by namespace, or by "host/namespace"')] = {}
    advisories: Annotated[AdvisoriesTable, Meta(description="advisories of the Go vulnerability database")] = (
        AdvisoriesTable()
    )
    accept: Annotated[list[AcceptTable], Meta(max_length=MAX_POLICY_ENTRIES, description="accepted findings")] = []


def policy_schema() -> dict[str, object]:
    """Return the JSON Schema of the file, for editors with TOML support."""
    from msgspec.json import schema

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "locklens.toml",
        **schema(PolicyDocument),
    }
