"""From a metadata file without `h1` to a lock for every platform: `backfill`, a registry that serves the file, `lock`."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conformance.case import HERE, LOCK_FILE, OPENTOFU, PLATFORMS, requires
from conformance.running import is_here
from kit.waiting import LIMIT
from msgspec.structs import replace
from operations.benches import CASE, Bench, bench, run

from locklens.demo import h1, zh
from locklens.demo.published import METADATA_HOST, MetadataFolder

PROVIDERS = {"acme/demo": "1.2.0", "beta/other": "1.0.0"}
VERSIONS = ("1.0.0", "1.2.0")
COMPLETING = replace(
    CASE,
    files={"main.tf": requires(*PROVIDERS.items())},
    catalog=dict.fromkeys(PROVIDERS, VERSIONS),
    tells_packages=False,
)
EVERY = tuple(f"-platform={name}" for name in PLATFORMS)


def address(provider: str) -> str:
    return f"{METADATA_HOST}/{provider}"


def asked(place: Bench, path: str) -> dict[str, Any]:
    with urllib.request.urlopen(place.registry.service_url(METADATA_HOST) + path, timeout=LIMIT) as answer:
        found = json.load(answer)
    assert isinstance(found, dict)
    return found


def write_metadata(place: Bench, folder: Path) -> None:
    """Writes the registry's own files, as it had them before it knew of `h1` and sizes."""
    for provider in PROVIDERS:
        namespace, kind = provider.split("/")
        listed = []
        for version in VERSIONS:
            packages = [
                asked(place, f"{provider}/{version}/download/{name.replace('_', '/')}") for name in sorted(PLATFORMS)
            ]
            shared = {name: packages[0][name] for name in ("protocols", "shasums_url", "shasums_signature_url")}
            names = ("os", "arch", "filename", "download_url", "shasum")
            targets = [{name: one[name] for name in names} for one in packages]
            listed.append({"version": version, **shared, "targets": targets})
        path = folder / "providers" / namespace[0] / namespace / f"{kind}.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"versions": listed}, indent=2))
        key = folder / "keys" / namespace[0] / namespace / "provider.asc"
        key.parent.mkdir(parents=True)
        key.write_text(packages[0]["signing_keys"]["gpg_public_keys"][0]["ascii_armor"])


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with bench(OPENTOFU, monkeypatch, COMPLETING) as found:
        write_metadata(found, found.home / "registry")
        found.registry.metadata = MetadataFolder(found.home / "registry")
        found.steps()
        yield found


@pytest.fixture
def completed(place: Bench) -> Bench:
    """The same, once the files have everything."""
    assert run("backfill", "--allow-loopback", str(place.home / "registry")) == 0
    assert place.steps() == ["package"] * len(PROVIDERS) * len(VERSIONS) * len(PLATFORMS)
    return place


def taken(place: Bench) -> bytes:
    """The lock file, which is removed."""
    found = (place.work / LOCK_FILE).read_bytes()
    (place.work / LOCK_FILE).unlink()
    return found


def without_packages(steps: list[str]) -> int:
    return sum(step != "package" for step in steps)


def test_a_backfilled_registry_locks_every_platform_without_a_package(place: Bench) -> None:
    assert run("lock", EVERY[0], "--tool", "opentofu", "--no-cache") == 0
    (place.work / LOCK_FILE).unlink()
    plain = place.steps()
    assert plain.count("package") == len(PROVIDERS)
    assert run("lock", *EVERY, "--tool", "opentofu", "--no-cache") == 0
    assert place.steps().count("package") == len(PROVIDERS) * len(PLATFORMS)
    downloaded = taken(place)
    assert run("backfill", "--allow-loopback", str(place.home / "registry")) == 0
    place.steps()
    assert run("lock", *EVERY, "--tool", "opentofu", "--no-cache") == 0
    steps = place.steps()
    assert steps.count("package") == 0
    assert len(steps) <= without_packages(plain) + len(PROVIDERS)
    assert taken(place) == downloaded
    if is_here(OPENTOFU):
        place.real("providers", "lock", *EVERY)
        assert taken(place) == downloaded


def test_init_locks_what_the_tool_locks(completed: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("lock", *EVERY, "--tool", "opentofu") == 0
    expected = taken(completed)
    assert run("init", "--tool", "opentofu") == 0
    assert (completed.work / LOCK_FILE).read_bytes() == expected
    if not is_here(OPENTOFU):
        pytest.skip(f"needs {OPENTOFU.command} {OPENTOFU.version} on PATH")
    (completed.work / LOCK_FILE).unlink()
    completed.real("init", "-no-color")
    assert (completed.work / LOCK_FILE).read_bytes() == expected
    assert run("lock", "--check", *EVERY, "--tool", "opentofu") == 0
    judged(capfd, "--no-cache")


def test_a_review_says_what_is_reported_and_what_is_signed(completed: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("lock", *EVERY, "--tool", "opentofu") == 0
    judged(capfd)
    assert completed.steps().count("package") == 0


def changes(capfd: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    capfd.readouterr()
    run("review", "--old", "/dev/null", "--new", LOCK_FILE, "--format", "json", *words)
    (root,) = json.loads(capfd.readouterr().out)["roots"]
    assert len(root["changes"]) == len(PROVIDERS)
    found: list[dict[str, Any]] = root["changes"]
    return found


def judged(capfd: pytest.CaptureFixture[str], *words: str) -> None:
    for change in changes(capfd, *words):
        provider = change["provider"]
        version = PROVIDERS[provider.partition("/")[2]]
        found = {one["hash"]: (one["platform"], one["proof"]) for one in change["hashes"]["added"]}
        for platform in PLATFORMS:
            assert found[h1(provider, version, platform)] == (platform, "reported")
            assert found[zh(provider, version, platform)] == (platform, "signed")
        assert not {one["rule"] for one in change["findings"]} & {"LK001", "LK002", "LK003", "LK027"}


def test_a_registry_that_is_not_believed_saves_no_package(completed: Bench) -> None:
    assert run("lock", *EVERY, "--tool", "opentofu", "--no-cache") == 0
    expected = taken(completed)
    completed.steps()
    (completed.work / "locklens.toml").write_text("reported_hashes = []\n")
    assert run("lock", *EVERY, "--tool", "opentofu", "--no-cache") == 0
    assert completed.steps().count("package") == len(PROVIDERS) * len(PLATFORMS)
    assert taken(completed) == expected


def put_wrong_h1(place: Bench, platform: str) -> str:
    """Exchanges a platform's `h1` in a file, and returns the wrong one."""
    path, wrong = place.home / "registry/providers/a/acme/demo.json", "h1:" + "A" * 43 + "="
    path.write_text(path.read_text().replace(h1(address("acme/demo"), "1.2.0", platform), wrong))
    return wrong


def test_a_wrong_h1_in_a_file_is_found_where_its_package_is_fetched(
    completed: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = put_wrong_h1(completed, HERE)
    assert run("init", "--tool", "opentofu") == 1
    said = " ".join(capfd.readouterr().err.split())
    assert wrong in said
    assert h1(address("acme/demo"), "1.2.0", HERE) in said
    assert not (completed.work / LOCK_FILE).exists()


@pytest.mark.parametrize("platform", [HERE, "darwin_arm64"])
def test_a_wrong_h1_that_the_tool_locked_is_found_where_the_registry_is_not_believed(
    completed: Bench, platform: str, capfd: pytest.CaptureFixture[str]
) -> None:
    if not is_here(OPENTOFU):
        pytest.skip(f"needs {OPENTOFU.command} {OPENTOFU.version} on PATH")
    wrong = put_wrong_h1(completed, platform)
    completed.real("init", "-no-color")
    (completed.home / "strict.toml").write_text("reported_hashes = []\n")
    strict = ("--policy", str(completed.home / "strict.toml"), "--prove", "changed")
    for words, expected in (("--no-cache",), "reported"), (strict, "unknown"):
        change = next(one for one in changes(capfd, *words) if one["provider"] == address("acme/demo"))
        assert {one["hash"]: one["proof"] for one in change["hashes"]["added"]}[wrong] == expected
        rules = {one["rule"] for one in change["findings"]}
        # Here the tool locks the h1 of the package beside the wrong one, and nothing bears both out.
        assert bool(rules & {"LK002", "LK027"}) == (expected == "unknown" or platform == HERE), rules


def test_a_half_completed_file_saves_what_it_has(completed: Bench) -> None:
    path = completed.home / "registry/providers/a/acme/demo.json"
    document = json.loads(path.read_text())
    target = document["versions"][1]["targets"][0]
    del target["h1"], target["package_size"]
    path.write_text(json.dumps(document))
    assert run("lock", *EVERY, "--tool", "opentofu", "--no-cache") == 0
    assert completed.steps().count("package") == 1


def test_a_malformed_file_is_an_error_of_the_server(place: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    (place.home / "registry/providers/a/acme/demo.json").write_text("[]")
    assert run("lock", "--tool", "opentofu", "--no-cache") == 1
    assert "500" in capfd.readouterr().err
