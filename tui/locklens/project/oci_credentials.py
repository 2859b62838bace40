"""Credentials for OCI registries, as OpenTofu's CLI configuration and the files of Docker and Podman have them.

The rules are those of internal/command/cliconfig/oci_credentials.go and of the package ociauthconfig beside it. The
most specific credentials for a repository count: those for the longest part of its path, then those for its registry,
then a helper for all registries. Of equally specific ones the first counts, in this order: `oci_credentials` blocks,
the helper of the `oci_default_credentials` block, the files in the order of `docker_style_files`.

No I/O, and no secret in any message.
"""

from __future__ import annotations

import base64
import binascii
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from locklens.project.clifiles import FormatError, block_bodies, last_argument
from locklens.project.installation import OciRepository
from locklens.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locklens.project.clifiles import Members, ObjectMember

_BLOCK, _DEFAULTS = "oci_credentials", "oci_default_credentials"
_HELPER = "docker_credentials_helper"
_STYLES = (("username", "password"), ("access_token", "refresh_token"), (_HELPER,))
_MAX_NAME = 255
"""The most characters of a helper's name: no file system has longer names of files."""

GLOBAL, OF_REGISTRY = 1, 2
"""Specificities; each part of a path that matches adds 1 to the second."""


class OciLogin(Struct, frozen=True):
    """Credentials for a registry: a user and a password, or OAuth tokens. Neither printing nor pickling reveals it."""

    user: str = ""
    password: str = ""
    access_token: str = ""
    refresh_token: str = ""

    def __repr__(self) -> str:
        return "OciLogin(…)"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("a login is not written anywhere")

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to send."""
        return not (self.user or self.password or self.access_token or self.refresh_token)


class LoginMatch(Struct, frozen=True):
    """A login that is set for a repository, or who has it.

    Attributes:
        specificity: How closely it matches; the largest counts.
        helper: The name of a Docker credential helper; "" for none.
        problem: Why it cannot be used.
    """

    specificity: int
    login: OciLogin | None = None
    helper: str = ""
    problem: str = ""


class OciCredentialsBlock(Struct, frozen=True):
    """An `oci_credentials` block: the label, and the login or the name of a helper for what it stands for."""

    prefix: str
    login: OciLogin
    helper: str = ""

    def matching(self, repository: OciRepository) -> Iterator[LoginMatch]:
        """Yield the block's credentials if they are for a repository."""
        if specificity := specificity_of(self.prefix, repository):
            problem = f'the {_BLOCK} block "{self.prefix}" has empty credentials'
            if self.helper:
                yield LoginMatch(specificity, helper=self.helper)
            elif self.login.user or self.login.access_token:
                yield LoginMatch(specificity, self.login)
            else:
                yield LoginMatch(specificity, problem=problem)


class OciCredentialsSettings(Struct, frozen=True):
    """What the CLI configuration says about credentials for OCI registries.

    Attributes:
        blocks: The `oci_credentials` blocks, in order.
        discovers: True if files of Docker and Podman are searched for.
        files: The only files that are read instead; None for the usual places.
        helper: The name of a Docker credential helper for all registries; "" for none.
    """

    blocks: tuple[OciCredentialsBlock, ...] = ()
    discovers: bool = True
    files: tuple[Path, ...] | None = None
    helper: str = ""


def specificity_of(prefix: str, repository: OciRepository) -> int:
    """Return how specifically `HOST` or `HOST/PATH` stands for a repository; 0 if it does not."""
    registry, slash, _ = prefix.partition("/")
    path: list[str] = []
    if slash:
        try:
            parsed = OciRepository.parse(prefix)
        except ValueError:
            return 0  # Files may hold addresses of other programs, such as https://index.docker.io/v1/.
        registry, path = parsed.registry, parsed.name.split("/")
    if not registry or registry.lower() != repository.registry.lower():
        return 0
    return OF_REGISTRY + len(path) if repository.name.split("/")[: len(path)] == path else 0


class OciCredentialsReader:
    """Reads the blocks of one file after another; `on_problem` is called with what cannot be used, and its line."""

    def __init__(self, on_problem: Callable[[str, int], None]) -> None:
        self._on_problem = on_problem
        self._blocks: dict[str, OciCredentialsBlock] = {}
        self._defaults: OciCredentialsSettings | None = None

    @property
    def settings(self) -> OciCredentialsSettings:
        """What was read so far."""
        return replace(self._defaults or OciCredentialsSettings(), blocks=tuple(self._blocks.values()))

    def read(self, entries: Members, path: Path, *, is_json: bool) -> None:
        """Read the blocks of a file, whose folder relative names are relative to; in JSON, blocks are values."""
        for entry in entries:
            try:
                if entry.keys[0] == _DEFAULTS:
                    self._take_defaults(entry, path, is_json=is_json)
                elif entry.keys[0] == _BLOCK:
                    for label, body, line in _labelled(entry, is_json=is_json):
                        self._take_block(label, body, line)
            except FormatError as error:
                self._on_problem(visible(f"the {entry.keys[0]} block {error}"), error.line)

    def _take_defaults(self, entry: ObjectMember, path: Path, *, is_json: bool) -> None:
        if len(entry.keys) > 1:
            raise FormatError("must not have a label", entry.line)
        bodies = block_bodies(entry.value)
        if not bodies or (entry.is_assigned and not is_json):
            raise FormatError("must be a block, without an equals sign", entry.line)
        for body in bodies:
            if self._defaults is not None:
                raise FormatError("is not the only one; the first counts", entry.line)
            discovers = _discovers(body)
            files = _files(body, path.parent)
            helper = _text(body, _HELPER)
            if helper is not None and not _is_helper_name(helper):
                self._on_problem(f"the {entry.keys[0]} block {_no_helper_name(helper)}", entry.line)
                helper = None
            if not discovers and files is not None:
                words = "sets docker_style_config_files, which have no effect without discover_ambient_credentials"
                self._on_problem(f"the {entry.keys[0]} block {words}", entry.line)
            self._defaults = OciCredentialsSettings(discovers=discovers, files=files, helper=helper or "")

    def _take_block(self, label: str, body: Members, line: int) -> None:
        try:
            has_path = "/" in label
            OciRepository.parse(label if has_path else f"{label}/any")
        except ValueError as error:
            raise FormatError(f"has an invalid label: {error}", line) from None
        given = {name: _text(body, name) for style in _STYLES for name in style}
        used = [style for style in _STYLES if any(given[name] is not None for name in style)]
        groups = "username and password, access_token and refresh_token, or docker_credentials_helper"
        if len(used) != 1:
            raise FormatError(f'"{label}" must set one of: {groups}', line)
        if any(given[name] is None for name in used[0]):
            raise FormatError(f'"{label}" must set both {" and ".join(used[0])}', line)
        texts = {name: text or "" for name, text in given.items()}
        helper = texts[_HELPER]
        if used[0] == (_HELPER,):
            if has_path:
                words = f'"{label}" cannot set {_HELPER}: a helper knows registries, and no paths in them'
                raise FormatError(words, line)
            if not _is_helper_name(helper):
                raise FormatError(f'"{label}" {_no_helper_name(helper)}', line)
        if label in self._blocks:
            raise FormatError(f'"{label}" is not the only one; the first counts', line)
        login = OciLogin(texts["username"], texts["password"], texts["access_token"], texts["refresh_token"])
        self._blocks[label] = OciCredentialsBlock(label, login, helper)


def _labelled(entry: ObjectMember, *, is_json: bool) -> Iterator[tuple[str, Members, int]]:
    bodies = block_bodies(entry.value)
    if entry.is_assigned and not is_json:
        raise FormatError("must not be introduced with an equals sign", entry.line)
    if not is_json:
        if len(entry.keys) != 2:
            raise FormatError("must have one label, the address of repositories", entry.line)
        yield from ((entry.keys[1], body, entry.line) for body in bodies)
        return
    for outer in bodies:
        for member in outer:
            if not isinstance(member.value, tuple):
                raise FormatError(f'"{member.keys[0]}" must be an object', member.line)
            yield member.keys[0], member.value, member.line


def _text(body: Members, name: str) -> str | None:
    found = last_argument(body, name)
    if found is None:
        return None
    if isinstance(found.value, float) and found.value.is_integer():
        return str(int(found.value))
    if isinstance(found.value, bool) or not isinstance(found.value, str | int | float):
        raise FormatError(f"has a {name} that is not a string", found.line)
    return str(found.value)


def _discovers(body: Members) -> bool:
    found = last_argument(body, "discover_ambient_credentials")
    if found is not None and not isinstance(found.value, bool):
        raise FormatError(f"has a {found.keys[0]} that is neither true nor false", found.line)
    return found is None or found.value is True


def _files(body: Members, folder: Path) -> tuple[Path, ...] | None:
    found = last_argument(body, "docker_style_config_files")
    if found is None:
        return None
    if not isinstance(found.value, list) or not all(isinstance(item, str) for item in found.value):
        raise FormatError("has docker_style_config_files that are not a list of strings", found.line)
    return tuple((folder / str(item)).absolute() for item in found.value)


def _is_helper_name(name: str) -> bool:
    """True if a name can be the end of a program's name; OpenTofu leaves more to the system that runs it."""
    return 0 < len(name) <= _MAX_NAME and name.isprintable() and not set(name) & set("/\\:")


def _no_helper_name(name: str) -> str:
    return f'has a {_HELPER} that is not the end of a program\'s name: "{name[:_MAX_NAME]}"'


class DockerConfig(Struct, frozen=True):
    """The credentials of a file of Docker or Podman.

    Attributes:
        logins: By address, `HOST` or `HOST/PATH`; None for one that is not a user and password.
        helpers: Names of helpers by registry.
        store: The name of the helper for all registries; "" for none.
    """

    path: Path
    logins: Mapping[str, OciLogin | None]
    helpers: Mapping[str, str]
    store: str = ""

    @classmethod
    def parse(cls, data: bytes, path: Path) -> DockerConfig:
        """Read a file; names of members count in any case, as in OpenTofu.

        Raises:
            ValueError: It is malformed; str() quotes nothing of it.
        """
        try:
            members = _members(json.loads(data), "the file")
        except (ValueError, RecursionError) as error:
            raise ValueError(str(error) if isinstance(error, _ShapeError) else "it is not JSON") from None
        logins: dict[str, OciLogin | None] = {}
        for address, each in _members(members.get("auths"), "auths", is_folded=False).items():
            encoded = _string(_members(each, "an item of auths").get("auth"), "auth")
            try:
                decoded = base64.b64decode(encoded.translate({10: None, 13: None}), validate=True)
            except (binascii.Error, ValueError):
                raise ValueError("auth of an item of auths is not base64") from None
            user, colon, password = decoded.decode("utf-8", "replace").partition(":")
            if encoded:
                logins[address] = OciLogin(user, password) if colon else None
        of_registries = _members(members.get("credhelpers"), "credHelpers", is_folded=False)
        helpers = {registry: _string(name, "an item of credHelpers") for registry, name in of_registries.items()}
        return cls(path, logins, helpers, _string(members.get("credsstore"), "credsStore"))

    def matching(self, repository: OciRepository) -> Iterator[LoginMatch]:
        """Yield the credentials for a repository."""
        for address, login in self.logins.items():
            if specificity := specificity_of(address, repository):
                problem = "" if login else visible(f'{self.path}: auth of "{address}" is not a user and a password')
                yield LoginMatch(specificity, login, problem=problem)
        of_registry = self.helpers.get(repository.registry, "")
        for specificity, name in ((OF_REGISTRY, of_registry), (GLOBAL, self.store)):
            if name:
                problem = "" if _is_helper_name(name) else visible(f"{self.path}: it names a helper that is no program")
                yield LoginMatch(specificity, helper="" if problem else name, problem=problem)


class _ShapeError(ValueError):
    pass


def _members(value: Any, words: str, *, is_folded: bool = True) -> dict[str, Any]:
    """Return the members of an object, {} for null."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _ShapeError(f"{words} is not an object")
    return {name.lower() if is_folded else name: member for name, member in value.items()}


def _string(value: Any, words: str) -> str:
    if value is not None and not isinstance(value, str):
        raise _ShapeError(f"{words} is not a string")
    return value or ""


def docker_style_files(environ: Mapping[str, str], system: str = sys.platform) -> tuple[Path, ...]:
    """Return the places of the files of Podman and Docker, in the order in which they count.

    The rules are those of containers-auth.json(5) of github.com/containers/image; `system` is as `sys.platform` names
    it.
    """
    home = environ.get("USERPROFILE" if system == "win32" else "HOME", "")
    home_folder = Path(home) if home else Path("~").expanduser()
    podman = Path("containers", "auth.json")
    places = [home_folder / ".config" / podman] if system in {"win32", "darwin"} else []
    if system == "linux" and environ.get("XDG_RUNTIME_DIR"):
        places = [Path(environ["XDG_RUNTIME_DIR"]) / podman]
    places.append(Path(environ.get("XDG_CONFIG_HOME") or home_folder / ".config") / podman)
    places += [home_folder / ".docker" / "config.json", home_folder / ".dockercfg"]
    # A relative folder is one of the current one, which may be a repository under review.
    return tuple(place for place in dict.fromkeys(places) if place.is_absolute())
