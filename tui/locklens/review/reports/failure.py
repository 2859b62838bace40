"""Reports of a run that ended before there was a review: they say so, so that no earlier report passes for this one.

JSON and SARIF are empty texts, which no program reads: a document without findings would look like a good review.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.reports.findings import bounded
from locklens.review.reports.markdown import MARKER, code
from locklens.text import json_text, page, visible

if TYPE_CHECKING:
    from locklens.errors import LockLensError
    from locklens.text import Printable

FAILED = "could not be reviewed"
_LONGEST = 1000


def render(error: LockLensError, form: str) -> Printable:
    """Return the report of an error in a format of the review."""
    match form:
        case "text":
            return page([f"error: {error}", *([f"hint: {error.hint}"] if error.hint else [])])
        case "markdown":
            return page(_markdown(error))
        case "junit":
            return page(_junit(error))
        case "codequality":
            return json_text([_issue(error)])
        case _:
            return page([])


def _markdown(error: LockLensError) -> list[str]:
    step = [f"- Next step: {code(error.hint, _LONGEST)}"] if error.hint else []
    return [MARKER, f"## locklens: {FAILED}", "", f"- Reason: {code(str(error), _LONGEST)}", *step]


def _junit(error: LockLensError) -> list[str]:
    from html import escape

    words = escape(bounded(error.sentence, _LONGEST))
    counts = 'tests="1" failures="0" errors="1" skipped="0"'
    return [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="locklens review" {counts}>',
        f'<testsuite name="the review" {counts}>',
        '<testcase classname="the review" name="lock files">',
        f'<error type="error" message="{FAILED}: {words}"/>',
        "</testcase>",
        "</testsuite>",
        "</testsuites>",
    ]


def _issue(error: LockLensError) -> dict[str, object]:
    path, line = error.place or (".", None)
    return {
        "description": bounded(f"The lock files {FAILED}: {error.sentence}", _LONGEST),
        "check_name": "locklens",
        "fingerprint": "locklens-could-not-review",
        "severity": "blocker",
        "location": {"path": visible(path), "lines": {"begin": line or 1}},
    }
