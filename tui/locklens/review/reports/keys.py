"""Signing keys and signers as lines, and the signers of the locked releases as plain text.

The user IDs of a key are unproven claims; only its 40 digits identify it. On the screen they stand in groups of four,
in text and on the clipboard without spaces.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from locklens.lines import FilePlace, Line, Role, Span, labelled, line, plain_lines
from locklens.review.keys import PastUse, SignerUses, Use, signers
from locklens.review.reports.evidence_lines import clock, host_lines
from locklens.review.reports.words import findings_in_words
from locklens.text import Printable, counted, page
from locklens.trust import Signer, SigningKey, Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from locklens.review.model import Review
    from locklens.review.reports.lock_documents import Past


_NAMES_SHOWN = 5

TIERS = {
    Tier.OFFICIAL: "signed with HashiCorp's own key",
    Tier.PARTNER: "HashiCorp signed the publisher's key",
    Tier.SELF_SIGNED: "only the registry vouches for this key",
    Tier.UNSIGNED: "the registry lists no key",
    Tier.UNKNOWN: "no signer known",
}
"""The meaning of each tier."""


def grouped(fingerprint: str) -> str:
    """A fingerprint in groups of four digits."""
    return " ".join(fingerprint[start : start + 4] for start in range(0, len(fingerprint), 4))


def fingerprint_line(key: SigningKey, *, sign: str = " ", role: Role = Role.STRONG) -> Line:
    """A whole fingerprint; copied without spaces."""
    return line(Span(f"{sign} {grouped(key.fingerprint)}", role), hanging=2, copied=key.fingerprint)


def key_lines(key: SigningKey) -> Iterator[Line]:
    """The claimed names of a key, its algorithm, its dates and its problems."""
    for name in key.user_ids[:_NAMES_SHOWN] or ("no user ID",):
        yield line(f"  {name}", hanging=4, copied=name if key.user_ids else "")
    if (more := len(key.user_ids) - _NAMES_SHOWN) > 0:
        yield line(Span(f"  and {more} more names", Role.DIM))
    spans = [Span(f"  {key.algorithm}, created {key.created[:10]}, ")]
    if key.expires is None:
        spans.append(Span("no expiry"))
    else:
        expired = Span(f"EXPIRED {key.expires[:10]}", Role.WARN)
        spans.append(expired if key.expired else Span(f"expires {key.expires[:10]}"))
    if key.revoked:
        spans += [Span(", "), Span("REVOKED", Role.BLOCK)]
    yield line(*spans, hanging=4)


def tier_span(tier: Tier) -> Span:
    """A tier as a word."""
    return Span(tier.value, Role.WARN if tier in {Tier.UNSIGNED, Tier.UNKNOWN} else Role.PLAIN)


HISTORY_TITLE = "HISTORY  earlier locked versions of these providers"


def uses_title(signer: SignerUses) -> str:
    """The heading of a signer's releases, with their number."""
    title = "SIGNED" if signer.key is not None else "NOT SIGNED" if signer.tier is Tier.UNSIGNED else "UNKNOWN"
    releases = counted(len(signer.uses), "locked release")
    return f"{title}  {releases} of {counted(len(signer.addresses), 'provider')}"


def use_lines(use: Use, moment: str, *, notes: Iterable[str] = ()) -> Iterator[Line]:
    """A locked release of a signer, with what is unusual about it and its lock files.

    Args:
        use: The release.
        moment: When its signature was reported, or the state of the lookup; "" to leave it out.
        notes: More that is unusual about it.
    """
    yield line(f"  {use.name}", Span(f"  {moment}" if moment else "", Role.DIM), hanging=4, copied=use.name)
    if use.problem:
        yield line(Span(f"    {use.problem}", Role.WARN), hanging=6, copied=use.problem)
    for note in filter(None, (use.doubt, *notes)):
        yield line(Span(f"    {note}", Role.WARN), hanging=6)
    for name in use.lock_files:
        yield line("    ", Span(name, Role.PLACE), hanging=6, place=FilePlace(name, 1))


def past_use_lines(use: PastUse, signer: SignerUses) -> Iterator[Line]:
    """A release that was locked before, and its key beside that of a signer."""
    name = f"{use.address} {use.version}"
    yield line(Span(f"  until {use.date[:10]} {use.commit[:7]}  ", Role.DIM), name, hanging=4, copied=name)
    tier = Span(f"  {use.tier.value}", Role.DIM)
    if use.key is None:
        reason = use.problem or ("not signed" if use.tier is Tier.UNSIGNED else "no longer known")
        yield line(Span(f"    {reason}", Role.WARN), hanging=6, copied=use.problem)
    elif signer.key is not None and use.key.fingerprint == signer.key.fingerprint:
        yield line(Span("    same key", Role.GOOD), tier)
    else:
        digits = Span(grouped(use.key.fingerprint), Role.STRONG)
        yield line(Span("    another key  ", Role.WARN), digits, tier, hanging=6, copied=use.key.fingerprint)
        yield from key_lines(use.key)


_signed_by = partial(labelled, "SIGNER")
"""Build the line of a signer."""


def signer_change_lines(old: Signer | None, new: Signer | None, *, unknown: str) -> Iterator[Line]:
    """The signer of the new version and, for a different key, the signer of the old version below.

    Args:
        old: The signer of the old version; None if unknown.
        new: The signer of the new version; None if unknown.
        unknown: The reason why a signer is unknown.
    """
    if new is None:
        yield _signed_by(Span(f"unknown: {unknown}", Role.DIM))
        if old is not None:
            yield from _alone(old, f"{old.version} is ")
        return
    if old is None or old.version == new.version:
        yield _signed_by(tier_span(new.tier), *_meaning(new.tier))
        yield from _keys(new)
    elif _fingerprints(old) == _fingerprints(new):
        same = f", same key as {old.version}" if new.keys else f", as {old.version}"
        yield _signed_by(tier_span(new.tier), Span(same, Role.GOOD if new.keys else Role.WARN), *_meaning(new.tier))
        yield from _keys(new)
    else:
        yield from _changed(old, new)


def _changed(old: Signer, new: Signer) -> Iterator[Line]:
    if old.keys and new.keys:
        difference, advice = f"different key than {old.version}", "  compare all 40 digits"
    else:
        difference, advice = f"differs from {old.version}", ""
    yield _signed_by(Span(difference, Role.WARN), Span(advice, Role.DIM))
    for sign, role, signer in (("-", Role.REMOVED, old), ("+", Role.ADDED, new)):
        for key in signer.keys:
            yield fingerprint_line(key, sign=sign, role=role)
    for sign, signer in (("-", old), ("+", new)):
        yield line(f"{sign} {signer.version}  ", tier_span(signer.tier), *_meaning(signer.tier), hanging=2)
        for key in signer.keys:
            yield from key_lines(key)


def _alone(signer: Signer, lead: str) -> Iterator[Line]:
    yield line(f"  {lead}", tier_span(signer.tier), *_meaning(signer.tier), hanging=2)
    yield from _keys(signer)


def _keys(signer: Signer) -> Iterator[Line]:
    for key in signer.keys:
        yield fingerprint_line(key)
        yield from key_lines(key)


def _meaning(tier: Tier) -> tuple[Span, ...]:
    return (Span(f"  {TIERS[tier]}", Role.DIM),) if tier is not Tier.UNKNOWN else ()


def _fingerprints(signer: Signer) -> tuple[str, ...]:
    return tuple(key.fingerprint for key in signer.keys)


TIER_MEANINGS = {tier.value: meaning for tier, meaning in TIERS.items()}


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
    if findings := findings_in_words(review):
        yield f"findings: {findings}; locklens hashes lists them"


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
