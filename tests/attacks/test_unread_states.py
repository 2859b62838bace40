"""A state, or a file of values, that the tools read and locklens does not, or reads otherwise: a review is not ok."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest
from attacks.edited_version import LOCK, OLD, REVIEW
from attacks.test_states import ADDRESS, MAIN, ROOT, STATE, with_a_root
from kit.command_line import locklens
from kit.effort import some
from kit.git import git
from kit.repositories import commit, copy_of, put, repository

SHORT = STATE.replace('"instances": []', '"instances": [{"schema_version": 0, "attributes": {"x": 1}}]')
FIRST = '{"version": 4, '
LOCKED = 'provider["registry.terraform.io/hashicorp/aws"]'


def quoted(address: str) -> str:
    return json.dumps(address)


READ = {
    "other case": SHORT.replace('"resources"', '"Resources"').replace('"version"', '"VERSION"'),
    "case of a field": SHORT.replace('"mode"', '"Mode"').replace('"provider"', '"PROVIDER"'),
    "long s": SHORT.replace('"resources"', '"re\u017fource\u017f"'),
    "a long number": SHORT.replace('"x": 1', f'"x": {"1" * 6000}'),
    "a bad byte": SHORT.replace('"x": 1', '"x": "\udcff"'),
    "an escaped name": SHORT.replace('"resources"', '"\\u0072esources"'),
}
"""States that the tools read, and of which locklens reads as much."""

TWICE = f'"provider": {quoted(LOCKED)}, "provider": {quoted(ADDRESS)}'
UNREAD = {
    "levels": SHORT.replace('"x": 1', f'"x": {"[" * 3000}{"]" * 3000}'),
    "resources twice": SHORT.replace(FIRST, f'{FIRST}"resources": [], '),
    "merged": SHORT.replace(FIRST, f'{FIRST}"Resources": [{json.dumps({"provider": ADDRESS})}], ').replace(
        f'"provider": {quoted(ADDRESS)}, "inst', '"inst'
    ),
    "a provider twice": SHORT.replace(f'"provider": {quoted(ADDRESS)}', TWICE),
    "version twice": SHORT.replace(FIRST, '{"version": 99, "Version": 4, '),
    "a space": SHORT.replace(quoted(ADDRESS), quoted(f"{ADDRESS} ")),
    "a comment": SHORT.replace(quoted(ADDRESS), quoted(f"/**/{ADDRESS}")),
    "a line end": SHORT.replace(quoted(ADDRESS), quoted(f"{ADDRESS}\n")),
    "steps apart": SHORT.replace(quoted(ADDRESS), quoted(ADDRESS.replace("[", " [ "))),
}
"""States that the tools read, and locklens does not."""


def add(folder: Path, path: str, text: str) -> None:
    """Commit one file, whose bytes need not be UTF-8."""
    commit(folder, {path: text.encode("utf-8", "surrogateescape")})


def initialised(tool: str, folder: Path, scratch: Path) -> str:
    """What a tool says when it initialises a folder without any package in reach."""
    program = shutil.which(tool)
    if program is None:
        pytest.skip(f"there is no {tool}")
    settings = scratch / "cli.tfrc"
    settings.write_text(f'provider_installation {{\n  filesystem_mirror {{\n    path = "{scratch}"\n  }}\n}}\n')
    environment = {**os.environ, "TF_CLI_CONFIG_FILE": str(settings), "CHECKPOINT_DISABLE": "1"}
    words = (program, "init", "-input=false", "-no-color")
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize(("name", "tool"), some(product([*READ, *UNREAD], ["terraform", "tofu"]), 3))
def test_the_tools_take_what_such_a_state_names(tmp_path: Path, name: str, tool: str) -> None:
    put(tmp_path, {"main.tf": "terraform {}\n"})
    (tmp_path / "terraform.tfstate").write_bytes((READ | UNREAD)[name].encode("utf-8", "surrogateescape"))
    said = initialised(tool, tmp_path, tmp_path)
    assert "Finding latest version of cloudflare/cloudflare" in said, said


@pytest.mark.parametrize("text", READ.values(), ids=list(READ))
def test_a_state_is_read_as_the_tools_read_it(tmp_path: Path, text: str) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    add(folder, f"{ROOT}/terraform.tfstate", text)
    for side in ((), ("--head", "pr")):
        status, out, _ = locklens(folder, *REVIEW, "main", *side)
        assert (status, "LK006 BLOCK" in out, "cloudflare" in out) == (1, True, True), out


@pytest.mark.parametrize("text", UNREAD.values(), ids=list(UNREAD))
def test_a_state_that_is_not_read_blocks(tmp_path: Path, text: str) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    add(folder, f"{ROOT}/terraform.tfstate", text)
    for side in ((), ("--head", "pr"), ("--staged",)):
        status, out, _ = locklens(folder, *REVIEW, "main", *side)
        assert (status, "LK041 BLOCK" in out, "terraform.tfstate" in out) == (1, True, True), out


def test_a_state_that_was_not_read_before_is_a_warning(tmp_path: Path) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    add(folder, f"{ROOT}/terraform.tfstate", UNREAD["levels"])
    add(folder, f"{ROOT}/more.tf", "#\n")
    status, out, _ = locklens(folder, *REVIEW, "HEAD^", "--fail-on", "block")
    assert (status, "LK041 WARN" in out) == (0, True), out


def test_a_state_that_git_ignores_is_no_part_of_the_change(tmp_path: Path) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    commit(folder, {".gitignore": "*.tfstate\n", f"{ROOT}/more.tf": "#\n"})
    put(folder, {f"{ROOT}/terraform.tfstate": UNREAD["levels"]})
    status, out, _ = locklens(folder, *REVIEW, "main")
    assert (status, "LK041" in out) == (0, False), out


def test_a_pointer_of_this_machine_hides_no_state(tmp_path: Path) -> None:
    folder = repository(
        tmp_path / "clone",
        {f"{ROOT}/{LOCK}": OLD, f"{ROOT}/main.tf": 'provider "aws" {}\n', ".gitignore": ".terraform\n"},
    )
    git(folder, "checkout", "-qb", "pr")
    commit(folder, {f"{ROOT}/terraform.tfstate": STATE})
    put(folder, {f"{ROOT}/.terraform/terraform.tfstate": '{"version": 3, "backend": {"type": "s3"}}'})
    status, out, _ = locklens(folder, *REVIEW, "main")
    assert (status, "LK041 BLOCK" in out) == (1, True), out


@pytest.mark.parametrize(("name", "is_told"), [("r.json", True), ("s.json", False)])
@pytest.mark.parametrize("path", ["/home/runner/work/r/r.json", "../../../r/r.json"])
def test_a_path_out_of_the_repository_may_lead_back(tmp_path: Path, path: str, name: str, *, is_told: bool) -> None:
    folder = tmp_path / "clone"
    folder.mkdir()
    with_a_root(folder, f'\n    path = "{path}"\n  ')
    commit(folder, {name: STATE, f"{ROOT}/more.tf": "#\n"})
    status, out, _ = locklens(folder, *REVIEW, "main")
    assert (status, "LK041 BLOCK" in out) == (int(is_told), is_told), out


@pytest.mark.parametrize(
    ("name", "selected"), [("terraform.tfstate.d/prod/terraform.tfstate", ""), ("terraform.tfstate", "prod")]
)
def test_a_state_of_a_workspace_that_is_not_selected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, selected: str
) -> None:
    monkeypatch.setenv("TF_WORKSPACE", selected)
    folder = copy_of(with_a_root, tmp_path / "clone")
    for text, rule in ((STATE, "LK006"), (UNREAD["levels"], "LK041")):
        add(folder, f"{ROOT}/{name}", text)
        for side in ((), ("--head", "pr")):
            status, out, _ = locklens(folder, *REVIEW, "main", *side)
            assert (status, f"{rule} BLOCK" in out, f"{ROOT}/{name}" in out) == (1, True, True), out


# OpenTofu

TOFU = OLD.replace('"terraform init"', '"tofu init"').replace("registry.terraform.io", "registry.opentofu.org")
OTHER = 'terraform {\n  required_providers {\n    x = { source = "cloudflare/cloudflare" }\n  }\n}\n'
CALL = 'variable "m" {\n  default = "a"\n}\nmodule "x" {\n  source = "../../mod/${var.m}"\n}\n'
DEEP = f"x = {'[' * 102}{']' * 102}\n"


def with_a_tofu_root(folder: Path) -> None:
    repository(folder, {f"{ROOT}/{LOCK}": TOFU, f"{ROOT}/main.tf": MAIN.format(""), f"{ROOT}/x.tofu": CALL})
    commit(folder, {"mod/a/main.tf": "#\n", "mod/b/main.tf": OTHER})
    git(folder, "checkout", "-qb", "pr")


VALUES = {
    "terraform.tfvars": 'm = "b"\n' + DEEP,
    "a.auto.tfvars": 'm = "b"\n' + DEEP,
    "terraform.tfvars.json": json.dumps({"m": "b", "x": 1}).replace("1", "[" * 3000 + "]" * 3000),
    "a.auto.tfvars.json": json.dumps({"m": "b", "x": 1}).replace("1", "[" * 3000 + "]" * 3000),
}


@pytest.mark.parametrize("name", VALUES)
def test_opentofu_takes_the_module_that_such_values_choose(tmp_path: Path, name: str) -> None:
    root = {"main.tf": "terraform {}\n", "x.tofu": CALL.replace("../../", "./"), name: VALUES[name]}
    put(tmp_path, {**root, "mod/a/main.tf": "#\n", "mod/b/main.tf": OTHER})
    said = initialised("tofu", tmp_path, tmp_path)
    assert "Finding latest version of cloudflare/cloudflare" in said, said


@pytest.mark.parametrize("name", VALUES)
def test_values_that_are_not_read_block(tmp_path: Path, name: str) -> None:
    folder = copy_of(with_a_tofu_root, tmp_path / "clone")
    add(folder, f"{ROOT}/{name}", VALUES[name])
    for side in ((), ("--head", "pr"), ("--staged",)):
        status, out, _ = locklens(folder, *REVIEW, "main", *side)
        assert (status, "LK041 BLOCK" in out, f"{ROOT}/{name}" in out) == (1, True, True), out


@pytest.mark.parametrize("source", ["var.n", 'format("%s", "../../mod/b")', '"../../mod/${local.n}"'])
def test_a_source_that_is_not_known_any_more_blocks(tmp_path: Path, source: str) -> None:
    folder = copy_of(with_a_tofu_root, tmp_path / "clone")
    add(folder, f"{ROOT}/x.tofu", CALL.replace('"../../mod/${var.m}"', source))
    status, out, _ = locklens(folder, *REVIEW, "main")
    assert (status, "LK041 BLOCK" in out, f"{ROOT}/x.tofu" in out) == (1, True, True), out
    add(folder, f"{ROOT}/more.tf", "#\n")
    status, out, _ = locklens(folder, *REVIEW, "HEAD^", "--fail-on", "block")
    assert (status, "LK041 WARN" in out) == (0, True), out


BACKEND = 'variable "p" {\n  default = "a"\n}\nterraform {\n  backend "local" {\n    path = PATH\n  }\n}\n'


@pytest.mark.parametrize(
    ("path", "rule"),
    [('"${var.p}.json"', "LK006"), ("var.p", "LK006"), ('format("%s.json", "b")', "LK041"), ("var.q", "LK041")],
)
def test_a_state_in_a_place_that_is_computed(tmp_path: Path, path: str, rule: str) -> None:
    folder = repository(tmp_path / "clone", {f"{ROOT}/{LOCK}": TOFU, f"{ROOT}/main.tf": BACKEND.replace("PATH", path)})
    git(folder, "checkout", "-qb", "pr")
    name = "b" if path == "var.p" else "b.json"
    values = {f"{ROOT}/terraform.tfvars": 'p = "b"\n'}
    commit(folder, {f"{ROOT}/{name}": STATE.replace("registry.terraform.io", "registry.opentofu.org"), **values})
    status, out, _ = locklens(folder, *REVIEW, "main")
    assert (status, f"{rule} BLOCK" in out) == (1, True), out


def test_a_template_of_json_is_computed(tmp_path: Path) -> None:
    folder = copy_of(with_a_tofu_root, tmp_path / "clone")
    backend = {"variable": {"p": {"default": "b"}}, "terraform": {"backend": {"local": {"path": "${var.p}.json"}}}}
    bare = MAIN.format("").replace('  backend "local" {}\n', "")
    commit(folder, {f"{ROOT}/main.tf": bare, f"{ROOT}/b.tf.json": json.dumps(backend), f"{ROOT}/b.json": STATE})
    status, out, _ = locklens(folder, *REVIEW, "main")
    assert (status, "LK041 BLOCK" in out, f"{ROOT}/b.json" in out) == (1, True, True), out


def test_a_place_that_is_computed_from_now_on_blocks(tmp_path: Path) -> None:
    folder = tmp_path / "clone"
    folder.mkdir()
    with_a_root(folder, '\n    path = "a.json"\n  ')
    git(folder, "checkout", "-q", "main")
    commit(folder, {f"{ROOT}/b.json": STATE})
    git(folder, "checkout", "-q", "pr")
    git(folder, "merge", "-q", "main")
    commit(folder, {f"{ROOT}/main.tf": MAIN.format('\n    path = true ? "b.json" : "a.json"\n  ')})
    status, out, _ = locklens(folder, *REVIEW, "main")
    assert (status, "LK041 BLOCK" in out, f"{ROOT}/main.tf" in out) == (1, True, True), out


@pytest.mark.parametrize(
    ("source", "is_told"), [("../../../clone/mod/b", True), ("../../../clone/x", False), ("../../../../mod/b", False)]
)
def test_a_module_out_of_the_repository_may_lead_back(tmp_path: Path, source: str, *, is_told: bool) -> None:
    folder = copy_of(with_a_tofu_root, tmp_path / "clone")
    commit(folder, {f"{ROOT}/y.tf": f'module "y" {{\n  source = "{source}"\n}}\n'})
    status, out, _ = locklens(folder, *REVIEW, "main")
    assert (status, "LK041 BLOCK" in out) == (int(is_told), is_told), out


def test_a_computed_place_alone_is_no_finding(tmp_path: Path) -> None:
    folder = tmp_path / "clone"
    repository(
        folder, {f"{ROOT}/{LOCK}": TOFU, f"{ROOT}/main.tf": BACKEND.replace("PATH", "var.q") + 'provider "aws" {}\n'}
    )
    git(folder, "checkout", "-qb", "pr")
    commit(folder, {f"{ROOT}/more.tf": "#\n"})
    status, out, _ = locklens(folder, *REVIEW, "main")
    assert (status, "LK041" in out) == (0, False), out


@pytest.mark.parametrize("attribute", ["working-tree-encoding=UTF-7", "filter=lfs"])
@pytest.mark.parametrize("name", ["terraform.tfvars", "a.auto.tfvars", "a.auto.tfvars.json", "terraform.tfstate"])
def test_values_and_states_that_a_checkout_would_change_block(tmp_path: Path, attribute: str, name: str) -> None:
    folder = copy_of(with_a_tofu_root, tmp_path / "clone")
    git(folder, "checkout", "-q", "main")
    empty = {"tfvars": 'z = "+AGE-"\n', "json": '{"z": "+AGE-"}', "tfstate": '{"version": 4}'}
    commit(folder, {f"{ROOT}/{name}": empty[name.rpartition(".")[2]]})
    git(folder, "checkout", "-q", "pr")
    git(folder, "merge", "-q", "main")
    commit(folder, {".gitattributes": f"{ROOT}/{name} {attribute}\n"})
    for side in ((), ("--head", "pr")):
        status, out, _ = locklens(folder, *REVIEW, "main", *side)
        assert (status, "LK031 BLOCK" in out, name in out) == (1, True, True), out


@pytest.mark.parametrize("is_there", [False, True], ids=["new attribute", "known attribute"])
@pytest.mark.parametrize("text", ['{"version": 4}\n', "+AHsAIg-version+ACI: 4+AH0-\n"])
def test_any_file_that_a_backend_names_is_judged_as_checked_out(tmp_path: Path, text: str, *, is_there: bool) -> None:
    folder = tmp_path / "clone"
    folder.mkdir()
    attributes = {".gitattributes": "*.json working-tree-encoding=UTF-7\n"}
    with_a_root(folder, '\n    path = "../../data/prod.json"\n  ')
    git(folder, "checkout", "-q", "main")
    commit(folder, {"data/prod.json": "{}\n" if is_there else text, **(attributes if is_there else {})})
    git(folder, "checkout", "-q", "pr")
    git(folder, "merge", "-q", "main")
    commit(folder, {"data/prod.json": text} if is_there else attributes)
    status, out, _ = locklens(folder, *REVIEW, "main", "--head", "pr", "--fail-on", "warn")
    assert (status, "LK031" in out or "LK041 BLOCK" in out) == (1, True), out


def test_an_encrypted_state_blocks(tmp_path: Path) -> None:
    folder = tmp_path / "clone"
    folder.mkdir()
    with_a_root(folder, '\n    path = "prod.json"\n  ')
    add(folder, f"{ROOT}/prod.json", '{"serial": 1, "meta": {}, "encrypted_data": "eA==", "encryption_version": "v0"}')
    status, out, _ = locklens(folder, *REVIEW, "main")
    assert (status, "LK041 BLOCK" in out) == (1, True), out
