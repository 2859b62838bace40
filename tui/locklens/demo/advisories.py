"""A small vulnerability database beside the sample releases, in the form of the Go vulnerability database (OSV).

The advisories are invented, and their ids (`GO-0000-…`) belong to no database.

| id | what it shows in hashicorp/vault 4.6.0 -> 4.6.1 |
|---|---|
| GO-0000-0001 | fixed by the upgrade; its function is linked |
| GO-0000-0002 | fixed by the upgrade; its function is not linked by name |
| GO-0000-0003 | about the provider itself, whose releases are no Go versions: fixed in 4.8.0 |
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

from locklens.text import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODIFIED = "2026-11-16T09:00:00Z"
"""The time of the newest change, which is that of the whole database."""


class _Advisory(Struct, frozen=True):
    """One advisory about one module.

    Attributes:
        number: The end of its id.
        module: Module path, or `stdlib`.
        summary: One sentence.
        fixed: The first version without it.
        package: The package with the defect; "" for none, which an unreviewed advisory has.
        symbols: Functions and methods with the defect.
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


def write_advisories(folder: Path) -> Path:
    """Write the database into a folder, creating it, and return it.

    Raises:
        OSError: It cannot be written.
    """
    for name, content in advisory_files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


@contextmanager
def sample_advisories(folder: Path) -> Iterator[None]:
    """Keep the database in a folder for the time being, in place of the user's own.

    Raises:
        OSError: It cannot be written.
    """
    from locklens.advisories.kept import PLACE, keep_database
    from locklens.advisories.reading import read_database

    path, before = folder / "advisories.bin", os.environ.get(PLACE)
    found = read_database(write_advisories(folder / "advisories"), source="the locklens demo", now=datetime.now(UTC))
    keep_database(found, path)
    os.environ[PLACE] = str(path)
    try:
        yield
    finally:
        os.environ.pop(PLACE)
        if before is not None:
            os.environ[PLACE] = before
