"""Measures packages: downloads each once, and hashes it on the way. The same code on this machine and on workers.

A metadata file may name any URL, so nothing is asked without TLS, and nothing on private networks. A host's token comes
from the TF_TOKEN_ variables of the machine that downloads; none travels. The threads of a process share one rate for
each host, and keep the pauses that a host asks for. What waits or downloads raises RunCancelledError once `cancel` is
set, by another thread.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from typing import cast
from urllib.parse import urlsplit

from msgspec import Struct

from locklens.addresses import display_host
from locklens.errors import ConfigurationError, LockLensError, RunCancelledError, TrustError, UnavailableError
from locklens.hashes import HashedPackage, digest_of
from locklens.packages.hashing import hash_arriving_package
from locklens.sources.hosts import environment_tokens
from locklens.sources.http.client import Client
from locklens.sources.urls import has_userinfo, host_of, is_public, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import BinaryIO


DEFAULT_PER_HOST = 8
"""Concurrent downloads from one host."""


class FetchSettings(Struct, frozen=True):
    """How packages are downloaded; it travels to workers, without any credential.

    Attributes:
        per_host: Concurrent downloads from one host.
        bytes_rate: Limit of bytes per second from one host; 0 for none.
        request_rate: Limit of packages per second from one host; 0 for none.
        allows_loopback: True if packages may come from this machine and from private networks, also without TLS.
    """

    per_host: int = DEFAULT_PER_HOST
    bytes_rate: float = 0.0
    request_rate: float = 0.0
    allows_loopback: bool = False


class Division(Struct, frozen=True):
    """How the workers of a cluster, which do not know of each other, share the bounds; it travels with each package.

    Attributes:
        whole: How packages are downloaded by all of them together.
        workers: Their number.
        at: Time of the count, in seconds of the scheduling machine's clock: of two divisions the later one counts.
    """

    whole: FetchSettings
    workers: int
    at: float

    @property
    def share(self) -> FetchSettings:
        """How one of them downloads packages; each may have one download from each host."""
        return FetchSettings(
            max(1, self.whole.per_host // self.workers),
            self.whole.bytes_rate / self.workers,
            self.whole.request_rate / self.workers,
            self.whole.allows_loopback,
        )


class PackageTask(Struct, frozen=True):
    """One package to measure.

    Attributes:
        shasum: Its SHA-256, lower-case hex.
        h1: The expected one; "" accepts any.
        size: The expected number of bytes; 0 accepts any.
    """

    url: str
    shasum: str
    h1: str = ""
    size: int = 0


class Measured(Struct, frozen=True):
    """The facts about a package, or why there are none, with the next step; "" for what there is not.

    Attributes:
        h1: That of the unpacked package, as the tools write it into lock files.
        size: Size of the zip file, in bytes.
    """

    h1: str = ""
    size: int = 0
    problem: str = ""
    hint: str = ""


RETRIES = 5
"""Attempts after the first: a run takes hours, and a hiccup of a minute should cost nothing."""

PATIENCE = 3600.0
"""Seconds of the longest pause that a host may ask for: what GitHub asks of those who were too fast."""

BROKEN_WAITS = (1.0, 10.0)
"""Seconds before a package that broke off is asked for again."""

_IN_MEMORY = 32 * 1024 * 1024
"""Bytes of a package up to which it takes no temporary file: most have less, and writing a million takes time."""


class Meter:
    """Measures packages, in any number of threads.

    `environ` names tokens, proxies and certificates; `on_bytes` is called with the number of bytes that arrived, in any
    thread.
    """

    def __init__(
        self,
        settings: FetchSettings,
        environ: Mapping[str, str],
        *,
        cancel: threading.Event | None = None,
        on_bytes: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._cancel = cancel or threading.Event()
        self._on_bytes = on_bytes
        self._pace = Pace(settings, self._cancel)
        self._tokens = environment_tokens(environ)
        self._client = self._opened()

    def close(self) -> None:
        """Close every connection."""
        self._client.close()

    def adapt(self, settings: FetchSettings) -> None:
        """Go on with other rates and another number of downloads at once; those that have begun are not ended."""
        self._pace.adapt(settings)
        is_other = settings.per_host != self._settings.per_host
        self._settings = settings
        if is_other:
            self._client = self._opened()

    def _opened(self) -> Client:
        return Client(
            {**self._environ, "LOCKLENS_REQUESTS_PER_HOST": str(self._settings.per_host)},
            cancel=self._cancel,
            on_retry_after=self._pace.hold,
            is_public_only=not self._settings.allows_loopback,
        )

    def measure(self, task: PackageTask) -> Measured:
        """Return the facts about a package, or why it has none."""
        try:
            return self._measured(task)
        except LockLensError as error:
            return Measured(problem=error.message, hint=error.hint)

    def _measured(self, task: PackageTask) -> Measured:
        url = checked_url(task.url, allows_loopback=self._settings.allows_loopback)
        package = self._fetched(url, task)
        if task.size and task.size != package.size:
            raise TrustError(f"the package has {package.size} bytes, the file says {task.size}", hint=_LOOK)
        if task.h1 and task.h1 != package.h1:
            raise TrustError(f"the package has {package.h1}, the file says {task.h1}", hint=_LOOK)
        return Measured(package.h1, package.size)

    def _fetched(self, url: str, task: PackageTask) -> HashedPackage:
        """Download and hash a package; one that breaks off is asked for again, which no retry of a request does."""
        host = host_of(url)
        for wait in (*BROKEN_WAITS, None):
            self._pace.begin(host)
            has_begun = False
            try:
                with self._client.download(
                    url, retries=RETRIES, token=self._tokens.get(host), patience=PATIENCE
                ) as transfer:
                    has_begun = True
                    return self._hashed(self._paced(transfer.chunks), task)
            except UnavailableError:
                if not has_begun or wait is None:
                    raise
                self._pace.rest(wait)
        raise AssertionError("the last attempt returns or raises")

    def _hashed(self, chunks: Iterator[bytes], task: PackageTask) -> HashedPackage:
        try:
            with tempfile.SpooledTemporaryFile(_IN_MEMORY, prefix="locklens-") as spool:
                return hash_arriving_package(
                    chunks,
                    cast("BinaryIO", spool),
                    on_bytes=self._on_bytes,
                    cancel=self._cancel,
                    judge=lambda zh: _check_shasum(zh, task.shasum),
                ).hashed
        except OSError as error:
            words = f"the package cannot be stored in the temporary folder: {error.strerror or error}"
            hint = "free disk space, or set TMPDIR to another folder"
            raise ConfigurationError(words, hint=hint) from error

    def _paced(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            yield chunk
            self._pace.take(len(chunk))


_LOOK = "find out which of both is right; nothing was changed there"


def _check_shasum(zh: str, shasum: str) -> None:
    if digest_of(zh) != shasum:
        hint = "it was published again or tampered with; the registry has to say which"
        raise TrustError(f"the package has SHA-256 {digest_of(zh)}, the file says {shasum}", hint=hint)


def checked_url(text: str, *, allows_loopback: bool) -> str:
    """Return the URL of a package; raises TrustError if it is none, or one that a file must not have asked."""
    try:
        url = resolve(text, text)
        name = urlsplit(url).hostname or ""
    except ValueError as error:
        raise TrustError(f"the download_url cannot be used: {error}") from None
    if has_userinfo(url):
        raise TrustError(
            "the download_url has a user name or a password", hint="a TF_TOKEN_ variable has a host's token"
        )
    if allows_loopback:
        return url
    if not url.startswith("https:"):
        raise TrustError("the download_url has no TLS: only https is asked", hint="correct the file")
    if _is_private(name):
        words = f"the download_url leads to {display_host(host_of(url))}: a private network or this machine"
        raise TrustError(words, hint="--allow-loopback is for tests")
    return url


def _is_private(name: str) -> bool:
    """True if a host's name says by itself that it is not public; what other names lead to is seen on connecting."""
    import ipaddress

    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return not is_public(str(ipaddress.ip_address(name)))
    except ValueError:
        return False


_METERS: dict[FetchSettings, tuple[Meter, Division]] = {}
_LOCK = threading.Lock()


def measure_in_process(division: Division, task: PackageTask) -> Measured:
    """Measure a package with the meter of this process, which lives as long as the process: connections are kept."""
    with _LOCK:
        meter, known = _METERS.get(division.whole, (None, division))
        if meter is None:
            meter = Meter(division.share, os.environ)
        elif division.at > known.at:
            meter.adapt(division.share)
            known = division
        _METERS[division.whole] = meter, known
    return meter.measure(task)


class _Host:
    """When a host may be asked again, and when its next byte may be read: moments of the monotonic clock."""

    def __init__(self) -> None:
        self.request = self.byte = self.pause = 0.0


class Pace:
    """The pace of downloads, host by host; waits end at once where the run is cancelled.

    A host is the one that the metadata names; what it redirects to counts as its own.
    """

    def __init__(self, settings: FetchSettings, cancel: threading.Event) -> None:
        self._settings = settings
        self._cancel = cancel
        self._lock = threading.Lock()
        self._hosts: dict[str, _Host] = {}
        self._current = threading.local()

    def adapt(self, settings: FetchSettings) -> None:
        """Go on with other rates."""
        with self._lock:
            self._settings = settings

    def begin(self, name: str) -> None:
        """Wait until the host may be asked for one more package; the thread downloads from it then."""
        with self._lock:
            host = self._current.host = self._hosts.setdefault(name, _Host())
            if self._settings.request_rate:
                turn = max(host.request, time.monotonic())
                host.request = turn + 1 / self._settings.request_rate
                self._current.turn = turn
            else:
                self._current.turn = 0.0
        self._wait_until(self._current.turn)
        self._wait_out(host)

    def take(self, count: int) -> None:
        """Wait as long as these bytes of the current download take at the host's rate."""
        if not self._settings.bytes_rate:
            return
        host: _Host = self._current.host
        with self._lock:
            host.byte = max(host.byte, time.monotonic()) + count / self._settings.bytes_rate
            turn = host.byte
        self._wait_until(turn)

    def hold(self, seconds: float) -> None:
        """Let no thread begin anything with the current download's host for some time, as the host asked."""
        host: _Host = self._current.host
        with self._lock:
            host.pause = max(host.pause, time.monotonic() + seconds)

    def rest(self, seconds: float) -> None:
        """Wait in this thread alone."""
        self._wait_until(time.monotonic() + seconds)

    def _wait_out(self, host: _Host) -> None:
        while (pause := host.pause) > time.monotonic():
            self._wait_until(pause)

    def _wait_until(self, moment: float) -> None:
        seconds = moment - time.monotonic()
        if self._cancel.wait(seconds) if seconds > 0 else self._cancel.is_set():
            raise RunCancelledError("the run was cancelled")
