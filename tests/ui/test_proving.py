"""Proving by download: the question, the progress, the cancel, the result."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from kit.waiting import LIMIT
from msgspec.structs import replace
from ui.conftest import ServingSource, until

from locklens.demo import PLATFORMS
from locklens.errors import LockLensError, RunCancelledError
from locklens.operations.review.request import PackageDone, PackageDownloading, ProvingPlanned, RootsKnown
from locklens.review import HashFact, Proof
from locklens.review.model import Change, Evidence, LookupAnswer, Review, RootReview, Unverified
from locklens.trust import Signer, Tier
from locklens.ui.phrases import DownloadRow, download_lines
from locklens.ui.prove import nothing_to_prove, outcome, plan_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from ui.conftest import Running, Samples

    from locklens.operations.review.request import ReviewEvent

H1 = "h1:" + "A" * 43 + "="
PLAN = ProvingPlanned(hashes=1, likely=2, likely_bytes=3 << 20, at_most=5)


def unproven(samples: Samples, name: str = "acme/demo", proof: Proof = Proof.UNKNOWN) -> Change:
    change = samples.change(name)
    assert change.new is not None
    new = replace(change.new, hashes=(*change.new.hashes, H1))
    added = (*(replace(fact, proof=Proof.SIGNED) for fact in change.added), HashFact(H1, None, proof))
    evidence = Evidence("2026-11-21T14:02:09Z", offered=PLATFORMS, to_prove=5, to_prove_bytes=3 << 20)
    return replace(change, new=new, added=added, evidence=evidence)


def reviewed(samples: Samples, proof: Proof = Proof.UNKNOWN) -> Review:
    return samples.review(
        samples.root("infra/prod", [unproven(samples, proof=proof)]),
        samples.root("infra/stage", [unproven(samples, proof=proof)]),
        samples.root("infra/ci", [unproven(samples, "acme/other", proof=proof)]),
    )


def proving_roots(samples: Samples, review: Review) -> tuple[RootReview, ...]:
    proven = {root.lock_file: root for root in reviewed(samples, Proof.COMPUTED).roots}
    return tuple(proven[root.lock_file] for root in review.roots[:2])


async def test_it_asks_downloads_and_fills_the_rows(samples: Samples, running: Running) -> None:
    gate, seen = threading.Event(), []

    def work(
        review: Review,
        confirm: Callable[[ProvingPlanned], bool],
        on_event: Callable[[ReviewEvent], None],
        cancel: object,
    ) -> tuple[RootReview, ...]:
        seen.append(confirm(PLAN))
        on_event(PackageDownloading("demo 5.2.0 linux_amd64", 1 << 20, 2 << 20))
        on_event(PackageDownloading("demo 5.2.0 darwin_arm64", 1 << 10, None))
        gate.wait(LIMIT)
        on_event(PackageDone("demo 5.2.0 linux_amd64", 2 << 20))
        on_event(PackageDone("demo 5.2.0 darwin_arm64", 2 << 20))
        roots = proving_roots(samples, review)
        on_event(RootsKnown(roots))
        return roots

    source = ServingSource(reviewed(samples), proving=work)
    async with running(source) as on:
        assert "1 of 5" in on.text
        await on.go_to("acme/demo")
        await on.press("v")
        await until(on, lambda: "To download: 2 packages, 3.0 MiB, to verify 1 h1." in on.text)
        assert "Up to 5" in on.text
        assert "enter download" in on.text
        assert not seen
        await on.press("enter")
        await until(on, lambda: "#####..... " in on.text)
        assert "50 %" in on.text
        assert "1.0 MiB of 2.0 MiB" in on.text
        await until(on, lambda: "demo 5.2.0 darwin_arm64" in on.text)
        assert "esc cancel" in on.text
        gate.set()
        await until(on, lambda: on.is_on_top)
        await on.pilot.pause()
        assert "1 of 1 h1 verified" in on.text
        assert "0 of 5" in on.text
        assert "1 of 5" in on.text
        assert seen == [True]
    assert source.proofs == [
        frozenset((f"infra/{name}/.terraform.lock.hcl", samples.address("acme/demo")) for name in ("prod", "stage"))
    ]


async def test_enter_is_answered_while_there_is_nothing_to_agree_to(samples: Samples, running: Running) -> None:
    estimated, downloaded = threading.Event(), threading.Event()

    def work(review: Review, confirm: Callable[[ProvingPlanned], bool], *_: object) -> tuple[RootReview, ...]:
        estimated.wait(LIMIT)
        assert confirm(PLAN)
        downloaded.wait(LIMIT)
        return proving_roots(samples, review)

    async with running(ServingSource(reviewed(samples), proving=work), size=(80, 24)) as on:
        await on.go_to("acme/demo")
        await on.press("v", "enter")
        assert "enter does nothing before the size of the download is shown" in on.text
        estimated.set()
        await until(on, lambda: "enter download" in on.text)
        assert "does nothing" not in on.text
        assert "download: press enter again now" in on.text, "the answer may be there before the first one was read"
        await on.press("enter", "enter")
        assert "enter does nothing while packages are downloaded" in on.text
        assert "again now" not in on.text
        downloaded.set()
        await until(on, lambda: on.is_on_top)


async def test_nothing_is_downloaded_without_a_yes(samples: Samples, running: Running) -> None:
    answers: list[bool] = []

    def work(review: Review, confirm: Callable[[ProvingPlanned], bool], *_: object) -> tuple[RootReview, ...]:
        answers.append(confirm(PLAN))
        return ()

    async with running(ServingSource(reviewed(samples), proving=work), size=(80, 24)) as on:
        for key in ("escape", "q"):
            await on.go_to("acme/other")
            await on.press("v")
            await until(on, lambda: "enter download" in on.text)
            await on.press("j", "y", key)
            await until(on, lambda: on.is_on_top)
            assert "nothing was downloaded" in on.text
        assert answers == [False, False]


async def test_esc_stops_the_download_and_what_is_remembered_is_looked_up(samples: Samples, running: Running) -> None:
    stopped = threading.Event()

    def work(
        review: Review,
        confirm: Callable[[ProvingPlanned], bool],
        on_event: Callable[[ReviewEvent], None],
        cancel: threading.Event,
    ) -> tuple[RootReview, ...]:
        assert confirm(PLAN)
        on_event(PackageDone("demo 5.2.0 linux_amd64", 2 << 20))
        on_event(PackageDownloading("demo 5.2.0 darwin_arm64", 1 << 20, 2 << 20))
        assert cancel.wait(LIMIT)
        stopped.set()
        raise RunCancelledError("proving was cancelled")

    source = ServingSource(reviewed(samples), proving=work)
    async with running(source) as on:
        await on.go_to("acme/other")
        await on.press("v")
        await until(on, lambda: "enter download" in on.text)
        await on.press("enter")
        await until(on, lambda: "hashed" in on.text)
        count = len(source.opened)
        await on.press("escape")
        await until(on, lambda: on.is_on_top)
        assert stopped.is_set()
        assert "verification cancelled; hashes computed so far are cached" in on.text
        await until(on, lambda: len(source.opened) == count + 1)


async def test_quitting_stops_the_download(samples: Samples, running: Running) -> None:
    started, stopped = threading.Event(), threading.Event()

    def work(
        review: Review, confirm: Callable[[ProvingPlanned], bool], on_event: object, cancel: threading.Event
    ) -> tuple[RootReview, ...]:
        assert confirm(PLAN)
        started.set()
        assert cancel.wait(LIMIT)
        stopped.set()
        raise RunCancelledError("proving was cancelled")

    async with running(ServingSource(reviewed(samples), proving=work)) as on:
        await on.go_to("acme/other")
        await on.press("v")
        await until(on, lambda: "enter download" in on.text)
        await on.press("enter")
        await until(on, started.is_set)
        await on.press("ctrl+q")
    assert stopped.wait(LIMIT)


@pytest.mark.parametrize("text", ["[bold red]no[/]", "\x1b[31mred\x1b[0m", "x" * 300])
async def test_failures_stay_until_they_are_read(samples: Samples, running: Running, text: str) -> None:
    def work(
        review: Review,
        confirm: Callable[[ProvingPlanned], bool],
        on_event: Callable[[ReviewEvent], None],
        cancel: object,
    ) -> tuple[RootReview, ...]:
        confirm(PLAN)
        on_event(PackageDone(text, 0, f"{text}: the package is not the one that is signed"))
        on_event(PackageDone("demo 5.2.0 darwin_arm64", 2 << 20))
        return proving_roots(samples, review)

    async with running(ServingSource(reviewed(samples), proving=work), size=(80, 24)) as on:
        await on.go_to("acme/demo")
        await on.press("v")
        await until(on, lambda: "enter download" in on.text)
        await on.press("enter")
        await until(on, lambda: "1 of 1 h1 verified" in on.text)
        assert "FAILED" in on.text
        assert all(line.isprintable() and len(line) <= 80 for line in on.lines)
        assert not on.is_on_top
        await on.press("enter")
        assert on.is_on_top


async def test_what_cannot_be_proven_is_said(samples: Samples, running: Running) -> None:
    async with running(ServingSource(reviewed(samples, Proof.COMPUTED))) as on:
        await on.go_to("acme/other")
        await on.press("v")
        await until(on, lambda: "nothing to verify here: no h1 is left to compare with its package" in on.text)
        await on.go_to("infra/ci")
        await on.press("v")
        await until(on, lambda: on.is_on_top)

    def refuse(*_: object) -> tuple[RootReview, ...]:
        raise LockLensError("packages cannot be downloaded offline", hint="run without --offline")

    async with running(ServingSource(reviewed(samples), proving=refuse)) as on:
        await on.go_to("acme/other")
        await on.press("v")
        await until(
            on, lambda: "verification failed: packages cannot be downloaded offline; run without --offline" in on.text
        )


async def test_hashes_that_are_cached_by_now_are_taken_without_a_question(samples: Samples, running: Running) -> None:
    def work(review: Review, *_: object) -> tuple[RootReview, ...]:
        return proving_roots(samples, review)

    async with running(ServingSource(reviewed(samples), proving=work), size=(80, 24)) as on:
        assert "1 of 5" in on.text
        await on.go_to("acme/demo")
        await on.press("v")
        await until(on, lambda: on.is_on_top and "from cached hashes: 1 of 1 h1 verified" in on.text)
        assert "0 of 5" in on.text


async def test_rows_without_a_provider_and_reviews_on_their_way_are_refused(samples: Samples, running: Running) -> None:
    gate = threading.Event()
    source = ServingSource(samples.full(), gate=gate)
    async with running(source, settled=False) as on:
        await until(on, lambda: "hashicorp/null" in on.text)
        await on.go_to("hashicorp/null")
        await on.press("v")
        assert "verify: the lookup has not ended" in on.text
        await on.go_to("LK006")
        await on.press("v")
        assert "verify: no change of a provider on this row" in on.text
        gate.set()
        await on.settle()
        await on.go_to("hashicorp/template")
        await on.press("v")
        assert "verify: hashicorp/template is no longer locked" in on.text
        assert not source.proofs


async def test_a_section_stands_for_all_in_it(samples: Samples, running: Running) -> None:
    source = ServingSource(samples.full())
    async with running(source) as on:
        await on.go_to("infra/prod/network")
        await on.press("v")
        await until(on, lambda: bool(source.proofs) and on.is_on_top)
        assert {str(address) for _, address in source.proofs[0]} == {
            f"registry.terraform.io/{name}" for name in ("acme/demo", "acme/netbox", "datadog/datadog", "hashicorp/aws")
        } - {"registry.terraform.io/hashicorp/aws"}


def test_what_the_dialog_says_of_a_plan() -> None:
    def said(plan: ProvingPlanned) -> str:
        return "\n".join(line.text for line in plan_lines(plan))

    assert "To download: 1 package, size unknown, to verify 3 h1." in said(ProvingPlanned(3, 1, None, 1))
    assert "At most" not in said(ProvingPlanned(3, 1, None, 1))
    alone, some = (
        "\n".join(line.text for line in plan_lines(ProvingPlanned(3, 1, None, 1), unsigned)) for unsigned in (3, 1)
    )
    assert "to verify" not in alone
    assert "3 h1 of an unsigned release: a match does not verify it" in alone
    assert "to verify 2 h1." in some


def test_the_lines_of_packages() -> None:
    downloads = (
        DownloadRow("a", 0.0, 1 << 20, 2 << 20),
        DownloadRow("b", 0.0, 5 << 20, 4 << 20),
        DownloadRow("c", 9.0, 1 << 20),
        DownloadRow("d", 0.0, 2 << 20, 2 << 20, 2.0),
        DownloadRow("e", 0.0, 0, None, 1.0, "no"),
        DownloadRow("f", 10.0, 0, 1 << 20),
    )
    assert [line.text for line in download_lines(downloads, 10.0)] == [
        "a  #####.....  50 %  1.0 MiB of 2.0 MiB  102.4 KiB/s  10 s left",
        "b  ########## 100 %  5.0 MiB of 4.0 MiB  512.0 KiB/s  0 s left",
        "c  1.0 MiB  1.0 MiB/s",
        "d  hashed  2.0 MiB  1.0 MiB/s",
        "e  FAILED  no",
        "f  ..........   0 %  0 bytes of 1.0 MiB  0 bytes/s  0 s left",
    ]


def test_what_came_of_it(samples: Samples) -> None:
    before = reviewed(samples)
    chosen = frozenset((root.lock_file, change.address) for root in before.roots for change in root.changes)
    assert outcome(before, chosen, reviewed(samples, Proof.COMPUTED).roots) == "2 of 2 h1 verified"
    assert outcome(before, chosen, before.roots) == "0 of 2 h1 verified; see the findings for the others"
    malformed = HashFact("h1:bm90IGEgaGFzaA==", None, Proof.UNKNOWN)
    spoilt, whole = (
        tuple(
            replace(root, changes=tuple(replace(one, added=(*one.added, malformed)) for one in root.changes))
            for root in reviewed(samples, proof).roots
        )
        for proof in (Proof.UNKNOWN, Proof.COMPUTED)
    )
    assert outcome(replace(before, roots=spoilt), chosen, whole) == "2 of 2 h1 verified", "LK017 is about the other"
    *demo, other = before.roots
    unanswered = replace(other.changes[0], evidence=Evidence(problems=("it failed",), answer=LookupAnswer.FAILED))
    partly = replace(before, roots=(*demo, replace(other, changes=(unanswered,))))
    after = (*reviewed(samples, Proof.COMPUTED).roots[:2], partly.roots[2])
    words = "1 of 1 h1 verified; 1 more had no package to download; see the findings for the others"
    assert outcome(partly, chosen, after) == words, "the dialog announced 1 h1"
    assert nothing_to_prove(before, chosen) == "nothing can be verified: no signed package left to hash"
    nobody = Evidence(problems=("the registry was not asked",), answer=LookupAnswer.NOT_ASKED)
    older = Evidence(problems=("the registry does not list 1.4.1",))
    unchecked = Evidence(problems=("signatures cannot be checked: no gpg",), unverified=Unverified.NOT_AUTHENTICATED)
    for words, evidence, signer in (
        ("the registry was not asked", nobody, None),
        ("no signed package left to hash", older, Signer(Tier.OFFICIAL, (), "1.4.2")),
        ("signatures cannot be checked: no gpg", unchecked, Signer(Tier.UNKNOWN, (), "1.4.2")),
    ):
        review = replace(
            before,
            roots=tuple(
                replace(root, changes=tuple(replace(one, evidence=evidence, new_signer=signer) for one in root.changes))
                for root in before.roots
            ),
        )
        assert nothing_to_prove(review, chosen) == f"nothing can be verified: {words}"
    reported, nobody_signed = reviewed(samples, Proof.REPORTED), Signer(Tier.UNSIGNED, (), "1.4.2")
    assert outcome(reported, chosen, reviewed(samples, Proof.COMPUTED).roots) == "2 of 2 h1 verified"
    of_unsigned = tuple(
        replace(root, changes=tuple(replace(one, new_signer=nobody_signed) for one in root.changes))
        for root in reported.roots
    )
    assert outcome(before, chosen, of_unsigned) == "0 of 2 h1 verified; 2 hashed from an unsigned package: not verified"
