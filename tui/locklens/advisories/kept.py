"""The database that `locklens advisories update` keeps: one compact file in the user's data folder."""

from __future__ import annotations

import os
import zlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError

if TYPE_CHECKING:
    from locklens.advisories import AdvisoryDatabase

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

    from locklens.advisories import AdvisoryDatabase
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
    """The import paths of all packages of which the kept database names functions, as the linker writes them.

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
    from locklens.advisories.linking import linker_path

    advisories = _read(path, changed, size).advisories
    affected = (one for advisory in advisories for module in advisory.affected for one in module.packages)
    return frozenset(linker_path(package.path) for package in affected if package.symbols)
