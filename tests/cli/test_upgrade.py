"""`upgrade --list` and `upgrade --safe` against signed registries on loopback: what the screen's `a` selects, and why not the rest."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kit.schemas import validate

from locklens.demo import SampleLock, lock_file
from locklens.demo.faults import Fault, Faults, Step
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.lockfile.parse import parse
from locklens.operations.write.root_upgrade import OLDER_ACCEPTED

if TYPE_CHECKING:
    from kit.command_line import Run

HOST, LOCK = "registry.terraform.io", ".terraform.lock.hcl"


def listed(*versions: tuple[str, int]) -> list[str | SampleListing]:
    return [SampleListing(version, days=days) for version, days in versions]


@pytest.fixture(scope="module")
def registry() -> Iterator[DemoRegistry]:
    offers = {
        f"{HOST}/acme/demo": listed(("1.0.0", 300), ("1.1.0", 30), ("2.0.0", 20)),
        f"{HOST}/acme/other": listed(("1.0.0", 300), ("1.1.0", 2)),
        f"{HOST}/acme/pinned": listed(("1.0.0", 300), ("1.1.0", 30)),
        f"{HOST}/acme/early": listed(("1.0.0", 300), ("2.0.0-rc1", 30)),
    }
    with DemoRegistry(offers) as running:
        yield running


@pytest.fixture
def upgrade(run: Run) -> Run:
    def call(*argv: str) -> tuple[int, str, str]:
        return run("upgrade", *argv, "--no-cache")

    return call


CONSTRAINTS = {"demo": "~> 1.0", "other": ">= 1.0.0", "pinned": "1.0.0"}


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = tmp_path / "top"
    (top / "a").mkdir(parents=True)
    lines = "".join(
        f'    {name} = {{\n      source  = "acme/{name}"\n      version = "{text}"\n    }}\n'
        for name, text in CONSTRAINTS.items()
    )
    (top / "a/main.tf").write_text(f"terraform {{\n  required_providers {{\n{lines}  }}\n}}\n")
    locks = (SampleLock(f"{HOST}/acme/{name}", "1.0.0", text) for name, text in CONSTRAINTS.items())
    (top / "a" / LOCK).write_bytes(lock_file(*locks))
    (top / "locklens.toml").write_text("cooldown = 7\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=top, check=True)
    monkeypatch.chdir(top)
    return top


def document(upgrade: Run, *words: str, fails: bool = False) -> dict[str, Any]:
    status, out, err = upgrade("--list", "--format", "json", *words)
    assert status == fails
    is_ignored = "--ignore-cooldown" in words
    assert err == ("warning: the policy's cooldown of 7 days is ignored (--ignore-cooldown)\n" if is_ignored else "")
    found: dict[str, Any] = json.loads(out)
    validate(found, "upgrade")
    return found


def locked(top: Path) -> dict[str, str]:
    entries = parse((top / "a" / LOCK).read_bytes(), LOCK).entries
    return {one.address.type: str(one.version) for one in entries}


def test_the_list_as_json(upgrade: Run, top: Path) -> None:
    before = (top / "a" / LOCK).read_bytes()
    found = document(upgrade, "--root", "a")
    assert found["run"]["hosts"][0]["asked"] is True
    assert found["run"]["policy"] == {"file": "locklens.toml", "side": "base"}
    by_name = {one["provider"].rpartition("/")[2]: one for one in found["candidates"]}
    demo = by_name["demo"]
    assert [demo[key] for key in ("root", "locked", "recommended", "in_range", "newest", "safe", "signer_changed")] == [
        "a", "1.0.0", "1.1.0", "1.1.0", "2.0.0", True, False,
    ]  # fmt: skip
    assert demo["released"].endswith("Z")
    assert demo["blocked_by"] == [{"kind": "constraint", "file": "a/main.tf", "line": 5, "text": "~> 1.0"}]
    assert [one["kind"] for one in by_name["other"]["blocked_by"]] == ["cooldown"]
    assert (by_name["other"]["recommended"], by_name["other"]["safe"]) == (None, False)
    assert by_name["other"]["signer_changed"] is None, "nothing is eligible, so no signer was looked up"
    assert by_name["pinned"]["blocked_by"] == [{"kind": "pin", "file": "a/main.tf", "line": 13, "text": "1.0.0"}]
    assert (top / "a" / LOCK).read_bytes() == before


def test_the_signer_of_every_listed_upgrade_is_looked_up(
    upgrade: Run, top: Path, registry: DemoRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("locklens.operations.upgrades.selection._LOOKED_UP", 0)  # Of the screen; as with many releases.
    monkeypatch.setattr(registry, "faults", Faults())
    registry.faults.add(Fault.NOT_FOUND, step=Step.DATES)
    registry.faults.add(Fault.OTHER_SIGNER, f"{HOST}/acme/demo", "1.1.0")
    found = {one["provider"].rpartition("/")[2]: one for one in document(upgrade, "--all-roots")["candidates"]}
    assert (found["demo"]["safe"], found["demo"]["signer_changed"]) == (False, True), "in need of a decision already"
    assert found["other"]["signer_changed"] is False
    assert "not looked up" not in upgrade("--list", "--all-roots")[1]


def test_the_list_as_text(upgrade: Run, top: Path) -> None:
    status, out, _ = upgrade("--list", "--root", "a")
    assert status == 0
    assert out.startswith("a\n=\n\nacme/demo 1.0.0 -> 1.1.0  registry.terraform.io\nSTATE        can upgrade now\n")
    assert "NEWER        2.0.0  held back: ~> 1.0 (a/main.tf:5)\n" in out
    assert "selected" not in out
    (top / "locklens.toml").write_text('allow = ["acme/demo < 1.1"]\n')
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "allow"], cwd=top, check=True)
    assert (
        "    1.1.0            30d  minor       in range  not on the allow list\n" in upgrade("--list", "--root", "a")[1]
    )


@pytest.mark.parametrize("mode", ["--list", "--safe"])
def test_a_lock_file_that_git_ignores_is_not_absent(upgrade: Run, top: Path, mode: str) -> None:
    git = ["git", "-c", "user.name=n", "-c", "user.email=e"]
    (top / ".gitignore").write_text(f"{LOCK}\n")
    subprocess.run(["git", "rm", "-qr", "--cached", f"a/{LOCK}"], cwd=top, check=True)
    subprocess.run([*git, "commit", "-qam", "ignored"], cwd=top, check=True)
    with (top / "a/main.tf").open("a") as file:
        file.write("# edited\n")
    _, out, err = upgrade(mode, "--root", "a")
    said = out + err
    assert f"a/{LOCK}: git ignores the lock file" in said
    assert f"`git check-ignore -v a/{LOCK}` names the pattern" in said
    assert "no lock file" not in said


@pytest.mark.parametrize("mode", ["--list", "--safe"])
def test_a_root_that_only_the_base_has_is_no_root(upgrade: Run, top: Path, mode: str) -> None:
    (top / "a" / LOCK).unlink()
    status, out, err = upgrade(mode, "--root", "a")
    assert (status, "no lock file" in out + err, "locklens lock or terraform init creates it" in out + err) == (
        1,
        True,
        True,
    )
    assert "no provider" not in out
    (top / "a/main.tf").unlink()
    assert upgrade(mode, "--root", "a")[::2] == (2, "error: a: no configuration or lock file in this folder\n")
    (top / "a").rmdir()
    status, _, err = upgrade(mode, "--root", "a")
    assert (status, err.splitlines()[0]) == (2, "error: a: no such folder")


def test_stage_tells_what_cached_answers_tell_of_a_block(run: Run, top: Path) -> None:
    """It asks no registry, and review --staged --offline has the same findings."""
    (top / "locklens.toml").write_text('cooldown = 7\nfail_on = "warn"\n')
    who = "-c", "user.name=n", "-c", "user.email=e"
    subprocess.run(["git", *who, "commit", "-qam", "locked"], cwd=top, check=True)
    assert run("upgrade", "acme/other=1.1.0", "--root", "a")[0] == 0
    assert run("review", "--root", "a")[0] == 1
    status, _, err = run("stage", "--root", "a")
    assert (status, "warn: LK014 a/.terraform.lock.hcl:" in err) == (1, True), err
    assert err.endswith("hint: no registry was asked: locklens review --staged checks hashes and signers\n")


def test_without_the_cooldown(upgrade: Run, top: Path) -> None:
    found = document(upgrade, "--root", "a", "--ignore-cooldown")
    assert {one["provider"].rpartition("/")[2] for one in found["candidates"] if one["safe"]} == {"demo", "other"}


def test_why_names_the_version_that_upgrade_selects_by_what_the_lock_file_records(
    run: Run, upgrade: Run, top: Path
) -> None:
    (top / "a/main.tf").unlink()
    status, out, _ = run("why", "demo", "--no-cache", "--", "a")
    assert "recorded in the lock file: no configuration in this folder" in out
    (version,) = re.findall(r"UPGRADE +`locklens upgrade \S+` selects (\S+)\n", out)
    status, out, err = upgrade("demo", "--root", "a")
    assert (status, out) == (0, f"a: acme/demo 1.0.0 -> {version}\nwrote a/.terraform.lock.hcl\n"), err


def test_majors_are_eligible_where_the_user_takes_them_in(upgrade: Run, top: Path) -> None:
    main, lock = top / "a/main.tf", top / "a" / LOCK
    main.write_text(main.read_text().replace("~> 1.0", ">= 1.0"))
    written = lock.read_bytes()
    (demo,) = (one for one in document(upgrade, "--root", "a")["candidates"] if one["provider"].endswith("/demo"))
    assert [demo[key] for key in ("recommended", "in_range", "safe")] == ["1.1.0", "2.0.0", True]
    assert demo["blocked_by"] == [{"kind": "major", "file": None, "line": None, "text": "major version, not included"}]
    assert "NEWER        2.0.0  held back: major version, not included\n" in upgrade("--list", "--root", "a")[1]
    status, out, err = upgrade("--safe", "--root", "a", "--include-major")
    assert (status, out) == (0, "a: acme/demo 1.0.0 -> 2.0.0 (major)\nwrote a/.terraform.lock.hcl\n"), err
    lock.write_bytes(written)
    status, out, err = upgrade("demo", "--root", "a", "--dry-run")
    assert "a: acme/demo 1.0.0 would become 2.0.0 (major)\n" in err
    status, out, err = upgrade("--safe", "--root", "a")
    assert (status, out) == (0, "a: acme/demo 1.0.0 -> 1.1.0\nwrote a/.terraform.lock.hcl\n"), err
    # Now the major version is all that is left.
    (demo,) = (one for one in document(upgrade, "--root", "a")["candidates"] if one["provider"].endswith("/demo"))
    assert [demo[key] for key in ("recommended", "safe", "blocked_by")] == ["2.0.0", False, []]
    status, out, err = upgrade("--safe", "--root", "a")
    assert (status, out) == (0, "nothing was changed\n")
    assert "note: 1 provider needs a decision, 2 are held back: --list in place of --safe names the reasons\n" in err


def test_an_older_version_is_a_decision(upgrade: Run, top: Path) -> None:
    lock = top / "a" / LOCK
    lock.write_bytes(lock_file(SampleLock(f"{HOST}/acme/pinned", "1.1.0")))
    status, _, err = upgrade("--safe", "pinned", "--root", "a")
    words = (
        "acme/pinned: not upgraded, although the locked 1.1.0 does not satisfy the constraints: 1.0.0 needs a decision"
    )
    assert (status, locked(top)) == (0, {"pinned": "1.1.0"})
    assert f"warning: a: {words}\n" in err
    assert "note: 1 provider needs a decision" in err


@pytest.mark.parametrize("step", [Step.SUMS, Step.SIGNATURE])
def test_no_version_whose_signer_cannot_be_looked_up_is_eligible(
    upgrade: Run, top: Path, registry: DemoRegistry, step: Step
) -> None:
    registry.faults.add(Fault.SERVER_ERROR, f"{HOST}/acme/demo", "1.1.0", step=step)
    try:
        (demo,) = (one for one in document(upgrade, "--root", "a")["candidates"] if one["provider"].endswith("/demo"))
        status, out, err = upgrade("--safe", "--root", "a")
    finally:
        registry.faults = Faults()
    assert (demo["recommended"], demo["safe"], demo["signer_changed"]) == ("1.1.0", False, None)
    (blocker,) = (one for one in demo["blocked_by"] if one["kind"] == "signer")
    assert blocker["text"].startswith("signer unknown: the ")
    assert (status, out) == (1, "nothing was changed\n"), err
    assert "error: a: acme/demo is not upgraded to 1.1.0: its signer is unknown: the " in err
    assert "500 Internal Server Error" in err


def test_the_cooldown_counts_without_a_version(upgrade: Run, top: Path) -> None:
    status, out, err = upgrade("other", "--root", "a")
    assert (status, out) == (0, "nothing was changed\n")
    assert "a: acme/other: kept at 1.0.0; 1.1.0 is held back: cooldown 7 d (2 d old)\n" in err
    status, out, err = upgrade("other", "--root", "a", "--ignore-cooldown")
    assert (status, out) == (0, "a: acme/other 1.0.0 -> 1.1.0\nwrote a/.terraform.lock.hcl\n")
    assert err.startswith("warning: the policy's cooldown of 7 days is ignored (--ignore-cooldown)\n")


def test_a_named_version_within_the_cooldown_is_a_warning(upgrade: Run, top: Path) -> None:
    words = "warning: a: acme/other: 1.1.0 is 2 days old, and the cooldown is 7 days (LK014)\n"
    for more in ((), ("--edit-constraints",)):
        status, _, err = upgrade("other=1.1.0", "--root", "a", "--dry-run", *more)
        assert (status, words in err) == (0, True), err


def test_the_cooldown_counts_in_why(run: Run, top: Path) -> None:
    status, out, _ = run("why", "other", "--no-cache", "--", "a")
    assert status == 0
    assert re.search(r"LOCKED       1\.0\.0  \S+:\d+  satisfies the constraints  \d+d old\n", out), out
    assert "selects 1.0.0; 1.1.0, the newest in range, is held back: cooldown 7 d (2 d old)" in " ".join(out.split())
    assert "NEWER        1.1.0  held back:\n                 cooldown 7 d (2 d old)\n" in out
    status, out, _ = run("why", "other", "--no-cache", "--format", "json", "--", "a")
    assert status == 0
    found = json.loads(out)
    validate(found, "why")
    registry = found["roots"][0]["registry"]
    assert (registry["upgrade"]["version"], registry["recommended"]) == ("1.1.0", "1.0.0")
    assert registry["newer"][0]["held_by"][0]["reason"] == "cooldown"


def test_a_pin_counts_in_why_for_the_version_that_an_upgrade_would_select(run: Run, top: Path) -> None:
    def why(key: str) -> tuple[str, dict[str, Any]]:
        (top / "locklens.toml").write_text(f'[trust.acme]\nkeys = ["{key}"]\n')
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "pin"], cwd=top, check=True)
        found = json.loads(run("why", "demo", "--no-cache", "--format", "json", "--", "a")[1])
        validate(found, "why")
        return " ".join(run("why", "demo", "--no-cache", "--", "a")[1].split()), found["roots"][0]["registry"]

    text, found = why("A" * 40)
    assert "selects 1.0.0; 1.1.0, the newest in range, is held back: signed by " in text
    (key,) = set(re.findall("signed by ([0-9A-F]{40}); the policy pins acme to A{40} ", text))
    assert (found["upgrade"]["version"], found["recommended"]) == ("1.1.0", "1.0.0")
    held = {version: group["held_by"] for group in found["newer"] for version in group["versions"]}
    assert [one["reason"] for one in held["1.1.0"]] == ["signer"]
    text, found = why(key)
    assert "selects 1.1.0 NEWER" in text
    assert "1.1.0 not held back REQUIRED BY" in text
    assert found["recommended"] == "1.1.0"


def test_lock_and_init_say_that_a_version_they_lock_anew_is_within_the_cooldown(run: Run, top: Path) -> None:
    lock = top / "a" / LOCK
    words = "\nacme/other 1.1.0 is 2 days old, and the cooldown is 7 days (LK014)\n"
    for command in ("lock", "init"):
        assert words not in run(command, "--root", "a", "--no-cache", "--dry-run")[2], "locked, and kept"
    assert words in run("init", "--upgrade", "--root", "a", "--no-cache", "--dry-run")[2]
    lock.unlink()
    for command in ("lock", "init"):
        assert words in run(command, "--root", "a", "--no-cache")[2]
        assert words not in run(command, "--root", "a", "--no-cache")[2]
        lock.unlink()
    (top / "locklens.toml").write_text("")
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "no"], cwd=top, check=True)
    assert "LK014" not in run("lock", "--root", "a", "--no-cache")[2]


def test_lock_and_init_warn_of_all_that_the_policy_has_against_a_version_they_lock_anew(run: Run, top: Path) -> None:
    pin = "A" * 40
    policy = f'cooldown = 7\nallow = ["acme/demo", "acme/other < 1.1"]\n[trust.acme]\nkeys = ["{pin}"]\n'
    (top / "locklens.toml").write_text(policy)
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "all"], cwd=top, check=True)
    lock = top / "a" / LOCK
    for command in ("lock", "init"):
        assert "(LK0" not in run(command, "--root", "a", "--no-cache", "--dry-run")[2], "locked, and kept"
    lock.unlink()
    for command in ("lock", "init"):
        status, _, err = run(command, "--root", "a", "--no-cache", "--dry-run")
        told = " ".join(err.split())
        assert status == 0
        assert "acme/other 1.1.0, acme/pinned 1.0.0: not on the allow list (LK022)" in told
        assert re.search(rf"acme/demo 1\.1\.0 is signed by \S+; the policy pins acme to {pin} \(\S+\),? ", told)
        assert "acme/other 1.1.0 is 2 days old, and the cooldown is 7 days (LK014)" in told
    mirror = top.parent / "mirror"
    assert run("mirror", "--root", "a", "--no-cache", str(mirror))[0] == 0
    err = run("lock", "--root", "a", "--no-cache", "--fs-mirror", str(mirror), "--dry-run")[2]
    assert "acme/pinned 1.0.0: the keys that the policy pins cannot be checked" in " ".join(err.split())
    assert "the 7-day cooldown cannot be checked" in " ".join(err.split())


def test_lock_and_init_warn_of_a_version_without_a_package_for_a_required_platform(run: Run, top: Path) -> None:
    (top / "locklens.toml").write_text('[platforms]\nplan9_arm = "museum"\nlinux_amd64 = "CI"\n')
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "all"], cwd=top, check=True)
    words = "acme/demo 1.1.0 for plan9_arm, acme/other 1.1.0 for plan9_arm{}: no package is offered, and the policy"
    status, _, err = run("init", "--upgrade", "--root", "a", "--no-cache", "--dry-run")
    assert (status, words.format("") in " ".join(err.split())) == (0, True), err
    assert "LK009" not in run("init", "--root", "a", "--no-cache", "--dry-run")[2], "locked, and kept"
    (top / "a" / LOCK).unlink()
    status, _, err = run("lock", "--platform", "linux_amd64", "--root", "a", "--no-cache", "--dry-run")
    pinned = words.format(", acme/pinned 1.0.0 for plan9_arm")
    assert (status, pinned in " ".join(err.split())) == (0, True), err


def test_what_is_safe_moves_and_nothing_else(upgrade: Run, top: Path) -> None:
    status, out, err = upgrade("--safe", "--root", "a", "--dry-run")
    assert status == 0, err
    assert locked(top) == {"demo": "1.0.0", "other": "1.0.0", "pinned": "1.0.0"}
    status, out, err = upgrade("--safe", "--root", "a")
    assert (status, out) == (0, "a: acme/demo 1.0.0 -> 1.1.0\nwrote a/.terraform.lock.hcl\n"), err
    assert locked(top) == {"demo": "1.1.0", "other": "1.0.0", "pinned": "1.0.0"}
    assert upgrade("--safe", "--root", "a")[:2] == (0, "nothing was changed\n")


def test_what_some_roots_alone_hold_back_is_counted_once(upgrade: Run, top: Path) -> None:
    shutil.copytree(top / "a", top / "b")
    main = top / "b/main.tf"
    main.write_text(main.read_text().replace('"~> 1.0"', '"1.0.0"'))
    words = ("--safe", "--root", "a", "--root", "b", "--dry-run")
    assert "note: 3 providers are held back (1 in some roots alone): --list" in upgrade(*words)[2]
    for path in (top / "a/main.tf", main):
        path.write_text(path.read_text().replace('"acme/pinned"\n      version = "1.0.0"', '"acme/pinned"'))
    assert "note: 1 provider is held back in some roots alone: --list" in upgrade(*words, "--ignore-cooldown")[2]


def test_named_providers_are_listed_and_moved_alone(upgrade: Run, top: Path) -> None:
    found = document(upgrade, "acme/other", "pinned", "--root", "a")
    assert [one["provider"].rpartition("/")[2] for one in found["candidates"]] == ["other", "pinned"]
    held = "a: acme/other: kept at 1.0.0; held back: 1.1.0 is 2d old, cooldown 7 d\n"
    assert upgrade("--safe", "other", "--root", "a") == (0, "nothing was changed\n", held)
    assert upgrade("--safe", "demo", "--root", "a")[:2] == (
        0,
        "a: acme/demo 1.0.0 -> 1.1.0\nwrote a/.terraform.lock.hcl\n",
    )
    (top / "a/main.tf").write_text((top / "a/main.tf").read_text().replace("acme/other", "acme/third"))
    status, _, err = upgrade("--safe", "acme/other", "pinned", "--root", "a")
    kept = "a: acme/pinned: kept at 1.0.0; held back: 1.0.0 (a/main.tf:13)\n"
    assert (status, err) == (0, f"a: acme/other: left at 1.0.0: not required by this root\n{kept}")


def test_a_newer_pre_release_is_named_as_what_is_held_back(upgrade: Run, top: Path) -> None:
    """`--safe` said that no newer version is listed."""
    for path in (top / "a/main.tf", top / "a" / LOCK):
        path.write_text(path.read_text().replace("acme/other", "acme/early"))
    words = "a: acme/early: kept at 1.0.0; 2.0.0-rc1 is held back: pre-release (needs an exact constraint)\n"
    for mode in ((), ("--safe",)):
        assert upgrade(*mode, "early", "--root", "a") == (0, "nothing was changed\n", words)


def test_a_required_provider_that_cannot_be_locked_is_named(upgrade: Run, top: Path) -> None:
    main, lock = top / "a/main.tf", top / "a" / LOCK
    main.write_text(main.read_text().replace('"1.0.0"', '"~> 3.0"'))
    before, _, _ = lock.read_text().partition('provider "registry.terraform.io/acme/pinned"')
    lock.write_text(before)
    words = "warning: a: acme/pinned: not locked, although it is required: ~> 3.0 (a/main.tf:13)\n"
    status, _, err = upgrade("--safe", "--root", "a")
    assert (status, words in err, locked(top)) == (0, True, {"demo": "1.1.0", "other": "1.0.0"})


@pytest.mark.parametrize(
    ("constraint", "reason"),
    [
        ("~> 3.0", "~> 3.0 (a/main.tf:13)"),
        ("< 1.2.0, > 1.1.0", "> 1.1.0 (a/main.tf:13)"),
        (">= 1.1.0, < 1.1.0", "no version satisfies >= 1.1.0 (a/main.tf:13) and < 1.1.0 (a/main.tf:13)"),
    ],
)
def test_a_locked_version_that_is_excluded_and_stays_is_named(
    upgrade: Run, top: Path, constraint: str, reason: str
) -> None:
    main = top / "a/main.tf"
    main.write_text(main.read_text().replace('"1.0.0"', f'"{constraint}"'))
    words = f"acme/pinned: not upgraded, although the locked 1.0.0 does not satisfy the constraints: {reason}"
    status, _, err = upgrade("--safe", "--root", "a")
    assert (status, locked(top)) == (0, {"demo": "1.1.0", "other": "1.0.0", "pinned": "1.0.0"})
    assert f"warning: a: {words}\n" in err
    note = "note: 3 providers are held back: --list in place of --safe names the reasons\n"
    assert upgrade("--safe", "--root", "a") == (0, "nothing was changed\n", f"{note}warning: a: {words}\n")
    assert upgrade("--list", "--root", "a")[0] == 0, "neither fails for what only an edit of the constraint can move"


def test_a_provider_without_an_answer_fails_and_the_others_move(upgrade: Run, top: Path) -> None:
    lock, main = top / "a" / LOCK, top / "a/main.tf"
    lock.write_bytes(lock_file(*(SampleLock(f"{HOST}/acme/{name}", "1.0.0") for name in ("demo", "gone"))))
    main.write_text(main.read_text().replace("acme/other", "acme/gone"))
    asked = document(upgrade, "--root", "a", fails=True)["candidates"]
    assert [one["provider"] for one in asked if one["problem"]] == [f"{HOST}/acme/gone"]
    status, out, err = upgrade("--safe", "--root", "a")
    assert (status, locked(top)) == (1, {"demo": "1.1.0", "gone": "1.0.0", "pinned": "1.0.0"}), out
    assert re.search(r"^error: a: acme/gone is not upgraded: .*acme/gone$", err, re.MULTILINE)


def test_an_entry_that_nothing_requires_is_not_looked_up(upgrade: Run, top: Path) -> None:
    lock = top / "a" / LOCK
    lock.write_bytes(lock.read_bytes() + lock_file(SampleLock(f"{HOST}/zeta/gone", "1.0.0")).partition(b"\n\n")[2])
    orphan = document(upgrade, "--root", "a")["candidates"][-1]
    assert (orphan["provider"], orphan["problem"], orphan["recommended"]) == (f"{HOST}/zeta/gone", None, None)
    assert "REQUIRED     no: not required by this root; upgrade skips it" in upgrade("--list", "--root", "a")[1]
    status, out, err = upgrade("--safe", "--root", "a")
    assert (status, "error" in err, locked(top)["gone"]) == (0, False, "1.0.0"), out


def test_a_hint_that_several_roots_share_is_printed_once(upgrade: Run, top: Path) -> None:
    shutil.copytree(top / "a", top / "b")
    status, _, err = upgrade("demo=2.0.0", "--root", "a", "--root", "b")
    assert status == 1
    first, second, hint = (line.partition(": ") for line in err.splitlines())
    assert [first[2][:4], second[2][:4]] == ["a: a", "b: a"]
    assert (first[0], second[0], hint[0]) == ("error", "error", "hint")


def test_a_hint_of_warnings_that_several_roots_share_is_printed_once(upgrade: Run, top: Path) -> None:
    (top / "locklens.toml").write_text('allow = ["acme/demo < 1.1", "acme/other", "acme/pinned"]\n')
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "less"], cwd=top, check=True)
    (top / "a" / LOCK).write_bytes(lock_file(SampleLock(f"{HOST}/acme/demo", "1.1.0")))
    for name in "bc":
        shutil.copytree(top / "a", top / name)
    (top / "c" / LOCK).write_bytes(lock_file(SampleLock(f"{HOST}/acme/demo", "1.0.0")))
    status, out, err = upgrade("demo", "--root", "a", "--root", "b", "--root", "c")
    assert (status, out) == (0, "nothing was changed\n")
    warning = "acme/demo: the locked 1.1.0 is not on the allow list of the policy (LK022)"
    assert [line for line in err.splitlines() if line.startswith(("warning: ", "hint: "))] == [
        f"warning: a: {warning}",
        f"warning: b: {warning}",
        f"hint: `locklens upgrade acme/demo=1.0.0 --root a --root b` {OLDER_ACCEPTED}",
    ]
    command = err.partition("`locklens upgrade ")[2].partition("`")[0]
    changed = "".join(f"{name}: acme/demo 1.1.0 -> 1.0.0 (downgrade)\nwrote {name}/{LOCK}\n" for name in "ab")
    status, out, err = upgrade(*command.split())
    assert (status, sorted(out.splitlines())) == (0, sorted(changed.splitlines())), err


def test_a_locked_version_that_the_policy_refuses_is_named_by_the_list_and_by_safe(upgrade: Run, top: Path) -> None:
    """A key that is not pinned was named by neither, and `--safe` named no allow list."""
    (top / "locklens.toml").write_text(f'allow = ["acme/demo", "acme/pinned"]\n[trust.acme]\nkeys = ["{"A" * 40}"]\n')
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "pin"], cwd=top, check=True)
    unpinned = "the locked 1.0.0 is signed by [0-9A-F]{40}; the policy pins acme to A{40} [(]locklens.toml:2[)]"
    unlisted = "the locked 1.0.0 is not on the allow list of the policy; no version in range is"
    status, out, _ = upgrade("--list", "pinned", "other", "--root", "a")
    assert status == 0
    assert all(re.search(f"CAUTION +! {words}", " ".join(out.split())) for words in (unpinned, unlisted)), out
    status, out, err = upgrade("--safe", "--root", "a")
    assert (status, out) == (0, "nothing was changed\n")
    expected = {"demo": unpinned, "other": unlisted, "pinned": unpinned}
    warnings = [line for line in err.splitlines() if line.startswith("warning: ")]
    for line, (name, words) in zip(warnings, expected.items(), strict=True):
        assert re.fullmatch(f"warning: a: acme/{name}: {words}", line), line


def test_a_root_in_which_nothing_can_be_upgraded_is_named(upgrade: Run, top: Path) -> None:
    (top / "a" / LOCK).write_bytes(b"provider {\n")
    found = document(upgrade, "--root", "a", fails=True)
    assert found["candidates"] == []
    assert [one["root"] for one in found["refused"]] == ["a"]
    status, _, err = upgrade("--safe", "--root", "a")
    assert status == 1
    assert "a/.terraform.lock.hcl:1: " in err


def test_a_folder_of_packages_in_a_root_is_no_root(upgrade: Run, top: Path) -> None:
    package = top / "a/mirror" / HOST / "acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip"
    package.parent.mkdir(parents=True)
    package.write_bytes(b"")
    found = document(upgrade, "--root", "a")
    assert {one["root"] for one in found["candidates"]} == {"a"}
    assert found["refused"] == []


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--list", "--safe"], "--list and --safe cannot be used together"),
        (["--safe", "demo=1.1.0"], "take no PROVIDER=VERSION"),
        (["--list", "none", "--root", "a"], "does not require or lock 'none'"),
        (["--list", "--json"], "takes no --dry-run or --json"),
        (["--format", "json"], "--format requires --list"),
        (["--include-major"], "--include-major requires --list or --safe"),
        (["--list", "--root", "nowhere"], "nowhere"),
    ],
)
def test_bad_usage(upgrade: Run, top: Path, words: list[str], part: str) -> None:
    status, out, err = upgrade(*words)
    assert (status, out) == (2, "")
    assert part in err
