"""A real OCI registry and a real client, built from the Go module proxy: distribution's registry, and oras.

Run as a program, it builds them: `python tests/kit/oci_programs.py`. They are kept by their versions in a folder of the
user's cache, and the go command checks their sources against the checksum database. Tests use them where they are, and
build them in a full run; elsewhere they are skipped.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import trustme

PROGRAMS = {
    "registry": "github.com/distribution/distribution/v3/cmd/registry@v3.0.0",
    "oras": "oras.land/oras/cmd/oras@v1.3.6",
}
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "locklens-tests"
# The tests have homes of their own, where go would fetch and compile everything once more.
_ENVIRONMENT = dict(os.environ)

_LIMIT = 1800
"""Seconds of a build: two minutes on two processors that do nothing else."""

USER, PASSWORD = "me", "s3cr3t"
_HTPASSWD = f"{USER}:$2b$04$nXgokPytiN7j6L8vhbeabesdjMGEaqMPBmer2iq16im2irfKiE9Ii\n"

_CONFIGURATION = """\
version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: "{folder}/storage"}}}}
http:
  addr: 127.0.0.1:{port}
  secret: test
  tls: {{certificate: "{folder}/certificate.pem", key: "{folder}/key.pem"}}
auth: {{htpasswd: {{realm: test, path: "{folder}/htpasswd"}}}}
"""


def place_of(name: str) -> Path:
    """Where a program is, or would be."""
    module, _, version = PROGRAMS[name].partition("@")
    return CACHE / f"{name}-{version}" / Path(module).name


def build(name: str) -> str:
    """Build a program that is not there; returns why it cannot be, or ""."""
    place = place_of(name)
    if place.exists():
        return ""
    go = shutil.which("go")
    if go is None:
        return f"{name} is not built, and there is no go command to build it with"
    place.parent.mkdir(parents=True, exist_ok=True)
    with _alone(place.parent), tempfile.TemporaryDirectory(dir=place.parent) as folder:
        if place.exists():
            return ""
        command = ["nice", go, "install", "-trimpath", "-ldflags", "-s -w", PROGRAMS[name]]
        environment = {**_ENVIRONMENT, "GOBIN": folder}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=_LIMIT)
        if done.returncode:
            return f"{PROGRAMS[name]} cannot be built: {done.stderr.strip().splitlines()[-1:]}"
        (Path(folder) / place.name).replace(place)
    return ""


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process of the tests builds in a folder, where the system has such locks."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def missing(*names: str, builds: bool = False) -> str:
    """Why programs cannot be used, "" if they can; with `builds` they are built."""
    for name in names:
        if builds and (problem := build(name)):
            return problem
        if not place_of(name).exists():
            return f"{name} is not built: python tests/kit/oci_programs.py does"
    return ""


@contextmanager
def real_registry(folder: Path, authority: trustme.CA) -> Iterator[str]:
    """Distribution's registry while it runs, over TLS and with the login USER: its address."""
    certificate = authority.issue_cert("127.0.0.1")
    (folder / "certificate.pem").write_bytes(b"".join(one.bytes() for one in certificate.cert_chain_pems))
    certificate.private_key_pem.write_to_path(str(folder / "key.pem"))
    (folder / "htpasswd").write_text(_HTPASSWD)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    (folder / "config.yml").write_text(_CONFIGURATION.format(folder=folder, port=port))
    command = [str(place_of("registry")), "serve", str(folder / "config.yml")]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            _await(port, process, folder / "log")
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()


def _await(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    from kit.waiting import until

    def answers() -> bool:
        assert process.poll() is None, log.read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    until(answers)


def oras(folder: Path, environ: Mapping[str, str], *words: str) -> str:
    """Run oras in a folder; returns what it says."""
    done = subprocess.run(
        [place_of("oras"), *words], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


if __name__ == "__main__":
    for each in PROGRAMS:
        print(build(each) or place_of(each))  # noqa: T201
    sys.exit(any(not place_of(each).exists() for each in PROGRAMS))
