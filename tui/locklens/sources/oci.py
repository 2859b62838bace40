"""OCI registries as values, and the user's logins to them, as OpenTofu selects them (OCI Distribution 1.1).

The values are digests, manifests, and what a registry demands or refuses. A manifest proves nothing about a provider:
that its bytes are those that its digest names is all that is said. Logins come from blocks, files and helper programs.
"""

from __future__ import annotations

import base64
import hashlib
import re
import threading
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import display_host
from locklens.errors import UnavailableError
from locklens.project.cliconfig import Token
from locklens.project.oci_credentials import GLOBAL, DockerConfig, LoginMatch, docker_style_files
from locklens.sources import documents
from locklens.sources.documents import ShapeError
from locklens.sources.helpers import docker_login
from locklens.storage.files import open_regular
from locklens.text import reason_of, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from locklens.project.installation import OciRepository
    from locklens.project.oci_credentials import OciCredentialsSettings, OciLogin

INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
MANIFEST_TYPES = (
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    MANIFEST_TYPE,
    INDEX_TYPE,
    "application/vnd.oci.artifact.manifest.v1+json",
)
"""Media types of manifests that are asked for by a tag, so that one of a wrong kind is recognised as such."""

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


class Manifest(Struct, frozen=True):
    """A manifest, whose bytes have the digest that it was asked by, or that the registry says.

    Attributes:
        digest: By SHA-256 where it was asked by a tag.
        media_type: As the answer's Content-Type has it, in lower case.
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


_MAX_FILE = 1024 * 1024
"""The most bytes of a file of Docker or Podman; one with a hundred logins has 10 KB."""


class ConfiguredLogins:
    """The logins that the user's settings have. Thread-safe; files are read, and helpers run, when one is asked for."""

    def __init__(self, settings: OciCredentialsSettings, environ: Mapping[str, str]) -> None:
        self.problems: list[str] = []
        self._settings = settings
        self._environ = environ
        self._lock = threading.Lock()
        self._read: tuple[DockerConfig, ...] | UnavailableError | None = None
        self._said: dict[tuple[str, str], OciLogin | ValueError | None] = {}

    def for_repository(self, repository: OciRepository) -> OciLogin | None:
        """Return the login that is set for a repository; None to ask without.

        Raises:
            UnavailableError: It cannot be known: a file that the CLI configuration names cannot be read, credentials
                that match are malformed, or the helper failed.
        """
        with self._lock:
            best, problems = LoginMatch(0), list[str]()
            for one in self._matching(repository):
                if one.problem:
                    problems.append(one.problem)
                elif one.specificity > best.specificity:
                    best = one
            if not best.specificity:
                return None  # Even if there are problems: `CredentialsSourceForRepository` drops them here.
            if problems:
                raise _unavailable(repository, problems[0], "mend these credentials, or remove them")
            return self._asked(best.helper, repository) if best.helper else best.login

    def _matching(self, repository: OciRepository) -> Iterator[LoginMatch]:
        for block in self._settings.blocks:
            yield from block.matching(repository)
        if self._settings.helper:
            yield LoginMatch(GLOBAL, helper=self._settings.helper)
        if self._settings.discovers:
            if self._read is None:
                self._read = self._files(repository)
            if isinstance(self._read, UnavailableError):
                raise self._read.twin()
            for config in self._read:
                yield from config.matching(repository)

    def _files(self, repository: OciRepository) -> tuple[DockerConfig, ...] | UnavailableError:
        """Read the files that are named, or those in the usual places."""
        named = self._settings.files
        found: list[DockerConfig] = []
        problems: list[str] = []
        for path in docker_style_files(self._environ) if named is None else named:
            try:
                found.append(DockerConfig.parse(_data(path), path))
            except FileNotFoundError as error:
                problems += [] if named is None else [f"{path} cannot be read: {reason_of(error)}"]
            except OSError as error:
                problems.append(f"{path} cannot be read: {reason_of(error)}")
            except ValueError as error:
                problems.append(f"{path} cannot be used: {error}")
        if not problems:
            return tuple(found)
        if named is not None:
            return _unavailable(repository, problems[0], "check docker_style_config_files in the CLI configuration")
        # `discoverAmbientOCICredentials` uses none of them then, and goes on.
        self.problems += [visible(f"{words}; no file of Docker or Podman is used") for words in problems]
        return ()

    def _asked(self, helper: str, repository: OciRepository) -> OciLogin | None:
        key = helper, repository.registry
        if key not in self._said:
            try:
                self._said[key] = docker_login(helper, f"https://{repository.registry}")
            except ValueError as error:
                self._said[key] = error
        found = self._said[key]
        if isinstance(found, ValueError):
            words = f"the credential helper docker-credential-{helper} failed: {found}"
            raise _unavailable(repository, words, "run the helper by hand to see its output")
        return found


def _data(path: Path) -> bytes:
    with open_regular(path) as file:
        data = file.read(_MAX_FILE + 1)
    if len(data) > _MAX_FILE:
        raise ValueError("it has more than 1 MiB")
    return data


def _unavailable(repository: OciRepository, words: str, hint: str) -> UnavailableError:
    name = display_host(repository.registry)
    return UnavailableError(
        visible(f"the credentials for {repository} are unavailable: {words}"), source=name, hint=hint
    )
