"""SHA256SUMS: what is read of it, and that the tools' two readings are foretold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locklens.addresses import Platform
from locklens.trust.checksums import (
    MAX_CHECKSUMS_BYTES,
    MAX_LINES,
    Collected,
    Content,
    Match,
    Matching,
    Oddity,
    OddLine,
    read_checksums,
)

A, B, C = ("ab" * 32, "cd" * 32, "0e" * 32)
LINUX, MAC = Platform("linux", "amd64"), Platform("darwin", "arm64")
SUMS = (
    f"{A}  terraform-provider-demo_1.0.0_linux_amd64.zip\n"
    f"{B}  terraform-provider-demo_1.0.0_darwin_arm64.zip\n"
    f"{C}  terraform-provider-demo_1.0.0_manifest.json\n"
)
NAME = "terraform-provider-demo_1.0.0_linux_amd64.zip"


def test_each_hash_has_its_platform() -> None:
    sums = read_checksums(SUMS.encode())
    assert sums.hashes == {f"zh:{A}", f"zh:{B}", f"zh:{C}"}
    assert sums.manifests == {f"zh:{C}"}
    assert [file.content for file in sums.files] == [Content.PACKAGE, Content.PACKAGE, Content.MANIFEST]
    assert sums.packages("demo", "1.0.0") == {LINUX: {f"zh:{A}"}, MAC: {f"zh:{B}"}}
    assert sums.packages("demo", "1.0.1") == sums.packages("other", "1.0.0") == {}
    assert sums.odd == ()


def test_versions_with_a_suffix_and_types_with_dashes() -> None:
    name = "terraform-provider-vault-ext_2.0.0-beta.1+x_windows_386.zip"
    file = read_checksums(f"{A} {name}".encode()).files[0]
    assert (file.type, file.version, file.platform) == ("vault-ext", "2.0.0-beta.1+x", Platform("windows", "386"))


@pytest.mark.parametrize(
    "name",
    ["x.zip", "terraform-provider-demo_1.0.0_linux.zip", "a/terraform-provider-demo_1.0.0_linux_amd64.zip/x", "x_SBOM"],
)
def test_other_files_have_no_platform(name: str) -> None:
    assert read_checksums(f"{A}  {name}\n".encode()).files[0].content is Content.OTHER


def test_odd_lines_are_skipped_and_named() -> None:
    sums = read_checksums(f"\n# by hand\n{A}\n{A[:-1]}  short.zip\n{A.upper()} *./{NAME}\r\n\n".encode())
    assert sums.odd == (
        OddLine(1, Oddity.BLANK),
        OddLine(2, Oddity.NO_DIGEST),
        OddLine(3, Oddity.NO_NAME),
        OddLine(4, Oddity.NO_DIGEST),
        OddLine(6, Oddity.BLANK),
    )
    assert [(file.line, file.zh, file.name) for file in sums.files] == [(5, f"zh:{A}", NAME)]


def test_one_file_name_twice_and_one_hash_for_two_platforms() -> None:
    sums = read_checksums(f"{A} {NAME}\n{B} {NAME}\n{A} {NAME.replace('linux', 'darwin')}\n".encode())
    assert sums.packages("demo", "1.0.0")[LINUX] == {f"zh:{A}", f"zh:{B}"}
    assert sums.names[f"zh:{A}"] == (NAME, NAME.replace("linux", "darwin"))
    assert sums.matching(NAME) == Matching(Match.FOUND, f"zh:{A}")


def test_a_manifests_hash_that_is_a_packages_too_is_no_manifest() -> None:
    sums = read_checksums(f"{A} terraform-provider-demo_1.0.0_manifest.json\n{A} {NAME}\n".encode())
    assert sums.manifests == frozenset()


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        (f"{A.upper()}\t{NAME}  and more\r", Matching(Match.FOUND, f"zh:{A}")),
        (f"\n\n{A} {NAME}", Matching(Match.FOUND, f"zh:{A}")),
        (f"{A}\u00a0{NAME}", Matching(Match.FOUND, f"zh:{A}")),
        (f"{A} *{NAME}", Matching(Match.ABSENT)),
        (f"{A} ./{NAME}", Matching(Match.ABSENT)),
        (f"{A} {NAME.upper()}", Matching(Match.ABSENT)),
        (NAME, Matching(Match.ABSENT)),
        (f"{A[:-2]} {NAME}", Matching(Match.SHORT)),
        (f"{A[:-1]} {NAME}", Matching(Match.NOT_HEX)),
        (f"{A[:-1]}g {NAME}", Matching(Match.NOT_HEX)),
        (f"{A}a {NAME}", Matching(Match.NOT_HEX)),
        (f"{A}ab {NAME}", Matching(Match.CRASH)),
        (f"{A}zz {NAME}", Matching(Match.NOT_HEX)),
        (f"{A}abz {NAME}", Matching(Match.CRASH)),
    ],
)
def test_what_a_tool_finds_for_a_package(line: str, outcome: Matching) -> None:
    assert read_checksums(line.encode()).matching(NAME) == outcome


@pytest.mark.parametrize(
    ("text", "collected"),
    [
        (SUMS, Collected(frozenset({f"zh:{A}", f"zh:{B}", f"zh:{C}"}))),
        (SUMS.rstrip(), Collected(frozenset({f"zh:{A}", f"zh:{B}", f"zh:{C}"}))),
        (f"{A.upper()}\tx y z\r\n", Collected(frozenset({f"zh:{A}"}))),
        (f"{A} x\n\n", Collected(crashed_at=2)),
        (f"{A} x\n \t\n{B} y\n", Collected(crashed_at=2)),
        (f"# odd\n\n{A} x\n", Collected()),
        (f"{A} x\n{B}\n", Collected()),
        (f"{A}ab x\n", Collected()),
        ("", Collected()),
        (f"{A} x\n{B} {'y' * 65536}\n{C} z\n", Collected(frozenset({f"zh:{A}"}))),
    ],
)
def test_what_a_tool_takes_into_the_lock_file(text: str, collected: Collected) -> None:
    assert read_checksums(text.encode()).collected() == collected


@pytest.mark.parametrize("data", [b"x" * (MAX_CHECKSUMS_BYTES + 1), b"\n" * (MAX_LINES + 1)])
def test_a_huge_file_lists_nothing(data: bytes) -> None:
    sums = read_checksums(data)
    assert (sums.files, sums.odd) == ((), (OddLine(0, Oddity.TOO_LARGE),))
    assert sums.matching("x") == Matching(Match.ABSENT)


@given(st.binary(max_size=300) | st.lists(st.sampled_from([A, B[:9], " ", "\n", NAME, "*", "\t"])).map("".join))
def test_no_bytes_make_it_fail(text: bytes | str) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    sums = read_checksums(data)
    sums.matching(NAME)
    collected = sums.collected()
    assert collected.hashes <= sums.hashes
