"""Blocks that are replaced, or taken from another state of the file: everything else stays, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.effort import effort
from kit.real_material import real_cases
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.errors import ConfigurationError
from locklens.hcl import decode, parse_constants
from locklens.lockfile import LockEntry
from locklens.lockfile.parse import parse
from locklens.lockfile.render import is_canonical, render, render_entry
from locklens.lockfile.splice import graft, splice
from locklens.versions import Version

HOSTS = ("registry.terraform.io", "example.com", "registry.opentofu.org", "xn--80akhbyknj4f.com")
ADDRESSES = st.builds(
    ProviderAddress, st.sampled_from(HOSTS), st.sampled_from(["a", "hashicorp", "é"]), st.sampled_from("bcde")
)
ENTRIES = st.builds(
    lambda address, version, constraints, hashes: LockEntry(address, version, constraints, hashes, 0),
    ADDRESSES,
    st.builds(Version, st.integers(0, 9), st.integers(0, 9), st.integers(1, 9)),
    st.sampled_from(["", "~> 1.0", ">= 1.0.0, < 3.0.0"]),
    st.lists(st.sampled_from(["zh:" + "0" * 64, "h1:abc=", "h9:${x}", "zh:" + "f" * 64]), unique=True).map(
        lambda hashes: tuple(sorted(hashes))
    ),
)
FILES = st.lists(ENTRIES, max_size=6, unique_by=lambda entry: entry.address)
CHANGES = st.dictionaries(ADDRESSES, st.one_of(st.none(), ENTRIES), max_size=4).map(
    lambda found: {address: entry and replace(entry, address=address) for address, entry in found.items()}
)
Changes = dict[ProviderAddress, LockEntry | None]


def applied(entries: list[LockEntry], changed: Changes) -> dict[ProviderAddress, LockEntry]:
    found: Changes = {entry.address: entry for entry in entries}
    return {address: entry for address, entry in (found | changed).items() if entry is not None}


def said(data: bytes) -> dict[ProviderAddress, LockEntry]:
    lock = parse(data, "lock.hcl")
    assert lock.problems == ()
    return {address: replace(entry, line=0, hash_offsets=()) for address, entry in lock.by_address.items()}


@given(FILES, CHANGES, st.sampled_from([TERRAFORM, OPENTOFU]))
def test_a_canonical_file_stays_one(entries: list[LockEntry], changed: Changes, dialect: Dialect) -> None:
    spliced = splice(render(entries, dialect), changed, dialect=dialect)
    assert spliced == render(applied(entries, changed).values(), dialect)


MODULE = 'module "x" {\n  version = "1"\n}\n'


def laid_out(entry: LockEntry, form: int) -> str:
    """A block in one of many layouts, ending in a line end."""
    block = render_entry(entry)
    return (
        block,
        block.replace("  hashes", "\n\n    hashes").replace("  version", "version"),
        "# about it\n// more\n" + block,
        "/* one\n# two */ " + block,
        block.removesuffix("\n") + " # behind\n",
        block.removesuffix("\n") + " /* behind\n  and on */\n",
        f'  provider "{entry.address}" {{ version = "{entry.version}" }}\n',
        block.replace(f'"{entry.address}"', f'"\\u{ord(str(entry.address)[0]):04x}{str(entry.address)[1:]}"'),
        MODULE + block,
    )[form]


@st.composite
def layouts(draw: st.DrawFn) -> tuple[list[LockEntry], str]:
    """Entries in any order, and a file that somebody edited by hand and that says the same."""
    entries = draw(FILES)
    text = draw(
        st.sampled_from(["", TERRAFORM.header + "\n", "# mine\n", "/* a\n# b\n*/\n", TERRAFORM.header + "\n\n"])
    )
    given: list[LockEntry] = []
    for entry in entries:
        form = draw(st.integers(0, 8))
        given.append(replace(entry, constraints="", hashes=()) if form == 6 else entry)
        text += draw(st.sampled_from(["", "\n", "\n\n", "# about nothing\n\n"])) + laid_out(entry, form)
    text += draw(st.sampled_from(["", "\n", "# the end", "# the end\n"]))
    if draw(st.booleans()) and text.endswith("\n"):
        text = text.removesuffix("\n")
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n", draw(st.sampled_from([-1, 3])))
    return given, draw(st.sampled_from(["", "\ufeff"])) + text


def blocks_of(data: bytes) -> dict[str, str]:
    """Each block's own text, by its label."""
    text, body = decode(data), parse_constants(data).body
    assert body is not None
    return {"/".join((block.type, *block.labels)): text[block.place.start : block.end] for block in body.all_blocks()}


@given(layouts(), CHANGES)
def test_in_any_file_all_else_stays(laid: tuple[list[LockEntry], str], changed: Changes) -> None:
    entries, text = laid
    data = text.encode()
    spliced = splice(data, changed, dialect=TERRAFORM)
    assert said(spliced) == applied(entries, changed)
    others = {f"provider/{address}" for address in changed}
    before = {label: block for label, block in blocks_of(data).items() if label not in others}
    after = {label: block for label, block in blocks_of(spliced).items() if label not in others}
    assert list(before.items()) == list(after.items())
    for comment in ("# about", "// more", "/* one\n# two */", "# mine", "# the end", "/* behind", "and on */", MODULE):
        words = comment.replace("\n", "\r\n") if text.replace("\r\n", "").count("\n") == 0 else comment
        assert decode(spliced).count(words) == text.count(words), comment
    assert (
        spliced.startswith(b"\xef\xbb\xbf") == text.startswith("\ufeff")
        or not data.removeprefix(b"\xef\xbb\xbf").strip()
    )
    if b"\r\n" in data and data.count(b"\r\n") == data.count(b"\n"):
        assert spliced.count(b"\r\n") == spliced.count(b"\n")


AWS, TLS = (ProviderAddress("registry.terraform.io", "hashicorp", name) for name in ("aws", "tls"))
NULL = ProviderAddress("registry.terraform.io", "hashicorp", "null")
ENTRY = LockEntry(AWS, Version(5, 1, 0), "~> 5.0", ("h1:a", "zh:b"), 0)


def test_comments_line_ends_and_order_of_a_file_by_hand() -> None:
    by_hand = (
        "# ours\r\n\r\n"
        f"# keep below 6\r\n{render_entry(replace(ENTRY, address=TLS))}\r\n"
        f"// the cloud\r\n{render_entry(ENTRY)}# end"
    ).replace("\r\n", "\n")
    data = by_hand.replace("\n", "\r\n").encode()
    spliced = splice(
        data, {TLS: None, NULL: replace(ENTRY, address=NULL), AWS: replace(ENTRY, version=Version(5, 2, 0))}, dialect=TERRAFORM
    )  # fmt: skip
    assert spliced.decode().replace("\r\n", "\n") == (
        "# ours\n\n# keep below 6\n\n// the cloud\n"
        + render_entry(replace(ENTRY, version=Version(5, 2, 0)))
        + "\n"
        + render_entry(replace(ENTRY, address=NULL))
        + "# end"
    )
    assert b"\n" not in spliced.replace(b"\r\n", b"")


def test_a_new_first_block_stands_above_what_is_said_of_the_next() -> None:
    data = f"{TERRAFORM.header}\n\n# about tls\n{render_entry(replace(ENTRY, address=TLS))}".encode()
    assert splice(data, {AWS: ENTRY}, dialect=TERRAFORM).decode() == (
        f"{TERRAFORM.header}\n\n{render_entry(ENTRY)}\n# about tls\n{render_entry(replace(ENTRY, address=TLS))}"
    )


def test_nothing_comes_of_nothing() -> None:
    assert splice(b"", {AWS: None}, dialect=TERRAFORM) == b""
    assert splice(b"", {}, dialect=TERRAFORM) == b""
    assert splice(b"\n", {AWS: ENTRY}, dialect=OPENTOFU) == render([ENTRY], OPENTOFU)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<<<<<<< ours\n", "line 1: Conflict markers"),
        (b'provider "registry.terraform.io/hashicorp/aws" {\n', "line 1: Unclosed configuration block"),
        (render([ENTRY], TERRAFORM) + render_entry(ENTRY).encode(), "line 12: Duplicate provider lock"),
        (b'provider "a//b" {\n  version = "1.0.0"\n}\n', "line 1: Invalid provider source address"),
        (b'provider "aws" {\n  version = "1.0.0"\n}\n', "line 1: Non-normalized provider source address"),
        (b'provider "x/y/z" {\n}\n', "line 1: Missing required argument"),
        (b'provider "x/y/z" {\n  version = "1.0.0"\n}\n\xff', "line 4"),
    ],
)
def test_a_file_that_the_tools_refuse_is_not_touched(data: bytes, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        splice(data, {AWS: ENTRY}, dialect=TERRAFORM)


@pytest.mark.parametrize("case", [*real_cases("pairs"), *real_cases("derived")])
def test_real_changes_are_one_block_after_the_other(case: Path) -> None:
    sides = [case / name for name in ("old.lock.hcl", "new.lock.hcl")]
    if not all(path.exists() for path in sides):
        pytest.skip("one side is absent")
    old, new = (parse(path.read_bytes(), path.name) for path in sides)
    if old.writer is None or new.writer is not old.writer or old.problems or new.problems:
        pytest.skip("by hand, or by another tool")
    changed: Changes = dict.fromkeys(old.by_address, None) | dict(new.by_address)
    changed = {address: entry for address, entry in changed.items() if old.by_address.get(address) != entry}
    spliced = splice(old.data, changed, dialect=old.writer)
    assert said(spliced) == said(new.data)
    if is_canonical(old) and is_canonical(new):
        assert spliced == new.data


HEADER = "# kept by hand\n\n"


def block(name: str, version: str = "1.0.0", end: str = "\n") -> str:
    hashes = f'  hashes = [\n    "zh:{version}",\n  ]\n'
    text = f'provider "registry.terraform.io/hashicorp/{name}" {{\n  version = "{version}"\n{hashes}}}\n'
    return text.replace("\n", end)


def of(*names: str) -> set[ProviderAddress]:
    return {ProviderAddress(TERRAFORM.default_host, "hashicorp", name) for name in names}


def grafted(data: str, donor: str, *names: str) -> str:
    return graft(data.encode(), donor.encode(), of(*names), dialect=TERRAFORM).decode()


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
@pytest.mark.parametrize("case", real_cases("pairs", enough=30))
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


def test_a_file_of_crlf_without_a_header_gets_no_other_line_end() -> None:
    data = block("aws", end="\r\n") + "\r\n" + block("tls", end="\r\n")
    donor = block("aws", end="\r\n") + "# b\r\n" + block("null", end="\r\n") + block("tls", "2.0.0", "\r\n")
    found = grafted(data, donor, "null")
    assert found.count("\n") == found.count("\r\n")
