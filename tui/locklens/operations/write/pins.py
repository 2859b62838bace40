"""What the screens have to know for pins: the keys of a namespace, and the pins of the policy on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.errors import LockLensError
from locklens.policy import POLICY_FILE, Pin, parse, parts_of_pin_name
from locklens.project.tree import FileSystem

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from locklens.addresses import ProviderAddress
    from locklens.review.keys import SignerUses


def pins_at(top: Path) -> tuple[Pin, ...]:
    """Return the pins of the policy at a top, as it is on disk.

    Raises:
        ConfigurationError: It has a mistake, or cannot be read.
    """
    data = FileSystem(top).read(POLICY_FILE)
    return parse(data, POLICY_FILE).trust if data is not None else ()


def namespace_name(signers: Collection[SignerUses], address: ProviderAddress) -> str:
    """Return the name that a pin of a provider's namespace has: with its host where other hosts have the namespace."""
    hosts = {use.address.host for one in signers for use in one.uses if use.address.namespace == address.namespace}
    return address.namespace if len(hosts) == 1 else f"{address.host}/{address.namespace}"


def keys_of(signers: Collection[SignerUses], name: str) -> tuple[str, ...]:
    """Return the fingerprints of the keys that sign the locked releases of a namespace.

    Args:
        signers: Of all locked releases.
        name: As of `namespace_name`.

    Raises:
        LockLensError: None of its releases has a known key.
    """
    host, namespace = parts_of_pin_name(name)
    pin = Pin(namespace, host or "")
    keys = [
        one.key.fingerprint
        for one in signers
        if one.key is not None and any(pin.covers(use.address) for use in one.uses)
    ]
    if not keys:
        raise LockLensError(f"no key signs a locked release of {name}")
    return tuple(dict.fromkeys(keys))
