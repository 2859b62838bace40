"""The screen of keys: who signed what is locked, what was locked before, and the way between the screens."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest
from kit.waiting import LIMIT
from msgspec.structs import replace
from ui.conftest import Driver, ServedReview, ServingSource, until

from locklens.demo.faults import Faults
from locklens.demo.incidents import make_repository
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import SAMPLE_RULES, environment, write_cli_configuration
from locklens.errors import LockLensError, RepositoryError, RunCancelledError
from locklens.operations.compare import open_git, open_locked
from locklens.operations.locklens import LockLens, Reads
from locklens.operations.review.request import Progress, ReviewEvent, ReviewRequest
from locklens.releases import NetworkSettings
from locklens.review.keys import PastUse, SignerUses, signers
from locklens.review.model import Change, ChangeKind, Evidence, HostState, LookupAnswer, Review
from locklens.review.reports.lock_lines import grouped
from locklens.storage.cache import Cache
from locklens.trust import Signer, SigningKey, Tier
from locklens.ui.app import LockLensApp
from locklens.ui.dialogs.form import ExportDialog
from locklens.ui.review import ReviewScreen
from locklens.ui.shell.filtering import parse_filter
from locklens.ui.signers import SIGNERS_GRAMMAR, SIGNERS_KEYS, SignersScreen, signer_rows

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot
    from ui.conftest import Samples

AS_OF = "2026-11-21T14:02:09Z"
ALICE = SigningKey(
    "7B1F0A9355E240CD9A1E88B42517E112C2EC7068",
    ("alice <a@acme.example>",),
    "RSA 4096",
    "2023-05-10",
    None,
    False,
    False,
)
MALLORY = SigningKey(
    "C4D06E1B0F7299A831BC5D07175D017BEC06E6BD",
    ("mallory <m@acme.example>",),
    "RSA 2048",
    "2026-11-20",
    None,
    False,
    True,
)
HOSTILE = ("\x1b[31mred\x1b[0m", "[bold red]markup[/]", "[@click=app.quit]x[/]", "\u202egnp.exe", "a\nb", "x" * 300)


class SignersDriver(Driver):
    """Words for the screen of keys."""

    @property
    def signers(self) -> SignersScreen:
        screen = self.app.screen
        assert isinstance(screen, SignersScreen)
        return screen

    @property
    def names(self) -> list[str]:
        return [row.name for row in self.signers.left.rows]

    async def choose(self, start: str) -> None:
        rows = self.signers.left.rows
        self.signers.left.cursor = next(index for index, row in enumerate(rows) if row.name.startswith(start))
        await self.pilot.pause()


def locked(samples: Samples, name: str, version: str, signer: Signer | None, evidence: Evidence | None) -> Change:
    change = samples.change(name, version, version, kind=ChangeKind.UNCHANGED)
    return replace(change, new_signer=signer, evidence=evidence)


@pytest.fixture
def repository(samples: Samples) -> Review:
    asked, failed = Evidence(AS_OF), Evidence(None, ("a.example: it is down",), "try again", LookupAnswer.FAILED)
    demo = locked(samples, "acme/demo", "1.0.0", Signer(Tier.SELF_SIGNED, (MALLORY,), "1.0.0"), asked)
    netbox = locked(samples, "acme/netbox", "4.0.0", Signer(Tier.SELF_SIGNED, (ALICE,), "4.0.0"), asked)
    before = locked(samples, "acme/demo", "0.9.0", Signer(Tier.SELF_SIGNED, (ALICE,), "0.9.0"), asked)
    unsigned = locked(samples, "venafi/venafi", "0.1.0", Signer(Tier.UNSIGNED, (), "0.1.0"), asked)
    unknown = locked(samples, "corp/vault", "2.0.0", None, failed)
    gone = replace(samples.change("old/one", "1.0.0", None, kind=ChangeKind.REMOVED))
    review = samples.review(
        samples.root("infra/prod", [demo, netbox, gone]),
        samples.root("infra/stage", [before, netbox, unsigned]),
        samples.root("infra/lab", [unknown]),
    )
    hosts = (HostState("registry.terraform.io", True, AS_OF),)
    return replace(review, offline=False, hosts=hosts)


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., LockLensApp]:
    def build(source: ServingSource | Review, view: str = "keys") -> LockLensApp:
        own = ServingSource(source) if isinstance(source, Review) else source
        return LockLensApp(own, view, store_path=tmp_path / "store.sqlite3")

    return build


def driving(app: LockLensApp, pilot: Pilot[int]) -> SignersDriver:
    return SignersDriver(app, pilot)


async def test_a_root_that_locks_nothing_is_no_lock_file(
    repository: Review, samples: Samples, opened: Callable[..., LockLensApp]
) -> None:
    some = replace(repository, roots=(*repository.roots, samples.root("tools/scratch", [])))
    app = opened(some)
    async with app.run_test(size=(120, 40)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        assert "signers  5 locked releases in 3 lock files" in on.lines[0]


async def test_the_signers_are_pictured_the_most_trusted_first(
    repository: Review, opened: Callable[..., LockLensApp]
) -> None:
    app = opened(repository)
    async with app.run_test(size=(120, 40)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        on.is_pictured("signers")
        assert on.names == ["alice <a@acme.example>", "mallory <m@acme.example>", "not signed", "unknown"]
        await on.choose("unknown")
        assert "a.example: it is down" in on.said
        await on.choose("not signed")
        assert "NOT SIGNED  1 locked release of 1 provider" in on.said
        assert "old/one" not in on.said


async def test_every_size_holds_without_colour(
    repository: Review, opened: Callable[..., LockLensApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = opened(repository)
    keys = ("j", "k", "enter", "G", "escape", "question_mark", "escape", "slash", "x", "escape", "tab", "escape")
    async with app.run_test(size=(80, 24)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        for size in ((80, 24), (100, 30), (120, 32), (200, 60), (40, 12), (20, 6)):
            await on.resize(size)
            assert size[0] < 110 or grouped(ALICE.fingerprint) in on.text  # whole, on one line
            for key in keys:
                assert all(len(text) <= size[0] for text in on.lines)
                await on.press(key)
            if size[0] == 80:
                await on.press("enter")
                assert grouped(ALICE.fingerprint) in on.text
                await on.press("q")
                assert "> alice" in on.text


async def test_keys_of_the_screen(
    repository: Review, opened: Callable[..., LockLensApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(repository)
    async with app.run_test(size=(120, 40)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        await on.press("G")
        assert on.signers.left.cursor == 3
        await on.press("g", "j")
        assert on.signers.left.cursor == 1
        await on.press("y")
        assert app.clipboard == MALLORY.fingerprint
        await on.press("tab")
        assert on.signers.detail.has_focus
        lines = on.signers.detail.lines
        on.signers.detail.cursor = next(n for n, line in enumerate(lines) if "acme/demo 1.0.0" in line.text)
        await on.press("y")
        assert app.clipboard == "'registry.terraform.io/acme/demo 1.0.0'"
        monkeypatch.delenv("DISPLAY", raising=False)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        await on.press("o")
        assert app.clipboard == "https://registry.terraform.io/providers/acme/demo/1.0.0"
        await on.press("escape")
        assert on.signers.left.has_focus
        await on.choose("not signed")
        await on.press("y")
        assert app.clipboard == "'registry.terraform.io/venafi/venafi 0.1.0'"
        for key, words in (
            ("T", "not of files on disk"),
            ("D", "not of files on disk"),
            ("A", "on the screen 1 Review"),
        ):
            await on.press(key)
            assert words in on.lines[-2]
        await on.press("4")
        assert "Signers is the current screen" in on.lines[-2]
        await on.press("question_mark")
        assert "All keys of this screen" in on.text
        for shown in (key.shown for group in SIGNERS_KEYS.groups[:2] for key in group.keys):
            assert shown in on.text
        await on.press("question_mark", "escape")
        assert "q quits" in on.lines[-2]
        for action in (key.action for group in SIGNERS_KEYS.groups for key in group.keys if key.action):
            assert hasattr(on.signers, f"action_{action.partition('(')[0]}"), action
        await on.press("q")
    assert app.return_value == 0


async def test_filtering(repository: Review, opened: Callable[..., LockLensApp]) -> None:
    app = opened(repository)
    async with app.run_test(size=(120, 40)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        for text, expected in (
            ("venafi", ["not signed"]),
            ("c4d06e1b", ["mallory <m@acme.example>"]),
            ("down", ["unknown"]),
        ):
            await on.press("slash", *text)
            assert on.names == expected
            await on.press("escape")
            assert len(on.names) == 4
        for name, can_pin in (("alice", True), ("mallory", False), ("unknown", False)):
            await on.choose(name)
            assert ("T trust" in on.lines[-1]) is can_pin, (
                "mallory's key, which signs one of the namespace, was revoked"
            )
            assert "D drop pin" not in on.lines[-1], "the policy has no pin"
        await on.press("slash", *"nothing-has-this", "enter")
        assert not {"T trust", "y copy", "enter history"} & {key.strip() for key in on.lines[-1].split("  ")}
        await on.press("escape")
        await on.press("slash", *"acme stage", "enter")
        assert on.names == ["alice <a@acme.example>"]
        assert "filtered" in on.lines[-2]
        await on.press("slash", *"zzz")
        assert "Nothing matches the filter." in on.text
        await on.press("escape")


def test_a_filter_drops_releases_in_roots_and_a_key_stays_with_its_others(repository: Review) -> None:
    found = signers(repository)

    def rows(text: str) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        narrowed = parse_filter(text, SIGNERS_GRAMMAR)
        assert not narrowed.problem
        shown = signer_rows(found, is_asking=False, narrowed=narrowed)
        return {
            row.name.split()[0]: [(use.name.partition("/")[2], use.lock_files) for use in row.signer.uses]
            for row in shown
        }

    prod, stage = (f"infra/{name}/.terraform.lock.hcl" for name in ("prod", "stage"))
    demo, netbox = ("acme/demo 0.9.0", (stage,)), ("acme/netbox 4.0.0", (prod, stage))
    assert rows("")["alice"] == [demo, netbox]
    assert rows("-provider:demo").keys() == {"alice", "not", "unknown"}
    assert rows("-provider:demo")["alice"] == rows("provider:netbox")["alice"] == [netbox]
    assert rows("-root:prod")["alice"] == [demo, ("acme/netbox 4.0.0", (stage,))]
    assert rows("-root:prod").keys() == {"alice", "not", "unknown"}
    assert rows("-4.0.0 -venafi")["alice"] == [demo]
    assert rows("-signer:alice").keys() == {"mallory", "not", "unknown"}


async def test_the_lock_file_opens_in_the_editor(
    repository: Review, opened: Callable[..., LockLensApp], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import nullcontext

    calls: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: calls.append(command))
    monkeypatch.setenv("VISUAL", "vim")
    file = tmp_path / "infra/stage/.terraform.lock.hcl"
    file.parent.mkdir(parents=True)
    file.touch()
    app = opened(ServingSource(repository, top=tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        monkeypatch.setattr(app, "suspend", nullcontext)
        await on.choose("not signed")
        await on.press("e")
        assert [(words[0].rpartition("/")[2], *words[1:]) for words in calls] == [("vim", "+1", str(file))]


async def test_the_report_of_the_screen_can_be_exported(
    repository: Review, opened: Callable[..., LockLensApp], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = opened(repository)
    async with app.run_test(size=(120, 40)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        for form in ("json", "text"):
            on.signers.action_export(form)
            await on.pilot.pause()
            assert isinstance(app.screen, ExportDialog)
            await on.press("enter")
            await on.settle()
        assert ALICE.fingerprint in (tmp_path / "locklens-keys.json").read_text()
        assert (tmp_path / "locklens-keys.txt").read_text().startswith("locklens keys")


async def test_signers_become_known_one_by_one(repository: Review, opened: Callable[..., LockLensApp]) -> None:
    gate = threading.Event()
    app = opened(ServingSource(repository, gate=gate))
    async with app.run_test(size=(120, 40)) as pilot:
        on = driving(app, pilot)
        await until(on, lambda: "lookup in progress" in on.text)
        assert "…" in on.text
        await until(on, lambda: "mallory" in on.text)
        assert any(row.pending for row in on.signers.left.rows)
        await on.choose("mallory")
        gate.set()
        await on.settle()
        row = on.signers.left.current
        assert row is not None
        assert row.name.startswith("mallory")
        assert len(on.names) == 4
        assert "…" not in on.said


async def test_asking_again(repository: Review, opened: Callable[..., LockLensApp]) -> None:
    source = ServingSource(repository)
    app = opened(source)
    async with app.run_test(size=(120, 40)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        await on.press("r")
        await on.settle()
        assert len(source.opened) == 2
        assert len(on.names) == 4


async def test_nothing_is_locked(samples: Samples, opened: Callable[..., LockLensApp]) -> None:
    app = opened(samples.review())
    async with app.run_test(size=(80, 24)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        assert "No provider is locked here (lock files that git ignores are not read)." in on.text
        for key in ("j", "enter", "tab", "y", "o", "e", "slash", "escape", "r"):
            await on.press(key)


async def test_an_error_is_shown_and_ends_with_status_2(opened: Callable[..., LockLensApp]) -> None:
    app = opened(ServingSource(error=RepositoryError("there is no repository here", hint="go to one")))
    async with app.run_test(size=(80, 24)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        assert "there is no repository here" in on.text
        assert "go to one" in on.text
        await on.press("q")
    assert app.return_value == 2


async def test_hostile_names(samples: Samples, opened: Callable[..., LockLensApp]) -> None:
    changes = []
    for number, text in enumerate(HOSTILE):
        key = SigningKey(f"{number}" * 40, (text,) * 9, text, text, text, True, True)
        evidence = Evidence(text, (text,), text)
        changes.append(
            locked(samples, f"acme/p{number}", f"1.0.{number}", Signer(Tier.PARTNER, (key,), text), evidence)
        )
        changes.append(locked(samples, f"acme/q{number}", f"1.0.{number}", None, evidence))

    def past(signer: SignerUses, on_event: object, cancel: object) -> tuple[PastUse, ...]:
        return tuple(PastUse(signer.addresses[0], text, text, text, None, Tier.UNKNOWN, text) for text in HOSTILE)

    review = samples.review(samples.root("[bold]r[/]\x1b", changes))
    for size in ((160, 60), (80, 24)):
        app = opened(ServingSource(replace(review, limits=HOSTILE), past=past))
        async with app.run_test(size=size) as pilot:
            on = driving(app, pilot)
            await on.settle()
            seen = ""
            for _ in range(len(on.signers.left.rows)):
                await on.press("enter")
                await on.settle()
                for _ in range(4):
                    lines = on.lines
                    seen += "\n".join(lines)
                    assert all(text.isprintable() and len(text) <= size[0] for text in lines)
                    await on.press("pagedown")
                await on.press("escape", "j")
            assert "[bold red]markup[/]" in seen
            assert "\\x1b[31mred" in seen


async def test_the_history_is_looked_up_on_demand(
    samples: Samples, repository: Review, opened: Callable[..., LockLensApp]
) -> None:
    asked: list[SignerUses] = []
    gate = threading.Event()

    def past(
        signer: SignerUses, on_event: Callable[[ReviewEvent], None], cancel: threading.Event
    ) -> tuple[PastUse, ...]:
        asked.append(signer)
        on_event(Progress("evidence", 3, 12))
        gate.wait(LIMIT)
        address = samples.address("acme/demo")
        return (
            PastUse(address, "0.8.0", "9" * 40, "2025-03-02T10:00:00Z", ALICE, Tier.SELF_SIGNED),
            PastUse(address, "0.7.0", "8" * 40, "2024-03-02T10:00:00Z", MALLORY, Tier.SELF_SIGNED),
            PastUse(address, "0.6.0", "7" * 40, "2023-03-02T10:00:00Z", None, Tier.UNKNOWN, "it is gone"),
            PastUse(address, "0.5.0", "6" * 40, "2022-03-02T10:00:00Z", None, Tier.UNSIGNED),
        )

    app = opened(ServingSource(repository, past=past))
    async with app.run_test(size=(120, 40)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        assert "enter reads the git history" in on.said
        assert not asked
        await on.press("enter")
        await until(on, lambda: "checking registries: 3 of 12 releases done" in on.said)
        gate.set()
        await until(on, lambda: "0.5.0" in on.said)
        for words in (
            "in 9999999 of 2025-03-02  registry.terraform.io/acme/demo 0.8.0",
            "same key  self-signed",
            f"another key  {grouped(MALLORY.fingerprint)}",
            "it is gone",
            "not signed",
        ):
            assert words in on.said, words
        await on.press("escape", "j", "k", "enter")
        assert len(asked) == 1, "it is remembered while the screen is open"
        await on.press("escape", "r")
        await on.settle()
        assert "enter reads the git history" in on.said


class LateSigners(ServingSource):
    """Knows no signer before the registries have answered."""

    def open(self, *, is_fresh: bool = False, on_event: Callable[[ReviewEvent], None] = lambda _: None) -> ServedReview:
        served = super().open(is_fresh=is_fresh, on_event=on_event)
        roots = (
            replace(root, changes=tuple(replace(change, new_signer=None) for change in root.changes))
            for root in served.draft.roots
        )
        served.draft = replace(served.draft, roots=tuple(roots))
        return served


async def test_a_history_ends_with_the_signer_that_it_was_read_for(
    samples: Samples, repository: Review, opened: Callable[..., LockLensApp]
) -> None:
    gate = threading.Event()
    past = PastUse(samples.address("acme/demo"), "0.8.0", "9" * 40, "2025-03-02T10:00:00Z", ALICE, Tier.SELF_SIGNED)
    app = opened(LateSigners(repository, gate=gate, past=lambda *_: (past,)))
    async with app.run_test(size=(120, 40)) as pilot:
        on = driving(app, pilot)
        await until(on, lambda: "mallory" in on.text)
        await on.choose("lookup in progress")
        await on.press("enter")
        await until(on, lambda: "0.8.0" in on.said)
        assert f"signed by  {grouped(ALICE.fingerprint)}" in on.said
        assert "another key" not in on.said, "no key is known yet that it could differ from"
        gate.set()
        await on.settle()
        await on.press("escape")
        await on.choose("unknown")
        assert "corp/vault" in on.said
        assert "acme/demo" not in on.said
        assert "enter reads the git history" in on.said


async def test_a_history_that_cannot_be_read_is_said_and_can_be_tried_again(
    repository: Review, opened: Callable[..., LockLensApp]
) -> None:
    problems = [RepositoryError("[bold]git[/] went away", hint="call it back")]

    def past(*_: object) -> tuple[PastUse, ...]:
        if problems:
            raise problems.pop()
        return ()

    app = opened(ServingSource(repository, past=past))
    async with app.run_test(size=(120, 40)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        await on.press("enter")
        await until(on, lambda: "[bold]git[/] went away; call it back" in on.said)
        await on.press("escape", "enter")
        await until(on, lambda: "no other version in the commits that were read" in on.said)


async def test_another_signer_ends_the_search_of_the_one_before(
    repository: Review, opened: Callable[..., LockLensApp]
) -> None:
    ended: list[str] = []
    began = threading.Event()

    def past(signer: SignerUses, on_event: object, cancel: threading.Event) -> tuple[PastUse, ...]:
        if signer.key is ALICE:
            began.set()
            assert cancel.wait(LIMIT)
            ended.append(signer.name)
            raise RunCancelledError("the search was cancelled")
        return ()

    app = opened(ServingSource(repository, past=past))
    async with app.run_test(size=(120, 40)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        await on.press("enter")
        await until(on, began.is_set)
        await on.press("escape", "j", "enter")
        await until(on, lambda: bool(ended) and "no other version" in on.said)
        await on.press("escape", "k")
        assert "enter reads the git history" in on.said


async def test_from_the_review_to_the_keys_and_back(
    samples: Samples, repository: Review, opened: Callable[..., LockLensApp], tmp_path: Path
) -> None:
    source = ServingSource(samples.full(), top=tmp_path, others={Reads.LOCKED: ServingSource(repository)})
    app = opened(source, "review")
    async with app.run_test(size=(120, 40)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        await on.go_to("acme/netbox")
        await on.press("4")
        await on.settle()
        assert source.asked_views == [(Reads.LOCKED, tmp_path)]
        assert len(on.names) == 4
        await on.choose("mallory")
        await on.press("escape")
        assert isinstance(app.screen, SignersScreen), "tabs are no stack"
        assert "q quits" in on.text
        for _ in range(2):
            await on.press("1")
            assert isinstance(app.screen, ReviewScreen)
            assert on.current.node.title == "acme/netbox"
            await on.press("4")
            row = on.signers.left.current
            assert row is not None
            assert row.name.startswith("mallory"), "it is as it was left"
        assert len(source.asked_views) == 1
        await on.press("q")
    assert app.return_value == 0


async def test_from_the_keys_to_the_review(
    samples: Samples, repository: Review, opened: Callable[..., LockLensApp]
) -> None:
    source = ServingSource(repository, others={Reads.CHANGES: ServingSource(samples.full())})
    app = opened(source)
    async with app.run_test(size=(80, 24)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        await on.press("1")
        await on.settle()
        assert isinstance(app.screen, ReviewScreen)
        assert "infra/prod/network" in on.text
        await on.press("q")
    assert app.return_value == 0


async def test_keys_of_no_repository_leave_the_review_alone(
    samples: Samples, opened: Callable[..., LockLensApp]
) -> None:
    keys = ServingSource(error=LockLensError("there is no repository"))
    app = opened(ServingSource(samples.full(), others={Reads.LOCKED: keys}), "review")
    async with app.run_test(size=(80, 24)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        await on.press("4")
        await on.settle()
        assert "there is no repository" in on.text
        await on.press("1")
        assert isinstance(app.screen, ReviewScreen)
        await on.press("4")
        await on.press("q")
    assert app.return_value == 0


async def test_the_keys_of_the_sample(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "infrastructure")
    with DemoRegistry(faults=Faults(SAMPLE_RULES)) as registry:
        configuration = write_cli_configuration(registry, tmp_path)
        network = NetworkSettings({**os.environ, **environment(configuration)}, Cache.in_memory())
        request = ReviewRequest(partial(open_git, top), network=network)
        app = LockLensApp(LockLens(request), store_path=tmp_path / "store.sqlite3")
        async with app.run_test(size=(120, 40)) as pilot:
            on = driving(app, pilot)
            await until(on, lambda: bool(on.titles) and not on.screen.is_asking)
            await on.press("4")
            await until(on, lambda: "[4 Signers]" in on.text and bool(on.signers.left.rows))
            await until(on, lambda: not on.signers.is_asking)
            assert sum(name.startswith("acme") for name in on.names) == 2
            assert {"not signed", "unknown"} <= set(on.names)
            assert any(row.state.text == "EXPIRED" for row in on.signers.left.rows)
            await on.choose("acme-new-owner")
            assert "LK001: Same version, other packages: republished, or edited before" in on.said
            assert "T trust" not in on.lines[-1]
            await on.press("T")
            refused = "trust: registry.terraform.io/acme/demo 1.4.2: LK001: Same version, other packages"
            assert refused in " ".join(on.text.split()), "before anything is asked for"
            assert "an acceptance does not settle this" in " ".join(on.text.split())
            await on.choose("hashicorp")
            assert "T trust" in on.lines[-1]
            await on.press("enter")
            await until(on, lambda: "same key" in on.said)
            assert "2.17.0" in on.said
            await on.press("escape", "1")
            assert isinstance(app.screen, ReviewScreen)


async def test_locklens_keys_opens_the_keys_at_once(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "infrastructure")
    request = ReviewRequest(partial(open_locked, top), include_unchanged=True)
    app = LockLensApp(LockLens(request), "keys", store_path=tmp_path / "store.sqlite3")
    async with app.run_test(size=(80, 24)) as pilot:
        on = driving(app, pilot)
        await on.settle()
        assert on.names == ["unknown"]
        assert "the registry was not asked" in on.said
        await on.press("1")
        await on.settle()
        assert "infra/prod" in on.text
        assert isinstance(app.screen, ReviewScreen)
