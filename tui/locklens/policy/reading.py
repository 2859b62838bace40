"""Reads the text of a policy, with file and line for every mistake, and shows the value of each key.

Each key is converted to its type of `locklens.policy.document`; only what no type can express is checked here. The
values that need a better message than the type's bounds (names with a nearest match, platforms) are checked first.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from msgspec import UNSET, Struct
from msgspec.structs import fields

from locklens.addresses import Platform, ProviderAddress, display_host, read_host
from locklens.dialect import TERRAFORM, AddressError
from locklens.errors import ConfigurationError
from locklens.policy.document import (
    FINGERPRINT,
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
    hint_of_slipped,
    in_quotes,
    line_nested_too_deep,
    lines_of_keys,
    nearest_key,
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
    from collections.abc import Collection, Iterable, Sequence
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
    """Return the document's values."""
    if deep := line_nested_too_deep(text, _MAX_DEPTH):
        raise ConfigurationError(f"nested more than {_MAX_DEPTH} levels deep", path=path, line=deep)
    if number := _LONG_NUMBER.search(text):
        # tomllib gives no line for it.
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
    """The reading of one document; without the ids of known rules, any is accepted."""

    def __init__(
        self, values: dict[str, object], lines: dict[tuple[str | int, ...], int], path: str, rules: Collection[str]
    ) -> None:
        super().__init__(values, lines, path)
        self._rules = rules

    def policy(self) -> Policy:
        """Return the policy; the first mistake in the file is the error."""
        found: dict[str, Any] = {}
        for key in sorted(self.values, key=self.line):
            self.refuse_unknown({key: None}, tuple(_KEYS))
            found[key] = _KEYS[key].read(self, self.values[key], key)
        return Policy(**found, file=self.path, named=frozenset(found))

    def threshold(self, value: object, key: str) -> str:
        return self._choice(value, get_args(Threshold), f'"{key}"', key)

    def side(self, value: object, key: str) -> AcceptFrom:
        return AcceptFrom(self._choice(value, tuple(AcceptFrom), f'"{key}"', key))

    def allow(self, value: object, key: str) -> tuple[AllowedProvider, ...]:
        return tuple(self._allowed(text, key, place) for place, text in enumerate(self._texts(value, key)))

    def hosts(self, value: object, key: str) -> tuple[str, ...]:
        hosts = (self._host(text, key, place) for place, text in enumerate(self._texts(value, key)))
        return tuple(dict.fromkeys(hosts))

    def _texts(self, value: object, key: str) -> list[str]:
        texts: list[str] = self.convert(value, _TYPES[key], key, key)
        return texts

    def _choice(self, value: object, choices: Sequence[str], name: str, *where: str | int) -> str:
        if not isinstance(value, str) or value not in choices:
            near = nearest_key(value, choices) if isinstance(value, str) else ""
            self.refuse(f"{name} must be one of {_listed(choices)}{near}", *where)
        return value

    def cooldown(self, value: object, key: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            self.refuse(f'"{key}" must be a whole number of days, such as 7', key)
        if not 0 <= value <= MAX_DAYS:
            self.refuse(f'"{key}" must be between 0 and {MAX_DAYS} days', key)
        return value

    def toolchain(self, value: object, key: str) -> str:
        if not isinstance(value, str) or not re.fullmatch(TOOLCHAIN, value, re.ASCII):
            self.refuse(f'"{key}" must be a version of Go, such as "1.24" or "1.24.4"', key)
        return f"go{value.removeprefix('go')}"

    def platforms(self, value: object, key: str) -> tuple[WantedPlatform, ...]:
        if isinstance(value, list):
            wanted = [self._platform(name, "", key, place) for place, name in enumerate(value)]
        elif isinstance(value, dict):
            wanted = [self._platform(name, why, key, name) for name, why in value.items()]
        else:
            self.refuse(f'"{key}" must be a table of platform = "reason", or a list of platforms', key)
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
            words = f"invalid platform {in_quotes(name)}: expected OS_ARCH, such as linux_amd64"
            self.refuse(words, *where, hint=hint_of_slipped(name))
        if not isinstance(why, str):
            self.refuse(f'the reason for {name} must be a string, such as "CI"', *where)
        if len(why) > MAX_REASON or (why and not why.isprintable()):
            words = f"the reason for {name} must be one line of at most {MAX_REASON} printable characters"
            self.refuse(words, *where)
        return WantedPlatform(Platform.parse(name), why, self.line(*where))

    def install_paths(self, value: object, key: str) -> frozenset[InstallPath]:
        names = _listed(InstallPath)
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
        # An address has no wildcards: in their place, a valid name is checked.
        name = "/".join("x" if part == _ANY else part for part in parts)
        address = self._address(name, text, *where, hint=hint)
        namespace = _ANY if parts[-2] == _ANY else address.namespace
        kind = _ANY if parts[-1] == _ANY else address.type
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

    def severity(self, table: object, key: str) -> dict[str, str]:
        if not isinstance(table, dict):
            self.refuse(f'"{key}" must be a table of rule = "block", "warn", "info" or "off"', key)
        for rule, level in table.items():
            self._require_rule(rule, key, rule)
            self._choice(level, get_args(SeverityName), rule, key, rule)
        if table.get(_PINNED_RULE) == "off" and self.values.get("trust"):
            hint = "remove one of the two: a pin blocks every other key"
            self.refuse(f"{_PINNED_RULE} is off, and [trust] pins keys", key, _PINNED_RULE, hint=hint)
        return table

    def _require_rule(self, rule: str, *where: str | int) -> None:
        if self._rules and rule not in self._rules:
            near = nearest_key(rule, tuple(self._rules))
            hint = hint_of_slipped(rule) or "locklens explain lists all rules"
            self.refuse(f"unknown rule {in_quotes(rule)}{near}", *where, hint=hint)

    def trust(self, table: object, key: str) -> tuple[Pin, ...]:
        if not isinstance(table, dict):
            self.refuse(f'"{key}" must hold tables such as [{key}."acme"]', key)
        pins: dict[tuple[str, str], Pin] = {}
        for name, value in table.items():
            pin = self._pin(name, value)
            if pin.scope in pins:
                self.refuse(f"{in_quotes(name)} is pinned twice", key, name)
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
            self._refuse_odd_keys(value.get("keys"), *where)
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

    def _refuse_odd_keys(self, keys: object, *where: str | int) -> None:
        """Refuse what is no fingerprint with the reason: the message of the type alone would be a pattern."""
        if keys == []:
            hint = "name a key in full, or remove the table"
            self.refuse('"keys" is empty: a pin needs at least one key', *where, "keys", hint=hint)
        for place, key in enumerate(keys if isinstance(keys, list) else ()):
            if not isinstance(key, str) or re.fullmatch(FINGERPRINT, key):
                continue
            words, hint = f"{in_quotes(key)} is no fingerprint of a key", "locklens keys shows the full fingerprint"
            digits = "".join(key.split()).upper()
            if re.fullmatch(FINGERPRINT, digits):
                words, hint = f"{words}: it is written in upper case and without spaces", f"write {digits}"
            elif 0 < len(digits) <= _KEY_ID_DIGITS:
                words = f"{in_quotes(key)} is a key id, which several keys can share"
            self.refuse(words, *where, "keys", place, hint=hint)

    def accept(self, entries: object, key: str) -> tuple[Acceptance, ...]:
        if not isinstance(entries, list):
            self.refuse(f'"{key}" must be written as [[{key}]]', key)
        return tuple(self._acceptance(value, key, place) for place, value in enumerate(entries))

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

    def ignored(self, table: object, key: str) -> tuple[IgnoredAdvisory, ...]:
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
        is_set: True if the policy sets it, even to the default.
        entry: The pin or the acceptance; None for other values.
    """

    key: str
    value: object
    text: str
    is_set: bool = True
    entry: Pin | Acceptance | None = None


def _with_details(reason: str, by: str, until: date | None) -> str:
    details = ", ".join(filter(None, (by, f"until {until}" if until is not None else "")))
    return f"{reason} ({details})" if details else reason


_Shown = Callable[[Policy, str, Mapping[str, str]], Iterator[ShownValue]]


def _alone(of: Callable[[Policy], tuple[object, str]]) -> _Shown:
    """Return what shows a key with one value, which `of` gives together with its text."""

    def shown(policy: Policy, key: str, _: Mapping[str, str]) -> Iterator[ShownValue]:
        yield ShownValue(key, *of(policy), is_set=key in policy.named)

    return shown


def _names(names: Iterable[str], none: str) -> tuple[list[str], str]:
    found = list(names)
    return found, ", ".join(found) or none


def _shown_paths(policy: Policy) -> tuple[object, str]:
    paths, text = _names((path.value for path in policy.paths_in_order), "")
    return paths, text if policy.names_paths else f"{text}, and on each machine those of its CLI configuration"


def _shown_allow(policy: Policy) -> tuple[object, str]:
    if policy.allow is None:
        return None, "every provider"
    return _names((one.text for one in policy.allow), "no provider")


def _shown_platforms(policy: Policy, key: str, _: Mapping[str, str]) -> Iterator[ShownValue]:
    for wanted in policy.platforms:
        yield ShownValue(f"{key}.{wanted.platform}", wanted.why, wanted.why or "required")


def _shown_severities(policy: Policy, key: str, usual: Mapping[str, str]) -> Iterator[ShownValue]:
    for rule, severity in usual.items():
        level = policy.severity.get(rule, severity)
        yield ShownValue(f"{key}.{rule}", level, level, is_set=rule in policy.severity)


def _shown_pins(policy: Policy, key: str, _: Mapping[str, str]) -> Iterator[ShownValue]:
    for pin in policy.trust:
        yield ShownValue(f"{key}.{pin.name}", list(pin.keys), ", ".join(pin.keys), entry=pin)


def _shown_acceptances(policy: Policy, key: str, _: Mapping[str, str]) -> Iterator[ShownValue]:
    for one in policy.accept:
        text = _with_details(one.reason, one.by, one.until)
        yield ShownValue(f"{key}.{one.rule} {one.provider} {one.change}", one.reason, text, entry=one)


def _shown_advisories(policy: Policy, key: str, _: Mapping[str, str]) -> Iterator[ShownValue]:
    for each in policy.advisories:
        yield ShownValue(f"{key}.ignore.{each.id}", each.why, _with_details(each.why, each.by, each.until))


class _Key(NamedTuple):
    """What reads the value of a key, and what shows it: the value of the key, or of each of its entries."""

    read: Callable[[_Reading, object, str], object]
    shown: _Shown


_KEYS = {
    "fail_on": _Key(_Reading.threshold, _alone(lambda policy: (policy.fail_on or "block",) * 2)),
    "toolchain": _Key(_Reading.toolchain, _alone(lambda policy: (policy.toolchain or None, policy.toolchain or "any"))),
    "cooldown": _Key(
        _Reading.cooldown,
        _alone(lambda policy: (policy.cooldown, "none" if policy.cooldown is None else f"{policy.cooldown} days")),
    ),
    "hosts": _Key(
        _Reading.hosts, _alone(lambda policy: _names(map(display_host, policy.hosts), "none besides the usual ones"))
    ),
    "reported_hashes": _Key(
        _Reading.hosts, _alone(lambda policy: _names(sorted(map(display_host, policy.believed_hosts)), "no registry's"))
    ),
    "install_paths": _Key(_Reading.install_paths, _alone(_shown_paths)),
    "allow": _Key(_Reading.allow, _alone(_shown_allow)),
    "accept_from": _Key(_Reading.side, _alone(lambda policy: (policy.accept_from.value,) * 2)),
    "platforms": _Key(_Reading.platforms, _shown_platforms),
    "severity": _Key(_Reading.severity, _shown_severities),
    "trust": _Key(_Reading.trust, _shown_pins),
    "accept": _Key(_Reading.accept, _shown_acceptances),
    "advisories": _Key(_Reading.ignored, _shown_advisories),
}
"""Each key of the document, in display order."""


def shown_values(policy: Policy, severities: Mapping[str, str]) -> Iterator[ShownValue]:
    """Yield the value of every key; `severities` has the default severity of each rule, by id."""
    for key, row in _KEYS.items():
        yield from row.shown(policy, key, severities)
