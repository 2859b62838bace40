"""Go's order of versions, and the database: read from what the user names, kept, and hostile."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locklens.advisories import (
    AdvisoryDatabase,
    AffectedPackage,
    VersionRange,
    go_order,
    nearest_fix,
    range_of,
    ranges_of_events,
    toolchain_version,
)
from locklens.advisories.database import (
    MAX_ENTRY_BYTES,
    database_of,
    keep_database,
    kept_database,
    read_database,
    read_database_bytes,
)
from locklens.errors import ConfigurationError

NOW = datetime(2026, 11, 23, 20, 0, tzinfo=UTC)

IN_ORDER = (
    "none",
    "v0.0.0-20190101000000-aaaaaaaaaaaa",
    "v0.0.0-20200101000000-aaaaaaaaaaaa",
    "v0.0.0",
    "v1.0.0-alpha",
    "v1.0.0-alpha.1",
    "v1.0.0-alpha.beta",
    "v1.0.0-beta.2",
    "v1.0.0-beta.11",
    "v1.0.0-rc.1",
    "v1.0.0",
    "v1.2.3-0.20200101000000-aaaaaaaaaaaa",
    "v1.2.3",
    "v1.10.0",
    "v2.0.0+incompatible",
    "v2.0.1-0.20200101000000-aaaaaaaaaaaa+incompatible",
)


def entry(name: str = "GO-2026-0001", module: str = "example.com/m", **more: Any) -> dict[str, Any]:
    specific = more.pop("specific", {})
    events = more.pop("events", [{"introduced": "0"}, {"fixed": "1.2.0"}])
    affected = {
        "package": {"name": module, "ecosystem": "Go"},
        "ranges": [{"type": "SEMVER", "events": events}],
        "ecosystem_specific": specific,
    }
    base = {"id": name, "modified": "2026-08-01T00:00:00Z", "aliases": ["CVE-2026-1"], "summary": "A defect."}
    return {**base, "affected": [affected], **more}


def written(folder: Path, *entries: dict[str, Any]) -> Path:
    (folder / "ID").mkdir(parents=True)
    for each in entries:
        (folder / "ID" / f"{each['id']}.json").write_text(json.dumps(each))
    return folder


def read(folder: Path) -> AdvisoryDatabase:
    return read_database(folder, source="here", now=NOW)


def test_versions_are_in_gos_order() -> None:
    assert sorted(set(IN_ORDER), key=go_order) == list(IN_ORDER)
    assert go_order("1.2.3") == go_order("v1.2.3") == go_order("go1.2.3") == go_order("v1.2.3+meta")
    for text in ("1.2.3.4", "v1.2.x", "1" * 300, "v1.2-rc1", "", "v1.2.3\n", "v１.2.3", "v1", "(devel)"):
        assert go_order(text) == (), text


def test_a_toolchain_is_a_version_where_go_released_it() -> None:
    words = {"go1.25.3": "1.25.3", "go1.19": "1.19.0", "go1.22rc2": "1.22.0-rc.2", "go1.21.1 X:boringcrypto": "1.21.1"}
    assert {go: toolchain_version(go) for go in words} == words
    for other in ("devel go1.26-1a2b3c", "", "go1", "go1.21-fips", "go1.21.0-custom"):
        assert toolchain_version(other) is None


def test_ranges_are_those_of_the_events_in_whatever_order() -> None:
    shuffled = [("fixed", "1.19.1"), ("introduced", "1.19.0"), ("fixed", "1.18.6"), ("introduced", "0")]
    ranges = ranges_of_events(shuffled)
    assert ranges == (VersionRange("0", "1.18.6"), VersionRange("1.19.0", "1.19.1"))
    assert range_of(ranges, "v1.18.6") is None
    assert range_of(ranges, "v1.19.0") == ranges[1]
    assert (nearest_fix(ranges, "v1.0.0"), nearest_fix(ranges, "v1.19.0")) == ("1.18.6", "1.19.1")
    assert ranges_of_events([("introduced", "0"), ("introduced", "1.1.0")]) == (VersionRange("0"),)
    assert nearest_fix((VersionRange("0"),), "v1.0.0") is None
    assert nearest_fix((VersionRange("0", "1.2.0"), VersionRange("1.1.0", "1.3.0")), "v1.0.0") == "1.3.0"
    assert range_of((), "v9.9.9") == VersionRange("0"), "without ranges every version is affected"


def test_a_folder_a_zip_file_and_a_repository_give_the_same(tmp_path: Path) -> None:
    imports = [{"path": "example.com/m/p", "symbols": ["F", "T.M"], "goos": ["windows"]}]
    entries = entry(specific={"imports": imports}), entry("GO-2026-0002", withdrawn="2026-09-01T00:00:00Z")
    served = read(written(tmp_path / "served", *entries))
    assert served.advisories[0].affected[0].packages == (
        AffectedPackage("example.com/m/p", ("F", "T.M"), ("windows",), ()),
    )
    assert (served.withdrawn, served.skipped, served.as_of) == (1, (), "2026-08-01T00:00:00Z")
    clone = tmp_path / "clone"
    written(clone / "data")
    (clone / "data" / "ID").rename(clone / "data" / "osv")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("index/db.json", json.dumps({"modified": "2026-08-02T00:00:00Z"}))
        for each in entries:
            archive.writestr(f"ID/{each['id']}.json", json.dumps(each))
            (clone / "data" / "osv" / f"{each['id']}.json").write_text(json.dumps(each))
    assert read(clone).advisories == served.advisories
    (tmp_path / "vulndb.zip").write_bytes(packed.getvalue())
    zipped = read(tmp_path / "vulndb.zip")
    assert (zipped.advisories, zipped.as_of) == (served.advisories, "2026-08-02T00:00:00Z")


def test_the_repositorys_zero_dates_are_no_dates(tmp_path: Path) -> None:
    database = read(written(tmp_path / "db", entry(modified="0001-01-01T00:00:00Z")))
    assert database.as_of is None
    assert database.date_words == "without a date of its own, read on 2026-11-23"


KEYS = {"id", "modified", "withdrawn", "aliases", "summary", "affected", "package", "name", "ecosystem", "ranges"} | {
    "type",
    "events",
    "introduced",
    "fixed",
    "ecosystem_specific",
    "imports",
    "path",
    "symbols",
    "goos",
    "custom_ranges",
}

MALFORMED: dict[str, tuple[bytes, str]] = {
    "text": (b"nonsense", "no JSON"),
    "list": (b"[]", "no JSON object"),
    "deep": (b'{"a":' + b"[" * 100_000, "no JSON"),
    "no id": (json.dumps({**entry(), "id": None}).encode(), "its id is no text"),
    "bad id": (json.dumps({**entry(), "id": "GO-1/../x"}).encode(), "its id is"),
    "event": (json.dumps(entry(events=[{"last_affected": "1.0.0"}])).encode(), "'last_affected'"),
    "two events": (json.dumps(entry(events=[{"introduced": "0", "fixed": "1.0.0"}])).encode(), "'fixed' and"),
    "version": (json.dumps(entry(events=[{"introduced": "one"}])).encode(), "no version"),
    "fixed only": (json.dumps(entry(events=[{"fixed": "1.0.0"}])).encode(), "introduced nowhere"),
    "affected": (json.dumps({**entry(), "affected": 3}).encode(), "its affected is no list"),
    "affected texts": (json.dumps({**entry(), "affected": ["x"]}).encode(), "something else than objects"),
    "module": (json.dumps(entry(module="m" * 400)).encode(), "its module is no text"),
    "symbols": (json.dumps(entry(specific={"imports": [{"path": "p", "symbols": [1]}]})).encode(), "its symbols"),
    "large": (b" " * (MAX_ENTRY_BYTES + 1), "larger than 1024 KiB"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_entry_is_named_and_skipped(tmp_path: Path, name: str) -> None:
    data, reason = MALFORMED[name]
    folder = written(tmp_path / "db", entry("GO-2026-0002"))
    (folder / "ID" / "GO-2026-0009.json").write_bytes(data)
    database = read(folder)
    assert [each.id for each in database.advisories] == ["GO-2026-0002"]
    assert database.skipped_count == 1
    assert database.skipped[0].startswith("ID/GO-2026-0009.json: ")
    assert reason in database.skipped[0]


def test_ranges_of_other_versions_that_have_no_order_are_none(tmp_path: Path) -> None:
    custom = [{"type": "ECOSYSTEM", "events": [{"introduced": "2024.1.0.7"}]}]
    database = read(written(tmp_path / "db", entry(specific={"custom_ranges": custom})))
    assert database.advisories[0].affected[0].custom_ranges is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["0", "1.2.3", "Go", "SEMVER"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(KEYS)), inner, max_size=5),
    max_leaves=25,
)


@given(st.dictionaries(st.sampled_from(sorted(KEYS)), VALUES, max_size=8))
def test_any_entry_is_read_or_named(document: dict[str, Any]) -> None:
    entries = [("ID/GO-1.json", json.dumps({"id": "GO-1", **document}).encode()), ("x", json.dumps(entry()).encode())]
    database = database_of(entries, source="here", now=NOW)
    assert len(database.advisories) + database.skipped_count + database.withdrawn in {1, 2}


@given(st.binary(max_size=200))
def test_any_bytes_are_a_database_or_an_error(data: bytes) -> None:
    for beginning in (b"", b"PK\x03\x04", b"{"):
        with pytest.raises(ConfigurationError):
            read_database_bytes(beginning + data, name="GO-1.json", source="there", now=NOW)


@pytest.mark.parametrize("data", [b"PK\x03\x04nonsense", b"PK" + bytes(1000), b"{}", b"[]", b""])
def test_what_is_no_database_is_an_error_with_a_next_step(data: bytes) -> None:
    with pytest.raises(ConfigurationError):
        read_database_bytes(data, name="GO-1.json", source="there", now=NOW)


def test_a_database_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "db", *(entry(f"GO-2026-{number:04}") for number in range(9)))
    monkeypatch.setattr("locklens.advisories.database.MAX_ADVISORIES", 5)
    with pytest.raises(ConfigurationError, match="or 5 entries"):
        read(folder)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ID/GO-2026-0001.json", json.dumps(entry()))
        archive.writestr("ID/GO-2026-0002.json", b" " * (50 * 1024 * 1024))
    database = read_database_bytes(packed.getvalue(), name="z", source="z", now=NOW)
    assert database.skipped == ("ID/GO-2026-0002.json: it is larger than 1024 KiB",)


def test_the_kept_database_is_what_was_read_or_an_error(tmp_path: Path) -> None:
    database = read(written(tmp_path / "db", entry()))
    place = tmp_path / "data" / "advisories.bin"
    assert kept_database(place) is None
    keep_database(database, place)
    assert kept_database(place) == database
    whole = place.read_bytes()
    for damaged in (whole[:-9], whole[:30] + b"x" + whole[31:], b"other\n", b""):
        place.write_bytes(damaged)
        with pytest.raises(ConfigurationError) as error:
            kept_database(place)
        assert "locklens advisories update" in error.value.hint


def test_real_entries_are_read_whole(tmp_path: Path) -> None:
    """Of golang/vulndb (licence CC-BY-4.0), as `tests/data/vulndb.json` says."""
    material = json.loads((Path(__file__).parents[1] / "data" / "vulndb.json").read_text(encoding="utf-8"))
    assert material["licence"].startswith("CC-BY-4.0")
    database = read(written(tmp_path / "db", *material["entries"]))
    assert (database.skipped_count, database.withdrawn) == (0, 2)
    assert len(database.advisories) == len(material["entries"]) - 2 == 28
    by_id = {one.id: one for one in database.advisories}
    vault, argocd = by_id["GO-2025-4152"].affected[0], by_id["GO-2026-4737"].affected[0]
    assert (vault.ranges, vault.custom_ranges) == ((VersionRange("0"),), (VersionRange("0", "5.5.0"),))
    assert argocd.custom_ranges is None
    assert argocd.ranges[0].fixed == "1.2.3-0.20260316182343-b3364f3f32e7"
    assert by_id["GO-2023-2402"].affected[0].packages[0].symbols
