"""What differs between two packages, and what cannot be said."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress
from locklens.executables import BuildInfo, Executable, ExecutableFormat, GoModule
from locklens.packages.inspecting import FileFacts, PackageFacts, TextFacts
from locklens.review.inspection import (
    InspectedPackage,
    Inspection,
    Inspections,
    ModuleChange,
    ValueDifference,
    compare_packages,
    settings_of,
)
from locklens.review.reports.inspection import inspection_lines, markdown, render
from locklens.review.reports.inspection_document import InspectDocument
from locklens.versions import Version


def package(
    *modules: GoModule,
    go: str = "go1.22.1",
    functions: tuple[str, ...] = (),
    settings: tuple[tuple[str, str], ...] = (),
    files: tuple[FileFacts, ...] = (),
    texts: tuple[TextFacts, ...] = (),
    name: str = "terraform-provider-x_v1",
) -> PackageFacts:
    program = Executable(ExecutableFormat.ELF, 10, BuildInfo(go, "x", None, modules, settings), functions)
    return PackageFacts(None, "h1:x", 10, (FileFacts(name, 10, "0" * 64), *files), name, program, texts)


def module(path: str, version: str, by: GoModule | None = None, checksum: str = "h1:a") -> GoModule:
    return GoModule(path, version, checksum, by)


def test_modules_are_told_apart_rarest_first() -> None:
    fork = GoModule("example.com/fork", "v1.0.0", "h1:f")
    old = package(
        module("a", "v1.0.0"), module("b", "v1.9.0"), module("c", "v2.0.0"), module("d", "v1.0.0"),
        module("e", "v1.0.0"), module("f", "v1.0.0", fork), module("same", "v1.0.0"), module("z", "(devel)"),
    )  # fmt: skip
    new = package(
        module("a", "v1.0.0", fork), module("b", "v1.10.0"), module("c", "v1.0.0"), module("d", "v1.0.0", None, "h1:b"),
        module("f", "v1.0.0", GoModule("example.com/fork", "v1.1.0", "h1:g")), module("g", "v1.0.0"),
        module("same", "v1.0.0"), module("z", "v1.0.0"),
    )  # fmt: skip
    found = [(one.path, one.kind) for one in compare_packages(old, new).modules]
    assert found == [
        ("a", ModuleChange.REPLACED),
        ("d", ModuleChange.REPLACED),
        ("z", ModuleChange.REPLACED),
        ("g", ModuleChange.NEW),
        ("c", ModuleChange.DOWN),
        ("e", ModuleChange.GONE),
        ("b", ModuleChange.UP),
        ("f", ModuleChange.UP),
    ]


@pytest.mark.parametrize(
    ("flags", "settings"),
    [
        ("-s -w", {"-ldflags": "-s -w"}),
        (
            "-s -w -X main.version=1.2.3 -X=main.b=c=d",
            {"-ldflags": "-s -w", "-X main.b": "c=d", "-X main.version": "1.2.3"},
        ),
        ("-X 'main.v=1 2' -X \"main.w=3\"", {"-X main.v": "1 2", "-X main.w": "3"}),
        ("-X", {"-X ": ""}),
        ("'", {}),
    ],
)
def test_variables_of_the_linker_have_names_of_their_own(flags: str, settings: dict[str, str]) -> None:
    assert settings_of(BuildInfo("go1", settings=(("-ldflags", flags),))) == settings


def test_settings_and_toolchain() -> None:
    old = package(settings=(("vcs.revision", "a"), ("CGO_ENABLED", "0"), ("-ldflags", "-X main.v=1")))
    new = package(go="go1.23.0", settings=(("vcs.revision", "b"), ("CGO_ENABLED", "1"), ("-trimpath", "true")))
    found = compare_packages(old, new)
    assert found.toolchain == ValueDifference("go", "go1.22.1", "go1.23.0")
    assert [one.name for one in found.settings] == ["CGO_ENABLED", "-X main.v", "-trimpath", "vcs.revision"]


def test_what_is_linked_for_the_first_time() -> None:
    old, new = (
        package(functions=("net/smtp.(*Client).Mail",)),
        package(functions=("os/exec.(*Cmd).Start", "plugin.Open")),
    )
    found = compare_packages(old, new)
    assert (found.notable_new, found.notable_gone) == (("plugin", "os/exec"), ("net/smtp",))


def test_the_program_is_no_changed_file() -> None:
    old = package(files=(FileFacts("LICENSE", 1, "1" * 64), FileFacts("gone", 1, "1" * 64)))
    new = package(
        files=(FileFacts("LICENSE", 1, "2" * 64), FileFacts("new", 1, "1" * 64)), name="terraform-provider-x_v2"
    )
    assert [(one.name, one.state) for one in compare_packages(old, new).files] == [
        ("LICENSE", "changed"),
        ("gone", "removed"),
        ("new", "added"),
    ]


def test_what_cannot_be_said_is_no_difference() -> None:
    unread = Executable(ExecutableFormat.UNKNOWN, 5, unread="it is empty")
    old = PackageFacts(None, "h1:x", 5, (), "terraform-provider-x", unread)
    found = compare_packages(old, package(module("a", "v1.0.0"), functions=("plugin.Open",)))
    assert (found.toolchain, found.settings, found.modules, found.notable_new) == (None, (), (), ())
    assert any("it is empty" in words for words in found.unknown)
    none = PackageFacts(None, "h1:x", 5, (), bounded="2000 of its 3000 files are listed")
    words = compare_packages(none, old).unknown
    assert any("no file with the name" in one for one in words)
    assert any("2000 of its 3000" in one for one in words)


def test_alike_is_said_where_all_was_compared() -> None:
    def report(old: PackageFacts, new: PackageFacts) -> str:
        sides = ((InspectedPackage(None, None, None, name, facts),) for name, facts in (("old", old), ("new", new)))
        return render(Inspection(tuple(sides), "2026-11-23T00:00:00Z"))

    alike = "the same toolchain, settings, modules, notable packages and files"
    linking = package(functions=("plugin.Open",))
    assert alike in report(linking, linking)
    assert alike not in report(linking, package())
    assert "NOT LINKED   plugin  loads code from files, no longer" in report(linking, package())
    assert "NEWLY LINKED plugin  loads code from files" in report(package(), linking)
    unread = PackageFacts(None, "h1:x", 10, (), None, None)
    assert alike not in report(unread, unread)


def inspection(name: str, old: PackageFacts, new: PackageFacts) -> Inspection:
    address, platform = ProviderAddress("registry.terraform.io", "acme", name), Platform.parse("linux_amd64")
    sides = (
        (InspectedPackage(address, Version.parse(version), platform, "here", facts),)
        for version, facts in (("1.0.0", old), ("1.1.0", new))
    )
    return Inspection(tuple(sides), "2026-11-23T00:00:00Z")


def test_what_several_providers_have_in_common_is_said_once() -> None:
    old = module("golang.org/x/net", "v0.37.0"), module("example.com/gone", "v1.0.0")
    new = module("golang.org/x/net", "v0.38.0"), module("example.com/new", "v2.0.0")
    alone = module("example.com/alone", "v1.0.0")
    found = Inspections(
        (
            inspection("one", package(*old), package(*new)),
            inspection("two", package(*old), package(*new, alone)),
            inspection("three", package(*new), package(*new)),
        )
    )
    text = str(render(found))
    assert text.count("golang.org/x/net") == 1
    assert "up       golang.org/x/net  v0.37.0 → v0.38.0  in one, two" in text
    assert text.count("MODULES      1 new, 1 gone, 1 up") == 2
    assert "             all of them as in other providers, listed above" in text
    assert "MODULES      2 new, 1 gone, 1 up\n             new      example.com/alone  v1.0.0\n" in text
    assert "             and 3 more as in other providers, listed above" in text
    assert text.count("registry.terraform.io/acme/") == 3
    comment = str(markdown(found))
    assert comment.count("### ") == 4
    assert comment.count("golang.org/x/net") == 1
    document = InspectDocument.of(found)
    assert [one.provider for one in document.providers] == [
        f"registry.terraform.io/acme/{name}" for name in ("one", "two", "three")
    ]
    modules = [one.differences.modules for one in document.providers if one.differences is not None]
    assert [len(one) for one in modules] == [3, 4, 0]
    assert (len(document.packages), document.differences) == (6, None)
    only = InspectDocument.of(found.of_providers[0])
    assert (only.differences, len(only.providers)) == (only.providers[0].differences, 1)


@pytest.mark.parametrize(
    ("new", "words"), [(4652, "+135 bytes, +3 %"), (4500, "-17 bytes, -0 %"), (9034, "+4.4 KiB, +100 %")]
)
def test_the_growth_of_a_package_is_rounded(new: int, words: str) -> None:
    sides = (replace(package(), size=size) for size in (4517, new))
    assert f"({words})" in str(render(inspection("one", *sides)))


def test_both_sides_stand_in_columns_where_there_is_room() -> None:
    old = package(module("a", "v1.0.0"), module("gone", "v1.0.0"), settings=(("CGO_ENABLED", "0"),))
    new = package(module("a", "v1.1.0"), module("n" * 50, "v1.0.0"), go="go1.23.0", settings=(("CGO_ENABLED", ""),))
    lines = [one.text for one in inspection_lines(inspection("one", old, new), columns=100)]
    blank = " " * 13
    assert f"{blank}{'':40}{'1.0.0':30}1.1.0" in lines
    assert f"{blank}{'up       a  ':40}{'v1.0.0':30}v1.1.0" in lines
    assert f"{blank}{'gone     gone  ':40}{'v1.0.0':30}-" in lines
    assert f"{blank}new      {'n' * 50}  v1.0.0" in lines
    assert f"TOOLCHAIN    {'':40}{'go1.22.1':30}go1.23.0" in lines
    assert f"SETTINGS     {'CGO_ENABLED: ':40}{'0':30}empty" in lines
    assert not any("→" in one for one in lines[1:])
    said = [one.text for one in inspection_lines(inspection("one", old, new))]
    assert f"{blank}up       a  v1.0.0 → v1.1.0" in said
    assert "SETTINGS     CGO_ENABLED: 0 → empty" in said
