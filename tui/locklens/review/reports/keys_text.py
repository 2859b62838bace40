"""The signers of the locked releases as plain text: each key in full, with its releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.keys import signers
from locklens.review.reports.evidence import clock, host_lines
from locklens.review.reports.lines import line, plain_lines
from locklens.review.reports.signer_lines import (
    HISTORY_TITLE,
    TIERS,
    fingerprint_line,
    key_lines,
    past_use_lines,
    tier_span,
    use_lines,
    uses_title,
)
from locklens.review.reports.words import severity_counts
from locklens.text import page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from locklens.review.keys import PastUse, SignerUses
    from locklens.review.model import Review
    from locklens.review.reports.lines import Line
    from locklens.text import Printable

    Past = Mapping[str, Sequence[PastUse]]


def render(review: Review, past: Past | None = None) -> Printable:
    """Return the report.

    Args:
        review: One with unchanged providers.
        past: Earlier locked releases of each signer's providers, by the key's fingerprint; None if not looked up.
    """
    return page(_lines(review, past or {}))


def _lines(review: Review, past: Past) -> Iterator[str]:
    gathered = signers(review)
    uses = sum(len(one.uses) for one in gathered)
    keys = sum(one.key is not None for one in gathered)
    yield f"locklens keys  {uses} locked releases, {keys} signing keys"
    for signer in gathered:
        yield ""
        yield from _signer(signer, past.get(signer.key.fingerprint, ()) if signer.key is not None else ())
    yield ""
    yield from (f"registry {words}" for words in host_lines(review))
    for note in review.notes:
        yield f"note: {note}"
    counts = ", ".join(f"{count} {severity}" for severity, count in severity_counts(review).items() if count)
    if counts:
        yield f"findings: {counts}; locklens hashes lists them"


def _signer(signer: SignerUses, past: Sequence[PastUse]) -> Iterator[str]:
    yield from plain_lines(_signer_lines(signer, past))


def _signer_lines(signer: SignerUses, past: Sequence[PastUse]) -> Iterator[Line]:
    if signer.key is not None:
        yield line(tier_span(signer.tier), f"  {TIERS[signer.tier]}")
        yield fingerprint_line(signer.key)
        yield from key_lines(signer.key)
    yield line(uses_title(signer))
    for use in signer.uses:
        yield from use_lines(use, f"as of {clock(use.as_of)}" if use.as_of and not use.problem else "")
    if past:
        yield line(HISTORY_TITLE)
    for before in past:
        yield from past_use_lines(before, signer)
