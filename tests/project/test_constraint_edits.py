"""Constraints that are rewritten where they stand: no byte beside them changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from locklens.addresses import ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.errors import ConfigurationError
from locklens.project.configuration import Configuration, Requirement
from locklens.project.constraint_edits import admit, protection
from locklens.project.requirements import read_configuration
from locklens.project.tree import EmptyTree, EntryKind, FolderEntry, OverlayTree
from locklens.versions import Version

AWS = ProviderAddress(TERRAFORM.default_host, "hashicorp", "aws")
NEW = Version.parse("5.2.1")


class Folder(Struct, frozen=True):
    """A tree of a few files in one folder."""

    files: dict[str, bytes]

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def list(self, folder: str) -> tuple[FolderEntry, ...]:
        return tuple(FolderEntry(name, EntryKind.FILE) for name in sorted(self.files)) if folder == "" else ()

    def leads_out(self, path: str) -> bool:
        return False

    def has_folder(self, folder: str) -> bool:
        return folder == ""

    def join(self, folder: str, path: str) -> str | None:
        return None


def read(files: dict[str, bytes], dialect: Any = TERRAFORM) -> Configuration:
    return read_configuration(Folder(files), "", dialect=dialect)


def constrained(configuration: Configuration) -> list[Requirement]:
    return [one for one in configuration.requirements if one.address == AWS and one.constraint]


def rest(configuration: Configuration) -> list[tuple[object, ...]]:
    return [
        (one.address, one.file, one.line, one.contributor, one.subject, one.address == AWS or one.constraint)
        for one in configuration.requirements
    ]


# Layouts

JUNK = st.lists(
    st.sampled_from(
        [
            "",
            '# version = "~> 4.0"',
            '// aws = "4.0"',
            '/* required_providers { aws = "= 4.0.0" } */',
            'variable "version" {\n  default = "~> 4.0"\n}',
            'locals {\n  text = <<-EOT\n    version = "~> 4.0"\n  EOT\n}',
            'resource "aws_vpc" "x" {\n  version = "~> 4.0" # é\n}',
            'output "ünï" {\n  value = "${var.version}-4.0"\n}',
        ]
    ),
    max_size=4,
).map(lambda lines: "".join(f"{line}\n" for line in lines))
OTHER = st.sampled_from(["", '    tls = "~> 4.0"\n', '    tls = {\n      version = "~> 4.0"\n    }\n', "    # é\n\n"])
GAP = st.sampled_from(["", " ", "\t", "  "])
CONSTRAINT = st.sampled_from(
    ["~> 4.0", "4.0", "= 4.0.1", "< 5.0", ">= 4.0, < 5.0.0", " ~> 4.0 , >= 1", "~>4.0", "<=5.0"]
)
ENTRY = st.sampled_from(
    [
        'aws{g}={g}"{c}"',
        'aws = {{ source = "hashicorp/aws", version{g}={g}"{c}" }}',
        'aws = {{\n      version{g}={g}"{c}" # version = "4.0"\n      source = "hashicorp/aws"\n    }}',
        'aws = {{\n      source  = "hashicorp/aws"\n\n      "version"{g}:{g}"{c}",\n    }}',
        'aws = {{\n      version = "1.0"\n      source = "hashicorp/aws"\n      version{g}={g}"{c}" /* 4.0 */\n    }}',
    ]
)
LINE_END = st.sampled_from(["\n", "\r\n"])


@st.composite
def native(draw: st.DrawFn) -> tuple[str, bytes, int, int]:
    """A file, and where in its bytes the constraint stands."""
    constraint = draw(CONSTRAINT)
    entry = draw(ENTRY).format(g=draw(GAP), c="@@")
    before, after = draw(OTHER), draw(st.sampled_from(["", "    # 4.0\n"]))
    block = f"terraform {{\n  required_providers {{\n{before}    {entry}\n{after}  }}\n}}\n"
    text = draw(st.sampled_from(["", "\ufeff"])) + draw(JUNK) + block + draw(JUNK)
    text = text[:-1] if draw(st.booleans()) else text
    text = text.replace("\n", draw(LINE_END))
    head, tail = (part.encode() for part in text.split("@@"))
    return "main.tf", head + constraint.encode() + tail, len(head), len(head) + len(constraint)


@st.composite
def in_json(draw: st.DrawFn) -> tuple[str, bytes, int, int]:
    """Likewise in the JSON syntax."""
    constraint = draw(CONSTRAINT)
    entry: Any = draw(st.sampled_from(["@@", {"version": "@@", "source": "hashicorp/aws"}]))
    providers: Any = {"tls": "~> 4.0", "aws": entry} if draw(st.booleans()) else {"aws": entry, "//": "~> 4.0"}
    settings: Any = {"required_providers": [providers] if draw(st.booleans()) else providers}
    document = {
        "//": "é ~> 4.0",
        "terraform": [settings] if draw(st.booleans()) else settings,
        "output": {"v": {"value": "~> 4.0"}},
    }
    text = json.dumps(document, indent=draw(st.sampled_from([None, 2, "\t"])), ensure_ascii=draw(st.booleans()))
    text = text.replace("\n", draw(LINE_END)).replace(": ", ":" + draw(st.sampled_from(["", " ", "\n "])))
    head, tail = (part.encode() for part in text.split("@@"))
    return "main.tf.json", head + constraint.encode() + tail, len(head), len(head) + len(constraint)


@given(st.one_of(native(), in_json()))
def test_only_the_literal_changes(layout: tuple[str, bytes, int, int]) -> None:
    name, data, start, end = layout
    before = read({name: data})
    (requirement,) = constrained(before)
    edited, edit = admit(data, requirement, NEW)
    assert edited.startswith(data[:start])
    assert edited.endswith(data[end:])
    assert edited[start : len(edited) - len(data[end:])].decode() == edit.new
    assert data[start:end].decode() == edit.old
    after = read({name: edited})
    assert after.constraints(AWS).admits(NEW)
    assert rest(after) == rest(before)
    assert after.problems == before.problems


@given(native(), st.binary(max_size=3))
def test_bytes_that_are_no_text_stay_in_comments(layout: tuple[str, bytes, int, int], odd: bytes) -> None:
    name, data, _, _ = layout
    comment = b"# " + odd.replace(b"\n", b"").replace(b"\r", b"").replace(b"\0", b"") + b"\n"
    data = data + b"\n" + comment if b"\r\n" not in data else data + b"\r\n" + comment
    requirements = constrained(read({name: data}))
    if not requirements:
        return  # the comment is one that the tools refuse
    edited, _ = admit(data, requirements[0], NEW)
    assert edited.endswith(comment)


# Where else a constraint may stand


def test_a_provider_block(tmp_path: Path) -> None:
    text = b'provider "aws" {\n  alias = "b"\n}\nprovider "aws" {\n  version = "~> 4.0" # old\n  region = "x"\n}\n'
    (requirement,) = constrained(read({"main.tf": text}))
    edited, edit = admit(text, requirement, NEW)
    assert edited == text.replace(b'"~> 4.0"', b'"~> 5.2"')
    assert edit.place == ("main.tf", 5)


def test_provider_blocks_in_one_line_of_json_are_told_apart() -> None:
    text = b'{"provider":{"aws":[{"version":"~> 4.0"},{"alias":"b","version":"~> 4.1"}],"tls":{"version":"~> 4.0"}}}'
    for requirement in constrained(read({"main.tf.json": text})):
        text, _ = admit(text, requirement, NEW)
    assert (
        text
        == b'{"provider":{"aws":[{"version":"~> 5.2"},{"alias":"b","version":"~> 5.2"}],"tls":{"version":"~> 4.0"}}}'
    )


def test_a_test_file_of_opentofu() -> None:
    address = ProviderAddress(OPENTOFU.default_host, "hashicorp", "aws")
    text = b'provider "aws" {\n  version = "~> 4.0"\n}\n'
    files = {"main.tf": b"", "x.tofutest.hcl": text}
    requirement = next(one for one in read(files, OPENTOFU).of(address) if one.constraint)
    edited, _ = admit(text, requirement, NEW)
    assert edited == text.replace(b"4.0", b"5.2")


def test_of_an_entry_and_its_override_the_override_is_rewritten() -> None:
    files = {
        "main.tf": b'terraform {\n  required_providers {\n    aws = "~> 3.0"\n  }\n}\n',
        "override.tf": b'terraform {\n  required_providers {\n    aws = "~> 4.0"\n  }\n}\n',
    }
    (requirement,) = constrained(read(files))
    assert requirement.file == "override.tf"
    _, edit = admit(files["override.tf"], requirement, NEW)
    assert edit.new == "~> 5.2"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("aws = { version = <<EOT\n~> 4.0\nEOT\n }", "but a heredoc"),
        ('aws = { version = "${"~> 4.0"}" }', "but a template or has escapes"),
        ('aws = { version = "~> 4\\u002e0" }', "but a template or has escapes"),
        ("aws = 4", "but a number"),
        ('aws = { version = ">= 4.0, != 5.2.1" }', "!= 5.2.1 excludes exactly this version"),
        ('aws = { version = "> 5.2.1" }', "has no other bound"),
    ],
)  # fmt: skip
def test_what_is_not_rewritten_is_said_with_its_place(entry: str, words: str) -> None:
    text = f"terraform {{\n  required_providers {{\n    {entry}\n  }}\n}}\n".encode()
    (requirement,) = constrained(read({"main.tf": text}))
    with pytest.raises(ConfigurationError) as caught:
        admit(text, requirement, NEW)
    assert str(caught.value).startswith("main.tf:3: ")
    assert words in str(caught.value)
    assert caught.value.hint == "edit it by hand"


def test_a_file_that_is_another_one_by_now_is_refused() -> None:
    text = b'terraform {\n  required_providers {\n    aws = "~> 4.0"\n  }\n}\n'
    (requirement,) = constrained(read({"main.tf": text}))
    for other in (b"\n" + text, b"", b"{", text.replace(b"4.0", b"3.0")):
        with pytest.raises(ConfigurationError, match=r"main\.tf:3: the constraint"):
            admit(other, requirement, NEW)


# Whose file it is


def test_files_that_are_not_ours(tmp_path: Path) -> None:
    top = tmp_path / "top"
    for folder in ("root/.terraform/modules/m", "modules/m", "vendored/.git", "data/modules/m"):
        (top / folder).mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (top / "link").symlink_to(outside)
    (top / "inside").symlink_to(top / "modules")
    assert protection(top, "modules/m/main.tf", "root/.terraform") == ""
    assert protection(top, "inside/m/main.tf", "root/.terraform") == ""
    assert "fetched" in protection(top, "root/.terraform/modules/m/main.tf", "root/.terraform")
    assert "fetched" in protection(top, "data/modules/m/main.tf", "data")
    assert "fetched" in protection(top, "other/.terraform/modules/m/main.tf", None)
    assert "outside" in protection(top, "link/main.tf", None)
    assert "outside" in protection(top, "../outside/main.tf", None)
    assert "another git repository" in protection(top, "vendored/main.tf", None)
    (top / "modules/m/versions.tf").symlink_to("../../shared.tf")
    assert protection(top, "modules/m/versions.tf", None) == (
        "the file is a link to shared.tf, which other roots may read: edit it by hand"
    )


def test_an_overlay_reads_what_is_over_it() -> None:
    tree = OverlayTree({"a.tf": b"new"}, Folder({"a.tf": b"old", "b.tf": b"b"}))
    assert (tree.read("a.tf"), tree.read("b.tf"), tree.read("c.tf")) == (b"new", b"b", None)
    assert [entry.name for entry in tree.list("")] == ["a.tf", "b.tf"]
    assert OverlayTree({}, EmptyTree()).list("") == ()
    without = OverlayTree({"a.tf": None, "c/b.tf": None}, Folder({"a.tf": b"old", "b.tf": b"b"}))
    assert [entry.name for entry in without.list("")] == ["b.tf"]
    assert not without.has_folder("c")
    added = OverlayTree({"a.tf": b"new", "c/b.tf": b"new", "c/d/e.tf": b"new"}, Folder({"b.tf": b"b"}))
    assert [entry.name for entry in added.list("")] == ["a.tf", "b.tf"]
    assert [entry.name for entry in added.list("c")] == ["b.tf"]
    assert (added.has_folder("c"), added.has_folder("c/d"), added.has_folder("c/b.tf")) == (True, True, False)
