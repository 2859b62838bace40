"""The outermost object of the JSON document, built from plain values so that it costs no start-up time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

SCHEMA = 1
"""Raised when a key changes its meaning."""


def run_facts(
    *,
    at: str,
    offline: bool,
    hosts: Sequence[Mapping[str, Any]] = (),
    notes: Sequence[str] = (),
    policy: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the object about the run itself."""
    return {
        "at": at,
        "offline": offline,
        "policy": dict(policy) if policy is not None else {"file": None, "side": "none"},
        "hosts": list(hosts),
        "notes": list(notes),
    }


def envelope(
    *,
    run: Mapping[str, Any],
    base: Mapping[str, Any],
    head: Mapping[str, Any],
    own_findings: Sequence[Mapping[str, Any]],
    roots: Sequence[Mapping[str, Any]],
    changes: Mapping[str, int],
    distinct_changes: int,
    hashes: Mapping[str, int],
    findings: Mapping[str, int],
    accepted: int,
    unverified: str | None,
    verdict: str,
) -> dict[str, Any]:
    """Return the document; the arguments are its parts as plain values."""
    return {
        "schema": SCHEMA,
        "run": dict(run),
        "base": dict(base),
        "head": dict(head),
        "findings": list(own_findings),
        "roots": list(roots),
        "summary": {
            "changes": dict(changes),
            "distinct_changes": distinct_changes,
            "hashes": dict(hashes),
            "findings": dict(findings),
            "accepted": accepted,
            "unverified": unverified,
            "verdict": verdict,
        },
    }
