"""Reading HCL: what the real parser accepts and what it refuses, values, places, and bounds on hostile input."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.effort import effort

from locklens import hcl

MUTANTS = effort(600, 20_000)
LENGTHS = 60_000, effort(150_000, 1_000_000)

LOCK = """# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/hashicorp/null" {
  version     = "3.2.1"
  constraints = ">= 3.0.0"
  hashes = [
    "h1:vUW21lLLsKlxtBf0QF7LKJreKxs0CM7YXGzqW1N/ODY=",
    "zh:58ed64389620cc7b82f01332e27723856422820cfd302e304b5f6c3436fb9840",
  ]
}

provider "registry.terraform.io/hashicorp/random" {
  version = "3.5.1"
}
"""

SMALL = """terraform {
  required_version = ">= 1.5" # why
  required_providers {
    aws = { source = "hashicorp/aws", version = "~> ${5}.0" }
    null = {
      source  = "hashicorp/null"
      version = ">= 3.0, < 4.0"
      configuration_aliases = [null.a, null.b,]
    }
  }
}

/* a block
   comment */
module "network" { source = "./network" }
resource "aws_instance" web {
  count    = var.enabled ? 1 : 0
  provider = aws.east
  ami      = data.aws_ami.ubuntu["x"].id
  tags     = merge(local.tags, { Name = "web-${count.index}", "a" : 1 })
  user     = <<-EOT
    #!/bin/sh
      echo ${var.name} $${HOME} %{ if var.x ~}yes%{ else }no%{ endif }
  EOT
  list     = [for k, v in var.map : upper("${k}=${v}") if v != null && !contains(var.no, k)]
  obj      = { for s in var.list : s => length(s)... if s != "" }
  splat    = aws_x.y.*.id[0]
  full     = aws_x.y[*].z.w
  calc     = -(1 + 2.5e1) * 3 % 2 == 4 || a.0 >= b[1]
  fn       = provider::time::parse("x\\n\\"\\u00e9", [1, null, true]...)
}
"""

ACCEPTED = [
    "",
    "a = 1",
    "a=1\r\nb=2\r\n",
    "\ufeffa = 1\n",
    "a = /* c */ 1\n",
    "π = ü\n",
    "a-b = c-d\n",
    "null = true\nfor = if\n",
    'x "a" b "c" {}\n',
    "x { a = 1 }\n",
    "x {}",
    "x {\n}\n",
    'a = "$${x} %%{y} $ % $$ \\u00e9 \\U0001f600"\n',
    "a = [\n1\n,\n2\n,\n]\n",
    "a = {b=1,c:2\n\n(d)=3\n}\n",
    "a = (\n1\n+\n2\n)\n",
    "a = f()\nb = f(1,)\nc = f(x...)\nd = a::b::c()\n",
    "a = !!--x\n",
    "a = x ? y : z ? 1 : 2\n",
    "a = [for x in y : x]\nb = {for k, v in y : k => v... if k}\n",
    "a = b.*.c.0[1].*.d[*].e\n",
    'a = "${"b"}${~ c ~}"\n',
    'a = "%{ if x }y%{ else }z%{ endif }%{ for i in x }${i}%{ endfor }"\n',
    "a = <<EOT\nb\nEOT\n",
    "a = <<-EOT\n  b\n  EOT\r\n",
    "a = [<<E\nx\nE\n, 1]\n",
    "# no line end",
    "a = 1 // no line end",
    "a = 1 /* b\nc */ // d\n",
    "a = true.b\n",
    'a = "x".y\n',
]

UNREAD = ["π = ü\n", "a = !!--x\n"]
"""What HCL accepts and python-hcl2 does not: a problem where such an expression is wanted."""

REFUSED = {
    "a = 1\na = 2\n": "Attribute redefined",
    'a = "b\nc"\n': "Invalid multi-line string",
    'a = "\\q"\n': "Invalid escape sequence",
    'a = "\\u12"\n': "Invalid escape sequence",
    'a = "\\ud800"\n': "Invalid escape sequence",
    "a = 1 b = 2\n": "Invalid expression",
    "a = 1, b = 2\n": "Invalid expression",
    "x {} y {}\n": "Missing newline after block",
    "x { a = 1\n}\n": "Invalid single-argument block definition",
    "x { a = 1, b = 2 }\n": "Invalid expression",
    "x { y {} }\n": "Argument definition required",
    "x\n{}\n": "Argument or block definition required",
    'x "a"\n{}\n': "Invalid block definition",
    'x "${a}" {}\n': "Invalid string literal",
    '{"a": 1}': "Argument or block definition required",
    '"a" = 1\n': "Invalid argument name",
    "x {\n": "Unclosed configuration block",
    "a = \n": "Invalid expression",
    "a =": "Invalid expression",
    "a = b.\n": "Invalid expression",
    "a = x ? y\n": "Invalid expression",
    "a = {b = 1 c = 2}\n": "Missing attribute separator",
    "a = {b}\n": "Invalid expression",
    "a = [1 2]\n": "Invalid expression",
    "a = [1": "Unbalanced brackets",
    "a = {b = 1": "Unbalanced brackets",
    "a = (1]\n": "Unbalanced brackets",
    "a = f(1 2)\n": "Invalid expression",
    "a = f(x..., y)\n": "Invalid expression",
    "a = 1 +\n2\n": "Argument or block definition required",
    "a = [for x : y]\n": "Invalid expression",
    "a = {for x in y : x}\n": "Invalid expression",
    "a = [for x in y : x => x]\n": "Invalid expression",
    'a = "${b"\n': "Invalid multi-line string",
    "a = <<EOT\nb\nEOT": "Unterminated template string",
    "a = 'b'\n": "Invalid expression",
    "a = 1;\n": "Invalid expression",
    "a = b & c\n": "Invalid expression",
    "a\0 = 1\n": "Argument or block definition required",
    "a = 1 \f\n": "Invalid expression",
}
"""What HCL refuses, and what is said of it where the expression is wanted."""

TAKEN = ["a = 1.2.3\n", "a = b.0.1\n", "a = b.*.c.*\n", 'a = "%{ if x }"\n', 'a = "%{ endif }"\n', 'a = "%{ foo }"\n']
"""What HCL refuses, and python-hcl2 takes: no constant, so that nothing follows from it."""


class _EveryBlock(dict[str, hcl.Wanted]):
    def get(self, key: object, default: object = None) -> Any:
        return EVERYTHING


EVERYTHING = hcl.Wanted(None, _EveryBlock())


def native(text: str | bytes) -> hcl.Parsed:
    """Reads a configuration in native syntax, all of whose arguments are wanted."""
    return hcl.parse(text if isinstance(text, bytes) else text.encode(), json=False, wanted=EVERYTHING)


def read(text: str) -> hcl.Body:
    found = native(text)
    assert found.problems == ()
    assert found.body is not None
    return found.body


def read_json(document: object) -> hcl.Body:
    found = hcl.parse_json(json.dumps(document).encode())
    assert found.problems == ()
    assert found.body is not None
    return found.body


def plain(value: hcl.Expression) -> Any:
    """The value as JSON has it; an Ellipsis for what only an evaluation can tell."""
    match value:
        case hcl.Literal():
            return value.value
        case hcl.ListExpr():
            return [plain(item) for item in value.items]
        case hcl.ObjectExpr():
            return {str(plain(key)): plain(item) for key, item in value.items}
        case _:
            return ...


def is_known(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(is_known, value))
    if isinstance(value, dict):
        return all(map(is_known, value.values())) and not {"None", "True", "False", "Ellipsis"} & set(value)
    return value is not ... and value is not None


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_hcl_accepts_is_read(text: str) -> None:
    found = native(text)
    summaries = [problem.summary for problem in found.problems]
    assert summaries == (["Invalid expression"] if text in UNREAD else [])
    assert found.body is not None
    unwanted = hcl.parse(text.encode(), json=False, wanted=hcl.Wanted())
    assert (unwanted.body is None, unwanted.problems) == (False, ())
    assert hcl.parse_constants(text.encode()).problems == ()


@pytest.mark.parametrize(("text", "summary"), REFUSED.items())
def test_what_hcl_refuses_is_a_problem(text: str, summary: str) -> None:
    assert [problem.summary for problem in native(text).problems] == [summary]


@pytest.mark.parametrize("text", [*REFUSED, *TAKEN])
def test_no_constant_is_read_where_hcl_refuses(text: str) -> None:
    found = hcl.parse_constants(text.encode())
    assert found.problems or any(is_dynamic(value) for _, value in values(found))


@pytest.mark.parametrize("text", TAKEN)
def test_what_only_python_hcl2_takes_has_no_value(text: str) -> None:
    value = read(text).attributes["a"].value
    assert isinstance(value, hcl.Dynamic)


@pytest.mark.parametrize("text", [*ACCEPTED, *TAKEN, *(text for text in REFUSED if "\0" not in text)])
def test_the_lists_above_are_what_the_real_parser_says(text: str) -> None:
    assert accepts(text) == (text in ACCEPTED)


def accepts(text: str) -> bool:
    pygohcl = pytest.importorskip("pygohcl")
    try:
        pygohcl.loads(text)
    except pygohcl.HCLParseError:
        return False
    return True


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1", 1),
        ("1.0", 1),
        ("1.50", 1.5),
        ("00012", 12),
        ("2e3", 2000),
        ("-3", -3),
        ("true", True),
        ("null", None),
        ('"a\\tb\\"\\\\"', 'a\tb"\\'),
        ('"\\u0065\\u0301"', "é"),
        ('"e\u0301"', "é"),
        ('"1.${0}.0"', "1.0.0"),
        ('"${"acme"}/x"', "acme/x"),
        ('"${1}"', 1),
        ('"${true}-${1.5}"', "true-1.5"),
        ('"$${a} %%{b} $c"', "${a} %{b} $c"),
        ('("x")', "x"),
        ("<<E\na\n  b\nE", "a\n  b\n"),
        ("<<-E\n    a\n\n      b\n    E", "a\n\n  b\n"),
        ('<<E\n\\n ${"x"}\nE', "\\n x\n"),
        ("<<-E\n    $${a}\n   %%{b}\n  E", " ${a}\n%{b}\n"),
        ("1 /* b\nc */ // d", 1),
        ("[ # a [\n'".replace("'", "") + '  "#", // b\n  /* "c */ "//"\n]', ["#", "//"]),
        ('["$${", "}"]', ["${", "}"]),
        ("<<E\r\na\r\nE\r", "a\r\n"),
        ("[1, [2], {a = 3, true = 4}]", [1, [2], {"a": 3, "true": 4}]),
    ],
)
def test_constants_are_evaluated(source: str, value: object) -> None:
    found = plain(read(f"a = {source}\n").attributes["a"].value)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "source",
    [
        "a.b()",
        "1 + 1",
        '"${a}"',
        '"a ${~ "b" ~} c"',
        '"%{ if true }x%{ endif }"',
        "a[b]",
        "a.*.b",
        '"${null}x"',
        "[for a in b : a]",
    ],
)
def test_what_needs_an_evaluation_is_dynamic(source: str) -> None:
    value = hcl.parse_expression(source.replace("a.b()", "f(1)"))
    assert isinstance(value, hcl.Dynamic)
    assert value.is_call == (source == "a.b()")


def test_references() -> None:
    def parts(source: str) -> object:
        value = hcl.parse_expression(source)
        assert isinstance(value, hcl.Reference)
        return value.parts

    assert parts("aws.east") == ("aws", "east")
    assert parts('a.b["k"][0]') == ("a", "b", "k", 0)
    assert isinstance(parts('a["k"]')[1], hcl.IndexStep)  # type: ignore[index]
    computed = hcl.parse_expression("aws.x[each.key]")
    assert isinstance(computed, hcl.Dynamic)
    assert computed.prefix == ("aws", "x")
    assert hcl.parse_expression("a b") is None
    assert hcl.parse_expression('"') is None


def test_literals_have_a_text() -> None:
    texts = [hcl.Literal(value, hcl.SourcePlace(1, 1, 0, 0)).text for value in ("x", 1, 1.5, True, None, 1e-7)]
    assert texts == ["x", "1", "1.5", "true", None, "0.0000001"]


@pytest.mark.parametrize("start", ["", "\ufeff", "# é 😀\n", "/* x\n */"])
def test_places_lead_to_the_text(start: str) -> None:
    text = f'{start}p "ü" {{\n  version = "1.0"  # c\n  deep = [1, {{ k = "v" }}]\n}}\n'
    block = read(text).all_blocks()[0]
    decoded = hcl.decode(text.encode())

    def at(place: hcl.SourcePlace) -> str:
        assert decoded.count("\n", 0, place.start) + 1 == place.line
        before = decoded[decoded.rfind("\n", 0, place.start) + 1 : place.start].removeprefix("\ufeff")
        assert len(before) + 1 == place.column
        return decoded[place.start : place.end]

    assert at(block.place) == "p"
    assert at(block.label_places[0]) == '"ü"'
    version = block.body.attributes["version"]
    assert at(version.place) == "version"
    assert at(version.value.place) == '"1.0"'
    deep = block.body.attributes["deep"].value
    assert at(deep.place) == '[1, { k = "v" }]'
    spliced = decoded[: version.value.place.start] + '"2.0"' + decoded[version.value.place.end :]
    assert read(spliced).all_blocks()[0].body.attributes["version"].value == hcl.Literal("2.0", version.value.place)


def test_a_literal_says_whether_its_text_is_its_value() -> None:
    values = read('a = "x"\nb = "\\n"\nc = "${"x"}"\nd = <<E\nx\nE\n').attributes
    plainness = [value.value.is_plain for value in values.values() if isinstance(value.value, hcl.Literal)]
    assert plainness == [True, False, False, False]


def test_stray_bytes_survive_decoding() -> None:
    data = b"# \xff\xfe\na = 1\n"
    assert hcl.encode(hcl.decode(data)) == data
    assert native(data).problems == ()


@pytest.mark.parametrize("data", [b'a = "\xff"\n', b"a = \xff\n", "a = 1\n".encode("utf-16"), b"\xff\xfea\x00"])
def test_other_encodings_are_refused(data: bytes) -> None:
    problems = native(data).problems
    assert problems[0].summary == "Invalid character encoding"


def test_nul_is_fine_in_comments_and_strings_only() -> None:
    assert native(b'# \0\na = "\0"\n').problems == ()
    assert native(b"a = \0\n").problems


def test_blocks_by_type_and_labels() -> None:
    body = read('x "a" {}\nx {}\ny {}\nx "b" {}\n')
    assert [block.labels for block in body.blocks("x", labels=1)] == [("a",), ("b",)]
    assert len(body.all_blocks()) == 4
    summaries = [problem.summary for problem in body.misfits(frozenset(), {"x": 1})]
    assert summaries == ["Missing label for x", "Unsupported block type"]


def test_json_blocks_by_schema() -> None:
    body = read_json(
        {"//": "c", "r": {"t": {"a": {"k": 1}, "b": [{}, {"k": 2}]}}, "l": [{"k": 1}, {"k": 2}], "n": None}
    )
    assert [block.labels for block in body.blocks("r", labels=2)] == [("t", "a"), ("t", "b"), ("t", "b")]
    assert [plain(block.body.attributes["k"].value) for block in body.blocks("l")] == [1, 2]
    assert body.blocks("n") == []
    assert "//" not in body.attributes
    assert [one.detail for one in body.misfits(frozenset(["l"]), {"r": 2})] == [
        'No argument or block type is named "n".'
    ]


def test_json_root_may_be_a_list_and_properties_may_repeat() -> None:
    parsed = hcl.parse_json(b'[{"a": {"k": 1}}, {"a": {"k": 2}, "a": {"k": 3}, "s": "${x}"}]')
    assert parsed.body is not None
    assert [plain(block.body.attributes["k"].value) for block in parsed.body.blocks("a")] == [1, 2, 3]
    assert plain(parsed.body.attributes["s"].value) == "${x}"
    assert [one.summary for one in parsed.body.misfits(frozenset(["a", "s"]), {})] == ["Duplicate argument"] * 2


def test_json_places() -> None:
    text = '{\n  "a": {"version": "1.0"}\n}'
    parsed = hcl.parse_json(text.encode())
    assert parsed.body is not None
    place = parsed.body.blocks("a")[0].body.attributes["version"].value.place
    assert (place.line, place.column, text[place.start : place.end]) == (2, 20, '"1.0"')


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("", "Missing value"),
        ("\ufeff{}", "Invalid start of value"),
        ("{} x", "Extraneous data after value"),
        ('{"a": 1,}', "Trailing comma in object"),
        ("[1,]", "Trailing comma in array"),
        ("// c\n{}", "Invalid start of value"),
        ('{"a": 01}', "Invalid JSON number"),
        ('{"a": +1}', "Invalid JSON number"),
        ('{"a": NaN}', "Invalid JSON keyword"),
        ('{"a": "\n"}', "Invalid JSON string"),
        ('{"a": "\\x"}', "Invalid JSON string"),
        ("{a: 1}", "Invalid object property name"),
        ('{"a" 1}', "Missing property value colon"),
        ('{"a": 1', "Unclosed object"),
        ('"x"', "Root value must be object"),
        ('{"a": [}', "Invalid start of value"),
    ],
)
def test_json_is_exact(text: str, summary: str) -> None:
    parsed = hcl.parse_json(text.encode())
    assert [problem.summary for problem in parsed.problems] == [summary]


def test_hostile_sizes_are_problems() -> None:
    def summaries(data: bytes, *, is_json: bool = False) -> list[str]:
        found = hcl.parse_json(data) if is_json else native(data)
        return [problem.summary for problem in found.problems]

    assert summaries(b" " * (hcl.MAX_CONFIGURATION_BYTES + 1)) == ["File too large"]
    assert summaries(b"a = " + b"[" * 100_000) == ["Nested too deeply"]
    assert summaries(b"a = " + b'"${' * 100_000) == ["Nested too deeply"]
    assert summaries(b"a {\n" * 100_000) == ["Nested too deeply"]
    assert summaries(b"[" * 100_000, is_json=True) == ["Nested too deeply"]
    assert summaries(b'{"a":' * 100_000, is_json=True) == ["Nested too deeply"]
    assert summaries(b"a = 1" + b" + 1" * 100_000) == ["Expression too long"]
    assert summaries(b"a = " + b"(" * 100_000) == ["Nested too deeply"]
    items = effort((b"x" * 500 + b",") * 120, b"1," * 30_000)  # all together are too long, whatever they are
    assert summaries(b"".join(b"a%d = 1\n" % number + b"b%d = [%s]\n" % (number, items) for number in range(30)))[
        -1:
    ] == ["Expression too long"]


PIECES_AGAIN_AND_AGAIN = (
    "a.", "a-", "/*", "#", '"', "${", "<<A\n", "1.", "\\", " ", "\n", "-", "a = 1 ", "<<", "(a", "[1,", "a?b:",
)  # fmt: skip


def test_time_is_linear() -> None:
    """Of what is read and of what is passed over. What took the square of it would take hours; the limit for each text is of processor time, which other work does not use up."""
    texts = [f"a = {piece * (length // len(piece))}" for piece in PIECES_AGAIN_AND_AGAIN for length in LENGTHS]
    code = (
        "import contextlib, sys, time\n"
        "from locklens import hcl\n"
        "for text in sys.stdin.read().split('\\0'):\n"
        "    print(len(text), 'characters of', repr(text[4:12]), flush=True)\n"
        "    with contextlib.suppress(ImportError):\n"
        "        import resource\n"
        "        _, most = resource.getrlimit(resource.RLIMIT_CPU)\n"
        f"        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + {effort(20, 40)}, most))\n"
        "    for wanted in hcl.Wanted(), hcl.Wanted(None): hcl.parse(text.encode(), json=False, wanted=wanted)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], input="\0".join(texts).encode(), timeout=600, check=True, env=env)


def test_templates_in_templates_are_not_read_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from locklens.hcl import strings

    tokens = 0
    original = strings._QUOTED

    class Counted:
        def match(self, text: str, at: int) -> object:
            nonlocal tokens
            tokens += 1
            return original.match(text, at)

    monkeypatch.setattr(strings, "_QUOTED", Counted())
    text = "a = " + '"${' * 90 + "1" + '}"' * 90 + "\n"
    for parse in (hcl.parse_constants, native):
        tokens = 0
        found = parse(text.encode())
        assert found.body is not None
        assert tokens < 90 * (12 if parse is hcl.parse_constants else 200)
    (value,) = [one.value for one in hcl.parse_constants(text.encode()).body.attributes.values()]  # type: ignore[union-attr]
    assert isinstance(value, hcl.Dynamic)


def test_nothing_heavy_is_loaded_where_no_expression_is_wanted() -> None:
    code = (
        "import sys; from locklens import hcl; data = sys.stdin.buffer.read(); hcl.parse_constants(data); "
        "hcl.parse(data, json=False, wanted=hcl.Wanted()); sys.exit('lark' in sys.modules or 'hcl2' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], input=LOCK.encode(), check=True, env=env)


def test_python_hcl2_reads_what_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else, and nothing that it reads otherwise than HCL does."""
    from locklens.hcl import expressions

    seen: list[str] = []
    original = expressions.syntax_tree

    def recorded(text: str, start: int) -> Any:
        seen.append(text)
        return original(text, start)

    monkeypatch.setattr(expressions, "syntax_tree", recorded)
    text = (
        'p "x" {\n  version = f("1.0") # c\n  other = !!--x\n}\n'
        'p "y" {\n  version = [<<E\nx\nE\n, "$${", "a", // c\n  1]\n}\nq { version = 1 }\np { version = "2.0" }\n'
    )
    wanted = hcl.Wanted(blocks={"p": hcl.Wanted(frozenset(["version"]))})
    assert hcl.parse(text.encode(), json=False, wanted=wanted).problems == ()
    assert seen == ['f("1.0")', '["_____"\n, "___", "a",     \n  1]']


def test_threads_get_the_same() -> None:
    texts = [SMALL.replace("web", f"web{number}") + f"z = a + {'!' * (number % 2)}b\n" for number in range(24)]
    alone = [native(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(native, texts))
    assert [found.problems for found in (*alone, *together)] == [()] * 48
    assert [values(found) for found in alone] == [values(found) for found in together]


def values(found: hcl.Parsed) -> list[tuple[str, Any]]:
    assert found.body is not None
    blocks: list[tuple[str, hcl.Body]] = [("", found.body)]
    listed: list[tuple[str, Any]] = []
    for path, body in blocks:
        listed += [(f"{path}.{name}", one.value) for name, one in body.attributes.items()]
        blocks += [(f"{path}/{block.type}", block.body) for block in body.all_blocks()]
    return listed


PIECES = [
    *"\"\\{}[]()=,.#?:!-+<>$%~&|^;`'\t \n\r\f_1",
    *("==", "=>", "\r\n", "..", "...", ".*", "[*]", "//", "/*", "*/", "/* c */", "${", "%{", "$${", "%%{", "~}", "${~"),
    *(
        "::",
        "--",
        "&&",
        "||",
        "<=",
        "<<EOT\n",
        "EOT\n",
        "<<-E\nx\nE\n",
        "for",
        "in",
        "if",
        "null",
        "true",
        "0.5",
        "1e3",
    ),
    *(
        '"a"',
        "é",
        "π",
        "e\u0301",
        "x-",
        "x = 1",
        '"${1}"',
        '"${"a"}b"',
        "%{ if x }",
        "%{ endif }",
        "%{ else }",
        "a.b.c",
    ),
    *("%{ for a in b }", "%{endfor}", "[for a in b : a]", "{for a in b : a => a...}", "f(x)", "f(", "\\n", "\\u00e9"),
    *("\\q", '"é"', "{ a = 1 }", "{ a = 1, b = 2 }", "a { b = 1 }", "\n\n", "\u00a0", "!x", "x ? y : z", "a::b(1)"),
    *("a.0.1", "( 1 )", "{\n", "}\n", " = ", "-1", "//c\n", "#c\n", ".0"),
]


def mutate(text: str, chance: random.Random) -> str:
    for _ in range(chance.choice([1, 1, 1, 2, 2, 3, 4])):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice([1, 1, 1, 2, 3, 8, 20]))
        match chance.randrange(10):
            case 0 | 1 | 2:
                text = text[:start] + text[end:]
            case 3 | 4 | 5 | 6:
                text = text[:start] + chance.choice(PIECES) + text[start:]
            case 7 | 8:
                text = text[:start] + chance.choice(PIECES) + text[end:]
            case _:
                text = text[:end] + text[start:]
    return text


def agree(text: str) -> bool:
    """Asserts that where the real parser accepts a text, all that is read of it is what the real parser reads.

    Returns:
        Whether it accepts the text.
    """
    import pygohcl

    constants = hcl.parse_constants(text.encode())
    is_constant = constants.problems == () and not any(is_dynamic(value) for _, value in values(constants))
    try:
        theirs = pygohcl.loads(text)
    except pygohcl.HCLParseError:
        assert not is_constant, text
        return False
    except pygohcl.HCLInternalError:  # it stumbles over some nulls
        return False
    ours = native(text)
    assert ours.body is not None, (text, ours.problems)
    assert {problem.summary for problem in ours.problems} <= {"Invalid expression"}, (text, ours.problems)
    scanned = hcl.parse(text.encode(), json=False, wanted=hcl.Wanted())
    assert scanned.problems == ()
    assert scanned.body is not None
    types = {block.type for block in ours.body.all_blocks()}
    assert {*scanned.body.attributes, *types} == set(theirs), text
    for body in (ours.body, constants.body):
        for name, attribute in body.attributes.items() if body is not None else ():
            value = plain(attribute.value)
            if is_known(value) and name not in types:
                assert theirs[name] == (pytest.approx(value) if isinstance(value, int | float) else value), text
    return True


def is_dynamic(value: hcl.Expression) -> bool:
    inner = value.items if isinstance(value, hcl.ListExpr) else ()
    return isinstance(value, hcl.Dynamic | hcl.ObjectExpr | hcl.Reference) or any(map(is_dynamic, inner))


@pytest.mark.parametrize("seed", [LOCK, SMALL], ids=["lock file", "configuration"])
def test_mutants_are_read_as_by_the_real_parser(seed: str) -> None:
    pytest.importorskip("pygohcl")
    chance = random.Random(20)
    accepted = sum(agree(mutate(seed, chance)) for _ in range(MUTANTS // 2))
    assert MUTANTS // 20 < accepted < MUTANTS // 2 * 0.9


@given(st.lists(st.sampled_from([*PIECES, *ACCEPTED]), max_size=12))
def test_heaps_of_tokens_are_read_as_by_the_real_parser(pieces: list[str]) -> None:
    pytest.importorskip("pygohcl")
    text = "".join(pieces)
    if not text.startswith("\ufeff") and "\ufeff" not in text:
        agree(text)


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_can_be_read(data: bytes, is_json: bool) -> None:
    parsed = hcl.parse_json(data) if is_json else native(data)
    assert parsed.body is not None or parsed.problems


def strict_json(text: str) -> bool:
    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        return isinstance(json.loads(text, parse_constant=refuse), dict | list)
    except ValueError:
        return False


def test_json_mutants_are_accepted_and_refused_as_by_another_parser() -> None:
    seed = json.dumps({"a": [{"b": 'c\\u00e9"', "d": -1.5e3}, None, True], "terraform": {"x": {}}}, indent=1)
    chance = random.Random(7)
    pieces = [*'"\\{}[],:-+.eE01 \n\t\0', "null", "tru", "\\u00", "é", "//", "1e", '"a":', "\r", "\f"]
    accepted = 0
    for _ in range(MUTANTS):
        text = seed
        for _ in range(chance.choice([1, 1, 2, 3])):
            start = chance.randrange(len(text) + 1)
            text = text[:start] + chance.choice([*pieces, ""]) + text[start + chance.choice([0, 0, 1, 2]) :]
        expected = strict_json(text)
        accepted += expected
        assert (hcl.parse_json(text.encode()).problems == ()) == expected, text
    assert MUTANTS // 50 < accepted < MUTANTS * 0.9


def test_the_cache_of_the_grammar_is_nobody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from locklens.hcl import expressions

    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *_, **__: str(tmp_path / "cache" / "locklens"))
    file = expressions._cache_file()
    assert file is not None
    assert file.parent == tmp_path / "cache" / "locklens"
    if os.name == "posix":
        assert file.parent.stat().st_mode & 0o777 == 0o700
        file.parent.chmod(0o777)
        assert expressions._cache_file() is None
        file.parent.chmod(0o700)
        file.touch(0o600)
        assert expressions._cache_file() == file
        file.chmod(0o620)
        assert expressions._cache_file() is None
        file.chmod(0o600)
        monkeypatch.setattr("locklens.machine._euid", lambda: file.stat().st_uid + 1)
        assert expressions._cache_file() is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('\na = "{}"\n', 2),
        ('a = [\n  "{}",\n]\n', 2),
        ('a = "\\n{}"\n', 1),
        ("\na = <<E\nb\n{}\nE\n", 2),
        ('a = b["{}"]\n', 1),
        ('a = "${{"{}"}}${{"b"}}"\n', 1),
    ],
)
def test_combining_characters_are_bounded(text: str, line: int) -> None:
    """Normalising a run of them takes quadratic time and cannot be interrupted."""
    parsed = native(text.format("a" + "\u0301\u0327" * 10_000).encode())
    assert [(one.line, one.summary) for one in parsed.problems] == [(line, "Too many combining characters")]
    assert native(text.format("a" + "\u0301\u0327" * 15).encode()).problems == ()


def test_combining_characters_are_bounded_where_pieces_meet() -> None:
    run = "\u0301" * 20
    parsed = native(f'a = "{run}${{"{run}"}}"\n'.encode())
    assert [one.summary for one in parsed.problems] == ["Too many combining characters"]


def test_combining_characters_are_bounded_in_json() -> None:
    text = '{"a":\n "%s"}' % ("a" + "\u0301\u0327" * 10_000)
    parsed = hcl.parse_json(text.encode())
    assert [(one.line, one.summary) for one in parsed.problems] == [(2, "Too many combining characters")]


PLAIN_PIECES = st.lists(
    st.sampled_from(
        ["a", "b-c", "_d", "null", "for", "true", " = ", "=", '"x"', '"~> 1.0"', '"é#//"', '"e\u0301"', '"$x"', ",", "\n", " ", "\t",
         "{", "}", ".", "0", "[1]", "# c\n", "(e)", ":"]
    ),
    max_size=12,
)  # fmt: skip
PLAIN = ["{}", "{ }", "{\n}", '{ a = "x" }', '{\n  a = "x"\n\n  b-c="y" , \n d = "z",\n}', "a.b", "aws.east-1", "a"]
"""Expressions that are read without a parser."""


@given(
    PLAIN_PIECES.map("".join) | st.sampled_from(PLAIN) | PLAIN_PIECES.map(lambda pieces: "{" + "".join(pieces) + "}")
)
def test_a_plain_expression_is_what_the_parser_makes_of_it(text: str) -> None:
    wanted = hcl.Wanted(frozenset({"x"}))
    plain = hcl.parse(f"x =  {text} \n".encode(), json=False, wanted=wanted)
    if plain.problems or plain.body is None or set(plain.body.attributes) != {"x"} or plain.body.all_blocks():
        return
    # In parentheses the same expression is left to the parser.
    parsed = hcl.parse(f"x = ({text})\n".encode(), json=False, wanted=wanted)
    assert parsed.problems == ()
    assert parsed.body is not None
    assert parsed.body.attributes["x"].value == plain.body.attributes["x"].value


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_expression_needs_no_parser(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locklens.hcl.expressions.syntax_tree", lambda *_: pytest.fail("the parser was used"))
    assert not hcl.parse(f"x = {text}\n".encode(), json=False, wanted=hcl.Wanted(frozenset({"x"}))).problems
