"""Words and signs shared by the reports and the screens."""

from __future__ import annotations

from locklens.review.model import Change, ChangeKind, Review, Severity

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
    """Names a side of the comparison, with seven digits of its revision."""
    shown = "work tree" if kind == "worktree" else name
    return f"{shown}@{revision[:7]}" if revision and not revision.startswith(name) else shown


def severity_counts(review: Review) -> dict[Severity, int]:
    """The number of findings of each severity, without accepted ones."""
    counts = {Severity.BLOCK: 0, Severity.WARN: 0, Severity.INFO: 0}
    for finding in review.findings:
        if finding.severity in counts and finding.accepted is None:
            counts[finding.severity] += 1
    return counts
