"""What creates a requirement: blocks, test files, state; built-in providers and addresses of old."""

from __future__ import annotations

import json
from functools import partial

from conformance.case import LOCK_FILE, Case, Deviation, Entry, Files, Lock, Theme, calls, init, lock, requires

DEMO = requires(("acme/demo", "~> 1.0"))
RUN = 'run "a" {\n  module {\n    source = "./tests/setup"\n  }\n}\n'

_by = partial(Case, theme=Theme.REQUIREMENTS)
REQUIREMENTS = (
    _by(name="nothing", files={"main.tf": 'output "x" {\n  value = 1\n}\n'}),
    _by(name="no-files", files={}, turns=(init(),)),
    _by(name="no-files-but-a-lock", files={LOCK_FILE: Lock((Entry("acme/demo", "1.0.0"),))}),
    _by(name="no-files-for-lock", files={}, turns=(lock(),)),
    _by(name="no-files-but-a-lock-for-lock", files={LOCK_FILE: Lock((Entry("acme/demo", "1.0.0"),))}, turns=(lock(),)),
    _by(name="resource", files={"main.tf": 'resource "null_resource" "x" {}\n'}),
    _by(name="data", files={"main.tf": 'data "null_data_source" "x" {}\n'}),
    _by(name="ephemeral", files={"main.tf": 'ephemeral "random_password" "x" {}\n'}),
    _by(name="data-in-check", files={"main.tf": 'check "c" {\n  data "null_data_source" "x" {}\n  assert {\n'
        '    condition     = data.null_data_source.x.id != ""\n    error_message = "x"\n  }\n}\n'}),
    _by(name="provider-block", files={"main.tf": 'provider "null" {\n  alias = "a"\n}\n'}),
    _by(name="provider-version", files={"main.tf": 'provider "null" {\n  version = "~> 3.1.0"\n}\n'}),
    _by(name="quoted-provider", files={"main.tf": DEMO + 'resource "x_y" "z" {\n  provider = "demo"\n}\n'}),
    _by(name="type-in-capitals", files={"main.tf": 'resource "NULL_resource" "x" {}\n'}),
    _by(name="moved-and-removed", files={"main.tf": DEMO + "moved {\n  from = null_a.x\n  to   = null_b.x\n}\n"
        "removed {\n  from = random_a.x\n  lifecycle {\n    destroy = false\n  }\n}\n"}),
    _by(name="import", files={"main.tf": 'import {\n  to = null_resource.x\n  id = "1"\n}\n'}),
    _by(name="import-of-a-resource", files={"main.tf": 'import {\n  to = null_resource.x\n  id = "1"\n}\n'
        'resource "null_resource" "x" {\n  provider = random\n}\n'}),
    _by(name="variable-declared-twice", files={"main.tf": DEMO + 'variable "x" {}\nvariable "x" {}\n'},
        deviation=Deviation.UNJUDGED, tools=("terraform",)),
    _by(name="broken-expression-elsewhere", files={"main.tf": DEMO + "locals {\n  x = 1 +* 2\n}\n"},
        deviation=Deviation.UNJUDGED, tools=("terraform",)),
    _by(name="import-twice", files={"main.tf": DEMO + 'import {\n  to = null_resource.x\n  id = "1"\n}\n' * 2},
        deviation=Deviation.UNJUDGED, tools=("terraform",)),
    _by(name="provider-function", files={"main.tf": DEMO + 'output "x" {\n  value = provider::null::f()\n}\n'}),
    _by(name="legacy-string", files={"main.tf": 'terraform {\n  required_providers {\n    null = "~> 3.1"\n  }\n}\n'}),
    _by(name="empty-object", files={"main.tf": "terraform {\n  required_providers {\n    null = {}\n  }\n}\n"}),
    _by(name="source-with-host-and-capitals", files={"main.tf": requires(("@HOST@:443/Acme/Demo", ""))
        .replace("Demo = {", "demo = {")}),
    _by(name="one-word-source", files={"main.tf": requires(("null", "< 3.2"))}),
    _by(name="bad-source", files={"main.tf": requires(("a//b", ""))}),
    _by(name="redundant-prefix", files={"main.tf": requires(("acme/terraform-provider-demo", ""))}),
    _by(name="unknown-provider", files={"main.tf": requires(("acme/nothing", ""), ("acme/demo", "1.0.0"))}),
    _by(name="unknown-implied-provider", files={"main.tf": DEMO + 'resource "demoo_x" "y" {}\n'}),
    _by(name="implied-and-required-elsewhere", files={"main.tf": DEMO + calls("m", "./m"),
        "m/main.tf": 'resource "demo_x" "y" {}\n'}),
    _by(name="two-owners-of-one-type", files={"main.tf": DEMO + calls("m", "./m"),
        "m/main.tf": requires(("corp/demo", ""))}),
)  # fmt: skip

_test = partial(Case, theme=Theme.TEST_FILES)
TEST_FILES = (
    _test(
        name="module-of-a-run",
        files={
            "main.tf": DEMO,
            "tests/a.tftest.hcl": RUN,
            "tests/setup/main.tf": requires(("acme/other", "< 1.1"), ("acme/demo", "< 1.2")),
        },
    ),
    _test(
        name="module-of-a-run-for-lock",
        files={"main.tf": DEMO, "tests/a.tftest.hcl": RUN, "tests/setup/main.tf": requires(("acme/other", ""))},
        turns=(lock(),),
    ),
    _test(
        name="in-the-root-and-elsewhere",
        files={
            "main.tf": DEMO,
            "a.tftest.hcl": RUN.replace("tests/setup", "one"),
            "checks/b.tftest.json": '{"run":{"b":{"module":{"source":"./two"}}}}',
            "tests/c.tftest.hcl": RUN,
            "one/main.tf": requires(("acme/other", "")),
            "two/main.tf": requires(("acme/third", "")),
        },
        turns=(init("-test-directory=checks"),),
    ),
    _test(name="provider-block", files={"main.tf": DEMO, "tests/a.tftest.hcl": 'provider "null" {}\nrun "a" {}\n'}),
    _test(name="mock-provider", files={"main.tf": DEMO, "tests/a.tftest.hcl": 'mock_provider "null" {}\nrun "a" {}\n'}),
    _test(name="syntax-error", files={"main.tf": DEMO, "tests/a.tftest.hcl": "run {\n"}),
    _test(name="syntax-error-for-lock", files={"main.tf": DEMO, "tests/a.tftest.hcl": "run {\n"}, turns=(lock(),)),
    _test(name="nothing-else", files={"a.tftest.hcl": RUN}),
    _test(
        name="of-a-child", files={"main.tf": calls("m", "./m"), "m/main.tf": DEMO, "m/tests/a.tftest.hcl": "run {\n"}
    ),
)


def state(*resources: tuple[str, list[object]], version: int = 4) -> str:
    """Returns a state with resources of (provider address as it stands there, instances)."""
    listed = [
        {"mode": "managed", "type": f"x_{number}", "name": "y", "provider": provider, "instances": instances}
        for number, (provider, instances) in enumerate(resources)
    ]
    head: dict[str, object] = {"version": version, "terraform_version": "1.5.0", "serial": 1, "lineage": "x"}
    return json.dumps({**head, "outputs": {}, "resources": listed})


ONE: list[object] = [{"schema_version": 0, "attributes": {}}]
THIRD = 'provider["@HOST@/acme/third"]'


def _with_state(text: str, path: str = "terraform.tfstate") -> Files:
    return {"main.tf": DEMO, path: text}


_state = partial(Case, theme=Theme.STATE)
STATES = (
    _state(name="requires", files=_with_state(state((THIRD, ONE)))),
    _state(name="requires-for-lock", files=_with_state(state((THIRD, ONE))), turns=(lock(),)),
    _state(name="no-instances", files=_with_state(state((THIRD, [])))),
    _state(name="in-a-module-with-alias", files=_with_state(state((f"module.a.module.b.{THIRD}.west", ONE)))),
    _state(name="short-source", files=_with_state(state(('provider["null"]', ONE)))),
    _state(
        name="keeps-what-the-configuration-dropped",
        files=_with_state(state((THIRD, ONE))) | {"main.tf": requires(("acme/demo", "~> 1.0"), ("acme/third", "1.0.0"))},
        turns=(init(), init(files={"main.tf": DEMO}), init("-upgrade")),
    ),
    _state(name="other-host", files=_with_state(state(('provider["@OTHER@/acme/third"]', ONE))),
           catalog={"acme/demo": ("1.0.0",), "acme/third": ("1.0.0",), "@OTHER@/acme/third": ("1.0.0", "1.1.0")}),
    _state(name="empty-file", files=_with_state("")),
    _state(name="no-json", files=_with_state("{")),
    _state(name="future-version", files=_with_state(state((THIRD, ONE), version=5))),
    _state(name="module-with-an-index", files=_with_state(state((f"module.a[0].{THIRD}", ONE)))),
    _state(name="garbage-address", files=_with_state(state(("garbage", ONE)))),
    _state(
        name="of-a-workspace",
        files=_with_state(state((THIRD, ONE)), "terraform.tfstate.d/prod/terraform.tfstate"),
        environment={"TF_WORKSPACE": "prod"},
    ),
    _state(
        name="of-another-workspace",
        files=_with_state(state((THIRD, ONE)), "terraform.tfstate.d/prod/terraform.tfstate"),
    ),
    _state(
        name="where-the-backend-says",
        files={
            "main.tf": DEMO + 'terraform {\n  backend "local" {\n    path = "elsewhere/my.tfstate"\n  }\n}\n',
            "elsewhere/my.tfstate": state((THIRD, ONE)),
        },
    ),
    _state(name="without-backend", files=_with_state(state((THIRD, ONE))), turns=(init("-backend=false"),)),
)  # fmt: skip

_legacy = partial(Case, theme=Theme.LEGACY)
LEGACY = (
    _legacy(name="in-the-state", files=_with_state(state(("provider.null", ONE)))),
    _legacy(name="in-the-state-in-full", files=_with_state(state(('provider["@HOST@/-/null"]', ONE)))),
    _legacy(name="in-the-configuration", files={"main.tf": requires(("-/null", ""))}),
    _legacy(
        name="in-the-lock", files={"main.tf": DEMO, LOCK_FILE: 'provider "@HOST@/-/null" {\n  version = "3.1.0"\n}\n'}
    ),
)

_built_in = partial(Case, theme=Theme.BUILT_IN)
BUILT_IN = (
    _built_in(name="resource", files={"main.tf": DEMO + 'resource "terraform_data" "x" {}\n'}),
    _built_in(name="alone", files={"main.tf": 'resource "terraform_data" "x" {}\n'}),
    _built_in(name="alone-for-lock", files={"main.tf": 'resource "terraform_data" "x" {}\n'}, turns=(lock(),)),
    _built_in(name="required", files={"main.tf": requires(("terraform.io/builtin/terraform", ""))}),
    _built_in(name="with-a-version", files={"main.tf": requires(("terraform.io/builtin/terraform", "1.0.0"))}),
    _built_in(name="unknown", files={"main.tf": requires(("terraform.io/builtin/foo", ""))}),
    _built_in(name="of-the-other-tool", files={"main.tf": requires(("opentofu.org/builtin/terraform", ""))}),
    _built_in(
        name="locked",
        files={
            "main.tf": DEMO,
            LOCK_FILE: 'provider "terraform.io/builtin/terraform" {\n  version = "1.0.0"\n}\n',
        },
    ),
    _built_in(name="name-that-is-a-provider", files={"main.tf": requires(("terraform", ""))},
              catalog={"hashicorp/terraform": ("1.0.0",)}),
)  # fmt: skip

_newest = partial(Case, theme=Theme.NEWEST)
ACTION = 'action "null_x" "y" {\n  config {\n    a = 1\n  }\n}\n'
IMPORTING = 'import {\n  to = null_resource.x\n  id = "1"\n}\n'
COMPUTED = 'variable "kind" {\n  default = "null"\n}\nlocals {\n  place = "./m/${var.kind}"\n}\n' + calls(
    "m", ""
).replace('""', "local.place")
CHILDREN = {f"m/{name}/main.tf": f'provider "{name}" {{}}\n' for name in ("null", "random")}
NEWEST = (
    _newest(name="action", files={"main.tf": DEMO + ACTION}, deviation=Deviation.NEWER, tools=("terraform",)),
    _newest(name="action-for-lock", files={"main.tf": DEMO + ACTION}, turns=(lock(),), deviation=Deviation.NEWER,
            tools=("terraform",)),
    _newest(name="action-where-there-are-none", files={"main.tf": DEMO + ACTION}, tools=("opentofu",)),
    _newest(name="import-in-a-module", files={"main.tf": DEMO + calls("m", "./m"), "m/main.tf": IMPORTING},
            deviation=Deviation.NEWER, tools=("terraform",)),
    _newest(name="import-in-a-module-where-it-is-none", files={"main.tf": DEMO + calls("m", "./m"),
            "m/main.tf": IMPORTING}, tools=("opentofu",)),
    _newest(name="list-beside-resources", files={"main.tf": DEMO + 'list "null_x" "y" {\n  provider = null\n}\n'}),
    _newest(name="block-that-no-tool-knows", files={"main.tf": DEMO + 'future "null_x" "y" {}\n'}),
    _newest(name="files-of-other-commands", files={
        "main.tf": DEMO,
        "a.tfquery.hcl": 'list "null_x" "y" {\n  provider = null\n}\n',
        "a.tfmigrate.hcl": 'state_store_provider "null" {}\n',
        "a.tfcomponent.hcl": "required_providers {\n  random = {}\n}\n",
        "a.tfdeploy.hcl": "deployment {",
        "a.tfmock.hcl": "mock_resource {",
    }),
    _newest(name="source-with-a-variable", files={"main.tf": DEMO + COMPUTED, **CHILDREN}, tools=("opentofu",)),
    _newest(name="source-with-a-given-variable", files={"main.tf": DEMO + COMPUTED,
            "terraform.tfvars": 'kind = "random"\n', **CHILDREN}, tools=("opentofu",)),
    _newest(name="source-with-a-given-variable-for-lock", files={"main.tf": DEMO + COMPUTED,
            "x.auto.tfvars": 'kind = "random"\n', **CHILDREN}, turns=(init(), lock()), tools=("opentofu",)),
    _newest(name="for-each-of-a-provider", files={"main.tf": DEMO + 'provider "null" {\n  alias    = "a"\n'
        '  for_each = toset(["x"])\n}\nresource "null_resource" "x" {\n  for_each = toset(["x"])\n'
        '  provider = null.a[each.key]\n}\nresource "null_resource" "y" {\n  lifecycle {\n    enabled = true\n  }\n}\n'},
        tools=("opentofu",)),
)  # fmt: skip

CASES = (*REQUIREMENTS, *TEST_FILES, *STATES, *LEGACY, *BUILT_IN, *NEWEST)
