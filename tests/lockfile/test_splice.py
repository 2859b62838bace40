"""Replacing single blocks: what is not meant stays, to the byte, whoever wrote the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.real_material import real_cases
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.errors import ConfigurationError
from locklens.hcl import decode, parse_constants
from locklens.lockfile.model import LockEntry
from locklens.lockfile.parse import parse
from locklens.lockfile.render import is_canonical, render, render_entry
from locklens.lockfile.splice import splice
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
    return {address: replace(entry, line=0, hash_lines=()) for address, entry in lock.by_address.items()}


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
