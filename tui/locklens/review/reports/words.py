"""The words and signs that the reports and the screens share."""

from __future__ import annotations

from locklens.review.model import Change, Kind, Proof, Review, Severity, Signer
from locklens.review.reports.visible import visible

_SIGNS = {
    Kind.REPLACED_HASHES: "!!",
    Kind.CHANGED_HASHES: "#!",
    Kind.DOWNGRADE: "v",
    Kind.NEW_PROVIDER: "+",
    Kind.MOVED: "@",
    Kind.NEW_HASHES: "#",
    Kind.UPGRADE: "^",
    Kind.REMOVED_HASHES: "#-",
    Kind.REMOVED: "-",
    Kind.CONSTRAINTS_ONLY: "~",
    Kind.UNCHANGED: "=",
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


def sign(kind: Kind) -> str:
    """One or two ASCII characters that stand for a kind."""
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


def sentence(change: Change) -> str:
    """Says in one plain sentence what happened."""
    bump = f"{change.bump} " if change.bump else ""
    added, removed = len(change.added), len(change.removed)
    match change.kind:
        case Kind.NEW_PROVIDER:
            return f"A new provider with {_count(added, 'hash', 'hashes')}."
        case Kind.REMOVED:
            return "The provider is no longer locked."
        case Kind.MOVED:
            return f"The provider comes from another place now: it was {change.moved_from}."
        case Kind.UPGRADE:
            return f"A {bump}upgrade." if change.bump else "An upgrade."
        case Kind.DOWNGRADE:
            return f"A {bump}downgrade."
        case Kind.NEW_HASHES:
            return f"The version stayed, {_count(added, 'hash was', 'hashes were')} added."
        case Kind.REMOVED_HASHES:
            return f"The version stayed, {_count(removed, 'hash was', 'hashes were')} removed."
        case Kind.CHANGED_HASHES:
            return f"The version stayed, {_count(added, 'hash was', 'hashes were')} added and {removed} removed."
        case Kind.REPLACED_HASHES:
            causes = "published again, another registry's, or tampered with"
            return f"The version stayed, and no package hash is the same: {causes}."
        case Kind.CONSTRAINTS_ONLY:
            return "Only the recorded constraints differ."
        case Kind.UNCHANGED:
            return "Nothing differs."


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


PROOF_MEANINGS = {
    Proof.SIGNED: "listed in SHA256SUMS with a good signature",
    Proof.COMPUTED: "made here from a package whose zh is signed",
    Proof.REPORTED: "the registry says so, unsigned",
    Proof.MIRROR: "only a mirror says so",
    Proof.STALE: "no longer in the publisher's SHA256SUMS",
    Proof.UNKNOWN: "nothing explains it: no registry was asked",
}


def signer(value: Signer | None) -> str:
    """Says who signed a version, with full fingerprints."""
    if value is None:
        return "unknown: no registry was asked"
    keys = ", ".join(key.fingerprint for key in value.keys)
    return f"{value.tier} {keys}".rstrip()


def side(kind: str, name: str, revision: str | None) -> str:
    """Names a side of the comparison, with seven digits of its revision."""
    shown = "work tree" if kind == "worktree" else visible(name)
    return f"{shown}@{revision[:7]}" if revision and not revision.startswith(name) else shown


def severity_counts(review: Review) -> dict[Severity, int]:
    """How many findings there are of each severity that counts."""
    counts = {Severity.BLOCK: 0, Severity.WARN: 0, Severity.INFO: 0}
    for finding in review.findings:
        if finding.severity in counts and finding.accepted is None:
            counts[finding.severity] += 1
    return counts


__all__ = [
    "PROOF_MEANINGS",
    "SIGN_MEANINGS",
    "phrase",
    "sentence",
    "severity_counts",
    "side",
    "sign",
    "signer",
    "visible",
]
