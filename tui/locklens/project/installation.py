"""`provider_installation` of the CLI configuration as values: where packages are installed from, and which ones.

A method that cannot be used is dropped with a problem, and the others count, as with the tools
(internal/command/cliconfig/provider_installation.go; patterns: `ParseMultiSourceMatchingPatterns` in
internal/getproviders/multi_source.go).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from locklens.addresses import ProviderAddress, normalise_host, normalise_namespace, normalise_part
from locklens.dialect import OPENTOFU, Dialect
from locklens.project.clifiles import ObjectMember, block_bodies, last_argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Self

    _Objects = tuple[ObjectMember, ...]

_ANY = "*"
_MOST_RETRIES = 100


class MethodKind(StrEnum):
    """The kinds of installation methods; the value is the block's name.

    Attributes:
        argument: The block's argument that names the place; "" where it has none.
        is_on_disk: True if the place is a folder of packages.
        is_tofu_only: True if Terraform does not know the block.
    """

    argument: str
    is_on_disk: bool
    is_tofu_only: bool

    def __new__(cls, name: str, argument: str = "", is_on_disk: bool = False, is_tofu_only: bool = False) -> Self:
        """Return the member that is its block's name as text."""
        kind = str.__new__(cls, name)
        kind._value_ = name
        kind.argument, kind.is_on_disk, kind.is_tofu_only = argument, is_on_disk, is_tofu_only
        return kind

    DIRECT = "direct"
    FILESYSTEM = "filesystem_mirror", "path", True
    NETWORK = "network_mirror", "url"
    OCI = "oci_mirror", "repository_template", False, True


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
        kind: What the place is.
        place: The folder, the base URL, or the template of repositories; "" for `direct`.
        include: Providers that are installed from there; none stands for all.
        exclude: Those that are not; more important than `include`.
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
    """A `provider_installation` block.

    Attributes:
        methods: In the block's order.
        dev_overrides: Providers, as written, that another folder replaces when the tool runs them.
    """

    methods: tuple[InstallationMethod, ...] = ()
    dev_overrides: tuple[tuple[str, str], ...] = ()


class MethodError(ValueError):
    """A method cannot be used; `line` is its line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def read_installation(
    body: _Objects,
    dialect: Dialect,
    *,
    is_json: bool,
    expand: Callable[[str], str],
    on_problem: Callable[[str, int], None],
) -> Installation:
    """Read a block.

    Args:
        body: Its content.
        dialect: The tool.
        is_json: True if it is of a JSON file, in which a block is an object or a list of objects.
        expand: Replaces the variables of a text.
        on_problem: Called with what cannot be used, and its line.
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
                raise MethodError(words, entry.line)
            if entry.keys[0] == "dev_overrides":
                if methods:
                    raise MethodError("dev_overrides must stand before all other methods", entry.line)
                overrides |= _overrides(found, expand if dialect is not OPENTOFU else str)
            else:
                methods.append(_method(entry, found, dialect))
        except MethodError as error:
            on_problem(str(error), error.line)
    return Installation(tuple(methods), tuple(overrides.items()))


def _blocks(body: _Objects) -> Iterator[tuple[ObjectMember, _Objects | None]]:
    """Yield each block with its content; in JSON, one member may stand for several blocks. None for what is none."""
    for entry in body:
        found = block_bodies(entry.value)
        yield from ((entry, content) for content in found)
        if not found:
            yield entry, None


def _overrides(content: _Objects, expand: Callable[[str], str]) -> dict[str, str]:
    return {member.keys[0]: expand(member.value) for member in content if isinstance(member.value, str)}


def _method(entry: ObjectMember, content: _Objects, dialect: Dialect) -> InstallationMethod:
    name, line = entry.keys[0], entry.line
    is_tofu = dialect is OPENTOFU
    kind = next((one for one in MethodKind if one == name and (is_tofu or not one.is_tofu_only)), None)
    if kind is None:
        raise MethodError(f'unknown installation method "{name}"', line)
    is_repeated = is_tofu and kind in {MethodKind.DIRECT, MethodKind.NETWORK}
    retries = _number(content, "download_retry_count", line) if is_repeated else None
    trusts = last_argument(content, "trust_all_hashes") if is_tofu and kind is MethodKind.NETWORK else None
    if trusts is not None and not isinstance(trusts.value, bool):
        raise MethodError("trust_all_hashes must be true or false", trusts.line)
    include = _patterns(content, "include", dialect)
    return InstallationMethod(
        kind,
        _place(content, kind, line, include),
        include,
        _patterns(content, "exclude", dialect),
        retries,
        trusts is not None and trusts.value is True,
    )


def _place(content: _Objects, kind: MethodKind, line: int, include: tuple[ProviderPattern, ...]) -> str:
    if not kind.argument:
        return ""
    found = last_argument(content, kind.argument)
    if found is None or not isinstance(found.value, str) or not found.value:
        raise MethodError(f"{kind} needs the argument {kind.argument}, a string", line)
    if kind is MethodKind.NETWORK:
        check_mirror_url(found.value, found.line)
    if kind is MethodKind.OCI:
        check_template(found.value, include, found.line)
    return found.value


def check_template(text: str, include: Iterable[ProviderPattern] = (), line: int = 0) -> None:
    """Require a template of repositories that names one for each provider it is for.

    Raises:
        MethodError: It is another.
    """
    patterns = tuple(include)
    named = {
        "hostname": {one.host for one in patterns},
        "namespace": {one.namespace for one in patterns},
        "type": {one.type for one in patterns},
    }
    fixed = {part: len(names - {_ANY}) for part, names in named.items()}
    from locklens.project.oci import template_problems

    if problems := list(template_problems(text, fixed)):
        raise MethodError(f"Invalid oci_mirror repository template: {'; '.join(problems)}", line)


def check_mirror_url(text: str, line: int = 0) -> None:
    """Require the URL of a network mirror: https, with a host.

    Raises:
        MethodError: It is another.
    """
    try:
        parts = urlsplit(text)
        is_valid = parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise MethodError("the URL of a network mirror must begin with https:// and a host", line)


def _patterns(content: _Objects, name: str, dialect: Dialect) -> tuple[ProviderPattern, ...]:
    found = last_argument(content, name)
    if found is None:
        return ()
    if not isinstance(found.value, list):
        raise MethodError(f"{name} must be a list of strings", found.line)
    patterns = []
    for item in found.value:
        try:
            if not isinstance(item, str):
                raise TypeError("it is not a string")
            patterns.append(ProviderPattern.parse(item, dialect))
        except (TypeError, ValueError) as error:
            raise MethodError(f"invalid pattern {item!r} in {name}: {error}", found.line) from error
    return tuple(patterns)


def _number(content: _Objects, name: str, line: int) -> int | None:
    found = last_argument(content, name)
    if found is None:
        return None
    if isinstance(found.value, bool) or not isinstance(found.value, int | float) or found.value % 1:
        raise MethodError(f"{name} must be a whole number", line)
    return max(0, min(int(found.value), _MOST_RETRIES))
