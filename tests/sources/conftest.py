"""Servers for the tests of what is asked over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from kit.loopback import Server, server_context, serving, write_authority


@pytest.fixture(autouse=True)
def no_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "TF_CLI_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def authority_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_authority(authority, tmp_path_factory.mktemp("authority") / "ca.pem")


@pytest.fixture
def secure_server(authority: trustme.CA) -> Iterator[Server]:
    with serving(server_context(authority, "localhost", "127.0.0.1")) as running:
        yield running
