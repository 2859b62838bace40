"""A diagnosis as the JSON document of schema 1, whose JSON Schema ships beside this module."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from locklens.doctor.report_words import missing_words, onset_words
from locklens.doctor.sharing import shareable
from locklens.review.reports.envelope import run_facts
from locklens.text import json_text

if TYPE_CHECKING:
    from locklens.doctor.model import Diagnosis
    from locklens.text import Printable

DoctorJson = dict[str, Any]
DOCTOR_SCHEMA = 1


def render(diagnosis: Diagnosis, *, home: str = "") -> Printable:
    """Return the document as indented text, of what can be shared."""
    return json_text(document(shareable(diagnosis, home=home)))


def doctor_schema() -> DoctorJson:
    """Return the JSON Schema that every document satisfies."""
    from pathlib import Path

    loaded: DoctorJson = json.loads(Path(__file__).with_name("doctor.schema.json").read_text("utf-8"))
    return loaded


def document(diagnosis: Diagnosis) -> DoctorJson:
    """Return the document as plain values."""
    notes = list(diagnosis.notes)
    if diagnosis.onset is not None:
        notes.append(f"the entry is locked {onset_words(diagnosis.onset)}")
    facts = diagnosis.facts
    return {
        "schema": DOCTOR_SCHEMA,
        "state": "fixed" if diagnosis.fixed else "open",
        "fixed": diagnosis.fixed or None,
        "next": diagnosis.next_step or None,
        "run": run_facts(at=diagnosis.at, offline=diagnosis.offline, hosts=_hosts(diagnosis), notes=notes),
        "errors": [
            {
                "kind": error.kind,
                "provider": error.provider or None,
                "version": error.version or None,
                "text": error.text,
            }
            for error in diagnosis.errors
        ],
        "facts": {
            "tool": facts.tool,
            "tool_version": facts.tool_version,
            "platform": facts.platform,
            "path": facts.path.value if facts.path is not None else None,
            "root": facts.root,
        },
        "causes": [
            {
                "id": cause.id.value,
                "verdict": cause.verdict.value,
                "evidence": cause.evidence,
                "missing": missing_words(cause) or None,
                "as_of": cause.as_of,
                "basis": cause.basis.value,
            }
            for cause in diagnosis.causes
        ],
        "remedies": [
            {
                "id": remedy.id,
                "roots": remedy.roots,
                "trust": remedy.trust.value,
                "bytes": remedy.size,
                "command": remedy.command or None,
            }
            for remedy in diagnosis.remedies
        ],
        "not_offered": [{"what": one.what, "why": one.why} for one in diagnosis.not_offered],
    }


def _hosts(diagnosis: Diagnosis) -> list[DoctorJson]:
    return [{"host": one.host, "asked": one.asked, "as_of": one.as_of, "error": one.error} for one in diagnosis.hosts]
