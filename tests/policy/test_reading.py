"""A policy's keys, and file and line of every mistake."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from locklens.addresses import Platform
from locklens.errors import ConfigurationError
from locklens.policy import MAX_POLICY_BYTES, InstallPath, Policy, WantedPlatform, parse
from locklens.policy.positions import KeyPath, lines_of_keys

LINUX, DARWIN = Platform("linux", "amd64"), Platform("darwin", "arm64")


def test_all_keys() -> None:
    policy = parse(
        b"cooldown = 7\n"
        b'install_paths = ["unpacked-mirror", "plugin-cache", "direct", "packed-mirror"]\n'
        b"\n"
        b"[platforms]\n"
        b'linux_amd64 = "CI, production"\n'
        b'darwin_arm64 = ""\n',
        "locklens.toml",
    )
    assert policy.cooldown == 7
    assert policy.paths_in_order == tuple(InstallPath)
    assert policy.platforms == (WantedPlatform(LINUX, "CI, production", 5), WantedPlatform(DARWIN, "", 6))
    assert policy.file == "locklens.toml"
    assert policy.why(LINUX) == "CI, production"
    assert policy.why(Platform("windows", "amd64")) == ""


def test_platforms_without_why() -> None:
    policy = parse(b'platforms = [\n  "linux_amd64",  # "a" [b\n  "darwin_arm64",\n]\n', "p")
    assert policy.platforms == (WantedPlatform(LINUX, "", 2), WantedPlatform(DARWIN, "", 3))


@pytest.mark.parametrize("data", [b"", b"\n# nothing\n", b"\xef\xbb\xbf# marked\r\n", b"platforms = []\n"])
def test_nothing_wanted(data: bytes) -> None:
    assert parse(data, "p") == Policy(file="p")
    assert Policy.none() == Policy(platforms=(), install_paths=frozenset({InstallPath.DIRECT}), cooldown=None, file="")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("cooldown = 7\ncooldown = 8\n", 2, "not valid TOML"),
        ("cooldown = \n", 1, "not valid TOML"),
        ('# a\nplatforms = ["linux_amd64"', 2, "not valid TOML"),
        ("cooldown = '7'\n", 1, "whole number of days"),
        ("cooldown = true\n", 1, "whole number of days"),
        ("cooldown = 1.5\n", 1, "whole number of days"),
        ("\ncooldown = -1\n", 2, "between 0 and"),
        ("cooldown = 99999999\n", 1, "between 0 and"),
        ("cooldown = " + "9" * 5000, 1, "digits"),
        ("[cooldown]\ndays = 7\n", 1, "whole number of days"),
        ("cooldown.days = 7\n", 1, "whole number of days"),
        ('platforms = "linux_amd64"\n', 1, "must be a table"),
        ('platforms = [\n"linux_amd64",\n"linux"]', 3, 'invalid platform "linux"'),
        ('platforms = [\n"linux_amd64",\n7]', 3, "a platform must be a string"),
        ('platforms = [\n"linux_amd64",\n"linux_amd64"]', 3, "linux_amd64 is listed twice"),
        ('platforms = ["LINUX_amd64"]', 1, 'invalid platform "LINUX_amd64"'),
        ('[platforms]\n\nlinux_amd64 = "a"\n"linux_\\u001b[31m" = "b"\n', 4, 'invalid platform "linux_\x1b[31m"'),
        ("[platforms]\nlinux_amd64 = 7\n", 2, "the reason for linux_amd64 must be a string"),
        ('[platforms]\nlinux_amd64 = """a\nb"""\n', 2, "one line"),
        ('[platforms]\nlinux_amd64 = "\\u001b"\n', 2, "one line"),
        ('platforms.linux_amd64 = "a"\nplatforms.x = "b"\n', 2, 'invalid platform "x"'),
        ('"platforms" = { linux_amd64 = "a", x = "b" }\n', 1, 'invalid platform "x"'),
        ('install_paths = "direct"\n', 1, "must be a list of"),
        ("install_paths = []\n", 1, "is empty"),
        ('install_paths = ["direct",\n\n"cache"]\n', 3, 'unknown install path "cache"; did you mean "plugin-cache"?'),
        ('install_paths = ["direct",\n"direct"]\n', 2, "listed twice"),
        ("install_paths = [1]\n", 1, "an install path must be a string"),
        ("cooldown = 7\ncooldwn = 7\n", 2, 'unknown key "cooldwn"; did you mean "cooldown"?'),
        ("[[platform]]\n", 1, 'did you mean "platforms"?'),
        ('[trust."acme"]\n', 1, '"trust" is not supported yet'),
        ("fail_on = 'warn'\ncooldown = 7\n[[accept]]\n", 1, '"fail_on" is not supported yet'),
        ("a = " + "[" * 30 + "]" * 30, 1, "nested more than 20 levels"),
        ("b = 1\n" + "a." * 30 + "b = 1", 2, "nested more than 20 levels"),
        ("# " + "x" * MAX_POLICY_BYTES, 1, "larger than"),
    ],
)
def test_each_mistake_has_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse(text.encode(), "infra/locklens.toml")
    assert (caught.value.path, caught.value.line) == ("infra/locklens.toml", line), str(caught.value)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"infra/locklens.toml:{line}: ")


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(ConfigurationError, match=r"^p:2: not valid UTF-8"):
        parse(b"cooldown = 7\n# \xff\n", "p")


def test_a_key_that_slipped_into_the_table_below() -> None:
    with pytest.raises(ConfigurationError, match=r"^p:3: ") as caught:
        parse(b'[platforms]\nlinux_amd64 = "CI"\ncooldown = 7\n', "p")
    assert caught.value.hint == 'to set the key of that name, move "cooldown" above the line [platforms]'


WORDS = ["platforms", "install_paths", "cooldown", "linux_amd64", '"direct"', "= ", " = 7\n", "\n[", "]\n", "[[", "]]"]
ODD = ['"""', "'''", "\0", "\u202e", "é", "1979-05-27 07:32:00", "inf", "\\u0000"]
SNIPPETS = st.sampled_from([*"[]{}=,.\"'#\\\n\r \t-_17", *WORDS, *ODD])


@given(st.one_of(st.binary(max_size=60), st.lists(SNIPPETS, max_size=30).map(lambda parts: "".join(parts).encode())))
@example(b'"' * 9)
@example(b'"""\\')
def test_any_bytes_are_a_policy_or_a_mistake_with_its_line(data: bytes) -> None:
    try:
        parse(data, "p")
    except ConfigurationError as error:
        mistake = error
    else:
        return
    assert mistake.path == "p"
    assert mistake.line is not None
    assert 1 <= mistake.line <= data.count(b"\n") + 1
    assert str(mistake).isprintable()


def paths_of(value: Any, path: KeyPath = ()) -> set[KeyPath]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {own for key, below in pairs for own in ((*path, key), *paths_of(below, (*path, key)))}


@given(st.lists(SNIPPETS, max_size=40).map("".join))
@example(
    'a.b = [1, {c = "]", d.e = [[], [2]]}]\n[x."y.z"]\nk = """\n[no]\n"""\n[[t]]\nu = 1.5\n[[t]]\n[t.v]\nw = {}\n[[t.z]]'
)
@example("a = [ # ]\n 'x', # ,\n]\n")
def test_each_key_and_element_of_a_document_has_a_line(text: str) -> None:
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    lines = lines_of_keys(text.replace("\r\n", "\n"))
    assert set(lines) == paths_of(document)


def test_lines_of_a_document() -> None:
    lines = lines_of_keys(
        'a = """\nb = 1\n"""\nc = [\n  1,\n\n  [2,\n 3]]\n[d]\n"e f".g = {h = 1}\n[[i]]\n[[i]]\nj = 2024-01-01\n'
    )
    assert lines == {
        ("a",): 1, ("c",): 4, ("c", 0): 5, ("c", 1): 7, ("c", 1, 0): 7, ("c", 1, 1): 8, ("d",): 9, ("d", "e f"): 10,
        ("d", "e f", "g"): 10, ("d", "e f", "g", "h"): 10, ("i",): 11, ("i", 0): 11, ("i", 1): 12, ("i", 1, "j"): 13,
    }  # fmt: skip
