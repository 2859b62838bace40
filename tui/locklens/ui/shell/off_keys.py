"""The keys that do nothing on any row, and why: for what is reviewed, and with --offline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.ui.shell.keys import LOOKS, WRITES, action_name

if TYPE_CHECKING:
    from locklens.review.model import Review
    from locklens.ui.shell.keys import Key, KeyTable

_ON_NETWORK = frozenset({"lock", "prove", "upgrade"})
"""Actions that ask registries or download packages, whatever is cached."""

_OF_REVISIONS = frozenset({"accept", "drop_pin", "restore", "stage", "trust"})
"""Actions on states of a repository; acceptances and pins count in its policy alone."""

TWO_FILES = "two files are compared, not two states of a repository"

_NOT_ON_DISK = {"git": "two revisions are compared", "index": "git's index is reviewed"}


def read_only_words(review: Review | None) -> str:
    """Return why the new side of a review cannot be written; "" if it is not a revision or the index."""
    reason = _NOT_ON_DISK.get(review.head.kind) if review is not None else None
    return f"read-only while {reason}" if reason else ""


def off_keys(table: KeyTable, review: Review | None, *, is_offline: bool, goes_back: bool) -> dict[Key, str]:
    """Return the keys of a table that do nothing, those of other screens too, each with the reason.

    `goes_back` is true where a key goes back to the work tree.
    """
    reasons = dict.fromkeys(_ON_NETWORK, "offline: run without --offline") if is_offline else {}
    if review is not None and "file" in {review.base.kind, review.head.kind}:
        reasons |= dict.fromkeys(_OF_REVISIONS, TWO_FILES)
    if review is not None and (reason := _NOT_ON_DISK.get(review.head.kind)):
        looking = way_back(f"looks at the work tree, but {reason}", "it", goes_back=goes_back)
        reasons |= dict.fromkeys(LOOKS, looking)
        reasons |= dict.fromkeys(WRITES, way_back(read_only_words(review), "the work tree", goes_back=goes_back))
    return {key: reasons[name] for key in table.keys if (name := action_name(key.action)) in reasons}


def way_back(reason: str, target: str, *, goes_back: bool) -> str:
    """Add the key that goes back to the work tree to a reason, where it does; "" stays ""."""
    return f"{reason}: B goes back to {target}" if reason and goes_back else reason
