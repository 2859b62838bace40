"""The Go vulnerability database: read from its JSON documents, and kept as one compact file in the user's data folder.

`locklens advisories update` keeps it. The documents are in a folder or a zip file, or are single entries. The layout is
that of https://vuln.go.dev (`ID/*.json`, `index/db.json`), of its vulndb.zip, and of `data/osv` in the repository
golang/vulndb. An entry that cannot be read is named and skipped: one bad entry says nothing of the others.
"""

from __future__ import annotations

import os
import re
import zlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locklens.advisories import (
    FIRST,
    Advisory,
    AdvisoryDatabase,
    AffectedModule,
    AffectedPackage,
    is_go_version,
    ranges_of_events,
)
from locklens.errors import ConfigurationError
from locklens.text import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

_FORM = b"locklens advisories 1\n"
"""The form of the file; one in another form is read again from where it came from."""

PLACE = "LOCKLENS_ADVISORIES"
"""The environment variable that names another file."""

_MOST_BYTES = 256 * 1024 * 1024
_HINT = "locklens advisories update reads the database again"


def default_advisories_path() -> Path:
    """The path of the file: LOCKLENS_ADVISORIES, or in the user's data folder, since a cache may be cleared."""
    if named := os.environ.get(PLACE):
        return Path(named)
    from platformdirs import user_data_path

    return user_data_path("locklens", appauthor=False) / "advisories.bin"


def is_database_kept() -> bool:
    """True if there is a file, readable or not."""
    return os.path.lexists(default_advisories_path())  # A link to nothing is reported by who reads it.


def keep_database(database: AdvisoryDatabase, path: Path | None = None) -> None:
    """Replace the kept database.

    Raises:
        ConfigurationError: It cannot be written.
    """
    import msgspec

    from locklens.storage.files import write_atomically

    path = path or default_advisories_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"cannot be written: {error.strerror}", path=str(path)) from error
    write_atomically(path, _FORM + zlib.compress(msgspec.msgpack.encode(database), 6), mode=0o600)


def kept_database(path: Path | None = None) -> AdvisoryDatabase | None:
    """Return the kept database; None where none was kept.

    Raises:
        ConfigurationError: The file cannot be read, or has another form.
    """
    path = path or default_advisories_path()
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"cannot be read: {error.strerror}", path=str(path), hint=_HINT) from error
    return _read(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=2)
def _read(path: Path, changed: int, size: int) -> AdvisoryDatabase:  # noqa: ARG001 - what tells one file from the next
    import msgspec

    from locklens.storage.files import read_bounded

    data = read_bounded(path, _MOST_BYTES)
    inflate = zlib.decompressobj()
    try:
        if not data.startswith(_FORM):
            raise ConfigurationError("not in the form of this version", path=str(path), hint=_HINT)
        body = inflate.decompress(data[len(_FORM) :], _MOST_BYTES)
        if not inflate.eof:
            raise ConfigurationError("not whole", path=str(path), hint=_HINT)
        return msgspec.msgpack.decode(body, type=AdvisoryDatabase)
    except (zlib.error, msgspec.MsgspecError) as error:
        raise ConfigurationError(f"damaged: {error}", path=str(path), hint=_HINT) from error


def packages_with_advisories() -> frozenset[str] | None:
    """The import paths of all packages whose functions the kept database names, as the linker writes them.

    Returns:
        None where no database is kept, or it cannot be read.
    """
    try:
        path = default_advisories_path()
        status = path.stat()
        return _packages_of(path, status.st_mtime_ns, status.st_size)
    except (OSError, ConfigurationError):
        return None


@lru_cache(maxsize=2)
def _packages_of(path: Path, changed: int, size: int) -> frozenset[str]:
    from locklens.advisories.matching import linker_path

    advisories = _read(path, changed, size).advisories
    affected = (one for advisory in advisories for module in advisory.affected for one in module.packages)
    return frozenset(linker_path(package.path) for package in affected if package.symbols)


MAX_ADVISORIES = 50_000
"""Go's own database has 4,300."""
MAX_ENTRY_BYTES = 1024 * 1024
"""The largest of Go's own has 13 KB."""
MAX_DATABASE_BYTES = 256 * 1024 * 1024
"""All documents together; Go's own have 8 MB."""
MAX_ZIP_BYTES = 64 * 1024 * 1024
_MOST_AFFECTED, _MOST_RANGES, _MOST_PACKAGES, _MOST_SYMBOLS = 1000, 1000, 1000, 10_000
_MOST_TEXT = 300
"""The most characters of an id, a path or a summary."""
_MOST_NAMED = 20
"""The most entries that are named as skipped; the others are counted."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_ENTRY_NAME = re.compile(
    r"(?:.*/)?(?!index\b|db\.json$|modules\.json$|vulns\.json$)[A-Z][A-Z0-9]*-[A-Za-z0-9-]{1,60}\.json"
)
_INDEX_NAME = re.compile(r"(?:.*/)?index/db\.json")
_MODIFIED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,20}Z")
_NO_DATE = "0001-"
"""The beginning of Go's zero time, which the entries in the git repository have."""


class MalformedEntryError(ValueError):
    """An entry of the database cannot be read; str() says why."""


def read_database(place: Path, *, source: str, now: datetime) -> AdvisoryDatabase:
    """Read a database from a folder, a zip file or the file of one entry.

    Raises:
        ConfigurationError: There is nothing of the kind, or it is beyond the bounds.
    """
    if place.is_dir():
        return database_of(_of_folder(place), source=source, now=now)
    from locklens.storage.files import read_bounded

    data = read_bounded(place, MAX_ZIP_BYTES)
    return read_database_bytes(data, name=place.name, source=source, now=now)


def read_database_bytes(data: bytes, *, name: str, source: str, now: datetime) -> AdvisoryDatabase:
    """Read a database from the bytes of a zip file, or of one entry's JSON.

    Raises:
        ConfigurationError: They are neither, or beyond the bounds.
    """
    documents = _of_zip(data, source) if data[:2] == b"PK" else iter([(name, data)])
    return database_of(documents, source=source, now=now)


def database_of(documents: Iterable[tuple[str, bytes | str]], *, source: str, now: datetime) -> AdvisoryDatabase:
    """Make the database of its documents: of each its name, and its bytes or why they cannot be read.

    The date is that of `index/db.json`; the time of reading is in UTC.

    Raises:
        ConfigurationError: No document is an advisory, or all of them are beyond the bounds.
    """
    read_at = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    found: dict[str, Advisory] = {}
    dates: list[str] = []
    skipped: list[str] = []
    withdrawn = skipped_count = total = 0
    for name, data in documents:
        total += len(data)
        if total > MAX_DATABASE_BYTES or len(found) >= MAX_ADVISORIES:
            bound = f"{MAX_DATABASE_BYTES // 1024**2} MB, or {MAX_ADVISORIES} entries"
            raise ConfigurationError(f"more than {bound}: not read as a database of advisories", path=source)
        try:
            if isinstance(data, str):
                raise MalformedEntryError(data)
            entry = _json(data)
            dates.append(_date(entry.get("modified")))
            if _INDEX_NAME.fullmatch(name):
                continue
            if _is_withdrawn(entry, read_at):
                withdrawn += 1
                continue
            advisory = _advisory(entry)
        except MalformedEntryError as error:
            skipped_count += 1
            if len(skipped) < _MOST_NAMED:
                skipped.append(f"{shortened(name, _MOST_TEXT)}: {error}")
            continue
        found[advisory.id] = advisory
    if not found and not withdrawn:
        reason = f": {skipped[0]}" if skipped else ""
        hint = "name vulndb.zip, a folder with the entries of golang/vulndb (data/osv), or an address that serves them"
        raise ConfigurationError(f"no advisory is in it{reason}", path=source, hint=hint)
    return AdvisoryDatabase(
        source,
        max(dates, default="") or None,
        read_at,
        tuple(found[key] for key in sorted(found)),
        withdrawn,
        tuple(skipped),
        skipped_count,
    )


def _of_folder(place: Path) -> Iterator[tuple[str, bytes | str]]:
    """Yield the documents of a folder and of the folders in it that the layouts have."""
    from locklens.storage.files import read_bounded

    folders = (place, *(place / name for name in ("ID", "index", "data/osv", "osv")))
    for folder in folders:
        try:
            names = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
        except OSError as error:
            raise ConfigurationError(f"cannot be read: {error.strerror}", path=str(folder)) from error
        for name in names:
            shown = (folder.relative_to(place) / name).as_posix()
            if not (_ENTRY_NAME.fullmatch(shown) or _INDEX_NAME.fullmatch(shown)):
                continue
            try:
                yield shown, read_bounded(folder / name, MAX_ENTRY_BYTES)
            except ConfigurationError as error:
                yield shown, error.message


def _of_zip(data: bytes, source: str) -> Iterator[tuple[str, bytes | str]]:
    """Yield the documents of a zip file.

    Raises:
        ConfigurationError: It is none, or has more entries than a database may have.
    """
    from io import BytesIO
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(BytesIO(data)) as archive:
            infos = archive.infolist()
            if len(infos) > 2 * MAX_ADVISORIES:
                raise ConfigurationError(f"more than {2 * MAX_ADVISORIES} files in it", path=source)
            for info in infos:
                if not (_ENTRY_NAME.fullmatch(info.filename) or _INDEX_NAME.fullmatch(info.filename)):
                    continue
                try:
                    with archive.open(info) as file:
                        body = file.read(MAX_ENTRY_BYTES + 1)
                except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError):
                    yield info.filename, "it cannot be unpacked"
                    continue
                yield info.filename, body if len(body) <= MAX_ENTRY_BYTES else "it is larger than 1024 KiB"
    except (BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise ConfigurationError(f"no zip file that can be read: {error}", path=source) from error


def _json(data: bytes) -> dict[str, Any]:
    import msgspec

    try:
        entry = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else shortened(str(error), _MOST_TEXT)
        raise MalformedEntryError(f"no JSON: {reason}") from error
    if not isinstance(entry, dict):
        raise MalformedEntryError("no JSON object")
    return entry


def _date(value: object) -> str:
    is_date = isinstance(value, str) and _MODIFIED.fullmatch(value) and not value.startswith(_NO_DATE)
    return str(value) if is_date else ""


def _is_withdrawn(entry: dict[str, Any], now: str) -> bool:
    when = _date(entry.get("withdrawn"))
    return bool(when) and when <= now


def _advisory(entry: dict[str, Any]) -> Advisory:
    name = _text(entry.get("id"), "id")
    if not _ID.fullmatch(name):
        raise MalformedEntryError(f"its id is {name!r}")
    aliases = tuple(_text(each, "aliases") for each in _items(entry, "aliases", _MOST_AFFECTED))
    summary = entry.get("summary") or entry.get("details") or ""
    if not isinstance(summary, str):
        raise MalformedEntryError("its summary is no text")
    affected = [
        _affected(each)
        for each in _objects(entry, "affected", _MOST_AFFECTED)
        if _object(each, "package").get("ecosystem") == "Go"
    ]
    line = summary.strip().partition("\n")[0]
    return Advisory(name, aliases, shortened(line, _MOST_TEXT), tuple(affected))


def _affected(entry: dict[str, Any]) -> AffectedModule:
    specific = _object(entry, "ecosystem_specific")
    ranges = [
        each for each in _objects(entry, "ranges", _MOST_RANGES) if _text(each.get("type"), "type of range") == "SEMVER"
    ]
    custom = _objects(specific, "custom_ranges", _MOST_RANGES)
    return AffectedModule(
        _text(_object(entry, "package").get("name"), "module"),
        _ranges(ranges),
        _custom_ranges(custom),
        tuple(map(_package, _objects(specific, "imports", _MOST_PACKAGES))),
    )


def _ranges(entries: list[dict[str, Any]]) -> tuple[Any, ...]:
    """Return the ranges of all entries; () where one of them has every version."""
    found: list[Any] = []
    for entry in entries:
        events = _objects(entry, "events", _MOST_RANGES)
        if not events:
            return ()
        made = ranges_of_events(map(_event, events))
        if not made:
            raise MalformedEntryError("a range is introduced nowhere")
        found += made
    return tuple(found)


def _custom_ranges(entries: list[dict[str, Any]]) -> tuple[Any, ...] | None:
    """Return the ranges of other versions than Go's; None where there are none, or they have no order that is known."""
    try:
        return _ranges(entries) if entries else None
    except MalformedEntryError:
        return None


def _event(event: dict[str, Any]) -> tuple[str, str]:
    if len(event) != 1 or (kind := next(iter(event))) not in ("introduced", "fixed"):
        raise MalformedEntryError(f"a range has {' and '.join(map(repr, sorted(event)[:3])) or 'an empty event'}")
    version = _text(event[kind], "version")
    if version != FIRST and not is_go_version(version):
        raise MalformedEntryError(f"{shortened(version, 60)!r} is no version")
    return kind, version


def _package(entry: dict[str, Any]) -> AffectedPackage:
    lists = ("symbols", "goos", "goarch")
    return AffectedPackage(
        _text(entry.get("path"), "package"),
        *(tuple(_text(each, name) for each in _items(entry, name, _MOST_SYMBOLS)) for name in lists),
    )


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value or len(value) > _MOST_TEXT:
        raise MalformedEntryError(f"its {what} is no text of 1 to {_MOST_TEXT} characters")
    return value


def _object(entry: dict[str, Any], key: str) -> dict[str, Any]:
    value = entry.get(key) or {}
    if not isinstance(value, dict):
        raise MalformedEntryError(f"its {key} is no object")
    return value


def _items(entry: dict[str, Any], key: str, most: int) -> list[Any]:
    value = entry.get(key) or []
    if not isinstance(value, list) or len(value) > most:
        raise MalformedEntryError(f"its {key} is no list of at most {most}")
    return value


def _objects(entry: dict[str, Any], key: str, most: int) -> list[dict[str, Any]]:
    found = _items(entry, key, most)
    if not all(isinstance(each, dict) for each in found):
        raise MalformedEntryError(f"its {key} has something else than objects")
    return found
