"""The kind of publisher that signed a release, determined by the two keys that HashiCorp publishes.

The security key signs HashiCorp's own providers. The partners key signs the keys of its partners, and the registry
hands that signature out beside the key. The keys are in `keys/`, as https://www.hashicorp.com/security and Terraform's
sources have them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from locklens.trust.model import Tier
from locklens.trust.packets import dearmored

if TYPE_CHECKING:
    from locklens.trust.model import Signature, Verification

SECURITY, PARTNERS = "hashicorp-security", "hashicorp-partners"

SECURITY_KEY_IDS = frozenset({"34365D9472D7468F", "B0B441097685B676", "C820C6D5CD27AB87"})
"""The security key and its subkeys that sign: gpg is not asked about signatures that name none of them."""


class PublishedKey(Struct, frozen=True):
    """A key as a registry lists it, and what it claims HashiCorp's partners key to have signed."""

    armor: str
    trust_signature: str = ""


class Verifying(Protocol):
    """The part of `locklens.trust.signature.Verifier` in use."""

    def verify(self, data: bytes, signature: bytes, armored_keys: tuple[str, ...]) -> Verification:
        """Hold a detached signature against keys."""


@cache
def hashicorp_key(name: str) -> str:
    """Return one of HashiCorp's keys, armored; `name` is SECURITY or PARTNERS."""
    return (Path(__file__).with_name("keys") / f"{name}.asc").read_text("ascii")


def tier_of(
    sums: bytes, signature: bytes, verification: Verification, published: PublishedKey, verifier: Verifying
) -> Tier | None:
    """Return the tier of a release that is well signed by a published key.

    Args:
        sums: SHA256SUMS.
        signature: Its signature file.
        verification: What is known of that already, with the published keys.
        published: The key that signed.
        verifier: Asks gpg.

    Returns:
        OFFICIAL, PARTNER or SELF_SIGNED; None where the key comes with a trust signature that is bad, for which
        Terraform refuses the release.
    """
    named = {one.issuer[-16:] for one in verification.signatures}
    if named & SECURITY_KEY_IDS and _is_signed(sums, signature, SECURITY, verifier):
        return Tier.OFFICIAL
    if not published.trust_signature:
        return Tier.SELF_SIGNED
    # The trust signature is over the key's bytes, not over its text; and it is the one signature that comes armored.
    key, trust = dearmored(published.armor.encode()), dearmored(published.trust_signature.encode())
    if key is None or trust is None:
        return None
    return Tier.PARTNER if _is_signed(key, trust, PARTNERS, verifier) else None


def _is_signed(data: bytes, signature: bytes, name: str, verifier: Verifying) -> bool:
    """True if one of HashiCorp's keys signed, as Terraform sees it: the first signature that names it counts."""
    found = verifier.verify(data, signature, (hashicorp_key(name),))
    named = [one for one in found.signatures if one.key is not None]
    return bool(named) and found.problem is None and _counts(named[0])


def _counts(signature: Signature) -> bool:
    if not signature.matches or signature.key_revoked:
        return False
    return signature.key_expired or not signature.signature_expired
