"""Permissions by a published key's self-signatures, read as the tools' library reads them.

gpg verifies; which key it may verify with is decided here, for gpg is milder in this: it passes over self-signatures
that have expired or are malformed, and goes by the next older one, where go-crypto goes by the latest, or refuses the
key. The rules are those of `ReadEntity`, `PrimaryIdentity`, `KeysByIdUsage` (openpgp/keys.go) and
`checkSignatureDetails` (openpgp/read.go; `checkMessageSignatureDetails` in later versions) of ProtonMail's go-crypto,
v1.0.0 in Terraform 1.11.4 and v1.4.1 in OpenTofu 1.12.6. Where those two differ, and where a rule is not worth
following to the letter, the key is refused: secret keys, keys of versions 5 and 6, packets without a definite length.

The self-signatures are verified by gpg: what it finds bad refuses the key, as it does to the library.
"""

from __future__ import annotations

from enum import IntEnum
from hashlib import sha1
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.trust import Signature, SignatureStatus, SigningKey
from locklens.trust.packets import MalformedPacketError, SignaturePacket, packets_of, read_signature_packet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_SIGNATURE, _PUBLIC_KEY, _USER_ID, _PUBLIC_SUBKEY = 2, 6, 13, 14
_IGNORED = frozenset({10, 12, 21, *range(40, 64)})
"""Marker, trust and padding packets, and those that need not be understood: readers go on as if they were not there."""
_USER_ATTRIBUTE = 17

_CERTIFICATIONS = frozenset({0x10, 0x11, 0x12, 0x13})
_CERTIFICATION_REVOCATION, _KEY_REVOCATION = 0x30, 0x20
_SUBKEY_BINDING, _SUBKEY_REVOCATION = 0x18, 0x28

_MAY_SIGN = 0x02
"""The key flag for signing."""

_ALGORITHMS = frozenset({1, 2, 3, 16, 17, 18, 19, 22})
"""Key algorithms that both versions of the library read; the signature of a subkey that is passed over is misplaced."""
_SIGNING_ALGORITHMS = frozenset({1, 3, 17, 19, 22})

_MAX_SIGNERS = 256
"""The most signers of one armored text, each subkey counted for each possible primary user id; publishers have five."""


class Permission(IntEnum):
    """The permission by a key's self-signatures; graver is larger."""

    GOOD = 0
    KEY_EXPIRED = 1
    NOT_FOR_SIGNING = 2
    SIGNATURE_EXPIRED = 3
    REVOKED = 4
    UNUSABLE = 5


class _Span(Struct, frozen=True):
    """A time of validity, seconds since 1970; a `lifetime` of 0 has no end."""

    start: int
    lifetime: int

    @property
    def end(self) -> int:
        return self.start + self.lifetime if self.lifetime else 0

    def holds(self, now: float) -> bool:
        return self.start <= now and (not self.end or now < self.end)


class PublishedSigner(Struct, frozen=True):
    """A primary key or a subkey of one armored text, as its self-signatures have it.

    Attributes:
        key_id: 16 upper-case hex digits.
        primary: Fingerprint of the primary key.
        may_sign: True if the key flags are there and say so.
        is_revoked: True if it, its primary key or the primary user id was revoked.
        is_usable: True if no self-signature has a critical notation; the tools know none.
        keys: Validity of the primary key and the subkey.
        signatures: Validity of the self-signatures.
    """

    key_id: str
    primary: str
    may_sign: bool
    is_revoked: bool
    is_usable: bool
    keys: tuple[_Span, ...]
    signatures: tuple[_Span, ...]

    def permission(self, now: float) -> Permission:
        """Return what is permitted at a time (seconds since 1970), in the library's order."""
        if not self.may_sign:
            return Permission.NOT_FOR_SIGNING
        if not self.is_usable:
            return Permission.UNUSABLE
        if self.is_revoked:
            return Permission.REVOKED
        if not all(span.holds(now) for span in self.keys):
            return Permission.KEY_EXPIRED
        return Permission.GOOD if all(span.holds(now) for span in self.signatures) else Permission.SIGNATURE_EXPIRED

    @property
    def ends(self) -> tuple[float, ...]:
        """Times when anything of it expires, seconds since 1970."""
        return tuple(float(span.end) for span in (*self.keys, *self.signatures) if span.end)


def permission_of(signers: Iterable[PublishedSigner], now: float) -> Permission:
    """Return the gravest of what is permitted: the same key may be listed twice, with other self-signatures."""
    return max((signer.permission(now) for signer in signers), default=Permission.NOT_FOR_SIGNING)


def as_permitted(
    signature: Signature,
    packet: SignaturePacket,
    signers: Sequence[PublishedSigner],
    key: SigningKey | None,
    now: float,
) -> Signature:
    """Return a signature with what the tools, as they read its packet, find against it, besides what gpg does."""
    permission = permission_of(signers, now)
    if permission is Permission.NOT_FOR_SIGNING or key is None:
        # The tools look for another signature, whatever this one is.
        return Signature(SignatureStatus.UNKNOWN_ISSUER, signature.issuer)
    if signature.status is SignatureStatus.BAD:
        return replace(signature, key=key)
    is_usable = (
        signature.matches
        and signature.key == key
        and signature.signing_fingerprint[-16:] == packet.issuer
        and permission is not Permission.UNUSABLE
        and not packet.has_critical_notation
        and not packet.is_disputed
    )
    if not is_usable:
        return Signature(SignatureStatus.UNUSABLE, signature.issuer, key=key)
    revoked = signature.key_revoked or permission is Permission.REVOKED
    signature_expired = signature.signature_expired or permission is Permission.SIGNATURE_EXPIRED
    # An expired key, which both tools forgive, hides an expired signature: where they see it, not where gpg alone does.
    key_expired = permission is Permission.KEY_EXPIRED or (signature.key_expired and not signature_expired)
    status = SignatureStatus.EXPIRED_KEY if key_expired else SignatureStatus.GOOD
    status = SignatureStatus.EXPIRED_SIGNATURE if signature_expired else status
    status = SignatureStatus.REVOKED_KEY if revoked else status
    return replace(
        signature, status=status, key_revoked=revoked, key_expired=key_expired, signature_expired=signature_expired
    )


class _Identity(Struct):
    """A user id and what the primary key signed of it."""

    latest: SignaturePacket | None = None
    revocations: int = 0

    @property
    def rank(self) -> tuple[int, bool, int]:
        """The smallest is the primary user id's."""
        latest = self.latest
        return (self.revocations, not (latest and latest.is_primary), -latest.made if latest else 0)


class _Subkey(Struct):
    body: bytes
    latest: SignaturePacket | None = None
    is_revoked: bool = False


class _Entity:
    """One transferable public key (RFC 9580, section 10.1) while it is read."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.fingerprint = _fingerprint(body)
        self.is_refused = body[5] not in _SIGNING_ALGORITHMS
        self.is_revoked = False
        self.identities: dict[bytes, _Identity] = {}
        self.subkeys: list[_Subkey] = []
        self.target: tuple[bytes, _Identity] | _Subkey | None = None

    def take(self, tag: int, body: bytes) -> None:
        """Take the next packet after the primary key."""
        if tag == _SIGNATURE:
            signature = read_signature_packet(body)
            if signature is not None:
                self._sign(signature)
        elif tag == _USER_ID:
            self.target = (body, _Identity())
        elif tag == _PUBLIC_SUBKEY:
            self.target = _Subkey(body)
            self.subkeys.append(self.target)
        elif tag == _USER_ATTRIBUTE:
            self.target = None

    def _sign(self, signature: SignaturePacket) -> None:
        if isinstance(self.target, _Subkey):
            self._bind(self.target, signature)
        elif self.target is not None:
            self._certify(*self.target, signature)
        elif signature.kind == _KEY_REVOCATION:
            # The library refuses the key for one that is not of this key.
            self.is_revoked = True

    def _certify(self, user_id: bytes, identity: _Identity, signature: SignaturePacket) -> None:
        if signature.kind not in {*_CERTIFICATIONS, _CERTIFICATION_REVOCATION}:
            self.is_refused = True
        if not signature.names(self.fingerprint):
            return
        self.is_refused |= signature.is_disputed
        if signature.kind == _CERTIFICATION_REVOCATION:
            identity.revocations += 1
        elif identity.latest is None or signature.made > identity.latest.made:
            identity.latest = signature
        self.identities[user_id] = identity

    def _bind(self, subkey: _Subkey, signature: SignaturePacket) -> None:
        is_certified = signature.embedded is not None or not signature.flags & _MAY_SIGN
        if (
            signature.kind not in {_SUBKEY_BINDING, _SUBKEY_REVOCATION}
            or not is_certified
            or signature.is_disputed
            or not signature.names(self.fingerprint)
        ):
            self.is_refused = True
        elif signature.kind == _SUBKEY_REVOCATION:
            subkey.is_revoked = True
        elif subkey.latest is None or signature.made > subkey.latest.made:
            subkey.latest = signature

    def signers(self) -> list[PublishedSigner]:
        """Return the keys that signatures may name; none where the library refuses the entity."""
        if self.is_refused or not self.identities or any(subkey.latest is None for subkey in self.subkeys):
            return []
        best = min(identity.rank for identity in self.identities.values())
        # Of user ids of the same rank the library takes any: a map has no order.
        primaries = [identity for identity in self.identities.values() if identity.rank == best]
        if len(primaries) * (1 + len(self.subkeys)) > _MAX_SIGNERS:
            return []
        return [signer for primary in primaries for signer in self._signers(primary)]

    def _signers(self, identity: _Identity) -> list[PublishedSigner]:
        is_revoked = self.is_revoked or identity.revocations > 0
        latest = identity.latest
        if latest is None:  # Revoked, and never certified.
            return [self._signer(self.body, (), is_revoked=True)]
        found = [self._signer(self.body, ((self.body, latest),), is_revoked=is_revoked)]
        for subkey in self.subkeys:
            if subkey.latest is not None:
                signed = ((self.body, latest), (subkey.body, subkey.latest))
                found.append(self._signer(subkey.body, signed, is_revoked=is_revoked or subkey.is_revoked))
        return found

    def _signer(
        self, body: bytes, signed: tuple[tuple[bytes, SignaturePacket], ...], *, is_revoked: bool
    ) -> PublishedSigner:
        """Return the key of a body; `signed` are its primary key and itself, each with its self-signature."""
        signatures = [signature for _, signature in signed]
        if len(signed) > 1:
            signatures += [last.embedded for last in signatures[-1:] if last.embedded is not None]
        return PublishedSigner(
            _fingerprint(body)[-16:],
            self.fingerprint,
            may_sign=not signed or bool(signed[-1][1].flags & _MAY_SIGN),
            is_revoked=is_revoked,
            is_usable=not any(one.has_critical_notation or one.is_disputed for one in signatures),
            keys=tuple(_Span(int.from_bytes(key[1:5], "big"), one.key_lifetime) for key, one in signed),
            signatures=tuple(_Span(one.made, one.lifetime) for one in signatures),
        )


def published_signers(data: bytes) -> tuple[PublishedSigner, ...]:
    """Return the keys of an armored text's packets that a signature may name.

    They are primary keys and subkeys; one more than once where it is not determined what the library would see. None at
    all where the library could not read the text, or where they are too many. The time taken is proportional to the
    bytes.
    """
    entities: list[_Entity] = []
    try:
        for tag, body in packets_of(data):
            if tag in {_PUBLIC_KEY, _PUBLIC_SUBKEY} and (len(body) < 7 or body[0] != 4 or body[5] not in _ALGORITHMS):
                return ()
            if tag == _PUBLIC_KEY:
                entities.append(_Entity(body))
            elif tag in {_SIGNATURE, _USER_ID, _PUBLIC_SUBKEY, _USER_ATTRIBUTE}:
                if entities:
                    entities[-1].take(tag, body)
            elif tag not in _IGNORED:
                return ()
    except MalformedPacketError:
        return ()
    found: list[PublishedSigner] = []
    for entity in entities:
        found += entity.signers()
        if len(found) > _MAX_SIGNERS:
            return ()
    return tuple(found)


def by_key_id(signers: Iterable[PublishedSigner]) -> Mapping[str, tuple[PublishedSigner, ...]]:
    """Return the keys by what signatures name them by."""
    found: dict[str, tuple[PublishedSigner, ...]] = {}
    for signer in signers:
        found[signer.key_id] = (*found.get(signer.key_id, ()), signer)
    return found


def _fingerprint(body: bytes) -> str:
    """Return the fingerprint of a key of version 4 (RFC 9580, section 5.5.4.2)."""
    hashed = b"\x99" + (len(body) & 0xFFFF).to_bytes(2, "big") + body
    return sha1(hashed, usedforsecurity=False).hexdigest().upper()
