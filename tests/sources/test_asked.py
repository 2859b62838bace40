"""Who may be asked, and that nobody else is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from kit.loopback import Server

from locklens.addresses import ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.sources.hosts import ContactReason, NotAsked, asked_hosts
from locklens.sources.registries import Registries
from locklens.sources.registry import Registry


def test_the_default_registries_and_whom_somebody_vouches_for() -> None:
    asked = asked_hosts(
        OPENTOFU, services=["s.test"], credentials=["c.test", "s.test"], base=["b.test"], given=["g.test"]
    )
    assert {host: asked.judge(host) for host in asked.vouchers} == {
        "registry.opentofu.org": ContactReason.DEFAULT,
        "registry.terraform.io": ContactReason.OTHER_DEFAULT,
        "s.test": ContactReason.SERVICES,
        "c.test": ContactReason.CREDENTIALS,
        "b.test": ContactReason.BASE,
        "g.test": ContactReason.GIVEN,
    }
    verdict = asked.judge("xn--caf-dma.test")
    assert isinstance(verdict, NotAsked)
    assert str(verdict) == "café.test (xn--caf-dma.test) was not asked"
    assert "--ask-host xn--caf-dma.test asks it" in verdict.hint


def test_registries_are_put_together_from_the_users_settings(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "cli.tfrc"
    path.write_text(
        f'host "a.test" {{\n  services = {{ "providers.v1" = "{server.url("/v1/")}" }}\n}}\n'
        'credentials "a.test" {\n  token = "block"\n}\nbroken {\n  x = ,\n}\n'
    )
    environ = {"TF_CLI_CONFIG_FILE": str(path), "TF_TOKEN_b_test": "T"}
    with Registries(TERRAFORM, environ) as registries:
        assert len(registries.problems) == 1, "a file that is broken gives nothing, as with the tools"
        assert isinstance(registries.of("a.test"), NotAsked)
    path.write_text(path.read_text().partition("broken")[0])
    server.gives("/v1/acme/x/versions", {"versions": [{"version": "1.0.0"}]})
    with Registries(TERRAFORM, environ) as registries:
        assert registries.problems == ()
        registry = registries.of("a.test")
        assert isinstance(registry, Registry)
        assert isinstance(registries.of("b.test"), Registry)
        assert isinstance(registries.of("evil.test"), NotAsked)
        for _ in range(2):
            assert len(registry.versions(ProviderAddress("a.test", "acme", "x")).versions) == 1
        assert len(registries.log) == len(server.asked) == 1
        assert server.asked[0].headers["authorization"] == "Bearer block"
        assert "block" not in str(registries.log[0])
        assert str(registries.log[0]).endswith(", with a token")
        registries.forget()
        registry.versions(ProviderAddress("a.test", "acme", "x"))
        assert len(server.asked) == 2


def test_the_http_library_is_loaded_when_somebody_is_asked() -> None:
    script = (
        "import sys\n"
        "from locklens.dialect import TERRAFORM\n"
        "from locklens.sources.registries import Registries\n"
        "Registries(TERRAFORM, {}, is_offline=True).of('registry.terraform.io')\n"
        "assert not {'httpx', 'h11', 'ssl', 'subprocess'} & set(sys.modules), sorted(sys.modules)\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
