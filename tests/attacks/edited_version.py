"""A lock file before and after an edit that blocks without any registry: the version changed, and the hashes stayed."""

from __future__ import annotations

from pathlib import Path

from kit.git import git
from kit.repositories import commit, repository

LOCK = ".terraform.lock.hcl"
ZH = ["zh:" + digit * 64 for digit in "0123"]
REVIEW = ("review", "--offline", "--format", "text")


def lock(version: str, *hashes: str) -> str:
    listed = "".join(f'    "{one}",\n' for one in sorted(hashes))
    return (
        '# This file is maintained automatically by "terraform init".\n'
        "# Manual edits may be lost in future updates.\n"
        f'\nprovider "registry.terraform.io/hashicorp/aws" {{\n  version = "{version}"\n  hashes = [\n{listed}  ]\n}}\n'
    )


OLD = lock("5.1.0", *ZH[:2])
EDITED = lock("5.2.0", *ZH[:2])


def with_an_edit(folder: Path) -> None:
    """Lay a repository whose branch `pr` is checked out and has the edit."""
    repository(folder, {f"infra/prod/{LOCK}": OLD})
    git(folder, "checkout", "-qb", "pr")
    commit(folder, {f"infra/prod/{LOCK}": EDITED})
