"""Random constraints and versions, given to us and to the real terraform: the same choice, the same refusal.

Each provider of its own name is one case, and one `init` judges them all. The registry has no packages, so that
terraform says which version it chose and stops there.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest
from collecting import UNCOLLECTED
from kit.effort import DIAGONAL
from kit.loopback import serving
from msgspec import Struct

from locklens.addresses import ProviderAddress
from locklens.dialect import TERRAFORM
from locklens.lockfile import LockEntry
from locklens.lockfile.parse import parse
from locklens.lockfile.render import render
from locklens.project.configuration import Configuration
from locklens.project.requirements import read_configuration
from locklens.project.tree import WorkTree
from locklens.selection import Selection
from locklens.selection.choosing import select
from locklens.sources.metadata import ListedVersion
from locklens.versions import Version

terraform = shutil.which("terraform")
pytestmark = pytest.mark.skipif(terraform is None, reason="needs terraform")

HOST = "reg.acme.test"
CASES = 150


ZEROS = ("0.0.0", "0.0.0+b1")
OF_ZERO = ("", "0.0.0", "0.0.0+b1", "<= 0.0.0", "!= 0.0.0", "0.0.0-x")


class Case(Struct, frozen=True):
    address: ProviderAddress
    constraints: tuple[str, ...]
    offered: tuple[str, ...]
    locked: str


def random_version(chance: random.Random) -> str:
    numbers = ".".join(str(chance.choice([0, 0, 1, 1, 2, 3, 10])) for _ in range(3))
    tail = chance.choice(["", "", "", "", "", "-beta", "-alpha.1", "-rc.2", "-1", "-01", "-beta.a.b"])
    return numbers + tail + chance.choice(["", "", "", "", "", "", "", "+b1"])


def random_term(chance: random.Random, near: list[str]) -> str:
    operator = chance.choice(["", "= ", "!= ", "> ", ">= ", ">=", "< ", "<= ", "~> ", "~> ", "~>"])
    operand = chance.choice(near) if near and chance.random() < 0.6 else random_version(chance)
    if chance.random() < 0.3:
        operand = ".".join(re.split("[-+]", operand)[0].split(".")[: chance.choice([1, 2])])
    return operator + operand


def random_case(chance: random.Random, number: int) -> Case:
    offered: dict[tuple[str, str], str] = {}
    for _ in range(chance.choice([1, 2, 4, 8, 16])):
        text = random_version(chance)
        # Of two versions that differ in metadata alone terraform takes either.
        offered.setdefault((text.partition("+")[0], ""), text)
    versions = list(offered.values())
    terms = [random_term(chance, versions) for _ in range(chance.choice([0, 1, 1, 2, 2, 3, 4]))]
    split = chance.randint(0, len(terms))
    constraints = tuple(", ".join(part) for part in (terms[:split], terms[split:]))
    locked = ""
    if chance.random() < 0.5:
        locked = chance.choice(versions) if chance.random() < 0.9 else random_version(chance)
    return Case(ProviderAddress(HOST, "acme", f"p{number}"), constraints, tuple(versions), locked)


def write_root(root: Path, cases: list[Case]) -> Configuration:
    (root / "child").mkdir(parents=True)
    for folder, which in ((root, 0), (root / "child", 1)):
        lines = []
        for case in cases:
            version = f', version = "{case.constraints[which]}"' if case.constraints[which] else ""
            lines.append(f'    {case.address.type} = {{ source = "{case.address}"{version} }}\n')
        call = "" if which else 'module "child" {\n  source = "./child"\n}\n'
        (folder / "main.tf").write_text(f"terraform {{\n  required_providers {{\n{''.join(lines)}  }}\n}}\n{call}")
    entries = [LockEntry(case.address, Version.parse(case.locked), "", (), 0) for case in cases if case.locked]
    (root / ".terraform.lock.hcl").write_bytes(render(entries, TERRAFORM))
    tree = WorkTree(root)
    return read_configuration(tree, "", dialect=TERRAFORM, worktree=tree)


def told_by_terraform(root: Path, cases: list[Case], *options: str) -> dict[str, str]:
    """What terraform says of each provider: the version that it chose, or its refusal."""
    with serving() as server:
        for case in cases:
            listed = [{"version": text, "protocols": ["5.0"]} for text in case.offered]
            server.gives(f"/v1/acme/{case.address.type}/versions", {"versions": listed})
        cli = root / "cli.tfrc"
        cli.write_text(f'host "{HOST}" {{\n  services = {{ "providers.v1" = "{server.url("/v1/")}" }}\n}}\n')
        assert terraform is not None
        result = subprocess.run(
            [terraform, "init", "-no-color", *options], cwd=root, capture_output=True, text=True, check=False, timeout=120,
            env={**UNCOLLECTED, "PATH": os.environ["PATH"], "HOME": str(root), "CHECKPOINT_DISABLE": "1", "TF_CLI_CONFIG_FILE": str(cli)},
        )  # fmt: skip
    text = " ".join(result.stderr.split())
    told = {}
    for found in re.finditer(rf"Provider {HOST}/acme/(p\d+) v(\S+) does not have a package available", text):
        told[found[1]] = found[2]
    for found in re.finditer(rf"for provider {HOST}/acme/(p\d+): (.*?) To see which modules", text):
        told[found[1]] = found[2]
    return told


@DIAGONAL
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("upgrade", [False, True], ids=["init", "upgrade"])
def test_the_same_choice(tmp_path: Path, seed: int, *, upgrade: bool) -> None:
    chance = random.Random(f"{seed} {upgrade}")
    cases = [random_case(chance, number) for number in range(CASES)]
    cases += [
        Case(ProviderAddress(HOST, "acme", f"p{number}"), (constraint, ""), (offered, "0.0.0-x"), locked)
        for number, (offered, constraint, locked) in enumerate(product(ZEROS, OF_ZERO, ("", *ZEROS)), CASES)
    ]
    configuration = write_root(tmp_path / "root", cases)
    locks = parse((tmp_path / "root" / ".terraform.lock.hcl").read_bytes(), "lock").by_address
    assert [problem for problem in configuration.problems if problem.is_error] == []
    theirs = told_by_terraform(tmp_path / "root", cases, *(["-upgrade"] if upgrade else []))
    ours, chosen = {}, 0
    for case in cases:
        offered = [ListedVersion(Version.parse(text), ("5.0",), ()) for text in case.offered]
        locked = locks.get(case.address)
        result = select(configuration.of(case.address), offered, locked.version if locked else None, upgrade=upgrade)
        if isinstance(result, Selection):
            ours[case.address.type] = str(result.version)
            chosen += 1
        else:
            ours[case.address.type] = result.words(case.address, TERRAFORM).strip()
    assert ours == theirs
    assert CASES / 10 < chosen < CASES * 9 / 10
