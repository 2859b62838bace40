"""What is said of hashes, signers and registries: pure, without a screen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec
import pytest
from msgspec.structs import replace

import locklens.review
from locklens.hashes import registry_manifests
from locklens.lines import Role, Span
from locklens.operations.reports import render_report
from locklens.operations.review.request import Progress
from locklens.review import PROOF_KINDS, HashCount, HashFact, Proof
from locklens.review.model import ChangeKind, Evidence, HostState, LookupAnswer
from locklens.review.reports import hash_words
from locklens.review.reports.evidence_lines import clock, evidence_lines, hash_lines, host_words, why_unknown
from locklens.review.reports.lock_lines import fingerprint_line, grouped, key_lines, signer_change_lines
from locklens.trust import Signer, SigningKey, Tier
from locklens.ui.phrases import unverified_of
from locklens.ui.review.outline import REVIEW_GRAMMAR, Candidate
from locklens.ui.shell import Throttle
from locklens.ui.shell.bars import lookup_parts, note_lines, registry_lines
from locklens.ui.shell.filtering import parse_filter
from locklens.ui.shell.review_loader import renewed, with_roots

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ui.conftest import Samples

    from locklens.lines import Line
    from locklens.review import ProofKind
    from locklens.review.model import Change

AS_OF = "2026-11-21T14:02:09Z"
OLD_KEY = "7B1F0A9355E240CD9A1E88B42517E112C2EC7068"
NEW_KEY = "C4D06E1B0F7299A831BC5D07175D017BEC06E6BD"


def key(fingerprint: str = OLD_KEY, **more: object) -> SigningKey:
    values = {"user_ids": ("alice <alice@acme.example>",), "algorithm": "RSA 4096", "created": "2023-05-10T00:00:00Z"}
    return SigningKey(fingerprint, **{**values, "expires": None, "expired": False, "revoked": False, **more})  # type: ignore[arg-type]


def texts(lines: Iterable[Line]) -> str:
    return "\n".join(line.text for line in lines)


def with_proofs(change: Change, *proofs: Proof, platform: str | None = None, **more: object) -> Change:
    added = tuple(
        replace(fact, proof=proof, platform=platform) for fact, proof in zip(change.added, proofs, strict=True)
    )
    return replace(change, added=added, **{"evidence": Evidence(AS_OF), **more})


def h1(number: int, proof: Proof, platform: str | None = None) -> HashFact:
    return HashFact(f"h1:{number:042}0=", platform, proof)


def test_a_row_says_how_many_hashes_are_not_verified(samples: Samples) -> None:
    def short(change: Change, *, is_asking: bool = False) -> str:
        return unverified_of([change], is_asking=is_asking).text

    signed, unknown = Proof.SIGNED, Proof.UNKNOWN
    change = samples.change()
    asked = replace(change, evidence=None)
    assert short(asked, is_asking=True) == "… of 4"
    assert short(asked) == "? of 4"
    assert short(with_proofs(change, signed, signed, signed, unknown)) == "1 of 4"
    troubled = Evidence(AS_OF, ("the list of versions is not known",))
    assert short(with_proofs(change, signed, signed, signed, signed, evidence=troubled)) == "0 of 4!"
    assert short(replace(change, evidence=Evidence(None, ("it is down",), answer=LookupAnswer.FAILED))) == "4 of 4!"
    nobody = Evidence(None, ("it was not asked",), answer=LookupAnswer.NOT_ASKED)
    assert short(replace(change, evidence=nobody)) == "4 of 4!"
    reported = with_proofs(change, signed, signed, Proof.REPORTED, Proof.MIRROR)
    assert unverified_of([reported], is_asking=False) == Span("2 of 4", Role.WARN), "nobody signed these"
    assert unverified_of([with_proofs(change, *[signed] * 4)], is_asking=False) == Span("0 of 4", Role.GOOD)
    assert short(samples.change(new=None, kind=ChangeKind.REMOVED)) == ""
    assert (
        short(replace(samples.change("a/b", "1.0.0", "1.0.0", kind=ChangeKind.CONSTRAINTS_ONLY), evidence=Evidence()))
        == ""
    )


def test_a_group_says_what_is_worst_in_it(samples: Samples) -> None:
    whole = with_proofs(samples.change(), *[Proof.SIGNED] * 4)
    half = with_proofs(samples.change(), *[Proof.SIGNED] * 2, *[Proof.UNKNOWN] * 2)
    asked = replace(samples.change(), evidence=None)
    failed = replace(samples.change(), evidence=Evidence(None, ("no",), answer=LookupAnswer.FAILED))
    for changes, expected in (
        ((whole, half), "2 of 4"),
        ((whole, failed, half), "4 of 4!"),
        ((failed, asked), "… of 4"),
    ):
        assert unverified_of(changes, is_asking=True).text == expected


def test_the_evidence_of_a_package_published_again(samples: Samples) -> None:
    manifest = HashFact(next(iter(registry_manifests())), None, Proof.SIGNED)
    change = samples.change("acme/demo", "1.0.0", "1.0.0", kind=ChangeKind.REPLACED_HASHES)
    change = replace(
        change,
        added=(
            *(replace(fact, proof=Proof.SIGNED) for fact in change.added),
            h1(1, Proof.COMPUTED, "linux_amd64"),
            h1(2, Proof.UNKNOWN),
        ),
        removed=tuple(replace(fact, proof=Proof.STALE) for fact in change.removed),
        kept=(manifest,),
        new_signer=Signer(Tier.SELF_SIGNED, (key(),), "1.0.0"),
        evidence=Evidence(
            AS_OF,
            to_prove=3,
            to_prove_bytes=3 << 20,
            offered=("linux_amd64", "linux_arm64", "darwin_arm64", "windows_amd64"),
            hashed=("linux_amd64",),
        ),
    )
    offline = samples.review(samples.root("r", [change]))
    lines = [line.text for line in evidence_lines(change, offline, is_asking=False)]
    assert "    run without --offline to verify the h1: up to 3 package downloads, 3.0 MiB" in lines
    lines = [line.text for line in evidence_lines(change, replace(offline, offline=False), is_asking=False)]
    assert "  base packages still listed  0 of 4   14:02" in lines
    assert "  packages in SHA256SUMS      4 of 4   14:02" in lines
    assert "  h1 computed from packages   1 of 2   14:02  linux_amd64" in lines
    assert "  h1 not verified             1 of 2   14:02" in lines
    assert "    press v to verify the h1: up to 3 package downloads, 3.0 MiB" in lines
    without = replace(change, added=tuple(replace(fact, proof=Proof.UNKNOWN) for fact in change.added), new_signer=None)
    lines = [line.text for line in evidence_lines(without, offline, is_asking=False)]
    assert [one for one in lines if "not verified" in one] == [
        "  zh not verified             4 of 4   14:02",
        "  h1 not verified             2 of 2   14:02",
    ]
    reported = replace(
        change,
        added=(*change.added[:-1], h1(2, Proof.REPORTED, "darwin_amd64")),
        evidence=Evidence(AS_OF, offered=("linux_amd64",), hashed=("linux_amd64",)),
    )
    lines = [line.text for line in evidence_lines(reported, replace(offline, offline=False), is_asking=False)]
    assert "h1 not verified" not in "\n".join(lines)
    assert "    press v to verify the h1: up to 1 package download" in lines, "as the key line offers it"
    hashes = texts(hash_lines(change, is_asking=False, in_full=False))
    assert hashes.count("STALE") == 4
    assert hashes.count("UNKNOWN") == 1
    assert "manifest" not in hashes
    assert f"= {manifest.hash}  manifest      signed" in texts(hash_lines(change, is_asking=False, in_full=True))


def test_a_new_version_has_no_base_to_compare_with(samples: Samples) -> None:
    change = with_proofs(samples.change(), *[Proof.SIGNED] * 4, new_signer=Signer(Tier.OFFICIAL, (key(),), "5.2.0"))
    text = texts(evidence_lines(change, samples.review(), is_asking=False))
    assert "base packages" not in text
    assert "packages in SHA256SUMS      4 of 4" in text


def test_an_answer_of_another_day_has_its_date(samples: Samples) -> None:
    evidence = Evidence("2026-11-20T09:00:00Z")
    change = with_proofs(
        samples.change(), *[Proof.SIGNED] * 4, evidence=evidence, new_signer=Signer(Tier.OFFICIAL, (key(),))
    )
    assert "2026-11-20 09:00" in texts(evidence_lines(change, samples.review(), is_asking=False))
    assert clock("no moment", "2026") == "no moment"


def test_what_is_not_known_is_said_with_its_hint(samples: Samples) -> None:
    evidence = Evidence(None, ("acme.example: it is down",), "try again", LookupAnswer.FAILED)
    change = replace(samples.change(), evidence=evidence)
    review = samples.review()
    text = texts(evidence_lines(change, review, is_asking=False))
    assert "unknown  acme.example: it is down" in text
    assert "-> try again" in text
    assert "SHA256SUMS" not in text
    assert why_unknown(change, review, is_asking=False) == "the registry did not answer"


def test_checksums_that_nobody_vouches_for_are_not_counted(samples: Samples) -> None:
    change = with_proofs(samples.change(), *[Proof.UNKNOWN] * 4, new_signer=Signer(Tier.UNKNOWN, (), "5.2.0"))
    text = texts(evidence_lines(change, samples.review(), is_asking=False))
    assert "SHA256SUMS not authenticated" in text
    assert "0 of 4" not in text
    unsigned = with_proofs(samples.change(), *[Proof.REPORTED] * 4, new_signer=Signer(Tier.UNSIGNED, (), "5.2.0"))
    shown = texts(evidence_lines(unsigned, samples.review(), is_asking=False))
    assert "4 of 4   14:02  unsigned" in shown
    hashed = replace(unsigned, added=(h1(1, Proof.REPORTED),))
    shown = texts(evidence_lines(hashed, samples.review(), is_asking=False))
    assert "h1 reported, unsigned       1 of 1" in shown, "that it was hashed here verifies nothing"


def test_an_unknown_signer_is_like_no_other() -> None:
    of_old, of_new = Signer(Tier.UNKNOWN, (), "1.0.0"), Signer(Tier.UNKNOWN, (), "2.0.0")
    both = texts(signer_change_lines(of_old, of_new, unknown="not asked"))
    assert both == "SIGNER       unknown: the release is not authenticated\n  before: 1.0.0 is unknown"
    unsigned = texts(signer_change_lines(of_old, Signer(Tier.UNSIGNED, (), "2.0.0"), unknown=""))
    assert "1.0.0" not in unsigned
    signed = Signer(Tier.PARTNER, (key(),), "1.0.0")
    assert "differs" not in texts(signer_change_lines(signed, of_new, unknown=""))


def test_while_asking_nothing_is_called_unknown(samples: Samples) -> None:
    change = replace(samples.change(), evidence=None)
    network = [
        *evidence_lines(change, samples.review(), is_asking=True),
        *hash_lines(change, is_asking=True, in_full=False),
    ]
    assert "… asking the registry" in texts(network)
    assert "UNKNOWN" not in texts(network)
    assert "unknown: not settled when the review ended" in texts(
        evidence_lines(change, samples.review(), is_asking=False)
    )


def test_fingerprints_are_grouped_for_the_eye_and_whole_for_the_clipboard() -> None:
    assert grouped(OLD_KEY) == "7B1F 0A93 55E2 40CD 9A1E 88B4 2517 E112 C2EC 7068"
    line = fingerprint_line(key())
    assert grouped(OLD_KEY) in line.text
    assert line.copied == OLD_KEY


def test_a_key_says_what_is_wrong_with_it() -> None:
    assert "RSA 4096, created 2023-05-10, no expiry" in texts(key_lines(key()))
    assert "expires 2027-01-01" in texts(key_lines(key(expires="2027-01-01T00:00:00Z")))
    wrong = texts(key_lines(key(expires="2025-01-01T00:00:00Z", expired=True, revoked=True)))
    assert "EXPIRED 2025-01-01, REVOKED" in wrong
    assert "no user ID" in texts(key_lines(key(user_ids=())))
    assert "and 45 more names" in texts(key_lines(key(user_ids=("x",) * 50)))


def signed(samples: Samples, old: Signer | None, new: Signer | None) -> list[str]:
    change = replace(samples.change(), old_signer=old, new_signer=new)
    return [
        line.text for line in signer_change_lines(change.old_signer, change.new_signer, unknown="no signer reported")
    ]


def test_the_same_signer_is_named_once(samples: Samples) -> None:
    lines = signed(samples, Signer(Tier.PARTNER, (key(),), "5.1.0"), Signer(Tier.PARTNER, (key(),), "5.2.0"))
    assert lines[0] == "SIGNER       partner, same key as 5.1.0  HashiCorp signed the publisher's key"
    assert sum(grouped(OLD_KEY) in line for line in lines) == 1


def test_another_signer_stands_below_the_one_before(samples: Samples) -> None:
    old, new = Signer(Tier.PARTNER, (key(),), "5.1.0"), Signer(Tier.SELF_SIGNED, (key(NEW_KEY),), "5.2.0")
    lines = signed(samples, old, new)
    assert lines[0].startswith("SIGNER       different key than 5.1.0")
    assert lines[1:3] == [f"- {grouped(OLD_KEY)}", f"+ {grouped(NEW_KEY)}"]
    assert any(line.startswith("- 5.1.0  partner") for line in lines)
    assert any(line.startswith("+ 5.2.0  self-signed") for line in lines)


def test_a_release_next_to_a_republished_one_is_not_called_the_old_one(samples: Samples) -> None:
    near, new = Signer(Tier.PARTNER, (key(),), "5.3.0"), Signer(Tier.PARTNER, (key(),), "5.2.0")
    other = replace(new, keys=(key(NEW_KEY),))

    def first(new: Signer | None) -> str:
        return " / ".join(line.text for line in signer_change_lines(None, new, unknown="", neighbour=near))

    assert first(new).startswith("SIGNER       partner, same key as the nearest release, 5.3.0  ")
    assert first(other).startswith("SIGNER       different key than the nearest release, 5.3.0  ")
    assert "/   the nearest release, 5.3.0 is partner" in first(None)
    change = replace(samples.change(), neighbour_signer=near, new_signer=new)
    report = render_report("review", "json", samples.review(samples.root("a", [change])))
    signer = msgspec.json.decode(str(report))["roots"][0]["changes"][0]["signer"]
    assert (signer["old"], signer["neighbour"]["version"]) == (None, "5.3.0")


def test_a_signer_that_is_lost_or_not_known(samples: Samples) -> None:
    lost = signed(samples, Signer(Tier.PARTNER, (key(),), "5.1.0"), Signer(Tier.UNSIGNED, (), "5.2.0"))
    assert "differs from 5.1.0" in lost[0]
    assert f"- {grouped(OLD_KEY)}" in lost
    assert any(line.startswith("+ 5.2.0  unsigned") for line in lost)
    assert signed(samples, None, None) == ["SIGNER       unknown: no signer reported"]
    before = signed(samples, Signer(Tier.PARTNER, (key(),), "5.1.0"), None)
    assert before[0] == "SIGNER       unknown: no signer reported"
    assert any("5.1.0 is partner" in line for line in before)
    unsigned = signed(samples, Signer(Tier.UNSIGNED, (), "5.1.0"), Signer(Tier.UNSIGNED, (), "5.2.0"))
    assert unsigned[0].startswith("SIGNER       unsigned, as 5.1.0")


@pytest.mark.parametrize(
    ("host", "offline", "expected"),
    [
        (HostState("a.example", True, AS_OF), False, "as of 14:02 UTC"),
        (HostState("a.example", True, None, "a.example: it is down"), False, "failed: it is down"),
        (HostState("a.example", True, AS_OF, "it is down"), False, "as of 14:02 UTC, then failed: it is down"),
        (HostState("a.example", True), False, "answered"),
        (HostState("a.example", False), False, "not asked"),
        (HostState("a.example", False), True, "offline"),
        (HostState("a.example", False, AS_OF), True, "offline, cached as of 14:02 UTC"),
    ],
)
def test_what_came_of_asking_a_registry(samples: Samples, host: HostState, offline: bool, expected: str) -> None:
    review = replace(samples.review(), hosts=(host,), offline=offline)
    assert host_words(host, is_offline=offline, now=review.at) == expected
    assert f"a.example  {expected}" in texts(registry_lines(review, None))
    said = "".join(part.text for part in lookup_parts(review, None, is_narrowed=False))
    assert "no registry asked" not in said
    assert (said == "registries answered") is (expected == "answered")


def test_notes_stand_with_the_registries(samples: Samples) -> None:
    review = replace(samples.review(), hosts=(), limits=("signatures are not checked: gpg is not installed",))
    text = texts((*registry_lines(review, Progress("evidence", 3, 9)), *note_lines(review)))
    assert "checking registries: 3 of 9 done" in text
    assert "signatures are not checked" in text
    assert "none asked" in texts(registry_lines(replace(review, limits=()), None))


def test_hashes_kept_from_another_version_are_claims_of_this_one(samples: Samples) -> None:
    """A version that was edited by hand keeps its hashes: they are counted, listed and found like added ones."""
    change = replace(samples.change(), evidence=Evidence())
    assert change.old is not None
    assert change.new is not None
    kept = tuple(HashFact(text) for text in change.old.hashes)
    edited = replace(change, new=replace(change.new, hashes=change.old.hashes), added=(), removed=(), kept=kept)
    assert unverified_of([edited], is_asking=False).text == "4 of 4"
    assert samples.review(samples.root("", [edited])).hashes.unverified == 4
    shown = texts(hash_lines(edited, is_asking=False, in_full=False))
    assert "4 of 4 kept package hashes not verified" in shown
    assert shown.count("UNKNOWN") == 4
    assert parse_filter("proof:unknown", REVIEW_GRAMMAR).is_match(Candidate(samples.root(), edited))
    same = replace(edited, new=replace(edited.new, version=edited.old.version))  # type: ignore[type-var, union-attr]
    assert not unverified_of([same], is_asking=False).text


def test_what_is_said_by_proof_is_in_its_row() -> None:
    """Only the module that finds the proof of a hash names one; all others ask `PROOF_KINDS`, where another one counts."""
    rows = Path(locklens.review.__file__)
    named = {
        str(path.relative_to(rows.parents[1]))
        for path in rows.parents[1].rglob("*.py")
        if path != rows and re.search(r"\bProof\.[A-Z]", path.read_text("utf-8"))
    }
    assert named == {"review/evidence.py"}


def test_another_kind_of_explained_proof_is_neither_reported_nor_listed(
    samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each number asks for what it names: an explained proof may come from elsewhere than a registry or SHA256SUMS."""
    kinds = cast("dict[Proof, ProofKind]", PROOF_KINDS)
    monkeypatch.setitem(kinds, Proof.MIRROR, replace(PROOF_KINDS[Proof.MIRROR], is_explained=True))
    proofs = Proof.SIGNED, Proof.REPORTED, Proof.MIRROR, Proof.UNKNOWN
    change = with_proofs(samples.change(), *proofs, new_signer=Signer(Tier.PARTNER, (key(),)))
    change = replace(change, added=tuple(replace(fact, hash=f"zh:{n:064x}") for n, fact in enumerate(change.added)))
    assert change.hashes == HashCount(4, unverified=3, unexplained=1, reported=1)
    assert change.hashes.explained == 3
    assert hash_words(change.hashes, "added").endswith("(1 reported, unsigned)")
    (counted,) = (one for one in evidence_lines(change, samples.review(), is_asking=False) if "SHA256SUMS" in one.text)
    assert "packages in SHA256SUMS" in counted.text
    assert " 2 of 4 " in counted.text


def test_filtering_by_proof(samples: Samples) -> None:
    signed_, unknown = Proof.SIGNED, Proof.UNKNOWN
    good, bad = (
        with_proofs(samples.change(), *[signed_] * 4),
        with_proofs(samples.change(), signed_, signed_, signed_, unknown),
    )
    stale = replace(good, removed=tuple(replace(fact, proof=Proof.STALE) for fact in good.removed))
    asked = replace(bad, evidence=None)
    assert bad.new is not None
    kept = replace(bad, kind=ChangeKind.CONSTRAINTS_ONLY, old=bad.new, added=(), removed=(), kept=bad.added)
    root = samples.root()

    def found(text: str) -> list[bool]:
        narrowed = parse_filter(text, REVIEW_GRAMMAR)
        assert not narrowed.problem
        return [narrowed.is_match(Candidate(root, change)) for change in (good, bad, stale, asked, kept)]

    assert found("proof:unknown") == [False, True, False, False, True]
    assert found("proof:stale") == [False, False, True, False, False]
    assert found("proof:signed") == [True, True, True, False, True]
    assert "no proof begins with 'x'" in parse_filter("proof:x", REVIEW_GRAMMAR).problem
    signer = replace(good, new_signer=Signer(Tier.PARTNER, (key(NEW_KEY),)))
    assert parse_filter(NEW_KEY.lower(), REVIEW_GRAMMAR).is_match(Candidate(root, signer))
    assert parse_filter("alice@acme", REVIEW_GRAMMAR).is_match(Candidate(root, signer))
    for text in (f"signer:{NEW_KEY.lower()}", "signer:alice@acme"):
        assert parse_filter(text, REVIEW_GRAMMAR).is_match(Candidate(root, signer))
        assert not parse_filter(text, REVIEW_GRAMMAR).is_match(Candidate(root, bad))


def test_a_review_on_its_way_never_shows_less_than_before(samples: Samples) -> None:
    whole = samples.root(
        "a", [with_proofs(samples.change(), *[Proof.SIGNED] * 4)], configuration=samples.configuration()
    )
    draft = replace(whole, configuration=None, changes=tuple(replace(one, evidence=None) for one in whole.changes))
    read = replace(draft, configuration=whole.configuration)
    first = samples.review(draft)
    assert renewed(first, first, {}).roots == (draft,)
    assert renewed(first, first, {draft.lock_file: read}).roots == (read,)
    assert renewed(first, first, {draft.lock_file: whole}).roots == (whole,)
    shown = samples.review(whole)
    assert renewed(shown, first, {}).roots == (whole,)
    assert renewed(shown, first, {draft.lock_file: read}).roots == (whole,)
    again = replace(whole, changes=(replace(whole.changes[0], evidence=Evidence("2026-11-22T00:00:00Z")),))
    assert renewed(shown, first, {draft.lock_file: again}).roots == (again,)
    lock = replace(draft.new, data=b"edited")
    edited = replace(read, new=lock)
    assert renewed(shown, samples.review(replace(draft, new=lock)), {draft.lock_file: edited}).roots == (edited,)
    added = samples.root("b", [samples.change()])
    assert renewed(shown, samples.review(draft, added), {}).roots == (whole, added)
    assert renewed(samples.review(whole, added), first, {}).roots == (whole,)


def test_proven_roots_are_taken_unless_the_file_changed_meanwhile(samples: Samples) -> None:
    review = samples.review(samples.root("a"), samples.root("b"))
    proven = samples.root("b", configuration=samples.configuration())
    assert with_roots(review, [proven]).roots == (review.roots[0], proven)
    assert with_roots(review, [replace(proven, new=replace(proven.new, data=b"other"))]) == review


def test_builds_are_kept_apart() -> None:
    pace = Throttle(0.1)
    assert pace.wait(100.0) == 0.0
    pace.took(100.0, 100.01)
    assert pace.wait(100.01) == pytest.approx(0.09)
    assert pace.wait(100.2) == 0.0
    pace.took(200.0, 200.5)
    assert pace.wait(200.5) == pytest.approx(2.0), "what takes long to build is built less often"


def test_what_is_no_longer_locked_is_nothing_to_shout_about(samples: Samples) -> None:
    gone = samples.change(new=None, kind=ChangeKind.REMOVED)
    assert "unknown" not in texts(hash_lines(gone, is_asking=False, in_full=False)).lower()
    upgraded = with_proofs(samples.change(), *[Proof.SIGNED] * 4)
    text = texts(hash_lines(upgraded, is_asking=False, in_full=False))
    assert (text.count("unknown"), text.count("UNKNOWN")) == (4, 0)
