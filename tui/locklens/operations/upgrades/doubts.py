"""What speaks against a candidate version: warnings about an upgrade, and blockers of the newest version. No I/O."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.operations.upgrades import CandidateVersion, UpgradeCandidates, edits_in_short, is_refused
from locklens.operations.upgrades.recommending import NOT_ALLOWED, Doubt, is_beyond
from locklens.project.configuration import constraint_place
from locklens.review.findings import Severity
from locklens.review.model import Bump
from locklens.review.rules.release import SigningProblem, signing_objection
from locklens.selection import Hold, Reason
from locklens.text import age_words, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.operations.upgrades.selection import UpgradeSelection


class UpgradeWarning(Struct, frozen=True):
    """A warning about a candidate version.

    Attributes:
        severity: BLOCK where the tool refuses the version, INFO for a remark.
        words: A sentence without a full stop.
    """

    severity: Severity
    words: str


def upgrade_warnings(
    selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion | None
) -> tuple[UpgradeWarning, ...]:
    """Return the warnings about a candidate version, the worst first; without one, those about the locked one alone."""
    warnings = list(_of_the_locked(selection, offer, choice))
    if choice is not None:
        warnings = [
            *_of_the_signature(selection, offer, choice),
            *_of_the_age(selection, offer, choice),
            *_of_the_platforms(selection, offer, choice),
            *_of_the_version(selection, offer, choice),
            *warnings,
        ]
    return tuple(sorted(warnings, key=lambda warning: warning.severity.rank))


def _of_the_signature(
    selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion
) -> Iterator[UpgradeWarning]:
    new = selection.facts(offer, choice.version)
    if new is not None and is_refused(new) and new.authentication is not None:
        yield UpgradeWarning(Severity.BLOCK, f"{offer.tool.command} refuses it: {new.authentication.refusal}")
    key = new.authentication.signed_by if new is not None and new.authentication is not None else None
    if key is not None and key.expired and not is_refused(new):
        ended = (key.expires or "")[:10]
        yield UpgradeWarning(Severity.INFO, f"its signing key expired on {ended}; {offer.tool.command} tolerates that")
    if unknown := selection.unknown_signer(offer, choice):
        yield _warning(f"signer unknown: {unknown}")
    objection = selection.objection(offer, choice)
    if objection is None:
        return
    match objection.problem:
        case SigningProblem.NOT_PINNED:
            yield UpgradeWarning(Severity.BLOCK, f"NOT A PINNED KEY: {objection.words}")
        case SigningProblem.OTHER_KEY:
            yield _warning(f"NEW KEY: not the key that signed {offer.locked}")
        case SigningProblem.NO_LONGER_SIGNED:
            yield _warning(f"NOT SIGNED: {offer.locked} was signed")


def _of_the_age(
    selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion
) -> Iterator[UpgradeWarning]:
    if offer.unread:
        yield _warning(f"{offer.unread}: its constraints are unknown")
    days = counted(selection.terms.cooldown or 0, "day")
    if selection.terms.is_too_young(choice):
        yield _warning(f"{counted(choice.days or 0, 'day')} old, cooldown {days}")
    if selection.terms.is_of_unknown_age(choice):
        yield _warning(Doubt.AGE)


def _of_the_platforms(
    selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion
) -> Iterator[UpgradeWarning]:
    if selection.terms.platforms:
        if missing := selection.terms.lacking(choice):
            yield _warning(Doubt.PLATFORM.format(", ".join(map(str, missing))))
    elif lost := offer.lost_platforms(choice.version):
        yield _warning(f"no package for {', '.join(map(str, lost))}, unlike {offer.locked}")


def _of_the_version(
    selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion
) -> Iterator[UpgradeWarning]:
    if not selection.terms.allows(offer, choice):
        yield UpgradeWarning(Severity.BLOCK, f"{NOT_ALLOWED} of the policy")
    if choice.excluding:
        yield _warning(f"excluded by the configuration: {edits_in_short(choice)} would be edited")
    if offer.locked is not None and not offer.is_newer(choice.version):
        yield _warning(f"older than the locked {offer.locked}")
    if not choice.is_usable:
        yield _warning(str(choice.holds[-1]))
    if choice.version.prerelease:
        yield _warning("pre-release")
    if offer.bump(choice.version) is Bump.MAJOR and offer.is_newer(choice.version):
        yield UpgradeWarning(Severity.INFO, "major version: read the release notes")
    if offer.recorded:
        yield UpgradeWarning(Severity.INFO, offer.recorded)


def _of_the_locked(
    selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion | None
) -> Iterator[UpgradeWarning]:
    if offer.is_excluded:
        # The upgrade is the action, unless there is none.
        severity = Severity.WARN if choice is None else Severity.INFO
        yield UpgradeWarning(severity, f"needs action: the locked {offer.locked} does not satisfy the constraints")
    if refused := words_of_refused_lock(selection, offer):
        yield _warning(refused)
    if offer.is_withdrawn:
        yield _warning(f"the locked {offer.locked} is not listed {offer.answered}".rstrip())


def words_of_refused_lock(selection: UpgradeSelection, offer: UpgradeCandidates) -> str:
    """What the allow list or a pin has against the locked version; "" for nothing, or if its signer is not known."""
    policy, locked = selection.terms.policy, offer.locked
    if locked is None:
        return ""
    if not policy.allows(offer.address, locked):
        allowed = (one for one in offer.choices if one.is_in_range and selection.terms.allows(offer, one))
        newest = next(allowed, None)
        others = f"{newest.version} is, and in range" if newest is not None else "no version in range is"
        return f"the locked {locked} is {NOT_ALLOWED} of the policy; {others}"
    objection = signing_objection(policy, offer.address, new=selection.facts(offer, locked))
    return f"the locked {locked} is {objection.cited}" if objection is not None else ""


def _warning(words: str) -> UpgradeWarning:
    return UpgradeWarning(Severity.WARN, words)


class BlockerKind(StrEnum):
    """The kind of a blocker."""

    CONSTRAINT = "constraint"
    PIN = "pin"
    COOLDOWN = "cooldown"
    PRERELEASE = "prerelease"
    PROTOCOL = "protocol"
    PLATFORM = "platform"
    SIGNER = "signer"
    ALLOW_LIST = "allow-list"
    MAJOR = "major"


_KINDS = {
    Reason.PRERELEASE: BlockerKind.PRERELEASE,
    Reason.UNSPECIFIED: BlockerKind.PRERELEASE,
    Reason.PROTOCOL: BlockerKind.PROTOCOL,
    Reason.PLATFORM: BlockerKind.PLATFORM,
    Reason.COOLDOWN: BlockerKind.COOLDOWN,
    Reason.NOT_ALLOWED: BlockerKind.ALLOW_LIST,
    Reason.SIGNER: BlockerKind.SIGNER,
}


_DOUBTS = {
    Doubt.UNREAD: BlockerKind.CONSTRAINT,
    Doubt.AGE: BlockerKind.COOLDOWN,
    Doubt.PLATFORM: BlockerKind.PLATFORM,
    Doubt.OLDER: BlockerKind.CONSTRAINT,
    Doubt.MAJOR: BlockerKind.MAJOR,
}


class Blocker(Struct, frozen=True):
    """One reason against a version.

    Attributes:
        kind: The kind of reason.
        text: The constraint as written, or a short description.
        file: File of the constraint or pin; "" for other kinds.
        line: Its line; None for other kinds.
    """

    kind: BlockerKind
    text: str
    file: str = ""
    line: int | None = None


def blockers(selection: UpgradeSelection, offer: UpgradeCandidates) -> tuple[Blocker, ...]:
    """Return the reasons against the newest version of a provider, and against the signer of the recommended one."""
    recommended, newest = selection.recommendation(offer).suggested, offer.choice(offer.newest)
    blocking = []
    if newest is not None and not is_beyond(newest.version, recommended.version if recommended else offer.locked):
        newest = None
    if newest is not None:
        blocking += [blocker for hold in newest.holds for blocker in _of_hold(hold)]
        if not selection.terms.allows(offer, newest):
            blocking.append(Blocker(BlockerKind.ALLOW_LIST, NOT_ALLOWED))
        if selection.terms.is_too_young(newest):
            words = f"{age_words(newest.days)} old, cooldown {selection.terms.cooldown} d"
            blocking.append(Blocker(BlockerKind.COOLDOWN, words))
        if not newest.holds and (doubt := selection.terms.doubt(offer, newest)) is not None:
            words = selection.terms.doubt_words(offer, newest)
            blocking.append(Blocker(_DOUBTS[doubt], words))
    judged = recommended or newest
    if judged is not None and selection.is_suspect(offer, judged):
        blocking.append(_of_signer(selection, offer, judged))
    return tuple(dict.fromkeys(blocking))


def _of_hold(hold: Hold) -> Iterator[Blocker]:
    if hold.demand is None:
        yield Blocker(_KINDS.get(hold.reason, BlockerKind.CONSTRAINT), str(hold))
        return
    kind = BlockerKind.PIN if hold.demand.term.is_pin else BlockerKind.CONSTRAINT
    for entry in hold.demand.requirements:
        place = constraint_place(entry)
        yield Blocker(kind, entry.constraint.strip(), place.file, place.line)


def _of_signer(selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion) -> Blocker:
    if (objection := selection.objection(offer, choice)) is not None:
        return Blocker(BlockerKind.SIGNER, objection.words, objection.file, objection.line)
    if unknown := selection.unknown_signer(offer, choice):
        return Blocker(BlockerKind.SIGNER, f"signer unknown: {unknown}")
    facts = selection.facts(offer, choice.version)
    refusal = facts.authentication.refusal if facts is not None and facts.authentication is not None else None
    return Blocker(BlockerKind.SIGNER, f"{offer.tool.command} refuses it: {refusal}")
