"""The faults of the demo registry, injected on request, everywhere or in one place, and its answers with them."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler


class Step(StrEnum):
    """A kind of request, in the order in which a tool sends them; no tool requests release dates."""

    DISCOVERY = "discovery"
    VERSIONS = "versions"
    DOWNLOAD = "download"
    SUMS = "sums"
    SIGNATURE = "signature"
    PACKAGE = "package"
    DATES = "dates"


class Fault(StrEnum):
    """A kind of fault."""

    # Faults of the release: the answer is complete, but its content has changed or is wrong.
    REPUBLISHED = "republished"
    OTHER_SIGNER = "other-signer"
    UNSIGNED = "unsigned"
    EXPIRED_KEY = "expired-key"
    REVOKED_KEY = "revoked-key"
    EXPIRED_SIGNATURE = "expired-signature"
    BAD_SIGNATURE = "bad-signature"
    UNKNOWN_ISSUER = "unknown-issuer"
    ARMORED_SIGNATURE = "armored-signature"
    EMPTY_SIGNATURE = "empty-signature"
    BROKEN_KEY = "broken-key"
    BAD_TRUST_SIGNATURE = "bad-trust-signature"
    SUMS_WITHOUT_PACKAGE = "sums-without-package"
    SUMS_WITH_BLANK_LINE = "sums-with-blank-line"
    SUMS_WITH_ODD_LINE = "sums-with-odd-line"
    SUMS_OF_BINARY_FILES = "sums-of-binary-files"
    SUMS_OTHERWISE_SPELLED = "sums-otherwise-spelled"
    OTHER_CHECKSUM = "other-checksum"
    TAMPERED_PACKAGE = "tampered-package"
    WITHDRAWN = "withdrawn"
    OTHER_REPORTED_H1 = "other-reported-h1"
    OTHER_REPORTED_ZH = "other-reported-zh"
    # Faults of the transfer: the answer does not arrive, or is a different one.
    TRUNCATED = "truncated"
    WRONG_LENGTH = "wrong-length"
    GARBLED = "garbled"
    SLOW = "slow"
    STALLED = "stalled"
    SILENT = "silent"
    CUT = "cut"
    HUGE = "huge"
    HTML = "html"
    NOT_FOUND = "404"
    TOO_MANY_REQUESTS = "429"
    UNAUTHORIZED = "401"
    SERVER_ERROR = "500"
    REDIRECT_LOOP = "redirect-loop"
    REDIRECT_ELSEWHERE = "redirect-elsewhere"


_OF_A_RELEASE = tuple(Fault)[: list(Fault).index(Fault.TRUNCATED)]


class FaultRule(Struct, frozen=True):
    """A fault and its scope; "" and None mean everywhere.

    Attributes:
        provider: A full address, NAMESPACE/TYPE on every host, or a host.
        step: Only for faults of the transfer.
        times: Number of times that it applies; 0 for always.
    """

    fault: Fault
    provider: str = ""
    version: str = ""
    step: Step | None = None
    times: int = 0

    def strikes(self, provider: str, version: str, step: Step | None) -> bool:
        """True if the rule applies to a request; `version` is "" for requests that name no version."""
        return (
            self.provider in {"", provider, provider.partition("/")[0], provider.partition("/")[2]}
            and self.version in {"", version}
            and (self.step is None or self.step is step)
        )


class Faults:
    """The current rules. Thread-safe: rules may change while the registry answers."""

    def __init__(self, rules: tuple[FaultRule, ...] = ()) -> None:
        self._lock = threading.Lock()
        self._rules = list(rules)
        self._struck: dict[FaultRule, int] = {}

    def add(
        self, fault: Fault, provider: str = "", version: str = "", *, step: Step | None = None, times: int = 0
    ) -> None:
        """Add a rule; the arguments are the fields of `FaultRule`."""
        with self._lock:
            self._rules.append(FaultRule(fault, provider, version, step, times))

    def clear(self) -> None:
        """Remove all rules."""
        with self._lock:
            self._rules.clear()
            self._struck.clear()

    def of_release(self, provider: str, version: str) -> frozenset[Fault]:
        """Return the faults of a release."""
        with self._lock:
            return frozenset(
                rule.fault
                for rule in self._rules
                if rule.fault in _OF_A_RELEASE and rule.strikes(provider, version, rule.step)
            )

    def on_the_way(self, provider: str, version: str, step: Step) -> Fault | None:
        """Return the transfer fault of one answer, by the first rule that applies, if any."""
        with self._lock:
            for rule in self._rules:
                if rule.fault in _OF_A_RELEASE or not rule.strikes(provider, version, step):
                    continue
                struck = self._struck.get(rule, 0)
                if rule.times and struck >= rule.times:
                    continue
                self._struck[rule] = struck + 1
                return rule.fault
        return None


def parse_rule(text: str) -> FaultRule:
    """Parse a rule in its command-line form: `FAULT[:STEP][=PROVIDER[@VERSION]]`, e.g. `slow:sums=acme/demo@1.4.2`.

    Raises:
        ValueError: Unknown fault or step; the message lists the known ones.
    """
    kind, _, scope = text.partition("=")
    fault, _, step = kind.partition(":")
    provider, _, version = scope.partition("@")
    if fault not in set(Fault):
        raise ValueError(f"unknown fault {fault!r}; faults: " + ", ".join(Fault))
    if step and step not in set(Step):
        raise ValueError(f"unknown step {step!r}; steps: " + ", ".join(Step))
    return FaultRule(Fault(fault), provider, version, Step(step) if step else None)


HUGE_BYTES = 1 << 30
RETRY_AFTER_SECONDS = 1
DRIP_SECONDS = 0.25
_CUT_SECONDS = 0.1

_BLOCK = b" " * (1 << 16)
_PAGE = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Welcome to the guest network.</body></html>\n"
_GARBLED_BYTES = 8
"""Bytes at the end of a garbled answer, which differ in each answer."""

_OF_THE_BODY = {Fault.TRUNCATED, Fault.WRONG_LENGTH, Fault.SLOW, Fault.HUGE}
_STATUSES = {Fault.NOT_FOUND: 404, Fault.TOO_MANY_REQUESTS: 429, Fault.SERVER_ERROR: 500, Fault.UNAUTHORIZED: 401}


class ServedAnswer(Struct, frozen=True):
    """An answer; `content_type` is "" for bytes of no particular type."""

    status: int
    body: bytes
    content_type: str = ""

    @classmethod
    def of_json(cls, document: object) -> ServedAnswer:
        """Return an answer with a JSON document."""
        return cls(200, json.dumps(document).encode(), "application/json")

    @classmethod
    def not_found(cls) -> ServedAnswer:
        """Return the answer for a missing resource."""
        return cls(404, b'{"errors":["Not Found"]}', "application/json")


def send(handler: BaseHTTPRequestHandler, answer: ServedAnswer, fault: Fault | None, stopping: threading.Event) -> None:
    """Send an answer, subject to a fault of the transfer; `stopping`, set when the server ends, ends every wait."""
    if fault is None:
        _send_whole(handler, answer)
    elif fault in _STATUSES:
        status = _STATUSES[fault]
        headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} if fault is Fault.TOO_MANY_REQUESTS else {}
        _send_whole(handler, ServedAnswer(status, b'{"errors":["as asked for"]}', "application/json"), headers)
    elif fault is Fault.HTML:
        _send_whole(handler, ServedAnswer(200, _PAGE, "text/html; charset=utf-8"))
    elif fault is Fault.GARBLED:
        body = answer.body[:-_GARBLED_BYTES] + os.urandom(_GARBLED_BYTES)
        _send_whole(handler, ServedAnswer(answer.status, body, answer.content_type))
    elif fault is Fault.REDIRECT_LOOP:
        _send_whole(handler, ServedAnswer(302, b""), {"Location": handler.path})
    elif fault is Fault.REDIRECT_ELSEWHERE:
        _redirect_elsewhere(handler, answer)
    elif handler.command == "HEAD" and fault in _OF_THE_BODY:
        _send_whole(handler, answer)
    else:
        handler.close_connection = True
        with suppress(OSError):
            _send_badly(handler, answer, fault, stopping)


def _send_whole(handler: BaseHTTPRequestHandler, answer: ServedAnswer, headers: dict[str, str] | None = None) -> None:
    _send_head(handler, answer, len(answer.body), headers)
    if handler.command != "HEAD":
        handler.wfile.write(answer.body)


def _send_head(
    handler: BaseHTTPRequestHandler, answer: ServedAnswer, length: int, headers: dict[str, str] | None = None
) -> None:
    handler.send_response(answer.status)
    handler.send_header("Content-Type", answer.content_type or "application/octet-stream")
    handler.send_header("Content-Length", str(length))
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.end_headers()


def _redirect_elsewhere(handler: BaseHTTPRequestHandler, answer: ServedAnswer) -> None:
    """Redirect the client to the same server under its other name, which answers."""
    host, _, port = handler.headers.get("Host", "").partition(":")
    if host == "localhost":
        _send_whole(handler, answer)
    else:
        _send_whole(handler, ServedAnswer(302, b""), {"Location": f"http://localhost:{port}{handler.path}"})


def _send_badly(handler: BaseHTTPRequestHandler, answer: ServedAnswer, fault: Fault, stopping: threading.Event) -> None:
    body, half = answer.body, len(answer.body) // 2
    if fault is Fault.SILENT:
        stopping.wait()
    elif fault is Fault.HUGE:
        _send_head(handler, answer, HUGE_BYTES)
        for _ in range(HUGE_BYTES // len(_BLOCK)):
            if stopping.is_set():
                return
            handler.wfile.write(_BLOCK)
    elif fault is Fault.WRONG_LENGTH:
        _send_head(handler, answer, max(0, len(body) - 10))
        handler.wfile.write(body)
    else:
        _send_head(handler, answer, len(body))
        if fault is Fault.SLOW:
            for position in range(len(body)):
                handler.wfile.write(body[position : position + 1])
                if stopping.wait(DRIP_SECONDS):
                    return
            return
        handler.wfile.write(body[:half])
        if fault is Fault.STALLED:
            stopping.wait()
        elif fault is Fault.CUT:
            # Without lingering, closing is a reset: bytes that the client has not read yet are lost. The head must not
            # be, since the tools ask again where no answer began.
            stopping.wait(_CUT_SECONDS)
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()
