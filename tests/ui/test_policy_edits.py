"""Acceptances and pins from the screens: asked for in a form, shown in a Preview, and written on enter."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kit.git import git
from kit.registries import environ_of
from kit.repositories import put, repository
from kit.schemas import json_report
from msgspec.structs import replace
from ui.conftest import Running, Samples, until
from ui.test_preview import PreviewDriver

from locklens.demo import SampleLock, lock_file
from locklens.demo.faults import Fault
from locklens.demo.registry import DemoRegistry
from locklens.demo.signing import publisher
from locklens.operations.compare import open_git
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.operations.write.policy_edits import Decision, accept_findings
from locklens.policy import POLICY_FILE
from locklens.releases import NetworkSettings
from locklens.review.findings import Severity
from locklens.review.model import SideName
from locklens.review.reports.lock_lines import grouped, keys_text
from locklens.storage.cache import Cache
from locklens.ui.app import LockLensApp
from locklens.ui.dialogs.form import FormDialog, date_problem, digits_problem, reason_problem, rules_problem
from locklens.ui.review.actions import accepting
from locklens.ui.review.outline import Node, NodeKind, RootChange
from locklens.ui.signers import SignersScreen

HOME, LOCK = "registry.terraform.io", ".terraform.lock.hcl"
DEMO = f"{HOME}/acme/demo"
TODAY = date(2026, 5, 4)
KEYS = ("A" * 32 + "0123ABCD", "B" * 32 + "4567CDEF")
Opening = Callable[..., AbstractAsyncContextManager[PreviewDriver]]


@pytest.fixture
def registry() -> Iterator[DemoRegistry]:
    with DemoRegistry({DEMO: ["1.0.0", "1.2.0"]}) as running:
        yield running


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GIT_AUTHOR_NAME", raising=False)
    (Path.home() / ".gitconfig").write_text("[user]\n\tname = Ann Example\n\temail = ann@example.com\n")
    top = repository(tmp_path / "top", {f"live/{LOCK}": lock_file(SampleLock(DEMO, "1.0.0"))})
    (top / "live" / LOCK).write_bytes(lock_file(SampleLock(DEMO, "1.2.0")))
    monkeypatch.chdir(top)
    return top


@pytest.fixture
def opening(running: Running, top: Path, registry: DemoRegistry, tmp_path: Path) -> Opening:
    environ = environ_of(registry, tmp_path)

    @asynccontextmanager
    async def run(*, size: tuple[int, int] = (120, 40)) -> AsyncIterator[PreviewDriver]:
        with Cache(tmp_path / "cache.sqlite3") as cache:
            source = LockLens(ReviewRequest(partial(open_git, top), network=NetworkSettings(environ, cache)))
            async with running(source, size=size, settled=False) as shown:
                driver = PreviewDriver(shown.app, shown.pilot)
                await driver.reviewed()
                yield driver

    return run


def policy(top: Path) -> dict[str, Any]:
    return tomllib.loads((top / POLICY_FILE).read_text())


def commit_policy(top: Path, text: str) -> None:
    (top / POLICY_FILE).write_text(text)
    git(top, "add", POLICY_FILE)
    git(top, "commit", "-qm", "policy")


async def form(on: PreviewDriver, words: str) -> None:
    await until(on, lambda: isinstance(on.app.screen, FormDialog) and words in on.text)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_finding_is_accepted_with_a_reason_and_a_date(
    opening: Opening, top: Path, size: tuple[int, int]
) -> None:
    async with opening(size=size) as on:
        await on.go_to("acme/demo")
        await on.press("A")
        await form(on, "Accept a finding about acme/demo")
        assert on.app.focused is not None
        assert on.app.focused.id == "field-reason", "what is typed first is the reason, and replaces no rule"
        await on.press("enter")
        await form(on, "a reason is needed")
        await on.press(*"checked", "enter", *"2020-01-01", "enter")
        await form(on, "2020-01-01 has passed")
        await on.press(*("backspace",) * 10, *"2999-01-01", "enter")
        await until(on, on.has_preview)
        await on.ready()
        assert POLICY_FILE in on.plan
        assert "locklens accept" in on.plan
        assert "policy: locklens.toml edited, no lock file changes" in on.plan
        assert "the edit counts once HEAD has it: commit the file" in on.plan
        assert "hashes:" not in on.plan
        assert "inside" not in on.lines[-1], "the plan changes no provider"
        assert not (top / POLICY_FILE).exists()
        await on.press("enter")
        await until(on, lambda: (top / POLICY_FILE).exists())
        await until(on, lambda: "LK028" in on.text)

        def standing() -> str:
            return next(row.standing for row in on.changes.rows if row.node.title == "acme/demo")

        await until(on, lambda: standing() == "A")
        await on.go_to("acme/demo")
        detail = "\n".join(shown.text for shown in on.screen.detail.lines)
        assert "pending acceptance: checked (Ann Example, until 2999-01-01)" in detail
        assert "locklens.toml:1: counts once it is committed on the base" in detail
        for words in (["add", POLICY_FILE], ["commit", "-qm", "accepted"]):
            subprocess.run(["git", *words], cwd=top, check=True)
        await on.press("r")
        await until(on, lambda: standing() == "")
    (accepted,) = policy(top)["accept"]
    assert (accepted["provider"], accepted["reason"], accepted["by"]) == (DEMO, "checked", "Ann Example")
    assert accepted["until"] == date(2999, 1, 1)


def test_the_equivalent_command_compares_with_the_reviewed_base(top: Path, samples: Samples) -> None:
    git(top, "switch", "-qc", "topic")
    git(top, "commit", "-qam", "change")
    review = samples.review(samples.root("live", [samples.change(findings=(samples.finding("LK027", Severity.INFO),))]))
    decision = Decision("checked", "Ann Example", date(2026, 1, 1))
    for name, words in (("main...HEAD", "--base main --merge-base"), ("main", "--base main"), ("HEAD", "")):
        compared = replace(review, base=replace(review.base, name=name, fork_of="main" if "..." in name else ""))
        command = (
            accept_findings(compared, top, "LK027", {samples.address()}, decision=decision).plan().proposal.command
        )
        assert command.removeprefix("locklens accept LK027 registry.terraform.io/hashicorp/aws --reason checked") == (
            f" {words}" if words else ""
        )


def test_the_equivalent_command_names_the_root_where_others_change_the_provider_in_another_way(
    top: Path, samples: Samples
) -> None:
    changes = [
        samples.change(findings=(samples.finding("LK027", Severity.INFO),), salt=name) for name in ("live", "other")
    ]
    one, other = samples.root("live", changes[:1]), samples.root("other", changes[1:])
    review = samples.review(one, other)
    decision = Decision("checked", "Ann Example", date(2026, 1, 1))
    for chosen, words in ((((one, changes[0]),), " -- live"), (((one, changes[0]), (other, changes[1])), "")):
        node = Node("key", NodeKind.GROUP, "aws", subjects=tuple(RootChange(*pair) for pair in chosen))
        command = accepting(node, review, top, ["LK027"], decision).plan().proposal.command
        assert command.partition(" && ")[0].endswith(f"--reason checked{words}")


def test_what_the_policy_of_the_branch_lacks_is_warned_of(top: Path, samples: Samples) -> None:
    change = samples.change(findings=(samples.finding("LK027", Severity.INFO),))
    root = samples.root("live", [change])
    node = Node("key", NodeKind.CHANGE, "aws", subjects=(RootChange(root, change),))
    decision, fork = (
        Decision("checked", "Ann Example", date(2026, 1, 1)),
        SideName("git", "main...HEAD", "a" * 40, "main"),
    )
    for lacking, words in (
        ((), []),
        (("allow", "trust"), ["lacks what main changed in it since this branch began: allow, trust"]),
    ):
        review = replace(samples.review(root), base=fork, policy_lacking=lacking)
        plan = accepting(node, review, top, ["LK027"], decision).plan()
        assert [one.detail for one in plan.diagnostics] == words


async def test_a_name_that_git_does_not_know_is_asked_for(opening: Opening, top: Path) -> None:
    """The form was lost with all that was typed into it, and the message named an option of the command line."""
    (Path.home() / ".gitconfig").unlink()
    async with opening() as on:
        await on.go_to("acme/demo")
        await on.press("A")
        await form(on, "your name (git has none")
        if "findings to accept" in on.text:
            await on.press("enter")
        await on.press(*"checked", "enter", "enter")
        await form(on, "a name is needed")
        await on.press(*"Bo Example", "enter", "enter")
        await until(on, on.has_preview)
        await on.ready()
        assert "--by 'Bo Example'" in on.plan
        await on.press("enter")
        await until(on, lambda: (top / POLICY_FILE).exists())
    (accepted,) = policy(top)["accept"]
    assert (accepted["reason"], accepted["by"]) == ("checked", "Bo Example")


async def test_what_cannot_be_accepted_is_said(opening: Opening, top: Path) -> None:
    async with opening() as on:
        await on.press("g", "A")
        assert "select the change of one provider" in on.text
        await on.go_to("acme/demo")
        await on.press("A")
        await form(on, "Accept a finding")
        await on.press("escape")
        assert not on.has_preview()
        assert not (top / POLICY_FILE).exists()


async def test_a_key_is_pinned_by_its_last_digits_and_the_pin_dropped(opening: Opening, top: Path) -> None:
    commit_policy(top, "cooldown = 1\n")
    async with opening() as on:
        await on.press("4")
        await until(on, lambda: isinstance(on.app.screen, SignersScreen) and not on.app.screen.is_asking)
        screen = on.app.screen
        assert isinstance(screen, SignersScreen)
        await until(on, lambda: screen.left.current is not None and screen.left.current.signer.key is not None)
        row = screen.left.current
        assert row is not None
        assert row.signer.key is not None
        fingerprint = row.signer.key.fingerprint
        await on.press("D")
        await until(on, lambda: f"{POLICY_FILE} has no pin of acme" in on.text)
        await on.press("T")
        await form(on, "Pin acme to this key")
        assert fingerprint in on.text
        await on.press(*"00000000", "enter")
        await form(on, "00000000 are not the last digits of the key")
        await on.press(*("backspace",) * 8, *fingerprint[-8:].lower(), "enter", *"phoned", "enter", "enter")
        await until(on, on.has_preview)
        await on.ready()
        assert "locklens keys trust acme --why phoned" in on.plan
        await on.press("enter")
        await until(on, lambda: "trust" in policy(top) and not on.has_preview())
        pinned = policy(top)["trust"]["acme"]
        assert (pinned["keys"], pinned["why"], pinned["by"]) == ([fingerprint], "phoned", "Ann Example")
        await until(on, lambda: not screen.is_asking and "D drop pin" in on.lines[-1])
        assert "pinned" not in {row.state.text for row in screen.left.rows}, "the base has no pin yet"
        git(top, "add", POLICY_FILE)
        await on.press("D")
        await until(on, on.has_preview)
        await on.ready()
        assert "locklens keys drop acme" in on.plan
        assert "locklens.toml is as in HEAD again" in on.plan
        assert "git's index keeps what is staged of locklens.toml: the next commit has it" in on.plan
        await on.press("enter")
        await until(on, lambda: "trust" not in policy(top))
        git(top, "restore", "--staged", POLICY_FILE)
        assert git(top, "status", "--porcelain", POLICY_FILE) == "", "every byte is as it was"


async def test_one_of_several_keys_of_a_namespace_is_pinned_alone(
    opening: Opening, top: Path, registry: DemoRegistry
) -> None:
    earlier, later = publisher("acme").key, publisher("acme-new-owner").key
    registry.faults.add(Fault.OTHER_SIGNER, DEMO, "1.2.0")
    commit_policy(top, f'[trust.acme]\nkeys = ["{earlier.fingerprint}"]\nby = "Ann"\nwhy = "phoned"\n')
    put(top / "live" / "next", {LOCK: lock_file(SampleLock(DEMO, "1.0.0"))})
    async with opening(size=(80, 24)) as on:
        await on.press("4")
        await until(on, lambda: isinstance(on.app.screen, SignersScreen) and not on.app.screen.is_asking)
        screen = on.app.screen
        assert isinstance(screen, SignersScreen)
        while screen.left.current is None or screen.left.current.signer.key.fingerprint != later.fingerprint:  # type: ignore[union-attr]
            await on.press("j")
        await on.press("T")
        await form(on, "Pin acme to some of these keys")
        told = " ".join(on.text.replace("│", " ").split())
        named = f"key {earlier.fingerprint} {earlier.user_id} pinned now signs acme/demo 1.0.0"
        assert f"key {later.fingerprint} {later.user_id} signs acme/demo 1.2.0 {named}" in told, "that of the row first"
        await on.press(*later.fingerprint[-8:], "enter", *"phoned", "enter", "enter")
        await until(on, on.has_preview)
        await on.ready()
        plan = " ".join(on.plan.split())
        assert f"locklens keys trust acme --key={later.fingerprint} --why phoned" in plan
        assert f"acme/demo 1.0.0: signed by {earlier.fingerprint} ({earlier.user_id}), which is not pinned" in plan
        await on.press("enter")
        await until(on, lambda: policy(top)["trust"]["acme"]["keys"] == [later.fingerprint])


async def test_the_old_key_of_a_rotation_is_offered_beside_the_new_one(
    opening: Opening, top: Path, registry: DemoRegistry
) -> None:
    """No release that is locked here is signed by it any more: the base locks one, or a pin names it."""
    old, new, gone = publisher("acme").key, publisher("acme-new-owner").key, KEYS[0]
    registry.faults.add(Fault.OTHER_SIGNER, DEMO, "1.2.0")
    commit_policy(top, f'[trust.acme]\nkeys = ["{old.fingerprint}", "{gone}"]\nby = "Ann"\nwhy = "phoned"\n')
    async with opening(size=(100, 40)) as on:
        await on.press("4")
        await until(on, lambda: isinstance(on.app.screen, SignersScreen) and not on.app.screen.is_asking)
        await on.press("T")
        await form(on, "Pin acme to some of these keys")
        told = " ".join(on.text.replace("│", " ").split())
        assert f"key {old.fingerprint} {old.user_id} pinned now signs acme/demo 1.0.0 of the base" in told
        assert f"key {gone} name unknown pinned now signs no locked release" in told
        await on.press(*new.fingerprint[-8:], *old.fingerprint[-8:], "enter", *"announced", "enter", "enter")
        await until(on, on.has_preview)
        await on.ready()
        plan = " ".join(on.plan.split())
        named = f"--key={new.fingerprint} --key={old.fingerprint}"
        assert f"locklens keys trust acme {named} --why announced" in plan
        assert f"{gone}, pinned now, is left out of the pin" in plan
        await on.press("enter")
        await until(on, lambda: policy(top)["trust"]["acme"]["keys"] == [new.fingerprint, old.fingerprint])


@pytest.mark.parametrize("pinned", ["registry.example.com", HOME, ""])
async def test_the_namespace_of_a_key_that_is_not_pinned_yet_is_pinned(top: Path, tmp_path: Path, pinned: str) -> None:
    hosts, key = ("registry.example.com", HOME), publisher("acme").key.fingerprint
    other = next(f"{host}/acme" for host in hosts if host != pinned) if pinned else "acme"
    name = f"{pinned}/acme".removeprefix("/")
    samples = [SampleLock(f"{host}/acme/demo", "1.2.0") for host in hosts]
    (top / "live" / LOCK).write_bytes(lock_file(*samples))
    pin = f'[trust."{name}"]\nkeys = ["{key}"]\nby = "Ann"\non = 2026-11-01\nwhy = "phoned"\n'
    commit_policy(top, pin)
    with (
        DemoRegistry({f"{host}/acme/demo": ["1.2.0"] for host in hosts}) as registry,
        Cache(tmp_path / "cache.sqlite3") as cache,
    ):
        network = NetworkSettings(environ_of(registry, tmp_path), cache)
        app = LockLensApp(
            LockLens(ReviewRequest(partial(open_git, top), network=network)), "keys", store_path=tmp_path / "store"
        )
        async with app.run_test(size=(140, 45), notifications=True) as pilot:
            on = PreviewDriver(app, pilot)
            await until(on, lambda: isinstance(app.screen, SignersScreen) and not app.screen.is_asking)
            await until(on, lambda: "D drop pin" in on.lines[-1])
            await on.press("T")
            await form(on, f"Pin {other} to this key")
            await on.press("escape", "D")
            await until(on, on.has_preview)
            await until(on, lambda: f"locklens keys drop {name}" in on.plan)


async def test_a_pin_in_force_is_named_with_who_decided_it_and_why(
    opening: Opening, top: Path, registry: DemoRegistry
) -> None:
    key = publisher("acme").key.fingerprint
    pin = f'[trust.acme]\nkeys = ["{key}"]\nby = "Ann"\non = 2026-11-01\nwhy = "phoned"\nreview_by = 2999-01-01\n'
    commit_policy(top, pin)
    async with opening() as on:
        await on.go_to("acme/demo")
        assert "only the registry vouches for this key; the policy pins it" in on.said
        await on.press("4")
        await until(on, lambda: "PINNED  locklens.toml of HEAD" in on.said)
        assert "acme  by Ann on 2026-11-01, to be reviewed by 2999-01-01, line 1" in on.said
        assert "phoned" in on.said
        screen = on.app.screen
        assert isinstance(screen, SignersScreen)
        assert [row.state.text for row in screen.left.rows] == ["pinned"]
        await on.press("D")
        await until(on, on.has_preview)
        await on.ready()
        assert "the edit counts once HEAD has it: commit the file" in on.plan


async def test_a_pin_that_a_signature_violates_is_named(opening: Opening, top: Path) -> None:
    commit_policy(top, f'[trust.acme]\nkeys = ["{KEYS[0]}"]\nby = "Ann"\nwhy = "phoned"\n')
    async with opening() as on:
        await on.go_to("acme/demo")
        assert "LK010" in on.said
        await on.press("4")
        await until(on, lambda: "REJECTED BY A PIN  locklens.toml of HEAD" in on.said)
        assert "acme  by Ann, line 1" in on.said
        assert f"pinned to {grouped(KEYS[0])}" in on.said
        assert "the policy pins it" not in on.said
        screen = on.app.screen
        assert isinstance(screen, SignersScreen)
        assert [row.state.text for row in screen.left.rows] == ["REJECTED"]
        assert screen.review is not None
        assert "REJECTED BY A PIN" in str(keys_text(screen.review))
        (signer,) = json_report("keys", screen.review)["signers"]
        assert (signer["pins"], [pin["keys"] for pin in signer["rejecting"]]) == ([], [[KEYS[0]]])


# What the fields take


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a reason is needed"),
        ("because", ""),
        ("a\tb", "one line of printable"),
        ("\x1b[31m", "one line of printable"),
    ],
)
def test_reasons(text: str, words: str) -> None:
    found = reason_problem(text)
    assert words in found if words else not found


@pytest.mark.parametrize(
    ("text", "words"),
    [("", ""), ("2026-05-04", ""), ("2026-05-03", "has passed"), ("tomorrow", "no date"), ("2026-13-01", "no date")],
)
def test_dates(text: str, words: str) -> None:
    found = date_problem(text, today=TODAY)
    assert words in found if words else not found


@pytest.mark.parametrize(
    ("text", "keys", "words"),
    [
        ("0123abcd", 1, ""),
        ("0123 ABCD", 1, ""),
        ("123ABCD", 1, "type 8 digits"),
        ("4567CDEF", 1, "not the last digits"),
        ("4567CDEF 0123ABCD", 2, ""),
        ("0123ABCD", 2, ""),
        ("0123ABC", 2, "of each key to pin"),
        ("0123ABCD 0123ABCD", 2, "each key once"),
        ("0123ABCD 00000000", 2, "00000000 are not the last digits of a key listed here"),
    ],
)
def test_digits(text: str, keys: int, words: str) -> None:
    found = digits_problem(text, fingerprints=KEYS[:keys])
    assert words in found if words else not found


@pytest.mark.parametrize(
    ("text", "words"), [("LK004", ""), ("lk004, LK005", ""), ("", "name a finding"), ("LK001", "no finding LK001")]
)
def test_rules(text: str, words: str) -> None:
    found = rules_problem(text, rules=["LK004", "LK005"])
    assert words in found if words else not found
