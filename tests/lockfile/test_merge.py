"""The three-way merge: by block, with hashes united only where no package was exchanged; beside git on real conflicts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from real_material import real_cases, shared_data

from locklens.dialect import TERRAFORM
from locklens.errors import ConfigurationError
from locklens.lockfile.merge import Labels, MergeConflict, merge
from locklens.lockfile.model import LockEntry
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
        assert (found and found.says) == (expected and expected.says)
        assert B1.address in side.by_address


def test_a_conflict_may_be_settled() -> None:
    def newest(conflict: MergeConflict) -> LockEntry | None:
        assert conflict.ours is not None
        assert conflict.theirs is not None
        return conflict.ours if conflict.ours.version.compare(conflict.theirs.version) > 0 else conflict.theirs

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
    assert parse(text, "").by_address[A1.address].says == A2.says


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
