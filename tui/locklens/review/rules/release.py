"""The rules about releases: the origin of hashes, and signers.

`signing_objection` alone decides whether a pin, or the earlier signer, speaks against a signer.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import ProviderAddress, display_host, spelt_host
from locklens.hashes import count_by_scheme, hashes_of_files, hashes_of_zips, packages_of
from locklens.review.findings import UNCHECKED, UNREACHABLE, UNVERIFIED_RULE, Severity
from locklens.review.model import ChangeKind
from locklens.review.rules import Verdict
from locklens.text import counted, size_words
from locklens.trust import SigningKey, Tier
from locklens.trust.authentication import Authentication, AuthenticationOutcome, Refusal
from locklens.trust.continuity import Origin, SignerChange, judge_signer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from locklens.policy import Pin, Policy
    from locklens.releases import ReleaseFacts
    from locklens.review.case import Case
    from locklens.review.context import RootContext


_HISTORY_IS_CUT = (
    "whether an earlier commit locked the hashes of the new entry is unknown, for this clone has no older ones (git "
    "fetch --unshallow brings them)"
)


def _published_again(case: Case, _: Policy) -> Iterator[Verdict]:
    judged = case.packages
    if judged.has(Origin.GROWN):
        words = f"{case.entry.version}: {judged.grown_words(_sums(case.new))}"
        yield Verdict(words, _first_line(case, judged.explained), severity=Severity.WARN, case="grown")
    if not judged.has(Origin.REPUBLISHED):
        return
    locked = packages_of(case.change.old.hashes) if case.change.old else frozenset()
    is_sure = bool(judged.disguised or judged.doubled)
    # Without a base, a hash that the release once had cannot be told from one that was written into the file. Neither
    # can it if the release still has some of the base's hashes.
    is_part = judged.gone < locked and not (judged.dropped or judged.manifests)
    is_changed = case.change.kind is not ChangeKind.UNCHANGED
    whose = "of the old entry" if is_changed else ""
    reason = judged.republished_words(len(locked), _sums(case.new), whose=whose)
    if case.is_restored and not is_sure:
        commit = case.change.restored_from[:12]
        words = f"the change restores those that commit {commit} locks, which are all of the release"
        yield Verdict(f"{case.entry.version}: {reason}; {words}", severity=Severity.INFO, case="restored")
        return
    if case.edited_from is not None and not is_sure:
        one, zh = case.edited_from, "it" if len(judged.gone) == 1 else "them"
        words = f"commit {one.commit[:12]} locks {zh} for {one.version}, whose release has {zh}"
        words = f"{case.entry.version}: {reason}; {words}: the old entry was edited"
        yield Verdict(words, severity=Severity.INFO, case="edited")
        return
    is_likely = is_changed and not is_part
    lead = " was republished" if is_sure or is_likely else ""
    lead += ", or its old entry was edited" if is_likely and not is_sure else ""
    message = f"{case.entry.version}{lead}: {reason}"
    if case.new.signer is not None and case.new.signer.keys:
        message += f"; signed now by {case.new.signer.keys[0].fingerprint}"
    before = case.before
    if before is not None and before.signer is not None and before.signer.keys:
        message += f"; {before.id.version} is signed by {before.signer.keys[0].fingerprint}"
    # Whoever can publish a version again can publish the one before with its hashes: this lessens nothing.
    if before is not None and before.today is not None and judged.gone and judged.gone <= before.packages:
        message += f", with {'this' if len(judged.gone) == 1 else 'these'} zh"
    if case.change.is_history_cut:
        message += f"; {_HISTORY_IS_CUT}"
    if not is_sure:
        message += "; locklens doctor tells whether the hashes were edited or the version was republished"
    line = _first_line(case, judged.gone | judged.disguised.keys()) or case.entry.line
    yield Verdict(message, line, case="" if is_sure or is_likely else "unsure")


def _unknown_origin(case: Case, _: Policy) -> Iterator[Verdict]:
    foreign = case.packages.foreign
    if foreign:
        where = _sums(case.new)
        if case.elsewhere is not None and case.elsewhere.today is not None:
            where += f", nor in that of {display_host(case.elsewhere.id.address.host)}"
        name = "lent" if case.lender is not None and foreign <= case.lender.packages else ""
        words = f"{_are(len(foreign), 'zh')} not in {where}{_lender_words(case)}"
        yield Verdict(words, _first_line(case, foreign), case=name)
    unmatched = case.folders.foreign
    if unmatched:
        verb = "matches" if len(unmatched) == 1 else "match"
        number = len(case.new.packages)
        message = f"{len(unmatched)} h1 {verb} none of the {counted(number, 'package')}; each was hashed"
        yield Verdict(message, _first_line(case, unmatched))


def _lender_words(case: Case) -> str:
    """Return the other version whose SHA256SUMS has foreign `zh`, a clause; "" if none is known."""
    lender, foreign = case.lender, case.packages.foreign
    if lender is None:
        return ""
    lent = foreign & lender.packages
    committed = case.change.lender if lender is case.lent_by else None
    where = f", which commit {committed.commit[:12]} locks," if committed is not None else ""
    return f"; that of {lender.id.version}{where} has {'them' if lent == foreign else f'{len(lent)} of them'}"


def _unverified(case: Case, _: Policy) -> Iterator[Verdict]:
    if case.unverified is None:
        return
    change, hashes = case.change, case.to_verify
    how = _locked_how(case)
    added = hashes_of_zips(fact.hash for fact in change.added) if how == "added" else hashes
    counts = f"{_counts(added, hashes)} {how}"
    gone = hashes_of_zips(fact.hash for fact in change.removed)
    removed = packages_of(gone)
    if gone:
        counts += f", {_counts(gone, removed)} removed"
    if change.moved_from is not None or not case.is_same_version or change.kind is ChangeKind.UNCHANGED:
        reason = "not verified"
    elif removed and not packages_of(fact.hash for fact in change.kept):
        reason = "and every package hash was replaced: republished, hashes of another registry, or tampered with"
    else:
        reason = "and the version is unchanged"
    name = UNCHECKED if _is_unchecked(case) else ""
    yield Verdict(f"{counts}, {reason}; {_why_unknown(case)}", _first_line(case, hashes), case=name)


def _counts(hashes: frozenset[str], packages: frozenset[str]) -> str:
    """The number of hashes by scheme; if some are of other files, of all, and of packages."""
    of_packages = f" ({len(packages)} of packages)" if len(hashes) != len(packages) else ""
    return f"{count_by_scheme(hashes)}{of_packages}"


def _locked_how(case: Case) -> str:
    if case.change.kind is ChangeKind.UNCHANGED:
        return "locked"
    is_added = case.to_verify <= {fact.hash for fact in case.change.added}
    return (
        "added" if is_added and case.change.moved_from is None else "that the old entry does not lock for this release"
    )


def _why_unknown(case: Case) -> str:
    if words := unknown_signer_words(case.new):
        return words
    judged = case.new.authentication
    if judged is not None and judged.refusal is not None:
        return f"its SHA256SUMS is not authenticated: {judged.refusal}"
    return "its SHA256SUMS lists no recognizable package"


def _is_unchecked(case: Case) -> bool:
    """True if the registry answered, and gpg cannot check the signature."""
    judged = case.new.authentication
    return case.trouble is None and not case.new.foreign and judged is not None and judged.problem is not None


def _moved(case: Case, _: Policy) -> Iterator[Verdict]:
    change = case.change
    if change.moved_from is None:
        return
    message = f"moved from {change.moved_from}"
    if case.trouble is None or not case.trouble.is_unvouched:
        yield Verdict(message)
        return
    message += f"; only the change names {spelt_host(change.address.host)}"
    kept = [fact.hash for fact in change.kept]
    kept_packages = packages_of(kept) | hashes_of_files(kept)
    if kept_packages:
        words = f"{count_by_scheme(kept_packages)} of the old address were kept unchanged"
        yield Verdict(f"{message}, and {words}", _first_line(case, kept_packages), severity=Severity.BLOCK)
    else:
        yield Verdict(message, severity=Severity.WARN)


def _other_signer(case: Case, policy: Policy) -> Iterator[Verdict]:
    earlier = case.old or case.before
    old = earlier if earlier is not None and not earlier.foreign and not case.new.foreign else None
    objection = signing_objection(policy, case.change.address, new=case.new, old=old)
    if objection is None:
        return
    if objection.problem is SigningProblem.NOT_PINNED:
        yield Verdict(objection.cited, severity=Severity.BLOCK, case="pinned")
    was, now = _known_key(old) if old is not None else None, _known_key(case.new)
    if objection.problem is SigningProblem.OTHER_KEY and old is not None and was is not None and now is not None:
        if case.is_old_another:
            words = (
                f"{old.id.version}, which now has none of the packages that were locked, is signed by {was.fingerprint}"
            )
            yield Verdict(f"signed by {now.fingerprint}; {words}", case="another")
            return
        before, where = f"{old.id.version} was signed", case.change.elsewhere
        if where is not None:
            before = f"{old.id.version}, which {where.highest_in}:{where.highest.line} locks in the base, is signed"
        yield Verdict(f"signed by {now.fingerprint}; {before} by {was.fingerprint}")


def _known_key(release: ReleaseFacts) -> SigningKey | None:
    judged = release.authentication if not release.foreign else None
    return judged.key if judged is not None and judged.outcome is AuthenticationOutcome.ACCEPTED else None


def _unsigned(case: Case, _: Policy) -> Iterator[Verdict]:
    judged = case.new.authentication
    if judged is None or judged.outcome is not AuthenticationOutcome.SKIPPED:
        return
    host = display_host(case.change.address.host)
    message = f"not signed: {host} lists no key for it, and {case.tool.command} does not check its signature"
    earlier = _known_key(case.old) if case.old is not None else None
    if earlier is not None and case.old is not None and not case.is_old_another:
        message += f"; {case.old.id.version} was signed by {earlier.fingerprint}"
    yield Verdict(message)


def _ended_key(case: Case, _: Policy) -> Iterator[Verdict]:
    judged = case.new.authentication
    key = judged.signed_by if judged is not None else None
    if judged is None or key is None:
        return
    if judged.refusal is Refusal.REVOKED_KEY or key.revoked:
        yield Verdict(f"the signing key {key.fingerprint} was revoked", severity=Severity.BLOCK)
    elif key.expired:
        tolerated = f"; {case.tool.command} tolerates that" if judged.outcome is AuthenticationOutcome.ACCEPTED else ""
        yield Verdict(f"the signing key {key.fingerprint} expired on {(key.expires or '')[:10]}{tolerated}")


def _other_registry(case: Case, _: Policy) -> Iterator[Verdict]:
    for host, hashes in case.packages.elsewhere.items():
        locked_host = display_host(case.change.address.host)
        verb = "matches" if len(hashes) == 1 else "match"
        message = f"{len(hashes)} zh {verb} {display_host(host)}'s release of this version, not {locked_host}'s"
        yield Verdict(message, _first_line(case, hashes))


def _unproven(case: Case, _: Policy) -> Iterator[Verdict]:
    folders = case.folders
    if not folders.unproven:
        return
    is_unsigned = case.new.signer is not None and case.new.signer.tier is Tier.UNSIGNED
    state = "compared with the packages" if is_unsigned else "verified"
    message = f"{_are(len(folders.unproven), 'h1')} not {state} yet"
    to_hash, altered = folders.to_hash - case.altered.keys(), folders.to_hash & case.altered.keys()
    if to_hash:
        sizes = [case.new.sizes[zh] for zh in to_hash if zh in case.new.sizes]
        size = f", {size_words(sum(sizes))}" if len(sizes) == len(to_hash) else ""
        what = "comparing" if is_unsigned else "verifying"
        message += f": {what} downloads up to {counted(len(to_hash), 'package')}{size}"
    elif altered:
        is_one = len(altered) == 1
        message += (
            f": the downloaded {'package is not the signed one' if is_one else 'packages are not the signed ones'}, "
        )
        message += "see LK030"
    else:
        message += f": {_why_unknown(case)}"
    is_added = not folders.unproven.isdisjoint(fact.hash for fact in case.change.added)
    where = case.change.elsewhere
    if where is not None and where.hashes:  # The version is locked in another root of the base.
        is_claimed = not folders.unproven <= where.hashes
    else:
        is_claimed = case.is_same_version and is_added
    severity = Severity.WARN if is_claimed else Severity.INFO
    unknown = UNCHECKED if _is_unchecked(case) else UNREACHABLE
    name = ("unsigned" if is_unsigned else "") if to_hash else "altered" if altered else unknown
    yield Verdict(message, _first_line(case, folders.unproven), severity=severity, case=name)


def _not_authentic(case: Case, _: Policy) -> Iterator[Verdict]:
    name = f"{case.change.address} {case.entry.version}"
    judged = case.new.authentication
    absent = case.trouble.words if case.trouble is not None and case.trouble.is_no else ""
    if not absent and case.listing.lacks(case.entry.version):
        absent = f"{display_host(case.change.address.host)} does not list this version"
    held = next((case.mirrored[text] for text in case.entry.hashes if text in case.mirrored), None)
    if absent and held is not None:
        words = f"{name}: {absent}; {held.mirror}, which the settings here name, has a package that is locked"
        yield Verdict(words, severity=Severity.WARN, case="mirrored")
    elif absent:
        yield Verdict(f"{case.tool.command} cannot install {name}: {absent}")
    if judged is not None and judged.outcome is AuthenticationOutcome.REFUSED:
        verb = "signed by" if judged.signed_by is not None else "signed in the name of"
        signer = f"; {verb} {judged.key.fingerprint}" if judged.key is not None else ""
        yield Verdict(f"{case.tool.command} refuses {name}: {judged.refusal}{signer}")
    if case.altered:
        yield Verdict(f"{name}: {_altered_words(case)}", case="altered")


def _altered_words(case: Case) -> str:
    """Return which packages arrived otherwise than they are signed, in a clause."""
    arrived = sorted((str(platform), zh) for zh, platform in case.new.platforms.items() if zh in case.altered)
    platform, zh = arrived[0]
    which = f"the package of {platform} that was downloaded is not the signed one"
    if len(arrived) > 1:
        platforms = ", ".join(platform for platform, _ in arrived)
        which = f"{len(arrived)} packages that were downloaded are not the signed ones ({platforms}); of the first"
    return f"{which}: expected {zh}, got {case.altered[zh]}"


def _another_release(case: Case, _: Policy) -> Iterator[Verdict]:
    if case.new.foreign:
        name = f"{case.change.address} {case.entry.version}"
        yield Verdict(f"another release is passed off as {name}: {case.new.foreign}, so no signed hash counts")


def beside_packages(verdict: Verdict, case: Case, context: RootContext) -> Verdict:
    """Return a verdict on unproven `h1` (LK027), with a higher severity if the repository contains packages.

    Such packages are installed without a registry and without a signature: the unproven `h1` alone permits it. The
    verdict blocks if the change adds both.
    """
    is_added = not case.folders.unproven.isdisjoint(fact.hash for fact in case.change.added)
    brings_packages = _has_packages(context.vendored)
    if not is_added or not (brings_packages or context.has_packages):
        return verdict
    words = f"{verdict.message}; packages in the repository need no other hash to be installed"
    return replace(verdict, message=words, severity=Severity.BLOCK if brings_packages else Severity.WARN)


def _has_packages(paths: Sequence[str]) -> bool:
    if not paths:
        return False
    from locklens.project.effective_paths import working_data

    return not all(map(working_data, paths))


UNPROVEN = "LK027"

CHECKS: Mapping[str, Callable[[Case, Policy], Iterator[Verdict]]] = {
    "LK001": _published_again,
    "LK002": _unknown_origin,
    UNVERIFIED_RULE: _unverified,
    "LK010": _other_signer,
    "LK011": _unsigned,
    "LK012": _ended_key,
    "LK015": _moved,
    "LK026": _other_registry,
    UNPROVEN: _unproven,
    "LK030": _not_authentic,
    "LK033": _another_release,
}


def _sums(release: ReleaseFacts) -> str:
    judged = release.authentication
    return judged.sums if judged is not None else "the publisher's unsigned SHA256SUMS"


def _first_line(case: Case, hashes: Iterable[str]) -> int | None:
    lines = case.entry.lines
    return min((lines[text] for text in hashes if text in lines), default=None)


def _are(number: int, what: str) -> str:
    return f"{number} {what} {'is' if number == 1 else 'are'}"


class SigningProblem(StrEnum):
    """The kind of an objection."""

    NOT_PINNED = "not pinned"
    """The policy pins keys, and the release is signed by none of them."""
    OTHER_KEY = "other key"
    """Another key signed the earlier release."""
    NO_LONGER_SIGNED = "no longer signed"
    """The earlier release was signed."""


class SigningObjection(Struct, frozen=True):
    """An objection to the signer of a release.

    Attributes:
        words: A sentence without a full stop.
        file: The policy file, if a pin objects; else "".
        line: The pin's line, from 1.
    """

    problem: SigningProblem
    words: str
    file: str = ""
    line: int | None = None

    @property
    def place(self) -> str:
        """File and line of the pin; "" if no pin objects."""
        return f"{self.file}:{self.line}" if self.file else ""

    @property
    def cited(self) -> str:
        """The words, with the place of the pin."""
        return f"{self.words} ({self.place})" if self.file else self.words


def signing_objection(
    policy: Policy, address: ProviderAddress, *, new: ReleaseFacts | None, old: ReleaseFacts | None = None
) -> SigningObjection | None:
    """Return what speaks against the signer of a release; None if nothing does, or if the signer is unknown.

    If a pin applies, it alone decides: a pinned key may differ from the earlier one. Without an earlier release, the
    pins alone are checked.
    """
    pin = policy.pin(address)
    if new is not None and pin is not None:
        signed = signed_by(new)
        if signed is None or pin.permits(signed):
            return None
        return SigningObjection(SigningProblem.NOT_PINNED, _pin_words(pin, signed), policy.file, pin.line)
    changed = signer_change(old, new)
    problem = _PROBLEMS.get(changed)
    return SigningObjection(problem, "the signer differs from that of the locked version") if problem else None


def unknown_signer_words(release: ReleaseFacts) -> str:
    """Return why the signer of a release that was looked up is unknown, a clause; "" if it is known, or refused."""
    if release.trouble is not None:
        return release.trouble.words
    judged = release.authentication
    if not release.foreign and judged is not None and judged.problem is not None:
        return f"signatures cannot be checked: {judged.problem}"
    return release.foreign


_PROBLEMS = {SignerChange.OTHER: SigningProblem.OTHER_KEY, SignerChange.LOST: SigningProblem.NO_LONGER_SIGNED}


def signer_change(old: ReleaseFacts | None, new: ReleaseFacts | None) -> SignerChange:
    """Compare the signers of two releases; UNKNOWN unless the tool would accept both."""
    of_old, of_new = _accepted(old), _accepted(new)
    return judge_signer(
        of_old.key if of_old is not None else None,
        of_new.key if of_new is not None else None,
        old_known=of_old is not None,
        new_known=of_new is not None,
    )


def _accepted(facts: ReleaseFacts | None) -> Authentication | None:
    """The judgement of a release if the tool accepts it, signed or not; one without a key is skipped."""
    judged = facts.authentication if facts is not None else None
    is_accepted = judged is not None and judged.outcome in {
        AuthenticationOutcome.ACCEPTED,
        AuthenticationOutcome.SKIPPED,
    }
    return judged if is_accepted else None


def signed_by(release: ReleaseFacts) -> str | None:
    """The fingerprint of the key that signs a release, "" if none does; None if that is unknown or it is refused.

    A valid signature counts even if the tool crashes after checking it, since such a release can be locked.
    """
    judged = release.authentication if not release.foreign else None
    if judged is None or judged.outcome is AuthenticationOutcome.UNKNOWN:
        return None
    if judged.outcome is AuthenticationOutcome.REFUSED:
        is_authentic = judged.refusal is Refusal.CRASH and judged.tier is not Tier.UNKNOWN
        if not is_authentic:
            return None
    return judged.key.fingerprint if judged.key is not None else ""


def _pin_words(pin: Pin, signed: str) -> str:
    by = f"signed by {signed}" if signed else "not signed"
    return f"{by}; the policy pins {pin.name} to {' and '.join(pin.keys)}"
