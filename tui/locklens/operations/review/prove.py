"""Proves `h1` hashes: downloads packages whose `zh` is signed, hashes them on the way, and caches the hashes."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import DIALECTS
from locklens.errors import LockLensError, RunCancelledError, SourceError
from locklens.hashes import file_hashes_of, hashes_of_files, is_well_formed
from locklens.operations.review.answers import answers_with_mirrors
from locklens.operations.review.request import PackageDone, PackageDownloading, ProvingPlanned, ReviewEvent, RootsKnown
from locklens.packages.hashing import hash_package
from locklens.releases.session import ReleaseLookup, ReleaseSession
from locklens.review.case import FactSubject, case_of, hashes_to_look_up, settled_case, vouched_for
from locklens.review.evidence import FactCollector
from locklens.review.rules.judge import settle

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from locklens.addresses import Platform, ProviderAddress
    from locklens.hashes import HashedFiles
    from locklens.releases import Fact, FactRequest, NetworkSettings, ReleaseId
    from locklens.review.model import Change, Review, RootReview
    from locklens.sources import Source
    from locklens.sources.metadata import PackageMetadata

_Result = TypeVar("_Result")

_WORKERS = 4
"""Concurrent downloads: enough to fill a line, few enough for two processors to hash."""

_EVENT_BYTES = 1 << 20
"""Bytes between two events about one package."""


@contextmanager
def download_pool(cancel: threading.Event) -> Iterator[ThreadPoolExecutor]:
    """Open a pool for downloads; after any error, Ctrl+C included, unfinished ones are cancelled and not awaited."""
    with ThreadPoolExecutor(_WORKERS, "locklens-download") as pool:
        try:
            yield pool
        except BaseException:
            cancel.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def finished(working: Iterable[Future[_Result]], cancel: threading.Event, what: str) -> Iterator[set[Future[_Result]]]:
    """Yield downloads as they end, and every twentieth of a second none.

    Raises:
        RunCancelledError: `cancel` was set, and `what` was cancelled.
    """
    waiting = set(working)
    while waiting:
        done, waiting = wait(waiting, 0.05, FIRST_COMPLETED)
        if cancel.is_set():
            raise RunCancelledError(f"{what} was cancelled")
        yield done


def prove(
    review: Review,
    chosen: Collection[tuple[str, ProviderAddress]],
    network: NetworkSettings,
    *,
    confirm: Callable[[ProvingPlanned], bool],
    on_event: Callable[[ReviewEvent], None],
    cancel: threading.Event,
) -> tuple[RootReview, ...]:
    """Prove the `h1` hashes of selected changes, each by lock file and provider, that match signed packages.

    Answers of the review are cached, and not requested again. `confirm` is called before anything is downloaded, and
    False cancels. Hashes that were proven before `cancel` are cached. Returns the roots with new proof, and those with
    the same releases, whose hashes a package may prove as well; none where `confirm` refused.
    """
    network = replace(network, reported_hashes=review.policy.reported_hashes)
    locked = [
        (change.address, change.new.version, FactSubject(root.lock_file, root.tool, change))
        for root in review.roots
        for change in root.changes
        if change.new is not None
    ]
    releases = {(address, version) for address, version, one in locked if (one.lock_file, address) in chosen}
    subjects = [one for address, version, one in locked if (address, version) in releases]
    with ReleaseSession(network, review.base_hosts, cancel) as session:
        lookup = ReleaseLookup(session, asks_ages=review.policy.needs_ages)
        collector = FactCollector(answers_with_mirrors(lookup, session), session.pool)
        collector.start(subjects)
        settled = list(collector.settled(is_patient=True))
        selected = [one for one in settled if (one.lock_file, one.change.address) in chosen]
        proving = Proving(session, collector.known, selected, everything=True)
        # Without a package to hash, another process may have hashed them all since.
        if proving.has_packages and not proving.work(confirm, on_event):
            return ()
        by_root: dict[str, dict[ProviderAddress, FactSubject]] = {}
        for subject in settled:
            by_root.setdefault(subject.lock_file, {})[subject.change.address] = subject
        known = collector.known

        def proven(root: RootReview, change: Change) -> Change:
            subject = by_root[root.lock_file].get(change.address)
            if subject is None:
                return change
            return settle(change, root, settled_case(subject, known, session.cache))

        changed = tuple(
            replace(root, changes=tuple(proven(root, change) for change in root.changes))
            for root in review.roots
            if root.lock_file in by_root
        )
    on_event(RootsKnown(changed))
    return changed


class Proving:
    """The downloads of one run.

    With `everything`, hashes are proven too that were locked for the version before, and those that a registry reports.
    """

    def __init__(
        self,
        session: ReleaseSession,
        known: Mapping[FactRequest, Fact],
        subjects: Sequence[FactSubject],
        *,
        everything: bool,
    ) -> None:
        self._session = session
        hashes = {zh for subject in subjects for zh in hashes_to_look_up(subject.change, subject.tool, known)}
        self._targets = targets(subjects, known, session.cache.hashes(hashes), everything=everything)
        self._events: SimpleQueue[ReviewEvent] = SimpleQueue()

    @property
    def has_packages(self) -> bool:
        """True if there is a package to hash."""
        return bool(self._targets)

    def work(self, confirm: Callable[[ProvingPlanned], bool], on_event: Callable[[ReviewEvent], None]) -> bool:
        """Download and hash packages; True if one was hashed. See `prove` for the arguments."""
        if not self.has_packages:
            return False
        cancel = self._session.cancel
        with download_pool(cancel) as pool:
            if not confirm(self._plan(pool)):
                return False
            for done in finished([pool.submit(self._prove, target) for target in self._targets], cancel, "proving"):
                self._hand_on(on_event)
                for future in done:
                    future.result()
            self._hand_on(on_event)
        return True

    def _hand_on(self, on_event: Callable[[ReviewEvent], None]) -> None:
        while not self._events.empty():
            on_event(self._events.get())

    def _plan(self, pool: ThreadPoolExecutor) -> ProvingPlanned:
        """Return the expected downloads, with their size where it is known."""
        likely = [(target, package) for target in self._targets for package in target.packages[: len(target.unproven)]]
        sizes: list[Future[int | None]] = [pool.submit(self._size, target, package) for target, package in likely]
        known = [size for size in (future.result() for future in sizes) if size is not None]
        return ProvingPlanned(
            hashes=sum(len(target.unproven) for target in self._targets),
            likely=len(likely),
            likely_bytes=sum(known) if len(known) == len(likely) else None,
            at_most=sum(len(target.packages) for target in self._targets),
            labels=tuple(_label(target, package) for target, package in likely),
        )

    def _size(self, target: ProvingTarget, package: Package) -> int | None:
        if package.size is not None:
            return package.size
        try:
            source, metadata = self._metadata(target, package)
            return source.package_size(metadata)
        except SourceError:
            return None  # An error is reported by the download.

    def _metadata(self, target: ProvingTarget, package: Package) -> tuple[Source, PackageMetadata]:
        release = target.release
        source = self._session.source(release.address, DIALECTS[release.tool])
        return source, source.package(release.address, release.version, package.platform)

    def _prove(self, target: ProvingTarget) -> None:
        """Hash one package after the other until each hash in question has its package."""
        unproven = set(target.unproven)
        for package in target.packages:
            if not unproven or self._session.cancel.is_set():
                return
            label = _label(target, package)
            try:
                unproven -= self._hash(target, package, label)
            except LockLensError as error:
                if not self._session.cache.altered((package.zh,)):  # Else a finding names it.
                    self._session.note(f"{label} was not hashed: {error}")
                self._events.put(PackageDone(label, 0, str(error)))

    def _hash(self, target: ProvingTarget, package: Package, label: str) -> frozenset[str]:
        """Download one package, cache its hashes if it is the signed one, and return those of its files."""
        from locklens.errors import PackageError

        source, metadata = self._metadata(target, package)
        received = reported = 0

        def compare(zh: str) -> None:
            """Refuse another file before it is read as a zip file, which it need not be."""
            if zh != package.zh:
                self._session.cache.note_altered(package.zh, zh)
                raise PackageError(f"the package is not the signed one: expected {package.zh}, got {zh}")

        with source.open_package(metadata) as download:

            def tell(size: int) -> None:
                nonlocal received, reported
                received += size
                if received - reported >= _EVENT_BYTES:
                    reported = received
                    self._events.put(PackageDownloading(label, received, download.length or package.size))

            hashed = hash_package(download.chunks, on_bytes=tell, cancel=self._session.cancel, judge=compare)
        self._session.cache.keep_package(hashed)
        self._events.put(PackageDone(label, hashed.size))
        return hashed.of_files


def _label(target: ProvingTarget, package: Package) -> str:
    return f"{target.release.address.type} {target.release.version} {package.platform}"


_LIKELY = ("linux_amd64", "darwin_arm64", "linux_arm64", "darwin_amd64", "windows_amd64")
"""The usual platforms of `init`, most common first: an `h1` is usually from one of them."""


class Package(Struct, frozen=True):
    """A signed package that may have an `h1` in question; `size` is None if unknown."""

    platform: Platform
    zh: str
    size: int | None = None


class ProvingTarget(Struct, frozen=True):
    """A release with `h1` hashes to prove, and its packages not hashed yet, likeliest first."""

    release: ReleaseId
    unproven: frozenset[str]
    packages: tuple[Package, ...]


def targets(
    subjects: Iterable[FactSubject], known: Mapping[FactRequest, Fact], hashed: HashedFiles, *, everything: bool
) -> tuple[ProvingTarget, ...]:
    """Return the releases with hashes to prove, each once.

    `hashed` has the `h1` of packages that were hashed here, by `zh`; `everything` is that of `Proving`.
    """
    unproven: dict[ReleaseId, set[str]] = {}
    packages: dict[ReleaseId, tuple[Package, ...]] = {}
    for subject in subjects:
        if subject.change.new is None:
            continue
        case = case_of(subject.change, subject.tool, known, hashed)
        hashes = case.entry.hashes if everything else case.first_said
        folders = hashes_of_files(filter(is_well_formed, hashes))
        proven = file_hashes_of(case.new.packages, hashed)
        if not everything:
            proven |= vouched_for(case.new, hashed).keys()
        if folders - proven and case.new.packages - hashed.keys():
            unproven.setdefault(case.new.id, set()).update(folders - proven)
            packages[case.new.id] = _in_order(case.new.platforms, case.new.sizes, hashed)
    return tuple(ProvingTarget(release, frozenset(hashes), packages[release]) for release, hashes in unproven.items())


def _in_order(platforms: Mapping[str, Platform], sizes: Mapping[str, int], hashed: HashedFiles) -> tuple[Package, ...]:
    """Return the packages not hashed yet, likeliest platforms first."""
    packages = [Package(platform, zh, sizes.get(zh)) for zh, platform in platforms.items() if zh not in hashed]
    ranks = {name: rank for rank, name in enumerate(_LIKELY)}
    return tuple(sorted(packages, key=lambda package: (ranks.get(str(package.platform), len(ranks)), package.platform)))
