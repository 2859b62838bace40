"""Causes in the release and its signature: each function tests one, and returns None where it does not apply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from locklens.doctor.arrivals import assumed_words
from locklens.doctor.entry_since import blocking_rule
from locklens.doctor.examined import WHOLE_LIST, Examined, zh_of_packages
from locklens.doctor.lacking_causes import OF_THAT_TIME, missing_sums
from locklens.doctor.model import Basis, CauseVerdict, Judgement, PackagePath
from locklens.doctor.origins import differing_characters
from locklens.doctor.reasons import NetworkReason
from locklens.hashes import is_of_zip, packages_of, zh_of
from locklens.text import clauses, counted
from locklens.trust.authentication import Authentication, Refusal

if TYPE_CHECKING:
    from locklens.doctor import FoundPackage

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO

_EMPTY_FILE = zh_of("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")


def republished(x: Examined) -> Judgement | None:
    """Test if the locked packages are still those of the signed release."""
    if x.entry is None or x.is_of_upgrade or x.is_taken_over:
        return None
    if not x.packed:
        words = f"no zh of a package of {x.release} is locked, so there is nothing signed to compare"
        return Judgement(_UNKNOWN, words, "the earlier SHA256SUMS of the release, from its publisher")
    if x.message.kind == "sums-differ" and x.packed.intersection(x.message.hashes[:1]):
        return Judgement(_NO, "the signed list that arrived in the failing run has the hash that is locked")
    if x.named_and_locked:
        return Judgement(_NO, "the mirror's index named a hash that is locked, in the failing run", basis=Basis.RUN)
    if not x.today.is_known:
        return _of_a_release_unknown_today(x)
    total = zh_of_packages(len(x.packed), "locked ")
    if not x.stale and (before := _replaced(x)):
        return _of_signed_hashes(x, before, past=True)
    if not x.stale:
        by = f", signed by {signer}" if (signer := _signer(x)) else ""
        return _of_today(x, f"{len(x.packed)} of {total} are in the SHA256SUMS of today{by}")
    before = x.origins.before_edit.commit[:12] if x.origins.before_edit is not None else ""
    if (typed := x.origins.typed) is not None:
        characters = counted(differing_characters(*typed), "character")
        return Judgement(_NO, f"{typed[0][:11]}... differs from a zh of {x.sums} in {characters}", as_of=x.today.as_of)
    left = x.origins.strange
    if not left:
        words = f"{len(x.stale)} of {total} are not of this release: all of them are of another release or registry"
        return Judgement(_NO, words, as_of=x.today.as_of)
    if x.today.hashes_of:
        words = f"the locked zh of packages are of the signed release {x.today.hashes_of}, and never were of this one"
        return Judgement(_NO, words, as_of=x.today.as_of)
    words = f"{len(left)} of {total} are not in {x.sums}"
    if x.origins.edit_commit:
        words = f"{words}; commit {before} locks packages of it, and commit {x.origins.edit_commit[:12]} wrote others"
        return Judgement(_UNKNOWN, words, "the release of that time", x.today.as_of, basis=Basis.HASHES)
    if (twin := x.origins.sound_twin) is not None:
        words = f"{words}; {twin.lock_file}:{twin.entry.line} locked packages of it before"
        return Judgement(_UNKNOWN, words, "the release of that time", x.today.as_of, basis=Basis.HASHES)
    if left != x.packed:
        return Judgement(
            _LIKELY, clauses(words, _beside(x)), _EARLIER, x.today.as_of, basis=Basis.HASHES, title=_NEVER_WAS
        )
    return _of_signed_hashes(x, words)


def _beside(x: Examined) -> str:
    """Return that today's packages are locked, too, so that init accepts them, in a clause; "" where they are not."""
    wanted = {zh for platform, zh in x.today.platforms.items() if x.platform in {"", platform}}
    if not wanted or not wanted <= x.packed:
        return ""
    is_committed = x.origins.is_committed
    before = next(iter(x.history.states[is_committed : is_committed + 1]), None)
    words = "those of today are locked beside them"
    if before is not None and before.entry is not None and not wanted & before.accepted:
        who = f"commit {x.history.states[0].commit[:12]}" if is_committed else "a change that is not committed"
        words = f"{who} locks those of today beside them, which a review blocks ({blocking_rule(x)})"
    return f"{words}: init accepts the package of today now"


def _of_today(x: Examined, words: str) -> Judgement:
    """Judge a release that has the locked packages today: the failing run may have met another one for a time."""
    if not x.met_release or x.packed.intersection(x.message.hashes):
        return Judgement(_NO, words, as_of=x.today.as_of, basis=Basis.HASHES)
    words = f"{words}; if its lock file was this one, the failing run got another release for a time, or another source"
    if x.is_path_of_run and x.incident.path is PackagePath.DIRECT:
        title = "the registry had another release of the version for a time, or the run had another lock file"
        return Judgement(_LIKELY, words, OF_THAT_TIME, x.today.as_of, basis=Basis.RUN, title=title)
    return Judgement(_UNKNOWN, words, OF_THAT_TIME, x.today.as_of, basis=Basis.RUN)


_NEVER_WAS = "the version was published again, or what is locked never belonged to it"
_EARLIER = "whether the locked hashes were signed once: an earlier package, or the publisher"


def _of_signed_hashes(x: Examined, words: str, *, past: bool = False) -> Judgement:
    """Judge locked hashes that the release does not have: certain if a package shows that they were of it once.

    Today's list cannot tell a release that was replaced from a hash that never belonged to it.
    """
    states = [one for one in x.history.states if past and x.entry is not None and one.is_of(x.entry.version)]
    locked = x.locked.union(*(one.accepted for one in states))
    copies = [one for one in x.places.packages if one.kind != "mirror" and one.hashes & locked]
    once = next((one for one in copies if _is_of_earlier_release(x, one)), None)
    if once is None or len(x.packed) < WHOLE_LIST:  # a mirror's own package, or a list that was made from one
        is_told = len(x.packed) >= WHOLE_LIST and any(x.is_told_by_download(one.platform) for one in copies)
        judged = Judgement(_LIKELY, words, _EARLIER, x.today.as_of, basis=Basis.HASHES, title=_NEVER_WAS)
        return replace(judged, is_by_download=is_told)
    words = f"{words}; {once.path} is a package that they were locked from, and not today's"
    title = "the release has other packages than those that were locked for its version"
    return _of_its_path(x, Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES, title=title))


def _is_of_earlier_release(x: Examined, one: FoundPackage) -> bool:
    """True if a package that is locked is not today's of its platform."""
    today = x.computed.get(one.platform)
    return (one.zh != "" and one.zh in x.stale) or (today is not None and today not in one.of_files)


def _of_a_release_unknown_today(x: Examined) -> Judgement:
    """Return what the message, the entry and git alone tell."""
    kind = x.message.kind
    others = x.origins.entries_of_other_versions()
    other = next(((where, one) for where, one in others if x.packed <= packages_of(one.hashes)), None)
    if other is not None:
        return Judgement(_NO, f"all locked zh of packages are those of {other[1].version} ({other[0]})")
    words = "the release of today is unknown"
    arrived, named = x.message.hashes[:1], x.message.hashes[1:2]
    if kind == "archive-checksum" and x.packed.intersection(arrived):
        words = f"the file that arrived is locked, and the registry names another one; {words}"
        return Judgement(_LIKELY, words, x.why_unknown, basis=Basis.HASHES)
    if kind == "archive-checksum" and x.packed.intersection(named):
        words = f"the failing run was told the hash that is locked; {words}"
        return Judgement(_UNKNOWN, words, x.why_unknown, basis=Basis.RUN)
    path = x.incident.path
    is_of_path = kind == "current-package" and (path is None or not path.is_mirror) and not x.is_of_other_version
    if is_of_path and len(x.packed) >= WHOLE_LIST:
        total = zh_of_packages(len(x.packed))
        words = f"{total} are locked, which may be the whole list, and the package is none of them"
        if (fewer := next((one for one in x.origins.earlier_states if not x.packed <= one.accepted), None)) is not None:
            was = f"commit {fewer.commit[:12]} locks" if fewer.commit else "before locklens wrote it, the entry had"
            had = zh_of_packages(len(zhs)) if (zhs := packages_of(fewer.accepted)) else "no zh"
            words = f"{total} are locked, and {was} {had}: which of the two entries the failing run had is not known"
            return Judgement(_UNKNOWN, words, x.why_unknown, basis=Basis.GUESS)
        verdict = _UNKNOWN if path is None else _LIKELY  # a mirror may have packed a sound release anew
        return Judgement(verdict, words, x.why_unknown, basis=Basis.RUN)
    return Judgement(_UNKNOWN, words, x.why_unknown, basis=Basis.GUESS)


def _of_its_path(x: Examined, cause: Judgement) -> Judgement:
    """Return the cause: likely at most where the failing package came from a mirror, whose copy is another question."""
    path = x.incident.path
    from_registry = path is None or path is PackagePath.DIRECT or x.error is None
    copies = x.of_kind("given", "mirror", "plugin-cache", "installed")
    has_it = any(
        (one.zh and one.zh in x.today.listed) or x.expected.get(one.platform) in one.of_files for one in copies
    )
    if cause.verdict is not _YES or from_registry or has_it:
        return cause
    words = f"{cause.evidence}; the package came from a {path}, and that copy is not available here"
    return replace(cause, verdict=_LIKELY, evidence=words)


def _replaced(x: Examined) -> str:
    """Return how an earlier commit locked this version with packages that it has no longer; "" if none did.

    Not where a commit before that one has today's packages: then it was an edit, which was taken back.
    """
    assert x.entry is not None
    theirs = frozenset(text for _, entry in x.origins.entries_of_other_versions() for text in entry.hashes)
    theirs |= x.today.elsewhere
    if x.today.earlier_host and x.origins.earlier is not None:
        theirs = theirs | x.origins.earlier.accepted
    of_version = [(one.commit, packages_of(one.accepted)) for one in x.history.states if one.is_of(x.entry.version)]
    oldest = max(
        (number for number, zh in enumerate(zhs for _, zhs in of_version) if zh and zh <= x.today.listed), default=-1
    )
    for commit, zhs in of_version[oldest + 1 :]:
        gone = zhs - x.today.listed - x.packed - theirs
        if gone and gone == zhs:
            words = f"commit {commit[:12]} locks {counted(len(gone), 'other zh', 'other zh')} of {x.release}"
            return f"{words}, none of them in its SHA256SUMS of today; the lock file here has those of today"
    return ""


def _signer(x: Examined) -> str:
    """Return the end of the signer's fingerprint, with a name; "" without one."""
    key = x.today.authentication.signed_by if x.today.authentication is not None else None
    return key.fingerprint if key is not None else ""


def _judged(x: Examined) -> Authentication | None:
    """Return how today's release is signed; None if that is unknown, or the error is of another version."""
    return x.today.authentication if not x.is_of_other_version else None


def key_revoked(x: Examined) -> Judgement | None:
    """Test if the signing key was revoked."""
    judged = _judged(x)
    key = judged.key if judged is not None else None
    now = ""
    if judged is not None and (judged.refusal is Refusal.REVOKED_KEY or (key is not None and key.revoked)):
        now = f"{key.fingerprint if key is not None else 'the signing key'} was revoked by its owner"
    if "revoked" in x.message.words:
        return Judgement(_YES, f"the message says so{': ' if now else ''}{now}", as_of=x.today.as_of, basis=Basis.RUN)
    if now:
        return Judgement(_YES, now, as_of=x.today.as_of, basis=Basis.HERE)
    if key is not None:
        return Judgement(_NO, f"{key.fingerprint} is not revoked", as_of=x.today.as_of)
    return _untold(x)


def _untold(x: Examined) -> Judgement | None:
    """Return a cause of a key about which neither the message nor the registry tells; None where init asks for none."""
    if x.error is None and x.entry is None and not x.is_to_be_selected:
        return None
    words = "the message does not tell" if x.error is not None else "the keys of the release are not known"
    judged, missing = _judged(x), missing_sums(x)
    if judged is not None and judged.refusal in {Refusal.UNKNOWN_ISSUER, Refusal.NO_KEYS}:  # the list itself is known
        words, missing = f"{words}; today: {judged.refusal}", f"the key that signed {x.release}: its publisher"
    return Judgement(_UNKNOWN, words, missing, x.today.as_of, basis=Basis.GUESS)


def key_expired(x: Examined) -> Judgement | None:
    """Test if the signing key or the signature has expired, and if the tool refuses that."""
    judged = _judged(x)
    key = judged.key if judged is not None else None
    if "expired" in x.message.words:
        when = f": {key.fingerprint} expired {key.expires}" if key is not None and key.expired else ""
        return Judgement(_YES, f"the message says so{when}", as_of=x.today.as_of, basis=Basis.RUN)
    if judged is not None and judged.refusal is Refusal.EXPIRED_SIGNATURE:
        return Judgement(_YES, str(judged.refusal), as_of=x.today.as_of, basis=Basis.HERE)
    if judged is not None and key is not None and x.is_expiry_refused:
        what = f"{key.fingerprint}, which the registry lists, signed it and expired {key.expires}"
        if not key.expired:
            what = f"the signature of {key.fingerprint}, which the registry lists, has expired"
        words = f"{what}; OpenTofu accepts that, unless {_ENFORCING}"
        if x.message.is_of_unknown_issuer:
            words = f"{words}, and calls the issuer unknown then, as in the message"
            return Judgement(_LIKELY, words, _ENFORCEMENT_THERE, x.today.as_of, basis=Basis.RUN)
        return Judgement(_YES, f"{what}; {_ENFORCING} here", as_of=x.today.as_of, basis=Basis.HERE)
    if key is not None and key.expired:
        words = f"{key.fingerprint} expired {key.expires}, which {x.tool.product} accepts"
        return Judgement(_NO, words, as_of=x.today.as_of)
    if key is not None:
        until = f"is valid until {key.expires}" if key.expires else "does not expire"
        return Judgement(_NO, f"{key.fingerprint} {until}", as_of=x.today.as_of)
    if judged is None and x.message.is_of_unknown_issuer and x.is_of_opentofu:
        words, missing = f"the message is that of an expired one, too, where {_ENFORCING}", _ENFORCEMENT_THERE
        return Judgement(_UNKNOWN, words, missing, basis=Basis.RUN)
    return _untold(x)


_OF_KEYS = frozenset(
    {Refusal.UNKNOWN_ISSUER, Refusal.NO_KEYS, Refusal.BROKEN_KEY, Refusal.BAD_SIGNATURE, Refusal.BROKEN_SIGNATURE,
     Refusal.BAD_TRUST_SIGNATURE}
)  # fmt: skip
"""Refusals for which no listed key is known to have signed the release."""

_NO_LISTED_KEY = "no key that the registry lists made the signature"
_ENFORCING = "OPENTOFU_ENFORCE_GPG_EXPIRATION is true"
_ENFORCEMENT_THERE = "OPENTOFU_ENFORCE_GPG_EXPIRATION of the runner"


def key_changed(x: Examined) -> Judgement | None:
    """Test if the release is signed by another key than its neighbour, or by one that the registry does not list."""
    judged = _judged(x)
    if x.message.is_of_bad_signature:
        return _bad_signature(x, judged)
    if x.message.kind == "broken-key":
        title = "the registry lists a key that cannot be read"
        return Judgement(_YES, "the message says so", as_of=x.today.as_of, basis=Basis.RUN, title=title)
    is_said = x.message.is_of_unknown_issuer
    if x.is_expiry_refused:
        words = f"a listed key made the signature of today: {_signer(x)}"
        return Judgement(_UNKNOWN, words, "the keys that the registry listed for the failing run", x.today.as_of)
    if judged is not None and judged.refusal in _OF_KEYS:
        words = f"the message says so; today: {judged.refusal}" if is_said else str(judged.refusal)
        title = _NO_LISTED_KEY if is_said or judged.refusal is Refusal.UNKNOWN_ISSUER else str(judged.refusal)
        basis = Basis.RUN if is_said else Basis.HERE
        return Judgement(_YES, words, as_of=x.today.as_of, basis=basis, title=title)
    if is_said and (judged is None or judged.signed_by is None):
        words = f"the message says so: {_NO_LISTED_KEY}{_or_expired(x)}"
        return Judgement(_LIKELY, words, missing_sums(x), x.today.as_of, basis=Basis.RUN, title=_NO_LISTED_KEY)
    if is_said:
        words = f"the message says so{_or_expired(x)}; today a listed key signs it: {_signer(x)}"
        missing = "the keys that the registry listed for the failing run" if x.is_of_opentofu else ""
        verdict = _LIKELY if missing else _YES
        return Judgement(verdict, words, missing, x.today.as_of, basis=Basis.RUN, title=_NO_LISTED_KEY)
    if judged is None:
        return Judgement(_UNKNOWN, "the signature of today is unknown", missing_sums(x), basis=Basis.GUESS)
    if x.today.objection and x.error is None:  # no tool asks for it
        title = "the release is not signed by the key that the policy pins"
        return Judgement(_YES, x.today.objection, as_of=x.today.as_of, basis=Basis.HERE, title=title)
    before = x.today.neighbour.keys[0] if x.today.neighbour is not None and x.today.neighbour.keys else None
    key = judged.signed_by
    if x.today.pin is not None and key is not None and not x.today.objection:  # it alone decides who may sign
        words = f"signed by {key.fingerprint}, which the policy pins for {x.today.pin.name}"
        return Judgement(_NO, words, as_of=x.today.as_of)
    if key is None or before is None:
        missing = "" if judged.problem is None else f"{judged.problem}: {judged.problem.hint}"
        missing = missing or "who signed the version before"
        return Judgement(_UNKNOWN, "the signers cannot be compared", missing, x.today.as_of, basis=Basis.GUESS)
    version = x.today.neighbour.version if x.today.neighbour is not None else ""
    if key.fingerprint == before.fingerprint:
        return Judgement(_NO, f"{key.fingerprint} signed {version} too", as_of=x.today.as_of)
    words = f"signed by {key.fingerprint}, and {version} by {before.fingerprint}"
    return Judgement(_LIKELY, words, "the publisher's word on its new key", x.today.as_of, basis=Basis.HERE)


def _or_expired(x: Examined) -> str:
    """Return what else OpenTofu's words about an unknown issuer may mean, as a clause; "" for Terraform's."""
    return f", or one that had expired, where {_ENFORCING}" if x.is_of_opentofu else ""


def _bad_signature(x: Examined, judged: Authentication | None) -> Judgement:
    """Judge a signature that does not fit its list: one that is bad here too is bad for everybody."""
    words, title = "the message says so: the signature does not fit SHA256SUMS", "the signature of SHA256SUMS is bad"
    if judged is not None and judged.refusal is Refusal.BAD_SIGNATURE:
        return Judgement(_YES, f"{words}; it is bad here too", as_of=x.today.as_of, basis=Basis.RUN, title=title)
    if judged is not None and judged.signed_by is not None:
        words = f"{words}; here it is good, by {_signer(x)}: the failing run got another list or signature"
        missing = "what the network of the failing run gets"
        return Judgement(_LIKELY, words, missing, x.today.as_of, basis=Basis.RUN, title=f"{title} there")
    return Judgement(_LIKELY, words, missing_sums(x), x.today.as_of, basis=Basis.RUN, title=title)


def _of_downloads(x: Examined, judged: Judgement) -> Judgement:
    """Return what is said of downloads here, with the platform where nothing tells that the failing run was on it."""
    return replace(judged, evidence=f"{judged.evidence}{assumed_words(x, x.platform_on_disk)}")


def download_damaged(x: Examined) -> Judgement | None:
    """Test if the file that arrived is not the release's, also by what arrives here."""
    cause = _of_message(x)
    if cause is None or not x.today.downloads or cause.verdict is _NO:
        return cause
    return _of_downloads(x, _by_what_arrives(x, cause))


def _by_what_arrives(x: Examined, cause: Judgement) -> Judgement:
    """Return what is said of the file that arrived, with that of downloads here."""
    if x.today.is_page_served:
        return Judgement(_UNKNOWN, f"{cause.evidence}; what arrives here is no zip file", _FROM_THERE, x.today.as_of)
    found = cause.evidence
    # What arrives here tells nothing certain about the failing run, which may have got another file.
    cause = replace(
        cause, verdict=_YES if cause.verdict is _YES else _LIKELY, title="", missing="", as_of=x.today.as_of
    )
    total, sound = len(x.today.downloads), x.today.downloads[-1] in x.today.listed
    if sound and total == 1 and x.message.arrived:
        title = "the download was damaged, or another file was served to the failing run"
        words = f"{found}; downloaded here, it is the signed package"
        return replace(cause, evidence=words, missing=_FROM_THERE, title=title)
    if sound and total == 1:
        words = "downloaded here, it is the signed package: it was damaged on the way, once or there alone"
        return replace(cause, evidence=f"{found}; {words}")
    broken = x.today.downloads.count("")
    if same := _same_bytes(x):
        words = f"{found}; {total} of {total} downloads here gave the same other bytes ({same[:11]}...)"
        if x.message.kind == "archive-checksum":
            return replace(cause, verdict=_NO if same == x.message.arrived else _UNKNOWN, evidence=words)
        title = "the server, or a proxy, has a damaged file"
        return replace(cause, evidence=f"{words}: trying again does not help", basis=Basis.HASHES, title=title)
    if sound:
        damaged = f"{total - 1} of {total} downloads here {'was' if total == 2 else 'were'} damaged too"
        words = f"{damaged}, and the last is the signed package: the way here is unreliable"
    elif broken == total:
        words = f"{total} of {total} downloads here broke off: the server or a proxy on the way cuts the file"
    else:
        kinds = len(set(x.today.downloads))
        words = f"{total} downloads here gave {kinds} different files: it is damaged on the way, by a proxy or the line"
    return replace(cause, evidence=f"{found}; {words}", basis=Basis.HASHES)


_FROM_THERE = "what the network of the failing run gets: doctor --prove changed there, with this log"


def _same_bytes(x: Examined) -> str:
    """Return the `zh` that each of several downloads here had, if it is not the signed one; "" if there is none."""
    is_same = (
        len(x.today.downloads) > 1 and len(set(x.today.downloads)) == 1 and x.today.downloads[0] not in x.today.listed
    )
    return x.today.downloads[0] if is_same and not x.today.is_page_served else ""


def package_altered(x: Examined) -> Judgement | None:
    """Test if the host of the package has a file that the signed list does not name, the same for whoever asks."""
    if x.error is None:
        return None
    if same := _same_bytes(x):
        total = len(x.today.downloads)
        words = (
            f"{total} of {total} downloads here gave the same other bytes ({same[:11]}...); trying again does not help"
        )
        if same == x.message.arrived:
            words = f"{words}, and they are those of the failing run"
            return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES)
        return _of_downloads(x, Judgement(_LIKELY, words, as_of=x.today.as_of, basis=Basis.HERE))
    if x.today.is_page_served:
        return Judgement(_UNKNOWN, "what arrives here is no zip file, so that no package was compared", _FROM_THERE)
    if x.message.arrived == _EMPTY_FILE:
        return Judgement(_NO, "the file that arrived is empty")
    if x.message.arrived in x.packed | x.today.listed:
        which = "locked" if x.message.arrived in x.packed else f"in {x.sums}"
        return Judgement(_NO, f"the file that arrived is {which}")
    if x.today.downloads and x.today.downloads[-1] in x.today.listed:
        there = f" ({x.message.arrived[:11]}...)" if x.message.arrived else ""
        words = f"downloaded here, it is the signed package; what the failing run got{there} was not"
        return _of_downloads(x, Judgement(_UNKNOWN, words, _FROM_THERE, x.today.as_of, basis=Basis.GUESS))
    words = "the message does not tell an altered package from a damaged download"
    return _with_download(x, Judgement(_UNKNOWN, words, as_of=x.today.as_of, basis=Basis.GUESS))


def _with_download(x: Examined, judged: Judgement) -> Judgement:
    """Return a cause that a download of the package here may tell, where its signed release is known."""
    missing = "what arrives here: --prove changed downloads it up to three times"
    if not x.platform:
        missing = f"{missing}, for {x.platform_on_disk} unless --platform OS_ARCH names another"
    is_told = x.platform_on_disk in x.today.platforms and not x.today.is_offline
    return replace(judged, missing=missing, is_by_download=is_told)


def _of_message(x: Examined) -> Judgement | None:
    error = x.error
    if error is None:
        return None
    zhs = [text for text in error.hashes if is_of_zip(text)]
    if _EMPTY_FILE in zhs[:1]:
        return Judgement(_YES, "the file that arrived was empty: its hash is that of no bytes", basis=Basis.RUN)
    if error.kind == "archive-checksum" and len(zhs) > 1:
        return _archive(x, zhs[0], zhs[1])
    genuine = next(
        (one for one in x.places.packages if one.kind == "given" and one.zh and one.zh in x.today.listed), None
    )
    if genuine is not None:
        return Judgement(
            _NO, f"{genuine.path} is a package of the signed release", as_of=x.today.as_of, basis=Basis.HASHES
        )
    if x.message.is_of_local_file:
        return Judgement(_NO, "the message is of a file in a folder, which is not downloaded", basis=Basis.RUN)
    if error.kind in {"download-cut", "package-damaged", "oci-damaged"}:
        return Judgement(_LIKELY, "the message is of a file that is incomplete or no package", basis=Basis.RUN)
    if error.kind == "package-size":
        words = "the message is of a package with another size than the registry reports"
        title = "the download was damaged, or the package was altered at its host"
        return _with_download(x, Judgement(_LIKELY, words, basis=Basis.RUN, title=title))
    if error.reason is NetworkReason.BROKEN:
        return Judgement(_LIKELY, str(error.reason), basis=Basis.RUN)
    path = x.incident.path
    if error.kind == "current-package" and path is PackagePath.DIRECT:
        words = "the tool compares a registry's zip file with its signed SHA256SUMS before the lock file"
        return Judgement(_NO, words)
    if error.kind == "current-package" and path is None:
        words = "a registry's package is first compared with its signed list, a mirror's with the lock file alone"
        return Judgement(_UNKNOWN, words, "the origin of the package: --install-path", basis=Basis.GUESS)
    if x.named_and_locked and x.today.served is not None and x.today.served.is_read:
        return Judgement(_UNKNOWN, f"{x.today.served.path} is not the one that is locked, either", basis=Basis.GUESS)
    if x.named_and_locked:
        words = "the mirror's index named a locked hash, and what arrived is another file: damaged, or altered there"
        return Judgement(_LIKELY, words, "whether it fails again: run init", basis=Basis.GUESS)
    words = "the file that arrived is not known"
    missing = "the package of the failing run: --package FILE, or --package zh:HASH"
    if given := x.of_kind("given"):
        words = f"the hash of {given[0].path} does not tell if it was damaged on its way, or altered at its source"
        missing = "whether its source has the same one: a second download"
    return Judgement(_UNKNOWN, words, missing, basis=Basis.GUESS)


def _archive(x: Examined, actual: str, named: str) -> Judgement:
    if not x.today.is_known and actual in x.packed:
        words = "the file that arrived is locked: what named the other hash is another release, or out of date"
        return Judgement(_NO, words)
    if not x.today.is_known and named in x.packed:
        words = f"the named hash is locked, and the file that arrived ({actual[:11]}...) is not"
        return Judgement(_LIKELY, words, x.why_unknown, basis=Basis.HASHES)
    if not x.today.is_known or x.is_of_other_version:
        words = f"the file is {actual[:11]}..., and {named[:11]}... was named"
        return Judgement(_LIKELY, words, x.why_unknown, basis=Basis.RUN)
    if actual in x.today.listed:
        words = "the file that arrived is in the signed SHA256SUMS: what named the other hash is out of date"
        return Judgement(_NO, words, as_of=x.today.as_of)
    if named in x.today.listed:
        words = f"the named hash is the signed one, and the file that arrived ({actual[:11]}...) is in no signed list"
        title = "the download was damaged, or the package was altered at its host"
        return _with_download(x, Judgement(_LIKELY, words, as_of=x.today.as_of, basis=Basis.HASHES, title=title))
    return Judgement(_LIKELY, "neither hash is in the signed SHA256SUMS", as_of=x.today.as_of, basis=Basis.HASHES)
