"""The signers of the locked releases as a JSON document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from locklens.review.keys import signers
from locklens.review.reports.envelope import SCHEMA
from locklens.review.reports.json import key_document, run_document
from locklens.text import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locklens.review.keys import PastUse, SignerUses
    from locklens.review.model import Review
    from locklens.text import Printable

    Past = Mapping[str, Sequence[PastUse]]


def render(review: Review, past: Past | None = None) -> Printable:
    """Return the document as indented text, ending in a line feed; arguments as of `document`."""
    return json_text(document(review, past))


def keys_schema() -> dict[str, Any]:
    """Return the JSON Schema that every document satisfies."""
    from pathlib import Path

    loaded: dict[str, Any] = json.loads(Path(__file__).with_name("keys.schema.json").read_text("utf-8"))
    return loaded


def document(review: Review, past: Past | None = None) -> dict[str, Any]:
    """Return the document as plain values.

    Args:
        review: One with unchanged providers.
        past: Earlier locked releases of each signer's providers, by the key's fingerprint; None if not looked up.
    """
    return {
        "schema": SCHEMA,
        "run": run_document(review),
        "signers": [_signer(one, past) for one in signers(review)],
        "summary": {
            "unverified": review.unverified.value if review.unverified else None,
            "verdict": review.verdict,
        },
    }


def _signer(signer: SignerUses, past: Past | None) -> dict[str, Any]:
    before = past.get(signer.key.fingerprint, ()) if past is not None and signer.key is not None else None
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
        "history": None if before is None else [_past_use(use) for use in before],
    }


def _past_use(use: PastUse) -> dict[str, Any]:
    return {
        "provider": str(use.address),
        "version": use.version,
        "commit": use.commit,
        "date": use.date,
        "tier": use.tier.value,
        "key": key_document(use.key) if use.key is not None else None,
        "problem": use.problem or None,
    }
