"""The detail of a signer: its full key, its locked releases, and its history. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.review.reports.lines import FilePlace, Line, Role, Span, heading, line
from locklens.review.reports.signer_lines import TIERS, fingerprint_line, grouped, key_lines, tier_span
from locklens.text import counted
from locklens.trust.model import Tier
from locklens.ui.text.phrases import since

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.review.keys import PastUse, Use
    from locklens.review.model import Review
    from locklens.ui.signers.rows import SignerRow


class History(Struct, frozen=True):
    """Earlier locked versions of a signer's providers, as far as they are looked up.

    Attributes:
        is_read: True if the lookup has ended.
        progress: Its progress in words.
        uses: The earlier versions, newest first.
        problem: Reason why they cannot be read; "" for none.
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
    yield line(tier_span(signer.tier), Span(f"  {_meaning(row)}", Role.DIM), hanging=2)
    if signer.key is not None:
        yield from heading("KEY")
        yield fingerprint_line(signer.key)
        yield from key_lines(signer.key)
        state = [] if signer.key.expired or signer.key.revoked else [Span("  neither expired nor revoked", Role.DIM)]
        if state:
            yield line(*state)
        yield line(Span("  Compare all 40 digits: anyone can create a key with this name.", Role.DIM), hanging=2)
    releases = counted(len(signer.uses), "locked release")
    title = "SIGNED" if signer.key is not None else "NOT SIGNED" if signer.tier is Tier.UNSIGNED else "UNKNOWN"
    moments = [since(use.as_of, review.at) if use.as_of and not use.problem else "" for use in signer.uses]
    common = moments[0] if len({*moments}) == 1 else ""
    yield Line()
    yield line(
        Span(f"{title}  {releases} of {counted(len(signer.addresses), 'provider')}", Role.HEADING),
        Span(f"  as of {common}" if common else "", Role.DIM),
    )
    for use, moment in zip(signer.uses, moments, strict=True):
        yield from _use_lines(use, row, "" if common else moment)
    yield from _history_lines(row, history)


def _meaning(row: SignerRow) -> str:
    if row.is_pending:
        return "registry lookup in progress"
    if row.signer.tier is Tier.UNKNOWN:
        return "reason below each release"
    return TIERS[row.signer.tier]


def _use_lines(use: Use, row: SignerRow, moment: str) -> Iterator[Line]:
    pending = "  …" if row.pending and not use.as_of and not use.problem else ""
    state = f"  as of {moment}" if moment else pending
    yield line(f"  {use.name}", Span(state, Role.DIM), hanging=4, copied=use.name)
    if use.problem:
        yield line(Span(f"    {use.problem}", Role.WARN), hanging=6, copied=use.problem)
    if use.doubt:
        yield line(Span(f"    {use.doubt}", Role.WARN), hanging=6)
    if use.address in row.contested:
        yield line(Span("    another locked version is signed with another key", Role.WARN), hanging=6)
    for name in use.lock_files:
        yield line("    ", Span(name, Role.PLACE), hanging=6, place=FilePlace(name, 1))


def _history_lines(row: SignerRow, history: History | None) -> Iterator[Line]:
    yield from heading("HISTORY  earlier locked versions of these providers")
    if history is None:
        hint = "  enter reads the git history, and asks the registries for the signers"
        yield line(Span(hint, Role.DIM), hanging=2)
        return
    if history.problem:
        yield line(Span("  unknown  ", Role.WARN), history.problem, hanging=4, copied=history.problem)
    for use in history.uses:
        yield from _past_lines(use, row)
    if not history.is_read:
        yield line(Span("  … ", Role.STRONG), Span(history.progress, Role.DIM))
    elif not history.uses and not history.problem:
        yield line(Span("  no other version was locked before", Role.DIM))


def _past_lines(use: PastUse, row: SignerRow) -> Iterator[Line]:
    name = f"{use.address} {use.version}"
    yield line(Span(f"  {use.date[:10]} {use.commit[:7]}  ", Role.DIM), name, hanging=4, copied=name)
    if use.key is not None:
        is_same = row.signer.key is not None and use.key.fingerprint == row.signer.key.fingerprint
        if is_same:
            yield line(Span("    same key", Role.GOOD), Span(f"  {use.tier.value}", Role.DIM))
        else:
            label = Span("    another key  ", Role.WARN)
            digits = Span(grouped(use.key.fingerprint), Role.STRONG)
            yield line(label, digits, Span(f"  {use.tier.value}", Role.DIM), hanging=6, copied=use.key.fingerprint)
            yield from key_lines(use.key)
        return
    reason = use.problem or ("not signed" if use.tier is Tier.UNSIGNED else "no longer known")
    yield line(Span(f"    {reason}", Role.WARN), hanging=6, copied=use.problem)
