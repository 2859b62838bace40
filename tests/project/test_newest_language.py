"""What the newest Terraform and OpenTofu read, and the pinned ones not yet: none of it hides what is required."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from kit.repositories import put

from locklens.addresses import normalise_namespace
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.project.configuration import Configuration, Contributor
from locklens.project.requirements import read_configuration
from locklens.project.tree import WorkTree

ACTIONS = """\
resource "aws_instance" "web" {
  ami                 = "ami-1"
  password_wo         = ephemeral.random_password.db.result
  password_wo_version = 1

  lifecycle {
    destroy = false
    action_trigger {
      events     = [before_destroy, after_create]
      condition  = var.alert
      actions    = [action.aws_sns_publish.told, action.http_call.hook["a"]]
      on_failure = continue
    }
  }
}

ephemeral "random_password" "db" {
  length = 16
}

action "aws_sns_publish" "told" {
  config {
    topic   = aws_sns_topic.alarms.arn
    message = caller.id
  }
}

action "http_call" "hook" {
  provider = web.eu
  for_each = toset(["a"])
}

variable "alert" {
  type       = bool
  const      = true
  deprecated = "no longer asked"
}

output "web" {
  type  = string
  value = aws_instance.web.id
}
"""

FILES_OF_OTHER_COMMANDS = {
    "find.tfquery.hcl": 'list "aws_instance" "all" {\n  provider = elsewhere\n  config {\n    region = "eu"\n  }\n}\n'
    'provider "query" {}\n',
    "broken.tfquery.json": "{",
    "move.tfmigrate.hcl": 'state_store_provider "store" {\n  source = "acme/store"\n}\nfrom {\n  backend "s3" {}\n}\n',
    "net.tfcomponent.hcl": 'required_providers {\n  stack = { source = "acme/stack" }\n}\ncomponent "net" {\n'
    '  source = "./net"\n  providers = { stack = provider.stack.this }\n}\nremoved {\n  from = component.old\n}\n',
    "all.tfdeploy.hcl": 'deployment "eu" {\n  inputs = {}\n}\norchestrate "auto_approve" "x" {}\n',
    "old.tfstack.hcl": "stack {",
    "mocks/aws.tfmock.hcl": 'mock_resource "aws_instance" {\n  defaults = {}\n}\n',
}


def configured(folder: Path, files: dict[str, str], dialect: Dialect = TERRAFORM) -> Configuration:
    put(folder, files)
    tree = WorkTree(folder)
    return read_configuration(tree, "", dialect=dialect, worktree=tree)


def errors(configuration: Configuration) -> list[str]:
    return [f"{one.file}:{one.line} {one.summary}" for one in configuration.problems if one.is_error]


def required(configuration: Configuration) -> list[str]:
    return [one.short(configuration.dialect.default_host) for one in sorted(configuration.required())]


def test_an_action_requires_its_provider(tmp_path: Path) -> None:
    configuration = configured(tmp_path, {"main.tf": ACTIONS})
    assert errors(configuration) == []
    assert configuration.complete
    found = [(one.address.type, one.contributor, one.subject, one.line) for one in configuration.requirements]
    assert found == [
        ("aws", Contributor.RESOURCE, "aws_instance.web", 1),
        ("random", Contributor.EPHEMERAL, "ephemeral.random_password.db", 17),
        ("aws", Contributor.ACTION, "action.aws_sns_publish.told", 21),
        ("web", Contributor.ACTION, "action.http_call.hook", 28),
    ]


def test_an_action_in_json(tmp_path: Path) -> None:
    document = {"action": {"aws_a": {"b": {"config": {"x": 1}}}, "q_a": {"b": {"provider": "web.eu"}}}}
    configuration = configured(tmp_path, {"main.tf.json": json.dumps(document)})
    assert errors(configuration) == []
    assert required(configuration) == ["hashicorp/aws", "hashicorp/web"]


def test_opentofu_has_no_actions(tmp_path: Path) -> None:
    configuration = configured(tmp_path, {"main.tf": 'action "aws_a" "b" {}\n'}, OPENTOFU)
    assert errors(configuration) == ["main.tf:1 Unsupported block type"]
    assert required(configuration) == []


def test_actions_are_unique_and_overridden_like_resources(tmp_path: Path) -> None:
    files = {
        "main.tf": 'action "aws_a" "b" {}\naction "aws_a" "b" {}\nresource "aws_a" "b" {}\n',
        "main_override.tf": 'action "aws_a" "b" {\n  provider = other\n}\naction "aws_a" "none" {}\n',
    }
    configuration = configured(tmp_path, files)
    assert errors(configuration) == [
        'main.tf:2 Duplicate action "aws_a" configuration',
        "main_override.tf:4 Missing resource to override",
    ]
    assert required(configuration) == ["hashicorp/aws", "hashicorp/other"]
    hidden = [one.overrides.line for one in configuration.requirements if one.overrides is not None]
    assert hidden == [1]


@pytest.mark.parametrize("dialect", [TERRAFORM, OPENTOFU], ids=lambda dialect: dialect.name)
def test_files_of_other_commands_say_nothing_here(tmp_path: Path, dialect: Dialect) -> None:
    files = {"main.tf": 'resource "aws_instance" "web" {}\n', **FILES_OF_OTHER_COMMANDS}
    configuration = configured(tmp_path, files, dialect)
    assert errors(configuration) == []
    assert configuration.complete
    assert required(configuration) == ["hashicorp/aws"]
    assert configuration.files == ("main.tf",)


@pytest.mark.parametrize("dialect", [TERRAFORM, OPENTOFU], ids=lambda dialect: dialect.name)
def test_lists_and_blocks_that_no_tool_knows_are_errors(tmp_path: Path, dialect: Dialect) -> None:
    text = 'list "aws_instance" "all" {\n  provider = aws\n}\nfuture "x" {}\nresource "a_b" "c" {}\n'
    configuration = configured(tmp_path, {"main.tf": text}, dialect)
    unknown = ["main.tf:1 Unsupported block type", "main.tf:4 Unsupported block type"]
    assert errors(configuration) == unknown
    assert required(configuration) == ["hashicorp/a"]
    assert not configuration.complete
    assert configuration.unknown_reason == "the configuration has an error (main.tf:1)"


def test_imports_in_child_modules(tmp_path: Path) -> None:
    child = (
        'import {\n  to = aws_a.kept\n  identity = { id = "1" }\n}\nimport {\n  to = new_b.made\n  id = "1"\n}\n'
        'resource "aws_a" "kept" {\n  provider = other\n}\n'
    )
    files = {"main.tf": 'module "m" { source = "./m" }\n', "m/main.tf": child}
    configuration = configured(tmp_path, files)
    assert errors(configuration) == []
    assert required(configuration) == ["hashicorp/new", "hashicorp/other"]
    found = [(one.module, one.file, one.line, one.subject) for one in configuration.requirements]
    assert ("m", "m/main.tf", 5, "import of new_b.made") in found
    refused = [f"m/main.tf:{line} Invalid import configuration" for line in (1, 5)]
    assert errors(configured(tmp_path, {}, OPENTOFU)) == refused


def test_what_opentofu_added(tmp_path: Path) -> None:
    text = """\
language {
  edition = tofu2024
  compatible_with {
    opentofu = ">= 1.12"
  }
}
provider "aws" {
  alias    = "by_region"
  for_each = toset(["eu", "us"])
  region   = each.key
}
resource "aws_a" "b" {
  for_each = toset(["eu", "us"])
  provider = aws.by_region[each.key]
}
ephemeral "vault_secret" "s" {
  lifecycle { enabled = true }
}
import {
  for_each = {}
  to       = aws_a.b[each.key]
  identity = { id = each.value }
}
removed {
  from = old_a.b
}
"""
    files = {"main.tf": "nothing that can be read", "main.tofu": text, "all.tofutest.hcl": 'mock_provider "m" {}\n'}
    configuration = configured(tmp_path, files, OPENTOFU)
    assert errors(configuration) == []
    assert required(configuration) == ["hashicorp/aws", "hashicorp/vault"]


def test_a_test_file_of_today(tmp_path: Path) -> None:
    text = """\
test {
  parallel = true
}
variable "region" {
  default = "eu"
}
mock_provider "aws" {
  source          = "./mocks"
  override_during = plan
}
run "setup" {
  parallel  = true
  state_key = "x"
  module {
    source = "./setup"
  }
}
run "cleanup" {
  skip_cleanup = true
  backend "local" {}
}
"""
    files = {"main.tf": "", "a.tftest.hcl": text, "setup/main.tf": 'action "set_up" "x" {}\n'}
    configuration = configured(tmp_path, files)
    assert errors(configuration) == []
    assert required(configuration) == ["hashicorp/set"]


@pytest.mark.parametrize(
    ("text", "normal"),
    [("my_org", "my_org"), ("Org_Name", "org_name"), ("a__b", "a__b"), ("a-b_c", "a-b_c"), ("acme", "acme")],
)
def test_namespaces_with_underscores(text: str, normal: str) -> None:
    assert normalise_namespace(text) == normal


@pytest.mark.parametrize("text", ["_a", "a_", "_", "a--b_c", "-a_b", "a_b-", "a_b.c", "a_b/c", "ä_b", "a_\uff0fb", ""])
def test_what_is_no_namespace(text: str) -> None:
    with pytest.raises(ValueError, match=r"must|dots|dashes"):
        normalise_namespace(text)


def test_a_source_with_an_underscore_in_its_namespace(tmp_path: Path) -> None:
    text = 'terraform {\n  required_providers {\n    kube = { source = "app.terraform.io/My_Org/kube" }\n  }\n}\n'
    configuration = configured(tmp_path, {"main.tf": text})
    assert errors(configuration) == []
    assert required(configuration) == ["app.terraform.io/my_org/kube"]
    assert errors(configured(tmp_path, {}, OPENTOFU)) == ["main.tf:3 Invalid provider namespace"]


@pytest.mark.skipif(shutil.which("terraform") is None, reason="needs the real terraform on PATH")
def test_the_real_terraform_passes_over_the_same_files(tmp_path: Path) -> None:
    files = {"main.tf": 'resource "terraform_data" "web" {}\n', **FILES_OF_OTHER_COMMANDS}
    assert configured(tmp_path, files).complete
    environ = {**os.environ, "TF_CLI_CONFIG_FILE": os.devnull}
    command = ["terraform", "init", "-no-color"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, text=True, env=environ)
    assert done.returncode == 0, done.stderr
