"""A file that is no configuration decides what is required: the change of it alone is a change of the root."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attacks.edited_version import LOCK, OLD, REVIEW
from kit.command_line import locklens
from kit.git import git
from kit.repositories import commit, copy_of, repository

ROOT = "infra/prod"
MAIN = 'terraform {{\n  backend "local" {{{}}}\n  required_providers {{\n    aws = {{ source = "hashicorp/aws" }}\n  }}\n}}\n'
ADDRESS = 'provider["registry.terraform.io/cloudflare/cloudflare"]'
RESOURCE = {"mode": "managed", "type": "evil_x", "name": "y", "provider": ADDRESS, "instances": []}
STATE = json.dumps({"version": 4, "serial": 1, "lineage": "x", "outputs": {}, "resources": [RESOURCE]})
SIDES = [("main",), ("main", "--merge-base"), ("main", "--head", "pr"), ("main", "--staged")]


def with_a_root(folder: Path, backend: str = "") -> None:
    repository(folder, {f"{ROOT}/{LOCK}": OLD, f"{ROOT}/main.tf": MAIN.format(backend), f"other/{LOCK}": OLD})
    git(folder, "checkout", "-qb", "pr")


def reviewed(folder: Path, *words: str) -> None:
    status, out, _ = locklens(folder, *REVIEW, *words)
    assert (status, "LK006 BLOCK" in out, "cloudflare" in out) == (1, True, True), out


@pytest.mark.parametrize("only", [(), ("--", ROOT)], ids=["all", "restricted"])
@pytest.mark.parametrize("sides", SIDES, ids=" ".join)
def test_a_state_alone(tmp_path: Path, sides: tuple[str, ...], only: tuple[str, ...]) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    commit(folder, {f"{ROOT}/terraform.tfstate": STATE})
    reviewed(folder, *sides, *only)


def test_a_state_that_is_on_the_new_side_alone(tmp_path: Path) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    commit(folder, {f"{ROOT}/terraform.tfstate": STATE})
    git(folder, "checkout", "-q", "main")
    reviewed(folder, "main", "--head", "pr")


def test_a_state_of_a_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_WORKSPACE", "dev")
    folder = copy_of(with_a_root, tmp_path / "clone")
    commit(folder, {f"{ROOT}/terraform.tfstate.d/dev/terraform.tfstate": STATE})
    reviewed(folder, "main")


@pytest.mark.parametrize("path", ["notes.md", "../../data/prod.json", "../state/prod.tfstate"])
def test_a_state_that_the_backend_names(tmp_path: Path, path: str) -> None:
    with_a_root_of = tmp_path / "clone"
    with_a_root_of.mkdir()
    with_a_root(with_a_root_of, f'\n    path = "{path}"\n  ')
    place = (with_a_root_of / ROOT / path).resolve()
    commit(with_a_root_of, {str(place.relative_to(with_a_root_of.resolve())): STATE})
    reviewed(with_a_root_of, "main", "--head", "pr")
    reviewed(with_a_root_of, "main")


def test_a_file_that_a_state_is_a_link_to(tmp_path: Path) -> None:
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / ROOT).mkdir(parents=True)
    (folder / ROOT / "terraform.tfstate").symlink_to("../../data")
    commit(folder, {f"{ROOT}/{LOCK}": OLD, f"{ROOT}/main.tf": MAIN.format(""), "data": "{}"})
    git(folder, "checkout", "-qb", "pr")
    commit(folder, {"data": STATE})
    reviewed(folder, "main", "--head", "pr")
    reviewed(folder, "main")


@pytest.mark.parametrize("name", ["terraform.tfvars", "a.auto.tfvars"])
def test_values_that_choose_another_module(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "-q")
    chosen = 'variable "m" {\n  default = "a"\n}\nmodule "x" {\n  source = "../../mod/${var.m}"\n}\n'
    other = 'terraform {\n  required_providers {\n    x = { source = "cloudflare/cloudflare" }\n  }\n}\n'
    tofu = OLD.replace('"terraform init"', '"tofu init"').replace("registry.terraform.io", "registry.opentofu.org")
    commit(folder, {f"{ROOT}/{LOCK}": tofu, f"{ROOT}/main.tf": MAIN.format(""), f"{ROOT}/x.tofu": chosen})
    commit(folder, {"mod/a/main.tf": "#\n", "mod/b/main.tf": other})
    git(folder, "checkout", "-qb", "pr")
    commit(folder, {f"{ROOT}/{name}": 'm = "b"\n'})
    reviewed(folder, "main")


def test_other_files_concern_no_root(tmp_path: Path) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    commit(folder, {f"{ROOT}/README.md": "x", "package.json": '{"resources": []}', "data.bin": "\0"})
    status, out, _ = locklens(folder, *REVIEW, "main")
    assert (status, "0 of 2 roots" in out) == (0, True), out
