"""Which policy counts, and what it makes of real answers of the sample registry."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from kit.registries import environ_of
from kit.schemas import json_report
from msgspec.structs import replace

from locklens.cli.main import main
from locklens.demo import PLATFORMS, SampleLock, lock_file
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.dialect import TERRAFORM
from locklens.errors import ConfigurationError
from locklens.operations.compare import open_git, open_locked
from locklens.operations.compare_files import open_files
from locklens.operations.comparison import USUAL_SIDES, Base
from locklens.operations.review.policy import with_local_paths
from locklens.operations.review.request import ReviewRequest
from locklens.operations.review.run import review
from locklens.policy import POLICY_FILE, Policy
from locklens.releases import NetworkSettings
from locklens.review.findings import Severity
from locklens.review.model import Change, PolicySide, Review
from locklens.review.reports import lock_lines
from locklens.review.rules.catalogue import wording_of
from locklens.storage.cache import Cache

AWS = "registry.terraform.io/hashicorp/aws"
OLD, NEW = SampleLock(AWS, "5.84.0"), SampleLock(AWS, "5.86.1")

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """A repository without a commit; runs git in it."""

    def run(*words: str) -> str:
        config = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        done = subprocess.run(["git", *config, *words], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout

    run("init", "--quiet")
    return run


def commit(git: Git, folder: Path, **files: bytes) -> None:
    for name, data in files.items():
        (folder / {"policy": POLICY_FILE, "lock": ".terraform.lock.hcl"}[name]).write_bytes(data)
    git("add", "--all")
    git("commit", "--quiet", "--message", "x")


def judged(folder: Path, given: Path | None = None, base: Base = USUAL_SIDES) -> Review:
    found = review(ReviewRequest(partial(open_git, folder, base), policy=given))
    json_report("review", found)
    return found


def test_the_base_counts_not_the_change(git: Git, tmp_path: Path) -> None:
    commit(git, tmp_path, policy=b"cooldown = 7\n", lock=lock_file(OLD))
    (tmp_path / POLICY_FILE).write_bytes(b"cooldown = 0\n")
    (tmp_path / ".terraform.lock.hcl").write_bytes(lock_file(NEW))
    found = judged(tmp_path)
    assert (found.policy.cooldown, found.policy.file, found.policy_side) == (7, POLICY_FILE, PolicySide.BASE)
    assert found.notes == ("locklens.toml in the work tree differs from that of the base (HEAD), which applies",)
    assert json_report("review", found)["run"]["policy"] == {"file": "locklens.toml", "side": "base"}


def test_a_policy_that_comes_with_the_change_does_not_count_yet(git: Git, tmp_path: Path) -> None:
    commit(git, tmp_path, lock=lock_file(OLD))
    (tmp_path / POLICY_FILE).write_bytes(b"not [ toml")
    found = judged(tmp_path)
    assert (found.policy, found.policy_side) == (Policy(), PolicySide.NONE)
    assert found.notes == ("locklens.toml in the work tree does not count: the base (HEAD) has no policy",)
    assert json_report("review", found)["run"]["policy"] == {"file": None, "side": "none"}


def test_a_policy_that_is_gone_still_counts(git: Git, tmp_path: Path) -> None:
    commit(git, tmp_path, policy=b"cooldown = 7\n")
    (tmp_path / POLICY_FILE).unlink()
    found = judged(tmp_path)
    assert found.policy.cooldown == 7
    assert found.notes == ("locklens.toml is missing in the work tree: that of the base (HEAD) applies",)


def test_the_named_base_counts(git: Git, tmp_path: Path) -> None:
    commit(git, tmp_path, policy=b"cooldown = 7\n")
    commit(git, tmp_path, policy=b"cooldown = 8\n")
    found = judged(tmp_path, base=Base("HEAD~1", head="HEAD"))
    assert found.policy.cooldown == 7
    assert found.notes == ("locklens.toml in HEAD differs from that of the base (HEAD~1), which applies",)
    assert judged(tmp_path, base=Base("HEAD", head="HEAD~1")).policy.cooldown == 8
    assert judged(tmp_path).notes == ()


def test_a_policy_of_the_base_alone_is_no_change_of_the_head(git: Git, tmp_path: Path) -> None:
    commit(git, tmp_path, policy=b"cooldown = 7\n")
    git("branch", "feature")
    commit(git, tmp_path, policy=b"cooldown = 8\n", lock=lock_file(OLD))
    git("tag", "newer")
    git("switch", "--quiet", "feature")
    found = judged(tmp_path, base=Base("newer"))
    assert found.notes == ("locklens.toml in the work tree differs from that of the base (newer), which applies",)
    (finding,) = found.own_findings
    wording = wording_of(finding)
    assert wording.title == "The policy differs from the base's, which judges the change"
    assert "where the base alone changed it, bring the branch up to date" in wording.remedy


def test_a_named_file_counts_before_all(git: Git, tmp_path: Path) -> None:
    commit(git, tmp_path, policy=b"not [ toml")
    (tmp_path / "mine.toml").write_bytes(b"cooldown = 3\n")
    found = judged(tmp_path, tmp_path / "mine.toml")
    assert (found.policy.cooldown, found.policy_side) == (3, PolicySide.GIVEN)
    assert found.notes == ()


def test_a_mistake_in_the_base_is_named_with_its_revision(git: Git, tmp_path: Path) -> None:
    commit(git, tmp_path, policy=b"cooldown = 7\nplatform = []\n")
    with pytest.raises(ConfigurationError, match=r"^HEAD:locklens\.toml:2: unknown key") as caught:
        judged(tmp_path)
    assert "--policy FILE" in caught.value.hint


def test_what_is_in_use_on_this_machine_is_equal_whenever_it_is_read(tmp_path: Path) -> None:
    """Health shows what it knows while equal files are read again, so that their policies have to be equal, too."""
    config = tmp_path / "terraformrc"
    config.write_text('provider_installation {\n  network_mirror {\n    url = "https://mirror.example.com/"\n  }\n}\n')
    environ = {"TF_CLI_CONFIG_FILE": str(config)}
    first, again = (with_local_paths(Policy(), environ, [TERRAFORM]) for _ in range(2))
    assert first.local
    assert first == again
    config.write_text(config.read_text().replace('com/"', 'com/"\n    include = ["corp/*"]'))
    assert with_local_paths(Policy(), environ, [TERRAFORM]) != first


@pytest.mark.parametrize("name", ["absent.toml", "."])
def test_a_named_file_that_cannot_be_read(git: Git, tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match="the policy cannot be read"):
        judged(tmp_path, tmp_path / name)


def test_without_a_commit_nothing_is_agreed_on(git: Git, tmp_path: Path) -> None:
    (tmp_path / POLICY_FILE).write_bytes(b"cooldown = 7\n")
    assert judged(tmp_path).policy == Policy()


def test_without_git_the_folder_has_one_side_and_its_policy_counts(tmp_path: Path) -> None:
    (tmp_path / POLICY_FILE).write_bytes(b"cooldown = 7\n")
    (tmp_path / ".terraform.lock.hcl").write_bytes(lock_file(OLD))
    found = review(ReviewRequest(partial(open_locked, tmp_path), include_unchanged=True))
    assert (found.policy.cooldown, found.policy_side) == (7, PolicySide.HEAD)


def test_two_files_have_none(git: Git, tmp_path: Path) -> None:
    commit(git, tmp_path, policy=b"cooldown = 7\n", lock=lock_file(OLD))
    names = ("HEAD:.terraform.lock.hcl", ".terraform.lock.hcl")
    opened = partial(open_files, *names, config=None, cwd=tmp_path, stdin=bytes)
    assert review(ReviewRequest(opened)).policy_side is PolicySide.NONE
    (tmp_path / "mine.toml").write_bytes(b"cooldown = 3\n")
    assert review(ReviewRequest(opened, policy=tmp_path / "mine.toml")).policy.cooldown == 3


def test_a_policy_on_the_command_line(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(git, tmp_path, policy=b"cooldown = -7\n", lock=lock_file(OLD))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "mine.toml").write_bytes(b"cooldown = 3\n")
    assert main(["review", "--offline", "--format", "json"], lambda *_: 0) == 2
    assert "error: HEAD:locklens.toml:1: " in capsys.readouterr().err
    assert main(["review", "--offline", "--format", "json", "--policy", "mine.toml"], lambda *_: 0) == 0
    assert json.loads(capsys.readouterr().out)["run"]["policy"] == {"file": "mine.toml", "side": "given"}


# Findings


class Desk:
    """Reviews two lock files with a policy, and asks a sample registry."""

    def __init__(self, folder: Path, registry: DemoRegistry) -> None:
        self.folder = folder
        self.cache = Cache.in_memory()
        self.environ = environ_of(registry, folder)

    def review(self, policy: str, old: SampleLock | None, new: SampleLock, **options: str) -> Review:
        for name, locked in (("old.hcl", old), ("new.hcl", new)):
            (self.folder / name).write_bytes(lock_file(locked) if locked else b"")
        (self.folder / "policy.toml").write_text(policy)
        opened = partial(open_files, "old.hcl", "new.hcl", config=None, cwd=self.folder, stdin=bytes)
        network = NetworkSettings(self.environ, self.cache)
        given = self.folder / "policy.toml"
        return review(ReviewRequest(opened, include_unchanged=True, network=network, policy=given, **options))  # type: ignore[arg-type]

    def change(self, policy: str, old: SampleLock | None, new: SampleLock, **options: str) -> Change:
        return self.review(policy, old, new, **options).roots[0].changes[0]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    offers: tuple[str | SampleListing, ...] = ("5.84.0", SampleListing("5.86.1", platforms=PLATFORMS[:2]))
    with DemoRegistry({AWS: offers}) as registry:
        yield Desk(tmp_path, registry)


def told(change: Change, rule: str) -> list[tuple[Severity, str]]:
    return [(one.severity, one.message) for one in change.findings if one.rule == rule]


def test_a_release_that_has_no_package_any_more(desk: Desk) -> None:
    lost = [str(one) for one in PLATFORMS[2:]]
    new = SampleLock(AWS, "5.86.1", packed=PLATFORMS[:2], unpacked=PLATFORMS[:1])
    message = f"{', '.join(lost)} had usable hashes for the registry before, and have none now: the release has no package for them"
    change = desk.change("", OLD, new)
    assert told(change, "LK008") == [(Severity.WARN, message)]
    cases = [one.case for one in change.findings if one.rule == "LK008"]
    assert cases == ["not-offered"], "what is not released cannot be locked again"
    kept = f'platforms = ["{PLATFORMS[0]}"]'
    assert told(desk.change(kept, OLD, new), "LK008") == [(Severity.INFO, message)]
    wanted = f'[platforms]\n{lost[0]} = "laptops"\n'
    change = desk.change(wanted, OLD, new)
    assert [severity for severity, _ in told(change, "LK008")] == [Severity.WARN, Severity.INFO]
    assert told(change, "LK009") == [
        (
            Severity.WARN,
            f"{lost[0]} (laptops) is not covered from the registry: the release has no package for it; init fails",
        )
    ]


def test_a_cache_needs_what_a_registry_does_not(desk: Desk) -> None:
    first, second = "linux_amd64", "darwin_arm64"
    wanted = f'platforms = ["{first}", "{second}"]'
    unused = "init does not use a cached package"
    cached = f'install_paths = ["direct", "plugin-cache"]\n{wanted}\n'
    assert told(desk.change(wanted, None, OLD), "LK009") == []
    assert told(desk.change(cached, None, OLD), "LK009") == [
        (
            Severity.INFO,
            f"at least 1 of {first}, {second} has no usable hash from a plugin cache: only 1 h1 hash could be theirs; {unused}",
        )
    ]
    proven = desk.change(cached, None, OLD, prove="all")
    assert told(proven, "LK009") == [
        (Severity.INFO, f"{second} is not covered from a plugin cache: no h1 for it is locked; {unused}")
    ]
    both = SampleLock(AWS, "5.84.0", unpacked=(first, second))
    assert told(desk.change(cached, None, both, prove="all"), "LK009") == []


def test_what_is_not_changed_is_judged_too(desk: Desk) -> None:
    packed = SampleLock(AWS, "5.84.0", packed=PLATFORMS[:1], unpacked=())
    wanted = f'platforms = ["{PLATFORMS[1]}"]'
    assert told(desk.change(wanted, packed, packed), "LK009") == [
        (Severity.WARN, f"{PLATFORMS[1]} is not covered from the registry: no hash for it is locked; init fails")
    ]


_ARM_H1 = SampleLock(AWS, "5.84.0", unpacked=("darwin_arm64",))
_WITHOUT_LINUX = replace(_ARM_H1, packed=tuple(one for one in PLATFORMS if one != "linux_amd64"))
_MAY_BE = "1 locked hash of unknown platform may be for it; --prove all, or v on the screen, tells"


def test_a_removed_hash_leaves_its_platform_in_doubt_until_the_h1_that_is_left_is_verified(desk: Desk) -> None:
    wanted = '[platforms]\nlinux_amd64 = "CI"\n'
    had = "linux_amd64 had a usable hash for the registry before"
    message = f"{had}, and it is unknown whether it has one now: {_MAY_BE}"
    found = desk.review(wanted, _ARM_H1, _WITHOUT_LINUX)
    (change,) = found.changes
    assert told(change, "LK008") == [(Severity.WARN, message)]
    assert [wording_of(one).title for one in change.findings] == ["Not known whether the platform is still covered"]
    assert (found.verdict, found.fails("warn"), found.fails("block")) == ("warn", True, False)
    assert json_report("review", found)["summary"]["verdict"] == "warn"
    assert told(desk.change("", _ARM_H1, _WITHOUT_LINUX), "LK008") == [(Severity.WARN, message)]
    others = 'platforms = ["linux_arm64"]'
    assert told(desk.change(others, _ARM_H1, _WITHOUT_LINUX), "LK008") == [(Severity.INFO, message)]
    proven = desk.change(wanted, _ARM_H1, _WITHOUT_LINUX, prove="all")
    assert told(proven, "LK008") == [(Severity.WARN, f"{had}, and has none now: no hash for it is locked")]
    assert told(proven, "LK009")[0][1].startswith("linux_amd64 (CI) is not covered from the registry: ")


def test_an_added_hash_that_may_cover_a_required_platform_leaves_it_in_doubt(desk: Desk) -> None:
    wanted = '[platforms]\nlinux_amd64 = "CI"\n'
    old = replace(_WITHOUT_LINUX, unpacked=())
    message = f"not known whether linux_amd64 (CI) is covered from the registry: {_MAY_BE}"
    assert told(desk.change(wanted, old, replace(old, unpacked=("linux_amd64",))), "LK009") == [
        (Severity.WARN, message)
    ]


@pytest.mark.parametrize(
    ("old", "new"), [(_ARM_H1, _ARM_H1), (_WITHOUT_LINUX, _WITHOUT_LINUX)], ids=["covered", "in-doubt"]
)
def test_an_h1_of_unknown_platform_alone_is_no_doubt_of_the_change(
    desk: Desk, old: SampleLock, new: SampleLock
) -> None:
    for paths in ('"direct"', '"direct", "plugin-cache"'):
        change = desk.change(f'install_paths = [{paths}]\n[platforms]\nlinux_amd64 = "CI"\n', old, new)
        assert not [one for one in change.findings if one.rule in {"LK008", "LK009"}]


def test_a_new_provider_of_which_a_required_platform_may_be_covered_leaves_it_in_doubt(desk: Desk) -> None:
    wanted = '[platforms]\nlinux_amd64 = "CI"\n'
    message = f"not known whether linux_amd64 (CI) is covered from the registry: {_MAY_BE}"
    change = desk.change(wanted, None, _WITHOUT_LINUX)
    assert [told(change, rule) for rule in ("LK008", "LK009")] == [[], [(Severity.WARN, message)]]
    (told_of,) = told(desk.change(wanted, None, _WITHOUT_LINUX, prove="all"), "LK009")
    assert told_of[1].startswith("linux_amd64 (CI) is not covered from the registry: ")
    assert told(desk.change("", None, _WITHOUT_LINUX), "LK009") == []


def test_another_version_whose_h1_is_not_verified_leaves_no_doubt_of_a_plugin_cache(desk: Desk) -> None:
    wanted = 'install_paths = ["direct", "plugin-cache"]\n[platforms]\ndarwin_arm64 = "CI"\n'
    old = SampleLock(AWS, "5.86.1", packed=PLATFORMS[:2], unpacked=("darwin_arm64",))
    assert told(desk.change(wanted, None, old, prove="all"), "LK009") == []
    assert [told(desk.change(wanted, old, _ARM_H1), rule) for rule in ("LK008", "LK009")] == [[], []]


def test_a_lost_h1_where_a_cache_is_used(desk: Desk) -> None:
    first, second = "linux_amd64", "darwin_arm64"
    both, one = (SampleLock(AWS, "5.84.0", unpacked=some) for some in ((first, second), (first,)))
    cached = 'install_paths = ["plugin-cache"]\n'
    desk.change("", None, both, prove="all")
    change = desk.change(cached, both, one)
    assert told(change, "LK024")[0][0] is Severity.WARN
    assert [message for _, message in told(change, "LK008")] == [
        f"{second} had a usable hash for a plugin cache before, and has none now: no h1 for it is locked"
    ]
    assert told(desk.change("", both, one, prove="all"), "LK008") == []
    for platform, severity, effect in (
        (first, Severity.INFO, "each required platform keeps its own"),
        (second, Severity.WARN, "a cache or an unpacked mirror may no longer serve some platforms"),
    ):
        wanted = f'{cached}[platforms]\n{platform} = "CI"\n'
        assert told(desk.change(wanted, both, one), "LK024") == [(severity, f"2 h1 before, 1 now: {effect}")]


def test_the_reports_of_hashes_say_cover_and_why(desk: Desk) -> None:
    first, second = "linux_amd64", "darwin_arm64"
    cached = f'install_paths = ["direct", "plugin-cache"]\n[platforms]\n{first} = "CI"\n{second} = ""\n'
    found = desk.review(cached, OLD, OLD, prove="all")
    document = json_report("hashes", found)
    assert document["policy"] == {
        "platforms": [{"platform": str(first), "why": "CI"}, {"platform": str(second), "why": ""}],
        "install_paths": ["direct", "plugin-cache"],
        "local": {"platform": None, "install_paths": []},
    }
    (provider,) = document["roots"][0]["providers"]
    assert provider["coverage"] == {
        "platforms": [str(first), str(second)],
        "wanted": True,
        "covered": [str(first)],
        "paths": [
            {"path": "direct", "covered": [str(first), str(second)], "missing": [], "unknown": []},
            {"path": "plugin-cache", "covered": [str(first)], "missing": [str(second)], "unknown": []},
        ],
    }
    text = lock_lines.hashes_text(found)
    assert "covers 1 of 2 required platforms" in text
    assert f"plugin-cache    1 of 2    only h1 counts\n          missing       {second}\n" in text
    assert f"\n  {first}   CI\n" in text[text.index("REQUIRED PLATFORMS") :]
