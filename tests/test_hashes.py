"""The hash schemes against digests that the real tools computed."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import warnings
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest
from kit.repositories import put

from locklens import hashes

BINARY = "terraform-provider-demo_v1.0.0"

FOLDERS = {
    "one file": ({BINARY: "hello\n"}, "h1:BL7/qz3RbmG4bnAyiyR9tHZIq34F/e33neA6Snvhoo4="),
    "two files": (
        {BINARY: "#!/bin/sh\nexit 0\n", "LICENSE.txt": "MIT\n"},
        "h1:OD0hH+Aa7+zESI1AF9jPztiw3a3XLo36v8E8E+XTMDQ=",
    ),
    "bytewise order": (
        {"z.txt": "z", "Z.txt": "Z", "a/b.txt": "ab", "a.txt": "a", BINARY: "x"},
        "h1:HI5oQVOypGiLAcbsjK/6R3GCsnEPjbTCTNuWnyWC358=",
    ),
    "nested": ({"docs/README.md": "# hi\n", BINARY: "hello\n"}, "h1:kvriplo/atZScILxgUIuMnYkAFnZTcSvchKSFZh6qjU="),
    "empty file": ({BINARY: "hello\n", "empty": ""}, "h1:E1SGrjhFvC7Ky9S4GBWKG17VaqwcdNV+jX2XP2zCMrc="),
    "the last of two duplicates": ({BINARY: "two\n"}, "h1:y7K9UkBD7VW/rfVIXFplaqaFMB1RGEpgqvsOptX4qQ4="),
    "nothing": ({}, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
}

ONE_FILE_ZIP = base64.b64decode(
    "UEsDBBQAAAAAAAAAIVggMDo2BgAAAAYAAAAeAAAAdGVycmFmb3JtLXByb3ZpZGVyLWRlbW9fdjEuMC4waGVsbG8KUEsBAhQDFAAAAAAAAAAhWCAw"
    "OjYGAAAABgAAAB4AAAAAAAAAAAAAAO2BAAAAAHRlcnJhZm9ybS1wcm92aWRlci1kZW1vX3YxLjAuMFBLBQYAAAAAAQABAEwAAABCAAAAAAA="
)


def lay(folder: Path, contents: dict[str, str]) -> Path:
    put(folder, contents)
    return folder


def packed(*entries: tuple[str, str]) -> zipfile.ZipFile:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, text in entries:
            archive.writestr(name, text)
    return zipfile.ZipFile(buffer)


def test_a_line_feed_in_a_name_cannot_be_hashed() -> None:
    with pytest.raises(ValueError, match="line feed"):
        hashes.h1_of_digests([(b"a\nb", "0" * 64)])


@pytest.mark.parametrize(
    ("text", "scheme", "known", "well_formed"),
    [
        ("zh:" + "0" * 64, "zh", True, True),
        ("zh:" + "A" * 64, "zh", True, False),
        ("zh:00", "zh", True, False),
        ("h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "h1", True, True),
        ("h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuF==", "h1", True, False),
        ("h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=", "h1", True, False),
        ("h9:x", "h9", False, False),
        ("zh:" + "0" * 64 + "\n", "zh", True, False),
        ("abc", "", False, False),
    ],
)
def test_what_can_match(text: str, scheme: str, known: bool, well_formed: bool) -> None:
    assert hashes.scheme_of(text) == scheme
    assert hashes.is_known_scheme(text) is known
    assert hashes.is_well_formed(text) is well_formed


def test_each_known_manifest_is_the_digest_of_its_text() -> None:
    texts = json.loads((files("locklens") / "registry_manifests.json").read_text("utf-8"))
    assert {"zh:" + hashlib.sha256(text.encode()).hexdigest() for text in texts.values()} == hashes.registry_manifests()
    assert all(json.loads(text)["metadata"]["protocol_versions"] for text in texts.values())


def test_hashes_are_counted_by_the_schemes_that_the_tools_know() -> None:
    odd = ["h9:x", "\x1b[2J\nverdict:1", "no hash"]
    assert hashes.count_by_scheme(["zh:1", "h1:1", "zh:2"]) == "2 zh and 1 h1"
    assert hashes.count_by_scheme(["h1:1", *odd]) == "1 h1 and 3 of an unknown scheme"
    assert hashes.count_by_scheme([]) == ""


def test_a_scheme_is_its_prefix() -> None:
    texts = ("h1:a=", "zh:b", "h2:c", "h1", "zhx:d")
    assert [str(scheme) for scheme in hashes.Scheme] == ["zh", "h1"]
    assert hashes.hashes_of_files(texts) == {"h1:a="}
    assert hashes.hashes_of_zips(texts) == {"zh:b"}
    assert [hashes.is_of_zip(text) for text in texts] == [False, True, False, False, False]
    assert [hashes.is_of_files(text) for text in texts] == [True, False, False, False, False]
    assert [hashes.is_of_signed_scheme(text) for text in texts] == [False, True, False, False, False]
    assert [hashes.digest_of(text) for text in texts] == ["a=", "b", "c", "", "d"]
    assert hashes.zh_of("ab" * 32) == "zh:" + "ab" * 32
    assert json.dumps(hashes.Scheme.ZH) == '"zh"'


def test_a_package_names_every_hash_of_it_that_a_lock_file_may_have() -> None:
    digests = [(b"a", "0" * 64)]
    folder = hashes.HashedPackage.of_digests(digests)
    assert folder.of_files == folder.hashes == {hashes.h1_of_digests(digests)}
    archive = hashes.HashedPackage.of_digests(digests, hashes.zh_of("1" * 64), size=5)
    assert archive.hashes == {hashes.zh_of("1" * 64), *folder.of_files}
    assert all(scheme in {hashes.scheme_of(text) for text in archive.hashes} for scheme in hashes.Scheme)
    known = {archive.zh: archive.of_files}
    assert hashes.file_hashes_of([archive.zh, hashes.zh_of("2" * 64)], known) == archive.of_files


def test_an_h1_is_found_beside_hashes_of_other_schemes() -> None:
    assert hashes.h1_in(["h2:x", "zh:x", "h1:x"]) == "h1:x"
    assert hashes.h1_in(["h2:x"]) is None


def test_hashes_are_found_in_other_text() -> None:
    found = [hashes.zh_of("ab" * 32), hashes.h1_of_digests([(b"a", "0" * 64)])]
    text = f"expected {found[0]}, got {found[1]}; zh:cut h1:short="
    assert re.findall(hashes.pattern_of_hashes(), text) == found


def test_reported_hashes_make_a_package_only_where_they_are_of_its_files_and_one_of_each_scheme() -> None:
    zh, h1, other = hashes.zh_of("1" * 64), *(hashes.h1_of_digests([(b"a", digit * 64)]) for digit in "01")
    known = hashes.HashedPackage.of_hashes(zh, [zh, h1])
    assert known is not None
    assert known.hashes == {zh, h1}
    assert hashes.HashedPackage.of_hashes(zh, [zh]) is None
    assert not hashes.repeats_a_scheme({zh, h1})
    assert hashes.repeats_a_scheme({zh, h1, other})
