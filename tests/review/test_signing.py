"""What speaks against the signer of a release: a pin, or the key before."""

from __future__ import annotations

import pytest

from locklens.addresses import ProviderAddress
from locklens.dialect import TERRAFORM
from locklens.policy import parse
from locklens.releases import ReleaseFacts, ReleaseId
from locklens.review.rules.release import SigningProblem, signing_objection
from locklens.trust import SigningKey, Tier
from locklens.trust.authentication import Authentication, AuthenticationOutcome, Refusal
from locklens.versions import Version

ADDRESS = ProviderAddress("registry.terraform.io", "acme", "demo")
OURS, THEIRS = "A" * 40, "B" * 40
PINNED = parse(f'[trust.acme]\nkeys = ["{OURS}"]'.encode(), "locklens.toml")
ELSEWHERE = parse(f'[trust."registry.example.com/acme"]\nkeys = ["{OURS}"]'.encode(), "locklens.toml")

ACCEPTED, REFUSED, SKIPPED, UNKNOWN = (
    AuthenticationOutcome.ACCEPTED,
    AuthenticationOutcome.REFUSED,
    AuthenticationOutcome.SKIPPED,
    AuthenticationOutcome.UNKNOWN,
)


def release(
    outcome: AuthenticationOutcome | None = ACCEPTED, key: str = "", refusal: Refusal | None = None, foreign: str = ""
) -> ReleaseFacts:
    signed_by = SigningKey(key, (), "Ed25519", "2026-01-01", None, expired=False, revoked=False) if key else None
    judged = Authentication(outcome, Tier.PARTNER, signed_by, refusal) if outcome is not None else None
    name = ReleaseId(TERRAFORM.name, ADDRESS, Version.parse("1.0.0"))
    return ReleaseFacts(name, authentication=judged, foreign=foreign)


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (release(key=OURS), ""),
        (release(key=THEIRS), f"signed by {THEIRS}; the policy pins acme to {OURS}"),
        (release(SKIPPED), f"not signed; the policy pins acme to {OURS}"),
        (release(REFUSED, THEIRS, Refusal.CRASH), f"signed by {THEIRS}; the policy pins acme to {OURS}"),
        (release(REFUSED, THEIRS, Refusal.BAD_SIGNATURE), ""),
        (release(UNKNOWN), ""),
        (release(None), ""),
        (release(key=THEIRS, foreign="acme_other 1.0.0"), ""),
    ],
)
def test_a_pin_objects_to_any_other_key_that_is_known_to_sign(new: ReleaseFacts, words: str) -> None:
    objection = signing_objection(PINNED, ADDRESS, new=new)
    assert (objection.words if objection is not None else "") == words
    if objection is not None:
        assert (objection.problem, objection.place) == (SigningProblem.NOT_PINNED, "locklens.toml:1")


def test_where_a_pin_holds_the_earlier_signer_does_not_count() -> None:
    moved = {"new": release(key=OURS), "old": release(key=THEIRS)}
    assert signing_objection(PINNED, ADDRESS, **moved) is None
    other = signing_objection(ELSEWHERE, ADDRESS, **moved)
    assert other is not None
    assert (other.problem, other.place) == (SigningProblem.OTHER_KEY, "")


def test_a_lost_signature_is_an_objection_and_a_gained_one_is_none() -> None:
    lost = signing_objection(ELSEWHERE, ADDRESS, new=release(SKIPPED), old=release(key=OURS))
    assert lost is not None
    assert lost.problem is SigningProblem.NO_LONGER_SIGNED
    assert signing_objection(ELSEWHERE, ADDRESS, new=release(key=OURS), old=release(SKIPPED)) is None
    assert signing_objection(ELSEWHERE, ADDRESS, new=release(UNKNOWN), old=release(key=OURS)) is None
