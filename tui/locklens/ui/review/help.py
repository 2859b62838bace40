"""Help of the Review screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.policy import POLICY_FILE
from locklens.review.reports.evidence_lines import PROOFS
from locklens.review.reports.keys import TIER_MEANINGS
from locklens.review.reports.words import SIGN_MEANINGS
from locklens.storage.preferences import default_preferences_path
from locklens.text import visible
from locklens.ui.review.filter import REVIEW_GRAMMAR
from locklens.ui.review.keys import REVIEW_KEYS
from locklens.ui.review.rows import BOTH, PENDING, STAGED
from locklens.ui.shell.help import help_section, key_help
from locklens.ui.text.evidence import MEANINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.lines import Line


def review_help() -> Iterator[Line]:
    """The keys of Review, then signs, proofs of hashes, tiers and filter terms."""
    yield from key_help(REVIEW_KEYS)
    others = {
        "?": "root-level finding",
        "<": "unresolved git conflict",
        "✓": "reviewed",
        "·": "not reviewed yet",
        "-": "removed; as a mark: reviewed in some of the roots",
        STAGED: "staged: git's index has this block, for the next commit",
        PENDING: f"accepted in {POLICY_FILE}, which counts once it is committed on the base",
        "s a": "the same in some of the roots",
        BOTH: "staged, and accepted",
    }
    yield from help_section("UPPER-CASE KEYS", _DECIDING)
    yield from help_section("SIGNS", {**SIGN_MEANINGS, **others})
    yield from help_section("HASHES NOT VERIFIED, the last column", MEANINGS)
    yield from help_section("PROOF OF A HASH", PROOFS)
    yield from help_section("SIGNED BY", TIER_MEANINGS)
    yield from help_section("FILTER", REVIEW_GRAMMAR.meanings)
    where = f"theme, grouping and order are kept in {visible(str(default_preferences_path()))}"
    yield from help_section("PREFERENCES", {"config.toml": where})


_DECIDING = {
    "R P F L M A": "apply to the highlighted row, group, root or section, regardless of marks",
    "S": "applies to the marked changes, regardless of the cursor: a mark means reviewed",
    "Preview": "each opens a Preview of the changes; nothing is written before enter",
}
