"""Several roots or providers in one diagnosis: each verdict, blame and fix names the ones that it is of."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kit.command_line import no_screen
from kit.git import git
from kit.repositories import commit, copy_of
from msgspec.structs import replace

from locklens.cli.main import main
from locklens.demo import PLATFORMS, lock_file, write_unpacked
from locklens.demo.cases import requires, sample_entry
from locklens.demo.incidents import SampleIncident, boxed_log, sample_incidents
from locklens.doctor.model import CauseVerdict
from locklens.project.clifiles import this_platform
from locklens.project.git.process import GitCommand
from locklens.text import listing

DEMO, NETBOX = sample_entry("acme/demo", "1.4.2", "~> 1.4"), sample_entry("acme/netbox", "3.9.1", "~> 3.9")
OTHER = "darwin_arm64" if str(this_platform()) != "darwin_arm64" else "linux_amd64"
EDITED = replace(DEMO, hashes_of="1.3.9")
NETBOX_ELSEWHERE = replace(NETBOX, unpacked=(), packed=(OTHER,))
ROOTS = {
    "con": (("~> 1.5"), lock_file(DEMO)),
    "hash": (("~> 1.4"), lock_file(replace(DEMO, unpacked=(), packed=(OTHER,)))),
    "ver": (("~> 1.4"), lock_file(EDITED)),
    "ver2": (("~> 1.4"), lock_file(EDITED, NETBOX_ELSEWHERE)),
}
WHILE = (
    "Error while installing acme/demo v1.4.2: the current package for registry.terraform.io/acme/demo 1.4.2 doesn't "
    "match any of the checksums previously recorded in the dependency lock file; for more information: terraform init"
)
MISMATCH = "Failed to install provider", WHILE
UNSURE = "the log does not tell which root failed; it fits con, hash, ver, ver2: name it with -- ROOT"


def lay_several(top: Path) -> None:
    git(top, "init", "-q")
    for name, (constraint, lock) in ROOTS.items():
        files: dict[str, bytes | str] = {f"{name}/main.tf": requires(("acme/demo", constraint))}
        commit(top, files | {f"{name}/.terraform.lock.hcl": lock}, f"add the root {name}")


@pytest.fixture
def several(made: Any, tmp_path: Path) -> Path:
    """A repository whose roots lock one version in different ways, each committed for itself; returns its top."""
    made(SampleIncident("", ("none",), (lock_file(DEMO),), (("acme/demo", "~> 1.4"),)))
    top = copy_of(lay_several, tmp_path / "several")
    log = boxed_log(MISMATCH).replace("on linux_amd64\n", f"on {this_platform()}\n")
    (top / "ci.log").write_text(log, "utf-8")
    return top


def test_what_the_log_does_not_tell_is_said_of_each_root(several: Path, doctor: Any) -> None:
    document = doctor(several, "ci.log")
    held = [
        (one["id"], one["verdict"], one["roots"]) for one in document["causes"] if one["verdict"] in {"yes", "likely"}
    ]
    assert held == [("hand-edit", "likely", ["ver", "ver2"]), ("platform-missing", "likely", ["hash"])]
    assert UNSURE in document["run"]["notes"]
    assert document["errors"][0]["roots"] == ["con", "hash", "ver", "ver2"]
    out = " ".join(doctor(several, "--format", "text", "ci.log").split())
    assert "In ver, ver2: the block was edited by hand" in out
    assert "or in hash: the platform is not covered. [LIKELY]" in out
    assert "LOCKED in ver: since commit" in out
    assert '"add the root ver"' in out
    assert re.search(r"Add the hashes of [^$]+: in hash ", out)
    assert re.search(r"Copy the block of acme/demo 1.4.2 at con/.terraform.lock.hcl:[^$]+: in ver, ver2 ", out)
    named = doctor(several, "--format", "text", "ci.log", "--", "hash")
    assert "In " not in named.partition("VERDICT")[2].partition("CAUSES")[0]


def test_a_root_that_is_named_is_compared_with_all(several: Path, doctor: Any) -> None:
    out = " ".join(doctor(several, "--offline", "--format", "text", "ci.log", "--", "ver").split())
    assert "ROOT ver acme/demo 1.4.2; the same version and hashes in 2 of 4 roots, also ver2" in out


def test_an_error_that_is_over_is_named_by_its_own_version(made: Any, doctor: Any) -> None:
    elsewhere = replace(DEMO, unpacked=(), packed=(OTHER,))
    newer = sample_entry("acme/netbox", "3.10.0", "~> 3.9")
    locks = lock_file(elsewhere, NETBOX_ELSEWHERE), lock_file(elsewhere, newer)
    folder = made(SampleIncident("", ("none",), locks, (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))))
    other = WHILE.replace("acme/demo", "acme/netbox").replace("1.4.2", "3.9.1")
    log = boxed_log(MISMATCH, (MISMATCH[0], other)).replace("on linux_amd64\n", f"on {this_platform()}\n")
    (folder / "ci.log").write_text(log, "utf-8")
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "Already fixed: the error of acme/netbox 3.9.1." in out
    assert "root live/prod acme/netbox 3.9.1 " in out


def test_a_wrong_line_is_not_blamed_on_the_provider_of_another_block(made: Any, doctor: Any) -> None:
    elsewhere = replace(DEMO, unpacked=("darwin_arm64",), packed=())
    required = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
    folder = made(SampleIncident("", ("none",), (lock_file(elsewhere, NETBOX_ELSEWHERE),), required))
    lock = folder / "live/prod/.terraform.lock.hcl"
    lock.write_text(re.sub(r'    "h1:.*\n', "", lock.read_text("utf-8")), "utf-8")
    other = WHILE.replace("acme/demo", "acme/netbox").replace("1.4.2", "3.9.1")
    (folder / "ci.log").write_text(boxed_log(MISMATCH, (MISMATCH[0], other)), "utf-8")
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "LOCKED live/prod/.terraform.lock.hcl: not committed yet (line 4)" in out


@pytest.mark.parametrize(("message", "verdict"), [
    (MISMATCH, "The log fits no root here. [CANNOT SAY]"),
    (("Failed to install provider", 'Error while installing acme/demo v1.4.2: Get "https://e.example.com/d.zip": 429 Too Many Requests'),
     "A request to e.example.com was answered: too many requests (429). [CONFIRMED]"),
])  # fmt: skip
def test_a_log_that_fits_no_root_says_so(message: tuple[str, str], verdict: str, several: Path, doctor: Any) -> None:
    for name in ROOTS:
        shutil.rmtree(several / name)
    git(several, "commit", "-qam", "remove the roots")
    _root = several / "a"
    _root.mkdir()
    (_root / "main.tf").write_text(requires(("acme/netbox", "~> 3.9")), "utf-8")
    (several / "ci.log").write_text(boxed_log(message), "utf-8")
    document = doctor(several, "--offline", "ci.log")
    assert (document["facts"]["root"], document["errors"][0]["roots"]) == (None, [])
    assert {one["basis"] for one in document["causes"]} <= {"run"}
    out = " ".join(doctor(several, "--offline", "--format", "text", "ci.log").split())
    assert f"VERDICT {verdict}" in out
    assert "ROOT ? acme/demo 1.4.2; the log fits no root here" in out
    assert "NOTE no root here locks or requires acme/demo: diagnose it in the repository of the failing run" in out


def test_what_holds_whichever_root_failed_is_said_once(several: Path, doctor: Any) -> None:
    words = 'Error while installing acme/demo v1.4.2: Get "https://example.com/demo.zip": 429 Too Many Requests'
    (several / "ci.log").write_text(boxed_log(("Failed to install provider", words)), "utf-8")
    first = doctor(several, "ci.log")["causes"][0]
    assert (first["id"], first["verdict"], first["roots"]) == ("registry-down", "yes", ["con", "hash", "ver", "ver2"])
    out = " ".join(doctor(several, "--format", "text", "ci.log").split())
    assert "VERDICT A request to example.com was answered: too many requests (429). [CONFIRMED]" in out


def test_a_fix_of_one_provider_says_that_another_one_needs_its_own(made: Any, doctor: Any) -> None:
    lock = lock_file(replace(DEMO, unpacked=(OTHER,), packed=(OTHER,)), replace(NETBOX, unpacked=(OTHER,)))
    folder = made(SampleIncident("", ("none",), (lock,)))
    words = WHILE.replace("the current package", "the local package")
    other = words.replace("acme/demo", "acme/netbox").replace("1.4.2", "3.9.1")
    log = boxed_log((MISMATCH[0], words), (MISMATCH[0], other)).replace("on linux_amd64\n", f"on {this_platform()}\n")
    (folder / "ci.log").write_text(log, "utf-8")
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split()).partition(" FIX ")[2]
    assert "acme/demo needs another fix" in out.partition(" b ")[0]
    assert "acme/netbox needs another fix" in out.partition(" b ")[2]


def test_providers_of_one_root_that_lack_the_same_have_one_fix(made: Any, doctor: Any) -> None:
    whole = lock_file(*(replace(one, unpacked=("linux_amd64",)) for one in (DEMO, NETBOX)))
    without = lock_file(*(replace(one, unpacked=("darwin_arm64",)) for one in (DEMO, NETBOX)))
    required = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
    folder = made(SampleIncident("", ("none",), (whole, without), required))
    words = WHILE.replace("the current package", "the local package")
    other = words.replace("acme/demo", "acme/netbox").replace("1.4.2", "3.9.1")
    log = boxed_log((MISMATCH[0], words), (MISMATCH[0], other))
    (folder / "ci.log").write_text(log, "utf-8")
    fixes = {one["id"]: one for one in doctor(folder, "--platform", "linux_amd64", "ci.log")["remedies"]}
    names, lock, restore = "acme/demo acme/netbox", fixes["lock-platform"], fixes["restore-entry"]
    assert lock["command"] == f"locklens lock --platform linux_amd64 {names} --root=live/prod"
    assert restore["command"].startswith(f"locklens restore {names} --from ")
    assert len(fixes) == len(doctor(folder, "--platform", "linux_amd64", "ci.log")["remedies"])
    out = " ".join(doctor(folder, "--platform", "linux_amd64", "--format", "text", "ci.log").split())
    assert "a Add the hashes of linux_amd64 to the lock file, from the signed packages 1 root" in out
    assert "b Restore the entries of commit" in out
    assert main(shlex.split(lock["command"])[1:], no_screen) == 0
    assert (folder / "live/prod/.terraform.lock.hcl").read_text("utf-8").count('"h1:') == 4


def test_what_is_so_of_several_providers_is_said_once(made: Any, doctor: Any) -> None:
    both = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO, NETBOX),), both))
    items = "\n".join(
        f"  - {one.provider}: there is no package for {one.provider} {one.version} cached in .terraform/providers"
        for one in (DEMO, NETBOX)
    )
    (folder / "ci.log").write_text(f"Error: Required plugins are not installed\n\n{items}\n", "utf-8")
    (evidence,) = {one["evidence"] for one in doctor(folder, "ci.log")["causes"] if one["verdict"] == "yes"}
    for form, title in (("text", "plugin-missing: {}: the"), ("markdown", "| {}: the")):
        out = " ".join(doctor(folder, "--format", form, "ci.log").split())
        assert title.format("acme/demo 1.4.2, acme/netbox 3.9.1") in out
        assert out.count(evidence[:60]) == 1


def test_a_version_is_that_of_its_root_and_a_fix_names_the_providers_of_its_roots(made: Any, doctor: Any) -> None:
    folder = made(
        SampleIncident("", ("none",), (lock_file(replace(DEMO, unpacked=(), packed=(OTHER,)), NETBOX_ELSEWHERE),))
    )
    (folder / "net").mkdir()
    (folder / "net/main.tf").write_text(requires(("acme/demo", "~> 1.4")), "utf-8")
    newer = sample_entry("acme/demo", "1.5.0", "~> 1.4")
    (folder / "net/.terraform.lock.hcl").write_bytes(lock_file(replace(newer, unpacked=(), packed=(OTHER,))))
    summary, whole = MISMATCH
    runs = (("net", whole.replace("1.4.2", "1.5.0")), ("live/prod", whole),
            ("live/prod", whole.replace("acme/demo", "acme/netbox").replace("1.4.2", "3.9.1")))  # fmt: skip
    logs = (f"$ terraform -chdir={root} init\n{boxed_log((summary, words))}" for root, words in runs)
    (folder / "ci.log").write_text("".join(logs).replace("on linux_amd64\n", f"on {this_platform()}\n"), "utf-8")
    document = doctor(folder, "ci.log")
    (of_demo,) = [one for one in document["causes"] if one["roots"] == ["net", "live/prod"]]
    assert of_demo["id"] == "platform-missing"
    assert "acme/demo in net, live/prod: the platform" in " ".join(doctor(folder, "--format", "text", "ci.log").split())
    others = {tuple(one["command"].split()[-2:]): "another fix" in one["note"] for one in document["remedies"]}
    assert others == {("acme/demo", "--root=net"): False, ("acme/netbox", "--root=live/prod"): False}
    assert " acme/demo acme/netbox --root=live/prod" in " ".join(one["command"] for one in document["remedies"])


@pytest.mark.parametrize(("reason", "fix", "words"), [
    ("tls: failed to verify certificate: x509: certificate signed by unknown authority", "trust-authority", "SSL_CERT_FILE"),
    ("tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-11-30T16:17:42Z is after 2026-01-01T00:00:00Z", "renew-certificate", "the owner of r.example.com install a certificate that is valid now"),
    ("tls: failed to verify certificate: x509: certificate is valid for mirror.corp.test, not r.example.com", "match-certificate", "Use a host name that the certificate of r.example.com is for"),
    ("tls: failed to verify certificate: x509: certificate specifies an incompatible key usage", "examine-certificate", "Find out on the runner why"),
    ("403 Forbidden", "test-credentials", "Give the runner a token"),
])  # fmt: skip
def test_what_is_done_about_a_host_is_said_once(reason: str, fix: str, words: str, made: Any, doctor: Any) -> None:
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO, NETBOX_ELSEWHERE),)))
    failed = (
        "Could not retrieve the list of available versions for provider {0}: could not query provider registry for "
        'registry.terraform.io/{0}: the request failed: Get "https://r.example.com/v1/providers/{0}/versions": {1}'
    )
    summary = "Failed to query available provider packages"
    log = boxed_log(*((summary, failed.format(name, reason)) for name in ("acme/demo", "acme/netbox")))
    (folder / "ci.log").write_text(log, "utf-8")
    document = doctor(folder, "--offline", "ci.log")
    assert [one["id"] for one in document["remedies"]] == [fix]
    out = " ".join(doctor(folder, "--offline", "--format", "text", "ci.log").split())
    assert words in out.partition(" FIX ")[2]
    assert "try again; " not in out


def test_each_provider_has_its_verdict(several: Path, doctor: Any) -> None:
    document = doctor(several)
    held = [
        (one["verdict"], one["id"], one["provider"].rpartition("/")[2], one["roots"])
        for one in document["causes"]
        if one["verdict"] in {"yes", "likely"}
    ]
    assert held == [
        ("yes", "platform-missing", "demo", ["hash"]),
        ("yes", "platform-missing", "netbox", ["ver2"]),
        ("yes", "constraint-conflict", "demo", ["con"]),
        ("yes", "not-required", "netbox", ["ver2"]),
        ("likely", "hand-edit", "demo", ["ver", "ver2"]),
    ]
    out = " ".join(doctor(several, "--format", "text").split())
    assert "acme/demo 1.4.2 in hash, acme/netbox 3.9.1 in ver2: the platform is not covered, and acme/demo" in out
    assert "ROOTS 2 providers in con, hash, ver and 1 more" in out
    assert "LOCKED acme/demo 1.4.2 in hash: since commit" in out
    locked = [
        f"acme/{name}: since commit" for name in ("demo 1.4.2 in con", "demo 1.4.2 in ver", "netbox 3.9.1 in ver2")
    ]
    assert all(words in out for words in locked)
    blame = [note for note in document["run"]["notes"] if note.startswith("blame of the lock file: acme/")]
    assert len(blame) == len(set(blame)) == 5
    assert document["facts"]["root"] is None
    assert re.search(r"Add the hashes of [^$]+: acme/netbox 3.9.1 in ver2 1 root", out)


def test_no_command_is_offered_twice(several: Path, doctor: Any) -> None:
    for words in ((), ("ci.log",)):
        commands = [frozenset((one["command"] or one["hint"]).split()) for one in doctor(several, *words)["remedies"]]
        assert len(set(commands)) == len(commands)


def test_all_reports_have_one_order_of_causes(several: Path, doctor: Any) -> None:
    ids = [one["id"] for one in doctor(several, "ci.log")["causes"]]
    out = doctor(several, "--format", "text", "--all", "ci.log")
    lines = [line for line in out.splitlines() if line[2:3] in {"l", "?", "n"} and line[9:].partition(":")[0] in ids]
    assert [line[9:].partition(":")[0] for line in lines] == ids
    markdown = doctor(several, "--format", "markdown", "--all", "ci.log")
    assert [one for line in markdown.splitlines() for one in ids if f"(`{one}`)" in line] == ids
    ranks = [list(CauseVerdict).index(CauseVerdict(one["verdict"])) for one in doctor(several, "ci.log")["causes"]]
    assert ranks == sorted(ranks)


def test_a_report_gives_the_evidence_that_matters_and_names_the_rest(several: Path, doctor: Any) -> None:
    causes = doctor(several, "ci.log")["causes"]
    verdicts = [one["verdict"] for one in causes]
    assert "likely" in verdicts
    assert "no" in verdicts
    for form in ("text", "markdown"):
        short, whole = (
            " ".join(doctor(several, "--format", form, *words, "ci.log").split()) for words in ((), ("--all",))
        )
        for one in causes:
            evidence = " ".join(one["evidence"].split())
            assert evidence in whole
            assert (evidence in short) == (one["verdict"] != "no"), one
            assert one["id"] in short
    assert "RULED OUT    lock-syntax, other-tool (--all tells why)" in doctor(several, "--format", "text", "ci.log")


def test_beside_a_provider_that_is_not_locked_a_guess_about_another_one_is_not_likely(made: Any, doctor: Any) -> None:
    required = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO),), required))
    words = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    (folder / "ci.log").write_text(f"Error: Provider dependency changes detected\n\n{words}\n", "utf-8")
    causes = doctor(folder, "ci.log")["causes"]
    assert [one["id"] for one in causes if one["verdict"] in {"yes", "likely"}] == ["not-locked"]
    assert not {one["id"] for one in causes} & {"h1-missing", "platform-missing"}, "no hash gives this message"


@pytest.mark.parametrize("listed", [False, True])
def test_an_entry_that_nothing_requires_is_removed(listed: bool, made: Any, doctor: Any) -> None:
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO, NETBOX),), (("acme/demo", "~> 1.4"),)))
    words = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    head = "- Reusing previous version of acme/demo from the dependency lock file\n\n" if listed else ""
    (folder / "ci.log").write_text(f"{head}Error: Provider dependency changes detected\n\n{words}\n", "utf-8")
    document = doctor(folder, "ci.log")
    probable = [(one["id"], one["provider"], one["verdict"]) for one in document["causes"] if one["verdict"] != "no"]
    provider = "registry.terraform.io/acme/netbox"
    assert probable == [("not-required", provider, "yes")]
    commands = [one["command"] for one in document["remedies"]]
    assert commands == ["locklens prune acme/netbox --root=live/prod"]
    out = doctor(folder, "--format", "text", "ci.log")
    assert "acme/demo" not in out.partition("VERDICT")[0].replace(provider, ""), "the message names no provider"
    without = {one["id"]: one["verdict"] for one in doctor(folder, "--provider", provider, "--", "live/prod")["causes"]}
    assert (without["plugin-missing"], without["constraint-conflict"]) == ("no", "no")


@pytest.fixture
def equal(made: Any) -> Path:
    """A repository with two more roots that have the entry of the first one; returns its top."""
    folder: Path = made(SampleIncident("", ("none",), (lock_file(DEMO),), (("acme/demo", "~> 1.4"),)))
    for name in ("qa", "test"):
        (folder / "live" / name).mkdir()
        for file in ("main.tf", ".terraform.lock.hcl"):
            (folder / "live" / name / file).write_bytes((folder / "live/prod" / file).read_bytes())
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "roots with equal entries")
    return folder


def test_git_is_not_asked_for_each_root_that_a_commit_lacks(
    equal: Path, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answer = list[str](), GitCommand.answer

    def noted(self: GitCommand, command: str, *words: str, **options: Any) -> bytes:
        asked.append(command)
        return answer(self, command, *words, **options)

    monkeypatch.setattr(GitCommand, "answer", noted)
    (equal / "ci.log").write_text(boxed_log(MISMATCH), "utf-8")
    doctor(equal, "ci.log")
    before = asked.count("ls-tree")
    for number in range(9):
        shutil.copytree(equal / "live/prod", equal / f"live/x{number}")
    git(equal, "add", ".")
    git(equal, "commit", "-qm", "more roots")
    asked.clear()
    assert len(doctor(equal, "ci.log")["errors"][0]["roots"]) == 12
    assert asked.count("ls-tree") <= before + 2


def test_a_fix_is_of_the_roots_that_are_named(equal: Path, doctor: Any) -> None:
    words = "there is no package for registry.terraform.io/acme/demo 1.4.2 cached in .terraform/providers"
    (equal / "ci.log").write_text(boxed_log(("Required plugins are not installed", words)), "utf-8")
    out = " ".join(doctor(equal, "--format", "text", "ci.log").split())
    assert "locklens init --root=ROOT ROOT stands for the root that failed, which the log does not tell" in out
    for lock in equal.glob("live/*/.terraform.lock.hcl"):
        lock.write_bytes(ROOTS["hash"][1])
    (equal / "ci.log").write_text(boxed_log(MISMATCH).replace("on linux_amd64\n", f"on {this_platform()}\n"), "utf-8")
    for named in (["live/qa"], ["live/qa", "live/test"]):
        commands = [one["command"] for one in doctor(equal, "ci.log", "--", *named)["remedies"]]
        roots = [[word for word in command.split() if word.startswith("--root=")] for command in commands]
        assert all(sorted(each) == [f"--root={name}" for name in named] for each in roots if each), commands
        assert any(roots), commands


def lay_lacking(top: Path, versions: dict[str, str]) -> None:
    """Writes roots that lack this platform's hashes of two providers, the first one in versions, and a log of both."""
    for name, version in versions.items():
        demo = replace(DEMO, version=version, unpacked=(), packed=(OTHER,))
        (top / "live" / name / "main.tf").write_text(requires(("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")))
        (top / "live" / name / ".terraform.lock.hcl").write_bytes(lock_file(demo, NETBOX_ELSEWHERE))
    netbox = WHILE.replace("acme/demo", "acme/netbox").replace("1.4.2", "3.9.1")
    log = boxed_log(MISMATCH, ("Failed to install provider", netbox))
    (top / "ci.log").write_text(log.replace("on linux_amd64\n", f"on {this_platform()}\n"), "utf-8")


def test_a_fix_is_of_the_roots_that_the_log_fits(equal: Path, doctor: Any) -> None:
    """One root locks another version of the first provider, and the same entry of the second one."""
    lay_lacking(equal, {"prod": "1.4.2", "qa": "1.4.2", "test": "1.5.0"})
    document = doctor(equal, "ci.log")
    assert [one["roots"] for one in document["errors"]] == [["live/prod", "live/qa"]] * 2
    fixes = [one for one in document["remedies"] if "--root=" in one["command"]]
    assert fixes
    assert {one["roots"] for one in fixes} == {2}
    assert "--root=live/test" not in " ".join(one["command"] for one in fixes)


def test_providers_that_lack_the_same_have_one_fix_also_where_the_log_does_not_tell_their_root(
    equal: Path, doctor: Any
) -> None:
    lay_lacking(equal, dict.fromkeys(("prod", "qa", "test"), "1.4.2"))
    (fix,) = (one for one in doctor(equal, "ci.log")["remedies"] if one["id"] == "lock-platform")
    roots = "--root=live/prod --root=live/qa --root=live/test"
    assert fix["command"] == f"locklens lock --platform {this_platform()} acme/demo acme/netbox {roots}"
    assert "more packages of the signed lists are locked with them: its Preview warns (LK001)" in fix["note"]


@pytest.mark.parametrize("is_of_log", [True, False])
def test_roots_whose_shared_module_is_rewritten_have_one_fix_that_names_who_else_calls_it(
    is_of_log: bool, made: Any, doctor: Any
) -> None:
    republished = next(one for one in sample_incidents() if one.cause == "republished")
    top = made(replace(republished, locks=(lock_file(DEMO),), copies=()))
    call = 'module "net" {\n  source = "../../modules/net"\n}\n'
    required = "< 1.5.0" if is_of_log else "~> 1.3.0"
    files: dict[str, bytes | str] = {"modules/net/main.tf": requires(("acme/demo", required))}
    for name, own, locked in (("a", ">= 1.3", "1.4.2"), ("b", ">= 1.3.1", "1.4.2"), ("c", ">= 1.3", "1.3.2")):
        files[f"live/{name}/main.tf"] = f"{requires(('acme/demo', own))}{call}"
        files[f"live/{name}/.terraform.lock.hcl"] = lock_file(replace(DEMO, version=locked))
    git(top, "rm", "-rq", "live/prod")
    commit(top, files, "three roots")
    (top / "ci.log").write_text(boxed_log(("Failed to install provider", WHILE.partition("; for more")[0])), "utf-8")
    words = ["ci.log"] if is_of_log else ["--", "live/a", "live/b"]
    fixes = [one for one in doctor(top, *words)["remedies"] if "--edit-constraints" in one["command"]]
    to, why = ("1.5.0", "which then admits what is locked there") if is_of_log else ("1.4.2", "and init may fail there")
    versions, roots = dict.fromkeys((to, "1.5.0")), "--root=live/a --root=live/b"
    lines = [f"locklens upgrade acme/demo={each} --edit-constraints {roots}" for each in versions]
    assert [one["command"] for one in fixes] == lines
    assert fixes[0]["note"].startswith(f"1 other root calls the rewritten module, {why}: live/c (locks 1.3.2); ")


def test_without_a_registry_other_roots_and_git_tell_an_edit(equal: Path, doctor: Any) -> None:
    log = boxed_log(MISMATCH).replace("on linux_amd64\n", f"on {this_platform()}\n")
    (equal / "ci.log").write_text(log, "utf-8")
    lock = equal / "live/qa/.terraform.lock.hcl"
    before = lock.read_text("utf-8")
    numbers = iter(range(99))
    edited = re.sub(r'"(zh:|h1:)[^"]{8}', lambda found: f'"{found[1]}{next(numbers):08}', before)
    lock.write_text(edited, "utf-8")
    git(equal, "commit", "-qam", "tidy")
    document = doctor(equal, "--offline", "ci.log")
    first = document["causes"][0]
    assert (first["id"], first["verdict"], first["roots"]) == ("hand-edit", "likely", ["live/qa"])
    assert "other zh for acme/demo 1.4.2 than commit" in first["evidence"]
    assert "whose zh 2 other lock files have, too" in first["evidence"]
    (restore,) = (one for one in document["remedies"] if one["id"] == "restore-entry")
    assert restore["roots"] == 1
    out = " ".join(doctor(equal, "--offline", "--format", "text", "ci.log").split())
    assert "it adds hashes that are not known as signed" in out
    assert not any(one["id"] == "upgrade" for one in document["remedies"])
    assert main(shlex.split(restore["command"])[1:], no_screen) == 0
    assert lock.read_text("utf-8") == before


@pytest.mark.parametrize("digits", [4, 64])
def test_other_roots_tell_an_edited_zh_from_a_republished_version(digits: int, equal: Path, doctor: Any) -> None:
    lock = equal / "live/qa/.terraform.lock.hcl"
    before = lock.read_text("utf-8")
    lock.write_text(re.sub(f"zh:[0-9a-f]{{{digits}}}", f"zh:{'e' * digits}", before, count=1), "utf-8")
    git(equal, "commit", "-qam", "tidy")
    document = doctor(equal, "--", "live/qa")
    verdicts = {one["id"]: one["verdict"] for one in document["causes"]}
    assert document["causes"][0]["id"] == "hand-edit"
    assert (verdicts["hand-edit"], verdicts["republished"]) == (("yes", "no") if digits == 4 else ("likely", "unknown"))
    (equal / "live/new").mkdir()  # its history begins with the edit
    (equal / "live/new/main.tf").write_bytes((equal / "live/prod/main.tf").read_bytes())
    (equal / "live/new/.terraform.lock.hcl").write_bytes(lock.read_bytes())
    document = doctor(equal, "--", "live/new")
    verdicts = {one["id"]: one["verdict"] for one in document["causes"]}
    assert (verdicts["hand-edit"], verdicts["republished"]) == (("yes", "no") if digits == 4 else ("likely", "unknown"))
    told = {one["id"]: one["evidence"] for one in document["causes"]}["republished"]
    assert digits != 4 or re.search(
        r"zh:eeee\w{4}... differs from a zh of the signed SHA256SUMS .* in [34] characters", told
    )
    (fix,) = document["remedies"]
    assert (fix["id"], fix["trust"]) == ("copy-entry", "none")
    assert fix["hint"] == "git diff --no-index -- live/new/.terraform.lock.hcl live/prod/.terraform.lock.hcl"


@pytest.mark.parametrize(("number", "verdict"), [(8, "yes"), (9, "likely")])
def test_no_typed_hash_is_looked_for_among_many(number: int, verdict: str, equal: Path, doctor: Any) -> None:
    lock = equal / "live/qa/.terraform.lock.hcl"
    before = lock.read_text("utf-8")
    signed = re.findall(r"zh:[0-9a-f]{64}", before)[0]
    strange = "".join(f'    "zh:{each:04x}{signed[7:]}",\n' for each in range(number))
    lock.write_text(before.replace(f'    "{signed}",\n', f'{strange}    "{signed}",\n'), "utf-8")
    git(equal, "commit", "-qam", "tidy")
    document = doctor(equal, "--", "live/qa")
    assert {one["id"]: one["verdict"] for one in document["causes"]}["hand-edit"] == verdict


def test_signed_hashes_that_another_root_locked_later_rule_no_republication_out(
    equal: Path, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in equal.glob("live/*/.terraform.lock.hcl"):
        before = path.read_text("utf-8")
        path.write_text(re.sub("zh:[0-9a-f]{64}", f"zh:{'e' * 64}", before, count=1), "utf-8")
    git(equal, "commit", "-q", "--amend", "-am", "roots")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2040-01-01T00:00:00Z")
    (equal / "live/qa/.terraform.lock.hcl").write_text(before, "utf-8")
    git(equal, "commit", "-qam", "locked anew")
    verdicts = {one["id"]: one["verdict"] for one in doctor(equal, "--", "live/test")["causes"]}
    assert (verdicts["hand-edit"], verdicts["republished"]) == ("unknown", "likely")


def test_a_lock_file_that_was_restored_tells_the_root(
    equal: Path, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "live/qa/.terraform.lock.hcl"
    git(equal, "rm", "-q", name)
    git(equal, "commit", "-qm", "ignore lock files")
    words = "Changes to the required provider dependencies were detected, but the lock file is read-only."
    listed = '- Finding acme/demo versions matching "~> 1.4"...\n\n'
    (equal / "ci.log").write_text(f"{listed}Error: Provider dependency changes detected\n\n{words}\n", "utf-8")
    restore = next(one["command"] for one in doctor(equal, "ci.log")["remedies"] if one["id"] == "restore-file")
    assert subprocess.run(shlex.split(restore), cwd=equal, check=True).returncode == 0
    for _ in range(2):
        document = doctor(equal, "ci.log")
        assert document["fixed"] == f"{name} has just the providers now that the run required"
        assert document["facts"]["root"] == "live/qa"
        monkeypatch.setenv("GIT_COMMITTER_DATE", "2040-01-01T00:00:00Z")
        git(equal, "commit", "--allow-empty", "-qam", "restored")
    (equal / "live/qa/main.tf").write_text("", "utf-8")
    assert doctor(equal, "ci.log", "--", "live/qa")["state"] == "open", "nothing requires what is locked any more"


@pytest.mark.parametrize("is_by_locklens", [True, False])
def test_constraints_that_were_edited_tell_the_root_as_they_were(
    is_by_locklens: bool, equal: Path, doctor: Any
) -> None:
    constraints = equal / "live/qa/main.tf"
    constraints.write_text(requires(("acme/demo", "~> 1.3.0")), "utf-8")
    git(equal, "commit", "-qam", "stay at 1.3")
    words = (
        "Could not retrieve the list of available versions for provider acme/demo: locked provider "
        "registry.terraform.io/acme/demo 1.4.2 does not match configured version constraint ~> 1.3.0; must use terraform "
        "init -upgrade to allow selection of new versions"
    )
    (equal / "ci.log").write_text(boxed_log(("Failed to query available provider packages", words)), "utf-8")
    assert doctor(equal, "ci.log")["facts"]["root"] == "live/qa"
    if is_by_locklens:
        upgrade = ["upgrade", "acme/demo=1.5.0", "--edit-constraints", "--root=live/qa"]
        assert main(upgrade, no_screen) == 0
        git(equal, "commit", "-qam", "upgraded")
    else:
        constraints.write_text(requires(("acme/demo", "~> 1.4")), "utf-8")
    document = doctor(equal, "ci.log")
    assert (document["state"], document["facts"]["root"]) == ("fixed", "live/qa")


def test_a_restored_version_ends_the_error_of_the_one_that_was_not_installed(equal: Path, doctor: Any) -> None:
    words = "there is no package for registry.terraform.io/acme/demo 1.3.9 cached in .terraform/providers"
    (equal / "ci.log").write_text(boxed_log(("Required plugins are not installed", words)), "utf-8")
    lock = equal / "live/qa/.terraform.lock.hcl"
    before = lock.read_text("utf-8")
    lock.write_text(before.replace('"1.4.2"', '"1.3.9"'), "utf-8")
    document = doctor(equal, "ci.log")
    assert ("hand-edit", "yes") in {(one["id"], one["verdict"]) for one in document["causes"]}
    assert "reinstall" not in {one["id"] for one in document["remedies"]}  # init refuses a package of a wrong entry
    (restore,) = (one for one in document["remedies"] if one["id"] == "restore-entry")
    lock.write_text(before, "utf-8")
    named = doctor(equal, "ci.log", "--", "live/qa")  # nothing tells that the log is of what is locked now
    assert "yes" not in {one["verdict"] for one in named["causes"]}
    lock.write_text(before.replace('"1.4.2"', '"1.3.9"'), "utf-8")
    assert main(shlex.split(restore["command"])[1:], no_screen) == 0
    assert lock.read_text("utf-8") == before
    for root in ((), ("--", "live/qa")):
        document = doctor(equal, "ci.log", *root)
        assert (document["state"], document["facts"]["root"]) == ("fixed", "live/qa")


def test_of_two_roots_that_fit_one_that_was_locked_ends_nothing(equal: Path, doctor: Any) -> None:
    words = "This configuration requires provider registry.terraform.io/acme/demo, but that provider isn't available."
    (equal / "ci.log").write_text(boxed_log(("Missing required provider", words)), "utf-8")
    for name in ("prod", "qa", "test"):
        (equal / "live" / name / ".terraform.lock.hcl").unlink()
    git(equal, "commit", "-qam", "no lock files")
    assert doctor(equal, "ci.log")["state"] == "open"
    assert main(["lock", "--no-cache", "acme/demo", "--root=live/qa"], no_screen) == 0
    document = doctor(equal, "ci.log")
    assert document["state"] == "open"
    assert any("the log does not tell which root failed" in note for note in document["run"]["notes"])
    assert doctor(equal, "ci.log", "--", "live/qa")["state"] == "fixed"


def test_a_write_in_a_root_that_never_had_the_error_is_not_its_end(equal: Path, doctor: Any) -> None:
    (equal / "live/qa/.terraform.lock.hcl").write_bytes(lock_file())
    (equal / "live/prod/main.tf").write_text(requires(("acme/demo", "~> 1.5")), "utf-8")
    git(equal, "commit", "-qam", "another constraint, and one provider less")
    words = (
        "The following dependency selections recorded in the lock file are inconsistent with the current configuration:",
        "  - provider registry.terraform.io/acme/demo: required by this configuration but no version is selected",
    )
    (equal / "ci.log").write_text(boxed_log(("Inconsistent dependency lock file", *words)), "utf-8")
    assert doctor(equal, "ci.log")["facts"]["root"] == "live/qa"
    assert main(["upgrade", "--no-cache", "acme/demo", "--root=live/prod"], no_screen) == 0
    assert main(["lock", "--no-cache", "acme/demo", "--root=live/qa"], no_screen) == 0
    document = doctor(equal, "ci.log")
    assert document["fixed"] == "acme/demo 1.5.0 is locked now (live/qa/.terraform.lock.hcl:4)"
    assert (document["facts"]["root"], document["next"]) == ("live/qa", "terraform -chdir=live/qa init")
    assert doctor(equal, "ci.log", "--", "live/prod")["state"] == "open"


def test_init_locks_what_only_the_state_requires(equal: Path, doctor: Any) -> None:
    qa = equal / "live/qa"
    resource: dict[str, Any] = {"mode": "managed", "type": "demo_thing", "name": "a"}
    (qa / ".terraform.lock.hcl").write_bytes(lock_file())
    (qa / "main.tf").write_text(requires(), "utf-8")
    resource |= {"provider": 'provider["registry.terraform.io/acme/demo"]', "instances": [{"attributes": {}}]}
    (qa / "terraform.tfstate").write_text(json.dumps({"version": 4, "resources": [resource]}), "utf-8")
    git(equal, "commit", "-qam", "demo removed")
    words = "  - provider registry.terraform.io/acme/demo: required by this configuration but no version is selected"
    (equal / "ci.log").write_text(boxed_log(("Inconsistent dependency lock file", words)), "utf-8")
    restored, *fixes = [one["command"] for one in doctor(equal, "ci.log", "--", "live/qa")["remedies"]]
    assert restored.startswith("locklens restore acme/demo --from ")
    assert fixes == ["locklens init --root=live/qa"]
    assert main(["init", "--no-cache", "--root=live/qa"], no_screen) == 0
    assert doctor(equal, "ci.log", "--", "live/qa")["state"] == "fixed"


DUPLICATE = (
    "Error: failed to read dependency lock file: Duplicate provider lock: This lockfile already declared a lock for "
    "provider registry.terraform.io/acme/demo at .terraform.lock.hcl:4,1-44.\n"
)


def test_of_roots_with_equal_entries_the_one_that_cannot_be_read_is_named(equal: Path, doctor: Any) -> None:
    (equal / "ci.log").write_text(DUPLICATE, "utf-8")
    document = doctor(equal, "ci.log")
    assert {one["verdict"] for one in document["causes"]} <= {"unknown", "no"}
    assert "each lock file that the log fits can be read here" in document["causes"][0]["evidence"]
    lock = equal / "live/qa/.terraform.lock.hcl"
    text = lock.read_text("utf-8")
    lock.write_text(text + text[text.index("provider ") :], "utf-8")
    document = doctor(equal, "ci.log")
    first = document["causes"][0]
    assert (document["facts"]["root"], first["id"], first["verdict"]) == ("live/qa", "lock-syntax", "yes")
    assert "has the same version and hashes" not in " ".join(doctor(equal, "--format", "text", "ci.log").split())


@pytest.mark.parametrize("is_merge", [True, False, None], ids=["a merge", "no merge", "not committed"])
def test_git_tells_whether_a_second_block_is_of_a_merge(is_merge: bool | None, equal: Path, doctor: Any) -> None:
    (equal / "ci.log").write_text(f"$ terraform -chdir=live/qa init\n{DUPLICATE}", "utf-8")
    lock, main_tf = equal / "live/qa/.terraform.lock.hcl", equal / "live/qa/main.tf"
    text = lock.read_text("utf-8")
    if is_merge:
        git(equal, "checkout", "-qb", "topic")
        git(equal, "commit", "-qm", "topic", "--allow-empty")
        git(equal, "checkout", "-q", "-")
        git(equal, "merge", "-q", "--no-ff", "--no-commit", "topic")
    lock.write_text(text + text[text.index("provider ") :], "utf-8")
    main_tf.write_text(main_tf.read_text("utf-8").replace("~> 1.4", "1.5.0"), "utf-8")
    if is_merge is not None:
        git(equal, "commit", "-qam", "both")
    commit = git(equal, "rev-parse", "--short=12", "HEAD").strip()
    document = doctor(equal, "ci.log")
    merge = next(one for one in document["causes"] if one["id"] == "bad-merge")
    assert merge["verdict"] == ("yes" if is_merge else "unknown")
    if is_merge is False:
        assert merge["evidence"].endswith(f"; it cannot be read since commit {commit}, which is no merge")
        assert merge["missing"].startswith("whether that commit squashed a branch with such a merge")
    if is_merge is None:
        assert merge["missing"] == "whether the change that added the second block was a merge"
    (restore,) = (one for one in document["remedies"] if one["id"] == "restore-file")
    assert restore["note"].endswith("main.tf:5 requires 1.5.0: init fails with acme/demo 1.4.2"), restore["note"]


def test_the_root_of_a_file_that_locklens_made_readable_is_that_of_the_log(equal: Path, doctor: Any) -> None:
    lock = equal / "live/qa/.terraform.lock.hcl"
    text = lock.read_text("utf-8")
    lock.write_text(f"<<<<<<< HEAD\n{text}=======\n{text.replace('~> 1.4', '~> 1.3')}>>>>>>> topic\n", "utf-8")
    (equal / "ci.log").write_text(DUPLICATE, "utf-8")
    assert doctor(equal, "ci.log")["facts"]["root"] == "live/qa"
    assert main(["merge", "--prefer", "ours", "--root=live/qa"], no_screen) == 0
    document = doctor(equal, "ci.log")
    assert (document["state"], document["facts"]["root"]) == ("fixed", "live/qa")


def test_a_root_that_accepts_the_mirror_s_copy_is_not_likely_beside_one_that_lacks_its_h1(
    equal: Path, doctor: Any, tmp_path: Path
) -> None:
    (equal / "live/qa/.terraform.lock.hcl").write_bytes(lock_file(replace(DEMO, unpacked=(OTHER,))))
    git(equal, "commit", "-qam", "qa: lock")
    log = boxed_log((MISMATCH[0], WHILE.replace("current package", "local package"))).replace("on linux_amd64\n", "\n")
    (equal / "ci.log").write_text(log, "utf-8")
    assert doctor(equal, "--offline", "ci.log")["causes"][0]["verdict"] == "unknown"
    write_unpacked(tmp_path / "mirror", DEMO.provider, "1.4.2", str(this_platform()))
    document = doctor(equal, "--offline", "--mirror", str(tmp_path / "mirror"), "ci.log")
    found = [(one["id"], one["verdict"], one["roots"]) for one in document["causes"] if one["verdict"] == "likely"]
    assert found == [("h1-missing", "likely", ["live/qa"])]


CACHED = (
    "Error: registry.terraform.io/acme/demo: the cached package for registry.terraform.io/acme/demo 1.4.2 (in "
    ".terraform/providers) does not match any of the checksums recorded in the dependency lock file\n"
)


def test_of_roots_with_equal_entries_the_one_with_an_altered_folder_is_named(equal: Path, doctor: Any) -> None:
    (equal / "ci.log").write_text(CACHED, "utf-8")
    document = doctor(equal, "ci.log")
    assert "which root's installed folder it was is not known" in document["causes"][0]["evidence"]
    reinstall = [one for one in document["remedies"] if one["id"] == "reinstall"]
    assert [(one["roots"], one["command"]) for one in reinstall] == [(3, "locklens init --root=ROOT")]
    for name in ("qa", "test"):
        place = equal / "live" / name / ".terraform/providers"
        write_unpacked(place, DEMO.provider, "1.4.2", str(this_platform()), "tampered" if name == "qa" else "")
    document = doctor(equal, "ci.log")
    first = document["causes"][0]
    assert (document["facts"]["root"], first["id"], first["verdict"]) == ("live/qa", "plugin-corrupted", "likely")
    assert "live/qa/.terraform/providers/" in first["evidence"]
    assert all(one["command"].startswith("mv -- live/qa/.terraform/") for one in document["remedies"])
    place = equal / "live/qa/.terraform/providers" / str(DEMO.provider) / "1.4.2" / str(this_platform())
    place.rename(place.with_name(f"{place.name}.suspect"))
    write_unpacked(equal / "live/qa/.terraform/providers", DEMO.provider, "1.4.2", str(this_platform()))
    document = doctor(equal, "ci.log")
    assert (document["state"], document["facts"]["root"]) == ("fixed", "live/qa")


def test_an_altered_folder_tells_the_root_before_a_write_of_locklens(equal: Path, doctor: Any) -> None:
    (equal / "ci.log").write_text(CACHED, "utf-8")
    doctor(equal, "ci.log")
    lock = equal / "live/test/.terraform.lock.hcl"
    before = lock.read_text("utf-8")
    lock.write_text(re.sub(r'"(zh:|h1:)[^"]{8}', r'"\1AAAAAAAA', before), "utf-8")
    assert main(["restore", "acme/demo", "--from", "HEAD", "--root=live/test"], no_screen) == 0
    assert lock.read_text("utf-8") == before
    for name in ("prod", "qa", "test"):
        place = equal / "live" / name / ".terraform/providers"
        write_unpacked(place, DEMO.provider, "1.4.2", str(this_platform()), "tampered" if name == "qa" else "")
    document = doctor(equal, "ci.log")
    assert (document["facts"]["root"], document["causes"][0]["id"]) == ("live/qa", "plugin-corrupted")


NOT_STARTED = (
    "- Failed to obtain provider schema: Could not load the schema for provider\nregistry.terraform.io/{0}: failed to "
    'instantiate provider\n"registry.terraform.io/{0}" to obtain schema: Unrecognized remote plugin\nmessage: \n'
    "Failed to read any lines from plugin's stdout\n\nAdditional notes about plugin:\n"
    "  Path: .terraform/providers/registry.terraform.io/{0}/{1}/linux_amd64/terraform-provider-x_v{1}\n"
)


def test_versions_in_paths_and_each_provider_of_a_message_tell_the_root(made: Any, doctor: Any) -> None:
    locks = {"old": (replace(DEMO, version="1.3.9"), NETBOX), "alone": (DEMO,), "both": (DEMO, NETBOX)}
    folder = made(SampleIncident("", ("none",), (lock_file(*locks["both"]),), (("acme/demo", "~> 1.4"),)))
    for name, entries in locks.items():
        (folder / name).mkdir()
        (folder / name / ".terraform.lock.hcl").write_bytes(lock_file(*entries))
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "roots with other versions, and with one provider alone")
    items = NOT_STARTED.format("acme/demo", "1.4.2") + NOT_STARTED.format("acme/netbox", "3.9.1")
    log = f"Error: Failed to load plugin schemas\n\nError while loading schemas for plugin components: 2 problems:\n\n{items}"
    (folder / "ci.log").write_text(log, "utf-8")
    document = doctor(folder, "ci.log")
    found = [(one["provider"], one["version"], one["roots"]) for one in document["errors"]]
    assert found == [
        ("registry.terraform.io/acme/demo", "1.4.2", ["both", "live/prod"]),
        ("registry.terraform.io/acme/netbox", "3.9.1", ["both", "live/prod"]),
    ]


@pytest.mark.parametrize(
    ("mask", "known"), [("acme", ["registry.terraform.io/acme/demo"]), ("acme/demo", ["registry.terraform.io/***"])]
)
def test_a_name_that_a_ci_system_masked_is_told_by_what_is_locked(
    mask: str, known: list[str], equal: Path, doctor: Any
) -> None:
    listed = "- Reusing previous version of acme/demo from the dependency lock file\n"
    (equal / "live/qa/.terraform.lock.hcl").write_bytes(lock_file(replace(DEMO, version="1.5.0"), NETBOX))
    git(equal, "commit", "-qam", "another version")
    log = (listed + boxed_log(MISMATCH)).replace(mask, "***")
    (equal / "ci.log").write_text(log, "utf-8")
    document = doctor(equal, "ci.log")
    if "***" in known[0]:
        assert not [one for one in document["causes"] if one["verdict"] == "no"]
        return
    assert [one["provider"] for one in document["errors"]] == known
    assert document["errors"][0]["roots"] == ["live/prod", "live/test"]
    (note,) = (one for one in document["run"]["notes"] if "hides" in one)
    assert note.endswith(
        "(registry.terraform.io/***/demo): of what is locked here, only registry.terraform.io/acme/demo fits"
    )


LISTED = (
    "Initializing provider plugins...\n- Reusing previous version of acme/demo from the dependency lock file\n"
    '- Finding acme/netbox versions matching "~> 3.9"...\n- Installing acme/netbox v3.9.1...\n\n'
    "Error: Provider dependency changes detected\n\nChanges to the required provider dependencies were detected, but the "
    "lock file is read-only.\n"
)


@pytest.mark.parametrize("named", [(), ("--", "live/qa")])
def test_a_provider_that_only_the_failing_commit_requires(named: tuple[str, ...], equal: Path, doctor: Any) -> None:
    (equal / "ci.log").write_text(LISTED, "utf-8")
    document = doctor(equal, "ci.log", *named)
    held = [(one["id"], one["verdict"]) for one in document["causes"] if one["verdict"] != "unknown"]
    assert held == [("not-locked", "yes")]
    assert "acme/netbox; nothing in live/" in document["causes"][0]["evidence"]
    assert [(one["command"], one["roots"]) for one in document["remedies"]] == [(None, 1 if named else 3)]


def test_one_command_for_two_providers_names_and_counts_both(made: Any, doctor: Any) -> None:
    required = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
    folder = made(SampleIncident("", ("none",), (lock_file(DEMO, NETBOX),), required))
    shutil.copytree(folder / "live/prod", folder / "live/qa")
    words = 'Error while installing acme/{} v{}: Get "https://example.com/demo.zip": 429 Too Many Requests'
    messages = [("Failed to install provider", words.format(*one)) for one in (("demo", "1.4.2"), ("netbox", "3.9.1"))]
    (folder / "ci.log").write_text(boxed_log(*messages), "utf-8")
    (fix,) = doctor(folder, "ci.log")["remedies"]
    assert (fix["id"], fix["roots"]) == ("retry", 2)
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert "Try again: acme/demo 1.4.2, acme/netbox 3.9.1 in live/prod, live/qa" in out


def test_a_fix_names_its_provider_where_several_fail(made: Any, doctor: Any) -> None:
    required = ("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9")
    other = "darwin_arm64" if str(this_platform()) != "darwin_arm64" else "linux_amd64"
    demo, netbox = (replace(one, unpacked=(other,)) for one in (DEMO, NETBOX))
    whole = replace(NETBOX, unpacked=(str(this_platform()), other))
    folder = made(SampleIncident("", ("none",), (lock_file(demo, whole), lock_file(demo, netbox)), required))
    words = (
        "Error while installing {0} v{1}: the local package for registry.terraform.io/{0} {1} doesn't match any of "
        "the checksums previously recorded in the dependency lock file"
    )
    releases = ("acme/demo", "1.4.2"), ("acme/netbox", "3.9.1")
    log = boxed_log(*(("Failed to install provider", words.format(*one)) for one in releases))
    (folder / "ci.log").write_text(log.replace("on linux_amd64\n", f"on {this_platform()}\n"), "utf-8")
    out = " ".join(doctor(folder, "--format", "text", "ci.log").split())
    assert re.findall(r"Restore the entry of commit \w{12}: (\S+ \S+)", out) == ["acme/netbox 3.9.1"]


@pytest.mark.parametrize(("status", "words"), [
    ("Forbidden", "the proxy refused"), ("Bad Gateway", "the proxy could not reach the host (5xx)"),
])  # fmt: skip
def test_a_proxy_that_answers_for_the_registry_is_one_cause(
    status: str, words: str, several: Path, doctor: Any
) -> None:
    url = '"https://registry.terraform.io/.well-known/terraform.json"'
    asked = f"could not connect to registry.terraform.io: failed to request discovery document: Get {url}"
    summary = "Failed to query available provider packages"
    messages = [
        (summary, f"Could not retrieve the list of available versions for provider {name}: {asked}: {status}")
        for name in ("acme/demo", "acme/netbox")
    ]
    (several / "ci.log").write_text(boxed_log(*messages), "utf-8")
    for named in ((), ("--", "ver2")):
        document = doctor(several, "ci.log", *named)
        held = [(one["id"], one["verdict"]) for one in document["causes"] if one["verdict"] in {"yes", "likely"}]
        assert held == [("proxy-or-ca", "yes")]
        assert "retry" not in {one["id"] for one in document["remedies"]}
    out = " ".join(doctor(several, "--format", "text", "ci.log", "--", "ver2").split())
    assert f"VERDICT The{words[3:]}. [CONFIRMED]" in out


def test_a_lock_file_of_one_platform_alone_gets_the_hashes_of_others(equal: Path, doctor: Any) -> None:
    (equal / "live/qa/.terraform.lock.hcl").write_bytes(lock_file(replace(DEMO, unpacked=("linux_amd64",), packed=())))
    git(equal, "commit", "-qam", "qa: init")
    words = (
        'Initializing provider plugins...\n- Finding acme/demo versions matching "~> 1.4"...\n\n'
        "Warning: Incomplete lock file information for providers\n\nDue to your customized provider installation methods,\n"
        "Terraform was forced to calculate lock file checksums locally for the following providers:\n  - acme/demo\n\n"
        "The current .terraform.lock.hcl file only includes checksums for linux_amd64, so Terraform running on another\n"
        "platform will fail to install these providers.\n"
    )
    (equal / "init.log").write_text(words, "utf-8")
    document = doctor(equal, "init.log")
    (cause,) = document["causes"]
    assert (document["facts"]["root"], cause["id"], cause["verdict"]) == ("live/qa", "platform-missing", "yes")
    assert "1 h1 and no zh of a package locked for acme/demo 1.4.2" in cause["evidence"]
    assert [one["command"] for one in document["remedies"]] == [
        "locklens lock --platform OS_ARCH acme/demo --root=live/qa"
    ]
    assert doctor(equal, "init.log", "--", "live/prod")["state"] == "open", "it never was of one platform alone"
    assert main(["lock", "--platform", OTHER, "acme/demo", "--root=live/qa"], no_screen) == 0
    document = doctor(equal, "init.log")
    assert (document["state"], document["facts"]["root"]) == ("fixed", "live/qa")


def test_what_one_commit_made_so_in_several_roots_is_of_all_of_them(equal: Path, doctor: Any) -> None:
    log = boxed_log(MISMATCH).replace("on linux_amd64\n", f"on {this_platform()}\n")
    (equal / "ci.log").write_text(log, "utf-8")

    def since(change: str, *names: str) -> str:
        for name in names:
            (equal / "live" / name / ".terraform.lock.hcl").write_bytes(ROOTS[change][1])
        git(equal, "commit", "-qam", f"change {listing(list(names))}")
        out = " ".join(doctor(equal, "--format", "text", "ci.log").split())
        return out.partition(" LOCKED ")[2].partition(" commit ")[0]

    assert since("hash", "prod", "qa", "test") == "since"
    assert since("ver", "prod", "test") == "in live/prod, live/test: since"


def test_a_fix_of_one_of_the_roots_that_a_log_fits_names_it(made: Any, doctor: Any) -> None:
    incident = next(one for one in sample_incidents() if one.cause == "cache-differs")
    folder = made(incident)
    (folder / "ci.log").write_text(boxed_log(incident.message), "utf-8")

    def fixes() -> list[dict[str, Any]]:
        return [one for one in doctor(folder, *incident.options, "ci.log")["remedies"] if ".suspect" in one["command"]]

    (alone,) = fixes()
    (cached,) = re.findall(r"h1:[\w+/=]+", alone["note"])
    shutil.copytree(folder / "live/prod", folder / "live/qa")
    lock = folder / "live/qa/.terraform.lock.hcl"
    lock.write_text(lock.read_text("utf-8").replace('    "h1:', f'    "{cached}",\n    "h1:', 1), "utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "qa: the cached package")
    (one,) = fixes()
    assert "terraform -chdir=live/prod init" in one["command"]
    assert "ROOT" not in one["command"] + one["note"]


@pytest.mark.parametrize("altered", [("netbox",), ("demo", "netbox")])
def test_an_altered_package_is_kept_before_another_fix_replaces_it(
    altered: tuple[str, ...], made: Any, doctor: Any
) -> None:
    lock = lock_file(*(replace(one, unpacked=PLATFORMS) for one in (DEMO, NETBOX)))
    folder = made(SampleIncident("", ("none",), (lock,), (("acme/demo", "~> 1.4"), ("acme/netbox", "~> 3.9"))))
    for name, entry in (("demo", DEMO), ("netbox", NETBOX)):
        if name in altered:
            place = folder / "live/prod/.terraform/providers"
            write_unpacked(place, entry.provider, entry.version, str(this_platform()), "tampered")
    netbox = CACHED.replace("acme/demo", "acme/netbox").replace("1.4.2", "3.9.1")
    words = "there is no package for registry.terraform.io/acme/demo 1.4.2 cached in .terraform/providers"
    missing = f"Error: registry.terraform.io/acme/demo: {words}\n"
    (folder / "ci.log").write_text((CACHED if "demo" in altered else missing) + netbox, "utf-8")
    fixes = [one["command"] for one in doctor(folder, "ci.log")["remedies"]]
    assert [".suspect" in one for one in fixes] == [True] * len(altered) + [False] * (2 - len(altered))
    assert [one for one in fixes if " init" in one] == fixes[len(altered) - 1 :], "init fetches all that differ"
    if len(altered) == 1:
        assert "Install the locked packages of all providers" in doctor(folder, "--format", "text", "ci.log")
