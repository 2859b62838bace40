"""The quick scanner reads what the tools write, and nothing that the HCL reader would read otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from kit.real_material import real_cases

from locklens.hcl import parse_constants
from locklens.lockfile import BodyReader, ProviderBlock, Text, scan

TEXT = b"""# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/hashicorp/aws" {
  version     = "5.1.0"
  constraints = "~> 5.0"
  hashes = [
    "h1:a",
    "zh:b",
  ]
}

provider "registry.terraform.io/hashicorp/null" {
  version = "3.2.0"
}
"""


def said(block: ProviderBlock) -> tuple[object, ...]:
    places = list(block.hash_offsets), list(block.hash_columns)
    return block.label, block.line, block.version, block.constraints, list(block.hashes or ()), *places


def test_the_layout_of_the_tools() -> None:
    found = scan(TEXT)
    assert found is not None
    aws, null = found
    assert said(aws) == (
        Text("registry.terraform.io/hashicorp/aws", 0, 10),
        4,
        Text("5.1.0", 1, 17),
        Text("~> 5.0", 2, 17),
        ["h1:a", "zh:b"],
        [4, 5],
        [5, 5],
    )
    assert said(null) == (
        Text("registry.terraform.io/hashicorp/null", 0, 10),
        13,
        Text("3.2.0", 1, 13),
        None,
        [],
        [],
        [],
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\n  hashes = [\n", b"\n  hashes = []\n"),
        (b'"h1:a"', b'"h1:\\u0061"'),
        (b'"h1:a"', b'"${a}"'),
        (b'"h1:a",', b'"h1:a"'),
        (b'"h1:a",', b'"h1:a", "h1:c",'),
        (b'"h1:a"', b'""'),
        (b"  ]\n", b"]\n"),
        (b"\n  ]\n", b"\n"),
        (b'= "5.1.0"', b"= 5"),
        (b"  constraints", b"  constraint"),
        (b"}\n\nprovider", b"} provider"),
        (b"# Manual", b"# \x00Manual"),
        (b"# Manual", b"Manual"),
        (b"aws", b"\xff"),
        (b"aws", "é".encode()),
        (b"}\n", b""),
    ],
)
def test_anything_else_is_left_to_the_hcl_reader(old: bytes, new: bytes) -> None:
    assert old in TEXT
    assert scan(TEXT.replace(old, new, 1)) is None


@pytest.mark.parametrize("case", [*real_cases("pairs"), *real_cases("derived")])
def test_real_files_are_read_as_the_hcl_reader_reads_them(case: Path) -> None:
    for path in case.glob("*.lock.hcl"):
        data = path.read_bytes()
        scanned = scan(data)
        if scanned is None:
            assert case.name in {"0021", "0051"}
            continue
        body = parse_constants(data).body
        assert body is not None
        reader = BodyReader()
        reader.read(body)
        assert [*map(said, reader.blocks)] == [*map(said, scanned)]
