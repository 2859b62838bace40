"""`upgrade` with a mirror instead of registries, and what it and `lock` say of a broken CLI configuration."""

from __future__ import annotations

from pathlib import Path

import pytest
from conformance.case import HERE, TERRAFORM, Files, requires
from msgspec.structs import replace
from operations.benches import CASE, Bench, bench, run

from locklens.operations.write.registry_source import RegistrySource
from locklens.project.installation import InstallationMethod, MethodKind
from locklens.releases import NetworkSettings
from locklens.storage.cache import Cache

OLD: Files = {"main.tf": requires(("acme/demo", "1.0.0"))}
PINNED = replace(CASE, files=OLD, cli="# @MIRROR@\n")
LOCK = ".terraform.lock.hcl"

Capture = pytest.CaptureFixture[str]


def with_newer_in_a_mirror(place: Bench, folder: str) -> None:
    """Lock 1.0.0, and put the newest version into a mirror."""
    assert run("lock", f"-platform={HERE}") == 0
    (place.work / "main.tf").write_text(requires(("acme/demo", "~> 1.0")))
    assert run("mirror", "-lock-file=false", f"-platform={HERE}", folder) == 0
    place.steps()


@pytest.mark.parametrize("kind", ["fs", "net"])
def test_an_upgrade_from_a_mirror_asks_no_registry(monkeypatch: pytest.MonkeyPatch, capfd: Capture, kind: str) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        with_newer_in_a_mirror(place, "served")
        where = "served" if kind == "fs" else place.names.put_in("@MIRROR@")
        assert run("upgrade", f"-{kind}-mirror={where}", "--platform", HERE) == 0, capfd.readouterr().err
        lock = (place.work / LOCK).read_text()
        capfd.readouterr()
        assert run("undo", "--list") == 0
        command = f"locklens upgrade --{kind}-mirror {where} --platform {HERE}"
        assert capfd.readouterr().out.splitlines()[0].endswith(f"  {command}"), "to be run again"
        assert 'version     = "1.2.0"' in lock
        assert "h1:" in lock
        assert place.steps() == []


def test_signed_hashes_that_a_mirror_has_not_are_counted_once(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        with_newer_in_a_mirror(place, "mirror")
        dropped = (place.work / LOCK).read_text().count('"zh:')
        capfd.readouterr()
        assert run("upgrade", "--fs-mirror", "mirror") == 0
        warnings = [one for one in capfd.readouterr().err.splitlines() if one.startswith(("warning: ", "hint: "))]
        lost = f"{dropped} zh hashes of {dropped - 1} packages"  # one is of the registry's manifest
        left = f"1.2.0 is locked by 1 h1 hash alone, for {HERE}; the mirror has no package for another platform"
        assert warnings == [
            f"warning: .: acme/demo: {lost} are dropped, as a mirror has no signed list: {left}",
            "hint: `locklens lock` adds the signed zh of all packages where the registry can be reached",
        ]


def test_a_cooldown_cannot_be_checked_with_a_mirror(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        with_newer_in_a_mirror(place, "mirror")
        (place.work / "locklens.toml").write_text("cooldown = 7\n")
        capfd.readouterr()
        assert run("upgrade", "--fs-mirror", "mirror", "--platform", HERE) == 0
        assert "release date of 1.2.0 unknown: the 7-day cooldown cannot be checked" in capfd.readouterr().err
        assert place.steps() == []


@pytest.mark.parametrize("direct", ["", 'direct {\n    include = ["reg.acme.test/*/*"]\n  }', "direct {}"])
def test_without_its_registry_the_mirror_of_the_settings_is_named(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture, direct: str
) -> None:
    with bench(TERRAFORM, monkeypatch, PINNED) as place:
        with_newer_in_a_mirror(place, "served")
        place.configure(
            f'provider_installation {{\n  filesystem_mirror {{\n    path = "served"\n  }}\n  {direct}\n}}\n'
        )
        file = Path(place.environ["TF_CLI_CONFIG_FILE"])
        file.write_text(file.read_text().replace(f":{place.registry.port}/", ":9/"))
        monkeypatch.setenv("TF_REGISTRY_DISCOVERY_RETRY", "0")
        where = "the CLI configuration installs this provider from served alone"
        hint = f"{where}: `lock acme/demo` and `upgrade acme/demo` read it with the option `--fs-mirror served`"
        for words in (("upgrade", "acme/demo"), ("upgrade", "--list"), ("lock", f"-platform={HERE}")):
            capfd.readouterr()
            assert run(*words) == 1
            said = capfd.readouterr()
            assert (hint in " ".join((said.out + said.err).split())) == (direct != "direct {}"), words
        assert run("upgrade", "acme/demo", "--fs-mirror", "served", "--platform", HERE) == 0


def test_the_login_of_a_mirror_is_in_no_command_line() -> None:
    method = InstallationMethod(MethodKind.NETWORK, "https://user:secret@mirror.example:8443/packages/")
    with Cache.in_memory() as cache, RegistrySource(NetworkSettings({}, cache, methods=(method,))) as source:
        assert source.mirror_words == ("--net-mirror", "https://mirror.example:8443/packages/")


def test_mirror_options_that_contradict(capfd: Capture) -> None:
    for words in (
        ("--fs-mirror", "a", "--net-mirror", "https://b.example/"),
        ("--net-mirror", "http://b.example/"),
        ("--safe", "--fs-mirror", "a"),
    ):
        assert run("upgrade", *words) == 2
        assert "mirror" in capfd.readouterr().err
    for kind in MethodKind:
        if kind.argument:
            place = "r.test/{namespace}/{type}" if kind is MethodKind.OCI else "https://b.example/"
            assert run("upgrade", "--safe", kind.option, place) == 2
            assert f"take no {kind.option}\n" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["init", "lock", "upgrade"])
def test_problems_of_the_cli_configuration_are_named(
    monkeypatch: pytest.MonkeyPatch, capfd: Capture, command: str
) -> None:
    with bench(TERRAFORM, monkeypatch, replace(CASE, files=OLD)) as place:
        run("lock")
        file = place.environ["TF_CLI_CONFIG_FILE"]
        place.configure("provider_installation {\n  direct {}\n  carrier_pigeon {}\n}\n")
        capfd.readouterr()
        run(command)
        said = capfd.readouterr().err
        assert f"note: {file}" in said
        assert 'unknown installation method "carrier_pigeon"' in said
