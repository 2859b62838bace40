"""What a registry answers about providers and packages, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kit.loopback import Server
from sources.asking import SHASUM, package, plain

from locklens.addresses import Platform, ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.errors import PlatformNotSupportedError, ProviderNotFoundError, UnauthorizedError, UnavailableError
from locklens.project.cliconfig import Token
from locklens.sources.helpers import Helper
from locklens.sources.metadata import PackageMetadata
from locklens.sources.registry import Registry
from locklens.versions import Version

X = ProviderAddress("acme.test", "acme", "x")
LINUX = Platform("linux", "amd64")
ONE = Version(1, 0, 0)
VERSIONS = "/v1/acme/x/versions"
PACKAGE = "/v1/acme/x/1.0.0/download/linux/amd64"


def metadata(server: Server, **more: Any) -> PackageMetadata:
    server.gives(PACKAGE, package(**more))
    return plain(server).package(X, ONE, LINUX)


def refusal(registry: Registry) -> str:
    with pytest.raises(UnavailableError) as caught:
        registry.package(X, ONE, LINUX)
    assert caught.value.address == "acme.test/acme/x"
    return str(caught.value)


def test_versions(server: Server) -> None:
    listed = {
        "Versions": [
            {"version": "1.0", "protocols": ["5.0"], "platforms": [{"os": "linux", "arch": "amd64"}]},
            {"version": "2.0.0-beta1", "protocols": None, "platforms": "none", "other": [[]]},
        ],
        "warnings": ["moved to \x1b[31mred\u202e"],
    }
    server.gives(VERSIONS, json.dumps(listed) + "trailing", Content_Type="text/plain")
    found = plain(server).versions(X)
    assert [str(one.version) for one in found.versions] == ["1.0.0", "2.0.0-beta1"]
    assert found.versions[0].protocols == ("5.0",)
    assert found.versions[0].platforms == (LINUX,)
    assert found.versions[1].platforms == ()
    assert found.warnings == ("moved to \\x1b[31mred\\u202e",)


@pytest.mark.parametrize(
    "body",
    [
        '{"n": %s}' % ("1" * 100_000),
        "{}",
        '{"versions": null}',
        '{"versions": []}',
        '{"VERSIONS": [], "warnings": null}',
    ],
)
def test_no_versions(server: Server, body: str) -> None:
    server.gives(VERSIONS, body)
    assert plain(server).versions(X).versions == ()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<html>", "something that is not JSON"),
        ("", "something that is not JSON"),
        ("[" * 500_000, "the document is not an object"),
        ('{"versions": %s' % ("[" * 500_000), "nested too deeply"),
        ('{"a":' * 500_000, "nested too deeply"),
        ("[]", "the document is not an object"),
        ('{"versions": {}}', '"versions" is not a list'),
        ('{"versions": [1]}', '"versions" is not an object'),
        ('{"versions": [{"version": 1}]}', '"version" is not a string'),
        ('{"versions": [{"version": "v1.0.0"}]}', 'an invalid version "v1.0.0"'),
        ('{"versions": [{"version": "1.0.0"}, {}]}', 'an invalid version ""'),
        ('{"versions": [{"version": "\\u001b[2J"}]}', 'an invalid version "\\x1b[2J"'),
        ('{"versions": [%s{}]}' % ("{}," * 20_000), 'more than 20000 items in "versions"'),
        ('{"versions": [{"version": "%s"}]}' % ("1" * 300), 'more than 256 characters in "version"'),
        ('{"versions": [], "n": NaN}', "something that is not JSON"),
        ('{"versions": [{"version": "1.0.0\xff"}]}', 'an invalid version "1.0.0'),
        ('{"versions": [{"version": "\\ud800"}]}', 'an invalid version "\ufffd"'),
        ('{"versions": [{"version": "1.0.0", "protocols": "5"}]}', '"protocols" is not a list'),
    ],
)
def test_versions_made_to_hurt(server: Server, body: str, words: str) -> None:
    server.gives(VERSIONS, body)
    with pytest.raises(UnavailableError) as caught:
        plain(server).versions(X)
    assert words in str(caught.value)
    assert str(caught.value).startswith("acme.test answered with ")
    assert str(caught.value).isprintable()


def test_escaped_characters_and_broken_ones_are_read_as_the_tools_do(server: Server) -> None:
    warnings = r'"\ud83d\ude00 \ud83d \\ud800 \ude00\ud83d"', '"\xff"'
    server.gives(VERSIONS, b'\n{"versions": [], "warnings": [%s]} {' % ", ".join(warnings).encode("latin-1"))
    assert plain(server).versions(X).warnings == ("\U0001f600 \ufffd \\ud800 \ufffd\ufffd", "\ufffd")


def test_platforms_and_protocols_of_one_answer_are_few(server: Server) -> None:
    many = [{"version": f"{n}.0.0", "platforms": [{"os": f"o{n}", "arch": "a"}]} for n in range(600)]
    server.gives(VERSIONS, {"versions": many})
    assert [len(one.platforms) for one in plain(server).versions(X).versions] == [1] * 512 + [0] * 88
    server.gives(VERSIONS, {"versions": [{"version": f"{n}.0.0", "protocols": [f"{n}.0"]} for n in range(600)]})
    with pytest.raises(UnavailableError, match='more than 256 different "protocols"'):
        plain(server).versions(X)


def test_what_is_not_there(server: Server) -> None:
    with pytest.raises(ProviderNotFoundError, match=r"acme\.test does not have a provider named acme\.test/acme/x"):
        plain(server).versions(X)
    with pytest.raises(
        PlatformNotSupportedError, match=r"does not have a package of acme\.test/acme/x 1\.0\.0 for linux_amd64"
    ):
        plain(server).package(X, ONE, LINUX)


@pytest.mark.parametrize("status", [401, 403])
def test_who_are_you(server: Server, status: int) -> None:
    for path in (VERSIONS, PACKAGE):
        server.gives(path, b"", status)
    with pytest.raises(UnauthorizedError, match="requires authentication credentials") as caught:
        plain(server).versions(X)
    assert not caught.value.had_credentials
    assert caught.value.hint == "set TF_TOKEN_acme_test, or run `terraform login acme.test`"
    known = plain(server, environ={"TF_TOKEN_acme_test": "s3cr3t"})
    for ask in (lambda: known.versions(X), lambda: known.package(X, ONE, LINUX)):
        with pytest.raises(UnauthorizedError, match="rejected the given authentication credentials") as caught:
            ask()
        assert caught.value.had_credentials
        assert "s3cr3t" not in str(caught.value) + caught.value.hint + repr(known.__dict__)


@pytest.mark.parametrize(("status", "requests"), [(204, 1), (400, 1), (501, 1), (429, 2), (500, 2), (503, 2)])
def test_other_statuses(server: Server, status: int, requests: int) -> None:
    for path in (VERSIONS, PACKAGE):
        server.gives(path, b"", status)
    with pytest.raises(UnavailableError, match=f"answered {status} "):
        plain(server).versions(X)
    assert f"answered {status} " in refusal(plain(server))
    assert len(server.asked) == 2 * requests


def test_a_package(server: Server) -> None:
    found = metadata(server, shasum=SHASUM.upper())
    assert found.protocols == (Version(5, 0, 0),)
    assert found.filename == "terraform-provider-x_1.0.0_linux_amd64.zip"
    assert found.download_url == server.url("/v1/acme/x/1.0.0/pkg.zip")
    assert (found.shasum, found.shasums_url, found.signature_url) == (
        SHASUM,
        server.url("/SUMS"),
        server.url("/SUMS.sig"),
    )
    assert [(key.ascii_armor, key.trust_signature) for key in found.signing_keys] == [("KEY", "TRUST")]
    assert found.packages == ()


def test_urls_of_a_package_are_read_against_where_redirects_ended(server: Server) -> None:
    server.gives(PACKAGE, b"", 307, Location="/deep/er/doc")
    server.gives("/deep/er/doc", package(download_url="p.zip", shasums_url="../S", shasums_signature_url=""))
    found = plain(server).package(X, ONE, LINUX)
    assert found.download_url == server.url("/deep/er/p.zip")
    assert found.shasums_url == server.url("/deep/S")
    assert found.signature_url == server.url("/deep/er/doc")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"protocols": ["five"], "os": "x"}, 'an invalid protocol "five"'),
        ({"os": "darwin", "download_url": "ftp://x"}, "the package of another platform"),
        ({"download_url": "ftp://x/y", "shasum": ""}, 'a URL in "download_url" that cannot be used'),
        ({"shasum": "ab" * 31, "shasums_url": "ftp://x"}, "a SHA-256 checksum that is not 64 hex digits"),
        ({"shasum": "xy" * 32}, "a SHA-256 checksum that is not 64 hex digits"),
        ({"shasums_url": "http://"}, 'a URL in "shasums_url" that cannot be used'),
        ({"shasums_signature_url": "https://[::1"}, 'a URL in "shasums_signature_url" that cannot be used'),
        ({"signing_keys": []}, '"signing_keys" is not an object'),
        ({"signing_keys": {"gpg_public_keys": [{}] * 65}}, "more than 64 items"),
        ({"signing_keys": {"gpg_public_keys": [{"ascii_armor": "x" * 600_000}]}}, "more than 524288 characters"),
        ({"filename": 1}, '"filename" is not a string'),
    ],
)
def test_packages_that_cannot_be_used(server: Server, more: dict[str, Any], words: str) -> None:
    server.gives(PACKAGE, package(**more))
    text = refusal(plain(server))
    assert words in text
    assert text.startswith("acme.test answered about acme.test/acme/x 1.0.0 for linux_amd64 with ")


@pytest.mark.parametrize(
    ("protocols", "is_supported"),
    [([], True), (None, True), (["5.0"], True), (["4.0", "6.9"], True), (["7.0"], False), (["4.0"], False)],
)
def test_protocols(server: Server, protocols: Any, is_supported: bool) -> None:
    assert metadata(server, protocols=protocols).has_supported_protocol is is_supported


def test_opentofus_packages(server: Server) -> None:
    packages = {
        "linux_amd64": {"hashes": ["zh:1", "h1:2="], "package_size": 7},
        "Darwin_ARM64": {"hashes": None, "package_size": -7},
    }
    server.gives(PACKAGE, package(packages=packages))
    for dialect in (OPENTOFU, TERRAFORM):
        found = plain(server, dialect=dialect).package(X, ONE, LINUX).packages
        assert [(str(one.platform), one.hashes, one.size) for one in found] == [
            ("linux_amd64", ("zh:1", "h1:2="), 7),
            ("darwin_arm64", (), 0),
        ]


@pytest.mark.parametrize(
    ("packages", "words"),
    [
        ([], '"packages" is not an object'),
        ({"linux": {}}, "an invalid platform"),
        ({"linux_arm_v6": {}}, "an invalid platform"),
        ({"linux_amd64": []}, "a member is not an object"),
        ({"linux_amd64": {"hashes": ["abc"]}}, "an invalid hash"),
        ({"linux_amd64": {"hashes": [":abc"]}}, "an invalid hash"),
        ({"linux_amd64": {"package_size": "7"}}, '"package_size" is not a whole number'),
        ({"linux_amd64": {"package_size": 7.5}}, '"package_size" is not a whole number'),
        ({f"a_{number}": {} for number in range(600)}, "more than 512 members"),
    ],
)
def test_malformed_packages_matter_to_opentofu_alone(server: Server, packages: Any, words: str) -> None:
    server.gives(PACKAGE, package(packages=packages))
    assert words in refusal(plain(server, dialect=OPENTOFU))
    assert plain(server).package(X, ONE, LINUX).packages == ()


def test_checksums_are_had_without_credentials(server: Server) -> None:
    server.gives("/SUMS", b"sums", Content_Type="text/plain")
    server.gives("/SUMS.sig", b"\x00\xff", Content_Type="application/octet-stream")
    server.gives(PACKAGE, package())
    registry = plain(server, tokens={"acme.test": Token("T")})
    signed = registry.checksums(registry.package(X, ONE, LINUX))
    assert (signed.sums, signed.signature) == (b"sums", b"\x00\xff")
    assert [one.headers.get("authorization") for one in server.asked] == ["Bearer T", None, None]


@pytest.mark.parametrize("status", [401, 404, 503])
def test_checksums_that_are_not_there_say_nothing_about_the_package(server: Server, status: int) -> None:
    server.gives(PACKAGE, package())
    server.gives("/SUMS", b"sums")
    server.gives("/SUMS.sig", b"", status)
    registry = plain(server)
    with pytest.raises(UnavailableError) as caught:
        registry.checksums(registry.package(X, ONE, LINUX))
    assert str(caught.value).startswith("the signature of the checksums cannot be fetched for acme.test/acme/x 1.0.0: ")
    assert str(status) in str(caught.value)


def test_signatures_and_sums_are_small(server: Server) -> None:
    server.gives(PACKAGE, package())
    server.gives("/SUMS", b"x" * (2**20 + 1))
    registry = plain(server)
    with pytest.raises(UnavailableError, match="sent a list of checksums of more than 1 MiB"):
        registry.checksums(registry.package(X, ONE, LINUX))
    server.gives("/SUMS", b"")
    server.gives("/SUMS.sig", b"x" * (2**16 + 1))
    registry = plain(server)
    with pytest.raises(UnavailableError, match="sent a signature of more than 64 KiB"):
        registry.checksums(registry.package(X, ONE, LINUX))


def test_a_helper_that_fails_stops_the_question_and_not_discovery(server: Server, tmp_path: Path) -> None:
    program = tmp_path / "helper"
    program.write_text("#!/bin/sh\necho no vault >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(UnavailableError, match=r"the credentials for acme\.test are unavailable: .*: no vault"):
        plain(server, helper=Helper(program, ())).versions(X)
    assert not server.asked
