"""Whether a locked release is still the published one: the rules, one change at a time."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locklens.demo import MANIFEST, PLATFORMS, h1, zh
from locklens.demo.faults import Fault
from locklens.demo.published import publish
from locklens.demo.signing import publisher
from locklens.trust import SigningKey
from locklens.trust.checksums import Checksums, read_checksums
from locklens.trust.continuity import Origin, PackageHashes, SignerChange, judge_folders, judge_signer
from locklens.trust.continuity import judge_packages as judge_release

DEMO = "registry.terraform.io/acme/demo"
TODAY = read_checksums(publish(DEMO, "1.4.2").sums)
AGAIN = read_checksums(publish(DEMO, "1.4.2", frozenset({Fault.REPUBLISHED})).sums)
FIRST = tuple(zh(DEMO, "1.4.2", platform) for platform in PLATFORMS)
SECOND = tuple(zh(DEMO, "1.4.2", platform, "again") for platform in PLATFORMS)
FOREIGN = "zh:" + "0f" * 32
judge_packages = partial(judge_release, release=("demo", "1.4.2"))


@pytest.mark.parametrize(
    ("old", "new", "origins"),
    [
        (FIRST, FIRST, [Origin.NOTHING_NEW]),
        (FIRST[:2], FIRST, [Origin.GROWN]),
        ((MANIFEST,), FIRST, [Origin.COMPLETION]),
        ((*FIRST[:2], MANIFEST), (*FIRST[:2], MANIFEST), [Origin.NOTHING_NEW]),
        (FIRST[:2], (*FIRST, FOREIGN), [Origin.UNKNOWN_ORIGIN, Origin.GROWN]),
        ((), (*FIRST, MANIFEST), [Origin.COMPLETION]),
        (FIRST, FIRST[:2], [Origin.NOTHING_NEW]),
        ((*FIRST[:1], MANIFEST), (*FIRST[:1], MANIFEST, "zh:cut", "h2:x", "h1:y"), [Origin.NOTHING_NEW]),
        (FIRST, (*FIRST, FOREIGN), [Origin.UNKNOWN_ORIGIN]),
        (SECOND, FIRST, [Origin.REPUBLISHED]),
        (SECOND, (*SECOND, *FIRST), [Origin.REPUBLISHED]),
        (SECOND[:1], (FIRST[1], FOREIGN), [Origin.REPUBLISHED, Origin.UNKNOWN_ORIGIN]),
        ((), SECOND, [Origin.UNKNOWN_ORIGIN]),
    ],
)
def test_each_rule(old: tuple[str, ...], new: tuple[str, ...], origins: list[Origin]) -> None:
    found = judge_packages(old, new, TODAY)
    assert list(found.origins) == origins
    assert all(found.has(origin) for origin in origins)


def test_a_republished_package_both_ways() -> None:
    found = judge_packages((*FIRST, MANIFEST), (*FIRST, *SECOND, MANIFEST), AGAIN)
    assert (found.origins, found.gone, found.explained) == ((Origin.REPUBLISHED,), frozenset(FIRST), frozenset(SECOND))
    untouched = judge_packages((*FIRST, MANIFEST), (*FIRST, MANIFEST), AGAIN)
    assert untouched.has(Origin.REPUBLISHED)


@pytest.mark.parametrize("suffix", ["zip.old", "sbom.json", "manifest.json"])
def test_old_packages_that_are_listed_under_other_names_are_no_packages_any_more(suffix: str) -> None:
    disguised = "".join(
        f"{text[3:]}  terraform-provider-demo_0.0.{number}_{suffix}\n" for number, text in enumerate(FIRST)
    )
    found = judge_packages(FIRST, (*FIRST, *SECOND), read_checksums(AGAIN.data + disguised.encode()))
    assert found.origins == (Origin.REPUBLISHED,)
    assert found.disguised.keys() == set(FIRST)


@pytest.mark.parametrize(
    "name",
    [
        "terraform-provider-demo_1.4.2_SBOM.json",
        "terraform-provider-demo_1.4.2_manifest.json",
        "terraform-provider-demo_1.4.1_linux_amd64.zip",
        "terraform-provider-other_1.4.2_linux_amd64.zip",
        "Terraform-Provider-demo_1.4.2_linux_amd64.zip",
    ],
)
def test_one_disguised_package_among_those_that_stayed(name: str) -> None:
    changed = TODAY.data.replace(FIRST[2][3:].encode(), SECOND[2][3:].encode()) + f"{FIRST[2][3:]}  {name}\n".encode()
    found = judge_packages(FIRST, (*FIRST, SECOND[2]), read_checksums(changed))
    assert (found.origins, found.disguised) == ((Origin.REPUBLISHED,), {FIRST[2]: name})
    assert f"only as {name}" in found.republished_words(5, "its list")


@pytest.mark.parametrize("folder", ["old/", "././", "./", "a/../", "*", "*./old//", "/"])
def test_one_file_name_in_two_folders(folder: str) -> None:
    name = "terraform-provider-demo_1.4.2_linux_amd64.zip"
    changed = TODAY.data.replace(FIRST[2][3:].encode(), SECOND[2][3:].encode())
    today = read_checksums(changed + f"{FIRST[2][3:]} {folder}{name}\n".encode())
    found = judge_packages(FIRST, (*FIRST, SECOND[2]), today)
    assert (found.origins, found.doubled) == ((Origin.REPUBLISHED,), (name,))


def test_a_package_of_another_platform_is_told_by_the_growth_of_the_list() -> None:
    name = "terraform-provider-demo_1.4.2_linux_amd64.zip"
    changed = TODAY.data.replace(FIRST[2][3:].encode(), SECOND[2][3:].encode())
    today = read_checksums(changed + f"{FIRST[2][3:]}  terraform-provider-demo_1.4.2_plan9_amd64.zip\n".encode())
    found = judge_packages(FIRST, (*FIRST, SECOND[2]), today)
    assert (found.origins, found.grown, found.explained) == ((Origin.GROWN,), (name,), frozenset({SECOND[2]}))
    assert (
        found.grown_words("its list")
        == f"1 added file of its list was not locked before (grown since, or hashes left out or removed): {name}"
    )


def test_the_growth_is_counted_by_what_is_added() -> None:
    some = judge_packages(FIRST[:2], FIRST[:3], TODAY)
    assert some.grown_words("its list").startswith("1 added file of its list was not locked before (")


def named(today: Checksums, *lines: tuple[str, str]) -> Checksums:
    """The list with more lines: each the name of a file and its hash."""
    more = "".join(f"{text[3:]}  terraform-provider-demo_1.4.2_{name}\n" for name, text in lines)
    return read_checksums(today.data + more.encode())


NO_MANIFEST = read_checksums(b"".join(line for line in TODAY.data.splitlines(True) if b"manifest" not in line))
OWN, OTHER = "zh:" + "1a" * 32, "zh:" + "2b" * 32
BESIDE = "terraform-provider-demo_1.4.2_manifest.json"


@pytest.mark.parametrize(
    ("old", "new", "today", "origin"),
    [
        (FIRST, (*FIRST, OWN), named(NO_MANIFEST, ("manifest.json", OWN)), Origin.GROWN),
        ((), (*FIRST, OWN), named(NO_MANIFEST, ("manifest.json", OWN)), Origin.COMPLETION),
        ((*FIRST, OWN), (*FIRST, OWN), named(NO_MANIFEST, ("manifest.json", OWN)), Origin.NOTHING_NEW),
        (FIRST, (*FIRST, MANIFEST), TODAY, Origin.NOTHING_NEW),
        ((*FIRST, MANIFEST), (*FIRST, MANIFEST, OWN), named(TODAY, ("manifest.json", OWN)), Origin.REPUBLISHED),
        ((*FIRST, MANIFEST), (*FIRST, OWN), named(NO_MANIFEST, ("manifest.json", OWN)), Origin.REPUBLISHED),
        ((*FIRST, MANIFEST), (*FIRST, MANIFEST, OWN), named(NO_MANIFEST, ("manifest.json", OWN)), Origin.REPUBLISHED),
        (
            (*FIRST, OWN),
            (*FIRST, OWN, OTHER),
            named(NO_MANIFEST, ("manifest.json", OWN), ("manifest.json", OTHER)),
            Origin.REPUBLISHED,
        ),
        ((*FIRST, OWN), (*FIRST, OTHER), named(NO_MANIFEST, ("manifest.json", OTHER)), Origin.REPUBLISHED),
        (
            FIRST[:1],
            (*FIRST[:1], OWN),
            named(read_checksums(b""), ("SBOM.json", FIRST[0]), ("manifest.json", OWN)),
            Origin.GROWN,
        ),
    ],
)
def test_only_a_known_text_makes_a_manifest(
    old: tuple[str, ...], new: tuple[str, ...], today: Checksums, origin: Origin
) -> None:
    found = judge_packages(old, new, today)
    assert found.origins == (origin,)
    assert found.grown == ((BESIDE,) if OWN in {*new} - {*old} and any("zh:" in one for one in old) else found.grown)
    assert bool(found.republished_words(5, "its list")) == (origin is Origin.REPUBLISHED)


def test_packages_that_leave_while_others_come_were_replaced() -> None:
    """The old ones are listed as platforms that never were: nothing in the list tells that."""
    invented = [(f"old{number}_arm.zip", text) for number, text in enumerate(FIRST)]
    today = named(AGAIN, *invented)
    found = judge_packages((*FIRST, MANIFEST), (*SECOND, MANIFEST), today)
    assert (found.origins, found.dropped) == ((Origin.REPUBLISHED,), frozenset(FIRST))
    assert f"{len(FIRST)} locked zh are replaced by others of its list" in found.republished_words(5, "its list")
    one = judge_packages(FIRST, (*FIRST[1:], *SECOND), today)
    assert (one.origins, one.dropped) == ((Origin.REPUBLISHED,), frozenset(FIRST[:1]))
    assert judge_packages(FIRST, FIRST[1:], today).origins == (Origin.NOTHING_NEW,)
    assert judge_packages(FIRST, (*FIRST, *SECOND), today).origins == (Origin.GROWN,)


def test_other_files_beside_the_packages_are_not_taken_for_packages_of_before() -> None:
    other = FOREIGN[3:] + "  terraform-provider-demo_1.4.2_sbom.json\n"
    today = read_checksums(TODAY.data + other.encode())
    assert judge_packages((*FIRST, FOREIGN), (*FIRST, FOREIGN), today).origins == (Origin.NOTHING_NEW,)
    assert judge_packages((MANIFEST,), (*FIRST, FOREIGN, MANIFEST), today).origins == (Origin.COMPLETION,)
    assert judge_packages(FIRST, (*FIRST, FOREIGN), today).grown == ("terraform-provider-demo_1.4.2_sbom.json",)


def test_names_of_any_length_and_number_are_shortened() -> None:
    many = "".join(f"{number:064x}  {'x' * 500}{number}\n" for number in range(9))
    today = read_checksums(TODAY.data + many.encode())
    found = judge_packages(FIRST, (*FIRST, *(f"zh:{number:064x}" for number in range(9))), today)
    assert len(found.grown) == 9
    assert found.grown_words("it").endswith(" and 4 more")
    assert len(found.grown_words("it")) < 720


def test_two_packages_for_one_file_name() -> None:
    name = "terraform-provider-demo_1.4.2_linux_amd64.zip"
    both = read_checksums(f"{FIRST[0][3:]}  {name}\n{SECOND[0][3:]}  {name}\n".encode())
    found = judge_packages(FIRST[:1], (FIRST[0], SECOND[0]), both)
    assert (found.origins, found.doubled, found.gone) == ((Origin.REPUBLISHED,), (name,), frozenset())
    assert judge_packages((), FIRST[:1], both).origins == (Origin.COMPLETION,)


def test_hashes_of_another_registry() -> None:
    host = "registry.opentofu.org"
    found = judge_packages((), (*FIRST, SECOND[0], FOREIGN), TODAY, elsewhere={host: AGAIN, "other": TODAY})
    assert found.origins == (Origin.UNKNOWN_ORIGIN, Origin.OTHER_REGISTRY)
    assert (found.foreign, found.elsewhere) == (frozenset({FOREIGN}), {host: frozenset({SECOND[0]})})
    assert judge_packages((), SECOND, TODAY, elsewhere={host: AGAIN}).origins == (Origin.OTHER_REGISTRY,)


def test_could_not_ask_is_no_verdict() -> None:
    assert judge_packages(FIRST, SECOND, None).origins == (Origin.UNEXPLAINED,)
    assert judge_packages(FIRST, FIRST, None) == PackageHashes((Origin.NOTHING_NEW,))
    assert judge_packages((MANIFEST,), (), None).origins == (Origin.NOTHING_NEW,)


@given(
    st.sets(st.sampled_from((*FIRST, *SECOND, FOREIGN, MANIFEST))), st.sets(st.sampled_from((*FIRST, *SECOND, FOREIGN)))
)
def test_nothing_is_explained_that_is_not_listed(old: set[str], new: set[str]) -> None:
    found = judge_packages(old, new, TODAY)
    assert found.explained <= TODAY.hashes
    assert found.explained | found.foreign == (new - old)
    if new - old - TODAY.hashes:
        assert found.has(Origin.UNKNOWN_ORIGIN)
    if old - TODAY.hashes:
        assert found.has(Origin.REPUBLISHED)


def test_folders_are_proven_by_packages_that_were_hashed() -> None:
    linux, mac = h1(DEMO, "1.4.2", "linux_amd64"), h1(DEMO, "1.4.2", "darwin_arm64")
    forged = h1(DEMO, "1.4.2", "linux_amd64", "forged")
    one = {zh(DEMO, "1.4.2", "linux_amd64"): frozenset({linux})}
    found = judge_folders((linux, mac, forged, "h1:cut", FIRST[0]), (*FIRST, MANIFEST), one, reported=(mac,))
    assert (found.proven, found.reported, found.unproven, found.foreign) == tuple(
        map(frozenset, ({linux}, {mac}, {forged}, ()))
    )
    assert found.to_hash == set(FIRST) - set(one)
    every = {zh(DEMO, "1.4.2", name): frozenset({h1(DEMO, "1.4.2", name)}) for name in PLATFORMS}
    found = judge_folders((linux, forged), FIRST, every)
    assert (found.proven, found.unproven, found.foreign, found.to_hash) == tuple(
        map(frozenset, ({linux}, (), {forged}, ()))
    )


def test_a_package_that_nobody_signed_proves_nothing() -> None:
    linux = h1(DEMO, "1.4.2", "linux_amd64")
    found = judge_folders((linux,), (), {zh(DEMO, "1.4.2", "linux_amd64"): frozenset({linux})})
    assert (found.proven, found.unproven, found.foreign) == tuple(map(frozenset, ((), {linux}, ())))
    assert judge_folders((), FIRST, {}).to_hash == frozenset()


def test_signers_are_compared_by_the_whole_fingerprint() -> None:
    def key(fingerprint: str) -> SigningKey:
        return SigningKey(fingerprint, (), "", "", None, expired=False, revoked=False)

    acme = key(publisher("acme").key.fingerprint)
    lookalike = key("0" * 24 + acme.key_id)
    assert lookalike.key_id == acme.key_id
    assert judge_signer(acme, lookalike) is SignerChange.OTHER
    assert judge_signer(acme, key(acme.fingerprint)) is SignerChange.SAME
    assert judge_signer(acme, None) is SignerChange.LOST
    assert judge_signer(None, acme) is SignerChange.GAINED
    assert judge_signer(None, None) is SignerChange.SAME
    assert judge_signer(acme, lookalike, old_known=False) is SignerChange.UNKNOWN
