"""A policy as frozen values."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from locklens.addresses import Platform


class InstallPath(StrEnum):
    """A place that packages are installed from, as `install_paths` spells it."""

    DIRECT = "direct"
    """From the provider's registry."""
    PLUGIN_CACHE = "plugin-cache"
    """From a folder of unpacked packages that several roots share."""
    PACKED_MIRROR = "packed-mirror"
    """From a network mirror, or a folder of zip files."""
    UNPACKED_MIRROR = "unpacked-mirror"
    """From a folder of unpacked packages that stands in for the registry."""

    @property
    def needs_h1(self) -> bool:
        """True if only an `h1` lets a platform install: an unpacked package has no zip file to hash."""
        return self in (InstallPath.PLUGIN_CACHE, InstallPath.UNPACKED_MIRROR)


class WantedPlatform(Struct, frozen=True):
    """A required platform.

    Attributes:
        why: The reason, one printable line; "" for none.
        line: Its line in the policy, from 1.
    """

    platform: Platform
    why: str = ""
    line: int = 1


class Policy(Struct, frozen=True):
    """The rules of a repository for its lock files.

    Attributes:
        platforms: The required ones in the file's order, each once; may be empty.
        install_paths: Never empty.
        cooldown: Days that a release must be old before it is selected, 0 or more; None if unset.
        file: Its path as the user knows it; "" without a policy.
    """

    platforms: tuple[WantedPlatform, ...] = ()
    install_paths: frozenset[InstallPath] = frozenset({InstallPath.DIRECT})
    cooldown: int | None = None
    file: str = ""

    @classmethod
    def none(cls) -> Policy:
        """The default without a policy: packages from the registry, and no required platforms."""
        return cls()

    @property
    def required(self) -> tuple[Platform, ...]:
        """The required platforms, in the file's order."""
        return tuple(wanted.platform for wanted in self.platforms)

    @property
    def paths_in_order(self) -> tuple[InstallPath, ...]:
        """The install paths in display order."""
        return tuple(path for path in InstallPath if path in self.install_paths)

    def why(self, platform: Platform) -> str:
        """Return the reason why a platform is required, "" for none."""
        return next((wanted.why for wanted in self.platforms if wanted.platform == platform), "")
