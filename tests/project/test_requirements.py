"""What requires a provider and what does not, for both tools; module trees; test files."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from kit.repositories import put

from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.project.configuration import Configuration, Contributor, MissingModule, constraint_place
from locklens.project.module_sources import ModuleSourceError, admits, parse_module_source
from locklens.project.requirements import read_configuration
from locklens.project.tree import WorkTree

BOTH = (TERRAFORM, OPENTOFU)


def written(folder: Path, files: dict[str, str]) -> WorkTree:
    put(folder, files)
    return WorkTree(folder)


def configured(
    folder: Path, files: dict[str, str] | str, dialect: Dialect = TERRAFORM, root: str = ""
) -> Configuration:
    tree = written(folder, {"main.tf": files} if isinstance(files, str) else files)
    return read_configuration(tree, root, dialect=dialect, worktree=tree)


def required(configuration: Configuration) -> dict[str, str]:
    host = configuration.dialect.default_host
    return {one.short(host): str(configuration.constraints(one)) for one in sorted(configuration.required())}


def errors(configuration: Configuration) -> list[str]:
    return [problem.summary for problem in configuration.problems if problem.is_error]


def warnings(configuration: Configuration) -> list[str]:
    return [problem.summary for problem in configuration.problems if not problem.is_error]


def entry(text: str) -> str:
    return f"terraform {{\n  required_providers {{\n    {text}\n  }}\n}}\n"


CONTRIBUTORS: list[tuple[str, dict[str, str], dict[str, str] | None]] = [
    # configuration, what Terraform requires, what OpenTofu requires (None: the same)
    (entry('x = { source = "acme/x", version = ">= 1" }'), {"acme/x": ">= 1.0.0"}, None),
    ('provider "x" {}', {"hashicorp/x": ""}, None),
    (
        'provider "x" { version = "1.0" }\nprovider "x" {\n  alias = "b"\n  version = "< 3"\n}',
        {"hashicorp/x": "1.0.0, < 3.0.0"},
        None,
    ),
    ('resource "x_y" "z" {}', {"hashicorp/x": ""}, None),
    ('resource "x_y" "z" { provider = q.w }', {"hashicorp/q": ""}, None),
    ('resource "x_y" "z" { provider = "q.w" }', {"hashicorp/q": ""}, None),
    ('data "x" "z" {}\nephemeral "google-beta_y" "z" {}', {"hashicorp/google-beta": "", "hashicorp/x": ""}, None),
    ('check "c" {\n  data "x_y" "z" {}\n}', {"hashicorp/x": ""}, None),
    (entry('x = { source = "acme/q" }') + 'resource "x_y" "z" {}\nresource "X_y" "z" {}', {"acme/q": ""}, None),
    ('resource "x_y" "z" { provider = null.w }\nresource "x_y" "y" { provider = null }', {"hashicorp/null": ""}, None),
    ('resource "x_y" "z" { provider = true }', {"hashicorp/true": ""}, None),
    (entry("null = { configuration_aliases = [null.a] }"), {"hashicorp/null": ""}, None),
    ("import {\n  to = x_y.z\n  id = 1\n}", {"hashicorp/x": ""}, None),
    ("import {\n  to = x_y.z[0]\n  id = 1\n  provider = q\n}", {"hashicorp/q": ""}, None),
    ("import {\n  to = x_y.z[each.key]\n  id = 1\n}", {"hashicorp/x": ""}, None),
    (
        'resource "null_resource" "a" { provider = random }\nimport {\n  to = null_resource.a\n  id = 1\n}',
        {"hashicorp/random": ""},
        {"hashicorp/null": "", "hashicorp/random": ""},
    ),
    ("import {\n  to = module.m.x_y.z\n  id = 1\n}", {}, {"hashicorp/x": ""}),
    ('import {\n  to = module.m["k"].module.n[0].x_y.z\n  id = 1\n}', {}, {"hashicorp/x": ""}),
    ("moved {\n  from = x_y.z\n  to = x_y.w\n}", {}, None),
    ("removed {\n  from = x_y.z\n}", {}, None),
    ('terraform {\n  provider_meta "x" {}\n  backend "local" {}\n}', {}, None),
    ('locals {\n  a = provider::x::f(1)\n}\noutput "o" { value = x_y.z }\nvariable "v" {}', {}, None),
    ('module "m" {\n  source = "./m"\n  count = 0\n  providers = { q = q }\n}', {"hashicorp/child": ">= 2.0.0"}, None),
    ('resource "terraform_data" "x" {}\ndata "terraform_remote_state" "y" {}', {}, None),
    ("", {}, None),
]


@pytest.mark.parametrize("dialect", BOTH, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize(("text", "terraform", "opentofu"), CONTRIBUTORS, ids=[row[0] for row in CONTRIBUTORS])
def test_what_requires_a_provider(
    tmp_path: Path, text: str, terraform: dict[str, str], opentofu: dict[str, str] | None, dialect: Dialect
) -> None:
    files = {"main.tf": text, "m/m.tf": 'provider "child" { version = ">= 2" }'}
    configuration = configured(tmp_path, files, dialect)
    assert errors(configuration) == []
    assert required(configuration) == (opentofu if opentofu is not None and dialect is OPENTOFU else terraform)
    assert configuration.complete


def test_the_same_in_json(tmp_path: Path) -> None:
    document = {
        "terraform": {"required_providers": {"x": {"source": "acme/x", "version": "~> 1.0"}, "y": "2.0"}},
        "provider": {"x": [{}, {"alias": "a", "version": "1.5"}]},
        "resource": {"z_a": {"b": {}}, "q_a": [{"b": {"provider": "x.a"}}, {"c": [{}]}]},
        "data": [{"d_a": {"b": {}}}],
        "import": [{"to": "i_a.b[0]", "id": "1"}],
        "module": {"m": {"source": "./m"}},
        "//": "a comment",
    }
    configuration = configured(tmp_path, {"main.tf.json": json.dumps(document, indent=1), "m/m.tf": 'provider "n" {}'})
    assert errors(configuration) == []
    names = ["d", "i", "n", "q"]
    assert required(configuration) == {
        "acme/x": "~> 1.0, 1.5.0",
        **{f"hashicorp/{name}": "" for name in names},
        "hashicorp/y": "2.0.0",
        "hashicorp/z": "",
    }


def test_a_requirement_says_where_it_comes_from(tmp_path: Path) -> None:
    text = entry('x = {\n      version = ">= 1"\n    }') + '\nprovider "x" { alias = "e" }\nresource "x_y" "z" {}\n'
    files = {"r/a.tf": text + 'data "x_y" "z" {}\nmodule "m" { source = "../m" }', "m/b.tf": '\nresource "x_y" "w" {}'}
    configuration = configured(tmp_path, files, root="r")
    found = [
        (one.file, one.line, one.module, one.contributor, one.subject, one.constraint)
        for one in configuration.requirements
    ]
    assert found == [
        ("r/a.tf", 3, "", Contributor.REQUIRED_PROVIDERS, "x", ">= 1"),
        ("r/a.tf", 9, "", Contributor.PROVIDER, 'provider "x" (e)', ""),
        ("r/a.tf", 10, "", Contributor.RESOURCE, "x_y.z", ""),
        ("r/a.tf", 11, "", Contributor.DATA, "data.x_y.z", ""),
        ("m/b.tf", 2, "m", Contributor.RESOURCE, "x_y.w", ""),
    ]
    assert configuration.of(configuration.requirements[0].address) == configuration.requirements
    assert configuration.files == ("r/a.tf", "m/b.tf")


@pytest.mark.parametrize(
    ("text", "address", "constraint"),
    [
        ('x = "~> 1.0"', "hashicorp/x", "~> 1.0"),
        ('X = "1.0"', "hashicorp/x", "1.0.0"),
        ("x = 1", "hashicorp/x", "1.0.0"),
        ("x = 1.5", "hashicorp/x", "1.5.0"),
        ("x = {}", "hashicorp/x", ""),
        ('x = { "source" = "a/b", (("version")) : "1" }', "a/b", "1.0.0"),
        ('x = { source = "a/b", source = "a/c" }', "a/c", ""),
        ('x = { source = "${"a"}/b" }', "a/b", ""),
        ('x = { version = "1.${0}.0" }', "hashicorp/x", "1.0.0"),
        ('x = { source = "terraform" }', "hashicorp/terraform", ""),
        ('x = { source = "example.com/a/b", configuration_aliases = [x.a, x.b] }', "example.com/a/b", ""),
        ("x = { configuration_aliases = [x, x.a, x.a] }", "hashicorp/x", ""),
        ('x = { configuration_aliases = [x.a.b, x.a["k"], x.a[0]] }', "hashicorp/x", ""),
        ("x = <<E\n1.0\nE", "hashicorp/x", "1.0.0"),
    ],
)
def test_forms_of_an_entry(tmp_path: Path, text: str, address: str, constraint: str) -> None:
    configuration = configured(tmp_path, entry(text))
    assert errors(configuration) == []
    assert required(configuration) == {address: constraint}


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("x = true", "Invalid version constraint"),
        ('x = ""', "Invalid version constraint"),
        ('x = "v1"', "Invalid version constraint"),
        ('a_b = "1.0"', "Invalid provider name"),
        ("X = {}", "Invalid provider local name"),
        ("a_b = {}", "Invalid provider local name"),
        ("x = { version = 1 }", "Invalid version constraint"),
        ("x = { version = null }", "Invalid version constraint"),
        ("x = { version = var.v }", "Invalid version constraint"),
        ("x = { source = null }", "Invalid source"),
        ("x = { source = var.s }", "Invalid source"),
        ('x = { source = "a//b" }', "Invalid provider source string"),
        ('x = { source = "a/terraform-b" }', "Invalid provider type"),
        ("x = { configuration_aliases = [y.a] }", "Invalid configuration_aliases value"),
        ("x = { configuration_aliases = [y] }", "Invalid configuration_aliases value"),
        ('x = { configuration_aliases = [x["a"]] }', "Invalid configuration_aliases value"),
        ("x = { configuration_aliases = [x[0].a] }", "Invalid configuration_aliases value"),
        ('x = { configuration_aliases = ["x.a"] }', "Invalid expression"),
        ("x = { configuration_aliases = x.a }", "Invalid expression"),
        ("x = { region = 1 }", "Invalid required_providers object"),
        ("x = []", "Invalid required_providers object"),
        ("x = null", "Invalid required_providers object"),
        ("x {}", 'Unexpected "x" block'),
        ('x = "1"\n x = "2"', "Attribute redefined"),
    ],
)
def test_entries_that_are_refused(tmp_path: Path, text: str, summary: str) -> None:
    configuration = configured(tmp_path, entry(text) + 'provider "still" {}')
    assert errors(configuration) == [summary]
    assert "hashicorp/still" in required(configuration)
    assert not configuration.complete


def test_entries_in_json_are_not_evaluated(tmp_path: Path) -> None:
    document = {"terraform": {"required_providers": {"x": {"version": '${"1.0.0"}'}}}}
    configuration = configured(tmp_path, {"main.tf.json": json.dumps(document)})
    assert errors(configuration) == ["Invalid version constraint"]
    twice = {"terraform": {"required_providers": [{"x": "1"}, {"y": "2"}]}}
    configuration = configured(tmp_path, {"main.tf.json": json.dumps(twice)})
    assert errors(configuration) == ["Duplicate required providers configuration"]
    aliases = {"terraform": {"required_providers": {"x": {"configuration_aliases": ["x", "x.a"]}}}}
    assert errors(configured(tmp_path, {"main.tf.json": json.dumps(aliases)})) == []


def test_two_names_for_one_address_are_a_warning(tmp_path: Path) -> None:
    configuration = configured(
        tmp_path, entry('x = { source = "a/b", version = ">= 1" }\ny = { source = "a/b", version = "< 3" }')
    )
    assert required(configuration) == {"a/b": ">= 1.0.0, < 3.0.0"}
    assert warnings(configuration) == ["Duplicate required provider"]
    assert configuration.complete


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ('provider "X" {}', "Invalid provider local name"),
        ('resource "_foo" "a" {}', "Invalid provider local name"),
        ('resource "x--y_foo" "a" {}', "Invalid provider local name"),
        ('resource "x_y" "a" { provider = Y }', "Invalid provider local name"),
        ('resource "x_y" "a" { provider = var.a.b }', "Invalid provider configuration reference"),
        ('resource "x_y" "a" { provider = 1 }', "Invalid provider configuration reference"),
        ('resource "x_y" "a" { provider = x.a[0] }', "Invalid provider configuration reference"),
        ('resource "x_y" "a" {}\nimport {\n  to = x_y.a\n  provider = z\n}', "Invalid import provider argument"),
        ("import {\n  to = module.m.x_y.a\n  provider = z\n}", "Invalid import provider argument"),
        (entry('terraform = "~> 1.0"'), "Invalid dependency on built-in provider"),
        (entry('x = { source = "terraform.io/builtin/x" }'), "Invalid dependency on built-in provider"),
    ],
)
def test_references_that_are_refused(tmp_path: Path, text: str, summary: str) -> None:
    assert errors(configured(tmp_path, text)) == [summary]


def test_opentofu_takes_an_index_behind_the_alias(tmp_path: Path) -> None:
    text = 'resource "x_y" "a" { provider = q.w[each.key] }\nresource "x_y" "b" { provider = r.w["k"] }'
    assert required(configured(tmp_path, text, OPENTOFU)) == {"hashicorp/q": "", "hashicorp/r": ""}


def test_names_of_providers_that_are_keywords(tmp_path: Path) -> None:
    text = 'resource "x_y" "a" { provider = null.w[each.key] }'
    assert required(configured(tmp_path, text, OPENTOFU)) == {"hashicorp/null": ""}
    named = {"resource": {"x_y": {"a": {"provider": "null.w"}, "b": {"provider": "null"}}}}
    (tmp_path / "main.tf").unlink()
    assert required(configured(tmp_path, {"main.tf.json": json.dumps(named)})) == {"hashicorp/null": ""}
    absent = json.dumps({"resource": {"x_y": {"a": {"provider": None}}}})
    assert errors(configured(tmp_path, {"main.tf.json": absent})) == ["Invalid provider configuration reference"]


def test_old_ways_are_warnings(tmp_path: Path) -> None:
    text = 'provider "x" { version = "1.0" }\nresource "x_y" "a" { provider = "x" }'
    assert warnings(configured(tmp_path, text)) == [
        "Version constraints inside provider configuration blocks are deprecated",
        "Quoted references are deprecated",
    ]


def test_builtin_providers_are_never_required(tmp_path: Path) -> None:
    text = entry('terraform = {}\no = { source = "opentofu.org/builtin/terraform" }') + 'resource "tofu_a" "b" {}'
    assert required(configured(tmp_path, text)) == {"opentofu.org/builtin/terraform": "", "hashicorp/tofu": ""}
    assert required(configured(tmp_path, text, OPENTOFU)) == {"hashicorp/tofu": ""}
    assert errors(configured(tmp_path, text, OPENTOFU)) == []


def test_each_module_has_its_own_local_names(tmp_path: Path) -> None:
    child = 'resource "x_y" "z" {}\nmodule "n" { source = "./n" }'
    files = {
        "main.tf": entry('x = { source = "acme/x" }') + 'module "m" { source = "./m" }',
        "m/main.tf": child,
        "m/n/main.tf": entry('x = { source = "other/x", version = "1.0" }') + 'resource "x_y" "z" {}',
    }
    configuration = configured(tmp_path, files)
    assert required(configuration) == {"acme/x": "", "hashicorp/x": "", "other/x": "1.0.0"}
    assert {one.module for one in configuration.requirements} == {"", "m", "m.n"}


def test_what_is_special_in_child_modules(tmp_path: Path) -> None:
    child = 'terraform {\n  backend "s3" {}\n}\nimport {\n  to = x_y.z\n  id = 1\n}'
    files = {
        "main.tf": 'module "m" { source = "./m" }\nmodule "o" { source = "./m" }',
        "m/main.tf": child,
        "m/main_override.tf": 'provider "over" {}',
        "m/a.tftest.hcl": "broken",
    }
    configuration = configured(tmp_path, files)
    assert errors(configuration) == []
    assert warnings(configuration) == ["Backend configuration ignored"]
    assert required(configuration) == {"hashicorp/over": "", "hashicorp/x": ""}
    assert configuration.state.kind == "none"
    opentofu = configured(tmp_path, files, OPENTOFU)
    assert errors(opentofu) == ["Invalid import configuration"]
    assert required(opentofu) == {"hashicorp/over": ""}


def test_local_modules_that_cannot_be_read(tmp_path: Path) -> None:
    text = 'module "a" { source = "./none" }\nmodule "b" { source = "../../out" }\nmodule "c" { source = "./c" }'
    configuration = configured(tmp_path, {"r/main.tf": text, "r/c/x.txt": ""}, root="r")
    assert configuration.missing_modules == (
        MissingModule("a", "./none", "r/main.tf", 1, "Unreadable module directory"),
        MissingModule("b", "../../out", "r/main.tf", 2, "Unreadable module directory: it is outside of the repository"),
    )
    assert not configuration.complete
    assert errors(configuration) == []


def test_module_cycles_end(tmp_path: Path) -> None:
    files = {"main.tf": 'module "a" { source = "./a" }', "a/a.tf": 'module "b" { source = "../b" }'}
    configuration = configured(tmp_path, {**files, "b/b.tf": 'module "c" { source = "../a" }\nprovider "x" {}'})
    assert errors(configuration) == ["Module cycle"]
    assert required(configuration) == {"hashicorp/x": ""}
    configuration = configured(tmp_path, {"main.tf": 'module "a" { source = "./" }'})
    assert errors(configuration) == ["Module cycle"]


def test_module_trees_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from locklens.project import requirements

    monkeypatch.setattr(requirements, "MAX_MODULES", 40)
    files = {
        f"m{number}/m.tf": f'module "a" {{ source = "../m{number + 1}" }}\nmodule "b" {{ source = "../m{number + 1}" }}'
        for number in range(12)
    }
    configuration = configured(tmp_path, {**files, "m12/m.tf": ""}, root="m0")
    assert set(errors(configuration)) == {"Too many modules"}


@pytest.mark.parametrize(
    ("text", "terraform", "opentofu"),
    [
        ("{}", ["Missing required argument"], ["Missing required argument"]),
        ("{ source = null }", ["Unsuitable value type"], []),
        ("{ source = var.x }", ["Variables not allowed"], []),
        ('{ source = "${path.module}/x" }', ["Variables not allowed"], []),
        ('{ source = abs("./m") }', ["Function calls not allowed"], []),
        ('{ source = "m" }', ["Invalid module source address"], ["Invalid module source address"]),
        (
            '{\n  source = "./m"\n  version = "1.0"\n}',
            ["Invalid registry module source address"],
            ["Invalid registry module source address"],
        ),
        ('{\n  source = "./m"\n  version = null\n}', ["Invalid registry module source address"], []),
        ('{\n  source = "a/b/c"\n  version = "x"\n}', ["Invalid version constraint"], ["Invalid version constraint"]),
    ],
)
def test_module_calls_that_are_refused(tmp_path: Path, text: str, terraform: list[str], opentofu: list[str]) -> None:
    files = {"main.tf": f'module "m" {text}', "m/m.tf": ""}
    assert errors(configured(tmp_path, files)) == terraform
    configuration = configured(tmp_path, files, OPENTOFU)
    assert errors(configuration) == opentofu
    if "var" in text or "abs" in text or "path" in text:
        assert [one.reason for one in configuration.missing_modules] == ["Unable to compute static value"]


def manifest(*records: tuple[str, str, str, str]) -> str:
    modules = [
        {"Key": key, "Source": source, **({"Version": version} if version else {}), "Dir": folder}
        for key, source, version, folder in [("", "", "", "."), *records]
    ]
    return json.dumps({"Modules": modules})


CALL = 'module "m" {\n  source = "acme/foo/aws"\n  version = "~> 1.2"\n}'
FETCHED = ".terraform/modules/m"


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (None, "Module not installed"),
        (("m", "registry.terraform.io/acme/foo/aws", "1.3.0", FETCHED), None),
        (("m", "acme/foo/aws", "1.3.0", FETCHED), None),
        (("m", "registry.opentofu.org/acme/foo/aws", "1.3.0", FETCHED), "Module source has changed"),
        (("m", "registry.terraform.io/acme/bar/aws", "1.3.0", FETCHED), "Module source has changed"),
        (("m", "registry.terraform.io/acme/foo/aws", "", FETCHED), "Module version requirements have changed"),
        (("m", "registry.terraform.io/acme/foo/aws", "2.0.0", FETCHED), "Module version requirements have changed"),
        (("m", "registry.terraform.io/acme/foo/aws", "1.3.0-rc1", FETCHED), "Module version requirements have changed"),
        (
            ("m", "registry.terraform.io/acme/foo/aws", "1.3.0", ".terraform/modules/gone"),
            "Module not installed: its local cache directory cannot be read",
        ),
        (
            ("m", "registry.terraform.io/acme/foo/aws", "1.3.0", "../../.."),
            "Module not installed: its local cache directory cannot be read",
        ),
    ],
)
def test_fetched_modules_are_read_only_where_they_are_what_is_called(
    tmp_path: Path, record: tuple[str, str, str, str] | None, reason: str | None
) -> None:
    files = {
        "r/main.tf": CALL,
        "r/.terraform/modules/modules.json": manifest(*([record] if record else [])),
        f"r/{FETCHED}/main.tf": 'provider "deep" {}\nmodule "sub" { source = "./sub" }',
        f"r/{FETCHED}/sub/main.tf": 'provider "deeper" {}',
    }
    configuration = configured(tmp_path, files, root="r")
    assert errors(configuration) == []
    assert [one.reason for one in configuration.missing_modules] == ([] if reason is None else [reason])
    expected = {} if reason else {"hashicorp/deep": "", "hashicorp/deeper": ""}
    assert required(configuration) == expected
    assert configuration.complete == (reason is None)


def test_fetched_modules_come_from_the_work_tree_for_every_side(tmp_path: Path) -> None:
    side = written(tmp_path / "side", {"main.tf": CALL.replace("  version", "  #")})
    fetched = {
        "data/modules/modules.json": manifest(("m", "acme/foo/aws", "9.0.0", "data/m")),
        "data/m/x.tf": 'provider "x" {}',
    }
    worktree = written(tmp_path / "work", fetched)
    environ = {"TF_DATA_DIR": "data"}
    assert required(read_configuration(side, "", dialect=TERRAFORM, worktree=worktree, environ=environ)) == {
        "hashicorp/x": ""
    }
    outside = "in TF_DATA_DIR, which is outside of the repository"
    for folder, trouble in (("", "not fetched"), ("/data", outside), ("../data", outside)):
        configuration = read_configuration(
            side, "", dialect=TERRAFORM, worktree=worktree, environ={"TF_DATA_DIR": folder}
        )
        assert [one.trouble for one in configuration.missing_modules] == [trouble]
    alone = read_configuration(side, "", dialect=TERRAFORM)
    assert [one.reason for one in alone.missing_modules] == ["Module not installed"]


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"Modules": 1}', '{"Modules": [1]}', manifest(("m", "a", "", "."), ("m", "b", "", "."))]
)
def test_a_broken_manifest_is_a_problem(tmp_path: Path, text: str) -> None:
    configuration = configured(tmp_path, {"main.tf": CALL, ".terraform/modules/modules.json": text})
    assert errors(configuration) == ["Failed to read module manifest"]
    assert [one.call for one in configuration.missing_modules] == ["m"]


def test_an_empty_manifest_is_none(tmp_path: Path) -> None:
    configuration = configured(tmp_path, {"main.tf": CALL, ".terraform/modules/modules.json": ""})
    assert errors(configuration) == []


TESTS = {
    "main.tf": entry('x = { source = "acme/x" }'),
    "a.tftest.hcl": 'run "r" {\n  module {\n    source = "./m"\n  }\n}\nprovider "x" {}\nmock_provider "mock" {}\n',
    "tests/b.tftest.json": json.dumps({"run": {"q": {"module": {"source": "./n"}}}, "provider": {"y": {}}}),
    "tests/deep/c.tftest.hcl": "broken",
    "m/m.tf": 'provider "m" { version = "1.0" }',
    "n/n.tf": 'module "fetched" { source = "a/b/c" }',
}


def test_test_files_count_for_init(tmp_path: Path) -> None:
    configuration = configured(tmp_path, TESTS)
    assert required(configuration) == {"acme/x": "", "hashicorp/m": "1.0.0"}
    assert {one.module for one in configuration.requirements} == {"", "test.a.r"}
    assert [one.call for one in configuration.missing_modules] == ["test.tests.b.tftest.json.q.fetched"]
    assert {"a.tftest.hcl", "tests/b.tftest.json"} <= set(configuration.files)
    opentofu = configured(tmp_path, {}, OPENTOFU)
    assert required(opentofu) == {"acme/x": "", "hashicorp/m": "1.0.0", "hashicorp/y": ""}
    assert [one.file for one in opentofu.of(opentofu.requirements[0].address)] == ["main.tf", "a.tftest.hcl"]


def test_opentofu_names_its_test_runs_by_the_whole_file(tmp_path: Path) -> None:
    files = {
        "main.tf": "",
        "t.tofutest.hcl": 'run "a" {\n  module {\n    source = "./m"\n  }\n}',
        "m/m.tf": 'provider "m" {}',
    }
    assert {one.module for one in configured(tmp_path, files, OPENTOFU).requirements} == {"test.t.tofutest.hcl.a"}


def test_versions_in_test_files(tmp_path: Path) -> None:
    files = {"main.tf": "", "a.tftest.hcl": 'provider "x" { version = "1.0" }'}
    assert errors(configured(tmp_path, files)) == ["Version constraints are not allowed in test files"]
    opentofu = configured(tmp_path, files, OPENTOFU)
    assert required(opentofu) == {"hashicorp/x": "1.0.0"}
    assert warnings(opentofu) == ["Version constraints inside provider configuration blocks are deprecated"]


def test_where_test_files_are_looked_for(tmp_path: Path) -> None:
    tree = written(tmp_path, {"main.tf": "", "tests/a.tftest.hcl": "broken", "other/b.tftest.hcl": "broken"})

    def files(folder: str) -> list[tuple[str, str]]:
        configuration = read_configuration(tree, "", dialect=TERRAFORM, test_directory=folder)
        return [(one.file, one.summary) for one in configuration.problems]

    needed = "Argument or block definition required"
    assert files("tests") == [("tests/a.tftest.hcl", needed)]
    assert files("other") == [("other/b.tftest.hcl", needed)]
    assert files("none") == [("none", "Test directory does not exist")]
    assert files("main.tf") == [("main.tf", "Failed to read test directory")]
    shutil.rmtree(tmp_path / "tests")
    assert files("tests") == []


@pytest.mark.parametrize(
    ("text", "kind", "normal"),
    [
        ("./a", "local", "./a"),
        ("./a/../b/", "local", "./b"),
        ("../a", "local", "../a"),
        (".\\a", "local", "./a"),
        ("acme/foo/aws", "registry", "registry.terraform.io/acme/foo/aws"),
        ("acme/foo/aws//modules/x", "registry", "registry.terraform.io/acme/foo/aws//modules/x"),
        ("Example.com/acme/foo/aws", "registry", "example.com/acme/foo/aws"),
        ("github.com/acme/foo", "remote", "git::https://github.com/acme/foo.git"),
        ("github.com/acme/foo//x?ref=v1", "remote", "git::https://github.com/acme/foo.git//x?ref=v1"),
        ("github.com/acme/foo/x/y", "remote", "git::https://github.com/acme/foo.git//x/y"),
        ("git@github.com:acme/foo.git", "remote", "git::ssh://git@github.com/acme/foo.git"),
        ("git::https://x.com/a.git//s?ref=1", "remote", "git::https://x.com/a.git//s?ref=1"),
        ("git::ssh://git@x.com/a.git?ref=1", "remote", "git::ssh://git@x.com/a.git?ref=1"),
        ("https://x.com/a.zip", "remote", "https://x.com/a.zip"),
        ("s3::https://s3.amazonaws.com/b/k.zip", "remote", "s3::https://s3.amazonaws.com/b/k.zip"),
    ],
)
def test_module_sources(text: str, kind: str, normal: str) -> None:
    source = parse_module_source(text, TERRAFORM, has_version=False)
    assert (source.kind, source.text) == (kind, normal)
    assert parse_module_source(normal, TERRAFORM, has_version=False).text == normal


def test_only_registry_modules_have_versions() -> None:
    with pytest.raises(ModuleSourceError):
        parse_module_source("github.com/acme/foo", TERRAFORM, has_version=True)


@pytest.mark.parametrize(
    ("constraint", "admitted", "refused"),
    [
        ("1.2", ["1.2.0", "v1.2", "1.2.0.0"], ["1.2.1", "1.2.0-rc1"]),
        ("~> 1.2", ["1.2.0", "1.9.9"], ["1.1.9", "2.0.0", "1.3.0-rc1"]),
        ("~> 1.2.3", ["1.2.3", "1.2.9"], ["1.3.0"]),
        ("~> 1", ["1.0.0", "2.0.0"], ["0.9.0"]),
        (">= 1.0, < 2.0", ["1.0.0", "1.9"], ["2.0.0", "1.5.0-beta"]),
        (">= 1.0.0-beta", ["1.0.0-beta", "1.0.0-rc", "1.0.0"], ["1.1.0-beta", "0.9.0"]),
        ("!= 1.0.0", ["1.0.1", "1.0.0-rc1"], ["1.0.0"]),
        ("~> 1.0.0-beta", ["1.0.0-beta", "1.0.0-rc"], ["1.0.0", "1.0.1"]),
    ],
)
def test_module_versions(constraint: str, admitted: list[str], refused: list[str]) -> None:
    assert [version for version in admitted if not admits(constraint, version)] == []
    assert [version for version in refused if admits(constraint, version)] == []


@pytest.mark.skipif(shutil.which("terraform") is None, reason="needs the real terraform on PATH")
@pytest.mark.parametrize(
    "text",
    # left out: what `providers` refuses for reasons that have nothing to do with requirements
    [row[0] for row in CONTRIBUTORS if not any(word in row[0] for word in ("check", "backend", "X_y"))]
    + [entry('x = 1.5\ny = { source = "Example.com/A/b", version = ">=1,<2" }\nterraform = {}')]
    + [entry("x = { configuration_aliases = [x, x.a, x.a.b] }")],
)
def test_the_real_terraform_requires_the_same(tmp_path: Path, text: str) -> None:
    child = 'terraform {\n  required_providers {\n    c = { source = "acme/c", version = "~> 2.1" }\n  }\n}'
    files = {"main.tf": text, "m/m.tf": child, ".terraform/modules/modules.json": manifest(("m", "./m", "", "m"))}
    configuration = configured(tmp_path, files)
    output = subprocess.run(["terraform", "providers"], cwd=tmp_path, capture_output=True, check=False, text=True)
    assert output.returncode == 0, output.stderr
    theirs: dict[str, set[str]] = {}
    for line in output.stdout.splitlines():
        if "provider[" in line:
            address, _, constraint = line.partition("provider[")[2].partition("]")
            terms = {" ".join(term.split()) for term in constraint.split(",") if term.strip()}
            theirs.setdefault(address, set()).update(terms)
    ours: dict[str, set[str]] = {}
    for one in configuration.requirements:
        ours.setdefault(str(one.address), set()).update(str(one.constraints).split(", ") if one.constraints else ())
    assert ours == theirs


def test_resources_of_one_provider_are_counted(tmp_path: Path) -> None:
    """A module with N resources that is called M times is no list of N times M."""
    resources = "".join(f'resource "x_y" "r{number}" {{}}\ndata "x_y" "d{number}" {{}}\n' for number in range(3))
    calls = "".join(f'module "m{number}" {{ source = "./m" }}\n' for number in range(2))
    configuration = configured(tmp_path, {"main.tf": calls, "m/m.tf": resources + 'resource "q_y" "z" {}\n'})
    found = [(one.module, one.subject, one.line, one.count) for one in configuration.requirements]
    assert found == [
        (module, *rest)
        for module in ("m0", "m1")
        for rest in (("x_y.r0", 1, 3), ("q_y.z", 7, 1), ("data.x_y.d0", 2, 3))
    ]


def test_requirements_of_one_root_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locklens.project.requirements.MAX_REQUIREMENTS", 9)
    providers = "".join(f'provider "x{number}" {{}}\n' for number in range(3))
    calls = "".join(f'module "m{number}" {{ source = "./m" }}\n' for number in range(4))
    configuration = configured(tmp_path, {"main.tf": calls, "m/m.tf": providers})
    assert len(configuration.requirements) == 9
    assert errors(configuration) == ["Too many requirements"]
    assert not configuration.complete


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (entry('x = { source = "acme/x", version = ">= 1" }'), (3, 3)),
        (entry('x = {\n      source  = "acme/x"\n      version = ">= 1"\n    }'), (3, 5)),
        (entry('x = {\n      source  = "acme/x"\n      version = <<EOT\n>= 1\nEOT\n    }'), (3, 5)),
        (entry('x = {\n      source = "acme/x"\n    }'), (3, 3)),
        (entry('x = ">= 1"'), (3, 3)),
        ('provider "x" {\n  region  = "a"\n  version = ">= 1"\n}\n', (1, 3)),
    ],
)
def test_a_constraint_has_a_line_of_its_own(text: str, lines: tuple[int, int], tmp_path: Path) -> None:
    (one,) = configured(tmp_path, text).requirements
    assert (one.line, constraint_place(one).line) == lines
    over = {"main.tf": text, "over_override.tf": entry('x = ">= 2"') if "source" in text else text}
    hidden = [each.overrides for each in configured(tmp_path, over).requirements if each.overrides is not None]
    assert [(each.line, constraint_place(each).line) for each in hidden] in ([lines], [])
