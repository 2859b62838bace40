"""Packages, and what else the tools install or run without asking a registry, that lie in the repository itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kit.effort import DIAGONAL
from kit.git import git
from kit.repositories import copy_of
from ui.conftest import Running, until

from locklens.cli.main import main
from locklens.demo import SampleLock, lock_file
from locklens.operations.compare import open_git
from locklens.operations.comparison import Base
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest

LOCK = ".terraform.lock.hcl"
DEMO = "registry.terraform.io/acme/demo"
PACKAGE = f"{DEMO}/1.0.0/linux_amd64/terraform-provider-demo_v1.0.0"
REQUIRES = 'terraform {\n  required_providers {\n    demo = { source = "acme/demo" }\n  }\n}\n'
BACKEND = 'terraform {\n  backend "local" {}\n}\n'
HEADS = pytest.mark.parametrize("head", [("--head", "pr"), ("--staged",), ()], ids=["revision", "index", "worktree"])


def put(top: Path, path: str, text: str = "#!/bin/sh\n") -> None:
    place = top / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def commit(top: Path) -> None:
    git(top, "add", "--all", "--force")
    git(top, "commit", "-qm", "x")


def rebase(top: Path) -> None:
    """Makes what the branch has the base."""
    git(top, "branch", "-f", "main", "pr")


def lay(top: Path) -> None:
    """`main` has a root, a module, one root without a lock file, and files that nothing takes for packages."""
    git(top, "init", "-q", "-b", "main")
    put(top, "infra/main.tf", REQUIRES)
    (top / "infra" / LOCK).write_bytes(lock_file(SampleLock(DEMO, "1.0.0", "")))
    put(top, "modules/net/main.tf", REQUIRES)
    put(top, "never/main.tf", REQUIRES + BACKEND)
    put(top, "vendor/registry.terraform.io/x")
    commit(top)
    git(top, "checkout", "-q", "-b", "pr")


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = copy_of(lay, tmp_path / "top")
    monkeypatch.chdir(top)
    return top


class Reviewed:
    """The JSON document of a review of the branch against `main`."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *words: str) -> None:
        capsys.readouterr()
        self.status = main(["review", "main", "--offline", "--no-cache", "--format", "json", *words], lambda *_: 0)
        self.document: dict[str, Any] = json.loads(capsys.readouterr().out)
        self.findings = {
            root["path"]: {one["rule"]: one for one in root["findings"]} for root in self.document["roots"]
        }

    @property
    def severities(self) -> dict[str, dict[str, str]]:
        return {path: {rule: one["severity"] for rule, one in own.items()} for path, own in self.findings.items()}


BLOCKED = {"LK036": "block"}


# What a change brings

BROUGHT = {
    f"infra/.terraform/providers/{PACKAGE}": "infra",
    "infra/sub/.terraform/plugins/linux_amd64/terraform-provider-demo": "infra/sub",
    "modules/net/.terraform/modules/modules.json": "modules/net",
    "never/.terraform/plugin_path": "never",
    "other/.Terraform/Providers/x": "other",
    "units/.terragrunt-cache/a/b/.terraform/providers/x": "units/.terragrunt-cache/a/b",
    "empty/.terraform": "empty",
    "wide/.terr\u200caform/providers/x": "wide",
    "short/TERRAF~1/providers/x": "short",
    f"locked/no/terraform.d/plugins/{PACKAGE}": "locked/no",
    "locked/yet/Terraform.D/PLUGINS/x": "locked/yet",
    ".terraform/environment": "",
    "runs/terraform-provisioner-local-exec": "runs",
    "runs/exe/Terraform-Provisioner-x_v1.EXE": "runs/exe",
}


@HEADS
def test_packages_block_wherever_they_lie(top: Path, capsys: pytest.CaptureFixture[str], head: tuple[str, ...]) -> None:
    put(top, "terraform.d/settings", "this is none of the tools' business\n")
    put(top, "docs/terraform.d.md")
    for path in BROUGHT:
        put(top, path)
    git(top, "add", "--all", "--force")
    if head == ("--head", "pr"):
        git(top, "commit", "-qm", "x")
    found = Reviewed(capsys, *head)
    assert found.status == 1
    assert found.severities == dict.fromkeys(BROUGHT.values(), BLOCKED)
    assert {one["LK036"]["file"]: path for path, one in found.findings.items()} == BROUGHT


DATA = {
    ".terraform/environment": "which selects the workspace",
    ".Terraform/terraform.tfstate": "which names the backend",
    "infra/.terraform/modules/modules.json": "where the tools read modules",
}


@pytest.mark.parametrize("path", DATA)
def test_what_the_tools_keep_beside_packages_is_not_called_packages(
    top: Path, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    put(top, path)
    git(top, "add", "--all", "--force")
    folder = "infra" if path.startswith("infra") else ""
    words = f"working data of the tools: {path} (1 file), {DATA[path]}"
    (found,) = Reviewed(capsys).findings[folder].values()
    assert (found["rule"], found["message"]) == ("LK036", f"the change adds or modifies {words}")
    assert health(capsys, folder or ".")[folder]["LK036"] == "warn"
    main(["health", "--offline", "--no-cache", folder or "."], lambda *_: 0)
    assert f"the repository has {words}" in " ".join(capsys.readouterr().out.split())


def test_packages_of_a_module_in_a_data_folder_are_packages(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(top, "infra/.terraform/modules/net/.terraform/providers/x")
    git(top, "add", "--all", "--force")
    assert "packages in the repository" in Reviewed(capsys).findings["infra"]["LK036"]["message"]


@DIAGONAL
@HEADS
@pytest.mark.parametrize("name", [".terraform", "terraform.d", "terraform.d/plugins", "terraform-provisioner-x"])
@pytest.mark.parametrize("folder", ["infra", "empty"])
def test_a_link_or_a_submodule_that_stands_for_packages_blocks(
    top: Path, capsys: pytest.CaptureFixture[str], folder: str, name: str, head: tuple[str, ...]
) -> None:
    place = top / folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to("../" * (name.count("/") + 1) + "vendor")
    git(top, "add", "--all", "--force")
    if head == ("--head", "pr"):
        git(top, "commit", "-qm", "x")
    assert Reviewed(capsys, *head).severities == {folder: BLOCKED}
    if head:
        place.unlink()
        git(top, "update-index", "--add", "--cacheinfo", f"160000,{git(top, 'rev-parse', 'main')},{folder}/{name}")
        git(top, "commit", "-qm", "x")
        assert Reviewed(capsys, *head).severities[folder] == BLOCKED


@pytest.mark.parametrize(
    ("links", "changed"),
    [
        ({"infra/.terraform": "../vendor"}, "vendor/providers/x"),
        ({"infra/.terraform": "../vendor", "vendor/providers": "../real/here"}, "real/here/x"),
        ({"infra/.terraform/providers": "../../vendor", "live/.terraform/providers": "../../vendor"}, "vendor/x"),
        ({"infra/.terraform": "../vendor/file"}, "vendor/file"),
        ({"infra/.terraform": ".."}, "vendor/x"),
        ({"infra/terraform-provisioner-x": "../tools/x"}, "tools/x"),
        ({"infra/terraform-provisioner-x": "../a/x", "a": "tools"}, "tools/x"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_changes_behind_a_link_that_was_there_blocks(
    top: Path, capsys: pytest.CaptureFixture[str], links: dict[str, str], changed: str
) -> None:
    put(top, changed)
    for link, target in links.items():
        (top / link).parent.mkdir(parents=True, exist_ok=True)
        (top / link).symlink_to(target)
    commit(top)
    rebase(top)
    put(top, changed, "#!/bin/sh\n# another program\n")
    commit(top)
    for head in (("--head", "pr"), ()):
        found = Reviewed(capsys, *head)
        assert all(
            found.severities[path] == BLOCKED for path in {link.split("/")[0] for link in links if "terraform" in link}
        ), head
        assert found.status == 1


MIRRORED = {
    f"mirror/{DEMO}/1.0.0/linux_amd64/terraform-provider-demo_v1.0.0": "mirror",
    f"infra/.tf/providers/{DEMO}/terraform-provider-demo_1.0.0_linux_amd64.zip": "infra/.tf/providers",
    "localhost:8080/acme/demo/1.0.0/darwin_arm64/Terraform-Provider-demo": "",
    "vendor/m/localhost/acme/demo/1.4.2/linux_amd64/terraform-provider-demo_v1.4.2": "vendor/m",
    "zips/m/internal/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip": "zips/m",
    "old/terraform-provider-demo": "old",
    "old/windows/Terraform-Provider-demo_v1.0.0_x4.exe": "old/windows",
}


@pytest.mark.parametrize(
    ("links", "change"),
    [
        ({"infra/.terraform": "../later/x"}, {"later/x/providers/y": None}),
        ({"infra/.terraform": "../a/x", "a": "vendor"}, {"a": "other"}),
        ({"infra/.terraform": "../vendor"}, {"vendor": "other"}),
        ({"infra/.terraform": "../vendor", "vendor/providers": "../a/x", "a": "other"}, {"a": "vendor"}),
    ],
    ids=["to nothing before", "a link on the way", "a link in its place", "a link on the way of a link behind it"],
)
def test_a_link_that_leads_elsewhere_now_blocks(
    top: Path, capsys: pytest.CaptureFixture[str], links: dict[str, str], change: dict[str, str | None]
) -> None:
    for path in ("other/x/f", "vendor/x/f"):
        put(top, path)
    for link, target in links.items():
        (top / link).symlink_to(target)
    commit(top)
    rebase(top)
    for path, elsewhere in change.items():
        if elsewhere is None:
            put(top, path)
        else:
            git(top, "rm", "-rq", path)
            (top / path).symlink_to(elsewhere)
    git(top, "add", "--all", "--force")
    for head in ((), ("--staged",)):
        assert Reviewed(capsys, *head).severities["infra"] == BLOCKED, head
    git(top, "commit", "-qm", "x")
    assert Reviewed(capsys, "--head", "pr").severities["infra"] == BLOCKED


def test_a_submodule_behind_a_link_that_was_there_blocks(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top / "infra/.terraform").symlink_to("../sub/packages")
    commit(top)
    first, second = git(top, "rev-parse", "pr"), git(top, "rev-parse", "pr~1")
    for commit_of_submodule in (first, second):
        rebase(top)
        git(top, "update-index", "--add", "--cacheinfo", f"160000,{commit_of_submodule},sub")
        git(top, "commit", "-qm", "x")
        for head in (("--head", "pr"), ("--staged",)):
            assert Reviewed(capsys, *head).severities["infra"] == BLOCKED, head


def test_packages_in_the_layout_of_a_mirror_are_a_warning(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(top, "docs/terraform-provider-demo_1.0.0_linux_amd64.zip")
    put(top, "docs/terraform-provider-demo.md")
    put(top, "docs/terraform-provisioner-demo/README.md")
    put(top, "bin/dl.example.com/tool/1.0.0/linux_amd64/tool")
    put(top, "bin/tools/tool/1.0.0/linux_amd64/tool")
    for path in MIRRORED:
        put(top, path)
    (top / f"cache/{DEMO}/1.0.0").mkdir(parents=True)
    (top / f"cache/{DEMO}/1.0.0/linux_amd64").symlink_to("../../../../../../vendor")
    commit(top)
    found = Reviewed(capsys, "--head", "pr", "--fail-on", "warn")
    assert (found.status, found.document["summary"]["verdict"]) == (1, "warn")
    assert found.severities == {path: {"LK036": "warn"} for path in [*MIRRORED.values(), "cache"]}
    assert "if their settings name the folder" in found.findings["mirror"]["LK036"]["message"]
    assert health(capsys, "mirror") == {"mirror": {"LK036": "info"}}


@pytest.mark.parametrize(
    ("link", "behind", "changed"),
    [
        (f"{DEMO}/1.0.0/linux_amd64", "../../../../../../pk", "pk/terraform-provider-demo_v1.0.0"),
        (PACKAGE, "../../../../../../../pk/x", "pk/x"),
        (f"{DEMO}/terraform-provider-demo_1.0.0_linux_amd64.zip", "../../../../../pk/x.zip", "pk/x.zip"),
        (f"{DEMO}/1.0.0", "../../../../../pk", "pk/linux_amd64/terraform-provider-demo"),
        (DEMO, "../../../../pk", "pk/terraform-provider-demo_1.0.0_linux_amd64.zip"),
        ("registry.terraform.io/acme", "../../../pk", "pk/demo/1.0.0/linux_amd64/terraform-provider-demo"),
        ("localhost/acme/demo/1.0.0/linux_amd64", "../../../../../../pk", "pk/terraform-provider-demo_v1.0.0"),
        ("localhost/acme", "../../../pk", "pk/demo/terraform-provider-demo_1.0.0_linux_amd64.zip"),
    ],
    ids=["platform", "program", "file", "version", "type", "namespace", "platform of a host", "namespace of a host"],
)
def test_what_changes_behind_a_link_in_a_mirror_is_a_warning(
    top: Path, capsys: pytest.CaptureFixture[str], link: str, behind: str, changed: str
) -> None:
    place = top / "vendor/m" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(behind)
    commit(top)
    if link != PACKAGE:  # a link that the change brings, and what is behind it
        put(top, changed)
        commit(top)
        assert Reviewed(capsys, "--head", "pr").severities["vendor/m"] == {"LK036": "warn"}
    put(top, changed)
    git(top, "add", "--all", "--force")
    git(top, "commit", "-qm", "x", "--allow-empty")
    rebase(top)
    put(top, changed, "#!/bin/sh\n# another program\n")
    git(top, "add", "--all", "--force")
    for head in ((), ("--staged",)):
        assert Reviewed(capsys, *head).severities["vendor/m"] == {"LK036": "warn"}, head
    commit(top)
    found = Reviewed(capsys, "--head", "pr", "--fail-on", "warn")
    assert (found.status, found.severities["vendor/m"]) == (1, {"LK036": "warn"})


def test_a_link_brings_packages_that_were_there_into_a_mirror(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(top, "pk/demo/terraform-provider-demo_1.0.0_linux_amd64.zip")
    commit(top)
    rebase(top)
    for host in ("localhost", "registry.terraform.io"):
        (top / "vendor/m" / host).mkdir(parents=True)
        (top / "vendor/m" / host / "acme").symlink_to("../../../pk")
    commit(top)
    for head in (("--head", "pr"), ("--staged",), ()):
        assert Reviewed(capsys, *head).severities == {"vendor/m": {"LK036": "warn"}}, head


SUFFIXED = ["terraform-provider-demo.sh", "terraform-provider-demo_v1.0.0.sh", "terraform-provider-demo_x.py"]


@HEADS
def test_a_program_with_a_suffix_is_a_warning(
    top: Path, capsys: pytest.CaptureFixture[str], head: tuple[str, ...]
) -> None:
    for name in SUFFIXED:
        put(top, f"bin/{name}")
        (top / "bin" / name).chmod(0o755)
    put(top, "link/x")
    (top / "link/x").chmod(0o755)
    (top / "link/terraform-provider-demo.bat").symlink_to("x")
    put(top, "docs/terraform-provider-demo.md")
    put(top, "docs/terraform-provider-demo-x.tar/y")
    commit(top)
    found = Reviewed(capsys, *head)
    assert found.severities == {"bin": {"LK036": "warn"}, "link": {"LK036": "warn"}}
    assert "(3 files)" in found.findings["bin"]["LK036"]["message"]


@pytest.mark.skipif(shutil.which("terraform") is None, reason="there is no terraform here")
@pytest.mark.parametrize("name", SUFFIXED)
def test_terraform_itself_runs_programs_with_suffixes(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    put(top, "new/main.tf", REQUIRES + 'provider "demo" {}\n')
    put(top, f"bin/{name}", f"#!/bin/sh\ntouch '{tmp_path}/ran'\nexit 1\n")
    (top / "bin" / name).chmod(0o755)
    settings = f'provider_installation {{\n  dev_overrides {{\n    "acme/demo" = "{top}/bin"\n  }}\n}}\n'
    (tmp_path / "rc").write_text(settings)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "rc"))
    subprocess.run(["terraform", "validate"], cwd=top / "new", capture_output=True, check=False)
    assert (tmp_path / "ran").exists()


def test_a_folder_that_moves_brings_its_packages(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(top, "infra/.terraform/providers/x")
    commit(top)
    rebase(top)
    git(top, "mv", "infra", "live")
    commit(top)
    assert Reviewed(capsys, "--head", "pr").severities == {"live": BLOCKED}


def test_what_lies_below_a_named_root_is_judged_with_it(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in ("infra/sub/.terraform/x", "empty/terraform.d/plugins/x", "infrastructure/.terraform/x"):
        put(top, path)
    commit(top)
    assert Reviewed(capsys, "--head", "pr", "--", "infra").severities["infra/sub"] == BLOCKED
    assert "empty" not in Reviewed(capsys, "--head", "pr", "--", "infra").severities
    assert "infrastructure" not in Reviewed(capsys, "--head", "pr", "--", "infra").severities
    assert Reviewed(capsys, "--head", "pr", "--", "empty").severities == {"empty": BLOCKED}


def test_what_the_user_installed_or_takes_away_is_no_finding(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept, gone, out = "infra/.terraform/kept", "infra/.terraform/gone", "infra/.terraform/out"
    for path in (kept, gone, out):
        put(top, path)
    commit(top)
    rebase(top)
    (top / gone).unlink()
    git(top, "rm", "-q", "--cached", out)
    put(top, "live/.terraform/providers/x")
    (top / "live/sub").mkdir()
    (top / "live/sub/.terraform").symlink_to("../../vendor")
    put(top, "live/.gitignore", "terraform.d\n")
    put(top, "live/terraform.d/plugins/x")
    assert Reviewed(capsys).severities == {}
    git(top, "add", "infra")
    assert Reviewed(capsys, "--staged").severities == {}


# Submodules

CALLS = {
    "a module": {"infra/call.tf": 'module "x" {\n  source = "../sub/m"\n}\n'},
    "a module of a module": {
        "infra/call.tf": 'module "x" {\n  source = "../modules/net"\n}\n',
        "modules/net/call.tf": 'module "x" {\n  source = "../../sub"\n}\n',
    },
    "behind a link": {"infra/call.tf": 'module "x" {\n  source = "./linked"\n}\n'},
    "a module of a submodule": {"infra/call.tf": 'module "x" {\n  source = "../other/m"\n}\n'},
    "a state": {"infra/back.tf": 'terraform {\n  backend "local" {\n    path = "../sub/x"\n  }\n}\n'},
    "states of workspaces": {"infra/back.tf": 'terraform {\n  backend "local" {\n    workspace_dir = ".."\n  }\n}\n'},
    "a state somewhere": {
        "infra/back.tofu": 'variable "p" {}\nterraform {\n  backend "local" {\n    path = var.p\n  }\n}\n'
    },
    "a state elsewhere": {"infra/back.tf": 'terraform {\n  backend "local" {\n    path = "../m/x"\n  }\n}\n'},
    "a link to a file": {},
    "a file that cannot be read": {},
    "nothing": {"infra/call.tf": 'module "x" {\n  source = "../modules/net"\n}\n'},
}

UNREACHED = {"nothing", "a state elsewhere"}


@pytest.mark.parametrize("called", CALLS)
def test_a_submodule_that_a_named_root_may_reach_is_told_with_it(
    top: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, called: str
) -> None:
    for path, text in CALLS[called].items():
        put(top, path, text)
    if called == "behind a link":
        (top / "infra/linked").symlink_to("../sub/m")
    if called == "a link to a file":
        (top / "infra/more.tf").symlink_to("../sub/main.tf")
    if called == "a file that cannot be read":
        (top / "infra/more.tf").symlink_to("../../main.tf")
    first = git(top, "rev-parse", "main")
    git(top, "add", "--all")
    for name in ("sub", "other"):
        git(top, "update-index", "--add", "--cacheinfo", f"160000,{first},{name}")
    git(top, "commit", "-qm", "x")
    rebase(top)
    git(top, "update-index", "--cacheinfo", f"160000,{git(top, 'rev-parse', 'pr')},sub")
    git(top, "commit", "-qm", "x")
    monkeypatch.chdir(top / "infra")
    for head in (("--head", "pr"), ("--staged",)):
        found = Reviewed(capsys, *head, "--", ".")
        assert found.severities.get("sub") == (None if called in UNREACHED else {"LK035": "warn"}), head
    assert Reviewed(capsys, "--head", "pr").severities["sub"] == {"LK035": "warn"}


# Roots without a lock file


@pytest.mark.parametrize("is_staged", [False, True])
def test_a_pattern_by_which_git_ignores_lock_files_has_a_note(
    is_staged: bool, top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    side = ("--staged",) if is_staged else ("--head", "pr")

    def notes(pattern: str) -> list[str]:
        put(top, ".gitignore", f"*.bak\n{pattern}\n")
        git(top, "add", ".gitignore")
        if not is_staged:
            commit(top)
        return [one for one in Reviewed(capsys, *side).document["run"]["notes"] if "git ignores" in one]

    assert notes(".terraform/") == []
    (note,) = notes(".terraform.lock.hcl")
    assert note.startswith(
        "since this change git ignores 1 lock file (infra/.terraform.lock.hcl), by .gitignore:2: those "
    )


def test_packages_of_a_root_without_a_lock_file_block(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(top, "new/main.tf", REQUIRES + BACKEND)
    put(top, f"new/terraform.d/plugins/{PACKAGE}")
    commit(top)
    found = Reviewed(capsys, "--head", "pr")
    assert (found.status, found.severities) == (1, {"new": {"LK036": "block", "LK037": "warn"}})
    assert found.document["summary"]["verdict"] == "block"


@pytest.mark.skipif(shutil.which("terraform") is None, reason="there is no terraform here")
def test_terraform_itself_takes_them(top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(top, "new/main.tf", REQUIRES)
    put(top, f"new/terraform.d/plugins/{PACKAGE}")
    (top / "new/terraform.d/plugins" / PACKAGE).chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("TF_CLI_CONFIG_FILE", raising=False)
    done = subprocess.run(["terraform", "init"], cwd=top / "new", capture_output=True, text=True, check=False)
    assert "Installed acme/demo v1.0.0 (unauthenticated)" in done.stdout, done.stderr


@pytest.mark.skipif(shutil.which("terraform") is None, reason="there is no terraform here")
def test_terraform_itself_runs_provisioners(top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(top, "new/main.tf", 'resource "terraform_data" "x" {\n  provisioner "local-exec" {\n    command = ""\n  }\n}\n')
    put(top, "new/terraform-provisioner-local-exec", f"#!/bin/sh\ntouch '{tmp_path}/ran'\nexit 1\n")
    (top / "new/terraform-provisioner-local-exec").chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("TF_CLI_CONFIG_FILE", raising=False)
    subprocess.run(["terraform", "providers", "schema", "-json"], cwd=top / "new", capture_output=True, check=False)
    assert (tmp_path / "ran").exists()


def test_a_root_without_a_lock_file_is_a_row(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(top, "new/main.tf", REQUIRES + BACKEND)
    put(top, "example/main.tf", REQUIRES + 'provider "demo" {}\n')
    put(top, "json/main.tf.json", '{"terraform": {"\\u0062ackend": {"local": {}}, "required_providers": {"demo": {}}}}')
    put(top, "modules/called/main.tf", REQUIRES + 'provider "demo" {}\n')
    put(top, "modules/other/main.tf", REQUIRES)
    put(top, "infra/call.tf", 'module "called" {\n  source = "../modules/called"\n}\n')
    put(top, "nothing/main.tf", BACKEND)
    commit(top)
    found = Reviewed(capsys, "--head", "pr", "--fail-on", "warn")
    assert (found.status, found.document["summary"]["verdict"]) == (1, "warn")
    assert found.severities == {
        "example": {"LK037": "info"}, "infra": {}, "json": {"LK037": "warn"}, "new": {"LK037": "warn"}, "nothing": {},
    }  # fmt: skip
    assert found.findings["new"]["LK037"]["message"] == (f"no lock file: what init selects for {DEMO} is not reviewed")
    assert Reviewed(capsys, "--head", "pr", "--", "new").severities == {"new": {"LK037": "warn"}}
    assert Reviewed(capsys, "--staged").severities == found.severities
    assert Reviewed(capsys).severities == found.severities


def test_a_lock_file_that_git_ignores_is_not_called_missing(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(top, ".gitignore", f"{LOCK}\n")
    git(top, "add", ".gitignore")
    git(top, "commit", "-qm", "x")
    put(top, "new/main.tf", REQUIRES + BACKEND)
    shutil.copy(top / "infra" / LOCK, top / "new" / LOCK)
    found = Reviewed(capsys).findings["new"]["LK037"]
    assert found["severity"] == "warn"
    assert found["message"] == (
        f"the lock file exists, and git ignores it: what init selects for {DEMO} is not reviewed"
    )
    for form, words in {
        "text": "new  (lock file ignored by git, Terraform)",
        "markdown": "Lock file ignored by git: each run may select other packages",
        "sarif": "Lock file ignored by git: each run may select other packages",
    }.items():
        main(["review", "main", "--offline", "--no-cache", "--format", form], lambda *_: 0)
        assert words in capsys.readouterr().out, form
    # The index and a commit have none.
    git(top, "add", "new/main.tf")
    assert Reviewed(capsys, "--staged").findings["new"]["LK037"]["message"].startswith("no lock file: ")


def test_a_lock_file_that_a_change_has_git_ignore_is_said_to_be_ignored(
    top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(top, ".gitignore", f"{LOCK}\n")
    git(top, "rm", "-q", "--cached", f"infra/{LOCK}")
    git(top, "add", ".gitignore")
    git(top, "commit", "-qm", "ignored")
    ignored = "git ignores the lock file that the base has (.gitignore:1): whatever init selects is not reviewed"
    for side in ([], ["--staged"], ["--head", "pr"]):
        reviewed = Reviewed(capsys, *side)
        assert reviewed.severities["infra"] == {"LK037": "warn"}
        assert reviewed.findings["infra"]["LK037"]["message"] == ignored
    # A clone has no such file on disk.
    (top / "infra" / LOCK).unlink()
    assert Reviewed(capsys).findings["infra"]["LK037"]["message"] == ignored
    main(["review", "main", "--offline", "--no-cache", "--format", "text", "--fail-on", "warn"], lambda *_: 0)
    out = " ".join(capsys.readouterr().out.split())
    assert "infra (lock file ignored by git, Terraform)" in out
    assert "Remove the pattern that `git check-ignore -v` names, and commit the lock file." in out


def test_a_lock_file_that_git_ignores_makes_a_root(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Init was run there, whatever the configuration has besides its requirements."""
    put(top, ".gitignore", f"{LOCK}\n")
    put(top, "new/main.tf", REQUIRES)
    git(top, "add", ".")
    git(top, "commit", "-qm", "x")
    shutil.copy(top / "infra" / LOCK, top / "new" / LOCK)
    for more in ("", "# changed\n"):
        put(top, "new/main.tf", REQUIRES + more)
        main(["review", "--offline", "--no-cache", "--format", "json", "--", "new"], lambda *_: 0)
        (root,) = json.loads(capsys.readouterr().out)["roots"]
        (finding,) = (one for one in root["findings"] if one["rule"] == "LK037")
        assert finding["message"].startswith("the lock file exists, and git ignores it")
    put(top, "new/main.tf", REQUIRES)
    put(top, "infra/call.tf", 'module "x" {\n  source = "../new"\n}\n')
    assert main(["review", "--offline", "--no-cache", "--", "new"], lambda *_: 0) == 2
    said = capsys.readouterr().err
    assert f"new: git ignores the {LOCK} in this folder" in said
    assert f"`git check-ignore -v new/{LOCK}` names the pattern" in said


def test_a_comment_of_the_change_hides_no_root(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(top, "new/main.tf", REQUIRES + BACKEND)
    put(top, "new/terragrunt.hcl", "")
    put(top, "other/main.tf", 'module "x" {\n  source = "../new"\n}\n')
    commit(top)
    assert Reviewed(capsys, "--head", "pr").severities["new"] == {"LK037": "warn"}


def test_a_root_that_was_never_locked_is_a_row_too(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(top, "never/main.tf", REQUIRES + BACKEND + "# changed\n")
    commit(top)
    assert Reviewed(capsys, "--head", "pr").severities == {"never": {"LK037": "info"}}
    put(top, "never/more.tf", 'resource "evil_thing" "x" {}\n')
    commit(top)
    found = Reviewed(capsys, "--head", "pr")
    assert found.severities == {"never": {"LK037": "warn"}}
    assert "registry.terraform.io/hashicorp/evil is not reviewed" in found.findings["never"]["LK037"]["message"]


def test_a_module_of_a_root_that_was_never_locked_makes_it_a_row(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(top, "never/call.tf", 'module "x" {\n  source = "../modules/net"\n}\n')
    put(top, "example/main.tf", 'module "x" {\n  source = "../modules/net"\n}\nprovider "demo" {}\n')
    put(top, "modules/net/call.tf", 'module "x" {\n  source = "../linked"\n}\n')
    (top / "modules/linked").symlink_to("deep")
    put(top, "modules/deep/main.tf", "# nothing yet\n")
    put(top, "modules/lonely/main.tf", "# nothing yet\n")
    commit(top)
    rebase(top)
    put(top, "modules/lonely/main.tf", 'resource "evil_thing" "x" {}\n')
    commit(top)
    assert Reviewed(capsys, "--head", "pr").severities == {}
    put(top, "modules/deep/main.tf", 'resource "evil_thing" "x" {}\n')
    commit(top)
    found = Reviewed(capsys, "--head", "pr", "--fail-on", "warn")
    assert (found.status, found.severities) == (1, {"never": {"LK037": "warn"}})
    assert "registry.terraform.io/hashicorp/evil is not reviewed" in found.findings["never"]["LK037"]["message"]
    assert Reviewed(capsys, "--staged", "--", "never").severities == {"never": {"LK037": "warn"}}
    assert Reviewed(capsys).severities == found.severities


# What was there before


@pytest.fixture
def tracked(top: Path) -> Path:
    """The base has packages in a root, and in a folder that is none."""
    put(top, f"infra/.terraform/providers/{PACKAGE}")
    (top / "empty").mkdir()
    (top / "empty/terraform.d").symlink_to("../vendor")
    commit(top)
    return top


IN_ROOT = (
    "the repository has what the tools install or run without asking a registry: "
    f"infra/.terraform/providers/{PACKAGE} (1 file)"
)


def test_health_names_packages_that_git_tracks(tracked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tracked, "live/.terraform/providers/x")
    assert health(capsys) == {"empty": {"LK036": "warn"}, "infra": {"LK036": "warn"}, "never": {"LK037": "warn"}}
    assert health(capsys, "infra") == {"infra": {"LK036": "warn"}}
    assert health(capsys, "--", "empty") == {"empty": {"LK036": "warn"}}
    main(["health", "--offline", "--no-cache", "--format", "text"], lambda *_: 0)
    assert "packages or .terraform in git" in capsys.readouterr().out


def health(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, str]]:
    capsys.readouterr()
    main(["health", "--offline", "--no-cache", "--format", "json", *words], lambda *_: 0)
    roots = json.loads(capsys.readouterr().out)["roots"]
    return {root["path"]: {one["rule"]: one["severity"] for one in root["findings"]} for root in roots}


def test_verify_init_and_doctor_name_them(
    tracked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "none.tfrc"))
    (tmp_path / "none.tfrc").touch()
    for words in (["verify", "--offline"], ["doctor", "--offline"], ["init", "--dry-run"]):
        said = told(capsys, *words, "--no-cache", "--", "infra")
        assert "".join(IN_ROOT.split()) in "".join(said.split()), words
    assert "note: `the repository has what" in told(
        capsys, "doctor", "--offline", "--format", "markdown", "--", "infra"
    )
    assert f"warning: {IN_ROOT}" in told(capsys, "verify", "--offline", "--no-cache", "--", "infra")
    shutil.rmtree(tracked / ".git")
    for words in (["verify", "--offline"], ["doctor", "--offline"], ["init", "--dry-run"]):
        assert "without asking a registry" not in told(capsys, *words, "--no-cache", "--", "infra"), words


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    main(list(words), lambda *_: 0)
    done = capsys.readouterr()
    return done.out + done.err


def test_health_verify_init_and_doctor_name_a_tracked_provisioner(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "none.tfrc"))
    (tmp_path / "none.tfrc").touch()
    put(top, "infra/Terraform-Provisioner-x")
    commit(top)
    assert health(capsys, "infra") == {"infra": {"LK036": "warn"}}
    for words in (["verify", "--offline"], ["doctor", "--offline"], ["init", "--dry-run"]):
        said = told(capsys, *words, "--no-cache", "--", "infra")
        assert "infra/Terraform-Provisioner-x(1file)" in "".join(said.split()), words


async def test_the_screen_has_a_row_for_them(running: Running, top: Path) -> None:
    put(top, "new/main.tf", REQUIRES + BACKEND)
    put(top, "new/.Terraform/providers/x")
    commit(top)
    request = ReviewRequest(partial(open_git, top, Base("main", head="pr")), base=Base("main", head="pr"))
    async with running(LockLens(request), size=(160, 50), settled=False) as on:
        await until(on, lambda: bool(on.titles) and not on.screen.is_asking)
        assert any("new" in title for title in on.titles), on.titles
        await until(on, lambda: "LK037" in "\n".join(line.text for line in on.detail.lines))
        said = "\n".join(line.text for line in on.detail.lines)
        assert "LK036" in said
        assert "new/.terraform.lock.hcl  none" in said


UNUSUAL = {
    "a state": {"never/terraform.tfstate": "evil"},
    "a state that the backend names": {"named/notes.md": "evil"},
    "a state of a workspace": {"never/terraform.tfstate.d/x/terraform.tfstate": "evil"},
    "values": {"values/a.auto.tfvars": 'm = "b"\n'},
    "a test": {"never/x.tftest.hcl": 'run "x" {\n  module {\n    source = "../values/b"\n  }\n}\n'},
}


@pytest.mark.parametrize("change", UNUSUAL)
def test_what_else_decides_what_a_root_without_a_lock_file_requires_makes_it_a_row(
    top: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    put(top, "named/main.tf", REQUIRES + BACKEND.replace("{}", '{\n    path = "notes.md"\n  }'))
    put(top, "values/main.tofu", 'variable "m" {\n  default = "a"\n}\nmodule "x" {\n  source = "./${var.m}"\n}\n')
    put(top, "values/back.tofu", REQUIRES + BACKEND)
    put(top, "values/a/main.tf", "# nothing\n")
    put(top, "values/b/main.tf", 'resource "evil_thing" "x" {}\n')
    commit(top)
    rebase(top)
    evil = {"mode": "managed", "type": "evil_x", "name": "y", "provider": 'provider["evil.example/x/evil"]'}
    state = json.dumps({"version": 4, "serial": 1, "lineage": "x", "resources": [{**evil, "instances": []}]})
    for path, text in UNUSUAL[change].items():
        put(top, path, state if text == "evil" else text)
    if "workspace" in change:
        monkeypatch.setenv("TF_WORKSPACE", "x")
    commit(top)
    for head in (("--head", "pr"), ("--staged",), ()):
        found = Reviewed(capsys, *head, "--fail-on", "warn")
        root = next(iter(UNUSUAL[change])).partition("/")[0]
        assert (found.status, found.severities) == (1, {root: {"LK037": "warn"}}), head
        assert "evil" in found.findings[root]["LK037"]["message"]
