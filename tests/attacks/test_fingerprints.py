"""An alert that was dismissed in code scanning or GitLab stays dismissed for what was looked at, and nothing else."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from kit.git import git
from kit.repositories import repository

from locklens.cli.main import main
from locklens.demo import SampleLock, lock_file

DEMO = "registry.terraform.io/acme/demo"
LOCK = ".terraform.lock.hcl"
PLUGIN = f"terraform.d/plugins/{DEMO}/1.0.0/linux_amd64/terraform-provider-demo_v1.0.0"
VALID = lock_file(SampleLock(DEMO, "1.0.0"))


class Pull:
    """A pull request, of which each version is reviewed anew."""

    def __init__(self, top: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.top = top
        self._capsys = capsys
        repository(top, {LOCK: VALID})

    def write(self, path: str, data: bytes) -> None:
        (self.top / path).parent.mkdir(parents=True, exist_ok=True)
        (self.top / path).write_bytes(data)

    def link(self, path: str, target: str) -> None:
        (self.top / path).unlink(missing_ok=True)
        (self.top / path).symlink_to(target)

    def prints(self, rule: str, *, is_committed: bool = True) -> set[str]:
        """The fingerprints of a rule's findings, which both reports agree on."""
        git(self.top, "add", "-f", "-A")
        words = ["review", "main", "--offline", "--no-cache"]
        if is_committed:
            git(self.top, "checkout", "-q", "-B", "pr")
            git(self.top, "commit", "-qm", "x", "--allow-empty")
            words += ["--head", "pr"]
        found = {}
        for form in ("sarif", "codequality"):
            self._capsys.readouterr()
            main([*words, "--format", form], lambda *_: 0)
            found[form] = json.loads(self._capsys.readouterr().out)
        results = [one for one in found["sarif"]["runs"][0]["results"] if one["ruleId"] == rule]
        prints = {one["partialFingerprints"]["primaryLocationLineHash"] for one in results}
        assert prints == {one["partialFingerprints"]["locklens/v1"] for one in results}
        assert prints == {one["fingerprint"] for one in found["codequality"] if one["check_name"] == rule}
        assert prints
        return prints


@pytest.fixture
def pull(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pull:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    return Pull(tmp_path, capsys)


@pytest.mark.parametrize("is_committed", [True, False])
def test_another_program_is_another_alert(pull: Pull, *, is_committed: bool) -> None:
    pull.write(PLUGIN, b"harmless\n")
    dismissed = pull.prints("LK036", is_committed=is_committed)
    pull.write("README.md", b"unrelated\n")
    assert pull.prints("LK036", is_committed=is_committed) == dismissed
    pull.write(PLUGIN, b"harmful!\n")
    assert pull.prints("LK036", is_committed=is_committed).isdisjoint(dismissed)
    pull.write(PLUGIN, b"harmless\n")
    assert pull.prints("LK036", is_committed=is_committed) == dismissed
    (pull.top / PLUGIN).rename(pull.top / f"{PLUGIN}_x5")
    assert pull.prints("LK036", is_committed=is_committed).isdisjoint(dismissed)


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_link_to_other_packages_is_another_alert(pull: Pull, *, is_committed: bool) -> None:
    for name in ("a", "b"):
        pull.write(f"{name}/plugins/x", b"")
    pull.link("terraform.d", "a")
    dismissed = pull.prints("LK036", is_committed=is_committed)
    assert pull.prints("LK036", is_committed=is_committed) == dismissed
    pull.link("terraform.d", "b")
    assert pull.prints("LK036", is_committed=is_committed).isdisjoint(dismissed)


def test_another_error_is_another_alert_and_a_line_that_moves_is_not(pull: Pull) -> None:
    block = VALID[VALID.index(b"provider") :]
    pull.write(LOCK, VALID + block)
    dismissed = pull.prints("LK019")
    pull.write(LOCK, b"# one line more\n\n" + VALID + block)
    assert pull.prints("LK019") == dismissed
    pull.write(LOCK, VALID.replace(b'"zh:', b'"zh'))
    assert pull.prints("LK019").isdisjoint(dismissed)


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_link_out_to_another_place_is_another_alert(pull: Pull, *, is_committed: bool) -> None:
    pull.write("main.tf", b'module "m" { source = "./m" }\n')
    pull.link("m", "/etc/one")
    dismissed = pull.prints("LK035", is_committed=is_committed)
    pull.write("more.tf", b"locals {}\n")
    assert pull.prints("LK035", is_committed=is_committed) == dismissed
    pull.link("m", "/etc/two")
    assert pull.prints("LK035", is_committed=is_committed).isdisjoint(dismissed)


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_lock_file_that_links_to_another_place_is_another_alert(pull: Pull, *, is_committed: bool) -> None:
    pull.link(LOCK, "/etc/passwd")
    dismissed = pull.prints("LK019", is_committed=is_committed)
    assert pull.prints("LK019", is_committed=is_committed) == dismissed
    pull.link(LOCK, "/etc/group")
    assert pull.prints("LK019", is_committed=is_committed).isdisjoint(dismissed)


@pytest.mark.skipif(sys.platform == "win32", reason="no file has a mode there")
@pytest.mark.parametrize("is_committed", [True, False])
def test_a_file_that_becomes_a_program_is_another_alert(pull: Pull, *, is_committed: bool) -> None:
    pull.write(PLUGIN, b"harmless\n")
    dismissed = pull.prints("LK036", is_committed=is_committed)
    (pull.top / PLUGIN).chmod(0o755)
    assert pull.prints("LK036", is_committed=is_committed).isdisjoint(dismissed)
    (pull.top / PLUGIN).chmod(0o600)
    assert pull.prints("LK036", is_committed=is_committed) == dismissed


def test_another_requirement_is_another_alert_and_a_line_that_moves_is_not(pull: Pull) -> None:
    asked = 'terraform {{\n  required_providers {{\n    x = {{ source = "acme/x", version = "{}" }}\n  }}\n}}\n'
    pull.write("main.tf", asked.format("1.0.0").encode())
    dismissed = pull.prints("LK006")
    pull.write("main.tf", b"# one line more\n\n" + asked.format("1.0.0").encode())
    assert pull.prints("LK006") == dismissed
    pull.write("main.tf", asked.format("9.0.0").encode())
    assert pull.prints("LK006").isdisjoint(dismissed)


def test_another_attribute_is_another_alert(pull: Pull) -> None:
    pull.write(".gitattributes", f"{LOCK} filter=one\n".encode())
    dismissed = pull.prints("LK031")
    pull.write(".gitattributes", f"# two lines\n{LOCK} filter=one\n".encode())
    assert pull.prints("LK031") == dismissed
    pull.write(".gitattributes", f"{LOCK} filter=two\n".encode())
    assert pull.prints("LK031").isdisjoint(dismissed)


def test_another_acceptance_of_its_own_is_another_alert(pull: Pull) -> None:
    entry = f'[[accept]]\nrule = "LK001"\nprovider = "{DEMO}"\nchange = "%s"\nreason = "r"\nby = "b"\non = 2026-11-20\n'
    pull.write("locklens.toml", (entry % ("a" * 32)).encode())
    dismissed = pull.prints("LK028")
    assert pull.prints("LK028") == dismissed
    pull.write("locklens.toml", (entry % ("b" * 32)).encode())
    assert pull.prints("LK028").isdisjoint(dismissed)
