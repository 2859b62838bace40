"""Classification: on real pairs, and on the cases that real pairs do not have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from kit.real_material import meta, real_cases
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.hashes import registry_manifests
from locklens.lockfile import LockEntry, LockFile
from locklens.lockfile.parse import parse
from locklens.review.changes import Comparer
from locklens.review.model import Bump, Change, ChangeKind
from locklens.versions import Version

KINDS = {
    "added": {ChangeKind.NEW_PROVIDER},
    "removed": {ChangeKind.REMOVED},
    "version_up": {ChangeKind.UPGRADE},
    "version_down": {ChangeKind.DOWNGRADE},
    "hashes_added_only": {ChangeKind.NEW_HASHES},
    "hashes_removed_only": {ChangeKind.REMOVED_HASHES},
    "hashes_added_and_removed": {ChangeKind.CHANGED_HASHES, ChangeKind.REPLACED_HASHES},
    "constraints_only": {ChangeKind.CONSTRAINTS_ONLY},
    "constraints_and_hashes": {
        ChangeKind.NEW_HASHES,
        ChangeKind.REMOVED_HASHES,
        ChangeKind.CHANGED_HASHES,
        ChangeKind.REPLACED_HASHES,
    },
    "source_changed": {ChangeKind.MOVED},
    "unchanged": {ChangeKind.UNCHANGED},
}

ILLEGAL = {"builtin/terraform"}
"""What a test fixture of other people has as a provider and no tool would read."""


def side(case: Path, name: str) -> LockFile:
    path = case / f"{name}.lock.hcl"
    return parse(path.read_bytes(), path.name) if path.exists() else LockFile.absent(path.name)


@pytest.mark.parametrize("case", [*real_cases("pairs"), *real_cases("derived")])
def test_real_pairs_have_the_kind_that_independent_rules_gave_them(case: Path) -> None:
    changes = Comparer().compare(side(case, "old"), side(case, "new"), include_unchanged=True)
    kinds = {str(change.address): change.kind for change in changes}
    assert len(kinds) == len(changes)
    kinds.update({str(change.moved_from): change.kind for change in changes if change.moved_from})
    expected = {
        name: provider["cls"] for name, provider in meta(case)["reference"]["providers"].items() if name not in ILLEGAL
    }
    assert {name for name in expected if kinds[name] not in KINDS[expected[name]]} == set()
    assert kinds.keys() >= expected.keys()


AWS = ProviderAddress("registry.terraform.io", "hashicorp", "aws")
MANIFEST = sorted(registry_manifests())[0]


def zh(digit: str) -> str:
    return "zh:" + digit * 64


def entry(version: str = "1.0.0", *hashes: str, address: ProviderAddress = AWS, constraints: str = "") -> LockEntry:
    return LockEntry(address, Version.parse(version), constraints, hashes, 1)


def lock(*entries: LockEntry, whole: bool = True) -> LockFile:
    return LockFile("lock.hcl", b"x", exists=True, writer=None, entries=entries, is_complete=whole)


def only(old: LockEntry, new: LockEntry) -> Change:
    (change,) = Comparer().compare(lock(old), lock(new), include_unchanged=True)
    return change


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (("1.0.0", zh("a")), ("1.0.0", zh("a"), zh("b")), ChangeKind.NEW_HASHES),
        (("1.0.0", zh("a"), "h1:x"), ("1.0.0", zh("a")), ChangeKind.REMOVED_HASHES),
        (("1.0.0", zh("a"), "h1:x"), ("1.0.0", zh("a"), "h1:y"), ChangeKind.CHANGED_HASHES),
        (("1.0.0", zh("a"), "h1:x"), ("1.0.0", zh("b"), "h1:x"), ChangeKind.REPLACED_HASHES),
        (("1.0.0", zh("a"), MANIFEST), ("1.0.0", zh("b"), MANIFEST), ChangeKind.REPLACED_HASHES),
        (("1.0.0", "h1:x"), ("1.0.0", "h1:y"), ChangeKind.REPLACED_HASHES),
        (("1.0.0", "h1:x", "h1:y"), ("1.0.0", "h1:x", zh("a")), ChangeKind.CHANGED_HASHES),
        (("1.0.0", "h1:x"), ("1.0.0", zh("a")), ChangeKind.REPLACED_HASHES),
        (("1.0.0", MANIFEST, "h1:x"), ("1.0.0", MANIFEST, "h1:y"), ChangeKind.CHANGED_HASHES),
        (("1.0.0", "h1:x"), ("1.0.0",), ChangeKind.REMOVED_HASHES),
        (("1.0.0", "h1:x", "h1:x"), ("1.0.0", "h1:x"), ChangeKind.UNCHANGED),
        (("1.0.0-beta", zh("a")), ("1.0.0-alpha.1", zh("b")), ChangeKind.UPGRADE),
        (("1.0.0", zh("a")), ("1.0.0-rc1", zh("b")), ChangeKind.DOWNGRADE),
    ],
)
def test_kinds(old: tuple[str, ...], new: tuple[str, ...], kind: ChangeKind) -> None:
    assert only(entry(*old), entry(*new)).kind is kind


@pytest.mark.parametrize(
    ("old", "new", "bump"),
    [
        ("1.0.0", "2.0.0", Bump.MAJOR),
        ("1.0.0", "1.1.0", Bump.MINOR),
        ("1.0.0", "1.0.1", Bump.PATCH),
        ("1.0.0-a", "1.0.0", Bump.PRERELEASE),
        ("1.0.0+a", "1.0.0+b", Bump.METADATA),
    ],
)
def test_bumps(old: str, new: str, bump: Bump) -> None:
    change = only(entry(old, zh("a")), entry(new, zh("b")))
    assert (change.kind, change.bump) == (ChangeKind.UPGRADE, bump)


def test_constraints_alone() -> None:
    assert (
        only(entry("1.0.0", "h1:x"), entry("1.0.0", "h1:x", constraints="~> 1.0")).kind is ChangeKind.CONSTRAINTS_ONLY
    )


def move(
    old: str, new: str, versions: tuple[str, str] = ("1.0.0", "1.0.0"), *extra: LockEntry
) -> list[tuple[str, ChangeKind]]:
    first, second = (ProviderAddress(*text.split("/")) for text in (old, new))
    changes = Comparer().compare(
        lock(entry(versions[0], zh("a"), address=first)), lock(entry(versions[1], zh("a"), address=second), *extra)
    )
    return [(str(change.address), change.kind) for change in changes]


def test_moves() -> None:
    assert move("a.com/x/y", "b.com/x/y") == [("b.com/x/y", ChangeKind.MOVED)]
    assert move("a.com/x/y", "a.com/z/y") == [("a.com/z/y", ChangeKind.MOVED)]
    assert move("a.com/x/y", "a.com/x/z") == [("a.com/x/y", ChangeKind.REMOVED), ("a.com/x/z", ChangeKind.NEW_PROVIDER)]
    assert move("a.com/x/y", "b.com/x/y", ("1.0.0", "2.0.0")) == [
        ("a.com/x/y", ChangeKind.REMOVED),
        ("b.com/x/y", ChangeKind.NEW_PROVIDER),
    ]
    to_opentofu = move("registry.terraform.io/x/y", "registry.opentofu.org/x/y", ("1.0.0", "2.0.0"))
    assert to_opentofu == [("registry.opentofu.org/x/y", ChangeKind.MOVED)]


def test_a_move_with_two_candidates_is_none() -> None:
    rival = entry("1.0.0", zh("a"), address=ProviderAddress("c.com", "x", "y"))
    assert ChangeKind.MOVED not in {kind for _, kind in move("a.com/x/y", "b.com/x/y", ("1.0.0", "1.0.0"), rival)}


def test_a_side_that_could_not_be_read_whole_proves_nothing_missing() -> None:
    both, one = [entry("1.0.0"), entry("1.0.0", address=replace(AWS, type="b"))], [entry("2.0.0")]
    assert [change.kind for change in Comparer().compare(lock(*both), lock(*one, whole=False))] == [ChangeKind.UPGRADE]
    assert [change.kind for change in Comparer().compare(lock(*one, whole=False), lock(*both))] == [
        ChangeKind.DOWNGRADE
    ]


def test_ids_name_one_change_and_groups_one_decision() -> None:
    first = only(entry("1.0.0", zh("a"), "h1:x"), entry("1.1.0", zh("b"), "h1:y"))
    asked = "~> 1.0"
    alike = only(entry("1.0.0", "h1:x", zh("a"), constraints=asked), entry("1.1.0", zh("b"), "h1:y", constraints=asked))
    other_platform = only(entry("1.0.0", zh("a"), "h1:z"), entry("1.1.0", zh("b"), "h1:y"))
    other_package = only(entry("1.0.0", zh("a"), "h1:x"), entry("1.1.0", zh("c"), "h1:y"))
    assert first.id == alike.id, "roots that ask for the same constraints before and after share a decision"
    assert re.fullmatch("[0-9a-f]{32}", first.id)
    assert re.fullmatch("[0-9a-f]{32}", first.group)
    assert (first.id == other_platform.id, first.group == other_platform.group) == (False, True)
    assert first.group != other_package.group


E = "e" * 64


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((("zh:a",), (f"zh:e\nzh:{E}",)), (("zh:a",), ("zh:e", f"zh:{E}"))),
        ((("zh:a",), (f"zh:e\0zh:{E}",)), (("zh:a\0zh:e",), (f"zh:{E}",))),
        ((("zh:a", "zh:b"), ("zh:c",)), (("zh:a",), ("zh:b", "zh:c"))),
        ((("zh:a",), ("zh:12:c",)), (("zh:a",), ("zh:1", "2:c"))),
        ((("zh:a",), ("zh:\ud800",)), (("zh:a",), ("zh:?",))),
    ],
    ids=["line feed", "NUL", "border", "length", "surrogate"],
)
def test_no_two_sets_of_hashes_have_one_id(
    one: tuple[tuple[str, ...], tuple[str, ...]], other: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    first, second = (only(entry("1.0.0", *old), entry("1.1.0", *new)) for old, new in (one, other))
    assert first.id != second.id
    assert first.group != second.group


def test_the_id_has_the_constraints_that_change() -> None:
    """Otherwise an acceptance of one change of the constraints (LK021) would pass each other one."""
    before = entry("1.0.0", zh("a"), constraints="~> 1.0")
    ids = {only(before, entry("1.0.0", zh("a"), constraints=text)).id for text in ("~> 1.0", "~> 1.1", ">= 1.0", "")}
    assert len(ids) == 4


def test_the_id_has_the_address_before_a_move() -> None:
    moves = [
        Comparer().compare(
            lock(entry("1.0.0", zh("a"), address=ProviderAddress(host, "x", "y"))),
            lock(entry("1.0.0", zh("a"), address=ProviderAddress("c.com", "x", "y"))),
        )
        for host in ("a.com", "b.com")
    ]
    (first,), (second,) = moves
    assert first.kind is second.kind is ChangeKind.MOVED
    assert (first.id != second.id, first.group != second.group) == (True, True)
    here = only(*(entry("1.0.0", zh("a"), address=ProviderAddress("c.com", "x", "y")) for _ in range(2)))
    assert here.id != first.id


def test_added_removed_and_kept_hashes() -> None:
    change = only(entry("1.0.0", zh("a"), "h1:x"), entry("1.0.0", zh("a"), "h1:y"))
    assert [fact.hash for fact in change.added] == ["h1:y"]
    assert [fact.hash for fact in change.removed] == ["h1:x"]
    assert len(change.kept) == 1


def test_the_same_change_in_many_roots_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import deepdiff

    walked: list[tuple[object, object]] = []

    class Counting(deepdiff.DeepDiff):  # type: ignore[misc, unused-ignore]
        def __init__(self, old: dict[int, object], new: dict[int, object], **more: Any) -> None:
            walked.extend((old.get(number), new.get(number)) for number in old.keys() | new.keys())
            super().__init__(old, new, **more)

    monkeypatch.setattr(deepdiff, "DeepDiff", Counting)
    other = replace(AWS, type="b")
    comparer = Comparer()
    for line in range(1000):
        old = [replace(entry("1.0.0", zh("a")), line=line), entry("1.0.0", zh("c"), address=other)]
        new = [replace(entry("1.1.0", zh("b")), line=line + 1), entry("1.0.0", zh("c"), address=other)]
        (change,) = comparer.compare(lock(*old), lock(*new))
        assert (change.kind, change.old, change.new) == (ChangeKind.UPGRADE, old[0], new[0])
    assert len(walked) == 2, "each pair of entries once, the unchanged one included"
