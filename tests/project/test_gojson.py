"""JSON as Go reads it into structures; what the tools make of whole states is in tests/attacks."""

from __future__ import annotations

import pytest

from locklens.project.gojson import JsonObject, read_json


def fields(text: str | bytes, *names: str) -> dict[str, object]:
    found = read_json(text if isinstance(text, bytes) else text.encode())
    assert isinstance(found, JsonObject)
    return found.fields(frozenset(names))


@pytest.mark.parametrize(
    ("key", "is_field"),
    [
        ("resources", True),
        ("RESOURCES", True),
        ("re\u017fource\u017f", True),
        ("\\u0072esources", True),
        ("resource\u00df", False),
        ("resources ", False),
        ("resource", False),
    ],
)
def test_names_of_fields_match_in_any_case(key: str, *, is_field: bool) -> None:
    assert fields(f'{{"{key}": "x"}}', "resources") == ({"resources": "x"} if is_field else {})


def test_the_kelvin_sign_is_a_k() -> None:
    assert fields('{"bac\u212aend": true}', "backend") == {"backend": True}


def test_a_field_that_is_null_is_none() -> None:
    assert fields('{"a": null, "b": null, "b": 1}', "a") == {}


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": 1, "A": 2}', '{"a": 1, "A": null}'])
def test_a_field_that_stands_twice_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="twice"):
        fields(text, "a")


def test_names_that_are_no_fields_may_stand_twice() -> None:
    assert fields('{"a": {"x": 1, "x": 2}, "b": 1, "B": 2}', "a")["a"] == (("x", 1), ("x", 2))


def test_numbers_of_any_length_and_bad_bytes_are_read() -> None:
    assert read_json(b"1" * 6000) == float("inf")
    assert read_json(b"[4, -1, 4.0, 1e999]") == [4, -1, 4.0, float("inf")]
    assert read_json(b'"a\xffb"') == "a\ufffdb"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"NaN",
        b"[Infinity]",
        b'"\x01"',
        b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"),
        b"{} x",
        b"01",
        b"[" * 9000,
    ],
)
def test_what_is_no_json_is_an_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"JSON|nested"):
        read_json(data)
