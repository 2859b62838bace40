"""The CLI configuration of Terraform and OpenTofu: hosts and tokens that the user has set, and where to install from.

Its errors never stop a run: the tools print them and go on with what they understood, and so does locklens. From the
`.netrc` file, Terraform takes names and passwords for the hosts that it downloads packages from. Where the files are,
and how they are written, is in `locklens.project.clifiles`.
"""

from __future__ import annotations

import base64
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from locklens.addresses import normalise_host
from locklens.dialect import OPENTOFU, Dialect
from locklens.errors import ConfigurationError
from locklens.project.clifiles import (
    CliFiles,
    FormatError,
    block_bodies,
    find_files,
    last_argument,
    parse_cli_configuration,
    read_file,
)
from locklens.project.installation import Installation, read_installation
from locklens.project.oci_credentials import OciCredentialsReader, OciCredentialsSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.project.clifiles import Members

_MAY_BREAK = "plugin_cache_may_break_dependency_lock_file"
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_Scalar = TypeVar("_Scalar", str, bool)

_MAX_NETRC_BYTES = 1024 * 1024


class HelperBlock(Struct, frozen=True):
    """A credentials helper: the block's label, and the arguments before `get HOST`."""

    name: str
    arguments: tuple[str, ...]


class RegistryProtocols(Struct, frozen=True):
    """The settings of OpenTofu's block of that name; None if unset.

    Attributes:
        retries: Attempts after the first, at least 0.
        seconds: Time limit of one attempt, at least 1.
    """

    retries: int | None = None
    seconds: int | None = None


class CliConfig(Struct, frozen=True):
    """The user's settings for the tool. Hosts are in comparison form.

    Attributes:
        services: The complete list of the host's services of each `host` block; None for a value that is not text.
        credentials: The tokens of `credentials` blocks; None for a block without one.
        plugin_cache_dir: The folder of the plugin cache; "" if unset.
        cache_may_break_lock: True if a cached package counts for a provider without locked hashes.
        installation: The sources of packages; None if no block says so.
        problems: Settings that could not be used, each with its file and line.
    """

    services: Mapping[str, Mapping[str, str | None]]
    credentials: Mapping[str, Token | None]
    helper: HelperBlock | None
    oci_credentials: OciCredentialsSettings
    protocols: RegistryProtocols
    plugin_cache_dir: str
    cache_may_break_lock: bool
    installation: Installation | None
    files: tuple[str, ...]
    problems: tuple[ConfigurationError, ...]


def read_cli_config(dialect: Dialect, environ: Mapping[str, str]) -> CliConfig:
    """Read the CLI configuration that the tool would read. Never raises for what is in it."""
    return _Reading(dialect, environ).read(find_files(dialect, environ))


class _Reading:
    """The configuration while it is put together; what comes later overrides."""

    def __init__(self, dialect: Dialect, environ: Mapping[str, str]) -> None:
        self._dialect = dialect
        self._environ = environ
        self._services: dict[str, dict[str, str | None]] = {}
        self._credentials: dict[str, Token | None] = {}
        self._helper: HelperBlock | None = None
        self._oci_credentials = OciCredentialsReader(self._problem)
        self._protocols = RegistryProtocols()
        self._cache = ""
        self._may_break = False
        self._installation: Installation | None = None
        self._files: list[str] = []
        self._problems: list[ConfigurationError] = []
        self._path = ""
        self._is_json = False

    def read(self, found: CliFiles) -> CliConfig:
        if found.missing:
            words = "the CLI configuration file does not exist"
            self._problems.append(ConfigurationError(words, path=str(found.missing)))
        if found.unlisted:
            self._problems.append(ConfigurationError(found.unlisted))
        for path in found.files:
            self._file(path, is_main=path == found.main)
        return CliConfig(
            services=self._services,
            credentials=self._credentials,
            helper=self._helper,
            oci_credentials=self._oci_credentials.settings,
            protocols=self._protocols,
            plugin_cache_dir=self._environ.get("TF_PLUGIN_CACHE_DIR") or self._cache,
            cache_may_break_lock=self._may_break or self._environ.get(f"TF_{_MAY_BREAK.upper()}", "") not in {"", "0"},
            installation=self._installation,
            files=tuple(self._files),
            problems=tuple(self._problems),
        )

    def _file(self, path: Path, *, is_main: bool) -> None:
        self._path = str(path)
        try:
            data = read_file(path)
            entries = parse_cli_configuration(data)
        except FormatError as error:
            self._problem(str(error), error.line)
            return
        except OSError as error:
            self._problem(f"the file cannot be read: {error.strerror or error}", None)
            return
        self._is_json = data.lstrip().startswith(b"{")
        self._files.append(self._path)
        self._hosts(entries)
        self._tokens(entries)
        self._helpers(entries)
        self._installations(entries)
        if self._dialect is OPENTOFU:
            self._oci_credentials.read(entries, path, is_json=self._is_json)
        if is_main and self._dialect is OPENTOFU:  # in the folder's files it has no effect
            self._network(entries)
        cache = self._argument(entries, "plugin_cache_dir", str, "a string")
        if cache is not None and not self._cache:
            self._cache = self._expanded(cache)
        self._may_break = bool(self._argument(entries, _MAY_BREAK, bool, "true or false")) or self._may_break

    def _argument(self, entries: Members, name: str, kind: type[_Scalar], words: str) -> _Scalar | None:
        """Return the value of an argument; None where it is absent, or of another type, which is a problem."""
        found = last_argument(entries, name)
        if found is None:
            return None
        if isinstance(found.value, kind):
            return found.value
        self._problem(f"{name} must be {words}", found.line)
        return None

    def _problem(self, words: str, line: int | None) -> None:
        self._problems.append(ConfigurationError(words, path=self._path, line=line))

    def _host(self, label: str, kind: str, line: int) -> str:
        try:
            return normalise_host(label)
        except ValueError as error:
            self._problem(f"the label of a {kind} block is not a host name: {error}", line)
            return ""

    def _hosts(self, entries: Members) -> None:
        for label, body, line in _labelled(entries, "host"):
            host = self._host(label, "host", line)
            services = last_argument(body, "services")
            maps = block_bodies(services.value) if services else []
            if services is not None and not maps:
                self._problem("services must be a map", services.line)
            elif host:
                members = [member for each in maps for member in each]
                self._services[host] = {
                    member.keys[0]: member.value if isinstance(member.value, str) else None for member in members
                }

    def _tokens(self, entries: Members) -> None:
        for label, body, line in _labelled(entries, "credentials"):
            host = self._host(label, "credentials", line)
            token = last_argument(body, "token")
            if token is not None and not isinstance(token.value, str):
                self._problem("token must be a string", token.line)
            elif host:
                self._credentials[host] = None if token is None else Token(str(token.value))

    def _helpers(self, entries: Members) -> None:
        blocks = list(_labelled(entries, "credentials_helper"))
        for _, _, line in blocks[1:]:
            self._problem("there is more than one credentials_helper block; the first counts here", line)
        for label, body, line in blocks[:1]:
            arguments = last_argument(body, "args")
            value = [] if arguments is None else arguments.value
            if not re.fullmatch(r"[\w.-]+", label):
                self._problem("the label of a credentials_helper block is not a program name", line)
            elif not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                self._problem("args must be a list of strings", arguments.line if arguments else line)
            else:
                self._helper = HelperBlock(label, tuple(map(str, value)))

    def _network(self, entries: Members) -> None:
        blocks = [entry for entry in entries if entry.keys == ("registry_protocols",)]
        for entry in blocks[1:]:
            self._problem("there is more than one registry_protocols block; the first counts", entry.line)
        for entry in blocks[:1]:
            for body in block_bodies(entry.value)[:1]:
                retries = self._number(body, "retry_count")
                seconds = self._number(body, "request_timeout_seconds")
                self._protocols = RegistryProtocols(
                    None if retries is None else max(retries, 0), seconds if seconds and seconds > 0 else None
                )

    def _number(self, body: Members, name: str) -> int | None:
        found = last_argument(body, name)
        if found is None:
            return None
        if isinstance(found.value, bool) or not isinstance(found.value, int | float) or found.value % 1:
            self._problem(f"{name} must be a whole number", found.line)
            return None
        return int(found.value)

    def _installations(self, entries: Members) -> None:
        for entry in entries:
            if entry.keys[0] != "provider_installation":
                continue
            bodies = block_bodies(entry.value)
            if entry.is_assigned and isinstance(entry.value, tuple) and not self._is_json:
                bodies = []
            if not bodies or len(entry.keys) > 1:
                self._problem("provider_installation must be a block without a label", entry.line)
            elif self._installation is not None:
                self._problem("there is more than one provider_installation block; the first counts", entry.line)
            else:
                self._installation = read_installation(
                    bodies[0], self._dialect, is_json=self._is_json, expand=self._expanded, on_problem=self._problem
                )

    def _expanded(self, text: str) -> str:
        """Put in variables; one that is not set is the empty text."""
        return _VARIABLE.sub(lambda match: self._environ.get(match[1] or match[2], ""), text)


def _labelled(entries: Members, kind: str) -> Iterator[tuple[str, Members, int]]:
    """The blocks of a type that has one label, which JSON writes as an object in between."""
    for entry in entries:
        if entry.keys[0] != kind:
            continue
        if len(entry.keys) == 2:
            for body in block_bodies(entry.value):
                yield entry.keys[1], body, entry.line
        elif len(entry.keys) == 1:
            for outer in block_bodies(entry.value):
                for member in outer:
                    for body in block_bodies(member.value):
                        yield member.keys[0], body, member.line


def netrc_tokens(environ: Mapping[str, str]) -> Callable[[str], Token | None]:
    """Return what finds the credentials for a URL: those of the machine that is named as its host and port are.

    A file that cannot be read or understood is none, as for the tool; an entry for all machines does not count. NETRC
    names the file, and HOME the folder where it is otherwise.
    """
    name = "_netrc" if sys.platform == "win32" else ".netrc"

    @cache
    def tokens() -> dict[str, Token]:
        return _read(Path(environ.get("NETRC") or Path(environ.get("HOME") or Path.home(), name)))

    return lambda url: tokens().get(urlsplit(url).netloc.rpartition("@")[2])


def _read(path: Path) -> dict[str, Token]:
    from netrc import NetrcParseError, netrc

    try:
        if not path.is_file() or path.stat().st_size > _MAX_NETRC_BYTES:
            return {}
        hosts = netrc(str(path)).hosts
    except (OSError, NetrcParseError, ValueError):
        return {}
    return {
        host: Token(base64.b64encode(f"{login}:{password}".encode()).decode(), scheme="Basic")
        for host, (login, _, password) in hosts.items()
        if host != "default"
    }


class Token:
    """A secret that proves to one host who asks, with its header's scheme. Neither printing nor pickling reveals it."""

    __slots__ = ("_scheme", "_secret")

    def __init__(self, secret: str, *, scheme: str = "Bearer") -> None:
        self._secret = secret
        self._scheme = scheme

    def authorization(self) -> str:
        """The value of the Authorization header.

        Raises:
            ValueError: It holds what a header cannot; str() does not tell what.
        """
        if any(not "\x20" <= character < "\x7f" for character in self._secret):
            raise ValueError("the token holds characters that cannot be sent")
        return f"{self._scheme} {self._secret}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Token) and (other._scheme, other._secret) == (self._scheme, self._secret)

    def __hash__(self) -> int:
        return hash(self._secret)

    def __repr__(self) -> str:
        return "Token(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is not written anywhere")
