"""The rules that need only a change, with its two entries and the release date, and the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.hashes import (
    count_by_scheme,
    hashes_of_files,
    is_known_scheme,
    is_of_zip,
    is_plain,
    is_well_formed,
    packages_of,
)
from locklens.review.coverage import LockedHashes, cover
from locklens.review.findings import Severity
from locklens.review.model import Bump, Change
from locklens.review.rules import Verdict
from locklens.text import counted
from locklens.versions import Constraints, ConstraintSyntaxError, Relation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from locklens.policy import InstallPath, Policy


def _downgrade(change: Change, _: Policy) -> Iterator[Verdict]:
    if change.old and change.new and change.new.version.compare(change.old.version) < 0:
        yield Verdict(f"{change.old.version} -> {change.new.version} is a downgrade")
    elif change.new and change.elsewhere and change.new.version.compare(change.elsewhere.lowest.version) < 0:
        # A root that was moved, or made anew, is no way around: what is locked there comes from the others.
        before = change.elsewhere
        place = f"{before.lowest_in}:{before.lowest.line}"
        words = f"{change.new.version}; the lowest in other roots of the base is {before.lowest.version} ({place})"
        yield Verdict(words, case="elsewhere")


def _major(change: Change, _: Policy) -> Iterator[Verdict]:
    if change.bump is Bump.MAJOR and change.old and change.new and change.new.version.compare(change.old.version) > 0:
        yield Verdict(f"major version {change.old.version.major} -> {change.new.version.major}")


def _not_ascii(change: Change, _: Policy) -> Iterator[Verdict]:
    address = change.address
    if address.is_ascii:
        return
    words = f"{address} is {address.ascii} in ASCII"
    if not address.mixed_scripts:
        yield Verdict(words)
        return
    is_named_first = change.old is None or change.moved_from is not None
    mixture = " and ".join(address.mixed_scripts)
    yield Verdict(f"{words}: it mixes {mixture} letters", severity=Severity.WARN if is_named_first else None)


def _prerelease(change: Change, _: Policy) -> Iterator[Verdict]:
    version_changed = change.new is not None and (change.old is None or change.old.version != change.new.version)
    if change.new is not None and version_changed and change.new.version.prerelease:
        yield Verdict(f"{change.new.version} is a pre-release")


def _odd_hashes(change: Change, _: Policy) -> Iterator[Verdict]:
    if change.new is None:
        return
    for text in dict.fromkeys(change.new.hashes):
        if not is_plain(text):
            # No tool writes one, and with a line feed or an invisible letter in it, it looks like others.
            words = "is not written as a hash: a scheme, a colon, and letters and digits of hex or base64"
            yield Verdict(f"{_shortened(text)} {words}", change.new.line_of(text), severity=Severity.BLOCK)
        elif not is_known_scheme(text):
            yield Verdict(f"{_shortened(text)} has a scheme unknown to the tools", change.new.line_of(text))
        elif not is_well_formed(text):
            yield Verdict(
                f"{_shortened(text)} is not a valid digest and cannot match any package", change.new.line_of(text)
            )


def _no_signed_scheme(change: Change, _: Policy) -> Iterator[Verdict]:
    if change.new is None:
        return
    matchable = [text for text in change.new.hashes if is_well_formed(text)]
    if any(is_of_zip(text) for text in matchable):
        return
    if matchable:
        yield Verdict("only h1 hashes, without any signed hash")
        return
    words = _without_matchable(change.new.hashes)
    before = [text for text in change.old.hashes if is_well_formed(text)] if change.old is not None else []
    if before:
        # No tool removes the last hash of an entry, not even for another version.
        yield Verdict(f"{words}; {count_by_scheme(before)} before", severity=Severity.BLOCK)
    else:
        # No tool writes an entry whose hashes are all of other schemes; older ones are kept unchanged.
        is_made_up = change.old is None and bool(change.new.hashes)
        yield Verdict(words, severity=Severity.BLOCK if is_made_up else None)


def _without_matchable(hashes: Sequence[str]) -> str:
    """Describe the tools' handling of an entry without a hash that can match: only known schemes exclude a package."""
    if any(map(is_known_scheme, hashes)):
        return "no hash that can match a package: none is a valid digest of its scheme"
    if hashes:
        return "no hash that the tools compare: any download will be accepted"
    return "no hashes at all: any download will be accepted"


_RELATIONS = {
    Relation.SAME: "the same releases",
    Relation.WIDENED: "wider",
    Relation.NARROWED: "narrower",
    Relation.SHIFTED: "different releases",
    Relation.DISJOINT: "no release in common",
}


def _constraints_changed(change: Change, _: Policy) -> Iterator[Verdict]:
    if not change.old or not change.new or change.old.constraints == change.new.constraints:
        return
    before, after = change.old.constraints, change.new.constraints
    try:
        relation = Constraints.parse_recorded(after).relation_to(Constraints.parse_recorded(before))
    except ConstraintSyntaxError:
        return
    yield Verdict(f"constraints {before or 'any'} -> {after or 'any'} ({_RELATIONS[relation]})", change.new.line)


def _fewer_h1(change: Change, policy: Policy) -> Iterator[Verdict]:
    if not change.old or not change.new:
        return
    now = hashes_of_files(change.new.hashes)
    before, after = (sum(map(is_well_formed, one)) for one in (hashes_of_files(change.old.hashes), now))
    if before > 1 and after < before:
        used = [path for path in policy.install_paths if path.needs_h1]
        if keeps := _keeps_required(change, policy, used):
            effect = "each required platform keeps its own"
        else:
            serves = "may no longer serve some platforms" if after else "no longer serves any platform"
            effect = f"a cache or an unpacked mirror {serves}"
        left = f"{after} well-formed" if after < len(now) else str(after)
        is_loss = used and not keeps
        yield Verdict(f"{before} h1 before, {left} now: {effect}", severity=Severity.WARN if is_loss else None)


def _keeps_required(change: Change, policy: Policy, paths: Sequence[InstallPath]) -> bool:
    """True if each platform that the policy requires is known to be covered on some install paths."""
    required = [str(one.platform) for one in policy.platforms]
    covers = (cover(LockedHashes.of(change), path, policy.on_path(path, required)) for path in paths)
    return bool(required and paths) and not any(one.missing or one.doubtful for one in covers)


def _kept_hashes(change: Change, _: Policy) -> Iterator[Verdict]:
    if not change.old or not change.new or change.old.version == change.new.version or not change.new.hashes:
        return
    verified = {fact.hash for fact in change.kept if fact.is_verified}
    shared = packages_of(change.old.hashes) & packages_of(change.new.hashes)
    packages = shared - verified
    if shared and not packages:
        return  # They are signed for the new version, so that the old entry is the wrong one; LK027 judges the h1.
    kept = packages | ((hashes_of_files(change.old.hashes) & hashes_of_files(change.new.hashes)) - verified)
    known = change.evidence is not None and change.evidence.offered is not None
    told, case = ": one of the two was edited, or merged from lines", ""
    if known and packages and all(fact.kind.contradicts for fact in change.kept if fact.hash in packages):
        told, case = ", and its signed release has none of these zh", "lent"
    own = " beside its own" if any(fact.is_verified for fact in change.added) else ""
    told = f"of {change.old.version}{own}{told}"
    if not verified and set(change.old.hashes) == set(change.new.hashes):
        words, line = f"exactly the hashes {told}", change.new.line
    elif kept:
        words, line = f"{count_by_scheme(kept)} {told}", change.new.line_of(min(kept))
    else:
        return
    yield Verdict(f"{change.new.version} has {words}", line, case=case)


def _not_allowed(change: Change, policy: Policy) -> Iterator[Verdict]:
    if change.new is None or policy.allow is None or policy.allows(change.address, change.new.version):
        return
    named = [entry for entry in policy.allow if entry.names(change.address)]
    if named:
        versions = " or ".join(str(entry.constraints) for entry in named)
        reason = f"{policy.file}:{named[0].line} allows {versions}"
    else:
        reason = f"allow in {policy.file} does not name it"
    words = f"{change.address} {change.new.version} is not allowed: {reason}"
    yield Verdict(words, case="" if named else "unnamed")


def _too_young(change: Change, policy: Policy) -> Iterator[Verdict]:
    """Check a new version; an unknown release date gives no finding, and a note of the review."""
    days = change.evidence.days if change.evidence is not None else None
    if change.new is None or policy.cooldown is None or days is None or days >= policy.cooldown:
        return
    if _is_newly_locked(change) and change.evidence is not None:
        age = "today" if not days else f"{counted(days, 'day')} ago"
        words = f"{change.new.version} was released {age} ({change.evidence.released}), and the cooldown is"
        yield Verdict(f"{words} {counted(policy.cooldown, 'day')}")


def _is_newly_locked(change: Change) -> bool:
    old, new = change.old, change.new
    return new is not None and (old is None or change.moved_from is not None or old.version != new.version)


def is_undated(change: Change, policy: Policy) -> bool:
    """True if the cooldown could not be checked of a newly locked version, whose registry gave no release date."""
    evidence = change.evidence
    is_dated = evidence is None or bool(evidence.problems) or evidence.days is not None
    return bool(policy.cooldown) and not is_dated and _is_newly_locked(change)


def _shortened(text: str) -> str:
    return text if len(text) <= 24 else text[:21] + "..."


CHECKS: Mapping[str, Callable[[Change, Policy], Iterator[Verdict]]] = {
    "LK004": _downgrade,
    "LK013": _major,
    "LK014": _too_young,
    "LK016": _prerelease,
    "LK017": _odd_hashes,
    "LK020": _no_signed_scheme,
    "LK021": _constraints_changed,
    "LK022": _not_allowed,
    "LK024": _fewer_h1,
    "LK025": _kept_hashes,
    "LK034": _not_ascii,
}
"""The checks of a change that leaves an entry; not run for a removed provider."""
