"""The door to python-hcl2: the tree of an expression.

Only the parser proper is used. What python-hcl2 builds on top of it shares mutable state between threads.
"""

from __future__ import annotations

import os
import tempfile
import threading
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locklens.hcl.source import SyntaxProblemError
from locklens.ownership import distrust_reason

if TYPE_CHECKING:
    from lark import Token, Tree

_PREFIX = "a = "
OFFSET = len(_PREFIX)
"""The offset of an expression in the parsed text: python-hcl2 reads arguments, not bare expressions."""

_BROKEN = "Expected the start of an expression, or its end."
_lock = threading.Lock()


def parse(text: str, start: int) -> tuple[Tree[Token], str]:
    """Return python-hcl2's tree of an expression, and the text to which the tree's offsets belong.

    Args:
        text: The expression and nothing else.
        start: Its offset in its file, for problems.

    Raises:
        SyntaxProblemError: It is none.
    """
    from lark.exceptions import LarkError, UnexpectedInput

    whole = f"{_PREFIX}{text}\n"
    try:
        tree = _parser().parse(whole)
    except UnexpectedInput as error:
        position = error.pos_in_stream if isinstance(error.pos_in_stream, int) else 0
        at = start + min(max(position - OFFSET, 0), len(text))
        raise SyntaxProblemError(at, "Invalid expression", _BROKEN) from error
    except (LarkError, RecursionError) as error:
        raise SyntaxProblemError(start, "Invalid expression", _BROKEN) from error
    items = [item for item in tree.children[0].children if getattr(item, "data", "") in ("attribute", "block")]
    expression = items[0].children[2]
    if len(items) != 1 or expression.meta.end_pos < OFFSET + len(text.rstrip()):
        raise SyntaxProblemError(start, "Invalid expression", _BROKEN)
    return expression, whole


@lru_cache(maxsize=1)
def _parser() -> Any:
    """Return python-hcl2's parser; building it from the grammar takes a second, so python-hcl2 keeps it in a file."""
    import hcl2.parser

    with _lock:
        cache = Path(hcl2.parser.PARSER_FILE)
        if not cache.exists() and not os.access(cache.parent, os.W_OK):
            own = _cache_file()
            if own is not None:
                hcl2.parser.PARSER_FILE = own
        return hcl2.parser.parser()


def _cache_file() -> Path | None:
    """A file in a folder that only the user can write, because its content is unpickled."""
    import sys
    from importlib.metadata import version

    import platformdirs

    folder = Path(platformdirs.user_cache_dir("locklens", appauthor=False))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        release = "{}.{}".format(*sys.version_info[:2])
        file = folder / f"python-hcl2-{version('python-hcl2')}-py{release}.bin"
        if distrust_reason(folder.stat()) or (os.path.lexists(file) and distrust_reason(file.stat())):
            return None
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        return None
    return file
