"""Puts together what asks a registry, for tests that need only one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kit.loopback import Server

from locklens.dialect import TERRAFORM, Dialect
from locklens.project.cliconfig import Token
from locklens.sources.helpers import Helper
from locklens.sources.hosts import Access, Credentials, Discovery
from locklens.sources.http import Kinds
from locklens.sources.http.client import Client
from locklens.sources.registry import Registry
from locklens.storage.cache import Cache

SHASUM = "ab" * 32


def registry(
    host: str,
    *,
    environ: Mapping[str, str] | None = None,
    services: Mapping[str, Mapping[str, str | None]] | None = None,
    tokens: Mapping[str, Token | None] | None = None,
    helper: Helper | None = None,
    dialect: Dialect = TERRAFORM,
    memory: Cache | None = None,
    is_offline: bool = False,
) -> Registry:
    environ = environ or {}
    client = Client(environ, memory=memory, is_offline=is_offline, pause=lambda seconds: None)
    kinds = Kinds.of(dialect, environ)
    credentials = Credentials(environ, tokens or {}, helper)
    discovery = Discovery(client, kinds.discovery, dialect=dialect, given=services or {}, credentials=credentials)
    return Registry(host, Access(client, kinds, dialect, credentials, discovery))


def plain(server: Server, **more: Any) -> Registry:
    """A registry without TLS, which only a `host` block can name."""
    return registry("acme.test", services={"acme.test": {"providers.v1": server.url("/v1/")}}, **more)


def package(**more: Any) -> dict[str, Any]:
    return {
        "protocols": ["5.0"],
        "os": "linux",
        "arch": "amd64",
        "filename": "terraform-provider-x_1.0.0_linux_amd64.zip",
        "download_url": "../../pkg.zip",
        "shasum": SHASUM,
        "shasums_url": "/SUMS",
        "shasums_signature_url": "/SUMS.sig",
        "signing_keys": {"gpg_public_keys": [{"key_id": "1", "ascii_armor": "KEY", "trust_signature": "TRUST"}]},
        **more,
    }
