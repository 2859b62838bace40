"""The rules in force, each with where it comes from."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import display_host
from locklens.policy import Policy
from locklens.review.model import PolicySide
from locklens.review.rules.catalogue import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.operations.review.policy import EffectivePolicy


class ValueOrigin(StrEnum):
    """Where a value comes from."""

    BASE = "base"
    HEAD = "head"
    GIVEN = "given"
    DEFAULT = "default"


class PolicyValue(Struct, frozen=True):
    """One rule in force.

    Attributes:
        key: Such as `cooldown`, `severity.LK004` or `trust.acme`.
        text: The value, for reading.
        json: The value as JSON.
        origin: Where it comes from.
    """

    key: str
    text: str
    json: str
    origin: ValueOrigin


def values_in_force(effective: EffectivePolicy) -> tuple[PolicyValue, ...]:
    """Return the value of every key; those of tables and lists one by one."""
    return tuple(_values(effective))


def _values(effective: EffectivePolicy) -> Iterator[PolicyValue]:
    policy, usual = effective.policy, Policy.none()
    side = ValueOrigin.DEFAULT if effective.side is PolicySide.NONE else ValueOrigin(effective.side.value)

    def value(key: str, value: object, *, is_set: bool, text: str = "", origin: ValueOrigin = side) -> PolicyValue:
        shown = text or (str(value) if value is not None else "none")
        return PolicyValue(key, shown, json.dumps(value), origin if is_set else ValueOrigin.DEFAULT)

    yield value("fail_on", policy.fail_on or "block", is_set=policy.fail_on is not None)
    days = f"{policy.cooldown} days" if policy.cooldown is not None else "none"
    yield value("cooldown", policy.cooldown, is_set=policy.cooldown is not None, text=days)
    hosts = [display_host(host) for host in policy.hosts]
    yield value("hosts", hosts, is_set=bool(hosts), text=", ".join(hosts) or "none beside the usual ones")
    names = sorted(map(display_host, policy.believed))
    is_set = policy.reported_hashes is not None
    yield value("reported_hashes", names, is_set=is_set, text=", ".join(names) or "no registry's")
    paths = [path.value for path in policy.paths_in_order]
    is_set = policy.install_paths != usual.install_paths
    yield value("install_paths", paths, is_set=is_set, text=", ".join(paths))
    if policy.allow is None:
        yield value("allow", None, is_set=False, text="every provider")
    else:
        allowed = [one.text for one in policy.allow]
        yield value("allow", allowed, is_set=True, text=", ".join(allowed) or "no provider")
    is_set = policy.accept_from is not usual.accept_from
    yield value("accept_from", policy.accept_from.value, is_set=is_set)
    for wanted in policy.platforms:
        yield value(f"platforms.{wanted.platform}", wanted.why, is_set=True, text=wanted.why or "required")
    for rule, entry in RULES.items():
        given = policy.severity.get(rule)
        yield value(f"severity.{rule}", given or entry.severity.value, is_set=given is not None)
    for pin in policy.trust:
        origin = ValueOrigin.HEAD if pin in effective.taken_pins else side
        yield value(f"trust.{pin.name}", list(pin.keys), is_set=True, text=" and ".join(pin.keys), origin=origin)
    for one in policy.accept:
        origin = ValueOrigin.HEAD if one in effective.taken_acceptances else side
        text = f"{one.reason} ({one.by}{f', until {one.until}' if one.until is not None else ''})"
        yield value(f"accept.{one.rule} {one.provider} {one.change}", one.reason, is_set=True, text=text, origin=origin)
