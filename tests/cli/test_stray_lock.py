"""`locklens review` where a folder that is no root module gets a lock file, or loses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kit.command_line import no_screen
from kit.repositories import repository

from locklens.cli.main import main

LOCK = ".terraform.lock.hcl"
ENTRY = 'provider "registry.terraform.io/hashicorp/aws" {\n  version = "5.1.0"\n}\n'


def test_a_module_needs_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        f"root/{LOCK}": ENTRY,
        "root/main.tf": 'module "m" {\n  source = "../module"\n}\n',
        f"module/{LOCK}": ENTRY,
        "module/main.tf": 'provider "aws" {}\n',
    }
    repository(tmp_path, files)
    monkeypatch.chdir(tmp_path)

    def rules() -> list[str]:
        main(["review", "--offline", "--format", "json"], no_screen)
        roots = {root["path"]: root for root in json.loads(capsys.readouterr().out)["roots"]}
        root = roots["module"]
        assert root["status"] == "deleted"
        return [found["rule"] for change in (root, *root["changes"]) for found in change["findings"]]

    (tmp_path / "module" / LOCK).unlink()
    assert "LK006" not in rules()
    (tmp_path / "root" / "main.tf").write_text("")
    assert "LK006" in rules()


def test_a_lock_file_of_a_module_is_said_to_have_no_effect_in_the_roots_that_call_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = 'module "m" {\n  source = "../%s"\n}\n'
    files = {f"{root}/{LOCK}": ENTRY for root in ("a", "b", "c")}
    files |= {
        "a/main.tf": calls % "module",
        "b/main.tf": calls % "outer",
        "c/main.tf": "",
        "outer/main.tf": calls % "module",
    }
    repository(tmp_path, files | {"module/main.tf": 'provider "aws" {}\n', "new/main.tf": 'provider "aws" {}\n'})
    monkeypatch.chdir(tmp_path)

    def notes(form: str = "json", *words: str) -> str:
        main(["review", "--offline", "--format", form, *words], no_screen)
        return capsys.readouterr().out

    (tmp_path / "new" / LOCK).write_text(ENTRY)
    assert "as a module" not in notes()
    (tmp_path / "module" / LOCK).write_text(ENTRY)
    said = "not for the roots that call it: module (called by 2 roots)"
    assert [note for note in json.loads(notes())["run"]["notes"] if said in note]
    for form in ("text", "markdown"):
        assert said in notes(form)
        assert said in notes(form, "--", "module")
