"""What locklens does not read of a configuration may require anything: a change that brings such a file is not ok."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attacks.edited_version import LOCK, OLD, REVIEW, ZH, lock
from kit.command_line import locklens
from kit.git import git
from kit.repositories import commit, copy_of, repository

ROOT = "infra/prod"
SIDES = [("main",), ("main", "--merge-base"), ("main", "--head", "pr"), ("main", "--staged")]


def main(more: str = "", *, entry: str = "") -> str:
    block = f'  backend "local" {{}}\n  required_providers {{\n    aws = {{ source = "hashicorp/aws" }}\n{entry}  }}\n'
    return f"terraform {{\n{block}}}\n{more}"


DEEP = f"locals {{\n  x = {'[' * 101}{']' * 101}\n}}\n"
EXTRA = '    cf = { source = "cloudflare/cloudflare" }\n'
HIDDEN = {
    "levels": {"main.tf": main(DEEP, entry=EXTRA)},
    "expression": {"main.tf": main(entry=EXTRA.replace(" }", f' , x = "{"y" * 70_000}" }}'))},
    "number": {
        "x.tf.json": '{"locals": {"x": ' + "1" * 5000 + "}, "
        '"terraform": {"required_providers": {"cf": {"source": "cloudflare/cloudflare"}}}}'
    },
    "size": {"main.tf": main("#" * (8 << 20), entry=EXTRA)},
    "nested calls": {
        "x.tf": 'module "m" {\n  source = "./m0"\n}\n',
        **{f"m{n}/x.tf": f'module "m" {{\n  source = "../m{n + 1}"\n}}\n' for n in range(52)},
        "m52/x.tf": "terraform {\n  required_providers {\n" + EXTRA + "  }\n}\n",
    },
    "calls": {
        "m/x.tf": "#\n",
        "x.tf": "".join(f'module "m{n}" {{\n  source = "./m"\n}}\n' for n in range(5000))
        + 'module "z" {\n  source = "./z"\n}\n',
        "z/x.tf": "terraform {\n  required_providers {\n" + EXTRA + "  }\n}\n",
    },
    "syntax": {"main.tf": main("locals {\n", entry=EXTRA)},
}


def with_a_root(folder: Path) -> None:
    repository(folder, {f"{ROOT}/{LOCK}": OLD, f"{ROOT}/main.tf": main()})
    git(folder, "checkout", "-qb", "pr")


def in_root(files: dict[str, str], root: str = ROOT) -> dict[str, str]:
    return {f"{root}/{name}": text for name, text in files.items()}


@pytest.mark.parametrize("files", HIDDEN.values(), ids=list(HIDDEN))
def test_a_file_beyond_the_bounds_is_not_ok(tmp_path: Path, files: dict[str, str]) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    commit(folder, in_root(files))
    status, out, _ = locklens(folder, *REVIEW, "main")
    assert (status, "LK041 BLOCK" in out) == (1, True), out


@pytest.mark.parametrize("only", [(), ("--", ROOT)], ids=["all", "restricted"])
@pytest.mark.parametrize("sides", SIDES, ids=" ".join)
def test_on_each_side_that_can_be_named(tmp_path: Path, sides: tuple[str, ...], only: tuple[str, ...]) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    commit(folder, in_root(HIDDEN["levels"]))
    status, out, _ = locklens(folder, *REVIEW, *sides, *only)
    assert (status, f"{ROOT}/main.tf:9" in out, "LK041 BLOCK" in out) == (1, True, True), out


def test_an_error_that_was_there_before_is_a_warning(tmp_path: Path) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    commit(folder, in_root(HIDDEN["levels"]))
    git(folder, "mv", "infra/prod", "infra/moved")
    commit(folder, {"infra/moved/more.tf": "#\n"})
    for base in ("HEAD^", "main"):
        status, out, _ = locklens(folder, *REVIEW, base, "--fail-on", "block")
        told = "LK041 WARN" if base == "HEAD^" else "LK041 BLOCK"
        assert (status, told in out) == (int(base == "main"), True), out


@pytest.mark.parametrize("name", ["levels", "size"])
def test_a_new_root_without_a_lock_file_has_its_row(tmp_path: Path, name: str) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    caller = {"caller/main.tf": 'module "m" {\n  source = "../infra/new"\n}\n'}
    commit(folder, in_root(HIDDEN[name], "infra/new") | caller)
    status, out, _ = locklens(folder, "review", "main", "--offline", "--format", "json")
    root = next(one for one in json.loads(out)["roots"] if one["path"] == "infra/new")
    assert status == 1
    assert {("LK037", "warn"), ("LK041", "block")} <= {(one["rule"], one["severity"]) for one in root["findings"]}


def test_another_hidden_requirement_is_another_alert(tmp_path: Path) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    seen = []
    for entry in (EXTRA, EXTRA.replace("cloudflare", "cloudflair")):
        commit(folder, {f"{ROOT}/main.tf": main(DEEP, entry=entry)})
        _, out, _ = locklens(folder, "review", "main", "--offline", "--format", "sarif")
        results = json.loads(out)["runs"][0]["results"]
        seen += [one["partialFingerprints"] for one in results if one["ruleId"] == "LK041"]
    assert len(seen) == 2
    assert seen[0] != seen[1]


def test_a_module_that_is_not_fetched_is_no_error(tmp_path: Path) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    commit(folder, {f"{ROOT}/x.tf": 'module "x" {\n  source = "acme/x/aws"\n  version = "1.0.0"\n}\n'})
    status, out, _ = locklens(folder, *REVIEW, "main")
    assert (status, "LK041" in out) == (0, False), out


@pytest.mark.parametrize("locked", [True, False])
def test_the_health_has_a_finding(tmp_path: Path, locked: bool) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    commit(folder, in_root(HIDDEN["levels"]))
    if not locked:
        git(folder, "rm", "-q", f"{ROOT}/{LOCK}")
    status, out, _ = locklens(folder, "health", "--offline", "--format", "json")
    value = json.loads(out)
    (found,) = (one for root in value["roots"] for one in root["findings"] if one["rule"] == "LK041")
    assert (found["severity"], found["file"], found["line"]) == ("warn", f"{ROOT}/main.tf", 9)
    assert (status, value["summary"]["verdict"]) == (0, "warn")
    assert {one["id"]: one["locks"] for one in value["checks"]}["unread-configuration"] == 1


@pytest.mark.parametrize("command", ["hashes", "keys"])
def test_what_is_locked_is_listed_with_a_note(tmp_path: Path, command: str) -> None:
    folder = copy_of(with_a_root, tmp_path / "clone")
    commit(folder, in_root(HIDDEN["levels"]))
    _, out, err = locklens(folder, command, "--offline")
    assert f"{ROOT}/main.tf:9: Nested too deeply: the configuration cannot be read whole" in " ".join(
        (out + err).split()
    )


@pytest.mark.parametrize("line", ['version = "~> 5.1"', 'version = "5.1.0, < 6.0.0"', "# no version"])
def test_an_entry_that_the_base_has_without_a_version_is_judged(tmp_path: Path, line: str) -> None:
    repository(tmp_path, {f"{ROOT}/{LOCK}": OLD.replace('version = "5.1.0"', line), f"{ROOT}/main.tf": main()})
    commit(tmp_path, {f"{ROOT}/{LOCK}": lock("5.1.0", *ZH[1:3])})
    status, out, _ = locklens(tmp_path, "review", "HEAD~..HEAD", "--offline", "--format", "json")
    (change,) = [change for root in json.loads(out)["roots"] for change in root["changes"]]
    assert (change["kind"], len(change["hashes"]["added"]), status) == ("new-provider", 2, 0)
    assert "what that lacks is shown as new" in out


def test_a_block_of_the_base_that_names_no_provider_leaves_the_others_to_compare(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    odd = OLD.replace("hashicorp/aws", "hashi corp/aws").partition("provider ")[2]
    commit(tmp_path, {f"{ROOT}/{LOCK}": f"{OLD}\nprovider {odd}", f"{ROOT}/main.tf": main()})
    commit(tmp_path, {f"{ROOT}/{LOCK}": lock("5.2.0", *ZH[1:3])})
    _, out, _ = locklens(tmp_path, "review", "HEAD~..HEAD", "--offline", "--format", "json")
    (root,) = json.loads(out)["roots"]
    assert [(one["old"]["version"], one["new"]["version"]) for one in root["changes"]] == [("5.1.0", "5.2.0")]
    (message,) = [one["message"] for one in root["findings"] if one["rule"] == "LK019"]
    assert message.startswith("part of the old side cannot be read (line ")
    assert message.endswith(": Invalid provider source address): compared with the rest")


BROKEN = OLD.replace('version = "5.1.0"', "version = {{")


@pytest.mark.parametrize(
    ("files", "severity", "words"),
    [
        ({f"{ROOT}/{LOCK}": OLD}, "info", "every provider is shown as new"),
        ({f"{ROOT}/{LOCK}": f"{BROKEN}#\n"}, "info", "nothing is compared"),
        ({f"{ROOT}/{LOCK}": "# Nothing.\n"}, "warn", "what it locked is unknown"),
        ({f"{ROOT}/{LOCK}": None}, "warn", "what it locked is unknown"),
        ({f"{ROOT}/main.tf": "# Other.\n"}, "", ""),
        ({f"{ROOT}/{LOCK}": None, f"other/{LOCK}": BROKEN}, "", ""),
    ],
    ids=["repaired", "still broken", "emptied", "deleted", "untouched", "moved"],
)
def test_an_old_side_that_cannot_be_read_is_told_of_once_and_as_such(
    tmp_path: Path, files: dict[str, str | None], severity: str, words: str
) -> None:
    repository(tmp_path, {f"{ROOT}/{LOCK}": BROKEN})
    for path in [path for path, text in files.items() if text is None]:
        git(tmp_path, "rm", "-q", path)
    commit(tmp_path, {path: text for path, text in files.items() if text is not None})
    _, out, _ = locklens(tmp_path, "review", "HEAD~..HEAD", "--offline", "--format", "json")
    found = [one for root in json.loads(out)["roots"] for one in root["findings"] if one["rule"] == "LK019"]
    of_old = [one for one in found if "the old side" in one["message"]]
    assert [(one["severity"], one["line"]) for one in of_old] == ([(severity, None)] if severity else [])
    assert all(words in one["message"] for one in of_old)
    assert sum(one["severity"] == "block" for one in found) == (not severity or words == "nothing is compared")
    _, out, _ = locklens(tmp_path, "review", "HEAD~..HEAD", "--offline", "--format", "sarif")
    told = [one["message"]["text"] for one in json.loads(out)["runs"][0]["results"] if one["ruleId"] == "LK019"]
    assert sum("every command fails" in one for one in told) == len(found) - len(of_old)
