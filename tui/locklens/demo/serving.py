"""What a machine needs beside the demo: the CLI configuration for its registry, and packages for its sample repository.

The packages are of linux_amd64, whose `h1` the sample lock files have. One installed package was altered, and one is
missing.

| place | packages |
|---|---|
| infra/prod/network/.terraform | aws and random as locked, tls altered, time missing |
| infra/prod/dns/.terraform | cloudflare as locked, netbox of another build than the plugin cache's |
| the plugin cache | random, tls and netbox as published |
| the mirror, for corp/backup alone | corp/backup 0.9.2, unpacked: its `h1` is locked without any signed hash |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.demo.faults import Fault, FaultRule
from locklens.demo.packages import write_unpacked
from locklens.text import json_text, shell_word

if TYPE_CHECKING:
    from pathlib import Path

    from locklens.demo.registry import DemoRegistry

FILE_NAME = "demo.tfrc"

SAMPLE_RULES = (
    FaultRule(Fault.REPUBLISHED, "registry.terraform.io/acme/demo", "1.4.2"),
    FaultRule(Fault.OTHER_SIGNER, "registry.terraform.io/acme/demo", "1.4.2"),
    FaultRule(Fault.OTHER_SIGNER, "registry.terraform.io/elastic/ec", "0.12.4"),
    FaultRule(Fault.UNSIGNED, "registry.terraform.io/fastly/fastly"),
    FaultRule(Fault.EXPIRED_KEY, "registry.terraform.io/cloudflare/cloudflare"),
    FaultRule(Fault.SERVER_ERROR, "registry.opentofu.org"),
)
"""Faults beside the sample repository: a release republished with another key, a new version with another signer, an
unsigned provider, an expired key, a registry that does not answer. Everything else is intact."""

_COMMENT = "# Written by locklens demo: the registries below run on this machine and serve invented releases.\n"


def cli_configuration(registry: DemoRegistry, more: str = "") -> str:
    """Return a CLI configuration that maps each of the registry's hosts to loopback; `more` stands at its end."""
    blocks = (
        f'host "{host}" {{\n  services = {{\n    "providers.v1" = "{registry.service_url(host)}"\n  }}\n}}\n'
        for host in registry.hosts
    )
    return "\n".join((_COMMENT, *blocks, *([more] if more else [])))


def write_cli_configuration(registry: DemoRegistry, folder: Path, more: str = "") -> Path:
    """Write the CLI configuration to a file in an existing folder, and return its path; `more` stands at its end.

    Raises:
        OSError: The file cannot be written.
    """
    path = folder / FILE_NAME
    path.write_text(cli_configuration(registry, more), "utf-8", newline="\n")
    return path


def environment(configuration: Path) -> dict[str, str]:
    """Return the environment with which terraform, tofu and locklens use only the demo registry."""
    return {"TF_CLI_CONFIG_FILE": str(configuration), "CHECKPOINT_DISABLE": "1"}


def serving_lines(registry: DemoRegistry, configuration: Path, *, has_sample_faults: bool = False) -> list[str]:
    """Return the start message: the registry's address, and the settings for other tools."""
    lines = [f"The demo registry listens at {registry.url} until it is stopped. It serves:"]
    lines += [f"  {host}" for host in registry.hosts]
    if has_sample_faults:
        lines += ["", "With the faults of the sample (--fault FAULT replaces them, --fault none removes them):"]
        lines += [f"  {' '.join(filter(None, (rule.fault, rule.provider, rule.version)))}" for rule in SAMPLE_RULES]
    lines += ["", "In another terminal:"]
    lines += [f"  export {name}={shell_word(value)}" for name, value in environment(configuration).items()]
    return lines


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
