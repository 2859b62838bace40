"""gpg's words as values: its status lines about signatures, its listing of keys.

The words are described in GnuPG's doc/DETAILS. gpg is not run here; see `locklens.trust.signature`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from locklens.text import visible
from locklens.trust.model import Keyring, Signature, SignatureStatus, SigningKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

StatusLine = tuple[str, str]
"""A status line: its keyword, and the rest."""

MAX_USER_IDS = 20
MAX_USER_ID_LENGTH = 200
"""Names of a key, and characters of each, that are shown: a key may carry thousands, publishers' have one."""

_VERDICTS = {
    "GOODSIG": SignatureStatus.GOOD,
    "BADSIG": SignatureStatus.BAD,
    "EXPSIG": SignatureStatus.EXPIRED_SIGNATURE,
    "EXPKEYSIG": SignatureStatus.EXPIRED_KEY,
    "REVKEYSIG": SignatureStatus.REVOKED_KEY,
}
_NO_PUBLIC_KEY, _WRONG_KEY_USAGE = "9", "125"
_DIGESTS = {"1": "MD5", "2": "SHA1", "3": "RIPEMD160", "8": "SHA256", "9": "SHA384", "10": "SHA512", "11": "SHA224"}
_ALGORITHMS = {"1": "RSA", "2": "RSA", "3": "RSA", "17": "DSA", "19": "ECDSA", "22": "EdDSA", "27": "Ed25519"}
_KEY_ID = 4
"""The column of gpg's listing."""
_CURVES = {"ed25519": "Ed25519", "ed448": "Ed448"}


def read_signatures(
    lines: Sequence[StatusLine], listed: Mapping[str, Mapping[str, Any]], keyrings: Sequence[Keyring]
) -> tuple[Signature, ...]:
    """Return every signature of which gpg said how it is, in the order of the file.

    Args:
        lines: Status lines of one verification.
        listed: python-gnupg's entries by the primary key's fingerprint.
        keyrings: The keys that may vouch; no other does.
    """
    groups: list[list[StatusLine]] = []
    for keyword, value in lines:
        if keyword == "NEWSIG":
            groups.append([])
        elif groups:
            groups[-1].append((keyword, value))
    keys = {key.fingerprint: key for keyring in keyrings for key in keyring.keys}
    found = (_signature(group, listed, keys) for group in groups)
    return tuple(signature for signature in found if signature is not None)


def _signature(
    group: list[StatusLine], listed: Mapping[str, Mapping[str, Any]], keys: Mapping[str, SigningKey]
) -> Signature | None:
    said = dict(group)
    verdicts = [(status, said[keyword]) for keyword, status in _VERDICTS.items() if keyword in said]
    if "ERRSIG" in said:
        return _error(said["ERRSIG"].split())
    if len(verdicts) != 1:
        return None
    status, text = verdicts[0]
    issuer = text.partition(" ")[0].upper()
    if status is SignatureStatus.BAD:
        return Signature(status, issuer, key=_by_key_id(issuer, listed, keys))
    details = said.get("VALIDSIG", "").split()
    if len(details) < 10 or details[9] not in keys:
        return None if len(details) < 10 else Signature(SignatureStatus.UNKNOWN_ISSUER, issuer)
    return _matching(status, issuer, details, listed[details[9]], keys[details[9]])


def _matching(
    status: SignatureStatus, issuer: str, details: list[str], entry: Mapping[str, Any], key: SigningKey
) -> Signature:
    """Return a signature that the key did make; `details` are the words of gpg's VALIDSIG.

    One that was made in the future has expired, as the tools have it (`Signature.SigExpired` of go-crypto, in
    openpgp/packet/signature.go); gpg finds nothing wrong with it.
    """
    fingerprint, made, expires = details[0], details[2], details[3]
    if status is SignatureStatus.GOOD and not _is_past(made):
        status = SignatureStatus.EXPIRED_SIGNATURE
    subkey = entry.get("subkey_info", {}).get(fingerprint[-16:], {})
    revoked = status is SignatureStatus.REVOKED_KEY or key.revoked or subkey.get("trust") == "r"
    expired = status is SignatureStatus.EXPIRED_KEY or key.expired or subkey.get("trust") == "e"
    return Signature(
        SignatureStatus.REVOKED_KEY if revoked else status,
        issuer,
        matches=True,
        key=key,
        signing_fingerprint=fingerprint,
        made=_time(made),
        expires=_time(expires),
        digest=_DIGESTS.get(details[7], ""),
        signature_expired=status is SignatureStatus.EXPIRED_SIGNATURE,
        key_expired=expired,
        key_revoked=revoked,
    )


def _error(words: list[str]) -> Signature:
    """Read ERRSIG: key id, two algorithms, class, time, reason, fingerprint of the issuer where it is known."""
    reason = words[5] if len(words) > 5 else ""
    issuer = words[6] if len(words) > 6 and words[6] != "-" else words[0] if words else ""
    status = (
        SignatureStatus.UNKNOWN_ISSUER if reason in {_NO_PUBLIC_KEY, _WRONG_KEY_USAGE} else SignatureStatus.UNUSABLE
    )
    made = _time(words[4]) if len(words) > 4 else None
    return Signature(status, issuer.upper(), made=made, digest=_DIGESTS.get(words[2], "") if len(words) > 2 else "")


def _by_key_id(
    key_id: str, listed: Mapping[str, Mapping[str, Any]], keys: Mapping[str, SigningKey]
) -> SigningKey | None:
    for fingerprint, entry in listed.items():
        if fingerprint in keys and (fingerprint.endswith(key_id) or key_id in entry.get("subkey_info", {})):
            return keys[fingerprint]
    return None


def read_key(entry: Mapping[str, Any]) -> SigningKey:
    """Return a key from python-gnupg's entry of a listing."""
    return SigningKey(
        str(entry["fingerprint"]),
        tuple(_user_id(text) for text in entry["uids"][:MAX_USER_IDS]),
        _algorithm(entry),
        _time(str(entry["date"])) or "",
        _time(str(entry["expires"])),
        entry["trust"] == "e" or _is_past(str(entry["expires"])),
        entry["trust"] == "r",
    )


def _algorithm(entry: Mapping[str, Any]) -> str:
    name = _ALGORITHMS.get(str(entry["algo"]), f"algorithm {entry['algo']}")
    curve = str(entry.get("curve") or "")
    if curve:
        return _CURVES.get(curve, f"{name} {curve}")
    return f"{name} {entry['length']}"


def forged_keys(listing: bytes) -> frozenset[str]:
    """Return the key ids of the primary keys that have a self-signature or revocation that gpg finds bad.

    Args:
        listing: gpg's own, with `--with-sig-check`; without, nothing is found.
    """
    found, primary = set(), ""
    for line in listing.split(b"\n"):
        columns = line.split(b":", _KEY_ID + 1)
        if len(columns) <= _KEY_ID:
            continue
        if columns[0] in {b"pub", b"sec"}:
            primary = columns[_KEY_ID].decode("ascii", "replace")
        elif columns[0] in {b"sig", b"rev"} and columns[1] in {b"-", b"%"}:
            found.add(primary)
    return frozenset(found)


def _user_id(text: str) -> str:
    """Decode a user id, which python-gnupg decoded bytewise, and escape what cannot be printed."""
    return visible(text.encode("cp437", "replace").decode("utf-8", "replace")[:MAX_USER_ID_LENGTH])


def _time(seconds: str) -> str | None:
    if not seconds.isdecimal() or not int(seconds):
        return None
    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return None


def _is_past(seconds: str) -> bool:
    return seconds.isdecimal() and 0 < int(seconds) <= datetime.now(UTC).timestamp()
