"""File stamps: which watched files changed on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from locklens.review.model import Review


Stamp = tuple[int, int, int] | None


Stamps = Mapping[Path, Stamp]


def stamps_of(paths: Iterable[Path]) -> dict[Path, Stamp]:
    """The stamp of each file: modification time, size and inode; None for a missing file."""
    return {path: _stamp(path) for path in paths}


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def changed_since(stamps: Stamps) -> tuple[Path, ...]:
    """The files whose stamp differs."""
    return tuple(path for path, stamp in stamps.items() if _stamp(path) != stamp)


def roots_of(paths: Iterable[Path], review: Review, top: Path | None) -> tuple[str, ...]:
    """Labels of changed files: the root that contains the file, else the file's name."""
    root_paths = {root.path for root in review.roots}
    names = []
    for path in paths:
        folder = path.parent.relative_to(top).as_posix() if top is not None and path.is_relative_to(top) else None
        folder = "" if folder == "." else folder
        names.append((folder or ".") if folder in root_paths else path.name)
    return tuple(dict.fromkeys(names))
