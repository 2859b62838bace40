"""The health of roots as a JSON document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from locklens.review.health import command_words
from locklens.review.reports.envelope import SCHEMA
from locklens.review.reports.json import finding_document, run_document
from locklens.review.reports.words import severity_counts
from locklens.text import json_text, shell_words

if TYPE_CHECKING:
    from locklens.review.health import CheckResult, Health
    from locklens.review.model import Finding
    from locklens.text import Printable

HealthJson = dict[str, Any]


def health_schema() -> HealthJson:
    """Return the JSON Schema that every document satisfies."""
    from pathlib import Path

    loaded: HealthJson = json.loads(Path(__file__).with_name("health.schema.json").read_text("utf-8"))
    return loaded


def render(health: Health) -> Printable:
    """Return the document as indented text, ending in a line feed."""
    return json_text(document(health))


def document(health: Health) -> HealthJson:
    """Return the document as plain values."""
    review = health.review
    return {
        "schema": SCHEMA,
        "run": run_document(review),
        "roots": [
            {
                "path": root.path,
                "lock_file": root.lock_file if root.new.exists else None,
                "tool": root.tool.name,
                "findings": [_finding(finding) for finding in root.findings],
            }
            for root in review.roots
        ],
        "checks": [_check(result, health) for result in health.checks],
        "spread": [
            {
                "provider": str(one.provider),
                "versions": [{"version": str(version), "roots": number} for version, number in one.versions],
            }
            for one in health.spread
        ],
        "summary": {
            "roots": len(review.roots),
            "ok": health.ok,
            "unknown": health.unknown,
            "locks": review.lock_files,
            "providers": len(health.spread),
            "versions": sum(len(one.versions) for one in health.spread),
            "findings": {severity.value: count for severity, count in severity_counts(review).items()},
            "verdict": health.verdict,
        },
    }


def _finding(finding: Finding) -> HealthJson:
    provider = str(finding.provider) if finding.provider is not None else None
    return {**finding_document(finding), "provider": provider}


def _check(result: CheckResult, health: Health) -> HealthJson:
    return {
        "id": result.check.id,
        "title": result.check.title,
        "rules": list(result.check.rules),
        "severity": result.severity.value if result.severity is not None else None,
        "locks": len(result.roots),
        "providers": len(result.providers),
        "unknown": result.unknown,
        "reason": result.reason or None,
        "command": shell_words(command_words(result, health)) or None,
    }
