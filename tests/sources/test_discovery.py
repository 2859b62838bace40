"""Where a host says its registry is, and what it can say wrong."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kit.loopback import Handler, Server
from kit.waiting import until
from sources.asking import registry

from locklens.addresses import ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.errors import SourceError, UnavailableError
from locklens.project.cliconfig import Token
from locklens.sources.registry import Registry

DOCUMENT = "/.well-known/terraform.json"


@pytest.fixture
def environ(authority_file: Path) -> dict[str, str]:
    return {"SSL_CERT_FILE": str(authority_file), "SSL_CERT_DIR": "/nowhere"}


def host(server: Server) -> str:
    return f"localhost:{server.port}"


def asked_path(asker: Registry, server: Server) -> str:
    with pytest.raises(SourceError):
        asker.versions(ProviderAddress(asker.host, "acme", "x"))
    return server.paths()[-1]


def refusal(asker: Registry) -> UnavailableError:
    with pytest.raises(UnavailableError) as caught:
        asker.versions(ProviderAddress(asker.host, "acme", "x"))
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("v1/", "/.well-known/v1/acme/x/versions"),
        ("/v1/", "/v1/acme/x/versions"),
        ("/v1", "/acme/x/versions"),
        ("/v1/#fragment", "/v1/acme/x/versions"),
        ("/v1/?query=1", "/v1/acme/x/versions"),
        ("../", "/acme/x/versions"),
    ],
)
def test_urls_are_read_against_the_document(
    secure_server: Server, environ: dict[str, str], value: str, path: str
) -> None:
    secure_server.gives(DOCUMENT, {"providers.v1": value})
    assert asked_path(registry(host(secure_server), environ=environ), secure_server) == path
    assert secure_server.asked[0].headers["accept"] == "application/json"


def test_urls_are_read_against_where_redirects_ended(secure_server: Server, environ: dict[str, str]) -> None:
    secure_server.gives(DOCUMENT, b"", 302, Location="/x/y/d.json")
    secure_server.gives("/x/y/d.json", {"providers.v1": "p/"})
    assert asked_path(registry(host(secure_server), environ=environ), secure_server) == "/x/y/p/acme/x/versions"


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("{}", "is not a Terraform provider registry"),
        ('{"providers": "/v1/", "modules.v1": "/"}', "is not a Terraform provider registry"),
        ('{"providers.v2": "/v2/"}', "offers its provider registry only in another protocol version"),
        ('{"providers.v1": {}}', "offers its provider registry only in another protocol version"),
        ('{"Providers.V1": "/"}', "is not a Terraform provider registry"),
        ("[]", "with JSON that is not an object"),
        ("{} {}", "with JSON with trailing data"),
        ("", "with something that is not JSON"),
        ('{"a":' * 100_000, "with JSON that is nested too deeply"),
        ("[" * 100_000, "with JSON that is not an object"),
        ('{"providers.v1": "ftp://h/"}', "only http and https URLs can be asked"),
        ('{"providers.v1": "https://u:p@h/"}', "it holds a user name or a password"),
        ('{"providers.v1": "https:///x"}', "it has no host"),
        ('{"providers.v1": "a b"}', "it holds spaces or control characters"),
    ],
)
def test_documents_that_cannot_be_used(
    secure_server: Server, environ: dict[str, str], document: str, words: str
) -> None:
    secure_server.gives(DOCUMENT, document)
    error = refusal(registry(host(secure_server), environ=environ))
    assert words in str(error)
    assert error.source == host(secure_server)
    assert secure_server.paths() == [DOCUMENT]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("text/html", "with content type text/html instead of application/json"),
        ("application/jsonp", "with content type application/jsonp instead"),
        ("", "with content type none instead"),
        ("a/b/c", "with content type none instead"),
    ],
)
def test_only_json_describes_services(secure_server: Server, environ: dict[str, str], kind: str, words: str) -> None:
    secure_server.gives(DOCUMENT, '{"providers.v1": "/v1/"}', Content_Type=kind)
    assert words in str(refusal(registry(host(secure_server), environ=environ)))


def test_a_content_type_may_have_parameters(secure_server: Server, environ: dict[str, str]) -> None:
    secure_server.gives(DOCUMENT, '{"providers.v1": "/v1/"}', Content_Type="Application/JSON; charset=utf-8")
    assert asked_path(registry(host(secure_server), environ=environ), secure_server) == "/v1/acme/x/versions"


@pytest.mark.parametrize(
    ("status", "words"),
    [(404, "is not a Terraform provider registry"), (503, "answered 503 Service Unavailable"), (401, "answered 401")],
)
def test_statuses(secure_server: Server, environ: dict[str, str], status: int, words: str) -> None:
    secure_server.gives(DOCUMENT, "{}", status)
    assert words in str(refusal(registry(host(secure_server), environ=environ)))
    assert len(secure_server.asked) == 1, "discovery is never tried again"


def test_a_document_may_have_a_mebibyte(secure_server: Server, environ: dict[str, str]) -> None:
    secure_server.gives(DOCUMENT, b'{"providers.v1": "/v1/"}' + b" " * 2**20)
    assert "of more than 1 MiB" in str(refusal(registry(host(secure_server), environ=environ)))


@pytest.mark.parametrize(("dialect", "followed"), [(TERRAFORM, 3), (OPENTOFU, 9)])
def test_redirects_are_limited_as_the_tool_does(
    secure_server: Server, environ: dict[str, str], dialect: Dialect, followed: int
) -> None:
    for number in range(20):
        secure_server.gives(f"/{number}", b"", 302, Location=f"/{number + 1}")
    secure_server.gives(DOCUMENT, b"", 302, Location="/0")
    words = str(refusal(registry(host(secure_server), environ=environ, dialect=dialect)))
    assert words.endswith(f"redirects more than {followed} times")
    assert len(secure_server.asked) == followed + 1


def test_one_request_however_many_ask(secure_server: Server, environ: dict[str, str]) -> None:
    begun: list[int] = []

    def when_all_ask(handler: Handler) -> None:
        until(lambda: len(begun) >= 12)
        handler.reply(200, b'{"providers.v1": "/v1/"}')

    secure_server.on(DOCUMENT, when_all_ask)
    asker = registry(host(secure_server), environ=environ)

    def ask(number: int) -> None:
        begun.append(number)
        with pytest.raises(SourceError):
            asker.versions(ProviderAddress(asker.host, "acme", f"x{number}"))

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(ask, range(24)))
    assert secure_server.paths().count(DOCUMENT) == 1
    assert len(secure_server.asked) == 25


def test_a_host_block_is_all_there_is(server: Server) -> None:
    assert (
        asked_path(registry("a.test", services={"a.test": {"providers.v1": server.url("/v1/")}}), server)
        == "/v1/acme/x/versions"
    )
    for services in ({}, {"modules.v1": "/"}, {"providers.v1": None}):
        refusal(registry("a.test", services={"a.test": services}))
    assert len(server.asked) == 1


def test_relative_urls_of_a_host_block(secure_server: Server, environ: dict[str, str]) -> None:
    name = host(secure_server)
    asker = registry(name, environ=environ, services={name: {"providers.v1": "v1/"}})
    assert asked_path(asker, secure_server) == "/.well-known/v1/acme/x/versions"


def test_the_token_goes_to_the_host_itself(secure_server: Server, environ: dict[str, str]) -> None:
    secure_server.gives(DOCUMENT, {"providers.v1": "/v1/"})
    asked_path(registry(host(secure_server), environ=environ, tokens={host(secure_server): Token("T")}), secure_server)
    assert [one.headers.get("authorization") for one in secure_server.asked] == ["Bearer T", "Bearer T"]


def test_the_token_does_not_follow_a_document_to_another_host(
    secure_server: Server, server: Server, environ: dict[str, str]
) -> None:
    secure_server.gives(DOCUMENT, {"providers.v1": secure_server.url("/v1/", host="127.0.0.1")})
    secure_server.gives("/v1/acme/x/versions", b"", 401)
    asker = registry(host(secure_server), environ=environ, tokens={host(secure_server): Token("T")})
    with pytest.raises(SourceError) as caught:
        asker.versions(ProviderAddress(asker.host, "acme", "x"))
    assert "the token was not sent" in str(caught.value)
    assert [one.headers.get("authorization") for one in secure_server.asked] == ["Bearer T", None]


def test_the_users_own_host_block_takes_the_token_along(server: Server) -> None:
    services = {"a.test": {"providers.v1": server.url("/v1/")}}
    asked_path(registry("a.test", services=services, tokens={"a.test": Token("T")}), server)
    assert server.asked[0].headers["authorization"] == "Bearer T"
