"""`locklens review` where a lock file leaves a folder that is no root module."""

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
