"""What was fixed is said to be fixed, git is asked whose line it is, and hints go by the run's own settings."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kit.command_line import no_screen
from kit.effort import DIAGONAL
from kit.git import git
from kit.repositories import repository
from kit.schemas import validate
from msgspec.structs import replace

from locklens.cli.main import main
from locklens.demo import PLATFORMS, lock_file, package_bytes, write_unpacked
from locklens.demo.cases import requires, sample_entry
from locklens.demo.faults import Fault, FaultRule
from locklens.demo.incidents import SampleCopy, SampleIncident, boxed_log, sample_incidents
from locklens.doctor.causes import BY_ID, CAUSES, not_offered_for
from locklens.doctor.model import Cause, CauseId, CauseVerdict, Diagnosis, Incident
from locklens.doctor.report_words import narrowing, verdict_sentence
from locklens.project.clifiles import this_platform

INCIDENTS = {one.cause: one for one in reversed(sample_incidents())}
LOCK = "live/prod/.terraform.lock.hcl"
MISMATCH = (
    "Error while installing acme/demo v1.4.2: the current package for registry.terraform.io/acme/demo 1.4.2 doesn't "
    "match any of the checksums previously recorded in the dependency lock file; for more information: terraform init"
)


def test_an_edit_that_is_not_committed_is_nobodys(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["hand-edit"], locks=INCIDENTS["hand-edit"].locks[:1]))
    lock = folder / LOCK
    lock.write_bytes(INCIDENTS["hand-edit"].locks[1])
    out = doctor(folder, "--format", "text", "--all", "ci.log")
    assert "whether the change that made it so was a merge: whoever edited the work tree" in out
    assert "LOCKED       not committed yet (3.9.1 to 3.10.0)" in out
    assert "Robin" not in out
    subprocess.run(["git", "-C", str(folder), "checkout", "--quiet", "--", LOCK], check=True)
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "FIXED" not in out  # the log may as well be of another branch
    assert "the log is of registry.terraform.io/acme/netbox 3.10.0, and 3.9.1 is locked in live/prod" in out


def test_hashes_are_of_the_version_that_first_had_them(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["hand-edit"])
    lock = folder / LOCK
    lock.write_text("".join(one for one in lock.read_text("utf-8").splitlines(True) if '"h1:' not in one), "utf-8")
    cause = next(one for one in doctor(folder, "ci.log")["causes"] if one["id"] == "hand-edit")
    assert "has the hashes of 3.9.1" in cause["evidence"]
    assert "the version changed, the hashes did not" in cause["evidence"]
    lock.write_text(lock.read_text("utf-8").replace('"3.10.0"', '"3.10.7"'), "utf-8")
    document = doctor(folder, "ci.log")
    assert {one["verdict"] for one in document["causes"]} <= {"unknown", "no"}  # the log is of 3.10.0
    told = {one["id"]: one["evidence"] for one in document["causes"]}
    assert "the block says 3.10.7, and has the hashes of 3.9.1" in told["hand-edit"]
    assert "of 5 zh of packages are of 3.9.1 (commit" in told["bad-merge"]


@pytest.mark.parametrize("message", [
    "locked provider registry.terraform.io/acme/demo 1.4.2 does not match configured version constraint ~> 1.4, ~> 2.0; must use",
    "no available releases match the given constraints ~> 1.4, ~> 2.0",
])  # fmt: skip
def test_constraints_that_excluded_one_another_may_be_in_two_files(message: str, made: Any, doctor: Any) -> None:
    folder = made(SampleIncident("", ("none",), (lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4")),)))
    root = folder / "live/prod"
    (root / "net").mkdir()
    (root / "net/versions.tf").write_text(requires(("acme/demo", "~> 2.0")), "utf-8")
    with (root / "main.tf").open("a", encoding="utf-8") as file:
        file.write('\nmodule "net" {\n  source = "./net"\n}\n')
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "add the module")
    words = f"Could not retrieve the list of available versions for provider acme/demo: {message}"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", words)), "utf-8")
    document = doctor(folder, "ci.log")
    assert (document["state"], document["causes"][0]["id"]) == ("open", "constraint-conflict")
    (root / "net/versions.tf").write_text(requires(("acme/demo", "~> 1.3")), "utf-8")
    for network in ((), ("--offline",)):  # the locked version is there, whatever is listed
        assert doctor(folder, *network, "ci.log")["fixed"] == "acme/demo 1.4.2 satisfies ~> 1.3, ~> 1.4 now"
    git(folder, "rm", "-rfq", "live/prod/net")
    (root / "main.tf").write_text(requires(("acme/demo", "~> 1.4")), "utf-8")
    git(folder, "commit", "-qam", "remove the module")
    assert doctor(folder, "ci.log")["fixed"] == "acme/demo 1.4.2 satisfies ~> 1.4 now"


@pytest.mark.parametrize(("withdrawn", "words"), [
    ((), "none of 3 listed versions satisfies ~> 99.0"),
    (("1.4.1", "1.4.2"), "the only listed version does not satisfy ~> 99.0"),
])  # fmt: skip
def test_of_one_listed_version_no_plural_is_said(
    withdrawn: tuple[str, ...], words: str, made: Any, doctor: Any
) -> None:
    rules = tuple(FaultRule(Fault.WITHDRAWN, "registry.terraform.io/acme/demo", version) for version in withdrawn)
    lock = lock_file(sample_entry("acme/demo", "1.5.0", "~> 1.4"))
    folder = made(SampleIncident("", ("none",), (lock,), (("acme/demo", "~> 99.0"),), rules=rules))
    message = "no available releases match the given constraints ~> 99.0"
    told = f"Could not retrieve the list of available versions for provider acme/demo: {message}"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", told)), "utf-8")
    assert doctor(folder, "ci.log")["causes"][0]["evidence"].startswith(f"{words} (")


def test_a_place_of_one_error_that_is_here_tells_the_platform_of_the_others(
    made: Any, doctor: Any, tmp_path: Path
) -> None:
    lock = lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9"))
    folder = made(SampleIncident("", ("none",), (lock,), (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))))
    (mirror := tmp_path / "mirror").mkdir()
    settings = Path(os.environ["TF_CLI_CONFIG_FILE"])
    block = f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror.as_posix()}"\n  }}\n}}\n'
    settings.write_text(settings.read_text("utf-8") + block, "utf-8")
    query, lists = (
        "Failed to query available provider packages",
        "Could not retrieve the list of available versions for",
    )
    nowhere = "provider registry.terraform.io/acme/netbox was not found in any of the search locations"
    gone = "the previously-selected version 1.4.2 is no longer available"
    log = boxed_log(
        (query, f"{lists} provider acme/netbox: {nowhere}", f"  - {mirror.as_posix()}"),
        (query, f"{lists} provider acme/demo: {gone}"),
    )
    (folder / "ci.log").write_text(log.replace("on linux_amd64\n", "\n"), "utf-8")
    document = doctor(folder, "ci.log")
    assert [one["kind"] for one in document["errors"]] == ["not-in-sources", "version-gone"]
    commands = [one["command"] for one in document["remedies"] if one["id"] == "fill-mirror"]
    assert commands == [f"locklens mirror --platform={this_platform()} {mirror} --root=live/prod"]


def test_a_long_path_stays_whole(made: Any, doctor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(INCIDENTS["plugin-missing"])
    path = tmp_path / ("a-folder-with-a-name/" * 7 + "settings.tfrc")
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(path))
    assert f"NOTE         {path}: the CLI" in doctor(folder, "--format", "text", "ci.log").replace(
        ":\n" + " " * 13, ": "
    )


def test_git_names_the_commit_of_the_line_across_a_move(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["h1-missing"])
    git = ["git", "-C", str(folder), "-c", "user.name=Mover", "-c", "user.email=m@example.com"]
    subprocess.run([*git, "mv", "live/prod", "live/moved"], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "Move"], check=True)
    out = doctor(folder, "--format", "text", "ci.log")
    assert "by Robin Example" in out
    assert "Mover" not in out


def test_a_commit_that_only_took_hashes_away_is_named_across_a_move(made: Any, doctor: Any) -> None:
    demo = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    folder = made(replace(INCIDENTS["h1-missing"], locks=(lock_file(demo),)))
    lock = folder / LOCK
    lock.write_bytes(lock_file(replace(demo, unpacked=())))
    git(folder, "commit", "-qam", "Trim")
    assert '"Trim" (-1 h1)' in doctor(folder, "--format", "text", "ci.log")
    git(folder, "mv", "live/prod", "live/moved")
    git(folder, "commit", "-qm", "Move")
    assert '"Trim" (-1 h1)' in doctor(folder, "--format", "text", "ci.log", "--", "live/moved")


def test_another_committer_is_named_beside_the_author(made: Any, doctor: Any) -> None:
    """A rebase with a conflict, whose lines are of the committer, and commits that were amended."""
    entry, netbox = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    older, newer = (replace(entry, version=version, hashes_of=version) for version in ("1.4.1", "1.5.0"))
    folder = made(replace(INCIDENTS["h1-missing"], locks=(lock_file(older, netbox),)))
    lock = folder / LOCK
    git(folder, "branch", "side")
    lock.write_bytes(lock_file(newer, netbox))
    git(folder, "commit", "-qam", "theirs")
    git(folder, "checkout", "-q", "side")
    lock.write_bytes(lock_file(entry, netbox))
    git(folder, "commit", "-qam", "ours")
    with pytest.raises(AssertionError, match="could not apply"):
        git(folder, "-c", "user.name=Bea", "rebase", "-q", "main")
    wrong = replace(entry, packed=("darwin_arm64",), unpacked=("darwin_arm64",))
    lock.write_bytes(lock_file(wrong, netbox))
    git(folder, "add", LOCK)
    git(folder, "-c", "user.name=Bea", "-c", "core.editor=true", "rebase", "--continue")

    def told(*words: str) -> str:
        return " ".join(doctor(folder, "--format", "text", "--all", *words).split())

    both = " authored by Ann and committed by Bea"
    assert f'{both} "ours" (1.5.0 to 1.4.2, ' in told("ci.log")
    lock.write_bytes(lock_file(replace(wrong, unpacked=()), netbox))
    git(folder, "commit", "-qam", "another platform")
    assert re.search(
        rf'by Ann "another platform" \(-1 h1; 1.5.0 to 1.4.2, [^;]* by commit \w+ of [-\d]+{both}\)', told("ci.log")
    )
    lock.write_bytes(lock_file(netbox))
    git(folder, "commit", "-qam", "removed")
    git(folder, "-c", "user.name=Bea", "commit", "-q", "--amend", "--no-edit")
    assert f"{both} removed it" in told("--", "live/prod")


def test_no_program_of_the_repository_runs_for_a_blame(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder = made(INCIDENTS["h1-missing"])
    mark = tmp_path / "ran"
    for key in ("diff.lock.textconv", "filter.lock.clean", "filter.lock.smudge"):
        subprocess.run(["git", "-C", str(folder), "config", key, f"touch {mark};cat"], check=True)
    (folder / ".gitattributes").write_text("* diff=lock filter=lock\n")
    assert "LOCKED" in doctor(folder, "--format", "text", "ci.log")
    assert not mark.exists()


@pytest.mark.parametrize(
    ("cause", "fix", "words"),
    [
        (
            "hand-edit",
            lambda lock: INCIDENTS["hand-edit"].locks[0],
            "no longer has acme/netbox 3.10.0: 3.9.1 is locked",
        ),
        ("lock-syntax", lambda lock: INCIDENTS["lock-syntax"].locks[0], "can be read now"),
        (
            "h1-missing",
            lambda lock: INCIDENTS["h1-missing"].locks[0],
            "the hashes of acme/demo 1.4.2 differ from those",
        ),
    ],
)
def test_what_is_fixed_is_said_with_the_next_step(
    cause: str, fix: Callable[[bytes], bytes], words: str, made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS[cause])
    options = INCIDENTS[cause].options
    assert doctor(folder, *options, "ci.log")["state"] == "open"
    (folder / LOCK).write_bytes(fix((folder / LOCK).read_bytes()))
    document = doctor(folder, *options, "ci.log")
    validate(document, "doctor")
    assert (document["state"], document["next"]) == ("fixed", "terraform -chdir=live/prod init")
    assert words in document["fixed"]
    out = doctor(folder, *options, "--format", "text", "ci.log")
    assert "run init again. [FIXED]" in " ".join(out.split())
    assert "CANNOT SAY" not in out.partition("VERDICT")[2].partition("]")[0]
    assert "$ terraform -chdir=live/prod init" in out
    assert "FIXED" in doctor(folder, *options, "--format", "markdown", "ci.log")


@pytest.mark.parametrize("cause", ["bad-merge", "h1-missing"])
def test_init_is_not_run_again_where_the_configuration_has_an_error(cause: str, made: Any, doctor: Any) -> None:
    folder, options = made(INCIDENTS[cause]), (*INCIDENTS[cause].options, "ci.log")
    main_tf = folder / "live/prod/main.tf"
    whole = main_tf.read_bytes()
    fixes = (one["command"] for one in doctor(folder, *options)["remedies"] if one["command"])
    words = next(one for one in fixes if one.startswith("locklens ")).split(" && ")[0]
    assert main(shlex.split(words)[1:], no_screen) == 0
    assert doctor(folder, *options)["state"] == "fixed"
    main_tf.write_bytes(b"<<<<<<< HEAD\n" + whole)
    left = "but the configuration has an error (live/prod/main.tf:1), and init fails until it is mended"
    document = doctor(folder, *options)
    validate(document, "doctor")
    assert (document["state"], document["fixed"], document["next"]) == ("open", None, None)
    assert not [one for one in document["causes"] if one["verdict"] != "no"]
    over = [note for note in document["run"]["notes"] if note.startswith("the error of the log is over (")]
    assert [note.endswith(left) for note in over] == [True]
    for form in ("text", "markdown"):
        out = " ".join(doctor(folder, "--format", form, *options).replace("`", "").split())
        assert "The error of the log is over (" in out
        assert left in out
        assert not {"FIXED", "NEXT"} & set(out.replace("[", " ").replace("]", " ").split())
        assert "run init again" not in out
    main_tf.write_bytes(whole)
    assert doctor(folder, *options)["state"] == "fixed"


def test_an_edit_in_a_commit_is_fixed_by_the_hashes_of_its_version(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["hand-edit"])
    edit, lock = git(folder, "rev-parse", "--short=12", "HEAD"), folder / LOCK
    whole = sample_entry("acme/netbox", "3.10.0", "~> 3.9")
    lock.write_bytes(lock_file(replace(whole, hashes_of="3.11.0")))
    assert doctor(folder, "ci.log")["state"] == "open"
    lock.write_bytes(lock_file(whole))
    words = f"acme/netbox 3.10.0 had zh of 3.9.1 in commit {edit}, and has only zh of its own release now"
    assert doctor(folder, "ci.log")["fixed"].startswith(words)
    assert doctor(folder, "--offline", "ci.log")["state"] == "open"  # which hashes are of the release is not known
    git(folder, "commit", "-qam", "mended")
    assert doctor(folder, "ci.log")["fixed"].startswith(words)


def test_an_edited_version_that_was_reverted_tells_nothing_of_the_hashes(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["hand-edit"])
    (folder / LOCK).write_bytes(INCIDENTS["hand-edit"].locks[0])
    words = f"the lock file no longer has acme/netbox 3.10.0: 3.9.1 is locked ({LOCK}:"
    assert doctor(folder, "--offline", "ci.log")["fixed"].startswith(words)
    git(folder, "commit", "-qam", "revert")
    for options in ((), ("--offline",)):
        assert doctor(folder, *options, "ci.log")["fixed"].startswith(words)


def test_a_constraint_of_a_module_that_is_not_here_is_told_by_the_message(made: Any, doctor: Any) -> None:
    folder = made(SampleIncident("", ("none",), (b"",), (("acme/demo", "~> 1.4"),)))
    (folder / LOCK).unlink()
    with (folder / "live/prod/main.tf").open("a", encoding="utf-8") as file:
        file.write('\nmodule "net" {\n  source = "acme/net/demo"\n}\n')
    message = "no available releases match the given constraints ~> 1.4, ~> 2.0"
    told = f"Could not retrieve the list of available versions for provider acme/demo: {message}"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", told)), "utf-8")
    rest = '"~> 1.4" at live/prod/main.tf:5, and the message alone tells the rest: '
    for options, words in (
        ((), f"none of 3 listed versions satisfies ~> 1.4, ~> 2.0 ({rest}"),
        (("--offline",), f"has no version that satisfies ~> 1.4, ~> 2.0 ({rest}"),
    ):
        first = doctor(folder, *options, "ci.log")["causes"][0]
        assert (first["id"], first["verdict"]) == ("constraint-conflict", "yes")
        assert words in first["evidence"]


def test_a_constraint_that_no_release_met_is_not_the_one_of_now(made: Any, doctor: Any) -> None:
    folder = made(SampleIncident("", ("none",), (b"",), (("acme/demo", "~> 2.0"),)))
    (folder / LOCK).unlink()
    message = "no available releases match the given constraints ~> 2.0"
    told = f"Could not retrieve the list of available versions for provider acme/demo: {message}"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", told)), "utf-8")
    assert doctor(folder, "ci.log")["causes"][0]["verdict"] == "yes"
    main_tf = folder / "live/prod/main.tf"
    main_tf.write_text(main_tf.read_text("utf-8").replace("~> 2.0", "~> 1.4"), "utf-8")
    assert doctor(folder, "ci.log")["fixed"] == "3 listed versions satisfy ~> 1.4 now"
    document = doctor(folder, "--offline", "ci.log")
    cause = next(one for one in document["causes"] if one["id"] == "constraint-conflict")
    words = 'the message is of ~> 2.0, and acme/demo is required with ~> 1.4 now ("~> 1.4" at live/prod/main.tf:'
    assert (document["state"], cause["verdict"]) == ("open", "unknown")
    assert cause["evidence"].startswith(words)
    told = doctor(folder, "--offline", "--format", "text", "ci.log")
    assert "VERDICT      Could be: no available version satisfies the constraints. [CANNOT SAY]" in told
    git(folder, "checkout", "-q", "live/prod/main.tf")
    shutil.copytree(folder / "live/prod", folder / "live/stage")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "stage")
    for root, fixed in (("live/prod", None), ("live/stage", "3 listed versions satisfy ~> 1.4 now")):
        main_tf = folder / root / "main.tf"
        main_tf.write_text(main_tf.read_text("utf-8").replace("~> 2.0", "~> 1.4"), "utf-8")
        assert doctor(folder, "ci.log")["fixed"] == fixed
    assert doctor(folder, "ci.log")["facts"]["root"] is None


def test_no_upgrade_is_offered_where_the_message_says_that_no_version_fits(made: Any, doctor: Any) -> None:
    lock = lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4"))
    folder = made(SampleIncident("", ("none",), (lock,), (("acme/demo", "~> 2.0"),)))
    message = "no available releases match the given constraints ~> 2.0"
    told = f"Could not retrieve the list of available versions for provider acme/demo: {message}"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", told)), "utf-8")
    for options, note in ((), None), (("--offline",), "the command asks its registry, which has to answer"):
        fixes = {one["command"]: one["note"] for one in doctor(folder, *options, "ci.log")["remedies"]}
        command = "locklens upgrade acme/demo=1.4.2 --edit-constraints --root=live/prod"
        assert "locklens upgrade acme/demo --root=live/prod" not in fixes
        assert note is None or fixes[command] == f"{note}; then commit the files that it changes"
    log = folder / "ci.log"
    log.write_text(f"$ terraform init -upgrade\n{log.read_text('utf-8')}", "utf-8")
    document = doctor(folder, "--offline", "ci.log")
    words = "the message says that the source it asked has no version that satisfies ~> 2.0"
    assert document["causes"][0]["evidence"].startswith(words), "an upgrade asks whatever is locked"
    assert [one["command"] for one in document["remedies"]] == [command]


def test_an_error_that_a_later_run_in_the_log_got_past_is_fixed(made: Any, doctor: Any) -> None:
    lock = lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4"))
    folder = made(SampleIncident("", ("none",), (lock,), (("acme/demo", "~> 1.4"),)))
    words = "Could not retrieve the list of available versions for provider acme/demo: 503 Service Unavailable"
    failed = f"$ terraform init\nError: Failed to query available provider packages\n\n{words}\n\n"
    passed = "$ terraform init\nInitializing provider plugins...\n- Installing acme/demo v1.4.2...\n"
    for log, state in ((failed, "open"), (failed + passed, "fixed"), (failed + passed + failed, "open")):
        (folder / "ci.log").write_text(log, "utf-8")
        document = doctor(folder, "ci.log")
        assert document["state"] == state
        assert (document["fixed"] == "a later run in the log got past the error") is (state == "fixed")


def test_a_folder_that_the_tool_searches_by_itself_stands_for_the_registry(
    made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A provider of such a folder is installed from no registry, and the folder lacks the locked version."""
    home, lock = tmp_path / "home", lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4"))
    folder = made(SampleIncident("", ("none",), (lock,), (("acme/demo", "~> 1.4"),)))
    write_unpacked(home / ".terraform.d/plugins", "registry.terraform.io/acme/demo", "1.4.1", str(this_platform()))
    monkeypatch.setenv("HOME", str(home))
    document = doctor(folder, "--", "live/prod")
    held = {one["id"]: (one["verdict"], one["evidence"]) for one in document["causes"]}
    assert held["mirror-lacks"][0] == "yes"
    assert held["mirror-lacks"][1].endswith(", and init asks no registry for it here")
    assert (
        document["remedies"][0]["command"]
        == f"locklens mirror --platform={this_platform()} ~/.terraform.d/plugins --root=live/prod"
    )


@pytest.mark.parametrize("first", ["Upgrading modules...", "$ terraform init -upgrade", ""])
def test_what_an_upgrade_of_the_tool_chose_is_not_fixed_by_what_is_locked(first: str, made: Any, doctor: Any) -> None:
    """Without a line that tells the option, a provider that is searched for, and was locked before, tells it."""
    without, lock = lock_file(), lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4"))
    folder = made(SampleIncident("", ("none",), (without, lock), (("acme/demo", "~> 1.4"),)))
    (folder / "ci.log").write_text(
        f'{first}\nInitializing provider plugins...\n- Finding acme/demo versions matching "~> 1.4"...\n'
        "Error: Incompatible provider version\n\nProvider registry.terraform.io/acme/demo v1.5.0 does not have a package "
        "available for your current platform, plan9_386.\n",
        "utf-8",
    )
    document = doctor(folder, "ci.log")
    (cause,) = [one for one in document["causes"] if one["verdict"] == "yes"]
    assert (document["state"], cause["id"]) == ("open", "platform-missing")
    assert [(one["command"], one["hint"]) for one in document["remedies"]] == [
        ("terraform -chdir=live/prod init", None),
        (None, "locklens why acme/demo --root=live/prod"),
    ]
    assert "no other root locks it" not in doctor(folder, "--format", "text", "ci.log")


def test_a_lock_file_that_was_left_behind_is_moved_to_its_configuration(made: Any, doctor: Any) -> None:
    lock = lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9"))
    folder = made(SampleIncident("", ("none",), (lock,), (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))))
    (folder / "ci.log").unlink(missing_ok=True)
    (folder / "live/moved").mkdir()
    git(folder, "mv", "live/prod/main.tf", "live/moved/main.tf")
    git(folder, "commit", "-qm", "move the root")
    document, moved = doctor(folder, "--", "live/moved"), git(folder, "log", "-1", "--format=%h of %cs", "--abbrev=12")
    for cause in document["causes"][:2]:
        assert (cause["id"], cause["verdict"]) == ("not-locked", "yes")
        assert cause["evidence"].endswith(
            f"and live/moved has no lock file; {LOCK} is still where its configuration was before "
            f"commit {moved} by Ann added live/moved/main.tf"
        )
    first = document["remedies"][0]
    assert (first["id"], first["trust"], first["bytes"]) == ("move-file", "none", 0)
    assert first["command"] == f"git mv -- {LOCK} live/moved/.terraform.lock.hcl"
    main_tf = folder / "live/moved/main.tf"
    (folder / "live/prod/main.tf").write_bytes(main_tf.read_bytes())  # copied, and not moved: its lock file is its own
    assert "move-file" not in [one["id"] for one in doctor(folder, "--", "live/moved")["remedies"]]
    (folder / "live/prod/main.tf").unlink()
    log = folder / "ci.log"
    lacks = "required by this configuration but no version is selected"
    items = (f"  - provider registry.terraform.io/acme/{name}: {lacks}" for name in ("demo", "netbox"))
    log.write_text("\n".join(("$ terraform -chdir=live/moved plan", boxed_log(("Inconsistent", "", *items)))), "utf-8")
    assert doctor(folder, "ci.log")["remedies"][0] == first
    subprocess.run(first["command"].split(), check=True, cwd=folder)
    assert doctor(folder, "--", "live/moved")["remedies"] == []
    for is_committed in (False, True):
        if is_committed:
            git(folder, "commit", "-qm", "move its lock file, too")
        document = doctor(folder, "ci.log")
        assert document["state"] == "fixed"
        assert "acme/netbox 3.9.1 is locked now (live/moved/.terraform.lock.hcl:" in document["fixed"]
    later = time.time() + 60
    os.utime(log, (later, later))  # so that the failing run had the commit, or was of another root
    assert doctor(folder, "ci.log")["state"] == "open"


def test_a_read_only_run_before_its_lock_file_was_moved_to_the_root_is_over(made: Any, doctor: Any) -> None:
    """HEAD, or the commit before, had the root without a lock file; a job has what was moved by the commit alone."""
    entries = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    folder = made(
        SampleIncident("", ("none",), (lock_file(*entries),), (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")))
    )
    (folder / "live/moved").mkdir()
    git(folder, "mv", "live/prod/main.tf", "live/moved/main.tf")
    git(folder, "commit", "-qm", "move the root")
    finding = "".join(f'- Finding {one.provider} versions matching "{one.constraints}"...\n' for one in entries)
    title, words = "Provider dependency changes detected", "but the lock file is read-only."
    refused = f"Error: {title}\n\nChanges to the required provider dependencies were detected, {words}\n"
    text = f"$ terraform -chdir=live/moved init -lockfile=readonly\n{finding}\n{refused}"
    logs = {"ci.log": text, "job.log": f"##[section]Starting: plan\n{text}"}
    for name, log in logs.items():
        (folder / name).write_text(log, "utf-8")
    (fix, *_) = doctor(folder, "ci.log")["remedies"]
    subprocess.run(fix["command"].split(), check=True, cwd=folder)
    assert doctor(folder, "job.log")["state"] == "open"
    for is_committed in (False, True):
        if is_committed:
            git(folder, "commit", "-qm", "move its lock file, too")
        fixed = "live/moved/.terraform.lock.hcl has just the providers now that the run required"
        assert doctor(folder, "ci.log")["fixed"] == fixed
    assert doctor(folder, "job.log")["fixed"] == fixed
    for name in logs:
        os.utime(folder / name, (2**32, 2**32))
        assert doctor(folder, name)["state"] == "open"


def test_a_fix_that_was_undone_is_no_later_change(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["platform-missing"])
    options, before = INCIDENTS["platform-missing"].options, (folder / LOCK).read_bytes()
    fix = next(one["command"] for one in doctor(folder, *options, "ci.log")["remedies"] if one["command"])
    assert main(shlex.split(fix)[1:], no_screen) == 0
    assert doctor(folder, *options, "ci.log")["state"] == "fixed"
    assert main(["undo"], no_screen) == 0
    assert (folder / LOCK).read_bytes() == before
    document = doctor(folder, *options, "ci.log")
    assert document["state"] == "open"
    assert not [note for note in document["run"]["notes"] if "locklens" in note]


def test_an_entry_that_is_as_committed_is_no_write_of_locklens(made: Any, doctor: Any) -> None:
    demo = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(demo),)))
    log, lock, head = folder / "ci.log", folder / LOCK, git(folder, "rev-parse", "--short=12", "HEAD")
    log.write_text(log.read_text("utf-8").replace("on linux_amd64\n", ""), "utf-8")
    lock.write_bytes(lock_file(replace(demo, packed=("darwin_arm64",))))
    assert doctor(folder, "ci.log")["state"] == "open"
    locking = ["lock", "--platform", "linux_amd64", "acme/demo", "--root=live/prod"]
    assert main(locking, no_screen) == 0
    for _ in range(2):
        assert doctor(folder, "ci.log")["fixed"] == f"acme/demo 1.4.2 has the hashes of commit {head} again"
        git(folder, "checkout", "-q", "--", LOCK)
    lock.write_bytes(lock_file(replace(demo, unpacked=())))
    assert main(locking, no_screen) == 0
    git(folder, "checkout", "-q", "--", LOCK)
    notes = doctor(folder, "ci.log")["run"]["notes"]
    assert not [note for note in notes if "by locklens" in note]


def test_without_a_log_an_error_of_the_configuration_is_noted(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["not-locked"])
    more = folder / "live/prod/more.tf"
    more.write_text("terraform {\n  required_providers {\n  }\n}\n", "utf-8")
    (note,) = (one for one in doctor(folder, "--", "live/prod")["run"]["notes"] if "init fails for that first" in one)
    assert "Duplicate required providers configuration" in note
    assert note.startswith(("live/prod/more.tf:2: ", "live/prod/main.tf:"))
    more.unlink()
    assert "init fails for that first" not in str(doctor(folder, "--", "live/prod")["run"]["notes"])


def test_a_merge_that_has_the_entry_of_neither_side_is_named_as_one(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["hand-edit"])
    side = git(folder, "commit-tree", "HEAD~^{tree}", "-p", "HEAD~", "-m", "side").strip()
    merge = git(folder, "commit-tree", "HEAD^{tree}", "-p", "HEAD~", "-p", side, "-m", "merge").strip()
    git(folder, "reset", "-q", "--hard", merge)
    found = {one["id"]: one for one in doctor(folder, "ci.log")["causes"]}
    words = f"; commit {merge[:12]}, which is a merge, selected its version and packages"
    assert found["bad-merge"]["evidence"].endswith(words)
    assert (
        found["bad-merge"]["missing"] == "whether a person resolved the conflict: the author or committer of the merge"
    )
    shallow = folder.with_name("shallow")
    git(folder, "clone", "-q", "--depth=1", folder.as_uri(), str(shallow))
    shutil.copy(folder / "ci.log", shallow)
    document = doctor(shallow, "ci.log")
    assert merge[:12] not in str(document["causes"]), "nothing is claimed of a merge whose parents are not in the clone"
    assert f"at least since commit {merge[:12]} " in str(document["run"]["notes"])


@pytest.mark.parametrize("cause", ["other-tool", "hand-edit"])
def test_who_wrote_an_entry_is_not_asked_for_where_git_tells(cause: str, made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS[cause])
    head = git(folder, "rev-parse", "--short=12", "HEAD")
    found = {one["id"]: one for one in doctor(folder, "ci.log")["causes"]}
    assert found["bad-merge"]["verdict"] == "unknown"  # it may have squashed one
    words = f"; commit {head}, which is no merge, selected its version and packages"
    assert found["bad-merge"]["evidence"].endswith(words)
    assert found["bad-merge"]["missing"].startswith("whether that commit squashed a branch")
    assert cause == "hand-edit" or found["hand-edit"]["missing"].startswith(f"how commit {head} made this entry")


def test_an_edit_that_only_deletes_is_not_ruled_out(made: Any, doctor: Any) -> None:
    out = doctor(made(INCIDENTS["platform-missing"]), "--format", "text", "--all", "ci.log")
    ruled_out = " ".join(out.partition("RULED OUT")[2].split())
    assert "hand-edit: the version or a zh in the block was changed by hand" in ruled_out


def test_an_edit_that_may_be_the_cause_fixes_nothing(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["republished"])
    lock = folder / LOCK
    lines = lock.read_text("utf-8").splitlines(keepends=True)
    lock.write_text("".join(line for line in lines if '"h1:' not in line), "utf-8")
    assert doctor(folder, "--offline", "ci.log")["state"] == "open"


def test_a_requirement_that_is_met_now(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["constraint-conflict"])
    main_tf = folder / "live/prod/main.tf"
    main_tf.write_text(main_tf.read_text("utf-8").replace("~> 2.0", "~> 1.4"), "utf-8")
    assert doctor(folder, "ci.log")["fixed"] == "acme/demo 1.4.2 satisfies ~> 1.4 now"
    log = (folder / "ci.log").read_text("utf-8").replace("~> 2.0", "~> 2.7")
    (folder / "ci.log").write_text(log, "utf-8")
    document = doctor(folder, "ci.log")
    assert document["state"] == "open"
    words = "the log has the constraint ~> 2.7 on acme/demo, which neither live/prod nor its last commits have"
    assert any(note.startswith(words) for note in document["run"]["notes"])
    for name in ("main.tf", ".terraform.lock.hcl"):
        (folder / name).write_bytes((folder / "live/prod" / name).read_bytes())
    git(folder, "add", "main.tf")
    git(folder, "commit", "-qm", "a root at the top")
    notes = doctor(folder, "ci.log", "--", ".")["run"]["notes"]
    assert any(note.startswith(words.replace("live/prod", "the top folder")) for note in notes)


@pytest.mark.parametrize("is_readonly", [False, True])
def test_what_a_read_only_run_refuses_besides_is_not_left_to_init(made: Any, doctor: Any, *, is_readonly: bool) -> None:
    folder = made(INCIDENTS["constraint-conflict"])
    place, log = folder / "live/prod", folder / "ci.log"
    (place / "main.tf").write_text(requires(("acme/demo", "~> 1.4"), ("hashicorp/random", "~> 3.6")), "utf-8")
    locked = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1")
    (folder / LOCK).write_bytes(lock_file(*locked))
    option = " -lockfile=readonly" if is_readonly else ""
    log.write_text(f"$ terraform -chdir=live/prod init{option}\n{log.read_text('utf-8')}", "utf-8")
    document = doctor(folder, "ci.log")
    held = [(one["id"], one["provider"].rpartition("/")[2]) for one in document["causes"] if one["verdict"] == "yes"]
    assert (document["state"] == "fixed", held) == (
        (False, [("not-required", "netbox"), ("not-locked", "random")]) if is_readonly else (True, [])
    )
    whole = lock_file(*locked)
    (folder / LOCK).write_bytes(whole[: whole.rindex(b"  hashes")] + b"}\n")
    held = [one["evidence"] for one in doctor(folder, "ci.log")["causes"] if one["id"] == "h1-missing"]
    assert ["no hash, so that init accepts any package" in one for one in held] == [True]


def test_an_entry_without_zh_rules_nothing_out(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    lock = folder / LOCK
    lines = [line for line in lock.read_text("utf-8").splitlines(keepends=True) if '"zh:' not in line]
    lock.write_text("".join(lines), "utf-8")
    git(folder, "commit", "-qam", "drop zh")
    (folder / "ci.log").write_text(boxed_log(("Failed to install provider", MISMATCH)), "utf-8")
    found = {one["id"]: one for one in doctor(folder, "ci.log")["causes"]}
    assert {found[name]["verdict"] for name in ("hand-edit", "other-tool", "bad-merge")} == {"unknown"}
    assert found["other-tool"]["missing"] == "a locked zh, by which the lists of registries are told apart"
    package = folder / "demo.zip"
    package.write_bytes(package_bytes("registry.terraform.io/acme/demo", "1.4.2", "linux_amd64"))
    words = ("--package", "demo.zip", "--platform", "linux_amd64", "ci.log")
    found = {one["id"]: one for one in doctor(folder, *words)["causes"]}
    assert (found["other-tool"]["verdict"], found["other-tool"]["evidence"]) == (
        "no",
        "all locked h1 are of registry.terraform.io",
    )


def test_another_package_was_met_only_by_a_run_with_this_lock_file(made: Any, doctor: Any) -> None:
    folder = made(
        replace(INCIDENTS["platform-missing"], locks=(lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4")),))
    )
    found = {one["id"]: one for one in doctor(folder, "ci.log")["causes"]}
    assert "; if its lock file was this one, the failing run got another release" in found["republished"]["evidence"]


def test_of_two_errors_one_is_fixed(made: Any, doctor: Any) -> None:
    required = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
    demo, netbox = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    other = "darwin_arm64" if str(this_platform()) != "darwin_arm64" else "linux_amd64"
    broken = replace(demo, hashes_of="1.3.9"), replace(netbox, unpacked=(), packed=(other,))
    folder = made(SampleIncident("", ("none",), (lock_file(demo, broken[1]), lock_file(*broken)), required))
    other_message = MISMATCH.replace("acme/demo", "acme/netbox").replace("1.4.2", "3.9.1")
    log = "".join(boxed_log(("Failed to install provider", message)) for message in (MISMATCH, other_message))
    (folder / "ci.log").write_text(log.replace("on linux_amd64\n", f"on {this_platform()}\n"), "utf-8")
    command = next(one["command"] for one in doctor(folder, "ci.log")["remedies"] if one["id"] == "restore-entry")
    assert main(shlex.split(command)[1:], no_screen) == 0
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "Already fixed: the error of acme/demo 1.4.2." in out
    assert "No cause was found" not in out


def test_a_constraint_that_excludes_another_provider_is_the_next_cause(made: Any, doctor: Any) -> None:
    demo, netbox = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    incident, required = INCIDENTS["h1-missing"], (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 4.0"))
    whole, short = lock_file(demo, netbox), lock_file(replace(demo, unpacked=("darwin_arm64",)), netbox)
    folder = made(replace(incident, locks=(whole, short), constraints=required))
    assert doctor(folder, *incident.options, "ci.log")["causes"][0]["id"] == "h1-missing"
    (folder / LOCK).write_bytes(whole)
    document = doctor(folder, *incident.options, "ci.log")
    (cause,) = document["causes"]
    assert (cause["id"], cause["provider"]) == ("constraint-conflict", "registry.terraform.io/acme/netbox")
    words = "not all is well in live/prod: acme/netbox 3.9.1: the locked version does not satisfy the constraints"
    assert any(words in note for note in document["run"]["notes"])
    out = " ".join(doctor(folder, *incident.options, "--format", "text", "ci.log").split())
    assert "Already fixed: the error of acme/demo 1.4.2." in out
    assert "ROOT live/prod acme/netbox 3.9.1" in out


def test_of_two_packages_of_an_unpacked_mirror_one_is_replaced(made: Any, doctor: Any) -> None:
    platform = str(this_platform())
    other = "darwin_arm64" if platform != "darwin_arm64" else "linux_amd64"
    entries = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    locked = lock_file(*(replace(one, unpacked=(other,)) for one in entries))
    folder = made(SampleIncident("", ("none",), (locked,), (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))))
    for one in entries:
        write_unpacked(folder / "mirror", one.provider, one.version, platform)
    local = MISMATCH.replace("current", "local")
    messages = (local, local.replace("acme/demo", "acme/netbox").replace("1.4.2", "3.9.1"))
    log = boxed_log(*(("Failed to install provider", one) for one in messages))
    (folder / "ci.log").write_text(log.replace("on linux_amd64\n", ""), "utf-8")
    words = "--mirror", "mirror", "ci.log"
    document = doctor(folder, *words)
    assert [one["id"] for one in document["causes"][:3]] == ["h1-missing", "h1-missing", "mirror-differs"]
    fixes = [one["command"] for one in document["remedies"] if one["id"] == "replace-copy"]
    (_, aside), (_, _, filling) = (one.split(" && ") for one in fixes)  # what fills the mirror fills it with both
    assert "acme/demo" in aside
    subprocess.run(aside, shell=True, cwd=folder, check=True)
    assert main([*filling.split()[1:], "--no-cache"], no_screen) == 0
    out = " ".join(doctor(folder, "--format", "text", *words).split())
    assert "Already fixed: the error of acme/demo 1.4.2." in out
    assert "cp " not in out, "the copy is in the mirror of the run"


def test_what_is_needed_is_named_once() -> None:
    rows = BY_ID[CauseId.DOWNLOAD_DAMAGED], BY_ID[CauseId.MIRROR_DIFFERS]
    needs = "the origin of the package: --install-path", "the origin of the package: --install-path, and its hash"
    causes = (
        Cause(CauseVerdict.UNKNOWN, "not known", need, id=row.id, traits=row.traits)
        for row, need in zip(rows, needs, strict=True)
    )
    assert narrowing(Diagnosis("", True, (), Incident(), tuple(causes))) == needs[1:]


def test_a_plan_is_run_again_where_the_package_was_installed_since(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["plugin-missing"])
    command = next(one["command"] for one in doctor(folder, "ci.log")["remedies"] if one["id"] == "reinstall")
    assert main([*shlex.split(command)[1:], "--no-cache"], no_screen) == 0
    document = doctor(folder, "ci.log")
    assert (document["state"], document["next"]) == ("fixed", None)
    assert [(one["id"], one["command"]) for one in document["remedies"]] == [("run-again", None)]
    assert "run the command that failed again" in " ".join(doctor(folder, "--format", "text", "ci.log").split())


@pytest.mark.parametrize("cause", ["key-changed", "yanked", "proxy-or-ca"])
def test_who_is_online_is_not_told_to_go_online(cause: str, made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS[cause])
    for form in ("text", "markdown"):
        assert "--offline" not in doctor(folder, *INCIDENTS[cause].options, "--format", form, "ci.log")


def test_a_folder_of_the_log_that_is_here_tells_the_platform(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["plugin-corrupted"]
    folder = made(incident)
    log = (folder / "ci.log").read_text("utf-8").replace("on linux_amd64\n", "")
    (folder / "ci.log").write_text(log, "utf-8")
    assert doctor(folder, "ci.log")["facts"]["platform"] is None, "each machine has such a folder"
    place = folder / "live/prod/.terraform/providers"
    (folder / "ci.log").write_text(log.replace(".terraform/providers", str(place)), "utf-8")
    out = doctor(folder, "--format", "text", "ci.log")
    assert f"{this_platform()} (assumed: {place} of the log is here)".replace(" ", "") in "".join(out.split())
    (folder / "live/prod/.terraform").rename(folder / "elsewhere")
    assert doctor(folder, "ci.log")["facts"]["platform"] is None


@pytest.mark.parametrize("is_set", [True, False])
def test_packages_in_another_data_folder(
    is_set: bool, made: Any, doctor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(INCIDENTS["plugin-corrupted"])
    data = tmp_path / "data"
    (folder / "live/prod/.terraform").rename(data)
    log = (folder / "ci.log").read_text("utf-8").replace("(in .terraform/providers)", f"(in {data}/providers)")
    (folder / "ci.log").write_text(log, "utf-8")
    if is_set:
        monkeypatch.setenv("TF_DATA_DIR", str(data))
    document = doctor(folder, "ci.log")
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("plugin-corrupted", "likely")
    assert f"{data}/providers/registry.terraform.io/" in first["evidence"]
    (command,) = (one["command"] for one in document["remedies"] if one["id"] == "reinstall")
    place, rest = command.removeprefix("mv -- ").split(" ", 1)
    assert Path(place).is_dir()
    assert (f"TF_DATA_DIR={data} terraform" in rest) is not is_set


def test_a_data_folder_below_the_root_that_the_log_names(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["plugin-corrupted"])
    root, log = folder / "live/prod", (folder / "ci.log").read_text("utf-8")
    shutil.copytree(root, folder / "live/twin")
    (root / ".terraform").rename(root / ".data")
    (folder / "ci.log").write_text(log.replace("(in .terraform/providers)", "(in .data/providers)"), "utf-8")
    document = doctor(folder, "ci.log")
    first = document["causes"][0]
    assert (first["id"], first["roots"]) == ("plugin-corrupted", ["live/prod"])
    assert "live/prod/.data/providers/registry.terraform.io/" in first["evidence"]
    (command,) = (one["command"] for one in document["remedies"] if one["id"] == "reinstall")
    assert command.endswith(" && TF_DATA_DIR=.data terraform -chdir=live/prod init")


def test_init_fills_the_data_folder_that_the_log_names(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["plugin-missing"])
    log = (folder / "ci.log").read_text("utf-8")
    (folder / "ci.log").write_text(log.replace("cached in .terraform/", "cached in .data/"), "utf-8")
    commands = [one["command"] for one in doctor(folder, "ci.log")["remedies"] if " init" in one["command"]]
    assert commands
    assert all(one.startswith("TF_DATA_DIR=.data ") for one in commands)


@pytest.mark.parametrize("workspace", ["", "prod"])
def test_what_another_workspace_requires_is_not_said_to_be_required_by_nothing(
    workspace: str, made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    orphan = sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    folder = made(
        replace(INCIDENTS["plugin-missing"], locks=(lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4"), orphan),))
    )
    if workspace:
        monkeypatch.setenv("TF_WORKSPACE", workspace)
    fixes = doctor(folder, "--", "live/prod")["remedies"]
    assert any("prune" in (one["command"] or "") for one in fixes)
    resource = {"mode": "managed", "type": "netbox_site", "name": "a", "instances": []}
    resource["provider"] = 'provider["registry.terraform.io/acme/netbox"]'
    place = folder / "live/prod/terraform.tfstate.d/prod/terraform.tfstate"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps({"version": 4, "serial": 1, "lineage": "x", "resources": [resource]}), "utf-8")
    document = doctor(folder, "--", "live/prod")
    assert not any("prune" in (one["command"] or "") for one in document["remedies"])
    (found,) = (
        one for one in document["causes"] if one["id"] == "not-required" and "netbox" in (one["evidence"] or "")
    )
    assert found["verdict"] == ("no" if workspace else "unknown")
    assert ("the state of another workspace requires it" in found["evidence"]) is (not workspace)


def test_an_assumed_platform_confirms_nothing(made: Any, doctor: Any) -> None:
    words = "the cached package for registry.terraform.io/acme/demo 1.4.2 (in {}) does not match any of the checksums recorded"
    incident = replace(
        INCIDENTS["h1-missing"], message=("Required plugins are not installed", words.format(".terraform/providers"))
    )
    folder = made(incident)
    (folder / "live/prod/.terraform/providers").mkdir(parents=True)
    log = (folder / "ci.log").read_text("utf-8")
    for text, verdict in ((log, "yes"), (log.replace("on linux_amd64\n", ""), "likely")):
        (folder / "ci.log").write_text(text, "utf-8")
        first = doctor(folder, "--prove", "changed", "ci.log")["causes"][0]
        assert (first["id"], first["verdict"], "is assumed" in first["evidence"]) == (
            "h1-missing",
            verdict,
            verdict != "yes",
        )


def test_nobody_is_offered_unverified_code_for_a_guess(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["republished"])
    document = doctor(folder, "--offline", "ci.log")
    assert (document["causes"][0]["id"], document["causes"][0]["verdict"]) == ("republished", "unknown")
    assert "high" not in {remedy["trust"] for remedy in document["remedies"]}
    assert "high" not in {remedy["trust"] for remedy in doctor(folder, "ci.log")["remedies"]}
    proven = doctor(folder, "--prove", "changed", "ci.log")
    assert "high" in {remedy["trust"] for remedy in proven["remedies"]}


def test_a_registry_that_is_silent_here_confirms_nothing(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder = made(
        replace(
            INCIDENTS["proxy-or-ca"],
            message=("Failed to install provider", "Error while installing acme/demo v1.4.2: unexpected state"),
        )
    )
    settings = tmp_path / "demo.tfrc"
    settings.write_text(settings.read_text("utf-8").replace("127.0.0.1:", "127.0.0.1:1"), "utf-8")
    document = doctor(folder, "ci.log")
    assert document["errors"][0]["kind"] == "install-failed"
    assert {cause["verdict"] for cause in document["causes"]} <= {"unknown", "no"}


def test_files_that_are_newer_than_their_folder(made: Any, doctor: Any) -> None:
    name = "registry.terraform.io/acme/demo"
    folder = made(replace(INCIDENTS["plugin-corrupted"], copies=(SampleCopy("live/prod/.terraform/providers", name, "1.4.2", edition="tampered"),), options=()))  # fmt: skip
    version = folder / "live/prod/.terraform/providers" / name / "1.4.2"
    os.utime(version, (1_700_000_000, 1_700_000_000))
    first = doctor(folder, "--offline", "ci.log")["causes"][0]
    assert (first["id"], first["verdict"]) == ("plugin-corrupted", "likely")
    assert "newer than the folder of the version, by its time: " in first["evidence"]


def test_a_unit_of_the_log_names_the_root(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["republished"])
    for name in ("certs", "core"):
        other = folder / "templates" / name / "terraform"
        other.mkdir(parents=True)
        for file in ("main.tf", ".terraform.lock.hcl"):
            (other / file).write_bytes((folder / "live/prod" / file).read_bytes())
    lines = boxed_log(INCIDENTS["republished"].message).splitlines()
    log = "\n".join(f"10:11:12.123 STDERR [/builds/x/templates/certs/terraform] terraform: {line}" for line in lines)
    (folder / "ci.log").write_text(log, "utf-8")
    assert doctor(folder, "ci.log")["facts"]["root"] == "templates/certs/terraform"


def test_a_mirror_that_the_user_names_is_fixed_once_it_is_filled(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["mirror-differs"]
    folder = made(incident)
    fixes = doctor(folder, *incident.options, "ci.log")["remedies"]
    command = next(one["command"] for one in fixes if one["id"] == "replace-copy")
    trial, aside, filling = command.split(" && ")
    assert trial == filling.replace("locklens mirror ", "locklens mirror --dry-run ")
    subprocess.run(aside, shell=True, cwd=folder, check=True)
    document = doctor(folder, *incident.options, "ci.log")
    assert (document["state"], document["causes"][0]["id"]) == ("open", "mirror-differs")
    assert main([*filling.split()[1:], "--no-cache"], no_screen) == 0
    document = doctor(folder, *incident.options, "ci.log")
    assert (document["state"], "has a locked hash" in document["fixed"]) == ("fixed", True)


@pytest.mark.parametrize("is_same", [True, False])
def test_a_mirror_that_was_filled_ends_the_error_of_whichever_root_failed(
    is_same: bool, made: Any, doctor: Any
) -> None:
    incident = INCIDENTS["mirror-differs"]
    folder = made(incident)
    lock = (folder / LOCK).read_bytes()
    other = folder / "live/other"
    other.mkdir()
    (other / "main.tf").write_bytes((folder / "live/prod/main.tf").read_bytes())
    altered = re.sub(rb'"zh:...', b'"zh:012', re.sub(rb'"h1:...', b'"h1:abc', lock))
    (other / ".terraform.lock.hcl").write_bytes(lock if is_same else altered)
    log = folder / "ci.log"
    log.write_text(log.read_text("utf-8").replace("live/prod", "."), "utf-8")
    document = doctor(folder, *incident.options, "ci.log")
    assert (document["state"], document["errors"][0]["roots"]) == ("open", ["live/other", "live/prod"])
    command = next(one["command"] for one in document["remedies"] if one["id"] == "replace-copy")
    _, aside, filling = command.split(" && ")
    subprocess.run(aside, shell=True, cwd=folder, check=True)
    assert main([*filling.split()[1:], "--no-cache"], no_screen) == 0
    document = doctor(folder, *incident.options, "ci.log")
    assert (document["state"], "has a locked hash" in (document["fixed"] or "")) == (
        ("fixed", True) if is_same else ("open", False)
    )


def test_a_file_that_cannot_be_read_is_of_the_commit_that_broke_it(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["lock-syntax"])
    broken = git(folder, "rev-parse", "--short=12", "HEAD")
    lock = folder / LOCK
    lock.write_text(lock.read_text("utf-8").replace('"zh:0', '"zh:1'), "utf-8")
    git(folder, "commit", "-qam", "another line", "--allow-empty")
    assert f"since commit {broken} " in doctor(folder, "--format", "text", "ci.log")


def test_hashes_that_were_exchanged_are_no_edited_version(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["hand-edit"]
    ours = sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    exchanged = lock_file(replace(ours, hashes_of="3.10.0"))
    folder = made(replace(incident, locks=(lock_file(ours), exchanged)))
    first = doctor(folder, "--", "live/prod")["causes"][0]
    assert (first["id"], first["verdict"]) == ("hand-edit", "yes")
    assert first["evidence"].endswith("the hashes changed, the version did not")


def test_a_broken_zip_file_of_a_mirror_is_no_download(made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(INCIDENTS["h1-missing"])
    place = folder / "mirror/registry.terraform.io/acme/demo/terraform-provider-demo_1.4.2_linux_amd64.zip"
    place.parent.mkdir(parents=True)
    data = package_bytes("registry.terraform.io/acme/demo", "1.4.2", "linux_amd64")
    place.write_bytes(data[:900])
    (folder / "mirrors.tfrc").write_text(
        f'provider_installation {{\n  filesystem_mirror {{ path = "{folder}/mirror" }}\n}}\n'
    )
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(folder / "mirrors.tfrc"))
    words = (
        "Error while installing acme/demo v1.4.2: failed to calculate checksum for registry.terraform.io/acme/demo "
        f"1.4.2 package at {place}: zip: not a valid zip file"
    )
    (folder / "ci.log").write_text(f"Error: Failed to install provider\n\n{words}\n", "utf-8")
    document = doctor(folder, "--offline", "ci.log")
    verdicts = {one["id"]: one["verdict"] for one in document["causes"]}
    assert verdicts == {"mirror-differs": "yes", "download-damaged": "no"}
    assert document["remedies"][0]["id"] == "replace-copy"
    without = {one["id"]: one["verdict"] for one in doctor(folder, "--offline", "--", "live/prod")["causes"]}
    assert without["mirror-differs"] == "yes"
    place.unlink()
    without = {one["id"]: one["verdict"] for one in doctor(folder, "--offline", "--", "live/prod")["causes"]}
    assert without["mirror-lacks"] == "yes"
    place.write_bytes(data)
    assert doctor(folder, "--offline", "ci.log")["state"] == "fixed"


def test_a_mirror_without_a_version_that_the_constraints_admit_is_looked_into(
    made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, lock = SampleCopy("mirror", "registry.terraform.io/acme/demo", "1.4.2", str(this_platform())), lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4"))  # fmt: skip
    folder = made(SampleIncident("", ("none",), (lock,), (("acme/demo", "~> 1.5"),), copies=(copy,)))
    settings = Path(os.environ["TF_CLI_CONFIG_FILE"])
    block = f'provider_installation {{\n  filesystem_mirror {{\n    path = "{folder}/mirror"\n  }}\n}}\n'
    settings.write_text(settings.read_text("utf-8") + block, "utf-8")
    upgrading = doctor(folder, "--", "live/prod")["remedies"][0]
    assert upgrading["command"] == "locklens upgrade acme/demo --root=live/prod"
    filling = f"locklens mirror {folder}/mirror --root=live/prod"
    assert upgrading["note"].endswith(f"does not have 1.5.0: then {filling} fetches it, before init")
    told = "Could not retrieve the list of available versions for provider acme/demo: no available releases match the given constraints ~> 1.5"
    log = boxed_log(("Failed to query available provider packages", told)).replace("on linux_amd64\n", "")
    (folder / "ci.log").write_text(f"$ terraform init -upgrade\n{log}", "utf-8")
    for options, verdict in ((), "likely"), (("--install-path", "unpacked-mirror"), "yes"):
        document = doctor(folder, *options, "ci.log")
        first = document["causes"][0]
        assert (first["id"], first["verdict"]) == ("mirror-lacks", verdict)
        has = f"{folder}/mirror has acme/demo 1.4.2 alone; registry.terraform.io lists 1 version that ~> 1.5 admits"
        assert f"the message says so of what it asked, and {has}" in first["evidence"]
    out = doctor(folder, "--format", "text", "ci.log")
    assert re.search(r"^REQUIRED +live/prod/main.tf:5: ", out, re.MULTILINE)
    assert "The mirror has no version of acme/demo that satisfies the constraints." in " ".join(out.split())
    older, newer = (one["command"] for one in document["remedies"])
    assert older == "locklens upgrade acme/demo=1.4.2 --edit-constraints --root=live/prod"
    monkeypatch.chdir(folder)
    for command in newer.split(" && "):
        assert main([*shlex.split(command)[1:], "--no-cache"], no_screen) == 0
    document = doctor(folder, "ci.log")
    assert (document["state"], "has a locked hash now" in document["fixed"]) == ("fixed", True)


def test_a_verdict_has_each_provider() -> None:
    def cause(name: str, verdict: CauseVerdict) -> Cause:
        known = BY_ID[CauseId.HAND_EDIT]
        return Cause(verdict, "", id=known.id, traits=known.traits, provider=name, roots=(name,), subject=name)

    causes = (cause("a", CauseVerdict.YES), cause("a", CauseVerdict.LIKELY), cause("b", CauseVerdict.LIKELY))
    words = verdict_sentence(Diagnosis("", False, (), Incident(), causes))
    assert words == "a: the block was edited by hand. Likely, too: b: the block was edited by hand."
    several = tuple(cause(name, CauseVerdict.YES) for name in ("x/c", "x/b", "x/a"))
    other = replace(several[0], title="it is yanked", verdict=CauseVerdict.LIKELY)
    words = verdict_sentence(Diagnosis("", False, (), Incident(), several))
    assert words == "x/c, x/b, x/a: the block was edited by hand."
    likely = *(replace(one, verdict=CauseVerdict.LIKELY) for one in several[:2]), other
    words = verdict_sentence(Diagnosis("", False, (), Incident(), likely))
    assert words == "x/c, x/b: the block was edited by hand, or x/c: it is yanked."
    words = verdict_sentence(Diagnosis("", False, (), Incident(), (likely[0], other)))
    assert words == "x/c: the block was edited by hand, or x/c: it is yanked."


@pytest.mark.parametrize("places", ["- registry registry.terraform.io", "- /srv/mirror", "- /srv/m\n  - registry x.io"])
def test_only_a_mirror_that_was_searched_lacks_a_package(places: str, made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["yanked"])
    words = "provider registry.terraform.io/acme/demo was not found in any of the search locations\n\n  "
    lead = "Could not retrieve the list of available versions for provider acme/demo: "
    log = f"Error: Failed to query available provider packages\n\n{lead}{words}{places}\n"
    (folder / "ci.log").write_text(log, "utf-8")
    causes = {one["id"]: one["verdict"] for one in doctor(folder, "ci.log")["causes"]}
    is_of_registry = places.startswith("- registry")
    assert causes["mirror-lacks"] == ("no" if is_of_registry else "yes")
    assert causes["yanked"] == ("yes" if is_of_registry else "likely")


def test_a_provider_without_a_listed_version_has_a_fix_that_says_so(made: Any, doctor: Any) -> None:
    rule = FaultRule(Fault.WITHDRAWN, "registry.terraform.io/acme/demo")
    folder = made(replace(INCIDENTS["yanked"], rules=(rule,)))
    (fix,) = doctor(folder, "ci.log")["remedies"]
    assert (fix["id"], fix["command"], fix["trust"]) == ("ask-publisher", None, "none")
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "no version is listed: registry.terraform.io has none to upgrade to" in out


def test_a_request_is_repeated_with_the_url_of_the_message(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["proxy-or-ca"])
    command = doctor(folder, "ci.log")["remedies"][0]["hint"]
    assert command == "curl -sSvk -o /dev/null https://registry.terraform.io/.well-known/terraform.json"


def test_one_of_two_errors_that_is_mended_needs_no_cause(made: Any, doctor: Any) -> None:
    words = "Error while installing {0} v{1}: the current package for registry.terraform.io/{0} {1} doesn't match any of the checksums previously recorded in the dependency lock file"
    entries = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    mac = [replace(one, unpacked=("darwin_arm64",), packed=("darwin_arm64",)) for one in entries]
    required = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(*mac),), constraints=required))
    messages = [
        ("Failed to install provider", words.format(*one)) for one in (("acme/demo", "1.4.2"), ("acme/netbox", "3.9.1"))
    ]
    (folder / "ci.log").write_text(boxed_log(*messages), "utf-8")
    fix = next(one["command"] for one in doctor(folder, "ci.log")["remedies"] if "acme/demo" in one["command"])
    assert main(shlex.split(fix.replace(" acme/netbox", ""))[1:], no_screen) == 0
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "No cause was found for the error of" not in out
    assert "the platform is not covered" in out


NOT_SAVED = (
    "on linux_amd64\nInitializing provider plugins...\n- Reusing previous version of acme/demo from the dependency lock file\n"
    "- Reusing previous version of acme/netbox from the dependency lock file\n- Installed acme/demo v1.4.2\n\n\n"
    "Warning: Provider lock file not updated\n\nChanges to the provider selections were detected, but not saved in the\n"
    '.terraform.lock.hcl file. To record these selections, run "terraform init"\nwithout the "-lockfile=readonly" flag.\n'
)


@pytest.mark.parametrize("is_told", [True, False])
def test_an_h1_that_came_after_a_run_with_a_read_only_lock_file_ends_its_warning(
    is_told: bool, made: Any, doctor: Any
) -> None:
    demo, netbox = (
        sample_entry(f"acme/{name}", version, constraint)
        for name, version, constraint in (("demo", "1.4.2", "~> 1.4"), ("netbox", "3.9.1", "~> 3.9"))
    )
    lock = lock_file(replace(demo, unpacked=()), netbox)
    required = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
    folder = made(SampleIncident("", ("none",), (lock,), required))
    for one in (demo, netbox):  # the run installed them
        write_unpacked(folder / "live/prod/.terraform/providers", one.provider, one.version, "linux_amd64")
    log = NOT_SAVED if is_told else NOT_SAVED.partition("\n")[2]
    (folder / "ci.log").write_text(log, "utf-8")
    document = doctor(folder, "ci.log")
    held = [(one["id"], one["provider"]) for one in document["causes"] if one["verdict"] == "yes"]
    assert (document["state"], held) == ("open", [("h1-missing", "registry.terraform.io/acme/demo")])
    assert main(["lock", "--platform", "linux_amd64", "acme/demo", "--root=live/prod"], no_screen) == 0
    document = doctor(folder, "ci.log")
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    if is_told:
        assert (document["state"], document["next"]) == ("fixed", "terraform -chdir=live/prod init")
        assert "the lock file has the h1 of linux_amd64 for acme/demo 1.4.2 now" in document["fixed"]
        assert "netbox" not in document["fixed"]
    else:
        assert document["state"] == "open"
        assert (
            "locklens, later than the log, added 1 h1, with the h1 of linux_amd64, to the hashes for acme/demo 1.4.2"
            in out
        )
        assert (
            "its platform may tell (--platform OS_ARCH), the error of a run before that is over (run init again)" in out
        )


@pytest.mark.parametrize("has_folders", [True, False])
def test_each_provider_without_the_h1_is_named_where_a_read_only_lock_file_is_not_updated(
    has_folders: bool, made: Any, doctor: Any
) -> None:
    demo, netbox = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    mac = [replace(one, unpacked=("darwin_arm64",)) for one in (demo, netbox)]
    locks = lock_file(demo), lock_file(*mac)  # of one of them a commit has the h1
    folder = made(SampleIncident("", ("none",), locks, (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))))
    for one in (demo, netbox) if has_folders else ():
        write_unpacked(folder / "live/prod/.terraform/providers", one.provider, one.version, "linux_amd64")
    (folder / "ci.log").write_text(NOT_SAVED, "utf-8")
    document = doctor(folder, "ci.log")
    held = {(one["id"], one["provider"]) for one in document["causes"] if one["verdict"] == "likely"}
    assert held == {("h1-missing", f"registry.terraform.io/acme/{name}") for name in ("demo", "netbox")}
    command = document["remedies"][0]["command"]
    assert command == "locklens lock --platform linux_amd64 acme/demo acme/netbox --root=live/prod"
    assert main(shlex.split(command)[1:], no_screen) == 0
    proof = ("--prove=all",) * (not has_folders)  # else nothing tells of which platform an h1 is
    assert doctor(folder, *proof, "ci.log")["state"] == "fixed"


def test_a_lock_file_that_can_be_read_again_is_still_the_subject(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["bad-merge"])
    git(folder, "checkout", "HEAD~1", "--", LOCK)
    out = doctor(folder, "--format", "text", "ci.log")
    assert "[FIXED]" in out
    assert "ROOT         live/prod  the lock file\n" in out


def test_a_lock_file_that_git_ignores_is_restored_from_before_its_removal(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    git(folder, "rm", "-q", "live/prod/.terraform.lock.hcl")
    (folder / ".gitignore").write_text("# made by tools\n.terraform.lock.hcl\n", "utf-8")
    git(folder, "add", ".gitignore")
    git(folder, "commit", "-qm", "ignore lock")
    changed = ("Provider dependency changes detected", "Changes to the required provider dependencies were detected")
    (folder / "ci.log").write_text(boxed_log(changed), "utf-8")
    document = doctor(folder, "ci.log", "--", "live/prod")
    (cause,) = (one for one in document["causes"] if one["verdict"] == "yes")
    assert cause["id"] == "not-locked"
    assert "live/prod has no lock file: commit " in cause["evidence"]
    assert cause["evidence"].endswith(" removed it; git ignores live/prod/.terraform.lock.hcl")
    first, second = document["remedies"]
    assert (first["id"], second["id"]) == ("restore-file", "lock")
    assert (first["trust"], second["trust"]) == ("none", "low"), "nothing was locked since"
    out = " ".join(doctor(folder, "--format", "text", "ci.log", "--", "live/prod").split())
    assert out.count("git ignores: git add -f -- live/prod/.terraform.lock.hcl, or take out the line that") == 2
    subprocess.run(shlex.split(first["command"]), cwd=folder, check=True)
    assert doctor(folder, "ci.log", "--", "live/prod")["state"] == "fixed"
    lines = (folder / "ci.log").read_text("utf-8").splitlines()
    (folder / "ci.log").write_text("".join(f"2026-11-30T04:52:11.1234567Z {line}\n" for line in lines), "utf-8")
    for ignored in ("; git ignores live/prod/.terraform.lock.hcl, which git add -f adds", ""):
        fixed = doctor(folder, "ci.log", "--", "live/prod")["fixed"]
        assert fixed.endswith(f"once it is committed and pushed{ignored})")
        git(folder, "add", "-f", "live/prod/.terraform.lock.hcl")


@pytest.mark.parametrize("clock", ["2026-01-02T00:00:00Z", "2001-01-02T00:00:00Z"], ids=["right", "wrong"])
def test_the_lock_file_that_is_restored_is_the_one_that_was_removed(
    clock: str, made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One commit for all providers: where only one was upgraded last, the other has its entry of an earlier commit."""
    netbox, demos = sample_entry("acme/netbox", "3.9.1", "~> 3.9"), [
        sample_entry("acme/demo", version, "~> 1.4") for version in ("1.4.2", "1.5.0")
    ]  # fmt: skip
    required = (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))
    folder = made(SampleIncident("", ("none",), (lock_file(demos[0], netbox),), required))
    monkeypatch.setenv("GIT_COMMITTER_DATE", clock)
    lock = folder / LOCK
    lock.write_bytes(lock_file(demos[1], netbox))
    git(folder, "commit", "-qam", "upgrade")
    upgraded = git(folder, "rev-parse", "HEAD").strip()
    git(folder, "rm", "-q", LOCK)
    git(folder, "commit", "-qm", "clean")
    changed = ("Provider dependency changes detected", "Changes to the required provider dependencies were detected")
    (folder / "ci.log").write_text(boxed_log(changed), "utf-8")
    whole, *others = (one for one in doctor(folder, "ci.log", "--", "live/prod")["remedies"])
    assert whole["command"] == f"git restore -s {upgraded[:12]} -- {LOCK}"
    assert (whole["id"], whole["trust"]) == ("restore-file", "none")
    assert "restore-file" not in [one["id"] for one in others]
    (fix,) = (one for one in others if one["id"] == "lock")
    assert fix["command"].endswith(" acme/demo acme/netbox --root=live/prod")
    words = "it selects the newest version of each in range, which the removed lock file need not have had"
    assert fix["note"] == f"{words}; then commit the lock file"


@pytest.mark.parametrize("is_staged", [False, True])
def test_a_lock_file_that_was_deleted_and_not_committed_is_restored(made: Any, doctor: Any, *, is_staged: bool) -> None:
    """Restored, it is as the newest commit has it, in the index too, and no commit tells that it was away."""
    folder = made(INCIDENTS["download-damaged"])
    changed = ("Provider dependency changes detected", "Changes to the required provider dependencies were detected")
    lacks = "required by this configuration but no version is selected"
    missing = ("Inconsistent dependency lock file", f"  - provider registry.terraform.io/acme/demo: {lacks}")
    later = "live/prod/.terraform.lock.hcl was written here later than the log, as git restore or a checkout does: "
    newest, log = git(folder, "rev-parse", "--short=12", "HEAD"), folder / "ci.log"
    for message, words in ((changed, ("ci.log",)), (missing, ("ci.log", "--", "live/prod"))):
        log.write_text(boxed_log(message), "utf-8")
        if is_staged:
            git(folder, "rm", "-q", LOCK)
        else:
            (folder / LOCK).unlink()
        document = doctor(folder, *words)
        (evidence,) = (one["evidence"] for one in document["causes"] if one["verdict"] == "yes")
        assert evidence.endswith(f": it was deleted, which is not committed, and commit {newest} has it")
        fix = document["remedies"][0]
        assert fix["command"] == f"git restore -s {newest} --staged --worktree -- {LOCK}"
        assert "commit" not in (fix["note"] or "")
        git(folder, *shlex.split(fix["command"])[1:])
        assert git(folder, "status", "--porcelain", "--untracked-files=no") == ""
        document = doctor(folder, *words)
        over = f"{later}the error of a run before that is over (run init again), and one after it has another cause"
        assert (document["state"], over in document["run"]["notes"]) == ("open", True)
        told = [one for one in document["causes"] if one["id"] == "not-locked"]
        assert message is changed or told[0]["evidence"].endswith(", or from before the file was written here")
        os.utime(log, (time.time() + 60,) * 2)
        assert not [one for one in doctor(folder, *words)["run"]["notes"] if "later than the log" in one]


def test_popular_fixes_that_would_hide_a_cause_are_named_once() -> None:
    may_be = [Cause(CauseVerdict.UNKNOWN, "", id=row.id, traits=row.traits) for row in reversed(CAUSES)]
    named = [one.what for one in not_offered_for(may_be)]
    assert named == [
        "delete the lock file and run init",
        'run "providers lock" without checking',
        "init -upgrade",
        "plugin_cache_may_break_dependency_lock_file",
        "a mirror or a tool that does not check signatures",
        "turn off TLS verification",
    ]
    assert not not_offered_for([replace(one, verdict=CauseVerdict.NO) for one in may_be])


def test_another_package_in_the_place_of_the_locked_one_is_not_called_installed(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["plugin-corrupted"], message=INCIDENTS["plugin-missing"].message))
    document = doctor(folder, "ci.log")
    missing = next(one for one in document["causes"] if one["id"] == "plugin-missing")
    assert "here another package is installed (" in missing["evidence"]
    assert "which is not locked" in missing["evidence"]
    assert not any("stand above" in str(one["note"]) for one in document["remedies"])


def test_the_commit_that_dropped_a_platform_is_named_beside_one_that_changed_the_entry_later(
    made: Any, doctor: Any
) -> None:
    whole = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    others = tuple(one for one in PLATFORMS if one != "linux_amd64")
    without = replace(whole, packed=others, unpacked=("darwin_arm64",))
    more = replace(without, unpacked=("darwin_arm64", "windows_amd64"))
    incident = replace(INCIDENTS["platform-missing"], locks=tuple(lock_file(one) for one in (whole, without, more)))
    folder = made(incident)
    document = doctor(folder, *incident.options, "--platform", "linux_amd64", "ci.log")
    dropped = git(folder, "rev-parse", "HEAD~1").strip()[:12]
    first = document["causes"][0]
    assert (first["id"], f"; commit {dropped} of " in first["evidence"]) == ("platform-missing", True)
    assert first["evidence"].endswith(" removed it")


def test_hashes_that_end_an_error_on_a_platform_that_is_assumed_say_so(made: Any, doctor: Any) -> None:
    demo = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    folder = made(replace(INCIDENTS["cache-differs"], locks=(lock_file(replace(demo, unpacked=())),), copies=()))
    (folder / "cache").mkdir(exist_ok=True)
    installed = folder / "live/prod/.terraform/providers"  # tells the platform of the h1
    write_unpacked(installed, "registry.terraform.io/acme/demo", "1.4.2", this_platform())
    log = folder / "ci.log"
    log.write_text(
        f"Error: Failed to install provider from shared cache\n\nError while importing acme/demo v1.4.2 from the shared "
        f"cache directory: the provider cache at {folder}/cache has a copy of registry.terraform.io/acme/demo 1.4.2 that "
        "doesn't match any of the checksums recorded in the dependency lock file.\n",
        "utf-8",
    )
    assert doctor(folder, "ci.log")["state"] == "open"
    (folder / LOCK).write_bytes(lock_file(replace(demo, unpacked=(this_platform(),))))
    commit = git(folder, "rev-parse", "--short=12", "HEAD")
    came = f"the hashes of acme/demo 1.4.2 differ from those of commit {commit}"
    assumed = f"; that the failing run was on {this_platform()} is assumed"
    assert doctor(folder, "ci.log")["fixed"] == f"{came}{assumed}"
    log.write_text(f"Terraform v1.11.4\non {this_platform()}\n{log.read_text('utf-8')}", "utf-8")
    assert doctor(folder, "ci.log")["fixed"] == came


OWN_FIXES = (
    "h1-missing", "mirror-differs", "platform-missing", "hand-edit", "bad-merge", "lock-syntax", "other-tool", "constraint-conflict",
    "not-locked", "republished", "key-expired", "key-changed", "yanked", "mirror-lacks", "wrong-source", "not-required",
)  # fmt: skip
"""Causes that a change of the repository, or of a mirror in it, ends."""


@DIAGONAL
@pytest.mark.parametrize("state", ["uncommitted", "committed", "cloned"])
@pytest.mark.parametrize("cause", OWN_FIXES)
def test_after_its_own_fix_a_cause_is_over_and_not_ruled_out(
    cause: str, state: str, made: Any, doctor: Any, tmp_path: Path
) -> None:
    folder, options = made(INCIDENTS[cause]), (*INCIDENTS[cause].options, "ci.log")
    document = doctor(folder, *options)
    named = {one["id"] for one in document["causes"] if one["verdict"] in {"yes", "likely"}}
    fixes = (one["command"] for one in document["remedies"] if one["command"] and one["id"] != "show-change")
    if cause == "wrong-source":
        main_tf = folder / "live/prod/main.tf"
        main_tf.write_text(main_tf.read_text("utf-8").replace("dmeo", "demo"), "utf-8")
    for line in next(fixes, "").split(" && "):
        words = shlex.split(line)
        if words[:1] == ["locklens"]:
            assert main(words[1:], no_screen) == 0
        elif words:
            subprocess.run(words, cwd=folder, check=True)
    if state != "uncommitted" and git(folder, "status", "--porcelain", "--untracked-files=no"):
        git(folder, "commit", "-qam", "the fix")
    if state == "cloned":  # by a colleague, who gets the log later; what locklens wrote down is of the other folder
        clone = tmp_path / "clone"
        git(folder, "clone", "-q", str(folder), str(clone))
        for name in ("mirror", "ci.log"):
            if (folder / name).exists():
                (folder / name).rename(clone / name)
        os.utime(clone / "ci.log", (2**32, 2**32))
        folder = clone
    for network in ("", "--offline"):
        document = doctor(folder, *filter(None, (network, *options)))
        assert not named & {one["id"] for one in document["causes"] if one["verdict"] == "no"}
        may_be_later = state == "cloned" and cause in {"h1-missing", "platform-missing"}  # then the package is another
        may_upgrade = state == "cloned" and cause in {
            "key-changed",
            "key-expired",
        }  # then an upgrade meets the release again
        may_be_another = state == "cloned" and cause.startswith("mirror-")  # which had its package before the run
        is_open = may_be_later or may_upgrade or may_be_another
        assert network or document["state"] == ("open" if is_open else "fixed")
        over = "the error of a run before it is over (run init again), and one after it has another cause"
        assert any(note.endswith(over) for note in document["run"]["notes"]) is may_be_later or network


@pytest.mark.parametrize(("cause", "came"), [("h1-missing", "1 h1"), ("platform-missing", "3 zh and 1 h1")])
def test_a_log_without_a_platform_that_may_be_newer_than_its_fix_has_a_note_of_what_was_added(
    cause: str, came: str, made: Any, doctor: Any
) -> None:
    folder, log = made(INCIDENTS[cause]), "ci.log"
    (folder / log).write_text((folder / log).read_text("utf-8").replace("on linux_amd64\n", ""), "utf-8")
    was = git(folder, "rev-parse", "--short=12", "HEAD")
    assert doctor(folder, "--offline", log)["state"] == "open"
    assert main(["lock", "--platform", "linux_amd64", "acme/demo", "--root=live/prod"], no_screen) == 0
    git(folder, "commit", "-qam", "the fix")
    os.utime(folder / log, (2**32, 2**32))
    document = doctor(folder, "--offline", log)
    words = f"commit {git(folder, 'rev-parse', '--short=12', 'HEAD')} added {came} to the hashes of commit {was} for acme/demo"
    (note,) = (one for one in document["run"]["notes"] if one.startswith(words))
    assert document["state"] == "open"
    assert note.endswith("the error of a run before that is over (run init again), and one after it has another cause")
    main_tf = folder / "live/prod/main.tf"
    main_tf.write_bytes(b"<<<<<<< HEAD\n" + main_tf.read_bytes())
    notes = doctor(folder, "--offline", log)["run"]["notes"]
    (note,) = (one for one in notes if one.startswith(words))
    assert note.endswith("the error of a run before that is over, and one after it has another cause")
    assert "the configuration has an error (live/prod/main.tf:1), and init fails until it is mended" in notes


@pytest.mark.parametrize("is_committed", [False, True])
def test_hashes_that_came_later_are_not_said_to_be_those_of_the_run(is_committed: bool, made: Any, doctor: Any) -> None:
    incident = INCIDENTS["platform-missing"]
    folder = made(incident)
    (folder / LOCK).write_bytes(lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4")))
    was = git(folder, "rev-parse", "--short=12", "HEAD")
    if is_committed:
        git(folder, "commit", "-qam", "the fix")
    found = {one["id"]: one for one in doctor(folder, "--offline", *incident.options, "ci.log")["causes"]}
    words = f"5 zh of packages are locked, and commit {was} locks 2 zh of packages: which of the two"
    assert found["republished"]["evidence"].startswith(words)
    assert found["republished"]["verdict"] == "unknown"


def test_a_provider_twice_from_the_first_commit_on_has_the_places_of_both_blocks(made: Any, doctor: Any) -> None:
    lock = lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4"))
    block = lock[lock.index(b"provider ") :]
    folder = made(replace(INCIDENTS["lock-syntax"], locks=(lock + b"\n" + block,)))
    (fix,) = doctor(folder, "ci.log")["remedies"]
    assert (fix["command"], fix["hint"]) == (None, "locklens doctor -- live/prod")
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert f"Delete one of the two blocks by hand, at {LOCK}:4 or {LOCK}:18" in out
    (folder / LOCK).write_bytes(lock.replace(b"constraints =", b"constraints", 1))
    git(folder, "commit", "-q", "--amend", "-am", "another error")
    assert f"Correct {LOCK}:6 by hand" in " ".join(doctor(folder, "--format", "text", "ci.log").split())


@pytest.mark.parametrize("is_named", [True, False])
def test_hashes_that_came_in_a_commit_end_the_error_of_whichever_root_failed(
    is_named: bool, made: Any, doctor: Any
) -> None:
    whole = replace(sample_entry("acme/demo", "1.4.2", "~> 1.4"), unpacked=("darwin_arm64", "linux_amd64"))
    mac = replace(whole, unpacked=("darwin_arm64",), packed=("darwin_arm64",))
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(whole),)))
    shutil.copytree(folder / "live/prod", folder / "live/qa")
    (folder / "live/qa/.terraform.lock.hcl").write_bytes(lock_file(mac))
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "another root")
    was = git(folder, "rev-parse", "--short=12", "HEAD")
    root = ("--", "live/qa") if is_named else ()
    assert doctor(folder, "ci.log", *root)["causes"][0]["id"] == "platform-missing"
    shutil.copy(folder / LOCK, folder / "live/qa")
    for state in ("uncommitted", "committed"):
        document = doctor(folder, "ci.log", *root)
        words = f"the lock file has the hashes of today's acme/demo 1.4.2 beside those of commit {was}"
        assert (document["state"], document["fixed"], document["causes"]) == ("fixed", words, []), state
        out = " ".join(doctor(folder, "--offline", "--format", "text", "ci.log", *root).split())
        assert f"5 zh of packages are locked, and commit {was} locks 1 zh of a package: which of the two" in out, state
        git(folder, "commit", "-qam", "the fix", "--allow-empty")


def test_a_mirror_is_filled_for_the_platform_that_other_fixes_assume(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["mirror-lacks"])
    log = folder / "ci.log"
    log.write_text(log.read_text("utf-8").replace("on linux_amd64\n", ""), "utf-8")
    (fix,) = doctor(folder, "--mirror", "mirror", "ci.log")["remedies"]
    assert fix["command"] == f"locklens mirror --platform={this_platform()} mirror --root=live/prod"
    assert fix["note"] == f"that the failing run was on {this_platform()} is assumed"


def test_a_merge_that_lost_a_hash_of_both_sides_is_named(made: Any, doctor: Any) -> None:
    whole = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    folder = made(SampleIncident("", ("none",), (lock_file(whole),), (("acme/demo", "~> 1.4"),)))
    path = folder / "live/prod/.terraform.lock.hcl"
    git(folder, "checkout", "-qb", "side")
    (folder / "side.txt").write_text("", "utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "side")
    git(folder, "checkout", "-q", "-")
    git(folder, "merge", "-q", "--no-ff", "--no-commit", "side")
    lost = next(line for line in path.read_text("utf-8").splitlines(keepends=True) if "zh:" in line)
    path.write_text(path.read_text("utf-8").replace(lost, ""), "utf-8")
    git(folder, "commit", "-qam", "a merge")
    merge = git(folder, "rev-parse", "--short=12", "HEAD").strip()
    words = "doesn't match any of the checksums previously recorded in the dependency lock file"
    log = f"the current package for registry.terraform.io/acme/demo 1.4.2 {words}"
    (folder / "ci.log").write_text(boxed_log(("Failed to install provider", log)), "utf-8")
    cause = next(one for one in doctor(folder, "ci.log")["causes"] if one["id"] == "bad-merge")
    assert (cause["verdict"], cause["evidence"].partition(": ")[2]) == (
        "likely", f"commit {merge} is a merge, and lacks 1 zh that acme/demo 1.4.2 had in each state before",
    )  # fmt: skip


@pytest.mark.parametrize("state", ["committed", "untracked", "ignored"])
@pytest.mark.parametrize("kind", ["init", "plan"])
def test_a_run_that_did_not_have_the_lock_file_that_is_here_gets_it(
    kind: str, state: str, made: Any, doctor: Any
) -> None:
    """It searched for, or missed, each provider that is locked here, and always was."""
    locked = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    required = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
    folder = made(SampleIncident("", ("none",), (lock_file(*locked),), required))
    path = "live/prod/.terraform.lock.hcl"
    os.utime(folder / path, (1, 1))
    if state != "committed":
        git(folder, "rm", "-q", "--cached", path)
        (folder / ".gitignore").write_text(".terraform.lock.hcl\n" if state == "ignored" else "", "utf-8")
        git(folder, "add", ".gitignore")
        git(folder, "commit", "-qm", "the lock file goes", "--amend")
    searched = "".join(f'- Finding {name} versions matching "{text}"...\n' for name, text in required)
    words = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    missing = (
        f"- provider registry.terraform.io/{name}: required by this configuration but no version is selected"
        for name, _ in required
    )
    logs = {
        "init": f"{searched}\nError: Provider dependency changes detected\n\n{words}\n",
        "plan": "Error: Inconsistent dependency lock file\n\nThe following are inconsistent:\n" + "\n".join(missing),
    }
    (folder / "ci.log").write_text(logs[kind], "utf-8")
    document = doctor(folder, "ci.log")
    assert document["state"] == "open"
    assert [one["id"] for one in document["causes"] if one["verdict"] == "likely"] == ["not-locked"] * 2
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "the failing run had no lock file" in out
    assert "REQUIRED" not in out, "what is required is locked"
    commit = git(folder, "rev-parse", "--short=12", "HEAD").strip()
    reasons = {
        "committed": f"nothing tells that {path} ever lacked that; commit {commit} has it: an image or a job that copies no "
        "dot files",
        "untracked": f"{path} is not committed, so that no clone has it",
        "ignored": f"git ignores {path}, so that no clone has it",
    }
    assert document["causes"][0]["evidence"].endswith(f"all that live/prod requires, and {reasons[state]}")
    (fix,) = document["remedies"]
    commands = {"committed": None, "untracked": f"git add -- {path}", "ignored": f"git add -f -- {path}"}
    assert fix["command"] == commands[state]
    assert ("git check-ignore" in fix["note"]) == (state == "ignored")
    if fix["command"]:
        git(folder, *fix["command"].split()[1:])
        assert doctor(folder, "ci.log")["state"] == "open", "a job has it once it is committed"


@pytest.mark.parametrize("was_committed", [True, False])
def test_an_ignored_lock_file_that_init_writes_here_ends_no_error_of_a_job(
    was_committed: bool, tmp_path: Path, doctor: Any
) -> None:
    """Each clone lacks it, whenever it was written here; and roots whose lock file is committed are not the failing one."""
    demo, locked = ("acme/demo", "~> 1.4"), lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4"))
    files = {f"{name}/main.tf": requires(demo).encode() for name in ("dev", "prod", "qa")}
    locks = {f"{name}/.terraform.lock.hcl": locked for name in ("dev", "prod")}
    folder = repository(tmp_path / "r", {**files, **locks, ".gitignore": b"qa/.terraform*\n"})
    (folder / "qa/.terraform.lock.hcl").write_bytes(locked)
    if was_committed:
        git(folder, "add", "-f", "qa/.terraform.lock.hcl")
        git(folder, "commit", "-qm", "lock qa")
        git(folder, "rm", "-q", "--cached", "qa/.terraform.lock.hcl")
        git(folder, "commit", "-qm", "ignore qa's")
    text = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    found = '- Finding acme/demo versions matching "~> 1.4"...'
    log = f"##[group]Run terraform init -lockfile=readonly\n{found}\n\nError: Provider dependency changes detected\n\n{text}\n"
    (folder / "ci.log").write_text(log, "utf-8")
    for at in (1_900_000_000, 1_500_000_000):  # the lock file is older than the log, and younger
        os.utime(folder / "ci.log", (at, at))
        document = doctor(folder, "--offline", "ci.log")
        (cause,) = (one for one in document["causes"] if one["verdict"] == "likely")
        assert (document["state"], cause["id"], document["errors"][0]["roots"]) == ("open", "not-locked", ["qa"])
        assert cause["evidence"].endswith("git ignores qa/.terraform.lock.hcl, so that no clone has it")
        assert document["remedies"][0]["command"] == "git add -f -- qa/.terraform.lock.hcl"
