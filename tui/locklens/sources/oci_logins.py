"""The user's logins to OCI registries: from blocks, files and helper programs, as OpenTofu selects them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from locklens.addresses import display_host
from locklens.errors import UnavailableError
from locklens.project.oci_credentials import GLOBAL, DockerConfig, LoginMatch, docker_style_files
from locklens.sources.helpers import docker_login
from locklens.sources.mirrors import opened_file
from locklens.text import reason_of, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from locklens.project.oci import OciRepository
    from locklens.project.oci_credentials import OciCredentialsSettings, OciLogin

_MAX_FILE = 1024 * 1024
"""Bytes of a file of Docker or Podman; one with a hundred logins has 10 KB."""


class ConfiguredLogins:
    """The logins that the user's settings have. Thread-safe; files are read, and helpers run, when one is asked for.

    Args:
        settings: What the CLI configuration says.
        environ: Says where the files of Docker and Podman are.
    """

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
            UnavailableError: It cannot be told: a file that the CLI configuration names cannot be read, credentials
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
    with opened_file(path) as file:
        data = file.read(_MAX_FILE + 1)
    if len(data) > _MAX_FILE:
        raise ValueError("it has more than 1 MiB")
    return data


def _unavailable(repository: OciRepository, words: str, hint: str) -> UnavailableError:
    name = display_host(repository.registry)
    return UnavailableError(
        visible(f"the credentials for {repository} are unavailable: {words}"), source=name, hint=hint
    )
