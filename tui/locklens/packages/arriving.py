"""The bytes of a package while they arrive: kept and hashed on the way, read once from the front."""

from __future__ import annotations

import hashlib
from functools import partial

from locklens.errors import PackageError
from locklens.hashes import zh_of
from locklens.packages.contents import PIECE
from locklens.packages.limits import stop_if
from locklens.text import size_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

    from locklens.packages.limits import Limits
    from locklens.packages.pipeline import SecondThread


class Arriving:
    """A source of packed bytes that are on their way.

    Args:
        chunks: Of any sizes.
        spool: Where all bytes are written as they arrive, in the second thread.
        second: The thread for that and for the `zh`.
        limit: Bytes after which they are given up.
        on_bytes: Is told of every chunk's bytes.
        cancel: Ends it between two chunks, and where `stop_if_cancelled` is called.
    """

    def __init__(
        self,
        chunks: Iterable[bytes],
        spool: BinaryIO,
        second: SecondThread,
        *,
        limit: Limits,
        on_bytes: Callable[[int], None] | None,
        cancel: threading.Event | None,
    ) -> None:
        self.size = 0
        self._cancel = cancel
        self._chunks = _bounded(chunks, limit, on_bytes, cancel)
        self._spool, self._second = spool, second
        self._sha256 = hashlib.sha256()
        self._data = memoryview(b"")
        self._at = 0

    @property
    def position(self) -> int:
        """The number of bytes read."""
        return self.size - len(self._data) + self._at

    @property
    def zh(self) -> str:
        """Of all bytes, once they were drained and the second thread has finished."""
        return zh_of(self._sha256.hexdigest())

    def stop_if_cancelled(self) -> None:
        """End the work where the run was cancelled: one piece may inflate to a thousand times its bytes.

        Raises:
            RunCancelledError: It was.
        """
        stop_if(self._cancel)

    def some(self) -> memoryview:
        """The next bytes, at most PIECE; none at the end."""
        if self._at == len(self._data):
            self._receive()
        piece = self._data[self._at : self._at + PIECE]
        self._at += len(piece)
        return piece

    def give_back(self, count: int) -> None:
        """Put back that many of the bytes that `some` gave last."""
        self._at -= count

    def take(self, count: int) -> bytes:
        """Exactly that many bytes; fewer only at the end."""
        taken = bytearray()
        while len(taken) < count and (piece := self.some()):
            more = piece[: count - len(taken)]
            taken += more
            self.give_back(len(piece) - len(more))
        return bytes(taken)

    def drain(self) -> None:
        """Let the rest arrive without looking at it."""
        while self._receive():
            pass
        self._at = len(self._data)

    def _receive(self) -> bool:
        """Get the next chunk, or as many as make a piece: each step costs more than its bytes where these are few."""
        chunk = next(self._chunks, b"")
        if 0 < len(chunk) < PIECE:
            gathered = bytearray(chunk)
            while len(gathered) < PIECE and (chunk := next(self._chunks, b"")):
                gathered += chunk
            chunk = bytes(gathered)
        if not chunk:
            return False
        self.size += len(chunk)
        self._data, self._at = memoryview(chunk), 0
        self._second.do(partial(self._keep, chunk))
        return True

    def _keep(self, chunk: bytes) -> None:
        self._sha256.update(chunk)
        self._spool.write(chunk)


def _bounded(
    chunks: Iterable[bytes],
    limit: Limits,
    on_bytes: Callable[[int], None] | None,
    cancel: threading.Event | None,
) -> Iterator[bytes]:
    """Pass on what arrives, without empty chunks, as far as it may go."""
    stop_if(cancel)
    size = 0
    for chunk in chunks:
        stop_if(cancel)
        size += len(chunk)
        if size > limit.packed:
            raise PackageError(f"the package has more than {size_words(limit.packed)}, which is not read")
        if on_bytes is not None:
            on_bytes(len(chunk))
        if chunk:
            yield chunk
