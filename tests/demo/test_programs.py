from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
import pytest

from locklens.demo import PLATFORMS, package_bytes, zh
from locklens.demo.executables import executable_bytes
from locklens.demo.programs import changelog, program
from locklens.demo.published import sample_catalog
from locklens.demo.serving import advisory_files
from locklens.executables import BuildInfo, GoModule
from locklens.executables.headers import misfit
from locklens.executables.reader import ExecutableReader

if TYPE_CHECKING:
    from pathlib import Path

DEMO = "registry.terraform.io/acme/demo"
NETBOX = "registry.terraform.io/acme/netbox"


def told(data: bytes, folder: Path) -> list[list[str]]:
    """The lines of `go version -m`, in columns; the first one is the toolchain."""
    path = folder / "program"
    path.write_bytes(data)
    path.chmod(0o755)
    run = subprocess.run(["go", "version", "-m", path], capture_output=True, text=True, check=True)
    first, *lines = run.stdout.splitlines()
    return [[first.rpartition(": ")[2]], *(line.split("\t")[1:] for line in lines)]


needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="Go's own reader is the oracle: needs go on PATH")


@needs_go
@pytest.mark.parametrize("platform", [*PLATFORMS, "freebsd_amd64"])
def test_go_reads_what_was_said(platform: str, tmp_path: Path) -> None:
    other = GoModule("example.com/fork", "v1.0.1", "h1:MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=")
    modules = (GoModule("example.com/a", "v1.0.0", other.checksum), GoModule("example.com/b", "v2.0.0", "", other))
    settings = (("-ldflags", '-s -X "main.text=a b"'), ("CGO_ENABLED", "0"))
    build = BuildInfo("go1.24.4", "example.com/main", GoModule("example.com/main", "(devel)"), modules, settings)
    lines = told(executable_bytes(build, ("main.main", "os/exec.Command"), platform), tmp_path)
    assert [line for line in lines if line != [""]] == [
        ["go1.24.4"],
        ["path", "example.com/main"],
        ["mod", "example.com/main", "(devel)", ""],
        ["dep", "example.com/a", "v1.0.0", other.checksum],
        ["dep", "example.com/b", "v2.0.0"],
        ["=>", "example.com/fork", "v1.0.1", other.checksum],
        ["build", '-ldflags="-s -X \\"main.text=a b\\""'],
        ["build", "CGO_ENABLED=0"],
    ]


@pytest.mark.parametrize("platform", [*PLATFORMS, "freebsd_amd64"])
def test_locklens_reads_what_was_said(platform: str) -> None:
    build = BuildInfo("go1.24.4", "example.com/main", GoModule("example.com/main", "(devel)"))
    names = ("main.main", "os/exec.(*Cmd).Start", "gopkg.in/yaml%2ev3.Unmarshal")
    reader = ExecutableReader()
    reader.feed(executable_bytes(build, names, platform))
    found = reader.close()
    assert (found.build, found.functions, found.unread) == (build, tuple(sorted(names)), None)


@needs_go
def test_the_story_of_the_samples(tmp_path: Path) -> None:
    def modules(platform: str, edition: str) -> dict[str, str]:
        data = program(DEMO, "1.4.2", platform, edition)
        assert data is not None
        return {line[1]: line[2] for line in told(data, tmp_path) if line[0] == "dep"}

    before, after = modules("linux_amd64", ""), modules("linux_amd64", "again")
    assert after.keys() - before.keys() == {"github.com/acme/helpers"}
    assert modules("linux_arm64", "again").keys() - after.keys() == {"github.com/acme/agent"}
    netbox = program(NETBOX, "3.10.0", "darwin_arm64")
    assert netbox is not None
    assert ["=>", "github.com/acme/openapi-runtime", "v0.26.3-acme.1"] in [line[:3] for line in told(netbox, tmp_path)]


@pytest.mark.skipif(sys.platform != "linux", reason="the sample programs run on Linux alone")
def test_it_runs_and_fails_as_the_scripts_do(tmp_path: Path) -> None:
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine)
    if machine is None:
        pytest.skip("no sample program for this machine")
    path = tmp_path / "program"
    path.write_bytes(program(DEMO, "1.4.2", f"linux_{machine}") or b"")
    path.chmod(0o755)
    assert subprocess.run([path], check=False).returncode == 1


def test_each_edition_and_platform_has_bytes_of_its_own() -> None:
    hashes = [zh(DEMO, "1.4.2", platform, edition) for platform in PLATFORMS for edition in ("", "again", "foreign")]
    assert len(set(hashes)) == len(hashes)
    assert all(len(package_bytes(DEMO, "1.4.2", platform)) < 8192 for platform in PLATFORMS)


def test_nearly_every_sample_has_a_program_and_a_changelog() -> None:
    releases = [(provider, version) for provider, versions in sample_catalog().items() for version in versions]
    without = {release for release in releases if program(*release, "linux_amd64") is None}
    assert without == {
        ("registry.terraform.io/hashicorp/aws", "3.76.1"),
        ("registry.terraform.io/hashicorp/template", "2.2.0"),
    }
    assert {release for release in releases if changelog(*release) is None} == without
    text = changelog("registry.terraform.io/hashicorp/aws", "6.2.0")
    assert text is not None
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## 6.2.0", "## 5.86.1", "## 5.84.0", "## 5.82.2"
    ]  # fmt: skip


def test_the_advisories_are_clearly_invented() -> None:
    files = advisory_files()
    assert {place: len(list(names)) for place, names in groupby(sorted(files), lambda name: name.split("/")[0])} == {
        "ID": 8,
        "index": 1,
    }
    for name, content in files.items():
        if name.startswith("ID/"):
            document = msgspec.json.decode(content)
            assert name == f"ID/{document['id']}.json"
            assert document["id"].startswith("GO-0000-")
            assert "invented" in document["details"]


PLATFORMS_OF_HEADERS = [
    f"{system}_{machine}" for system in ("linux", "darwin", "windows") for machine in ("amd64", "arm64")
]


@pytest.mark.parametrize("other", PLATFORMS_OF_HEADERS)
@pytest.mark.parametrize("platform", PLATFORMS_OF_HEADERS)
def test_the_headers_tell_a_program_of_another_platform(platform: str, other: str) -> None:
    program = executable_bytes(BuildInfo("go1.25.1"), ("main.main",), platform)
    assert (misfit(program, other) == "") == (platform == other)
    assert {misfit(data, other) for data in (b"", b"#!/bin/sh\n", program[:5], b"\xca\xfe\xba\xbe" + bytes(60))} == {""}
