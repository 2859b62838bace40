"""The filter line: words that narrow the list down. Knows the grammar, not the screen.

A filter is words that must all hold: plain text, `sev>=warn`, `sev:block`, `kind:upgrade`, `root:prod`, `provider:aws`,
`rule:LK005`, `proof:unknown`, `unreviewed`, `reviewed`. A leading minus turns a word around.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from locklens.hashes import Scheme
from locklens.review.model import Change, ChangeKind, Finding, Proof, RootReview, Severity
from locklens.ui.text.evidence import is_settled

PLACEHOLDER = (
    "text  sev>=warn  kind:upgrade  root:prod  provider:aws  rule:LK005  proof:unknown  unreviewed   (-word: not)"
)
_SEVERITIES = {severity.value: severity for severity in Severity if severity is not Severity.OFF}


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a filter judges: one change of a root, one finding about the root itself, or (neither) the root as such."""

    root: RootReview
    change: Change | None = None
    finding: Finding | None = None
    reviewed: bool = False

    @property
    def severity(self) -> Severity | None:
        """That of the change or the finding."""
        if self.finding is not None:
            return self.finding.severity
        return self.change.severity if self.change is not None else None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The finding itself, or those of the change."""
        if self.finding is not None:
            return (self.finding,)
        return self.change.findings if self.change is not None else ()

    @property
    def text(self) -> str:
        """All that plain text is looked for in, in lower case."""
        parts = [self.root.path, self.root.lock_file]
        parts += [f"{one.rule} {one.message} {one.file}" for one in self.findings]
        if self.change is not None:
            sides = [side for side in (self.change.old, self.change.new) if side is not None]
            parts += [str(self.change.address), self.change.kind.value, *(str(side.version) for side in sides)]
            parts += [fact.hash for fact in (*self.change.added, *self.change.removed)]
            signers = [one for one in (self.change.old_signer, self.change.new_signer) if one is not None]
            parts += [text for one in signers for key in one.keys for text in (key.fingerprint, *key.user_ids)]
        return "\n".join(parts).lower()


Test = Callable[[Candidate], bool]


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter that was understood as far as possible.

    Attributes:
        text: As it was typed.
        problem: What was not understood, as a sentence; such words are left out. "" for a sound filter.
    """

    text: str = ""
    tests: tuple[Test, ...] = ()
    problem: str = ""

    def admits(self, candidate: Candidate) -> bool:
        """Whether all words hold."""
        return all(test(candidate) for test in self.tests)


def parse_filter(text: str) -> Filter:
    """Reads a filter; never fails, see `Filter.problem`."""
    tests: list[Test] = []
    problem = ""
    for word in text.split():
        bare = word.removeprefix("-") if len(word) > 1 else word
        try:
            test = _test(bare.lower())
        except ValueError as error:
            problem = problem or str(error)
            continue
        tests.append(_inverse(test) if bare != word else test)
    return Filter(text, tuple(tests), problem)


def _inverse(test: Test) -> Test:
    return lambda candidate: not test(candidate)


def _test(word: str) -> Test:
    if word == "unreviewed":
        return lambda one: one.change is not None and not one.reviewed
    if word == "reviewed":
        return lambda one: one.change is not None and one.reviewed
    for operator in (">=", "<=", ":", "="):
        key, found, value = word.partition(operator)
        if found and key in {"sev", "severity"}:
            return _severity_test(operator, value)
    key, colon, value = word.partition(":")
    if not colon or key in set(Scheme):
        return lambda one: word in one.text
    return _field_test(key, value)


def _severity_test(operator: str, value: str) -> Test:
    if value == "ok":
        return lambda one: one.severity is None
    wanted = _SEVERITIES.get(value)
    if wanted is None:
        raise ValueError(
            f"sev is block, warn, info or ok, not {value!r}" if value else "sev is block, warn, info or ok"
        )
    rank = wanted.rank
    if operator == ">=":
        return lambda one: one.severity is not None and one.severity.rank <= rank
    if operator == "<=":
        return lambda one: one.severity is None or one.severity.rank >= rank
    return lambda one: one.severity is wanted


def _field_test(key: str, value: str) -> Test:
    match key:
        case "kind":
            if value and not any(kind.value.startswith(value) for kind in ChangeKind):
                raise ValueError(f"no kind begins with {value!r}: {', '.join(kind.value for kind in ChangeKind)}")
            return lambda one: one.change is not None and one.change.kind.value.startswith(value)
        case "root":
            return lambda one: value in (one.root.path.lower() or ".")
        case "provider":
            return lambda one: one.change is not None and value in str(one.change.address).lower()
        case "rule":
            return lambda one: any(value in finding.rule.lower() for finding in one.findings)
        case "proof":
            return _proof_test(value)
        case _:
            raise ValueError(f"{key}: is no field; there are sev, kind, root, provider, rule and proof")


def _proof_test(value: str) -> Test:
    """Whether a hash that came has this proof; what is stale was locked before, so it may also have gone or stayed."""
    proofs = frozenset(proof for proof in Proof if proof.value.startswith(value))
    if not proofs:
        raise ValueError(f"no proof begins with {value!r}: {', '.join(proof.value for proof in Proof)}")

    def holds(one: Candidate) -> bool:
        change = one.change
        if change is None or not is_settled(change):
            return False
        facts = change.added + (change.removed + change.kept if Proof.STALE in proofs else ())
        return any(fact.proof in proofs for fact in facts)

    return holds
