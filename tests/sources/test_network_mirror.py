"""A network mirror that answers well, and one that does not: what is refused, and who is sent a token."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme
from kit.loopback import Server, server_context, serving, write_authority

from locklens.addresses import Platform, ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.errors import (
    LockLensError,
    PlatformNotSupportedError,
    ProviderNotFoundError,
    UnauthorizedError,
    UnavailableError,
)
from locklens.sources import Source
from locklens.sources.registries import Registries
from locklens.versions import Version

DEMO = ProviderAddress("registry.terraform.io", "acme", "demo")
ONE = Version.parse("1.0.0")
HERE = Platform("linux", "amd64")
TOP = "/m/registry.terraform.io/acme/demo"


class Mirror:
    def __init__(self, server: Server, source: Source) -> None:
        self.server, self.source = server, source

    def index(self, *names: str) -> None:
        self.server.gives(f"{TOP}/index.json", {"versions": {name: {} for name in names}})

    def version(self, text: object) -> None:
        self.server.gives(f"{TOP}/1.0.0.json", json.dumps(text))

    def versions(self) -> list[str]:
        return [str(one.version) for one in self.source.versions(DEMO).versions]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def context(authority: trustme.CA) -> ssl.SSLContext:
    return server_context(authority, "localhost")


@contextmanager
def mirrored(
    folder: Path, authority: trustme.CA, context: ssl.SSLContext, *, dialect: Dialect = TERRAFORM
) -> Iterator[Mirror]:
    with serving(context) as server:
        base = server.url("/m/", "localhost")
        (folder / "cli.tfrc").write_text(
            f'provider_installation {{\n  network_mirror {{\n    url = "{base}"\n  }}\n}}\n'
            f'credentials "localhost:{server.port}" {{\n  token = "T"\n}}\n'
        )
        environ = {
            "HOME": str(folder),
            "TF_CLI_CONFIG_FILE": str(folder / "cli.tfrc"),
            "SSL_CERT_FILE": str(write_authority(authority, folder / "ca.pem")),
            "SSL_CERT_DIR": "/nowhere",
            "TF_REGISTRY_DISCOVERY_RETRY": "1",
        }
        with Registries(dialect, environ, pause=lambda _: None) as registries:
            yield Mirror(server, registries.installation(folder))


@pytest.fixture
def mirror(tmp_path: Path, authority: trustme.CA, context: ssl.SSLContext) -> Iterator[Mirror]:
    with mirrored(tmp_path, authority, context) as found:
        yield found


def test_versions_and_a_package(mirror: Mirror) -> None:
    mirror.index("1.0.0", "v1.1.0", "1.2.0-RC1")
    mirror.version({"archives": {"linux_amd64": {"url": "../x.zip?y", "hashes": ["h9:x", "zh:" + "0" * 64]}}})
    assert mirror.versions() == ["1.0.0", "1.2.0-RC1"]
    found = mirror.source.package(DEMO, ONE, HERE)
    assert found.download_url.endswith("/m/registry.terraform.io/acme/x.zip?y")
    assert found.hashes == ("h9:x", "zh:" + "0" * 64)
    assert (found.zh, mirror.source.checksums(found)) == ("", None)
    with pytest.raises(PlatformNotSupportedError):
        mirror.source.package(DEMO, ONE, Platform("plan9", "amd64"))


def test_documents_get_the_mirrors_token_and_packages_none(mirror: Mirror) -> None:
    mirror.index("1.0.0")
    mirror.version({"archives": {"linux_amd64": {"url": "x.zip"}}})
    mirror.server.gives(f"{TOP}/x.zip", b"data")
    mirror.versions()
    with mirror.source.open_package(mirror.source.package(DEMO, ONE, HERE)) as transfer:
        assert b"".join(transfer.chunks) == b"data"
    sent = {one.path.rpartition("/")[2]: one.headers.get("authorization") for one in mirror.server.asked}
    assert sent == {"index.json": "Bearer T", "1.0.0.json": "Bearer T", "x.zip": None}


def test_a_redirect_to_another_host_takes_no_token_along(
    mirror: Mirror, authority: trustme.CA, context: ssl.SSLContext
) -> None:
    with serving(context) as other:
        other.gives("/i.json", {"versions": {"1.0.0": {}}})
        target = other.url("/i.json", "localhost")
        mirror.server.on(f"{TOP}/index.json", lambda handler: handler.reply(302, b"", Location=target))
        assert mirror.versions() == ["1.0.0"]
        assert [one.headers.get("authorization") for one in other.asked] == [None]


@pytest.mark.parametrize("redirects", [5, 6])
def test_five_redirects_are_followed(mirror: Mirror, redirects: int) -> None:
    mirror.server.gives("/end.json", {"versions": {"1.0.0": {}}})
    for number in range(redirects):
        target = f"/r{number + 1}" if number + 1 < redirects else "/end.json"
        path = f"/r{number}" if number else f"{TOP}/index.json"
        mirror.server.on(path, lambda handler, target=target: handler.reply(302, b"", Location=target))  # type: ignore[misc]
    if redirects == 5:
        assert mirror.versions() == ["1.0.0"]
    else:
        with pytest.raises(UnavailableError):
            mirror.versions()


@pytest.mark.parametrize(
    ("status", "body", "kind", "error"),
    [
        (404, b"", "application/json", ProviderNotFoundError),
        (401, b"", "application/json", UnauthorizedError),
        (403, b"", "application/json", UnauthorizedError),
        (500, b"", "application/json", UnavailableError),
        (418, b"", "application/json", UnavailableError),
        (200, b"<html>", "text/html", UnavailableError),
        (200, b'{"versions": []}', "application/json", UnavailableError),
        (200, b"[]", "application/json; charset=utf-8", UnavailableError),
        (200, b"{" + b'"versions":{' * 5000, "application/json", UnavailableError),
        (200, b'{"versions": {}}', "application/json", ProviderNotFoundError),
        (200, b'{"versions": {' + b'"1.0.0":{},' * 20001 + b'"x":{}}}', "application/json", None),
        (
            200,
            json.dumps({"versions": {f"1.{n}.0": {} for n in range(20_001)}}).encode(),
            "application/json",
            UnavailableError,
        ),
        (200, b" " * (5 << 20), "application/json", UnavailableError),
    ],
    ids=range(13),
)
def test_indexes(mirror: Mirror, status: int, body: bytes, kind: str, error: type[LockLensError] | None) -> None:
    mirror.server.gives(f"{TOP}/index.json", body, status, Content_Type=kind)
    if error is None:
        assert mirror.versions() == ["1.0.0"]
        return
    with pytest.raises(error) as raised:
        mirror.versions()
    assert type(raised.value) is error
    assert len(str(raised.value)) < 400


def test_one_status_has_one_wording(tmp_path: Path, authority: trustme.CA, context: ssl.SSLContext) -> None:
    """Whether the tool asks twice, as Terraform, or once: roots of both may be on one screen."""
    told = set()
    for dialect in (TERRAFORM, OPENTOFU):
        with mirrored(tmp_path, authority, context, dialect=dialect) as mirror:
            mirror.server.gives(f"{TOP}/index.json", b"", 500)
            with pytest.raises(UnavailableError) as raised:
                mirror.versions()
            words = str(raised.value).replace(" (2 attempts)", "")
            told.add((words.replace(str(mirror.server.port), "PORT"), raised.value.hint))
    assert told == {
        (
            "localhost:PORT answered 500 Internal Server Error (provider mirror at https://localhost:PORT/m/)",
            "check that the mirror's server has it, or exclude the provider from the mirror",
        )
    }


@pytest.mark.parametrize(
    "document",
    [
        {"archives": {"linux_amd64": {"url": "file:///etc/passwd"}}},
        {"archives": {"linux_amd64": {"url": "https://h/\x1b"}}},
        {"archives": {"linux_amd64": {"url": "x" * 9000}}},
        {"archives": {"linux_amd64": {"url": "x", "hashes": ["abc"]}}},
        {"archives": {"linux_amd64": {"url": "x", "hashes": "h1:x"}}},
        {"archives": {"linux_amd64": {"url": "x", "hashes": ["h1:x"] * 65}}},
        {"archives": {f"a_{n}": {} for n in range(513)}},
        {"archives": []},
        [],
    ],
    ids=range(9),
)
def test_documents_that_are_refused(mirror: Mirror, document: object) -> None:
    mirror.version(document)
    with pytest.raises(UnavailableError) as raised:
        mirror.source.package(DEMO, ONE, HERE)
    assert "\x1b" not in str(raised.value)
