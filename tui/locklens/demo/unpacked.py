"""Unpacked copies of sample packages, as plugin caches, mirrors and `.terraform` hold them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING
from zipfile import ZipFile

from locklens.demo.packages import package_bytes

if TYPE_CHECKING:
    from pathlib import Path


def write_unpacked(top: Path, provider: str, version: str, platform: str, edition: str = "") -> Path:
    """Write a package into HOST/NAMESPACE/TYPE/VERSION/OS_ARCH below a folder, and return its folder.

    Args:
        top: The plugin cache, mirror or folder of installed providers.
        provider: Full address.
        version: The release.
        platform: OS_ARCH.
        edition: As of `package_bytes`.

    Raises:
        OSError: It cannot be written.
    """
    place = top / provider / version / platform
    place.mkdir(parents=True)
    with ZipFile(io.BytesIO(package_bytes(provider, version, platform, edition))) as archive:
        archive.extractall(place)
    return place
