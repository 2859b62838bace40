"""Causes in the release and its signature: each function tests one, and returns None where it does not apply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor.model import Cause, CauseId, CauseVerdict, NetworkReason, PackagePath
from locklens.hashes import is_of_zip, packages_of, zh_of
from locklens.text import counted
from locklens.trust.authentication import Refusal

if TYPE_CHECKING:
    from locklens.doctor.examined import Examined
    from locklens.trust.authentication import Authentication

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO

_EMPTY_FILE = zh_of("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")


def republished(x: Examined) -> Cause | None:
    """Test if the locked packages are still those of the signed release."""
    if x.entry is None:
        return None
    if not x.packed:
        words = f"no zh of {x.release} is locked, so there is nothing signed to compare"
        return Cause(CauseId.REPUBLISHED, _UNKNOWN, words, "the earlier SHA256SUMS of the release, from its publisher")
    if not x.is_known:
        kinds = {"sums-differ", "archive-checksum", "registry-hashes"}
        verdict = _LIKELY if x.error is not None and x.error.kind in kinds else _UNKNOWN
        return Cause(CauseId.REPUBLISHED, verdict, "the release of today is unknown", x.why_unknown)
    total = counted(len(x.packed), "locked zh", "locked zh")
    if not x.stale and (before := _replaced(x)):
        return Cause(CauseId.REPUBLISHED, _YES, before, as_of=x.as_of)
    if not x.stale:
        by = f", signed by {_signer(x)}" if _signer(x) else ""
        words = f"{len(x.packed)} of {total} are in the SHA256SUMS of today{by}"
        return Cause(CauseId.REPUBLISHED, _NO, words, as_of=x.as_of)
    theirs = frozenset[str]().union(*x.case.packages.elsewhere.values()) if x.case is not None else frozenset[str]()
    donors = frozenset(text for _, entry in x.donors() for text in entry.hashes)
    left = x.stale - theirs - donors
    if not left:
        words = f"{len(x.stale)} of {total} are not of this release, and they are known from elsewhere"
        return Cause(CauseId.REPUBLISHED, _NO, words, as_of=x.as_of)
    words = f"{len(left)} of {total} are no longer in {x.sums}: it was published again with other packages"
    verdict = _YES if left == x.packed else _LIKELY
    return Cause(CauseId.REPUBLISHED, verdict, words, as_of=x.as_of)


def _replaced(x: Examined) -> str:
    """Return how an earlier commit locked this version with packages that it has no longer; "" if none did."""
    assert x.entry is not None
    theirs = frozenset(text for _, entry in x.donors() for text in entry.hashes)
    theirs |= frozenset[str]().union(*x.case.packages.elsewhere.values()) if x.case is not None else frozenset()
    for past in x.past:
        entry = past.entry
        if entry is None or entry.version != x.entry.version:
            continue
        gone = packages_of(entry.hashes) - x.listed - x.packed - theirs
        if gone and gone == packages_of(entry.hashes):
            words = f"commit {past.commit[:12]} locks {counted(len(gone), 'other zh', 'other zh')} of {x.release}"
            return f"{words}, none of them in its SHA256SUMS of today; the lock file here has those of today"
    return ""


def _signer(x: Examined) -> str:
    """Return the end of the signer's fingerprint, with a name; "" without one."""
    judged = x.case.new.authentication if x.case is not None else None
    key = judged.signed_by if judged is not None else None
    return f"{key.fingerprint}" if key is not None else ""


def yanked(x: Examined) -> Cause | None:
    """Test if the registry lists the version."""
    version = x.entry.version if x.entry is not None else None
    if x.address is None or version is None:
        return None
    listing = x.case.listing if x.case is not None else None
    if listing is None or not listing.is_known:
        return Cause(CauseId.YANKED, _UNKNOWN, "the versions of today are unknown", x.why_unknown)
    if listing.has(version):
        words = f"{x.address.host} lists {version}"
        return Cause(CauseId.YANKED, _NO, words, as_of=listing.as_of)
    words = f"{x.address.host} does not list {version}, among {counted(len(listing.versions), 'version')}"
    return Cause(CauseId.YANKED, _YES, words, as_of=listing.as_of)


def _judged(x: Examined) -> Authentication | None:
    return x.case.new.authentication if x.case is not None else None


def key_revoked(x: Examined) -> Cause | None:
    """Test if the signing key was revoked."""
    judged = _judged(x)
    key = judged.key if judged is not None else None
    if judged is not None and (judged.refusal is Refusal.REVOKED_KEY or (key is not None and key.revoked)):
        name = key.fingerprint if key is not None else "the signing key"
        return Cause(CauseId.KEY_REVOKED, _YES, f"{name} was revoked by its owner", as_of=x.as_of)
    if "revoked" in x.text:
        return Cause(CauseId.KEY_REVOKED, _YES, "the message says so", as_of=x.as_of)
    if key is not None:
        return Cause(CauseId.KEY_REVOKED, _NO, f"{key.fingerprint} is not revoked", as_of=x.as_of)
    return Cause(CauseId.KEY_REVOKED, _UNKNOWN, "the message does not tell", x.why_unknown)


def key_expired(x: Examined) -> Cause | None:
    """Test if the signing key or the signature has expired, and if the tool refuses that."""
    judged = _judged(x)
    key = judged.key if judged is not None else None
    if judged is not None and judged.refusal is Refusal.EXPIRED_SIGNATURE:
        return Cause(CauseId.KEY_EXPIRED, _YES, str(judged.refusal), as_of=x.as_of)
    if "expired" in x.text:
        when = f": {key.fingerprint} expired {key.expires}" if key is not None and key.expired else ""
        return Cause(CauseId.KEY_EXPIRED, _YES, f"the message says so{when}", as_of=x.as_of)
    if key is not None and key.expired:
        if x.error is not None and x.error.kind in {"unknown-issuer", "not-signed", "bad-signature"}:
            words = f"{key.fingerprint} expired {key.expires}; OpenTofu refuses it where expiration is enforced"
            return Cause(CauseId.KEY_EXPIRED, _LIKELY, words, "OPENTOFU_ENFORCE_GPG_EXPIRATION of the runner", x.as_of)
        words = f"{key.fingerprint} expired {key.expires}, which {x.tool.product} accepts"
        return Cause(CauseId.KEY_EXPIRED, _NO, words, as_of=x.as_of)
    if key is not None:
        until = f"is valid until {key.expires}" if key.expires else "does not expire"
        return Cause(CauseId.KEY_EXPIRED, _NO, f"{key.fingerprint} {until}", as_of=x.as_of)
    return Cause(CauseId.KEY_EXPIRED, _UNKNOWN, "the message does not tell", x.why_unknown)


def key_changed(x: Examined) -> Cause | None:
    """Test if the release is signed by another key than its neighbour, or by one that the registry does not list."""
    judged = _judged(x)
    if judged is None:
        return Cause(CauseId.KEY_CHANGED, _UNKNOWN, "the signature of today is unknown", x.why_unknown)
    if judged.refusal in {Refusal.UNKNOWN_ISSUER, Refusal.NO_KEYS, Refusal.BROKEN_KEY}:
        return Cause(CauseId.KEY_CHANGED, _YES, str(judged.refusal), as_of=x.as_of)
    before = x.neighbour.keys[0] if x.neighbour is not None and x.neighbour.keys else None
    key = judged.signed_by
    if key is None or before is None:
        missing = "" if judged.problem is None else f"{judged.problem}: {judged.problem.hint}"
        missing = missing or "who signed the version before"
        return Cause(CauseId.KEY_CHANGED, _UNKNOWN, "the signers cannot be compared", missing, x.as_of)
    version = x.neighbour.version if x.neighbour is not None else ""
    if key.fingerprint == before.fingerprint:
        words = f"{key.fingerprint} signed {version} too"
        return Cause(CauseId.KEY_CHANGED, _NO, words, as_of=x.as_of)
    words = f"signed by {key.fingerprint}, and {version} by {before.fingerprint}"
    return Cause(CauseId.KEY_CHANGED, _LIKELY, words, "the publisher's word on its new key", x.as_of)


def download_damaged(x: Examined) -> Cause | None:
    """Test if the file that arrived is another one than the release's, also by what arrives here."""
    cause = _of_message(x)
    if cause is None or not x.downloads or cause.verdict is _NO:
        return cause
    total, sound = len(x.downloads), x.downloads[-1] in x.listed
    if sound and total == 1:
        words = "downloaded here, it is the signed package: it was damaged on the way, once or there alone"
        return replace(cause, evidence=f"{cause.evidence}; {words}", missing="")
    broken, kinds = x.downloads.count(""), len(set(x.downloads))
    if sound:
        damaged = f"{total - 1} of {total} downloads here {'was' if total == 2 else 'were'} damaged too"
        words = f"{damaged}, and the last is the signed package: the way here is unreliable"
    elif broken == total:
        words = f"{total} of {total} downloads here broke off: the server or a proxy on the way cuts the file"
    elif kinds == 1:
        words = (
            f"{total} of {total} downloads here gave the same other bytes ({x.downloads[0][:11]}...): the server or a "
            "proxy has another file, and trying again does not help"
        )
    else:
        words = f"{total} downloads here gave {kinds} different files: it is damaged on the way, by a proxy or the line"
    return replace(cause, verdict=_YES, evidence=f"{cause.evidence}; {words}", missing="", as_of=x.as_of)


def _of_message(x: Examined) -> Cause | None:
    error = x.error
    if error is None:
        return None
    zhs = [text for text in error.hashes if is_of_zip(text)]
    if _EMPTY_FILE in zhs[:1]:
        return Cause(CauseId.DOWNLOAD_DAMAGED, _YES, "the file that arrived was empty: its hash is that of no bytes")
    if error.kind == "archive-checksum" and len(zhs) > 1:
        return _archive(x, zhs[0], zhs[1])
    given = [one for one in x.packages if one.origin.kind == "given" and one.zh]
    if given and x.is_known:
        is_genuine = given[0].zh in x.listed
        words = f"{given[0].origin.path} is {'' if is_genuine else 'not '}a package of the signed release"
        return Cause(CauseId.DOWNLOAD_DAMAGED, _NO if is_genuine else _YES, words, as_of=x.as_of)
    if error.kind in {"download-cut", "package-damaged", "oci-damaged"}:
        return Cause(CauseId.DOWNLOAD_DAMAGED, _LIKELY, "the message is of a file that is incomplete or no package")
    if error.reason is NetworkReason.BROKEN:
        return Cause(CauseId.DOWNLOAD_DAMAGED, _LIKELY, str(error.reason))
    path = x.incident.path
    if error.kind == "current-package" and path is PackagePath.DIRECT:
        words = "the tool compares a registry's zip file with its signed SHA256SUMS before the lock file"
        return Cause(CauseId.DOWNLOAD_DAMAGED, _NO, words)
    if error.kind == "current-package" and path is None:
        words = "a registry's package is compared with its signed list before; a mirror's is not"
        return Cause(CauseId.DOWNLOAD_DAMAGED, _UNKNOWN, words, "the origin of the package: --install-path")
    missing = "the package of the failing run: --package FILE, or --package zh:HASH"
    return Cause(CauseId.DOWNLOAD_DAMAGED, _UNKNOWN, "the file that arrived is not known", missing)


def _archive(x: Examined, actual: str, named: str) -> Cause:
    if not x.is_known:
        words = f"the file is {actual[:11]}..., and {named[:11]}... was named"
        return Cause(CauseId.DOWNLOAD_DAMAGED, _LIKELY, words, x.why_unknown)
    if actual in x.listed:
        words = "the file that arrived is in the signed SHA256SUMS: what named the other hash is out of date"
        return Cause(CauseId.DOWNLOAD_DAMAGED, _NO, words, as_of=x.as_of)
    if named in x.listed:
        words = f"the named hash is the signed one, and the file that arrived ({actual[:11]}...) is in no signed list"
        return Cause(CauseId.DOWNLOAD_DAMAGED, _YES, words, as_of=x.as_of)
    return Cause(CauseId.DOWNLOAD_DAMAGED, _LIKELY, "neither hash is in the signed SHA256SUMS", as_of=x.as_of)
