"""A log that was exported as a JSON document over several lines: its records as lines, each with its number. Pure.

So print the tools of CloudWatch, Grafana, Google Cloud, Azure and Datadog what they export: a list, in one of its
fields or for itself, of one object for each line of the log. The newest record may come first.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_LIST = re.compile(r"\[[ \t\r]*\n\s{0,200}(?=\{)")
"""Where a list of objects begins whose items have lines of their own."""

_MOST_LISTS = 8
"""The most lists that are looked into: that of the records comes first, or behind few others."""

_BETWEEN = re.compile(r"[\s,]*")
_TIMES = ("timestamp", "@timestamp", "time", "ts", "date", "eventTime")
_DECODER = json.JSONDecoder()


def json_records(text: str) -> list[tuple[int, str]]:
    """Return the records of a document with the line where each begins, from 1; [] without any.

    Each is JSON on one line. A document whose end is missing has those before. Where the newest comes first, they are
    turned round, and the lines count as if the oldest came first.
    """
    best: list[tuple[int, Mapping[str, Any]]] = []
    end = 0
    for match in islice(_LIST.finditer(text), _MOST_LISTS):
        if match.start() >= end:
            found, end = _sequence(text, match.end())
            best = max(best, found, key=len)
    if len(best) > 1 and _time(best[0][1]) > _time(best[-1][1]):
        best = [(number, record) for (number, _), (_, record) in zip(best, reversed(best), strict=True)]
    return [(number, json.dumps(record, ensure_ascii=False)) for number, record in best]


def _sequence(text: str, at: int) -> tuple[list[tuple[int, Mapping[str, Any]]], int]:
    """Return the objects that follow each other from a place on, each with its line, and the place behind the last."""
    found: list[tuple[int, Mapping[str, Any]]] = []
    number, counted = 1, 0
    while text.startswith("{", at):
        try:
            record, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        number, counted = number + text.count("\n", counted, at), at
        found.append((number, record))
        between = _BETWEEN.match(text, end)
        at = between.end() if between is not None else end
    return found, at


def _time(record: Mapping[str, Any]) -> str:
    """Return the time of a record, as text that compares as the times of the same document do; "" without one."""
    value = next((record[name] for name in _TIMES if isinstance(record.get(name), str | int)), "")
    return f"{value:020d}" if isinstance(value, int) else str(value)
