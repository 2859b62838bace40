"""The suite itself: that the table is sane, the golden files are whole, and the judge sees what differs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conformance import golden
from conformance.case import HERE, LOCK_FILE, OPENTOFU, TERRAFORM, TOOLS, Case, Deviation, Lock, Theme, Tool
from conformance.cases import CASES
from conformance.generated import generated
from conformance.laying import Names, lay
from conformance.outcome import DEEDS, WORDS, Outcome, Status, differences
from conformance.running import Finished, Invocation, run_case, run_cases
from msgspec.structs import replace

from locklens.demo import h1, zh

both = pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)

BY_KEY = {case.key: case for case in CASES}


def test_every_case_has_a_name_of_its_own_and_every_theme_has_cases() -> None:
    assert [key for key, count in Counter(case.key for case in CASES).items() if count > 1] == []
    assert [case.key for case in CASES if not re.fullmatch(r"[a-z0-9-]+/[a-z0-9-]+", case.key)] == []
    assert {case.theme for case in CASES} == set(Theme)
    assert {case.deviation for case in CASES} == set(Deviation)
    assert all(case.turns and set(case.tools) <= set(TOOLS) for case in CASES)


@both
def test_no_mark_is_left_where_a_case_is_laid(tool: Tool, tmp_path: Path) -> None:
    for number, case in enumerate(CASES):
        work = tmp_path / str(number)
        work.mkdir()
        lay(case.files, Names(tool, 1, work))
        for path in work.rglob("*"):
            text = str(path) + (path.read_bytes().decode(errors="replace") if path.is_file() else "")
            assert not re.search("@[A-Z]+@", text), (case.key, path)


@both
def test_golden_files_are_whole(tool: Tool) -> None:
    recorded = golden.read(tool)
    assert (recorded.tool, recorded.version, recorded.platform) == (tool.name, tool.version, HERE)
    expected = {case.key: len(case.turns) for case in CASES if tool.name in case.tools}
    assert {key: len(outcomes) for key, outcomes in recorded.cases.items()} == expected
    assert len(expected) > 500
    text = golden.path_of(tool).read_text("utf-8")
    assert not re.search(r"127\.0\.0\.1|localhost:\d|/tmp/", text)
    assert golden.text_of(tool, recorded.cases).decode() == text


@both
def test_golden_files_are_of_the_packages_that_are_made_today(tool: Tool) -> None:
    release = f"{tool.host}/acme/demo", "1.2.3", HERE
    lock = golden.read(tool).cases["constraints/bare"][0].lock
    assert lock is not None
    assert f'"{h1(*release)}"' in lock
    assert f'"{zh(*release)}"' in lock


@both
def test_both_ends_are_recorded_of_most_themes(tool: Tool) -> None:
    seen: dict[Theme, set[Status]] = {}
    for key, outcomes in golden.read(tool).cases.items():
        seen.setdefault(BY_KEY[key].theme, set()).update(one.status for one in outcomes)
    assert {theme for theme, statuses in seen.items() if len(statuses) < 2} == {Theme.LEGACY, Theme.PLACES}
    assert all(one.lock is None or one.lock for outcomes in golden.read(tool).cases.values() for one in outcomes)


def test_a_generated_case_is_always_the_same() -> None:
    assert generated(7) == generated(7)
    assert len({repr(generated(seed)) for seed in range(50)}) == 50


def writing(text: str, status: int = 0, output: str = "") -> Callable[[Invocation], Finished]:
    """A tool that writes a lock file and one package, and says something."""

    def run(invocation: Invocation) -> Finished:
        (invocation.folder / LOCK_FILE).write_text(text)
        package = invocation.folder / f".terraform/providers/h/n/t/1.0.0/{HERE}"
        package.mkdir(parents=True, exist_ok=True)
        (package / "program").write_text("x")
        (package / "program").chmod(0o755)
        package.with_name(f"{HERE}.lock").touch()
        configuration = Path(invocation.environment["TF_CLI_CONFIG_FILE"]).read_text()
        port = re.findall(r"127.0.0.1:(\d+)/", configuration)[0]
        said = output.replace("PORT", port).replace("FOLDER", str(invocation.folder))
        return Finished(status, said)

    return run


def test_what_is_observed() -> None:
    case = replace(BY_KEY["constraints/none"], files={"main.tf": "", "gone": Lock()})
    said = (
        "\x1b[31m╷\x1b[0m\n│ \x1b[1mError: Failed: at: FOLDER/x: more\n│ connection\n│ reset by 127.0.0.1:PORT\n╵\n"
        "- Installed acme/demo v1.0.0 (signed)\n- Installing acme/demo v1.0.0...\n- m in m\n"
    )
    assert run_case(case, TERRAFORM, writing("x localhost\n", 1, said)) == (
        Outcome(
            status=Status.FAILED,
            lock="x localhost\n",
            installed={f"h/n/t/1.0.0/{HERE}": {"program": "755:2d711642b726b044"}},
            titles=("Error: Failed: at",),
            lines=("Installed acme/demo v1.0.0 (signed)",),
            phrases=("connection reset",),
        ),
    )
    crash = "panic: runtime error: index out of range\n\ngoroutine 1 [running]:\n"
    assert run_case(case, OPENTOFU, writing("", 2, crash))[0].status is Status.CRASHED
    assert run_case(case, OPENTOFU, writing("", 0, crash))[0].status is Status.DONE


def test_what_differs_is_seen() -> None:
    recorded = golden.read(TERRAFORM).cases["constraints/none"][0]
    assert differences(recorded, recorded, (*DEEDS, *WORDS)) == []
    changes: dict[str, Any] = {"status": Status.FAILED, "lock": None, "installed": {}, "titles": ("x",), "lines": ()}
    for part, other in changes.items():
        found = differences(recorded, replace(recorded, **{part: other}), (*DEEDS, *WORDS))
        assert [text.partition(":")[0] for text in found] == [part]
    crashed = replace(recorded, status=Status.CRASHED)
    assert differences(crashed, replace(recorded, status=Status.FAILED)) == []
    assert differences(crashed, recorded) != []
    assert differences(replace(recorded, status=Status.FAILED), crashed) != []


def test_a_tool_that_does_something_else_is_caught() -> None:
    chosen: list[Case] = [BY_KEY[key] for key in ("constraints/none", "locking/twice")]
    found = run_cases(chosen, TERRAFORM, writing("something else\n"))
    for case in chosen:
        told = golden.judge(case, TERRAFORM, found[case.key])
        assert len([text for text in told if "lock:" in text]) == len(case.turns)
        assert f"{case.key}, {' '.join(case.turns[0].words)}: lock:" in told[0]
