"""Reads the text of a policy, with file and line for every mistake, and shows the value of each key.

Each key is converted to its type of `locklens.policy.document`; only what such a type cannot say is checked here. The
values that need a better message than the type's bounds (names with a nearest match, platforms) are checked first.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, get_args

from msgspec import UNSET, Struct
from msgspec.structs import fields

from locklens.addresses import Platform, ProviderAddress, display_host, read_host
from locklens.dialect import TERRAFORM, AddressError
from locklens.errors import ConfigurationError
from locklens.policy.document import (
    MAX_DAYS,
    MAX_PLATFORMS,
    MAX_REASON,
    MAX_SHOWN,
    TOOLCHAIN,
    AcceptTable,
    AdvisoriesTable,
    IgnoreTable,
    MarkedDocument,
    PolicyDocument,
    TrustTable,
    in_quotes,
    lines_of_keys,
    nearest_key,
    too_deep,
)
from locklens.policy.model import (
    Acceptance,
    AcceptFrom,
    AllowedProvider,
    IgnoredAdvisory,
    InstallPath,
    Pin,
    Policy,
    SeverityName,
    Threshold,
    WantedPlatform,
    parts_of_pin_name,
)
from locklens.text import shortened
from locklens.versions import Constraints, ConstraintSyntaxError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import date


_TYPES = {field.name: field.type for field in fields(PolicyDocument)}
_MAX_DEPTH = 20
_MAX_DIGITS = 1000
_ANY = "*"
_PINNED_RULE = "LK010"
_KEY_ID_DIGITS = 16

_PLATFORM = re.compile(r"[a-z0-9]{1,32}_[a-z0-9]{1,32}\Z")
_PLACE = re.compile(r" \(at (?:line (?P<line>[0-9]+), column [0-9]+|end of document)\)\Z")
_LONG_NUMBER = re.compile(rf"[0-9_]{{{_MAX_DIGITS}}}")


def read_policy(data: bytes, path: str, *, max_bytes: int, rules: Collection[str]) -> Policy:
    """Read a policy; see `locklens.policy.parse`.

    Raises:
        ConfigurationError: The file has a mistake; the error has its path and line.
    """
    if len(data) > max_bytes:
        raise ConfigurationError(f"larger than the limit of {max_bytes // 1024} KiB", path=path, line=1)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigurationError("not valid UTF-8", path=path, line=line) from error
    return _Reading(_document(text, path), lines_of_keys(text), path, rules).policy()


def _document(text: str, path: str) -> dict[str, object]:
    """Return the document's values.

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


class _Reading(MarkedDocument):
    """The reading of one document.

    Args:
        values: The document, as the TOML reader returned it.
        lines: The line of each key and element.
        path: The path in messages.
        rules: The ids of known rules; () to accept any.
    """

    def __init__(
        self, values: dict[str, object], lines: dict[tuple[str | int, ...], int], path: str, rules: Collection[str]
    ) -> None:
        super().__init__(values, lines, path)
        self._rules = rules

    def policy(self) -> Policy:
        """Return the policy; the first mistake in the file is the error."""
        found: dict[str, Any] = {}
        for key in sorted(self.values, key=self.line):
            self.refuse_unknown({key: None}, tuple(_TYPES))
            found[key] = self._value(key, self.values[key])
        return Policy(**found, file=self.path, named=frozenset(found))

    def _value(self, key: str, value: object) -> object:
        match key:
            case "fail_on":
                return self._choice(value, get_args(Threshold), '"fail_on"', key)
            case "accept_from":
                return AcceptFrom(self._choice(value, tuple(AcceptFrom), '"accept_from"', key))
            case "cooldown":
                return self._cooldown(value)
            case "toolchain":
                return self._toolchain(value)
            case "platforms":
                return self._platforms(value)
            case "install_paths":
                return self._install_paths(value)
            case "severity":
                return self._severity(value)
            case "trust":
                return self._trust(value)
            case "accept":
                return self._accept(value)
            case "advisories":
                return self._ignored(value)
            case "allow":
                return tuple(self._allowed(text, key, place) for place, text in enumerate(self._texts(value, key)))
            case "hosts" | "reported_hashes":
                hosts = (self._host(text, key, place) for place, text in enumerate(self._texts(value, key)))
                return tuple(dict.fromkeys(hosts))
        raise AssertionError(f"the key {key} of the document has no reader")

    def _texts(self, value: object, key: str) -> list[str]:
        texts: list[str] = self.convert(value, _TYPES[key], key, key)
        return texts

    def _choice(self, value: object, choices: Sequence[str], name: str, *where: str | int) -> str:
        if not isinstance(value, str) or value not in choices:
            near = nearest_key(value, choices) if isinstance(value, str) else ""
            self.refuse(f"{name} must be one of {_listed(choices)}{near}", *where)
        return value

    def _cooldown(self, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            self.refuse('"cooldown" must be a whole number of days, such as 7', "cooldown")
        if not 0 <= value <= MAX_DAYS:
            self.refuse(f'"cooldown" must be between 0 and {MAX_DAYS} days', "cooldown")
        return value

    def _toolchain(self, value: object) -> str:
        if not isinstance(value, str) or not re.fullmatch(TOOLCHAIN, value, re.ASCII):
            self.refuse('"toolchain" must be a version of Go, such as "1.24" or "1.24.4"', "toolchain")
        return f"go{value.removeprefix('go')}"

    def _platforms(self, value: object) -> tuple[WantedPlatform, ...]:
        key = "platforms"
        if isinstance(value, list):
            wanted = [self._platform(name, "", key, place) for place, name in enumerate(value)]
        elif isinstance(value, dict):
            wanted = [self._platform(name, why, key, name) for name, why in value.items()]
        else:
            self.refuse('"platforms" must be a table of platform = "reason", or a list of platforms', key)
        if len(wanted) > MAX_PLATFORMS:
            self.refuse(f"more than {MAX_PLATFORMS} platforms", key)
        platforms = [required.platform for required in wanted]
        for place, platform in enumerate(platforms):
            if platform in platforms[:place]:
                self.refuse(f"{platform} is listed twice", key, place)
        return tuple(wanted)

    def _platform(self, name: object, why: object, *where: str | int) -> WantedPlatform:
        if not isinstance(name, str):
            self.refuse('a platform must be a string such as "linux_amd64"', *where)
        if not _PLATFORM.match(name):
            hint = f'to set the key of that name, move "{name}" above the line [platforms]' if name in _TYPES else ""
            words = f"invalid platform {in_quotes(name)}: expected OS_ARCH, such as linux_amd64"
            self.refuse(words, *where, hint=hint)
        if not isinstance(why, str):
            self.refuse(f'the reason for {name} must be a string, such as "CI"', *where)
        if len(why) > MAX_REASON or (why and not why.isprintable()):
            words = f"the reason for {name} must be one line of at most {MAX_REASON} printable characters"
            self.refuse(words, *where)
        return WantedPlatform(Platform.parse(name), why, self.line(*where))

    def _install_paths(self, value: object) -> frozenset[InstallPath]:
        key, names = "install_paths", _listed(InstallPath)
        if not isinstance(value, list):
            self.refuse(f'"{key}" must be a list of {names}', key)
        if not value:
            self.refuse(f'"{key}" is empty: no package could be installed', key, hint=f"list at least one of {names}")
        for place, text in enumerate(value):
            if not isinstance(text, str):
                self.refuse("an install path must be a string", key, place, hint=f"use one of {names}")
            if text not in tuple(InstallPath):
                near = nearest_key(text, tuple(InstallPath))
                self.refuse(f"unknown install path {in_quotes(text)}{near}", key, place, hint=f"use one of {names}")
            if text in value[:place]:
                self.refuse(f'"{text}" is listed twice', key, place)
        return frozenset(map(InstallPath, value))

    def _host(self, text: str, *where: str | int) -> str:
        try:
            return read_host(text)
        except ValueError as error:
            self.refuse(f"invalid host {in_quotes(text)}: {error}", *where, hint="such as registry.example.com")

    def _allowed(self, text: str, *where: str | int) -> AllowedProvider:
        name, _, versions = text.strip().partition(" ")
        parts = name.split("/")
        hint = 'such as "hashicorp/*", "cloudflare/cloudflare ~> 5.0" or "registry.example.com/acme/*"'
        if len(parts) not in (2, 3) or (len(parts) == 3 and _ANY in parts[0]):
            words = f"invalid provider {in_quotes(text)}: expected namespace/type or host/namespace/type"
            self.refuse(words, *where, hint=hint)
        address = self._address("/".join("x" if part == _ANY else part for part in parts), text, *where, hint=hint)
        namespace, kind = (
            _ANY if part == _ANY else plain
            for part, plain in zip(parts[-2:], (address.namespace, address.type), strict=True)
        )
        try:
            constraints = Constraints.parse(versions.strip()) if versions.strip() else None
        except ConstraintSyntaxError as error:
            self.refuse(f"invalid versions in {in_quotes(text)}: {error.detail}", *where, hint=hint)
        host = address.host if len(parts) == 3 else ""
        return AllowedProvider(host, namespace, kind, constraints, text, self.line(*where))

    def _address(self, name: str, text: str, *where: str | int, hint: str) -> ProviderAddress:
        try:
            return TERRAFORM.parse_source(name)
        except AddressError as error:
            self.refuse(f"invalid provider {in_quotes(text)}: {error.detail}", *where, hint=hint)

    def _severity(self, table: object) -> dict[str, str]:
        if not isinstance(table, dict):
            self.refuse('"severity" must be a table of rule = "block", "warn", "info" or "off"', "severity")
        for rule, level in table.items():
            self._require_rule(rule, "severity", rule)
            self._choice(level, get_args(SeverityName), rule, "severity", rule)
        if table.get(_PINNED_RULE) == "off" and self.values.get("trust"):
            hint = "remove one of the two: a pin blocks every other key"
            self.refuse(f"{_PINNED_RULE} is off, and [trust] pins keys", "severity", _PINNED_RULE, hint=hint)
        return table

    def _require_rule(self, rule: str, *where: str | int) -> None:
        if self._rules and rule not in self._rules:
            near = nearest_key(rule, tuple(self._rules))
            self.refuse(f"unknown rule {in_quotes(rule)}{near}", *where, hint="locklens explain lists all rules")

    def _trust(self, table: object) -> tuple[Pin, ...]:
        if not isinstance(table, dict):
            self.refuse('"trust" must hold tables such as [trust."acme"]', "trust")
        pins: dict[tuple[str, str], Pin] = {}
        for name, value in table.items():
            pin = self._pin(name, value)
            if pin.scope in pins:
                self.refuse(f"{in_quotes(name)} is pinned twice", "trust", name)
            pins[pin.scope] = pin
        return tuple(pins.values())

    def _pin(self, name: str, value: object) -> Pin:
        where = ("trust", name)
        host_text, namespace = parts_of_pin_name(name)
        hint = 'write [trust."acme"] or [trust."registry.example.com/acme"]'
        if host_text is not None and (not host_text or "/" in host_text):
            self.refuse(f"invalid namespace {in_quotes(name)}", *where, hint=hint)
        address = self._address(f"{namespace}/x", name, *where, hint=hint)
        host = self._host(host_text, *where) if host_text is not None else ""
        if isinstance(value, dict):
            self.refuse_unknown(value, TrustTable.__struct_fields__, *where)
            self._refuse_key_ids(value.get("keys"), *where)
        found: TrustTable = self.convert(value, TrustTable, f'trust."{name}"', *where)
        return Pin(
            address.namespace,
            host,
            tuple(dict.fromkeys(found.keys)),
            self.one_line(found.by, "by", *where, "by"),
            found.on if found.on is not UNSET else None,
            self.one_line(found.why, "why", *where, "why"),
            found.review_by if found.review_by is not UNSET else None,
            self.line(*where),
        )

    def _refuse_key_ids(self, keys: object, *where: str | int) -> None:
        """Refuse ids of keys with a reason: the type alone would name a pattern."""
        for place, key in enumerate(keys if isinstance(keys, list) else ()):
            if isinstance(key, str) and 0 < len(key) <= _KEY_ID_DIGITS:
                words = f"{in_quotes(key)} is the id of a key, which others can have too"
                self.refuse(words, *where, "keys", place, hint="locklens keys shows the full fingerprint")

    def _accept(self, entries: object) -> tuple[Acceptance, ...]:
        if not isinstance(entries, list):
            self.refuse('"accept" must be written as [[accept]]', "accept")
        return tuple(self._acceptance(value, "accept", place) for place, value in enumerate(entries))

    def _acceptance(self, value: object, *where: str | int) -> Acceptance:
        found: AcceptTable = self.convert(value, AcceptTable, "accept", *where)
        self._require_rule(found.rule, *where, "rule")
        hint = f"the full address, such as {display_host(TERRAFORM.default_host)}/acme/demo"
        if found.provider.count("/") != 2:
            self.refuse(f"invalid provider {in_quotes(found.provider)}", *where, "provider", hint=hint)
        address = self._address(found.provider, found.provider, *where, "provider", hint=hint)
        return Acceptance(
            found.rule,
            str(address),
            found.change,
            self.one_line(found.reason, "reason", *where, "reason"),
            self.one_line(found.by, "by", *where, "by"),
            found.on,
            found.until if found.until is not UNSET else None,
            self.line(*where),
        )

    def _ignored(self, table: object) -> tuple[IgnoredAdvisory, ...]:
        key = "advisories"
        if not isinstance(table, dict):
            self.refuse(f'"{key}" must be a table with entries such as [[{key}.ignore]]', key)
        self.refuse_unknown(table, AdvisoriesTable.__struct_fields__, key)
        entries = table.get("ignore", [])
        if not isinstance(entries, list):
            self.refuse(f'"ignore" must be written as [[{key}.ignore]]', key, "ignore")
        for place, value in enumerate(entries):
            if isinstance(value, dict):
                self.refuse_unknown(value, IgnoreTable.__struct_fields__, key, "ignore", place)
        found: AdvisoriesTable = self.convert(table, AdvisoriesTable, key, key)
        return tuple(
            IgnoredAdvisory(
                each.id,
                self.one_line(each.why, "why", key, "ignore", place, "why"),
                self.one_line(each.by, "by", key, "ignore", place, "by"),
                each.until if each.until is not UNSET else None,
                self.line(key, "ignore", place),
            )
            for place, each in enumerate(found.ignore)
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


class ShownValue(Struct, frozen=True):
    """The value of a key, or of one entry of a table or list.

    Attributes:
        key: Such as `cooldown`, `severity.LK004` or `trust.acme`.
        value: The value as JSON has it.
        text: The value, for reading.
        is_set: True if the policy sets it, be it to the default.
        entry: The pin or the acceptance; None for other values.
    """

    key: str
    value: object
    text: str
    is_set: bool = True
    entry: Pin | Acceptance | None = None


def shown_values(policy: Policy, severities: Mapping[str, str]) -> Iterator[ShownValue]:
    """Yield the value of every key; `severities` are those of the rules without a policy, by id."""
    hosts, believed = list(map(display_host, policy.hosts)), sorted(map(display_host, policy.believed_hosts))
    paths = [path.value for path in policy.paths_in_order]
    more = "" if policy.names_paths else ", and on each machine those of its CLI configuration"
    allowed = None if policy.allow is None else [one.text for one in policy.allow]
    threshold, side = policy.fail_on or "block", policy.accept_from.value
    for key, value, text in (
        ("fail_on", threshold, threshold),
        ("toolchain", policy.toolchain or None, policy.toolchain or "any"),
        ("cooldown", policy.cooldown, "none" if policy.cooldown is None else f"{policy.cooldown} days"),
        ("hosts", hosts, ", ".join(hosts) or "none beside the usual ones"),
        ("reported_hashes", believed, ", ".join(believed) or "no registry's"),
        ("install_paths", paths, ", ".join(paths) + more),
        ("allow", allowed, "every provider" if allowed is None else ", ".join(allowed) or "no provider"),
        ("accept_from", side, side),
    ):
        yield ShownValue(key, value, text, is_set=key in policy.named)
    for wanted in policy.platforms:
        yield ShownValue(f"platforms.{wanted.platform}", wanted.why, wanted.why or "required")
    for rule, severity in severities.items():
        level = policy.severity.get(rule, severity)
        yield ShownValue(f"severity.{rule}", level, level, is_set=rule in policy.severity)
    for pin in policy.trust:
        yield ShownValue(f"trust.{pin.name}", list(pin.keys), " and ".join(pin.keys), entry=pin)
    for one in policy.accept:
        text = _with_details(one.reason, one.by, one.until)
        yield ShownValue(f"accept.{one.rule} {one.provider} {one.change}", one.reason, text, entry=one)
    for each in policy.advisories:
        text = _with_details(each.why, each.by, each.until)
        yield ShownValue(f"advisories.ignore.{each.id}", each.why, text)


def _with_details(reason: str, by: str, until: date | None) -> str:
    details = ", ".join(filter(None, (by, f"until {until}" if until is not None else "")))
    return f"{reason} ({details})" if details else reason
