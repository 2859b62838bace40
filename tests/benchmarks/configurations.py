"""Measures a review and the health of many roots that all changed, beside another checkout of the project.

    python tests/benchmarks/configurations.py [--roots N] [--rounds N] [--beside CHECKOUT]

Each root has a lock file with four providers and forty lines of configuration of its own, both changed. CHECKOUT is a
work tree of another revision (`git worktree add CHECKOUT REVISION`); without one the references are the review of the same
locks with no configuration beside them, and `find` and `sha256sum` over the same files. Processor time is what is compared, for the time on the clock is that of
everything else on the machine too. It is no test: nothing fails for being slow.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measuring import medians

LOCK = ".terraform.lock.hcl"
COMMANDS = {
    "review": ("review", "--format", "json"),
    "health": ("health", "--format", "json"),
    "health, text": ("health", "--format", "text"),
}
PROVIDERS = {"aws": "~> 5.{0}", "null": "3.2.{0}", "random": ">= 3.{0}.0", "tls": "~> 4.0"}
ENTRY = '    {0} = {{\n      source  = "hashicorp/{0}"\n      version = "{1}"\n    }}\n'
REST = """
provider "aws" {{
  region = var.region{0}
}}

module "vpc" {{
  source = "../../modules/vpc"
  cidr   = "10.{0}.0.0/16"
}}

resource "aws_instance" "web{0}" {{
  ami           = data.aws_ami.ubuntu.id
  instance_type = var.small ? "t3.micro" : "t3.large"
  tags          = merge(local.tags, {{ Name = "web-${{var.env}}" }})
}}

output "ip" {{
  value = aws_instance.web{0}.public_ip
}}
"""


def configuration(number: int) -> str:
    """The forty lines of one root."""
    entries = "".join(ENTRY.format(name, constraint.format(number)) for name, constraint in PROVIDERS.items())
    head = f'terraform {{\n  required_version = ">= 1.5"\n  required_providers {{\n{entries}  }}\n}}\n'
    return head + REST.format(number)


def lock(number: int, patch: int) -> str:
    """The lock file of one root."""
    blocks = [
        '# This file is maintained automatically by "terraform init".\n# Manual edits may be lost in future updates.\n'
    ]
    for name, constraint in PROVIDERS.items():
        version = {"aws": f"5.{number}.{patch}", "null": f"3.2.{number}", "random": f"3.{number}.{patch}"}.get(
            name, f"4.0.{patch}"
        )
        hashes = sorted(hashlib.sha256(f"{name} {version} {each}".encode()).hexdigest() for each in range(10))
        listed = "".join(f'    "zh:{digest}",\n' for digest in hashes)
        blocks.append(
            f'provider "registry.terraform.io/hashicorp/{name}" {{\n  version     = "{version}"\n'
            f'  constraints = "{constraint.format(number)}"\n  hashes = [\n{listed}  ]\n}}\n'
        )
    return "\n".join(blocks)


def lay(top: Path, roots: int, *, has_configuration: bool) -> Path:
    """Lays out a repository in which every root differs from the last commit."""
    module = top / "modules" / "vpc" / "main.tf"
    module.parent.mkdir(parents=True)
    module.write_text('variable "cidr" {}\nresource "aws_vpc" "x" {\n  cidr_block = var.cidr\n}\n')
    for patch in (1, 2):
        for number in range(roots):
            folder = top / "roots" / f"{number:04}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / LOCK).write_text(lock(number, patch))
            if has_configuration:
                (folder / "main.tf").write_text(configuration(number) + "# changed\n" * (patch - 1))
        if patch == 1:
            git = ["git", "-C", str(top), "-c", "user.name=n", "-c", "user.email=e@example.org"]
            for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
                subprocess.run([*git, *words], check=True)
    return top


def run(code: Path, repository: Path, *command: str) -> None:
    """Runs a command on a repository."""
    entry = "import sys; from locklens.__main__ import run; sys.exit(run())"
    words = [*command, "--offline", "--no-cache", "--fail-on", "never", "--output", os.devnull]
    environ = {**os.environ, "PYTHONPATH": str(code / "tui")}
    subprocess.run([sys.executable, "-c", entry, *words], cwd=repository, env=environ, check=True)


def main() -> None:
    """Prints the medians."""
    parser = argparse.ArgumentParser(description="Measure the review and the health of many roots.")
    parser.add_argument("--roots", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beside", type=Path)
    arguments = parser.parse_args()
    own = Path(__file__).parents[2]
    with tempfile.TemporaryDirectory() as folder:
        changed = lay(Path(folder) / "changed", arguments.roots, has_configuration=True)
        bare = lay(Path(folder) / "bare", arguments.roots, has_configuration=False)
        hashing = ["sh", "-c", "find . -name .git -prune -o -type f -print0 | xargs -0 sha256sum > /dev/null"]
        ways: dict[str, Callable[[], object]] = {}
        for name, words in COMMANDS.items():
            ways[name] = partial(run, own, changed, *words)
            if arguments.beside:
                ways[f"{name}, beside"] = partial(run, arguments.beside, changed, *words)
        if not arguments.beside:
            ways["review, without configuration"] = partial(run, own, bare, *COMMANDS["review"])
            ways["find, sha256sum"] = partial(subprocess.run, hashing, cwd=changed, check=True)
        found = medians(ways, arguments.rounds)
    print(f"{arguments.roots} roots")
    for name, one in found.items():
        print(f"{name:30} {one.cpu:6.2f} s of processor time, {one.wall:6.2f} s on the clock")


if __name__ == "__main__":
    main()
