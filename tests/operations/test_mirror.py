"""A mirror that locklens fills: the bytes of `providers mirror`, served to both real tools, resumed and pruned."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conformance.case import OPENTOFU, TERRAFORM, TOOLS, Files, Tool, requires
from conformance.running import is_here
from kit.effort import DIAGONAL
from kit.waiting import LIMIT, until
from msgspec.structs import replace
from operations.benches import BOTH, CASE, bench, files, run

from locklens.demo.faults import Fault, FaultRule, Faults, Step

both = pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
PLATFORMS = ("-platform=linux_amd64", "-platform=darwin_arm64")


def hashes_in(document: bytes) -> set[str]:
    """The hashes in a mirror's document of a version."""
    return {text for one in json.loads(document)["archives"].values() for text in one["hashes"]}


@both
@pytest.mark.parametrize("tells_packages", [False, True])
def test_every_byte_is_as_the_tool_writes_it(tool: Tool, tells_packages: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_here(tool):
        pytest.skip(f"needs {tool.command} {tool.version} on PATH")
    with bench(tool, monkeypatch, replace(CASE, tells_packages=tells_packages)) as place:
        place.real("providers", "mirror", *PLATFORMS, "theirs")
        assert run("providers", "mirror", "-no-color", *PLATFORMS, "--tool", tool.name, "ours") == 0
        ours, theirs = files(place.work / "ours"), files(place.work / "theirs")
        if tool is OPENTOFU:
            # It lists the zh alone where the registry reports no h1; see tests/install/test_registry_hashes.py.
            short = [name for name, data in theirs.items() if ours[name] != data]
            assert short
            assert all(hashes_in(theirs[name]) < hashes_in(ours[name]) for name in short)
            theirs |= {name: ours[name] for name in short}
        assert ours == theirs
        assert sorted(name.rpartition("/")[2] for name in ours if "acme/demo" in name) == [
            "1.2.0.json", "index.json", "terraform-provider-demo_1.2.0_darwin_arm64.zip",
            "terraform-provider-demo_1.2.0_linux_amd64.zip",
        ]  # fmt: skip


@both
def test_it_serves_the_real_tools_as_a_folder_and_over_the_network(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_here(tool):
        pytest.skip(f"needs {tool.command} {tool.version} on PATH")
    with bench(tool, monkeypatch, replace(CASE, cli="# @MIRROR@\n")) as place:
        assert run("mirror", "--tool", tool.name, "served") == 0
        place.steps()
        folder = 'provider_installation {\n  filesystem_mirror {\n    path = "served"\n  }\n}\n'
        network = (
            f'provider_installation {{\n  network_mirror {{\n    url = "{place.names.put_in("@MIRROR@")}"\n  }}\n}}\n'
        )
        config = Path(place.environ["TF_CLI_CONFIG_FILE"])
        before = config.read_text()
        for method in (folder, network):
            config.write_text(before + method)
            said = place.real("init", "-no-color")
            assert ("verified checksum" if method is network else "unauthenticated") in said
            (place.work / ".terraform.lock.hcl").unlink()
            assert run("init", "--tool", tool.name) == 0
            (place.work / ".terraform.lock.hcl").unlink()
        assert place.steps() == []


def test_what_is_there_is_not_fetched_again(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    with bench(TERRAFORM, monkeypatch) as place:
        place.registry.faults = Faults((FaultRule(Fault.NOT_FOUND, "reg.acme.test/a/other", step=Step.PACKAGE),))
        assert run("mirror", "out") == 1
        assert "Could not mirror providers\n\nmain.tf:7: reg.acme.test/a/other 1.0.0 for" in capfd.readouterr().err
        assert {name.partition("/")[0] for name in files(place.work / "out")} == {"registry.terraform.io"}
        place.steps()
        place.registry.faults = Faults()
        assert run("mirror", "out") == 0
        assert place.steps().count("package") == 1
        whole = files(place.work / "out")
        capfd.readouterr()
        assert run("mirror", "--dry-run", "out") == 0
        said = capfd.readouterr().err
        assert "- Already there: acme/demo 1.2.0 for linux_amd64 (self-signed" in said
        assert "Would mirror" not in said
        assert "Fetching" not in said
        assert run("mirror", "out") == 0
        assert place.steps().count("package") == 0
        said = capfd.readouterr().err
        assert "already there" in said
        assert "Fetching" not in said
        damaged = place.work / "out" / next(name for name in whole if name.endswith("demo_1.2.0_linux_amd64.zip"))
        damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
        assert run("mirror", "out") == 0
        assert place.steps().count("package") == 1
        assert files(place.work / "out") == whole


def test_an_error_names_the_requirement_and_its_root_and_comes_before_the_result(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = requires(("acme/demo", "~> 1.0"), ("acme/third", "9.9.9"))
    with bench(TERRAFORM, monkeypatch, replace(CASE, files={"a/main.tf": broken, "b/main.tf": broken})) as place:
        assert run("mirror", "--dry-run", "out", "--", "a") == 1
        said, err = capfd.readouterr()
        assert said == "1 package of this run would be in out; 1 error\n"
        assert err.endswith("\ndry run: nothing was written\n")
        assert "Error: Could not mirror providers\n\na/main.tf:7: provider acme/third: " in err
        assert "locking" not in err
        assert run("mirror", "--json", "--dry-run", "out", "--", "a") == 1
        lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
        assert [(one["type"], one["root"]) for one in lines[-2:]] == [("error", "a"), ("outcome", None)]
        assert run("mirror", "out", "--", "a", "b") == 1
        said, err = capfd.readouterr()
        assert said == "1 package of this run in out; 1 error\n"
        assert "(and 1 other root)" in err
        assert not (place.work / "out/registry.terraform.io/acme/third").exists()


def test_a_folder_that_is_no_root_is_refused_and_no_mirror_is_made(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with bench(TERRAFORM, monkeypatch) as place:
        (place.work / "empty").mkdir()
        for words in (("mirror", "empty/out", "--", "empty"), ("-C", "empty", "mirror", "out")):
            assert run(*words) == 2
            said, err = capfd.readouterr()
            assert said == ""
            assert re.fullmatch(r"error: (\.|empty): no configuration or lock file in this folder\n(hint: .*\n)?", err)
            assert list((place.work / "empty").iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL and SIGINT")
@pytest.mark.parametrize("end", ["SIGKILL", "SIGINT"])
def test_after_an_interrupted_download_the_next_run_goes_on(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with bench(TERRAFORM, monkeypatch) as place:
        assert run("mirror", "whole") == 0
        whole, out = files(place.work / "whole"), place.work / "out"
        done, begun = (next(name for name in whole if part in name) for part in ("demo_1.2.0", "other_1.0.0"))
        hidden = (out / begun).with_name("." + Path(begun).name)
        place.registry.faults.add(Fault.STALLED, "reg.acme.test/a/other", step=Step.PACKAGE)
        command = [sys.executable, "-m", "locklens", "mirror", "out"]
        with subprocess.Popen(command, cwd=place.work, env=place.environ, stderr=subprocess.DEVNULL) as process:
            until(lambda: (out / done).exists() and hidden.exists())
            process.send_signal(signal.Signals[end])
            ended = process.wait(LIMIT)
        assert ended == (130 if end == "SIGINT" else -signal.SIGKILL)
        if end == "SIGINT":
            assert [one for one in out.rglob("*") if one.is_dir() and not any(one.iterdir())] == []
        left = {str(hidden.relative_to(out)), ".locklens.lock"} if end == "SIGKILL" else set()
        assert set(files(out)) == {done} | left
        assert (out / done).read_bytes() == whole[done]
        place.registry.faults = Faults()
        place.steps()
        assert run("mirror", "out") == 0
        assert place.steps().count("package") == 1
        assert files(out) == whole


def test_versions_that_are_there_stay_listed_and_prune_removes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    with bench(TERRAFORM, monkeypatch) as place:
        (place.work / "main.tf").write_text(requires(("acme/demo", "1.0.0"), ("acme/third", "")))
        assert run("mirror", *PLATFORMS, "out") == 0
        (place.work / "main.tf").write_text(requires(("acme/demo", "1.1.0")))
        (place.work / "out/notes.txt").write_text("mine")
        (place.work / "out/registry.terraform.io/acme/demo/.terraform-provider-demo_0.9.0_linux_amd64.zip").touch()
        assert run("mirror", "out") == 0
        top = place.work / "out/registry.terraform.io/acme"
        assert json.loads((top / "demo/index.json").read_text()) == {"versions": {"1.0.0": {}, "1.1.0": {}}}
        assert run("mirror", "--prune", "out") == 0
        assert sorted(files(place.work / "out")) == [
            "notes.txt",
            *(f"registry.terraform.io/acme/demo/{name}" for name in (
                "1.1.0.json", "index.json", "terraform-provider-demo_1.1.0_linux_amd64.zip")),
        ]  # fmt: skip
        assert json.loads((top / "demo/index.json").read_text()) == {"versions": {"1.1.0": {}}}
        assert not (top / "third").exists()


def test_a_dry_prune_names_what_the_run_removes(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with bench(TERRAFORM, monkeypatch) as place:
        (place.work / "main.tf").write_text(requires(("acme/demo", "1.0.0"), ("acme/third", "")))
        assert run("mirror", "out") == 0
        before = files(place.work / "out")
        (place.work / "main.tf").write_text(requires(("acme/demo", "1.1.0")))
        capfd.readouterr()
        assert run("mirror", "--prune", "--dry-run", "out") == 0
        removal = "would remove "
        would = {line.removeprefix(removal) for line in capfd.readouterr().out.splitlines() if removal in line}
        assert files(place.work / "out") == before
        assert run("mirror", "--prune", "out") == 0
        assert would == before.keys() - files(place.work / "out").keys()
        assert "registry.terraform.io/acme/demo/1.0.0.json" in would
        assert "registry.terraform.io/acme/demo/index.json" not in would


def test_a_file_that_no_document_lists_is_named(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with bench(TERRAFORM, monkeypatch) as place:
        assert run("mirror", "out") == 0
        broken = place.work / "out/registry.terraform.io/acme/demo/terraform-provider-demo_0.9.0_linux_amd64.zip"
        broken.touch()
        assert run("mirror", "out") == 1
        said = " ".join(capfd.readouterr().err.split())
        assert f"{broken.name} is in no document: the package is not a complete zip file" in said


def test_nothing_is_removed_where_something_failed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with bench(TERRAFORM, monkeypatch) as place:
        assert run("mirror", "out") == 0
        before = files(place.work / "out")
        place.registry.faults = Faults((FaultRule(Fault.NOT_FOUND, "reg.acme.test/a/other", step=Step.VERSIONS),))
        (place.work / "main.tf").write_text(BOTH.replace("~> 1.0", "1.0.0"))
        capfd.readouterr()
        assert run("mirror", "--prune", "--dry-run", "out") == 1
        assert capfd.readouterr().out.endswith("; 1 error; nothing would be removed\n")
        assert run("mirror", "--prune", "out") == 1
        assert capfd.readouterr().out.endswith("; 1 error; nothing removed\n")
        assert (
            before.items()
            <= {name: data for name, data in files(place.work / "out").items() if "acme/demo/index" not in name}.items()
            | {name: data for name, data in before.items() if "acme/demo/index" in name}.items()
        )


UNIT: Files = {
    "terragrunt.hcl": 'terraform {\n  source = "../modules/x"\n}\n',
    ".terraform.lock.hcl": 'provider "reg.acme.test/a/other" {\n  version = "1.0.0"\n}\n',
}
UNKNOWN = "could not determine what is required: "
LEFT = "reg.acme.test/a/other is locked here, and not mirrored"


@pytest.mark.parametrize(
    ("more", "options", "place", "reason"),
    [
        (UNIT, (), "live/.terraform.lock.hcl", "no configuration in this folder, terragrunt.hcl generates it; " + LEFT),
        (UNIT, ("-lock-file=false",), "live/.terraform.lock.hcl", "no configuration in this folder, terragrunt.hcl generates it\n"),
        ({".terraform.lock.hcl": ""}, (), "live/.terraform.lock.hcl", "no configuration in this folder\n"),
        (UNIT | {"main.tf": requires(("acme/demo", "1.2.0"))}, ("-lock-file=false",), "live/.terraform.lock.hcl",
         "terragrunt.hcl may generate more of the configuration\n"),
        ({"main.tf": 'module "gone" {\n  source = "acme/gone/x"\n}\n'}, ("--allow-missing-modules",), "live",
         "not fetched: module gone (acme/gone/x)\n"),
        ({"main.tf": 'terraform {\n  backend "s3" {}\n}\n', ".terraform.lock.hcl": UNIT[".terraform.lock.hcl"]}, (),
         "live/.terraform.lock.hcl", 'the state is in the "s3" backend (live/main.tf:2); ' + LEFT),
    ],
)  # fmt: skip
def test_nothing_is_removed_where_it_is_not_known_what_is_required(
    more: Files,
    options: tuple[str, ...],
    place: str,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    laid = {"tf/main.tf": BOTH} | {f"live/{name}": text for name, text in more.items()}
    with bench(TERRAFORM, monkeypatch, replace(CASE, files=laid)) as bed:
        assert run("mirror", "out", "--", "tf") == 0
        before = files(bed.work / "out")
        (bed.work / "tf/main.tf").write_text(requires(("acme/demo", "1.2.0")))
        capfd.readouterr()
        for words in (("--dry-run",), ()):
            assert run("mirror", "--prune", *options, *words, "out", "--", "tf", "live") == 1
            said = capfd.readouterr()
            ending = "nothing would be removed" if words else "nothing removed"
            assert said.out.endswith(f"; 1 error; {ending}\n"), said
            assert f"{place}: {UNKNOWN}{reason}" in said.err
            assert files(bed.work / "out") == before
        assert run("mirror", "--prune", "out", "--", "tf") == 0
        assert len(files(bed.work / "out")) < len(before)


def test_what_a_root_locks_without_a_configuration_is_named_as_not_mirrored(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    laid = {f"{root}/{name}": text for root in ("live/a", "live/b") for name, text in UNIT.items()}
    with bench(TERRAFORM, monkeypatch, replace(CASE, files=laid)) as place:
        reason = "no configuration in this folder, terragrunt.hcl generates it"
        for words in (("out", "--", "live/a"), ("out", "--", "live/a", "live/b")):
            assert run("mirror", *words) == 1
            said = capfd.readouterr()
            assert said.out == "0 packages of this run in out; 1 error\n"
            others = " (and 1 other root)" if words[3:] else ""
            assert f"live/a/.terraform.lock.hcl: {UNKNOWN}{reason}; {LEFT}{others}\n" in said.err
        (place.work / "live/a/main.tf").write_text(requires(("reg.acme.test/a/other", "")))
        assert run("mirror", "out", "--", "live/a") == 0, "all that is locked is mirrored"


def test_links_below_the_folder_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    with bench(TERRAFORM, monkeypatch) as place:
        (place.work / "elsewhere").mkdir()
        (place.work / "out").mkdir()
        (place.work / "out/registry.terraform.io").symlink_to(place.work / "elsewhere")
        assert run("mirror", "out") in {1, 2}
        assert list((place.work / "elsewhere").iterdir()) == []


def test_nothing_is_written_or_removed_behind_a_link_out_of_the_repository(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with bench(TERRAFORM, monkeypatch) as place:
        home = place.work.parent / "elsewhere"
        kept = home / "registry.terraform.io/acme/demo/terraform-provider-demo_0.9.0_linux_amd64.zip"
        kept.parent.mkdir(parents=True)
        kept.write_text("mine")
        (place.work / ".git").mkdir()
        (place.work / "vendor").mkdir()
        (place.work / "vendor/mirror").symlink_to(home)
        for folder in ("vendor/mirror", "vendor/mirror/registry.terraform.io", "vendor/mirror/new"):
            assert run("mirror", "--prune", folder) == 2
            assert "a link leads out of the repository, to" in " ".join(capfd.readouterr().err.split())
        assert [path for path in home.rglob("*") if path.is_file()] == [kept]
        assert run("mirror", "--prune", str(home)) == 0
        assert not kept.exists()


def test_a_package_that_is_not_the_signed_one_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    more: Files = {"main.tf": requires(("acme/demo", "1.0.0"))}
    with bench(TERRAFORM, monkeypatch, replace(CASE, files=more)) as place:
        place.registry.faults = Faults((FaultRule(Fault.TAMPERED_PACKAGE),))
        assert run("mirror", "out") == 1
        assert files(place.work / "out") == {}


def test_locked_versions_are_mirrored_unless_the_lock_file_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    with bench(TERRAFORM, monkeypatch, replace(CASE, files={"main.tf": requires(("acme/demo", "1.0.0"))})) as place:
        assert run("lock") == 0
        (place.work / "main.tf").write_text(requires(("acme/demo", "~> 1.0")))
        monkeypatch.setenv("TF_CLI_ARGS_providers_mirror", "-no-color -platform=darwin_arm64")
        assert run("mirror", "locked") == 0
        assert run("mirror", "-lock-file=false", "newest") == 0
        for folder, version in (("locked", "1.0.0"), ("newest", "1.2.0")):
            names = {name.rpartition("/")[2] for name in files(place.work / folder)}
            assert f"terraform-provider-demo_{version}_darwin_arm64.zip" in names


def test_a_provider_without_a_locked_version_is_an_error_where_others_have_one(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As with the tools; the newest version was mirrored without a word."""
    needs = requires(("acme/demo", "1.0.0"), ("acme/other", ""))
    with bench(TERRAFORM, monkeypatch, replace(CASE, files={"main.tf": requires(("acme/demo", "1.0.0"))})) as place:
        assert run("lock") == 0
        (place.work / "main.tf").write_text(needs)
        for words in ((), ("--dry-run",)):
            assert run("mirror", *words, "locked") == 1
            said = capfd.readouterr()
            assert "acme/other is required, and the lock file has no version of it" in said.err
            assert "`locklens lock` locks one" in said.err
        names = {name.rpartition("/")[2] for name in files(place.work / "locked")}
        assert {one for one in names if one.endswith(".zip")} == {"terraform-provider-demo_1.0.0_linux_amd64.zip"}
        assert run("mirror", "-lock-file=false", "newest") == 0
        # Nothing is locked yet: there is no version to be held to.
        (place.work / ".terraform.lock.hcl").write_text("# This file is maintained automatically.\n")
        assert run("mirror", "first") == 0


STATE = {
    "version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "a", "outputs": {}, "resources": [
        {"mode": "managed", "type": "x", "name": "a", "instances": [],
         "provider": 'provider["reg.acme.test/a/other"]'}
    ]
}  # fmt: skip
TESTS = 'run "x" {\n  command = plan\n  module {\n    source = "./tests/m"\n  }\n}\n'


@DIAGONAL
@both
@pytest.mark.parametrize("is_of_state", [False, True], ids=["tests", "state"])
def test_what_only_tests_or_the_state_require_is_mirrored_where_it_is_locked(
    tool: Tool, is_of_state: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tools leave it out, with and without a lock file; `init` installs the locked version of it."""
    if not is_here(tool):
        pytest.skip(f"needs {tool.command} {tool.version} on PATH")
    more = {"tests/a.tftest.hcl": TESTS, "tests/m/main.tf": requires(("reg.acme.test/a/other", ""))}
    if is_of_state:
        more = {"terraform.tfstate": json.dumps(STATE)}
    case = replace(CASE, files={"main.tf": requires(("acme/demo", "1.0.0"))} | more)

    def mirrored(folder: str) -> set[str]:
        names = (name.rpartition("/")[2] for name in files(place.work / folder))
        return {name.split("_")[0] for name in names if name.endswith(".zip")}

    with bench(tool, monkeypatch, case) as place:
        place.real("get")
        demo, both_of_them = {"terraform-provider-demo"}, {"terraform-provider-demo", "terraform-provider-other"}
        for state, ours in (("unlocked", demo), ("locked", both_of_them)):
            place.real("providers", "mirror", "-platform=linux_amd64", f"theirs-{state}")
            assert mirrored(f"theirs-{state}") == demo
            assert run("mirror", "--tool", tool.name, "-platform=linux_amd64", f"ours-{state}") == 0
            assert mirrored(f"ours-{state}") == ours
            assert run("init", "--tool", tool.name) == 0
        assert run("mirror", "--tool", tool.name, "-lock-file=false", "newest") == 0
        assert mirrored("newest") == demo


def test_a_package_that_is_not_locked_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with bench(TERRAFORM, monkeypatch, replace(CASE, files={"main.tf": requires(("acme/demo", "1.0.0"))})) as place:
        assert run("lock") == 0
        assert run("mirror", "before") == 0
        assert "not locked" not in capfd.readouterr().err
        lock = place.work / ".terraform.lock.hcl"
        whole = lock.read_text()
        lock.write_text("".join(one for one in whole.splitlines(keepends=True) if '"h1:' not in one))
        assert run("mirror", "by-zh") == 0
        assert "not locked" not in capfd.readouterr().err
        lock.write_text(re.sub(r'"(zh|h1):.*?"', lambda one: f'"{one[1]}:{NOBODY[one[1]]}"', whole))
        assert run("mirror", "out") == 0
        said = capfd.readouterr()
        assert "Warning: Mirrored package is not locked" in said.err
        words = "no hash of acme/demo 1.0.0 for linux_amd64 is locked here, so that init from this mirror refuses it"
        assert f".terraform.lock.hcl:4: {words}" in said.err
        assert "Success! " in said.out
        assert run("mirror", "--dry-run", "out") == 0
        assert words in capfd.readouterr().err
        assert run("mirror", "--dry-run", "empty") == 0
        assert words in capfd.readouterr().err
        monkeypatch.setenv("XDG_CACHE_HOME", str(place.home / "no-cache"))
        assert run("mirror", "--dry-run", "empty") == 0
        zh_words = "no zh of acme/demo 1.0.0 for linux_amd64 is locked here; init from this mirror refuses it unless"
        assert zh_words in capfd.readouterr().err
        lock.write_text(whole)
        assert run("mirror", "--dry-run", "empty") == 0
        assert "not locked" not in capfd.readouterr().err
        lock.write_text(re.sub(r'"(zh|h1):.*?"', lambda one: f'"{one[1]}:{NOBODY[one[1]]}"', whole))
        place.configure('provider_installation {\n  filesystem_mirror {\n    path = "out"\n  }\n}\n')
        assert run("init") == 1


NOBODY = {"zh": "0" * 64, "h1": "A" * 43 + "="}
