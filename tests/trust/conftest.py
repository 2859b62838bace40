"""The real gpg, in homes of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from locklens.trust.signature import Verifier

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def verifier() -> Iterator[Verifier]:
    with Verifier() as running:
        yield running


class Gnupg:
    """gpg with secret keys, as a publisher has it."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def run(self, *arguments: str, data: bytes = b"") -> bytes:
        command = ["gpg", "--homedir", str(self.home), "--batch", "--quiet", "--yes", "--passphrase", "", *arguments]
        return subprocess.run(command, input=data, capture_output=True, check=True).stdout

    def make(self, name: str, algorithm: str = "rsa2048", expires: str = "never") -> str:
        self.run("--pinentry-mode", "loopback", "--quick-gen-key", name, algorithm, "cert,sign", expires)
        return self.fingerprints(name)[0]

    def fingerprints(self, name: str) -> list[str]:
        lines = self.run("--with-colons", "--list-keys", name).decode().splitlines()
        return [line.split(":")[9] for line in lines if line.startswith("fpr:")]

    def public(self, *names: str) -> str:
        return self.run("--armor", "--export", *names).decode()

    def sign(self, name: str, data: bytes, *options: str) -> bytes:
        return self.run("--local-user", name, *options, "--detach-sign", data=data)


@pytest.fixture(scope="session")
def gnupg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gnupg]:
    home = tmp_path_factory.mktemp("gnupg")
    home.chmod(0o700)
    yield Gnupg(home)
    subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "gpg-agent"], check=False)
