"""What was picked becomes one plan: versions that differ by root, and nothing else moves."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest
from operations.test_upgrade import LOCK, Shelf, address, contents, entry, failures, lay, requiring, top

from locklens.cli.main import main
from locklens.demo import SampleLock, lock_file
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import environment, write_cli_configuration
from locklens.lockfile.parse import parse
from locklens.operations.comparison import RootSettings
from locklens.operations.plan import Plan, Scope
from locklens.operations.write.apply import apply
from locklens.operations.write.registry_source import RegistrySource
from locklens.operations.write.root_upgrade import SelectedVersion
from locklens.operations.write.upgrade import Upgrade
from locklens.releases import NetworkSettings
from locklens.storage.cache import Cache
from locklens.versions import Version

__all__ = ["top"]

OFFERED = {"aws": "5.0.0 5.1.0 5.2.0 6.0.0", "tls": "4.0.0 4.1.0"}


def pick(root: str, name: str, version: str, *, edits: bool = True) -> SelectedVersion:
    return SelectedVersion(root, address(name), Version.parse(version), edits=edits)


def upgrade(where: Path, *picks: SelectedVersion) -> Upgrade:
    return Upgrade.of_picks(picks, partial(Scope.at, where, settings=RootSettings()))


def planned(where: Path, *picks: SelectedVersion, supply: RegistrySource | None = None) -> Plan:
    return upgrade(where, *picks).plan(supply or Shelf(OFFERED))


def locked(where: Path, root: str) -> dict[str, str]:
    found = parse((where / root / LOCK).read_bytes(), LOCK).entries
    return {one.address.type: str(one.version) for one in found}


@pytest.fixture
def three(top: Path) -> Path:
    """Three roots: the first two use a module of both, the third has constraints of its own."""
    call = 'module "m" {\n  source = "../m"\n}\n'
    lock = [entry("aws", "5.0.0", "~> 5.0"), entry("tls", "4.0.0", "~> 4.0")]
    lay(top, {"m/main.tf": requiring(aws="~> 5.0")})
    for root in ("a", "b"):
        lay(top, {f"{root}/main.tf": call + requiring(tls="~> 4.0"), f"{root}/{LOCK}": lock})
    lay(top, {"c/main.tf": requiring(aws=">= 5.0", tls="~> 4.0"), f"c/{LOCK}": lock})
    return top


def test_a_constraint_is_edited_for_those_picks_alone_that_it_excluded_when_they_were_selected(three: Path) -> None:
    before = contents(three)
    plan = planned(three, pick("a", "aws", "6.0.0", edits=False), pick("a", "tls", "4.1.0"))
    (failure,) = plan.failures
    assert failure.detail.startswith("6.0.0 does not satisfy ~> 5.0")
    assert failure.hint == "it was selected without an edit: select it again on Upgrade"
    assert contents(three) == before
    assert [file.path for file in plan.proposal.files] == []


def test_picks_may_differ_by_root(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(three)
    before = contents(three)
    plan = planned(three, pick("a", "aws", "5.1.0"), pick("b", "aws", "5.2.0"), pick("c", "tls", "4.1.0"))
    assert plan.failures == ()
    assert [file.path for file in plan.proposal.files] == [f"{root}/{LOCK}" for root in "abc"]
    assert plan.proposal.command == (
        "locklens upgrade hashicorp/aws=5.1.0 --root a && locklens upgrade hashicorp/aws=5.2.0 --root b"
        " && locklens upgrade hashicorp/tls=4.1.0 --root c"
    )
    apply(plan.proposal)
    assert [locked(three, root) for root in "abc"] == [
        {"aws": "5.1.0", "tls": "4.0.0"},
        {"aws": "5.2.0", "tls": "4.0.0"},
        {"aws": "5.0.0", "tls": "4.1.0"},
    ]
    old, new = (data[data.index(b'provider "registry.terraform.io/hashicorp/tls"') :] for data in (
        before[f"a/{LOCK}"], contents(three)[f"a/{LOCK}"]))  # fmt: skip
    assert old == new  # what was not picked stays byte for byte


def test_roots_in_which_the_same_was_picked_have_one_command(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(three / "a")
    picks = [pick(root, "aws", "5.2.0") for root in "abc"]
    assert planned(three, *picks).proposal.command == (
        "locklens upgrade hashicorp/aws=5.2.0 --root . --root ../b --root ../c"
    )


def test_a_pick_out_of_range_edits_the_constraint_once_for_all(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(three)
    plan = planned(three, pick("a", "aws", "6.0.0"), pick("b", "aws", "6.0.0"), pick("b", "tls", "4.1.0"))
    assert plan.failures == ()
    assert [file.path for file in plan.proposal.files] == ["m/main.tf", f"a/{LOCK}", f"b/{LOCK}"]
    assert '-    aws = "~> 5.0" # why\n+    aws = "~> 6.0" # why' in plan.proposal.diff()
    assert plan.proposal.command == (
        "locklens upgrade hashicorp/aws=6.0.0 --edit-constraints --root a"
        " && locklens upgrade hashicorp/aws=6.0.0 hashicorp/tls=4.1.0 --root b"
    )
    apply(plan.proposal)
    assert [locked(three, root)["aws"] for root in "abc"] == ["6.0.0", "6.0.0", "5.0.0"]


def test_a_root_that_is_left_behind_is_named(three: Path) -> None:
    plan = planned(three, pick("a", "aws", "6.0.0"))
    assert [(remark.root, remark.address) for remark in plan.remarks] == [("b", "hashicorp/aws")]


def test_one_root_that_fails_leaves_the_others(three: Path) -> None:
    plan = planned(three, pick("a", "aws", "9.9.9"), pick("c", "aws", "6.0.0"))
    assert failures(plan) == ["version 9.9.9 is not offered"]
    assert [file.path for file in plan.proposal.files] == [f"c/{LOCK}"]


def test_the_command_leaves_out_what_failed(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(three)
    missing = [pick(root, "aws", "9.9.9") for root in "ab"]
    plan = planned(three, *missing, pick("c", "aws", "5.2.0"))
    assert [file.path for file in plan.proposal.files] == [f"c/{LOCK}"]
    assert plan.proposal.command == "locklens upgrade hashicorp/aws=5.2.0 --root c"
    plan = planned(three, missing[0], pick("b", "aws", "5.1.0"), pick("c", "aws", "5.1.0"))
    assert plan.proposal.command == "locklens upgrade hashicorp/aws=5.1.0 --root b --root c"
    plan = planned(three, *missing)
    assert plan.proposal.is_empty
    assert plan.proposal.command == "locklens upgrade hashicorp/aws=9.9.9 --root a --root b", "it fails alike"


def test_a_provider_that_is_not_locked_yet_is_added(top: Path) -> None:
    lay(top, {"main.tf": requiring(aws="~> 5.0", tls="~> 4.0"), LOCK: [entry("tls", "4.0.0", "~> 4.0")]})
    plan = planned(top, pick("", "aws", "5.2.0"))
    assert plan.failures == ()
    apply(plan.proposal)
    assert locked(top, "") == {"aws": "5.2.0", "tls": "4.0.0"}


@pytest.mark.parametrize(
    ("picks", "title"),
    [
        ([("a", "aws", "5.1.0")], "Select aws 5.1.0 in a"),
        ([("", "aws", "5.1.0")], "Select aws 5.1.0 in ."),
        ([("a", "aws", "5.1.0"), ("b", "aws", "5.1.0")], "Select aws 5.1.0 in 2 roots"),
        ([("a", "aws", "5.1.0"), ("a", "tls", "4.1.0")], "Select versions of 2 providers in a"),
        ([("a", "aws", "5.1.0"), ("b", "aws", "5.2.0")], "Select versions of aws in 2 roots"),
    ],
)
def test_titles(picks: list[tuple[str, str, str]], title: str, tmp_path: Path) -> None:
    assert upgrade(tmp_path, *(pick(*one) for one in picks)).title == title


def test_the_command_does_the_same(three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the plan's command line writes is what the plan would write, byte for byte, with a real registry."""
    host = "registry.terraform.io/hashicorp"
    aws, tls = (f"{host}/{name}" for name in ("aws", "tls"))
    for root in "abc":
        (three / root / LOCK).write_bytes(
            lock_file(SampleLock(aws, "5.0.0", "~> 5.0"), SampleLock(tls, "4.0.0", "~> 4.0"))
        )
    monkeypatch.chdir(three)
    catalog = {
        aws: tuple(map(SampleListing, OFFERED["aws"].split())),
        tls: tuple(map(SampleListing, OFFERED["tls"].split())),
    }
    with DemoRegistry(catalog) as registry:
        environ = environment(write_cli_configuration(registry, tmp_path))
        with Cache.in_memory() as cache, RegistrySource(NetworkSettings({**os.environ, **environ}, cache)) as supply:
            plan = planned(three, pick("a", "aws", "6.0.0"), pick("c", "tls", "4.1.0"), supply=supply)
        assert plan.failures == ()
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        for command in plan.proposal.command.split(" && "):
            assert main(command.split()[1:], lambda *_: 0) == 0
    wanted = {file.path: file.new for file in plan.proposal.files}
    assert {path: contents(three)[path] for path in wanted} == wanted
