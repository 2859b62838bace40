"""How a tool is pointed at the demo's registry: a CLI configuration file, and the environment that names it."""

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
"""What goes wrong where the sample repository is shown: a package published again and by somebody else, a new version
with another signer, an unsigned provider, an expired key, a registry that does not answer. All else is
as it should be."""

_COMMENT = "# Written by locklens demo: the registries below are on this machine, and what they serve is invented.\n"


def cli_configuration(registry: DemoRegistry) -> str:
    """Returns the text of a CLI configuration in which each of the registry's hosts is found on loopback."""
    blocks = (
        f'host "{host}" {{\n  services = {{\n    "providers.v1" = "{registry.service_url(host)}"\n  }}\n}}\n'
        for host in registry.hosts
    )
    return "\n".join((_COMMENT, *blocks))


def write_cli_configuration(registry: DemoRegistry, folder: Path) -> Path:
    """Writes that text to a file in a folder that exists, and returns its path.

    Raises:
        OSError: It cannot be written.
    """
    path = folder / FILE_NAME
    path.write_text(cli_configuration(registry), "utf-8", newline="\n")
    return path


def environment(configuration: Path) -> dict[str, str]:
    """Returns the variables with which terraform, tofu and locklens ask the demo's registry and nobody else."""
    return {"TF_CLI_CONFIG_FILE": str(configuration), "CHECKPOINT_DISABLE": "1"}


def serving_lines(registry: DemoRegistry, configuration: Path) -> list[str]:
    """Returns what to tell whoever started the registry: where it is, and how to point a tool at it."""
    lines = [f"The demo's registry answers at {registry.url}, until this is stopped. It stands for:"]
    lines += [f"  {host}" for host in registry.hosts]
    lines += ["", "In another terminal:"]
    lines += [f"  export {name}={shell_word(value)}" for name, value in environment(configuration).items()]
    return lines
