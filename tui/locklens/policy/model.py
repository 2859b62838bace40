"""A policy as frozen values."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from locklens.addresses import Platform


class InstallPath(StrEnum):
    """A way by which packages reach those who install, as `install_paths` spells it."""

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
        """Whether an `h1` alone lets a platform install: what is unpacked already has no zip file to hash."""
        return self in (InstallPath.PLUGIN_CACHE, InstallPath.UNPACKED_MIRROR)


class WantedPlatform(Struct, frozen=True):
    """A platform that must be able to install.

    Attributes:
        why: One printable line, "" where the policy does not say.
        line: Where the policy names it, from 1.
    """

    platform: Platform
    why: str = ""
    line: int = 1


class Policy(Struct, frozen=True):
    """What a repository wants of its lock files.

    Attributes:
        platforms: In the file's order, each once. Empty where none is wanted in particular.
        install_paths: Never empty.
        cooldown: Days that a release must be old before it is picked, 0 or more; None where the policy does not say.
        file: Where it was read, as the user knows it; "" where there is no policy.
    """

    platforms: tuple[WantedPlatform, ...] = ()
    install_paths: frozenset[InstallPath] = frozenset({InstallPath.DIRECT})
    cooldown: int | None = None
    file: str = ""

    @classmethod
    def none(cls) -> Policy:
        """What counts where there is no policy: packages from the registry, and nothing wanted."""
        return cls()

    @property
    def paths_in_order(self) -> tuple[InstallPath, ...]:
        """The install paths in the order in which they are shown."""
        return tuple(path for path in InstallPath if path in self.install_paths)

    def why(self, platform: Platform) -> str:
        """Why a platform is wanted, "" where nobody says."""
        return next((wanted.why for wanted in self.platforms if wanted.platform == platform), "")
