"""The cache: answers, verifications and hashes kept between runs.

Answers of registries grow old; whether one is still good enough is for those who ask to judge. A verification and the
hashes of a package are facts about digests: they stay true. All of it can be had again, so it lies in the cache folder,
apart from the user's own work in `locklens.storage.store`.

The file is believed, so only its owner may read or write it. No token is ever in it, nor what stands behind `?` in the
URL that was asked or that answered: that may be a signature. Several processes may use it at once, and trouble with it
stops no run; `Cache.take_notices` says in sentences what went wrong.
"""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from locklens.hashes import HashedPackage
from locklens.storage import cachefile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from locklens.storage.database import Database

MOST_BODY = 16 * 1024 * 1024
"""Bytes of one answer: twice of what a registry's may have."""

_MOST_CONTENT_TYPE = 200
_BUFFERED_ITEMS = 256
_BUFFERED_BYTES = 4 * 1024 * 1024
_BUFFERED_SECONDS = 5.0
"""Writes are batched: a transaction costs as much as fifty answers."""


class RememberedAnswer(Struct, frozen=True):
    """A server's cached answer.

    Attributes:
        url: That was asked; without a user name or password.
        with_token: True if a token was sent there.
        status: Of HTTP.
        final_url: That answered, after redirects. Where it is not the URL that was asked, it is cached without
            what stands behind `?`.
        content_type: The header, None where there was none.
        body: Decompressed.
        as_of: When it was asked, ISO 8601 in UTC with seconds: "2026-11-21T14:02:09Z".
    """

    url: str
    with_token: bool
    status: int
    final_url: str
    content_type: str | None
    body: bytes
    as_of: str


class CacheInfo(Struct, frozen=True):
    """The contents of the cache.

    Attributes:
        path: Of the file; None where nothing outlives the run.
        size: Bytes on disk.
        answers: Number of answers; the others are numbers too.
        oldest: When the oldest answer was given, ISO 8601 in UTC; None where there is none.
        newest: When the newest answer was given, in the same form.
    """

    path: Path | None
    size: int = 0
    answers: int = 0
    verifications: int = 0
    packages: int = 0
    oldest: str | None = None
    newest: str | None = None


def default_cache_path() -> Path:
    """The path of the file, in the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("locklens", appauthor=False) / "cache.sqlite3"


class Cache:
    """Remembers answers, verifications and hashes of packages. Safe to use from several threads and processes.

    What is put in is seen at once by this one, and by others when it is written: every few seconds, and at the end.
    Use it in a `with` statement, or close it. No method but `clear` raises.

    Args:
        path: The file; None for the user's own.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._is_on_disk = True
        self._opened: Database | None = None
        self._lock = threading.RLock()
        self._answers: dict[cachefile.CacheKey, cachefile.CacheRow] = {}
        self._verifications: dict[str, bytes] = {}
        self._packages: dict[str, HashedPackage] = {}
        self._bytes = 0
        self._since = 0.0

    @classmethod
    def in_memory(cls) -> Self:
        """Return one that reads and write no file, and forget with the run."""
        cache = cls()
        cache._is_on_disk = False
        return cache

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what is still to be written, and close the file."""
        with self._lock:
            self.flush()
            if self._opened is not None:
                self._opened.close()

    def take_notices(self) -> tuple[str, ...]:
        """Return the failures since the last call, in sentences."""
        with self._lock:
            return () if self._opened is None else self._opened.take_notices()

    def answer(self, url: str, *, with_token: bool) -> RememberedAnswer | None:
        """Return the cached answer of any age; None for none.

        Args:
            url: That is asked.
            with_token: True if a token would be sent: what a token bought is not for those who have none, nor the
                other way round.
        """
        key = (_digest(url), with_token)
        with self._lock:
            row = self._answers.get(key) or self._database.run(lambda file: cachefile.answer(file, key))
        if row is None:
            return None
        status, final_url, content_type, as_of, _, packed = row
        body = _unpacked(packed)
        if body is None:
            return None
        return RememberedAnswer(url, with_token, status, final_url or url, content_type, body, as_of)

    def keep_answer(self, answer: RememberedAnswer) -> None:
        """Cache an answer in place of the last one; one that is too large is not cached."""
        if len(answer.body) > MOST_BODY:
            return
        import zlib

        packed = zlib.compress(answer.body)
        final_url = "" if answer.final_url == answer.url else answer.final_url.partition("?")[0]
        content_type = None if answer.content_type is None else answer.content_type[:_MOST_CONTENT_TYPE]
        row = (answer.status, final_url, content_type, answer.as_of, len(packed), packed)
        with self._lock:
            self._answers[_digest(answer.url), answer.with_token] = row
            self._has_grown(len(packed))

    def verification(self, key: str) -> bytes | None:
        """Return the cached record of a verification.

        Args:
            key: A digest of all that it is about.
        """
        with self._lock:
            buffered = self._verifications.get(key)
            return buffered or self._database.run(lambda file: cachefile.verification(file, key))

    def keep_verification(self, key: str, data: bytes) -> None:
        """Cache a verification as recorded by `locklens.trust.signature`."""
        with self._lock:
            self._verifications[key] = data
            self._has_grown(len(data))

    def package(self, zh: str) -> HashedPackage | None:
        """Return what is known of the package with this hash of its zip."""
        with self._lock:
            if zh in self._packages:
                return self._packages[zh]
            row = self._database.run(lambda file: cachefile.package_of_row(file, zh)) if zh.isascii() else None
        return None if row is None else HashedPackage(*row)

    def hashes(self, zhs: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return the hashes of the files of each package that was hashed before, by its `zh`."""
        wanted = [zh for zh in dict.fromkeys(zhs) if zh.isascii()]
        with self._lock:
            found = self._database.run(lambda file: cachefile.hashes(file, wanted)) if wanted else {}
            return found | {zh: self._packages[zh].of_files for zh in wanted if zh in self._packages}

    def keep_package(self, package: HashedPackage) -> None:
        """Cache the hashes of a package without expiry, since its bytes are named by their hash."""
        with self._lock:
            self._packages[package.zh] = package
            self._has_grown(sum(map(len, package.hashes)))

    def flush(self) -> None:
        """Write what is still to be written."""
        with self._lock:
            if not (self._answers or self._verifications or self._packages):
                return
            now = datetime.now(UTC)
            answers = [(*key, *row) for key, row in self._answers.items()]
            verifications = tuple(self._verifications.items())
            packages = [structs.astuple(each) for each in self._packages.values()]
            self._database.run(
                lambda file: cachefile.write(file, now, answers=answers, verifications=verifications, packages=packages)
            )
            self._drop()

    def info(self) -> CacheInfo:
        """Return the contents of the cache; create no file."""
        with self._lock:
            self.flush()
            if self._database.is_kept and not self._database.is_there:
                return CacheInfo(self._database.path)
            counted = self._database.run(cachefile.counts)
            path = self._database.path if self._database.is_kept else None
            return CacheInfo(path, self._database.size, *counted)

    def clear(self) -> None:
        """Forget everything, also where the file is damaged or was written by a newer locklens.

        Raises:
            ConfigurationError: The file can be neither emptied nor deleted.
        """
        with self._lock:
            self._drop()
            self._database.clear()

    @property
    def is_kept(self) -> bool:
        """True if the cache outlives the run."""
        return self._database.is_kept

    @property
    def _database(self) -> Database:
        if self._opened is None:
            from locklens.storage.database import Database, DatabaseLayout

            layout = DatabaseLayout(
                cachefile.CACHE_SCHEMA,
                cachefile.TABLES,
                name="cache",
                contents="Cached answers",
                stays_open=True,
                is_believed=True,
            )
            place = (lambda: self._path or default_cache_path()) if self._is_on_disk else None
            self._opened = Database(layout, place)
        return self._opened

    def _has_grown(self, size: int) -> None:
        """Write the buffer where it has become large or old."""
        if not self._bytes:
            self._since = time.monotonic()
        self._bytes += size + 1
        items = len(self._answers) + len(self._verifications) + len(self._packages)
        is_old = time.monotonic() - self._since > _BUFFERED_SECONDS
        if items >= _BUFFERED_ITEMS or self._bytes >= _BUFFERED_BYTES or is_old:
            self.flush()

    def _drop(self) -> None:
        self._answers.clear()
        self._verifications.clear()
        self._packages.clear()
        self._bytes = 0


def _digest(url: str) -> bytes:
    from hashlib import sha256

    return sha256(url.encode("utf-8", "surrogatepass")).digest()


def _unpacked(packed: bytes) -> bytes | None:
    """Decompress a body; None where its bytes are not those that were written."""
    import zlib

    inflate = zlib.decompressobj()
    try:
        body = inflate.decompress(packed, MOST_BODY)
    except (zlib.error, TypeError):
        return None
    return body if inflate.eof else None
