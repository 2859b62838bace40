"""Requests and answers as values."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Response(Struct, frozen=True):
    """A server's answer, after redirects.

    Attributes:
        status: Of HTTP. Every one that the tools do not ask again for comes through.
        url: That answered, to which relative URLs in the body refer. Of a cached answer, without what stood
            behind `?` where that was not asked for.
        content_type: The header, None where there is none.
        body: Decompressed; b"" unless the status is 200.
        had_token: True if a token was sent with the request.
        as_of: When it was asked, ISO 8601 in UTC with seconds.
        is_remembered: True if it was asked in an earlier run.
    """

    status: int
    url: str
    content_type: str | None
    body: bytes
    had_token: bool
    as_of: str
    is_remembered: bool = False


class Transfer(Struct, frozen=True):
    """A large file while it arrives. Its chunks are read once, in the thread that opened it.

    Attributes:
        url: That answered, after redirects.
        length: Bytes, None where the server does not say.
        chunks: The bytes.
    """

    url: str
    length: int | None
    chunks: Iterator[bytes]


class Exchange(Struct, frozen=True):
    """One line of the log: a request that was sent, or a cached answer that was used instead.

    Attributes:
        url: Without what is behind `?` and before `@`.
        outcome: The status, or why there is none.
        seconds: It took.
        size: Bytes of the body.
        attempt: From 1.
        with_token: True if a token went along.
        as_of: When it was asked, ISO 8601 in UTC with seconds.
        is_remembered: True if that was in an earlier run: then nothing was sent now.
    """

    url: str
    outcome: str
    seconds: float
    size: int
    attempt: int
    with_token: bool
    as_of: str
    is_remembered: bool = False

    def __str__(self) -> str:
        if self.is_remembered:
            return f"GET {self.url}: {self.outcome}, {self.size} bytes, cached, as of {self.as_of}"
        again = f", attempt {self.attempt}" if self.attempt > 1 else ""
        token = ", with a token" if self.with_token else ""
        return f"GET {self.url}: {self.outcome}, {self.size} bytes in {self.seconds * 1000:.0f} ms{again}{token}"


def moment() -> str:
    """The time, as answers have it: ISO 8601 in UTC with seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def status_words(status: int) -> str:
    """A status with its standard phrase; the server's own phrase could be any text."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
