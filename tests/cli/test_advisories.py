"""`advisories`: what is kept, and from where it may come; the network is a loopback server."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from kit.command_line import locklens
from kit.loopback import serving
from kit.schemas import validate

ENTRY = {
    "id": "GO-2026-0001",
    "modified": "2026-08-01T00:00:00Z",
    "summary": "A defect.",
    "affected": [{"package": {"name": "example.com/m", "ecosystem": "Go"}}],
}


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def document(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(locklens(folder, "advisories", "--format", "json")[1])
    validate(found, "advisories")
    return found


def packed() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("index/db.json", json.dumps({"modified": "2026-08-21T10:00:00Z"}))
        archive.writestr("ID/GO-2026-0001.json", json.dumps(ENTRY))
        archive.writestr("ID/GO-2026-0002.json", "{")
    return data.getvalue()


def test_nothing_is_kept_until_it_is_asked_for(tmp_path: Path) -> None:
    status, out, err = locklens(tmp_path, "advisories")
    assert (status, err) == (0, "")
    assert out.startswith("no database of advisories is kept (")
    assert "locklens advisories update" in out
    assert document(tmp_path)["database"] is None


def test_a_file_is_read_and_kept_with_its_date_and_licence(tmp_path: Path) -> None:
    (tmp_path / "vulndb.zip").write_bytes(packed())
    status, out, err = locklens(tmp_path, "advisories", "update", "vulndb.zip")
    assert (status, err) == (0, "")
    assert f"source         {tmp_path / 'vulndb.zip'}\n" in out
    assert "date           as of 2026-08-21\n" in out
    assert "skipped        1 entry that cannot be read\n               ID/GO-2026-0002.json: no JSON" in out
    assert "licence        advisories of https://vuln.go.dev are licensed under CC-BY-4.0\n" in out
    status, again, _ = locklens(tmp_path, "advisories")
    assert again == out
    kept = document(tmp_path)["database"]
    assert kept["as_of"] == "2026-08-21T10:00:00Z"
    assert (kept["entries"], kept["skipped"]["entries"]) == (1, 1)


def test_an_address_is_asked_once_and_a_failure_keeps_what_is_kept(tmp_path: Path) -> None:
    with serving() as server:
        server.gives("/db/vulndb.zip", packed())
        status, out, err = locklens(tmp_path, "advisories", "update", server.url("/db"))
        assert (status, err) == (0, "")
        assert server.paths() == ["/db/vulndb.zip"]
        assert f"source         {server.url('/db/vulndb.zip')}\n" in out
        server.gives("/broken.zip", b"PK\x03\x04")
        server.gives("/page.json", b"<html>")
        for path, words in (("/none", "404 Not Found"), ("/broken.zip", "no zip file"), ("/page.json", "no advisory")):
            status, _, err = locklens(tmp_path, "advisories", "update", server.url(path))
            assert (status, words in err) == (2, True), err
        assert locklens(tmp_path, "advisories")[1] == out


@pytest.mark.parametrize("place", ["ftp://example.com/db", "http://example.com/vulndb.zip", "file:///etc"])
def test_only_https_is_asked(tmp_path: Path, place: str) -> None:
    status, _, err = locklens(tmp_path, "advisories", "update", place)
    assert (status, "only https is asked" in err) == (2, True)


def test_a_damaged_file_is_an_error_with_the_next_step(tmp_path: Path) -> None:
    (tmp_path / "vulndb.zip").write_bytes(packed())
    assert locklens(tmp_path, "advisories", "update", "vulndb.zip")[0] == 0
    Path(document(tmp_path)["file"]).write_bytes(b"other")
    status, _, err = locklens(tmp_path, "advisories")
    assert (status, "locklens advisories update" in err) == (2, True)
