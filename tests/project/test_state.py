"""What the state still needs, which state that is, and what stops the tools.

JSON as Go reads it into structures; what the tools make of whole states is in tests/attacks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.project.configuration import Configuration, Contributor
from locklens.project.requirements import read_configuration
from locklens.project.state import JsonObject, read_json
from locklens.project.tree import WorkTree

TF = "registry.terraform.io"


def configured(
    folder: Path,
    files: dict[str, str],
    dialect: Dialect = TERRAFORM,
    root: str = "",
    environ: dict[str, str] | None = None,
) -> Configuration:
    for name, text in {f"{root}/main.tf".lstrip("/"): "", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    tree = WorkTree(folder)
    return read_configuration(tree, root, dialect=dialect, worktree=tree, environ=environ or {})


def resource(provider: str | None, mode: str = "managed", **more: Any) -> dict[str, Any]:
    own = {} if provider is None else {"provider": provider}
    return {"mode": mode, "type": "x_y", "name": "z", "instances": [], **own, **more}


def state(*resources: dict[str, Any], version: Any = 4) -> str:
    return json.dumps({"version": version, "resources": list(resources)}, indent=2)


def in_state(configuration: Configuration) -> list[str]:
    return [str(one.address) for one in configuration.requirements if one.contributor is Contributor.STATE]


def test_what_is_only_in_the_state_stays_required(tmp_path: Path) -> None:
    text = state(
        resource(f'provider["{TF}/acme/a"]'),
        resource(f'provider["{TF}/acme/a"].alias', name="w"),
        resource(f'module.m.module.n.provider["{TF}/acme/b"]', mode="data", module="module.m.module.n"),
        resource('provider["c"]'),
        resource('provider["ACME/D"]'),
        resource('provider["terraform.io/builtin/terraform"]'),
    )
    configuration = configured(tmp_path, {"terraform.tfstate": text})
    assert configuration.state.kind == "local"
    assert configuration.complete
    found = {str(one.address): (one.subject, one.file, one.constraint) for one in configuration.requirements}
    path = "terraform.tfstate"
    assert found == {
        f"{TF}/acme/a": ("x_y.z and 1 more", path, ""),
        f"{TF}/acme/b": ("module.m.module.n.data.x_y.z", path, ""),
        f"{TF}/hashicorp/c": ("x_y.z", path, ""),
        f"{TF}/acme/d": ("x_y.z", path, ""),
        "terraform.io/builtin/terraform": ("x_y.z", path, ""),
    }
    assert len(configuration.required()) == 4
    lines = text.splitlines()
    first = configuration.requirements[0]
    assert f"{TF}/acme/a" in lines[first.line - 1]
    assert path in configuration.files


@pytest.mark.parametrize(
    ("files", "environ", "expected"),
    [
        ({"terraform.tfstate": "a"}, {}, "a"),
        ({"main.tf": 'terraform {\n  backend "local" {}\n}', "terraform.tfstate": "a"}, {}, "a"),
        (
            {"main.tf": 'terraform {\n  backend "local" { path = "p/q" }\n}', "p/q": "a", "terraform.tfstate": "b"},
            {},
            "a",
        ),
        ({".terraform/environment": "dev\n", "terraform.tfstate.d/dev/terraform.tfstate": "a"}, {}, "a"),
        ({"data/environment": "dev", "terraform.tfstate.d/dev/terraform.tfstate": "a"}, {"TF_DATA_DIR": "data"}, "a"),
        (
            {".terraform/environment": "dev", "terraform.tfstate.d/prod/terraform.tfstate": "a"},
            {"TF_WORKSPACE": "prod"},
            "a",
        ),
        (
            {
                "main.tf": 'terraform {\n  backend "local" { workspace_dir = "w" }\n}',
                "w/prod/terraform.tfstate": "a",
                "terraform.tfstate": "b",
            },
            {"TF_WORKSPACE": "prod"},
            "a",
        ),
        ({".terraform/environment": "default", "terraform.tfstate": "a"}, {}, "a"),
        ({"terraform.tfstate": ""}, {}, None),
        ({}, {}, None),
    ],
)
def test_which_state_is_read(
    tmp_path: Path, files: dict[str, str], environ: dict[str, str], expected: str | None
) -> None:
    contents = {
        f"r/{name}": state(resource(f'provider["acme/{text}"]')) if text in ("a", "b") else text
        for name, text in files.items()
    }
    configuration = configured(tmp_path, contents, root="r", environ=environ)
    assert in_state(configuration) == ([] if expected is None else [f"{TF}/acme/{expected}"])
    assert configuration.state.kind == ("none" if expected is None else "local")


@pytest.mark.parametrize(
    ("files", "environ", "expected"),
    [
        ({"terraform.tfstate.d/dev/terraform.tfstate": "a"}, {}, {"dev": "a"}),
        ({"terraform.tfstate.d/dev/terraform.tfstate": "a", "terraform.tfstate": "b"}, {}, {"dev": "a"}),
        (
            {"terraform.tfstate.d/dev/terraform.tfstate": "a", "terraform.tfstate": "b"},
            {"TF_WORKSPACE": "dev"},
            {"default": "b"},
        ),
        (
            {"w/dev/terraform.tfstate": "a", "b.tf": 'terraform {\n  backend "local" { workspace_dir = "w" }\n}'},
            {},
            {"dev": "a"},
        ),
        ({"terraform.tfstate.d/dev/terraform.tfstate": "a", "b.tf": 'terraform {\n  backend "s3" {}\n}'}, {}, {}),
    ],
)
def test_states_of_other_workspaces_are_named_and_require_nothing(
    tmp_path: Path, files: dict[str, str], environ: dict[str, str], expected: dict[str, str]
) -> None:
    contents = {
        f"r/{name}": state(resource(f'provider["acme/{text}"]')) if text in ("a", "b") else text
        for name, text in files.items()
    }
    configured(tmp_path, contents, root="r")
    tree = WorkTree(tmp_path)
    known = read_configuration(tree, "r", dialect=TERRAFORM, worktree=tree, environ=environ, has_workspaces=True)
    assert {name: one.address.type for name, (one,) in known.workspaces.items()} == expected
    for name, (one,) in known.workspaces.items():
        assert not known.requires(one.address)
        assert known.workspace_of(one.address) == name
        assert f"TF_WORKSPACE={name} selects ({one.file})" in known.unknown_need(one.address)
    assert known.unread_workspaces == ()


@pytest.mark.parametrize(
    ("settings", "word"),
    [('backend "s3" {}', '"s3"'), ("cloud {}", "HCP Terraform"), ('backend "remote" {}', '"remote"')],
)
def test_a_state_elsewhere_is_unknown(tmp_path: Path, settings: str, word: str) -> None:
    files = {"main.tf": f"terraform {{\n  {settings}\n}}", "terraform.tfstate": state(resource('provider["a"]'))}
    configuration = configured(tmp_path, files)
    assert configuration.state.kind == "remote"
    assert word in configuration.state.detail
    assert configuration.requirements == ()
    assert not configuration.complete


def test_an_unread_state_of_another_workspace_leaves_open_what_is_required(tmp_path: Path) -> None:
    known = configured(tmp_path, {"terraform.tfstate.d/dev/terraform.tfstate": "{"})
    address = TERRAFORM.parse_source("acme/a")
    assert known.unknown_need(address) == ""
    tree = WorkTree(tmp_path)
    known = read_configuration(tree, "", dialect=TERRAFORM, worktree=tree, has_workspaces=True)
    words = "the state of another workspace cannot be read (terraform.tfstate.d/dev/terraform.tfstate)"
    assert known.unknown_need(address) == words


POINTER = json.dumps({"version": 3, "backend": {"type": "s3", "config": {}, "hash": 1}})


@pytest.mark.parametrize(
    ("files", "environ"),
    [
        ({".terraform/terraform.tfstate": POINTER}, {}),
        ({".terraform/terraform.tfstate": "{"}, {}),
        ({}, {"TF_DATA_DIR": "/elsewhere"}),
        ({"main.tf": 'terraform {\n  backend "local" { path = "../../x" }\n}'}, {}),
        ({"main.tf": 'terraform {\n  backend "local" { path = "/x" }\n}'}, {}),
        ({"main.tf": 'terraform {\n  backend "local" { path = var.x }\n}'}, {}),
        ({"terraform.tfstate": "{"}, {}),
        ({"terraform.tfstate": "[]"}, {}),
        ({"terraform.tfstate": "{}"}, {}),
        ({"terraform.tfstate": state(version=5)}, {}),
        ({"terraform.tfstate": state(version=True)}, {}),
        ({"terraform.tfstate": state(resource('provider["a"]', mode="list"))}, {}),
        ({"terraform.tfstate": state(resource("provider.a"))}, {}),
        ({"terraform.tfstate": state(resource("module.m.provider.a.b"))}, {}),
        ({"terraform.tfstate": state(resource(f'provider["{TF}/-/a"]'))}, {}),
        ({"terraform.tfstate": json.dumps({"version": 3, "modules": [{"resources": {"a.b": {}}}]})}, {}),
        ({"terraform.tfstate": json.dumps({"version": 4, "resources": [1]})}, {}),
        ({"terraform.tfstate": "[" * 100_000}, {}),
    ],
)
@pytest.mark.parametrize("dialect", [TERRAFORM, OPENTOFU], ids=lambda dialect: dialect.name)
def test_a_state_that_stops_the_tools_is_unreadable(
    tmp_path: Path, files: dict[str, str], environ: dict[str, str], dialect: Dialect
) -> None:
    if f"{TF}/-/a" in str(files) and dialect is OPENTOFU:
        files = {name: text.replace(TF, dialect.default_host) for name, text in files.items()}
    configuration = configured(tmp_path, {"main.tf": 'provider "still" {}', **files}, dialect, environ=environ)
    assert configuration.state.kind == "unreadable"
    assert configuration.state.detail
    assert in_state(configuration) == []
    assert not configuration.complete


def test_an_old_state_without_resources_is_fine(tmp_path: Path) -> None:
    text = json.dumps({"version": 3, "modules": [{"path": ["root"], "resources": {}}]})
    assert configured(tmp_path, {"terraform.tfstate": text}).state.kind == "local"


@pytest.mark.parametrize(
    "provider",
    [
        'module.m[0].provider["a"]',
        'module.m["k"].provider["a"]',
        "garbage",
        'provider["a b"]',
        'provider["a"].alias["k"]',
        'provider["a"]["b"]',
        'provider["a"].b.c',
        "",
        None,
    ],
)
def test_terraform_drops_what_it_cannot_read_and_opentofu_stops(tmp_path: Path, provider: str | None) -> None:
    files = {"terraform.tfstate": state(resource(provider), resource('provider["kept"]'))}
    terraform = configured(tmp_path, files)
    assert in_state(terraform) == [f"{TF}/hashicorp/kept"]
    assert terraform.complete
    assert configured(tmp_path, files, OPENTOFU).state.kind == "unreadable"


OT = "registry.opentofu.org"


@pytest.mark.parametrize(
    ("own", "instances", "expected"),
    [
        (f'provider["{OT}/a/b"]', [{}], f"{OT}/a/b"),
        (f'provider["{OT}/a/b"]', [{"provider": f'provider["{OT}/a/c"]'}], f"{OT}/a/c"),
        (None, [{"provider": f'provider["{OT}/a/c"].x["k"]'}] * 2, f"{OT}/a/c"),
        (None, [{"provider": f'provider["{OT}/a/c"]'}, {}], None),
        (None, [{"provider": f'provider["{OT}/a/c"]'}, {"provider": f'provider["{OT}/a/d"]'}], None),
        (None, [{}], None),
    ],
)
def test_opentofu_lets_instances_name_a_provider(
    tmp_path: Path, own: str | None, instances: list[dict[str, str]], expected: str | None
) -> None:
    files = {"terraform.tfstate": state(resource(own, instances=instances))}
    configuration = configured(tmp_path, files, OPENTOFU)
    assert in_state(configuration) == ([expected] if expected else [])
    assert configuration.state.kind == ("local" if expected else "unreadable")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, [f"{OT}/acme/a", f"{TF}/acme/kept", "example.com/acme/a"]),
        ("false", [f"{OT}/acme/a", f"{TF}/acme/kept", "example.com/acme/a"]),
        ("0", [f"{TF}/acme/a", f"{TF}/acme/kept", "example.com/acme/a"]),
    ],
)
def test_opentofu_translates_addresses_that_nothing_requires(
    tmp_path: Path, value: str | None, expected: list[str]
) -> None:
    text = state(
        *(resource(f'provider["{name}"]') for name in (f"{TF}/acme/a", f"{TF}/acme/kept", "example.com/acme/a"))
    )
    settings = f'terraform {{\n  required_providers {{\n    kept = {{ source = "{TF}/acme/kept" }}\n  }}\n}}'
    environ = {} if value is None else {"OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION": value}
    files = {"main.tf": settings, "terraform.tfstate": text}
    assert in_state(configured(tmp_path, files, OPENTOFU, environ=environ)) == expected


def test_without_a_work_tree_the_state_of_the_side_counts(tmp_path: Path) -> None:
    configured(tmp_path, {"terraform.tfstate": state(resource('provider["a"]'))})
    configuration = read_configuration(WorkTree(tmp_path), "", dialect=TERRAFORM)
    assert configuration.state.kind == "local"
    configuration = read_configuration(WorkTree(tmp_path), "", dialect=TERRAFORM, for_locking=True)
    assert configuration.state.kind == "none"
    assert in_state(configuration) == []


def fields(text: str | bytes, *names: str) -> dict[str, object]:
    found = read_json(text if isinstance(text, bytes) else text.encode())
    assert isinstance(found, JsonObject)
    return found.fields(frozenset(names))


@pytest.mark.parametrize(
    ("key", "is_field"),
    [
        ("resources", True),
        ("RESOURCES", True),
        ("re\u017fource\u017f", True),
        ("\\u0072esources", True),
        ("resource\u00df", False),
        ("resources ", False),
        ("resource", False),
    ],
)
def test_names_of_fields_match_in_any_case(key: str, *, is_field: bool) -> None:
    assert fields(f'{{"{key}": "x"}}', "resources") == ({"resources": "x"} if is_field else {})


def test_the_kelvin_sign_is_a_k() -> None:
    assert fields('{"bac\u212aend": true}', "backend") == {"backend": True}


def test_a_field_that_is_null_is_none() -> None:
    assert fields('{"a": null, "b": null, "b": 1}', "a") == {}


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": 1, "A": 2}', '{"a": 1, "A": null}'])
def test_a_field_that_stands_twice_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="twice"):
        fields(text, "a")


def test_names_that_are_no_fields_may_stand_twice() -> None:
    assert fields('{"a": {"x": 1, "x": 2}, "b": 1, "B": 2}', "a")["a"] == (("x", 1), ("x", 2))


def test_numbers_of_any_length_and_bad_bytes_are_read() -> None:
    assert read_json(b"1" * 6000) == float("inf")
    assert read_json(b"[4, -1, 4.0, 1e999]") == [4, -1, 4.0, float("inf")]
    assert read_json(b'"a\xffb"') == "a\ufffdb"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"NaN",
        b"[Infinity]",
        b'"\x01"',
        b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"),
        b"{} x",
        b"01",
        b"[" * 9000,
    ],
)
def test_what_is_no_json_is_an_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"JSON|nested"):
        read_json(data)
