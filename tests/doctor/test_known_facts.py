"""Only a fact about the failing run confirms a cause, and only what a log or a lock file says is filled into a fix."""

from __future__ import annotations

from typing import Any

from kit.git import git
from msgspec.structs import replace

from locklens.demo import lock_file
from locklens.demo.cases import OPENTOFU_HOST, TERRAFORM_HOST, sample_entry
from locklens.demo.incidents import sample_incidents

INCIDENTS = {one.cause: one for one in reversed(sample_incidents())}
LOCK = "live/prod/.terraform.lock.hcl"
QUERY = "Failed to query available provider packages"
LIST = "Could not retrieve the list of available versions for provider {}: {}"


def test_a_lock_file_with_the_hashes_of_its_own_registry_again_is_fixed(made: Any, doctor: Any) -> None:
    folder = made(INCIDENTS["other-tool"])
    first = doctor(folder, "ci.log")["causes"][0]
    assert (first["id"], first["verdict"]) == ("other-tool", "yes")
    own = sample_entry("hashicorp/random", "3.6.3", "~> 3.6")
    (folder / LOCK).write_bytes(lock_file(own))
    document = doctor(folder, "ci.log")
    assert (document["state"], document["causes"][0]["verdict"]) == ("fixed", "no")
    assert f"has those of {OPENTOFU_HOST}" in document["fixed"]
    git(folder, "commit", "-qam", "Lock it again")
    assert doctor(folder, "ci.log")["state"] == "fixed"
    (folder / LOCK).write_bytes(lock_file(replace(own, packed=own.packed[:1], unpacked=())))
    assert doctor(folder, "ci.log")["state"] == "open"


def test_a_restored_file_has_to_be_reviewed_where_hashes_come_with_it(made: Any, doctor: Any) -> None:
    own = sample_entry("hashicorp/random", "3.6.3", "~> 3.6")
    moved = lock_file(own).replace(TERRAFORM_HOST.encode(), OPENTOFU_HOST.encode())
    folder = made(replace(INCIDENTS["other-tool"], locks=(lock_file(own),)))

    def trust() -> list[str]:
        return [one["trust"] for one in doctor(folder, "--", "live/prod")["remedies"] if one["id"] == "restore-file"]

    (folder / LOCK).write_bytes(moved)
    assert trust() == ["none"], "the last commit has these hashes"
    git(folder, "commit", "-qam", "OpenTofu was run")
    assert trust() == ["low"]


def test_an_entry_that_the_other_tool_moved_ends_the_error(made: Any, doctor: Any) -> None:
    own = sample_entry("hashicorp/random", "3.6.3", "~> 3.6")
    moved = lock_file(own).replace(TERRAFORM_HOST.encode(), OPENTOFU_HOST.encode())
    folder = made(replace(INCIDENTS["other-tool"], locks=(moved,)))
    log = (folder / "ci.log").read_text("utf-8").replace(TERRAFORM_HOST, OPENTOFU_HOST)
    (folder / "ci.log").write_text(f"$ tofu -chdir=live/prod init\n{log}", "utf-8")
    assert doctor(folder, "ci.log")["state"] == "open"
    (folder / LOCK).write_bytes(lock_file(own))
    document = doctor(folder, "ci.log")
    assert document["state"] == "fixed", document
    assert f"no longer has {OPENTOFU_HOST}/hashicorp/random" in document["fixed"]
