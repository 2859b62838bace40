"""`review --report`: several reports of one run, which say so where nothing could be reviewed; the line of what is under way."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conformance.forking import shared
from kit.git import git
from kit.repositories import commit, copy_of, put, repository

from locklens.cli import LiveLine
from locklens.cli.main import main
from locklens.errors import ConfigurationError
from locklens.operations.reports import formats_of, render_failure
from locklens.operations.review.request import is_told

LOCK = "infra/.terraform.lock.hcl"
ENTRY = 'provider "registry.example.com/acme/demo" {{\n  version = "{}"\n  hashes = [\n    "zh:{}",\n  ]\n}}\n'
NAMES = {
    "text": "a.txt",
    "json": "a.json",
    "markdown": "a.md",
    "sarif": "a.sarif",
    "junit": "a.xml",
    "codequality": "cq",
}
ALL = tuple(f"--report={form}={name}" for form, name in NAMES.items())


def with_an_edit(folder: Path) -> None:
    """The version was edited and the hash stayed: it blocks, and no registry is asked for that."""
    repository(folder, {LOCK: ENTRY.format("1.0.0", "0" * 64)})
    commit(folder, {LOCK: ENTRY.format("1.1.0", "0" * 64)})


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return copy_of(with_an_edit, tmp_path / "clone")


def review(folder: Path, *words: str) -> tuple[int, str, str]:
    done = shared().finish(("review", "--offline", *words), folder, os.environ)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


def test_one_run_writes_every_report(clone: Path) -> None:
    status, said, _ = review(clone, "HEAD~1", *ALL)
    assert (status, "verdict: block" in said) == (1, True)
    for form, name in NAMES.items():
        status, alone, _ = review(clone, "HEAD~1", "--format", form)
        written = (clone / name).read_text()
        assert status == 1
        if form == "json":
            assert json.loads(written)["roots"] == json.loads(alone)["roots"]
        else:
            assert written == alone, form


def test_a_review_without_changes_points_to_the_check_of_every_root(clone: Path) -> None:
    (clone / LOCK).write_text("broken {")
    git(clone, "commit", "-qam", "broken")
    words = "not judged: 1 root that is unchanged; `locklens health` checks every root"
    status, said, _ = review(clone)
    assert (status, said.splitlines()[-2:]) == (0, [words, "verdict: ok"])
    assert f"\n- {words.capitalize()}.\n" in review(clone, "--format", "markdown")[1]
    assert "not judged" not in review(clone, "HEAD~1")[1]


def test_reports_say_that_nothing_could_be_reviewed(clone: Path) -> None:
    for name in NAMES.values():
        (clone / name).write_text("verdict: ok\n")
    status, said, complaint = review(clone, "nowhere", *ALL)
    assert (status, said) == (2, "")
    assert "error: unknown revision 'nowhere'" in complaint
    written = {form: (clone / name).read_text() for form, name in NAMES.items()}
    assert written["text"] == complaint
    assert written["markdown"].startswith("<!-- locklens review -->\n## locklens: could not be reviewed\n")
    assert "`unknown revision 'nowhere'`" in written["markdown"]
    assert "git fetch" in written["markdown"]
    suites = ElementTree.fromstring(written["junit"])
    assert suites.get("errors") == "1"
    assert "unknown revision" in str(suites.findall(".//error")[0].get("message"))
    (issue,) = json.loads(written["codequality"])
    assert (issue["severity"], "could not be reviewed" in issue["description"]) == ("blocker", True)
    assert written["json"] == written["sarif"] == "", "nothing that a program could take for a review without findings"


def test_every_report_says_that_the_old_folder_of_a_moved_root_is_not_known(tmp_path: Path) -> None:
    """Its lock file is that of one deleted root, and may have been that of another one, whose version was higher."""
    top = tmp_path / "top"
    files: dict[str, str] = {}
    for name, version in (("dev", "1.0.0"), ("prod", "2.0.0")):
        files |= {f"{name}/.terraform.lock.hcl": ENTRY.format(version, "0" * 64), f"{name}/main.tf": "# a\n"}
        files[f"{name}/backend.hcl"] = f"# {name}\n"
    repository(top, files)
    git(top, "mv", "prod", "live")
    git(top, "rm", "-qr", "dev")
    commit(top, {"live/.terraform.lock.hcl": ENTRY.format("1.0.0", "0" * 64), "live/backend.hcl": "# live\n"})
    _, said, _ = review(top, "HEAD~1", *ALL)
    assert "live  (lock file unchanged, Terraform, moved from dev or prod)" in said
    assert "verdict: warn" in said
    for name in NAMES.values():
        written = (top / name).read_text()
        assert ("LK047" in written, "moved from dev, or from prod: " in written) == (True, True), name
    (root,) = (one for one in json.loads((top / NAMES["json"]).read_text())["roots"] if one["path"] == "live")
    assert (root["renamed_from"], root["renamed_from_unlike"]) == ("dev", ["prod"])
    git(top, "mv", "live", "prod")
    commit(top, {"prod/backend.hcl": "# prod\n"})
    assert "LK047" not in review(top, "HEAD~2")[1]


def test_every_report_names_the_old_folder_of_a_moved_root(tmp_path: Path) -> None:
    """Two equal roots were moved and upgraded; a third one was moved, and nothing else is to be said of it."""
    top = tmp_path / "top"
    required = 'terraform {\n  required_providers {\n    demo = { source = "registry.example.com/acme/demo" }\n  }\n}\n'
    files = {f"{name}/main.tf": required for name in ("one", "two")} | {"old/main.tf": f"{required}# old\n"}
    locks = {f"{name}/.terraform.lock.hcl": ENTRY.format("1.0.0", "0" * 64) for name in ("one", "two", "old")}
    repository(top, files | locks)
    for name, new in (("one", "land"), ("two", "sea"), ("old", "new")):
        git(top, "mv", name, new)
    changed = ENTRY.format("1.1.0", "1" * 64)
    commit(top, {"land/.terraform.lock.hcl": changed, "sea/.terraform.lock.hcl": changed})
    review(top, "HEAD~1", *ALL)
    written = {form: (top / name).read_text() for form, name in NAMES.items()}
    assert [written["text"].count(f"moved from {name}") for name in ("old", "one or another of 2 equal")] == [1, 1]
    listed = [f"- `{name}` (moved from `{old}`" for name, old in (("land", "one"), ("new", "old"), ("sea", "two"))]
    assert [written["markdown"].count(one) for one in listed] == [1, 1, 1]
    assert "\n  - roots: `land` (moved from `one` or another of 2 equal roots), `sea` (moved" in written["markdown"]
    for form in ("sarif", "junit", "codequality"):
        assert "; root moved from one or another of 2 equal roots" in written[form]
    quiet = ElementTree.fromstring(written["junit"]).findall("testsuite[@name='new']/testcase/system-out")
    assert [one.text for one in quiet] == ["moved from old"]
    roots = {root["path"]: root for root in json.loads(written["json"])["roots"]}
    keys = ("renamed_from", "renamed_from_equals", "renamed_from_unlike")
    assert [[roots[path][key] for key in keys] for path in ("land", "new")] == [["one", 1, []], ["old", 0, []]]


def test_a_report_that_cannot_be_written_keeps_no_other_from_telling(clone: Path) -> None:
    status, _, complaint = review(clone, "HEAD~1", "--report=markdown=no/where/a.md", "--report=junit=a.xml")
    assert status == 2
    assert "error: " in complaint
    assert "no/where/a.md" in complaint
    assert ElementTree.parse(clone / "a.xml").getroot().get("errors") == "1"


def test_a_report_is_not_written_through_a_tracked_link(clone: Path, tmp_path: Path) -> None:
    (clone / "a.md").symlink_to(tmp_path / "outside")
    for base in ("HEAD~1", "nowhere"):
        review(clone, base, "--report=markdown=a.md")
        assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("word", ["markdown", "=a.md", "pdf=a.pdf", "markdown=", "tui=a"])
def test_bad_reports(clone: Path, word: str) -> None:
    status, _, complaint = review(clone, f"--report={word}")
    assert (status, "--report" in complaint) == (2, True), complaint


def test_a_hostile_reason_stays_text() -> None:
    error = ConfigurationError("a`b </testsuites> <img src=x> @org \x1b[31m\n::error::x", path="](http://x)", hint="`")
    for form in formats_of("review"):
        text = render_failure(form, error)
        assert "\x1b" not in text
        assert "\n::error" not in text
    assert "- Reason: ``](http://x): a`b </testsuites> <img src=x> @org" in render_failure("markdown", error)
    assert len(ElementTree.fromstring(render_failure("junit", error)).findall(".//error")) == 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_downloads_of_a_provider_share_the_last_line_until_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", shown := Terminal())
    monkeypatch.setattr("locklens.cli._REDRAW_SECONDS", 0)
    line = LiveLine()
    line.show_download("acme/demo 1.0.0 linux_amd64", 0, 4_000_000)
    line.show_download("acme/demo 1.0.0 darwin_arm64", 5, None)
    line.show_download("acme/demon 1.0.0 linux_amd64", 0, None)
    assert "acme/demo 1.0.0 linux_amd64 [..........] of 3.8 MiB" in shown.getvalue()
    line.drop("acme/demo")
    shown.truncate(0)
    line.show_download("acme/demon 1.0.0 linux_amd64", 0, None)
    assert shown.getvalue().rpartition("\r")[2] == "acme/demon 1.0.0 linux_amd64 0 bytes"


def test_a_review_shows_how_many_files_it_has_read_and_removes_that_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_an_edit(tmp_path)
    for number in range(3):
        put(tmp_path / f"root{number}", {".terraform.lock.hcl": ENTRY.format("1.0.0", number)})
    monkeypatch.chdir(tmp_path)
    for words in (["review"], ["health"]):
        with monkeypatch.context() as patched:
            patched.setattr("sys.stderr", shown := Terminal())
            patched.setattr("locklens.cli._REDRAW_SECONDS", 0)
            main([*words, "--offline", "--no-cache", "--format", "text"], open_ui=lambda *_: 0)
        drawn = [line.strip() for line in shown.getvalue().split("\r")]
        count = 3 if words == ["review"] else 4
        assert f"reading configurations: {count} of {count} roots" in drawn
        assert ("reading lock files: 2 of 3 roots" in drawn) == (words == ["review"])
        assert drawn[-1] == "", drawn[-3:]
    assert "reading" not in capsys.readouterr().out


def test_of_a_thousand_roots_some_are_told() -> None:
    for total in (1, 7, 199, 200, 1_000, 10_000, 50_000):
        told = [done for done in range(1, total + 1) if is_told(done, total)]
        assert min(total, 90) <= len(told) <= 201
        assert told[-1] == total
        assert total >= 200 or len(told) == total
