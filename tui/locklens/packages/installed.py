"""The `h1` of an unpacked package: what lies in its folder, read within bounds, and nothing from outside of it.

Anyone who can write to the folder controls its content, and a folder below a repository may be tracked. So nothing but
regular files is opened, and links count as far as they lead to a file below the folder.
"""

from __future__ import annotations

import errno
import os

from msgspec import Struct, field

from locklens.hashes import HashedPackage, h1_of_digests
from locklens.packages import LIMITS, Limits, stop_if
from locklens.packages.contents import Digest
from locklens.storage.files import open_regular
from locklens.text import size_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from pathlib import Path

_BLOCK = 1 << 20

KEPT_ASIDE = ".suspect"
"""The end of the name of a package that a fix has moved aside, or its beginning: a number may follow."""

MOST_ASIDE = 100
"""The most copies of one package that are kept aside."""


def name_aside(place: str) -> str:
    """Return the first free name beside a package for moving it aside; the last one where all are taken."""
    names = (f"{place}{KEPT_ASIDE}{'' if number == 1 else f'-{number}'}" for number in range(1, MOST_ASIDE + 1))
    return next((name for name in names if not os.path.lexists(name)), f"{place}{KEPT_ASIDE}-{MOST_ASIDE}")


def h1_of_folder(folder: Path) -> str:
    """Compute the `h1` of an unpacked package; errors as in `file_digests`."""
    return h1_of_digests(file_digests(folder))


def hashed_folder(folder: Path, *, cancel: threading.Event | None = None) -> HashedPackage:
    """Compute every hash of an unpacked package; arguments and errors as in `file_digests`."""
    return HashedPackage.of_digests(file_digests(folder, cancel=cancel))


def file_digests(
    folder: Path,
    *,
    limit: Limits = LIMITS,
    cancel: threading.Event | None = None,
    new: Callable[[bytes], Digest] = lambda _: _Sha256(),
) -> tuple[tuple[bytes, str], ...]:
    """Digest the files of an unpacked package: every file below it, under the names of links the files they lead to.

    Returns slash-separated names, and the SHA-256 of each in hex, in no order. A link to the package is followed; the
    bounds `unpacked` and `entries` count; `cancel` is looked at between blocks and between names.

    Raises:
        OSError: Something in it cannot be read, is neither a file nor a folder, is a link to a folder, or one that
            leads out.
        ValueError: It is beyond a bound, or a file's name holds a line feed, which the format cannot say.
        RunCancelledError: The run was cancelled.
    """
    top = os.path.realpath(os.fsencode(folder))
    reading = _Reading(top, limit, cancel, new)
    waiting, folders = [b""], 0
    while waiting:
        inside = waiting.pop()
        with os.scandir(os.path.join(top, inside)) as found:  # noqa: PTH118 - paths are bytes
            for one in found:
                stop_if(cancel)
                name = os.path.join(inside, one.name)  # noqa: PTH118
                if not one.is_dir(follow_symlinks=False):
                    reading.add(name)
                    continue
                folders += 1
                if folders > limit.entries:
                    raise ValueError(f"it has more than {limit.entries} folders")
                waiting.append(name)
    return tuple(reading.digests)


class _Sha256(Digest):
    """A digest without the checksum that only zip files have."""

    def update(self, block: bytes | memoryview) -> None:
        """Take the next block."""
        self._sha256.update(block)


class _Reading(Struct):
    """Reads files below a folder, which together have a bound; `size` is the bytes that were read."""

    top: bytes
    limit: Limits
    cancel: threading.Event | None
    new: Callable[[bytes], Digest]
    digests: list[tuple[bytes, str]] = field(default_factory=list)
    size: int = 0

    def add(self, name: bytes) -> None:
        """Read one file, or the one that a link leads to."""
        if len(self.digests) == self.limit.entries:
            raise ValueError(f"it has more than {self.limit.entries} files")
        place = os.path.join(self.top, name)  # noqa: PTH118
        if os.path.islink(place):  # noqa: PTH114
            os.stat(place)  # noqa: PTH116 - the system has a bound for links, and what follows has none
            place = os.path.realpath(place)
            if not place.startswith(os.path.join(self.top, b"")):  # noqa: PTH118
                raise OSError(errno.EXDEV, "a link leads out of the package's folder")
        if os.path.isdir(place):  # noqa: PTH112
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        slashed = name.replace(os.fsencode(os.sep), b"/")
        with open_regular(place, follows_link=False) as file:
            self.digests.append((slashed, self._digest(file.fileno(), self.new(slashed))))

    def _digest(self, descriptor: int, digest: Digest) -> str:
        # Not by the file's own method, to which a kernel's log that has nothing yet is at its end.
        while block := os.read(descriptor, _BLOCK):
            stop_if(self.cancel)
            self.size += len(block)
            if self.size > self.limit.unpacked:
                raise ValueError(f"its files have more than {size_words(self.limit.unpacked)}")
            digest.update(block)
        digest.end()
        return digest.hex()


def differing_files(one: Path, reference: Path) -> tuple[str, ...]:
    """Return the files that differ from an accepted unpacked package, in words; () where they cannot be compared."""
    if any(os.path.realpath(folder) != os.path.abspath(folder) for folder in (one, reference)):  # noqa: PTH100
        return ()  # Behind a link there may be anything, and the names of its files are not part of a report.
    try:
        mine, theirs = _digests(one), _digests(reference)
    except (OSError, ValueError):
        return ()
    words = []
    for name in sorted({*mine, *theirs}):
        if name not in theirs:
            words.append(f"{name} added")
        elif name not in mine:
            words.append(f"{name} missing")
        elif mine[name] != theirs[name]:
            words.append(f"{name} changed")
    return tuple(words)


_COMPARED = Limits(entries=1000)
"""The most files whose names are compared: a package has some ten."""


def _digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file; raises what `file_digests` raises."""
    return {os.fsdecode(name): digest for name, digest in file_digests(folder, limit=_COMPARED)}
