"""README's recipes for pipelines: their lines, run on a clone with a republished package, fail and say what to do."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pipelines.conftest import TOP, Runner, git
from pipelines.test_action import ACTION, INPUTS, REVIEW

README = (TOP / "README.md").read_text("utf-8")
RECIPES = dict(re.findall(r"<!-- pipeline: (\w+) -->\n```\w+\n(.*?)```", README, re.DOTALL))
LINES = {
    "gitlab": r"^    - (.*)$",
    "azure": r"^      (\S.*)$",
    "atlantis": r"^        - run: (.*)$",
    "shell": r"^(.*)$",
}
SETTINGS = {
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main",
    "BASE_BRANCH_NAME": "main",
}
INSTALLS = r'(?:pip|pipx) install (?:--quiet )?"git\+https://\S+/locklens@COMMIT"'


def lines_of(name: str) -> list[str]:
    """The lines of a recipe that a shell runs, without the installation."""
    found = re.findall(LINES[name], RECIPES[name], re.MULTILINE)
    installs = [line for line in found if re.fullmatch(INSTALLS, line)]
    assert len(installs) == (name in {"gitlab", "azure"})
    return [line for line in found if line not in installs]


def run(runner: Runner, name: str) -> subprocess.CompletedProcess[str]:
    if name == "atlantis":
        runner.clone = runner.clone / "infra"  # Atlantis runs the steps of a project in its folder.
    return runner.bash("\n".join(lines_of(name)), **SETTINGS)


@pytest.mark.parametrize("name", LINES)
def test_a_recipe_fails_and_says_what_to_do(runner: Runner, name: str) -> None:
    done = run(runner, name)
    assert done.returncode == 1, done.stderr
    assert "LK001" in done.stdout
    assert "verdict: block" in done.stdout
    for report, text in {"codequality.json": "LK001", "junit.xml": "LK001", "review.md": "ask the publisher"}.items():
        assert (runner.clone / report).exists() == (report in RECIPES[name])
        if report in RECIPES[name]:
            assert text in (runner.clone / report).read_text()
    if name == "gitlab":
        assert json.loads((runner.clone / "codequality.json").read_text())
    if name in {"gitlab", "azure"}:
        suites = ElementTree.parse(runner.clone / "junit.xml").getroot()
        assert suites.findall(".//failure")


@pytest.mark.parametrize("name", LINES)
def test_a_recipe_passes_without_a_finding(runner: Runner, name: str) -> None:
    git(runner.clone, "reset", "-q", "--hard", "origin/main")
    done = run(runner, name)
    assert done.returncode == 0, done.stderr


def test_the_action_runs_as_the_readme_has_it(runner: Runner) -> None:
    recipe = RECIPES["github"]
    folder = re.search(r"uses: OWNER/locklens/(\S+)@COMMIT$", recipe, re.MULTILINE)
    assert folder is not None
    assert (TOP / folder[1] / "action.yml").read_text("utf-8") == ACTION
    given = dict(re.findall(r"([\w-]+): (\w+)", recipe.rpartition("with: {")[2]))
    for name in given:
        assert f"\n  {name}:\n    description: " in ACTION
    settings = {f"LOCKLENS_{name.upper().replace('-', '_')}": value for name, value in given.items()}
    done = runner.bash(REVIEW, **INPUTS | {key: value for key, value in settings.items() if key in INPUTS})
    assert (done.returncode, runner.outputs["status"]) == (0, "1"), done.stderr
    assert "ask the publisher" in runner.summary
    assert Path(runner.outputs["sarif"]).exists()
    assert "fetch-depth: 0" in recipe
    for used in re.findall(r"uses: (actions/.*)$", recipe, re.MULTILINE):
        assert re.fullmatch(r"[\w-]+/[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", used)


def test_the_hooks_of_the_readme_exist() -> None:
    hooks = (TOP / ".pre-commit-hooks.yaml").read_text("utf-8")
    named = re.findall(r"^      - id: (\S+)$", README, re.MULTILINE)
    assert named == ["locklens-format", "locklens-review", "locklens-lock-check"]
    assert all(f"- id: {name}\n" in hooks for name in named)
