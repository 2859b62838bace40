"""The metadata files of providers: found below folders, and each with what it lacks and what is filled in."""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from locklens.errors import ConfigurationError
from locklens.project.folders import TooManyFoldersError, walk
from locklens.sources.urls import host_of, url_for_log
from locklens.storage.files import read_bounded, write_atomically
from locklens_backfill import (
    MAX_METADATA_BYTES,
    SIZE_NAMES,
    Filling,
    Metadata,
    MetadataError,
    has_everything,
    read_metadata,
)
from locklens_backfill.measuring import Measured, PackageTask

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from locklens_backfill import Target


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


class FileCount(Struct, frozen=True):
    """The contents and the gaps of a metadata file.

    Attributes:
        path: The path in messages.
        provider: NAMESPACE/TYPE.
        versions: Number of versions with a missing value.
        targets: Number of all targets.
        missing: Number of targets with a missing value.
        known_bytes: Size of the packages to download whose size is in the file.
        unsized: Number of packages to download whose size is not known.
        mean_size: Mean of the sizes in the file; 0 without any.
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


class FileResult(Struct, frozen=True):
    """The result for a metadata file: how many of its targets were completed, or could not be, or are left.

    Attributes:
        path: The path in messages.
        provider: NAMESPACE/TYPE.
        left: Number of the targets that the run did not come to.
        size_name: The name of sizes in it.
    """

    path: str
    provider: str
    filled: int
    failed: int
    left: int
    size_name: str


class Failure(Struct, frozen=True):
    """A package, or a file, that could not be completed; "" stands for what there is not.

    Attributes:
        reason: A sentence without its full stop.
        hint: The next step.
        path: The metadata file, "" for the run itself.
        line: The line in it, None for the whole file.
        provider: NAMESPACE/TYPE.
        version: "" for the file itself, as for `platform`.
        url: The package's URL, as logs show it.
    """

    reason: str
    hint: str = ""
    path: str = ""
    line: int | None = None
    provider: str = ""
    version: str = ""
    platform: str = ""
    url: str = ""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line is not None else self.path
        subject = " ".join(filter(None, (self.version, self.platform)))
        return ": ".join(filter(None, (place, subject, self.reason)))


_PROVIDERS = "providers"

_MAX_FOLDERS = 1_000_000
"""The most folders of a registry's clone: one for each namespace; OpenTofu's registry has some thousands."""


def provider_of(path: Path) -> str:
    """Return NAMESPACE/TYPE of a metadata file, by the names of folder and file."""
    return f"{path.absolute().parent.name}/{path.stem}"


def provider_files(places: Iterable[Path], shard: Shard | None) -> tuple[Path, ...]:
    """Return the metadata files, in order of their paths below each place, each once; a shard of None is all.

    Places are files, and folders; of a clone of a registry its folder `providers`. Links are not followed.

    Raises:
        ConfigurationError: There is no such file or folder, or it cannot be read.
    """
    found = (path for place in places for path in _files_at(place))
    return tuple(dict.fromkeys(path for path in found if shard is None or shard.has(provider_of(path))))


def _files_at(place: Path) -> Iterator[Path]:
    if place.is_symlink():
        raise ConfigurationError("is a link, which is not followed", path=str(place), hint="name what it leads to")
    if place.is_dir():
        top = place / _PROVIDERS
        yield from _files_below(top if top.is_dir() and not top.is_symlink() else place)
    elif place.is_file():
        yield place
    else:
        hint = "name a folder with metadata files, such as a clone of the registry, or a file"
        raise ConfigurationError("no such file or folder", path=str(place), hint=hint)


def _files_below(top: Path) -> Iterator[Path]:
    try:
        for folder in walk(os.fspath(top), most=_MAX_FOLDERS, enters=lambda _, name: not name.startswith(".")):
            place = top / folder.path
            if folder.error is not None:
                raise ConfigurationError(f"cannot be read: {folder.error.strerror}", path=str(place)) from folder.error
            for name in folder.files:
                path = place / name
                if name.endswith(".json") and not name.startswith(".") and path.is_file() and not path.is_symlink():
                    yield path
    except TooManyFoldersError:
        words = f"more than {_MAX_FOLDERS} folders are not searched"
        raise ConfigurationError(words, path=str(top), hint="name folders below it") from None


SAVE_PACKAGES = 100
SAVE_SECONDS = 15.0
"""Packages, or seconds, after which what was found out is written: what a killed run loses at most, of each file."""

_RFC_SIZE = SIZE_NAMES[1]


class OpenFile:
    """A metadata file while its packages are measured.

    `size_name` is the key of a size, "" for the one that the file uses, or else the RFC's.

    Raises:
        ConfigurationError: It cannot be read, or is not a metadata file.
    """

    def __init__(self, path: Path, size_name: str) -> None:
        self.path = path
        self.shown = str(path)
        self.provider = provider_of(path)
        self._written = read_bounded(path, MAX_METADATA_BYTES)
        self._mode = _mode_of(path)
        try:
            is_done = has_everything(self._written)
            self._metadata = Metadata("", (), "") if is_done else read_metadata(self._written)
        except MetadataError as error:
            raise ConfigurationError(str(error), path=self.shown, line=error.line) from None
        self.size_name = size_name or self._metadata.size_name or _RFC_SIZE
        self._missing = [target for target in self._metadata.targets if not target.is_complete]
        self._of_version = Counter(target.version for target in self._missing)
        self._spoilt = {target.version for target in self._missing if target.problem}
        self._fillings: list[Filling] = []
        self._saved = self.failed = 0
        self._last = time.monotonic()
        self.is_broken = False

    @property
    def is_complete(self) -> bool:
        """True if nothing was missing when it was read."""
        return not self._missing

    @property
    def pending(self) -> int:
        """Number of targets that are neither filled in nor failed."""
        return len(self._missing) - len(self._fillings) - self.failed

    @property
    def is_due(self) -> bool:
        """True if it is time to write what was found out."""
        unsaved = len(self._fillings) - self._saved
        is_late = time.monotonic() - self._last > SAVE_SECONDS
        return unsaved > 0 and (unsaved >= SAVE_PACKAGES or is_late or not self.pending)

    @property
    def result(self) -> FileResult:
        """What became of it; what is not written does not count."""
        left = len(self._missing) - self._saved - self.failed
        return FileResult(self.shown, self.provider, self._saved, self.failed, left, self.size_name)

    def tasks(self) -> Iterator[tuple[Target, PackageTask]]:
        """Yield the packages to measure."""
        for target in self._missing:
            if not target.problem:
                yield target, PackageTask(target.url, target.shasum, target.h1, target.size)

    def problems(self) -> Iterator[Failure]:
        """Yield the targets for which nothing can be filled in, and count them as failed."""
        for target in self._missing:
            if target.problem:
                self.failed += 1
                yield self.failure(target, target.problem, "correct the file")

    def take(self, target: Target, measured: Measured) -> bool:
        """Keep the facts about a package, or count its failure; True if its version is now complete."""
        self._of_version[target.version] -= 1
        if measured.problem:
            self.failed += 1
            self._spoilt.add(target.version)
        else:
            self._fillings.append(Filling(target, measured.h1, measured.size))
        return not self._of_version[target.version] and target.version not in self._spoilt

    def failure(self, target: Target, reason: str, hint: str = "") -> Failure:
        """Return a failure of a target as a value."""
        place = self.shown, target.line, self.provider
        return Failure(reason, hint, *place, target.version, target.platform, _shown_url(target.url))

    def save(self) -> None:
        """Write what was found out since the last time.

        Raises:
            ConfigurationError: It cannot be written, or was changed by someone else.
        """
        if len(self._fillings) == self._saved:
            return
        if read_bounded(self.path, MAX_METADATA_BYTES) != self._written:
            words = "changed while its packages were measured"
            raise ConfigurationError(words, path=self.shown, hint="run it again: what is in the file is kept")
        data = self._metadata.completed(self._fillings, self.size_name)
        write_atomically(self.path, data, mode=self._mode)
        self._written, self._saved, self._last = data, len(self._fillings), time.monotonic()

    def count(self) -> FileCount:
        """Return what it has and lacks."""
        sizes = [target.size for target in self._metadata.targets if target.size]
        usable = [target for target in self._missing if not target.problem]
        return FileCount(
            self.shown,
            self.provider,
            len(self._of_version),
            len(self._metadata.targets),
            len(self._missing),
            sum(target.size for target in usable),
            sum(not target.size for target in usable),
            sum(sizes) // len(sizes) if sizes else 0,
            dict(Counter(_host(target.url) for target in usable)),
        )


def _mode_of(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o7777
    except OSError as error:
        raise ConfigurationError(f"cannot be read: {error.strerror}", path=str(path)) from error


def _host(url: str) -> str:
    try:
        return host_of(url)
    except ValueError:
        return ""


def _shown_url(url: str) -> str:
    try:
        return url_for_log(url) if urlsplit(url).scheme else url
    except ValueError:
        return ""
