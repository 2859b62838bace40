"""`advisories` as a use case: the kept database, its replacement by one that the user names, and its report."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from locklens.advisories import ATTRIBUTION, LICENCE
from locklens.advisories.database import (
    MAX_ZIP_BYTES,
    default_advisories_path,
    keep_database,
    kept_database,
    read_database,
    read_database_bytes,
)
from locklens.errors import UsageError
from locklens.review.reports.documents import Count, Instant, JsonStruct
from locklens.text import counted, page, size_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.advisories import AdvisoryDatabase
    from locklens.text import Printable

GO_DATABASE = "https://vuln.go.dev/vulndb.zip"
"""Where Go's own database is served whole."""

_SECONDS = 300.0
_RETRIES = 1


class KeptAdvisories(Struct, frozen=True):
    """The kept database.

    Attributes:
        size: Bytes of that file.
        database: None where none is kept.
    """

    file: str
    size: int
    database: AdvisoryDatabase | None


def kept_advisories() -> KeptAdvisories:
    """Return the kept database.

    Raises:
        ConfigurationError: It cannot be read.
    """
    path = default_advisories_path()
    database = kept_database(path)
    return KeptAdvisories(str(path), path.stat().st_size if database is not None else 0, database)


def update_advisories(source: str | None, environ: Mapping[str, str]) -> KeptAdvisories:
    """Replace the kept database by that at an address, in a folder or a file; None for Go's own.

    Raises:
        ConfigurationError: It cannot be read, or not kept.
        SourceError: The address gives no database.
    """
    now = datetime.now(UTC)
    place = source or GO_DATABASE
    if "://" in place:
        database = _fetched(place, environ, now)
    else:
        database = read_database(Path(place), source=str(Path(place).absolute()), now=now)
    keep_database(database)
    return kept_advisories()


def _fetched(url: str, environ: Mapping[str, str], now: datetime) -> AdvisoryDatabase:
    from locklens.errors import UnavailableError
    from locklens.sources.http import RequestKind, status_words
    from locklens.sources.http.client import Client
    from locklens.sources.urls import host_name, may_carry_token, url_for_log

    if urlsplit(url).scheme not in ("http", "https") or not may_carry_token(url):
        raise UsageError(f"{url_for_log(url)}: only https is asked for advisories", hint=f"such as {GO_DATABASE}")
    address = url if urlsplit(url).path.endswith((".zip", ".json")) else f"{url.rstrip('/')}/vulndb.zip"
    with closing(Client(environ)) as client:
        answer = client.get(address, RequestKind("a database of advisories", MAX_ZIP_BYTES, _SECONDS, retries=_RETRIES))
    shown = url_for_log(address)
    if not answer.body:
        reason = f"{shown}: {status_words(answer.status)}"
        hint = "name the address of a vulndb.zip, or a folder or file"
        raise UnavailableError(reason, source=host_name(address), hint=hint)
    name = urlsplit(address).path.rpartition("/")[2]
    return read_database_bytes(answer.body, name=name, source=shown, now=now)


class SkippedJson(JsonStruct, frozen=True):
    """The entries that could not be read."""

    entries: Count
    reasons: Annotated[list[str], Meta(description="Of the first of them.")]


class AdvisoryDatabaseJson(JsonStruct, frozen=True):
    """The database."""

    source: str
    as_of: Annotated[str | None, Meta(description="The newest change of an entry; null where the database says none.")]
    read_at: Instant
    entries: Count
    withdrawn: Count
    skipped: SkippedJson
    licence: str
    attribution: str


class AdvisoriesDocument(JsonStruct, frozen=True, tag_field="schema", tag=1):
    """The kept database of advisories."""

    file: str
    size: Count
    database: Annotated[AdvisoryDatabaseJson | None, Meta(description="Null where none is kept.")]

    @classmethod
    def of(cls, kept: KeptAdvisories) -> AdvisoriesDocument:
        """Describe the kept database."""
        found = kept.database
        described = None
        if found is not None:
            described = AdvisoryDatabaseJson.like(
                found,
                entries=len(found.advisories),
                skipped=SkippedJson(entries=found.skipped_count, reasons=list(found.skipped)),
                licence=LICENCE,
                attribution=ATTRIBUTION,
            )
        return cls(file=kept.file, size=kept.size, database=described)


def advisories_text(kept: KeptAdvisories) -> Printable:
    """Render what is kept."""
    found = kept.database
    if found is None:
        return page(
            (
                f"no database of advisories is kept ({kept.file})",
                "locklens advisories update DIR|FILE|URL reads one; nothing is asked for by itself",
            )
        )
    skipped = (f"skipped        {counted(found.skipped_count, 'entry', 'entries')} that cannot be read",)
    return page(
        (
            f"file           {kept.file}",
            f"size           {size_words(kept.size)}",
            f"source         {found.source}",
            f"date           {found.date_words}",
            f"read           {found.read_at}",
            f"advisories     {len(found.advisories)}, and {found.withdrawn} withdrawn",
            *(skipped if found.skipped_count else ()),
            *(f"               {reason}" for reason in found.skipped),
            f"licence        {ATTRIBUTION}",
        )
    )
