"""The Health screen, driven by keys, on the sample repository on disk and without registries."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kit.git import git
from kit.repositories import put, repository
from msgspec.structs import replace
from operations.test_stage import OLD
from ui.conftest import Driver, until

from locklens.addresses import ProviderAddress
from locklens.demo import lock_file
from locklens.demo.cases import requires, sample_entry
from locklens.demo.faults import Faults
from locklens.demo.published import SampleListing
from locklens.demo.registry import DemoRegistry
from locklens.demo.serving import SAMPLE_RULES, environment, write_cli_configuration
from locklens.operations.compare import open_git
from locklens.operations.comparison import Base
from locklens.operations.locklens import LockLens
from locklens.operations.plan import FileChanges, PlannedFile
from locklens.operations.review.request import ReviewRequest
from locklens.operations.write.apply import apply
from locklens.operations.write.lock import Lock
from locklens.operations.write.lock_edits import Format, Prune
from locklens.operations.write.upgrade import Upgrade
from locklens.project import LOCK_FILE
from locklens.releases import NetworkSettings
from locklens.review.findings import Finding, Severity
from locklens.review.health import Health, results
from locklens.storage.cache import Cache
from locklens.ui.app import LockLensApp
from locklens.ui.health import HealthLoader, HealthScreen
from locklens.ui.preview import PreviewScreen
from locklens.ui.shell.two_panes import TwoPaneScreen


class HealthDriver(Driver):
    """Words for the Health screen."""

    @property
    def health(self) -> HealthScreen:
        found = self.app._views["health"]
        assert isinstance(found, HealthScreen)
        return found

    @property
    def titles(self) -> list[str]:
        return [row.title for row in self.health.left.rows]

    async def go_to(self, title: str) -> None:
        self.health.left.cursor = self.titles.index(title)
        await self.pilot.pause()


Opening = Callable[..., AbstractAsyncContextManager[HealthDriver]]


@pytest.fixture
def opening(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opening:
    @asynccontextmanager
    async def run(
        size: tuple[int, int] = (120, 32), network: NetworkSettings | None = None, top: Path = sample
    ) -> AsyncIterator[HealthDriver]:
        monkeypatch.chdir(top)
        request = ReviewRequest(partial(open_git, top), network=network, base=Base())
        app = LockLensApp(LockLens(request), "health", store_path=tmp_path / "store.sqlite3")
        async with app.run_test(size=size) as pilot:
            on = HealthDriver(app, pilot)
            await on.settle()
            yield on

    return run


@pytest.fixture
def network(tmp_path: Path) -> Iterator[NetworkSettings]:
    with DemoRegistry(faults=Faults(SAMPLE_RULES)) as registry, Cache(tmp_path / "cache.sqlite3") as cache:
        yield NetworkSettings({**os.environ, **environment(write_cli_configuration(registry, tmp_path))}, cache)


@pytest.mark.parametrize("size", [(80, 60), (120, 60)])
async def test_the_checks_are_pictured_then_the_spread(opening: Opening, size: tuple[int, int]) -> None:
    async with opening(size) as on:
        on.is_pictured("health")


async def test_a_policy_that_is_committed_is_noticed(opening: Opening, tmp_path: Path) -> None:
    top = repository(tmp_path / "top", {f"a/{LOCK_FILE}": OLD, "locklens.toml": "cooldown = 7"})
    async with opening(top=top) as on:

        def cooldown() -> int | None:
            loader = on.health.loader
            assert isinstance(loader, HealthLoader)
            return loader.health.review.policy.cooldown if loader.health is not None else None

        await until(on, lambda: cooldown() == 7)
        put(top, {"locklens.toml": "cooldown = 8"})
        await until(on, lambda: "| 1 note" in on.text)
        git(top, "commit", "-qam", "policy")
        await until(on, lambda: cooldown() == 8)


async def test_the_detail_of_checks_and_of_the_spread(opening: Opening) -> None:
    async with opening() as on:
        await on.go_to("module version not exact")
        assert 'not checked: LK029 off: [severity] LK029 = "warn" in locklens.toml turns it on' in on.said
        assert "No root is affected" not in on.said
        await on.go_to("not on the allow list")
        assert "not checked: the policy has no allow list" in on.said
        await on.go_to("hashicorp/aws")
        assert f"5.86.1 {'█' * 24} " in on.said
        assert "  infra/teams/12" in on.said


async def test_the_detail_names_what_cannot_be_read_and_in_which_roots(opening: Opening) -> None:
    async with opening((120, 60)) as on:
        health = on.health.health
        assert health is not None
        await on.go_to("required but not locked")
        unread = {root: reach.unread for root, reach in health.reach.items() if reach.unread}
        assert unread
        said = on.said.partition("NOT READ")[2]
        for root, reason in unread.items():
            assert root in said, root
            assert reason in " ".join(said.split()), root
        found = {root.path for root in health.review.roots if root.findings}
        await on.press("b")
        root = next(root for root in unread if root in found)
        await on.go_to(root)
        assert unread[root] in " ".join(on.said.partition("NOT READ")[2].split())


async def test_enter_lists_the_roots_and_then_opens_the_detail(opening: Opening) -> None:
    async with opening() as on:
        await on.go_to("same version, different hashes")
        assert "locklens doctor -- infra/prod/search infra/stage/search" in on.said
        await on.press("enter")
        at = on.titles.index("same version, different hashes")
        assert on.titles[at + 1 : at + 3] == ["infra/prod/search", "infra/stage/search"]
        await on.press("j", "enter")
        assert on.health.detail.has_focus
        assert "infra/prod/search/.terraform.lock.hcl:" in on.said
        assert "infra/stage/search/.terraform.lock.hcl:4\n" not in on.said.split("LK023")[0]
        await on.press("escape", "h", "h")
        assert "infra/prod/search" not in on.titles
        row = on.titles.index("same version, different hashes")
        await on.pilot.click(on.health.left, offset=(2, row))
        assert "infra/prod/search" in on.titles
        await on.pilot.click(on.health.left, offset=(4, row + 1))
        assert on.health.marked == {"infra/prod/search"}


@pytest.mark.parametrize(
    ("key", "check", "expected"),
    [
        ("L", "required but not locked", Lock),
        ("P", "orphan, nothing requires it", Prune),
        ("F", "formatting differs", Format),
        ("U", "constraint not satisfied", Upgrade),
    ],
)
async def test_upper_case_keys_open_a_preview_for_the_roots_of_the_row(
    opening: Opening, network: NetworkSettings, monkeypatch: pytest.MonkeyPatch, key: str, check: str, expected: type
) -> None:
    wanted: list[Lock | Prune | Format | Upgrade] = []
    async with opening(network=network) as on:
        monkeypatch.setattr(on.health, "preview", wanted.append)
        await on.go_to(check)
        assert key not in on.health.idle_keys
        await on.press(key)
        assert [type(one) for one in wanted] == [expected]
        assert len(wanted[0].where.roots) == 1


async def test_a_row_of_versions_upgrades_its_provider_in_all_roots(
    opening: Opening, network: NetworkSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[Any] = []
    async with opening((140, 60), network=network) as on:
        monkeypatch.setattr(on.health, "preview", wanted.append)
        row = next(row for row in on.health.left.rows if row.spread is not None and row.spread.roots > 1)
        await on.go_to(row.title)
        assert row.spread is not None
        assert "U" not in on.health.idle_keys
        await on.press("U")
        (upgrade,) = wanted
        assert len(upgrade.where.roots) == row.spread.roots


async def test_keys_that_need_registries_are_off_without_them(opening: Opening) -> None:
    async with opening() as on:
        for key, name, check in (
            ("L", "lock", "required but not locked"),
            ("U", "upgrade", "constraint not satisfied"),
        ):
            await on.go_to(check)
            assert {"L", "U"} <= on.health.idle_keys
            assert not {"lock", "upgrade"} & {command.action for command in on.health.palette_commands()}
            await on.press(key)
            assert f"{name}: offline: run without --offline" in on.lines[-2]
        assert not isinstance(on.app.screen, PreviewScreen)


async def test_marked_roots_are_acted_on_together(opening: Opening, sample: Path) -> None:
    async with opening() as on:
        await on.go_to("formatting differs")
        await on.press("space")
        await on.go_to("orphan, nothing requires it")
        await on.press("space")
        assert on.health.marked == {"infra/stage/data", "infra/stage/cluster"}
        before = (sample / "infra/stage/data/.terraform.lock.hcl").read_bytes()
        await on.press("F")
        await on.settle()
        assert isinstance(on.app.screen, PreviewScreen)
        assert "Format the lock file of 2 roots" in on.text
        await on.press("escape")
        assert (sample / "infra/stage/data/.terraform.lock.hcl").read_bytes() == before
        await on.go_to("orphan, nothing requires it")
        await on.press("space")
        assert on.health.marked == {"infra/stage/data"}


@pytest.mark.parametrize("key", ["L", "U"])
async def test_what_is_left_out_of_marked_roots_is_named_in_the_preview(
    opening: Opening, network: NetworkSettings, key: str
) -> None:
    async with opening((160, 60), network=network) as on:
        for title in ("lock file cannot be read", "orphan, nothing requires it", "constraint not satisfied"):
            await on.go_to(title)
            await on.press("space")
        await on.press(key)
        await on.settle()
        assert isinstance(on.app.screen, PreviewScreen)
        assert "! infra/stage/registry: left out: the lock file cannot be read" in on.text
        assert "infra/stage/cluster: left out" not in on.text
        assert "infra/stage/cluster: registry.terraform.io/pagerduty" not in on.text, "it has nothing to do with it"


async def test_a_mark_ends_with_the_last_finding_of_its_root(
    opening: Opening, sample: Path, network: NetworkSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keys acted on a root that no row listed, and that no key could unmark."""
    wanted: list[Upgrade] = []
    lock = sample / "infra/stage/cluster" / LOCK_FILE
    text = lock.read_text("utf-8")
    async with opening(network=network) as on:
        monkeypatch.setattr(on.health, "preview", wanted.append)
        await on.go_to("orphan, nothing requires it")
        await on.press("space")
        await on.go_to("constraint not satisfied")
        await on.press("U")
        assert "upgrade: no marked root locks this, or is known to require it" in on.text
        assert on.health.marked == {"infra/stage/cluster"}
        try:
            lock.write_text(re.sub(r'\nprovider "[^"]*/archive" {.*?^}\n', "", text, flags=re.M | re.S), "utf-8")
            await on.press("r")
            await on.settle()
            assert "orphan, nothing requires it" not in [row.title for row in on.health.left.rows if row.found]
            assert not on.health.marked
            assert "marked" not in on.lines[-2]
            await on.go_to("constraint not satisfied")
            await on.press("U")
        finally:
            lock.write_text(text, "utf-8")
    assert [one.where.roots for one in wanted] == [("infra/stage/monitoring",)]


async def test_marks_of_findings_that_wait_for_the_registry_again_are_kept(
    opening: Opening, sample: Path, network: NetworkSettings
) -> None:
    lock = sample / "infra/stage/cluster" / LOCK_FILE
    text = lock.read_text("utf-8")
    async with opening(network=network) as on:
        await on.press("a")
        marked = on.health.marked
        by_registry = {root for row in on.health.left.rows if "release" in row.title for root in row.roots}
        assert by_registry <= marked
        assert by_registry
        try:
            lock.write_text(re.sub(r'\nprovider "[^"]*/archive" {.*?^}\n', "", text, flags=re.M | re.S), "utf-8")
            await on.press("r")
            await on.settle()
            assert on.health.marked == marked & on.health.markable
            assert by_registry <= on.health.marked
        finally:
            lock.write_text(text, "utf-8")


async def test_a_row_without_roots_has_nothing_to_act_on(opening: Opening, network: NetworkSettings) -> None:
    async with opening(network=network) as on:
        await on.go_to("not on the allow list")
        assert not {"space mark", "i diagnose", "e edit"} & {one.strip() for one in on.lines[-1].split("  ")}
        await on.press("L")
        assert "lock: no root on this row; space marks roots" in on.text
        await on.press("space")
        assert "no root to mark on this row" in on.text
        # Without a provider to name, all providers of the marked roots would be upgraded.
        await on.go_to("lock file missing or ignored")
        await on.press("space", "U")
        assert "upgrade: no provider on this row" in on.text


async def test_the_next_finding_is_an_unknown_check_where_there_is_none(opening: Opening, tmp_path: Path) -> None:
    tool = "registry.terraform.io/corp/tool"
    files = {f"a/{LOCK_FILE}": lock_file(sample_entry("corp/tool", "2.0.0", "~> 2.0"))}
    files["a/main.tf"] = requires(("corp/tool", "~> 2.0")).encode()
    top = repository(tmp_path / "top", files)
    with DemoRegistry({tool: [SampleListing("2.0.0"), SampleListing("2.1.0")]}) as registry, Cache.in_memory() as cache:
        environ = {**os.environ, **environment(write_cli_configuration(registry, tmp_path))}
        async with opening(top=top, network=NetworkSettings(environ, cache)) as on:
            await on.press("n")
            assert on.health.left.current is not None
            assert on.health.left.current.title == "180 days behind newest in range"
            assert "unknown in 1 root: release date unknown" in on.said
            assert (
                f"a: {tool}: no release date of 2.0.0 and 2.1.0 is known: `locklens upgrade` to 2.1.0 ends it"
                in on.said
            )
            await on.press("U")
            assert f"upgrade: a: {tool}: no release date" in on.text


async def test_the_form_for_roots_without_a_lock_file_counts_no_entries(
    opening: Opening, sample: Path, network: NetworkSettings, tmp_path: Path
) -> None:
    top = Path(shutil.copytree(sample, tmp_path / "top", symlinks=True))
    git(top, "rm", "-q", "locklens.toml")
    git(top, "commit", "-qm", "no platforms are required", "--", "locklens.toml")
    async with opening(network=network, top=top) as on:
        await on.go_to("lock file missing or ignored")
        await on.press("L")
        assert " Lock what is required" in on.text
        assert "h1 locked for  none yet" in on.text


async def test_filter_sort_and_group(opening: Opening) -> None:
    async with opening() as on:
        await on.press("slash", *"backup", "enter")
        found = on.titles
        assert found[: found.index("VERSIONS OF EACH PROVIDER")] == [
            "required platform missing", "infra/tools/backup", "only h1 hashes, none is signed", "infra/tools/backup",
        ]  # fmt: skip
        await on.press("escape", "b")
        assert "infra/stage/monitoring" in on.titles
        assert "grouped by root" in on.text
        await on.press("slash", *"rule:LK005 provider:grafana", "enter")
        assert on.titles[0] == "infra/stage/monitoring"
        # A finding has to fit all terms, not each term another finding.
        await on.press("escape", "slash", *"rule:LK005 provider:pagerduty", "enter")
        assert "infra/stage/monitoring" not in on.titles
        await on.press("escape")
        await on.press("b")
        assert "registry.terraform.io/corp/search-sync" in on.titles
        await on.press("b", "b", "s")
        assert on.titles[0] == "same version, different hashes"
        await on.press("s")
        checks = on.titles[: on.titles.index("VERSIONS OF EACH PROVIDER")]
        assert checks == sorted(checks)


async def test_a_filter_counts_the_unknown_roots_that_it_fits(opening: Opening) -> None:
    def shown(on: HealthDriver, title: str) -> tuple[tuple[str, ...], int]:
        row = on.health.left.rows[on.titles.index(title)]
        return row.roots, row.unknown

    async with opening((140, 45)) as on:
        title = "same version, different hashes"
        assert shown(on, title) == (("infra/prod/search", "infra/stage/search"), 1), "the file of one root is unread"
        await on.press("slash", *"root:prod sev>=warn", "enter")
        assert shown(on, title) == (("infra/prod/search",), 0)
        await on.go_to(title)
        assert "unknown in" not in on.said
        await on.press("escape", "slash", *"root:stage", "enter")
        assert shown(on, title) == (("infra/stage/search",), 1)
        await on.go_to(title)
        assert "unknown in 1 root: the lock file cannot be read" in on.said
        await on.press("escape", "slash", *"-root:stage", "enter")
        results = [row.result for row in on.health.left.rows if row.result is not None]
        unknown = {path for one in results for paths in one.unknown_in.values() for path in paths}
        assert not any("stage" in path for path in unknown), "nor do the rows without a finding count them"


async def test_the_command_is_copied_as_one_line(opening: Opening) -> None:
    async with opening() as on:
        await on.go_to("orphan, nothing requires it")
        await on.press("y")
        assert re.search("command +locklens prune -- infra/stage/cluster", on.text)
        await on.press("enter")
        assert on.app.clipboard == "locklens prune -- infra/stage/cluster"
        await on.go_to("lock file cannot be read")
        await on.press("y", "enter")
        assert on.app.clipboard == "locklens merge --root infra/stage/registry"
        await on.go_to("malformed or unknown hash")
        await on.press("y")
        assert re.search("row +malformed or unknown hash", on.text)


async def test_no_title_is_cut(opening: Opening) -> None:
    async with opening() as on:
        for size in ((80, 24), (100, 30), (120, 32)):
            await on.resize(size)
            shown = "\n".join(line.split("│")[0] for line in on.lines)
            for title in on.titles[:15]:
                assert f" {title} " in shown


async def test_all_keys_are_explained_and_the_other_screens_lead_here(opening: Opening) -> None:
    async with opening() as on:
        await on.press("question_mark")
        assert "All keys of this screen" in on.text
        await on.press("escape", "1")
        await on.settle()
        await on.press("5")
        await on.settle()
        assert on.app.screen is on.health


async def test_the_palette_offers_what_does_something_here(opening: Opening, sample: Path) -> None:
    def offered(on: HealthDriver) -> set[str]:
        screen = on.app.screen
        assert isinstance(screen, TwoPaneScreen)
        return {one.action for one in screen.palette_commands()} & {"undo", "section(1)", "section(-1)"}

    async with opening((140, 45)) as on:
        assert not offered(on), "nothing was written, and Health has no key for sections"
        await on.press("1")
        await on.settle()
        await on.press("g")
        assert offered(on) == {"section(1)"}
        await on.press("right_square_bracket")
        assert offered(on) == {"section(1)", "section(-1)"}
        await on.press("G")
        assert offered(on) == {"section(-1)"}
        apply(FileChanges(sample, (PlannedFile("NOTES", None, b""),), (), "locklens format"))
        assert offered(on) == {"section(-1)", "undo"}
    (sample / "NOTES").unlink()


async def test_findings_by_signer(opening: Opening, network: NetworkSettings) -> None:
    async with opening((120, 40), network) as on:
        await until(on, lambda: on.health.health is not None and bool(on.health.health.signers))
        for size in ((80, 24), (100, 30)):
            await on.resize(size)
            await until(on, lambda: not on.health.is_asking)
            assert re.search(r"verdict block, \d+ (of \d+ locked hashes )?not verified.* \| ", on.lines[-2])
            assert " | 1 of 2 registries failed " in f"{on.lines[-2]} "
        await on.resize((120, 40))
        await on.press("b", "b", "b")
        assert "grouped by signer" in on.text
        republished = next(row for row in on.health.left.rows if any(f.rule == "LK001" for _, f in row.found))
        fingerprint, _, owner = republished.title.partition("  ")
        assert re.fullmatch("[0-9A-F]{40}", fingerprint)
        assert owner
        assert "files and roots" in on.titles
        assert any(title.startswith("no signer: ") for title in on.titles)
        await on.press("b")
        assert "grouped by check" in on.text


async def test_lock_plans_what_it_can_end_and_else_says_what_to_do(
    opening: Opening, network: NetworkSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[Lock] = []
    async with opening((160, 40), network=network) as on:
        monkeypatch.setattr(on.health, "preview", wanted.append)
        await on.go_to("required but not locked")
        await on.press("L")
        (found,) = wanted
        assert (found.where.roots, found.providers) == (
            ("infra/stage/monitoring",), ("registry.terraform.io/pagerduty/pagerduty",)
        ), "the root has a locked version too that does not satisfy its constraint"  # fmt: skip
        assert "locklens lock --platform linux_amd64" in on.said
        await on.go_to("malformed or unknown hash")
        assert "BY HAND" in on.said
        await on.press("L")
        assert len(wanted) == 1
        assert "lock: remove the hashes at lines 9, 15 of infra/tools/runner/.terraform.lock.hcl" in on.text


async def test_what_is_offered_on_a_row_can_write_there(opening: Opening, network: NetworkSettings) -> None:
    rows = {
        "lock file cannot be read": "",
        "configuration cannot be read": "",
        "required platform missing": "LU",
        "constraint not satisfied": "LU",
        "orphan, nothing requires it": "LP",
        "formatting differs": "LF",
        "lock file missing or ignored": "L",
    }
    async with opening((160, 40), network=network) as on:
        for title, keys in rows.items():
            await on.go_to(title)
            assert {"L", "U", "P", "F"} - on.health.idle_keys == {*keys}, title
        await on.go_to("orphan, nothing requires it")
        await on.press("U")
        assert "upgrade: infra/stage/cluster: registry.terraform.io/hashicorp/archive: nothing requires it" in on.text
        await on.go_to("required but not locked")
        await on.press("U")
        assert "it is not locked: `lock` locks it" in on.text
        await on.go_to("lock file cannot be read")
        words = "`locklens merge --root infra/stage/registry` merges the sides that git left; entries that clash need --prefer"
        assert "BY HAND" in on.said
        assert words in on.said
        await on.press("L")
        assert f"lock: {words}" in on.text
        await on.go_to("orphan, nothing requires it")
        await on.press("space")
        await on.go_to("lock file cannot be read")
        assert {"L", "P", "F"} - on.health.idle_keys == {"L", "P"}, "keys act on the marked roots"


async def test_upgrade_of_an_advisory_is_to_the_version_that_fixes_it(
    opening: Opening, network: NetworkSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the cooldown it went to a version that has the same one; the printed command was right."""
    wanted: list[Upgrade] = []
    async with opening(network=network) as on:
        monkeypatch.setattr(on.health, "preview", wanted.append)
        health = on.health.health
        assert health is not None
        path, vault = "infra/prod/secrets", ProviderAddress("registry.terraform.io", "hashicorp", "vault")
        for case in ("4.8.0", ""):
            own = Finding("LK043", Severity.WARN, "GO-1", f"{path}/{LOCK_FILE}", 4, provider=vault, case=case)
            roots = [replace(one, findings=(own,)) if one.path == path else one for one in health.review.roots]
            made = replace(health, review=replace(health.review, roots=tuple(roots)), checks=results(roots))
            assert isinstance(on.health.loader, HealthLoader)
            on.health.loader.health = made
            on.health.refresh_list()
            await on.go_to("advisory of the provider itself")
            await on.press("U")
        assert [(one.root, one.address, str(one.version)) for one in wanted[0].picks] == [(path, vault, "4.8.0")]
        assert len(wanted) == 1
        assert "upgrade: infra/prod/secrets: registry.terraform.io/hashicorp/vault: no version that fixes it" in on.text


def shown_roots(on: HealthDriver) -> tuple[str, ...]:
    row = on.health.left.current
    assert row is not None
    return row.roots


async def test_complete_rows_stay_while_registries_are_asked_again(
    opening: Opening, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L, U, P and F planned only a part of the roots: those of which the files alone tell."""
    read, gate = threading.Event(), threading.Event()
    scan = LockLens.health
    is_inspected = False

    def drafted(show: Callable[[Health], object], health: Health) -> None:
        """Show a draft; once a package was inspected, with a finding about what is inside, which comes with it."""
        first, *rest = health.review.roots
        inside = Finding("LK042", Severity.INFO, "an advisory", first.lock_file)
        roots = (replace(first, findings=(*first.findings, *[inside] * is_inspected)), *rest)
        show(replace(health, review=replace(health.review, roots=roots)))

    def scanned(source: LockLens, *, on_draft: Callable[[Health], object], **asked: Any) -> Health:
        health = scan(source, on_draft=partial(drafted, on_draft), **asked)
        read.set()
        (row,) = (one for one in health.review.roots if one.path == "infra/prod/secrets")
        late = Finding("LK009", Severity.WARN, "it lacks a platform", row.lock_file, 4)
        roots = [replace(one, findings=(late,)) if one is row else one for one in health.review.roots]
        gate.wait(10)
        return replace(health, review=replace(health.review, roots=tuple(roots)), checks=results(roots))

    monkeypatch.setattr(LockLens, "health", scanned)
    gate.set()
    lock = sample / "infra/prod/secrets" / LOCK_FILE
    content = lock.read_bytes()
    async with opening() as on:
        await on.go_to("required platform missing")
        before = on.health.left.current
        assert before is not None
        assert "infra/prod/secrets" in before.roots
        assert "so far" not in on.lines[0]
        is_inspected = True
        gate.clear()
        read.clear()
        await on.press("r")
        await until(on, read.is_set)
        assert on.health.is_asking
        assert on.health.left.current == before
        assert "so far" in on.lines[0]
        gate.set()
        await on.settle()
        assert on.health.left.current == before
        gate.clear()
        lock.write_bytes(content + b"\n")
        try:
            await on.press("r")
            await until(on, lambda: "infra/prod/secrets" not in shown_roots(on), seconds=6)
        finally:
            lock.write_bytes(content)
            gate.set()


async def test_the_versions_are_those_of_the_roots_that_fit_the_filter(opening: Opening) -> None:
    async with opening((120, 60)) as on:

        def spread() -> dict[str, int]:
            return {row.title: row.spread.roots for row in on.health.left.rows if row.spread is not None}

        whole = spread()
        root = "infra/prod/data"
        health = on.health.health
        assert health is not None
        own = {one.address.short("registry.terraform.io")
               for each in health.review.roots if each.path == root for one in each.new.entries}  # fmt: skip
        assert own
        on.health.action_only(f"-root:{root}")
        await on.pilot.pause()
        assert spread() == {name: number - (name in own) for name, number in whole.items() if number > (name in own)}
        on.health.action_only(f"root:{root}")
        await on.pilot.pause()
        assert spread() == dict.fromkeys(own, 1)
        await on.go_to(min(own))
        assert "1 root, 1 version" in on.text
        assert root in on.text
