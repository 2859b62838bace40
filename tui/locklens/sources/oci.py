"""OCI registries as values: digests, logins, manifests, and what a registry demands or refuses (OCI Distribution 1.1).

No I/O. A manifest proves nothing about a provider: that its bytes are those that its digest names is all that is said.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from locklens.project.cliconfig import Token
from locklens.sources import documents
from locklens.sources.documents import ShapeError
from locklens.text import visible

if TYPE_CHECKING:
    from locklens.project.oci import OciRepository
    from locklens.project.oci_credentials import OciLogin

INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
MANIFEST_TYPES = (
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    MANIFEST_TYPE,
    INDEX_TYPE,
    "application/vnd.oci.artifact.manifest.v1+json",
)
"""Media types of manifests that are asked for by a tag, so that one of a wrong kind is told as such."""

_SCHEME = re.compile(r"\s*([A-Za-z]+)")
_PARAMETER = re.compile(
    r'[ \t]*([\w!#$%&\'*+.^`|~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&\'*+.^`|~-]+))[ \t]*'
)
_MAX_CHALLENGE, _MAX_CODE, _MAX_WORDS, _MAX_ERRORS = 8192, 64, 512, 16
"""Characters of a challenge and of an error's code and words, and errors that are read of one answer."""


def has_digest(data: bytes, digest: str) -> bool:
    """True if bytes have a digest, which `is_digest` takes for one."""
    algorithm, _, digits = digest.partition(":")
    return hashlib.new(algorithm, data).hexdigest() == digits


def basic_token(login: OciLogin) -> Token:
    """Return a user and a password for an Authorization header."""
    return Token(base64.b64encode(f"{login.user}:{login.password}".encode()).decode(), scheme="Basic")


class OciCredentials(Protocol):
    """The user's logins. Thread-safe; asked when a registry demands one."""

    def for_repository(self, repository: OciRepository) -> OciLogin | None:
        """Return the login that is set for a repository; None to ask without.

        Raises:
            UnavailableError: It cannot be told, such as where a credential helper fails.
        """


class Manifest(Struct, frozen=True):
    """A manifest, whose bytes have the digest that it was asked by, or that the registry says.

    Attributes:
        digest: By SHA-256 where it was asked by a tag.
        media_type: As the answer's Content-Type has it, in lower case.
        body: Its bytes.
    """

    digest: str
    media_type: str
    body: bytes


class Challenge(Struct, frozen=True):
    """What a registry demands: "basic", or "bearer" with the place for tokens; "" for a scheme that is not known."""

    scheme: str
    realm: str = ""
    service: str = ""
    scopes: tuple[str, ...] = ()

    @classmethod
    def parse(cls, header: str) -> Challenge:
        """Read a WWW-Authenticate header; its first challenge counts."""
        found = _SCHEME.match(header[:_MAX_CHALLENGE])
        scheme = found[1].lower() if found else ""
        if found is None or scheme not in {"basic", "bearer"}:
            return cls("")
        given: dict[str, str] = {}
        position = found.end()
        while parameter := _PARAMETER.match(header, position):
            value = parameter[3] if parameter[2] is None else re.sub(r"\\(.)", r"\1", parameter[2])
            given.setdefault(parameter[1].lower(), value)
            position = parameter.end() + 1
            if header[parameter.end() : position] != ",":
                break
        scopes = tuple(given.get("scope", "").split())
        return cls(scheme, given.get("realm", ""), given.get("service", ""), scopes)


def errors_of(body: bytes) -> tuple[tuple[str, ...], str]:
    """Return the codes of a registry's error, and its first words; none where its body says nothing."""
    if not body:
        return (), ""
    try:
        with documents.opened(body) as fields:
            found = [
                (one.text("code", _MAX_CODE), one.text("message", _MAX_WORDS))
                for one in fields.objects("errors", _MAX_ERRORS)
            ]
    except ShapeError:
        return (), ""
    words = next((f"{code}: {message}" if message else code for code, message in found if code), "")
    return tuple(code for code, _ in found), visible(" ".join(words.split()))
