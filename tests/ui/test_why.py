"""Why a provider is there, on the screen: its lines, and every key of the dialog."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kit.waiting import LIMIT
from msgspec.structs import replace
from operations.test_explain_provider import FILES, asked, lock, requiring, write
from selection.making import offers
from ui.conftest import Driver, Running, Samples, ServingSource, explained, until

from locklens.errors import LockLensError, UnavailableError
from locklens.lines import FilePlace
from locklens.lockfile.parse import parse
from locklens.operations.review.explain_provider import WhySubject
from locklens.operations.upgrades.recommending import UpgradePolicy
from locklens.policy import Policy
from locklens.review.findings import Severity
from locklens.review.model import ChangeKind, Review
from locklens.review.reports.why import render, why_lines
from locklens.selection import BumpLimit
from locklens.ui.dialogs import TextDialog
from locklens.ui.why import WHY_KEYS, WhyDialog
from locklens.ui.widgets.line_view import LineView
from locklens.versions import Version

if TYPE_CHECKING:
    from locklens.review.why import Why

OFFERED = offers("4.9.0", "5.49.0", "5.90.0", "5.95.0", "6.0.0", "6.1.0")


def text_of(why: Why, *, is_asking: bool = False) -> str:
    return "\n".join(line.text for line in why_lines(why, is_asking=is_asking))


# What it says


@pytest.mark.parametrize("offered", [None, OFFERED, (), UnavailableError("registry.terraform.io answered 500")])
def test_the_command_line_says_the_same_line_by_line(tmp_path: Path, offered: object) -> None:
    why = asked(write(tmp_path, FILES), "aws", offered=offered)
    printed = render(why).splitlines()
    assert printed[0].split() == [".", "registry.terraform.io/hashicorp/aws", "(Terraform)"]
    ascii_tree = str.maketrans("├│└─", "||`-")
    assert [f"  {line.text}".translate(ascii_tree) for line in why_lines(why)][1:] == printed[1:]


def test_who_requires_it_is_a_tree_with_what_each_constraint_excludes(tmp_path: Path) -> None:
    text = text_of(asked(write(tmp_path, FILES), "aws", offered=OFFERED))
    assert text.index("├─ the root module") < text.index("├─ modules a, b") < text.index("└─ modules a.deep, b.deep")
    root = text[text.index("├─ the root module") : text.index("├─ modules a, b")]
    assert "z_override.tf:3  >= 5.0, < 5.91\n  │    excludes 5.95.0 to 6.1.0 (3 versions)" in root
    assert "overrides ~> 5.40 of main.tf:3" in root
    assert "used once, in main.tf:8" in root


def test_every_place_can_be_opened_and_every_version_copied(tmp_path: Path) -> None:
    lines = list(why_lines(asked(write(tmp_path, FILES), "aws", offered=OFFERED)))
    places = {str(line.place) for line in lines if line.place is not None}
    assert {"z_override.tf:3", "main.tf:3", "main.tf:11", "m/main.tf:3", ".terraform.lock.hcl:4"} <= places
    copied = {line.copied for line in lines}
    assert {"5.49.0", ">= 5.0, < 5.91", "5.90.0", "6.1.0"} <= copied
    assert not any(".tf" in text for text in copied)


def test_the_paths_of_one_root_are_those_of_the_report(tmp_path: Path) -> None:
    folder = write(tmp_path, {f"live/a/{path}": text for path, text in FILES.items()})
    text = text_of(asked(folder, "aws", "live/a", offered=OFFERED))
    assert "live/a/z_override.tf:3" in text
    assert "./" not in text


def test_a_conflict_comes_first_as_the_smallest_set(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "main.tf": requiring("hashicorp/aws ~> 5.0") + 'module "m" { source = "./m" }\n',
        "m/main.tf": requiring("hashicorp/aws >= 6.0") + 'module "n" { source = "./n" }\n',
        "m/n/main.tf": requiring("hashicorp/aws >= 3.0"),
        ".terraform.lock.hcl": lock("hashicorp/aws 5.49.0"),
    }
    why = asked(write(tmp_path, files), "aws", offered=OFFERED)
    lines = [line.text for line in why_lines(why)]
    at = next(number for number, text in enumerate(lines) if text.startswith("CONFLICT"))
    assert lines[at] == "CONFLICT     no version can satisfy these together"
    assert [text.split() for text in lines[at + 1 : at + 3]] == [
        ["~>", "5.0", "main.tf:3"],
        [">=", "6.0.0", "m/main.tf:3", "module", "m"],
    ]
    assert ">= 3.0" not in "\n".join(lines[: at + 3])
    assert "DOES NOT SATISFY" in text_of(why)
    assert "selects nothing: the constraints conflict" in text_of(why)


def test_while_the_registry_is_asked_it_says_so(tmp_path: Path) -> None:
    why = asked(write(tmp_path, FILES), "aws")
    assert "asking registry.terraform.io for its versions …" in text_of(why, is_asking=True)
    assert "the registry was not asked, so newer versions are unknown" in text_of(why)


def test_what_is_not_seen_and_what_nothing_requires(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "main.tf": 'module "far" { source = "acme/far/aws" }\n', ".terraform.lock.hcl": lock("hashicorp/tls 4.0.0"),
    }  # fmt: skip
    text = text_of(asked(write(tmp_path, files), "tls"))
    assert "nothing in the files that were read" in text
    assert "not read: 1 module that is not fetched" in text
    assert "main.tf:1  module far from acme/far/aws" in text
    (tmp_path / "main.tf").write_text("locals {}\n")
    assert "nothing in 1 file" in text_of(asked(tmp_path, "tls"))
    (tmp_path / "main.tf").unlink()
    assert "unknown: no configuration in this folder" in text_of(asked(tmp_path, "tls"))


def test_what_nothing_requires_is_skipped_by_upgrade_and_pruned(tmp_path: Path) -> None:
    locked: dict[str, str | bytes] = {"main.tf": "locals {}\n", ".terraform.lock.hcl": lock("hashicorp/tls 4.0.0")}
    offered = offers("4.0.0")
    text = text_of(asked(write(tmp_path, locked), "tls", offered=offered))
    assert "UPGRADE      not required here, so upgrade skips it; prune removes it" in text


def test_of_a_removed_provider_nothing_is_pruned(samples: Samples, tmp_path: Path) -> None:
    review = samples.review(samples.root("", [samples.change("hashicorp/tls", "4.0.0", None, kind=ChangeKind.REMOVED)]))
    write(tmp_path, {"main.tf": "locals {}\n", ".terraform.lock.hcl": lock()})
    subject = WhySubject(review, tmp_path, ("",), samples.address("hashicorp/tls"))
    text = text_of(explained(subject, lambda _: offers("4.0.0")))
    assert "UPGRADE      neither required nor locked here, so upgrade skips it" in text
    (tmp_path / "main.tf").unlink()
    text = text_of(explained(subject, lambda _: offers("4.0.0")))
    assert "UPGRADE      could not determine whether it is required here, so upgrade fails" in text


def test_a_row_of_the_upgrade_screen_is_explained_by_its_own_target_and_conditions(
    samples: Samples, tmp_path: Path
) -> None:
    locked = {".terraform.lock.hcl": lock("hashicorp/aws 5.49.0")}
    write(tmp_path, {"main.tf": requiring("hashicorp/aws >= 5.0, < 7.0"), **locked})
    review = replace(samples.review(samples.root("", [samples.change()])), policy=Policy(cooldown=7))
    listed = offers("5.49.0", "5.49.1", "5.90.0", "5.95.0", "6.1.0", "7.0.0")
    ages = {one.version: days for one, days in zip(listed, (90, 60, 40, 3, 30, 20), strict=True)}

    def text(terms: UpgradePolicy, target: str | None) -> str:
        subject = WhySubject(
            review, tmp_path, ("",), samples.address(), terms.heeded, terms.limit, terms.takes_majors,
            {"": Version.parse(target) if target else None},
        )  # fmt: skip
        return text_of(explained(subject, lambda _: listed, ages))

    usual = text(UpgradePolicy(review.policy), "5.90.0")
    major = "held back: major version, not included"
    assert f"TARGET       5.90.0; 6.1.0 is the newest in range, {major}" in usual
    assert "5.95.0  held back:\n               cooldown 7 d (3 d old)" in usual
    assert "6.1.0  held back:\n               major version, not included" in usual
    assert "UPGRADE" not in usual
    free = text(UpgradePolicy(review.policy, takes_majors=True, ignores_cooldown=True), "6.1.0")
    assert "TARGET       6.1.0\n" in free
    assert "5.49.1 to 6.1.0 (4 versions)  not held back" in free
    limit = "limited to the same minor version"
    limited = text(UpgradePolicy(review.policy, BumpLimit.PATCH, ignores_cooldown=True), "5.49.1")
    assert f"TARGET       5.49.1; 6.1.0 is the newest in range, held back: {limit}" in limited
    both = " ".join(text(UpgradePolicy(review.policy, BumpLimit.PATCH), None).split())
    assert "TARGET none; 6.1.0 is the newest in range, held back:" in both
    assert f"5.95.0 held back: cooldown 7 d (3 d old) {limit}" in both
    edited = "TARGET       7.0.0, which the constraints exclude: the upgrade edits them\n"
    assert edited in text(UpgradePolicy(review.policy), "7.0.0")


# The dialog


def reviewing(samples: Samples, tmp_path: Path, **more: object) -> ServingSource:
    """A review of one upgrade, required twice."""
    write(tmp_path, {"main.tf": "\n" * 9})
    change = samples.change(required_by=(samples.requirement("~> 5.0"),))
    configuration = replace(
        samples.configuration(),
        requirements=(
            samples.requirement("~> 5.0", hidden=True),
            replace(samples.requirement(">= 4", module="edge"), line=7),
        ),
    )
    root = samples.root("", [change], configuration=configuration)
    root = replace(root, new=parse(lock("hashicorp/aws 5.2.0"), root.lock_file))
    source = ServingSource(samples.review(root), top=tmp_path)
    for name, value in more.items():
        setattr(source, name, value)
    return source


def registry(subject: WhySubject, is_asking: bool) -> Why:
    return explained(subject, lambda _: offers("5.2.0", "5.9.0", "6.0.0") if is_asking else None)


async def opened(on: Driver) -> LineView:
    await on.press("j", "w")
    await on.settle()
    assert isinstance(on.app.screen, WhyDialog)
    return on.app.screen.query_one(LineView)


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_it_opens_on_a_change_and_closes(
    samples: Samples, running: Running, tmp_path: Path, size: tuple[int, int]
) -> None:
    async with running(reviewing(samples, tmp_path, explaining=registry), size=size) as on:
        for key in ("escape", "q", "w", "enter"):
            await opened(on)
            assert "Why registry.terraform.io/hashicorp/aws" in on.text
            assert "UPGRADE      `locklens upgrade hashicorp/aws` selects 5.9.0" in on.text
            assert "held back:" in on.text
            await on.press(key, "k")
            assert on.is_on_top


async def test_what_needs_no_registry_is_there_at_once(samples: Samples, running: Running, tmp_path: Path) -> None:
    gate = threading.Event()

    def slow(subject: WhySubject, is_asking: bool) -> Why:
        if is_asking:
            gate.wait(LIMIT)
        return registry(subject, is_asking)

    source = reviewing(samples, tmp_path, explaining=slow)
    async with running(source) as on:
        await on.press("j", "w")
        await until(on, lambda: "REQUIRED BY" in on.text)
        assert "asking registry.terraform.io for its versions" in on.text
        assert "asking the registry; facts from the configuration are shown" in on.text
        await on.press("j", "j")
        line = on.app.screen.query_one(LineView).current
        gate.set()
        await until(on, lambda: "selects 5.9.0" in on.text)
        assert on.app.screen.query_one(LineView).current == line
        assert "asking the registry; facts from the configuration are shown" not in on.text
        gate.clear()
        await on.press("r")
        await until(on, lambda: source.whys[-1][1:] == (True, True))
        gate.set()
        await on.settle()
        assert "selects 5.9.0" in on.text


async def test_offline_and_failures_are_said(samples: Samples, running: Running, tmp_path: Path) -> None:
    async with running(reviewing(samples, tmp_path)) as on:
        await opened(on)
        assert "the registry was not asked, so newer versions are unknown" in on.text
    answers = iter([None, LockLensError("it broke", hint="mend it")])

    def breaking(subject: WhySubject, _: bool) -> Why:
        if (error := next(answers)) is not None:
            raise error
        return explained(subject)

    async with running(reviewing(samples, tmp_path, explaining=breaking)) as on:
        await opened(on)
        assert "it broke; mend it" in on.text
        assert "REQUIRED BY" in on.text


async def test_keys_move_copy_and_open(
    samples: Samples, running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setenv("EDITOR", "/bin/vim")
    monkeypatch.delenv("VISUAL", raising=False)
    async with running(reviewing(samples, tmp_path, explaining=registry)) as on:
        view = await opened(on)
        await on.press("G")
        assert view.current is not None
        assert view.current.place == FilePlace("main.tf", 7)
        await on.press("y")
        assert on.app.clipboard == "'>= 4'"
        assert ": '>= 4'" in on.text
        monkeypatch.setattr(subprocess, "run", lambda command, **_: started.append(command))
        await on.press("e")
        assert started == [] or started == [["/bin/vim", "+7", str(tmp_path / "main.tf")]]
        assert started or "the editor cannot be started" in on.text  # a terminal of a test cannot be left
        await on.press("g")
        assert view.current.copied == "5.2.0"
        (tmp_path / "main.tf").unlink()
        await on.press("G", "e")
        assert "main.tf is not in the work tree" in on.text


async def test_the_help_says_every_key(samples: Samples, running: Running, tmp_path: Path) -> None:
    async with running(reviewing(samples, tmp_path), size=(120, 60)) as on:
        await opened(on)
        await on.press("question_mark")
        assert isinstance(on.app.screen, TextDialog)
        for group in WHY_KEYS.groups:
            for key in group.keys:
                assert key.words[:40] in on.text
        await on.press("question_mark")
        assert isinstance(on.app.screen, WhyDialog)


async def test_keys_in_the_last_line_can_be_clicked(samples: Samples, running: Running, tmp_path: Path) -> None:
    async with running(reviewing(samples, tmp_path)) as on:
        await opened(on)
        row = next(number for number, text in enumerate(on.lines) if "reload" in text)
        column = on.lines[row].index("esc q w")
        await on.pilot.click(offset=(column + 1, row))
        await on.pilot.pause()
        assert on.is_on_top


async def test_a_group_tells_of_each_root_and_a_section_of_none(samples: Samples, running: Running) -> None:
    source = ServingSource(samples.full())
    async with running(source) as on:
        await on.press("w")
        assert "why: no provider on this row" in on.text
        await on.go_to("hashicorp/random")
        await on.press("w")
        await on.settle()
        assert len(source.whys[0][0].roots) == 8
        await on.press("escape")
        await on.go_to("LK006")
        await on.press("w")
        assert "why: no provider on this row" in on.text


async def test_a_finding_about_a_provider_and_a_side_of_a_conflict(samples: Samples, running: Running) -> None:
    finding = replace(samples.finding("LK006", Severity.BLOCK), provider=samples.address("acme/gone"))
    source = ServingSource(
        samples.review(
            samples.root("a", findings=(finding,), configuration=samples.configuration()),
            samples.root("b", conflict=samples.conflict(), configuration=samples.configuration()),
        )
    )
    async with running(source) as on:
        for title, name in (("LK006", "acme/gone"), ("hashicorp/aws", "hashicorp/aws")):
            await on.go_to(title)
            await on.press("w")
            await on.settle()
            assert f"Why registry.terraform.io/{name}" in on.text
            await on.press("escape")


def test_what_is_not_read_yet_is_read_from_disk_or_said(samples: Samples, tmp_path: Path) -> None:
    write(tmp_path, FILES)
    review = samples.review(samples.root("", [samples.change()]))
    why = explained(WhySubject(review, tmp_path, ("",), samples.address()))
    assert [root.path for root in why.roots] == [""]
    assert "5.49.0  .terraform.lock.hcl:4" in text_of(why)
    elsewhere: Review = replace(review, head=replace(review.head, kind="git"))
    with pytest.raises(LockLensError, match="its configuration is not read yet"):
        explained(WhySubject(elsewhere, tmp_path, ("",), samples.address()))
    with pytest.raises(LockLensError, match="nowhere: no such folder"):
        explained(WhySubject(review, tmp_path, ("nowhere",), samples.address()))


def test_roots_that_say_the_same_are_one_block(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "main.tf": requiring("hashicorp/aws ~> 5.0"),
        ".terraform.lock.hcl": lock("hashicorp/aws 5.49.0"),
    }
    why = asked(write(tmp_path, files), "aws", offered=OFFERED)
    (alike,) = why.roots
    other_files = {**files, ".terraform.lock.hcl": lock("hashicorp/aws 5.50.0")}
    (other,) = asked(write(tmp_path / "other", other_files), "aws", offered=OFFERED).roots
    roots = (*(replace(alike, path=f"live/{number:02}") for number in range(10)), replace(other, path="live/x"))
    lines = [line.text for line in why_lines(replace(why, roots=roots))]
    heads = [text for text in lines if "  (Terraform)" in text]
    first = ", ".join(f"live/{number:02}" for number in range(8))
    assert heads == [f"10 roots alike, each as ./  (Terraform): {first} and 2 more", "live/x  (Terraform)"]
    assert sum(text.startswith("LOCKED") for text in lines) == 2
