"""Upgrade candidates as lines of text, and as a JSON document whose JSON Schema ships beside this module."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from locklens.addresses import display_host
from locklens.operations.upgrades.blockers import blockers
from locklens.operations.upgrades.candidates import edits_in_short
from locklens.operations.upgrades.download_estimate import signer_change
from locklens.operations.upgrades.recommend import age_words
from locklens.operations.upgrades.warnings import upgrade_warnings
from locklens.review.reports.json import run_document
from locklens.text import counted, json_text, page
from locklens.trust.continuity import SignerChange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.operations.upgrades.candidates import CandidateVersion, UpgradeCandidates
    from locklens.operations.upgrades.selection import UpgradeSelection
    from locklens.review.model import Review
    from locklens.text import Printable

CandidateJson = dict[str, Any]
CANDIDATES_SCHEMA = 1
_RULE = 78
_LABEL = 13


def candidates_schema() -> CandidateJson:
    """Return the JSON Schema of the document."""
    from pathlib import Path

    loaded: CandidateJson = json.loads(Path(__file__).with_name("candidates.schema.json").read_text("utf-8"))
    return loaded


def as_json(selection: UpgradeSelection, review: Review, *, is_offline: bool) -> Printable:
    """Return the document as indented text; arguments as of `document`."""
    return json_text(document(selection, review, is_offline=is_offline))


def document(selection: UpgradeSelection, review: Review, *, is_offline: bool) -> CandidateJson:
    """Return the candidates of every root as plain values.

    Args:
        selection: The candidates, and the cooldown.
        review: The review that the candidates were looked up for.
        is_offline: True if registries were not to be asked.
    """
    table = selection.offers
    run = {"offline": is_offline, "hosts": _hosts(selection), "notes": [*review.notes, *table.notes]}
    return {
        "schema": CANDIDATES_SCHEMA,
        "run": {**run_document(review), **run},
        "candidates": [_candidate(selection, offer) for offer in table.providers],
        "refused": [{"root": refused.root or ".", "reason": str(refused.error)} for refused in table.refused],
    }


def _hosts(selection: UpgradeSelection) -> list[CandidateJson]:
    by_host: dict[str, list[UpgradeCandidates]] = {}
    for offer in selection.offers.providers:
        by_host.setdefault(offer.address.host, []).append(offer)
    return [
        {
            "host": display_host(host),
            "asked": any(offer.was_contacted for offer in offers),
            "as_of": min((offer.as_of for offer in offers if offer.as_of), default=None),
            "error": next((offer.problem for offer in offers if offer.problem and offer.was_contacted), None),
        }
        for host, offers in sorted(by_host.items())
    ]


def _candidate(selection: UpgradeSelection, offer: UpgradeCandidates) -> CandidateJson:
    recommended = selection.recommendation(offer).suggested
    judged = recommended or offer.choice(offer.newest)
    new = selection.facts(offer, judged.version) if judged is not None else None
    changed = signer_change(selection.facts(offer, offer.locked), new)
    released = judged.released if judged is not None else None
    return {
        "provider": str(offer.address),
        "root": offer.root or ".",
        "locked": _text(offer.locked),
        "recommended": _text(recommended.version if recommended is not None else None),
        "in_range": _text(offer.in_range.version if offer.in_range is not None else None),
        "newest": _text(offer.newest),
        "safe": selection.is_safe(offer),
        "blocked_by": [
            {"kind": blocker.kind.value, "file": blocker.file or None, "line": blocker.line, "text": blocker.text}
            for blocker in blockers(selection, offer)
        ],
        "released": f"{released:%Y-%m-%dT%H:%M:%SZ}" if released is not None else None,
        "signer_changed": changed in {SignerChange.OTHER, SignerChange.LOST},
        "recorded": offer.recorded or None,
        "problem": offer.problem or None,
    }


def _text(value: object) -> str | None:
    return str(value) if value is not None else None


def as_text(selection: UpgradeSelection) -> Printable:
    """Return every provider of every root with all known facts, root by root."""
    lines: list[str] = []
    table = selection.offers
    refused = {entry.root: entry for entry in table.refused}
    for root in sorted({offer.root for offer in table.providers} | refused.keys()):
        title = root or "."
        lines += ["", title, "=" * min(_RULE, len(title))]
        if root in refused:
            lines += ["", "upgrades are not possible here", f"  {refused[root].error}"]
            lines += [f"  {refused[root].error.hint}"] if refused[root].error.hint else []
        for offer in table.providers:
            if offer.root == root:
                lines += ["", *_candidate_lines(selection, offer)]
    return page(lines[1:] or ["no provider is locked or required here"])


def _candidate_lines(selection: UpgradeSelection, offer: UpgradeCandidates) -> Iterator[str]:
    choice, standing = selection.target(offer), selection.recommendation(offer)
    target = f" -> {choice.version}" if choice is not None else ""
    selected = "  selected" if selection.is_selected(offer) else ""
    yield f"{offer.name} {offer.locked or 'not locked'}{target}{selected}  {display_host(offer.address.host)}"
    eligible = ", eligible" if selection.is_safe(offer) else ""
    yield _labelled("STATE", f"{standing.state}{eligible}")
    if offer.problem:
        yield _labelled("UNKNOWN", offer.problem)
        if offer.hint:
            yield _labelled("", offer.hint)
    warnings = upgrade_warnings(selection, offer, choice)
    yield from _several("WARNINGS", [f"! {warning.words}" for warning in warnings])
    constraints = [
        f"{entry.constraint.strip():<14} {entry.file}:{entry.line}" for entry in offer.requirements if entry.constraint
    ]
    if offer.recorded:
        constraints.append(f"recorded in the lock file: {offer.recorded}")
    yield from _several("CONSTRAINTS", constraints or ["none" if offer.requirements else "not required by this root"])
    blocked_by = []
    for blocker in blockers(selection, offer):
        place = f" ({blocker.file}:{blocker.line})" if blocker.file else ""
        blocked_by.append(f"{blocker.kind}: {blocker.text}{place}")
    yield from _several("BLOCKED BY", blocked_by)
    if choice is not None:
        yield from _release_lines(selection, offer, choice)
    if offer.choices:
        yield f"ALL VERSIONS  newest first, {len(offer.choices)}"
        for candidate in offer.choices:
            yield _version_line(offer, candidate, is_target=candidate is choice)


def _release_lines(selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion) -> Iterator[str]:
    released = "release date unknown"
    if choice.released is not None:
        released = f"{choice.released:%Y-%m-%d %H:%M} UTC, {counted(choice.days or 0, 'day')} ago"
    yield _labelled("RELEASED", released)
    yield _labelled("PLATFORMS", ", ".join(map(str, choice.listed.platforms)) or "unknown")
    yield _labelled("PROTOCOL", ", ".join(choice.listed.protocols) or "unknown")
    facts = selection.facts(offer, choice.version)
    if facts is None:
        return
    signer = facts.signer
    key = f" {signer.keys[0].fingerprint}" if signer is not None and signer.keys else ""
    unknown = facts.trouble.words if facts.trouble is not None else "unknown"
    yield _labelled("SIGNER", f"{signer.tier.value}{key}" if signer is not None else unknown)


def _version_line(offer: UpgradeCandidates, choice: CandidateVersion, *, is_target: bool) -> str:
    bump = offer.bump(choice.version) if choice.version != offer.locked else None
    notes = []
    if choice.version == offer.locked:
        notes.append("locked")
    elif refusal := offer.refusal(choice):
        notes.append(f"cannot be selected: {refusal}")
    elif choice.excluding:
        notes.append(f"edit {edits_in_short(choice)}")
    else:
        notes.append("in range")
    if not choice.is_usable:
        notes.append("unsupported plugin protocol")
    sign = "  > " if is_target else "    "
    age = "age ?" if choice.days is None else age_words(choice.days)
    return f"{sign}{choice.version!s:<14}{age:>6}  {bump or '':<10}  {'; '.join(notes)}"


def _several(label: str, texts: list[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        yield _labelled("" if number else label, text)


def _labelled(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{text}"
