"""What differs between two packages, and what cannot be said."""

from __future__ import annotations

import pytest

from locklens.executables import BuildInfo, Executable, ExecutableFormat, GoModule
from locklens.packages.inspecting import FileFacts, PackageFacts, TextFacts
from locklens.review.inspection import (
    InspectedPackage,
    Inspection,
    ModuleChange,
    ValueDifference,
    compare_packages,
    settings_of,
)
from locklens.review.reports.inspection import render


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
