"""Which advisories concern a package: modules by Go's versions, the provider itself never by them, functions by name."""

from __future__ import annotations

from typing import Any

import pytest

from locklens.addresses import ProviderAddress
from locklens.advisories import (
    Advisory,
    AdvisoryDatabase,
    AffectedModule,
    AffectedPackage,
    Linkage,
    PackageAdvisories,
    VersionRange,
)
from locklens.advisories.matching import AdvisoryMatcher, FunctionTable, Subject, compare_advisories, linker_path
from locklens.executables import BuildInfo, Executable, ExecutableFormat, GoModule

VAULT = ProviderAddress("registry.terraform.io", "hashicorp", "vault")
NET, HTML = "golang.org/x/net", "golang.org/x/net/html"


def advisory(name: str, module: str, fixed: str = "", *packages: AffectedPackage, **more: Any) -> Advisory:
    return Advisory(
        name, (), "A defect.", (AffectedModule(module, (VersionRange("0", fixed),), None, packages),), **more
    )


def executable(*modules: GoModule, functions: tuple[str, ...] | None = (), **more: Any) -> Executable:
    settings = (("GOOS", "linux"), ("GOARCH", "amd64"))
    main = GoModule("example.com/acme/terraform-provider-demo", "(devel)")
    build = BuildInfo(more.pop("go", "go1.25.3"), main.path, main, modules, settings)
    if functions is None:
        return Executable(ExecutableFormat.ELF, 1, build, **more)
    more.setdefault("packages", packages_of(functions))
    return Executable(ExecutableFormat.ELF, 1, build, tuple(sorted(functions)), **more)


def packages_of(functions: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({name[: name.index(".", name.partition("(")[0].rfind("/") + 1)] for name in functions}))


def found(advisories: Advisory | tuple[Advisory, ...], program: Executable | None, **more: Any) -> PackageAdvisories:
    every = advisories if isinstance(advisories, tuple) else (advisories,)
    database = AdvisoryDatabase("here", None, "2026-11-23T00:00:00Z", every)
    return AdvisoryMatcher(database).advisories_of(Subject(program, **more))


PARSE = advisory("GO-1", NET, "0.38.0", AffectedPackage(HTML, ("Parse", "Tokenizer.Next")))


@pytest.mark.parametrize(
    ("functions", "linkage"),
    [
        (("golang.org/x/net/html.Parse",), Linkage.LINKED),
        (("golang.org/x/net/html.(*Tokenizer).Next",), Linkage.LINKED),
        (("golang.org/x/net/html.Tokenizer.Next",), Linkage.LINKED),
        (("golang.org/x/net/html.Parse.func1",), Linkage.LINKED),
        (("golang.org/x/net/html.(*Tokenizer).Next-fm",), Linkage.LINKED),
        (("golang.org/x/net/html.Parse[go.shape.int]",), Linkage.LINKED),
        (("golang.org/x/net/html.(*Tokenizer[...]).Next.func2.1",), Linkage.LINKED),
        (("golang.org/x/net/html.ParseOther", "golang.org/x/net/html.(*Tokenizer).NextOther"), Linkage.NOT_LINKED),
        (("golang.org/x/net/html.Parse.Next",), Linkage.NOT_LINKED),
        (("golang.org/x/net/htmlx.Parse",), Linkage.NOT_LINKED),
        (("golang.org/x/network.Parse", "main.main"), Linkage.UNKNOWN),
        (None, Linkage.UNKNOWN),
    ],
)
def test_a_function_is_linked_by_its_name(functions: tuple[str, ...] | None, linkage: Linkage) -> None:
    result = found(PARSE, executable(GoModule(NET, "v0.37.0"), functions=functions))
    (match,) = result.matches
    assert (match.linkage, match.fixed_in, match.version) == (linkage, "v0.38.0", "v0.37.0")
    assert match.functions == (functions if linkage is Linkage.LINKED else ())


def test_where_the_functions_of_a_package_were_not_kept_it_cannot_be_said() -> None:
    program = executable(GoModule(NET, "v0.37.0"), functions=("main.main",), packages=("golang.org/x/net/html", "main"))
    assert found(PARSE, program).matches[0].linkage is Linkage.UNKNOWN
    program = executable(
        GoModule(NET, "v0.37.0"), functions=("main.main",), packages=("golang.org/x/net/http2", "main")
    )
    assert found(PARSE, program).matches[0].linkage is Linkage.NOT_LINKED


def test_names_are_those_of_the_linker() -> None:
    assert linker_path("gopkg.in/yaml.v2") == "gopkg.in/yaml%2ev2"
    assert linker_path("a.b/c d.e/f%g.h") == "a.b/c%20d.e/f%25g%2eh"
    table = FunctionTable(
        ("gopkg.in/yaml%2ev2", "main"), ("gopkg.in/yaml%2ev2.Unmarshal", "main.run"), "example.com/acme/cmd"
    )
    assert table.names_of("gopkg.in/yaml.v2", "Unmarshal") == ("gopkg.in/yaml%2ev2.Unmarshal",)
    assert table.has_module("gopkg.in/yaml.v2")
    assert table.names_of("example.com/acme/cmd", "run") == ("main.run",)


def test_a_version_beyond_the_range_is_no_match() -> None:
    assert found(PARSE, executable(GoModule(NET, "v0.38.0"))).matches == ()
    assert found(PARSE, executable(GoModule(NET, "v0.38.0-rc.1"))).matches != ()


def test_the_standard_library_is_matched_by_the_toolchain() -> None:
    tls = advisory("GO-2", "stdlib", "1.25.4", AffectedPackage("crypto/tls", ("Conn.Handshake",)))
    (match,) = found(tls, executable(functions=("crypto/tls.(*Conn).Handshake",))).matches
    assert (match.linkage, match.version, match.fixed_in) == (Linkage.LINKED, "go1.25.3", "go1.25.4")
    assert found(tls, executable(go="go1.25.4")).matches == ()
    (unjudged,) = found(tls, executable(go="devel go1.26-1a2b3c")).unjudged
    assert unjudged.words == "GO-2 in stdlib cannot be judged: devel go1.26-1a2b3c is no release of Go"


def test_of_the_toolchain_counts_what_writes_code() -> None:
    compiler = advisory("GO-3", "toolchain", "1.25.4", AffectedPackage("cmd/compile"))
    command = advisory("GO-4", "toolchain", "1.25.4", AffectedPackage("cmd/go"))
    (match,) = found((compiler, command), executable(functions=("main.main",))).matches
    assert (match.id, match.linkage) == ("GO-3", Linkage.NO_SYMBOLS)


def test_an_advisory_for_another_system_does_not_count_and_is_listed() -> None:
    windows = advisory("GO-5", NET, "1.0.0", AffectedPackage(HTML, ("Parse",), ("windows",)))
    (match,) = found(windows, executable(GoModule(NET, "v0.1.0"), functions=(f"{HTML}.Parse",))).matches
    assert (match.linkage, match.counts, match.is_linked) == (Linkage.OTHER_PLATFORM, False, False)
    program = executable(GoModule(NET, "v0.1.0"), functions=(f"{HTML}.Parse",))
    (match,) = found(windows, program, platform="windows_amd64").matches
    assert match.linkage is Linkage.LINKED, "the publisher's platform counts, whatever the program says"


def test_without_names_in_the_database_nothing_is_said_of_functions() -> None:
    whole = advisory("GO-6", NET, "1.0.0")
    package = advisory("GO-7", NET, "1.0.0", AffectedPackage(HTML))
    program = executable(GoModule(NET, "v0.1.0"), functions=("golang.org/x/net/http2.Serve",))
    linkages = {each.id: each.linkage for each in found((whole, package), program).matches}
    assert linkages == {"GO-6": Linkage.NO_SYMBOLS, "GO-7": Linkage.NOT_LINKED}
    assert found(whole, program).matches[0].is_linked is None


def test_a_replaced_module_is_matched_by_its_replacement() -> None:
    program = executable(GoModule(NET, "v0.40.0", replaced_by=GoModule(NET, "v0.1.0")), functions=(f"{HTML}.Parse",))
    assert found(PARSE, program).matches[0].linkage is Linkage.LINKED
    newer = executable(GoModule(NET, "v0.1.0", replaced_by=GoModule(NET, "v0.40.0")))
    assert found(PARSE, newer).matches == ()


def test_a_fork_has_the_advisories_of_its_own_path_and_its_functions_the_names_of_the_original() -> None:
    forked = advisory("GO-8", "example.com/fork", "2.0.0", AffectedPackage("example.com/fork/html", ("Parse",)))
    program = executable(
        GoModule(NET, "v0.1.0", replaced_by=GoModule("example.com/fork", "v1.0.0")), functions=(f"{HTML}.Parse",)
    )
    result = found((forked, PARSE), program)
    assert [(each.id, each.linkage) for each in result.matches] == [("GO-8", Linkage.LINKED)]
    assert result.unjudged[0].words == (
        "GO-1 in golang.org/x/net cannot be judged: it is replaced by example.com/fork, whose versions are others"
    )
    local = executable(GoModule(NET, "v0.1.0", replaced_by=GoModule("./net", "")))
    assert "the folder ./net" in found(PARSE, local).unjudged[0].words


def test_a_module_without_a_version_cannot_be_judged() -> None:
    result = found(PARSE, executable(GoModule(NET, "(devel)")))
    assert result.matches == ()
    assert result.unjudged[0].why == "the executable does not say its version"


OWN = "github.com/hashicorp/terraform-provider-vault"


def own(custom: tuple[VersionRange, ...] | None, path: str = OWN) -> Advisory:
    return Advisory("GO-9", (), "Itself.", (AffectedModule(path, (VersionRange("0", "1.9.1"),), custom, ()),))


@pytest.mark.parametrize("path", [OWN, f"{OWN}/v5", "github.com/HashiCorp/terraform-provider-vault"])
def test_the_provider_itself_is_matched_by_custom_ranges_alone(path: str) -> None:
    entry = own((VersionRange("0", "5.5.0"),), path)
    (match,) = found(entry, None, provider=VAULT, version="4.2.0").matches
    assert (match.is_own, match.fixed_in, match.version) == (True, "5.5.0", "4.2.0")
    assert found(entry, None, provider=VAULT, version="5.5.0").matches == ()


def test_gos_versions_of_the_provider_itself_say_nothing() -> None:
    for version in ("1.0.0", "4.2.0"):
        result = found(own(None), None, provider=VAULT, version=version)
        assert result.matches == ()
        assert result.unjudged[0].is_own
        assert "has only Go's versions of it" in result.unjudged[0].words
    unknown = found(own((VersionRange("0", "5.5.0"),)), None, provider=VAULT)
    assert unknown.unjudged[0].why == "the version of the provider is not known"


def test_the_main_module_names_the_provider_too_and_a_private_host_does_not() -> None:
    build = BuildInfo("go1.25.3", OWN, GoModule(OWN, "v1.9.0"))
    program = Executable(ExecutableFormat.ELF, 1, build, (), packages=())
    entry = own((VersionRange("0", "5.5.0"),))
    assert found(entry, program, version="4.2.0").matches[0].is_own
    private = ProviderAddress("registry.example.com", "hashicorp", "vault")
    assert found(entry, executable(), provider=private, version="4.2.0").matches == ()


def test_a_program_that_cannot_be_read_says_so() -> None:
    unread = Executable(ExecutableFormat.UNKNOWN, 1, unread="it is a script")
    assert found(PARSE, unread).unjudged[0].words == "the modules inside cannot be said: it is a script"


def test_what_a_newer_package_does_to_advisories() -> None:
    other = advisory("GO-2", "example.com/other", "2.0.0", AffectedPackage("example.com/other", ("F",)))
    advisories = PARSE, other
    linked, not_linked = (f"{HTML}.Parse", "example.com/other.F"), (f"{HTML}.Render", "example.com/other.G")
    old = executable(GoModule(NET, "v0.1.0"), functions=linked)
    new = executable(GoModule("example.com/other", "v1.0.0"), functions=linked)
    differences = compare_advisories(found(advisories, old), found(advisories, new))
    assert [each.id for each in differences.fixed] == ["GO-1"]
    assert [each.id for each in differences.introduced] == ["GO-2"]
    same = compare_advisories(found(advisories, old), found(advisories, old))
    assert ([each.id for each in same.both], same.fixed, same.introduced) == (["GO-1"], (), ())
    quiet = executable(GoModule(NET, "v0.1.0"), functions=not_linked)
    relinked = compare_advisories(found(advisories, quiet), found(advisories, old))
    assert [each.id for each in relinked.introduced] == ["GO-1"], "its function is linked only now"
    unlinked = compare_advisories(found(advisories, old), found(advisories, quiet))
    assert ([each.linkage for each in unlinked.both], unlinked.fixed) == ([Linkage.NOT_LINKED], ())


def test_what_one_package_cannot_say_is_neither_introduced_nor_fixed() -> None:
    known = found(PARSE, executable(GoModule(NET, "v0.1.0"), functions=(f"{HTML}.Parse",)))
    unread = found(PARSE, None)
    for old, new in ((known, unread), (unread, known)):
        differences = compare_advisories(old, new)
        assert (differences.introduced, differences.fixed, differences.both) == ((), (), ())
        assert differences.unknown
    forked = found(PARSE, executable(GoModule(NET, "v0.1.0", replaced_by=GoModule("example.com/fork", "v1.0.0"))))
    assert compare_advisories(known, forked).fixed == ()
