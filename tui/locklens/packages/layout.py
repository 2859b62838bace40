"""The result of unpacking the entries of a zip file: files with their names, and folders.

The rules are those of the tools on Linux, whose unpacking is go-getter's (`decompress_zip.go`). Nothing is written
here.
"""

from __future__ import annotations

import re

from msgspec import Struct

from locklens.errors import PackageError
from locklens.text import size_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from locklens.packages.archive import ZipEntry
    from locklens.packages.limits import Limits

_LONGEST_COMPONENT = 255
"""Bytes of a file's name on every file system that matters."""

_SEPARATORS = re.compile(rb"[/\\]")


class PackageLayout(Struct, frozen=True):
    """An unpacked package.

    Attributes:
        opened: Each entry whose content unpacking reads, in the zip file's order, with the path of its file.
        files: Slash-separated path of each file, and the entry that it has its content and its permissions from: the
            last of its name.
        folders: Paths of the folders, each after the one that holds it.
    """

    opened: tuple[tuple[bytes, ZipEntry], ...]
    files: dict[bytes, ZipEntry]
    folders: tuple[bytes, ...]

    @property
    def size(self) -> int:
        """Bytes of the files."""
        return sum(entry.size for entry in self.files.values())


def lay_out(entries: Sequence[ZipEntry], packed: int, limit: Limits) -> PackageLayout:
    """Find what unpacking would make.

    Args:
        entries: In the zip file's order.
        packed: Bytes of the zip file.
        limit: What the contents and the folders are held against.

    Raises:
        PackageError: Unpacking would fail or go beyond a bound, or the folder could not be hashed.
    """
    opened: list[tuple[bytes, ZipEntry]] = []
    files: dict[bytes, ZipEntry] = {}
    folders: dict[bytes, None] = {}
    for entry in entries:
        path = _path_of(entry)
        if not entry.is_folder:
            if not path or path in folders:
                raise _clash(entry)
            if b"\n" in path:
                raise PackageError(f"{entry} in the package has a line feed in its name, which h1 cannot represent")
            opened.append((path, entry))
            _add_folders(path.rpartition(b"/")[0], entry, files, folders)
            files[path] = entry
        else:
            _add_folders(path, entry, files, folders)
        if len(folders) > limit.entries:
            raise PackageError(f"the package needs more than {limit.entries} folders, which are not made")
    _check_sizes([entry for _, entry in opened], packed, limit)
    return PackageLayout(tuple(opened), files, tuple(folders))


def _path_of(entry: ZipEntry) -> bytes:
    """The path below the folder, "" for the folder itself."""
    if b".." in entry.name and b".." in _SEPARATORS.split(entry.name):
        raise PackageError(f"{entry} in the package leads out of its folder")
    components = [one for one in entry.name.split(b"/") if one not in {b"", b"."}]
    if b"\0" in entry.name or any(len(one) > _LONGEST_COMPONENT for one in components):
        raise PackageError(f"{entry} in the package cannot be the name of a file")
    return b"/".join(components)


def _add_folders(path: bytes, entry: ZipEntry, files: dict[bytes, ZipEntry], folders: dict[bytes, None]) -> None:
    """Add a folder and those that hold it."""
    missing = []
    while path and path not in folders:
        if path in files:
            raise _clash(entry)
        missing.append(path)
        path = path.rpartition(b"/")[0]
    folders.update(dict.fromkeys(reversed(missing)))


def _clash(entry: ZipEntry) -> PackageError:
    return PackageError(f"{entry} in the package is a file and a folder")


def _check_sizes(entries: list[ZipEntry], packed: int, limit: Limits) -> None:
    """Hold what the entries claim against the bounds; more than they claim is never read."""
    size = sum(entry.size for entry in entries)
    if size > limit.unpacked:
        raise PackageError(
            f"the package unpacks to {size_words(size)}, more than the {size_words(limit.unpacked)} that are read"
        )
    if size > limit.ratio_from and size > limit.ratio * packed:
        raise PackageError(
            f"the package unpacks to {size_words(size)}, more than {limit.ratio} times its {size_words(packed)}: a bomb"
        )
    if sum(entry.packed for entry in entries) > packed:
        # Each could be as long as the zip file, and reading them all would take days.
        raise PackageError("entries of the package share the same bytes, or claim more than there are")
