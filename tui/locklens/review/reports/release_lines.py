"""When a version was released, and the page about it: lines that reports and screens share."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from locklens.review.reports.lines import Line, Role, Span, line
from locklens.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.addresses import ProviderAddress
    from locklens.review.model import Change

_LABEL = 13


def page_of_release(address: ProviderAddress, version: str) -> str:
    """Return the address of a release's page with its changes; "" for a host without known pages."""
    namespace, kind, number = (quote(part, safe="") for part in (address.namespace, address.type, version))
    match address.host:
        case "registry.terraform.io":
            return f"https://registry.terraform.io/providers/{namespace}/{kind}/{number}"
        case "registry.opentofu.org":
            return f"https://search.opentofu.org/provider/{namespace}/{kind}/v{number}"
        case _:
            return ""


def age_in_words(days: int) -> str:
    """Return how old a release is, with the origin of the date, which nobody signs."""
    age = "today" if not days else f"{counted(days, 'day')} ago"
    return f"{age}, reported by the registry"


def released_lines(change: Change) -> Iterator[Line]:
    """Yield the date and the age of a new version, as far as they are known."""
    evidence = change.evidence
    if change.new is not None and evidence is not None and evidence.released and evidence.days is not None:
        age = Span(f"  {age_in_words(evidence.days)}", Role.DIM)
        label = Span("RELEASED".ljust(_LABEL), Role.HEADING)
        yield line(label, evidence.released, age, hanging=_LABEL, copied=evidence.released)


def page_lines(address: ProviderAddress, version: str, source: str) -> Iterator[Line]:
    """Yield the addresses of a release's page and of its source, as far as they are known."""
    for label, url in (("PAGE", page_of_release(address, version)), ("SOURCE", source)):
        if url:
            yield line(Span(label.ljust(_LABEL), Role.HEADING), url, hanging=_LABEL, copied=url)
