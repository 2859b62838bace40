"""Values of a backfill: what is asked for, what travels to a worker and back, events, and the result."""

from __future__ import annotations

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_PER_HOST = 8
"""Concurrent downloads from one host."""


class Shard(Struct, frozen=True):
    """One of several parts of the providers, by the hash of their names: the same part in every run."""

    index: int
    count: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def has(self, provider: str) -> bool:
        """True if a provider, as NAMESPACE/TYPE, is in this part."""
        import hashlib

        digest = hashlib.sha256(provider.lower().encode("utf-8", "surrogateescape")).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.index - 1


class FetchSettings(Struct, frozen=True):
    """How packages are downloaded; it travels to workers, without any credential.

    Attributes:
        per_host: Concurrent downloads from one host.
        bytes_rate: Bytes a second from one host, at most; 0 for no bound.
        request_rate: Packages a second from one host, at most; 0 for no bound.
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
        at: When they were counted, in seconds of the scheduling machine's clock: of two divisions the later one counts.
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


class BackfillRequest(Struct, frozen=True):
    """What to complete.

    Attributes:
        places: Folders, and metadata files.
        shard: The part of the providers, None for all.
        size_name: The name of a size, "" for the name that each file has already; see `metadata.SIZE_NAMES`.
        jobs: Packages in work at once on this machine.
        scheduler: Address of a Dask scheduler whose workers do it; "" for this machine.
        fetching: How packages are downloaded.
    """

    places: tuple[Path, ...]
    shard: Shard | None = None
    size_name: str = ""
    jobs: int = 4
    scheduler: str = ""
    fetching: FetchSettings = FetchSettings()


class PackageTask(Struct, frozen=True):
    """One package to measure.

    Attributes:
        url: Where it is.
        shasum: SHA-256 of it, lower-case hex.
        h1: That it must have, "" for any.
        size: Bytes that it must have, 0 for any.
    """

    url: str
    shasum: str
    h1: str = ""
    size: int = 0


class Measured(Struct, frozen=True):
    """The facts about a package, or why there are none.

    Attributes:
        h1: Of the unpacked package, as the tools write it into lock files.
        size: Bytes of the zip file.
        problem: Why the package has no facts, "" where it has.
        hint: The next step, or "".
    """

    h1: str = ""
    size: int = 0
    problem: str = ""
    hint: str = ""


class FileCount(Struct, frozen=True):
    """What a metadata file has, and lacks.

    Attributes:
        path: As messages name it.
        provider: NAMESPACE/TYPE.
        versions: Number of versions with a missing value.
        targets: Number of all targets.
        missing: Number of targets with a missing value.
        known_bytes: Of the packages to download whose size is in the file.
        unsized: Number of packages to download whose size is not known.
        mean_size: Of the sizes in the file, 0 without any.
        hosts: Number of packages to download by host.
    """

    path: str
    provider: str
    versions: int
    targets: int
    missing: int
    known_bytes: int
    unsized: int
    mean_size: int
    hosts: dict[str, int]


class Failure(Struct, frozen=True):
    """A package, or a file, that could not be completed.

    Attributes:
        path: The metadata file, "" for the run itself.
        line: In it, None where none is meant.
        provider: NAMESPACE/TYPE.
        version: "" for the file itself.
        platform: "" for the file itself.
        url: Of the package, as logs show it; "" for none.
        reason: A sentence without its full stop.
        hint: The next step, or "".
    """

    path: str
    line: int | None
    provider: str
    version: str
    platform: str
    url: str
    reason: str
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line is not None else self.path
        subject = " ".join(filter(None, (self.version, self.platform)))
        return ": ".join(filter(None, (place, subject, self.reason)))


class FileResult(Struct, frozen=True):
    """What became of a metadata file.

    Attributes:
        path: As messages name it.
        provider: NAMESPACE/TYPE.
        targets: Number of its targets.
        filled: Number of the targets that were completed.
        failed: Number of the targets that could not be.
        left: Number of the targets that the run did not come to.
        size_name: The name of sizes in it.
    """

    path: str
    provider: str
    targets: int
    filled: int
    failed: int
    left: int
    size_name: str


class BackfillResult(Struct, frozen=True):
    """A finished run.

    Attributes:
        at: When it began, ISO 8601 in UTC.
        is_dry_run: True if nothing was downloaded and nothing written.
        is_interrupted: True if the user stopped it.
        request: What was asked for.
        counts: Of each file that lacked something.
        complete: Number of files that lacked nothing.
        files: What became of the files that lacked something; () of a dry run.
        failures: In the order in which they occurred.
        versions: Number of versions of which all packages were completed.
        size: Bytes of the measured packages.
        seconds: That the run took.
        notes: Sentences about the run itself.
    """

    at: str
    is_dry_run: bool
    is_interrupted: bool
    request: BackfillRequest
    counts: tuple[FileCount, ...]
    complete: int
    files: tuple[FileResult, ...]
    failures: tuple[Failure, ...]
    versions: int = 0
    size: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class Connecting(Struct, frozen=True):
    """The run waits for a Dask scheduler, by its address."""

    scheduler: str


class Counted(Struct, frozen=True):
    """Event: the files were looked at, and this much is to be done.

    Attributes:
        files: Number of files that lack something.
        versions: Number of their versions that do.
        packages: Number of packages to download.
        likely_bytes: Of those, 0 where nothing is known.
        workers: Packages in work at once.
        notes: Sentences about who does it.
    """

    files: int
    versions: int
    packages: int
    likely_bytes: int
    workers: int
    notes: tuple[str, ...] = ()


class PackageMeasured(Struct, frozen=True):
    """Event: one package is done, or failed."""

    provider: str
    version: str
    platform: str
    size: int
    failure: Failure | None
    completes_version: bool


class FileDone(Struct, frozen=True):
    """Event: nothing is left to do for a file."""

    result: FileResult


class BytesArrived(Struct, frozen=True):
    """Event: bytes of a package arrived on this machine."""

    count: int


BackfillEvent = Connecting | Counted | PackageMeasured | FileDone | BytesArrived
