"""Who signed what is locked, as plain text: each key in full, and what it signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.keys import signers
from locklens.review.reports.evidence import clock, host_lines, key_words
from locklens.review.reports.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.review.keys import SignerUses, Use
    from locklens.review.model import Review


def render(review: Review, *, colour: bool = False) -> str:
    """Returns the report, ending in a line feed.

    Args:
        review: One with unchanged providers.
        colour: Whether to use ANSI colours.
    """
    return "\n".join(_lines(review, colour=colour)) + "\n"


def _lines(review: Review, *, colour: bool) -> Iterator[str]:
    found = signers(review)
    uses = sum(len(one.uses) for one in found)
    keys = sum(one.key is not None for one in found)
    yield f"locklens keys  {uses} locked releases, {keys} signing keys"
    for signer in found:
        yield ""
        yield from _signer(signer, colour=colour)
    yield ""
    for line in host_lines(review):
        yield f"registry {line}"
    for note in review.notes:
        yield f"note: {visible(note)}"


def _signer(signer: SignerUses, *, colour: bool) -> Iterator[str]:
    title = f"{signer.tier}  {key_words(signer.key)}" if signer.key is not None else signer.name
    yield f"\x1b[1m{title}\x1b[0m" if colour else title
    for use in signer.uses:
        yield f"  {visible(str(use.address))} {use.version}{_details(use)}"
        yield from (f"      {visible(name)}" for name in use.lock_files)


def _details(use: Use) -> str:
    if use.problem:
        return f"  {visible(use.problem)}"
    doubt = f"  {use.doubt}" if use.doubt else ""
    return f"  as of {clock(use.as_of)}{doubt}" if use.as_of else doubt
