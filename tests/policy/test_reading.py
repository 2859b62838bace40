"""A policy's keys, and file and line of every mistake."""

from __future__ import annotations

import ast
import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kit.pages import marked
from msgspec.structs import replace

import locklens.policy
from locklens.addresses import Platform, ProviderAddress
from locklens.cli.commands import COMMANDS
from locklens.errors import ConfigurationError
from locklens.operations.review.policy import EffectivePolicy, values_in_force
from locklens.policy import MAX_POLICY_BYTES, InstallPath, Policy, WantedPlatform, parse, reading
from locklens.policy.document import KeyPath, PolicyDocument, lines_of_keys, policy_schema
from locklens.policy.model import (
    _NO_KEYS,
    Acceptance,
    AcceptFrom,
    IgnoredAdvisory,
    Pin,
    SeverityName,
    Threshold,
    differing_keys,
)
from locklens.review.findings import SHOWN_SEVERITIES, Severity
from locklens.review.model import PolicySide
from locklens.review.rules.catalogue import RULES
from locklens.versions import Version

ACCEPT = """[[accept]]
rule = "LK001"
provider = "registry.terraform.io/acme/demo"
change = "0123456789abcdef0123456789abcdef"
reason = "asked them"
by = "Ann"
on = 2026-11-20
"""
EXAMPLE = marked("policy")["locklens.toml"]
"""The policy on the page about it."""

LINUX, DARWIN = Platform("linux", "amd64"), Platform("darwin", "arm64")


def test_all_keys() -> None:
    policy = parse(
        b"cooldown = 7\n"
        b'install_paths = ["oci-mirror", "unpacked-mirror", "plugin-cache", "direct", "packed-mirror"]\n'
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


def plain(value: Any) -> Any:
    """A TOML value as an editor's schema check sees it: dates are texts."""
    if isinstance(value, dict):
        return {key: plain(below) for key, below in value.items()}
    if isinstance(value, list):
        return [plain(below) for below in value]
    return value.isoformat() if isinstance(value, date) else value


KEYS = frozenset(PolicyDocument.__struct_fields__)
"""The keys of the file, by their types in `policy/document.py`."""


UPGRADES = {
    "screen": ("operations/upgrades/", "review/rules/release.py"),
    "command": ("operations/write/upgrade.py", "operations/write/root_upgrade.py"),
}
"""The modules that say which versions an upgrade selects and what it locks; the screen asks
of pins by `signing_objection`."""

NOT_OF_UPGRADES = {
    "fail_on": "the exit status of a review",
    "accept_from": "the policy that applies is made with it",
    "hosts": "an upgrade asks every registry that the roots require",
    "reported_hashes": "heeded for every command that locks, by the settings of its requests",
    "install_paths": "which hashes a lock file lacks is said by the review of the plan",
    "severity": "so are its findings",
    "accept": "and which of them are accepted",
    "toolchain": "which Go built a package is known once it was downloaded: the review of the plan says it",
}
"""Keys that no upgrade asks for itself, with the reason."""

OF_THE_SCREEN = {"advisories"}
"""Keys about what the screen shows of versions, and the command does not."""


def heeded(key: str, *rooms: str) -> bool:
    """True if a module outside of the room asks a policy for a key, or for what `policy/model.py` makes of it.

    With `rooms`, only these modules count.
    """
    room = Path(locklens.policy.__file__).parent
    tree = ast.parse((room / "model.py").read_text("utf-8"))
    bodies = {one.name: ast.unparse(one) for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
    names = {key}
    while more := {one for one, body in bodies.items() if any(f".{name}" in body for name in names)} - names:
        names |= more
    functions = "|".join(names - {key}) or "-"
    asks = re.compile(rf"policy\.(?:{'|'.join(names)})\b|\b(?:{functions})\(")
    found = {path.relative_to(room.parent).as_posix() for path in room.parent.rglob("*.py") if path.parent != room}
    return any(
        asks.search((room.parent / name).read_text("utf-8")) for name in found if name.startswith(rooms or ("",))
    )


@pytest.mark.parametrize("key", sorted(KEYS))
def test_a_key_is_in_each_of_its_places(key: str) -> None:
    policy = parse(EXAMPLE.encode(), "p", RULES)
    shown = {value.shown.key.split(".")[0] for value in values_in_force(EffectivePolicy(policy, PolicySide.BASE))}
    assert key in Policy.__struct_fields__, "policy/model.py has its value"
    assert key in reading._KEYS, "policy/reading.py has what reads and shows it"
    assert key in tomllib.loads(EXAMPLE), "the example of docs/policy.md has it"
    assert key in shown, "`policy show` has it: _KEYS of policy/reading.py"
    assert key in differing_keys(replace(policy, **{key: object()}), policy), "a change of it is LK028"
    assert heeded(key), "a rule or a command asks for it"
    by = {name for name, modules in UPGRADES.items() if heeded(key, *modules)}
    expected = set() if key in NOT_OF_UPGRADES else {"screen"} if key in OF_THE_SCREEN else {*UPGRADES}
    assert by == expected, "upgrades heed it, or there is a reason why not"


def test_a_field_of_a_policy_is_a_key_or_said_to_be_none() -> None:
    assert set(Policy.__struct_fields__) - KEYS == _NO_KEYS


def test_the_example_of_the_page_is_read_and_fits_the_schema() -> None:
    policy = parse(EXAMPLE.encode(), "p", RULES)
    jsonschema.validate(plain(tomllib.loads(EXAMPLE)), policy_schema())
    assert (policy.fail_on, policy.cooldown, policy.hosts) == ("warn", 7, ("registry.example.com",))
    assert policy.reported_hashes == ("registry.opentofu.org",)
    assert policy.accept_from is AcceptFrom.BASE
    assert policy.severity == {"LK004": "block", "LK029": "warn"}
    assert policy.trust == (
        Pin(
            "acme",
            "",
            ("1B673F155E471E8C4D4F644A6EF31C7EB267ED69",),
            "Ann",
            date(2026, 11, 20),
            "announced on acme.example.com/keys",
            date(2027, 11, 20),
            policy.trust[0].line,
        ),
    )
    (ignored,) = policy.advisories
    why = "the endpoint is not used here"
    assert ignored == IgnoredAdvisory("GO-2026-4737", why, "Ann", date(2027, 1, 1), ignored.line)
    assert (ignored.has_expired(date(2027, 1, 2)), ignored.has_expired(date(2027, 1, 1))) == (True, False)
    (accepted,) = policy.accept
    assert accepted == Acceptance(
        "LK001",
        "registry.terraform.io/acme/demo",
        "0123456789abcdef" * 2,
        "the publisher confirmed it by telephone",
        "Ann",
        date(2026, 11, 20),
        date(2027, 1, 1),
        accepted.line,
    )
    assert accepted.has_expired(date(2027, 1, 2))
    assert not accepted.has_expired(date(2027, 1, 1))


@pytest.mark.parametrize(
    "text",
    [
        "fail_on = 'warning'",
        "cooldown = -1",
        "cooldwn = 7",
        "hosts = 'a.test'",
        "install_paths = ['cache']",
        "install_paths = []",
        "[platforms]\nlinux = 'CI'",
        "[severity]\nLK4 = 'off'",
        "[severity]\nLK004 = 'of'",
        "[advisories]\nignored = []",
        "[[advisories.ignore]]\nid = 'GO-2026-1'",
        "[trust.acme]",
        "[trust.acme]\nkeys = ['6EF31C7EB267ED69']",
        ACCEPT.replace("0123456789abcdef" * 2, "0123" * 6),
        ACCEPT.replace("on = 2026-11-20\n", ""),
    ],
)
def test_what_the_reader_refuses_the_schema_refuses(text: str) -> None:
    with pytest.raises(ConfigurationError):
        parse(text.encode(), "p", RULES)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(plain(tomllib.loads(text)), policy_schema())


def provider(text: str) -> ProviderAddress:
    host, namespace, kind = text.split("/")
    return ProviderAddress(host, namespace, kind)


@pytest.mark.parametrize(
    ("entry", "name", "version", "expected"),
    [
        ("hashicorp/*", "registry.terraform.io/hashicorp/aws", "5.0.0", True),
        ("hashicorp/*", "registry.opentofu.org/hashicorp/aws", "5.0.0", True),
        ("hashicorp/*", "evil.test/hashicorp/aws", "5.0.0", False),
        ("hashicorp/*", "registry.terraform.io/acme/aws", "5.0.0", False),
        ("cloudflare/cloudflare ~> 5.0", "registry.terraform.io/cloudflare/cloudflare", "5.1.0", True),
        ("cloudflare/cloudflare ~> 5.0", "registry.terraform.io/cloudflare/cloudflare", "6.0.0", False),
        ("r.test/*/*", "r.test/a/b", "1.0.0", True),
        ("r.test/acme/demo >= 1.0, < 2.0", "r.test/acme/demo", "2.0.0", False),
        ("r.test/acme/demo", "registry.terraform.io/acme/demo", "2.0.0", False),
    ],
)
def test_an_allow_list_permits_what_it_names(entry: str, name: str, version: str, expected: bool) -> None:
    policy = parse(f"allow = ['{entry}']".encode(), "p")
    assert policy.allows(provider(name), Version.parse(version)) is expected
    assert Policy().allows(provider(name), Version.parse(version))
    assert not parse(b"allow = []", "p").allows(provider(name), Version.parse(version))


def test_a_pin_covers_every_host_unless_it_names_one() -> None:
    keys = "A" * 40, "B" * 40
    text = f"[trust.acme]\nkeys = ['{keys[0]}']\n[trust.'r.test/acme']\nkeys = ['{keys[1]}']\n"
    policy = parse(text.encode(), "p")
    pins = [policy.pin(provider(name)) for name in ("registry.terraform.io/acme/demo", "r.test/acme/x", "r.test/b/x")]
    assert [pin.keys if pin else None for pin in pins] == [(keys[0],), (keys[1],), None]


def test_platforms_without_why() -> None:
    policy = parse(b'platforms = [\n  "linux_amd64",  # "a" [b\n  "darwin_arm64",\n]\n', "p")
    assert policy.platforms == (WantedPlatform(LINUX, "", 2), WantedPlatform(DARWIN, "", 3))


@pytest.mark.parametrize("data", [b"", b"\n# nothing\n", b"\xef\xbb\xbf# marked\r\n", b"platforms = []\n"])
def test_nothing_wanted(data: bytes) -> None:
    named = frozenset({"platforms"} if b"platforms" in data else ())
    assert parse(data, "p") == Policy(file="p", named=named)
    assert Policy() == Policy(platforms=(), install_paths=frozenset({InstallPath.DIRECT}), cooldown=None, file="")


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
        ("fail_on = 'warning'\n", 1, '"fail_on" must be one of "block", "warn", "info", "never"; did you mean "warn"?'),
        ("accept_from = 'tip'\n", 1, '"accept_from" must be one of "base", "head"'),
        ("hosts = ['a.test',\n'b c']\n", 2, 'invalid host "b c"'),
        ("reported_hashes = ['a.test', 'b c']\n", 1, 'invalid host "b c"'),
        ("hosts = ['https://a.test']\n", 1, "a host is written without a scheme and without a path"),
        ("hosts = 'a.test'\n", 1, "hosts: expected a list, got a string"),
        ("allow = [\n'hashicorp/*',\n'aws']", 3, "expected namespace/type or host/namespace/type"),
        ("allow = ['*/acme/demo']", 1, "expected namespace/type or host/namespace/type"),
        ("allow = ['acme/demo about 5']", 1, "invalid versions"),
        ("[severity]\nLK004 = 'blok'\n", 2, 'must be one of "block", "warn", "info", "off"; did you mean "block"?'),
        ("[severity]\nLK999 = 'off'\n", 2, 'unknown rule "LK999"'),
        ("[severity]\nLK010 = 'off'\n[trust.acme]\nkeys = ['" + "A" * 40 + "']", 2, "[trust] pins keys"),
        ('[trust."acme"]\n', 1, 'trust."acme": lacks "keys"'),
        ('[trust."a/b/c"]\n', 1, 'invalid namespace "a/b/c"'),
        ('[trust."acme"]\nkeys = []\n', 2, "is empty: a pin needs at least one key"),
        ('[trust."acme"]\nkeys = ["6EF31C7EB267ED69"]\n', 2, "is a key id, which several keys can share"),
        ('[trust."acme"]\nkeys = ["' + "A" * 39 + '"]\n', 2, "is no fingerprint of a key"),
        ('[trust."acme"]\nkey = []\n', 2, 'unknown key "key"; did you mean "keys"?'),
        ('[trust."acme"]\nkeys = ["' + "A" * 40 + '"]\nreview_by = "soon"\n', 3, "a date such as 2026-11-20"),
        ("[[accept]]\n", 1, 'accept: lacks "rule"'),
        (ACCEPT.replace('"LK001"', '"LK1"'), 2, "accept.rule: expected"),
        (ACCEPT.replace('"LK001"', '"LK991"'), 2, 'unknown rule "LK991"'),
        (ACCEPT.replace("0123456789abcdef" * 2, "0123" * 6), 4, "accept.change: expected"),
        (ACCEPT.replace("registry.terraform.io/", ""), 3, 'invalid provider "acme/demo"'),
        (ACCEPT.replace("asked them", "a\\nb"), 5, "reason must be one line"),
        (ACCEPT + ACCEPT.replace("reason", "raeson"), 12, 'unknown key "raeson"; did you mean "reason"?'),
        ("advisories = 1\n", 1, "[[advisories.ignore]]"),
        ("[advisories]\nignore = 'GO-1'\n", 2, "[[advisories.ignore]]"),
        ("[advisories]\nignored = []\n", 2, 'unknown key "ignored"; did you mean "ignore"?'),
        ("[[advisories.ignore]]\nid = 'GO-1'\n", 1, 'lacks "why"'),
        ("[[advisories.ignore]]\nid = '*'\nwhy = 'x'\n", 2, "advisories.ignore[0].id: expected"),
        ("[[advisories.ignore]]\nid = 'GO-1'\nwhy = 'x'\nuntill = 2027-01-01\n", 4, 'did you mean "until"?'),
        ("[[advisories.ignore]]\nid = 'GO-1'\nwhy = 'a\u202eb'\n", 3, "why must be one line"),
        ("fail_on = 'warn'\ncooldown = -7\n[[accept]]\n", 2, "between 0 and"),
        ("a = " + "[" * 30 + "]" * 30, 1, "nested more than 20 levels"),
        ("b = 1\n" + "a." * 30 + "b = 1", 2, "nested more than 20 levels"),
        ("# " + "x" * MAX_POLICY_BYTES, 1, "larger than"),
    ],
)
def test_each_mistake_has_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse(text.encode(), "infra/locklens.toml", RULES)
    assert (caught.value.path, caught.value.line) == ("infra/locklens.toml", line), str(caught.value)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"infra/locklens.toml:{line}: ")


@pytest.mark.parametrize("word", ["error", "none", "high", "critical"])
def test_no_word_is_suggested_that_is_alike_by_chance(word: str) -> None:
    with pytest.raises(ConfigurationError, match=r'LK004 must be one of "block", "warn", "info", "off"$'):
        parse(f"[severity]\nLK004 = '{word}'\n".encode(), "p", RULES)


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(ConfigurationError, match=r"^p:2: not valid UTF-8"):
        parse(b"cooldown = 7\n# \xff\n", "p")


@pytest.mark.parametrize("table", ["[platforms]", "[severity]", "[trust.acme]", "[[accept]]", "[advisories]"])
def test_a_key_that_slipped_into_the_table_below(table: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^p:2: ") as caught:
        parse(f"{table}\ncooldown = 7\n".encode(), "p", RULES)
    assert caught.value.hint == 'to set the key of that name, move "cooldown" above the first table'


@pytest.mark.parametrize("key", [" ".join(["0A1b"] * 10), "0a1b" * 10])
def test_a_fingerprint_as_programs_print_it_is_named_as_a_pin_has_it(key: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^p:2: .* in upper case and without spaces") as caught:
        parse(f"[trust.acme]\nkeys = ['{key}']\n".encode(), "p")
    assert caught.value.hint == f"write {'0A1B' * 10}"


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


def test_a_severity_is_in_each_list_of_their_names() -> None:
    shown = [severity.value for severity in SHOWN_SEVERITIES]
    assert [*get_args(SeverityName)] == [*Severity] == [*shown, "off"]
    assert [*get_args(Threshold)] == [*shown, "never"]
    given = next(action for action in COMMANDS["review"].parser().actions() if "--fail-on" in action.option_strings)
    assert given.choices == [*get_args(Threshold)]
