"""Servers that mean harm: what they may cost in memory and time, and whom else they may hurt."""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from kit.effort import effort
from kit.loopback import Handler, server_context, serving, tunnel_to, write_authority

from locklens.errors import UnavailableError
from locklens.sources.http import RequestKind, is_too_slow, sending
from locklens.sources.http.client import Client
from locklens.sources.http.sending import STALL_SECONDS

ANSWER = RequestKind("an answer", 64 * 1024, 5.0)


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def test_failures_without_tls_do_not_silence_the_same_host_over_tls(tmp_path: Path) -> None:
    """A registry names http://VICTIM/… as the places of three files, where nobody listens on port 80."""
    authority = trustme.CA()
    with serving(server_context(authority, "victim.test")) as victim, tunnel_to(victim) as (place, _):
        victim.gives("/a", b"{}")
        environ = {
            "HTTP_PROXY": f"127.0.0.1:{closed_port()}",
            "HTTPS_PROXY": place,
            "SSL_CERT_FILE": str(write_authority(authority, tmp_path / "ca.pem")),
        }
        client = Client(environ)
        for number in range(4):
            with pytest.raises(UnavailableError):
                client.get(f"http://victim.test/{number}", ANSWER)
        assert client.get("https://victim.test/a", ANSWER).body == b"{}"
        client.close()


def test_files_that_cannot_be_unpacked_do_not_silence_their_host(tmp_path: Path) -> None:
    """A hostile registry's own files, in a store that is also that of others."""
    with serving() as store:
        store.gives("/mine", b"no gzip", Content_Encoding="gzip")
        store.gives("/yours", b"{}")
        client = Client({})
        for number in range(4):
            with pytest.raises(UnavailableError, match="cannot be decompressed"):
                client.get(store.url(f"/mine?{number}"), ANSWER)
        assert client.get(store.url("/yours"), ANSWER).body == b"{}"
        client.close()


def dripping(rate: int, seconds: float, *, is_declared: bool) -> Callable[[Handler], None]:
    """A package at so many bytes a second, for at most so long."""

    def drip(handler: Handler) -> None:
        handler.send_response(200)
        if is_declared:
            handler.send_header("Content-Length", str(200 * 1024 * 1024))
        handler.end_headers()
        for _ in range(int(seconds * 20)):
            handler.wfile.write(bytes(rate // 20))
            if handler.server.release.wait(0.05):
                break
        handler.close_connection = True

    return drip


@pytest.mark.parametrize("is_declared", [True, False])
def test_a_package_that_never_stalls_and_never_ends_is_given_up(
    monkeypatch: pytest.MonkeyPatch, *, is_declared: bool
) -> None:
    """Seconds of patience follow from STALL_SECONDS: 300 for 30, 3 here; a drip of 5 KB/s outlives neither."""
    monkeypatch.setattr(sending, "STALL_SECONDS", 0.3)
    with serving() as server:
        server.on("/drip", dripping(5000, 15, is_declared=is_declared))
        client = Client({})
        with (
            pytest.raises(UnavailableError, match=r"sends a package too slowly: .* in \d+ seconds") as caught,
            client.download(server.url("/drip")) as download,
        ):
            for _ in download.chunks:
                pass
        assert "\n" not in str(caught.value)
        client.close()


def test_no_package_may_take_for_ever() -> None:
    """Whatever its rate, and also where a server keeps just above the least one."""
    assert is_too_slow(5000 * 599, 599.0, STALL_SECONDS)
    assert not is_too_slow(20_000 * 3600, 3600.0, STALL_SECONDS)
    assert is_too_slow(20_000 * 15_000, 15_000.0, STALL_SECONDS)
    assert not is_too_slow(0, STALL_SECONDS, STALL_SECONDS)


def versions(count: int, member: str, items: int, item: str) -> bytes:
    """A list of versions in which no two have the same `member`."""
    listed = (
        f'{{"version":"{n}.0.0","{member}":[{",".join(item % (n * items + i) for i in range(items))}]}}'
        for n in range(count)
    )
    return ('{"versions":[' + ",".join(listed) + "]}").encode()


BOMBS: dict[str, Callable[[], bytes]] = {
    "objects": lambda: b'{"versions":[' + b"{}," * 1_390_000 + b"{}]}",
    "keys": lambda: b"{" + b",".join(b'"%07x":0' % number for number in range(345_000)) + b"}",
    "protocols": lambda: versions(9_000, "protocols", 50, '"%x"'),
    "platforms": lambda: versions(3_600, "platforms", 40, '{"os":"%x","arch":"b"}'),
}
PROVIDERS = effort(4, 16)


@contextmanager
def hostile_registry(
    tmp_path: Path, providers: int, body: bytes, **headers: Any
) -> Iterator[tuple[Path, dict[str, str]]]:
    """A root module that requires providers of a registry, of each of which it says the same, and its environment."""
    root = tmp_path / "root"
    root.mkdir()
    names = [f"p{number}" for number in range(providers)]
    sources = "\n".join(f'{name} = {{ source = "acme.test/acme/{name}" }}' for name in names)
    (root / "main.tf").write_text("terraform {\nrequired_providers {\n" + sources + "\n}\n}\n")
    with serving() as server:
        for name in names:
            server.gives(f"/v1/acme/{name}/versions", body, **headers)
        config = tmp_path / "cli.tfrc"
        config.write_text(f'host "acme.test" {{\n  services = {{ "providers.v1" = "{server.url("/v1/")}" }}\n}}\n')
        yield root, {**os.environ, "TF_CLI_CONFIG_FILE": str(config)}


def peak_of(command: list[str], root: Path, environ: dict[str, str]) -> tuple[int, str]:
    """Runs a command and returns its peak memory in MiB, and what it said.

    A small program starts it: Linux counts the memory of the process that a program is started from as the program's own.
    """
    run = "import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], stderr=subprocess.STDOUT, check=False)\n"
    run += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\n"
    done = subprocess.run(
        [sys.executable, "-c", run, *command], cwd=root, env=environ, capture_output=True, text=True, check=False
    )
    return int(done.stderr) // (1024 if sys.platform == "linux" else 1024 * 1024), done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="wait4 is not there")
@pytest.mark.parametrize("bomb", BOMBS)
def test_answers_of_one_registry_cost_little_memory(tmp_path: Path, bomb: str) -> None:
    """Providers of one registry, each with almost 4 MiB about its versions."""
    body = BOMBS[bomb]()
    assert 3 * 1024 * 1024 < len(body) < 4 * 1024 * 1024
    with hostile_registry(tmp_path, PROVIDERS, body) as (root, environ):
        peak, said = peak_of([sys.executable, "-m", "locklens", "lock"], root, environ)
    assert "acme.test" in said
    assert peak < 100 + 25 * PROVIDERS, f"{peak} MiB"


def test_an_answer_that_unpacks_to_a_thousand_times_its_size_is_refused(tmp_path: Path) -> None:
    with hostile_registry(tmp_path, 1, gzip.compress(BOMBS["objects"]()), Content_Encoding="gzip") as (root, environ):
        _, said = peak_of([sys.executable, "-m", "locklens", "lock"], root, environ)
    assert "sent a list of versions that unpacks to more than 100 times its size" in said
