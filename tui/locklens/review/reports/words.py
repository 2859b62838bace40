"""Words and signs shared by the reports and the screens."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from locklens.hashes import packages_of
from locklens.review.model import (
    UNVERIFIED_RULE,
    Change,
    ChangeKind,
    Finding,
    HashFact,
    LockStatus,
    Review,
    RootReview,
    Severity,
    Unverified,
)
from locklens.text import counted

if TYPE_CHECKING:
    from locklens.project.configuration import MissingModule

_SIGNS = {
    ChangeKind.REPLACED_HASHES: "!!",
    ChangeKind.CHANGED_HASHES: "#!",
    ChangeKind.DOWNGRADE: "v",
    ChangeKind.NEW_PROVIDER: "+",
    ChangeKind.MOVED: "@",
    ChangeKind.NEW_HASHES: "#",
    ChangeKind.UPGRADE: "^",
    ChangeKind.REMOVED_HASHES: "#-",
    ChangeKind.REMOVED: "-",
    ChangeKind.CONSTRAINTS_ONLY: "~",
    ChangeKind.UNCHANGED: "=",
}

_REASONS = {
    Unverified.FAILED: "lookup failed",
    Unverified.NOT_ASKED: "registry not asked",
    Unverified.OFFLINE: "offline",
}

SIGN_MEANINGS = {
    "!!": "same version, hashes replaced",
    "#!": "same version, hashes added and removed",
    "v": "downgrade",
    "+": "new provider",
    "@": "moved to another host or namespace",
    "#": "hashes added",
    "^": "upgrade",
    "#-": "hashes removed",
    "-": "removed",
    "~": "constraints only",
    "=": "unchanged",
}


def kind_sign(kind: ChangeKind) -> str:
    """The one or two ASCII characters of a kind."""
    return _SIGNS[kind]


def phrase(change: Change) -> str:
    """The versions in a few characters: `5.1.0 -> 5.2.0`, `new 1.0.0`, `1.0.0 =`."""
    match change.old, change.new:
        case None, new if new is not None:
            return f"new {new.version}"
        case old, None if old is not None:
            return f"{old.version} removed"
        case old, new if old is not None and new is not None and old.version != new.version:
            return f"{old.version} -> {new.version}"
        case _, new:
            return f"{new.version} =" if new is not None else ""


def side(kind: str, name: str, revision: str | None) -> str:
    """Name a side of the comparison, with seven digits of its revision."""
    shown = "work tree" if kind == "worktree" else name
    return f"{shown}@{revision[:7]}" if revision and not revision.startswith(name) else shown


def lock_status_words(root: RootReview) -> str:
    """What became of a root's lock file, if it has one."""
    return root.status.value if root.old.exists or root.new.exists or root.new.problems else "no lock file"


def file_note(root: RootReview) -> str:
    """The change of a root's lock file as a file; "" if its providers' changes are all."""
    match root.status:
        case LockStatus.ADDED:
            return "lock file added"
        case LockStatus.DELETED:
            return "lock file deleted"
        case LockStatus.INVALID:
            return "lock file cannot be read"
        case LockStatus.MODIFIED if root.format_only:
            return FORMAT_ONLY
        case LockStatus.MODIFIED | LockStatus.UNCHANGED:
            return moved_from_words(root)
        case _:
            assert_never(root.status)


FORMAT_ONLY = "format only: same providers, different bytes"


def moved_from_words(root: RootReview) -> str:
    """The folder that a root was in before; "" if it was not moved."""
    return f"moved from {root.renamed_from or '.'}" if root.renamed_from is not None else ""


def missing_module_words(module: MissingModule) -> str:
    """The module whose requirements are unknown."""
    return f"unknown: module {module.call} is not fetched"


def severity_counts(review: Review) -> dict[Severity, int]:
    """The number of findings of each severity, without accepted ones.

    Unverified hashes count once for each reason and registry: an offline run has one warning, not one for each change.
    """
    counts = {Severity.BLOCK: 0, Severity.WARN: 0, Severity.INFO: 0}
    repeated: set[tuple[Severity, str, str]] = set()
    for finding in review.own_findings:
        _count(finding, counts)
    for root in review.roots:
        for finding in root.findings:
            _count(finding, counts)
        for change in root.changes:
            for finding in change.findings:
                if finding.rule == UNVERIFIED_RULE and change.unverified is not None:
                    host = "" if change.unverified is Unverified.OFFLINE else change.address.host
                    cause = finding.severity, change.unverified.value, host
                    if cause in repeated:
                        continue
                    if finding.accepted is None:
                        repeated.add(cause)
                _count(finding, counts)
    return counts


def _count(finding: Finding, counts: dict[Severity, int]) -> None:
    if finding.severity in counts and finding.accepted is None:
        counts[finding.severity] += 1


def verdict_words(review: Review) -> str:
    """The verdict, e.g. "ok", or "warn, 12 package hashes unverified (offline)"."""
    return ", ".join(filter(None, (review.verdict, unverified_words(review))))


def unverified_words(review: Review) -> str:
    """The number of unverified package hashes with the reasons, e.g. "12 package hashes unverified (offline)"."""
    changes = review.unverified_changes
    if not changes:
        return ""
    number = sum(
        len(packages_of(fact.hash for fact in _to_verify(change) if not fact.is_explained)) for change in changes
    )
    reasons = {change.unverified for change in changes}
    shown = ", ".join(_REASONS[reason] for reason in Unverified if reason in reasons)
    return f"{counted(number, 'package hash', 'package hashes')} unverified ({shown})"


def _to_verify(change: Change) -> tuple[HashFact, ...]:
    is_all = change.kind in {ChangeKind.UNCHANGED, ChangeKind.MOVED} or not change.added
    return change.locked if is_all else change.added
