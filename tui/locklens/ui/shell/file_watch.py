"""Labels of files that changed on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.review.model import Review


def roots_of(paths: Iterable[str], review: Review, top: Path | None) -> tuple[str, ...]:
    """Labels of changed files: the root that contains the file, else the file's path below `top`, else its name."""
    root_paths = {root.path for root in review.roots}
    names = []
    for path in map(Path, paths):
        below = path.relative_to(top) if top is not None and path.is_relative_to(top) else None
        folder = below.parent.as_posix() if below is not None else None
        is_root = folder is not None and ("" if folder == "." else folder) in root_paths
        names.append(str(folder) if is_root else below.as_posix() if below is not None else path.name)
    return tuple(dict.fromkeys(names))
