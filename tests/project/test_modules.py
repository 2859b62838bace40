"""Which files are configuration, and what override files do: every rule for both tools."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kit.repositories import put

from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.errors import ConfigurationError
from locklens.project import configuration_files, files_of_tests
from locklens.project.configuration import Configuration
from locklens.project.module_sources import local_sources
from locklens.project.modules import ModuleReader
from locklens.project.requirements import read_configuration
from locklens.project.tree import EntryKind, FolderEntry, WorkTree

BOTH = (TERRAFORM, OPENTOFU)


def written(folder: Path, files: dict[str, str]) -> WorkTree:
    put(folder, files)
    return WorkTree(folder)


def configured(folder: Path, files: dict[str, str], dialect: Dialect = TERRAFORM) -> Configuration:
    tree = written(folder, files)
    return read_configuration(tree, "", dialect=dialect, worktree=tree)


def required(configuration: Configuration) -> dict[str, str]:
    host = configuration.dialect.default_host
    return {one.short(host): str(configuration.constraints(one)) for one in sorted(configuration.required())}


def errors(configuration: Configuration) -> list[str]:
    return [problem.summary for problem in configuration.problems if problem.is_error]


def loaded(names: list[str], dialect: Dialect) -> tuple[list[str], list[str], list[str]]:
    entries = [
        FolderEntry(name.rstrip("/"), EntryKind.FOLDER if name.endswith("/") else EntryKind.FILE) for name in names
    ]
    found = configuration_files(entries, dialect)
    tests = files_of_tests(entries, dialect)
    return [one.name for one in found.primary], [one.name for one in found.overrides], [one.name for one in tests]


@pytest.mark.parametrize("dialect", BOTH, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize(
    ("names", "primary", "overrides"),
    [
        (["b.tf", "a.tf.json", "B.tf"], ["B.tf", "a.tf.json", "b.tf"], []),
        (["a.tf", "a.tfvars", "a.json", "a.TF", "a.hcl", "atf", ".tf"], ["a.tf"], []),
        ([".y.tf", "y.tf~", "#y.tf#", "#y.tf"], ["#y.tf"], []),
        (["d.tf/", "a.tf"], ["a.tf"], []),
        (
            ["override.tf", "_override.tf", "a_override.tf.json"],
            [],
            ["_override.tf", "a_override.tf.json", "override.tf"],
        ),
        (["foo-override.tf", "Override.tf", "overrides.tf"], ["Override.tf", "foo-override.tf", "overrides.tf"], []),
        (["a.tftest.hcl"], [], []),
    ],
)
def test_names_that_both_tools_take(
    names: list[str], primary: list[str], overrides: list[str], dialect: Dialect
) -> None:
    assert loaded(names, dialect)[:2] == (primary, overrides)


@pytest.mark.parametrize(
    ("names", "primary", "overrides"),
    [
        (["a.tf", "a.tofu"], ["a.tofu"], []),
        (["a.tf.json", "a.tofu.json"], ["a.tofu.json"], []),
        (["a.tf", "a.tofu.json"], ["a.tf", "a.tofu.json"], []),
        (["a.tf.json", "a.tofu"], ["a.tf.json", "a.tofu"], []),
        (["x_override.tf", "x_override.tofu"], [], ["x_override.tofu"]),
        (["a_override.tf", "a.tofu"], ["a.tofu"], ["a_override.tf"]),
        (["override.tofu.json", "x.tofu"], ["x.tofu"], ["override.tofu.json"]),
        (["x.tf.tf", "x.tf.tofu"], ["x.tf.tofu"], []),
        (["x.tf.tf", "x.tofu.tofu"], ["x.tf.tf", "x.tofu.tofu"], []),
        (["a.tf", "a.tofu/"], ["a.tf"], []),
        ([".a.tofu", "a.tofu~", "a.tf"], ["a.tf"], []),
    ],
)
def test_opentofu_shadows_the_parallel_name_only(names: list[str], primary: list[str], overrides: list[str]) -> None:
    assert loaded(names, OPENTOFU)[:2] == (primary, overrides)
    kept = [name for name in names if ".tofu" not in name.removesuffix(".tf").removesuffix(".tf.json")]
    assert loaded(names, TERRAFORM) == loaded(kept, TERRAFORM)


def test_test_files_have_their_own_names() -> None:
    names = [
        "a.tftest.hcl",
        "a.tofutest.hcl",
        "b.tftest.json",
        "b.tofutest.hcl",
        "override.tftest.hcl",
        ".c.tftest.hcl",
    ]
    assert loaded(names, TERRAFORM)[2] == ["a.tftest.hcl", "b.tftest.json", "override.tftest.hcl"]
    assert loaded(names, OPENTOFU)[2] == ["a.tofutest.hcl", "b.tftest.json", "b.tofutest.hcl", "override.tftest.hcl"]


def test_a_shadowed_file_is_not_even_parsed(tmp_path: Path) -> None:
    files = {"a.tf": "!!!", "a.tofu": 'provider "x" {}', "b_override.tf": 'provider "y" {}', "b_override.tofu": ""}
    assert required(configured(tmp_path, files, OPENTOFU)) == {"hashicorp/x": ""}
    terraform = configured(tmp_path, {}, TERRAFORM)
    assert required(terraform) == {"hashicorp/y": ""}
    assert len(errors(terraform)) == 1


def test_links_to_folders_and_to_nothing_fail(tmp_path: Path) -> None:
    written(tmp_path, {"ok.tf": 'provider "x" {}', "target/x": ""})
    (tmp_path / "a.tf").symlink_to("target")
    (tmp_path / "b.tf").symlink_to("nowhere")
    (tmp_path / "c.tf").symlink_to("ok.tf")
    configuration = configured(tmp_path, {})
    assert [(one.file, one.summary) for one in configuration.problems if one.line is None] == [
        ("a.tf", "Failed to read file"),
        ("b.tf", "Failed to read file"),
    ]
    assert "Duplicate provider configuration" in errors(configuration)


@pytest.mark.parametrize(
    ("files", "dialect"),
    [
        ({}, TERRAFORM),
        ({"x.tofu": 'provider "x" {}'}, TERRAFORM),
        ({"x.tftest.hcl": 'provider "x" {}'}, TERRAFORM),
        ({"x.tofutest.hcl": 'provider "x" {}'}, OPENTOFU),
    ],
)
def test_without_configuration_the_tools_do_nothing(tmp_path: Path, files: dict[str, str], dialect: Dialect) -> None:
    configuration = configured(tmp_path, {**files, "terraform.tfstate": "broken"}, dialect)
    assert not configuration.has_files
    assert configuration.requirements == ()
    assert not configuration.complete
    assert configuration.unknown_reason == "no configuration in this folder"


def test_override_files_alone_are_a_configuration(tmp_path: Path) -> None:
    configuration = configured(tmp_path, {"override.tf": 'provider "x" {}'})
    assert configuration.has_files
    assert required(configuration) == {"hashicorp/x": ""}


BASE = """
terraform {
  required_providers {
    x = { source = "acme/x", version = ">= 1.0" }
  }
  backend "local" {}
}
provider "y" { alias = "a" }
provider "z" { version = "1.0" }
module "m" { source = "./m" }
resource "r_a" "b" {}
data "d_a" "b" {}
ephemeral "e_a" "b" {}
variable "v" {}
output "o" { value = 1 }
locals { l = 1 }
"""
CHILD = {"m/main.tf": 'provider "m" {}', "n/main.tf": 'provider "n" {}'}
PLAIN = {
    "acme/x": ">= 1.0.0",
    "hashicorp/d": "",
    "hashicorp/e": "",
    "hashicorp/m": "",
    "hashicorp/r": "",
    "hashicorp/y": "",
    "hashicorp/z": "1.0.0",
}


def changed(**changes: str | None) -> dict[str, str]:
    found: dict[str, str | None] = {**PLAIN, **{name.replace("__", "/"): value for name, value in changes.items()}}
    return {name: value for name, value in sorted(found.items()) if value is not None}


OVERRIDES: list[tuple[str, dict[str, str], dict[str, str] | None, list[str]]] = [
    # what the override file says, what Terraform requires, what OpenTofu requires (None: the same), errors
    (
        'terraform {\n  required_providers {\n    x = { version = "1.0.0" }\n  }\n}',
        changed(acme__x=None, hashicorp__x="1.0.0"),
        None,
        [],
    ),
    (
        'terraform {\n  required_providers {\n    q = "2.0"\n  }\n  required_providers {\n    q = "3.0"\n  }\n}',
        changed(hashicorp__q="3.0.0"),
        None,
        [],
    ),
    ('terraform {\n  required_version = "9999"\n}', PLAIN, None, []),
    ('provider "x" {}', PLAIN, None, []),
    ('provider "w" {}', changed(hashicorp__w=""), None, []),
    ('provider "z" { version = "2.0" }', changed(hashicorp__z="2.0.0"), None, []),
    ('provider "z" {}', PLAIN, None, []),
    ('provider "y" { alias = "a" }', PLAIN, None, []),
    ('provider "y" { alias = "b" }', PLAIN, None, ["Missing base provider configuration for override"]),
    ('module "m" { source = "./n" }', changed(hashicorp__m=None, hashicorp__n=""), None, []),
    ('module "m" { count = 2 }', PLAIN, None, []),
    ('module "q" { source = "./n" }', PLAIN, None, ["Missing module call to override"]),
    ('module "m" { depends_on = [] }', PLAIN, None, []),
    ('resource "r_a" "b" { provider = x }', changed(hashicorp__r=None), None, []),
    ('resource "r_a" "b" { provider = k.l }', changed(hashicorp__r=None, hashicorp__k=""), None, []),
    ('resource "r_a" "c" {}', PLAIN, None, ["Missing resource to override"]),
    ('data "d_a" "b" { provider = x }', changed(hashicorp__d=None), None, []),
    ('data "d_a" "c" {}', PLAIN, None, ["Missing data resource to override"]),
    ('ephemeral "e_a" "b" { provider = x }', PLAIN, changed(hashicorp__e=None), []),
    ('ephemeral "e_a" "c" {}', PLAIN, None, ["opentofu: Missing ephemeral resource to override"]),
    ('variable "v" {}', PLAIN, None, []),
    ("language {}", PLAIN, None, ["terraform: Unsupported block type"]),
    ("terraform {\n  cloud {}\n}", PLAIN, None, []),
    ('terraform {\n  backend "s3" {}\n  backend "s3" {}\n}', PLAIN, None, ["Duplicate backend configuration"]),
]


@pytest.mark.parametrize("dialect", BOTH, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize(
    ("override", "terraform", "opentofu", "expected"), OVERRIDES, ids=[row[0] for row in OVERRIDES]
)
def test_what_an_override_file_changes(
    tmp_path: Path,
    override: str,
    terraform: dict[str, str],
    opentofu: dict[str, str] | None,
    expected: list[str],
    dialect: Dialect,
) -> None:
    configuration = configured(tmp_path, {"main.tf": BASE, "override.tf": override, **CHILD}, dialect)
    assert required(configuration) == (opentofu if opentofu is not None and dialect is OPENTOFU else terraform)
    other = "opentofu: " if dialect is TERRAFORM else "terraform: "
    own = f"{dialect.name}: "
    assert errors(configuration) == [text.removeprefix(own) for text in expected if not text.startswith(other)]


def test_an_override_says_what_it_hides(tmp_path: Path) -> None:
    override = 'terraform {\n  required_providers {\n    x = "2.0"\n  }\n}\nprovider "z" { version = "2.0" }\n'
    configuration = configured(tmp_path, {"main.tf": BASE, "a_override.tf": override, **CHILD})
    hidden = {one.subject: one.overrides for one in configuration.requirements if one.overrides is not None}
    assert {name: (one.file, one.line, one.constraint) for name, one in hidden.items()} == {
        "x": ("main.tf", 4, ">= 1.0"),
        'provider "z"': ("main.tf", 9, "1.0"),
    }


@pytest.mark.parametrize("names", [("a_override.tf", "override.tf"), ("override.tf", "z_override.tf")])
def test_the_last_override_file_wins(tmp_path: Path, names: tuple[str, str]) -> None:
    files = {
        name: f'terraform {{\n  required_providers {{\n    x = "{number}.0"\n  }}\n}}'
        for number, name in enumerate(names, 1)
    }
    assert required(configured(tmp_path, files)) == {"hashicorp/x": "2.0.0"}


def test_a_backend_override_replaces_either_kind(tmp_path: Path) -> None:
    files = {"main.tf": "terraform {\n  cloud {}\n}", "override.tf": 'terraform {\n  backend "local" {}\n}'}
    assert configured(tmp_path, files).state.kind == "none"
    files = {"main.tf": 'terraform {\n  backend "local" {}\n}', "override.tf": "terraform {\n  cloud {}\n}"}
    assert configured(tmp_path, files).state.kind == "remote"


DUPLICATES = {
    "terraform {\n  required_providers {}\n}\nterraform {\n  required_providers {}\n}": (
        "Duplicate required providers configuration"
    ),
    'provider "a" {}\nprovider "a" {}': "Duplicate provider configuration",
    'provider "a" { alias = "b" }\nprovider "a" { alias = "b" }': "Duplicate provider configuration",
    'resource "a" "b" {}\nresource "a" "b" {}': 'Duplicate resource "a" configuration',
    'data "a" "b" {}\ncheck "c" {\n  data "a" "b" {}\n}': 'Duplicate data "a" configuration',
    'ephemeral "a" "b" {}\nephemeral "a" "b" {}': 'Duplicate ephemeral "a" configuration',
    'module "a" { source = "./m" }\nmodule "a" { source = "./m" }': "Duplicate module call",
    'terraform {\n  backend "local" {}\n  backend "local" {}\n}': "Duplicate backend configuration",
}


@pytest.mark.parametrize(("text", "summary"), DUPLICATES.items(), ids=DUPLICATES.values())
def test_duplicates_in_primary_files(tmp_path: Path, text: str, summary: str) -> None:
    assert errors(configured(tmp_path, {"main.tf": text, "m/m.tf": ""})) == [summary]


@pytest.mark.parametrize(
    "text",
    [
        'variable "v" {}\nvariable "v" { type = ! }',
        'output "o" {}\noutput "o" { value = 1 + ! }',
        "locals { a = 1 }\nlocals { a = 'b' }",
        'check "c" {}\ncheck "c" {}',
        "moved {}",
        "removed { from = a.b.c.d }",
        "import {}",
        "import {\n  to = x_a.b\n  id = 1\n}\nimport {\n  to = x_a.b\n  id = 2\n}",
        'resource "x_a" "b" { depends_on = [1 2] }',
    ],
)
def test_what_says_nothing_of_providers_is_not_judged(tmp_path: Path, text: str) -> None:
    configuration = configured(tmp_path, {"main.tf": f'provider "x" {{}}\n{text}'})
    assert required(configuration) == {"hashicorp/x": ""}
    assert configuration.problems == ()


def test_backend_and_cloud_exclude_each_other(tmp_path: Path) -> None:
    files = {"main.tf": 'terraform {\n  backend "local" {}\n  cloud {}\n}'}
    assert errors(configured(tmp_path, files)) == ["Both a backend and cloud configuration are present"]
    summary = "Both a backend and a cloud configuration are present"
    assert errors(configured(tmp_path, files, OPENTOFU)) == [summary]


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("foo {}", "Unsupported block type"),
        ("foo = 1", "Unsupported argument"),
        ("provider {}", "Missing label for provider"),
        ('resource "a" {}', "Missing label for resource"),
        ('module "a" "b" {}', "Extraneous label for module"),
        ("required_providers {}", "Invalid required_providers block"),
        ("terraform { foo = 1 }", "Unsupported argument"),
        ("terraform {\n  foo {}\n}", "Unsupported block type"),
        ("terraform { required_providers {} }", "Argument definition required"),
    ],
)
def test_the_schema_of_a_file(tmp_path: Path, text: str, summary: str) -> None:
    assert errors(configured(tmp_path, {"main.tf": text})) == [summary]


def test_a_broken_file_does_not_hide_the_others(tmp_path: Path) -> None:
    configuration = configured(tmp_path, {"a.tf": "x = \n", "b.tf": 'provider "b" {}'})
    problem = configuration.problems[0]
    assert (problem.file, problem.line, problem.column) == ("a.tf", 1, 5)
    assert required(configuration) == {"hashicorp/b": ""}
    assert not configuration.complete


def test_equal_files_are_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from locklens.project import contents, modules

    read: list[bytes] = []
    original = contents.read_contents

    def counting(data: bytes, **rest: Any) -> Any:
        read.append(data)
        return original(data, **rest)

    monkeypatch.setattr(modules, "read_contents", counting)
    tree = written(
        tmp_path, {"a/x.tf": 'module "m" { source = "../m" }', "b/y.tf": 'module "m" { source = "../m" }', "m/m.tf": ""}
    )
    reader = ModuleReader()
    for root in ("a", "b", "a"):
        read_configuration(tree, root, dialect=TERRAFORM, module_reader=reader)
    assert len(read) == 2
    read_configuration(tree, "a", dialect=OPENTOFU, module_reader=reader)
    assert len(read) == 4


def test_an_unreadable_folder_is_a_problem(tmp_path: Path) -> None:
    class Locked(WorkTree):
        def list(self, folder: str) -> tuple[FolderEntry, ...]:
            raise ConfigurationError("cannot be listed", path=folder)

    configuration = read_configuration(Locked(tmp_path), "", dialect=TERRAFORM)
    assert errors(configuration)[0] == "Failed to read module directory"
    assert not configuration.complete


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('module "a" {\n  source = "./a"\n}', {"./a"}),
        ('module "a" { source="../b//c" }', {"../b//c"}),
        ('{"module": {"a": {"source": "./x"}}}', {"./x"}),
        ('# source = "./commented"', {"./commented"}),
        ("source = <<E\n./here\nE\n", {"./here"}),
        ('source = "acme/x/aws"\nresource = "./no"\nsource_x = "./no"', set()),
        ('source = "./a\\u0062"', {"./a"}),
    ],
)
def test_local_sources_by_a_look_at_the_bytes(text: str, expected: set[str]) -> None:
    assert local_sources(text.encode()) == expected


@pytest.mark.skipif(shutil.which("terraform") is None, reason="needs the real terraform on PATH")
def test_the_real_terraform_finds_the_same_faults(tmp_path: Path) -> None:
    faults = "\n".join(text for text in DUPLICATES if "check" not in text and "import" not in text)
    overrides = "\n".join(
        row[0] for row in OVERRIDES if row[3] and "removed" not in row[0] and "language" not in row[0]
    )
    files = {"a.tf": faults, "b.tf": BASE, "override.tf": overrides, **CHILD}
    tree = written(tmp_path, files)
    command = ["terraform", "validate", "-json"]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, text=True)
    theirs = {
        (one["range"]["filename"], one["range"]["start"]["line"], one["summary"])
        for one in json.loads(output.stdout)["diagnostics"]
        if "range" in one and not one["summary"].startswith(("Missing required", "Module not", "Zero assert"))
    }
    ours = {(one.file, one.line, one.summary) for one in read_configuration(tree, "", dialect=TERRAFORM).problems}
    assert len(theirs) >= 15
    assert theirs - ours == set()
    assert ours - theirs == set()
