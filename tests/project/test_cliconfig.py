"""Which CLI configuration is read, what is in it, and that nothing in it stops a run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.project.cliconfig import CliConfig, HelperBlock, RegistryProtocols, Token, read_cli_config
from locklens.project.clifiles import find_helper
from locklens.project.installation import InstallationMethod, MethodKind, ProviderPattern

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the places are Unix's")

NATIVE = """
# the company's
host "Reg.ACME.test:443" { services = { "providers.v1" = "http://127.0.0.1/v1/", "n" = 1 } }
credentials "app.terraform.io" {
  token = "a\\u0041"
}
credentials "b.test" {}
credentials_helper "vault" { args = ["--x", "y",] }
plugin_cache_dir   = "$CACHE/${SUB}/x$NOT"
disable_checkpoint = true
provider_installation {
  dev_overrides {
    "hashicorp/aws" = "/home/me/aws"
  }
  network_mirror { url = "https://m/" include = ["*/*"] }
  direct {}
}
"""


def config(folder: Path, text: str, *, name: str = "cli.tfrc", **environ: str) -> CliConfig:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_cli_config(TERRAFORM, {"TF_CLI_CONFIG_FILE": str(path), **environ})


def problems(found: CliConfig) -> list[str]:
    return [str(one).partition("/cli.tfrc")[2] for one in found.problems]


def test_everything_of_a_file(tmp_path: Path) -> None:
    found = config(tmp_path, NATIVE, CACHE="/c", SUB="s")
    assert found.problems == ()
    assert found.services == {"reg.acme.test": {"providers.v1": "http://127.0.0.1/v1/", "n": None}}
    assert found.credentials == {"app.terraform.io": Token("aA"), "b.test": None}
    assert found.helper == HelperBlock("vault", ("--x", "y"))
    assert found.plugin_cache_dir == "/c/s/x"
    assert found.cache_may_break_lock is False
    assert found.installation is not None
    assert found.installation.dev_overrides == (("hashicorp/aws", "/home/me/aws"),)
    everything = ProviderPattern("registry.terraform.io", "*", "*")
    assert found.installation.methods == (
        InstallationMethod(MethodKind.NETWORK, "https://m/", include=(everything,)),
        InstallationMethod(MethodKind.DIRECT),
    )
    assert found.files == (str(tmp_path / "cli.tfrc"),)
    assert "aA" not in repr(found)


@pytest.mark.parametrize(
    "text",
    [
        '{"credentials": {"a.test": {"token": "T"}}, "host": {"h.test": {"services": {"providers.v1": "/"}}}}',
        '\n {"credentials": [{"a.test": [{"token": "T"}]}], "host": [{"h.test": {"services": {"providers.v1": "/"}}}]}',
        'credentials = { "a.test" = { token = "T" } }\nhost "h.test" { services { "providers.v1" = "/" } }',
        "credentials a.test { token = <<X\nT\nX\n}",
    ],
)
def test_the_forms_of_a_block(tmp_path: Path, text: str) -> None:
    found = config(tmp_path, text)
    assert {host: repr(token) for host, token in found.credentials.items()} == {"a.test": "Token(…)"}
    assert found.problems == ()
    assert found.services in ({"h.test": {"providers.v1": "/"}}, {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("host x y z", [":1: this is neither an argument nor a block"]),
        ('\ncredentials "a.test" {\n  token = "s3cr3t\n}', [":3: this is neither an argument nor a block"]),
        ('credentials "a.test" {', [":1: a closing brace is missing"]),
        ("a = 1\n}", [":2: a closing brace has no match"]),
        ('{"credentials": ', [":1: the file is malformed JSON"]),
        ('a = "\\q"', [":1: a string holds an unknown escape"]),
        ("a " + "{ a " * 300, [":1: blocks are nested too deeply"]),
        ("a = " + "[" * 5000, [":1: a value is missing"]),
        ('host "https://x" {\n services = {} }', [":1: the label of a host block is not a host name: "]),
        ('host "a" {\n services = 1 }', [":2: services must be a map"]),
        ('credentials "b.test" {\n token = 1 }', [":2: token must be a string"]),
        ('credentials_helper "../x" {}', [":1: the label of a credentials_helper block is not a program name"]),
        ('credentials_helper "x" {\nargs = "y" }', [":2: args must be a list of strings"]),
        ('credentials_helper "x" {}\ncredentials_helper "y" {}', [":2: there is more than one credentials_helper"]),
        ("provider_installation {}\nprovider_installation {}", [":2: there is more than one provider_installation"]),
        ('provider_installation "x" {}', [":1: provider_installation must be a block without a label"]),
        ("plugin_cache_dir = true", [":1: plugin_cache_dir must be a string"]),
        ('plugin_cache_may_break_dependency_lock_file = "x"', [":1: plugin_cache_may_break_dependency_lock_file must"]),
        ("provider_installation = {}", [":1: provider_installation must be a block without a label"]),
        ("provider_installation {\n direct = {}\n}", [":2: the items of provider_installation must all be blocks"]),
        ("provider_installation {\n direct = [{}]\n}", [":2: the items of provider_installation must all be blocks"]),
        ('provider_installation {\n direct "x" {}\n}', [":2: a direct block of provider_installation takes no label"]),
        ("provider_installation {\n oci_mirror {}\n}", [':2: unknown installation method "oci_mirror"']),
        ("provider_installation {\n direct {}\n dev_overrides {}\n}", [":3: dev_overrides must stand before"]),
        ("provider_installation {\n filesystem_mirror {}\n}", [":2: filesystem_mirror needs the argument path"]),
        (
            'provider_installation {\n network_mirror {\n url = "http://x/" }\n}',
            [":3: the URL of a network mirror must"],
        ),
        ('provider_installation {\n direct {\n include = ["a/b*"] }\n}', [":3: invalid pattern 'a/b*' in include"]),
        ('provider_installation {\n direct {\n exclude = ["*/b"] }\n}', [":3: invalid pattern '*/b' in exclude"]),
        ("provider_installation {\n direct {\n exclude = [1] }\n}", [":3: invalid pattern 1.0 in exclude"]),
        ('provider_installation {\n direct {\n exclude = "a/b" }\n}', [":3: exclude must be a list of strings"]),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, expected: list[str]) -> None:
    found = config(tmp_path, text)
    told = problems(found)
    assert len(told) == len(expected)
    for one, words in zip(told, expected, strict=True):
        assert one.startswith(words)
        assert "s3cr3t" not in one


def test_a_bad_block_leaves_the_others(tmp_path: Path) -> None:
    found = config(tmp_path, 'host "a b" {\n services = {} }\ncredentials "a.test" { token = "T" }\nunknown { x = 1 }')
    assert (found.services, found.credentials) == ({}, {"a.test": Token("T")})
    assert len(found.problems) == 1


def put(home: Path, *names: str) -> None:
    for name in names:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        host = path.name.strip(".").partition(".")[0]
        path.write_text(f'credentials "{host}.test" {{ token = "T" }}')


@pytest.mark.parametrize(
    ("dialect", "there", "read"),
    [
        (TERRAFORM, [".terraformrc", ".tofurc"], {"terraformrc"}),
        (OPENTOFU, [".terraformrc", ".tofurc"], {"tofurc"}),
        (OPENTOFU, [".terraformrc", "xdg/opentofu/tofurc"], {"terraformrc"}),
        (OPENTOFU, ["xdg/opentofu/tofurc"], {"tofurc"}),
        (TERRAFORM, ["xdg/opentofu/tofurc"], set()),
        (TERRAFORM, [".terraformrc", ".terraform.d/a.tfrc", ".terraform.d/b.tofurc"], {"terraformrc", "a"}),
        (OPENTOFU, [".terraform.d/a.tfrc", "xdg/opentofu/b.tfrc"], {"a"}),
        (OPENTOFU, ["xdg/opentofu/b.tfrc"], {"b"}),
        (TERRAFORM, ["xdg/opentofu/b.tfrc"], set()),
    ],
)
def test_where_the_tools_look(tmp_path: Path, dialect: Dialect, there: list[str], read: set[str]) -> None:
    put(tmp_path, *there)
    found = read_cli_config(dialect, {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "xdg")})
    assert {host.removesuffix(".test") for host in found.credentials} == read


def test_a_named_file_is_the_only_one(tmp_path: Path) -> None:
    put(tmp_path, ".terraformrc", ".terraform.d/credentials.tfrc.json", "named")
    home = {"HOME": str(tmp_path)}
    for variable in ("TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"):
        found = read_cli_config(TERRAFORM, {**home, variable: str(tmp_path / "named")})
        assert set(found.credentials) == {"named.test"}
    found = read_cli_config(TERRAFORM, {**home, "TF_CLI_CONFIG_FILE": str(tmp_path / "nothing")})
    assert found.credentials == {}
    assert [str(one) for one in found.problems] == [f"{tmp_path}/nothing: the CLI configuration file does not exist"]
    assert set(read_cli_config(TERRAFORM, home).credentials) == {"terraformrc.test", "credentials.test"}


def test_later_files_override(tmp_path: Path) -> None:
    put(tmp_path, ".terraform.d/a.tfrc")
    for name, secret in ((".terraformrc", "1"), (".terraform.d/a.tfrc", "2"), (".terraform.d/b.tfrc.json", "3")):
        (tmp_path / name).write_text(
            f'credentials "x.test" {{ token = "{secret}" }}\nplugin_cache_dir = "/{secret}"\nprovider_installation {{}}'
        )
    (tmp_path / ".terraform.d/c.tfrc").write_text("a = ")
    found = read_cli_config(TERRAFORM, {"HOME": str(tmp_path)})
    assert found.credentials == {"x.test": Token("3")}
    assert found.plugin_cache_dir == "/1"
    assert len(found.problems) == 3
    assert read_cli_config(TERRAFORM, {"HOME": str(tmp_path), "TF_PLUGIN_CACHE_DIR": "$X"}).plugin_cache_dir == "$X"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    found = read_cli_config(TERRAFORM, {"TF_CLI_CONFIG_FILE": str(tmp_path)})
    assert "the file cannot be read" in str(found.problems[0])


def test_helpers_are_found_where_the_tools_look(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    plugins, data = tmp_path / ".terraform.d/plugins", tmp_path / "data/opentofu/plugins"
    for folder, name in (
        (plugins, "terraform-credentials-a"),
        (plugins, "terraform-credentials-a_v1.2.0"),
        (plugins, "terraform-credentials-a_v1.10.0"),
        (plugins, "tofu-credentials-b"),
        (data, "terraform-credentials-c"),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    assert find_helper("a", TERRAFORM, environ) == plugins / "terraform-credentials-a_v1.10.0"
    assert find_helper("b", OPENTOFU, environ) is None
    assert find_helper("c", TERRAFORM, environ) is None
    assert find_helper("c", OPENTOFU, environ) == data / "terraform-credentials-c"


@pytest.mark.parametrize("dialect", [TERRAFORM, OPENTOFU], ids=["terraform", "opentofu"])
@pytest.mark.parametrize(
    "environ", [{"HOME": "."}, {"HOME": "/nowhere", "XDG_DATA_HOME": "."}], ids=lambda one: " ".join(one)
)
def test_no_helper_of_the_checkout_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dialect: Dialect, environ: dict[str, str]
) -> None:
    for folder in (".terraform.d", "opentofu"):
        program = tmp_path / folder / "plugins" / "terraform-credentials-a"
        program.parent.mkdir(parents=True)
        program.touch(0o755)
    monkeypatch.chdir(tmp_path)
    assert find_helper("a", dialect, environ) is None


def test_opentofus_registry_protocols(tmp_path: Path) -> None:
    text = "registry_protocols {\n  retry_count = %s\n  request_timeout_seconds = %s\n}\n"
    for values, expected in {
        ("3", "20"): RegistryProtocols(3, 20),
        ("0", "0"): RegistryProtocols(0, None),
        ("-4", "-4"): RegistryProtocols(0, None),
        ('"1"', "1.5"): RegistryProtocols(),
    }.items():
        path = tmp_path / "cli.tfrc"
        path.write_text(text % values)
        found = read_cli_config(OPENTOFU, {"TF_CLI_CONFIG_FILE": str(path)})
        assert found.protocols == expected
        assert len(found.problems) == (2 if values[0] == '"1"' else 0)
        assert read_cli_config(TERRAFORM, {"TF_CLI_CONFIG_FILE": str(path)}).protocols == RegistryProtocols()
    (tmp_path / "cli.tfrc").write_text(text % (1, 1) + text % (2, 2))
    twice = read_cli_config(OPENTOFU, {"TF_CLI_CONFIG_FILE": str(tmp_path / "cli.tfrc")})
    assert twice.protocols == RegistryProtocols(1, 1)
    assert problems(twice)[0].startswith(":5: there is more than one registry_protocols block")
    (tmp_path / ".terraform.d").mkdir()
    (tmp_path / ".terraform.d" / "x.tfrc").write_text(text % (3, 3))
    beside = read_cli_config(OPENTOFU, {"HOME": str(tmp_path)})
    assert beside.files
    assert beside.protocols == RegistryProtocols()


@pytest.mark.parametrize("dialect", [TERRAFORM, OPENTOFU])
def test_methods_in_json(dialect: Dialect, tmp_path: Path) -> None:
    (tmp_path / "cli.tfrc").write_text(
        '{"provider_installation": {"dev_overrides": {"a/b": "/x"}, "filesystem_mirror": [{"path": "/a"}, {"path": "/b"}],'
        ' "direct": {"exclude": ["a/*"]}, "filesystem_mirror": {"path": "/c"}, "network_mirror": 5}}'
    )
    found = read_cli_config(dialect, {"TF_CLI_CONFIG_FILE": str(tmp_path / "cli.tfrc")})
    assert problems(found) == [":1: the items of provider_installation must all be blocks: network_mirror"]
    assert found.installation is not None
    assert [(method.kind.value, method.place) for method in found.installation.methods] == [
        ("filesystem_mirror", "/a"), ("filesystem_mirror", "/b"), ("direct", ""), ("filesystem_mirror", "/c"),
    ]  # fmt: skip
    assert found.installation.dev_overrides == (("a/b", "/x"),)
    (tmp_path / "cli.tfrc").write_text('{"provider_installation": {"direct": {}, "filesystem_mirror": {"path": "/c"}}}')
    alone = read_cli_config(dialect, {"TF_CLI_CONFIG_FILE": str(tmp_path / "cli.tfrc")})
    assert len(alone.problems) == 2
    assert alone.installation is not None
    assert alone.installation.methods == ()


def test_opentofus_methods(tmp_path: Path) -> None:
    (tmp_path / "cli.tfrc").write_text(
        'provider_installation {\n dev_overrides { "a/b" = "$HOME/x" }\n direct { download_retry_count = 0 }\n'
        ' network_mirror {\n url = "https://m/"\n trust_all_hashes = true\n }\n'
        ' network_mirror {\n url = "https://n/"\n trust_all_hashes = "true"\n }\n'
        ' oci_mirror {\n repository_template = "r.test/${hostname}/${namespace}/${type}"\n }\n}\n'
    )
    environ = {"TF_CLI_CONFIG_FILE": str(tmp_path / "cli.tfrc"), "HOME": "/h"}
    found = read_cli_config(OPENTOFU, environ)
    assert problems(found) == [":10: trust_all_hashes must be true or false"]
    assert found.installation is not None
    assert found.installation.methods == (
        InstallationMethod(MethodKind.DIRECT, retries=0),
        InstallationMethod(MethodKind.NETWORK, "https://m/", trusts_all_hashes=True),
        InstallationMethod(MethodKind.OCI, "r.test/${hostname}/${namespace}/${type}"),
    )
    assert found.installation.dev_overrides == (("a/b", "$HOME/x"),)
    other = read_cli_config(TERRAFORM, environ)
    assert other.installation is not None
    assert other.installation.dev_overrides == (("a/b", "/h/x"),)
    assert [method.trusts_all_hashes for method in other.installation.methods] == [False, False, False]


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("*/*", "1,2"),
        ("*/*/*", "1,2,3"),
        ("acme/*", "1"),
        ("Acme/demo", "1"),
        ("Reg.Acme.test/*/*", "3"),
        ("reg.acme.test:443/acme/*", "3"),
        ("acme/other", ""),
    ],
)
def test_patterns_match_as_the_tools_do(text: str, accepted: str) -> None:
    hosts = {
        "1": "registry.terraform.io/acme/demo",
        "2": "registry.terraform.io/corp/x",
        "3": "reg.acme.test/acme/demo",
    }
    pattern = ProviderPattern.parse(text, TERRAFORM)
    addresses = {name: TERRAFORM.parse_source(address) for name, address in hosts.items()}
    assert ",".join(name for name, address in addresses.items() if pattern.matches(address)) == accepted
    assert not InstallationMethod(MethodKind.DIRECT, exclude=(pattern,), include=(pattern,)).accepts(
        addresses["1"]
    ) or ("1" not in accepted)


def test_the_cache_may_break_the_lock_file(tmp_path: Path) -> None:
    name = "plugin_cache_may_break_dependency_lock_file"
    for text, value, expected in (
        ("true", None, True),
        ("false", "false", True),
        ("false", "0", False),
        ("true", "0", True),
    ):
        environ = {} if value is None else {name.upper().replace("PLUGIN", "TF_PLUGIN"): value}
        assert config(tmp_path, f"{name} = {text}", **environ).cache_may_break_lock is expected


def test_files_that_cannot_be_looked_at_are_problems_and_not_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test as root cannot take permissions away: the system's answer is put in its place."""
    (tmp_path / ".terraform.d").mkdir()
    environ = {"HOME": str(tmp_path)}
    assert read_cli_config(TERRAFORM, environ).problems == ()

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", refuse)
        found = read_cli_config(TERRAFORM, environ).problems
        assert [str(one) for one in found] == [f"{tmp_path}/.terraform.d cannot be listed: permission denied"]
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refuse)
        found = read_cli_config(TERRAFORM, environ).problems
        assert str(found[0]).startswith(f"{tmp_path}/.terraformrc: the file cannot be read: ")
