"""What a size of the terminal leaves room for: panes, versions, titles of columns, and rows for equal entries."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from operations.sample_candidates import offer
from ui.conftest import ServingSource
from ui.test_hashes import LINUX, MAC, WANTED, HashesDriver, locked
from ui.test_upgrade_rows import selection_of

from locklens.lines import Role, line
from locklens.operations.compare import open_git
from locklens.operations.comparison import Base
from locklens.operations.locklens import LockLens
from locklens.operations.review.request import ReviewRequest
from locklens.review import HashFact, Proof
from locklens.review.findings import Severity
from locklens.review.model import Evidence, Review
from locklens.review.reports.evidence_lines import evidence_lines
from locklens.trust import Signer, Tier
from locklens.ui.app import LockLensApp
from locklens.ui.hashes.detail import hash_detail
from locklens.ui.hashes.rows import hash_rows
from locklens.ui.health.rows import bar_of
from locklens.ui.shell.two_panes import TwoPaneScreen
from locklens.ui.upgrade.rows import By, UpgradeList, upgrade_rows
from locklens.ui.widgets import fitted_end, fitted_place, fitted_step, least_step
from locklens.ui.widgets.line_view import LineView
from locklens.ui.widgets.row_list import LaidOut

if TYPE_CHECKING:
    from collections.abc import Callable

    from ui.conftest import Running, Samples


SIZES = [(80, 24), (100, 30), (120, 40), (140, 45), (200, 60)]
TARGET = "4.0.0-beta.20261123.12"


# Panes


@pytest.fixture
def demo(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], LockLensApp]:
    """Opens a view of the demo's repository, without any registry."""
    monkeypatch.chdir(sample)

    def build(view: str) -> LockLensApp:
        request = ReviewRequest(partial(open_git, sample), base=Base())
        return LockLensApp(LockLens(request), view, store_path=tmp_path / "store.sqlite3")

    return build


VIEWS = [
    ("review", ("provider", "version", "unverified")),
    ("hashes", ("provider", "version", "coverage", "unverified")),
    ("keys", ("signer", "tier", "providers")),
    ("health", ("roots", "unknown")),
]


@pytest.mark.parametrize(("view", "titles"), VIEWS)
async def test_panes_and_titles(demo: Callable[[str], LockLensApp], view: str, titles: tuple[str, ...]) -> None:
    app = demo(view)
    async with app.run_test(size=(80, 24)) as pilot:
        on = HashesDriver(app, pilot)
        await on.settle()
        screen = app.screen
        assert isinstance(screen, TwoPaneScreen)
        for width, height in [*SIZES, (119, 40)]:
            await pilot.resize_terminal(width, height)
            await on.press("G")
            for title in titles:
                assert title in on.lines[2], "titles do not scroll"
            assert sum(all(title in text for title in titles) for text in on.lines[2:]) == 1, "nor are they repeated"
            if width >= 120:
                assert screen.left.region
                assert screen.detail.region
                continue
            assert screen.left.region.width == width
            assert not screen.detail.region
            await on.press("tab")
            assert screen.detail.region.width == width
            await on.press("escape")


async def test_a_hidden_detail_keeps_its_place_in_ever_more_lines(samples: Samples, running: Running) -> None:
    last = line("the last", copied="the last")
    async with running(samples.full(), size=(80, 24)) as on:
        await on.press("j", "enter")
        on.detail.show_lines([line("the first", copied="1"), last])
        await on.press("G", "escape")
        assert not on.detail.region
        for number in range(3):
            more = [line(f"{index} of {number}", copied=f"{index}") for index in range(10 * number)]
            on.detail.show_lines([*more, last], keep_place=True)
            await on.pilot.pause()
        assert on.detail.current == last


# Versions


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("5.1.0 -> 5.2.0", 20, "5.1.0 -> 5.2.0      "),
        ("5.44.2 -> 6.14.1", 14, "5.4… -> 6.14.1"),
        ("5.44.2 -> 6.14.1", 11, "… -> 6.14.1"),
        ("5.44.2 -> 6.14.1", 8, "6.14.1  "),
        ("new 5.15.0", 10, "new 5.15.0"),
    ],
)
def test_the_old_version_is_cut_before_the_target(text: str, width: int, shown: str) -> None:
    assert fitted_step(text, width) == shown
    assert least_step("5.44.2 -> 6.14.1") == 11


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("corp.example/corp/vault-ext", 20, "…/corp/vault-ext    "),
        ("infra/prod/network", 14, "…/prod/network"),
        ("corp/vault-ext", 13, "…/vault-ext  "),
        ("cloudflare/cloudflare", 8, "…udflare"),
        ("hashicorp/aws", 12, "…/aws       "),
        ("cyrilgdn/postgresql", 17, "…/postgresql     "),
        ("x/" + "a" * 20, 12, "…aaaaaaaaaaa"),
    ],
)
def test_names_lose_whole_folders_first(text: str, width: int, shown: str) -> None:
    assert fitted_end(text, width) == shown


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("~> 4.6 (infra/prod/secrets/versions.tf:12)", 42, "~> 4.6 (infra/prod/secrets/versions.tf:12)"),
        ("~> 4.6 (infra/prod/secrets/versions.tf:12)", 40, "~> 4.6 (…/prod/secrets/versions.tf:12)  "),
        ("~> 4.6 (infra/prod/secrets/versions.tf:12)", 26, "~> 4.6 (…/versions.tf:12) "),
        ("*edit infra/prod/main.tf:4 +1", 20, "*edit …/main.tf:4 +1"),
        ("~> 4.6 (infra/prod/secrets/versions.tf:12)", 12, "~> 4.6 (inf…"),
        ("no path in these words", 8, "no path…"),
        ("a.example: b.example was not asked: offline, not cached", 44, "b.example was not asked: offline, not cached"),
        ("a.example: b.example was not asked: offline, not cached", 24, "offline, not cached     "),
        ("infra/stage/.terraform.lock.hcl:5: unresolved conflict", 24, "unresolved conflict     "),
        ("needs action, 5.0 is not in range: ~> 4", 20, "needs action, 5.0 i…"),
    ],
)
def test_a_line_number_is_not_cut_off(text: str, width: int, shown: str) -> None:
    assert fitted_place(text, width) == shown


def wide_review(samples: Samples) -> Review:
    """Versions and names that are long, alone and in several roots."""
    shared = samples.change("registry-of-a-company/a-long-provider-name", "3.99.0-rc.20261101", TARGET)
    alone = samples.change("another-company/with-a-long-provider-name", "3.99.0-rc.20261101", TARGET)
    short = samples.change("acme/demo", "1.0.0", "1.1.0", salt="s")
    return samples.review(
        samples.root("infra/prod/a-folder-with-a-long-name/network", [shared, alone, short]),
        samples.root("infra/stage/a-folder-with-a-long-name/network", [shared]),
    )


async def test_no_row_of_a_review_cuts_the_target(samples: Samples, running: Running) -> None:
    async with running(wide_review(samples)) as on:
        for size in SIZES:
            await on.resize(size)
            for key in ("j", "b", "b"):
                rows = [text for text in on.lines if "  ^  " in text[:20]]
                assert sum(f"-> {TARGET}" in text for text in rows) >= 2, on.text
                assert any("minor" in text and "1.1.0" in text for text in rows), "another row's version hides no kind"
                assert any("×2" in text or "2 roots" in text for text in rows), "a count is never cut"
                await on.press(key)
            await on.press("b")


def test_no_row_of_upgrade_cuts_the_target() -> None:
    target = "3.20261123.1234567890"
    offered = offer(f"3.20261101.1234567890:90 {target}:40", "~> 3.0", root="a", name="a-provider-with-a-long-name")
    body = [row for row in upgrade_rows(selection_of(offered), by=By.PROVIDER) if row.depth]
    for width, _ in SIZES:
        laid_out = LaidOut.fitting(UpgradeList.COLUMNS, body, width, lead=7)
        shown = "".join(span.text for span in laid_out.painted(body[0]))
        assert target in shown
        assert 7 + len(shown) <= width


def test_the_reason_takes_the_cells_that_are_empty() -> None:
    silent = replace(offer("", "~> 1.0", root="a", name="demo"), problem="registry.example: connection refused")
    body = [row for row in upgrade_rows(selection_of(silent), by=By.PROVIDER) if row.depth]
    laid_out = LaidOut.fitting(UpgradeList.COLUMNS, body, 80, lead=7)
    assert "registry.example: connection refused" in "".join(span.text for span in laid_out.painted(body[0]))


# Titles and heads


async def test_a_head_names_the_program_then_the_sides_then_the_counts(samples: Samples, running: Running) -> None:
    review = replace(samples.full(), base=replace(samples.full().base, name="feature/" + "long-" * 30))
    for one in (samples.full(), review):
        async with running(one) as on:
            for size in SIZES:
                await on.resize(size)
                head = on.lines[0]
                assert head.startswith(" locklens  ")
                assert head.index("work tree" if one is not review else "feature/") < head.index("  18 changes")
                assert head.rstrip().endswith("3 BLOCK  1 WARN  1 INFO") or "INFO" in head


async def test_the_legend_is_in_reach_whatever_the_notes_say(samples: Samples, running: Running) -> None:
    notes = tuple(f"note {number}: " + "the whole review is limited by something " * 3 for number in range(4))
    async with running(replace(samples.full(), limits=notes), size=(140, 45)) as on:
        assert "hashes replaced" in on.text
        assert "root or unknown" in on.text


async def test_notes_that_have_no_room_end_with_a_sign_of_that(samples: Samples, running: Running) -> None:
    notes = tuple(f"note {number}: " + "the whole review is limited by something " * 3 for number in range(9))
    for shown, is_cut in ((notes, True), (("brief",), False)):
        async with running(replace(samples.full(), limits=shown), size=(140, 45)) as on:
            panel = on.screen.facts.region
            last = on.lines[panel.bottom - 1][: panel.right].rstrip()
            assert last.endswith("…") is is_cut, last


def test_bars_are_in_eighths_and_never_empty() -> None:
    assert bar_of(8, 8, 8) == "█" * 8
    assert bar_of(1, 8, 4) == "▌   "
    assert bar_of(1, 10_000, 8) == "▏       "


# Equal entries


@pytest.fixture
def alike(samples: Samples) -> Review:
    short = (samples.finding("LK009", Severity.WARN, f"{MAC} is not covered"),)
    demo = locked(samples, "acme/demo")
    other = replace(locked(samples, "acme/demo"), evidence=Evidence(problems=("it is down",)))
    review = samples.review(
        samples.root("infra/dev", [demo, locked(samples, "acme/alone")]),
        samples.root("infra/prod", [replace(demo, findings=short)]),
        samples.root("infra/stage", [demo]),
        samples.root("infra/test", [other]),
    )
    return replace(review, offline=False, policy=WANTED)


def test_the_same_entry_in_several_roots_is_one_row(alike: Review) -> None:
    rows = hash_rows(alike)
    assert [(row.depth, row.name, len(row.subjects)) for row in rows] == [
        (0, "in several roots", 3),
        (1, "acme/demo", 3),
        (0, "infra/dev", 1),
        (1, "acme/alone", 1),
        (0, "infra/test", 1),
        (1, "acme/demo", 1),
    ], "an entry that less is known of is not the same"
    assert rows[1].severity is Severity.WARN, "that of the worst root"
    assert rows[2].shared == 1
    unfolded = hash_rows(alike, unfolded={rows[1].key})
    assert [row.name for row in unfolded if row.depth == 2] == ["infra/dev", "infra/prod", "infra/stage"]


def test_of_roots_that_differ_the_findings_are_one_roots(samples: Samples) -> None:
    demo = locked(samples, "acme/demo")
    found = [
        replace(demo, findings=(samples.finding("LK021", Severity.WARN, f"constraints {old} -> ~> 6.3"),))
        for old in ("5.84.0", "5.82.2")
    ]
    for second, heading in ((found[1], "FINDINGS  as in infra/dev"), (found[0], "FINDINGS")):
        review = samples.review(samples.root("infra/dev", [found[0]]), samples.root("infra/prod", [second]))
        lines = [one.text.rstrip() for one in hash_detail(hash_rows(review)[1], review)]
        assert heading in lines
        assert any("Unfold to compare" in one for one in lines) is (second is not found[0])


def test_other_proof_or_hashes_are_another_row(samples: Samples) -> None:
    one = locked(samples, "acme/demo")
    weaker = replace(one, kept=(replace(one.kept[0], proof=Proof.REPORTED), *one.kept[1:]))
    fewer = locked(samples, "acme/demo", ())
    for other in (weaker, fewer):
        review = samples.review(samples.root("a", [one]), samples.root("b", [other]))
        assert all(len(row.subjects) == 1 for row in hash_rows(review))


async def test_keys_act_on_every_root_of_an_entry(samples: Samples, alike: Review, running: Running) -> None:
    source = ServingSource(alike, top=Path("/somewhere"))
    async with running(source, "hashes", size=(140, 45)) as shown:
        on = HashesDriver(shown.app, shown.pilot)
        await on.press("j")
        assert "acme/demo ×3" in on.text
        assert "the same version and hashes in 3 roots: infra/" in on.said
        assert "ROOTS  3 with these hashes" in on.said
        await on.choose_line("infra/stage")
        await on.press("space")
        assert "marked 3 entries for v, p and L" in on.lines[-2]
        await on.press("l")
        assert [row.name for row in on.hashes.left.rows if row.depth == 2] == ["infra/dev", "infra/prod", "infra/stage"]
        assert "▾ x" in on.text
        await on.press("j", "j", "space")
        assert [row.marked for row in on.hashes.left.rows[:5]] == [2, 2, 1, 0, 1]
        await on.press("h", "space", "v")
        await on.settle()
        files = {f"infra/{name}/.terraform.lock.hcl" for name in ("dev", "prod", "stage")}
        assert source.proofs == [{(file, samples.address("acme/demo")) for file in files}]
        await on.press("escape", "escape", "slash", *"stage", "enter")
        assert on.names == ["infra/stage", "acme/demo"], "one of them alone is no group"


# What is not verified


def test_what_nobody_signed_is_never_in_the_colour_of_the_verified(samples: Samples) -> None:
    change = samples.change()
    h1 = HashFact("h1:" + "L" * 42 + "A=", LINUX, Proof.REPORTED)
    reported = (*(replace(fact, proof=Proof.REPORTED) for fact in change.added), h1)
    unsigned = replace(
        change, added=reported, new_signer=Signer(Tier.UNSIGNED), evidence=Evidence("2026-11-21T14:02:09Z")
    )
    lines = list(evidence_lines(unsigned, samples.review(), is_asking=False))
    assert any("4 of 4" in one.text for one in lines)
    assert not [one.text for one in lines for span in one.spans if span.role is Role.GOOD]
    signed = replace(unsigned, added=tuple(replace(fact, proof=Proof.SIGNED) for fact in change.added))
    lines = list(evidence_lines(signed, samples.review(), is_asking=False))
    assert any(span.role is Role.GOOD for one in lines for span in one.spans)


async def test_help_calls_only_signed_and_computed_hashes_verified(alike: Review, running: Running) -> None:
    async with running(alike, "hashes", size=(120, 60)) as on:
        await on.press("question_mark")
        said = "\n".join(line.text for line in on.app.screen.query(LineView).last().lines)
        assert "5 of 10 locked hashes are not verified: their proof is not signed or computed" in said
        assert "computed or reported" not in said
