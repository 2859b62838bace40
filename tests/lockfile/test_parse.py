"""Reading lock files: what the real tools read, what they refuse, and where."""

from __future__ import annotations

import pytest

from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.lockfile import LockFile
from locklens.lockfile.parse import MAX_LOCK_FILE_BYTES, parse

ZH = "zh:" + "0" * 64
HEADER = f"{TERRAFORM.header}\n# Manual edits may be lost in future updates.\n\n"
GOOD = f'{HEADER}provider "registry.terraform.io/hashicorp/aws" {{\n  version     = "5.1.0"\n  constraints = "~> 5.0"\n  hashes = [\n    "{ZH}",\n  ]\n}}\n'


def read(text: str | bytes) -> LockFile:
    return parse(text.encode() if isinstance(text, str) else text, "lock.hcl")


def block(*lines: str, label: str = '"registry.terraform.io/hashicorp/aws"') -> str:
    return f"provider {label} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def entry_of(text: str | bytes) -> tuple[str, str, str, tuple[str, ...], int]:
    lock = read(text)
    assert lock.problems == ()
    (entry,) = lock.entries
    return str(entry.address), str(entry.version), entry.constraints, entry.hashes, entry.line


def test_what_the_tools_write() -> None:
    assert entry_of(GOOD) == ("registry.terraform.io/hashicorp/aws", "5.1.0", "~> 5.0", (ZH,), 4)
    assert read(GOOD).writer is TERRAFORM
    assert list(read(GOOD).entries[0].lines.values()) == [8]


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n", 5),
        GOOD.removesuffix("\n"),
        GOOD.replace("{\n", "{ # a comment\n"),
        GOOD.replace("  version     =", "  /* a */ version="),
        GOOD.replace('"5.1.0"', '"5.${1}.0"'),
        GOOD.replace('"~> 5.0"', '"\\u007e> 5.0"'),
        GOOD.replace(f'[\n    "{ZH}",\n  ]', f'["{ZH}"]'),
        GOOD.replace("  constraints", "\n\n//x\n  constraints"),
    ],
    ids=[
        "crlf",
        "bom",
        "mixed",
        "no last line end",
        "comment",
        "inline comment",
        "template",
        "escape",
        "one line list",
        "spacing",
    ],
)
def test_every_layout_that_hcl_allows_says_the_same(text: str) -> None:
    assert entry_of(text)[:4] == entry_of(GOOD)[:4]


def test_a_single_line_block() -> None:
    assert entry_of('provider "registry.terraform.io/hashicorp/aws" { version = "1.0.0" }')[1:] == ("1.0.0", "", (), 1)


@pytest.mark.parametrize("text", ["", "# nothing\n", "\ufeff", HEADER])
def test_a_file_without_entries_is_valid(text: str) -> None:
    lock = read(text)
    assert (lock.entries, lock.problems, lock.exists) == ((), (), True)


def test_missing_constraints_and_an_empty_one_are_the_same() -> None:
    assert entry_of(block('version = "1.0.0"'))[2] == entry_of(block('version = "1.0.0"', 'constraints = ""'))[2] == ""


def test_unknown_schemes_and_nonsense_are_read() -> None:
    assert entry_of(block('version = "1.0.0"', 'hashes = ["h9:x", "zh:00"]'))[3] == ("h9:x", "zh:00")


def test_order_and_duplicates_of_hashes_are_kept() -> None:
    assert entry_of(block('version = "1.0.0"', 'hashes = ["zh:b", "h1:a", "zh:b"]'))[3] == ("zh:b", "h1:a", "zh:b")


def test_module_blocks_are_a_warning_once() -> None:
    lock = read('module "x" {\n  anything = 1\n}\nmodule "y" {}\n' + block('version = "1.0.0"'))
    assert [warning.summary for warning in lock.warnings] == ["Dependency locks for modules are not yet supported"]
    assert lock.problems == ()
    assert len(lock.entries) == 1


V = 'version = "1.0.0"'

REFUSED = {
    "unknown block": ("foo {\n}\n", 1, "Unsupported block type", '"foo"'),
    "root argument": ("x = 1\n", 1, "Unsupported argument", '"x"'),
    "unknown argument": (block(V, "x = 1"), 3, "Unsupported argument", '"x"'),
    "nested block": (block(V, "x {", "}"), 3, "Unsupported block type", '"x"'),
    "module without label": ("module {\n}\n", 1, "Missing path for module", ""),
    "no label": (block(V, label=""), 1, "Missing source_addr for provider", ""),
    "two labels": (block(V, label='"a" "b"'), 1, "Extraneous label for provider", ""),
    "unquoted label": (
        block(V, label="foo"),
        1,
        "Non-normalized provider source address",
        "registry.terraform.io/hashicorp/foo",
    ),
    "template in a label": (block(V, label='"a/${1}/c"'), 1, "Invalid string literal", ""),
    "unparsable label": (block(V, label='"a/b/c/d"'), 1, "Invalid provider source address", "hostname/namespace/type"),
    "punycode label": (
        block(V, label='"xn--80akhbyknj4f.com/a/b"'),
        1,
        "Invalid provider source address",
        "hostname/namespace/type",
    ),
    "built in": (block(V, label='"terraform.io/builtin/terraform"'), 1, "Invalid provider source address", "built-in"),
    "legacy": (block(V, label='"registry.terraform.io/-/aws"'), 1, "Invalid provider source address", "not eligible"),
    "short label": (
        block(V, label='"hashicorp/aws"'),
        1,
        "Non-normalized provider source address",
        "registry.terraform.io/hashicorp/aws",
    ),
    "upper case label": (
        block(V, label='"registry.terraform.io/HashiCorp/aws"'),
        1,
        "Non-normalized provider source address",
        "",
    ),
    "port 443": (block(V, label='"a.com:443/a/b"'), 1, "Non-normalized provider source address", '"a.com/a/b"'),
    "locked twice": (block(V) + block(V), 4, "Duplicate provider lock", "lock.hcl:1"),
    "no version": (block("hashes = []") + "", 1, "Missing required argument", '"version" is required'),
    "null version": (block("version = null"), 2, "Missing required argument", '"version"'),
    "number as version": (block("version = 1"), 2, "Invalid provider version number", '"1.0.0"'),
    "short version": (block('version = "1.0"'), 2, "Invalid provider version number", '"1.0.0"'),
    "v prefix": (block('version = "v1.0.0"'), 2, "Invalid provider version number", "prefix"),
    "constraint as version": (block('version = ">= 1"'), 2, "Invalid provider version number", "constraint operator"),
    "huge version": (block('version = "99999999999999999999.0.0"'), 2, "Invalid provider version number", ""),
    "loose constraints": (block(V, 'constraints = ">=1.0.0"'), 3, "Invalid provider version constraints", '">= 1.0.0"'),
    "unsorted constraints": (
        block(V, 'constraints = ">= 2.0.0, >= 1.0.0"'),
        3,
        "Invalid provider version constraints",
        '">= 1.0.0, >= 2.0.0"',
    ),
    "wrong constraints": (block(V, 'constraints = "foo"'), 3, "Invalid provider version constraints", "missing comma"),
    "null constraints": (block(V, "constraints = null"), 3, "Unsuitable value type", "null"),
    "empty hash list": (block(V, "hashes = []"), 1, "Invalid provider hash set", "at least one"),
    "hashes are no list": (block(V, "hashes = null"), 3, "Invalid expression", "static list"),
    "hashes are a text": (block(V, 'hashes = "h1:x"'), 3, "Invalid expression", "static list"),
    "hash without scheme": (block(V, 'hashes = ["abc"]'), 3, "Invalid provider hash string", '"abc"'),
    "hash with an empty scheme": (block(V, 'hashes = [":abc"]'), 3, "Invalid provider hash string", '":abc"'),
    "null hash": (block(V, "hashes = [null]"), 3, "Unsuitable value type", "null"),
    "argument twice": (block(V, V), 3, "Attribute redefined", ""),
    "half a block": ('provider "a/b/c" {\n  version =', 2, "", ""),
    "a lone separator": ("=======\n" + GOOD, 1, "", ""),
}


@pytest.mark.parametrize(("text", "line", "summary", "detail"), REFUSED.values(), ids=REFUSED.keys())
def test_what_the_tools_refuse_is_named_with_its_place(text: str, line: int, summary: str, detail: str) -> None:
    lock = read(text)
    assert any(
        problem.line == line
        and problem.column >= 1
        and (not summary or problem.summary == summary)
        and detail in problem.detail
        for problem in lock.problems
    ), lock.problems


@pytest.mark.parametrize("text", ["1.0-x", "latest", " 1.0.0"])
def test_a_column_points_at_the_value(text: str) -> None:
    (problem, *_) = read(GOOD.replace("5.1.0", text)).problems
    assert (problem.line, problem.column) == (5, 17)


def test_the_rules_of_the_files_own_tool_count() -> None:
    label = '"registry.terraform.io/-/aws"'
    in_opentofu = read(f"{OPENTOFU.header}\n" + block(V, label=label)).problems[0]
    assert "hostname/namespace/type" in in_opentofu.detail
    assert read(f"{OPENTOFU.header}\n" + block(V, label='"opentofu.org/builtin/terraform"')).problems
    assert not read(f"{TERRAFORM.header}\n" + block(V, label='"opentofu.org/builtin/terraform"')).problems


def test_good_entries_beside_a_refused_one_are_kept() -> None:
    null = '"registry.terraform.io/hashicorp/null"'
    lock = read(GOOD + "\n" + block('version = "latest"', label=null))
    assert [entry.address.type for entry in lock.entries] == ["aws"]
    assert [address.type for address in lock.unreadable] == ["null"]
    assert lock.is_complete
    assert not lock.is_valid


def test_of_a_refused_entry_what_can_be_understood_is_kept() -> None:
    lock = read(block('version = "5.2"', 'constraints = "~>5.0"', f'hashes = ["{ZH}"]'))
    (entry,) = lock.entries
    assert (str(entry.version), entry.constraints, entry.hashes) == ("5.2.0", "~> 5.0", (ZH,))
    assert [problem.line for problem in lock.problems] == [2, 3]


@pytest.mark.parametrize(
    "data",
    [b"\xff\xfe", GOOD.encode("utf-16"), b"\x00" * 10, GOOD.encode() + b"\xff", b"x" * (MAX_LOCK_FILE_BYTES + 1)],
)
def test_bytes_that_are_no_text_are_a_problem(data: bytes) -> None:
    lock = read(data)
    assert lock.problems
    assert all(problem.line >= 1 and problem.column >= 1 for problem in lock.problems)


def test_invalid_bytes_in_a_comment_do_no_harm() -> None:
    assert entry_of(b"# \xff\xfe\n" + GOOD.encode())[1] == "5.1.0"


CONFLICT = GOOD.replace(
    '  version     = "5.1.0"\n',
    '<<<<<<< HEAD\n  version     = "5.1.0"\n=======\n  version     = "5.2.0"\n>>>>>>> feature/aws\n',
)


def test_conflict_markers_say_which_side_is_which_and_show_both() -> None:
    lock = read(CONFLICT)
    assert lock.conflict is not None
    (marker,) = lock.conflict.markers
    assert (marker.line, marker.separator_line, marker.end_line) == (5, 7, 9)
    assert (marker.ours, marker.theirs) == ("HEAD (ours)", "feature/aws (theirs)")
    assert [str(entry.version) for entry in lock.conflict.ours.entries] == ["5.1.0"]
    assert [str(entry.version) for entry in lock.conflict.theirs.entries] == ["5.2.0"]
    assert lock.conflict.theirs.entries[0].line == 4
    assert lock.problems[0].line == 5
    assert lock.entries == ()


def test_the_base_of_a_three_way_conflict_belongs_to_neither_side() -> None:
    text = CONFLICT.replace("=======\n", '||||||| 1234567\n  version     = "5.0.0"\n=======\n')
    conflict = read(text).conflict
    assert conflict is not None
    assert [str(side.entries[0].version) for side in (conflict.ours, conflict.theirs)] == ["5.1.0", "5.2.0"]


@pytest.mark.parametrize("marker", ["<<<<<<< HEAD\n", ">>>>>>> feature\n"])
def test_a_marker_without_its_counterpart_is_named(marker: str) -> None:
    lock = read(GOOD + marker)
    assert lock.problems[0].summary == "Conflict markers"
    assert lock.problems[0].line == GOOD.count("\n") + 1
    assert not lock.is_complete


def test_equal_blocks_share_their_hashes_and_have_places_of_their_own() -> None:
    shared = 'provider "a.example/b/c" {\n  version     = "1.0.0"\n  constraints = "~> 1.0"\n  hashes = [\n    "zh:1",\n  ]\n}\n'
    first = 'provider "a.example/b/a" {\n  version = "1.0.0"\n}\n\n'
    (alone,), (other, below) = (parse(text.encode(), "lock").entries for text in (shared, first + shared))
    assert alone.hashes is below.hashes
    assert (alone.line, list(alone.lines.values())) == (1, [5])
    assert (below.line, list(below.lines.values())) == (5, [9])
    assert below.hash_offsets == alone.hash_offsets != other.hash_offsets
    bad = shared.replace('"1.0.0"', '"1.0.00"')
    problems = [parse((first * many + bad).encode(), "lock").problems for many in (0, 1)]
    assert [found[0].line for found in problems] == [2, 6]
