"""Blockers: the reasons against the newest version of a provider, with file and line. No I/O."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.operations.upgrades.recommend import NOT_ALLOWED
from locklens.selection import Reason
from locklens.text import age_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.operations.upgrades.candidates import CandidateVersion, UpgradeCandidates
    from locklens.operations.upgrades.selection import UpgradeSelection
    from locklens.selection import Hold


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


_KINDS = {
    Reason.PRERELEASE: BlockerKind.PRERELEASE,
    Reason.UNSPECIFIED: BlockerKind.PRERELEASE,
    Reason.PROTOCOL: BlockerKind.PROTOCOL,
    Reason.PLATFORM: BlockerKind.PLATFORM,
    Reason.COOLDOWN: BlockerKind.COOLDOWN,
    Reason.NOT_ALLOWED: BlockerKind.ALLOW_LIST,
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
    """Return the reasons against the newest version of a provider, and against the signer of the recommended one.

    Args:
        selection: The cooldown and the known releases.
        offer: The provider in its root.
    """
    recommended, newest = selection.recommendation(offer).suggested, offer.choice(offer.newest)
    blocking = []
    reached = recommended.version if recommended is not None else offer.locked
    if newest is not None and (reached is None or newest.version.compare(reached) > 0):
        blocking += [blocker for hold in newest.holds for blocker in _of_hold(hold)]
        if not selection.terms.allows(offer, newest):
            blocking.append(Blocker(BlockerKind.ALLOW_LIST, NOT_ALLOWED))
        if selection.terms.is_too_young(newest):
            words = f"{age_words(newest.days)} old, cooldown {selection.terms.cooldown} d"
            blocking.append(Blocker(BlockerKind.COOLDOWN, words))
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
        yield Blocker(kind, entry.constraint.strip(), entry.file, entry.line)


def _of_signer(selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion) -> Blocker:
    if (objection := selection.objection(offer, choice)) is not None:
        return Blocker(BlockerKind.SIGNER, objection.words, objection.file, objection.line)
    facts = selection.facts(offer, choice.version)
    refusal = facts.authentication.refusal if facts is not None and facts.authentication is not None else None
    return Blocker(BlockerKind.SIGNER, f"{offer.tool.command} refuses it: {refusal}")
