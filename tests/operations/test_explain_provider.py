"""Why a provider is there: found, explained and printed, from files on disk."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from kit.git import git
from kit.repositories import put
from kit.schemas import json_report
from msgspec.structs import replace
from selection.making import offers

from locklens.addresses import ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.errors import ConfigurationError, LockLensError, UnavailableError
from locklens.lockfile import LockEntry
from locklens.lockfile.render import render
from locklens.operations.comparison import Comparison
from locklens.operations.review.explain_provider import OfferedVersions, WhyRequest, explain_provider
from locklens.operations.review.request import ReviewRequest
from locklens.policy import parse as parse_policy
from locklens.project.requirements import read_configuration
from locklens.project.tree import FileSystem
from locklens.review.reports import why as why_report
from locklens.review.why import Why
from locklens.selection.choosing import explain_selection
from locklens.versions import Constraints, Version

TF, OT = TERRAFORM.default_host, OPENTOFU.default_host


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    put(folder, files)
    return folder


def requiring(*wanted: str) -> str:
    """A file that requires providers, each written as SOURCE, or SOURCE and its constraint."""
    names: list[str] = []
    lines = []
    for one in wanted:
        source, _, constraint = one.partition(" ")
        name = source.rpartition("/")[2]
        names.append(name if name not in names else f"{name}-{len(names)}")
        version = f', version = "{constraint}"' if constraint else ""
        lines.append(f'    {names[-1]} = {{ source = "{source}"{version} }}\n')
    return f"terraform {{\n  required_providers {{\n{''.join(lines)}  }}\n}}\n"


def lock(*locked: str, dialect: Dialect = TERRAFORM) -> bytes:
    """A lock file with providers, each written as NAMESPACE/TYPE and its version."""
    entries = []
    for one in locked:
        name, _, version = one.partition(" ")
        address = ProviderAddress(dialect.default_host, *name.split("/"))
        entries.append(LockEntry(address, Version.parse(version), "", ("h1:x",), 0))
    return render(entries, dialect)


def nothing_opens() -> Comparison:
    raise AssertionError("a comparison is opened")


def asked(
    folder: Path,
    provider: str,
    *roots: str,
    offered: Any = None,
    tool: Dialect | None = None,
    policy: str = "",
    as_of: str = "",
) -> Why:
    def ask(address: ProviderAddress) -> Any:
        if isinstance(offered, LockLensError):
            raise offered
        return None if offered is None else OfferedVersions(offered, as_of=as_of)

    request = WhyRequest(provider, folder, roots, parse_policy(policy.encode(), "locklens.toml"))
    return explain_provider(request, ReviewRequest(nothing_opens, tool=tool), ask)


def document(result: Why) -> dict[str, Any]:
    return json_report("why", result)


def said(result: Why) -> str:
    document(result)
    return why_report.render(result)


NETWORK = """\
module "a" { source = "./m" }
module "b" { source = "./m" }
resource "aws_s3_bucket" "x" {}
provider "aws" {
  alias   = "b"
  version = "!= 5.50.0"
}
"""
STATE = json.dumps(
    {
        "version": 4,
        "resources": [
            {"mode": "managed", "type": "aws_vpc", "name": "old", "provider": f'provider["{TF}/hashicorp/aws"]'},
            {"mode": "managed", "type": "gone_x", "name": "old", "provider": f'provider["{TF}/acme/gone"]'},
        ],
    }
)
FILES: dict[str, str | bytes] = {
    "main.tf": requiring("hashicorp/aws ~> 5.40") + NETWORK,
    "z_override.tf": requiring("hashicorp/aws >= 5.0, < 5.91"),
    "m/main.tf": requiring("hashicorp/aws >= 5.1") + 'module "deep" { source = "./n" }\n',
    "m/n/main.tf": 'resource "aws_x" "y" {}\ndata "aws_x" "y" {}\n',
    "tests/t.tftest.hcl": 'run "one" {\n  module {\n    source = "./m/n"\n  }\n}\n',
    "terraform.tfstate": STATE,
    ".terraform.lock.hcl": lock("hashicorp/aws 5.49.0", "hashicorp/tls 4.0.0"),
}


def test_all_that_requires_a_provider_is_told(tmp_path: Path) -> None:
    assert said(asked(write(tmp_path, FILES), "aws")) == (
        f".  {TF}/hashicorp/aws  (Terraform)\n"
        "  LOCKED       5.49.0  .terraform.lock.hcl:4  satisfies the constraints\n"
        "               the lock file records other constraints: none\n"
        "  CONSTRAINTS  >= 5.0.0, >= 5.1.0, != 5.50.0, < 5.91.0\n"
        "               in effect: >= 5.1.0, != 5.50.0, < 5.91.0\n"
        "  REGISTRY     the registry was not asked, so newer versions are unknown\n"
        "  REQUIRED BY\n"
        "    |- the root module\n"
        "    |  z_override.tf:3  >= 5.0, < 5.91\n"
        "    |    overrides ~> 5.40 of main.tf:3\n"
        '    |  main.tf:11  != 5.50.0  provider "aws" (b)\n'
        "    |  terraform.tfstate:1  any version, because the state still has aws_vpc.old\n"
        "    |  used once, in main.tf:8\n"
        "    |- modules a, b\n"
        "    |  m/main.tf:3  >= 5.1\n"
        "    `- modules a.deep, b.deep, test.tests.t.one (a test)\n"
        "       m/n/main.tf:1  any version, used by resource aws_x.y and 1 more\n"
    )


def test_what_the_registry_offers_says_what_is_held_back_and_by_whom(tmp_path: Path) -> None:
    listed = offers("5.40.0", "5.49.0", "5.50.0", "5.60.0", "5.90.0", "5.91.0", "5.92.0-beta1", "6.0.0", "6.2.0")
    text = said(asked(write(tmp_path, FILES), "aws", offered=listed))
    assert (
        "  REGISTRY     newest 6.2.0, in range 5.90.0, same major 5.91.0, same minor 5.49.0\n"
        "  UPGRADE      `locklens upgrade hashicorp/aws` selects 5.90.0\n"
        "  NEWER        5.91.0 to 6.2.0 (3 versions)  held back:\n"
        "                 < 5.91.0  z_override.tf:3\n"
        "               5.92.0-beta1  held back:\n"
        "                 < 5.91.0  z_override.tf:3\n"
        "                 pre-release (needs an exact constraint)\n"
        "               5.60.0 to 5.90.0 (2 versions)  not held back\n"
        "               5.50.0  held back:\n"
        "                 != 5.50.0  main.tf:11\n"
    ) in text
    assert '|  main.tf:11  != 5.50.0  provider "aws" (b)\n    |    excludes 5.50.0\n' in text
    registry = document(asked(tmp_path, "aws", offered=listed))["roots"][0]["registry"]
    assert registry["init"] == {"version": "5.49.0", "obstacle": None, "nearest": []}
    assert registry["upgrade"]["version"] == "5.90.0"
    place = {"file": "main.tf", "line": 11, "module": ""}
    held = {"reason": "constraint", "term": "!= 5.50.0", "required_by": [place], "names": []}
    assert registry["newer"][-1] == {"versions": ["5.50.0"], "held_by": [held]}


def test_what_the_policy_holds_back_is_held_back(tmp_path: Path) -> None:
    write(tmp_path, {"main.tf": requiring("hashicorp/aws ~> 5.0"), ".terraform.lock.hcl": lock("hashicorp/aws 5.0.0")})
    listed = offers("5.0.0", "5.1.0", "5.2.0")
    text = said(asked(tmp_path, "aws", offered=listed, policy='allow = ["hashicorp/aws < 5.2"]'))
    selected = "`locklens upgrade hashicorp/aws` selects 5.1.0; 5.2.0, the newest in range, is held back: not on the "
    assert f"UPGRADE {selected}allow list" in " ".join(text.split())
    assert (
        "  NEWER        5.2.0  held back:\n"
        "                 not on the allow list\n"
        "               5.1.0  not held back\n"
    ) in text
    undated = "               5.1.0  not held back; release date unknown, cooldown cannot be checked\n"
    text = said(asked(tmp_path, "aws", offered=listed, policy='cooldown = 7\nallow = ["hashicorp/aws < 5.2"]'))
    assert undated in text
    pin = f'[trust.hashicorp]\nkeys = ["{"AB" * 20}"]\n'
    text = said(asked(tmp_path, "aws", offered=listed, policy=pin))
    assert "selects 5.2.0, if a pinned key signs it\n" in text
    assert "5.1.0 to 5.2.0 (2 versions)  not held back, if a pinned key signs them\n" in text
    text = said(asked(tmp_path, "aws", offered=offers("5.0.0"), policy=pin))
    assert "selects 5.0.0, already locked\n" in text


def test_nothing_is_satisfied_or_free_where_constraints_are_unread(tmp_path: Path) -> None:
    far = requiring("hashicorp/aws ~> 5.0") + 'module "far" { source = "acme/far/aws" }\n'
    locked = lock("hashicorp/aws 5.0.0")
    write(tmp_path, {"a/main.tf": far, "a/.terraform.lock.hcl": locked, "b/.terraform.lock.hcl": locked})
    git(tmp_path, "init", "-q")
    result = asked(tmp_path, "aws", offered=offers("5.0.0", "5.1.0"))
    assert "  a  5.0.0  unknown  ~> 5.0\n" in said(result)
    assert "  NEWER        5.1.0  not held back by the constraints that can be read\n" in said(result)


def test_upgrade_stops_where_written_constraints_are_unread_and_nowhere_else(tmp_path: Path) -> None:
    far = requiring("hashicorp/aws ~> 5.0") + 'module "far" { source = "acme/far/aws" }\n'
    locked = lock("hashicorp/aws 5.0.0").replace(b"  hashes", b'  constraints = "~> 5.0"\n  hashes')
    own = requiring("hashicorp/aws ~> 5.0")
    files: dict[str, str | bytes] = {"far/main.tf": far, "both/main.tf": own, "new/main.tf": own}
    files |= {f"{root}/terragrunt.hcl": "" for root in ("unit", "both", "new")}
    files |= {f"{root}/.terraform.lock.hcl": locked for root in ("far", "unit", "both", "alone")}
    write(tmp_path, {**files, "new/.terraform.lock.hcl": lock("hashicorp/tls 4.0.0")})
    git(tmp_path, "init", "-q")
    result = asked(tmp_path, "aws", offered=offers("5.0.0", "5.1.0"))
    upgrade = r"^(\S+)  registry.*\n(?:  .*\n)*?  UPGRADE      `locklens upgrade \S+` (.*(?:\n {15}.*)?)"
    said_by_root = re.findall(upgrade, said(result), re.MULTILINE)
    sections = {root: " ".join(words.split()) for root, words in said_by_root}
    stops = "stops, for not all constraints can be read; by the others it selects 5.1.0"
    assert sections == {"far": stops} | dict.fromkeys(("unit", "both", "new", "alone"), "selects 5.1.0")


def test_a_list_without_the_locked_version_is_dated(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    text = said(asked(tmp_path, "aws", offered=offers("4.0.0"), as_of="2026-03-31T09:12:44Z"))
    assert "the locked version is not listed as of 2026-03-31 09:12 UTC\n" in text


def test_a_step_down_is_called_one_and_nothing_is_newer_than_what_is_locked(tmp_path: Path) -> None:
    write(
        tmp_path, {"a/main.tf": requiring("hashicorp/aws ~> 5.0"), "a/.terraform.lock.hcl": lock("hashicorp/aws 5.3.0")}
    )
    git(tmp_path, "init", "-q")
    text = said(asked(tmp_path, "aws", offered=offers("5.2.0")))
    assert "  UPGRADE      `locklens upgrade hashicorp/aws` selects 5.2.0, older than the locked version\n" in text
    assert "NEWER" not in text


def test_where_there_is_no_lock_file_to_upgrade_lock_selects_whatever_the_policy_holds_back(tmp_path: Path) -> None:
    write(tmp_path, {"a/main.tf": requiring("hashicorp/aws ~> 5.0"), "a/.terraform.lock.hcl": lock("acme/a 1.0.0")})
    git(tmp_path, "init", "-q")
    policy = 'allow = ["acme/*", "hashicorp/aws < 5.2"]'
    upgrade = said(asked(tmp_path, "aws", "a", offered=offers("5.1.0", "5.2.0"), policy=policy))
    assert "  UPGRADE      `locklens upgrade hashicorp/aws` selects 5.1.0; 5.2.0, the newest in range" in upgrade
    (tmp_path / "a/.terraform.lock.hcl").unlink()
    text = said(asked(tmp_path, "aws", "a", offered=offers("5.1.0", "5.2.0"), policy=policy))
    assert "  LOCK         `locklens lock hashicorp/aws` selects 5.2.0\n" in text
    assert "UPGRADE" not in text


def test_a_range_without_an_offered_version_names_the_nearest(tmp_path: Path) -> None:
    text = said(asked(write(tmp_path, FILES), "aws", offered=offers("4.0.0", "6.0.0")))
    assert (
        "  REGISTRY     newest 6.0.0\n"
        "               the locked version is not listed\n"
        "  UPGRADE      `locklens upgrade hashicorp/aws` selects nothing: no offered version satisfies the constraints\n"
        "  NEAREST      6.0.0  held back:\n"
        "                 < 5.91.0  z_override.tf:3\n"
        "               4.0.0  held back:\n"
        "                 >= 5.0.0  z_override.tf:3\n"
        "                 >= 5.1.0  m/main.tf:3  modules a, b\n"
        "  REQUIRED BY\n"
    ) in text
    assert "selects nothing: no version is offered\n" in said(asked(tmp_path, "aws", offered=()))


def test_a_registry_that_does_not_answer_is_no_empty_one(tmp_path: Path) -> None:
    result = asked(write(tmp_path, FILES), "aws", offered=UnavailableError("registry.terraform.io answered 503"))
    assert "  REGISTRY     registry.terraform.io answered 503, so newer versions are unknown\n" in said(result)
    (root,) = document(result)["roots"]
    assert (root["registry"], root["registry_silent"]) == (None, "registry.terraform.io answered 503")
    (root,) = document(asked(tmp_path, "aws", offered=offers("5.49.0")))["roots"]
    assert root["registry_silent"] is None


def test_a_conflict_names_the_smallest_set_that_cannot_hold(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "z_override.tf": "", "m/main.tf": requiring("hashicorp/aws >= 5.1, > 6")})
    result = asked(tmp_path, "aws")
    assert (
        "  CONFLICT     no version can satisfy these together\n"
        "               ~> 5.40  main.tf:3\n"
        "               > 6.0.0  m/main.tf:3  modules a, b\n"
        "  LOCKED       5.49.0  .terraform.lock.hcl:4  DOES NOT SATISFY\n"
        "                 > 6.0.0  m/main.tf:3  modules a, b\n"
        "               the lock file records other constraints: none\n"
        "  CONSTRAINTS  >= 5.1.0, ~> 5.40, != 5.50.0, > 6.0.0\n"
        "  REGISTRY"
    ) in said(result)
    assert said(result).endswith(
        "  FINDINGS     BLOCK LK005  Locked version does not satisfy the configuration: init fails\n"
    )
    (root,) = document(result)["roots"]
    assert root["in_effect"] is None
    assert [[one["term"] for one in conflict] for conflict in root["conflicts"]] == [["~> 5.40", "> 6.0.0"]]
    assert (result.fails("block"), result.fails("never")) == (True, False)
    (tmp_path / ".terraform.lock.hcl").unlink()
    assert asked(tmp_path, "aws").fails("block")


def test_an_outdated_lock_says_what_helps(tmp_path: Path) -> None:
    write(tmp_path, {"main.tf": requiring("hashicorp/aws ~> 6.0"), ".terraform.lock.hcl": lock("hashicorp/aws 5.0.0")})
    helps = "               `terraform init` refuses it without `-upgrade`\n"
    assert helps in said(asked(tmp_path, "aws"))
    assert helps in said(asked(tmp_path, "aws", offered=offers("6.1.0")))
    assert helps not in said(asked(tmp_path, "aws", offered=offers("5.0.0")))


def test_what_is_only_in_the_state_or_in_the_lock(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    gone = asked(tmp_path, "gone")
    assert "terraform.tfstate:1  any version, because the state still has gone_x.old\n" in said(gone)
    assert "  LOCKED       no entry in .terraform.lock.hcl: `terraform init` adds it\n" in said(gone)
    assert "  CONSTRAINTS  none: any release satisfies\n" in said(gone)
    assert gone.fails("block")
    orphan = asked(tmp_path, "tls")
    assert "  REQUIRED BY\n    nothing in 6 files\n" in said(orphan)
    assert "  FINDINGS     WARN LK007" in said(orphan)
    assert (orphan.fails("block"), orphan.fails("warn")) == (False, True)


def test_what_is_not_seen_is_said(tmp_path: Path) -> None:
    far = 'module "far" { source = "acme/far/aws" }\nterraform {\n  backend "s3" {}\n}\n'
    write(tmp_path, {"main.tf": far, "bad.tf": "x {\n", ".terraform.lock.hcl": lock("hashicorp/aws 5.0.0")})
    text = said(asked(tmp_path, "aws"))
    assert "  REQUIRED BY\n    nothing in the files that were read\n" in text
    assert (
        "    `- not read: 1 module that is not fetched: run `terraform get`\n"
        "         main.tf:1  module far from acme/far/aws\n"
        "       parts hidden by the error at bad.tf:1: "
    ) in text
    assert '       the state is in the "s3" backend (main.tf:3)\n' in text
    assert "INFO LK007" in text


def test_a_module_that_get_does_not_make_readable_is_not_said_to_need_it(tmp_path: Path) -> None:
    calls = 'module "far" { source = "acme/far/aws" }\nmodule "up" { source = "../../team" }\n'
    files = {"main.tf": f'{calls}module "none" {{ source = "./none" }}\n'}
    write(tmp_path, files | {".terraform.lock.hcl": lock("hashicorp/aws 5.0.0")})
    git(tmp_path, "init", "-q")
    text = said(asked(tmp_path, "aws"))
    assert (
        "not read: 1 module that is not fetched: run `terraform get`\n"
        "         main.tf:1  module far from acme/far/aws\n"
        "       1 module that is outside of the repository\n"
        "         main.tf:2  module up from ../../team\n"
        "       1 module that is not there\n"
        "         main.tf:3  module none from ./none\n"
    ) in text


def test_a_lock_file_that_cannot_be_read(tmp_path: Path) -> None:
    conflicted = b"<<<<<<< ours\n" + lock("hashicorp/aws 5.0.0") + b"=======\n>>>>>>> theirs\n"
    write(tmp_path, {"main.tf": requiring("hashicorp/aws ~> 6.0"), ".terraform.lock.hcl": conflicted})
    result = asked(tmp_path, "aws")
    assert "  UNREADABLE   .terraform.lock.hcl:1  Conflict markers" in said(result)
    assert "  LOCKED       unknown: the lock file cannot be read\n" in said(result)
    assert result.fails("block")


def test_a_provider_that_is_part_of_the_tool(tmp_path: Path) -> None:
    write(tmp_path, {"main.tf": 'resource "terraform_data" "x" {}\n'})
    assert said(asked(tmp_path, "terraform")) == (
        ".  terraform.io/builtin/terraform  (Terraform)\n"
        "  LOCKED       never: built into Terraform\n"
        "  CONSTRAINTS  none: any release satisfies\n"
        "  REQUIRED BY\n"
        "    `- the root module\n"
        "       main.tf:1  any version, used by resource terraform_data.x\n"
    )


MIXED: dict[str, str | bytes] = {
    "main.tf": requiring("hashicorp/aws ~> 5.0", "acme/aws", "acme/x", "example.com/acme/x", "hashicorp/zürich"),
    ".terraform.lock.hcl": lock("hashicorp/tls 4.0.0", "acme/x 1.0.0"),
}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hashicorp/aws", f"{TF}/hashicorp/aws"),
        ("HashiCorp/AWS", f"{TF}/hashicorp/aws"),
        (f"{TF}/hashicorp/aws", f"{TF}/hashicorp/aws"),
        (f"{TF.upper()}:443/hashicorp/aws", f"{TF}/hashicorp/aws"),
        ("tls", f"{TF}/hashicorp/tls"),
        ("acme/x", f"{TF}/acme/x"),
        (f"{TF}/hashicorp/xn--zrich-kva", f"{TF}/hashicorp/zürich"),
        ("example.com/acme/x", "example.com/acme/x"),
    ],
)
def test_a_provider_may_be_typed_in_short(tmp_path: Path, typed: str, meant: str) -> None:
    result = asked(write(tmp_path, MIXED), typed)
    assert [root["provider"] for root in document(result)["roots"]] == [meant]


@pytest.mark.parametrize(
    ("typed", "words", "hint"),
    [
        ("aws", "ambiguous provider 'aws': acme/aws or hashicorp/aws", "use one of these"),
        ("x", "ambiguous provider 'x': example.com/acme/x or registry.terraform.io/acme/x", "use one of these"),
        ("asw", "the root does not require or lock 'asw'", "did you mean hashicorp/aws?"),
        ("hashicorp/tsl", "does not require or lock", "did you mean hashicorp/tls?"),
        ("zzzzzz", "does not require or lock", "required or locked here: acme/aws, acme/x, example.com/acme/x, "),
        ("a/b/c/d", "invalid provider address 'a/b/c/d': more than three parts", "write it as aws"),
        ("", "invalid provider address '': must have at least one character", "write it as aws"),
        ("a//b", "invalid provider address", "write it as aws"),
        ("\x1b[1m", "invalid provider address", "write it as aws"),
    ],
)
def test_what_cannot_be_meant(tmp_path: Path, typed: str, words: str, hint: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        asked(write(tmp_path, MIXED), typed)
    assert words in str(caught.value)
    assert caught.value.hint.startswith(hint)


def test_what_is_not_required_as_far_as_can_be_told(tmp_path: Path) -> None:
    write(tmp_path, {"main.tf": 'module "far" { source = "acme/far/aws" }\n'})
    with pytest.raises(ConfigurationError) as caught:
        asked(tmp_path, "aws")
    assert str(caught.value) == (
        "the root does not require or lock 'aws', as far as the configuration can be read (not fetched: module far (acme/far/aws))"
    )
    assert caught.value.hint == "no provider is required or locked here"


CONFLICTED = (
    lock("hashicorp/aws 5.0.0")
    .replace(b'  version = "5.0.0"', b'<<<<<<< ours\n  version = "5.0.0"\n=======\n  version = "5.1.0"\n>>>>>>> theirs')
)  # fmt: skip


def test_lock_files_in_conflict_are_not_said_to_lock_nothing(tmp_path: Path) -> None:
    write(tmp_path, {".terraform.lock.hcl": CONFLICTED})
    with pytest.raises(ConfigurationError) as caught:
        asked(tmp_path, "aws")
    assert str(caught.value) == (
        "the root does not require or lock 'aws', as far as can be read "
        "(not read: 1 lock file in conflict; no configuration in this folder)"
    )
    command = f"locklens -C {tmp_path.resolve()} merge --root ."
    assert caught.value.hint == f"{command} merges both sides; entries that clash need --prefer"


def test_all_that_is_not_read_of_several_roots_is_named(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a/main.tf": "x {\n",
        "b/main.tf": 'module "far" { source = "acme/far/aws" }\n',
        "c/.terraform.lock.hcl": CONFLICTED,
        "c/main.tf": "",
    }
    write(tmp_path, files | {f"{root}/.terraform.lock.hcl": lock("hashicorp/tls 1.0.0") for root in "ab"})
    git(tmp_path, "init", "-q")
    with pytest.raises(ConfigurationError) as caught:
        asked(tmp_path, "nope/x")
    assert str(caught.value) == (
        "none of the 3 roots requires or locks 'nope/x', as far as can be read (not read: 1 lock file in conflict; "
        "a: the configuration has an error (a/main.tf:1); b: not fetched: module far (acme/far/aws))"
    )


# Several roots


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    top = tmp_path / "repo"
    top.mkdir()
    git(top, "init", "-q")
    return write(
        top,
        {
            "a/main.tf": requiring("hashicorp/aws ~> 5.0"),
            "a/.terraform.lock.hcl": lock("hashicorp/aws 5.0.0"),
            "b/main.tf": requiring("hashicorp/aws ~> 6.0"),
            "b/.terraform.lock.hcl": lock("hashicorp/aws 5.0.0"),
            "c/main.tofu": requiring("hashicorp/aws"),
            "c/.terraform.lock.hcl": lock("hashicorp/aws 6.0.0", dialect=OPENTOFU),
            "d/main.tf": requiring("hashicorp/tls"),
            "d/.terraform.lock.hcl": lock("hashicorp/tls 4.0.0"),
            "e/main.tf": 'module "far" { source = "acme/far/aws" }\n',
            "e/.terraform.lock.hcl": lock("hashicorp/tls 4.0.0"),
            "f/.terraform.lock.hcl": lock("hashicorp/aws 5.0.0"),
            "modules/m/main.tf": requiring("hashicorp/aws >= 4, < 4"),
        },
    )


def test_every_root_of_the_repository_is_asked(repo: Path) -> None:
    result = asked(repo / "d", "aws")
    text = said(result)
    assert text.startswith(
        "4 roots require or lock aws:\n"
        "  b  5.0.0  BLOCK      ~> 6.0\n"
        "  f  5.0.0  INFO\n"
        "  a  5.0.0  satisfies  ~> 5.0\n"
        "  c  6.0.0  satisfies\n"
        f"\nb  {TF}/hashicorp/aws  (Terraform)\n"
    )
    assert f"\nc  {OT}/hashicorp/aws  (OpenTofu)\n" in text
    assert "  REQUIRED BY\n    unknown: no configuration in this folder\n" in text
    assert text.endswith(
        "\nOther roots that may require or lock it:\n"
        "  e  not locked, and whether it is required is unknown: not fetched: module far (acme/far/aws)\n"
        "\n1 more root neither requires nor locks it.\n"
    )
    assert [root.path for root in asked(repo, "aws").roots] == ["a", "b", "c", "f"]
    assert document(result)["others"] == 1


def test_roots_without_a_lock_file_and_with_one_in_conflict(repo: Path) -> None:
    put(
        repo,
        {
            "new/main.tf": requiring("hashicorp/aws ~> 5.0") + 'terraform {\n  backend "s3" {}\n}\n',
            "used/main.tf": 'provider "aws" {}\n',
            "d/main.tf": 'module "used" { source = "../used" }\n',
            "torn/main.tf": requiring("hashicorp/tls ~> 4.0"),
            "torn/.terraform.lock.hcl": "<<<<<<< HEAD\n=======\n>>>>>>> topic\n",
        },
    )
    result = asked(repo, "aws")
    assert [root.path for root in result.roots] == ["a", "b", "c", "d", "f", "new"]
    assert "new  not locked  -          ~> 5.0\n" in said(result)
    assert "\n  torn  its lock file is in conflict: what it locks is unknown\n" in said(result)


def test_chosen_roots_alone(repo: Path) -> None:
    assert [root.path for root in asked(repo, "aws", "a", "c/.terraform.lock.hcl", "./a").roots] == ["a", "c"]
    assert [root.path for root in asked(repo / "a", "aws", "../b").roots] == ["b"]
    for root, words in (("nowhere", "nowhere: no such folder"), ("../..", "outside of the repository")):
        with pytest.raises(ConfigurationError, match=words):
            asked(repo, "aws", root)
    with pytest.raises(ConfigurationError, match="none of the 2 roots requires or locks 'aws'"):
        asked(repo, "aws", "d", "e")


def test_a_folder_that_was_never_initialised_is_a_root_where_one_stands_in_it(repo: Path) -> None:
    result = asked(repo / "modules/m", "aws")
    assert [root.path for root in result.roots] == ["a", "b", "c", "f", "modules/m"]
    assert "no version can satisfy this\n" not in said(result)
    assert "               >= 4.0.0  modules/m/main.tf:3\n               < 4.0.0   modules/m/main.tf:3\n" in said(
        result
    )
    assert "  LOCKED       no: there is no lock file\n" in said(result)
    assert said(result).startswith(
        "5 roots require or lock aws:\n  modules/m  not locked  CONFLICT   >= 4.0.0, < 4.0.0\n"
    )


def test_the_tool_may_be_given(repo: Path) -> None:
    (root,) = asked(repo, "hashicorp/aws", "a", tool=OPENTOFU).roots
    assert (root.tool, str(root.explanation.address)) == (OPENTOFU, f"{OT}/hashicorp/aws")


def test_what_opentofu_takes_over_from_terraforms_registry_is_locked(tmp_path: Path) -> None:
    write(
        tmp_path, {"main.tofu": requiring("hashicorp/aws >= 5.0"), ".terraform.lock.hcl": lock("hashicorp/aws 5.1.0")}
    )
    taken = said(asked(tmp_path, "aws", offered=offers("5.2.0")))
    assert (
        f".  {OT}/hashicorp/aws  (OpenTofu)\n"
        "  LOCKED       5.1.0  .terraform.lock.hcl:4  satisfies the constraints\n"
        f"               from the entry of {TF}, which OpenTofu takes over without its hashes\n"
    ) in taken
    assert "the locked version is not listed" in taken
    old = said(asked(tmp_path, f"{TF}/hashicorp/aws", offered=offers("5.1.0")))
    assert f"UPGRADE      not required here: the upgrade of {OT}/hashicorp/aws replaces its entry\n" in old
    assert "prune" not in old


def test_outside_of_a_repository_it_is_the_folder(tmp_path: Path) -> None:
    write(tmp_path, {"a/main.tf": requiring("hashicorp/aws ~> 5.0"), "empty/x": ""})
    assert [root.path for root in asked(tmp_path / "a", "aws").roots] == [""]
    assert [root.path for root in asked(tmp_path, "aws", "a").roots] == ["a"]
    assert [root.path for root in asked(tmp_path / "empty", "aws", "../a").roots] == ["../a"]
    with pytest.raises(LockLensError, match="not inside a git repository"):
        asked(tmp_path / "empty", "aws")
    git(tmp_path, "init", "-q")
    with pytest.raises(ConfigurationError, match="no configuration in this folder"):
        asked(tmp_path / "empty", "aws")


@pytest.mark.skipif(os.name == "nt", reason="file names")
def test_nothing_foreign_reaches_the_terminal(tmp_path: Path) -> None:
    name = "a\x1b[31m\u202e.tf"
    write(
        tmp_path,
        {
            name: requiring("hashicorp/aws > 2") + 'resource "aws_x" "y" {}\n',
            "b.tf": 'provider "aws" {\n  version = "< 1"\n}\n',
        },
    )
    text = said(asked(tmp_path, "aws", offered=offers("1.0.0")))
    assert "CONFLICT" in text
    assert text.replace("\n", "").isprintable()
    assert "a\\x1b[31m\\u202e.tf:3" in text


# Configurations that people wrote, in the folder that LOCKLENS_CONFIGURATIONS names

MATERIAL = Path(os.environ.get("LOCKLENS_CONFIGURATIONS") or os.devnull)


def real_modules() -> list[Any]:
    found = sorted(MATERIAL.glob("modules/*/meta.json"))
    skip = pytest.mark.skip(reason="needs LOCKLENS_CONFIGURATIONS, the folder of real material")
    return [pytest.param(path, id=path.parent.name) for path in found] or [pytest.param(None, marks=skip)]


@pytest.mark.parametrize("path", real_modules())
def test_real_modules_are_explained(path: Path, tmp_path: Path) -> None:
    about = json.loads(path.read_text("utf-8"))
    folder = tmp_path / "src"
    shutil.copytree(path.parent / "src", folder)
    root = folder / about["root"]
    tool = OPENTOFU if path.parent.name.endswith("-tofu") else TERRAFORM
    tree = FileSystem(root)
    configuration = read_configuration(tree, "", dialect=tool, worktree=tree)
    for address in sorted(configuration.required()):
        requirements = configuration.of(address)
        result = asked(root, str(address), tool=tool)
        (found,) = document(result)["roots"]
        assert why_report.render(result).startswith(f".  {address}  (")
        assert found["constraints"] == str(configuration.constraints(address))
        assert found["conflicts"] == []
        assert found["locked"] is None or found["locked"]["satisfies"]
        places = {(one["file"], one["line"]) for by in found["required_by"] for one in by["declared"] + by["uses"]}
        assert places == {(one.file, one.constraint_line or one.line) for one in requirements}
        # One more module asks for something that none of the others can live with.
        for one in requirements:
            if one.constraints:
                rival = replace(one, constraints=Constraints.parse("!= 0.0.1, < 0.0.2"), module="rival")
                explained = explain_selection(address, (*requirements, rival), None, None)
                assert all(conflict for conflict in explained.conflicts)
                told = {demand.requirements[-1].module for conflict in explained.conflicts for demand in conflict}
                assert "rival" in told


def test_nothing_is_said_to_satisfy_constraints_that_were_not_read(tmp_path: Path) -> None:
    far = 'module "far" { source = "acme/far/aws" }\n'
    files: dict[str, str | bytes] = {"main.tf": requiring("hashicorp/aws ~> 5.0") + far}
    write(tmp_path, files | {".terraform.lock.hcl": lock("hashicorp/aws 5.0.0")})
    text = said(asked(tmp_path, "aws"))
    assert "satisfies the constraints that can be read" in text
