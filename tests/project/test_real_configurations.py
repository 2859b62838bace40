"""Configurations that people wrote, laid out in the folder that LOCKLENS_CONFIGURATIONS names.

`modules/NAME` has `src` and `meta.json`, which says what `terraform providers` printed for it; `corpus` has files only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from locklens import hcl
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.project.configuration import Configuration
from locklens.project.contents import read_contents
from locklens.project.requirements import read_configuration
from locklens.project.tree import WorkTree

MATERIAL = Path(os.environ.get("LOCKLENS_CONFIGURATIONS") or os.devnull)
pytestmark = pytest.mark.skipif(
    not MATERIAL.is_dir(), reason="needs LOCKLENS_CONFIGURATIONS, the folder of real material"
)


def modules() -> list[Path]:
    return sorted(MATERIAL.glob("modules/*/meta.json"))


def meta(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def configured(path: Path) -> Configuration:
    about = meta(path)
    tree = WorkTree(path.parent / "src")
    root = "" if about["root"] == "." else about["root"]
    dialect = OPENTOFU if path.parent.name.endswith("-tofu") else TERRAFORM
    return read_configuration(tree, root, dialect=dialect, worktree=tree)


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.parent.name)
def test_requirements_are_what_terraform_printed(path: Path) -> None:
    configuration = configured(path)
    expected = meta(path)["requirements"]
    assert configuration.has_files
    assert configuration.requirements or configuration.missing_modules
    if expected is None:
        for module in configuration.missing_modules:
            assert not module.source.startswith((".", "(")), "a local module was not found"
        return
    found = {str(one): terms(str(configuration.constraints(one))) for one in configuration.required()}
    assert found == {address: sorted(listed) for address, listed in expected.items()}
    assert configuration.missing_modules == ()
    assert [one for one in configuration.problems if one.is_error] == []


def terms(text: str) -> list[str]:
    return sorted(text.split(", ")) if text else []


def test_some_of_them_say_what_is_required() -> None:
    assert sum(meta(path)["requirements"] is not None for path in modules()) >= 12


def files() -> Iterator[Path]:
    for path in MATERIAL.rglob("*"):
        if path.is_file() and path.name.endswith((".tf", ".tofu", ".tf.json", ".tofu.json", ".tftest.hcl")):
            yield path


def test_the_corpus_is_read_as_by_the_real_parser() -> None:
    pygohcl = pytest.importorskip("pygohcl")
    count = 0
    for path in files():
        data = path.read_bytes()
        found = hcl.parse(data, json=path.name.endswith(".json"), wanted=hcl.Wanted())
        count += 1
        if path.name.endswith(".json"):
            assert found.problems == (), path
            continue
        try:
            theirs = pygohcl.loads(data.decode("utf-8", "replace"))
        except pygohcl.HCLParseError:  # an expression that is not wanted may be what is wrong
            continue
        except pygohcl.HCLInternalError:  # it stumbles over some nulls
            continue
        assert found.problems == (), path
        assert found.body is not None
        assert {*found.body.attributes, *(block.type for block in found.body.all_blocks())} == set(theirs), path
        assert requirements_of(found.body) == requirements_in(theirs), path
        if not path.name.endswith(".tftest.hcl"):
            problems = read_contents(data, is_json=False, dialect=OPENTOFU).problems
            assert [one for one in problems if one.is_error] == [], path
    assert count > 500


def requirements_of(body: hcl.Body) -> int:
    found = (block.body.blocks("required_providers") for block in body.blocks("terraform"))
    return sum(len(block.body.attributes) for blocks in found for block in blocks)


def requirements_in(document: dict[str, Any]) -> int:
    """As pygohcl has it: one block is a dictionary, several are a list of them."""

    def listed(value: Any) -> list[dict[str, Any]]:
        return value if isinstance(value, list) else [value]

    found = (listed(block.get("required_providers", [])) for block in listed(document.get("terraform", [])))
    return sum(len(block) for blocks in found for block in blocks)
