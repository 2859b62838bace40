"""The signers of the locked releases as plain text: each key in full, with its releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.keys import signers
from locklens.review.reports.evidence import clock, host_lines, key_words
from locklens.review.reports.words import severity_counts
from locklens.text import page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from locklens.review.keys import PastUse, SignerUses, Use
    from locklens.review.model import Review
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
    for line in host_lines(review):
        yield f"registry {line}"
    for note in review.notes:
        yield f"note: {note}"
    counts = ", ".join(f"{count} {severity}" for severity, count in severity_counts(review).items() if count)
    if counts:
        yield f"findings: {counts}; locklens hashes lists them"


def _signer(signer: SignerUses, past: Sequence[PastUse]) -> Iterator[str]:
    yield f"{signer.tier}  {key_words(signer.key)}" if signer.key is not None else signer.name
    for use in signer.uses:
        yield f"  {use.address} {use.version}{_details(use)}"
        yield from (f"      {name}" for name in use.lock_files)
    for before in past:
        name = f"{before.address} {before.version}"
        yield f"  before: {name}  until {before.date[:10]} ({before.commit[:7]})  {_past_signer(before, signer)}"


def _past_signer(use: PastUse, signer: SignerUses) -> str:
    if use.key is None:
        return use.problem or use.tier.value
    is_same = signer.key is not None and use.key.fingerprint == signer.key.fingerprint
    return "same key" if is_same else f"ANOTHER KEY: {use.tier}  {key_words(use.key)}"


def _details(use: Use) -> str:
    if use.problem:
        return f"  {use.problem}"
    doubt = f"  {use.doubt}" if use.doubt else ""
    return f"  as of {clock(use.as_of)}{doubt}" if use.as_of else doubt
