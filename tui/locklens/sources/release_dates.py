"""When versions were released, and where their source is: nothing that the registry protocol has.

Only the two public registries tell, each in its own way.

A date that is absent, or an answer of another shape, makes an age unknown and never an error: no command should fail
because a registry lacks a date. The dates are unsigned, as the registry claims them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from msgspec import Struct

from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.sources import documents
from locklens.sources.documents import ShapeError
from locklens.sources.metadata import MAX_VERSIONS
from locklens.sources.urls import MAX_PAGE, as_page
from locklens.versions import Version, VersionSyntaxError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from locklens.addresses import ProviderAddress
    from locklens.sources.discovery import Service
    from locklens.sources.documents import Fields
    from locklens.sources.http import Response

OPENTOFU_DATES_HOST = "api.opentofu.org"
"""The host of the documentation of OpenTofu's registry, with the release dates: a host of the same project."""

PLACES = frozenset({TERRAFORM.default_host, OPENTOFU.default_host})
"""The registries, in comparison form, of which release dates can be had."""

_OK = 200
_MAX_WORD = 256
_FIRST = datetime(2014, 7, 28, tzinfo=UTC)
"""Terraform's first release: what claims to be older has no date, such as year 1, which is Go's empty time."""


class ReleaseDates(Struct, frozen=True):
    """When versions of one provider were released.

    Attributes:
        moments: In UTC, by version; those without a date are left out.
        as_of: When the registry said so, ISO 8601 in UTC; "" without an answer.
        repository: The URL of the provider's source; "" where it is not known. OpenTofu's registry has none here.
    """

    moments: Mapping[Version, datetime] = MappingProxyType({})
    as_of: str = ""
    repository: str = ""

    def of(self, version: Version) -> datetime | None:
        """When a version was released, None where that is not known."""
        return self.moments.get(version)


def days_old(released: datetime | None, now: datetime) -> int | None:
    """Return the whole days since a release; None where it is not known when that was, 0 for one of tomorrow."""
    return None if released is None else max(0, (now - released).days)


def dates_url(service: Service, address: ProviderAddress) -> str:
    """Return where the release dates of a provider of one of PLACES are.

    The paths are absolute. Where the user's own `host` block says where the registry is, they are asked for on that
    server, and the public one is left alone.

    Args:
        service: Where the host's registry is.
        address: The provider.
    """
    names = f"{quote(address.namespace, safe='')}/{quote(address.type, safe='')}"
    own = urlsplit(service.url)._replace(path="", query="", fragment="").geturl()
    if address.host == OPENTOFU.default_host:
        top = own if service.is_given else f"https://{OPENTOFU_DATES_HOST}"
        return f"{top}/registry/docs/providers/{names}/index.json"
    return f"{own}/v2/providers/{names}?include=provider-versions"


def read_dates(answer: Response) -> ReleaseDates:
    """Read either registry's answer; what cannot be read of it is left out."""
    if answer.status != _OK:
        return ReleaseDates()
    try:
        with documents.opened(answer.body) as fields:
            pairs = list(_pairs(fields))
            repository = _repository(fields)
    except ShapeError:
        return ReleaseDates()
    found = {version: moment for text, date in pairs if (version := _version(text)) and (moment := _moment(date))}
    return ReleaseDates(MappingProxyType(found), answer.as_of if found else "", repository)


def _repository(fields: Fields) -> str:
    """The page of the source in Terraform's document; "" for none, or what is no page."""
    try:
        return as_page(fields.object("data").object("attributes").text("source", MAX_PAGE))
    except ShapeError:
        return ""


def _pairs(fields: Fields) -> Iterator[tuple[str, str]]:
    """Version and date as written: of Terraform's JSON:API document or of OpenTofu's index."""
    if "included" in fields:
        for item in fields.objects("included", MAX_VERSIONS):
            if item.text("type", _MAX_WORD) == "provider-versions":
                attributes = item.object("attributes")
                yield attributes.text("version", _MAX_WORD), attributes.text("published-at", _MAX_WORD)
    else:
        for item in fields.objects("versions", MAX_VERSIONS):
            yield item.text("id", _MAX_WORD).removeprefix("v"), item.text("published", _MAX_WORD)


def _version(text: str) -> Version | None:
    try:
        return Version.parse(text)
    except VersionSyntaxError:
        return None


def _moment(text: str) -> datetime | None:
    """Read a date of RFC 3339, which says its offset."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo is not None and moment >= _FIRST else None
    except (ValueError, OverflowError):
        return None
