"""Self-signatures: what they permit, and what reading them costs. Beside the real tools: `tests/attacks`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trust.selfsigned import BOUND, BY_THE_PRIMARY_KEY, BY_THE_SUBKEY, CREATED, KEY, MAY_SIGN, NAME, SUB, subpacket

from locklens.demo.signing import SIGNED_AT
from locklens.storage.cache import Cache
from locklens.trust import SignatureStatus
from locklens.trust.packets import dearmored
from locklens.trust.selfsignatures import Permission, permission_of, published_signers
from locklens.trust.signature import Verifier

if TYPE_CHECKING:
    from pathlib import Path

DATA = b"checksums\n"
GOOD = dearmored(BY_THE_PRIMARY_KEY["good"].encode()) or b""
WITH_SUBKEY = dearmored(BY_THE_SUBKEY["subkey good"].encode()) or b""


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ("certification expired", "good", SignatureStatus.EXPIRED_SIGNATURE),
        ("good", "key expired", SignatureStatus.EXPIRED_KEY),
        ("key expired", "good", SignatureStatus.EXPIRED_KEY),
    ],
)
def test_of_a_key_that_is_listed_twice_the_worse_counts(
    verifier: Verifier, first: str, second: str, status: SignatureStatus
) -> None:
    keys = BY_THE_PRIMARY_KEY[first], BY_THE_PRIMARY_KEY[second]
    (signature,) = verifier.verify(DATA, KEY.signed(DATA, SIGNED_AT), keys).signatures
    assert signature.status is status


def test_what_was_good_is_remembered_until_a_self_signature_ends(tmp_path: Path) -> None:
    now = time.time()
    lifetime = int(now) + 3600 - CREATED
    armored = KEY.block(KEY.identity(NAME, KEY.certified(NAME, CREATED, MAY_SIGN, subpacket(3, lifetime))))
    signature = KEY.signed(DATA, SIGNED_AT)
    with Cache(tmp_path / "cache.sqlite3") as cache:
        with Verifier(memory=cache) as verifier:
            assert verifier.verify(DATA, signature, (armored,)).signatures[0].status is SignatureStatus.GOOD
        for later, is_known in ((3500, True), (3700, False)):
            with Verifier("/nowhere/gpg", memory=cache, clock=lambda at=now + later: at) as verifier:  # type: ignore[misc]
                assert (verifier.verify(DATA, signature, (armored,)).problem is None) is is_known


@pytest.mark.parametrize("data", [GOOD, WITH_SUBKEY], ids=["primary", "subkey"])
def test_a_key_that_is_cut_short_permits_no_more(data: bytes) -> None:
    whole = published_signers(data)
    assert [signer.permission(SIGNED_AT) for signer in whole] == [Permission.GOOD] * len(whole)
    assert all(set(published_signers(data[:end])) <= set(whole) for end in range(len(data)))


@given(st.data())
def test_no_bytes_make_the_reader_fail(data: st.DataObject) -> None:
    text = bytearray(WITH_SUBKEY)
    for place in data.draw(st.lists(st.integers(0, len(text) - 1), max_size=4)):
        text[place] = data.draw(st.integers(0, 255))
    permission_of(published_signers(bytes(text)), SIGNED_AT)


def test_a_megabyte_of_keys_costs_little() -> None:
    primary = GOOD[: 3 + int.from_bytes(GOOD[1:3], "big")]
    user_ids = b"".join(KEY.identity(str(number), KEY.certified("", CREATED, MAY_SIGN)) for number in range(300))
    subkeys = KEY.subkey(SUB, BOUND) * 300
    for hostile in (primary + user_ids + subkeys, primary + user_ids, GOOD + subkeys * 10, GOOD * 3000):
        begun = time.process_time()
        assert published_signers(hostile) == ()
        assert time.process_time() - begun < 20
