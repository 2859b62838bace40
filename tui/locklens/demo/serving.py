"""Configuration of a tool for the demo registry: a CLI configuration file, and the environment that names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locklens.demo.faults import Fault, FaultRule
from locklens.text import shell_word

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
