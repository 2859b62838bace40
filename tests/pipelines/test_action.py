"""The GitHub action: its steps run in bash, with files and a server in the place of GitHub's."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from kit.effort import DIAGONAL, some
from kit.git import git
from pipelines.conftest import PROGRAM, TOP, Runner

FOLDER = TOP / ".github" / "actions" / "review"
ACTION = (FOLDER / "action.yml").read_text("utf-8")
INPUTS = {
    "LOCKLENS_BASE": "",
    "LOCKLENS_FAIL_ON": "",
    "LOCKLENS_PROVE": "none",
    "LOCKLENS_ASK_HOSTS": "",
    "LOCKLENS_ROOTS": "",
    "LOCKLENS_SARIF": "true",
}
REVIEW = 'bash "$GITHUB_ACTION_PATH/review.sh"'
SUMMARY = 'cat "${LOCKLENS_MARKDOWN:-$GITHUB_ACTION_PATH/unreviewed.md}" >> "$GITHUB_STEP_SUMMARY"'
COMMENT = '"${LOCKLENS_PYTHON:-python3}" -I "$GITHUB_ACTION_PATH/comment.py"'


def test_the_action_interpolates_into_no_script_and_pins_what_it_uses() -> None:
    scripts = re.findall(r"^ +run: (.*)$", ACTION, re.MULTILINE)
    assert len(scripts) == 5
    assert {REVIEW, SUMMARY} < set(scripts)
    assert not [script for script in scripts if "${{" in script or script in {"|", ">"}]
    for used in re.findall(r"^ *(?:- )?uses: (.*)$", ACTION, re.MULTILINE):
        assert re.fullmatch(r"[\w-]+/[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", used)
    assert set(INPUTS) <= set(re.findall(r"^ +(LOCKLENS_\w+): \$\{\{ inputs\.", ACTION, re.MULTILINE))
    for name in re.findall(r"GITHUB_ACTION_PATH/([\w.]+)", ACTION):
        assert (FOLDER / name).is_file()
    for one in re.findall(r"^  ([\w-]+):\n    description: ", ACTION.partition("\noutputs:")[0], re.MULTILINE):
        assert f"inputs.{one}" in ACTION, "an input that nothing reads"


def test_the_locked_libraries_are_those_of_the_tests() -> None:
    def versions(path: Path) -> dict[str, str]:
        return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", path.read_text("utf-8"), re.MULTILINE))

    own, tested = versions(FOLDER / "requirements.txt"), versions(TOP / "tests" / "requirements.txt")
    assert own.items() <= tested.items()
    declared = re.findall(
        r'^  "([\w-]+)', (TOP / "pyproject.toml").read_text().partition("dependencies = [")[2], re.MULTILINE
    )
    runtime = declared[: declared.index("editables")]
    assert set(runtime) <= own.keys()
    assert "hatchling" in own


def test_a_republished_package_fails_the_job_and_the_report_says_what_to_do(runner: Runner) -> None:
    done = runner.bash(REVIEW, **INPUTS)
    assert done.returncode == 0, done.stderr
    assert runner.outputs["status"] == "1"
    assert "LK001" in done.stdout
    report = Path(runner.outputs["markdown"]).read_text()
    assert report.startswith("<!-- locklens review -->\n## locklens: block\n")
    assert "### What to do\n" in report
    assert "ask the publisher" in report
    runner.bash(SUMMARY, LOCKLENS_MARKDOWN=runner.outputs["markdown"])
    assert runner.summary == report
    sarif = json.loads(Path(runner.outputs["sarif"]).read_text())
    assert "LK001" in {one["ruleId"] for one in sarif["runs"][0]["results"]}
    assert runner.bash('exit "$LOCKLENS_STATUS"', LOCKLENS_STATUS=runner.outputs["status"]).returncode == 1
    assert git(runner.clone, "status", "--porcelain") == ""


def test_the_inputs_count(runner: Runner) -> None:
    quiet = {"LOCKLENS_SARIF": "false"}
    runner.bash(REVIEW, **INPUTS | quiet | {"LOCKLENS_FAIL_ON": "never", "LOCKLENS_ROOTS": "infra\n"})
    assert (runner.outputs["status"], runner.outputs.get("sarif")) == ("0", None)
    runner.bash(REVIEW, **INPUTS | quiet | {"LOCKLENS_BASE": "HEAD"})
    assert runner.outputs["status"] == "0"
    done = runner.bash(REVIEW, **INPUTS | quiet | {"LOCKLENS_ROOTS": "infra\nnowhere"})
    assert (done.returncode, runner.outputs["status"]) == (0, "2")
    assert "nowhere" in done.stderr
    done = runner.bash(REVIEW, **INPUTS | quiet | {"LOCKLENS_ASK_HOSTS": "a b"})
    assert "argument --ask-host: invalid host 'a b': " in done.stderr


def test_no_input_is_run_or_taken_for_an_option(runner: Runner) -> None:
    texts = "--output=pwned", "$(touch pwned)`touch pwned`; touch pwned", "main\ntouch pwned"
    names = "LOCKLENS_BASE", "LOCKLENS_ROOTS", "LOCKLENS_FAIL_ON", "LOCKLENS_ASK_HOSTS", "LOCKLENS_PROVE"
    for text, name in some(product(texts, names), 2):  # a sample has each name and each text
        done = runner.bash(REVIEW, **INPUTS | {name: text})
        assert (done.returncode, runner.outputs["status"]) == (0, "2"), name
        assert "error: " in done.stderr
    assert git(runner.clone, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("event", "branch", "base"),
    [
        ({}, "main", "refs/remotes/origin/main"),
        ({"pull_request": {"base": {"sha": "1" * 40}}}, "gone", "1" * 40),
        ({"pull_request": {"base": {"sha": "--output=x"}}}, "", ""),
        ({"merge_group": {"base_sha": "2" * 40}}, "", "2" * 40),
        ({"before": "3" * 40}, "", "3" * 40),
        ({"before": "0" * 40}, "", ""),
        ({"before": None, "pull_request": None}, "", ""),
    ],
)
def test_the_base_of_each_event(runner: Runner, event: dict[str, Any], branch: str, base: str) -> None:
    runner.event.write_text(json.dumps(event))
    done = runner.bash('python -I "$GITHUB_ACTION_PATH/base.py"', GITHUB_BASE_REF=branch)
    assert (done.returncode, done.stdout) == (0, base), done.stderr


def test_an_event_without_a_base_is_said(runner: Runner) -> None:
    runner.event.write_text("{}")
    done = runner.bash(REVIEW, **INPUTS | {"GITHUB_BASE_REF": ""})
    assert (done.returncode, runner.outputs["status"], runner.outputs.get("sarif")) == (0, "2", None)
    assert 'hint: give the action\'s input "base"' in done.stderr


def test_the_review_is_made_once(runner: Runner) -> None:
    program = runner.temp / "locklens" / "bin" / "locklens"
    program.unlink()
    program.write_text(f'#!/bin/sh\necho run >> "{runner.folder}/runs"\nexec "{PROGRAM}" "$@"\n')
    program.chmod(0o755)
    runner.bash(REVIEW, **INPUTS)
    assert (runner.outputs["status"], (runner.folder / "runs").read_text()) == ("1", "run\n")
    assert Path(runner.outputs["sarif"]).exists()


def test_two_reviews_of_one_job_keep_their_reports(runner: Runner) -> None:
    runner.bash(REVIEW, **INPUTS)
    first = dict(runner.outputs)
    runner.bash(REVIEW, **INPUTS | {"LOCKLENS_BASE": "HEAD"})
    assert "## locklens: ok" in Path(runner.outputs["markdown"]).read_text()
    assert "## locklens: block" in Path(first["markdown"]).read_text()


@pytest.mark.parametrize("program", ["git", "dirname", "locklens"])
def test_no_program_of_the_checkout_is_run(runner: Runner, program: str) -> None:
    """Windows looks into the current folder before PATH, and so does a PATH with an empty entry."""
    planted = runner.clone / program
    planted.write_text(f"#!/bin/sh\ntouch {runner.folder}/ran\n")
    planted.chmod(0o755)
    # As on Windows, for what Python starts; bash itself looks at PATH alone there.
    inner = f'PATH=":$PATH" "{sys.executable}" -I "$GITHUB_ACTION_PATH/base.py"'
    assert runner.bash(inner).stdout == "refs/remotes/origin/main"
    assert not (runner.folder / "ran").exists()
    assert not re.search(r"subprocess|os\.system", (FOLDER / "base.py").read_text("utf-8"))


# Nothing could be reviewed


class Job:
    """The steps of the action in their order, each under its condition, as the runner takes them."""

    STEPS = re.findall(
        r"^    - name: (.*)\n(?:      (?:id|shell): .*\n)*(?:      if: (.*)\n)?((?:      .*\n)*)", ACTION, re.MULTILINE
    )

    def __init__(self, runner: Runner, server: GitHub, **replaced: str) -> None:
        self.ran: list[str] = []
        is_failed = False
        address = f"http://127.0.0.1:{server.server_address[1]}"
        for name, condition, rest in self.STEPS:
            if "uses:" in rest or (is_failed and "!cancelled()" not in condition):
                continue
            run = re.search(r"^ +run: '?(.*?)'?$", rest, re.MULTILINE)
            assert run is not None
            outputs = runner.outputs
            settings = INPUTS | {
                "LOCKLENS_PYTHON": sys.executable,
                "LOCKLENS_MARKDOWN": outputs.get("markdown", ""),
                "LOCKLENS_STATUS": outputs.get("status", ""),
                "LOCKLENS_NAME": "",
                "LOCKLENS_TOKEN": "secret-token",
                "GITHUB_API_URL": address,
            }
            done = runner.bash(replaced.get(name, run[1]), **settings | {k: v for k, v in replaced.items() if "_" in k})
            self.ran.append(name)
            is_failed = is_failed or done.returncode != 0
        self.is_failed = is_failed


@pytest.mark.parametrize(
    ("replaced", "words"),
    [
        pytest.param({"Install": "exit 1"}, "the log of the job says why", id="locklens cannot be installed"),
        pytest.param({"LOCKLENS_ASK_HOSTS": "a b"}, "the log of the job says why", id="an input is wrong"),
        pytest.param({"GITHUB_EVENT_PATH": "/no_where"}, "the log of the job says why", id="the event is gone"),
        pytest.param({"LOCKLENS_BASE": "1" * 40}, "- Reason: `unknown revision", id="the base was not fetched"),
        pytest.param({"LOCKLENS_ROOTS": "nowhere"}, "nowhere", id="a root is gone"),
    ],
)
def test_what_could_not_be_reviewed_leaves_no_older_verdict(
    runner: Runner, replaced: dict[str, str], words: str
) -> None:
    replaced = {"Install locklens" if name == "Install" else name: text for name, text in replaced.items()}
    if "GITHUB_EVENT_PATH" in replaced:
        replaced["GITHUB_BASE_REF"] = ""
        replaced["Comment"] = f"GITHUB_EVENT_PATH={runner.event} {COMMENT}"
    with serving() as server:
        server.comments.append({"id": 0, "user": {"type": "Bot"}, "body": "<!-- locklens review -->\n## locklens: ok"})
        job = Job(runner, server, **({"Install locklens": "true"} | replaced))
        (comment,) = server.comments
    assert job.is_failed
    assert job.ran[-2:] == ["Comment", "Verdict"] or job.ran[-1] == "Comment"
    for text in (comment["body"], runner.summary):
        assert text.startswith("<!-- locklens review -->\n## locklens: could not be reviewed\n")
        assert words in text
        assert "ok" not in text
    assert runner.outputs.get("sarif") is None


def test_the_steps_of_a_review(runner: Runner) -> None:
    with serving() as server:
        job = Job(runner, server, **{"Install locklens": "true"})
        assert (job.ran, job.is_failed) == (["Install locklens", "Review", "Summary", "Comment", "Verdict"], True)
        assert server.comments[0]["body"] == runner.summary
        assert runner.summary.startswith("<!-- locklens review -->\n## locklens: block\n")


def test_the_installation_is_locked(runner: Runner, tmp_path: Path) -> None:
    calls, made = tmp_path / "calls", tmp_path / "made"
    pip = tmp_path / "python"
    pip.write_text(
        '#!/bin/sh\nif [ "$3" = venv ]; then mkdir -p "$4/bin"; cp "$0" "$4/bin/python"; ln -s /bin/true "$4/bin/locklens"\n'
        f'else echo "$PWD: $*" >> "{calls}"; fi\n'
    )
    pip.chmod(0o755)
    (runner.clone / "pip").mkdir()
    done = runner.bash(f'bash "$GITHUB_ACTION_PATH/install.sh" "{made}"', LOCKLENS_PYTHON=str(pip))
    assert done.returncode == 0, done.stderr
    libraries, own = calls.read_text().splitlines()
    assert libraries.startswith(f"{made}: -I -m pip install ")
    assert libraries.endswith(f" --require-hashes --requirement {FOLDER}/requirements.txt")
    assert own.startswith(f"{made}: -I -m pip install ")
    assert own.endswith(f" --no-deps --no-build-isolation {TOP}")
    assert runner.bash('bash "$GITHUB_ACTION_PATH/install.sh"').returncode == 1, "no folder is guessed"


def test_a_checkout_of_the_base_is_no_review_of_the_pull_request(runner: Runner) -> None:
    event = json.loads(runner.event.read_text())
    git(runner.clone, "checkout", "-q", "--detach", "origin/main")
    for given in ("", "refs/remotes/origin/main"):
        done = runner.bash(REVIEW, **INPUTS | {"LOCKLENS_BASE": given})
        assert (done.returncode, runner.outputs["status"], runner.outputs.get("sarif")) == (0, "2", None)
        assert "## locklens: could not be reviewed\n" in Path(runner.outputs["markdown"]).read_text()
        assert f"does not contain the pull request's head '{runner.republished}'" in done.stderr
        assert "hint: give actions/checkout fetch-depth: 0, and with pull_request_target" in done.stderr
    for head in ({}, None, {"sha": ""}, {"sha": "f" * 40}, {"sha": "--all"}, {"sha": "HEAD^"}):
        runner.event.write_text(json.dumps(event | {"pull_request": {"number": 7, "head": head}}))
        runner.bash(REVIEW, **INPUTS)
        assert (runner.outputs["status"], runner.outputs.get("sarif")) == ("2", None), head


def test_the_merge_of_a_pull_request_contains_its_head(runner: Runner) -> None:
    git(runner.clone, "checkout", "-q", "--detach", "origin/main")
    git(
        runner.clone,
        "-c",
        "user.name=Ann",
        "-c",
        "user.email=ann@example.com",
        "merge",
        "-q",
        "--no-ff",
        "--no-edit",
        runner.republished,
    )
    assert runner.bash(REVIEW, **INPUTS).returncode == 0
    assert runner.outputs["status"] == "1"


def test_a_push_and_a_merge_queue_ask_for_no_pull_request(runner: Runner) -> None:
    base = git(runner.clone, "rev-parse", "origin/main")
    for event in ({"before": base}, {"merge_group": {"base_sha": base}}, {"before": base, "pull_request": None}):
        (runner.folder / "output").write_text("")
        runner.event.write_text(json.dumps(event))
        runner.bash(REVIEW, **INPUTS | {"GITHUB_BASE_REF": "", "LOCKLENS_SARIF": "false"})
        assert runner.outputs["status"] == "1", event


# The comment


class GitHub(ThreadingHTTPServer):
    """The four requests about comments; what is asked for is kept."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.comments: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str, str]] = []
        self.refuses: dict[str, int] = {}


class Handler(BaseHTTPRequestHandler):
    server: GitHub

    def answer(self) -> None:
        self.server.asked.append((self.command, self.path, self.headers["Authorization"]))
        sent = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
        status, document = self.server.refuses.get(self.command, 200), None
        if status == 200 and self.command == "GET":
            page = int(self.path.rpartition("page=")[2])
            document = self.server.comments[(page - 1) * 100 : page * 100]
        elif status == 200 and self.command == "POST":
            self.server.comments.append({"id": len(self.server.comments), "user": {"type": "Bot"}, **sent})
        elif status == 200:
            self.server.comments[int(self.path.rpartition("/")[2])].update(sent)
        body = json.dumps(document or []).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = answer  # noqa: N815 - the library's names

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[GitHub]:
    server = GitHub()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def commented(runner: Runner, server: GitHub, text: str) -> tuple[int, str]:
    report = runner.temp / "report.md"
    report.write_text(f"<!-- locklens review -->\n{text}\n")
    address = f"http://127.0.0.1:{server.server_address[1]}"
    done = runner.bash(COMMENT, GITHUB_API_URL=address, LOCKLENS_MARKDOWN=str(report), LOCKLENS_TOKEN="secret-token")
    assert "secret-token" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_one_comment_is_kept_up_to_date(runner: Runner) -> None:
    with serving() as server:
        people = [{"id": at, "user": {"type": "User"}, "body": f"<!-- locklens review -->\n{at}"} for at in range(150)]
        server.comments += people
        assert commented(runner, server, "first")[0] == 0
        assert commented(runner, server, "second ${{ x }} `id`")[0] == 0
        assert [one["body"] for one in server.comments[:150]] == [one["body"] for one in people]
        bodies = [one["body"] for one in server.comments[150:]]
        assert bodies == ["<!-- locklens review -->\nsecond ${{ x }} `id`\n"]
        methods = [(method, path) for method, path, _ in server.asked]
        assert methods[-1] == ("PATCH", "/repos/acme/infra/issues/comments/150")
        assert ("POST", "/repos/acme/infra/issues/7/comments") in methods
        assert {token for _, _, token in server.asked} == {"Bearer secret-token"}


@DIAGONAL
@pytest.mark.parametrize(("status", "ends"), [(403, 0), (404, 0), (401, 0), (500, 1)])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_comment_that_may_not_be_written(runner: Runner, method: str, status: int, ends: int) -> None:
    with serving() as server:
        server.refuses[method] = status
        returned, said = commented(runner, server, "x")
    assert (returned, f"HTTP {status}" in said) == (ends, True)
    assert ("pull-requests: write" in said) == (ends == 0)


def test_another_apps_comment_is_left(runner: Runner) -> None:
    with serving() as server:
        server.comments.append({"id": 0, "user": {"type": "Bot"}, "body": "<!-- locklens review -->\nother"})
        server.refuses["PATCH"] = 403
        assert commented(runner, server, "x")[0] == 0
        assert len(server.comments) == 2


def test_each_name_keeps_a_comment_of_its_own(runner: Runner) -> None:
    with serving() as server:
        for name in ("", "prod", "prod/eu", ""):
            runner.environment["LOCKLENS_NAME"] = name
            assert commented(runner, server, f"of {name}")[0] == 0
        first = [one["body"].splitlines() for one in server.comments]
        assert first == [
            ["<!-- locklens review -->", "of "],
            ["<!-- locklens review: prod -->", "of prod"],
            ["<!-- locklens review: prod/eu -->", "of prod/eu"],
        ]
        for bad in ("-->", "a\nb", "x" * 101, "é"):
            runner.environment["LOCKLENS_NAME"] = bad
            returned, said = commented(runner, server, "x")
            assert (returned, "input name" in said) == (1, True)
        assert len(server.comments) == 3
    assert "format('locklens-{0}', inputs.name)" in ACTION


def test_no_pull_request_no_comment(runner: Runner) -> None:
    runner.event.write_text(json.dumps({"pull_request": {"number": "7/../../x"}}))
    with serving() as server:
        assert commented(runner, server, "x")[0] == 0
        assert server.asked == []


def test_the_report_has_the_marker_that_the_comment_is_found_by() -> None:
    from locklens.review.reports.markdown import MARKER

    assert f'MARKER = "{MARKER}"' in (FOLDER / "comment.py").read_text("utf-8")
