"""Templates of repositories, and the addresses that they become: what OpenTofu reads, and what it refuses."""

from __future__ import annotations

import pytest

from locklens.project.installation import OciRepository
from locklens.project.templates import MAX_TEMPLATE, TemplateError, UnreadableTemplateError, read_template

NAMES = {"hostname": "registry.opentofu.org", "namespace": "acme", "type": "demo"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("", ""),
        ("a/${type}/b", "a/demo/b"),
        ("$${type} %%{if} $ % $x %x", "${type} %{if} $ % $x %x"),
        ('${"a${type}b"}', "ademob"),
        (r'${"\u0041\n\"\\"}', 'A\n"\\'),
        ('${type == "demo" ? "yes" : "no"}', "yes"),
        ('${type != "demo" || !(namespace == "acme" && true) ? "yes" : "no"}', "no"),
        ('${{a = "x", "b" : "y", (type) = "z"}["demo"]}', "z"),
        ('${{a = {b = "x"}}.a.b}', "x"),
        ('${["x", "y",][1]}', "y"),
        ("${1 + 2 * 3 - 4 / 2}", "5"),
        ("${-7 % 3} ${7 % -3} ${1 / 4} ${0.5 + 0.5}", "-1 1 0.25 1"),
        ("${true} ${1 < 2} ${2 >= 3}", "true true false"),
        ('${"2" + "3"}', "5"),
        ("${ hostname }", "registry.opentofu.org"),
        ("a ${~ type ~} b", "ademob"),
        ("%{ if true }a%{ else }b%{ endif }c", "ac"),
        ("%{ if false }a%{ endif }c", "c"),
        ('%{ if type == "x" ~} a %{~ else ~} b %{~ endif } c', "b c"),
        ("%{ if true }%{ if false }a%{ else }b%{ endif }%{ endif }", "b"),
        ('%{ if "true" }a%{ endif }', "a"),
    ],
)
def test_what_a_template_becomes(text: str, value: str) -> None:
    assert read_template(text).value(NAMES) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("${", "expected the start of an expression"),
        ("${type", 'expected "}"'),
        ("${}", "expected the start of an expression"),
        ("${type type}", 'expected "}"'),
        ("${lower(type)}", "Function calls not allowed"),
        ("${version}", 'no variable named "version"'),
        ("${null}", "must not produce a null value"),
        ("x${null}", "Cannot include the given value"),
        ("${[type]}", "must produce a string value"),
        ("x${[type]}", "Cannot include the given value"),
        ("${type[0]}", "does not have any indices"),
        ("${[type][1]}", "does not identify an element"),
        ("${[type][0.5]}", "does not identify an element"),
        ("${{a = 1}.b}", "does not identify an element"),
        ("${type + 1}", "a number is required"),
        ("${1 / 0}", "Division by zero"),
        ("${type ? 1 : 2}", "a bool is required"),
        ("${true ? 1}", 'expected ":"'),
        ('${"a', "Unterminated template string"),
        ('${"a\nb"}', "may not be split"),
        (r'${"\q"}', "not a valid escape"),
        ("%{ if true }a", "has no %{ endif }"),
        ("%{ endif }", '"endif" is not one'),
        ("%{ unless true }", '"unless" is not one'),
        ("${" + "(" * 100 + "1" + ")" * 100 + "}", "nested too deeply"),
        ("${" + "!" * 5000 + "true}", "nested too deeply"),
        ('${"' * 60, "nested too deeply"),
        ("%{ if true }" * 60, "nested too deeply"),
        ("x" * (MAX_TEMPLATE + 1), "is not read"),
    ],
)
def test_what_is_refused(text: str, words: str) -> None:
    with pytest.raises(TemplateError) as raised:
        read_template(text).value(NAMES)
    assert words in str(raised.value)
    assert not isinstance(raised.value, UnreadableTemplateError)


@pytest.mark.parametrize(
    "text", ["${[for x in [type] : x][0]}", "${[type][*]}", "%{ for x in [type] }a%{ endfor }", "${<<E\na\nE\n}"]
)
def test_what_only_opentofu_evaluates(text: str) -> None:
    with pytest.raises(UnreadableTemplateError):
        read_template(text)


@pytest.mark.parametrize(
    ("text", "registry", "name"),
    [
        ("reg.test/a", "reg.test", "a"),
        ("Reg.Test:5000/a/b-c/d__e.f_g", "reg.test:5000", "a/b-c/d__e.f_g"),
        ("[::1]:5000/a", "[::1]:5000", "a"),
        ("localhost/a---b", "localhost", "a---b"),
        ("docker.io/library/a", "docker.io", "library/a"),
    ],
)
def test_addresses(text: str, registry: str, name: str) -> None:
    found = OciRepository.parse(text)
    assert (found.registry, found.name, str(found)) == (registry, name, f"{registry}/{name}")


def test_dockers_own_registry_is_on_another_host() -> None:
    url = OciRepository.parse("docker.io/library/a").url("manifests", "sha256:ab")
    assert url == "https://registry-1.docker.io/v2/library/a/manifests/sha256:ab"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("reg.test", "missing registry or repository"),
        ("reg.test/", 'invalid repository ""'),
        ("reg.test/A", 'invalid repository "A"'),
        ("reg.test/a//b", 'invalid repository "a//b"'),
        ("reg.test/a___b", 'invalid repository "a___b"'),
        ("reg.test/../a", 'invalid repository "../a"'),
        ("reg.test/a?x", 'invalid repository "a?x"'),
        ("reg.test/ほげ", 'invalid repository "ほげ"'),
        ("reg.test/a:1", "artifact tag or digest not allowed"),
        ("reg.test/a:!", 'invalid tag "!"'),
        ("reg.test/a@sha256:" + "0" * 64, "artifact tag or digest not allowed"),
        ("reg.test/a@sha256:0", 'invalid digest "sha256:0"'),
        ("me:pw@reg.test/a", 'invalid registry "me:pw@reg.test"'),
        ("/a", 'invalid registry ""'),
        ("reg test/a", 'invalid registry "reg test"'),
        ("reg.test:x/a", 'invalid registry "reg.test:x"'),
        ("https://reg.test/a", 'invalid registry "https:"'),
        ("reg.test/" + "a" * 256, "invalid repository"),
        ("reg.test/" + "a" * 60 + "!", "invalid repository"),
    ],
)
def test_addresses_that_are_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match="invalid reference: ") as raised:
        OciRepository.parse(text)
    assert words in str(raised.value)
