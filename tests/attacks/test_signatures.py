"""Signatures that gpg finds good and the tools refuse: `locklens init` ends as each of the real tools does."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conformance.case import requires
from msgspec.structs import replace
from trust import conftest
from trust.conftest import Gnupg
from trust.test_authentication import IN_2040, of_version_3

from locklens.cli.main import main
from locklens.demo.published import Published, SampleListing
from locklens.demo.publishers import publisher
from locklens.demo.registry import DemoRegistry
from locklens.dialect import DIALECTS, OPENTOFU, TERRAFORM

gnupg = conftest.gnupg
ACME = publisher("acme")
ENFORCED = {"OPENTOFU_ENFORCE_GPG_EXPIRATION": "true"}


class Resigned(DemoRegistry):
    """Serves releases that are signed in a way of one's choice."""

    resign: Callable[[Published], Published] = staticmethod(lambda release: release)

    def release(self, provider: str, version: str) -> Published | None:
        found = super().release(provider, version)
        return found and self.resign(found)


def in_the_future(release: Published, _: Gnupg) -> Published:
    return replace(release, signature=ACME.key.signature(release.sums, IN_2040))


def version_3(release: Published, _: Gnupg) -> Published:
    return replace(release, signature=of_version_3(release.sums))


def ripemd160(release: Published, gnupg: Gnupg) -> Published:
    name = "ripemd160@attacks.example"
    if not gnupg.run("--list-keys", "--with-colons").count(name.encode()):
        gnupg.make(name)
    signature = gnupg.sign(name, release.sums, "--digest-algo", "RIPEMD160")
    return replace(release, signature=signature, keys=(gnupg.public(name),))


def ripemd160_and_good(release: Published, gnupg: Gnupg) -> Published:
    odd = ripemd160(release, gnupg)
    return replace(release, signature=odd.signature + release.signature, keys=(*odd.keys, *release.keys))


def good(release: Published, _: Gnupg) -> Published:
    return release


CASES = [
    ("terraform", good, {}, 0),
    ("terraform", in_the_future, {}, 1),
    ("terraform", version_3, {}, 1),
    ("terraform", ripemd160, {}, 1),
    ("terraform", ripemd160_and_good, {}, 0),
    ("opentofu", good, {}, 0),
    ("opentofu", in_the_future, {}, 0),
    ("opentofu", in_the_future, ENFORCED, 1),
    ("opentofu", version_3, {}, 1),
    ("opentofu", ripemd160, {}, 1),
    ("opentofu", ripemd160_and_good, {}, 0),
]


@pytest.mark.parametrize(
    ("tool", "resign", "variables", "status"),
    CASES,
    ids=lambda one: one.__name__ if callable(one) else "enforced" if one == ENFORCED else str(one) if one else "",
)
def test_init_ends_as_the_tools_do(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    gnupg: Gnupg,
    tool: str,
    resign: Callable[[Published, Gnupg], Published],
    variables: dict[str, str],
    status: int,
) -> None:
    dialect = DIALECTS[tool]
    host = dialect.default_host
    with Resigned({f"{host}/acme/demo": [SampleListing("1.1.0", ("linux_amd64",))]}, tells_packages=False) as registry:
        registry.resign = lambda release: resign(release, gnupg)
        settings = tmp_path / "cli.tfrc"
        settings.write_text(
            f'host "{host}" {{\n  services = {{ "providers.v1" = "{registry.service_url(host)}" }}\n}}\n'
        )
        for name in [one for one in os.environ if one.startswith(("TF_", "OPENTOFU_"))]:
            monkeypatch.delenv(name)
        for name, value in {**variables, "TF_CLI_CONFIG_FILE": str(settings), "CHECKPOINT_DISABLE": "1"}.items():
            monkeypatch.setenv(name, value)
        for name in ("ours", "theirs"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "main.tf").write_text(requires(("acme/demo", "")))
        monkeypatch.chdir(tmp_path / "ours")
        assert main(["init", "--tool", tool], lambda *_: 0) == status
        program = shutil.which({TERRAFORM: "terraform", OPENTOFU: "tofu"}[dialect])
        if program is None:
            pytest.skip(f"{dialect.product} is not installed: only locklens was asked")
        done = subprocess.run(
            [program, "init", "-no-color"], cwd=tmp_path / "theirs", capture_output=True, text=True, check=False
        )
    assert done.returncode == status, done.stdout + done.stderr
