"""What was answered, as httpx has it: the one module that loads all of httpx, so that this can wait for an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import httpcore


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: Iterable[bytes], close: Callable[[], None]) -> None:
        self._stream = stream
        self._close = close

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        self._close()


def response(answer: httpcore.Response, close: Callable[[], None]) -> httpx.Response:
    """Returns an answer with its body unread and Location among the extensions.

    Args:
        answer: Of a connection.
        close: Is called when the answer is closed, also more than once.
    """
    assert not hasattr(answer.stream, "__aiter__")
    # httpx would read a Location at once, and stop at one that it does not like with a less clear error.
    kept = [(name, value) for name, value in answer.headers if name.lower() != b"location"]
    locations = [value for name, value in answer.headers if name.lower() == b"location"]
    extensions = {"location": locations[0].decode("utf-8", "replace") if locations else ""}
    return httpx.Response(answer.status, headers=kept, stream=_Body(answer.stream, close), extensions=extensions)


def parts_of(url: str) -> tuple[str, str, int | None, str, str]:
    """Returns scheme, host, port, path with query, and authority of a URL.

    Raises:
        ValueError: It is none.
    """
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError(str(error)) from error
    host, path = parsed.raw_host.decode("ascii"), parsed.raw_path.decode("ascii")
    return parsed.scheme, host, parsed.port, path, parsed.netloc.decode("ascii")
