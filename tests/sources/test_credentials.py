"""Whose token is used for which host."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

from locklens.errors import UnavailableError
from locklens.project.cliconfig import Token
from locklens.sources.helpers import Helper
from locklens.sources.hosts import Credentials, environment_tokens


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("my__reg_example_test", "my-reg.example.test"),
        ("my-reg.example.test", "my-reg.example.test"),
        ("MY__REG_Example_Test", "my-reg.example.test"),
        ("xn____caf__dma_fr", "xn--caf-dma.fr"),
        ("café_fr", "xn--caf-dma.fr"),
        ("localhost:8202", "localhost:8202"),
        ("localhost:443", "localhost"),
    ],
)
def test_names_of_variables_are_hosts(name: str, host: str) -> None:
    assert environment_tokens({"TF_TOKEN_" + name: "T"}) == {host: Token("T")}


@pytest.mark.parametrize("name", ["", "_", "a__", "a:99999", "a b", "xn____zzzzzzzz"])
def test_names_that_are_no_hosts(name: str) -> None:
    assert environment_tokens({"TF_TOKEN_" + name: "T"}) == {}


def helper(folder: Path, script: str, *arguments: str) -> Helper:
    program = folder / "terraform-credentials-test"
    program.write_text(f"#!{sys.executable}\nimport sys, time\n{script}\n")
    program.chmod(0o755)
    return Helper(program, arguments)


def test_the_first_that_knows_a_host_wins(tmp_path: Path) -> None:
    script = 'print("{\\"token\\": \\"" + "/".join(sys.argv[1:]) + "\\"}")'
    environ = {"TF_TOKEN_a_test": "env", "TF_TOKEN_empty_test": ""}
    blocks = {"a.test": Token("block"), "b.test": Token("block"), "empty.test": Token("block"), "none.test": None}
    credentials = Credentials(environ, blocks, helper(tmp_path, script, "--flag"))
    found = {host: credentials.token(host) for host in ("a.test", "b.test", "c.test:81", "empty.test", "none.test")}
    assert found == {
        "a.test": Token("env"),
        "b.test": Token("block"),
        "c.test:81": Token("--flag/get/c.test:81"),
        "empty.test": Token(""),
        "none.test": None,
    }
    assert credentials.hosts == {"a.test", "b.test", "empty.test", "none.test"}


def test_a_helper_is_run_once_for_each_host(tmp_path: Path) -> None:
    script = f'open({str(tmp_path / "log")!r}, "a").write("x"); print("{{}}")'
    credentials = Credentials({}, {}, helper(tmp_path, script))
    for _ in range(3):
        assert credentials.token("a.test") is None
    assert (tmp_path / "log").read_text() == "x"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ('print("s3cr3t")', "its output is malformed"),
        ('print("[\\"s3cr3t\\"]")', "its output is malformed"),
        ('print("[" * 60000)', "its output is malformed"),
        ('sys.stdout.write("s3cr3t" * 100000)', "it prints too much"),
        ('sys.stderr.write("no\\x1b[2J vault\\n"); sys.exit(2)', "no\\x1b[2J vault"),
        ("sys.exit(2)", "it ended with exit status 2"),
    ],
)
def test_helpers_that_fail(tmp_path: Path, script: str, words: str) -> None:
    credentials = Credentials({}, {}, helper(tmp_path, script))
    for _ in range(2):
        with pytest.raises(UnavailableError) as caught:
            credentials.token("a.test")
        assert words in str(caught.value)
        assert "s3cr3t" not in str(caught.value)


def test_a_helper_that_hangs_or_prints_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("locklens.sources.helpers._HELPER_SECONDS", 0.3)
        with pytest.raises(UnavailableError, match=r"it did not end within 0\.3 seconds"):
            Credentials({}, {}, helper(tmp_path, "time.sleep(3600)")).token("a.test")
    with pytest.raises(UnavailableError, match="it prints too much"):
        Credentials({}, {}, helper(tmp_path, 'while True: print("x" * 4096)')).token("a.test")
    with pytest.raises(UnavailableError, match="it cannot be run: No such file"):
        Credentials({}, {}, Helper(tmp_path / "nothing", ())).token("a.test")


def test_a_token_does_not_tell_itself() -> None:
    token = Token("s3cr3t")
    assert "s3cr3t" not in f"{token!r} {token} {[token]} {Credentials({'TF_TOKEN_a': 's3cr3t'}, {}).__dict__}"
    with pytest.raises(TypeError):
        pickle.dumps(token)
