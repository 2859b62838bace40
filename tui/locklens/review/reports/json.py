"""A review as the JSON document of schema 1, whose JSON Schema ships beside this module."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from locklens.review.model import (
    Accepted,
    Change,
    ChangeKind,
    Evidence,
    Finding,
    HashCount,
    HashFact,
    Review,
    RootReview,
    SideName,
)
from locklens.review.reports.envelope import envelope, run_facts
from locklens.review.reports.words import severity_counts
from locklens.text import json_text

if TYPE_CHECKING:
    from locklens.lockfile.model import Conflict, LockEntry
    from locklens.project.configuration import Configuration, Requirement
    from locklens.text import Printable
    from locklens.trust import Signer, SigningKey

Json = dict[str, Any]


def render(review: Review) -> Printable:
    """Return the document as indented text, ending in a line feed."""
    return json_text(document(review))


def review_schema() -> Json:
    """Return the JSON Schema that every document satisfies."""
    from pathlib import Path

    text = Path(__file__).with_name("review.schema.json").read_text("utf-8")
    loaded: Json = json.loads(text)
    return loaded


def document(review: Review) -> Json:
    """Return the document as plain values."""
    changes, hashes = review.changes, review.hashes
    return envelope(
        run=run_document(review),
        base=_side(review.base),
        head=_side(review.head),
        roots=[_root(root) for root in review.roots],
        own_findings=[finding_document(finding) for finding in review.own_findings],
        changes=dict(Counter(change.kind.value for change in changes)),
        distinct_changes=len({change.group for change in changes}),
        hashes={"added": hashes.total, **hash_counts(hashes)},
        findings={severity.value: count for severity, count in severity_counts(review).items()},
        accepted=review.accepted,
        unverified=review.unverified.value if review.unverified else None,
        verdict=review.verdict,
    )


def run_document(review: Review) -> Json:
    """Return the object about the run itself, which all documents share."""
    hosts = [{"host": one.host, "asked": one.asked, "as_of": one.as_of, "error": one.error} for one in review.hosts]
    policy = {"file": review.policy.file or None, "side": review.policy_side.value}
    return run_facts(at=review.at, offline=review.offline, hosts=hosts, notes=review.notes, policy=policy)


def _side(side: SideName) -> Json:
    return {"kind": side.kind, "name": side.name, "revision": side.revision}


def _root(root: RootReview) -> Json:
    return {
        "path": root.path,
        "lock_file": root.lock_file,
        "renamed_from": root.renamed_from,
        "tool": root.tool.name,
        "status": root.status.value,
        "format_only": root.format_only,
        "configuration": configuration_document(root.configuration),
        "conflict": _conflict(root.new.conflict) if root.new.conflict else None,
        "changes": [_change(change) for change in root.changes],
        "findings": [finding_document(finding) for finding in root.findings],
    }


def configuration_document(configuration: Configuration | None) -> Json:
    """Return the completeness and errors of a configuration as plain values."""
    if configuration is None:
        return {"complete": False, "missing_modules": [], "errors": []}
    errors = [
        {"file": problem.file, "line": problem.line, "message": f"{problem.summary}: {problem.detail}"}
        for problem in configuration.problems
        if problem.is_error
    ]
    names = [module.call for module in configuration.missing_modules]
    return {"complete": configuration.complete, "missing_modules": names, "errors": errors}


def _conflict(conflict: Conflict) -> Json:
    return {
        "markers": [
            {
                "line": one.line,
                "separator_line": one.separator_line,
                "end_line": one.end_line,
                "ours": one.ours,
                "theirs": one.theirs,
            }
            for one in conflict.markers
        ],
        "ours": [_located(entry) for entry in conflict.ours.entries],
        "theirs": [_located(entry) for entry in conflict.theirs.entries],
    }


def _located(entry: LockEntry) -> Json:
    return {"provider": str(entry.address), **(_entry(entry) or {})}


def _entry(entry: LockEntry | None) -> Json | None:
    if entry is None:
        return None
    return {
        "version": str(entry.version),
        "constraints": entry.constraints,
        "hashes": list(entry.hashes),
        "line": entry.line,
    }


def _change(change: Change) -> Json:
    return {
        "id": change.id,
        "group": change.group,
        "provider": str(change.address),
        "kind": change.kind.value,
        "moved_from": str(change.moved_from) if change.moved_from else None,
        "bump": change.bump.value if change.bump and change.kind is not ChangeKind.UNCHANGED else None,
        "old": _entry(change.old),
        "new": _entry(change.new),
        "hashes": {
            "added": [fact_document(fact) for fact in change.added],
            "removed": [fact_document(fact) for fact in change.removed],
            "kept": len(change.kept),
            **hash_counts(change.hashes),
        },
        "signer": {"old": signer_document(change.old_signer), "new": signer_document(change.new_signer)},
        "evidence": evidence_document(change.evidence) if change.evidence else None,
        "required_by": [requirement_document(requirement) for requirement in change.required_by],
        "findings": [finding_document(finding) for finding in change.findings],
    }


def hash_counts(count: HashCount) -> Json:
    """Return how many hashes are explained, if only by the registry's own report, and how many are not verified."""
    return {"explained": count.total - count.unverified + count.reported, "unverified": count.unverified}


def fact_document(fact: HashFact) -> Json:
    """Return a hash with its platform and proof."""
    return {"hash": fact.hash, "platform": fact.platform, "proof": fact.proof.value}


def signer_document(signer: Signer | None) -> Json | None:
    """Return the signer of a version."""
    if signer is None:
        return None
    return {"version": signer.version, "tier": signer.tier.value, "keys": [key_document(key) for key in signer.keys]}


def key_document(key: SigningKey) -> Json:
    """Return a key in full."""
    return {
        "fingerprint": key.fingerprint,
        "key_id": key.key_id,
        "user_ids": list(key.user_ids),
        "algorithm": key.algorithm,
        "created": key.created[:10],
        "expires": key.expires[:10] if key.expires else None,
        "expired": key.expired,
        "revoked": key.revoked,
    }


def evidence_document(evidence: Evidence) -> Json:
    """Return the state of the facts behind a change."""
    return {
        "as_of": evidence.as_of,
        "problems": list(evidence.problems),
        "hint": evidence.hint,
        "mirrors": list(evidence.mirrors),
        "to_prove": {"packages": evidence.to_prove, "bytes": evidence.to_prove_bytes},
    }


def requirement_document(requirement: Requirement) -> Json:
    """Return the place and constraint of a requirement as plain values."""
    hidden = requirement.overrides
    return {
        "file": requirement.file,
        "line": requirement.line,
        "module": requirement.module,
        "constraint": requirement.constraint,
        "overrides": {"file": hidden.file, "line": hidden.line, "constraint": hidden.constraint} if hidden else None,
    }


def _accepted(accepted: Accepted) -> Json:
    return {
        "reason": accepted.reason,
        "by": accepted.by or None,
        "on": accepted.on or None,
        "until": accepted.until or None,
    }


def finding_document(finding: Finding) -> Json:
    """Return a rule's verdict."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "accepted": _accepted(finding.accepted) if finding.accepted is not None else None,
    }
