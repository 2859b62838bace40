"""The Hashes screen: locked hashes, platforms and proof; marks, verifying and locking."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from ui.conftest import Driver, Running, Samples, ServingSource, digest, until

from locklens.addresses import Platform, ProviderAddress
from locklens.demo.faults import Faults
from locklens.demo.incidents import make_repository
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import SAMPLE_RULES, environment, write_cli_configuration
from locklens.dialect import OPENTOFU
from locklens.errors import LockLensError
from locklens.operations.compare import open_locked
from locklens.operations.locklens import LockLens
from locklens.operations.reports import render_report
from locklens.operations.review.request import Progress, ReviewRequest
from locklens.operations.write.lock import Lock
from locklens.policy import InstallPath, Policy, WantedPlatform
from locklens.releases import NetworkSettings
from locklens.review import HashFact, Proof
from locklens.review.findings import Severity
from locklens.review.model import Change, ChangeKind, Evidence, LockStatus, LookupAnswer, PolicySide, Review, RootReview
from locklens.review.reports import lock_lines
from locklens.storage.cache import Cache
from locklens.ui.app import LockLensApp
from locklens.ui.hashes import HASHES_KEYS, INSTALL_PATHS, HashesScreen
from locklens.ui.hashes.detail import _ladder_lines, hash_detail, hashes_head
from locklens.ui.hashes.rows import HASHES_GRAMMAR, HashList, hash_rows
from locklens.ui.preview import PreviewScreen
from locklens.ui.prove import ProveDialog
from locklens.ui.review import ReviewScreen
from locklens.ui.shell.filtering import parse_filter
from locklens.ui.signers import signers_head
from locklens.ui.widgets import BarLayout

LINUX, ARM, MAC = "linux_amd64", "linux_arm64", "darwin_arm64"
AS_OF = "2026-11-21T14:02:09Z"
H1 = {name: "h1:" + letter * 42 + "A=" for name, letter in ((LINUX, "L"), (ARM, "R"), (MAC, "M"), ("", "U"))}
HOSTILE = ("\x1b[31mred\x1b[0m", "[bold red]markup[/]", "[@click=app.quit]x[/]", "\u202egnp.exe", "a\nb", "x" * 300)


def zh(platform: str, salt: str = "") -> str:
    digits = "".join(f"{ord(one):x}" for one in (platform + salt).ljust(40, "."))
    return "zh:" + digits[:64].ljust(64, "0")


def locked(
    samples: Samples,
    name: str,
    h1: tuple[str, ...] = (LINUX,),
    *,
    offered: tuple[str, ...] | None = (LINUX, ARM, MAC),
    unproven: bool = False,
    **more: object,
) -> Change:
    """An unchanged provider with all zh signed, and the h1 of some platforms computed."""
    facts = [HashFact(H1[one], one, Proof.COMPUTED) for one in h1]
    facts += [HashFact(H1[""])] if unproven else []
    facts += [HashFact(zh(one, name), one, Proof.SIGNED) for one in offered or ()]
    change = samples.change(name, "1.0.0", "1.0.0", kind=ChangeKind.UNCHANGED)
    assert change.new is not None
    lines = tuple(range(8 - change.new.line, 8 - change.new.line + len(facts)))
    entry = replace(change.new, hashes=tuple(one.hash for one in facts), hash_offsets=lines)
    evidence = Evidence(AS_OF, offered=offered, hashed=h1, to_prove=2, to_prove_bytes=3 << 20)
    made = replace(change, old=entry, new=entry, added=(), removed=(), kept=tuple(facts), evidence=evidence)
    return replace(made, **more)


WANTED = Policy(
    (WantedPlatform(Platform.parse(LINUX), "CI, prod", 4), WantedPlatform(Platform.parse(MAC), "laptops", 5)),
    frozenset({InstallPath.DIRECT, InstallPath.PLUGIN_CACHE}),
    file="locklens.toml",
)


@pytest.fixture
def repository(samples: Samples) -> Review:
    short = (samples.finding("LK009", Severity.WARN, f"{MAC} (laptops) is not covered from a plugin cache"),)
    stale = HashFact(zh("gone"), None, Proof.STALE)
    demo = locked(samples, "acme/demo", kind=ChangeKind.CHANGED_HASHES, removed=(stale,), findings=short)
    demo = replace(demo, added=demo.kept[:1], kept=demo.kept[1:])
    failed = Evidence(None, ("a.example: it is down",), "try again", LookupAnswer.FAILED)
    unknown = replace(locked(samples, "corp/vault", (), unproven=True, offered=None), evidence=failed)
    review = samples.review(
        samples.root("infra/prod", [demo, locked(samples, "acme/whole", (LINUX, MAC))]),
        samples.root("infra/stage", [locked(samples, "acme/open", unproven=True), unknown]),
        samples.root("", [locked(samples, "acme/top", (LINUX, ARM, MAC))]),
    )
    return replace(review, offline=False, policy=WANTED, policy_side=PolicySide.BASE)


class HashesDriver(Driver):
    """Words for the screen of hashes."""

    @property
    def hashes(self) -> HashesScreen:
        return next(one for one in self.app.screen_stack if isinstance(one, HashesScreen))

    @property
    def names(self) -> list[str]:
        return [row.name for row in self.hashes.left.rows]

    async def choose(self, name: str) -> None:
        self.hashes.left.cursor = self.names.index(name)
        await self.pilot.pause()

    async def choose_line(self, start: str) -> None:
        lines = self.hashes.detail.lines
        self.hashes.detail.cursor = next(n for n, one in enumerate(lines) if one.text.strip().startswith(start))
        await self.pilot.pause()


Opened = Callable[..., AbstractAsyncContextManager[HashesDriver]]


@pytest.fixture
def opened(running: Running, tmp_path: Path) -> Opened:
    @asynccontextmanager
    async def run(source: ServingSource | Review, view: str = "hashes", **how: Any) -> AsyncIterator[HashesDriver]:
        own = ServingSource(source, top=tmp_path) if isinstance(source, Review) else source
        async with running(own, view, **how) as shown:
            yield HashesDriver(shown.app, shown.pilot)

    return run


# Rows and lines, without a screen


def test_rows_by_root(repository: Review) -> None:
    rows = hash_rows(repository)
    assert [(row.name, row.cover.text, row.proof.text) for row in rows] == [
        ("infra/prod", "", ""),
        ("acme/demo", "1/2", "0 of 4"),
        ("acme/whole", "2/2", "0 of 5"),
        ("infra/stage", "", ""),
        ("acme/open", "1/2?", "1 of 5"),
        ("corp/vault", "0/2?", "1 of 1"),
        (".", "", ""),
        ("acme/top", "2/2", "0 of 6"),
    ]
    assert [row.severity for row in rows[:2]] == [Severity.WARN, Severity.WARN]
    assert [row.has_findings for row in rows[:2]] == [False, True]  # n goes to the row that says what is found


def test_providers_of_both_default_registries_are_told_apart(samples: Samples) -> None:
    ours = samples.change("hashicorp/random", "3.7.2", "3.7.2", kind=ChangeKind.UNCHANGED)
    assert ours.new is not None
    address = ProviderAddress(OPENTOFU.default_host, "hashicorp", "random")
    theirs = replace(ours, address=address, new=replace(ours.new, address=address))
    review = samples.review(samples.root("a", [ours]), replace(samples.root("b", [theirs]), tool=OPENTOFU))
    names = ["a", "hashicorp/random (terraform)", "b", "hashicorp/random (tofu)"]
    assert [row.name for row in hash_rows(review)] == names


def test_the_severity_of_a_section_is_the_worst_of_its_rows_and_its_root(samples: Samples, repository: Review) -> None:
    first, *others = repository.roots
    noted = replace(first, findings=(samples.finding("LK007", Severity.INFO),))
    rows = hash_rows(replace(repository, roots=(noted, *others)))
    assert [(row.name, row.severity) for row in rows[:2]] == [
        ("infra/prod", Severity.WARN),
        ("acme/demo", Severity.WARN),
    ]
    assert rows[0].has_findings


def test_a_column_without_texts_has_no_title(repository: Review) -> None:
    listed, alone = HashList(), tuple(row for row in hash_rows(repository) if not row.depth)
    listed.lay_out(alone, 100)
    assert "…" not in "".join(span.text for span in listed.titles())


def test_a_deleted_lock_file_is_not_counted(samples: Samples, repository: Review) -> None:
    def head(review: Review) -> str:
        layout = hashes_head(review)[0]
        return "".join(piece.text for piece in (*layout.left, *layout.right))

    number = len(repository.roots)
    assert f" in {number} lock files" in head(repository)
    gone = samples.root("gone/x", status=LockStatus.DELETED)
    assert f" in {number} lock files" in head(replace(repository, roots=(*repository.roots, gone)))


@pytest.mark.parametrize("head", [hashes_head, partial(signers_head, signers=())], ids=["hashes", "signers"])
def test_lock_files_in_conflict_are_told_in_the_head_of_each_width(
    samples: Samples, repository: Review, head: Callable[[Review], tuple[BarLayout, ...]]
) -> None:
    torn = samples.root("torn", status=LockStatus.INVALID, conflict=samples.conflict())
    torn = replace(torn, new=replace(torn.new, is_complete=False))
    layouts = head(replace(repository, roots=(*repository.roots, torn)))
    texts = ["".join(piece.text for piece in layout.left) for layout in layouts]
    assert "lock files, not read: 1 lock file in conflict" in texts[0]
    assert all("1 file not read" in text for text in texts[1:-1])


def test_rows_during_and_after_a_review_without_facts(samples: Samples, repository: Review) -> None:
    bare = replace(locked(samples, "acme/bare", ()), evidence=None)
    network, ended = (
        hash_rows(replace(repository, roots=(samples.root("r", [bare]),)), is_asking=one)[1] for one in (True, False)
    )
    assert (network.cover.text, network.proof.text) == ("…", "… of 3")
    assert (ended.cover.text, ended.proof.text) == ("?", "? of 3")
    alone = replace(bare, kept=tuple(HashFact(one.hash) for one in bare.kept))
    alone = replace(alone, evidence=Evidence(None, ("no",), answer=LookupAnswer.NOT_ASKED))
    review = replace(repository, roots=(samples.root("r", [alone]),))
    assert hash_rows(review)[1].proof.text == "3 of 3"
    assert bare.new is not None
    empty = replace(bare, new=replace(bare.new, hashes=()), kept=(), evidence=Evidence())
    assert hash_rows(replace(repository, roots=(samples.root("r", [empty]),)))[1].proof.text == "no hash"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("whole", ["infra/prod", "acme/whole"]),
        ("infra/stage", ["infra/stage", "acme/open", "corp/vault"]),
        ("not-covered", ["infra/prod", "acme/demo", "infra/stage", "corp/vault"]),
        ("unverified", ["infra/stage", "acme/open", "corp/vault"]),
        ("unverified -vault", ["infra/stage", "acme/open"]),
        (f"{MAC} computed acme/top", [".", "acme/top"]),
        (H1[""].lower(), ["infra/stage", "acme/open", "corp/vault"]),
        ("LK009", ["infra/prod", "acme/demo"]),
        ("nothing like it", []),
        ("root:prod provider:demo", ["infra/prod", "acme/demo"]),
        ("rule:LK009", ["infra/prod", "acme/demo"]),
        ("proof:unknown", ["infra/stage", "acme/open", "corp/vault"]),
        (f"platform:{MAC} -root:infra", [".", "acme/top"]),
        ("sev:ok provider:acme/o", ["infra/stage", "acme/open"]),
    ],
)
def test_the_filter(repository: Review, text: str, names: list[str]) -> None:
    assert [row.name for row in hash_rows(repository, narrowed=parse_filter(text, HASHES_GRAMMAR))] == names


def detail(review: Review, name: str, **more: bool) -> list[str]:
    row = next(row for row in hash_rows(review) if row.name == name)
    return [line.text.rstrip() for line in hash_detail(row, review, **more)]  # type: ignore[arg-type]


def test_an_entry_of_a_moved_root_is_as_in_the_folder_before(samples: Samples) -> None:
    alone = samples.root("new", [locked(samples, "acme/alone", (LINUX,))])
    for before, words in (
        (None, "  as in HEAD"),
        ("old/place", "  as in old/place of HEAD"),
        ("", "  as in . of HEAD"),
    ):
        review = samples.review(replace(alone, renamed_from=before))
        assert f"new/.terraform.lock.hcl:4{words}" in detail(review, "acme/alone")


def test_the_detail_of_a_provider(repository: Review) -> None:
    lines = detail(repository, "acme/demo")
    for words in (
        "registry.terraform.io/acme/demo 1.0.0",
        "infra/prod/.terraform.lock.hcl:4  changed since HEAD: changed-hashes",
        "PLATFORMS       zh       h1",
        "* linux_amd64   signed   computed ok",
        "* darwin_arm64  signed   -        MISSING",
        "  linux_arm64   signed   -",
        "COVERAGE  required platforms, by install path",
        "  direct          2 of 2    zh or h1 is enough",
        "  plugin-cache    1 of 2    only h1 counts",
        "    missing       darwin_arm64",
        "  -> L locks the missing platforms, with a Preview",
        "HASHES  4 locked hashes verified",
        "  signed   3 zh       a zh in the publisher's signed SHA256SUMS",
        "REQUIRED PLATFORMS  locklens.toml of HEAD",
        "  linux_amd64   CI, prod",
    ):
        assert words in lines, words
    assert any(line.startswith("  - zh:") and line.endswith("STALE") for line in lines)
    assert any(line.startswith("  + h1:") for line in lines)
    assert not any(H1[LINUX] in line for line in lines)
    assert any(H1[LINUX] in line for line in detail(repository, "acme/demo", in_full=True))


def test_the_detail_of_unknown_facts(repository: Review) -> None:
    lines = detail(repository, "corp/vault")
    for words in (
        "  unknown  a.example: it is down",
        "  -> try again",
        "* linux_amd64   -        -        ?",
        "  of unknown platform: 1 h1",
        "    unknown       linux_amd64, darwin_arm64",
    ):
        assert words in lines, words
    verifying = "  -> v compares the h1 with up to 2 package downloads, 3.0 MiB"
    assert verifying in detail(repository, "acme/open")
    assert verifying not in lines


def test_the_detail_of_a_root(repository: Review) -> None:
    lines = detail(repository, "infra/prod")
    assert "PROVIDERS  2, 9 locked hashes verified" in lines
    assert any("acme/demo" in line and line.endswith("covers 1 of 2 required platforms") for line in lines)
    (root,) = (root for root in repository.roots if root.path == "infra/prod")
    bare = replace(root, changes=tuple(replace(change, evidence=None) for change in root.changes))
    unknown = replace(repository, roots=(bare,))
    assert any("acme/demo" in line and line.endswith(" ?") for line in detail(unknown, "infra/prod"))
    assert any("acme/demo" in line and line.endswith(" …") for line in detail(unknown, "infra/prod", is_asking=True))
    assert "  plugin-cache    only h1 counts" in lines


def test_without_a_policy_the_known_platforms_count(repository: Review) -> None:
    review = replace(repository, policy=Policy(), policy_side=PolicySide.NONE)
    assert [row.cover.text for row in hash_rows(review)][:3] == ["", "3/3", "3/3"]
    lines = detail(review, "acme/demo")
    assert "COVERAGE  known platforms, by install path" in lines
    assert sum("list required platforms in locklens.toml" in line for line in lines) == 2
    assert "REQUIRED PLATFORMS  no locklens.toml\n  none configured\n  -> list required" in lock_lines.hashes_text(
        review
    )


def test_the_report_says_what_the_screen_says(repository: Review) -> None:
    report = lock_lines.hashes_text(repository)
    for words in (
        "acme/demo 1.0.0  4 locked hashes verified, covers 1 of 2 required platforms",
        "      COVERAGE  required platforms, by install path",
        "        plugin-cache    1 of 2    only h1 counts\n          missing       darwin_arm64",
        "corp/vault 1.0.0  1 of 1 locked hash not verified, covers 0 of 2 required platforms, 2 unknown",
        "REQUIRED PLATFORMS  locklens.toml of HEAD",
        "  linux_amd64   CI, prod",
        "  plugin-cache    only h1 counts",
    ):
        assert words in report, words


# The screen


async def test_every_size_holds_without_colour(
    repository: Review, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(repository, size=(80, 24)) as on:
        for size in ((80, 24), (100, 30), (120, 32), (200, 50), (40, 12), (20, 6)):
            await on.resize(size)
            await on.press("g")
            for key in ("j", "k", "n", "x", "enter", "G", "escape", "question_mark", "escape", "slash", "a", "escape"):
                assert all(len(text) <= size[0] for text in on.lines)
                await on.press(key)
            if size[0] == 80:
                await on.choose("acme/demo")
                for words in (">   · WARN  acme/demo", "1/2", "0 of 4", "3 Hashes", "1 entry not covered"):
                    assert words in on.text, words
                await on.press("enter", "g")
                assert "* darwin_arm64  signed   -        MISSING" in on.text
                await on.press("q")
                assert ">   · WARN  acme/demo" in on.text


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (180, 40)])
async def test_the_entries_are_pictured(repository: Review, opened: Opened, size: tuple[int, int]) -> None:
    async with opened(repository, size=size) as on:
        await on.press("j")
        on.is_pictured("hashes")


@pytest.mark.parametrize("is_offered", [False, True])
async def test_v_is_offered_where_a_download_verifies_something(
    samples: Samples, opened: Opened, is_offered: bool
) -> None:
    unchanged = locked(samples, "acme/open", unproven=True, offered=(LINUX, ARM) if is_offered else (LINUX,))
    source = ServingSource(replace(samples.review(samples.root("a", [unchanged])), offline=False))
    async with opened(source, size=(180, 40)) as on:
        await on.press("j")
        assert "L lock" in on.lines[-1]
        assert ("v verify" in on.lines[-1]) == is_offered
        assert ("v compares the h1 with up to 1 package download" in on.text) == is_offered
        source.is_offline = True
        await on.press("k", "j")
        assert "v verify" not in on.lines[-1]
        assert "L lock" not in on.lines[-1]
        for key, name in (("v", "verify"), ("L", "lock")):
            await on.press(key)
            assert f"{name}: offline: run without --offline" in on.lines[-2]
        screen = on.app.screen
        assert isinstance(screen, HashesScreen)
        texts = [one.text for one in screen.help_lines()]
        start = texts.index("OFF  offline: run without --offline")
        off = [text.split("  ")[1] for text in texts if text[:5] in {"  v  ", "  L  ", "  U  "}]
        assert [text.split("  ")[1] for text in texts[start + 1 : start + 4]] == off == ["v", "L", "U"]
        assert "Upgrade providers" not in {one.name for one in screen.palette_commands()}
        await on.press("U")
        assert "upgrade: offline: run without --offline" in on.lines[-2]


async def test_moving(repository: Review, opened: Opened) -> None:
    async with opened(repository) as on:
        left = on.hashes.left
        for key, row in (
            ("j", 1), ("k", 0), ("G", 7), ("g", 0), ("right_square_bracket", 3), ("right_square_bracket", 6),
            ("right_square_bracket", 6), ("left_square_bracket", 3), ("n", 1), ("n", 1), ("down", 2), ("N", 1),
        ):  # fmt: skip
            await on.press(key)
            assert left.cursor == row, key
        await on.press("tab")
        assert on.hashes.detail.has_focus
        await on.press("tab", "enter")
        assert on.hashes.detail.has_focus
        await on.press("h")
        assert left.has_focus
        await on.press("slash", *"whole", "enter")
        assert on.names == ["infra/prod", "acme/whole"]
        assert "filtered" in on.lines[-2]
        await on.press("n")
        assert "no other row shown has a finding" in on.lines[-2]
        await on.press("slash", *"xyz", "enter")
        assert "Nothing matches the filter." in on.text
        await on.press("escape")
        assert len(on.names) == 8


async def test_the_facts_are_shown_whenever_the_terminal_is_high_enough(repository: Review, opened: Opened) -> None:
    async with opened(repository) as on:
        facts = on.hashes.facts
        lines = facts.lines
        facts.show_lines(())
        facts.display = False
        await on.settle()
        facts.show_lines(lines)  # it has no width yet
        facts.display = True
        # Textual makes its map anew when a region is asked for, and posts no Resize to what stands in it before a layout.
        on.app.screen._compositor._full_map_invalidated = True
        assert facts.region
        await on.settle()
        assert "direct, plugin-cache (h1 only)" in on.text


async def test_rows_are_laid_out_for_the_width_they_are_painted_at(repository: Review, opened: Opened) -> None:
    async with opened(repository) as on:
        before, left = on.lines, on.hashes.left
        left.display = False
        await on.settle()
        left.show_rows(left.rows)  # it has no width now
        left.display = True
        on.app.screen._compositor._full_map_invalidated = True  # as above
        assert left.region
        await on.settle()
        assert on.lines[3:12] == before[3:12]


async def test_reading(repository: Review, opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async with opened(repository) as on:
        await on.press("y")
        assert "copy: this row has nothing to copy" in on.lines[-2]
        await on.choose("acme/demo")
        await on.press("y")
        assert on.app.clipboard == "'registry.terraform.io/acme/demo 1.0.0'"
        await on.press("tab")
        await on.choose_line("+ h1:")
        await on.press("y")
        assert on.app.clipboard == H1[LINUX]
        await on.choose_line("* linux_amd64")
        await on.press("y")
        assert on.app.clipboard == f"{H1[LINUX]} {zh(LINUX, 'acme/demo')}"
        monkeypatch.setenv("VISUAL", "none-such-editor")
        line = on.hashes.line
        assert line is not None
        assert str(line.place) == "infra/prod/.terraform.lock.hcl:8"
        await on.press("e")
        assert "infra/prod/.terraform.lock.hcl" in on.lines[-2]
        monkeypatch.delenv("DISPLAY", raising=False)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        await on.press("o")
        assert on.app.clipboard == "https://registry.terraform.io/providers/acme/demo/1.0.0"
        await on.press("x")
        assert zh(LINUX, "acme/demo") in on.said
        assert "full hashes and rules" in on.lines[-2]
        await on.press("x", "escape")
        assert zh(LINUX, "acme/demo") not in on.said
        await on.press("question_mark")
        help_text = "\n".join(one.text for one in on.app.screen.query_one("#dialog LineView").lines)  # type: ignore[attr-defined]
        for shown in (key.shown for group in HASHES_KEYS.groups for key in group.keys):
            assert shown in help_text
        for words in ("not-covered", "plugin-cache", 'linux_amd64 = "CI, production"', "STALE", "3/4?"):
            assert words in help_text
        await on.press("escape", "3")
        assert "Hashes is the current screen" in on.lines[-2]
        await on.choose("infra/prod")
        await on.press("w")
        assert "why: no provider on this row" in on.lines[-2]
        await on.press("o")
        assert "release page: no provider on this row" in on.lines[-2]


async def test_every_action_of_the_table_is_one(repository: Review, opened: Opened) -> None:
    async with opened(repository) as on:
        for action in (key.action for group in HASHES_KEYS.groups for key in group.keys if key.action):
            assert hasattr(on.hashes, f"action_{action.partition('(')[0]}"), action


async def test_marks_say_what_v_and_l_are_for(samples: Samples, repository: Review, opened: Opened) -> None:
    source = ServingSource(repository, top=Path("/somewhere"))
    async with opened(source) as on:
        await on.choose("acme/demo")
        await on.press("space")
        assert "marked 1 entry for v, p and L" in on.lines[-2]
        assert "1 entry marked" in on.lines[-2]
        assert [row.marked for row in on.hashes.left.rows][:3] == [1, 1, 0]
        assert "- WARN  infra/prod" in on.lines[3]
        assert ">   x WARN  acme/demo" in on.lines[4]
        await on.choose("infra/stage")
        await on.press("space")
        assert len(on.hashes.marked) == 3
        await on.press("v")
        await on.settle()
        names = {(f"infra/{root}/.terraform.lock.hcl", name) for root, name in (
            ("prod", "acme/demo"), ("stage", "acme/open"), ("stage", "corp/vault")
        )}  # fmt: skip
        assert source.proofs == [frozenset((file, samples.address(name)) for file, name in names)]
        await on.press("space")
        assert len(on.hashes.marked) == 1
        await on.press("a")
        assert len(on.hashes.marked) == 5
        await on.press("a")
        assert not on.hashes.marked
        await on.press("slash", *"not-covered", "enter")
        await on.choose("infra/prod")
        await on.press("space")
        assert on.hashes.marked == {("infra/prod/.terraform.lock.hcl", samples.address("acme/demo"))}, (
            "of a root what the filter shows"
        )


async def test_the_row_is_meant_where_nothing_is_marked(samples: Samples, repository: Review, opened: Opened) -> None:
    proven: list[bool] = []

    def work(review: Review, *_: object) -> tuple[RootReview, ...]:
        proven.append(True)
        whole = locked(samples, "acme/open", (LINUX, ARM, MAC))
        root = next(one for one in review.roots if one.path == "infra/stage")
        return (replace(root, changes=(whole, *root.changes[1:])),)

    source = ServingSource(repository, top=Path("/somewhere"), proving=work)
    async with opened(source) as on:
        await on.choose("acme/open")
        assert "1 of 5" in on.text
        await on.press("v")
        await until(on, lambda: proven == [True] and not isinstance(on.app.screen, ProveDialog))
        await on.pilot.pause()
        assert source.proofs == [{("infra/stage/.terraform.lock.hcl", samples.address("acme/open"))}]
        row = on.hashes.left.current
        assert row is not None
        assert (row.cover.text, row.proof.text) == ("2/2", "0 of 6")


async def test_l_plans_what_is_missing(repository: Review, opened: Opened, tmp_path: Path) -> None:
    source = ServingSource(repository, top=tmp_path)
    async with opened(source) as on:
        await on.choose("acme/demo")
        assert "L lock" in on.lines[-1]
        await on.choose("acme/whole")
        assert "L lock" not in on.lines[-1]
        await on.press("L")
        words = "lock: nothing to lock: each required platform is covered, or has no package; `locklens lock --platform` adds"
        assert words in on.text
        await on.choose("acme/demo")
        await on.press("L")
        await until(on, lambda: bool(source.operations))
        assert isinstance(on.app.screen, PreviewScreen)
        (operation,) = source.operations
        assert isinstance(operation, Lock)
        assert operation.platforms == (Platform.parse(MAC),)
        assert operation.providers == ("registry.terraform.io/acme/demo",)
        assert (operation.where.folder, operation.where.roots) == (tmp_path, ("infra/prod",))


async def test_what_is_known_does_not_wait_for_a_second_reading(
    repository: Review, opened: Opened, tmp_path: Path
) -> None:
    """After a Preview that hashed packages all is read anew, while the entries stand on the screen."""
    async with opened(ServingSource(repository, top=tmp_path)) as on:
        await on.choose("acme/demo")
        screen = on.app.screen
        assert isinstance(screen, HashesScreen)
        screen.loader.progress = Progress("lock files", 0, 0)
        await on.press("v")
        assert "still reading" not in on.text
        await until(on, lambda: on.app.screen is screen)  # The dialog closes when its thread found nothing to download.
        screen.loader.progress = Progress("lock files", 0, 0)
        await on.press("L")
        await until(on, lambda: isinstance(on.app.screen, PreviewScreen))


async def test_what_is_still_asked_about_waits(repository: Review, opened: Opened, tmp_path: Path) -> None:
    gate = threading.Event()
    source = ServingSource(repository, gate=gate, top=tmp_path)
    async with opened(source, settled=False) as on:
        await until(on, lambda: "0 of 4" in on.text and "… of " in on.text)
        assert "verdict" not in on.text
        await on.choose("acme/open")
        for key in ("v", "L"):
            await on.press(key)
            assert f": the lookup has not ended; press {key} afterwards" in on.lines[-2]
        await on.press("j", "space")
        assert "asking the registry" in on.said
        gate.set()
        await until(on, lambda: "… of " not in on.text)
        assert len(on.hashes.marked) == 1, "marks stay"
        assert on.hashes.left.current is not None
        assert on.hashes.left.current.name == "corp/vault", "and the cursor"


async def test_what_is_said_of_a_key_that_came_too_early_stays_and_then_says_that_the_key_works(
    repository: Review, opened: Opened, tmp_path: Path
) -> None:
    gate = threading.Event()
    async with opened(ServingSource(repository, gate=gate, top=tmp_path), settled=False) as on:
        await until(on, lambda: "0 of 4" in on.text and "… of " in on.text)
        await on.choose("acme/open")
        await on.press("v")
        assert "verify: the lookup has not ended; press v afterwards" in on.lines[-2]
        on.hashes.loader._take_progress(Progress("evidence", 3, 4))
        await on.pilot.pause()
        assert "verify: the lookup has not ended; press v afterwards" in on.lines[-2]
        gate.set()
        await until(on, lambda: "… of " not in on.text)
        assert "afterwards" not in on.text
        assert "verify: press v again now" in on.lines[-2]
        await on.press("j")
        assert "verify: press v again now" in on.lines[-2], "a move is no answer"
        await on.press("n")
        assert "verify: press v again now" not in on.text


async def test_asking_again_and_export(repository: Review, opened: Opened, tmp_path: Path) -> None:
    source = ServingSource(repository, top=tmp_path)
    async with opened(source) as on:
        await on.press("r")
        await on.settle()
        assert len(source.opened) == 2
        subject, facts = on.hashes.reported(), on.hashes.report_facts
        assert '"coverage"' in render_report("hashes", "json", subject, **facts)
        assert render_report("hashes", "text", subject, **facts) == lock_lines.hashes_text(repository)


async def test_nothing_is_locked(samples: Samples, opened: Opened) -> None:
    async with opened(samples.review(), size=(80, 24)) as on:
        assert "No provider is locked here (lock files that git ignores are not read)." in on.text
        for key in ("j", "enter", "tab", "y", "o", "e", "space", "a", "v", "L", "x", "w", "n", "bracketleft", "r"):
            await on.press(key)


async def test_an_error_is_shown(opened: Opened) -> None:
    async with opened(
        ServingSource(error=LockLensError("HEAD:locklens.toml:2: unknown key", hint="mend it")), size=(80, 24)
    ) as on:
        assert "HEAD:locklens.toml:2: unknown key" in on.text
        assert "mend it" in on.text
        await on.press("q")
    assert on.app.return_value == 2


async def test_hostile_text(samples: Samples, opened: Opened) -> None:
    roots = []
    for text in HOSTILE:
        found = (samples.finding("LK002", Severity.BLOCK, text, file=text),)
        facts = (HashFact(text, text, Proof.UNKNOWN), HashFact(f"zh:{text}"))
        change = locked(samples, "acme/demo", address=ProviderAddress(f"{text}.example", text, text), findings=found)
        assert change.new is not None
        entry = replace(change.new, hashes=tuple(one.hash for one in facts), hash_offsets=())
        evidence = Evidence(text, (text,), text, offered=(text,))
        roots.append(
            samples.root(text, [replace(change, new=entry, old=None, kept=facts, evidence=evidence)], findings=found)
        )
    review = replace(
        samples.review(*roots), policy=replace(WANTED, file="[bold]p[/]\x1b"), policy_side=PolicySide.GIVEN
    )
    lock_lines.hashes_text(review)
    for size in ((160, 60), (80, 24)):
        async with opened(review, size=size) as on:
            seen = ""
            for _ in range(len(on.hashes.left.rows)):
                await on.press("enter")
                for _ in range(3):
                    lines = on.lines
                    seen += "\n".join(lines)
                    assert all(text.isprintable() and len(text) <= size[0] for text in lines)
                    await on.press("pagedown")
                await on.press("escape", "j")
            assert "[bold red]markup[/]" in seen
            assert "\\x1b[31mred" in seen


async def test_the_sample(tmp_path: Path) -> None:
    """From the review with 3, as it is asked; L plans what the real registry of the sample has."""
    top = make_repository(tmp_path / "infrastructure")
    with DemoRegistry(faults=Faults(SAMPLE_RULES)) as registry:
        configuration = write_cli_configuration(registry, tmp_path)
        asking = NetworkSettings({**os.environ, **environment(configuration)}, Cache.in_memory())
        request = ReviewRequest(partial(open_locked, top), include_unchanged=True, network=asking)
        app = LockLensApp(LockLens(request), "hashes", store_path=tmp_path / "store.sqlite3")
        async with app.run_test(size=(120, 40)) as pilot:
            on = HashesDriver(app, pilot)
            await until(on, lambda: bool(on.names) and not on.hashes.is_asking)
            await until(on, lambda: "4 entries not covered" in on.lines[0])
            assert "locklens.toml of HEAD" in on.text
            await on.choose("acme/netbox")
            assert "at least 2 of linux_amd64 (CI, production), darwin_arm64 (laptops), windows_amd64" in on.said
            await on.press("v")
            await until(on, lambda: "enter download" in on.text)
            await on.press("enter")
            await until(on, lambda: not isinstance(app.screen, ProveDialog))
            assert "windows_amd64 (two laptops) are not covered from the registry" in on.said
            assert "-> its hashes contradict the release, so that lock adds none; locklens doctor (i)" in on.said
            assert "L locks the missing platforms" not in on.said
            await on.press("L")
            assert "lock: nothing to lock: infra/prod/dns: registry.terraform.io/acme/netbox: its hashes" in on.text
            await on.choose("hashicorp/google")
            assert "* windows_amd64 signed   -        ok" in on.said
            await on.choose("confluentinc/confluent")
            assert "* darwin_arm64  -        -        MISSING" in on.said
            await on.press("L")
            await until(on, lambda: "PLAN  1 provider, 1 root, 1 file" in on.text)
            assert "Lock darwin_arm64 in infra/stage/messaging" in on.text
            assert isinstance(app.screen, PreviewScreen)
            await on.press("escape")
            await until(on, lambda: isinstance(app.screen, HashesScreen))
            await on.press("1")
            await until(on, lambda: isinstance(app.screen, ReviewScreen))


def test_the_help_explains_each_install_path() -> None:
    assert list(INSTALL_PATHS) == list(InstallPath)


def test_many_hashes_of_one_proof_leave_a_space_before_its_meaning() -> None:
    facts = [HashFact(f"zh:{digest(number)}") for number in range(25)] + [HashFact(f"h1:{n}=") for n in range(10)]
    (unknown,) = [one.text for one in _ladder_lines(facts) if one.text.strip().casefold().startswith("unknown")]
    assert "25 zh, 10 h1 " in unknown
