"""What stands for the content of files that no rule reads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from locklens.project import folders as module
from locklens.project.folders import content_ids
from locklens.project.tree import EmptyTree, WorkTree


def test_what_is_no_file_has_an_id_too_and_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "file").write_bytes(b"nowhere")
    names = ["folder", "link", "link/below", "file", "absent", "file/below"]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        names.append("pipe")
    found = content_ids(WorkTree(tmp_path), names)
    assert list(found) == names
    assert found["link"] == found["link/below"] == "link nowhere"
    assert found["absent"].startswith("unknown: ")
    assert len(found["file"]) == 64
    os.utime(tmp_path / "folder", ns=(1, 1))
    assert content_ids(WorkTree(tmp_path), ["folder"])["folder"] != found["folder"]
    assert len({one for name, one in found.items() if name != "link/below"}) >= len(names) - 2
    assert content_ids(EmptyTree(), ["file"]) == {"file": ""}


def test_beyond_the_bound_each_checkout_is_another_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Size and time stand for bytes that are not read, so that no finding about them is taken for one of before."""
    monkeypatch.setattr(module, "_MAX_BYTES", 10)
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"8 bytes.")
    before = content_ids(WorkTree(tmp_path), ["a", "b"])
    assert (len(before["a"]), before["b"].startswith("8 bytes of ")) == (64, True)
    os.utime(tmp_path / "b", ns=(1, 1))
    after = content_ids(WorkTree(tmp_path), ["a", "b"])
    assert (after["a"] == before["a"], after["b"] == before["b"]) == (True, False)
