"""Folders of packages, well-formed and hostile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from locklens.addresses import Platform, ProviderAddress
from locklens.errors import PlatformNotSupportedError, ProviderNotFoundError, UnavailableError
from locklens.sources import mirrors
from locklens.sources.mirrors import FilesystemMirror, search
from locklens.versions import Version

DEMO = ProviderAddress("registry.terraform.io", "acme", "demo")
HERE = Platform("linux", "amd64")
TOP = "registry.terraform.io/acme/demo"


def put(top: Path, *names: str) -> None:
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.write_text("x")


def found(top: Path) -> list[str]:
    return [f"{one.version} {one.platform}" for packages in search(top).values() for one in packages]


def test_what_is_a_package_and_what_is_not(tmp_path: Path) -> None:
    put(
        tmp_path,
        f"{TOP}/terraform-provider-demo_1.0.0_linux_amd64.zip",
        f"{TOP}/terraform-provider-demo_1.1.0_linux_arm_v6.zip",
        f"{TOP}/terraform-provider-other_1.2.0_linux_amd64.zip",
        f"{TOP}/terraform-provider-demo_1.3.0.zip",
        f"{TOP}/2.0.0/linux_amd64/",
        f"{TOP}/2.0.0/linux_amd64.lock",
        f"{TOP}/2.0.0/Linux_AMD64/",
        f"{TOP}/v2.1.0/linux_amd64/",
        "bad host/acme/demo/3.0.0/linux_amd64/",
        "registry.terraform.io/acme/terraform-provider-demo_4.0.0_linux_amd64.zip",
    )
    assert found(tmp_path) == ["2.0.0 linux_amd64", "1.0.0 linux_amd64", "1.1.0 linux_arm"]


def test_answers(tmp_path: Path) -> None:
    put(tmp_path, f"{TOP}/terraform-provider-demo_1.0.0_linux_amd64.zip")
    mirror = FilesystemMirror(tmp_path)
    [listed] = mirror.versions(DEMO).versions
    assert (listed.version, listed.platforms) == (Version.parse("1.0"), (HERE,))
    metadata = mirror.package(DEMO, listed.version, HERE)
    assert (mirror.package_size(metadata), mirror.checksums(metadata)) == (1, None)
    with mirror.open_package(metadata) as transfer:
        assert (transfer.length, b"".join(transfer.chunks)) == (1, b"x")
    with pytest.raises(PlatformNotSupportedError):
        mirror.package(DEMO, listed.version, Platform("darwin", "arm64"))
    with pytest.raises(ProviderNotFoundError):
        mirror.versions(ProviderAddress("registry.terraform.io", "acme", "other"))
    with pytest.raises(UnavailableError, match="cannot search") as caught:
        FilesystemMirror(tmp_path / "none").versions(DEMO)
    assert caught.value.hint == "check the path of the mirror", "it may be of the command line"


def test_folders_that_are_links_are_not_entered(tmp_path: Path) -> None:
    put(tmp_path, f"real/{TOP}/1.0.0/linux_amd64/")
    (tmp_path / "a").mkdir()
    (tmp_path / "a/registry.terraform.io").symlink_to(tmp_path / "real/registry.terraform.io")
    (tmp_path / "b/registry.terraform.io/acme/demo").mkdir(parents=True)
    (tmp_path / "b" / TOP / "1.0.0").symlink_to(tmp_path / "real" / TOP / "1.0.0")
    assert found(tmp_path / "a") == []
    assert found(tmp_path / "b") == []


def test_a_loop_and_a_flood_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, f"{TOP}/1.0.0/linux_amd64/")
    (tmp_path / TOP / "1.0.0/linux_amd64/loop").symlink_to(tmp_path)
    assert found(tmp_path) == ["1.0.0 linux_amd64"]
    monkeypatch.setattr(mirrors, "_MOST_NAMES", 30)
    put(tmp_path, *(f"{TOP}/{number}" for number in range(40)))
    with pytest.raises(UnavailableError, match="more than 30 names"):
        FilesystemMirror(tmp_path).versions(DEMO)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_in_the_place_of_a_package_is_not_read(tmp_path: Path) -> None:
    put(tmp_path, f"{TOP}/terraform-provider-demo_1.0.0_linux_amd64.zip")
    mirror = FilesystemMirror(tmp_path)
    metadata = mirror.package(DEMO, Version.parse("1.0.0"), HERE)
    assert metadata.path is not None
    metadata.path.unlink()
    os.mkfifo(metadata.path)
    with pytest.raises(UnavailableError, match="not a regular file"), mirror.open_package(metadata):
        pass
