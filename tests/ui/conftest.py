"""Reviews made by hand, a source that serves them, and the app on top of it."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kit.quick_screens import take_less
from kit.verified_once import verified_once
from msgspec.structs import replace
from textual.worker import WorkerCancelled

from locklens.addresses import ProviderAddress
from locklens.demo.incidents import make_repository
from locklens.dialect import TERRAFORM
from locklens.errors import LockLensError
from locklens.lockfile import Conflict, ConflictMarker, LockEntry, LockFile
from locklens.operations.locklens import LockLens, Reads
from locklens.operations.plan import Scope
from locklens.operations.review.explain_provider import OfferedVersions, WhySubject, explain_provider
from locklens.operations.review.opened import OpenedReview
from locklens.operations.review.request import Progress, ProvingPlanned, ReviewEvent, ReviewRequest, RootsKnown
from locklens.operations.upgrades import CandidateTable
from locklens.project.configuration import Configuration, Contributor, Hidden, MissingModule, Requirement, StateReading
from locklens.project.folders import FileWatch
from locklens.review import HashFact
from locklens.review.findings import Finding, Severity
from locklens.review.model import (
    Bump,
    Change,
    ChangeKind,
    Evidence,
    HostState,
    LockStatus,
    LookupAnswer,
    Review,
    RootReview,
    SideName,
)
from locklens.ui.app import LockLensApp
from locklens.ui.review import ReviewScreen
from locklens.ui.review.rows import ChangeList
from locklens.ui.shell.two_panes import TwoPaneScreen
from locklens.ui.widgets.line_view import LineView
from locklens.versions import Constraints, Version

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from locklens.dialect import Dialect
    from locklens.install.context import InstallEvent
    from locklens.operations.locklens import Log
    from locklens.operations.plan import FileChanges, Plan
    from locklens.operations.plan.review import PlanReview
    from locklens.operations.review.explain_provider import WhyRequest
    from locklens.operations.upgrades import KnownRelease
    from locklens.operations.write.apply import Operation
    from locklens.releases import ReleaseId
    from locklens.review.keys import PastUse, SignerUses
    from locklens.review.why import Why
    from locklens.ui.review.rows import Row

__all__ = ["verified_once"]

NOBODY = Evidence(problems=("the registry was not asked",), answer=LookupAnswer.NOT_ASKED)
"""As of a review that asks nobody."""


def digest(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


class Samples:
    """Builds review values; what is not said is ordinary."""

    def address(self, name: str = "hashicorp/aws", host: str = "registry.terraform.io") -> ProviderAddress:
        namespace, _, kind = name.partition("/")
        return ProviderAddress(host, namespace, kind)

    def hashes(self, name: str, version: str, count: int = 4) -> tuple[str, ...]:
        return tuple(f"zh:{digest(name, version, number)}" for number in range(count))

    def entry(
        self,
        name: str,
        version: str,
        *,
        constraints: str = "~> 5.0",
        hashes: Iterable[str] | None = None,
        line: int = 4,
    ) -> LockEntry:
        own = self.hashes(name, version) if hashes is None else tuple(hashes)
        return LockEntry(self.address(name), Version.parse(version), constraints, own, line)

    def finding(self, rule: str, severity: Severity, message: str = "it is so", **more: object) -> Finding:
        return Finding(rule, severity, message, **{"file": ".terraform.lock.hcl", "line": 4, **more})  # type: ignore[arg-type]

    def change(
        self,
        name: str = "hashicorp/aws",
        old: str | None = "5.1.0",
        new: str | None = "5.2.0",
        *,
        kind: ChangeKind = ChangeKind.UPGRADE,
        bump: Bump | None = Bump.MINOR,
        findings: tuple[Finding, ...] = (),
        required_by: tuple[Requirement, ...] = (),
        constraints: tuple[str, str] = ("~> 5.0", "~> 5.0"),
        salt: str = "",
    ) -> Change:
        before = self.entry(name, old, constraints=constraints[0]) if old else None
        after = self.entry(name, new, constraints=constraints[1]) if new else None
        if old == new and kind is not ChangeKind.CONSTRAINTS_ONLY and after is not None:
            after = replace(after, hashes=self.hashes(name, f"{new}-again"))
        had = before.hashes if before else ()
        has = after.hashes if after else ()
        added = tuple(HashFact(one) for one in has if one not in had)
        removed = tuple(HashFact(one) for one in had if one not in has)
        return Change(
            id=digest("id", name, old, new, kind, salt)[:32],
            group=digest("group", name, old, new, kind)[:32],
            address=self.address(name),
            kind=kind,
            moved_from=None,
            bump=bump if kind in {ChangeKind.UPGRADE, ChangeKind.DOWNGRADE} else None,
            old=before,
            new=after,
            added=added,
            removed=removed,
            kept=tuple(HashFact(text) for text in sorted(set(had) & set(has))),
            required_by=required_by,
            findings=findings,
            evidence=NOBODY,
        )

    def requirement(self, constraint: str = "~> 5.0", *, module: str = "", hidden: bool = False) -> Requirement:
        return Requirement(
            self.address(),
            constraint,
            Constraints.parse(constraint),
            "main.tf",
            3,
            module,
            Contributor.REQUIRED_PROVIDERS,
            "aws",
            Hidden("main.tf", 9, "~> 4.0") if hidden else None,
        )

    def configuration(self, *, missing: tuple[str, ...] = ()) -> Configuration:
        modules = tuple(MissingModule(name, "../x", "main.tf", 12, "it was not fetched") for name in missing)
        return Configuration("", TERRAFORM, True, (), modules, (), StateReading("none", ""), ("main.tf",))

    def root(
        self,
        path: str = "infra/prod",
        changes: Iterable[Change] = (),
        *,
        status: LockStatus = LockStatus.MODIFIED,
        findings: tuple[Finding, ...] = (),
        configuration: Configuration | None = None,
        format_only: bool = False,
        conflict: Conflict | None = None,
    ) -> RootReview:
        lock_file = f"{path}/.terraform.lock.hcl" if path else ".terraform.lock.hcl"
        return RootReview(
            path,
            lock_file,
            TERRAFORM,
            LockFile.absent(lock_file),
            LockFile(
                lock_file, b"", exists=status is not LockStatus.DELETED, writer=None, entries=(), conflict=conflict
            ),
            status,
            format_only,
            tuple(changes),
            findings,
            configuration=configuration,
        )

    def review(self, *roots: RootReview) -> Review:
        return Review(
            at="2026-11-21T14:02:11Z",
            offline=True,
            hosts=(HostState("registry.terraform.io", asked=False),),
            base=SideName("git", "HEAD", "3f9c1e2b" * 5),
            head=SideName("worktree", "worktree", None),
            roots=roots,
        )

    def conflict(self, ours: str = "5.1.0", theirs: str = "5.2.0") -> Conflict:
        def side(version: str) -> LockFile:
            entry = self.entry("hashicorp/aws", version)
            return LockFile(".terraform.lock.hcl", b"", exists=True, writer=TERRAFORM, entries=(entry,))

        return Conflict((ConflictMarker(4, 8, 12, "HEAD", "feature/new-aws"),), side(ours), side(theirs))

    def full(self) -> Review:
        """About 15 roots with one of everything."""
        warn, block, info = Severity.WARN, Severity.BLOCK, Severity.INFO
        replaced = self.change(
            "acme/demo",
            "1.0.0",
            "1.0.0",
            kind=ChangeKind.REPLACED_HASHES,
            findings=(
                self.finding("LK003", warn, "4 zh added, 4 zh removed, and every package hash was replaced", line=5),
                self.finding(
                    "LK005",
                    block,
                    "1.0.0 does not satisfy >= 1.1 of main.tf:3",
                    file="infra/prod/network/main.tf",
                    line=3,
                ),
            ),
            required_by=(self.requirement(">= 1.1"), self.requirement("~> 1.0", module="edge", hidden=True)),
        )
        down = self.change(
            "acme/netbox",
            "4.0.0",
            "3.9.0",
            kind=ChangeKind.DOWNGRADE,
            bump=Bump.MAJOR,
            findings=(self.finding("LK004", warn, "4.0.0 -> 3.9.0 is a downgrade"),),
        )
        major = self.change(
            "hashicorp/azurerm",
            "3.117.1",
            "4.52.0",
            bump=Bump.MAJOR,
            findings=(self.finding("LK013", info, "major version 3 -> 4"),),
        )
        shared = self.change("hashicorp/random", "3.6.3", "3.7.2", required_by=(self.requirement("~> 3.6"),))
        aws = self.change("hashicorp/aws", "6.14.1", "6.21.0", required_by=(self.requirement("~> 6.9"),))
        new = self.change("datadog/datadog", None, "3.81.0", kind=ChangeKind.NEW_PROVIDER)
        gone = self.change("hashicorp/template", "2.2.0", None, kind=ChangeKind.REMOVED)
        loose = self.change(
            "hashicorp/tls", "4.1.0", "4.1.0", kind=ChangeKind.CONSTRAINTS_ONLY, constraints=("~> 4.0", "~> 4.1")
        )
        stages = [
            self.root(f"infra/stage/{name}", [shared], configuration=self.configuration())
            for name in ("a", "b", "c", "d", "e", "f", "g")
        ]
        return self.review(
            self.root(
                "infra/prod/network",
                [replaced, down, aws, new, gone],
                configuration=self.configuration(missing=("edge",)),
            ),
            self.root("infra/prod/data", [major, shared, aws, loose]),
            self.root(
                "infra/ci",
                [self.change("hashicorp/null", "3.2.3", "3.2.4", bump=Bump.PATCH)],
                configuration=self.configuration(),
            ),
            self.root(
                "infra/dns",
                findings=(
                    self.finding(
                        "LK006",
                        block,
                        "cloudflare/cloudflare is required and not locked",
                        file="infra/dns/main.tf",
                        line=2,
                    ),
                ),
                status=LockStatus.UNCHANGED,
            ),
            self.root(
                "infra/edge",
                status=LockStatus.INVALID,
                conflict=self.conflict(),
                findings=(self.finding("LK019", block, "conflict markers"),),
            ),
            self.root(
                "infra/win", format_only=True, findings=(self.finding("LK018", info, "not canonical: CRLF line ends"),)
            ),
            self.root("", [self.change("hashicorp/local", "2.5.3", "2.6.1")], configuration=self.configuration()),
            *stages,
        )

    def many(self, roots: int = 200) -> Review:
        """Many roots with five changes each, of which two are the same everywhere."""
        shared = (self.change("hashicorp/random"), self.change("hashicorp/tls", "4.0.6", "4.1.0"))
        return self.review(
            *(
                self.root(
                    f"infra/team-{number:03}/service",
                    [*shared, *(self.change(f"acme/own{number}-{one}", "1.0.0", "1.1.0") for one in range(3))],
                )
                for number in range(roots)
            )
        )


def drafted(review: Review) -> Review:
    """A review as it is before anything but the lock files was read; the worst findings come with the facts."""
    roots = (replace(root, configuration=None, changes=tuple(map(_unsettled, root.changes))) for root in review.roots)
    return replace(review, roots=tuple(roots), hosts=())


def _unsettled(change: Change) -> Change:
    known = tuple(finding for finding in change.findings if finding.severity is Severity.INFO)
    return replace(change, evidence=None, findings=known)


@dataclass
class ServedReview(OpenedReview):
    """An opened comparison that a test made."""

    draft: Review
    final: Review
    files: tuple[Path, ...] = ()
    top: Path | None = None
    repository: str = "repository"
    gate: threading.Event | None = None
    closed: threading.Event = field(default_factory=threading.Event)

    def complete(self, *, on_event: Callable[[ReviewEvent], None], cancel: threading.Event) -> Review:
        for number, root in enumerate(self.final.roots, start=1):
            on_event(RootsKnown((root,)))
            on_event(Progress("configuration", number, len(self.final.roots)))
            if self.gate is not None:
                while not self.gate.wait(0.01) and not cancel.is_set():
                    pass
        return self.final

    def watch(self, review: Review, *, since_ns: int) -> FileWatch | None:
        return FileWatch(None, self.files, since_ns=since_ns) if self.files else None

    def close(self) -> None:
        self.closed.set()


def refuse(*_: object) -> Any:
    raise LockLensError("nothing of that here")


def explained(
    subject: WhySubject, ask: Callable[..., Any] = lambda _: None, ages: Mapping[Version, int] | None = None
) -> Why:
    """What the workspace says of it, whatever the registry is."""
    request = ReviewRequest(lambda: None)  # type: ignore[arg-type, return-value]

    def offered(address: ProviderAddress) -> OfferedVersions | None:
        listed = ask(address)
        return None if listed is None else OfferedVersions(listed, ages or {})

    return explain_provider(subject, request, offered)


@dataclass
class ServingSource(LockLens):
    """Serves what a test puts in: a review or an error."""

    served: Review | None = None
    error: LockLensError | None = None
    files: tuple[Path, ...] = ()
    top: Path | None = None
    gate: threading.Event | None = None
    is_offline: bool = False
    tool: Dialect | None = None
    _folder: Path | None = None
    request: ReviewRequest = field(default_factory=lambda: ReviewRequest(lambda: None, fail_on="block"))  # type: ignore[arg-type, return-value]
    opened: list[ServedReview] = field(default_factory=list)
    opening: Callable[[Callable[[ReviewEvent], None]], object] = lambda _: None
    others: dict[Reads, ServingSource] = field(default_factory=dict)
    asked_views: list[tuple[Reads, Path | None]] = field(default_factory=list)
    proofs: list[frozenset[tuple[str, ProviderAddress]]] = field(default_factory=list)
    proving: Callable[..., tuple[RootReview, ...]] = lambda *_: ()
    past: Callable[..., tuple[PastUse, ...]] = lambda *_: ()
    operations: list[Operation] = field(default_factory=list)
    planning: Callable[..., Plan] = refuse
    reviewing_plan: Callable[..., PlanReview] = refuse
    applied: list[FileChanges] = field(default_factory=list)
    applying: Callable[[FileChanges], tuple[str, ...]] = lambda _: ()
    offering: Callable[..., CandidateTable] = lambda *_: CandidateTable()
    known: dict[ReleaseId, KnownRelease] = field(default_factory=dict)
    asked_releases: list[ReleaseId] = field(default_factory=list)
    asked_fresh: list[bool] = field(default_factory=list)
    whys: list[tuple[WhySubject, bool, bool]] = field(default_factory=list)
    explaining: Callable[[WhySubject, bool], Why] = lambda subject, _: explained(subject)

    def open(self, *, is_fresh: bool = False, on_event: Callable[[ReviewEvent], None] = lambda _: None) -> ServedReview:
        if self.error is not None:
            raise self.error
        self.opening(on_event)
        assert self.served is not None
        draft = drafted(self.served)
        served = ServedReview(draft, self.served, self.files, self.top, gate=self.gate)
        self.opened.append(served)
        return served

    def watch(self, *, since_ns: int) -> FileWatch | None:
        return None

    def for_view(self, reads: Reads, folder: Path | None) -> ServingSource:
        self.asked_views.append((reads, folder))
        return self.others.get(reads) or ServingSource(error=LockLensError(f"no {reads} here"))

    def prove(
        self,
        review: Review,
        chosen: Collection[tuple[str, ProviderAddress]],
        *,
        confirm: Callable[[ProvingPlanned], bool],
        on_event: Callable[[ReviewEvent], None],
        cancel: threading.Event,
    ) -> tuple[RootReview, ...]:
        self.proofs.append(frozenset(chosen))
        return self.proving(review, confirm, on_event, cancel)

    def where(self, top: Path, roots: Iterable[str]) -> Scope:
        return Scope(top, tuple(roots))

    def plan(
        self,
        operation: Operation,
        review: Review | None = None,
        *,
        on_root: Callable[[str], None] = lambda _: None,
        on_event: Callable[[InstallEvent], None] = lambda _: None,
        cancel: threading.Event | None = None,
        on_log: Log = lambda _: None,
        on_notes: Log = lambda _: None,
    ) -> Plan:
        self.operations.append(operation)
        return self.planning(operation, on_root, on_event, cancel)

    def review_plan(
        self,
        plan: Plan,
        review: Review,
        *,
        on_event: Callable[[ReviewEvent], None] = lambda _: None,
        cancel: threading.Event | None = None,
    ) -> PlanReview:
        return self.reviewing_plan(plan, on_event, cancel)

    def apply(self, proposal: FileChanges) -> tuple[str, ...]:
        self.applied.append(proposal)
        return self.applying(proposal)

    def why(
        self,
        subject: WhyRequest | WhySubject,
        *,
        is_asking: bool = True,
        is_fresh: bool = False,
        cancel: threading.Event | None = None,
        on_log: Log = lambda _: None,
    ) -> Why:
        assert isinstance(subject, WhySubject)
        self.whys.append((subject, is_asking, is_fresh))
        return self.explaining(subject, is_asking)

    def history(
        self,
        signer: SignerUses,
        *,
        on_event: Callable[[ReviewEvent], None] = lambda _: None,
        cancel: threading.Event | None = None,
    ) -> tuple[PastUse, ...]:
        return self.past(signer, on_event, cancel)

    def candidates(
        self,
        review: Review,
        top: Path,
        *,
        on_known: Callable[[CandidateTable], None] = lambda _: None,
        cancel: threading.Event | None = None,
        is_fresh: bool = False,
    ) -> CandidateTable:
        self.asked_fresh.append(is_fresh)
        return self.offering(on_known, cancel)

    def releases(
        self,
        review: Review,
        wanted: Sequence[ReleaseId],
        *,
        on_known: Callable[[KnownRelease], None],
        cancel: threading.Event | None = None,
    ) -> None:
        self.asked_releases += wanted
        for one in wanted:
            if one in self.known:
                on_known(self.known[one])


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("sample") / "infrastructure")


@pytest.fixture
def samples() -> Samples:
    return Samples()


@pytest.fixture(autouse=True)
def counted_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    take_less(monkeypatch)
    monkeypatch.setenv("EDITOR", "/bin/vi")  # a key line names its key where one is set
    monkeypatch.delenv("VISUAL", raising=False)


PICTURES = Path(__file__).parents[1] / "data" / "screens"
"""Screens as they are painted. `LOCKLENS_PICTURES=write pytest tests/ui -k pictured` paints them anew, for git to compare."""


class Driver:
    """An app under test, with words for what a test asks most."""

    def __init__(self, app: LockLensApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> ReviewScreen:
        found = self.app._views["review"]
        assert isinstance(found, ReviewScreen)
        return found

    @property
    def changes(self) -> ChangeList:
        return self.screen.query_one(ChangeList)

    @property
    def detail(self) -> LineView:
        return self.screen.query_one("#detail", LineView)

    @property
    def current(self) -> Row:
        row = self.changes.current
        assert row is not None
        return row

    @property
    def is_on_top(self) -> bool:
        """Whether no dialog is above the review."""
        return self.app.screen is self.screen

    async def settle(self) -> None:
        """Waits for workers, also for those that take a cancelled one's place, and for what they posted."""
        while running := [worker for worker in self.app.workers if not worker.is_finished]:
            with suppress(WorkerCancelled):
                await self.app.workers.wait_for_complete(running)
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def resize(self, size: tuple[int, int]) -> None:
        """Gives the terminal another size: an app that is only looked at need not be started for each."""
        await self.pilot.resize_terminal(*size)
        await self.pilot.pause()

    async def go_to(self, title: str) -> None:
        """Puts the cursor on a row by its title."""
        self.changes.cursor = next(index for index, row in enumerate(self.changes.rows) if row.node.title == title)
        await self.pilot.pause()

    @property
    def lines(self) -> list[str]:
        """What is on the screen, line by line."""
        return ["".join(segment.text for segment in strip) for strip in self.app.screen._compositor.render_strips()]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def is_pictured(self, name: str) -> None:
        """Compares the whole screen with its picture, which has its size in its name."""
        width, height = self.app.size
        picture = PICTURES / f"{name}-{width}x{height}.txt"
        shown = "".join(f"{text.rstrip()}\n" for text in self.lines)
        if os.environ.get("LOCKLENS_PICTURES") == "write":
            picture.write_text(shown, "utf-8")
        assert shown == picture.read_text("utf-8")

    @property
    def said(self) -> str:
        """All of the detail of the view that is open, also below dialogs."""
        view = next(one for one in reversed(self.app.screen_stack) if isinstance(one, TwoPaneScreen))
        return "\n".join(line.text for line in view.detail.lines)

    @property
    def titles(self) -> list[str]:
        return [row.node.title for row in self.changes.rows]


async def until(on: Driver, holds: Callable[[], bool], *, seconds: float = 120) -> None:
    """Waits until something is so, and what it posted is handled; only a test that fails reaches the limit.

    It looks less often the longer it waits: most looks paint the screen, in the time of what is waited for.
    """
    waited = 0.0
    while not holds():
        if waited > seconds:
            raise AssertionError("it did not happen in time:\n" + on.text)
        pause = min(0.05 + waited / 5, 0.3)
        await on.pilot.pause(pause)
        waited += pause
    await on.pilot.pause()


Running = Callable[..., AbstractAsyncContextManager[Driver]]


@pytest.fixture
def running(tmp_path: Path) -> Running:
    """Runs the app on a review or a source; the driver is ready when all is read."""

    @asynccontextmanager
    async def run(
        what: LockLens | Review, view: str = "review", *, size: tuple[int, int] = (120, 40), settled: bool = True
    ) -> AsyncIterator[Driver]:
        own = ServingSource(what) if isinstance(what, Review) else what
        app = LockLensApp(own, view, store_path=tmp_path / "store.sqlite3")
        async with app.run_test(size=size, notifications=True) as pilot:
            driver = Driver(app, pilot)
            if settled:
                await driver.settle()
            yield driver

    return run
