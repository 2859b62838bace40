"""The connections, gpg and worker threads of one run, shared by everything that asks registries in it.

`ReleaseLookup` answers fact requests in a session; failures are facts too.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress, display_host
from locklens.dialect import DIALECTS, OPENTOFU, TERRAFORM, Dialect
from locklens.errors import NotFoundError, OfflineError, PlatformNotSupportedError, SourceError, UnavailableError
from locklens.hashes import is_of_zip
from locklens.releases import Listing, ListingId, LookupFailure, MirroredHashes, MirrorId, ReleaseFacts
from locklens.releases.authentication import ReleaseAuthenticator
from locklens.sources.hosts import NotAsked
from locklens.sources.http.client import JoinedEvent
from locklens.sources.metadata import PackageMetadata, RegistryVersions, ReleaseDates, days_old
from locklens.sources.registries import Registries, asked_ahead
from locklens.sources.urls import github_release
from locklens.trust.authentication import AuthenticationOutcome, Enforcement, vouchers
from locklens.trust.gpg import unavailable
from locklens.trust.signature import Verifier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from locklens.releases import Fact, FactRequest, NetworkSettings, ReleaseId
    from locklens.sources import Source
    from locklens.versions import Version


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

SESSION_WORKERS = 24
"""Items in concurrent work over all hosts; the limit for one host is the client's."""

_PATIENCE = 0.6
"""Seconds that cancelled work has to end. What is still running then, such as a gpg that is busy with a hostile key or
a disk that does not respond, is left to its thread, which ends with the process."""

USUAL_PLATFORM = Platform("linux", "amd64")
"""The platform whose package is requested, where there is one: the same everywhere, so that a review does not depend on
the machine that it is made on."""


class ReleaseSession:
    """One run's registries, verifier and threads; use it in a `with` statement. Thread-safe.

    An error that leaves the `with` statement cancels what is in flight, and never the caller's own event: the caller
    could not tell a failure from a cancelled run. Hosts that the base's lock files name, comparison form, may be
    contacted besides those of the user's settings; None stands for every host, as the tools contact those that a
    configuration requires. To install, it asks as the tools do: cached answers of registries do not count (verified
    signatures and hashed packages do), and Terraform sends what `.netrc` has for a package's host.
    """

    def __init__(
        self,
        settings: NetworkSettings,
        base: Iterable[str] | None,
        cancel: threading.Event | None = None,
        *,
        is_installing: bool = False,
    ) -> None:
        self._settings = settings
        self._asks_all = base is None
        self._base = frozenset(base or ())
        self._is_installing = is_installing
        self.cache = settings.cache
        self.cancel: threading.Event = JoinedEvent(cancel)
        """Ends every wait for registries and packages: set with the caller's event, or by the session for itself."""
        self._lock = threading.Lock()
        self._registries: dict[str, Registries] = {}
        self._authenticators: dict[str, ReleaseAuthenticator] = {}
        self._verifier = Verifier(memory=settings.cache)
        self._enforcement = Enforcement.of(settings.environ)
        self.pool = ThreadPoolExecutor(SESSION_WORKERS, "locklens-ask")
        """For work that waits for no other work of this pool."""
        self._inner = ThreadPoolExecutor(SESSION_WORKERS, "locklens-inner")
        self._notes: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._close()
            return
        self.cancel.set()
        closing = threading.Thread(target=self._close, name="locklens-end", daemon=True)
        closing.start()
        closing.join(_PATIENCE)

    @contextmanager
    def within(self, lock: AbstractContextManager[None]) -> Iterator[None]:
        """Hold a lock for a block; an interrupt ends the threads first, for they write what the lock is for."""
        with lock:
            try:
                yield
            except (KeyboardInterrupt, SystemExit) as interrupt:
                self.__exit__(type(interrupt))
                raise

    def _close(self) -> None:
        """Drop work that has not begun, wait for the rest, and close everything."""
        pools = self.pool, self._inner
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for pool in pools:
            pool.shutdown(wait=True)
        for registries in self._registries.values():
            registries.close()
        self._verifier.close()
        self.cache.flush()

    def may_report(self, host: str) -> bool:
        """True if hashes that a registry reports without a signature explain those of a lock file."""
        named = self._settings.reported_hashes
        return named is None or host in named

    @property
    def is_offline(self) -> bool:
        """True if no request is sent, so that answers are as old as the cache."""
        return self._settings.is_offline

    def registries(self, tool: Dialect) -> Registries:
        """Return the registries under a tool's settings."""
        with self._lock:
            registries = self._registries.get(tool.name)
            if registries is None:
                settings = self._settings
                may_be_begun = self._asks_all and self._is_installing and not settings.is_offline
                registries = asked_ahead(tool, settings.environ, self.cancel) if may_be_begun else None
                registries = self._registries[tool.name] = registries or Registries(
                    tool,
                    settings.environ,
                    base=self._base,
                    given=settings.hosts,
                    asks_all=self._asks_all,
                    memory=None if self._is_installing else settings.cache,
                    is_offline=settings.is_offline,
                    is_installing=self._is_installing,
                    cancel=self.cancel,
                )
                if settings.is_fresh:
                    registries.forget()
            return registries

    def find_source(self, address: ProviderAddress, tool: Dialect) -> Source | NotAsked:
        """Return the source of a provider, or why it may not be contacted."""
        return self.registries(tool).of(address.host)

    def installation(self, tool: Dialect, root: Path) -> Source:
        """Return the source that the tool would install the providers of a root from; `root` is its folder."""
        return self.registries(tool).installation(root, self._settings.methods)

    def source(self, address: ProviderAddress, tool: Dialect) -> Source:
        """Return the source of a provider.

        Raises:
            SourceError: It may not be contacted.
        """
        source = self.find_source(address, tool)
        if isinstance(source, NotAsked):
            raise SourceError(str(source), source=source.host, hint=source.hint)
        return source

    def authenticator(self, tool: Dialect) -> ReleaseAuthenticator:
        """Return the authenticator with a tool's rules."""
        with self._lock:
            authenticator = self._authenticators.get(tool.name)
            if authenticator is None:
                believed = self._settings.reported_hashes
                authenticator = ReleaseAuthenticator(tool, self._verifier, self._enforcement, believed)
                self._authenticators[tool.name] = authenticator
            return authenticator

    def map(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """Start `work` for every item, and iterate over the results in the items' order.

        Do not call it from within `work`: the pool would deadlock.
        """
        return self.pool.map(work, items)

    def map_unordered(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """Yield each result of `map` as soon as there is one, in any order."""
        for future in as_completed([self.pool.submit(work, item) for item in items]):
            yield future.result()

    def spawn(self, work: Callable[[], _Result]) -> Future[_Result]:
        """Start work on a second pool: work of `map` may wait for it, and it must not wait for work of either."""
        return self._inner.submit(work)

    def note(self, sentence: str) -> None:
        """Add to the notes."""
        with self._lock:
            self._notes.append(sentence)

    @property
    def notes(self) -> tuple[str, ...]:
        """The limits of the whole run, in sentences."""
        with self._lock:
            registries, authenticators = [*self._registries.values()], [*self._authenticators.values()]
            notes = [*(str(problem) for each in registries for problem in each.problems), *self._notes]
        if any(each.has_problem for each in authenticators):
            problem = unavailable()
            if problem is not None:
                notes.append(f"signatures are not checked: {problem}; {problem.hint}")
        return (*dict.fromkeys(notes), *self.cache.take_notices())

    @property
    def log(self) -> tuple[str, ...]:
        """One line for each request: its URL, outcome and duration."""
        with self._lock:  # Work that was left behind may still add a tool's registries.
            registries = [*self._registries.values()]
        return tuple(str(exchange) for each in registries for exchange in each.log)


class ReleaseLookup(Struct, frozen=True):
    """Looks up facts in the registries of a session, and release dates too if asked. Thread-safe."""

    session: ReleaseSession
    asks_ages: bool = False

    def answer(self, request: FactRequest) -> Fact:
        """Return the requested fact; a registry without a usable answer is a fact too. Mirrors are not looked at.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        if isinstance(request, MirrorId):
            return MirroredHashes(request)
        source = self.session.find_source(request.address, DIALECTS[request.tool])
        if isinstance(request, ListingId):
            return _listing(source, request, is_offline=self.session.is_offline)
        return self._release(source, request)

    def offered(self, address: ProviderAddress) -> RegistryVersions | None:
        """Return the available versions of a provider; None if its registry may not be contacted.

        Raises:
            SourceError: The registry has no usable answer.
        """
        tool = OPENTOFU if address.host == OPENTOFU.default_host else TERRAFORM
        source = self.session.find_source(address, tool)
        return None if isinstance(source, NotAsked) else source.versions(address)

    def release_dates(self, address: ProviderAddress, tool: Dialect) -> ReleaseDates:
        """Return the release dates of a provider's versions; none where its registry may not be contacted.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        source = self.session.find_source(address, tool)
        return ReleaseDates() if isinstance(source, NotAsked) else source.release_dates(address)

    def ages(self, address: ProviderAddress, tool: Dialect) -> dict[Version, int]:
        """Return the days since each version's release, as far as they are known; errors as in `release_dates`."""
        return self.release_dates(address, tool).ages(datetime.now(UTC))

    def _release(self, source: Source | NotAsked, request: ReleaseId) -> ReleaseFacts:
        is_fresh, request = request.is_fresh, replace(request, is_fresh=False)
        if isinstance(source, NotAsked):
            return ReleaseFacts(request, trouble=_not_asked(source))
        try:
            if is_fresh:
                return self._authenticated(source, request, is_fresh=True)
            # Cached answers may be of two publications, or older than this one: they alone incriminate no release.
            try:
                facts = self._authenticated(source, request)
                judged = facts.authentication
                if judged is None or (judged.outcome is not AuthenticationOutcome.REFUSED and not facts.foreign):
                    return facts
            except NotFoundError as error:
                if self.session.is_offline:
                    words = f"offline, and the cached answers do not have {request.address} {request.version}"
                    raise OfflineError(words, hint="run without --offline") from error
            return self._authenticated(source, request, is_fresh=True)
        except SourceError as error:
            return ReleaseFacts(request, trouble=_failure(error, request))

    def _authenticated(self, source: Source, request: ReleaseId, *, is_fresh: bool = False) -> ReleaseFacts:
        metadata = _some_package(source, request, is_fresh=is_fresh)
        signed = source.checksums(metadata, is_fresh=is_fresh)
        if signed is None:
            raise UnavailableError(f"no signed checksums of {request.address} {request.version} can be had")
        judged = self.session.authenticator(DIALECTS[request.tool]).judge(metadata, signed)
        heard = metadata.packages if self.session.may_report(request.address.host) else ()
        reported = {str(one.platform): frozenset(one.hashes) for one in heard}
        dates = source.release_dates(request.address) if self.asks_ages else ReleaseDates()
        released = dates.of(request.version)
        zhs = ((text, one.size) for one in metadata.packages for text in one.hashes if is_of_zip(text))
        return ReleaseFacts(
            request,
            judged.checksums,
            judged.authentication,
            {} if judged.foreign else vouchers(signed.sums, judged.authentication, reported),
            metadata.reported_h1s,
            {zh: size for zh, size in zhs if size},
            as_of=min(metadata.as_of, signed.as_of),
            released=released,
            days=days_old(released, datetime.now(UTC)),
            foreign=judged.foreign,
            source=github_release(metadata.download_url) or dates.repository,
        )


def _listing(source: Source | NotAsked, request: ListingId, *, is_offline: bool) -> Listing:
    if isinstance(source, NotAsked):
        return Listing(request, trouble=_not_asked(source))
    try:
        answer = source.versions(request.address, is_fresh=request.is_fresh)
    except SourceError as error:
        return Listing(request, trouble=_failure(error, request))
    return Listing(request, answer.versions, as_of=answer.as_of, is_offline=is_offline)


def _some_package(source: Source, request: ReleaseId, *, is_fresh: bool) -> PackageMetadata:
    """Return the usual platform's package, or that of the first other platform that is listed.

    Raises:
        SourceError: There is none, or no usable answer.
    """
    address, version = request.address, request.version
    try:
        return source.package(address, version, USUAL_PLATFORM, is_fresh=is_fresh)
    except PlatformNotSupportedError:
        listed = [one for one in source.versions(address, is_fresh=is_fresh).versions if one.version == version]
        host = display_host(address.host)
        if not listed:
            raise NotFoundError(f"{host} does not list {address} {version}", source=host) from None
        others = [platform for platform in listed[0].platforms if platform != USUAL_PLATFORM]
        if not others:
            raise
        return source.package(address, version, others[0], is_fresh=is_fresh)


def _not_asked(host: NotAsked) -> LookupFailure:
    return LookupFailure(str(host), host.hint, was_asked=False, is_unvouched=True)


def _failure(error: SourceError, request: FactRequest) -> LookupFailure:
    host = display_host(request.address.host)
    return LookupFailure(
        str(error) if host in str(error) else f"{host}: {error}",
        error.hint,
        was_asked=not isinstance(error, OfflineError),
        is_offline=isinstance(error, OfflineError),
        # Without a package for one platform there may be some for others that the registry does not list.
        is_no=isinstance(error, NotFoundError) and not isinstance(error, PlatformNotSupportedError),
    )
