"""`locklens doctor` on the sample incidents: the right cause comes first, with evidence, and the report can be pasted."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kit.command_line import Run, runner
from kit.markdown_parsed import Shown
from kit.registries import Incidents
from kit.schemas import validate
from kit.secret_shapes import KINDS, SECRET
from msgspec.structs import replace

from locklens.demo import PLATFORMS, h1, package_bytes, write_unpacked, zh
from locklens.demo.faults import Fault, FaultRule, Step
from locklens.demo.incidents import SampleCopy, sample_incidents
from locklens.demo.published import AGAIN
from locklens.doctor.cleaning import MOST_BYTES
from locklens.doctor.judged_copies import HASH_ON_RUNNER
from locklens.doctor.model import CauseId

INCIDENTS = {f"{number:02}-{one.cause}": one for number, one in enumerate(sample_incidents())}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Incidents]:
    monkeypatch.chdir(tmp_path)
    with Incidents(tmp_path, monkeypatch) as incidents:
        yield incidents


def test_each_cause_has_an_incident() -> None:
    assert {incident.cause for incident in INCIDENTS.values()} == {cause.value for cause in CauseId}


@pytest.mark.parametrize("name", INCIDENTS)
def test_the_right_cause_comes_first(name: str, made: Any, run: Run) -> None:
    incident = INCIDENTS[name]
    folder = made(incident)
    status, out, err = run("-C", str(folder), "doctor", *incident.options, "--format", "json", "ci.log")
    document = json.loads(out)
    validate(document, "doctor")
    assert status == 0, out
    assert all(line.startswith(("to prove", "to download", "demo ")) for line in err.splitlines()), err
    causes = {cause["id"]: cause for cause in document["causes"]}
    first = document["causes"][0]
    verdict = "likely" if incident.cause == "credentials" else "yes"  # a message that a proxy's 403 gives, too
    assert (first["id"], first["verdict"]) == (incident.cause, verdict), out
    hosts = {host["host"]: host for host in document["run"]["hosts"]}
    if incident.cause not in {
        "bad-merge",
        "lock-syntax",
        "not-locked",
        "wrong-source",
        "module-missing",
    }:  # of these no entry can be asked for
        assert all(host["asked"] for host in hosts.values()), out
        assert hosts["registry.terraform.io"]["error"] is None or incident.cause in {"registry-down", "credentials"}
    named = {cause for cause, found in causes.items() if found["verdict"] == "yes"}
    assert named | {first["id"]} == {incident.cause, *incident.also}, out
    assert document["remedies"]
    assert str(folder) not in out


def test_as_text(made: Any, run: Run) -> None:
    folder = made(INCIDENTS["00-h1-missing"])
    status, out, err = run("-C", str(folder), "doctor", "--prove", "changed", "ci.log")
    assert (status, "to prove 1 h1: 1 package" in err) == (0, True)
    assert "The lock file has no h1 for the platform. The locked packages are still those of the release." in out
    assert "[CONFIRMED]" in out
    assert "RUN          linux_amd64 (log), terraform 1.11.4 (log), path unpacked-mirror (the message)" in out
    assert "by Robin Example" in out
    assert "example.com>" not in out
    assert "$ locklens -C repository lock --platform linux_amd64 acme/demo --root=live/prod" in out
    assert "delete the lock file and run init" in out
    assert max(len(line) for line in out.splitlines() if "$ " not in line) <= 110


def test_a_log_of_another_version_than_the_locked_one_is_named(made: Any, run: Run) -> None:
    folder = made(INCIDENTS["00-h1-missing"])
    log = folder / "ci.log"
    words = "the log is of registry.terraform.io/acme/demo 1.3.9, and 1.4.2 is locked in live/prod: name the root"
    assert words not in " ".join(run("-C", str(folder), "doctor", "ci.log")[1].split())
    log.write_text(log.read_text().replace("1.4.2", "1.3.9"))
    out = " ".join(run("-C", str(folder), "doctor", "ci.log")[1].split())
    assert words in out
    assert "FIXED" not in out  # no commit here locks it: the log is of another branch
    assert "CONFIRMED" not in out


@pytest.mark.parametrize("start", ["", "repository/live", "/"])
def test_the_fixes_work_in_the_folder_of_the_shell(
    start: str, made: Any, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(INCIDENTS["00-h1-missing"])
    monkeypatch.chdir(tmp_path / start)
    _, out, _ = run("-C", str(folder), "doctor", "--prove", "changed", "--format", "json", "ci.log")
    commands = [remedy["command"] for remedy in json.loads(out)["remedies"]]
    assert len(commands) == 2
    lock = folder / "live/prod/.terraform.lock.hcl"
    before = lock.read_bytes()
    for command in commands:
        lock.write_bytes(before)
        monkeypatch.chdir(tmp_path / start)
        assert run(*command.split()[1:])[0] == 0, command
        assert h1("registry.terraform.io/acme/demo", "1.4.2", "linux_amd64") in lock.read_text("utf-8"), command


def test_files_alone_tell_what_they_can(made: Any, run: Run) -> None:
    folder = made(INCIDENTS["00-h1-missing"])
    _, out, _ = run("-C", str(folder), "doctor", "--offline", "--no-cache", "ci.log")
    assert "[LIKELY]" in out
    assert "Needed: the signed SHA256SUMS of acme/demo 1.4.2: run without --offline" in out
    ruled_out = out.partition("RULED OUT")[2].partition("CANNOT SAY")[0]
    assert "republished" not in ruled_out  # nobody was asked, so nothing is ruled out by that


def test_one_root_of_many(made: Any, run: Run) -> None:
    folder = made(INCIDENTS["00-h1-missing"])
    for name in ("stage", "test"):
        shutil.copytree(folder / "live/prod", folder / "live" / name)
    _, out, _ = run("-C", str(folder), "doctor", "--format", "json", "ci.log", "--", "live/stage")
    document = json.loads(out)
    assert document["facts"]["root"] == "live/stage"
    assert {remedy["roots"] for remedy in document["remedies"]} == {1}
    assert all("live/stage" in remedy["command"] for remedy in document["remedies"]), "of the root that was named"
    _, out, _ = run("-C", str(folder), "doctor", "--format", "json", "ci.log")
    found = {remedy["id"]: remedy["roots"] for remedy in json.loads(out)["remedies"]}
    assert found == {"lock-platform": 3, "restore-entry": 1}, "no commit has the entry of the other two"


@pytest.mark.parametrize(("edition", "verdict"), [("", "no"), ("tampered", "yes")])
def test_a_package_of_the_failing_run(edition: str, verdict: str, made: Any, run: Run, tmp_path: Path) -> None:
    incident = INCIDENTS["02-mirror-differs"]
    folder = made(replace(incident, copies=()))
    name = ("registry.terraform.io/acme/demo", "1.4.2")
    place = write_unpacked(tmp_path / "given", *name, "linux_amd64", edition)
    packed = tmp_path / "given.zip"
    packed.write_bytes(package_bytes(*name, "linux_amd64", edition))
    for given in (str(place), str(packed), h1(*name, "linux_amd64", edition)):
        words = ["--prove", "changed", "--package", given, "--format", "json", "ci.log"]
        _, out, _ = run("-C", str(folder), "doctor", *words)
        causes = {cause["id"]: cause for cause in json.loads(out)["causes"]}
        assert causes["mirror-differs"]["verdict"] == verdict, out
    status, _, err = run("-C", str(folder), "doctor", "--package", "h1:short", "ci.log")
    assert (status, "not a hash" in err) == (2, True)


@pytest.mark.skipif(shutil.which("openssl") is None or shutil.which("sha256sum") is None, reason="needs openssl")
def test_the_command_for_the_runner_prints_the_h1(tmp_path: Path) -> None:
    name = ("registry.terraform.io/acme/demo", "1.4.2", "linux_amd64")
    place = write_unpacked(tmp_path, *name)
    command = HASH_ON_RUNNER.replace("DIR", str(place), 1)
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == h1(*name)


def test_without_a_log_the_root_is_examined(made: Any, run: Run) -> None:
    folder = made(INCIDENTS["01-platform-missing"])
    root = str(folder / "live/prod")
    status, out, err = run("-C", root, "doctor", "--platform", "darwin_arm64")
    assert (status, err) == (0, ""), out
    assert "No cause for an error was found. [OK]" in out
    status, out, _ = run("-C", root, "doctor", "--platform", "windows_amd64", "--prove", "changed", "--format", "json")
    document = json.loads(out)
    validate(document, "doctor")
    assert (status, document["errors"], document["causes"][0]["id"]) == (1, [], "platform-missing")


def test_a_copy_that_the_lock_file_wants_comes_first(made: Any, run: Run) -> None:
    incident = INCIDENTS["13-republished"]
    copy = SampleCopy("live/stage/.terraform/providers", "registry.terraform.io/acme/demo", "1.4.2")
    folder = made(replace(incident, copies=(copy,)))
    shutil.copy(folder / "live/prod/.terraform.lock.hcl", folder / "live/stage/.terraform.lock.hcl")
    words = ["--prove", "changed", "--format", "json", "ci.log"]
    _, out, _ = run("-C", str(folder), "doctor", *words, "--", "live/prod")
    document = json.loads(out)
    assert document["remedies"][-1]["trust"] == "high"
    assert "use-copy" not in {one["id"] for one in document["remedies"]}, "nothing says that the run had a mirror"
    _, out, _ = run("-C", str(folder), "doctor", "--install-path", "packed-mirror", *words, "--", "live/prod")
    first = json.loads(out)["remedies"][0]
    assert (first["id"], first["trust"], first["bytes"]) == ("use-copy", "none", 0)
    assert "live/stage/.terraform/providers/registry.terraform.io/acme/demo/1.4.2/linux_amd64" in first["command"]


def test_no_lock_is_offered_where_no_version_satisfies_all_constraints(made: Any, run: Run) -> None:
    folder = made(INCIDENTS["12-not-locked"])
    requires = (
        'terraform {{\n  required_providers {{\n    demo = {{ source = "acme/demo", version = "{}" }}\n  }}\n}}\n'
    )
    root = folder / "live/torn"
    (root / "m").mkdir(parents=True)
    (root / "m/main.tf").write_text(requires.format("~> 1.4.0"))
    (root / "main.tf").write_text(requires.format(">= 1.5") + 'module "m" {\n  source = "./m"\n}\n')
    _, out, _ = run("-C", str(folder), "doctor", "--format", "json", "--", "live/torn")
    document = json.loads(out)
    yes = {cause["id"] for cause in document["causes"] if cause["verdict"] == "yes"}
    assert yes == {"not-locked", "constraint-conflict"}
    assert [one["id"] for one in document["remedies"]] == ["change-constraint"]
    (root / "m/main.tf").write_text(requires.format("~> 1.5"))
    _, out, _ = run("-C", str(folder), "doctor", "--format", "json", "--", "live/torn")
    assert [one["id"] for one in json.loads(out)["remedies"]] == ["lock"]


def test_one_provider_is_examined(made: Any, run: Run) -> None:
    folder = made(INCIDENTS["12-not-locked"])
    words = ["--format", "json", "--provider"]
    _, out, _ = run("-C", str(folder), "doctor", *words, "acme/netbox", "--", "live/prod")
    assert [cause["id"] for cause in json.loads(out)["causes"] if cause["verdict"] == "yes"] == ["not-locked"]
    _, out, _ = run("-C", str(folder), "doctor", *words, "registry.terraform.io/acme/demo", "--", "live/prod")
    assert [cause["id"] for cause in json.loads(out)["causes"] if cause["verdict"] == "yes"] == ["constraint-conflict"]
    status, _, err = run("-C", str(folder), "doctor", "--provider", "acme/absent", "--", "live/prod")
    assert (
        status,
        "acme/absent: neither locked nor required" in err,
        "hint: there is nothing to diagnose, unless" in err,
    ) == (2, True, True)
    status, _, err = run("-C", str(folder), "doctor", "--provider", "acme/demo", "ci.log")
    assert (status, "--provider is for roots without a log" in err) == (2, True)


def test_a_plugin_cache_that_is_named_is_looked_into(made: Any, run: Run) -> None:
    incident = INCIDENTS["03-cache-differs"]
    folder = made(replace(incident, variables=()))
    words = ["--prove", "changed", "--format", "json", "ci.log"]
    for more, verdict in (([], "unknown"), (["--plugin-cache", "cache"], "yes")):
        _, out, _ = run("-C", str(folder), "doctor", *more, *words)
        causes = {cause["id"]: cause["verdict"] for cause in json.loads(out)["causes"]}
        assert causes["cache-differs"] == verdict


def test_nothing_recognised(made: Any, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(INCIDENTS["13-republished"])
    (folder / "other.log").write_text("npm ERR! code EINTEGRITY\n" * 200)
    status, out, err = run("-C", str(folder), "doctor", "other.log")
    assert (status, out) == (1, "nothing recognised\n")
    (folder / "module.log").write_text(
        "$ terraform init\nInitializing the backend...\nInitializing modules...\n- db in\n╷\n"
        "│ Error: Unreadable module directory\n│ \n│ Unable to evaluate directory symlink: lstat ../modules/db: no such\n"
        "│ file or directory\n╵\nError: Process completed with exit code 1.\n"
    )
    status, out, err = run("-C", str(folder), "doctor", "module.log")
    words = (
        "line 6 has an error of another kind, which is not diagnosed here: Error: Unreadable module directory Unable to"
    )
    assert (status, words in " ".join(out.split()), "pass the whole output" in err) == (1, True, False)
    (folder / "long.log").write_bytes((folder / "ci.log").read_bytes() + b"." * MOST_BYTES)
    for form in ("text", "markdown", "json"):
        status, out, err = run("-C", str(folder), "doctor", "--format", form, "long.log")
        words = "the log is longer than what is read, its last 8.0 MiB, and of these at most 200,000 lines"
        assert (status, f"{words}: its beginning was left out" in " ".join(out.split())) == (1, True)
        assert "hint: pass the part of the log that has the error" in err
    status, out, err = run("-C", str(folder), "doctor", "--format", "json", "other.log")
    document = json.loads(out)
    validate(document, "doctor")
    assert (status, document["errors"], document["causes"]) == (1, [], [])
    assert "nothing recognised" in err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\x00\xff\xfe" * 1000)))
    assert run("-C", str(folder), "doctor", "-")[0] == 1
    status, _, err = run("-C", str(folder), "doctor", "absent.log")
    assert (status, "absent.log: cannot be read" in err) == (2, True)


SECRETS = (
    "ghp_0123456789abcdefghijABCDEFGHIJ",
    "s3cr3t-token",
    "hunter2",
    "glpat-abcdefghijklmnopqrst",
    "eyJhbGciOi.eyJzdWIi.sig",
)


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_a_report_can_be_pasted(form: str, made: Any, run: Run) -> None:
    folder = made(INCIDENTS["02-mirror-differs"])
    detail = (
        "Could not retrieve the list of available versions for provider acme/demo: could not query provider registry for "
        f"registry.terraform.io/acme/demo: Get https://user:hunter2@proxy.example.com/?token={SECRETS[1]}&x=1: "
        f"Authorization: Bearer {SECRETS[4]} TF_TOKEN_x={SECRETS[0]} {SECRETS[3]} in /home/somebody/infra and "
        "C:\\Users\\Somebody\\x `code` | <script>alert(1)</script> \x1b[2J ::error::x ##[error]x"
    )
    (folder / "secret.log").write_text(f"Error: Failed to query available provider packages\n{detail}\n", "utf-8")
    _, out, _ = run("-C", str(folder), "doctor", "--format", form, "secret.log")
    assert "registry-failed" in out
    assert not [secret for secret in SECRETS if secret in out]
    assert "omebody" not in out
    assert str(Path.home()) not in out
    assert "\x1b" not in out
    assert not [line for line in out.splitlines() if line.lstrip().startswith("::") or "##[" in line]


FAILED = (
    "Error: Failed to query available provider packages\n\nCould not retrieve the list of available versions for provider "
    "acme/demo: could not query provider registry for registry.terraform.io/acme/demo: {}\n"
)
HOSTILE = (
    "<img src=https://evil.example/x.png> @org/security [fix it](https://evil.example) token=x",
    "`` <b>PWN</b> @org/security ` token=x` <i>",
    "\u202e\u05d0\u05d1 \x1b[31m | a ::set-output name=x::y ##[error]x",
)


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_no_kind_of_secret_is_in_a_report(form: str, made: Any, run: Run) -> None:
    folder = made(INCIDENTS["13-republished"])
    for first in range(0, len(KINDS), 40):
        log = "\n".join(FAILED.format(kind) for kind in KINDS[first : first + 40])
        (folder / "secret.log").write_text(log, "utf-8")
        _, out, _ = run("-C", str(folder), "doctor", "--offline", "--format", form, "secret.log")
        assert "registry-failed" in out
        assert SECRET not in "".join(out.split())
        assert "omebody" not in out


@pytest.mark.parametrize("text", HOSTILE)
def test_a_log_is_no_markup(text: str, made: Any, run: Run) -> None:
    folder = made(INCIDENTS["13-republished"])
    (folder / "hostile.log").write_text(FAILED.format(text), "utf-8")
    _, out, _ = run("-C", str(folder), "doctor", "--offline", "--format", "markdown", "hostile.log")
    assert "registry-failed" in out
    Shown(out).check(tables=True)
    assert all(line.isprintable() for line in out.splitlines())
    assert not any(ord(letter) in range(0x590, 0x700) for letter in out)


def test_standard_input_is_read_where_it_is_named(made: Any, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(INCIDENTS["13-republished"])
    log = (folder / "ci.log").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(log)))
    assert "published again" in run("-C", str(folder), "doctor", "-")[1]


def test_a_folder_without_git(made: Any, run: Run) -> None:
    folder = made(INCIDENTS["13-republished"])
    shutil.rmtree(folder / ".git")
    status, out, _ = run("-C", str(folder / "live/prod"), "doctor", str(folder / "ci.log"))
    assert status == 0
    assert "LOCKED" not in out
    assert "The version was published again" in out


@pytest.mark.parametrize("cause", CauseId)
def test_each_cause_is_explained(cause: CauseId, run: Run) -> None:
    status, out, _ = run("explain", cause.value)
    assert status == 0
    assert out.startswith(f"{cause}  ")
    assert "By hand: " in out


def test_the_demo_shows_an_incident(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("TF_CLI_CONFIG_FILE", "CHECKPOINT_DISABLE"):
        monkeypatch.setenv(name, "")
    status, out, _ = run("demo", "--incident", "republished")
    assert (
        status,
        "The release has other packages than those that were locked for its version. [CONFIRMED]" in out,
    ) == (0, True)
    assert Path.cwd() == tmp_path
    status, _, err = run("demo", "--incident", "unknown")
    assert (status, "unknown incident" in err) == (2, True)


def test_a_registry_that_refuses_is_not_down(made: Any, run: Run) -> None:
    folder = made(INCIDENTS["21-credentials"])
    words = "could not query provider registry for registry.terraform.io/acme/demo: 401 Unauthorized"
    log = f"Error: Failed to query available provider packages\nprovider registry.terraform.io/acme/demo: {words}\n"
    (folder / "refused.log").write_text(log, "utf-8")
    _, out, _ = run("-C", str(folder), "doctor", "--format", "json", "refused.log")
    causes = {cause["id"]: cause["verdict"] for cause in json.loads(out)["causes"]}
    assert causes == {"credentials": "likely", "registry-down": "no", "proxy-or-ca": "unknown"}


def test_nothing_is_ruled_out_where_the_origin_is_not_known(made: Any, run: Run) -> None:
    folder = made(INCIDENTS["13-republished"])
    for words, verdict in (([], "unknown"), (["--install-path", "direct"], "no")):
        _, out, _ = run("-C", str(folder), "doctor", *words, "--format", "json", "ci.log")
        causes = {cause["id"]: cause["verdict"] for cause in json.loads(out)["causes"]}
        assert causes["download-damaged"] == verdict


EMPTY = "zh:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
DOWNLOADS = {
    "sound": ((), "likely", "downloaded here, it is the signed package"),
    "once": (
        (FaultRule(Fault.GARBLED, step=Step.PACKAGE, times=1),),
        "likely",
        "1 of 2 downloads here was damaged too",
    ),
    "always": ((FaultRule(Fault.TAMPERED_PACKAGE),), "unknown", "3 of 3 downloads here gave the same other bytes"),
    "differing": ((FaultRule(Fault.GARBLED, step=Step.PACKAGE),), "likely", "3 downloads here gave 3 different files"),
    "cut": ((FaultRule(Fault.TRUNCATED, step=Step.PACKAGE),), "likely", "3 of 3 downloads here broke off"),
}


@pytest.mark.parametrize("name", DOWNLOADS)
def test_a_damaged_download_is_asked_for_three_times(name: str, made: Any, run: Run) -> None:
    rules, verdict, words = DOWNLOADS[name]
    incident = replace(INCIDENTS["14-download-damaged"], rules=rules)
    folder = made(incident)
    log = folder / "ci.log"
    log.write_text(log.read_text("utf-8").replace(EMPTY, zh("x", "1.4.2", "linux_amd64", "altered")), "utf-8")
    _, out, err = run("-C", str(folder), "doctor", "--prove", "changed", "--format", "json", "ci.log")
    assert "to download demo 1.4.2 linux_amd64" in err
    causes = {cause["id"]: cause for cause in json.loads(out)["causes"]}
    assert causes["download-damaged"]["verdict"] == verdict
    assert words in causes["download-damaged"]["evidence"], causes["download-damaged"]
    assert json.loads(out)["causes"][0]["id"] == ("package-altered" if name == "always" else "download-damaged")
    assert name == "always" or causes["package-altered"]["verdict"] == "unknown"
    fixes = [one["id"] for one in json.loads(out)["remedies"]]
    assert fixes == (["compare-elsewhere"] if name == "always" else ["compare-elsewhere", "retry"])


@pytest.mark.parametrize("name", ["sound", "once", "always", "cut"])
def test_a_message_without_hashes_is_tested_by_downloads(name: str, made: Any, run: Run) -> None:
    incident = replace(INCIDENTS["14-download-damaged"], rules=DOWNLOADS[name][0])
    folder = made(incident)
    cut = "Error: Failed to install provider\nError while installing acme/demo v1.4.2: unexpected EOF\n"
    (folder / "cut.log").write_text(cut, "utf-8")
    words = ["--platform", "linux_amd64", "--format", "json", "cut.log"]
    _, out, _ = run("-C", str(folder), "doctor", *words)
    assert json.loads(out)["causes"][0]["verdict"] == "likely", out
    _, out, _ = run("-C", str(folder), "doctor", "--prove", "changed", *words)
    first = json.loads(out)["causes"][0]
    assert (first["id"], first["verdict"]) == ("download-damaged", "likely"), out
    assert DOWNLOADS[name][2] in first["evidence"]


def test_the_platform_of_a_download_is_that_of_its_signed_hash(made: Any, run: Run) -> None:
    folder = made(next(one for name, one in INCIDENTS.items() if name.endswith("package-altered")))
    text = (folder / "ci.log").read_text("utf-8").replace("on linux_amd64\n", "")
    (folder / "ci.log").write_text(text, "utf-8")
    _, out, _ = run("-C", str(folder), "doctor", "--prove", "changed", "--format", "json", "ci.log")
    document = json.loads(out)
    assert document["facts"]["platform"] == "linux_amd64"
    assert (document["causes"][0]["id"], document["causes"][0]["verdict"]) == ("package-altered", "yes")


def test_a_title_without_its_reason_is_no_choice_of_causes(made: Any, run: Run) -> None:
    folder = made(next(one for name, one in INCIDENTS.items() if name.endswith("package-altered")))
    (folder / "ci.log").write_text("Error: Failed to install provider\n", "utf-8")
    _, out, _ = run("-C", str(folder), "doctor", "--offline", "ci.log")
    assert "the title of an error, and no reason that is known" in " ".join(out.split())


def test_a_lock_file_that_took_the_new_packages_is_of_a_release_that_was_published_again(made: Any, run: Run) -> None:
    incident = INCIDENTS["13-republished"]
    folder = made(incident)
    lock = folder / "live/prod/.terraform.lock.hcl"
    words = ("-C", str(folder), "lock", "--accept-republished", "--platform", "linux_amd64", "--root=live/prod")
    assert run(*words, "acme/demo")[0] == 0
    new = zh("registry.terraform.io/acme/demo", "1.4.2", "linux_amd64", AGAIN).partition(":")[2]
    assert new in lock.read_text("utf-8")
    old = {zh("registry.terraform.io/acme/demo", "1.4.2", str(one)) for one in PLATFORMS}
    kept = [line for line in lock.read_text("utf-8").splitlines() if not any(each in line for each in old)]
    lock.write_text("\n".join([*kept, ""]), "utf-8")
    _, out, _ = run("-C", str(folder), "doctor", "--format", "json", "--provider", "acme/demo", "--", "live/prod")
    first = json.loads(out)["causes"][0]
    assert (first["id"], first["verdict"]) == ("republished", "yes"), out
    assert "the lock file here has those of today" in first["evidence"]


HIDES = {
    "an error": ("live/prod/broken.tf", "locals {\n", "live/prod/broken.tf:"),
    "a module that is not fetched": (
        "live/prod/call.tf", 'module "m" {\n  source = "acme/m/aws"\n  version = "1.0.0"\n}\n', "not fetched: module m",
    ),
    "a remote state": ("live/prod/state.tf", 'terraform {\n  backend "s3" {}\n}\n', 'the state is in the "s3" backend'),
}  # fmt: skip


@pytest.mark.parametrize("hides", HIDES)
def test_what_may_be_required_is_not_said_to_be_locked(made: Any, run: Run, hides: str) -> None:
    folder = made(INCIDENTS["01-platform-missing"])
    path, text, reason = HIDES[hides]
    (folder / path).write_text(text)
    _, out, _ = run("-C", str(folder / "live/prod"), "doctor", "--platform", "darwin_arm64")
    assert re.search(r"No cause for an error was found; \d+ of \d+ causes could not be checked\. \[CANNOT SAY\]", out)
    assert reason in " ".join(out.split())
    assert "not-locked" not in out.partition("RULED OUT")[2].partition("CANNOT SAY")[0]
    lock = folder / "live/prod/.terraform.lock.hcl"
    lock.write_text("".join(lock.read_text().splitlines(keepends=True)[:2]))
    (folder / "live/prod/main.tf").write_text("# nothing\n")
    _, out, _ = run("-C", str(folder / "live/prod"), "doctor", "--platform", "darwin_arm64")
    assert re.search(
        r"No cause for an error was found; \d+ of \d+ causes could not be checked\. \[CANNOT SAY\]", out
    ), out
