"""Traces a change's hashes to facts: the questions to ask, and the proofs that follow from the answers.

The same change and the same facts give the same result, in any order. `FactCollector` asks the questions of all
changes of a review, concurrently and each once; everything else is pure.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.hashes import file_hashes_of, is_of_files, is_of_signed_scheme, is_well_formed, registry_manifests
from locklens.releases import Fact, FactRequest, ListingId, LookupFailure, ReleaseFacts, unasked
from locklens.review import HashFact, Proof
from locklens.review.case import (
    case_of,
    lender_id,
    mirror_id,
    new_id,
    old_id,
    other_registry,
    version_before,
    vouched_for,
)
from locklens.review.coverage import LockedHashes
from locklens.review.model import Change, Evidence, LookupAnswer
from locklens.trust import Tier
from locklens.trust.authentication import HashOrigin
from locklens.trust.continuity import Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor, Future
    from queue import SimpleQueue

    from locklens.dialect import Dialect
    from locklens.hashes import HashedFiles
    from locklens.review.case import Case, FactSubject


_CONTRADICTING = (Origin.GROWN, Origin.REPUBLISHED, Origin.UNKNOWN_ORIGIN)


def questions(change: Change, tool: Dialect, known: Mapping[FactRequest, Fact]) -> frozenset[FactRequest]:
    """Return the next questions to judge a change; empty once all facts are known."""
    if change.new is None:
        return frozenset()
    required: set[FactRequest] = {ListingId(tool.name, change.address), new_id(change, tool)}
    if (old := old_id(change, tool)) is not None:
        required.add(old)
    if all(question in known for question in required):
        case = case_of(change, tool, known, {})
        if case.listing.is_known and not case.listing.has(case.entry.version):
            # The cached list may be older than the version.
            required.add(ListingId(tool.name, change.address, is_fresh=True))
        judged, fresh = case.packages, replace(new_id(change, tool), is_fresh=True)
        if fresh not in known and any(map(judged.has, _CONTRADICTING)):
            # Answers of an earlier run may be older than the release that is locked: they alone contradict nothing.
            return frozenset({*required, fresh} - known.keys())
        needs_signer = judged.has(Origin.REPUBLISHED) or change.elsewhere is not None
        if needs_signer and (before := version_before(case)) is not None:
            required.add(before)
        if judged.has(Origin.UNKNOWN_ORIGIN):
            required |= {one for one in (other_registry(case), lender_id(change, tool)) if one is not None}
        if all(question in known for question in required) and _needs_mirrors(change, case):
            required.add(mirror_id(change, tool))
    return frozenset(question for question in required if question not in known)


def _needs_mirrors(change: Change, case: Case) -> bool:
    """True if no registry's document explains one of the locked hashes."""
    facts = _facts(change.locked, case, case.new)
    return any(fact.proof is Proof.UNKNOWN and fact.hash not in registry_manifests() for fact in facts)


def trace(change: Change, case: Case | None) -> Change:
    """Return a change with proofs and signers from all facts about it; the case of a removed provider is None."""
    if case is None:
        return replace(change, evidence=Evidence())
    return replace(
        change,
        added=_facts(change.added, case, case.new),
        removed=_facts(change.removed, case, case.new if case.is_same_release else case.old, was_locked=True),
        kept=_facts(change.kept, case, case.new, was_locked=case.is_same_release),
        evidence=_evidence(case),
        old_signer=case.old.signer if case.old is not None and not case.is_old_another else None,
        new_signer=case.new.signer,
        neighbour_signer=case.before.signer if case.before and case.packages.has(Origin.REPUBLISHED) else None,
    )


def traced_like(change: Change, traced: Change) -> Change:
    """Return a change with the proofs and signers of an equal one: see `Change.key`."""
    return replace(
        change,
        added=traced.added,
        removed=traced.removed,
        kept=traced.kept,
        evidence=traced.evidence,
        old_signer=traced.old_signer,
        new_signer=traced.new_signer,
        neighbour_signer=traced.neighbour_signer,
        restored_from=traced.restored_from,
        is_history_cut=traced.is_history_cut,
        lender=traced.lender,
    )


def unasked_case(change: Change, tool: Dialect) -> Case | None:
    """Return the facts about a change without registries and without a cache; None for a removed provider."""
    known: dict[FactRequest, Fact] = {}
    while pending := questions(change, tool, known):
        known |= {question: unasked(question) for question in pending}
    return case_of(change, tool, known, {}) if change.new is not None else None


def locked_before(case: Case) -> LockedHashes | None:
    """Return the hashes locked before, with the facts about that release; None without an old entry."""
    old = case.change.old
    release = case.new if case.is_same_release else case.old
    if old is None or release is None:
        return None
    plain = tuple(HashFact(text) for text in dict.fromkeys(old.hashes))
    return _locked(_facts(plain, case, release, was_locked=True), release, case.hashed)


def _locked(facts: tuple[HashFact, ...], release: ReleaseFacts, hashed: HashedFiles) -> LockedHashes:
    platforms = release.platforms
    if not platforms:
        return LockedHashes(facts)
    known = {str(platform) for zh, platform in platforms.items() if zh in hashed}
    known |= {str(platform) for platform in release.reported.values()}
    offered = frozenset(map(str, platforms.values()))
    return LockedHashes(facts, offered, offered & known)


def _facts(
    facts: tuple[HashFact, ...], case: Case, release: ReleaseFacts | None, *, was_locked: bool = False
) -> tuple[HashFact, ...]:
    """Return hashes with platform and proof; `release` is the release that they should belong to."""
    if release is None:
        return facts
    platforms = release.platforms
    of_files = dict(release.reported)
    for zh, build in platforms.items():
        of_files |= dict.fromkeys(case.hashed.get(zh, ()), build)
    vouchers = vouched_for(release, case.hashed)
    signed = {zh for zh in platforms if vouchers.get(zh) is HashOrigin.SIGNED}
    computed = file_hashes_of(signed, case.hashed)
    of_unsigned = file_hashes_of(platforms.keys() - signed, case.hashed)
    traced = []
    for fact in facts:
        text = fact.hash
        platform = platforms.get(text) or of_files.get(text)
        if text in computed:
            proof = Proof.COMPUTED
        elif text in vouchers:
            proof = _PROOFS[vouchers[text]]
        elif text in of_unsigned:
            proof = Proof.REPORTED
        elif was_locked and release.today is not None and is_of_signed_scheme(text):
            proof = Proof.STALE
        elif release is case.new and text in case.mirrored:
            proof, platform = Proof.MIRROR, case.mirrored[text].platform
        else:
            proof = Proof.UNKNOWN
        traced.append(HashFact(text, str(platform) if platform else None, proof))
    return tuple(traced)


_PROOFS = {HashOrigin.SIGNED: Proof.SIGNED, HashOrigin.REPORTED: Proof.REPORTED}
"""The proof of a hash for which the release vouches."""


def unverified_h1(change: Change) -> Iterator[HashFact]:
    """Yield the locked `h1` that are not verified; a malformed one is of no package."""
    locked = (fact for fact in (*change.added, *change.kept) if is_of_files(fact.hash) and is_well_formed(fact.hash))
    return (fact for fact in locked if not fact.is_verified)


def is_unsigned(change: Change) -> bool:
    """True if the locked release is known to be unsigned."""
    return change.new_signer is not None and change.new_signer.tier is Tier.UNSIGNED


def packages_to_compare(change: Change) -> int:
    """Return the number of packages that an unverified `h1` may be of, and that are not hashed; 0 without one."""
    evidence, unverified = change.evidence, list(unverified_h1(change))
    if is_unsigned(change):  # what is explained is hashed from its package: no download tells more of it
        unverified = [one for one in unverified if not one.is_explained]
    if evidence is None or not unverified:
        return 0
    # Of a signed release, what is explained and not verified is reported: its package was not hashed.
    reported = {one.platform or "" for one in unverified if one.is_explained}
    return len(set(evidence.offered or ()) - set(evidence.hashed) | reported)


def _evidence(case: Case) -> Evidence:
    facts = [one for one in (case.new, case.old, case.before, case.elsewhere) if one is not None]
    answered = [one.as_of for one in facts] + [case.listing.as_of]
    moments = [moment for moment in answered if moment]
    troubles = [one.trouble for one in (case.new, case.old) if one is not None and one.trouble is not None]
    if not troubles and case.listing.trouble is not None:
        troubles = [case.listing.trouble]
    problems = [one.words for one in troubles]
    hints = [one.hint for one in troubles if one.hint]
    problems += [one.foreign for one in (case.new, case.old) if one is not None and one.foreign]
    judged = case.new.authentication
    if judged is not None and judged.problem is not None:
        problems.insert(0, f"signatures cannot be checked: {judged.problem}")
        hints.insert(0, judged.problem.hint)
    to_hash = case.folders.to_hash
    sizes = [case.new.sizes[zh] for zh in to_hash if zh in case.new.sizes]
    locked = _locked((), case.new, case.hashed)
    mirrored = _mirrored(case)
    return Evidence(
        min(moments, default=None),
        tuple(dict.fromkeys(problems)),
        next(iter(hints), ""),
        _answer(case.new.trouble),
        len(to_hash),
        sum(sizes) if len(sizes) == len(to_hash) else None,
        None if locked.offered is None else tuple(sorted(locked.offered)),
        tuple(sorted(locked.hashed)),
        case.new.released.date().isoformat() if case.new.released is not None else None,
        case.new.days,
        case.unverified or case.unreachable,
        tuple(dict.fromkeys(mirrored)),
        len(mirrored),
        case.new.source,
    )


def _mirrored(case: Case) -> Sequence[str]:
    """The mirror of each locked hash that no other source has."""
    if not case.mirrored:
        return ()
    facts = _facts(tuple(HashFact(text) for text in dict.fromkeys(case.entry.hashes)), case, case.new)
    return [case.mirrored[fact.hash].mirror for fact in facts if fact.proof is Proof.MIRROR]


def _answer(trouble: LookupFailure | None) -> LookupAnswer:
    if trouble is None or trouble.is_no:
        return LookupAnswer.GIVEN
    return LookupAnswer.FAILED if trouble.was_asked else LookupAnswer.NOT_ASKED


class _Open(Struct):
    subject: FactSubject
    pending: set[FactRequest]


class FactCollector:
    """The questions of a run; each is asked once, even if several changes need it.

    Not thread-safe. Only `ask`, which has to be, runs on pool threads.
    """

    def __init__(self, ask: Callable[[FactRequest], Fact], pool: Executor) -> None:
        from queue import SimpleQueue

        self._ask = ask
        self._pool = pool
        self._asked: dict[FactRequest, Future[Fact]] = {}
        self._answered: SimpleQueue[FactRequest] = SimpleQueue()
        self._waiting: dict[FactRequest, list[_Open]] = {}
        self._ready: deque[FactSubject] = deque()
        self.known: dict[FactRequest, Fact] = {}
        """The answers so far."""
        self.total = 0
        """The number of changes to settle."""
        self.done = 0
        """The number of settled changes."""

    def start(self, subjects: Iterable[FactSubject]) -> None:
        """Start asking for these changes too."""
        for subject in subjects:
            self.total += 1
            self._go_on(subject)

    def settled(self, *, is_patient: bool) -> Iterator[FactSubject]:
        """Yield the changes without open questions, as they are settled: all of them, or impatiently those of now.

        Raises:
            LockLensError: The run was cancelled.
        """
        from queue import Empty

        while True:
            while self._ready:
                self.done += 1
                yield self._ready.popleft()
            if self.done == self.total:
                return
            try:
                question = self._answered.get(block=is_patient)
            except Empty:
                return
            self.known[question] = self._asked[question].result()
            for waiting in self._waiting.pop(question, ()):
                waiting.pending.discard(question)
                if not waiting.pending:
                    self._go_on(waiting.subject)

    def _go_on(self, subject: FactSubject) -> None:
        """Ask the next questions of a change; an answer may lead to another question."""
        pending = questions(subject.change, subject.tool, self.known)
        if not pending:
            self._ready.append(subject)
            return
        waiting = _Open(subject, set(pending))
        for question in pending:
            self._waiting.setdefault(question, []).append(waiting)
            if question not in self._asked:
                future = self._asked[question] = self._pool.submit(self._ask, question)
                future.add_done_callback(partial(self._note, question))

    def _note(self, question: FactRequest, _: Future[Fact]) -> None:
        """Notify the waiting thread; run on the thread with the answer."""
        self._answered.put(question)
