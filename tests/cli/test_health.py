"""`locklens health` from end to end: on the sample repository, with its registry and offline."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from kit.command_line import Run, runner
from kit.git import git
from kit.registries import lead_to
from kit.repositories import commit, put
from kit.schemas import validate
from msgspec.structs import replace
from review.test_platform_agreement import facts

from locklens.demo import lock_file
from locklens.demo.cases import requires, sample_entry
from locklens.demo.faults import Faults
from locklens.demo.incidents import make_repository
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import SAMPLE_RULES
from locklens.executables import GoModule
from locklens.packages.inspecting import keep_facts
from locklens.review.health import CHECKS
from locklens.review.rules.catalogue import RULES, RuleSubject
from locklens.storage.cache import Cache

LOCK = ".terraform.lock.hcl"


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], registry: DemoRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Run:
    lead_to(monkeypatch, registry, tmp_path)
    return runner(capsys, "health", "--no-cache")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("sample") / "infrastructure")


def document(run: Run, *words: str, status: int = 1) -> dict[str, Any]:
    found, out, _ = run("--format", "json", *words)
    assert found == status
    value: dict[str, Any] = json.loads(out)
    validate(value, "health")
    return value


def counts(value: dict[str, Any]) -> dict[str, int]:
    return {one["id"]: one["locks"] for one in value["checks"] if one["locks"]}


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository, which is the current folder."""
    top = tmp_path / "top"
    top.mkdir()
    git(top, "init", "-q")
    monkeypatch.chdir(top)
    return top


def lay(folder: Path, *providers: tuple[str, str, str], more: str = "", locked: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    needs = requires(*((source, constraint) for source, _, constraint in providers))
    (folder / "main.tf").write_text(needs + more)
    if locked:
        entries = (sample_entry(source, version, constraint) for source, version, constraint in providers)
        (folder / LOCK).write_bytes(lock_file(*entries))
    return folder


AWS = ("hashicorp/aws", "5.84.0", "~> 5.0")
FORK = GoModule("example.com/a", "v1.0.0", replaced_by=GoModule("example.com/fork", "v1.0.1"))
BACKEND = 'terraform {\n  backend "s3" {}\n}\n'


def test_the_sample_offline(run: Run, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sample)
    value = document(run, "--offline")
    assert counts(value) == {
        "syntax": 1, "unread-configuration": 1, "packages-differ": 2, "not-satisfied": 1, "not-locked": 1, "platform-missing": 1, "no-zh": 1,
        "malformed": 1, "orphan": 1, "not-canonical": 1, "lock-missing": 1,
    }  # fmt: skip
    assert [one["id"] for one in value["checks"]] == [check.id for check in CHECKS]
    by_id = {one["id"]: one for one in value["checks"]}
    assert by_id["orphan"]["command"] == "locklens prune -- infra/stage/cluster"
    assert by_id["packages-differ"]["providers"] == 1
    assert (by_id["behind"]["unknown"], by_id["behind"]["reason"]) == (31, "offline; the lock file cannot be read")
    aws = next(one for one in value["spread"] if one["provider"].endswith("/hashicorp/aws"))
    assert aws["versions"] == [
        {"version": "6.2.0", "roots": 1},
        {"version": "5.86.1", "roots": 12},
        {"version": "5.84.0", "roots": 2},
    ]
    assert (value["summary"]["ok"], value["summary"]["unknown"], value["summary"]["verdict"]) == (0, 23, "block")


def test_the_sample_with_its_registry(run: Run, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sample)
    value = document(run)
    found = {finding["rule"] for root in value["roots"] for finding in root["findings"]}
    assert {"LK001", "LK009", "LK023"} <= found
    assert counts(value)["not-authentic"] >= 2
    doubted = [one for root in value["roots"] for one in root["findings"] if one["rule"] == "LK001"]
    edited = next(one for one in doubted if "netbox" in one["provider"])
    assert edited["message"].startswith("3.10.0: 5 of 5 locked zh of packages are not in"), (
        "only a base tells that it was republished"
    )
    assert "locklens doctor tells whether the hashes were edited" in edited["message"]
    assert counts(value)["behind"] == 2
    behind = next(one for root in value["roots"] for one in root["findings"] if one["rule"] == "LK038")
    assert "elastic/ec 0.12.2 is 229 days older than 0.12.4, 1 newer version in range" in behind["message"]
    # Another key signed the newer one, which is nothing to take for its age alone.
    (command,) = (one["command"] for one in value["checks"] if one["id"] == "behind")
    upgrade = "locklens upgrade --safe registry.terraform.io/elastic/ec --"
    assert command == f"{upgrade} infra/prod/search infra/stage/search"
    assert {one["host"] for one in value["run"]["hosts"] if one["asked"]} >= {"registry.terraform.io"}
    summary = value["summary"]
    assert summary["ok"] + summary["unknown"] + summary["worse"] == summary["roots"] == 32
    assert summary["ok"] == 0, "the policy has a toolchain, and no package was inspected"


def test_the_text_names_roots_fixes_and_limits(run: Run, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sample)
    status, out, _ = run("--offline")
    assert status == 1
    roots = (
        "32 roots, 1 without a lock file: 0 ok, 23 unknown, 9 worse (warn or block); 24 providers, 29 distinct versions"
    )
    assert f"{roots} (not read: 1 lock file in conflict); 13 findings: 5 block, 7 warn, 1 info\n" in out
    assert "  fix: locklens format -- infra/stage/data\n" in out
    assert "unknown in 31 (offline; the lock file cannot be read)\n" in out
    assert re.search(r"module version not exact +off \(LK029 off: ", out)
    assert "registry.terraform.io/corp/backup: only h1 hashes" in out
    assert out.endswith("verdict: block, 302 of 302 locked hashes not verified\n")


def test_for_pipelines(run: Run, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sample)
    found = json.loads(run("--offline", "--format", "sarif")[1])["runs"][0]
    assert sorted(one["ruleId"] for one in found["results"]) == [
        "LK005", "LK006", "LK007", "LK009", "LK017", "LK017", "LK018", "LK019", "LK020", "LK023", "LK023", "LK037", "LK041",
    ]  # fmt: skip
    notes = [one["message"]["text"] for one in found["invocations"][0]["toolExecutionNotifications"]]
    dates = "offline; the lock file cannot be read"
    assert f"180 days behind newest in range: unknown in 31 roots ({dates})" in notes
    assert "302 of 302 locked hashes not verified" in notes
    assert any(
        note.startswith("advisories of modules inside: off (no database of advisories is kept") for note in notes
    )
    text = run("--offline", "--format", "markdown")[1]
    assert "- `signer not pinned: off (the policy pins no keys)`" in text, "what is not checked is named"
    assert text.startswith("<!-- locklens health -->\n## locklens health: block\n")
    assert "\n| orphan, nothing requires it | warn | 1 | 1 |\n" in text
    assert "\n  - fix: `locklens prune -- infra/stage/cluster`\n" in text
    assert "`6.2.0` in 1, `5.86.1` in 12, `5.84.0` in 2\n" in text


def test_only_the_roots_below_a_folder_or_named(run: Run, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sample)
    assert [root["path"] for root in document(run, "infra/edge", "--offline", status=0)["roots"]] == ["infra/edge"]
    named = document(run, "--offline", "--", "infra/stage/data", status=0)
    assert [root["path"] for root in named["roots"]] == ["infra/stage/data"]
    assert run("--offline", "--fail-on", "info", "--", "infra/stage/data")[0] == 1
    monkeypatch.chdir(sample / "infra")
    below = document(run, "stage", "--offline")
    by_id = {one["id"]: one for one in below["checks"]}
    assert by_id["orphan"]["command"] == "locklens prune -- stage/cluster"


def test_commands_work_from_the_folder_where_they_are_printed(
    run: Run, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for start in (tmp_path, Path("/")):
        monkeypatch.chdir(start)
        found = document(run, "--offline", str(sample))
        by_id = {one["id"]: one for one in found["checks"]}
        top = sample.resolve() if start == tmp_path else sample.resolve().relative_to(start)
        assert by_id["orphan"]["command"] == f"locklens -C {top} prune -- infra/stage/cluster"
        _, out, _ = runner(capsys)("-C", str(sample), "health", "--no-cache", "--offline", "--format", "json")
        found = json.loads(out)
        by_id = {one["id"]: one for one in found["checks"]}
        assert by_id["orphan"]["command"] == f"locklens -C {top} prune -- infra/stage/cluster"


def test_why_health_warns_where_a_review_blocks_is_explained(
    run: Run, top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (lay(top / "a", ("acme/demo", "1.0.0", "~> 1.0")) / "broken.tf").write_text("{")
    (found,) = (one for one in document(run, "--offline", status=0)["roots"][0]["findings"] if one["rule"] == "LK041")
    assert found["severity"] == "warn"
    words = " ".join(runner(capsys, "explain")("LK041")[1].split())
    assert "a warning if the old side has the same error in the same file, and in `locklens health`" in words


def test_a_lock_file_that_is_ignored_or_missing(run: Run, top: Path) -> None:
    (top / ".gitignore").write_text("ignored/.terraform.lock.hcl\n")
    lay(top / "ignored", AWS)
    lay(top / "deployed", AWS, more=BACKEND, locked=False)
    lay(top / "example", AWS, more='provider "aws" {}\n', locked=False)
    lay(top / "modules/shared", AWS, locked=False)
    lay(top / "modules/called", AWS, more='provider "aws" {}\n', locked=False)
    lay(top / "root", AWS, more='module "called" {\n  source = "../modules/called"\n}\n')
    value = document(run, "--offline", "--fail-on", "warn")
    found = {root["path"]: [(one["rule"], one["severity"]) for one in root["findings"]] for root in value["roots"]}
    assert found == {
        "deployed": [("LK037", "warn")], "example": [("LK037", "info")], "ignored": [("LK037", "warn")], "root": [],
    }  # fmt: skip


@pytest.mark.parametrize("is_converted", [True, False], ids=["converted", "as it is"])
def test_line_ends_that_git_converts_are_no_finding(run: Run, top: Path, *, is_converted: bool) -> None:
    git(top, "config", "core.autocrlf", "true" if is_converted else "false")
    lock = lay(top / "plain", AWS) / ".terraform.lock.hcl"
    git(top, "add", ".")
    lock.write_bytes(lock.read_bytes().replace(b"\n", b"\r\n"))
    (root,) = document(run, "--offline", status=0)["roots"]
    assert [one["rule"] for one in root["findings"]] == ([] if is_converted else ["LK018"])


def test_a_deleted_lock_file_tells_a_root(run: Run, top: Path) -> None:
    lay(top / "plain", AWS)
    git(top, "add", ".")
    (top / "plain/.terraform.lock.hcl").unlink()
    (root,) = document(run, "--offline", "--fail-on", "warn")["roots"]
    (found,) = root["findings"]
    assert (root["path"], found["rule"], found["severity"]) == ("plain", "LK037", "warn")
    words = "the lock file, which git tracks, was deleted: every init selects versions anew; git restore brings it back"
    assert found["message"] == words


def test_nothing_is_ok_where_no_registry_answered(run: Run, top: Path) -> None:
    lay(top / "unit", AWS)
    summary = document(run, "--offline", status=0)["summary"]
    assert (summary["roots"], summary["ok"], summary["unknown"], summary["verdict"]) == (1, 0, 1, "unknown")
    assert run("--offline")[1].endswith("verdict: unknown, 7 of 7 locked hashes not verified\n")
    assert "## locklens health: unknown\n" in run("--offline", "--format", "markdown")[1]


def test_hashes_that_nothing_explains_stand_beside_an_ok(run: Run, top: Path) -> None:
    file = lay(top / "unit", AWS) / LOCK
    forged = f'    "h1:{"A" * 43}=",\n'
    file.write_text(file.read_text().replace("  hashes = [\n", f"  hashes = [\n{forged}"))
    summary = document(run, status=0)["summary"]
    assert (summary["ok"], summary["verdict"]) == (1, "ok")
    assert (summary["hashes"], summary["unverified_hashes"]) == (8, 2)
    assert run()[1].endswith("verdict: ok, 2 of 8 locked hashes not verified\n")
    assert "- `2 of 8 locked hashes not verified`\n" in run("--format", "markdown")[1]


def test_outside_of_a_repository_what_is_behind_is_upgraded_root_by_root(run: Run, top: Path) -> None:
    shutil.rmtree(top / ".git")
    for root in ("new", "old"):
        lay(top / root, ("elastic/ec", "0.12.2", "~> 0.12"))
    (command,) = (one["command"] for one in document(run, status=0)["checks"] if one["id"] == "behind")
    upgrade = "locklens upgrade --safe registry.terraform.io/elastic/ec --"
    assert command == f"{upgrade} new && {upgrade} old"


def test_what_is_behind_is_unknown_where_constraints_are_unread(run: Run, top: Path) -> None:
    far = 'module "far" {\n  source = "acme/far/aws"\n}\n'
    lay(top / "old", ("elastic/ec", "0.12.2", "~> 0.12"), more=far)
    check = next(one for one in document(run, status=0)["checks"] if one["id"] == "behind")
    reason = "not all that requires providers can be read"
    assert (check["locks"], check["unknown"], check["reason"]) == (0, 1, reason)


def test_what_is_not_read_is_named_with_its_roots(run: Run, top: Path) -> None:
    far = 'module "far" {\n  source = "acme/far/aws"\n}\n'
    lay(top / "far", AWS, more=far)
    lay(top / "deployed", AWS, more=BACKEND)
    lay(top / "read", AWS)
    unread = {root["path"]: root["unread"] for root in document(run, "--offline", status=0)["roots"]}
    assert unread["read"] is None
    assert "far (acme/far/aws)" in unread["far"]
    text = run("--offline")[1]
    assert f"not all that requires providers can be read\n  {unread['deployed']}\n        in deployed\n" in text
    assert f"\n  {unread['far']}\n        in far\n" in text


def test_a_registry_that_does_not_list_a_version_was_asked(run: Run, top: Path) -> None:
    file = lay(top / "gone", AWS) / LOCK
    file.write_text(file.read_text().replace("5.84.0", "5.84.9"))
    value = document(run)
    reasons = {one["id"]: one["reason"] for one in value["checks"] if one["unknown"]}
    assert reasons["not-authentic"] == reasons["signer"] == "not listed by the registry"
    assert {one["asked"] for one in value["run"]["hosts"]} == {True}
    lay(top / "gone", ("hashicorp/absent", "1.0.0", "~> 1.0"))
    reasons = {one["id"]: one["reason"] for one in document(run)["checks"] if one["unknown"]}
    assert reasons["behind"] == reasons["signer"] == "not listed by the registry"


def test_a_lock_file_that_cannot_be_read_is_unknown_to_each_check_of_entries(run: Run, top: Path) -> None:
    lay(top / "a", AWS)
    (top / "a" / LOCK).write_text(f"<<<<<<< ours\n{(top / 'a' / LOCK).read_text()}=======\n>>>>>>> theirs\n")
    value = document(run, "--offline")
    unknown = {one["id"]: one["reason"] for one in value["checks"] if one["unknown"]}
    assert {"packages-differ", "not-authentic", "not-satisfied", "orphan", "signer", "malformed"} <= unknown.keys()
    assert set(unknown.values()) == {"the lock file cannot be read"}
    assert not {"syntax", "unread-configuration", "lock-missing"} & unknown.keys()
    assert "not-allowed" not in unknown, "off, whatever is locked"


def test_what_the_tools_downloaded_and_other_repositories_are_left_out(run: Run, top: Path) -> None:
    lay(top / "unit", AWS)
    (top / "unit/terragrunt.hcl").write_text("")
    lay(top / "unit/.terragrunt-cache/x/y", AWS)
    lay(top / "unit/.terraform/modules/z", AWS)
    git(lay(top / "other", AWS), "init", "-q")
    (top / "link").symlink_to("unit")
    assert [root["path"] for root in document(run, "--offline", status=0)["roots"]] == ["unit"]


def test_a_terragrunt_unit_is_a_root_whose_requirements_are_unknown(run: Run, top: Path) -> None:
    lay(top / "unit", AWS)
    (top / "unit/main.tf").unlink()
    (top / "unit/terragrunt.hcl").write_text("")
    value = document(run, "--offline", status=0)
    orphan = next(one for one in value["checks"] if one["id"] == "orphan")
    assert (orphan["locks"], orphan["unknown"]) == (0, 1)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("terragrunt.hcl", 'terraform {\n  source = "../modules//app"\n}\n'),
        ("terragrunt.hcl.json", '{"terraform": {"source": "../modules//app"}}'),
    ],
)
def test_modules_that_terragrunt_units_run_are_no_roots(name: str, text: str, run: Run, top: Path) -> None:
    lay(top / "modules/app", AWS, more='provider "aws" {}\n', locked=False)
    lay(top / "deployed", AWS, more=BACKEND, locked=False)
    put(top / "unit", {name: text})
    assert [root["path"] for root in document(run, "--offline", status=0)["roots"]] == ["deployed"]


def test_without_git(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tmp_path / "plain"
    lay(top / "a", AWS)
    lay(top / "b", AWS, ("hashicorp/random", "3.6.2", "~> 3.6"))
    (top / "b/main.tf").write_text(requires(("hashicorp/aws", "~> 6.0")))
    monkeypatch.chdir(top)
    assert counts(document(run, "--offline")) == {"not-satisfied": 1, "orphan": 1}


def test_the_other_tool_s_host(run: Run, top: Path) -> None:
    lay(top / "a", AWS)
    path = top / "a" / LOCK
    path.write_bytes(path.read_bytes().replace(b'"terraform init"', b'"tofu init"'))
    assert counts(document(run, "--offline", status=0)) == {"other-host": 1}


def test_each_rule_about_what_is_locked_is_judged(run: Run, top: Path) -> None:
    (top / "locklens.toml").write_text(f'[trust.other]\nkeys = ["{"A1" * 20}"]\n')
    commit(top, {})
    lay(top / "deployed", AWS, more=BACKEND, locked=False)
    lay(top / "old", ("elastic/ec", "0.12.2", "~> 0.12"))
    path = lay(top / "moved", AWS) / LOCK
    path.write_bytes(path.read_bytes().replace(b'"terraform init"', b'"tofu init"'))
    (top / "moved/main.tf").write_text(requires(("registry.terraform.io/hashicorp/aws", "~> 5.0")))
    found = {finding["rule"] for root in document(run, status=0)["roots"] for finding in root["findings"]}
    assert {rule.id for rule in RULES.values() if rule.subject is RuleSubject.HEALTH} <= found


def test_no_command_is_printed_that_ends_nothing(run: Run, top: Path) -> None:
    def written_by_tofu(folder: str, *hashes: str) -> Path:
        path = lay(top / folder, AWS) / LOCK
        text = path.read_text().replace('"terraform init"', '"tofu init"')
        path.write_text("\n".join(one for one in text.split("\n") if "zh:" not in one))
        return top / folder / "main.tf"

    written_by_tofu("moved")
    explicit = written_by_tofu("explicit")
    explicit.write_text(explicit.read_text().replace("hashicorp/aws", "registry.terraform.io/hashicorp/aws"))
    written_by_tofu("bare").unlink()
    written_by_tofu("orphan").write_text("")
    checks = {one["id"]: one for one in document(run, "--offline", status=0)["checks"]}
    hosts, hashes = checks["other-host"], checks["no-zh"]
    aws = "registry.terraform.io/hashicorp/aws"
    bare = "no configuration in this folder"
    assert hosts["command"] == "locklens upgrade registry.opentofu.org/hashicorp/aws -- moved"
    assert hosts["by_hand"] == [f"explicit: {aws}: change the host in its `source`, unless it is meant"]
    assert hosts["left_out"] == [
        f"bare: {aws}: could not determine whether it is required: {bare}",
        f"orphan: {aws}: nothing requires it",
    ]
    assert hashes["command"] == "locklens lock -- explicit"
    assert hashes["left_out"] == [
        f"bare: {bare}, and `lock` locks only what is required",
        f"moved: {aws}: the tool moves it to its own registry; upgrade it first",
        f"orphan: {aws}: nothing requires it",
    ]


def test_the_policy_sets_severities(run: Run, top: Path) -> None:
    (top / "locklens.toml").write_text('fail_on = "info"\n[severity]\nLK037 = "block"\nLK018 = "off"\n')
    commit(top, {})
    lay(top / "deployed", AWS, more=BACKEND, locked=False)
    path = lay(top / "a", AWS) / LOCK
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    value = document(run, "--offline")
    assert [one["severity"] for one in value["checks"] if one["locks"]] == ["block"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "no such folder"),
        (["--", "nowhere"], "nowhere: no such folder"),
        (["--", "empty"], "empty: no root module here"),
        (
            ["--", "live"],
            "live: no root module in this folder itself\nhint: roots below: live/b; select with --root DIR or --all-roots",
        ),
        (["--prove", "all"], "downloads no packages"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_bad_usage(run: Run, top: Path, words: list[str], message: str) -> None:
    lay(top / "a", AWS)
    lay(top / "live/b", AWS)
    (top / "empty").mkdir()
    status, out, err = run("--offline", *words)
    assert (status, out) == (2, "")
    assert message in err


def test_a_root_of_another_repository_is_named_as_such(run: Run, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(top / "a", AWS)
    git(lay(top / "vendor/lib/live", AWS).parent, "init", "-q")
    monkeypatch.chdir(top / "vendor")
    status, _, err = run("--offline", "--", "lib/live")
    assert status == 2
    assert "lib/live: in another repository than ., such as a submodule\nhint: locklens -C lib health reads" in err


def test_a_remote_state_has_no_constraints(run: Run, top: Path) -> None:
    lay(top / "app", AWS, more=BACKEND)
    lay(top / "behind", ("hashicorp/aws", "5.84.0", "~> 6.0"), more=BACKEND)
    checks = {one["id"]: one for one in document(run, "--offline")["checks"]}
    assert (checks["not-satisfied"]["locks"], checks["not-satisfied"]["unknown"]) == (1, 0)
    assert (checks["not-locked"]["locks"], checks["not-locked"]["unknown"]) == (0, 2)


@pytest.mark.parametrize("name", ["main.tfcomponent.hcl", "deployments.tfdeploy.hcl", "components.tfstack.hcl"])
def test_the_lock_file_of_a_stack_is_a_root_whose_requirements_are_unknown(name: str, run: Run, top: Path) -> None:
    lay(top / "stack", AWS)
    (top / "stack/main.tf").unlink()
    (top / "stack" / name).write_text('required_providers {\n  aws = {\n    source = "hashicorp/aws"\n  }\n}\n')
    (top / "stack/modules").mkdir()
    put(top / "no-lock", {name: ""})
    value = document(run, "--offline", status=0)
    assert [root["path"] for root in value["roots"]] == ["stack"]
    checks = {one["id"]: one for one in value["checks"]}
    for check in ("orphan", "not-locked", "not-satisfied"):
        assert (checks[check]["locks"], checks[check]["unknown"]) == (0, 1), check
    spread = value["spread"][0]
    assert (spread["provider"], spread["versions"]) == (
        "registry.terraform.io/hashicorp/aws", [{"version": "5.84.0", "roots": 1}]
    )  # fmt: skip


def test_a_terragrunt_unit_without_a_lock_file_is_no_root(run: Run, top: Path) -> None:
    lay(top / "unit", AWS)
    (top / "unit/terragrunt.hcl").write_text("")
    put(top / "other", {"terragrunt.hcl": 'terraform {\n  source = "tfr:///a/b/c?version=1.0.0"\n}\n'})
    assert [root["path"] for root in document(run, "--offline", status=0)["roots"]] == ["unit"]


def test_the_spread_of_a_single_root_is_no_rest_of_others(run: Run, top: Path) -> None:
    lay(top / "a", AWS)
    assert "\n  1 provider in one root each (--list-roots names all)\n" in run("--offline")[1]
    lay(top / "b", AWS, ("hashicorp/random", "3.6.2", ">= 3.0.0"))
    assert "\n  1 more provider in one root each (--list-roots names all)\n" in run("--offline")[1]


def test_a_folder_without_roots_is_not_passed_over(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    words = "nothing was checked: no lock file or configuration of a root in or below"
    status, out, _ = run(str(tmp_path / "empty"))
    assert (status, f"note: {words} {tmp_path / 'empty'}\n" in out) == (2, True)
    (tmp_path / "empty" / LOCK).write_bytes(lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4")))
    assert words not in run(str(tmp_path / "empty"))[1]


def test_other_repositories_below_are_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above several clones there was nothing to check, without a word of them."""
    clones = tmp_path / "clones"
    for name in ("a/one", "two"):
        git(lay(clones / name, AWS), "init", "-q")
    git(lay(clones / "plain/.terraform/modules/m", AWS), "init", "-q")
    monkeypatch.chdir(clones)
    words = "note: other repositories are not searched: a/one, two; `locklens health DIR` reads one\n"
    status, out, _ = run("--offline")
    assert (status, words in out, "nothing was checked" in out) == (2, True, True)
    assert document(run, "--offline", "a/one", status=0)["run"]["notes"] == []
    lay(clones / "plain", AWS)
    assert document(run, "--offline", "--", "plain", status=0)["run"]["notes"] == []
    assert words in run("--offline")[1]
    # A repository around them does not track them.
    git(clones, "init", "-q")
    assert words in run("--offline")[1]
    (clones / ".gitignore").write_text("two\n")
    for number in range(6):
        git(lay(clones / f"b{number}", AWS), "init", "-q")
    names = "a/one, b0, b1, b2, b3 and 2 more"
    assert (
        f"note: other repositories are not searched: {names}; `locklens health DIR` reads one\n" in run("--offline")[1]
    )


NETBOX, SEARCH = "registry.terraform.io/acme/netbox", "registry.terraform.io/corp/search-sync"


def test_every_printed_fix_works_as_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DemoRegistry(faults=Faults(SAMPLE_RULES)) as registry:
        lead_to(monkeypatch, registry, tmp_path)
        monkeypatch.chdir(make_repository(tmp_path / "infrastructure"))
        run, any_command = runner(capsys, "health"), runner(capsys)
        before = {one["id"]: one for one in document(run)["checks"]}
        contradicted = "its hashes contradict the release, so that lock adds none; locklens doctor (i) tests the causes"
        assert before["platform-missing"]["left_out"] == [
            f"infra/prod/dns: {NETBOX}: {contradicted}", f"infra/prod/search: {SEARCH}: {contradicted}",
        ]  # fmt: skip
        (words,) = before["malformed"]["by_hand"]
        assert words == "remove the hashes at lines 9, 15 of infra/tools/runner/.terraform.lock.hcl"
        for check in before.values():
            for command in filter(None, (check["command"] or "").split(" && ")):
                status, _, err = any_command(*shlex.split(command)[1:])
                assert check["id"] in {"packages-differ", "not-authentic", "signer"} or status == 0, (command, err)
        path = Path("infra/tools/runner/.terraform.lock.hcl")
        kept = [line for number, line in enumerate(path.read_text().splitlines(), 1) if number not in {9, 15}]
        path.write_text("\n".join(kept) + "\n")
        after = {one["id"]: one for one in document(run)["checks"]}
        mended = {"not-satisfied", "not-locked", "no-zh", "malformed", "orphan", "not-canonical", "lock-missing"}
        assert {check for check in mended if after[check]["locks"]} == set()
        assert after["platform-missing"]["locks"] == len(before["platform-missing"]["left_out"])


STATE = {
    "version": 4,
    "resources": [
        {
            "mode": "managed",
            "type": "aws_vpc",
            "name": "main",
            "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
            "instances": [{"attributes": {}}],
        }
    ],
}


def test_a_folder_that_is_named_is_a_root_whatever_speaks_for_it(run: Run, top: Path) -> None:
    lay(top / "named", AWS, locked=False)
    assert document(run, "--offline", status=2)["roots"] == []
    checks = {one["id"]: one for one in document(run, "--offline", "--", "named", status=0)["checks"]}
    assert (checks["lock-missing"]["locks"], checks["lock-missing"]["command"]) == (1, "locklens lock -- named")


def test_what_only_the_state_or_tests_require_is_left_to_init(run: Run, top: Path) -> None:
    (lay(top / "state") / "terraform.tfstate").write_text(json.dumps(STATE))
    run_of_module = 'run "a" {\n  module {\n    source = "./setup"\n  }\n}\n'
    (lay(top / "tested") / "main.tftest.hcl").write_text(run_of_module)
    lay(top / "tested/setup", AWS, locked=False)
    checks = {one["id"]: one for one in document(run, "--offline")["checks"]}
    assert (checks["not-locked"]["locks"], checks["not-locked"]["command"]) == (2, None)
    why = "required only by the state or test files, which `init` reads and `lock` does not"
    aws = "registry.terraform.io/hashicorp/aws"
    assert checks["not-locked"]["left_out"] == [f"state: {aws}: {why}", f"tested: {aws}: {why}"]


def test_what_the_state_of_another_workspace_requires_is_no_orphan(run: Run, top: Path) -> None:
    root = lay(top / "unit", AWS)
    (root / "main.tf").write_text("")
    orphans = {one["id"]: one for one in document(run, "--offline", status=0)["checks"]}["orphan"]
    assert (orphans["locks"], orphans["command"]) == (1, "locklens prune -- unit")
    place = root / "terraform.tfstate.d/prod/terraform.tfstate"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(STATE))
    value = document(run, "--offline", status=0)
    assert {one["id"]: one for one in value["checks"]}["orphan"]["command"] is None
    (finding,) = (one for one in value["roots"][0]["findings"] if one["rule"] == "LK007")
    assert (finding["severity"], "the state of another workspace requires it" in finding["message"]) == ("info", True)


def test_lock_is_not_the_fix_of_what_it_cannot_read_or_end(run: Run, top: Path) -> None:
    (top / ".gitignore").write_text("ignored/.terraform.lock.hcl\n")
    lay(top / "ignored", AWS)
    lay(top / "remote", AWS, more='module "far" {\n  source = "far/away/cloud"\n}\n')
    (top / "remote/more.tf").write_text('resource "random_pet" "name" {}\n')
    checks = {one["id"]: one for one in document(run, "--offline")["checks"]}
    assert checks["lock-missing"]["command"] is None
    naming = f"git check-ignore -v -- ignored/{LOCK}"
    words = f"remove the pattern that `{naming}` names, and commit ignored/{LOCK}"
    assert checks["lock-missing"]["by_hand"] == [words]
    assert checks["not-locked"]["command"] is None
    assert checks["not-locked"]["left_out"] == [
        "remote: module far cannot be read; `terraform get` fetches remote modules"
    ]
    source = 'source = "../../../away"'
    lay(top / "remote", AWS, more=f'module "up" {{\n  {source}\n}}\n')
    checks = {one["id"]: one for one in document(run, "--offline")["checks"]}
    assert checks["not-locked"]["left_out"] == ["remote: module up cannot be read: it is outside of the repository"]


def test_lock_is_not_the_fix_where_a_release_has_no_package_for_a_required_platform(run: Run, top: Path) -> None:
    root = lay(top / "a", AWS, ("hashicorp/random", "3.6.2", ">= 3.0.0"))
    (top / "locklens.toml").write_text('platforms = ["linux_amd64", "plan9_386"]\n')
    commit(top, {})
    by_id = {one["id"]: one for one in document(run, status=0)["checks"]}
    assert (by_id["platform-missing"]["locks"], by_id["platform-missing"]["command"]) == (1, None)
    why = (
        "the release has no package for the platform; select a version that has one, or take the platform out of"
        " locklens.toml"
    )
    left_out = by_id["platform-missing"]["left_out"]
    assert f"a: registry.terraform.io/hashicorp/aws: {why}" in left_out, left_out
    # Of what is not locked yet, the listed version that would be selected decides.
    (root / LOCK).write_bytes(lock_file(sample_entry(*AWS)))
    lay(top / "new", ("hashicorp/random", "", ">= 3.0.0"), more=BACKEND, locked=False)
    commit(top, {})
    words = (
        "registry.terraform.io/hashicorp/random: 3.7.2, which `lock` selects, has no package for plan9_386; select a"
        " version that has one, or take the platform out of locklens.toml"
    )
    command = "locklens lock --platform linux_amd64 --platform plan9_386 -- a"
    for network, left_out, fix in (((), ["a: " + words], None), (("--offline",), [], command)):
        checks = {one["id"]: one for one in document(run, *network)["checks"]}
        assert (checks["not-locked"]["left_out"], checks["not-locked"]["command"]) == (left_out, fix), network
    checks = {one["id"]: one for one in document(run, "--", "new", status=0)["checks"]}
    assert (checks["lock-missing"]["left_out"], checks["lock-missing"]["command"]) == (["new: " + words], None)


def test_a_root_upgrades_only_what_is_found_in_it(run: Run, top: Path) -> None:
    """One command for all roots upgraded what only one of them had to."""
    aws, random = ("hashicorp/aws", "5.84.0", "~> 5.86"), ("hashicorp/random", "3.6.2", "~> 3.6.2")
    lay(top / "one", aws, random)
    lay(top / "two", aws, ("hashicorp/random", "3.6.2", "~> 3.7"))
    lay(top / "three", aws, random)
    checks = {one["id"]: one for one in document(run)["checks"]}
    names = "registry.terraform.io/hashicorp/aws", "registry.terraform.io/hashicorp/random"
    assert checks["not-satisfied"]["command"] == (
        f"locklens upgrade {names[0]} -- one three && locklens upgrade {' '.join(names)} -- two"
    )


def test_no_command_ends_findings_where_no_version_satisfies_the_constraints(run: Run, top: Path) -> None:
    """The upgrade that was printed failed in every root whose modules ask for versions that exclude each other."""
    aws, random = "registry.terraform.io/hashicorp/aws", "registry.terraform.io/hashicorp/random"
    lay(top / "m", ("hashicorp/aws", "", "< 5.0"), ("hashicorp/random", "", ">= 3.0"), locked=False)
    call = 'module "m" {\n  source = "../m"\n}\n'
    lay(top / "conflict", AWS, more=call)
    lay(top / "unlocked", ("hashicorp/aws", "", "~> 5.0"), more=call + BACKEND, locked=False)
    lay(top / "never", ("hashicorp/aws", "5.84.0", "~> 99.0"))
    lay(top / "near", ("hashicorp/aws", "5.84.0", "~> 5.86"))
    checks = {one["id"]: one for one in document(run)["checks"]}
    words = "no version satisfies ~> 5.0 and < 5.0.0"
    never = f"never: {aws}: its registry lists no version that satisfies ~> 99.0"
    assert checks["not-satisfied"]["left_out"] == [f"conflict: {aws}: {words}", never]
    assert checks["not-satisfied"]["command"] == f"locklens upgrade {aws} -- near"
    assert checks["lock-missing"]["left_out"] == [f"unlocked: {aws}: {words}"]
    assert checks["lock-missing"]["command"] == f"locklens lock {random} -- unlocked"
    (top / "conflict" / LOCK).write_bytes(lock_file(sample_entry("hashicorp/random", "3.6.2", ">= 3.0.0")))
    checks = {one["id"]: one for one in document(run, "--offline", "--", "conflict", "never")["checks"]}
    assert (checks["not-locked"]["left_out"], checks["not-locked"]["command"]) == ([f"conflict: {aws}: {words}"], None)
    # No registry was asked: it may list such a version.
    assert checks["not-satisfied"]["command"] == f"locklens upgrade {aws} -- never"


def test_a_provider_without_release_dates_is_named_with_what_settles_its_age(
    capsys: pytest.CaptureFixture[str], top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = "registry.terraform.io/corp/tool"
    listed = [SampleListing("2.0.0"), SampleListing("2.1.0"), SampleListing("3.0.0", days=9)]
    for root, constraint in (("a", "~> 2.0"), ("b", "~> 2.0.0"), ("c", ">= 2.0")):
        lay(top / root, ("corp/tool", "2.0.0", constraint))
    with DemoRegistry({tool: listed}) as registry:
        lead_to(monkeypatch, registry, tmp_path)
        run = runner(capsys, "health", "--no-cache")
        behind = next(one for one in document(run)["checks"] if one["id"] == "behind")
        text = run()[1]
        (top / "locklens.toml").write_text('[severity]\nLK038 = "off"\n')
        git(top, "add", ".")
        git(top, "commit", "-qm", "policy")
        off = next(one for one in document(run)["checks"] if one["id"] == "behind")
    way = 'ends it, or [severity] LK038 = "off" in locklens.toml'
    left_out = [
        f"a: {tool}: no release date of 2.0.0 and 2.1.0 is known: `locklens upgrade` to 2.1.0 {way}",
        f"c: {tool}: no release date of 2.0.0 is known: `locklens upgrade` to 3.0.0 {way}",
    ]
    assert (behind["unknown"], behind["reason"], behind["left_out"]) == (2, "release date unknown", left_out)
    assert all(f"  left out: {one}\n" in text for one in left_out)
    assert (off["unknown"], off["left_out"]) == (0, [])


def test_no_upgrade_is_offered_that_the_policy_holds_back(run: Run, top: Path) -> None:
    lay(top / "near", ("hashicorp/aws", "5.84.0", "~> 5.86"))
    for policy, is_held in (("cooldown = 3650", True), ("cooldown = 0", False)):
        (top / "locklens.toml").write_text(f"{policy}\n")
        git(top, "add", ".")
        git(top, "commit", "-qm", policy)
        check = next(one for one in document(run)["checks"] if one["id"] == "not-satisfied")
        assert (check["command"] is None) is is_held
        assert bool(check["left_out"]) is is_held
        held = (
            "near: registry.terraform.io/hashicorp/aws: the policy holds each version in range back: 5.86.1: cooldown"
        )
        assert all(one.startswith(held) for one in check["left_out"])


def test_what_was_not_inspected_is_unknown_and_only_what_the_policy_does_not_ask_for_is_off(
    run: Run, top: Path
) -> None:
    def of(check: str) -> tuple[int, str]:
        one = next(one for one in document(run, status=0)["checks"] if one["id"] == check)
        return one["unknown"], one["reason"]

    lay(top / "a", AWS)
    lay(top / "b", AWS)
    path = top / "b" / LOCK
    path.write_text("\n".join(line for line in path.read_text().splitlines() if '"h1:' not in line) + "\n")
    nobody = "no package was inspected: see locklens inspect"
    assert of("odd-platform") == of("replaced-module") == (0, nobody)
    assert of("toolchain") == (0, "no toolchain in locklens.toml")
    summary = document(run, status=0)["summary"]
    assert (summary["ok"], summary["unknown"], summary["verdict"]) == (2, 0, "ok")
    policy = top / "locklens.toml"
    policy.write_text('toolchain = "1.22"\n')
    commit(top, {})
    words = "0 of 1 locked release inspected: see locklens inspect"
    assert of("toolchain") == of("odd-platform") == of("replaced-module") == (2, words)
    assert "2 roots: 0 ok, 2 unknown, 0 worse (warn or block)" in run()[1]
    policy.write_text('[severity]\nLK044 = "off"\nLK046 = "off"\n')
    git(top, "commit", "-qam", "nothing is inspected")
    summary = document(run, status=0)["summary"]
    assert (summary["ok"], summary["unknown"], summary["verdict"]) == (2, 0, "ok")


def test_what_the_policy_does_not_ask_for_is_off(run: Run, top: Path) -> None:
    def off(status: int = 0) -> dict[str, str]:
        checks = document(run, "--offline", status=status)["checks"]
        return {one["id"]: one["reason"] for one in checks if one["reason"] and not one["unknown"]}

    lay(top / "a", AWS)
    policy = top / "locklens.toml"
    policy.write_text('[severity]\nLK045 = "off"\n')
    commit(top, {})
    by_policy = {
        "not-allowed": "the policy has no allow list",
        "platform-missing": "no platforms are required by the policy",
        "signer-not-pinned": "the policy pins no keys",
        "toolchain": "no toolchain in locklens.toml",
    }
    none = off()
    assert {check: reason for check, reason in none.items() if check in by_policy} == by_policy
    assert by_policy.keys() == {check.id for check in CHECKS if check.asked_by}
    keys = f'allow = ["hashicorp/*"]\nplatforms = ["linux_amd64"]\ntoolchain = "1.22"\n[trust.other]\nkeys = ["{"A1" * 20}"]\n'
    policy.write_text(keys)
    git(top, "commit", "-qam", "more")
    assert none.keys() - off().keys() == {*by_policy, "odd-platform", "replaced-module"}


def test_a_release_is_inspected_once_all_its_packages_are(capsys: pytest.CaptureFixture[str], top: Path) -> None:
    kept = runner(capsys, "health")

    def of(check: str) -> tuple[int, int, str | None]:
        value = json.loads(kept("--format", "json", "--offline")[1])
        one = next(one for one in value["checks"] if one["id"] == check)
        return one["locks"], one["unknown"], one["reason"]

    def keep(place: int, platform: str) -> None:
        with Cache() as cache:
            keep_facts(cache, replace(facts(platform, FORK), zh=zhs[place]))

    path = lay(top / "unit", AWS) / LOCK
    zhs = re.findall(r"zh:\w+", path.read_text())
    keep(0, "linux_amd64")
    words = "1 of 1 locked release inspected, 1 of them in part: see locklens inspect"
    assert of("odd-platform") == (0, 1, words)
    assert of("replaced-module") == (1, 1, words)
    keep(1, "linux_arm64")
    assert of("odd-platform") == (0, 1, words)
    path.write_text("\n".join(line for line in path.read_text().split("\n") if not any(zh in line for zh in zhs[2:])))
    assert of("odd-platform") == (0, 0, None)
    assert of("replaced-module") == (1, 0, None)


def test_of_required_platforms_the_packages_are_inspected(
    capsys: pytest.CaptureFixture[str],
    registry: DemoRegistry,
    top: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lead_to(monkeypatch, registry, tmp_path)
    kept = runner(capsys, "health")

    def unknown() -> list[int]:
        value = json.loads(kept("--format", "json")[1])
        assert (value["summary"]["ok"], value["summary"]["unknown"]) == (1, 0), "no policy asks for these checks"
        return [one["unknown"] for one in value["checks"] if one["id"] in {"odd-platform", "replaced-module"}]

    lay(top / "unit", AWS)
    (top / "locklens.toml").write_text('platforms = ["linux_amd64", "linux_arm64"]\n')
    commit(top, {})
    for platform, expected in (("linux_amd64", [1, 1]), ("linux_arm64", [0, 0])):
        assert runner(capsys, "inspect")("aws", "--from", "5.84.0", "--platform", platform)[0] == 0
        assert unknown() == expected


def test_what_is_locked_in_a_file_that_cannot_be_read_is_not_nothing(
    run: Run, top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay(top / "unit", AWS)
    (top / "unit" / LOCK).write_text("<<<<<<< a\n=======\n>>>>>>> b\n")
    assert "; not read: 1 lock file in conflict; 1 finding: 1 block\n" in run("--offline")[1]
    assert runner(capsys, "keys", "--offline")()[1].startswith("locklens keys  not read: 1 lock file in conflict\n")
    (top / "unit" / LOCK).unlink()
    git(top, "commit", "-q", "--allow-empty", "-m", "nothing is locked")
    assert runner(capsys, "hashes", "--offline")()[1].endswith(
        "\nverdict: unknown: there is no lock file that git does not ignore\n"
    )
    found = runner(capsys, "keys", "--offline", "--format", "json")()[1]
    assert json.loads(found)["summary"]["verdict"] == "unknown"
    # A finding that there is nothing to judge judges nothing.
    (top / ".gitignore").write_text(f"{LOCK}\n")
    lay(top / "unit", AWS)
    (top / "unit/main.tf").write_text(requires(("hashicorp/aws", "~> 5.0")))
    commit(top, {})
    (top / "unit/main.tf").write_text(requires(("hashicorp/aws", "~> 5.1")))
    out = runner(capsys, "hashes", "--offline")()[1]
    assert "LK037 INFO the lock file exists, and git ignores it" in out
    assert out.endswith("\nverdict: unknown: there is no lock file that git does not ignore\n")


def test_the_head_counts_the_findings_that_the_rows_have(run: Run, top: Path) -> None:
    lay(top / "unit", AWS)
    (top / "unit/main.tf").unlink()
    (top / "unit/terragrunt.hcl").write_text("")
    value = document(run, "--offline", status=0)
    assert [one["rule"] for one in value["roots"][0]["findings"]] == ["LK007"], "which says only that it is unknown"
    assert value["summary"]["findings"] == {"block": 0, "warn": 0, "info": 0}
    assert "1 root: 0 ok, 1 unknown, 0 worse (warn or block); 1 provider, 1 distinct version; 0 findings\n" in run()[1]


def test_coverage_that_hashes_calls_unknown_is_unknown_to_the_check(
    run: Run, capsys: pytest.CaptureFixture[str], sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sample)
    hashes = runner(capsys, "hashes", "--no-cache", "--format", "json")
    reasons = []
    for words in ((), ("--offline",)):
        value, found = document(run, *words), json.loads(hashes(*words)[1])
        check = next(one for one in value["checks"] if one["id"] == "platform-missing")
        unread = {root["path"] for root in value["roots"] for one in root["findings"] if one["rule"] == "LK019"}
        doubted = {
            root["path"]
            for root in found["roots"]
            for entry in root["providers"]
            if any(path["unknown"] for path in entry["coverage"]["paths"])
        }
        assert check["unknown"] == len(doubted | unread)
        assert "infra/prod/secrets" in doubted, "it has an h1 of unknown platform"
        reasons.append(check["reason"])
    lock = "the lock file cannot be read"
    platforms = "which platforms the locked hashes are for is not known: see locklens hashes"
    assert reasons == [f"{platforms}; {lock}", f"offline; {lock}"]
