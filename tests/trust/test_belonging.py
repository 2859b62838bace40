"""Whether what is signed is of the release that was asked for: which names tell, and which tell nothing."""

from __future__ import annotations

import pytest

from locklens.addresses import Platform
from locklens.trust.checksums import Build, foreign_words, read_checksums
from locklens.versions import Version

DIGEST = "0" * 64
WANTED = Build("demo", Version.parse("1.2.0"), Platform.parse("linux_amd64"))


def name(build: str) -> str:
    return f"terraform-provider-{build}.zip"


def words(filename: str, *listed: str, wanted: Build = WANTED) -> str:
    sums = "".join(f"{DIGEST}  {one}\n" for one in listed)
    return foreign_words(read_checksums(sums.encode()), filename, wanted)


OWN = name("demo_1.2.0_linux_amd64")


def test_its_own_packages() -> None:
    assert words(OWN, name("demo_1.2.0_darwin_arm64"), OWN, "terraform-provider-demo_1.2.0_manifest.json") == ""


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("demo_1.0.0_linux_amd64", "the signed packages are of demo 1.0.0"),
        ("demo_1.2.0-rc1_linux_amd64", "the signed packages are of demo 1.2.0-rc1"),
        ("null_1.2.0_linux_amd64", "the signed packages are of null 1.2.0"),
    ],
)
def test_another_release(listed: str, expected: str) -> None:
    assert words(name(listed), name(listed), "LICENSE") == expected
    assert words(OWN, name(listed)) == expected, "whatever the registry calls it"


def test_many_other_releases_are_not_all_named() -> None:
    listed = [name(f"demo_1.0.{patch}_linux_amd64") for patch in range(9)]
    assert words(listed[0], *listed) == "the signed packages are of demo 1.0.0, demo 1.0.1, demo 1.0.2 and 6 more"


def test_another_file_of_the_release() -> None:
    other = name("demo_1.2.0_darwin_arm64")
    assert words(other, OWN, other) == "the package that the registry offers is of demo 1.2.0 for darwin_arm64"
    old = name("demo_1.0.0_linux_amd64")
    assert words(old, OWN, old) == "the package that the registry offers is of demo 1.0.0 for linux_amd64"
    expected = "the registry offers a file other than the package of demo 1.2.0 for linux_amd64"
    assert words("demo-debug.zip", OWN, "demo-debug.zip") == expected


def test_names_that_follow_no_form_tell_nothing() -> None:
    assert words("provider.zip", "provider.zip", "README") == ""
    assert words(name("demo_latest_linux_amd64"), name("demo_latest_linux_amd64")) == ""
    assert words("demo-1.0.0.zip", "demo-1.0.0.zip") == ""
    assert words("x.zip") == ""


def test_one_platform_may_be_called_otherwise() -> None:
    assert words("demo-for-linux.zip", name("demo_1.2.0_darwin_arm64"), "demo-for-linux.zip") == ""


@pytest.mark.parametrize(
    ("version", "listed"),
    [
        ("1.2.0", "demo_v1.2.0"),
        ("1.2.0", "demo_1.2"),
        ("1.2.0+build.7", "demo_1.2.0"),
        ("1.2.0+build.7", "demo_1.2.0+build.7"),
        ("1.2.0", "Demo_1.2.0"),
    ],
)
def test_spellings_of_the_same_release(version: str, listed: str) -> None:
    wanted = Build("demo", Version.parse(version), WANTED.platform)
    assert words(name(f"{listed}_linux_amd64"), name(f"{listed}_linux_amd64"), wanted=wanted) == ""


def test_other_build_metadata_is_another_version() -> None:
    wanted = Build("demo", Version.parse("1.2.0+b1"), WANTED.platform)
    assert words(OWN, name("demo_1.2.0+b2_linux_amd64"), wanted=wanted) == "the signed packages are of demo 1.2.0+b2"
