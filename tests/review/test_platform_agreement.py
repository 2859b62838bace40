from __future__ import annotations

import io
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress
from locklens.demo import PLATFORMS, package_bytes
from locklens.executables import BuildInfo, Executable, ExecutableFormat, GoModule
from locklens.packages.hashing import hash_arriving_package
from locklens.packages.inspecting import FileFacts, PackageFacts, PackageInspector
from locklens.review.inspection import InspectedPackage, Inspection
from locklens.review.platform_agreement import ReleaseAgreement, compare_platforms
from locklens.review.reports.inspection_document import InspectDocument
from locklens.versions import Version

SIX = ("darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64", "windows_arm64")
NET = GoModule("golang.org/x/net", "v0.33.0", "h1:a")

ADDRESS = ProviderAddress("registry.terraform.io", "acme", "demo")


def facts(
    platform: str,
    *modules: GoModule,
    go: str = "go1.24.4",
    functions: tuple[str, ...] = (),
    more: Mapping[str, str] = {},
    **settings: str,
) -> PackageFacts:
    system, _, machine = platform.partition("_")
    usual = {"CGO_ENABLED": "0", "GOARCH": machine, "GOOS": system, f"GO{machine.upper()}": "v1"}
    build = BuildInfo(
        go,
        "example.com/p",
        GoModule("example.com/p", "v1.0.0"),
        (NET, *modules),
        tuple((usual | settings | dict(more)).items()),
    )
    program = Executable(ExecutableFormat.ELF, 1, build, functions)
    return PackageFacts("zh:" + platform, "h1:" + platform, 1, (), "terraform-provider-p", program)


def compared(found: dict[str, PackageFacts]) -> ReleaseAgreement:
    return compare_platforms({Platform.parse(name): one for name, one in found.items()})


def told(found: dict[str, PackageFacts]) -> list[tuple[str, list[str]]]:
    return [(one.property, [str(platform) for platform in one.odd]) for one in compared(found).differences]


EXTRA = GoModule("example.com/extra", "v1.0.0")


@pytest.mark.parametrize(
    ("having", "expected"),
    [
        ((), None),
        (("windows_amd64", "windows_arm64"), None),
        (("linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"), None),
        (("linux_arm64", "darwin_arm64", "windows_arm64"), None),
        (("linux_arm64",), ["linux_arm64"]),
        (("linux_arm64", "windows_amd64", "windows_arm64"), []),
        (("linux_arm64", "linux_amd64", "windows_amd64", "darwin_amd64", "darwin_arm64"), ["windows_arm64"]),
    ],
)
def test_a_module_may_belong_to_a_system_or_an_architecture(
    having: tuple[str, ...], expected: list[str] | None
) -> None:
    found = {name: facts(name, *([EXTRA] if name in having else [])) for name in SIX}
    assert told(found) == ([] if expected is None else [("module example.com/extra", expected)])


def test_a_version_never_belongs_to_a_platform() -> None:
    found = {name: facts(name) for name in SIX}
    for name in ("windows_amd64", "windows_arm64"):
        found[name] = facts(name, go="go1.23.0")
    assert told(found) == [("toolchain", ["windows_amd64", "windows_arm64"])]
    [difference] = compared(found).differences
    assert difference.words() == "windows_amd64, windows_arm64: go1.23.0; 4 other platforms: go1.24.4"


def test_the_same_version_with_another_content() -> None:
    found = {name: facts(name, GoModule("example.com/extra", "v1.0.0", "h1:x")) for name in SIX}
    found["darwin_arm64"] = facts("darwin_arm64", GoModule("example.com/extra", "v1.0.0", "h1:y"))
    assert told(found) == [("checksum of example.com/extra v1.0.0", ["darwin_arm64"])]


def test_two_that_differ_are_not_called_odd() -> None:
    found = {"linux_amd64": facts("linux_amd64", EXTRA), "linux_arm64": facts("linux_arm64")}
    assert told(found) == [("module example.com/extra", [])]
    agreement = compared(found)
    assert not agreement.odd
    assert agreement.differences[0].words() == "linux_amd64: v1.0.0; linux_arm64: not linked"


def test_a_package_for_another_platform() -> None:
    found = {name: facts(name) for name in SIX}
    found["linux_arm64"] = facts("linux_arm64", GOARCH="amd64")
    assert told(found) == [("build target GOARCH", ["linux_arm64"])]


def test_settings_name_the_platform_and_the_time() -> None:
    def flags(platform: str, stamp: str, more: str = "") -> dict[str, str]:
        system, _, machine = platform.partition("_")
        machine = {"amd64": "x86_64", "arm64": "aarch64"}[machine]
        return {"-ldflags": f"-s -X main.target={system}_{machine} -X main.date={stamp}{more}"}

    found = {name: facts(name, more=flags(name, f"2026-11-0{day}T10:00:0{day}Z")) for day, name in enumerate(SIX)}
    assert told(found) == []
    found["linux_amd64"] = facts(
        "linux_amd64", more=flags("linux_amd64", "2026-11-01", " -X main.url=https://example.com")
    )
    assert told(found) == [("setting -X main.url", ["linux_amd64"])]


def test_cgo_on_one_system_alone() -> None:
    found = {name: facts(name, CGO_ENABLED="1" if name.startswith("darwin") else "0") for name in SIX}
    assert told(found) == []


def test_revisions_and_linked_packages() -> None:
    found = {name: facts(name, more={"vcs.revision": "a" * 40}) for name in SIX}
    odd = facts("darwin_amd64", functions=("os/exec.(*Cmd).Start",), more={"vcs.revision": "b" * 40})
    assert told(found | {"darwin_amd64": odd}) == [
        ("package os/exec", ["darwin_amd64"]),
        ("revision vcs.revision", ["darwin_amd64"]),
    ]


def test_what_cannot_be_read_is_unknown() -> None:
    unread = Executable(ExecutableFormat.ELF, 1, unread="no build information of Go was found")
    found = {name: facts(name) for name in SIX}
    found["linux_arm64"] = replace(found["linux_arm64"], executable=unread)
    agreement = compared(found)
    assert agreement.unknown == ((Platform("linux", "arm64"), "no build information of Go was found"),)
    assert agreement.differences == ()
    assert len(agreement.platforms) == 5


def test_functions_that_cannot_be_read_are_no_difference() -> None:
    found = {name: facts(name, functions=("os/exec.(*Cmd).Start",)) for name in SIX}
    program = found["linux_arm64"].executable
    assert program is not None
    unread = replace(program, functions=None, unread="its function table is of Go 1.16 or 1.17")
    found["linux_arm64"] = replace(found["linux_arm64"], executable=unread)
    agreement = compared(found)
    assert agreement.differences == ()
    assert agreement.unknown == ((Platform("linux", "arm64"), "its function table is of Go 1.16 or 1.17"),)
    assert len(agreement.platforms) == 6


def test_files_of_one_package() -> None:
    found = {name: facts(name) for name in SIX}
    found["linux_amd64"] = replace(found["linux_amd64"], files=(FileFacts("install.sh", 1, "a" * 64),))
    assert told(found) == [("file install.sh", ["linux_amd64"])]


def test_the_samples() -> None:
    def inside(platform: str, edition: str) -> PackageFacts:
        inspection = PackageInspector()
        data = package_bytes("registry.terraform.io/acme/demo", "1.4.2", platform, edition)
        return inspection.facts(hash_arriving_package([data], io.BytesIO(), new=inspection.content))

    assert told({name: inside(name, "") for name in PLATFORMS}) == []
    agreement = compared({name: inside(name, "again") for name in PLATFORMS})
    assert [str(platform) for platform in agreement.odd] == ["linux_arm64"]
    assert [one.words() for one in agreement.differences] == ["linux_arm64: v0.1.0; 4 other platforms: not linked"]


def test_programs_get_every_platform_with_what_it_differs_in() -> None:
    def package(name: str, *modules: GoModule) -> InspectedPackage:
        version = Version.parse("1.0.0")
        return InspectedPackage(ADDRESS, version, Platform.parse(name), "here", facts(name, *modules))

    others = tuple(package(name) for name in SIX if name != "linux_arm64")
    document = InspectDocument.of(Inspection(((*others, package("linux_arm64", EXTRA)),), "2026-11-23T20:00:00Z"))
    told = {one.platform: one.differs_in for one in document.platforms}
    assert told.keys() == set(SIX)
    assert {name: words for name, words in told.items() if words} == {
        "linux_arm64": ["module example.com/extra: linux_arm64: v1.0.0; 5 other platforms: not linked"]
    }
    alone = InspectDocument.of(Inspection(((others[0],),), "2026-11-23T20:00:00Z"))
    assert alone.platforms == []
