"""The three-way merge: by block, with hashes united only where no package was exchanged; beside git on real conflicts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from kit.real_material import real_cases, shared_data

from locklens.dialect import TERRAFORM
from locklens.errors import ConfigurationError
from locklens.lockfile import LockEntry
from locklens.lockfile.merge import Labels, MergeConflict, MergeSide, merge
from locklens.lockfile.parse import parse
from locklens.lockfile.render import render

H1 = {name: f"h1:{name * 43}=" for name in "ABC"}
ZH = {name: f"zh:{name * 64}" for name in "abcdef"}


def entry(name: str, version: str, *hashes: str, constraints: str = "") -> LockEntry:
    block = f'provider "registry.terraform.io/acme/{name}" {{\n  version = "{version}"\n  hashes = [\n'
    block += "".join(f'    "{text}",\n' for text in hashes) + "  ]\n}\n"
    if constraints:
        block = block.replace(
            f'  version = "{version}"', f'  version     = "{version}"\n  constraints = "{constraints}"'
        )
    (parsed,) = parse(block.encode(), "").entries
    return parsed


def lock(*entries: LockEntry) -> bytes:
    return render(entries, TERRAFORM)


A1 = entry("a", "1.0.0", H1["A"], ZH["a"], ZH["b"])
A2 = entry("a", "2.0.0", H1["B"], ZH["c"], ZH["d"])
A3 = entry("a", "3.0.0", H1["C"], ZH["e"], ZH["f"])
B1 = entry("b", "1.0.0", H1["A"], ZH["a"])
B2 = entry("b", "2.0.0", H1["B"], ZH["c"])
C1 = entry("c", "1.0.0", H1["C"], ZH["e"])


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        pytest.param([A1], [A1], [A2], [A2], id="theirs alone"),
        pytest.param([A1], [A2], [A1], [A2], id="ours alone"),
        pytest.param([A1, B1], [A2, B1], [A1, B2], [A2, B2], id="each upgrades another provider"),
        pytest.param([A1], [A1, B1], [A1, C1], [A1, B1, C1], id="each adds another provider"),
        pytest.param([A1, C1], [A1], [A1, B1, C1], [A1, B1], id="one removes, one adds"),
        pytest.param([A1, B1], [A1], [A1], [A1], id="both remove the same"),
        pytest.param([], [A1], [B1], [A1, B1], id="no ancestor"),
    ],
)
def test_a_block_that_one_side_changed_is_that_sides(
    base: list[LockEntry], ours: list[LockEntry], theirs: list[LockEntry], expected: list[LockEntry]
) -> None:
    merged = merge(lock(*base) if base else b"", lock(*ours), lock(*theirs), dialect=TERRAFORM)
    assert merged.conflicts == ()
    assert merged.data == lock(*expected)


def test_hashes_of_two_platforms_are_united() -> None:
    ours = entry("a", "1.0.0", H1["A"], H1["B"], ZH["a"], ZH["b"])
    theirs = entry("a", "1.0.0", H1["A"], H1["C"], ZH["a"], ZH["b"])
    merged = merge(lock(A1), lock(ours), lock(theirs), dialect=TERRAFORM)
    assert merged.data == lock(entry("a", "1.0.0", H1["A"], H1["B"], H1["C"], ZH["a"], ZH["b"]))
    assert [str(address) for address in merged.united] == ["registry.terraform.io/acme/a"]


def test_hashes_that_are_equal_are_not_said_to_be_united() -> None:
    moved = ("1.1.0", H1["B"], ZH["b"])
    ours, theirs = entry("a", *moved), entry("a", *moved, constraints="~> 1.0")
    merged = merge(lock(A1), lock(ours), lock(theirs), dialect=TERRAFORM)
    assert (merged.data, merged.united) == (lock(theirs), ())


def test_constraints_of_one_side_go_with_the_united_hashes() -> None:
    ours = entry("a", "1.0.0", H1["A"], H1["B"], ZH["a"], ZH["b"])
    theirs = entry("a", "1.0.0", H1["A"], ZH["a"], ZH["b"], constraints="~> 1.0")
    merged = merge(lock(A1), lock(ours), lock(theirs), dialect=TERRAFORM)
    assert merged.data == lock(entry("a", "1.0.0", H1["A"], H1["B"], ZH["a"], ZH["b"], constraints="~> 1.0"))


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "reason"),
    [
        pytest.param(A1, A2, A3, "two versions", id="two upgrades"),
        pytest.param(A1, None, A2, "removed", id="removed and upgraded"),
        pytest.param(A1, A2, None, "removed", id="upgraded and removed"),
        pytest.param(
            A1,
            entry("a", "1.0.0", H1["A"], H1["B"], ZH["c"], ZH["d"]),
            entry("a", "1.0.0", H1["A"], H1["C"], ZH["a"], ZH["b"]),
            "different packages",
            id="one side lost the published packages",
        ),
        pytest.param(
            None,
            entry("a", "1.0.0", ZH["a"], ZH["b"]),
            entry("a", "1.0.0", ZH["a"], ZH["c"]),
            "different packages",
            id="new on both sides, published again in between",
        ),
        pytest.param(
            A1,
            entry("a", "1.0.0", H1["A"], ZH["a"], ZH["b"], constraints="~> 1.0"),
            entry("a", "1.0.0", H1["A"], ZH["a"], ZH["b"], constraints="~> 1.0, < 2.0.0"),
            "constraints",
            id="two constraints",
        ),
    ],
)
def test_what_cannot_both_hold_is_a_conflict_with_both_entries(
    base: LockEntry | None, ours: LockEntry | None, theirs: LockEntry | None, reason: str
) -> None:
    files = [lock(*([side, B1] if side else [B1])) for side in (base, ours, theirs)]
    merged = merge(*files, dialect=TERRAFORM, labels=Labels("HEAD", "topic", 9))
    (conflict,) = merged.conflicts
    assert reason in conflict.reason
    text = merged.data.decode()
    assert text.count("<<<<<<<<< HEAD\n") == text.count("=========\n") == text.count(">>>>>>>>> topic\n") == 1
    again = parse(merge(*files, dialect=TERRAFORM).data, "")
    assert again.conflict is not None
    sides = [again.conflict.ours, again.conflict.theirs]
    for side, expected in zip(sides, (ours, theirs), strict=True):
        found = side.by_address.get(A1.address)
        assert (found and found.written) == (expected and expected.written)
        assert B1.address in side.by_address


def test_a_conflict_may_be_settled() -> None:
    def newest(conflict: MergeConflict) -> MergeSide:
        assert conflict.ours is not None
        assert conflict.theirs is not None
        is_ours = conflict.ours.version.compare(conflict.theirs.version) > 0
        return MergeSide.OURS if is_ours else MergeSide.THEIRS

    assert merge(lock(A1), lock(A2), lock(A3), dialect=TERRAFORM, settle=newest).data == lock(A3)
    assert merge(lock(A1), lock(A3), lock(A2), dialect=TERRAFORM, settle=newest).data == lock(A3)
    assert len(merge(lock(A1), lock(A3), lock(A2), dialect=TERRAFORM, settle=lambda _: None).conflicts) == 1


def test_comments_and_line_ends_of_ours_stay() -> None:
    ours = b"# reviewed by the platform team\n" + lock(A1, B1).replace(
        b'provider "registry.terraform.io/acme/b"', b'# pinned, see RUNBOOK\nprovider "registry.terraform.io/acme/b"'
    )
    merged = merge(lock(A1, B1), ours.replace(b"\n", b"\r\n"), lock(A2, B1), dialect=TERRAFORM)
    assert merged.data.count(b"\n") == merged.data.count(b"\r\n")
    text = merged.data.replace(b"\r\n", b"\n")
    assert text.startswith(b"# reviewed by the platform team\n")
    assert b'# pinned, see RUNBOOK\nprovider "registry.terraform.io/acme/b"' in text
    assert parse(text, "").by_address[A1.address].written == A2.written


NOTE = b"# pinned, see RUNBOOK\n"


def test_markers_have_the_line_end_of_a_file_without_a_header() -> None:
    sides = (lock(one, B1).removeprefix(TERRAFORM.preamble.encode()).lstrip() for one in (A1, A2, A3))
    base, ours, theirs = (side.replace(b"\n", b"\r\n") for side in sides)
    merged = merge(base, ours, theirs, dialect=TERRAFORM)
    assert merged.conflicts
    assert merged.data.count(b"\n") == merged.data.count(b"\r\n")


def noted(data: bytes, note: bytes = NOTE, name: str = "a") -> bytes:
    """A file with a comment above the block of a provider."""
    block = f'provider "registry.terraform.io/acme/{name}"'.encode()
    return data.replace(block, note + block)


def inside(data: bytes, note: bytes = b"  # not 3.x\n") -> bytes:
    """A file with a comment in its first block."""
    return data.replace(b"  version", note + b"  version", 1)


H = entry("a", "1.0.0", H1["A"], H1["B"], ZH["a"], ZH["b"])
I = entry("a", "1.0.0", H1["A"], H1["C"], ZH["a"], ZH["b"])  # noqa: E741
UNITED = entry("a", "1.0.0", H1["A"], H1["B"], H1["C"], ZH["a"], ZH["b"])


@pytest.mark.parametrize("is_swapped", [False, True])
@pytest.mark.parametrize(
    ("base", "one", "other", "expected"),
    [
        pytest.param(lock(A1), noted(lock(A1)), lock(A2), noted(lock(A2)), id="added above, upgraded"),
        pytest.param(noted(lock(A1)), lock(A1), noted(lock(A2)), lock(A2), id="removed above, upgraded"),
        pytest.param(lock(A1), noted(lock(H)), lock(I), noted(lock(UNITED)), id="added above, hashes united"),
        pytest.param(b"", noted(lock(A1)), lock(A1), noted(lock(A1)), id="added with one and without"),
        pytest.param(lock(A1), inside(lock(A2)), lock(A2), inside(lock(A2)), id="the same upgrade, one with a comment"),
        pytest.param(
            lock(A1, B1),
            noted(lock(A1, B2), NOTE + b"\n", "b"),
            lock(A2, B1),
            noted(lock(A2, B2), NOTE + b"\n", "b"),
            id="a comment that stands alone",
        ),
        pytest.param(lock(A1), lock(A1) + b"\n" + NOTE, lock(A2), lock(A2) + b"\n" + NOTE, id="at the end"),
    ],
)
def test_a_comment_that_one_side_changed_stands(
    base: bytes, one: bytes, other: bytes, expected: bytes, is_swapped: bool
) -> None:
    ours, theirs = (other, one) if is_swapped else (one, other)
    merged = merge(base, ours, theirs, dialect=TERRAFORM)
    assert (merged.conflicts, merged.data.decode()) == ((), expected.decode())


@pytest.mark.parametrize("is_swapped", [False, True])
@pytest.mark.parametrize(
    ("base", "one", "other"),
    [
        pytest.param(lock(A1), inside(lock(A1)), lock(A2), id="added within, upgraded"),
        pytest.param(
            lock(A1), lock(A1).replace(b'"\n  hashes', b'" /* see\n x */\n  hashes'), lock(A2), id="of two lines"
        ),
        pytest.param(lock(A1), noted(lock(A1)), noted(lock(A2), b"# other\n"), id="two comments"),
        pytest.param(inside(lock(A1)), inside(lock(H)), inside(lock(I)), id="within, hashes of two platforms"),
    ],
)
def test_comments_that_have_no_place_are_a_conflict(base: bytes, one: bytes, other: bytes, is_swapped: bool) -> None:
    ours, theirs = (other, one) if is_swapped else (one, other)
    merged = merge(base, ours, theirs, dialect=TERRAFORM)
    (conflict,) = merged.conflicts
    assert conflict.reason == "the comments of both sides cannot be merged"
    for line in {*ours.splitlines(), *theirs.splitlines()}:
        assert line in merged.data.splitlines()
    assert len(merge(base, ours, theirs, dialect=TERRAFORM, settle=lambda _: None).conflicts) == 1
    with_ours = merge(base, ours, theirs, dialect=TERRAFORM, settle=lambda _: MergeSide.OURS)
    assert (with_ours.conflicts, with_ours.data) == ((), ours)


def test_text_between_blocks_that_both_sides_changed_is_kept_of_both() -> None:
    ours, theirs = (b"# %s\n\n" % name + lock(*entries) for name, entries in ((b"one", (A2,)), (b"two", (A1, B1))))
    merged = merge(lock(A1), ours, theirs, dialect=TERRAFORM)
    assert merged.conflicts == ()
    assert merged.data.index(b"# one\n") < merged.data.index(b"# two\n") < merged.data.index(b"provider")
    assert parse(merged.data, "").problems == ()


@pytest.mark.parametrize(
    ("ours", "theirs", "reason"),
    [
        ((H1["A"], ZH["a"]), (H1["A"], H1["C"], ZH["a"], ZH["b"]), "a side removed hashes of the common ancestor"),
        ((H1["A"], ZH["a"]), (H1["A"], ZH["b"]), "a side removed hashes of the common ancestor"),
        ((ZH["a"], ZH["b"]), (H1["A"], H1["C"], ZH["a"], ZH["b"]), "a side removed hashes of the common ancestor"),
        ((H1["A"], ZH["c"]), (H1["A"], H1["C"], ZH["a"], ZH["b"]), "the sides have different packages for one version"),
        ((H1["A"], ZH["a"], ZH["c"]), (H1["A"], H1["C"], ZH["a"]), "a side removed hashes of the common ancestor"),
    ],
)
def test_a_lost_hash_is_not_called_another_package(ours: tuple[str, ...], theirs: tuple[str, ...], reason: str) -> None:
    sides = [lock(entry("a", "1.0.0", *hashes)) for hashes in (ours, theirs)]
    for one, other in (sides, sides[::-1]):
        (conflict,) = merge(lock(A1), one, other, dialect=TERRAFORM).conflicts
        assert conflict.reason == reason


@pytest.mark.parametrize(
    "other",
    [A3, entry("a", "1.0.0", H1["A"], H1["B"], ZH["a"], ZH["b"]), entry("a", "1.0.0", *A1.hashes, constraints="1")],
)
def test_a_version_that_one_side_selected_is_not_called_two(other: LockEntry) -> None:
    reason = "two versions were selected"
    if other is not A3:
        reason = "one side selected another version, the other changed the old entry"
    for one, two in ((A2, other), (other, A2)):
        (conflict,) = merge(lock(A1), lock(one), lock(two), dialect=TERRAFORM).conflicts
        assert conflict.reason == reason


def test_an_ancestor_in_conflict_leaves_its_other_blocks_to_merge() -> None:
    """git gives a criss-cross merge the merge of both ancestors, with the longer markers of an inner merge."""
    base = merge(lock(A1, B1), lock(A2, B1), lock(A3, B1), dialect=TERRAFORM, labels=Labels(size=9)).data
    assert b"<<<<<<<<< ours\n" in base
    merged = merge(base, lock(A2, B2), lock(A2, B1, C1), dialect=TERRAFORM)
    assert (merged.conflicts, merged.data) == ((), lock(A2, B2, C1))
    (conflict,) = merge(base, lock(A2, B2), lock(A3, B1, C1), dialect=TERRAFORM).conflicts
    assert conflict.reason == "two versions were selected"
    (conflict,) = merge(base, lock(B2), lock(A3, B1), dialect=TERRAFORM).conflicts
    assert conflict.reason == "one side removed it, the other changed it"


def test_without_an_ancestor_that_can_be_read_what_differs_is_a_conflict() -> None:
    merged = merge(b"provider {", lock(A1, B1), lock(A1, C1), dialect=TERRAFORM)
    assert [str(one.address) for one in merged.conflicts] == [str(B1.address), str(C1.address)]


def test_a_side_that_the_tools_refuse_is_not_merged() -> None:
    with pytest.raises(ConfigurationError, match="line 1"):
        merge(lock(A1), b"provider {", lock(A2), dialect=TERRAFORM)


@pytest.mark.parametrize("case", real_cases("conflicts"))
def test_real_merges_conflict_only_where_both_sides_changed_an_entry(case: Path) -> None:
    paths = [case / f"{name}.lock.hcl" for name in ("ours", "base", "theirs")]
    ours, base, theirs = (path.read_bytes() for path in paths)
    merged = merge(base, ours, theirs, dialect=TERRAFORM)
    before, mine, other = (parse(data, "").by_address for data in (base, ours, theirs))
    result = parse(merged.data, "")
    assert (result.conflict is not None) == bool(merged.conflicts)
    for conflict in merged.conflicts:
        address = conflict.address
        assert mine.get(address) != before.get(address) != other.get(address)
    for address, kept in result.by_address.items():
        sides = [side[address] for side in (mine, other) if address in side]
        assert str(kept.version) in {str(side.version) for side in sides}
        assert set(kept.hashes) <= {text for side in sides for text in side.hashes}


def test_the_real_merge_without_a_conflict_is_one_for_git() -> None:
    case = shared_data() / "conflicts" / "0012"
    if not case.is_dir():
        pytest.skip("only among the shared real changes")
    paths = [case / f"{name}.lock.hcl" for name in ("ours", "base", "theirs")]
    lines = subprocess.run(["git", "merge-file", "-p", *paths], capture_output=True, check=False)
    assert lines.returncode > 0
    ours, base, theirs = (path.read_bytes() for path in paths)
    merged = merge(base, ours, theirs, dialect=TERRAFORM)
    assert [str(address) for address in merged.united] == ["registry.terraform.io/gavinbunney/kubectl"]
