"""Who can install what is locked: pure coverage, and the findings by it on the sample registry and on real lock files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from conformance.case import LOCK_FILE, TOOLS, Case, Entry, Files, Lock, Theme, Tool, init
from conformance.outcome import Status
from conformance.running import is_here, process, run_case
from conformance.table.mirrors import LOCKED, PINNED, folder, installation, packed, unpacked
from hypothesis import given
from hypothesis import strategies as st
from kit.judging import settled_alone
from kit.real_material import real_cases
from msgspec.structs import replace

from locklens.addresses import Platform, ProviderAddress
from locklens.demo import SampleLock, lock_file
from locklens.hashes import hashes_of_files, registry_manifests
from locklens.lockfile import LockFile
from locklens.lockfile.parse import parse
from locklens.policy import InstallPath, Policy, WantedPlatform
from locklens.policy.model import LocalPath
from locklens.review import HashFact, Proof
from locklens.review.changes import Comparer
from locklens.review.coverage import PATH_NAMES, LockedHashes, PathCover, cover
from locklens.review.findings import Severity
from locklens.review.model import ChangeKind
from locklens.review.rules.catalogue import RULES
from locklens.review.rules.platforms import CHECKS

if TYPE_CHECKING:
    from pathlib import Path

DIRECT, CACHE = InstallPath.DIRECT, InstallPath.PLUGIN_CACHE
PACKED, UNPACKED = InstallPath.PACKED_MIRROR, InstallPath.UNPACKED_MIRROR
OCI = InstallPath.OCI_MIRROR
LINUX, ARM, MAC = "linux_amd64", "linux_arm64", "darwin_arm64"
ALL = frozenset({LINUX, ARM, MAC})


def zh(digit: str, platform: str | None = None, proof: Proof = Proof.UNKNOWN) -> HashFact:
    return HashFact("zh:" + digit * 64, platform, Proof.SIGNED if platform else proof)


def h1(letter: str, platform: str | None = None, proof: Proof = Proof.UNKNOWN) -> HashFact:
    return HashFact(f"h1:{letter * 42}A=", platform, Proof.COMPUTED if platform else proof)


HONEST = (zh("1", LINUX), zh("2", ARM), zh("3", MAC), zh("4", proof=Proof.SIGNED))


@pytest.mark.parametrize(
    ("locked", "path", "covered", "missing", "doubtful", "at_least"),
    [
        # All zh are known; one h1 of a platform that nobody knows.
        (LockedHashes((*HONEST, h1("a")), ALL), DIRECT, [LINUX, ARM, MAC], [], [], 0),
        (LockedHashes((*HONEST, h1("a")), ALL), PACKED, [LINUX, ARM, MAC], [], [], 0),
        (LockedHashes((*HONEST, h1("a")), ALL), CACHE, [], [], [LINUX, ARM, MAC], 2),
        (LockedHashes((*HONEST, h1("a")), ALL), UNPACKED, [], [], [LINUX, ARM, MAC], 2),
        # From an OCI registry a zh alone counts.
        (LockedHashes((*HONEST, h1("a")), ALL), OCI, [LINUX, ARM, MAC], [], [], 0),
        (LockedHashes((h1("a", LINUX), zh("2", ARM)), ALL, frozenset({LINUX})), OCI, [ARM], [LINUX, MAC], [], 2),
        (LockedHashes((h1("a"), h1("b"), h1("c"))), OCI, [], [LINUX, ARM, MAC], [], 3),
        (LockedHashes((h1("a"), zh("9")), ALL), OCI, [], [], [LINUX, ARM, MAC], 2),
        # The h1 is Linux's, and there is no other.
        (LockedHashes((*HONEST, h1("a", LINUX)), ALL, frozenset({LINUX})), CACHE, [LINUX], [ARM, MAC], [], 2),
        # Two h1 more; that of ARM is known and is not locked, so that they may be of MAC alone.
        (LockedHashes((*HONEST, h1("a"), h1("b")), ALL, frozenset({ARM})), CACHE, [], [ARM], [LINUX, MAC], 1),
        # Every h1 is known, and this one is of none of them.
        (LockedHashes((*HONEST, h1("a")), ALL, ALL), CACHE, [], [LINUX, ARM, MAC], [], 3),
        # A mirror may have it all the same.
        (LockedHashes((*HONEST, h1("a")), ALL, ALL), UNPACKED, [], [], [LINUX, ARM, MAC], 2),
        # The publisher's zh of MAC is not locked; what is locked in its place is no zh of today.
        (LockedHashes((*HONEST[:2], zh("9", proof=Proof.STALE)), ALL), DIRECT, [LINUX, ARM], [MAC], [], 1),
        (LockedHashes((*HONEST[:2], zh("9", proof=Proof.STALE)), ALL), PACKED, [LINUX, ARM], [], [MAC], 0),
        # The release has no package for MAC.
        (LockedHashes((*HONEST[:2], h1("a")), frozenset({LINUX, ARM})), DIRECT, [LINUX, ARM], [MAC], [], 1),
        # Nobody was asked: enough hashes for all, or not enough.
        (LockedHashes((zh("1"), zh("2"), zh("3"), zh("4"))), DIRECT, [], [], [LINUX, ARM, MAC], 0),
        (LockedHashes((zh("1"), h1("a"))), DIRECT, [], [], [LINUX, ARM, MAC], 1),
        (LockedHashes((zh("1"), zh("2"), zh("3"))), CACHE, [], [LINUX, ARM, MAC], [], 3),
        # No hash at all: the tools take what they find.
        (LockedHashes((), ALL), DIRECT, [], [], [LINUX, ARM, MAC], 0),
        # What can match nothing counts for nothing.
        (
            LockedHashes((HashFact("zh:12"), HashFact("h9:xyz"), HashFact("h1:no"))),
            DIRECT,
            [],
            [LINUX, ARM, MAC],
            [],
            3,
        ),
        (LockedHashes((HashFact(min(registry_manifests())),)), DIRECT, [], [LINUX, ARM, MAC], [], 3),
    ],
)
def test_cover(
    locked: LockedHashes, path: InstallPath, covered: list[str], missing: list[str], doubtful: list[str], at_least: int
) -> None:
    found = cover(locked, path, (LINUX, ARM, MAC))
    assert (list(found.covered), list(found.missing), list(found.doubtful)) == (covered, missing, doubtful)
    assert found.at_least_missing == at_least


PLATFORMS = (LINUX, ARM, MAC, "windows_amd64")
TRUTHS = st.lists(st.tuples(st.sampled_from(PLATFORMS), st.booleans(), st.booleans()), unique_by=lambda one: one[:2])


@given(TRUTHS, st.sampled_from(InstallPath), st.booleans())
def test_never_a_lie(truths: list[tuple[str, bool, bool]], path: InstallPath, is_known: bool) -> None:
    """Whatever of the truth is known: what is said to be covered is, what is said to be missing is not."""
    facts, real = [], set()
    for number, (platform, is_h1, is_told) in enumerate(truths):
        make = h1 if is_h1 else zh
        digit = "abcdef0123"[number]
        facts.append(make(digit, platform if is_told or (is_known and not is_h1) else None))
        if path.only in {"", "h1" if is_h1 else "zh"}:
            real.add(platform)
    offered = frozenset(PLATFORMS) if is_known else None
    hashed = (
        frozenset(platform for platform, is_h1, is_told in truths if is_h1 and is_told) if is_known else frozenset()
    )
    found = cover(LockedHashes(tuple(facts), offered, hashed), path, PLATFORMS)
    if facts:
        assert real >= {*found.covered}
        assert not real & {*found.missing}
        assert found.at_least_missing <= len({*PLATFORMS} - real)


def test_each_install_path_has_its_words() -> None:
    assert list(PATH_NAMES) == list(InstallPath)


def test_at_least_missing_counts_what_the_spare_hashes_cannot_be() -> None:
    assert PathCover(CACHE, missing=(MAC,), doubtful=(LINUX, ARM), spare=1).at_least_missing == 2
    assert PathCover(CACHE, doubtful=(LINUX,), spare=5).at_least_missing == 0


def policy(*platforms: str, paths: tuple[InstallPath, ...] = (DIRECT,)) -> Policy:
    return Policy(tuple(WantedPlatform(Platform.parse(one), "") for one in platforms), frozenset(paths))


def sides(case: Path) -> tuple[LockFile, LockFile]:
    """A real pair; a side that is not there has no entries."""
    paths = [case / f"{side}.lock.hcl" for side in ("old", "new")]
    old, new = (parse(path.read_bytes() if path.exists() else b"", path.name) for path in paths)
    return old, new


@pytest.mark.parametrize("case", real_cases("pairs", enough=50))
def test_real_locks_that_nobody_can_tell_of_are_not_accused(case: Path) -> None:
    """Offline nobody knows the platform of a hash: only what counting tells is said."""
    for change in Comparer().compare(*sides(case)):
        found = settled_alone(change, policy=policy(LINUX, MAC)).findings
        rules = {one.rule for one in found}
        assert "LK008" not in rules
        if change.new is None or len(change.new.hashes) > 3:
            assert "LK009" not in rules


def test_a_path_of_this_machine_counts_for_the_providers_that_take_it() -> None:
    (change,) = Comparer().compare(
        LockFile.absent("old"),
        parse(lock_file(SampleLock("registry.terraform.io/acme/demo", "1.0.0", unpacked=())), "new"),
    )
    for taken in ({change.address}, set[ProviderAddress]()):
        cache = LocalPath(CACHE, taken.__contains__)
        wanted = replace(policy(LINUX), local=(cache,), local_platform=Platform.parse(LINUX))
        found = settled_alone(change, policy=wanted).findings
        assert ["plugin cache" in one.message for one in found if one.rule == "LK009"] == [True] * len(taken)


@pytest.mark.parametrize("case", real_cases("pairs", enough=50))
def test_one_h1_is_not_enough_for_two_platforms_in_a_cache(case: Path) -> None:
    wanted = policy(LINUX, MAC, paths=(DIRECT, CACHE))
    for change in Comparer().compare(LockFile.absent("old"), sides(case)[1]):
        assert change.new is not None
        found = settled_alone(change, policy=wanted).findings
        told = [one.message for one in found if one.rule == "LK009" and "plugin cache" in one.message]
        number = len(hashes_of_files(change.new.hashes))
        assert len(told) == (number < 2 and change.new.hashes != ())
        if number == 1:
            assert len(told) == 1
            assert told[0].startswith("at least 1 of linux_amd64, darwin_arm64 has no usable hash from ")
            assert told[0].endswith(" could be theirs; init does not use a cached package")
        elif told:
            words = "linux_amd64, darwin_arm64 are not covered from a plugin cache: no h1 for them is locked"
            assert told == [f"{words}; init does not use a cached package"]


@pytest.mark.parametrize("case", real_cases("pairs", enough=50))
def test_fewer_h1_weigh_more_where_a_cache_is_used(case: Path) -> None:
    for change in Comparer().compare(*sides(case)):
        plain, cached = (
            [one for one in settled_alone(change, policy=one).findings if one.rule == "LK024"]
            for one in (policy(), policy(paths=(DIRECT, CACHE)))
        )
        assert [replace(one, severity=two.severity) for one, two in zip(plain, cached, strict=True)] == cached
        assert {one.severity.value for one in plain} <= {"info"}
        assert {one.severity.value for one in cached} <= {"warn"}
        assert not plain or change.kind is not ChangeKind.REMOVED


@pytest.mark.parametrize(
    ("proof", "offered", "expected"),
    [
        (Proof.SIGNED, {"darwin_arm64"}, "L on Hashes"),
        (Proof.UNKNOWN, {"darwin_arm64"}, "nothing can be added to this entry"),
        (Proof.STALE, {"darwin_arm64"}, "nothing can be added to this entry"),
        (Proof.UNKNOWN, None, "L on Hashes"),  # nobody was asked, so that nothing contradicts
        (Proof.SIGNED, {"linux_amd64"}, "Select a version that has a package"),
    ],
)
def test_the_advice_about_a_platform_works_for_its_entry(proof: Proof, offered: set[str] | None, expected: str) -> None:
    facts = (HashFact(f"zh:{'a' * 64}", "linux_amd64", proof),)
    policy = Policy(platforms=(WantedPlatform(Platform("darwin", "arm64")),))
    now = LockedHashes(facts, frozenset(offered) if offered is not None else None)
    (verdict,) = CHECKS["LK009"](None, now, policy, (DIRECT,))
    assert expected in RULES["LK009"].wording(verdict.case).remedy


_PLACES: dict[InstallPath, tuple[str, Files]] = {
    DIRECT: ("", {}),
    CACHE: ('plugin_cache_dir = "@WORK@/cache"\n', unpacked(top="cache")),
    PACKED: (installation(folder()), packed()),
    UNPACKED: (installation(folder()), unpacked()),
}
_OTHER_H1, _OTHER_ZH = replace(LOCKED, h1=(MAC,), zh=(MAC,)), replace(LOCKED, h1=(), zh=(MAC,))
_OTHER_H1_AND_ALL_ZH = replace(LOCKED, h1=(MAC,))


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
@pytest.mark.parametrize(
    ("path", "entry", "facts", "severity", "then"),
    [
        (DIRECT, _OTHER_H1, (h1("a", MAC), zh("1", MAC)), None, "init fails"),
        (DIRECT, _OTHER_ZH, (zh("1", MAC),), None, "init fails"),
        (PACKED, _OTHER_H1, (h1("a", MAC), zh("1", MAC)), None, "init fails"),
        (UNPACKED, _OTHER_H1, (h1("a", MAC), zh("1", MAC)), None, "init fails"),
        (UNPACKED, _OTHER_H1_AND_ALL_ZH, (h1("a", MAC), zh("1", MAC), zh("2", LINUX)), None, "init fails"),
        (UNPACKED, _OTHER_ZH, (zh("1", MAC),), None, "init does not verify the package"),
        (CACHE, _OTHER_H1_AND_ALL_ZH, (h1("a", MAC), zh("1", MAC), zh("2", LINUX)), Severity.INFO, "init does not use a cached package"),
    ],
)  # fmt: skip
def test_what_is_said_of_init_is_what_the_tools_do(
    path: InstallPath, entry: Entry, facts: tuple[HashFact, ...], severity: Severity | None, then: str, tool: Tool
) -> None:
    now = LockedHashes(facts, ALL, frozenset({MAC}))
    (verdict,) = CHECKS["LK009"](None, now, policy(LINUX, paths=(path,)), (path,))
    assert verdict.message.endswith(f"; {then}")
    assert verdict.severity is severity
    if not is_here(tool):
        return
    cli, files = _PLACES[path]
    case = Case(
        theme=Theme.PLUGIN_CACHE,
        name="x",
        files={"main.tf": PINNED, LOCK_FILE: Lock((entry,)), **files},
        turns=(init("-lockfile=readonly"),),
        cli=cli,
    )
    (outcome,) = run_case(case, tool, process(tool.command))
    assert (outcome.status is not Status.DONE) == (then == "init fails")
    if path is CACHE:
        assert outcome.asked.get("package"), "the package in the cache is passed over"
