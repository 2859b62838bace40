"""Traces a change's hashes to facts: what must be asked for that, and what follows from the answers.

Pure: nobody is asked here. The same change and the same facts give the same result, however they were come by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.dialect import DIALECTS
from locklens.policy import Policy
from locklens.releases.facts import Fact, FactRequest, Listing, ListingId, ReleaseFacts, ReleaseId, nobody_asked
from locklens.review.age import age_findings
from locklens.review.coverage import LockedHashes
from locklens.review.model import Evidence, HashFact, LookupAnswer, Proof
from locklens.review.platforms import platform_findings
from locklens.review.provenance import PROVENANCE, findings_of
from locklens.review.verdicts import in_order
from locklens.trust.continuity import Origin, judge_folders, judge_packages
from locklens.trust.vouching import HashOrigin
from locklens.versions import neighbour

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from locklens.dialect import Dialect
    from locklens.lockfile.model import LockEntry
    from locklens.releases.facts import LookupFailure
    from locklens.review.inquiry import FactSubject
    from locklens.review.model import Change
    from locklens.trust.continuity import FolderHashes, PackageHashes
    from locklens.trust.model import Signer

_NO_POLICY = Policy.none()
_POLICY_RULES = frozenset({"LK008", "LK009", "LK014"})
_PROOFS = {HashOrigin.SIGNED: Proof.SIGNED, HashOrigin.REPORTED: Proof.REPORTED}


class Case(Struct, frozen=True):
    """A change with the facts about it.

    Attributes:
        new: What is known of the new version.
        old: Of the old one; None where there is none, or where it is the same version of the same provider.
        before: Of the version before, where this one was published again.
        listing: The versions that the registry lists.
        elsewhere: Of this version in the other tool's registry.
        hashed: The `h1` of packages that were hashed here, by `zh`.
    """

    change: Change
    tool: Dialect
    new: ReleaseFacts
    listing: Listing
    old: ReleaseFacts | None = None
    before: ReleaseFacts | None = None
    elsewhere: ReleaseFacts | None = None
    hashed: Mapping[str, str] = {}

    @property
    def entry(self) -> LockEntry:
        """What is locked now."""
        assert self.change.new is not None
        return self.change.new

    @property
    def is_same_release(self) -> bool:
        """Whether old and new are the same version of the same provider."""
        return _is_same_release(self.change)

    @property
    def is_same_version(self) -> bool:
        """Whether the version stayed, be it at another address."""
        return bool(self.change.old and self.change.old.version == self.entry.version)

    @property
    def first_said(self) -> tuple[str, ...]:
        """The hashes that were not locked for this release before: of a new version also those that were kept.

        So it is with a provider that moved: what was locked at the old address is said of the new one's packages now.
        """
        return tuple(fact.hash for fact in self.change.added) if self.is_same_release else self.entry.hashes

    @property
    def packages(self) -> PackageHashes:
        """The judgement of the `zh`."""
        earlier = self.change.old.hashes if self.change.old and self.is_same_release else ()
        other = self.elsewhere
        found = {other.id.address.host: other.today} if other is not None and other.today is not None else {}
        release = self.change.address.type, str(self.entry.version)
        return judge_packages(earlier, self.entry.hashes, self.new.today, release, elsewhere=found)

    @property
    def folders(self) -> FolderHashes:
        """The judgement of the `h1` that are said of this version for the first time."""
        return judge_folders(
            self.first_said,
            self.new.packages,
            self.hashed,
            reported=(text for text, voucher in self.new.vouchers.items() if voucher is HashOrigin.REPORTED),
        )

    @property
    def trouble(self) -> LookupFailure | None:
        """Why the new version is not known."""
        return self.new.trouble


def questions(change: Change, tool: Dialect, known: Mapping[FactRequest, Fact]) -> frozenset[FactRequest]:
    """Returns what must be asked next to judge a change; nothing once all is known.

    Args:
        change: Of a root.
        tool: The root's tool.
        known: What was answered so far.
    """
    if change.new is None:
        return frozenset()
    wanted: set[FactRequest] = {ListingId(tool.name, change.address), _new_id(change, tool)}
    if (old := _old_id(change, tool)) is not None:
        wanted.add(old)
    if all(question in known for question in wanted):
        case = case_of(change, tool, known, {})
        if case.listing.is_known and not case.listing.has(case.entry.version):
            # What is remembered may be older than the version.
            wanted.add(ListingId(tool.name, change.address, is_fresh=True))
        judged = case.packages
        if judged.has(Origin.REPUBLISHED) and (before := _version_before(case)) is not None:
            wanted.add(before)
        if judged.has(Origin.UNKNOWN_ORIGIN) and (other := _other_registry(case)) is not None:
            wanted.add(other)
    return frozenset(question for question in wanted if question not in known)


def explain_change(
    change: Change,
    tool: Dialect,
    lock_file: str,
    known: Mapping[FactRequest, Fact],
    hashed: Mapping[str, str],
    *,
    policy: Policy = _NO_POLICY,
) -> Change:
    """Returns the change with proofs, signers and the findings that follow, in place of what was found before.

    Args:
        change: Of a root.
        tool: The root's tool.
        lock_file: Where the findings are.
        known: The answers to all `questions`.
        hashed: The `h1` of packages that were hashed here, by `zh`.
        policy: Which platforms are wanted, and how packages arrive.
    """
    if change.new is None:
        return replace(change, evidence=Evidence())
    own = tuple(finding for finding in change.findings if finding.rule not in PROVENANCE | _POLICY_RULES)
    case = case_of(change, tool, known, hashed)
    added = _facts(change.added, case, case.new)
    found = replace(
        change,
        added=added,
        removed=_facts(change.removed, case, case.new if case.is_same_release else case.old, was_locked=True),
        kept=_facts(change.kept, case, case.new, was_locked=case.is_same_release),
        explained=sum(fact.is_explained for fact in added),
        evidence=_evidence(case),
        old_signer=_old_signer(case),
        new_signer=case.new.signer,
    )
    about_platforms = platform_findings(found, _before(case), lock_file, policy)
    about_age = age_findings(found, lock_file, policy)
    return replace(found, findings=in_order((*own, *findings_of(case, lock_file), *about_platforms, *about_age)))


def _before(case: Case) -> LockedHashes | None:
    """What was locked before, with what is known of that release; None for nothing."""
    old = case.change.old
    release = case.new if case.is_same_release else case.old
    if old is None or release is None:
        return None
    plain = tuple(HashFact(text) for text in dict.fromkeys(old.hashes))
    return _locked(_facts(plain, case, release, was_locked=True), release, case.hashed)


def _locked(facts: tuple[HashFact, ...], release: ReleaseFacts, hashed: Mapping[str, str]) -> LockedHashes:
    platforms = release.platforms
    if not platforms:
        return LockedHashes(facts)
    known = {str(platform) for zh, platform in platforms.items() if zh in hashed}
    known |= {str(platform) for platform in release.reported.values()}
    offered = frozenset(map(str, platforms.values()))
    return LockedHashes(facts, offered, offered & known)


def explain_alone(change: Change, tool: Dialect, lock_file: str, *, policy: Policy = _NO_POLICY) -> Change:
    """Returns the change as it is where nobody is asked and nothing is remembered; arguments as of `explain`."""
    known: dict[FactRequest, Fact] = {}
    while wanted := questions(change, tool, known):
        known |= {question: nobody_asked(question) for question in wanted}
    return explain_change(change, tool, lock_file, known, {}, policy=policy)


def explained_changes(
    change: Change,
    subject: FactSubject,
    known: Mapping[FactRequest, Fact],
    hashed: Callable[[Iterable[str]], Mapping[str, str]],
    *,
    policy: Policy = _NO_POLICY,
) -> Change:
    """Returns a change explained by what is known.

    Args:
        change: The subject's, which may have more findings by now.
        subject: All questions about it are answered.
        known: The answers.
        hashed: Looks up the `h1` of packages that were hashed here, by `zh`.
        policy: As of `explain`.
    """
    own = hashed(hashes_to_look_up(subject.change, subject.tool, known))
    return explain_change(change, subject.tool, subject.lock_file, known, own, policy=policy)


def hashes_to_look_up(change: Change, tool: Dialect, known: Mapping[FactRequest, Fact]) -> frozenset[str]:
    """Returns the `zh` of which it helps to know the `h1`."""
    if change.new is None:
        return frozenset()
    found: set[str] = set()
    for question in (_new_id(change, tool), _old_id(change, tool)):
        fact = known.get(question) if question is not None else None
        if isinstance(fact, ReleaseFacts):
            found |= fact.packages
    return frozenset(found)


def case_of(change: Change, tool: Dialect, known: Mapping[FactRequest, Fact], hashed: Mapping[str, str]) -> Case:
    """Returns a change with the facts about it; all its `questions` are answered, and it is no removal."""
    new, listing_id = known[_new_id(change, tool)], ListingId(tool.name, change.address)
    listing = known.get(replace(listing_id, is_fresh=True), known[listing_id])
    assert isinstance(new, ReleaseFacts)
    assert isinstance(listing, Listing)
    case = Case(change, tool, new, listing, _release(known, _old_id(change, tool)), hashed=hashed)
    return replace(
        case,
        before=_release(known, _version_before(case)),
        elsewhere=_release(known, _other_registry(case)),
    )


def _release(known: Mapping[FactRequest, Fact], question: ReleaseId | None) -> ReleaseFacts | None:
    fact = known.get(question) if question is not None else None
    return fact if isinstance(fact, ReleaseFacts) else None


def _new_id(change: Change, tool: Dialect) -> ReleaseId:
    assert change.new is not None
    return ReleaseId(tool.name, change.address, change.new.version)


def _old_id(change: Change, tool: Dialect) -> ReleaseId | None:
    if change.old is None or _is_same_release(change):
        return None
    return ReleaseId(tool.name, change.moved_from or change.address, change.old.version)


def _is_same_release(change: Change) -> bool:
    return bool(change.old and change.new and not change.moved_from and change.old.version == change.new.version)


def _version_before(case: Case) -> ReleaseId | None:
    """The next lower version that is listed, or else the next higher one: whoever signed it is who one would expect."""
    version = case.entry.version
    if not case.is_same_release:
        return None
    nearest = neighbour((one.version for one in case.listing.versions), version)
    return ReleaseId(case.tool.name, case.change.address, nearest) if nearest is not None else None


def _other_registry(case: Case) -> ReleaseId | None:
    """The same version in the default registry of the other tool."""
    hosts = [dialect.default_host for dialect in DIALECTS.values()]
    address = case.change.address
    if address.host not in hosts:
        return None
    other = next(host for host in hosts if host != address.host)
    return ReleaseId(case.tool.name, replace(address, host=other), case.entry.version)


def _facts(
    facts: tuple[HashFact, ...], case: Case, release: ReleaseFacts | None, *, was_locked: bool = False
) -> tuple[HashFact, ...]:
    """Returns hashes with what is known of them; `release` is the one that they should be of."""
    if release is None:
        return facts
    platforms = release.platforms
    by_h1 = dict(release.reported) | {
        case.hashed[zh]: platform for zh, platform in platforms.items() if zh in case.hashed
    }
    proven = {case.hashed[zh] for zh in platforms if zh in case.hashed}
    found = []
    for fact in facts:
        text = fact.hash
        platform = platforms.get(text) or by_h1.get(text)
        if text in proven:
            proof = Proof.COMPUTED
        elif text in release.vouchers:
            proof = _PROOFS[release.vouchers[text]]
        elif was_locked and release.today is not None and text.startswith("zh:"):
            proof = Proof.STALE
        else:
            proof = Proof.UNKNOWN
        found.append(HashFact(text, str(platform) if platform else None, proof))
    return tuple(found)


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
        problems.append(f"signatures cannot be checked: {judged.problem}")
        hints.append(judged.problem.hint)
    to_hash = case.folders.to_hash
    sizes = [case.new.sizes[zh] for zh in to_hash if zh in case.new.sizes]
    locked = _locked((), case.new, case.hashed)
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
    )


def _answer(trouble: LookupFailure | None) -> LookupAnswer:
    if trouble is None or trouble.is_no:
        return LookupAnswer.GIVEN
    return LookupAnswer.FAILED if trouble.was_asked else LookupAnswer.NOT_ASKED


def _old_signer(case: Case) -> Signer | None:
    known = case.old or (case.before if case.packages.has(Origin.REPUBLISHED) else None)
    return known.signer if known is not None else None
