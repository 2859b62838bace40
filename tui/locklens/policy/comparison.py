"""The difference between the policies of two sides, and what only the newer one accepts or pins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.policy.model import AcceptFrom, Policy

if TYPE_CHECKING:
    from datetime import date

    from locklens.policy.model import Acceptance, Pin

_FROM_HEAD = ("accept", "trust")


class PolicyChange(Struct, frozen=True):
    """A change that modifies the policy.

    Attributes:
        base_name: The side whose policy judges.
        head_name: The side that modifies it.
        keys: The keys that differ.
        has_base: True if the base has a policy.
        is_removed: True if the head has none.
        problem: Why that of the head cannot be read; "" if it can.
        weighs: True if the difference may change a verdict in a way that the base does not permit.
        line: The first line of it in the head's file; None without one.
        content: Stands for the bytes of the head's file.
    """

    base_name: str
    head_name: str
    keys: tuple[str, ...] = ()
    has_base: bool = True
    is_removed: bool = False
    problem: str = ""
    weighs: bool = True
    line: int | None = None
    content: str = ""


_NO_KEYS = frozenset({"file", "names_paths", "local_paths", "local_platform"})
"""Fields that no key of the file stands for."""


def differing_keys(old: Policy, new: Policy) -> tuple[str, ...]:
    """Return the keys whose values differ, wherever in the file they stand."""
    before, after = _placeless(old), _placeless(new)
    return tuple(
        name
        for name in Policy.__struct_fields__
        if name not in _NO_KEYS and getattr(before, name) != getattr(after, name)
    )


def _placeless(policy: Policy) -> Policy:
    """A policy without line numbers."""
    return replace(
        policy,
        platforms=tuple(replace(one, line=1) for one in policy.platforms),
        allow=tuple(replace(one, line=1) for one in policy.allow) if policy.allow is not None else None,
        trust=tuple(replace(one, line=1) for one in policy.trust),
        accept=tuple(replace(one, line=1) for one in policy.accept),
    )


def proposed_acceptances(base: Policy, head: Policy) -> tuple[Acceptance, ...]:
    """Return the acceptances that only the head has, or has with other words or dates."""
    known = {replace(one, line=1) for one in base.accept}
    return tuple(one for one in head.accept if replace(one, line=1) not in known)


def proposed_pins(base: Policy, head: Policy) -> tuple[Pin, ...]:
    """Return the pins that only the head has, or has with other keys or words."""
    known = {replace(one, line=1) for one in base.trust}
    return tuple(one for one in head.trust if replace(one, line=1) not in known)


def is_permitted(base: Policy, keys: tuple[str, ...]) -> bool:
    """True if the base lets the head set these keys for itself."""
    return base.accept_from is AcceptFrom.HEAD and set(keys) <= set(_FROM_HEAD)


def with_proposed(base: Policy, head: Policy) -> Policy:
    """Return the base's policy with what the head accepts and pins, where the base permits that; else as it is."""
    if base.accept_from is not AcceptFrom.HEAD:
        return base
    pins = {pin.scope: pin for pin in (*base.trust, *proposed_pins(base, head))}
    return replace(base, accept=(*proposed_acceptances(base, head), *base.accept), trust=tuple(pins.values()))


def in_force(policy: Policy, today: date) -> Policy:
    """Return a policy without the acceptances that no longer hold."""
    holding = (one for one in policy.accept if not one.is_outdated and not one.has_expired(today))
    return replace(policy, accept=tuple(holding))
