"""What goes wrong on the way, on the disk, or at the publisher: each has its sentence, and nothing is half done."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from install.conftest import HOST, Place
from kit.effort import DIAGONAL

from locklens.demo.faults import Fault, FaultRule, Step
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.errors import ConfigurationError
from locklens.install.context import FolderDiffers, PackageHashed, ReleaseWarned
from locklens.install.lock import Locker
from locklens.operations.comparison import RootSettings
from locklens.operations.plan import RootResult
from locklens.operations.root_modules import RootReader
from locklens.operations.write.diagnostics import Readonly, look_alikes
from locklens.packages.installed import h1_of_folder
from locklens.project.tree import FileSystem
from locklens.sources.http.client import Client


def words(outcome: RootResult) -> str:
    assert outcome.has_failed
    return " ".join(f"{one.summary}: {one.words}" for one in outcome.diagnostics)


def leftovers(place: Place) -> list[str]:
    """Whatever lies in the data folder or the temporary one."""
    data, scratch = place.root / ".terraform", Path(place.environ["TMPDIR"])
    found = [path for top in (data, scratch) if top.exists() for path in top.rglob("*")]
    return [path.name for path in found]


ON_THE_WAY = {
    "cut": (FaultRule(Fault.CUT, step=Step.PACKAGE), "breaks off"),
    "truncated": (FaultRule(Fault.TRUNCATED, step=Step.PACKAGE), "breaks off"),
    "longer-than-said": (FaultRule(Fault.WRONG_LENGTH, step=Step.PACKAGE), "incorrect checksum"),
    "429": (FaultRule(Fault.TOO_MANY_REQUESTS, step=Step.PACKAGE), "429 Too Many Requests"),
    "404": (FaultRule(Fault.NOT_FOUND, step=Step.PACKAGE), "404 Not Found"),
    "page": (FaultRule(Fault.HTML, step=Step.PACKAGE), "incorrect checksum"),
    "tampered": (FaultRule(Fault.TAMPERED_PACKAGE), "incorrect checksum"),
    "cut-sums": (FaultRule(Fault.CUT, step=Step.SUMS), "list of checksums"),
    "versions-429": (FaultRule(Fault.TOO_MANY_REQUESTS, step=Step.VERSIONS), "429"),
    "bad-signature": (FaultRule(Fault.BAD_SIGNATURE), "error checking signature"),
    "not-for-here": (FaultRule(Fault.NOT_FOUND, step=Step.DOWNLOAD), "linux_amd64"),
}


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between attempts are measured elsewhere."""
    monkeypatch.setattr("locklens.sources.http.sending.wait_before", lambda *_, **__: 0.01)


@DIAGONAL
@pytest.mark.parametrize("fault", ON_THE_WAY)
@pytest.mark.parametrize("command", ["init", "lock"])
def test_a_package_that_does_not_arrive(place: Place, fault: str, command: str) -> None:
    rule, said = ON_THE_WAY[fault]
    place.fail(rule)
    outcome = place.init() if command == "init" else place.lock("linux_amd64")
    assert said in words(outcome)
    assert not place.lock_file.exists()
    assert leftovers(place) == []
    place.fail()
    assert not (place.init() if command == "init" else place.lock("linux_amd64")).has_failed
    assert place.lock_file.exists()


@pytest.mark.parametrize("command", ["init", "lock"])
def test_a_package_that_stalls(place: Place, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locklens.sources.http.sending.STALL_SECONDS", 1)
    place.fail(FaultRule(Fault.STALLED, step=Step.PACKAGE))
    outcome = place.init() if command == "init" else place.lock("linux_amd64")
    assert "stopped sending a package for 1 seconds" in words(outcome)
    assert not place.lock_file.exists()
    assert leftovers(place) == []


def test_a_hiccup_is_got_over(place: Place) -> None:
    place.fail(FaultRule(Fault.TOO_MANY_REQUESTS, step=Step.PACKAGE, times=1))
    assert not place.init().has_failed
    assert place.asked().count("package") == 2


def test_one_provider_that_fails_leaves_the_others_installed_and_the_lock_file_alone(place: Place) -> None:
    place.require(("acme/demo", ""), ("acme/other", ""))
    place.fail(FaultRule(Fault.NOT_FOUND, "acme/other", step=Step.PACKAGE))
    outcome = place.init()
    assert "acme/other v1.0.0" in words(outcome)
    assert not place.lock_file.exists()
    assert (place.root / f".terraform/providers/{HOST}/acme/demo/1.1.0/linux_amd64").is_dir()
    assert not (place.root / f".terraform/providers/{HOST}/acme/other").exists()


def full(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_while_a_package_arrives(place: Place, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", small], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount")
    try:
        place.environ["TF_DATA_DIR"] = str(small)
        outcome = place.init()
        assert "No space left on device" in words(outcome)
        assert "free some space" in outcome.diagnostics[0].hint
        assert not place.lock_file.exists()
        assert list(small.rglob("*")) == []
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_full_disk_while_a_package_is_hashed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    monkeypatch.setattr("locklens.packages.hashing._IN_MEMORY", 1)
    outcome = place.lock("linux_amd64")
    assert "No space left on device" in words(outcome)
    assert not place.lock_file.exists()


@pytest.mark.parametrize("command", ["init", "lock"])
def test_a_full_disk_while_the_lock_file_is_written(
    place: Place, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not place.lock("darwin_arm64").has_failed
    before = place.lock_file.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(ConfigurationError, match=r"(?i)no space left on device"):
            place.init() if command == "init" else place.lock("linux_amd64")
    assert place.lock_file.read_bytes() == before
    assert [path.name for path in place.root.glob(".terraform.lock.hcl?*")] == []


def test_a_data_folder_that_cannot_be_written(place: Place) -> None:
    (place.root / ".terraform").write_text("a file")
    with pytest.raises(ConfigurationError, match=r"cannot be written"):
        place.init()
    assert not place.lock_file.exists()


def test_a_version_folder_that_cannot_be_written(place: Place) -> None:
    blocked = place.root / f".terraform/providers/{HOST}/acme/demo"
    blocked.parent.mkdir(parents=True)
    blocked.write_text("a file")
    assert "cannot be written" in words(place.init())
    assert blocked.read_text() == "a file"


def test_what_is_installed_needs_nobody(place: Place) -> None:
    assert not place.init().has_failed
    place.asked()
    place.fail(FaultRule(Fault.SERVER_ERROR))
    before = place.lock_file.stat()
    for path in (place.root / ".terraform", place.root):
        path.chmod(0o555)
    try:
        assert not place.init().has_failed
        assert not place.init(readonly=Readonly.STRICT).has_failed
    finally:
        for path in (place.root, place.root / ".terraform"):
            path.chmod(0o755)
    assert place.asked() == []
    assert place.lock_file.stat() == before


def test_a_tampered_folder_is_replaced_as_a_whole_and_said(place: Place) -> None:
    place.init()
    before = place.lock_file.read_bytes()
    folder = place.root / f".terraform/providers/{HOST}/acme/demo/1.1.0/linux_amd64"
    (folder / "extra").write_text("x")
    tampered = h1_of_folder(folder)
    assert not place.init(dry_run=True).has_failed
    assert [event.found for event in place.told(FolderDiffers)] == [tampered]
    place.events.clear()
    there: list[bool] = []

    class Watching(list[Any]):
        def append(self, event: Any) -> None:
            if isinstance(event, FolderDiffers):
                there.append((folder / "extra").exists())
            super().append(event)

    place.events = Watching()
    assert not place.init().has_failed
    assert there == [True]
    assert not (folder / "extra").exists()
    assert place.lock_file.read_bytes() == before
    assert [(Path(event.folder), event.found) for event in place.told(FolderDiffers)] == [(folder, tampered)]


def test_a_folder_that_is_a_link_is_not_written_through(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").write_text("mine")
    folder = place.root / f".terraform/providers/{HOST}/acme/demo/1.1.0/linux_amd64"
    folder.parent.mkdir(parents=True)
    folder.symlink_to(outside)
    assert not place.init().has_failed
    assert [path.name for path in outside.iterdir()] == ["mine"]
    assert not folder.is_symlink()


def test_what_a_killed_run_left_is_cleared(place: Place) -> None:
    left = place.root / f".terraform/providers/{HOST}/acme/demo/1.1.0/.locklens-linux_amd64-abc"
    left.mkdir(parents=True)
    (left / "package.zip").write_text("half")
    assert not place.init().has_failed
    assert not left.exists()


def test_lock_refuses_a_republished_package(place: Place) -> None:
    place.lock("linux_amd64")
    before = place.lock_file.read_bytes()
    place.fail(FaultRule(Fault.REPUBLISHED, "acme/demo", "1.1.0"))
    outcome = place.lock("linux_amd64")
    assert "republished" in words(outcome)
    assert "signs today" in words(outcome)
    assert "--accept-republished" in outcome.diagnostics[0].hint
    assert place.lock_file.read_bytes() == before
    accepted = place.lock("linux_amd64", accept_republished=True)
    assert not accepted.has_failed
    assert before.count(b"zh:") < place.lock_file.read_bytes().count(b"zh:")
    assert ["republished" in event.words for event in place.told(ReleaseWarned)] == [True]


@pytest.mark.parametrize(
    ("fault", "named"), [(Fault.SUMS_WITH_BLANK_LINE, "(blank)"), (Fault.SUMS_WITH_ODD_LINE, "line ")]
)
@pytest.mark.parametrize("command", ["init", "lock"])
def test_a_line_of_sha256sums_that_lists_nothing_is_skipped_and_named(
    place: Place, fault: Fault, named: str, command: str
) -> None:
    def run() -> RootResult:
        return place.init() if command == "init" else place.lock("linux_amd64")

    run()
    whole = place.lock_file.read_bytes()
    place.lock_file.unlink()
    place.fail(FaultRule(fault))
    assert not run().has_failed
    assert place.lock_file.read_bytes() == whole
    assert [named in event.words for event in place.told(ReleaseWarned)] == [True]


def test_each_thing_is_asked_once_for_all_platforms_and_nothing_downloaded_again(place: Place) -> None:
    assert not place.lock("linux_amd64", "darwin_arm64").has_failed
    asked = place.asked()
    assert {step: asked.count(step) for step in asked} == {
        "versions": 1, "download": 2, "sums": 1, "signature": 1, "package": 2,
    }  # fmt: skip
    before = place.lock_file.read_bytes()
    place.lock_file.unlink()
    assert not place.lock("linux_amd64", "darwin_arm64").has_failed
    asked = place.asked()
    assert {step: asked.count(step) for step in asked} == {"versions": 1, "download": 1, "sums": 1, "signature": 1}
    assert [event.was_remembered for event in place.told(PackageHashed)] == [True, True]
    assert place.lock_file.read_bytes() == before


def test_what_is_remembered_says_nothing_of_a_platform_that_is_not_offered(place: Place) -> None:
    assert not place.lock("linux_amd64", "darwin_arm64").has_failed
    before = place.lock_file.read_bytes()
    outcome = place.lock("linux_amd64", "windows_amd64")
    assert "is not available for windows_amd64" in words(outcome)
    assert place.lock_file.read_bytes() == before


@pytest.mark.parametrize(
    ("constraint", "way_on"),
    [
        ("~> 1.0", ", or require 1.0.0 at main.tf:{line}: that has a package for each platform"),
        ("~> 1.1", ": no version in range is listed for each platform"),
    ],
)
def test_the_newest_version_that_has_a_package_for_each_platform_is_named(
    constraint: str, way_on: str, tmp_path: Path
) -> None:
    older, newer = SampleListing("1.0.0", ("linux_amd64", "windows_amd64")), SampleListing("1.1.0", ("linux_amd64",))
    with DemoRegistry({f"{HOST}/acme/demo": [older, newer]}, tells_packages=False) as registry:
        place = Place(tmp_path, registry)
        place.require(("acme/demo", constraint))
        text = (place.root / "main.tf").read_text("utf-8").splitlines()
        line = next(number for number, one in enumerate(text, 1) if constraint in one)
        (failed,) = place.lock("linux_amd64", "windows_amd64").diagnostics
        assert failed.hint == f"leave the platform out{way_on.format(line=line)}"
        if constraint == "~> 1.0":
            assert not place.lock("linux_amd64").has_failed
            (failed,) = place.lock("linux_amd64", "windows_amd64").diagnostics
            assert ", or upgrade it to 1.0.0: " in failed.hint


def test_no_version_that_the_policy_holds_back_is_named_for_its_platforms(tmp_path: Path) -> None:
    both = "linux_amd64", "windows_amd64"
    listed = [
        SampleListing("1.0.0", both[:1], days=90),
        SampleListing("1.0.1", both, days=40),
        SampleListing("1.1.0", both, days=3),
    ]
    address = "registry.terraform.io/acme/demo"
    with DemoRegistry({address: listed}, tells_packages=False) as registry:
        place = Place(tmp_path, registry)
        place.require((address, "1.0.0"))
        assert not place.lock(*both[:1]).has_failed
        place.require((address, "~> 1.0"))
        hints = [
            place.lock(*both, cooldown=days).diagnostics[0].hint.removeprefix("leave the platform out")
            for days in (None, 7, 60)
        ]
    assert hints == [
        ", or upgrade it to 1.1.0: that has a package for each platform",
        ", or upgrade it to 1.0.1: that has a package for each platform",
        ": the policy holds back every version in range that has a package for each platform: 1.1.0: cooldown 60 d (3 d old)",
    ]


def test_a_misspelt_platform_is_asked_about(place: Place) -> None:
    (failed, *_) = place.lock("linux_amd46").diagnostics
    assert "is not available for linux_amd46" in failed.detail
    assert failed.hint == "did you mean linux_amd64?"


def test_what_is_remembered_does_not_help_a_release_that_nobody_vouches_for(place: Place) -> None:
    assert not place.lock("linux_amd64", "darwin_arm64").has_failed
    place.lock_file.unlink()
    place.fail(FaultRule(Fault.BAD_SIGNATURE))
    assert place.lock("linux_amd64", "darwin_arm64").has_failed
    assert not place.lock_file.exists()


def test_a_package_of_a_release_that_is_refused_is_not_installed_nor_remembered(place: Place) -> None:
    place.fail(FaultRule(Fault.BAD_SIGNATURE))
    outcome = place.init()
    assert "signature" in words(outcome)
    assert not (place.root / ".terraform" / "providers").exists()
    place.fail()
    assert not place.lock("linux_amd64").has_failed
    assert [event.was_remembered for event in place.told(PackageHashed)] == [False]


def test_a_package_that_was_installed_is_not_downloaded_to_be_locked(place: Place) -> None:
    assert not place.init().has_failed
    place.lock_file.unlink()
    place.asked()
    assert not place.lock("linux_amd64").has_failed
    assert "package" not in place.asked()


def test_a_lock_file_that_changed_meanwhile_is_left_alone(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.lock("darwin_arm64")

    real = Locker.fetch

    def meddling(*arguments: Any, **options: Any) -> Any:
        place.lock_file.write_text("# mine\n")
        return real(*arguments, **options)

    monkeypatch.setattr(Locker, "fetch", meddling)
    with pytest.raises(ConfigurationError, match="changed"):
        place.lock("linux_amd64")
    assert place.lock_file.read_text() == "# mine\n"


def test_opentofu_warns_of_providers_that_are_most_likely_the_same(place: Place) -> None:
    names = ("opentofu/x", "hashicorp/x", "acme/x", "hashicorp/y")
    blocks = "".join(f'    p{number} = {{ source = "{name}" }}\n' for number, name in enumerate(names))
    (place.root / "main.tf").write_text(f"terraform {{\n  required_providers {{\n{blocks}  }}\n}}\n")
    for tool, words in ((OPENTOFU, ["multiple providers of type x"]), (TERRAFORM, [])):
        root = RootReader(RootSettings(tool=tool)).read_folder(FileSystem(place.root), "")
        troubles = look_alikes(root)
        assert [one.words.partition("(")[0].strip()[-28:] for one in troubles] == words
        assert all("hashicorp/x, registry.opentofu.org/opentofu/x)" in one.words for one in troubles)
        assert not any(one.is_error for one in troubles)


@pytest.mark.parametrize("tool", [TERRAFORM, OPENTOFU])
def test_terraform_downloads_packages_with_what_netrc_has(
    place: Place, tool: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []
    real = Client.download

    def heard(client: Client, url: str, **options: Any) -> Any:
        given.append(options["token"])
        return real(client, url, **options)

    monkeypatch.setattr(Client, "download", heard)
    host = place.registry.service_url(HOST).split("/")[2]
    (Path(place.environ["HOME"]) / ".netrc").write_text(f"machine {host} login me password it\n")
    place.require((f"{HOST}/acme/demo", ""))
    assert not place.init(tool=tool).has_failed
    assert [token is not None for token in given] == [tool is TERRAFORM]
