"""The registries, gpg and worker threads of one review."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Self, TypeVar

from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.review.inquiry import FactCollector
from locklens.review.releases import ReleaseFacts, ReleaseLookup
from locklens.sources.asked import NotAsked
from locklens.sources.registries import Registries
from locklens.sources.release_dates import ReleaseDates
from locklens.trust.authentication import Enforcement
from locklens.trust.signature import Verifier, unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType

    from locklens.addresses import ProviderAddress
    from locklens.dialect import Dialect
    from locklens.hashes import HashedPackage
    from locklens.operations.review.request import NetworkSettings
    from locklens.review.releases import Fact, FactRequest
    from locklens.sources.metadata import ListedVersion


_Item = TypeVar("_Item")


_Result = TypeVar("_Result")


REVIEW_WORKERS = 24
"""Questions that are worked on at the same time, whatever their hosts; the limit for one host is the client's."""


class ReviewSession:
    """One run's registries, gpg and threads; use it in a `with` statement.

    Args:
        asking: What is allowed.
        base: Hosts that the base's lock files name, comparison form.
        cancel: Set by another thread to stop.
        asks_ages: Whether to ask when versions were released, too.
    """

    def __init__(
        self,
        asking: NetworkSettings,
        base: Iterable[str],
        cancel: threading.Event | None = None,
        *,
        asks_ages: bool = False,
    ) -> None:
        self._asking = asking
        self._base = frozenset(base)
        self.cancel = cancel or threading.Event()
        """Ends every wait for registries and packages; set where the run itself is interrupted."""
        self._lock = threading.Lock()
        self._registries: dict[str, Registries] = {}
        self._verifier = Verifier(memory=asking.cache)
        self._pool = ThreadPoolExecutor(REVIEW_WORKERS, "locklens-ask")
        self.asker = ReleaseLookup(self.registries, self._verifier, Enforcement.of(asking.environ), asks_ages=asks_ages)
        self.inquiry = FactCollector(self.asker.answer, self._pool)
        self.troubles: list[str] = []
        """What went wrong with packages, in sentences."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and not issubclass(kind, Exception):
            self.cancel.set()  # Ctrl+C: nobody waits for what is still on its way.
        self._pool.shutdown(wait=True, cancel_futures=True)
        for registries in self._registries.values():
            registries.close()
        self._verifier.close()
        self._asking.cache.flush()

    def registries(self, tool: Dialect) -> Registries:
        """Returns the registries as a tool's settings have them."""
        with self._lock:
            found = self._registries.get(tool.name)
            if found is None:
                asking = self._asking
                found = self._registries[tool.name] = Registries(
                    tool,
                    asking.environ,
                    base=self._base,
                    given=asking.hosts,
                    memory=asking.cache,
                    is_offline=asking.is_offline,
                    cancel=self.cancel,
                )
                if asking.is_fresh:
                    found.forget()
            return found

    def answers(self, questions: Sequence[FactRequest]) -> Iterator[Fact]:
        """Asks questions at the same time, and yields their answers in order.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        yield from self._pool.map(self.asker.answer, questions)

    def offered(self, address: ProviderAddress) -> tuple[ListedVersion, ...] | None:
        """Returns the versions that a provider's registry lists; None where it is not asked.

        Raises:
            SourceError: It has no answer.
        """
        tool = OPENTOFU if address.host == OPENTOFU.default_host else TERRAFORM
        registry = self.registries(tool).of(address.host)
        return None if isinstance(registry, NotAsked) else registry.versions(address).versions

    def release_dates(self, address: ProviderAddress, tool: Dialect) -> ReleaseDates:
        """Returns when a provider's versions were released; nothing where its registry is not asked.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        registry = self.registries(tool).of(address.host)
        return ReleaseDates() if isinstance(registry, NotAsked) else registry.release_dates(address)

    def all(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """Does work for every item at the same time, and yields the results as they come. Not for the work to call.

        Raises:
            RunCancelledError: The run was cancelled.
        """
        for future in as_completed([self._pool.submit(work, item) for item in items]):
            yield future.result()

    def hashed(self, zhs: Iterable[str]) -> Mapping[str, str]:
        """Returns the `h1` of packages that were hashed here before, by `zh`."""
        return self._asking.cache.hashes(zhs)

    def keep_package(self, package: HashedPackage) -> None:
        """Remembers what a package hashes to."""
        self._asking.cache.keep_package(package)

    @property
    def notes(self) -> tuple[str, ...]:
        """What limits the run as a whole, in sentences."""
        found = [str(problem) for one in self._registries.values() for problem in one.problems]
        found += self.troubles
        facts = [fact for fact in self.inquiry.known.values() if isinstance(fact, ReleaseFacts)]
        if any(fact.authentication is not None and fact.authentication.problem is not None for fact in facts):
            problem = unavailable()
            if problem is not None:
                found.append(f"signatures are not checked: {problem}; {problem.hint}")
        return (*dict.fromkeys(found), *self._asking.cache.take_notices())

    @property
    def log(self) -> tuple[str, ...]:
        """What was asked of whom, and how long it took."""
        return tuple(str(exchange) for one in self._registries.values() for exchange in one.log)
