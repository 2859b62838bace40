"""The grammar of Review's filter.

A filter is a list of terms that must all match: plain text, `sev>=warn`, `sev:block`, `kind:upgrade`, `root:prod`,
`provider:aws`, `rule:LK005`, `proof:unknown`, `unreviewed`, `reviewed`. A leading minus negates a term.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from locklens.hashes import Scheme
from locklens.review.model import Change, ChangeKind, Finding, Proof, RootReview, Severity
from locklens.review.reports.evidence_lines import is_settled

PLACEHOLDER = (
    "text  sev>=warn  kind:upgrade  root:prod  provider:aws  rule:LK005  proof:unknown  unreviewed   (-word: not)"
)
_SEVERITIES = {severity.value: severity for severity in Severity if severity is not Severity.OFF}


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

    @property
    def text(self) -> str:
        """The text that plain terms are searched in, in lower case."""
        parts = [self.root.path, self.root.lock_file] if self.root is not None else []
        parts += [f"{finding.rule} {finding.message} {finding.file}" for finding in self.findings]
        if self.change is not None:
            sides = [side for side in (self.change.old, self.change.new) if side is not None]
            parts += [str(self.change.address), self.change.kind.value, *(str(side.version) for side in sides)]
            parts += [fact.hash for fact in (*self.change.added, *self.change.removed)]
            signers = [signer for signer in (self.change.old_signer, self.change.new_signer) if signer is not None]
            keys = [key for signer in signers for key in signer.keys]
            parts += [text for key in keys for text in (key.fingerprint, *key.user_ids)]
        return "\n".join(parts).lower()


Test = Callable[[Candidate], bool]


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter; invalid terms are ignored.

    Attributes:
        text: The filter as entered.
        problem: The first problem as a sentence; "" for a valid filter.
    """

    text: str = ""
    tests: tuple[Test, ...] = ()
    problem: str = ""

    def is_match(self, candidate: Candidate) -> bool:
        """True if all terms match."""
        return all(test(candidate) for test in self.tests)


def parse_filter(text: str) -> Filter:
    """Parse a filter; never fails, see `Filter.problem`."""
    tests: list[Test] = []
    problem = ""
    for term in text.split():
        bare = term.removeprefix("-") if len(term) > 1 else term
        try:
            test = _test(bare.lower())
        except ValueError as error:
            problem = problem or str(error)
            continue
        tests.append(_inverse(test) if bare != term else test)
    return Filter(text, tuple(tests), problem)


def _inverse(test: Test) -> Test:
    return lambda candidate: not test(candidate)


def _test(term: str) -> Test:
    if term == "unreviewed":
        return lambda candidate: candidate.can_be_reviewed and not candidate.reviewed
    if term == "reviewed":
        return lambda candidate: candidate.can_be_reviewed and candidate.reviewed
    for operator in (">=", "<=", ":", "="):
        key, separator, value = term.partition(operator)
        if separator and key in {"sev", "severity"}:
            return _severity_test(operator, value)
    key, colon, value = term.partition(":")
    if not colon or key in set(Scheme):
        return lambda candidate: term in candidate.text
    return _field_test(key, value)


def _severity_test(operator: str, value: str) -> Test:
    if value == "ok":
        return lambda candidate: candidate.severity is None
    severity = _SEVERITIES.get(value)
    if severity is None:
        raise ValueError(
            f"sev is block, warn, info or ok, not {value!r}" if value else "sev is block, warn, info or ok"
        )
    rank = severity.rank
    if operator == ">=":
        return lambda candidate: candidate.severity is not None and candidate.severity.rank <= rank
    if operator == "<=":
        return lambda candidate: candidate.severity is None or candidate.severity.rank >= rank
    return lambda candidate: candidate.severity is severity


def _field_test(key: str, value: str) -> Test:
    match key:
        case "kind":
            if value and not any(kind.value.startswith(value) for kind in ChangeKind):
                raise ValueError(f"no kind begins with {value!r}: {', '.join(kind.value for kind in ChangeKind)}")
            return lambda candidate: candidate.change is not None and candidate.change.kind.value.startswith(value)
        case "root":
            return lambda candidate: candidate.root is not None and value in (candidate.root.path.lower() or ".")
        case "provider":
            return lambda candidate: candidate.change is not None and value in str(candidate.change.address).lower()
        case "rule":
            return lambda candidate: any(value in finding.rule.lower() for finding in candidate.findings)
        case "proof":
            return _proof_test(value)
        case _:
            raise ValueError(f'unknown field "{key}"; fields: sev, kind, root, provider, rule, proof')


def _proof_test(value: str) -> Test:
    """Matches changes by the proof of an added hash; stale hashes were locked before, so removed and kept ones too."""
    proofs = frozenset(proof for proof in Proof if proof.value.startswith(value))
    if not proofs:
        raise ValueError(f"no proof begins with {value!r}: {', '.join(proof.value for proof in Proof)}")

    def has_proof(candidate: Candidate) -> bool:
        change = candidate.change
        if change is None or not is_settled(change):
            return False
        facts = change.added + (change.removed + change.kept if Proof.STALE in proofs else ())
        return any(fact.proof in proofs for fact in facts)

    return has_proof
