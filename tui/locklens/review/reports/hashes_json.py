"""The proof of each locked hash as a JSON document."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from locklens.review.coverage import coverage
from locklens.review.model import HashCount
from locklens.review.reports.envelope import SCHEMA
from locklens.review.reports.json import (
    evidence_document,
    fact_document,
    finding_document,
    hash_counts,
    run_document,
    signer_document,
)
from locklens.text import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locklens.addresses import ProviderAddress
    from locklens.policy import Policy
    from locklens.review.coverage import ProviderCoverage
    from locklens.review.model import Change, Review, RootReview
    from locklens.text import Printable

    Packages = Mapping[tuple[str, ProviderAddress], Sequence[Mapping[str, Any]]]


def render(review: Review, *, packages: Packages | None = None) -> Printable:
    """Return the document as indented text, ending in a line feed; arguments as of `document`."""
    return json_text(document(review, packages=packages))


def hashes_schema() -> dict[str, Any]:
    """Return the JSON Schema that every document satisfies."""
    from pathlib import Path

    loaded: dict[str, Any] = json.loads(Path(__file__).with_name("hashes.schema.json").read_text("utf-8"))
    return loaded


def document(review: Review, *, packages: Packages | None = None) -> dict[str, Any]:
    """Return the document as plain values.

    Args:
        review: One with unchanged providers.
        packages: The packages on this machine, as plain values, by lock file and provider; None if not compared.
    """
    facts = [fact for root in review.roots for change in root.changes for fact in change.locked]
    counts = hash_counts(HashCount.of(facts))
    return {
        "schema": SCHEMA,
        "run": run_document(review),
        "policy": {
            "platforms": [{"platform": str(one.platform), "why": one.why} for one in review.policy.platforms],
            "install_paths": [path.value for path in review.policy.paths_in_order],
            "local": {
                "platform": str(review.policy.local_platform) if review.policy.local_platform else None,
                "install_paths": sorted(path.value for path in review.policy.local_paths),
            },
        },
        "roots": [_root(root, review.policy, packages) for root in review.roots],
        "summary": {
            "hashes": len(facts),
            "explained": counts["explained"],
            "unverified_hashes": counts["unverified"],
            "proofs": dict(Counter(fact.proof.value for fact in facts)),
            "unverified": review.unverified.value if review.unverified else None,
            "verdict": review.verdict,
        },
    }


def _root(root: RootReview, policy: Policy, packages: Packages | None) -> dict[str, Any]:
    return {
        "path": root.path,
        "lock_file": root.lock_file,
        "tool": root.tool.name,
        "providers": [
            _provider(change, policy, packages.get((root.lock_file, change.address), []) if packages else None)
            for change in root.changes
            if change.new is not None
        ],
        "findings": [finding_document(finding) for finding in root.findings],
    }


def _provider(change: Change, policy: Policy, packages: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    assert change.new is not None
    return {
        "provider": str(change.address),
        "version": str(change.new.version),
        "line": change.new.line,
        **hash_counts(HashCount.of(change.locked)),
        "coverage": _coverage(coverage(change, policy)),
        "hashes": [fact_document(fact) for fact in change.locked],
        "packages": packages,
        "signer": signer_document(change.new_signer),
        "evidence": evidence_document(change.evidence) if change.evidence else None,
        "findings": [finding_document(finding) for finding in change.findings],
    }


def _coverage(provider: ProviderCoverage) -> dict[str, Any]:
    """`covered` has the platforms that install on every path; without required platforms, the known ones count."""
    return {
        "platforms": list(provider.platforms),
        "wanted": provider.is_wanted,
        "covered": list(provider.covered),
        "paths": [
            {
                "path": one.path.value,
                "covered": list(one.covered),
                "missing": list(one.missing),
                "unknown": list(one.doubtful),
            }
            for one in provider.paths
        ],
    }
