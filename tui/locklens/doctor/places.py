"""Where packages of a provider are and may come from, by this machine's files and settings. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.project.installation import InstallationMethod, MethodKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locklens.doctor import FoundPackage, InstalledPlace
    from locklens.versions import Version


class Places(Struct, frozen=True):
    """The places of one provider's packages.

    Attributes:
        packages: Packages on disk, and the one that was handed in.
        moved: The package that was moved aside here later than the log, by the path that it had; None without one.
        mirrors: The folders of mirrors that the user or this machine's settings name for the provider.
        mirrored: The versions of it that each of them has now; a folder that cannot be searched is left out.
        servers: The mirrors on servers that the settings name for it, those of one kind together.
        machine: OS_ARCH of this machine, which the failing run is assumed to have where nothing tells its own.
        registry_url: The URL of the provider's registry that a `host` block of the settings names; "" for none.
        asks_registry: True if this machine's settings let the tool ask a registry for the provider.
        has_source: False if a provider_installation block of the settings has no method that installs, and the command
            of the log names no place.
        is_overridden: True if `dev_overrides` of this machine's settings take the provider from a folder.
        may_send_token: True if this machine may have sent a token to the provider's registry.
    """

    packages: tuple[FoundPackage, ...] = ()
    installed: InstalledPlace | None = None
    moved: FoundPackage | None = None
    mirrors: tuple[str, ...] = ()
    mirrored: Mapping[str, tuple[Version, ...]] = {}
    servers: tuple[InstallationMethod, ...] = ()
    machine: str = ""
    registry_url: str = ""
    asks_registry: bool = True
    has_source: bool = True
    is_overridden: bool = False
    may_send_token: bool = True

    @property
    def replaced(self) -> str:
        """The path of a package that was moved aside; "" without one."""
        return self.moved.path if self.moved is not None else ""

    @property
    def is_mirror_replaced(self) -> bool:
        """True if that package was a mirror's."""
        return self.moved is not None and self.moved.kind == "mirror"

    @property
    def mirrors_alone(self) -> Mapping[str, tuple[Version, ...]]:
        """The versions in folders of mirrors, where init asks those alone, and each was searched; else none."""
        is_alone = not (self.asks_registry or self.servers) and len(self.mirrored) == len({*self.mirrors})
        return self.mirrored if is_alone else {}

    @property
    def oci_mirror(self) -> str:
        """The first template of OCI repositories in the settings here; "" without one."""
        return next((one.place for one in self.servers if one.kind is MethodKind.OCI), "")
