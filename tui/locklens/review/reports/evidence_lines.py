"""The evidence of a change as lines: the proof of its hashes, the unknowns and their reasons. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from locklens.hashes import is_of_files, packages_of, registry_manifests, scheme_of
from locklens.review.model import LookupAnswer, Proof
from locklens.review.reports.evidence import clock, problem_lines
from locklens.review.reports.lines import FilePlace, Line, Role, Span, heading, line
from locklens.review.reports.words import hash_words
from locklens.text import counted, listing, size_words
from locklens.trust import Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.review.model import Change, Evidence, HashFact, Review


_LABEL = 29


_COUNT = 9


_SHORT = 10


_PLATFORM = 14


_BY_SUMS = frozenset({Proof.SIGNED, Proof.REPORTED})


def evidence_lines(change: Change, review: Review, *, is_asking: bool) -> Iterator[Line]:
    """The counts of verified hashes, each with its time; problems with their hint.

    Args:
        change: A change of the review.
        review: The review, for its time.
        is_asking: True while the review is incomplete.
    """
    if change.new is None:
        return
    yield Line()
    evidence = change.evidence
    yield line(Span("EVIDENCE".ljust(_LABEL + _COUNT), Role.HEADING), Span(" as of (UTC)", Role.DIM))
    if evidence is None:
        yield line(Span("  … " if is_asking else "  ? ", Role.STRONG), unsettled(is_asking=is_asking), hanging=4)
        return
    moment = clock(evidence.as_of, review.at).removesuffix(" UTC") if evidence.as_of else ""
    yield from _package_lines(change, moment)
    yield from _folder_lines(change, evidence, moment)
    yield from mirror_lines(change)
    yield from problem_lines(evidence.problems, evidence.hint)


def mirror_lines(change: Change) -> Iterator[Line]:
    """The number of locked hashes that only mirrors have, and which mirrors."""
    if change.evidence is not None and change.evidence.mirrors:
        count = counted(sum(fact.proof is Proof.MIRROR for fact in change.locked), "hash", "hashes")
        words = f"{count} known only from {listing(change.evidence.mirrors)}, unsigned"
        yield line(Span("  mirror   ", Role.WARN), words, hanging=11)


def unsettled(*, is_asking: bool) -> str:
    """The state of a change that is not settled, in words."""
    return "asking the registry" if is_asking else "unknown: not settled when the review ended"


def why_unknown(change: Change, review: Review, *, is_asking: bool) -> str:
    """The reason why a signer is unknown."""
    evidence = change.evidence
    if evidence is None:
        return "not asked yet" if is_asking else "not settled when the review ended"
    match evidence.answer:
        case LookupAnswer.NOT_ASKED:
            return "offline and not cached" if review.offline else "the registry was not asked"
        case LookupAnswer.FAILED:
            return "the registry did not answer"
        case LookupAnswer.GIVEN:
            return "the registry has no such release" if evidence.problems else "no signer reported"
        case _:
            assert_never(evidence.answer)


def _fact(label: str, count: str, moment: str, *, is_verified: bool, more: str = "") -> Line:
    """A count; good only where all that it counts is verified: what a registry reports without a signature is not."""
    spans = [Span(f"  {label}".ljust(_LABEL)), Span(f" {count:<{_COUNT - 1}}", Role.GOOD if is_verified else Role.WARN)]
    return line(*spans, Span(f" {moment}", Role.DIM), f"  {more}" if more else "", hanging=4)


def _package_lines(change: Change, moment: str) -> Iterator[Line]:
    """The count of `zh` in the publisher's SHA256SUMS, without registry manifests."""
    old, new, signer = change.old, change.new, change.new_signer
    if signer is None:
        return
    if signer.tier is Tier.UNKNOWN:
        if change.evidence is not None and not change.evidence.problems:
            yield line(Span("  SHA256SUMS not authenticated: see the findings", Role.WARN), hanging=4)
        return
    more = "unsigned" if signer.tier is Tier.UNSIGNED else ""
    if old is not None and new is not None and not change.moved_from and old.version == new.version:
        yield from _listed("base zh still in SHA256SUMS", (*change.removed, *change.kept), moment, more)
    yield from _listed("new zh in SHA256SUMS", change.claimed, moment, more)


def _listed(label: str, facts: Iterable[HashFact], moment: str, more: str) -> Iterator[Line]:
    by_hash = {fact.hash: fact for fact in facts}
    packages = [by_hash[text] for text in packages_of(by_hash)]
    if packages:
        listed = sum(fact.proof in _BY_SUMS for fact in packages)
        is_verified = all(fact.is_verified for fact in packages)
        yield _fact(label, f"{listed} of {len(packages)}", moment, is_verified=is_verified, more=more)


def _folder_lines(change: Change, evidence: Evidence, moment: str) -> Iterator[Line]:
    """The count of verified `h1`, and the downloads that verifying the others takes."""
    added = [fact for fact in change.claimed if is_of_files(fact.hash)]
    for proof, label in ((Proof.COMPUTED, "h1 computed from packages"), (Proof.REPORTED, "h1 reported by registry")):
        if facts := [fact for fact in added if fact.proof is proof]:
            platforms = ", ".join(sorted(fact.platform for fact in facts if fact.platform))
            is_verified = proof is Proof.COMPUTED
            yield _fact(label, f"{len(facts)} of {len(added)}", moment, is_verified=is_verified, more=platforms)
    unknown = sum(not fact.is_explained for fact in added)
    if not unknown:
        return
    yield _fact("h1 of unknown origin", f"{unknown} of {len(added)}", moment, is_verified=False)
    if evidence.to_prove:
        size = f", {size_words(evidence.to_prove_bytes)}" if evidence.to_prove_bytes is not None else ""
        downloads = counted(evidence.to_prove, "package download")
        yield line(Span(f"    press v to verify: up to {downloads}{size}", Role.DIM), hanging=4)


def hash_lines(change: Change, *, is_asking: bool, in_full: bool) -> Iterator[Line]:
    """A heading with the counts, and the lines of `each_hash_lines`."""
    yield from heading("HASHES")
    if change.claimed:
        counts = Span(f"  {hash_words(change.hashes, 'added' if change.added else 'kept')}", Role.STRONG)
        of = "" if change.old is None or len(change.claimed) == len(change.added) else f" from {change.old.version}"
        yield line(counts, Span(f"   {len(change.kept)} unchanged{of}", Role.DIM), hanging=4)
    elif change.removed:
        yield line(Span(f"  {len(change.kept)} unchanged", Role.DIM))
    else:
        yield line(Span(f"  {counted(len(change.kept), 'hash', 'hashes')}, unchanged", Role.DIM))
    yield from each_hash_lines(change, is_asking=is_asking, in_full=in_full)


def each_hash_lines(change: Change, *, is_asking: bool, in_full: bool) -> Iterator[Line]:
    """Each added or removed hash, and each that was kept from another release, with platform and proof.

    Args:
        change: A change of the review.
        is_asking: True while the review is incomplete.
        in_full: True for whole hashes, and for unchanged ones of the same release.
    """
    claimed = set(change.claimed)
    pending = Span("…", Role.DIM) if is_asking and not is_settled(change) else None
    unasked = Span("") if change.new is None else None
    for fact in change.added:
        yield hash_line("+", Role.ADDED, fact, pending or proof_span(fact.proof), in_full=in_full)
    for fact in change.removed:
        proof = pending or unasked or proof_span(fact.proof, is_gone=True)
        yield hash_line("-", Role.REMOVED, fact, proof, in_full=in_full)
    for fact in change.kept:
        if in_full or fact.proof is Proof.STALE or fact in claimed:
            yield hash_line("=", Role.DIM, fact, pending or proof_span(fact.proof), in_full=in_full)


def hash_line(
    sign: str, role: Role, fact: HashFact, proof: Span, *, in_full: bool, place: FilePlace | None = None
) -> Line:
    """One hash with its platform and its proof.

    Args:
        sign: "+", "-" or "=".
        role: The role of the sign and the hash.
        fact: The hash.
        proof: The proof as a word.
        in_full: True to show the whole hash.
        place: The line of its entry.
    """
    scheme = scheme_of(fact.hash)
    shown = fact.hash if in_full or not scheme else f"{scheme}:{fact.hash[len(scheme) + 1 :][:_SHORT]}…"
    about = f"{fact.platform or ('manifest' if fact.hash in registry_manifests() else ''):<{_PLATFORM}}"
    return line("  ", Span(f"{sign} {shown}", role), "  ", about, proof, hanging=4, copied=fact.hash, place=place)


def proof_span(proof: Proof, *, is_gone: bool = False) -> Span:
    """A proof as a word; alarming ones in capitals, so that they stand out without colour too.

    Args:
        proof: The proof of a hash.
        is_gone: True if the hash is no longer locked, so that nothing depends on it.
    """
    match proof:
        case Proof.STALE:
            return Span("STALE", Role.BLOCK)
        case Proof.UNKNOWN:
            return Span("unknown", Role.DIM) if is_gone else Span("UNKNOWN", Role.WARN)
        case Proof.MIRROR:
            return Span("mirror", Role.WARN)
        case Proof.REPORTED:
            return Span(proof.value, Role.PLAIN)
        case Proof.SIGNED | Proof.COMPUTED:
            return Span(proof.value, Role.GOOD)
        case _:
            assert_never(proof)


PROOFS = {
    "signed": "a zh in the publisher's signed SHA256SUMS",
    "computed": "an h1 computed here from a signed package",
    "reported": "reported by the registry only, unsigned: not verified",
    "mirror": "only a mirror of the CLI configuration has it, unsigned: not verified",
    "STALE": "was locked, but is no longer in the publisher's SHA256SUMS",
    "UNKNOWN": "unverified: no source knows it, or no source could be asked",
}
"""The ladder of proofs, best first."""


def is_settled(change: Change) -> bool:
    """True if no lookup about a change is outstanding."""
    return change.evidence is not None or change.new is None
