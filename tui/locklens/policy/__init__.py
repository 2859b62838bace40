"""The policy of a repository: `locklens.toml` at its top, read and checked.

    cooldown = 7                                  # minimum age of a release, in days
    install_paths = ["direct", "plugin-cache"]    # where packages are installed from; default: direct

    [platforms]                                   # required platforms, each with the reason
    linux_amd64 = "CI, production"
    darwin_arm64 = "laptops"

`platforms = ["linux_amd64", "darwin_arm64"]` omits the reasons. Every key is optional. The side of a
comparison that the file is read from is the caller's choice.
"""

from __future__ import annotations

from locklens.policy.model import InstallPath, Policy, WantedPlatform

POLICY_FILE = "locklens.toml"
"""The file's name, at the top of the repository."""

MAX_POLICY_BYTES = 64 * 1024
"""Larger files are not read: a policy is about a page long."""


def parse(data: bytes, path: str) -> Policy:
    """Read a policy.

    Args:
        data: The file's bytes.
        path: The file as the user knows it, for messages.

    Raises:
        ConfigurationError: For the first mistake in the file, with `path` and the mistake's line. This
            includes unknown and unsupported keys: a silently ignored rule would pass the changes that it forbids.
    """
    from locklens.policy.reading import read_policy

    return read_policy(data, path, max_bytes=MAX_POLICY_BYTES)


__all__ = ["MAX_POLICY_BYTES", "POLICY_FILE", "InstallPath", "Policy", "WantedPlatform", "parse"]
