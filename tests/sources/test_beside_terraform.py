"""The same loopback registry asked by us and by the real terraform: the same requests, the same verdicts."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from collecting import UNCOLLECTED
from kit.loopback import Server
from kit.waiting import until
from sources.asking import package

from locklens.addresses import Platform, ProviderAddress
from locklens.dialect import TERRAFORM
from locklens.errors import SourceError
from locklens.sources.registries import Registries
from locklens.sources.registry import Registry
from locklens.versions import Version

terraform = shutil.which("terraform")
pytestmark = pytest.mark.skipif(terraform is None, reason="needs terraform")

X = ProviderAddress("reg.acme.test", "acme", "x")


def settings(folder: Path, server: Server, **more: str) -> dict[str, str]:
    path = folder / "cli.tfrc"
    path.write_text(f'host "reg.acme.test" {{\n  services = {{ "providers.v1" = "{server.url("/v1/")}" }}\n}}\n')
    return {"TF_CLI_CONFIG_FILE": str(path), "TF_REGISTRY_DISCOVERY_RETRY": "1", **more}


def told_by_terraform(folder: Path, environ: dict[str, str], host: str = X.host) -> str:
    root = folder / "root"
    root.mkdir()
    (root / "main.tf").write_text(
        'terraform {\n  required_providers {\n    x = { source = "HOST/acme/x", version = "1.0.0" }\n  }\n}\n'.replace(
            "HOST", host
        )
    )
    assert terraform is not None
    command = [terraform, f"-chdir={root}", "init", "-no-color"]
    result = subprocess.run(
        command, env={"PATH": os.environ["PATH"], "HOME": str(folder), "CHECKPOINT_DISABLE": "1", **UNCOLLECTED, **environ},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return " ".join((result.stdout + result.stderr).replace("│", " ").split())


def told_by_us(environ: dict[str, str], host: str = X.host) -> str:
    address = ProviderAddress(host, "acme", "x")
    with Registries(TERRAFORM, environ, given=[host], pause=lambda seconds: None) as registries:
        registry = registries.of(host)
        assert isinstance(registry, Registry)
        try:
            offered = registry.versions(address).versions
            metadata = registry.package(address, offered[0].version, Platform("linux", "amd64"))
            registry.checksums(metadata)
        except SourceError as error:
            return str(error)
    return ""


LISTED: dict[str, Any] = {"versions": [{"version": "1.0", "protocols": ["5.0"]}]}
VERSIONS, PACKAGE = "/v1/acme/x/versions", "/v1/acme/x/1.0.0/download/linux/amd64"


@pytest.mark.parametrize(
    ("fault", "theirs", "ours"),
    [
        ({VERSIONS: (404, {})}, "does not have a provider named", "does not have a provider named"),
        ({VERSIONS: (401, {})}, "rejected the given authentication", "rejected the given authentication"),
        ({VERSIONS: (503, {})}, "503 Service Unavailable returned from", "answered 503 Service Unavailable"),
        ({VERSIONS: (400, {})}, "400 Bad Request", "400 Bad Request"),
        (
            {VERSIONS: (200, {"versions": [{"version": "v1.0.0"}]})},
            "could not query provider registry",
            "invalid version",
        ),
        ({PACKAGE: (404, {})}, "does not have a package available", "does not have a package of"),
        ({PACKAGE: (200, package(os="darwin"))}, "has incorrect target", "the package of another platform"),
        ({PACKAGE: (200, package(shasum="ab"))}, "could not query provider registry", "not 64 hex digits"),
        ({"/SUMS": (404, {})}, "404 Not Found returned from", "404 Not Found returned from"),
        ({"/SUMS.sig": (401, {})}, "401 Unauthorized returned from", "401 Unauthorized returned from"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_faults_are_told_alike_after_the_same_requests(
    server: Server, tmp_path: Path, fault: dict[str, tuple[int, dict[str, Any]]], theirs: str, ours: str
) -> None:
    good = {VERSIONS: (200, LISTED), PACKAGE: (200, package()), "/SUMS": (200, {}), "/SUMS.sig": (200, {})}
    for path, (status, body) in {**good, **fault}.items():
        server.gives(path, body, status)
    environ = settings(tmp_path, server, TF_TOKEN_reg_acme_test="T")
    assert theirs in told_by_terraform(tmp_path, environ)
    asked = [(one.path, one.headers.get("authorization")) for one in server.asked]
    server.asked.clear()
    assert ours in told_by_us(environ)
    if "/SUMS" in fault:
        asked.append(("/SUMS.sig", None))  # Both are asked for at once, also where there is nothing that it signs.
    until(lambda: len(server.asked) >= len(asked))
    assert Counter((one.path, one.headers.get("authorization")) for one in server.asked) == Counter(asked)


def test_a_release_is_found_with_the_same_requests(server: Server, tmp_path: Path) -> None:
    for path, body in {VERSIONS: LISTED, PACKAGE: package(), "/SUMS": {}, "/SUMS.sig": {}}.items():
        server.gives(path, body)
    environ = settings(tmp_path, server)
    told_by_terraform(tmp_path, environ)
    asked = [path for path in server.paths() if path in {VERSIONS, PACKAGE, "/SUMS", "/SUMS.sig"}]
    server.asked.clear()
    assert told_by_us(environ) == ""
    assert asked == [VERSIONS, PACKAGE, "/SUMS", "/SUMS.sig"]
    assert server.paths()[:2] == asked[:2]
    assert sorted(server.paths()) == sorted(asked)
    assert Version.parse("1.0") == Version(1, 0, 0)


DOCUMENT = "/.well-known/terraform.json"
SERVICES: dict[str, Any] = {"providers.v1": "/v1"}


@pytest.mark.parametrize(
    ("routes", "theirs", "ours"),
    [
        ({DOCUMENT: (200, SERVICES, {})}, "does not have a provider named", "does not have a provider named"),
        ({DOCUMENT: (200, {"providers.v1": "v1/"}, {})}, "does not have a provider", "does not have a provider"),
        (
            {DOCUMENT: (404, {}, {})},
            "does not offer a Terraform provider registry",
            "is not a Terraform provider registry",
        ),
        ({DOCUMENT: (503, {}, {})}, "503 Service Unavailable", "503 Service Unavailable"),
        (
            {DOCUMENT: (200, {"providers.v2": "/"}, {})},
            "compatible with a different Terraform version",
            "another protocol version",
        ),
        ({DOCUMENT: (200, SERVICES, {"Content_Type": "text/html"})}, "Content-Type", "content type text/html"),
        (
            {DOCUMENT: (302, {}, {"Location": "/3"}), "/0": (200, SERVICES, {})}
            | {f"/{number}": (302, {}, {"Location": f"/{number - 1}"}) for number in (1, 2, 3)},
            "too many redirects",
            "redirects more than 3 times",
        ),
        (
            {DOCUMENT: (302, {}, {"Location": "/a/2"}), "/a/0": (200, {"providers.v1": "p/"}, {})}
            | {f"/a/{number}": (302, {}, {"Location": f"{number - 1}"}) for number in (1, 2)},
            "does not have a provider",
            "does not have a provider",
        ),
    ],
)
def test_discovery_takes_the_same_ways(
    secure_server: Server,
    authority_file: Path,
    tmp_path: Path,
    routes: dict[str, tuple[int, dict[str, Any], dict[str, str]]],
    theirs: str,
    ours: str,
) -> None:
    for path, (status, body, headers) in routes.items():
        secure_server.gives(path, body, status, **headers)
    host = f"localhost:{secure_server.port}"
    (tmp_path / "cli.tfrc").touch()
    environ = {"TF_CLI_CONFIG_FILE": str(tmp_path / "cli.tfrc"), "SSL_CERT_FILE": str(authority_file)}
    told = told_by_terraform(tmp_path, environ, host)
    asked = secure_server.paths()
    secure_server.asked.clear()
    assert theirs in told
    assert ours in told_by_us(environ, host)
    assert secure_server.paths() == asked
