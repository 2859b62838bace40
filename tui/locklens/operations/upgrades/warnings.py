"""What speaks against an upgrade before it is planned. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.operations.upgrades.candidates import edits_in_short
from locklens.operations.upgrades.download_estimate import is_refused, signer_change
from locklens.review.model import Bump, Severity
from locklens.text import counted
from locklens.trust.continuity import SignerChange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.operations.upgrades.candidates import CandidateVersion, UpgradeCandidates
    from locklens.operations.upgrades.selection import UpgradeSelection


class UpgradeWarning(Struct, frozen=True):
    """One thing to consider before a version is locked.

    Attributes:
        severity: BLOCK where the tool refuses the version, INFO where nothing is wrong.
        words: A sentence without its full stop.
    """

    severity: Severity
    words: str


def upgrade_warnings(
    selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion | None
) -> tuple[UpgradeWarning, ...]:
    """Returns what to consider before a version is locked, the worst first.

    Args:
        selection: What is known of releases, and the cooldown.
        offer: The provider in its root.
        choice: The version; None for none, of which there is nothing to say.
    """
    if choice is None:
        return ()
    return (
        *_of_the_signature(selection, offer, choice),
        *_of_the_age(selection, offer, choice),
        *_of_the_version(offer, choice),
    )


def _of_the_signature(
    selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion
) -> Iterator[UpgradeWarning]:
    old, new = selection.facts(offer, offer.locked), selection.facts(offer, choice.version)
    if new is not None and is_refused(new) and new.authentication is not None:
        yield UpgradeWarning(Severity.BLOCK, f"{offer.tool.command} refuses it: {new.authentication.refusal}")
    changed = signer_change(old, new)
    if changed is SignerChange.OTHER:
        yield _warning(f"NEW KEY: signed by another one than {offer.locked}")
    if changed is SignerChange.LOST:
        yield _warning(f"not signed, and {offer.locked} was")


def _of_the_age(
    selection: UpgradeSelection, offer: UpgradeCandidates, choice: CandidateVersion
) -> Iterator[UpgradeWarning]:
    if offer.unread:
        yield _warning(f"{offer.unread}, and may not admit it ({offer.tool.command} get fetches modules)")
    days = counted(selection.terms.cooldown or 0, "day")
    if selection.terms.is_too_young(choice):
        yield _warning(f"{counted(choice.days or 0, 'day')} old, and the cooldown is {days}")
    if selection.terms.is_of_unknown_age(choice):
        yield _warning(f"release date unknown: the {selection.terms.cooldown}-day cooldown cannot be checked")


def _of_the_version(offer: UpgradeCandidates, choice: CandidateVersion) -> Iterator[UpgradeWarning]:
    if choice.excluding:
        yield _warning(f"the configuration excludes it: {edits_in_short(choice)} would be edited")
    if offer.locked is not None and not offer.is_newer(choice.version):
        yield _warning(f"older than {offer.locked}, which is locked")
    if lost := offer.lost_platforms(choice.version):
        yield _warning(f"has no package for {', '.join(map(str, lost))}, which {offer.locked} has")
    if not choice.is_usable:
        yield _warning(str(choice.holds[-1]))
    if choice.version.prerelease:
        yield _warning("a pre-release")
    if offer.is_excluded:
        words = f"the configuration does not admit {offer.locked}, which is locked: something has to be done"
        yield UpgradeWarning(Severity.INFO, words)
    if offer.is_withdrawn:
        yield _warning(f"the registry does not offer {offer.locked} any more, which is locked")
    if offer.bump(choice.version) is Bump.MAJOR and offer.is_newer(choice.version):
        yield UpgradeWarning(Severity.INFO, "a major version: read its release notes")


def _warning(words: str) -> UpgradeWarning:
    return UpgradeWarning(Severity.WARN, words)
