"""Whom a stranger's branch makes a reviewer's machine ask, and by whose policy it is judged: nobody's but the base's."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme
from kit.effort import some
from kit.git import git
from kit.loopback import server_context, write_authority
from kit.registries import lead_to
from kit.repositories import commit, copy_of
from ui.conftest import Driver, until

from locklens.cli.main import main
from locklens.demo import SampleLock, lock_file
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.operations.locklens import LockLens
from locklens.operations.review import explain_provider
from locklens.operations.review.request import ReviewRequest
from locklens.policy import POLICY_FILE
from locklens.ui.app import LockLensApp
from locklens.ui.hashes import HashesScreen
from locklens.ui.preview import PreviewScreen
from locklens.ui.shell.two_panes import TwoPaneScreen
from locklens.ui.upgrade import UpgradeScreen
from locklens.ui.widgets.line_view import LineView

HOME, LOCK = "registry.terraform.io", "infra/.terraform.lock.hcl"
OF_THE_BASE = 'cooldown = 77\n\n[platforms]\nlinux_amd64 = "of the base"\n'
OF_THE_CHANGE = '[platforms]\nsolaris_amd64 = "of the change"\n'


class Registries(NamedTuple):
    """The registry that is asked, and a stranger's, which nothing but a branch names."""

    home: DemoRegistry
    stranger: DemoRegistry
    authority: trustme.CA

    @property
    def host(self) -> str:
        """Where the stranger's registry is."""
        return f"localhost:{self.stranger.port}"

    def lay_branches(self, top: Path) -> None:
        """Makes the branch `main`, and a stranger's branch `pr` that moves a provider to the stranger's registry."""
        place = Place(top, self)
        git(top, "init", "-q")
        place.commit(HOME, OF_THE_BASE)
        git(top, "checkout", "-q", "-b", "pr")
        place.commit(self.host, OF_THE_CHANGE)


class Place:
    """A repository with the branches of `Registries`, of which the stranger's is checked out."""

    def __init__(self, top: Path, registries: Registries) -> None:
        self.top = top
        self.host = registries.host
        self._stranger = registries.stranger
        self._before = len(self._stranger.requests)

    def commit(self, host: str, policy: str) -> None:
        source = f'demo = {{ source = "{host}/acme/demo" }}'
        lock = lock_file(SampleLock(f"{host.partition(':')[0]}/acme/demo", "1.0.0"))
        files: dict[str, bytes | str] = {
            "infra/main.tf": f"terraform {{\n  required_providers {{\n    {source}\n  }}\n}}\n",
            LOCK: lock.replace(b'"localhost/', f'"{host}/'.encode()),
            POLICY_FILE: policy,
        }
        commit(self.top, files)

    @property
    def asked(self) -> list[str]:
        """What the stranger's registry was asked."""
        return [request.path for request in self._stranger.requests[self._before :]]


def offers(provider: str) -> Mapping[str, list[str | SampleListing]]:
    return {provider: [SampleListing("1.0.0", days=300), SampleListing("1.1.0", days=30)]}


@pytest.fixture(scope="module")
def registries() -> Iterator[Registries]:
    authority = trustme.CA()
    context = server_context(authority, "localhost")
    with (
        DemoRegistry(offers(f"{HOME}/acme/demo")) as home,
        DemoRegistry(offers("localhost/acme/demo"), tls=context) as stranger,
    ):
        yield Registries(home, stranger, authority)


@pytest.fixture
def place(registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("SSL_CERT_FILE", str(write_authority(registries.authority, tmp_path / "ca.pem")))
    lead_to(monkeypatch, registries.home, tmp_path)
    found = Place(copy_of(registries.lay_branches, tmp_path / "top"), registries)
    monkeypatch.chdir(found.top)
    return found


def nothing_opens(request: ReviewRequest, view: str) -> int:
    raise AssertionError(f"a screen opens on {view}")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main([*words, "--no-cache"], nothing_opens)
    return status, capsys.readouterr().out


COMMANDS = [
    ("review", "main"),
    ("review", "main", "--prove", "all"),
    ("review", "main", "--head", "pr", "--all"),
    ("review", "--all"),
    ("review", "main", "--merge-base"),
    ("hashes",),
    ("hashes", "main"),
    ("keys",),
    ("keys", "main", "--history"),
    ("why", "demo"),
    ("health",),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_asks_whom_only_the_change_names(
    place: Place, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    said(capsys, *words, "--format", "text")
    assert place.asked == []
    said(capsys, *words, "--format", "text", "--ask-host", place.host)
    assert place.asked, "the registry is there, and would have answered"


def test_a_base_that_is_named_vouches_for_its_hosts(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = said(capsys, "keys", "--format", "text")
    assert f"--ask-host {place.host} asks it" in text
    _, text = said(capsys, "keys", "pr", "--format", "text")
    assert place.asked
    assert "not asked" not in text


def test_why_asks_whom_the_review_of_the_same_files_asks(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """HEAD vouches for the registries of the lock files that differ from it: on a screen and on the command line."""
    lock = place.top / LOCK
    lock.write_bytes(lock.read_bytes().replace(b"1.0.0", b"1.1.0"))
    said(capsys, "review", "--format", "text")
    assert place.asked
    before = len(place.asked)
    _, text = said(capsys, "why", "demo", "--format", "text")
    assert len(place.asked) > before
    assert "not asked" not in text


def test_why_reads_no_base_for_a_registry_that_is_asked_anyway(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git(place.top, "checkout", "-q", "main")
    monkeypatch.setattr(explain_provider, "_base_hosts", lambda *_: pytest.fail("the base is read"))
    _, text = said(capsys, "why", "demo", "--format", "text")
    assert "1.1.0" in text


@pytest.mark.parametrize("words", [("hashes", "main"), ("review", "main")], ids=" ".join)
def test_the_policy_is_that_of_the_base_that_was_named(
    place: Place, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    _, text = said(capsys, *words, "--format", "json")
    assert json.loads(text)["run"]["policy"]["side"] == "base"
    assert "solaris_amd64" not in text.replace("platforms.solaris_amd64 absent -> ", ""), (
        "it is told as a difference alone"
    )


# Names that the change brings along


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    status = main([*words], nothing_opens)
    out, err = capsys.readouterr()
    assert (status, out) == (2, ""), (words, out, err)
    return err


@pytest.mark.parametrize(
    "words",
    [
        ("review", "main", "--format", "text"),
        ("review", "main~0", "--format", "text"),
        ("review", "main^{commit}", "--format", "text"),
        ("review", "main", "--merge-base", "--format", "text"),
        ("review", "HEAD", "--head", "main", "--format", "text"),
        ("review", "--old", f"main:{LOCK}", "--new", LOCK, "--format", "text"),
        ("hashes", "main", "--format", "text"),
        ("keys", "main", "--format", "text"),
        ("restore", "demo", "--from", "main", "--dry-run", "--root", "infra"),
    ],
    ids=" ".join,
)
def test_a_tag_does_not_take_the_place_of_the_base(
    place: Place, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """Tags follow a fetch from a fork, and git prefers them to branches."""
    git(place.top, "tag", "main", "pr")
    told = refused(capsys, *words)
    assert "is ambiguous: main is the name of refs/tags/main and refs/heads/main" in told
    assert "use the full name, as in refs/heads/main" in told
    assert place.asked == []


def test_a_full_reference_is_taken_for_itself(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    git(place.top, "tag", "main", "pr")
    _, text = said(capsys, "review", "refs/heads/main", "--format", "text")
    assert "moved from" in text
    # A tag may be called that, too.
    git(place.top, "tag", "refs/remotes/up/main", "pr")
    told = refused(capsys, "review", "refs/remotes/up/main", "--format", "text")
    assert "there is no refs/remotes/up/main, and git would take refs/tags/refs/remotes/up/main for it" in told
    git(place.top, "update-ref", "refs/remotes/up/main", "refs/heads/main")
    _, text = said(capsys, "review", "refs/remotes/up/main", "--format", "text")
    assert "moved from" in text


def test_what_git_describe_prints_is_no_ambiguous_name(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    git(place.top, "tag", "-a", "v1", "-m", "v1", "main")
    git(place.top, "branch", "main-line/deep", "main")
    for name in (git(place.top, "describe", "--long", "main"), "v1", "v1^{}", "main-line/deep", "heads/main"):
        _, text = said(capsys, "review", name, "--format", "text")
        assert "moved from" in text


def test_a_tag_does_not_take_the_place_of_a_remotes_branch(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    git(place.top, "update-ref", "refs/remotes/origin/main", "main")
    git(place.top, "tag", "origin/main", "pr")
    told = refused(capsys, "review", "origin/main", "--merge-base", "--format", "text")
    assert "refs/tags/origin/main and refs/remotes/origin/main" in told
    assert "as in refs/remotes/origin/main" in told


def test_a_tag_does_not_take_the_place_of_a_commit(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    head = git(place.top, "rev-parse", "main")
    for name in (head[:8], f"v1-3-g{head[:8]}"):
        git(place.top, "tag", name, "pr")
        told = refused(capsys, "review", name, "--format", "text")
        assert f"{name} is ambiguous: {head[:8]} abbreviates an object's id, and refs/tags/{name} has the name" in told
    git(place.top, "tag", head, "pr")
    _, text = said(capsys, "review", head, "--format", "text")
    assert "moved from" in text
    # A name of hexadecimal digits is as good as another where no object has it.
    git(place.top, "branch", "deadbeef", "main")
    _, text = said(capsys, "review", "deadbeef", "--format", "text")
    assert "moved from" in text


# Where a branch begins


def begun_early(place: Place, early: str = OF_THE_CHANGE, late: str = OF_THE_BASE) -> None:
    """Has `pr` begin before `main` had its policy, and moved away from the stranger's registry."""
    (place.top / POLICY_FILE).write_text(early)
    git(place.top, "commit", "-q", "--allow-empty", "-am", "x")
    git(place.top, "branch", "-f", "main", "pr")
    git(place.top, "checkout", "-q", "main")
    place.commit(HOME, late)
    git(place.top, "checkout", "-q", "pr")
    (place.top / LOCK).write_bytes((place.top / LOCK).read_bytes().replace(b"1.0.0", b"1.1.0"))
    git(place.top, "commit", "-qam", "x")


@pytest.mark.parametrize("words", [(), ("--head", "pr"), ("--all",)], ids=" ".join)
def test_where_a_branch_begins_chooses_no_policy(
    place: Place, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    begun_early(place, early="of_the_fork_point = 1\n")
    _, text = said(capsys, "review", "main", "--merge-base", "--format", "json", *words)
    found = json.loads(text)
    assert found["run"]["policy"]["side"] == "base"
    assert found["base"]["name"].startswith("main..."), "the differences are those since the fork point"
    (root,) = found["roots"]
    (change,) = root["changes"]
    assert change["kind"] == "upgrade"


def test_the_policy_of_the_base_as_it_is_now_counts(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    begun_early(place, late="of_the_tip = 1\n")
    assert main(["review", "main", "--merge-base", "--format", "text"], nothing_opens) == 2
    told = capsys.readouterr().err
    assert f"main:{POLICY_FILE}" in told
    assert "of_the_tip" in told


@pytest.mark.parametrize("words", [(), ("--head", "pr"), ("--prove", "all")], ids=" ".join)
def test_where_a_branch_begins_vouches_for_no_registry(
    place: Place, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    begun_early(place)
    _, text = said(capsys, "review", "main", "--merge-base", "--format", "text", *words)
    assert place.asked == []
    assert f"--ask-host {place.host} asks it" in text


def test_a_branch_from_before_the_policy_is_judged_by_it_without_a_note(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """The branch changes no policy: what differs is that of BASE, which moved on."""
    begun_early(place)
    _, text = said(capsys, "review", "main", "--merge-base", "--format", "text")
    assert "locklens.toml is" not in text
    _, text = said(capsys, "review", "main", "--format", "text")
    assert "differs from that of the base (main), which applies" in text


def test_a_registry_that_the_base_has_now_is_asked(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    git(place.top, "checkout", "-q", "main")
    place.commit(place.host, OF_THE_BASE)
    git(place.top, "checkout", "-q", "pr")
    said(capsys, "review", "main", "--merge-base", "--format", "text")
    assert place.asked


class Screens(Driver):
    """Words for what runs on several screens."""

    @property
    def panes(self) -> TwoPaneScreen:
        screen = self.app.screen
        assert isinstance(screen, TwoPaneScreen)
        return screen

    async def go(self, key: str) -> None:
        """Opens a screen, and waits until all that it asks is answered."""
        await self.press(key)
        await until(self, lambda: isinstance(self.app.screen, TwoPaneScreen))
        await until(self, lambda: self.panes.review is not None and not self.panes.is_asking)
        if isinstance(self.panes, UpgradeScreen):
            await until(self, lambda: self.panes.has_offers)  # type: ignore[attr-defined]
        await self.settle()

    def lines_of(self, name: str) -> str:
        return "\n".join(line.text for line in self.app.screen.query_one(name, LineView).lines)


Running = Callable[..., AbstractAsyncContextManager[Screens]]


@pytest.fixture
def on_screen(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Running:
    """Runs a command line that opens the terminal UI."""
    monkeypatch.setattr("locklens.cli.review.has_terminal", lambda: True)

    @asynccontextmanager
    async def run(*words: str) -> AsyncIterator[Screens]:
        wanted: list[tuple[ReviewRequest, str]] = []

        def keep(request: ReviewRequest, view: str) -> int:
            wanted.append((request, view))
            return 0

        assert main([*words, "--format", "tui", "--no-cache"], keep) == 0
        app = LockLensApp(LockLens(wanted[0][0]), wanted[0][1], store_path=tmp_path / "store.sqlite3")
        async with app.run_test(size=(150, 50), notifications=True) as pilot:
            on = Screens(app, pilot)
            await until(on, lambda: on.panes.review is not None and not on.panes.is_asking)
            yield on

    return run


RUNS = [
    ("review", "main", "--head", "pr"),
    ("review", "main"),
    ("review", "main", "--merge-base"),
    ("review", "--old", f"main:{LOCK}", "--new", LOCK),
    ("review",),
    ("keys",),
    ("hashes", "main"),
]


def has_policy_of_the_base(on: Screens) -> bool:
    assert on.panes.review is not None
    policy = on.panes.review.policy
    return (policy.cooldown, [str(one.platform) for one in policy.platforms]) == (77, ["linux_amd64"])


@pytest.mark.parametrize("words", some(RUNS, 2), ids=" ".join)
async def test_no_screen_asks_whom_only_the_change_names(
    place: Place, on_screen: Running, words: tuple[str, ...]
) -> None:
    async with on_screen(*words) as on:
        for key in "12345":
            names = {"1": "review", "2": "upgrade", "3": "hashes", "4": "keys", "5": "health"}
            if names[key] != on.panes.VIEW.name:
                await on.go(key)
            assert "main" not in words or has_policy_of_the_base(on), key
        assert place.asked == []


async def test_a_given_host_is_asked_on_every_screen(place: Place, on_screen: Running) -> None:
    async with on_screen("review", "main", "--ask-host", place.host) as on:
        for key in "2345":
            await on.go(key)
            assert "was not asked" not in on.text
        assert place.asked


async def test_no_screen_goes_by_where_a_branch_begins(place: Place, on_screen: Running) -> None:
    begun_early(place)
    async with on_screen("review", "main", "--merge-base") as on:
        for key in "234":
            await on.go(key)
            assert has_policy_of_the_base(on)
            if key == "3":
                assert "locklens.toml of main" in on.text
                assert "locklens.toml of main..." not in on.text
        assert place.asked == []


async def test_a_plan_asks_nobody_else_and_says_whom_it_would_need(place: Place, on_screen: Running) -> None:
    for view in ("1", "3"):
        async with on_screen("review", "main") as on:
            if view == "3":
                await on.go("3")
                assert isinstance(on.panes, HashesScreen)
            await on.press("j", "L")
            await until(on, lambda: isinstance(on.app.screen, PreviewScreen))
            await until(on, lambda: "was not asked" in on.lines_of("#plan"))
            assert f"--ask-host {place.host} asks it" in on.lines_of("#plan")
            assert place.asked == []


async def test_a_plan_is_judged_by_the_base(place: Place, on_screen: Running) -> None:
    """What is accepted is what the base has: that the stranger committed it says nothing."""
    (place.top / LOCK).write_bytes((place.top / LOCK).read_bytes().replace(b"1.0.0", b"1.1.0"))
    async with on_screen("review", "main") as on:
        await on.press("j", "R")
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen))
        await until(on, lambda: "of these files differs from main" in on.lines_of("#plan"))
        assert "HEAD already has" not in on.lines_of("#plan")
        screen = on.app.screen
        assert isinstance(screen, PreviewScreen)
        foreseen = screen.standing.plan_review
        assert foreseen is not None
        assert foreseen.review.policy.cooldown == 77
        assert place.asked == []


async def test_why_and_proving_ask_nobody_else(place: Place, on_screen: Running) -> None:
    async with on_screen("review", "main") as on:
        await on.press("j", "w")
        await until(on, lambda: "was not asked" in on.text)
        await on.press("escape", "v")
        await on.settle()
        assert place.asked == []
