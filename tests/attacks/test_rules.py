"""Changes that choose who judges them, or pass one thing off as another: what is said, and what still counts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from kit.git import git
from kit.registries import lead_to
from kit.repositories import commit, repository
from msgspec.structs import replace
from ui.conftest import Running, until

from locklens.addresses import read_host
from locklens.cli.main import main
from locklens.demo import SampleLock, lock_file
from locklens.demo.faults import Fault, FaultRule, Faults, ServedAnswer
from locklens.demo.published import Published
from locklens.demo.registry import DemoRegistry, RequestedPath
from locklens.demo.signing import publisher
from locklens.dialect import OPENTOFU
from locklens.hashes import h1_of_digests
from locklens.operations.compare import open_git
from locklens.operations.comparison import Base
from locklens.operations.locklens import LockLens
from locklens.operations.plan import Scope
from locklens.operations.plan.review import review_plan
from locklens.operations.review.request import ReviewRequest
from locklens.operations.review.run import review
from locklens.operations.write.lock_edits import Format
from locklens.project.clifiles import this_platform
from locklens.releases import NetworkSettings
from locklens.storage.cache import Cache

HOME, TOFU, LOCK = "registry.terraform.io", "registry.opentofu.org", ".terraform.lock.hcl"
DEMO = f"{HOME}/acme/demo"
SYSTEM = this_platform()
terraform = shutil.which("terraform")


def requires(*sources: str) -> str:
    lines = [f'    {one.rpartition("/")[2]} = {{ source = "{one}", version = ">= 1.0.0" }}\n' for one in sources]
    return f"terraform {{\n  required_providers {{\n{''.join(lines)}  }}\n}}\n"


class Passing(DemoRegistry):
    """A registry that answers for one version with all that is published of another; `renamed` are other names.

    Everything that it hands out is genuine: it needs no key for that.
    """

    passed_off: tuple[str, str] = ("", "")
    renamed: str = ""

    def release(self, provider: str, version: str) -> Published | None:
        found = super().release(provider, self.passed_off[1] if version == self.passed_off[0] else version)
        if found is None or not self.renamed:
            return found
        sums = found.sums.replace(b"terraform-provider-", self.renamed.encode())
        return replace(found, sums=sums, signature=publisher("acme").signature(sums))

    def _download(self, release: Published, asked: RequestedPath) -> ServedAnswer:
        answer = super()._download(release, asked)
        if not self.renamed or answer.status != 200:
            return answer
        document = json.loads(answer.body)
        document["filename"] = document["filename"].replace("terraform-provider-", self.renamed)
        return ServedAnswer.of_json(document)


@pytest.fixture
def registry() -> Iterator[Passing]:
    offered = {DEMO: ["1.0.0", "1.2.0"], f"{HOME}/acme/other": ["1.0.0"], f"{TOFU}/acme/demo": ["1.0.0", "1.2.0"]}
    with Passing(offered) as running:
        yield running


@pytest.fixture
def top(tmp_path: Path, registry: Passing, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which `main` has demo 1.0.0 locked."""
    lead_to(monkeypatch, registry, tmp_path)
    lock = lock_file(SampleLock(DEMO, "1.0.0", ">= 1.0.0"))
    top = repository(tmp_path / "top", {"main.tf": requires("acme/demo"), LOCK: lock})
    git(top, "checkout", "-q", "-b", "pr")
    monkeypatch.chdir(top)
    return top


def run(*words: str) -> int:
    return main([*words, "--no-cache"], lambda *_: 0)


class Reviewed:
    """The JSON document of a review of the branch against `main`."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *words: str) -> None:
        capsys.readouterr()
        self.status = run("review", "main", "--format", "json", *words)
        self.document: dict[str, Any] = json.loads(capsys.readouterr().out)
        (self.root,) = self.document["roots"]

    @property
    def findings(self) -> dict[str, dict[str, Any]]:
        found = [*self.root["findings"], *(one for change in self.root["changes"] for one in change["findings"])]
        return {one["rule"]: one for one in found}

    @property
    def severities(self) -> dict[str, str]:
        return {rule: one["severity"] for rule, one in self.findings.items()}


# Another version's signature


def test_another_versions_signature_vouches_for_nothing(
    top: Path, registry: Passing, capsys: pytest.CaptureFixture[str]
) -> None:
    (top / LOCK).write_bytes(lock_file(SampleLock(DEMO, "1.2.0", ">= 1.0.0", hashes_of="1.0.0")))
    commit(top, {})
    registry.passed_off = ("1.2.0", "1.0.0")
    found = Reviewed(capsys)
    assert (found.status, found.document["summary"]["verdict"]) == (1, "block")
    assert "the signed packages are of demo 1.0.0" in found.findings["LK033"]["message"]
    (change,) = found.root["changes"]
    assert change["hashes"]["explained"] == 0
    assert change["signer"]["new"] is None
    proven = Reviewed(capsys, "--prove", "changed")
    assert proven.root["changes"][0]["hashes"]["explained"] == 0
    assert "LK033" in proven.findings


def test_another_versions_signature_is_neither_locked_nor_installed(
    top: Path, registry: Passing, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.passed_off = ("1.2.0", "1.0.0")
    before = (top / LOCK).read_bytes()
    for words in (("upgrade", "demo"), ("init", "--upgrade")):
        assert run(*words) == 1
        told = capsys.readouterr().err
        assert "passes another release off as demo 1.2.0 for" in told
        assert "the signed packages are of demo 1.0.0" in told
        assert "and keep the locked version" in told
        assert (top / LOCK).read_bytes() == before
    (top / LOCK).write_bytes(lock_file(SampleLock(DEMO, "1.2.0", ">= 1.0.0", unpacked=())))
    assert run("lock", "--platform", "linux_amd64") == 1
    assert "the signed packages are of demo 1.0.0" in capsys.readouterr().err
    assert not (top / ".terraform/providers").exists() or not list((top / ".terraform/providers").rglob("*_v*"))


def test_names_of_a_registrys_own_are_taken_as_they_are(
    top: Path, registry: Passing, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.renamed = "acme-build-of-"
    assert run("upgrade", "demo=1.2.0") == 0
    assert b'"1.2.0"' in (top / LOCK).read_bytes()
    commit(top, {})
    found = Reviewed(capsys)
    assert (found.status, found.document["summary"]["verdict"]) == (0, "ok")
    assert "LK033" not in found.findings


@pytest.mark.skipif(terraform is None, reason="there is no terraform here")
def test_terraform_itself_takes_another_versions_signature(top: Path, registry: Passing) -> None:
    """The difference is a deliberate one."""
    registry.passed_off = ("1.2.0", "1.0.0")
    assert terraform is not None
    done = subprocess.run([terraform, "init", "-upgrade"], cwd=top, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b'"1.2.0"' in (top / LOCK).read_bytes()


# Hashes that the tools pass over


def only_hashes(top: Path, version: str, *hashes: str) -> None:
    """Gives the entry other hashes, whatever they are."""
    data = lock_file(SampleLock(DEMO, version, ">= 1.0.0")).decode()
    start, end = data.index("  hashes = [\n"), data.index("  ]\n")
    listed = "".join(f'    "{text}",\n' for text in hashes)
    (top / LOCK).write_text(f"{data[:start]}  hashes = [\n{listed}{data[end:]}")


@pytest.mark.parametrize("version", ["1.0.0", "1.2.0"])
@pytest.mark.parametrize("text", ["x9:abcd", "H1:{}", "ZH:00", "\N{ZERO WIDTH SPACE}h1:{}", "h1 :{}"])
def test_hashes_of_unknown_schemes_keep_nothing_out(
    top: Path, capsys: pytest.CaptureFixture[str], version: str, text: str
) -> None:
    only_hashes(top, version, text.format("Q6dhClq8/QjL54snJWu3+8+fqEex86YOsKz/2BrzmKw="))
    found = Reviewed(capsys)
    assert (found.status, found.severities["LK020"]) == (1, "block")
    message = found.findings["LK020"]["message"]
    assert message.startswith("no hash that the tools compare: any download will be accepted; ")
    assert message.endswith(" before")


def test_a_new_entry_of_unknown_schemes_alone_blocks(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(top, "checkout", "-q", "main")
    git(top, "rm", "-q", LOCK)
    git(top, "commit", "-qm", "x")
    git(top, "checkout", "-q", "-B", "pr")
    only_hashes(top, "1.0.0", "x9:abcd")
    found = Reviewed(capsys)
    assert (found.status, found.severities["LK020"]) == (1, "block")


@pytest.mark.skipif(terraform is None, reason="there is no terraform here")
def test_terraform_itself_installs_anything_for_an_unknown_scheme(top: Path, registry: Passing) -> None:
    only_hashes(top, "1.2.0", "x9:abcd")
    registry.passed_off = ("1.2.0", "1.0.0")
    assert terraform is not None
    done = subprocess.run([terraform, "init"], cwd=top, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# The tool that judges


def flip(top: Path) -> None:
    """Changes two words of the lock file's comment: those by which a tool knows its own."""
    data = (top / LOCK).read_bytes()
    header, _, rest = data.partition(b"\n")
    (top / LOCK).write_bytes(header.replace(b"terraform init", b"tofu init") + b"\n" + rest)


def test_two_words_of_a_comment_do_not_choose_the_judge(
    top: Path, registry: Passing, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.faults = Faults((FaultRule(Fault.BAD_TRUST_SIGNATURE, DEMO, "1.2.0"),))
    (top / LOCK).write_bytes(lock_file(SampleLock(DEMO, "1.2.0", ">= 1.0.0")))
    plain = Reviewed(capsys)
    assert plain.severities["LK030"] == "block"
    assert "LK032" not in plain.findings
    flip(top)
    flipped = Reviewed(capsys)
    assert (flipped.root["tool"], flipped.severities["LK030"]) == ("terraform", "block")
    assert flipped.severities["LK032"] == "warn"
    words = "locked by Terraform before, by OpenTofu now: judged by Terraform's rules; --tool opentofu judges by"
    assert words in flipped.findings["LK032"]["message"]
    asked = Reviewed(capsys, "--tool", "opentofu")
    assert asked.root["tool"] == "opentofu"
    assert not {"LK030", "LK032"} & asked.findings.keys()


def test_a_lock_file_that_the_other_tool_wrote_by_mistake_is_told(
    top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = DEMO.replace("registry.terraform.io", "registry.opentofu.org")
    (top / "main.tf").rename(top / "main.tofu")
    (top / LOCK).write_bytes(lock_file(SampleLock(here, "1.2.0", ">= 1.0.0"), dialect=OPENTOFU))
    git(top, "add", ".")
    git(top, "commit", "-qm", "a root of OpenTofu")
    git(top, "branch", "-f", "main")
    (top / LOCK).write_bytes(lock_file(SampleLock(DEMO, "1.2.0", ">= 1.0.0")))
    found = Reviewed(capsys)
    finding = found.findings["LK032"]
    assert (found.root["tool"], finding["line"]) == ("opentofu", 1)
    assert (
        finding["message"] == "locked by OpenTofu before, by Terraform now, and the root is judged as one of OpenTofu"
    )


def test_a_configuration_of_the_other_tool_leaves_the_judge_and_the_lock_file(
    top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (top / "main.tf").rename(top / "main.tofu")
    found = Reviewed(capsys)
    (finding,) = (one for one in found.root["findings"] if one["rule"] == "LK032")
    assert (found.root["tool"], found.root["status"], finding["line"]) == ("terraform", "unchanged", None)
    assert finding["message"].startswith("of Terraform before, of OpenTofu now by its configuration files: judged by")


def test_where_a_branch_begins_does_not_choose_the_judge(
    top: Path, registry: Passing, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.faults = Faults((FaultRule(Fault.BAD_TRUST_SIGNATURE, DEMO, "1.2.0"),))
    data = (top / LOCK).read_bytes()
    flip(top)
    commit(top, {})
    git(top, "branch", "-f", "main")
    git(top, "checkout", "-q", "main")
    (top / LOCK).write_bytes(data)
    commit(top, {})
    git(top, "checkout", "-q", "pr")
    (top / LOCK).write_bytes(lock_file(SampleLock(DEMO, "1.2.0", ">= 1.0.0")))
    flip(top)
    found = Reviewed(capsys, "--merge-base")
    assert (found.root["tool"], found.severities["LK030"]) == ("terraform", "block")
    assert found.severities["LK032"] == "warn"


def test_a_file_that_the_tool_never_reads_hides_nothing(
    top: Path, registry: Passing, capsys: pytest.CaptureFixture[str]
) -> None:
    (top / "main.tf").write_text(requires("acme/demo", "acme/other"))
    assert Reviewed(capsys).severities["LK006"] == "block"
    (top / "main.tofu").write_text(requires("acme/demo"))
    flip(top)
    found = Reviewed(capsys)
    assert found.severities["LK006"] == "block"
    assert found.severities["LK032"] == "warn"


def test_a_plan_is_judged_by_the_same_tool(top: Path) -> None:
    flip(top)
    (top / LOCK).write_bytes((top / LOCK).read_bytes().replace(b"\n", b"\r\n"))
    reviewed = review(request(top))
    assert [root.tool.name for root in reviewed.roots] == ["terraform"]
    found = review_plan(Format(Scope(top)).plan(), request(top), reviewed)
    assert [root.tool.name for root in found.review.roots] == ["terraform"]


def test_a_migration_is_one_line(top: Path, registry: Passing, capsys: pytest.CaptureFixture[str]) -> None:
    migrated = SampleLock(f"{TOFU}/acme/demo", "1.0.0", ">= 1.0.0")
    (top / LOCK).write_bytes(lock_file(migrated, dialect=OPENTOFU))
    found = Reviewed(capsys)
    assert found.root["tool"] == "opentofu"
    assert found.severities == {"LK032": "warn", "LK015": "info"}
    assert (
        "its providers are from registry.opentofu.org, judged by OpenTofu's rules"
        in (found.findings["LK032"]["message"])
    )


def test_a_migration_of_sources_with_a_host_is_one_line(
    top: Path, registry: Passing, capsys: pytest.CaptureFixture[str]
) -> None:
    (top / "main.tf").write_text(requires(DEMO))
    flip(top)
    assert Reviewed(capsys).severities == {"LK032": "warn"}


def test_a_migration_may_leave_a_provider_whose_source_names_the_other_registry(
    top: Path, registry: Passing, capsys: pytest.CaptureFixture[str]
) -> None:
    (top / "main.tf").write_text(requires(DEMO, "acme/other"))
    moved = (SampleLock(DEMO, "1.0.0", ">= 1.0.0"), SampleLock(f"{TOFU}/acme/other", "1.0.0", ">= 1.0.0"))
    (top / LOCK).write_bytes(lock_file(*moved, dialect=OPENTOFU))
    found = Reviewed(capsys)
    assert (found.root["tool"], found.severities["LK032"]) == ("opentofu", "warn")
    assert not {"LK006", "LK007"} & found.findings.keys()
    words = "its providers without a host in their source are from registry.opentofu.org, judged by OpenTofu's rules"
    assert words in found.findings["LK032"]["message"]
    # A plan for what was reviewed has the same judge, however its entries are.
    reviewed = review(request(top))
    (top / LOCK).write_bytes((top / LOCK).read_bytes().replace(b"\n", b"\r\n"))
    plan = review_plan(Format(Scope(top)).plan(), request(top), reviewed)
    assert [root.tool.name for root in plan.review.roots] == ["opentofu"]


@pytest.mark.parametrize(
    ("of_terraform", "of_tofu"),
    [
        (("acme/demo", "acme/other"), ()),  # One without a host has moved, the other one has not.
        ((DEMO, f"{TOFU}/acme/other"), ()),  # Both tools read the same.
        (("acme/demo",), (DEMO, "acme/other")),  # Terraform reads no `.tofu` file, and lacks nothing.
    ],
)
def test_one_provider_of_the_other_registry_does_not_choose_the_judge(
    of_terraform: tuple[str, ...],
    of_tofu: tuple[str, ...],
    top: Path,
    registry: Passing,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (top / "main.tf").write_text(requires(*of_terraform))
    if of_tofu:
        (top / "main.tofu").write_text(requires(*of_tofu))
    locked = (SampleLock(DEMO, "1.0.0", ">= 1.0.0"), SampleLock(f"{TOFU}/acme/other", "1.0.0", ">= 1.0.0"))
    (top / LOCK).write_bytes(lock_file(*locked, dialect=OPENTOFU))
    found = Reviewed(capsys)
    assert found.root["tool"] == "terraform"
    assert "judged by Terraform's rules" in found.findings["LK032"]["message"]


# Addresses that move


def move(top: Path, host: str, *, hashes: bool = True) -> None:
    (top / "main.tf").write_text(requires(f"{host}/acme/demo"))
    lock = lock_file(SampleLock(DEMO, "1.0.0", ">= 1.0.0")).replace(f'"{HOME}/'.encode(), f'"{host}/'.encode())
    if not hashes:
        lock = lock_file(SampleLock("corp.example/acme/demo", "1.0.0", ">= 1.0.0")).replace(
            b'"corp.example/', f'"{host}/'.encode()
        )
    (top / LOCK).write_bytes(lock)
    commit(top, {})


def test_a_provider_that_moves_to_a_stranger_blocks(
    top: Path, registry: Passing, capsys: pytest.CaptureFixture[str]
) -> None:
    move(top, "registry.evil.example")
    found = Reviewed(capsys)
    assert (found.status, found.severities["LK015"]) == (1, "block")
    message = found.findings["LK015"]["message"]
    assert message.startswith(f"moved from {DEMO}; only the change names registry.evil.example, and 5 zh and 1 h1")
    assert found.severities["LK003"] == "warn"
    assert "LK027" in found.findings, "the h1 is said of another registry's package now"


def test_one_that_moves_with_other_hashes_warns(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    move(top, "registry.evil.example", hashes=False)
    found = Reviewed(capsys, "--fail-on", "warn")
    assert (found.status, found.severities["LK015"]) == (1, "warn")


def test_one_that_moves_to_a_registry_of_the_users_is_an_information(
    top: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF_TOKEN_registry_corp_example", "secret")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    move(top, "registry.corp.example")
    assert Reviewed(capsys).severities["LK015"] == "info"


LOOK_ALIKE = "registry.terraform.i\N{CYRILLIC SMALL LETTER O}"


def test_names_that_look_the_same_are_told_apart(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    move(top, LOOK_ALIKE)
    found = Reviewed(capsys)
    ascii_name = read_host(LOOK_ALIKE)
    assert found.severities["LK034"] == "warn"
    assert found.findings["LK034"]["message"] == (
        f"{LOOK_ALIKE}/acme/demo is {ascii_name}/acme/demo in ASCII: it mixes Cyrillic and Latin letters"
    )
    assert found.severities["LK015"] == "block"
    run("review", "main", "--format", "text")
    text = capsys.readouterr().out
    assert f"--ask-host {ascii_name} asks it" in text
    assert f"registry {LOOK_ALIKE} ({ascii_name}): not asked" in text
    assert run("review", "main", "--format", "text", "--offline", "--ask-host", ascii_name) != 2
    assert "only the change names" not in capsys.readouterr().out


async def test_names_that_look_the_same_are_told_apart_on_the_screen(running: Running, top: Path) -> None:
    move(top, LOOK_ALIKE)
    async with running(LockLens(request(top)), size=(160, 50), settled=False) as on:
        await until(on, lambda: bool(on.titles) and not on.screen.is_asking)
        await on.press("j")
        said = "\n".join(line.text for line in on.detail.lines)
        assert f"{read_host(LOOK_ALIKE)}/acme/demo in ASCII" in said
        assert "Cyrillic and Latin" in said


def request(top: Path) -> ReviewRequest:
    return ReviewRequest(
        partial(open_git, top, Base("main")), network=NetworkSettings(os.environ, Cache.in_memory()), base=Base("main")
    )


# Packages that come along


PACKAGE = f"terraform.d/plugins/{DEMO}/1.2.0/{SYSTEM}/terraform-provider-demo_v1.2.0"


def bring(top: Path, path: str = PACKAGE) -> str:
    """Adds a package that the tools find without a registry, and returns its `h1`."""
    place = top / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("#!/bin/sh\n")
    place.chmod(0o755)
    return h1_of_digests([(place.name.encode(), sha256(place.read_bytes()).hexdigest())])


@pytest.mark.parametrize("is_committed", [True, False])
def test_packages_that_come_along_block(top: Path, capsys: pytest.CaptureFixture[str], *, is_committed: bool) -> None:
    bring(top)
    bring(top, "Terraform.d/plugins/x")
    if is_committed:
        commit(top, {})
    found = Reviewed(capsys, *(("--head", "pr") if is_committed else ()))
    assert (found.status, found.severities) == (1, {"LK036": "block"})
    assert found.findings["LK036"]["message"] == (
        f"the change adds or modifies packages in the repository: {PACKAGE} (2 files)"
    ), "the program, before other files"
    assert found.findings["LK036"]["file"] == PACKAGE


@pytest.mark.parametrize("link", ["terraform.d", "terraform.d/plugins", "terraform.d/plugins/registry.terraform.io"])
def test_a_link_to_packages_blocks(top: Path, capsys: pytest.CaptureFixture[str], link: str) -> None:
    place = top / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to("../" * link.count("/") + "docs")
    commit(top, {})
    assert Reviewed(capsys, "--head", "pr").severities == {"LK036": "block"}
    git(top, "branch", "-f", "main", "pr")
    bring(top, "docs/plugins/acme" if link == "terraform.d" else "docs/acme")
    commit(top, {})
    assert Reviewed(capsys, "--head", "pr").severities == {"LK036": "block"}, "through the link"


def test_packages_that_were_there_or_go_are_no_finding(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bring(top)
    bring(top, "terraform.d/plugins/other")
    commit(top, {})
    git(top, "branch", "-f", "main", "pr")
    git(top, "rm", "-q", "terraform.d/plugins/other")
    (top / "main.tf").write_text(requires("acme/demo") + "# changed\n")
    commit(top, {})
    assert Reviewed(capsys).severities == {}


def test_an_h1_that_admits_packages_of_the_repository_is_no_mere_information(
    top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    locked = lock_file(SampleLock(DEMO, "1.2.0", ">= 1.0.0")).decode()
    forged = f'"h1:{b64encode(bytes(32)).decode()}",\n    '
    (top / LOCK).write_text(locked.replace('"zh:', f'{forged}"zh:', 1))
    commit(top, {})
    assert Reviewed(capsys, "--head", "pr").severities["LK027"] == "info"
    package = f".terraform/providers/{DEMO}/1.2.0/{SYSTEM}/terraform-provider-demo_v1.2.0_x5"
    bring(top, package)
    git(top, "add", "-f", package)
    commit(top, {})
    found = Reviewed(capsys, "--head", "pr")
    assert (found.severities["LK027"], found.severities["LK036"]) == ("block", "block")
    git(top, "checkout", "-q", "main")
    bring(top, package)
    git(top, "add", "-f", package)
    commit(top, {})
    for words in (["--head", "pr"], ["--head", "pr", "--merge-base"]):
        brings = "--merge-base" in words
        assert Reviewed(capsys, *words).severities["LK027"] == ("block" if brings else "warn")


@pytest.mark.skipif(terraform is None, reason="there is no terraform here")
def test_terraform_itself_installs_packages_that_come_along(top: Path) -> None:
    only_hashes(top, "1.2.0", bring(top))
    assert terraform is not None
    words = [terraform, "init", "-lockfile=readonly"]
    environ = {name: value for name, value in os.environ.items() if name != "TF_CLI_CONFIG_FILE"}
    done = subprocess.run(words, cwd=top, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Installed acme/demo v1.2.0 (unauthenticated)" in done.stdout
