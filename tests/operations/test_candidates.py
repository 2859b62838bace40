"""What there is to upgrade: what is offered and suggested, and what holds back; pure, and of the sample registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kit.real_material import shared_data
from kit.registries import environ_of
from msgspec.structs import replace
from operations.sample_candidates import offer
from selection.making import LINUX, WINDOWS
from selection.making import version as parsed

from locklens.demo import PLATFORMS, SampleLock, lock_file
from locklens.demo.faults import Fault, Step
from locklens.demo.published import SampleListing as Served
from locklens.demo.registry import DemoRegistry
from locklens.dialect import OPENTOFU, TERRAFORM, Dialect
from locklens.errors import RunCancelledError
from locklens.install.context import FetchStarted
from locklens.lockfile.parse import parse
from locklens.operations.comparison import RootSettings
from locklens.operations.plan import Scope
from locklens.operations.root_modules import RootReader
from locklens.operations.upgrades import (
    CandidateTable,
    KnownRelease,
    UpgradeCandidates,
    edits_in_short,
    estimate_download,
    is_refused,
    release_id,
)
from locklens.operations.upgrades.doubts import upgrade_warnings
from locklens.operations.upgrades.lookup import CandidateRequest, look_up_candidates, look_up_releases
from locklens.operations.upgrades.recommending import Eligibility, UpgradePolicy, recommend
from locklens.operations.upgrades.report import as_text, held_version_lines
from locklens.operations.upgrades.selection import UpgradeSelection
from locklens.operations.write.registry_source import RegistrySource
from locklens.operations.write.upgrade import Upgrade
from locklens.policy import Policy, WantedPlatform
from locklens.policy import parse as parse_policy
from locklens.project.tree import FileSystem
from locklens.releases import NetworkSettings
from locklens.review.model import Bump
from locklens.review.rules.release import signer_change
from locklens.selection import BumpLimit
from locklens.sources.metadata import ListedVersion
from locklens.storage.cache import Cache
from locklens.text import age_words
from locklens.trust.continuity import SignerChange
from locklens.versions import Version, newest_matching

WEEK = UpgradePolicy(Policy(cooldown=7))


def suggested(what: UpgradeCandidates, terms: UpgradePolicy = WEEK) -> str:
    found = recommend(what, terms)
    return str(found.suggested.version) if found.suggested else f"{found.state}: {found.held_by}"


# What is suggested


def test_the_newest_in_range_that_is_old_enough() -> None:
    some = offer("1.0.0:90 1.1.0:40 1.2.0:9 1.3.0:3 2.0.0:50", "~> 1.0")
    assert suggested(some) == "1.2.0"
    assert suggested(some, UpgradePolicy()) == "1.3.0"
    assert (
        suggested(some, UpgradePolicy(Policy(cooldown=41)))
        == "held back: 1.3.0 is 3d old, cooldown 41 d; ~> 1.0 (main.tf:1)"
    )
    assert suggested(some, UpgradePolicy(Policy(cooldown=3))) == "1.3.0"
    assert recommend(some, WEEK).held_by == "1.3.0 is 3d old, cooldown 7 d; ~> 1.0 (main.tf:1)"
    assert some.in_range is not None
    assert (some.in_range.version, some.newest) == (parsed("1.3.0"), parsed("2.0.0"))


def test_a_version_that_waits_for_the_cooldown_is_said() -> None:
    some = offer("1.0.0:90 1.1.0:3", "~> 1.0")
    assert suggested(some) == "held back: 1.1.0 is 3d old, cooldown 7 d"
    assert suggested(offer("1.0.0:90 1.1.0:3", "~> 1.0", "1.0.0")) == "held back: 1.0.0 (main.tf:2)"


def test_no_cooldown_is_named_of_a_version_that_is_not_allowed() -> None:
    """Its end changes nothing."""
    policy = parse_policy(b'cooldown = 7\nallow = ["registry.terraform.io/acme/x < 1.2"]', "locklens.toml")
    of_all, in_range = offer("1.0.0:90 1.2.0:40 1.3.0:3", ">= 1.0"), offer("1.0.0:90 1.2.0:3 2.0.0:90", "~> 1.0")
    assert suggested(of_all, UpgradePolicy(policy)) == "held back: 1.3.0: not on the allow list"
    assert suggested(in_range, UpgradePolicy(policy)) == "held back: 1.2.0: not on the allow list; ~> 1.0 (main.tf:1)"
    allowed = offer("1.0.0:90 1.1.0:3 2.0.0:90", "~> 1.0")
    assert suggested(allowed, UpgradePolicy(policy)) == "held back: 1.1.0 is 3d old, cooldown 7 d; ~> 1.0 (main.tf:1)"


def test_a_version_of_unknown_age_is_suggested_where_none_of_known_age_is_old_enough() -> None:
    some = offer("1.0.0:90 1.1.0:40 1.2.0", "~> 1.0")
    assert suggested(some) == "1.1.0"
    assert recommend(some, WEEK).held_by == "1.2.0: release date unknown, cooldown cannot be checked"
    assert suggested(some, UpgradePolicy()) == "1.2.0"
    some = offer("1.0.0:90 1.1.0:4 1.2.0", "~> 1.0")
    assert suggested(some) == "1.2.0"
    choice = recommend(some, WEEK).suggested
    assert choice is not None
    assert (choice.days, choice.released) == (None, None)
    assert WEEK.is_of_unknown_age(choice)
    assert not UpgradePolicy().is_of_unknown_age(choice)


@pytest.mark.parametrize(
    ("limit", "expected"), [(BumpLimit.ANYWHERE, "2.0.0"), (BumpLimit.MINOR, "1.3.0"), (BumpLimit.PATCH, "1.0.4")]
)
def test_the_upgrade_limit(limit: BumpLimit, expected: str) -> None:
    some = offer("1.0.0:90 1.0.4:80 1.3.0:70 2.0.0:60", ">= 1.0")
    assert suggested(some, UpgradePolicy(limit=limit, takes_majors=True)) == expected
    alone = offer("1.0.0:90 2.0.0:60", ">= 1.0")
    assert (
        suggested(alone, UpgradePolicy(limit=BumpLimit.MINOR)) == "held back: 2.0.0: limited to the same major version"
    )
    young = UpgradePolicy(Policy(cooldown=7), limit=BumpLimit.MINOR)
    words = "2.0.0 is 3d old, cooldown 7 d; limited to the same major version"
    assert suggested(offer("1.0.0:90 2.0.0:3", ">= 1.0"), young) == f"held back: {words}"
    both = offer("1.0.0:90 1.3.0:70 2.0.0:60", "~> 1.0")
    within = UpgradeSelection(terms=UpgradePolicy(limit=BumpLimit.PATCH))
    words = "1.3.0: limited to the same minor version; ~> 1.0 (main.tf:1)"
    assert suggested(both, within.terms) == f"held back: {words}"
    lines = [one.text for one in held_version_lines(both, within.with_offers(CandidateTable((both,))))]
    assert any("1.3.0  held back: limited to the same minor version" in one for one in lines), lines


def test_up_to_date() -> None:
    assert suggested(offer("0.9.0:99 1.0.0:90 1.1.0-beta1:80", "~> 1.0")) == "no newer version: "


def test_a_locked_version_that_is_not_admitted_may_move_down() -> None:
    some = offer("0.9.0:99 1.0.0:90", "< 1.0")
    assert some.is_excluded
    assert suggested(some) == "0.9.0"
    stuck = offer("1.0.0:90", "< 1.0")
    assert suggested(stuck) == "held back: no version satisfies the constraints"
    assert [one.is_locked_in_range for one in (some, stuck, offer("1.0.0:90", "~> 1.0"))] == [False, False, True]
    unknown = (offer("1.0.0:90", ""), replace(offer("1.0.0:90", "~> 1.0"), unread="module a is missing"))
    assert [one.is_locked_in_range for one in unknown] == [True, None]
    assert replace(some, requirements=()).is_locked_in_range is None


def test_a_locked_version_that_is_withdrawn() -> None:
    some = offer("0.9.0:99", "<= 1.0")
    assert some.is_withdrawn
    assert suggested(some) == "no newer version: ", "nothing newer is there to be held back"
    dated = replace(some, as_of="2026-03-31T09:12:44Z")
    (warning,) = upgrade_warnings(UpgradeSelection(), dated, None)
    assert warning.words == "the locked 1.0.0 is not listed as of 2026-03-31 09:12 UTC"
    newer = offer("0.9.0:99 1.1.0:80", "<= 2.0")
    found = recommend(newer, WEEK)
    assert (suggested(newer), found.held_by) == ("1.1.0", ""), "nothing holds it back"
    assert not offer("1.0.0:1", "<= 1.0").is_withdrawn


def test_what_is_not_locked_yet() -> None:
    some = offer("0.9.0:99 1.0.0:90", "~> 0.9", locked=None)
    assert suggested(some) == "0.9.0"
    assert some.bump(parsed("0.9.0")) is None


def test_a_provider_that_is_not_required() -> None:
    assert suggested(offer("1.0.0 1.1.0")) == "not required: not required by this root"


def test_a_lookup_without_an_answer() -> None:
    some = replace(offer("1.0.0", "~> 1.0"), is_asked=False)
    assert suggested(some) == "unknown: "
    assert suggested(replace(some, is_asked=True, problem="it is down")) == "unknown: it is down"


def test_a_version_that_the_tools_cannot_run_is_not_suggested() -> None:
    def listed(one: Version) -> ListedVersion:
        return ListedVersion(one, ("7.0",) if one.minor == 2 else ("6.0",), (LINUX,))

    some = offer("1.0.0:90 1.1.0:80 1.2.0:70", "~> 1.0", listed=listed)
    assert suggested(some) == "1.1.0"
    assert "plugin protocol 7.0" in recommend(some, WEEK).held_by


# Choices


def test_pre_releases_are_choices_only_where_one_is_pinned() -> None:
    texts = [str(one.version) for one in offer("1.0.0 1.1.0-rc1 1.1.0-rc2 0.0.0", "1.1.0-rc1").choices]
    assert texts == ["1.1.0-rc1", "1.0.0"]
    assert offer("1.0.0 1.1.0-rc1 1.1.0-rc2 0.0.0", "1.1.0-rc1").prereleases == 1
    assert [str(one.version) for one in offer("1.0.0 1.1.0-rc1", locked="1.1.0-rc1").choices] == ["1.1.0-rc1", "1.0.0"]


def test_a_version_out_of_range_can_be_picked_where_its_constraint_can_be_edited() -> None:
    some = offer("1.0.0 2.0.0", "~> 1.0", "< 2.0.0", ">= 0.1")
    choice = some.choice(parsed("2.0.0"))
    assert choice is not None
    assert not choice.is_in_range
    assert [one.line for one in choice.excluding] == [1, 2]
    assert some.refusal(choice) == ""
    assert edits_in_short(choice) == "main.tf:1 +1"
    guarded = replace(some, guards={some.requirements[0].site: "the module is fetched"})
    assert guarded.refusal(choice) == "~> 1.0 (main.tf:1) excludes it: the module is fetched"


def test_kinds_of_steps_and_lost_platforms() -> None:
    def listed(one: Version) -> ListedVersion:
        return ListedVersion(one, (), (LINUX,) if one.major == 2 else (LINUX, WINDOWS) if one.major == 1 else ())

    some = offer("1.0.0 1.0.1 2.0.0 3.0.0", listed=listed)
    assert [some.bump(one.version) for one in some.choices] == [Bump.MAJOR, Bump.MAJOR, Bump.PATCH, None]
    assert some.lost_platforms(parsed("2.0.0")) == (WINDOWS,)
    assert some.lost_platforms(parsed("1.0.1")) == some.lost_platforms(parsed("3.0.0")) == ()


def test_ages_in_few_words() -> None:
    assert [age_words(days) for days in (None, 0, 729, 730, 2200)] == ["?", "0d", "729d", "2y", "6y"]


# Real constraints


WANTED = UpgradePolicy(Policy(platforms=(WantedPlatform(LINUX), WantedPlatform(WINDOWS))))


def lacking(version: str) -> Callable[[Version], ListedVersion]:
    """Versions of two platforms, and one that has no package for Windows."""
    return lambda one: ListedVersion(one, ("5.0",), (LINUX,) if str(one) == version else (LINUX, WINDOWS))


@pytest.mark.parametrize(
    ("some", "terms", "expected", "held_by"),
    [
        (offer("1.0.0:90 1.3.0:70 2.0.0:60 2.1.0:50", ">= 1.0"), WEEK, "1.3.0", "2.1.0: major version, not included"),
        (offer("1.0.0:90 1.3.0:3 2.0.0:60", ">= 1.0"), WEEK, "2.0.0?", ""),
        (offer("1.0.0:90 1.3.0:70 2.0.0:3 2.1.0:2", ">= 1.0"), WEEK, "1.3.0", "2.1.0 is 2d old, cooldown 7 d"),
        (
            offer("1.0.0:90 1.3.0:70 2.0.0:60 3.0.0:50", ">= 1.0, < 3"),
            WEEK,
            "1.3.0",
            "2.0.0: major version, not included; < 3.0.0 (main.tf:1)",
        ),
        (
            offer("1.0.0:90 1.1.0:80 1.2.0:70", ">= 1.0", listed=lacking("1.2.0")),
            WANTED,
            "1.1.0",
            "1.2.0: no package for windows_amd64, which the policy requires",
        ),
        (offer("1.0.0:90 1.2.0:70", ">= 1.0", listed=lacking("1.2.0")), WANTED, "1.2.0?", ""),
        (offer("1.0.0:90 1.2.0:70", ">= 1.0", listed=lacking("1.2.0")), WEEK, "1.2.0", ""),
        (offer("1.2.0:70", ">= 1.0", listed=lacking("1.2.0"), locked=None), WANTED, "1.2.0?", ""),
        (offer("1.2.0:90 1.2.1:70", ">= 1.0", listed=lacking("1.2.1"), locked="1.1.0"), WANTED, "1.2.0",
         "1.2.1: no package for windows_amd64, which the policy requires"),
        (
            offer("1.0.0:90 1.1.0:70 1.2.0:60", "< 1.2", locked="1.2.0"),
            WEEK,
            "1.1.0?",
            "< 1.2.0 (main.tf:1)",
        ),
        (offer("1.0.0:90 1.1.0:70 1.2.0:60", "!= 1.1.0", locked="1.1.0"), WEEK, "1.2.0", ""),
    ],
)  # fmt: skip
def test_the_newest_version_without_a_doubt_is_suggested_before_a_newer_one(
    some: UpgradeCandidates, terms: UpgradePolicy, expected: str, held_by: str
) -> None:
    """A question mark stands behind a version that needs a decision."""
    of = UpgradeSelection(terms=terms).with_offers(CandidateTable((some,)))
    found = of.recommendation(some)
    assert found.suggested is not None
    assert f"{found.suggested.version}{'' if of.is_safe(some) else '?'}" == expected
    assert of.state(some) is (Eligibility.READY if of.is_safe(some) else Eligibility.DECIDE)
    assert found.held_by == held_by


def test_no_platform_is_lost_that_the_locked_version_lacks_too() -> None:
    some = offer("1.0.0:90 1.1.0:70", ">= 1.0", listed=lambda one: ListedVersion(one, ("5.0",), (LINUX,)))
    of = UpgradeSelection(terms=WANTED).with_offers(CandidateTable((some,)))
    assert of.is_safe(some)
    (warning,) = upgrade_warnings(of, some, of.target(some))
    assert warning.words == "no package for windows_amd64, which the policy requires"


def test_real_constraint_shapes() -> None:
    """With every constraint that is recorded in a real lock file: what is suggested is what `init -upgrade` selects."""
    texts = {
        (entry.constraints, entry.version)
        for path in sorted((shared_data() / "pairs").rglob("*.hcl"))
        for entry in parse(path.read_bytes(), path.name).entries
        if entry.constraints
    }
    assert len(texts) > 50
    for text, version in texts:
        near = [version, *(replace(version, **step) for step in _steps(version))]
        found = offer(" ".join(f"{one}:{30 + place}" for place, one in enumerate(near)), text, locked=str(version))
        newest = newest_matching(near, found.constraints)
        picked = recommend(found, replace(WEEK, takes_majors=True)).suggested
        expected = None if newest is None or newest.compare(version) <= 0 else newest
        if found.is_excluded:
            expected = newest
        assert (picked.version if picked is not None else None) == expected, text
        for choice in found.choices:
            assert choice.is_in_range == found.constraints.admits(choice.version)


def _steps(version: Version) -> list[dict[str, object]]:
    plain: dict[str, object] = {"prerelease": "", "metadata": ""}
    return [
        plain | {"patch": version.patch + 1},
        plain | {"minor": version.minor + 1, "patch": 0},
        plain | {"major": version.major + 1, "minor": 0, "patch": 0},
        plain | {"patch": version.patch + 2, "prerelease": "rc1"},
    ]


# Of the sample registry

HOST = "registry.terraform.io"
DEMO, NETBOX = f"{HOST}/acme/demo", f"{HOST}/acme/netbox"


def requiring(**constraints: str) -> str:
    lines = [f'    {name} = {{ source = "acme/{name}", version = "{text}" }}' for name, text in constraints.items()]
    return "\n".join(["terraform {", "  required_providers {", *lines, "  }", "}", ""])


class Bench:
    """Roots on disk and a registry beside them."""

    def __init__(self, folder: Path, registry: DemoRegistry) -> None:
        self.top = folder / "top"
        self.registry = registry
        self.environ = environ_of(registry, folder)
        self.cache = Cache.in_memory()
        self.paths: list[str] = []

    def lay(self, path: str, files: dict[str, str], *locked: SampleLock, tool: Dialect = TERRAFORM) -> None:
        folder = self.top / path
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        (folder / ".terraform.lock.hcl").write_bytes(lock_file(*locked, dialect=tool))
        self.paths.append(path)

    @property
    def network(self) -> NetworkSettings:
        return NetworkSettings(self.environ, self.cache)

    def request(self, network: NetworkSettings | None) -> CandidateRequest:
        reader = RootReader(RootSettings())
        roots = (reader.read(FileSystem(self.top), path) for path in self.paths)
        return CandidateRequest(self.top, tuple(root for root in roots if root is not None), network, frozenset({HOST}))

    def offers(self, **more: object) -> CandidateTable:
        return look_up_candidates(self.request(self.network), **more)  # type: ignore[arg-type]

    def releases(self, *wanted: UpgradeCandidates) -> dict[str, KnownRelease]:
        ids = [release_id(one, choice.version) for one in wanted for choice in one.choices]
        found = look_up_releases(ids, self.network, {HOST})
        return {str(one.facts.id.version): one for one in found}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    catalog = {
        DEMO: (Served("1.0.0", days=90), Served("1.1.0", days=30), Served("1.2.0", days=2), Served("2.0.0")),
        NETBOX: (Served("3.0.0", days=90), Served("4.0.0", days=30)),
    }
    with DemoRegistry(catalog) as registry:
        yield Bench(tmp_path, registry)


def test_one_provider_in_two_roots_is_asked_about_once(bench: Bench) -> None:
    bench.lay("a", {"main.tf": requiring(demo="~> 1.0")}, SampleLock(DEMO, "1.0.0"))
    bench.lay(
        "b",
        {"main.tf": requiring(demo=">= 1.0", netbox="~> 3.0")},
        SampleLock(DEMO, "1.1.0"),
        SampleLock(NETBOX, "3.0.0"),
    )
    seen: list[CandidateTable] = []
    found = bench.offers(on_known=seen.append)
    assert [(one.root, one.name, suggested(one)) for one in found.providers] == [
        ("a", "acme/demo", "1.1.0"),
        ("b", "acme/demo", "2.0.0"),
        ("b", "acme/netbox", "held back: ~> 3.0 (b/main.tf:4)"),
    ]
    assert not any(one.is_asked for one in seen[0].providers)
    steps = [one.step for one in bench.registry.requests]
    assert (steps.count(Step.VERSIONS), steps.count(Step.DATES)) == (2, 2)
    bench.offers()
    assert len(bench.registry.requests) == 4  # it is remembered


def test_orphans_and_what_is_not_locked(bench: Bench) -> None:
    bench.lay("", {"main.tf": requiring(netbox=">= 3.0")}, SampleLock(DEMO, "1.0.0"))
    demo, netbox = bench.offers().providers
    assert suggested(demo) == "not required: not required by this root"
    assert (netbox.locked, suggested(netbox)) == (None, "4.0.0")


def test_modules_that_are_not_fetched_are_no_obstacle_and_are_named(bench: Bench) -> None:
    missing = 'module "x" {\n  source = "acme/x/demo"\n}\n'
    bench.lay(
        "", {"main.tf": requiring(demo="~> 1.0") + missing}, SampleLock(DEMO, "1.0.0"), SampleLock(NETBOX, "3.0.0")
    )
    found = bench.offers()
    assert [(one.unread, suggested(one)) for one in found.providers] == [
        ("module x is not fetched (terraform get fetches modules)", "1.1.0"),
        ("module x is not fetched (terraform get fetches modules)", "4.0.0"),
    ]
    assert [bool(one.recorded) for one in found.providers] == [False, True]


def test_roots_in_which_nothing_can_be_upgraded(bench: Bench) -> None:
    bench.lay("broken", {"main.tf": "terraform {"}, SampleLock(DEMO, "1.0.0"))
    bench.lay("merged", {"main.tf": requiring(demo="~> 1.0")}, SampleLock(DEMO, "1.0.0"))
    lock = bench.top / "merged/.terraform.lock.hcl"
    lock.write_text(f"<<<<<<< HEAD\n{lock.read_text()}=======\n>>>>>>> other\n")
    found = bench.offers()
    assert found.providers == ()
    assert [one.root for one in found.refused] == ["broken", "merged"]
    assert bench.registry.requests == ()


def test_constraints_in_fetched_modules_are_not_ours_to_edit(bench: Bench) -> None:
    call = 'module "x" {\n  source = "./.terraform/modules/x"\n}\n'
    bench.lay("", {"main.tf": requiring(demo=">= 1.0") + call}, SampleLock(DEMO, "1.0.0"))
    inner = bench.top / ".terraform/modules/x"
    inner.mkdir(parents=True)
    (inner / "main.tf").write_text(requiring(demo="~> 1.0"))
    (one,) = bench.offers().providers
    choice = one.choice(parsed("2.0.0"))
    assert choice is not None
    assert "the module is fetched" in one.refusal(choice)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ('{ source = "acme/demo", version = "~> 1.0" }', ""),
        ('{ source = "acme/demo", version = ">= 1.0, != 2.0.0" }', "!= 2.0.0 excludes exactly this version"),
        ('{ source = "acme/demo", version = "<= 1.1.0" }', ""),
        ('{\n source = "acme/demo"\n version = <<EOT\n~> 1.0\nEOT\n }', "is not a plain string but a heredoc"),
    ],
)
def test_the_list_offers_no_edit_that_the_plan_refuses(bench: Bench, entry: str, reason: str) -> None:
    written = f"terraform {{\n  required_providers {{\n    demo = {entry}\n  }}\n}}\n"
    bench.lay("", {"main.tf": written}, SampleLock(DEMO, "1.0.0"))
    (one,) = bench.offers().providers
    choice = one.choice(parsed("2.0.0"))
    assert choice is not None
    assert edits_in_short(choice) == f"main.tf:{5 if 'EOT' in entry else 3}"
    assert reason in one.refusal(choice)
    assert bool(one.refusal(choice)) == bool(reason)
    upgrade = Upgrade(Scope(bench.top, ("",)), ("demo=2.0.0",), edits_constraints=True)
    with Cache.in_memory() as cache, RegistrySource(NetworkSettings(bench.environ, cache)) as supply:
        plan = upgrade.plan(supply)
    assert [reason in failed.sentence for failed in plan.failures] == [True] * bool(reason)
    assert [edit.place for change in plan.changes for edit in change.edits] == ([] if reason else [("main.tf", 3)])


@pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.HTML, Fault.NOT_FOUND])
def test_a_registry_that_does_not_say(bench: Bench, fault: Fault) -> None:
    bench.lay(
        "",
        {"main.tf": requiring(demo="~> 1.0", netbox="~> 3.0")},
        SampleLock(DEMO, "1.0.0"),
        SampleLock(NETBOX, "3.0.0"),
    )
    bench.registry.faults.add(fault, DEMO, step=Step.VERSIONS)
    demo, netbox = bench.offers().providers
    assert HOST in demo.problem
    assert recommend(demo, WEEK).state is Eligibility.UNKNOWN
    assert netbox.choices


def test_dates_that_are_missing_change_nothing_else(bench: Bench) -> None:
    bench.lay("", {"main.tf": requiring(demo="~> 1.0")}, SampleLock(DEMO, "1.0.0"))
    bench.registry.faults.add(Fault.NOT_FOUND, step=Step.DATES)
    (one,) = bench.offers().providers
    assert {choice.days for choice in one.choices} == {None}
    assert suggested(one) == "1.2.0"
    assert one.problem == ""


def test_nobody_is_asked_offline_and_for_hosts_that_only_the_change_names(bench: Bench) -> None:
    bench.lay("", {"main.tf": requiring(demo="~> 1.0")}, SampleLock(DEMO, "1.0.0"))
    (one,) = look_up_candidates(bench.request(None)).providers
    assert one.problem == "the registry was not asked"
    foreign = SampleLock("elsewhere.test/acme/demo", "1.0.0")
    bench.lay("foreign", {"main.tf": requiring(demo="~> 1.0").replace("acme/", "elsewhere.test/acme/")}, foreign)
    found = bench.offers().providers[-1]
    assert found.problem == "elsewhere.test was not asked"
    assert "--ask-host" in found.hint


def test_cancelled(bench: Bench) -> None:
    import threading

    bench.lay("", {"main.tf": requiring(demo="~> 1.0")}, SampleLock(DEMO, "1.0.0"))
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(RunCancelledError):
        bench.offers(cancel=cancel)


# Who signed it, and what it takes


def test_signers(bench: Bench) -> None:
    bench.lay("", {"main.tf": requiring(demo=">= 1.0")}, SampleLock(DEMO, "1.0.0"))
    bench.registry.faults.add(Fault.OTHER_SIGNER, DEMO, "1.1.0")
    bench.registry.faults.add(Fault.UNSIGNED, DEMO, "1.2.0")
    bench.registry.faults.add(Fault.BAD_SIGNATURE, DEMO, "2.0.0")
    known = {name: one.facts for name, one in bench.releases(*bench.offers().providers).items()}
    old = known["1.0.0"]
    assert signer_change(old, old) is SignerChange.SAME
    assert signer_change(old, known["1.1.0"]) is SignerChange.OTHER
    assert signer_change(old, known["2.0.0"]) is SignerChange.UNKNOWN
    assert signer_change(None, old) is signer_change(old, None) is SignerChange.UNKNOWN
    assert {name for name, one in known.items() if is_refused(one)} == {"1.2.0", "2.0.0"}
    assert not is_refused(None)


def test_what_opentofu_tolerates_and_how_large_it_is(tmp_path: Path) -> None:
    tofu = f"{OPENTOFU.default_host}/acme/demo"
    with DemoRegistry({tofu: (Served("1.0.0", days=90), Served("1.1.0", days=30))}) as registry:
        bench = Bench(tmp_path, registry)
        bench.lay(
            "",
            {"main.tofu": requiring(demo=">= 1.0")},
            SampleLock(tofu, "1.0.0", unpacked=PLATFORMS[:2]),
            tool=OPENTOFU,
        )
        registry.faults.add(Fault.UNSIGNED, tofu, "1.1.0")
        (one,) = bench.offers().providers
        assert [choice.days for choice in one.choices] == [30, 90]
        found = bench.releases(one)
        old, new = found["1.0.0"].facts, found["1.1.0"].facts
        assert signer_change(old, new) is SignerChange.LOST
        assert signer_change(new, old) is SignerChange.GAINED
        assert not is_refused(new)
        known = {each.facts.id: each for each in found.values()}
        believed = estimate_download([(one, one.choices[0])], known, LINUX, believed=Policy().believed_hosts)
        assert (believed.packages, believed.size, believed.is_sure) == (0, 0, True)
        fetch = estimate_download([(one, one.choices[0])], known, LINUX, believed={"registry.example.com"})
        assert (fetch.packages, fetch.is_sure) == (2, True)
        assert fetch.size == sum(new.sizes[zh] for zh, name in new.platforms.items() if str(name) in PLATFORMS[:2])


def test_what_opentofu_moves_keeps_its_platforms_and_is_not_left_to_prune(tmp_path: Path) -> None:
    new, old = (f"{tool.default_host}/hashicorp/demo" for tool in (OPENTOFU, TERRAFORM))
    with DemoRegistry({new: (Served("1.1.0", days=30),), old: (Served("1.0.0", days=90),)}) as registry:
        bench = Bench(tmp_path, registry)
        files = {"main.tofu": requiring(demo=">= 1.0").replace("acme/", "hashicorp/")}
        bench.lay("", files, SampleLock(old, "1.0.0", unpacked=PLATFORMS[1:3]))

        def said() -> str:
            selection = UpgradeSelection(terms=WEEK).with_offers(bench.offers())
            releases = selection.unknown_releases(selection.offers.providers)
            hosts = {TERRAFORM.default_host, OPENTOFU.default_host}
            return str(as_text(selection.with_known(tuple(look_up_releases(releases, bench.network, hosts)))))

        before = said()
        assert "LOCKS        the platforms of 2 h1 hashes are unknown; " in before
        assert "not required by this root: the upgrade of hashicorp/demo replaces it" in before
        assert "hashicorp/demo 1.0.0 (registry.terraform.io) -> 1.1.0  registry.opentofu.org" in before
        assert "skips it" not in before
        with RegistrySource(bench.network) as supply:
            (change,) = Upgrade(Scope(bench.top, (".",)), ("demo",)).plan(supply).changes
        assert (str(change.moved_from), str(change.address)) == (old, new)
        assert f"LOCKS        {', '.join(sorted(PLATFORMS[1:3]))}  as now" in said()  # as the plan found them


def test_what_is_to_be_fetched_is_counted_once_for_all_roots(bench: Bench) -> None:
    bench.lay("a", {"main.tf": requiring(demo="~> 1.0")}, SampleLock(DEMO, "1.0.0"))
    bench.lay("b", {"main.tf": requiring(demo="~> 1.0")}, SampleLock(DEMO, "1.0.0"))
    one, other = bench.offers().providers
    target = one.choice(parsed("1.1.0"))
    assert target is not None
    picks = [(one, target), (other, target)]
    blind = estimate_download(picks, {}, LINUX)
    assert (blind.packages, blind.size, blind.is_sure) == (2, None, False), "one of the old version for its h1"
    known = {each.facts.id: each for each in bench.releases(one).values()}
    seen = estimate_download(picks, known, LINUX)
    assert (seen.packages, seen.size) == (2, None)  # Terraform's registry says no sizes
    assert estimate_download([], known, LINUX).size == 0
    with_tofu = [*picks, (replace(other, tool=OPENTOFU), target)]
    assert estimate_download(with_tofu, {}, LINUX).packages == 2, "the same packages, whichever tool locks them"
    assert estimate_download(with_tofu, known, LINUX).packages == 2


LIKELY = ("linux_amd64", "darwin_arm64", "linux_arm64", "windows_amd64", "darwin_amd64")


@pytest.mark.parametrize("number", [2, 3, 5])
def test_the_estimate_counts_every_platform_of_an_entry(bench: Bench, number: int) -> None:
    bench.lay("", {"main.tf": requiring(demo="~> 1.0")}, SampleLock(DEMO, "1.0.0", unpacked=LIKELY[:number]))
    (one,) = bench.offers().providers
    target = one.choice(parsed("1.1.0"))
    assert target is not None
    known = {each.facts.id: each for each in bench.releases(one).values()}
    estimated = estimate_download([(one, target)], known, LINUX)
    events: list[object] = []
    with RegistrySource(NetworkSettings(bench.environ, bench.cache), on_event=events.append) as supply:
        Upgrade(Scope(bench.top), ("acme/demo=1.1.0",)).plan(supply)
    assert estimated.packages == sum(isinstance(event, FetchStarted) for event in events)
    assert estimated.is_sure == (number == 5), "where every package has its h1, none of the old version is hashed"


def test_a_package_that_was_hashed_before_is_not_fetched(bench: Bench) -> None:
    from locklens.operations.plan import Scope
    from locklens.operations.write.registry_source import RegistrySource
    from locklens.operations.write.upgrade import Upgrade

    bench.lay("", {"main.tf": requiring(demo="~> 1.0")}, SampleLock(DEMO, "1.0.0"))
    (one,) = bench.offers().providers
    target = one.choice(parsed("1.1.0"))
    assert target is not None
    with RegistrySource(NetworkSettings(bench.environ, bench.cache)) as supply:
        Upgrade(Scope(bench.top), ("acme/demo=1.1.0",)).plan(supply)
    known = {each.facts.id: each for each in bench.releases(one).values()}
    found = estimate_download([(one, target)], known, LINUX)
    assert (found.packages, found.hashed, found.size) == (0, 1, 0)
