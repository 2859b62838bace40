"""Signatures that gpg finds good and the tools refuse: `locklens init` ends as each of the real tools does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conformance.case import requires
from kit.repositories import put
from msgspec.structs import replace
from trust import conftest, selfsigned
from trust.conftest import Gnupg
from trust.test_authentication import IN_2040, of_version_3

from locklens.addresses import Platform, ProviderAddress
from locklens.cli.main import main
from locklens.demo.published import Published, SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.demo.signing import SIGNED_AT, publisher
from locklens.dialect import DIALECTS, OPENTOFU, TERRAFORM, Dialect
from locklens.sources.metadata import ListedKey, PackageMetadata, SignedChecksums
from locklens.trust.authentication import AuthenticationOutcome, Enforcement, authenticate
from locklens.trust.signature import Verifier
from locklens.versions import Version

gnupg = conftest.gnupg
verifier = conftest.verifier
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


def settle(
    monkeypatch: pytest.MonkeyPatch, folder: Path, registry: DemoRegistry, dialect: Dialect, variables: dict[str, str]
) -> None:
    """Has locklens and the tool ask a registry in place of the default one."""
    host, settings = dialect.default_host, folder / "cli.tfrc"
    settings.write_text(f'host "{host}" {{\n  services = {{ "providers.v1" = "{registry.service_url(host)}" }}\n}}\n')
    for name in [one for one in os.environ if one.startswith(("TF_", "OPENTOFU_"))]:
        monkeypatch.delenv(name)
    for name, value in {**variables, "TF_CLI_CONFIG_FILE": str(settings), "CHECKPOINT_DISABLE": "1"}.items():
        monkeypatch.setenv(name, value)


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
        settle(monkeypatch, tmp_path, registry, dialect, variables)
        for name in ("ours", "theirs"):
            put(tmp_path / name, {"main.tf": requires(("acme/demo", ""))})
        monkeypatch.chdir(tmp_path / "ours")
        assert main(["init", "--tool", tool], lambda *_: 0) == status
        program = shutil.which({TERRAFORM: "terraform", OPENTOFU: "tofu"}[dialect])
        if program is None:
            pytest.skip(f"{dialect.product} is not installed: only locklens was asked")
        done = subprocess.run(
            [program, "init", "-no-color"], cwd=tmp_path / "theirs", capture_output=True, text=True, check=False
        )
    assert done.returncode == status, done.stdout + done.stderr


def signed_by(key: selfsigned.Certifying) -> Callable[[bytes], bytes]:
    return lambda sums: key.signed(sums, SIGNED_AT)


SIGNED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    **{name: (text, signed_by(selfsigned.KEY)) for name, text in selfsigned.BY_THE_PRIMARY_KEY.items()},
    **{name: (text, signed_by(selfsigned.SUB)) for name, text in selfsigned.BY_THE_SUBKEY.items()},
    **{name: (selfsigned.BY_THE_PRIMARY_KEY["good"], sign) for name, sign in selfsigned.OF_THE_RELEASE.items()},
}
DISPUTED = {"critical subpacket that OpenTofu knows", "bad and of version 5, then good"}
"""Files with a signature that one of the tools reads and the other passes over: locklens refuses them for both."""
STRICTER = {
    "terraform": {"not exportable"},  # OpenTofu passes it over.
    # OpenTofu warns where a binding has expired; gpg does not verify by such a subkey.
    "opentofu": DISPUTED | {"binding expired", "latest binding expired"},
    # Neither tool reads direct-key signatures.
    "opentofu enforced": DISPUTED | {"key expired by a direct-key signature"},
}
"""What the tools accept, and locklens does not."""


@pytest.mark.parametrize("name", STRICTER)
def test_self_signatures_count_as_they_do_for_the_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verifier: Verifier, name: str
) -> None:
    tool, _, enforced = name.partition(" ")
    dialect = DIALECTS[tool]
    cases = {f"case{number}": case for number, case in enumerate(SIGNED)}
    offered = {f"{dialect.default_host}/acme/{case}": [SampleListing("1.1.0", ("linux_amd64",))] for case in cases}

    def resign(release: Published) -> Published:
        armored, sign = SIGNED[cases[release.provider.rpartition("/")[2]]]
        return replace(release, signature=sign(release.sums), keys=(armored,))

    ours = set()
    with Resigned(offered, tells_packages=False) as registry:
        registry.resign = resign
        for provider in offered:
            published = registry.release(provider, "1.1.0")
            assert published is not None
            keys = tuple(ListedKey(key) for key in published.keys)
            build = (
                ProviderAddress(dialect.default_host, "acme", "demo"),
                Version.parse("1.4.2"),
                Platform("linux", "amd64"),
            )
            release = PackageMetadata(*build, signing_keys=keys), SignedChecksums(published.sums, published.signature)
            judged = authenticate(*release, dialect, verifier, Enforcement(expiration=bool(enforced)))
            if judged.outcome is AuthenticationOutcome.ACCEPTED:
                ours.add(cases[provider.rpartition("/")[2]])
        settle(monkeypatch, tmp_path, registry, dialect, ENFORCED if enforced else {})
        (tmp_path / "main.tf").write_text(requires(*((f"acme/{case}", "") for case in cases)))
        program = shutil.which({TERRAFORM: "terraform", OPENTOFU: "tofu"}[dialect])
        if program is None:
            pytest.skip(f"{dialect.product} is not installed")
        done = subprocess.run([program, "init", "-no-color"], cwd=tmp_path, capture_output=True, text=True, check=False)
    theirs = {cases[case] for case in re.findall(r"Installed acme/(case\d+) ", done.stdout)}
    assert {"good", "release good"} <= theirs, done.stdout + done.stderr
    assert ours - theirs == set()
    assert theirs - ours == STRICTER[name]
