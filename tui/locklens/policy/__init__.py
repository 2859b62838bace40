"""What a repository wants of its lock files: `locklens.toml` at its top, read and checked.

    cooldown = 7                                  # days that a release must be old
    install_paths = ["direct", "plugin-cache"]    # how packages reach those who install; without it: direct

    [platforms]                                   # that must be able to install, each with why
    linux_amd64 = "CI, production"
    darwin_arm64 = "laptops"

`platforms = ["linux_amd64", "darwin_arm64"]` says it without why. Every key is optional. Which side of a comparison
the file is read from, nobody here knows.
"""

from __future__ import annotations

from locklens.policy.model import InstallPath, Policy, WantedPlatform

POLICY_FILE = "locklens.toml"
"""The file's name, at the top of the repository."""

MAX_POLICY_BYTES = 64 * 1024
"""Larger files are not read: a policy has a page."""


def parse(data: bytes, path: str) -> Policy:
    """Reads a policy.

    Args:
        data: The file's bytes.
        path: The file as the user knows it, for messages.

    Raises:
        ConfigurationError: For the first mistake in the file, with `path` and the mistake's line. A key that is not
            known, or not built yet, is one too: rules that are silently left out would pass what they forbid.
    """
    from locklens.policy.reading import read_policy

    return read_policy(data, path, max_bytes=MAX_POLICY_BYTES)


__all__ = ["MAX_POLICY_BYTES", "POLICY_FILE", "InstallPath", "Policy", "WantedPlatform", "parse"]
