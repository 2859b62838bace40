"""How packages were built, as findings: from what was looked into before, and never from anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from review.test_platform_agreement import EXTRA, SIX, facts
from ui.conftest import Samples

from locklens.addresses import Platform
from locklens.executables import GoModule, notable_in
from locklens.operations.review.inside import BuildLookup
from locklens.packages.inspecting import keep_facts
from locklens.policy import Policy, parse
from locklens.review.platform_agreement import builds_of, reduced
from locklens.review.rules.judge import judge_change
from locklens.storage.cache import Cache

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.packages.inspecting import PackageFacts
    from locklens.review.model import Change

RULES = ("LK044", "LK045", "LK046")


def found(inside: dict[str, PackageFacts], policy: Policy | None = None) -> list[tuple[str, str, str]]:
    samples = Samples()
    builds = builds_of({Platform.parse(name): one for name, one in inside.items()})
    change = replace(samples.change("acme/demo"), builds=builds)
    root = samples.root("infra", [change])
    root = replace(root, context=replace(root.context, policy=policy or Policy()))
    return [(one.rule, str(one.severity), one.message) for one in judge_change(change, root) if one.rule in RULES]


def test_an_odd_platform_is_a_warning() -> None:
    inside = {name: facts(name) for name in SIX} | {"linux_arm64": facts("linux_arm64", EXTRA)}
    [(rule, severity, message)] = found(inside)
    assert (rule, severity) == ("LK044", "warn")
    assert message == (
        "the package for linux_arm64 is not like the others (6 packages compared): module example.com/extra "
        "(linux_arm64: v1.0.0; 5 other platforms: not linked)"
    )


def test_without_a_majority_none_is_odd() -> None:
    [(rule, _, message)] = found({"linux_amd64": facts("linux_amd64", EXTRA), "linux_arm64": facts("linux_arm64")})
    assert rule == "LK044"
    assert message.startswith("packages differ, and no majority says which is odd (2 packages compared)")


@pytest.mark.parametrize(
    ("least", "go", "is_found"),
    [
        ("1.24", "go1.23.9", True),
        ("1.24", "go1.24rc1", True),
        ("1.24", "go1.24", False),
        ("go1.24.3", "go1.24.2", True),
        ("1.24.3", "go1.24.3 X:boringcrypto", False),
        ("1.24", "devel", False),
        ("", "go1.4", False),
    ],
)
def test_the_least_toolchain(least: str, go: str, is_found: bool) -> None:
    policy = parse(f'toolchain = "{least}"\n'.encode() if least else b"", "locklens.toml")
    rules = [rule for rule, _, _ in found({"linux_amd64": facts("linux_amd64", go=go)}, policy)]
    assert rules == (["LK045"] if is_found else [])


def test_a_replaced_module_is_information_once() -> None:
    fork = GoModule("example.com/a", "v1.0.0", replaced_by=GoModule("example.com/fork", "v1.0.1"))
    inside = {name: facts(name, fork) for name in SIX[:2]}
    assert found(inside) == [("LK046", "info", "1 module replaced: example.com/a v1.0.0 by example.com/fork v1.0.1")]
    builds = builds_of({Platform.parse(name): one for name, one in inside.items()})
    assert builds.after(builds).replaced == ()


def test_what_is_kept_of_the_functions_is_compared_alike() -> None:
    names = ("a.b", "net/rpc.(*Server).Accept", "net/rpc.(*Server).Close", "os/exec.(*Cmd).Start", "zz.z")
    whole = facts("linux_amd64", functions=names)
    assert whole.executable is not None
    small = reduced(whole).executable
    assert small is not None
    assert small.functions == (names[1], names[3])
    assert notable_in(small.functions).keys() == notable_in(names).keys()


def test_a_new_notable_package_is_seen_in_packages_that_were_compared_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, zh = "example.com/new.Run", "zh:" + "1" * 64
    change = Samples().change("acme/demo")
    assert change.new is not None
    change = replace(change, new=replace(change.new, hashes=(zh,)), old=None)
    with Cache(tmp_path / "cache.sqlite3") as cache:
        whole = facts("linux_amd64", functions=(name,))
        assert whole.executable is not None
        program = replace(whole.executable, packages=("example.com/new",))
        keep_facts(cache, replace(whole, zh=zh, executable=program))
        assert BuildLookup(cache).of_change(change) is not None
        for module in ("operations.review.inside", "review.platform_agreement"):
            monkeypatch.setattr(f"locklens.{module}.NOTABLE_BEGINNINGS", ("example.com/new.",))
        found = BuildLookup(cache)._compared(zh)
    assert found is not None
    assert found.executable is not None
    assert found.executable.functions == (name,)


def test_only_what_was_looked_into_is_judged(tmp_path: Path) -> None:
    def change_of(samples: Samples, *zhs: str) -> Change:
        change = samples.change("acme/demo")
        assert change.new is not None
        return replace(change, new=replace(change.new, hashes=zhs), old=None)

    samples = Samples()
    names = {name: "zh:" + f"{place:064x}" for place, name in enumerate(SIX)}
    with Cache(tmp_path / "cache.sqlite3") as cache:
        assert BuildLookup(cache).of_change(change_of(samples, *names.values())) is None
        for name in SIX[:3]:
            keep_facts(cache, replace(facts(name), zh=names[name]))
        known = BuildLookup(cache).of_change(change_of(samples, *names.values()))
        assert known is not None
        assert [str(platform) for platform in known.agreement.platforms] == list(SIX[:3])
        assert known.toolchains == (("go1.24.4", known.agreement.platforms),)
        twice = replace(facts("linux_amd64", EXTRA), zh=names["windows_amd64"])
        keep_facts(cache, twice)
        known = BuildLookup(cache).of_change(change_of(samples, *names.values()))
        assert known is not None
        assert [str(platform) for platform in known.agreement.platforms] == list(SIX[:2])
