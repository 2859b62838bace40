"""Tokens for hosts: from TF_TOKEN_ variables, then `credentials` blocks, then the credentials helper.

The first that knows a host wins, also with an empty token. Tokens are values that do not print themselves.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from locklens.addresses import display_host, normalise_host
from locklens.errors import UnavailableError
from locklens.programs import safe_environment
from locklens.project.tokens import Token
from locklens.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_PREFIX = "TF_TOKEN_"
_MAX_OUTPUT = 64 * 1024
_HELPER_SECONDS = 10.0
"""Bytes and seconds of a credentials helper's answer, which is one token. The tools set no bound."""


def token_hint(host: str) -> str:
    """Return the next step where a host refused a request; a host with a port has no variable."""
    block = f"a credentials block for {host}"
    return f"set {block}" if ":" in host else f"set {_PREFIX}{host.replace('-', '__').replace('.', '_')}, or {block}"


def environment_tokens(environ: Mapping[str, str]) -> dict[str, Token]:
    """Return the tokens of TF_TOKEN_ variables by host in comparison form.

    In a variable's name `__` stands for a dash and `_` for a dot. A name that is no host then is passed over; of two
    for one host the last counts.
    """
    tokens: dict[str, Token] = {}
    for name, value in environ.items():
        if name.startswith(_PREFIX):
            host = _decoded_host(name.removeprefix(_PREFIX))
            if host:
                tokens[host] = Token(value)
    return tokens


def _decoded_host(text: str) -> str:
    spelled = text.replace("__", "-").replace("_", ".")
    try:
        return normalise_host(_from_punycode(spelled))
    except ValueError:
        return ""


def _from_punycode(host: str) -> str:
    """Return the Unicode spelling, which alone may be typed for a host elsewhere."""
    lowered = host.lower()
    return display_host(lowered) if "xn--" in lowered else host


class Helper:
    """A credentials helper: a program that is run once for each host."""

    def __init__(self, executable: Path, arguments: tuple[str, ...], *, seconds: float = _HELPER_SECONDS) -> None:
        self._executable = executable
        self._arguments = arguments
        self._seconds = seconds

    def token(self, host: str) -> Token | None:
        """Ask the program for a host's token.

        Raises:
            ValueError: It failed; str() says how, without anything that the program printed as its answer.
        """
        import json

        command = [str(self._executable), *self._arguments, "get", host]
        output = _run(command, self._seconds)
        try:
            value: Any = json.loads(output)
        except (ValueError, RecursionError):
            raise ValueError("its output is malformed") from None
        if not isinstance(value, dict):
            raise ValueError("its output is malformed")  # noqa: TRY004
        secret = value.get("token")
        return Token(secret) if isinstance(secret, str) else None


def _run(command: list[str], seconds: float) -> bytes:
    """Run a program within bounds and return its output.

    Raises:
        ValueError: It does not start, takes too long, prints too much, or fails.
    """
    import subprocess

    try:
        process = subprocess.Popen(
            command,
            env=safe_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise ValueError(f"it cannot be run: {error.strerror or error}") from None
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
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise ValueError(f"it did not end within {seconds:g} seconds") from None
    for thread in threads:
        thread.join(1.0)
    output = collected.get("out")
    if output is None:
        raise ValueError("it left its output open")
    if len(output) > _MAX_OUTPUT or len(collected.get("err", b"")) > _MAX_OUTPUT:
        raise ValueError("it prints too much")
    if status:
        words = visible(" ".join(collected.get("err", b"").decode("utf-8", "replace").split()))[:300]
        raise ValueError(words or f"it ended with exit status {status}")
    return output


class Credentials:
    """The credentials for each host, looked up once in the tools' order."""

    def __init__(
        self, environ: Mapping[str, str], configured: Mapping[str, Token | None], helper: Helper | None = None
    ) -> None:
        """Read the environment; the helper is run when a host is asked that nothing else knows.

        Args:
            environ: TF_TOKEN_ variables are looked at.
            configured: The `credentials` blocks by host in comparison form; None: a block without a token.
            helper: The credentials helper, None where there is none.
        """
        self._known: dict[str, Token | None] = {**configured, **environment_tokens(environ)}
        self._helper = helper
        self._lock = threading.Lock()
        self._asked: dict[str, Token | ValueError | None] = {}

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that a variable or a block names."""
        return frozenset(self._known)

    def token(self, host: str) -> Token | None:
        """Return a host's token, None where there is none.

        Args:
            host: Comparison form.

        Raises:
            UnavailableError: The helper failed.
        """
        if host in self._known:
            return self._known[host]
        if self._helper is None:
            return None
        with self._lock:
            if host not in self._asked:
                try:
                    self._asked[host] = self._helper.token(host)
                except ValueError as error:
                    self._asked[host] = error
            found = self._asked[host]
        if isinstance(found, ValueError):
            name = display_host(host)
            words = f"the credentials for {name} are unavailable: the credentials helper failed: {found}"
            raise UnavailableError(words, source=name, hint="run the helper by hand to see its output")
        return found
