"""The fixes as they are printed: each command runs where it is printed, and leaves what init accepts."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import trustme
from kit.command_line import no_screen
from kit.effort import DIAGONAL
from kit.git import git
from kit.loopback import server_context, serving, write_authority
from kit.registries import lead_to
from msgspec.structs import replace

from locklens.cli.main import main
from locklens.demo import PLATFORMS, lock_file, package_bytes
from locklens.demo.cases import OPENTOFU_HOST, TERRAFORM_HOST, requires, sample_entry
from locklens.demo.faults import Fault, FaultRule, Step
from locklens.demo.incidents import SampleIncident, boxed_log, sample_incidents
from locklens.demo.published import SampleListing, versions_document
from locklens.demo.registry import DemoRegistry
from locklens.dialect import OPENTOFU
from locklens.operations.doctor import DoctorRequest
from locklens.operations.doctor.diagnose import diagnose, remedy_operation
from locklens.operations.write.lock import Lock
from locklens.operations.write.resolve import ResolveConflicts
from locklens.operations.write.undo import ReplaceFolder
from locklens.policy import Policy

INCIDENTS = {one.cause: one for one in reversed(sample_incidents())}
LOCK = "live/prod/.terraform.lock.hcl"
DEMO = sample_entry("acme/demo", "1.4.2", "~> 1.4")
OLDER = sample_entry("acme/demo", "1.4.1", "~> 1.4")
NEWER = sample_entry("acme/demo", "1.5.0", "~> 1.4")
NETBOX = sample_entry("acme/netbox", "3.9.1", "~> 3.9")


def run(command: str) -> None:
    """Runs a printed line of commands of locklens in the current folder."""
    for line in command.split(" && "):
        name, *words = shlex.split(line)
        assert (name, main(words, no_screen)) == ("locklens", 0), line


def is_locked_as(folder: Path, entry: Any) -> bool:
    """True if the lock file has the version, and the signed hashes of the entry among others."""
    text = (folder / LOCK).read_text("utf-8")
    return f'"{entry.version}"' in text and all(f'"{one}"' in text for one in entry.hashes() if one.startswith("zh:"))


def in_conflict(theirs: bytes) -> SampleIncident:
    """Returns an incident whose lock file has our entry and another one between markers."""
    incident = INCIDENTS["bad-merge"]
    ours, head = lock_file(DEMO), b"<<<<<<< HEAD\n"
    at = ours.index(b"provider ")
    block = head + ours[at:] + b"=======\n" + theirs[at:] + b">>>>>>> other\n"
    return replace(incident, locks=(ours, ours[:at] + block))


@DIAGONAL
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("theirs", [lock_file(NEWER), b""], ids=["hashes-of-each", "one-list-of-hashes"])
def test_a_merge_takes_the_entry_of_the_side_that_its_fix_names(
    theirs: bytes, number: int, made: Any, doctor: Any
) -> None:
    folder = made(in_conflict(theirs) if theirs else INCIDENTS["bad-merge"])
    fixes = doctor(folder, "ci.log")["remedies"]
    assert len(fixes) == 2
    side, version = ("HEAD (ours)", "other (theirs)")[number], (DEMO, NEWER)[number].version
    named = f"with {side}: acme/demo {version}" if theirs else f"Lock acme/demo {version}, as {side} has"
    assert named in doctor(folder, "--format", "text", "ci.log")
    before = set(re.findall('(?:zh|h1):[^"]+', (folder / LOCK).read_text("utf-8")))
    run(fixes[number]["command"])
    if not theirs:
        added = set(re.findall('(?:zh|h1):[^"]+', (folder / LOCK).read_text("utf-8"))) - before
        assert fixes[number]["trust"] == ("low" if added else "none")
    assert is_locked_as(folder, (DEMO, NEWER)[number])
    assert doctor(folder, "ci.log")["state"] == "fixed"


@pytest.mark.parametrize("withdrawn", [("1.5.0",), ("1.4.2", "1.5.0")])
def test_no_fix_of_a_merge_leads_to_a_version_that_is_not_listed(
    withdrawn: tuple[str, ...], made: Any, doctor: Any
) -> None:
    rules = tuple(FaultRule(Fault.WITHDRAWN, DEMO.provider, version) for version in withdrawn)
    folder = made(replace(INCIDENTS["bad-merge"], rules=rules))
    (fix,) = doctor(folder, "ci.log")["remedies"]
    assert (fix["command"] is None) == (len(withdrawn) > 1)
    if fix["hint"] is not None:  # the conflict is committed, so that a bare diff is empty
        assert b"<<<<<<< " in subprocess.run(shlex.split(fix["hint"]), capture_output=True, check=False).stdout
    offline = [one["command"] for one in doctor(folder, "--offline", "ci.log")["remedies"]]
    assert len(offline) == 2, "nobody was asked"
    run("locklens merge --prefer theirs --root=live/prod")
    document = doctor(folder, "ci.log", "--", "live/prod")
    assert document["state"] == "open"
    (missing,) = (one["missing"] for one in document["causes"])
    assert missing == "whether init fails for another cause now: locklens doctor -- live/prod"
    causes = {one["id"]: one["verdict"] for one in doctor(folder, "--", "live/prod")["causes"]}
    # The version of one side, and the hashes of the other, whose release tells that they are its own.
    assert causes["hand-edit"] == ("likely" if "1.4.2" in withdrawn else "yes")


@pytest.mark.parametrize("is_committed", [False, True], ids=["by-release", "by-commit"])
def test_a_merge_of_equal_hashes_keeps_each_of_them_without_a_registry(
    is_committed: bool, made: Any, doctor: Any
) -> None:
    """Neither an `h1` of another platform is lost, nor is a half of the other fix left with hashes of the other side."""
    whole = lock_file(replace(DEMO, unpacked=("darwin_arm64", "linux_amd64")))
    at, end = whole.index(b"  version"), whole.index(b"  constraints")
    sides = whole[at:end], whole[at:end].replace(b"1.4.2", b"1.5.0")
    both = b"<<<<<<< HEAD\n" + sides[0] + b"=======\n" + sides[1] + b">>>>>>> other\n"
    conflict = whole[:at] + both + whole[end:]
    folder = made(replace(INCIDENTS["bad-merge"], locks=(whole, conflict) if is_committed else (conflict,)))
    words = ("--offline",) if is_committed else ()
    own, other = doctor(folder, *words, "ci.log")["remedies"]
    assert (own["command"], own["trust"], own["bytes"]) == ("locklens merge --prefer ours --root=live/prod", "none", 0)
    for command in (other["command"].partition(" && ")[0], own["command"]):
        (folder / LOCK).write_bytes(conflict)
        run(command)
        assert (folder / LOCK).read_bytes() == whole
        document = doctor(folder, "ci.log")
        assert (document["state"], [one for one in document["causes"] if one["verdict"] == "likely"]) == ("fixed", [])


@pytest.mark.parametrize("words", [(), ("--offline",)], ids=["by-release", "by-commit"])
def test_two_edits_of_one_entry_end_with_the_entry_that_had_the_hashes_first(
    words: tuple[str, ...], made: Any, doctor: Any
) -> None:
    """After each fix Doctor says that the error is over just where the entry is one that init accepts."""
    older = lock_file(OLDER)
    at, end = older.index(b"  version"), older.index(b"  constraints")
    old = older[at:end]
    ours, theirs = (old.replace(OLDER.version.encode(), text) for text in (b"1.4.2", b"1.5.0"))
    conflict = older[:at] + b"<<<<<<< HEAD\n" + ours + b"=======\n" + theirs + b">>>>>>> other\n" + older[end:]
    locks = (older, older.replace(old, theirs), older.replace(old, ours), conflict)
    folder = made(replace(INCIDENTS["bad-merge"], locks=locks))
    first, *others = doctor(folder, *words, "ci.log")["remedies"]
    commit = git(folder, "rev-parse", "HEAD~3")[:12]
    restored = f"locklens restore acme/demo --from {commit} --root=live/prod"
    assert first["command"] == f"locklens merge --prefer ours --root=live/prod && {restored}"
    assert (first["trust"], first["bytes"]) == ("none", 0)
    assert ["&& locklens upgrade acme/demo=" in one["command"] for one in others] == [True, True]
    for fix, is_done in ((first, True), (others[0], True), (others[0], False)):
        (folder / LOCK).write_bytes(conflict)
        for command in fix["command"].split(" && ")[: None if is_done else 1]:
            run(command)
        document = doctor(folder, *words, "ci.log")
        assert ((document["state"] == "fixed"), is_done) == (is_done, document["fixed"] is not None)
        assert "lacks" not in doctor(folder, *words, "--format", "text", "ci.log")
        git(folder, "commit", "-qam", "mend")
        assert (doctor(folder, *words, "ci.log")["state"] == "fixed") == is_done
        git(folder, "reset", "-q", "--hard", "HEAD~1")


def test_a_commit_tells_no_version_of_hashes_that_are_of_another_release(made: Any, doctor: Any) -> None:
    wrong = lock_file(DEMO).replace(b'"1.4.2"', b'"1.5.0"')
    folder = made(replace(INCIDENTS["bad-merge"], locks=(wrong, INCIDENTS["bad-merge"].locks[1])))
    commands = [one["command"] for one in doctor(folder, "ci.log")["remedies"]]
    assert commands[0] == "locklens merge --prefer ours --root=live/prod"
    assert "upgrade acme/demo=1.5.0" in commands[1]
    out = " ".join(doctor(folder, "--offline", "--format", "text", "ci.log").split())
    assert (
        f"which commit {git(folder, 'rev-parse', 'HEAD~1')[:12]} locks for acme/demo 1.5.0: its entry keeps them" in out
    )


@pytest.mark.parametrize("theirs", [lock_file(NEWER), b""], ids=["hashes-of-each", "one-list-of-hashes"])
def test_a_fix_after_which_init_fails_is_not_the_first(theirs: bytes, made: Any, doctor: Any) -> None:
    folder = made(in_conflict(theirs) if theirs else INCIDENTS["bad-merge"])
    main_tf = folder / "live/prod/main.tf"
    main_tf.write_text(main_tf.read_text("utf-8").replace("~> 1.4", "~> 1.5"), "utf-8")
    first, second = doctor(folder, "ci.log")["remedies"]
    assert "init fails with" not in first["note"]
    assert "requires ~> 1.5: init fails with acme/demo 1.4.2" in second["note"]
    run(first["command"])
    assert is_locked_as(folder, NEWER)
    assert doctor(folder, "ci.log")["state"] == "fixed"


def test_a_merge_that_the_constraint_excludes_ends_nothing(made: Any, doctor: Any) -> None:
    folder = made(in_conflict(lock_file(NEWER)))
    main_tf = folder / "live/prod/main.tf"
    main_tf.write_text(main_tf.read_text("utf-8").replace("~> 1.4", "1.4.2"), "utf-8")
    report = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    _, words = report.split("--prefer theirs")
    assert "requires 1.4.2: init fails with acme/demo 1.5.0" in words
    assert report.count("init fails with") == 1
    _, theirs = doctor(folder, "ci.log")["remedies"]
    run(theirs["command"])
    document = doctor(folder, "ci.log")
    assert (document["state"], document["fixed"]) == ("open", None)
    (cause,) = document["causes"]
    assert (cause["id"], cause["verdict"]) == ("constraint-conflict", "yes")
    words = f"the error of the log is over ({LOCK} can be read now), but not all is well in live/prod"
    assert any(note.startswith(words) for note in document["run"]["notes"])
    run(document["remedies"][0]["command"])
    assert doctor(folder, "ci.log")["state"] == "fixed"


def staged(folder: Path, text: bytes, *sides: bytes) -> None:
    """Leaves a lock file in conflict: the three sides in git's index, and a text in the work tree."""
    names = [git(folder, "hash-object", "-w", "--stdin", given=side) for side in sides]
    rows = "".join(f"100644 {name} {stage}\t{LOCK}\n" for stage, name in enumerate(names, start=1))
    git(folder, "rm", "--quiet", "--cached", LOCK)
    git(folder, "update-index", "--index-info", given=rows.encode())
    (folder / LOCK).write_bytes(text)


def test_the_sides_of_a_merge_are_those_of_the_index(made: Any, doctor: Any) -> None:
    ours, theirs = lock_file(DEMO), lock_file(NEWER)
    line, other = b'  version     = "1.4.2"\n', b'  version     = "1.5.0"\n'
    of_version = theirs.replace(other, b"<<<<<<< HEAD\n" + line + b"=======\n" + other + b">>>>>>> other\n")
    mine, their = (text[text.index(b"  hashes") : -2] for text in (ours, theirs))
    of_hashes = ours.replace(mine, b"<<<<<<< HEAD\n" + mine + b"=======\n" + their + b">>>>>>> other\n")
    folder = made(INCIDENTS["bad-merge"])
    for text in (of_version, of_hashes):
        staged(folder, text, lock_file(replace(DEMO, constraints=">= 1.0")), ours, theirs)
        report = doctor(folder, "--format", "text", "ci.log")
        for side, entry in (("ours", DEMO), ("theirs", NEWER)):
            assert re.search(rf"block by block with \w+ \({side}\): acme/demo {entry.version}\n", report)
            assert f"$ locklens merge --prefer {side} --root=live/prod\n" in report
        assert "same hashes" not in report
        assert "no longer has the sides" not in report


def test_a_merge_has_a_preview(made: Any) -> None:
    folder = made(in_conflict(lock_file(NEWER)))
    request = DoctorRequest((folder / "ci.log").read_bytes(), folder, dict(os.environ))
    writes = [one.write for one in diagnose(request).remedies]
    operations = [remedy_operation(one, folder, request, Policy()) for one in writes if one is not None]
    plans = [one.plan() for one in operations if isinstance(one, ResolveConflicts)]
    assert [plan.proposal.files[0].new for plan in plans] == [lock_file(DEMO), lock_file(NEWER)]


def test_a_side_that_the_tools_refuse_is_no_side_to_take(made: Any, doctor: Any) -> None:
    folder, ours = made(INCIDENTS["bad-merge"]), lock_file(DEMO)
    staged(folder, (folder / LOCK).read_bytes(), b"", ours, ours.replace(b"constraints = ", b"constraints ", 1))
    fixes = doctor(folder, "ci.log")["remedies"]
    assert [(one["command"], one["hint"]) for one in fixes] == [(None, f"git diff -- {LOCK}")]


def test_constraints_are_rewritten_for_a_version_that_there_is(made: Any, doctor: Any) -> None:
    for number, version in enumerate(("1.4.2", "1.5.0")):
        folder = made(INCIDENTS["constraint-conflict"])
        fixes = doctor(folder, "ci.log")["remedies"]
        assert [one["trust"] for one in fixes] == ["none", "low"]
        run(fixes[number]["command"])
        assert f'"~> {version[:3]}"' in (folder / "live/prod/main.tf").read_text("utf-8")
        assert doctor(folder, "ci.log")["state"] == "fixed"
        shutil.rmtree(folder)


def test_a_job_has_what_was_mended_here_once_that_is_committed_and_pushed(made: Any, doctor: Any) -> None:
    """What is in a log of this machine, or of a file that git has, is left to no commit."""
    folder = made(INCIDENTS["constraint-conflict"])
    (folder / "job.log").write_text("##[section]Starting: plan\n" + (folder / "ci.log").read_text("utf-8"), "utf-8")
    kept, upgrade = doctor(folder, "job.log")["remedies"]
    assert all(one["note"].endswith("then commit the files that it changes") for one in (kept, upgrade))

    def once() -> str:
        document = doctor(folder, "job.log")
        assert document["state"] == "fixed"
        return str(document["fixed"]).partition(" now")[2]

    run(kept["command"])
    assert once() == " (the job has live/prod/main.tf once it is committed and pushed)"
    git(folder, "restore", "live/prod/main.tf")
    run(upgrade["command"])
    assert once() == f" (the job has {LOCK}, live/prod/main.tf once they are committed and pushed)"
    assert "committed" not in doctor(folder, "ci.log")["fixed"]
    out = " ".join(doctor(folder, "--format", "text", "job.log").split())
    assert "once they are committed and pushed): run init again. [FIXED] NEXT $ terraform" in out
    git(folder, "commit", "-qam", "mend")
    assert once() == ""
    git(folder, "init", "-q", "--bare", "remote.git")
    git(folder, "remote", "add", "origin", "./remote.git")
    git(folder, "push", "-q", "-u", "origin", "HEAD~:refs/heads/main")
    git(folder, "config", "push.default", "upstream")
    branch = git(folder, "symbolic-ref", "--short", "HEAD")
    git(folder, "branch", "-q", "--set-upstream-to=origin/main", branch)
    assert once() == f" (the job has {LOCK}, live/prod/main.tf once they are pushed)"
    git(folder, "push", "-q")
    assert once() == ""


@pytest.mark.parametrize(
    ("constraint", "options", "is_none"),
    [("~> 1.9", (), True), ("~> 1.5", (), False), ("~> 1.9", ("--offline",), False)],
)
def test_a_constraint_that_no_listed_version_satisfies_is_said(
    constraint: str, options: tuple[str, ...], is_none: bool, made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS["constraint-conflict"])
    for name in ("live/prod/main.tf", "ci.log"):
        text = (folder / name).read_text("utf-8")
        (folder / name).write_text(text.replace("~> 2.0", constraint), "utf-8")
    first = doctor(folder, *options, "ci.log")["causes"][0]
    assert (first["id"], first["verdict"]) == ("constraint-conflict", "yes")
    words = "nor does any of the 3 versions that registry.terraform.io lists: init -upgrade fails, too"
    assert (words in first["evidence"], "init -upgrade" in first["evidence"]) == (is_none, is_none)


def test_an_older_version_that_satisfies_the_constraints_is_named(made: Any, doctor: Any) -> None:
    newest = replace(
        INCIDENTS["key-changed"], locks=(lock_file(NEWER),), constraints=(("acme/demo", "~> 1.3, <= 1.5.0"),)
    )
    folder = made(replace(newest, rules=(FaultRule(Fault.UNKNOWN_ISSUER, NEWER.provider, NEWER.version),)))
    log = (folder / "ci.log").read_text("utf-8").replace("1.4.2", "1.5.0")
    (folder / "ci.log").write_text(log, "utf-8")
    document = doctor(folder, "ci.log")
    assert document["remedies"][0]["command"] == "locklens upgrade acme/demo=1.4.2 --root=live/prod"
    words = "no newer listed version satisfies the constraints"
    assert f"Go back to acme/demo 1.4.2: {words}" in doctor(folder, "--format", "text", "ci.log")
    run(document["remedies"][0]["command"])
    assert is_locked_as(folder, DEMO)


def test_a_command_that_shows_and_mends_nothing_is_a_hint(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["wrong-source"])
    fix = doctor(folder, "ci.log")["remedies"][0]
    assert (fix["command"], fix["hint"]) == (None, "locklens why acme/dmeo --root=live/prod")
    assert main(shlex.split(fix["hint"])[1:], no_screen) == 1  # it finds what is not locked, and changes nothing
    out = doctor(folder, "--format", "text", "ci.log")
    words = "do it by hand: this command changes nothing\n     $ locklens why acme/dmeo --root=live/prod\n"
    assert words in out
    assert "left out" not in out
    markdown = doctor(folder, "--format", "markdown", "ci.log")
    assert "| by hand; `locklens why acme/dmeo --root=live/prod` changes nothing |" in markdown


@pytest.mark.parametrize(("tool", "old"), [("terraform", "registry.terraform.io/lost/gone"), ("tofu", "OLD")])
def test_a_lost_provider_that_only_the_state_requires_gets_another_address_there(
    tool: str, old: str, tmp_path: Path, doctor: Any
) -> None:
    provider = 'provider["registry.terraform.io/lost/gone"]'
    resource = {"mode": "managed", "type": "gone_thing", "name": "x", "provider": provider, "instances": []}
    state = {"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "a", "resources": [resource]}
    host = "registry.terraform.io" if tool == "terraform" else "registry.opentofu.org"
    log = f"""Error: Failed to query available provider packages

Could not retrieve the list of available versions for provider lost/gone:
provider registry {host} does not have a provider named
{host}/lost/gone
"""
    files = {"live/main.tf": "", "live/terraform.tfstate": json.dumps(state), "ci.log": log}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    named = "opentofu" if tool == "tofu" else tool
    fix = doctor(tmp_path, "--offline", "--tool", named, "ci.log", "--", "live")["remedies"][0]
    assert fix["command"] == f"{tool} -chdir=live state replace-provider {old} NEW"
    for name, text in {"live/main.tf": BACKEND, "live/terraform.tfstate": ""}.items():
        (tmp_path / name).write_text(text, "utf-8")
    remote = doctor(tmp_path, "--offline", "--tool", named, "ci.log", "--", "live")["remedies"][0]
    assert remote["command"] == fix["command"], "nothing but the remote state can require it"
    assert 'the state is in the "http" backend (live/main.tf:2)' in remote["note"]
    removal = f"{tool} -chdir=live state rm OBJECT forgets one that {tool} -chdir=live state list names"
    assert removal in fix["note"]
    assert ("OLD stands for registry.opentofu.org/lost/gone or registry.terraform.io/" in fix["note"]) == (old == "OLD")


@pytest.mark.parametrize("is_sparse", [True, False])
def test_a_root_that_a_sparse_checkout_leaves_out_is_checked_out_first(is_sparse: bool, made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["constraint-conflict"])
    log = f"+ cd live/prod\n+ terraform init\n{(folder / 'ci.log').read_text('utf-8')}"
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "all")
    if is_sparse:
        git(folder, "sparse-checkout", "set", "elsewhere")
        assert not (folder / "live/prod").exists()
    (folder / "real.log").write_text(log, "utf-8")
    fixes = [one for one in doctor(folder, "real.log")["remedies"] if one["command"]]
    words = "first git sparse-checkout add live/prod: the folder is not checked out here"
    assert fixes
    assert {one["note"].startswith(words) for one in fixes} == {is_sparse}


BACKEND = 'terraform {\n  backend "http" {\n    address = "https://state.invalid/prod"\n  }\n}\n'


@pytest.mark.parametrize("state", ["remote", "none"])
def test_what_only_a_remote_state_can_require_is_locked_by_the_init_of_the_tool(
    state: str, tmp_path: Path, doctor: Any
) -> None:
    words = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    log = "+ terraform -chdir=live init -lockfile=readonly -input=false\n- Reusing previous version of acme/demo from the "
    log = f"{log}dependency lock file\n- Finding latest version of acme/netbox...\n\n"
    log = f"{log}Error: Provider dependency changes detected\n\n{words}\n"
    files = {
        "live/main.tf": requires(("acme/demo", "~> 1.4")),
        "live/.terraform.lock.hcl": lock_file(DEMO).decode(),
        "ci.log": log,
    }
    for name, text in (files | {"live/backend.tf": BACKEND if state == "remote" else ""}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    (fix,) = doctor(tmp_path, "--offline", "ci.log", "--", "live")["remedies"]
    assert fix["command"] == ("terraform -chdir=live init" if state == "remote" else None)
    assert ('the state is in the "http" backend (live/backend.tf:2)' in fix["note"]) is (state == "remote")


def test_a_provider_that_its_registry_lacks_is_not_offered_to_be_locked(made: Any, doctor: Any) -> None:
    document = doctor(made(INCIDENTS["wrong-source"]), "--", "live/prod")
    found = {one["id"]: one["verdict"] for one in document["causes"]}
    assert (found["wrong-source"], found["not-locked"]) == ("yes", "yes")
    fixes = {one["id"]: one["command"] or one["hint"] for one in document["remedies"]}
    assert [name for name, line in fixes.items() if "acme/dmeo" in line] == ["correct-source"]


@pytest.mark.parametrize(("host", "named", "note"), [
    ("registry.terraform.io", "$TF_TOKEN_registry_terraform_io", "providers.v1"),
    ("localhost:19500", "$TOKEN", "the credentials block of localhost:19500: a host with a port has no TF_TOKEN_ variable"),
])  # fmt: skip
def test_a_token_is_tried_by_a_command_that_is_printed(
    host: str, named: str, note: str, made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(INCIDENTS["credentials"])
    monkeypatch.delenv("TF_CLI_CONFIG_FILE")
    monkeypatch.setenv("HOME", str(folder))
    message = f"Could not retrieve the list of available versions for provider acme/demo: host {host} rejected the given authentication credentials"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", message)), "utf-8")
    out = " ".join(doctor(folder, "--offline", "--format", "text", "ci.log").split())
    assert f'-H "Authorization: Bearer {named}" https://{host}/v1/providers/acme/demo/versions' in out
    assert note in out
    assert "TF_TOKEN_localhost" not in out


def test_a_request_of_a_host_block_goes_where_the_block_leads(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder = made(INCIDENTS["credentials"])
    settings = (tmp_path / "demo.tfrc").read_text("utf-8")
    (url,) = re.findall(r'"(http://[^"]+/registry.terraform.io/v1/providers/)"', settings)
    fix = doctor(folder, "ci.log")["remedies"][0]
    assert fix["command"].endswith(f" {url}acme/demo/versions")
    words = "could not connect to registry.terraform.io: failed to request discovery document: unsupported Content-Type"
    message = f"Could not retrieve the list of available versions for provider acme/demo: {words}"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", message)), "utf-8")
    assert doctor(folder, "ci.log")["remedies"][0]["command"] == f"curl -sSv -o /dev/null {url}"


def with_network_mirror(settings: Path) -> None:
    """Adds a network mirror to the settings as the only place to install from."""
    only = 'provider_installation {\n  network_mirror {\n    url = "https://localhost:19500/tf/"\n  }\n}\n'
    settings.write_text(settings.read_text("utf-8") + only, "utf-8")


def test_a_token_for_a_mirror_is_tried_where_the_mirror_has_its_index(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder = made(INCIDENTS["credentials"])
    with_network_mirror(tmp_path / "demo.tfrc")
    message = (
        "failed to query provider mirror https://localhost:19500/tf/ for registry.terraform.io/acme/demo: 403 Forbidden "
        "returned from localhost:19500"
    )
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", message)), "utf-8")
    fix = doctor(folder, "ci.log")["remedies"][0]
    assert fix["command"].endswith(" https://localhost:19500/tf/registry.terraform.io/acme/demo/index.json")


def test_a_mirror_of_the_settings_that_answers_404_lacks_the_package(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder = made(replace(INCIDENTS["credentials"], rules=()))
    with_network_mirror(tmp_path / "demo.tfrc")
    message = "Error while installing acme/demo v1.4.2: localhost:19500: bad response code: 404"
    (folder / "ci.log").write_text(boxed_log(("Failed to install provider", message)), "utf-8")
    document = doctor(folder, "ci.log")
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("mirror-lacks", "likely")
    assert "yanked" not in {one["id"] for one in document["causes"] if one["verdict"] in {"yes", "likely"}}
    assert [one["id"] for one in document["remedies"]] == ["fill-mirror"]


@pytest.mark.parametrize("by", ["state", "configuration", "nothing"])
def test_a_mirror_is_filled_by_a_command_only_with_what_the_command_takes(by: str, made: Any, doctor: Any) -> None:
    """What only the state requires is in no mirror before it is locked, nor what nothing requires."""
    incident, netbox = INCIDENTS["mirror-lacks"], ("acme/netbox", "~> 3.9")
    required = (*incident.constraints, netbox) if by == "configuration" else incident.constraints
    locks = (lock_file(DEMO, sample_entry("acme/netbox", "3.9.1", "~> 3.9")),) if by == "nothing" else incident.locks
    folder = made(replace(incident, constraints=required, locks=locks))
    log = (folder / "ci.log").read_text("utf-8").replace("acme/demo", "acme/netbox")
    (folder / "ci.log").write_text(log.replace("1.4.2", "3.9.1"), "utf-8")
    if by == "state":
        resource = {"mode": "managed", "type": "netbox_site", "name": "a", "instances": []}
        resource["provider"] = 'provider["registry.terraform.io/acme/netbox"]'
        state = {"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "x", "resources": [resource]}
        (folder / "live/prod/terraform.tfstate").write_text(json.dumps(state), "utf-8")
    (fix,) = doctor(folder, *incident.options, "ci.log", "--", "live/prod")["remedies"]
    if by == "configuration":
        run(fix["command"])
        assert list((folder / "mirror/registry.terraform.io/acme/netbox").glob("*.zip"))
        assert fix["trust"] == "low"
        return
    assert fix["command"] is None
    words = "nothing in live/prod requires it" if by == "nothing" else "only the state or test files require it"
    assert fix["note"].startswith(words)


@pytest.mark.parametrize("cause", ["cache-differs", "plugin-corrupted"])
def test_no_copy_is_moved_aside_for_a_release_that_is_not_to_be_had(cause: str, made: Any, doctor: Any) -> None:
    gone = (FaultRule(Fault.WITHDRAWN, DEMO.provider, DEMO.version),)
    folder = made(replace(INCIDENTS[cause], rules=gone))
    (fix,) = doctor(folder, "ci.log")["remedies"]
    run(fix["command"])
    assert is_locked_as(folder, NEWER)


GONE = (
    "Could not retrieve the list of available versions for provider acme/demo: the previously-selected version 1.4.2 is "
    "no longer available"
)

NOWHERE = (
    "Could not retrieve the list of available versions for provider acme/demo: provider registry.terraform.io/acme/demo was "
    "not found in any of the search locations\n\n  - provider mirror at https://{}/p/"
)

HALF_FILLED = (
    "Error while installing acme/demo v1.4.2: failed to query provider mirror https://{}/p/ for "
    "registry.terraform.io/acme/demo: provider mirror does not have archive index for previously-reported "
    "registry.terraform.io/acme/demo version 1.4.2"
)


def test_a_mirror_that_lists_a_version_without_its_file_lacks_it(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["credentials"], rules=()))
    message = HALF_FILLED.format("m.example.com")
    (folder / "ci.log").write_text(boxed_log(("Failed to install provider", message)), "utf-8")
    document = doctor(folder, "ci.log")
    first, *others = document["causes"]
    assert (first["id"], first["verdict"]) == ("mirror-lacks", "likely")
    title = "The mirror m.example.com did not have the file of acme/demo 1.4.2 (404)."
    assert title in " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert not {"yes", "likely"} & {one["verdict"] for one in others}
    (fix,) = document["remedies"]
    assert fix["command"] == "locklens mirror --platform=linux_amd64 DIR --root=live/prod"


@pytest.mark.parametrize(
    "words", ["Error while installing acme/demo v1.4.2: {}: bad response code: 404", GONE, NOWHERE, HALF_FILLED]
)
def test_a_mirror_on_a_server_that_was_filled_is_fixed(
    words: str, made: Any, doctor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, authority = made(replace(INCIDENTS["credentials"], rules=())), trustme.CA()
    monkeypatch.setenv("SSL_CERT_FILE", str(write_authority(authority, tmp_path / "ca.pem")))
    with serving(server_context(authority, "localhost")) as server:
        url, below = server.url("/p/", "localhost"), "/p/registry.terraform.io/acme/demo"
        server.gives(f"{below}/index.json", {"versions": {"1.4.2": {}}})
        server.gives(f"{below}/1.4.2.json", {"archives": {"linux_amd64": {"url": "demo.zip"}}})
        block = f'provider_installation {{\n  network_mirror {{\n    url = "{url}"\n  }}\n}}\n'
        (tmp_path / "mirror.tfrc").write_text((tmp_path / "demo.tfrc").read_text("utf-8") + block, "utf-8")
        monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "mirror.tfrc"))
        message = words.format(f"localhost:{server.port}")
        (folder / "ci.log").write_text(boxed_log(("Failed to install provider", message)), "utf-8")
        shutil.copytree(folder / "live/prod", folder / "live/stage")
        document = doctor(folder, "ci.log")
        assert (document["state"], document["facts"]["root"]) == ("open", None)
        server.gives(f"{below}/demo.zip", package_bytes("registry.terraform.io/acme/demo", "1.4.2", "linux_amd64"))
        for own in (("ci.log",), ("ci.log", "--", "live/prod", "live/stage")):
            assert doctor(folder, *own)["fixed"] == f"{url} gives the package of acme/demo 1.4.2 for linux_amd64 now"
        assert doctor(folder, "--offline", "ci.log")["state"] == "open"
        of_other = {"url": "demo.zip", "hashes": [f"zh:{'a' * 64}"]}
        server.gives(f"{below}/1.4.2.json", {"archives": {"linux_amd64": of_other}})
        document = doctor(folder, "ci.log", "--", "live/prod")
        assert (document["state"], document["causes"][0]["id"]) == ("open", "mirror-differs"), "init fails of that"


def test_roots_that_the_log_does_not_fit_are_named_where_they_have_the_wrong_entry(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),)))
    for name in ("twin", "other"):
        shutil.copytree(folder / "live/prod", folder / "live" / name)
    more = lock_file(DEMO, sample_entry("acme/netbox", "3.9.1", "~> 3.9"))
    (folder / "live/other/.terraform.lock.hcl").write_bytes(more)
    both = requires(("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))
    (folder / "live/other/main.tf").write_text(both, "utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "roots")
    for path in folder.glob("live/*/.terraform.lock.hcl"):
        path.write_text(re.sub("(zh:|h1:)....", r"\g<1>0000", path.read_text("utf-8")), "utf-8")
    git(folder, "commit", "-qam", "edited")
    log = (folder / "ci.log").read_text("utf-8")
    reused = "- Reusing previous version of acme/demo from the dependency lock file\n"
    reused += "- Installing acme/demo v1.4.2...\n"
    (folder / "ci.log").write_text(log.replace("plugins...\n", f"plugins...\n{reused}"), "utf-8")
    document = doctor(folder, "ci.log")
    assert document["errors"][0]["roots"] == ["live/prod", "live/twin"]
    note = "live/other has that entry of acme/demo, too, and a fix leaves it: locklens doctor -- live/other"
    assert note in document["run"]["notes"]


@pytest.mark.parametrize("is_committed", [False, True])
def test_an_edit_of_hashes_that_a_commit_has_as_they_were_signed(is_committed: bool, made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),)))
    text = (folder / LOCK).read_text("utf-8")
    (folder / LOCK).write_text(re.sub("(zh:|h1:)....", r"\g<1>0000", text), "utf-8")
    if is_committed:
        git(folder, "commit", "-qam", "edited")
    document = doctor(folder, "ci.log")
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("hand-edit", "yes")
    assert ("not committed" in first["evidence"]) is not is_committed
    assert {one["id"]: one["verdict"] for one in document["causes"]}["republished"] == "no"
    fix = document["remedies"][0]
    assert (fix["id"], fix["trust"]) == ("restore-entry", "low")
    run(fix["command"])
    assert is_locked_as(folder, DEMO)
    if not is_committed:
        assert doctor(folder, "ci.log")["state"] == "fixed"
        (folder / LOCK).write_text(text, "utf-8")  # back by hand, of which nothing tells
        later = (folder / LOCK).stat().st_mtime + 3600
        os.utime(folder / "ci.log", (later, later))
        causes = {one["id"]: one["verdict"] for one in doctor(folder, "ci.log")["causes"]}
        assert causes["hand-edit"] == "unknown"
    for number in range(2 if is_committed else 0):
        for words in ((), ("--platform", "linux_amd64")):
            assert doctor(folder, *words, "ci.log")["state"] == "fixed"
        assert "[OK]" in doctor(folder, "--format", "text", "--", "live/prod")
        if not number:
            git(folder, "commit", "-qam", "restored")


@pytest.mark.parametrize("others", [(), ("live/dev", "live/old")], ids=["one-root", "equal-roots"])
def test_a_fix_of_an_edit_that_was_never_committed_is_known(others: tuple[str, ...], made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),)))
    for name in others:
        shutil.copytree(folder / "live/prod", folder / name)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "roots")
    lock = folder / LOCK
    lock.write_text(re.sub(r"(zh:|h1:)....", r"\1dead", lock.read_text("utf-8")), "utf-8")
    document = doctor(folder, "ci.log", "--", "live/prod")
    restore = next(one["command"] for one in document["remedies"] if one["id"] == "restore-entry")
    run(restore)
    document = doctor(folder, "ci.log")
    assert document["fixed"].startswith("the lock file has the zh of linux_amd64 for acme/demo 1.4.2 now (live/")
    assert document["facts"]["root"] == "live/prod"
    later = (folder / LOCK).stat().st_mtime + 3600
    os.utime(folder / "ci.log", (later, later))
    assert doctor(folder, "ci.log")["state"] == "open", "the log is later than the fix"


def test_a_package_that_was_published_again_is_accepted_by_its_fix(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["republished"])
    document = doctor(folder, "--prove", "changed", "ci.log")
    assert document["causes"][0]["verdict"] == "yes"
    run(next(one["command"] for one in document["remedies"] if one["id"] == "accept-republished"))
    assert doctor(folder, "ci.log")["state"] == "open"  # without its h1, the old one may be that of the new package
    document = doctor(folder, "--prove", "changed", "ci.log")
    assert document["fixed"].startswith("the lock file has the zh and the h1 of linux_amd64 for acme/demo 1.")
    assert not any("whether it covers" in note for note in document["run"]["notes"])


def test_a_root_that_a_fix_changed_is_named_where_the_log_fits_another_one_that_still_is_as_it_says(
    made: Any, doctor: Any
) -> None:
    edited = replace(NETBOX, version="3.10.0", hashes_of="3.9.1")
    folder = made(replace(INCIDENTS["hand-edit"], locks=(lock_file(edited),)))
    other = folder / "live/stage"
    other.mkdir()
    (other / "main.tf").write_bytes((folder / "live/prod/main.tf").read_bytes())
    (other / ".terraform.lock.hcl").write_bytes(lock_file(replace(NETBOX, version="3.10.0")))
    (fix,) = doctor(folder, "ci.log")["remedies"]
    run(fix["command"])
    document = doctor(folder, "ci.log")
    assert document["state"] == "open", "the log may be of either root"
    note = "acme/netbox was changed in live/prod later than the log, as a fix does: if it is of that root, run init"
    assert any(one.startswith(note) for one in document["run"]["notes"])


def test_constraints_that_are_rewritten_in_all_roots_that_a_log_fits_end_its_error(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["constraint-conflict"])
    shutil.copytree(folder / "live/prod", folder / "live/stage")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "stage")
    document = doctor(folder, "ci.log")
    roots = ["live/prod", "live/stage"]
    (cause, *_) = document["causes"]
    assert (cause["id"], cause["verdict"], cause["roots"]) == ("constraint-conflict", "yes", roots)
    assert cause["evidence"].startswith("(in live/prod) ")
    assert "live/prod/main.tf:" in cause["evidence"]
    assert cause["evidence"].endswith("; likewise in live/stage"), "what differs in nothing but the root is said once"
    required = doctor(folder, "--format", "text", "ci.log").partition("REQUIRED")[2].partition("CAUSES")[0]
    assert all(f"{root}/main.tf:" in required for root in roots)
    fixes = [one["command"] for one in document["remedies"][:2]]
    assert [one.rpartition(" --edit-constraints --root=")[2] for one in fixes] == roots, "each has lines of its own"
    run(fixes[0])
    document = doctor(folder, "ci.log")
    assert (document["state"], document["causes"][0]["roots"]) == ("open", ["live/stage"])
    run(document["remedies"][0]["command"])
    assert doctor(folder, "ci.log")["fixed"] == "acme/demo 1.4.2 satisfies ~> 1.4 now"


def test_one_upgrade_is_of_all_roots_that_a_log_fits_with_a_raised_constraint(made: Any, doctor: Any) -> None:
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO),), (("acme/demo", "~> 1.5"),)))
    shutil.copytree(folder / "live/prod", folder / "live/stage")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "stage")
    words = "Could not retrieve the list of available versions for provider acme/demo: locked provider"
    words = f"{words} registry.terraform.io/acme/demo 1.4.2 does not match configured version constraint ~> 1.5; must"
    log = f"Error: Failed to query available provider packages\n\n{words} use terraform init -upgrade\n"
    (folder / "ci.log").write_text(log, "utf-8")
    (fix,) = doctor(folder, "ci.log")["remedies"]
    assert fix["command"] == "locklens upgrade acme/demo --root=live/prod --root=live/stage"


def test_an_upgrade_heeds_the_policy_as_its_command_does(made: Any, doctor: Any) -> None:
    """Of acme/demo, 1.5.0 is 19 days old and 1.4.2 is locked; without another version in range, its name is needed."""
    raised = SampleIncident("", ("none",), (lock_file(DEMO),), (("acme/demo", "~> 1.5"),))
    folder = made(raised)

    def fixes(policy: str) -> list[tuple[str, str]]:
        (folder / "locklens.toml").write_text(policy, "utf-8")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "policy", "--allow-empty")
        return [(one["command"], one["note"]) for one in doctor(folder, "--", "live/prod")["remedies"]]

    free = "locklens upgrade acme/demo --root=live/prod"
    assert [command for command, _ in fixes("cooldown = 7")] == [free]
    back, (named, note) = fixes("cooldown = 30")
    assert back[0] == "locklens upgrade acme/demo=1.4.2 --edit-constraints --root=live/prod"
    assert (named, note.partition(";")[0]) == (
        "locklens upgrade acme/demo=1.5.0 --root=live/prod",
        "1.5.0 is held back: cooldown 30 d (19 d old)",
    )
    with pytest.raises(AssertionError, match="upgrade acme/demo --root=live/prod"):
        run(free)
    *_, (of_list, note) = fixes("allow = ['acme/demo 1.4.2']")
    assert (of_list, note.partition(";")[0]) == (named, "1.5.0 is held back: not on the allow list")
    run(named)
    assert is_locked_as(folder, replace(DEMO, version="1.5.0", constraints="~> 1.5"))
    (folder / "locklens.toml").write_text("cooldown = []", "utf-8")
    git(folder, "commit", "-qam", "mistake")
    notes = doctor(folder, "--", "live/prod")["run"]["notes"]
    assert any(one.startswith("HEAD:locklens.toml:1: ") and "upgrade fails" in one for one in notes)


def test_a_fix_by_init_names_what_else_init_locks_and_drops(made: Any, doctor: Any) -> None:
    old = sample_entry("acme/other", "2.0.0", "~> 2.0")
    incident = replace(INCIDENTS["plugin-missing"], locks=(lock_file(DEMO, old),))
    folder = made(replace(incident, constraints=(("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))))
    for words in ((), ("--", "live/prod")):
        fix = next(one for one in doctor(folder, "ci.log", *words)["remedies"] if one["id"] == "reinstall")
        assert (fix["command"], fix["trust"]) == ("locklens init --root=live/prod", "low")
        assert fix["note"] == (
            "acme/netbox is not locked: init locks it, too; acme/other is not required: init drops it, too; "
            "then commit the lock file"
        )
    run(fix["command"])
    text = (folder / LOCK).read_text("utf-8")
    assert ("acme/netbox" in text, "acme/other" in text) == (True, False)


def test_a_provider_that_is_locked_in_all_roots_that_a_log_fits_ends_its_error(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["not-locked"])
    shutil.copytree(folder / "live/prod", folder / "live/stage")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "stage")
    words = "This configuration requires provider registry.terraform.io/acme/netbox, but that provider isn't available."
    (folder / "ci.log").write_text(f"Error: Missing required provider\n\n{words}\n")
    (fix,) = doctor(folder, "ci.log")["remedies"]
    assert fix["command"].endswith(" --root=live/prod --root=live/stage")
    run(fix["command"].replace(" --root=live/prod", ""))
    document = doctor(folder, "ci.log")
    (cause, *_) = document["causes"]
    assert (document["state"], cause["id"], cause["roots"]) == ("open", "not-locked", ["live/prod"])
    shutil.copy(folder / "live/stage/.terraform.lock.hcl", folder / LOCK)  # as init of the tool has it
    assert doctor(folder, "ci.log")["fixed"].startswith("acme/netbox 3.10.0 is locked now (live/prod/")


def test_an_entry_that_each_of_two_alike_roots_lost_has_its_own_commit_and_place_in_each(
    made: Any, doctor: Any
) -> None:
    random = sample_entry("hashicorp/random", "3.6.3", "~> 3.6")
    required = (("acme/demo", "~> 1.4"), ("hashicorp/random", "~> 3.6"))
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO, random),), required))
    shutil.copytree(folder / "live/prod", folder / "live/qa")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "another root")
    removing = {}
    for root in ("live/prod", "live/qa"):
        (folder / root / ".terraform.lock.hcl").write_bytes(lock_file(DEMO))
        git(folder, "commit", "-qam", "tidy")
        removing[root] = git(folder, "rev-parse", "--short=12", "HEAD")
    listed = "- Reusing previous version of acme/demo from the dependency lock file\n"
    listed += '- Finding hashicorp/random versions matching "~> 3.6"...\n'
    words = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    log = f"$ terraform init -lockfile=readonly\nInitializing provider plugins...\n{listed}\n"
    (folder / "ci.log").write_text(f"{log}Error: Provider dependency changes detected\n\n{words}\n", "utf-8")
    document = doctor(folder, "ci.log")
    cause, (fix,) = document["causes"][0], document["remedies"]
    assert (cause["id"], cause["verdict"], cause["roots"]) == ("not-locked", "yes", ["live/prod", "live/qa"])
    for root, commit in removing.items():
        assert re.search(f"\\(in {root}\\) [^;]*{root}/[^;]*commit {commit} of [^;]* removed it", cause["evidence"])
    run(fix["command"])
    assert doctor(folder, "ci.log")["state"] == "fixed"


def test_what_a_commit_tells_of_one_root_goes_before_a_guess_about_an_alike_one(made: Any, doctor: Any) -> None:
    """Without the registry, few locked packages are a guess: the release may have no more."""
    few = replace(DEMO, packed=("darwin_arm64", "linux_amd64"), unpacked=("darwin_arm64", "linux_amd64"))
    folder = made(SampleIncident("", ("none",), (lock_file(few),), (("acme/demo", "~> 1.4"),)))
    shutil.copytree(folder / "live/prod", folder / "live/qa")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "another root")
    before = git(folder, "rev-parse", "--short=12", "HEAD")
    one = replace(few, packed=("darwin_arm64",), unpacked=("darwin_arm64",))
    (folder / "live/qa/.terraform.lock.hcl").write_bytes(lock_file(one))
    git(folder, "commit", "-qam", "resolved")
    _refuse(folder, "1.4.2")
    document = doctor(folder, "--offline", "ci.log")
    assert document["errors"][0]["roots"] == ["live/prod", "live/qa"]
    (cause,) = (each for each in document["causes"] if each["verdict"] in {"yes", "likely"})
    assert (cause["id"], cause["roots"]) == ("platform-missing", ["live/qa"])
    commands = [one["command"] for one in document["remedies"]]
    assert f"locklens restore acme/demo --from {before} --root=live/qa" in commands
    assert all(one.endswith(" --root=live/qa") for one in commands)


def test_a_constraint_in_a_file_behind_a_link_has_the_author_of_that_file(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["constraint-conflict"])
    (folder / "common").mkdir()
    (folder / "live/prod/main.tf").rename(folder / "common/main.tf")
    (folder / "live/prod/main.tf").symlink_to("../../common/main.tf")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one file for all roots")
    out = " ".join(doctor(folder, "--format", "text", "--", "live/prod").split())
    commit = git(folder, "log", "-1", "--format=%h", "--abbrev=12", "--", "common/main.tf")
    assert re.search(f"REQUIRED live/prod/main.tf:[0-9]+: since commit {commit} of ", out)
    assert "not committed yet" not in out


def test_each_root_goes_to_a_version_that_its_own_constraints_allow(made: Any, doctor: Any) -> None:
    locked = lock_file(sample_entry("acme/demo", "1.5.0", "~> 1.4"))
    again = FaultRule(Fault.REPUBLISHED, provider="acme/demo", version="1.5.0")
    folder = made(replace(INCIDENTS["republished"], locks=(locked,), rules=(again,), copies=()))
    for name, constraint in (("live/a", "~> 2.0"), ("live/b", ">= 1.4")):
        (folder / name).mkdir()
        (folder / name / "main.tf").write_text(requires(("acme/demo", constraint)), "utf-8")
        (folder / name / ".terraform.lock.hcl").write_bytes(locked)
    words = (
        "Error while installing acme/demo v1.5.0: the current package for registry.terraform.io/acme/demo 1.5.0 doesn't "
        "match any of the checksums previously recorded in the dependency lock file"
    )
    (folder / "ci.log").write_text(boxed_log(("Failed to install provider", words)), "utf-8")
    document = doctor(folder, "ci.log")
    assert document["causes"][0]["id"] == "republished"
    assert [(one["id"], one["command"].partition(" acme/")[2]) for one in document["remedies"]] == [
        ("upgrade", "demo=1.4.2 --root=live/b --root=live/prod")
    ]


@pytest.mark.parametrize("is_committed", [False, True])
def test_hashes_of_a_republished_version_that_a_lock_added_are_said_to_be_why_init_passes(
    is_committed: bool, made: Any, doctor: Any
) -> None:
    folder = made(replace(INCIDENTS["republished"], copies=()))
    assert "init accepts" not in str(doctor(folder, "ci.log"))
    before = (folder / LOCK).read_text("utf-8")
    clone = folder.parent / "clone"  # of another person, whose writes are not known here
    shutil.copytree(folder, clone)
    run(f"locklens -C {shlex.quote(str(clone))} lock --no-cache --accept-republished acme/demo --root=live/prod")
    now = (clone / LOCK).read_text("utf-8")
    assert set(re.findall('zh:[^"]+', before)) < set(re.findall('zh:[^"]+', now))
    (folder / LOCK).write_text(now, "utf-8")
    if is_committed:
        git(folder, "commit", "-qam", "providers lock")
    document = doctor(folder, "ci.log")
    assert document["fixed"].startswith("the lock file has the hashes of today's acme/demo 1.4.2 beside those of")
    note = f"init passes only since {LOCK} has hashes of other packages of acme/demo 1.4.2, too: a review blocks that"
    assert any(one.startswith(note) for one in document["run"]["notes"])
    without = doctor(folder, "--", "live/prod")
    evidence = next(one["evidence"] for one in without["causes"] if one["id"] == "republished")
    commit = git(folder, "rev-parse", "--short=12", "HEAD").strip()
    who = f"commit {commit}" if is_committed else "a change that is not committed"
    added = f"{who} locks those of today beside them, which a review blocks (LK001)"
    assert f"{added}: init accepts the package of today now" in evidence


@pytest.mark.parametrize(("cause", "constraint", "options", "rules", "fix"), [
    ("platform-missing", "~> 3.9", ("--platform=freebsd_amd64",), (), ""),
    ("key-revoked", "~> 3.9", (), (FaultRule(Fault.REVOKED_KEY, "acme/netbox"),), "upgrade acme/netbox="),
    ("constraint-conflict", "~> 99.0", (), (), "upgrade acme/netbox="),
])  # fmt: skip
def test_a_version_that_cannot_be_locked_is_looked_up_before_it_is(
    cause: str,
    constraint: str,
    options: tuple[str, ...],
    rules: tuple[FaultRule, ...],
    fix: str,
    made: Any,
    doctor: Any,
) -> None:
    required = (("acme/demo", "~> 1.4"), ("acme/netbox", constraint))
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO),), required, rules=rules))
    document = doctor(folder, *options, "--", "live/prod")
    held = {one["id"] for one in document["causes"] if one["verdict"] == "yes" and one["provider"].endswith("netbox")}
    assert held == {"not-locked", cause}
    commands = [one["command"] or "" for one in document["remedies"]]
    assert not any(" lock " in one for one in commands)
    assert fix == "" or any(fix in one for one in commands)
    offline = doctor(folder, "--offline", "--", "live/prod")["causes"]
    unknown = {one["id"] for one in offline if one["verdict"] == "unknown"}
    assert {"platform-missing", "key-revoked", "constraint-conflict"} <= unknown


@pytest.mark.parametrize(("cause", "words"), [
    ("platform-missing", "init fails for another cause: acme/demo: the platform is not covered"),
    ("republished", "init may fail for another cause: acme/demo: the version was published again"),
])  # fmt: skip
def test_an_init_that_fails_for_another_cause_is_not_the_first_fix(
    cause: str, words: str, made: Any, doctor: Any
) -> None:
    folder = made(replace(INCIDENTS[cause], copies=()))
    (folder / "live/prod/.terraform/providers").mkdir(parents=True)
    options = "--platform=linux_amd64", "--", "live/prod"
    document = doctor(folder, "--prove=all", *options)
    held = {one["id"] for one in document["causes"] if one["verdict"] in {"yes", "likely"}}
    assert held == {"plugin-missing", cause}
    (late,) = (one for one in document["remedies"] if one["id"] == "reinstall")
    first = document["remedies"][0]
    assert first is not late
    assert late["note"].startswith(words)
    run(first["command"])
    os.chdir(folder)
    assert [(one["id"], one["note"]) for one in doctor(folder, *options)["remedies"]] == [("reinstall", None)]


@pytest.mark.parametrize("is_of_log", [True, False])
def test_providers_that_a_root_lacks_are_locked_by_one_command(is_of_log: bool, made: Any, doctor: Any) -> None:
    required = (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"), ("hashicorp/random", "~> 3.6"))
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO),), required))
    items = "".join(
        f"  - provider registry.terraform.io/{name}: required by this configuration but no version is selected\n"
        for name, _ in required[1:]
    )
    head = "Error: Inconsistent dependency lock file\n\nThe following dependency selections recorded in the lock file are\n"
    text = f"$ terraform -chdir=live/prod plan\n{head}inconsistent with the current configuration:\n{items}"
    (folder / "ci.log").write_text(text, "utf-8")
    words = ["ci.log"] if is_of_log else ["--", "live/prod"]
    (fix,) = (one for one in doctor(folder, *words)["remedies"] if one["id"] == "lock")
    title = "Lock acme/netbox, hashicorp/random, with the hashes of their signed releases"
    assert title in " ".join(doctor(folder, "--format", "text", *words).split())
    assert fix["command"].endswith(" acme/netbox hashicorp/random --root=live/prod")
    request = DoctorRequest((folder / "ci.log").read_bytes() if is_of_log else None, folder, os.environ, ("live/prod",))
    (write,) = (one.write for one in diagnose(request).remedies if one.id == "lock" and one.write is not None)
    assert write.providers == ("acme/netbox", "hashicorp/random")
    run(fix["command"])
    text = (folder / LOCK).read_text("utf-8")
    assert all(f'provider "registry.terraform.io/{name}"' in text for name, _ in required)
    if is_of_log:
        assert doctor(folder, "ci.log")["state"] == "fixed"


@pytest.mark.parametrize("is_committed", [False, True])
def test_the_lock_file_of_another_root_gives_way_to_the_own_one(made: Any, doctor: Any, *, is_committed: bool) -> None:
    """Else the entries of the other root are left, and a read-only init fails until prune."""
    netbox, own = sample_entry("acme/netbox", "3.9.1", "~> 3.9"), (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO, netbox),), own))
    before = git(folder, "rev-parse", "--short=12", "HEAD")
    (folder / LOCK).write_bytes(lock_file(DEMO, RANDOM))
    if is_committed:
        git(folder, "commit", "-qam", "copied")
    (fix,) = (one for one in doctor(folder, "--", "live/prod")["remedies"] if one["id"] == "restore-file")
    assert fix["command"] == f"git restore -s {before} -- {LOCK}"
    assert ("then commit the lock file" in fix["note"]) is is_committed
    subprocess.run(shlex.split(fix["command"]), check=True)
    assert (folder / LOCK).read_bytes() == lock_file(DEMO, netbox)


@pytest.mark.parametrize(("platform", "named"), [
    ("windows_amd64", []),
    ("linux_arm64", ["linux_arm64", "darwin_arm64", "windows_amd64"]),
])  # fmt: skip
def test_a_provider_is_locked_for_each_platform_that_the_policy_requires_at_once(
    platform: str, named: list[str], made: Any, doctor: Any
) -> None:
    required = ["darwin_arm64", "windows_amd64"]
    folder = made(
        SampleIncident("", ("none",), (lock_file(DEMO),), (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")))
    )
    (folder / "locklens.toml").write_text(f"platforms = {required}\n", "utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "policy")
    fixes = doctor(folder, "--platform", platform, "--", "live/prod")["remedies"]
    (fix,) = (one for one in fixes if one["id"] == "lock")
    options = [word for one in named for word in ("--platform", one)]
    assert fix["command"] == shlex.join(["locklens", "lock", *options, "acme/netbox", "--root=live/prod"])
    beside = f"{platform}, and for " if named else ""
    assert fix["note"].startswith(f"for {beside}darwin_arm64, windows_amd64, which the policy requires; ")
    request = DoctorRequest(None, folder, os.environ, ("live/prod",), platform=platform)
    diagnosis = diagnose(request)
    (write,) = (one.write for one in diagnosis.remedies if one.id == "lock" and one.write is not None)
    lock = remedy_operation(write, folder, request, diagnosis.policy)
    assert isinstance(lock, Lock)
    assert [*map(str, lock.platforms)] == (named or required)
    run(fix["command"])
    netbox = (folder / LOCK).read_text("utf-8").partition("acme/netbox")[2]
    assert netbox.count('"h1:') == len(named or required)


def test_hashes_of_the_signed_package_come_before_those_of_a_commit(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["h1-missing"]
    fixes = doctor(made(incident), *incident.options, "ci.log")["remedies"]
    assert [(one["id"], one["trust"]) for one in fixes] == [("lock-platform", "none"), ("restore-entry", "none")]
    assert not any("not known as signed" in (one["note"] or "") for one in fixes)


def lay_root(folder: Path, name: str, lock: bytes) -> None:
    """Adds a root that requires hashicorp/random, and locks it."""
    place = folder / "live" / name
    place.mkdir()
    (place / "main.tf").write_text(requires(("hashicorp/random", "~> 3.6")), "utf-8")
    (place / ".terraform.lock.hcl").write_bytes(lock)


RANDOM = sample_entry("hashicorp/random", "3.6.3", "~> 3.6")
OF_OPENTOFU = replace(RANDOM, provider=f"{OPENTOFU_HOST}/hashicorp/random")


@pytest.fixture
def both(made: Any) -> Path:
    """A repository in which each tool has a root with the same provider and version; returns its top."""
    folder: Path = made(SampleIncident("", ("none",), (lock_file(DEMO),)))
    lay_root(folder, "a-terraform", lock_file(RANDOM))
    lay_root(folder, "opentofu", lock_file(OF_OPENTOFU, dialect=OPENTOFU))
    return folder


ABSENT = (
    "Error: Required plugins are not installed\n\nThe installed provider plugins are not consistent:\n"
    "  - {0}/hashicorp/random: there is no package for {0}/hashicorp/random 3.6.3 cached in .terraform/providers\n\n"
)
NEXT = "OpenTofu uses external plugins. To download them, run:\n  tofu init\n"
MOVED = (
    "Warning: Dependency lock file entries automatically updated\n\nOpenTofu automatically rewrote some entries in your "
    "dependency lock file:\n  - registry.terraform.io/hashicorp/random => registry.opentofu.org/hashicorp/random\n\n"
)
NO_PROVIDER = (
    "Error: Failed to query available provider packages\n\nCould not retrieve the list of available versions for provider "
    "hashicorp/random: provider registry registry.opentofu.org does not have a provider named\n"
    "registry.opentofu.org/hashicorp/random\n"
)


@pytest.mark.parametrize(("log", "root"), [
    (ABSENT.format(OPENTOFU_HOST) + NEXT, "live/opentofu"),
    (ABSENT.format(TERRAFORM_HOST), "live/a-terraform"),
    (MOVED, "live/a-terraform"),
])  # fmt: skip
def test_a_log_of_a_tool_is_of_a_root_of_that_tool(log: str, root: str, both: Path, doctor: Any) -> None:
    (both / "run.log").write_text(log, "utf-8")
    document = doctor(both, "run.log")
    assert document["facts"]["root"] == root
    assert all(root in one["command"] for one in document["remedies"])
    if log == MOVED:
        assert document["causes"][0]["evidence"].endswith(f"locks {RANDOM.provider}")


@pytest.mark.parametrize("is_committed", [False, True])
def test_what_opentofu_wrote_is_shown_also_where_it_is_committed(
    both: Path, doctor: Any, *, is_committed: bool
) -> None:
    git(both, "add", "--all")
    git(both, "commit", "-qm", "roots")
    (both / "live/a-terraform/.terraform.lock.hcl").write_bytes(lock_file(OF_OPENTOFU, dialect=OPENTOFU))
    git(both, "add", "--all")  # a bare diff leaves out what is staged
    if is_committed:
        git(both, "commit", "-qm", "moved")
    (both / "run.log").write_text(f"$ tofu -chdir=live/a-terraform init\n{MOVED}", "utf-8")
    (fix,) = doctor(both, "run.log")["remedies"]
    shown = subprocess.run(shlex.split(fix["command"]), capture_output=True, check=False).stdout
    assert b"registry.opentofu.org" in shown
    title = f"Review what OpenTofu wrote{'' if is_committed else ', then commit it'}"
    assert f"  {title}\n" in doctor(both, "--format", "text", "run.log")


def test_a_root_of_the_other_tool_is_a_cause_of_its_own(both: Path, doctor: Any) -> None:
    shutil.rmtree(both / "live/opentofu")
    (both / "run.log").write_text(MOVED + MOVED + NO_PROVIDER, "utf-8")
    document = doctor(both, "run.log")
    first, causes = document["causes"][0], {one["id"]: one["verdict"] for one in document["causes"]}
    assert (document["facts"]["root"], first["id"], first["verdict"]) == ("live/a-terraform", "other-tool", "yes")
    assert causes["wrong-source"] == "no"
    use, name = document["remedies"]
    assert (use["id"], use["command"]) == ("use-tool", "terraform -chdir=live/a-terraform init")
    title = f'Write source = "{TERRAFORM_HOST}/hashicorp/random" by hand at live/a-terraform/main.tf:4'
    assert (name["id"], name["trust"]) == ("correct-source", "low")
    assert name["hint"] == "locklens why hashicorp/random --tool opentofu --root=live/a-terraform"
    out = doctor(both, "--format", "text", "run.log")
    assert title in " ".join(out.split())
    assert "VERDICT      OpenTofu ran in a root of Terraform. [CONFIRMED]" in out
    assert out.count("WARNING") == 1


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_source_with_the_host_of_the_registry_that_has_the_provider_ends_the_error_of_the_other_tool(
    both: Path, doctor: Any, *, is_committed: bool
) -> None:
    git(both, "add", "--all")
    git(both, "commit", "-qm", "roots")
    file, place = both / "live/a-terraform/main.tf", both / "live/a-terraform/.terraform.lock.hcl"
    file.write_text(
        file.read_text("utf-8").replace('"hashicorp/random', f'"{TERRAFORM_HOST}/hashicorp/random'), "utf-8"
    )
    place.write_bytes(lock_file(RANDOM, dialect=OPENTOFU))
    if is_committed:
        git(both, "commit", "-qam", "of OpenTofu")
    (both / "run.log").write_text(f"$ tofu -chdir=live/a-terraform init\n{NO_PROVIDER}", "utf-8")
    document = doctor(both, "run.log")
    assert document["fixed"] == f"nothing in live/a-terraform requires {OPENTOFU_HOST}/hashicorp/random any more"
    assert [one["command"] for one in document["remedies"]] == ["tofu -chdir=live/a-terraform init"]


def test_a_root_that_opentofu_wrote_is_not_called_one_of_terraform(both: Path, doctor: Any) -> None:
    (both / "live/a-terraform/.terraform.lock.hcl").write_bytes(lock_file(RANDOM, dialect=OPENTOFU))
    (both / "run.log").write_text(f"$ tofu -chdir=live/a-terraform init\n{NO_PROVIDER}", "utf-8")
    document = doctor(both, "run.log")
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("other-tool", "yes")
    assert "VERDICT      The lock file has the entry of the other tool's registry." in doctor(
        both, "--format", "text", "run.log"
    )
    assert first["evidence"].endswith("; OpenTofu wrote that file")
    assert [(one["id"], one["trust"]) for one in document["remedies"]] == [("correct-source", "none")]


def test_the_tool_that_wrote_a_lock_file_refuses_it_where_it_has_more_than_is_required(both: Path, doctor: Any) -> None:
    place = both / "live/opentofu/.terraform.lock.hcl"
    place.write_bytes(lock_file(RANDOM, DEMO))
    words = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    log = f"- Finding hashicorp/random versions matching\n\nError: Provider dependency changes detected\n\n{words}\n"
    (both / "ci.log").write_text(f"OpenTofu v1.12.6\n{log}", "utf-8")

    def note() -> Any:
        fixes = doctor(both, "--tool", "opentofu", "ci.log", "--", "live/opentofu")["remedies"]
        return next(one["note"] for one in fixes if one["id"] == "use-tool")

    assert note() == "acme/demo is not required: init fails with Terraform, too, until that is fixed"
    place.write_bytes(lock_file(RANDOM))
    assert note() is None


def test_an_entry_that_opentofu_takes_over_is_locked_and_no_matter_for_terraform(both: Path, doctor: Any) -> None:
    place = both / "live/a-terraform"
    for file in place.glob("*.tf"):
        file.rename(file.with_suffix(".tofu"))
    document = doctor(both, "--", "live/a-terraform")
    held = [one["id"] for one in document["causes"] if one["verdict"] in {"yes", "likely"}]
    assert held == ["other-tool"]
    assert [one["command"] for one in document["remedies"]] == [
        "locklens upgrade hashicorp/random --root=live/a-terraform"
    ]


NOT_LISTED = (
    "Error: Failed to resolve provider packages\n\nCould not resolve provider hashicorp/random: the previously-selected\n"
    "version {} is no longer available\n"
)


@pytest.mark.parametrize(("version", "certainty"), [("3.6.3", "likely"), ("3.7.2", "yes")])
def test_a_version_that_opentofu_takes_over_is_looked_up_in_its_own_registry(
    version: str, certainty: str, both: Path, doctor: Any
) -> None:
    place = both / "live/a-terraform"
    for file in place.glob("*.tf"):
        file.rename(file.with_suffix(".tofu"))
    lock = place / ".terraform.lock.hcl"
    lock.write_text(lock.read_text("utf-8").replace('"3.6.3"', f'"{version}"'), "utf-8")
    (both / "run.log").write_text(MOVED + NOT_LISTED.format(version), "utf-8")
    document = doctor(both, "run.log", "--", "live/a-terraform")
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("yanked", certainty)
    assert "registry.opentofu.org lists " in first["evidence"]
    commands = [one["command"] for one in document["remedies"]]
    assert ("tofu -chdir=live/a-terraform init" in commands) == (certainty == "likely")
    upgrades = [one for one in commands if one.startswith("locklens upgrade hashicorp/random")]
    assert certainty == "likely" or upgrades
    if certainty == "yes":
        run(upgrades[0])
        document = doctor(both, "run.log", "--", "live/a-terraform")
        assert document["state"] == "fixed"
        assert "no longer has hashicorp/random 3.7.2: 3.6.3 is locked" in document["fixed"]


def test_what_opentofu_met_in_a_root_of_terraform_is_its_own_registrys(made: Any, doctor: Any) -> None:
    rules = (FaultRule(Fault.WITHDRAWN, f"{OPENTOFU_HOST}/hashicorp/random", "3.6.3"),)
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO),), rules=rules))
    lay_root(folder, "mixed", lock_file(RANDOM))
    (folder / "run.log").write_text(f"$ tofu init\n{MOVED}{NOT_LISTED.format('3.6.3')}", "utf-8")
    document = doctor(folder, "run.log", "--", "live/mixed")
    held = {one["id"]: one["evidence"] for one in document["causes"] if one["verdict"] == "yes"}
    assert sorted(held) == ["other-tool", "yanked"]
    assert "registry.opentofu.org lists" in held["yanked"]
    assert "is of registry.terraform.io/hashicorp/random, and OpenTofu takes its version over" in held["other-tool"]
    assert "terraform -chdir=live/mixed init" in [one["command"] for one in document["remedies"]]


def test_where_the_wrong_tool_lacks_a_provider_no_other_version_of_another_one_is_offered(
    made: Any, doctor: Any
) -> None:
    gone = f"{OPENTOFU_HOST}/hashicorp/aws"
    rules = (FaultRule(Fault.WITHDRAWN, f"{OPENTOFU_HOST}/hashicorp/random", "3.6.3"), FaultRule(Fault.NOT_FOUND, gone))
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO),), rules=rules))
    aws = sample_entry("hashicorp/aws", "5.84.0", "~> 5.0")
    lay_root(folder, "mixed", lock_file(RANDOM, aws))
    both = requires(("hashicorp/random", "~> 3.6"), ("hashicorp/aws", "~> 5.0"))
    (folder / "live/mixed/main.tf").write_text(both, "utf-8")
    lacks = f"Could not retrieve the list of available versions for provider hashicorp/aws: provider registry {OPENTOFU_HOST}"
    lacks = f"Error: Failed to query available provider packages\n\n{lacks} does not have a provider named {gone}\n\n"
    moved = MOVED.replace("\n\nThe", f"\n  - {aws.provider} => {gone}\n\nThe", 1)
    (folder / "run.log").write_text(f"$ tofu init\n{moved}{lacks}{NOT_LISTED.format('3.6.3')}", "utf-8")
    document = doctor(folder, "run.log", "--", "live/mixed")
    held = {(one["id"], one["provider"]) for one in document["causes"] if one["verdict"] == "yes"}
    assert {one for one, _ in held} == {"other-tool", "yanked"}
    assert [one["command"] for one in document["remedies"]] == ["terraform -chdir=live/mixed init"]


@pytest.mark.parametrize("is_of_root", [True, False], ids=["own-version-before", "no-version-before"])
def test_equal_zh_that_both_registries_have_are_no_evidence_of_the_other_tool(
    both: Path, doctor: Any, *, is_of_root: bool
) -> None:
    """A version was raised by hand, and the hashes are of the one that this root had: its registry has them, too."""
    lock, other = (both / "live" / name / ".terraform.lock.hcl" for name in ("opentofu", "a-terraform"))
    old = lock_file(replace(OF_OPENTOFU, version="3.6.2"), dialect=OPENTOFU)
    other.write_bytes(old.replace(OPENTOFU_HOST.encode(), TERRAFORM_HOST.encode()))
    lock.write_bytes(old if is_of_root else old.replace(b"3.6.2", b"3.6.3"))
    git(both, "add", "--all")
    git(both, "commit", "-qm", "two tools")
    lock.write_bytes(old.replace(b"3.6.2", b"3.6.3"))
    words = (
        "Error while installing hashicorp/random v3.6.3: the current package for registry.opentofu.org/hashicorp/random "
        "3.6.3 doesn't match any of the checksums previously recorded in the dependency lock file"
    )
    (both / "ci.log").write_text(boxed_log(("Failed to install provider", words)), "utf-8")
    document = doctor(both, "--offline", "--tool", "opentofu", "ci.log", "--", "live/opentofu")
    found = {one["id"]: one for one in document["causes"] if one["id"] in {"hand-edit", "other-tool"}}
    assert found["other-tool"]["verdict"] == ("unknown" if is_of_root else "likely")
    assert found["hand-edit"]["verdict"] == ("yes" if is_of_root else "unknown")
    same = "live/a-terraform/.terraform.lock.hcl locks the same 5 zh of packages for registry.terraform.io/hashicorp/random"
    assert is_of_root or found["other-tool"]["evidence"] == f"{same} 3.6.2"


def test_of_what_opentofu_takes_over_the_fixes_that_write_alone_cost_new_hashes(both: Path, doctor: Any) -> None:
    words = f'could not query provider registry for {OPENTOFU_HOST}/hashicorp/random: the request failed: Get "https://{OPENTOFU_HOST}'
    words += '/v1/providers/hashicorp/random/3.6.3/download/linux/amd64": dial tcp 192.0.2.1:443: connect: connection refused'
    log = boxed_log(("Failed to install provider", f"Error while installing hashicorp/random v3.6.3: {words}"))
    (both / "run.log").write_text(f"$ tofu init\n{MOVED}{log}", "utf-8")
    document = doctor(both, "--offline", "--tool", "opentofu", "run.log", "--", "live/a-terraform")
    assert {one["id"]: one["trust"] for one in document["remedies"]} == {"retry": "low", "test-registry": "none"}


def test_what_terraform_installed_is_judged_by_its_own_registry_whatever_opentofu_locked(
    made: Any, doctor: Any
) -> None:
    rule = FaultRule(Fault.UNKNOWN_ISSUER, f"{TERRAFORM_HOST}/hashicorp/random")
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO),), rules=(rule,)))
    lay_root(folder, "mixed", lock_file(OF_OPENTOFU, dialect=OPENTOFU))
    words = "Error while installing hashicorp/random v3.6.3: authentication signature from unknown issuer"
    (folder / "run.log").write_text(f"$ terraform init\n{boxed_log(('Failed to install provider', words))}", "utf-8")
    document = doctor(folder, "run.log", "--", "live/mixed")
    assert [one["id"] for one in document["causes"] if one["verdict"] == "yes"] == ["other-tool", "key-changed"]
    changed = document["causes"][1]
    assert changed["provider"] == f"{TERRAFORM_HOST}/hashicorp/random"
    assert "does not list" in changed["evidence"]


ISSUER = (
    "Failed to install provider",
    "Error while installing hashicorp/random v3.6.3: authentication signature from unknown issuer",
)
NONE_LISTED = (
    "Failed to query available provider packages",
    "Could not retrieve the list of available versions for provider hashicorp/random: no available releases match the given constraints ~> 3.6",
)


@pytest.mark.parametrize("message", [ISSUER, NONE_LISTED])
def test_what_terraform_met_in_a_root_of_opentofu_is_first_left_to_opentofu(
    message: tuple[str, str], both: Path, doctor: Any
) -> None:
    listed = '- Finding hashicorp/random versions matching "~> 3.6"...\nIf you\'d like to know more about provider signing, you can read about it here:\n'
    page = "https://developer.hashicorp.com/terraform/cli/plugins/signing\n"  # alone tells the tool
    (both / "run.log").write_text(f"{listed}{page}{boxed_log(message)}", "utf-8")
    document = doctor(both, "run.log", "--", "live/opentofu")
    assert document["facts"]["tool"] == "terraform"
    (held,) = [one for one in document["causes"] if one["id"] == "other-tool"]
    words = f"live/opentofu/.terraform.lock.hcl:4 locks {OPENTOFU_HOST}/hashicorp/random, and "
    assert (held["verdict"], held["evidence"]) == ("yes", f"{words}{TERRAFORM_HOST}/hashicorp/random is required")
    first = document["remedies"][0]
    assert (first["command"], first["trust"]) == ("tofu -chdir=live/opentofu init", "none")
    assert "Terraform ran in a root of OpenTofu" in " ".join(doctor(both, "--format", "text", "run.log").split())


@pytest.mark.parametrize("suffix", [".tf", ".tofu"])
def test_a_constraint_that_excludes_what_opentofu_takes_over_is_the_cause(suffix: str, both: Path, doctor: Any) -> None:
    for file in (both / "live/a-terraform").glob("*.tf"):
        file.write_text(file.read_text("utf-8").replace("~> 3.6", "~> 3.5.0"), "utf-8")
        file.rename(file.with_suffix(suffix))
    locked = (
        f"locked provider {OPENTOFU_HOST}/hashicorp/random 3.6.3 does not match configured version constraint ~> 3.5.0"
    )
    words = f"Error: Failed to resolve provider packages\n\nCould not resolve provider hashicorp/random: {locked};\n"
    (both / "run.log").write_text(
        f"$ tofu init\n{MOVED}{words}must use tofu init -upgrade to allow selection of new versions\n", "utf-8"
    )
    document = doctor(both, "run.log", "--", "live/a-terraform")
    assert [one["id"] for one in document["causes"] if one["verdict"] == "yes"] == ["constraint-conflict"]
    assert document["causes"][0]["evidence"].startswith("3.6.3 does not satisfy ~> 3.5.0")


def test_before_init_an_entry_that_opentofu_takes_over_lacks_its_package_alone(both: Path, doctor: Any) -> None:
    for file in (both / "live/a-terraform").glob("*.tf"):
        file.rename(file.with_suffix(".tofu"))
    (both / "run.log").write_text(f"$ tofu plan\n{ABSENT.format(TERRAFORM_HOST)}{NEXT}", "utf-8")
    document = doctor(both, "run.log", "--", "live/a-terraform")
    assert [one["id"] for one in document["causes"] if one["verdict"] in {"yes", "likely"}] == ["plugin-missing"]
    fix = document["remedies"][0]
    assert (fix["command"], fix["trust"]) == ("locklens init --root=live/a-terraform", "low")


def test_a_log_of_one_tool_in_a_root_of_the_other(both: Path, doctor: Any) -> None:
    words = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    log = f"- Finding hashicorp/random versions matching\n\nError: Provider dependency changes detected\n\n{words}\n"
    (both / "ci.log").write_text(f"Terraform v1.11.4\n{log}", "utf-8")
    document = doctor(both, "ci.log", "--", "live/opentofu")
    assert [one["id"] for one in document["causes"] if one["verdict"] == "yes"][:2] == ["other-tool", "not-locked"]
    locks = [one["command"] for one in document["remedies"] if one["id"] == "lock"]
    assert locks == ["locklens lock hashicorp/random --tool terraform --root=live/opentofu"]
    (use,) = [one for one in document["remedies"] if one["id"] == "use-tool"]
    assert (use["command"], use["trust"]) == ("tofu -chdir=live/opentofu init -lockfile=readonly", "none")
    prune = "locklens prune --tool terraform --root=live/opentofu"
    words = f"a read-only init fails until {prune} has removed what nothing requires: {OPENTOFU_HOST}/hashicorp/random"
    out = " ".join(doctor(both, "--format", "text", "ci.log", "--", "live/opentofu").split())
    assert words in out
    assert "The lock file has the entry of the other tool's registry, and the provider is not locked." in out
    run(locks[0])
    commands = [one["command"] for one in doctor(both, "--", "live/opentofu")["remedies"]]
    assert commands == ["locklens prune registry.opentofu.org/hashicorp/random --tool terraform --root=live/opentofu"]
    run(prune)
    assert doctor(both, "ci.log", "--", "live/opentofu")["fixed"]
    assert '"registry.terraform.io/hashicorp/random"' in (both / "live/opentofu/.terraform.lock.hcl").read_text("utf-8")


def _refused(command: str, host: str, ran: str) -> str:
    """Return what a tool writes without an entry of its own registry."""
    if command == "plan":
        item = f"  - provider {host}/hashicorp/random: required by this configuration but no version is selected"
        words = "The following dependency selections recorded in the lock file are\ninconsistent with the current configuration:"
        advice = (
            f"To update the locked dependency selections to match a changed configuration,\nrun:\n  {ran} init -upgrade"
        )
        return f"\nError: Inconsistent dependency lock file\n\n{words}\n{item}\n\n{advice}\n"
    if command == "validate":
        words = f"This configuration requires provider {host}/hashicorp/random,\nbut that provider isn't available."
        advice = f"You may be able to install it automatically by running:\n  {ran} init"
        return f"\nError: Missing required provider\n\n{words} {advice}\n"
    words = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    advice = f'To use and record these requirements, run "{ran} init" without the "-lockfile=readonly" flag.'
    return f"\nError: Provider dependency changes detected\n\n{words} {advice}\n"


@pytest.mark.parametrize("command", ["init -lockfile=readonly", "plan", "validate"])
@pytest.mark.parametrize(("root", "host", "ran", "writer"), [
    ("live/opentofu", TERRAFORM_HOST, "terraform", "tofu"),
    ("live/a-terraform", OPENTOFU_HOST, "tofu", "terraform"),
])  # fmt: skip
def test_each_command_of_one_tool_refuses_the_lock_file_of_the_other(
    command: str, root: str, host: str, ran: str, writer: str, both: Path, doctor: Any
) -> None:
    (both / "ci.log").write_text(f"$ {ran} -chdir={root} {command}\n{_refused(command, host, ran)}", "utf-8")
    document = doctor(both, "ci.log")
    held = [(one["id"], one["provider"]) for one in document["causes"] if one["verdict"] == "yes"]
    assert held[:2] == [(one, f"{host}/hashicorp/random") for one in ("other-tool", "not-locked")]
    assert (document["fixed"], document["facts"]["root"]) == (None, root)
    (use,) = [one["command"] for one in document["remedies"] if one["id"] == "use-tool"]
    assert use.startswith(f"{writer} -chdir={root} init")
    (lock,) = [one["command"] for one in document["remedies"] if one["id"] == "lock"]
    assert "another commit" not in doctor(both, "--format", "text", "ci.log")
    assert not any(one["id"] == "reinstall" for one in document["remedies"])
    run(lock)
    document = doctor(both, "ci.log")
    if command != "init -lockfile=readonly":
        assert document["fixed"]


@pytest.mark.parametrize(("root", "host", "ran", "writer", "kept"), [
    ("live/opentofu", OPENTOFU_HOST, "terraform", "tofu", "locks what its own registry has today"),
    ("live/a-terraform", TERRAFORM_HOST, "tofu", "terraform", "moves the entries of Terraform's registry to its own"),
])  # fmt: skip
def test_what_is_not_installed_is_the_locked_package_whichever_tool_ran(
    root: str, host: str, ran: str, writer: str, kept: str, both: Path, doctor: Any
) -> None:
    advice = NEXT if ran == "tofu" else NEXT.replace("OpenTofu", "Terraform").replace("tofu", "terraform")
    (both / "ci.log").write_text(f"$ {ran} -chdir={root} apply\n{ABSENT.format(host)}{advice}", "utf-8")
    document = doctor(both, "ci.log")
    held = [(one["id"], one["provider"]) for one in document["causes"] if one["verdict"] in {"yes", "likely"}]
    assert held == [(one, f"{host}/hashicorp/random") for one in ("plugin-missing", "other-tool")]
    use, init = sorted(document["remedies"], key=lambda one: one["id"] != "use-tool")
    assert (use["command"], use["trust"]) == (f"{writer} -chdir={root} init", "none")
    tool = "opentofu" if ran == "tofu" else ran
    assert (init["command"], init["trust"]) == (f"locklens init --tool {tool} --root={root}", "low")
    assert kept in init["note"]
    run(init["command"])
    assert doctor(both, "ci.log")["state"] == "fixed"


@pytest.mark.parametrize("command", ["init -lockfile=readonly", "plan", "apply"])
@pytest.mark.parametrize(("root", "ran", "gone", "file", "doubt"), [
    ("live/opentofu", "terraform", "", "", "Terraform wrote 2 other lock files of the repository, and OpenTofu none"),
    ("live/opentofu", "terraform", "live", "", ""),
    ("live/a-terraform", "tofu", "", "", ""),
    ("live/a-terraform", "tofu", "live/prod", "", "OpenTofu wrote 1 other lock file of the repository, and Terraform none"),
    ("live/a-terraform", "tofu", "live/opentofu", "more.tofu", "Terraform does not read live/a-terraform/more.tofu"),
    ("live/opentofu", "terraform", "live", "more.tofu", ""),
])  # fmt: skip
def test_where_the_repository_speaks_for_the_tool_that_ran_the_other_one_follows_fixes_after_which_init_passes(
    root: str, ran: str, gone: str, file: str, doubt: str, command: str, both: Path, doctor: Any
) -> None:
    for place in (both / gone).rglob("*.lock.hcl") if gone else ():
        if place.parent != both / root:
            place.unlink()
    if file:
        (both / root / file).write_text("locals {}\n", "utf-8")
    own, other = (TERRAFORM_HOST, OPENTOFU_HOST) if ran == "terraform" else (OPENTOFU_HOST, TERRAFORM_HOST)
    advice = NEXT if ran == "tofu" else NEXT.replace("OpenTofu", "Terraform").replace("tofu", "terraform")
    said = f"{ABSENT.format(other)}{advice}" if command == "apply" else _refused(command, own, ran)
    (both / "ci.log").write_text(f"$ {ran} -chdir={root} {command}\n{said}", "utf-8")
    fixes = doctor(both, "ci.log")["remedies"]
    number, use = next((number, one) for number, one in enumerate(fixes) if one["id"] == "use-tool")
    is_ended = "readonly" not in command or "does not read" in doubt  # else prune has to follow lock
    assert (number, use["note"] or "") == (len(fixes) - 1 if doubt and is_ended else 0, doubt)
    assert len(fixes) == 2


@pytest.mark.parametrize("is_committed", [False, True], ids=["edited", "committed"])
@pytest.mark.parametrize("command", ["init -lockfile=readonly", "plan", "apply"])
def test_a_lock_file_that_the_other_tool_wrote_once_is_restored_before_that_tool_is_used(
    command: str, both: Path, doctor: Any, *, is_committed: bool
) -> None:
    """Not where that tool wrote it twice, as after a move of the root to it, nor for an entry that is excluded now."""
    lock = both / "live/opentofu/.terraform.lock.hcl"
    older = lock_file(replace(OF_OPENTOFU, version="3.6.2"), dialect=OPENTOFU)
    for text in (older, lock_file(OF_OPENTOFU, dialect=OPENTOFU)):
        lock.write_bytes(text)
        git(both, "add", "--all")
        git(both, "commit", "-qm", "by tofu")
    commit = git(both, "rev-parse", "HEAD")[:12]
    lock.write_bytes(lock_file(RANDOM))
    if is_committed:
        git(both, "commit", "-qam", "by terraform")
    said = f"{ABSENT.format(TERRAFORM_HOST)}{NEXT}" if command == "apply" else _refused(command, OPENTOFU_HOST, "tofu")
    (both / "ci.log").write_text(f"$ tofu -chdir=live/opentofu {command}\n{said}", "utf-8")

    def fixes() -> list[tuple[str, str]]:
        found = [(one["id"], one["note"] or "") for one in doctor(both, "ci.log")["remedies"]]
        return [one for one in found if one[0] in {"restore-file", "use-tool"}]

    until = f"OpenTofu wrote the lock file in each commit until {commit}"
    lost = "all that was changed in the file since then is lost"
    whole = ("restore-file", f"{lost}; then commit the lock file")
    assert fixes() == [whole, ("use-tool", until)]
    commands = [one["command"] for one in doctor(both, "ci.log")["remedies"]]
    place = commands.index(f"git restore -s {commit} -- live/opentofu/.terraform.lock.hcl")
    assert place == 0 or command == "apply", "to install what is not installed comes first"
    (both / "live/opentofu/main.tf").write_text(requires(("hashicorp/random", "~> 3.5.0")), "utf-8")
    assert "init fails with hashicorp/random 3.6.3" in dict(fixes())["restore-file"]
    lock.write_bytes(lock.read_bytes() + b"# again\n")
    git(both, "commit", "-qam", "by terraform, again")
    lock.write_bytes(lock_file(RANDOM))
    git(both, "commit", "-q", "--allow-empty", "-am", "and again")
    assert [name for name, _ in fixes()] == ["use-tool"]


@pytest.mark.parametrize(("root", "host", "ran", "fixes"), [
    ("live/a-terraform", TERRAFORM_HOST, "tofu", [
        ("locklens upgrade hashicorp/random --tool opentofu --root=live/a-terraform", False),
        ("terraform -chdir=live/a-terraform init", True),
        ("locklens init --tool opentofu --root=live/a-terraform", True),
    ]),
    ("live/opentofu", OPENTOFU_HOST, "terraform", [
        ("locklens init --tool terraform --root=live/opentofu", False),
        ("tofu -chdir=live/opentofu init", True),
    ]),
    ("live/a-terraform", TERRAFORM_HOST, "terraform", [
        ("locklens upgrade hashicorp/random --root=live/a-terraform", False),
        ("locklens init --root=live/a-terraform", True),
    ]),
])  # fmt: skip
def test_a_fix_after_which_init_refuses_the_locked_version_comes_last_and_says_so(
    root: str, host: str, ran: str, fixes: list[tuple[str, bool]], both: Path, doctor: Any
) -> None:
    file = both / root / "main.tf"
    file.write_text(file.read_text("utf-8").replace("~> 3.6", "3.7.2"), "utf-8")
    advice = NEXT if ran == "tofu" else NEXT.replace("OpenTofu", "Terraform").replace("tofu", "terraform")
    (both / "ci.log").write_text(f"$ {ran} -chdir={root} plan\n{ABSENT.format(host)}{advice}", "utf-8")
    document = doctor(both, "ci.log")
    words = "main.tf:5 requires 3.7.2: init fails with hashicorp/random 3.6.3"
    given = [(one["command"], words in (one["note"] or "")) for one in document["remedies"]]
    assert [one for one in given if one in fixes] == fixes
    assert given[-1] == fixes[-1]
    held = [one["id"] for one in document["causes"] if one["verdict"] == "yes"]
    assert ("constraint-conflict" in held) == (root == "live/a-terraform")


def test_a_version_that_the_constraints_exclude_is_not_locked_for_the_other_tool_either(
    both: Path, doctor: Any
) -> None:
    file = both / "live/a-terraform/main.tf"
    file.write_text(file.read_text("utf-8").replace("~> 3.6", "3.7.2"), "utf-8")
    log = _refused("plan", OPENTOFU_HOST, "tofu")
    (both / "ci.log").write_text(f"$ tofu -chdir=live/a-terraform plan\n{log}", "utf-8")
    fixes = doctor(both, "ci.log")["remedies"]
    assert not any(one["id"] == "lock" for one in fixes)
    words = "--edit-constraints --tool opentofu --root=live/a-terraform"  # its registry has no other version
    assert (fixes[0]["command"], fixes[0]["trust"]) == (f"locklens upgrade hashicorp/random=3.6.3 {words}", "low")
    assert fixes[-1]["id"] == "use-tool"
    assert "init fails with hashicorp/random 3.6.3" in fixes[-1]["note"]
    run(fixes[0]["command"])
    assert doctor(both, "ci.log")["state"] == "fixed"


def test_packages_of_the_other_tool_are_not_those_that_the_next_run_needs(both: Path, doctor: Any) -> None:
    (both / "ci.log").write_text(f"$ tofu -chdir=live/a-terraform plan\n{ABSENT.format(TERRAFORM_HOST)}{NEXT}", "utf-8")
    assert doctor(both, "ci.log")["state"] == "open"
    run("locklens init --tool terraform --root=live/a-terraform")
    assert doctor(both, "ci.log")["state"] == "open"


@pytest.mark.parametrize("is_read", [True, False])
def test_a_log_lists_each_provider_of_a_root_before_init(both: Path, doctor: Any, *, is_read: bool) -> None:
    lay_root(both, "b-more", lock_file(RANDOM, DEMO))
    (both / "run.log").write_text(f"$ terraform plan\n{ABSENT.format(TERRAFORM_HOST)}", "utf-8")
    assert doctor(both, "run.log")["facts"]["root"] == "live/a-terraform"
    lay_root(both, "c-equal", lock_file(RANDOM))
    if not is_read:
        (both / "live/a-terraform/main.tf").rename(both / "live/a-terraform/main.tofu")
    document = doctor(both, "run.log")
    held = {one["id"]: one["roots"] for one in document["causes"] if one["verdict"] in {"yes", "likely"}}
    equal = ["live/a-terraform", "live/c-equal"]
    assert held == {"plugin-missing": equal} | ({} if is_read else {"other-tool": equal[:1]})
    commands = [one["command"] for one in document["remedies"]]
    of_tofu = ["tofu -chdir=live/a-terraform init"]
    assert commands == (["locklens init --root=ROOT"] if is_read else ["locklens init --root=live/c-equal", *of_tofu])


def test_a_short_source_is_required_in_the_registry_of_whichever_tool_runs(both: Path, doctor: Any) -> None:
    log = _refused("plan", TERRAFORM_HOST, "terraform").partition("\nTo update")[0]
    (both / "ci.log").write_text(log, "utf-8")  # cut off before the words that tell the tool
    document = doctor(both, "ci.log", "--", "live/opentofu")
    verdicts = {one["id"]: one["verdict"] for one in document["causes"]}
    assert (document["fixed"], verdicts["other-tool"], verdicts["not-locked"]) == (None, "likely", "yes")
    out = doctor(both, "--format", "text", "ci.log", "--", "live/opentofu")
    assert "read as OpenTofu reads it, live/opentofu requires registry.opentofu.org/hashicorp/random" in " ".join(
        out.split()
    )
    assert "another commit" not in out


def test_the_entries_that_opentofu_takes_the_versions_of_are_not_pruned_before_it_has_them(
    both: Path, doctor: Any
) -> None:
    lock = both / "live/a-terraform/.terraform.lock.hcl"
    lock.write_bytes(lock_file(RANDOM, DEMO))
    words = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    head = "OpenTofu v1.12.6\n- Reusing previous version of hashicorp/random from the dependency lock file\n\n"
    (both / "ci.log").write_text(f"{head}Error: Provider dependency changes detected\n\n{words}\n", "utf-8")
    given = "ci.log", "--", "live/a-terraform"
    document = doctor(both, *given)
    held = [(one["id"], one["provider"]) for one in document["causes"] if one["verdict"] == "yes"]
    random = f"{OPENTOFU_HOST}/hashicorp/random"
    orphan = ("not-required", f"{TERRAFORM_HOST}/acme/demo")
    assert held == [orphan, ("other-tool", random), ("not-locked", random)], "the run's own lines tell of the orphan"
    prunes = [one["command"] for one in document["remedies"] if one["id"] == "prune"]
    assert [TERRAFORM_HOST + "/acme/demo" in one for one in prunes] == [True], "that alone is of no use"
    (fix,) = [one for one in document["remedies"] if one["id"] == "lock"]
    rest = "locklens prune --tool opentofu --root=live/a-terraform"
    assert f"{rest} has removed what nothing requires: {TERRAFORM_HOST}/hashicorp/random;" in fix["note"]
    assert fix["note"].endswith(f"{TERRAFORM_HOST}/acme/demo needs another fix")
    for command in (*prunes, fix["command"], rest):
        run(command)
    assert (random in lock.read_text("utf-8"), '"3.6.3"' in lock.read_text("utf-8")) == (True, True), "not 3.7.2"
    assert doctor(both, *given)["fixed"]


CLOUDFLARE = sample_entry("cloudflare/cloudflare", "4.52.0", "~> 4.52")
LOCKED = {
    "terraform": lock_file(RANDOM, CLOUDFLARE),
    "tofu": lock_file(
        *(replace(one, provider=one.provider.replace(TERRAFORM_HOST, OPENTOFU_HOST)) for one in (RANDOM, CLOUDFLARE)),
        dialect=OPENTOFU,
    ),
}


@pytest.mark.parametrize("was", ["", "tofu"], ids=["always-terraform", "first-tofu"])
def test_a_run_of_opentofu_lacks_the_providers_whose_version_it_takes_over_and_the_others(
    was: str, both: Path, doctor: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    root = both / "live/a-terraform"
    (root / "main.tf").write_text(requires(("hashicorp/random", "~> 3.6"), ("cloudflare/cloudflare", "~> 4.52")))
    for tool in filter(None, (was, "terraform")):
        (root / ".terraform.lock.hcl").write_bytes(LOCKED[tool])
        git(both, "add", "--all")
        git(both, "commit", "-qm", tool)
    lines = (
        "- Reusing previous version of hashicorp/random from the dependency lock file\n"
        '- Finding cloudflare/cloudflare versions matching "~> 4.52"...\n\n'
    )
    log = f"$ tofu -chdir=live/a-terraform init -lockfile=readonly\n{lines}{MOVED}"
    (both / "ci.log").write_text(f"{log}{_refused('init', OPENTOFU_HOST, 'tofu')}", "utf-8")
    document = doctor(both, "ci.log")
    names = [f"{OPENTOFU_HOST}/cloudflare/cloudflare", f"{OPENTOFU_HOST}/hashicorp/random"]
    held = [(one["id"], one["provider"]) for one in document["causes"] if one["verdict"] == "yes"]
    assert held == [(cause, name) for cause in ("other-tool", "not-locked") for name in names]
    fixes = [one for one in document["remedies"] if one["id"] != "use-tool"]
    whole = ["restore-file"] if was else []
    assert [one["id"] for one in fixes] == [*whole, *(["restore-entry"] if was else []), "lock"]
    if whole:
        subprocess.run(shlex.split(fixes[0]["command"]), check=True)
        assert doctor(both, "ci.log")["fixed"]
    for fix in fixes[len(whole) :]:
        git(both, "checkout", "-q", "--", str(root))
        until, _, told = fix["note"].partition(";")[0].partition(" has removed what nothing requires: ")
        run(fix["command"])
        assert (told == "") is (fix["id"] == "restore-entry")  # which replaces the entries of the other registry
        if told:
            capsys.readouterr()
            run(until.removeprefix("a read-only init fails until "))
            assert re.findall(r": (\S+) \S+ is removed", capsys.readouterr().out) == told.split(", ")
        written = (root / ".terraform.lock.hcl").read_text("utf-8")
        assert (re.findall('^provider "(.*)" {', written, re.MULTILINE), written.count("hashes =")) == (names, 2)
        assert doctor(both, "ci.log")["fixed"]


def test_an_entry_without_hashes_that_opentofu_may_have_written_is_not_said_to_be_edited(
    both: Path, doctor: Any
) -> None:
    """`tofu providers lock` writes one where it takes over the version of Terraform's entry."""
    lock = both / "live/opentofu/.terraform.lock.hcl"
    git(both, "add", "--all")
    git(both, "commit", "-qm", "roots")
    lock.write_bytes(re.sub(rb"  hashes = \[.*?\]\n", b"", lock.read_bytes(), flags=re.DOTALL))
    for path in ("direct", "filesystem-mirror"):
        document = doctor(both, "--install-path", path, "--", "live/opentofu")
        verdicts = {one["id"]: one["verdict"] for one in document["causes"]}
        assert (verdicts["h1-missing"], verdicts["hand-edit"]) == ("yes", "unknown")
        assert "has no hash, so that init accepts any package" in document["causes"][0]["evidence"]
    run(document["remedies"][0]["command"])
    assert "hashes = [" in lock.read_text("utf-8")


def test_entries_that_were_renamed_are_not_those_of_the_tool_that_wrote_the_file(both: Path, doctor: Any) -> None:
    place = both / "live/opentofu/.terraform.lock.hcl"
    place.write_bytes(lock_file(RANDOM).replace(TERRAFORM_HOST.encode(), OPENTOFU_HOST.encode()))
    words = (
        "Error while installing hashicorp/random v3.6.3: the current package for registry.opentofu.org/hashicorp/random "
        "3.6.3 doesn't match any of the checksums previously recorded in the dependency lock file"
    )
    (both / "ci.log").write_text(f"OpenTofu v1.12.6\n\nError: Failed to install provider\n\n{words}\n", "utf-8")
    document = doctor(both, "--offline", "ci.log", "--", "live/opentofu")
    found = {one["id"]: (one["command"], one["trust"]) for one in document["remedies"]}
    assert found["use-tool"] == ("terraform -chdir=live/opentofu init", "low")
    out = " ".join(doctor(both, "--offline", "--format", "text", "ci.log", "--", "live/opentofu").split())
    assert f"Terraform locks what {TERRAFORM_HOST} has today: entries of another host do not count there" in out
    assert "where no newer version than 3.6.3 can be selected, it goes back to an older one, or changes nothing" in out


def test_a_root_whose_constraints_exclude_an_older_version_does_not_go_back_to_it(made: Any, doctor: Any) -> None:
    constraints = (("acme/demo", "~> 1.3"), ("hashicorp/random", ">= 3.0"))
    newest = replace(INCIDENTS["key-changed"], locks=(lock_file(NEWER),), constraints=constraints)
    folder = made(replace(newest, rules=(FaultRule(Fault.UNKNOWN_ISSUER, NEWER.provider, NEWER.version),)))
    shutil.copytree(folder / "live/prod", folder / "live/other")
    other = folder / "live/other/main.tf"
    other.write_text(other.read_text("utf-8").replace("~> 1.3", "~> 1.5").replace("random", "null"), "utf-8")
    log = (folder / "ci.log").read_text("utf-8").replace("1.4.2", "1.5.0")
    listed = "Initializing provider plugins...\n" + "".join(
        f"- Reusing previous version of {name} from the dependency lock file\n" for name, _ in constraints
    )
    (folder / "ci.log").write_text(listed + log, "utf-8")
    (fix,) = (one for one in doctor(folder, "ci.log")["remedies"] if "=1.4.2" in one["command"])
    assert fix["command"] == "locklens upgrade acme/demo=1.4.2 --root=live/prod"
    assert "live/other needs another fix: its constraints differ, or could not be read" in fix["note"]


def test_an_entry_is_restored_in_the_roots_whose_constraints_allow_it(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["hand-edit"])
    shutil.copytree(folder / "live/prod", folder / "live/other")
    other = folder / "live/other/main.tf"
    other.write_text(re.sub(r'(netbox"\s+version\s+= ")[^"]*', r"\g<1>>= 3.10", other.read_text("utf-8")), "utf-8")
    (fix,) = (
        one for one in doctor(folder, "--", "live/prod", "live/other")["remedies"] if one["id"] == "restore-entry"
    )
    assert fix["command"].endswith(" --root=live/prod")
    assert "acme/netbox=3.10.0 --root=live/prod writes" in fix["note"]
    assert "live/other needs another fix: its constraints differ, or could not be read" in fix["note"]


@pytest.mark.parametrize(("steps", "fixes", "left"), [
    ((("", "prod"), ("", "other"), ("mac", "prod", "other")), [("1", "other", "prod")], ""),
    ((("", "prod", "other"), ("mac", "other"), ("mac", "prod")), [("0", "other", "prod")], ""),
    ((("", "prod", "other"), ("mac", "other"), ("", "third"), ("mac", "prod", "third")), [("0", "other", "prod"), ("2", "third")], ""),
    ((("", "prod"), ("mac", "prod"), ("", "other"), ("mac", "other")), [("0", "prod")], "live/other"),
    ((("", "prod"), ("mac", "prod"), ("mac", "other")), [("0", "prod")], "live/other"),
])  # fmt: skip
def test_an_entry_is_restored_from_a_commit_in_which_the_root_s_own_file_has_it(
    steps: tuple[tuple[str, ...], ...], fixes: list[tuple[str, ...]], left: str, made: Any, doctor: Any
) -> None:
    mac = lock_file(replace(DEMO, unpacked=("darwin_arm64",), packed=("darwin_arm64",)))
    folder = made(INCIDENTS["platform-missing"])
    git(folder, "update-ref", "-d", "HEAD")  # its history begins anew
    commits = []
    for lock, *names in steps:
        for name in names:
            place = folder / "live" / name
            place.mkdir(exist_ok=True)
            (place / "main.tf").write_text(requires(("acme/demo", "~> 1.4")), "utf-8")
            (place / ".terraform.lock.hcl").write_bytes(mac if lock else lock_file(DEMO))
            git(folder, "add", "--", place.relative_to(folder).as_posix())
        git(folder, "commit", "-qm", f"{lock} {names}")
        commits.append(git(folder, "rev-parse", "HEAD").strip()[:12])
    names = sorted({name for _, *names in steps for name in names})
    log = (folder / "ci.log").read_text("utf-8")
    (folder / "ci.log").write_text(f"$ terraform -chdir=live/prod init\n{log}", "utf-8")
    document = doctor(folder, "--platform", "linux_amd64", "ci.log")
    restored = [one for one in document["remedies"] if one["id"] == "restore-entry"]
    roots = [tuple(sorted(re.findall(r"--root=live/(\S+)", one["command"]))) for one in restored]
    found = [re.search(r"--from (\S+)", one["command"]) for one in restored]
    assert [(str(commits.index(one[1])), *each) for one, each in zip(found, roots, strict=True) if one] == fixes
    assert all((f"{left} needs another fix: commit" in (one["note"] or "")) == bool(left) for one in restored)
    for one in restored:
        run(one["command"])
    for name in names:
        text = (folder / "live" / name / ".terraform.lock.hcl").read_bytes()
        assert text == (mac if f"live/{name}" == left else lock_file(DEMO)), name


def test_packages_that_the_signed_list_has_beside_the_locked_ones_are_a_cost_as_on_the_preview(
    made: Any, doctor: Any
) -> None:
    incident = INCIDENTS["platform-missing"]
    folder = made(incident)
    fix = doctor(folder, *incident.options, "ci.log")["remedies"][0]
    assert (fix["id"], fix["trust"]) == ("lock-platform", "low")
    out = " ".join(doctor(folder, "--format", "text", *incident.options, "ci.log").split())
    assert "2 more packages of the signed list are locked with it: its Preview warns (LK001)" in out


def test_an_older_version_is_no_upgrade(made: Any, doctor: Any) -> None:
    rules = (FaultRule(Fault.WITHDRAWN, NEWER.provider, NEWER.version),)
    folder = made(replace(INCIDENTS["yanked"], locks=(lock_file(NEWER),), rules=rules))
    log = (folder / "ci.log").read_text("utf-8").replace("1.4.2", "1.5.0")
    (folder / "ci.log").write_text(log, "utf-8")
    command = doctor(folder, "ci.log")["remedies"][0]["command"]
    out = doctor(folder, "--format", "text", "ci.log")
    assert "Go back to acme/demo 1.4.2, which satisfies the constraints" in out
    run(command)
    assert is_locked_as(folder, DEMO)


@pytest.mark.parametrize(("withdrawn", "cause", "words"), [
    (("1.4.2",), "yanked", "none of 2 listed versions satisfies {}: 1.5.0 is the newest"),
    (("1.4.1", "1.4.2"), "yanked", "the only listed version, 1.5.0, does not satisfy {}"),
    (("1.4.1",), "key-changed", "the only other listed version, 1.5.0, does not satisfy {}"),
])  # fmt: skip
def test_where_the_constraints_exclude_each_other_version_by_name_that_is_said(
    withdrawn: tuple[str, ...], cause: str, words: str, made: Any, doctor: Any
) -> None:
    rules = tuple(FaultRule(Fault.WITHDRAWN, DEMO.provider, version) for version in withdrawn)
    rules += tuple(rule for rule in INCIDENTS[cause].rules if rule.fault is not Fault.WITHDRAWN)
    constraints = (("acme/demo", ">= 1.4.2, != 1.5.0"),)
    folder = made(replace(INCIDENTS[cause], constraints=constraints, rules=rules))
    document = doctor(folder, "ci.log")
    assert (document["causes"][0]["id"], document["causes"][0]["verdict"]) == (cause, "yes")
    fixes = {one["id"]: (one["command"], one["note"] or "") for one in document["remedies"]}
    assert [*fixes] == (["change-constraint", "ask-publisher"] if cause == "yanked" else ["change-constraint"])
    command, note = fixes["change-constraint"]
    assert (command, note.startswith(words.format('">= 1.4.2, != 1.5.0" at live/prod/main.tf:5'))) == (None, True), note
    main_tf = folder / "live/prod/main.tf"
    main_tf.write_text(main_tf.read_text("utf-8").replace(", != 1.5.0", ""), "utf-8")
    run(note.partition("admits one, ")[2].partition(" selects it")[0])
    assert is_locked_as(folder, NEWER)
    assert doctor(folder, "ci.log")["fixed"]


def test_a_constraint_of_a_downloaded_module_is_left_to_another_version_of_it(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["yanked"])
    place = folder / "live/prod"
    net = place / ".terraform/modules/net"
    net.mkdir(parents=True)
    (net / "main.tf").write_text(requires(("acme/demo", "1.4.2")), "utf-8")
    listed = [{"Key": "", "Source": "", "Dir": "."}]
    listed += [
        {
            "Key": "net",
            "Source": "registry.terraform.io/acme/net/x",
            "Version": "1.0.0",
            "Dir": ".terraform/modules/net",
        }
    ]
    (place / ".terraform/modules/modules.json").write_text(json.dumps({"Modules": listed}), "utf-8")
    (place / "main.tf").write_text('module "net" {\n  source = "acme/net/x"\n}\n', "utf-8")
    fix = next(one for one in doctor(folder, "ci.log")["remedies"] if one["id"] == "change-constraint")
    words = (
        '"1.4.2" at live/prod/.terraform/modules/net/main.tf:5: 1.5.0 is the newest; another version of the module may'
    )
    assert (fix["command"], words in fix["note"]) == (None, True), fix["note"]


def test_an_upgrade_whose_version_failed_is_not_offered_again(made: Any, doctor: Any) -> None:
    words = "Error while installing acme/demo v1.5.0: dl.example.com: bad response code: 404"
    for entry, upgrades in ((OLDER, ["locklens upgrade acme/demo=1.4.2 --root=live/prod"]), (DEMO, [])):
        constraints = (("acme/demo", "~> 1.0"),)
        folder = made(replace(INCIDENTS["yanked"], locks=(lock_file(entry),), constraints=constraints, rules=()))
        (folder / "ci.log").write_text(boxed_log(("Failed to install provider", words)), "utf-8")
        document = doctor(folder, "ci.log")
        (yanked,) = (one for one in document["causes"] if one["id"] == "yanked")
        assert yanked["evidence"].endswith("registry.terraform.io lists 1.5.0")
        commands = [one["command"] for one in document["remedies"]]
        assert [one for one in commands if one.startswith("locklens upgrade")] == upgrades
    assert commands


def test_a_version_that_the_registry_does_not_list_is_in_no_fix(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["hand-edit"]
    rules = (FaultRule(Fault.WITHDRAWN, "registry.terraform.io/acme/netbox", "3.10.0"),)
    for where, is_named in ((replace(incident, rules=rules), False), (incident, True)):
        folder = made(where)
        out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
        assert "the version changed, the hashes did not" in out
        assert ("locklens upgrade acme/netbox=3.10.0" in out) == is_named
        shutil.rmtree(folder)


def test_what_a_hand_edited_version_would_need_beside_its_constraints_is_not_offered(made: Any, doctor: Any) -> None:
    """With the hashes of another version, init refuses it whatever the constraints admit."""
    folder = made(replace(INCIDENTS["hand-edit"], constraints=(("acme/netbox", "3.9.1"),)))
    words = (
        "locked provider registry.terraform.io/acme/netbox 3.10.0 does not match configured version constraint 3.9.1;"
    )
    (folder / "ci.log").write_text(boxed_log(("Failed to resolve provider packages", words)), "utf-8")
    document = doctor(folder, "ci.log")
    assert [one["id"] for one in document["causes"][:2]] == ["hand-edit", "constraint-conflict"]
    commands = [one["command"] for one in document["remedies"]]
    assert commands[0].startswith("locklens restore acme/netbox --from ")
    assert commands[1] == "locklens upgrade acme/netbox=3.9.1 --root=live/prod"
    assert "3.10.0" not in str([(one["command"], one["note"]) for one in document["remedies"]])


def test_an_entry_that_the_constraints_exclude_is_restored_behind_what_init_accepts(made: Any, doctor: Any) -> None:
    own = lock_file(sample_entry("acme/netbox", "3.10.0", "~> 3.9"))
    edited = INCIDENTS["hand-edit"]
    folder = made(replace(edited, locks=(own, *edited.locks), constraints=(("acme/netbox", "3.9.1"),)))
    words = (
        "locked provider registry.terraform.io/acme/netbox 3.10.0 does not match configured version constraint 3.9.1;"
    )
    (folder / "ci.log").write_text(boxed_log(("Failed to resolve provider packages", words)), "utf-8")
    first, *_, last = doctor(folder, "ci.log")["remedies"]
    assert "init fails" not in str(first["note"])
    assert last["command"].startswith(f"locklens restore acme/netbox --from {git(folder, 'rev-parse', 'HEAD~2')[:12]}")
    assert "init fails: the constraints do not allow 3.10.0" in last["note"]


def test_an_entry_with_the_hashes_of_another_version_is_not_restored(made: Any, doctor: Any) -> None:
    """A commit wrote the new version over the hashes of the old one, and the next one took only the lock file back."""
    right = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    wrong = replace(right, version="1.5.0", hashes_of="1.4.2")
    locks = tuple(map(lock_file, (right, wrong, right)))
    folder = made(SampleIncident("", ("none",), locks, (("acme/demo", "1.5.0"),)))
    words = "locked provider registry.terraform.io/acme/demo 1.4.2 does not match configured version constraint 1.5.0;"
    (folder / "ci.log").write_text(boxed_log(("Failed to resolve provider packages", words)), "utf-8")
    first, *others = doctor(folder, "ci.log")["remedies"]
    assert first["id"] == "upgrade"
    assert "restore-entry" not in [one["id"] for one in others]


def _refuse(folder: Path, version: str) -> None:
    """Leaves the log of an init that met another package of acme/demo than is locked."""
    words = (
        f"Error while installing acme/demo v{version}: the current package for registry.terraform.io/acme/demo {version}"
        " doesn't match any of the checksums previously recorded in the dependency lock file"
    )
    (folder / "ci.log").write_text(boxed_log(("Failed to install provider", words)), "utf-8")


def test_an_edit_of_the_version_is_told_and_mended_whatever_was_added_to_the_entry_later(
    made: Any, doctor: Any
) -> None:
    right = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    wrong = replace(right, version="1.5.0", hashes_of="1.4.2")
    locks = tuple(map(lock_file, (right, wrong, replace(wrong, more=(f"h1:{'bW1t' * 10}bW0=",)))))
    incident = SampleIncident("", ("none",), locks, (("acme/demo", "~> 1.4"),))
    folder = made(incident)
    _refuse(folder, "1.5.0")
    document = doctor(folder, "ci.log")
    edit, first = (git(folder, "rev-parse", "--short=12", revision).strip() for revision in ("HEAD~", "HEAD~2"))
    assert document["causes"][0]["id"] == "hand-edit"
    assert any(f"; 1.4.2 to 1.5.0 by commit {edit} of " in note for note in document["run"]["notes"])
    assert f"restore acme/demo --from {first} " in document["remedies"][0]["command"]


@pytest.mark.parametrize("is_committed", [False, True])
def test_an_edit_of_the_version_is_no_merge_once_the_hashes_of_that_version_are_locked_beside(
    made: Any, doctor: Any, *, is_committed: bool
) -> None:
    edited = INCIDENTS["hand-edit"]
    folder = made(edited)
    both = replace(sample_entry("acme/netbox", "3.10.0", "~> 3.9"), more=NETBOX.hashes())
    (folder / LOCK).write_bytes(lock_file(both))
    if is_committed:
        git(folder, "commit", "-qam", "lock for linux")
    document = doctor(folder, "ci.log")
    edit = git(folder, "log", "--format=%h", "--abbrev=12", "-S", 'version     = "3.10.0"', "--", LOCK).strip()
    (cause,) = (one for one in document["causes"] if one["verdict"] == "yes")
    assert cause["id"] == "hand-edit"
    assert f"commit {edit} has 3.10.0 with the hashes of 3.9.1" in cause["evidence"]
    assert "5 other zh came later, and the block still accepts packages of 3.9.1" in cause["evidence"]
    assert any(one.startswith("the error of the log is over (") for one in document["run"]["notes"])


def test_what_then_writes_the_hashes_is_of_the_restored_roots_alone(made: Any, doctor: Any) -> None:
    """An edit of two roots, of which one was moved since: its own path has no other entry."""
    right = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    folder = made(SampleIncident("", ("none",), (lock_file(right),), (("acme/demo", "~> 1.4"),)))
    shutil.copytree(folder / "live/prod", folder / "live/old")
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "another root")
    for root in ("live/prod", "live/old"):
        (folder / root / ".terraform.lock.hcl").write_bytes(
            lock_file(replace(right, version="1.5.0", hashes_of="1.4.2"))
        )
    git(folder, "commit", "-qam", "edited")
    git(folder, "mv", "live/old", "live/new")
    git(folder, "commit", "-qm", "moved")
    _refuse(folder, "1.5.0")
    found = doctor(folder, "ci.log", "--", "live/prod", "live/new")["remedies"]
    for one in found:
        if one["id"] == "restore-entry" and "then locklens upgrade" in str(one["note"]):
            roots = re.findall("--root=[^ ]+", one["command"])
            assert re.findall("--root=[^ ]+", one["note"]) == roots
            break
    else:
        pytest.fail("no restoration")


def test_roots_that_were_moved_together_are_restored_together(made: Any, doctor: Any) -> None:
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO),), (("acme/demo", "~> 1.4"),)))
    shutil.copytree(folder / "live/prod", folder / "live/qa")
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "another root")
    for root in ("prod", "qa"):
        (folder / "live" / root / ".terraform.lock.hcl").write_bytes(lock_file(replace(DEMO, hashes_of="1.3.9")))
    git(folder, "commit", "-qam", "edited")
    before = git(folder, "rev-parse", "--short=12", "HEAD~")
    git(folder, "mv", "live", "envs")
    git(folder, "commit", "-qm", "moved")
    _refuse(folder, "1.4.2")
    command = doctor(folder, "ci.log")["remedies"][0]["command"]
    assert command == f"locklens restore acme/demo --from {before} --root=envs/prod --root=envs/qa"
    run(command)
    for root in ("prod", "qa"):
        assert (folder / "envs" / root / ".terraform.lock.hcl").read_bytes() == lock_file(DEMO)


def test_another_run_comes_after_the_fix_of_another_certain_error_of_the_log(made: Any, doctor: Any) -> None:
    """The registry failed at first, and the next run got through to an entry that was edited by hand."""
    folder = made(INCIDENTS["hand-edit"])
    words = (
        "Could not retrieve the list of available versions for provider acme/netbox: could not query provider registry"
        " for registry.terraform.io/acme/netbox: the request failed after 2 attempts, please try again later:"
        " 503 Service Unavailable returned from registry.terraform.io"
    )
    messages = (("Failed to query available provider packages", words), INCIDENTS["hand-edit"].message)
    (folder / "ci.log").write_text(boxed_log(*messages), "utf-8")
    document = doctor(folder, "ci.log")
    assert {one["id"] for one in document["causes"] if one["verdict"] == "yes"} >= {"hand-edit", "registry-down"}
    fixes = [one["id"] for one in document["remedies"]]
    assert (fixes[0], "retry" in fixes[1:]) == ("restore-entry", True)


def test_another_run_that_all_errors_need_comes_first(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["registry-down"])
    message = INCIDENTS["registry-down"].message
    other = tuple(text.replace("acme/demo", "acme/netbox") for text in message)
    (folder / "ci.log").write_text(boxed_log(message, other), "utf-8")
    assert doctor(folder, "ci.log")["remedies"][0]["id"] == "retry"


@pytest.mark.parametrize("is_staged", [False, True])
def test_an_edit_is_over_once_its_entry_is_restored_staged_or_not(made: Any, doctor: Any, *, is_staged: bool) -> None:
    right = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    folder = made(SampleIncident("", ("none",), (lock_file(right),), (("acme/demo", "~> 1.4"),)))
    (folder / LOCK).write_bytes(lock_file(replace(right, version="1.5.0", hashes_of="1.4.2")))
    if is_staged:
        git(folder, "add", LOCK)
    _refuse(folder, "1.5.0")
    document = doctor(folder, "ci.log")
    assert document["state"] == "open"
    command = shlex.split(document["remedies"][0]["command"])
    assert command[:2] == ["locklens", "restore"]
    assert main(command[1:], no_screen) == 0
    assert doctor(folder, "ci.log")["state"] == "fixed"


def test_a_bad_merge_is_one_whatever_h1_was_added_later(made: Any, doctor: Any) -> None:
    old, new = (sample_entry("acme/demo", version, "~> 1.4") for version in ("1.4.1", "1.4.2"))
    wrong = replace(new, hashes_of="1.4.1")
    folder = made(SampleIncident("", ("none",), tuple(map(lock_file, (old, new, wrong))), (("acme/demo", "~> 1.4"),)))
    other = git(folder, "commit-tree", "HEAD~2^{tree}", "-p", "HEAD~2", "-m", "other").strip()
    merge = git(folder, "commit-tree", "HEAD^{tree}", "-p", "HEAD~", "-p", other, "-m", "merge").strip()
    git(folder, "reset", "-q", "--hard", merge)
    _refuse(folder, "1.4.2")
    before = doctor(folder, "ci.log")
    (folder / LOCK).write_bytes(lock_file(replace(wrong, more=(f"h1:{'bW1t' * 10}bW0=",))))
    git(folder, "commit", "-qam", "another platform")
    document = doctor(folder, "ci.log")
    for each in (before, document):
        assert (each["causes"][0]["id"], each["causes"][0]["verdict"]) == ("bad-merge", "yes")
        assert each["remedies"][0]["command"] == before["remedies"][0]["command"]
    assert any(f"; merged by commit {merge[:12]} of " in note for note in document["run"]["notes"])
    git(folder, "mv", "live/prod", "live/moved")
    git(folder, "commit", "-qm", "moved")
    moved = doctor(folder, "ci.log")
    for part, names in (("causes", ("id", "verdict", "evidence")), ("remedies", ("id", "command"))):
        told, now = (
            json.dumps([{name: one[name] for name in names} for one in each[part]]) for each in (document, moved)
        )
        assert now.replace(f":{LOCK}", "") == told.replace("live/prod", "live/moved")
    run(moved["remedies"][0]["command"])
    assert doctor(folder, "ci.log")["state"] == "fixed"


@pytest.mark.parametrize("is_staged", [False, True])
def test_an_entry_that_was_lost_before_its_root_was_moved_is_restored(
    made: Any, doctor: Any, *, is_staged: bool
) -> None:
    netbox = sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    required = (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO, netbox), lock_file(netbox)), required))
    lost, whole = (git(folder, "rev-parse", "--short=12", revision) for revision in ("HEAD", "HEAD~"))
    git(folder, "mv", "live/prod", "live/moved")
    if not is_staged:
        git(folder, "commit", "-qm", "moved")
    document = doctor(folder, "--", "live/moved")
    evidence = document["causes"][0]["evidence"]
    assert re.search(f"has no block for it: commit {lost} of [-0-9]+ by Robin Example removed it$", evidence)
    command = document["remedies"][0]["command"]
    assert command == f"locklens restore acme/demo --from {whole}:live/prod/.terraform.lock.hcl --root=live/moved"
    run(command)
    assert (folder / "live/moved/.terraform.lock.hcl").read_bytes() == lock_file(DEMO, netbox)


def test_a_file_that_was_broken_before_its_root_was_moved_is_shown_and_restored(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["lock-syntax"])
    whole, sub = git(folder, "rev-parse", "--short=12", "HEAD~"), folder / "live"
    git(folder, "mv", "live/prod", "live/moved")
    git(folder, "commit", "-qm", "moved")
    shown, restored = (one["command"] or one["hint"] for one in doctor(sub, "--", "moved")["remedies"])
    assert shown.endswith(f" diff {whole}:{LOCK} -- live/moved/.terraform.lock.hcl")
    assert f" show {whole}:{LOCK} > " in restored
    assert b"\n+" in subprocess.run(shown, shell=True, cwd=sub, check=True, capture_output=True).stdout
    subprocess.run(restored, shell=True, cwd=sub, check=True)
    assert (sub / "moved/.terraform.lock.hcl").read_bytes() == INCIDENTS["lock-syntax"].locks[0]


def test_an_entry_that_a_merge_left_out_is_restored_from_its_branch(made: Any, doctor: Any) -> None:
    """The branch added the provider, and the merge kept the other side's lock file as it was."""
    demo, netbox = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    folder = made(replace(INCIDENTS["not-locked"], locks=(lock_file(demo),)))
    lock = folder / LOCK
    git(folder, "checkout", "-q", "-b", "feature")
    lock.write_bytes(lock_file(demo, netbox))
    git(folder, "commit", "-qam", "netbox")
    branch = git(folder, "rev-parse", "--short=12", "HEAD").strip()
    git(folder, "checkout", "-q", "-")
    lock.write_bytes(lock_file(replace(demo, constraints="~> 1.4.0")))
    git(folder, "commit", "-qam", "meanwhile")
    git(folder, "merge", "-q", "-s", "ours", "-m", "merge", "feature")
    merge = git(folder, "rev-parse", "--short=12", "HEAD").strip()
    document = doctor(folder, "ci.log")
    cause, first = document["causes"][0], document["remedies"][0]
    assert (cause["id"], cause["verdict"]) == ("not-locked", "yes")
    assert f"commit {merge} of " in cause["evidence"]
    assert cause["evidence"].endswith(", a merge, removed it")
    assert first["command"].startswith(f"locklens restore acme/netbox --from {branch} ")


def test_a_version_whose_signature_was_not_looked_at_is_offered_as_such(made: Any, doctor: Any) -> None:
    (fix,) = doctor(made(INCIDENTS["key-revoked"]), "ci.log")["remedies"]
    assert fix["id"] == "upgrade"
    assert "the signature of that version was not checked: upgrade refuses one that is not valid" in fix["note"]


def test_where_the_newest_version_is_refused_the_constraints_are_rewritten_for_an_older_one(
    made: Any, doctor: Any
) -> None:
    newest = sample_entry("acme/demo", "1.5.0", "~> 1.5")
    rules = (FaultRule(Fault.REVOKED_KEY, "acme/demo", "1.5.0"),)
    incident = replace(INCIDENTS["key-revoked"], locks=(lock_file(newest),), constraints=(("acme/demo", "~> 1.5"),))
    folder = made(replace(incident, rules=rules))
    log = folder / "ci.log"
    log.write_text(log.read_text("utf-8").replace("1.4.2", "1.5.0"), "utf-8")
    (fix,) = doctor(folder, "ci.log")["remedies"]
    assert (fix["id"], fix["command"].split()[1:3]) == ("change-constraint", ["upgrade", "acme/demo=1.4.2"])
    assert "the signature of that version was not checked" in fix["note"]


@pytest.mark.parametrize(("version", "fixes"), [("", []), ("1.4.2", ["upgrade"])])
def test_no_upgrade_is_offered_where_no_version_is_known_to_have_a_key(
    version: str, fixes: list[str], made: Any, doctor: Any
) -> None:
    rules = (FaultRule(Fault.UNSIGNED, DEMO.provider, version),)
    document = doctor(made(replace(INCIDENTS["key-changed"], rules=rules)), "ci.log")
    first = document["causes"][0]
    assert (first["id"], "the registry lists no key" in first["evidence"]) == ("key-changed", True)
    assert [one["id"] for one in document["remedies"]] == fixes


@pytest.mark.parametrize("words", [(), ("ci.log",)])
def test_a_block_that_was_added_twice_is_of_the_commit_that_added_it(
    words: tuple[str, ...], made: Any, doctor: Any
) -> None:
    folder = made(replace(INCIDENTS["lock-syntax"], locks=(lock_file(DEMO),)))
    sound = git(folder, "rev-parse", "--short=12", "HEAD").strip()
    text = (folder / LOCK).read_text("utf-8")
    block = text[text.index("provider ") :]
    (folder / LOCK).write_text(f"{text}\n{block}", "utf-8")
    log = (folder / "ci.log").read_text("utf-8")
    (folder / "ci.log").write_text(log.replace("line 6", f"line {text.count(chr(10)) + 2}"), "utf-8")
    git(
        folder,
        "-c",
        "user.name=Kay",
        "-c",
        "user.email=kay@example.com",
        "commit",
        "-qam",
        "dup",
        "--author=Kay <kay@example.com>",
    )
    out = " ".join(doctor(folder, "--format", "text", *words, "--", "live/prod").split())
    assert "by Kay" in out
    assert "merge left the lock file wrong. [CONFIRMED]" not in out
    document = doctor(folder, *words, "--", "live/prod")
    causes = {one["id"]: one["verdict"] for one in document["causes"]}
    assert (causes["lock-syntax"], causes["bad-merge"]) == ("yes", "unknown")
    shown, restored = document["remedies"]
    assert (shown["command"], shown["hint"]) == (None, f"git diff {sound} -- {LOCK}")
    assert restored["command"] == f"git restore -s {sound} -- {LOCK}"
    assert git(folder, *shlex.split(shown["hint"])[1:])
    git(folder, *shlex.split(restored["command"])[1:])
    assert (folder / LOCK).read_text("utf-8") == text


NOT_INSTALLED = (
    "The installed provider plugins are not consistent with the packages selected in the dependency lock file:\n"
    f"  - {DEMO.provider}: there is no package for {DEMO.provider} 1.4.2 cached in .terraform/providers"
)


@pytest.fixture
def elsewhere_installed(made: Any) -> Path:
    """Returns a repository whose live/prod has the package in its data folder, and live/qa has not."""
    incident = INCIDENTS["plugin-corrupted"]
    folder: Path = made(replace(incident, copies=(replace(incident.copies[0], edition=""),)))
    (folder / "live/qa/.terraform/providers").mkdir(parents=True)
    for name in (".terraform.lock.hcl", "main.tf"):
        shutil.copy(folder / "live/prod" / name, folder / "live/qa" / name)
    (folder / "real.log").write_text(boxed_log(("Required plugins are not installed", NOT_INSTALLED)), "utf-8")
    return folder


def test_a_copy_is_put_where_nothing_was_installed_by_the_line_that_is_printed(
    elsewhere_installed: Path, doctor: Any
) -> None:
    folder, package = elsewhere_installed, f".terraform/providers/{DEMO.provider}/1.4.2/linux_amd64"
    document = doctor(folder, "real.log", "--platform", "linux_amd64", "--", "live/qa")
    use = next(one for one in document["remedies"] if one["id"] == "use-copy")
    request = DoctorRequest((folder / "real.log").read_bytes(), folder, {}, roots=("live/qa",), platform="linux_amd64")
    write = next(one.write for one in diagnose(request).remedies if one.id == "use-copy" and one.write)
    operation = remedy_operation(write, folder, request, Policy())
    assert isinstance(operation, ReplaceFolder)
    assert operation.plan().proposal.command == use["command"]
    subprocess.run(use["command"], shell=True, check=True, cwd=folder)
    copied = {one.name: one.read_bytes() for one in (folder / "live/qa" / package).iterdir()}
    assert copied == {one.name: one.read_bytes() for one in (folder / "live/prod" / package).iterdir()}


def test_what_is_installed_in_one_root_is_not_said_of_each_that_a_log_fits(
    elsewhere_installed: Path, doctor: Any
) -> None:
    document = doctor(elsewhere_installed, "real.log")
    assert document["errors"][0]["roots"] == ["live/prod", "live/qa"]
    (fix,) = [one for one in document["remedies"] if one["id"] == "reinstall"]
    assert fix["note"] == "ROOT stands for the root that failed, which the log does not tell"
    out = doctor(elsewhere_installed, "real.log", "--format", "text")
    assert "Install the locked package: in live/qa, live/prod\n" in out


def test_what_nothing_requires_stops_no_init_where_its_registry_has_it_no_longer(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["yanked"], constraints=()))
    document = doctor(folder, "--", "live/prod")
    of_demo = {one["id"]: one for one in document["causes"] if one["provider"] and "acme/demo" in one["provider"]}
    assert of_demo["not-required"]["verdict"] == "yes"
    held = {one["id"] for one in document["causes"] if one["verdict"] in {"yes", "likely"}}
    assert "yanked" not in held
    assert document["remedies"][-1]["command"].startswith("locklens prune acme/demo ")


def test_the_version_of_the_log_is_the_one_that_is_not_listed(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["yanked"], rules=()))
    log = (folder / "ci.log").read_text("utf-8").replace("1.4.2", "1.4.9")
    (folder / "ci.log").write_text(log, "utf-8")
    (folder / "live/twin").mkdir()
    for name in ("main.tf", ".terraform.lock.hcl"):
        shutil.copy(folder / "live/prod" / name, folder / "live/twin" / name)
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "asked another source" not in out
    assert "1.4.9, which is not locked here; registry.terraform.io does not list it" in out


@pytest.mark.parametrize("moved", ["by a commit", "by no commit", "with the constraint"])
def test_an_entry_that_was_moved_out_of_an_older_constraint_is_restored_first(
    moved: str, made: Any, doctor: Any
) -> None:
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO),), (("acme/demo", "~> 1.4"),)))
    (folder / "live/prod/main.tf").write_text(requires(("acme/demo", "~> 1.4.0")), "utf-8")
    if moved != "with the constraint":
        git(folder, "commit", "-qam", "constraint")
    (folder / LOCK).write_bytes(lock_file(NEWER))
    if moved != "by no commit":
        git(folder, "commit", "-qam", "lock file")
    words = "registry.terraform.io/acme/demo 1.5.0 does not match configured version constraint ~> 1.4.0; must use"
    words = f"Could not retrieve the list of available versions for provider acme/demo: locked provider {words}"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", words)), "utf-8")
    fixes, is_older = doctor(folder, "ci.log")["remedies"], moved != "with the constraint"
    kinds = ["restore-entry", "upgrade", "change-constraint"]
    assert [one["id"] for one in fixes] == (kinds if is_older else kinds[::-1])
    (rewriting,) = (one for one in fixes if one["id"] == kinds[2])
    assert ("these constraints are older than the change of the lock file to 1.5.0" in rewriting["note"]) == is_older
    run(fixes[0]["command"])
    assert is_locked_as(folder, DEMO if is_older else NEWER)
    assert doctor(folder, "ci.log")["state"] == "fixed"


def test_modules_that_exclude_one_another_are_rewritten_for_what_is_locked(made: Any, doctor: Any) -> None:
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO),)))
    root = folder / "live/prod"
    (root / "net").mkdir()
    (root / "net/versions.tf").write_text(requires(("acme/demo", "< 1.4.0")), "utf-8")
    with (root / "main.tf").open("a", encoding="utf-8") as file:
        file.write('\nmodule "net" {\n  source = "./net"\n}\n')
    message = (
        "Could not retrieve the list of available versions for provider acme/demo: locked provider "
        "registry.terraform.io/acme/demo 1.4.2 does not match configured version constraint ~> 1.4, < 1.4.0; must use "
        "terraform init -upgrade to allow selection of new versions"
    )
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", message)), "utf-8")
    document = doctor(folder, "ci.log")
    assert document["causes"][0]["id"] == "constraint-conflict"
    run(document["remedies"][0]["command"])
    assert '"< 1.4.0"' not in (root / "net/versions.tf").read_text("utf-8")
    assert doctor(folder, "ci.log")["state"] == "fixed"


def test_a_commit_that_wrote_other_hashes_over_signed_ones_comes_before_a_republication(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),)))
    text = (folder / LOCK).read_text("utf-8")
    others = iter(range(1, 100))
    (folder / LOCK).write_text(re.sub("zh:[0-9a-f]{64}", lambda _: f"zh:{next(others):064x}", text), "utf-8")
    git(folder, "commit", "-qam", "other hashes")
    first = doctor(folder, "ci.log")["causes"][0]
    assert (first["id"], first["verdict"]) == ("hand-edit", "likely")
    assert "are of the signed release" in first["evidence"]
    assert {one["id"]: one["verdict"] for one in doctor(folder, "ci.log")["causes"]}["republished"] == "unknown"


def test_hashes_are_not_added_to_an_entry_that_lock_refuses_whether_the_log_names_its_root(
    made: Any, doctor: Any
) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),)))
    shutil.copytree(folder / "live/prod", folder / "live/stage")
    text = (folder / LOCK).read_text("utf-8")
    of_linux, of_mac = (
        set(replace(DEMO, unpacked=(), packed=(one,)).hashes()) for one in ("linux_amd64", "darwin_arm64")
    )
    (zh,) = of_linux - of_mac
    (folder / LOCK).write_text(text.replace(zh, f"zh:{1:064x}"), "utf-8")
    for is_committed in (False, True):
        if is_committed:
            git(folder, "commit", "-qam", "other hash")
        for root in ((), ("--", "live/prod")):
            document = doctor(folder, "ci.log", *root)
            fixes = [one["id"] for one in document["remedies"]]
            assert fixes[0] == "restore-entry"
            assert "lock-platform" not in fixes
            merge = next(one for one in document["causes"] if one["id"] == "bad-merge")
            made_by = "whether that commit squashed" if is_committed else "whether a merge selected its version"
            assert merge["missing"].startswith(made_by)


def test_an_earlier_entry_with_the_package_of_the_platform_is_known_to_have_it(made: Any, doctor: Any) -> None:
    mac = replace(DEMO, unpacked=("darwin_arm64",), packed=("darwin_arm64",))
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO), lock_file(mac))))
    document = doctor(folder, "--platform", "linux_amd64", "ci.log")
    note = next(one["note"] for one in document["remedies"] if one["id"] == "restore-entry")
    assert note.startswith("it has the zh of linux_amd64")


@pytest.mark.parametrize(("packed", "warns"), [(("darwin_arm64",), True), ((), False)])
def test_a_preview_warns_of_more_packages_only_beside_those_of_an_older_list(
    packed: tuple[str, ...], warns: bool, made: Any, doctor: Any
) -> None:
    mac = lock_file(replace(DEMO, unpacked=("darwin_arm64",), packed=packed))
    lines = mac.splitlines(keepends=True)
    mac = mac if packed else b"".join(one for one in lines if b'"zh:' not in one)
    document = doctor(made(replace(INCIDENTS["platform-missing"], locks=(mac,))), "--platform", "linux_amd64", "ci.log")
    note = next(one["note"] for one in document["remedies"] if one["id"] == "lock-platform")
    assert "locked with it" in note
    assert ("its Preview warns (LK001)" in note) == warns


def test_a_given_folder_of_the_root_is_called_the_installed_package(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["plugin-corrupted"]
    out = " ".join(doctor(made(incident), *incident.options, "--format", "text", "ci.log").split())
    assert "The installed package is not the locked package. [CONFIRMED]" in out


UNAVAILABLE = (
    "Error: Could not retrieve providers for locking\n\n{} failed to fetch the requested providers for {} in order\nto "
    "calculate their checksums: some providers could not be installed:\n- registry.terraform.io/acme/demo: provider\n"
    "registry.terraform.io/acme/demo 1.4.2 is not available for\n{}.\n"
)


@pytest.mark.parametrize("product", ["Terraform", "OpenTofu"])
def test_a_platform_that_the_release_does_not_have_is_left_out(product: str, made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),)))
    (folder / "ci.log").write_text(UNAVAILABLE.format(product, "freebsd_amd64", "freebsd_amd64"), "utf-8")
    document = doctor(folder, "ci.log")
    first, fixes = document["causes"][0], document["remedies"]
    assert (document["errors"][0]["kind"], first["id"], first["verdict"]) == (
        "platform-unavailable",
        "platform-missing",
        "yes",
    )
    assert {one["id"] for one in document["causes"]} <= {"platform-missing", "mirror-lacks", "yanked"}
    assert [one["id"] for one in fixes] == ["leave-out"]  # no version has a package of it
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "The release has no package of freebsd_amd64. [CONFIRMED]" in out
    assert "Leave -platform=freebsd_amd64 out of providers lock" in out
    other = replace(DEMO, hashes_of="1.4.1")  # a commit with the release's own hashes gives it no package, either
    (folder / LOCK).write_bytes(lock_file(other))
    assert [one["id"] for one in doctor(folder, "ci.log")["remedies"]] == ["leave-out"]


@pytest.mark.parametrize("is_unlocked", [False, True])
def test_what_a_message_says_to_have_no_package_is_not_to_be_locked_without_a_registry(
    is_unlocked: bool, made: Any, doctor: Any
) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(*([] if is_unlocked else [DEMO])),)))
    (folder / "ci.log").write_text(UNAVAILABLE.format("Terraform", "windows_386", "windows_386"), "utf-8")
    document = doctor(folder, "--offline", "ci.log")
    assert [one["id"] for one in document["remedies"]] == ["leave-out", "upgrade"][: 1 if is_unlocked else 2]
    assert document["facts"]["platform"] == "windows_386"
    out = " ".join(doctor(folder, "--offline", "--format", "text", "ci.log").split())
    assert "RUN windows_386 (asked for in the log), " in out
    assert "the source that was asked has no package of windows_386. [LIKELY]".lower() in out.lower()


def gone(command: str) -> str:
    """A log of `providers lock` that found no locked version."""
    return (
        f"$ terraform -chdir=live/prod {command}\n"
        "Error: Could not retrieve providers for locking\n\nTerraform failed to fetch the requested providers for "
        "linux_amd64 in order\nto calculate their checksums: some providers could not be installed:\n"
        "- registry.terraform.io/acme/demo: the previously-selected version\n1.4.2 is no longer available.\n"
    )


def test_a_mirror_that_a_command_may_have_named_lacks_a_version_that_its_registry_lists(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),)))
    (folder / "ci.log").write_text(gone("").partition("\n")[2], "utf-8")
    document = doctor(folder, "ci.log", "--", "live/prod")
    first, second = document["causes"][:2]
    assert (first["id"], first["verdict"]) == ("mirror-lacks", "likely")
    assert "does not have the version; registry.terraform.io lists 1.4.2" in first["evidence"]
    assert first["missing"] == "the command line that failed: its -fs-mirror or -net-mirror"
    assert (second["id"], second["verdict"]) == ("yanked", "unknown")
    (fix,) = document["remedies"]
    assert fix["command"] == "locklens mirror --platform=linux_amd64 DIR --root=live/prod"
    assert document["facts"]["platform"] == "linux_amd64"


@pytest.mark.parametrize("is_here", [True, False])
def test_the_mirror_of_the_command_line_is_what_providers_lock_asked(
    is_here: bool, made: Any, doctor: Any, tmp_path: Path
) -> None:
    folder, mirror = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),))), tmp_path / "mirror"
    command = f"providers lock -fs-mirror={mirror} -platform=linux_amd64"
    (folder / "ci.log").write_text(gone(command), "utf-8")
    if is_here:
        mirror.mkdir()
    document = doctor(folder, "ci.log")
    first, (fix,), facts = document["causes"][0], document["remedies"], document["facts"]
    assert (first["id"], first["verdict"], fix["id"]) == ("mirror-lacks", "yes", "fill-mirror")
    assert (facts["path"], facts["platform"]) == ("filesystem-mirror", "linux_amd64")
    assert f"what it asked, {mirror}, does not have the version" in first["evidence"]
    assert f"locklens mirror --platform=linux_amd64 {mirror if is_here else 'DIR'}" in fix["command"]
    assert is_here or fix["note"] == f"DIR is the folder of the runner's mirror, by the log {mirror}"
    if is_here:
        words = ["mirror", "--no-cache", "--platform=linux_amd64", str(mirror), "--root=live/prod"]
        assert main(["-C", str(folder), *words], no_screen) == 0
        document = doctor(folder, "ci.log")
        assert document["state"] == "fixed"
        (again,) = document["remedies"]
        assert again["command"] == f"terraform -chdir=live/prod {command}"


def test_providers_lock_is_run_again_and_not_init(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),)))
    (folder / "ci.log").write_text(gone("providers lock -platform=linux_amd64"), "utf-8")
    document = doctor(folder, "ci.log")
    fix = document["remedies"][0]
    assert (fix["id"], document["facts"]["path"]) == ("run-again", "direct")
    assert fix["command"] == "terraform -chdir=live/prod providers lock -platform=linux_amd64"
    assert "Run the command that failed again" in doctor(folder, "--format", "text", "ci.log")


def test_the_mirror_on_a_server_of_a_log_is_named_and_not_asked(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),)))
    (folder / "ci.log").write_text(gone("providers lock -net-mirror https://mirror.example.com/p/"), "utf-8")
    document = doctor(folder, "ci.log")
    first = document["causes"][0]
    assert (first["id"], document["facts"]["path"]) == ("mirror-lacks", "network-mirror")
    assert "what it asked, https://mirror.example.com/p/, does not have the version" in first["evidence"]
    assert "mirror.example.com" not in document["run"]["hosts"]


def test_the_command_that_a_platform_is_left_out_of_is_the_one_that_failed(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),)))
    words = (
        f"Failed to download {DEMO.provider} v1.4.2 for freebsd_amd64: provider {DEMO.provider} 1.4.2 is not available "
        "for freebsd_amd64."
    )
    (folder / "ci.log").write_text(boxed_log(("Provider release not available", words)), "utf-8")
    (fix,) = doctor(folder, "ci.log")["remedies"]
    assert fix["id"] == "leave-out"
    out = doctor(folder, "--format", "text", "ci.log")
    assert "Leave -platform=freebsd_amd64 out of providers mirror, where no root runs on it\n" in out


def test_a_version_with_a_package_of_the_platform_ends_the_error_of_the_one_without(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),)))
    words = f"Provider {DEMO.provider} v1.4.2 does not have a package available for your current platform, linux_amd64."
    (folder / "ci.log").write_text(boxed_log(("Incompatible provider version", words)), "utf-8")
    (folder / LOCK).write_bytes(lock_file(NEWER))
    document = doctor(folder, "ci.log")
    assert document["fixed"].startswith("the lock file no longer has acme/demo 1.4.2: 1.5.0 is locked")
    git(folder, "checkout", "--orphan", "fresh")
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "another repository, which never had 1.4.2")
    document = doctor(folder, "ci.log")
    assert document["state"] == "open"
    assert {one["verdict"] for one in document["causes"]} == {"unknown"}


def test_a_platform_that_no_version_has_a_package_of_leaves_a_way_to_go_on(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["platform-missing"], locks=(lock_file(DEMO),)))
    words = (
        "Provider registry.terraform.io/acme/demo v1.4.2 does not have a package available for your current platform, "
        "freebsd_amd64."
    )
    (folder / "ci.log").write_text(boxed_log(("Incompatible provider version", words)), "utf-8")
    document = doctor(folder, "ci.log")
    assert (document["causes"][0]["id"], document["causes"][0]["verdict"]) == ("platform-missing", "yes")
    assert [one["id"] for one in document["remedies"]] == ["other-platform"]
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "Run init on a platform that has a package" in out
    assert re.search(r"none of the \d+ listed versions of acme/demo has a package of freebsd_amd64", out)


@pytest.mark.parametrize(("rules", "options", "cause", "verdict", "words", "fixes"), [
    ((FaultRule(Fault.NOT_FOUND, DEMO.provider, step=Step.DOWNLOAD),), (), "platform-missing", "yes", "registry.terraform.io answers 404 about that package here, too", ["upgrade"]),
    ((FaultRule(Fault.NOT_FOUND, DEMO.provider, step=Step.DOWNLOAD),), ("--offline",), "platform-missing", "likely", "the message says so, of the source that was asked", ["retry", "upgrade"]),
    ((FaultRule(Fault.SERVER_ERROR, DEMO.provider, step=Step.DOWNLOAD),), (), "platform-missing", "likely", "the message says so, of the source that was asked", ["retry", "upgrade"]),
    ((), (), "mirror-lacks", "likely", "names it, and the registry offers it now: a mirror was asked, or the registry did not offer it then (404)", ["retry", "fill-mirror"]),
])  # fmt: skip
def test_a_registry_without_the_package_is_asked_for_it(
    rules: tuple[FaultRule, ...], options: tuple[str, ...], cause: str, verdict: str, words: str, fixes: list[str],
    made: Any, doctor: Any,
) -> None:  # fmt: skip
    folder = made(replace(INCIDENTS["download-damaged"], rules=rules))
    message = (
        f"Provider {DEMO.provider} v1.4.2 does not have a package available for your current platform, linux_amd64."
    )
    (folder / "ci.log").write_text(boxed_log(("Incompatible provider version", message)), "utf-8")
    document = doctor(folder, *options, "ci.log")
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == (cause, verdict)
    assert words in first["evidence"]
    assert [one["id"] for one in document["remedies"]] == fixes  # hashes are there, and help nothing


@pytest.mark.parametrize("is_down", [True, False])
def test_what_git_has_comes_before_what_a_registry_that_does_not_answer_would_have(
    made: Any, doctor: Any, *, is_down: bool
) -> None:
    mac_alone = replace(DEMO, unpacked=("darwin_arm64",), packed=())
    rules = (FaultRule(Fault.SERVER_ERROR, DEMO.provider),) if is_down else ()
    locks = (lock_file(DEMO), lock_file(mac_alone))
    folder = made(replace(INCIDENTS["platform-missing"], locks=locks, rules=rules))
    document = doctor(folder, "--platform=linux_amd64", "ci.log")
    assert document["causes"][0]["id"] == "platform-missing"
    ids = [one["id"] for one in document["remedies"]]
    assert (ids.index("restore-entry") < ids.index("lock-platform")) == is_down


def test_a_platform_that_the_registry_lists_no_more_is_not_there_though_the_signed_list_names_it(
    made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_linux(provider: str, versions: Any, warnings: Any) -> Any:
        rows = (
            (version, protocols, [one for one in platforms if one != "linux_amd64"])
            for version, protocols, platforms in versions
        )
        return versions_document(provider, rows, warnings)

    folder = made(replace(INCIDENTS["download-damaged"], rules=()))
    words = f"Provider {DEMO.provider} v1.4.2 does not have a package available for your current platform, linux_amd64."
    (folder / "ci.log").write_text(boxed_log(("Incompatible provider version", words)), "utf-8")
    assert doctor(folder, "ci.log")["causes"][0]["id"] == "mirror-lacks"  # the registry has it
    monkeypatch.setattr("locklens.demo.registry.versions_document", without_linux)
    first = doctor(folder, "ci.log")["causes"][0]
    assert (first["id"], first["verdict"]) == ("platform-missing", "yes")
    assert "registry.terraform.io lists acme/demo 1.4.2 without linux_amd64" in first["evidence"]


def test_constraints_that_exclude_the_version_with_a_package_of_the_platform_are_rewritten(
    made: Any, doctor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    required = (("acme/demo", "~> 1.4"), ("acme/netbox", "3.10.0"))
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO),), required))
    name = "registry.terraform.io/acme/netbox"
    words = f"Provider {name} v3.10.0 does not have a package available for your current platform, linux_amd64."
    finding = 'Initializing provider plugins...\n- Finding acme/netbox versions matching "3.10.0"...\n'
    log = boxed_log(("Incompatible provider version", words)).replace("Initializing provider plugins...\n", finding)
    (folder / "ci.log").write_text(log, "utf-8")
    offered = SampleListing("3.9.1"), SampleListing("3.10.0", platforms=("darwin_arm64",))
    with DemoRegistry({name: offered}) as registry:
        lead_to(monkeypatch, registry, tmp_path)
        (fix,) = doctor(folder, "--platform", "linux_amd64", "ci.log")["remedies"]
        assert fix["command"] == "locklens upgrade acme/netbox=3.9.1 --edit-constraints --root=live/prod"
        run(fix["command"])
        assert doctor(folder, "ci.log")["state"] == "fixed"


def test_a_provider_that_is_not_locked_has_the_platforms_that_its_release_has(made: Any, doctor: Any) -> None:
    folder = made(
        SampleIncident("", ("none",), (lock_file(DEMO),), (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")))
    )
    words = "Provider registry.terraform.io/acme/netbox v3.10.0 does not have a package available for your current platform, {}."
    (folder / "ci.log").write_text(boxed_log(("Incompatible provider version", words.format("solaris_amd64"))), "utf-8")
    document = doctor(folder, "--platform", "solaris_amd64", "ci.log", "--", "live/prod")
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("platform-missing", "yes")
    assert "acme/netbox 3.10.0 has no package of solaris_amd64, only of darwin_amd64, " in first["evidence"]
    assert [one["id"] for one in document["remedies"]] == ["other-platform"]
    assert "REQUIRED     live/prod/" in doctor(
        folder, "--format", "text", "--platform", "solaris_amd64", "ci.log", "--", "live/prod"
    )


def test_a_provider_whose_newest_version_is_refused_is_locked_at_another_one(made: Any, doctor: Any) -> None:
    required = (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO),), required))
    words = "Error while installing acme/netbox v3.9.9: authentication signature from unknown issuer"
    alone = boxed_log(("Failed to install provider", words))
    (folder / "ci.log").write_text(f'- Finding acme/netbox versions matching "~> 3.9"...\n{alone}', "utf-8")
    document = doctor(folder, "ci.log")
    why = "registry.terraform.io does not list registry.terraform.io/acme/netbox 3.9.9"
    assert document["causes"][0]["missing"] == f"the signed SHA256SUMS of acme/netbox 3.9.9 ({why})"
    (fix,) = document["remedies"]
    assert fix["command"] == "locklens upgrade acme/netbox=3.10.0 --root=live/prod"
    (fix,) = doctor(folder, "--offline", "--no-cache", "ci.log")["remedies"]
    assert fix["command"] == "locklens upgrade acme/netbox=VERSION --root=live/prod"
    (folder / LOCK).write_bytes(lock_file(DEMO, sample_entry("acme/netbox", "3.9.1", "~> 3.9")))
    document = doctor(folder, "ci.log")
    assert document["fixed"].startswith("the lock file does not have acme/netbox 3.9.9: 3.9.1 is locked")
    (folder / "ci.log").write_text(alone, "utf-8")  # that the run found no locked version is not known
    document = doctor(folder, "ci.log")
    assert (document["state"], document["causes"][0]["verdict"]) == ("open", "likely")
    assert document["causes"][0]["missing"] == "the signed SHA256SUMS of acme/netbox 3.9.9"
    assert not any("upgrade" in one["command"] for one in document["remedies"])
    (folder / LOCK).write_bytes(lock_file(DEMO))
    run("locklens upgrade acme/netbox=3.10.0 --root=live/prod")  # of which the journal tells that there was none
    document = doctor(folder, "ci.log")
    assert document["fixed"].startswith("the lock file does not have acme/netbox 3.9.9: 3.10.0 is locked")


def test_a_copy_for_a_mirror_comes_after_what_needs_none(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder = made(INCIDENTS["republished"])
    words = "Error while installing acme/demo v1.4.2: unexpected EOF"
    (folder / "ci.log").write_text(boxed_log(("Failed to install provider", words)), "utf-8")
    document = doctor(folder, "--offline", *INCIDENTS["republished"].options, "ci.log")
    assert document["facts"]["path"] is None
    assert [one["id"] for one in document["remedies"]] == ["retry"], "nothing says that the run had a mirror"
    options = (*INCIDENTS["republished"].options, "--install-path", "packed-mirror")
    document = doctor(folder, "--offline", *options, "ci.log")
    assert [one["id"] for one in document["remedies"]] == ["retry", "use-copy"]
    out = " ".join(doctor(folder, "--offline", *options, "--format", "text", "ci.log").split())
    assert "for which MIRROR stands" in out
    mirror = folder / "srv/mirror"
    mirror.mkdir(parents=True)
    document = doctor(folder, "--offline", *options, "--mirror", "srv/mirror", "ci.log")
    assert "mkdir -p -- srv/mirror/registry.terraform.io/acme/demo/" in document["remedies"][1]["command"]
    copied = folder / shlex.split(document["remedies"][1]["command"])[-2]
    copied.rename(tmp_path / "linked")
    copied.symlink_to(tmp_path / "linked")
    subprocess.run(document["remedies"][1]["command"], shell=True, cwd=folder, check=True)
    assert [one.is_symlink() for one in mirror.rglob(copied.name)] == [False]


@pytest.mark.parametrize("options", [(), ("--platform", "linux_amd64")])
def test_another_version_without_the_platform_ends_no_error_of_hashes(
    options: tuple[str, ...], made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS["platform-missing"])
    assert doctor(folder, *options, "ci.log")["causes"][0]["id"] == "platform-missing"
    without = [one for one in PLATFORMS if one != "linux_amd64"]
    (folder / LOCK).write_bytes(lock_file(replace(NEWER, unpacked=("darwin_arm64",), packed=tuple(without))))
    document = doctor(folder, *options, "ci.log")
    assert document["state"] == "open"
    found = next(one for one in document["causes"] if one["id"] == "platform-missing")
    assert found["verdict"] == "unknown"
    assert "no zh of linux_amd64 is locked for acme/demo 1.5.0" in found["evidence"]
    (folder / LOCK).write_bytes(lock_file(NEWER))
    assert doctor(folder, *options, "ci.log")["state"] == "fixed"


@pytest.mark.parametrize(("line", "again"), [
    ("+ tofu providers mirror -platform=linux_amd64 ../m", "tofu -chdir=live/prod providers mirror -platform=linux_amd64 ../m"),
    ("$ cd live/prod && tofu providers mirror ../m 2>&1 | tee log", "tofu -chdir=live/prod providers mirror ../m"),
    ("$ tofu providers mirror $OUT", None),
    ("$ tofu providers lock", None),
    ("", None),
])  # fmt: skip
def test_what_failed_is_tried_again_and_not_init(line: str, again: str | None, made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["registry-down"], locks=(lock_file(DEMO),)))
    words = (
        "Failed to download registry.terraform.io/acme/demo v1.4.2 for linux_amd64: could not query provider registry for "
        "registry.terraform.io/acme/demo: request failed after 2 attempts: 500 Internal Server Error returned from "
        f"https://registry.terraform.io/v1/{'packages/' * 7}live-prod."
    )
    (folder / "ci.log").write_text(f"{line}\n\nError: Provider release not available\n\n{words}\n", "utf-8")
    (fix,) = doctor(folder, "--offline", "--tool", "opentofu", "ci.log")["remedies"]
    assert (fix["id"], fix["command"]) == ("retry", again)
    out = doctor(folder, "--offline", "--tool", "opentofu", "--format", "text", "ci.log")
    assert ("Run the command that failed again" in out) == (again is None)
    assert f"{'packages/' * 7}live-prod." in out, "no word is broken"


@pytest.mark.parametrize("has_lock", [True, False])
def test_a_constraint_on_a_version_that_is_not_listed_is_rewritten(made: Any, doctor: Any, *, has_lock: bool) -> None:
    folder = made(SampleIncident("", ("none",), (b"",), (("acme/demo", "1.9.9"),)))
    if not has_lock:
        (folder / LOCK).unlink()
        git(folder, "commit", "-qam", "unlocked")
    message = "no available releases match the given constraints 1.9.9"
    told = f"Could not retrieve the list of available versions for provider acme/demo: {message}"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", told)), "utf-8")
    document = doctor(folder, "ci.log")
    assert document["causes"][0]["evidence"].endswith(
        'satisfies 1.9.9 ("1.9.9" at live/prod/main.tf:5); 1.5.0 is listed'
    )
    (fix,) = document["remedies"]
    if not has_lock:  # upgrade changes one that is there
        assert (fix["command"], fix["hint"]) == (None, "locklens why acme/demo --root=live/prod")
        return
    assert fix["command"] == "locklens upgrade acme/demo=1.5.0 --edit-constraints --root=live/prod"
    assert main([*shlex.split(fix["command"])[1:], "--no-cache"], no_screen) == 0
    assert doctor(folder, "ci.log")["state"] == "fixed"


def test_what_a_narrowed_constraint_excludes_stays_or_goes_back_and_no_newest_version_is_offered(
    made: Any, doctor: Any
) -> None:
    aws = sample_entry("hashicorp/aws", "5.86.1", "~> 5.82")
    folder = made(SampleIncident("", ("none",), (lock_file(aws),), (("hashicorp/aws", "~> 5.84.0"),)))
    fixes = doctor(folder, "--", "live/prod")["remedies"]
    assert [(one["command"], one["trust"]) for one in fixes] == [
        ("locklens upgrade hashicorp/aws=5.86.1 --edit-constraints --root=live/prod", "none"),
        ("locklens upgrade hashicorp/aws=5.84.0 --root=live/prod", "low"),
    ]
    run(fixes[0]["command"])
    assert '"~> 5.86.1"' in (folder / "live/prod/main.tf").read_text("utf-8")
    assert is_locked_as(folder, replace(aws, constraints="~> 5.86.1"))


@pytest.mark.parametrize(("constraint", "words"), [
    ("~> 1.4", "upgrade acme/demo=1.4.2"), ("1.5.0", "upgrade acme/demo=1.4.2 --edit-constraints"),
])  # fmt: skip
def test_a_release_whose_list_lacks_the_package_is_left_for_another_one(
    constraint: str, words: str, made: Any, doctor: Any
) -> None:
    rule = FaultRule(Fault.SUMS_WITHOUT_PACKAGE, "registry.terraform.io/acme/demo", "1.5.0")
    folder = made(SampleIncident("", ("none",), (b"",), (("acme/demo", constraint),), rules=(rule,)))
    told = 'checksum list has no SHA-256 hash for "terraform-provider-demo_1.5.0_linux_amd64.zip"'
    message = f"Error while installing acme/demo v1.5.0: {told}"
    (folder / "ci.log").write_text(boxed_log(("Failed to install provider", message)), "utf-8")
    fix = next(
        one for one in doctor(folder, "ci.log")["remedies"] if one["command"] == f"locklens {words} --root=live/prod"
    )
    assert main([*shlex.split(fix["command"])[1:], "--no-cache"], no_screen) == 0
    (folder / LOCK).unlink()
    git(folder, "commit", "-qam", "unlocked")
    fix = next(one for one in doctor(folder, "ci.log")["remedies"] if one["id"] == "change-constraint")
    assert (fix["command"], "1.4.2" in fix["note"]) == (None, True)


def test_what_git_has_of_a_version_is_offered_where_its_hashes_are_of_another(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["hand-edit"]
    own = lock_file(sample_entry("acme/netbox", "3.10.0", "~> 3.9"))
    folder = made(replace(incident, locks=(own, *incident.locks)))
    first, second = git(folder, "log", "--reverse", "--format=%h", "--abbrev=12", "--", LOCK).split()[:2]
    document = doctor(folder, "--offline", "ci.log")
    commands = [one["command"] for one in document["remedies"] if one["id"] == "restore-entry"]
    assert {*commands} == {f"locklens restore acme/netbox --from {one} --root=live/prod" for one in (first, second)}
    (note,) = (one["note"] for one in document["remedies"] if first in (one["command"] or ""))
    assert note.startswith("it locks 3.10.0 with other packages")
    assert main(["restore", "acme/netbox", "--from", first, "--root=live/prod"], no_screen) == 0
    assert (folder / LOCK).read_bytes() == own


def test_the_entry_of_a_commit_that_satisfies_the_constraints_is_offered(made: Any, doctor: Any) -> None:
    newer, older = (sample_entry("acme/demo", version, "~> 1.4") for version in ("1.5.0", "1.4.2"))
    folder = made(SampleIncident("", ("none",), (lock_file(newer), lock_file(older)), (("acme/demo", "~> 1.5"),)))
    words = (
        "locked provider registry.terraform.io/acme/demo 1.4.2 does not match configured version constraint ~> 1.5; "
        "must use terraform init -upgrade to allow selection of new versions"
    )
    told = f"Could not retrieve the list of available versions for provider acme/demo: {words}"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", told)), "utf-8")
    first = git(folder, "log", "--reverse", "--format=%h", "--abbrev=12", "--", LOCK).split()[0]
    for options in ((), ("--offline",)):
        commands = [one["command"] for one in doctor(folder, *options, "ci.log")["remedies"]]
        assert f"locklens restore acme/demo --from {first} --root=live/prod" in commands
    told = "no available releases match the given constraints ~> 1.5"  # what the source does not have, no entry mends
    words = f"Could not retrieve the list of available versions for provider acme/demo: {told}"
    (folder / "ci.log").write_text(boxed_log(("Failed to query available provider packages", words)), "utf-8")
    assert "restore-entry" not in {one["id"] for one in doctor(folder, "--offline", "ci.log")["remedies"]}


def test_an_entry_that_was_taken_out_is_restored(made: Any, doctor: Any) -> None:
    demo, netbox = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    both = (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))
    folder = made(SampleIncident("", ("none",), (lock_file(demo, netbox), lock_file(demo)), both))
    (folder / "ci.log").write_text(boxed_log(INCIDENTS["not-locked"].message), "utf-8")
    first = git(folder, "log", "--reverse", "--format=%h", "--abbrev=12", "--", LOCK).split()[0]
    fix = next(one for one in doctor(folder, "--offline", "ci.log")["remedies"] if one["id"] == "restore-entry")
    assert fix["command"] == f"locklens restore acme/netbox --from {first} --root=live/prod"
    assert main(shlex.split(fix["command"])[1:], no_screen) == 0
    assert (folder / LOCK).read_bytes() == lock_file(demo, netbox)
    assert doctor(folder, "--offline", "ci.log")["state"] == "fixed"


def test_terraform_where_it_reads_no_file_is_the_wrong_tool(both: Path, doctor: Any) -> None:
    for file in (both / "live/a-terraform").glob("*.tf"):
        file.rename(file.with_suffix(".tofu"))
    (both / "run.log").write_text(f"$ terraform -chdir=live/a-terraform plan\n{ABSENT.format(TERRAFORM_HOST)}", "utf-8")
    document = doctor(both, "run.log", "--", "live/a-terraform")
    assert "other-tool" in [one["id"] for one in document["causes"] if one["verdict"] == "yes"]
    assert [one["command"] for one in document["remedies"]] == ["tofu -chdir=live/a-terraform init"]


@pytest.mark.parametrize("words", [("ci.log",), ("--", "live/prod")], ids=["log", "root"])
def test_the_entry_that_a_mistyped_source_may_mean_is_not_removed(
    words: tuple[str, ...], made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS["wrong-source"])
    fixes = doctor(folder, *words)["remedies"]
    assert fixes[0]["id"] == "correct-source"
    assert "acme/demo may be meant, which is locked here, and required by nothing" in fixes[0]["note"]
    assert "prune" not in {one["id"] for one in fixes}
    main_tf = folder / "live/prod/main.tf"
    main_tf.write_text(main_tf.read_text("utf-8").replace("acme/dmeo", "acme/netbox"), "utf-8")
    fixes = doctor(folder, "--", "live/prod")["remedies"]
    assert "prune" in {one["id"] for one in fixes}, "another provider that the registry has"
