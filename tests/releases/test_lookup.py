"""Facts of releases, from a source in memory: what is asked, and what becomes of each answer."""

from __future__ import annotations

from releases.conftest import Opened
from releases.memory import AS_OF, DEMO, MemorySource, released

from locklens.addresses import Platform, ProviderAddress
from locklens.demo.faults import Fault
from locklens.demo.published import SampleListing, hashes_by_platform
from locklens.dialect import TERRAFORM
from locklens.releases import Listing, ListingId, ReleaseFacts, ReleaseId
from locklens.releases.session import ReleaseLookup
from locklens.sources import Source
from locklens.sources.hosts import NotAsked
from locklens.trust import Tier
from locklens.trust.authentication import AuthenticationOutcome
from locklens.versions import Version

V142 = ReleaseId(TERRAFORM.name, DEMO, Version.parse("1.4.2"))
LINUX = Platform("linux", "amd64")


def facts(opened: Opened, source: Source | NotAsked, request: ReleaseId = V142) -> ReleaseFacts:
    found = ReleaseLookup(opened(source)).answer(request)
    assert isinstance(found, ReleaseFacts)
    return found


def test_the_page_of_the_release_is_where_its_package_is(opened: Opened) -> None:
    source = MemorySource(released())
    assert facts(opened, source).source == ""
    source.files_at = "https://github.com/acme/terraform-provider-demo/releases/download/v1.4.2/demo.zip"
    found = facts(opened, source)
    assert found.source == "https://github.com/acme/terraform-provider-demo/releases/tag/v1.4.2"


def test_a_signed_release(opened: Opened) -> None:
    source = MemorySource(released())
    found = facts(opened, source)
    assert found.trouble is None
    assert found.signer is not None
    assert (found.signer.tier, found.signer.version, len(found.signer.keys)) == (Tier.SELF_SIGNED, "1.4.2", 1)
    listed = {Platform.parse(platform): zh for platform, (zh, _) in hashes_by_platform(released()).items()}
    assert {platform: zh for zh, platform in found.platforms.items()} == listed
    assert found.as_of == AS_OF
    assert source.calls == {"package": 1}


def test_a_cached_answer_alone_refuses_no_release(opened: Opened) -> None:
    source = MemorySource(released(), cached={"1.4.2": released(faults=frozenset({Fault.BAD_SIGNATURE}))})
    found = facts(opened, source)
    assert found.authentication is not None
    assert found.authentication.outcome is AuthenticationOutcome.ACCEPTED
    assert source.calls == {"package": 1, "fresh package": 1}


def test_a_refused_release_is_a_fact(opened: Opened) -> None:
    source = MemorySource(released(faults=frozenset({Fault.BAD_SIGNATURE})))
    found = facts(opened, source)
    assert found.authentication is not None
    assert found.authentication.outcome is AuthenticationOutcome.REFUSED
    assert not found.packages
    assert found.trouble is None


def test_without_the_usual_platform_another_one_is_asked_about(opened: Opened) -> None:
    offer = SampleListing("1.4.2", platforms=("darwin_arm64", "windows_amd64"))
    source = MemorySource(released(offer=offer))
    found = facts(opened, source)
    assert LINUX not in found.platforms.values()
    assert len(found.platforms) == 2
    assert source.calls == {"package": 2, "versions": 1}


def test_a_version_that_is_not_listed_is_known_to_be_absent(opened: Opened) -> None:
    found = facts(opened, MemorySource(released("1.4.1")))
    assert found.trouble is not None
    assert found.trouble.is_no
    assert found.trouble.words == "registry.terraform.io does not list registry.terraform.io/acme/demo 1.4.2"


def test_a_host_that_may_not_be_contacted(opened: Opened) -> None:
    found = facts(opened, NotAsked("acme.test", "--ask-host acme.test"))
    assert found.trouble is not None
    assert (found.trouble.was_asked, found.trouble.is_unvouched, found.trouble.is_no) == (False, True, False)
    assert found.trouble.hint == "--ask-host acme.test"


def test_a_listing(opened: Opened) -> None:
    source = MemorySource(released("1.4.1"), released())
    lookup = ReleaseLookup(opened(source))
    found = lookup.answer(ListingId(TERRAFORM.name, DEMO, is_fresh=True))
    assert isinstance(found, Listing)
    assert [str(one.version) for one in found.versions] == ["1.4.1", "1.4.2"]
    assert found.has(V142.version)
    assert source.calls == {"fresh versions": 1}
    absent = lookup.answer(ListingId(TERRAFORM.name, ProviderAddress(DEMO.host, "acme", "other")))
    assert isinstance(absent, Listing)
    assert absent.is_known
    assert absent.trouble is not None
    assert not lookup.release_dates(DEMO, TERRAFORM).moments
