"""Local modules that a configuration file may call, judged by its bytes alone."""

from __future__ import annotations

import re

_LOCAL_SOURCE = re.compile(rb'\bsource["\s)]*+[=:]\s*+(?:<<-?\w++\s*+)?"?(\.\.?/[^"\s]*+)')
_ESCAPED = re.compile(rb"\\")


def local_sources(data: bytes) -> frozenset[str]:
    """Return every local module source that a configuration file may name, by a look at its bytes alone.

    Too many rather than too few: comments and other things' `source` count. Sources that are written with escapes or
    templates are given up to there.
    """
    return frozenset(
        _ESCAPED.split(found)[0].decode("utf-8", "surrogateescape") for found in _LOCAL_SOURCE.findall(data)
    )
