"""The detail of a signer with its locked releases and its history, and head and status line of the Signers screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.lines import Line, Role, Span, heading, line
from locklens.review.reports import lock_lines
from locklens.review.reports.evidence_lines import clock
from locklens.text import counted
from locklens.trust import Tier
from locklens.ui.shell.bars import head_line
from locklens.ui.widgets.strips import BarLayout, Piece

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from locklens.review.keys import PastUse, SignerUses, Use
    from locklens.review.model import Review
    from locklens.ui.signers.rows import SignerRow


class History(Struct, frozen=True):
    """Earlier locked versions of a signer's providers, as far as they are looked up.

    Attributes:
        is_read: True if the lookup has ended.
        progress: Its progress in words.
        uses: The earlier versions, newest first.
        problem: Reason why they cannot be read; "" if there is none.
    """

    is_read: bool = False
    progress: str = "reading the git history"
    uses: tuple[PastUse, ...] = ()
    problem: str = ""


def signer_detail(row: SignerRow, review: Review, history: History | None) -> Iterator[Line]:
    """The detail of a signer.

    Args:
        row: The row of the signer.
        review: The review, with its time.
        history: The history; None before its lookup.
    """
    signer = row.signer
    yield line(Span(row.name, Role.STRONG), copied=signer.key.fingerprint if signer.key else "")
    yield line(lock_lines.tier_span(signer.tier), Span(f"  {_meaning(row)}", Role.DIM), hanging=2)
    if signer.key is not None:
        yield from heading("KEY")
        yield lock_lines.fingerprint_line(signer.key)
        yield from lock_lines.key_lines(signer.key)
        state = [] if signer.key.expired or signer.key.revoked else [Span("  neither expired nor revoked", Role.DIM)]
        if state:
            yield line(*state)
        yield line(Span("  Compare all 40 digits: anyone can create a key with this name.", Role.DIM), hanging=2)
    moments = [clock(use.as_of, review.at) if use.as_of and not use.problem else "" for use in signer.uses]
    common = moments[0] if len({*moments}) == 1 else ""
    yield Line()
    yield line(Span(lock_lines.uses_title(signer), Role.HEADING), Span(f"  as of {common}" if common else "", Role.DIM))
    for use, moment in zip(signer.uses, moments, strict=True):
        yield from _use_lines(use, row, "" if common else moment)
    yield from _history_lines(row, history)


def _meaning(row: SignerRow) -> str:
    if row.is_pending:
        return "registry lookup in progress"
    if row.signer.tier is Tier.UNKNOWN:
        return "reason below each release"
    return lock_lines.TIERS[row.signer.tier]


def _use_lines(use: Use, row: SignerRow, moment: str) -> Iterator[Line]:
    pending = "…" if row.pending and not use.as_of and not use.problem else ""
    contested = "another locked version is signed with another key" if use.address in row.contested else ""
    yield from lock_lines.use_lines(use, f"as of {moment}" if moment else pending, notes=(contested,))


def _history_lines(row: SignerRow, history: History | None) -> Iterator[Line]:
    yield from heading(lock_lines.HISTORY_TITLE)
    if history is None:
        hint = "  enter reads the git history, and asks the registries for the signers"
        yield line(Span(hint, Role.DIM), hanging=2)
        return
    if history.problem:
        yield line(Span("  unknown  ", Role.WARN), history.problem, hanging=4, copied=history.problem)
    for use in history.uses:
        yield from lock_lines.past_use_lines(use, row.signer)
    if not history.is_read:
        yield line(Span("  … ", Role.STRONG), Span(history.progress, Role.DIM))
    elif not history.uses and not history.problem:
        yield line(Span("  no other version was locked before", Role.DIM))


def signers_head(review: Review | None, signers: Collection[SignerUses]) -> tuple[BarLayout, ...]:
    """The head line: counts of locked releases, keys, unsigned and unknown releases."""
    if review is None:
        return head_line("signers")
    releases = counted(sum(len(signer.uses) for signer in signers), "locked release")
    counts = [Piece(f"  {counted(sum(signer.key is not None for signer in signers), 'key')}")]
    for tier, word in ((Tier.UNSIGNED, "unsigned"), (Tier.UNKNOWN, "unknown")):
        number = sum(len(signer.uses) for signer in signers if signer.tier is tier)
        counts.append(Piece(f"  {number} {word}", Role.WARN if number else Role.DIM))
    lock_files = {name for signer in signers for use in signer.uses for name in use.lock_files}
    return head_line("signers", f"{releases} in {counted(len(lock_files), 'lock file')}", brief=releases, counts=counts)
