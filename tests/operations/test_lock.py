"""`lock` as a plan for many roots: everything is asked and fetched once, and what fails in one root stays there."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from conformance.case import requires
from install import conftest
from install.conftest import HOST, Place
from kit.git import git

from locklens.addresses import Platform
from locklens.demo.faults import Fault, FaultRule
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.errors import LockLensError
from locklens.hashes import hashes_of_files
from locklens.install.context import FetchStarted, HashesObtained, PackageHashed, QueryStarted
from locklens.lockfile.parse import parse
from locklens.operations.comparison import RootSettings
from locklens.operations.plan import Plan, RootResult, Scope, change_words
from locklens.operations.plan.builder import planned_changes
from locklens.operations.root_modules import RootReader, enclosing
from locklens.operations.write.apply import RegistryOperation, apply
from locklens.operations.write.lock import Lock, LockMissing
from locklens.operations.write.registry_source import RegistrySource
from locklens.operations.write.upgrade import Upgrade
from locklens.project.tree import FileSystem
from locklens.releases import NetworkSettings
from locklens.review.health_remedies import LeftOut
from locklens.storage.cache import Cache
from locklens.storage.journal import Journal

place = conftest.place

LINUX, MAC = Platform("linux", "amd64"), Platform("darwin", "arm64")
BOTH = (("acme/demo", ""), ("acme/other", ""))


def supply_of(place: Place, cache: Cache) -> RegistrySource:
    return RegistrySource(NetworkSettings(place.environ, cache), on_event=place.events.append)


def lay(place: Place, name: str, *providers: tuple[str, str]) -> Path:
    root = place.root / name
    root.mkdir(parents=True)
    (root / "main.tf").write_text(requires(*providers))
    return root / ".terraform.lock.hcl"


def planned(place: Place, *roots: str, told: list[str] | None = None, **options: object) -> Plan:
    where = Scope(place.root, roots, tool=TERRAFORM)
    intent: RegistryOperation = Lock(where, **{"platforms": (LINUX, MAC), **options})  # type: ignore[arg-type]
    place.events.clear()
    heard = [] if told is None else told
    with Cache(place.cache) as cache, supply_of(place, cache) as supply:
        return intent.plan(supply, on_root=heard.append)


def test_many_roots_ask_once_and_fetch_once(place: Place) -> None:
    names = [f"root-{number:02}" for number in range(21)]
    files = [lay(place, name, *BOTH) for name in names]
    told: list[str] = []
    plan = planned(place, *names, told=told)
    assert Counter(place.asked()) == {"versions": 2, "download": 4, "sums": 2, "signature": 2, "package": 4}
    assert told == names
    for kind, number in ((QueryStarted, 2), (FetchStarted, 4), (PackageHashed, 4), (HashesObtained, 84)):
        assert len(place.told(kind)) == number
    assert not any(file.exists() for file in files)
    assert [file.path for file in plan.proposal.files] == [f"{name}/.terraform.lock.hcl" for name in names]
    assert plan.proposal.words[:2] == ("root-00: acme/demo 1.1.0 is added", "root-00: acme/other 1.0.0 is added")
    assert not plan.failures
    apply(plan.proposal)
    place.require(*BOTH)
    place.lock(str(LINUX), str(MAC))
    assert {file.read_bytes() for file in files} == {place.lock_file.read_bytes()}
    again = planned(place, *names)
    assert not again.proposal.files
    assert [remark.words for remark in again.remarks] == ["its hashes for linux_amd64, darwin_arm64 are complete"] * 21
    assert "package" not in place.asked()


def test_a_locked_version_that_is_excluded_is_refused_without_asking(place: Place) -> None:
    """EnsureProviderVersions of the tools finds it before any query."""
    place.require(("acme/demo", "1.0.0"))
    place.lock(str(LINUX))
    place.asked()
    place.require(("acme/demo", "~> 2.0"))
    (failure,) = place.lock(str(LINUX)).diagnostics
    assert "1.0.0 does not match configured version constraint ~> 2.0" in failure.words
    assert place.asked() == []


def test_many_roots_upgrade_with_one_fetch(place: Place) -> None:
    names = tuple(f"root-{number:02}" for number in range(21))
    files = [lay(place, name, ("acme/demo", "1.0.0"), ("acme/other", "")) for name in names]
    apply(planned(place, *names).proposal)
    place.asked()
    place.events.clear()
    request = Upgrade(Scope(place.root, names, tool=TERRAFORM), edits_constraints=True)
    told: list[str] = []
    with Cache(place.cache) as cache, supply_of(place, cache) as supply:
        plan = request.plan(supply, on_root=told.append)
    asked = Counter(place.asked())
    # One package's metadata and one release's checksums more, to see what the entries do for now.
    assert asked == {"versions": 2, "download": 3, "sums": 2, "signature": 2, "package": 2}
    assert told == list(names)
    assert [len(place.told(kind)) for kind in (FetchStarted, PackageHashed, HashesObtained)] == [2, 2, 42]
    assert len(plan.changes) == 21
    assert not plan.failures
    apply(plan.proposal)
    assert len({file.read_bytes() for file in files}) == 1
    assert [str(one.version) for one in parse(files[0].read_bytes(), "").entries] == ["1.1.0", "1.0.0"]
    assert 'version = "1.1.0"' in (place.root / names[20] / "main.tf").read_text()


def test_it_says_for_which_platforms_there_are_hashes_now(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.root)
    lay(place, "infra", *BOTH)
    apply(planned(place, "infra", platforms=(LINUX,)).proposal)
    plan = planned(place, "infra", providers=("acme/demo",))
    assert plan.proposal.words == ("infra: acme/demo 1.1.0 gets hashes for darwin_arm64",)
    assert [(change.kind, change.platforms) for change in plan.changes] == [("change", (MAC,))]
    assert plan.proposal.command == (
        "locklens lock acme/demo --platform linux_amd64 --platform darwin_arm64 --root infra --tool terraform"
    )


def test_it_says_where_git_ignores_what_it_writes(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.root)
    lay(place, "infra", *BOTH)
    lay(place, "live", *BOTH)
    git(place.root, "init", "-q")
    (place.root / ".gitignore").write_text("infra/*.hcl\n")
    said = "git ignores the lock file (.gitignore:1), so that no commit has it"
    plan = planned(place, "infra", "live", platforms=(LINUX,))
    results = {name: one.notes for name, one in plan.results.items() if isinstance(one, RootResult)}
    assert [name for name, notes in results.items() if said in notes] == ["infra"]
    assert [one.root for one in plan.remarks if one.detail == said] == ["infra"]


def test_it_says_where_it_drops_comments(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.root)
    file = lay(place, "infra", *BOTH)
    said = "comments in the lock file are not kept, as with terraform providers lock"
    plan = planned(place, "infra", platforms=(LINUX,))
    assert said not in [remark.detail for remark in plan.remarks]
    apply(plan.proposal)
    written = file.read_bytes()
    for noted in (written + b"# a note\n", written.replace(b'"1.1.0"', b'"1.1.0" # a note')):
        file.write_bytes(noted)
        plan = planned(place, "infra")
        assert b"# a note" not in (plan.proposal.files[0].new or b"")
        assert said in [remark.detail for remark in plan.remarks]
    for tool in (TERRAFORM, OPENTOFU):
        # The header of the other tool is replaced by the own one, and is no comment of a user.
        file.write_bytes(written.replace(TERRAFORM.preamble.encode(), tool.preamble.encode()))
        plan = planned(place, "infra", platforms=(LINUX,))
        assert bool(plan.proposal.files) == (tool is OPENTOFU)
        assert said not in [remark.detail for remark in plan.remarks]


def test_what_was_left_out_is_told_where_the_rest_fails_too(place: Place) -> None:
    lay(place, "infra", *BOTH)
    left = LeftOut("other", TERRAFORM.parse_source("acme/other"), "the lock file contradicts its release")
    for root, has_failed in (("infra", False), ("nowhere", True)):
        operation = LockMissing((Lock(Scope(place.root, (root,), tool=TERRAFORM), (LINUX,)),), (left,))
        with Cache(place.cache) as cache, supply_of(place, cache) as supply:
            plan = operation.plan(supply)
        told, others = (plan.failures, plan.remarks) if has_failed else (plan.remarks, plan.failures)
        assert told[0].sentence == f"left out: {left.reason}"
        assert left.reason not in str(others)


def test_roots_lock_different_versions_and_constraints_of_one_provider(place: Place) -> None:
    files = {text: lay(place, f"r{number}", ("acme/demo", text)) for number, text in enumerate(("1.0.0", "~> 1.0", ""))}
    apply(planned(place, "r0", "r1", "r2").proposal)
    assert Counter(place.asked())["package"] == 4
    for text, file in files.items():
        (entry,) = parse(file.read_bytes(), "", dialect=TERRAFORM).entries
        assert (str(entry.version), entry.constraints) == ("1.0.0" if text == "1.0.0" else "1.1.0", text)
        assert len(hashes_of_files(entry.hashes)) == 2


def test_what_fails_in_a_root_stays_there(place: Place) -> None:
    good, broken = lay(place, "good", *BOTH), lay(place, "broken", *BOTH)
    broken.write_text("}")
    unselectable = lay(place, "unselectable", ("acme/demo", "> 7.0"), ("acme/other", ""))
    unknown = lay(place, "unknown", ("acme/demo", ""), ("acme/nobody", ""))
    where = Scope(place.root, ("broken", "gone", "good", "unknown", "unselectable"), tool=TERRAFORM)
    with Cache(place.cache) as cache, supply_of(place, cache) as supply:
        found = Lock(where, (LINUX,)).plan(supply)
    apply(found.proposal)
    assert good.exists()
    assert not unselectable.exists()
    assert not unknown.exists()
    assert broken.read_text() == "}"
    assert [failed.root for failed in found.failures] == ["broken", "gone", "unknown", "unselectable"]
    assert " --root good" in found.proposal.command
    assert found.proposal.command.count(" --root ") == 1
    words = [failed.sentence for failed in found.failures]
    for text, part in zip(words, ("failed to read", "no such folder", "acme/nobody", "> 7.0"), strict=True):
        assert part in text
    assert isinstance(found.results["gone"], LockLensError)
    assert isinstance(found.results["good"], RootResult)
    # What only roots need that cannot be locked is not downloaded.
    assert Counter(place.asked())["package"] == 2


def test_a_republished_version_is_refused_where_it_was_locked_only(place: Place) -> None:
    old, new = lay(place, "old", ("acme/demo", "")), lay(place, "new", ("acme/demo", ""))
    apply(planned(place, "old").proposal)
    before = old.read_bytes()
    place.fail(FaultRule(Fault.REPUBLISHED, "acme/demo", "1.1.0"))
    place.asked()
    plan = planned(place, "old", platforms=(LINUX,))
    assert "republished" in plan.failures[0].sentence
    assert not place.told(FetchStarted)
    assert "package" not in place.asked()
    plan = planned(place, "old", "new", platforms=(LINUX,))
    assert [failed.root for failed in plan.failures] == ["old"]
    apply(plan.proposal)
    assert old.read_bytes() == before
    assert new.exists()
    plan = planned(place, "old", "new", platforms=(LINUX,), accepts_republished=True)
    assert not plan.failures
    assert plan.proposal.words == ("old: acme/demo 1.1.0 gets hashes for linux_amd64",)


def test_the_top_is_the_repository_that_all_roots_are_in(tmp_path: Path) -> None:
    one, two = tmp_path / "top" / "a" / "one", tmp_path / "top" / "b" / "two"
    for folder in (one, two):
        folder.mkdir(parents=True)
    assert enclosing(one, [one, two]) == tmp_path / "top"
    assert enclosing(two, [one]) == tmp_path / "top"
    assert enclosing(one, [one]) == one
    subprocess.run(["git", "init", "-q", str(tmp_path / "top")], check=True)
    assert enclosing(tmp_path, [one, two]) == enclosing(one, [one]) == tmp_path / "top"
    subprocess.run(["git", "init", "-q", str(one)], check=True)
    assert enclosing(tmp_path, [one]) == one
    assert enclosing(one, [one, two]) == tmp_path / "top"


@pytest.mark.parametrize("command", ["init", "lock"])
def test_what_init_and_lock_write_is_put_as_the_tools_put_it_and_recorded(
    place: Place, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.root)
    target = place.folder / "elsewhere.hcl"
    target.write_text('provider "registry.terraform.io/acme/demo" {\n  version = "1.0.0"\n}\n')
    place.lock_file.symlink_to("../elsewhere.hcl")
    before = target.read_bytes()
    subprocess.run(["git", "init", "-q", str(place.folder)], check=True)
    outcome = place.init() if command == "init" else place.lock(str(LINUX))
    assert not outcome.has_failed
    assert target.read_bytes() == before
    assert not place.lock_file.is_symlink()
    assert place.lock_file.stat().st_mode & 0o777 == 0o644
    record = Journal().last(place.folder)
    assert record is not None
    assert record.words == ("root: acme/demo 1.0.0 gets other hashes",) if command == "init" else record.words
    assert (
        record.command == f"locklens {command}{' --platform linux_amd64' if command == 'lock' else ''} --tool terraform"
    )
    assert [(one.old, one.new) for one in record.files] == [(before, place.lock_file.read_bytes())]


def test_roots_of_no_repository_and_named_from_elsewhere(place: Place) -> None:
    file = lay(place, "infra", ("acme/demo", ""))
    (place.root / "here").mkdir()
    where = Scope(place.root / "here", ("../infra",), tool=TERRAFORM)
    with Cache(place.cache) as cache, supply_of(place, cache) as supply:
        found = Lock(where, (LINUX,)).plan(supply)
    outcome = found.results["../infra"]
    assert isinstance(outcome, RootResult)
    assert outcome.lock_file == "../infra/.terraform.lock.hcl"
    assert found.proposal.top == place.root
    apply(found.proposal)
    assert f"{HOST}/acme/demo" in file.read_text()


@pytest.mark.parametrize("stays", [False, True])
def test_an_entry_that_opentofu_migrates_is_said_to_move(tmp_path: Path, stays: bool) -> None:
    (tmp_path / "main.tf").write_text(requires(("hashicorp/null", "")))
    text = 'provider "registry.terraform.io/hashicorp/null" {\n  version = "3.2.0"\n}\n'
    (tmp_path / ".terraform.lock.hcl").write_text(text)
    root = RootReader(RootSettings(tool=OPENTOFU)).read_folder(FileSystem(tmp_path), "")
    entries = root.migration.entries if stays else root.migration.entries[1:]
    (change,) = planned_changes(root, "", entries)
    assert change.kind == ("add" if stays else "move")
    hosts = "registry.opentofu.org instead of registry.terraform.io"
    words = "is added" if stays else f"is locked from {hosts}"
    assert change_words(change) == f".: hashicorp/null 3.2.0 {words}"
