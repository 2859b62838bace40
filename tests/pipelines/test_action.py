"""The GitHub action: its steps run in bash, with files and a server in the place of GitHub's."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pipelines.conftest import TOP, Runner, git

FOLDER = TOP / ".github" / "actions" / "review"
ACTION = (FOLDER / "action.yml").read_text("utf-8")
INPUTS = {
    "LOCKLENS_BASE": "",
    "LOCKLENS_FAIL_ON": "",
    "LOCKLENS_PROVE": "none",
    "LOCKLENS_ASK_HOSTS": "",
    "LOCKLENS_ROOTS": "",
    "LOCKLENS_SUMMARY": "true",
    "LOCKLENS_SARIF": "true",
}
REVIEW = 'bash "$GITHUB_ACTION_PATH/review.sh"'
COMMENT = 'python -I "$GITHUB_ACTION_PATH/comment.py"'


def test_the_action_interpolates_into_no_script_and_pins_what_it_uses() -> None:
    scripts = re.findall(r"^ +run: (.*)$", ACTION, re.MULTILINE)
    assert len(scripts) == 4
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


def test_a_republished_package_fails_the_job_and_the_summary_says_what_to_do(runner: Runner) -> None:
    done = runner.bash(REVIEW, **INPUTS)
    assert done.returncode == 0, done.stderr
    assert runner.outputs["status"] == "1"
    assert "LK001" in done.stdout
    assert runner.summary.startswith("<!-- locklens review -->\n## locklens: block\n")
    assert "### What to do\n" in runner.summary
    assert "ask the publisher" in runner.summary
    assert Path(runner.outputs["markdown"]).read_text() == runner.summary
    sarif = json.loads(Path(runner.outputs["sarif"]).read_text())
    assert "LK001" in {one["ruleId"] for one in sarif["runs"][0]["results"]}
    assert runner.bash('exit "$LOCKLENS_STATUS"', LOCKLENS_STATUS=runner.outputs["status"]).returncode == 1
    assert git(runner.clone, "status", "--porcelain") == ""


def test_the_inputs_count(runner: Runner) -> None:
    quiet = {"LOCKLENS_SUMMARY": "false", "LOCKLENS_SARIF": "false"}
    runner.bash(REVIEW, **INPUTS | quiet | {"LOCKLENS_FAIL_ON": "never", "LOCKLENS_ROOTS": "infra\n"})
    assert (runner.outputs["status"], runner.outputs.get("sarif"), runner.summary) == ("0", None, "")
    runner.bash(REVIEW, **INPUTS | quiet | {"LOCKLENS_BASE": "HEAD"})
    assert runner.outputs["status"] == "0"
    done = runner.bash(REVIEW, **INPUTS | quiet | {"LOCKLENS_ROOTS": "infra\nnowhere"})
    assert (done.returncode, runner.outputs["status"]) == (0, "2")
    assert "nowhere" in done.stderr
    done = runner.bash(REVIEW, **INPUTS | quiet | {"LOCKLENS_ASK_HOSTS": "a b"})
    assert "argument --ask-host: invalid host 'a b': " in done.stderr


@pytest.mark.parametrize(
    "base", ["--output=pwned", "$(touch pwned)", "`touch pwned`", "; touch pwned", "main\ntouch pwned"]
)
def test_no_input_is_run_or_taken_for_an_option(runner: Runner, base: str) -> None:
    for name in ("LOCKLENS_BASE", "LOCKLENS_ROOTS", "LOCKLENS_FAIL_ON", "LOCKLENS_ASK_HOSTS", "LOCKLENS_PROVE"):
        done = runner.bash(REVIEW, **INPUTS | {name: base})
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
    assert (done.returncode, runner.outputs) == (0, {"status": "2"})
    assert 'hint: give the action\'s input "base"' in done.stderr


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


def test_no_pull_request_no_comment(runner: Runner) -> None:
    runner.event.write_text(json.dumps({"pull_request": {"number": "7/../../x"}}))
    with serving() as server:
        assert commented(runner, server, "x")[0] == 0
        assert server.asked == []


def test_the_report_has_the_marker_that_the_comment_is_found_by() -> None:
    from locklens.review.reports.markdown import MARKER

    assert f'MARKER = "{MARKER}"' in (FOLDER / "comment.py").read_text("utf-8")
