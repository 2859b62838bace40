"""Where copied text goes: to a program of the desktop, to tmux, or to the terminal; and what the message says of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace
from ui.conftest import Running, Samples

from locklens.review.findings import Severity
from locklens.review.model import Change, Evidence
from locklens.review.reports import markdown
from locklens.review.rules.catalogue import RULES
from locklens.ui.clipboard import SENT_TO_TERMINAL, copy_by_program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs are scripts of a shell")

_KEEPS = '#!/bin/sh\necho "$0 $@" >>{log}\n/bin/cat >>{log}\nexit {status}\n'


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs, the only one of PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("sys.platform", "linux")
    return folder


def put(folder: Path, name: str, *, status: int = 0, script: str = _KEEPS) -> Path:
    log = folder.parent / f"{name}.log"
    program = folder / name
    program.write_text(script.format(log=log, status=status))
    program.chmod(0o755)
    return log


@pytest.mark.parametrize(
    ("variable", "name", "arguments"),
    [
        ("WAYLAND_DISPLAY", "wl-copy", ""),
        ("DISPLAY", "xclip", "-selection clipboard"),
        ("DISPLAY", "xsel", "--clipboard --input"),
    ],
)
def test_programs_of_the_desktop_take_the_text(programs: Path, variable: str, name: str, arguments: str) -> None:
    log = put(programs, name)
    assert copy_by_program("zh:1", {}) == ""
    assert copy_by_program("zh:1", {variable: "0"}) == f"copied with {name}"
    assert log.read_text().split("\n") == [f"{programs / name} {arguments}", "zh:1"]


def test_a_program_that_fails_or_hangs_is_not_believed(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(programs, "xclip", status=1)
    assert copy_by_program("x", {"DISPLAY": ":9"}) == ""
    monkeypatch.setattr("locklens.ui.clipboard._SECONDS", 0.2)
    put(programs, "xsel", script="#!/bin/sh\nexec /bin/sleep 600\n")
    assert copy_by_program("x", {"DISPLAY": ":9"}) == ""


def test_no_program_of_the_current_folder_is_run(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "repository"
    here.mkdir()
    log = put(here, "wl-copy")
    monkeypatch.chdir(here)
    monkeypatch.setenv("PATH", f".:{programs}:")
    assert copy_by_program("x", {"WAYLAND_DISPLAY": "0"}) == ""
    assert not log.exists()


def test_the_clipboard_of_a_machine_far_away_is_left_alone(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(programs, "pbcopy")
    monkeypatch.setattr("sys.platform", "darwin")
    assert copy_by_program("x", {}) == "copied with pbcopy"
    assert copy_by_program("x", {"SSH_CONNECTION": "1 2 3 4"}) == ""


@pytest.fixture
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A real server of tmux of its own: the program with its socket, and the variable that its panes have."""
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("tmux is not on PATH")
    socket = tmp_path_factory.mktemp("t") / "s"
    network = [program, "-S", str(socket), "-f", "/dev/null"]
    subprocess.run([*network, "new-session", "-d", "/bin/cat"], check=True)
    try:
        yield (
            str(socket),
            subprocess.run(
                [*network, "display-message", "-p", "#{socket_path},#{pid},0"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout.strip(),
        )
    finally:
        subprocess.run([*network, "kill-server"], check=False)


async def test_tmux_has_what_was_copied(
    tmux: tuple[str, str], samples: Samples, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket, variable = tmux
    monkeypatch.setenv("TMUX", variable)
    async with running(samples.full()) as on:
        await on.press("j", "y", "enter")
        assert "copied to tmux's buffer: 'registry.terraform.io/acme/demo 1.0.0" in on.text
        assert "OSC 52" not in on.text
        copied = on.app.clipboard
    shown = subprocess.run(["tmux", "-S", socket, "show-buffer"], check=True, capture_output=True, text=True).stdout
    assert shown == copied == "'registry.terraform.io/acme/demo 1.0.0 (LK003, LK005)'"


async def test_without_a_program_nothing_is_called_copied(samples: Samples, running: Running) -> None:
    async with running(samples.full()) as on:
        await on.press("j", "y", "enter")
        assert SENT_TO_TERMINAL in on.text
        assert "copied" not in on.text


def unquoted(copied: str) -> str:
    """Markdown between the lines that quote it for a shell."""
    opening, _, rest = copied.partition("\n\n")
    text, _, closing = rest.rpartition("\n\n")
    assert opening == closing == "[locklens]: '"
    return text


async def test_the_whole_review_is_copied_as_the_report_and_a_section_as_its_part(
    samples: Samples, running: Running
) -> None:
    review = samples.full()
    async with running(review, size=(140, 45)) as on:
        await on.press("g", "y")
        assert "Markdown of the whole review" in on.text
        await on.press("enter")
        assert "Markdown of the whole review" in on.text
        whole = unquoted(on.app.clipboard)
        report = markdown.render(review)
        assert whole == report.strip().replace("'", "’")
        assert MarkdownIt().render(on.app.clipboard) == MarkdownIt().render(report.replace("'", "’"))
        await on.press("y", "j", "enter")
        section = unquoted(on.app.clipboard).split("\n")
        assert section == [line for line in section if line in whole.split("\n")]
        assert "infra/prod" in section[0]


async def test_where_no_row_has_a_change_the_whole_review_is_copied(samples: Samples, running: Running) -> None:
    moved = replace(samples.root("live"), renamed_from="dev")
    for review in (samples.review(moved), samples.review()):
        async with running(review) as on:
            await on.press("G", "y")
            assert "Markdown of the whole review" in on.text
            assert unquoted(on.app.clipboard) == markdown.render(review).strip().replace("'", "’")
            assert ("- `live` (moved from `dev`)" in on.app.clipboard) == bool(review.roots)


async def test_a_section_counts_its_changes_as_their_markdown_does(samples: Samples, running: Running) -> None:
    first = samples.change("acme/one")
    changes = (first, replace(first, id="another variant"))
    roots = [samples.root(path, [change]) for path, change in zip("ab", changes, strict=True)]
    async with running(samples.review(*roots)) as on:
        await on.press("g", "y")
        assert "Markdown of its 2 changes" in on.text
        await on.press("j", "enter")
        assert unquoted(on.app.clipboard).count("\n- ") == 1, "after the one that it begins with"


async def test_a_section_without_a_change_copies_its_findings(samples: Samples, running: Running) -> None:
    own = (samples.finding("LK006", Severity.BLOCK, "a's one"), samples.finding("LK006", Severity.BLOCK, "b is"))
    async with running(samples.review(samples.root("infra", findings=own))) as on:
        await on.press("g", "y", "j", "enter")
        title = RULES["LK006"].title
        places = [f"at `{finding.place}`" for finding in own]
        assert unquoted(on.app.clipboard).split("\n") == [
            f"- **LK006 block** {title}: `a’s one`, {places[0]}",
            f"- **LK006 block** {title}: `b is`, {places[1]}",
        ]


def test_a_finding_of_one_root_is_not_said_of_all(samples: Samples) -> None:
    alone = (samples.finding("LK009", Severity.WARN), samples.finding("LK027", Severity.INFO))
    changes = [samples.change("acme/one", findings=alone), samples.change("acme/one", findings=alone[1:])]
    words = markdown.render_part([(samples.root(each), change) for each, change in zip("ab", changes, strict=True)])
    line = words.split("\n")[0]
    assert "in 2 roots" in line
    assert line.count("in 1 of 2") == 1
    assert line.index("LK009") < line.index("in 1 of 2") < line.index("LK027")


def test_what_is_not_all_known_is_copied_as_that(samples: Samples) -> None:
    known = replace(samples.change("acme/one"), evidence=Evidence())
    unknown = replace(known, evidence=Evidence(problems=("offline",)))

    def state(*changes: Change) -> str:
        words = markdown.render_part([(samples.root(str(number)), each) for number, each in enumerate(changes)])
        return words.partition("**")[2].partition("**")[0]

    assert state(known, known) == "ok"
    assert state(unknown) == "unknown"
    assert state(known, unknown) == "unknown in 1 of 2 roots"
