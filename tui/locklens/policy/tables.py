"""Reads the parts of a policy that name providers, hosts, keys and changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from msgspec import UNSET

from locklens.addresses import display_host, read_host
from locklens.dialect import TERRAFORM, AddressError
from locklens.policy.document import AcceptTable, PolicyDocument, TrustTable
from locklens.policy.marked import in_quotes, nearest_key
from locklens.policy.model import Acceptance, AllowedProvider, Pin, SeverityName, parts_of_pin_name
from locklens.versions import Constraints, ConstraintSyntaxError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from locklens.addresses import ProviderAddress
    from locklens.policy.marked import MarkedDocument

_ANY = "*"
_PINNED_RULE = "LK010"
_KEY_ID_DIGITS = 16


def field_type(key: str) -> Any:
    """The type of a top-level key."""
    import msgspec

    return next(field.type for field in msgspec.structs.fields(PolicyDocument) if field.name == key)


def read_hosts(document: MarkedDocument, key: str) -> tuple[str, ...]:
    """Return the hosts of a key, each once, in comparison form."""
    names = document.convert(document.values[key], field_type(key), key, key)
    return tuple(dict.fromkeys(_host(document, name, key, place) for place, name in enumerate(names)))


def _host(document: MarkedDocument, text: str, *where: str | int) -> str:
    try:
        return read_host(text)
    except ValueError as error:
        document.refuse(f"invalid host {in_quotes(text)}: {error}", *where, hint="such as registry.example.com")


def read_allow(document: MarkedDocument) -> tuple[AllowedProvider, ...]:
    """Return the allow list."""
    texts = document.convert(document.values["allow"], field_type("allow"), "allow", "allow")
    return tuple(_allowed(document, text, "allow", place) for place, text in enumerate(texts))


def _allowed(document: MarkedDocument, text: str, *where: str | int) -> AllowedProvider:
    name, _, versions = text.strip().partition(" ")
    parts = name.split("/")
    hint = 'such as "hashicorp/*", "cloudflare/cloudflare ~> 5.0" or "registry.example.com/acme/*"'
    if len(parts) not in (2, 3) or (len(parts) == 3 and _ANY in parts[0]):
        document.refuse(
            f"invalid provider {in_quotes(text)}: expected namespace/type or host/namespace/type", *where, hint=hint
        )
    address = _address(document, "/".join("x" if part == _ANY else part for part in parts), text, *where, hint=hint)
    host = address.host if len(parts) == 3 else ""
    namespace, kind = (
        _ANY if part == _ANY else plain
        for part, plain in zip(parts[-2:], (address.namespace, address.type), strict=True)
    )
    try:
        constraints = Constraints.parse(versions.strip()) if versions.strip() else None
    except ConstraintSyntaxError as error:
        document.refuse(f"invalid versions in {in_quotes(text)}: {error.detail}", *where, hint=hint)
    return AllowedProvider(host, namespace, kind, constraints, text, document.line(*where))


def _address(document: MarkedDocument, name: str, text: str, *where: str | int, hint: str) -> ProviderAddress:
    try:
        return TERRAFORM.parse_source(name)
    except AddressError as error:
        document.refuse(f"invalid provider {in_quotes(text)}: {error.detail}", *where, hint=hint)


def read_severity(document: MarkedDocument, rules: Collection[str]) -> Mapping[str, SeverityName]:
    """Return the severity of each rule that has one; `rules` are the known ids, () to take any."""
    table = document.values["severity"]
    if not isinstance(table, dict):
        document.refuse('"severity" must be a table of rule = "block", "warn", "info" or "off"', "severity")
    levels = get_args(SeverityName)
    found: dict[str, SeverityName] = {}
    for rule, level in table.items():
        _require_rule(document, rule, rules, "severity", rule)
        if level not in levels:
            names = ", ".join(f'"{name}"' for name in levels)
            near = nearest_key(level, levels) if isinstance(level, str) else ""
            document.refuse(f"{rule} must be one of {names}{near}", "severity", rule)
        found[rule] = level
    if found.get(_PINNED_RULE) == "off" and document.values.get("trust"):
        hint = "remove one of the two: a pin blocks every other key"
        document.refuse(f"{_PINNED_RULE} is off, and [trust] pins keys", "severity", _PINNED_RULE, hint=hint)
    return found


def _require_rule(document: MarkedDocument, rule: str, rules: Collection[str], *where: str | int) -> None:
    if rules and rule not in rules:
        hint = "locklens explain lists all rules"
        document.refuse(f"unknown rule {in_quotes(rule)}{nearest_key(rule, tuple(rules))}", *where, hint=hint)


def read_trust(document: MarkedDocument) -> tuple[Pin, ...]:
    """Return the pins, in the file's order."""
    table = document.values["trust"]
    if not isinstance(table, dict):
        document.refuse('"trust" must hold tables such as [trust."acme"]', "trust")
    pins: dict[tuple[str, str], Pin] = {}
    for name, value in table.items():
        pin = _pin(document, name, value)
        if pin.scope in pins:
            document.refuse(f"{in_quotes(name)} is pinned twice", "trust", name)
        pins[pin.scope] = pin
    return tuple(pins.values())


def _pin(document: MarkedDocument, name: str, value: object) -> Pin:
    where = ("trust", name)
    host_text, namespace = parts_of_pin_name(name)
    hint = 'write [trust."acme"] or [trust."registry.example.com/acme"]'
    if host_text is not None and (not host_text or "/" in host_text):
        document.refuse(f"invalid namespace {in_quotes(name)}", *where, hint=hint)
    address = _address(document, f"{namespace}/x", name, *where, hint=hint)
    host = _host(document, host_text, *where) if host_text is not None else ""
    if isinstance(value, dict):
        document.refuse_unknown(value, TrustTable.__struct_fields__, *where)
        _refuse_key_ids(document, value.get("keys"), *where)
    found: TrustTable = document.convert(value, TrustTable, f'trust."{name}"', *where)
    return Pin(
        address.namespace,
        host,
        tuple(dict.fromkeys(found.keys)),
        document.one_line(found.by, "by", *where, "by"),
        found.on if found.on is not UNSET else None,
        document.one_line(found.why, "why", *where, "why"),
        found.review_by if found.review_by is not UNSET else None,
        document.line(*where),
    )


def _refuse_key_ids(document: MarkedDocument, keys: object, *where: str | int) -> None:
    """Refuse ids of keys with a reason: the type check alone would name the pattern."""
    for place, key in enumerate(keys if isinstance(keys, list) else ()):
        if isinstance(key, str) and 0 < len(key) <= _KEY_ID_DIGITS:
            hint = "locklens keys shows the full fingerprint"
            document.refuse(
                f"{in_quotes(key)} is the id of a key, which others can have too", *where, "keys", place, hint=hint
            )


def read_accept(document: MarkedDocument, rules: Collection[str]) -> tuple[Acceptance, ...]:
    """Return the acceptances, in the file's order; `rules` as of `read_severity`."""
    entries = document.values["accept"]
    if not isinstance(entries, list):
        document.refuse('"accept" must be written as [[accept]]', "accept")
    return tuple(_acceptance(document, value, place, rules) for place, value in enumerate(entries))


def _acceptance(document: MarkedDocument, value: object, place: int, rules: Collection[str]) -> Acceptance:
    where = ("accept", place)
    if isinstance(value, dict):
        document.refuse_unknown(value, AcceptTable.__struct_fields__, *where)
    found: AcceptTable = document.convert(value, AcceptTable, "accept", *where)
    _require_rule(document, found.rule, rules, *where, "rule")
    hint = f"the full address, such as {display_host(TERRAFORM.default_host)}/acme/demo"
    if found.provider.count("/") != 2:
        document.refuse(f"invalid provider {in_quotes(found.provider)}", *where, "provider", hint=hint)
    address = _address(document, found.provider, found.provider, *where, "provider", hint=hint)
    return Acceptance(
        found.rule,
        str(address),
        found.change,
        document.one_line(found.reason, "reason", *where, "reason"),
        document.one_line(found.by, "by", *where, "by"),
        found.on,
        found.until if found.until is not UNSET else None,
        document.line(*where),
    )
