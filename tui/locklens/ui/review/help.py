"""Help of the Review screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.review.reports.words import SIGN_MEANINGS
from locklens.ui.review.keys import REVIEW_KEYS
from locklens.ui.shell.help import help_section, key_help
from locklens.ui.text.evidence import MEANINGS, PROOFS
from locklens.ui.text.signers import TIER_MEANINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.ui.text.spans import Line


def review_help() -> Iterator[Line]:
    """The review's keys, then the signs, the words for hashes, and the filter's words."""
    yield from key_help(REVIEW_KEYS)
    others = {
        "?": "a finding about the root itself",
        "<": "a conflict that git left",
        "✓": "reviewed",
        "·": "not reviewed yet",
        "-": "removed; as a mark: some of the roots are reviewed",
    }
    yield from help_section("WHAT UPPER CASE IS FOR", _DECIDING)
    yield from help_section("SIGNS", {**SIGN_MEANINGS, **others})
    yield from help_section("HASHES EXPLAINED, the last column", MEANINGS)
    yield from help_section("PROOF OF A HASH", PROOFS)
    yield from help_section("SIGNED BY", TIER_MEANINGS)
    yield from help_section("FILTER", _REVIEW_FILTER)


_DECIDING = {
    "R P F L": "the highlighted row, or all of the highlighted group, root or section, whatever is marked",
    "S": "what is marked, wherever the cursor is: a mark says that a change was reviewed",
    "Preview": "each of them shows first what it would write, and nothing is on disk before enter there",
}


_REVIEW_FILTER = {
    "text": "in provider, root, version, finding, file, hash or signer",
    "sev>=warn": "warnings and worse; also sev:block, sev<=info, sev:ok",
    "kind:upgrade": "and the other kinds: downgrade, new, removed, moved, constraints, replaced",
    "root:prod": "the root's path has this in it",
    "provider:aws": "the provider's address has this in it",
    "rule:LK005": "has a finding of this rule",
    "proof:unknown": "an added hash has this proof; proof:stale also finds those that went or stayed",
    "unreviewed": "not marked yet; reviewed is the opposite",
    "-word": "anything but that",
}
