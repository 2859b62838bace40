"""Taking single blocks from one state of a lock file into another: what is not taken stays, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.effort import effort
from kit.real_material import real_cases
from lockfile.test_splice import FILES
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.dialect import TERRAFORM
from locklens.errors import ConfigurationError
from locklens.lockfile.graft import graft
from locklens.lockfile.model import LockEntry
from locklens.lockfile.parse import parse
from locklens.lockfile.render import is_canonical, render

HEADER = "# kept by hand\n\n"


def block(name: str, version: str = "1.0.0", end: str = "\n") -> str:
    hashes = f'  hashes = [\n    "zh:{version}",\n  ]\n'
    text = f'provider "registry.terraform.io/hashicorp/{name}" {{\n  version = "{version}"\n{hashes}}}\n'
    return text.replace("\n", end)


def of(*names: str) -> set[ProviderAddress]:
    return {ProviderAddress(TERRAFORM.default_host, "hashicorp", name) for name in names}


def grafted(data: str, donor: str, *names: str) -> str:
    return graft(data.encode(), donor.encode(), of(*names), dialect=TERRAFORM).decode()


def said(data: bytes) -> dict[ProviderAddress, LockEntry]:
    lock = parse(data, "lock.hcl")
    assert lock.problems == ()
    return {address: replace(entry, line=0, hash_lines=()) for address, entry in lock.by_address.items()}


def expected(data: bytes, donor: bytes, chosen: set[ProviderAddress]) -> dict[ProviderAddress, LockEntry]:
    old, new = said(data), said(donor)
    every = {address: (new if address in chosen else old).get(address) for address in (*old, *new)}
    return {address: entry for address, entry in every.items() if entry is not None}


@given(FILES, FILES, st.data())
def test_between_canonical_files_all_states_are_canonical(
    before: list[LockEntry], after: list[LockEntry], data: st.DataObject
) -> None:
    old, new = render(before, TERRAFORM), render(after, TERRAFORM)
    every = sorted(said(old) | said(new))
    chosen = data.draw(st.sets(st.sampled_from(every))) if every else set()
    found = graft(old, new, chosen, dialect=TERRAFORM)
    assert found == render(expected(old, new, chosen).values(), TERRAFORM)


@settings(max_examples=effort(2, 20))
@pytest.mark.parametrize("case", real_cases("pairs"))
@given(data=st.data())
def test_real_changes_taken_one_after_the_other_end_in_the_new_file(case: Path, data: st.DataObject) -> None:
    old, new = (path.read_bytes() if path.exists() else b"" for path in (case / "old.lock.hcl", case / "new.lock.hcl"))
    if parse(old, "old").problems or parse(new, "new").problems:
        return
    keeps_form = old[:40] == new[:40] and all(is_canonical(parse(side, "side")) for side in (old, new))
    at, taken = old, set[ProviderAddress]()
    remaining = data.draw(st.permutations(sorted(said(old) | said(new))))
    while remaining:
        number = data.draw(st.integers(1, len(remaining)))
        taken |= set(remaining[:number])
        remaining = remaining[number:]
        at = graft(at, new, taken, dialect=TERRAFORM)
        assert said(at) == expected(old, new, taken)
        assert is_canonical(parse(at, "at")) or not keeps_form
    assert graft(at, new, taken, dialect=TERRAFORM) == new
    assert at == new or not taken


def test_a_block_keeps_the_bytes_that_it_has_there() -> None:
    old = HEADER + block("a") + "\n" + block("b") + "\n" + block("c")
    changed = "# why\n" + block("b", "2.0.0").replace("\n}", "\n  # in it\n} # behind it", 1).replace(
        "  version", "\tversion"
    )
    new = "# other header\n\n" + block("a", "3.0.0") + "\n# apart\n\n" + changed + "\n" + block("c")
    assert grafted(old, new, "b") == HEADER + block("a") + "\n" + changed + "\n" + block("c")
    assert grafted(old, new, "a") == HEADER + block("a", "3.0.0") + "\n" + block("b") + "\n" + block("c")
    assert grafted(old, new, "a", "b") == new
    assert grafted(grafted(old, new, "a"), new, "b") == new


def test_line_ends_are_those_of_the_block() -> None:
    old, new = block("a") + "\n" + block("b"), block("a", "2.0.0", "\r\n") + "\r\n" + block("b", "2.0.0", "\r\n")
    assert grafted(old, new, "a") == block("a", "2.0.0", "\r\n") + "\n" + block("b")


@pytest.mark.parametrize("header", ["", "# head\n", "# head\n\n", "\ufeff", "\ufeff# head\n\n"])
def test_first_blocks_come_and_go(header: str) -> None:
    b, ab = header + block("b", "1.0.0"), header + block("a") + "\n" + block("b", "2.0.0")
    added = grafted(b, ab, "a")
    lead = header if header.endswith("\n\n") or not header.strip("\ufeff") else header + "\n"
    assert added in {lead + block("a") + "\n" + block("b"), header + block("a") + "\n" + block("b")}
    assert grafted(added, b, "a") in {b, lead + block("b")}
    assert grafted(ab, b, "a") in {header + block("b", "2.0.0"), lead + block("b", "2.0.0")}


def test_a_file_that_does_not_exist_gets_the_header_and_what_is_chosen() -> None:
    new = HEADER + block("a") + "\n" + block("b") + "\n# the end\n"
    assert grafted("", new, "a") == HEADER + block("a")
    assert grafted("", new, "b") == HEADER + block("b")
    assert grafted("\n", new, "b") == HEADER + block("b")
    assert grafted("", new, "a", "b") == new


def test_what_stands_apart_from_a_removed_block_stays() -> None:
    old = HEADER + block("a") + "\n# section\n\n# of b\n" + block("b") + "\n" + block("c") + "# end\n"
    new = HEADER + block("a", "2.0.0") + "\n" + block("c")
    assert grafted(old, new, "b") == HEADER + block("a") + "\n# section\n\n\n" + block("c") + "# end\n"


def test_files_without_a_line_end_at_the_end() -> None:
    old, new = block("a").rstrip("\n"), block("a", "2.0.0") + "\n" + block("b").rstrip("\n")
    assert grafted(old, new, "b") == block("a") + "\n" + block("b").rstrip("\n")
    assert grafted(old, new, "a") == block("a", "2.0.0")


def test_comments_that_go_on_behind_a_block() -> None:
    old = block("a").rstrip("\n") + " /* on\nand on */\n" + block("b")
    new = block("a", "2.0.0") + "\n" + block("b", "2.0.0")
    assert grafted(old, new, "a") == block("a", "2.0.0").rstrip("\n") + "\n /* on\nand on */\n" + block("b")
    assert grafted(old, new, "b") == block("a").rstrip("\n") + " /* on\nand on */\n" + block("b", "2.0.0")


@pytest.mark.parametrize("broken", ["provider {", "<<<<<<< a\n", block("a") + block("a")])
def test_what_the_tools_refuse_is_refused(broken: str) -> None:
    for data, donor in ((broken, block("b")), (block("b"), broken)):
        with pytest.raises(ConfigurationError, match="cannot be identified"):
            grafted(data, donor, "b")
