"""Packages on the machine beside the sample repository: installed ones, a plugin cache, and a mirror in a folder.

They are of linux_amd64, whose `h1` the sample lock files have. One installed package was altered, and one is missing.

| place | packages |
|---|---|
| infra/prod/network/.terraform | aws and random as locked, tls altered, time missing |
| infra/prod/dns/.terraform | cloudflare as locked, netbox of another build than the plugin cache's |
| the plugin cache | random, tls and netbox as published |
| the mirror, for corp/backup alone | corp/backup 0.9.2, unpacked: its `h1` is locked without any signed hash |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.demo.unpacked import write_unpacked
from locklens.text import json_text

if TYPE_CHECKING:
    from pathlib import Path

_PLATFORM = "linux_amd64"
_NETWORK, _DNS = "infra/prod/network", "infra/prod/dns"
_INSTALLED = (
    (_NETWORK, "hashicorp/aws", "6.2.0"),
    (_NETWORK, "hashicorp/random", "3.6.3"),
    (_NETWORK, "hashicorp/tls", "4.1.0"),
    (_DNS, "cloudflare/cloudflare", "4.51.0"),
    (_DNS, "acme/netbox", "3.10.0"),
)
_ALTERED = (_NETWORK, "hashicorp/tls", "4.1.0")
_CACHED = (("hashicorp/random", "3.6.3"), ("hashicorp/tls", "4.1.0"), ("acme/netbox", "3.10.0"))
_MIRRORED = ("corp/backup", "0.9.2")


def write_places(folder: Path, top: Path) -> str:
    """Write the packages, and return the lines of a CLI configuration that name the plugin cache and the mirror.

    Args:
        folder: The existing folder for the plugin cache and the mirror.
        top: The sample repository.

    Raises:
        OSError: They cannot be written.
    """
    for root, source, version in _INSTALLED:
        place = _write(top / root / ".terraform/providers", source, version)
        if (root, source, version) == _ALTERED:
            program = next(place.glob("terraform-provider-*"))
            program.write_bytes(program.read_bytes() + b"# Not as published.\n")
    cache, mirror = folder / "plugin-cache", folder / "mirror"
    for source, version in _CACHED:
        _write(cache, source, version)
    source, version = _MIRRORED
    _write(mirror, source, version)
    return (
        f"plugin_cache_dir = {_quoted(cache)}\n\nprovider_installation {{\n"
        f'  filesystem_mirror {{\n    path    = {_quoted(mirror)}\n    include = ["{source}"]\n  }}\n'
        f'  direct {{\n    exclude = ["{source}"]\n  }}\n}}\n'
    )


def _write(top: Path, source: str, version: str) -> Path:
    return write_unpacked(top, f"registry.terraform.io/{source}", version, _PLATFORM)


def _quoted(path: Path) -> str:
    return json_text(str(path)).strip()
