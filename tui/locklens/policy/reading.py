"""Reads the text of a policy, with file and line for every mistake."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, get_args

from locklens.addresses import Platform
from locklens.errors import ConfigurationError
from locklens.policy import tables
from locklens.policy.document import MAX_DAYS, MAX_PLATFORMS, MAX_REASON, PolicyDocument
from locklens.policy.marked import MAX_SHOWN, MarkedDocument, in_quotes, nearest_key
from locklens.policy.model import AcceptFrom, InstallPath, Policy, Threshold, WantedPlatform
from locklens.policy.positions import lines_of_keys, too_deep
from locklens.text import shortened

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_KEYS = PolicyDocument.__struct_fields__
_MAX_DEPTH = 20
_MAX_DIGITS = 1000

_PLATFORM = re.compile(r"[a-z0-9]{1,32}_[a-z0-9]{1,32}\Z")
_PLACE = re.compile(r" \(at (?:line (?P<line>[0-9]+), column [0-9]+|end of document)\)\Z")
_LONG_NUMBER = re.compile(rf"[0-9_]{{{_MAX_DIGITS}}}")


def read_policy(data: bytes, path: str, *, max_bytes: int, rules: Collection[str]) -> Policy:
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
    return _Reading(MarkedDocument(_document(text, path), lines_of_keys(text), path), rules).policy()


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
        raise ConfigurationError(f"not valid TOML: {shortened(reason, MAX_SHOWN)}", path=path, line=line) from error


class _Reading:
    """The reading of one document."""

    def __init__(self, document: MarkedDocument, rules: Collection[str]) -> None:
        self._document = document
        self._wrong = document.refuse
        self._rules = rules

    def policy(self) -> Policy:
        """Return the policy; stops at the first mistake in the file."""
        document, found = self._document, dict[str, Any]()
        for key in sorted(document.values, key=document.line):
            document.refuse_unknown({key: None}, _KEYS)
            found[key] = self._value(key, document.values[key])
        return Policy(**found, file=document.path, names_paths="install_paths" in found)

    def _value(self, key: str, value: object) -> object:
        match key:
            case "platforms":
                return self._platforms(value)
            case "install_paths":
                return self._install_paths(value)
            case "cooldown":
                return self._cooldown(value)
            case "severity":
                return tables.read_severity(self._document, self._rules)
            case "accept":
                return tables.read_accept(self._document, self._rules)
            case "hosts" | "reported_hashes":
                return tables.read_hosts(self._document, key)
            case "allow":
                return tables.read_allow(self._document)
            case "trust":
                return tables.read_trust(self._document)
            case _:
                return self._choice(key, value)

    def _choice(self, key: str, value: object) -> object:
        """Return the value of `fail_on` or `accept_from`."""
        choices = get_args(Threshold) if key == "fail_on" else tuple(AcceptFrom)
        if not isinstance(value, str) or value not in choices:
            near = nearest_key(value, choices) if isinstance(value, str) else ""
            self._wrong(f'"{key}" must be one of {_listed(choices)}{near}', key)
        return value if key == "fail_on" else AcceptFrom(value)

    def _platforms(self, value: object) -> tuple[WantedPlatform, ...]:
        if isinstance(value, list):
            wanted = [self._platform(text, "", "platforms", place) for place, text in enumerate(value)]
        elif isinstance(value, dict):
            wanted = [self._platform(name, why, "platforms", name) for name, why in value.items()]
        else:
            self._wrong('"platforms" must be a table of platform = "reason", or a list of platforms', "platforms")
        if len(wanted) > MAX_PLATFORMS:
            self._wrong(f"more than {MAX_PLATFORMS} platforms", "platforms")
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
            misplaced = f'"{name}" above the line [platforms]' if name in _KEYS else ""
            self._wrong(
                f"invalid platform {in_quotes(name)}: expected OS_ARCH, such as linux_amd64",
                *where,
                hint=f"to set the key of that name, move {misplaced}" if misplaced else "",
            )
        if not isinstance(why, str):
            self._wrong(f'the reason for {name} must be a string, such as "CI"', *where)
        if len(why) > MAX_REASON or (why and not why.isprintable()):
            self._wrong(f"the reason for {name} must be one line of at most {MAX_REASON} printable characters", *where)
        return WantedPlatform(Platform.parse(name), why, self._document.line(*where))

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
                near = nearest_key(text, tuple(InstallPath))
                self._wrong(f"unknown install path {in_quotes(text)}{near}", key, place, hint=hint)
            if text in paths:
                self._wrong(f'"{text}" is listed twice', key, place)
            paths.add(InstallPath(text))
        return frozenset(paths)

    def _cooldown(self, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            self._wrong('"cooldown" must be a whole number of days, such as 7', "cooldown")
        if not 0 <= value <= MAX_DAYS:
            self._wrong(f'"cooldown" must be between 0 and {MAX_DAYS} days', "cooldown")
        return value


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
