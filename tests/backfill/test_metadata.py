"""A metadata file keeps every byte but the values that were missing."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.effort import effort

from locklens_backfill import Filling, MetadataError, has_everything, read_metadata

SHASUM = "ab" * 32
H1 = "h1:" + "A" * 43 + "="
TARGET: dict[str, Any] = {
    "os": "linux",
    "arch": "amd64",
    "filename": "x.zip",
    "download_url": "https://example.com/x.zip",
    "shasum": SHASUM,
}


def completed(text: str, size_name: str = "size") -> str:
    found = read_metadata(text.encode())
    missing = [Filling(target, H1, 7) for target in found.targets if not target.is_complete and not target.problem]
    return found.completed(missing, size_name).decode()


def of(*targets: object) -> dict[str, Any]:
    return {"versions": [{"version": "1.0.0", "targets": list(targets)}]}


@pytest.mark.parametrize("indent", [None, 0, 1, 2, 4, "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_layout_is_followed(indent: int | str | None, newline: str) -> None:
    document = {"repository": "é \u2028", **of(TARGET, {**TARGET, "os": "darwin", "x": {"h1": 1}}), "more": [1.50, 1e9]}
    text = json.dumps(document, indent=indent, ensure_ascii=False).replace("\n", newline)
    expected = json.loads(text)
    for target in expected["versions"][0]["targets"]:
        target |= {"h1": H1, "size": 7}
    # Numbers are written as they were, so the two of this document are put back.
    again = json.dumps(expected, indent=indent, ensure_ascii=False).replace("\n", newline)
    assert completed(text) == again


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('"h1":"","size":0', f'"h1":"{H1}","size":7'),
        ('"h1" : null , "size" : null', f'"h1" : "{H1}" , "size" : 7'),
        ('"size":0', f'"size":7,"h1":"{H1}"'),
        ('"h1":"h1:x"', '"h1":"h1:x","size":7'),
        ('"size":5', f'"size":5,"h1":"{H1}"'),
        ('"package_size":5', f'"package_size":5,"h1":"{H1}"'),
        ('"package_size":5,"h1":"h1:x"', '"package_size":5,"h1":"h1:x"'),
        ('"size":"5","h1":7', '"size":"5","h1":7'),
        ('"size":false', f'"size":false,"h1":"{H1}"'),
    ],
)
def test_only_what_is_missing_is_filled_in(given: str, expected: str) -> None:
    lead = json.dumps(TARGET)[:-1] + ","
    text = '{"versions":[{"targets":[%s%s}],"version":"1.0.0"}]}\n'
    assert completed(text % (lead, given)) == text % (lead, expected)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"os": ""}, 'no "os"'),
        ({"arch": 5}, 'no "arch"'),
        ({"download_url": None}, 'no "download_url"'),
        ({"shasum": SHASUM[1:]}, "64 hex digits"),
        ({"shasum": [SHASUM]}, "64 hex digits"),
        ({"os": "x" * 201}, 'no "os"'),
    ],
)
def test_a_target_that_says_too_little(change: dict[str, object], problem: str) -> None:
    text = json.dumps(of({**TARGET, **change}, TARGET), indent=2)
    first, second = read_metadata(text.encode()).targets
    assert problem in first.problem
    assert (second.problem, second.line) == ("", 1 + text[: text.rindex("{")].count("\n"))
    assert completed(text).count(H1) == 1


@pytest.mark.parametrize("odd", [None, 5, "x", [], {}])
def test_odd_targets_and_versions_are_passed_over(odd: object) -> None:
    text = json.dumps({"versions": [odd, {"targets": odd}, {"version": "1", "targets": [odd, TARGET]}]})
    found = read_metadata(text.encode())
    assert [bool(target.problem) for target in found.targets] == [True, False]
    assert completed(text).count(H1) == 1


@pytest.mark.parametrize("name", ["size", "package_size"])
def test_a_file_that_has_everything_is_known_at_a_glance(name: str) -> None:
    whole = {**TARGET, "h1": H1, name: 7}
    assert has_everything(json.dumps(of(whole, whole)).encode())
    for part in (TARGET, {**whole, "h1": ""}, {**whole, "h1": None}, {**whole, name: 0}, {**whole, name: None}):
        assert not has_everything(json.dumps(of(whole, part)).encode())
    for text in (
        b"",
        b"[]",
        b"{}",
        b'{"versions": 5}',
        b'{"versions": [5]}',
        b"[" * 100_000,
        b"\xff",
        b'{"versions": {}} x',
    ):
        assert not has_everything(text)


def test_an_upper_case_shasum_is_the_same() -> None:
    assert read_metadata(json.dumps(of({**TARGET, "shasum": SHASUM.upper()})).encode()).targets[0].shasum == SHASUM


def test_there_is_a_bound_on_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locklens_backfill.MAX_TARGETS", 3)
    assert len(read_metadata(json.dumps(of({}, {}, {})).encode()).targets) == 3
    with pytest.raises(MetadataError, match="more than 3 targets"):
        read_metadata(json.dumps(of({}, {}, {}, {})).encode())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
keys = st.sampled_from(["os", "arch", "filename", "download_url", "shasum", "h1", "size", "package_size", "z"])
targets = st.dictionaries(keys, values, max_size=9).map(lambda found: TARGET | found) | values
versions = st.fixed_dictionaries({"version": st.text(max_size=3), "targets": st.lists(targets, max_size=4)}) | values


@settings(max_examples=effort(40, 1000))
@given(st.fixed_dictionaries({"versions": st.lists(versions, max_size=4)}), st.sampled_from([None, 1, "\t"]))
def test_any_document_stays_the_same_but_for_what_was_missing(
    document: dict[str, Any], indent: int | str | None
) -> None:
    text = json.dumps(document, indent=indent)
    again = completed(text)
    assert completed(again) == again
    for one in (text, again):
        is_complete = all(target.is_complete for target in read_metadata(one.encode()).targets)
        # Odd values around may make it look closer; then it only takes longer.
        assert is_complete or not has_everything(one.encode())

    def plain(text: str) -> list[Any]:
        found = json.loads(text)["versions"]
        for version in found:
            listed = version.get("targets") if isinstance(version, dict) else None
            for target in listed if isinstance(listed, list) else []:
                if isinstance(target, dict):
                    for key in ("h1", "size", "package_size"):
                        if target.get(key) in (H1, 7, "", 0, None) and target.get(key) is not False:
                            target.pop(key, None)
        return list(found)

    assert plain(again) == plain(text)


@given(st.binary(max_size=60) | st.text('{}[]",:versiontag 0\\u', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    found = None
    with suppress(MetadataError):
        found = read_metadata(data)
    assert found is None or found.completed((), "size") == data
