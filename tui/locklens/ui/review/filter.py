"""What Review's filter looks at: a change of a root, a finding, or a root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from locklens.review.model import Change, Finding, Proof, RootReview, Severity
from locklens.review.reports.evidence_lines import is_settled
from locklens.ui.shell.filtering import KIND, PROOF, PROVIDER, ROOT, RULE, Grammar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REVIEW_GRAMMAR = Grammar(
    "provider, root, version, finding, file, hash or signer",
    (KIND, ROOT, PROVIDER, RULE, PROOF),
    {"unreviewed": "not marked yet", "reviewed": "marked"},
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """The subject of a filter: a change of a root, a root-level finding, or (neither) the root itself.

    Without a root, it is a finding about the policy.
    """

    root: RootReview | None
    change: Change | None = None
    finding: Finding | None = None
    reviewed: bool = False

    @property
    def can_be_reviewed(self) -> bool:
        """True for a change or a finding."""
        return self.change is not None or self.finding is not None

    @property
    def severity(self) -> Severity | None:
        """The severity of the change or the finding."""
        if self.finding is not None:
            return self.finding.severity
        return self.change.severity if self.change is not None else None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The finding itself, or the findings of the change."""
        if self.finding is not None:
            return (self.finding,)
        return self.change.findings if self.change is not None else ()

    def values(self, field: str) -> Iterable[str]:
        """The values of a field of `REVIEW_GRAMMAR`."""
        match field:
            case ROOT.name:
                return [self.root.path or "."] if self.root is not None else []
            case RULE.name:
                return [finding.rule for finding in self.findings]
            case _ if self.change is None:
                return []
            case KIND.name:
                return [self.change.kind.value]
            case PROVIDER.name:
                return [str(self.change.address)]
            case _:
                return _proofs(self.change) if is_settled(self.change) else []

    def has(self, word: str) -> bool:
        """Whether it is reviewed, or can be and is not."""
        return self.can_be_reviewed and self.reviewed == (word == "reviewed")

    @property
    def text(self) -> str:
        """The text that plain terms are searched in, in lower case."""
        parts = [self.root.path, self.root.lock_file] if self.root is not None else []
        parts += [f"{finding.rule} {finding.message} {finding.file}" for finding in self.findings]
        if self.change is not None:
            sides = [side for side in (self.change.old, self.change.new) if side is not None]
            parts += [str(self.change.address), self.change.kind.value, *(str(side.version) for side in sides)]
            parts += [fact.hash for fact in (*self.change.claimed, *self.change.removed)]
            signers = [signer for signer in (self.change.old_signer, self.change.new_signer) if signer is not None]
            keys = [key for signer in signers for key in signer.keys]
            parts += [text for key in keys for text in (key.fingerprint, *key.user_ids)]
        return "\n".join(parts).lower()


def _proofs(change: Change) -> Iterator[str]:
    """Yield the proofs of the claimed hashes; stale ones were locked before, so those of removed and kept ones too."""
    yield from (fact.proof.value for fact in change.claimed)
    yield from (fact.proof.value for fact in (*change.removed, *change.kept) if fact.proof is Proof.STALE)
