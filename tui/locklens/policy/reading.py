"""Reads the text of a policy, with file and line for every mistake."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from locklens.addresses import Platform
from locklens.errors import ConfigurationError
from locklens.policy.model import InstallPath, Policy, WantedPlatform
from locklens.policy.positions import KeyPath, lines_of_keys, too_deep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

_KEYS = ("platforms", "install_paths", "cooldown")
_LATER = ("hosts", "fail_on", "allow", "severity", "trust", "accept", "accept_from")
_MAX_DEPTH = 20
_MAX_PLATFORMS = 100
_MAX_WHY = 200
_MAX_DAYS = 3650
_MAX_DIGITS = 1000
_MAX_SHOWN = 80

_PLATFORM = re.compile(r"[a-z0-9]{1,32}_[a-z0-9]{1,32}\Z")
_PLACE = re.compile(r" \(at (?:line (?P<line>[0-9]+), column [0-9]+|end of document)\)\Z")
_LONG_NUMBER = re.compile(rf"[0-9_]{{{_MAX_DIGITS}}}")


def read_policy(data: bytes, path: str, *, max_bytes: int) -> Policy:
    """Read a policy; see `locklens.policy.parse`.

    Raises:
        ConfigurationError: With path and line.
    """
    if len(data) > max_bytes:
        raise ConfigurationError(f"larger than the limit of {max_bytes // 1024} KiB", path=path, line=1)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigurationError("not valid UTF-8", path=path, line=line) from error
    return _Reading(_document(text, path), lines_of_keys(text), path).policy()


def _document(text: str, path: str) -> dict[str, object]:
    """The document's values.

    Raises:
        ConfigurationError: The text is not TOML, or beyond the bounds.
    """
    if deep := too_deep(text, _MAX_DEPTH):
        raise ConfigurationError(f"nested more than {_MAX_DEPTH} levels deep", path=path, line=deep)
    if number := _LONG_NUMBER.search(text):
        # The library's reader gives no line for it.
        line = text.count("\n", 0, number.start()) + 1
        raise ConfigurationError(f"a number with more than {_MAX_DIGITS} digits", path=path, line=line)
    try:
        return tomllib.loads(text)
    except ValueError as error:
        message = str(error)
        place = _PLACE.search(message)
        line = int(place["line"]) if place and place["line"] else text.rstrip("\n").count("\n") + 1
        reason = message[: place.start()] if place else message
        raise ConfigurationError(f"not valid TOML: {_short(reason)}", path=path, line=line) from error


class _Reading:
    """The reading of one document."""

    def __init__(self, document: Mapping[str, object], lines: Mapping[KeyPath, int], path: str) -> None:
        self._document = document
        self._lines = lines
        self._path = path

    def policy(self) -> Policy:
        """Return the policy; stops at the first mistake in the file."""
        platforms: tuple[WantedPlatform, ...] = ()
        install_paths = frozenset({InstallPath.DIRECT})
        cooldown = None
        for key in sorted(self._document, key=lambda name: self._lines[(name,)]):
            value = self._document[key]
            match key:
                case "platforms":
                    platforms = self._platforms(value)
                case "install_paths":
                    install_paths = self._install_paths(value)
                case "cooldown":
                    cooldown = self._cooldown(value)
                case _:
                    self._refuse_key(key)
        return Policy(platforms, install_paths, cooldown, self._path)

    def _wrong(self, message: str, *where: str | int, hint: str = "") -> NoReturn:
        raise ConfigurationError(message, path=self._path, line=self._lines[where], hint=hint)

    def _refuse_key(self, key: str) -> NoReturn:
        if key in _LATER:
            self._wrong(
                f'"{key}" is not supported yet',
                key,
                hint="remove it: locklens cannot enforce this key yet",
            )
        self._wrong(f"unknown key {_quoted(key)}{_nearest(key, (*_KEYS, *_LATER))}", key)

    def _platforms(self, value: object) -> tuple[WantedPlatform, ...]:
        if isinstance(value, list):
            wanted = [self._platform(text, "", "platforms", place) for place, text in enumerate(value)]
        elif isinstance(value, dict):
            wanted = [self._platform(name, why, "platforms", name) for name, why in value.items()]
        else:
            self._wrong('"platforms" must be a table of platform = "reason", or a list of platforms', "platforms")
        if len(wanted) > _MAX_PLATFORMS:
            self._wrong(f"more than {_MAX_PLATFORMS} platforms", "platforms")
        seen = set()
        for place, required in enumerate(wanted):
            if required.platform in seen:
                self._wrong(f"{required.platform} is listed twice", "platforms", place)
            seen.add(required.platform)
        return tuple(wanted)

    def _platform(self, name: object, why: object, *where: str | int) -> WantedPlatform:
        if not isinstance(name, str):
            self._wrong('a platform must be a string such as "linux_amd64"', *where)
        if not _PLATFORM.match(name):
            misplaced = f'"{name}" above the line [platforms]' if name in (*_KEYS, *_LATER) else ""
            self._wrong(
                f"invalid platform {_quoted(name)}: expected OS_ARCH, such as linux_amd64",
                *where,
                hint=f"to set the key of that name, move {misplaced}" if misplaced else "",
            )
        if not isinstance(why, str):
            self._wrong(f'the reason for {name} must be a string, such as "CI"', *where)
        if len(why) > _MAX_WHY or (why and not why.isprintable()):
            self._wrong(f"the reason for {name} must be one line of at most {_MAX_WHY} printable characters", *where)
        return WantedPlatform(Platform.parse(name), why, self._lines[where])

    def _install_paths(self, value: object) -> frozenset[InstallPath]:
        key = "install_paths"
        if not isinstance(value, list):
            self._wrong(f'"{key}" must be a list of {_listed(InstallPath)}', key)
        if not value:
            self._wrong(
                f'"{key}" is empty: no package could be installed',
                key,
                hint=f"list at least one of {_listed(InstallPath)}",
            )
        paths: set[InstallPath] = set()
        for place, text in enumerate(value):
            if not isinstance(text, str) or text not in tuple(InstallPath):
                hint = f"use one of {_listed(InstallPath)}"
                if not isinstance(text, str):
                    self._wrong("an install path must be a string", key, place, hint=hint)
                near = _nearest(text, tuple(InstallPath))
                self._wrong(f"unknown install path {_quoted(text)}{near}", key, place, hint=hint)
            if text in paths:
                self._wrong(f'"{text}" is listed twice', key, place)
            paths.add(InstallPath(text))
        return frozenset(paths)

    def _cooldown(self, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            self._wrong('"cooldown" must be a whole number of days, such as 7', "cooldown")
        if not 0 <= value <= _MAX_DAYS:
            self._wrong(f'"cooldown" must be between 0 and {_MAX_DAYS} days', "cooldown")
        return value


def _short(text: str) -> str:
    """Shorten foreign text for a message."""
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


def _quoted(text: str) -> str:
    return f'"{_short(text)}"'


def _listed(names: Sequence[str] | type[InstallPath]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _nearest(text: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(text[:60], names, n=1, cutoff=0.0)
    return f'; did you mean "{near[0]}"?' if near else ""
