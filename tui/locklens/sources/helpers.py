"""Credential helpers: programs of the user's own configuration that hand out the credentials of hosts.

Each is run within bounds of time and output. What it prints as its answer is in no message.
"""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from locklens.machine import find_program, safe_environment
from locklens.project.cliconfig import Token
from locklens.project.oci_credentials import OciLogin
from locklens.text import visible

if TYPE_CHECKING:
    from pathlib import Path


_MAX_OUTPUT = 64 * 1024
_HELPER_SECONDS = 10.0
"""Bytes and seconds of a credentials helper's answer, which is one token. The tools set no bound."""

_KEYCHAIN_SECONDS = 60.0
"""Seconds of a Docker credential helper's answer: a keychain may ask the user for its own password."""

_NOT_FOUND = "credentials not found in native keychain"
"""What a Docker credential helper says that has none (github.com/docker/docker-credential-helpers)."""


class Helper(Struct, frozen=True):
    """A credentials helper: a program that is run once for each host."""

    executable: Path
    arguments: tuple[str, ...]

    def token(self, host: str) -> Token | None:
        """Ask the program for a host's token.

        Raises:
            ValueError: It failed; str() says how, without anything that the program printed as its answer.
        """
        done = _run([str(self.executable), *self.arguments, "get", host], seconds=_HELPER_SECONDS)
        if done.status:
            raise ValueError(done.complaint(done.errors))
        secret = _answer(done.output).get("token")
        return Token(secret) if isinstance(secret, str) else None


def docker_login(name: str, url: str) -> OciLogin | None:
    """Ask a Docker credential helper for the login to a server; None if it has none.

    OpenTofu does the same (native_store.go of oras-go). The name is what comes after `docker-credential-` in the
    program's, without any separator of paths.

    Raises:
        ValueError: It failed; str() says how, without anything that the program printed as its answer.
    """
    program = find_program(f"docker-credential-{name}")
    if program is None:
        raise ValueError(f"docker-credential-{name} is not on PATH")
    done = _run([program, "get"], url.encode(), seconds=_KEYCHAIN_SECONDS)
    if done.status:
        said = done.output.decode("utf-8", "replace").strip()
        if said == _NOT_FOUND:
            return None
        # Such programs complain on their standard output, where an answer would be an object.
        raise ValueError(done.complaint(done.errors if "{" in said else done.output or done.errors))
    answer = _answer(done.output)
    user, secret = answer.get("Username"), answer.get("Secret")
    if not isinstance(user, str | None) or not isinstance(secret, str | None):
        raise ValueError("its output is malformed")  # noqa: TRY004
    if user == "<token>":
        raise ValueError("it has an OAuth token, where only a user and a password can be used")
    login = OciLogin(user or "", secret or "")
    return None if login.is_empty else login


class _Ended(Struct, frozen=True):
    """A program that ended, with its output and errors."""

    status: int
    output: bytes
    errors: bytes

    def complaint(self, text: bytes) -> str:
        """Return what it said is wrong, in one line, or its exit status."""
        words = visible(" ".join(text.decode("utf-8", "replace").split()))[:300]
        return words or f"it ended with exit status {self.status}"


def _answer(output: bytes) -> dict[str, Any]:
    value: Any = None
    with suppress(ValueError, RecursionError):
        value = json.loads(output)
    if not isinstance(value, dict):
        raise ValueError("its output is malformed")  # noqa: TRY004
    return value


def _run(command: list[str], given: bytes = b"", *, seconds: float) -> _Ended:
    """Run a program within bounds; what it is given fits into a pipe's buffer."""
    import subprocess

    try:
        process = subprocess.Popen(
            command, env=safe_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as error:
        raise ValueError(f"it cannot be run: {error.strerror or error}") from None
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    collected: dict[str, bytes] = {}

    def collect(name: str, stream: Any) -> None:
        collected[name] = stream.read(_MAX_OUTPUT + 1)
        if len(collected[name]) > _MAX_OUTPUT:
            process.kill()

    threads = [
        threading.Thread(target=collect, args=("out", process.stdout), daemon=True),
        threading.Thread(target=collect, args=("err", process.stderr), daemon=True),
    ]
    for thread in threads:
        thread.start()
    with suppress(OSError), process.stdin:  # It may not read what it is asked; its answer shows.
        process.stdin.write(given)
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise ValueError(f"it did not end within {seconds:g} seconds") from None
    for thread in threads:
        thread.join(1.0)
    output, errors = collected.get("out"), collected.get("err", b"")
    if output is None:
        raise ValueError("it left its output open")
    if len(output) > _MAX_OUTPUT or len(errors) > _MAX_OUTPUT:
        raise ValueError("it prints too much")
    return _Ended(status, output, errors)
