"""Causes between the machine and the registry, as far as the message and an own request tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.doctor.model import Basis, CauseVerdict, Judgement, NetworkReason

if TYPE_CHECKING:
    from locklens.doctor.examined import Examined

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO

_N = NetworkReason
_ON_THE_WAY = frozenset({_N.NAME, _N.REFUSED, _N.BROKEN, _N.TIMEOUT})
"""Reasons that a registry and the way to it have in common."""

_ABOUT_REQUESTS = frozenset(
    {"registry-unreachable", "registry-failed", "query-failed", "sums-unavailable", "download-failed"}
)
_SAME_REQUEST = "the result of the same request on the runner"
_MORE_LINES = "the lines behind the message"


def _answers(x: Examined) -> str | None:
    """The time at which the registry answered here; None if it did not, or was not asked."""
    return x.as_of or (x.case.listing.as_of if x.case is not None else None)


def _fails_here(x: Examined) -> str:
    """The failure of an own request; "" without one."""
    troubles = (x.case.new.trouble, x.case.listing.trouble) if x.case is not None else ()
    return next((one.words for one in troubles if one is not None and one.was_asked and not one.is_no), "")


_TITLES_OF_DENIALS = {
    "credentials-missing": "{} requires credentials, and none were sent",
    "credentials-rejected": "{} refused the credentials",
    "credentials-helper": "the credentials helper failed",
}


def _host(x: Examined) -> str:
    """Return the host that the request of the message went to, which need not be the registry."""
    return (x.error.host if x.error is not None else "") or "a server"


def _wrong_answer(x: Examined) -> Judgement:
    """Judge a registry whose answer has another hash than the signed list."""
    assert x.error is not None
    if x.packed.intersection(x.error.hashes[:1]):
        words = "the signed list that arrived has the hash that is locked, and the registry's answer names another one"
        title = "the registry's answer contradicts the signed list"
        return Judgement(_YES, words, basis=Basis.HASHES, title=title)
    words = "which of the list and the answer is right is not known"
    return Judgement(_UNKNOWN, words, x.why_unknown, basis=Basis.GUESS)


def registry_down(x: Examined) -> Judgement | None:
    """Test if the registry answers."""
    if x.error is None:
        return None
    reason, here, as_of = x.error.reason, _fails_here(x), _answers(x)
    if x.error.kind == "sums-differ":
        return _wrong_answer(x)
    if reason in {_N.SERVER, _N.LIMITED}:
        now = "; the registry answers here" if as_of else ""
        title = f"{_host(x)} answered: {reason}"
        words = f"the message says so: {reason}{now}"
        return Judgement(_YES, words, as_of=as_of, basis=Basis.RUN, title=title)
    if reason in _ON_THE_WAY:
        if as_of:
            words = f"{reason}; it answers here, so it was down for a time, or the runner cannot reach it"
            return Judgement(_UNKNOWN, words, _SAME_REQUEST, as_of, basis=Basis.RUN)
        also = f"; it does not answer here either: {here}" if here else ""
        missing = "a request from here: run again without --offline" if x.is_offline else _SAME_REQUEST
        title = f"{_host(x)} could not be reached: {reason}"
        return Judgement(_LIKELY, f"{reason}{also}", missing, basis=Basis.RUN, title=title)
    if reason is not None:
        return Judgement(_NO, f"the message names another reason: {reason}", as_of=as_of)
    if here and x.error.kind in _ABOUT_REQUESTS:
        words = f"it does not answer here: {here}; the failing run may have had another reason"
        return Judgement(_LIKELY, words, _MORE_LINES, basis=Basis.HERE)
    return Judgement(_UNKNOWN, "the message does not tell", _MORE_LINES, as_of, basis=Basis.GUESS)


def proxy_or_ca(x: Examined) -> Judgement | None:
    """Test if a proxy or a missing certificate authority stands between."""
    if x.error is None:
        return None
    reason, as_of = x.error.reason, _answers(x)
    if reason in {_N.CERTIFICATE, _N.PROXY, _N.PROXY_NAME, _N.PROXY_DOWN}:
        fix = "SSL_CERT_FILE" if reason is _N.CERTIFICATE else "HTTPS_PROXY and NO_PROXY"
        title = f"the TLS certificate of {_host(x)} was not accepted" if reason is _N.CERTIFICATE else str(reason)
        words = f"the message says so: {reason}; see {fix} of the runner"
        return Judgement(_YES, words, as_of=as_of, basis=Basis.RUN, title=title)
    if reason is _N.FOREIGN_PAGE:
        words = "the answer was not the registry's: a sign-in page or a proxy"
        return Judgement(_LIKELY, words, _SAME_REQUEST, as_of, basis=Basis.RUN)
    if x.error.kind == "archive-checksum":
        missing = "the same download without the proxy"
        return Judgement(_UNKNOWN, "a proxy may alter files", missing, basis=Basis.GUESS)
    if reason in _ON_THE_WAY:
        missing = "HTTPS_PROXY, NO_PROXY and the firewall of the runner"
        words = f"{reason}{'; the registry answers here' if as_of else ''}"
        verdict = _LIKELY if as_of or reason is _N.NAME else _UNKNOWN
        return Judgement(verdict, words, missing, as_of, basis=Basis.RUN if as_of else Basis.GUESS)
    if reason is not None:
        return Judgement(_NO, f"{_host(x)} answered: {reason}")
    return Judgement(_UNKNOWN, "the message does not tell", _MORE_LINES, basis=Basis.GUESS)


def credentials(x: Examined) -> Judgement | None:
    """Test if the registry refused access."""
    if x.error is None:
        return None
    host = x.error.host or (x.address.host if x.address is not None else "")
    variable = f"TF_TOKEN_{host.replace('-', '__').replace('.', '_').partition(':')[0]}"
    title = _TITLES_OF_DENIALS.get(x.error.kind, "")
    if x.error.kind.startswith("credentials"):
        words = f"the message says so: see the credentials block or {variable} of the runner"
        return Judgement(_YES, words, basis=Basis.RUN, title=title.format(host or "the host"))
    if x.error.reason is _N.DENIED:
        words, missing = f"the message says so: {x.error.reason}", f"the token of the runner: {variable}"
        if "oci re" in x.text:
            missing = "the login of the runner: docker login, or an oci_credentials block"
        title = f"{_host(x)} denied access"
        return Judgement(_LIKELY, words, missing, basis=Basis.RUN, title=title)
    if x.error.kind == "provider-unknown":
        words = "a private registry hides what a token may not see"
        return Judgement(_UNKNOWN, words, f"the token of the runner: {variable}", basis=Basis.GUESS)
    if x.error.reason is not None:
        return Judgement(_NO, f"the message names another reason: {x.error.reason}")
    return Judgement(_UNKNOWN, "the message does not tell", _MORE_LINES, basis=Basis.GUESS)
