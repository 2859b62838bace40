"""A version that is published again while its signed SHA256SUMS goes on to list the packages of before, in disguise.

The publisher's own key signs the new list: somebody else has it, or the publisher's release account. `lock` and
`review` must both notice, whatever the old packages are called now.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from install.conftest import HOST, PLATFORMS, Place
from kit.git import git
from kit.repositories import repository
from msgspec.structs import replace

from locklens.cli.main import main
from locklens.demo import zh
from locklens.demo.faults import Fault, FaultRule
from locklens.demo.published import Published, SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.demo.signing import publisher
from locklens.dialect import TERRAFORM
from locklens.hashes import registry_manifests

DEMO = f"{HOST}/acme/demo"
LINUX = "linux_amd64"
LOCK = ".terraform.lock.hcl"
STEM = "terraform-provider-demo_1.1.0_"


class Republishing(DemoRegistry):
    """Lists the packages of before under names of one's choice, once they were replaced; all is signed anew."""

    listed_as: Callable[[str], str] = staticmethod(lambda platform: "")
    beside = ""
    manifest = b""

    def release(self, provider: str, version: str) -> Published | None:
        found = super().release(provider, version)
        if found is None:
            return None
        lines = self.beside
        if Fault.REPUBLISHED in self.faults.of_release(provider, version):
            names = {platform: self.listed_as(platform) for platform in found.platforms}
            lines += "".join(f"{zh(provider, version, one)[3:]}  {name}\n" for one, name in names.items() if name)
        elif not lines and not self.manifest:
            return found
        sums = found.sums + lines.encode()
        if self.manifest:
            sums = b"".join(
                self.manifest + line[64:] if line.endswith(b"manifest.json\n") else line
                for line in sums.splitlines(keepends=True)
            )
        return replace(found, sums=sums, signature=publisher("acme").signature(sums))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    offers = {DEMO: [SampleListing("1.1.0", PLATFORMS)]}
    with Republishing(offers, tells_packages=False) as registry:
        yield Place(tmp_path, registry)


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(place.root)
    for name in ("HOME", "TF_CLI_CONFIG_FILE"):
        monkeypatch.setenv(name, place.environ[name])

    def call(*words: str) -> tuple[int, str]:
        status = main(words, lambda *_: 0)
        said = capfd.readouterr()
        return status, said.out + said.err

    return call


def republish(place: Place, listed_as: Callable[[str], str]) -> bytes:
    """Publishes again, and returns the lock file of before."""
    before = place.lock_file.read_bytes()
    registry = place.registry
    assert isinstance(registry, Republishing)
    registry.listed_as = listed_as
    place.fail(FaultRule(Fault.REPUBLISHED, "acme/demo", "1.1.0"))
    return before


def reviewed(place: Place, run: Run, before: bytes, *options: str) -> tuple[int, dict[str, tuple[str, str]]]:
    """Reviews what is locked now against what was, and returns each finding's severity and message by its rule."""
    old = place.folder / "before.hcl"
    old.write_bytes(before)
    status, said = run("review", "--old", str(old), "--new", str(place.lock_file), "--format", "json", *options)
    document = json.loads(said[said.index("{") : said.rindex("}") + 1])
    (change,) = document["roots"][0]["changes"]
    return status, {one["rule"]: (one["severity"], one["message"]) for one in change["findings"]}


@pytest.mark.parametrize(
    ("listed_as", "reason"),
    [
        (lambda platform: "", "2 of 2 locked zh of packages are not in"),
        (lambda platform: f"old/{STEM}{platform}.zip", "two zh are locked for terraform-provider-demo_1.1.0_"),
        (lambda platform: f"././{STEM}{platform}.zip", "two zh are locked for terraform-provider-demo_1.1.0_"),
        (lambda platform: f"{STEM}{platform}.zip", "two zh are locked for terraform-provider-demo_1.1.0_"),
        (lambda platform: f"{STEM}{platform}_SBOM.json", "_SBOM.json, which is not a package of this version"),
        (lambda platform: f"{STEM}manifest.json", "manifest.json, which is not a package of this version"),
        (lambda platform: f"{STEM.replace('1.1.0', '1.0.0')}{platform}.zip", "which is not a package of this version"),
        (lambda platform: f"{STEM.replace('demo', 'other')}{platform}.zip", "which is not a package of this version"),
        (lambda platform: f"old\\{STEM}{platform}.zip", "which is not a package of this version"),
    ],
    ids=["gone", "folder", "dots", "twice", "SBOM", "manifest", "version", "type", "backslash"],
)
def test_lock_refuses_and_review_blocks(place: Place, run: Run, listed_as: Callable[[str], str], reason: str) -> None:
    assert run("lock", "--platform", LINUX)[0] == 0
    before = republish(place, listed_as)
    status, said = run("lock", "--platform", LINUX)
    assert status == 1
    assert "the version was republished" in said
    assert reason in said
    assert place.lock_file.read_bytes() == before
    status, said = run("lock", "--platform", LINUX, "--accept-republished")
    assert status == 0
    assert reason in said
    status, found = reviewed(place, run, before)
    assert status == 1
    assert found["LK001"][0] == "block"
    assert reason.replace("locked zh of packages", "zh of packages of the old entry") in found["LK001"][1]


def test_an_old_package_as_another_platforms_shows_as_a_list_that_has_grown(place: Place, run: Run) -> None:
    """Nothing in the list tells such a package from one that was built later: a warning, with the names."""
    run("lock", "--platform", LINUX)
    before = republish(place, lambda platform: f"{STEM}plan9_{platform.replace('_', '')}.zip")
    forms: tuple[tuple[str, ...], ...] = (("--check",), ("--json",))
    told = {words: run("lock", "--platform", LINUX, *words) for words in forms}
    place.lock_file.write_bytes(before)
    told[()] = run("lock", "--platform", LINUX)
    assert [status for status, _ in told.values()] == [1, 0, 0]
    status, found = reviewed(place, run, before)
    assert (status, found["LK001"][0]) == (0, "warn")
    grown = found["LK001"][1]
    assert (
        f"not locked before (grown since, or hashes left out or removed): {STEM}darwin_arm64.zip, {STEM}linux_amd64.zip"
        in grown
    )
    for words in ((), forms[0]):
        lines = told[words][1].splitlines()
        assert "Warning: Release is not as it was locked (LK001)" in lines
        assert f"acme/demo {grown}" in lines
    events = [json.loads(line) for line in told["--json",][1].splitlines() if line.startswith("{")]
    (event,) = (one for one in events if one["type"] == "release_warned")
    assert (f"{event['version']}: {event['words']}", event["rule"]) == (grown, "LK001")
    assert reviewed(place, run, before, "--fail-on", "warn")[0] == 1


def test_a_package_by_the_name_of_a_manifest_warns(place: Place, run: Run) -> None:
    """The digest of a package that comes later is signed now, as a manifest: locked, it lets that package in."""
    run("lock", "--platform", LINUX)
    before = place.lock_file.read_bytes()
    later = b"zh:" + b"e" * 64
    registry = place.registry
    assert isinstance(registry, Republishing)
    registry.beside = f"{'e' * 64}  {STEM}manifest.json\n"
    place.lock_file.write_bytes(before.replace(b'    "zh:', b'    "' + later + b'",\n    "zh:', 1))
    status, found = reviewed(place, run, before, "--fail-on", "warn")
    assert (status, found["LK001"][0]) == (1, "block")
    assert f"has another registry manifest, {later.decode()}" in found["LK001"][1]
    known = next(one for one in registry_manifests() if one.encode() in before).encode()
    without = before.replace(b'    "' + known + b'",\n', b"")
    status, found = reviewed(place, run, without, "--fail-on", "warn")
    assert (status, found["LK001"][0]) == (1, "block"), "two manifests come, for one name"
    place.lock_file.write_bytes(place.lock_file.read_bytes().replace(b'    "' + known + b'",\n', b""))
    status, found = reviewed(place, run, without, "--fail-on", "warn")
    assert (status, found["LK001"][0]) == (1, "warn")
    assert f"not locked before (grown since, or hashes left out or removed): {STEM}manifest.json" in found["LK001"][1]


def test_without_a_base_a_package_by_the_name_of_a_manifest_is_unknown(place: Place, run: Run) -> None:
    run("lock", "--platform", LINUX)
    assert run("lock", "--platform", LINUX, "--check")[1].count("unknown text") == 0
    before = place.lock_file.read_bytes()
    registry = place.registry
    assert isinstance(registry, Republishing)
    registry.manifest = b"e" * 64
    place.lock_file.unlink()
    assert run("lock", "--platform", LINUX)[0] == 0
    assert before != place.lock_file.read_bytes()
    _, said = run("lock", "--platform", LINUX, "--check")
    assert f"lists zh:{'e' * 64} as a manifest whose text is unknown: it may be a package's" in " ".join(said.split())
    _, said = run("health", "--format", "json")
    document = json.loads(said[said.index("{") : said.rindex("}") + 1])
    (check,) = (one for one in document["checks"] if one["id"] == "not-authentic")
    assert (check["unknown"], "as a manifest" in check["reason"]) == (1, True)
    assert document["summary"]["ok"] == 0


def test_packages_that_were_replaced_in_the_lock_file_block(place: Place, run: Run) -> None:
    """The list goes on to have the old ones, as other platforms': they leave the entry, and the new ones enter."""
    run("lock", "--platform", LINUX)
    before = place.lock_file.read_bytes()
    republish(place, lambda platform: f"{STEM}plan9_{platform.replace('_', '')}.zip")
    replaced = before
    for platform in PLATFORMS:
        old, new = (zh(DEMO, "1.1.0", platform, *edition) for edition in ((), ("again",)))
        assert old.encode() in replaced
        replaced = replaced.replace(old.encode(), new.encode())
    place.lock_file.write_bytes(replaced)
    status, found = reviewed(place, run, before)
    assert (status, found["LK001"][0]) == (1, "block")
    assert "2 locked zh are replaced by others" in found["LK001"][1]


def test_a_zh_that_never_was_is_not_said_to_be_republished(place: Place, run: Run) -> None:
    """`lock` has no base: it cannot say whether the hash ever was of the release, and `review`, which has one, can."""
    run("lock", "--platform", LINUX)
    before = place.lock_file.read_bytes()
    foreign = b"zh:" + b"0" * 64
    place.lock_file.write_bytes(before.replace(b'    "zh:', b'    "' + foreign + b'",\n    "zh:', 1))
    status, said = run("lock", "--platform", LINUX, "--check")
    assert status == 1
    assert (
        "the version was republished, or a locked hash never belonged to it: 1 of 3 locked zh of packages is not in"
        in said
    )
    assert "the version was republished: " not in said
    status, found = reviewed(place, run, before)
    assert (status, found["LK002"][0], "LK001" in found) == (1, "block", False)
    assert found["LK002"][1].startswith("1 zh is not in")


def test_init_tells_what_it_adds_to_a_locked_version(place: Place, run: Run) -> None:
    """The package of this machine stayed as it was: the tools add the hashes of all the others without a word."""
    run("lock", "--platform", LINUX)
    h1 = next(line for line in place.lock_file.read_text().splitlines() if '"h1:' in line)
    republish(place, lambda platform: f"{STEM}plan9_{platform.replace('_', '')}.zip")
    run("lock", "--platform", LINUX)
    again = place.lock_file.read_text()
    old = [line for line in again.splitlines() if zh(DEMO, "1.1.0", "darwin_arm64") not in line and h1 != line]
    place.lock_file.write_text("\n".join(one for one in old if zh(DEMO, "1.1.0", "darwin_arm64", "again") not in one))
    status, said = run("init")
    assert status == 0
    assert f"not locked before (grown since, or hashes left out or removed): {STEM}darwin_arm64.zip" in said


def test_a_list_that_names_a_file_twice_is_not_locked_for_the_first_time_either(place: Place, run: Run) -> None:
    place.fail(FaultRule(Fault.REPUBLISHED, "acme/demo", "1.1.0"))
    registry = place.registry
    assert isinstance(registry, Republishing)
    registry.listed_as = lambda platform: f"{STEM}{platform}.zip"
    status, said = run("lock", "--platform", LINUX)
    assert status == 1
    assert "two zh are locked for" in said
    assert not place.lock_file.exists()


def test_an_entry_without_its_hashes_blocks(place: Place, run: Run) -> None:
    """Whatever the registry serves from then on is installed, and its hashes are locked as if they had always been."""
    run("lock", "--platform", LINUX)
    before = place.lock_file.read_bytes()
    start, end = before.index(b"  hashes = ["), before.index(b"  ]\n")
    place.lock_file.write_bytes(before[:start] + before[end + 4 :])
    status, found = reviewed(place, run, before)
    assert (status, found["LK020"][0]) == (1, "block")
    assert reviewed(place, run, before, "--offline")[0] == 1


# Roots that move


def with_two_roots(top: Path) -> Path:
    for root in ("infra/prod", "other"):
        lock(top / root, "before")
    return repository(top, {})


def lock(root: Path, generation: str, *, version: str = "1.1.0") -> None:
    """Locks a version whose packages are those of a generation; nothing but the address and the version is alike."""
    root.mkdir(parents=True, exist_ok=True)
    digests = sorted(sha256(f"{generation} {version} {number}".encode()).hexdigest() for number in range(8))
    hashes = "".join(f'    "zh:{digest}",\n' for digest in digests)
    entry = f'provider "{DEMO}" {{\n  version = "{version}"\n  hashes = [\n{hashes}  ]\n}}\n'
    (root / LOCK).write_text(f"{TERRAFORM.header}\n# Manual edits may be lost in future updates.\n\n{entry}")


def disagreements(top: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *words: str) -> str:
    monkeypatch.chdir(top)
    status = main(["review", "--offline", "--format", "json", *words], lambda *_: 0)
    roots = json.loads(capfd.readouterr().out)["roots"]
    found = [one for root in roots for change in root["changes"] for one in change["findings"]]
    messages = [one["message"] for one in found if (one["rule"], one["severity"]) == ("LK023", "block")]
    assert status == bool(messages)
    return "\n".join(messages)


@pytest.mark.parametrize("words", [(), ("HEAD~1", "--head", "HEAD"), ("--", "infra/live")])
def test_a_root_that_moves_does_not_hide_a_republished_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    top = with_two_roots(tmp_path / "top")
    git(top, "rm", "-q", f"other/{LOCK}")
    git(top, "mv", "infra/prod", "infra/live")
    lock(top / "infra/live", "again")
    git(top, "add", ".")
    if "--head" in words:
        git(top, "commit", "-qm", "x")
    message = disagreements(top, monkeypatch, capfd, *words)
    assert f"different zh hashes in infra/prod/{LOCK}:4 of the base" in message


def test_honest_moves_and_upgrades_agree_with_the_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    top = with_two_roots(tmp_path / "top")
    git(top, "mv", "infra/prod", "infra/live")
    lock(top / "infra/live", "before", version="1.2.0")
    lock(top / "new", "before")
    git(top, "rm", "-q", "-f", f"other/{LOCK}")
    git(top, "add", ".")
    assert disagreements(top, monkeypatch, capfd) == ""
