"""What the screen of upgrades shows and picks, without a screen: rows, details, bars and reports."""

from __future__ import annotations

import re

import pytest
from kit.schemas import json_report
from msgspec.structs import replace
from operations.sample_candidates import ALICE, MALLORY, known, offer
from selection.making import requirement
from selection.making import version as parsed
from ui.conftest import Samples

from locklens.addresses import Platform, ProviderAddress
from locklens.dialect import OPENTOFU
from locklens.errors import ConfigurationError
from locklens.lines import FilePlace, Line, Role, Span
from locklens.operations.upgrades import CandidateTable, DownloadEstimate, RefusedRoot, UpgradeCandidates, report
from locklens.operations.upgrades.doubts import blockers
from locklens.operations.upgrades.recommending import UpgradePolicy
from locklens.operations.upgrades.selection import UpgradeSelection
from locklens.operations.write.root_upgrade import SelectedVersion
from locklens.policy import Policy, WantedPlatform
from locklens.policy import parse as parse_policy
from locklens.project.clifiles import this_platform
from locklens.releases import LookupFailure, ReleaseFacts
from locklens.selection import BumpLimit
from locklens.trust import VerificationProblem
from locklens.trust.authentication import Authentication, AuthenticationOutcome
from locklens.ui.shell.filtering import parse_filter
from locklens.ui.upgrade.detail import (
    fetch_words,
    nothing_selected,
    upgrade_head,
    upgrade_lines,
    upgrade_status,
    upgrade_target,
)
from locklens.ui.upgrade.rows import UPGRADE_GRAMMAR, By, UpgradeRow, _key_sign, upgrade_rows
from locklens.ui.upgrade.selecting import can_step, stepped, toggled, toggled_eligible, under_policy

TLS = ProviderAddress("registry.terraform.io", "hashicorp", "tls")


def selection_of(*some: object, cooldown: int | None = 7, refused: tuple[RefusedRoot, ...] = ()) -> UpgradeSelection:
    terms, offers = UpgradePolicy(Policy(cooldown=cooldown)), CandidateTable(tuple(some), refused)  # type: ignore[arg-type]
    return UpgradeSelection(terms=terms).with_offers(offers)


def rows(of: UpgradeSelection, by: By = By.PROVIDER, narrowed: str = "", *unfolded: str) -> tuple[UpgradeRow, ...]:
    return upgrade_rows(of, by=by, narrowed=parse_filter(narrowed, UPGRADE_GRAMMAR), unfolded=frozenset(unfolded))


def titles(found: tuple[UpgradeRow, ...]) -> list[str]:
    return [f"{'  ' * row.depth}{row.title}" for row in found]


def text(lines: object) -> str:
    return "\n".join(line.text for line in lines)  # type: ignore[attr-defined]


def plain(layout: object) -> str:
    return "".join(piece.text for piece in (*layout.left, *layout.right))  # type: ignore[attr-defined]


READY = offer("1.0.0:90 1.1.0:40", "~> 1.0", root="a", name="ready")
HELD = offer("1.0.0:90 2.0.0:40", "~> 1.0", root="a", name="held")
YOUNG = offer("1.0.0:90 1.1.0:2", "~> 1.0", root="a", name="young")
CURRENT = offer("1.0.0:90", "~> 1.0", root="a", name="current")
SILENT = replace(offer("", "~> 1.0", root="a", name="silent"), problem="it is down", hint="wait")
ALL = (CURRENT, HELD, READY, SILENT, YOUNG)


# Rows


def test_a_locked_version_that_is_excluded_is_told_wherever_its_root_is() -> None:
    """It looked like one that is merely held back, although init fails there."""
    stuck = [offer("1.0.0:90 2.0.0:40", "~> 1.0, < 1.0", root=root, name="x") for root in "bc"]
    others = (
        replace(READY, name="acme/x", address=stuck[0].address),
        replace(HELD, address=stuck[0].address, root="d"),
    )
    of = selection_of(others[0], *stuck, others[1])
    found = rows(of)
    assert titles(found) == ["CAN UPGRADE NOW  1 provider", "  acme/x", "HELD BACK  1 provider", "  acme/x"]
    assert found[1].note.text == "1 of 2 held back: ~> 1.0 (a/main.tf:1)"
    group = found[3]
    assert (group.note.text, group.note.role) == ("2 need action, in 2 roots", Role.WARN), (
        "narrow screens show its beginning"
    )
    assert group.is_warned
    # All that a provider is held back in is one row, as long as it can be upgraded nowhere.
    assert titles(rows(selection_of(*stuck, others[1]))) == ["HELD BACK  1 provider", "  acme/x"]
    said = text(upgrade_lines(group, of))
    assert "b  1.0.0  needs action: no version satisfies ~> 1.0 (b/main.tf:1) and < 1.0.0 (b/main.tf:1)" in said
    caution = "CAUTION      ! needs action: the locked 1.0.0 does not satisfy the constraints"
    assert caution in text(upgrade_lines(rows(of, By.PROVIDER, "root:b")[1], of))
    assert caution in report.as_text(of)
    # The upgrade is the action where there is one.
    down = selection_of(offer("0.9.0:99 1.0.0:90", "< 1.0", root="a"))
    said = text(upgrade_lines(rows(down)[1], down))
    assert said.index("older than the locked 1.0.0") < said.index("needs action: the locked 1.0.0")


def test_sections_in_order() -> None:
    assert titles(rows(selection_of(*ALL))) == [
        "CAN UPGRADE NOW  1 provider", "  acme/ready", "HELD BACK  2 providers", "  acme/held", "  acme/young", "NO NEWER VERSION  1 provider", "  acme/current",
        "UNKNOWN  1 provider", "  acme/silent",
    ]  # fmt: skip
    assert titles(rows(selection_of(*ALL, cooldown=None)))[:3] == [
        "CAN UPGRADE NOW  2 providers",
        "  acme/ready",
        "  acme/young",
    ]


def test_what_is_still_asked_about() -> None:
    found = rows(selection_of(replace(READY, is_asked=False)))
    assert titles(found) == ["ASKING  1 provider", "  acme/ready"]
    assert found[1].target.text == "…"


def test_a_heading_is_true_of_every_row_below_it() -> None:
    undated = offer("1.0.0:90 1.1.0", "~> 1.0", root="a", name="undated")
    major = offer("1.0.0:90 2.0.0:40", ">= 1.0", root="a", name="major")
    other_key = offer("1.0.0:90 1.1.0:40", "~> 1.0", root="a", name="other-key")
    orphan = offer("1.0.0:90 1.1.0:40", root="a", name="orphan")
    of = selection_of(READY, HELD, undated, major, other_key, orphan)
    of = of.with_known([known(other_key, "1.0.0", ALICE), known(other_key, "1.1.0", MALLORY)])
    assert titles(rows(of)) == [
        "CAN UPGRADE NOW  1 provider", "  acme/ready",
        "NEEDS YOUR DECISION  3 providers", "  acme/major", "  acme/other-key", "  acme/undated",
        "HELD BACK  1 provider", "  acme/held", "NOT REQUIRED  1 provider", "  acme/orphan",
    ]  # fmt: skip
    assert [row.note.text for row in rows(of)[3:6]] == [
        "major version: read the release notes",
        "NEW KEY: not the key that signed 1.0.0",
        "release date unknown, cooldown cannot be checked",
    ]
    assert [row.is_warned for row in rows(of)[3:6]] == [True] * 3  # n goes to them
    assert "2 can upgrade" not in head_of(of)
    assert head_of(of).endswith("1 can upgrade  3 to decide  1 held back")
    # Another target leaves the row below the heading, and the row says what the recommended version is a decision for.
    older = offer("1.0.0:90 1.1.0:60 1.2.0:40", "~> 1.0", root="a", name="older")
    signed = [known(older, text, key) for text, key in (("1.0.0", ALICE), ("1.1.0", ALICE), ("1.2.0", MALLORY))]
    section, row = rows(selection_of(older).with_known(signed).moved([older], -1))
    assert (section.title, row.target.text) == ("NEEDS YOUR DECISION  1 provider", "1.1.0")
    assert row.note == Span("1.2.0: NEW KEY: not the key that signed 1.0.0", Role.DIM)
    # A version that is stepped to leaves its row where it is.
    assert titles(rows(of.moved([READY], -1)))[:2] == ["CAN UPGRADE NOW  1 provider", "  acme/ready"]


def head_of(of: UpgradeSelection) -> str:
    return plain(upgrade_head(of)[0])


def test_no_upgrade_is_promised_before_its_signer_was_looked_up() -> None:
    of = selection_of(READY, HELD)
    assert head_of(of).endswith("  up to 1 can upgrade  1 held back")
    assert head_of(selection_of(HELD)).endswith("  0 can upgrade  1 held back")
    new, old = known(READY, "1.1.0", ALICE), known(READY, "1.0.0", ALICE)
    assert head_of(of.with_known([new])).endswith("  up to 1 can upgrade  1 held back"), "of the locked one neither"
    assert head_of(of.with_known([new, old])).endswith("in 1 root  1 can upgrade  1 held back")


def test_a_signer_that_is_not_looked_up_is_said_in_every_grouping() -> None:
    """The roots of one release used up the bound, and a row beyond it looked like any that can upgrade."""
    many = [offer("1.0.0:90 1.1.0:40", "~> 1.0", root=f"root-{number:02}", name="common") for number in range(70)]
    last = offer("1.0.0:90 1.1.0:40", "~> 1.0", root="z", name="last")
    of = selection_of(*many, last)
    assert {release.address for release in of.unknown_releases(())} == {many[0].address, last.address}
    assert {row.signer.text for row in rows(of, By.ROOT)} == {""}
    distinct = [offer("1.0.0:90 1.1.0:40", "~> 1.0", root="a", name=f"p{number:02}") for number in range(70)]
    of = selection_of(*distinct, last)
    assert len(of.unknown_releases(())) == 60
    for by in By:
        row = next(row for row in rows(of, by) if row.offer == last)
        assert (row.signer, _key_sign(row).text) == (Span("not looked up", Role.WARN), "?")
        assert next(row for row in rows(of, by) if row.offer == distinct[0]).signer.text == ""
    assert of.toggled([last]).left_out == of.left_out - {last.key}
    known_now = of.with_known([known(last, version, ALICE) for version in ("1.0.0", "1.1.0")])
    assert next(row for row in rows(known_now) if row.offer == last).signer.text == "same key"


def test_no_upgrade_is_promised_where_its_signer_cannot_be_looked_up() -> None:
    new, trouble = known(READY, "1.1.0", ALICE), LookupFailure("registry.terraform.io does not answer")
    silent = replace(new, facts=ReleaseFacts(new.facts.id, trouble=trouble))
    unchecked = Authentication(AuthenticationOutcome.UNKNOWN, problem=VerificationProblem.NO_GPG)
    before, words = known(READY, "1.0.0", ALICE), "signatures cannot be checked: gpg is not installed, or not on PATH"
    without_gpg = replace(new, facts=replace(new.facts, authentication=unchecked))
    for one, reason in [(silent, trouble.words), (without_gpg, words)]:
        of = selection_of(READY).with_known([before, one])
        assert head_of(of).endswith("  0 can upgrade  1 to decide  0 held back")
        section, row = rows(of)
        assert section.title == "NEEDS YOUR DECISION  1 provider"
        assert row.note == Span(f"signer unknown: {reason}", Role.WARN)
        assert not of.safe, "a selects none"
        selected = selection_of(READY)
        assert selected.with_safe(selected.safe).with_known([before, one]).without_suspects()[1] == (READY,)
        assert [str(blocker.text) for blocker in blockers(of, READY)] == [f"signer unknown: {reason}"]


def test_the_head_counts_each_provider_that_a_root_holds_back() -> None:
    some = [offer("1.0.0:90 1.1.0:40", "~> 1.0", root="a"), offer("1.0.0:90 1.1.0:40", "~> 1.0.0", root="b")]
    of = selection_of(*some, HELD)
    assert head_of(of).endswith("1 can upgrade  1 held back, 1 partly")
    assert titles(rows(of)) == [
        "CAN UPGRADE NOW  1 provider", "  acme/x", "HELD BACK  1 provider", "  acme/held",
    ]  # fmt: skip
    assert rows(of)[1].note.text == "1 of 2 held back: ~> 1.0.0 (b/main.tf:1)"


def test_a_root_without_upgrades_is_not_asked_about() -> None:
    refused = RefusedRoot("c", "c/.terraform.lock.hcl", ConfigurationError("it has an error"))
    found = rows(selection_of(replace(READY, is_asked=False), refused=(refused,)))
    assert titles(found) == ["UNKNOWN  1 root", "  c", "ASKING  1 provider", "  acme/ready"]


def test_cells() -> None:
    row = rows(selection_of(*ALL))[1]
    cells = (
        row.mark,
        row.locked,
        row.target.text,
        row.in_range,
        row.newest,
        row.age.text,
        row.bump.text,
        row.note.text,
    )
    assert cells == ("[ ]", "1.0.0", "1.1.0", "1.1.0", "1.1.0", "40d", "minor", "")
    held, young = rows(selection_of(*ALL))[3:5]
    assert (held.mark, held.target.text, held.note.text) == (" - ", "-", "~> 1.0 (a/main.tf:1)")
    assert young.note.text == "1.1.0 is 2d old, cooldown 7 d"
    assert [row.is_warned for row in rows(selection_of(*ALL))] == [
        False,
        False,
        False,
        True,
        True,
        False,
        False,
        False,
        True,
    ]


def test_one_provider_in_several_roots_is_one_row_that_unfolds() -> None:
    some = [
        offer("1.0.0:90 1.1.0:40", "~> 1.0", root="a"),
        offer("1.0.0:90 1.1.0:40", "~> 1.0.0", root="b"),
        offer("1.0.0:90 1.1.0:40", "~> 1.0", root="", locked="1.1.0"),
    ]
    of = selection_of(*some)
    section, group = rows(of)
    assert (section.title, group.title, group.folded) == ("CAN UPGRADE NOW  1 provider", "acme/x", True)
    assert (group.locked, group.target.text, group.mark, group.note.text) == (
        "several", "1.1.0", "[ ]", "1 of 3 held back: ~> 1.0.0 (b/main.tf:1); no target in 2")  # fmt: skip
    assert titles(rows(of, By.PROVIDER, "", group.key))[1:] == ["  acme/x", "    a", "    b", "    ."]
    chosen = of.toggled(group.offers)
    assert [pick.root for pick in chosen.picks] == ["a"]
    # One of three roots: the row does not look as if all were.
    assert (rows(chosen)[1].mark, rows(chosen)[1].note.text) == ("[-]", "selected in 1 of 3 roots, no target in 2")
    alike = selection_of(*(offer("1.0.0:90 1.1.0:40", "~> 1.0", root=root) for root in "ab"))
    assert rows(alike.toggled(alike.offers.providers))[1].mark == "[x]"
    both = chosen.moved(some, 1).toggled([some[1]])
    assert rows(both.toggled([some[0]]))[1].mark == "[-]"


def test_a_row_says_what_holds_all_of_its_roots_back() -> None:
    def note(*some: UpgradeCandidates) -> str:
        return rows(selection_of(*some))[1].note.text

    some = [offer("1.0.0:90 2.0.0:40", "~> 1.0", root=root) for root in "ab"]
    assert note(*some) == "~> 1.0 in 2 roots", "each in its own file"
    shared = [replace(one, root=root) for one, root in zip((some[0], some[0]), "ab", strict=True)]
    assert note(*shared) == "~> 1.0 (a/main.tf:1)"
    free = offer("1.0.0:90 2.0.0:40", ">= 1.0", root="c", locked="2.0.0")
    assert note(*shared, free) == "2 of 3 held back: ~> 1.0 (a/main.tf:1)"
    young = [offer("1.0.0:90 1.1.0:2 2.0.0:40", "~> 1.0", root=root) for root in "ab"]
    assert note(*young) == "1.1.0 is 2d old, cooldown 7 d; ~> 1.0 in 2 roots"
    assert note(some[0], offer("1.0.0:90 2.0.0:40", "1.0.0", root="b")) == "in 2 roots, 2 held back"


def test_a_provider_that_only_some_roots_require_is_not_called_unrequired() -> None:
    orphan = offer("1.0.0:90", root="c")
    required = [offer("1.0.0:90", "~> 1.0", root=root) for root in "ab"]
    section, group = rows(selection_of(*required, orphan))
    assert (section.title, group.note.text) == ("NO NEWER VERSION  1 provider", "in 3 roots, not required by 1")
    silent = [replace(one, problem="it is down") for one in required]
    assert titles(rows(selection_of(*silent, orphan)))[0] == "UNKNOWN  1 provider"
    alone = rows(selection_of(orphan, replace(orphan, root="d")))
    assert (alone[0].title, alone[1].note.text) == ("NOT REQUIRED  1 provider", "not required by this root")


def test_providers_of_both_default_hosts_are_told_apart() -> None:
    address = ProviderAddress("registry.opentofu.org", "acme", "ready")
    other = replace(READY, root="b", tool=OPENTOFU, address=address)
    assert titles(rows(selection_of(READY, other, HELD)))[1:] == [
        "  acme/ready (tofu)", "  acme/ready (terraform)", "HELD BACK  1 provider", "  acme/held",
    ]  # fmt: skip


def test_the_common_cells_of_a_provider_heed_each_root() -> None:
    some = [offer("1.0.0:90", "~> 1.0", root="a"), offer("1.0.0:90", "~> 1.0", root="b", locked=None),
            offer("1.0.0:90", "~> 2.0", root="c", locked=None)]  # fmt: skip
    group = next(row for row in rows(selection_of(*some)) if row.folded is not None)
    assert (group.locked, group.in_range, group.newest) == ("several", "several", "1.0.0")


@pytest.mark.parametrize(
    ("some", "words"),
    [
        (SILENT, "it is down"),
        (replace(SILENT, problem="", is_asked=False), "no version of acme/silent is known yet"),
        (CURRENT, "no newer version of acme/current is released"),
        (HELD, "no target version: ~> 1.0 (a/main.tf:1); right steps to one"),
        (replace(HELD, guards={HELD.requirements[0].site: "it is fetched"}), "no target version: ~> 1.0 (a/main.tf:1)"),
    ],
)
def test_why_a_row_cannot_be_selected(some: UpgradeCandidates, words: str) -> None:
    of = selection_of(some)
    assert toggled(of, rows(of)[1]).words == words
    assert toggled_eligible(of, of.offers.providers).words == "no eligible upgrade is known"


def test_a_root_with_modules_that_are_not_fetched_is_offered_and_doubtful() -> None:
    unread = replace(READY, unread="module x is not fetched")
    of = selection_of(unread)
    _, row = rows(of)
    assert (row.target.text, row.is_warned) == ("1.1.0", True)
    assert row.note.text.startswith("module x is not fetched: its constraints are unknown")
    assert not of.is_safe(unread)
    assert of.toggled([unread]).has_unread
    assert not selection_of(READY).toggled([READY]).has_unread


def test_by_root() -> None:
    error = ConfigurationError("git left a conflict", path="b/lock", line=3)
    found = rows(selection_of(*ALL, refused=(RefusedRoot("b", "b/lock", error),)), By.ROOT)
    assert titles(found) == [
        "a", "  acme/ready", "  acme/held", "  acme/young", "  acme/current", "  acme/silent", "b", "  entire root",
    ]  # fmt: skip
    assert "git left a conflict" in found[-1].note.text


@pytest.mark.parametrize(
    ("narrowed", "expected"),
    [
        ("held", ["acme/held", "acme/young"]),
        ("ready", ["acme/ready"]),
        ("2.0.0", ["acme/held"]),
        ("minor", ["acme/ready"]),
        ("acme YOUNG", ["acme/young"]),
        ("selected", ["acme/ready"]),
        ("sev:warn", ["acme/silent"]),
        ("sev:ok", ["acme/held", "acme/young", "acme/current"]),
        ("-sev>=info", ["acme/held", "acme/young", "acme/current"]),
        ("nothing like it", []),
    ],
)
def test_filter(narrowed: str, expected: list[str]) -> None:
    of = selection_of(*ALL).toggled([READY])
    assert [row.title for row in rows(of, By.PROVIDER, narrowed) if row.depth] == expected


def test_the_filter_knows_the_severity_of_the_worst_warning() -> None:
    major = offer("1.0.0:90 2.0.0:40", ">= 1.0", root="a", name="major")
    of = selection_of(READY, major, refused=(RefusedRoot("b", "b/.terraform.lock.hcl", ConfigurationError("no")),))
    shown = {text: [row.title for row in rows(of, narrowed=text) if row.depth] for text in ("sev:ok", "sev>=info")}
    assert shown == {"sev:ok": [], "sev>=info": ["acme/ready", "acme/major", "b"]}, "a signer not looked up is not ok"
    new, old = known(READY, "1.1.0", ALICE), known(READY, "1.0.0", ALICE)
    assert not rows(of.with_known([new]), narrowed="sev:ok")
    signed = of.with_known([new, old])
    assert [row.title for row in rows(signed, narrowed="sev:ok") if row.depth] == ["acme/ready"]
    other = of.with_known([known(READY, "1.0.0", ALICE), known(READY, "1.1.0", MALLORY)])
    assert [row.title for row in rows(other, narrowed="sev:warn") if row.depth] == ["acme/ready", "b"]


def test_a_group_says_in_how_many_roots_its_target_is_not_allowed() -> None:
    versions = "1.0.0:90 1.1.0:40 2.0.0:2"
    some = [offer(versions, one, root=root) for root, one in (("a", "~> 1.0"), ("b", ">= 1.0"), ("c", "~> 1.0"))]
    of = selection_of(*some).moved(some, 1)
    group = rows(of)[1]
    assert (group.target.text, group.target.role) == ("2.0.0*", Role.WARN)
    assert (group.note.text, group.note.role) == ("*edits 2 of 3 roots, in cooldown in 3", Role.WARN)
    assert rows(of.toggled(some))[1].note.text == "*edits 2 of 3 roots, in cooldown in 3, selected in 3"
    # A root whose constraint is not edited for it is neither selected nor counted as if it were.
    exact = offer(versions, "1.0.0", root="d")
    three = [replace(exact, guards={exact.requirements[0].site: "the module is fetched"}), *some[1:]]
    stepped_to = selection_of(*three).moved(three, 1)
    assert rows(stepped_to.toggled(three))[1].note.text == (
        "*edits 1 of 3 roots, in cooldown in 2, selected in 2, no target in 1"
    )
    # Where all roots admit it, only its age speaks against it.
    free = [offer(versions, ">= 1.0", root=root) for root in "ab"]
    assert "cooldown" in rows(selection_of(*free).moved(free, 1))[1].note.text


def test_the_head_counts_roots_that_are_not_read_apart() -> None:
    refused = RefusedRoot("c", "c/.terraform.lock.hcl", ConfigurationError("it has an error"))
    head = head_of(selection_of(READY, refused=(refused,)))
    assert "1 provider in 1 root " in head
    assert head.endswith(" 1 root not read")
    assert "not read" not in head_of(selection_of(READY))


def test_the_head_says_no_number_of_what_nobody_could_tell() -> None:
    silent = next(one for one in ALL if one.address.type == "silent")
    assert head_of(selection_of(silent)).endswith("1 provider in 1 root  1 unknown")
    assert head_of(selection_of(replace(READY, is_asked=False))).endswith("1 provider in 1 root")
    assert "1 can upgrade  0 held back  1 unknown" in head_of(selection_of(READY, silent))


# Selection


def test_what_a_selects_and_leaves_adds_up_with_the_head() -> None:
    major = offer("1.0.0:90 2.0.0:40", ">= 1.0", root="a", name="major")
    ready_elsewhere = offer("1.0.0:90 1.1.0:40", "~> 1.0", root="b", name="major")
    stepped_to = offer("1.0.0:90 1.1.0:40 1.2.0:30", "~> 1.0", root="a", name="stepped")
    undated = offer("1.0.0:90 1.1.0", "~> 1.0", root="a", name="undated")
    of = selection_of(READY, major, ready_elsewhere, stepped_to, undated).moved([stepped_to], -1)
    assert "3 can upgrade  2 to decide" in head_of(of)
    words = toggled_eligible(of, of.offers.providers).words
    assert words.startswith(
        "selected 2 eligible providers; 1 is left at the version you stepped to; 2 need your decision"
        " (M, which includes majors, leaves 1)"
    )
    both = of.moved([ready_elsewhere], -1)
    assert "; 2 are left at the version you stepped to; 2 need " in toggled_eligible(both, both.offers.providers).words


def test_a_selects_what_the_filter_shows_and_names_what_it_hides() -> None:
    other = offer("1.0.0:90 1.1.0:40", "~> 1.0", root="a", name="other")
    of = selection_of(READY, other)
    shown = toggled_eligible(of, [other])
    assert shown.selection.selected == {other.key}
    assert shown.words.startswith("selected 1 eligible provider; 1 eligible provider hidden by the filter")
    both = toggled_eligible(shown.selection, of.offers.providers).selection
    assert both.selected == {READY.key, other.key}
    again = toggled_eligible(both, [other])
    assert again.selection.selected == {READY.key}
    assert again.words == "deselected the rows shown; 1 eligible provider hidden by the filter"
    nothing = toggled_eligible(of, [])
    assert (nothing.selection, nothing.words.partition(";")[0]) == (of, "no eligible upgrade is shown")


def test_one_count_of_what_needs_a_decision() -> None:
    """A provider that can be upgraded in one root and is a major version in two others: both are said of it."""
    ready = offer("1.0.0:90 1.1.0:40", "~> 1.0", root="a", name="aws")
    majors = [offer("1.0.0:90 2.0.0:40", ">= 1.0", root=root, name="aws") for root in ("b", "c")]
    of = selection_of(ready, *majors)
    assert titles(rows(of)) == [
        "CAN UPGRADE NOW  1 provider", "  acme/aws", "NEEDS YOUR DECISION  1 provider", "  acme/aws"
    ]  # fmt: skip
    assert "1 can upgrade  1 to decide" in head_of(of)
    assert toggled_eligible(of, of.offers.providers).words.endswith(
        "; 1 needs your decision (M, which includes majors, leaves none)"
    )
    # What is selected where it can be upgraded is not selected where it needs a decision.
    able, undecided = (row for row in rows(of) if row.is_of_provider)
    assert toggled(of, able).selection.selected == {ready.key}
    assert toggled(of, undecided).selection.selected == {one.key for one in majors}
    unfolded = upgrade_rows(of, by=By.PROVIDER, unfolded=frozenset({undecided.key}))
    assert [row.title for row in unfolded if row.depth == 2] == ["b", "c"]


def test_a_step_to_the_locked_version_says_that_it_deselects() -> None:
    of = selection_of(READY).toggled([READY])
    step = stepped(of, rows(of)[1], -1)
    assert step.selection.picks == ()
    assert step.words == "deselected acme/ready: that is the locked version"
    assert stepped(step.selection, rows(step.selection)[1], 1).words == ""
    some = [offer("1.0.0:90 1.1.0:40", "~> 1.0", root=root) for root in "ab"]
    of = selection_of(*some).toggled(some)
    assert stepped(of, rows(of)[1], -1).words == "deselected acme/x in 2 of 2 roots: that is the locked version"


def test_a_step_away_from_the_locked_version_selects_again() -> None:
    """The way back from a step too far left the provider deselected."""
    some = [offer("1.0.0:90 1.1.0:60 1.2.0:40", "~> 1.0", root=one, locked=f"1.{n}.0") for n, one in enumerate("ab")]
    of = selection_of(*some).toggled(some)
    down = of.moved(some, -1)
    assert [pick.root for pick in down.picks] == ["a"]
    assert rows(down)[1].mark == "[-]"
    assert down.moved(some, 1) == of
    assert stepped(down, rows(down)[1], 1).words == ""
    held = selection_of(HELD).moved([HELD], 1).toggled([HELD]).moved([HELD], -1)
    words = "selected again, with edits of the constraints"
    assert (held.picks, stepped(held, rows(held)[1], 1).words) == ((), words)
    other = offer("1.0.0:90 1.1.0:40", "~> 1.0", root="a", name="other")
    # Only what was selected is, and only until it is deselected.
    assert selection_of(other).moved([other], -1).moved([other], 1).picks == ()
    assert down.without(some).moved(some, 1).picks == ()


def test_versions_that_are_stepped_to() -> None:
    of = selection_of(HELD)
    assert of.picks == ()
    up = of.moved([HELD], 1)
    row = rows(up)[1]
    assert (row.mark, row.target.text, row.note.text) == ("[ ]", "2.0.0*", "*edit a/main.tf:1")
    assert up.toggled([HELD]).picks == (SelectedVersion("a", HELD.address, parsed("2.0.0"), edits=True),)
    assert up.toggled([HELD]).moved([HELD], -1).picks == ()  # back at the locked version nothing moves
    assert up.moved([HELD], 1) == up
    assert of.moved([HELD], -1).stepped == {("a", HELD.address): parsed("1.0.0")}


def test_steps_start_where_an_unlisted_version_would_be_listed() -> None:
    between = offer("5.44.2:53 6.14.1:19", "~> 6.0.1", locked="6.0.1")
    of = selection_of(between)
    up, down = of.moved([between], 1), of.moved([between], -1)
    assert (rows(up)[1].target.text, rows(down)[1].target.text) == ("6.14.1*", "5.44.2*")
    for back in (up.moved([between], -1), down.moved([between], 1)):
        assert back.target(between) is None, "the locked version is the way back"
    above = offer("2.5.1:90 2.5.2:40", ">= 2.0", locked="2.5.3")
    of = selection_of(above)
    assert stepped(of, rows(of)[1], 1).words == "no newer version can be selected"
    assert rows(of.moved([above], -1))[1].target.text == "2.5.2"
    assert rows(of.moved([above], -1).moved([above], -1))[1].target.text == "2.5.1"
    both = [replace(between, root="a"), offer("5.44.2:53 6.14.1:19", "~> 6.0", locked="5.44.2", root="b")]
    of = selection_of(*both).moved(both, 1)
    assert [str(choice.version) for one in both if (choice := of.target(one))] == ["6.14.1", "6.14.1"]
    assert all(of.moved(both, -1).target(one) != of.target(one) for one in both), "no root keeps the others from older"


def test_no_target_stands_above_the_middle_of_several_locked_versions() -> None:
    listed = "1.0.0:400 1.1.0:300 1.2.0:200 2.0.0:100 3.0.0:50"
    both = [offer(listed, f"= {locked}", locked=locked, root=root) for root, locked in (("a", "1.1.0"), ("b", "1.2.0"))]
    of = selection_of(*both)

    def targets(of: UpgradeSelection) -> list[str]:
        found = (of.target(one) for one in both)
        return [str(choice.version) if choice is not None else "-" for choice in found]

    assert targets(of) == ["-", "-"]
    seen = []
    for by in (1, 1, 1, 1, -1, -1, -1, -1, -1, -1, 1, 1, 1):
        of = of.moved(both, by)
        seen.append(targets(of))
    assert seen[:4] == [["1.2.0", "-"], ["2.0.0"] * 2, ["3.0.0"] * 2, ["3.0.0"] * 2]
    assert seen[4:7] == [["2.0.0"] * 2, ["1.2.0", "-"], ["-", "-"]]
    assert seen[7:10] == [["-", "1.1.0"], ["1.0.0"] * 2, ["1.0.0"] * 2]
    assert seen[10:] == [["-", "1.1.0"], ["1.2.0", "-"], ["2.0.0"] * 2]


def test_older_is_no_upgrade_in_most_of_the_roots_that_lock_several_versions() -> None:
    """The steps started at the newest locked version: older was an upgrade of most, and newer skipped versions."""
    listed = "1.0.0:400 1.1.0:300 1.2.0:200 1.3.0:100"
    for locked, older, newer, text in (
        ("1.1.0 1.1.0 1.1.0 1.3.0", "- - - 1.1.0", "1.2.0 1.2.0 1.2.0 -", "1.1.0 +1"),
        ("1.0.0 1.2.0 1.2.0 1.2.0", "1.2.0 - - -", "1.3.0 1.3.0 1.3.0 1.3.0", "1.2.0 +1"),
        ("1.0.0 1.1.0 1.2.0 1.3.0", "1.1.0 - - -", "1.2.0 1.2.0 - -", "1.1.0 +3"),
    ):
        some = [
            offer(listed, f"= {one}", locked=one, root=root) for root, one in zip("abcd", locked.split(), strict=True)
        ]
        of = selection_of(*some)
        assert rows(of)[1].locked == text
        for by, seen in ((-1, older), (1, newer)):
            targets = [of.moved(some, by).target(one) for one in some]
            assert " ".join(str(one.version) if one else "-" for one in targets) == seen


def test_a_step_on_a_folded_row_starts_at_the_target_that_it_shows() -> None:
    """The newest version that was locked, in a root without a target, was where the steps started."""
    listed = "1.0.0:400 1.1.0:300 1.2.0:200 2.0.0:100"
    locked = (("a", "1.0.0"), ("b", "1.0.0"), ("c", "2.0.0"))
    some = [offer(listed, "~> 1.0" if of != "2.0.0" else ">= 1.0", locked=of, root=root) for root, of in locked]
    of = selection_of(*some)
    shown = rows(of)[1]
    assert (shown.target.text, shown.bump.text) == ("1.2.0", "minor")
    down = of.moved(some, -1)
    assert (rows(down)[1].target.text, rows(down)[1].bump.text) == ("1.1.0", "minor")
    assert [pick.root for pick in down.toggled(some).picks] == ["a", "b"], "no root is downgraded beside an upgrade"
    assert down.moved(some, 1) == of
    lower = down.moved(some, -1)
    group = rows(lower)[1]
    assert (group.target.text, group.bump.text, group.mark) == ("1.0.0", "down", "[ ]")
    assert group.note.text == "older in 1 of 3 roots, no target in 2"
    assert lower.moved(some, 1).moved(some, 1) == of
    assert [pick.root for pick in of.moved(some, 1).toggled(some).picks] == ["a", "b"]


def test_a_version_that_a_root_cannot_take_is_its_target_no_more() -> None:
    listed = "1.0.0:400 1.1.0:300 1.2.0:200"
    exact = offer(listed, "!= 1.1.0", root="b")
    some = [offer(listed, "~> 1.0", root="a"), replace(exact, guards={exact.requirements[0].site: "it is fetched"})]
    of = selection_of(*some).toggled(some)
    step = stepped(of, rows(of)[1], -1)
    group = rows(step.selection)[1]
    assert (group.target.text, group.note.text) == ("1.1.0", "selected in 1 of 2 roots, no target in 1")
    assert step.words == "deselected acme/x in 1 of 2 roots: no version is left to select"
    assert step.selection.moved(some, 1) == of


def test_a_step_edits_no_constraint_up_to_the_recommended_versions() -> None:
    """A root that is held back got a target that needed an edit, and space selected it, with a step to an older one."""
    listed = "0.9.0:500 1.0.0:400 1.1.0:300 1.2.0:200 2.0.0:100"
    locked = (("~> 1.0", "1.0.0"), ("~> 1.1.0", "1.1.0"), ("1.0.0", "1.0.0"), ("~> 1.0, != 1.1.0", "1.0.0"))
    some = [offer(listed, text, locked=one, root=root) for root, (text, one) in zip("abcd", locked, strict=True)]

    def targets(of: UpgradeSelection) -> list[str]:
        return [rows(of, By.ROOT)[number].target.text for number in (1, 3, 5, 7)]

    of = selection_of(*some)
    assert targets(of) == ["1.2.0", "-", "-", "1.2.0"]
    down = of.moved(some, -1)
    assert targets(down) == ["1.1.0", "-", "-", "-"], "and d has no newer one than the row shows"
    assert toggled(down, rows(down)[1]).words == ""
    assert [pick.root for pick in down.toggled(some).picks] == ["a"]
    assert down.moved(some, 1) == of, "the way back has the recommended versions"
    up = of.moved(some, 1)
    assert targets(up) == ["2.0.0*"] * 4
    assert toggled(up, rows(up)[1]).words == "selected with edits of the constraints in 4 of 4 roots"
    assert up.moved(some, -1) == of
    alone = of.moved([some[2]], 1)
    assert targets(alone)[2] == "1.1.0*", "in one root each version is a target"
    assert toggled(alone, rows(alone, By.ROOT)[5]).words == "selected with edits of the constraints"


def test_a_write_ends_the_steps_of_a_provider_but_for_selected_roots() -> None:
    some = [offer("1.0.0:90 1.1.0:60 1.2.0:40", "~> 1.0", root=root) for root in "abc"]
    of = selection_of(*some).moved(some, -1).toggled(some[:2])
    written = offer("1.0.0:90 1.1.0:60 1.2.0:40", "~> 1.0", locked="1.1.0", root="a")
    after = of.with_offers(CandidateTable((written, *some[1:])))
    assert [str(choice.version) for one in after.offers.providers if (choice := after.target(one))] == [
        "1.2.0", "1.1.0", "1.2.0"
    ]  # fmt: skip
    assert [(pick.root, str(pick.version)) for pick in after.picks] == [("b", "1.1.0")]


def test_versions_that_are_not_allowed_are_named_beside_that() -> None:
    some = offer("1.0.0:90 1.1.0:60 1.2.0:40 1.3.0:2", ">= 1.0", root="a")
    policy = parse_policy(b'allow = ["registry.terraform.io/acme/x < 1.1"]', "locklens.toml")
    of = UpgradeSelection(terms=UpgradePolicy(policy)).with_offers(CandidateTable((some,)))
    assert "NEWER        1.1.0 to 1.3.0 (3 versions)  held back: not on the allow list" in text(
        upgrade_lines(rows(of)[1], of)
    )


def test_a_step_that_finds_no_version_says_why() -> None:
    guarded = offer("1.0.0:90 2.0.0:40", "~> 1.0", root="a")
    guarded = replace(guarded, guards={guarded.requirements[0].site: "it is fetched"})
    of = selection_of(guarded)
    assert stepped(of, rows(of)[1], 1).words == (
        "no newer version can be selected: 2.0.0: ~> 1.0 (a/main.tf:1) excludes it: it is fetched"
    )
    assert stepped(of, rows(of)[1], -1).words == "no older version can be selected"


def test_a_locked_version_that_is_not_allowed_is_named_with_one_that_is() -> None:
    some = offer("1.0.0:90 1.1.0:60 2.0.0:40", ">= 1.0", locked="2.0.0", root="a")
    for allowed, others in (("< 2.0", "1.1.0 is, and in range"), ("> 3.0", "no version in range is")):
        policy = parse_policy(f'allow = ["registry.terraform.io/acme/x {allowed}"]'.encode(), "locklens.toml")
        of = UpgradeSelection(terms=UpgradePolicy(policy)).with_offers(CandidateTable((some,)))
        words = f"the locked 2.0.0 is not on the allow list of the policy; {others}"
        row = rows(of)[1]
        assert (row.note.text, row.is_warned) == (words, True)
        assert words in " ".join(str(report.as_text(of)).split())


def test_a_row_of_several_roots_says_that_its_target_is_not_allowed() -> None:
    policy = parse_policy(b'allow = ["registry.terraform.io/acme/x != 1.2.0"]', "locklens.toml")
    listed, locked = "1.1.0:60 1.2.0:40", ("1.1.0", "1.1.0", "1.2.0")
    some = [offer(listed, "~> 1.1", locked=one, root=root) for root, one in zip("abc", locked, strict=True)]
    of = UpgradeSelection(terms=UpgradePolicy(policy)).with_offers(CandidateTable(tuple(some)))
    (row,) = [row for row in rows(of.moved(some, 1)) if len(row.offers) == 3 and row.is_of_provider]
    assert (row.target.text, row.note.text) == ("1.2.0", "not allowed in 2 of 3 roots, no target in 1")


def test_a_locked_version_of_a_key_that_is_not_pinned_is_looked_up_and_named() -> None:
    policy = parse_policy(f'[trust.acme]\nkeys = ["{ALICE.fingerprint}"]'.encode(), "locklens.toml")
    for terms, is_looked_up in ((UpgradePolicy(policy), True), (UpgradePolicy(), False)):
        of = UpgradeSelection(terms=terms).with_offers(CandidateTable((CURRENT,)))
        assert [str(one.version) for one in of.unknown_releases([CURRENT])] == (["1.0.0"] if is_looked_up else [])
        assert rows(of.with_known([known(CURRENT, "1.0.0", ALICE)]))[1].note.text == ""
        other = of.with_known([known(CURRENT, "1.0.0", MALLORY)])
        assert not blockers(other, CURRENT), "what is locked is no newer version that is held back"
        note = rows(other)[1].note.text
        assert note.startswith(f"the locked 1.0.0 is signed by {MALLORY.fingerprint}; ") == is_looked_up


def test_a_row_with_a_downgrade_of_one_root_names_it() -> None:
    """Where the roots share the line to edit, the row named that line alone."""
    listed = "1.0.0:90 2.0.0:60 3.0.0:40"
    first, last = (offer(listed, "~> 4.0", locked=of, root=root) for root, of in (("a", "1.0.0"), ("b", "3.0.0")))
    last = replace(last, choices=first.choices, requirements=first.requirements)
    of = selection_of(first, last).moved([first], 1).moved([last], -1)
    group = rows(of)[1]
    assert (group.target.text, group.bump.text) == ("2.0.0*", "several")
    assert group.note.text == "older in 1 of 2 roots, *edits 2"


def test_the_line_to_edit() -> None:
    held = FilePlace("a/main.tf", 1)
    assert upgrade_target(rows(selection_of(HELD))[1], selection_of(HELD)).place == held
    of = selection_of(offer("1.0.0:90", "", "~> 1.0", root="a"))
    assert upgrade_target(rows(of)[1], of).place == FilePlace("a/main.tf", 2), "the constraint, where nothing is newer"
    of = selection_of(offer("1.0.0:90", "", root="a"))
    assert upgrade_target(rows(of)[1], of).place == held, "where it is required"
    of = selection_of(offer("1.0.0:90", root="a"))
    assert upgrade_target(rows(of)[1], of).place is None, "nothing requires it"


def test_the_release_to_look_into_without_a_target() -> None:
    near = offer("1.0.0:90 1.1.0:40 2.0.0:30", "~> 1.0", root="a")
    of = selection_of(near).with_terms(UpgradePolicy(limit=BumpLimit.PATCH))
    assert of.target(near) is None
    assert upgrade_target(rows(of)[1], of).release == (near.address, "1.1.0"), "the limit alone holds it back"
    of = selection_of(HELD)
    assert upgrade_target(rows(of)[1], of).release == (HELD.address, "2.0.0")


def test_constraints_that_cannot_be_read() -> None:
    free = offer("1.0.0:90", "", root="a")
    for unread, said in (("", "none; required by"), ("module x is not fetched", "none that can be read; required by")):
        of = selection_of(replace(free, unread=unread))
        assert f"CONSTRAINTS  {said}" in text(upgrade_lines(rows(of)[1], of))


def test_a_version_that_cannot_be_edited_for_is_not_stepped_to() -> None:
    guarded = replace(HELD, guards={HELD.requirements[0].site: "the module is fetched"})
    assert selection_of(guarded).moved([guarded], 1).picks == ()
    assert "cannot be selected" in text(
        upgrade_lines(rows(selection_of(guarded))[1], selection_of(guarded), in_full=True)
    )


def test_an_unlisted_version_is_said_and_holds_nothing_back() -> None:
    of = selection_of(offer("0.9.0:99", "<= 1.0"))
    _, row = rows(of)
    assert (row.note.text, row.is_warned) == ("the locked 1.0.0 is not listed", True)
    said = text(upgrade_lines(row, of, in_full=True))
    assert "CAUTION" in said
    assert "held back" not in said


def test_downgrades_are_possible_and_said() -> None:
    some = offer("0.9.0:99 1.0.0:90", "< 2.0")
    of = selection_of(some).moved([some], -1)
    row = rows(of)[1]
    assert (row.target.text, row.bump.text, row.note.text) == ("0.9.0", "down", "older than the locked 1.0.0")


def test_what_needs_a_decision_under_other_terms_is_deselected() -> None:
    """A version of unknown age is eligible while no cooldown applies."""
    some = offer("1.0.0:90 1.1.0", ">= 1.0")
    of = selection_of(some).with_terms(UpgradePolicy()).toggled([some])
    assert [str(pick.version) for pick in of.picks] == ["1.1.0"]
    cooled = under_policy(of, parse_policy(b"cooldown = 7\n", "locklens.toml"))
    words = "deselected 1 of 1 entry: a decision is needed now; the policy changed"
    assert (cooled.selection.picks, cooled.words) == ((), words)
    decided = cooled.selection.toggled([some])
    kept = decided.with_terms(replace(decided.terms, limit=BumpLimit.MINOR))
    assert [str(pick.version) for pick in kept.picks] == ["1.1.0"], "the decision was made under these terms"


def test_terms_change_recommendations_and_keep_the_stepped_versions() -> None:
    some = offer("1.0.0:90 1.0.1:50 1.1.0:40 2.0.0:30", ">= 1.0")
    of = selection_of(some)
    of = of.with_terms(replace(of.terms, takes_majors=True)).toggled([some])
    assert [str(pick.version) for pick in of.picks] == ["2.0.0"]
    near = of.with_terms(UpgradePolicy(Policy(cooldown=7), BumpLimit.PATCH))
    assert near.picks == (), "what was selected is no other version now"
    assert [str(pick.version) for pick in near.toggled([some]).picks] == ["1.0.1"]
    gone = of.moved([some], -1).with_terms(UpgradePolicy(Policy(cooldown=7), BumpLimit.PATCH))
    assert [str(pick.version) for pick in gone.picks] == ["1.1.0"]
    assert of.with_terms(UpgradePolicy(Policy(cooldown=1000))).picks == ()
    allowed = under_policy(
        of, parse_policy(b'cooldown = 7\nallow = ["registry.terraform.io/acme/x < 2.0"]', "locklens.toml")
    )
    words = "deselected 1 of 1 entry: another version would be the target; the policy changed"
    assert (allowed.selection.picks, allowed.words) == ((), words)


def test_a_provider_locked_meanwhile_is_deselected() -> None:
    of = selection_of(READY, HELD).moved([HELD], 1).toggled([READY, HELD])
    assert len(of.picks) == 2
    assert READY.entry is not None
    moved = replace(READY, entry=replace(READY.entry, version=parsed("1.1.0")))
    assert [pick.address.type for pick in of.with_offers(CandidateTable((moved, HELD))).picks] == ["held"]
    assert [pick.address.type for pick in of.with_offers(CandidateTable((HELD,))).picks] == ["held"]


def test_what_is_safe() -> None:
    unknown = offer("1.0.0:90 1.1.0", "~> 1.0", root="b", name="undated")
    of = selection_of(*ALL, unknown)
    assert [one.name for one in of.offers.providers if of.is_safe(one)] == ["acme/ready"]
    assert [one.name for one in of.with_terms(UpgradePolicy()).offers.providers if of.with_terms(UpgradePolicy()).is_safe(one)] == [
        "acme/ready", "acme/young", "acme/undated"]  # fmt: skip
    same = of.with_known([known(READY, "1.0.0", ALICE), known(READY, "1.1.0", ALICE)])
    other = of.with_known([known(READY, "1.0.0", ALICE), known(READY, "1.1.0", MALLORY)])
    assert (same.is_safe(READY), other.is_safe(READY)) == (True, False)


# Signers


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (ALICE, ALICE, "same key"), (ALICE, MALLORY, "NEW KEY"), (ALICE, None, "NOT SIGNED"),
        (None, ALICE, "now signed"), (None, None, "still unsigned"),
    ],
)  # fmt: skip
def test_signers(old: object, new: object, expected: str) -> None:
    of = selection_of(READY).with_known([known(READY, "1.0.0", old), known(READY, "1.1.0", new)])  # type: ignore[arg-type]
    assert rows(of)[1].signer.text == expected


def test_signers_and_steps_that_differ_by_root_are_several() -> None:
    dated = "1.0.0:90 1.1.0:3 2.0.0:40"
    some = [offer(dated, ">= 1.0", root="a", locked="1.0.0"), offer(dated, ">= 1.0", root="b", locked="1.1.0")]
    signed = [known(some[0], "1.0.0", ALICE), known(some[0], "1.1.0", MALLORY), known(some[0], "2.0.0", ALICE)]
    group = next(row for row in rows(selection_of(*some).with_known(signed)) if row.folded is not None)
    assert (group.signer, group.bump.text, group.age.text) == (Span("several", Role.WARN), "major", "40d")
    assert _key_sign(group).text == "var"


def test_a_key_that_has_expired_is_said() -> None:
    ended = replace(ALICE, expired=True, expires="2025-01-14T00:00:00Z")
    of = selection_of(READY).with_known([known(READY, "1.0.0", ended), known(READY, "1.1.0", ended)])
    assert rows(of)[1].signer.text == "key EXPIRED"
    assert rows(of)[0].title.startswith("CAN UPGRADE NOW")
    assert "its signing key expired on 2025-01-14; terraform tolerates that" in text(upgrade_lines(rows(of)[1], of))


def test_signers_that_are_not_known() -> None:
    assert rows(selection_of(READY))[1].signer.text == ""
    assert rows(selection_of(READY).with_known([known(READY, "1.1.0", ALICE)]))[1].signer.text == "self-signed"
    refused = selection_of(READY).with_known([known(READY, "1.1.0", ALICE, is_refused=True)])
    assert rows(refused)[1].signer.text == "REFUSED"
    assert "terraform refuses it" in text(upgrade_lines(rows(refused)[1], refused))


# The detail


def test_detail() -> None:
    of = selection_of(READY).toggled([READY]).with_known([known(READY, "1.0.0", ALICE), known(READY, "1.1.0", MALLORY)])
    lines = list(upgrade_lines(rows(of)[1], of))
    said = text(lines)
    assert lines[0].text == "acme/ready 1.0.0 -> 1.1.0  selected  a  registry.terraform.io"
    assert lines[0].copied == "registry.terraform.io/acme/ready 1.0.0 -> 1.1.0"
    for words in (
        "CAUTION      ! NEW KEY: not the key that signed 1.0.0",
        "VERSIONS     [1.1.0 40d]  1.0.0 90d locked",
        "CONSTRAINTS  ~> 1.0         a/main.tf:1",
        "RELEASED     2026-10-12 11:00 UTC  40 days ago, reported by the registry",
        "PLATFORMS    linux_amd64, windows_amd64",
        "PROTOCOL     5.0",
        "different key than 1.0.0",
        "- 7B1F 0A93",
        "+ C4D0 6E1B",
    ):
        assert words in said, words
    assert next(line for line in lines if "~> 1.0" in line.text).place == FilePlace("a/main.tf", 1)
    assert "ALL VERSIONS" not in said
    assert "ALL VERSIONS  newest first, 2" in text(upgrade_lines(rows(of)[1], of, in_full=True))


def test_the_platforms_that_an_upgrade_locks() -> None:
    windows, mac = Platform("windows", "amd64"), Platform("darwin", "arm64")
    of = selection_of(READY)
    assert "LOCKS        " in text(upgrade_lines(rows(of)[1], of))
    required = Policy(cooldown=7, platforms=(WantedPlatform(windows), WantedPlatform(mac)))
    of = of.with_terms(replace(of.terms, policy=required))
    said = text(upgrade_lines(rows(of)[1], of))
    assert "LOCKS        darwin_arm64, windows_amd64  required by the policy" in said
    assert "! no package for darwin_arm64, which the policy requires" in said
    assert rows(of)[1].note.text == "no package for darwin_arm64, which the policy requires"
    h1s = ("h1:known", "h1:other")
    entry = READY.entry
    assert entry is not None
    unlocked = selection_of(replace(READY, entry=replace(entry, hashes=("zh:" + "a" * 64,))))
    assert re.search(r"LOCKS +\w+  this machine's", text(upgrade_lines(rows(unlocked)[1], unlocked)))
    some = replace(READY, entry=replace(entry, hashes=h1s))
    of = selection_of(some)
    assert "LOCKS        the platforms of 2 h1 hashes: lookup in progress" in text(
        upgrade_lines(rows(of)[1], of, is_asking=True)
    )
    release = known(some, "1.0.0", ALICE)
    facts = replace(release.facts, reported={"h1:known": mac})
    of = of.with_known([replace(release, facts=facts)])
    said = f"{text(upgrade_lines(rows(of)[1], of))}\n"
    assert "LOCKS        darwin_arm64  as now; the platforms of 1 h1 hash are unknown\n" in said
    none = selection_of(some).with_known([release])
    said = " ".join(text(upgrade_lines(rows(none)[1], none)).split())
    assert f"LOCKS the platforms of 2 h1 hashes are unknown; {this_platform()} if the plan finds none " in said
    facts = replace(release.facts, reported={"h1:known": mac, "h1:other": windows})
    of = of.with_known([replace(release, facts=facts)])
    assert "LOCKS        darwin_arm64, windows_amd64  as now" in text(upgrade_lines(rows(of)[1], of))


def test_detail_of_what_is_held() -> None:
    some = offer("1.0.0:90 1.1.0:3 2.0.0:40 2.1.0:30 3.0.0-rc1:2", "~> 1.0", ">= 0.5", root="a")
    of = selection_of(some)
    said = text(upgrade_lines(rows(of)[1], of))
    assert "NEWER        3.0.0-rc1  held back: ~> 1.0 (a/main.tf:1); pre-release (needs an exact constraint)" in said
    assert "2.0.0 to 2.1.0 (2 versions)  held back: ~> 1.0 (a/main.tf:1)" in said
    said = text(upgrade_lines(rows(of)[1], of, in_full=True))
    assert "ALL VERSIONS  newest first, 4, without 1 pre-release\n" in said


def test_the_cooldown_is_named_beside_constraints() -> None:
    some = offer("1.0.0:90 1.1.0:40 1.2.0:3 1.3.0:2 2.0.0:40", "~> 1.0", root="a")
    of = selection_of(some)
    said = text(upgrade_lines(rows(of)[1], of))
    assert "NEWER        2.0.0  held back: ~> 1.0 (a/main.tf:1)" in said
    assert "             1.2.0 to 1.3.0 (2 versions)  held back: cooldown 7 d (2 to 3 d old)" in said
    assert rows(of)[1].note.text == "1.3.0 is 2d old, cooldown 7 d; ~> 1.0 (a/main.tf:1)"
    said = text(upgrade_lines(rows(selection_of(YOUNG))[1], selection_of(YOUNG)))
    assert "NEWER        1.1.0  held back: cooldown 7 d (2 d old)" in said


def test_majors_are_eligible_only_where_they_are_taken_in() -> None:
    major = offer("1.0.0:90 2.0.0:40", ">= 1.0", root="a", name="major")
    of = selection_of(READY, major)
    assert [one.name for one in of.safe] == ["acme/ready"]
    assert of.undecided == {major.address}
    assert not of.undecided_with_majors
    of = of.with_terms(replace(of.terms, takes_majors=True))
    assert [one.name for one in of.safe] == ["acme/ready", "acme/major"]
    assert "majors included" in plain(upgrade_status(of, DownloadEstimate(), asking="", is_narrowed=False)[0])


def test_detail_of_other_rows() -> None:
    error = ConfigurationError("git left a conflict", path="b/lock", line=3, hint="settle it first")
    of = selection_of(*ALL, refused=(RefusedRoot("b", "b/lock", error),))
    found = {row.title: row for row in rows(of)}
    assert "is released" in text(upgrade_lines(found["NO NEWER VERSION  1 provider"], of))
    refused = list(upgrade_lines(found["b"], of))
    assert "settle it first" in text(refused)
    assert [line.place for line in refused if line.place] == [FilePlace("b/lock", 3)]
    silent = text(upgrade_lines(found["acme/silent"], of))
    assert "UNKNOWN      it is down" in silent
    assert "NEWER" not in silent, "which versions are newer is not known"
    assert "wait" in silent
    orphan = offer("1.0.0:90 1.1.0:40", root="a")
    assert "not required by this root: prune removes it" in text(
        upgrade_lines(rows(selection_of(orphan))[1], selection_of(orphan))
    )


def test_detail_of_a_group() -> None:
    some = [offer("1.0.0:90 1.1.0:40", "~> 1.0", root="a"), offer("1.0.0:90 1.1.0:40", "~> 1.0.0", root="b")]
    of = selection_of(*some).toggled(some)
    lines = list(upgrade_lines(rows(of)[1], of))
    assert lines[0].text == "acme/x  in 2 roots"
    assert lines[1].text.startswith("  [x] a  1.0.0 -> 1.1.0")
    assert lines[2].text.startswith("   -  b  1.0.0  ~> 1.0.0 (b/main.tf:1)")
    both = of.moved(some, 1)
    assert "*edit b/main.tf:1" in text(upgrade_lines(rows(both)[1], both, in_full=True))
    assert "in range in 1 of 2" in text(upgrade_lines(rows(both)[1], both, in_full=True))


def test_hostile_words_stay_words() -> None:
    bad = replace(requirement("~> 1.0", "main.tf:1"), subject="x\x1b[31m", address=TLS)
    some = replace(READY, requirements=(bad,), problem="\x1b]0;x\x07 [bold]")
    of = selection_of(some)
    lines = [*upgrade_lines(rows(of)[1], of)]
    assert all(isinstance(line, Line) for line in lines)
    assert "\x1b" not in report.as_text(of)


# Bars and reports


def test_the_report_says_what_the_screen_says() -> None:
    of = selection_of(READY).with_known([known(READY, "1.0.0", ALICE), known(READY, "1.1.0", MALLORY)])
    shown = [line.text for line in upgrade_lines(rows(of)[1], of, in_full=True)]
    *printed, empty, summary = report.as_text(of).splitlines()
    assert (empty, summary) == ("", "1 provider in 1 root: 0 can upgrade, 1 needs your decision, 0 held back")
    fingerprint = MALLORY.fingerprint
    assert f"+ {fingerprint}" in printed
    ungrouped = {text.replace(" ", "") for text in shown}
    assert [text for text in printed[5:] if text.replace(" ", "") not in ungrouped] == []
    assert [text for text in shown[1:] if text.replace(" ", "") not in {one.replace(" ", "") for one in printed}] == [
        "VERSIONS     [1.1.0 40d]  1.0.0 90d locked  "
    ]


def test_the_report_says_once_of_roots_alike_what_it_says_of_each() -> None:
    roots = ("live/a", "live/b", "c")
    several = [
        each
        for root in roots
        for each in (
            offer("1.0.0:90 1.1.0:40", "~> 1.0", root=root, name="ready"),
            offer("1.0.0:90 2.0.0:40", "~> 1.0", root=root, name="held"),
        )
    ]
    other = offer("1.0.0:90 2.0.0:40", "1.0.0", root="d", name="held")
    refused = [RefusedRoot(root, f"{root}/x", ConfigurationError("broken", path=f"{root}/x")) for root in "xy"]
    of = selection_of(*several, other, refused=tuple(refused))
    said = report.as_text(of)
    assert [said.count(root) for root in ("live/a", "live/b")] == [1, 1]
    assert said.startswith("3 roots alike, each as ./: c, live/a, live/b\n=")
    assert said.count("held back: ~> 1.0 (./main.tf:1)") == 1
    assert "\nd\n=\n\nacme/held 1.0.0  registry.terraform.io\n" in said, "it reads otherwise"
    assert "held back: 1.0.0 (d/main.tf:1)" in said
    assert "2 roots alike, each as ./: x, y\n" in said
    assert said.endswith(
        "\n\n2 providers in 4 roots: up to 1 can upgrade, 0 need your decision, 1 held back, 2 roots not read\n"
    )
    head = plain(upgrade_head(of)[0])
    assert head.endswith("  2 providers in 4 roots  up to 1 can upgrade  1 held back  2 roots not read")


def test_head_and_status() -> None:
    of = selection_of(*ALL)
    assert head_of(of).split() == (
        ["locklens", "upgrade", "5", "providers", "in", "1", "root", "up", "to", "1", "can", "upgrade", "2", "held", "back", "1", "unknown"])  # fmt: skip
    assert "nothing selected: space selects" in plain(
        upgrade_status(of, DownloadEstimate(), asking="", is_narrowed=False)[0]
    )
    told = plain(
        upgrade_status(
            of.toggled([READY]), DownloadEstimate(3, 5_000_000, 2, is_sure=False), asking="x", is_narrowed=True
        )[0]
    )
    for words in ("1 provider selected in 1 root", "downloads about 3 packages", "2 already hashed", "cooldown 7 d",
                  "filtered"):  # fmt: skip
        assert words in told, words
    assert plain(upgrade_status(of, DownloadEstimate(), asking="", is_narrowed=False, message="hello")[0]) == " hello"
    # A narrow line loses whole parts, and no word is cut.
    *_, shorter, least = upgrade_status(of, DownloadEstimate(), asking="asking: 3 of 12", is_narrowed=True)
    assert plain(shorter) == " nothing selected: space selects, a selects all eligible | asking: 3 of 12 | filtered"
    assert plain(least) == " asking: 3 of 12 | filtered"


def test_only_keys_that_select_something_are_offered() -> None:
    undated = offer("1.0.0:90 1.1.0", "~> 1.0", root="a", name="undated")
    assert nothing_selected(selection_of(READY)) == "nothing selected: space selects, a selects all eligible"
    assert nothing_selected(selection_of(undated)) == "nothing selected: space selects"
    words = toggled_eligible(selection_of(undated), [undated]).words
    assert words == "no eligible upgrade is known; 1 needs your decision"
    major = offer("1.0.0:90 2.0.0:40", ">= 1.0", root="a", name="major")
    words = toggled_eligible(selection_of(major), [major]).words
    assert words == "no eligible upgrade is known; 1 needs your decision (M, which includes majors, leaves none)"
    for of in (selection_of(SILENT), selection_of(CURRENT, HELD)):
        assert nothing_selected(of) == "nothing selected: no eligible upgrade is known"


def test_a_step_says_what_is_not_known() -> None:
    of = selection_of(SILENT)
    for by in (1, -1):
        assert stepped(of, rows(of)[1], by).words == SILENT.problem
    waiting = selection_of(replace(SILENT, problem="", is_asked=False))
    assert stepped(waiting, rows(waiting)[1], 1).words == f"no version of {SILENT.name} is known yet"
    one, other = replace(CURRENT, root="a"), replace(CURRENT, root="b", choices=(), problem="no answer")
    half = selection_of(one, other)
    (row,) = (row for row in rows(half) if row.is_of_provider and len(row.offers) == 2)
    assert stepped(half, row, 1).words == "no known newer version can be selected"


@pytest.mark.parametrize(
    ("fetch", "words"),
    [
        (DownloadEstimate(), "nothing to download"),
        (DownloadEstimate(0, 0, 2), "nothing to download, 2 already hashed"),
        (DownloadEstimate(1, None), "downloads 1 package, size unknown"),
    ],
)
def test_the_download_estimate(fetch: DownloadEstimate, words: str) -> None:
    assert fetch_words(fetch) == words


def test_reports(samples: Samples) -> None:
    error = ConfigurationError("git left a conflict", path="b/lock", line=3)
    of = selection_of(*ALL, refused=(RefusedRoot("b", "b/lock", error),)).toggled([READY])
    said = report.as_text(of)
    assert "acme/ready 1.0.0 -> 1.1.0  selected" in said
    assert "ALL VERSIONS" in said
    assert f"b\n=\n\nupgrades are not possible here\n  {error}\n" in said
    document = json_report("upgrade", of, review=samples.review(), is_offline=False)
    assert {(one["provider"], one["recommended"], one["safe"]) for one in document["candidates"]} >= {
        ("registry.terraform.io/acme/current", None, False),
        ("registry.terraform.io/acme/held", None, False),
        ("registry.terraform.io/acme/ready", "1.1.0", True),
    }
    assert document["refused"] == [{"root": "b", "reason": str(error)}]


def test_a_version_below_the_locked_one_is_older_and_no_minor_step() -> None:
    of = selection_of(offer("1.0.0:90 1.1.0:40 1.2.0:9", "~> 1.0", locked="1.1.0"))
    said = text(upgrade_lines(rows(of)[1], of, in_full=True)).partition("ALL VERSIONS")[2]
    (older,) = (line for line in said.splitlines() if line.lstrip(" >").startswith("1.0.0"))
    assert "older" in older
    assert "minor" not in older


def test_a_step_is_possible_where_another_version_can_be_selected() -> None:
    single = offer("1.0.0:90", "~> 1.0", root="a", name="single")
    of = selection_of(READY, single)
    by_title = {row.title: row for row in rows(of) if row.is_of_provider}
    assert [can_step(of, by_title["acme/single"], by) for by in (1, -1)] == [False, False]
    assert any(can_step(of, by_title[READY.name], by) for by in (1, -1))
