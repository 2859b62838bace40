"""The demo's registry: that it speaks the protocol, serves what the sample lock files hold, and fails as asked."""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import re
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest
import trustme
from kit.waiting import LIMIT, until

import locklens.demo
from locklens.demo import MANIFEST, PLATFORMS, SampleLock, h1, package_bytes, zh
from locklens.demo.cases import cases
from locklens.demo.faults import HUGE_BYTES, Fault, FaultRule, Faults, Step, parse_rule
from locklens.demo.published import Published, SampleListing, publish, reported_packages, sample_catalog
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import FILE_NAME, SAMPLE_RULES, environment, serving_lines, write_cli_configuration
from locklens.demo.signing import ed25519_signature, public_key, publisher
from locklens.hashes import registry_manifests
from locklens.lockfile.parse import parse
from locklens.packages.hashing import hash_package
from locklens.trust.checksums import read_checksums

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "registry.terraform.io"
DEMO = f"{HOST}/acme/demo"


@pytest.fixture
def registry() -> Iterator[DemoRegistry]:
    with DemoRegistry() as running:
        yield running


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=LIMIT) as answer:
        return bytes(answer.read())


def document(registry: DemoRegistry, path: str, host: str = HOST) -> Any:
    return json.loads(get(registry.service_url(host) + path))


def test_signatures_are_those_of_the_standard() -> None:
    seed = bytes.fromhex("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7")
    assert public_key(seed).hex() == "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"
    assert ed25519_signature(seed, b"\xaf\x82").hex() == (
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
    )


def test_keys_are_always_the_same_and_each_publishers_own() -> None:
    assert publisher("acme").key.fingerprint == "1B673F155E471E8C4D4F644A6EF31C7EB267ED69"
    names = "acme", "corp", "hashicorp", "acme-new-owner"
    assert len({publisher(name).key.fingerprint for name in names}) == len(names)
    acme = publisher("acme")
    assert acme.key.fingerprint == acme.expired_key.fingerprint == acme.revoked_key.fingerprint


def test_everything_that_a_sample_locks_can_be_had() -> None:
    catalog = sample_catalog()
    assert catalog[DEMO] == ("1.4.1", "1.4.2", "1.5.0")
    for case in cases():
        for state in (case.old, case.new):
            for entry in parse(state.lock, case.path).entries if state else ():
                assert str(entry.version) in catalog[str(entry.address)], entry


def test_a_release_is_what_its_lock_entry_says(registry: DemoRegistry) -> None:
    versions = document(registry, "acme/demo/versions")["versions"]
    assert [version["version"] for version in versions] == ["1.4.1", "1.4.2", "1.5.0"]
    hashes = set()
    for platform in PLATFORMS:
        said = document(registry, f"acme/demo/1.4.2/download/{platform.replace('_', '/')}")
        data = get(said["download_url"])
        assert said["filename"] == f"terraform-provider-demo_1.4.2_{platform}.zip"
        assert hashlib.sha256(data).hexdigest() == said["shasum"]
        with ZipFile(io.BytesIO(data)) as archive:
            assert archive.testzip() is None
        hashes |= {"zh:" + said["shasum"], hash_package([data]).h1}
        sums = read_checksums(get(said["shasums_url"]))
        assert sums.names["zh:" + said["shasum"]] == (said["filename"],)
        assert get(said["shasums_signature_url"])[0] & 0x80
    assert hashes | {MANIFEST} == set(SampleLock(DEMO, "1.4.2", unpacked=PLATFORMS).hashes())
    assert MANIFEST in registry_manifests()
    assert sums.manifests == {MANIFEST}
    assert "packages" not in said


def test_opentofus_registry_says_the_packages(registry: DemoRegistry) -> None:
    host = "registry.opentofu.org"
    version = sample_catalog()[f"{host}/hashicorp/random"][0]
    said = document(registry, f"hashicorp/random/{version}/download/linux/amd64", host)
    assert set(said["packages"]) == set(PLATFORMS)
    provider = f"{host}/hashicorp/random"
    assert said["packages"]["linux_amd64"] == {
        "hashes": [zh(provider, version, "linux_amd64"), h1(provider, version, "linux_amd64")],
        "package_size": len(get(said["download_url"])),
    }


def test_discovery_and_what_is_not_there(registry: DemoRegistry) -> None:
    assert json.loads(get(f"{registry.url}/{HOST}/.well-known/terraform.json")) == {
        "providers.v1": f"/{HOST}/v1/providers/"
    }
    for path in ("acme/none/versions", "acme/demo/9.9.9/download/linux/amd64", "acme/demo/1.4.2/download/plan9/arm"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            document(registry, path)
    assert [request.step for request in registry.requests] == [Step.DISCOVERY, Step.VERSIONS, *[Step.DOWNLOAD] * 2]


def test_published_again_and_by_whom(registry: DemoRegistry) -> None:
    before = registry.release(DEMO, "1.4.2")
    registry.faults.add(Fault.REPUBLISHED, "acme/demo", "1.4.2")
    registry.faults.add(Fault.OTHER_SIGNER, DEMO)
    after, other = registry.release(DEMO, "1.4.2"), registry.release(DEMO, "1.5.0")
    assert before is not None
    assert after is not None
    assert other is not None
    assert read_checksums(before.sums).hashes & read_checksums(after.sums).hashes == {MANIFEST}
    assert set(SampleLock(DEMO, "1.4.2", unpacked=(), edition="again").hashes()) == read_checksums(after.sums).hashes
    assert before.keys != after.keys == other.keys
    assert other.sums == publish(DEMO, "1.5.0").sums
    said = document(registry, "acme/demo/1.4.2/download/linux/amd64")
    assert hashlib.sha256(get(said["download_url"])).hexdigest() == said["shasum"]
    registry.faults.clear()
    assert registry.release(DEMO, "1.4.2") == before


def test_a_withdrawn_version_and_a_tampered_package(registry: DemoRegistry) -> None:
    registry.faults.add(Fault.WITHDRAWN, DEMO, "1.4.2")
    registry.faults.add(Fault.TAMPERED_PACKAGE, DEMO, "1.5.0")
    versions = document(registry, "acme/demo/versions")["versions"]
    assert [version["version"] for version in versions] == ["1.4.1", "1.5.0"]
    said = document(registry, "acme/demo/1.5.0/download/linux/amd64")
    assert hashlib.sha256(get(said["download_url"])).hexdigest() != said["shasum"]


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (Fault.NOT_FOUND, 404),
        (Fault.TOO_MANY_REQUESTS, 429),
        (Fault.SERVER_ERROR, 500),
        (Fault.UNAUTHORIZED, 401),
        (Fault.REDIRECT_LOOP, 302),
        (Fault.REDIRECT_ELSEWHERE, 302),
        (Fault.HTML, 200),
    ],
)
def test_faults_with_a_status(registry: DemoRegistry, fault: Fault, status: int) -> None:
    registry.faults.add(fault, HOST, step=Step.VERSIONS, times=1)
    connection = http.client.HTTPConnection("127.0.0.1", registry.port, timeout=LIMIT)
    path = f"/{HOST}/v1/providers/acme/demo/versions"
    connection.request("GET", path, headers={"Authorization": "Bearer x"})
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == status
    assert (answer.headers["Retry-After"] is not None) is (fault is Fault.TOO_MANY_REQUESTS)
    assert (b"<html>" in body) is (fault is Fault.HTML)
    where = {Fault.REDIRECT_LOOP: path, Fault.REDIRECT_ELSEWHERE: f"http://localhost:{registry.port}{path}"}
    assert answer.headers["Location"] == where.get(fault)
    connection.request("GET", path)
    assert json.loads(connection.getresponse().read())["id"] == "acme/demo"
    connection.close()
    assert [request.authorization for request in registry.requests] == ["Bearer x", ""]


def test_faults_of_the_body(registry: DemoRegistry) -> None:
    url = registry.service_url(HOST) + "acme/demo/versions"
    whole = get(url)

    def failing(fault: Fault, seconds: float = LIMIT) -> http.client.HTTPResponse:
        registry.faults.clear()
        registry.faults.add(fault, step=Step.VERSIONS)
        connection = http.client.HTTPConnection("127.0.0.1", registry.port, timeout=seconds)
        connection.request("GET", url.removeprefix(registry.url))
        return connection.getresponse()

    with pytest.raises(http.client.IncompleteRead) as error:
        failing(Fault.TRUNCATED).read()
    assert error.value.partial == whole[: len(whole) // 2]
    with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
        failing(Fault.CUT).read()
    assert failing(Fault.WRONG_LENGTH).read() == whole[:-10]
    with pytest.raises(TimeoutError):
        failing(Fault.STALLED, 1).read()
    with pytest.raises(TimeoutError):
        failing(Fault.SILENT, 0.2)
    huge = failing(Fault.HUGE)
    assert huge.headers["Content-Length"] == str(HUGE_BYTES)
    assert len(huge.read(1 << 20)) == 1 << 20
    huge.close()
    slow = failing(Fault.SLOW)
    assert slow.read(2) == whole[:2]
    slow.close()


def test_it_stops_at_once_while_answers_wait() -> None:
    registry = DemoRegistry(faults=Faults((FaultRule(Fault.SILENT),)))
    registry.start()
    connection = http.client.HTTPConnection("127.0.0.1", registry.port, timeout=LIMIT)
    connection.request("GET", f"/{HOST}/v1/providers/acme/demo/versions")
    until(lambda: registry.requests)
    registry.stop()
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        connection.getresponse()


def test_rules_as_a_command_line_has_them() -> None:
    assert parse_rule("unsigned") == FaultRule(Fault.UNSIGNED)
    assert parse_rule("slow:sums=acme/demo@1.4.2") == FaultRule(Fault.SLOW, "acme/demo", "1.4.2", Step.SUMS)
    with pytest.raises(ValueError, match="unknown fault 'fast'; faults: republished, "):
        parse_rule("fast")
    with pytest.raises(ValueError, match="unknown step 'zip'; steps: discovery, "):
        parse_rule("slow:zip")


def test_how_to_point_a_tool_at_it(registry: DemoRegistry, tmp_path: Path) -> None:
    path = write_cli_configuration(registry, tmp_path)
    assert path == tmp_path / FILE_NAME
    for host in registry.hosts:
        assert f'host "{host}" {{' in path.read_text()
        assert f'"providers.v1" = "{registry.service_url(host)}"' in path.read_text()
    assert environment(path)["TF_CLI_CONFIG_FILE"] == str(path)
    assert f"  export TF_CLI_CONFIG_FILE={path}" in serving_lines(registry, path)


def test_it_makes_what_is_asked_for_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(provider: str, version: str, *more: object) -> Published:
        made.append(f"{provider} {version}")
        return publish(provider, version, *more)

    monkeypatch.setattr("locklens.demo.registry.publish", counted)
    with DemoRegistry() as registry:
        assert made == []
        document(registry, "acme/demo/1.4.2/download/linux/amd64")
    assert set(made) == {f"{DEMO} 1.4.2"}


def test_what_goes_wrong_in_the_sample_is_about_what_the_sample_locks() -> None:
    catalog = sample_catalog()
    with DemoRegistry(faults=Faults(SAMPLE_RULES)) as registry:
        again = registry.release(DEMO, "1.4.2")
        assert again is not None
        new = next(case.new for case in cases() if case.path == "infra/prod/data")
        assert new is not None
        locked = next(entry for entry in parse(new.lock, "").entries if str(entry.address) == DEMO)
        assert {text for text in locked.hashes if text.startswith("zh:")} == read_checksums(again.sums).hashes
        with pytest.raises(urllib.error.HTTPError, match="500"):
            document(registry, "hashicorp/random/versions", "registry.opentofu.org")
    for rule in SAMPLE_RULES:
        assert any(provider.startswith(rule.provider) for provider in catalog), rule


OWN = "reg.acme.test/acme/demo"


def served(offer: SampleListing | str, **more: Any) -> DemoRegistry:
    return DemoRegistry({OWN: (offer,)}, **more)


def test_a_catalogue_of_ones_own() -> None:
    offer = SampleListing("1.0.0", ("linux_amd64", "plan9_arm"), protocols=("6.0",), listed="1")
    with served(offer, warnings={OWN: ("old",)}) as registry:
        said = document(registry, "acme/demo/versions", "reg.acme.test")
        assert said["warnings"] == ["old"]
        assert [(one["version"], one["protocols"], len(one["platforms"])) for one in said["versions"]] == [
            ("1", ["6.0"], 2)
        ]
        package = document(registry, "acme/demo/1.0.0/download/plan9/arm", "reg.acme.test")
        assert package["protocols"] == ["6.0"]
        assert "zh:" + hashlib.sha256(get(package["download_url"])).hexdigest() == zh(OWN, "1.0.0", "plan9_arm")
        assert read_checksums(get(package["shasums_url"])).hashes == {
            MANIFEST,
            zh(OWN, "1.0.0", "linux_amd64"),
            zh(OWN, "1.0.0", "plan9_arm"),
        }
        with pytest.raises(urllib.error.HTTPError, match="404"):
            document(registry, "acme/demo/1.0.0/download/windows/amd64", "reg.acme.test")


def test_credentials_are_wanted_for_the_protocol_alone() -> None:
    with served("1.0.0", tokens={"reg.acme.test": "T"}) as registry:
        url = registry.service_url("reg.acme.test") + "acme/demo/1.0.0/download/linux/amd64"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            get(url)
        request = urllib.request.Request(url, headers={"Authorization": "Bearer T"})
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            assert get(json.load(answer)["download_url"])


def test_with_tls_it_is_a_host_that_needs_no_block() -> None:
    authority, server, client = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("localhost").configure_cert(server)
    authority.configure_trust(client)
    with DemoRegistry({"localhost/acme/demo": ("1.0.0",), "a.test/acme/demo": ("1.0.0",)}, tls=server) as registry:
        url = f"https://localhost:{registry.port}"
        with urllib.request.urlopen(f"{url}/.well-known/terraform.json", timeout=LIMIT, context=client) as answer:
            assert json.load(answer) == {"providers.v1": "/localhost/v1/providers/"}
        path = "/localhost/v1/providers/acme/demo/1.0.0/download/linux/amd64"
        with urllib.request.urlopen(url + path, timeout=LIMIT, context=client) as answer:
            assert json.load(answer)["download_url"].startswith(url)


def test_a_host_in_other_letters() -> None:
    with DemoRegistry({"испытание.test/acme/demo": ("1.0.0",)}) as registry:
        said = document(registry, "acme/demo/1.0.0/download/linux/amd64", "испытание.test")
        assert said["download_url"].isascii()
        assert get(said["download_url"])


def test_whether_hashes_are_told() -> None:
    host = "registry.opentofu.org"
    for tells in (True, False):
        with DemoRegistry({f"{host}/acme/demo": ("1.0.0",)}, tells_packages=tells) as registry:
            assert ("packages" in document(registry, "acme/demo/1.0.0/download/linux/amd64", host)) is tells


def test_the_hashes_that_are_told_may_be_others() -> None:
    provider, place = "registry.opentofu.org/acme/demo", "acme/demo/1.0.0/download/linux/amd64"
    usual: Any = reported_packages(publish(provider, "1.0.0"))
    for fault, place_of_it in ((Fault.OTHER_REPORTED_ZH, 0), (Fault.OTHER_REPORTED_H1, 1)):
        with DemoRegistry({provider: ("1.0.0",)}, faults=Faults((FaultRule(fault),))) as registry:
            told = document(registry, place, "registry.opentofu.org")["packages"]
        assert told.keys() == usual.keys()
        for name, one in told.items():
            hashes = usual[name]["hashes"]
            assert isinstance(hashes, list)
            same = [text == other for text, other in zip(one["hashes"], hashes, strict=True)]
            assert same == [place_of_it != 0, place_of_it != 1]
            assert one["package_size"] == usual[name]["package_size"]
    with DemoRegistry({OWN: ("1.0.0",)}, packages={(OWN, "1.0.0"): ["anything"]}) as registry:
        assert document(registry, place, OWN.partition("/")[0])["packages"] == ["anything"]


def test_checksums_that_are_odd() -> None:
    usual = publish(DEMO, "1.4.2")
    odd = {fault: publish(DEMO, "1.4.2", frozenset({fault})).sums for fault in Fault if fault.startswith("sums")}
    assert odd[Fault.SUMS_WITH_ODD_LINE].splitlines()[1:] == usual.sums.splitlines()
    assert odd[Fault.SUMS_OF_BINARY_FILES] == usual.sums.replace(b"  ", b" *")
    assert read_checksums(odd[Fault.SUMS_OTHERWISE_SPELLED]).hashes == read_checksums(usual.sums).hashes
    assert b"\n\n" not in odd[Fault.SUMS_OTHERWISE_SPELLED]
    with served("1.0.0", faults=Faults((FaultRule(Fault.OTHER_CHECKSUM),))) as registry:
        said = document(registry, "acme/demo/1.0.0/download/linux/amd64", "reg.acme.test")
        assert said["shasum"].encode() not in get(said["shasums_url"])


def test_packages_that_are_odd() -> None:
    def names(edition: str) -> list[str]:
        with ZipFile(io.BytesIO(package_bytes(OWN, "1.0.0", "linux_amd64", edition))) as archive:
            return archive.namelist()

    program = "terraform-provider-demo_v1.0.0"
    assert names("another") == [program, "LICENSE"]
    assert names("empty") == []
    assert names("twice") == [program, "LICENSE", "LICENSE"]
    assert names("escaping") == [program, "../escaped.txt", "LICENSE"]
    assert names("folders") == ["docs/", "docs/index.md", program, "LICENSE"]
    assert not package_bytes(OWN, "1.0.0", "linux_amd64", "no-zip").startswith(b"PK")
    with ZipFile(io.BytesIO(package_bytes(OWN, "1.0.0", "linux_amd64", "link"))) as archive:
        assert archive.getinfo("TEXT").external_attr >> 16 == 0o120777
    with served(SampleListing("1.0.0", edition="escaping")) as registry:
        said = document(registry, "acme/demo/1.0.0/download/linux/amd64", "reg.acme.test")
        assert get(said["download_url"]) == package_bytes(OWN, "1.0.0", "linux_amd64", "escaping")
        assert said["shasum"].encode() in get(said["shasums_url"])


def test_a_fault_of_the_body_is_none_of_the_head(registry: DemoRegistry) -> None:
    registry.faults.add(Fault.WRONG_LENGTH, step=Step.PACKAGE)
    said = document(registry, "acme/demo/1.4.2/download/linux/amd64")
    request = urllib.request.Request(said["download_url"], method="HEAD")
    with urllib.request.urlopen(request, timeout=LIMIT) as answer:
        length = int(answer.headers["Content-Length"])
        assert answer.read() == b""
    assert len(get(said["download_url"])) == length - 10


def test_the_registry_answers_with_every_fault() -> None:
    """One that nothing names would do what another does, or nothing at all."""
    texts = [path.read_text("utf-8") for path in Path(locklens.demo.__file__).parent.glob("*.py")]
    assert [fault for fault in Fault if not any(re.search(rf"\bFault\.{fault.name}\b", text) for text in texts)] == []
