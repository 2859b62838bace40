"""Why a request failed, by the words of Go's libraries, of both tools and of locklens."""

from __future__ import annotations

import re
from enum import StrEnum


class NetworkReason(StrEnum):
    """The reason of a failed request, as the tool's message tells it."""

    DATES = "the TLS certificate has expired, or is not yet valid"
    OTHER_NAME = "the TLS certificate is for another name"
    AUTHORITY = "the authority of the TLS certificate is not trusted"
    CERTIFICATE = "the TLS certificate was not accepted"
    PROXY_NAME = "the name of the proxy could not be resolved"
    PROXY_DOWN = "the proxy could not be reached"
    PROXY = "the proxy refused"
    PROXY_FAILED = "the proxy could not reach the host (5xx)"
    NAME = "the host name could not be resolved"
    REFUSED = "the connection was refused"
    ROUTE = "no route to the host"
    BROKEN = "the connection broke"
    TIMEOUT = "no answer in time"
    DENIED = "access was denied"
    LIMITED = "too many requests (429)"
    SERVER = "the server failed (5xx)"
    GAVE_UP = "too many requests (429), or a failure of the server (5xx)"
    ABSENT = "the file does not exist there (404)"
    MALFORMED = "something that is not HTTP"
    PLAIN = "something that is not TLS"
    LOOP = "redirects in a circle"
    EMPTY = "an empty document"
    FOREIGN_PAGE = "the answer was not the registry's"


ON_THE_WAY = frozenset(
    {NetworkReason.NAME, NetworkReason.REFUSED, NetworkReason.ROUTE, NetworkReason.BROKEN, NetworkReason.TIMEOUT}
)
"""Reasons that a registry and the way to it have in common."""

CERTIFICATE_FIXES = {
    NetworkReason.AUTHORITY: (
        "trust-authority",
        "Have the runner trust the certificate authority of {}, by hand, if it is one of yours",
        "the issuer",
        "the certificate of your own authority belongs in the runner's trust store, on Linux also in SSL_CERT_FILE",
    ),
    NetworkReason.DATES: (
        "renew-certificate",
        "Have the owner of {} install a certificate that is valid now; or set the clock of the runner, if it is wrong",
        "the dates of the certificate",
        "`date -u` shows the clock; to trust another authority does not help",
    ),
    NetworkReason.OTHER_NAME: (
        "match-certificate",
        "Use a host name that the certificate of {0} is for, or have the owner of {0} install one that names it",
        "the subject and the issuer of the certificate",
        "to trust another authority does not help",
    ),
    NetworkReason.CERTIFICATE: (
        "examine-certificate",
        "Find out on the runner why the certificate of {} is not accepted",
        "the subject, the dates and the issuer of the certificate",
        "without -k it gives the reason",
    ),
}
"""Why a TLS certificate was not accepted, CERTIFICATE where the message does not tell, and what helps.

Of a remedy each has the id, the title, what curl shows of the certificate, and a note.
"""

SENSELESS = frozenset({NetworkReason.MALFORMED, NetworkReason.PLAIN, NetworkReason.LOOP, NetworkReason.EMPTY})
"""Answers that make no sense, which a registry may give, or a proxy."""

_WORDS = {
    NetworkReason.AUTHORITY: ("signed by unknown authority", "self-signed certificate",
                              "unable to get (?:local )?issuer certificate"),
    NetworkReason.DATES: ("certificate has expired", "certificate is expired", "certificate is not yet valid"),
    NetworkReason.OTHER_NAME: ("certificate is valid for .{1,1000}, not ", "certificate is not valid for ",
                               "doesn't contain any ip sans", "legacy common name field",
                               "certificate name does not match"),
    NetworkReason.CERTIFICATE: ("x509:", "tls: failed to verify", "the certificate of .{1,300} is not trusted"),
    NetworkReason.PROXY: ("proxy authentication required", "the proxy did not let the request"),
    NetworkReason.PROXY_DOWN: ("the proxy for requests to .{1,300} cannot be reached",),
    NetworkReason.NAME: ("no such host", "server misbehaving", "name resolution", "host name .{1,300} not found"),
    NetworkReason.REFUSED: ("connection refused", "actively refused", "refuses the connection"),
    NetworkReason.ROUTE: ("no route to host", "network is unreachable", "unreachable (?:host|network)", "host is down"),
    NetworkReason.BROKEN: ("connection reset", "unexpected eof", "broken pipe",
                           r'(?:": |proxyconnect tcp: |broken: )eof\b', "server closed idle connection", "goaway",
                           "client connection lost", "forcibly closed", "broke the connection off",
                           "sent .{1,100} that breaks off"),
    NetworkReason.TIMEOUT: ("timeout", "deadline exceeded", "timed out", "not answer in full within", "too slowly"),
    NetworkReason.DENIED: ("403 forbidden", "unauthorized", "authentication credentials", "code: 401", "code: 403",
                           "status code 401", "status code 403", "basic credential not found"),
    NetworkReason.LIMITED: ("429 too many", "too many requests", "response code: 429"),
    NetworkReason.ABSENT: ("404 not found", "response code: 404", "does not have archive index"),
    NetworkReason.MALFORMED: ("malformed http",),
    NetworkReason.PLAIN: ("does not look like a tls handshake", "gave http response to https client"),
    NetworkReason.LOOP: ("stopped after 10 redirects",),
    NetworkReason.EMPTY: (r"registry for [^\s\"]{1,300}: eof\b",),
    NetworkReason.FOREIGN_PAGE: ("content-type", "failed to decode discovery", "invalid character '<'"),
    NetworkReason.SERVER: ("internal server error", "bad gateway", "service unavailable", "gateway time-out",
                           "response code: 50"),
}  # fmt: skip
"""Patterns of what Go's libraries and locklens say of a failed request; the first that is found counts."""

_REASONS = {one: re.compile("|".join(words)) for one, words in _WORDS.items()}

_GAVE_UP = re.compile(r"giving up after \d{1,9} attempt\(s\)(?!:)")
"""OpenTofu's last words on a download that was repeated for its status; a failure without an answer follows them."""

_CONNECT = re.compile(
    r'"https://[^"\s]{1,300}": (?:(?P<refused>bad request|unauthorized|payment required|forbidden|not found|method not '
    r"allowed|proxy authentication required|too many requests)|internal server error|not implemented|bad gateway"
    r"|service unavailable|gateway time-?out)\b"
)
"""A status in words alone after a URL: what Go's net/http has of a proxy's answer to CONNECT (Transport.dialConn)."""


def reason_of_request(text: str) -> NetworkReason | None:
    """Return the reason of a failed request; that of the proxy's own connection or answer names the proxy."""
    text = text.lower()
    if answer := _CONNECT.search(text):
        return NetworkReason.PROXY if answer["refused"] else NetworkReason.PROXY_FAILED
    found = next((one for one, pattern in _REASONS.items() if pattern.search(text)), None)
    if found is None and _GAVE_UP.search(text):
        return NetworkReason.GAVE_UP
    if "proxyconnect" not in text or found in {*CERTIFICATE_FIXES, NetworkReason.PROXY}:
        return found
    return NetworkReason.PROXY_NAME if found is NetworkReason.NAME else NetworkReason.PROXY_DOWN
