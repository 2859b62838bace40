from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from kit.repositories import put

from locklens.errors import LockLensError
from locklens.lines import FilePlace
from locklens.ui.shell.screen import editor_command, has_browser, release_page, work_tree_file

if TYPE_CHECKING:
    from pathlib import Path

    from ui.conftest import Samples


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("vim", ["BIN/vim", "+7", "FILE"]),
        ("/usr/bin/nvim -u NONE", ["/usr/bin/nvim", "-u", "NONE", "+7", "FILE"]),
        ("code --wait", ["BIN/code", "--wait", "--goto", "FILE:7"]),
        ("hx", ["BIN/hx", "FILE:7"]),
        ("'my editor' -x", ["BIN/my editor", "-x", "FILE"]),
    ],
)
def test_editors(tmp_path: Path, editors: Path, setting: str, expected: list[str]) -> None:
    file = tmp_path / "a b; rm.tf"
    command = editor_command({"EDITOR": setting}, file, 7)
    assert command == [part.replace("FILE", str(file)).replace("BIN", str(editors)) for part in expected]


@pytest.fixture
def editors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of PATH with editors, behind folders that lie in the current one, where others have their names."""
    for folder in ("bin", "checkout"):
        for name in ("vim", "code", "hx", "my editor"):
            place = tmp_path / folder / name
            place.parent.mkdir(exist_ok=True)
            place.write_text("#!/bin/sh\n")
            place.chmod(0o755)
    monkeypatch.chdir(tmp_path / "checkout")
    monkeypatch.setenv("PATH", os.pathsep.join(("", ".", str(tmp_path / "bin"))))
    return tmp_path / "bin"


def test_visual_comes_first(tmp_path: Path) -> None:
    assert editor_command({"EDITOR": "/bin/ed", "VISUAL": "/bin/vi"}, tmp_path, 1)[0] == "/bin/vi"


@pytest.mark.usefixtures("editors")
@pytest.mark.parametrize("setting", ["", "   ", "vim 'open", "nowhere", "./vim", "../checkout/vim -R"])
def test_an_editor_that_cannot_be_used(tmp_path: Path, setting: str) -> None:
    with pytest.raises(LockLensError) as caught:
        editor_command({"EDITOR": setting}, tmp_path, 1)
    assert caught.value.hint


def test_pages_of_the_two_registries_only(samples: Samples) -> None:
    assert release_page(samples.address(), "5.2.0") == "https://registry.terraform.io/providers/hashicorp/aws/5.2.0"
    tofu = samples.address(host="registry.opentofu.org")
    assert (
        release_page(tofu, "5.2.0+b/../x") == "https://search.opentofu.org/provider/hashicorp/aws/v5.2.0%2Bb%2F..%2Fx"
    )
    with pytest.raises(LockLensError, match=r"no release page known for evil\.example"):
        release_page(samples.address(host="evil.example"), "1.0.0")


def test_a_browser_needs_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert not has_browser({})
    assert has_browser({"DISPLAY": ":0"})
    monkeypatch.setattr("sys.platform", "darwin")
    assert has_browser({})
    assert not has_browser({"SSH_CONNECTION": "x"})


def test_only_files_of_the_work_tree_are_opened(samples: Samples, tmp_path: Path) -> None:
    from msgspec.structs import replace

    from locklens.review.model import SideName

    top = tmp_path / "top"
    put(top, {"main.tf": ""})
    (tmp_path / "secret").write_text("")
    review = samples.review()
    assert work_tree_file(review, top, FilePlace("main.tf", 3)) == top / "main.tf"
    for file in ("../secret", str(tmp_path / "secret"), "gone.tf"):
        with pytest.raises(LockLensError):
            work_tree_file(review, top, FilePlace(file, 1))
    with pytest.raises(LockLensError, match="work tree"):
        work_tree_file(replace(review, head=SideName("git", "v1", "a" * 40)), top, FilePlace("main.tf", 1))
    with pytest.raises(LockLensError, match="work tree"):
        work_tree_file(review, None, FilePlace("main.tf", 1))
    with pytest.raises(LockLensError, match="no line"):
        work_tree_file(review, top, None)
