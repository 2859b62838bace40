"""The policy of a repository: `locklens.toml` at its top, read and checked.

`document` has its keys as types, from which the JSON Schema is made; `model` has the values that rules use. Every key
is optional. The caller chooses the side of a comparison from which the file is read.
"""

from __future__ import annotations

from locklens.policy.model import (
    Acceptance,
    AcceptFrom,
    InstallPath,
    Pin,
    Policy,
    WantedPlatform,
    parts_of_pin_name,
    pin_for,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

POLICY_FILE = "locklens.toml"
"""The file's name, at the top of the repository."""

MAX_POLICY_BYTES = 64 * 1024
"""Larger files are not read: a policy is about a page long."""


def parse(data: bytes, path: str, rules: Collection[str] = ()) -> Policy:
    """Read a policy; without the ids of known rules, any is accepted.

    Raises:
        ConfigurationError: The file has a mistake; the error is about the first one, with `path` and line. An unknown
            key is a mistake: a silently ignored rule would pass the changes that it forbids.
    """
    from locklens.policy.reading import read_policy

    return read_policy(data, path, max_bytes=MAX_POLICY_BYTES, rules=rules)


__all__ = [
    "MAX_POLICY_BYTES",
    "POLICY_FILE",
    "AcceptFrom",
    "Acceptance",
    "InstallPath",
    "Pin",
    "Policy",
    "WantedPlatform",
    "parse",
    "parts_of_pin_name",
    "pin_for",
]
