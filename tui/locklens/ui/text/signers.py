"""Signing keys and signers as lines: fingerprints whole, in groups of four for the eye, in one piece when copied.

A name that a key claims is nobody's proven name; what identifies a key are the 40 digits. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.trust.model import Tier
from locklens.ui.text.spans import Line, Role, Span, line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.trust.model import Signer, SigningKey


_NAMES_SHOWN = 5


_LABEL = 13


TIERS = {
    Tier.OFFICIAL: "signed with HashiCorp's own key",
    Tier.PARTNER: "HashiCorp signed the publisher's key",
    Tier.SELF_SIGNED: "signed with a key that only the registry vouches for",
    Tier.UNSIGNED: "the registry lists no key",
    Tier.UNKNOWN: "not known",
}
"""What each tier means."""


def grouped(fingerprint: str) -> str:
    """A fingerprint in groups of four digits."""
    return " ".join(fingerprint[start : start + 4] for start in range(0, len(fingerprint), 4))


def fingerprint_line(key: SigningKey, *, sign: str = " ", role: Role = Role.STRONG) -> Line:
    """A whole fingerprint; what is copied has no spaces."""
    return line(Span(f"{sign} {grouped(key.fingerprint)}", role), hanging=2, copied=key.fingerprint)


def key_lines(key: SigningKey) -> Iterator[Line]:
    """The names that a key claims, its algorithm, its dates and what is wrong with it."""
    for name in key.user_ids[:_NAMES_SHOWN] or ("it claims no name",):
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


def signer_change_lines(old: Signer | None, new: Signer | None, *, unknown: str) -> Iterator[Line]:
    """Who signed the new version and, where that was another key, who signed the old one: one under the other.

    Args:
        old: Who signed the version before; None where that is not known.
        new: Who signed the version now, likewise.
        unknown: Why a signer is not known.
    """
    if new is None:
        yield _labelled(Span(f"not known: {unknown}", Role.DIM))
        if old is not None:
            yield from _alone(old, f"{old.version} is ")
        return
    if old is None or old.version == new.version:
        yield _labelled(tier_span(new.tier), *_meaning(new.tier))
        yield from _keys(new)
    elif _fingerprints(old) == _fingerprints(new):
        same = f", same key as {old.version}" if new.keys else f", as {old.version}"
        yield _labelled(tier_span(new.tier), Span(same, Role.GOOD if new.keys else Role.WARN), *_meaning(new.tier))
        yield from _keys(new)
    else:
        yield from _changed(old, new)


def _changed(old: Signer, new: Signer) -> Iterator[Line]:
    told = f"another key than {old.version}" if old.keys and new.keys else f"not as {old.version}"
    yield _labelled(Span(told, Role.WARN), Span("  compare all 40 digits", Role.DIM) if old.keys and new.keys else "")
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


def _labelled(*spans: Span | str) -> Line:
    return line(Span("SIGNER".ljust(_LABEL), Role.HEADING), *spans, hanging=_LABEL)


TIER_MEANINGS = {tier.value: meaning for tier, meaning in TIERS.items()}
