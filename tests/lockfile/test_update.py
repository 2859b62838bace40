"""What an entry, and the file, becomes: by the rules, and beside the real terraform."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from collecting import UNCOLLECTED
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.demo import SampleLock
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import environment, write_cli_configuration
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.lockfile import LockEntry, LockFile
from locklens.lockfile.parse import parse
from locklens.lockfile.render import render
from locklens.lockfile.update import (
    Difference,
    Tracking,
    after_init,
    after_lock,
    difference,
    fetched,
    is_incomplete,
    migrated,
    reused,
    rewritten,
    tracking,
    with_locked_hashes,
)
from locklens.versions import Constraints, Version

TERRAFORM_HOST, OPENTOFU_HOST = "registry.terraform.io", "registry.opentofu.org"
AWS = ProviderAddress(TERRAFORM_HOST, "hashicorp", "aws")
V1, V2 = Version(1, 0, 0), Version(1, 1, 0)
OLD = LockEntry(AWS, V1, "~> 1.0", ("h1:old", "h9:x", "zh:signed", "zh:wrong"), 4, (5, 6, 7, 8))
ANY = Constraints.parse(">= 1, ~>1")


def test_init_keeps_what_it_can_compare_and_lock_keeps_all() -> None:
    found = ["zh:signed", "zh:new", "h1:new"]
    kept = ("h1:new", "h1:old", "zh:new", "zh:signed", "zh:wrong")
    by_init = fetched(OLD, address=AWS, version=V1, constraints=ANY, hashes=found)
    assert by_init == LockEntry(AWS, V1, ">= 1.0.0, ~> 1.0", kept, 0)
    by_lock = with_locked_hashes(OLD, address=AWS, version=V1, constraints=ANY, hashes=found)
    assert by_lock == replace(by_init, hashes=tuple(sorted((*kept, "h9:x"))))
    for settle in (fetched, with_locked_hashes):
        new = settle(None, address=AWS, version=V1, constraints=ANY, hashes=found)
        assert new.hashes == ("h1:new", "zh:new", "zh:signed")


@pytest.mark.parametrize("version", [V2, replace(V1, metadata="b")])
def test_another_version_begins_anew(version: Version) -> None:
    for settle in (fetched, with_locked_hashes):
        entry = settle(OLD, address=AWS, version=version, constraints=Constraints(), hashes=["zh:new"])
        assert entry == LockEntry(AWS, version, "", ("zh:new",), 0)


def test_what_is_installed_already_is_refreshed_by_opentofu_alone() -> None:
    assert reused(OLD, ANY, TERRAFORM) is OLD
    assert reused(OLD, ANY, OPENTOFU) == replace(OLD, constraints=">= 1.0.0, ~> 1.0")


def entry(name: str, *hashes: str, constraints: str = "", host: str = TERRAFORM_HOST) -> LockEntry:
    return LockEntry(ProviderAddress(host, "hashicorp", name), V1, constraints, hashes, 0)


def test_which_entries_remain() -> None:
    before = (entry("b", "h1:b"), entry("c"), entry("a"))
    settled = (entry("d"), entry("b", "h1:new"))
    assert after_init(before, settled) == (entry("b", "h1:new"), entry("d"))
    assert after_init(before, settled, kept={before[1].address, before[0].address}) == (
        entry("b", "h1:new"), entry("c"), entry("d"),
    )  # fmt: skip
    assert after_lock(before, settled) == (entry("a"), entry("b", "h1:new"), entry("c"), entry("d"))


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ([entry("a", "h1:a", constraints="1.0.0")], [entry("a", "h1:a")], Difference.NONE),
        ([entry("b"), entry("a")], [entry("a"), entry("b")], Difference.NONE),
        ([entry("a", "zh:a", "h1:a")], [entry("a", "h1:a", "zh:a")], Difference.CONTENTS),
        ([entry("a", "zh:a", "h1:a")], [entry("a", "zh:a", "h1:a")], Difference.CONTENTS),
        ([entry("a", "h1:a", "h1:a")], [entry("a", "h1:a")], Difference.CONTENTS),
        ([entry("a")], [entry("a", "h1:a")], Difference.CONTENTS),
        ([entry("a")], [replace(entry("a"), version=replace(V1, metadata="b"))], Difference.CONTENTS),
        ([entry("a")], [entry("b")], Difference.PROVIDERS),
        ([entry("a")], [], Difference.PROVIDERS),
        ([], [], Difference.NONE),
    ],
)
def test_what_counts_as_a_change(before: list[LockEntry], after: list[LockEntry], found: Difference) -> None:
    assert difference(before, after) is found


@pytest.mark.parametrize(
    ("local", "signed", "prior", "warns"),
    [
        (["h1:a"], [], None, True),
        (["h1:a"], ["zh:a"], None, False),
        (["h1:a"], [], entry("a", "h1:a"), True),
        (["h1:a"], [], entry("a", "h1:a", "h9:x"), True),
        (["h1:a"], [], entry("a", "h1:a", "h1:b"), False),
        (["h1:a"], [], replace(entry("a", "h1:a", "h1:b"), version=V2), True),
    ],
)
def test_when_the_lock_file_does_for_one_platform_alone(
    local: list[str], signed: list[str], prior: LockEntry | None, *, warns: bool
) -> None:
    assert is_incomplete(local, signed, prior, V1) is warns


def test_what_lock_says_of_a_platform() -> None:
    assert tracking(None, V1, ["h1:a"]) is Tracking.NEW_PROVIDER
    assert tracking(entry("a"), V1, ["h1:a"]) is Tracking.NEW_HASHES
    assert tracking(entry("a", "h1:a", "h1:b"), V1, ["h1:a"]) is Tracking.KNOWN
    assert tracking(entry("a", "h1:a"), V2, ["h1:a"]) is Tracking.NEW_VERSION


def test_opentofu_migrates_hashicorps_providers_once() -> None:
    before = (
        entry("null", "h1:a", constraints="~> 1.0"),
        entry("aws", "h1:b"),
        entry("tls", "h1:c"),
        entry("tls", "h1:d", host=OPENTOFU_HOST),
        replace(entry("x", "h1:e"), address=ProviderAddress(TERRAFORM_HOST, "acme", "x")),
    )
    found = migrated(before, OPENTOFU)
    new = (entry("aws", host=OPENTOFU_HOST), entry("null", constraints="~> 1.0", host=OPENTOFU_HOST))
    assert found.entries == (*before, *new)
    assert [f"{old} => {to}" for old, to in found.moved] == [
        "registry.terraform.io/hashicorp/aws => registry.opentofu.org/hashicorp/aws",
        "registry.terraform.io/hashicorp/null => registry.opentofu.org/hashicorp/null",
    ]
    assert migrated(found.entries, OPENTOFU).moved == ()
    assert migrated(before, TERRAFORM).entries == before


LOCKED_BY_TOFU = """\
# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/demo" {
  version     = "1.2.3"
  constraints = "~> 1.0"
  hashes = [
    "h1:NSg/534IkgE1J8HQwI36BWkpdV1xVEwLdWqxh7gMckw=",
    "zh:74a0570fa61aeb85755dafb1351cd094e01aa43d1d86496421add4d6dd682650",
  ]
}

provider "registry.opentofu.org/hashicorp/null" {
  version     = "3.2.0"
  constraints = "~> 3.0"
}

provider "registry.terraform.io/hashicorp/null" {
  version     = "3.2.0"
  constraints = "~> 3.0"
  hashes = [
    "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
  ]
}
"""
"""What tofu 1.12.6 wrote for `providers lock acme/demo` over a file with the last block alone, but for three hashes."""


def test_locking_one_provider_writes_the_migrated_ones_too() -> None:
    demo, _, theirs = parse(LOCKED_BY_TOFU.encode(), "lock.hcl").entries
    settled = with_locked_hashes(
        None, address=demo.address, version=demo.version, constraints=Constraints.parse("~> 1.0"), hashes=demo.hashes
    )
    migration = migrated([theirs], OPENTOFU)
    assert render(after_lock(migration.entries, [settled]), OPENTOFU).decode() == LOCKED_BY_TOFU


def test_a_file_that_is_written_anew_keeps_its_line_ends() -> None:
    text = render([OLD], TERRAFORM) + b"# comment\n"
    for data, ends in ((text, b"\n"), (text.replace(b"\n", b"\r\n"), b"\r\n")):
        made = rewritten(parse(data, "lock.hcl"), [OLD], OPENTOFU)
        assert made == render([OLD], OPENTOFU).replace(b"\n", ends)
    assert rewritten(LockFile.absent("lock.hcl"), [], TERRAFORM) == render([], TERRAFORM)


FOUND = st.lists(st.sampled_from(["h1:a", "h1:b", "zh:a", "zh:b"]))
PRIORS = st.one_of(st.none(), st.lists(st.sampled_from(["h1:a", "h1:c", "zh:a", "h9:a", "h2:b"])))


@given(PRIORS, FOUND)
def test_a_settled_entry_is_in_order_and_settles_once(prior: list[str] | None, found: list[str]) -> None:
    before = None if prior is None else replace(OLD, hashes=tuple(prior))
    for settle in (fetched, with_locked_hashes):
        once = settle(before, address=AWS, version=V1, constraints=ANY, hashes=found)
        assert list(once.hashes) == sorted(set(once.hashes))
        assert settle(once, address=AWS, version=V1, constraints=ANY, hashes=found) == once
        assert parse(render([once], TERRAFORM), "lock.hcl").entries[0].hashes == once.hashes
        assert set(found) <= set(once.hashes) <= {*found, *(prior or ())}


# Beside the real terraform

terraform = shutil.which("terraform")
LINUX, DARWIN = "linux_amd64", "darwin_arm64"


def label(number: int) -> str:
    return f"{TERRAFORM_HOST}/acme/p{number}"


def release(number: int, version: str, *platforms: str) -> SampleLock:
    """What a run finds out about a release: every `zh`, and the `h1` of some platforms."""
    return SampleLock(label(number), version, unpacked=platforms)


def prior_hashes() -> list[tuple[str, ...] | None]:
    """Hashes that the lock file has of 1.0.0, for one provider each; None: not locked."""
    count = 9
    whole = [release(number, "1.0.0", LINUX).hashes() for number in range(count)]
    own = [one[0] for one in whole]
    return [
        None,
        whole[1],
        (own[2],),
        tuple(text for text in whole[3] if text.startswith("zh:")),
        ("h9:x", own[4]),
        (own[5], "h1:foreign=", "zh:wrong"),
        ("h9:x", "h9:a"),
        (),
        (whole[8][3], *whole[8][:3], whole[8][0]),
    ]


PRIOR = prior_hashes()
ORPHAN = len(PRIOR)


class Root:
    """A root module that the real terraform works on, with a registry on loopback."""

    def __init__(self, folder: Path, registry: DemoRegistry) -> None:
        self.folder = folder / "root"
        self.folder.mkdir()
        self._environment = environment(write_cli_configuration(registry, folder))

    @property
    def lock(self) -> LockFile:
        path = self.folder / ".terraform.lock.hcl"
        return parse(path.read_bytes(), path.name)

    def write(self, constraint: str, entries: list[LockEntry] | None = None, *, data: bytes | None = None) -> None:
        lines = [
            f'    p{number} = {{ source = "{label(number)}", version = "{constraint}" }}\n' for number in range(ORPHAN)
        ]
        (self.folder / "main.tf").write_text(f"terraform {{\n  required_providers {{\n{''.join(lines)}  }}\n}}\n")
        if entries is not None or data is not None:
            (self.folder / ".terraform.lock.hcl").write_bytes(data or render(entries or (), TERRAFORM))

    def run(self, *arguments: str) -> str:
        assert terraform is not None
        result = subprocess.run(
            [terraform, *arguments, "-no-color"], cwd=self.folder, capture_output=True, text=True, check=False, timeout=120,
            env={**UNCOLLECTED, "PATH": os.environ["PATH"], "HOME": str(self.folder.parent), **self._environment},
        )  # fmt: skip
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with DemoRegistry({label(number): ("1.0.0", "1.1.0") for number in range(ORPHAN + 1)}) as registry:
        yield Root(tmp_path, registry)


def before(constraint: str) -> list[LockEntry]:
    listed = [
        LockEntry(ProviderAddress(TERRAFORM_HOST, "acme", f"p{number}"), V1, constraint, hashes, 0)
        for number, hashes in enumerate(PRIOR)
        if hashes is not None
    ]
    return [*listed, LockEntry(ProviderAddress(TERRAFORM_HOST, "acme", f"p{ORPHAN}"), V1, "", ("h1:o",), 0)]


def settled(
    lock: LockFile, constraint: str, *platforms: str, upgrade: bool = False, by: str = "init"
) -> list[LockEntry]:
    """What we make of each required provider where all are fetched."""
    settle = fetched if by == "init" else with_locked_hashes
    made = []
    for number in range(ORPHAN):
        address = ProviderAddress(TERRAFORM_HOST, "acme", f"p{number}")
        prior = lock.by_address.get(address)
        version = V2 if upgrade or prior is None else prior.version
        found = release(number, str(version), *platforms).hashes()
        made.append(
            settle(prior, address=address, version=version, constraints=Constraints.parse(constraint), hashes=found)
        )
    return made


@pytest.mark.skipif(terraform is None, reason="needs terraform")
def test_init_makes_the_same_of_every_kind_of_entry(root: Root) -> None:
    root.write("~> 1.0", before("~> 1.0"))
    old = root.lock
    root.run("init")
    wanted = after_init(old.entries, settled(old, "~> 1.0", LINUX))
    assert root.lock.data == rewritten(old, wanted, TERRAFORM)

    # All is installed now: nothing but the order of hashes makes terraform write, and then with the old constraints.
    root.write(">= 1.0")
    assert difference(root.lock.entries, wanted) is Difference.NONE
    data = root.lock.data
    root.run("init")
    assert root.lock.data == data
    lines = data.split(b"\n")
    at = next(number for number, line in enumerate(lines) if b"zh:" in line)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    root.write(">= 1.0", data=b"\n".join(lines))
    old = root.lock
    wanted = after_init(old.entries, (reused(one, Constraints.parse(">= 1.0"), TERRAFORM) for one in old.entries))
    assert difference(old.entries, wanted) is Difference.CONTENTS
    root.run("init")
    assert root.lock.data == rewritten(old, wanted, TERRAFORM) == data


@pytest.mark.skipif(terraform is None, reason="needs terraform")
def test_upgrade_makes_the_same_of_every_kind_of_entry(root: Root) -> None:
    root.write(">= 1.0", before("~> 1.0"))
    old = root.lock
    root.run("init", "-upgrade")
    wanted = after_init(old.entries, settled(old, ">= 1.0", LINUX, upgrade=True))
    assert root.lock.data == rewritten(old, wanted, TERRAFORM)


@pytest.mark.skipif(terraform is None, reason="needs terraform")
def test_lock_makes_the_same_of_every_kind_of_entry(root: Root) -> None:
    root.write(">= 1.0", before("~> 1.0"))
    old = root.lock
    said = root.run("providers", "lock", f"-platform={LINUX}", f"-platform={DARWIN}")
    wanted = after_lock(old.entries, settled(old, ">= 1.0", LINUX, DARWIN, by="lock"))
    assert root.lock.data == rewritten(old, wanted, TERRAFORM)
    words = {
        Tracking.NEW_PROVIDER: "This was a new provider",
        Tracking.NEW_HASHES: "Additional checksums",
        Tracking.KNOWN: "All checksums for this platform were already tracked",
    }
    for number in range(ORPHAN):
        prior = old.by_address.get(ProviderAddress(TERRAFORM_HOST, "acme", f"p{number}"))
        for platform in (LINUX, DARWIN):
            news = tracking(prior, Version.parse("1.0.0"), release(number, "1.0.0", platform).hashes())
            assert f"- Obtained acme/p{number} checksums for {platform}; {words[news]}" in said
    # A second run finds nothing and writes all the same.
    said = root.run("providers", "lock", f"-platform={LINUX}")
    assert "found no need for changes" in said
    assert root.lock.data == rewritten(old, wanted, TERRAFORM)
