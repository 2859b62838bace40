"""Prune, restore and format, planned and applied in repositories on disk."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from kit.git import git
from msgspec.structs import replace

from locklens.addresses import ProviderAddress
from locklens.dialect import OPENTOFU, TERRAFORM
from locklens.errors import ConfigurationError, RepositoryError
from locklens.lockfile import LockEntry
from locklens.lockfile.render import render
from locklens.operations.plan import Plan, Scope
from locklens.operations.plan.commit_message import commit_message
from locklens.operations.write.apply import apply
from locklens.operations.write.lock_edits import Format, Prune, Restore, RestoredProviders, restore
from locklens.operations.write.undo import undo
from locklens.versions import Version

ZH = "zh:" + "0" * 64


def address(name: str) -> ProviderAddress:
    return ProviderAddress(TERRAFORM.default_host, "hashicorp", name)


def entry(name: str, version: str = "1.0.0", constraints: str = "", host: str = TERRAFORM.default_host) -> LockEntry:
    return LockEntry(replace(address(name), host=host), Version.parse(version), constraints, (ZH,), 0)


def lock(*entries: LockEntry) -> bytes:
    return render(entries, TERRAFORM)


def requiring(*names: str) -> bytes:
    lines = "".join(f'    {name} = {{ source = "hashicorp/{name}" }}\n' for name in names)
    return f"terraform {{\n  required_providers {{\n{lines}  }}\n}}\n".encode()


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = tmp_path / "top"
    top.mkdir()
    git(top, "init", "-q")
    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws"), entry("tls"), entry("null")))
    (top / "main.tf").write_bytes(requiring("aws"))
    git(top, "add", ".")
    git(top, "commit", "-qm", "first")
    monkeypatch.chdir(top)
    return top


def lock_of(top: Path) -> bytes:
    return (top / ".terraform.lock.hcl").read_bytes()


def said(plan: Plan) -> tuple[list[str], list[str]]:
    return [remark.words for remark in plan.remarks], [failed.sentence for failed in plan.failures]


# prune


def test_prune_removes_orphans_and_nothing_else(top: Path) -> None:
    plan = Prune(Scope(top)).plan()
    assert plan.proposal.words == (".: hashicorp/null 1.0.0 is removed", ".: hashicorp/tls 1.0.0 is removed")
    assert lock_of(top) == lock(entry("aws"), entry("tls"), entry("null"))
    apply(plan.proposal)
    assert lock_of(top) == lock(entry("aws"))
    again = Prune(Scope(top)).plan()
    assert (again.proposal.files, said(again)) == ((), (["nothing to prune"], []))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"x.tf": b'module "m" {\n  source = "acme/m/aws"\n}\n'}, "not fetched: module m (acme/m/aws)"),
        ({"x.tf": b'terraform {\n  backend "s3" {}\n}\n'}, "s3"),
        ({"x.tf": b"{"}, "the configuration has an error (x.tf:1)"),
    ],
)
def test_prune_keeps_and_names_what_something_unread_may_require(
    top: Path, files: dict[str, bytes], words: str
) -> None:
    for name, data in files.items():
        (top / name).write_bytes(data)
    plan = Prune(Scope(top)).plan()
    assert plan.proposal.files == ()
    assert [remark.address for remark in plan.remarks] == ["hashicorp/null", "hashicorp/tls"]
    assert all(
        "kept: not required by what could be read" in remark.words and words in remark.words for remark in plan.remarks
    )
    assert plan.remarks[1].words.endswith("; `locklens prune hashicorp/tls`, which names it, removes it")
    of_root = Prune(Scope(top.parent, (top.name,))).plan().remarks[1].words
    assert of_root.endswith(f" prune hashicorp/tls --root {top.name}`, which names it, removes it")
    named = Prune(Scope(top), ("tls",)).plan()
    apply(named.proposal)
    assert lock_of(top) == lock(entry("aws"), entry("null"))


def test_prune_warns_of_what_the_state_of_another_workspace_requires(top: Path) -> None:
    provider = 'provider["registry.terraform.io/hashicorp/tls"]'
    resource = {"mode": "managed", "type": "tls_key", "name": "a", "provider": provider, "instances": []}
    place = top / "terraform.tfstate.d/prod/terraform.tfstate"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps({"version": 4, "resources": [resource]}), "utf-8")
    words = "the state of another workspace requires it, which TF_WORKSPACE=prod selects "
    words += "(terraform.tfstate.d/prod/terraform.tfstate)"
    plan = Prune(Scope(top)).plan()
    assert [(one.address, one.detail) for one in plan.remarks] == [("hashicorp/tls", f"kept: {words}")]
    apply(plan.proposal)
    assert lock_of(top) == lock(entry("aws"), entry("tls"))
    named = Prune(Scope(top), ("tls",)).plan()
    assert [(one.address, one.detail, one.is_error) for one in named.remarks] == [("hashicorp/tls", words, False)]
    apply(named.proposal)
    assert lock_of(top) == lock(entry("aws"))


def test_prune_keeps_what_opentofu_migrates(top: Path) -> None:
    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws"), entry("tls")))
    plan = Prune(Scope(top, tool=OPENTOFU)).plan()
    assert plan.proposal.words == (".: registry.terraform.io/hashicorp/tls 1.0.0 is removed",)


def test_prune_refuses_what_is_required(top: Path) -> None:
    plan = Prune(Scope(top), ("tls", "aws")).plan()
    assert plan.proposal.files == ()
    assert said(plan)[1] == ["main.tf:3: hashicorp/aws is required here"]


def test_prune_of_what_is_unknown(top: Path) -> None:
    with pytest.raises(ConfigurationError, match="does not require or lock 'azurerm'"):
        Prune(Scope(top), ("azurerm",)).plan()
    (top / "more.tf").write_bytes(b'resource "random_pet" "x" {}\n')
    assert said(Prune(Scope(top), ("random",)).plan())[1] == ["more.tf:1: hashicorp/random is required here"]


def test_prune_without_a_configuration_removes_only_what_is_named(top: Path) -> None:
    (top / "main.tf").unlink()
    assert (
        "could not determine what is required: no configuration in this folder" in said(Prune(Scope(top)).plan())[1][0]
    )
    apply(Prune(Scope(top), ("tls",)).plan().proposal)
    assert lock_of(top) == lock(entry("aws"), entry("null"))


def test_every_other_byte_stays(top: Path) -> None:
    data = (
        lock(entry("aws"), entry("tls"))
        .replace(b"\n", b"\r\n")
        .replace(b'provider "registry', b'# mine\r\nprovider "registry', 1)
    )
    (top / ".terraform.lock.hcl").write_bytes(data)
    apply(Prune(Scope(top)).plan().proposal)
    left = lock_of(top)
    assert data.startswith(left)
    assert b"# mine\r\n" in left
    assert b"tls" not in left


def test_roots_that_fail_stay_and_the_others_change(top: Path) -> None:
    for name, data in (("a", b"<<<<<<< ours\n=======\n>>>>>>> theirs\n"), ("b", lock(entry("tls"))), ("c", b"x")):
        (top / name).mkdir()
        (top / name / ".terraform.lock.hcl").write_bytes(data)
        (top / name / "main.tf").write_bytes(requiring("aws"))
    for name, text in (("d", requiring("aws")), ("e", b"locals {}\n")):
        (top / name).mkdir()
        (top / name / "main.tf").write_bytes(text)
    plan = Prune(Scope(top, ("a", "b", "c", "d", "e"))).plan()
    assert [file.path for file in plan.proposal.files] == ["b/.terraform.lock.hcl"]
    assert plan.proposal.command.endswith(" prune --root b"), "a root that fails would be an error of the command"
    assert [failed.sentence.partition(": ")[0] for failed in plan.failures] == [
        "a/.terraform.lock.hcl:1",
        "c/.terraform.lock.hcl:1",
        "d/.terraform.lock.hcl",
        "e/.terraform.lock.hcl",
    ]
    assert plan.failures[2].hint == "locklens lock or terraform init creates it"
    assert "nothing that was read of the root requires a provider" in plan.failures[3].hint


def test_a_folder_that_is_no_root(top: Path) -> None:
    (top / "empty").mkdir()
    for root, words in (("empty", "no configuration or lock file in this folder"), ("nowhere", "no such folder")):
        with pytest.raises(ConfigurationError, match=f"{root}: {words}"):
            Prune(Scope(top, (root,))).plan()
    with pytest.raises(ConfigurationError, match="outside of the repository"):
        Prune(Scope(top, ("..",))).plan()


def test_without_git_the_folder_is_all_there_is(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / ".terraform.lock.hcl").write_bytes(lock(entry("aws"), entry("tls")))
    (folder / "main.tf").write_bytes(requiring("aws"))
    apply(Prune(Scope(folder)).plan().proposal)
    assert lock_of(folder) == lock(entry("aws"))
    with pytest.raises(RepositoryError, match="not inside a git repository"):
        restore(Scope(folder), ["aws"])


# restore


def test_restore_takes_a_block_back_byte_for_byte(top: Path) -> None:
    before = lock_of(top)
    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws", "2.0.0", "~> 2.0"), entry("null", "3.0.0")))
    plan = restore(Scope(top), ["aws", "tls", "null"])
    assert plan.proposal.words == (
        ".: hashicorp/aws 2.0.0 -> 1.0.0 (downgrade)",
        ".: hashicorp/null 3.0.0 -> 1.0.0 (downgrade)",
        ".: hashicorp/tls 1.0.0 is added",
    )
    assert plan.proposal.command == "locklens restore aws tls null"
    apply(plan.proposal)
    assert lock_of(top) == before


def test_restore_says_what_stays_staged(top: Path) -> None:
    def warnings(*names: str, revision: str = "HEAD") -> list[tuple[str, str]]:
        plan = restore(Scope(top), names, revision)
        return [(one.detail, one.hint) for one in plan.diagnostics if one.hint]

    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws", "2.0.0"), entry("null"), entry("tls")))
    assert warnings("aws") == []
    git(top, "add", ".")
    words = "git's index keeps what is staged of hashicorp/aws: the next commit has it"
    hint = "git restore --staged -- .terraform.lock.hcl unstages all of the file"
    assert warnings("aws") == warnings("aws", "tls") == [(words, hint)]
    assert warnings("tls") == []
    apply(restore(Scope(top), ["aws"]).proposal)
    assert warnings("aws") == [(words, hint)], "also where the work tree has nothing to restore any more"
    git(top, "restore", "--staged", "--", ".terraform.lock.hcl")
    assert warnings("aws") == []
    git(top, "rm", "-q", "--cached", ".terraform.lock.hcl")
    assert warnings("aws", "tls") == [(words.replace("aws", "aws, hashicorp/tls"), hint)]
    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws", "2.0.0")))
    git(top, "add", ".")
    git(top, "commit", "-qm", "second")
    assert warnings("aws", revision="HEAD~1") == [], "what differs from the revision is not staged for that"


def test_restore_of_a_lock_file_that_git_ignores_says_so_and_is_no_commit(top: Path) -> None:
    git(top, "rm", "-q", "--cached", ".terraform.lock.hcl")
    (top / ".terraform.lock.hcl").unlink()
    (top / ".gitignore").write_text("# tools\n.terraform.lock.hcl\n", "utf-8")
    git(top, "add", ".")
    git(top, "commit", "-qm", "ignored")
    plan = restore(Scope(top), ["aws", "tls", "null"], "HEAD~1")
    (warning,) = plan.remarks
    assert warning.line == "warning: .: git ignores the lock file (.gitignore:2), so that no commit has it"
    assert warning.hint == "remove the pattern, or stage the file with `git add -f`"
    assert plan.proposal.files
    assert commit_message(plan, None) == ""
    git(top, "rm", "-q", ".gitignore")
    plan = restore(Scope(top), ["aws", "tls", "null"], "HEAD~1")
    assert plan.remarks == ()
    assert commit_message(plan, None)


def test_restore_names_the_lock_file_of_a_root_that_may_have_moved(top: Path) -> None:
    def hint() -> str:
        (failure,) = restore(Scope(top, ("moved",)), ["aws"]).failures
        return failure.hint

    (top / "moved").mkdir()
    shutil.copy(top / ".terraform.lock.hcl", top / "moved")
    assert hint() == "delete the file to go back to no lock file, or name another revision with --from"
    (top / ".terraform.lock.hcl").unlink()
    assert hint() == (
        "HEAD has .terraform.lock.hcl, not on disk any more: if the root was moved, name its file with --from HEAD:PATH"
    )
    for path in top.glob("*.tf"):
        path.rename(top / "moved" / path.name)
    assert not restore(Scope(top, ("moved",)), ["aws"]).failures


def test_restore_from_before_the_root_was_moved(top: Path) -> None:
    (top / "sub").mkdir()
    git(top, "mv", ".terraform.lock.hcl", "main.tf", "sub")
    (top / "sub/.terraform.lock.hcl").write_bytes(lock(entry("aws", "2.0.0"), entry("tls"), entry("null")))
    git(top, "commit", "-qam", "moved")
    (top / "sub/.terraform.lock.hcl").write_bytes(lock(entry("null", "3.0.0")))
    git(top, "commit", "-qam", "others")
    plan = restore(Scope(top, ("sub",)), ["aws"], "HEAD~2")
    assert said(plan) == (["HEAD~2 has its lock file at .terraform.lock.hcl, from where the root was moved"], [])
    apply(plan.proposal)
    assert (top / "sub/.terraform.lock.hcl").read_bytes() == lock(entry("aws"), entry("null", "3.0.0"))
    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws", "5.0.0")))
    git(top, "rm", "-rqf", "sub")
    git(top, "add", ".")
    git(top, "commit", "-qm", "another root")
    git(top, "checkout", "-q", "HEAD~", "--", "sub")
    (failure,) = restore(Scope(top, ("sub",)), ["aws"]).failures
    assert "HEAD has no such file" in failure.sentence


def test_restore_takes_no_entry_of_one_of_several_folders_that_a_moved_root_may_have_had(top: Path) -> None:
    for name, version in (("alpha", "1.0.0"), ("beta", "3.0.0")):
        (top / name).mkdir()
        (top / name / ".terraform.lock.hcl").write_bytes(lock(entry("aws", version)))
        (top / name / "main.tf").write_bytes(requiring("aws"))
    git(top, "add", ".")
    git(top, "commit", "-qm", "two")
    for name, new in (("alpha", "yankee"), ("beta", "zulu")):
        git(top, "mv", name, new)
        git(top, "commit", "-qm", "moved")
        (top / new / ".terraform.lock.hcl").write_bytes(lock(entry("aws", "2.0.0")))
    plan = restore(Scope(top, ("yankee", "zulu")), ["aws"], "HEAD~2")
    assert not plan.proposal.files, "as in a review against that commit, whatever the commits in between tell"
    assert len(plan.failures) == 2
    for failure in plan.failures:
        assert "neither files nor names tell which was of this root" in failure.sentence
        assert "alpha/.terraform.lock.hcl" in failure.sentence
        assert "beta/.terraform.lock.hcl" in failure.sentence
    plan = restore(Scope(top, ("yankee",)), ["aws"], "HEAD~2:alpha/.terraform.lock.hcl")
    (written,) = plan.proposal.files
    assert (written.path, written.new) == ("yankee/.terraform.lock.hcl", lock(entry("aws", "1.0.0")))
    assert restore(Scope(top / "zulu"), ["aws"], "HEAD~2:../beta/.terraform.lock.hcl").proposal.files
    for roots, path in (("yankee", "zulu"), "alpha/.terraform.lock.hcl"), (("yankee",), "alpha"):
        with pytest.raises(ConfigurationError):
            restore(Scope(top, roots), ["aws"], f"HEAD~2:{path}")
    plan = restore(Scope(top, ("yankee", "zulu")), ["aws"], "HEAD~1")
    assert (len(plan.proposal.files), plan.failures) == (2, ())


def test_restore_names_the_old_folder_of_equal_roots_as_one_of_them(top: Path) -> None:
    for name in ("alpha", "beta"):
        (top / name).mkdir()
        (top / name / ".terraform.lock.hcl").write_bytes(lock(entry("aws")))
        (top / name / "main.tf").write_bytes(requiring("aws"))
    git(top, "add", ".")
    git(top, "commit", "-qm", "two")
    for name, new in (("alpha", "yankee"), ("beta", "zulu")):
        (top / name).rename(top / new)
        (top / new / ".terraform.lock.hcl").write_bytes(lock(entry("aws", "2.0.0")))
    (note,) = said(restore(Scope(top, ("yankee",)), ["aws"]))[0]
    place = "at alpha/.terraform.lock.hcl, or an equal one in another folder"
    assert note == f"HEAD has its lock file {place}, from where the root was moved"


def test_restore_says_of_many_moved_roots_once_that_they_were_moved(top: Path) -> None:
    roots = [f"{number}" for number in range(4)]
    for root in roots:
        (top / "old" / root).mkdir(parents=True)
        (top / "old" / root / ".terraform.lock.hcl").write_bytes(lock(entry("aws", f"1.0.{root}")))
        (top / "old" / root / "main.tf").write_bytes(requiring("aws") + f"# {root}\n".encode())
    git(top, "add", ".")
    git(top, "commit", "-qm", "many")
    git(top, "mv", "old", "new")
    for root in roots:
        (top / "new" / root / ".terraform.lock.hcl").write_bytes(lock(entry("aws", f"2.0.{root}")))
    plan = restore(Scope(top, tuple(f"new/{root}" for root in roots)), ["aws"])
    words = "HEAD has its lock file in the folder from where the root was moved"
    assert [(one.root, one.sentence) for one in plan.remarks] == [(f"new/{root}", words) for root in roots]


def test_restore_from_another_revision(top: Path) -> None:
    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws", "2.0.0")))
    git(top, "commit", "-qam", "second")
    for revision in ("HEAD", "HEAD:.terraform.lock.hcl"):
        assert said(restore(Scope(top), ["aws"], revision))[0] == ["already as in HEAD:.terraform.lock.hcl"]
    plan = restore(Scope(top), ["aws"], "HEAD~1")
    assert plan.proposal.command == "locklens restore aws --from 'HEAD~1'"
    apply(plan.proposal)
    assert lock_of(top) == lock(entry("aws"))


def test_restore_of_the_last_entries_restores_the_file(top: Path) -> None:
    """The first line names the tool: with "tofu init" in it, the file would still differ from the base."""
    before = lock_of(top)
    written = render([entry("aws", "2.0.0"), entry("tls", "2.0.0"), entry("null")], OPENTOFU)
    (top / ".terraform.lock.hcl").write_bytes(written)
    apply(restore(Scope(top), [str(address("aws"))]).proposal)
    assert lock_of(top).splitlines()[0] == written.splitlines()[0]
    apply(restore(Scope(top), [str(address("tls"))]).proposal)
    assert lock_of(top) == before
    (top / ".terraform.lock.hcl").write_bytes(before.replace(b'"terraform init"', b'"tofu init"'))
    plan = restore(Scope(top), [str(address("aws"))])
    assert plan.proposal.words == (".: lines outside of the entries are restored",)
    assert commit_message(plan, None) == "Restore the lock file in the top folder"
    apply(plan.proposal)
    assert lock_of(top) == before


@pytest.mark.parametrize("how", ["core.autocrlf", "eol=crlf"])
@pytest.mark.parametrize("is_crlf", [True, False], ids=["crlf", "lf"])
def test_restore_of_the_whole_file_is_what_git_checks_out(
    top: Path, tmp_path: Path, how: str, *, is_crlf: bool
) -> None:
    """Where a tool has written the edited file, it has LF."""
    ran, committed = tmp_path / "ran", lock_of(top)
    if how == "core.autocrlf":
        git(top, "config", "core.autocrlf", "true")
    attributes = "* text=auto eol=crlf\n" if how == "eol=crlf" else ""
    (top / ".gitattributes").write_text(f"{attributes}.terraform.lock.hcl filter=x\n")
    git(top, "add", ".gitattributes")
    git(top, "commit", "-qm", "attributes")
    (top / ".terraform.lock.hcl").unlink()
    git(top, "checkout", ".terraform.lock.hcl")
    for key, value in {"clean": "cat", "smudge": f"touch {ran}; cat", "required": "true"}.items():
        git(top, "config", f"filter.x.{key}", value)
    checked_out = lock_of(top)
    assert checked_out == committed.replace(b"\n", b"\r\n")
    nothing = restore(Scope(top), ["aws"])
    assert (nothing.proposal.files, said(nothing)[0]) == ((), ["already as in HEAD:.terraform.lock.hcl"])
    edited = lock(entry("aws", "2.0.0"), entry("tls"), entry("null"))
    edited = edited.replace(b"\n", b"\r\n") if is_crlf else edited
    (top / ".terraform.lock.hcl").write_bytes(edited)
    apply(restore(Scope(top), ["aws"]).proposal)
    assert lock_of(top) == checked_out
    assert git(top, "status", "--short") == ""
    apply(undo(top).proposal)
    assert lock_of(top) == edited
    assert not ran.exists(), "a filter is a program"


@pytest.mark.parametrize("broken", [b"x {", b"\xff"])
def test_restore_of_every_entry_restores_a_file_that_cannot_be_parsed(top: Path, broken: bytes) -> None:
    good, path = lock_of(top), top / ".terraform.lock.hcl"
    path.write_bytes(good + broken)
    plan = restore(Scope(top), ("aws", "tls"))
    assert "name every provider of the revision's" in plan.failures[0].hint
    plan = restore(Scope(top), ("aws", "tls", "null"))
    assert not plan.failures
    assert plan.proposal.words[-1] == ".: the whole file is restored, since it could not be parsed"
    assert not plan.remarks, "no entry of the file is as in the revision"
    apply(plan.proposal)
    assert lock_of(top) == good
    assert undo(top).changes == (), "nothing is known of what the broken file has"
    path.unlink()
    path.mkdir()
    plan = restore(Scope(top), ("aws", "tls"))
    assert str(plan.failures[0].sentence).endswith(f"{path.name}:1: Failed to read file: is a folder")


def test_restore_removes_what_was_not_locked_then(top: Path) -> None:
    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws"), entry("random")))
    apply(restore(Scope(top), ["random"]).proposal)
    assert lock_of(top) == lock(entry("aws"))


@pytest.mark.parametrize("named", ["aws", "registry.terraform.io/hashicorp/aws", "registry.opentofu.org/hashicorp/aws"])
def test_restore_of_a_provider_that_moved_since_is_that_of_the_revision(top: Path, named: str) -> None:
    aws, tls = (entry(name, "2.0.0", host=OPENTOFU.default_host) for name in ("aws", "tls"))
    (top / ".terraform.lock.hcl").write_bytes(render([aws, tls], OPENTOFU))
    plan = restore(Scope(top), [named])
    words = f"{address('aws')} 2.0.0 -> 1.0.0 (downgrade) and is locked from registry.terraform.io"
    assert plan.proposal.words == (f".: {words} instead of registry.opentofu.org",)
    assert [(one.kind, one.moved_from) for one in plan.changes] == [("move", aws.address)]
    (warning,) = plan.remarks
    assert (warning.address, warning.detail) == ("hashicorp/aws", "required at main.tf:3, and not locked any more")
    apply(plan.proposal)
    assert lock_of(top) == render([tls, entry("aws")], OPENTOFU)
    whole = restore(Scope(top), ["aws", "tls", "null"])
    assert said(whole) == (["already as in HEAD:.terraform.lock.hcl"], []), "by the rules of Terraform again"
    apply(whole.proposal)
    assert lock_of(top) == lock(entry("aws"), entry("tls"), entry("null"))


def test_restore_back_to_the_registry_of_opentofu(top: Path) -> None:
    aws = entry("aws", "2.0.0", host=OPENTOFU.default_host)
    (top / ".terraform.lock.hcl").write_bytes(render([aws], OPENTOFU))
    git(top, "commit", "-qam", "OpenTofu")
    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws"), entry("tls")))
    apply(restore(Scope(top), ["aws", "tls"]).proposal)
    assert lock_of(top) == render([aws], OPENTOFU)


def test_restore_warns_of_a_required_provider_that_it_leaves_unlocked(top: Path) -> None:
    (top / "main.tf").write_bytes(requiring("aws", "random", "tls"))
    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws"), entry("random")))
    (warning,) = restore(Scope(top), ["random"]).remarks
    assert (warning.address, warning.detail) == ("hashicorp/random", "required at main.tf:4, and not locked any more")
    assert warning.hint == "locklens lock locks what is required"


def test_restore_says_where_the_configuration_wants_another(top: Path) -> None:
    (top / "main.tf").write_bytes(b'terraform {\n  required_providers {\n    aws = "~> 2.0"\n  }\n}\n')
    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws", "2.0.0")))
    assert said(restore(Scope(top), ["aws"]))[0] == ["1.0.0 does not satisfy ~> 2.0"]


def test_restore_where_there_is_nothing_to_take(top: Path) -> None:
    (top / "more.tf").write_bytes(b'resource "random_pet" "x" {}\n')
    assert "locked neither now nor in HEAD:" in said(restore(Scope(top), ["random"]))[1][0]
    with pytest.raises(RepositoryError):
        restore(Scope(top), ["aws"], "nowhere")
    (top / "new").mkdir()
    (top / "new/.terraform.lock.hcl").write_bytes(lock(entry("aws")))
    assert "HEAD has no such file" in said(restore(Scope(top, ("new",)), ["aws"]))[1][0]
    (top / ".terraform.lock.hcl").write_bytes(b"x")
    git(top, "commit", "-qam", "broken")
    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws")))
    plan = restore(Scope(top), ["aws"])
    assert said(plan)[1][0].startswith("HEAD:.terraform.lock.hcl:1: ")
    broken = "the lock file is broken in HEAD, so nothing of it can be restored: name another revision with --from"
    assert [failed.hint for failed in plan.failures] == [broken]


def test_the_command_of_a_restoration_leaves_out_the_part_that_fails(top: Path) -> None:
    (top / "new").mkdir()
    (top / "new/.terraform.lock.hcl").write_bytes(lock(entry("null")))
    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws", "2.0.0"), entry("tls"), entry("null")))
    parts = RestoredProviders(("new",), ("null",)), RestoredProviders((".",), ("aws",))
    plan = Restore(Scope(top), parts).plan()
    assert [failed.root for failed in plan.failures] == ["new"]
    assert [file.path for file in plan.proposal.files] == [".terraform.lock.hcl"]
    assert plan.proposal.command == "locklens restore aws --root ."
    assert Restore(Scope(top), parts[:1]).plan().proposal.command == "locklens restore null --root new"


# format


def test_format_is_what_the_tool_would_write(top: Path) -> None:
    good = lock(entry("aws"), entry("tls"))
    (top / ".terraform.lock.hcl").write_bytes(
        b"\xef\xbb\xbf# mine\r\n" + good.replace(b"\n", b"\r\n").replace(b"  ", b"\t")
    )
    plan = Format(Scope(top)).plan()
    (words,) = plan.proposal.words
    assert words == ".: format fixed: byte order mark, CRLF line ends, a different first line, comments, spacing"
    apply(plan.proposal)
    assert lock_of(top) == good
    assert said(Format(Scope(top)).plan()) == (["already in the tool's format"], [])


def test_format_for_a_tool(top: Path) -> None:
    (top / ".terraform.lock.hcl").write_bytes(lock(entry("aws")).split(b"\n", 2)[2])
    plan = Format(Scope(top, (), tool=OPENTOFU, test_directory="checks")).plan()
    assert (plan.proposal.files[0].new or b"").startswith(OPENTOFU.header.encode())
    assert plan.proposal.command == "locklens format --tool opentofu --test-directory checks"


# What is shown of it


def test_the_diff_is_one_that_git_applies(top: Path, tmp_path: Path) -> None:
    data = lock(entry("aws"), entry("tls")).rstrip(b"\n").replace(b"\n", b"\r\n", 3)
    (top / ".terraform.lock.hcl").write_bytes(data)
    plan = Prune(Scope(top)).plan()
    assert lock_of(top) == data
    (tmp_path / "diff").write_bytes(plan.proposal.diff().encode())
    git(top, "apply", "--whitespace=nowarn", str(tmp_path / "diff"))
    assert lock_of(top) == plan.proposal.files[0].new
