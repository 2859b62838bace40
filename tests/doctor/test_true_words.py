"""A verdict is about the failing run: its root, its packages, its requests; and fixes work where they are printed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kit.command_line import no_screen
from kit.git import git
from msgspec.structs import replace

from locklens.cli.main import main
from locklens.demo import lock_file, package_bytes, write_unpacked
from locklens.demo.cases import requires, sample_entry
from locklens.demo.faults import Fault, FaultRule, Step
from locklens.demo.incidents import SampleCopy, boxed_log, sample_incidents
from locklens.doctor.messages import RecognisedError
from locklens.doctor.model import Cause, CauseId, CauseVerdict, StartingPoint
from locklens.doctor.report_words import distinct_messages
from locklens.operations.doctor import DoctorRequest
from locklens.operations.doctor.diagnose import diagnose
from locklens.project.clifiles import this_platform
from locklens.releases import NetworkSettings
from locklens.storage.cache import Cache

INCIDENTS = {one.cause: one for one in reversed(sample_incidents())}
LOCK = ".terraform.lock.hcl"
DEMO = "registry.terraform.io/acme/demo"
QUERY = "Failed to query available provider packages"
LIST = "Could not retrieve the list of available versions for provider {}: {}"
VIOLATED = (
    QUERY,
    LIST.format(
        "acme/demo",
        "locked provider registry.terraform.io/acme/demo 1.4.2 does not match configured version constraint ~> 1.5; must "
        "use terraform init -upgrade to allow selection of new versions",
    ),
)
INSTALL = "Failed to install provider"


def _root(folder: Path, name: str, *required: tuple[str, str], lock: bytes | None = None) -> None:
    place = folder / name
    place.mkdir(parents=True)
    (place / "main.tf").write_text(requires(*required), "utf-8")
    if lock is not None:
        (place / LOCK).write_bytes(lock)


def _log(folder: Path, *messages: tuple[str, ...], before: str = "", after: str = "", boxed: bool = True) -> str:
    text = boxed_log(*messages) if boxed else "\n".join("\n\n".join((f"Error: {m[0]}", *m[1:])) for m in messages)
    (folder / "real.log").write_text(f"{before}{text}{after}", "utf-8")
    return "real.log"


@pytest.fixture
def several(made: Any) -> Path:
    """Makes a repository of roots with the same entry, one of which requires a newer version, and one more provider."""
    folder: Path = made(INCIDENTS["download-damaged"])
    lock = (folder / "live/prod" / LOCK).read_bytes()
    _root(folder, "live/bump", ("acme/demo", "~> 1.5"), lock=lock)
    _root(folder, "live/newp", ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"), lock=lock)
    _root(folder, "live/typo", ("acme/dmeo", "~> 1.4"))
    return folder


@pytest.mark.parametrize("before", [
    "", "+ terraform -chdir=live/bump init -no-color\n", "$ cd live/bump\n$ terraform init\n", "cd live/bump && terraform init\n",
    'running "/usr/bin/terraform init" in "/home/atlantis/.atlantis/repos/corp/infra/17/default/live/bump": exit status 1\n',
    "Ran Plan for dir: `live/bump` workspace: `default`\n", "##[group]Run terraform init\n  working-directory: live/bump\n",
    "Run cd live/bump && terraform init\n", "##[group]Run cd live/bump && terraform init\n",
    "+ cd live/prod\n+ terraform init -no-color\n+ cd ../bump\n+ terraform init -no-color\n", "$ cd ../bump && tofu init\n",
    "ida@ci:~/infra$ cd live/bump && terraform init\n", "root@ci:/builds/infra# cd live/bump\n", "[ida@ci infra]$ cd live/bump\n",
    "ida@mac infra % cd live/bump && terraform init\n", "~/infra ❯ cd live/bump\n", "PS C:\\infra> cd live/bump\n",
])  # fmt: skip
def test_the_log_tells_the_root(before: str, several: Path, doctor: Any) -> None:
    message = VIOLATED if not before else (INSTALL, "Error while installing acme/demo v1.4.2: unexpected EOF")
    document = doctor(several, _log(several, message, before=before))
    assert (document["state"], document["facts"]["root"]) == ("open", "live/bump")
    assert document["errors"][0]["roots"] == ["live/bump"]
    if not before:  # the constraint of the message is that of one root
        first = document["causes"][0]
        assert (first["id"], first["verdict"]) == ("constraint-conflict", "yes")
        assert [one["command"] for one in document["remedies"]] == ["locklens upgrade acme/demo --root=live/bump"]


def test_a_report_names_roots_from_the_top_wherever_it_is_made(several: Path, doctor: Any) -> None:
    log = _log(several, VIOLATED)
    document = doctor(several / "live/bump", f"../../{log}")
    assert (document["facts"]["root"], document["errors"][0]["roots"]) == ("live/bump", ["live/bump"])
    assert {root for cause in document["causes"] for root in cause["roots"]} == {"live/bump"}
    assert [one["command"] for one in document["remedies"]] == ["locklens upgrade acme/demo"]
    text = doctor(several / "live/bump", "--format", "text", f"../../{log}")
    having = "the same version and hashes in 3 of 3 roots, also live/newp, live/prod"
    assert f"ROOT live/bump acme/demo 1.4.2; {having} " in " ".join(text.split())
    both = (INSTALL, "Error while installing acme/demo v1.4.2: unexpected EOF")
    document = doctor(several / "live/bump", f"../../{_log(several, both)}", "--", ".", "../newp")
    assert {root for cause in document["causes"] for root in cause["roots"]} <= {"live/bump", "live/newp"}
    assert "(in ." not in str(document)


def test_the_file_of_the_error_tells_the_root(several: Path, doctor: Any) -> None:
    message = ("Invalid expression", f"on live/newp/{LOCK} line 3, in provider: expected an expression")
    (several / "live/newp" / LOCK).write_text("provider {\n", "utf-8")
    assert doctor(several, _log(several, message))["facts"]["root"] == "live/newp"


def test_what_init_listed_tells_the_root(several: Path, doctor: Any) -> None:
    listed = (
        "Initializing provider plugins...\n- Reusing previous version of acme/demo from the dependency lock file\n"
        '- Finding acme/netbox versions matching "~> 3.9"...\n'
    )
    message = ("Provider dependency changes detected", "Changes to the required provider dependencies were detected")
    document = doctor(several, _log(several, message, before=listed))
    assert document["facts"]["root"] == "live/newp"
    assert next((one["id"], one["verdict"]) for one in document["causes"]) == ("not-locked", "yes")
    assert all("acme/netbox" in one["command"] for one in document["remedies"])


@pytest.mark.parametrize("mended", [("newp",), ("newq",), ("newp", "newq")])
def test_a_missing_provider_is_fixed_where_no_root_that_the_log_fits_lacks_it(
    mended: tuple[str, ...], several: Path, doctor: Any
) -> None:
    lock = (several / "live/prod" / LOCK).read_bytes()
    _root(several, "live/newq", ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"), lock=lock)
    git(several, "add", "--all")
    git(several, "commit", "-qm", "roots")
    listed = (
        "Initializing provider plugins...\n- Reusing previous version of acme/demo from the dependency lock file\n"
        '- Finding acme/netbox versions matching "~> 3.9"...\n'
    )
    message = ("Provider dependency changes detected", "Changes to the required provider dependencies were detected")
    log = _log(several, message, before=listed)
    later = (several / log).stat().st_mtime + 3600
    entries = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    for name in mended:
        path = several / "live" / name / LOCK
        path.write_bytes(lock_file(*entries))
        os.utime(path, (later, later))
    document = doctor(several, log)
    assert document["errors"][0]["roots"] == ["live/newp", "live/newq"]
    assert document["facts"]["root"] is None
    assert document["state"] == ("fixed" if len(mended) == 2 else "open")
    if document["state"] == "fixed":
        assert "-chdir=ROOT" in document["next"]
        assert "ROOT stands for the root that failed" in document["remedies"][0]["note"]
    else:
        first = document["causes"][0]
        assert first["id"] == "not-locked"
        assert f"live/{({'newp', 'newq'} - {*mended}).pop()}/main.tf" in first["evidence"]


@pytest.mark.parametrize("is_known", [True, False])
def test_a_root_that_neither_the_log_nor_a_commit_names_is_not_fixed(
    is_known: bool, several: Path, doctor: Any
) -> None:
    git(several, "add", "--all")
    git(several, "commit", "-qm", "roots")
    main_tf = several / "live/bump/main.tf"
    main_tf.write_text(main_tf.read_text("utf-8").replace("~> 1.5", "~> 1.4.0"), "utf-8")
    git(several, "commit", "-qam", "no root has the constraint of the log", *(() if is_known else ("--amend",)))
    document = doctor(several, _log(several, VIOLATED))
    if is_known:
        assert document["facts"]["root"] == "live/bump"
        assert (document["state"], document["next"]) == ("fixed", "terraform -chdir=live/bump init")
        return
    assert (document["state"], document["next"], document["facts"]["root"]) == ("open", None, None)
    assert "live/bump" in document["errors"][0]["roots"]
    assert any("does not tell which root failed" in note for note in document["run"]["notes"])
    out = doctor(several, "--format", "text", "real.log")
    assert "FIXED" not in out
    assert "ROOT         ?" in out


def test_a_constraint_that_no_commit_here_has_is_of_another_commit(several: Path, doctor: Any) -> None:
    git(several, "add", "--all")
    git(several, "commit", "-qm", "roots")
    of_branch = tuple(words.replace("~> 1.5", "~> 9.0") for words in VIOLATED)
    document = doctor(several, _log(several, of_branch), "--", "live/prod")
    assert (document["state"], document["causes"][0]["id"]) == ("open", "constraint-conflict")
    assert document["causes"][0]["verdict"] == "unknown"
    assert "the log is of ~> 9.0, which is not what is here" in document["causes"][0]["evidence"]


def test_a_root_without_a_lock_file(several: Path, doctor: Any) -> None:
    words = "provider registry registry.terraform.io does not have a provider named registry.terraform.io/acme/dmeo"
    document = doctor(several, _log(several, (QUERY, LIST.format("acme/dmeo", words))))
    first = document["causes"][0]
    assert (document["facts"]["root"], first["id"], first["verdict"]) == ("live/typo", "wrong-source", "yes")
    assert "live/typo/main.tf:" in first["evidence"]
    assert document["remedies"][0]["hint"] == "locklens why acme/dmeo --root=live/typo"
    words = "no available releases match the given constraints ~> 1.4"
    first = doctor(several, _log(several, (QUERY, LIST.format("acme/dmeo", words))))["causes"][0]
    assert (first["id"], first["verdict"]) == ("constraint-conflict", "yes")


def test_each_error_has_its_root_and_none_without_a_cause_is_hidden(several: Path, doctor: Any) -> None:
    lines = boxed_log(VIOLATED).splitlines(), boxed_log(("Failed to install provider", "Error while installing acme/demo v1.4.2: provider binary not found")).splitlines()  # fmt: skip
    log = [f"[live/bump] {line}" for line in lines[0]] + [f"[live/newp] {line}" for line in lines[1]]
    (several / "real.log").write_text("\n".join(log), "utf-8")
    out = " ".join(doctor(several, "--format", "text", "real.log").split())
    assert "root live/bump acme/demo 1.4.2" in out
    assert "root live/newp acme/demo 1.4.2" in out
    assert "No cause was found for the error of acme/demo 1.4.2." in out
    document = doctor(several, "real.log")
    assert (document["facts"]["root"], [one["roots"] for one in document["errors"]]) == (
        None,
        [["live/bump"], ["live/newp"]],
    )


def test_hashes_that_never_were_of_the_release_are_no_republication(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["republished"], rules=(), copies=()))
    lock = folder / "live/prod" / LOCK
    text = lock.read_text("utf-8")
    for number, line in enumerate([one for one in text.splitlines() if '"zh:' in one]):
        text = text.replace(line, f'    "zh:{number:064x}",')
    lock.write_text(text, "utf-8")
    git(folder, "commit", "-qa", "--amend", "-m", "other hashes")
    document = doctor(folder, "--prove", "changed", "ci.log")
    assert (document["causes"][0]["id"], document["causes"][0]["verdict"]) == ("republished", "likely")
    assert not any("accept" in one["id"] for one in document["remedies"])
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "The version was published again, or what is locked never belonged to it. [LIKELY]" in out


def test_what_is_on_this_machine_is_likely_at_most(made: Any, doctor: Any, tmp_path: Path) -> None:
    incident = INCIDENTS["mirror-differs"]
    folder = made(incident)
    settings = tmp_path / "demo.tfrc"
    mirror = (
        f'provider_installation {{\n  filesystem_mirror {{\n    path = "{folder}/mirror"\n  }}\n  direct {{}}\n}}\n'
    )
    settings.write_text(settings.read_text("utf-8") + mirror, "utf-8")
    for options, verdict in (((), "likely"), (("--mirror", "mirror"), "yes")):
        first = doctor(folder, "--prove", "changed", *options, "ci.log")["causes"][0]
        assert (first["id"], first["verdict"]) == ("mirror-differs", verdict)


def test_no_copy_is_moved_away_by_a_line_that_cannot_fetch_another(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder = made(INCIDENTS["mirror-differs"])
    settings = tmp_path / "demo.tfrc"
    settings.write_text(settings.read_text("utf-8").replace("127.0.0.1:", "127.0.0.1:1"), "utf-8")
    for words in ((), ("--offline",)):
        document = doctor(folder, *INCIDENTS["mirror-differs"].options, *words, "ci.log")
        (fix,) = (one for one in document["remedies"] if one["id"] == "replace-copy")
        before = sorted(folder.rglob("mirror/**/*"))
        line = fix["command"].replace("locklens", f"{sys.executable} -m locklens")
        assert subprocess.run(["sh", "-c", line], cwd=folder, check=False, capture_output=True).returncode == 1
        assert sorted(folder.rglob("mirror/**/*")) == before


@pytest.mark.parametrize("options", [(), ("--platform", "linux_amd64"), ("--platform", "darwin_arm64")])
def test_a_copy_of_another_platform_is_not_blamed(options: tuple[str, ...], made: Any, doctor: Any) -> None:
    incident = INCIDENTS["mirror-differs"]
    platform = options[1] if options else this_platform()
    other = "darwin_arm64" if platform != "darwin_arm64" else "linux_amd64"
    copies = tuple(replace(incident.copies[0], platform=one, edition="tampered") for one in (platform, other))
    folder = made(replace(incident, copies=copies))
    log = folder / "ci.log"
    log.write_text(log.read_text("utf-8").replace("on linux_amd64\n", ""), "utf-8")
    document = doctor(folder, "--offline", "--mirror", "mirror", *options, "ci.log")
    cause = next(one for one in document["causes"] if one["id"] == "mirror-differs")
    assert cause["verdict"] == "likely"
    assert platform in cause["evidence"]
    assert other not in cause["evidence"]
    assert ("is assumed" in cause["evidence"]) == (not options)
    moved = [one["command"] for one in document["remedies"] if one["id"] == "replace-copy"]
    assert len(moved) == 1
    assert f"1.4.2/{platform}" in moved[0]


@pytest.mark.parametrize("words", [(), ("ci.log",)])
def test_an_edited_hash_is_not_the_packages_fault(words: tuple[str, ...], made: Any, doctor: Any) -> None:
    incident = INCIDENTS["plugin-corrupted"]
    whole = lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4"))
    installed = replace(incident.copies[0], platform=this_platform(), edition="")
    folder = made(replace(incident, locks=(whole,), copies=(installed,)))
    lock = folder / "live/prod" / LOCK
    text = lock.read_text("utf-8")
    h1 = next(one for one in text.split('"') if one.startswith("h1:"))
    other = h1[:10] + ("A" if h1[10] != "A" else "B") + h1[11:]
    lock.write_text(text.replace(h1, other), "utf-8")
    document = doctor(folder, "--offline", *words, "--", "live/prod")
    first, causes = document["causes"][0], {one["id"]: one["verdict"] for one in document["causes"]}
    assert (first["id"], first["verdict"]) == ("hand-edit", "yes")
    assert h1 in first["evidence"]
    assert causes["plugin-corrupted"] == "no"
    assert [one["id"] for one in document["remedies"]] == ["restore-entry"]


def test_a_wrong_entry_of_another_root_is_no_proof_of_an_edit(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["republished"])
    verdicts = {one["id"]: one["verdict"] for one in doctor(folder, "ci.log", "--", "live/prod")["causes"]}
    lock = (folder / "live/prod" / LOCK).read_bytes()
    _root(folder, "live/other", ("acme/demo", "~> 1.3"), lock=lock.replace(b'"1.4.2"', b'"1.3.9"'))
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "try an older version")
    beside = {one["id"]: one["verdict"] for one in doctor(folder, "ci.log", "--", "live/prod")["causes"]}
    assert beside == verdicts
    assert "yes" not in {beside["hand-edit"], beside["bad-merge"]}
    assert beside["republished"] != "no"


def test_an_edited_version_that_satisfies_the_constraint_ends_nothing(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["constraint-conflict"])
    lock = folder / "live/prod" / LOCK
    lock.write_text(lock.read_text("utf-8").replace('"1.4.2"', '"2.0.0"'), "utf-8")
    assert doctor(folder, "ci.log")["state"] == "open"


def test_no_two_causes_contradict_each_other_about_an_edited_version(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["hand-edit"])
    causes = {one["id"]: one for one in doctor(folder, "ci.log")["causes"]}
    assert causes["hand-edit"]["verdict"] == "yes"
    assert "has the hashes of 3.9.1" in causes["hand-edit"]["evidence"]
    assert causes["bad-merge"]["verdict"] == "unknown", "a squashed merge leaves that, too"
    assert "5 of 5 zh of packages are of 3.9.1" in causes["bad-merge"]["evidence"]
    covered = doctor(folder, "--platform", "linux_amd64", "ci.log")["causes"]
    words = next(one["evidence"] for one in covered if one["id"] == "platform-missing")
    assert "none is missing" not in words
    assert "5 zh of packages are locked that are not of acme/netbox 3.10.0" in words


def test_a_sound_folder_here_rules_nothing_out_there(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["plugin-corrupted"]
    folder = made(replace(incident, copies=(replace(incident.copies[0], edition=""),)))
    document = doctor(folder, "ci.log")
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("plugin-corrupted", "likely")
    assert "the message says that its hash is not locked" in first["evidence"]
    assert first["evidence"].endswith(" now: it was replaced after the log, or the log is of another folder")
    notes = [one["note"] for one in document["remedies"] if one["id"] == "reinstall"]
    assert notes == ["on the machine of the log; here the locked package is installed: run the failed command again"]


def test_a_folder_that_was_replaced_is_fixed(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["plugin-corrupted"])
    place = folder / "live/prod/.terraform/providers" / DEMO / "1.4.2/linux_amd64"
    place.rename(f"{place}.suspect")
    shutil.copytree(folder / "mirror" / DEMO / "1.4.2/linux_amd64", place)
    document = doctor(folder, "--mirror", "mirror", "ci.log")
    assert (document["state"], document["next"]) == ("fixed", None)
    assert [(one["id"], one["command"]) for one in document["remedies"]] == [("run-again", None)]
    out = " ".join(doctor(folder, "--mirror", "mirror", "--format", "text", "ci.log").split())
    assert "has a locked hash: run the command that failed again. [FIXED]" in out
    assert "NEXT" not in out
    assert document["fixed"].endswith("linux_amd64 was moved aside, and what is there now has a locked hash")
    assert document["causes"] == [], "what is so now does not rule out what was"


def _named(document: Any, cause: str) -> Any:
    return next(one for one in document["causes"] if one["id"] == cause)


@pytest.mark.parametrize(
    ("cause", "now"),
    [
        ("plugin-corrupted", "nothing is installed in its place: run init"),
        ("mirror-differs", "no mirror here has the package: init fails until one is filled"),
    ],
)
def test_a_cause_stays_what_it_is_when_its_folder_was_moved_aside(cause: str, now: str, made: Any, doctor: Any) -> None:
    incident = INCIDENTS[cause]
    folder = made(incident)
    words = (*incident.options, "--platform=linux_amd64", "--prove=all", "ci.log")
    before = _named(doctor(folder, *words), cause)
    place = shlex.split(doctor(folder, *words)["remedies"][-1]["command"].partition("mv -- ")[2])[0]
    (folder / place).rename(folder / f"{place}.suspect")
    after = _named(doctor(folder, *words), cause)
    assert (before["verdict"], after["verdict"]) == ("yes", "yes")
    was = before["evidence"].partition("; ")[0].replace(place, f"{place}, which was moved aside,")
    assert after["evidence"] == f"{was}; {now}"
    assert "command" not in after or not after["command"]
    out = " ".join(doctor(folder, *words, "--format", "text").split())
    assert " that was moved aside is not the locked package. [CONFIRMED]" in out
    command = doctor(folder, *words)["remedies"][-1]["command"]
    assert cause != "plugin-corrupted" or command == "terraform -chdir=live/prod init"


def test_an_installed_folder_that_leads_into_the_plugin_cache_is_the_cache_s(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["plugin-corrupted"])
    place = folder / "live/prod/.terraform/providers" / DEMO / "1.4.2/linux_amd64"
    cached = folder / "cache" / DEMO / "1.4.2/linux_amd64"
    cached.parent.mkdir(parents=True)
    place.rename(cached)
    place.symlink_to(cached)
    words = ("--plugin-cache", "cache", "ci.log")
    document = doctor(folder, *words)
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("plugin-corrupted", "likely")
    shown = f"cache/{DEMO}/1.4.2/linux_amd64"
    assert f"it is a link to {shown} in the plugin cache" in first["evidence"]
    moved = [one["command"] for one in document["remedies"] if one["id"] == "reinstall"]
    assert [one.partition(" && ")[0] for one in moved] == [f"mv -- {shown} {shown}.suspect"]
    out = " ".join(doctor(folder, "--format", "text", *words).split())
    assert "VERDICT The plugin cache's copy, which the installed folder is a link to, is not the locked package" in out
    cached.rename(f"{cached}.suspect")
    out = " ".join(doctor(folder, "--format", "text", *words).split())
    assert "VERDICT The plugin cache's copy that was moved aside is not the locked package" in out
    assert "nothing is in its place in the plugin cache: run init" in out
    shutil.copytree(folder / "mirror" / DEMO / "1.4.2/linux_amd64", cached)  # as init installs it again
    document = doctor(folder, *words)
    assert (document["state"], document["fixed"].partition(" was moved aside")[0]) == ("fixed", shown)


@pytest.mark.parametrize("is_link", [False, True], ids=["folder", "link"])
@pytest.mark.parametrize("platform", [(), ("--platform", "linux_amd64")], ids=["untold", "told"])
def test_a_folder_without_the_program_of_its_provider_is_incomplete_before_a_hash_is_missing(
    platform: tuple[str, ...], made: Any, doctor: Any, *, is_link: bool
) -> None:
    """Its hash, which is not locked, says nothing of the lock file: only that of a whole package may be missing."""
    few = lock_file(replace(sample_entry("acme/demo", "1.4.2", "~> 1.4"), unpacked=("darwin_arm64",)))
    folder = made(replace(INCIDENTS["plugin-corrupted"], locks=(few,), copies=INCIDENTS["plugin-corrupted"].copies[:1]))
    log = (folder / "ci.log").read_text("utf-8")
    (folder / "ci.log").write_text(log.replace("on linux_amd64\n", ""), "utf-8")
    place = folder / "live/prod/.terraform/providers" / DEMO / "1.4.2/linux_amd64"
    if is_link:
        cached = folder / "cache" / DEMO / "1.4.2/linux_amd64"
        cached.parent.mkdir(parents=True)
        place.rename(cached)
        place.symlink_to(cached)
    words = ("--offline", "--plugin-cache", "cache", *platform, "ci.log")
    (program,) = place.glob("terraform-provider-demo*")
    program.unlink()
    (place / "LICENSE").touch()
    document = doctor(folder, *words)
    first = document["causes"][0]
    assert (first["id"], first["verdict"], first["basis"]) == ("plugin-corrupted", "likely", "hashes")
    assert "/linux_amd64 has no file terraform-provider-*" in first["evidence"]
    assert document["remedies"][0]["id"] == "reinstall"
    out = " ".join(doctor(folder, "--format", "text", *words).split())
    named = "plugin cache's copy, which the installed folder is a link to," if is_link else "installed package"
    assert f"VERDICT The {named} is incomplete: it lacks the provider's program" in out


def test_of_a_link_to_an_altered_folder_the_link_alone_is_moved(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder = made(INCIDENTS["plugin-corrupted"])
    place = folder / "live/prod/.terraform/providers" / DEMO / "1.4.2/linux_amd64"
    elsewhere = tmp_path / "no cache of the settings"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    (moved,) = (one for one in doctor(folder, "ci.log")["remedies"] if one["id"] == "reinstall")
    assert "Move the installed link aside" in doctor(folder, "--format", "text", "ci.log")
    assert f"the link alone is moved: {elsewhere} stays as it is" in moved["note"]


def test_an_installed_folder_is_of_its_root_whichever_roots_a_log_fits(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["plugin-corrupted"])
    shutil.copytree(folder / "live/prod", folder / "live/qa")
    sound = folder / "live/qa/.terraform/providers" / DEMO / "1.4.2/linux_amd64"
    shutil.rmtree(sound)
    shutil.copytree(folder / "mirror" / DEMO / "1.4.2/linux_amd64", sound)
    words = (
        f'Could not load the schema for provider {DEMO}: failed to instantiate provider "{DEMO}" to obtain schema: '
        "Unrecognized remote plugin message: Failed to read any lines from plugin's stdout"
    )
    document = doctor(folder, _log(folder, ("Failed to obtain provider schema", words)))
    assert document["errors"][0]["roots"] == ["live/prod", "live/qa"]
    (cause,) = document["causes"]
    assert (cause["id"], cause["roots"]) == ("plugin-corrupted", ["live/prod"])
    assert document["remedies"]
    assert all(one["roots"] == 1 and "ROOT" not in one["command"] for one in document["remedies"])
    out = " ".join(doctor(folder, "--format", "text", "real.log").split())
    assert re.search(r"FIX a [^:$]+: in live/prod 1 root", out)
    assert "VERDICT In live/prod: " in out


def test_a_mirror_that_is_the_only_source_is_filled_again(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder = made(INCIDENTS["mirror-differs"])
    settings = tmp_path / "demo.tfrc"
    only = f'provider_installation {{\n  filesystem_mirror {{\n    path = "{folder}/mirror"\n  }}\n}}\n'
    settings.write_text(settings.read_text("utf-8") + only, "utf-8")
    command = next(
        one["command"] for one in doctor(folder, "--mirror=mirror", "ci.log")["remedies"] if one["id"] == "replace-copy"
    )
    assert command.endswith(" && locklens mirror --platform=linux_amd64 mirror --root=live/prod")
    place = folder / "mirror" / DEMO / "1.4.2/linux_amd64"
    place.rename(f"{place}.suspect")
    document = doctor(folder, "ci.log")
    assert document["state"] == "open"
    assert document["remedies"][0]["command"].startswith("locklens mirror --platform=linux_amd64 /")
    shutil.copytree(f"{place}.suspect", place)
    (next(iter(place.iterdir()))).write_bytes(b"altered again")
    assert doctor(folder, "ci.log")["state"] == "open"
    shutil.rmtree(place.parent)
    write_unpacked(folder / "mirror", DEMO, "1.4.2", this_platform())
    assert doctor(folder, "ci.log")["state"] == "fixed"
    log = folder / "ci.log"
    log.write_text(f"2026-11-29T22:01:00.0000001Z ##[group]Run terraform init\n{log.read_text('utf-8')}", "utf-8")
    os.utime(log, (1_700_000_000, 1_700_000_000))
    document = doctor(folder, "ci.log")
    said = "which is newer than the log and has a locked hash, does not end the error: another program printed the log"
    assert (document["state"], said in document["run"]["notes"][0]) == ("open", True)


@pytest.mark.parametrize("named", [("--", "live/prod"), ()], ids=["named-root", "any-root"])
def test_a_mirror_that_was_filled_here_does_not_end_the_error_of_a_ci_system(
    named: tuple[str, ...], made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS["mirror-lacks"])
    shutil.copytree(folder / "live/prod", folder / "live/stage")
    words = f"provider {DEMO} was not found in any of the search locations\n\n- {folder}/mirror"
    log = folder / _log(folder, ("Failed to query available provider packages", words))
    write_unpacked(folder / "mirror", DEMO, "1.4.2", this_platform())
    of_machine, of_ci = log.read_text("utf-8"), "2026-11-29T22:01:00.0000001Z ##[group]Run terraform init\n"
    for text, state in ((of_machine, "fixed"), (of_ci + of_machine, "open")):
        log.write_text(text, "utf-8")
        os.utime(log, (1_700_000_000, 1_700_000_000))
        document = doctor(folder, log.name, *named)
        assert (document["state"], document["facts"]["root"]) == (state, "live/prod" if named else None)
        said = (
            "which is newer than the log and has a locked hash, does not end the error: another program printed the log"
        )
        assert any(said in note for note in document["run"]["notes"]) == (state == "open")


def test_a_package_that_its_mirror_lacks(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["mirror-lacks"])
    words = "registry.terraform.io/acme/demo v1.4.2 does not have a package available for your current platform, linux_amd64."
    document = doctor(folder, _log(folder, ("Incompatible provider version", f"Provider {words}")))
    assert [(one["id"], one["verdict"]) for one in document["causes"]][:1] == [("mirror-lacks", "likely")]
    assert [one["id"] for one in document["remedies"]] == ["retry", "fill-mirror"]  # the registry may have lacked it


def test_a_command_that_fills_a_mirror_for_all_providers_names_none(made: Any, doctor: Any) -> None:
    entries = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    required = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
    folder = made(replace(INCIDENTS["mirror-lacks"], locks=(lock_file(*entries),), constraints=required))
    log = folder / "ci.log"
    wrong = "Error while installing acme/netbox v3.9.1: the local package for registry.terraform.io/acme/netbox 3.9.1 "
    wrong += (
        "doesn't match any of the checksums previously recorded in the dependency lock file; for more information: x"
    )
    log.write_text(log.read_text("utf-8") + boxed_log((INSTALL, wrong)), "utf-8")
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert re.search(
        r" [a-z] Fill the mirror from the signed releases of all required providers 1 root, size unknown", out
    )


def test_an_altered_package_is_no_damaged_download(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["package-altered"]
    folder = made(incident)
    causes = {one["id"]: one["verdict"] for one in doctor(folder, "ci.log")["causes"]}
    assert (causes["download-damaged"], causes["package-altered"]) == ("likely", "unknown")
    document = doctor(folder, *incident.options, "ci.log")
    causes = {one["id"]: one["verdict"] for one in document["causes"]}
    assert (causes["package-altered"], causes["download-damaged"]) == ("yes", "no")
    assert "retry" not in {one["id"] for one in document["remedies"]}
    out = " ".join(doctor(folder, "--format", "text", *incident.options, "ci.log").split())
    assert "or the package was altered" not in out


@pytest.mark.parametrize(("cause", "title"), [
    ("key-changed", "Upgrade acme/demo: 1.4.2 is refused as long as its signature is not valid"),
    ("key-revoked", "Upgrade acme/demo, once its publisher has signed a version with another key"),
])  # fmt: skip
def test_a_fix_of_a_signature_names_the_signature(cause: str, title: str, made: Any, doctor: Any) -> None:
    out = " ".join(doctor(made(INCIDENTS[cause]), "--format", "text", "ci.log").split())
    assert title in out


@pytest.mark.parametrize(("cause", "words"), [
    ("credentials", "without credentials the request fails here: registry.terraform.io requires authentication credentials"),
    ("credentials", "access was denied; the message does not say who answered"),
    ("bad-merge", "Lock acme/demo 1.4.2, as HEAD (ours) has"),
    ("bad-merge", "the upgrade then writes acme/demo 1.5.0 with those of its release; the upgrade asks its registry"),
    ("bad-merge", "both sides have the same hashes, those of acme/demo 1.4.2: its entry keeps them"),
    ("h1-missing", "had 1 h1 that is locked no longer"),
    ("h1-missing", "it adds hashes that are not known as signed; then commit the lock file DO NOT DO THIS"),
    ("other-tool", "Upgrade hashicorp/random: the new version comes with its own hashes"),
    ("wrong-source", ", and it has none now"),
])  # fmt: skip
def test_a_sentence_names_what_it_is_about(cause: str, words: str, made: Any, doctor: Any) -> None:
    assert words in " ".join(doctor(made(INCIDENTS[cause]), "--format", "text", "ci.log").split())


def test_the_note_of_a_fix_is_in_all_reports(made: Any, doctor: Any) -> None:
    unchecked = "the signature of that version was not checked: upgrade refuses one that is not valid"
    note = f"a new version is a new decision: review it; then commit the lock file; {unchecked}"
    folder = made(INCIDENTS["key-changed"])
    assert [one["note"] for one in doctor(folder, "ci.log")["remedies"]] == [note]
    assert f"| `{note}` |" in doctor(folder, "--format", "markdown", "ci.log")


UNKNOWN = "provider registry registry.terraform.io does not have a provider named registry.terraform.io/{}"


def test_the_address_of_a_locked_provider_is_likely_right(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    _log(folder, (QUERY, LIST.format("acme/demo", UNKNOWN.format("acme/demo"))), boxed=False)
    document = doctor(folder, "--offline", "real.log")
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("wrong-source", "likely")
    assert "locks acme/demo 1.4.2, so that it likely had it once" in first["evidence"]
    asked, corrected = document["remedies"]
    assert (asked["id"], corrected["id"], corrected["command"]) == ("ask-publisher", "correct-source", None)
    assert asked["note"] == "its address was right when it was locked, unless the entry was written by hand"


def test_a_registry_without_the_provider_lists_no_versions_of_it(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    for file in (folder / "live/prod").iterdir():
        if file.is_file():
            file.write_bytes(file.read_bytes().replace(b"acme/demo", b"acme/gone"))
    git(folder, "commit", "--amend", "-qam", "gone from the registry")
    first = doctor(folder, "--", "live/prod")["causes"][0]
    assert (first["id"], first["verdict"], first["evidence"]) == (
        "yanked",
        "yes",
        "registry.terraform.io has no acme/gone",
    )
    told = doctor(folder, "--format", "text", "--", "live/prod")
    assert "The registry does not have the provider. [CONFIRMED]" in told
    _log(folder, (QUERY, LIST.format("acme/gone", UNKNOWN.format("acme/gone"))), boxed=False)
    causes = {one["id"]: one for one in doctor(folder, "real.log", "--", "live/prod")["causes"]}
    assert "yanked" not in causes
    words = (
        ", and it has none now; live/prod/.terraform.lock.hcl:4 locks acme/gone 1.4.2, so that it likely had it once"
    )
    assert causes["wrong-source"]["evidence"].endswith(words)


@pytest.mark.parametrize("is_committed", [True, False])
def test_an_address_that_was_replaced_in_the_lock_file_too_is_changed_back(
    is_committed: bool, made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS["download-damaged"])
    commit = git(folder, "rev-parse", "HEAD")[:12]
    for file in (folder / "live/prod").iterdir():
        if file.is_file():
            file.write_bytes(file.read_bytes().replace(b"acme/demo", b"amce/demo"))
    if is_committed:
        git(folder, "commit", "-qam", "replaced everywhere")
        commit = git(folder, "rev-parse", "HEAD")[:12]
    _log(folder, (QUERY, LIST.format("amce/demo", UNKNOWN.format("amce/demo"))), boxed=False)
    for is_offline in (True, False):
        document = doctor(folder, *(["--offline"] if is_offline else []), "real.log", "--", "live/prod")
        first, (fix,) = document["causes"][0], document["remedies"]
        assert (first["id"], first["verdict"]) == ("wrong-source", "likely" if is_offline else "yes")
        by = f"commit {commit}" if is_committed else "an uncommitted change"
        words = f"locks amce/demo 1.4.2, which {by} put in the place of acme/demo, with the same hashes"
        assert words in first["evidence"]
        assert (fix["id"], fix["trust"], fix["command"]) == ("correct-source", "none", None)
    out = " ".join(doctor(folder, "--offline", "--format", "text", "real.log", "--", "live/prod").split())
    assert f"Change amce/demo back to acme/demo by hand where it is required, and at live/prod/{LOCK}:4" in out


def test_a_fix_ends_the_diagnosis(made: Any, doctor: Any) -> None:
    for cause in ("key-expired", "key-changed"):
        folder = made(INCIDENTS[cause])
        lock = folder / "live/prod" / LOCK
        before = lock.read_bytes()
        lock.write_bytes(lock_file(sample_entry("acme/demo", "1.5.0", "~> 1.4")))
        document = doctor(folder, "ci.log")
        assert (document["state"], document["causes"], document["next"]) == (
            "fixed",
            [],
            "terraform -chdir=live/prod init",
        )
        assert before != lock.read_bytes()
        shutil.rmtree(folder)


def test_nothing_is_fixed_where_init_still_fails(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["key-revoked"])
    (folder / "live/prod" / LOCK).write_bytes(lock_file(sample_entry("acme/demo", "1.5.0", "~> 1.4")))
    document = doctor(folder, "ci.log")
    assert document["state"] == "open"
    (note,) = (one for one in document["run"]["notes"] if one.startswith("the error of the log is over"))
    assert note.endswith("the signing key was revoked; locklens doctor -- live/prod")


def test_an_upgrade_is_offered_where_a_version_fits(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["key-revoked"], constraints=(("acme/demo", "1.4.2"),)))
    assert [one["id"] for one in doctor(folder, "ci.log")["remedies"]] == ["change-constraint"]


def test_a_log_of_another_version_asks_for_the_lock_file_of_its_run_alone(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["republished"])
    log = folder / "ci.log"
    log.write_text(log.read_text("utf-8").replace("1.4.2", "1.3.1"), "utf-8")
    words = "--offline", "ci.log"
    for given in ((), ("--install-path", "direct")):
        document = doctor(folder, *given, *words)
        open_ones = [one for one in document["causes"] if one["verdict"] != "no"]
        told = "the message names 1.3.1, and 1.4.2 is locked here"
        assert {(one["verdict"], one["missing"].partition(":")[0]) for one in open_ones} == {
            ("unknown", "the lock file of the failing run")
        }
        assert all(one["evidence"].endswith(told) for one in open_ones), open_ones
        out = doctor(folder, *given, "--format", "text", *words)
        needs = out.partition("To narrow it down:")[2].partition("LOCKED")[0].split()
        assert " ".join(needs) == "- the lock file of the failing run: of another root (-- ROOT) or commit"


@pytest.mark.parametrize("incident", ["credentials", "registry-down", "proxy-or-ca"])
def test_no_commit_is_named_where_a_host_is_at_fault(incident: str, made: Any, doctor: Any) -> None:
    out = doctor(made(INCIDENTS[incident]), "--format", "text", "ci.log")
    assert incident in out
    assert "LOCKED" not in out


@pytest.mark.parametrize(("incident", "label"), [
    ("constraint-conflict", "LOCKED"), ("not-locked", ""), ("wrong-source", ""),
])  # fmt: skip
def test_the_commit_of_a_constraint_source_or_requirement_is_told_beside_that_of_the_entry(
    incident: str, label: str, made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS[incident])
    given = "--offline", "ci.log", "--", "live/prod"

    def required() -> str:
        out = doctor(folder, "--format", "text", *given)
        assert label in out
        return " ".join(out.partition("REQUIRED")[2].partition("CAUSES")[0].split())

    path = folder / "live/prod/main.tf"
    git(folder, "rm", "-q", "--cached", "live/prod/main.tf")
    git(folder, "commit", "-qm", "without it")
    place, words = required().split(": ")
    assert words == "not committed yet"
    assert re.search(rf"{place}\b", doctor(folder, *given)["causes"][0]["evidence"])
    lines = path.read_text("utf-8").splitlines(keepends=True)
    git(folder, "add", "live/prod/main.tf")
    git(folder, "commit", "-qm", "root")
    number = int(place.removeprefix("live/prod/main.tf:"))
    assert incident != "wrong-source" or "source" in lines[number - 1]
    path.write_text(
        "".join((*lines[: number - 1], f"{lines[number - 1].rstrip()} # for DNS\n", *lines[number:])), "utf-8"
    )
    git(folder, "-c", "user.name=Di Dns", "commit", "-qam", "require it")
    assert required().startswith(f"{place}: since commit ")
    assert required().endswith(' by Di Dns "require it"')
    notes = doctor(folder, *given)["run"]["notes"]
    assert [one for one in notes if one.startswith("blame of the configuration: live/prod/main.tf")]
    assert "- required: `live/prod/main.tf" in doctor(folder, "--format", "markdown", *given)


def test_a_list_that_arrived_is_not_asked_for_where_its_key_is_not_listed(made: Any, doctor: Any) -> None:
    causes = {one["id"]: one for one in doctor(made(INCIDENTS["key-changed"]), "ci.log")["causes"]}
    refused = "signed by a key that the registry does not list"
    assert causes["republished"]["missing"] == f"the signed SHA256SUMS of acme/demo 1.4.2 ({refused})"
    for cause in ("key-revoked", "key-expired"):
        assert causes[cause]["missing"] == "the key that signed acme/demo 1.4.2: its publisher"
        assert causes[cause]["evidence"].endswith(f"; today: {refused}")


def test_the_request_that_another_answered_is_looked_at_at_its_own_url(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["registry-down"])
    words = (
        "Could not retrieve the list of available versions for provider acme/demo: could not query provider registry for "
        "registry.terraform.io/acme/demo: invalid character '<' looking for beginning of value"
    )
    log = _log(folder, (QUERY, words))
    (fix,) = (one for one in doctor(folder, "--offline", log)["remedies"] if one["id"] == "test-registry")
    url = fix["command"].split()[-1]
    assert url.startswith("http://127.0.0.1:"), "the host block of the settings"
    assert url.endswith("/acme/demo/versions")


def test_which_of_two_entries_with_the_same_hashes_was_edited_is_told_by_a_run_or_the_release(
    made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS["hand-edit"])
    for words, verdict in (
        (("--offline", "--", "live/prod"), "likely"),
        (("--", "live/prod"), "yes"),
        (("--offline", "ci.log"), "yes"),
    ):
        (found,) = (one for one in doctor(folder, *words)["causes"] if one["id"] == "hand-edit")
        assert found["verdict"] == verdict, words
        told = "if they are those of" in found["evidence"] and "the entry there is the edited one" in found["evidence"]
        assert told == (verdict == "likely")


def test_a_constraint_that_excludes_exactly_the_locked_version_is_not_offered_to_be_rewritten(
    made: Any, doctor: Any
) -> None:
    folder = made(replace(INCIDENTS["constraint-conflict"], constraints=(("acme/demo", "~> 1.4, != 1.4.2"),)))
    log = (folder / "ci.log").read_text("utf-8").replace("~> 2.0", "~> 1.4, != 1.4.2")
    (folder / "ci.log").write_text(log, "utf-8")
    fixes = [(one["id"], one["command"]) for one in doctor(folder, "ci.log")["remedies"]]
    assert fixes[0] == ("upgrade", "locklens upgrade acme/demo --root=live/prod"), log
    assert "change-constraint" not in dict(fixes)


def test_fixes_name_the_tool_and_the_root(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["registry-down"])
    log = (folder / "ci.log").read_text("utf-8").replace("Terraform v1.11.4", "OpenTofu v1.12.6")
    (folder / "ci.log").write_text(log, "utf-8")
    assert doctor(folder, "ci.log")["remedies"][0]["command"] == "tofu -chdir=live/prod init"


def test_a_merge_is_done_again_from_anywhere(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["bad-merge"])
    commands = [one["command"] for one in doctor(folder, "ci.log")["remedies"]]
    assert all(one.startswith("locklens merge ") and one.endswith(" --root=live/prod") for one in commands)


@pytest.mark.parametrize(("words", "title"), [
    ("could not query provider registry for registry.terraform.io/acme/demo: the request failed after 2 attempts, please try again later: 429 Too Many Requests returned from 127.0.0.1:18446", "a request to 127.0.0.1:18446 was answered: too many requests (429)."),
    ('failed to query provider mirror https://localhost:18500/ for registry.terraform.io/acme/demo: the request failed: Get "https://localhost:18500/x/index.json": tls: failed to verify certificate: x509: unknown authority', "the TLS certificate of localhost:18500 was not accepted."),
    ('failed to query provider mirror https://localhost:18500/ for registry.terraform.io/acme/demo: the request failed: Get "https://localhost:18500/x/index.json": tls: failed to verify certificate: x509: certificate signed by unknown authority', "the authority of the TLS certificate of localhost:18500 is not trusted."),
    ('failed to query provider mirror https://localhost:18500/ for registry.terraform.io/acme/demo: the request failed: Get "https://localhost:18500/x/index.json": tls: failed to verify certificate: x509: certificate is valid for mirror.corp.test, not localhost', "the TLS certificate of localhost:18500 is for another name."),
    ('could not connect to registry.terraform.io: failed to request discovery document: Get "https://registry.terraform.io/.well-known/terraform.json": proxyconnect tcp: dial tcp: lookup proxy.corp.invalid: no such host', "the name of the proxy could not be resolved."),
    ("provider registry.terraform.io/acme/demo was not found in any of the search locations - /srv/mirror", "the mirror does not have the package."),
])  # fmt: skip
def test_an_answer_is_said_as_what_it_is(words: str, title: str, made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    _log(folder, (QUERY, LIST.format("acme/demo", words)), boxed=False)
    out = " ".join(doctor(folder, "--format", "text", "real.log").split())
    assert f"VERDICT {title[0].upper()}{title[1:]} [CONFIRMED]" in out or f"VERDICT {title} [CONFIRMED]" in out


@pytest.mark.parametrize(("words", "title"), [
    ("host registry.corp.example requires authentication credentials", "registry.corp.example denied access, and no credentials were sent."),
    ("host mirror.example.com rejected the given authentication credentials", "mirror.example.com denied access; whether credentials were sent is not known."),
])  # fmt: skip
def test_a_401_that_may_be_the_403_of_a_proxy_is_no_proof(words: str, title: str, made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    _log(folder, (QUERY, LIST.format("acme/demo", words)), boxed=False)
    document = doctor(folder, "real.log")
    found = {one["id"]: one["verdict"] for one in document["causes"]}
    assert found == {"credentials": "likely", "proxy-or-ca": "unknown"}
    out = " ".join(doctor(folder, "--format", "text", "real.log").split())
    assert f"VERDICT {title} [LIKELY]" in out
    assert "a 403 may be a proxy's answer" in out


def test_a_registry_refuses_credentials_only_where_there_were_some(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    words = "host registry.terraform.io rejected the given authentication credentials"
    _log(folder, (QUERY, LIST.format("acme/demo", words)), boxed=False)
    out = " ".join(doctor(folder, "--offline", "--format", "text", "real.log").split())
    assert "VERDICT registry.terraform.io denied access, though the run had credentials for it. [LIKELY]" in out
    assert "the message says that credentials were sent, and an empty token counts as such" in out
    assert "Give the runner a token that registry.terraform.io accepts" in out


@pytest.mark.parametrize("words", [
    'accessing OCI registry at oci.example.com: failed to contact OCI registry at "oci.example.com": GET "https://oci.example.com/v2/": basic credential not found',
    'listing tags from OCI repository: GET "https://oci.example.com/v2/a/demo/tags/list": response status code 403: Forbidden',
])  # fmt: skip
def test_the_login_of_an_oci_registry_is_no_token_of_a_registry(words: str, made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    summary = "Failed to resolve provider packages"
    _log(folder, (summary, f"Could not resolve provider {DEMO}: {words}"), boxed=False)
    document = doctor(folder, "real.log")
    assert (document["causes"][0]["id"], document["causes"][0]["verdict"]) == ("credentials", "likely")
    assert [one["command"] for one in document["remedies"]] == ["docker login oci.example.com"]


def test_messages_keep_the_order_of_the_log() -> None:
    first, other = (RecognisedError("download-cut", text, provider="acme/demo") for text in "AB")
    errors = (first, other, replace(first, provider="acme/netbox"))
    assert distinct_messages(errors) == [first, other]


def test_a_missing_file_is_of_the_host_that_answered(made: Any, doctor: Any) -> None:
    rule = FaultRule(Fault.NOT_FOUND, DEMO, step=Step.PACKAGE)
    folder = made(replace(INCIDENTS["download-damaged"], rules=(rule,)))
    _log(
        folder,
        (INSTALL, "Error while installing acme/demo v1.4.2: dl.example.com: bad response code: 404"),
        boxed=False,
    )
    out = " ".join(doctor(folder, "--format", "text", "real.log").split())
    assert "dl.example.com does not have the file (404). [LIKELY]" in out
    assert "the registry itself answered" not in out
    assert "whether the host has the package of that version was not asked" in out


@pytest.mark.parametrize(("platform", "rules", "verdict", "title", "words", "fixes"), [
    (("--platform=linux_amd64",), True, "yes", "does not have the file (404)", "answers 404 for the file of linux_amd64 here, too", ["upgrade"]),
    ((), True, "likely", "does not have the file (404)", "that the failing run was on {} is assumed", ["retry", "upgrade"]),
    (("--platform=linux_amd64",), False, "likely", "did not have the file then (404)", "gives the file of linux_amd64 here now", ["retry"]),
    (("--offline",), True, "likely", "does not have the file (404)", "answered 404", ["retry", "upgrade"]),
])  # fmt: skip
def test_a_file_that_was_missing_is_asked_for_where_the_registry_names_its_host(
    platform: tuple[str, ...], rules: bool, verdict: str, title: str, words: str, fixes: list[str], made: Any, doctor: Any
) -> None:  # fmt: skip
    rule = FaultRule(Fault.NOT_FOUND, DEMO, "1.4.2", step=Step.PACKAGE)
    folder = made(replace(INCIDENTS["download-damaged"], rules=(rule,) if rules else ()))
    host = re.search(r"//([\w.:]+)/", Path(os.environ["TF_CLI_CONFIG_FILE"]).read_text("utf-8"))
    assert host is not None
    message = f"Error while installing acme/demo v1.4.2: {host[1]}: bad response code: 404"
    log = _log(folder, (INSTALL, message), boxed=False)
    document = doctor(folder, *platform, log)
    first = document["causes"][0]
    assert (first["id"], first["verdict"]) == ("yanked", verdict)
    assert f"yanked: {host[1]} {title}\n" in doctor(folder, *platform, "--format", "text", log)
    assert words.format(this_platform()) in first["evidence"]
    assert [one["id"] for one in document["remedies"]] == fixes


def test_a_list_that_has_the_locked_hash_is_right(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    locked = next(line for line in (folder / "live/prod" / LOCK).read_text("utf-8").splitlines() if '"zh:' in line)
    digest = locked.strip(' ",').removeprefix("zh:")
    words = f"checksum list has unexpected SHA-256 hash {digest} (expected {'0' * 64})"
    _log(folder, (INSTALL, f"Error while installing acme/demo v1.4.2: {words}"), boxed=False)
    causes = {one["id"]: one["verdict"] for one in doctor(folder, "--offline", "real.log")["causes"]}
    assert causes == {"republished": "no", "registry-down": "yes"}


def test_what_is_wrong_with_a_malformed_hash_is_said_without_it(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    lock = folder / "live/prod" / LOCK
    whole = next(line for line in lock.read_text("utf-8").splitlines() if '"zh:' in line).strip(' ",')
    odd = "zh:" + "Zq7" * 20
    lock.write_text(lock.read_text("utf-8").replace(whole, odd), "utf-8")
    out = " ".join(doctor(folder, "--offline", "--format", "text", "--", "live/prod").split())
    assert "no tool writes such a hash as zh:Zq7Zq7Zq...: zh: is followed by 60 characters, not by 64 lower-case" in out
    assert odd not in out
    assert "[removed]" not in out


def test_a_warning_is_no_error(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    words = (
        "Warning: Dependency lock file entries automatically updated\n\nOpenTofu automatically rewrote some entries in your "
        "dependency lock file:\n  - registry.terraform.io/acme/demo => registry.opentofu.org/acme/demo\n\n"
        "OpenTofu has been successfully initialized!\n"
    )
    (folder / "real.log").write_text(words, "utf-8")
    out = doctor(folder, "--format", "text", "real.log")
    assert out.count("WARNING") == 1
    assert "ERROR" not in out
    assert "OpenTofu moved entries to its own registry" in " ".join(out.split())


@pytest.mark.parametrize(("path", "verdict"), [((), "likely"), (("--install-path", "unpacked-mirror"), "yes")])
def test_a_message_without_its_beginning_does_not_tell_a_folder_from_a_zip_file(
    path: tuple[str, ...], verdict: str, made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS["h1-missing"])
    words = f"{DEMO} 1.4.2 doesn't match any of the checksums previously recorded in the dependency lock file"
    (folder / "ci.log").write_text(boxed_log((INSTALL, words)), "utf-8")
    options = ("--platform", "linux_amd64", "--prove", "changed")
    document = doctor(folder, *options, *path, "ci.log")
    assert document["errors"][0]["kind"] == "package-mismatch"
    (found,) = (one for one in document["causes"] if one["id"] == "h1-missing")
    assert found["verdict"] == verdict
    assert document["state"] == "open"


@pytest.mark.parametrize("state", ["uncommitted", "older-log", "newer-log"])
def test_a_message_without_its_beginning_is_over_once_a_folder_and_a_zip_file_are_locked(
    state: str, made: Any, doctor: Any
) -> None:
    whole = sample_entry("acme/demo", "1.4.2", "~> 1.4")
    mac, both = (replace(whole, unpacked=names) for names in (("darwin_arm64",), ("darwin_arm64", "linux_amd64")))
    first, altered = (
        lock_file(replace(mac, packed=("darwin_arm64",))),
        SampleCopy("mirror", DEMO, "1.4.2", edition="altered"),
    )
    folder = made(replace(INCIDENTS["platform-missing"], locks=(first,), copies=(altered,)))
    words = f"{DEMO} 1.4.2 doesn't match any of the checksums previously recorded in the dependency lock file"
    (folder / "ci.log").write_text(boxed_log((INSTALL, words)), "utf-8")
    mismatch = folder, "--prove", "changed", "ci.log"
    assert (doctor(*mismatch)["errors"][0]["kind"], doctor(*mismatch)["state"]) == ("package-mismatch", "open")
    lock = folder / "live/prod/.terraform.lock.hcl"
    for entry in (mac, replace(both, packed=("darwin_arm64",)), both):  # the zh alone, the h1 alone, both
        lock.write_bytes(lock_file(entry))
        if state != "uncommitted":
            git(folder, "commit", "-qam", "the fix")
            os.utime(folder / "ci.log", (2**32, 2**32) if state == "newer-log" else (0, 0))
        is_over = entry is both and state != "newer-log"
        document = doctor(*mismatch)
        assert (document["state"] == "fixed") is is_over
        assert doctor(folder, "--offline", "ci.log")["state"] == "open", "what is served now is not known"
        ended = "the error of a run before it is over (run init again)"
        is_noted = any(ended in note for note in document["run"]["notes"])
        assert is_noted is (entry is both and state == "newer-log")
    assert doctor(*mismatch, "--mirror", "mirror")["state"] == "open", "a copy that is not locked may be the package"


def test_a_second_copy_is_moved_aside_beside_the_first(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["plugin-corrupted"]
    folder = made(incident)
    names = []
    for _ in range(2):
        command = next(
            one["command"] for one in doctor(folder, "ci.log")["remedies"] if one["command"].startswith("mv -- ")
        )
        place, aside = shlex.split(command)[2:4]
        shutil.copytree(folder / place, folder / aside)
        names.append(aside.removeprefix(place))
    assert names == [".suspect", ".suspect-2"]


@pytest.mark.parametrize(
    ("methods", "verdict"),
    [(("bad",), "yes"), (("bad", "direct"), "yes"), (("good", "bad"), "no"), (("direct", "bad"), None)],
)
def test_a_copy_that_init_does_not_reach_is_no_cause(
    methods: tuple[str, ...], verdict: str | None, made: Any, doctor: Any, tmp_path: Path
) -> None:
    folder = made(INCIDENTS["download-damaged"])
    for name in ("good", "bad"):
        place = tmp_path / name / DEMO
        place.mkdir(parents=True)
        data = package_bytes(DEMO, "1.4.2", str(this_platform()), "" if name == "good" else "tampered")
        (place / f"terraform-provider-demo_1.4.2_{this_platform()}.zip").write_bytes(data)
    blocks = [f'  filesystem_mirror {{\n    path = "{tmp_path}/{one}"\n  }}\n' for one in methods]
    blocks = ["  direct {}\n" if one == "direct" else block for one, block in zip(methods, blocks, strict=True)]
    settings = tmp_path / "demo.tfrc"
    settings.write_text(settings.read_text("utf-8") + f"provider_installation {{\n{''.join(blocks)}}}\n", "utf-8")
    causes = {one["id"]: one["verdict"] for one in doctor(folder, "--", "live/prod")["causes"]}
    assert causes.get("mirror-differs") == verdict


@pytest.mark.parametrize(("tool", "state"), [("terraform", "fixed"), ("opentofu", "open")])
def test_what_opentofu_adds_on_every_run_is_never_fixed(tool: str, state: str, made: Any, doctor: Any) -> None:
    """It reads an entry of registry.terraform.io/hashicorp as one of its own registry, too, and then refuses to add it."""
    aws, netbox = sample_entry("hashicorp/aws", "5.84.0", "~> 5.0"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
    required = (("registry.terraform.io/hashicorp/aws", "~> 5.0"),)
    folder = made(replace(INCIDENTS["not-required"], locks=(lock_file(aws, netbox),), constraints=required))
    assert doctor(folder, "--tool", tool, "ci.log")["causes"][0]["id"] == "not-required"
    assert main(["prune", "acme/netbox", "--root=live/prod"], no_screen) == 0
    assert doctor(folder, "--tool", tool, "ci.log")["state"] == state


def test_a_read_only_lock_file_that_has_the_right_providers_now(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["not-required"])
    before = doctor(folder, "ci.log")
    assert (before["causes"][0]["id"], before["remedies"][0]["id"]) == ("not-required", "prune")
    assert main(["prune", "acme/netbox", "--root=live/prod"], no_screen) == 0
    document = doctor(folder, "ci.log")
    assert (document["state"], document["next"]) == ("fixed", "terraform -chdir=live/prod init -lockfile=readonly")
    assert document["fixed"].endswith("has just the providers now that live/prod requires")
    out = doctor(folder, "--format", "text", "ci.log")
    assert "ROOT         live/prod  the lock file\n" in out
    assert "LOCKED" not in out, "the providers that are left were never wrong"


@pytest.mark.parametrize(("fault", "cause", "words"), [
    (Fault.UNKNOWN_ISSUER, "key-changed", "signed by a key that the registry does not list"),
    (Fault.BAD_SIGNATURE, "key-changed", "the signature is bad"),
    (Fault.EXPIRED_SIGNATURE, "key-expired", "the signature has expired, or is dated in the future"),
    (Fault.REVOKED_KEY, "key-revoked", "was revoked by its owner"),
])  # fmt: skip
def test_a_signature_that_is_refused_is_found_without_a_log(
    fault: Fault, cause: str, words: str, made: Any, doctor: Any
) -> None:
    folder = made(replace(INCIDENTS["key-changed"], rules=(FaultRule(fault, "registry.terraform.io/acme/demo"),)))
    first = doctor(folder, "--", "live/prod")["causes"][0]
    assert (first["id"], first["verdict"], words in first["evidence"]) == (cause, "yes", True)


@pytest.mark.parametrize("is_own", [True, False])
def test_a_finding_about_a_pinned_key_has_the_pin_for_its_cause(is_own: bool, made: Any) -> None:
    folder = made(replace(INCIDENTS["key-changed"], rules=()))
    request = DoctorRequest(None, folder, os.environ, roots=("live/prod",), provider="acme/demo")

    def caused() -> Cause:
        with Cache.in_memory() as cache:
            started_from = StartingPoint("LK010", ("LK010",))
            found = diagnose(replace(request, network=NetworkSettings(os.environ, cache), started_from=started_from))
        return next(cause for cause in found.causes if cause.id is CauseId.KEY_CHANGED)

    signer = re.findall(r"[0-9A-F]{40}", caused().evidence)[0]
    key = signer if is_own else "0" * 40
    (folder / "locklens.toml").write_text(
        f'[trust.acme]\nkeys = ["{key}"]\nby = "ana"\non = 2026-11-01\nwhy = "announced"\n', "utf-8"
    )
    git(folder, "add", "locklens.toml")
    git(folder, "commit", "-qm", "pin")
    cause = caused()
    if is_own:
        assert (cause.verdict, cause.evidence) == (
            CauseVerdict.NO, f"signed by {signer}, which the policy pins for acme",
        )  # fmt: skip
    else:
        assert (cause.verdict, cause.title) == (
            CauseVerdict.YES, "the release is not signed by the key that the policy pins",
        )  # fmt: skip
        assert cause.evidence == f"signed by {signer}; the policy pins acme to {key} (locklens.toml:1)"


EXPIRED = (
    "Error while installing registry.terraform.io/acme/demo v1.4.2: the provider is not signed with a valid signing "
    "key; please contact the provider author (authentication signature from unknown issuer)"
)
"""OpenTofu's words about a release that no listed key signed, or one that has expired, where it has to refuse that."""


@pytest.mark.parametrize("is_locked", [True, False])
@pytest.mark.parametrize("fault", [Fault.EXPIRED_KEY, Fault.EXPIRED_SIGNATURE])
def test_an_issuer_that_opentofu_calls_unknown_may_be_a_listed_key_that_has_expired(
    fault: Fault, is_locked: bool, made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_both = (("registry.terraform.io/acme/demo", "~> 1.4"),)
    rules = (FaultRule(fault, "registry.terraform.io/acme/demo"),)
    folder = made(replace(INCIDENTS["key-changed"], rules=rules, constraints=of_both))
    if not is_locked:
        (folder / "live/prod" / LOCK).unlink()
    for is_enforced in (False, True):
        if is_enforced:
            monkeypatch.setenv("OPENTOFU_ENFORCE_GPG_EXPIRATION", "true")
        document = doctor(folder, "--tool=opentofu", _log(folder, (INSTALL, EXPIRED)), "--", "live/prod")
        first, *others = document["causes"]
        assert (first["id"], first["verdict"]) == ("key-expired", "likely")
        assert ("which the registry lists" in first["evidence"], "expired" in first["evidence"]) == (True, True)
        assert {one["id"]: one["verdict"] for one in others}["key-changed"] == "unknown"
        fixes = {one["id"]: (one["command"], one["trust"]) for one in document["remedies"]}
        assert fixes["accept-expired"] == (
            "env -u OPENTOFU_ENFORCE_GPG_EXPIRATION tofu -chdir=live/prod init",
            "none" if is_locked else "low",
        )
        assert "ask-publisher" in fixes
        assert "run-again" not in fixes, "it fails again"


def test_an_unknown_issuer_is_certain_only_where_the_words_or_the_signature_tell(made: Any, doctor: Any) -> None:
    terraforms = EXPIRED.replace(EXPIRED[EXPIRED.index("the provider") : EXPIRED.index("(") + 1], "").rstrip(")")
    for words, unknown, today in ((terraforms, "likely", "yes"), (EXPIRED, "likely", "likely")):
        folder = made(replace(INCIDENTS["key-changed"], rules=()))
        log = _log(folder, (INSTALL, words))
        for given, verdict in (((), today), (("--offline",), unknown)):
            first, *others = doctor(folder, *given, log, "--", "live/prod")["causes"]
            assert (first["id"], first["verdict"]) == ("key-changed", verdict)
            assert ("or one that had expired" in first["evidence"]) == (words is EXPIRED)
            (expired,) = [one for one in others if one["id"] == "key-expired"]
            is_open = words is EXPIRED and given != ()  # of the key of today it is known whether it has expired
            assert ("the message is that of an expired one, too" in expired["evidence"]) == is_open
        shutil.rmtree(folder)


def test_a_key_that_has_expired_is_a_cause_where_its_expiry_is_enforced_here(
    made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = (FaultRule(Fault.EXPIRED_KEY, "registry.terraform.io/acme/demo"),)
    of_both = (("registry.terraform.io/acme/demo", "~> 1.4"),)
    folder = made(replace(INCIDENTS["key-changed"], rules=rules, constraints=of_both))
    monkeypatch.setenv("OPENTOFU_ENFORCE_GPG_EXPIRATION", "true")
    causes = doctor(folder, "--tool=opentofu", "--", "live/prod")["causes"]
    assert (causes[0]["id"], causes[0]["verdict"]) == ("key-expired", "yes")
    assert "OPENTOFU_ENFORCE_GPG_EXPIRATION is true here" in causes[0]["evidence"]
    assert not any(one["id"] == "key-changed" and one["verdict"] == "yes" for one in causes)


@pytest.mark.parametrize("place", ["live/prod/.terraform/providers", "plugins", "mirror"])
def test_a_signature_that_init_does_not_ask_for_is_no_certain_cause(
    place: str, made: Any, doctor: Any, tmp_path: Path
) -> None:
    copy = SampleCopy(place, DEMO, "1.4.2", str(this_platform()))
    rules = (FaultRule(Fault.REVOKED_KEY, "registry.terraform.io/acme/demo"),)
    folder = made(replace(INCIDENTS["key-revoked"], rules=rules, copies=(copy,)))
    settings = tmp_path / "demo.tfrc"
    block = f'provider_installation {{\n  filesystem_mirror {{\n    path = "{folder}/mirror"\n  }}\n}}\n'
    more = {"plugins": f'plugin_cache_dir = "{folder}/plugins"\n', "mirror": block}.get(place, "")
    settings.write_text(settings.read_text("utf-8") + more, "utf-8")
    causes = {one["id"]: one for one in doctor(folder, "--", "live/prod")["causes"]}
    found = causes["key-revoked"]
    assert (found["verdict"], "was revoked by its owner" in found["evidence"]) == (
        "no" if place == "mirror" else "unknown",
        True,
    )


def test_an_entry_that_nothing_requires_is_found_without_a_log(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["not-required"])
    document = doctor(folder, "--", "live/prod")
    first = document["causes"][0]
    assert (first["id"], first["verdict"], document["remedies"][0]["id"]) == ("not-required", "yes", "prune")
    assert first["evidence"].endswith(": init removes the entry, and init -lockfile=readonly fails")
    assert main(["prune", "acme/netbox", "--root=live/prod"], no_screen) == 0
    assert "[OK]" in doctor(folder, "--format", "text", "--", "live/prod")


def test_the_write_of_a_fix_tells_which_root_failed(several: Path, doctor: Any) -> None:
    git(several, "add", "--all")
    git(several, "commit", "-qm", "roots")
    listed = "Initializing provider plugins...\n" + "".join(
        f'- Finding {name} versions matching "{constraint}"...\n'
        for name, constraint in (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))
    )
    changed = ("Provider dependency changes detected", "Changes to the required provider dependencies were detected")
    lock = several / "live/newp" / LOCK
    lock.unlink()
    git(several, "commit", "-qam", "no lock file")
    log = _log(several, changed, before=listed)
    assert [one["roots"] for one in doctor(several, log)["errors"]] == [["live/newp"]]
    for name in ("acme/demo", "acme/netbox"):
        assert doctor(several, log)["state"] == "open"
        assert main(["lock", "--no-cache", name, "--root=live/newp"], no_screen) == 0
    document = doctor(several, log)
    assert (document["state"], document["next"]) == ("fixed", "terraform -chdir=live/newp init -lockfile=readonly")
    words = [one.replace("~> 1.5", "~> 1.4, < 1.4.2") for one in VIOLATED]
    narrow = lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4, < 1.4.2"))
    _root(several, "live/one", ("acme/demo", "~> 1.4, < 1.4.2"), lock=narrow)
    git(several, "add", "--all")
    git(several, "commit", "-qm", "one more")
    log = _log(several, tuple(words))
    command = ["upgrade", "--no-cache", "acme/demo=1.4.2", "--edit-constraints", "--root=live/one"]
    assert main(command, no_screen) == 0
    document = doctor(several, log)
    assert (document["state"], document["next"]) == ("fixed", "terraform -chdir=live/one init")


_MOVED = "last change of the lock file made it one of Terraform, which was one of OpenTofu"


def test_a_lock_file_that_loses_the_other_tool_s_entry_has_not_changed_its_tool(several: Path, doctor: Any) -> None:
    lock = several / "live/bump" / LOCK
    text = lock.read_text("utf-8")
    head, mark, entry = text.partition('provider "registry.terraform.io/')
    for state, message in ((f'{head}provider "registry.opentofu.org/{entry}\n{mark}{entry}', "both"), (text, "pruned")):
        lock.write_text(state, "utf-8")
        git(several, "add", "--all")
        git(several, "commit", "-qm", message)
    assert _MOVED not in " ".join(doctor(several, "--format", "text", "--", "live/bump").split())


def test_without_a_log_a_lock_file_that_changed_its_tool_is_told(several: Path, doctor: Any) -> None:
    lock = several / "live/bump" / LOCK
    text = lock.read_bytes()
    moved = text.replace(b"registry.terraform.io", b"registry.opentofu.org")
    for number, (state, message) in enumerate(((moved, "OpenTofu"), (moved + b"\n", "a line"), (text, "init"))):
        lock.write_bytes(state)
        git(several, "add", "--all")
        git(several, "commit", "-qm", message)
        if number == 1:
            own = git(several, "rev-parse", "HEAD").strip()[:12]
    main_tf = several / "live/bump/main.tf"
    main_tf.write_text(main_tf.read_text("utf-8").replace("~> 1.5", "~> 1.4"), "utf-8")
    document = doctor(several, "--", "live/bump")
    first = document["causes"][0]
    assert (document["state"], first["id"], first["verdict"]) == ("open", "other-tool", "likely")
    assert first["missing"] == "the tool that is meant to run in live/bump"
    assert [one["command"] for one in document["remedies"]] == [f"git restore -s {own} -- live/bump/{LOCK}"]
    assert _MOVED in " ".join(doctor(several, "--format", "text", "--", "live/bump").split())
    lock.write_bytes(text + b"\n")
    git(several, "commit", "-qam", "a later change by the tool of today")
    assert doctor(several, "--", "live/bump")["causes"][0]["verdict"] != "likely"


def test_a_write_of_another_branch_does_not_tell_the_root(
    several: Path, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
    git(several, "add", "--all")
    git(several, "commit", "-qm", "roots")
    lock = several / "live/newp" / LOCK
    sound = lock.read_bytes()
    git(several, "checkout", "-qb", "edited")
    lock.write_bytes(lock_file(replace(sample_entry("acme/demo", "1.4.2", "~> 1.4"), hashes_of="1.3.9")))
    git(several, "commit", "-qam", "edited")
    command = ["restore", "acme/demo", "--from", "HEAD~1", "--root=live/newp"]
    monkeypatch.chdir(several)
    assert main(command, no_screen) == 0
    git(several, "checkout", "-qf", "-")
    assert lock.read_bytes() == sound
    words = "doesn't match any of the checksums previously recorded in the dependency lock file"
    words = f"Error while installing acme/demo v1.4.2: the current package for {DEMO} 1.4.2 {words}"
    log = _log(several, (INSTALL, words))
    document = doctor(several, log)
    assert (document["state"], document["facts"]["root"]) == ("open", None)
    assert len(document["errors"][0]["roots"]) > 1


def test_a_constraint_of_a_module_that_is_not_fetched_is_told_by_the_message(made: Any, doctor: Any) -> None:
    """The rest of what the message has is read here; what the module requires is known once it is fetched."""
    folder = made(replace(INCIDENTS["constraint-conflict"], constraints=(("acme/demo", "~> 1.4"),)))
    call = 'module "m" {\n  source = "acme/m/aws"\n  version = "1.0.0"\n}\n'
    (folder / "live/prod/call.tf").write_text(call, "utf-8")
    unread = "not fetched: module m (acme/m/aws)"
    for said, words in (("~> 1.4, >= 1.5.0", "and not >= 1.5.0, which the message has besides"), (">= 1.5.0", "")):
        log = _log(folder, (QUERY, VIOLATED[1].replace("~> 1.5", said)), boxed=False)
        document = doctor(folder, log, "--", "live/prod")
        (cause,) = (one for one in document["causes"] if one["id"] == "constraint-conflict")
        assert (cause["verdict"], cause["missing"]) == ("likely" if words else "unknown", unread)
        assert words in cause["evidence"]
        assert [one["command"] for one in document["remedies"]] == (["terraform -chdir=live/prod get"] if words else [])
    lacking = boxed_log(
        ("Inconsistent", "", f"  - provider {DEMO}: required by this configuration but no version is selected")
    )
    (folder / "live/prod" / LOCK).write_bytes(lock_file(sample_entry("acme/netbox", "3.9.1", "~> 3.9")))
    (folder / "real.log").write_text(f"$ terraform -chdir=live/prod plan\n{lacking}", "utf-8")
    notes = [one["note"] for one in doctor(folder, "real.log")["remedies"] if one["id"] == "lock"]
    first = "first terraform -chdir=live/prod get: without the modules, which are not fetched, it fails"
    assert notes == [f"{first}; then commit the lock file"]


def test_a_constraint_of_a_shared_module_is_of_other_roots_too(several: Path, doctor: Any) -> None:
    _root(several, "modules/net", ("acme/demo", "1.4.2"))
    for name, version in (("live/first", "1.4.2"), ("live/second", "1.5.0")):
        _root(several, name, lock=lock_file(sample_entry("acme/demo", version, "1.4.2")))
        (several / name / "main.tf").write_text('module "net" {\n  source = "../../modules/net"\n}\n', "utf-8")
    git(several, "add", "--all")
    git(several, "commit", "-qm", "a module pins")
    words = VIOLATED[1].replace("1.4.2", "1.5.0").replace("~> 1.5", "1.4.2")
    log = _log(several, (QUERY, words))
    fixes = doctor(several, log, "--", "live/second")["remedies"]
    assert [(one["id"], one["trust"]) for one in fixes] == [("upgrade", "low"), ("change-constraint", "low")]
    out = " ".join(doctor(several, "--format", "text", log, "--", "live/second").split())
    assert "1 other root calls the rewritten module, and init may fail there: live/first (locks 1.4.2)" in out
    (several / "modules/net/main.tf").write_text(requires(("acme/demo", "~> 9.0")), "utf-8")
    (several / "live/second" / LOCK).write_bytes(lock_file(sample_entry("acme/demo", "1.4.2", "1.4.2")))
    log = _log(several, (QUERY, VIOLATED[1].replace("~> 1.5", "~> 9.0")))
    fix = next(one for one in doctor(several, log, "--", "live/second")["remedies"] if one["id"] == "change-constraint")
    words = "1 other root calls the rewritten module, which then admits what is locked there: live/first (locks 1.4.2)"
    assert (fix["note"], fix["trust"]) == (f"{words}; then commit the files that it changes", "none")


def test_a_fix_of_two_roots_names_the_constraints_of_both(made: Any, doctor: Any) -> None:
    folder = made(replace(INCIDENTS["republished"], constraints=(("acme/demo", "1.4.2"),)))
    lock = (folder / "live/prod" / LOCK).read_bytes()
    _root(folder, "live/stage", ("acme/demo", "1.4.2"), lock=lock)
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "another root")
    log = folder / "ci.log"
    log.write_text(log.read_text("utf-8").replace("live/prod", ""), "utf-8")
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "(live/prod/main.tf:5, live/stage/main.tf:5)" in out


@pytest.mark.parametrize(("cause", "tested", "words"), [
    ("republished", "republished", "5 of 5 locked zh of packages are not in the signed SHA256SUMS of acme/demo 1.4.2"),
    ("platform-missing", "hand-edit", "2 of 2 locked zh of packages are of 1.4.2"),
])  # fmt: skip
def test_the_hash_of_a_manifest_is_counted_as_that_of_no_package(
    cause: str, tested: str, words: str, made: Any, doctor: Any
) -> None:
    folder = made(INCIDENTS[cause])
    assert (folder / "live/prod" / LOCK).read_text("utf-8").count('"zh:') == int(words[0]) + 1
    assert next(one["evidence"] for one in doctor(folder, "ci.log")["causes"] if one["id"] == tested) == words


@pytest.mark.parametrize(("cause", "ruled_out", "words"), [
    ("download-damaged", "package-altered", "the file that arrived is empty"),
    ("hand-edit", "platform-missing", "5 zh of packages are locked that are not of acme/netbox 3.10.0, which has 5 packages: no platform was left out"),
])  # fmt: skip
def test_what_rules_a_cause_out_is_said_once(cause: str, ruled_out: str, words: str, made: Any, doctor: Any) -> None:
    causes = doctor(made(INCIDENTS[cause]), "ci.log")["causes"]
    assert next(one["evidence"] for one in causes if one["id"] == ruled_out) == words


def test_a_provider_whose_source_nobody_names(several: Path, doctor: Any) -> None:
    (several / "live/newp/more.tf").write_text('resource "mystery_site" "here" {\n}\n', "utf-8")
    document = doctor(several, "--", "live/newp")
    evidence = {one["provider"]: one["evidence"] for one in document["causes"] if one["id"] == "not-locked"}
    named, implied = "registry.terraform.io/acme/netbox", "registry.terraform.io/hashicorp/mystery"
    assert "names its source" not in evidence[named]
    assert evidence[implied].endswith(f"no required_providers names its source, so that {implied} is meant")
    out = " ".join(doctor(several, "--offline", "--format", "text", "--", "live/newp").split())
    assert f"where the registry has no {implied}, required_providers has to name its source" in out
    assert f"where the registry has no {named}" not in out
    out = " ".join(doctor(several, "--format", "text", "--", "live/newp").split())
    assert "Correct the source address of hashicorp/mystery by hand" in out


def test_a_merge_of_the_version_of_one_side_and_the_hashes_of_the_other(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["republished"])
    lock = folder / "live/prod" / LOCK
    ours, theirs = sample_entry("acme/demo", "1.3.9", "~> 1.3"), sample_entry("acme/demo", "1.4.2", "~> 1.3")
    lock.write_bytes(lock_file(sample_entry("acme/demo", "1.3.8", "~> 1.3")))
    git(folder, "commit", "-qam", "before")
    git(folder, "checkout", "-q", "-b", "side")
    lock.write_bytes(lock_file(theirs))
    git(folder, "commit", "-qam", "theirs")
    side = git(folder, "rev-parse", "--short=12", "HEAD")
    git(folder, "checkout", "-q", "-")
    lock.write_bytes(lock_file(ours))
    git(folder, "commit", "-qam", "ours")
    git(folder, "merge", "-q", "-s", "ours", "--no-commit", "side")
    lock.write_bytes(lock_file(replace(theirs, hashes_of="1.3.9")))
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "merge")
    document = doctor(folder, "--offline", "--", "live/prod")
    verdicts = {one["id"]: one["verdict"] for one in document["causes"]}
    assert (verdicts["bad-merge"], verdicts["hand-edit"]) == ("yes", "unknown")
    first = document["causes"][0]
    assert f"the version 1.4.2 of commit {side} with the hashes of commit" in first["evidence"]
    assert "(a merge)" in doctor(folder, "--offline", "--format", "text", "--", "live/prod")  # counts against neither
    restore = [one["command"] for one in document["remedies"] if one["id"] == "restore-entry"]
    assert restore == [f"locklens restore acme/demo --from {side} --root=live/prod"]


@pytest.mark.parametrize("is_removed", [False, True])
def test_a_merge_and_a_later_commit_of_another_branch_are_not_blamed(
    made: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch, *, is_removed: bool
) -> None:
    folder = made(INCIDENTS["republished"])
    path = f"live/prod/{LOCK}"
    lock = folder / path
    before, now = (sample_entry("acme/demo", version, "~> 1.3") for version in ("1.3.9", "1.4.2"))
    old, new = (sample_entry("hashicorp/random", version, "~> 3.6") for version in ("3.6.2", "3.6.3"))
    told = [] if is_removed else [now]

    def committed(name: str, day: int, *words: str) -> None:
        for part in ("AUTHOR", "COMMITTER"):
            monkeypatch.setenv(f"GIT_{part}_NAME", name)
            monkeypatch.setenv(f"GIT_{part}_DATE", f"2025-01-{day:02}T12:00:00Z")
        git(folder, *words, "-m", name)

    lock.write_bytes(lock_file(before, old))
    committed("First", 1, "commit", "-qa")
    git(folder, "checkout", "-qb", "side")
    lock.write_bytes(lock_file(before, new))
    committed("Aside", 3, "commit", "-qa")
    git(folder, "checkout", "-q", "-")
    lock.write_bytes(lock_file(*told, old))
    committed("Author", 2, "commit", "-qa")
    git(folder, "merge", "-q", "--no-commit", "-X", "ours", "side")
    lock.write_bytes(lock_file(*told, new))
    git(folder, "add", "--all")
    committed("Merger", 4, "commit", "-q")
    subject = ("--", "live/prod") if is_removed else ("ci.log",)
    out = " ".join(doctor(folder, "--offline", "--format", "text", *subject).split())
    assert "by Author" in out
    assert "1.3.9 to 1.4.2" in out or is_removed
    assert not {"First", "Merger"} & set(re.findall("[A-Z][a-z]+", out))
    assert is_removed or "Aside" not in out


def test_a_merge_that_left_an_unreadable_file_is_named(several: Path, doctor: Any) -> None:
    lock = several / "live/newp" / LOCK
    (several / ".gitattributes").write_text(f"{LOCK} merge=union\n", "utf-8")
    git(several, "add", "--all")
    git(several, "commit", "-qm", "roots")
    for branch, version in (("one", "1.3.9"), ("two", "1.5.0")):
        git(several, "checkout", "-q", "-b", branch, *(["one~1"] if branch == "two" else []))
        lock.write_bytes(lock_file(sample_entry("acme/demo", version, f"~> {version}")))
        git(several, "commit", "-qam", branch)
    git(several, "merge", "-q", "-m", "both", "one")
    log = _log(several, ("failed to read dependency lock file", "Missing item separator: Expected a comma"))
    document = doctor(several, log)
    causes = {one["id"]: (one["verdict"], one["evidence"]) for one in document["causes"]}
    assert causes["bad-merge"][0] == "yes"
    assert git(several, "rev-parse", "HEAD")[:12] in causes["bad-merge"][1]
    command = next(one["command"] for one in document["remedies"] if one["id"] == "restore-file")
    git(several, *command.split()[1:])
    document = doctor(several, log)
    assert (document["state"], document["next"]) == ("fixed", "terraform -chdir=live/newp init")


def test_a_package_that_was_handed_in_tells_its_platform(made: Any, doctor: Any, tmp_path: Path) -> None:
    folder = made(INCIDENTS["plugin-corrupted"])
    place = tmp_path / "mirror/registry.terraform.io/acme/demo/1.4.2/linux_amd64"
    shutil.copytree(folder / "live/prod/.terraform/providers" / DEMO / "1.4.2/linux_amd64", place)
    words = (
        "Error while installing acme/demo v1.4.2: the local package for registry.terraform.io/acme/demo 1.4.2 doesn't "
        "match any of the checksums previously recorded in the dependency lock file"
    )
    document = doctor(folder, "--prove", "changed", "--package", str(place), _log(folder, (INSTALL, words)))
    assert document["facts"]["platform"] == "linux_amd64"
    assert {one["id"]: one["verdict"] for one in document["causes"]}["h1-missing"] == "no"


@pytest.mark.parametrize(("is_kept", "is_alone"), [(True, True), (False, True), (True, False)])
def test_a_folder_of_the_plugin_cache_that_opentofu_finds_modified(
    is_kept: bool, is_alone: bool, made: Any, doctor: Any, tmp_path: Path
) -> None:
    folder = made(INCIDENTS["plugin-corrupted"])
    shutil.move(folder / "live/prod/.terraform/providers", tmp_path / "cache")
    shutil.rmtree(folder / "live/prod/.terraform")
    place = tmp_path / "cache" / DEMO / "1.4.2/linux_amd64"
    if not is_alone:
        shutil.copytree(folder / "live/prod", folder / "live/qa")
        git(folder, "add", "--all")
        git(folder, "commit", "-qm", "another root")
    words = (
        f"Error while installing acme/demo v1.4.2: existing cached package at {place} does not match the content of the "
        "downloaded package; does it contain local modifications?"
    )
    log = _log(folder, (INSTALL, words))
    document = doctor(folder, "--plugin-cache", str(tmp_path / "cache"), log)
    causes = {one["id"]: one["verdict"] for one in document["causes"]}
    assert causes == {"cache-differs": "yes", "plugin-corrupted": "no", "republished": "no"}
    assert [one["command"].partition(" && ")[0] for one in document["remedies"]] == [f"mv -- {place} {place}.suspect"]
    assert doctor(folder, log)["causes"][0]["verdict"] == "yes", "the message names the cache"
    place.rename(f"{place}.suspect")
    moved = doctor(folder, log)
    assert (moved["state"], moved["causes"]) == ("fixed", []), "init puts another copy there"
    assert moved["next"].endswith(" init")
    shutil.copytree(folder / "mirror" / DEMO / "1.4.2/linux_amd64", place)
    if not is_kept:
        shutil.rmtree(f"{place}.suspect")
    for named in ((), ("--plugin-cache", str(tmp_path / "cache"))):
        assert doctor(folder, *named, log)["state"] == "fixed"


def test_what_a_ci_system_says_behind_an_error_is_not_of_it(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    words = "Error while installing acme/demo v1.4.2: authentication signature from unknown issuer"
    for end in ("script returned exit code 1", "##[error]Process completed with exit code 1."):
        _log(folder, (INSTALL, words), after=f"\n{end}\n", boxed=False)
        (error,) = doctor(folder, "--offline", "real.log")["errors"]
        assert error["text"].endswith("from unknown issuer")


def test_the_only_folder_that_was_searched_is_the_one_to_fill(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    words = f"provider {DEMO} was not found in any of the search locations\n\n  - /srv/plugins"
    _log(folder, (QUERY, LIST.format("acme/demo", words)), boxed=False)
    out = " ".join(doctor(folder, "--offline", "--format", "text", "real.log").split())
    assert "DIR is the folder of the runner's mirror, by the log /srv/plugins" in out


def test_a_message_of_a_network_mirror_tells_the_path(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    words = f"failed to query provider mirror https://m.example.com/ for {DEMO}: the request failed: 500 Internal Server Error returned from m.example.com"  # fmt: skip
    _log(folder, (QUERY, LIST.format("acme/demo", words)), boxed=False)
    out = " ".join(doctor(folder, "--offline", "--format", "text", "real.log").split())
    assert "path network-mirror (the message)" in out


def test_the_host_of_a_host_block_is_the_registry_that_was_asked(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    settings = Path(os.environ["TF_CLI_CONFIG_FILE"]).read_text("utf-8")
    _, _, url = settings.partition('"providers.v1" = "')
    host = url.split("/")[2]
    words = f"could not query provider registry for {DEMO}: the request failed after 2 attempts, please try again later: 500 Internal Server Error returned from {host}"  # fmt: skip
    _log(folder, (QUERY, LIST.format("acme/demo", words)), boxed=False)
    evidence = doctor(folder, "real.log")["causes"][0]["evidence"]
    assert "may differ" not in evidence
    assert "the same request is answered here" in evidence


def test_an_error_of_the_past_had_a_cause(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["h1-missing"])
    (folder / "live/prod" / LOCK).write_bytes(INCIDENTS["h1-missing"].locks[0])
    out = doctor(folder, *INCIDENTS["h1-missing"].options, "--format", "text", "ci.log")
    assert "[FIXED]" in out
    assert " ruled out" not in out


def test_each_root_without_a_lock_file_is_named_for_itself(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["download-damaged"])
    (folder / "live/prod" / LOCK).unlink()
    _root(folder, "live/dev", ("acme/demo", "~> 1.4"))
    words = f"This configuration requires provider {DEMO}, but that provider isn't available."
    _log(folder, ("Missing required provider", words), boxed=False)
    (cause,) = (one for one in doctor(folder, "real.log")["causes"] if one["id"] == "not-locked")
    assert "live/dev has no lock file" in cause["evidence"]
    assert "live/dev, live/prod" not in cause["evidence"]


def test_a_copied_folder_has_a_folder_to_go_to(made: Any, doctor: Any) -> None:
    incident = INCIDENTS["republished"]
    folder = made(incident)
    log = " ".join((folder / "ci.log").read_text("utf-8").replace("│", " ").split())
    assert "the current package for" in log
    assert "this might be because" not in log  # the tools say it of folders alone
    words = (*incident.options, "--install-path", "packed-mirror")
    command = doctor(folder, *words, "ci.log")["remedies"][0]["command"]
    mirror = folder.parent / "runner"
    command = command.replace("MIRROR/", f"{mirror}/")
    subprocess.run(["sh", "-c", command], cwd=folder, check=True)
    assert list(mirror.rglob("terraform-provider-demo*"))
