"""Upgrades, planned from what registries are made to say, and applied to files on disk."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress
from locklens.diagnostics import Diagnostic, DiagnosticSeverity
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.errors import ConfigurationError, LockLensError, UnavailableError
from locklens.install.context import LockRequest, ProviderRequirement
from locklens.install.lock import Locker
from locklens.lockfile import LockEntry
from locklens.lockfile.parse import parse
from locklens.lockfile.render import render
from locklens.operations.comparison import RootSettings
from locklens.operations.plan import Plan, Scope
from locklens.operations.root_modules import RootReader
from locklens.operations.write.apply import apply
from locklens.operations.write.lock_edits import Prune
from locklens.operations.write.registry_source import EntryPlatforms, RegistrySource
from locklens.operations.write.root_upgrade import SelectedVersion, require_upgradable
from locklens.operations.write.upgrade import Upgrade
from locklens.policy import Policy, WantedPlatform
from locklens.policy import parse as parse_policy
from locklens.project.tree import FileSystem
from locklens.releases import ReleaseFacts, ReleaseId
from locklens.sources.metadata import ListedVersion
from locklens.trust import SigningKey, Tier
from locklens.trust.authentication import Authentication, AuthenticationOutcome
from locklens.versions import Version

LINUX, MAC, WINDOWS = Platform("linux", "amd64"), Platform("darwin", "arm64"), Platform("windows", "amd64")


def address(name: str) -> ProviderAddress:
    return ProviderAddress(TERRAFORM.default_host, "hashicorp", name)


def hashes(name: str, version: str, platforms: Sequence[Platform] = (LINUX,)) -> tuple[str, ...]:
    return tuple(f"h1:{name}-{version}-{platform}" for platform in sorted(platforms))


def entry(name: str, version: str, constraints: str = "", *platforms: Platform) -> LockEntry:
    return LockEntry(
        address(name), Version.parse(version), constraints, hashes(name, version, platforms or (LINUX,)), 0
    )


class Shelf(RegistrySource):
    """Says what a registry would, and remembers what it was asked to lock."""

    @property
    def here(self) -> Platform:
        return LINUX

    def __init__(self, offered: Mapping[str, str], unknown: int = 0) -> None:
        self._offered = {name: [Version.parse(text) for text in versions.split()] for name, versions in offered.items()}
        self._unknown = unknown
        self.is_of_mirrors = False
        self.mirror_words = ()
        self.platforms: tuple[Platform, ...] = (LINUX, MAC, WINDOWS)
        self.reported: tuple[Platform, ...] = ()
        self.broken: frozenset[str] = frozenset()
        self.days: dict[str, int] = {}
        self.signers: dict[str, str] = {}
        self.moves: list[LockRequest] = []
        self.fetched: list[LockRequest] = []

    def listed(
        self, addresses: Sequence[ProviderAddress], tool: Dialect
    ) -> Mapping[ProviderAddress, Sequence[ListedVersion] | LockLensError]:
        return {
            one: [ListedVersion(version, ("5.0",), self.platforms) for version in self._offered[one.type]]
            if one.type in self._offered
            else UnavailableError("registry.terraform.io does not answer")
            for one in addresses
        }

    def ages(
        self, addresses: Sequence[ProviderAddress], tool: Dialect
    ) -> Mapping[ProviderAddress, Mapping[Version, int]]:
        return {one: {Version.parse(text): days for text, days in self.days.items()} for one in addresses}

    def release(self, address: ProviderAddress, version: Version, tool: Dialect) -> ReleaseFacts | None:
        if (fingerprint := self.signers.get(str(version))) is None:
            return None
        key = SigningKey(fingerprint, (), "Ed25519", "2026-01-01", None, expired=False, revoked=False)
        signed = Authentication(AuthenticationOutcome.ACCEPTED, Tier.PARTNER, key)
        return ReleaseFacts(ReleaseId(tool.name, address, version), authentication=signed)

    def releases(
        self, names: Iterable[tuple[ProviderAddress, Version]], tool: Dialect
    ) -> Mapping[tuple[ProviderAddress, Version], ReleaseFacts | None]:
        return {name: self.release(*name, tool) for name in names}

    def coverage(self, entries: Sequence[LockEntry], tool: Dialect) -> Sequence[EntryPlatforms]:
        return [
            EntryPlatforms(
                tuple(Platform.parse(text.rpartition("-")[2]) for text in one.hashes if "?" not in text), self._unknown
            )
            for one in entries
        ]

    def locker(self, tool: Dialect) -> Locker:
        return cast("Locker", self)

    def choose(self, wanted: Iterable[ProviderRequirement]) -> list[Version | Diagnostic]:
        raise NotImplementedError

    def fetch(self, requests: Sequence[LockRequest]) -> None:
        self.fetched += requests

    def package_hashes(self, address: ProviderAddress, version: Version) -> Mapping[Platform, frozenset[str]]:
        raise NotImplementedError

    def entries(self, requests: Sequence[LockRequest]) -> list[LockEntry | Diagnostic]:
        self.moves += requests
        return [
            Diagnostic.of(LockLensError("the signature is wrong", hint="ask"), summary="Could not lock")
            if one.address.type in self.broken
            else replace(
                entry(one.address.type, str(one.version), "", *{*one.platforms, *self.reported}), address=one.address
            )
            for one in requests
        ]


Files = dict[str, str | bytes | list[LockEntry]]


def requiring(**constraints: str) -> str:
    lines = "".join(f'    {name} = "{text}" # why\n' for name, text in constraints.items())
    return f"terraform {{\n  required_providers {{\n{lines}  }}\n}}\n"


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = tmp_path / "top"
    top.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=top, check=True)
    monkeypatch.chdir(top)
    return top


def lay(top: Path, files: Files) -> None:
    for name, content in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            content = render(content, TERRAFORM)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def contents(top: Path) -> dict[str, bytes]:
    found = (path for path in top.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(top)): path.read_bytes() for path in found}


def planned(top: Path, shelf: Shelf, *providers: str, roots: Sequence[str] = (), **options: object) -> Plan:
    request = Upgrade(Scope(top, tuple(roots)), tuple(providers), **options)  # type: ignore[arg-type]
    return request.plan(shelf)


def failures(plan: Plan) -> list[str]:
    return [failed.sentence for failed in plan.failures]


def remarks(plan: Plan) -> list[str]:
    return [f"{remark.address}: {remark.words}".removeprefix("hashicorp/") for remark in plan.remarks]


LOCK = ".terraform.lock.hcl"
TWO: Files = {
    "main.tf": requiring(aws="~> 5.0", tls="~> 4.0"),
    LOCK: [entry("aws", "5.1.0", "~> 5.0"), entry("tls", "4.0.0", "~> 4.0")],
}
PIN = "~> 5.0 (main.tf:3)"
OFFERED = {"aws": "5.0.0 5.1.0 5.2.0 6.0.0 6.1.0-beta1", "tls": "4.0.0 4.1.0 4.2.0"}


# What moves


def test_only_the_chosen_provider_moves(top: Path) -> None:
    lay(top, TWO)
    data = (
        (top / LOCK)
        .read_bytes()
        .replace(
            b'provider "registry.terraform.io/hashicorp/tls"',
            b'# mine\n\nprovider \t"registry.terraform.io/hashicorp/tls"',
        )
    )
    (top / LOCK).write_bytes(data)
    plan = planned(top, Shelf(OFFERED), "aws")
    assert plan.proposal.words == (".: hashicorp/aws 5.1.0 -> 5.2.0",)
    apply(plan.proposal)
    assert (top / LOCK).read_bytes() == data.replace(b"5.1.0", b"5.2.0")
    assert (top / "main.tf").read_text() == TWO["main.tf"]


def test_without_names_all_that_are_locked_and_required_move(top: Path) -> None:
    lay(top, TWO | {"more.tf": 'resource "null_resource" "x" {}\n'})
    lay(top, {LOCK: [entry("aws", "5.1.0"), entry("tls", "4.0.0"), entry("random", "1.0.0")]})
    plan = planned(top, Shelf(OFFERED))
    assert [(change.name, change.kind) for change in plan.changes] == [
        ("hashicorp/aws", "upgrade"),
        ("hashicorp/tls", "upgrade"),
    ]
    assert plan.proposal.command == "locklens upgrade"


def test_a_version_that_is_asked_for(top: Path) -> None:
    lay(top, TWO)
    plan = planned(top, Shelf(OFFERED), "aws=5.0.0", "hashicorp/tls=4.1")
    assert [(change.name, change.kind) for change in plan.changes] == [
        ("hashicorp/aws", "downgrade"),
        ("hashicorp/tls", "upgrade"),
    ]
    assert plan.proposal.command == "locklens upgrade aws=5.0.0 hashicorp/tls=4.1"


def test_a_name_that_one_required_provider_has_is_not_ambiguous(top: Path) -> None:
    other = ProviderAddress("registry.terraform.io", "acme", "aws")
    locked = [replace(entry("aws", "5.1.0"), address=other), entry("aws", "5.1.0", "~> 5.0"), entry("tls", "4.0.0")]
    lay(top, TWO | {LOCK: locked})
    plan = planned(top, Shelf(OFFERED), "aws")
    assert [(change.name, change.kind) for change in plan.changes] == [("hashicorp/aws", "upgrade")]
    with pytest.raises(ConfigurationError, match="ambiguous provider 'aws': acme/aws or hashicorp/aws"):
        Prune(Scope(top, ()), ("aws",)).plan()
    both = 'required_providers {\n    other = { source = "acme/aws" }'
    lay(top, {"main.tf": requiring(aws="~> 5.0").replace("required_providers {", both)})
    with pytest.raises(ConfigurationError, match="ambiguous provider 'aws': acme/aws or hashicorp/aws"):
        planned(top, Shelf(OFFERED), "aws")


def test_a_provider_that_is_not_locked_yet_is_added_where_it_is_named(top: Path) -> None:
    lay(top, TWO | {LOCK: [entry("tls", "4.2.0", "~> 4.0")]})
    assert planned(top, Shelf(OFFERED)).proposal.files == ()
    plan = planned(top, Shelf(OFFERED), "aws")
    apply(plan.proposal)
    assert (top / LOCK).read_bytes() == render(
        [entry("aws", "5.2.0", "~> 5.0"), entry("tls", "4.2.0", "~> 4.0")], TERRAFORM
    )


@pytest.mark.parametrize(
    ("providers", "words"),
    [
        (("aws=6.0.0",), "6.0.0 does not satisfy ~> 5.0 (main.tf:3)"),
        (("aws=9.0.0",), "version 9.0.0 is not offered"),
        (
            ("aws=6.1.0-beta1",),
            "6.1.0-beta1 does not satisfy ~> 5.0 (main.tf:3); hint: 6.1.0-beta1 is a pre-release, which only an exact",
        ),
        (
            ("tls=4.3.0-rc1",),
            '4.3.0-rc1 is a pre-release, which only an exact constraint selects; hint: edit it by hand: "4.3.0-rc1"',
        ),
        (("tls", "aws=9.0.0"), "version 9.0.0 is not offered"),
        (("random",), "name that with --test-directory; else locklens prune hashicorp/random removes it"),
        (("null",), "registry.terraform.io does not answer"),
    ],
)
def test_what_fails_leaves_the_root_as_it_is(top: Path, providers: tuple[str, ...], words: str) -> None:
    lay(
        top,
        TWO | {LOCK: [entry("aws", "5.1.0"), entry("tls", "4.0.0"), entry("random", "1.0.0"), entry("null", "1.0.0")]},
    )
    lay(top, {"null.tf": 'resource "null_resource" "x" {}\n'})
    shelf = Shelf(OFFERED | {"random": "1.0.0", "tls": "4.0.0 4.3.0-rc1"})
    plan = planned(top, shelf, *providers)
    assert plan.proposal.files == ()
    assert plan.changes == ()
    assert shelf.moves == []
    (failed,) = plan.failures
    assert words in f"{failed.sentence}; hint: {failed.hint}"


def test_a_provider_that_cannot_be_locked_keeps_the_others_from_it_too(top: Path) -> None:
    lay(top, TWO)
    shelf = Shelf(OFFERED)
    shelf.broken = frozenset({"tls"})
    plan = planned(top, shelf)
    assert failures(plan) == ["the signature is wrong"]
    assert plan.proposal.files == ()


@pytest.mark.parametrize(
    ("text", "wrong", "hint"),
    [
        ("aws=", "version in 'aws='", "aws=1.2.3"),
        ("aws=~> 5.0", "version in 'aws=~> 5.0'", "aws=1.2.3"),
        ("aws=latest", "version in 'aws=latest'", "aws=1.2.3"),
        ("aws=v5.2.0", "version in 'aws=v5.2.0'", "aws=5.2.0"),
        ("hashicorp/aws@5.2.0", "provider 'hashicorp/aws@5.2.0'", "hashicorp/aws=5.2.0"),
        ("aws@latest", "provider 'aws@latest'", "aws=1.2.3"),
    ],
)
def test_what_is_no_version(top: Path, text: str, wrong: str, hint: str) -> None:
    lay(top, TWO)
    with pytest.raises(ConfigurationError) as raised:
        planned(top, Shelf(OFFERED), text)
    assert str(raised.value).startswith(f"invalid {wrong}")
    assert raised.value.hint == f"write it as {hint}"


@pytest.mark.parametrize(
    ("second", "versions"),
    [("hashicorp/aws=5.2.0", "5.1.0 and 5.2.0"), ("aws", "5.1.0 and the newest in range"), ("aws=5.1.0", "")],
)
def test_a_provider_is_named_for_one_version(top: Path, second: str, versions: str) -> None:
    """The last one was selected, without a word about the other."""
    lay(top, {"main.tf": requiring(aws="~> 5.0"), LOCK: [entry("aws", "5.0.0", "~> 5.0")]})
    if versions:
        with pytest.raises(ConfigurationError, match=f"^hashicorp/aws is named twice, for {versions}$"):
            planned(top, Shelf(OFFERED), "aws=5.1.0", second)
    else:
        assert planned(top, Shelf(OFFERED), "aws=5.1.0", second).changes


def test_constraints_that_cannot_hold_together(top: Path) -> None:
    lay(top, TWO | {"m/main.tf": requiring(aws="~> 6.0"), "x.tf": 'module "m" {\n  source = "./m"\n}\n'})
    plan = planned(top, Shelf(OFFERED), "aws")
    assert "no available releases match the given constraints ~> 5.0, ~> 6.0" in failures(plan)[0]
    assert plan.failures[0].hint == "conflicting constraints: ~> 5.0 (main.tf:3) against ~> 6.0 (m/main.tf:3)"


def test_why_nothing_newer(top: Path) -> None:
    lay(top, TWO | {LOCK: [entry("aws", "5.2.0"), entry("tls", "4.2.0")]})
    assert remarks(planned(top, Shelf(OFFERED))) == [
        f"aws: kept at 5.2.0; 6.1.0-beta1 is held back: {PIN}, pre-release (needs an exact constraint); 6.0.0 is held back: {PIN}",
        "tls: no version newer than 4.2.0 is listed",
    ]
    plan = planned(top, Shelf(OFFERED), "aws=5.2.0")
    assert remarks(plan) == ["aws: already locked at 5.2.0: its constraints are recorded, as init does"]
    apply(plan.proposal)
    assert remarks(planned(top, Shelf(OFFERED), "aws=5.2.0")) == ["aws: already locked at 5.2.0"]


# The cooldown


@pytest.mark.parametrize(
    ("ignored", "words"), [("", "made on disk since it was reviewed"), ("*.hcl", "git ignores the lock file")]
)
def test_a_lock_file_that_was_not_read_is_ignored_only_where_git_says_so(top: Path, ignored: str, words: str) -> None:
    lay(top, {**TWO, LOCK: b""})
    (top / LOCK).unlink()
    root = RootReader(RootSettings()).read_folder(FileSystem(top), "")
    lay(top, {**TWO, ".gitignore": ignored})
    with pytest.raises(ConfigurationError, match=words):
        require_upgradable(replace(root, top=top))


@pytest.mark.parametrize("edits", [False, True])
def test_the_cooldown_counts_where_no_version_is_named(top: Path, edits: bool) -> None:
    lay(top, {"main.tf": requiring(aws="~> 5.0"), LOCK: [entry("aws", "5.0.0", "~> 5.0")]})
    shelf = Shelf(OFFERED)
    shelf.days = {"5.1.0": 9, "5.2.0": 2, "6.0.0": 3}
    plan = planned(top, shelf, policy=Policy(cooldown=7), edits_constraints=edits)
    assert [str(change.new.version) for change in plan.changes if change.new] == ["5.1.0"]
    held = "6.0.0 is held back: cooldown 7 d (3 d old)" if edits else "5.2.0 is held back: cooldown 7 d (2 d old)"
    assert remarks(plan) == [f"aws: {held}; --ignore-cooldown selects it"]
    without = planned(top, shelf, ignores_cooldown=True)
    assert [str(change.new.version) for change in without.changes if change.new] == ["5.2.0"]
    assert without.proposal.command == "locklens upgrade --ignore-cooldown"


@pytest.mark.parametrize(
    ("version", "days", "words"),
    [
        ("5.2.0", 2, ["aws: 5.2.0 is 2 days old, and the cooldown is 7 days (LK014)"]),
        ("6.0.0", 1, ["aws: 6.0.0 is 1 day old, and the cooldown is 7 days (LK014)"]),
        ("5.2.0", None, ["aws: release date of 5.2.0 unknown: the 7-day cooldown cannot be checked"]),
        ("5.2.0", 7, []),
        ("5.0.0", 2, ["aws: already locked at 5.0.0"]),
    ],
)
def test_a_named_version_within_the_cooldown_is_locked_with_a_warning(
    top: Path, version: str, days: int | None, words: list[str]
) -> None:
    lay(top, {"main.tf": requiring(aws="~> 5.0"), LOCK: [entry("aws", "5.0.0", "~> 5.0")]})
    shelf = Shelf(OFFERED)
    shelf.days = {version: days} if days is not None else {}
    name, policy = f"aws={version}", Policy(cooldown=7)
    plan = planned(top, shelf, name, policy=policy, edits_constraints=True)
    assert (remarks(plan), bool(plan.changes)) == (words, version != "5.0.0")
    assert all(remark.severity is DiagnosticSeverity.WARNING for remark in plan.remarks if plan.changes)
    ignoring = planned(top, shelf, name, policy=policy, ignores_cooldown=True, edits_constraints=True)
    assert not [one for one in remarks(ignoring) if "cooldown" in one]
    picked = (SelectedVersion("", address("aws"), Version.parse(version), edits=True),)
    on_screen = planned(top, shelf, policy=policy, picks=picked, edits_constraints=True)
    assert not [one for one in remarks(on_screen) if "cooldown" in one], "the screen and the Preview have the finding"


def test_a_cooldown_that_holds_everything_back(top: Path) -> None:
    lay(top, {"main.tf": requiring(aws="~> 5.0"), LOCK: [entry("aws", "5.1.0", "~> 5.0")]})
    shelf = Shelf({"aws": "5.1.0 5.2.0"})
    shelf.days = {"5.1.0": 90, "5.2.0": 2}
    plan = planned(top, shelf, policy=Policy(cooldown=7))
    assert not plan.changes
    assert remarks(plan) == ["aws: kept at 5.1.0; 5.2.0 is held back: cooldown 7 d (2 d old)"]
    lay(top, {LOCK: [entry("aws", "4.0.0", "~> 5.0")]})
    shelf.days = {"5.1.0": 1, "5.2.0": 1}
    (failed,) = planned(top, shelf, policy=Policy(cooldown=7)).failures
    assert failed.words == (
        "the policy holds every version in range back; the newest, 5.2.0, is held back: cooldown 7 d (1 d old)"
    )
    assert failed.hint == "--ignore-cooldown selects it; or name a version"
    (failed,) = planned(top, shelf, policy=parse_policy(b"cooldown = 7\nallow = ['hashicorp/aws 6.0.0']", "")).failures
    assert failed.words.endswith("; the newest, 5.2.0, is held back: not on the allow list")
    assert failed.hint == "locklens policy show lists its rules; or name a version"


def test_an_unknown_age_is_a_warning(top: Path) -> None:
    lay(top, {"main.tf": requiring(aws="~> 5.0"), LOCK: [entry("aws", "5.0.0", "~> 5.0")]})
    plan = planned(top, Shelf(OFFERED), policy=Policy(cooldown=7))
    assert [(remark.severity, remark.words) for remark in plan.remarks] == [
        (DiagnosticSeverity.WARNING, "release date of 5.2.0 unknown: the 7-day cooldown cannot be checked")
    ]


# Platforms


def test_the_platforms_that_are_locked_stay_so(top: Path) -> None:
    lay(top, TWO | {LOCK: [entry("aws", "5.1.0", "", MAC, WINDOWS), entry("tls", "4.2.0")]})
    shelf = Shelf(OFFERED)
    planned(top, shelf, "aws")
    planned(top, shelf, "aws", platforms=(LINUX, MAC))
    assert [move.platforms for move in shelf.moves] == [(MAC, WINDOWS), (LINUX, MAC)]


def test_the_required_platforms_are_locked_beside_the_old_ones(top: Path) -> None:
    lay(top, TWO | {LOCK: [entry("aws", "5.1.0", "", MAC, WINDOWS), entry("tls", "4.2.0")]})
    shelf = Shelf(OFFERED)
    plan = planned(top, shelf, "aws", policy=Policy(platforms=(WantedPlatform(LINUX),)))
    assert [move.platforms for move in shelf.moves] == [(LINUX, MAC, WINDOWS)]
    assert [change.platforms for change in plan.changes] == [(LINUX, MAC, WINDOWS)]
    assert remarks(plan) == []
    assert planned(top, shelf, "aws", policy=Policy(platforms=(WantedPlatform(LINUX),)), platforms=(MAC,)).changes[
        0
    ].platforms == (MAC,)


def test_a_platform_that_the_new_version_has_no_package_for_is_a_warning(top: Path) -> None:
    rare = Platform("plan9", "arm")
    lay(top, TWO | {LOCK: [entry("aws", "5.1.0", "", rare, WINDOWS), entry("tls", "4.2.0")]})
    shelf = Shelf(OFFERED)
    plan = planned(top, shelf, "aws")
    assert [move.platforms for move in shelf.moves] == [(WINDOWS,)]
    assert [(remark.severity, remark.words) for remark in plan.remarks] == [
        (DiagnosticSeverity.WARNING, "5.2.0 has no package for plan9_arm: it cannot be installed there")
    ]
    # The release may well have one, which only the mirror lacks.
    shelf.is_of_mirrors = True
    words = "the mirror has no package of 5.2.0 for plan9_arm: the lock file gets no hash of one"
    assert [remark.words for remark in planned(top, shelf, "aws").remarks] == [words]


def test_platforms_that_nobody_knows_are_said(top: Path) -> None:
    lay(top, TWO | {LOCK: [entry("aws", "5.1.0"), entry("tls", "4.2.0")]})
    shelf = Shelf(OFFERED, unknown=2)
    plan = planned(top, shelf, "aws")
    (said,) = remarks(plan)
    assert said == (
        "aws: an h1 is locked for linux_amd64 only: the platforms of 2 old h1 hashes are unknown; L on Hashes, or `locklens lock --platform`, adds others"
    )
    shelf.broken = frozenset({"aws"})
    assert not remarks(planned(top, shelf, "aws")), "nothing is locked"


_MORE = "L on Hashes, or `locklens lock --platform`, adds others"


@pytest.mark.parametrize(
    ("named", "reported", "unknown", "words"),
    [
        ((LINUX,), (), 0, f"locked for linux_amd64: 1 h1 hash instead of 4; {_MORE}"),
        (
            (LINUX, WINDOWS),
            (),
            0,
            "locked for linux_amd64, windows_amd64: 2 h1 hashes instead of 4; {} for another platform",
        ),
        (
            (LINUX,),
            (WINDOWS,),
            0,
            "locked for linux_amd64, windows_amd64: 2 h1 hashes instead of 4; {} for another platform",
        ),
        ((), (WINDOWS,), 4, "locked for linux_amd64, windows_amd64: 2 h1 hashes instead of 4; {} for another platform"),
    ],
)
def test_the_warning_of_fewer_platforms_names_a_remedy_only_where_there_is_one(
    top: Path, named: Sequence[Platform], reported: tuple[Platform, ...], unknown: int, words: str
) -> None:
    before = ("?a", "?b", "?c", "?d") if unknown else (LINUX, MAC, WINDOWS, Platform("linux", "arm64"))
    old = replace(entry("aws", "5.1.0"), hashes=tuple(f"h1:aws-5.1.0-{one}" for one in before))
    lay(top, TWO | {LOCK: [old, entry("tls", "4.2.0")]})
    shelf = Shelf(OFFERED, unknown=unknown)
    shelf.platforms, shelf.reported = (LINUX, WINDOWS), reported
    for shelf.is_of_mirrors, subject in ((False, "5.2.0 has no package"), (True, "the mirror has no package of 5.2.0")):
        (said,) = remarks(planned(top, shelf, "aws", platforms=tuple(named)))
        assert said == f"aws: {words.format(subject)}"


def test_hashes_that_the_registry_reports_are_no_platforms_that_were_named(top: Path) -> None:
    old = entry("aws", "5.1.0", "", LINUX, MAC, WINDOWS)
    lay(top, TWO | {LOCK: [old, entry("tls", "4.2.0")]})
    shelf = Shelf(OFFERED)
    shelf.reported = (MAC,)
    (said,) = remarks(planned(top, shelf, "aws", platforms=(LINUX,)))
    assert said.endswith(
        f"locked for linux_amd64 and others that the registry reports: 2 h1 hashes instead of 3; {_MORE}"
    )


# Constraints that are edited


def test_an_exact_pin_moves_with_the_lock(top: Path) -> None:
    lay(top, {"main.tf": requiring(aws="= 5.1.0"), LOCK: [entry("aws", "5.1.0", "5.1.0")]})
    plan = planned(top, Shelf(OFFERED), edits_constraints=True)
    assert [file.path for file in plan.proposal.files] == ["main.tf", LOCK]
    assert plan.proposal.words == (".: hashicorp/aws 5.1.0 -> 6.0.0 (major); constraint in main.tf:3 set to = 6.0.0",)
    assert plan.proposal.command == "locklens upgrade --edit-constraints"
    apply(plan.proposal)
    assert (top / "main.tf").read_text() == requiring(aws="= 6.0.0")
    assert (top / LOCK).read_bytes() == render([entry("aws", "6.0.0", "6.0.0")], TERRAFORM)


def test_only_what_is_in_the_way_is_edited(top: Path) -> None:
    lay(
        top,
        {
            "root/main.tf": requiring(aws=">= 5.0")
            + 'module "a" {\n  source = "../m"\n}\nmodule "b" {\n  source = "../m"\n}\n',
            "root/old.tf": 'provider "aws" {\n  version = "< 6"\n}\n',
            "m/main.tf": requiring(aws="~> 5.1.0", tls="4.0.0"),
            f"root/{LOCK}": [entry("aws", "5.1.0"), entry("tls", "4.0.0", "4.0.0")],
        },
    )
    before = contents(top)
    plan = planned(top, Shelf(OFFERED), "aws=6.0.0", roots=["root"], edits_constraints=True)
    assert [(*edit.place, edit.new) for edit in plan.changes[0].edits] == [
        ("root/old.tf", 2, "< 7"),
        ("m/main.tf", 3, "~> 6.0.0"),
    ]
    apply(plan.proposal)
    after = contents(top)
    assert after["root/main.tf"] == before["root/main.tf"]
    assert after["m/main.tf"] == before["m/main.tf"].replace(b"~> 5.1.0", b"~> 6.0.0")
    lock = parse(after[f"root/{LOCK}"], "")
    assert [(str(one.version), one.constraints) for one in lock.entries] == [
        ("6.0.0", ">= 5.0.0, ~> 6.0.0, < 7.0.0"),
        ("4.0.0", "4.0.0"),
    ]


def test_the_locked_version_may_be_what_is_admitted(top: Path) -> None:
    lay(top, {"main.tf": requiring(aws="~> 4.0"), LOCK: [entry("aws", "5.2.0", "~> 5.0", LINUX, MAC)]})
    shelf = Shelf(OFFERED)
    plan = planned(top, shelf, "aws=5.2.0", edits_constraints=True)
    assert shelf.moves == []
    apply(plan.proposal)
    assert (top / LOCK).read_bytes() == render([entry("aws", "5.2.0", "~> 5.2", LINUX, MAC)], TERRAFORM)


FETCHED = '{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"registry.terraform.io/acme/m/aws","Version":"1.0.0","Dir":".terraform/modules/m"}]}'


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (
            {
                "x.tf": 'module "m" {\n  source = "acme/m/aws"\n}\n',
                ".terraform/modules/modules.json": FETCHED,
                ".terraform/modules/m/main.tf": requiring(aws="< 6.0"),
            },
            ".terraform/modules/m/main.tf:3: < 6.0 excludes 6.0.0, and is not rewritten: the module is fetched",
        ),
        (
            {"x.tf": 'module "m" {\n  source = "./sub"\n}\n', "sub/main.tf": requiring(aws="< 6.0"), "sub/.git": ""},
            "sub/main.tf:3: < 6.0 excludes 6.0.0, and is not rewritten: the file belongs to another git repository",
        ),
        (
            {"x.tf": 'module "m" {\n  source = "./sub"\n}\n', "sub/.git": "", "sub/x.tf": 'provider "aws" {\n\n  version = "< 6.0"\n}\n'},
            "sub/x.tf:3: < 6.0 excludes 6.0.0, and is not rewritten: the file belongs to another git repository",
        ),
        ({"x.tf": 'provider "aws" {\n  version = <<EOT\n< 6.0\nEOT\n}\n'}, "x.tf:2: the constraint '< 6.0' is not a plain string"),
        ({"x.tf": 'provider "aws" {\n  version = "!= 6.0.0"\n}\n'}, "x.tf:2: != 6.0.0 excludes exactly this version"),
    ],
)  # fmt: skip
def test_what_is_not_ours_to_edit(top: Path, files: Files, words: str) -> None:
    lay(top, {"main.tf": requiring(aws="~> 5.0"), LOCK: [entry("aws", "5.1.0", "~> 5.0")], **files})
    before = contents(top)
    plan = planned(top, Shelf(OFFERED), "aws=6.0.0", edits_constraints=True)
    assert plan.proposal.files == ()
    assert failures(plan)[0].startswith(words)
    for names in (("aws",), ()):
        newest = planned(top, Shelf(OFFERED), *names, edits_constraints=True)
        assert failures(newest) == []
        assert remarks(newest)[0].startswith(f"aws: 6.0.0 is held back: {words}")
        assert newest.remarks[0].severity is DiagnosticSeverity.WARNING
        assert newest.proposal.files == planned(top, Shelf(OFFERED), *names).proposal.files
    assert contents(top) == before


def test_a_newer_release_is_named_as_held_back_only_where_constraints_can_be_edited_for_it(top: Path) -> None:
    lay(top, {"main.tf": requiring(aws="~> 5.0, != 6.0.0"), LOCK: [entry("aws", "5.1.0", "~> 5.0")]})
    shelf = Shelf(OFFERED)
    shelf.days = {"6.0.0": 3}
    assert remarks(planned(top, shelf, policy=Policy(cooldown=7), edits_constraints=True)) == [
        "aws: release date of 5.2.0 unknown: the 7-day cooldown cannot be checked"
    ]


def test_links_out_of_the_repository_are_not_followed(top: Path, tmp_path: Path) -> None:
    lay(tmp_path, {"shared/main.tf": requiring(aws="~> 5.0")})
    lay(top, {"main.tf": 'module "m" {\n  source = "./m"\n}\n', LOCK: [entry("aws", "5.1.0", "~> 5.0")]})
    (top / "m").symlink_to(tmp_path / "shared")
    plan = planned(top, Shelf(OFFERED), "aws", edits_constraints=True)
    assert "m: cannot be read: it is, or is behind, a link that leads out of the repository" in failures(plan)[0]


def test_a_pre_release_takes_an_exact_pin(top: Path) -> None:
    lay(top, TWO)
    plan = planned(top, Shelf(OFFERED), "aws=6.1.0-beta1", edits_constraints=True)
    assert "6.1.0-beta1 is a pre-release, which only an exact constraint selects" in failures(plan)[0]
    assert plan.failures[0].hint == 'edit it by hand: "6.1.0-beta1" as the constraint', "--edit-constraints does not"
    lay(top, {"main.tf": requiring(aws="5.1.0")})
    plan = planned(top, Shelf(OFFERED), "aws=6.1.0-beta1", edits_constraints=True)
    assert plan.changes[0].edits[0].new == "6.1.0-beta1"


# Several roots


def test_roots_that_share_a_module_are_planned_together(top: Path) -> None:
    lay(top, {"m/main.tf": requiring(aws="~> 5.0")})
    for root in ("a", "b", "c"):
        lay(
            top,
            {
                f"{root}/main.tf": 'module "m" {\n  source = "../m"\n}\n',
                f"{root}/{LOCK}": [entry("aws", "5.1.0", "~> 5.0")],
            },
        )
    subprocess.run(["git", "add", "."], cwd=top, check=True)
    plan = planned(top, Shelf(OFFERED), "aws", roots=["a", "b"], edits_constraints=True)
    assert [file.path for file in plan.proposal.files] == ["m/main.tf", f"a/{LOCK}", f"b/{LOCK}"]
    assert [(remark.root, remark.words) for remark in plan.remarks] == [
        ("c", "still locked at 5.1.0, which the edited m/main.tf excludes: upgrade it too")
    ]
    (top / f"c/{LOCK}").write_bytes((top / f"c/{LOCK}").read_bytes().replace(b'"5.1.0"', b'"6.0.0"'))
    words = 'its lock file records "~> 5.0", and with the edited m/main.tf that is "~> 6.0": lock it, too'
    again = planned(top, Shelf(OFFERED), "aws", roots=["a", "b"], edits_constraints=True)
    assert [(remark.root, remark.words) for remark in again.remarks] == [("c", words)]
    (top / f"c/{LOCK}").write_bytes((top / f"c/{LOCK}").read_bytes().replace(b'"6.0.0"', b'"5.1.0"'))
    apply(plan.proposal)
    locked = [parse((top / root / LOCK).read_bytes(), "").entries[0] for root in "abc"]
    assert [(str(one.version), one.constraints) for one in locked] == [
        ("6.0.0", "~> 6.0"),
        ("6.0.0", "~> 6.0"),
        ("5.1.0", "~> 5.0"),
    ]


def test_a_root_that_fails_takes_its_edits_back(top: Path) -> None:
    lay(top, {"m/main.tf": requiring(aws="~> 5.0"), "n/main.tf": requiring(aws="!= 6.0.0")})
    both = 'module "m" {\n  source = "../m"\n}\nmodule "n" {\n  source = "../n"\n}\n'
    lay(
        top,
        {
            "a/main.tf": both,
            f"a/{LOCK}": [entry("aws", "5.1.0")],
            "b/main.tf": requiring(aws="~> 5.0"),
            f"b/{LOCK}": [entry("aws", "5.1.0")],
        },
    )
    plan = planned(top, Shelf(OFFERED), "aws=6.0.0", roots=["a", "b"], edits_constraints=True)
    assert [file.path for file in plan.proposal.files] == ["b/main.tf", f"b/{LOCK}"]
    assert len(plan.failures) == 1


# What cannot be known


def test_missing_modules(top: Path) -> None:
    lay(top, TWO | {"x.tf": 'module "m" {\n  source = "acme/m/aws"\n}\n'})
    plan = planned(top, Shelf(OFFERED))
    assert failures(plan) == ["x.tf:1: cannot read module m (acme/m/aws): Module not installed"]
    assert "terraform get" in plan.failures[0].hint
    plan = planned(top, Shelf(OFFERED), allows_missing=True)
    assert len(plan.changes) == 2
    assert remarks(plan)[0] == ": constraints of modules that cannot be read are ignored: m"


def test_a_broken_configuration(top: Path) -> None:
    lay(top, TWO | {"x.tf": 'provider "aws" {\n  version = var.v\n}\n'})
    assert failures(planned(top, Shelf(OFFERED)))[0].startswith("x.tf:2: Invalid version constraint")


def test_a_broken_lock_file(top: Path) -> None:
    lay(top, TWO | {LOCK: b"x\n"})
    assert failures(planned(top, Shelf(OFFERED)))[0].startswith(f"{LOCK}:1: ")


# From Terraform's registry to OpenTofu's


def of_opentofu(top: Path, shelf: Shelf, *providers: str) -> Plan:
    return Upgrade(Scope(top, (), tool=OPENTOFU), providers).plan(shelf)


@pytest.mark.parametrize("providers", [(), ("aws",), ("hashicorp/aws",)])
def test_an_entry_of_terraforms_registry_becomes_one_of_opentofus(top: Path, providers: tuple[str, ...]) -> None:
    lay(top, {"main.tf": requiring(aws="~> 5.0"), LOCK: [entry("aws", "5.1.0", "~> 5.0", LINUX, MAC)]})
    shelf = Shelf(OFFERED)
    plan = of_opentofu(top, shelf, *providers)
    hosts = "registry.opentofu.org instead of registry.terraform.io"
    assert plan.proposal.words == (f".: hashicorp/aws 5.1.0 -> 5.2.0 and is locked from {hosts}",)
    (change,) = plan.changes
    assert (change.kind, change.moved_from, change.old and change.old.address) == (
        "move",
        address("aws"),
        address("aws"),
    )
    assert [(move.platforms, move.prior and move.prior.hashes) for move in shelf.moves] == [((MAC, LINUX), ())]
    apply(plan.proposal)
    lock = parse((top / LOCK).read_bytes(), LOCK)
    (after,) = lock.entries
    assert (after.address.host, str(after.version)) == ("registry.opentofu.org", "5.2.0")
    assert (lock.writer, plan.remarks) == (OPENTOFU, ()), "nothing of Terraform's is left, and a review takes it so"


@pytest.mark.parametrize("tool", [OPENTOFU, TERRAFORM])
def test_a_lock_file_that_is_moved_in_part_to_the_other_tool_names_init(top: Path, tool: Dialect) -> None:
    other = TERRAFORM if tool is OPENTOFU else OPENTOFU
    entries = [entry("aws", "5.1.0", "~> 5.0"), entry("tls", "4.0.0", "~> 4.0")]
    before = [replace(one, address=replace(one.address, host=other.default_host)) for one in entries]
    lay(top, TWO | {LOCK: render(before, other)})
    plan = Upgrade(Scope(top, (), tool=tool), ("aws",)).plan(Shelf(OFFERED))
    ((words, hint),) = ((remark.words, remark.hint) for remark in plan.remarks)
    left = "hashicorp/tls" if tool is OPENTOFU else "hashicorp/aws, hashicorp/tls"  # Terraform moves no entry
    assert words == f"still locked from {other.default_host}, which {tool.product} does not use here: {left}"
    assert hint == (
        f"`locklens init --root . --tool {tool.name}` replaces all such entries, as {tool.command} init does"
    )
    apply(plan.proposal)
    assert parse((top / LOCK).read_bytes(), LOCK).writer is other


@pytest.mark.parametrize(
    ("constraint", "words"), [("~> 5.0", "5.2.0 is locked"), (">= 5.0.0", "5.2.0 -> 6.0.0 (major) and is locked")]
)
def test_an_entry_moves_also_where_its_version_is_the_newest(top: Path, constraint: str, words: str) -> None:
    lay(top, {"main.tf": requiring(aws=constraint), LOCK: [entry("aws", "5.2.0", constraint)]})
    plan = of_opentofu(top, Shelf(OFFERED))
    hosts = "registry.opentofu.org instead of registry.terraform.io"
    assert plan.proposal.words == (f".: hashicorp/aws {words} from {hosts}",)
    assert not plan.remarks


def test_an_entry_that_is_required_by_its_own_name_stays_beside_the_new_one(top: Path) -> None:
    both = requiring(aws="~> 5.0").replace(
        "  }\n}\n", '    old = { source = "registry.terraform.io/hashicorp/aws" }\n  }\n}\n'
    )
    lay(top, {"main.tf": both, LOCK: [entry("aws", "5.2.0", "~> 5.0")]})
    plan = of_opentofu(top, Shelf({"aws": "5.2.0"}), "registry.opentofu.org/hashicorp/aws")
    assert plan.proposal.words == (".: hashicorp/aws 5.2.0 is added",)
    apply(plan.proposal)
    assert [one.address.host for one in parse((top / LOCK).read_bytes(), LOCK).entries] == [
        "registry.opentofu.org",
        "registry.terraform.io",
    ]


# Many roots


def test_what_many_roots_take_is_got_at_once_before_the_first(top: Path) -> None:
    names = [f"r{number}" for number in range(5)]
    lay(top, {"m/main.tf": requiring(aws="5.1.0")})
    for number, name in enumerate(names):
        platforms = (LINUX, MAC) if number % 2 else (LINUX,)
        lay(top, {f"{name}/main.tf": 'module "m" {\n  source = "../m"\n}\n'})
        lay(top, {f"{name}/{LOCK}": [entry("aws", "5.1.0", "5.1.0", *platforms)]})
    shelf = Shelf(OFFERED)
    plan = planned(top, shelf, roots=names, edits_constraints=True)
    assert not plan.failures
    assert [len(plan.changes), len(shelf.moves)] == [5, 5]
    assert {(str(move.version), move.platforms) for move in shelf.fetched} == {
        ("6.0.0", (LINUX,)),
        ("6.0.0", (MAC, LINUX)),
    }
    assert [move.platforms for move in shelf.fetched] == [move.platforms for move in shelf.moves]
    edited = [change.edits for change in plan.changes if change.edits]
    assert len(edited) == 1
    assert plan.proposal.files[0].path == "m/main.tf"


# A root that fails after the packages of all roots are fetched


def sharing(top: Path, module: str, *roots: str) -> None:
    """Roots that get what they require from one module; each second one has a provider of its own beside it."""
    lay(top, {"m/main.tf": module})
    for number, root in enumerate(roots):
        own = requiring(tls="~> 4.0") if number % 2 else ""
        lay(top, {f"{root}/main.tf": 'module "m" {\n  source = "../m"\n}\n' + own})
        entries = [entry("aws", "5.1.0", "5.1.0"), *([entry("tls", "4.0.0", "~> 4.0")] if own else [])]
        lay(top, {f"{root}/{LOCK}": entries})


def test_a_root_that_cannot_be_locked_takes_its_edits_along_and_the_others_are_resolved_again(top: Path) -> None:
    sharing(top, requiring(aws="5.1.0"), "a", "b")
    shelf = Shelf(OFFERED)
    shelf.broken = frozenset({"aws"})
    before = contents(top)
    heard: list[str] = []
    plan = Upgrade(Scope(top, ("a", "b")), edits_constraints=True).plan(shelf, on_root=heard.append)
    assert [(failed.root, failed.address, failed.words) for failed in plan.failures] == [
        ("a", "hashicorp/aws", "the signature is wrong"),
        ("b", "hashicorp/aws", "the signature is wrong"),
    ]
    assert not plan.proposal.files
    assert heard == ["a", "b"]
    assert contents(top) == before


def test_what_a_failed_root_edited_is_edited_for_the_next(top: Path) -> None:
    sharing(top, requiring(aws="5.1.0"), "a", "b", "c")
    lay(top, {f"c/{LOCK}": [entry("aws", "5.1.0", "5.1.0")]})
    shelf = Shelf(OFFERED)
    shelf.broken = frozenset({"tls"})
    picks = [SelectedVersion(root, address("aws"), Version.parse("6.0.0"), edits=True) for root in "abc"]
    picks.append(SelectedVersion("b", address("tls"), Version.parse("4.1.0")))
    where = Scope(top, ("a", "b", "c"))
    plan = Upgrade(where, edits_constraints=True, picks=tuple(picks)).plan(shelf)
    assert [failed.root for failed in plan.failures] == ["b"]
    assert [(change.root, bool(change.edits)) for change in plan.changes] == [("a", True), ("c", False)]
    assert [file.path for file in plan.proposal.files] == ["m/main.tf", f"a/{LOCK}", f"c/{LOCK}"]
    # Had `a` failed, `b` would have been the one to edit the module.
    shelf.broken = frozenset({"aws"})
    only = Upgrade(where, edits_constraints=True, picks=(*picks[:1], *picks[3:])).plan(shelf)
    assert [failed.root for failed in only.failures] == ["a"]
    assert [file.path for file in only.proposal.files] == [f"b/{LOCK}"]


def test_the_only_root_is_announced_before_anything_is_asked(top: Path) -> None:
    lay(top, TWO)
    told: list[str] = []

    class Telling(Shelf):
        def listed(
            self, addresses: Sequence[ProviderAddress], tool: Dialect
        ) -> Mapping[ProviderAddress, Sequence[ListedVersion] | LockLensError]:
            told.append("listed")
            return super().listed(addresses, tool)

    Upgrade(Scope(top)).plan(Telling(OFFERED), on_root=told.append)
    assert told == ["", "listed"]


def test_the_allow_list_holds_back_where_no_version_is_named(top: Path) -> None:
    lay(top, TWO)
    policy = parse_policy(b'allow = ["hashicorp/aws < 5.2", "hashicorp/tls"]', "locklens.toml")
    shelf = Shelf(OFFERED)
    plan = planned(top, shelf, "aws", policy=policy)
    assert (plan.changes, failures(plan)) == ((), [])
    (remark,) = remarks(plan)
    assert remark.startswith("aws: kept at 5.1.0; 6.1.0-beta1 is held back: ")
    assert "not on the allow list" in remark
    lay(top, {LOCK: [entry("aws", "5.0.0", "~> 5.0")]})
    passed = planned(top, shelf, "aws", policy=policy)
    assert [str(change.new.version) for change in passed.changes if change.new] == ["5.1.0"]
    assert remarks(passed) == ["aws: 5.2.0 is held back: not on the allow list"]
    lay(top, TWO)
    named = planned(top, shelf, "aws=5.2.0", policy=policy)
    assert [str(change.new.version) for change in named.changes if change.new] == ["5.2.0"]
    assert remarks(named) == ["aws: 5.2.0 is not on the allow list of the policy (LK022)"]


def test_a_locked_version_that_the_policy_refuses_is_named_with_the_newest_one_that_it_accepts(top: Path) -> None:
    lay(top, {"main.tf": requiring(aws="~> 5.0"), LOCK: [entry("aws", "5.2.0", "~> 5.0")]})
    shelf, keys = Shelf(OFFERED), ("A" * 40, "B" * 40)
    accepted = "`locklens upgrade hashicorp/aws={}` selects the newest older version in range that the policy accepts"

    def warned(policy: str) -> list[tuple[str, str]]:
        plan = planned(top, shelf, policy=parse_policy(policy.encode(), "locklens.toml"))
        assert not plan.changes
        return [(one.words, one.hint) for one in plan.remarks if one.severity is DiagnosticSeverity.WARNING]

    assert warned("") == []
    refused = "the locked 5.2.0 is not on the allow list of the policy (LK022)"
    assert warned('allow = ["hashicorp/aws < 5.2"]') == [(refused, accepted.format("5.1.0"))]
    assert warned('allow = ["hashicorp/tls"]') == [(refused, "")]
    pin = f'[trust.hashicorp]\nkeys = ["{keys[0]}"]'
    assert warned(pin) == [], "whose signer is unknown is not refused"
    shelf.signers |= {"5.2.0": keys[1], "5.1.0": keys[1]}
    other = f"the locked 5.2.0 is signed by {keys[1]}; the policy pins hashicorp to {keys[0]} (locklens.toml:1)"
    assert warned(pin) == [(other, "")], "and is none that a pinned key signs"
    shelf.signers["5.0.0"] = keys[0]
    assert warned(pin) == [(other, accepted.format("5.0.0"))]


def test_a_pin_holds_back_where_no_version_is_named(top: Path) -> None:
    lay(top, TWO)
    keys = "A" * 40, "B" * 40
    policy = parse_policy(f'[trust.hashicorp]\nkeys = ["{keys[0]}"]'.encode(), "locklens.toml")
    shelf = Shelf(OFFERED)
    free = planned(top, shelf, "aws")
    (version,) = (str(change.new.version) for change in free.changes if change.new)
    shelf.signers[version] = keys[1]
    plan = planned(top, shelf, "aws", policy=policy)
    assert plan.changes == ()
    assert remarks(plan) == [
        f"aws: {version} is held back by a pin: signed by {keys[1]}; the policy pins hashicorp to {keys[0]} (locklens.toml:1)"
    ]
    lay(top, {LOCK: [entry("tls", "4.0.0", "~> 4.0")]})
    named = planned(top, shelf, f"aws={version}", policy=policy)
    words = f"aws: {version} is signed by {keys[1]}; the policy pins hashicorp to {keys[0]} (locklens.toml:1)"
    assert (remarks(named), len(named.changes)) == ([words], 1), "not locked yet, and no signer to compare with"
    lay(top, TWO)
    assert words in remarks(planned(top, shelf, f"aws={version}", policy=policy))
    shelf.signers[version] = keys[0]
    assert planned(top, shelf, "aws", policy=policy).changes == free.changes


def test_what_a_pin_holds_back_names_an_older_release_of_a_pinned_key_and_edits_nothing(top: Path) -> None:
    lay(top, {"main.tf": requiring(aws="~> 5.0"), LOCK: [entry("aws", "5.0.0", "~> 5.0")]})
    keys = "A" * 40, "B" * 40
    policy = parse_policy(f'[trust.hashicorp]\nkeys = ["{keys[0]}"]'.encode(), "locklens.toml")
    shelf = Shelf(OFFERED)
    shelf.signers |= dict.fromkeys(("5.2.0", "6.0.0"), keys[1]) | dict.fromkeys(("5.0.0", "5.1.0"), keys[0])
    hint = "`locklens upgrade hashicorp/aws=5.1.0` selects the newest older version in range that the policy accepts"
    for edits in (False, True):
        plan = planned(top, shelf, policy=policy, edits_constraints=edits)
        assert (plan.changes, plan.proposal.files, failures(plan)) == ((), (), [])
        held = [(one.words.partition(" by ")[0], one.hint) for one in plan.remarks]
        assert held == [("6.0.0 is held back", ""), ("5.2.0 is held back", hint)][not edits :]
    assert planned(top, shelf, "aws=5.1.0", policy=policy).changes
    lay(top, {"main.tf": requiring(aws="~> 5.1.0")})
    plan = planned(top, shelf, policy=policy, edits_constraints=True)
    assert [one.words.partition(" by ")[0] for one in plan.remarks] == ["6.0.0 is held back"]
    assert plan.proposal.files == planned(top, shelf, policy=policy).proposal.files != (), (
        "what is in range is selected"
    )
    lay(top, {"main.tf": requiring(aws="~> 5.0")})
    shelf.signers["5.1.0"] = keys[1]
    assert [one.hint for one in planned(top, shelf, policy=policy).remarks] == [""], "the locked one is no upgrade"


def test_beside_what_a_pin_holds_back_the_release_is_named_that_the_cooldown_alone_does(top: Path) -> None:
    lay(top, {"main.tf": requiring(aws="~> 5.0"), LOCK: [entry("aws", "5.0.0", "~> 5.0")]})
    keys = "A" * 40, "B" * 40
    policy = parse_policy(f'cooldown = 7\n[trust.hashicorp]\nkeys = ["{keys[0]}"]'.encode(), "locklens.toml")
    shelf = Shelf(OFFERED)
    shelf.days, shelf.signers = {"5.1.0": 9, "5.2.0": 2}, {"5.1.0": keys[1], "5.2.0": keys[0]}
    held = "aws: 5.2.0 is held back: cooldown 7 d (2 d old)"
    pinned, note = remarks(planned(top, shelf, policy=policy))
    assert (pinned.partition(" by ")[0], note) == ("aws: 5.1.0 is held back", f"{held}; --ignore-cooldown selects it")
    shelf.signers["5.2.0"] = keys[1]
    refused = f"signed by {keys[1]}; the policy pins hashicorp to {keys[0]} (locklens.toml:2)"
    assert remarks(planned(top, shelf, policy=policy))[1] == f"{held}; a pin refuses it, too: {refused}"


def test_another_signer_is_a_warning(top: Path) -> None:
    lay(top, TWO)
    keys = "A" * 40, "B" * 40
    shelf = Shelf(OFFERED)
    shelf.signers |= {"5.1.0": keys[0], "5.2.0": keys[1]}
    warning = f"aws: 5.2.0 is signed by {keys[1]}, which is not the key that signed 5.1.0"
    assert remarks(planned(top, shelf, "aws")) == [warning]
    pick = SelectedVersion("", address("aws"), Version.parse("5.2.0"))
    assert remarks(planned(top, shelf, roots=("",), picks=(pick,))) == [], "the screens review the plan"
    shelf.signers["5.2.0"] = keys[0]
    assert remarks(planned(top, shelf, "aws")) == []
    policy = parse_policy(f'[trust.hashicorp]\nkeys = ["{keys[1]}"]'.encode(), "locklens.toml")
    (words,) = remarks(planned(top, shelf, "aws=5.2.0", policy=policy))
    assert words.startswith(f"aws: 5.2.0 is signed by {keys[0]}; the policy pins hashicorp to ")
