"""What stands behind a change, as lines: which hashes are traced to what, what is not known and why. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from locklens.hashes import Scheme, has_scheme, packages_of, registry_manifests, scheme_of
from locklens.review.model import LookupAnswer, Proof
from locklens.text import counted, size_words
from locklens.trust.model import Tier
from locklens.ui.text.phrases import since
from locklens.ui.text.spans import FilePlace, Line, Role, Span, heading, line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locklens.review.model import Change, Evidence, HashFact, Review


_LABEL = 29


_COUNT = 9


_SHORT = 10


_PLATFORM = 14


_BY_SUMS = frozenset({Proof.SIGNED, Proof.REPORTED})


def evidence_lines(change: Change, review: Review, *, is_asking: bool) -> Iterator[Line]:
    """How far the hashes are traced to facts, each with its time; problems with their hint.

    Args:
        change: Of the review.
        review: For the time that it was made at.
        is_asking: Whether the review is still on its way.
    """
    if change.new is None:
        return
    yield Line()
    evidence = change.evidence
    yield line(Span("EVIDENCE".ljust(_LABEL + _COUNT), Role.HEADING), Span(" as of (UTC)", Role.DIM))
    if evidence is None:
        yield line(Span("  … " if is_asking else "  ? ", Role.STRONG), unsettled(is_asking=is_asking), hanging=4)
        return
    moment = since(evidence.as_of, review.at).removesuffix(" UTC") if evidence.as_of else ""
    yield from _package_lines(change, moment)
    yield from _folder_lines(change, evidence, moment)
    for problem in evidence.problems:
        yield line(Span("  not known  ", Role.WARN), problem, hanging=13, copied=problem)
    if evidence.hint:
        yield line(Span("  -> ", Role.DIM), evidence.hint, hanging=5, copied=evidence.hint)


def unsettled(*, is_asking: bool) -> str:
    """What to say of a change that is not settled."""
    return "the registry is being asked" if is_asking else "not known: the review ended before this was settled"


def why_unknown(change: Change, review: Review, *, is_asking: bool) -> str:
    """Why a signer is not known."""
    evidence = change.evidence
    if evidence is None:
        return "not asked yet" if is_asking else "the review ended before"
    match evidence.answer:
        case LookupAnswer.NOT_ASKED:
            return "offline, and nothing is remembered" if review.offline else "the registry was not asked"
        case LookupAnswer.FAILED:
            return "the registry did not answer"
        case LookupAnswer.GIVEN:
            return "the registry has no such release" if evidence.problems else "nobody said"
        case _:
            assert_never(evidence.answer)


def _fact(label: str, count: str, moment: str, *, is_whole: bool, more: str = "") -> Line:
    spans = [Span(f"  {label}".ljust(_LABEL)), Span(f" {count:<{_COUNT - 1}}", Role.GOOD if is_whole else Role.WARN)]
    return line(*spans, Span(f" {moment}", Role.DIM), f"  {more}" if more else "", hanging=4)


def _package_lines(change: Change, moment: str) -> Iterator[Line]:
    """How many `zh`, registry manifests left out, the publisher's checksums list."""
    old, new, signer = change.old, change.new, change.new_signer
    if signer is None:
        return
    if signer.tier is Tier.UNKNOWN:
        if change.evidence is not None and not change.evidence.problems:
            yield line(Span("  nobody vouches for its SHA256SUMS: see the findings", Role.WARN), hanging=4)
        return
    more = "unsigned" if signer.tier is Tier.UNSIGNED else ""
    if old is not None and new is not None and not change.moved_from and old.version == new.version:
        yield from _listed("base zh still in SHA256SUMS", (*change.removed, *change.kept), moment, more)
    yield from _listed("new zh in SHA256SUMS", change.added, moment, more)


def _listed(label: str, facts: Iterable[HashFact], moment: str, more: str) -> Iterator[Line]:
    wanted = {fact.hash: fact for fact in facts}
    found = [wanted[text] for text in packages_of(wanted)]
    if found:
        listed = sum(fact.proof in _BY_SUMS for fact in found)
        yield _fact(label, f"{listed} of {len(found)}", moment, is_whole=listed == len(found), more=more)


def _folder_lines(change: Change, evidence: Evidence, moment: str) -> Iterator[Line]:
    """How many `h1` are proven, and what it takes to prove the others."""
    added = [fact for fact in change.added if has_scheme(fact.hash, Scheme.H1)]
    for proof, label in ((Proof.COMPUTED, "h1 computed from packages"), (Proof.REPORTED, "h1 the registry reports")):
        if found := [fact for fact in added if fact.proof is proof]:
            platforms = ", ".join(sorted(fact.platform for fact in found if fact.platform))
            yield _fact(label, f"{len(found)} of {len(added)}", moment, is_whole=True, more=platforms)
    unproven = sum(not fact.is_explained for fact in added)
    if not unproven:
        return
    yield _fact("h1 not proven", f"{unproven} of {len(added)}", moment, is_whole=False)
    if evidence.to_prove:
        size = f", {size_words(evidence.to_prove_bytes)}," if evidence.to_prove_bytes is not None else ""
        told = f"    hashing at most {counted(evidence.to_prove, 'package')}{size} decides: press v"
        yield line(Span(told, Role.DIM), hanging=4)


def hash_lines(change: Change, *, is_asking: bool, in_full: bool) -> Iterator[Line]:
    """Each hash that came or went, with its platform and what proves it; in full also those that stayed."""
    yield from heading("HASHES")
    if change.added:
        explained = Span(f"  {change.explained} of {len(change.added)} added explained", Role.STRONG)
        yield line(explained, Span(f"   {len(change.kept)} kept", Role.DIM))
    elif change.removed:
        yield line(Span(f"  {len(change.kept)} kept", Role.DIM))
    else:
        yield line(Span(f"  {counted(len(change.kept), 'hash', 'hashes')} as before", Role.DIM))
    pending = Span("…", Role.DIM) if is_asking and not is_settled(change) else None
    unasked = Span("") if change.new is None else None
    for fact in change.added:
        yield hash_line("+", Role.ADDED, fact, pending or proof_span(fact.proof), in_full=in_full)
    for fact in change.removed:
        proof = pending or unasked or proof_span(fact.proof, is_gone=True)
        yield hash_line("-", Role.REMOVED, fact, proof, in_full=in_full)
    for fact in change.kept:
        if in_full or fact.proof is Proof.STALE:
            yield hash_line("=", Role.DIM, fact, pending or proof_span(fact.proof), in_full=in_full)


def hash_line(
    sign: str, role: Role, fact: HashFact, proof: Span, *, in_full: bool, place: FilePlace | None = None
) -> Line:
    """One hash with its platform and its proof.

    Args:
        sign: What became of it.
        role: How the sign and the hash are shown.
        fact: The hash.
        proof: In a word.
        in_full: Show it whole.
        place: Where it is locked.
    """
    scheme = scheme_of(fact.hash)
    shown = fact.hash if in_full or not scheme else f"{scheme}:{fact.hash[len(scheme) + 1 :][:_SHORT]}…"
    about = f"{fact.platform or ('manifest' if fact.hash in registry_manifests() else ''):<{_PLATFORM}}"
    return line("  ", Span(f"{sign} {shown}", role), "  ", about, proof, hanging=4, copied=fact.hash, place=place)


def proof_span(proof: Proof, *, is_gone: bool = False) -> Span:
    """A proof as a word; what is worth a look stands in capitals, so that it stands out without colour too.

    Args:
        proof: Of a hash.
        is_gone: Whether the hash is no longer locked, so that nothing depends on it.
    """
    match proof:
        case Proof.STALE:
            return Span("STALE", Role.BLOCK)
        case Proof.UNKNOWN:
            return Span("unknown", Role.DIM) if is_gone else Span("UNKNOWN", Role.WARN)
        case Proof.MIRROR:
            return Span("mirror", Role.WARN)
        case Proof.SIGNED | Proof.COMPUTED | Proof.REPORTED:
            return Span(proof.value, Role.GOOD)
        case _:
            assert_never(proof)


PROOFS = {
    "signed": "a zh that the publisher's signed SHA256SUMS lists",
    "computed": "an h1 of a package that is signed and was hashed here",
    "reported": "only the registry says so, unsigned",
    "mirror": "only a mirror says so",
    "STALE": "was locked, and is no longer in the publisher's SHA256SUMS",
    "UNKNOWN": "nothing explains it, or nobody could be asked",
}
"""The ladder of proofs, best first."""

MEANINGS = {
    "…/7": "the registry is being asked about 7 added hashes",
    "6/7": "6 of 7 added hashes are explained",
    "6/7!": "not all is known that should be: the detail says why",
    "failed": "the registry did not answer",
    "not asked": "the registry may not be asked; --ask-host allows it",
    "offline": "nobody is asked, and nothing is remembered",
    "?/7": "the review ended before this was settled",
}
"""What the list's last column says, and what that means."""


def is_settled(change: Change) -> bool:
    """Whether nothing more is to be asked about a change."""
    return change.evidence is not None or change.new is None


def explained_in_short(changes: Iterable[Change], *, is_asking: bool, is_offline: bool) -> Span:
    """Says how far the hashes of a row are explained; of a change in several roots where they are least so.

    Args:
        changes: Those that the row stands for.
        is_asking: Whether the review is still on its way.
        is_offline: Whether no registry is to be asked.
    """
    worst = min(changes, key=_alarm)
    total = len(worst.added)
    counts = f"{worst.explained}/{total}" if total else ""
    if worst.new is None:
        return Span("")
    evidence = worst.evidence
    if evidence is None:
        sign = "…" if is_asking else "?"
        return Span(f"{sign:>{len(str(total))}}/{total}" if total else sign, Role.DIM if is_asking else Role.WARN)
    if not evidence.problems:
        return Span(counts, Role.GOOD if worst.explained == total else Role.WARN)
    match evidence.answer:
        case LookupAnswer.NOT_ASKED:
            return Span("offline", Role.DIM) if is_offline else Span("not asked", Role.WARN)
        case LookupAnswer.FAILED:
            return Span("failed", Role.WARN)
        case LookupAnswer.GIVEN:
            return Span(f"{counts}!", Role.WARN)
        case _:
            assert_never(evidence.answer)


def _alarm(change: Change) -> tuple[bool, bool, float]:
    """Sort key: what is not settled, then what could not be settled, then what is explained least."""
    evidence = change.evidence
    share = change.explained / len(change.added) if change.added else 1.0
    return is_settled(change), evidence is None or not evidence.problems, share
