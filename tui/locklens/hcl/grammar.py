"""The door to python-hcl2: is this skeleton an expression?

Only the parser proper is used. What python-hcl2 builds on top of it shares mutable state between threads.
"""

from __future__ import annotations

import os
import tempfile
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

_PREFIX = "a = "
_lock = threading.Lock()
_CACHED_LENGTH = 500


def fault(skeleton: str) -> int | None:
    """Returns the offset at which a skeleton stops being an expression, None if it is one.

    Args:
        skeleton: An expression with `x` for every operand, in one line.
    """
    return _cached_fault(skeleton) if len(skeleton) <= _CACHED_LENGTH else _fault(skeleton)


def _fault(skeleton: str) -> int | None:
    from lark.exceptions import LarkError, UnexpectedInput

    try:
        _parser().parse(f"{_PREFIX}{skeleton}\n")
    except UnexpectedInput as error:
        position = error.pos_in_stream if isinstance(error.pos_in_stream, int) else 0
        return min(max(position - len(_PREFIX), 0), len(skeleton))
    except (LarkError, RecursionError):
        return 0
    return None


_cached_fault = lru_cache(maxsize=8192)(_fault)


@lru_cache(maxsize=1)
def _parser() -> Any:
    """python-hcl2's own parser; building it from the grammar takes a second, so python-hcl2 keeps it in a file."""
    import hcl2.parser

    with _lock:
        cache = Path(hcl2.parser.PARSER_FILE)
        if not cache.exists() and not os.access(cache.parent, os.W_OK):
            own = _cache_file()
            if own is not None:
                hcl2.parser.PARSER_FILE = own
        return hcl2.parser.parser()


def _cache_file() -> Path | None:
    """A file in a folder that only the user can write: what is in it gets unpickled."""
    import sys
    from importlib.metadata import version

    import platformdirs

    folder = Path(platformdirs.user_cache_dir("locklens", appauthor=False))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        release = "{}.{}".format(*sys.version_info[:2])
        file = folder / f"python-hcl2-{version('python-hcl2')}-py{release}.bin"
        if not _is_own(folder) or (os.path.lexists(file) and not _is_own(file)):
            return None
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        return None
    return file


def _is_own(path: Path) -> bool:
    """Whether only this user can have written to a file or a folder; on Windows that cannot be told by its mode."""
    status = path.stat()
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)
