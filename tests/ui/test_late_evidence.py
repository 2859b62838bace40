"""Evidence that arrives while one reads: row by row, late, hostile, from a real registry."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import pytest
from kit.registries import environ_of
from msgspec.structs import replace
from ui.conftest import Driver, ServedReview, ServingSource, drafted, until

from locklens.demo.faults import Fault, Faults
from locklens.demo.incidents import make_repository
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import SAMPLE_RULES
from locklens.operations.compare import open_git
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import Progress, ReviewEvent, ReviewRequest, RootsKnown
from locklens.releases import NetworkSettings
from locklens.review import Proof
from locklens.review.findings import Severity
from locklens.review.model import Change, Evidence, HostState, LookupAnswer, Review
from locklens.review.reports import markdown
from locklens.storage.cache import Cache
from locklens.trust import Signer, SigningKey, Tier
from locklens.ui.app import LockLensApp
from locklens.ui.review import ReviewScreen
from locklens.ui.review.actions import copy_choices
from locklens.ui.shell import Throttle

if TYPE_CHECKING:
    from pathlib import Path

    from ui.conftest import Running, Samples

AS_OF = "2026-11-21T14:02:09Z"
HOSTILE = ("\x1b[31mred\x1b[0m", "[bold red]markup[/]", "[@click=app.quit]x[/]", "\u202egnp.exe", "a\nb", "x" * 300)


def settled(change: Change, *, unknown: int = 0, **more: object) -> Change:
    """The change with all hashes signed but for some."""
    limit = len(change.added) - unknown
    added = tuple(
        replace(fact, proof=Proof.SIGNED if number < limit else Proof.UNKNOWN)
        for number, fact in enumerate(change.added)
    )
    return replace(change, added=added, **{"evidence": Evidence(AS_OF), **more})


class StepSource(ServingSource):
    """Serves reviews whose roots become known when the test says so."""

    def __init__(self, review: Review, **more: object) -> None:
        super().__init__(review, **more)  # type: ignore[arg-type]
        self.serving: list[SteppedReview] = []
        self.fresh: list[bool] = []

    def open(self, *, is_fresh: bool = False, on_event: object = None) -> SteppedReview:
        assert self.served is not None
        self.fresh.append(is_fresh)
        self.serving.append(SteppedReview(drafted(self.served), self.served, self.files))
        return self.serving[-1]


class SteppedReview(ServedReview):
    """Tells what the test wants told, from the worker's thread as in earnest, and ends when `end` is set."""

    def __init__(self, draft: Review, final: Review, files: tuple[Path, ...] = ()) -> None:
        super().__init__(draft, final, files)
        self.end = threading.Event()
        self.cancelled = False
        self._events: SimpleQueue[ReviewEvent] = SimpleQueue()
        self._on_event: Callable[[ReviewEvent], None] = lambda _: None

    def tell(self, event: ReviewEvent) -> None:
        """Has an event told; where the worker was cancelled it comes too late, and is told all the same."""
        if self.cancelled:
            self._on_event(event)
        else:
            self._events.put(event)

    def complete(self, *, on_event: Callable[[ReviewEvent], None], cancel: threading.Event) -> Review:
        self._on_event = on_event
        while not (self.end.is_set() and self._events.empty()):
            with suppress(Empty):
                on_event(self._events.get(timeout=0.01))
            if cancel.is_set():
                self.cancelled = True
                return self.final
        return self.final


@pytest.fixture
def three(samples: Samples) -> Review:
    roots = [
        samples.root(f"infra/{name}", [settled(samples.change(f"acme/{name}"))], configuration=samples.configuration())
        for name in ("a", "b", "c")
    ]
    hosts = (HostState("registry.terraform.io", asked=True, as_of=AS_OF),)
    return replace(samples.review(*roots), hosts=hosts, offline=False)


async def test_rows_fill_in_while_the_list_is_there(three: Review, running: Running) -> None:
    source = StepSource(three)
    async with running(source, settled=False) as on:
        await until(on, lambda: on.text.count("… of 4") == 3)
        served = source.serving[0]
        served.tell(Progress("evidence", 1, 3))
        served.tell(RootsKnown(three.roots[1:2]))
        await until(on, lambda: "0 of 4" in on.text)
        assert on.text.count("… of 4") == 2
        assert "checking registries: 1 of 3 done" in on.text
        served.end.set()
        await on.settle()
        assert on.text.count("0 of 4") == 3
        assert "asking" not in on.text
        assert "as of 14:02 UTC" in on.text


async def test_nothing_is_ok_in_a_detail_or_in_what_leaves_the_screen_while_registries_are_asked(
    three: Review, running: Running, samples: Samples
) -> None:
    same = settled(samples.change("acme/same"))
    source = StepSource(replace(three, roots=tuple(replace(root, changes=(same,)) for root in three.roots)))
    async with running(source, settled=False, size=(120, 40)) as on:
        await until(on, lambda: "… of 4" in on.text)
        await on.go_to("acme/same")
        shown = "\n".join(line.text for line in on.detail.lines)
        members = shown.partition("IN 3 ROOTS")[2].splitlines()[1:4]
        assert [line.split() for line in members] == [["…", f"infra/{name}"] for name in ("a", "b", "c")]
        texts = {choice.label: choice.text for choice in copy_choices(on.current.node)}
        assert "\n- **unknown** `acme/same`" in texts["Markdown"]
        assert on.screen.review is not None
        assert "\n**Verdict: unknown, " in markdown.render(on.screen.review)
        on.screen.action_export("markdown")
        await on.pilot.pause()
        assert "nothing to export so far: the lookup has not ended" in on.text
        source.serving[0].end.set()
        await on.settle()
        assert "infra/a" in "\n".join(line.text for line in on.detail.lines)
        assert "unknown" not in "\n".join(choice.text for choice in copy_choices(on.current.node))


async def test_an_export_is_of_what_was_complete_when_it_was_asked_for(
    three: Review, running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = StepSource(three)
    async with running(source, settled=False) as on:
        await until(on, lambda: bool(source.serving))
        source.serving[0].end.set()
        await on.settle()
        on.screen.action_export("json")
        await on.pilot.pause()
        source.served = replace(three, roots=three.roots[:1])
        on.screen.reload()
        await until(on, lambda: on.screen.review is not None and len(on.screen.review.roots) == 1)
        assert on.screen.why_incomplete
        await on.press("enter")
        await until(on, lambda: "exported to" in on.text)
        document = json.loads((tmp_path / "locklens-review.json").read_text("utf-8"))
        assert [root["path"] for root in document["roots"]] == ["infra/a", "infra/b", "infra/c"]
        source.serving[1].end.set()
        await on.settle()


async def test_cursor_folds_and_detail_stay_while_rows_change(
    three: Review, running: Running, samples: Samples
) -> None:
    bad = settled(three.roots[2].changes[0], unknown=1, findings=(samples.finding("LK002", Severity.BLOCK),))
    worst = replace(three.roots[2], changes=(bad,))
    source = StepSource(replace(three, roots=(*three.roots[:2], worst)))
    async with running(source, settled=False) as on:
        await until(on, lambda: on.text.count("… of 4") == 3)
        await on.go_to("infra/b")
        await on.press("h", "k", "enter")
        assert "… asking the registry" in on.text
        key, line = on.current.key, on.detail.current
        assert (on.current.node.title, on.detail.has_focus) == ("acme/a", True)
        source.serving[0].tell(RootsKnown((worst, three.roots[0])))
        await until(on, lambda: "1 of 4" in on.text)
        assert on.titles[0] == "infra/a", "a row that was read keeps its place"
        assert on.current.key == key
        assert on.detail.has_focus
        assert on.detail.current == line
        assert "acme/b" not in on.titles
        await until(on, lambda: "asking the registry" not in on.text)
        source.serving[0].end.set()
        await on.settle()
        assert on.current.key == key
        assert (on.titles[0], "s sorts anew" in on.lines[-2]) == ("infra/a", True)
        await on.press("tab", "s")
        assert (on.titles[0], on.current.key) == ("infra/c", key)
        assert "sorted by severity" in on.lines[-2]
        await on.press("s")
        assert "sorted by provider" in on.lines[-2]


async def test_nothing_is_ok_before_it_was_checked(three: Review, running: Running, samples: Samples) -> None:
    noted = settled(three.roots[1].changes[0], findings=(samples.finding("LK013", Severity.INFO),))
    source = StepSource(replace(three, roots=(three.roots[0], replace(three.roots[1], changes=(noted,)))))
    async with running(source, settled=False) as on:
        await until(on, lambda: on.text.count("… of 4") == 2)
        assert not any(" ok " in line for line in on.lines[2:-2])
        assert "CI would pass" not in on.text
        assert "checking" in on.lines[-2]
        assert "0 BLOCK  0 WARN  1 INFO so far" in on.lines[0]
        assert "INFO…" in on.text
        source.serving[0].tell(RootsKnown(source.serving[0].final.roots[:1]))
        await until(on, lambda: any(" ok " in line for line in on.lines[2:-2]))
        source.serving[0].end.set()
        await until(on, lambda: "CI would pass" in on.text)
        assert "…" not in on.lines[0] + on.lines[-2]


@pytest.mark.parametrize("key", ["n", "N"])
async def test_that_no_finding_is_left_is_said_of_so_far(
    key: str, three: Review, running: Running, samples: Samples
) -> None:
    bad = settled(three.roots[2].changes[0], unknown=1, findings=(samples.finding("LK010", Severity.WARN),))
    source = StepSource(replace(three, roots=(*three.roots[:2], replace(three.roots[2], changes=(bad,)))))
    async with running(source, settled=False) as on:
        await until(on, lambda: on.text.count("… of 4") == 3)
        await on.press(key)
        words = "no unreviewed warning or block in the rows shown"
        assert f"{words} so far: the lookup has not ended" in on.lines[-2]
        source.serving[0].end.set()
        await on.settle()
        assert words not in on.text
        assert "the lookup has ended: press the key again" in on.lines[-2]
        await on.press(key)
        assert on.current.node.title == "acme/c"


async def test_a_cursor_that_nobody_moved_stays_at_the_worst(three: Review, running: Running, samples: Samples) -> None:
    bad = settled(three.roots[2].changes[0], unknown=1, findings=(samples.finding("LK002", Severity.BLOCK),))
    source = StepSource(replace(three, roots=(*three.roots[:2], replace(three.roots[2], changes=(bad,)))))
    async with running(source, settled=False) as on:
        await until(on, lambda: bool(on.titles))
        source.serving[0].end.set()
        await on.settle()
        assert (on.changes.cursor, on.current.node.title) == (0, "infra/c")


async def test_a_scrolled_list_keeps_its_row_where_the_eye_is(samples: Samples, running: Running) -> None:
    names = [f"{number:03}" for number in range(60)]
    roots = [samples.root(f"infra/{name}", [settled(samples.change(f"acme/x{name}"))]) for name in names]
    bad = [
        replace(root, changes=(replace(root.changes[0], findings=(samples.finding("LK002", Severity.BLOCK),)),))
        for root in roots[50:]
    ]
    source = StepSource(samples.review(*roots[:50], *bad))
    async with running(source, settled=False) as on:
        await until(on, lambda: len(on.titles) == 120)
        await on.go_to("acme/x020")
        height = on.changes.cursor - on.changes.scroll_offset.y
        source.serving[0].tell(RootsKnown(tuple(bad)))
        await until(on, lambda: "10 BLOCK" in on.lines[0])
        assert (on.titles[0], on.current.node.title) == ("infra/000", "acme/x020")
        assert on.changes.cursor - on.changes.scroll_offset.y == height


async def test_500_changes_one_by_one_do_not_build_the_list_500_times(
    samples: Samples, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = tuple(
        samples.root(f"infra/{number:03}", [settled(samples.change(f"acme/p{number}"))]) for number in range(500)
    )
    source = StepSource(samples.review(*roots))
    built = 0
    build = ReviewScreen.refresh_list

    def counted(self: ReviewScreen, *, cursor_key: str | None = None, is_ordered: bool = False) -> None:
        nonlocal built
        built += 1
        build(self, cursor_key=cursor_key, is_ordered=is_ordered)

    async with running(source, settled=False) as on:
        await until(on, lambda: len(on.titles) == 1000)
        monkeypatch.setattr(ReviewScreen, "refresh_list", counted)
        monkeypatch.setattr(Throttle, "wait", lambda *_: 3600.0)  # all of it arrives before the next build is due
        for number, root in enumerate(roots, 1):
            source.serving[0].tell(RootsKnown((root,)))
            source.serving[0].tell(Progress("evidence", number, 500))
        await until(on, lambda: on.screen.progress is not None and on.screen.progress.done == 500)
        assert built == 0
        on.screen.loader._show()
        await on.press()
        assert built == 1
        assert "500 of 500 done" in on.text
        assert "0 of 4" in on.text
        source.serving[0].end.set()
        await on.settle()
        assert built == 2


async def test_asking_again_while_asking_replaces_the_run(three: Review, running: Running) -> None:
    source = StepSource(three)
    async with running(source, settled=False) as on:
        await until(on, lambda: on.text.count("… of 4") == 3)
        source.serving[0].tell(RootsKnown(three.roots[:1]))
        await until(on, lambda: on.text.count("0 of 4") == 1)
        await on.press("r")
        await until(on, lambda: len(source.serving) == 2 and source.serving[0].cancelled)
        assert source.fresh == [False, True]
        assert on.text.count("0 of 4") == 1, "what is known stays"
        source.serving[0].tell(RootsKnown(three.roots[1:2]))
        source.serving[1].tell(Progress("evidence", 2, 3))
        await until(on, lambda: "2 of 3 done" in on.text)
        assert on.text.count("0 of 4") == 1, "what the run before still says is not heard"
        source.serving[1].tell(RootsKnown(three.roots[1:2]))
        await until(on, lambda: on.text.count("0 of 4") == 2)
        source.serving[1].end.set()
        await on.settle()
        assert on.text.count("0 of 4") == 3


async def test_asking_again_keeps_what_is_known_until_it_is_known_again(three: Review, running: Running) -> None:
    source = StepSource(three)
    async with running(source, settled=False) as on:
        await until(on, lambda: bool(source.serving))
        source.serving[0].end.set()
        await on.settle()
        await on.press("r")
        await until(on, lambda: len(source.serving) == 2)
        source.serving[1].tell(Progress("evidence", 1, 3))
        source.serving[1].tell(
            RootsKnown((replace(drafted(three).roots[0], configuration=three.roots[0].configuration),))
        )
        await until(on, lambda: "1 of 3 done" in on.text)
        assert on.text.count("0 of 4") == 3
        source.serving[1].end.set()
        await on.settle()


async def test_a_file_that_changes_while_registries_are_asked_is_noticed(
    three: Review, running: Running, tmp_path: Path
) -> None:
    file = tmp_path / ".terraform.lock.hcl"
    file.write_text("1")
    source = StepSource(three, files=(file,))
    async with running(source, settled=False) as on:
        await until(on, lambda: on.text.count("… of 4") == 3)
        source.serving[0].tell(Progress("evidence", 1, 3))
        await until(on, lambda: "1 of 3 done" in on.text)
        file.write_text("22")
        await until(on, lambda: len(source.serving) == 2 and source.serving[0].cancelled)
        source.serving[1].end.set()
        await until(on, lambda: on.text.count("0 of 4") == 3)
        assert source.fresh == [False, False]


async def test_a_run_that_fails_leaves_no_row_waiting(three: Review, running: Running) -> None:
    from locklens.errors import LockLensError

    class Failing(SteppedReview):
        def complete(self, *, on_event: Callable[[ReviewEvent], None], cancel: threading.Event) -> Review:
            super().complete(on_event=on_event, cancel=cancel)
            raise LockLensError("git went away")

    class FailingSource(StepSource):
        def open(self, *, is_fresh: bool = False, on_event: object = None) -> SteppedReview:
            self.serving.append(Failing(drafted(three), three))
            return self.serving[-1]

    source = FailingSource(three)
    async with running(source, settled=False) as on:
        await until(on, lambda: on.text.count("… of 4") == 3)
        source.serving[0].end.set()
        await until(on, lambda: "git went away" in on.text)
        assert on.text.count("? of 4") == 3
        assert "… of 4" not in on.text


async def test_failed_and_not_asked_are_said_at_every_size(
    three: Review, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    failed = Evidence(None, ("it is down",), "try again", LookupAnswer.FAILED)
    nobody = Evidence(None, ("it was not asked",), "--ask-host", LookupAnswer.NOT_ASKED)
    first, second, third = (root.changes[0] for root in three.roots)
    first, second = (
        replace(one, added=tuple(replace(fact, proof=Proof.UNKNOWN) for fact in one.added)) for one in (first, second)
    )
    changes = (replace(first, evidence=failed), replace(second, evidence=nobody), settled(third, unknown=1))
    roots = tuple(replace(root, changes=(one,)) for root, one in zip(three.roots, changes, strict=True))
    hosts = (HostState("a.example", True, None, "it is down"), HostState("b.example", asked=False))
    async with running(replace(three, roots=roots, hosts=hosts)) as on:
        for size in ((80, 24), (100, 30), (120, 32), (200, 50), (40, 12), (20, 6)):
            await on.resize(size)
            assert all(len(text) <= size[0] for text in on.lines)
            if size[0] >= 80:
                for words in ("4 of 4!", "1 of 4", "1 of 2 registries failed"):
                    assert words in on.text
                assert "acme/a" in on.text
            await on.press("j", "enter")
            assert all(len(text) <= size[0] for text in on.lines)
            await on.press("escape")


async def test_hostile_names_and_errors_are_shown_as_they_are_written(samples: Samples, running: Running) -> None:
    roots = []
    for number, text in enumerate(HOSTILE):
        key = SigningKey(f"{number}" * 40, (text, text), text, text, text, expired=True, revoked=True)
        signer = Signer(Tier.SELF_SIGNED, (key,), text)
        other = replace(signer, keys=(replace(key, fingerprint="F" * 40),), version=text + "!")
        change = settled(
            samples.change(f"acme/p{number}"),
            unknown=2,
            old_signer=other,
            new_signer=signer,
            evidence=Evidence(text, (text,), text),
        )
        roots.append(samples.root(f"infra/{number}", [change]))
    hosts = tuple(HostState(text, asked=True, as_of=text, error=text) for text in HOSTILE)
    review = replace(samples.review(*roots), hosts=hosts, limits=HOSTILE)
    for size in ((160, 60), (80, 24)):
        async with running(review, size=size) as on:
            seen = ""
            for _ in range(len(on.changes.rows)):
                await on.press("j", "enter")
                for _ in range(4):
                    lines = on.lines
                    seen += "\n".join(lines)
                    assert all(text.isprintable() and len(text) <= size[0] for text in lines)
                    await on.press("pagedown")
                await on.press("escape")
            assert "[bold red]markup[/]" in seen
            assert "\\x1b[31mred" in seen
            assert "\\u202egnp.exe" in seen


async def test_what_limits_the_review_is_said_once(three: Review, running: Running) -> None:
    review = replace(three, limits=("signatures are not checked: gpg is not installed; [bold]install[/] it",))
    async with running(review, size=(80, 24)) as on:
        await until(on, lambda: "signatures are not checked" in on.text)
        assert "[bold]install[/]" in on.text
        told = len(on.app._notifications)
        on.app.clear_notifications()
        await on.pilot.pause()
        assert "1 note" in on.text
        await on.press("r")
        await on.settle()
        assert (told, len(on.app._notifications)) == (1, 0)


async def test_the_fingerprint_is_copied_whole(three: Review, running: Running) -> None:
    key = SigningKey("7B1F0A9355E240CD9A1E88B42517E112C2EC7068", ("a",), "RSA 4096", "2023-05-10", None, False, False)
    change = replace(three.roots[0].changes[0], new_signer=Signer(Tier.PARTNER, (key,), "5.2.0"))
    review = replace(three, roots=(replace(three.roots[0], changes=(change,)),))
    async with running(review, size=(80, 24)) as on:
        await on.press("j", "enter")
        on.detail.cursor = next(index for index, line in enumerate(on.detail.lines) if "7B1F 0A93" in line.text)
        await on.press("y")
        assert on.app.clipboard == key.fingerprint


def network(registry: DemoRegistry, folder: Path) -> NetworkSettings:
    folder.mkdir(exist_ok=True)
    return NetworkSettings(environ_of(registry, folder), Cache.in_memory())


@pytest.fixture
def real(tmp_path: Path) -> Callable[[DemoRegistry], LockLensApp]:
    def build(registry: DemoRegistry) -> LockLensApp:
        top = make_repository(tmp_path / "infrastructure")
        request = ReviewRequest(partial(open_git, top), network=network(registry, tmp_path / "cli"))
        return LockLensApp(LockLens(request), store_path=tmp_path / "store.sqlite3")

    return build


async def test_a_registry_that_answers_late(real: Callable[[DemoRegistry], LockLensApp]) -> None:
    with DemoRegistry(faults=Faults(SAMPLE_RULES), delay=0.4) as registry:
        app = real(registry)
        async with app.run_test(size=(120, 40)) as pilot:
            on = Driver(app, pilot)
            await until(on, lambda: "… of" in on.text)
            await on.go_to("hashicorp/google")
            key = on.current.key
            await until(on, lambda: " done" in on.text)
            await on.press("enter", "escape")
            await until(on, lambda: not on.screen.is_asking)
            assert on.current.key == key
            assert "… of" not in on.text
            await on.go_to("acme/demo")
            assert "1 of 6" in on.text
            detail = "\n".join(line.text for line in on.detail.lines)
            assert "base packages still listed  0 of 5" in detail
            assert "different key than the nearest release, 1.4.1" in detail
            assert on.screen.review is not None
            assert "registry.opentofu.org" in "".join(line.text for line in on.screen.facts.lines)
            assert "1 of 2 registries failed" in on.text


async def test_asking_a_silent_registry_can_be_left(
    real: Callable[[DemoRegistry], LockLensApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF_REGISTRY_CLIENT_TIMEOUT", "3600")
    with DemoRegistry(delay=3600) as registry:
        app = real(registry)
        async with asyncio.timeout(300), app.run_test(size=(120, 40)) as pilot:
            on = Driver(app, pilot)
            await until(on, lambda: "checking registries: 0 of" in on.text)
            assert on.screen.review is not None
            assert all(root.configuration is not None for root in on.screen.review.roots), "all is read meanwhile"
            await on.press("r")
            await until(on, lambda: "… of" in on.text)
            await on.press("q")
        assert app.return_value == 0


async def test_asking_again_asks_the_registry_again(real: Callable[[DemoRegistry], LockLensApp]) -> None:
    with DemoRegistry() as registry:
        app = real(registry)
        async with app.run_test(size=(120, 40)) as pilot:
            on = Driver(app, pilot)
            await until(on, lambda: bool(on.titles) and not on.screen.is_asking)
            count = len(registry.requests)
            registry.faults.add(Fault.SERVER_ERROR, "registry.terraform.io")
            await on.press("r")
            await until(on, lambda: not on.screen.is_asking)
            assert len(registry.requests) > count
            assert "registries failed" in on.text
