"""The table of real changes: whole, true to what was recorded, and with one of everything that lock files can show."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from kit.judging import root_of, settled_alone
from kit.real_material import FACTS, lay_out

from locklens.lockfile import LockFile
from locklens.lockfile.parse import parse
from locklens.review.changes import Comparer
from locklens.review.model import Bump, ChangeKind
from locklens.review.rules.judge import judge_root

RULES = {"LK003", "LK004", "LK013", "LK015", "LK018", "LK019", "LK020", "LK021", "LK024", "LK027"}
"""The rules that the files of real changes trigger by themselves; people's mistakes and attacks have tests of their own."""


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real")
    lay_out(folder)
    return folder


def side(case: Path, name: str) -> LockFile:
    path = case / f"{name}.lock.hcl"
    return parse(path.read_bytes(), path.name) if path.exists() else LockFile.absent(path.name)


def test_where_each_change_was_recorded_is_known() -> None:
    facts = json.loads(FACTS.read_text("utf-8"))
    for case in (*facts["changes"].values(), *facts["conflicts"].values()):
        assert case["repository"].startswith("https://github.com/")
        assert len(case["commit"]) == 40
        assert case["path"].endswith(".terraform.lock.hcl")
        assert case["licence"] in {"Apache-2.0", "MIT"}


def test_every_kind_and_rule_is_in_the_table(laid: Path) -> None:
    kinds, bumps, rules = set(), set(), set()
    for case in (laid / "pairs").iterdir():
        for change in Comparer().compare(side(case, "old"), side(case, "new"), include_unchanged=True):
            kinds.add(change.kind)
            bumps.add(change.bump)
            found = settled_alone(change).findings
            rules |= {finding.rule for finding in found}
    for path in (*laid.glob("derived/*/new.lock.hcl"), *laid.glob("conflicts/*/merged*.lock.hcl")):
        rules |= {finding.rule for finding in judge_root(root_of(new=parse(path.read_bytes(), path.name)))}
    assert kinds == set(ChangeKind) - {ChangeKind.REPLACED_HASHES}, "of which no public repository has a case"
    assert {Bump.MAJOR, Bump.MINOR, Bump.PATCH} <= bumps
    assert rules == RULES


def test_what_is_rendered_is_what_was_recorded(laid: Path) -> None:
    folder = os.environ.get("LOCKLENS_SHARED_DATA")
    if not folder:
        pytest.skip("LOCKLENS_SHARED_DATA names no folder with the files themselves")
    for kind in ("pairs", "conflicts"):
        for case in (laid / kind).iterdir():
            recorded = Path(folder, kind, case.name)
            for name in {path.name for path in (*case.glob("*.hcl"), *recorded.glob("*.hcl"))}:
                assert (case / name).read_bytes() == (recorded / name).read_bytes(), f"{case.name}/{name}"
