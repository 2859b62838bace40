"""Writing lock files byte for byte as the tools do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.real_material import shared_data
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.lockfile import LockEntry
from locklens.lockfile.parse import parse
from locklens.lockfile.render import deviations, is_canonical, render
from locklens.versions import Version

AWS = ProviderAddress("registry.terraform.io", "hashicorp", "aws")
ENTRY = LockEntry(AWS, Version(5, 1, 0), "~> 5.0", ("zh:b", "h1:a", "zh:b"), 1)


def test_the_layout() -> None:
    assert render(
        [ENTRY, replace(ENTRY, address=ProviderAddress("a.com", "x", "y"), constraints="", hashes=())], TERRAFORM
    ).decode() == (
        '# This file is maintained automatically by "terraform init".\n'
        "# Manual edits may be lost in future updates.\n"
        "\n"
        'provider "a.com/x/y" {\n'
        '  version = "5.1.0"\n'
        "}\n"
        "\n"
        'provider "registry.terraform.io/hashicorp/aws" {\n'
        '  version     = "5.1.0"\n'
        '  constraints = "~> 5.0"\n'
        "  hashes = [\n"
        '    "h1:a",\n'
        '    "zh:b",\n'
        "  ]\n"
        "}\n"
    )


@pytest.mark.parametrize(("dialect", "size"), [(TERRAFORM, 107), (OPENTOFU, 102)])
def test_without_providers_the_header_alone_is_left(dialect: object, size: int) -> None:
    assert len(render([], TERRAFORM if dialect is TERRAFORM else OPENTOFU)) == size


def test_escapes() -> None:
    hostile = replace(ENTRY, hashes=('h1:${x}\né\x01%{q"\\', "h1:e\u0301\u202e\U000e0001"))
    text = render([hostile], TERRAFORM).decode()
    assert r'"h1:$${x}\né\u0001%%{q\"\\",' in text
    assert r'"h1:é\u202e\U000e0001",' in text
    (entry,) = parse(text.encode(), "lock.hcl").entries
    assert set(entry.hashes) == {'h1:${x}\né\x01%{q"\\', "h1:é\u202e\U000e0001"}


def real_files() -> list[Any]:
    folder = shared_data()
    return [pytest.param(path, id=str(path.relative_to(folder))) for path in sorted(folder.rglob("*.hcl"))]


EDITED_BY_HAND = {
    "pairs/0021/new.lock.hcl": "must be written as",
    "pairs/0051/new.lock.hcl": "spacing",
    "pairs/0079/old.lock.hcl": "a different first line",
    "pairs/0079/new.lock.hcl": "a different first line",
}
"""Test fixtures of other people that no tool wrote, and what is odd in each."""


@pytest.mark.parametrize("data", [b"", b"\r\n\n"])
def test_an_empty_file_is_called_so(data: bytes) -> None:
    assert deviations(parse(data, "lock")) == ("an empty file",)


@pytest.mark.parametrize("path", real_files())
def test_real_files_are_written_as_they_were_read(path: Path) -> None:
    lock = parse(path.read_bytes(), path.name)
    name = "/".join(path.parts[-3:])
    if lock.conflict is not None:
        assert "conflicts" in path.parts
    elif name in EDITED_BY_HAND:
        assert EDITED_BY_HAND[name] in " ".join((*deviations(lock), *(problem.detail for problem in lock.problems)))
    elif "derived" in path.parts:
        assert lock.problems == ()
        assert is_canonical(lock) is (deviations(lock) == ())
    else:
        assert lock.problems == ()
        assert lock.writer is not None
        assert render(lock.entries, lock.writer) == lock.data


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text, ()),
        (lambda text: text.replace("\n", "\r\n"), ("CRLF line ends",)),
        (lambda text: text.replace("\n", "\r\n", 3), ("mixed line ends",)),
        (lambda text: "\ufeff" + text, ("byte order mark",)),
        (lambda text: text[:-1], ("no line end at the end of the file",)),
        (lambda text: text.replace('    "h1:a",\n    "zh:b",\n', '    "zh:b",\n    "h1:a",\n'), ("order of hashes",)),
        (lambda text: text.replace('    "zh:b",\n', '    "zh:b",\n    "zh:b",\n'), ("repeated hashes",)),
        (lambda text: text.replace("  version     =", "  version =") + "# mine\n", ("comments", "spacing")),
        (lambda text: text + "\n\n", ("spacing",)),
        (lambda text: text.partition("\n")[2], ("a different first line",)),
        (lambda text: text.replace("# Manual", "# manual"), ("comments",)),
    ],
)
def test_each_deviation_has_a_name(change: object, words: tuple[str, ...]) -> None:
    text = render([ENTRY], TERRAFORM).decode()
    assert callable(change)
    assert deviations(parse(change(text).encode(), "lock.hcl")) == words


TEXTS = st.text(alphabet=st.characters(codec="utf-8"), max_size=12)


@given(st.lists(TEXTS, max_size=5))
def test_whatever_the_hashes_say_is_read_back(values: list[str]) -> None:
    import unicodedata

    entry = replace(ENTRY, hashes=tuple(f"h1:{value}" for value in values))
    data = render([entry], TERRAFORM)
    (again,) = parse(data, "lock.hcl").entries
    assert set(again.hashes) == {unicodedata.normalize("NFC", text) for text in entry.hashes}
    assert render([again], TERRAFORM) == data
