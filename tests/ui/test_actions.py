"""What the upper-case keys mean on which row, and why they mean nothing on others."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest
from kit.registries import environ_of
from kit.repositories import put, repository
from msgspec.structs import replace
from operations.test_prune_restore_format import entry, lock, requiring
from ui.conftest import Running, Samples, until

from locklens.demo.registry import DemoRegistry
from locklens.errors import LockLensError
from locklens.operations.compare import open_git
from locklens.operations.locklens import LockLens
from locklens.operations.plan import Scope
from locklens.operations.review.request import ReviewRequest
from locklens.operations.write.lock import Lock, LockMissing, hashed_platforms, lock_missing, why_not_locked
from locklens.operations.write.lock_edits import Format, Prune, Restore, RestoredProviders
from locklens.project import LOCK_FILE
from locklens.releases import NetworkSettings
from locklens.review import HashFact, Proof
from locklens.review.findings import Severity
from locklens.review.model import ChangeKind, Evidence, Review, RootReview, SideName
from locklens.storage.cache import Cache
from locklens.ui.dialogs.form import read_platforms
from locklens.ui.hashes import HashesScreen
from locklens.ui.review.actions import formatting, pruning, restorable, restoring
from locklens.ui.review.outline import Grouping, Node, outline
from locklens.ui.row_actions import writable
from locklens.ui.upgrade import UpgradeScreen

TOP = Path("/top")
H1 = "h1:" + "A" * 42


def where(roots: Iterable[str]) -> Scope:
    return Scope(TOP, tuple(f"./{root}" for root in roots))


def node(review: Review, title: str) -> Node:
    def below(nodes: Iterable[Node]) -> Iterable[Node]:
        for one in nodes:
            yield one
            yield from below(one.children)

    return next(one for one in below(outline(review, Grouping.ROOT)) if one.title == title)


def test_restoring_a_change_a_group_a_section(samples: Samples) -> None:
    full = samples.full()
    one = restoring(node(full, "acme/netbox"), full, where)
    assert one == Restore(where(()), (RestoredProviders(("./infra/prod/network",), ("acme/netbox",)),), "HEAD")
    group = restoring(node(full, "hashicorp/random"), full, where)
    assert [len(each.roots) for each in group.restored] == [8]
    assert group.title == "Restore hashicorp/random from HEAD in 8 roots"
    section = restoring(node(full, "infra/prod/network"), full, where)
    assert section.restored[0].providers == ("acme/demo", "acme/netbox", "datadog/datadog", "hashicorp/template")
    gone = restoring(node(full, "hashicorp/template"), full, where)
    assert gone.restored[0].providers == ("hashicorp/template",)
    shared = restoring(node(full, "in several roots"), full, where)
    assert sorted((each.providers, len(each.roots)) for each in shared.restored) == [
        (("hashicorp/aws",), 1),
        (("hashicorp/aws", "hashicorp/random"), 1),
        (("hashicorp/random",), 7),
    ]


def test_restoring_what_moved_and_what_a_pull_request_brings(samples: Samples) -> None:
    moved = replace(
        samples.change("opentofu/aws", kind=ChangeKind.MOVED),
        moved_from=samples.address("hashicorp/aws", "registry.a.test"),
    )
    review = samples.review(samples.root("a", [moved]))
    merge = replace(review, base=SideName("git", "main...HEAD", "3f9c1e2b" * 5, "main"))
    found = restoring(node(merge, "opentofu/aws"), merge, where)
    assert found.restored[0].providers == ("opentofu/aws",), "the entry that it moved from comes with it"
    assert found.revision == "3f9c1e2b3f9c"


def test_restoring_on_a_finding_about_the_lock_file(samples: Samples) -> None:
    other = replace(samples.finding("LK032", Severity.WARN), file="a/.terraform.lock.hcl")
    root = replace(samples.root("a", [samples.change("acme/one"), samples.change("acme/two")]), findings=(other,))
    review = samples.review(root)
    (section,) = outline(review, Grouping.ROOT)
    row = next(one for one in section.children if one.finding is not None)
    assert restoring(row, review, where).restored == (RestoredProviders(("./a",), ("acme/one", "acme/two")),)
    elsewhere = replace(root, findings=(replace(other, file="a/main.tf"),))
    (section,) = outline(samples.review(elsewhere), Grouping.ROOT)
    assert restorable(next(one for one in section.children if one.finding is not None)) == {}


@pytest.mark.parametrize(
    ("base", "words"),
    [
        (SideName("empty", "HEAD", None), "there is no commit yet"),
        (SideName("file", "a.hcl", None), "there is no commit yet"),
    ],
)
def test_there_is_nothing_to_restore_from(samples: Samples, base: SideName, words: str) -> None:
    review = replace(samples.full(), base=base)
    with pytest.raises(LockLensError, match=words):
        restoring(node(review, "acme/netbox"), review, where)


@pytest.mark.parametrize(
    ("head", "top", "words"),
    [
        (SideName("git", "main", "0" * 40), TOP, "two revisions are compared"),
        (SideName("index", "index", None), TOP, "git's index is reviewed"),
        (SideName("file", "-", None), None, "this review is not of files on disk"),
        (SideName("empty", "/dev/null", None), TOP, "this review is not of files on disk"),
    ],
)
def test_only_the_work_tree_is_written(samples: Samples, head: SideName, top: Path | None, words: str) -> None:
    review = replace(samples.full(), head=head)
    with pytest.raises(LockLensError, match=words):
        writable(review, top)
    with pytest.raises(LockLensError, match="nothing loaded yet"):
        writable(None, top)


def test_pruning_the_orphan_or_all_of_the_root(samples: Samples) -> None:
    orphan = samples.change("acme/orphan", findings=(samples.finding("LK007", Severity.WARN),))
    review = samples.review(
        samples.root("a", [orphan, samples.change("acme/other", "1.0.0", "1.1.0")]), samples.root("b", [orphan])
    )
    assert pruning(node(review, "acme/orphan"), where) == Prune(where(("a", "b")), ("acme/orphan",))
    assert pruning(node(review, "acme/other"), where) == Prune(where(("a",)))
    assert pruning(node(review, "in several roots"), where).where.roots == ("./a", "./b")
    assert pruning(node(review, "acme/orphan"), where).title == "Prune acme/orphan in 2 roots"


def test_formatting(samples: Samples) -> None:
    full = samples.full()
    assert formatting(node(full, "LK018"), where) == Format(where(("infra/win",)))
    assert formatting(node(full, "infra/win"), where).title == "Format the lock file of ./infra/win"
    with pytest.raises(LockLensError, match="select a row"):
        formatting(None, where)
    other = replace(full.roots[0], lock_file="infra/old.hcl")
    odd = replace(full, roots=(other,))
    with pytest.raises(LockLensError, match=r"old\.hcl is not a root's lock file"):
        formatting(node(odd, "acme/netbox"), where)


def hashed(samples: Samples, root: RootReview, name: str, *platforms: str) -> RootReview:
    """The root with an `h1` for each platform added to one of its changes."""
    facts = tuple(HashFact(f"{H1}{number}=", platform, Proof.COMPUTED) for number, platform in enumerate(platforms))
    changes = tuple(
        replace(
            one,
            added=(*one.added, *facts),
            new=one.new and replace(one.new, hashes=(*one.new.hashes, *(fact.hash for fact in facts))),
        )
        if str(one.address).endswith(name)
        else one
        for one in root.changes
    )
    return replace(root, changes=changes)


def test_locking_what_others_of_the_file_have(samples: Samples) -> None:
    root = samples.root("a", [samples.change("acme/one"), samples.change("acme/two"), samples.change("acme/three")])
    root = hashed(samples, hashed(samples, root, "acme/one", "linux_amd64", "darwin_arm64"), "acme/two", "linux_amd64")
    review = samples.review(root)
    chosen = {(root.lock_file, samples.address(f"acme/{name}")) for name in ("one", "two")}
    assert hashed_platforms(review, chosen) == (
        {"darwin_arm64": 1, "linux_amd64": 2},
        frozenset({"darwin_arm64", "linux_amd64"}),
    )
    darwin = read_platforms("darwin_arm64")
    found = lock_missing(review, chosen, where, darwin)
    assert isinstance(found, Lock)
    assert found.platforms == darwin
    assert found.providers == ("registry.terraform.io/acme/two",)
    assert found.where == where(("a",))
    with pytest.raises(LockLensError, match=r"each provider has an h1 of darwin_arm64 already$"):
        lock_missing(review, {(root.lock_file, samples.address("acme/one"))}, where, darwin)


def test_a_chosen_platform_without_a_package_is_left_out_by_name(samples: Samples) -> None:
    change = samples.change("acme/one")
    signed = tuple(replace(fact, proof=Proof.SIGNED) for fact in change.added)
    change = replace(change, added=signed, evidence=Evidence(offered=("linux_amd64",)))
    root = samples.root("a", [change])
    chosen = {(root.lock_file, samples.address("acme/one"))}
    both = lock_missing(samples.review(root), chosen, where, read_platforms("linux_amd64 windows_arm64"))
    assert isinstance(both, LockMissing)
    assert [part.platforms for part in both.parts] == [read_platforms("linux_amd64")]
    assert [one.sentence.rpartition(": ")[2] for one in both.left_out] == ["5.2.0 has no package for windows_arm64"]
    with pytest.raises(LockLensError, match=r"nothing to lock: a: .*acme/one: .* has no package for windows_arm64$"):
        lock_missing(samples.review(root), chosen, where, read_platforms("windows_arm64"))


async def test_what_another_tool_generates_is_not_locked_and_no_platform_is_asked_for(
    running: Running, tmp_path: Path
) -> None:
    declared = {"b/main.tf": b'terraform {\n  required_providers {\n    aws = { source = "acme/aws" }\n  }\n}\n'}
    locks = {f"{root}/{LOCK_FILE}": lock(entry("aws", f"{number}.0.0")) for number, root in enumerate("ab", 1)}
    top = repository(tmp_path / "top", {"a/terragrunt.hcl": b"", **locks, **declared})
    words = "no configuration in this folder, terragrunt.hcl generates it"
    with DemoRegistry() as registry, Cache.in_memory() as cache:
        network = NetworkSettings(environ_of(registry, tmp_path), cache)
        async with running(LockLens(ReviewRequest(partial(open_git, top), network=network))) as on:
            await on.press("3")
            await on.settle()
            screen = on.app.screen
            assert isinstance(screen, HashesScreen)
            await on.press("g", "j")
            await until(on, lambda: screen.review is not None and not screen.is_asking)
            assert "L lock" not in on.lines[-1]
            await on.press("L")
            assert f"lock: a: {words}" in on.lines[-2]
            assert isinstance(on.app.screen, HashesScreen), "no dialog asks for platforms"
            assert screen.review is not None
            entries = {(root.lock_file, change.address) for root in screen.review.roots for change in root.changes}
            assert why_not_locked(screen.review, entries) == ""
            with pytest.raises(LockLensError, match=f"nothing to lock: a: .*aws: {words}; `terragrunt providers lock`"):
                lock_missing(
                    screen.review,
                    {one for one in entries if one[0] == f"a/{LOCK_FILE}"},
                    where,
                    read_platforms("linux_arm64"),
                )
            found = lock_missing(screen.review, entries, where, read_platforms("linux_arm64"))
            assert isinstance(found, LockMissing)
            assert [part.where.roots for part in found.parts] == [where(("b",)).roots]
            assert [one.root for one in found.left_out] == ["a"]


async def test_restore_is_offered_where_the_base_has_the_lock_file_of_a_root_that_is_there(
    running: Running, tmp_path: Path
) -> None:
    locked = {"before": "vault", "changed": "aws", "emptied": "null", "removed": "random"}
    files = {f"{name}/{LOCK_FILE}": lock(entry(provider)) for name, provider in locked.items()}
    files |= {f"{name}/main.tf": b"" for name in locked}
    top = repository(tmp_path / "top", files)
    unlike = lock(*(entry(name) for name in ("tls", "http", "local", "time", "google")))  # no moved one
    put(top, {f"changed/{LOCK_FILE}": lock(entry("aws", "2.0.0")), f"added/{LOCK_FILE}": unlike})
    (top / "emptied" / LOCK_FILE).unlink()
    shutil.rmtree(top / "removed")
    (top / "before").rename(top / "moved")
    put(top, {f"moved/{LOCK_FILE}": lock(entry("vault", "2.0.0"))})
    said = {
        "added": f"restore: the base has no added/{LOCK_FILE}",
        "removed": "restore: removed is no root any more: git restores its files",
    }
    source = LockLens(ReviewRequest(partial(open_git, top)))
    async with running(source, size=(240, 40)) as on:
        assert {row.node.title for row in on.changes.rows if not row.depth} >= {"changed", "emptied", "moved", *said}
        for name in ("changed", "emptied", "moved", *said):
            await on.go_to(name)
            assert ("R restore" in on.lines[-1]) == (name not in said), name
            if name in said:
                await on.press("R")
                assert said[name] in on.lines[-2]


async def test_on_a_removed_root_only_keys_that_act_there_are_offered_and_the_others_say_why(
    running: Running, tmp_path: Path
) -> None:
    files = {f"{name}/{LOCK_FILE}": lock(entry(provider)) for name, provider in (("emptied", "null"), ("gone", "tls"))}
    top = repository(tmp_path / "top", files | {f"{name}/main.tf": b"" for name in ("emptied", "gone")})
    (top / "emptied" / LOCK_FILE).unlink()
    shutil.rmtree(top / "gone")
    said = {
        "emptied": {"P": f"prune: there is no emptied/{LOCK_FILE}", "F": f"format: there is no emptied/{LOCK_FILE}"},
        "gone": {
            "P": "prune: gone is no root any more",
            "F": "format: gone is no root any more",
            "M": "merge: gone is no root any more",
            "R": "restore: gone is no root any more: git restores its files",
            "i": "diagnose: gone is no root any more",
        },
        "hashicorp/tls": {"i": "diagnose: gone is no root any more", "L": "lock: hashicorp/tls is no longer locked"},
    }
    with DemoRegistry() as registry:
        network = NetworkSettings(environ_of(registry, tmp_path), Cache.in_memory())
        source = LockLens(ReviewRequest(partial(open_git, top), network=network))
        async with running(source, size=(240, 40)) as on:
            for name, refused in said.items():
                await on.go_to(name)
                for key, words in refused.items():
                    assert key in on.screen.idle_keys, (name, key)
                    await on.press(key)
                    assert on.is_on_top, (name, key)
                    assert words in on.lines[-2], (name, key)
            await on.go_to("emptied")
            assert "i" not in on.screen.idle_keys


async def test_lock_says_why_a_row_has_nothing_to_lock(running: Running, tmp_path: Path) -> None:
    conflict = b"<<<<<<< ours\n" + lock(entry("tls")) + b"=======\n" + lock(entry("tls", "2.0.0")) + b">>>>>>> theirs\n"
    files = {f"{name}/{LOCK_FILE}": lock(entry("null")) for name in "ab"}
    top = repository(tmp_path / "top", files | {"a/main.tf": requiring("null"), "b/main.tf": requiring("null")})
    edited = requiring("null", "random").replace(b'corp/null"', b'corp/null", version = "~> 2.0"')
    put(top, {"a/main.tf": edited, f"b/{LOCK_FILE}": conflict})
    said = {
        "LK005": "the entry of hashicorp/null is unchanged: 3 Hashes lists it",
        "LK006": "hashicorp/random is not locked: on 5 Health, L locks what is required",
        "a": "no change of a provider on this row: 3 Hashes lists all that is locked",
        "b": f"b/{LOCK_FILE} is in conflict: M merges it",
    }
    with DemoRegistry() as registry:
        network = NetworkSettings(environ_of(registry, tmp_path), Cache.in_memory())
        async with running(LockLens(ReviewRequest(partial(open_git, top), network=network)), size=(240, 40)) as on:
            for name, words in said.items():
                await on.go_to(name)
                for key, action in (("L", "lock"), ("v", "verify")):
                    assert key in on.screen.idle_keys, (name, key)
                    await on.press(key)
                    assert f"{action}: {words}" in on.lines[-2], (name, key)
            await on.press("slash", *"nothing", "enter", "L")
            assert "lock: no row is listed" in on.lines[-2]


async def test_upgrade_goes_to_a_removed_provider_that_is_still_required(running: Running, tmp_path: Path) -> None:
    locked = lock(entry("null"), entry("tls"))
    top = repository(tmp_path / "top", {f"a/{LOCK_FILE}": locked, "a/main.tf": requiring("tls")})
    put(top, {f"a/{LOCK_FILE}": b"# none\n"})
    with DemoRegistry() as registry:
        network = NetworkSettings(environ_of(registry, tmp_path), Cache.in_memory())
        async with running(LockLens(ReviewRequest(partial(open_git, top), network=network)), size=(240, 40)) as on:
            await on.go_to("hashicorp/null")
            assert "U" in on.screen.idle_keys
            await on.press("U")
            assert "upgrade: this row names no provider that is locked or required" in on.lines[-2]
            await on.go_to("hashicorp/tls")
            assert "U" not in on.screen.idle_keys
            await on.press("U")
            upgrades = on.app.screen
            assert isinstance(upgrades, UpgradeScreen)
            await until(on, lambda: upgrades.row is not None and upgrades.row.is_of_provider)
            assert upgrades.row is not None
            assert [offer.address.type for offer in upgrades.row.offers] == ["tls"]


async def test_upgrade_goes_to_the_provider_of_a_finding_without_a_change(running: Running, tmp_path: Path) -> None:
    locked = lock(entry("null"), entry("tls"))
    top = repository(tmp_path / "top", {f"a/{LOCK_FILE}": locked, "a/main.tf": requiring("null", "tls")})
    put(top, {"a/main.tf": requiring("null") + b'provider "tls" {\n  version = "~> 99.0"\n}\n'})
    with DemoRegistry() as registry:
        network = NetworkSettings(environ_of(registry, tmp_path), Cache.in_memory())
        async with running(LockLens(ReviewRequest(partial(open_git, top), network=network)), size=(240, 40)) as on:
            await on.go_to("LK005")
            assert "U" not in on.screen.idle_keys
            await on.press("U")
            upgrades = on.app.screen
            assert isinstance(upgrades, UpgradeScreen)
            await until(on, lambda: upgrades.row is not None and upgrades.row.is_of_provider)
            assert upgrades.row is not None
            assert [offer.address.type for offer in upgrades.row.offers] == ["tls"]
