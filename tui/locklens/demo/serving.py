"""What a machine needs beside the demo: the CLI configuration for its registry, packages, and advisories.

The packages are of linux_amd64, whose `h1` the sample lock files have. One installed package was altered, and one is
missing.

| place | packages |
|---|---|
| infra/prod/network/.terraform | aws and random as locked, tls altered, time missing |
| infra/prod/dns/.terraform | cloudflare as locked, netbox of another build than the plugin cache's |
| the plugin cache | random, tls and netbox as published |
| the mirror, for corp/backup alone | corp/backup 0.9.2, unpacked: its `h1` is locked without any signed hash |

The advisories are a small vulnerability database in the form of the Go vulnerability database (OSV). They are invented,
and their ids (`GO-0000-…`) belong to no database.

| id | what it shows in hashicorp/vault 4.6.0 -> 4.6.1 |
|---|---|
| GO-0000-0001 | fixed by the upgrade; its function is linked |
| GO-0000-0002 | fixed by the upgrade; its function is not linked by name |
| GO-0000-0003 | about the provider itself, whose releases are not Go versions: fixed in 4.8.0 |
| GO-0000-0004 | in the toolchain; fixed by the upgrade |
| GO-0000-0005 | before and after, without names of functions |
| GO-0000-0006 | withdrawn: never counted |
| GO-0000-0007 | introduced by hashicorp/vault 4.8.0 and hashicorp/aws 6.2.0, with a module that they add |
| GO-0000-0008 | about acme/netbox itself; 3.10.0 fixes it |
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.demo import write_unpacked
from locklens.demo.faults import Fault, FaultRule
from locklens.text import json_text, shell_word

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from locklens.demo.registry import DemoRegistry

FILE_NAME = "demo.tfrc"

SAMPLE_RULES = (
    FaultRule(Fault.REPUBLISHED, "registry.terraform.io/acme/demo", "1.4.2"),
    FaultRule(Fault.OTHER_SIGNER, "registry.terraform.io/acme/demo", "1.4.2"),
    FaultRule(Fault.OTHER_SIGNER, "registry.terraform.io/elastic/ec", "0.12.4"),
    FaultRule(Fault.UNSIGNED, "registry.terraform.io/fastly/fastly"),
    FaultRule(Fault.EXPIRED_KEY, "registry.terraform.io/cloudflare/cloudflare"),
    FaultRule(Fault.SERVER_ERROR, "registry.opentofu.org"),
)
"""Faults beside the sample repository: a release republished with another key, a new version with another signer, an
unsigned provider, an expired key, a registry that does not answer. Everything else is intact."""

_COMMENT = "# Written by locklens demo: the registries below run on this machine and serve invented releases.\n"


def cli_configuration(registry: DemoRegistry, more: str = "") -> str:
    """Return a CLI configuration that maps each of the registry's hosts to loopback; `more` is added at its end."""
    blocks = (
        f'host "{host}" {{\n  services = {{\n    "providers.v1" = "{registry.service_url(host)}"\n  }}\n}}\n'
        for host in registry.hosts
    )
    return "\n".join((_COMMENT, *blocks, *([more] if more else [])))


def write_cli_configuration(registry: DemoRegistry, folder: Path, more: str = "") -> Path:
    """Write the CLI configuration to a file in an existing folder, and return its path; `more` is added at its end.

    Raises:
        OSError: The file cannot be written.
    """
    path = folder / FILE_NAME
    path.write_text(cli_configuration(registry, more), "utf-8", newline="\n")
    return path


def environment(configuration: Path) -> dict[str, str]:
    """Return the environment with which terraform, tofu and locklens use only the demo registry."""
    return {"TF_CLI_CONFIG_FILE": str(configuration), "CHECKPOINT_DISABLE": "1"}


def serving_lines(registry: DemoRegistry, configuration: Path, *, has_sample_faults: bool = False) -> list[str]:
    """Return the start message: the registry's address, and the settings for other tools."""
    lines = [f"The demo registry listens at {registry.url} until it is stopped. It serves:"]
    lines += [f"  {host}" for host in registry.hosts]
    if has_sample_faults:
        lines += ["", "With the faults of the sample (--fault FAULT replaces them, --fault none removes them):"]
        lines += [f"  {' '.join(filter(None, (rule.fault, rule.provider, rule.version)))}" for rule in SAMPLE_RULES]
    lines += ["", "In another terminal:"]
    lines += [f"  export {name}={shell_word(value)}" for name, value in environment(configuration).items()]
    return lines


_PLATFORM = "linux_amd64"
_NETWORK, _DNS = "infra/prod/network", "infra/prod/dns"
_INSTALLED = (
    (_NETWORK, "hashicorp/aws", "6.2.0"),
    (_NETWORK, "hashicorp/random", "3.6.3"),
    (_NETWORK, "hashicorp/tls", "4.1.0"),
    (_DNS, "cloudflare/cloudflare", "4.51.0"),
    (_DNS, "acme/netbox", "3.10.0"),
)
_ALTERED = (_NETWORK, "hashicorp/tls", "4.1.0")
_CACHED = (("hashicorp/random", "3.6.3"), ("hashicorp/tls", "4.1.0"), ("acme/netbox", "3.10.0"))
_MIRRORED = ("corp/backup", "0.9.2")


def write_places(folder: Path, top: Path) -> str:
    """Write the packages, and return the lines of a CLI configuration that name the plugin cache and the mirror.

    Both are made in the folder; other packages are installed below `top`, the sample repository.

    Raises:
        OSError: They cannot be written.
    """
    for root, source, version in _INSTALLED:
        place = _write(top / root / ".terraform/providers", source, version)
        if (root, source, version) == _ALTERED:
            program = next(place.glob("terraform-provider-*"))
            program.write_bytes(program.read_bytes() + b"# Not as published.\n")
    cache, mirror = folder / "plugin-cache", folder / "mirror"
    for source, version in _CACHED:
        _write(cache, source, version)
    source, version = _MIRRORED
    _write(mirror, source, version)
    return (
        f"plugin_cache_dir = {_quoted(cache)}\n\nprovider_installation {{\n"
        f'  filesystem_mirror {{\n    path    = {_quoted(mirror)}\n    include = ["{source}"]\n  }}\n'
        f'  direct {{\n    exclude = ["{source}"]\n  }}\n}}\n'
    )


def _write(top: Path, source: str, version: str) -> Path:
    return write_unpacked(top, f"registry.terraform.io/{source}", version, _PLATFORM)


def _quoted(path: Path) -> str:
    return json_text(str(path)).strip()


MODIFIED = "2026-11-16T09:00:00Z"
"""The time of the newest change, which is that of the whole database."""


class _Advisory(Struct, frozen=True):
    """One advisory about one module.

    Attributes:
        number: The end of its id.
        module: Module path, or `stdlib`.
        fixed: The first version without it.
        package: The package with the defect; "" for none, which an unreviewed advisory has.
        is_of_provider: True if `fixed` is a release of the provider, and no version of its Go module.
        withdrawn: When it was withdrawn; "" if it holds.
    """

    number: int
    module: str
    summary: str
    fixed: str
    package: str = ""
    symbols: tuple[str, ...] = ()
    introduced: str = "0"
    is_of_provider: bool = False
    withdrawn: str = ""

    def document(self) -> dict[str, object]:
        name = f"GO-0000-{self.number:04}"
        events = [{"introduced": self.introduced}, {"fixed": self.fixed}]
        specific: dict[str, object] = {}
        if self.package:
            specific["imports"] = [{"path": self.package, "symbols": self.symbols}]
        if self.is_of_provider:
            specific["custom_ranges"] = [{"type": "ECOSYSTEM", "events": events}]
        reviewed = "REVIEWED" if self.package else "UNREVIEWED"
        return {
            "schema_version": "1.3.1",
            "id": name,
            "modified": MODIFIED,
            "published": "2026-11-02T09:00:00Z",
            **({"withdrawn": self.withdrawn} if self.withdrawn else {}),
            "aliases": [f"CVE-0000-{self.number:04}"],
            "summary": self.summary,
            "details": f"{self.summary} An invented advisory of the locklens demo.",
            "affected": [
                {
                    "package": {"name": self.module, "ecosystem": "Go"},
                    "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}] if self.is_of_provider else events}],
                    "ecosystem_specific": specific,
                }
            ],
            "references": [{"type": "ADVISORY", "url": f"https://advisories.example.com/{name}"}],
            "database_specific": {"url": f"https://advisories.example.com/{name}", "review_status": reviewed},
        }


_ADVISORIES = (
    _Advisory(
        1, "golang.org/x/net", "Parsing HTML takes quadratic time.", "0.33.0", "golang.org/x/net/html", ("Parse",)
    ),
    _Advisory(
        2, "golang.org/x/net", "A proxy is bypassed by an IPv6 zone.", "0.33.0", "golang.org/x/net/proxy", ("Dial",)
    ),
    _Advisory(
        3,
        "github.com/hashicorp/terraform-provider-vault",
        "Tokens are written to the debug log.",
        "4.8.0",
        is_of_provider=True,
    ),
    _Advisory(
        4, "stdlib", "A handshake accepts an expired session.", "1.23.4", "crypto/tls", ("Conn.Handshake",), "1.23.0-0"
    ),
    _Advisory(5, "github.com/hashicorp/vault/api", "Redirects keep the namespace header.", "1.18.0"),
    _Advisory(
        6,
        "google.golang.org/grpc",
        "Reported in error.",
        "1.90.0",
        "google.golang.org/grpc",
        ("Server.Serve",),
        withdrawn="2026-11-09T09:00:00Z",
    ),
    _Advisory(7, "go.opentelemetry.io/otel", "Baggage of any length is kept.", "1.37.0"),
    _Advisory(
        8, "github.com/acme/terraform-provider-netbox", "Prefixes of other tenants are listed.", "3.10.0",
        is_of_provider=True,
    ),
)  # fmt: skip


def advisory_files() -> dict[str, bytes]:
    """Return the files of the database: the path of each below its folder, and its content."""
    documents = {f"ID/GO-0000-{each.number:04}.json": each.document() for each in _ADVISORIES}
    return {
        "index/db.json": json_text({"modified": MODIFIED}).encode(),
        **{name: json_text(document).encode() for name, document in documents.items()},
    }


@contextmanager
def sample_advisories(folder: Path) -> Iterator[None]:
    """Keep the database in a folder for the time being, in place of the user's own.

    Raises:
        OSError: It cannot be written.
    """
    from locklens.advisories.database import PLACE, keep_database, read_database

    path, entries, before = folder / "advisories.bin", folder / "advisories", os.environ.get(PLACE)
    for name, content in advisory_files().items():
        (entries / name).parent.mkdir(parents=True, exist_ok=True)
        (entries / name).write_bytes(content)
    found = read_database(entries, source="the locklens demo", now=datetime.now(UTC))
    keep_database(found, path)
    os.environ[PLACE] = str(path)
    try:
        yield
    finally:
        os.environ.pop(PLACE)
        if before is not None:
            os.environ[PLACE] = before
