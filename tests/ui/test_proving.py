"""Proving by download: the question, the progress, the cancel, the result."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from msgspec.structs import replace
from ui.conftest import until

from locklens.review.model import Change, Evidence, HashFact, Proof, Review, RootReview
from locklens.workspace.events import PackageArriving, PackageDone, ProvingPlanned, RootsKnown

if TYPE_CHECKING:
    from collections.abc import Callable

    from ui.conftest import Running, Samples, ServingSource

    from locklens.workspace.events import Event

H1 = "h1:" + "A" * 43 + "="
PLAN = ProvingPlanned(hashes=1, likely=2, likely_bytes=3 << 20, at_most=5)


def unproven(samples: Samples, name: str = "acme/demo", proof: Proof = Proof.UNKNOWN) -> Change:
    change = samples.change(name)
    assert change.new is not None
    new = replace(change.new, hashes=(*change.new.hashes, H1))
    added = (*(replace(fact, proof=Proof.SIGNED) for fact in change.added), HashFact(H1, None, proof))
    explained = sum(fact.is_explained for fact in added)
    evidence = Evidence("2026-11-21T14:02:09Z", to_prove=5, to_prove_bytes=3 << 20)
    return replace(change, new=new, added=added, explained=explained, evidence=evidence)


def reviewed(samples: Samples, proof: Proof = Proof.UNKNOWN) -> Review:
    return samples.review(
        samples.root("infra/prod", [unproven(samples, proof=proof)]),
        samples.root("infra/stage", [unproven(samples, proof=proof)]),
        samples.root("infra/ci", [unproven(samples, "acme/other", proof=proof)]),
    )


def proving_roots(samples: Samples, review: Review) -> tuple[RootReview, ...]:
    proven = {root.lock_file: root for root in reviewed(samples, Proof.COMPUTED).roots}
    return tuple(proven[root.lock_file] for root in review.roots[:2])


async def test_it_asks_downloads_and_fills_the_rows(
    samples: Samples, running: Running, serving: type[ServingSource]
) -> None:
    gate, seen = threading.Event(), []

    def work(
        review: Review, confirm: Callable[[ProvingPlanned], bool], on_event: Callable[[Event], None], cancel: object
    ) -> tuple[RootReview, ...]:
        seen.append(confirm(PLAN))
        on_event(PackageArriving("demo 5.2.0 linux_amd64", 1 << 20, 2 << 20))
        on_event(PackageArriving("demo 5.2.0 darwin_arm64", 1 << 10, None))
        gate.wait(10)
        on_event(PackageDone("demo 5.2.0 linux_amd64", 2 << 20))
        on_event(PackageDone("demo 5.2.0 darwin_arm64", 2 << 20))
        roots = proving_roots(samples, review)
        on_event(RootsKnown(roots))
        return roots

    source = serving(reviewed(samples), proving=work)
    async with running(source) as on:
        assert "4/5" in on.text
        await on.go_to("acme/demo")
        await on.press("v")
        await until(on, lambda: "To download: 2 packages, 3.0 MiB, to prove 1 h1." in on.text)
        assert "At most 5" in on.text
        assert "enter download" in on.text
        assert not seen
        await on.press("enter")
        await until(on, lambda: "#####..... " in on.text)
        assert "50 %" in on.text
        assert "1.0 MiB of 2.0 MiB" in on.text
        assert "demo 5.2.0 darwin_arm64" in on.text
        assert "esc cancel" in on.text
        gate.set()
        await until(on, lambda: on.is_on_top)
        await on.pilot.pause()
        assert "1 of 1 h1 proven" in on.text
        assert "5/5" in on.text
        assert "4/5" in on.text
        assert seen == [True]
    assert source.proofs == [
        frozenset((f"infra/{name}/.terraform.lock.hcl", samples.address("acme/demo")) for name in ("prod", "stage"))
    ]
