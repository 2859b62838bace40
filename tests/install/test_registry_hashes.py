"""Hashes that registries and mirrors report: OpenTofu's proposal of October 2025, and where the tool does not keep it.

The proposals are those of rfc/20251027-provider-registry-hashes.md in OpenTofu's repository, in their order.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conformance.case import HERE, LOCK_FILE, OPENTOFU, PLATFORMS, TERRAFORM, requires
from conformance.running import is_here
from msgspec.structs import replace
from operations.benches import CASE, Bench, bench, files, run

from locklens.demo import h1, package_bytes, zh
from locklens.demo.faults import Fault, FaultRule, Faults
from locklens.demo.published import SampleListing, publish, reported_packages
from locklens.demo.registry import DemoRegistry
from locklens.hashes import hashes_of_files
from locklens.install.mirroring import read_stored_package
from locklens.lockfile.parse import parse

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")

DEMO = "registry.opentofu.org/acme/demo"
OTHER = "reg.acme.test/a/other"
VERSION = "1.2.0"
REPORTING = replace(CASE, files={"main.tf": requires(("acme/demo", VERSION))}, tells_packages=True)
EVERY = tuple(f"-platform={name}" for name in PLATFORMS)
H1S = {h1(DEMO, VERSION, name) for name in PLATFORMS}
ZHS = {zh(DEMO, VERSION, name) for name in PLATFORMS}


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with bench(OPENTOFU, monkeypatch, REPORTING) as found:
        yield found


def locked(place: Bench, provider: str = DEMO) -> set[str]:
    lock = parse((place.work / LOCK_FILE).read_bytes(), LOCK_FILE)
    return set(next(entry.hashes for entry in lock.entries if str(entry.address) == provider))


def h1s(place: Bench, provider: str = DEMO) -> set[str]:
    return {text for text in locked(place, provider) if text.startswith("h1:")}


def reported(provider: str = DEMO, version: str = VERSION) -> dict[str, dict[str, object]]:
    return reported_packages(publish(provider, version, frozenset(), SampleListing(version, PLATFORMS)))


def report_h1_of(place: Bench, *platforms: str) -> None:
    packages = reported()
    for platform in packages.keys() - platforms:
        packages[platform] = {**packages[platform], "hashes": [zh(DEMO, VERSION, platform)]}
    place.registry.packages[DEMO, VERSION] = packages


def error(capfd: pytest.CaptureFixture[str]) -> str:
    return " ".join(capfd.readouterr().err.split())


def nothing_written(place: Bench) -> bool:
    return not (place.work / LOCK_FILE).exists() and not list((place.work / ".terraform").rglob("terraform-provider-*"))


# 1. The answer about a package may have the hashes and sizes of every platform's.


def test_proposal_1_the_registry_reports_hashes_and_sizes(place: Bench) -> None:
    assert run("init", "--tool", "opentofu") == 0
    assert locked(place) > ZHS | H1S


@pytest.mark.parametrize(
    ("packages", "words"),
    [
        ({"linux": {"hashes": []}}, "invalid platform"),
        ({HERE: {"hashes": ["abc"]}}, "invalid hash"),
        ({HERE: {"hashes": [zh(DEMO, VERSION, HERE)] * 100, "package_size": 1}}, '"hashes"'),
        ({f"linux_{number}": {"hashes": []} for number in range(600)}, "more than 512"),
        ({"darwin_arm64": reported()["darwin_arm64"]}, f"but none for {HERE}"),
        ({HERE: {"hashes": [zh(DEMO, VERSION, HERE)]}}, "package_size"),
        ({HERE: {"hashes": [h1(DEMO, VERSION, HERE)], "package_size": 1}}, "but no zh"),
        ({HERE: {**reported()[HERE], "package_size": 7}}, "7 bytes"),
    ],
)
def test_proposal_1_what_is_malformed_is_an_error(
    packages: object, words: str, place: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    place.registry.packages[DEMO, VERSION] = packages
    assert run("init", "--tool", "opentofu") == 1
    said = error(capfd)
    assert words in said, said
    assert nothing_written(place)


@pytest.mark.parametrize("command", [("init",), ("lock", *EVERY)], ids=["init", "lock"])
@pytest.mark.parametrize("platform", [HERE, "darwin_arm64"])
def test_proposal_1_the_signed_checksums_are_compared_for_every_platform(
    command: tuple[str, ...], platform: str, place: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    other = "zh:" + "0" * 64
    changed = reported()
    changed[platform] = {**changed[platform], "hashes": [other, h1(DEMO, VERSION, platform)]}
    place.registry.packages[DEMO, VERSION] = changed
    assert run(*command, "--tool", "opentofu") == 1
    said = error(capfd)
    for text in ("registry.opentofu.org", VERSION, platform, other, zh(DEMO, VERSION, platform)):
        assert text in said, said
    assert nothing_written(place)


def test_proposal_1_one_zh_under_two_platforms_is_a_contradiction(
    place: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    place.registry.packages[DEMO, VERSION] = {**reported(), "plan9_arm": reported()[HERE]}
    assert run("lock", "--tool", "opentofu") == 1
    said = error(capfd)
    for text in ("plan9_arm", zh(DEMO, VERSION, HERE), "another platform"):
        assert text in said, said


def test_proposal_1_hashes_of_a_platform_that_is_not_signed_are_left_out(
    place: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    invented = {"hashes": ["zh:" + "1" * 64, "h1:" + "A" * 43 + "="], "package_size": 9}
    unnamed = {"hashes": [h1(DEMO, VERSION, "darwin_arm64")], "package_size": 9}
    place.registry.packages[DEMO, VERSION] = {**reported(), "plan9_arm": invented, "darwin_arm64": unnamed}
    assert run("init", "--tool", "opentofu") == 0
    assert h1s(place) == H1S - {h1(DEMO, VERSION, "darwin_arm64")}
    assert "zh:" + "1" * 64 not in locked(place)
    assert "reports for darwin_arm64, plan9_arm are left out" in error(capfd)


def test_proposal_1_terraform_does_not_look(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = "registry.terraform.io/acme/demo"
    with bench(TERRAFORM, monkeypatch, REPORTING) as place:
        for packages in (reported_packages(publish(provider, VERSION)), ["nonsense"]):
            place.registry.packages[provider, VERSION] = packages
            (place.work / LOCK_FILE).unlink(missing_ok=True)
            assert run("lock", f"-platform={HERE}", "--tool", "terraform") == 0
            assert h1s(place, provider) == {h1(provider, VERSION, HERE)}


# 2. The h1 of a package that is downloaded is compared with the registry's.


def test_proposal_2_a_download_is_compared(place: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    place.registry.faults = Faults((FaultRule(Fault.OTHER_REPORTED_H1),))
    assert run("init", "--tool", "opentofu") == 1
    said = error(capfd)
    wrong = reported_packages(publish(DEMO, VERSION), frozenset({Fault.OTHER_REPORTED_H1}))[HERE]["hashes"]
    assert isinstance(wrong, list)
    for text in ("registry.opentofu.org", f"acme/demo {VERSION}", HERE, wrong[1], h1(DEMO, VERSION, HERE)):
        assert text in said, said
    assert nothing_written(place)


def test_proposal_2_the_tool_locks_the_wrong_hash(place: Bench) -> None:
    if not is_here(OPENTOFU):
        pytest.skip(f"needs {OPENTOFU.command} {OPENTOFU.version} on PATH")
    place.registry.faults = Faults((FaultRule(Fault.OTHER_REPORTED_H1),))
    place.real("init", "-no-color")
    wrong = reported_packages(publish(DEMO, VERSION), frozenset({Fault.OTHER_REPORTED_H1}))[HERE]["hashes"]
    assert isinstance(wrong, list)
    assert {wrong[1], h1(DEMO, VERSION, HERE)} < h1s(place)


def test_proposal_2_a_registry_that_is_not_believed_is_compared_too(
    place: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    (place.work / "main.tf").write_text(requires((OTHER, "1.0.0")))
    packages = reported(OTHER, "1.0.0")
    place.registry.packages[OTHER, "1.0.0"] = packages
    assert run("init", "--tool", "opentofu") == 0
    assert h1s(place, OTHER) == {h1(OTHER, "1.0.0", HERE)}
    (place.work / LOCK_FILE).unlink()
    packages[HERE] = {**packages[HERE], "hashes": [zh(OTHER, "1.0.0", HERE), "h1:" + "A" * 43 + "="]}
    for command in ("init", "lock"):
        assert run(command, "--tool", "opentofu") == 1
        assert "h1:AAAA" in error(capfd)
        assert not (place.work / LOCK_FILE).exists()


@pytest.mark.parametrize("is_of_zip", [False, True])
def test_proposal_2_the_h1_may_be_that_of_the_zip_file(
    is_of_zip: bool, place: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    provider, version, edition = "registry.opentofu.org/acme/odd", "1.0.0", "folders"
    path = tmp_path / "odd.zip"
    path.write_bytes(package_bytes(provider, version, HERE, edition))
    (of_zip,) = hashes_of_files(read_stored_package(path).archive_hashes)
    assert of_zip != h1(provider, version, HERE, edition)
    offer = SampleListing(version, PLATFORMS, edition=edition)
    packages = reported_packages(publish(provider, version, frozenset(), offer))
    expected = {of_zip} if is_of_zip else set()
    if is_of_zip:
        packages[HERE] = {**packages[HERE], "hashes": [zh(provider, version, HERE, edition), of_zip]}
    with DemoRegistry({provider: [offer]}, packages={(provider, version): packages}) as registry:
        monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "cli.tfrc"))
        service = registry.service_url("registry.opentofu.org")
        blocks = f'host "registry.opentofu.org" {{\n  services = {{ "providers.v1" = "{service}" }}\n}}\n'
        (tmp_path / "cli.tfrc").write_text(blocks)
        (place.work / "main.tf").write_text(requires(("acme/odd", "")))
        for command in (("init",), ("lock", "--no-cache"), ("lock",)):
            assert run(*command, "--tool", "opentofu") == 0
            assert h1s(place, provider) == {h1(provider, version, name, edition) for name in PLATFORMS} | expected


def test_proposal_2_a_dry_run_compares_too(place: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    place.registry.faults = Faults((FaultRule(Fault.OTHER_REPORTED_H1),))
    assert run("init", "--dry-run", "--tool", "opentofu") == 1
    assert h1(DEMO, VERSION, HERE) in error(capfd)


# 3. `init` records the hashes of every platform.


def test_proposal_3_init_records_every_platform(place: Bench) -> None:
    assert run("init", "--tool", "opentofu") == 0
    assert h1s(place) == H1S
    assert place.steps().count("package") == 1
    if is_here(OPENTOFU):
        ours = (place.work / LOCK_FILE).read_bytes()
        (place.work / LOCK_FILE).unlink()
        place.real("init", "-no-color")
        assert (place.work / LOCK_FILE).read_bytes() == ours


def test_proposal_3_a_lock_file_without_them_is_complete_for_a_pipeline(place: Bench) -> None:
    place.registry.tells_packages = False
    assert run("lock", "--tool", "opentofu") == 0
    before = (place.work / LOCK_FILE).read_bytes()
    place.registry.tells_packages = True
    assert run("init", "-lockfile=readonly", "--tool", "opentofu") == 0
    assert run("lock", "--check", f"-platform={HERE}", "--tool", "opentofu") == 0
    assert run("lock", "--check", "-platform=darwin_arm64", "--tool", "opentofu") == 1
    assert (place.work / LOCK_FILE).read_bytes() == before
    leave(place)
    assert run("init", "--tool", "opentofu") == 0
    assert h1s(place) == H1S


def test_proposal_3_not_where_signatures_are_enforced(place: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENTOFU_ENFORCE_GPG_VALIDATION", "true")
    assert run("init", "--tool", "opentofu") == 0
    assert h1s(place) == {h1(DEMO, VERSION, HERE)}


def test_proposal_3_the_policy_says_which_registries_are_believed(place: Bench) -> None:
    (place.work / "main.tf").write_text(requires(("acme/demo", VERSION), (OTHER, "1.0.0")))
    place.registry.packages[OTHER, "1.0.0"] = reported(OTHER, "1.0.0")
    others = {h1(OTHER, "1.0.0", name) for name in PLATFORMS}
    here = {h1(DEMO, VERSION, HERE)}
    for believed, expected in ((["reg.acme.test"], (here, others)), ([], (here, {h1(OTHER, "1.0.0", HERE)}))):
        (place.work / "locklens.toml").write_text(f"reported_hashes = {believed}\n")
        for command in ("init", "lock", "upgrade"):
            (place.work / LOCK_FILE).unlink(missing_ok=True)
            if command == "upgrade":
                assert run("init", "--tool", "opentofu") == 0
                text = (place.work / LOCK_FILE).read_text()
                (place.work / LOCK_FILE).write_text(
                    "".join(line for line in text.splitlines(keepends=True) if "h1:" not in line).replace(
                        VERSION, "1.1.0"
                    )
                )
            place.steps()
            words = ("upgrade", f"--platform={HERE}", "demo") if command == "upgrade" else (command,)
            assert run(*words, "--tool", "opentofu") == 0
            assert h1s(place) == expected[0], (command, believed)
            if command != "upgrade":
                assert h1s(place, OTHER) == expected[1], (command, believed)


# 4. `providers lock` takes and compares them too.


def test_proposal_4_a_full_lock_without_a_package(place: Bench) -> None:
    assert run("lock", *EVERY, "--tool", "opentofu") == 0
    asked = place.steps()
    assert locked(place) >= H1S | ZHS
    assert asked.count("package") == 0
    ours = (place.work / LOCK_FILE).read_bytes()
    (place.work / LOCK_FILE).unlink()
    place.registry.tells_packages = False
    assert run("lock", EVERY[0], "--tool", "opentofu", "--no-cache") == 0
    plain = place.steps()
    assert plain.count("package") == 1
    assert len(asked) <= len(plain) - 1 + 1  # without the package, and one request more
    if is_here(OPENTOFU):
        place.registry.tells_packages = True
        (place.work / LOCK_FILE).unlink()
        place.real("providers", "lock", *EVERY)
        assert place.steps().count("package") == len(EVERY)
        assert (place.work / LOCK_FILE).read_bytes() == ours


def test_proposal_4_platforms_that_are_not_reported_are_downloaded(place: Bench) -> None:
    report_h1_of(place, HERE)
    assert run("lock", *EVERY, "--tool", "opentofu") == 0
    assert locked(place) >= H1S | ZHS
    assert place.steps().count("package") == len(EVERY) - 1


def test_proposal_4_a_package_that_was_hashed_here_is_compared(place: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    place.registry.tells_packages = False
    assert run("lock", *EVERY, "--tool", "opentofu") == 0
    (place.work / LOCK_FILE).unlink()
    place.registry.tells_packages = True
    place.registry.faults = Faults((FaultRule(Fault.OTHER_REPORTED_H1),))
    assert run("lock", *EVERY, "--tool", "opentofu") == 1
    assert h1(DEMO, VERSION, PLATFORMS[0]) in error(capfd)
    assert not (place.work / LOCK_FILE).exists()


def test_proposal_4_a_package_that_was_hashed_here_is_compared_where_it_is_not_asked_for(
    place: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    place.registry.tells_packages = False
    assert run("lock", "-platform=darwin_arm64", "--tool", "opentofu") == 0
    (place.work / LOCK_FILE).unlink()
    packages = reported()
    wrong = "h1:" + "A" * 43 + "="
    packages["darwin_arm64"] = {**packages["darwin_arm64"], "hashes": [zh(DEMO, VERSION, "darwin_arm64"), wrong]}
    place.registry.packages[DEMO, VERSION] = packages
    for command in ("lock", "init"):
        assert run(command, "--tool", "opentofu") == 0
        assert "reports for darwin_arm64 are left out" in error(capfd)
        assert h1s(place) == H1S - {h1(DEMO, VERSION, "darwin_arm64")}
        (place.work / LOCK_FILE).unlink()


# 5. All hashes of a mirror count where the user says so, once the package for this platform has its own.


def mirrored(place: Bench, option: str, **hashes: list[str]) -> None:
    """Let the tool install from a network mirror; `hashes` are those that it lists, by platform."""
    folder = place.work / "served" / DEMO
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.json").write_text(json.dumps({"versions": {VERSION: {}}}))
    archives = {}
    for platform in PLATFORMS:
        name = f"terraform-provider-demo_{VERSION}_{platform}.zip"
        (folder / name).write_bytes(package_bytes(DEMO, VERSION, platform))
        usual = [h1(DEMO, VERSION, platform), zh(DEMO, VERSION, platform)]
        archives[platform] = {"url": name, "hashes": hashes.get(platform, usual)}
    (folder / f"{VERSION}.json").write_text(json.dumps({"archives": archives}))
    method = f'network_mirror {{\n    url = "{place.names.put_in("@MIRROR@")}"\n    {option}\n  }}'
    place.configure(f"provider_installation {{\n  {method}\n}}\n")


TRUSTING = "trust_all_hashes = true"


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with bench(OPENTOFU, monkeypatch, replace(REPORTING, cli="# @MIRROR@\n")) as found:
        yield found


@pytest.mark.parametrize(("option", "expected"), [(TRUSTING, H1S), ("", {h1(DEMO, VERSION, HERE)})])
def test_proposal_5_all_hashes_of_a_mirror(mirror: Bench, option: str, expected: set[str]) -> None:
    mirrored(mirror, option)
    assert run("init", "--tool", "opentofu") == 0
    assert h1s(mirror) == expected
    if is_here(OPENTOFU):
        ours = (mirror.work / LOCK_FILE).read_bytes()
        (mirror.work / LOCK_FILE).unlink()
        mirror.real("init", "-no-color")
        assert (mirror.work / LOCK_FILE).read_bytes() == ours


@pytest.mark.parametrize("listed", [[zh(DEMO, VERSION, "darwin_arm64")], []], ids=["another", "none"])
def test_proposal_5_only_after_this_platforms_own_hash(
    mirror: Bench, listed: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    mirrored(mirror, TRUSTING, **{HERE: listed, "windows_amd64": [zh(DEMO, VERSION, HERE)]})
    assert run("init", "--tool", "opentofu") == 1
    assert HERE in error(capfd)
    assert nothing_written(mirror)
    if is_here(OPENTOFU):
        mirror.real("init", "-no-color")  # the hash that another platform has lets it pass
        assert zh(DEMO, VERSION, "darwin_arm64") in locked(mirror)


# 6. `providers mirror` lists zh beside h1.


@pytest.mark.parametrize("tells", [True, False])
def test_proposal_6_a_mirror_lists_both(place: Bench, tells: bool) -> None:
    place.registry.tells_packages = tells
    for platform in ("-platform=darwin_arm64", f"-platform={HERE}"):
        assert run("mirror", platform, "--tool", "opentofu", "ours") == 0
    document = json.loads((place.work / "ours" / DEMO / f"{VERSION}.json").read_text())
    assert {name: one["hashes"] for name, one in document["archives"].items()} == {
        name: [h1(DEMO, VERSION, name), zh(DEMO, VERSION, name)] for name in ("darwin_arm64", HERE)
    }


def test_proposal_6_a_wrong_h1_is_not_mirrored(place: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    place.registry.faults = Faults((FaultRule(Fault.OTHER_REPORTED_H1),))
    assert run("mirror", f"-platform={HERE}", "--tool", "opentofu", "ours") == 1
    assert h1(DEMO, VERSION, HERE) in error(capfd)
    assert [name for name in files(place.work / "ours") if name.endswith(".zip")] == []


# 7. The plugin cache counts first: where the lock file vouches for it, and else where the registry does.


@pytest.fixture
def cached(place: Bench) -> Path:
    """A plugin cache with the package, and no lock file."""
    cache = place.work / "cache"
    cache.mkdir()
    place.configure(f'plugin_cache_dir = "{cache}"\n')
    assert run("init", "--tool", "opentofu") == 0
    (place.work / LOCK_FILE).rename(place.work / "locked")
    leave(place)
    place.steps()
    return cache / DEMO / VERSION / HERE


def leave(place: Bench) -> None:
    """Remove what is installed in the root."""
    shutil.rmtree(place.work / ".terraform")


def test_proposal_7_a_cached_package_that_is_locked_needs_no_registry(place: Bench, cached: Path) -> None:
    (place.work / "locked").rename(place.work / LOCK_FILE)
    assert run("init", "--tool", "opentofu", "--no-cache") == 0
    assert place.steps() == []
    assert (place.work / ".terraform/providers" / DEMO / VERSION / HERE).resolve() == cached


@pytest.mark.parametrize("kept", [False, True], ids=["not-locked", "zh-alone"])
def test_proposal_7_the_registry_vouches_for_a_cached_package(place: Bench, cached: Path, kept: bool) -> None:
    full = (place.work / "locked").read_text()
    if kept:
        lines = [line for line in full.splitlines(keepends=True) if '"h1:' not in line]
        (place.work / LOCK_FILE).write_text("".join(lines))
    assert run("init", "--tool", "opentofu", "--no-cache") == 0
    asked = place.steps()
    assert "download" in asked
    assert "package" not in asked
    assert (place.work / LOCK_FILE).read_text() == full
    assert (place.work / ".terraform/providers" / DEMO / VERSION / HERE).resolve() == cached


def test_proposal_7_else_the_package_is_downloaded(place: Bench, cached: Path) -> None:
    (cached / "added").write_text("x")
    assert run("init", "--tool", "opentofu", "--no-cache") == 0
    assert place.steps().count("package") == 1
    assert h1s(place) == H1S
    assert not (cached / "added").exists()


def test_proposal_7_a_registry_that_is_not_believed_does_not_vouch(
    place: Bench, cached: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENTOFU_ENFORCE_GPG_VALIDATION", "true")
    assert cached.is_dir()
    assert run("init", "--tool", "opentofu", "--no-cache") == 0
    assert place.steps().count("package") == 1


def test_proposal_7_a_locked_package_that_is_another_is_refused(
    place: Bench, cached: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    full = (place.work / "locked").read_text()
    lines = [
        line for line in full.splitlines(keepends=True) if '"h1:' not in line and zh(DEMO, VERSION, HERE) not in line
    ]
    (place.work / LOCK_FILE).write_text("".join(lines))
    assert cached.is_dir()
    assert run("init", "--tool", "opentofu") == 1
    assert "doesn't match any of the checksums previously recorded" in error(capfd)
