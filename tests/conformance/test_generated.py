"""Generated cases before the real tools: what they select is what our reading of the configuration says."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from conformance.case import LOCK_FILE, TERRAFORM, TOOLS, Case, Lock, Tool
from conformance.forking import Locklens
from conformance.generated import generated
from conformance.laying import Names, lay
from conformance.outcome import Outcome, Status, differences
from conformance.running import is_here, process, run_cases
from kit.effort import effort

from locklens.dialect import DIALECTS
from locklens.lockfile.parse import parse
from locklens.project.requirements import read_configuration
from locklens.project.tree import WorkTree
from locklens.versions import Constraints, Version, newest_matching

NUMBER = effort(15, 400)
CASES = [generated(seed) for seed in range(NUMBER)]


def selected(case: Case, tool: Tool, work: Path) -> dict[str, str] | None:
    """What the first turn should select, by full address; None where it should select nothing and fail."""
    names = Names(tool, 0, work)
    lay(case.files, names)
    tree = WorkTree(work)
    configuration = read_configuration(tree, "", dialect=DIALECTS[tool.name], worktree=tree)
    before = case.files.get(LOCK_FILE)
    entries = {} if "-upgrade" in case.turns[0].words or not isinstance(before, Lock) else before.entries
    locked = {names.address(entry.source): Version.parse(entry.version) for entry in entries}
    offered = {
        names.address(source): [Version.parse(str(version)) for version in versions]
        for source, versions in case.catalog.items()
    }
    found: dict[str, str] = {}
    for address in map(str, configuration.required()):
        constraints = next(configuration.constraints(one) for one in configuration.required() if str(one) == address)
        newest = _pick(offered[address], constraints, locked.get(address))
        if newest is None:
            return None
        found[address] = str(newest)
    return found


def _pick(offered: list[Version], constraints: Constraints, locked: Version | None) -> Version | None:
    return newest_matching([one for one in offered if locked in {None, one}], constraints)


def locked_by(outcome: Outcome) -> dict[str, str]:
    """The versions in a lock file afterwards."""
    entries = parse((outcome.lock or "").encode(), LOCK_FILE).entries
    return {str(entry.address): str(entry.version) for entry in entries}


@cache
def done_by(tool: Tool) -> dict[str, tuple[Outcome, ...]]:
    """What each case leads to with a tool, which is run once for all tests."""
    if not is_here(tool):
        pytest.skip(f"needs {tool.command} {tool.version} on PATH")
    return run_cases(CASES, tool, process(tool.command))


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_the_real_tools_select_what_we_would(tool: Tool, tmp_path: Path) -> None:
    found = done_by(tool)
    compared = 0
    for number, case in enumerate(CASES):
        (tmp_path / str(number)).mkdir()
        expected, outcome = selected(case, tool, tmp_path / str(number)), found[case.key][0]
        refused = "doesn't match any of the checksums previously recorded" in outcome.phrases
        if refused or "-lockfile=readonly" in case.turns[0].words:
            continue
        compared += 1
        assert (outcome.status is Status.DONE) is (expected is not None), case
        if expected is not None:
            kept = locked_by(outcome)
            assert {address: kept[address] for address in expected} == expected, case
            assert "lock" in case.turns[0].words or set(kept) == set(expected), case
    assert compared > NUMBER // 2


def test_locklens_does_what_terraform_does(locklens: Locklens) -> None:
    expected = done_by(TERRAFORM)
    found = run_cases(CASES, TERRAFORM, locklens.of(TERRAFORM))
    told = []
    for case in CASES:
        for turn, one, other in zip(case.turns, expected[case.key], found[case.key], strict=True):
            is_strict = "-lockfile=readonly" in turn.words and other.lock == one.lock and other.status is Status.FAILED
            parts = ("lock", "installed") if is_strict else ("status", "lock", "installed")
            told += differences(one, other, parts)
    assert told == []
