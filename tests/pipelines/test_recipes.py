"""The recipes for pipelines of tui/docs: their lines, run on a clone with a republished package, fail and say what to do."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from kit.git import git
from kit.pages import PAGES, marked
from pipelines.conftest import HOST, TOP, Runner
from pipelines.test_action import ACTION, INPUTS, REVIEW

RECIPES = marked("pipeline")
LINES = {"gitlab": r"^    - (.*)$", "azure": r"^      (.*)$", "atlantis": r"^        - run: (.*)$", "shell": r"^(.*)$"}
SETTINGS = {
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main",
    "BASE_BRANCH_NAME": "main",
}
INSTALL = "locklens/.github/actions/review/install.sh"
REPORTS = {"codequality.json": "LK001", "junit.xml": "LK001", "review.md": "ask the publisher"}


def lines_of(name: str) -> list[str]:
    """The lines of a recipe that a shell runs, without the installation."""
    found = re.findall(LINES[name], RECIPES[name], re.MULTILINE)
    installing = [at for at, line in enumerate(found) if INSTALL in line]
    assert len(installing) == (name in {"gitlab", "azure"})
    return found[installing[0] + 1 :] if installing else found


def run(runner: Runner, name: str) -> subprocess.CompletedProcess[str]:
    if name == "atlantis":
        runner.clone = runner.clone / "infra"  # Atlantis runs the steps of a project in its folder.
    places = {"AGENT_TEMPDIRECTORY": str(runner.temp), "BUILD_SOURCESDIRECTORY": str(runner.clone)}
    return runner.bash("\n".join(lines_of(name)), **places, **SETTINGS)


def reports_of(runner: Runner, name: str) -> dict[str, Path]:
    """The files that a recipe hands to the forge, of a run that is over."""
    folder = runner.temp if name == "azure" else runner.clone
    return {report: folder / report for report in REPORTS if report in RECIPES[name]}


@pytest.mark.parametrize("name", LINES)
def test_a_recipe_fails_and_says_what_to_do(runner: Runner, name: str) -> None:
    done = run(runner, name)
    assert done.returncode == 1, done.stderr
    assert "LK001" in done.stdout
    assert "verdict: block" in done.stdout
    reports = reports_of(runner, name)
    assert bool(reports) == (name in {"gitlab", "azure"})
    for report, path in reports.items():
        assert REPORTS[report] in path.read_text()
    if name == "gitlab":
        assert json.loads(reports["codequality.json"].read_text())
    if name in {"gitlab", "azure"}:
        suites = ElementTree.parse(reports["junit.xml"]).getroot()
        assert suites.findall(".//failure")


@pytest.mark.parametrize("name", LINES)
def test_a_recipe_passes_without_a_finding(runner: Runner, name: str) -> None:
    git(runner.clone, "reset", "-q", "--hard", "origin/main")
    done = run(runner, name)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", LINES)
def test_a_tag_named_like_the_base_passes_nothing(runner: Runner, name: str) -> None:
    """Whoever may push a tag would otherwise choose the base: their own branch, which differs from itself in nothing."""
    remote = runner.folder / "remote.git"
    git(runner.folder, "clone", "-q", "--bare", git(runner.clone, "remote", "get-url", "origin"), str(remote))
    git(runner.clone, "remote", "set-url", "origin", str(remote))
    git(runner.clone, "push", "-q", "origin", "HEAD:refs/tags/main", "HEAD:refs/tags/origin/main")
    for tag in ("main", "origin/main", "refs/heads/main", "FETCH_HEAD"):
        git(runner.clone, "update-ref", f"refs/tags/{tag}", "HEAD")
    done = run(runner, name)
    assert (done.returncode, "LK001" in done.stdout) == (1, True), done.stdout + done.stderr


@pytest.mark.parametrize("name", LINES)
def test_what_could_not_be_checked_does_not_pass(runner: Runner, name: str) -> None:
    runner.environment["TF_CLI_CONFIG_FILE"] = str(runner.folder / "silent.tfrc")
    service = '{ "providers.v1" = "http://127.0.0.1:9/" }'
    (runner.folder / "silent.tfrc").write_text(f'host "{HOST}" {{\n  services = {service}\n}}\n')
    done = run(runner, name)
    assert (done.returncode, "LK003" in done.stdout) == (1, True), done.stdout + done.stderr


@pytest.mark.parametrize("name", LINES)
def test_a_recipe_that_cannot_review_leaves_nothing_good(runner: Runner, name: str) -> None:
    for path in reports_of(runner, name).values():
        path.write_text("verdict: ok\n")
    git(runner.clone, "update-ref", "-d", "refs/remotes/origin/main")
    (runner.clone / "locklens.toml").write_text("nonsense\n")
    git(runner.clone, "add", "-A")
    git(
        runner.clone,
        "-c",
        "user.name=n",
        "-c",
        "user.email=n@example.com",
        "commit",
        "-qm",
        "the base's policy cannot be read",
    )
    remote = runner.folder / "remote.git"
    git(runner.folder, "clone", "-q", "--bare", git(runner.clone, "remote", "get-url", "origin"), str(remote))
    git(runner.clone, "remote", "set-url", "origin", str(remote))
    git(runner.clone, "push", "-q", "-f", "origin", "HEAD:refs/heads/main")
    done = run(runner, name)
    assert done.returncode == 2, done.stdout + done.stderr
    for path in reports_of(runner, name).values():
        assert "could not be reviewed" in path.read_text()
    assert ("task.uploadsummary" in done.stdout) == (name == "azure")


def test_a_run_of_no_pull_request_is_said(runner: Runner) -> None:
    done = runner.bash("\n".join(lines_of("azure")), AGENT_TEMPDIRECTORY=str(runner.temp))
    assert done.returncode != 0
    assert "SYSTEM_PULLREQUEST_TARGETBRANCH: this run is not of a pull request" in done.stderr
    assert "\ntrigger: none\n" in "\n" + RECIPES["azure"]


def test_every_recipe_is_strict() -> None:
    for name, recipe in RECIPES.items():
        assert ("fail-on: warn" if name == "github" else "--fail-on warn") in recipe, name
        assert "pip" not in recipe, "libraries are installed by install.sh alone, from the lock"
        assert recipe.count("origin/") == recipe.count("refs/remotes/origin/"), name
        fetched = re.findall(r"git fetch --quiet origin \"?(\S+)", recipe)
        assert all(one.startswith("refs/heads/") for one in fetched), name


def test_the_action_runs_as_the_page_has_it(runner: Runner) -> None:
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
    assert "ask the publisher" in Path(runner.outputs["markdown"]).read_text()
    assert Path(runner.outputs["sarif"]).exists()
    assert "fetch-depth: 0" in recipe
    for used in re.findall(r"uses: (actions/.*)$", recipe, re.MULTILINE):
        assert re.fullmatch(r"[\w-]+/[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", used)


def test_the_hooks_of_the_page_exist() -> None:
    hooks = (TOP / ".pre-commit-hooks.yaml").read_text("utf-8")
    named = re.findall(r"^      - id: (\S+)$", "\n".join(PAGES.values()), re.MULTILINE)
    assert named == ["locklens-format", "locklens-review", "locklens-lock-check"]
    assert all(f"- id: {name}\n" in hooks for name in named)
