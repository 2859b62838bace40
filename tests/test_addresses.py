"""Provider addresses against what terraform 1.11.4 and OpenTofu 1.12.6 accept and how they write it."""

from __future__ import annotations

import pytest

from locklens.addresses import (
    AddressError,
    Platform,
    ProviderAddress,
    normalise_host,
    normalise_part,
    read_host,
    scripts_of,
    spelt_host,
)
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect, dialect_of_header

ACCEPTED = [
    ("aws", "registry.terraform.io/hashicorp/aws"),
    ("acme/x", "registry.terraform.io/acme/x"),
    ("Acme/Demo", "registry.terraform.io/acme/demo"),
    ("a/ÀB", "registry.terraform.io/a/àb"),
    ("a/ﬁ", "registry.terraform.io/a/fi"),
    ("a/a\u0301", "registry.terraform.io/a/á"),
    ("a/İ", "registry.terraform.io/a/i̇"),
    ("a/straße", "registry.terraform.io/a/straße"),
    ("a/ß", "registry.terraform.io/a/ß"),
    ("a/ς", "registry.terraform.io/a/ς"),
    ("a/" + "x" * 70, "registry.terraform.io/a/" + "x" * 70),
    ("a/" + "x" * 255, "registry.terraform.io/a/" + "x" * 255),
    ("a/" + "漢" * 255, "registry.terraform.io/a/" + "漢" * 255),
    ("terraform-provider-x", "registry.terraform.io/hashicorp/terraform-provider-x"),
    ("-/aws", "registry.terraform.io/-/aws"),
    ("EXAMPLE.com:443/a/b", "example.com/a/b"),
    ("example.com:08443/a/b", "example.com:8443/a/b"),
    ("example.com:+5/a/b", "example.com:5/a/b"),
    ("example.com:0/a/b", "example.com:0/a/b"),
    ("example.com:-1/a/b", "example.com:-1/a/b"),
    ("ＡＢＣ.com/a/b", "abc.com/a/b"),
    ("XN--80akhbyknj4f.com/a/b", "испытание.com/a/b"),
    ("localhost/a/b", "localhost/a/b"),
    ("1/a/b", "1/a/b"),
    ("example.com./a/b", "example.com./a/b"),
]

REFUSED = [
    ("a/" + "x" * 256, "Invalid provider type"),
    ("x" * 256 + "/a", "Invalid provider namespace"),
    ("x_" * 128 + "x/a", "Invalid provider namespace"),
    ("example.com/a/" + "漢" * 256, "Invalid provider type"),
    ("example.com/a/" + "\ufdfa" * 20, "Invalid provider type"),
    ("registry.terraform.io/a/" + "x" * 256, "Invalid provider type"),
    ("x" * 256 + ".com/a/b", "Invalid provider source hostname"),
    ("漢" * 64 + ".com/a/b", "Invalid provider source hostname"),
    ("", "Invalid provider source string"),
    ("/x", "Invalid provider source string"),
    ("x/", "Invalid provider source string"),
    ("a//x", "Invalid provider source string"),
    ("a/b/c/d", "Invalid provider source string"),
    ("https://example.com/a/b", "Invalid provider source string"),
    ("a/x_y", "Invalid provider type"),
    ("a/a b", "Invalid provider type"),
    ("a/-a", "Invalid provider type"),
    ("a/a-", "Invalid provider type"),
    ("a/?", "Invalid provider type"),
    ("a/٣", "Invalid provider type"),
    ("a/a.b", "Invalid provider type"),
    ("a/a--b", "Invalid provider type"),
    ("a_b_/x", "Invalid provider namespace"),
    ("_a/x", "Invalid provider namespace"),
    ("a_b/x_y", "Invalid provider type"),
    ("a..b/a/x", "Invalid provider source hostname"),
    (".com/a/x", "Invalid provider source hostname"),
    ("xn--80akhbyknj4f.com/a/x", "Invalid provider source hostname"),
    ("ab--cd.com/a/x", "Invalid provider source hostname"),
    ("-a.com/a/x", "Invalid provider source hostname"),
    ("a_b.com/a/x", "Invalid provider source hostname"),
    ("a b.com/a/x", "Invalid provider source hostname"),
    ("a.com:/a/x", "Invalid provider source hostname"),
    ("a.com:x/a/x", "Invalid provider source hostname"),
    ("a.com:65536/a/x", "Invalid provider source hostname"),
    ("example.com/-/x", "Invalid provider namespace"),
    ("acme/terraform-provider-x", "Invalid provider type"),
    ("acme/terraform-x", "Invalid provider type"),
]


@pytest.mark.parametrize(("source", "full"), ACCEPTED, ids=ascii)
def test_sources_that_are_accepted(source: str, full: str) -> None:
    assert str(TERRAFORM.parse_source(source)) == full


@pytest.mark.parametrize(("source", "summary"), REFUSED, ids=ascii)
def test_sources_that_are_refused(source: str, summary: str) -> None:
    with pytest.raises(AddressError) as caught:
        TERRAFORM.parse_source(source)
    assert caught.value.summary == summary


def test_the_prefix_is_taken_off_in_the_suggestion() -> None:
    with pytest.raises(AddressError, match='Did you mean "acme/x"'):
        TERRAFORM.parse_source("acme/terraform-provider-x")
    with pytest.raises(AddressError, match="redundant"):
        TERRAFORM.parse_source("acme/terraform-x")


@pytest.mark.parametrize(("dialect", "is_accepted"), [(TERRAFORM, True), (OPENTOFU, False)])
def test_the_tools_refuse_their_own_prefixes(dialect: Dialect, is_accepted: bool) -> None:
    if is_accepted:
        assert dialect.parse_source("acme/opentofu-x").type == "opentofu-x"
    else:
        with pytest.raises(AddressError, match="redundant"):
            dialect.parse_source("acme/opentofu-x")
    assert dialect.parse_source("acme/tofu-x").type == "tofu-x"


def test_each_tool_has_its_default_host() -> None:
    assert str(OPENTOFU.parse_source("acme/x")) == "registry.opentofu.org/acme/x"
    assert OPENTOFU.default_provider("aws") == OPENTOFU.parse_source("aws")
    assert str(TERRAFORM.default_provider("terraform")) == "terraform.io/builtin/terraform"


def test_lock_files_are_ordered_by_punycode_host_then_namespace_then_type() -> None:
    expected = [
        "aaa.com/a/a",
        "example.com/a/a",
        "example.com:8443/a/a",
        "registry.terraform.io/a/a",
        "registry.terraform.io/a/b",
        "registry.terraform.io/hashicorp/aws",
        "registry.terraform.io/hashicorp/aws-2",
        "registry.terraform.io/hashicorp/awscc",
        "registry.terraform.io/x-y/z",
        "испытание.com/a/a",
        "éa.com/a/a",
        "xn.com/a/a",
        "yy.com/a/a",
        "zzz.com/a/a",
    ]
    shuffled = sorted(TERRAFORM.parse_source(text) for text in reversed(expected))
    assert list(map(str, shuffled)) == expected


def test_the_short_form_leaves_the_default_host_out() -> None:
    address = TERRAFORM.parse_source("acme/x")
    assert address.short("registry.terraform.io") == "acme/x"
    assert address.short("registry.opentofu.org") == "registry.terraform.io/acme/x"


@pytest.mark.parametrize(
    ("text", "terraform", "opentofu"),
    [
        ("terraform.io/builtin/terraform", True, True),
        ("opentofu.org/builtin/terraform", False, True),
        ("a.com/builtin/x", False, False),
    ],
)
def test_what_is_built_in(text: str, terraform: bool, opentofu: bool) -> None:
    host, namespace, kind = text.split("/")
    address = ProviderAddress(host, namespace, kind)
    assert TERRAFORM.is_builtin(address) is terraform
    assert OPENTOFU.is_builtin(address) is opentofu


def test_the_header_names_the_tool() -> None:
    assert dialect_of_header(TERRAFORM.header + "\n") is TERRAFORM
    assert dialect_of_header("\ufeff" + OPENTOFU.header + "\r\n") is OPENTOFU
    assert dialect_of_header("# something else\n") is None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("linux_amd46", "linux_amd64"),
        ("windws_arm64", "windows_arm64"),
        ("dawrin_amd64", "darwin_amd64"),
        ("linux_arm64", ""),  # as it is named, though a release may have none
        ("plan9_386", ""),
        ("linux_zzz", ""),
    ],
)
def test_a_platform_that_go_has_not_may_be_another_one(text: str, meant: str) -> None:
    assert Platform.parse(text).meant == (f"did you mean {meant}?" if meant else "")


def test_platforms() -> None:
    assert str(Platform.parse("linux_amd64")) == "linux_amd64"
    for text in (
        "linux",
        "linux_",
        "_amd64",
        "a_b_c",
        "",
        "Linux_amd64",
        "linux_\x1b[2J",
        "linux_amd64\n",
        "lınux_amd64",
    ):
        with pytest.raises(ValueError, match="two words separated by an underscore"):
            Platform.parse(text)


def test_hostile_names_are_refused_at_once() -> None:
    """Normalising combining characters and writing punycode take quadratic time."""
    with pytest.raises(ValueError, match="at most 255 characters"):
        normalise_part("a" + "\u0301\u0327" * 100_000)
    with pytest.raises(ValueError, match="must contain only letters"):
        normalise_part("a" + "\u0301\u0327" * 100)
    with pytest.raises(ValueError, match="more than 255 characters"):
        read_host("xn--" + "a" * 100_000)
    with pytest.raises(ValueError, match="more than 255 characters"):
        normalise_host("".join(chr(0x4E00 + number) for number in range(20_000)))
    assert normalise_host(f"{'a' * 251}.com") == f"{'a' * 251}.com"


def test_hosts_that_a_person_copied() -> None:
    for text in ("café.test", "XN--caf-dma.test", "xn--caf-dma.test", "xn--caf-dma.test:443"):
        assert read_host(text) == "xn--caf-dma.test"
    assert read_host("xn--caf-dma.test:8443") == "xn--caf-dma.test:8443"
    for text in ("xn--\x00", "xn--a", "", "a..b"):
        with pytest.raises(ValueError, match="host name"):
            read_host(text)


def test_hosts_with_their_punycode_beside() -> None:
    assert spelt_host("registry.terraform.io") == "registry.terraform.io"
    assert spelt_host("xn--caf-dma.test:8443") == "café.test:8443 (xn--caf-dma.test:8443)"
    assert spelt_host("café.test") == "café.test (xn--caf-dma.test)"


@pytest.mark.parametrize(
    ("name", "scripts"),
    [
        ("registry.terraform.io", ("Latin",)),
        ("registry.terraform.i\N{CYRILLIC SMALL LETTER O}", ("Cyrillic", "Latin")),
        ("\N{GREEK SMALL LETTER OMICRON}penai", ("Greek", "Latin")),
        ("日本ひらカナ", ("CJK",)),
        ("123-4", ()),
    ],
)
def test_scripts(name: str, scripts: tuple[str, ...]) -> None:
    assert scripts_of(name) == scripts


def test_a_long_name_in_ascii_is_told_from_every_other_one() -> None:
    names = ["漢" * 63, "漢" * 64, "漢" * 63 + "字", "a" * 64 + "\u0430"]
    shown = [ProviderAddress("example.com", "acme", name).ascii for name in names]
    assert all(map(str.isascii, shown))
    assert len(set(shown)) == len(names)
    assert shown[3] == f"example.com/acme/{'a' * 64}\\u0430"


def test_an_address_in_ascii() -> None:
    address = ProviderAddress("xn--caf-dma.test", "acme", "d\N{CYRILLIC SMALL LETTER IE}mo")
    assert address.ascii == "xn--caf-dma.test/acme/xn--dmo-rdd"
    assert address.mixed_scripts == ("Cyrillic", "Latin")
    plain = ProviderAddress("registry.terraform.io", "acme", "demo")
    assert (plain.ascii, plain.mixed_scripts) == (str(plain), ())
