"""`policy`, `accept`, `keys trust` and `keys drop` as people type them, against the sample registry and in real git."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import jsonschema
import pytest
from kit.command_line import Run, runner
from kit.git import git
from kit.registries import lead_to
from kit.repositories import commit, put, repository

from locklens.demo import SampleLock, lock_file
from locklens.demo.faults import Fault, FaultRule, Faults
from locklens.demo.registry import DemoRegistry
from locklens.demo.signing import publisher
from locklens.policy import POLICY_FILE
from locklens.review.reports.lock_lines import grouped

HOME, LOCK = "registry.terraform.io", ".terraform.lock.hcl"
DEMO = f"{HOME}/acme/demo"


def today() -> date:
    return datetime.now(UTC).date()  # At each comparison: a run may go on over midnight.


@pytest.fixture
def registry() -> Iterator[DemoRegistry]:
    with DemoRegistry({DEMO: ["1.0.0", "1.2.0"]}) as running:
        yield running


@pytest.fixture
def top(tmp_path: Path, registry: DemoRegistry, monkeypatch: pytest.MonkeyPatch) -> Path:
    lead_to(monkeypatch, registry, tmp_path)
    (Path.home() / ".gitconfig").write_text("[user]\n\tname = Ann Example\n")
    top = repository(tmp_path / "top", {f"live/{LOCK}": lock_file(SampleLock(DEMO, "1.0.0", unpacked=()))})
    monkeypatch.chdir(top / "live")
    return top


@pytest.fixture
def run(top: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


# policy


def test_check_names_file_line_and_the_nearest_key(run: Run, top: Path) -> None:
    status, out, err = run("policy", "check")
    assert (status, out) == (2, "")
    assert "there is no policy" in err
    (top / POLICY_FILE).write_text("cooldown = 7\n[severity]\nLK004 = 'blok'\n")
    status, _, err = run("policy", "check")
    assert status == 2
    assert f'{POLICY_FILE}:3: LK004 must be one of "block", "warn", "info", "off"; did you mean "block"?' in err
    (top / POLICY_FILE).write_text(
        'cooldown = 7\n[trust."acme"]\nkeys = ["' + "A" * 40 + '"]\nreview_by = 2020-01-01\n'
    )
    status, out, err = run("policy", "check")
    assert (status, out) == (0, f"{top / POLICY_FILE}: no mistake\n")
    assert "warning: " in err
    assert ":2: the pin of acme was to be reviewed by 2020-01-01" in err
    (top / "live" / "mine.toml").write_text("cooldwn = 7\n")
    for words in (("mine.toml",), ("--policy", "mine.toml")):
        assert "error: mine.toml:1: unknown key" in run("policy", "check", *words)[2]
    assert run("policy", "check", "mine.toml", "--policy", "other.toml")[0] == 2


def test_show_says_where_each_rule_comes_from(run: Run, top: Path) -> None:
    (top / POLICY_FILE).write_text("cooldown = 7\naccept_from = 'base'\n[severity]\nLK004 = 'block'\n")
    commit(top, {})
    assert "accept_from base [base (HEAD)]" in " ".join(run("policy", "show")[1].split())
    (top / POLICY_FILE).write_text("cooldown = 7\naccept_from = 'head'\n[severity]\nLK004 = 'block'\n")
    commit(top, {})
    pin = '[trust."acme"]\nkeys = ["' + "A" * 40 + '"]\n'
    (top / POLICY_FILE).write_text("cooldown = 9\naccept_from = 'head'\n[severity]\nLK004 = 'block'\n" + pin)
    status, out, err = run("policy", "show")
    assert status == 0
    shown = {line.split("  ")[0]: " ".join(line.split()[1:]) for line in out.splitlines()}
    assert shown["cooldown"] == "7 days [base (HEAD)]"
    assert shown["fail_on"] == "block [default]"
    assert shown["install_paths"] == "direct, and on each machine those of its CLI configuration [default]"
    assert shown["severity.LK004"] == "block [base (HEAD)]"
    assert shown["severity.LK005"] == "block [default]"
    assert shown["trust.acme"] == f"{'A' * 40} [head]"
    assert "note: locklens.toml in the work tree differs from that of the base (HEAD), which applies" in err
    (top / "live" / "mine.toml").write_text("hosts = ['r.test']\ninstall_paths = ['direct']\n")
    rows = json.loads(run("policy", "show", "--policy", "mine.toml", "--format", "json")[1])["values"]
    assert {"key": "hosts", "value": ["r.test"], "from": "given"} in rows
    assert {"key": "install_paths", "value": ["direct"], "from": "given"} in rows


def test_schema_is_one_that_an_editor_can_use(run: Run) -> None:
    schema = json.loads(run("policy", "schema")[1])
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({"cooldown": 7}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"cooldwn": 7}, schema)


# accept

WRITTEN = """# The rules of this repository.
cooldown = 0   # none

[severity]
# worse than usual
LK004 = "block"
"""


@pytest.fixture
def republished(top: Path, registry: DemoRegistry) -> None:
    """The work tree takes in a version that was published again."""
    registry.faults = Faults((FaultRule(Fault.REPUBLISHED, DEMO, "1.0.0"),))
    (top / "live" / LOCK).write_bytes(lock_file(SampleLock(DEMO, "1.0.0", unpacked=(), edition="again")))


@pytest.mark.usefixtures("republished")
@pytest.mark.parametrize("before", [None, WRITTEN, WRITTEN.replace("\n", "\r\n")], ids=["none", "lf", "crlf"])
def test_an_accepted_finding_counts_once_it_is_in_the_base(run: Run, top: Path, before: str | None) -> None:
    if before is not None:
        (top / POLICY_FILE).write_bytes(before.encode())
    words = "accept", "lk001", "acme/demo", "--reason", "confirmed by telephone", "--until", "2099-01-01", "--no-cache"
    status, out, err = run(*words, "--dry-run")
    assert (status, "dry run: nothing was written" in err) == (0, True)
    assert '+reason = "confirmed by telephone"' in out
    assert (top / POLICY_FILE).exists() is (before is not None)
    status, out, err = run(*words)
    assert (status, f"wrote {POLICY_FILE}" in out) == (0, True), err
    data = (top / POLICY_FILE).read_bytes()
    assert data.startswith((before or "").encode())
    assert (b"\r\n" in data) is ("\r" in (before or ""))
    (entry,) = tomllib.loads(data.decode())["accept"]
    assert (entry["rule"], entry["provider"], entry["reason"]) == ("LK001", DEMO, "confirmed by telephone")
    assert (entry["by"], entry["on"], str(entry["until"])) == ("Ann Example", today(), "2099-01-01")
    status, out, _ = run("review", "--format", "text", "--no-cache")
    assert (status, "pending acceptance of LK001" in out) == (1, True)
    git(top, "add", POLICY_FILE)
    git(top, "commit", "-qm", "policy")
    status, out, _ = run("review", "--format", "text", "--no-cache")
    assert (status, "accepted: confirmed by telephone (Ann Example, until 2099-01-01)" in out) == (0, True)


@pytest.mark.usefixtures("republished")
def test_an_acceptance_is_undone_like_any_write(run: Run, top: Path) -> None:
    (top / POLICY_FILE).write_text(WRITTEN)
    assert run("accept", "LK001", "demo", "--reason", "r", "--by", "Bo", "--no-cache")[0] == 0
    assert 'by = "Bo"' in (top / POLICY_FILE).read_text()
    status, _, err = run("accept", "LK001", "demo", "--reason", "again", "--no-cache", "--dry-run")
    told = f"the acceptance of LK001 for {DEMO} would be replaced: by Bo on {today()}; r"
    assert (status, told in " ".join(err.split())) == (0, True)
    assert run("accept", "LK001", "demo", "--reason", "again", "--no-cache")[0] == 0
    assert [one["reason"] for one in tomllib.loads((top / POLICY_FILE).read_text())["accept"]] == ["again"]
    git(top, "add", POLICY_FILE)
    warning = "warning: .: git's index keeps what is staged of locklens.toml: the next commit has it"
    for _ in range(2):
        status, _, err = run("undo")
        assert (status, warning in err) == (0, True), err
    assert (top / POLICY_FILE).read_text() == WRITTEN


@pytest.mark.usefixtures("republished")
def test_what_cannot_be_accepted_is_said(run: Run, top: Path) -> None:
    for words, told in (
        (("LK999", "demo", "--reason", "r"), "unknown rule 'LK999'"),
        (("LK004", "demo", "--reason", "r"), "no finding LK004 about a change of the provider"),
        (("LK001", "aws", "--reason", "r"), "no change of 'aws'"),
        (("LK001", "demo", "--reason", " "), "needs a reason"),
        (("LK001", "demo", "--reason", "a\nb"), "one line"),
        (("LK001", "demo", "--reason", "r", "--until", "soon"), "argument --until: invalid date 'soon'"),
        (("LK001", "demo", "--reason", "r", "--until", "2020-01-01"), "2020-01-01 has passed"),
        (("LK001", "demo"), "--reason"),
    ):
        status, out, err = run("accept", *words, "--no-cache")
        assert (status, out, told in err) == (2, "", True), err
    (top / POLICY_FILE).write_text("cooldwn = 7\n")
    status, _, err = run("accept", "LK001", "demo", "--reason", "r", "--no-cache")
    assert (status, 'locklens.toml:1: unknown key "cooldwn"' in err) == (2, True)
    assert (top / POLICY_FILE).read_text() == "cooldwn = 7\n"


@pytest.mark.usefixtures("republished")
def test_an_acceptance_is_of_the_change_of_the_roots_that_are_named(
    run: Run, top: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change of one root could not be selected, and no word said when an acceptance counts."""
    put(top / "other", {LOCK: lock_file(SampleLock(DEMO, "1.0.0", unpacked=()))})
    git(top, "add", "other")
    git(top, "commit", "-qm", "other")
    changed = SampleLock(DEMO, "1.0.0", constraints=">= 1.0.0", unpacked=(), edition="again")
    (top / "other" / LOCK).write_bytes(lock_file(changed))
    words = "accept", "LK001", "demo", "--reason", "checked", "--no-cache"
    status, out, err = run(*words, "--", ".")
    assert (status, out.count("LK001 is accepted")) == (0, 1), err
    assert err.splitlines()[-1] == (
        'hint: it counts once it is committed on the base, or at once where the base has accept_from = "head"'
    )
    assert f"{POLICY_FILE}: LK001 would be accepted for " in run(*words, "--dry-run", "--", "../other")[2]
    command = json.loads(run(*words, "--dry-run", "--json", "--root", "../other")[1].splitlines()[-1])["command"]
    assert command == f"locklens accept LK001 {HOME}/acme/demo --reason checked -- ../other"
    apart = runner(capsys, "-C", str(top / "live"))
    monkeypatch.chdir(top.parent)
    command = json.loads(apart(*words, "--dry-run", "--json", "--root", "../other")[1].splitlines()[-1])["command"]
    monkeypatch.chdir(top / "live")
    assert command == f"locklens -C {top.name} accept LK001 {HOME}/acme/demo --reason checked -- other"
    assert run(*words, "--", "../other")[0] == 0
    assert len({one["change"] for one in tomllib.loads((top / POLICY_FILE).read_text())["accept"]}) == 2
    assert run("undo")[0] == run("undo")[0] == 0
    assert run(*words)[1].count("LK001 is accepted") == 2


# keys trust, keys drop


def test_keys_are_pinned_in_full_and_dropped(
    run: Run, top: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (top / POLICY_FILE).write_text(WRITTEN)
    status, _, err = run("keys", "trust", "acme", "--why", "their page", "--review-by", "2099-01-01", "--no-cache")
    assert status == 0, err
    text = (top / POLICY_FILE).read_text()
    assert text.startswith(WRITTEN)
    (pin,) = tomllib.loads(text)["trust"].values()
    assert pin["keys"] == [publisher("acme").key.fingerprint]
    assert (pin["by"], pin["on"], pin["why"], str(pin["review_by"])) == (
        "Ann Example",
        today(),
        "their page",
        "2099-01-01",
    )
    assert run("policy", "check")[0] == 0
    earlier = f"by Ann Example on {today()}, to be reviewed by 2099-01-01; their page"
    status, _, err = run("keys", "trust", "acme", "--why", "again", "--no-cache", "--dry-run")
    replaced = f"the pin of acme would be replaced: {pin['keys'][0]}; {earlier}"
    assert (status, replaced in " ".join(err.split())) == (0, True)
    assert run("keys", "trust", f"{HOME}/acme", "--no-cache")[0] == 0
    assert list(tomllib.loads((top / POLICY_FILE).read_text())["trust"]) == ["acme", f"{HOME}/acme"]
    with monkeypatch.context() as elsewhere:
        for words in (("trust", "acme"), ("drop", "acme")):
            elsewhere.chdir(top.parent)
            status, out, err = runner(capsys, "-C", "top/live")("keys", *words, "--dry-run", "--json")
            assert status == 0, err
            assert json.loads(out.splitlines()[-1])["command"] == f"locklens -C top keys {' '.join(words)}"
    status, out, _ = run("keys", "drop", "acme", "--dry-run")
    assert (status, "-[trust.acme]" in out.replace('"', "")) == (0, True)
    assert run("keys", "drop", "acme")[0] == run("keys", "drop", f"{HOME}/acme")[0] == 0
    assert (top / POLICY_FILE).read_text() == WRITTEN
    status, _, err = run("keys", "drop", "acme")
    assert (status, "no pin of 'acme'" in err) == (2, True)


def test_one_of_the_keys_is_pinned_alone_and_an_expired_one_is_told(
    run: Run, top: Path, registry: DemoRegistry
) -> None:
    put(top / "next", {LOCK: lock_file(SampleLock(DEMO, "1.2.0", unpacked=()))})
    registry.faults = Faults(
        (FaultRule(Fault.EXPIRED_KEY, DEMO, "1.2.0"), FaultRule(Fault.OTHER_SIGNER, DEMO, "1.0.0"))
    )
    status, _, err = run("keys", "trust", "acme", "--no-cache", "--dry-run")
    told = " ".join(err.split())
    assert (status, told.count(" expired on ")) == (0, 1), err
    other = publisher("acme-new-owner").key
    assert f"{other.fingerprint}: {other.user_id}, signs acme/demo 1.0.0" in told
    assert re.search(r"pinned to \w{40}, \w{40}\b", told), "any of them may sign"
    for text in ("40", other.fingerprint[-16:], "Z" * 40):
        assert "invalid fingerprint" in run("keys", "trust", "acme", "--key", text)[2]
    status, _, err = run("keys", "trust", "acme", "--key", "A" * 40, "--no-cache")
    assert (status, f"{'A' * 40} signs no locked release of acme" in err, other.fingerprint in err) == (2, True, True)
    status, _, err = run("keys", "trust", "acme", "--key", grouped(other.fingerprint).lower(), "--no-cache")
    told = " ".join(err.split())
    assert (status, " expired on " in told) == (0, False), err
    signed = r"warning: locklens\.toml: acme/demo 1\.2\.0: signed by \w{40} \(.*\), which is not pinned: LK010 blocks"
    assert re.search(signed, told)
    assert tomllib.loads((top / POLICY_FILE).read_text())["trust"]["acme"]["keys"] == [other.fingerprint]
    registry.faults = Faults(
        (FaultRule(Fault.REVOKED_KEY, DEMO, "1.2.0"), FaultRule(Fault.OTHER_SIGNER, DEMO, "1.0.0"))
    )
    assert "which was revoked" in run("keys", "trust", "acme", "--no-cache")[2]
    status, _, err = run("keys", "trust", "acme", "--key", other.fingerprint, "--no-cache")
    assert status == 0, "what speaks against another key is no reason"


@pytest.mark.parametrize("others", ["", "# ours\n", "fail_on = 'warn'\n"])
def test_a_policy_in_which_a_dropped_pin_leaves_nothing_is_removed(run: Run, top: Path, others: str) -> None:
    if others:
        (top / POLICY_FILE).write_text(others)
    assert run("keys", "trust", "acme", "--no-cache")[0] == 0
    status, _, err = run("keys", "drop", "acme", "--dry-run")
    assert (status, "the file would be removed, as nothing else was in it" in " ".join(err.split())) == (0, not others)
    status, out, _ = run("keys", "drop", "acme")
    assert (status, "the file is removed, as nothing else was in it" in out) == (0, not others)
    assert (top / POLICY_FILE).exists() == bool(others)
    if others:
        assert (top / POLICY_FILE).read_text() == others
    assert run("undo")[0] == 0
    assert "acme" in (top / POLICY_FILE).read_text()


def test_no_key_that_is_unknown_or_revoked_is_pinned(run: Run, top: Path, registry: DemoRegistry) -> None:
    assert "no release of hashicorp is locked here" in run("keys", "trust", "hashicorp", "--no-cache")[2]
    status, _, err = run("keys", "trust", "acme/demo", "--no-cache")
    assert (status, "acme/demo is a provider" in err, "hint: locklens keys trust acme\n" in err) == (2, True, True)
    status, _, err = run("keys", "trust", "acme", "--offline", "--no-cache")
    assert (status, "1.0.0: " in err) == (2, True)
    registry.faults = Faults((FaultRule(Fault.UNSIGNED, DEMO, "1.0.0"),))
    assert run("keys", "trust", "acme", "--no-cache")[0] == 2
    registry.faults = Faults((FaultRule(Fault.REPUBLISHED, DEMO, "1.0.0"),))
    status, _, err = run("keys", "trust", "acme", "--no-cache")
    assert (status, f"{DEMO} 1.0.0: LK001: " in err) == (2, True), "the key of a republished release is not pinned"
    assert not (top / POLICY_FILE).exists()


def test_a_policy_that_is_a_link_out_of_the_repository_is_not_written(run: Run, top: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text("cooldown = 7\n")
    (top / POLICY_FILE).symlink_to(outside)
    status, _, err = run("keys", "trust", "acme", "--no-cache")
    assert status != 0, err
    assert outside.read_text() == "cooldown = 7\n"
