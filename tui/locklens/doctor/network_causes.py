"""Causes between the machine and the registry, as far as the message and an own request tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.doctor.model import Cause, CauseId, CauseVerdict, NetworkReason

if TYPE_CHECKING:
    from locklens.doctor.examined import Examined

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO

_N = NetworkReason
_ON_THE_WAY = frozenset({_N.NAME, _N.REFUSED, _N.BROKEN, _N.TIMEOUT})
"""Reasons that a registry and the way to it have in common."""


def _answers(x: Examined) -> str | None:
    """The time at which the registry answered here; None if it did not, or was not asked."""
    return x.as_of or (x.case.listing.as_of if x.case is not None else None)


def _fails_here(x: Examined) -> str:
    """The failure of an own request; "" without one."""
    troubles = (x.case.new.trouble, x.case.listing.trouble) if x.case is not None else ()
    return next((one.words for one in troubles if one is not None and one.was_asked and not one.is_no), "")


def registry_down(x: Examined) -> Cause | None:
    """Test if the registry answers."""
    if x.error is None:
        return None
    reason, words = x.error.reason, _fails_here(x)
    is_down = reason is None or reason in _ON_THE_WAY or reason in {_N.SERVER, _N.LIMITED}
    if words and is_down:
        return Cause(CauseId.REGISTRY_DOWN, _YES, f"it does not answer here either: {words}")
    as_of = _answers(x)
    if reason in {_N.SERVER, _N.LIMITED}:
        now = "; it answers here" if as_of else ""
        return Cause(CauseId.REGISTRY_DOWN, _YES, f"{reason}{now}", as_of=as_of)
    if reason in _ON_THE_WAY:
        if as_of:
            words = f"{reason}; it answers here, so it was down for a time, or the runner cannot reach it"
            return Cause(CauseId.REGISTRY_DOWN, _UNKNOWN, words, "the same request on the runner", as_of)
        return Cause(CauseId.REGISTRY_DOWN, _LIKELY, str(reason), "an own request: run without --offline")
    if reason is not None:
        return Cause(CauseId.REGISTRY_DOWN, _NO, f"it answered: {reason}", as_of=as_of)
    return Cause(CauseId.REGISTRY_DOWN, _UNKNOWN, "the message does not tell", "the lines behind the message", as_of)


def proxy_or_ca(x: Examined) -> Cause | None:
    """Test if a proxy or a missing certificate authority stands between."""
    if x.error is None:
        return None
    reason, as_of = x.error.reason, _answers(x)
    if reason in {_N.CERTIFICATE, _N.PROXY}:
        fix = "SSL_CERT_FILE" if reason is _N.CERTIFICATE else "HTTPS_PROXY and NO_PROXY"
        return Cause(CauseId.PROXY_OR_CA, _YES, f"{reason}: see {fix} of the runner", as_of=as_of)
    if reason is _N.FOREIGN_PAGE:
        words = "the answer was not the registry's: a sign-in page or a proxy"
        return Cause(CauseId.PROXY_OR_CA, _LIKELY, words, "the same request on the runner", as_of)
    if x.error.kind == "archive-checksum":
        return Cause(CauseId.PROXY_OR_CA, _UNKNOWN, "a proxy may alter files", "the same download without the proxy")
    if reason in _ON_THE_WAY:
        missing = "HTTPS_PROXY, NO_PROXY and the firewall of the runner"
        verdict = _LIKELY if as_of else _UNKNOWN
        return Cause(
            CauseId.PROXY_OR_CA, verdict, f"{reason}{'; the registry answers here' if as_of else ''}", missing, as_of
        )
    if reason is not None:
        return Cause(CauseId.PROXY_OR_CA, _NO, f"the registry itself answered: {reason}")
    return Cause(CauseId.PROXY_OR_CA, _UNKNOWN, "the message does not tell", "the lines behind the message")


def credentials(x: Examined) -> Cause | None:
    """Test if the registry refused access."""
    if x.error is None:
        return None
    host = x.error.host or (x.address.host if x.address is not None else "the host")
    variable = f"TF_TOKEN_{host.replace('-', '__').replace('.', '_')}" if host != "the host" else "TF_TOKEN_"
    if x.error.kind.startswith("credentials"):
        return Cause(
            CauseId.CREDENTIALS, _YES, f"the message says so: see the credentials block or {variable} of the runner"
        )
    if x.error.reason is _N.DENIED:
        return Cause(CauseId.CREDENTIALS, _LIKELY, f"{x.error.reason}", f"the token of the runner: {variable}")
    if x.error.kind == "provider-unknown":
        words = "a private registry hides what a token may not see"
        return Cause(CauseId.CREDENTIALS, _UNKNOWN, words, f"the token of the runner: {variable}")
    if x.error.reason is not None:
        return Cause(CauseId.CREDENTIALS, _NO, f"the message is of something else: {x.error.reason}")
    return Cause(CauseId.CREDENTIALS, _UNKNOWN, "the message does not tell", "the lines behind the message")
