"""The reasons for a provider, as the JSON document of schema 1, whose JSON Schema ships beside this module."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from locklens.review.reports.json import configuration_document, finding_document, requirement_document
from locklens.selection import Selection
from locklens.text import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locklens.project.configuration import Requirement
    from locklens.review.why import RootWhy, Why
    from locklens.selection import ConstraintConflict, Explanation, HeldBack, Hold, Unselectable, VersionChoices
    from locklens.text import Printable
    from locklens.versions import Version

WhyJson = dict[str, Any]
WHY_SCHEMA = 1


def render(why: Why) -> Printable:
    """Return the document as indented text, ending in a line feed."""
    return json_text(document(why))


def why_schema() -> WhyJson:
    """Return the JSON Schema that every document satisfies."""
    from pathlib import Path

    loaded: WhyJson = json.loads(Path(__file__).with_name("why.schema.json").read_text("utf-8"))
    return loaded


def document(why: Why) -> WhyJson:
    """Return the document as plain values."""
    return {
        "schema": WHY_SCHEMA,
        "asked": why.asked,
        "roots": [_root(root) for root in why.roots],
        "unsure": [{"path": one.path, "reason": one.reason} for one in why.unsure],
        "others": why.others,
    }


def _root(root: RootWhy) -> WhyJson:
    explanation = root.explanation
    return {
        "path": root.path,
        "lock_file": root.lock_file,
        "tool": root.tool.name,
        "provider": str(explanation.address),
        "locked": _locked(explanation),
        "constraints": str(explanation.constraints),
        "in_effect": None if explanation.conflicts else str(explanation.essential),
        "conflicts": _conflicts(explanation.conflicts),
        "required_by": [
            {
                "module": asker.module,
                "declared": [_requirement(one) for one in asker.declared],
                "uses": [_requirement(one) for one in asker.uses],
            }
            for asker in explanation.askers
        ],
        "configuration": {**configuration_document(root.configuration), "unknown": root.configuration.unknown_reason},
        "registry": None if explanation.offer is None else _offer(explanation.offer),
        "registry_silent": root.silence or None,
        "findings": [finding_document(finding) for finding in root.findings],
    }


def _locked(explanation: Explanation) -> WhyJson | None:
    entry = explanation.locked
    if entry is None:
        return None
    return {
        "version": str(entry.version),
        "constraints": entry.constraints,
        "line": entry.line,
        "satisfies": explanation.against is None if explanation.requirements else None,
        "held_by": [_hold(hold) for hold in explanation.against.holds] if explanation.against else [],
    }


def _conflicts(conflicts: Iterable[ConstraintConflict]) -> list[list[WhyJson]]:
    return [
        [{"term": str(demand.term), "required_by": [_place(one) for one in demand.requirements]} for demand in conflict]
        for conflict in conflicts
    ]


def _requirement(requirement: Requirement) -> WhyJson:
    return {
        **requirement_document(requirement),
        "contributor": requirement.contributor.value,
        "subject": requirement.subject,
        "count": requirement.count,
    }


def _place(requirement: Requirement) -> WhyJson:
    return {"file": requirement.file, "line": requirement.line, "module": requirement.module}


def _offer(offer: VersionChoices) -> WhyJson:
    newest = offer.newest
    return {
        "init": _outcome(offer.as_locked),
        "upgrade": _outcome(offer.upgraded),
        "recommended": _text(offer.recommended),
        "has_locked": offer.has_locked,
        "newest": {
            "overall": _text(newest.overall),
            "in_range": _text(newest.in_range),
            "same_major": _text(newest.same_major),
            "same_minor": _text(newest.same_minor),
        },
        "newer": _held(offer.newer),
    }


def _text(version: Version | None) -> str | None:
    return None if version is None else str(version)


def _outcome(outcome: Selection | Unselectable) -> WhyJson:
    if isinstance(outcome, Selection):
        return {"version": str(outcome.version), "obstacle": None, "nearest": []}
    return {"version": None, "obstacle": outcome.obstacle.value, "nearest": _held(outcome.held)}


def _held(groups: Iterable[HeldBack]) -> list[WhyJson]:
    return [
        {"versions": [str(version) for version in group.versions], "held_by": [_hold(hold) for hold in group.holds]}
        for group in groups
    ]


def _hold(hold: Hold) -> WhyJson:
    demand = hold.demand
    return {
        "reason": hold.reason.value,
        "term": str(demand.term) if demand else None,
        "required_by": [_place(one) for one in demand.requirements] if demand else [],
        "names": list(hold.names),
    }
