"""Objections to the signer of a release: the one place that says what a pin, or the signer before, has against it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.trust import Tier
from locklens.trust.authentication import AuthenticationOutcome, Refusal
from locklens.trust.continuity import SignerChange, judge_signer

if TYPE_CHECKING:
    from locklens.addresses import ProviderAddress
    from locklens.policy import Pin, Policy
    from locklens.releases.facts import ReleaseFacts
    from locklens.trust.authentication import Authentication


class SigningProblem(StrEnum):
    """The kind of an objection."""

    NOT_PINNED = "not pinned"
    """The policy pins the keys of its namespace, and none of them signs it."""
    OTHER_KEY = "other key"
    """Another key signed the earlier release."""
    NO_LONGER_SIGNED = "no longer signed"
    """The earlier release was signed."""


class SigningObjection(Struct, frozen=True):
    """What speaks against the signer of a release.

    Attributes:
        words: A sentence without a full stop.
        file: The policy, where it is the policy's; "" otherwise.
        line: The pin's line, from 1.
    """

    problem: SigningProblem
    words: str
    file: str = ""
    line: int | None = None

    @property
    def place(self) -> str:
        """File and line of the pin; "" where none objects."""
        return f"{self.file}:{self.line}" if self.file else ""


def signing_objection(
    policy: Policy, address: ProviderAddress, *, new: ReleaseFacts | None, old: ReleaseFacts | None = None
) -> SigningObjection | None:
    """Return what speaks against the signer of a release; None for nothing, and where its signer is unknown.

    Where a pin holds, it alone decides: a pinned key may be another than before.

    Args:
        policy: It may pin the keys of the provider's namespace.
        address: The provider.
        new: The release.
        old: An earlier one, such as that of the locked version; None to ask the policy alone.
    """
    pin = policy.pin(address)
    if new is not None and pin is not None:
        signed = _signed_by(new)
        if signed is None or pin.permits(signed):
            return None
        return SigningObjection(SigningProblem.NOT_PINNED, _pin_words(pin, signed), policy.file, pin.line)
    changed = signer_change(old, new)
    problem = _PROBLEMS.get(changed)
    return SigningObjection(problem, "the signer differs from that of the locked version") if problem else None


def has_say(policy: Policy, address: ProviderAddress) -> bool:
    """True if a policy decides who may sign a provider, so that it is worth asking who does."""
    return policy.pin(address) is not None


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
    """The judgement of a release that the tool accepts, signed or not; a skipped one has no key."""
    judged = facts.authentication if facts is not None else None
    is_accepted = judged is not None and judged.outcome in {
        AuthenticationOutcome.ACCEPTED,
        AuthenticationOutcome.SKIPPED,
    }
    return judged if is_accepted else None


def _signed_by(release: ReleaseFacts) -> str | None:
    """The fingerprint of the key that signs a release, "" if none does; None if that is unknown or it is refused.

    A good signature counts although the tool crashes after it was checked, since such a release can be locked.
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
