"""The commit message for a plan: the changes in one line, the review and the signers in trailers. Pure.

Trailers are the last paragraph, `Key: value` each, as `git interpret-trailers` reads them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from locklens.addresses import display_host
from locklens.project.roots import LOCK_FILE
from locklens.review.model import ChangeKind
from locklens.review.reports.words import committed_counts, hashes_of_review, severity_counts
from locklens.text import counted, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locklens.operations.plan.model import Plan, PlannedChange
    from locklens.review.model import Review

SUBJECT_LENGTH = 72
"""Columns of a subject that tools show."""

_VERBS = {
    "upgrade": "Upgrade",
    "downgrade": "Downgrade",
    "add": "Lock",
    "move": "Move",
    "remove": "Remove",
    "hashes": "Update the hashes of",
    "constraints": "Update the constraints of",
}
_KINDS = {
    ChangeKind.UPGRADE: "upgrade",
    ChangeKind.DOWNGRADE: "downgrade",
    ChangeKind.NEW_PROVIDER: "new provider",
    ChangeKind.REMOVED: "removal",
    ChangeKind.MOVED: "move",
    ChangeKind.CONSTRAINTS_ONLY: "change of constraints",
}
_HASHES = "change of hashes"
_PLURALS = {"change of constraints": "changes of constraints", _HASHES: "changes of hashes"}
_NAMED = 2


def commit_message(plan: Plan, review: Review | None, *, title: str = "") -> str:
    """Return the whole message, without a line feed at its end; "" for a plan that writes nothing.

    Args:
        plan: The plan that is written.
        review: The review of the plan; None for a message without trailers.
        title: The title of the operation: the message of a plan that writes no lock file.
    """
    if not plan.proposal.files:
        return ""
    if title and not any(file.path.endswith(LOCK_FILE) for file in plan.proposal.files):
        return visible(title)
    subject = _subject(plan)
    parts = [subject]
    if review is not None:
        parts.append("\n".join(_trailers(review)))
    return "\n\n".join(parts)


def _subject(plan: Plan) -> str:
    roots = sorted({file.path.rpartition("/")[0] for file in plan.proposal.files if file.path.endswith(LOCK_FILE)})
    where = _places(roots)
    tries = (_summary(plan, where, is_brief=False), _summary(plan, where, is_brief=True))
    brief = _summary(plan, counted(len(roots), "root"), is_brief=True)
    return next((text for text in tries if len(text) <= SUBJECT_LENGTH), brief)


def _summary(plan: Plan, where: str, *, is_brief: bool) -> str:
    if not plan.changes:
        return f"Fix the lock file format in {where}"
    groups: dict[str, list[PlannedChange]] = {}
    for change in plan.changes:
        groups.setdefault(_change_kind(change), []).append(change)
    clauses = [_clause(kind, changes, is_brief=is_brief) for kind, changes in groups.items()]
    summary = ", ".join([clauses[0], *(clause[0].lower() + clause[1:] for clause in clauses[1:])])
    return f"{summary} in {where}"


def _change_kind(change: PlannedChange) -> str:
    if change.kind != "change" or change.old is None or change.new is None:
        return change.kind
    return "hashes" if set(change.old.hashes) != set(change.new.hashes) else "constraints"


def _clause(kind: str, changes: Sequence[PlannedChange], *, is_brief: bool) -> str:
    names = list(dict.fromkeys(_named(kind, change) for change in changes))
    providers = len({change.address for change in changes})
    if is_brief or len(names) > _NAMED:
        return f"{_VERBS[kind]} {counted(providers, 'provider')}"
    return f"{_VERBS[kind]} {' and '.join(names)}"


def _named(kind: str, change: PlannedChange) -> str:
    name = visible(change.address.type)
    if kind in {"upgrade", "downgrade"} and change.new is not None:
        return f"{name} to {visible(str(change.new.version))}"
    if kind == "move":
        return f"{name} to {visible(display_host(change.address.host))}"
    if kind == "add" and change.new is not None:
        return f"{name} {visible(str(change.new.version))}"
    return name


def _places(roots: Sequence[str]) -> str:
    """Names roots, or counts them if a shell might not read one as a plain word: messages are pasted into quotes."""
    if len(roots) > _NAMED or not all(map(_is_plain, roots)):
        return counted(len(roots), "root")
    return " and ".join(root or "the top folder" for root in roots)


def _is_plain(root: str) -> bool:
    return visible(root) == root and all(character.isalnum() or character in " _-+./@" for character in root)


def _trailers(review: Review) -> Iterable[str]:
    yield f"Lock-Review: {_reviewed(review)}"
    keys = {
        key.fingerprint
        for change in review.changes
        if change.new is not None and change.new_signer is not None
        for key in change.new_signer.keys
    }
    if keys:
        yield f"Lock-Signers: {', '.join(sorted(keys))}"


def _reviewed(review: Review) -> str:
    kinds = Counter(_KINDS.get(change.kind, _HASHES) for change in review.changes)
    parts = [counted(number, kind, _PLURALS.get(kind, "")) for kind, number in kinds.items()]
    counts = severity_counts(review)
    by_severity = ", ".join(f"{number} {severity.value}" for severity, number in counts.items() if number)
    known = sum(committed_counts(review).values())
    parts.append(counted(sum(counts.values()), "finding") + (f" ({by_severity})" if by_severity else ""))
    if known:
        parts.append(f"{known} more committed before")
    if hashes := hashes_of_review(review):
        parts.append(hashes)
    return ", ".join(parts)
