"""What keeps a provider from its newest version, as values that name file and line. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.operations.upgrades.recommend import age_words
from locklens.selection import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.operations.upgrades.candidates import CandidateVersion, UpgradeCandidates
    from locklens.operations.upgrades.selection import UpgradeSelection
    from locklens.selection import Hold


class BlockerKind(StrEnum):
    """What kind of thing stands against a version."""

    CONSTRAINT = "constraint"
    PIN = "pin"
    COOLDOWN = "cooldown"
    PRERELEASE = "prerelease"
    PROTOCOL = "protocol"
    PLATFORM = "platform"
    SIGNER = "signer"


_KINDS = {
    Reason.PRERELEASE: BlockerKind.PRERELEASE,
    Reason.UNSPECIFIED: BlockerKind.PRERELEASE,
    Reason.PROTOCOL: BlockerKind.PROTOCOL,
    Reason.PLATFORM: BlockerKind.PLATFORM,
}


class Blocker(Struct, frozen=True):
    """One thing that stands against a version.

    Attributes:
        text: The constraint as it is written, or else a few words.
        file: Where the constraint is; "" for anything else.
        line: Its line, None for anything else.
    """

    kind: BlockerKind
    text: str
    file: str = ""
    line: int | None = None


def blockers(selection: UpgradeSelection, offer: UpgradeCandidates) -> tuple[Blocker, ...]:
    """Returns what keeps a provider from its newest version, and what speaks against the recommended signer.

    Args:
        selection: The cooldown, and what is known of releases.
        offer: The provider in its root.
    """
    recommended, newest = selection.standing(offer).suggested, offer.choice(offer.newest)
    found = []
    reached = recommended.version if recommended is not None else offer.locked
    if newest is not None and (reached is None or newest.version.compare(reached) > 0):
        found += [one for hold in newest.holds for one in _of_hold(hold)]
        if selection.terms.is_too_young(newest):
            words = f"{age_words(newest.days)} old, cooldown {selection.terms.cooldown} d"
            found.append(Blocker(BlockerKind.COOLDOWN, words))
    judged = recommended or newest
    if judged is not None and selection.is_suspect(offer, judged):
        found.append(_of_signer(selection, offer, judged))
    return tuple(dict.fromkeys(found))


def _of_hold(hold: Hold) -> Iterator[Blocker]:
    if hold.demand is None:
        yield Blocker(_KINDS.get(hold.reason, BlockerKind.CONSTRAINT), str(hold))
        return
    kind = BlockerKind.PIN if hold.demand.term.is_pin else BlockerKind.CONSTRAINT
    for one in hold.demand.requirements:
        yield Blocker(kind, one.constraint.strip(), one.file, one.line)


def _of_signer(selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion) -> Blocker:
    facts = selection.facts(offer, choice.version)
    refusal = facts.authentication.refusal if facts is not None and facts.authentication is not None else None
    words = f"{offer.tool.command} refuses it: {refusal}" if refusal else "signed otherwise than the locked version"
    return Blocker(BlockerKind.SIGNER, words)
