"""A real OCI registry (distribution's), a real client (oras) and the real tool beside locklens: whoever pushes, whoever
installs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme
from conformance.case import OPENTOFU
from conformance.running import is_here
from kit.effort import IS_FULL
from kit.oci_programs import PASSWORD, USER, missing, oras, real_registry
from operations.benches import Bench, bench, files, run

_MISSING = missing("registry", "oras", builds=IS_FULL)
pytestmark = pytest.mark.skipif(bool(_MISSING), reason=_MISSING)

PLATFORMS = ("-platform=linux_amd64", "-platform=darwin_arm64")
REPOSITORIES = {"registry.opentofu.org/acme/demo": "1.2.0", "reg.acme.test/a/other": "1.0.0"}


@contextmanager
def beside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[Bench, str]]:
    """A root with its registry, and a registry of distribution's that all programs have a login for."""
    authority = trustme.CA()
    with bench(OPENTOFU, monkeypatch) as place, real_registry(tmp_path, authority) as host:
        bundle = place.home / "authorities.pem"
        bundle.write_bytes(authority.cert_pem.bytes())
        place.environ["SSL_CERT_FILE"] = str(bundle)
        monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
        oras(place.work, place.environ, "login", "--username", USER, "--password", PASSWORD, host)
        yield place, host


def from_mirror(place: Bench, host: str) -> None:
    template = f"{host}/p/${{hostname}}/${{namespace}}/${{type}}"
    place.configure(f'provider_installation {{\n  oci_mirror {{\n    repository_template = "{template}"\n  }}\n}}\n')


def installed(place: Bench) -> dict[str, bytes]:
    """Install with locklens, and with the tool where it is on PATH: both lock and unpack the same."""
    lock, data = place.work / ".terraform.lock.hcl", place.work / ".terraform"
    assert run("init", "--tool", "opentofu") == 0
    ours = {"lock": lock.read_bytes(), **files(data)}
    if is_here(OPENTOFU):
        lock.unlink()
        data.rename(place.home / "ours")
        assert "verified checksum" in place.real("init", "-no-color")
        # OpenTofu leaves an empty file beside each folder, by which its processes wait for each other.
        theirs = {name: content for name, content in files(data).items() if not name.endswith(".lock")}
        assert {"lock": lock.read_bytes(), **theirs} == ours
    return ours


def test_locklens_pushes_and_both_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with beside(monkeypatch, tmp_path) as (place, host):
        target = f"oci://{host}/p/{{hostname}}/{{namespace}}/{{type}}"
        assert run("mirror", "--tool", "opentofu", PLATFORMS[0], target) == 0
        assert run("mirror", "--tool", "opentofu", *PLATFORMS, target) == 1
        assert "for darwin_arm64" in capfd.readouterr().err
        assert run("mirror", "--tool", "opentofu", "--add-platforms", *PLATFORMS, target) == 0
        capfd.readouterr()
        assert run("mirror", "--tool", "opentofu", "--verbose", *PLATFORMS, target) == 0
        said = capfd.readouterr().err
        assert said.count("; already there") == 4
        assert "POST " not in said
        assert "PUT " not in said
        assert PASSWORD not in said
        for name, version in REPOSITORIES.items():
            manifest = json.loads(oras(place.work, place.environ, "manifest", "fetch", f"{host}/p/{name}:{version}"))
            assert [one["platform"]["os"] for one in manifest["manifests"]] == ["linux", "darwin"]
        from_mirror(place, host)
        place.steps()
        assert installed(place)
        assert place.steps() == []


def push_by_oras(place: Bench, host: str, packages: Path) -> None:
    """Push a folder's packages as OpenTofu's documentation says (cli/oci_registries/provider-mirror)."""
    for name, version in REPOSITORIES.items():
        folder = packages / name
        names = sorted(path.name for path in folder.glob("*.zip"))
        platforms = [one.removesuffix(".zip").partition(f"_{version}_")[2] for one in names]
        for one, platform in zip(names, platforms, strict=True):
            oras(
                folder, place.environ, "push",
                "--artifact-type", "application/vnd.opentofu.provider-target",
                "--artifact-platform", platform.replace("_", "/"),
                "--oci-layout", f"layout:{platform}", f"{one}:archive/zip",
            )  # fmt: skip
        kind = "--artifact-type=application/vnd.opentofu.provider"
        oras(
            folder, place.environ, "manifest", "index", "create", kind, "--oci-layout", f"layout:{version}", *platforms
        )
        oras(folder, place.environ, "cp", "--from-oci-layout", f"layout:{version}", f"{host}/p/{name}:{version}")


def test_oras_pushes_and_both_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with beside(monkeypatch, tmp_path) as (place, host):
        packages = place.home / "packages"
        assert run("mirror", "--tool", "opentofu", PLATFORMS[0], str(packages)) == 0
        push_by_oras(place, host, packages)
        target = f"oci://{host}/p/{{hostname}}/{{namespace}}/{{type}}"
        capfd.readouterr()
        assert run("mirror", "--tool", "opentofu", PLATFORMS[0], target) == 0
        assert capfd.readouterr().err.count("; already there") == 2
        assert run("mirror", "--tool", "opentofu", "--add-platforms", *PLATFORMS, target) == 0
        option = f"-oci-mirror={target}"
        assert run("lock", "--tool", "opentofu", *PLATFORMS, option) == 0
        (place.work / ".terraform.lock.hcl").unlink()
        from_mirror(place, host)
        place.steps()
        assert installed(place)
        assert place.steps() == []
