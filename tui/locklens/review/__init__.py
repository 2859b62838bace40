"""Changes between two sides, their evidence, and their findings; here, hashes and the ladder of their proofs."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.lines import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class Proof(StrEnum):
    """The proof of a hash, best first."""

    SIGNED = "signed"
    COMPUTED = "computed"
    REPORTED = "reported"
    MIRROR = "mirror"
    STALE = "stale"
    UNKNOWN = "unknown"


class ProofKind(Struct, frozen=True):
    """What a proof says about a hash.

    Attributes:
        is_verified: True if the hash is traced to a signed release, or to a package of one that was hashed here.
        is_explained: True if the hash is verified, or at least reported by the registry without a signature.
        is_reported: True if only the registry reports the hash, unsigned.
        is_alarming: True if the proof is printed in capitals, so that it stands out without colour.
        is_listed: True if a `zh` with this proof is in the release's SHA256SUMS, signed or not.
        contradicts: True if no package of the release has a `zh` with this proof, as far as the release is known.
        was_locked: True if only hashes that were locked before have it; they are marked although they are unchanged.
        label: The label for the number of `h1` with this proof in the evidence of a change; "" if they are not counted.
    """

    meaning: str
    role: Role
    is_verified: bool = False
    is_explained: bool = False
    is_reported: bool = False
    is_alarming: bool = False
    is_listed: bool = False
    contradicts: bool = False
    was_locked: bool = False
    label: str = ""


PROOF_KINDS: Mapping[Proof, ProofKind] = {
    Proof.SIGNED: ProofKind(
        "a zh in the publisher's signed SHA256SUMS", Role.GOOD, is_verified=True, is_explained=True, is_listed=True
    ),
    Proof.COMPUTED: ProofKind(
        "an h1 computed here from a signed package",
        Role.GOOD,
        is_verified=True,
        is_explained=True,
        label="h1 computed from packages",
    ),
    Proof.REPORTED: ProofKind(
        "reported by the registry, or computed from a package that nobody signed: not verified",
        Role.PLAIN,
        is_explained=True,
        is_reported=True,
        is_listed=True,
        label="h1 reported, unsigned",
    ),
    Proof.MIRROR: ProofKind(
        "only a mirror of the CLI configuration has it, unsigned: not verified", Role.WARN, contradicts=True
    ),
    Proof.STALE: ProofKind(
        "was locked, and is not in the publisher's SHA256SUMS of today",
        Role.BLOCK,
        is_alarming=True,
        contradicts=True,
        was_locked=True,
    ),
    Proof.UNKNOWN: ProofKind(
        "unverified: no source knows it, or no source could be asked", Role.WARN, is_alarming=True, contradicts=True
    ),
}
"""The ladder of proofs, best first. Code that depends on a proof reads its row here, and names no proof."""


def _alternatives(is_included: Callable[[ProofKind], bool]) -> str:
    *others, last = (proof.value for proof, kind in PROOF_KINDS.items() if is_included(kind))
    return f"{', '.join(others)} or {last}" if others else last


VERIFIED = _alternatives(lambda kind: kind.is_verified)
"""The proofs that verify a hash, in words: "signed or computed"."""

EXPLAINED = _alternatives(lambda kind: kind.is_explained)
"""The proofs that explain a hash, in words."""


class HashFact(Struct, frozen=True):
    """One hash of the lock file with its proof; `platform` is None if unknown."""

    hash: str
    platform: str | None = None
    proof: Proof = Proof.UNKNOWN

    @property
    def kind(self) -> ProofKind:
        """What its proof says about it."""
        return PROOF_KINDS[self.proof]

    @property
    def is_verified(self) -> bool:
        """True if it is traced to a signed release, or to a package of one that was hashed here."""
        return self.kind.is_verified

    @property
    def is_explained(self) -> bool:
        """True if it is verified, or at least reported by the registry without a signature."""
        return self.kind.is_explained


class HashCount(Struct, frozen=True):
    """The numbers of hashes, by what their proofs say about them.

    Attributes:
        unverified: The number of hashes that are not verified, as `ProofKind` defines this and the other words.
        unexplained: The number of hashes that are not explained; none of them is verified.
        reported: The number of unsigned hashes that the registry reports, or that were computed from its package.
    """

    total: int = 0
    unverified: int = 0
    unexplained: int = 0
    reported: int = 0

    @property
    def explained(self) -> int:
        """The number of explained hashes, which include all verified ones."""
        return self.total - self.unexplained

    @classmethod
    def of(cls, facts: Iterable[HashFact]) -> HashCount:
        """Count hashes."""
        numbers = [(PROOF_KINDS[proof], number) for proof, number in Counter(fact.proof for fact in facts).items()]
        return cls(
            total=sum(number for _, number in numbers),
            unverified=sum(number for kind, number in numbers if not kind.is_verified),
            unexplained=sum(number for kind, number in numbers if not kind.is_explained),
            reported=sum(number for kind, number in numbers if kind.is_reported),
        )
