"""Rewrites the assertions of all tests once for all processes of a run, each of which would do it for itself.

Every process reads all tests, in the same order and so at the same time. After a change of the tests or in a new clone, two
thirds of that is pytest's rewriting of assertions, whose result it keeps in a file: here each process does a share of it first.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest


def rewrite_share(config: pytest.Config, number: int, count: int) -> None:
    """Rewrites and keeps every `count`th of the modules, from the one with this `number` on.

    These names are pytest's own business: where a version lacks them, each process does all of it, as without this.
    """
    with contextlib.suppress(ImportError, AttributeError, TypeError, KeyError, ValueError, OSError, SyntaxError):
        from _pytest.assertion import rewrite

        state = config.stash[rewrite.assertstate_key]
        for path in sorted(Path(__file__).parent.rglob("test_*.py"))[number::count]:
            folder = rewrite.get_cache_dir(path)
            kept = folder / (path.stem + rewrite.PYC_TAIL)
            if rewrite._read_pyc(path, kept) is None and rewrite.try_makedirs(folder):
                source, code = rewrite._rewrite_test(path, config)
                rewrite._write_pyc(state, code, source, kept)
