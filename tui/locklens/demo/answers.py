"""Answers of the demo registry: intact, or with a transfer fault."""

from __future__ import annotations

import json
import os
import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.demo.faults import Fault

if TYPE_CHECKING:
    import threading
    from http.server import BaseHTTPRequestHandler

HUGE_BYTES = 1 << 30
RETRY_AFTER_SECONDS = 1
DRIP_SECONDS = 0.25

_BLOCK = b" " * (1 << 16)
_PAGE = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Welcome to the guest network.</body></html>\n"
_GARBLED_BYTES = 8
"""At the end, other ones in each answer."""

_OF_THE_BODY = {Fault.TRUNCATED, Fault.WRONG_LENGTH, Fault.SLOW, Fault.HUGE}
_STATUSES = {Fault.NOT_FOUND: 404, Fault.TOO_MANY_REQUESTS: 429, Fault.SERVER_ERROR: 500, Fault.UNAUTHORIZED: 401}


class ServedAnswer(Struct, frozen=True):
    """An answer; `content_type` is "" for bytes of no particular type."""

    status: int
    body: bytes
    content_type: str = ""

    @classmethod
    def of_json(cls, document: object) -> ServedAnswer:
        """An answer with a JSON document."""
        return cls(200, json.dumps(document).encode(), "application/json")

    @classmethod
    def not_found(cls) -> ServedAnswer:
        """The answer for a missing resource."""
        return cls(404, b'{"errors":["Not Found"]}', "application/json")


def send(handler: BaseHTTPRequestHandler, answer: ServedAnswer, fault: Fault | None, stopping: threading.Event) -> None:
    """Send an answer, subject to a fault.

    Args:
        handler: Handler of the request.
        answer: The intact answer.
        fault: A transfer fault, or None.
        stopping: Set when the server ends; ends every wait.
    """
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
            # Without lingering, closing is a reset: bytes that the client has not read yet are lost.
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()
