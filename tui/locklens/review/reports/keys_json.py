"""Who signed what is locked, as a JSON document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from locklens.review.keys import signers
from locklens.review.reports.envelope import SCHEMA
from locklens.review.reports.json import key_document, run_document

if TYPE_CHECKING:
    from locklens.review.keys import SignerUses
    from locklens.review.model import Review


def render(review: Review) -> str:
    """Returns the document as indented text, ending in a line feed."""
    return json.dumps(document(review), indent=2, ensure_ascii=True) + "\n"


def document(review: Review) -> dict[str, Any]:
    """Returns the document as plain values; `review` is one with unchanged providers."""
    return {
        "schema": SCHEMA,
        "run": run_document(review),
        "signers": [_signer(one) for one in signers(review)],
        "summary": {"verdict": review.verdict},
    }


def _signer(signer: SignerUses) -> dict[str, Any]:
    return {
        "tier": signer.tier.value,
        "key": key_document(signer.key) if signer.key is not None else None,
        "uses": [
            {
                "provider": str(use.address),
                "version": use.version,
                "lock_files": list(use.lock_files),
                "as_of": use.as_of,
                "problem": use.problem or None,
                "doubts": list(use.doubts),
            }
            for use in signer.uses
        ],
    }
