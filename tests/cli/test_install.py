"""`init` and `lock` as commands: where words go, how they end, and what `--dry-run`, `--check` and `--json` do."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from install import conftest
from install.conftest import HOST, Place
from kit.command_line import Run, runner
from kit.repositories import put

from locklens.demo.faults import Fault, FaultRule, Step
from locklens.operations.plan import RootResult
from locklens.operations.write.init import Init

place = conftest.place


@pytest.fixture
def run(place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(place.root)
    for name in ("HOME", "TF_CLI_CONFIG_FILE"):
        monkeypatch.setenv(name, place.environ[name])
    return runner(capfd)


def test_init_tells_in_the_tools_words(place: Place, run: Run) -> None:
    status, out, err = run("init", "-input=false", "-no-color", "-backend-config=x")
    assert status == 0
    assert "locklens has created a lock file .terraform.lock.hcl" in out
    assert err.splitlines()[:2] == ["- Finding latest version of acme/demo...", "- Installing acme/demo v1.1.0..."]
    assert "- Installed acme/demo v1.1.0 (self-signed, key ID " in err
    status, out, err = run("init")
    assert (status, out) == (0, "Providers are installed; no change to the lock file.\n")
    assert "- Using previously-installed acme/demo v1.1.0" in err


def test_both_spellings_do_the_same(place: Place, run: Run) -> None:
    assert run("providers", "lock", "-platform=linux_amd64", "acme/demo")[0] == 0
    before = place.lock_file.read_bytes()
    place.lock_file.unlink()
    status, out, _ = run("lock", "--platform", "linux_amd64", "acme/demo")
    assert (status, place.lock_file.read_bytes()) == (0, before)
    assert "has updated the lock file" in out
    assert "found no need for changes" in run("lock", "--platform", "linux_amd64")[1]


def test_a_lock_file_without_providers_has_no_checksums_to_retain(place: Place, run: Run) -> None:
    for file in place.lock_file.parent.glob("*.tf"):
        file.write_text("terraform {}\n")
    created = "Success! locklens has created the lock file: no provider is required or locked here.\n"
    assert run("lock", "--platform", "linux_amd64")[:2] == (0, created)
    assert place.lock_file.read_bytes().count(b"\n") == 2, "its header alone"
    assert "found no need for changes" in run("lock", "--platform", "linux_amd64")[1]


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("demo", "did you mean acme/demo?"),
        ("acme/dem", "did you mean acme/demo?"),
        ("corp/zzz", "locklens why lists what requires a provider"),
    ],
)
def test_a_name_that_is_not_required_is_answered_with_one_that_is(
    place: Place, run: Run, typed: str, hint: str
) -> None:
    status, _, err = run("lock", "--platform", "linux_amd64", typed)
    assert (status, err.splitlines()[-1]) == (1, f"hint: {hint}")
    assert not place.lock_file.exists()


def test_check_writes_nothing_and_says_whether_it_would(place: Place, run: Run) -> None:
    status, out, err = run("lock", "--check", "--platform", "linux_amd64")
    assert (status, out) == (1, ".terraform.lock.hcl: would change\n")
    last, hint = err.splitlines()[-2:]
    assert last == (
        "- Obtained acme/demo checksums for linux_amd64; "
        "This provider and its checksums for this platform would be added to the lock file"
    )
    assert hint == "hint: without --check the same command writes it; with --dry-run it prints the difference"
    assert not place.lock_file.exists()
    run("lock", "--platform", "linux_amd64")
    status, out, err = run("lock", "--check", "--platform", "linux_amd64")
    assert (status, out, "hint:" in err) == (0, ".terraform.lock.hcl: its hashes for linux_amd64 are complete\n", False)
    place.lock_file.write_text(place.lock_file.read_text().replace("  version = ", "  version     =  "))
    out = run("lock", "--check", "--platform", "linux_amd64")[1]
    assert out == ".terraform.lock.hcl: would change, but no version or hash\n"


def test_check_says_what_it_did_not_check(place: Place, run: Run) -> None:
    run("lock", "--platform", "linux_amd64")
    orphan = 'provider "registry.terraform.io/acme/orphan" {\n  version = "1.0.0"\n  hashes = [\n'
    with place.lock_file.open("a") as file:
        file.write(f'\n{orphan}    "h1:{"A" * 43}=",\n  ]\n}}\n')
    status, out, _ = run("lock", "--check", "--platform", "linux_amd64")
    words = "the hashes of acme/demo for linux_amd64 are complete; not checked: acme/orphan"
    assert (status, out) == (0, f".terraform.lock.hcl: {words}\n")
    for found in place.lock_file.parent.glob("*.tf"):
        found.unlink()
    before = place.lock_file.read_bytes()
    status, out, _ = run("lock", "--check", "--platform", "linux_amd64")
    words = "nothing was locked or checked: no configuration in this folder"
    assert (status, out) == (2, f".terraform.lock.hcl: {words}\n")
    status, out, err = run("lock", "--platform", "linux_amd64")
    assert (status, out, words in err) == (0, "", True)
    assert place.lock_file.read_bytes() == before


def test_a_provider_of_test_files_is_not_said_to_be_not_required(place: Place, run: Run) -> None:
    (place.root / "tests" / "setup").mkdir(parents=True)
    (place.root / "tests/x.tftest.hcl").write_text('run "x" {\n  module {\n    source = "./tests/setup"\n  }\n}\n')
    required = 'terraform {\n  required_providers {\n    other = { source = "acme/other" }\n  }\n}\n'
    (place.root / "tests/setup/main.tf").write_text(required)
    assert run("init")[0] == 0
    assert "acme/other" in place.lock_file.read_text()
    words = (
        "acme/other remains locked: required only by the state or test files, which `init` reads and `lock` does not"
    )
    status, out, err = run("lock", "--check", "--platform", "linux_amd64")
    assert (status, words in err, "not required" in err) == (0, True, False)
    status, out, err = run("lock", "--platform", "linux_amd64")
    assert (words in err, "not required" in err) == (True, False)
    complete = "the hashes of acme/demo for linux_amd64 are complete; not checked: acme/other"
    words = f"Success! locklens has validated the lock file and found no need for changes: {complete}.\n"
    assert (status, out) == (0, words)


@pytest.mark.parametrize("is_complete", [True, False])
def test_the_entry_of_a_provider_that_runs_already_stays(
    place: Place, run: Run, monkeypatch: pytest.MonkeyPatch, *, is_complete: bool
) -> None:
    run("init")
    before = place.lock_file.read_bytes()
    if not is_complete:
        with (place.root / "main.tf").open("a") as file:
            file.write('module "none" {\n  source = "./none"\n}\n')
    monkeypatch.setenv("TF_REATTACH_PROVIDERS", f'{{"{HOST}/acme/demo": {{"Protocol": "grpc"}}}}')
    status, out, err = run("init", *([] if is_complete else ["--allow-missing-modules"]))
    assert (status, out) == (0, "Providers are installed; no change to the lock file.\n")
    assert "locked" not in err
    assert place.lock_file.read_bytes() == before


@pytest.mark.parametrize("words", [("init",), ("lock",)])
def test_a_dry_run_prints_a_diff_and_writes_nothing(place: Place, run: Run, words: tuple[str, ...]) -> None:
    status, out, err = run(*words, "--dry-run")
    assert status == 0
    assert err.endswith("\ndry run: nothing was written\n")
    assert "Installed" not in err
    assert "now tracked" not in err
    head = ["new file mode 100644", "--- /dev/null", "+++ b/.terraform.lock.hcl"]
    assert out.splitlines()[:4] == ["diff --git a/.terraform.lock.hcl b/.terraform.lock.hcl", *head]
    assert sorted(path.name for path in place.root.iterdir()) == ["main.tf"]
    run(*words)
    written = [line[1:] for line in out.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert place.lock_file.read_text().splitlines() == written


def test_a_dry_run_of_init_speaks_in_the_conditional(place: Place, run: Run) -> None:
    run("init")
    place.lock_file.write_text(
        place.lock_file.read_text().replace("1.1.0", "1.0.0")
        + 'provider "registry.terraform.io/acme/other" {\n  version = "1.0.0"\n}\n'
    )
    status, _, err = run("init", "--upgrade", "--dry-run")
    assert status == 0
    lines = err.splitlines()
    assert lines[1] == "- Checking acme/demo v1.1.0..."
    assert lines[2].startswith("- Would install acme/demo v1.1.0 (self-signed, key ID ")
    assert "- acme/other 1.0.0 would no longer be locked: not required" in lines
    assert lines[-1] == "dry run: nothing was written"
    assert "- acme/other 1.0.0 is no longer locked: not required" in run("init", "--upgrade")[2].splitlines()


def test_init_says_where_it_drops_comments(place: Place, run: Run) -> None:
    said = "- comments in the lock file are not kept, as with terraform init"
    assert said not in run("init")[2].splitlines()
    text = place.lock_file.read_text().replace("1.1.0", "1.0.0")
    place.lock_file.write_text(text.replace('  version = "1.0.0"', '  version = "1.0.0" # for the old cluster'))
    assert said not in run("init", "--upgrade", "--lockfile", "readonly")[2].splitlines(), "nothing is written"
    assert said in run("init", "--upgrade", "--dry-run")[2].splitlines()
    assert said in run("init", "--upgrade")[2].splitlines()
    assert "old cluster" not in place.lock_file.read_text()
    assert said not in run("init", "--upgrade")[2].splitlines()


@pytest.mark.parametrize("option", ["--dry-run", "--check"])
def test_additional_checksums_would_be_added(place: Place, run: Run, option: str) -> None:
    run("lock", "--platform", "linux_amd64")
    both = ("--platform", "linux_amd64", "--platform", "darwin_arm64")
    lines = run("lock", option, *both)[2].splitlines()
    lead = "- Obtained acme/demo checksums for"
    assert f"{lead} linux_amd64; All checksums for this platform are already tracked in the lock file" in lines
    assert f"{lead} darwin_arm64; Additional checksums for this platform would be added to the lock file" in lines
    assert lines[-1] == "dry run: nothing was written" or option == "--check"


def test_json_is_an_event_a_line(place: Place, run: Run) -> None:
    status, out, err = run("init", "--json")
    events = [json.loads(line) for line in out.splitlines()]
    assert (status, err) == (0, "")
    assert [event["type"] for event in events] == ["query_started", "fetch_started", "provider_installed", "outcome"]
    assert events[-1]["written"] is True
    assert {event["root"] for event in events} == {"."}


def test_several_roots(place: Place, run: Run) -> None:
    for name in ("one", "two"):
        put(place.root / name, {"main.tf": (place.root / "main.tf").read_bytes()})
    (place.root / "two" / "main.tf").write_text("}")
    status, out, err = run("init", "--root", "one", "--root", "two", "--root", "gone")
    assert status == 1
    assert out.count("has created a lock file") == 1
    assert "one:\n" in err
    assert "two/main.tf:1: " in err
    assert "error: gone: no such folder" in err
    assert (place.root / "one/.terraform.lock.hcl").exists()
    assert (place.root / f"one/.terraform/providers/{HOST}/acme/demo").is_dir()
    assert run("init", "--root", "gone")[0] == 2


def test_an_interruption_names_the_roots_that_were_written(
    place: Place, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("done", "one", "two", "three"):
        put(place.root / name, {"main.tf": (place.root / "main.tf").read_bytes()})
    assert run("init", "--root", "done")[0] == 0
    init = Init.init

    def interrupted(self: Init, name: str, **options: Any) -> RootResult:
        if name == "three":
            raise KeyboardInterrupt
        return init(self, name, **options)

    monkeypatch.setattr(Init, "init", interrupted)
    status, _, err = run("init", *(f"--root={name}" for name in ("done", "one", "two", "three")))
    assert status == 130
    assert err.endswith("note: written before the interruption, and kept: one, two\nerror: interrupted\n")
    assert "note:" not in run("init", "--root", "three")[2]


def test_lock_works_on_several_roots_at_once(place: Place, run: Run) -> None:
    for name in ("one", "two", "odd"):
        put(place.root / name, {"main.tf": (place.root / "main.tf").read_bytes()})
    (place.root / "odd" / "main.tf").write_text("}")
    roots = [word for name in ("one", "two", "odd", "gone") for word in ("--root", name)]
    status, out, err = run("lock", "--check", "--platform", "linux_amd64", *roots)
    assert status == 1
    assert out.splitlines() == [
        "one/.terraform.lock.hcl: would change",
        "two/.terraform.lock.hcl: would change",
        "would change: one, two",
        "failed: odd, gone",
        "4 roots: 2 would change, 2 failed",
    ]
    status, out, err = run("lock", "--platform", "linux_amd64", *roots)
    assert status == 1
    assert out.count("has updated the lock file") == 2
    assert "Review the changes in two/.terraform.lock.hcl and then commit" in out
    lines = err.splitlines()
    assert lines[0] == "- Finding latest version of acme/demo..."
    # `--check` has downloaded the package already.
    assert sum(line.startswith("- Not downloaded: acme/demo ") for line in lines) == 1
    for name in ("one:", "two:"):
        assert lines[lines.index(name) + 1].startswith("- Obtained acme/demo checksums for linux_amd64; This was a new")
    assert "odd/main.tf:1: " in err[err.index("odd:") :]
    assert "error: gone: no such folder" in err
    assert (place.root / "one/.terraform.lock.hcl").read_bytes() == (
        place.root / "two/.terraform.lock.hcl"
    ).read_bytes()
    assert place.asked().count("package") == 1
    assert run("lock", "--root", "gone", "--root", "nowhere")[0] == 2


def test_a_check_of_several_roots_ends_with_those_that_fail(place: Place, run: Run) -> None:
    for name in ("a", "b", "c"):
        put(place.root / name, {"main.tf": (place.root / "main.tf").read_bytes()})
    roots = [word for name in ("a", "b", "c") for word in ("--root", name)]
    check = ("lock", "--check", "--platform", "linux_amd64")
    run("lock", "--platform", "linux_amd64", *roots[2:])
    status, out, err = run(*check, *roots)
    assert (status, out.splitlines()) == (1, [
        "b/.terraform.lock.hcl: its hashes for linux_amd64 are complete",
        "c/.terraform.lock.hcl: its hashes for linux_amd64 are complete",
        "a/.terraform.lock.hcl: would change",
        "would change: a",
        "3 roots: 2 unchanged, 1 would change",
    ])  # fmt: skip
    assert [line.partition(" checksums")[0] for line in err.splitlines() if "Obtained" in line or line[1:] == ":"] == [
        "a:", "- Obtained acme/demo"
    ]  # fmt: skip
    assert run(*check, *roots[2:])[1].splitlines()[-1] == "2 roots: 2 unchanged"
    events = run(*check, *roots, "--json")[1].splitlines()
    outcomes = [line for line in events if '"outcome"' in line]
    assert [json.loads(line)["root"] for line in outcomes] == ["a", "b", "c"]


def test_json_of_several_roots_names_no_root_where_all_are_meant(place: Place, run: Run) -> None:
    for name in ("one", "two"):
        put(place.root / name, {"main.tf": (place.root / "main.tf").read_bytes()})
    status, out, err = run("lock", "--json", "--platform", "linux_amd64", "--root", "one", "--root", "two")
    assert (status, err) == (0, "")
    events = [json.loads(line) for line in out.splitlines()]
    assert [(event["type"], event["root"]) for event in events] == [
        ("query_started", None),
        ("fetch_started", None),
        ("package_hashed", None),
        ("hashes_obtained", "one"),
        ("outcome", "one"),
        ("hashes_obtained", "two"),
        ("outcome", "two"),
    ]
    assert [event["written"] for event in events if event["type"] == "outcome"] == [True, True]


def test_a_root_has_the_name_of_the_command_line(place: Place, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    roots = ("prod", "../other")
    for name in ("live/prod", "other"):
        put(place.root / name, {"main.tf": (place.root / "main.tf").read_bytes()})
    (place.root / ".git").mkdir()
    monkeypatch.chdir(place.root / "live")
    words = ("lock", "--platform", "linux_amd64", *(f"--root={name}" for name in roots))
    events = [json.loads(line) for line in run(*words, "--dry-run", "--json")[1].splitlines()]
    assert [event["root"] for event in events if event["type"] == "hashes_obtained"] == [*roots]
    assert [event["root"] for event in events if event["type"] == "outcome"] == [*roots]
    status, out, err = run(*words)
    assert status == 0
    assert [line for line in err.splitlines() if line.endswith(":")] == ["prod:", "../other:"]
    assert "Review the changes in ../other/.terraform.lock.hcl " in out


def test_lock_writes_all_of_its_files_or_none(place: Place, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        put(place.root / name, {"main.tf": (place.root / "main.tf").read_bytes()})
    real = os.replace

    def failing(source: str, target: str) -> None:
        if os.fspath(target).endswith("two/.terraform.lock.hcl"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        real(source, target)

    monkeypatch.setattr(os, "replace", failing)
    status, out, err = run("lock", "--platform", "linux_amd64", "--root", "one", "--root", "two")
    assert (status, out) == (2, "")
    assert "error: two/.terraform.lock.hcl: cannot be written: read-only file system" in err
    assert "- Retrieved acme/demo " in err
    assert "tracked in the lock file" not in err
    assert not list(place.root.rglob(".terraform.lock.hcl*"))
    assert not list(place.root.rglob(".locklens-*"))


def test_readonly(place: Place, run: Run) -> None:
    assert run("init", "-lockfile=readonly")[0] == 1
    run("lock", "-platform=darwin_arm64")
    before = place.lock_file.read_bytes()
    status, _, err = run("init", "-lockfile=readonly")
    assert status == 1
    assert "Error: Provider lock file not updated" in err
    status, _, err = run("init", "--lockfile", "readonly-lenient")
    assert status == 0
    assert "Warning: Provider lock file not updated" in err
    assert place.lock_file.read_bytes() == before
    status, _, err = run("init", "-upgrade", "-lockfile=readonly")
    assert (status, "error: The -upgrade flag conflicts with -lockfile=readonly." in err) == (1, True), "as the tools"


def test_what_failed_is_an_error_with_a_hint(place: Place, run: Run) -> None:
    place.fail(FaultRule(Fault.NOT_FOUND, step=Step.VERSIONS))
    status, out, err = run("init")
    assert (status, out) == (1, "")
    assert "Error: Failed to query available provider packages" in err
    assert "does not have a provider named" in err


def test_get_is_no_hint_for_modules_that_it_does_not_make_readable(place: Place, run: Run) -> None:
    with (place.root / "main.tf").open("a") as file:
        file.write('module "none" {\n  source = "./none"\n}\n')
    for command in ("init", "lock"):
        status, _, err = run(command)
        assert status == 1
        assert "hint: --allow-missing-modules continues without" in err


def test_modules_that_are_missing_are_named_with_the_command_that_fetches_them(place: Place, run: Run) -> None:
    with (place.root / "main.tf").open("a") as file:
        file.write('module "net" {\n  source = "acme/net/aws"\n}\n')
    status, _, err = run("init")
    assert status == 1
    assert 'module "net" (acme/net/aws) cannot be read' in err
    assert "hint: `terraform get` fetches remote modules; --allow-missing-modules" in err
    run("lock", "--allow-missing-modules")
    place.lock_file.write_text(
        place.lock_file.read_text() + 'provider "registry.terraform.io/acme/other" {\n  version = "1.0.0"\n}\n'
    )
    status, _, err = run("init", "--allow-missing-modules")
    assert status == 0
    assert "acme/other remains locked, not required by what was read of the configuration" in err
    assert "acme/other" in place.lock_file.read_text()


def test_an_oci_mirror_that_cannot_be_reached_is_never_ignored(place: Place, run: Run) -> None:
    config = Path(place.environ["TF_CLI_CONFIG_FILE"])
    before = config.read_text()
    template = (
        f'oci_mirror {{\n    repository_template = "127.0.0.1:9/${{type}}"\n    include = ["{HOST}/acme/*"]\n  }}'
    )
    config.write_text(before + f"provider_installation {{\n  {template}\n  direct {{}}\n}}\n")
    place.require((f"{HOST}/acme/demo", ""))
    status, _, err = run("init", "--tool", "opentofu")
    assert status == 1
    assert "127.0.0.1:9 refuses the connection (OCI repository 127.0.0.1:9/demo)" in " ".join(err.split())
    assert "the registry is there, and the repository_template of the oci_mirror block" in " ".join(err.split())
    config.write_text(before)
    option = "-oci-mirror=127.0.0.1:9/{type}"
    status, _, err = run("lock", "--tool", "opentofu", option)
    assert status == 1
    assert "the registry is there, and the template of -oci-mirror" in " ".join(err.split())


def test_development_overrides_are_named(place: Place, run: Run) -> None:
    config = Path(place.environ["TF_CLI_CONFIG_FILE"])
    config.write_text(
        config.read_text() + 'provider_installation {\n  dev_overrides {\n    "acme/demo" = "/x"\n  }\n  direct {}\n}\n'
    )
    status, _, err = run("init")
    assert status == 0
    assert "Provider development overrides are in effect" in err
    assert "acme/demo in /x" in err


def test_the_variables_for_arguments_count(place: Place, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CLI_ARGS", "-no-color")
    monkeypatch.setenv("TF_CLI_ARGS_providers_lock", "-platform='darwin_arm64'")
    assert "darwin_arm64" in run("providers", "lock", "-platform=linux_amd64")[2]
    monkeypatch.setenv("TF_CLI_ARGS_init", "'")
    status, _, err = run("init")
    assert status == 2
    assert "TF_CLI_ARGS_init cannot be read" in err


def test_a_method_that_is_dropped_is_named_with_its_line(place: Place, run: Run) -> None:
    config = Path(place.environ["TF_CLI_CONFIG_FILE"])
    before = config.read_text()
    config.write_text(before + 'provider_installation {\n  direct {\n    include = ["acme/de*"]\n  }\n}\n')
    status, _, err = run("init")
    assert status == 1
    line = before.count("\n") + 3
    assert f"{config}:{line}: invalid pattern 'acme/de*' in include" in err
    assert "no available releases match the given constraints: there is no place to install from" in err
