"""One metadata file at work: what it lacks, what was found out, and its bytes on the disk."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from locklens.errors import ConfigurationError
from locklens.operations.backfill.metadata import (
    MAX_METADATA_BYTES,
    SIZE_NAMES,
    Filling,
    Metadata,
    MetadataError,
    has_everything,
    read_metadata,
)
from locklens.operations.backfill.model import Failure, FileCount, FileResult, PackageTask
from locklens.sources.urls import host_of, url_for_log
from locklens.storage.files import read_bounded, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from locklens.operations.backfill.layout import ProviderFile
    from locklens.operations.backfill.metadata import Target
    from locklens.operations.backfill.model import Measured

SAVE_PACKAGES = 100
SAVE_SECONDS = 15.0
"""Packages, or seconds, after which what was found out is written: what a killed run loses at most, of each file."""

_RFC_SIZE = SIZE_NAMES[1]


class OpenFile:
    """A metadata file while its packages are measured.

    Args:
        file: Which.
        size_name: The name of a size, "" for the one that the file has, or else the RFC's.

    Raises:
        ConfigurationError: It cannot be read, or is no metadata file.
    """

    def __init__(self, file: ProviderFile, size_name: str) -> None:
        self.path = file.path
        self.shown = str(file.path)
        self.provider = file.provider
        self._written = read_bounded(file.path, MAX_METADATA_BYTES)
        self._mode = _mode_of(file.path)
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
        targets = len(self._metadata.targets)
        left = len(self._missing) - self._saved - self.failed
        return FileResult(self.shown, self.provider, targets, self._saved, self.failed, left, self.size_name)

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
        return Failure(*place, target.version, target.platform, _shown_url(target.url), reason, hint)

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
