"""The command line as people and pipelines use it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import httpx
import pytest
from kit.command_line import Run, no_screen, runner
from kit.real_material import meta, real_cases
from kit.repositories import put
from kit.schemas import validate
from kit.waiting import LIMIT

from locklens.cli import deliver, demo
from locklens.cli.main import main
from locklens.doctor.model import CauseId
from locklens.errors import LockLensError
from locklens.operations.review.request import ReviewRequest
from locklens.review.rules.catalogue import RULES
from locklens.text import Printable, page

ZH = ["zh:" + digit * 64 for digit in "0123"]


def lock(*entries: tuple[str, str, list[str]], tool: str = "terraform") -> bytes:
    text = f'# This file is maintained automatically by "{tool} init".\n# Manual edits may be lost in future updates.\n'
    for label, version, hashes in entries:
        listed = "".join(f'    "{one}",\n' for one in sorted(hashes))
        text += f'\nprovider "{label}" {{\n  version = "{version}"\n  hashes = [\n{listed}  ]\n}}\n'
    return text.encode()


AWS = "registry.terraform.io/hashicorp/aws"
OLD = lock((AWS, "5.1.0", ZH[:2]))
NEW = lock((AWS, "5.2.0", ZH[2:]))


def offline(argv: Sequence[str]) -> list[str]:
    """The same without a registry: what is asked of one is tried elsewhere, on loopback."""
    words = list(argv)
    command = next((word for word in words if word in {"review", "demo"}), None)
    if command is not None:
        words.insert(words.index(command) + 1, "--offline")
    return words


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    locklens = runner(capsys)
    return lambda *words: locklens(*offline(words))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.hcl").write_bytes(OLD)
    (tmp_path / "new.hcl").write_bytes(NEW)
    return tmp_path


def checked(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    validate(document, "review")
    return document


def test_two_files_as_json(run: Run, files: Path) -> None:
    status, out, err = run("review", "--old", "old.hcl", "--new", "new.hcl", "--format", "json")
    document = checked(out)
    assert (status, err) == (0, "")
    assert document["base"] == {"kind": "file", "name": "old.hcl", "revision": None}
    (root,) = document["roots"]
    assert (root["path"], root["lock_file"], root["tool"], root["status"]) == ("", "new.hcl", "terraform", "modified")
    (change,) = root["changes"]
    assert (change["provider"], change["kind"], change["bump"]) == (AWS, "upgrade", "minor")
    assert change["old"] == {"version": "5.1.0", "constraints": "", "hashes": ZH[:2], "line": 4}
    assert change["hashes"]["added"] == [{"hash": text, "platform": None, "proof": "unknown"} for text in ZH[2:]]
    assert change["hashes"]["explained"] == 0
    assert change["signer"] == {"old": None, "new": None, "neighbour": None}
    assert document["summary"]["changes"] == {"upgrade": 1}
    assert (document["summary"]["verdict"], document["summary"]["unverified"]) == ("warn", "offline")
    assert document["summary"]["findings"] == {"block": 0, "warn": 1, "info": 0}


@pytest.mark.parametrize("case", [*real_cases("pairs", enough=30), *real_cases("derived")])
def test_real_pairs_give_documents(run: Run, case: Path) -> None:
    sides = [str(path) if path.exists() else "/dev/null" for path in (case / "old.lock.hcl", case / "new.lock.hcl")]
    status, out, _ = run("review", "--old", sides[0], "--new", sides[1], "--format", "json", "--all")
    document = checked(out)
    assert status in {0, 1}
    listed = {change["provider"] for root in document["roots"] for change in root["changes"]}
    listed |= {change["moved_from"] for root in document["roots"] for change in root["changes"]}
    assert listed >= set(meta(case)["reference"]["providers"]) - {"builtin/terraform"}


@pytest.mark.parametrize("case", real_cases("conflicts"))
@pytest.mark.parametrize("merged", ["merged.lock.hcl", "merged.diff3.lock.hcl"])
def test_every_real_conflict_blocks(run: Run, case: Path, merged: str) -> None:
    status, out, _ = run(
        "review", "--old", str(case / "ours.lock.hcl"), "--new", str(case / merged), "--format", "json"
    )
    (root,) = checked(out)["roots"]
    assert (status, root["status"]) == (1, "invalid")
    assert root["conflict"]["ours"]
    assert root["conflict"]["theirs"]


def test_equal_files_are_unchanged(run: Run, files: Path) -> None:
    (files / "new.hcl").write_bytes(OLD)
    status, out, _ = run("review", "--old", "old.hcl", "--new", "new.hcl", "--format", "json")
    (root,) = checked(out)["roots"]
    assert (status, root["status"], root["changes"], root["findings"]) == (0, "unchanged", [], [])
    status, out, _ = run("review", "--old", "old.hcl", "--new", "new.hcl")
    assert (status, out.splitlines()[-1]) == (0, "verdict: ok")


def test_equal_files_beside_a_configuration_are_held_against_it(run: Run, files: Path) -> None:
    (files / "new.hcl").write_bytes(OLD)
    (files / "main.tf").write_text('terraform {\n  required_providers {\n    aws = { version = "~> 6.0" }\n  }\n}\n')
    status, out, _ = run("review", "--old", "old.hcl", "--new", "new.hcl")
    assert status == 1
    assert "LK005 BLOCK" in out
    assert "(main.tf:3)" in out


def test_an_offline_upgrade_is_not_ok(run: Run, files: Path) -> None:
    status, out, _ = run("review", "--old", "old.hcl", "--new", "new.hcl", "--fail-on", "warn")
    verdict = "verdict: warn, 2 of 2 added hashes not verified, offline"
    assert (status, out.splitlines()[-2:]) == (1, [verdict, "fails at --fail-on warn: 1 finding of warn or worse"])
    assert "LK003 WARN  2 zh added, 2 zh removed, not verified; " in out
    assert out.count("\nwhat to do about LK003 (1 finding): ") == 1
    assert "what to do" not in run("review", "--old", "old.hcl", "--new", "new.hcl")[1], "it does not fail"
    for threshold in (("--fail-on", "warn"), ()):
        out = run("review", "--old", "old.hcl", "--new", "new.hcl", "--format", "markdown", *threshold)[1]
        assert ("### What to do\n\n- **LK003** (1 finding) " in out) == bool(threshold)


def test_an_offline_review_of_one_more_h1_says_why_it_is_not_verified(run: Run, files: Path) -> None:
    (files / "new.hcl").write_bytes(lock((AWS, "5.1.0", [f"h1:{'A' * 43}=", *ZH[:2]])))
    status, out, _ = run("review", "--offline", "--old", "old.hcl", "--new", "new.hcl")
    assert (status, out.splitlines()[-1]) == (0, "verdict: warn, 1 of 1 added hash not verified, offline")


def test_offline_hashes_are_not_ok(run: Run, files: Path) -> None:
    (files / ".terraform.lock.hcl").write_bytes(NEW)
    common = ("hashes", "--offline", "--no-cache")
    status, out, _ = run(*common, "--fail-on", "warn")
    verdict = "verdict: warn, 2 of 2 locked hashes not verified, offline"
    assert (status, out.splitlines()[-2:]) == (1, [verdict, "fails at --fail-on warn: 1 finding of warn or worse"])
    status, out, _ = run(*common, "--format", "json")
    summary = json.loads(out)["summary"]
    assert (status, summary["verdict"], summary["unverified"]) == (0, "warn", "offline")
    status, out, _ = run("keys", "--offline", "--no-cache", "--format", "json")
    assert json.loads(out)["summary"] == {"verdict": "warn", "unverified": "offline"}


def test_why_a_configuration_is_not_complete(run: Run, files: Path) -> None:
    requires = 'terraform {\n  required_providers {\n    aws = { source = "hashicorp/aws" }\n  }\n}\n'
    backend = requires + 'terraform {\n  backend "s3" {}\n}\n'
    module = backend + 'module "far" {\n  source = "far/away/cloud"\n}\n'
    cases = (
        (requires, True, False, ""),
        (backend, False, True, 'the state is in the "s3" backend (config/main.tf:7)'),
        (module, False, False, "module far (far/away/cloud)"),
    )
    for text, *expected, reason in cases:
        put(files / "config", {"main.tf": text})
        _, out, _ = run("review", "--old", "old.hcl", "--new", "new.hcl", "--config", "config", "--format", "json")
        found = checked(out)["roots"][0]["configuration"]
        assert [found["complete"], found["lacks_state_alone"]] == expected
        assert found["unknown"].endswith(reason)
        assert bool(found["unknown"]) == bool(reason)


def test_an_absent_side(run: Run, files: Path) -> None:
    _, out, _ = run("review", "--old", "/dev/null", "--new", "new.hcl", "--format", "json")
    assert checked(out)["roots"][0]["status"] == "added"
    _, out, _ = run("review", "--old", "old.hcl", "--new", "/dev/null", "--format", "json")
    document = checked(out)
    assert (document["roots"][0]["status"], document["summary"]["verdict"]) == ("deleted", "warn")
    found = [one for change in document["roots"][0]["changes"] for one in change["findings"] if one["rule"] == "LK006"]
    assert all(one["message"].endswith("is required: no configuration was named (--config DIR)") for one in found)
    assert {one["file"] for one in found} == {"old.hcl"}
    assert document["head"]["kind"] == "empty"
    assert "(lock file deleted, " in run("review", "--old", "old.hcl", "--new", "/dev/null")[1]


def test_standard_input(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(NEW)))
    _, out, _ = run("review", "--old", "old.hcl", "--new", "-", "--format", "json")
    assert checked(out)["summary"]["changes"] == {"upgrade": 1}


def test_empty_input_is_a_lock_file_that_lost_what_may_be_required(
    monkeypatch: pytest.MonkeyPatch, run: Run, tmp_path: Path
) -> None:
    put(tmp_path / "prod", {".terraform.lock.hcl": NEW})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    words = ("--old", "prod/.terraform.lock.hcl", "--new", "-", "--format", "json", "--offline", "--fail-on", "warn")
    status, out, _ = run("review", *words)
    (root,) = json.loads(out)["roots"]
    found = {
        (one["rule"], one["severity"], one["message"].rpartition(": ")[2]) for one in root["changes"][0]["findings"]
    }
    unknown = ("LK006", "warn", "no configuration was named (--config DIR)")
    assert (status, root["path"], unknown in found) == (1, "prod", True)


def test_single_dash_spellings(run: Run, files: Path) -> None:
    assert run("-chdir=" + str(files), "review", "-old=old.hcl", "-new=new.hcl", "-format=json")[0] == 0


def test_another_folder(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert run("-C", str(files), "review", "--old", "old.hcl", "--new", "new.hcl")[0] == 0
    status, _, err = run("-C", str(files / "nowhere"), "review")
    assert (status, "cannot work in" in err) == (2, True)


def test_output_goes_to_a_file_whole(run: Run, files: Path) -> None:
    assert run("review", "--old", "old.hcl", "--new", "new.hcl", "--format", "json", "--output", "report.json") == (
        0,
        "",
        "",
    )
    checked((files / "report.json").read_text("utf-8"))
    status, _, err = run("review", "--old", "old.hcl", "--new", "new.hcl", "--output", "no/such/folder")
    assert status == 2
    assert err.startswith("error: no/such/folder: cannot be written")
    assert sorted(path.name for path in files.iterdir()) == ["new.hcl", "old.hcl", "report.json"]


@pytest.mark.parametrize(
    ("new", "fail_on", "status"),
    [
        (lock((AWS, "5.0.0", ZH[2:])), "block", 0),
        (lock((AWS, "5.0.0", ZH[2:])), "warn", 1),
        (lock((AWS, "6.0.0", ZH[2:])), "block", 0),
        (lock((AWS, "6.0.0", ZH[2:])), "warn", 1),
        (lock((AWS, "5.2.0", ZH[:2])), "block", 1),
        (lock((AWS, "5.2.0", ZH[:2])), "never", 0),
        (b"broken {", "block", 1),
        (b"broken {", "never", 0),
    ],
)
def test_exit_statuses(run: Run, files: Path, new: bytes, fail_on: str, status: int) -> None:
    (files / "new.hcl").write_bytes(new)
    assert run("review", "--old", "old.hcl", "--new", "new.hcl", "--fail-on", fail_on)[0] == status


@pytest.mark.parametrize(
    ("new", "threshold", "status", "verdict", "reason"),
    [
        (OLD.replace(b"# ", b"#  ", 1), "info", 1, "ok", "fails at {}: 1 finding of info or worse"),
        (OLD.replace(b"# ", b"#  ", 1), "warn", 0, "ok", None),
        (lock((AWS, "5.2.0", ZH[:2])), "never", 0, "block", "fails on nothing: {}"),
        (OLD, "never", 0, "ok", None),
    ],
)
@pytest.mark.parametrize("by_policy", [False, True])
def test_a_report_says_what_its_exit_status_is_for(
    run: Run, files: Path, new: bytes, threshold: str, status: int, verdict: str, reason: str | None, by_policy: bool
) -> None:
    (files / "new.hcl").write_bytes(new)
    (files / "policy.toml").write_text(f'fail_on = "{threshold}"\n')
    setting = ("--policy", "policy.toml") if by_policy else ("--fail-on", threshold)
    source = f'the policy\'s fail_on = "{threshold}"' if by_policy else f"--fail-on {threshold}"
    words = reason.format(source) if reason else "fails"
    for form in ("text", "markdown"):
        found, out, _ = run("review", "--old", "old.hcl", "--new", "new.hcl", "--format", form, *setting)
        assert found == status
        assert f"erdict: {verdict}" in out
        assert (words.lower() in out.lower()) == bool(reason), out
    (files / ".terraform.lock.hcl").write_bytes(new)
    for view in ("hashes", "health"):
        found, out, _ = run(view, "--offline", "--format", "text", *setting)
        assert found == 1 or threshold != "info"
        assert ("fails at" in out) == bool(found), out


def test_a_threshold_that_lets_pass_what_the_policy_fails_is_said(run: Run, files: Path) -> None:
    (files / "policy.toml").write_text('fail_on = "warn"\n')
    for form in ("text", "markdown"):
        given = ("--old", "old.hcl", "--new", "new.hcl", "--policy", "policy.toml", "--fail-on", "never")
        status, out, _ = run("review", *given, "--format", form)
        assert (status, "ails on nothing: --fail-on never" in out) == (0, True), out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["frobnicate"], "unknown command 'frobnicate'"),
        (["reviw"], "did you mean 'review'?"),
        (["pin"], "did you mean 'keys trust'?"),
        (["review", "--nonsense"], "unrecognized arguments: --nonsense"),
        (["upgrade", "--al-roots"], "unrecognized arguments: --al-roots; did you mean '--all-roots'?"),
        (["mirror", "out", "--prnue", "--dry-run"], "unrecognized arguments: --prnue; did you mean '--prune'?"),
        (
            ["lock", "--plaform=linux_amd64"],
            "unrecognized arguments: --plaform=linux_amd64; did you mean '--platform'?",
        ),
        (["review", "--format", "xml"], "invalid choice"),
        (["review", "--old", "old.hcl"], "--old and --new must be used together"),
        (["review", "HEAD", "--old", "old.hcl", "--new", "new.hcl"], "no BASE"),
        (["review", "--old", "nowhere.hcl", "--new", "new.hcl"], "nowhere.hcl: no such file"),
        (["review", "--old", "/dev/null", "--new", "/dev/null"], "nothing to compare"),
        (["review", "--old", "-", "--new", "-"], "standard input"),
        (["review", "--staged", "--head", "x"], "--head and --staged cannot be used together"),
        (["review", "--config", "."], "--config requires"),
        (["explain", "LK999"], "unknown rule 'LK999'"),
        (["explain", "lk1"], "unknown rule 'lk1'; did you mean 'LK001'?"),
        (["explain", "LK23"], "did you mean 'LK023'?"),
        (["explain", "h1-mising"], "did you mean 'h1-missing'?"),
        (["why", "aws", "--prove", "all"], "unrecognized arguments: --prove all"),
        (["-C"], "-C needs a folder"),
        (["review"], "not inside a git repository"),
    ],
)
def test_bad_usage(run: Run, files: Path, argv: list[str], words: str) -> None:
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert words in err


def test_a_full_or_closed_output_is_an_error_and_no_traceback(files: Path) -> None:
    command = f"{sys.executable} -m locklens review --offline --old old.hcl --new new.hcl --format text"
    for redirected in (" >/dev/full", " >&-"):
        if Path("/dev/full").exists():
            result = subprocess.run(
                command + redirected, shell=True, capture_output=True, text=True, check=False, cwd=files
            )
            assert (result.returncode, result.stderr.startswith("error: standard output")) == (2, True)


@pytest.mark.parametrize(("length", "is_begun"), [(1, False), (1 << 20, True)], ids=["small", "large"])
def test_an_error_while_a_small_document_is_made_leaves_nothing_of_it(
    length: int, is_begun: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """A document that broke off in the middle was on stdout."""

    def pieces() -> Iterator[Printable]:
        yield page(["x" * length])
        raise LockLensError("no second piece")

    with pytest.raises(LockLensError):
        deliver(pieces())
    assert bool(capsys.readouterr().out) is is_begun


def test_a_terminal_that_speaks_another_encoding(files: Path) -> None:
    (files / "new.hcl").write_bytes(lock(("испытание.com/a/b", "1.0.0", ZH)))
    command = [sys.executable, "-m", "locklens", "review", "--offline", "--old", "/dev/null", "--new", "new.hcl"]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    result = subprocess.run(command, capture_output=True, check=False, cwd=files, env=environment)
    assert (result.returncode, b"Traceback" in result.stderr) == (0, False)


def test_the_terminal_ui_needs_a_terminal(run: Run, files: Path) -> None:
    status, out, err = run("review", "--old", "old.hcl", "--new", "new.hcl", "--format", "tui")
    assert (status, out, "needs a terminal" in err) == (2, "", True)


def on_a_terminal(folder: Path, term: str | None, *words: str, until: bytes = b"") -> bytes:
    """What a command writes to a terminal that is all three of its streams, to the end or until some bytes came."""
    import pty

    near, far = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "TERM"}
    environment |= {} if term is None else {"TERM": term}
    command = [sys.executable, "-m", "locklens", *words]
    with subprocess.Popen(command, stdin=far, stdout=far, stderr=far, cwd=folder, env=environment) as process:
        os.close(far)
        written = b""
        try:
            while not until or until not in written:
                written += os.read(near, 1 << 16)
        except OSError:  # The end of what is written to a terminal.
            pass
        finally:
            process.kill()
            os.close(near)
    return written


SCREEN = b"\x1b[?1049h"  # the alternate screen of a terminal


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX terminal")
@pytest.mark.parametrize("term", ["dumb", "unknown", "", None])
def test_a_terminal_that_cannot_draw_gets_text(files: Path, term: str | None) -> None:
    words = ("review", "--offline", "--old", "old.hcl", "--new", "new.hcl")
    written = on_a_terminal(files, term, *words, until=SCREEN)
    assert (b"\x1b" in written, b"verdict: " in written) == (False, True)
    written = on_a_terminal(files, term, *words, "--format", "tui", until=SCREEN)
    assert b"error: the terminal UI needs a terminal that can draw: TERM is " in written


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX terminal")
def test_a_terminal_that_can_draw_gets_screens(files: Path) -> None:
    words = ("review", "--offline", "--old", "old.hcl", "--new", "new.hcl")
    assert SCREEN in on_a_terminal(files, "vt100", *words, until=SCREEN)
    assert b"\x1b[" in on_a_terminal(files, "vt100", *words, "--format", "text")


def test_a_deleted_lock_is_held_against_the_configuration_that_is_named(run: Run, files: Path) -> None:
    (files / "main.tf").write_text("terraform {\n  required_providers {\n    aws = {}\n  }\n}\n")
    status, out, _ = run("review", "--old", "old.hcl", "--new", "/dev/null", "--config", ".")
    assert (status, "LK006 BLOCK" in out) == (1, True)


def test_a_configuration_error_is_shown_though_nothing_else_is(run: Run, files: Path) -> None:
    (files / "new.hcl").write_bytes(OLD)
    (files / "main.tf").write_text('provider "aws" {}\nmodule "m" {\n  source = "acme/x/aws"\n}\nfoo {}\n')
    _, out, _ = run("review", "--old", "old.hcl", "--new", "new.hcl")
    assert "configuration error  main.tf:5  Unsupported block type" in out
    assert "main.tf:2  unknown: module m is not fetched (acme/x/aws)" in out


def test_explanations(run: Run) -> None:
    status, out, _ = run("explain", "lk023")
    assert (status, out.startswith("LK023  Same version, different packages")) == (0, True)
    assert len(run("explain")[1].splitlines()) == len(RULES)


def test_version_and_help(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    def helped(command: str) -> str:
        with pytest.raises(SystemExit):
            main([command, "--help"], no_screen)
        return "".join(capsys.readouterr().out.split())  # Lines are broken behind dashes too.

    assert run("--version")[1].startswith("locklens ")
    assert run("version") == run("--version")
    demo = helped("demo")
    assert all(name in demo for name in CauseId)
    assert demo.count("with--serve") == 4
    why = helped("why")
    assert "--all" not in why.replace("--all-roots", "")
    assert "--prove" not in why
    for argv in (["--help"], ["-h"], ["help"]):
        assert "usage: locklens" in run(*argv)[1]


def test_hostile_text_is_made_visible(run: Run, files: Path) -> None:
    hostile = 'provider "registry.terraform.io/hashicorp/aws" {\n  version = "1.0.0"\n  hashes = ["h1:\\u001b[31m[bold]\\u202e\\nx"]\n}\n'
    (files / "new.hcl").write_text(hostile)
    status, out, err = run("review", "--old", "old.hcl", "--new", "new.hcl", "--fail-on", "never")
    assert (status, err) == (0, "")
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "h1:\\x1b[31m[bold]\\u20" in out
    (files / "wrong\x1b[31m\n.hcl").write_bytes(b"x")
    _, out, err = run("review", "--old", "old.hcl", "--new", "wrong\x1b[31m\n.hcl", "--format", "text")
    assert "\x1b" not in out + err


def test_colour_only_where_it_is_wanted(files: Path) -> None:
    command = [sys.executable, "-m", "locklens", "review", "--offline", "--old", "old.hcl", "--new", "new.hcl"]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=files)
    assert "\x1b" not in result.stdout


@pytest.mark.skipif(os.name == "nt", reason="pipes break otherwise on Windows")
def test_a_reader_that_goes_away_is_no_error(files: Path) -> None:
    command = f"{sys.executable} -m locklens review --offline --old old.hcl --new new.hcl --format json | true"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, cwd=files)
    assert result.stderr == ""


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_closed_terminal_leaves_no_folder_of_the_demo(tmp_path: Path, number: signal.Signals) -> None:
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "locklens", "demo", "--serve"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE) as serving:
        assert serving.stdout is not None
        assert serving.stdout.readline()
        assert list(tmp_path.glob("locklens-demo-*"))
        serving.send_signal(number)
        assert serving.wait(LIMIT) == 128 + number
    assert not list(tmp_path.glob("locklens-demo-*"))


def test_no_signal_stops_the_deletion_of_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """`interruptible` sends an interrupt a second after a signal; a deletion on a busy disk takes longer."""
    unlink, sent = os.unlink, (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
    before = [signal.getsignal(number) for number in sent]

    def disturbed(*arguments: Any, **more: Any) -> None:
        for number in sent:
            signal.raise_signal(number)
        unlink(*arguments, **more)

    with demo._temporary_folder() as folder:
        (folder / "a").mkdir()
        (folder / "a" / "b").touch()
        monkeypatch.setattr(os, "unlink", disturbed)
    assert not folder.exists()
    assert [signal.getsignal(number) for number in sent] == before


def test_the_demo_serves_metadata_files(tmp_path: Path) -> None:
    file = tmp_path / "providers/a/acme/demo.json"
    file.parent.mkdir(parents=True)
    names = {"filename": "x.zip", "download_url": "https://example.com/x.zip", "shasum": "ab" * 32}
    target = {"os": "linux", "arch": "amd64", **names, "h1": "h1:x", "size": 7}
    file.write_text(json.dumps({"versions": [{"version": "1.0.0", "targets": [target]}]}))
    command = [sys.executable, "-m", "locklens", "demo", "--serve", "--metadata", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        url = serving.stdout.readline().split(" until ")[0].rpartition(" ")[2]
        try:
            where = f"{url}/registry.opentofu.org/v1/providers/acme/demo/1.0.0/download/linux/amd64"
            with urllib.request.urlopen(where, timeout=LIMIT) as answer:
                found = json.load(answer)
        finally:
            serving.terminate()
    assert found["download_url"] == names["download_url"]
    assert found["packages"] == {"linux_amd64": {"hashes": ["zh:" + "ab" * 32, "h1:x"], "package_size": 7}}


def test_metadata_that_is_not_there_is_named(run: Run, tmp_path: Path) -> None:
    status, _, err = run("demo", "--serve", "--metadata", str(tmp_path))
    assert status == 2
    assert str(tmp_path) in err
    assert "clone of the registry" in err


@pytest.mark.parametrize(("words", "status"), [((), 500), (("--fault", "none"), 404)])
def test_the_demo_registry_names_its_faults_and_can_do_without(words: tuple[str, ...], status: int) -> None:
    command = [sys.executable, "-m", "locklens", "demo", "--serve", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        shown = list(takewhile(lambda line: "CHECKPOINT_DISABLE" not in line, serving.stdout))
        url = shown[0].split()[5]
        assert ("  500 registry.opentofu.org\n" in shown) is (status == 500)
        answer = httpx.get(f"{url}/registry.opentofu.org/v1/providers/acme/demo/versions")
        serving.terminate()
    assert answer.status_code == status


def test_the_check_of_lk018_is_one_that_works(run: Run) -> None:
    _, out, _ = run("explain", "LK018")
    assert "locklens format --dry-run" in " ".join(out.split())
    assert "Run `terraform fmt`" not in out


def test_the_demo_opens_its_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads all of a repository, and has no options that name roots."""
    monkeypatch.setattr("locklens.cli.review.has_terminal", lambda: True)
    opened: list[tuple[ReviewRequest, str]] = []

    def keep(request: ReviewRequest, view: str) -> int:
        opened.append((request, view))
        return 0

    assert main(["demo", "--format", "tui"], keep) == 0
    assert [(request.is_demo, request.roots, view) for request, view in opened] == [(True, (), "review")]
