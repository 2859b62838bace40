"""Hashes a package while it arrives: one pass over its bytes, nothing unpacked to the disk, little in memory."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import partial

from locklens.errors import PackageError
from locklens.hashes import HashedPackage, h1_of_digests
from locklens.packages.archive import read_directory
from locklens.packages.arriving import Arriving, unwritable
from locklens.packages.contents import Contents, Digest
from locklens.packages.contents import check as check_content
from locklens.packages.layout import lay_out
from locklens.packages.pipeline import SecondThread
from locklens.packages.zipstream import read_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

    from locklens.packages.limits import Limits
    from locklens.packages.zipstream import Streamed


def hash_package(
    chunks: Iterable[bytes],
    *,
    limit: Limits,
    spool_folder: Path | None = None,
    on_bytes: Callable[[int], None] | None = None,
    cancel: threading.Event | None = None,
    check: Callable[[list[bytes]], None] = lambda _: None,
) -> HashedPackage:
    """Hashes a zip file of which the bytes arrive one after another.

    A second thread works along until this returns.

    Args:
        chunks: The bytes, in chunks of any sizes, read once in this thread. What they raise passes through.
        limit: What the package may be at most.
        spool_folder: Where the bytes are kept meanwhile, in a file that is gone afterwards; None for the system's
            temporary folder.
        on_bytes: Is told how many bytes each chunk has.
        cancel: Looked at between chunks and blocks.
        check: Is given the paths of all files, and may raise a PackageError for what is missing.

    Raises:
        PackageError: The tools could not unpack it, its `h1` could not be said, or it is beyond a bound.
        RunCancelledError: The run was cancelled.
        ConfigurationError: There is no room for the temporary file.
    """
    with _spool(spool_folder) as spool, SecondThread() as second:
        arriving = Arriving(chunks, spool, second, limit=limit, on_bytes=on_bytes, cancel=cancel)
        streamed = read_entries(arriving, second, limit)
        arriving.drain()
        second.finish()
        zh = arriving.zh
        try:
            return _resolve(spool, zh, arriving.size, streamed, second=second, limit=limit, cancel=cancel, check=check)
        except PackageError as error:
            error.zh = zh
            raise
        except OSError as error:
            raise unwritable(error) from error


def _resolve(
    spool: BinaryIO,
    zh: str,
    size: int,
    streamed: Mapping[int, Streamed],
    *,
    second: SecondThread,
    limit: Limits,
    cancel: threading.Event | None,
    check: Callable[[list[bytes]], None],
) -> HashedPackage:
    """Holds what passed against the central directory, and reads again what it does not confirm."""
    layout = lay_out(read_directory(spool, size, limit), size, limit)
    contents = Contents(spool, size, cancel=cancel)
    digests: dict[bytes, Digest] = {}
    read = []
    for path, entry in layout.opened:
        passed = streamed.get(entry.offset)
        if passed is not None and passed.is_of(entry):
            digests[path] = passed.digest
            continue
        digest = digests[path] = Digest()
        for block in contents.blocks(entry):
            second.do(partial(digest.update, block))
        read.append((entry, digest))
    second.finish()
    for entry, digest in read:
        check_content(entry, digest)
    check(list(layout.files))
    h1 = h1_of_digests((path, digest.hex()) for path, digest in digests.items())
    return HashedPackage(zh, h1, size, layout.size, len(layout.files))


@contextmanager
def _spool(folder: Path | None) -> Iterator[BinaryIO]:
    """A temporary file without a name where the system has such: not even a killed process leaves it behind."""
    import tempfile

    try:
        file = tempfile.TemporaryFile(prefix="locklens-", dir=folder)  # noqa: SIM115 - closing it may fail
    except OSError as error:
        raise unwritable(error) from error
    try:
        yield file
    finally:
        # Bytes that were not written yet may find no room; whoever needed them was told.
        with suppress(OSError):
            file.close()
