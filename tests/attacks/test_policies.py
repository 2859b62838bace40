"""Changes that bring along the policy that would pass them: they are judged by the base's, and say what they propose."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kit.git import git
from kit.registries import lead_to
from kit.repositories import commit, put
from kit.schemas import validate

from locklens.cli.main import main
from locklens.demo import SampleLock, lock_file
from locklens.demo.faults import Fault, FaultRule, Faults
from locklens.demo.registry import DemoRegistry
from locklens.demo.signing import publisher
from locklens.policy import POLICY_FILE

HOME, LOCK = "registry.terraform.io", ".terraform.lock.hcl"
DEMO = f"{HOME}/acme/demo"
REQUIRES = """terraform {
  required_providers {
    demo = { source = "acme/demo", version = ">= 1.0.0" }
  }
}
"""
OLD, NEW, AGAIN = (
    SampleLock(DEMO, "1.0.0", ">= 1.0.0", unpacked=()),
    SampleLock(DEMO, "1.2.0", ">= 1.0.0", unpacked=()),
    SampleLock(DEMO, "1.0.0", ">= 1.0.0", unpacked=(), edition="again"),
)


class Repository:
    """A repository with the branches `main` and `pr`, reviewed by the command line as a pipeline does."""

    def __init__(self, top: Path, registry: DemoRegistry, capsys: pytest.CaptureFixture[str]) -> None:
        self.top = top
        self.registry = registry
        self._capsys = capsys
        git(top, "init", "-q", "-b", "main")
        (top / "main.tf").write_text(REQUIRES)
        self.commit(lock=lock_file(OLD))
        git(top, "checkout", "-q", "-b", "pr")

    def commit(self, *, policy: str | None = None, lock: bytes | None = None) -> None:
        if policy is not None:
            (self.top / POLICY_FILE).write_text(policy)
        if lock is not None:
            (self.top / LOCK).write_bytes(lock)
        commit(self.top, {})

    def commit_to_main(self, policy: str) -> None:
        """Commits a policy to `main`, and leaves `pr` where it branched off."""
        git(self.top, "checkout", "-q", "main")
        self.commit(policy=policy)
        git(self.top, "checkout", "-q", "pr")

    def review(self, *words: str) -> tuple[int, dict[str, Any]]:
        self._capsys.readouterr()
        line = ["review", "main", "--merge-base", "--format", "json", "--no-cache", *words]
        status = main(line, lambda *_: 0)
        told = self._capsys.readouterr()
        assert told.out, told.err
        document: dict[str, Any] = json.loads(told.out)
        validate(document, "review")
        return status, document


@pytest.fixture
def repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Repository]:
    with DemoRegistry({DEMO: ["1.0.0", "1.2.0"]}) as registry:
        lead_to(monkeypatch, registry, tmp_path)
        top = tmp_path / "top"
        top.mkdir()
        monkeypatch.chdir(top)
        yield Repository(top, registry, capsys)


def findings(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    changes = [change for root in document["roots"] for change in root["changes"]]
    found = [*document["findings"], *(one for change in changes for one in change["findings"])]
    return {one["rule"]: one for one in found}


def accepting(document: dict[str, Any], rule: str, **more: str) -> str:
    (change,) = document["roots"][0]["changes"]
    lines = {"rule": rule, "provider": change["provider"], "change": change["id"], "reason": "asked them", "by": "Ann"}
    texts = "".join(f'{key} = "{value}"\n' for key, value in lines.items())
    dates = "".join(f"{key} = {value}\n" for key, value in {"on": "2026-11-20", **more}.items())
    return f"[[accept]]\n{texts}{dates}"


def republished(repository: Repository) -> dict[str, Any]:
    """The review of a branch that takes in a version that was published again."""
    repository.registry.faults = Faults((FaultRule(Fault.REPUBLISHED, DEMO, "1.0.0"),))
    repository.commit(lock=lock_file(AGAIN))
    status, document = repository.review()
    assert (status, findings(document)["LK001"]["severity"]) == (1, "block")
    return document


def test_an_acceptance_of_its_own_passes_nothing(repository: Repository) -> None:
    acceptance = accepting(republished(repository), "LK001")
    repository.commit(policy=acceptance)
    status, document = repository.review()
    assert (status, document["summary"]["verdict"], document["summary"]["accepted"]) == (1, "block", 0)
    found = findings(document)
    assert found["LK001"]["accepted"] is None
    assert (found["LK028"]["severity"], found["LK028"]["line"]) == ("warn", 1)
    assert (
        "locklens.toml differs in the work tree, and the base (main) has none, so none applies: accept.LK001"
        in found["LK028"]["message"]
    )
    proposed = f"pending acceptance of LK001 for {DEMO} (locklens.toml:1), not counted yet: asked them (Ann)"
    assert proposed in document["run"]["notes"]


def test_an_acceptance_in_the_base_passes_this_change_alone(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    acceptance = accepting(republished(repository), "LK001", until="2099-01-01")
    repository.commit_to_main(acceptance)
    status, document = repository.review()
    assert (status, document["summary"]["verdict"]) == (0, "ok")
    assert document["summary"]["accepted"] == 1
    accepted = {"reason": "asked them", "by": "Ann", "on": "2026-11-20", "until": "2099-01-01"}
    assert findings(document)["LK001"]["accepted"] == accepted
    assert "LK028" not in findings(document)
    for form in ("text", "markdown"):
        main(["review", "main", "--merge-base", "--format", form, "--no-cache"], lambda *_: 0)
        told = capsys.readouterr().out
        assert "1 accepted" in told
        assert "counted in each root" not in told, "there is one"
        assert "no findings" not in told
    one_more = SampleLock(DEMO, "1.0.0", ">= 1.0.0", edition="again", more=("zh:" + "0" * 64,))
    repository.commit(lock=lock_file(one_more))
    status, document = repository.review()
    assert (status, findings(document)["LK001"]["accepted"]) == (1, None)
    (unmatched,) = (one for one in document["run"]["notes"] if "match no change here: locklens.toml:1 (LK001" in one)
    assert unmatched.endswith("); remove those whose change is merged or given up"), "it may be of another branch"


def test_an_acceptance_does_not_pass_another_change_that_a_line_feed_makes_look_the_same(
    repository: Repository,
) -> None:
    """The first hash cannot match any package; of the two that its halves are, one is a package of nobody knows whom."""
    first, second = f"zh:e\nzh:{'e' * 64}", ("zh:e", f"zh:{'e' * 64}")
    unknown = "zh:" + "0" * 64
    repository.commit(lock=lock_file(SampleLock(DEMO, "1.0.0", ">= 1.0.0", unpacked=(), more=(unknown, first))))
    status, document = repository.review()
    assert (status, findings(document)["LK002"]["severity"]) == (1, "block")
    repository.commit_to_main(accepting(document, "LK002"))
    repository.commit(lock=lock_file(SampleLock(DEMO, "1.0.0", ">= 1.0.0", unpacked=(), more=(unknown, *second))))
    status, document = repository.review()
    assert (status, findings(document)["LK002"]["accepted"]) == (1, None)


OTHER = "zh:" + "0" * 64


@pytest.mark.parametrize(
    "other",
    [
        SampleLock(DEMO, "1.0.0", ">= 1.0.0", unpacked=(), edition="again", more=(OTHER,)),
        SampleLock(DEMO, "1.0.0", ">= 1.0.0", edition="again"),
        SampleLock(DEMO, "1.0.0", ">= 1.0.0", unpacked=(), packed=("linux_amd64",), edition="again"),
        SampleLock(DEMO, "1.0.0", ">= 0.9.0", unpacked=(), edition="again"),
        SampleLock(DEMO, "1.2.0", ">= 1.0.0", unpacked=(), hashes_of="1.0.0", edition="again"),
    ],
    ids=["one more zh", "one more h1", "fewer zh", "constraints", "version"],
)
def test_an_acceptance_passes_this_change_alone(repository: Repository, other: SampleLock) -> None:
    acceptances = "\n".join(accepting(republished(repository), rule) for rule in ("LK001", "LK002", "LK021", "LK025"))
    repository.commit_to_main(acceptances)
    status, document = repository.review()
    assert (status, document["summary"]["accepted"]) == (0, 1)
    repository.commit(lock=lock_file(other))
    status, document = repository.review()
    assert (status, document["summary"]["verdict"], document["summary"]["accepted"]) == (1, "block", 0)


def test_an_acceptance_by_an_id_of_an_earlier_version_passes_nothing_and_is_named(repository: Repository) -> None:
    acceptance = accepting(republished(repository), "LK001")
    change = re.search('change = "([0-9a-f]+)"', acceptance)
    assert change
    repository.commit_to_main("# ours\n" + acceptance.replace(change[1], change[1][:16]))
    status, document = repository.review()
    assert (status, findings(document)["LK001"]["accepted"]) == (1, None)
    named = [note for note in document["run"]["notes"] if note.startswith("locklens.toml:2: ")]
    assert len(named) == 1
    assert f"the acceptance of LK001 for {DEMO} passes nothing: {change[1][:16]} has 16 digits" in named[0]
    assert "remove it, and accept the finding again" in named[0]
    assert not any("match no change here" in note for note in document["run"]["notes"])


@pytest.mark.parametrize("text", [f"zh:e\nzh:{'e' * 64}", "h1:\0", "zh:e\u202e", "zh: e", "zh:é", "zh:", "h\u200b1:a="])
def test_what_no_tool_writes_as_a_hash_blocks(repository: Repository, text: str) -> None:
    repository.commit(lock=lock_file(SampleLock(DEMO, "1.0.0", ">= 1.0.0", unpacked=(), more=(text,))))
    status, document = repository.review()
    found = findings(document)["LK017"]
    assert (status, found["severity"]) == (1, "block")
    assert "is not written as a hash" in found["message"]


def test_an_expired_acceptance_passes_nothing_and_is_named(repository: Repository) -> None:
    repository.commit_to_main(accepting(republished(repository), "LK001", until="2020-01-01"))
    status, document = repository.review()
    assert (status, findings(document)["LK001"]["accepted"]) == (1, None)
    expired = f"locklens.toml:1: the acceptance of LK001 for {DEMO} expired after 2020-01-01"
    assert expired in document["run"]["notes"]


def test_where_owners_guard_the_policy_the_head_may_accept(repository: Repository) -> None:
    document = republished(repository)
    guarded = 'accept_from = "head"\n'
    repository.commit_to_main(guarded)
    git(repository.top, "rebase", "-q", "main")
    repository.commit(policy=guarded + accepting(document, "LK001"))
    status, document = repository.review("--fail-on", "warn")
    assert (status, document["summary"]["accepted"]) == (0, 1)
    assert findings(document)["LK028"]["severity"] == "info"
    repository.commit(policy=guarded + "cooldown = 0\n" + accepting(document, "LK001"))
    status, document = repository.review("--fail-on", "warn")
    assert (status, findings(document)["LK028"]["severity"]) == (1, "warn")


@pytest.mark.parametrize("form", ["text", "markdown", "sarif", "junit", "codequality"])
def test_every_report_says_that_the_change_modifies_its_policy(
    repository: Repository, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    repository.commit(policy="cooldown = 0\n")
    capsys.readouterr()
    status = main(["review", "main", "--merge-base", "--format", form, "--no-cache", "--fail-on", "warn"], lambda *_: 0)
    told = capsys.readouterr().out
    assert (status, "LK028" in told, "locklens.toml" in told) == (1, True, True)


FIRST = (
    "Review the policy as a change of its own, and merge it first: where a check is required, an owner merges it over"
)
OWNERS, OUT_OF_DATE = "where code owners guard the file", "or compare since the common ancestor (--merge-base)."
AT_ONCE, INFO = (
    f'or the base says accept_from = "head", {OWNERS}',
    f'or the base has LK028 = "info" below [severity], {OWNERS}',
)


@pytest.mark.parametrize(
    ("base", "policy", "sides", "words"),
    [
        ("cooldown = 7\n", "cooldown = 3\n", ("main", "--merge-base"), f"{FIRST} the failed one, {INFO}."),
        ("cooldown = 7\n", "cooldown = 3\n", ("main",), f"{FIRST} the failed one, {INFO}; {OUT_OF_DATE}"),
        ("cooldown = 7\n", "cooldown = 7\n", ("main", "--merge-base"), f"{FIRST} the failed one, {AT_ONCE}."),
        ("cooldown = 7\n", "cooldown = 7\n", ("main",), f"{FIRST} the failed one, {AT_ONCE}; {OUT_OF_DATE}"),
        ("accept_from = 'head'\n", "cooldown = 3\n", ("main", "--merge-base"), f"{FIRST} the failed one, {INFO}."),
        ("cooldown = 7\n", "cooldown = 'x'\n", ("main",), f"Correct it. {FIRST} the failed one."),
        ("", "cooldown = 3\n", ("main",), f"{FIRST} the failed one."),
    ],
)
def test_what_to_do_about_a_policy_fits_how_it_differs(
    repository: Repository,
    capsys: pytest.CaptureFixture[str],
    base: str,
    policy: str,
    sides: tuple[str, ...],
    words: str,
) -> None:
    if base:
        repository.commit_to_main(f"# ours\n{base}{pinning('A' * 40)}")
        git(repository.top, "rebase", "-q", "main")
    repository.commit(policy="# ours\n" + policy + pinning("B" * 40))
    capsys.readouterr()
    main(["review", *sides, "--format", "text", "--no-cache", "--fail-on", "warn"], lambda *_: 0)
    told = " ".join(capsys.readouterr().out.split()).partition("what to do about LK028 (1 finding): ")[2]
    first, _, last = words.partition("; ")
    assert told.startswith(first)
    assert (last or first) in told
    assert ("ancestor" in told) == ("ancestor" in words)


def test_a_policy_is_named_by_its_first_line_that_differs_and_by_what_that_does(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit_to_main("# ours\ncooldown = 7\n" + pinning("A" * 40))
    git(repository.top, "rebase", "-q", "main")
    repository.commit(policy="# ours\ncooldown = 3\n" + pinning("B" * 40))
    assert findings(repository.review()[1])["LK028"]["line"] == 2, "of what is named first"
    guarded = "accept_from = 'head'\n"
    repository.commit_to_main(guarded)
    for policy, title in (
        (guarded + pinning("B" * 40), "The change accepts findings or pins keys, as the base permits"),
        (f"# theirs\n{guarded}", "The policy differs in comments or layout alone"),
    ):
        repository.commit(policy=policy)
        capsys.readouterr()
        main(["review", "main", "--format", "markdown", "--no-cache"], lambda *_: 0)
        assert f"**LK028 info** {title}: " in capsys.readouterr().out


@pytest.mark.parametrize(("severity", "status"), [("warn", 1), ("info", 0)])
def test_a_base_may_say_that_an_edit_of_the_policy_is_information(
    repository: Repository, severity: str, status: int
) -> None:
    base = f"fail_on = 'warn'\n[severity]\nLK028 = '{severity}'\n"
    repository.commit_to_main(base)
    git(repository.top, "rebase", "-q", "main")
    repository.commit(policy=f"cooldown = 3\n{base}")
    assert repository.review()[0] == status


LOOSE = {
    "severity": ("[severity]\nLK001 = 'off'\nLK028 = 'off'\n", "severity"),
    "allow list": ("allow = ['*/*']\n", "allow"),
    "threshold": ("fail_on = 'never'\n", "fail_on"),
    "side": ("accept_from = 'head'\n", "accept_from"),
    "mistake": ("cooldwn = 7\n", 'unknown key "cooldwn"; did you mean "cooldown"?'),
}


@pytest.mark.parametrize("name", LOOSE)
def test_a_looser_policy_of_its_own_passes_nothing(repository: Repository, name: str) -> None:
    repository.commit_to_main("allow = ['hashicorp/*']\nfail_on = 'warn'\n")
    git(repository.top, "rebase", "-q", "main")
    republished(repository)
    policy, words = LOOSE[name]
    repository.commit(policy=policy)
    status, document = repository.review()
    found = findings(document)
    assert (status, found["LK001"]["severity"], found["LK022"]["severity"]) == (1, "block", "block")
    assert words in found["LK028"]["message"]


def test_each_value_that_differs_is_named_as_both_sides_have_it(repository: Repository) -> None:
    repository.commit_to_main("cooldown = 7\nallow = ['hashicorp/*']\n")
    git(repository.top, "rebase", "-q", "main")
    repository.commit(policy="cooldown = 3\n[severity]\nLK001 = 'off'\n")
    lead = "locklens.toml differs in the work tree, and that of the base (main) applies: "
    values = 'cooldown "7 days" -> "3 days"; allow "hashicorp/*" -> "every provider"; severity.LK001 "block" -> "off"'
    assert findings(repository.review()[1])["LK028"]["message"] == lead + values


def test_of_lists_the_entries_that_are_added_and_removed_are_named(repository: Repository) -> None:
    """What was equal on both sides was long enough to cut off what a change allows and pins."""
    keys, allow = [letter * 40 for letter in "ABC"], [f"'namespace-{number}/*'" for number in range(9)]

    def policy(allowed: list[str], pinned: list[str], more: str = "") -> str:
        pins = ", ".join(f"'{key}'" for key in pinned)
        return f"allow = [{', '.join(allowed)}]\n[trust.acme]\nkeys = [{pins}]\n{more}"

    def differences() -> str:
        message: str = findings(repository.review()[1])["LK028"]["message"]
        return message.partition(" applies: ")[2].partition("; it lacks")[0]

    repository.commit_to_main(policy(allow, keys[:2]))
    git(repository.top, "rebase", "-q", "main")
    repository.commit_to_main(policy([*allow, "'theirs/*'"], keys[:2]))
    repository.commit(policy=policy([*allow[1:], "'multi/*'"], keys[1:]))
    pinned = f'trust.acme: + "{keys[2]}", - "{keys[0]}"'
    assert differences() == f'allow: + "multi/*", - "namespace-0/*"; {pinned}'
    repository.commit(policy=policy([*allow[1:], allow[0]], keys, "[trust.other]\nkeys = ['" + "D" * 40 + "']\n"))
    pinned = f'trust.acme: + "{keys[2]}"; trust.other absent -> "{"D" * 40}"'
    assert differences() == f"allow: in another order; {pinned}"
    severities = "".join(f"LK0{number} = 'off'\n" for number in range(11, 23))
    repository.commit(policy=f"[severity]\n{severities}")
    told = differences()
    assert f'trust.acme "{keys[0]}, {keys[1]}" -> absent' in told, "no other edit hides that a pin is removed"
    assert told.count(' -> "off"') == 12


def test_the_same_edit_on_both_branches_is_no_change_of_the_head(repository: Repository) -> None:
    first = "[platforms]\nlinux_amd64 = 'CI'\n"
    repository.commit_to_main(f"fail_on = 'warn'\n{first}")
    git(repository.top, "rebase", "-q", "main")
    same = f"{first}darwin_arm64 = 'laptops'\n"
    repository.commit_to_main(f"fail_on = 'block'\n{same}windows_amd64 = 'agents'\n")
    repository.commit(policy=f"fail_on = 'warn'\n{same}")
    assert "LK028" not in findings(repository.review()[1])
    repository.commit(policy=f"fail_on = 'warn'\n{same}linux_arm64 = 'agents'\n")
    message = findings(repository.review()[1])["LK028"]["message"]
    assert 'applies: platforms.linux_arm64 absent -> "agents"; it lacks' in message
    repository.commit(policy="fail_on = 'warn'\n[platforms]\ndarwin_arm64 = 'laptops'\n")
    message = findings(repository.review()[1])["LK028"]["message"]
    assert 'applies: platforms.linux_amd64 "CI" -> absent; it lacks' in message


def test_what_the_base_alone_changed_since_the_fork_point_is_no_change_of_the_head(repository: Repository) -> None:
    before, after = "A" * 40, "B" * 40
    repository.commit_to_main("cooldown = 7\n" + pinning(before))
    git(repository.top, "rebase", "-q", "main")
    repository.commit(policy="cooldown = 3\nfail_on = 'warn'\n" + pinning(before))
    repository.commit_to_main("cooldown = 9\nallow = ['hashicorp/*']\n" + pinning(after))
    status, document = repository.review()
    lead = "locklens.toml differs in the work tree, and that of the base (main) applies: "
    values = 'cooldown "9 days" -> "3 days"; fail_on "block" -> "warn"'
    lacking = "; it lacks what the base (main) changed since (cooldown, allow, trust): bring the branch up to date "
    assert (status, findings(document)["LK028"]["message"]) == (
        0,
        f"{lead}{values}{lacking}before it replaces the base's",
    )
    assert not [note for note in document["run"]["notes"] if "pending" in note]


@pytest.mark.parametrize("guarded", ["", 'accept_from = "head"\n'])
@pytest.mark.parametrize("sides", [("main", "--merge-base"), ("main",)])
@pytest.mark.parametrize("began", ["", "cooldown = 3\n"])
def test_an_edit_of_a_policy_that_lacks_rules_of_the_base_says_so(
    repository: Repository, capsys: pytest.CaptureFixture[str], guarded: str, sides: tuple[str, ...], began: str
) -> None:
    """On the base, the file of the branch would replace the base's, which has rules that the branch began without."""
    if began:
        repository.commit_to_main(began)
        git(repository.top, "rebase", "-q", "main")
    other_signer(repository)
    pinned = pinning(publisher("acme").key.fingerprint)
    policy = f"{guarded}cooldown = 7\nallow = ['acme/demo', 'hashicorp/*']\n[severity]\nLK016 = 'off'\n{pinned}"
    repository.commit_to_main(policy)

    def edit(*words: str) -> str:
        capsys.readouterr()
        assert main([*words, "--by", "Ann", "--no-cache"], lambda *_: 0) == 0
        return " ".join(capsys.readouterr().err.split())

    accept = ("accept", "LK010", "acme/demo", "--reason", "tested", "--base", *sides)
    lacking = f"cooldown, allow, {'accept_from, ' if guarded else ''}severity, trust"
    words = f"warning: locklens.toml: lacks what main changed in it since this branch began: {lacking}"
    assert words in edit(*accept, "--dry-run")
    assert f"{words} hint: bring the branch up to date first" in edit(
        "keys", "trust", "acme", "--base", "main", "--dry-run"
    )
    assert words in edit(*accept)
    repository.commit()
    capsys.readouterr()
    main(["review", *sides, "--format", "json", "--no-cache"], lambda *_: 0)
    message = findings(json.loads(capsys.readouterr().out))["LK028"]["message"]
    named = f"; it lacks what the base (main) changed since ({lacking}): bring the branch up to date before it replaces the base's"
    assert message.endswith(named)
    git(repository.top, "reset", "-q", "--hard", "HEAD~1")
    git(repository.top, "rebase", "-q", "main")
    assert "lacks" not in edit(*accept)
    repository.commit()
    git(repository.top, "checkout", "-q", "main")
    git(repository.top, "checkout", "-q", "pr", "--", POLICY_FILE)
    assert (repository.top / POLICY_FILE).read_text().startswith(policy)


def test_an_edit_that_the_base_made_too_is_no_change_of_the_head(repository: Repository) -> None:
    repository.commit_to_main("cooldown = 3\n")
    git(repository.top, "rebase", "-q", "main")
    repository.commit(policy="cooldown = 14\n")
    repository.commit_to_main("cooldown = 14\n[severity]\nLK024 = 'block'\n")
    assert "LK028" not in findings(repository.review()[1])


def test_what_the_base_no_longer_accepts_is_not_accepted_by_a_head_that_still_has_it(repository: Repository) -> None:
    document = republished(repository)
    guarded, accepted = 'accept_from = "head"\n', accepting(document, "LK001")
    repository.commit_to_main(guarded + accepted)
    git(repository.top, "rebase", "-q", "main")
    assert findings(repository.review()[1])["LK001"]["accepted"]
    repository.commit_to_main(guarded)
    repository.commit(policy=guarded + accepted + pinning("A" * 40))
    status, document = repository.review()
    assert (status, findings(document)["LK001"]["accepted"]) == (1, None)


def test_the_same_in_the_base_passes(repository: Repository) -> None:
    republished(repository)
    repository.commit_to_main("allow = ['acme/demo < 2.0']\n[severity]\nLK001 = 'off'\n")
    status, document = repository.review()
    assert (status, document["summary"]["verdict"]) == (0, "ok")
    assert not {"LK001", "LK022"} & findings(document).keys()
    repository.commit_to_main("allow = ['acme/demo > 2.0']\nfail_on = 'never'\n")
    status, document = repository.review()
    message = f"{DEMO} 1.0.0 is not allowed: locklens.toml:1 allows > 2.0.0"
    assert (status, findings(document)["LK022"]["message"]) == (0, message)
    assert repository.review("--fail-on", "block")[0] == 1


@pytest.mark.parametrize(
    ("allowed", "advice"), [("acme/demo > 2.0", "select an allowed version"), ("other/*", "no version")]
)
def test_what_to_do_about_a_provider_that_is_not_allowed_fits_the_list(
    repository: Repository, capsys: pytest.CaptureFixture[str], allowed: str, advice: str
) -> None:
    repository.commit_to_main(f"allow = ['{allowed}']\n")
    repository.commit(lock=lock_file(NEW))
    capsys.readouterr()
    main(["review", "main", "--merge-base", "--format", "text", "--no-cache"], lambda *_: 0)
    told = " ".join(capsys.readouterr().out.split()).partition("what to do about LK022")[2]
    assert [words in told for words in ("select an allowed version", "no version")] == [
        words == advice for words in ("select an allowed version", "no version")
    ]


def pinning(key: str, more: str = "") -> str:
    return f'[trust."acme"]\nkeys = ["{key}"]\nwhy = "their page"\n{more}'


def other_signer(repository: Repository) -> str:
    """Has 1.2.0 signed by another key, locks it, and returns its fingerprint."""
    repository.registry.faults = Faults((FaultRule(Fault.OTHER_SIGNER, DEMO, "1.2.0"),))
    repository.commit(lock=lock_file(NEW))
    status, document = repository.review()
    (change,) = document["roots"][0]["changes"]
    assert (status, findings(document)["LK010"]["severity"]) == (0, "warn")
    key: str = change["signer"]["new"]["keys"][0]["fingerprint"]
    return key


def test_a_pin_of_its_own_passes_no_key_and_one_of_the_base_does(repository: Repository) -> None:
    key, before = other_signer(repository), publisher("acme").key.fingerprint
    repository.commit_to_main(pinning(before))
    git(repository.top, "rebase", "-q", "main")
    repository.commit(policy=pinning(key))
    status, document = repository.review()
    found = findings(document)
    assert (status, found["LK010"]["severity"]) == (1, "block")
    assert found["LK010"]["message"] == f"signed by {key}; the policy pins acme to {before} (locklens.toml:1)"
    assert found["LK028"]["severity"] == "warn"
    note = f"pending pin of acme to {key} (locklens.toml:1), not counted yet: their page"
    assert note in document["run"]["notes"]
    git(repository.top, "checkout", "-q", "main")
    repository.commit(policy=pinning(f'{before}", "{key}'))
    git(repository.top, "checkout", "-q", "pr")
    status, document = repository.review()
    assert (status, "LK010" in findings(document)) == (0, False)


def test_what_a_branch_has_of_an_older_base_is_not_pending(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """A merge leaves it as the base has it; where the base permits what a branch pins, it does not count either."""
    key, before = other_signer(repository), publisher("acme").key.fingerprint
    repository.commit_to_main(pinning(before))
    git(repository.top, "rebase", "-q", "main")

    def said() -> tuple[int, str]:
        status = main(["review", "main", "--format", "text", "--no-cache"], lambda *_: 0)
        return status, " ".join(capsys.readouterr().out.split())

    for permitted in ("", 'accept_from = "head"\n'):
        repository.commit_to_main(permitted + pinning(f'{before}", "{key}'))
        status, text = said()
        assert (status, "LK010" in text, "pending pin" in text) == (0, False, False)
    repository.commit_to_main(pinning(f'{before}", "{key}'))
    repository.commit(policy=pinning(key))
    assert f"pending pin of acme to {key} (locklens.toml:1), not counted yet" in said()[1]


def test_the_new_key_of_a_pinned_namespace_counts_by_the_steps_of_its_advice(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one provider of the namespace has the new key, so that only the policy and the base vouch for the old one."""
    new, old = other_signer(repository), publisher("acme").key.fingerprint
    repository.commit_to_main(pinning(old))
    assert main(["review", "main", "--merge-base", "--format", "text", "--no-cache"], lambda *_: 0) == 1
    advice = " ".join(capsys.readouterr().out.split()).partition("what to do about LK010")[2]
    assert "With the branch checked out and up to date with the base, T on Signers or `locklens keys trust" in advice
    assert "commit locklens.toml alone on the base" in advice

    def trust(*words: str) -> tuple[int, str]:
        status = main(["keys", "trust", "acme", "--by", "Ann", "--no-cache", *words], lambda *_: 0)
        return status, " ".join(capsys.readouterr().err.split())

    git(repository.top, "checkout", "-q", "main")
    status, err = trust("--key", new)
    assert (status, "a key of another branch is pinned with that branch checked out" in err) == (2, True)
    git(repository.top, "checkout", "-q", "pr")
    git(repository.top, "rebase", "-q", "main")
    assert trust("--key", old, "--key", new, "--key", "A" * 40)[0] == 2, "a key that nothing vouches for"
    status, err = trust("--key", new, "--dry-run")
    left_out = f"warning: locklens.toml: {old}, pinned now, is left out of the pin"
    assert (status, left_out in err) == (0, True), err
    status, err = trust("--base", "main", "--key", old, "--key", new)
    assert (status, "warning" in err) == (0, False), err
    repository.commit()
    git(repository.top, "checkout", "-q", "main")
    git(repository.top, "checkout", "-q", "pr", "--", POLICY_FILE)
    repository.commit()
    assert main(["health", "--format", "text", "--no-cache"], lambda *_: 0) == 0
    assert "LK010" not in capsys.readouterr().out, "the old key is valid on the base until the change is merged"
    git(repository.top, "checkout", "-q", "pr")
    status, document = repository.review()
    assert (status, "LK010" in findings(document)) == (0, False)
    status, err = trust("--why", "renewed", "--dry-run")
    assert (status, left_out in err) == (0, True), "the pin of those that sign now has one key less"


def test_a_key_that_signs_what_the_base_locks_is_pinned_beside_the_new_one(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    new, old = other_signer(repository), publisher("acme").key
    trust = ["keys", "trust", "acme", "--by", "Ann", "--no-cache", "--key", new]
    assert main([*trust, "--key", old.fingerprint], lambda *_: 0) == 2
    assert "one that signs what a base locks, or that it pins, with --base REV" in " ".join(
        capsys.readouterr().err.split()
    )
    assert main([*trust, "--base", "main", "--dry-run", "--json"], lambda *_: 0) == 0
    assert "--base" not in json.loads(capsys.readouterr().out.splitlines()[-1])["command"], "what signs now needs none"
    assert main([*trust, "--base", "main", "--key", old.fingerprint, "--dry-run", "--json"], lambda *_: 0) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["command"].endswith(" --by Ann --base main")
    assert main([*trust, "--base", "main", "--dry-run"], lambda *_: 0) == 0
    told = f"acme/demo 1.0.0, in the base: signed by {old.fingerprint} ({old.user_id}), which is not pinned"
    assert told in " ".join(capsys.readouterr().err.split())
    assert main([*trust, "--base", "main", "--key", old.fingerprint], lambda *_: 0) == 0
    told = f"{old.fingerprint}: {old.user_id}, signs acme/demo 1.0.0 of the base"
    assert told in " ".join(capsys.readouterr().out.split())


def test_a_key_of_a_base_that_was_published_again_is_not_pinned(repository: Repository) -> None:
    """Which key signed what was locked is unknown: it may have been another one."""
    new, old = other_signer(repository), publisher("acme").key.fingerprint
    repository.registry.faults = Faults(
        (FaultRule(Fault.OTHER_SIGNER, DEMO, "1.2.0"), FaultRule(Fault.REPUBLISHED, DEMO, "1.0.0"))
    )
    trust = ["keys", "trust", "acme", "--by", "Ann", "--no-cache", "--base", "main"]
    assert main([*trust, "--key", new, "--key", old], lambda *_: 0) == 2
    assert main([*trust, "--key", new], lambda *_: 0) == 0


def test_a_pin_that_is_due_is_named_and_an_unsigned_release_contradicts_it(repository: Repository) -> None:
    key = other_signer(repository)
    repository.commit_to_main(pinning(key, "review_by = 2020-01-01\n"))
    status, document = repository.review()
    assert (status, "LK010" in findings(document)) == (0, False)
    assert "locklens.toml:1: the pin of acme was to be reviewed by 2020-01-01" in document["run"]["notes"]


def test_a_host_of_its_own_is_not_asked(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    host = "r.example.test"
    lock = lock_file(OLD, SampleLock(f"{host}/acme/demo", "1.0.0"))
    repository.commit(policy=f"hosts = ['{host}']\n", lock=lock)
    asked = {one["host"]: one["asked"] for one in repository.review()[1]["run"]["hosts"]}
    assert asked[host] is False
    repository.commit_to_main(f"hosts = ['{host}']\n")
    asked = {one["host"]: one["asked"] for one in repository.review()[1]["run"]["hosts"]}
    assert asked[host] is True


MODULES = {
    'source = "acme/network/aws"\n  version = "~> 1.0"': True,
    'source = "acme/network/aws"': True,
    'source = "acme/network/aws"\n  version = "1.2.3"': False,
    'source = "git::https://example.test/m.git?ref=main"': True,
    'source = "git::https://example.test/m.git?ref=v1.2.0"': False,
    f'source = "git::https://example.test/m.git?ref={"a" * 40}"': False,
    'source = "https://example.test/m.zip"': True,
    'source = "./local"': False,
}


@pytest.mark.parametrize(("call", "is_told"), MODULES.items())
def test_a_module_call_that_is_not_exact(repository: Repository, call: str, is_told: bool) -> None:
    (repository.top / "main.tf").write_text(f'{REQUIRES}module "m" {{\n  {call}\n}}\n')
    put(repository.top / "local", {"x.tf": ""})
    repository.commit(lock=lock_file(NEW))
    assert not [one for one in repository.review()[1]["roots"][0]["findings"] if one["rule"] == "LK029"]
    repository.commit_to_main("[severity]\nLK029 = 'warn'\n")
    told = [one for one in repository.review()[1]["roots"][0]["findings"] if one["rule"] == "LK029"]
    assert [(one["severity"], one["file"], one["line"]) for one in told] == [("warn", "main.tf", 6)] * is_told
