"""Repositories of OCI registries, as the CLI configuration names them: addresses, and templates of addresses.

Refusals are those of OpenTofu (`ParseRepositoryAddressPrefix`, and `prepareOCIMirrorRepositoryMapping` of
internal/command/cliconfig/provider_installation.go), with its words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec import Struct

from locklens.addresses import ProviderAddress, normalise_host
from locklens.dialect import OPENTOFU, Dialect
from locklens.errors import ConfigurationError
from locklens.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from locklens.project.templates import NameTemplate


_PARTS = {"hostname": "registry hostname", "namespace": "provider namespace", "type": "provider"}
"""What a template may refer to, with the words for one of it."""

_EXAMPLE = ProviderAddress("example.com", "example-namespace", "example-type")

_NAME = re.compile(r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*\Z")
_TAG = re.compile(r"\w[\w.-]{0,127}\Z", re.ASCII)
_DIGITS = {"sha256": 64, "sha384": 96, "sha512": 128}
_REGISTRY = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?\Z")
_BRACES = re.compile(r"(?<![$%{])\{(\w+)\}")
_MAX_NAME = 255
"""Characters of a repository's name; registries take no longer ones."""


class OciRepository(Struct, frozen=True):
    """A repository of a registry.

    Attributes:
        registry: The registry's host with its port, as written; the host in lower case.
        name: The repository's name there.
    """

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
    """Return the template that `[oci://]HOST/REPOSITORY` of a command line stands for.

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

    Args:
        template: As written.
        fixed: How many different names the `include` patterns have for a part of the address.
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
