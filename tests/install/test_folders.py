"""How a package takes its place, while others meddle with the folders on the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from locklens.addresses import Platform, ProviderAddress
from locklens.errors import ConfigurationError
from locklens.install import DataFolder
from locklens.versions import Version

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links of POSIX")

ADDRESS, VERSION, HERE = (
    ProviderAddress("example.com", "acme", "demo"),
    Version.parse("1.0.0"),
    Platform("linux", "amd64"),
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    (tmp_path / "outside").mkdir()
    return tmp_path / "root"


@pytest.mark.parametrize(
    ("path", "trusted", "names"),
    [
        ("root/.terraform", "root", (".terraform",)),
        ("root/a/b", "root", ("a", "b")),
        ("elsewhere", "elsewhere", ()),
        ("root/../elsewhere", "root/../elsewhere", ()),
    ],
)
def test_what_is_below_the_root_is_not_trusted(root: Path, path: str, trusted: str, names: tuple[str, ...]) -> None:
    found = DataFolder.of(root, root.parent / path)
    assert found.lock_place == (root.parent / trusted, (*names, ".locklens.lock"))


@pytest.mark.parametrize(
    "level", [".terraform", ".terraform/providers", ".terraform/providers/example.com/acme/demo/1.0.0"]
)
def test_a_folder_that_is_exchanged_for_a_link_gets_no_package(root: Path, level: str) -> None:
    data = DataFolder.of(root, root / ".terraform")
    place, outside = data.place(ADDRESS, VERSION, HERE), root.parent / "outside"
    with data.staging(place) as staging:
        staging.package.mkdir()
        (root / level).rename(root / "moved")
        (root / level).symlink_to(outside)
        staging.put()
    assert list(outside.iterdir()) == []
    assert [path.name for path in (root / "moved").rglob("linux_amd64")] == ["linux_amd64"]
    assert not list(root.rglob(".locklens-*"))


def test_a_package_that_was_written_elsewhere_meanwhile_is_not_put(root: Path) -> None:
    data = DataFolder.of(root, root / ".terraform")
    place = data.place(ADDRESS, VERSION, HERE)
    with pytest.raises(ConfigurationError, match="cannot be written"), data.staging(place) as staging:
        staging.put()
    assert list(root.rglob("*")) == []
