"""Sources of modules with variables and locals in them, which both tools evaluate before anything is fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.project.configuration import Configuration
from locklens.project.requirements import read_configuration
from locklens.project.tree import WorkTree

VARIABLE = 'variable "kind" {\n  type    = string\n  const   = true\n  default = "net"\n}\n'
CALL = 'module "m" {\n  source = "./modules/${var.kind}"\n}\n'
MODULES = {f"modules/{name}/m.tf": f'provider "{name}" {{}}\n' for name in ("net", "web")}


def configured(
    folder: Path, files: dict[str, str], dialect: Dialect = TERRAFORM, environ: dict[str, str] | None = None
) -> Configuration:
    for name, text in (MODULES | files).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    tree = WorkTree(folder)
    return read_configuration(tree, "", dialect=dialect, worktree=tree, environ=environ or {})


def required(configuration: Configuration) -> list[str]:
    return [one.type for one in sorted(configuration.required())]


@pytest.mark.parametrize("dialect", [TERRAFORM, OPENTOFU], ids=lambda dialect: dialect.name)
@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"main.tf": VARIABLE + CALL}, "net"),
        ({"main.tf": CALL, "variables.tf": VARIABLE}, "net"),
        ({"main.tf": VARIABLE + CALL, "terraform.tfvars": 'kind = "web"\nother = file("x")\n'}, "web"),
        (
            {"main.tf": VARIABLE + CALL, "terraform.tfvars": 'kind = "net"', "z.auto.tfvars.json": '{"kind": "web"}'},
            "web",
        ),
        ({"main.tf": VARIABLE + CALL, "notes.tfvars": 'kind = "web"'}, "net"),
        ({"main.tf": VARIABLE + 'locals {\n  b = local.a\n  a = "./modules/${var.kind}"\n}\n'
          'module "m" {\n  source = local.b\n}\n'}, "net"),
    ],
)  # fmt: skip
def test_what_the_declared_values_say(tmp_path: Path, files: dict[str, str], found: str, dialect: Dialect) -> None:
    configuration = configured(tmp_path, files, dialect)
    assert [problem.summary for problem in configuration.problems] == []
    assert configuration.missing_modules == ()
    assert required(configuration) == [found]
    assert configuration.complete


def test_values_of_the_environment_are_not_looked_at_and_give_way_to_files(tmp_path: Path) -> None:
    files = {"main.tf": VARIABLE + CALL}
    assert not configured(tmp_path, files, environ={"TF_VAR_kind": "web"}).complete
    files["terraform.tfvars"] = 'kind = "net"'
    assert required(configured(tmp_path, files, environ={"TF_VAR_kind": "web"})) == ["net"]


@pytest.mark.parametrize("source", ["./modules/${var.kind}", "${var.kind}", "git::https://${var.kind}@host.test/a"])
def test_values_of_files_are_never_shown(tmp_path: Path, source: str) -> None:
    text = VARIABLE + CALL.replace("./modules/${var.kind}", source)
    configuration = configured(tmp_path, {"main.tf": text, "terraform.tfvars": 'kind = "s3cret"\n'}, OPENTOFU)
    assert not configuration.complete
    assert "s3cret" not in repr(configuration)
    assert source in repr(configuration)


def test_the_version_of_a_registry_module(tmp_path: Path) -> None:
    text = (
        'locals {\n  release = "1.2.3"\n  host = "example.com"\n}\n'
        'module "m" {\n  source  = "${local.host}/acme/net/aws"\n  version = local.release\n}\n'
    )
    configuration = configured(tmp_path, {"main.tf": text})
    assert [(one.call, one.source, one.reason) for one in configuration.missing_modules] == [
        ("m", "${local.host}/acme/net/aws", "Module not installed")
    ]
    (remote,) = configuration.remote_modules
    assert (remote.version, remote.is_exact) == ("local.release", True)


@pytest.mark.parametrize(
    ("files", "environ"),
    [
        ({"main.tf": VARIABLE.replace('  default = "net"\n', "") + CALL}, {}),
        ({"main.tf": VARIABLE.replace('"net"', "null") + CALL}, {}),
        ({"main.tf": VARIABLE.replace('"net"', 'lower("NET")') + CALL}, {}),
        ({"main.tf": VARIABLE.replace("type    = string", "sensitive = true") + CALL}, {}),
        ({"main.tf": VARIABLE + CALL, "terraform.tfvars": "kind = lower(var.x)"}, {}),
        ({"main.tf": VARIABLE + CALL, "terraform.tfvars": "kind = {"}, {}),
        ({"main.tf": VARIABLE + CALL, "terraform.tfvars.json": '{"kind": "${upper(1)}"}'}, {}),
        ({"main.tf": VARIABLE + CALL, "x_override.tf": 'variable "kind" {\n  default = "web"\n}\n'}, {}),
        ({"main.tf": VARIABLE + CALL}, {"TF_CLI_ARGS_init": "-var=kind=web"}),
        ({"main.tf": VARIABLE + CALL.replace("var.kind", "path.module")}, {}),
        ({"main.tf": "locals {\n  a = local.b\n  b = local.a\n}\n" + CALL.replace("var.kind", "local.a")}, {}),
    ],
)
def test_what_cannot_be_told_is_unknown(tmp_path: Path, files: dict[str, str], environ: dict[str, str]) -> None:
    configuration = configured(tmp_path, files, OPENTOFU, environ)
    assert [one.reason for one in configuration.missing_modules] == ["Unable to compute static value"]
    assert not configuration.complete
    terraform = configured(tmp_path, files, TERRAFORM, environ)
    assert [problem.summary for problem in terraform.problems] == ["Variables not allowed"]
    assert required(terraform) == []


def test_terraform_takes_only_variables_that_are_constant(tmp_path: Path) -> None:
    files = {"main.tf": VARIABLE.replace("  const   = true\n", "") + CALL}
    assert not configured(tmp_path, files).complete
    assert required(configured(tmp_path, files, OPENTOFU)) == ["net"]


def test_a_child_knows_its_locals_and_not_its_variables(tmp_path: Path) -> None:
    files = {
        "main.tf": 'module "c" {\n  source = "./c"\n  kind = "web"\n}\n',
        "c/main.tf": VARIABLE + 'locals {\n  a = "web"\n}\nmodule "a" {\n  source = "../modules/${local.a}"\n}\n'
        'module "b" {\n  source = "../modules/${var.kind}"\n}\n',
    }
    configuration = configured(tmp_path, files, OPENTOFU)
    assert required(configuration) == ["web"]
    assert [one.call for one in configuration.missing_modules] == ["c.b"]


def test_nothing_else_is_evaluated(tmp_path: Path) -> None:
    text = 'locals {\n  a = "web"\n}\nresource "x_y" "z" {\n  provider = local.a\n}\nmodule "m" {\n  source = "./modules/${local.a}"\n}\n'
    configuration = configured(tmp_path, {"main.tf": text})
    assert required(configuration) == ["local", "web"]
