"""A lock file that git left in conflict: merged from the Review screen, in a Preview."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from kit.registries import environ_of
from msgspec.structs import replace
from operations.test_resolving import BASE, NEWER, NEWEST, OURS, THEIRS, UNITED, Merging, block, hashes
from ui.conftest import Running, until
from ui.test_preview import PreviewDriver

from locklens.demo import SampleLock, lock_file
from locklens.demo.registry import DemoRegistry
from locklens.operations.compare import open_git
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.releases import NetworkSettings
from locklens.review.model import HostState
from locklens.storage.cache import Cache
from locklens.ui.app import LockLensApp
from locklens.ui.dialogs.choices import ClashesDialog
from locklens.ui.shell.bars import lookup_parts

HOST = "registry.terraform.io"
Opening = Callable[..., AbstractAsyncContextManager[PreviewDriver]]


@pytest.fixture
def merging(tmp_path: Path) -> Merging:
    return Merging(tmp_path / "top")


@pytest.fixture
def opening(running: Running, merging: Merging, monkeypatch: pytest.MonkeyPatch) -> Opening:
    @asynccontextmanager
    async def run(
        base: str, ours: str, theirs: str, *, size: tuple[int, int] = (120, 40)
    ) -> AsyncIterator[PreviewDriver]:
        merging.merge(base.encode(), ours.encode(), theirs.encode())
        monkeypatch.chdir(merging.top)
        source = LockLens(ReviewRequest(partial(open_git, merging.top)))
        async with running(source, size=size, settled=False) as shown:
            driver = PreviewDriver(shown.app, shown.pilot)
            await driver.reviewed()
            yield driver

    return run


async def test_what_does_not_clash_is_merged_in_a_preview_and_undone(opening: Opening, merging: Merging) -> None:
    async with opening(BASE, OURS, THEIRS) as on:
        before = merging.lock.read_bytes()
        await until(on, lambda: "M previews the merge of both sides" in on.text)
        assert any(key.shown == "M" for group in on.screen.TABLE.groups for key in group.keys)
        await on.press("M")
        await on.ready()
        assert "preview  Merge the lock file of infra" in on.lines[0]
        assert "locklens merge --root infra" in on.plan
        assert "findings:" in on.plan
        assert "acme/a" in on.plan
        assert "the hashes of both sides are united" in on.plan
        assert "LK019" not in on.plan, "it is compared with our side, not with the file between its markers"
        assert merging.lock.read_bytes() == before
        await on.press("d")
        assert "<<<<<<<" in on.text
        await on.press("escape", "enter")
        await until(on, lambda: merging.lock.read_bytes() == UNITED.encode())
        await until(on, lambda: "wrote 1 file; git add marks 1 file as resolved; Z undoes it" in on.text)
        await on.reviewed()
        await on.press("Z", "enter")
        await until(on, on.has_preview)
        await on.ready()
        await on.press("enter")
        await until(on, lambda: merging.lock.read_bytes() == before)
        await until(on, lambda: not on.has_preview())
        await on.press("Z", "enter")
        await until(on, on.has_preview)
        await on.ready()
        await on.press("enter")
        await until(on, lambda: "wrote 1 file; git add marks 1 file as resolved; Z undoes it" in on.text)


async def test_the_row_has_the_versions_of_both_sides_and_not_of_merged_lines(opening: Opening) -> None:
    """Git merged the line of the version, so that the file has theirs alone; ours stands in the index."""
    base = block("a", "1.0.0", *hashes("a", "A"))
    ours = block("a", "1.0.0", *hashes("a", "A", "M"))
    theirs = block("a", "1.1.0", *hashes("c", "C"))
    async with opening(base, ours, theirs) as on:
        text = Path("infra/.terraform.lock.hcl").read_text()
        assert "<<<<<<<" in text
        assert '"1.0.0"' not in text, "the version is outside of the markers"
        assert "1.0.0 | 1.1.0" in on.text


async def test_a_section_by_severity_is_merged_as_one_by_root(opening: Opening) -> None:
    async with opening(BASE, OURS, THEIRS) as on:
        await on.press("b", "b", "g")
        await on.press("M")
        await on.ready()
        assert "preview  Merge the lock file of infra" in on.lines[0]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_clashes_is_listed_and_the_newest_is_a_choice(
    opening: Opening, merging: Merging, size: tuple[int, int]
) -> None:
    async with opening(BASE, NEWER, NEWEST, size=size) as on:
        before = merging.lock.read_bytes()
        await on.press("M")
        await until(on, lambda: isinstance(on.app.screen, ClashesDialog) and "Merge conflict in 1 entry" in on.text)
        for words in ("acme/a", "two versions were selected", "1.1.0", "1.2.0", "HEAD (ours)"):
            assert words in on.text
        await on.press("escape")
        assert not on.has_preview()
        await on.press("M")
        await until(on, lambda: isinstance(on.app.screen, ClashesDialog) and "Merge conflict in 1 entry" in on.text)
        await on.press("n")
        await until(on, on.has_preview)
        await on.ready()
        assert "--prefer newest" in on.plan
        assert merging.lock.read_bytes() == before
        await on.press("enter")
        await until(on, lambda: merging.lock.read_bytes() == NEWEST.encode())


async def test_a_side_that_is_on_disk_already_says_what_is_known_of_its_hashes(
    opening: Opening, merging: Merging
) -> None:
    """As after a merge, as long as git has the file as unmerged."""
    async with opening(BASE, NEWER, NEWEST) as on:
        merging.lock.write_bytes(NEWEST.encode())
        await on.press("r")
        await on.reviewed()
        await on.press("j", "M")
        await until(on, lambda: len(re.findall(r"\d of \d locked hashes not verified", on.text)) == 2)
        assert isinstance(on.app.screen, ClashesDialog)
        assert "hashes not checked" not in on.text


async def test_each_side_says_what_is_known_of_its_hashes(
    merging: Merging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = lock_file(SampleLock(f"{HOST}/acme/demo", "1.4.2"))
    first = re.search(rb"zh:[0-9a-f]{64}", signed)
    assert first is not None
    forged = signed.replace(first[0], b"zh:" + b"5" * 64)
    merging.merge(lock_file(SampleLock(f"{HOST}/acme/demo", "1.4.1")), forged, signed)
    monkeypatch.chdir(merging.top)
    with DemoRegistry() as registry, Cache.in_memory() as cache:
        network = NetworkSettings(environ_of(registry, tmp_path), cache)
        source = LockLens(ReviewRequest(partial(open_git, merging.top), network=network))
        async with LockLensApp(source, store_path=tmp_path / "store.sqlite3").run_test(size=(160, 50)) as pilot:
            on = PreviewDriver(pilot.app, pilot)  # type: ignore[arg-type]
            await on.reviewed()
            await on.press("M")
            await until(on, lambda: "every zh is in the release" in on.text)
            ours, theirs = re.findall(r"\d of \d locked hashes not verified[^│\n]*", on.text)
            assert ours.strip().endswith("; 1 of 6 zh not in the release")
            assert theirs.strip().endswith("; every zh is in the release")
            await on.press("o")
            await until(on, on.has_preview)
            await on.ready()
            assert re.search(r"findings: none new.*; HEAD already has 2 more \(1 BLOCK 1 WARN\)", on.plan), on.plan


async def test_what_the_newest_does_not_settle_is_left_to_a_person(opening: Opening, merging: Merging) -> None:
    removed = block("b", "1.0.0", *hashes("b", "B"))
    async with opening(BASE, NEWER, removed) as on:
        before = merging.lock.read_bytes()
        await on.press("M")
        await until(on, lambda: isinstance(on.app.screen, ClashesDialog) and "Merge conflict in 1 entry" in on.text)
        assert "one side removed the provider" in on.text
        assert "take the newer version" not in on.text
        await on.press("n")
        assert isinstance(on.app.screen, ClashesDialog)
        await on.press("escape")
        assert not on.has_preview()
        assert merging.lock.read_bytes() == before


async def test_where_nothing_is_in_conflict(opening: Opening, merging: Merging) -> None:
    async with opening(BASE, OURS, THEIRS) as on:
        merging.lock.write_bytes(NEWER.encode())
        merging.git("add", "-A")
        on.before = on.screen.review
        await on.press("r")
        await on.reviewed()
        await on.press("M")
        await until(on, lambda: "infra/.terraform.lock.hcl: there is no merge conflict" in on.text)
        assert not on.has_preview()


async def test_signers_say_which_lock_files_were_not_read(opening: Opening) -> None:
    async with opening(BASE, NEWER, NEWEST) as on:
        await on.press("4")
        sentence = (
            "No provider is locked here (lock files that git ignores are not read), as far as can be read (not read: 1 "
        )
        await until(on, lambda: sentence in on.text)
        await on.press("3")
        await until(on, lambda: "0 entries in 1 lock file, not read: 1 lock file in conflict" in on.text)


async def test_no_registry_is_said_to_have_answered_where_none_was_asked(opening: Opening) -> None:
    async with opening(BASE, NEWER, NEWEST) as on:
        assert on.screen.review is not None
        online = replace(on.screen.review, offline=False)
        assert not online.hosts
        (said,) = lookup_parts(online, None, is_narrowed=False)
        assert said.text == "no registry asked"
        # They are cached: that registries answered in this run is not said.
        hosts = tuple(HostState(f"r{day}", asked=True, as_of=f"2026-11-{day}T10:00:00Z") for day in (21, 20))
        (said,) = lookup_parts(replace(online, hosts=hosts), None, is_narrowed=False)
        assert said.text == "registries as of 2026-11-20 10:00 UTC"


@pytest.mark.parametrize(("key", "side", "result"), [("o", "ours", NEWER), ("t", "theirs", NEWEST)])
async def test_a_side_may_be_taken(opening: Opening, merging: Merging, key: str, side: str, result: str) -> None:
    async with opening(BASE, NEWER, NEWEST) as on:
        await on.press("M")
        await until(on, lambda: isinstance(on.app.screen, ClashesDialog) and f"take {side}" in on.text)
        await on.press(key)
        await until(on, on.has_preview)
        await on.ready()
        assert f"--prefer {side}" in on.plan
        await on.press("enter")
        await until(on, lambda: merging.lock.read_bytes() == result.encode())


SECOND_OURS = block("a", "1.1.0", *hashes("c", "C")) + "\n" + block("b", "2.0.0", *hashes("e", "E"))
SECOND_THEIRS = block("a", "1.2.0", *hashes("d", "D")) + "\n" + block("b", "1.5.0", *hashes("f", "F"))


def is_asking(on: PreviewDriver, words: str) -> bool:
    return isinstance(on.app.screen, ClashesDialog) and words in on.text


@pytest.mark.parametrize("size", [(80, 24), (140, 45)])
async def test_each_provider_has_a_side_of_its_own(opening: Opening, merging: Merging, size: tuple[int, int]) -> None:
    async with opening(BASE, SECOND_OURS, SECOND_THEIRS, size=size) as on:
        await on.press("M")
        await until(on, lambda: is_asking(on, "Merge conflict in 2 entries  0 of 2 settled"))
        await on.press("o")
        await until(on, lambda: is_asking(on, "1 of 2 settled"))
        assert " x 1.1.0" in on.text
        assert " x 1.2.0" not in on.text
        await on.press("k", "t")
        assert " x 1.2.0" in on.text, "a side can be selected again while another entry is open"
        await on.press("k", "o", "t")
        await until(on, on.has_preview)
        await on.ready()
        assert size[0] == 80 or "with the selected sides" in on.lines[0]
        for words in ("--prefer=acme/a=ours --prefer=acme/b=theirs --root infra", "1.5.0, as in theirs"):
            assert words in " ".join(on.plan.split())
        await on.press("enter")
        expected = NEWER.split("\n\n")[0] + "\n\n" + SECOND_THEIRS.split("\n\n")[1]
        await until(on, lambda: merging.lock.read_bytes() == expected.encode())


@pytest.mark.parametrize(("key", "side"), [("O", "ours"), ("T", "theirs"), ("N", "newest")])
async def test_upper_case_settles_every_provider(opening: Opening, key: str, side: str) -> None:
    async with opening(BASE, SECOND_OURS, SECOND_THEIRS) as on:
        await on.press("M")
        await until(on, lambda: is_asking(on, "for all"))
        await on.press(key)
        await until(on, on.has_preview)
        await on.ready()
        assert f"--prefer {side}" in on.plan


async def test_the_newer_version_is_refused_for_the_entry_that_it_does_not_settle(opening: Opening) -> None:
    removed = block("a", "1.2.0", *hashes("d", "D"))
    async with opening(BASE, SECOND_OURS, removed) as on:
        await on.press("M")
        await until(on, lambda: is_asking(on, "Merge conflict in 2 entries"))
        await on.press("N")
        assert is_asking(on, "select a side for each")
        assert is_asking(on, "n take the newer version")
        await on.press("n")
        await until(on, lambda: is_asking(on, "1 of 2 settled") and "take the newer version" not in on.text)
        await on.press("n")
        assert is_asking(on, "acme/b: one side removed the provider")
        await on.press("t")
        await until(on, on.has_preview)
        await on.ready()
        assert "removed, as in theirs" in on.plan
