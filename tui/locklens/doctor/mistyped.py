"""A source address that may be mistyped: it is like that of a locked provider, which nothing requires. Pure."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from locklens.addresses import ProviderAddress
    from locklens.doctor.examined import Examined

_LIKENESS = 0.8
"""How much of two names is alike where one may be meant by the other: a letter that is missing, or two that changed."""


def meant_by(x: Examined) -> ProviderAddress | None:
    """Return the locked provider that nothing requires and whose name is like that of one that is not locked."""
    if x.address is None or x.entry is not None or not x.required or x.configuration.unknown_constraints:
        return None
    left = {f"{one.namespace}/{one.type}": one for one in x.lock.by_address if not x.configuration.requires(one)}
    near = get_close_matches(f"{x.address.namespace}/{x.address.type}", left, 1, _LIKENESS)
    return left[near[0]] if near else None
