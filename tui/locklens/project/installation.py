"""`provider_installation` of the CLI configuration as values: where packages are installed from, and which ones.

A method that cannot be used is dropped with a problem, and the others count, as with the tools
(internal/command/cliconfig/provider_installation.go; patterns: `ParseMultiSourceMatchingPatterns` in
internal/getproviders/multi_source.go). Repositories of OCI registries are named by templates of addresses; refusals are
OpenTofu's (`ParseRepositoryAddressPrefix`, and `prepareOCIMirrorRepositoryMapping`), with its words.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, assert_never
from urllib.parse import quote, urlsplit

from msgspec import Struct

from locklens.addresses import ProviderAddress, normalise_host, normalise_namespace, normalise_part
from locklens.dialect import OPENTOFU, Dialect
from locklens.errors import ConfigurationError
from locklens.project.clifiles import FormatError, block_bodies, last_argument
from locklens.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Self

    from locklens.project.clifiles import Members, ObjectMember
    from locklens.project.templates import NameTemplate

_ANY = "*"
_MOST_RETRIES = 100

_PARTS = {"hostname": "registry hostname", "namespace": "provider namespace", "type": "provider"}
"""What a template may refer to, with the words for one of it."""

_EXAMPLE = ProviderAddress("example.com", "example-namespace", "example-type")
_NAME = re.compile(r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*\Z")
_TAG = re.compile(r"\w[\w.-]{0,127}\Z", re.ASCII)
_DIGITS = {"sha256": 64, "sha384": 96, "sha512": 128}
_REGISTRY = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?\Z")
_BRACES = re.compile(r"(?<![$%{])\{(\w+)\}")
_MAX_NAME = 255
"""The most characters of a repository's name; registries take no longer ones."""


class MethodKind(StrEnum):
    """The kinds of installation methods; the value is the block's name.

    Attributes:
        argument: The block's argument that names the place; "" where it has none.
        option: The option of `lock` and `upgrade` that names such a place; "" for registries, which need none.
        served: Several of this kind in words, where the place is a mirror on servers, which list hashes; else "".
    """

    argument: str
    option: str
    served: str

    def __new__(cls, name: str, argument: str = "", option: str = "", served: str = "") -> Self:
        """Return the member that is its block's name as text."""
        kind = str.__new__(cls, name)
        kind._value_ = name
        kind.argument, kind.option, kind.served = argument, option, served
        return kind

    DIRECT = "direct"
    FILESYSTEM = "filesystem_mirror", "path", "--fs-mirror"
    NETWORK = "network_mirror", "url", "--net-mirror", "network mirrors"
    OCI = "oci_mirror", "repository_template", "--oci-mirror", "OCI mirrors"

    @property
    def is_on_disk(self) -> bool:
        """True if the place is a folder of packages."""
        return self is MethodKind.FILESYSTEM

    @property
    def is_mirror(self) -> bool:
        """True if the place is a mirror: a folder, or on servers."""
        return self is not MethodKind.DIRECT


class ProviderPattern(Struct, frozen=True):
    """A pattern of `include` or `exclude`; each part is a normalised name or `*`."""

    host: str
    namespace: str
    type: str

    @classmethod
    def parse(cls, text: str, dialect: Dialect) -> ProviderPattern:
        """Read `[HOST/]NAMESPACE/TYPE`, in which outer parts may be `*` where all inner ones are.

        Raises:
            ValueError: It is malformed.
        """
        parts = text.split("/")
        if len(parts) not in {2, 3}:
            raise ValueError("a pattern is [HOST/]NAMESPACE/TYPE")
        host = dialect.default_host
        if len(parts) == 3:
            host = _ANY if parts[0] == _ANY else normalise_host(parts[0])
        own = normalise_namespace if dialect.has_underscores else normalise_part
        namespace = _ANY if parts[-2] == _ANY else own(parts[-2])
        kind = _ANY if parts[-1] == _ANY else normalise_part(parts[-1])
        if (namespace == _ANY and kind != _ANY) or (host == _ANY and namespace != _ANY):
            raise ValueError("a part before one that is no wildcard cannot be a wildcard")
        return cls(host, namespace, kind)

    def matches(self, address: ProviderAddress) -> bool:
        """True if the pattern stands for a provider."""
        pairs = (self.host, address.host), (self.namespace, address.namespace), (self.type, address.type)
        return all(pattern in {_ANY, name} for pattern, name in pairs)


class InstallationMethod(Struct, frozen=True):
    """One place to install from.

    Attributes:
        place: The folder, the base URL, or the template of repositories; "" for `direct`.
        include: Providers that are installed from there; an empty tuple stands for all.
        exclude: Providers that are not; this has precedence over `include`.
        retries: Attempts to download a package after the first; None if the block does not say.
        trusts_all_hashes: True if hashes that a network mirror lists for other platforms are recorded.
    """

    kind: MethodKind
    place: str = ""
    include: tuple[ProviderPattern, ...] = ()
    exclude: tuple[ProviderPattern, ...] = ()
    retries: int | None = None
    trusts_all_hashes: bool = False

    def accepts(self, address: ProviderAddress) -> bool:
        """True if a provider may be installed from there."""
        if any(pattern.matches(address) for pattern in self.exclude):
            return False
        return not self.include or any(pattern.matches(address) for pattern in self.include)


class Installation(Struct, frozen=True):
    """A `provider_installation` block; `dev_overrides` are providers, as written, that a folder replaces."""

    methods: tuple[InstallationMethod, ...] = ()
    dev_overrides: tuple[tuple[str, str], ...] = ()

    def mirrors_alone(self, address: ProviderAddress) -> tuple[InstallationMethod, ...]:
        """Return the mirrors that a provider is installed from; () if it may be from its registry."""
        methods = tuple(method for method in self.methods if method.accepts(address))
        return methods if all(method.kind.is_mirror for method in methods) else ()


def read_installation(
    body: Members,
    dialect: Dialect,
    *,
    is_json: bool,
    expand: Callable[[str], str],
    on_problem: Callable[[str, int], None],
) -> Installation:
    """Read a block; `on_problem` is called with what cannot be used, and its line.

    In a JSON file a block is an object or a list of objects; `expand` replaces the variables of a text.
    """
    methods: list[InstallationMethod] = []
    overrides: dict[str, str] = {}
    # HCL's reader of JSON takes an object in which all members are objects for labels of its own block.
    takes_objects = is_json and not all(isinstance(entry.value, tuple) for entry in body)
    for entry, found in _blocks(body):
        try:
            if len(entry.keys) > 1:
                on_problem(f"a {entry.keys[0]} block of provider_installation takes no label", entry.line)
            is_block = not entry.is_assigned or takes_objects or (is_json and isinstance(entry.value, list))
            if found is None or not is_block:
                words = f"the items of provider_installation must all be blocks: {entry.keys[0]}"
                raise FormatError(words, entry.line)
            if entry.keys[0] == "dev_overrides":
                if methods:
                    raise FormatError("dev_overrides must stand before all other methods", entry.line)
                put_in = expand if dialect is not OPENTOFU else str
                overrides |= {one.keys[0]: put_in(one.value) for one in found if isinstance(one.value, str)}
            else:
                methods.append(_method(entry, found, dialect))
        except FormatError as error:
            on_problem(str(error), error.line)
    return Installation(tuple(methods), tuple(overrides.items()))


def _blocks(body: Members) -> Iterator[tuple[ObjectMember, Members | None]]:
    """Yield each block with its content, None if it is no block; in JSON, one member may stand for several blocks."""
    for entry in body:
        found = block_bodies(entry.value)
        yield from ((entry, content) for content in found)
        if not found:
            yield entry, None


def _method(entry: ObjectMember, content: Members, dialect: Dialect) -> InstallationMethod:
    name, line = entry.keys[0], entry.line
    is_tofu = dialect is OPENTOFU
    kind = next((one for one in MethodKind if one == name and (is_tofu or one is not MethodKind.OCI)), None)
    if kind is None:
        raise FormatError(f'unknown installation method "{name}"', line)
    has_retries = is_tofu and kind in {MethodKind.DIRECT, MethodKind.NETWORK}
    retries = _number(content, "download_retry_count", line) if has_retries else None
    trusts = last_argument(content, "trust_all_hashes") if is_tofu and kind is MethodKind.NETWORK else None
    if trusts is not None and not isinstance(trusts.value, bool):
        raise FormatError("trust_all_hashes must be true or false", trusts.line)
    include = _patterns(content, "include", dialect)
    return InstallationMethod(
        kind,
        _place(content, kind, line, include),
        include,
        _patterns(content, "exclude", dialect),
        retries,
        trusts is not None and trusts.value is True,
    )


def _place(content: Members, kind: MethodKind, line: int, include: tuple[ProviderPattern, ...]) -> str:
    if not kind.argument:
        return ""
    found = last_argument(content, kind.argument)
    if found is None or not isinstance(found.value, str) or not found.value:
        raise FormatError(f"{kind} needs the argument {kind.argument}, a string", line)
    match kind:
        case MethodKind.NETWORK:
            check_mirror_url(found.value, found.line)
        case MethodKind.OCI:
            _check_template(found.value, include, found.line)
        case MethodKind.DIRECT | MethodKind.FILESYSTEM:
            pass
        case _:
            assert_never(kind)
    return found.value


def _check_template(text: str, include: tuple[ProviderPattern, ...], line: int) -> None:
    """Require a template of repositories that names one for each provider it is for."""
    named = {
        "hostname": {one.host for one in include},
        "namespace": {one.namespace for one in include},
        "type": {one.type for one in include},
    }
    fixed = {part: len(names - {_ANY}) for part, names in named.items()}
    if problems := list(template_problems(text, fixed)):
        raise FormatError(f"Invalid oci_mirror repository template: {'; '.join(problems)}", line)


def check_mirror_url(text: str, line: int = 0) -> None:
    """Require the URL of a network mirror: https, with a host.

    Raises:
        FormatError: It is another.
    """
    try:
        parts = urlsplit(text)
        is_valid = parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise FormatError("the URL of a network mirror must begin with https:// and a host", line)


def _patterns(content: Members, name: str, dialect: Dialect) -> tuple[ProviderPattern, ...]:
    found = last_argument(content, name)
    if found is None:
        return ()
    if not isinstance(found.value, list):
        raise FormatError(f"{name} must be a list of strings", found.line)
    patterns = []
    for item in found.value:
        try:
            if not isinstance(item, str):
                raise TypeError("it is not a string")
            patterns.append(ProviderPattern.parse(item, dialect))
        except (TypeError, ValueError) as error:
            raise FormatError(f"invalid pattern {item!r} in {name}: {error}", found.line) from error
    return tuple(patterns)


def _number(content: Members, name: str, line: int) -> int | None:
    found = last_argument(content, name)
    if found is None:
        return None
    if isinstance(found.value, bool) or not isinstance(found.value, int | float) or found.value % 1:
        raise FormatError(f"{name} must be a whole number", line)
    return max(0, min(int(found.value), _MOST_RETRIES))


class OciRepository(Struct, frozen=True):
    """A repository of a registry, which is named by its host, in lower case, with its port."""

    registry: str
    name: str

    @classmethod
    def parse(cls, text: str) -> OciRepository:
        """Read `HOST[:PORT]/NAME`.

        Raises:
            ValueError: It is none; str() says why in the words of OpenTofu (ParseRepositoryAddressPrefix).
        """
        registry, slash, path = text.partition("/")
        if not slash:
            raise ValueError("invalid reference: missing registry or repository")
        name, has_digest, reference = path.partition("@")
        if has_digest:
            name = name.partition(":")[0]
        else:
            name, _, reference = path.partition(":")
        host = _registry(registry)
        if len(name) > _MAX_NAME or not _NAME.match(name):
            raise ValueError(visible(f'invalid reference: invalid repository "{name[:_MAX_NAME]}"'))
        if reference:
            if not has_digest and not _TAG.match(reference):
                raise ValueError(visible(f'invalid reference: invalid tag "{reference[:_MAX_NAME]}"'))
            if has_digest and not is_digest(reference):
                raise ValueError(visible(f'invalid reference: invalid digest "{reference[:_MAX_NAME]}"'))
            raise ValueError("invalid reference: artifact tag or digest not allowed")
        return cls(host, name)

    def __str__(self) -> str:
        return f"{self.registry}/{self.name}"

    def url(self, *parts: str) -> str:
        """Return the URL of something in the repository; Docker's registry is on another host than its name says."""
        host = "registry-1.docker.io" if self.registry == "docker.io" else self.registry
        return "/".join((f"https://{host}/v2", self.name, *(quote(part, safe=":/") for part in parts)))


def _registry(text: str) -> str:
    if text.isascii() and _REGISTRY.match(text):
        return text.lower()
    try:
        return normalise_host(text)
    except ValueError:
        raise ValueError(visible(f'invalid reference: invalid registry "{text[:_MAX_NAME]}"')) from None


def is_digest(text: str) -> bool:
    """True if a text is a digest by an algorithm that can be computed."""
    algorithm, _, digits = text.partition(":")
    return len(digits) == _DIGITS.get(algorithm) and not digits.strip("0123456789abcdef")


def require_oci(dialect: Dialect) -> None:
    """Require a tool that installs providers from OCI registries.

    Raises:
        ConfigurationError: It does not.
    """
    if dialect is not OPENTOFU:
        words = f"{dialect.product} does not install providers from OCI registries"
        raise ConfigurationError(words, hint="with --tool opentofu the roots are OpenTofu's")


def given_template(text: str) -> str:
    """Return the template that a typed `[oci://]HOST/REPOSITORY` stands for.

    In it `{type}` is `${type}`, which a shell would replace: the URI template of OpenTofu's `-oci-mirror`.

    Raises:
        ValueError: It names no repository; str() says why.
    """
    template = _BRACES.sub(r"${\1}", text.removeprefix("oci://"))
    repository_of(template, _EXAMPLE)
    return template


@lru_cache(maxsize=64)
def _read(template: str) -> NameTemplate:
    from locklens.project.templates import read_template

    return read_template(template)


def repository_of(template: str, address: ProviderAddress) -> OciRepository:
    """Return the repository that a template names for a provider.

    Raises:
        ValueError: It names none; str() says why.
    """
    return OciRepository.parse(_evaluated(template, address))


def _evaluated(template: str, address: ProviderAddress) -> str:
    return _read(template).value({"hostname": address.host, "namespace": address.namespace, "type": address.type})


def template_problems(template: str, fixed: Mapping[str, int]) -> Iterator[str]:
    """Yield what keeps a template from naming a repository for every provider, in sentences without their full stops.

    `fixed` has how many different names the `include` patterns have for a part of the address.
    """
    from locklens.project.templates import TemplateError, UnreadableTemplateError

    try:
        names = _read(template).names
    except UnreadableTemplateError:
        return  # OpenTofu may well read it: each provider that it is for is an error then.
    except TemplateError as error:
        yield str(error)
        return
    unknown = [name for name in names if name not in _PARTS]
    for name in unknown:
        allowed = 'Only "hostname", "namespace", and "type" are available'
        yield f'the symbol "{name}" is not available for an OCI mirror repository address template. {allowed}'
    for part, words in _PARTS.items():
        if part not in names and fixed.get(part) != 1:
            yield (
                f'template must refer to the "{part}" symbol unless the "include" argument selects exactly one {words}'
            )
            unknown.append(part)
    if unknown:
        return
    try:
        example = _evaluated(template, _EXAMPLE)
    except TemplateError as error:
        yield str(error)
        return
    try:
        # Without a slash it is a registry's address, which OpenTofu accepts here, and refuses for each provider.
        OciRepository.parse(example if "/" in example else f"{example}/example")
    except ValueError:
        yield (
            "template must generate a valid OCI repository address, including a registry hostname followed by a slash "
            "and then a repository name"
        )
