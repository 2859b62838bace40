"""A log that names the commit of its job is judged here, and a note says where that commit has other files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kit.git import git
from kit.repositories import repository

from locklens.demo import lock_file
from locklens.demo.cases import requires, sample_entry

FAILED = (
    "$ terraform init\nInitializing the backend...\n\nError: Failed to install provider\n\n"
    "Error while installing acme/demo v1.5.0: the current package for\nregistry.terraform.io/acme/demo 1.5.0 doesn't match"
    " any of the\nchecksums previously recorded in the dependency lock file\n"
)
FORMS = {
    "gitlab": "Checking out {short} as detached HEAD (ref is refs/merge-requests/41/head)...",
    "actions": "2026-12-01T05:12:00.1234567Z HEAD is now at {short} Merge branch 'main'",
    "jenkins": "Checking out Revision {whole} (refs/remotes/origin/demo)",
    "azure": "git checkout --progress --force {whole}",
    "buildkite": "$ git checkout -f {whole}",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_commit_with_other_files_is_named(form: str, tmp_path: Path, doctor: Any) -> None:
    files: dict[str, bytes | str] = {}
    for name in ("a", "b"):
        files[f"{name}/main.tf"] = requires(("acme/demo", "~> 1.4"))
        files[f"{name}/.terraform.lock.hcl"] = lock_file(sample_entry("acme/demo", "1.4.2", "~> 1.4"))
    folder = repository(tmp_path / "r", files)
    git(folder, "checkout", "-qb", "demo")
    (folder / "b/.terraform.lock.hcl").write_bytes(lock_file(sample_entry("acme/demo", "1.5.0", "~> 1.4")))
    git(folder, "commit", "-qam", "demo 1.5")
    commit = git(folder, "rev-parse", "HEAD").strip()
    git(folder, "checkout", "-q", "-")

    def notes(*commits: str) -> list[str]:
        lines = "".join(f"{FORMS[form].format(whole=one, short=one[:8])}\n" for one in commits)
        (folder / "ci.log").write_text(f"{lines}{FAILED}", "utf-8")
        return [
            one for one in doctor(folder, "--offline", "ci.log")["run"]["notes"] if "commit" in one and "log" in one
        ]

    name = commit[: 12 if "whole" in FORMS[form] else 8]
    differs = f"the log names commit {name}, and there b/.terraform.lock.hcl is not as here: git checkout {name}"
    assert notes(commit) == [f"{differs}, to judge the log"]
    unknown = "0123456789" * 4
    lacking = "which is not in this clone: if it is of this repository, fetch the branch of the failing run"
    assert notes(unknown) == [f"the log names commit {unknown[: len(name)]} as checked out, {lacking}"]
    assert notes(unknown, commit) == [f"{differs}, to judge the log"], "another repository was checked out first"
    if form == "actions":  # the merge of a pull request is on no branch, and the commit that it merges is
        merge = f"HEAD is now at 1a2b3c4 Merge {commit} into {unknown}\n"
        (folder / "ci.log").write_text(f"{merge}{FAILED}", "utf-8")
        there = f"names commit {commit[:12]}, and there b/.terraform.lock.hcl is not as here"
        assert any(there in one for one in doctor(folder, "--offline", "ci.log")["run"]["notes"])
    git(folder, "checkout", "-q", "demo")
    assert notes(commit) == []
    (folder / "other").write_text("", "utf-8")
    git(folder, "add", "other")
    git(folder, "commit", "-qm", "other")
    assert notes(commit) == [], "the files that count are the same"
