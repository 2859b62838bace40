"""Repositories of OCI registries, as the CLI configuration names them."""

from __future__ import annotations

import re
from urllib.parse import quote

from msgspec import Struct

from locklens.addresses import normalise_host
from locklens.text import visible

_NAME = re.compile(r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*\Z")
_TAG = re.compile(r"\w[\w.-]{0,127}\Z", re.ASCII)
_DIGITS = {"sha256": 64, "sha384": 96, "sha512": 128}
_REGISTRY = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?\Z")
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
