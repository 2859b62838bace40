"""Release dates: who is asked for them, what is believed, and that nothing about them is an error."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.loopback import Server
from sources.asking import registry

from locklens.addresses import ProviderAddress
from locklens.demo.faults import Fault, Faults, Step
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry as SampleRegistry
from locklens.demo.serving import environment, write_cli_configuration
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.sources.hosts import NotAsked, Service
from locklens.sources.http import Response
from locklens.sources.metadata import ReleaseDates, dates_url, days_old, read_dates
from locklens.sources.registries import Registries
from locklens.sources.registry import Registry
from locklens.storage.cache import Cache
from locklens.versions import Version

AWS = ProviderAddress(TERRAFORM.default_host, "hashicorp", "aws")
TOFU_AWS = ProviderAddress(OPENTOFU.default_host, "hashicorp", "aws")
V2 = "/v2/providers/hashicorp/aws"
INDEX = "/registry/docs/providers/hashicorp/aws/index.json"
ONE, TWO = Version(1, 0, 0), Version(2, 0, 0)


def api(**dates: Any) -> dict[str, Any]:
    """A JSON:API document; the names are versions with `_` for `.`."""
    items = [
        {
            "type": "provider-versions",
            "attributes": {"version": name.strip("_").replace("_", "."), "published-at": date},
        }
        for name, date in dates.items()
    ]
    return {"data": {"type": "providers"}, "included": items}


def answered(document: object, status: int = 200) -> ReleaseDates:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read_dates(Response(status, "https://x.test/", None, body, False, "2026-11-21T14:02:09Z"))


def of(server: Server, address: ProviderAddress = AWS, **more: Any) -> Registry:
    """A registry that a `host` block has put onto the server, below a path of its own."""
    services = {address.host: {"providers.v1": server.url("/some/where/v1/")}}
    return registry(address.host, services=services, **more)


# Whom one asks


def test_the_path_is_absolute_on_the_registrys_own_host() -> None:
    service = Service("https://registry.terraform.io/v1/providers/", takes_token=True)
    assert dates_url(service, AWS) == f"https://registry.terraform.io{V2}?include=provider-versions"


def test_opentofu_has_them_on_a_host_of_the_same_project() -> None:
    service = Service("https://registry.opentofu.org/v1/providers/", takes_token=True)
    assert dates_url(service, TOFU_AWS) == f"https://api.opentofu.org{INDEX}"


@pytest.mark.parametrize(("address", "path"), [(AWS, f"{V2}?include=provider-versions"), (TOFU_AWS, INDEX)])
def test_a_host_block_leads_to_its_own_server_and_to_no_public_one(address: ProviderAddress, path: str) -> None:
    service = Service("http://mirror.test:81/some/where/v1/?a=b", takes_token=True, is_given=True)
    assert dates_url(service, address) == f"http://mirror.test:81{path}"


def test_names_stay_in_their_place() -> None:
    service = Service("https://registry.terraform.io/v1/", takes_token=True)
    odd = ProviderAddress(AWS.host, "a/../b", "ä?c#d")
    assert dates_url(service, odd) == (
        "https://registry.terraform.io/v2/providers/a%2F..%2Fb/%C3%A4%3Fc%23d?include=provider-versions"
    )


def test_both_are_asked_on_loopback_without_a_token(server: Server) -> None:
    server.gives(V2, api(_1_0_0="2026-01-02T03:04:05.678Z"))
    server.gives(INDEX, {"versions": [{"id": "v2.0.0", "published": "2026-01-02T03:04:05+02:00"}]})
    assert of(server).release_dates(AWS).of(ONE) == datetime(2026, 1, 2, 3, 4, 5, 678000, UTC)
    assert of(server, TOFU_AWS).release_dates(TOFU_AWS).of(TWO) == datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)
    assert server.paths() == [f"{V2}?include=provider-versions", INDEX]
    assert not any("authorization" in one.headers for one in server.asked)


def test_other_registries_are_not_asked(server: Server) -> None:
    other = ProviderAddress("acme.test", "hashicorp", "aws")
    assert of(server, other).release_dates(other) == ReleaseDates()
    assert server.asked == []


def test_a_registry_that_may_not_be_asked_is_not_asked_for_dates_either(tmp_path: Path) -> None:
    with SampleRegistry({"corp.test/a/b": ("1.0.0",)}) as sample:
        environ = environment(write_cli_configuration(sample, tmp_path))
        with Registries(TERRAFORM, environ) as registries:
            assert isinstance(registries.of("elsewhere.test"), NotAsked)
        assert sample.requests == ()


def test_an_answer_is_remembered(server: Server) -> None:
    server.gives(V2, api(_1_0_0="2026-01-02T03:04:05Z"))
    with Cache.in_memory() as cache:
        first = of(server, memory=cache).release_dates(AWS)
        again = of(server, memory=cache).release_dates(AWS)
        offline = of(server, memory=cache, is_offline=True).release_dates(AWS)
    assert first == again == offline
    assert first.moments
    assert len(server.asked) == 1


# What is believed


@pytest.mark.parametrize(
    ("source", "repository"),
    [
        ("https://github.com/hashicorp/terraform-provider-aws", "https://github.com/hashicorp/terraform-provider-aws"),
        ("http://github.com/a/b", ""),
        ("https://user:secret@github.com/a/b", ""),
        ("https://github.com/a/b?token=x", ""),
        ("https://github.com/a/b\x1b[31m", ""),
        ("https://gith\u0443b.com/a/b", ""),
        ("javascript:alert(1)", ""),
        ("https://127.0.0.1/a", ""),
        ("https://github.com/" + "a" * 300, ""),
        (7, ""),
        (None, ""),
    ],
)
def test_the_source_is_a_page_or_unknown(source: object, repository: str) -> None:
    found = answered({**api(_1_0_0="2026-01-02T03:04:05Z"), "data": {"attributes": {"source": source}}})
    assert found.repository == repository
    assert found.moments, "the dates count whatever the source is"


def test_what_has_no_date_is_unknown() -> None:
    found = answered(api(_1_0_0="2026-01-02T03:04:05Z", _2_0_0=None))
    assert set(found.moments) == {ONE}
    assert found.of(TWO) is None
    assert found.as_of == "2026-11-21T14:02:09Z"


@pytest.mark.parametrize(
    "date",
    [
        "", "yesterday", "0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2026-01-02", "2026-01-02T03:04:05",
        "9999-12-31T23:59:59-23:59", "2026-13-01T00:00:00Z", "2026-01-02T03:04:05Z" + " " * 300,
    ],
)  # fmt: skip
def test_a_date_that_is_none(date: str) -> None:
    assert answered(api(_1_0_0=date)) == ReleaseDates()


@pytest.mark.parametrize(
    "document",
    [
        b"", b"<html>", b"[]", b"null", b"[" * 100_000, b'"text"', {}, {"included": None}, {"included": {}},
        {"included": [1]}, {"included": [{"type": 1}]}, {"included": [{"type": "provider-versions"}]},
        {"included": [{"type": "provider-versions", "attributes": []}]}, {"included": [{}] * 20_001},
        {"included": [{"type": "other", "attributes": {"version": "1.0.0", "published-at": "2026-01-02T03:04:05Z"}}]},
        {"versions": "v1"}, {"versions": [[]]}, {"versions": [{"id": {}, "published": "2026-01-02T03:04:05Z"}]},
        {"versions": [{"id": "vv1.0.0", "published": "2026-01-02T03:04:05Z"}]}, {"versions": [{"id": "v1.0.0"}]},
    ],
    ids=lambda document: str(document)[:40],
)  # fmt: skip
def test_another_shape_is_no_error(document: object) -> None:
    assert answered(document) == ReleaseDates()


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda one: st.lists(one) | st.dictionaries(
    st.sampled_from(["included", "type", "attributes", "version", "published-at", "versions", "id", "published"]), one)))  # fmt: skip
def test_no_document_whatever_is_an_error(document: Any) -> None:
    assert answered(document) == ReleaseDates()


@pytest.mark.parametrize("status", [204, 401, 404, 500, 501])
def test_other_statuses(server: Server, status: int) -> None:
    server.gives(V2, api(_1_0_0="2026-01-02T03:04:05Z"), status=status)
    assert of(server).release_dates(AWS) == ReleaseDates()
    assert len(server.asked) == 1  # nobody waits for what may be missing


@pytest.mark.parametrize("fault", [Fault.HUGE, Fault.CUT, Fault.HTML, Fault.REDIRECT_LOOP, Fault.TRUNCATED])
def test_trouble_on_the_way(tmp_path: Path, fault: Fault) -> None:
    faults = Faults()
    faults.add(fault, step=Step.DATES)
    with SampleRegistry({str(AWS): ("1.0.0",)}, faults=faults) as sample:
        environ = environment(write_cli_configuration(sample, tmp_path))
        with Registries(TERRAFORM, environ) as registries:
            asked = registries.registry(AWS.host)
            assert asked.release_dates(AWS) == ReleaseDates()
            assert [one.version for one in asked.versions(AWS).versions] == [ONE]


def test_a_registry_that_cannot_be_found(tmp_path: Path) -> None:
    services = {AWS.host: {"modules.v1": "/v1/"}}
    assert registry(AWS.host, services=services).release_dates(AWS) == ReleaseDates()


def test_offline_and_nothing_remembered(server: Server) -> None:
    assert of(server, is_offline=True).release_dates(AWS) == ReleaseDates()
    assert server.asked == []


# The sample registry


@pytest.mark.parametrize("address", [AWS, TOFU_AWS])
def test_the_sample_registry_serves_them(tmp_path: Path, address: ProviderAddress) -> None:
    catalog = {
        str(address): (SampleListing("1.0.0", days=40), SampleListing("2.0.0"), SampleListing("3.0.0", days=0)),
        "corp.test/a/b": (),
    }
    with SampleRegistry(catalog) as sample:
        environ = environment(write_cli_configuration(sample, tmp_path))
        with Registries(TERRAFORM, environ) as registries:
            found = registries.registry(address.host).release_dates(address)
            nothing = ProviderAddress(address.host, "nobody", "none")
            assert registries.registry(address.host).release_dates(nothing) == ReleaseDates()
    now = datetime.now(UTC)
    assert {str(version): days_old(moment, now) for version, moment in found.moments.items()} == {
        "1.0.0": 40,
        "3.0.0": 0,
    }


def test_days() -> None:
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert days_old(None, now) is None
    assert days_old(now - timedelta(hours=23), now) == 0
    assert days_old(now - timedelta(hours=25), now) == 1
    assert days_old(now + timedelta(days=9), now) == 0  # of the future: whatever it is, it is not old
