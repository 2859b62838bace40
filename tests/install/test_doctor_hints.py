"""Every error about a checksum or a signature names the command that tests its causes, in `init` and in `lock`."""

from __future__ import annotations

import pytest
from install.conftest import HOST, Place
from kit.effort import DIAGONAL

from locklens.demo.faults import Fault, FaultRule
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.operations.plan import RootResult

AT_ONCE = {
    Fault.TAMPERED_PACKAGE: "incorrect checksum",
    Fault.OTHER_CHECKSUM: "unexpected SHA-256 hash",
    Fault.SUMS_WITHOUT_PACKAGE: "has no SHA-256 hash",
    Fault.BAD_SIGNATURE: "error checking signature",
    Fault.UNKNOWN_ISSUER: "unknown issuer",
    Fault.REVOKED_KEY: "revoked",
    Fault.EXPIRED_SIGNATURE: "expired",
    Fault.BROKEN_KEY: "signing key",
    Fault.BAD_TRUST_SIGNATURE: "trust signature",
    Fault.ARMORED_SIGNATURE: "signature",
    Fault.EMPTY_SIGNATURE: "signature",
}
"""Faults that both commands refuse without a lock file, with a phrase of the error."""

ACCEPTED = {(Fault.BAD_TRUST_SIGNATURE, OPENTOFU), (Fault.EXPIRED_SIGNATURE, OPENTOFU)}
"""What a tool does not look at."""


def refused(outcome: RootResult, phrase: str) -> str:
    """Returns the hint of the error with a phrase."""
    assert outcome.has_failed
    found = [one for one in outcome.diagnostics if one.is_error and phrase in one.words]
    assert found, [one.words for one in outcome.diagnostics]
    return found[0].hint


@DIAGONAL
@pytest.mark.parametrize("fault", AT_ONCE)
@pytest.mark.parametrize("dialect", [TERRAFORM, OPENTOFU], ids=["terraform", "opentofu"])
@pytest.mark.parametrize("command", ["init", "lock"])
def test_at_once(place: Place, fault: Fault, dialect: Dialect, command: str) -> None:
    place.require((f"{HOST}/acme/demo", "1.1.0"))
    place.fail(FaultRule(fault))
    outcome = place.init(tool=dialect) if command == "init" else place.lock("linux_amd64", tool=dialect)
    assert outcome.has_failed is ((fault, dialect) not in ACCEPTED)
    if not outcome.has_failed:
        return
    assert "`locklens doctor`" in refused(outcome, AT_ONCE[fault])


@pytest.mark.parametrize("command", ["init", "lock"])
def test_a_release_that_was_locked_otherwise(place: Place, command: str) -> None:
    assert not place.lock("linux_amd64").has_failed
    place.fail(FaultRule(Fault.REPUBLISHED))
    outcome = place.init() if command == "init" else place.lock("linux_amd64", "darwin_arm64")
    phrase = "doesn't match any of the checksums" if command == "init" else "republished"
    assert "`locklens doctor`" in refused(outcome, phrase)


@pytest.mark.parametrize("command", ["init", "lock"])
def test_other_errors_do_not(place: Place, command: str) -> None:
    place.fail(FaultRule(Fault.WITHDRAWN))
    outcome = place.init() if command == "init" else place.lock("linux_amd64")
    assert outcome.has_failed
    assert not any("doctor" in one.hint for one in outcome.diagnostics)


@pytest.mark.parametrize("command", ["init", "lock"])
def test_a_provider_whose_source_is_only_implied_is_to_be_given_one(place: Place, command: str) -> None:
    place.require((f"{HOST}/acme/demo", "~> 1.0"))
    with (place.root / "main.tf").open("a") as file:
        file.write('resource "mystery_site" "here" {\n}\n')
    service = place.registry.service_url("registry.terraform.io")
    settings = place.folder / "home/cli.tfrc"
    text = f'host "registry.terraform.io" {{\n  services = {{ "providers.v1" = "{service}" }}\n}}\n'
    settings.write_text(f"{settings.read_text()}{text}")
    outcome = place.init() if command == "init" else place.lock("linux_amd64")
    line = (place.root / "main.tf").read_text().splitlines().index('resource "mystery_site" "here" {') + 1
    assert refused(outcome, "does not have a provider") == (
        f"main.tf:{line} requires it, and no required_providers names its source: "
        "name the source of the provider there, in required_providers of the module"
    )


@pytest.mark.parametrize("command", ["init", "lock"])
def test_a_provider_that_opentofus_registry_lacks_is_kept_by_the_source_that_the_hint_writes(
    place: Place, command: str
) -> None:
    settings, lacking = place.folder / "home/cli.tfrc", OPENTOFU.default_host
    service = place.registry.service_url(lacking)
    text = f'{settings.read_text()}host "{lacking}" {{\n  services = {{ "providers.v1" = "{service}" }}\n}}\n'
    settings.write_text(text)

    def run() -> RootResult:
        return place.init(tool=OPENTOFU) if command == "init" else place.lock("linux_amd64", tool=OPENTOFU)

    place.require(("acme/demo", "~> 1.0"))
    assert refused(run(), "does not have a provider") == ""
    assert not place.lock("linux_amd64", "darwin_arm64").has_failed
    before = place.lock_file.read_bytes().partition(b"provider ")[2]
    hint = refused(run(), "does not have a provider")
    source = f"{HOST}/acme/demo"
    line = next(
        number
        for number, text in enumerate((place.root / "main.tf").read_text().splitlines(), 1)
        if "acme/demo" in text
    )
    assert hint == f'{source} is locked: source = "{source}" at main.tf:{line} keeps it, with its hashes'
    place.require((source, "~> 1.0"))
    assert not run().has_failed
    assert place.lock_file.read_bytes().partition(b"provider ")[2] == before
