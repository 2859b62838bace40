"""Hostile clones, registries and packages under `init`, `lock` and `upgrade`: real processes, links and registries.

What is promised: nothing is created, followed, replaced or removed through a link below the root; every byte that is
read has a bound; Ctrl-C ends each run; journals and caches of somebody else are not believed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conformance.case import TERRAFORM as TOOL
from conformance.running import is_here
from install.conftest import HOST, Place

from locklens.demo.published import Offer
from locklens.demo.registry import Registry

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and signals of POSIX")

VERSION = "1.0.0"
PLATFORM = "linux_amd64"
FOLDER = f".terraform/providers/{HOST}/acme/demo/{VERSION}"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with Registry({f"{HOST}/acme/demo": [Offer(VERSION, (PLATFORM,))]}, tells_packages=False) as registry:
        found = Place(tmp_path, registry)
        subprocess.run(["git", "init", "-q", str(found.root)], check=True)
        found.environ["XDG_DATA_HOME"] = str(tmp_path / "home" / "data")
        found.environ["XDG_CACHE_HOME"] = str(tmp_path / "home" / "caches")
        yield found


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "locklens", *words]


def run(place: Place, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Runs locklens in the root, as a user would."""
    return subprocess.run(
        command(*words), cwd=place.root, env={**place.environ, **environ}, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, timeout=120,
    )  # fmt: skip


def everything(folder: Path) -> dict[str, object]:
    """All that is in a folder: contents of files, targets of links."""
    return {
        str(path.relative_to(folder)): path.readlink() if path.is_symlink() else path.is_dir() or path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def installed(place: Place) -> bool:
    return (place.root / FOLDER / PLATFORM / "terraform-provider-demo_v1.0.0").is_file()


# Links on the way to a package's place

ON_THE_WAY = {
    "the data folder": ".terraform",
    "providers": ".terraform/providers",
    "the host": f".terraform/providers/{HOST}",
    "the namespace": f".terraform/providers/{HOST}/acme",
    "the type": f".terraform/providers/{HOST}/acme/demo",
    "the version": FOLDER,
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the user's, with what would be in the way."""
    folder = tmp_path / "outside"
    (folder / PLATFORM).mkdir(parents=True)
    (folder / PLATFORM / "precious.txt").write_text("mine")
    return folder


def tracked_link(place: Place, name: str, target: Path | str) -> None:
    """A link as a clone makes it of a tracked one."""
    link = place.root / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
    git = ["git", "-C", str(place.root)]
    subprocess.run([*git, "add", "-f", name], check=True)
    assert subprocess.run([*git, "ls-files", name], check=True, capture_output=True).stdout


@pytest.mark.parametrize("words", [("init",), ("init", "--upgrade")], ids=" ".join)
@pytest.mark.parametrize("link", ON_THE_WAY.values(), ids=ON_THE_WAY)
def test_nothing_is_written_or_removed_through_a_tracked_link(
    place: Place, outside: Path, link: str, words: tuple[str, ...]
) -> None:
    before = everything(outside)
    tracked_link(place, link, outside)
    done = run(place, *words)
    assert done.returncode in {1, 2}, done
    assert f"{link}: it is a link, which is not followed" in done.stderr
    assert "TF_DATA_DIR" in done.stderr
    assert "Traceback" not in done.stderr
    assert everything(outside) == before
    assert (place.root / link).is_symlink()
    assert not place.lock_file.exists()


def test_what_is_installed_behind_a_tracked_link_does_not_count(place: Place, tmp_path: Path) -> None:
    assert run(place, "init").returncode == 0
    elsewhere = tmp_path / "elsewhere"
    (place.root / ".terraform").rename(elsewhere)
    before = everything(elsewhere)
    tracked_link(place, ".terraform", elsewhere)
    done = run(place, "init")
    assert done.returncode == 2
    assert ".terraform: it is a link" in done.stderr
    assert everything(elsewhere) == before


@pytest.mark.parametrize("target", ["missing", "empty"])
def test_the_file_that_keeps_other_runs_waiting_is_not_made_through_a_link(
    place: Place, tmp_path: Path, target: str
) -> None:
    wanted = tmp_path / "created-by-the-pull-request"
    if target == "empty":
        wanted.touch()
    tracked_link(place, ".terraform/.locklens.lock", wanted)
    before = everything(tmp_path / "home")
    done = run(place, "init")
    assert done.returncode == 2
    assert ".terraform/.locklens.lock: it is a link" in done.stderr
    assert wanted.exists() == (target == "empty")
    assert everything(tmp_path / "home") == before


def test_a_data_folder_that_the_user_names_may_be_anywhere(place: Place, tmp_path: Path) -> None:
    elsewhere, link = tmp_path / "elsewhere", tmp_path / "link"
    elsewhere.mkdir()
    link.symlink_to(elsewhere)
    assert run(place, "init", TF_DATA_DIR=str(link)).returncode == 0
    assert (elsewhere / "providers" / HOST).is_dir()
    assert run(place, "init", TF_DATA_DIR="../link").returncode == 0
    assert not (place.root / ".terraform").exists()


@pytest.mark.parametrize("name", ["data", "a/data"])
def test_a_name_below_the_root_in_tf_data_dir_is_no_leave_to_follow_a_link_there(
    place: Place, outside: Path, name: str
) -> None:
    before = everything(outside)
    tracked_link(place, name.partition("/")[0], outside)
    done = run(place, "init", TF_DATA_DIR=name)
    assert done.returncode == 2
    assert "it is a link" in done.stderr
    assert everything(outside) == before


@pytest.mark.parametrize("is_same", [True, False], ids=["the package", "another"])
def test_a_link_in_a_packages_place_is_replaced_or_left_and_never_written_through(
    place: Place, tmp_path: Path, is_same: bool
) -> None:
    """As terraform makes them into its plugin cache; see the conformance suite."""
    assert run(place, "init").returncode == 0
    leaf, cached = place.root / FOLDER / PLATFORM, tmp_path / "plugin-cache"
    leaf.rename(cached)
    if not is_same:
        (cached / "mine").write_text("mine")
    before = everything(cached)
    leaf.symlink_to(cached)
    done = run(place, "init")
    assert done.returncode == 0, done
    assert installed(place)
    assert everything(cached) == before
    assert leaf.is_symlink() == is_same


@pytest.mark.skipif(not is_here(TOOL), reason="needs terraform on PATH")
def test_a_link_that_terraform_made_into_its_plugin_cache_is_as_installed(place: Place, tmp_path: Path) -> None:
    cache = tmp_path / "plugin-cache"
    cache.mkdir()
    environ = {**place.environ, "TF_PLUGIN_CACHE_DIR": str(cache), "CHECKPOINT_DISABLE": "1"}
    real = ["terraform", "init", "-no-color"]
    subprocess.run(real, cwd=place.root, env=environ, check=True, capture_output=True)
    leaf = place.root / FOLDER / PLATFORM
    assert leaf.is_symlink()
    place.asked()
    before = everything(cache)
    assert run(place, "init").returncode == 0
    assert (leaf.is_symlink(), place.asked()) == (True, [])
    assert everything(cache) == before
    subprocess.run(real, cwd=place.root, env=environ, check=True, capture_output=True)
