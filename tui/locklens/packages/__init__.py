"""Provider packages: hashed while they arrive, unpacked safely.

The tools unpack a package and hash the folder; everything here gives what that would have given, for every zip file
that they accept, and never a hash where they would have failed. Nothing here judges whether a hash is the right one.

Here are the bounds, the directory at the end of a zip file, and the files and folders that unpacking makes of it. The
tools believe this central directory alone; of the header in front of a content they look at two lengths. Where
two readers of one zip file could see different files, this one sees what the tools would unpack.

The directory follows the rules of Go's archive/zip; the format is
https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT. Names and folders follow the rules of the tools on Linux,
whose unpacking is go-getter's (`decompress_zip.go`). No content is read here, and nothing is written.
"""

from __future__ import annotations

import re
import struct
from enum import IntEnum

from msgspec import Struct

from locklens.errors import PackageError, RunCancelledError
from locklens.text import size_words, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence
    from typing import BinaryIO

_MIB = 1024**2
_GIB = 1024**3


class Limits(Struct, frozen=True):
    """The bounds of one package. The largest that are published have a fifth of them, most a hundredth.

    Attributes:
        packed: Bytes of the zip file.
        unpacked: Bytes of the contents of all entries.
        ratio: Limit of the contents' bytes as a multiple of the zip file's, once they are beyond `ratio_from` bytes.
            Programs shrink to a quarter, at most to a tenth.
        ratio_from: Bytes of contents up to which `ratio` does not count.
        entries: Entries of the zip file, and the folders that they need.
        name: Bytes of an entry's name.
    """

    packed: int = 4 * _GIB
    unpacked: int = 8 * _GIB
    ratio: int = 50
    ratio_from: int = 256 * _MIB
    entries: int = 10_000
    name: int = 1024


LIMITS = Limits()
"""The bounds of packages that are hashed and unpacked."""


def stop_if(cancel: threading.Event | None) -> None:
    """End the work at hand if the run was cancelled.

    Raises:
        RunCancelledError: It was cancelled.
    """
    if cancel is not None and cancel.is_set():
        raise RunCancelledError("the run was cancelled")


_END = struct.Struct("<4s4xHHLLH")
_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4s28xQQQ")
_HEADER = struct.Struct("<4s2H2H4x3L3H4x2L")
_END_REACH = 65 * 1024
_FULL16, _FULL32 = 0xFFFF, 0xFFFFFFFF
_SIGNED = 1 << 63
_WRAP = (1 << 64) - 1
_ZIP64 = 1
_SHOWN_NAME = 80

_ENCRYPTED, _DESCRIPTOR = 0x1, 0x8
_DOS_READ_ONLY, _DOS_FOLDER = 0x01, 0x10
_UNIX_TYPE, _UNIX_FOLDER = 0o170000, 0o040000
_DOS_SYSTEMS, _UNIX_SYSTEMS = frozenset({0, 11, 14}), frozenset({3, 19})

_LONGEST_COMPONENT = 255
"""The most bytes of a file's name on every file system that matters."""

_SEPARATORS = re.compile(rb"[/\\]")


class Method(IntEnum):
    """The compression method of a content; the tools support no other."""

    STORED = 0
    DEFLATED = 8


class ZipEntry(Struct, frozen=True):
    """One entry of the central directory.

    Attributes:
        name: The stored bytes, hostile.
        system: The system that it was packed on, which says how to read `attributes`.
        flags: General purpose bits.
        method: See `Method`; any number.
        attributes: External attributes.
        offset: Position of its local header, which may be outside of the file.
    """

    name: bytes
    system: int
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    attributes: int
    offset: int

    @property
    def is_folder(self) -> bool:
        """True if unpacking makes a folder of it and does not look at its content."""
        if self.name.endswith(b"/"):
            return True
        if self.system in _UNIX_SYSTEMS:
            return (self.attributes >> 16) & _UNIX_TYPE == _UNIX_FOLDER
        return self.system in _DOS_SYSTEMS and bool(self.attributes & _DOS_FOLDER)

    @property
    def is_encrypted(self) -> bool:
        """True if its content cannot be read without a password."""
        return bool(self.flags & _ENCRYPTED)

    @property
    def has_descriptor(self) -> bool:
        """True if a data descriptor follows its content."""
        return bool(self.flags & _DESCRIPTOR)

    @property
    def permissions(self) -> int:
        """The permission bits of the unpacked file: none where the system that packed it is unknown.

        Set-user-id and the like are left out, as newer releases of the tools do; 1.11 sets them.
        """
        if self.system in _UNIX_SYSTEMS:
            return (self.attributes >> 16) & 0o777
        if self.system in _DOS_SYSTEMS:
            return 0o444 if self.attributes & _DOS_READ_ONLY else 0o666
        return 0

    def has_content_of(self, crc: int) -> bool:
        """True if a content's CRC-32 is the right one; zero means not set, but where a descriptor follows."""
        return crc == self.crc or (self.crc == 0 and not self.has_descriptor)

    def __str__(self) -> str:
        """The name for messages, harmless."""
        text = self.name.decode("utf-8", "backslashreplace")
        text = visible(text) or '""'
        return text if len(text) <= _SHOWN_NAME else text[: _SHOWN_NAME - 3] + "..."


class _FormatError(Exception):
    """The bytes are not a header of the central directory."""


class _End(Struct, frozen=True):
    """The record at the end: its position, the number of entries, and the directory's size and claimed offset."""

    position: int
    count: int
    size: int
    offset: int


def read_directory(
    file: BinaryIO, size: int, limit: Limits, *, cancel: threading.Event | None = None
) -> tuple[ZipEntry, ...]:
    """Read the entries of a zip file, within the bounds of their number and of the lengths of their names.

    The file is seekable, and left anywhere; `cancel` is looked at between entries.

    Raises:
        PackageError: The tools would not open it, it has no entries, or more than may be.
        RunCancelledError: The run was cancelled.
        OSError: It cannot be read.
    """
    end = _read_end(file, size)
    base = end.position - end.size - end.offset
    if not 0 <= base + end.offset < size:
        raise PackageError("the package is not a complete zip file: its directory would be outside of it")
    # Some writers forget what comes before the zip file when they count, others do not.
    if base > 0 and _is_header_at(file, end.offset):
        base = 0
    entries: list[ZipEntry] = []
    file.seek(base + end.offset)
    try:
        while True:
            stop_if(cancel)
            entry = _read_header(file, base, limit)
            if len(entries) == limit.entries:
                raise PackageError(f"the package has more than {limit.entries} entries, which is not read")
            entries.append(entry)
    except _FormatError:
        pass  # What is not a header ends the directory; the count below says whether that was too early.
    if len(entries) & _FULL16 != end.count & _FULL16:
        raise PackageError("the package is not a complete zip file: its directory is damaged")
    if not entries:
        raise PackageError("the package is an empty zip file")
    return tuple(entries)


def _read_end(file: BinaryIO, size: int) -> _End:
    tail = _at(file, max(0, size - _END_REACH), min(size, _END_REACH))
    found = tail.rfind(b"PK\x05\x06", 0, max(0, len(tail) - _END.size + 4))
    if found < 0:
        raise PackageError("the package is not a complete zip file: there is no directory at its end")
    _, _, count, length, offset, comment = _END.unpack_from(tail, found)
    position = size - len(tail) + found
    if position + _END.size + comment > size:
        raise PackageError("the package is not a complete zip file: it breaks off in its comment")
    # One of the three is compared with the wrong bound, as the tools do.
    if count == _FULL16 or length == _FULL16 or offset == _FULL32:
        locator = _at(file, position - _LOCATOR.size, _LOCATOR.size) if position >= _LOCATOR.size else b""
        if locator[:4] == b"PK\x06\x07":
            _, disk, where, disks = _LOCATOR.unpack(locator)
            if disk == 0 and disks == 1 and where < _SIGNED:
                return _read_end64(file, where, size)
    return _End(position, count, length, offset)


def _read_end64(file: BinaryIO, position: int, size: int) -> _End:
    record = _at(file, position, _END64.size) if position < size else b""
    if len(record) < _END64.size or record[:4] != b"PK\x06\x06":
        raise PackageError("the package is not a complete zip file: its zip64 record is damaged")
    _, count, length, offset = _END64.unpack(record)
    if length >= _SIGNED or offset >= _SIGNED:
        raise PackageError("the package is not a complete zip file: its zip64 record is damaged")
    return _End(position, count, length, offset)


def _is_header_at(file: BinaryIO, position: int) -> bool:
    file.seek(position)
    try:
        _read_header(file, 0, None)
    except (_FormatError, PackageError):
        return False
    return True


def _read_header(file: BinaryIO, base: int, limit: Limits | None) -> ZipEntry:
    """Read one header of the central directory; where it ends for good, the file is not a zip file for the tools."""
    header = _read(file, _HEADER.size)
    if header[:4] != b"PK\x01\x02":
        raise _FormatError
    fields = _HEADER.unpack(header)
    _, made_by, _, flags, method, crc, packed, size, name_length, extra_length, comment_length, attributes, offset = (
        fields
    )
    if limit is not None and name_length > limit.name:
        raise PackageError(f"an entry of the package has a name of {name_length} bytes; at most {limit.name} are read")
    rest = _read(file, name_length + extra_length + comment_length)
    extra = rest[name_length : name_length + extra_length]
    size, packed, offset = _widened(extra, size, packed, offset)
    # The tools add as machines do.
    offset = (offset + base) & _WRAP
    return ZipEntry(rest[:name_length], made_by >> 8, flags, method, crc, packed, size, attributes, offset)


def _read(file: BinaryIO, count: int) -> bytes:
    if count == 0:
        return b""
    data = file.read(count)
    if not data:
        raise PackageError("the package is not a complete zip file: it breaks off in its directory")
    if len(data) < count:
        raise _FormatError
    return data


def _widened(extra: bytes, *fields: int) -> tuple[int, ...]:
    """Take those of the fields that are full from the zip64 extra field."""
    values, missing = list(fields), [index for index, value in enumerate(fields) if value == _FULL32]
    at = 0
    while missing and len(extra) - at >= 4:
        tag, length = struct.unpack_from("<HH", extra, at)
        at += 4
        if len(extra) - at < length:
            break
        if tag == _ZIP64:
            if length < 8 * len(missing):
                raise _FormatError
            for place, index in enumerate(missing):
                values[index] = struct.unpack_from("<Q", extra, at + 8 * place)[0]
            missing = []
        at += length
    # A content may be exactly as long as the field can say.
    if any(index > 0 for index in missing):
        raise _FormatError
    return tuple(values)


def _at(file: BinaryIO, position: int, count: int) -> bytes:
    file.seek(position)
    return file.read(count)


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
    """Find what unpacking the entries, in the zip file's order, would make.

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
