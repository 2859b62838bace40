"""Which login counts for a repository of an OCI registry: the same that OpenTofu sends, if it is on PATH."""

from __future__ import annotations

import base64
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import trustme
from conformance.case import OPENTOFU
from conformance.running import is_here
from kit.effort import some
from kit.loopback import server_context
from kit.oci_registry import OciRegistry, registry
from kit.repositories import put

from locklens import dialect
from locklens.errors import UnavailableError
from locklens.project.cliconfig import read_cli_config
from locklens.project.installation import OciRepository
from locklens.project.oci_credentials import DockerConfig, OciLogin, docker_style_files, specificity_of
from locklens.sources.oci import ConfiguredLogins

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="helpers are scripts, and the places Unix's")

USERS = ("block", "path", "deep", "docker", "podman", "runtime", "helper", "store", "default")


def login(host: str, user: str) -> str:
    return f'oci_credentials "{host}" {{\n  username = "{user}"\n  password = "pw"\n}}\n'


def auth(user: str) -> dict[str, str]:
    return {"auth": base64.b64encode(f"{user}:pw".encode()).decode()}


def script(user: str) -> str:
    return f'printf \'{{"Username":"{user}","Secret":"pw"}}\''


DOCKER, PODMAN, RUNTIME = ".docker/config.json", ".config/containers/auth.json", "run/containers/auth.json"
ANY = "oci_default_credentials {\n  %s\n}\n"

Case = tuple[str, Mapping[str, object], Mapping[str, str], str | None]
"""The CLI configuration, files below HOME (in them HOST stands for the registry), scripts of helpers, and the user that
counts for HOST/a/b/demo; None for nobody, and ! with words for an error."""

CASES: dict[str, Case] = {
    "nothing": ("", {}, {}, None),
    "a block": (login("HOST", "block"), {}, {}, "block"),
    "of another host": (login("other.test", "block"), {}, {}, None),
    "the longest path": (
        login("HOST", "block") + login("HOST/a/b", "deep") + login("HOST/a", "path"), {}, {}, "deep",
    ),
    "no part of a name": (login("HOST/a/b/dem", "deep") + login("HOST/a", "path"), {}, {}, "path"),
    "a path that is longer": (login("HOST/a/b/demo/x", "deep"), {}, {}, None),
    "docker's file": ("", {DOCKER: {"auths": {"HOST": auth("docker")}}}, {}, "docker"),
    "the older name": ("", {".dockercfg": {"auths": {"HOST": auth("docker")}}}, {}, "docker"),
    "podman before docker": (
        "", {DOCKER: {"auths": {"HOST": auth("docker")}}, PODMAN: {"auths": {"HOST": auth("podman")}}}, {}, "podman",
    ),
    "the run-time folder before both": (
        "",
        {DOCKER: {"auths": {"HOST": auth("docker")}}, PODMAN: {"auths": {"HOST": auth("podman")}},
         RUNTIME: {"auths": {"HOST": auth("runtime")}}},
        {}, "runtime",
    ),
    "the more specific of two files": (
        "", {DOCKER: {"auths": {"HOST/a": auth("docker")}}, PODMAN: {"auths": {"HOST": auth("podman")}}}, {}, "docker",
    ),
    "a block before a file": (login("HOST", "block"), {DOCKER: {"auths": {"HOST": auth("docker")}}}, {}, "block"),
    "a file's path before a block": (
        login("HOST", "block"), {DOCKER: {"auths": {"HOST/a/b/demo": auth("docker")}}}, {}, "docker",
    ),
    "members in capitals": ("", {DOCKER: {"Auths": {"HOST": {"AUTH": auth("docker")["auth"]}}}}, {}, "docker"),
    "an empty login and a store": (
        "", {DOCKER: {"auths": {"HOST": {}}, "credsStore": "store"}}, {"store": script("store")}, "store",
    ),
    "a helper of the registry before the store": (
        "", {DOCKER: {"credHelpers": {"HOST": "own"}, "credsStore": "store"}},
        {"store": script("store"), "own": script("helper")}, "helper",
    ),
    "a login before a helper": (
        "", {DOCKER: {"auths": {"HOST": auth("docker")}, "credHelpers": {"HOST": "own"}}},
        {"own": script("helper")}, "docker",
    ),
    "a helper in a block": (
        'oci_credentials "HOST" {\n  docker_credentials_helper = "own"\n}\n', {}, {"own": script("helper")}, "helper",
    ),
    "the default helper before a store": (
        ANY % 'docker_credentials_helper = "any"', {DOCKER: {"credsStore": "store"}},
        {"any": script("default"), "store": script("store")}, "default",
    ),
    "a file before the default helper": (
        ANY % 'docker_credentials_helper = "any"', {DOCKER: {"auths": {"HOST": auth("docker")}}},
        {"any": script("default")}, "docker",
    ),
    "the url that a helper is asked for": (
        ANY % 'docker_credentials_helper = "any"', {},
        {"any": '[ "$(cat)" = "https://HOST" ] && [ "$*" = get ] && ' + script("default")}, "default",
    ),
    "a helper that has none": (
        ANY % 'docker_credentials_helper = "any"', {DOCKER: {"credsStore": "store"}},
        {"any": "echo 'credentials not found in native keychain'; exit 1", "store": script("store")}, None,
    ),
    "a helper that fails": (
        ANY % 'docker_credentials_helper = "any"', {}, {"any": "echo no vault; exit 1"},
        "!docker-credential-any failed: no vault",
    ),
    "a helper with a token": (
        ANY % 'docker_credentials_helper = "any"', {}, {"any": script("<token>")}, "!failed: it has an OAuth token",
    ),
    "no files": (
        ANY % "discover_ambient_credentials = false", {DOCKER: {"auths": {"HOST": auth("docker")}}}, {}, None,
    ),
    "other files": (
        ANY % 'docker_style_config_files = ["logins/one.json", "HOME/two.json"]',
        {"logins/one.json": {"auths": {"HOST": auth("podman")}}, "two.json": {"auths": {"HOST/a": auth("deep")}},
         DOCKER: {"auths": {"HOST/a/b": auth("docker")}}},
        {}, "deep",
    ),
    "none of the usual files": (
        ANY % "docker_style_config_files = []", {DOCKER: {"auths": {"HOST": auth("docker")}}}, {}, None,
    ),
    "a named file that is not there": (
        ANY % 'docker_style_config_files = ["none.json"]', {}, {}, "!none.json cannot be read: no such file",
    ),
    "a named file that is malformed": (
        ANY % 'docker_style_config_files = ["one.json"]', {"one.json": {"auths": {"x": "y"}}}, {},
        "!one.json cannot be used: an item of auths is not an object",
    ),
    "one file that cannot be used, and all are none": (
        "", {PODMAN: {"auths": {"other.test": {"auth": "%"}}}, DOCKER: {"auths": {"HOST": auth("docker")}}}, {}, None,
    ),
    "a login that is none beside one": (
        login("HOST", "block"), {DOCKER: {"auths": {"HOST": {"auth": "bm8="}}}}, {}, "!is not a user and a password",
    ),
    "a login that is none alone": ("", {DOCKER: {"auths": {"HOST": {"auth": "bm8="}}}}, {}, None),
    "a block without a name": (
        login("HOST", "") + login("HOST/a", "path"), {}, {}, "!has empty credentials",
    ),
}  # fmt: skip


def lay(case: Case, host: str, home: Path) -> dict[str, str]:
    """Write a case's files, and return the environment."""
    text, files, helpers, _ = case
    for name, content in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(json.dumps(content).replace("HOST", host))
    (home / "bin").mkdir()
    for name, body in helpers.items():
        program = home / "bin" / f"docker-credential-{name}"
        program.write_text(f"#!/bin/sh\n{body}\n".replace("HOST", host))
        program.chmod(0o755)
    cli = home / "cli.tfrc"
    mirror = f'oci_mirror {{\n repository_template = "{host}/a/b/${{type}}"\n include = ["reg.acme.test/a/*"]\n}}'
    cli.write_text(f"provider_installation {{\n{mirror}\n}}\n{text}".replace("HOST", host).replace("HOME", str(home)))
    path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {"HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"), "PATH": path, "TF_CLI_CONFIG_FILE": str(cli)}


BESIDE_THE_TOOL = some(CASES, 4)
"""The cases in which it is asked."""


@pytest.mark.parametrize("name", CASES)
def test_the_login_is_the_one_that_the_tool_sends(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, authority: trustme.CA, authority_file: Path
) -> None:
    with registry(server_context(authority, "127.0.0.1")) as server:
        environ = lay(CASES[name], server.host, tmp_path)
        monkeypatch.setenv("PATH", environ["PATH"])
        config = read_cli_config(dialect.OPENTOFU, environ)
        assert config.problems == ()
        logins = ConfiguredLogins(config.oci_credentials, environ)
        repository = OciRepository.parse(f"{server.host}/a/b/demo")
        expected = CASES[name][-1]
        if expected is not None and expected.startswith("!"):
            for _ in range(2):
                with pytest.raises(UnavailableError) as caught:
                    logins.for_repository(repository)
                assert expected[1:] in str(caught.value)
                assert f"the credentials for {repository} are unavailable" in str(caught.value)
        else:
            found = logins.for_repository(repository)
            assert (found.user if found else None) == expected
            assert found is None or found.password == "pw"
        if name in BESIDE_THE_TOOL and is_here(OPENTOFU):
            server.basic = dict.fromkeys(USERS, "pw")
            server.repository("a/b/demo").provider("1.0.0", {"windows_amd64": b""})
            assert sent_by_tofu(server, tmp_path, {**environ, "SSL_CERT_FILE": str(authority_file)}) == (
                "error" if expected is not None and expected.startswith("!") else expected
            )


def sent_by_tofu(server: OciRegistry, home: Path, environ: dict[str, str]) -> str | None:
    """The user as whom OpenTofu asks, None for nobody; "error" where it asks nobody for want of knowing one."""
    (home / "root").mkdir()
    block = 'demo = {\n source = "reg.acme.test/a/demo"\n }'
    (home / "root/main.tf").write_text(f"terraform {{\n required_providers {{\n {block}\n }}\n}}\n")
    command = [OPENTOFU.command, "init", "-no-color"]
    done = subprocess.run(command, cwd=home / "root", env=environ, capture_output=True, text=True, check=False)
    headers = [one.headers["authorization"] for one in server.asked if "authorization" in one.headers]
    users = {base64.b64decode(header.removeprefix("Basic ")).decode().partition(":")[0] for header in headers}
    if users:
        assert len(users) == 1
        return users.pop()
    return None if "basic credential not found" in " ".join(done.stderr.replace("│", " ").split()) else "error"


def test_files_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    put(tmp_path, {DOCKER: "[]", PODMAN: "{", ".dockercfg": " " * 1024 * 1024 + "{}"})
    environ = {"HOME": str(tmp_path), "TF_CLI_CONFIG_FILE": str(tmp_path / "none")}
    logins = ConfiguredLogins(read_cli_config(dialect.OPENTOFU, environ).oci_credentials, environ)
    assert logins.for_repository(OciRepository.parse("reg.test/a")) is None
    end = "; no file of Docker or Podman is used"
    assert logins.problems == [
        f"{tmp_path / PODMAN} cannot be used: it is not JSON{end}",
        f"{tmp_path / DOCKER} cannot be used: the file is not an object{end}",
        f"{tmp_path / '.dockercfg'} cannot be used: it has more than 1 MiB{end}",
    ]


def test_a_helper_is_run_once_for_each_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docker-credential-any").write_text(f"#!/bin/sh\necho >>{tmp_path}/runs\n{script('me')}\n")
    (tmp_path / "docker-credential-any").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "cli").write_text(ANY % 'docker_credentials_helper = "any"')
    environ = {"HOME": str(tmp_path), "TF_CLI_CONFIG_FILE": str(tmp_path / "cli")}
    logins = ConfiguredLogins(read_cli_config(dialect.OPENTOFU, environ).oci_credentials, environ)
    for name in ("reg.test/a", "reg.test/b", "other.test/a"):
        assert logins.for_repository(OciRepository.parse(name)) == OciLogin("me", "pw")
    assert len((tmp_path / "runs").read_text()) == 2


@pytest.mark.parametrize("name", ["../../bin/sh", "a\\b", "a:b", ""])
def test_no_name_of_a_helper_leads_to_another_folder(name: str) -> None:
    found = DockerConfig.parse(json.dumps({"credsStore": name}).encode(), Path("f"))
    matches = list(found.matching(OciRepository.parse("reg.test/a")))
    assert [one.helper for one in matches] == ([""] if name else [])


def test_relative_folders_of_the_environment_are_not_looked_in() -> None:
    places = docker_style_files({"HOME": "/home/me", "XDG_RUNTIME_DIR": "run", "XDG_CONFIG_HOME": "config"}, "linux")
    assert places == (Path("/home/me/.docker/config.json"), Path("/home/me/.dockercfg"))
    everywhere = docker_style_files({"HOME": "/home/me"}, "darwin")
    assert everywhere[0] == Path("/home/me/.config/containers/auth.json")
    assert len(everywhere) == 3


@pytest.mark.parametrize(
    ("prefix", "specificity"),
    [("reg.test:5000", 2), ("REG.test:5000", 2), ("reg.test", 0), ("reg.test:5000/", 0), ("reg.test:5000/a", 3),
     ("reg.test:5000/a/b/c", 5), ("reg.test:5000/a/b/c/d", 0), ("reg.test:5000/A", 0), ("https://reg.test:5000", 0),
     ("reg.test:5000/a:latest", 0), ("", 0)],
)  # fmt: skip
def test_how_specific_an_address_is(prefix: str, specificity: int) -> None:
    assert specificity_of(prefix, OciRepository.parse("reg.test:5000/a/b/c")) == specificity


def test_a_login_does_not_tell_itself() -> None:
    one = OciLogin("me", "s3cr3t", "s3cr3t", "s3cr3t")
    assert "s3cr3t" not in f"{one!r} {one} {[one]}"
    with pytest.raises(TypeError):
        pickle.dumps(one)


BLOCK = 'oci_credentials "reg.test" {\n  %s\n}\n'
SET_ONE = (
    '"reg.test" must set one of: username and password, access_token and refresh_token, or docker_credentials_helper'
)
REFUSED = {
    BLOCK % "": SET_ONE,
    BLOCK % 'username = "a"\n password = "b"\n access_token = "c"\n refresh_token = "d"': SET_ONE,
    BLOCK % 'username = "a"': '"reg.test" must set both username and password',
    BLOCK % 'access_token = "a"': '"reg.test" must set both access_token and refresh_token',
    BLOCK % 'username = true\n password = "b"': "has a username that is not a string",
    BLOCK
    % 'docker_credentials_helper = "../x"': "has a docker_credentials_helper that is not the end of a program's name",
    BLOCK % 'docker_credentials_helper = ""': "has a docker_credentials_helper that is not the end of a program's name",
    login("reg.test/a:1", "a"): "has an invalid label: invalid reference: artifact tag or digest not allowed",
    login("reg.test/A", "a"): "has an invalid label: invalid reference: invalid repository",
    login("", "a"): "has an invalid label: invalid reference: invalid registry",
    login("reg.test", "a") + login("reg.test", "b"): '"reg.test" is not the only one; the first counts',
    'oci_credentials {\n username = "a"\n password = "b"\n}\n': "must have one label, the address of repositories",
    'oci_credentials = { username = "a" }\n': "must not be introduced with an equals sign",
    'oci_credentials "reg.test/a" {\n docker_credentials_helper = "x"\n}\n': (
        '"reg.test/a" cannot set docker_credentials_helper: a helper knows registries, and no paths in them'
    ),
    'oci_default_credentials "a" {\n}\n': "must not have a label",
    "oci_default_credentials = {}\n": "must be a block, without an equals sign",
    ANY % 'discover_ambient_credentials = "no"': "has a discover_ambient_credentials that is neither true nor false",
    ANY % "docker_style_config_files = [{}]": "has docker_style_config_files that are not a list of strings",
    ANY
    % 'docker_credentials_helper = "a/b"': "has a docker_credentials_helper that is not the end of a program's name",
    ANY % "discover_ambient_credentials = false\n docker_style_config_files = []": (
        "sets docker_style_config_files, which have no effect without discover_ambient_credentials"
    ),
    '{"oci_credentials": {"reg.test": [{"username": "a", "password": "1"}]}}': '"reg.test" must be an object',
    '{"oci_credentials": {"reg.test": "x"}}': '"reg.test" must be an object',
}


@pytest.mark.parametrize("text", REFUSED)
def test_blocks_that_the_tool_refuses(text: str, tmp_path: Path) -> None:
    environ = {"TF_CLI_CONFIG_FILE": str(tmp_path / "cli.tfrc"), "HOME": str(tmp_path)}
    (tmp_path / "cli.tfrc").write_text(text)
    problems = read_cli_config(dialect.OPENTOFU, environ).problems
    assert len(problems) == 1
    assert REFUSED[text] in str(problems[0])
    assert str(problems[0]).startswith(f"{tmp_path / 'cli.tfrc'}:")
    assert read_cli_config(dialect.TERRAFORM, environ).problems == ()
    if text in some(REFUSED, 4) and is_here(OPENTOFU):
        environ["PATH"] = os.environ["PATH"]
        command = [OPENTOFU.command, "version", "-json"]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        assert "There are some problems with the CLI configuration" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        '{"oci_credentials": {"reg.test": {"username": "a", "password": 1}}, "oci_default_credentials": {}}',
        '{"oci_credentials": [{"reg.test": {"username": "a", "password": "1"}}]}',
        login("reg.test", "a").replace('"pw"', "1"),
    ],
)
def test_blocks_in_other_spellings(text: str, tmp_path: Path) -> None:
    environ = {"TF_CLI_CONFIG_FILE": str(tmp_path / "cli.tfrc"), "HOME": str(tmp_path)}
    (tmp_path / "cli.tfrc").write_text(text)
    found = read_cli_config(dialect.OPENTOFU, environ)
    assert found.problems == ()
    [match] = found.oci_credentials.blocks[0].matching(OciRepository.parse("reg.test/a"))
    assert match.login == OciLogin("a", "1")
    if is_here(OPENTOFU):
        environ["PATH"] = os.environ["PATH"]
        command = [OPENTOFU.command, "version", "-json"]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        assert done.stderr == ""


def test_no_program_of_the_current_folder_is_a_helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docker-credential-any").write_text(f"#!/bin/sh\n{script('me')}\n")
    (tmp_path / "docker-credential-any").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "cli").write_text(ANY % 'docker_credentials_helper = "any"')
    environ = {"HOME": str(tmp_path), "TF_CLI_CONFIG_FILE": str(tmp_path / "cli")}
    logins = ConfiguredLogins(read_cli_config(dialect.OPENTOFU, environ).oci_credentials, environ)
    with pytest.raises(UnavailableError, match="docker-credential-any is not on PATH"):
        logins.for_repository(OciRepository.parse("reg.test/a"))
