"""Provider addresses and platforms: parse, order, print.

A provider address is HOST/NAMESPACE/TYPE. Hosts have two forms: the comparison form (punycode, what addresses are
ordered and compared by) and the display form (Unicode, what lock files and messages show). What differs between
Terraform and OpenTofu (default host, redundant type prefixes) is handed in; see `locklens.dialect`.

This module does not know which addresses are built in or legacy for a tool.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.nfc import check_combining

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN_PART = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_UNDERSCORED = re.compile(r"[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?\Z", re.ASCII | re.IGNORECASE)
_PLAIN_HOST = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*\Z")
_PLATFORM = re.compile(r"([a-z0-9]+)_([a-z0-9]+)\Z")
_GO_SYSTEMS = (
    *("linux", "darwin", "windows", "freebsd", "netbsd", "openbsd", "dragonfly"),
    *("solaris", "illumos", "aix", "android", "ios", "plan9", "js", "wasip1"),
)
_GO_PROCESSORS = (
    *("amd64", "arm64", "386", "arm", "loong64", "mips", "mipsle", "mips64", "mips64le"),
    *("ppc64", "ppc64le", "riscv64", "s390x", "wasm"),
)
"""The values of GOOS and GOARCH (`go tool dist list`)."""
_PORT = re.compile(r"[+-]?[0-9]+\Z")
_MAX_PORT = 65535
_HTTPS_PORT = 443
_MAX_NAME = 255
"""The most characters of a host, a namespace or a type: DNS has no longer hosts, and no system has
a longer folder or program, so a provider with a longer name cannot be installed. (The tools refuse it there.)"""
_MAX_LABEL = 63
"""The most letters that are written in punycode, which takes quadratic time: DNS has no longer labels."""

LEGACY_NAMESPACE = "-"
"""The namespace that Terraform 0.12 states used before providers had one."""


class AddressError(ValueError):
    """A text is not a provider address; `summary` and `detail` are the real tools' words."""

    def __init__(self, summary: str, detail: str) -> None:
        super().__init__(f"{summary}: {detail}")
        self.summary = summary
        self.detail = detail


class ProviderAddress(Struct, frozen=True):
    """A provider's full address, ordered as the lock file orders it: by comparison host, namespace, type, bytewise.

    Attributes:
        host: Comparison form: punycode, lower case, with `:PORT` unless it is 443.
        namespace: Normalised Unicode text, or "-" for a legacy address.
        type: Normalised Unicode text.
    """

    host: str
    namespace: str
    type: str

    def __str__(self) -> str:
        """The full display form, which is the label of the lock file's block."""
        return f"{display_host(self.host)}/{self.namespace}/{self.type}"

    def short(self, default_host: str) -> str:
        """The form that messages use: the host is left out where it is `default_host`."""
        name = f"{self.namespace}/{self.type}"
        return name if self.host == default_host else f"{display_host(self.host)}/{name}"

    @property
    def is_ascii(self) -> bool:
        """True if each of its names is, in the form that is shown."""
        return self.namespace.isascii() and self.type.isascii() and display_host(self.host).isascii()

    @property
    def ascii(self) -> str:
        """The full address in ASCII, in which no letter looks like another one: its names in punycode, or escaped."""
        return "/".join((self.host, _in_ascii(self.namespace), _in_ascii(self.type)))

    @property
    def mixed_scripts(self) -> tuple[str, ...]:
        """The scripts that one of its names mixes, such as Cyrillic and Latin; () where none does."""
        names = (display_host(self.host), self.namespace, self.type)
        return next((found for name in names if len(found := scripts_of(name)) > 1), ())

    @property
    def sort_key(self) -> tuple[bytes, bytes, bytes]:
        """Key of the lock file's order."""
        return self.host.encode(), self.namespace.encode(), self.type.encode()

    def __lt__(self, other: ProviderAddress) -> bool:
        return self.sort_key < other.sort_key


def display_host(host: str) -> str:
    """Return the Unicode rendering of a host in comparison form, with its port."""
    if "xn--" not in host:
        return host
    import idna

    name, colon, port = host.partition(":")
    try:
        return idna.decode(name) + colon + port
    except idna.IDNAError:
        return host


def spelt_host(host: str) -> str:
    """Return a host, in whichever form, as messages show it: with its punycode beside it where it is not ASCII."""
    if not host.isascii():
        host = normalise_host(host)
    shown = display_host(host)
    return shown if shown == host else f"{shown} ({host})"


_WRITTEN_TOGETHER = frozenset({"CJK", "Hiragana", "Katakana", "Hangul", "Bopomofo"})


def scripts_of(name: str) -> tuple[str, ...]:
    """Return the scripts that a name's letters are of, in order; those of one language's usual mixture count as one.

    Python's Unicode tables know no scripts, but the name of each letter begins with its script's.
    """
    found = {unicodedata.name(letter, "?").partition(" ")[0].capitalize() for letter in name if letter.isalpha()}
    found = {"CJK" if script.upper() == "CJK" else script for script in found}
    return tuple(sorted(found - _WRITTEN_TOGETHER | ({"CJK"} if found & _WRITTEN_TOGETHER else set())))


def _in_ascii(name: str) -> str:
    return _punycode(name) if len(name) <= _MAX_LABEL else name.encode("ascii", "backslashreplace").decode()


@lru_cache(maxsize=1024)
def _punycode(label: str) -> str:
    return label if label.isascii() else "xn--" + label.encode("punycode").decode()


def from_ascii(name: str) -> str:
    """Return a namespace or type from its punycode, which no name is itself; any other text unchanged."""
    try:
        return name[4:].encode("ascii").decode("punycode") if name.startswith("xn--") else name
    except UnicodeError:
        return name


def normalise_part(text: str) -> str:
    """Return a namespace, type or local name in the form that addresses are compared by.

    Raises:
        ValueError: The text is none; str() says why in the real tools' words.
    """
    if len(text) > _MAX_NAME:
        raise ValueError(f"must have at most {_MAX_NAME} characters")
    if _PLAIN_PART.match(text):
        return text
    if not text:
        raise ValueError("must have at least one character")
    if "." in text:
        raise ValueError("dots are not allowed")
    if "--" in text:
        raise ValueError("cannot use multiple consecutive dashes")
    return _idna_label(text)


def normalise_namespace(text: str) -> str:
    """Return a namespace in the form that addresses are compared by: as any part, and underscores may be in it.

    Terraform reads such from 1.16 on (ParseProviderNamespace of terraform-registry-address), and nothing else that is
    not in a part. Beside underscores only ASCII is taken here, so that no mapping can put a dot or a slash into it.

    Raises:
        ValueError: The text is none; str() says why in Terraform's words.
    """
    if len(text) > _MAX_NAME or "_" not in text or "." in text or "--" in text:
        return normalise_part(text)
    if not _UNDERSCORED.match(text):
        raise ValueError(
            "must contain only letters, digits, dashes, and underscores, and may not use leading or trailing dashes or "
            "underscores"
        )
    return text.lower()


def _idna_label(text: str) -> str:
    """Map one label as UTS 46 lookup does, to Unicode, without the limit of a label in DNS."""
    import idna

    try:
        check_combining(text)
        mapped = idna.uts46_remap(text, std3_rules=True, transitional=False)
        if not mapped or "." in mapped or mapped[0] == "-" or mapped[-1] == "-" or mapped[2:4] == "--":
            raise idna.IDNAError("label")
        idna.check_initial_combiner(mapped)
        idna.check_nfc(mapped)
        for position, character in enumerate(mapped):
            if character in "\u200c\u200d" and not idna.valid_contextj(mapped, position):
                raise idna.IDNAError("joiner")
        idna.check_bidi(mapped)
        if len(mapped) > _MAX_NAME:  # one character may stand for eighteen letters
            raise idna.IDNAError("length")
    except (idna.IDNAError, ValueError, IndexError) as error:
        raise ValueError(
            "must contain only letters, digits, and dashes, and may not use leading or trailing dashes"
        ) from error
    return mapped


def normalise_host(text: str) -> str:
    """Return the comparison form of a host that a person wrote.

    Raises:
        ValueError: The text is not a host name; str() says why.
    """
    name, colon, port = text.partition(":")
    suffix = ""
    if colon:
        if not _PORT.match(port) or int(port) > _MAX_PORT:
            raise ValueError("the port must be a number of at most 65535")
        suffix = "" if int(port) == _HTTPS_PORT else f":{int(port)}"
    if not name:
        raise ValueError("the host name is empty")
    if len(name) > _MAX_NAME:
        raise ValueError(f"the host name has more than {_MAX_NAME} characters")
    if _PLAIN_HOST.match(name) and "--" not in name:
        return name + suffix
    labels = re.split("[.\u3002\uff0e\uff61]", name)
    trailing = len(labels) > 1 and not labels[-1]
    if trailing:
        labels.pop()
    return ".".join(_host_label(label) for label in labels) + ("." if trailing else "") + suffix


def read_host(text: str) -> str:
    """Return the comparison form of a host that a person typed or copied, be it in punycode.

    Raises:
        ValueError: The text is not a host name; str() says why.
    """
    import idna

    if "/" in text:
        raise ValueError("a host is written without a scheme and without a path")
    name, colon, port = text.partition(":")
    if len(name) > _MAX_NAME:
        raise ValueError(f"the host name has more than {_MAX_NAME} characters")
    try:
        labels = [idna.ulabel(label.lower()) if label[:4].lower() == "xn--" else label for label in name.split(".")]
    except idna.IDNAError as error:
        raise ValueError("the host name holds characters that are not allowed") from error
    return normalise_host(".".join(labels) + colon + port)


def _host_label(label: str) -> str:
    if not label:
        raise ValueError("the host name has an empty label")
    if label.startswith("xn--"):
        raise ValueError("the host name is written in punycode; write it in Unicode")
    import idna

    if label[:4].lower() == "xn--":
        try:
            unicode_label = idna.ulabel(label.lower())
        except idna.IDNAError as error:
            raise ValueError("the host name holds characters that are not allowed") from error
        return idna.alabel(unicode_label).decode()
    mapped = _idna_label(label)
    if len(mapped) > _MAX_LABEL and not mapped.isascii():
        raise ValueError(f"a label of the host name has more than {_MAX_LABEL} characters")
    return _punycode(mapped)


def parse_source(
    text: str, *, default_host: str, redundant_prefixes: tuple[str, ...] = ("terraform-",), has_underscores: bool = True
) -> ProviderAddress:
    """Read a provider source as a configuration has it: `[HOST/][NAMESPACE/]TYPE`.

    Args:
        text: The source as written.
        default_host: The running tool's default host in comparison form.
        redundant_prefixes: Prefixes that a type may not have, e.g. "terraform-".
        has_underscores: True if the tool reads namespaces with underscores.

    Raises:
        AddressError: With the real tools' summary; the type is judged before the namespace, the namespace before the
        host.
    """
    parts = text.split("/")
    if len(parts) > 3 or not all(parts):
        raise AddressError(
            "Invalid provider source string",
            'The "source" attribute must be in the format "[hostname/][namespace/]name"',
        )
    kind = _part(parts[-1], "Invalid provider type", f'Invalid provider type {parts[-1]!r} in source "{text}"')
    if len(parts) == 1:
        return ProviderAddress(default_host, "hashicorp", kind)
    if parts[-2] == LEGACY_NAMESPACE:
        namespace = LEGACY_NAMESPACE
    else:
        namespace = _part(
            parts[-2],
            "Invalid provider namespace",
            f'Invalid provider namespace {parts[-2]!r} in source "{text}"',
            normalise_namespace if has_underscores else normalise_part,
        )
    host = default_host
    if len(parts) == 3:
        try:
            host = normalise_host(parts[0])
        except ValueError as error:
            raise AddressError(
                "Invalid provider source hostname",
                f'Invalid provider source hostname {parts[0]!r} in source "{text}": {error}',
            ) from error
    if namespace == LEGACY_NAMESPACE and host != default_host:
        raise AddressError(
            "Invalid provider namespace",
            f'The legacy provider namespace "-" can be used only with hostname {display_host(default_host)}.',
        )
    for prefix in redundant_prefixes:
        _refuse_prefix(kind, prefix, namespace)
    return ProviderAddress(host, namespace, kind)


def _part(text: str, summary: str, lead: str, normalise: Callable[[str], str] = normalise_part) -> str:
    try:
        return normalise(text)
    except ValueError as error:
        raise AddressError(summary, f"{lead}: {error}") from error


def _refuse_prefix(kind: str, prefix: str, namespace: str) -> None:
    if not kind.startswith(prefix):
        return
    long_prefix = prefix + "provider-"
    if kind.startswith(long_prefix) and kind != long_prefix:
        suggestion = kind.removeprefix(long_prefix)
        raise AddressError(
            "Invalid provider type",
            f'Provider source has a type with the prefix "{long_prefix}", which isn\'t valid. '
            f'Did you mean "{namespace}/{suggestion}"?',
        )
    raise AddressError("Invalid provider type", f'The prefix "{prefix}" in a provider type is redundant.')


@lru_cache(maxsize=4096)
def parse_plain(text: str) -> ProviderAddress | None:
    """Read a full address that is plain ASCII in normal form, as nearly all are; None for any other text."""
    if len(text) > _MAX_NAME:
        return None
    host, _, rest = text.partition("/")
    namespace, _, kind = rest.partition("/")
    plain = _PLAIN_HOST.match(host) and "--" not in host and _PLAIN_PART.match(namespace) and _PLAIN_PART.match(kind)
    return ProviderAddress(host, namespace, kind) if plain else None


class Platform(Struct, frozen=True, order=True):
    """An operating system and a processor architecture, in Go's names, e.g. linux_amd64."""

    os: str
    arch: str

    def __str__(self) -> str:
        return f"{self.os}_{self.arch}"

    @classmethod
    def parse(cls, text: str) -> Platform:
        """Read `OS_ARCH`.

        Raises:
            ValueError: The text is not two words separated by an underscore, each of lower-case ASCII letters and
                digits, as all names of Go's GOOS and GOARCH are. (The tools take any but white space.)
        """
        found = _PLATFORM.match(text)
        if found is None:
            raise ValueError(
                f"invalid platform {text!r}: must be two words separated by an underscore, e.g. linux_amd64"
            )
        return cls(found[1], found[2])

    @property
    def meant(self) -> str:
        """The question whether a platform with names like these was meant; "" where both are Go's, or one is like none.

        A release never has packages for a platform with other names than Go's.
        """
        from difflib import get_close_matches

        system = get_close_matches(self.os, _GO_SYSTEMS, 1)
        processor = get_close_matches(self.arch, _GO_PROCESSORS, 1)
        if not system or not processor or (system[0], processor[0]) == (self.os, self.arch):
            return ""
        return f"did you mean {system[0]}_{processor[0]}?"
