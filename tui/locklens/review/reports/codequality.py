"""A review as a code quality report of GitLab: a list of findings, with the fields that GitLab documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from locklens.review.model import Severity
from locklens.review.reports.findings import bounded, reported_findings
from locklens.review.rules.catalogue import wording_of
from locklens.text import json_text, visible

if TYPE_CHECKING:
    from locklens.review.model import Review
    from locklens.review.reports.findings import ReportedFinding
    from locklens.text import Printable

_LONGEST = 1000
_SEVERITIES = {Severity.BLOCK: "blocker", Severity.WARN: "major", Severity.INFO: "info"}


def render(review: Review) -> Printable:
    """Return the report as indented text, ending in a line feed."""
    return json_text(document(review))


def document(review: Review) -> list[dict[str, Any]]:
    """Return the report as plain values; accepted findings are listed as info, with the reason."""
    return [_issue(one) for one in reported_findings(review)]


def _issue(one: ReportedFinding) -> dict[str, Any]:
    finding = one.finding
    words = f"{wording_of(finding).title}: {finding.message}"
    if finding.accepted is not None:
        words = f"accepted ({finding.accepted}): {words}"
    return {
        "description": bounded(words, _LONGEST),
        "check_name": finding.rule,
        "fingerprint": one.fingerprint,
        "severity": _SEVERITIES[finding.severity] if one.is_counted else "info",
        "location": {"path": visible(finding.file or "."), "lines": {"begin": max(1, finding.line or 1)}},
    }
